#include "surefoot/algorithms/scs.hpp"
#include "surefoot/bounds/worst_case.hpp"
#include "surefoot/families/robust_kalman.hpp"
#include "surefoot/runs/run.hpp"

#include "reproduce.hpp"

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include <memory>
#include <string>
#include <utility>
#include <vector>

namespace reproduce {

using namespace surefoot;

namespace {

constexpr Index paper_horizon = 500;
constexpr Index quick_horizon = 200;
constexpr Index pictured_step = 30;
constexpr Index mistaken_numbers = 100;
constexpr Index mistaken_block = 2;
constexpr Index state_block = 4;

std::shared_ptr<const problems::Table> first_columns(const problems::Table& table, Index columns) {
  return std::make_shared<const problems::Table>(table.leftCols(columns));
}

std::vector<Subject> subjects(const problems::Table& solutions, Index state_entries) {
  const std::vector<double> tolerances{1e-4, 1e-3, 1e-2};
  std::vector<double> distances = tolerances;
  distances.push_back(1e-1);  // the radius of the paper's picture
  runs::Metric states = runs::block_distance(first_columns(solutions, state_entries), state_block);
  states.name = "largest state distance";
  runs::Metric pairs = runs::block_distance(first_columns(solutions, mistaken_numbers), mistaken_block);
  pairs.name = "largest distance of 50 pairs";
  return {{"residual", runs::fixed_point_residual(), tolerances, {}},
          {"states", std::move(states), distances, {pictured_step}},
          {"pairs", std::move(pairs), tolerances, {pictured_step}}};
}

std::string run_json(const Settings& settings, Index steps) {
  return nlohmann::ordered_json{{"experiment", "robust-kalman"},
                                {"family", "robust Kalman filter, T = 50, the paper's penalty"},
                                {"solver", "SCS, identity scaling, alpha = 1, cold start"},
                                {"samples", settings.samples},
                                {"steps", steps},
                                {"seed", settings.seed}}
      .dump();
}

}  // namespace

void robust_kalman(const Settings& settings) {
  const Index steps =
      settings.steps > 0 ? settings.steps : (settings.scale == "quick" ? quick_horizon : paper_horizon);
  const families::RobustKalman family;
  const auto samples = family.draw(settings.seed, settings.samples);
  const algorithms::Scs scs(family.problem(samples.observations), algorithms::ScsOptions::paper());
  const problems::Table solutions = runs::solve(scs);
  runs::RunOptions options;
  options.steps = steps;
  const std::vector<Measured> measured = measure(scs, subjects(solutions, family.state_entries()), options);
  const double dist0 = bounds::estimated_initial_distance(solutions.rowwise().norm().maxCoeff());

  Output output(settings.folder);
  ComparisonPlan residual{"Iterations until a share of problems has a fixed-point residual below a tolerance",
                          paper::robust_kalman_residual()};
  residual.dist0 = dist0;
  residual.explanation = "another draw of the same family";
  output.add(compare(measured[0], "residual", residual));
  ComparisonPlan pairs{"The same for the paper's metric: largest distance of 50 pairs of numbers",
                       paper::robust_kalman_pairs()};
  pairs.paper_observed_samples = 10;
  pairs.explanation = "the paper observed its sample of 10 only";
  output.add(compare(measured[2], "pairs", pairs));
  ComparisonPlan states{"The same for the metric that the paper defines: largest distance of the 50 states",
                        paper::robust_kalman_pairs()};
  states.same_metric = false;
  output.add(compare(measured[1], "states", states));
  output.add(certificate_of(measured[0], "SCS on robust Kalman filtering", "SCS", run_json(settings, steps)),
             "", {});
}

}  // namespace reproduce
