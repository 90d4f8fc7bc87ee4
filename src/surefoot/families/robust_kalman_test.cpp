#include "surefoot/families/robust_kalman.hpp"

#include "surefoot/algorithms/scs.hpp"
#include "surefoot/runs/run.hpp"

#include <gtest/gtest.h>

#include <fstream>
#include <sstream>
#include <string>
#include <vector>

namespace surefoot::families {
namespace {

using problems::Table;

Table read_golden(const std::string& name) {
  std::ifstream file(std::string(SUREFOOT_SOURCE_DIR) + "/tests/golden/" + name);
  std::vector<std::vector<double>> rows;
  for (std::string line; std::getline(file, line);) {
    rows.emplace_back();
    std::istringstream cells(line);
    for (std::string cell; std::getline(cells, cell, ',');) rows.back().push_back(std::stod(cell));
  }
  Table table(rows.size(), rows.empty() ? 0 : rows[0].size());
  for (Index i = 0; i < table.rows(); ++i) {
    for (Index j = 0; j < table.cols(); ++j) table(i, j) = rows[i][j];
  }
  return table;
}

TEST(RobustKalman, ReproducesTheGoldenResidualsAndStates) {
  const Table observations = read_golden("rkf_observations.csv");
  const Table residuals = read_golden("rkf_residuals.csv");
  const Table states = read_golden("rkf_states_after_200.csv");
  ASSERT_EQ(observations.rows(), 3);
  const algorithms::Scs scs(RobustKalman().problem(observations), algorithms::ScsOptions::paper());
  runs::RunOptions options;
  options.steps = 200;
  const auto traces = runs::run_traces(scs, {runs::fixed_point_residual()}, {}, options);
  const Table iterates = runs::run_iterates(scs, {}, options);
  for (Index i = 0; i < 3; ++i) {
    for (Index k = 0; k < 200; ++k) {
      EXPECT_NEAR(traces[0].values(i, k), residuals(i, k), 1e-9 * residuals(i, k)) << i << " " << k;
    }
    for (Index j = 0; j < 200; ++j) EXPECT_NEAR(iterates(i, j), states(i, j), 1e-10) << i << " " << j;
  }
}

TEST(RobustKalman, SamplesDependOnTheirIndexOnlyAndHaveTheirSpread) {
  const RobustKalman family;
  const auto all = family.draw(7, 400);
  const auto part = family.draw(7, 5, 100);
  EXPECT_EQ(part.observations, all.observations.middleRows(100, 5));
  EXPECT_EQ(part.states, all.states.middleRows(100, 5));
  double squares = 0;
  for (Index i = 0; i < 400; ++i) {
    for (Index t = 0; t < 50; ++t) {
      for (Index axis = 0; axis < 2; ++axis) {
        const double error = all.observations(i, 2 * t + axis) - all.states(i, 4 * t + axis);
        squares += error * error;
      }
    }
  }
  // 0.9 * 0.1^2 + 0.1 * 0.5^2 = 0.034
  EXPECT_NEAR(squares / (400 * 100), 0.034, 0.003);
}

TEST(RobustKalman, SolvesToTheNinthDigitAndBothPenaltiesDiffer) {
  RobustKalmanOptions options;
  options.horizon = 12;
  const auto samples = RobustKalman(options).draw(3, 9);
  const algorithms::Scs code(RobustKalman(options).problem(samples.observations),
                             algorithms::ScsOptions::paper());
  options.true_huber = true;
  const algorithms::Scs huber(RobustKalman(options).problem(samples.observations),
                              algorithms::ScsOptions::paper());
  const Table a = runs::solve(code);
  const Table b = runs::solve(huber);
  EXPECT_GT((a - b).cwiseAbs().maxCoeff(), 1e-3);
  runs::RunOptions more;
  more.steps = 300;
  const Table refined = runs::run_iterates(code, runs::given_start(a), more);
  EXPECT_LT((refined - a).leftCols(4 * 12).cwiseAbs().maxCoeff(), 1e-9);
}

}  // namespace
}  // namespace surefoot::families
