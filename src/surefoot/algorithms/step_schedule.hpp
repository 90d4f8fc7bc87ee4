#pragma once

#include "surefoot/algorithms/detail/lane_weights.hpp"
#include "surefoot/algorithms/learned_operator.hpp"
#include "surefoot/algorithms/scheduled_step.hpp"
#include "surefoot/problems/matrix.hpp"

#include <memory>
#include <span>
#include <string>
#include <vector>

namespace surefoot::algorithms {

/// Settings of an optimizer's steps 0 .. K-1, the same for all problems; from step K on the usual ones. A
/// block of K weights for each setting, 0 for the usual value u: u exp(theta) where it has no largest value,
/// and g / (1 + (g / u - 1) exp(-theta)) below the largest value g. Means and prior means begin at 0: a prior
/// that is the optimizer with its usual settings. R. Sambharya, B. Stellato, "Learning algorithm
/// hyperparameters for fast parametric convex optimization", 2024.
///
/// At the means every distinct setting is prepared once for all blocks (of OSQP and SCS, factored, where
/// instances share their factors); drawn weights are each lane's own.
class StepSchedule final : public LearnedOperator {
 public:
  /// The optimizer must be a ScheduledStep with a derivative.
  StepSchedule(std::shared_ptr<const Operator> solver, Index steps);

  [[nodiscard]] Index steps() const { return steps_; }
  /// The value of a setting at its weight.
  [[nodiscard]] static double value_of(const StepSetting& setting, double weight);
  /// The weight at which a setting has the value.
  [[nodiscard]] static double weight_of(const StepSetting& setting, double value);
  /// A row for each step: its settings at these weights.
  [[nodiscard]] problems::Table settings_at(std::span<const double> weights) const;

  [[nodiscard]] std::string_view name() const override { return name_; }
  [[nodiscard]] Settings settings() const override;
  [[nodiscard]] Index instances() const override { return solver_->instances(); }
  [[nodiscard]] Index state_size() const override { return solver_->state_size(); }
  [[nodiscard]] Index iterate_size() const override { return solver_->iterate_size(); }
  [[nodiscard]] Index primal_size() const override { return solver_->primal_size(); }
  [[nodiscard]] Index width() const override { return solver_->width(); }
  [[nodiscard]] std::unique_ptr<Workspace> make_workspace() const override;
  void load(Index first, Index count, Workspace& workspace) const override;
  void start(Batch z, Workspace& workspace) const override;
  void step(Index k, Batch z, Workspace& workspace, double* residual) const override;
  void read(ConstBatch z, Workspace& workspace, Index first, Index count, double* out) const override;
  void write(ConstBatch iterate, Workspace& workspace, Batch z) const override;
  [[nodiscard]] bool knows(Quantity quantity) const override { return solver_->knows(quantity); }
  void prepare_measures(Workspace& workspace) const override;
  void measure(Quantity quantity, Index k, ConstBatch z, Workspace& workspace, double* value) const override;
  [[nodiscard]] DeclaredMap declared_map() const override {
    return {nullptr, "its settings change from step to step"};
  }

  [[nodiscard]] const WeightLayout& weights() const override { return layout_; }
  void assign(std::span<const double> mean, std::span<const double> variance) override;
  void draw(const WeightDraw& draw, Workspace& workspace) const override;
  void use_means(Workspace& workspace) const override;
  void step_vjp(Index k, ConstBatch z, Batch cotangent, Workspace& workspace) const override;
  void measure_vjp(Quantity quantity, Index k, ConstBatch z, const double* d_value, Batch cotangent,
                   Workspace& workspace) const override;
  void collect(Workspace& workspace, std::span<double> d_mean,
               std::span<double> d_log_variance) const override;

 private:
  struct Room;
  [[nodiscard]] StepValues values_of(Index k, Room& room) const;
  void write_values(Index k, const Room& room, double* rows) const;
  [[nodiscard]] Index setting_count() const { return static_cast<Index>(of_step_.size()); }

  std::shared_ptr<const Operator> solver_;
  const ScheduledStep* scheduled_ = nullptr;
  std::vector<StepSetting> of_step_;
  Index steps_ = 0;
  std::string name_;
  WeightLayout layout_;
  std::vector<double> mean_;
  std::vector<double> deviation_;
  std::vector<std::shared_ptr<const void>> prepared_;  ///< of steps 0 .. K-1 at the means, and of the usual
};

}  // namespace surefoot::algorithms
