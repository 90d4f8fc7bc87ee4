#pragma once

#include "surefoot/certify/classical.hpp"
#include "surefoot/runs/run.hpp"

#include <functional>

namespace surefoot::certify {

/// Called with every trace, one at a time: metric.first_step() .. K.
using TraceListener = std::function<void(Index instance, const double* trace)>;

/// Runs the operator on its instances, counts as it goes and certifies the metric. The options' metric and
/// unit are the metric's own. Memory is that of the counts, not of the traces.
Certificate certify_run(const algorithms::Operator& op, const runs::Metric& metric, Options options,
                        const runs::RunOptions& run_options, const runs::Start& start = {},
                        const TraceListener& listener = nullptr);

}  // namespace surefoot::certify
