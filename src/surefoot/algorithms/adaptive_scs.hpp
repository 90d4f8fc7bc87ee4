#pragma once

#include "surefoot/algorithms/scs.hpp"

#include <memory>

namespace surefoot::algorithms {

struct ScsSurvey;

/// SCS 3.3 with all that its package does besides the splitting of Scs: each instance is normalised with its
/// own b and c (scs_scaling.hpp), the iterate (mu, eta) is brought to the norm sqrt(n + m + 1) before each
/// step, accelerated (anderson.hpp) every `acceleration_interval` steps, and every 25 steps the stopping test
/// is made and each instance may change its scale and the factors of its rows. R = diag(rho_x, 1 / (scale
/// zero_factor f_i) or 1 / (scale f_i)); f is the same in a cone, and d_i d_j in a semidefinite one.
/// docs/solvers.md has the rules, tests/solvers compares with the package.
///
/// State: v = (mu, eta), u = (x, y, tau) of the last step before tau is divided out, s (m), f (m), notes. An
/// instance's own scale and f need their own factors: the workspace factors a block again in lanes when the
/// state asks for others. The memory of the acceleration is in the workspace; how much of it counts is noted
/// in the state, as is the number of steps of each lane: where the stopping test is obeyed, lanes that have
/// ended take other instances, at multiples of the acceleration's interval.
/// Iterate: what the solver returns, (x, y, s), n + 2m. Fixed-point residual: ||mu+/eta+ - mu/eta||_2 in the
/// problem's own units, of the splitting step alone, after any acceleration.
class AdaptiveScs final : public Operator {
 public:
  explicit AdaptiveScs(problems::ConeProgram problem, ScsOptions options = ScsOptions::defaults());
  ~AdaptiveScs() override;

  [[nodiscard]] const problems::ConeProgram& problem() const { return problem_; }
  [[nodiscard]] const ScsOptions& options() const { return options_; }

  [[nodiscard]] std::string_view name() const override { return "scs"; }
  [[nodiscard]] Settings settings() const override { return settings_of(options_, problem_.cones); }
  [[nodiscard]] Index instances() const override { return instances_; }
  [[nodiscard]] Index state_size() const override { return 2 * l_ + 2 * m_ + note_rows; }
  [[nodiscard]] Index iterate_size() const override { return n_ + 2 * m_; }
  [[nodiscard]] Index primal_size() const override { return n_; }
  [[nodiscard]] Index width() const override { return W; }
  [[nodiscard]] std::unique_ptr<Workspace> make_workspace() const override;
  void load(Index first, Index count, Workspace& workspace) const override;
  [[nodiscard]] bool can_reload() const override { return options_.stop; }
  void reload(const Index* instances, Workspace& workspace) const override;
  /// Measured: normalising and eliminating all lanes again is worth tens of steps.
  [[nodiscard]] Index reload_lanes() const override { return W / 2; }
  [[nodiscard]] Index reload_interval() const override {
    return options_.acceleration_lookback > 0 ? options_.acceleration_interval : 1;
  }
  void start(Batch z, Workspace& workspace) const override;
  void step(Index k, Batch z, Workspace& workspace, double* residual) const override;
  void read(ConstBatch z, Workspace& workspace, Index first, Index count, double* out) const override;
  void write(ConstBatch iterate, Workspace& workspace, Batch z) const override;
  [[nodiscard]] bool knows(Quantity quantity) const override {
    return quantity == Quantity::unsolved ? options_.check_termination : quantity != Quantity::largest_error;
  }
  void measure(Quantity quantity, Index k, ConstBatch z, Workspace& workspace, double* value) const override;
  [[nodiscard]] bool has_stopping_test() const override { return options_.check_termination; }
  [[nodiscard]] Ending ending(ConstBatch z, Index lane) const override;
  [[nodiscard]] bool finished(ConstBatch z, Index count) const override;
  [[nodiscard]] DeclaredMap declared_map() const override {
    return {nullptr, "its steps depend on the steps before: acceleration and adaptive scale"};
  }

 private:
  static constexpr int W = 8;
  struct Room;
  struct Due;
  /// Rows of the state after f.
  enum Note : Index {
    scale_note,
    updates_note,
    last_update_note,  // iteration
    steps_note,        // that the lane has made
    balance_note,      // sum of what the scale follows, since the last change
    balances_note,     // how many
    unbounded_note,    // tests in a row
    infeasible_note,
    points_note,  // of the acceleration
    accelerated_note,
    point_residual_note,
    status_note,  // 0 until the run has ended; the next seven are of then
    iterations_note,
    end_scale_note,
    end_updates_note,
    primal_note,
    dual_note,
    gap_note,
    objective_note,
    residual_note,  // of the last step that was made
    note_rows
  };
  [[nodiscard]] double* note(Batch z, Note which) const { return z.row(2 * l_ + 2 * m_ + which); }
  [[nodiscard]] const double* note(ConstBatch z, Note which) const { return z.row(2 * l_ + 2 * m_ + which); }
  void take(const Index* instances, Room& room) const;
  void load_lane(Index instance, Index lane, Room& room) const;
  [[nodiscard]] Due due_at(const double* steps, const double* status) const;
  void reset_notes(Batch z) const;
  void follow_scale(ConstBatch z, Room& room) const;
  void set_rho(Room& room) const;
  void use_factors(Room& room) const;
  void rescale(const Due& due, Batch z, Room& room) const;
  void splitting_step(const Due& due, Batch z, Room& room) const;
  void project(double* y, Room& room) const;
  void survey(ConstBatch z, Room& room, ScsSurvey* surveys) const;
  void watch(const Due& due, Batch z, Room& room) const;
  void end_lane(Index lane, SolverStatus status, double iterations, const ScsSurvey& survey, Batch z) const;
  /// Whether the lane changed its scale or f.
  bool adapt_lane(double iteration, Index lane, const ScsSurvey& survey, Batch z, Room& room) const;
  bool adapt_rows(Index lane, bool anyway, Batch z, Room& room) const;
  void measure_one(Quantity quantity, ConstBatch z, Room& room, double* value) const;

  problems::ConeProgram problem_;
  ScsOptions options_;
  Index instances_ = 0;
  Index n_ = 0;
  Index m_ = 0;
  Index l_ = 0;  // n + m + 1
  std::unique_ptr<SplittingSystem> system_;
  std::vector<int> energetic_;  // rows of P that are not empty
};

/// Scs, or AdaptiveScs where the options ask for more than the splitting.
std::unique_ptr<Operator> make_scs(problems::ConeProgram problem, const ScsOptions& options);

}  // namespace surefoot::algorithms
