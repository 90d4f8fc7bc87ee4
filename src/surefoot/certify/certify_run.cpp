#include "surefoot/certify/certify_run.hpp"

#include <mutex>
#include <numeric>
#include <string>
#include <utility>

namespace surefoot::certify {

Certificate certify_run(const algorithms::Operator& op, const runs::Metric& metric, Options options,
                        const runs::RunOptions& run_options, const runs::Start& start,
                        const TraceListener& listener) {
  options.metric = metric.name;
  options.unit = metric.unit;
  std::vector<Index> steps(static_cast<std::size_t>(run_options.steps - metric.first_step() + 1));
  std::iota(steps.begin(), steps.end(), metric.first_step());
  options = resolved(std::move(options), {steps});
  runs::Tally tally(tally_spec(options, steps));
  // Counting a trace is far cheaper than making it, so one tally and a lock will do; counts do not depend on
  // the order.
  std::mutex mutex;
  runs::RunOptions shared = run_options;
  shared.shared = true;
  runs::run(op, {metric}, start, shared, [&](std::size_t, Index instance, const double* trace) {
    const std::scoped_lock lock(mutex);
    tally.add_run(trace);
    if (listener) listener(instance, trace);
  });
  Variant variant;
  variant.name = op.name();
  variant.source = "surefoot run";
  return certify(options, {{variant, runs::sum_over_ranks(std::move(tally))}});
}

}  // namespace surefoot::certify
