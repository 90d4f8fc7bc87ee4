#pragma once

#include "surefoot/algorithms/operator.hpp"
#include "surefoot/algorithms/splitting_system.hpp"
#include "surefoot/problems/qp.hpp"

#include <optional>

namespace surefoot::algorithms {

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

  /// The solver's own defaults: those above, adaptive rho off.
  static OsqpOptions package() { return {}; }
  /// No scaling, rho = sigma = alpha = 1: (1/2)-averaged.
  static OsqpOptions paper();
  void validate() const;
};

/// What Osqp::settings() says of them.
Settings settings_of(const OsqpOptions& options);

/// rho_i of a row with these (scaled) bounds.
double row_rho(double lower, double upper, const OsqpOptions& options);

/// OSQP on 1/2 x'Px + q'x, l <= Ax <= u, state (x, y, w) with w the copy of Ax, R = diag(rho_i):
///   x~ = (P + sigma I + A'RA)^{-1} (sigma x - q + A'(R w - y)),   w~ = A x~,
///   x+ = alpha x~ + (1 - alpha) x,   v = alpha w~ + (1 - alpha) w,
///   w+ = clip(v + R^{-1} y, l, u),   y+ = y + R (v - w+).
/// The fixed-point residual is over all of (x, y, w), in the problem's own units. Iterate: (x, y, w), n + 2m.
/// B. Stellato, G. Banjac, P. Goulart, A. Bemporad, S. Boyd, "OSQP: an operator splitting solver for
/// quadratic programs", Math. Prog. Comp. 12, 2020. With scaling the iteration runs on equilibrated data.
class Osqp final : public Operator, public DifferentiableStep {
 public:
  explicit Osqp(problems::Qp problem, OsqpOptions options = {});
  ~Osqp() override;

  [[nodiscard]] const problems::Qp& problem() const { return problem_; }
  [[nodiscard]] const OsqpOptions& options() const { return options_; }
  [[nodiscard]] const SplittingSystem& system() const { return *system_; }

  [[nodiscard]] std::string_view name() const override { return "osqp"; }
  [[nodiscard]] Settings settings() const override { return settings_of(options_); }
  [[nodiscard]] Index instances() const override { return instances_; }
  [[nodiscard]] Index state_size() const override { return n_ + 2 * m_; }
  [[nodiscard]] Index primal_size() const override { return n_; }
  [[nodiscard]] Index width() const override { return system_->width(); }
  [[nodiscard]] std::unique_ptr<Workspace> make_workspace() const override;
  void load(Index first, Index count, Workspace& workspace) const override;
  void start(Batch z, Workspace& workspace) const override;
  void step(Index k, Batch z, Workspace& workspace, double* residual) const override;
  void read(ConstBatch z, Workspace& workspace, Index first, Index count, double* out) const override;
  void write(ConstBatch iterate, Workspace& workspace, Batch z) const override;
  [[nodiscard]] bool knows(Quantity quantity) const override { return quantity != Quantity::largest_error; }
  void measure(Quantity quantity, Index k, ConstBatch z, Workspace& workspace, double* value) const override;
  /// Without scaling and with rho = sigma = 1 in every row (the preset paper): (alpha / 2)-averaged in (x, w
  /// + y) (osqp_averaging.hpp).
  [[nodiscard]] DeclaredMap declared_map() const override;
  [[nodiscard]] const DifferentiableStep* differentiable() const override { return this; }
  /// The transposed step where it is linear: a row of w+ that was clipped passes nothing on.
  void step_vjp(Index k, ConstBatch z, Batch cotangent, Workspace& workspace) const override;
  /// Starts are (x, v), n + m: w = clip(v, l, u), y = R (v - w), as a step leaves them.
  [[nodiscard]] Index start_size() const override { return n_ + m_; }
  void start_from(ConstBatch numbers, Batch z, Workspace& workspace) const override;
  void start_from_vjp(ConstBatch numbers, ConstBatch cotangent, Batch derivative,
                      Workspace& workspace) const override;

 private:
  struct Room;
  template <int W, bool Own, bool Scaled>
  void step_lanes(double* z, Room& room, double* residual) const;
  template <bool SharedBounds>
  void step_identity(double* z, Room& room, double* residual) const;
  template <int W, bool Own, bool Scaled>
  void measure_lanes(Quantity quantity, const double* z, Room& room, double* value) const;
  template <int W, bool Own>
  void vjp_lanes(const double* w_new, double* cotangent, Room& room) const;
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
