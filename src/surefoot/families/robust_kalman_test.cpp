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

}  // namespace
}  // namespace surefoot::families
