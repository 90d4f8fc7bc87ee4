#include "surefoot/bounds/confidence_budget.hpp"
#include "surefoot/certify/compare.hpp"
#include "surefoot/certify/learned.hpp"
#include "surefoot/core/error.hpp"
#include "surefoot/core/number_text.hpp"
#include "surefoot/experiments/experiment.hpp"
#include "surefoot/experiments/learned_bench.hpp"
#include "surefoot/experiments/learned_weights.hpp"
#include "surefoot/experiments/stages.hpp"
#include "surefoot/experiments/warm_start.hpp"
#include "surefoot/families/model_predictive_control.hpp"
#include "surefoot/learning/posterior_file.hpp"

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include <algorithm>
#include <cmath>
#include <memory>

namespace surefoot::experiments {

using families::SampleSet;

namespace {

constexpr Index base_problems = 10000;
const std::vector<double> tolerances{1e-4, 1e-3, 1e-2};
const std::vector<double> quantiles{0.8, 0.9, 0.95};

/// What quick and paper scale differ in.
struct Scale {
  Index samples = 50000;
  Index hold_out = 50000;
  Index base = base_problems;
  Index steps = 120;
  Index epochs = 200;
};

Scale scale_of(const Settings& settings) {
  Scale scale;
  if (settings.quick()) scale = {2000, 2000, 500, 120, 60};
  if (settings.samples > 0) scale.samples = scale.hold_out = settings.samples;
  if (settings.steps > 0) scale.steps = settings.steps;
  return scale;
}

const ControlStart& model_of(const LearnedSetting& setting) {
  return std::get<ControlStart>(setting.options);
}

runs::Metric measured_metric() {
  return runs::quantity(algorithms::Quantity::optimality_residual);
}

/// Tables that are in the journals' next part are not made again.
Keep kept_in(PartJournals& journals) {
  return
      [&journals](const std::function<problems::Table()>& make) { return kept_table(journals.next(), make); };
}

ControlBench loops(const LearnedSetting& setting, const Settings& settings, SampleSet set, Index count) {
  return make_start(model_of(setting), setting.family_seed,
                    {.set = set, .count = count, .seed = settings.seed, .keep = kept_in(*settings.journals)});
}

problems::Table solved(const LearnedSetting& setting, const ControlBench& bench, PartJournals& journals) {
  return control_solutions(model_of(setting), bench.solver->problem(), kept_in(journals));
}

/// The network by regression: the start's squared distance from the solution, on the first `count` problems.
learning::Posterior trained(const std::string& name, algorithms::LearnedOperator& op,
                            const problems::Table& solutions, LearnedSetting setting, Index count,
                            const Settings& settings, const Scale& scale) {
  learning::Loss loss;
  loss.kind = learning::LossKind::regression;
  // Without scaling the state is the iterate.
  loss.target = [&](Index first, Index lanes, algorithms::Batch target) {
    for (Index i = 0; i < target.rows; ++i) {
      for (Index lane = 0; lane < target.width; ++lane)
        target.row(i)[lane] = solutions(first + std::min(lane, lanes - 1), i);
    }
  };
  learning::TrainOptions options;
  options.seed = settings.seed;
  options.steps = setting.unrolled();
  options.samples = count;
  options.slots = 2;
  options.checkpoint = settings.checkpoints;
  options.checkpoint_seconds = settings.checkpoint.seconds;
  options.stages = recipe_stages("mpc_warm_start/regression.toml", 1);
  options.stages.front().epochs = scale.epochs;
  learning::Posterior posterior =
      train_aloud(name, op, learning::initial_posterior(op, -10, 1e-2), loss, options).posterior;
  setting.samples = count;
  describe_weights(posterior, setting);
  return posterior;
}

/// Runs from the starts that are not learned, and their certificate.
struct Starts {
  std::vector<CountedStart> counted;
  certify::Certificate certificate;
};

Starts other_starts(const families::ModelPredictiveControl& family, const LearnedSetting& setting,
                    const ControlBench& held_out, const ControlBench& base, const Scale& scale,
                    PartJournals& journals) {
  const auto scaled = [&](const problems::Table& states) {
    return problems::Table(states.array().rowwise() / family.ranges().transpose().array());
  };
  const std::vector<std::pair<std::string, runs::Start>> starts{
      {"cold", runs::cold_start()},
      {"shifted", runs::given_start(family.shifted(held_out.plans))},
      {"nearest", runs::nearest_neighbour_start(scaled(*held_out.parameters), scaled(*base.parameters),
                                                solved(setting, base, journals))}};
  const runs::Metric metric = measured_metric();
  certify::Options claims = warm_start_claims(metric, scale.steps, tolerances, quantiles);
  claims.title = "Starts of OSQP in model predictive control";
  claims = certify::resolved(claims, {certify::recorded_steps(metric, scale.steps)});
  Starts result;
  std::vector<certify::Counted> counted;
  for (const auto& [name, start] : starts) {
    result.counted.push_back(
        {name, count_baseline(*held_out.solver, metric, start, scale.steps, claims, journals.next())});
    certify::Variant variant;
    variant.name = name;
    variant.source = fmt::format("osqp, {} steps", scale.steps);
    counted.push_back({variant, result.counted.back().tally});
  }
  result.certificate = certify::certify(claims, counted);
  return result;
}

constexpr double comparison_delta = 0.01;  ///< of the bounds from the other side
const std::vector<std::string> compared_starts{"cold", "shifted"};

/// The learned start against those that are not, where both are certified on the same new problems. The
/// difference of two upper bounds shows nothing: the other start is bounded from below too.
certify::Comparison against_starts(const certify::Certificate& learned, const certify::Certificate& starts) {
  certify::CompareOptions options;
  options.delta = comparison_delta;
  for (const std::string& start : compared_starts)
    options.variants.emplace_back(learned.variants.front().name, start);
  return certify::compare(learned, starts, options);
}

/// By how many iterations fewer at least; nothing where it is not shown to be fewer.
std::string fewer_by(const certify::VariantComparison& pair, double quantile, double tolerance) {
  for (const certify::BudgetComparison& cell : pair.budget) {
    if (cell.quantile != quantile || cell.tolerance != tolerance) continue;
    if (cell.verdict == certify::Verdict::a_is_better)
      return fmt::format("{}", *cell.b.more_than + 1 - *cell.a.at_most);
  }
  return std::string(nothing);
}

void add_budget_table(Output& output, const WarmStartResults& results, const certify::Certificate& starts,
                      Index steps) {
  const certify::Comparison comparison = against_starts(results.hold_out, starts);
  report::TextTable table;
  table.key_columns = 2;
  table.columns = {{"share"}, {"below"}};
  for (const certify::Variant& start : starts.variants) {
    table.columns.push_back({"observed", report::Align::right, start.name + " start"});
    table.columns.push_back({"certified", report::Align::right, start.name + " start"});
  }
  for (const char* column : {"observed", "split prior", "hold-out"})
    table.columns.push_back({column, report::Align::right, "learned start"});
  for (const std::string& start : compared_starts)
    table.columns.push_back({start, report::Align::right, "fewer, at least, than"});
  for (const double quantile : quantiles) {
    for (std::size_t t = tolerances.size(); t-- > 0;) {
      std::vector<std::string> row{percent_label(quantile), exact_label(tolerances[t])};
      for (std::size_t variant = 0; variant < starts.variants.size(); ++variant) {
        const BestBudget budget = best_budget(starts, quantile, tolerances[t], variant);
        row.insert(row.end(), {budget_cell(budget.observed), budget_cell(budget.certified)});
      }
      const BestBudget learned = best_budget(results.learned, quantile, tolerances[t]);
      const BestBudget hold_out = best_budget(results.hold_out, quantile, tolerances[t]);
      row.insert(row.end(), {budget_cell(learned.observed), budget_cell(learned.certified),
                             budget_cell(hold_out.certified)});
      for (const certify::VariantComparison& pair : comparison.pairs)
        row.push_back(fewer_by(pair, quantile, tolerances[t]));
      table.add_row(std::move(row));
    }
  }
  add_table(
      output, "budgets",
      fmt::format(
          "Iterations of OSQP until a share of problems has primal and dual residuals below a tolerance and "
          "stays below it (up to iteration {})",
          steps),
      table,
      {fmt::format(
           "Three certificates, each with confidence {} for all its claims together: the starts that are not "
           "learned; the learned one by split prior; the learned one by hold-out. All three hold together "
           "with confidence {}. {}.",
           confidence_label(learned_delta),
           confidence_label(bounds::spent_confidence({{"certificates", 3, learned_delta}})),
           regularizers(results.learned)),
       fmt::format(
           "Fewer, at least, than: the hold-out certificate against the starts that are not learned, these "
           "bounded from below too (surefoot compare). These differences, and the claims they rest on, hold "
           "together with confidence {}; \"-\": not shown.",
           confidence_label(comparison.delta)),
       "Learned, split prior: trained on half of the problems, PAC-Bayes on the other half; hold-out: "
       "trained on all of them, certified on new problems."});
}

std::string run_json(const families::ModelPredictiveControl& family, const LearnedSetting& setting) {
  return nlohmann::ordered_json{
      {"experiment", "mpc-warm-start"},
      {"family", fmt::format("model predictive control, {} states, {} inputs, horizon {}", family.states(),
                             family.inputs(), family.options().horizon)},
      {"solver", "osqp, rho 0.5, not scaled, set up once"},
      {"start",
       fmt::format("network {}-{}-{}, inputs by the family's ranges", family.states(),
                   fmt::join(model_of(setting).hidden, "-"), family.variables() + family.constraints())},
      {"samples", setting.samples},
      {"steps", setting.steps},
      {"seed", setting.family_seed}}
      .dump();
}

}  // namespace

static void run_mpc_warm_start(const Settings& settings, Output& output) {
  const Scale scale = scale_of(settings);
  require(scale.samples >= 8, "--samples: {} is below 8", scale.samples);
  const LearnedSetting setting = setting_for("mpc-warm-start", settings, scale.samples, scale.steps);
  const families::ModelPredictiveControl family(model_of(setting).family);
  fmt::print("Warm starts of OSQP in model predictive control: N = {}, {} steps, seed {}\n",
             count_label(scale.samples), scale.steps, settings.seed);
  const ControlBench training = loops(setting, settings, SampleSet::training, scale.samples);
  algorithms::LearnedOperator& op = *training.warm;
  const problems::Table solutions = solved(setting, training, *settings.journals);
  const Index half = scale.samples / 2;
  fmt::print("Training on {} problems and on half of them:\n", count_label(scale.samples));
  const Candidate deterministic{"deterministic",
                                trained("all", op, solutions, setting, scale.samples, settings, scale)};
  const std::vector<Candidate> split{
      {"split", at_prior(trained("half", op, solutions, setting, half, settings, scale))}};

  const runs::Metric metric = measured_metric();
  certify::PacBayesOptions options;
  options.claims = warm_start_claims(metric, scale.steps, tolerances, quantiles);
  options.claims.risk_method = bounds::RiskMethod::pac_bayes;
  options.claims.quantile_method = bounds::QuantileMethod::grid;
  options.claims.title = "Learned warm starts of OSQP in model predictive control";
  certify::CalibrationOptions calibration;
  calibration.seed = static_cast<Index>(settings.seed);
  calibration.first = calibration.prior_samples = half;
  const FamilyKey key = setting.family();
  calibration.samples = named_samples(key, settings, SampleSet::training, scale.samples - half, half);
  const ControlBench held_out = loops(setting, settings, SampleSet::hold_out, scale.hold_out);
  const ControlBench base = loops(setting, settings, SampleSet::base, scale.base);
  Starts starts = other_starts(family, setting, held_out, base, scale, *settings.journals);
  WarmStartResults results{
      certify_candidates(op, split, options, metric, scale.steps, calibration, *settings.journals),
      {},
      std::move(starts.counted)};
  certify::LearnedModel model{*held_out.warm, deterministic.posterior, metric, scale.steps};
  model.name = "deterministic";
  model.source = "weights_deterministic.safetensors";
  certify::Options hold_out = warm_start_claims(metric, scale.steps, tolerances, quantiles);
  hold_out.title = "Learned warm starts of OSQP in model predictive control: hold-out";
  results.hold_out = certify::certify_hold_out(
      model, hold_out,
      {.at_means = true,
       .samples = named_samples(key, settings, SampleSet::hold_out, scale.hold_out),
       .journal = &settings.journals->next(learning::posterior_sha256(deterministic.posterior))});
  results.learned.run = results.hold_out.run = starts.certificate.run = run_json(family, setting);

  add_budget_table(output, results, starts.certificate, scale.steps);
  const WarmStartFigures figures{.slug = "optimality",
                                 .metric = "optimality residual",
                                 .tolerances = tolerances,
                                 .quantiles = quantiles,
                                 .lowest = 1e-6,
                                 .highest = 1e1,
                                 .steps = scale.steps};
  for (const report::Figure& figure : warm_start_figures(results, figures)) output.add(figure);
  for (const Candidate& candidate : {deterministic, split.front()})
    output.write(fmt::format("weights_{}.safetensors", candidate.name),
                 learning::posterior_bytes(candidate.posterior));
  output.add(results.learned, "", {}, true);
  output.add(results.hold_out, "hold_out", {});
  output.add(starts.certificate, "starts", {}, true);
}

Experiment mpc_warm_start() {
  return {.name = "mpc-warm-start",
          .title = "Warm starts in control",
          .samples = 0,
          .usual_samples = "50000",
          .usual_steps = "120",
          .paper_seconds = 115,
          .quick_seconds = 10,
          .bytes =
              [](const Settings& settings) {
                const Scale scale = scale_of(settings);
                return bytes_of(20e6, 13e3, scale.samples, 10e3, scale.steps);
              },
          .example = "--scale quick",
          .run = run_mpc_warm_start};
}

}  // namespace surefoot::experiments
