#pragma once

#include "surefoot/algorithms/detail/sparse_lanes.hpp"

namespace surefoot::algorithms {

/// Diagonal scalings of a quadratic program: P' = cost D P D, q' = cost D q, A' = E A D, l' = E l, u' = E u;
/// then x = D x', y = E y' / cost, Ax = E^{-1} (A'x').
struct Equilibration {
  problems::Vector D;
  problems::Vector E;
  double cost = 1;
};

/// Ruiz equilibration of [P A'; A 0] in the infinity norm with a cost normalisation after each pass, as OSQP
/// does: norms below 1e-4 count as 1, norms above 1e4 as 1e4, and columns of P are taken down to the diagonal
/// only (version 1 of the solver stores and measures the upper triangle). B. Stellato et al., "OSQP: an
/// operator splitting solver for quadratic programs", Math. Prog. Comp. 2020, Algorithm 2. passes >= 0; zero
/// passes: identity.
Equilibration equilibrate(const problems::SparseMatrix& P, const problems::SparseMatrix& A, const double* q,
                          Index passes);

/// The same of eight problems side by side, the same bits of each.
struct LaneEquilibration {
  LaneEquilibration() = default;
  LaneEquilibration(Index n, Index m);

  /// P: full symmetric; values, q (n) and all results in lanes. Allocates nothing.
  void equilibrate(const RowPattern& P, const double* P_values, const RowPattern& A, const double* A_values,
                   const double* q, Index passes);

  Buffer D;     ///< n
  Buffer E;     ///< m
  Buffer cost;  ///< 1
 private:
  Buffer columns_;
  Buffer rows_;
};

}  // namespace surefoot::algorithms
