#include "surefoot/algorithms/detail/anderson.hpp"

#include <algorithm>
#include <cmath>

namespace surefoot::algorithms {

namespace {

constexpr double largest_weights = 1e10;

/// Gaussian elimination with row exchanges: A (n x n, by rows) and b in place; b becomes the solution. False
/// if a pivot is zero or not a number.
bool eliminate(double* A, double* b, Index n) {
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
    : options_(options), rows_(rows), columns_(std::min(options.lookback, rows)), stride_(columns_ + 1) {
  S_ = make_buffer(rows_ * stride_, W);
  Y_ = Q_ = S_;
  x_ = f_ = make_buffer(rows_, W);
  gram_ = R_ = inverse_ = make_buffer(columns_ * columns_, W);
  norms_ = gamma_ = make_buffer(columns_, W);
  r_ = make_buffer(1, W);
  system_ = make_buffer(columns_ * stride_, W);
  dense_ = make_buffer(columns_ * (columns_ + 1), 1);
}

/// The new columns, their places by lane, and what is kept of x and f.
void AndersonMemory::take(const double* f, const double* x, const AndersonNotes& notes) {
  Index place[W];
  for (int lane = 0; lane < W; ++lane) {
    const double count = notes.count[lane];
    place[lane] = count >= 1 ? (static_cast<Index>(count) - 1) % columns_ : 0;
  }
  L size_y(0.0);
  L size_g(0.0);
  for (Index i = 0; i < rows_; ++i) {
    const L point = L::load(x + i * W);
    const L image = L::load(f + i * W);
    const L old_point = L::load(x_.data() + i * W);
    const L old_image = L::load(f_.data() + i * W);
    const L g = point - image;
    const L s = point - old_point;
    const L y = g - (old_point - old_image);
    point.store(x_.data() + i * W);
    image.store(f_.data() + i * W);
    g.store(entry(Y_, i, columns_));
    size_g.add_product(g, g);
    size_y.add_product(y, y);
    for (int lane = 0; lane < W; ++lane) {
      entry(S_, i, place[lane])[lane] = s[lane];
      entry(Y_, i, place[lane])[lane] = y[lane];
    }
  }
  sqrt(size_g).store(notes.residual);
  for (int lane = 0; lane < W; ++lane) norms_[place[lane] * W + lane] = size_y[lane];
  // The row of A'A that changed.
  Buffer& A = options_.type_1 ? S_ : Y_;
  for (Index j = 0; j < columns_; ++j) L(0.0).store(gamma_.data() + j * W);
  for (Index i = 0; i < rows_; ++i) {
    const double* row = entry(A, i, 0);
    alignas(64) double own[W];
    for (int lane = 0; lane < W; ++lane) own[lane] = row[place[lane] * W + lane];
    const L column = L::load(own);
    for (Index j = 0; j < columns_; ++j) {
      L sum = L::load(gamma_.data() + j * W);
      sum.add_product(column, L::load(row + j * W));
      sum.store(gamma_.data() + j * W);
    }
  }
  for (int lane = 0; lane < W; ++lane) {
    for (Index j = 0; j < columns_; ++j) {
      const double value = gamma_[j * W + lane];
      gram_[(place[lane] * columns_ + j) * W + lane] = value;
      gram_[(j * columns_ + place[lane]) * W + lane] = value;
    }
  }
}

/// r, R with R'R = A'A + r I, and its inverse. R only makes Q well conditioned: A = QR holds whatever it is.
void AndersonMemory::factor() {
  const Index n = columns_;
  L left(0.0);
  L right(0.0);
  for (Index j = 0; j < n; ++j) {
    left += L::load(gram_.data() + (j * n + j) * W);
    right += L::load(norms_.data() + j * W);
  }
  const L r = options_.regularization > 0 ? L(options_.regularization) * (sqrt(left) * sqrt(right))
                                          : L(-options_.regularization);
  r.store(r_.data());
  const L rounding(1e-15);
  for (Index j = 0; j < n; ++j) {
    for (Index i = 0; i <= j; ++i) {
      const L given = L::load(gram_.data() + (i * n + j) * W);
      L sum = i == j ? given + r : given;
      for (Index k = 0; k < i; ++k)
        sum.subtract_product(L::load(R_.data() + (k * n + i) * W), L::load(R_.data() + (k * n + j) * W));
      double* place = R_.data() + (i * n + j) * W;
      if (i < j) {
        (sum * L::load(R_.data() + (i * n + i) * W)).store(place);
      } else {
        (L(1.0) / sqrt(max(sum, rounding * (given + r)))).store(place);
      }
    }
  }
  for (Index j = 0; j < n; ++j) {
    for (Index i = j; i >= 0; --i) {
      const L diagonal = L::load(R_.data() + (i * n + i) * W);
      L sum(0.0);
      for (Index k = i + 1; k <= j; ++k)
        sum.add_product(L::load(R_.data() + (i * n + k) * W), L::load(inverse_.data() + (k * n + j) * W));
      (i == j ? diagonal : L(0.0) - sum * diagonal).store(inverse_.data() + (i * n + j) * W);
    }
  }
}

template <int I, int J>
void AndersonMemory::products(Index i, Index j) {
  L sums[I][J];
  for (auto& row : sums) {
    for (L& sum : row) sum = L(0.0);
  }
  const double* q = entry(Q_, 0, i);
  const double* y = entry(Y_, 0, j);
  for (Index row = 0; row < rows_; ++row, q += stride_ * W, y += stride_ * W) {
    for (int b = 0; b < J; ++b) {
      const L right = L::load(y + b * W);
      for (int a = 0; a < I; ++a) sums[a][b].add_product(L::load(q + a * W), right);
    }
  }
  for (int a = 0; a < I; ++a) {
    for (int b = 0; b < J; ++b) sums[a][b].store(entry(system_, i + a, j + b));
  }
}

/// Q = A R^{-1}, row by row, then Q'[Y, g] and what the rows of sqrt(r) I add to it.
void AndersonMemory::project() {
  const Index n = columns_;
  Buffer& A = options_.type_1 ? S_ : Y_;
  for (Index row = 0; row < rows_; ++row) {
    const double* a = entry(A, row, 0);
    double* q = entry(Q_, row, 0);
    for (Index j = 0; j < n; ++j) {
      L sum = L::load(a + j * W);
      for (Index k = 0; k < j; ++k)
        sum.subtract_product(L::load(q + k * W), L::load(R_.data() + (k * n + j) * W));
      (sum * L::load(R_.data() + (j * n + j) * W)).store(q + j * W);
    }
  }
  Index i = 0;
  for (; i + 2 <= n; i += 2) {
    Index j = 0;
    for (; j + 3 <= stride_; j += 3) products<2, 3>(i, j);
    for (; j < stride_; ++j) products<2, 1>(i, j);
  }
  for (; i < n; ++i) {
    for (Index j = 0; j < stride_; ++j) products<1, 1>(i, j);
  }
  const L r = L::load(r_.data());
  for (Index a = 0; a < n; ++a) {
    for (Index b = 0; b <= a; ++b) {
      double* place = entry(system_, a, b);
      L sum = L::load(place);
      sum.add_product(r, L::load(inverse_.data() + (b * n + a) * W));
      sum.store(place);
    }
  }
}

bool AndersonMemory::solve(int lane) {
  const Index n = columns_;
  double* matrix = dense_.data();
  double* weights = dense_.data() + n * n;
  for (Index i = 0; i < n; ++i) {
    for (Index j = 0; j < n; ++j) matrix[i * n + j] = entry(system_, i, j)[lane];
    weights[i] = entry(system_, i, n)[lane];
  }
  if (!eliminate(matrix, weights, n)) return false;
  double squares = 0;
  for (Index i = 0; i < n; ++i) {
    squares += weights[i] * weights[i];
    gamma_[i * W + lane] = weights[i];
  }
  return std::sqrt(squares) < largest_weights;
}

void AndersonMemory::apply(double* f, const double* x, const AndersonNotes& notes) {
  take(f, x, notes);
  bool full[W];
  bool any = false;
  for (int lane = 0; lane < W; ++lane) {
    notes.accelerated[lane] = 0 * notes.accelerated[lane];
    full[lane] = notes.count[lane] >= static_cast<double>(columns_);
    any = any || full[lane];
  }
  if (any) {
    factor();
    project();
    alignas(64) double accepted[W];
    for (int lane = 0; lane < W; ++lane) {
      accepted[lane] = full[lane] && solve(lane) ? 1 : 0;
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
      for (Index j = 0; j < columns_; ++j) {
        const L weight = L::load(gamma_.data() + j * W);
        by_s.add_product(L::load(entry(S_, i, j)), weight);
        by_y.add_product(L::load(entry(Y_, i, j)), weight);
      }
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
