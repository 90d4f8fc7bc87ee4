#pragma once

#include "surefoot/algorithms/detail/splitting_system.hpp"
#include "surefoot/algorithms/operator.hpp"
#include "surefoot/algorithms/scheduled_step.hpp"
#include "surefoot/problems/qp.hpp"

#include <functional>
#include <optional>

namespace surefoot::algorithms {

/// rho is always kept between these.
inline constexpr double osqp_smallest_rho = 1e-6;
inline constexpr double osqp_largest_rho = 1e6;
/// The package that OsqpOptions::defaults() follows, as its version was tested against.
inline constexpr const char* emulated_osqp = "osqp 1.1.3";

struct OsqpOptions {
  double rho = 0.1;              ///< step size of the constraints, > 0
  double sigma = 1e-6;           ///< step size of the variables, > 0
  double alpha = 1.6;            ///< relaxation, in (0, 2)
  double equality_factor = 1e3;  ///< rho of rows with l = u (up to 1e-4) is rho times this
  double loose_rho = 1e-6;       ///< rho of rows without any bound; 0: rho itself
  Index scaling = 10;            ///< passes of Ruiz equilibration; 0: none
  /// Equilibrate each instance on its own (the solver called once per instance; own factorisations), or
  /// all of them with the linear term `reference_q` (set up once, vectors updated; the first instance's
  /// bounds must have the same equalities as all the others'). A reference must not be one of the samples,
  /// or their runs are not independent.
  bool scale_each = true;
  problems::Vector reference_q;           ///< empty: zero
  std::optional<SystemKind> system = {};  ///< how to solve; default: told by the patterns

  // Adaptive rho and the stopping test: names and rules of the package (docs/solvers.md).
  bool adaptive_rho = false;  ///< each instance changes its rho, by iterations
  Index adaptive_rho_interval =
      50;  ///< iterations between two changes; 0: four times check_termination, or 100
  double adaptive_rho_tolerance = 5;  ///< rho changes if the estimate is this much larger or smaller, >= 1
  Index check_termination = 0;        ///< iterations between two stopping tests; 0: after max_iter alone
  double eps_abs = 1e-3;
  double eps_rel = 1e-3;
  double eps_prim_inf = 1e-4;
  double eps_dual_inf = 1e-4;
  bool check_dualgap = true;
  bool scaled_termination = false;  ///< test the equilibrated problem, not the user's
  Index max_iter = 4000;            ///< the stopping test's last iteration; steps beyond go on unless `stop`
  bool stop = false;  ///< obey the stopping test: an instance that has ended repeats its last point

  /// The package as it is installed: adaptive rho, its stopping test recorded but not obeyed.
  static OsqpOptions defaults();
  /// The package with rho fixed: as above, neither adaptive rho nor stopping test.
  static OsqpOptions fixed() { return {}; }
  /// The older name of fixed().
  static OsqpOptions package() { return fixed(); }
  /// No scaling, rho = sigma = alpha = 1: (1/2)-averaged.
  static OsqpOptions paper();
  /// Whether there is anything to do besides steps: adaptive rho or a stopping test.
  [[nodiscard]] bool watches() const { return adaptive_rho || check_termination > 0 || stop; }
  /// Iterations between two changes of rho.
  [[nodiscard]] Index rho_interval() const;
  void validate() const;
};

/// What Osqp::settings() says of them.
Settings settings_of(const OsqpOptions& options);

/// rho_i of a row with these (scaled) bounds where rho is options.rho, or a changed one.
double row_rho(double lower, double upper, const OsqpOptions& options);
double row_rho(double lower, double upper, double rho, const OsqpOptions& options);

struct OsqpSurvey;
struct OsqpDirection;

/// OSQP on 1/2 x'Px + q'x, l <= Ax <= u, state (x, y, w) with w the copy of Ax, R = diag(rho_i):
///   x~ = (P + sigma I + A'RA)^{-1} (sigma x - q + A'(R w - y)),   w~ = A x~,
///   x+ = alpha x~ + (1 - alpha) x,   v = alpha w~ + (1 - alpha) w,
///   w+ = clip(v + R^{-1} y, l, u),   y+ = y + R (v - w+).
/// The fixed-point residual is over all of (x, y, w), in the problem's own units. Iterate: (x, y, w), n + 2m.
/// B. Stellato, G. Banjac, P. Goulart, A. Bemporad, S. Boyd, "OSQP: an operator splitting solver for
/// quadratic programs", Math. Prog. Comp. 12, 2020. With scaling the iteration runs on equilibrated data.
///
/// With adaptive rho or a stopping test the state has rows after the iterate: steps and rho of each lane, and
/// what the stopping test said. A lane's own rho needs its own factors: the block is factored again in lanes.
/// A block whose lanes all have the first rho uses the factors of the family.
class Osqp final : public Operator, public DifferentiableStep, public ScheduledStep {
 public:
  explicit Osqp(problems::Qp problem, OsqpOptions options = {});
  ~Osqp() override;

