#pragma once

#include "surefoot/algorithms/detail/sparse_lanes.hpp"

#include <type_traits>
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
    Buffer by_rows;     ///< L in the order of the forward sweep, panels by columns
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
    // Length: of each row, -1: various.
    const auto rows = [&](const Stretch& stretch, auto length) __attribute__((always_inline)) {
      constexpr int Length = decltype(length)::value;
      int k = row_start[stretch.first];
      for (int i = stretch.first; i < stretch.last; ++i) {
        const int place = order[i];
        Lanes<W> sum = rhs(place);
        for (const int end = Length < 0 ? row_start[i + 1] : k + Length; k < end; ++k) {
          sum.subtract_product(entry_value<W, Own>(row_values, k),
                               Lanes<W>::load(x + static_cast<Index>(row_index[k]) * W));
        }
        sum.store(x + static_cast<Index>(place) * W);
      }
    };
    for (const Stretch& stretch : forward_) {
      if (stretch.common > 0) {
        for (int i = stretch.first; i < stretch.last; ++i)
          rhs(order[i]).store(x + static_cast<Index>(order[i]) * W);
        forward_panel<W, Own>(stretch, numbers, x);
      } else if (stretch.length == 0) {
        rows(stretch, std::integral_constant<int, 0>());
      } else if (stretch.length == 1) {
        rows(stretch, std::integral_constant<int, 1>());
      } else {
        rows(stretch, std::integral_constant<int, -1>());
      }
    }
    const int* column_start = column_pattern_.start.data();
    const int* column_index = column_pattern_.index.data();
    const double* column_values = numbers.by_columns.data();
    const double* pivots = numbers.inverse_pivots.data();
    const auto columns = [&](const Stretch& stretch, auto length) __attribute__((always_inline)) {
      constexpr int Length = decltype(length)::value;
      for (int i = stretch.last - 1; i >= stretch.first; --i) {
        double* target = x + static_cast<Index>(order[i]) * W;
        Lanes<W> sum = Lanes<W>::load(target) * entry_value<W, Own>(pivots, i);
        int k = column_start[i];
        for (const int end = Length < 0 ? column_start[i + 1] : k + Length; k < end; ++k) {
          sum.subtract_product(entry_value<W, Own>(column_values, k),
                               Lanes<W>::load(x + static_cast<Index>(column_index[k]) * W));
        }
        sum.store(target);
      }
    };
    for (const Stretch& stretch : backward_) {
      if (stretch.common > 0) {
        backward_panel<W, Own>(stretch, numbers, x);
      } else if (stretch.length == 1) {
        columns(stretch, std::integral_constant<int, 1>());
      } else if (stretch.length == 2) {
        columns(stretch, std::integral_constant<int, 2>());
      } else {
        columns(stretch, std::integral_constant<int, -1>());
      }
    }
  }

 private:
  /// Rows (forward) or columns (backward) first .. last - 1 of L in their order, one after the other; or,
  /// with common > 0, a panel: rows that begin with the same `common` columns, or columns with the same
  /// `common` rows. What they share is loaded once for all. Sums are taken in the same order either way.
  /// `length`: entries of each, or -1 where they differ or are few.
  struct Stretch {
    int first;
    int last;
    int common;
    int length;
  };
  static void add_plain(std::vector<Stretch>& stretches, int first, int last, int length);
  static constexpr int most_rows = 6;  // of a panel: running sums that registers have room for

  void analyse(const RowPattern& P, const RowPattern& A);
  [[nodiscard]] std::vector<int> levels() const;
  void find_panels();
  template <int W, bool Own>
  void forward_panel(const Stretch& panel, const Numbers& numbers, double* x) const;
  template <int W, bool Own, int Rows>
  void forward_rows(const Stretch& panel, const Numbers& numbers, double* x) const;
  template <int W, bool Own>
  void backward_panel(const Stretch& panel, const Numbers& numbers, double* x) const;
  template <int W, bool Own, int Rows>
  void backward_columns(const Stretch& panel, const Numbers& numbers, double* x) const;

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
  std::vector<int> row_of_column_;  // entry by columns -> its place in Numbers::by_rows
  std::vector<Stretch> forward_;
  std::vector<Stretch> backward_;
};

}  // namespace surefoot::algorithms
