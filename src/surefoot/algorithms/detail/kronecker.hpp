#pragma once

#include "surefoot/algorithms/buffer.hpp"
#include "surefoot/algorithms/detail/lanes.hpp"
#include "surefoot/problems/matrix.hpp"

namespace surefoot::algorithms {

/// (scale * kron(G, G) + shift I)^{-1} for a symmetric positive semidefinite G (d x d) on batches of eight
/// lanes. With G = V diag(e) V', an image X (d x d, entry (i, j) in row i * d + j of the batch) goes to
/// V ((V' X V) / (scale e e' + shift)) V': small products instead of a d^2 x d^2 system. Where G also
/// equals itself turned by 180 degrees (a symmetric blur) and d is even, eigenvectors are even or odd, X is
/// folded into four quadrants and the products cost half.
class KroneckerSystem {
 public:
  KroneckerSystem(const problems::Matrix& G, double scale, double shift);

  [[nodiscard]] Index size() const { return order_ * order_; }
  [[nodiscard]] bool folded() const { return folded_; }
  /// Numbers of room that solve() and multiply() need.
  [[nodiscard]] Index scratch_size() const { return 3 * size() * 8; }

  /// x = system^{-1} rhs, both d^2 x 8; may be the same place.
  void solve(const double* rhs, double* x, double* scratch) const;

  /// The same with rhs(i) giving the lanes of entry i, and sink(i, lanes) taking those of the solution: all
  /// entries are asked for once before the first is given.
  template <class Rhs, class Sink>
  [[gnu::always_inline]] void solve_through(const Rhs& rhs, const Sink& sink, double* scratch) const {
    if (!folded_) {
      for (Index i = 0; i < size(); ++i) rhs(i).store(scratch + i * 8);
      solve_plain(scratch, scratch + size() * 8);
      for (Index i = 0; i < size(); ++i) sink(i, Lanes<8>::load(scratch + i * 8));
      return;
    }
    fold(rhs, scratch);
    solve_quadrants(scratch);
    unfold(sink, scratch);
  }
  /// y = kron(G, G) x, both d^2 x 8.
  void multiply(const double* x, double* y, double* scratch) const;

 private:
  /// Entries (i, j), (i, j'), (i', j), (i', j') with i' = d-1-i become their even-even, even-odd, odd-even
  /// and odd-odd parts.
  template <class Rhs>
  [[gnu::always_inline]] void fold(const Rhs& rhs, double* quadrants) const {
    const Index d = order_;
    const Index h = order_ / 2;
    const Index quadrant = h * h * 8;
    for (Index i = 0; i < h; ++i) {
      for (Index j = 0; j < h; ++j) {
        const Lanes<8> a = rhs(i * d + j);
        const Lanes<8> b = rhs(i * d + d - 1 - j);
        const Lanes<8> c = rhs((d - 1 - i) * d + j);
        const Lanes<8> e = rhs((d - 1 - i) * d + d - 1 - j);
        const Lanes<8> top_even = a + b;
        const Lanes<8> top_odd = a - b;
        const Lanes<8> bottom_even = c + e;
        const Lanes<8> bottom_odd = c - e;
        double* to = quadrants + (i * h + j) * 8;
        (top_even + bottom_even).store(to);
        (top_odd + bottom_odd).store(to + quadrant);
        (top_even - bottom_even).store(to + 2 * quadrant);
        (top_odd - bottom_odd).store(to + 3 * quadrant);
      }
    }
  }
  template <class Sink>
  [[gnu::always_inline]] void unfold(const Sink& sink, const double* quadrants) const {
    const Index d = order_;
    const Index h = order_ / 2;
    const Index quadrant = h * h * 8;
    for (Index i = 0; i < h; ++i) {
      for (Index j = 0; j < h; ++j) {
        const double* from = quadrants + (i * h + j) * 8;
        const Lanes<8> even_even = Lanes<8>::load(from + 4 * quadrant);
        const Lanes<8> even_odd = Lanes<8>::load(from);
        const Lanes<8> odd_even = Lanes<8>::load(from + quadrant);
        const Lanes<8> odd_odd = Lanes<8>::load(from + 2 * quadrant);
        const Lanes<8> top_even = even_even + odd_even;
        const Lanes<8> top_odd = even_odd + odd_odd;
        const Lanes<8> bottom_even = even_even - odd_even;
        const Lanes<8> bottom_odd = even_odd - odd_odd;
        sink(i * d + j, top_even + top_odd);
        sink(i * d + d - 1 - j, top_even - top_odd);
        sink((d - 1 - i) * d + j, bottom_even + bottom_odd);
        sink((d - 1 - i) * d + d - 1 - j, bottom_even - bottom_odd);
      }
    }
  }
  /// The four quadrants in places 0 .. 3; their solutions in places 4, 0, 1, 2.
  void solve_quadrants(double* scratch) const;
  template <int H>
  void solve_quadrants_of(double* scratch) const;
  /// In place on x (d^2 x 8).
  void solve_plain(double* x, double* scratch) const;

  Index order_ = 0;
  bool folded_ = false;
  Buffer G_;
  // Row-major; folded: the halves of the even and of the odd eigenvectors, each (d/2)^2; plain: V' and V.
  Buffer forward_[2];
  Buffer backward_[2];
  // By quadrant (plain: the first only), for each row i of V'X the matrix V diag(1 / (scale e_i e + shift))
  // V': the two products on the columns and the division between them are one product.
  Buffer middle_[4];
};

}  // namespace surefoot::algorithms