  [[nodiscard]] const problems::Qp& problem() const { return problem_; }
  [[nodiscard]] const OsqpOptions& options() const { return options_; }
  /// Other vectors for the same matrices, as an update of the package makes them: `change` writes into q, l
  /// and u, whose shapes stay; scaling, factors and rho stay too. Only where instances share their factors.
  /// InputError names the entry and the instance where a number is none, l is above u, or an equality is no
  /// longer one (or has become one): its rho would change. After it nothing can be run.
  using ChangeVectors = std::function<void(problems::Table& q, problems::Table& l, problems::Table& u)>;
  void change_vectors(const ChangeVectors& change);
  [[nodiscard]] const SplittingSystem& system() const { return *system_; }

  [[nodiscard]] std::string_view name() const override { return "osqp"; }
  [[nodiscard]] Settings settings() const override { return settings_of(options_); }
  [[nodiscard]] Index instances() const override { return instances_; }
  [[nodiscard]] Index state_size() const override {
    return n_ + 2 * m_ + (options_.watches() ? Index{note_rows} : 0);
  }
  [[nodiscard]] Index iterate_size() const override { return n_ + 2 * m_; }
  [[nodiscard]] Index primal_size() const override { return n_; }
  [[nodiscard]] Index width() const override { return system_->width(); }
  [[nodiscard]] std::unique_ptr<Workspace> make_workspace() const override;
  void load(Index first, Index count, Workspace& workspace) const override;
  [[nodiscard]] bool can_reload() const override { return options_.stop; }
  void reload(const Index* instances, Workspace& workspace) const override;
  [[nodiscard]] Index reload_lanes() const override;
  void start(Batch z, Workspace& workspace) const override;
  void step(Index k, Batch z, Workspace& workspace, double* residual) const override;
  void read(ConstBatch z, Workspace& workspace, Index first, Index count, double* out) const override;
  void write(ConstBatch iterate, Workspace& workspace, Batch z) const override;
  [[nodiscard]] bool knows(Quantity quantity) const override {
    return quantity == Quantity::unsolved ? options_.watches() : quantity != Quantity::largest_error;
  }
  void measure(Quantity quantity, Index k, ConstBatch z, Workspace& workspace, double* value) const override;
  /// Without scaling and with rho = sigma = 1 in every row (the preset paper): (alpha / 2)-averaged in (x, w
  /// + y) (osqp_averaging.hpp).
  [[nodiscard]] DeclaredMap declared_map() const override;
  [[nodiscard]] bool has_stopping_test() const override { return options_.watches(); }
  [[nodiscard]] Ending ending(ConstBatch z, Index lane) const override;
  [[nodiscard]] bool finished(ConstBatch z, Index count) const override;
  /// None where the step depends on the steps before: adaptive rho or a stopping test.
  [[nodiscard]] const DifferentiableStep* differentiable() const override {
    return options_.watches() ? nullptr : this;
  }
  /// The transposed step where it is linear: a row of w+ that was clipped passes nothing on.
  void step_vjp(Index k, ConstBatch z, Batch cotangent, Workspace& workspace) const override;
  /// Of the optimality residual: of the larger of its two norms.
  void measure_vjp(Quantity quantity, Index k, ConstBatch z, const double* d_value, Batch cotangent,
                   Workspace& workspace) const override;

