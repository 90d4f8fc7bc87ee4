#include "surefoot/algorithms/detail/osqp_averaging.hpp"

#include "surefoot/bounds/worst_case.hpp"
#include "surefoot/runs/solve_qp.hpp"
#include "surefoot/testing/operator_contract.hpp"

#include "support/input_error.hpp"
#include "support/random_problems.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <vector>

namespace surefoot::algorithms {
namespace {

using problems::Vector;

/// Iterates 0 .. steps of OSQP on the first instance, and the residuals that the operator reports.
struct OsqpRun {
  OsqpRun(const problems::Qp& problem, const OsqpOptions& options, Index steps, const Vector& start) {
    const Osqp op(problem, options);
    testing::OperatorBlock block(op, 0, 1);
    const Index width = op.width();
    for (Index i = 0; i < start.size(); ++i) block.z().row(i)[0] = start[i];
    const auto keep = [&] {
      Vector z(op.state_size());
      for (Index i = 0; i < z.size(); ++i) z[i] = block.z().data[i * width];
      iterates.push_back(z);
    };
    keep();
    for (Index k = 0; k < steps; ++k) {
      block.step(k);
      residuals.push_back(block.residual()[0]);
      keep();
    }
  }
  std::vector<Vector> iterates;
  std::vector<double> residuals;
};

problems::Qp small_qp(std::uint64_t seed) {
  return testing::random_qp(seed, 6, 9, 1, 0.6);
}

OsqpOptions random_options(RandomStream& stream) {
  OsqpOptions options = OsqpOptions::paper();
  options.rho = std::pow(10.0, stream.uniform(-1.5, 1.5));
  options.sigma = std::pow(10.0, stream.uniform(-2, 1));
  options.alpha = stream.uniform(0.5, 1.95);
  options.equality_factor = stream.uniform() < 0.5 ? 1 : 30;
  options.loose_rho = stream.uniform() < 0.5 ? 0 : 1e-2;
  return options;
}

// From consistent starts and from others: in the norm and the variables in which OSQP is averaged, and by
// the factor in the Euclidean norm of its residual, no step of any random QP is longer than the rate says.
TEST(OsqpAveraging, RandomQpsNeverExceedTheWorstCase) {
  double closest = 0;
  Index inconsistent_starts = 0;
  for (std::uint64_t seed = 0; seed < 60; ++seed) {
    RandomStream stream(seed, "osqp-averaging", 0);
    const problems::Qp problem = small_qp(seed);
    const OsqpOptions options = random_options(stream);
    const OsqpAveraging averaging(problem, 0, options);
    const Vector solution = runs::solve_qp(problem).row(0);
    Vector start = Vector::Zero(solution.size());
    if (seed % 2 == 0) {
      for (double& number : start) number = 3 * stream.normal();
    }
    const OsqpRun run(problem, options, 200, start);
    const bool consistent = averaging.consistent(run.iterates[0].data());
    inconsistent_starts += consistent ? 0 : 1;
    const std::size_t from = consistent ? 0 : 1;
    ASSERT_TRUE(averaging.consistent(run.iterates[1].data())) << seed;
    const double dist0 = averaging.distance(run.iterates[from].data(), solution.data());
    for (std::size_t k = from; k + 1 < run.iterates.size(); ++k) {
      const double bound =
          bounds::averaged_rate_residual(averaging.averagedness(), static_cast<Index>(k - from), dist0);
      const double step = averaging.step_norm(run.iterates[k + 1].data(), run.iterates[k].data());
      const double slack = 1e-9 * (1 + dist0);  // of the solution
      EXPECT_LE(step, bound + slack) << seed << " " << k;
      EXPECT_LE(run.residuals[k], averaging.euclidean_factor() * (bound + slack)) << seed << " " << k;
      closest = std::max(closest, step / bound);
    }
  }
  EXPECT_GT(closest, 0.5);  // it is a bound of these runs, not of anything much larger
  EXPECT_GT(inconsistent_starts, 10);
}

// What the tables said before: the distance over (x, y, w). min 1/2 x^2 - 2 x with x <= 1, rho = sigma =
// alpha = 1, ends at (x, y, w) = (1, 1, 1), at a distance of sqrt(3) from 0 over (x, y, w), of sqrt(5) in
// (x, v). Among such small problems steps 1.6 times as long as that version of the bound are found.
TEST(OsqpAveraging, TheDistanceOverTheWholeIterateIsExceeded) {
  double worst = 0;
  for (std::uint64_t seed = 0; seed < 300; ++seed) {
    // One variable, one bound, from a start near the solution.
    RandomStream stream(seed, "exceeded", 0);
    problems::Qp problem;
    problem.P = {problems::Matrix::Constant(1, 1, std::pow(10.0, stream.uniform(-2, 0))).sparseView()};
    problem.A = {problems::Matrix::Constant(1, 1, stream.uniform(0.2, 2)).sparseView()};
    problem.q = problems::Table::Constant(1, 1, -3 * stream.uniform());
    problem.l = problems::Table::Constant(1, 1, -infinity);
    problem.u = problems::Table::Constant(1, 1, stream.uniform());
    const OsqpOptions options = OsqpOptions::paper();
    const OsqpAveraging averaging(problem, 0, options);
    const Vector solution = runs::solve_qp(problem).row(0);
    Vector start = solution;
    for (double& number : start) number += 0.1 * stream.normal();
    const OsqpRun run(problem, options, 20, start);
    const double euclidean = (start - solution).norm();
    const double dist1 = averaging.distance(run.iterates[1].data(), solution.data());
    for (Index k = 0; k < 20; ++k) {
      const auto row = static_cast<std::size_t>(k);
      worst = std::max(worst, run.residuals[row] / bounds::averaged_rate_residual(0.5, k, euclidean));
      if (k == 0) continue;
      EXPECT_LE(run.residuals[row], bounds::averaged_rate_residual(0.5, k - 1, dist1) + 1e-9) << seed << k;
    }
  }
  EXPECT_GT(worst, 1.5);
}

TEST(OsqpAveraging, NamesWhatIsWrong) {
  const problems::Qp problem = small_qp(1);
  using test_support::input_error;
  EXPECT_EQ(input_error([&] { OsqpAveraging(problem, 0, OsqpOptions::package()); }),
            "scaling: is 10, must be 0: equilibrated OSQP is averaged in other units");
  EXPECT_EQ(input_error([&] { OsqpAveraging(problem, 1, OsqpOptions::paper()); }),
            "instance: 1 is outside 0 .. 0");
}

}  // namespace
}  // namespace surefoot::algorithms
