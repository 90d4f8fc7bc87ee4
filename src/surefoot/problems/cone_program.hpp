#pragma once

#include "surefoot/problems/matrix.hpp"

#include <vector>

namespace surefoot::problems {

/// A product of cones, in this order of rows: {0}^zero, R_+^nonnegative, second-order cones
/// {(t, v): ||v|| <= t} of the given dimensions, positive semidefinite cones of the given orders k, each as
/// k(k+1)/2 rows: the lower triangle column by column, entries off the diagonal times sqrt(2); then cones of
/// three rows (x, y, z): exponential ones, the closure of {y > 0, y exp(x/y) <= z}, their duals, and power
/// cones {x, y >= 0, x^a y^(1-a) >= |z|} by their exponents a, or -a for the dual of one.
struct Cones {
  Index zero = 0;
  Index nonnegative = 0;
  std::vector<Index> second_order = {};
  std::vector<Index> semidefinite = {};
  Index exponential = 0;
  Index dual_exponential = 0;
  std::vector<double> power = {};

  /// Rows before the cones of three.
  [[nodiscard]] Index rows_before_triples() const;
  [[nodiscard]] Index triples() const {
    return exponential + dual_exponential + static_cast<Index>(power.size());
  }
  /// call(first row, rows, order of a semidefinite cone or 0) for each cone of several rows that hold
  /// together: all but zero and nonnegative.
  template <class Call>
  void each_block(const Call& call) const {
    Index row = zero + nonnegative;
    for (const Index dimension : second_order) {
      call(row, dimension, Index{0});
      row += dimension;
    }
    for (const Index order : semidefinite) {
      call(row, order * (order + 1) / 2, order);
      row += order * (order + 1) / 2;
    }
    for (Index i = 0; i < triples(); ++i, row += 3) call(row, Index{3}, Index{0});
  }

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
