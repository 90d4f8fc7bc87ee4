#include "surefoot/families/robust_kalman.hpp"

#include "surefoot/algorithms/scs.hpp"
#include "surefoot/bounds/risk.hpp"
#include "surefoot/bounds/worst_case.hpp"
#include "surefoot/core/number_text.hpp"
#include "surefoot/experiments/experiment.hpp"
#include "surefoot/experiments/host.hpp"
#include "surefoot/runs/run.hpp"

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include <algorithm>
#include <cmath>
#include <memory>
#include <string>
#include <utility>
#include <vector>

namespace surefoot::experiments {

namespace {

constexpr Index robust_kalman_horizon = 500;
constexpr Index robust_kalman_quick_horizon = 200;
constexpr Index state_block = 4;         ///< position and velocity
constexpr Index mistaken_numbers = 100;  ///< what the paper's table took for the states
constexpr Index mistaken_block = 2;
constexpr Index pictured_step = 30;
constexpr Index pictured_problems = 3;
constexpr double pictured_quantile = 0.9;
constexpr double paper_radius = 0.1;  ///< of the balls in the paper's picture

std::shared_ptr<const problems::Table> first_columns(const problems::Table& table, Index columns) {
  return std::make_shared<const problems::Table>(table.leftCols(columns));
}

std::vector<Subject> state_subjects(const problems::Table& solutions, Index state_entries) {
  const std::vector<double> tolerances{1e-4, 1e-3, 1e-2};
  std::vector<double> distances = tolerances;
  distances.push_back(paper_radius);
  runs::Metric states = runs::block_distance(first_columns(solutions, state_entries), state_block);
  states.name = "largest state distance";
  runs::Metric pairs = runs::block_distance(first_columns(solutions, mistaken_numbers), mistaken_block);
  pairs.name = "largest distance of 50 pairs";
  return {{"residual", runs::fixed_point_residual(), tolerances, {}},
          {"states", std::move(states), distances, {pictured_step}},
          {"pairs", std::move(pairs), distances, {pictured_step}}};
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

void add_tables(Output& output, const std::vector<Measured>& measured, double dist0) {
  ComparisonPlan residual{"Iterations until a share of problems has a fixed-point residual below a tolerance",
                          PaperTable("robust_kalman/paper_residual.csv")};
  residual.worst_case = {
      dist0,
      "no theorem says that SCS, normalised and divided by eta, keeps to this rate (steps 19 times as long "
      "were seen), and the distance is 1.1 times the largest solution norm seen"};
  residual.explanation = "another draw of the same family";
  output.add(compare(measured[0], "residual", residual));
  ComparisonPlan pairs{
      "The same for what the paper's table measures: largest distance of 50 pairs, the first 100 numbers",
      PaperTable("robust_kalman/paper_pairs.csv")};
  pairs.paper_observed_samples = 10;
  pairs.explanation = "the paper's observed column is of its 10 samples, ours of all";
  output.add(compare(measured[2], "pairs", pairs));
  ComparisonPlan states{"The same for the metric that the paper defines: largest distance of the 50 states",
                        PaperTable("robust_kalman/paper_pairs.csv")};
  states.same_metric = false;
  output.add(compare(measured[1], "states", states));
}

/// The paper's sentence about its picture, for one metric.
std::string radius_sentence(const Measured& measured, const char* what) {
  const runs::Tally& tally = measured.tallies.back();
  const std::vector<Index>& steps = tally.spec().steps;
  const auto column =
      static_cast<std::size_t>(std::find(steps.begin(), steps.end(), pictured_step) - steps.begin());
  const Index failures = tally.failures(column, measured.subject.tolerances.size() - 1);
  const auto certified = [&](bounds::RiskMethod method) {
    return lower_bound_percent(bounds::success_lower_bound(failures, tally.samples(), claim_delta, method));
  };
  return fmt::format(
      "  {}: observed {}, at least {} (exact), {} (kl)\n", what,
      observed_percent(1 - static_cast<double>(failures) / static_cast<double>(tally.samples())),
      certified(bounds::RiskMethod::exact), certified(bounds::RiskMethod::kl));
}

void print_radius_sentences(const std::vector<Measured>& measured, Index steps) {
  if (steps < pictured_step) return;
  fmt::print("\nShare of problems within {} of the optimum after {} steps (the paper: 86 %):\n{}{}",
             paper_radius, pictured_step, radius_sentence(measured[2], "50 pairs, as the paper measures"),
             radius_sentence(measured[1], "all 50 states, as it defines"));
}

double certified_radius(const certify::Certificate& certificate) {
  for (const certify::QuantileClaim& claim : certificate.quantile) {
    if (claim.step == pictured_step && claim.quantile == pictured_quantile) return claim.upper_bound;
  }
  return infinity;
}

/// Every `stride`-th pair of numbers.
std::vector<report::Curve::Point> positions(const problems::Table& table, Index row, Index count,
                                            Index stride) {
  std::vector<report::Curve::Point> points;
  for (Index t = 0; t < count; ++t) points.push_back({table(row, stride * t), table(row, stride * t + 1)});
  return points;
}

/// Problems drawn after the samples: the certificate speaks of such.
report::PlanePicture trajectories(const families::RobustKalman& family, const Settings& settings,
                                  double radius) {
  const auto fresh = family.draw(settings.seed, pictured_problems, settings.samples);
  const algorithms::Scs scs(family.problem(fresh.observations), algorithms::ScsOptions::paper());
  const problems::Table solutions = runs::solve(scs);
  runs::RunOptions options;
  options.steps = pictured_step;
  const problems::Table iterates = runs::run_iterates(scs, {}, options);
  const Index horizon = family.options().horizon;
  report::PlanePicture picture;
  picture.name = "trajectories";
  picture.caption = fmt::format("{} new problems: positions measured, optimal, and after {} steps of SCS.",
                                pictured_problems, pictured_step);
  if (std::isfinite(radius)) {
    picture.caption += fmt::format(
        " With the certificate's confidence, for at least {} of problems all states after {} steps lie "
        "within {} of the optimal ones (shaded: the balls seen in the plane of positions).",
        percent_label(pictured_quantile), pictured_step, upper_bound_value(radius));
  }
  using Kind = report::PlaneLayer::Kind;
  for (Index i = 0; i < pictured_problems; ++i) {
    report::PlanePanel panel{fmt::format("problem {}", settings.samples + i + 1), {}};
    const auto optimal = positions(solutions, i, horizon, state_block);
    if (std::isfinite(radius)) {
      panel.layers.push_back({Kind::discs, "certified ball, 90 % of problems", "#E69F00", optimal, radius});
    }
    panel.layers.push_back(
        {Kind::crosses, "measured", "#AA3377", positions(fresh.observations, i, horizon, 2)});
    panel.layers.push_back({Kind::path, "optimal", "#009E73", optimal});
    panel.layers.push_back({Kind::points, fmt::format("SCS after {} steps", pictured_step), "#000000",
                            positions(iterates, i, horizon, state_block)});
    picture.panels.push_back(std::move(panel));
  }
  return picture;
}

}  // namespace

static Index robust_kalman_steps(const Settings& settings) {
  const Index horizon = settings.quick() ? robust_kalman_quick_horizon : robust_kalman_horizon;
  return settings.steps > 0 ? settings.steps : horizon;
}

static void run_robust_kalman(const Settings& settings, Output& output) {
  const Index steps = robust_kalman_steps(settings);
  const families::RobustKalman family;
  const auto samples = family.draw(settings.seed, settings.samples);
  const algorithms::Scs scs(family.problem(samples.observations), algorithms::ScsOptions::paper());
  const problems::Table solutions = kept_table(settings.journals->next(), [&] {
    runs::SolveOptions how;
    how.interrupt = host().check;
    return runs::solve(scs, how);
  });
  runs::RunOptions options;
  options.steps = steps;
  const std::vector<Measured> measured =
      measure(scs, state_subjects(solutions, family.state_entries()), options, settings.journals->next());

  fmt::print("Robust Kalman filtering by SCS: {} problems, {} steps, seed {}\n",
             count_label(settings.samples), steps, settings.seed);
  add_tables(output, measured, bounds::estimated_initial_distance(solutions.rowwise().norm().maxCoeff()));
  print_radius_sentences(measured, steps);
  for (const Measured& subject : measured) {
    output.add(success_figure(subject));
    output.add(quantile_figure(subject));
  }
  const std::string run = run_json(settings, steps);
  const certify::Certificate residual =
      certificate_of(measured[0], "SCS on robust Kalman filtering", "SCS", run);
  const certify::Certificate states =
      certificate_of(measured[1], "SCS on robust Kalman filtering: distance of the states", "SCS", run);
  const report::PageFigure picture =
      output.add_picture(trajectories(family, settings, certified_radius(states)));
  output.add(residual, "", {picture}, true);
  output.add(states, "states", {picture}, true);
}

Experiment robust_kalman() {
  return {.name = "robust-kalman",
          .title = "Robust Kalman filtering",
          .samples = 1000,
          .usual_samples = "1000",
          .usual_steps = "500",
          .paper_seconds = 5,
          .quick_seconds = 5,
          .bytes =
              [](const Settings& settings) {
                return bytes_of(20e6, 70e3, settings.samples, 6e3, robust_kalman_steps(settings));
              },
          .example = "--samples 1000 --out kalman",
          .run = run_robust_kalman};
}

}  // namespace surefoot::experiments
