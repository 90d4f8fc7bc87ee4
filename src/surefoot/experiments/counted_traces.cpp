#include "surefoot/experiments/counted_traces.hpp"

#include <utility>

namespace surefoot::experiments {

certify::Counted counted_traces(const std::string& name, const std::string& source,
                                const std::vector<Index>& steps, const problems::Table& traces,
                                const certify::Options& resolved_claims) {
  certify::Variant variant;
  variant.name = name;
  variant.source = source;
  runs::Tally tally(certify::tally_spec(resolved_claims, steps));
  for (Index i = 0; i < traces.rows(); ++i) tally.add_run(traces.row(i).data());
  return {variant, std::move(tally)};
}

}  // namespace surefoot::experiments
