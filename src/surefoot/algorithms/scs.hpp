#pragma once

#include "surefoot/algorithms/cones.hpp"
#include "surefoot/algorithms/detail/splitting_system.hpp"
#include "surefoot/algorithms/operator.hpp"
#include "surefoot/algorithms/scheduled_step.hpp"
#include "surefoot/problems/cone_program.hpp"

#include <memory>
#include <optional>
#include <span>
#include <string_view>
#include <vector>

namespace surefoot::algorithms {

/// The package that ScsOptions::defaults() follows, as its version was tested against.
inline constexpr const char* emulated_scs = "scs 3.3.1";

struct ScsOptions {
  double alpha = 1.5;                     ///< relaxation, in (0, 2)
  double rho_x = 1e-6;                    ///< scaling of the variables, > 0
  double scale = 0.1;                     ///< rows are scaled by 1 / scale, > 0
  double zero_factor = 1000;              ///< rows of the zero cone by 1 / (scale * zero_factor), > 0
  double tau_factor = 10;                 ///< scaling of the homogenising variable, > 0
  std::optional<SystemKind> system = {};  ///< how to solve; default: told by the patterns
  /// An iterate is the point that the solver returns, (x, y, s); if not, (mu, eta) divided by eta, which the
  /// steps are of.
  bool returned = false;

  // What the package adapts, and its stopping test: its names and rules (docs/solvers.md).
  bool normalize = false;            ///< each instance equilibrated with its b and c
  bool adaptive_scale = false;       ///< each instance changes its scale
  bool adaptive_diag_scale = false;  ///< and a factor of it for each row, with adaptive_scale
  Index acceleration_lookback = 0;   ///< columns of Anderson acceleration; 0: none
  Index acceleration_interval = 5;   ///< iterations between two accelerations, >= 1
  bool acceleration_type_1 = true;
  double acceleration_regularization = 1e-8;
  double acceleration_relaxation = 1;  ///< in [0, 2]
  bool check_termination = false;      ///< the stopping test, every 25 iterations
  double eps_abs = 1e-4;
  double eps_rel = 1e-4;
  double eps_infeas = 1e-7;
  Index max_iters = 100000;  ///< the stopping test's last iteration; steps beyond go on unless `stop`
  bool stop = false;         ///< obey the stopping test: an instance that has ended repeats its last point

  /// The package as it is installed: normalised, accelerated, scale adapted; its stopping test recorded but
  /// not obeyed.
  static ScsOptions defaults();
  /// The package without what it adapts; no stopping test.
  static ScsOptions fixed();
  /// Steps of (mu, eta) with the weights of the package.
  static ScsOptions package() { return {}; }
  /// Identity scaling, alpha = 1: (1/2)-averaged.
  static ScsOptions paper();
  /// Whether a step is more than the splitting: AdaptiveScs, not Scs.
  [[nodiscard]] bool watches() const {
    return normalize || adaptive_scale || acceleration_lookback > 0 || check_termination || stop;
  }
  void validate() const;
};

/// What Scs::settings() says of them.
Settings settings_of(const ScsOptions& options, const problems::Cones& cones);

/// SCS 3 on 1/2 x'Px + c'x, Ax + s = b, s in K: Douglas-Rachford splitting of the homogeneous self-dual
/// embedding. State (mu, eta), mu of n + m; M = [P A'; -A 0], h = (c, b), R = diag(rho_x, 1/scale, ...), t
/// the tau_factor, r = (R + M)^{-1} h; cold start (0, 1). Step k:
///   p = (R + M)^{-1} R mu;
///   tau~ = 1 if k = 0, else the positive root of (t + r'Rr) tau^2 + (r'R(mu - 2p) - t eta) tau - p'R(mu -
///   p); u~ = p - r tau~;  u = Pi(2u~ - mu), Pi the identity on x and the projection on the dual cone on y;
///   tau = max(0, 2 tau~ - eta);  mu += alpha (u - u~);  eta += alpha (tau - tau~).
/// From k = 1 on the step is homogeneous, so that the solver's rescaling of (mu, eta) to a fixed norm does
/// not change mu / eta; here it is done, by powers of two, only where eta leaves [2^-10, 2^10].
/// Fixed-point residual: ||mu+/eta+ - mu/eta||_2. Iterate: mu / eta (n + m), or with options.returned what
/// the solver returns (n + 2m), which the state then has too. B. O'Donoghue, "Operator splitting for a
/// homogeneous embedding of the linear complementarity problem", SIAM J. Optim. 31, 2021.
///
/// Steps with a scale of their own (options.returned): where the scale changes to scale', mu_y += (scale' -
/// scale) s before tau divides s, which leaves y and s as they are, as an adaptive change of the package
/// does.
class Scs final : public Operator, public DifferentiableStep, public ScheduledStep {
 public:
  explicit Scs(problems::ConeProgram problem, ScsOptions options = {});
  ~Scs() override;

  [[nodiscard]] const problems::ConeProgram& problem() const { return problem_; }
  [[nodiscard]] const ScsOptions& options() const { return options_; }
  [[nodiscard]] const SplittingSystem& system() const { return *system_; }

