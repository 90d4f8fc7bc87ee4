#pragma once

#include "surefoot/problems/matrix.hpp"

#include <cstdint>
#include <vector>

namespace surefoot::problems {

/// A family of linear observations b_i = D z*_i + noise of known sparse codes z*_i: D is shared (m x n), b
/// has one row per instance (N x m), and of z*_i only the nonzero entries are kept.
struct SparseCodes {
  Matrix D;
  Table b;
  std::vector<Index> begin{0};      ///< N + 1: nonzeros begin[i] .. begin[i+1]-1 belong to instance i
  std::vector<std::int32_t> entry;  ///< place of each nonzero, ascending
  std::vector<double> value;        ///< its value

  [[nodiscard]] Index instances() const { return b.rows(); }
  [[nodiscard]] Index measurements() const { return D.rows(); }
  [[nodiscard]] Index variables() const { return D.cols(); }
  /// z* of instances first .. first+count-1 side by side: entry r of instance first + j at target[r * width +
  /// j]; columns from `count` on repeat the last instance.
  void write_codes(Index first, Index count, Index width, double* target) const;
  void validate() const;
};

}  // namespace surefoot::problems
