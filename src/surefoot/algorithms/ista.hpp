#pragma once

#include "surefoot/algorithms/detail/soft_gradient.hpp"

namespace surefoot::algorithms {

/// ISTA on 1/2 ||Dz - b||^2 + weight ||z||_1: z+ = soft(z - D'(Dz - b) / L, weight / L). State and iterate z
/// (n).
class Ista final : public Operator, public DifferentiableStep, public ScheduledStep {
 public:
  explicit Ista(problems::Lasso problem, IstaOptions options = {});

  [[nodiscard]] double lipschitz() const { return gradient_.lipschitz(); }
  [[nodiscard]] std::string_view name() const override { return "ista"; }
  [[nodiscard]] Settings settings() const override { return gradient_.settings("ista"); }
  [[nodiscard]] Index instances() const override { return gradient_.problem().instances(); }
  [[nodiscard]] Index state_size() const override { return gradient_.variables(); }
  [[nodiscard]] Index primal_size() const override { return gradient_.variables(); }
  [[nodiscard]] Index width() const override { return SoftGradient::lanes; }
  [[nodiscard]] std::unique_ptr<Workspace> make_workspace() const override { return gradient_.make_room(); }
  void load(Index first, Index count, Workspace& workspace) const override;
  void start(Batch z, Workspace& workspace) const override;
  void step(Index k, Batch z, Workspace& workspace, double* residual) const override;
  [[nodiscard]] bool knows(Quantity quantity) const override { return SoftGradient::knows(quantity); }
  void measure(Quantity quantity, Index k, ConstBatch z, Workspace& workspace, double* value) const override;
  /// With a = largest eigenvalue of D'D / (2 L) < 1 the gradient step is a-averaged, the proximal one
  /// 1/2-averaged, and both together 1 / (2 - a) (P. Combettes, I. Yamada, J. Math. Anal. Appl. 425, 2015).
  [[nodiscard]] DeclaredMap declared_map() const override;
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
