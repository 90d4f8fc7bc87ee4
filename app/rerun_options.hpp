#pragma once

#include "surefoot/experiments/rerun.hpp"

#include <CLI/CLI.hpp>

#include <vector>

/// All options of the verb that results depend on, as given or by default, but for those that name files;
/// `effective` holds those whose values something else has set.
surefoot::experiments::RerunOptions rerun_options(const CLI::App& verb,
                                                  const std::vector<surefoot::experiments::RerunFile>& files,
                                                  const surefoot::experiments::RerunOptions& effective = {});
