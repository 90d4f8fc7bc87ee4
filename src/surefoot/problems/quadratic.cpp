#include "surefoot/problems/quadratic.hpp"

#include "surefoot/core/error.hpp"

namespace surefoot::problems {

void Quadratic::validate() const {
  require(P.rows() >= 1, "P: is {} x {}, must have at least one row", P.rows(), P.cols());
  require(c.rows() >= 1, "c: has no rows, must have one per instance");
  const SparseMatrix sparse = P.sparseView(0.0, 0.0);
  require_finite(sparse, "P");
  require_positive_semidefinite(sparse, "P");
  require_shape(c, c.rows(), P.rows(), "c");
  require_finite(c, "c");
}

}  // namespace surefoot::problems
