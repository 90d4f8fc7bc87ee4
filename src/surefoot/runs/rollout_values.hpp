#pragma once

#include "surefoot/problems/matrix.hpp"
#include "surefoot/runs/closed_loop.hpp"

#include <vector>

namespace surefoot::runs {

/// What is asked of the plant: bounds of its states, and the cost s'Q s + v'R v of a tick. Empty: not asked.
struct PlantTask {
  problems::Table state_lower;  ///< one row, -infinity where there is none
  problems::Table state_upper;
  problems::Matrix cost_Q;
  problems::Matrix cost_R;

  [[nodiscard]] bool has_bounds() const { return state_lower.size() + state_upper.size() > 0; }
  [[nodiscard]] bool has_cost() const { return cost_Q.size() > 0; }
  void validate(Index states, Index inputs) const;
};

/// Numbers of whole rollouts, which are independent of each other, from their ticks, which are not. A rollout
/// that was lost (LoopTick) has a violation and a cost of infinity, and has failed at all later ticks.
class RolloutValues {
 public:
  RolloutValues(const PlantTask& task, Index rollouts);

  void add(const LoopTick& tick);

  /// The largest amount by which a state after a tick is outside its bounds; 0 if none ever is.
  [[nodiscard]] const std::vector<double>& violation() const { return violation_; }
  /// Sum over ticks of the cost of the state before and the input, and of the state after the last one.
  [[nodiscard]] std::vector<double> cost() const;
  /// The part of the ticks whose problem was not solved within the limit.
  [[nodiscard]] std::vector<double> failed_share() const;
  /// The longest series of such ticks.
  [[nodiscard]] const std::vector<double>& longest_series() const { return longest_; }
  /// Iterations of all ticks of all rollouts, and the ticks.
  [[nodiscard]] double iterations() const { return iterations_; }
  [[nodiscard]] Index ticks() const { return ticks_; }
  [[nodiscard]] Index lost() const;

 private:
  PlantTask task_;
  Index ticks_ = 0;
  double iterations_ = 0;
  std::vector<double> violation_;
  std::vector<double> cost_;
  std::vector<double> last_cost_;  // of the state after the last tick
  std::vector<double> failed_;
  std::vector<double> series_;  // that lasts
  std::vector<double> longest_;
};

/// (cost - exact) / exact of each rollout; infinite where it is not a number, or the exact cost is not finite
/// or not above 0 (0 where both are 0).
std::vector<double> excess_cost(const std::vector<double>& cost, const std::vector<double>& exact);

}  // namespace surefoot::runs
