#pragma once

#include "surefoot/experiments/monitoring.hpp"

#include <CLI/CLI.hpp>

/// Which claims of which certificate, and when an alarm is raised: the same for `monitor` and `export`.
void add_watch_options(CLI::App& verb, surefoot::experiments::WatchChoice& choice);
