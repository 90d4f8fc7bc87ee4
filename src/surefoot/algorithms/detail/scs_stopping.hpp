#pragma once

#include "surefoot/algorithms/detail/splitting_system.hpp"
#include "surefoot/algorithms/scs.hpp"

namespace surefoot::algorithms {

/// tau to divide a point by, as the package does: tau = 0 is no point, a large one here, and steps go on from
/// it. NaN stays.
template <int W>
[[gnu::always_inline]] inline Lanes<W> scs_divisor(const Lanes<W>& tau) {
  return max(tau, Lanes<W>(1e-18)) + Lanes<W>(0.0) * tau;
}

/// What the stopping test and the rule of the scale see of a homogeneous point (x, y, s, tau) of one
/// instance, in the problem's own units; norms are the largest entry.
struct ScsSurvey {
  double tau = 1;
  double kappa = 0;
  double Ax = 0, s = 0, Px = 0, Aty = 0;
  double Ax_s = 0;    ///< ||Ax + s||
  double primal = 0;  ///< ||Ax + s - b tau||
  double dual = 0;    ///< ||Px + A'y + c tau||
  double xPx = 0, cx = 0, by = 0;
  double b = 0, c = 0, A = 0;  ///< sizes of the data
  double smallest = 1;         ///< products with c and b count as negative below -1e-9 times this
  double poison = 0;           ///< NaN if the point has one: the largest entry passes over it
};

/// Tests in a row that a certificate of infeasibility or unboundedness has passed.
struct ScsStreaks {
  double* unbounded;
  double* infeasible;
};

/// The stopping test of an iteration.
SolverStatus stopping_test(const ScsSurvey& survey, const ScsOptions& options, const ScsStreaks& streaks);
/// What is said of a run that reaches the last iteration.
SolverStatus last_status(const ScsSurvey& survey);
/// prim_res, dual_res, duality_gap, and what they are of their tolerances.
double reported(Quantity quantity, const ScsSurvey& survey, const ScsOptions& options);
/// 1/2 x'Px + c'x.
double objective_of(const ScsSurvey& survey);
/// log of the relative primal residual less that of the dual one: what the scale follows.
double scale_balance(const ScsSurvey& survey);

/// Surveys of lanes. Rows of the point are multiplied by row_unit(i) (those of Ax and s) and column_unit(j)
/// (those of Px and A'y) and products by product_unit; tau, kappa and the sizes of the data are left alone.
/// `Ax` and `gap` (m x W), if not null, receive Ax and Ax + s - b tau without units. `scratch`: n x W.
template <int W, bool Own, class RowUnit, class ColumnUnit>
void survey_lanes(const SplittingSystem& system, const SplittingSystem::Numbers& numbers, const double* x,
                  const double* y, const double* s, const Lanes<W>& tau, const double* b, const double* c,
                  const RowUnit& row_unit, const ColumnUnit& column_unit, const Lanes<W>& product_unit,
                  double* Ax_rows, double* gap_rows, double* scratch, ScsSurvey* surveys) {
  using L = Lanes<W>;
  const Index n = system.variables();
  const Index m = system.constraints();
  const L zero(0.0);
  const auto grow = [&](L & largest, const L& value) __attribute__((always_inline)) {
    largest = max(max(value, zero - value), largest);
  };
  L Ax_size(0.0), s_size(0.0), Ax_s(0.0), primal(0.0), by(0.0), poison(0.0);
  for (Index i = 0; i < m; ++i) {
    L product(0.0);
    add_row_product<W, Own>(system.A(), numbers.A.data(), i, x, product);
    const L slack = L::load(s + i * W);
    const L offset = L::load(b + i * W);
    const L gap = product + slack - offset * tau;
    const L unit = row_unit(i);
    grow(Ax_size, product * unit);
    grow(s_size, slack * unit);
    grow(Ax_s, (product + slack) * unit);
    grow(primal, gap * unit);
    by.add_product(offset, L::load(y + i * W));
    poison.add_product(zero, gap);
    if (Ax_rows != nullptr) product.store(Ax_rows + i * W);
    if (gap_rows != nullptr) gap.store(gap_rows + i * W);
  }
  L Px_size(0.0), Aty_size(0.0), dual(0.0), xPx(0.0), cx(0.0);
  system.multiply_P<W, Own>(numbers, x, scratch, nullptr);
  for (Index j = 0; j < n; ++j) {
    const L Px = L::load(scratch + j * W);
    L Aty(0.0);
    add_row_product<W, Own>(system.A_transposed(), numbers.A_transposed.data(), j, y, Aty);
    const L point = L::load(x + j * W);
    const L cost = L::load(c + j * W);
    const L gradient = Px + Aty + cost * tau;
    const L unit = column_unit(j);
    grow(Px_size, Px * unit);
    grow(Aty_size, Aty * unit);
    grow(dual, gradient * unit);
    xPx.add_product(Px, point);
    cx.add_product(cost, point);
    poison.add_product(zero, gradient);
  }
  xPx *= product_unit;
  cx *= product_unit;
  by *= product_unit;
  for (int lane = 0; lane < W; ++lane) {
    ScsSurvey& survey = surveys[lane];
    survey.tau = tau[lane];
    survey.Ax = Ax_size[lane];
    survey.s = s_size[lane];
    survey.Px = Px_size[lane];
    survey.Aty = Aty_size[lane];
    survey.Ax_s = Ax_s[lane];
    survey.primal = primal[lane];
    survey.dual = dual[lane];
    survey.xPx = xPx[lane];
    survey.cx = cx[lane];
    survey.by = by[lane];
    survey.poison = poison[lane];
  }
}

}  // namespace surefoot::algorithms
