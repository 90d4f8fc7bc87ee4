#pragma once

#include "surefoot/certify/certificate.hpp"
#include "surefoot/certify/verify.hpp"
#include "surefoot/experiments/rerun_record.hpp"

#include <CLI/CLI.hpp>

#include <filesystem>
#include <string>
#include <utility>
#include <vector>

/// All options of the verb that results depend on, as given or by default, but for those that name files;
/// `effective` holds those whose values something else has set.
surefoot::experiments::RerunOptions rerun_options(const CLI::App& verb,
                                                  const std::vector<surefoot::experiments::RerunFile>& files,
                                                  const surefoot::experiments::RerunOptions& effective = {});

/// Runs the certificate's command again in a temporary folder, with its files found by digest in `folder` or
/// one level below, and compares everything that it writes. InputError if the certificate has no such
/// command, a file is not there, or the command fails.
void rerun_and_compare(const surefoot::certify::Certificate& certificate, const std::filesystem::path& folder,
                       surefoot::certify::Verification& verification);
