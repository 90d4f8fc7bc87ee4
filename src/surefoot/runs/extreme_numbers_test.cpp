// NaN, infinities, numbers whose squares overflow and numbers that are no longer normal, in every entry of
// every operator and seen by every metric: never a success.

#include "surefoot/algorithms/code_networks.hpp"
#include "surefoot/algorithms/fista.hpp"
#include "surefoot/algorithms/gradient_descent.hpp"
#include "surefoot/algorithms/ista.hpp"
#include "surefoot/algorithms/maml.hpp"
#include "surefoot/algorithms/osqp.hpp"
#include "surefoot/algorithms/scs.hpp"
#include "surefoot/algorithms/warm_start.hpp"
#include "surefoot/families/sinusoids.hpp"
#include "surefoot/families/sparse_coding.hpp"
#include "surefoot/runs/run.hpp"

#include "support/input_error.hpp"
#include "support/random_problems.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <memory>
#include <string>
#include <vector>

namespace surefoot::runs {
namespace {

using algorithms::Batch;
using algorithms::ConstBatch;
using algorithms::Operator;
using algorithms::Quantity;
using algorithms::Workspace;
using problems::Matrix;
using problems::Table;

constexpr double nan_value = std::numeric_limits<double>::quiet_NaN();
constexpr Index steps = 6;
constexpr Index struck = 2;  ///< steps after which a number is put into the state

Solutions shared_table(Table table) {
  return std::make_shared<const Table>(std::move(table));
}

/// An operator of one instance, in whose state entry `entry` becomes `number` after `struck` steps.
class Struck final : public Operator {
 public:
  Struck(std::shared_ptr<const Operator> op, Index entry, double number)
      : op_(std::move(op)), entry_(entry), number_(number) {}
  [[nodiscard]] std::string_view name() const override { return op_->name(); }
  [[nodiscard]] Index instances() const override { return op_->instances(); }
  [[nodiscard]] Index state_size() const override { return op_->state_size(); }
  [[nodiscard]] Index iterate_size() const override { return op_->iterate_size(); }
  [[nodiscard]] Index primal_size() const override { return op_->primal_size(); }
  [[nodiscard]] Index width() const override { return op_->width(); }
  [[nodiscard]] std::unique_ptr<Workspace> make_workspace() const override { return op_->make_workspace(); }
  void load(Index first, Index count, Workspace& workspace) const override {
    op_->load(first, count, workspace);
    if (const auto* learned = dynamic_cast<const algorithms::LearnedOperator*>(op_.get())) {
      learned->use_means(workspace);
    }
  }
  void start(Batch z, Workspace& workspace) const override { op_->start(z, workspace); }
  void step(Index k, Batch z, Workspace& workspace, double* residual) const override {
    op_->step(k, z, workspace, residual);
    if (k + 1 == struck && entry_ >= 0) z.row(entry_)[0] = number_;
  }
  void read(ConstBatch z, Workspace& workspace, Index first, Index count, double* out) const override {
    op_->read(z, workspace, first, count, out);
  }
  void write(ConstBatch iterate, Workspace& workspace, Batch z) const override {
    op_->write(iterate, workspace, z);
  }
  [[nodiscard]] bool knows(Quantity quantity) const override { return op_->knows(quantity); }
  void prepare_measures(Workspace& workspace) const override { op_->prepare_measures(workspace); }
  void measure(Quantity quantity, Index k, ConstBatch z, Workspace& workspace, double* value) const override {
    op_->measure(quantity, k, z, workspace, value);
  }

