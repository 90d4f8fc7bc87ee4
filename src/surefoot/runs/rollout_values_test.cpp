#include "surefoot/runs/rollout_values.hpp"

#include "surefoot/core/types.hpp"

#include "support/input_error.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <vector>

namespace surefoot::runs {
namespace {

using problems::Matrix;
using problems::Table;

PlantTask small_task() {
  PlantTask task;
  task.state_lower = Table::Constant(1, 2, -1);
  task.state_upper = Table::Constant(1, 2, 1);
  task.state_upper(0, 1) = infinity;
  task.cost_Q = Matrix::Identity(2, 2);
  task.cost_R = Matrix::Constant(1, 1, 2);
  return task;
}

struct Tick {
  Table states, inputs, next;
  std::vector<char> solved, lost;
};

RolloutValues values_of(const std::vector<Tick>& ticks) {
  RolloutValues values(small_task(), ticks.front().states.rows());
  const std::vector<Index> iterations(static_cast<std::size_t>(ticks.front().states.rows()), 7);
  Index number = 0;
  for (const Tick& tick : ticks)
    values.add({number++, tick.states, tick.inputs, tick.next, tick.solved, iterations, tick.lost});
  return values;
}

Table rows(std::vector<std::vector<double>> numbers) {
  Table table(static_cast<Index>(numbers.size()), static_cast<Index>(numbers.front().size()));
  for (Index i = 0; i < table.rows(); ++i)
    for (Index j = 0; j < table.cols(); ++j)
      table(i, j) = numbers[static_cast<std::size_t>(i)][static_cast<std::size_t>(j)];
  return table;
}

TEST(RolloutValues, AreOfWholeRollouts) {
  const Table s0 = rows({{5, 0}, {0.5, 0}});
  const Table s1 = rows({{1.25, 9}, {0.5, -1.5}});
  const Table s2 = rows({{-1, 0}, {1, 0}});
  const Table s3 = rows({{1, 1}, {0, 0}});
  const Table input = rows({{1}, {-1}});
  const std::vector<char> none{0, 0};
  const RolloutValues values = values_of(
      {{s0, input, s1, {0, 1}, none}, {s1, input, s2, {0, 0}, none}, {s2, input, s3, {1, 0}, none}});
  EXPECT_EQ(values.violation(), (std::vector<double>{0.25, 0.5})) << "not of the first state";
  EXPECT_EQ(values.failed_share(), (std::vector<double>{2.0 / 3, 2.0 / 3}));
  EXPECT_EQ(values.longest_series(), (std::vector<double>{2, 2}));
  EXPECT_EQ(values.iterations(), 6 * 7);
  EXPECT_EQ(values.lost(), 0);
  const double first = 25 + (1.25 * 1.25 + 81) + 1 + 2 + 3 * 2;
  const double second = 0.25 + (0.25 + 2.25) + 1 + 0 + 3 * 2;
  EXPECT_NEAR(values.cost()[0], first, 1e-12);
  EXPECT_NEAR(values.cost()[1], second, 1e-12);
}

TEST(RolloutValues, ALostRolloutHasFailedForGood) {
  const Table zero = Table::Zero(2, 2);
  const Table input = Table::Zero(2, 1);
  const RolloutValues values =
      values_of({{zero, input, zero, {1, 1}, {0, 0}}, {zero, input, zero, {0, 1}, {1, 0}}});
  EXPECT_EQ(values.violation(), (std::vector<double>{infinity, 0}));
  EXPECT_EQ(values.cost()[0], infinity);
  EXPECT_EQ(values.cost()[1], 0);
  EXPECT_EQ(values.lost(), 1);
}

TEST(RolloutValues, ExcessCostIsInfiniteWhereThereIsNone) {
  const double nan = std::nan("");
  EXPECT_EQ(excess_cost({2, 3, infinity, 1, nan, 0, 1, 1, 3}, {2, 2, 1, infinity, 1, 0, 0, nan, 4}),
            (std::vector<double>{0, 0.5, infinity, infinity, infinity, 0, infinity, infinity, -0.25}));
}

TEST(RolloutValues, RefuseTasksThatDoNotFit) {
  const auto refused = [](const auto& change, const char* message) {
    PlantTask task = small_task();
    change(task);
    EXPECT_INPUT_ERROR(task.validate(2, 1), message);
  };
  refused([](PlantTask& task) { task.state_lower(0, 0) = 3; }, "state_lower: entry 0 is 3");
  refused([](PlantTask& task) { task.state_upper = Table::Zero(1, 3); }, "state_upper: is 1 x 3");
  refused([](PlantTask& task) { task.cost_R.resize(0, 0); }, "cost_Q, cost_R: one of them is missing");
  refused([](PlantTask& task) { task.cost_Q = Matrix::Identity(3, 3); }, "cost_Q: is 3 x 3, must be 2 x 2");
  refused([](PlantTask& task) { task.cost_Q(0, 0) = infinity; }, "cost_Q: has an entry");
}

}  // namespace
}  // namespace surefoot::runs
