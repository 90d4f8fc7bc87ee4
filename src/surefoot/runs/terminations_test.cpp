#include "surefoot/runs/terminations.hpp"

#include "surefoot/algorithms/osqp.hpp"
#include "surefoot/runs/named_metric.hpp"

#include "support/input_error.hpp"
#include "support/random_problems.hpp"

#include <gtest/gtest.h>

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
