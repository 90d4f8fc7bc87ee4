#include "surefoot/algorithms/detail/osqp_stopping.hpp"

#include <algorithm>
#include <cmath>

namespace surefoot::algorithms {

namespace {

// Constants of the solver.
constexpr double tiny_divisor = 1e-30;
constexpr double hopeless_residual = 1e30;
constexpr double inaccurate_factor = 10;

}  // namespace

double tested_gap(const OsqpSurvey& survey, const OsqpOptions& options) {
  const double gap = survey.xPx + survey.qx + survey.support;
  return options.scaled_termination ? gap : gap / survey.cost;
}

OsqpTolerances tolerances_of(const OsqpSurvey& survey, const OsqpOptions& options, double factor) {
  const double absolute = factor * options.eps_abs;
  const double relative = factor * options.eps_rel;
  const OsqpSizes& sizes = survey.tested;
  const double terms = std::max({std::abs(survey.xPx), std::abs(survey.qx), std::abs(survey.support)});
  return {absolute + relative * std::max(sizes.w, sizes.Ax),
          absolute + relative * std::max({sizes.q, sizes.Aty, sizes.Px}),
          absolute + relative * (options.scaled_termination ? terms : terms / survey.cost)};
}

bool residuals_pass(const OsqpSurvey& survey, const OsqpOptions& options, double factor) {
  const OsqpTolerances tolerances = tolerances_of(survey, options, factor);
  return survey.tested.primal < tolerances.primal && survey.tested.dual < tolerances.dual;
}

SolverStatus stopping_test(const OsqpSurvey& survey, const OsqpDirection& direction,
                           const OsqpOptions& options, bool inaccurate) {
  const OsqpSizes& sizes = survey.tested;
  if (sizes.primal > hopeless_residual || sizes.dual > hopeless_residual) return SolverStatus::non_convex;
  const double factor = inaccurate ? inaccurate_factor : 1;
  const OsqpTolerances tolerances = tolerances_of(survey, options, factor);
  const bool primal = sizes.primal < tolerances.primal;
  const bool dual = sizes.dual < tolerances.dual;
  const bool gap = !options.check_dualgap || std::abs(tested_gap(survey, options)) < tolerances.gap;
  // Without the gap nothing else would see it: largest entries pass over NaN, here as in the package.
  const bool numbers = !std::isnan(survey.poison);
  if (primal && dual && gap && numbers)
    return inaccurate ? SolverStatus::solved_inaccurate : SolverStatus::solved;
  if (!primal && direction.dy > tiny_divisor && direction.support < 0 &&
      direction.Atdy < factor * options.eps_prim_inf * direction.dy) {
    return inaccurate ? SolverStatus::primal_infeasible_inaccurate : SolverStatus::primal_infeasible;
  }
  const double slack = factor * options.eps_dual_inf * direction.dx;
  if (!dual && direction.dx > tiny_divisor && direction.qdx < 0 &&
      direction.Pdx < (options.scaled_termination ? 1 : direction.cost) * slack &&
      !(direction.beyond > slack)) {
    return inaccurate ? SolverStatus::dual_infeasible_inaccurate : SolverStatus::dual_infeasible;
  }
  return SolverStatus::running;
}

double reported(Quantity quantity, const OsqpSurvey& survey, const OsqpOptions& options) {
  const OsqpTolerances tolerances = tolerances_of(survey, options);
  switch (quantity) {
    case Quantity::prim_res:
      return survey.tested.primal;
    case Quantity::dual_res:
      return survey.tested.dual;
    case Quantity::duality_gap:
      return std::abs(survey.xPx + survey.qx + survey.support) / survey.cost;
    case Quantity::prim_res_rel:
      return survey.tested.primal / tolerances.primal;
    case Quantity::dual_res_rel:
      return survey.tested.dual / tolerances.dual;
    case Quantity::duality_gap_rel:
      return std::abs(tested_gap(survey, options)) / tolerances.gap;
    default:
      return infinity;
  }
}

double rho_estimate(double rho, const OsqpSizes& scaled) {
  const double primal = scaled.primal / (std::max(scaled.w, scaled.Ax) + tiny_divisor);
  const double dual = scaled.dual / (std::max({scaled.q, scaled.Aty, scaled.Px}) + tiny_divisor);
  const double estimate = rho * std::sqrt(primal / dual);
  // 0 / 0 is the smallest rho, as in the package.
  return std::min(estimate > osqp_smallest_rho ? estimate : osqp_smallest_rho, osqp_largest_rho);
}

}  // namespace surefoot::algorithms
