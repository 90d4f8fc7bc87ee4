#pragma once

#include "surefoot/algorithms/buffer.hpp"
#include "surefoot/algorithms/detail/lanes.hpp"
#include "surefoot/problems/matrix.hpp"

#include <vector>

namespace surefoot::algorithms {

/// Places of the entries of a sparse matrix, row by row, columns ascending.
struct RowPattern {
  Index rows = 0;
  Index columns = 0;
  std::vector<int> start;  ///< rows + 1
  std::vector<int> index;  ///< column of each entry
  [[nodiscard]] Index entries() const { return static_cast<Index>(index.size()); }
};

/// The union of the patterns of matrices of one shape.
RowPattern union_pattern(const std::vector<problems::SparseMatrix>& matrices);
/// Transposed pattern; `source[k]` is the entry of `pattern` that is entry k of the result.
RowPattern transposed(const RowPattern& pattern, std::vector<int>& source);
/// Values of a matrix on a pattern that contains its own; values[k * stride].
void gather_values(const problems::SparseMatrix& matrix, const RowPattern& pattern, double* values,
                   Index stride = 1);

/// The value of entry k of a matrix: one number shared by all lanes, or one per lane (`Own`).
template <int W, bool Own>
[[gnu::always_inline]] inline Lanes<W> entry_value(const double* values, int k) {
  if constexpr (Own) {
    return Lanes<W>::load(values + static_cast<Index>(k) * W);
  } else {
    return Lanes<W>(values[k]);
  }
}

/// sum += row `row` of the matrix times x (columns x W).
template <int W, bool Own>
[[gnu::always_inline]] inline void add_row_product(const RowPattern& pattern, const double* values, Index row,
                                                   const double* x, Lanes<W>& sum) {
  const int* start = pattern.start.data();
  const int* index = pattern.index.data();
  for (int k = start[row]; k < start[row + 1]; ++k) {
    sum.add_product(entry_value<W, Own>(values, k), Lanes<W>::load(x + static_cast<Index>(index[k]) * W));
  }
}

}  // namespace surefoot::algorithms
