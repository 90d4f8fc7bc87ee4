#pragma once

#include "surefoot/problems/cone_program.hpp"

namespace surefoot::algorithms {

/// Diagonal scalings of a cone program: A' = D A E, P' = E P E, b' = sigma D b, c' = sigma E c; then
/// x = E x' / sigma, y = D y' / sigma, s = s' / (sigma D).
struct ScsScaling {
  problems::Vector D;  ///< the same within a cone of several rows
  problems::Vector E;
  double sigma = 1;
};

/// The normalisation of the SCS package (3.3), which equilibrates [P A' c; A 0 b; c' b' 0]: 25 passes with
/// the largest entry of each row, then one with its root mean square over stored entries; norms below 1e-4
/// count as 1, norms above 1e4 as 1e4; the rows of a cone take their largest norm, or in the last pass their
/// mean.
ScsScaling scs_scaling(const problems::SparseMatrix& P, const problems::SparseMatrix& A, const double* b,
                       const double* c, const problems::Cones& cones);

/// The products d_i d_j that are nearest to the weights of a semidefinite cone (its rows, in the layout of
/// problems::Cones), least squares in logarithms: the weights under which the cone is still itself. d within
/// [sqrt(smallest), sqrt(largest)]; weights below a thousandth of the largest count as that. `d` is room for
/// `order` numbers.
void fit_semidefinite_weights(Index order, double smallest, double largest, double* weights, double* d);

}  // namespace surefoot::algorithms
