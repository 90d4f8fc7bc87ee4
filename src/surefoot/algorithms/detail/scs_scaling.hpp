#pragma once

#include "surefoot/algorithms/detail/sparse_lanes.hpp"
#include "surefoot/problems/cone_program.hpp"

namespace surefoot::algorithms {

/// Diagonal scalings of cone programs, in eight lanes: A' = D A E, P' = E P E, b' = sigma D b, c' = sigma E
/// c; then x = E x' / sigma, y = D y' / sigma, s = s' / (sigma D).
struct ScsScaling {
  static constexpr int W = 8;
  ScsScaling() = default;
  ScsScaling(Index variables, Index constraints);

  Buffer D;                    ///< m x W, the same within a cone of several rows
  Buffer E;                    ///< n x W
  Buffer sigma;                ///< W
  Buffer rows, columns;        ///< room for norms
  Buffer in_rows, in_columns;  ///< stored entries of A by row, of A and P by column
};

/// The normalisation of the SCS package (3.3), which equilibrates [P A' c; A 0 b; c' b' 0]: 25 passes with
/// the largest entry of each row, then one with its root mean square over stored entries; norms below 1e-4
/// count as 1, norms above 1e4 as 1e4; the rows of a cone take their largest norm, or in the last pass their
/// mean. Values of P and A (on their patterns) and h = (c, b) are in lanes, and are scaled. in_rows and
/// in_columns are given.
void normalise(const RowPattern& P, const RowPattern& A, const problems::Cones& cones, double* P_values,
               double* A_values, double* h, ScsScaling& scaling);

/// The products d_i d_j that are nearest to the weights of a semidefinite cone (its rows, in the layout of
/// problems::Cones), least squares in logarithms: the weights under which the cone is still itself. d within
/// [sqrt(smallest), sqrt(largest)]; weights below a thousandth of the largest count as that. `d` is room for
/// `order` numbers.
void fit_semidefinite_weights(Index order, double smallest, double largest, double* weights, double* d);

}  // namespace surefoot::algorithms