 private:
  std::shared_ptr<const Operator> op_;
  Index entry_;
  double number_;
};

problems::Cones every_cone() {
  problems::Cones cones;
  cones.zero = 1;
  cones.nonnegative = 2;
  cones.second_order = {3};
  cones.semidefinite = {2};
  return cones;
}

problems::Quadratic quadratic() {
  RandomStream stream(1, "extreme", 0);
  const Matrix root = testing::random_matrix(stream, 4, 4);
  return {root * root.transpose() + Matrix::Identity(4, 4), testing::random_matrix(stream, 1, 4)};
}

std::shared_ptr<const Operator> gradient_descent() {
  return std::make_shared<algorithms::GradientDescent>(quadratic());
}

problems::Lasso lasso() {
  RandomStream stream(2, "extreme", 0);
  return {testing::random_matrix(stream, 5, 4), testing::random_matrix(stream, 1, 5), 0.1};
}

std::shared_ptr<const Operator> osqp(algorithms::OsqpOptions options, algorithms::SystemKind kind) {
  options.system = kind;
  return std::make_shared<algorithms::Osqp>(testing::random_qp(3, 4, 6, 1, 0.7), options);
}

std::shared_ptr<const Operator> scs(algorithms::ScsOptions options) {
  return std::make_shared<algorithms::Scs>(testing::random_cone_program(4, 5, every_cone(), 1), options);
}

std::shared_ptr<const Operator> learned(std::shared_ptr<algorithms::LearnedOperator> op, double deviation) {
  algorithms::InitialWeights begin = op->initial();
  RandomStream stream(5, "extreme", 0);
  for (double& weight : begin.mean) weight += deviation * stream.normal();
  op->assign(begin.mean, std::vector<double>(begin.mean.size(), 1e-6));
  return op;
}

std::shared_ptr<const Operator> code_network(const std::string& name) {
  const auto codes = std::make_shared<problems::SparseCodes>(
      families::SparseCoding(2, {.measurements = 6, .variables = 9, .density = 0.3})
          .draw(families::SampleSet::training, 1));
  return learned(algorithms::make_code_network(name, codes, {.steps = steps}), 0.0);
}

std::shared_ptr<const Operator> maml() {
  const auto tasks = std::make_shared<problems::RegressionTasks>(
      families::Sinusoids().draw(1, families::SampleSet::training, 1).tasks);
  return learned(algorithms::make_maml(tasks, {}), 0.1);
}

std::shared_ptr<const Operator> warm_start() {
  return learned(std::make_shared<algorithms::WarmStart>(gradient_descent(), shared_table(quadratic().c),
                                                         algorithms::WarmStartOptions{}),
                 0.1);
}

struct Named {
  std::string name;
  std::shared_ptr<const Operator> op;
};

std::vector<Named> all_operators() {
  using algorithms::OsqpOptions;
  using algorithms::ScsOptions;
  using algorithms::SystemKind;
  std::vector<Named> all{{"gradient descent", gradient_descent()},
                         {"ista", std::make_shared<algorithms::Ista>(lasso())},
                         {"fista", std::make_shared<algorithms::Fista>(lasso())},
                         {"osqp, sparse", osqp(OsqpOptions::paper(), SystemKind::sparse)},
                         {"osqp, dense", osqp(OsqpOptions::paper(), SystemKind::dense)},
                         {"osqp, kkt, scaled", osqp(OsqpOptions::package(), SystemKind::kkt)},
                         {"osqp, as installed", osqp(OsqpOptions::defaults(), SystemKind::kkt)},
                         {"scs, paper", scs(ScsOptions::paper())},
                         {"scs, package", scs(ScsOptions::package())},
                         {"maml", maml()},
                         {"warm start", warm_start()}};
  for (const std::string_view name : algorithms::code_network_names) {
    all.push_back({std::string(name), code_network(std::string(name))});
  }
  return all;
}

/// Every kind of metric, and every quantity that the operator knows.
std::vector<Metric> all_metrics(const Operator& op) {
  const Index size = op.iterate_size();
  RandomStream stream(6, "extreme", 0);
  const Solutions near = shared_table(testing::random_matrix(stream, 1, size));
  std::vector<Metric> metrics{fixed_point_residual(), distance(near), nmse(near), block_distance(near, 1),
                              own_metric("sum of squares", [](const MetricInput& input, double* value) {
                                for (Index lane = 0; lane < input.iterate.width; ++lane) {
                                  value[lane] = 0;
                                  for (Index i = 0; i < input.iterate.rows; ++i) {
                                    value[lane] += input.iterate.row(i)[lane] * input.iterate.row(i)[lane];
                                  }
                                }
                              })};
  for (const Quantity quantity :
       {Quantity::objective, Quantity::primal_residual, Quantity::dual_residual,
        Quantity::constraint_violation, Quantity::optimality_residual, Quantity::largest_error,
        Quantity::prim_res, Quantity::dual_res, Quantity::duality_gap, Quantity::prim_res_rel,
        Quantity::dual_res_rel, Quantity::duality_gap_rel}) {
    if (op.knows(quantity)) metrics.push_back(runs::quantity(quantity));
  }
  if (op.knows(Quantity::objective))
    metrics.push_back(objective_gap(shared_table(Table::Constant(1, 1, 0.3))));
  return metrics;
}

std::vector<Trace> struck_traces(const Named& subject, Index entry, double number) {
  const Struck op(subject.op, entry, number);
  RunOptions options;
  options.steps = steps;
  return run_traces(op, all_metrics(op), {}, options);
}

double value_at(const Trace& trace, Index k) {
  return trace.values(0, k - trace.first_step);
}

/// All entries of a small state, some of a large one.
std::vector<Index> tried_entries(Index size) {
  std::vector<Index> entries;
  for (Index i = 0; i < size; i += 1 + size / 40) entries.push_back(i);
  return entries;
}

bool compares(const Trace& trace) {
  return trace.metric == "distance to the solution" || trace.metric == "NMSE" ||
         trace.metric == "largest block distance";
}

class ExtremeNumbers : public ::testing::TestWithParam<std::size_t> {
 protected:
  Named subject_ = all_operators()[GetParam()];
};

TEST_P(ExtremeNumbers, RunsAreFiniteWithoutThem) {
  for (const Trace& trace : struck_traces(subject_, -1, 0)) {
    for (Index k = trace.first_step; k <= steps; ++k) {
      EXPECT_TRUE(std::isfinite(value_at(trace, k))) << subject_.name << ", " << trace.metric << ", " << k;
    }
  }
}

TEST_P(ExtremeNumbers, NanAndInfinityFailFromTheNextStepOn) {
  for (const double number : {nan_value, infinity, -infinity}) {
    for (const Index entry : tried_entries(subject_.op->state_size())) {
      for (const Trace& trace : struck_traces(subject_, entry, number)) {
        const bool seen = compares(trace) && entry < subject_.op->iterate_size();
        // What does not enter the iterate (a momentum) may take one step more until it is seen.
        const Index from = seen ? struck : struck + (entry < subject_.op->iterate_size() ? 1 : 2);
        for (Index k = from; k <= steps; ++k) {
          EXPECT_EQ(value_at(trace, k), infinity)
              << subject_.name << ", " << trace.metric << ", entry " << entry << " = " << number << ", " << k;
        }
      }
    }
  }
}

TEST_P(ExtremeNumbers, WhatOverflowsFails) {
  for (const double number : {1e308, -1e308, 1e200}) {
    for (const Index entry : tried_entries(subject_.op->iterate_size())) {
      const std::vector<Trace> traces = struck_traces(subject_, entry, number);
      for (const Trace& trace : traces) {
        for (Index k = struck; k <= steps; ++k) {
          // A weight of a unit that no point switches on stays as it is, and nothing but distances sees it.
          const bool moved = k > struck && value_at(traces[0], k) == infinity;
          const double least = moved ? infinity : trace.unit == "dB" ? 1000 : 1e190;
          if (!moved && !compares(trace) && (k == struck || subject_.name == "maml")) continue;
          EXPECT_GE(value_at(trace, k), least)
              << subject_.name << ", " << trace.metric << ", entry " << entry << " = " << number << ", " << k;
        }
      }
    }
  }
}

TEST_P(ExtremeNumbers, WhatIsNoLongerNormalIsAsZero) {
  for (const double number : {5e-324, -1e-310}) {
    for (const Index entry : tried_entries(subject_.op->iterate_size())) {
      const std::vector<Trace> zero = struck_traces(subject_, entry, 0.0);
      const std::vector<Trace> tiny = struck_traces(subject_, entry, number);
      for (std::size_t i = 0; i < zero.size(); ++i) {
        for (Index k = zero[i].first_step; k <= steps; ++k) {
          const double expected = value_at(zero[i], k);
          if (expected == value_at(tiny[i], k)) continue;
          EXPECT_NEAR(value_at(tiny[i], k), expected, 1e-12 * (1 + std::abs(expected)))
              << subject_.name << ", " << zero[i].metric << ", entry " << entry << ", " << k;
        }
      }
    }
  }
}

INSTANTIATE_TEST_SUITE_P(Operators, ExtremeNumbers, ::testing::Range<std::size_t>(0, 15));

TEST(ExtremeNumbersList, IsWhole) {
  EXPECT_EQ(all_operators().size(), 15U);
}

/// Metric of a start against a solution, both of two entries, without any step.
double measured(const std::function<Metric(Solutions)>& metric, double z0, double z1, double s0, double s1) {
  const algorithms::GradientDescent op(problems::Quadratic{Matrix::Identity(2, 2), Table::Zero(1, 2)});
  RunOptions options;
  options.steps = 0;
  Table start(1, 2);
  start << z0, z1;
  Table solution(1, 2);
  solution << s0, s1;
  return run_traces(op, {metric(shared_table(solution))}, given_start(start), options)[0].values(0, 0);
}

TEST(Nmse, IsRightForNumbersOfAnySizeAndFailsWithoutOne) {
  const auto decibels = [](double z0, double z1, double s0, double s1) {
    return measured([](Solutions solutions) { return nmse(std::move(solutions)); }, z0, z1, s0, s1);
  };
  EXPECT_EQ(decibels(0, 0, 3, 4), 0);
  for (const double size : {1e-320, 1e-200, 1e-160, 1.0, 1e160, 1e300, 1e307}) {
    EXPECT_NEAR(decibels(0, 0, 3 * size, 4 * size), 0, 1e-2) << size;
    EXPECT_EQ(decibels(3 * size, 4 * size, 3 * size, 4 * size), -3000) << size;
  }
  EXPECT_NEAR(decibels(3.3e160, 4.4e160, 3e160, 4e160), -20, 1e-9);
  EXPECT_NEAR(decibels(3.3e-200, 4.4e-200, 3e-200, 4e-200), -20, 1e-9);
  EXPECT_NEAR(decibels(1e100, 0, 1e-100, 0), 4000, 1e-9);
  EXPECT_GT(decibels(1, 0, 1e-320, 0), 6000);
  EXPECT_EQ(decibels(0, 0, 0, 0), infinity);  // 0/0
  EXPECT_EQ(decibels(1e-300, 0, 0, 0), infinity);
  EXPECT_EQ(decibels(1, 2, nan_value, 1), infinity);
  EXPECT_EQ(decibels(1, 2, infinity, 1), infinity);
  EXPECT_EQ(decibels(-1e308, 0, 1e308, 0), infinity);
}

TEST(Distance, IsRightForNumbersOfAnySize) {
  const auto far = [](double z0, double z1, double s0, double s1) {
    return measured([](Solutions solutions) { return distance(std::move(solutions)); }, z0, z1, s0, s1);
  };
  for (const double size : {1e-300, 1e-200, 1.0, 1e200, 1e300}) {
    EXPECT_NEAR(far(3 * size, -4 * size, 0, 0), 5 * size, 1e-12 * size) << size;
  }
  EXPECT_EQ(far(5e-324, 0, 0, 0), 5e-324);
  EXPECT_EQ(far(1e308, 0, -1e308, 0), infinity);
  EXPECT_EQ(far(0, 0, nan_value, 0), infinity);
}

TEST(BlockDistance, KeepsANanOfAnyBlock) {
  const auto largest = [](double s0, double s1) {
    return measured([](Solutions solutions) { return block_distance(std::move(solutions), 1); }, 0, 0, s0,
                    s1);
  };
  EXPECT_EQ(largest(nan_value, 1), infinity);
  EXPECT_EQ(largest(1, nan_value), infinity);
  EXPECT_EQ(largest(1e-200, 2e-200), 2e-200);
}

TEST(Start, ThatIsNotFiniteIsRefused) {
  const auto solver = gradient_descent();
  for (const double number : {nan_value, infinity, -infinity}) {
    Table start = Table::Zero(1, 4);
    start(0, 2) = number;
    EXPECT_INPUT_ERROR(run_traces(*solver, {fixed_point_residual()}, given_start(start)),
                       fmt::format("start: entry 2 of instance 0 is {}, must be finite", number));
  }
}

}  // namespace
}  // namespace surefoot::runs
