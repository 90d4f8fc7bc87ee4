#include "surefoot/runs/run.hpp"

#include "surefoot/algorithms/gradient_descent.hpp"
#include "surefoot/algorithms/osqp.hpp"
#include "surefoot/algorithms/scs.hpp"
#include "surefoot/core/error.hpp"
#include "surefoot/core/parallel.hpp"
#include "surefoot/runs/named_metric.hpp"
#include "surefoot/runs/solve_cone.hpp"
#include "surefoot/runs/solve_qp.hpp"
#include "surefoot/runs/tally.hpp"

#include "support/input_error.hpp"
#include "support/random_problems.hpp"
#include "support/thread_ranks.hpp"

#include <Eigen/LU>
#include <gtest/gtest.h>

#include <atomic>
#include <cstring>
#include <mutex>
#include <set>

namespace surefoot::runs {
namespace {

using algorithms::GradientDescent;
using algorithms::Osqp;
using algorithms::OsqpOptions;
using algorithms::Quantity;
using problems::Matrix;
using problems::Table;
using problems::Vector;

problems::Quadratic quadratic(Index n, Index instances) {
  RandomStream stream(21, "run-test", 0);
  const Matrix factor = testing::random_matrix(stream, n, n);
  return {factor * factor.transpose() + Matrix::Identity(n, n), testing::random_matrix(stream, instances, n)};
}

Solutions shared(Table table) {
  return std::make_shared<const Table>(std::move(table));
}

TEST(Run, IsTheSameBitsWhateverTheThreads) {
  const problems::Qp problem = testing::random_qp(1, 12, 9, 61, 0.4);
  const Osqp op(problem, OsqpOptions::package());
  RunOptions options;
  options.steps = 40;
  const std::vector<Metric> metrics = {fixed_point_residual(), quantity(Quantity::primal_residual)};
  std::vector<Trace> reference;
  for (const int team : {1, 2, 5}) {
    set_threads(team);
    const std::vector<Trace> traces = run_traces(op, metrics, {}, options);
    if (reference.empty()) reference = traces;
    for (std::size_t i = 0; i < metrics.size(); ++i) {
      EXPECT_EQ(std::memcmp(traces[i].values.data(), reference[i].values.data(),
                            sizeof(double) * static_cast<std::size_t>(traces[i].values.size())),
                0);
    }
  }
  set_threads(0);
}

TEST(Run, RowsCountStepsByTheConvention) {
  const problems::Quadratic problem = quadratic(5, 3);
  const GradientDescent op(problem);
  const Table minimisers = (-problem.P.fullPivLu().solve(Matrix(problem.c.transpose()))).transpose();
  RunOptions options;
  options.steps = 7;
  const auto traces =
      run_traces(op, {fixed_point_residual(), distance(shared(minimisers))}, cold_start(), options);
  EXPECT_EQ(traces[0].first_step, 1);
  EXPECT_EQ(traces[0].values.cols(), 7);
  EXPECT_EQ(traces[1].first_step, 0);
  EXPECT_EQ(traces[1].values.cols(), 8);
  Vector z = Vector::Zero(5);
  EXPECT_NEAR(traces[1].values(2, 0), minimisers.row(2).norm(), 1e-14);
  for (Index k = 1; k <= 7; ++k) {
    const Vector next = z - op.step_size() * (problem.P * z + problem.c.row(2).transpose());
    EXPECT_NEAR(traces[0].values(2, k - 1), (next - z).norm(), 1e-13);
    z = next;
    EXPECT_NEAR(traces[1].values(2, k), (z.transpose() - minimisers.row(2)).norm(), 1e-13);
  }
}

TEST(Run, DivergenceIsInfinityFromThenOn) {
  problems::Quadratic problem = quadratic(4, 5);
  problem.c.row(1).setZero();  // stays at its solution, beside neighbours that blow up
  const GradientDescent op(problem, {1e60});
  RunOptions options;
  options.steps = 30;
  // A running maximum from zero passes over NaN; the run must not take it for a success.
  const Metric largest = own_metric("largest", [](const MetricInput& input, double* value) {
    std::fill_n(value, input.count, 0.0);
    for (Index i = 0; i < input.iterate.rows; ++i) {
      for (Index j = 0; j < input.count; ++j) {
        const double entry = std::abs(input.iterate.row(i)[j]);
        if (entry > value[j] && std::isfinite(entry)) value[j] = entry;
      }
    }
  });
  const auto traces =
      run_traces(op, {fixed_point_residual(), quantity(Quantity::objective), largest}, {}, options);
  for (const Trace& trace : traces) {
    for (const Index instance : {0, 2, 3, 4}) {
      EXPECT_TRUE(std::isfinite(trace.values(instance, 0)));
      EXPECT_EQ(trace.values(instance, trace.values.cols() - 1), infinity);
      bool failed = false;
      for (Index k = 0; k < trace.values.cols(); ++k) {
        EXPECT_FALSE(std::isnan(trace.values(instance, k)));
        failed = failed || std::isinf(trace.values(instance, k));
        EXPECT_EQ(failed, std::isinf(trace.values(instance, k)));
      }
    }
    EXPECT_EQ(trace.values(1, trace.values.cols() - 1), 0);
  }
}

TEST(Run, MetricsAgreeWithTheirDefinitions) {
  const problems::Qp problem = testing::random_qp(3, 10, 8, 9, 0.6);
  const Osqp op(problem, OsqpOptions::package());
  const Table solutions = solve_qp(problem);
  Table optima(9, 1);
  for (Index i = 0; i < 9; ++i) {
    const Vector x = solutions.row(i).head(10).transpose();
    optima(i, 0) = 0.5 * x.dot(problem.P[0] * x) + problem.q.row(i).dot(x);
  }
  const auto norm_of_first_two = [](const MetricInput& input, double* value) {
    for (Index lane = 0; lane < input.iterate.width; ++lane) {
      value[lane] = std::hypot(input.iterate.row(0)[lane], input.iterate.row(1)[lane]);
    }
  };
  const std::vector<Metric> metrics = {distance(shared(solutions.leftCols(10))),
                                       nmse(shared(solutions.leftCols(10))),
                                       block_distance(shared(solutions.middleCols(2, 6)), 3, 2),
                                       objective_gap(shared(optima)),
                                       own_metric("norm", norm_of_first_two),
                                       quantity(Quantity::constraint_violation),
                                       quantity(Quantity::primal_residual),
                                       quantity(Quantity::dual_residual)};
  RunOptions options;
  options.steps = 12;
  const auto traces = run_traces(op, metrics, {}, options);
  const Table iterates = run_iterates(op, {}, options);
  for (Index i = 0; i < 9; ++i) {
    const Vector x = iterates.row(i).head(10).transpose();
    const Vector y = iterates.row(i).segment(10, 8).transpose();
    const Vector w = iterates.row(i).tail(8).transpose();
    const Vector error = x - solutions.row(i).head(10).transpose();
    const auto last = [&](std::size_t metric) { return traces[metric].values(i, 12); };
    EXPECT_NEAR(last(0), error.norm(), 1e-12);
    EXPECT_NEAR(last(1), 20 * std::log10(error.norm() / solutions.row(i).head(10).norm()), 1e-9);
    EXPECT_NEAR(last(2), std::max(error.segment(2, 3).norm(), error.segment(5, 3).norm()), 1e-12);
    EXPECT_NEAR(last(3), std::abs(0.5 * x.dot(problem.P[0] * x) + problem.q.row(i).dot(x) - optima(i, 0)),
                1e-10);
    EXPECT_NEAR(last(4), x.head(2).norm(), 1e-14);
    const Vector product = problem.A[0] * x;
    const double violation = std::max({0.0, (problem.l.row(i).transpose() - product).maxCoeff(),
                                       (product - problem.u.row(i).transpose()).maxCoeff()});
    EXPECT_NEAR(last(5), violation, 1e-11);
    EXPECT_NEAR(last(6), (product - w).norm(), 1e-11);
    const Vector gradient = problem.P[0] * x + problem.q.row(i).transpose() + problem.A[0].transpose() * y;
    EXPECT_NEAR(last(7), gradient.norm(), 1e-9 * (1 + gradient.norm()));
  }
}

TEST(Run, GivesIteratesOfAskedStepsAndPartsOfTheFamily) {
  const GradientDescent op(quadratic(4, 40));
  RunOptions options;
  options.steps = 9;
  options.first = 3;
  options.count = 35;
  options.iterate_steps = {0, 4, 9};
  std::mutex mutex;
  std::set<std::pair<std::size_t, Index>> seen;
  run(op, {}, {}, options, nullptr, [&](std::size_t position, Index instance, const double* iterate) {
    const std::scoped_lock lock(mutex);
    EXPECT_TRUE(seen.insert({position, instance}).second);
    if (position == 0) {
      EXPECT_EQ(iterate[0], 0);
    }
  });
  EXPECT_EQ(seen.size(), 3U * 35U);
  EXPECT_EQ(seen.begin()->second, 3);
  options.iterate_steps.clear();
  const Table part = run_iterates(op, {}, options);
  options.first = 0;
  options.count = 0;
  const Table all = run_iterates(op, {}, options);
  EXPECT_EQ(part, all.middleRows(3, 35));
}

TEST(Run, StartsFromGivenNearestAndPreviousIterates) {
  const problems::Quadratic problem = quadratic(4, 6);
  const GradientDescent op(problem);
  const Table minimisers = (-problem.P.fullPivLu().solve(Matrix(problem.c.transpose()))).transpose();
  RunOptions options;
  options.steps = 1;
  const auto at_solution = run_traces(op, {fixed_point_residual()}, given_start(minimisers), options);
  EXPECT_LT(at_solution[0].values.maxCoeff(), 1e-13);

  Table base_parameters = problem.c.colwise().reverse();
  base_parameters.array() += 1e-3;
  const Start nearest = nearest_neighbour_start(problem.c, base_parameters, minimisers.colwise().reverse());
  EXPECT_EQ(*nearest.iterates, minimisers);
}

TEST(Run, EndsWithWhatAnInterruptionThrows) {
  struct Stopped {};
  const GradientDescent op(quadratic(5, 61));
  RunOptions options;
  options.steps = 100'000'000;  // never reached
  std::atomic<int> calls{0};
  options.interrupt = [&] {
    if (++calls > 1000) throw Stopped();
  };
  for (const int team : {1, 3}) {
    set_threads(team);
    calls = 0;
    EXPECT_THROW(run_iterates(op, {}, options), Stopped);
  }
  set_threads(0);
  SolveOptions solve_options;
  solve_options.interrupt = options.interrupt;
  EXPECT_THROW(solve(op, solve_options), Stopped);
  QpSolveOptions qp_options;
  qp_options.interrupt = options.interrupt;
  EXPECT_THROW(solve_qp(testing::random_qp(1, 4, 3, 5, 0.4), qp_options), Stopped);
}

TEST(Metric, NamesAreKnownOrListed) {
  const Osqp op(testing::random_qp(1, 6, 4, 9, 0.4), OsqpOptions::defaults());
  const auto solve_all = [&] { return Table(Table::Zero(op.instances(), op.iterate_size())); };
  EXPECT_EQ(metric_names().size(), 15U);
  for (const std::string& name : metric_names()) EXPECT_FALSE(named_metric(name, op, solve_all).name.empty());
  EXPECT_EQ(named_metric("prim_res", op, solve_all).quantity, Quantity::prim_res);
  EXPECT_EQ(named_metric("dual_res", op, solve_all).quantity, Quantity::dual_res);
  EXPECT_EQ(named_metric("duality_gap", op, solve_all).quantity, Quantity::duality_gap);
  EXPECT_EQ(named_metric("prim_res_rel", op, solve_all).quantity, Quantity::prim_res_rel);
  EXPECT_EQ(named_metric("dual_res_rel", op, solve_all).quantity, Quantity::dual_res_rel);
  EXPECT_EQ(named_metric("duality_gap_rel", op, solve_all).quantity, Quantity::duality_gap_rel);
  EXPECT_EQ(named_metric("unsolved", op, solve_all).quantity, Quantity::unsolved);
  EXPECT_EQ(named_metric("residual", op, solve_all).kind, Metric::Kind::residual);
  EXPECT_EQ(named_metric("primal", op, solve_all).quantity, Quantity::primal_residual);
  EXPECT_EQ(named_metric("dual", op, solve_all).quantity, Quantity::dual_residual);
  EXPECT_EQ(named_metric("optimality", op, solve_all).quantity, Quantity::optimality_residual);
  EXPECT_EQ(named_metric("violation", op, solve_all).quantity, Quantity::constraint_violation);
  EXPECT_EQ(named_metric("gap", op, solve_all).kind, Metric::Kind::objective_gap);
  EXPECT_EQ(named_metric("distance", op, solve_all).kind, Metric::Kind::distance);
  EXPECT_EQ(named_metric("nmse", op, solve_all).kind, Metric::Kind::nmse);
  EXPECT_INPUT_ERROR(named_metric("speed", op, solve_all), "metric: 'speed' is not one of");
}

TEST(Run, RefusesWhatDoesNotFit) {
  const GradientDescent op(quadratic(4, 6));
  EXPECT_INPUT_ERROR(run_traces(op, {quantity(Quantity::primal_residual)}),
                     "operator gradient-descent does not know it");
  EXPECT_INPUT_ERROR(run_traces(op, {distance(shared(Table::Zero(5, 4)))}),
                     "reference has 5 rows, must have 6");
  EXPECT_INPUT_ERROR(run_traces(op, {distance(shared(Table::Zero(6, 4)), 1)}),
                     "4 entries from 1 on must lie in an iterate of 4");
  EXPECT_INPUT_ERROR(run_traces(op, {fixed_point_residual()}, given_start(Table::Zero(6, 3))),
                     "start: is 6 x 3, must be 6 x 4");
  RunOptions options;
  options.count = 7;
  EXPECT_INPUT_ERROR(run_traces(op, {fixed_point_residual()}, {}, options),
                     "count: is 7, there are 6 instances");
}

TEST(Solve, ReachesTheResidualOrSaysWhichInstanceDoesNot) {
  const GradientDescent op(quadratic(4, 6));
  const Table solutions = solve(op);
  RunOptions options;
  options.steps = 1;
  EXPECT_LT(run_traces(op, {fixed_point_residual()}, given_start(solutions), options)[0].values.maxCoeff(),
            1e-12);
  EXPECT_INPUT_ERROR(solve(op, {1e-12, 3}), "max_steps: after 3 steps");
}

// An objective times a tiny number has the same solutions; one that is judged absolutely is solved by
// anything.
TEST(SolveQp, TinyObjectivesAreSolvedOrRefused) {
  for (const double tiny : {1e-6, 1e-9, 1e-11, 1e-12, 1e-15}) {
    problems::Qp problem;
    problems::SparseMatrix identity(2, 2);
    identity.setIdentity();
    problem.P = {problems::SparseMatrix(tiny * identity)};
    problem.A = {identity};
    problem.q.resize(1, 2);
    problem.q << -tiny * 1.25, -tiny * 1.75;
    problem.l = problems::Table::Constant(1, 2, -10);
    problem.u = problems::Table::Constant(1, 2, 10);
    try {
      const Table solutions = solve_qp(problem);
      EXPECT_NEAR(solutions(0, 0), 1.25, 1e-6) << tiny;
      EXPECT_NEAR(solutions(0, 1), 1.75, 1e-6) << tiny;
    } catch (const InputError& error) {
      EXPECT_LT(tiny, 1e-6) << error.what();
    }
    // And what is no solution is never taken for one.
    const problems::Vector zero = problems::Vector::Zero(2);
    EXPECT_GT(qp_error(problem, 0, zero, zero), 0.1) << tiny;
  }
}

TEST(SolveCone, TinyObjectivesAreSolvedOrRefused) {
  for (const double tiny : {1.0, 1e-12, 1e-17}) {
    problems::ConeProgram problem;  // minimize tiny/2 |x|^2 - tiny (1.25 x_1 + 1.75 x_2), x <= 10
    problems::SparseMatrix identity(2, 2);
    identity.setIdentity();
    problem.P = {problems::SparseMatrix(tiny * identity)};
    problem.A = {identity};
    problem.b = problems::Table::Constant(1, 2, 10);
    problem.c.resize(1, 2);
    problem.c << -tiny * 1.25, -tiny * 1.75;
    problem.cones.nonnegative = 2;
    const algorithms::Scs scs(problem, algorithms::ScsOptions::paper());
    try {
      const Table solutions = solve_cone(scs, problem);
      EXPECT_NEAR(solutions(0, 0), 1.25, 1e-4) << tiny;
    } catch (const InputError& error) {
      EXPECT_LT(tiny, 1.0) << error.what();
      EXPECT_NE(std::string(error.what()).find("instance 0"), std::string::npos) << error.what();
    }
  }
}

TEST(SolveQp, IsAccurateForAllKindsOfRows) {
  for (std::uint64_t seed = 0; seed < 8; ++seed) {
    const problems::Qp problem = testing::random_qp(seed, 14, 11, 4, 0.5, seed % 2 == 0 ? -1 : 6);
    const Table solutions = solve_qp(problem);
    for (Index i = 0; i < 4; ++i) {
      EXPECT_LT(qp_error(problem, i, solutions.row(i).head(14).transpose(),
                         solutions.row(i).segment(14, 11).transpose()),
                1e-10)
          << seed << " " << i;
    }
  }
}

TEST(Run, IsTheSameBitsWhateverTheProcesses) {
  const problems::Qp problem = testing::random_qp(1, 12, 9, 61, 0.4);
  RunOptions options;
  options.steps = 40;
  options.first = 3;
  const Osqp op(problem, OsqpOptions::package());
  const Table solutions = solve_qp(problem);
  const Table iterates = run_iterates(op, {}, options);
  const Table traces = run_traces(op, {fixed_point_residual()}, {}, options).front().values;
  TallySpec spec;
  for (Index k = 1; k <= options.steps; ++k) spec.steps.push_back(k);
  spec.tolerances = {1e-4, 1e-2};
  spec.claim_columns = {10, 39};
  Tally counted(spec);
  for (Index i = 0; i < traces.rows(); ++i) counted.add_run(traces.data() + i * traces.cols());
  const auto same = [](const Table& a, const Table& b) {
    return a.size() == b.size() &&
           std::memcmp(a.data(), b.data(), sizeof(double) * static_cast<std::size_t>(a.size())) == 0;
  };
  for (const int processes : {2, 3, 20}) {
    std::atomic<int> agree = 0;
    std::atomic<Index> instances = 0;
    test::ThreadRanks::run(processes, [&] {
      const Osqp own_op(problem, OsqpOptions::package());
      RunOptions own = options;
      own.shared = true;
      Tally tally(spec);
      run(own_op, {fixed_point_residual()}, {}, own, [&](std::size_t, Index, const double* trace) {
        tally.add_run(trace);
        ++instances;
      });
      const bool fits =
          same(solve_qp(problem), solutions) && same(run_iterates(own_op, {}, options), iterates) &&
          same(run_traces(own_op, {fixed_point_residual()}, {}, options).front().values, traces) &&
          sum_over_ranks(std::move(tally)).state() == counted.state();
      agree += fits ? 1 : 0;
    });
    EXPECT_EQ(agree, processes);
    EXPECT_EQ(instances, 58) << "each instance in one process";
  }
}

// Whoever gives rows of a smaller table would otherwise be written past the end of this one.
TEST(Run, RowsOfAnotherTableAreRefused) {
  std::atomic<int> refused = 0;
  test::ThreadRanks::run(2, [&] {
    problems::Table rows = problems::Table::Zero(ranks().first() ? 3 : 5, 2);
    const Part own = ranks().first() ? Part{0, 3} : Part{2, 3};
    try {
      share_rows(rows, own);
    } catch (const std::logic_error&) {
      ++refused;
    }
  });
  EXPECT_EQ(refused, 1);
}

}  // namespace
}  // namespace surefoot::runs
