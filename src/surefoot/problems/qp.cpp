#include "surefoot/problems/qp.hpp"

#include "surefoot/core/error.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <string>

namespace surefoot::problems {

namespace {

std::string indexed(std::string_view name, std::size_t count, std::size_t index) {
  return count == 1 ? std::string(name) : fmt::format("{} of instance {}", name, index);
}

}  // namespace

Index Qp::instances() const {
  return std::max({static_cast<Index>(P.size()), static_cast<Index>(A.size()), static_cast<Index>(q.rows()),
                   static_cast<Index>(l.rows()), static_cast<Index>(u.rows())});
}

void Qp::validate() const {
  require(!P.empty(), "P: is missing");
  require(!A.empty(), "A: is missing");
  const auto count = static_cast<std::size_t>(instances());
  require(P.size() == 1 || P.size() == count, "P: {} matrices, must be {} (instances) or 1", P.size(), count);
  require(A.size() == 1 || A.size() == count, "A: {} matrices, must be {} (instances) or 1", A.size(), count);
  const Index n = variables();
  const Index m = constraints();
  require(n >= 1, "P: is {} x {}, must have at least one row", n, n);
  for (std::size_t i = 0; i < P.size(); ++i) {
    const std::string name = indexed("P", P.size(), i);
    require_shape(P[i], n, n, name);
    require_finite(P[i], name);
    if (kronecker_factor.size() == 0) {
      require_positive_semidefinite(P[i], name);
    } else {
      require_symmetric(P[i], name);
    }
  }
  for (std::size_t i = 0; i < A.size(); ++i) {
    const std::string name = indexed("A", A.size(), i);
    require_shape(A[i], m, n, name);
    require_finite(A[i], name);
  }
  require_shape(q, instances(), n, "q");
  require_shape(l, instances(), m, "l");
  require_shape(u, instances(), m, "u");
  require_finite(q, "q");
  require_finite(l, "l", true);
  require_finite(u, "u", true);
  const Index rows = std::max(l.rows(), u.rows());
  for (Index instance = 0; instance < rows; ++instance) {
    const double* lower = table_row(l, instance);
    const double* upper = table_row(u, instance);
    for (Index row = 0; row < m; ++row) {
      require(lower[row] <= upper[row], "l: entry {} of instance {} is {}, greater than u = {}", row,
              instance, lower[row], upper[row]);
      require(lower[row] < infinity && upper[row] > -infinity,
              "{}: entry {} of instance {} is {}, no number satisfies it", lower[row] < infinity ? "u" : "l",
              row, instance, lower[row] < infinity ? upper[row] : lower[row]);
    }
  }
  if (kronecker_factor.size() > 0) {
    require(P.size() == 1, "kronecker_factor: needs one shared P, there are {}", P.size());
    require(kronecker_factor.rows() == kronecker_factor.cols() &&
                kronecker_factor.rows() * kronecker_factor.rows() == n,
            "kronecker_factor: is {} x {}, must be square with {} = rows^2", kronecker_factor.rows(),
            kronecker_factor.cols(), n);
    require_positive_semidefinite(kronecker_factor.sparseView(0.0, 0.0), "kronecker_factor");
  }
}

}  // namespace surefoot::problems
