#pragma once

#include "surefoot/algorithms/detail/soft_gradient.hpp"

namespace surefoot::algorithms {

/// FISTA on 1/2 ||Dz - b||^2 + weight ||z||_1, state (z, y, t), t = 1 and y = z at the start:
///   z+ = soft(y - D'(Dy - b) / L, weight / L), t+ = (1 + sqrt(1 + 4 t^2)) / 2, y+ = z+ + (t - 1) / t+ (z+ -
///   z).
/// Residual ||z+ - z||; iterate z (n). A. Beck, M. Teboulle, "A fast iterative shrinkage-thresholding
/// algorithm for linear inverse problems", SIAM J. Imaging Sci. 2, 2009.
class Fista final : public Operator, public DifferentiableStep, public ScheduledStep {
 public:
  explicit Fista(problems::Lasso problem, IstaOptions options = {});

  [[nodiscard]] double lipschitz() const { return gradient_.lipschitz(); }
  [[nodiscard]] std::string_view name() const override { return "fista"; }
  [[nodiscard]] Settings settings() const override { return gradient_.settings("fista"); }
  [[nodiscard]] Index instances() const override { return gradient_.problem().instances(); }
  [[nodiscard]] Index state_size() const override { return 2 * gradient_.variables() + 1; }
  [[nodiscard]] Index iterate_size() const override { return gradient_.variables(); }
  [[nodiscard]] Index primal_size() const override { return gradient_.variables(); }
  [[nodiscard]] Index width() const override { return SoftGradient::lanes; }
  [[nodiscard]] std::unique_ptr<Workspace> make_workspace() const override { return gradient_.make_room(); }
  void load(Index first, Index count, Workspace& workspace) const override;
  void start(Batch z, Workspace& workspace) const override;
  void step(Index k, Batch z, Workspace& workspace, double* residual) const override;
  void write(ConstBatch iterate, Workspace& workspace, Batch z) const override;
  [[nodiscard]] bool knows(Quantity quantity) const override { return SoftGradient::knows(quantity); }
  void measure(Quantity quantity, Index k, ConstBatch z, Workspace& workspace, double* value) const override;
  [[nodiscard]] DeclaredMap declared_map() const override {
    return {nullptr,
            "its momentum makes every step another map; surefoot worst-case composite-fista bounds it"};
  }
  [[nodiscard]] const DifferentiableStep* differentiable() const override { return this; }
  void step_vjp(Index k, ConstBatch z, Batch cotangent, Workspace& workspace) const override;
  /// Of the optimality residual.
  void measure_vjp(Quantity quantity, Index k, ConstBatch z, const double* d_value, Batch cotangent,
                   Workspace& workspace) const override;
  /// The step size, in the place of 1 / L.
  [[nodiscard]] std::vector<StepSetting> step_settings() const override {
    return {{"step", 1 / lipschitz()}};
  }
  void step_with(Index k, const StepValues& settings, Batch z, Workspace& workspace,
                 double* residual) const override;
  void step_with_vjp(Index k, const StepValues& settings, ConstBatch z, Batch cotangent, double* d_settings,
                     Workspace& workspace) const override;

 private:
  void advance(const double* step, Batch z, SoftGradient::Room& room, double* residual) const;
  void pull_back(const double* step, ConstBatch z, Batch cotangent, double* by_step,
                 SoftGradient::Room& room) const;
  SoftGradient gradient_;
};

}  // namespace surefoot::algorithms
