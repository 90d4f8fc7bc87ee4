#include "surefoot/algorithms/detail/normal_system.hpp"

#include <Eigen/OrderingMethods>

#include <algorithm>
#include <array>
#include <cstring>
#include <iterator>
#include <numeric>
#include <span>
#include <type_traits>
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
  // Level by level, rows are independent of their neighbours, and rows of equal lengths in sequence make
  // loops that the processor predicts.
  const std::vector<int> level = levels();
  std::vector<int> entries(n, 0);
  for (const int column : A.index) ++entries[column];
  std::vector<int> sequence(n);
  for (int k = 0; k < n; ++k) sequence[k] = k;
  // Neighbours in lower levels become entries of the row, those in higher ones of the column.
  std::vector<std::array<int, 4>> key(n);
  for (int k = 0; k < n; ++k) {
    key[k] = {level[k], entries[order_[k]], 0, 0};
    for (int entry = row_pattern_.start[k]; entry < row_pattern_.start[k + 1]; ++entry) {
      const int other = row_column_[entry];
      const bool is_lower = level[other] < level[k];
      ++key[k][is_lower ? 2 : 3];
      ++key[other][is_lower ? 3 : 2];
    }
  }
  std::stable_sort(sequence.begin(), sequence.end(), [&](int a, int b) { return key[a] < key[b]; });
  std::vector<int> sorted(n);
  for (int k = 0; k < n; ++k) sorted[k] = order_[sequence[k]];
  order_ = std::move(sorted);
  analyse(P, A);
  find_panels();
}

/// Of each row of L: rows of a level may be eliminated in any order, after those of the levels below. Solves
/// wait for each level's sums, so there should be few. Any order that eliminates, round by round, vertices
/// whose neighbours are neighbours of each other has the fill of the first order; all of them that are not
/// neighbours at once is the least number of rounds (J. Jess, H. Kees, "A data structure for parallel L/U
/// decomposition", IEEE Trans. Comput. 31, 1982). Where finding them would take long: the elimination tree's.
std::vector<int> NormalSystem::levels() const {
  const int n = static_cast<int>(size_);
  constexpr Index most_work = 20'000'000;
  const auto before = [&](int v) {
    return std::span(row_column_)
        .subspan(row_pattern_.start[v], row_pattern_.start[v + 1] - row_pattern_.start[v]);
  };
  const auto after = [&](int v) {
    return std::span(column_row_)
        .subspan(column_pattern_.start[v], column_pattern_.start[v + 1] - column_pattern_.start[v]);
  };
  std::vector<int> level(n, -1);  // those that are left
  // With f the first of v and its neighbours: they are neighbours of each other if all are neighbours of f.
  const auto is_simplicial = [&](int v) {
    const auto earlier = before(v);
    const auto first = std::find_if(earlier.begin(), earlier.end(), [&](int w) { return level[w] < 0; });
    if (first == earlier.end()) return true;
    const auto of_first = after(*first);
    auto place = of_first.begin();
    const auto is_neighbour = [&](int w) {
      if (level[w] >= 0) return true;
      place = std::lower_bound(place, of_first.end(), w);
      return place != of_first.end() && *place == w;
    };
    const auto later = after(v);
    return std::all_of(first + 1, earlier.end(), is_neighbour) &&
           std::all_of(later.begin(), later.end(), is_neighbour);
  };
  std::vector<int> candidates(n);
  std::iota(candidates.begin(), candidates.end(), 0);
  std::vector<int> blocked(n, -1);  // round in which a neighbour is taken
  Index work = 0;
  for (int round = 0; !candidates.empty(); ++round) {
    std::vector<int> taken;
    for (const int v : candidates) {
      work += static_cast<Index>(before(v).size() + after(v).size());
      if (blocked[v] == round || !is_simplicial(v)) continue;
      taken.push_back(v);
      for (const int w : before(v)) blocked[w] = round;
      for (const int w : after(v)) blocked[w] = round;
    }
    if (work > most_work) break;
    for (const int v : taken) level[v] = round;
    candidates.clear();
    for (const int v : taken) {
      for (const auto neighbours : {before(v), after(v)}) {
        std::copy_if(neighbours.begin(), neighbours.end(), std::back_inserter(candidates),
                     [&](int w) { return level[w] < 0; });
      }
    }
    std::sort(candidates.begin(), candidates.end());
    candidates.erase(std::unique(candidates.begin(), candidates.end()), candidates.end());
  }
  if (work <= most_work) return level;
  std::fill(level.begin(), level.end(), 0);
  for (int k = 0; k < n; ++k) {
    if (parent_[k] >= 0) level[parent_[k]] = std::max(level[parent_[k]], level[k] + 1);
  }
  return level;
}

