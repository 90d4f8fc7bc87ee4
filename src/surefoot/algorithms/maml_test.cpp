#include "surefoot/algorithms/maml.hpp"

#include "surefoot/core/random.hpp"

#include "support/operator_contract.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <memory>

namespace surefoot {
namespace {

using algorithms::LearnedOperator;
using algorithms::make_maml;
using algorithms::maml_curve;
using algorithms::MamlOptions;
using algorithms::Precision;
using algorithms::Quantity;
using problems::RegressionTasks;
using problems::Table;
using problems::Vector;

std::shared_ptr<const RegressionTasks> some_tasks(Index count, Index train, Index test) {
  auto tasks = std::make_shared<RegressionTasks>();
  RandomStream random(3, "maml test: tasks", 0);
  const auto fill = [&](Table& inputs, Table& outputs, Index points) {
    inputs.resize(count, points);
    outputs.resize(count, points);
    for (Index i = 0; i < inputs.size(); ++i) {
      inputs.data()[i] = random.uniform(-5, 5);
      outputs.data()[i] = 2 * std::sin(inputs.data()[i]) + 0.1 * random.normal();
    }
  };
  fill(tasks->train_inputs, tasks->train_outputs, train);
  fill(tasks->test_inputs, tasks->test_outputs, test);
  return tasks;
}

struct MetaWeights {
  std::vector<double> mean;
  std::vector<double> variance;
};

MetaWeights meta_weights(Index count) {
  MetaWeights weights;
  RandomStream random(5, "maml test: weights", 0);
  for (Index i = 0; i < count; ++i) {
    weights.mean.push_back(0.35 * random.normal());
    weights.variance.push_back(1e-3 * random.uniform());
  }
  return weights;
}

TEST(Maml, PassesTheContractWithExactSecondOrderGradients) {
  // 7 and 23 points do not fill the chunks that go through the network together.
  for (const Index train : {Index{10}, Index{7}, Index{23}}) {
    const auto op = make_maml(some_tasks(9, train, 17), {.hidden = 9});
    const MetaWeights weights = meta_weights(op->weights().size());
    op->assign(weights.mean, weights.variance);
    testing::expect_operator_contract(*op, {}, {.steps = 4});
    testing::expect_weight_vjp_matches_differences(*op, 3, weights.mean, weights.variance, 1e-5);
  }
}

TEST(Maml, DescendsTheMeanSquaredError) {
  const auto tasks = some_tasks(5, 10, 30);
  const auto op = make_maml(tasks, {.hidden = 6});
  const MetaWeights weights = meta_weights(op->weights().size());
  op->assign(weights.mean, weights.variance);
  testing::OperatorBlock block(*op, 0, 4, false);
  const auto n = static_cast<Index>(weights.mean.size());
  const Vector z = Eigen::Map<const Vector>(weights.mean.data(), n);
  const Index task = 2;
  const auto loss = [&](const Vector& at) {
    return (maml_curve(at, tasks->train_inputs.row(task).transpose()) -
            tasks->train_outputs.row(task).transpose())
               .squaredNorm() /
           10;
  };
  block.step(0);
  for (Index i = 0; i < n; ++i) {
    Vector up = z;
    Vector down = z;
    up[i] += 1e-6;
    down[i] -= 1e-6;
    EXPECT_NEAR(block.z().row(i)[task], z[i] - 0.01 * (loss(up) - loss(down)) / 2e-6, 1e-8);
  }
}

TEST(Maml, MeasuresErrorsOverTheTestPoints) {
  const auto tasks = some_tasks(5, 10, 23);
  for (const Precision precision : {Precision::single, Precision::twice}) {
    const auto op = make_maml(tasks, {.hidden = 6, .precision = precision});
    const MetaWeights weights = meta_weights(op->weights().size());
    op->assign(weights.mean, weights.variance);
    testing::OperatorBlock block(*op, 0, 4, false);
    const Vector z = Eigen::Map<const Vector>(weights.mean.data(), static_cast<Index>(weights.mean.size()));
    std::vector<double> mse(static_cast<std::size_t>(op->width()));
    std::vector<double> largest = mse;
    op->measure(Quantity::objective, 0, block.z(), block.workspace(), mse.data());
    op->measure(Quantity::largest_error, 0, block.z(), block.workspace(), largest.data());
    for (Index task = 0; task < 4; ++task) {
      const Vector error =
          maml_curve(z, tasks->test_inputs.row(task).transpose()) - tasks->test_outputs.row(task).transpose();
      const double slack = precision == Precision::single ? 1e-5 : 1e-13;
      EXPECT_NEAR(mse[task], error.squaredNorm() / 23, slack * mse[task]);
      EXPECT_NEAR(largest[task], error.cwiseAbs().maxCoeff(), slack * largest[task]);
    }
  }
}

TEST(Maml, ObjectiveHasItsDerivative) {
  const auto op = make_maml(some_tasks(4, 10, 23), {.hidden = 8});
  const MetaWeights weights = meta_weights(op->weights().size());
  op->assign(weights.mean, weights.variance);
  testing::OperatorBlock block(*op, 0, 4);
  const Index W = op->width();
  const algorithms::Buffer z = block.state();
  const algorithms::Buffer direction = testing::scattered(z.size(), 9);
  std::vector<double> up(static_cast<std::size_t>(W));
  std::vector<double> down = up;
  const auto shifted = [&](double h) {
    for (std::size_t i = 0; i < z.size(); ++i) block.z().data[i] = z[i] + h * direction[i];
  };
  shifted(1e-7);
  op->measure(Quantity::objective, 0, block.z(), block.workspace(), up.data());
  shifted(-1e-7);
  op->measure(Quantity::objective, 0, block.z(), block.workspace(), down.data());
  shifted(0);
  algorithms::Buffer cotangent(z.size(), 0.0);
  const std::vector<double> ones(static_cast<std::size_t>(W), 1.0);
  op->measure_vjp(Quantity::objective, 0, block.z(), ones.data(), {cotangent.data(), op->state_size(), W},
                  block.workspace());
  for (Index lane = 0; lane < W; ++lane) {
    double exact = 0;
    for (Index i = 0; i < op->state_size(); ++i) exact += cotangent[i * W + lane] * direction[i * W + lane];
    const double difference = (up[lane] - down[lane]) / 2e-7;
    EXPECT_NEAR(exact, difference, 1e-5 * std::max(1.0, std::abs(difference)));
  }
}

TEST(Maml, DivergenceIsSeenInItsLaneOnly) {
  const auto op = make_maml(some_tasks(4, 10, 10), {.hidden = 5});
  const MetaWeights weights = meta_weights(op->weights().size());
  op->assign(weights.mean, weights.variance);
  std::vector<double> value(static_cast<std::size_t>(op->width()));
  for (const Index entry : {Index{3}, Index{14}, op->state_size() - 1}) {
    for (const double bad : {infinity, -infinity, std::nan("")}) {
      testing::OperatorBlock block(*op, 0, 4);
      block.z().row(entry)[1] = bad;
      block.step(0);
      block.step(1);
      for (const Quantity quantity : {Quantity::objective, Quantity::largest_error}) {
        op->measure(quantity, 2, block.z(), block.workspace(), value.data());
        for (std::size_t lane = 0; lane < value.size(); ++lane)
          EXPECT_EQ(std::isfinite(value[lane]), lane != 1) << entry << " " << bad;
      }
    }
  }
}

}  // namespace
}  // namespace surefoot
