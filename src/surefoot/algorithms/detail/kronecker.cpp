#include "surefoot/algorithms/detail/kronecker.hpp"

#include "surefoot/algorithms/detail/dense_lanes.hpp"
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

/// For each i, factor * V diag(1 / (left_i right + shift)) V', one after the other.
Buffer middle_products(const Vector& left, const Vector& right, const Matrix& V, double shift,
                       double factor) {
  Buffer all;
  for (Index i = 0; i < left.size(); ++i) {
    const Vector weights = factor * ((left[i] * right).array() + shift).inverse().matrix();
    const Buffer one = row_major(V * weights.asDiagonal() * V.transpose());
    all.insert(all.end(), one.begin(), one.end());
  }
  return all;
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
    middle_[0] = middle_products(scale * e, e, V, shift, 1.0);
    return;
  }
  // G = [A, B; J B J, J A J] with J the reversal: on even vectors (s, J s) it acts as A + B J, on odd ones
  // (s, -J s) as A - B J. Unit eigenvectors of G are those of the halves over sqrt(2): the four factors
  // 1/sqrt(2) of a two-sided transform and its inverse are 1/4, taken into the weights.
  const Index half = order_ / 2;
  const Matrix A = G.topLeftCorner(half, half);
  const Matrix BJ = G.topRightCorner(half, half).rowwise().reverse();
  Vector values[2];
  Matrix vectors[2];
  for (int parity = 0; parity < 2; ++parity) {
    const Eigen::SelfAdjointEigenSolver<Matrix> eigen(parity == 0 ? Matrix(A + BJ) : Matrix(A - BJ));
    values[parity] = eigen.eigenvalues();
    vectors[parity] = eigen.eigenvectors();
    forward_[parity] = row_major(eigen.eigenvectors().transpose());
    backward_[parity] = row_major(eigen.eigenvectors());
  }
  for (int rows = 0; rows < 2; ++rows) {
    for (int columns = 0; columns < 2; ++columns) {
      middle_[2 * rows + columns] =
          middle_products(scale * values[rows], values[columns], vectors[columns], shift, 0.25);
    }
  }
}

void KroneckerSystem::solve(const double* rhs, double* x, double* scratch) const {
  solve_through(
      [&](Index i) __attribute__((always_inline)) { return Lanes<8>::load(rhs + i * 8); },
      [&](Index i, const Lanes<8>& value) __attribute__((always_inline)) { value.store(x + i * 8); },
      scratch);
}

void KroneckerSystem::solve_quadrants(double* scratch) const {
  if (order_ == 28) {
    solve_quadrants_of<14>(scratch);
  } else {
    solve_quadrants_of<0>(scratch);
  }
}

template <int H>
void KroneckerSystem::solve_quadrants_of(double* scratch) const {
  const Index h = H > 0 ? H : order_ / 2;
  const Index quadrant_size = h * h * 8;
  // Each quadrant goes to the free place, back and there again, so that two places stay in the first cache;
  // its old place is free for the next one.
  double* free = scratch + 4 * quadrant_size;
  for (int rows = 0; rows < 2; ++rows) {
    for (int columns = 0; columns < 2; ++columns) {
      double* quadrant = scratch + (2 * rows + columns) * quadrant_size;
      const double* middle = middle_[2 * rows + columns].data();
      for (Index j = 0; j < h; ++j) {
        multiply_pencil<H>(forward_[rows].data(), h, h, quadrant + j * 8, h * 8, free + j * 8, h * 8);
      }
      for (Index i = 0; i < h; ++i) {
        multiply_pencil<H>(middle + i * h * h, h, h, free + i * h * 8, 8, quadrant + i * h * 8, 8);
      }
      for (Index j = 0; j < h; ++j) {
        multiply_pencil<H>(backward_[rows].data(), h, h, quadrant + j * 8, h * 8, free + j * 8, h * 8);
      }
      free = quadrant;
    }
  }
}

void KroneckerSystem::solve_plain(double* x, double* scratch) const {
  const Index d = order_;
  double* right = scratch + d * d * 8;
  for (Index j = 0; j < d; ++j) {
    multiply_pencil(forward_[0].data(), d, d, x + j * 8, d * 8, scratch + j * 8, d * 8);
  }
  for (Index i = 0; i < d; ++i) {
    multiply_pencil(middle_[0].data() + i * d * d, d, d, scratch + i * d * 8, 8, right + i * d * 8, 8);
  }
  for (Index j = 0; j < d; ++j) {
    multiply_pencil(backward_[0].data(), d, d, right + j * 8, d * 8, x + j * 8, d * 8);
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
