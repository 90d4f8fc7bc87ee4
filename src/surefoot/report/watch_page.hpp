#pragma once

#include "surefoot/monitoring/watch.hpp"
#include "surefoot/report/report.hpp"

namespace surefoot::report {

/// A watch as a page: what is watched, the evidence over time against the threshold, the alarms; and the
/// course of the evidence as evidence.csv.
Report watch_report(const monitoring::Watch& watch, const PlotOptions& options = {});

/// Whether a name inside an output folder is that of one of its files.
bool is_file_of_watch(const std::filesystem::path& name);

}  // namespace surefoot::report
