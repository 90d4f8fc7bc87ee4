#include "surefoot/algorithms/detail/anderson.hpp"

#include <algorithm>
#include <cmath>

namespace surefoot::algorithms {

namespace {

constexpr double largest_weights = 1e10;
constexpr double settled = 1e-6;  // a correction, relative
// Columns whose three sums registers have room for.
#ifdef __AVX512VL__
constexpr int at_once = 4;
#else
constexpr int at_once = 2;
#endif

/// Gaussian elimination with row exchanges: A (n x n, by rows) and b in place; b becomes the solution. False
/// if a pivot is zero or not a number.
bool eliminate_with_exchanges(double* A, double* b, Index n) {
  for (Index k = 0; k < n; ++k) {
    Index pivot = k;
    for (Index i = k + 1; i < n; ++i) {
      if (std::abs(A[i * n + k]) > std::abs(A[pivot * n + k])) pivot = i;
    }
    if (!(std::abs(A[pivot * n + k]) > 0)) return false;
    if (pivot != k) {
      std::swap_ranges(A + k * n, A + (k + 1) * n, A + pivot * n);
      std::swap(b[k], b[pivot]);
    }
    const double inverse = 1 / A[k * n + k];
    for (Index i = k + 1; i < n; ++i) {
      const double factor = A[i * n + k] * inverse;
      for (Index j = k + 1; j < n; ++j) A[i * n + j] -= factor * A[k * n + j];
      b[i] -= factor * b[k];
    }
  }
  for (Index k = n - 1; k >= 0; --k) {
    for (Index j = k + 1; j < n; ++j) b[k] -= A[k * n + j] * b[j];
    b[k] /= A[k * n + k];
  }
  return true;
}

}  // namespace

AndersonMemory::AndersonMemory(Index rows, const AndersonOptions& options)
    : options_(options), rows_(rows), columns_(std::min(options.lookback, rows)) {
  S_ = Y_ = make_buffer(rows_ * columns_, W);
  x_ = f_ = s_ = y_ = g_ = make_buffer(rows_, W);
  sizes_s_ = sizes_y_ = right_ = gamma_ = correction_ = make_buffer(columns_, W);
  system_ = factors_ = make_buffer(columns_ * columns_, W);
  r_ = make_buffer(1, W);
  dense_ = make_buffer(columns_ * (columns_ + 2), 1);
}

/// Columns j .. j + J - 1 beside the newest ones and g.
template <int J, bool Right>
void AndersonMemory::products(Index j) {
  L row[J];
  L column[J];
  L right[J];
  for (int b = 0; b < J; ++b) row[b] = column[b] = right[b] = L(0.0);
  const double* newest = (options_.type_1 ? s_ : y_).data();
  const double* a = entry(left(), 0, j);
  const double* y = entry(Y_, 0, j);
  for (Index i = 0; i < rows_; ++i, a += columns_ * W, y += columns_ * W) {
    const L new_a = L::load(newest + i * W);
    const L new_y = L::load(y_.data() + i * W);
    const L g = L::load(g_.data() + i * W);
    for (int b = 0; b < J; ++b) {
      const L old_a = L::load(a + b * W);
      row[b].add_product(new_a, L::load(y + b * W));
      column[b].add_product(new_y, old_a);
      if constexpr (Right) right[b].add_product(g, old_a);
    }
  }
  for (int b = 0; b < J; ++b) {
    row[b].store(system_.data() + (newest_ * columns_ + j + b) * W);
    column[b].store(system_.data() + ((j + b) * columns_ + newest_) * W);
    right[b].store(right_.data() + (j + b) * W);
  }
}

/// The new columns, what is kept of x and f, and A'Y and A'g.
void AndersonMemory::take(const double* f, const double* x, const AndersonNotes& notes) {
  L size_s(0.0);
  L size_y(0.0);
  L size_g(0.0);
  for (Index i = 0; i < rows_; ++i) {
    const L point = L::load(x + i * W);
    const L image = L::load(f + i * W);
    const L old_point = L::load(x_.data() + i * W);
    const L g = point - image;
    const L s = point - old_point;
    const L y = g - L::load(g_.data() + i * W);
    point.store(x_.data() + i * W);
    image.store(f_.data() + i * W);
    g.store(g_.data() + i * W);
    s.store(s_.data() + i * W);
    y.store(y_.data() + i * W);
    s.store(entry(S_, i, newest_));
    y.store(entry(Y_, i, newest_));
    size_g.add_product(g, g);
    size_s.add_product(s, s);
    size_y.add_product(y, y);
  }
  sqrt(size_g).store(notes.residual);
  size_s.store(sizes_s_.data() + newest_ * W);
  size_y.store(sizes_y_.data() + newest_ * W);
  // Until there are enough columns, those from before the last reset are not asked for.
  const bool solves = any_full(notes);
  const auto multiply = [&](Index begin, Index end) {
    Index j = begin;
    for (; j + at_once <= end; j += at_once)
      solves ? products<at_once, true>(j) : products<at_once, false>(j);
    for (; j < end; ++j) solves ? products<1, true>(j) : products<1, false>(j);
  };
  Index newer = 0;  // columns since the last reset, besides the newest
  while (newer < columns_ - 1 && std::any_of(notes.count, notes.count + W, [&](double count) {
           return count > static_cast<double>(newer);
         })) {
    ++newer;
  }
  if (newer == columns_ - 1) return multiply(0, columns_);
  const Index oldest = newest_ - newer;  // columns are written in a circle
  multiply(std::max<Index>(oldest, 0), newest_ + 1);
  if (oldest < 0) multiply(oldest + columns_, columns_);
}

bool AndersonMemory::any_full(const AndersonNotes& notes) const {
  return std::any_of(notes.count, notes.count + W,
                     [&](double count) { return count >= static_cast<double>(columns_); });
}

/// r, L U = A'Y + r I, U's diagonal inverted, and A'g in gamma.
void AndersonMemory::eliminate() {
  const Index n = columns_;
  L of_s(0.0);
  L of_y(0.0);
  for (Index j = 0; j < n; ++j) {
    of_s += L::load(sizes_s_.data() + place(j) * W);
    of_y += L::load(sizes_y_.data() + place(j) * W);
  }
  const L of_a = options_.type_1 ? of_s : of_y;
  const L r = options_.regularization > 0 ? L(options_.regularization) * (sqrt(of_a) * sqrt(of_y))
                                          : L(-options_.regularization);
  r.store(r_.data());
  const auto at = [&](Index i, Index j) { return factors_.data() + (i * n + j) * W; };
  for (Index i = 0; i < n; ++i) {  // columns by age lie in two runs
    const double* row = system_.data() + place(i) * n * W;
    const Index older = n - newest_ - 1;
    std::copy_n(row + (newest_ + 1) * W, older * W, at(i, 0));
    std::copy_n(row, (newest_ + 1) * W, at(i, older));
    L::load(right_.data() + place(i) * W).store(gamma_.data() + i * W);
  }
  for (Index k = 0; k < n; ++k) (L::load(at(k, k)) + r).store(at(k, k));
  for (Index k = 0; k < n; ++k) {
    const L inverse = L(1.0) / L::load(at(k, k));
    inverse.store(at(k, k));
    for (Index i = k + 1; i < n; ++i) {
      const L factor = L::load(at(i, k)) * inverse;
      factor.store(at(i, k));
      for (Index j = k + 1; j < n; ++j) {
        L value = L::load(at(i, j));
        value.subtract_product(factor, L::load(at(k, j)));
        value.store(at(i, j));
      }
    }
  }
}

void AndersonMemory::substitute(double* right) const {
  const Index n = columns_;
  const auto at = [&](Index i, Index j) { return L::load(factors_.data() + (i * n + j) * W); };
  for (Index i = 1; i < n; ++i) {
    L sum = L::load(right + i * W);
    for (Index j = 0; j < i; ++j) sum.subtract_product(at(i, j), L::load(right + j * W));
    sum.store(right + i * W);
  }
  for (Index i = n - 1; i >= 0; --i) {
    L sum = L::load(right + i * W);
    for (Index j = i + 1; j < n; ++j) sum.subtract_product(at(i, j), L::load(right + j * W));
    (sum * at(i, i)).store(right + i * W);
  }
}

/// correction = A'(g - Y gamma) - r gamma.
void AndersonMemory::correct() {
  for (Index i = 0; i < rows_; ++i) {
    L left_over = L::load(g_.data() + i * W);
    each_by_age([&](Index j, Index age) __attribute__((always_inline)) {
      left_over.subtract_product(L::load(entry(Y_, i, j)), L::load(gamma_.data() + age * W));
    });
    left_over.store(s_.data() + i * W);
  }
  Index j = 0;
  for (; j + 5 <= columns_; j += 5) correct_columns<5>(j);
  for (; j < columns_; ++j) correct_columns<1>(j);
}

template <int J>
void AndersonMemory::correct_columns(Index j) {
  L sum[J];
  const L r = L::load(r_.data());
  for (int b = 0; b < J; ++b) sum[b] = L(0.0) - r * L::load(gamma_.data() + age(j + b) * W);
  const double* a = entry(left(), 0, j);
  for (Index i = 0; i < rows_; ++i, a += columns_ * W) {
    const L left_over = L::load(s_.data() + i * W);
    for (int b = 0; b < J; ++b) sum[b].add_product(L::load(a + b * W), left_over);
  }
  for (int b = 0; b < J; ++b) sum[b].store(correction_.data() + age(j + b) * W);
}

/// One lane with exchanges, corrected three times.
bool AndersonMemory::solve_carefully(int lane) {
  const Index n = columns_;
  double* matrix = dense_.data();
  double* right = matrix + n * n;
  double* left_over = s_.data();  // by row, of this lane alone
  for (Index j = 0; j < n; ++j) gamma_[j * W + lane] = 0;
  for (int round = 0; round < 4; ++round) {
    for (Index i = 0; i < rows_; ++i) {
      double sum = g_[i * W + lane];
      for (Index j = 0; j < n; ++j) sum -= entry(Y_, i, place(j))[lane] * gamma_[j * W + lane];
      left_over[i] = sum;
    }
    for (Index j = 0; j < n; ++j) {
      right[j] = -r_[lane] * gamma_[j * W + lane];
      for (Index i = 0; i < rows_; ++i) right[j] += entry(left(), i, place(j))[lane] * left_over[i];
      for (Index k = 0; k < n; ++k)
        matrix[j * n + k] = system_[(place(j) * n + place(k)) * W + lane] + (j == k ? r_[lane] : 0.0);
    }
    if (!eliminate_with_exchanges(matrix, right, n)) return false;
    for (Index j = 0; j < n; ++j) gamma_[j * W + lane] += right[j];
  }
  return true;
}

void AndersonMemory::apply(Index call, double* f, const double* x, const AndersonNotes& notes) {
  newest_ = call % columns_;
  take(f, x, notes);
  bool full[W];
  for (int lane = 0; lane < W; ++lane) {
    notes.accelerated[lane] = 0 * notes.accelerated[lane];
    full[lane] = notes.count[lane] >= static_cast<double>(columns_);
  }
  if (any_full(notes)) {
    eliminate();
    substitute(gamma_.data());
    correct();
    substitute(correction_.data());
    L of_gamma(0.0);
    L of_correction(0.0);
    for (Index j = 0; j < columns_; ++j) {
      const L change = L::load(correction_.data() + j * W);
      const L weight = L::load(gamma_.data() + j * W) + change;
      of_gamma.add_product(weight, weight);
      of_correction.add_product(change, change);
      weight.store(gamma_.data() + j * W);
    }
    alignas(64) double accepted[W];
    for (int lane = 0; lane < W; ++lane) {
      double squares = of_gamma[lane];
      bool good = full[lane];
      if (good && !(of_correction[lane] <= settled * settled * squares)) {
        good = solve_carefully(lane);
        squares = 0;
        for (Index j = 0; j < columns_; ++j) squares += gamma_[j * W + lane] * gamma_[j * W + lane];
      }
      accepted[lane] = good && std::sqrt(squares) < largest_weights ? 1 : 0;
      if (accepted[lane] == 0) {
        for (Index j = 0; j < columns_; ++j) gamma_[j * W + lane] = 0;
      }
      double size = 0;
      for (Index j = 0; j < columns_; ++j) size += std::abs(gamma_[j * W + lane]);
      if (size > 0) notes.accelerated[lane] = 1;
      if (full[lane] && accepted[lane] == 0) notes.count[lane] = 0;  // and one point below
    }
    const L yes = L::load(accepted);
    const L relaxation(options_.relaxation);
    const L rest(1 - options_.relaxation);
    for (Index i = 0; i < rows_; ++i) {
      L by_s(0.0);
      L by_y(0.0);
      each_by_age([&](Index j, Index age) __attribute__((always_inline)) {
        const L weight = L::load(gamma_.data() + age * W);
        by_s.add_product(L::load(entry(S_, i, j)), weight);
        by_y.add_product(L::load(entry(Y_, i, j)), weight);
      });
      const L image = L::load(f + i * W);
      L result = image - (by_s - by_y);
      if (options_.relaxation != 1) result = relaxation * result + rest * (L::load(x + i * W) - by_s);
      where_greater(yes, L(0.0), result, image).store(f + i * W);
    }
  }
  for (int lane = 0; lane < W; ++lane) notes.count[lane] += 1;
}

void AndersonMemory::safeguard(double* f, const double* x, const AndersonNotes& notes) const {
  L squares(0.0);
  for (Index i = 0; i < rows_; ++i) {
    const L change = L::load(x + i * W) - L::load(f + i * W);
    squares.add_product(change, change);
  }
  const L size = sqrt(squares);
  for (int lane = 0; lane < W; ++lane) {
    if (notes.accelerated[lane] != 1) continue;
    notes.accelerated[lane] = 0;
    if (!(size[lane] > notes.residual[lane])) continue;
    for (Index i = 0; i < rows_; ++i) f[i * W + lane] = f_[i * W + lane];
    notes.count[lane] = 0;
  }
}

}  // namespace surefoot::algorithms
