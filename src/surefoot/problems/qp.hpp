#pragma once

#include "surefoot/problems/matrix.hpp"

#include <vector>

namespace surefoot::problems {

/// A family of quadratic programs: minimize 1/2 x'Px + q'x subject to l <= Ax <= u.
/// P is n x n, symmetric positive semidefinite (both triangles stored), A is m x n; q is n, l and u are m
/// numbers per instance, +-infinity where there is no bound.
struct Qp {
  std::vector<SparseMatrix> P;  ///< one, shared by all instances, or one per instance
  std::vector<SparseMatrix> A;  ///< the same
  Table q;                      ///< one row per instance, or one row shared by all
  Table l;                      ///< the same
  Table u;                      ///< the same
  /// If not empty, P[0] = kron(G, G) with this symmetric positive semidefinite G: linear systems are then
  /// diagonal in a small eigenbasis where A is the identity.
  Matrix kronecker_factor;

  [[nodiscard]] Index instances() const;
  [[nodiscard]] Index variables() const { return P.empty() ? 0 : P.front().rows(); }
  [[nodiscard]] Index constraints() const { return A.empty() ? 0 : A.front().rows(); }
  [[nodiscard]] const SparseMatrix& P_of(Index instance) const { return P.size() == 1 ? P[0] : P[instance]; }
  [[nodiscard]] const SparseMatrix& A_of(Index instance) const { return A.size() == 1 ? A[0] : A[instance]; }
  /// Throws InputError naming the argument, the place and the value.
  void validate() const;
};

}  // namespace surefoot::problems
