#include "surefoot/problems/lasso.hpp"

#include "surefoot/core/error.hpp"

#include <cmath>

namespace surefoot::problems {

void Lasso::validate() const {
  require(D.rows() >= 1 && D.cols() >= 1, "D: is {} x {}, must not be empty", D.rows(), D.cols());
  require(b.rows() >= 1, "b: has no rows, must have one per instance");
  require_finite(Table(D), "D");
  require_shape(b, b.rows(), D.rows(), "b");
  require_finite(b, "b");
  require(std::isfinite(weight) && weight >= 0, "weight: is {}, must be finite and >= 0", weight);
}

}  // namespace surefoot::problems
