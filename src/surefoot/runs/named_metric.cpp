#include "surefoot/runs/named_metric.hpp"

#include "surefoot/core/error.hpp"
#include "surefoot/runs/run.hpp"

#include <fmt/ranges.h>

#include <memory>
#include <utility>

namespace surefoot::runs {

namespace {

// |f(x) - f*| needs the optimal values: those of the solutions.
Metric metric_of_solutions(const std::string& name, const algorithms::Operator& op,
                           const problems::Table& solutions) {
  const auto primal = std::make_shared<problems::Table>(solutions.leftCols(op.primal_size()));
  if (name == "distance") return distance(primal);
  if (name == "nmse") return nmse(primal);
  RunOptions none;
  none.steps = 0;
  const auto values =
      run_traces(op, {quantity(algorithms::Quantity::objective)}, given_start(solutions), none);
  return objective_gap(std::make_shared<problems::Table>(values.front().values));
}

}  // namespace

const std::vector<std::string>& metric_names() {
  static const std::vector<std::string> names{
      "residual",    "primal",       "dual",         "optimality",      "violation",
      "gap",         "distance",     "nmse",         "prim_res",        "dual_res",
      "duality_gap", "prim_res_rel", "dual_res_rel", "duality_gap_rel", "unsolved"};
  return names;
}

bool needs_solutions(const std::string& metric_name) {
  return metric_name == "gap" || metric_name == "distance" || metric_name == "nmse";
}

Metric named_metric(const std::string& name, const algorithms::Operator& op,
                    const std::function<problems::Table()>& solve) {
  if (name == "residual") return fixed_point_residual();
  if (name == "primal") return quantity(algorithms::Quantity::primal_residual);
  if (name == "dual") return quantity(algorithms::Quantity::dual_residual);
  if (name == "optimality") {
    Metric metric = quantity(algorithms::Quantity::optimality_residual);
    metric.name += " (Euclidean norms)";
    return metric;
  }
  if (name == "violation") return quantity(algorithms::Quantity::constraint_violation);
  using algorithms::Quantity;
  for (const auto& [known, reported] : {std::pair{"prim_res", Quantity::prim_res},
                                        {"dual_res", Quantity::dual_res},
                                        {"duality_gap", Quantity::duality_gap},
                                        {"prim_res_rel", Quantity::prim_res_rel},
                                        {"dual_res_rel", Quantity::dual_res_rel},
                                        {"duality_gap_rel", Quantity::duality_gap_rel},
                                        {"unsolved", Quantity::unsolved}}) {
    if (name != known) continue;
    require(op.knows(reported), "metric: {} has no {} with these settings", op.name(), name);
    return quantity(reported);
  }
  require(needs_solutions(name), "metric: '{}' is not one of {}", name, fmt::join(metric_names(), ", "));
  return metric_of_solutions(name, op, solve());
}

}  // namespace surefoot::runs