/// Takes rows first .. last - 1 of one length into the stretches, which go up or down.
void NormalSystem::add_plain(std::vector<Stretch>& stretches, int first, int last, int length) {
  constexpr int least_rows = 4;
  const int kept_length = last - first >= least_rows ? length : -1;
  if (stretches.empty() || stretches.back().common > 0 || kept_length >= 0 || stretches.back().length >= 0) {
    stretches.push_back({first, last, 0, kept_length});
    return;
  }
  stretches.back().first = std::min(stretches.back().first, first);
  stretches.back().last = std::max(stretches.back().last, last);
}

/// Panels of neighbours in the order of elimination, and the places of their entries.
void NormalSystem::find_panels() {
  constexpr int least_common = 4;
  const int n = static_cast<int>(size_);
  const std::vector<int>& row_start = row_pattern_.start;
  const std::vector<int>& column_start = column_pattern_.start;
  forward_.clear();
  std::vector<int> place(row_column_.size());
  std::iota(place.begin(), place.end(), 0);
  const auto length_of = [&](int row) { return row_start[row + 1] - row_start[row]; };
  for (int first = 0; first < n;) {
    const auto begin = row_column_.begin() + row_start[first];
    int common = length_of(first);
    int last = first + 1;
    for (; last < n && last - first < most_rows; ++last) {
      const auto other = row_column_.begin() + row_start[last];
      const int most = std::min(common, length_of(last));
      const auto alike = static_cast<int>(std::mismatch(begin, begin + most, other).first - begin);
      if (alike < least_common || alike * (last - first + 1) < common * (last - first)) break;
      common = alike;
    }
    const int rows = last - first;
    if (rows == 1) {
      if (common < least_common) {
        while (last < n && length_of(last) == common) ++last;
      }
      add_plain(forward_, first, last, common);
      first = last;
      continue;
    }
    int rest = row_start[first] + rows * common;
    for (int row = first; row < last; ++row) {
      for (int k = row_start[row]; k < row_start[row + 1]; ++k) {
        const int column = k - row_start[row];
        place[k] = column < common ? row_start[first] + column * rows + (row - first) : rest++;
      }
    }
    forward_.push_back({first, last, common, -1});
    first = last;
  }
  for (int& entry : row_of_column_) entry = place[entry];

  backward_.clear();
  const auto same_rows = [&](int a, int b) {
    return std::equal(column_row_.begin() + column_start[a], column_row_.begin() + column_start[a + 1],
                      column_row_.begin() + column_start[b], column_row_.begin() + column_start[b + 1]);
  };
  const auto column_length = [&](int column) { return column_start[column + 1] - column_start[column]; };
  for (int last = n; last > 0;) {
    const int common = column_length(last - 1);
    int first = last - 1;
    while (first > 0 && same_rows(first - 1, last - 1)) --first;
    if (last - first >= least_common && common >= 2 && common <= most_rows) {
      backward_.push_back({first, last, common, -1});
    } else {
      while (first > 0 && column_length(first - 1) == common) --first;
      add_plain(backward_, first, last, common);
    }
    last = first;
  }
}

template <int W, bool Own, int Rows>
void NormalSystem::forward_rows(const Stretch& panel, const Numbers& numbers, double* x) const {
  const auto at = [&](int i) { return x + static_cast<Index>(i) * W; };
  const int* index = row_pattern_.index.data();
  const int* start = row_pattern_.start.data() + panel.first;
  const int* order = order_.data() + panel.first;
  const double* values = numbers.by_rows.data();
  Lanes<W> sum[Rows];
  for (int row = 0; row < Rows; ++row) sum[row] = Lanes<W>::load(at(order[row]));
  int k = start[0];
  for (int column = 0; column < panel.common; ++column, k += Rows) {
    const Lanes<W> shared = Lanes<W>::load(at(index[start[0] + column]));
    for (int row = 0; row < Rows; ++row)
      sum[row].subtract_product(entry_value<W, Own>(values, k + row), shared);
  }
  for (int row = 0; row < Rows; ++row) {
    for (int entry = start[row] + panel.common; entry < start[row + 1]; ++entry, ++k)
      sum[row].subtract_product(entry_value<W, Own>(values, k), Lanes<W>::load(at(index[entry])));
    sum[row].store(at(order[row]));
  }
}

