#include "surefoot/algorithms/detail/normal_system.hpp"

#include <Eigen/OrderingMethods>

#include <algorithm>
#include <array>
#include <cstring>
#include <utility>
#include <vector>

namespace surefoot::algorithms {

namespace {

struct Places {
  std::vector<std::vector<int>> rows_of_column;
  void add(int i, int j) { rows_of_column[std::max(i, j)].push_back(std::min(i, j)); }
};

std::vector<int> minimum_degree_order(const RowPattern& P, const RowPattern& A) {
  const Index n = P.rows;
  std::vector<Eigen::Triplet<double, int>> entries;
  for (int i = 0; i < static_cast<int>(n); ++i) {
    entries.emplace_back(i, i, 1.0);
    for (int k = P.start[i]; k < P.start[i + 1]; ++k) {
      entries.emplace_back(i, P.index[k], 1.0);
    }
  }
  for (Index row = 0; row < A.rows; ++row) {
    for (int a = A.start[row]; a < A.start[row + 1]; ++a) {
      for (int b = A.start[row]; b < A.start[row + 1]; ++b) {
        entries.emplace_back(A.index[a], A.index[b], 1.0);
      }
    }
  }
  problems::SparseMatrix pattern(n, n);
  pattern.setFromTriplets(entries.begin(), entries.end());
  Eigen::PermutationMatrix<Eigen::Dynamic, Eigen::Dynamic, int> permutation;
  Eigen::AMDOrdering<int>()(pattern, permutation);
  return {permutation.indices().data(), permutation.indices().data() + n};
}

}  // namespace

NormalSystem::NormalSystem(const RowPattern& P, const RowPattern& A) : size_(P.rows) {
  const int n = static_cast<int>(size_);
  order_ = minimum_degree_order(P, A);
  analyse(P, A);
  // Any order that keeps children before parents has the same fill. Level by level, rows are independent of
  // their neighbours, and rows of equal lengths in sequence make loops that the processor predicts.
  std::vector<int> level(n, 0);
  for (int k = 0; k < n; ++k) {
    if (parent_[k] >= 0) level[parent_[k]] = std::max(level[parent_[k]], level[k] + 1);
  }
  std::vector<int> entries(n, 0);
  for (const int column : A.index) ++entries[column];
  std::vector<int> sequence(n);
  for (int k = 0; k < n; ++k) sequence[k] = k;
  std::stable_sort(sequence.begin(), sequence.end(), [&](int a, int b) {
    const auto key = [&](int k) {
      return std::array<int, 4>{level[k], entries[order_[k]],
                                row_pattern_.start[k + 1] - row_pattern_.start[k],
                                column_pattern_.start[k + 1] - column_pattern_.start[k]};
    };
    return key(a) < key(b);
  });
  std::vector<int> sorted(n);
  for (int k = 0; k < n; ++k) sorted[k] = order_[sequence[k]];
  order_ = std::move(sorted);
  analyse(P, A);
}

/// Patterns for the elimination order order_.
void NormalSystem::analyse(const RowPattern& P, const RowPattern& A) {
  const int n = static_cast<int>(size_);
  upper_ = {};
  products_.clear();
  std::vector<int> rank(n);
  for (int i = 0; i < n; ++i) rank[order_[i]] = i;

  // Upper triangle of the permuted K, column by column.
  Places places{std::vector<std::vector<int>>(n)};
  for (int i = 0; i < n; ++i) {
    places.add(i, i);
    for (int k = P.start[i]; k < P.start[i + 1]; ++k) places.add(rank[i], rank[P.index[k]]);
  }
  for (Index row = 0; row < A.rows; ++row) {
    for (int a = A.start[row]; a < A.start[row + 1]; ++a) {
      for (int b = A.start[row]; b <= a; ++b) places.add(rank[A.index[a]], rank[A.index[b]]);
    }
  }
  upper_.rows = upper_.columns = n;
  upper_.start.push_back(0);
  diagonal_.resize(n);
  for (int column = 0; column < n; ++column) {
    std::vector<int>& rows = places.rows_of_column[column];
    std::sort(rows.begin(), rows.end());
    rows.erase(std::unique(rows.begin(), rows.end()), rows.end());
    upper_.index.insert(upper_.index.end(), rows.begin(), rows.end());
    upper_.start.push_back(static_cast<int>(upper_.index.size()));
    diagonal_[column] = upper_.start.back() - 1;
  }
  const auto entry_of = [&](int i, int j) {
    const int column = std::max(i, j);
    const auto first = upper_.index.begin() + upper_.start[column];
    const auto last = upper_.index.begin() + upper_.start[column + 1];
    return static_cast<int>(std::lower_bound(first, last, std::min(i, j)) - upper_.index.begin());
  };
  from_P_.assign(upper_.index.size(), -1);
  for (int i = 0; i < n; ++i) {
    for (int k = P.start[i]; k < P.start[i + 1]; ++k) from_P_[entry_of(rank[i], rank[P.index[k]])] = k;
  }
  for (int row = 0; row < static_cast<int>(A.rows); ++row) {
    for (int a = A.start[row]; a < A.start[row + 1]; ++a) {
      for (int b = A.start[row]; b <= a; ++b) {
        products_.push_back({entry_of(rank[A.index[a]], rank[A.index[b]]), a, b, row});
      }
    }
  }
  std::stable_sort(products_.begin(), products_.end(),
                   [](const Product& a, const Product& b) { return a.target < b.target; });

  // Elimination tree and the rows of L: row k reaches from the entries of column k of K up the tree to k.
  parent_.assign(n, -1);
  std::vector<int> mark(n, -1);
  std::vector<std::vector<int>> rows(n);
  for (int k = 0; k < n; ++k) {
    mark[k] = k;
    for (int entry = upper_.start[k]; entry < upper_.start[k + 1]; ++entry) {
      for (int i = upper_.index[entry]; mark[i] != k; i = parent_[i]) {
        if (parent_[i] < 0) parent_[i] = k;
        mark[i] = k;
        rows[k].push_back(i);
      }
    }
    std::sort(rows[k].begin(), rows[k].end());
  }
  RowPattern by_rows;
  by_rows.rows = by_rows.columns = n;
  by_rows.start.push_back(0);
  for (int k = 0; k < n; ++k) {
    by_rows.index.insert(by_rows.index.end(), rows[k].begin(), rows[k].end());
    by_rows.start.push_back(static_cast<int>(by_rows.index.size()));
  }
  RowPattern by_columns = transposed(by_rows, row_of_column_);
  column_row_ = by_columns.index;
  row_column_ = by_rows.index;
  row_pattern_ = by_rows;
  column_pattern_ = by_columns;
  for (int& index : row_pattern_.index) index = order_[index];
  for (int& index : column_pattern_.index) index = order_[index];
}

Index NormalSystem::factor_products() const {
  Index products = 0;
  for (Index column = 0; column < size_; ++column) {
    const Index entries = column_pattern_.start[column + 1] - column_pattern_.start[column];
    products += entries * (entries + 1) / 2;
  }
  return products;
}

NormalSystem::Numbers NormalSystem::make_numbers(Index lanes) const {
  return {make_buffer(factor_entries(), lanes), make_buffer(factor_entries(), lanes),
          make_buffer(size_, lanes), make_buffer(2 * size_ + static_cast<Index>(upper_.index.size()), lanes),
          std::vector<int>(static_cast<std::size_t>(size_), 0)};
}

template <class S>
void NormalSystem::factor(const double* P_values, const double* A_values, const double* sigma_values,
                          const double* rho_values, Numbers& numbers) const {
  // Lanes<W> and double are both plain numbers: arrays of S are arrays of double.
  const auto at = [](const double* values, Index k) {
    S value;
    std::memcpy(&value, values + k * static_cast<Index>(sizeof(S) / sizeof(double)), sizeof(S));
    return value;
  };
  const auto put = [](double* values, Index k, const S& value) {
    std::memcpy(values + k * static_cast<Index>(sizeof(S) / sizeof(double)), &value, sizeof(S));
  };
  const int n = static_cast<int>(size_);
  const Index lanes = sizeof(S) / sizeof(double);
  double* column = numbers.scratch.data();              // n: column k of L D, scattered
  double* pivots = numbers.scratch.data() + n * lanes;  // n
  double* upper = numbers.scratch.data() + 2 * n * lanes;
  for (std::size_t entry = 0; entry < upper_.index.size(); ++entry) {
    put(upper, static_cast<Index>(entry), from_P_[entry] >= 0 ? at(P_values, from_P_[entry]) : S(0.0));
  }
  for (int i = 0; i < n; ++i) {
    put(upper, diagonal_[i], at(upper, diagonal_[i]) + at(sigma_values, order_[i]));
  }
  for (const Product& product : products_) {
    const S contribution = at(A_values, product.left) * at(rho_values, product.row);
    put(upper, product.target, at(upper, product.target) + contribution * at(A_values, product.right));
  }
  for (int k = 0; k < n; ++k) put(column, k, S(0.0));
  std::vector<int>& filled = numbers.filled;
  std::fill(filled.begin(), filled.end(), 0);
  for (int k = 0; k < n; ++k) {
    for (int entry = upper_.start[k]; entry < upper_.start[k + 1]; ++entry) {
      put(column, upper_.index[entry], at(upper, entry));
    }
    S pivot = at(column, k);
    put(column, k, S(0.0));
    for (int entry = row_pattern_.start[k]; entry < row_pattern_.start[k + 1]; ++entry) {
      // Columns of row k ascending: each is complete when it is reached.
      const int i = row_column_[entry];
      const S value = at(column, i);
      put(column, i, S(0.0));
      const int begin = column_pattern_.start[i];
      const int end = begin + filled[i];
      for (int place = begin; place < end; ++place) {
        const int target = column_row_[place];
        put(column, target, at(column, target) - at(numbers.by_columns.data(), place) * value);
      }
      const S scaled = value / at(pivots, i);
      pivot = pivot - scaled * value;
      put(numbers.by_columns.data(), end, scaled);
      ++filled[i];
    }
    put(pivots, k, pivot);
    put(numbers.inverse_pivots.data(), k, S(1.0) / pivot);
  }
  for (std::size_t place = 0; place < row_of_column_.size(); ++place) {
    put(numbers.by_rows.data(), row_of_column_[place],
        at(numbers.by_columns.data(), static_cast<Index>(place)));
  }
}

template void NormalSystem::factor<double>(const double*, const double*, const double*, const double*,
                                           Numbers&) const;
template void NormalSystem::factor<Lanes<8>>(const double*, const double*, const double*, const double*,
                                             Numbers&) const;

}  // namespace surefoot::algorithms
