#include "surefoot/runs/terminations.hpp"

#include "surefoot/algorithms/adaptive_scs.hpp"
#include "surefoot/algorithms/osqp.hpp"
#include "surefoot/core/parallel.hpp"
#include "surefoot/runs/named_metric.hpp"

#include "support/input_error.hpp"
#include "support/random_problems.hpp"
#include "support/thread_ranks.hpp"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <mutex>
#include <set>
#include <string>
#include <vector>

namespace surefoot::runs {
namespace {

using algorithms::Ending;
using algorithms::Osqp;
using algorithms::OsqpOptions;
using algorithms::SolverStatus;

TEST(Terminations, CountStatusesAndIterations) {
  Terminations all(5);
  const auto sink = all.sink();
  sink(0, {SolverStatus::solved, 50, 0.25, 0.5, 0.125, -1, 0.1, 0});
  sink(1, {SolverStatus::solved, 25, 0, 0, 0, 2, 0.1, 0});
  sink(2, {SolverStatus::maximum_iterations_reached, 100, 1, 1, 1, 1, 4, 2});
  sink(3, {SolverStatus::primal_infeasible, 75, 1, 1, 1, 1, 4, 1});
  const std::vector<std::pair<SolverStatus, Index>> expected{{SolverStatus::running, 1},
                                                             {SolverStatus::solved, 2},
                                                             {SolverStatus::primal_infeasible, 1},
                                                             {SolverStatus::maximum_iterations_reached, 1}};
  EXPECT_EQ(all.counts(), expected);
  EXPECT_EQ(all.iterations(0), 50);
  EXPECT_EQ(all.iterations(2), infinity) << "the test itself did not end it";
  EXPECT_EQ(all.iterations(4), infinity);
  EXPECT_EQ(all.iterations_of(0.2), 25);
  EXPECT_EQ(all.iterations_of(0.21), 50);
  EXPECT_EQ(all.iterations_of(0.6), 75);
  EXPECT_EQ(all.iterations_of(1.0), infinity);
  EXPECT_EQ(all.csv().substr(0, all.csv().find("\n1,")),
            "instance,status,iterations,prim_res,dual_res,duality_gap,obj_val,rho,rho_updates\n"
            "0,solved,50,0.25,0.5,0.125,-1,0.10000000000000001,0");
  EXPECT_NE(all.csv().find("\n2,maximum iterations reached,inf,1,"), std::string::npos);
}

TEST(Terminations, ABlockThatHasEndedIsNotRunFurtherAndRepeatsItsValues) {
  const problems::Qp family = testing::random_qp(9, 12, 10, 21, 0.4);
  OsqpOptions options = OsqpOptions::defaults();
  const Osqp free(family, options);
  options.stop = true;
  const Osqp op(family, options);
  RunOptions run_options;
  run_options.steps = 1000;
  Terminations ended(21);
  run_options.ending_sink = ended.sink();
  const std::vector<Metric> metrics{fixed_point_residual(), named_metric("prim_res", op, nullptr),
                                    named_metric("unsolved", op, nullptr)};
  const std::vector<Trace> stopped = run_traces(op, metrics, {}, run_options);
  run_options.ending_sink = nullptr;
  const std::vector<Trace> going = run_traces(free, metrics, {}, run_options);
  for (Index i = 0; i < 21; ++i) {
    ASSERT_EQ(ended[i].status, SolverStatus::solved);
    const Index last = ended[i].iterations;
    for (std::size_t metric = 0; metric < 3; ++metric) {
      const Index first = stopped[metric].first_step;
      for (Index k = first; k <= 1000; ++k) {
        const Index same = metric == 2 ? k : std::min(k, last);
        ASSERT_EQ(stopped[metric].values(i, k - first), going[metric].values(i, same - first))
            << "instance " << i << ", metric " << metric << ", step " << k;
      }
    }
    EXPECT_EQ(stopped[2].values(i, last - 1), 1.0);
    EXPECT_EQ(stopped[2].values(i, last), 0.0);
    EXPECT_NEAR(stopped[1].values(i, last), ended[i].primal_residual, 1e-15);
  }
}

/// Problems that need between few and very many iterations, some without a solution.
problems::Qp uneven_family(Index instances) {
  problems::Qp family = testing::random_qp(4, 12, 10, instances, 0.4);
  for (Index i = 0; i < instances; ++i) {
    family.q.row(i) *= std::pow(10.0, static_cast<double>(i * 7 % 11) - 5);
    family.l(i, 1) = -infinity;
    family.u(i, 1) = infinity;
    if (i % 9 != 4) continue;
    // Two rows that are the same, with bounds that exclude each other.
    family.l(i, 1) = family.u(i, 1) = 1;
    family.l(i, 0) = family.u(i, 0) = 2;
  }
  problems::Matrix A(family.A[0]);
  A.row(1) = A.row(0);
  family.A[0] = A.sparseView();
  return family;
}

/// Cone programs whose runs end at different times; some are infeasible.
problems::ConeProgram uneven_cone_programs(Index instances) {
  problems::Cones cones;
  cones.zero = 2;
  cones.nonnegative = 5;
  cones.second_order = {3};
  cones.semidefinite = {2};
  problems::ConeProgram family = testing::random_cone_program(7, 6, cones, instances, 0.5);
  problems::Matrix A(family.A[0]);
  A.row(1) = A.row(0);  // two rows that are the same
  family.A[0] = A.sparseView();
  for (Index i = 0; i < instances; ++i) {
    family.c.row(i) *= std::pow(4.0, static_cast<double>(i % 6 - 2));
    family.b(i, 1) = family.b(i, 0) + (i % 9 == 4 ? 1.0 : 0.0);
  }
  return family;
}

/// What a run hands out, as text: every bit of it.
struct Handed {
  explicit Handed(Index instances) : texts(static_cast<std::size_t>(instances)) {}
  void run_all(const algorithms::Operator& op, const Start& start, RunOptions options) {
    options.iterate_steps = {0, 3, 60, options.steps};
    std::mutex mutex;
    const auto add = [&](Index instance, const std::string& what, const double* numbers, Index count) {
      std::string text = what;
      for (Index i = 0; i < count; ++i) text += fmt::format(" {:a}", numbers[i]);
      const std::scoped_lock lock(mutex);
      texts[static_cast<std::size_t>(instance)].insert(text);
    };
    options.ending_sink = [&](Index instance, const Ending& ending) {
      const double numbers[] = {static_cast<double>(ending.status), static_cast<double>(ending.iterations),
                                ending.primal_residual, ending.objective, ending.rho};
      add(instance, "ending", numbers, 5);
    };
    const Solutions solutions = std::make_shared<const problems::Table>(
        problems::Table::Constant(op.instances(), op.primal_size(), 0.25));
    run(
        op,
        {fixed_point_residual(), named_metric("prim_res", op, nullptr), distance(solutions),
         named_metric("unsolved", op, nullptr)},
        start, options,
        [&](std::size_t metric, Index instance, const double* trace) {
          add(instance, fmt::format("metric {}", metric), trace, options.steps + (metric == 0 ? 0 : 1));
        },
        [&](std::size_t position, Index instance, const double* iterate) {
          add(instance, fmt::format("iterate {}", position), iterate, op.iterate_size());
        });
  }
  std::vector<std::multiset<std::string>> texts;
};

TEST(Terminations, LanesThatAreDoneTakeTheNextInstanceAndNoBitChanges) {
  const Index instances = 45;
  const problems::Qp family = uneven_family(instances);
  RandomStream random(3, "starts of terminations", 0);
  for (const bool scale_each : {true, false}) {
    OsqpOptions options = OsqpOptions::defaults();
    options.stop = true;
    options.check_termination = 5;
    options.adaptive_rho_interval = 20;
    options.scale_each = scale_each;
    options.max_iter = 400;
    if (!scale_each) options.equality_factor = 1;  // kinds of rows differ
    if (!scale_each) options.loose_rho = 0;
    const Osqp op(family, options);
    problems::Table points(instances, op.iterate_size());
    for (double& value : points.reshaped()) value = random.normal();
    for (const Start& start : {Start{}, given_start(points)}) {
      RunOptions run_options;
      run_options.steps = 400;
      // Each alone: nothing to take.
      Handed alone(instances);
      std::set<double> iterations;
      std::set<SolverStatus> statuses;
      for (Index i = 0; i < instances; ++i) {
        run_options.first = i;
        run_options.count = 1;
        alone.run_all(op, start, run_options);
        Terminations ended(instances);
        run_options.ending_sink = ended.sink();
        run(op, {}, start, run_options, nullptr);
        run_options.ending_sink = nullptr;
        iterations.insert(ended.iterations(i));
        statuses.insert(ended[i].status);
      }
      EXPECT_GT(iterations.size(), 4u) << "instances end at about the same time: the test shows nothing";
      EXPECT_GT(statuses.size(), 1u);
      run_options.first = run_options.count = 0;
      const int before = threads();
      for (const int team : {1, 2, 5}) {
        set_threads(team);
        Handed together(instances);
        together.run_all(op, start, run_options);
        EXPECT_EQ(together.texts, alone.texts) << team << " threads";
      }
      set_threads(before);
      std::mutex mutex;
      Handed shared(instances);
      test::ThreadRanks::run(3, [&] {
        RunOptions own = run_options;
        own.shared = true;
        Handed part(instances);
        part.run_all(op, start, own);
        const std::scoped_lock lock(mutex);
        for (std::size_t i = 0; i < shared.texts.size(); ++i) {
          shared.texts[i].insert(part.texts[i].begin(), part.texts[i].end());
        }
      });
      EXPECT_EQ(shared.texts, alone.texts) << "three processes";
    }
  }
}

TEST(Terminations, LanesOfScsThatAreDoneTakeTheNextInstanceAndNoBitChanges) {
  const Index instances = 37;
  const problems::ConeProgram family = uneven_cone_programs(instances);
  for (const Index lookback : {10, 3, 0}) {
    algorithms::ScsOptions options = algorithms::ScsOptions::defaults();
    options.stop = true;
    options.eps_abs = options.eps_rel = 1e-6;
    options.acceleration_lookback = lookback;
    options.acceleration_interval = lookback == 3 ? 3 : 5;  // 3: tests fall between
    const algorithms::AdaptiveScs op(family, options);
    RunOptions run_options;
    run_options.steps = 700;
    Handed alone(instances);
    std::set<Index> iterations;
    std::set<SolverStatus> statuses;
    run_options.count = 1;
    for (Index i = 0; i < instances; ++i) {
      run_options.first = i;
      alone.run_all(op, {}, run_options);
      Terminations ended(instances);
      run_options.ending_sink = ended.sink();
      run(op, {}, {}, run_options, nullptr);
      run_options.ending_sink = nullptr;
      iterations.insert(ended[i].iterations);
      statuses.insert(ended[i].status);
    }
    EXPECT_GT(iterations.size(), 4u) << "instances end at about the same time: the test shows nothing";
    EXPECT_GT(statuses.size(), 1u);
    run_options.first = run_options.count = 0;
    const int before = threads();
    for (const int team : {1, 2}) {
      set_threads(team);
      Handed together(instances);
      together.run_all(op, {}, run_options);
      EXPECT_EQ(together.texts, alone.texts) << team << " threads, lookback " << lookback;
    }
    set_threads(before);
  }
}

TEST(Terminations, RefilledLanesOfScsSaveSteps) {
  const Index count = 200;
  algorithms::ScsOptions options = algorithms::ScsOptions::defaults();
  options.stop = true;
  options.eps_abs = options.eps_rel = 1e-6;
  const algorithms::AdaptiveScs op(uneven_cone_programs(count), options);
  RunOptions run_options;
  run_options.steps = 1000;
  Terminations ended(count);
  run_options.ending_sink = ended.sink();
  Index made = 0;
  run_options.interrupt = [&] { ++made; };
  const int before = threads();
  set_threads(1);
  run(op, {}, {}, run_options, nullptr);
  set_threads(before);
  Index together = 0;  // blocks of eight that wait for their slowest
  const auto steps_of = [&](Index i) { return std::min<Index>(ended[i].iterations + 1, 1000); };
  for (Index first = 0; first < count; first += 8) {
    Index longest = 0;
    for (Index i = first; i < first + 8; ++i) longest = std::max(longest, steps_of(i));
    together += longest;
  }
  EXPECT_LT(made, together * 9 / 10);
}

TEST(Terminations, RefilledLanesSaveSteps) {
  const Index count = 400;
  const problems::Qp family = uneven_family(count);
  OsqpOptions options = OsqpOptions::defaults();
  options.stop = true;
  options.check_termination = 5;
  options.max_iter = 200;
  const Osqp op(family, options);
  RunOptions run_options;
  run_options.steps = 200;
  Terminations ended(count);
  run_options.ending_sink = ended.sink();
  Index made = 0;
  run_options.interrupt = [&] { ++made; };
  const int before = threads();
  set_threads(1);
  run(op, {}, {}, run_options, nullptr);
  set_threads(before);
  Index together = 0;  // blocks of eight that wait for their slowest
  Index needed = 0;
  for (Index first = 0; first < count; first += 8) {
    Index longest = 0;
    for (Index i = first; i < first + 8; ++i) {
      longest = std::max(longest, ended[i].iterations);
      needed += ended[i].iterations;
    }
    together += longest;
  }
  EXPECT_LT(made, together * 3 / 4) << needed / 8 << " are needed at least";
  EXPECT_GE(made, needed / 8);
}

TEST(Terminations, WhatIsNotWantedAnyMoreEndsTheRunAfterTheLanesThatRun) {
  const problems::Qp family = uneven_family(64);
  OsqpOptions options = OsqpOptions::defaults();
  options.stop = true;
  const Osqp op(family, options);
  RunOptions run_options;
  run_options.steps = 300;
  std::set<Index> given;
  Index blocks = 0;
  run_options.ending_sink = [&](Index instance, const Ending&) { given.insert(instance); };
  run_options.wanted = [&](Index first, Index count) {
    EXPECT_EQ(first % 8, 0);
    EXPECT_EQ(count, 8);
    if (first == 8) return false;
    if (++blocks == 4) throw Interrupted{};
    return true;
  };
  const int before = threads();
  set_threads(1);
  EXPECT_THROW(run(op, {}, {}, run_options, nullptr), Interrupted);
  set_threads(before);
  EXPECT_EQ(given.size(), 24u) << "three blocks had begun";
  EXPECT_FALSE(given.contains(8)) << "was not wanted";
}

TEST(Terminations, AreOfOperatorsWithAStoppingTest) {
  const Osqp op(testing::random_qp(9, 4, 3, 2), OsqpOptions::fixed());
  RunOptions options;
  Terminations all(2);
  options.ending_sink = all.sink();
  EXPECT_INPUT_ERROR(run(op, {}, {}, options, nullptr), "osqp has no stopping test");
  EXPECT_INPUT_ERROR(named_metric("unsolved", op, nullptr), "osqp has no unsolved with these settings");
}

}  // namespace
}  // namespace surefoot::runs
