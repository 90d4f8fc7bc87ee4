#pragma once

#include "surefoot/algorithms/detail/sparse_lanes.hpp"

#include <vector>

namespace surefoot::algorithms {

/// The sparse systems K x = rhs, K = P + diag(sigma) + A' diag(rho) A (n x n, positive definite), of
/// operator splitting methods: pattern, ordering and elimination tree once per family; numbers once, or once
/// per block with the instances' own numbers in the lanes. L D L' with an approximate minimum degree
/// ordering; up-looking elimination as in T. Davis, "Direct methods for sparse linear systems", SIAM 2006.
class NormalSystem {
 public:
  /// P: pattern of the full symmetric matrix; A: pattern by rows.
  NormalSystem(const RowPattern& P, const RowPattern& A);

  [[nodiscard]] Index size() const { return size_; }
  /// Entries of L below the diagonal.
  [[nodiscard]] Index factor_entries() const { return static_cast<Index>(column_pattern_.index.size()); }
  /// Products of two entries of L that an elimination subtracts.
  [[nodiscard]] Index factor_products() const;

  /// Numbers of a factorisation, shared (S = double) or one per lane (S = Lanes<W>); flat arrays.
  struct Numbers {
    Buffer by_rows;     ///< L in the order of the forward sweep
    Buffer by_columns;  ///< L in the order of the backward sweep
    Buffer inverse_pivots;
    Buffer scratch;
    std::vector<int> filled;  ///< scratch: entries of each column of L known so far
  };
  [[nodiscard]] Numbers make_numbers(Index lanes) const;

  /// P, A: values on the patterns given to the constructor; sigma: n, rho: m numbers; each x lanes.
  /// Allocates nothing.
  template <class S>
  void factor(const double* P, const double* A, const double* sigma, const double* rho,
              Numbers& numbers) const;

  /// x (n x W) with K x = rhs; rhs(i) gives lane values of entry i and is called once for each.
  template <int W, bool Own, class Rhs>
  [[gnu::always_inline]] void solve(const Numbers& numbers, const Rhs& rhs, double* x) const {
    const int* order = order_.data();
    const int* row_start = row_pattern_.start.data();
    const int* row_index = row_pattern_.index.data();
    const double* row_values = numbers.by_rows.data();
    const Index n = size_;
    for (Index i = 0; i < n; ++i) {
      const int place = order[i];
      Lanes<W> sum = rhs(place);
      for (int k = row_start[i]; k < row_start[i + 1]; ++k) {
        sum.subtract_product(entry_value<W, Own>(row_values, k),
                             Lanes<W>::load(x + static_cast<Index>(row_index[k]) * W));
      }
      sum.store(x + static_cast<Index>(place) * W);
    }
    const int* column_start = column_pattern_.start.data();
    const int* column_index = column_pattern_.index.data();
    const double* column_values = numbers.by_columns.data();
    const double* pivots = numbers.inverse_pivots.data();
    for (Index i = n - 1; i >= 0; --i) {
      double* target = x + static_cast<Index>(order[i]) * W;
      Lanes<W> sum = Lanes<W>::load(target) * entry_value<W, Own>(pivots, static_cast<int>(i));
      for (int k = column_start[i]; k < column_start[i + 1]; ++k) {
        sum.subtract_product(entry_value<W, Own>(column_values, k),
                             Lanes<W>::load(x + static_cast<Index>(column_index[k]) * W));
      }
      sum.store(target);
    }
  }

 private:
  void analyse(const RowPattern& P, const RowPattern& A);

  struct Product {
    int target;  // entry of the upper triangle of the permuted K
    int left;    // entries of A in one row
    int right;
    int row;
  };
  Index size_ = 0;
  std::vector<int> order_;          // order_[i]: variable eliminated i-th
  RowPattern upper_;                // permuted K by columns: rows <= column of each column
  std::vector<int> from_P_;         // entry of P for each entry of upper_, -1: none
  std::vector<int> diagonal_;       // entry of upper_ that is the diagonal of each column
  std::vector<Product> products_;   // contributions of A' rho A
  std::vector<int> parent_;         // elimination tree
  RowPattern row_pattern_;          // L by rows, columns in original numbering
  RowPattern column_pattern_;       // L by columns, rows in original numbering
  std::vector<int> row_column_;     // L by rows, columns in elimination order
  std::vector<int> column_row_;     // L by columns, rows in elimination order
  std::vector<int> row_of_column_;  // entry by columns -> entry by rows
};

}  // namespace surefoot::algorithms
