#pragma once

#include "surefoot/algorithms/buffer.hpp"
#include "surefoot/algorithms/detail/lanes.hpp"

namespace surefoot::algorithms {

struct AndersonOptions {
  Index lookback = 0;  ///< steps that are remembered; 0: no acceleration
  bool type_1 = true;
  double regularization = 1e-8;  ///< > 0: times ||A||_F ||Y||_F; < 0: itself, without its sign
  double relaxation = 1;         ///< in [0, 2]
};

/// What acceleration notes of each lane, in the state of a run: the memory below says nothing without it.
struct AndersonNotes {
  double* count;        ///< points taken since the last reset
  double* accelerated;  ///< 1: the last point is an accelerated one that is not safeguarded yet
  double* residual;     ///< ||x - f(x)|| of the last point taken
};

/// Anderson acceleration of x -> f(x) in eight lanes, with the rules of the SCS package (3.3): columns
///   s = x - x_before, y = (x - f) - (x - f)_before, oldest overwritten, and once `lookback` of them are
///   there f - (S - Y) gamma,   (A'Y + r I) gamma = A'(x - f),   A = S (type I) or Y (type II).
/// Weights that are not finite or not below 1e10 reset the memory. The system is solved as Q'(Y gamma - g) =
/// 0 on the augmented columns [A; sqrt(r) I] = QR, which keeps the digits that A'Y would lose. J. Zhang, B.
/// O'Donoghue, S. Boyd, "Globally convergent type-I Anderson acceleration for nonsmooth fixed-point
/// iterations", SIAM J. Optim. 30, 2020.
class AndersonMemory {
 public:
  static constexpr int W = 8;

  AndersonMemory() = default;
  AndersonMemory(Index rows, const AndersonOptions& options);

  /// f (rows x W), the image of x, is taken, and replaced by the accelerated point where there is one. `call`
  /// counts up by one from call to call of a block: the place of the new columns, in all lanes. Columns count
  /// by their age, so that numbers do not depend on where the block began to count.
  void apply(Index call, double* f, const double* x, const AndersonNotes& notes);
  /// f is the image of x, an accelerated point: where ||x - f|| has grown, f becomes the last image that was
  /// taken and the lane starts anew.
  void safeguard(double* f, const double* x, const AndersonNotes& notes) const;

 private:
  using L = Lanes<W>;
  [[nodiscard]] double* entry(Buffer& columns, Index row, Index column) const {
    return columns.data() + (row * columns_ + column) * W;
  }
  [[nodiscard]] Buffer& left() { return options_.type_1 ? S_ : Y_; }
  /// Column of an age, 0 for the oldest, and the age of a column.
  [[nodiscard]] Index place(Index age) const { return (newest_ + 1 + age) % columns_; }
  [[nodiscard]] Index age(Index place) const { return (place - newest_ - 1 + columns_) % columns_; }
  /// call(column, age), oldest first.
  template <class Call>
  [[gnu::always_inline]] void each_by_age(const Call& call) const {
    Index age = 0;
    for (Index j = newest_ + 1; j < columns_; ++j) call(j, age++);
    for (Index j = 0; j <= newest_; ++j) call(j, age++);
  }
  void take(const double* f, const double* x, const AndersonNotes& notes);
  [[nodiscard]] bool any_full(const AndersonNotes& notes) const;
  template <int J, bool Right>
  void products(Index j);
  void eliminate();
  void substitute(double* right) const;
  void correct();
  template <int J>
  void correct_columns(Index j);
  bool solve_carefully(int lane);

  AndersonOptions options_;
  Index rows_ = 0;
  Index columns_ = 0;
  Index newest_ = 0;   // column
  Buffer S_, Y_;       // rows x columns x W
  Buffer x_, f_;       // rows x W, as the next three
  Buffer s_, y_, g_;   // the newest columns, and x - f
  Buffer sizes_s_;     // columns x W: |s|^2
  Buffer sizes_y_;     // and |y|^2
  Buffer system_;      // columns x columns x W: A'Y
  Buffer right_;       // columns x W: A'g
  Buffer r_;           // W
  Buffer factors_;     // columns x columns x W, of A'Y + r I; by age, as the next two
  Buffer gamma_;       // columns x W
  Buffer correction_;  // columns x W
  Buffer dense_;       // room for the system of one lane
};

}  // namespace surefoot::algorithms
