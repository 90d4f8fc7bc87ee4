#pragma once

#include "surefoot/certify/classical.hpp"
#include "surefoot/certify/run_counter.hpp"

namespace surefoot::certify {

/// Runs the operator on its instances, counts as it goes and certifies the metric. The options' metric and
/// unit are the metric's own. Memory is that of the counts, not of the traces. With a journal the runs are a
/// piece of it; the listener hears only of those that are made.
Certificate certify_run(const algorithms::Operator& op, const runs::Metric& metric, Options options,
                        const runs::RunOptions& run_options, const runs::Start& start = {},
                        const TraceListener& listener = nullptr, CountJournal* journal = nullptr);

}  // namespace surefoot::certify
