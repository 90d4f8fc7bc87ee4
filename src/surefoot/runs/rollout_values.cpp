#include "surefoot/runs/rollout_values.hpp"

#include "surefoot/core/error.hpp"

#include <algorithm>
#include <cmath>

namespace surefoot::runs {

using problems::Matrix;
using problems::Table;

namespace {

double form(const Matrix& matrix, const double* vector) {
  double sum = 0;
  for (Index i = 0; i < matrix.rows(); ++i) {
    double product = 0;
    for (Index j = 0; j < matrix.cols(); ++j) product += matrix(i, j) * vector[j];
    sum += vector[i] * product;
  }
  return sum;
}

void require_bounds(const Table& row, Index states, const char* name) {
  if (row.size() == 0) return;
  require(row.rows() == 1 && row.cols() == states, "{}: is {} x {}, must be one row of {}", name, row.rows(),
          row.cols(), states);
  problems::require_finite(row, name, true);
}

void require_square(const Matrix& matrix, Index size, const char* name) {
  require(matrix.rows() == size && matrix.cols() == size, "{}: is {} x {}, must be {} x {}", name,
          matrix.rows(), matrix.cols(), size, size);
  require(matrix.allFinite(), "{}: has an entry that is infinite or not a number", name);
}

}  // namespace

void PlantTask::validate(Index states, Index inputs) const {
  require_bounds(state_lower, states, "state_lower");
  require_bounds(state_upper, states, "state_upper");
  for (Index i = 0; state_lower.size() > 0 && state_upper.size() > 0 && i < states; ++i)
    require(state_lower(0, i) <= state_upper(0, i),
            "state_lower: entry {} is {}, greater than state_upper = {}", i, state_lower(0, i),
            state_upper(0, i));
  require((cost_Q.size() > 0) == (cost_R.size() > 0), "cost_Q, cost_R: one of them is missing");
  if (!has_cost()) return;
  require_square(cost_Q, states, "cost_Q");
  require_square(cost_R, inputs, "cost_R");
}

RolloutValues::RolloutValues(const PlantTask& task, Index rollouts) : task_(task) {
  const auto count = static_cast<std::size_t>(rollouts);
  for (std::vector<double>* values : {&violation_, &cost_, &last_cost_, &failed_, &series_, &longest_})
    values->assign(count, 0.0);
}

void RolloutValues::add(const LoopTick& tick) {
  ++ticks_;
  const Index states = tick.states.cols();
  for (std::size_t i = 0; i < failed_.size(); ++i) {
    const auto row = static_cast<Index>(i);
    const double* before = tick.states.data() + row * states;
    const double* after = tick.next.data() + row * states;
    const double* input = tick.inputs.data() + row * tick.inputs.cols();
    iterations_ += static_cast<double>(tick.iterations[i]);
    series_[i] = tick.solved[i] != 0 ? 0 : series_[i] + 1;
    failed_[i] += tick.solved[i] != 0 ? 0 : 1;
    longest_[i] = std::max(longest_[i], series_[i]);
    if (tick.lost[i] != 0) {
      violation_[i] = cost_[i] = infinity;
      continue;
    }
    for (Index s = 0; s < states; ++s) {
      if (task_.state_upper.size() > 0)
        violation_[i] = std::max(violation_[i], after[s] - task_.state_upper(0, s));
      if (task_.state_lower.size() > 0)
        violation_[i] = std::max(violation_[i], task_.state_lower(0, s) - after[s]);
    }
    if (!task_.has_cost()) continue;
    cost_[i] += form(task_.cost_Q, before) + form(task_.cost_R, input);
    last_cost_[i] = form(task_.cost_Q, after);
  }
}

std::vector<double> RolloutValues::cost() const {
  std::vector<double> all = cost_;
  for (std::size_t i = 0; i < all.size(); ++i) all[i] += last_cost_[i];
  return all;
}

std::vector<double> RolloutValues::failed_share() const {
  std::vector<double> shares = failed_;
  for (double& share : shares) share /= static_cast<double>(std::max<Index>(1, ticks_));
  return shares;
}

Index RolloutValues::lost() const {
  return std::ranges::count(violation_, infinity);
}

std::vector<double> excess_cost(const std::vector<double>& cost, const std::vector<double>& exact) {
  std::vector<double> excess(cost.size(), infinity);
  for (std::size_t i = 0; i < cost.size(); ++i) {
    if (cost[i] == 0 && exact[i] == 0) excess[i] = 0;
    if (!std::isfinite(cost[i]) || !std::isfinite(exact[i]) || !(exact[i] > 0)) continue;
    const double value = (cost[i] - exact[i]) / exact[i];
    if (std::isfinite(value)) excess[i] = value;
  }
  return excess;
}

}  // namespace surefoot::runs