template <int W, bool Own, int Rows>
void NormalSystem::backward_columns(const Stretch& panel, const Numbers& numbers, double* x) const {
  const auto at = [&](int i) { return x + static_cast<Index>(i) * W; };
  const int* index = column_pattern_.index.data() + column_pattern_.start[panel.first];
  Lanes<W> shared[Rows];
  for (int row = 0; row < Rows; ++row) shared[row] = Lanes<W>::load(at(index[row]));
  const double* values = numbers.by_columns.data();
  for (int i = panel.last - 1; i >= panel.first; --i) {
    double* target = at(order_[i]);
    Lanes<W> sum = Lanes<W>::load(target) * entry_value<W, Own>(numbers.inverse_pivots.data(), i);
    const int start = column_pattern_.start[i];
    for (int row = 0; row < Rows; ++row)
      sum.subtract_product(entry_value<W, Own>(values, start + row), shared[row]);
    sum.store(target);
  }
}

namespace {

/// call(R) with R the number as a constant, 2 .. 6.
template <class Call>
void with_rows(int rows, const Call& call) {
  switch (rows) {
    case 2:
      return call(std::integral_constant<int, 2>());
    case 3:
      return call(std::integral_constant<int, 3>());
    case 4:
      return call(std::integral_constant<int, 4>());
    case 5:
      return call(std::integral_constant<int, 5>());
    default:
      return call(std::integral_constant<int, 6>());
  }
}

}  // namespace

template <int W, bool Own>
void NormalSystem::forward_panel(const Stretch& panel, const Numbers& numbers, double* x) const {
  with_rows(panel.last - panel.first,
            [&](auto rows) { forward_rows<W, Own, decltype(rows)::value>(panel, numbers, x); });
}

template <int W, bool Own>
void NormalSystem::backward_panel(const Stretch& panel, const Numbers& numbers, double* x) const {
  with_rows(panel.common,
            [&](auto rows) { backward_columns<W, Own, decltype(rows)::value>(panel, numbers, x); });
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
          make_buffer(size_, lanes), make_buffer(size_ + static_cast<Index>(upper_.index.size()), lanes),
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
  double* column = numbers.scratch.data();  // n: column k of L D, scattered
  double* upper = numbers.scratch.data() + n * lanes;
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
      const S scaled = value * at(numbers.inverse_pivots.data(), i);
      pivot = pivot - scaled * value;
      put(numbers.by_columns.data(), end, scaled);
      ++filled[i];
    }
    put(numbers.inverse_pivots.data(), k, S(1.0) / pivot);
  }
  for (std::size_t place = 0; place < row_of_column_.size(); ++place) {
    put(numbers.by_rows.data(), row_of_column_[place],
        at(numbers.by_columns.data(), static_cast<Index>(place)));
  }
}

template void NormalSystem::forward_panel<8, true>(const Stretch&, const Numbers&, double*) const;
template void NormalSystem::forward_panel<8, false>(const Stretch&, const Numbers&, double*) const;
template void NormalSystem::forward_panel<16, false>(const Stretch&, const Numbers&, double*) const;
template void NormalSystem::backward_panel<8, true>(const Stretch&, const Numbers&, double*) const;
template void NormalSystem::backward_panel<8, false>(const Stretch&, const Numbers&, double*) const;
template void NormalSystem::backward_panel<16, false>(const Stretch&, const Numbers&, double*) const;
template void NormalSystem::factor<double>(const double*, const double*, const double*, const double*,
                                           Numbers&) const;
template void NormalSystem::factor<Lanes<8>>(const double*, const double*, const double*, const double*,
                                             Numbers&) const;

}  // namespace surefoot::algorithms