  /// rho and alpha. Where instances share their matrices, steps of one rho share its factors, or each lane
  /// has its own; where they do not, a block is factored again whenever rho changes. InputError with adaptive
  /// rho or a stopping test, or another system than sparse or kkt.
  [[nodiscard]] std::vector<StepSetting> step_settings() const override;
  [[nodiscard]] std::shared_ptr<const void> prepared(std::span<const double> settings) const override;
  void make_room(Workspace& workspace) const override;
  void step_with(Index k, const StepValues& settings, Batch z, Workspace& workspace,
                 double* residual) const override;
  void step_with_vjp(Index k, const StepValues& settings, ConstBatch z, Batch cotangent, double* d_settings,
                     Workspace& workspace) const override;

  /// Starts are (x, v), n + m: w = clip(v, l, u), y = R (v - w), as a step leaves them.
  [[nodiscard]] Index start_size() const override { return n_ + m_; }
  void start_from(ConstBatch numbers, Batch z, Workspace& workspace) const override;
  void start_from_vjp(ConstBatch numbers, ConstBatch cotangent, Batch derivative,
                      Workspace& workspace) const override;

 private:
  struct Room;
  /// Rows of the state after the iterate.
  enum Note : Index {
    rho_note,
    updates_note,
    status_note,  // 0 until the run has ended; the next seven are of then
    iterations_note,
    end_rho_note,
    end_updates_note,
    primal_note,
    dual_note,
    gap_note,
    objective_note,
    residual_note,  // of the last step that was made
    steps_note,     // that the lane has made
    note_rows
  };
  [[nodiscard]] double first_rho() const;
  struct Due;
  [[nodiscard]] Due due_after(const double* done, const double* status) const;
  void require_vectors(Index instance) const;
  void reset_notes(Batch z) const;
  void take(const Index* instances, Room& room) const;
  void scale_lanes(Room& room) const;
  void plain_step(double* z, Room& room, double* residual) const;
  void watched_step(Batch z, Room& room, double* residual) const;
  void follow_rho(const double* rho, Room& room) const;
  void factor_lanes(const double* rho, Room& room) const;
  void take_settings(const StepValues& settings, Room& room) const;
  void watch(const Due& due, Batch z, Room& room) const;
  void test_for_end(const Due& due, Batch z, Room& room, const OsqpSurvey* surveys) const;
  void survey(const double* z, Room& room, OsqpSurvey* surveys) const;
  template <int W, bool Own, bool Scaled>
  void survey_lanes(const double* z, Room& room, OsqpSurvey* surveys) const;
  template <int W, bool Own, bool Scaled>
  void direction_lanes(const double* z, Room& room, OsqpDirection* directions) const;
  /// `Varied`: rho and the factors are each lane's own, as they always are with matrices of their own.
  template <int W, bool Own, bool Scaled, bool Varied = Own>
  void step_lanes(double* z, Room& room, double* residual) const;
  template <bool SharedBounds>
  void step_identity(double* z, Room& room, double* residual) const;
  template <int W, bool Own, bool Scaled>
  void measure_lanes(Quantity quantity, const double* z, Room& room, double* value) const;
  /// d_settings: null, or rows of the derivatives by rho and alpha.
  void pull_back(ConstBatch z, Batch cotangent, double* d_settings, Room& room) const;
  template <int W, bool Own, bool Varied = Own>
  void vjp_lanes(const double* z, double* cotangent, double* d_settings, Room& room) const;
  template <int W, bool Own, bool Scaled>
  void optimality_vjp_lanes(const double* z, const double* d_value, double* cotangent, Room& room) const;
  template <class Call>
  void with_lanes(const Call& call) const;

  problems::Qp problem_;
  OsqpOptions options_;
  Index instances_ = 0;
  Index n_ = 0;
  Index m_ = 0;
  bool scaled_ = false;
  std::unique_ptr<SplittingSystem> system_;
  SplittingSystem::Numbers shared_;  // if not own
  Buffer units_;                     // shared scaling: D, E / cost, 1 / E (n + 2m)
  double shared_cost_ = 1;
};

}  // namespace surefoot::algorithms
