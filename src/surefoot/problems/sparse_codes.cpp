#include "surefoot/problems/sparse_codes.hpp"

#include "surefoot/core/error.hpp"

#include <algorithm>

namespace surefoot::problems {

void SparseCodes::write_codes(Index first, Index count, Index width, double* target) const {
  std::fill_n(target, variables() * width, 0.0);
  for (Index lane = 0; lane < width; ++lane) {
    const Index instance = first + std::min(lane, count - 1);
    for (Index t = begin[instance]; t < begin[instance + 1]; ++t) target[entry[t] * width + lane] = value[t];
  }
}

void SparseCodes::validate() const {
  require(D.rows() >= 1 && D.cols() >= 1, "D: is {} x {}, must not be empty", D.rows(), D.cols());
  require(D.rows() <= D.cols(), "D: is {} x {}, must not have more rows than columns", D.rows(), D.cols());
  require(b.rows() >= 1, "b: has no rows, must have one per instance");
  require_finite(Table(D), "D");
  require_shape(b, b.rows(), D.rows(), "b");
  require(static_cast<Index>(begin.size()) == instances() + 1 && begin.front() == 0 &&
              begin.back() == static_cast<Index>(entry.size()) && entry.size() == value.size() &&
              std::is_sorted(begin.begin(), begin.end()),
          "codes: {} places, {} values and {} instances do not agree", entry.size(), value.size(),
          instances());
  require(std::all_of(entry.begin(), entry.end(), [&](std::int32_t i) { return i >= 0 && i < variables(); }),
          "codes: a place is outside 0 .. {}", variables() - 1);
}

}  // namespace surefoot::problems
