#pragma once

#include "surefoot/algorithms/buffer.hpp"
#include "surefoot/algorithms/detail/dense_lanes.hpp"
#include "surefoot/algorithms/operator.hpp"
#include "surefoot/problems/lasso.hpp"

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
  /// soft(y_i - (D'Dy - D'b)_i / L, weight / L), with room.product of y.
  [[gnu::always_inline]] Lanes<lanes> proximal_entry(const double* y, Index i, const Room& room) const {
    using V = Lanes<lanes>;
    const V gradient = V::load(room.product.data() + i * lanes) - V::load(room.Db.data() + i * lanes);
    return soft_threshold(V::load(y + i * lanes) - V(1 / lipschitz_) * gradient,
                          V(problem_.weight / lipschitz_));
  }
  /// 1/2 ||Dz - b||^2 + weight ||z||_1 of each lane.
  void objective(const double* z, Room& room, double* value) const;

 private:
  problems::Lasso problem_;
  Index n_ = 0;
  double lipschitz_ = 0;
  Buffer gram_;
};

}  // namespace surefoot::algorithms
