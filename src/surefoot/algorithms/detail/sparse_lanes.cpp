#include "surefoot/algorithms/detail/sparse_lanes.hpp"

#include <algorithm>

namespace surefoot::algorithms {

RowPattern union_pattern(const std::vector<problems::SparseMatrix>& matrices) {
  RowPattern pattern;
  pattern.rows = matrices.front().rows();
  pattern.columns = matrices.front().cols();
  std::vector<std::vector<int>> rows(static_cast<std::size_t>(pattern.rows));
  for (const problems::SparseMatrix& matrix : matrices) {
    for (Index column = 0; column < matrix.outerSize(); ++column) {
      for (problems::SparseMatrix::InnerIterator entry(matrix, column); entry; ++entry) {
        if (entry.value() != 0) rows[entry.row()].push_back(static_cast<int>(column));
      }
    }
    if (matrices.size() > 1) {
      for (std::vector<int>& row : rows) {
        std::sort(row.begin(), row.end());
        row.erase(std::unique(row.begin(), row.end()), row.end());
      }
    }
  }
  pattern.start.push_back(0);
  for (const std::vector<int>& row : rows) {
    pattern.index.insert(pattern.index.end(), row.begin(), row.end());
    pattern.start.push_back(static_cast<int>(pattern.index.size()));
  }
  return pattern;
}

RowPattern transposed(const RowPattern& pattern, std::vector<int>& source) {
  RowPattern result;
  result.rows = pattern.columns;
  result.columns = pattern.rows;
  result.start.assign(static_cast<std::size_t>(result.rows) + 1, 0);
  for (const int column : pattern.index) ++result.start[column + 1];
  for (Index row = 0; row < result.rows; ++row) result.start[row + 1] += result.start[row];
  result.index.resize(pattern.index.size());
  source.resize(pattern.index.size());
  std::vector<int> next(result.start.begin(), result.start.end() - 1);
  for (int row = 0; row < static_cast<int>(pattern.rows); ++row) {
    for (int k = pattern.start[row]; k < pattern.start[row + 1]; ++k) {
      const int place = next[pattern.index[k]]++;
      result.index[place] = row;
      source[place] = k;
    }
  }
  return result;
}

void gather_values(const problems::SparseMatrix& matrix, const RowPattern& pattern, double* values,
                   Index stride) {
  for (Index k = 0; k < pattern.entries(); ++k) values[k * stride] = 0;
  for (Index column = 0; column < matrix.outerSize(); ++column) {
    for (problems::SparseMatrix::InnerIterator entry(matrix, column); entry; ++entry) {
      if (entry.value() == 0) continue;
      const auto first = pattern.index.begin() + pattern.start[entry.row()];
      const auto last = pattern.index.begin() + pattern.start[entry.row() + 1];
      const auto place = std::lower_bound(first, last, static_cast<int>(column));
      values[(place - pattern.index.begin()) * stride] += entry.value();
    }
  }
}

}  // namespace surefoot::algorithms
