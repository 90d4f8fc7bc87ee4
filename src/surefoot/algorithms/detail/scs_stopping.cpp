#include "surefoot/algorithms/detail/scs_stopping.hpp"

#include <algorithm>
#include <cmath>

namespace surefoot::algorithms {

namespace {

// Constants of the solver.
constexpr double smallest_divisor = 1e-18;
constexpr double negative_product = 1e-9;
constexpr double tests_in_a_row = 2;

double divided(double value, double by) {
  return value / std::max(by, smallest_divisor);
}

/// With tau divided out.
struct ScsReported {
  double primal, dual, gap;
  double primal_tolerance, dual_tolerance, gap_tolerance;
};

ScsReported reported_of(const ScsSurvey& v, const ScsOptions& options) {
  const double xPx = divided(v.xPx, v.tau * v.tau);
  const double cx = divided(v.cx, v.tau);
  const double by = divided(v.by, v.tau);
  const auto tolerance = [&](double size) { return options.eps_abs + options.eps_rel * size; };
  return {divided(v.primal, v.tau),
          divided(v.dual, v.tau),
          std::abs(xPx + cx + by),
          tolerance(divided(std::max({v.b * v.tau, v.s, v.Ax}), v.tau)),
          tolerance(divided(std::max({v.c * v.tau, v.Px, v.Aty}), v.tau)),
          tolerance(std::max({std::abs(xPx), std::abs(cx), std::abs(by)}))};
}

}  // namespace

double objective_of(const ScsSurvey& v) {
  return 0.5 * divided(v.xPx, v.tau * v.tau) + divided(v.cx, v.tau);
}

SolverStatus stopping_test(const ScsSurvey& v, const ScsOptions& options, const ScsStreaks& streaks) {
  if (std::isnan(v.poison)) return SolverStatus::running;
  if (v.tau > 0) {
    const ScsReported r = reported_of(v, options);
    if (r.primal < r.primal_tolerance && r.dual < r.dual_tolerance && r.gap < r.gap_tolerance)
      return SolverStatus::solved;
  }
  const double negative = -negative_product * v.smallest;
  const double eps = options.eps_infeas;
  const bool unbounded = v.cx < negative && divided(v.Ax_s, -v.cx) * std::max(1.0, divided(v.c, v.A)) < eps &&
                         divided(v.Px, -v.cx) < eps;
  *streaks.unbounded = unbounded ? *streaks.unbounded + 1 : 0;
  if (*streaks.unbounded >= tests_in_a_row) return SolverStatus::unbounded;
  const bool infeasible = v.by < negative && divided(v.Aty, -v.by) * std::max(1.0, divided(v.b, v.A)) < eps;
  *streaks.infeasible = infeasible ? *streaks.infeasible + 1 : 0;
  if (*streaks.infeasible >= tests_in_a_row) return SolverStatus::infeasible;
  return SolverStatus::running;
}

SolverStatus last_status(const ScsSurvey& v) {
  if (v.kappa > v.tau && (v.by < 0 || v.cx < 0)) {
    return v.by < 0 && v.by < v.cx ? SolverStatus::infeasible_at_last : SolverStatus::unbounded_at_last;
  }
  return v.tau > 0 && !std::isnan(v.poison) ? SolverStatus::solved_at_last : SolverStatus::failed;
}

double reported(Quantity quantity, const ScsSurvey& survey, const ScsOptions& options) {
  const ScsReported r = reported_of(survey, options);
  switch (quantity) {
    case Quantity::prim_res:
      return r.primal;
    case Quantity::dual_res:
      return r.dual;
    case Quantity::duality_gap:
      return r.gap;
    case Quantity::prim_res_rel:
      return r.primal / r.primal_tolerance;
    case Quantity::dual_res_rel:
      return r.dual / r.dual_tolerance;
    case Quantity::duality_gap_rel:
      return r.gap / r.gap_tolerance;
    default:
      return infinity;
  }
}

double scale_balance(const ScsSurvey& v) {
  const double primal = divided(v.primal, std::max({v.Ax, v.s, v.b * v.tau}));
  const double dual = divided(v.dual, std::max({v.Px, v.Aty, v.c * v.tau}));
  return std::log(std::max(primal, smallest_divisor)) - std::log(std::max(dual, smallest_divisor));
}

}  // namespace surefoot::algorithms
