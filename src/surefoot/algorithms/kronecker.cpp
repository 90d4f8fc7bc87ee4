#include "surefoot/algorithms/kronecker.hpp"

#include "surefoot/algorithms/dense_lanes.hpp"
#include "surefoot/core/error.hpp"

#include <Eigen/Eigenvalues>

namespace surefoot::algorithms {

namespace {

using problems::Matrix;
using problems::Vector;

Buffer row_major(const Matrix& matrix) {
  const problems::Table rows = matrix;
  return {rows.data(), rows.data() + rows.size()};
}

bool centrosymmetric(const Matrix& G) {
  const Matrix turned = G.reverse();
  return G.rows() % 2 == 0 && (G - turned).cwiseAbs().maxCoeff() <= 1e-13 * G.cwiseAbs().maxCoeff();
}

}  // namespace

KroneckerSystem::KroneckerSystem(const Matrix& G, double scale, double shift)
    : order_(G.rows()), folded_(centrosymmetric(G)), G_(row_major(G)) {
  require(shift > 0, "shift: is {}, must be > 0", shift);
  if (!folded_) {
    const Eigen::SelfAdjointEigenSolver<Matrix> eigen(G);
    const Matrix& V = eigen.eigenvectors();
    forward_[0] = row_major(V.transpose());
    backward_[0] = row_major(V);
    const Vector& e = eigen.eigenvalues();
    weights_[0] = row_major(((scale * e * e.transpose()).array() + shift).inverse().matrix());
    return;
  }
  // G = [A, B; J B J, J A J] with J the reversal: on even vectors (s, J s) it acts as A + B J, on odd ones
  // (s, -J s) as A - B J. Unit eigenvectors of G are those of the halves over sqrt(2): the four factors
  // 1/sqrt(2) of a two-sided transform and its inverse are 1/4, taken into the weights.
  const Index half = order_ / 2;
  const Matrix A = G.topLeftCorner(half, half);
  const Matrix BJ = G.topRightCorner(half, half).rowwise().reverse();
  Vector values[2];
  for (int parity = 0; parity < 2; ++parity) {
    const Eigen::SelfAdjointEigenSolver<Matrix> eigen(parity == 0 ? Matrix(A + BJ) : Matrix(A - BJ));
    values[parity] = eigen.eigenvalues();
    forward_[parity] = row_major(eigen.eigenvectors().transpose());
    backward_[parity] = row_major(eigen.eigenvectors());
  }
  for (int rows = 0; rows < 2; ++rows) {
    for (int columns = 0; columns < 2; ++columns) {
      weights_[2 * rows + columns] = row_major(
          (((scale * values[rows] * values[columns].transpose()).array() + shift).inverse() / 4).matrix());
    }
  }
}

void KroneckerSystem::solve(const double* rhs, double* x, double* scratch) const {
  if (!folded_) {
    solve_plain(rhs, x, scratch);
  } else if (order_ == 28) {
    solve_folded<14>(rhs, x, scratch);
  } else {
    solve_folded<0>(rhs, x, scratch);
  }
}

template <int H>
void KroneckerSystem::solve_folded(const double* rhs, double* x, double* scratch) const {
  using L = Lanes<8>;
  const Index d = order_;
  const Index h = H > 0 ? H : order_ / 2;
  const Index quadrant_size = h * h * 8;
  double* quadrants = scratch;                  // four
  double* left = scratch + 4 * quadrant_size;   // one
  double* right = scratch + 5 * quadrant_size;  // one
  for (Index i = 0; i < h; ++i) {
    for (Index j = 0; j < h; ++j) {
      const L a = L::load(rhs + (i * d + j) * 8);
      const L b = L::load(rhs + (i * d + d - 1 - j) * 8);
      const L c = L::load(rhs + ((d - 1 - i) * d + j) * 8);
      const L e = L::load(rhs + ((d - 1 - i) * d + d - 1 - j) * 8);
      const L top_even = a + b;
      const L top_odd = a - b;
      const L bottom_even = c + e;
      const L bottom_odd = c - e;
      double* to = quadrants + (i * h + j) * 8;
      (top_even + bottom_even).store(to);
      (top_odd + bottom_odd).store(to + quadrant_size);
      (top_even - bottom_even).store(to + 2 * quadrant_size);
      (top_odd - bottom_odd).store(to + 3 * quadrant_size);
    }
  }
  for (int rows = 0; rows < 2; ++rows) {
    for (int columns = 0; columns < 2; ++columns) {
      double* quadrant = quadrants + (2 * rows + columns) * quadrant_size;
      const double* weights = weights_[2 * rows + columns].data();
      for (Index j = 0; j < h; ++j) {
        multiply_pencil<H>(forward_[rows].data(), h, h, quadrant + j * 8, h * 8, left + j * 8, h * 8);
      }
      for (Index i = 0; i < h; ++i) {
        multiply_pencil<H>(forward_[columns].data(), h, h, left + i * h * 8, 8, right + i * h * 8, 8);
        for (Index j = 0; j < h; ++j) {
          double* place = right + (i * h + j) * 8;
          (L::load(place) * L(weights[i * h + j])).store(place);
        }
        multiply_pencil<H>(backward_[columns].data(), h, h, right + i * h * 8, 8, left + i * h * 8, 8);
      }
      for (Index j = 0; j < h; ++j) {
        multiply_pencil<H>(backward_[rows].data(), h, h, left + j * 8, h * 8, quadrant + j * 8, h * 8);
      }
    }
  }
  for (Index i = 0; i < h; ++i) {
    for (Index j = 0; j < h; ++j) {
      const double* from = quadrants + (i * h + j) * 8;
      const L even_even = L::load(from);
      const L even_odd = L::load(from + quadrant_size);
      const L odd_even = L::load(from + 2 * quadrant_size);
      const L odd_odd = L::load(from + 3 * quadrant_size);
      const L top_even = even_even + odd_even;
      const L top_odd = even_odd + odd_odd;
      const L bottom_even = even_even - odd_even;
      const L bottom_odd = even_odd - odd_odd;
      (top_even + top_odd).store(x + (i * d + j) * 8);
      (top_even - top_odd).store(x + (i * d + d - 1 - j) * 8);
      (bottom_even + bottom_odd).store(x + ((d - 1 - i) * d + j) * 8);
      (bottom_even - bottom_odd).store(x + ((d - 1 - i) * d + d - 1 - j) * 8);
    }
  }
}

void KroneckerSystem::solve_plain(const double* rhs, double* x, double* scratch) const {
  using L = Lanes<8>;
  const Index d = order_;
  double* left = scratch;
  double* right = scratch + d * d * 8;
  for (Index j = 0; j < d; ++j) {
    multiply_pencil(forward_[0].data(), d, d, rhs + j * 8, d * 8, left + j * 8, d * 8);
  }
  for (Index i = 0; i < d; ++i) {
    multiply_pencil(forward_[0].data(), d, d, left + i * d * 8, 8, right + i * d * 8, 8);
    for (Index j = 0; j < d; ++j) {
      double* place = right + (i * d + j) * 8;
      (L::load(place) * L(weights_[0][i * d + j])).store(place);
    }
    multiply_pencil(backward_[0].data(), d, d, right + i * d * 8, 8, left + i * d * 8, 8);
  }
  for (Index j = 0; j < d; ++j) {
    multiply_pencil(backward_[0].data(), d, d, left + j * 8, d * 8, x + j * 8, d * 8);
  }
}

void KroneckerSystem::multiply(const double* x, double* y, double* scratch) const {
  const Index d = order_;
  for (Index j = 0; j < d; ++j) {
    multiply_pencil(G_.data(), d, d, x + j * 8, d * 8, scratch + j * 8, d * 8);
  }
  for (Index i = 0; i < d; ++i) {
    multiply_pencil(G_.data(), d, d, scratch + i * d * 8, 8, y + i * d * 8, 8);
  }
}

}  // namespace surefoot::algorithms
