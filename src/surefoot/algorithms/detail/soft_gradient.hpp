#pragma once

#include "surefoot/algorithms/buffer.hpp"
#include "surefoot/algorithms/detail/dense_lanes.hpp"
#include "surefoot/algorithms/operator.hpp"
#include "surefoot/algorithms/scheduled_step.hpp"
#include "surefoot/problems/lasso.hpp"

#include <string>

namespace surefoot::algorithms {

struct IstaOptions {
  double lipschitz = 0;  ///< L; 0: the largest eigenvalue of D'D. A smaller L may diverge.
  void validate() const;
};

/// soft(v, t) = sign(v) max(|v| - t, 0), the proximal map of t ||.||_1; NaN stays NaN.
template <int W>
[[gnu::always_inline]] inline Lanes<W> soft_threshold(const Lanes<W>& v, const Lanes<W>& t) {
  return v - min(max(v, Lanes<W>(0.0) - t), t);
}

/// What ISTA and FISTA share: the family, its Gram matrix D'D and D'b of a block.
class SoftGradient {
 public:
  static constexpr int lanes = 16;
  SoftGradient(problems::Lasso problem, IstaOptions options);

  struct Room final : Workspace {
    Buffer Db;       // n: D'b
    Buffer product;  // n: D'D z
    Buffer squares;  // one per lane: b'b
    Buffer step;     // one per lane: 1 / L
    Buffer active;   // n: what comes through a soft threshold
    Buffer norm;     // one per lane
  };
  [[nodiscard]] const problems::Lasso& problem() const { return problem_; }
  [[nodiscard]] Index variables() const { return n_; }
  [[nodiscard]] double lipschitz() const { return lipschitz_; }
  /// Of an operator of this name.
  [[nodiscard]] Settings settings(const std::string& name) const {
    return {{"solver", name}, {"settings", Settings{{"lipschitz", lipschitz_}, {"weight", problem_.weight}}}};
  }
  [[nodiscard]] std::unique_ptr<Room> make_room() const;
  void load(Index first, Index count, Room& room) const;
  /// room.product = D'D z.
  void multiply_gram(const double* z, Room& room) const {
    multiply(gram_.data(), n_, n_, z, room.product.data(), lanes);
  }
  /// (D'Dy - D'b)_i, with room.product of y.
  [[gnu::always_inline]] static Lanes<lanes> gradient_entry(Index i, const Room& room) {
    using V = Lanes<lanes>;
    return V::load(room.product.data() + i * lanes) - V::load(room.Db.data() + i * lanes);
  }
  /// A proximal gradient step of lanes: its length, and length x weight.
  struct Length {
    Lanes<lanes> step;
    Lanes<lanes> threshold;
  };
  [[nodiscard]] Length length(const double* step, const Room& room) const {
    using V = Lanes<lanes>;
    const V size = V::load(step);
    return {size, step == room.step.data() ? V(problem_.weight / lipschitz_) : size * V(problem_.weight)};
  }
  /// soft(y_i - step (D'Dy - D'b)_i, step weight), with room.product of y.
  [[gnu::always_inline]] Lanes<lanes> proximal_entry(const double* y, Index i, const Length& length,
                                                     const Room& room) const {
    using V = Lanes<lanes>;
    return soft_threshold(V::load(y + i * lanes) - length.step * gradient_entry(i, room), length.threshold);
  }
  /// The derivative by y of soft(y - step (D'Dy - D'b), step weight) in place of the one by its value (n
  /// rows), and, unless `by_step` is null, that by the step: with c = `derivative` where the value is not
  /// zero, else 0,
  ///   c - step D'D c,   -c'(D'Dy - D'b + weight sign(value)).
  void proximal_vjp(const double* y, const double* step, double* derivative, double* by_step,
                    Room& room) const;
  [[nodiscard]] static bool knows(Quantity quantity) {
    return quantity == Quantity::objective || quantity == Quantity::optimality_residual;
  }
  void measure(Quantity quantity, const double* z, Room& room, double* value) const;
  /// Adds d_value times the derivative of the optimality residual.
  void residual_vjp(const double* z, const double* d_value, double* derivative, Room& room) const;

 private:
  /// 1/2 ||Dz - b||^2 + weight ||z||_1 of each lane.
  void objective(const double* z, Room& room, double* value) const;
  /// ||z - soft(z - D'(Dz - b), weight)||: zero at solutions alone, whatever the step of the optimizer is.
  void optimality(const double* z, Room& room, double* value) const;

  problems::Lasso problem_;
  Index n_ = 0;
  double lipschitz_ = 0;
  Buffer gram_;
};

}  // namespace surefoot::algorithms
