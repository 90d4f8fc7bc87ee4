#include "surefoot/bounds/iteration_budget.hpp"
#include "surefoot/bounds/worst_case.hpp"
#include "surefoot/core/error.hpp"
#include "surefoot/core/number_text.hpp"
#include "surefoot/core/parallel.hpp"
#include "surefoot/experiments/experiment.hpp"
#include "surefoot/experiments/learned_bench.hpp"
#include "surefoot/experiments/learned_weights.hpp"
#include "surefoot/experiments/paper_tables.hpp"
#include "surefoot/experiments/stages.hpp"
#include "surefoot/experiments/warm_start.hpp"
#include "surefoot/families/unconstrained_qp.hpp"
#include "surefoot/learning/network_norms.hpp"
#include "surefoot/learning/posterior_file.hpp"
#include "surefoot/report/series.hpp"

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include <algorithm>
#include <cmath>
#include <memory>

namespace surefoot::experiments {

using families::SampleSet;

namespace {

constexpr Index test_problems = 1000;
constexpr Index base_problems = 10000;
constexpr double norm_delta = 1e-9;  ///< of Theorem 3, over the drawn weights
const std::vector<double> tolerances{1e-4, 1e-3, 1e-2};
const std::vector<double> quantiles{0.3, 0.8, 0.9, 0.95};

/// What quick and paper scale differ in.
struct Scale {
  Index samples = 50000;
  Index hold_out = 50000;
  Index steps = 800;
  double epochs = 1;  ///< times the epochs of the recipe
};

Scale scale_of(const Settings& settings) {
  Scale scale;
  if (settings.quick()) scale = {4000, 4000, 800, 0.7};
  if (settings.samples > 0) scale.samples = scale.hold_out = settings.samples;
  if (settings.steps > 0) scale.steps = settings.steps;
  return scale;
}

const GradientStart& model_of(const LearnedSetting& setting) {
  return std::get<GradientStart>(setting.options);
}

StartBench<algorithms::Operator> draw(const LearnedSetting& setting, const Settings& settings, SampleSet set,
                                      Index count) {
  return make_start(model_of(setting), setting.family_seed,
                    {.set = set, .count = count, .seed = settings.seed});
}

std::vector<Candidate> train_candidates(algorithms::LearnedOperator& op, const LearnedSetting& setting,
                                        const Settings& settings, const Scale& scale) {
  const Index unrolled = setting.unrolled();
  learning::Loss loss;
  loss.kind = learning::LossKind::residual;
  learning::TrainOptions options;
  options.seed = settings.seed;
  options.steps = unrolled;
  options.slots = 2;
  options.checkpoint = settings.checkpoints;
  options.checkpoint_seconds = settings.checkpoint.seconds;
  set_threads(1);  // batches are too small to be shared out
  fmt::print("Training on {} problems through {} steps:\n", count_label(scale.samples), unrolled);
  options.stages = recipe_stages("l2ws/network.toml", scale.epochs);
  const learning::Posterior plain =
      train_aloud("network", op, learning::initial_posterior(op, -10, 1e-2), loss, options).posterior;
  std::vector<Candidate> candidates{{"deterministic", plain}};
  // Two for each share: a near aim may send all runs where the surrogate is flat.
  const std::vector<std::string> shares = settings.quick()
                                              ? std::vector<std::string>{"80"}
                                              : std::vector<std::string>{"90", "90-near", "95", "95-near"};
  for (const std::string& share : shares) {
    options.stages = recipe_stages("l2ws/" + share + ".toml", scale.epochs);
    candidates.push_back({share, train_aloud(share, op, plain, loss, options).posterior});
  }
  set_threads(settings.threads);
  for (Candidate& candidate : candidates) describe_weights(candidate.posterior, setting);
  return candidates;
}

std::vector<CountedStart> baselines(const families::UnconstrainedQp& family, const LearnedSetting& setting,
                                    const Settings& settings) {
  const Index steps = setting.steps;
  const auto test = draw(setting, settings, SampleSet::test, test_problems);
  const Index base_count = settings.quick() ? 1000 : base_problems;
  const problems::Table base = family.draw(settings.seed, SampleSet::base, base_count);
  const auto scaled = [&](const problems::Table& c) {
    return problems::Table(c.array().rowwise() / family.ranges().transpose().array());
  };
  const runs::Start nearest =
      runs::nearest_neighbour_start(scaled(*test.parameters), scaled(base), family.solutions(base));
  const runs::Metric residual = runs::fixed_point_residual();
  return {{"cold start", count_baseline(*test.solver, residual, runs::cold_start(), steps, tolerances,
                                        settings.journals->next())},
          {"nearest neighbour",
           count_baseline(*test.solver, residual, nearest, steps, tolerances, settings.journals->next())}};
}

/// The paper counts iterations one fewer than a trace here.
constexpr Index paper_counts_less = 1;

void add_budget_table(Output& output, const WarmStartResults& results) {
  const PaperTable paper("l2ws/paper_residual.csv");
  report::TextTable table;
  table.key_columns = 2;
  table.columns = {{"share"}, {"below"}};
  for (const char* group : {"cold start", "nearest neighbour", "learned, observed"}) {
    table.columns.push_back({"paper", report::Align::right, group});
    table.columns.push_back({"ours", report::Align::right, group});
  }
  table.columns.push_back({"paper", report::Align::right, "learned, certified"});
  table.columns.push_back({"ours", report::Align::right, "learned, certified"});
  table.columns.push_back({"hold-out", report::Align::right, "learned, certified"});
  Index better = 0;
  Index compared = 0;
  for (const double quantile : quantiles) {
    for (std::size_t t = tolerances.size(); t-- > 0;) {
      const std::optional<Index> row = paper.find(quantile, tolerances[t]);
      const auto paper_steps = [&](const char* column) {
        return row ? std::optional(paper.count_at(*row, column).value() + paper_counts_less) : std::nullopt;
      };
      const auto paper_cell = [&](const char* column) { return budget_cell(paper_steps(column)); };
      const BestBudget best = best_budget(results.learned, quantile, tolerances[t]);
      const BestBudget fresh = best_budget(results.hold_out, quantile, tolerances[t]);
      table.add_row({percent_label(quantile), exact_label(tolerances[t]), paper_cell("cold_start"),
                     budget_cell(observed_budget(results.starts[0].tally, t, quantile)),
                     paper_cell("nearest_neighbor"),
                     budget_cell(observed_budget(results.starts[1].tally, t, quantile)),
                     paper_cell("l2ws_emp"), budget_cell(best.observed), paper_cell("l2ws_bound"),
                     budget_cell(best.certified), budget_cell(fresh.certified)});
      if (!row) continue;
      ++compared;
      better += best.certified && *best.certified <= *paper_steps("l2ws_bound") ? 1 : 0;
    }
  }
  add_table(
      output, "residual", "Iterations until a share of problems has a fixed-point residual below a tolerance",
      table,
      {fmt::format("{} of {} certified budgets are at least as tight as the paper's; it has none for 95 %.",
                   better, compared),
       "The paper's steps are counted as here: one more than it prints.",
       fmt::format("Certified with confidence {} for all shares, tolerances and steps together; {}.",
                   confidence_label(learned_delta), regularizers(results.learned)),
       "Hold-out: the deterministic network on new problems. Cold start and nearest neighbour: observed."});
}

/// Where the worst case of Theorem 3 takes over from the risk bounds, of one posterior. Weights are drawn
/// anew for every problem, and the bound on the start fails with probability norm_delta over them: from then
/// on a problem fails with probability at most norm_delta, which is not zero.
struct TakeOver {
  std::size_t variant = 0;   ///< whose posterior it is
  double distance = 0;       ///< bound on ||z^0 - z*||
  std::vector<Index> steps;  ///< per tolerance, from which the risk is at most norm_delta
};

TakeOver theorem_3(const families::UnconstrainedQp& family, double output_scale,
                   const std::vector<Candidate>& candidates, std::size_t variant) {
  const learning::Posterior& posterior = candidates[variant].posterior;
  const double input_norm = std::sqrt(static_cast<double>(family.variables()));  // every entry in [-1, 1]
  const double beta = 1 - family.curvature().minCoeff() / family.curvature().maxCoeff();
  TakeOver result;
  result.variant = variant;
  result.distance = learning::start_distance_bound(posterior, input_norm, output_scale,
                                                   family.largest_solution(), norm_delta);
  for (const double tolerance : tolerances) {
    const std::optional<Index> steps = bounds::linear_rate_steps(beta, result.distance, tolerance);
    require(steps.has_value(), "Theorem 3: no number of steps brings {} below {}", result.distance,
            tolerance);
    result.steps.push_back(*steps);
  }
  return result;
}

void add_take_over(Output& output, const WarmStartResults& results, const TakeOver& take_over) {
  report::Figure figure;
  figure.name = "take_over";
  const std::string& name = results.learned.variants.at(take_over.variant).name;
  figure.title = fmt::format("Where the worst case takes over (posterior {})", name);
  const Index last = *std::max_element(take_over.steps.begin(), take_over.steps.end());
  figure.x = {"iteration", false, false, 0, 1.1 * static_cast<double>(last)};
  figure.y = {"risk", false, true, 0, 0.3};
  figure.styles = {"observed", "PAC-Bayes", fmt::format("Theorem 3: at most {}", exact_label(norm_delta))};
  fmt::print(
      "\nTheorem 3 (posterior {}): ||z0 - z*|| is at most {} for every problem, except with probability {} "
      "over the weights drawn for it.\n",
      name, upper_bound_value(take_over.distance), exact_label(norm_delta));
  for (std::size_t t = tolerances.size(); t-- > 0;) {
    report::Panel panel{fmt::format("below {}", exact_label(tolerances[t])), {}};
    report::Curve certified{"", 2, 1, {}};
    const auto from = static_cast<double>(take_over.steps[t]);
    for (const report::Series::Point& point :
         report::best_success(results.learned, tolerances[t], take_over.variant)) {
      if (static_cast<double>(point.step) < from)
        certified.points.push_back({static_cast<double>(point.step), 1 - point.certified});
    }
    // Beyond the steps that were run the residual does not rise: the last bound stays.
    certified.points.push_back({from, certified.points.back().y});
    report::Curve worst{
        "", 3, 2, {{from, certified.points.back().y}, {from, norm_delta}, {figure.x.high, norm_delta}}};
    panel.curves = {certified, worst};
    figure.panels.push_back(std::move(panel));
    fmt::print("  below {}: from step {} on a new problem fails with probability at most {}\n",
               exact_label(tolerances[t]), take_over.steps[t], exact_label(norm_delta));
  }
  output.add(figure);
}

std::string run_json(const LearnedSetting& setting) {
  return nlohmann::ordered_json{
      {"experiment", "l2ws"},
      {"family", "unconstrained QP, n = 20"},
      {"solver", "gradient descent, step 1/100"},
      {"start", "network 20-10-20, inputs by the family's ranges, outputs times 10"},
      {"samples", setting.samples},
      {"steps", setting.steps},
      {"unrolled", setting.unrolled()},
      {"seed", setting.family_seed}}
      .dump();
}

}  // namespace

static void run_l2ws(const Settings& settings, Output& output) {
  const Scale scale = scale_of(settings);
  require(scale.samples >= 8, "--samples: {} is below 8", scale.samples);
  const LearnedSetting setting = setting_for("l2ws", settings, scale.samples, scale.steps);
  const families::UnconstrainedQp family(model_of(setting).family);
  const auto training = draw(setting, settings, SampleSet::training, scale.samples);
  algorithms::LearnedOperator& op = *training.warm;
  fmt::print("Learned warm starts of gradient descent: N = {}, {} steps, seed {}\n",
             count_label(scale.samples), scale.steps, settings.seed);
  std::vector<Candidate> candidates = train_candidates(op, setting, settings, scale);
  const Candidate deterministic = candidates.front();
  candidates.erase(candidates.begin());

  const runs::Metric residual = runs::fixed_point_residual();
  certify::PacBayesOptions options;
  options.claims = warm_start_claims(runs::fixed_point_residual(), scale.steps, tolerances, quantiles);
  options.claims.risk_method = bounds::RiskMethod::pac_bayes;
  options.claims.quantile_method = bounds::QuantileMethod::grid;
  options.claims.title = "Learned warm starts of gradient descent";
  certify::CalibrationOptions calibration;
  calibration.seed = static_cast<Index>(settings.seed);
  const FamilyKey key = setting.family();
  calibration.samples = named_samples(key, settings, SampleSet::training, scale.samples);
  WarmStartResults results{
      certify_candidates(op, candidates, options, residual, scale.steps, calibration, *settings.journals),
      {},
      baselines(family, setting, settings)};
  const auto fresh = draw(setting, settings, SampleSet::hold_out, scale.hold_out);
  certify::LearnedModel model{*fresh.warm, deterministic.posterior, residual, scale.steps};
  model.name = "deterministic";
  model.source = "weights_deterministic.safetensors";
  certify::Options hold_out =
      warm_start_claims(runs::fixed_point_residual(), scale.steps, tolerances, quantiles);
  hold_out.title = "Learned warm starts of gradient descent: hold-out";
  results.hold_out = certify::certify_hold_out(
      model, hold_out,
      {.at_means = true,
       .samples = named_samples(key, settings, SampleSet::hold_out, scale.hold_out),
       .journal = &settings.journals->next(learning::posterior_sha256(deterministic.posterior))});
  results.learned.run = results.hold_out.run = run_json(setting);

  add_budget_table(output, results);
  const WarmStartFigures figures{.slug = "residual",
                                 .metric = "fixed-point residual",
                                 .tolerances = tolerances,
                                 .quantiles = quantiles,
                                 .lowest = 1e-7,
                                 .highest = 1e1,
                                 .steps = scale.steps};
  for (const report::Figure& figure : warm_start_figures(results, figures)) output.add(figure);
  add_take_over(output, results, theorem_3(family, model_of(setting).output_scale, candidates, 0));
  candidates.push_back(deterministic);
  for (const Candidate& candidate : candidates)
    output.write(fmt::format("weights_{}.safetensors", candidate.name),
                 learning::posterior_bytes(candidate.posterior));
  output.add(results.learned, "", {}, true);
  output.add(results.hold_out, "hold_out", {}, true);
}

Experiment l2ws() {
  return {.name = "l2ws",
          .title = "Learned warm starts",
          .samples = 0,
          .usual_samples = "50000",
          .usual_steps = "800",
          .paper_seconds = 40,
          .quick_seconds = 2,
          .bytes =
              [](const Settings& settings) {
                const Scale scale = scale_of(settings);
                return bytes_of(20e6, 3e3, scale.samples, 90e3, scale.steps);
              },
          .example = "--scale quick",
          .run = run_l2ws};
}

}  // namespace surefoot::experiments
