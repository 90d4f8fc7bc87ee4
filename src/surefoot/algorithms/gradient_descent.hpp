#pragma once

#include "surefoot/algorithms/buffer.hpp"
#include "surefoot/algorithms/operator.hpp"
#include "surefoot/algorithms/scheduled_step.hpp"
#include "surefoot/problems/quadratic.hpp"

namespace surefoot::algorithms {

struct GradientDescentOptions {
  double step = 0;  ///< step size; 0: 1 / L with L the largest eigenvalue of P
  void validate() const;
};

/// Gradient descent on 1/2 z'Pz + c'z: z+ = z - step (P z + c). State and iterate z (n).
class GradientDescent final : public Operator, public DifferentiableStep, public ScheduledStep {
 public:
  explicit GradientDescent(problems::Quadratic problem, GradientDescentOptions options = {});

  [[nodiscard]] double step_size() const { return step_; }
  [[nodiscard]] std::string_view name() const override { return "gradient-descent"; }
  [[nodiscard]] Settings settings() const override {
    return {{"solver", "gradient-descent"}, {"settings", Settings{{"step", step_}}}};
  }
  [[nodiscard]] Index instances() const override { return problem_.instances(); }
  [[nodiscard]] Index state_size() const override { return n_; }
  [[nodiscard]] Index primal_size() const override { return n_; }
  [[nodiscard]] Index width() const override { return lanes; }
  [[nodiscard]] std::unique_ptr<Workspace> make_workspace() const override;
  void load(Index first, Index count, Workspace& workspace) const override;
  void start(Batch z, Workspace& workspace) const override;
  void step(Index k, Batch z, Workspace& workspace, double* residual) const override;
  [[nodiscard]] bool knows(Quantity quantity) const override;
  void measure(Quantity quantity, Index k, ConstBatch z, Workspace& workspace, double* value) const override;
  /// (step L / 2)-averaged where step < 2 / L (H. Bauschke, P. Combettes, "Convex Analysis and Monotone
  /// Operator Theory in Hilbert Spaces", 2011, Prop. 4.33).
  [[nodiscard]] DeclaredMap declared_map() const override;
  [[nodiscard]] const DifferentiableStep* differentiable() const override { return this; }
  void step_vjp(Index k, ConstBatch z, Batch cotangent, Workspace& workspace) const override;
  /// Of the optimality residual, which is the norm of the gradient.
  void measure_vjp(Quantity quantity, Index k, ConstBatch z, const double* d_value, Batch cotangent,
                   Workspace& workspace) const override;
  /// The step size.
  [[nodiscard]] std::vector<StepSetting> step_settings() const override { return {{"step", step_}}; }
  void step_with(Index k, const StepValues& settings, Batch z, Workspace& workspace,
                 double* residual) const override;
  void step_with_vjp(Index k, const StepValues& settings, ConstBatch z, Batch cotangent, double* d_settings,
                     Workspace& workspace) const override;

 private:
  static constexpr int lanes = 16;
  struct Room;
  void advance(const double* step, Batch z, Room& room, double* residual) const;
  void pull_back(const double* step, Batch cotangent, Room& room) const;
  problems::Quadratic problem_;
  Index n_ = 0;
  double step_ = 0;
  Buffer P_;  // row-major
};

}  // namespace surefoot::algorithms
