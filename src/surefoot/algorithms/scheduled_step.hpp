#pragma once

#include "surefoot/algorithms/operator.hpp"

#include <memory>
#include <span>
#include <string_view>
#include <vector>

namespace surefoot::algorithms {

/// A setting that may be another one at every step: a step size, rho, the relaxation. It lies in (0,
/// largest).
struct StepSetting {
  std::string_view name;
  double usual = 0;  ///< of the optimizer's options
  double largest = infinity;
};

/// The settings of one step of a block.
struct StepValues {
  const double* lanes = nullptr;  ///< a row of width() numbers for each setting
  const void* shared = nullptr;   ///< what prepared() gave, if all lanes have these settings; may be null
  const double* next = nullptr;   ///< settings of the next step, laid out like `lanes`
};

/// An optimizer whose every step can have settings of its own, lane by lane: what schedules are made of
/// (step_schedule.hpp). A step with the usual settings, and the next one too, is the optimizer's own. Where
/// the state is in units of a setting, a step leaves it in those of the next.
class ScheduledStep {
 public:
  virtual ~ScheduledStep() = default;
  /// In the order in which all others have them.
  [[nodiscard]] virtual std::vector<StepSetting> step_settings() const = 0;
  /// What steps with these settings share whatever the problem is (factors); null: nothing.
  [[nodiscard]] virtual std::shared_ptr<const void> prepared(std::span<const double> settings) const;
  /// Room in a workspace for the steps below; once, before a block is loaded.
  virtual void make_room(Workspace& workspace) const;
  /// As Operator::step with these settings.
  virtual void step_with(Index k, const StepValues& settings, Batch z, Workspace& workspace,
                         double* residual) const = 0;
  /// As DifferentiableStep::step_vjp; the derivatives by the settings, laid out like them, go to
  /// `d_settings`, and after them those by the next step's, which are 0 before.
  virtual void step_with_vjp(Index k, const StepValues& settings, ConstBatch z, Batch cotangent,
                             double* d_settings, Workspace& workspace) const = 0;

 protected:
  ScheduledStep() = default;
  ScheduledStep(const ScheduledStep&) = default;
  ScheduledStep& operator=(const ScheduledStep&) = default;
};

}  // namespace surefoot::algorithms
