#pragma once

#include "surefoot/algorithms/buffer.hpp"
#include "surefoot/algorithms/learned_operator.hpp"
#include "surefoot/algorithms/operator.hpp"
#include "surefoot/core/random.hpp"
#include "surefoot/problems/matrix.hpp"
#include "surefoot/testing/allocation_count.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <limits>
#include <vector>

namespace surefoot::testing {

struct OperatorContract {
  Index steps = 25;           ///< steps that are tried
  double fixed_point = 1e-8;  ///< residual allowed at a solution
  double gradient = 1e-5;     ///< relative error allowed of a vjp against central differences
};

/// A block of an operator: workspace and state.
class OperatorBlock {
 public:
  /// Lanes of a learned operator draw from the stream of their instance, unless `draws` is false: then they
  /// run at the means.
  OperatorBlock(const algorithms::Operator& op, Index first, Index count, bool draws = true)
      : op_(op),
        workspace_(op.make_workspace()),
        state_(algorithms::make_buffer(op.state_size(), op.width())),
        residual_(static_cast<std::size_t>(op.width()), -1.0) {
    load(first, count, draws);
  }
  void load(Index first, Index count, bool draws = true) {
    op_.load(first, count, *workspace_);
    if (const auto* learned = dynamic_cast<const algorithms::LearnedOperator*>(&op_)) {
      if (draws) {
        learned->draw({7, "operator contract", static_cast<std::uint64_t>(first)}, *workspace_);
      } else {
        learned->use_means(*workspace_);
      }
    }
    op_.start(z(), *workspace_);
  }
  [[nodiscard]] algorithms::Batch z() { return {state_.data(), op_.state_size(), op_.width()}; }
  algorithms::Workspace& workspace() { return *workspace_; }
  void step(Index k) { op_.step(k, z(), *workspace_, residual_.data()); }
  [[nodiscard]] const algorithms::Buffer& residual() const { return residual_; }
  [[nodiscard]] const algorithms::Buffer& state() const { return state_; }
  algorithms::Buffer iterate() {
    algorithms::Buffer out = algorithms::make_buffer(op_.iterate_size(), op_.width());
    op_.read(z(), *workspace_, 0, op_.iterate_size(), out.data());
    return out;
  }

