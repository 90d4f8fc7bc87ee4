#include "surefoot/algorithms/adaptive_scs.hpp"

#include "surefoot/runs/metric.hpp"
#include "surefoot/runs/run.hpp"
#include "surefoot/runs/solve_cone.hpp"
#include "surefoot/runs/terminations.hpp"
#include "surefoot/testing/operator_contract.hpp"

#include "support/input_error.hpp"
#include "support/random_problems.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <set>

namespace surefoot::algorithms {
namespace {

using testing::OperatorBlock;

problems::Cones mixed_cones() {
  problems::Cones cones;
  cones.zero = 3;
  cones.nonnegative = 4;
  cones.second_order = {3, 1, 4};
  cones.semidefinite = {2, 3};
  return cones;
}

/// Changes its scale often: numbers of very different sizes.
problems::ConeProgram uneven_family(Index instances) {
  problems::ConeProgram problem = testing::random_cone_program(2, 15, mixed_cones(), instances, 0.3);
  problem.c *= 40;
  problem.P[0] *= 0.01;
  return problem;
}

/// minimise -x subject to x <= b_0 and -x <= b_1: infeasible for b_0 < -b_1; unbounded without the first.
problems::ConeProgram bounds_family(const std::vector<std::pair<double, double>>& bounds) {
  problems::ConeProgram problem;
  problem.P.emplace_back(1, 1);
  problem.A.emplace_back(2, 1);
  problem.A[0].insert(0, 0) = 1;
  problem.A[0].insert(1, 0) = -1;
  problem.b = problems::Table(static_cast<Index>(bounds.size()), 2);
  for (std::size_t i = 0; i < bounds.size(); ++i)
    problem.b.row(static_cast<Index>(i)) << bounds[i].first, bounds[i].second;
  problem.c = problems::Table::Constant(1, 1, -1.0);
  problem.cones.nonnegative = 2;
  return problem;
}

Index lanes_that_changed_scale(const AdaptiveScs& op, Index steps) {
  const Index count = std::min(op.width(), op.instances());
  OperatorBlock block(op, 0, count);
  for (Index k = 0; k < steps; ++k) block.step(k);
  Index changed = 0;
  for (Index lane = 0; lane < count; ++lane) changed += op.ending(block.z(), lane).rho_updates > 0 ? 1 : 0;
  return changed;
}

TEST(AdaptiveScs, PassesTheContractWhileLanesChangeTheirScale) {
  const problems::ConeProgram family = uneven_family(11);
  for (const bool stop : {false, true}) {
    ScsOptions options = ScsOptions::defaults();
    options.stop = stop;
    if (stop) options.eps_abs = options.eps_rel = 1e-9;
    const AdaptiveScs op(family, options);
    EXPECT_GT(lanes_that_changed_scale(op, 130), 0);
    testing::expect_operator_contract(op, {}, {.steps = 130});
  }
}

TEST(AdaptiveScs, PassesTheContractWithOwnMatricesAndConesOfThreeRows) {
  problems::Cones cones;
  cones.zero = 1;
  cones.exponential = 1;
  cones.dual_exponential = 1;
  cones.power = {0.3, -0.6};
  problems::ConeProgram problem = testing::random_cone_program(5, 7, cones, 9, 0.6);
  for (std::uint64_t i = 1; i < 9; ++i)
    problem.A.push_back(problem.A[0] * (1.0 + 0.1 * static_cast<double>(i)));
  testing::expect_operator_contract(AdaptiveScs(problem), {}, {.steps = 60});
  testing::expect_operator_contract(Scs(problem, ScsOptions::fixed()), {}, {.steps = 20});
}

TEST(AdaptiveScs, WithNothingToAdaptItIsTheFixedSolver) {
  const problems::ConeProgram family = testing::random_cone_program(2, 15, mixed_cones(), 6, 0.3);
  ScsOptions nothing = ScsOptions::fixed();
  nothing.check_termination = true;
  const AdaptiveScs op(family, nothing);
  const Scs fixed(family, ScsOptions::fixed());
  OperatorBlock mine(op, 0, 6);
  OperatorBlock theirs(fixed, 0, 6);
  for (Index k = 0; k < 80; ++k) {
    mine.step(k);
    theirs.step(k);
    for (Index lane = 0; lane < 6; ++lane)
      EXPECT_NEAR(mine.residual()[lane], theirs.residual()[lane], 1e-8 * (1 + theirs.residual()[lane])) << k;
  }
  const Buffer a = mine.iterate();
  const Buffer b = theirs.iterate();
  ASSERT_EQ(a.size(), b.size());
  for (std::size_t i = 0; i < a.size(); ++i) EXPECT_NEAR(a[i], b[i], 1e-7 * (1 + std::abs(b[i])));
}

TEST(AdaptiveScs, ReachesTheSolutionsOfTheFixedSolver) {
  const problems::ConeProgram family = testing::random_cone_program(2, 15, mixed_cones(), 10, 0.3);
  const problems::Table solutions = runs::solve_cone(family, ScsOptions::fixed());
  runs::RunOptions options;
  options.steps = 3000;
  const problems::Table reached = runs::run_iterates(AdaptiveScs(family), {}, options);
  const double scale = 1 + solutions.cwiseAbs().maxCoeff();
  EXPECT_LT((reached - solutions).cwiseAbs().maxCoeff(), 1e-6 * scale);
  testing::expect_zero_residual_at(AdaptiveScs(family), solutions, 1e-6 * scale);
}

TEST(AdaptiveScs, SaysWhatIsInfeasibleAndUnbounded) {
  const double no_bound = 1e20;
  problems::ConeProgram family = bounds_family({{1, 1}, {-2, 1}, {0.5, 3}, {-1, 0.5}});
  ScsOptions options = ScsOptions::defaults();
  const AdaptiveScs op(family, options);
  runs::Terminations ended(4);
  runs::RunOptions run_options;
  run_options.steps = 400;
  run_options.ending_sink = ended.sink();
  runs::run(op, {}, {}, run_options, nullptr);
  EXPECT_EQ(ended[0].status, SolverStatus::solved);
  EXPECT_NEAR(ended[0].objective, -1, 1e-3);
  EXPECT_EQ(ended[1].status, SolverStatus::infeasible);
  EXPECT_EQ(ended[2].status, SolverStatus::solved);
  EXPECT_EQ(ended[3].status, SolverStatus::infeasible);
  EXPECT_EQ(ended.csv("scs").substr(0, ended.csv("scs").find('\n')),
            "instance,status,iterations,prim_res,dual_res,duality_gap,obj_val,scale,scale_updates");
  EXPECT_EQ(static_cast<Index>(ended.iterations(0)) % 25, 0);
  // Without the upper bound.
  problems::ConeProgram open;
  open.P.emplace_back(1, 1);
  open.A.emplace_back(1, 1);
  open.A[0].insert(0, 0) = -1;
  open.b = problems::Table::Ones(2, 1);
  open.c = problems::Table::Constant(1, 1, -1.0);
  open.cones.nonnegative = 1;
  runs::Terminations unbounded(2);
  run_options.ending_sink = unbounded.sink();
  runs::run(AdaptiveScs(open), {}, {}, run_options, nullptr);
  EXPECT_EQ(unbounded[1].status, SolverStatus::unbounded);
  EXPECT_LT(unbounded.iterations(1), no_bound);
}

TEST(AdaptiveScs, ObeyingTheTestRepeatsThePointWhereItEnded) {
  const problems::ConeProgram family = uneven_family(9);
  ScsOptions options = ScsOptions::defaults();
  const AdaptiveScs recorded(family, options);
  options.stop = true;
  const AdaptiveScs obeyed(family, options);
  OperatorBlock free(recorded, 0, 8);
  OperatorBlock ending(obeyed, 0, 8);
  std::vector<Buffer> points;
  std::set<Index> iterations;
  for (Index k = 0; k < 600; ++k) {
    free.step(k);
    ending.step(k);
    points.push_back(free.iterate());
  }
  ASSERT_TRUE(obeyed.finished(ending.z(), 8));
  EXPECT_FALSE(recorded.finished(free.z(), 8));
  const Buffer last = ending.iterate();
  for (Index lane = 0; lane < 8; ++lane) {
    const Ending ended = obeyed.ending(ending.z(), lane);
    EXPECT_EQ(ended.status, SolverStatus::solved);
    EXPECT_EQ(ended.iterations, recorded.ending(free.z(), lane).iterations);
    iterations.insert(ended.iterations);
    for (Index i = 0; i < obeyed.iterate_size(); ++i)
      EXPECT_EQ(last[i * 8 + lane], points[static_cast<std::size_t>(ended.iterations)][i * 8 + lane]);
  }
  EXPECT_GT(iterations.size(), 1u);
}

TEST(AdaptiveScs, ReportsLargestEntriesOfTheReturnedPoint) {
  const problems::ConeProgram family = testing::random_cone_program(2, 15, mixed_cones(), 8, 0.3);
  ScsOptions apart = ScsOptions::fixed();
  for (const bool adaptive : {true, false}) {
    const auto op = make_scs(family, adaptive ? ScsOptions::defaults() : apart);
    OperatorBlock block(*op, 0, 8);
    op->prepare_measures(block.workspace());
    for (Index k = 0; k < 30; ++k) block.step(k);
    const Buffer iterate = block.iterate();
    const Index W = op->width();
    const Index n = family.variables();
    const Index m = family.constraints();
    for (Index lane = 0; lane < 8; ++lane) {
      problems::Vector point(n + 2 * m);
      for (Index i = 0; i < n + 2 * m; ++i) point[i] = iterate[i * W + lane];
      const problems::Vector x = point.head(n);
      const problems::Vector y = point.segment(n, m);
      const problems::Vector b = family.b.row(lane).transpose();
      const problems::Vector c = family.c.row(lane).transpose();
      const problems::Vector Px = family.P[0] * x;
      const auto measured = [&](Quantity quantity) {
        std::vector<double> value(static_cast<std::size_t>(W));
        op->measure(quantity, 30, block.z(), block.workspace(), value.data());
        return value[static_cast<std::size_t>(lane)];
      };
      const problems::Vector primal = family.A[0] * x + point.tail(m) - b;
      const problems::Vector dual = Px + family.A[0].transpose() * y + c;
      EXPECT_NEAR(measured(Quantity::prim_res), primal.cwiseAbs().maxCoeff(), 1e-10);
      EXPECT_NEAR(measured(Quantity::dual_res), dual.cwiseAbs().maxCoeff(), 1e-10);
      EXPECT_NEAR(measured(Quantity::duality_gap), std::abs(x.dot(Px) + c.dot(x) + b.dot(y)), 1e-9);
      EXPECT_NEAR(measured(Quantity::primal_residual), primal.norm(), 1e-10);
      EXPECT_NEAR(measured(Quantity::dual_residual), dual.norm(), 1e-10);
      EXPECT_NEAR(measured(Quantity::objective), 0.5 * x.dot(Px) + c.dot(x), 1e-9);
      const double tolerance =
          1e-4 + 1e-4 * std::max({b.cwiseAbs().maxCoeff(), point.tail(m).cwiseAbs().maxCoeff(),
                                  (family.A[0] * x).cwiseAbs().maxCoeff()});
      EXPECT_NEAR(measured(Quantity::prim_res_rel), primal.cwiseAbs().maxCoeff() / tolerance, 1e-6);
    }
  }
}

/// A small linear program whose second step has tau = 0: the package returns no point there, and solves it.
TEST(AdaptiveScs, AStepWithoutAPointIsNoDivergence) {
  problems::ConeProgram family;
  family.P.emplace_back(6, 6);
  problems::Matrix A = problems::Matrix::Zero(7, 6);
  A.row(0).setOnes();
  A.bottomRows(6) = -problems::Matrix::Identity(6, 6);
  family.A.push_back(A.sparseView());
  family.b = problems::Table::Zero(1, 7);
  family.b(0, 0) = 1;
  RandomStream stream(5, "costs of a small program", 0);
  family.c = problems::Table(24, 6);
  for (double& value : family.c.reshaped()) value = stream.normal() - 0.3;
  family.cones.zero = 1;
  family.cones.nonnegative = 6;
  for (const bool adaptive : {true, false}) {
    const auto op = make_scs(family, adaptive ? ScsOptions::defaults() : ScsOptions::fixed());
    runs::RunOptions options;
    options.steps = 3000;
    const auto traces = runs::run_traces(*op, {runs::quantity(Quantity::constraint_violation)}, {}, options);
    const problems::Table& values = traces[0].values;
    Index without = 0;
    for (Index i = 0; i < 24; ++i) {
      without += values.row(i).head(20).maxCoeff() > 1e12 ? 1 : 0;
      EXPECT_LT(values(i, values.cols() - 1), 1e-4) << "instance " << i << (adaptive ? "" : ", fixed");
    }
    EXPECT_GT(without, 0) << "no step without a point: the test shows nothing";
  }
}

TEST(AdaptiveScs, RefusesSettingsOutOfRange) {
  const problems::ConeProgram family = testing::random_cone_program(2, 15, mixed_cones(), 2, 0.3);
  const auto with = [&](auto change) {
    ScsOptions options = ScsOptions::defaults();
    change(options);
    return [&family, options] { const AdaptiveScs op(family, options); };
  };
  EXPECT_INPUT_ERROR(with([](ScsOptions& o) { o.acceleration_interval = 0; })(),
                     "acceleration_interval: is 0");
  EXPECT_INPUT_ERROR(with([](ScsOptions& o) { o.acceleration_lookback = -1; })(),
                     "acceleration_lookback: is -1");
  EXPECT_INPUT_ERROR(with([](ScsOptions& o) { o.acceleration_relaxation = 3; })(),
                     "acceleration_relaxation: is 3");
  EXPECT_INPUT_ERROR(with([](ScsOptions& o) { o.eps_infeas = -1; })(), "eps_infeas: is -1");
  EXPECT_INPUT_ERROR(with([](ScsOptions& o) { o.max_iters = 0; })(), "max_iters: is 0");
  EXPECT_INPUT_ERROR(with([](ScsOptions& o) { o.system = SystemKind::dense; })(), "need the kind kkt");
  EXPECT_INPUT_ERROR(Scs(family, ScsOptions::defaults()), "are of AdaptiveScs");
}

}  // namespace
}  // namespace surefoot::algorithms
