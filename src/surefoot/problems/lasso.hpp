#pragma once

#include "surefoot/problems/matrix.hpp"

namespace surefoot::problems {

/// A family of lasso problems: minimize 1/2 ||Dz - b||^2 + weight ||z||_1, D shared (m x n), b one row per
/// instance (N x m), weight >= 0.
struct Lasso {
  Matrix D;
  Table b;
  double weight = 0.1;

  [[nodiscard]] Index instances() const { return b.rows(); }
  [[nodiscard]] Index variables() const { return D.cols(); }
  void validate() const;
};

}  // namespace surefoot::problems
