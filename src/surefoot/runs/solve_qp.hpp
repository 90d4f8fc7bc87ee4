#pragma once

#include "surefoot/core/interruption.hpp"
#include "surefoot/problems/qp.hpp"

namespace surefoot::runs {

struct QpSolveOptions {
  double tolerance = 1e-10;  ///< on stationarity, feasibility and signs of multipliers, relative to the data
  Index steps = 300;         ///< of OSQP before the first attempt; doubled after each failure
  Index rounds = 8;          ///< attempts per instance
  Index corrections = 60;    ///< changes of the active set per attempt
  Interrupt interrupt = nullptr;  ///< as of RunOptions; also called before every attempt

  void validate() const;
};

/// Accurate solutions of all instances: OSQP tells the active rows roughly, then the active set is corrected
/// by solving its equality-constrained problem exactly until the signs fit (primal-dual active set, a
/// semismooth Newton method: M. Hintermueller, K. Ito, K. Kunisch, SIAM J. Optim. 13, 2002). Where it cycles,
/// OSQP goes on. One row per instance: (x, y, w), the iterate of Osqp. Throws InputError naming the first
/// instance without a solution of that accuracy.
problems::Table solve_qp(const problems::Qp& problem, const QpSolveOptions& options = {});

/// The largest of |Px + q + A'y|, relative to the largest entry of Px, q and A'y, of violations of
/// l <= Ax <= u, relative to the largest entry of Ax and finite bound, and of multipliers of the wrong sign
/// or of inactive rows (the smaller of multiplier and distance to the bound, each relative in its way). It
/// does not change when the objective or all rows are multiplied by a number.
double qp_error(const problems::Qp& problem, Index instance, const problems::Vector& x,
                const problems::Vector& y);

}  // namespace surefoot::runs
