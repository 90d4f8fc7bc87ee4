#pragma once

#include "surefoot/algorithms/buffer.hpp"
#include "surefoot/algorithms/operator.hpp"
#include "surefoot/problems/matrix.hpp"

#include "support/allocation_count.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstring>

namespace surefoot::testing {

struct OperatorContract {
  Index steps = 25;           ///< steps that are tried
  double fixed_point = 1e-8;  ///< residual allowed at a solution
  double gradient = 1e-5;     ///< relative error allowed of a vjp against central differences
};

/// A block of an operator: workspace and state.
class OperatorBlock {
 public:
  OperatorBlock(const algorithms::Operator& op, Index first, Index count)
      : op_(op),
        workspace_(op.make_workspace()),
        state_(algorithms::make_buffer(op.state_size(), op.width())),
        residual_(static_cast<std::size_t>(op.width()), -1.0) {
    op.load(first, count, *workspace_);
    op.start(z(), *workspace_);
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
      for (const Index lane : {Index{0}, W - 1}) {
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

inline void expect_no_allocation_in_step(const algorithms::Operator& op, Index steps) {
  OperatorBlock block(op, 0, std::min(op.width(), op.instances()));
  block.step(0);
  const long before = allocations.load();
  for (Index k = 1; k <= steps; ++k) block.step(k);
  EXPECT_EQ(allocations.load() - before, 0) << op.name() << ": step() allocates";
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

/// step_vjp against central differences of v'step(z) along random-like directions, if the step has one.
inline void expect_vjp_matches_differences(const algorithms::Operator& op, Index steps, double tolerance) {
  const algorithms::DifferentiableStep* derivative = op.differentiable();
  if (derivative == nullptr) return;
  const Index W = op.width();
  const Index size = op.state_size() * W;
  OperatorBlock block(op, 0, std::min(W, op.instances()));
  for (Index k = 0; k < steps; ++k) block.step(k);
  const algorithms::Buffer z = block.state();
  algorithms::Buffer cotangent(z.size());
  algorithms::Buffer direction(z.size());
  for (Index i = 0; i < size; ++i) {
    cotangent[i] = std::sin(1.0 + 0.7 * static_cast<double>(i));
    direction[i] = std::cos(2.0 + 1.3 * static_cast<double>(i));
  }
  const auto value = [&](double shift) {
    std::copy(z.begin(), z.end(), block.z().data);
    for (Index i = 0; i < size; ++i) block.z().data[i] += shift * direction[i];
    block.step(steps);
    algorithms::Buffer sums(static_cast<std::size_t>(W), 0.0);
    for (Index i = 0; i < size; ++i) sums[i % W] += cotangent[i] * block.state()[i];
    return sums;
  };
  const double h = 1e-6;
  const algorithms::Buffer above = value(h);
  const algorithms::Buffer below = value(-h);
  algorithms::Buffer pulled = cotangent;
  derivative->step_vjp(steps, {z.data(), op.state_size(), W}, {pulled.data(), op.state_size(), W},
                       block.workspace());
  for (Index lane = 0; lane < W; ++lane) {
    double exact = 0;
    for (Index i = lane; i < size; i += W) exact += pulled[i] * direction[i];
    const double difference = (above[lane] - below[lane]) / (2 * h);
    EXPECT_NEAR(exact, difference, tolerance * std::max(1.0, std::abs(difference)))
        << op.name() << " " << lane;
  }
}

/// Everything an operator must do; `solutions` may be empty if none are known.
inline void expect_operator_contract(const algorithms::Operator& op, const problems::Table& solutions = {},
                                     const OperatorContract& contract = {}) {
  EXPECT_GE(op.width(), 4);
  EXPECT_EQ(op.width() % 4, 0);
  EXPECT_LE(op.primal_size(), op.iterate_size());
  expect_batch_equals_columns(op, contract.steps);
  expect_no_allocation_in_step(op, contract.steps);
  expect_read_write_round_trip(op, contract.steps);
  expect_vjp_matches_differences(op, contract.steps, contract.gradient);
  if (solutions.size() > 0) expect_zero_residual_at(op, solutions, contract.fixed_point);
}

}  // namespace surefoot::testing
