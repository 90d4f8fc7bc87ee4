#include "surefoot/algorithms/maml.hpp"

#include "surefoot/core/random.hpp"
#include "surefoot/testing/operator_contract.hpp"

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

/// The network in plain loops: gradient of mean_p (g_z(x_p) - y_p)^2 by z.
Vector dense_gradient(const Vector& z, const Vector& x, const Vector& y) {
  const auto H = static_cast<Index>(std::llround(std::sqrt(static_cast<double>(z.size() + 3)) - 2));
  const double* w1 = z.data();
  const double* b1 = w1 + H;
  const double* w2 = b1 + H;
  const double* b2 = w2 + H * H;
  const double* w3 = b2 + H;
  Vector gradient = Vector::Zero(z.size());
  const Vector error = maml_curve(z, x) - y;
  for (Index p = 0; p < x.size(); ++p) {
    const double r = 2 * error[p] / static_cast<double>(x.size());
    for (Index i = 0; i < H; ++i) {
      double into = b2[i];
      for (Index j = 0; j < H; ++j) into += w2[j * H + i] * std::max(0.0, w1[j] * x[p] + b1[j]);
      if (into <= 0) continue;
      gradient[2 * H + H * H + i] += r * w3[i];
      gradient[3 * H + H * H + i] += r * into;
      for (Index j = 0; j < H; ++j) {
        const double h1 = w1[j] * x[p] + b1[j];
        if (h1 <= 0) continue;
        gradient[j] += r * w3[i] * w2[j * H + i] * x[p];
        gradient[H + j] += r * w3[i] * w2[j * H + i];
        gradient[2 * H + j * H + i] += r * w3[i] * h1;
      }
    }
    gradient[z.size() - 1] += r;
  }
  return gradient;
}

// Units of the first layer that work everywhere, nowhere, on one side, and that switch exactly at a point or
// at one with another; several points in one place.
TEST(Maml, RunningSumsAreTheDenseNetwork) {
  for (const Index hidden : {Index{3}, Index{11}, Index{40}, Index{83}}) {
    auto tasks = std::make_shared<RegressionTasks>(*some_tasks(4, 12, 57));
    tasks->train_inputs(1, 0) = 2;
    tasks->train_inputs(1, 3) = 2;
    tasks->train_inputs(1, 7) = -3;
    for (const Precision precision : {Precision::single, Precision::twice}) {
      const auto op = make_maml(tasks, {.hidden = hidden, .precision = precision});
      MetaWeights weights = meta_weights(op->weights().size());
      double* w1 = weights.mean.data();
      double* b1 = w1 + hidden;
      w1[0] = 0, b1[0] = 0.25;
      w1[1] = 0.5, b1[1] = -1;
      w1[2] = -0.25, b1[2] = -0.75;
      if (hidden > 9) {
        w1[3] = 0, b1[3] = -0.25;
        w1[4] = 0.25, b1[4] = 8;
        w1[5] = 0.25, b1[5] = -8;
        w1[6] = -0.25, b1[6] = 8;
        w1[7] = -0.25, b1[7] = -8;
        w1[8] = 1, b1[8] = -2;
      }
      op->assign(weights.mean, weights.variance);
      const Vector z = Eigen::Map<const Vector>(weights.mean.data(), op->state_size());
      const double slack = precision == Precision::single ? 3e-5 : 1e-13;
      for (Index task = 0; task < 4; ++task) {
        testing::OperatorBlock block(*op, task, 1, false);
        const auto gradient = [&](const Vector& at) {
          return dense_gradient(at, tasks->train_inputs.row(task).transpose(),
                                tasks->train_outputs.row(task).transpose());
        };
        const auto is_near = [&](const double* own, const Vector& expected) {
          const double scale = expected.cwiseAbs().maxCoeff();
          for (Index i = 0; i < z.size(); ++i) {
            ASSERT_NEAR(own[i], expected[i], slack * scale) << hidden << " " << task << " " << i;
          }
        };
        block.step(0);
        const Vector change = 0.01 * gradient(z);
        is_near(block.state().data(), z - change);
        EXPECT_NEAR(block.residual()[0], change.norm(), slack * change.norm());

        algorithms::Buffer pulled(static_cast<std::size_t>(z.size()), 0.0);
        const double one = 1;
        op->measure_vjp(Quantity::objective, 0, {z.data(), z.size(), 1}, &one, {pulled.data(), z.size(), 1},
                        block.workspace());
        is_near(pulled.data(), dense_gradient(z, tasks->test_inputs.row(task).transpose(),
                                              tasks->test_outputs.row(task).transpose()));
      }
    }
  }
}

TEST(Maml, PassesTheContractWithExactSecondOrderGradients) {
  // Hidden units fill part of a register, several, or more than go through the network together.
  for (const Index hidden : {Index{9}, Index{40}, Index{83}}) {
    const auto op = make_maml(some_tasks(3, hidden == 9 ? 7 : 23, 17), {.hidden = hidden});
    const MetaWeights weights = meta_weights(op->weights().size());
    op->assign(weights.mean, weights.variance);
    testing::expect_operator_contract(*op, {}, {.steps = 4});
    testing::expect_weight_vjp_matches_differences(*op, 3, weights.mean, weights.variance, 1e-5);
  }
}

