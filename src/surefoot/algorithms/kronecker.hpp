#pragma once

#include "surefoot/algorithms/buffer.hpp"
#include "surefoot/problems/matrix.hpp"

namespace surefoot::algorithms {

/// (scale * kron(G, G) + shift I)^{-1} for a symmetric positive semidefinite G (d x d) on batches of eight
/// lanes. With G = V diag(e) V', an image X (d x d, entry (i, j) in row i * d + j of the batch) goes to
/// V ((V' X V) / (scale e e' + shift)) V': four small products instead of a d^2 x d^2 system. Where G also
/// equals itself turned by 180 degrees (a symmetric blur) and d is even, eigenvectors are even or odd, X is
/// folded into four quadrants and the products cost half.
class KroneckerSystem {
 public:
  KroneckerSystem(const problems::Matrix& G, double scale, double shift);

  [[nodiscard]] Index size() const { return order_ * order_; }
  [[nodiscard]] bool folded() const { return folded_; }
  /// Numbers of room that solve() and multiply() need.
  [[nodiscard]] Index scratch_size() const { return 2 * size() * 8; }

  /// x = system^{-1} rhs, both d^2 x 8; may be the same place.
  void solve(const double* rhs, double* x, double* scratch) const;
  /// y = kron(G, G) x, both d^2 x 8.
  void multiply(const double* x, double* y, double* scratch) const;

 private:
  template <int H>
  void solve_folded(const double* rhs, double* x, double* scratch) const;
  void solve_plain(const double* rhs, double* x, double* scratch) const;

  Index order_ = 0;
  bool folded_ = false;
  Buffer G_;
  // Row-major; folded: the halves of the even and of the odd eigenvectors, each (d/2)^2; plain: V' and V.
  Buffer forward_[2];
  Buffer backward_[2];
  Buffer weights_[4];  // 1 / (scale e e' + shift) by quadrant; plain: the first only
};

}  // namespace surefoot::algorithms
