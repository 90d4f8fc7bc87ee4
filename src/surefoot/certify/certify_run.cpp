#include "surefoot/certify/certify_run.hpp"

#include <numeric>
#include <string>
#include <utility>

namespace surefoot::certify {

Certificate certify_run(const algorithms::Operator& op, const runs::Metric& metric, Options options,
                        const runs::RunOptions& run_options, const runs::Start& start,
                        const TraceListener& listener, CountJournal* journal) {
  options.metric = metric.name;
  options.unit = metric.unit;
  std::vector<Index> steps(static_cast<std::size_t>(run_options.steps - metric.first_step() + 1));
  std::iota(steps.begin(), steps.end(), metric.first_step());
  options = resolved(std::move(options), {steps});
  RunCounter counter(tally_spec(options, steps), journal);
  counter.run(op, metric, start, run_options, 0, listener);
  Variant variant;
  variant.name = op.name();
  variant.source = "surefoot run";
  return certify(options, {{variant, counter.finish()}});
}

}  // namespace surefoot::certify