 private:
  const algorithms::Operator& op_;
  std::unique_ptr<algorithms::Workspace> workspace_;
  algorithms::Buffer state_;
  algorithms::Buffer residual_;
};

/// A block of several instances gives each of them the same bits as it gets alone.
inline void expect_batch_equals_columns(const algorithms::Operator& op, Index steps) {
  const Index W = op.width();
  const Index count = std::min(W, op.instances());
  OperatorBlock batch(op, 0, count);
  for (Index k = 0; k < steps; ++k) batch.step(k);
  for (Index column = 0; column < count; ++column) {
    OperatorBlock alone(op, column, 1);
    for (Index k = 0; k < steps; ++k) alone.step(k);
    for (Index i = 0; i < op.state_size(); ++i) {
      const bool own_draws = dynamic_cast<const algorithms::LearnedOperator*>(&op) != nullptr;
      for (const Index lane : {Index{0}, own_draws ? Index{0} : W - 1}) {
        ASSERT_EQ(std::memcmp(&batch.state()[i * W + column], &alone.state()[i * W + lane], sizeof(double)),
                  0)
            << op.name() << ": entry " << i << " of instance " << column << " is "
            << batch.state()[i * W + column] << " in the batch and " << alone.state()[i * W + lane]
            << " alone";
      }
    }
    ASSERT_EQ(batch.residual()[column], alone.residual()[0]) << op.name() << ": residual of " << column;
  }
}

/// A step without a residual is the same step, and a workspace that served another block serves the next as a
/// new one does.
inline void expect_blocks_leave_nothing_behind(const algorithms::Operator& op, Index steps) {
  const Index count = std::min(op.width(), op.instances());
  OperatorBlock fresh(op, 0, count);
  for (Index k = 0; k < steps; ++k) fresh.step(k);
  OperatorBlock used(op, op.instances() - 1, 1);
  for (Index k = 0; k < steps; ++k) used.step(k);
  used.load(0, count);
  for (Index k = 0; k < steps; ++k) op.step(k, used.z(), used.workspace(), nullptr);
  for (std::size_t i = 0; i < fresh.state().size(); ++i) {
    ASSERT_EQ(std::memcmp(&fresh.state()[i], &used.state()[i], sizeof(double)), 0)
        << op.name() << ": number " << i << " of the state is " << fresh.state()[i] << " in a new block and "
        << used.state()[i] << " in a used one without residuals";
  }
}

/// A NaN in any entry of the state is seen in the residual after a step, or after two where it is not an
/// entry of the iterate: divergence is never taken for success.
inline void expect_nan_is_seen(const algorithms::Operator& op) {
  const Index lane = op.width() > 1 ? 1 : 0;
  for (Index i = 0; i < op.state_size(); i += 1 + op.state_size() / 30) {
    OperatorBlock block(op, 0, std::min(op.width(), op.instances()));
    block.step(0);
    block.z().row(i)[lane] = std::numeric_limits<double>::quiet_NaN();
    block.step(1);
    if (i >= op.iterate_size()) block.step(2);
    EXPECT_FALSE(std::isfinite(block.residual()[lane]))
        << op.name() << ": the residual hides a NaN in entry " << i;
    if (lane > 0) {
      EXPECT_TRUE(std::isfinite(block.residual()[0])) << op.name() << ": a NaN spreads to another lane";
    }
  }
}

inline void expect_no_allocation_in_step(const algorithms::Operator& op, Index steps) {
  OperatorBlock block(op, 0, std::min(op.width(), op.instances()));
  block.step(0);
  const long before = allocations.load();
  for (Index k = 1; k < steps; ++k) block.step(k);
  EXPECT_EQ(allocations.load() - before, 0) << op.name() << ": step() allocates";
}

/// A lane that takes another instance while its neighbours run has the same bits as that instance alone, the
/// neighbours notice nothing, and nothing is allocated. For operators that reload, with more instances than
/// lanes.
inline void expect_reloaded_lanes_equal_fresh(const algorithms::Operator& op, Index steps) {
  if (!op.can_reload() || op.instances() <= op.width()) return;
  const Index W = op.width();
  const Index before = steps / 3 / op.reload_interval() * op.reload_interval();
  OperatorBlock batch(op, 0, W);
  for (Index k = 0; k < before; ++k) batch.step(k);
  std::vector<Index> instances(static_cast<std::size_t>(W), -1);
  for (Index lane = 0; lane < W; lane += 2) instances[lane] = op.instances() - 1 - lane / 2;
  const long allocated = allocations.load();
  op.reload(instances.data(), batch.workspace());
  EXPECT_EQ(allocations.load() - allocated, 0) << op.name() << ": reload() allocates";
  algorithms::Buffer fresh = algorithms::make_buffer(op.state_size(), W);
  op.start({fresh.data(), op.state_size(), W}, batch.workspace());
  for (Index i = 0; i < op.state_size(); ++i) {
    for (Index lane = 0; lane < W; lane += 2) batch.z().row(i)[lane] = fresh[i * W + lane];
  }
  for (Index k = before; k < steps; ++k) batch.step(k);
  for (Index lane = 0; lane < W; ++lane) {
    const bool reloaded = instances[lane] >= 0;
    OperatorBlock alone(op, reloaded ? instances[lane] : lane, 1);
    for (Index k = 0; k < (reloaded ? steps - before : steps); ++k) alone.step(k);
    for (Index i = 0; i < op.state_size(); ++i) {
      ASSERT_EQ(std::memcmp(&batch.state()[i * W + lane], &alone.state()[i * W], sizeof(double)), 0)
          << op.name() << ": entry " << i << " of lane " << lane << (reloaded ? ", reloaded," : "") << " is "
          << batch.state()[i * W + lane] << " and " << alone.state()[i * W] << " alone";
    }
  }
}

/// write() of what read() gave is the same iterate.
inline void expect_read_write_round_trip(const algorithms::Operator& op, Index steps) {
  OperatorBlock block(op, 0, std::min(op.width(), op.instances()));
  for (Index k = 0; k < steps; ++k) block.step(k);
  const algorithms::Buffer iterate = block.iterate();
  op.write({iterate.data(), op.iterate_size(), op.width()}, block.workspace(), block.z());
  const algorithms::Buffer again = block.iterate();
  for (std::size_t i = 0; i < iterate.size(); ++i) {
    ASSERT_NEAR(again[i], iterate[i], 1e-13 * std::max(1.0, std::abs(iterate[i]))) << op.name() << " " << i;
  }
}

/// At a known solution (one row per instance, an iterate) the residual is zero up to `tolerance`.
inline void expect_zero_residual_at(const algorithms::Operator& op, const problems::Table& solutions,
                                    double tolerance) {
  ASSERT_EQ(solutions.cols(), op.iterate_size());
  const Index W = op.width();
  const Index count = std::min(W, op.instances());
  OperatorBlock block(op, 0, count);
  algorithms::Buffer iterate = algorithms::make_buffer(op.iterate_size(), W);
  for (Index i = 0; i < op.iterate_size(); ++i) {
    for (Index lane = 0; lane < W; ++lane) iterate[i * W + lane] = solutions(std::min(lane, count - 1), i);
  }
  op.write({iterate.data(), op.iterate_size(), W}, block.workspace(), block.z());
  for (Index k = 0; k < 3; ++k) {
    block.step(k);
    for (Index lane = 0; lane < count; ++lane) {
      EXPECT_LE(block.residual()[lane], tolerance) << op.name() << ": instance " << lane << ", step " << k;
    }
  }
}

/// The declared class of the step, tried on random pairs of points of every instance of a block: with s, r
/// the coordinates of two iterates that fit,
///   |T s - T r|^2 + (1 - alpha) / alpha |(s - T s) - (r - T r)|^2 <= |s - r|^2,
/// the residual of a step is at most |T s - s|, an iterate fits after a step, and T is the same at every
/// step.
inline void expect_averaged_as_declared(const algorithms::Operator& op, const algorithms::AveragedMap& map,
                                        Index pairs = 40) {
  const Index W = op.width();
  const Index count = std::min(W, op.instances());
  const double alpha = map.averagedness();
  ASSERT_GT(alpha, 0.0) << op.name();
  ASSERT_LT(alpha, 1.0) << op.name();
  using Points = std::vector<std::vector<double>>;  // by lane
  const auto read = [&](OperatorBlock& block) {
    const algorithms::Buffer iterate = block.iterate();
    Points points;
    for (Index lane = 0; lane < count; ++lane) {
      std::vector<double> own(static_cast<std::size_t>(op.iterate_size()));
      for (Index i = 0; i < op.iterate_size(); ++i) own[i] = iterate[i * W + lane];
      EXPECT_TRUE(map.fits(lane, own.data())) << op.name() << ": an iterate does not fit";
      std::vector<double>& s = points.emplace_back(static_cast<std::size_t>(map.size()));
      map.coordinates(lane, own.data(), s.data());
    }
    return points;
  };
  const auto squared = [](const std::vector<double>& values) {
    double sum = 0;
    for (const double value : values) sum += value * value;
    return sum;
  };
  const auto minus = [](std::vector<double> a, const std::vector<double>& b) {
    for (std::size_t i = 0; i < a.size(); ++i) a[i] -= b[i];
    return a;
  };
  RandomStream stream(13, "operator contract: pairs", 0);
  for (Index pair = 0; pair < pairs; ++pair) {
    Points before[2];
    Points after[2];
    for (int which = 0; which < 2; ++which) {
      OperatorBlock block(op, 0, count);
      const double size = std::pow(10.0, stream.uniform(-1, 1));
      const algorithms::DifferentiableStep* starts = op.differentiable();
      if (starts != nullptr && starts->start_size() > 0) {
        algorithms::Buffer numbers = algorithms::make_buffer(starts->start_size(), W);
        for (double& value : numbers) value = size * stream.normal();
        starts->start_from({numbers.data(), starts->start_size(), W}, block.z(), block.workspace());
      } else {
        algorithms::Buffer iterate = algorithms::make_buffer(op.iterate_size(), W);
        for (double& value : iterate) value = size * stream.normal();
        op.write({iterate.data(), op.iterate_size(), W}, block.workspace(), block.z());
      }
      before[which] = read(block);
      const algorithms::Buffer kept = block.state();
      block.step(1);
      after[which] = read(block);
      for (Index lane = 0; lane < count; ++lane) {
        const double length = std::sqrt(squared(minus(after[which][lane], before[which][lane])));
        EXPECT_LE(block.residual()[lane], length * (1 + 1e-9) + 1e-13) << op.name() << ": residual";
      }
      std::copy(kept.begin(), kept.end(), block.z().data);
      block.step(17);
      const Points later = read(block);
      for (Index lane = 0; lane < count; ++lane)
        EXPECT_EQ(later[lane], after[which][lane]) << op.name() << ": another map at a later step";
    }
    for (Index lane = 0; lane < count; ++lane) {
      const std::vector<double> ds = minus(before[0][lane], before[1][lane]);
      const std::vector<double> dT = minus(after[0][lane], after[1][lane]);
      const double all = squared(ds);
      EXPECT_LE(squared(dT) + (1 - alpha) / alpha * squared(minus(ds, dT)), all * (1 + 1e-9) + 1e-20)
          << op.name() << ": pair " << pair << " of instance " << lane << " is not " << alpha << "-averaged";
    }
  }
}

/// Numbers without a pattern, for cotangents and directions.
inline algorithms::Buffer scattered(std::size_t size, std::uint64_t index) {
  algorithms::Buffer values(size);
  RandomStream stream(11, "operator contract: directions", index);
  for (double& value : values) value = stream.normal();
  return values;
}

/// step_vjp of step `last` at the block's state against central differences of v'step(z) along a direction,
/// lane by lane. The operator must have a derivative.
inline void expect_vjp_matches_differences_at(const algorithms::Operator& op, OperatorBlock& block,
                                              Index last, double tolerance) {
  const algorithms::DifferentiableStep* derivative = op.differentiable();
  ASSERT_NE(derivative, nullptr) << op.name();
  const Index W = op.width();
  const Index size = op.state_size() * W;
  const algorithms::Buffer z = block.state();
  const algorithms::Buffer cotangent = scattered(z.size(), 0);
  const algorithms::Buffer direction = scattered(z.size(), 1);
  const auto value = [&](double shift) {
    for (Index i = 0; i < size; ++i) block.z().data[i] = z[i] + shift * direction[i];
    block.step(last);
    algorithms::Buffer sums(static_cast<std::size_t>(W), 0.0);
    for (Index i = 0; i < size; ++i) sums[i % W] += cotangent[i] * block.state()[i];
    return sums;
  };
  const double h = 1e-7;
  const algorithms::Buffer above = value(h);
  const algorithms::Buffer below = value(-h);
  value(0);
  algorithms::Buffer pulled = cotangent;
  // The first call in a workspace may make room for derivatives.
  derivative->step_vjp(last, {z.data(), op.state_size(), W}, {pulled.data(), op.state_size(), W},
                       block.workspace());
  pulled = cotangent;
  const long before = allocations.load();
  derivative->step_vjp(last, {z.data(), op.state_size(), W}, {pulled.data(), op.state_size(), W},
                       block.workspace());
  EXPECT_EQ(allocations.load() - before, 0) << op.name() << ": step_vjp() allocates";
  for (Index lane = 0; lane < W; ++lane) {
    double exact = 0;
    for (Index i = lane; i < size; i += W) exact += pulled[i] * direction[i];
    const double difference = (above[lane] - below[lane]) / (2 * h);
    EXPECT_NEAR(exact, difference, tolerance * std::max(1.0, std::abs(difference)))
        << op.name() << ": step " << last << ", lane " << lane;
  }
}

/// The same for the first and for the last of `steps` steps from the operator's start, and both vjps of a
/// block give each instance the same bits as it gets alone. Nothing where the step has no derivative.
inline void expect_vjp_contract(const algorithms::Operator& op, Index steps, double tolerance) {
  const algorithms::DifferentiableStep* derivative = op.differentiable();
  if (derivative == nullptr) return;
  const Index W = op.width();
  const Index count = std::min(W, op.instances());
  const auto pulled_back = [&](Index first, Index instances, Index last) {
    OperatorBlock block(op, first, instances);
    for (Index k = 0; k < last; ++k) block.step(k);
    const algorithms::Buffer z = block.state();
    block.step(last);
    algorithms::Buffer cotangent = scattered(static_cast<std::size_t>(op.state_size()), 4);
    algorithms::Buffer pulled = algorithms::make_buffer(op.state_size(), W);
    for (Index i = 0; i < op.state_size() * W; ++i) pulled[i] = cotangent[i / W];
    derivative->step_vjp(last, {z.data(), op.state_size(), W}, {pulled.data(), op.state_size(), W},
                         block.workspace());
    return pulled;
  };
  for (const Index last : {Index{0}, steps - 1}) {
    OperatorBlock block(op, 0, count);
    for (Index k = 0; k < last; ++k) block.step(k);
    expect_vjp_matches_differences_at(op, block, last, tolerance);
    const algorithms::Buffer batch = pulled_back(0, count, last);
    for (Index column = 0; column < count; ++column) {
      const algorithms::Buffer alone = pulled_back(column, 1, last);
      for (Index i = 0; i < op.state_size(); ++i) {
        ASSERT_EQ(std::memcmp(&batch[i * W + column], &alone[i * W], sizeof(double)), 0)
            << op.name() << ": derivative by entry " << i << " of instance " << column << " is "
            << batch[i * W + column] << " in the batch and " << alone[i * W] << " alone, step " << last;
      }
    }
  }
}

/// Derivatives by means and by log variances of v'z^K summed over the lanes of a block, from the whole
/// reverse sweep, against central differences along directions, block of weights by block of weights. The
/// draws stay the same. Leaves the operator with the given weights.
inline void expect_weight_vjp_matches_differences(algorithms::LearnedOperator& op, Index steps,
                                                  const std::vector<double>& mean,
                                                  const std::vector<double>& variance, double tolerance) {
  const Index W = op.width();
  const Index rows = op.state_size();
  const Index count = std::min(W, op.instances());
  const std::size_t weights = mean.size();
  const algorithms::Buffer cotangent = scattered(static_cast<std::size_t>(rows * W), 2);
  const auto value = [&](const std::vector<double>& means, const std::vector<double>& variances) {
    op.assign(means, variances);
    OperatorBlock block(op, 0, count);
    for (Index k = 0; k < steps; ++k) block.step(k);
    double sum = 0;
    for (std::size_t i = 0; i < cotangent.size(); ++i) sum += cotangent[i] * block.state()[i];
    return sum;
  };
  op.assign(mean, variance);
  OperatorBlock block(op, 0, count);
  std::vector<algorithms::Buffer> states;
  for (Index k = 0; k < steps; ++k) {
    states.push_back(block.state());
    block.step(k);
  }
  algorithms::Buffer pulled = cotangent;
  for (Index k = steps - 1; k >= 0; --k) {
    op.step_vjp(k, {states[k].data(), rows, W}, {pulled.data(), rows, W}, block.workspace());
  }
  op.start_vjp({pulled.data(), rows, W}, block.workspace());
  std::vector<double> d_mean(weights, 0.0);
  std::vector<double> d_log_variance(weights, 0.0);
  op.collect(block.workspace(), d_mean, d_log_variance);
  std::vector<double> again(weights, 0.0);
  op.collect(block.workspace(), again, again);
  EXPECT_EQ(again, std::vector<double>(weights, 0.0)) << op.name() << ": collect() does not clear";

  const double h = 1e-7;
  for (std::size_t b = 0; b < op.weights().blocks.size(); ++b) {
    const auto first = static_cast<std::size_t>(op.weights().offset(b));
    const auto size = static_cast<std::size_t>(op.weights().blocks[b].size());
    const algorithms::Buffer direction = scattered(size, 3 + b);
    for (const bool of_mean : {true, false}) {
      std::vector<double> up_mean = mean;
      std::vector<double> down_mean = mean;
      std::vector<double> up_variance = variance;
      std::vector<double> down_variance = variance;
      double exact = 0;
      for (std::size_t i = first; i < first + size; ++i) {
        // A block may insist on one variance for all its weights: then the direction is the same for all.
        const double along = of_mean ? direction[i - first] : 1.0;
        exact += along * (of_mean ? d_mean[i] : d_log_variance[i]);
        (of_mean ? up_mean[i] : up_variance[i]) *= of_mean ? 1 : std::exp(h);
        (of_mean ? down_mean[i] : down_variance[i]) *= of_mean ? 1 : std::exp(-h);
        if (of_mean) up_mean[i] += h * along, down_mean[i] -= h * along;
      }
      const double difference = (value(up_mean, up_variance) - value(down_mean, down_variance)) / (2 * h);
      EXPECT_NEAR(exact, difference, tolerance * std::max(1.0, std::abs(difference)))
          << op.name() << ": block " << op.weights().blocks[b].name
          << (of_mean ? ", means" : ", log variances");
    }
  }
  op.assign(mean, variance);
}

/// Everything an operator must do; `solutions` may be empty if none are known.
inline void expect_operator_contract(const algorithms::Operator& op, const problems::Table& solutions = {},
                                     const OperatorContract& contract = {}) {
  EXPECT_TRUE(op.width() == 1 || (op.width() >= 4 && op.width() % 4 == 0)) << op.name() << ": " << op.width();
  EXPECT_LE(op.primal_size(), op.iterate_size());
  expect_batch_equals_columns(op, contract.steps);
  expect_blocks_leave_nothing_behind(op, contract.steps);
  expect_nan_is_seen(op);
  expect_no_allocation_in_step(op, contract.steps);
  expect_reloaded_lanes_equal_fresh(op, contract.steps);
  expect_read_write_round_trip(op, contract.steps);
  expect_vjp_contract(op, contract.steps, contract.gradient);
  if (solutions.size() > 0) expect_zero_residual_at(op, solutions, contract.fixed_point);
  const algorithms::DeclaredMap declared = op.declared_map();
  EXPECT_NE(declared.map == nullptr, declared.why_not.empty())
      << op.name() << ": a class, or why there is none";
  if (declared.map) expect_averaged_as_declared(op, *declared.map);
}

}  // namespace surefoot::testing
