#pragma once

#include "surefoot/problems/matrix.hpp"

#include <vector>

namespace surefoot::problems {

/// A product of cones, in this order of rows: {0}^zero, R_+^nonnegative, second-order cones
/// {(t, v): ||v|| <= t} of the given dimensions, positive semidefinite cones of the given orders k, each as
/// k(k+1)/2 rows: the lower triangle column by column, entries off the diagonal times sqrt(2).
struct Cones {
  Index zero = 0;
  Index nonnegative = 0;
  std::vector<Index> second_order;
  std::vector<Index> semidefinite;

  /// InputError if there are more than can be counted.
  [[nodiscard]] Index rows() const;
  void validate() const;
};

/// A family of cone programs: minimize 1/2 x'Px + c'x subject to Ax + s = b, s in K.
/// P is n x n, symmetric positive semidefinite (both triangles stored; may be all zero), A is m x n; b is m
/// and c is n numbers per instance.
struct ConeProgram {
  std::vector<SparseMatrix> P;  ///< one, shared by all instances, or one per instance
  std::vector<SparseMatrix> A;  ///< the same
  Table b;                      ///< one row per instance, or one row shared by all
  Table c;                      ///< the same
  Cones cones;

  [[nodiscard]] Index instances() const;
  [[nodiscard]] Index variables() const { return P.empty() ? 0 : P.front().rows(); }
  [[nodiscard]] Index constraints() const { return A.empty() ? 0 : A.front().rows(); }
  [[nodiscard]] const SparseMatrix& P_of(Index instance) const { return P.size() == 1 ? P[0] : P[instance]; }
  [[nodiscard]] const SparseMatrix& A_of(Index instance) const { return A.size() == 1 ? A[0] : A[instance]; }
  /// Throws InputError naming the argument, the place and the value.
  void validate() const;
};

}  // namespace surefoot::problems