  [[nodiscard]] std::string_view name() const override { return "scs"; }
  [[nodiscard]] Settings settings() const override { return settings_of(options_, problem_.cones); }
  [[nodiscard]] Index instances() const override { return instances_; }
  [[nodiscard]] Index state_size() const override { return n_ + m_ + 1 + returned_size(); }
  [[nodiscard]] Index iterate_size() const override { return options_.returned ? returned_size() : n_ + m_; }
  [[nodiscard]] Index primal_size() const override { return n_; }
  [[nodiscard]] Index width() const override { return system_->width(); }
  [[nodiscard]] std::unique_ptr<Workspace> make_workspace() const override;
  void load(Index first, Index count, Workspace& workspace) const override;
  void start(Batch z, Workspace& workspace) const override;
  void step(Index k, Batch z, Workspace& workspace, double* residual) const override;
  void read(ConstBatch z, Workspace& workspace, Index first, Index count, double* out) const override;
  void write(ConstBatch iterate, Workspace& workspace, Batch z) const override;
  [[nodiscard]] bool knows(Quantity quantity) const override {
    return quantity != Quantity::largest_error && quantity != Quantity::unsolved;
  }
  void prepare_measures(Workspace& workspace) const override;
  void measure(Quantity quantity, Index k, ConstBatch z, Workspace& workspace, double* value) const override;

  [[nodiscard]] DeclaredMap declared_map() const override {
    return {nullptr,
            "its residual is of mu / eta: SCS divides by its homogenising variable, and no class is "
            "known for that"};
  }
  /// None with cones of three rows.
  [[nodiscard]] const DifferentiableStep* differentiable() const override {
    return problem_.cones.triples() > 0 ? nullptr : this;
  }
  /// The transposed step: of the linear solve, of tau~'s root (implicitly), of the projection and of the
  /// rescaling, whose power of two is taken as fixed.
  void step_vjp(Index k, ConstBatch z, Batch cotangent, Workspace& workspace) const override;
  /// Of the optimality residual, with options.returned.
  void measure_vjp(Quantity quantity, Index k, ConstBatch z, const double* d_value, Batch cotangent,
                   Workspace& workspace) const override;

  /// scale and alpha; with options.returned, systems sparse and kkt.
  [[nodiscard]] std::vector<StepSetting> step_settings() const override;
  [[nodiscard]] std::shared_ptr<const void> prepared(std::span<const double> settings) const override;
  void make_room(Workspace& workspace) const override;
  void step_with(Index k, const StepValues& settings, Batch z, Workspace& workspace,
                 double* residual) const override;
  void step_with_vjp(Index k, const StepValues& settings, ConstBatch z, Batch cotangent, double* d_settings,
                     Workspace& workspace) const override;

  /// Starts are mu, with eta = 1.
  [[nodiscard]] Index start_size() const override { return n_ + m_; }
  void start_from(ConstBatch numbers, Batch z, Workspace& workspace) const override;
  void start_from_vjp(ConstBatch numbers, ConstBatch cotangent, Batch derivative,
                      Workspace& workspace) const override;

  /// What the solver returns after k >= 1 steps: x (n), y (m), s (m), each x width, from the last step.
  /// prepare_measures() must have been called.
  void solution(Workspace& workspace, double* x, double* y, double* s) const;

 private:
  struct Room;
  [[nodiscard]] Index returned_size() const { return options_.returned ? n_ + 2 * m_ : 0; }
  template <int W, bool Own, bool Keep>
  void step_lanes(Index k, double* z, Room& room, double* kept, double* residual) const;
  template <int W, bool Own>
  void solve_embedding(Room& room, double sign, double* v) const;
  template <int W, bool Own>
  void load_lanes(Room& room) const;
  template <int W, bool Own>
  void vjp_lanes(Index k, double* cotangent, double* d_settings, Room& room) const;
  template <int W, bool Own>
  void optimality_vjp_lanes(const double* x, const double* d_value, double* cotangent, Room& room) const;
  template <int W, bool Own>
  void measure_lanes(Quantity quantity, const double* x, Room& room, double* value) const;
  template <class Call>
  void with_lanes(const Room& room, const Call& call) const;
  void advance(Index k, Batch z, Room& room, double* residual) const;
  void pull_back(Index k, ConstBatch z, Batch cotangent, double* d_settings, Room& room) const;
  void take_settings(const StepValues& settings, Room& room) const;
  /// mu_y of a state that steps have not made, from units of the usual scale to those of the first step.
  void convert_start(double* z, const Room& room) const;
  void keep_start(ConstBatch z, Room& room) const;
  /// Where a step leaves x, y and s: null: nowhere.
  double* kept_in(double* z, Room& room) const;

  problems::ConeProgram problem_;
  ScsOptions options_;
  Index instances_ = 0;
  Index n_ = 0;
  Index m_ = 0;
  std::unique_ptr<SplittingSystem> system_;
  SplittingSystem::Numbers shared_;  // if not own
  std::vector<int> energetic_;       // rows of P that are not empty
};

}  // namespace surefoot::algorithms
