#pragma once

#include "surefoot/problems/matrix.hpp"

namespace surefoot::problems {

/// A family of unconstrained quadratics: minimize 1/2 z'Pz + c'z, P shared (n x n, symmetric positive
/// semidefinite), c one row per instance (N x n).
struct Quadratic {
  Matrix P;
  Table c;

  [[nodiscard]] Index instances() const { return c.rows(); }
  [[nodiscard]] Index variables() const { return P.rows(); }
  void validate() const;
};

}  // namespace surefoot::problems
