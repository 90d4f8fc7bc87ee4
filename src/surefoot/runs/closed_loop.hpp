#pragma once

#include "surefoot/algorithms/osqp.hpp"
#include "surefoot/core/interruption.hpp"
#include "surefoot/problems/matrix.hpp"
#include "surefoot/problems/qp.hpp"

#include <cstdint>
#include <functional>
#include <memory>
#include <string_view>
#include <vector>

/// Problems that follow from each other: a controller that solves one QP at every tick of a rollout.
namespace surefoot::runs {

/// Where the solver begins at a tick: at zero, at the iterate of the tick before, or at that one moved by a
/// stage.
enum class LoopStart { cold, kept, shifted };
std::string_view name(LoopStart start);
LoopStart parse_loop_start(std::string_view text);

/// The problem of a tick from the state s: q = q_0 + Q s, l = l_0 + L s, u = u_0 + U s; of its solution x the
/// input K x, clipped to what the actuators can do, goes to the plant.
struct LoopModel {
  problems::Qp problem;            ///< one P and A, one row of q_0, l_0, u_0
  problems::SparseMatrix q_state;  ///< Q, n x states; of size 0: none of q follows the state
  problems::SparseMatrix l_state;  ///< L, m x states, the same
  problems::SparseMatrix u_state;  ///< U
  problems::SparseMatrix input;    ///< K, inputs x n
  problems::Table input_lower;     ///< one row of what the actuators can do; empty: no limit
  problems::Table input_upper;
  /// Instead of Q, L and U: writes a row of q, l and u for each rollout.
  using Vectors = std::function<void(Index tick, const problems::Table& states, problems::Table& q,
                                     problems::Table& l, problems::Table& u)>;
  Vectors vectors = nullptr;
  /// Of shifted starts: entry i of x (of y) begins where entry shift_x[i] (shift_y[i]) ended, and w = A x, as
  /// a warm start of the package has it.
  std::vector<Index> shift_x = {};
  std::vector<Index> shift_y = {};

  [[nodiscard]] Index inputs() const { return input.rows(); }
  /// InputError names the argument, the value and the constraint.
  void validate(Index states) const;
};

/// Moves all rollouts, a row each: `next` from states and inputs. It has the shape of `states` when it comes
/// and must have it when it goes.
struct Plant {
  std::function<void(Index tick, const problems::Table& states, const problems::Table& inputs,
                     problems::Table& next)>
      move;
  /// A state that is infinite or NaN ends its rollout, which has then failed; otherwise it is an error of the
  /// plant, named by rollout and tick.
  bool may_diverge = false;
};

/// Additive disturbances: none, Gaussian with these standard deviations, uniform within +- these bounds, or
/// rows of a table, of which rollout r uses row r ticks + t at tick t.
struct Disturbance {
  enum class Kind { none, gaussian, bounded, rows };
  Kind kind = Kind::none;
  problems::Table numbers = {};  ///< one row of deviations or bounds, or the rows
  std::uint64_t seed = 0;
};

/// s+ = A s + B v + c + d. Draws are of the streams (seed, "closed loop disturbance", rollout and tick):
/// neither the number of rollouts nor that of threads changes them.
struct LinearPlant {
  problems::Matrix A;
  problems::Matrix B;
  problems::Table c = {};  ///< one row; empty: zero
  Disturbance disturbance = {};
  Index ticks = 0;  ///< of a rollout

  void validate(Index rollouts) const;
};
Plant linear_plant(LinearPlant plant, Index rollouts);
/// Any plant with the disturbance added to its states.
Plant disturbed(Plant plant, Disturbance disturbance, Index ticks);

struct ClosedLoopOptions {
  algorithms::OsqpOptions osqp = {};  ///< adaptive_rho must be off: a rollout keeps one rho
  Index limit = 20;                   ///< iterations of a tick
  /// The stopping test ends a tick before the limit; false: every tick takes `limit` iterations, and the test
  /// is made after them.
  bool stop = false;
  LoopStart start = LoopStart::kept;
  Index ticks = 100;
  Interrupt interrupt = nullptr;

  void validate() const;
};

/// All rollouts at one tick.
struct LoopTick {
  Index tick;                            ///< 0, 1, ...
  const problems::Table& states;         ///< before it
  const problems::Table& inputs;         ///< that were applied
  const problems::Table& next;           ///< states after it
  const std::vector<char>& solved;       ///< whether the stopping test was passed within the limit
  const std::vector<Index>& iterations;  ///< that were made
  const std::vector<char>& lost;         ///< diverged, now or before: its numbers are zeros
};

/// A tick solves every rollout's problem by run(), the plant moves all of them, and the vectors of the next
/// problems follow. Results are the same bits whatever the number of threads, and those of a rollout do not
/// depend on how many there are.
class ClosedLoop {
 public:
  /// For so many rollouts of plants with so many states.
  ClosedLoop(LoopModel model, Index rollouts, Index states, ClosedLoopOptions options);
  ~ClosedLoop();
  ClosedLoop(const ClosedLoop&) = delete;
  ClosedLoop& operator=(const ClosedLoop&) = delete;

  [[nodiscard]] const algorithms::Osqp& op() const { return *op_; }
  /// From these states, a row each. `each_tick` sees every tick, in the caller's thread.
  void run(problems::Table states, const Plant& plant, const std::function<void(const LoopTick&)>& each_tick);

 private:
  struct Entry {
    Index row;
    Index column;
    double value;
  };
  using Entries = std::vector<Entry>;
  static Entries entries_of(const problems::SparseMatrix& matrix);
  static void follow(const Entries& map, const problems::Table& base, const problems::Table& states,
                     problems::Table& vectors);
  void set_vectors(Index tick, const problems::Table& states);
  void solve_all();
  void read_inputs();
  void shift();

  LoopModel model_;
  ClosedLoopOptions options_;
  Index rollouts_;
  Index states_;
  Entries q_map_, l_map_, u_map_, input_map_;
  std::unique_ptr<algorithms::Osqp> op_;
  std::shared_ptr<problems::Table> iterates_;
  problems::Table inputs_;
  std::vector<char> solved_;
  std::vector<char> lost_;
  std::vector<Index> iterations_;
};

}  // namespace surefoot::runs