/// Derivatives by means and log variances of the sum of the objectives after 2 and 3 steps, twice from one
/// run: what the calls of the first sweep left behind must not disturb the second.
std::vector<double> derivatives_of_two_sweeps(const LearnedOperator& op, algorithms::Workspace& workspace,
                                              Index task, bool chained) {
  constexpr Index steps = 3;
  const Index size = op.state_size();
  std::vector<std::vector<double>> states(steps + 1, std::vector<double>(static_cast<std::size_t>(size)));
  const auto state = [&](Index k) { return algorithms::Batch{states[k].data(), size, 1}; };
  op.load(task, 1, workspace);
  if (chained) op.prepare_vjps(workspace);
  op.draw({7, "maml test: chain", static_cast<std::uint64_t>(task)}, workspace);
  op.start(state(0), workspace);
  std::vector<double> values(2);
  for (Index k = 1; k <= steps; ++k) {
    op.step_to(k - 1, state(k - 1), state(k), workspace);
    if (k >= 2) op.measure(Quantity::objective, k, state(k), workspace, &values[k - 2]);
  }
  std::vector<double> d_mean(static_cast<std::size_t>(size));
  std::vector<double> d_log_variance(d_mean);
  const auto sweep = [&](double at_three) {
    std::vector<double> numbers(d_mean.size());
    const algorithms::Batch cotangent{numbers.data(), size, 1};
    const double at_two = 0.5;
    for (Index k = steps; k >= 1; --k) {
      if (k == 3) op.measure_vjp(Quantity::objective, k, state(k), &at_three, cotangent, workspace);
      if (k == 2) op.measure_vjp(Quantity::objective, k, state(k), &at_two, cotangent, workspace);
      op.step_vjp(k - 1, state(k - 1), cotangent, workspace);
    }
    op.start_vjp(cotangent, workspace);
  };
  sweep(1.5);
  sweep(0);  // as for a diverged task
  op.collect(workspace, d_mean, d_log_variance);
  d_mean.insert(d_mean.end(), d_log_variance.begin(), d_log_variance.end());
  d_mean.insert(d_mean.end(), values.begin(), values.end());
  return d_mean;
}

TEST(Maml, CallsThatShareWhatTheyKnowGiveTheSameBits) {
  for (const Index hidden : {5, 40}) {
    for (const Precision precision : {Precision::single, Precision::twice}) {
      MamlOptions options;
      options.hidden = hidden;
      options.precision = precision;
      const auto op = make_maml(some_tasks(3, 10, 37), options);
      const MetaWeights weights = meta_weights(op->weights().size());
      op->assign(weights.mean, weights.variance);
      const auto used = op->make_workspace();
      for (const Index task : {0, 2, 1}) {
        const auto alone = op->make_workspace();
        EXPECT_EQ(derivatives_of_two_sweeps(*op, *used, task, true),
                  derivatives_of_two_sweeps(*op, *alone, task, false))
            << hidden << " units, task " << task;
      }
    }
  }
}

TEST(Maml, MeasuresErrorsOverTheTestPoints) {
  const auto tasks = some_tasks(5, 10, 23);
  for (const Precision precision : {Precision::single, Precision::twice}) {
    const auto op = make_maml(tasks, {.hidden = 6, .precision = precision});
    const MetaWeights weights = meta_weights(op->weights().size());
    op->assign(weights.mean, weights.variance);
    const Vector z = Eigen::Map<const Vector>(weights.mean.data(), static_cast<Index>(weights.mean.size()));
    for (Index task = 0; task < 5; ++task) {
      testing::OperatorBlock block(*op, task, 1, false);
      double mse = 0;
      double largest = 0;
      op->measure(Quantity::objective, 0, block.z(), block.workspace(), &mse);
      op->measure(Quantity::largest_error, 0, block.z(), block.workspace(), &largest);
      const Vector error =
          maml_curve(z, tasks->test_inputs.row(task).transpose()) - tasks->test_outputs.row(task).transpose();
      const double slack = precision == Precision::single ? 1e-5 : 1e-13;
      EXPECT_NEAR(mse, error.squaredNorm() / 23, slack * mse);
      EXPECT_NEAR(largest, error.cwiseAbs().maxCoeff(), slack * largest);
    }
  }
}

TEST(Maml, DivergenceIsSeen) {
  const auto op = make_maml(some_tasks(4, 10, 10), {.hidden = 5});
  MetaWeights weights = meta_weights(op->weights().size());
  // Unit 0 of the first layer works nowhere, unit 1 of the second neither.
  weights.mean[0] = 0;
  weights.mean[5] = -1;
  weights.mean[10 + 25 + 1] = -1e3;
  op->assign(weights.mean, weights.variance);
  for (Index entry = 0; entry < op->state_size(); ++entry) {
    for (const double bad : {infinity, -infinity, std::nan("")}) {
      testing::OperatorBlock block(*op, 0, 1);
      block.z().row(entry)[0] = bad;
      block.step(0);
      EXPECT_FALSE(std::isfinite(block.residual()[0])) << entry << " " << bad;
      block.step(1);
      for (const Quantity quantity : {Quantity::objective, Quantity::largest_error}) {
        double value = 0;
        op->measure(quantity, 2, block.z(), block.workspace(), &value);
        EXPECT_FALSE(std::isfinite(value)) << entry << " " << bad;
      }
    }
  }
}

}  // namespace
}  // namespace surefoot
