#include "surefoot/certify/rollouts.hpp"

#include "surefoot/core/error.hpp"
#include "surefoot/runs/tally.hpp"

#include <cmath>
#include <limits>
#include <utility>

namespace surefoot::certify {

Certificate certify_rollouts(const problems::Table& values, const std::vector<Index>& limits, Options options,
                             Variant variant) {
  require(values.rows() >= 1, "rollouts: there are none");
  require(values.cols() == static_cast<Index>(limits.size()) && !limits.empty(),
          "rollouts: have {} columns for {} limits", values.cols(), limits.size());
  for (const double tolerance : options.tolerances)
    require(std::isfinite(tolerance), "tolerances: {} is not finite", tolerance);
  options.kinds = {"success", "budget"};
  options.budget_method = bounds::BudgetMethod::every_step;
  options.choose = Choice::before;
  options.steps = limits;
  options = resolved(std::move(options), {limits});
  runs::Tally tally(tally_spec(options, limits));
  std::vector<double> row(limits.size());
  for (Index i = 0; i < values.rows(); ++i) {
    for (std::size_t k = 0; k < row.size(); ++k) {
      const double value = values(i, static_cast<Index>(k));
      row[k] = std::isfinite(value) ? value : std::numeric_limits<double>::max();
    }
    tally.add_run(row.data());
  }
  return certify(options, {{std::move(variant), tally}});
}

}  // namespace surefoot::certify
