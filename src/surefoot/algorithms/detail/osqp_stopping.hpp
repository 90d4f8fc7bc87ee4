#pragma once

#include "surefoot/algorithms/osqp.hpp"

namespace surefoot::algorithms {

/// Largest entries of the vectors that OSQP looks at, of one instance.
struct OsqpSizes {
  double primal = 0;  ///< of Ax - w
  double dual = 0;    ///< of Px + A'y + q
  double w = 0;
  double Ax = 0;
  double q = 0;
  double Aty = 0;
  double Px = 0;
};

/// What OSQP sees of an iterate: sizes in the units of the iteration (scaled) and of the stopping test, and
/// the terms of the duality gap, times `cost`.
struct OsqpSurvey {
  OsqpSizes scaled;
  OsqpSizes tested;
  double xPx = 0;
  double qx = 0;
  double support = 0;  ///< sup of y'v over l <= v <= u
  double cost = 1;
  double poison = 0;  ///< NaN where an entry was: largest entries pass over it
};

/// What OSQP sees of its last step (dx, dy), where an infeasible problem shows. Units as of the stopping
/// test; dy is projected onto the directions in which the support function of the bounds is finite.
struct OsqpDirection {
  double dy = 0;
  double support = 0;
  double Atdy = 0;
  double dx = 0;
  double qdx = 0;
  double Pdx = 0;
  double beyond = 0;  ///< how far A dx leaves the directions in which the bounds are open
  double cost = 1;
};

struct OsqpTolerances {
  double primal = 0;
  double dual = 0;
  double gap = 0;
};

/// x'Px + q'x + S(y), in the units of the stopping test.
double tested_gap(const OsqpSurvey& survey, const OsqpOptions& options);
OsqpTolerances tolerances_of(const OsqpSurvey& survey, const OsqpOptions& options, double factor = 1);
/// Whether the residuals are small enough, so that the direction does not matter.
bool residuals_pass(const OsqpSurvey& survey, const OsqpOptions& options, double factor = 1);
/// The stopping test of osqp 1.x; `running` if none of its conditions holds. `inaccurate`: all tolerances
/// times ten, as after the last iteration.
SolverStatus stopping_test(const OsqpSurvey& survey, const OsqpDirection& direction,
                           const OsqpOptions& options, bool inaccurate);
/// prim_res, dual_res, duality_gap or their quotients by the tolerances.
double reported(Quantity quantity, const OsqpSurvey& survey, const OsqpOptions& options);
/// The step size that would balance the scaled residuals, each relative to what it is made of.
double rho_estimate(double rho, const OsqpSizes& scaled);

}  // namespace surefoot::algorithms
