#include "surefoot/problems/cone_program.hpp"

#include "surefoot/core/checked.hpp"
#include "surefoot/core/error.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <string>
#include <string_view>

namespace surefoot::problems {

Index Cones::rows_before_triples() const {
  constexpr std::string_view what = "cones: rows";
  Index rows = checked_sum(what, zero, nonnegative);
  for (const Index dimension : second_order) rows = checked_sum(what, rows, dimension);
  for (const Index order : semidefinite)
    rows = checked_sum(what, rows, checked_product(what, order, checked_sum(what, order, 1)) / 2);
  return rows;
}

Index Cones::rows() const {
  constexpr std::string_view what = "cones: rows";
  Index all = checked_sum(what, exponential, dual_exponential);
  all = checked_sum(what, all, static_cast<Index>(power.size()));
  return checked_sum(what, rows_before_triples(), checked_product(what, Index{3}, all));
}

void Cones::validate() const {
  require(zero >= 0, "cones: zero = {}, must be >= 0", zero);
  require(nonnegative >= 0, "cones: nonnegative = {}, must be >= 0", nonnegative);
  for (std::size_t i = 0; i < second_order.size(); ++i) {
    require(second_order[i] >= 1, "cones: second-order cone {} has dimension {}, must be >= 1", i,
            second_order[i]);
  }
  for (std::size_t i = 0; i < semidefinite.size(); ++i) {
    require(semidefinite[i] >= 1 && semidefinite[i] <= 30000,
            "cones: semidefinite cone {} has order {}, must be in 1 .. 30000", i, semidefinite[i]);
  }
  require(exponential >= 0, "cones: exponential = {}, must be >= 0", exponential);
  require(dual_exponential >= 0, "cones: dual_exponential = {}, must be >= 0", dual_exponential);
  for (std::size_t i = 0; i < power.size(); ++i) {
    require(power[i] >= -1 && power[i] <= 1, "cones: power cone {} has exponent {}, must be in [-1, 1]", i,
            power[i]);
  }
}

Index ConeProgram::instances() const {
  return std::max({static_cast<Index>(P.size()), static_cast<Index>(A.size()), static_cast<Index>(b.rows()),
                   static_cast<Index>(c.rows())});
}

void ConeProgram::validate() const {
  require(!P.empty(), "P: is missing");
  require(!A.empty(), "A: is missing");
  const auto count = static_cast<std::size_t>(instances());
  require(P.size() == 1 || P.size() == count, "P: {} matrices, must be {} (instances) or 1", P.size(), count);
  require(A.size() == 1 || A.size() == count, "A: {} matrices, must be {} (instances) or 1", A.size(), count);
  const Index n = variables();
  const Index m = constraints();
  require(n >= 1, "P: is {} x {}, must have at least one row", n, n);
  cones.validate();
  require(cones.rows() == m, "cones: have {} rows, must have {} (rows of A)", cones.rows(), m);
  for (std::size_t i = 0; i < P.size(); ++i) {
    const std::string name = P.size() == 1 ? "P" : fmt::format("P of instance {}", i);
    require_shape(P[i], n, n, name);
    require_finite(P[i], name);
    require_positive_semidefinite(P[i], name);
  }
  for (std::size_t i = 0; i < A.size(); ++i) {
    const std::string name = A.size() == 1 ? "A" : fmt::format("A of instance {}", i);
    require_shape(A[i], m, n, name);
    require_finite(A[i], name);
  }
  require_shape(b, instances(), m, "b");
  require_shape(c, instances(), n, "c");
  require_finite(b, "b");
  require_finite(c, "c");
}

}  // namespace surefoot::problems
