#pragma once

#include "surefoot/core/interruption.hpp"
#include "surefoot/worst_case/conditions.hpp"

#include <Eigen/Core>

#include <vector>

namespace surefoot::worst_case {

/// A dual point: multipliers near the central path, strictly inside.
struct DualPoint {
  double initial = 0;         ///< t
  std::vector<double> pairs;  ///< y, in the order of the pairs
};

struct InteriorPoint {
  /// Dual iterates; the last that are feasible are the best.
  std::vector<DualPoint> iterates;
  /// How far each of the other conditions is violated by the best primal iterate, in the order asked for,
  /// beyond that iterate's own errors; not positive: it holds.
  std::vector<double> violations;
  int iterations = 0;
};

/// Solves  max <C, X> + c'f  subject to  <A_p, X> + b_p'f <= 0 for the pairs, the assumption on the start,
/// and X positive semidefinite, together with its dual  min t  subject to  S = t E_0 + sum_p y_p A_p - C
/// positive semidefinite, sum_p y_p b_p = c (plus the start's), y >= 0: an infeasible primal-dual interior
/// point method with the HKM direction and a predictor (C. Helmberg, F. Rendl, R. Vanderbei and H. Wolkowicz
/// 1996; M. Todd 2001). With Z_X = P X P' and Z_S = P S^{-1} P', P the points and outputs in the basis, an
/// entry of the Schur complement tr(A_p X A_q S^{-1}) is a sum of products of at most 3 x 3 differences of
/// entries of Z_X and of Z_S.
InteriorPoint solve(const Method& method, const std::vector<Pair>& pairs, const std::vector<Pair>& others,
                    const Interrupt& interrupt = {});

}  // namespace surefoot::worst_case
