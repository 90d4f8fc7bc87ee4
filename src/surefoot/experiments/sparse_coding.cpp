#include "surefoot/algorithms/code_networks.hpp"
#include "surefoot/algorithms/fista.hpp"
#include "surefoot/algorithms/ista.hpp"
#include "surefoot/certify/certify_run.hpp"
#include "surefoot/core/error.hpp"
#include "surefoot/core/number_text.hpp"
#include "surefoot/core/ranks.hpp"
#include "surefoot/experiments/data.hpp"
#include "surefoot/experiments/experiment.hpp"
#include "surefoot/experiments/guarantees.hpp"
#include "surefoot/experiments/host.hpp"
#include "surefoot/experiments/learned_bench.hpp"
#include "surefoot/experiments/paper_tables.hpp"
#include "surefoot/experiments/step_figures.hpp"
#include "surefoot/experiments/training.hpp"
#include "surefoot/io/atomic_file.hpp"
#include "surefoot/io/text.hpp"
#include "surefoot/learning/posterior_file.hpp"
#include "surefoot/report/series.hpp"
#include "surefoot/report/text.hpp"

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include <algorithm>
#include <cmath>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace surefoot::experiments {

namespace fs = std::filesystem;

namespace {

constexpr double learned_delta = certify::paper_learned_delta;  ///< of each certificate
constexpr double lasso_weight = 0.1;                            ///< of ISTA and FISTA
const std::vector<double> coding_quantiles{0.1, 0.3, 0.5, 0.6, 0.8, 0.9, 0.95};
const std::vector<double> coding_tolerances{-40, -30, -20, -10};
const std::vector<double> paper_targets{0.03, 0.1, 0.3};  ///< of its six

constexpr Index paper_samples = 50000;  ///< that the recipes are written for

/// As papers write it: ALISTA, TiLISTA.
std::string printed_name(std::string name) {
  if (name == "tilista") return "TiLISTA";
  std::transform(name.begin(), name.end(), name.begin(), [](char letter) {
    return letter >= 'a' && letter <= 'z' ? static_cast<char>(letter - 'a' + 'A') : letter;
  });
  return name;
}

/// How much is drawn and trained.
struct Extent {
  Index samples = paper_samples;
  Index hold_out = 10000;
  Index test = 1000;
  Index steps = 10;
  Index epochs_at_most = 0;  ///< of each stage; 0: as the recipes say
  std::vector<double> targets = paper_targets;
};

Extent extent_of(const Settings& settings) {
  Extent extent;
  if (settings.quick()) {
    extent.samples = 5000;
    extent.epochs_at_most = 3;
    extent.targets = {0.1};
  }
  if (settings.samples > 0) extent.samples = settings.samples;
  if (settings.steps > 0) extent.steps = settings.steps;
  if (settings.epochs > 0) extent.epochs_at_most = settings.epochs;
  require(extent.samples >= 100, "--samples: {} is below 100", extent.samples);
  extent.hold_out = std::min<Index>(10000, extent.samples * 2 / 5);
  extent.test = std::min<Index>(1000, extent.samples / 2);
  return extent;
}

/// Names of the recipes in experiments/sparse_coding.
std::vector<std::string> recipes() {
  const std::string folder = "sparse_coding/";
  const std::string ending = ".toml";
  std::vector<std::string> names;
  for (const DataFile& file : data_files()) {
    if (file.name.starts_with(folder) && file.name.ends_with(ending))
      names.push_back(file.name.substr(folder.size(), file.name.size() - folder.size() - ending.size()));
  }
  return names;
}

bool is_recipe(const std::string& name) {
  const std::vector<std::string> known = recipes();
  return std::find(known.begin(), known.end(), name) != known.end();
}

/// Recipes of ours for the model: MODEL and MODEL_*.
std::vector<std::string> recipes_of(const std::string& model) {
  std::vector<std::string> names;
  for (const std::string& known : recipes()) {
    if (known == model || known.starts_with(model + "_")) names.push_back(known);
  }
  return names;
}

/// Weights that a recipe names are those of another recipe: the folder that they lie in.
std::string recipe_behind(const fs::path& weights) {
  return weights.parent_path().filename().string();
}

/// Everything that was made of one model.
struct ModelResult {
  std::string name;
  std::vector<Guarantee> paper_recipe;  ///< its training and accounting, and its training with ours
  std::optional<certify::Certificate> paper_observed;
  std::vector<Guarantee> ours;
  std::optional<certify::Certificate> observed;
  std::optional<certify::Certificate> classical;  ///< ISTA, FISTA
  std::vector<std::pair<std::string, double>> training_seconds;
};

const Guarantee* find(const std::vector<Guarantee>& guarantees, GuaranteeKind kind, bool split = false) {
  for (const Guarantee& guarantee : guarantees) {
    if (guarantee.kind == kind && guarantee.split == split) return &guarantee;
  }
  return nullptr;
}

class CodingExperiment {
 public:
  CodingExperiment(const Settings& settings, const Extent& extent, Output& output)
      : settings_(settings), extent_(extent), output_(output) {
    models_ = settings.models.empty() ? std::vector<std::string>{"alista", "tilista", "glista", "lista"}
                                      : io::split_list("--models", settings.models);
    const auto& known = algorithms::code_network_names;
    for (const std::string& model : models_) {
      require(std::find(known.begin(), known.end(), model) != known.end(),
              "--models: '{}' is not one of alista, tilista, glista, lista", model);
    }
  }

  void operator()() {
    fmt::print("Sparse coding: {} training samples, {} for hold-out, {} for testing, {} steps, seed {}\n",
               count_label(extent_.samples), count_label(extent_.hold_out), count_label(extent_.test),
               extent_.steps, settings_.seed);
    std::vector<ModelResult> results{classical("ista"), classical("fista")};
    for (const std::string& model : models_) results.push_back(learned(model));
    add_tables(results);
    output_.add(quantile_curves(results));
    output_.add(success_curves(results));
  }

 private:
  // ---- training

  /// Trains a recipe on its share of the samples, or takes the weights of this very training from an earlier
  /// run. Weights that it starts from, or whose means are its prior mean, come first.
  Candidate trained(const std::string& name, ModelResult& result,
                    std::optional<double> target = std::nullopt) {
    Training training = recipe(name);
    TrainConfig& config = training.config;
    std::string place = name;
    for (learning::Stage& stage : config.stages) {
      if (extent_.epochs_at_most > 0) stage.epochs = std::min(stage.epochs, extent_.epochs_at_most);
      if (target) stage.penalty.target = *target;
    }
    if (target) {
      place += fmt::format("_{}", *target);
      training.config_name += fmt::format(", target {}", *target);
    }
    for (fs::path* weights : {&config.start, &config.prior}) {
      if (weights->empty()) continue;
      const std::string behind = recipe_behind(*weights);
      trained(behind, result);
      *weights = weights_of(behind);
    }
    training.folder = weights_of(place).parent_path();
    training.checkpoint = {settings_.checkpoints / place, true, settings_.checkpoint.seconds};
    training.memory_limit = settings_.memory_limit;
    training.quiet = true;
    const std::string source = fmt::format("{}/{}", place, weights_name);
    if (ranks().as_first(fs::exists(weights_of(place)))) {
      Candidate known = load_candidate(weights_of(place));
      if (is_of(known.posterior, training)) {
        require_training_as_told(known.posterior, weights_of(place), {});
        output_.add_result("weights/" + place);
        return {place, std::move(known.posterior), source, weights_of(place)};
      }
      io::remove_output(weights_of(place));
    }
    fmt::print("training {}{}\n", place, whole_progress());
    std::fflush(stdout);
    learning::TrainResult made = trained_whatever_is_left(training);
    result.training_seconds.emplace_back(place, made.seconds);
    output_.add_result("weights/" + place);
    return {place, std::move(made.posterior), source, weights_of(place)};
  }

  /// A checkpoint that is damaged or of another build is left aside.
  static learning::TrainResult trained_whatever_is_left(const Training& training) {
    const fs::path checkpoint = training.checkpoint.file("train");
    const bool goes_on = ranks().as_first(fs::exists(checkpoint));
    try {
      return run_training(training);
    } catch (const InputError&) {
      if (!goes_on) throw;
      io::remove_output(checkpoint);
      return run_training(training);
    }
  }

  [[nodiscard]] fs::path weights_of(const std::string& place) const {
    return settings_.folder / "weights" / place / weights_name;
  }

  /// A recipe of the program at this experiment's size; written into the folder for the reader.
  Training recipe(const std::string& name) {
    io::prepare_output_folder(settings_.folder / "recipes");
    output_.write("recipes/" + name + ".toml", data_file("sparse_coding/" + name + ".toml"));
    ranks().barrier();  // every process reads what the first has written
    Training training = read_training(settings_.folder / "recipes" / (name + ".toml"));
    TrainConfig& config = training.config;
    LearnedSetting& setting = config.setting;
    setting.samples = setting.samples * extent_.samples / paper_samples;
    setting.first = setting.first * extent_.samples / paper_samples;
    setting.family_seed += settings_.seed;
    setting.steps = extent_.steps;
    config.seed += settings_.seed;
    return training;
  }

  // ---- guarantees

  [[nodiscard]] GuaranteePlan plan(std::vector<GuaranteeKind> kinds) const {
    GuaranteePlan made;
    made.kinds = std::move(kinds);
    made.delta = learned_delta;
    made.tolerances = coding_tolerances;
    made.quantiles = coding_quantiles;
    made.samples = extent_.samples;
    if (std::any_of(made.kinds.begin(), made.kinds.end(), is_hold_out))
      made.hold_out = NamedSamples{0, extent_.hold_out};
    made.seed = static_cast<Index>(settings_.seed);
    made.memory_limit = settings_.memory_limit;
    return made;
  }

  [[nodiscard]] std::vector<Guarantee> guaranteed(const std::vector<Candidate>& candidates,
                                                  GuaranteePlan how) const {
    std::string weights = how.prior ? learning::posterior_sha256(how.prior->posterior) : "";
    for (const Candidate& candidate : candidates) weights += learning::posterior_sha256(candidate.posterior);
    how.journal = &settings_.journals->next(weights);
    return make_guarantees(candidates, how);
  }

  certify::Certificate observed(const std::vector<Candidate>& candidates,
                                GuaranteeKind kind = GuaranteeKind::hold_out) const {
    GuaranteePlan test = plan({kind});
    test.hold_out_set = families::SampleSet::test;
    test.hold_out = NamedSamples{0, extent_.test};
    return guaranteed(candidates, test).front().certificate;
  }

  void write(const std::string& inside, const std::vector<Guarantee>& guarantees) {
    for (const Guarantee& guarantee : guarantees) {
      certify::Certificate certificate = guarantee.certificate;
      certificate.run = run_json(inside);
      const std::string kind = guarantee.split ? "split-prior" : std::string(name(guarantee.kind));
      output_.add(certificate, inside + "/" + kind, {}, is_main(inside, guarantee));
    }
  }

  /// Of our recipes: from the training samples, for all claims together (LISTA: with a split prior, the only
  /// one that says something).
  [[nodiscard]] static bool is_main(const std::string& inside, const Guarantee& guarantee) {
    return guarantee.kind == GuaranteeKind::pac_bayes && guarantee.split == (inside == "lista") &&
           inside.find('/') == std::string::npos;
  }

  [[nodiscard]] std::string run_json(const std::string& what) const {
    return nlohmann::ordered_json{{"experiment", "sparse-coding"},
                                  {"variant", what},
                                  {"family", "sparse coding, 256 x 512, density 0.1, noise 0.01"},
                                  {"samples", extent_.samples},
                                  {"steps", extent_.steps},
                                  {"seed", settings_.seed}}
        .dump();
  }

  ModelResult learned(const std::string& model) {
    ModelResult result;
    result.name = model;
    if (const std::string paper = "paper_" + model; is_recipe(paper)) {
      std::vector<Candidate> targets;
      // LISTA's bound says nothing whatever the target: one shows it.
      const std::vector<double> aims = model == "lista" ? std::vector<double>{0.1} : extent_.targets;
      for (const double target : aims) targets.push_back(trained(paper, result, target));
      result.paper_recipe =
          guaranteed(targets, plan({GuaranteeKind::pac_bayes_paper, GuaranteeKind::pac_bayes}));
      result.paper_observed = observed(targets);
      write(model + "/paper-recipe", result.paper_recipe);
    }
    std::vector<Candidate> ours;
    std::vector<std::string> split;
    bool drawn = false;  // weights have variances that were trained
    for (const std::string& name : recipes_of(model)) {
      const TrainConfig config = recipe(name).config;
      if (!config.prior.empty()) {
        split.push_back(name);
      } else if (name == model || has_posterior(config)) {
        ours.push_back(trained(name, result));
        drawn = drawn || has_posterior(config);
      }
    }
    if (ours.empty()) return result;
    std::vector<GuaranteeKind> kinds{GuaranteeKind::pac_bayes_paper, GuaranteeKind::pac_bayes,
                                     GuaranteeKind::hold_out_means};
    if (drawn) kinds.push_back(GuaranteeKind::hold_out);
    result.ours = guaranteed(ours, plan(kinds));
    result.observed = observed(ours, drawn ? GuaranteeKind::hold_out : GuaranteeKind::hold_out_means);
    for (const std::string& name : split) result.ours.push_back(split_guarantee(name, result));
    write(model, result.ours);
    return result;
  }

  /// Recipes without variances are only what others begin with.
  static bool has_posterior(const TrainConfig& config) {
    return std::any_of(config.stages.begin(), config.stages.end(),
                       [](const learning::Stage& stage) { return stage.noise; });
  }

  /// The prior mean is another recipe's, trained on other samples than the bound's.
  Guarantee split_guarantee(const std::string& name, ModelResult& result) {
    const Training training = recipe(name);
    GuaranteePlan bound = plan({GuaranteeKind::pac_bayes});
    bound.first = training.config.setting.first;
    bound.samples = training.config.setting.samples;
    bound.prior = trained(recipe_behind(training.config.prior), result);
    return guaranteed({trained(name, result)}, bound).front();
  }

  ModelResult classical(const std::string& name) {
    ModelResult result;
    result.name = name;
    const families::SparseCoding family(static_cast<std::uint64_t>(settings_.seed));
    const auto codes = std::make_shared<const problems::SparseCodes>(
        family.draw(families::SampleSet::hold_out, extent_.hold_out));
    const problems::Lasso problem{codes->D, codes->b, lasso_weight};
    certify::Options options;
    options.delta = learned_delta;
    options.tolerances = coding_tolerances;
    options.quantiles = coding_quantiles;
    options.title = fmt::format("{} on sparse coding", name);
    std::unique_ptr<algorithms::Operator> op;
    if (name == "ista") op = std::make_unique<algorithms::Ista>(problem);
    if (name == "fista") op = std::make_unique<algorithms::Fista>(problem);
    runs::RunOptions run_options;
    run_options.steps = extent_.steps;
    result.classical = certify::certify_run(*op, code_nmse(codes), options, run_options, {}, nullptr,
                                            &settings_.journals->next());
    result.classical->run = run_json(name);
    output_.add(*result.classical, name, {});
    return result;
  }

  // ---- tables

  struct Columns {
    report::TextTable table;
    std::vector<std::vector<std::string>> cells;  // by column

    void add(const std::string& group, const char* header, std::vector<std::string> column) {
      table.columns.push_back({header, report::Align::right, group});
      cells.push_back(std::move(column));
    }
    report::TextTable finished() {
      for (std::size_t row = 0; row < cells.front().size(); ++row) {
        std::vector<std::string> line;
        for (const auto& column : cells) line.push_back(column[row]);
        table.add_row(std::move(line));
      }
      return table;
    }
  };

  template <class Value>
  static std::vector<std::string> by_quantile(const Value& value) {
    std::vector<std::string> cells;
    for (std::size_t i = 0; i < coding_quantiles.size(); ++i) cells.push_back(value(i));
    return cells;
  }
  std::vector<std::string> bounds_of(const certify::Certificate& certificate) const {
    return by_quantile([&](std::size_t i) {
      return upper_bound_value(best_quantile(certificate, coding_quantiles[i], extent_.steps).certified);
    });
  }
  /// Observed on other samples, of the variants that have the best bounds.
  std::vector<std::string> observed_of(const certify::Certificate& bounds,
                                       const certify::Certificate& measured) const {
    return by_quantile([&](std::size_t i) {
      return observed_value(observed_like(bounds, measured, extent_.steps, coding_quantiles[i]));
    });
  }

  static double observed_like(const certify::Certificate& bounds, const certify::Certificate& measured,
                              Index step, double quantile) {
    const std::size_t variant = best_quantile(bounds, quantile, step).variant;
    for (const certify::QuantileClaim& claim : measured.quantile) {
      if (claim.variant == variant && claim.step == step && claim.quantile == quantile)
        return claim.empirical;
    }
    return infinity;
  }

  [[nodiscard]] double paper_value(std::size_t i, const std::string& column) const {
    return paper_.at(static_cast<Index>(i), column).value();
  }

  void add_paper(Columns& columns, const ModelResult& result) const {
    const auto add = [&](const char* header, const std::string& column) {
      columns.add("paper", header,
                  by_quantile([&](std::size_t i) { return exact_label(paper_value(i, column)); }));
    };
    if (result.classical) return add("observed", result.name);
    add("observed", result.name + "_emp");
    add("bound", result.name + "_bound");
  }

  report::TextTable table_of(const ModelResult& result) const {
    Columns columns;
    columns.add("", "share", by_quantile([](std::size_t i) { return percent_label(coding_quantiles[i]); }));
    add_paper(columns, result);
    if (result.classical) {
      columns.add("ours", "observed", by_quantile([&](std::size_t i) {
                    return observed_value(
                        best_quantile(*result.classical, coding_quantiles[i], extent_.steps).observed);
                  }));
      columns.add("ours", "exact", bounds_of(*result.classical));
      return columns.finished();
    }
    if (!result.paper_recipe.empty()) add_paper_recipe(columns, result);
    if (!result.observed) return columns.finished();
    add_ours(columns, result);
    return columns.finished();
  }

  void add_paper_recipe(Columns& columns, const ModelResult& result) const {
    const Guarantee* as_paper = find(result.paper_recipe, GuaranteeKind::pac_bayes_paper);
    const Guarantee* refined = find(result.paper_recipe, GuaranteeKind::pac_bayes);
    columns.add("paper's recipe", "observed", observed_of(as_paper->certificate, *result.paper_observed));
    columns.add("paper's recipe", "its accounting", bounds_of(as_paper->certificate));
    columns.add("paper's recipe", "refined", bounds_of(refined->certificate));
  }

  void add_ours(Columns& columns, const ModelResult& result) const {
    const Guarantee* first = find(result.ours, GuaranteeKind::pac_bayes);
    columns.add("our recipe", "observed", observed_of(first->certificate, *result.observed));
    columns.add("our recipe", "its accounting",
                bounds_of(find(result.ours, GuaranteeKind::pac_bayes_paper)->certificate));
    columns.add("our recipe", "refined", bounds_of(first->certificate));
    if (const Guarantee* split = find(result.ours, GuaranteeKind::pac_bayes, true))
      columns.add("our recipe", "split prior", bounds_of(split->certificate));
    if (const Guarantee* fresh = find(result.ours, GuaranteeKind::hold_out))
      columns.add("our recipe", "hold-out", bounds_of(fresh->certificate));
    columns.add("our recipe", "hold-out, means",
                bounds_of(find(result.ours, GuaranteeKind::hold_out_means)->certificate));
  }

  /// Our best covered bound: the smallest of PAC-Bayes and split prior (LISTA: hold-out too).
  std::string verdict(const ModelResult& result) const {
    if (result.classical)
      return "The paper's column is not this algorithm (a step of 0.1/L in an untrained network).";
    if (!result.observed) return "There is no recipe of ours for this model yet.";
    Index better = 0;
    for (std::size_t i = 0; i < coding_quantiles.size(); ++i) {
      double bound = infinity;
      for (const Guarantee& guarantee : result.ours) {
        if (guarantee.kind != GuaranteeKind::pac_bayes && result.name != "lista") continue;
        bound = std::min(bound,
                         best_quantile(guarantee.certificate, coding_quantiles[i], extent_.steps).certified);
      }
      better += bound < paper_value(i, result.name + "_bound") ? 1 : 0;
    }
    const Guarantee* plain = find(result.ours, GuaranteeKind::pac_bayes);
    const certify::PacBayes& charged = *plain->certificate.variants.front().pac_bayes;
    return fmt::format("{} of {} bounds are better than the paper's. KL = {}, B = {}.", better,
                       coding_quantiles.size(), upper_bound_value(charged.kl),
                       upper_bound_value(charged.regularizer));
  }

  void add_tables(const std::vector<ModelResult>& results) {
    std::string page = fmt::format(
        "# Sparse coding\n\nQuantiles of the NMSE in dB after {} steps; N = {}, hold-out {}, test {}, seed "
        "{}. Confidence 0.99028: the paper's accounting for each quantile alone, refined and hold-out for "
        "all steps, tolerances and quantiles of a certificate together. Observed: on the test samples, "
        "weights drawn anew for each (ISTA, FISTA: on the hold-out samples).\n",
        extent_.steps, extent_.samples, extent_.hold_out, extent_.test, settings_.seed);
    for (const ModelResult& result : results) {
      const report::TextTable table = table_of(result);
      fmt::print("\n{}: NMSE (dB) after {} steps\n\n", result.name, extent_.steps);
      for (const report::TextTable& part : report::split_to_width(table, 118))
        fmt::print("{}\n", report::to_text(part, "  "));
      fmt::print("{}", report::wrapped(verdict(result), 110));
      page += fmt::format("\n## {}\n\n{}\n{}\n", result.name, report::to_markdown(table), verdict(result));
      for (const auto& [what, seconds] : result.training_seconds)
        page += fmt::format("- training of {}: {:.0f} s\n", what, seconds);
      for (const Guarantee& guarantee : result.ours)
        page += fmt::format("- {}: {:.1f} s\n", label(guarantee), guarantee.seconds);
      output_.add_table(
          {result.name,
           fmt::format("{}: NMSE (dB) after {} steps", printed_name(result.name), extent_.steps),
           table,
           {verdict(result)}});
    }
    output_.write("results.md", page);
  }

  // ---- figures

  /// What a model's curves are drawn from: its own certificate, and the hold-out one.
  static const certify::Certificate* main_certificate(const ModelResult& result) {
    if (result.classical) return &*result.classical;
    const std::vector<Guarantee>& made = result.ours.empty() ? result.paper_recipe : result.ours;
    const Guarantee* guarantee = find(made, GuaranteeKind::pac_bayes, true);  // of LISTA, which has no other
    if (guarantee == nullptr) guarantee = find(made, GuaranteeKind::pac_bayes);
    return guarantee == nullptr ? nullptr : &guarantee->certificate;
  }
  static const certify::Certificate* fresh_certificate(const ModelResult& result) {
    const Guarantee* guarantee = find(result.ours, GuaranteeKind::hold_out_means);
    return guarantee == nullptr ? nullptr : &guarantee->certificate;
  }

  [[nodiscard]] StepFigure figure_of(const std::vector<ModelResult>& results, const char* name,
                                     const char* title, PointsAt seen(const certify::Certificate&),
                                     PointsAt certified(const certify::Certificate&)) const {
    StepFigure figure{
        .name = name,
        .title = title,
        .metric = "NMSE",
        .unit = "dB",
        .steps = extent_.steps,
        .styles = {"observed", "certified from the training samples (ISTA, FISTA: exact)", "hold-out"},
        .curves = {}};
    for (std::size_t hue = 0; hue < results.size(); ++hue) {
      if (const certify::Certificate* main = main_certificate(results[hue])) {
        figure.curves.push_back({"", seen(*main), hue, 0});
        figure.curves.push_back({results[hue].name, certified(*main), hue, 1});
      }
      if (const certify::Certificate* fresh = fresh_certificate(results[hue]))
        figure.curves.push_back({"", certified(*fresh), hue, 2});
    }
    return figure;
  }

  [[nodiscard]] report::Figure quantile_curves(const std::vector<ModelResult>& results) const {
    return quantiles_over_steps(figure_of(results, "quantiles_nmse", "Quantiles of the NMSE",
                                          observed_quantiles, certified_quantiles),
                                {0.5, 0.9, 0.95}, {"", false, false, -50, 0});
  }

  [[nodiscard]] report::Figure success_curves(const std::vector<ModelResult>& results) const {
    return success_over_steps(
        figure_of(results, "success_nmse", "Share of problems with an NMSE below a tolerance",
                  observed_success, certified_success),
        {-20.0, -30.0, -40.0});
  }

  const Settings& settings_;
  Extent extent_;
  Output& output_;
  std::vector<std::string> models_;
  PaperTable paper_{"sparse_coding/paper_quantiles.csv"};
};

}  // namespace

static void run_sparse_coding(const Settings& settings, Output& output) {
  CodingExperiment(settings, extent_of(settings), output)();
}

Experiment sparse_coding() {
  return {.name = "sparse-coding",
          .title = "Sparse coding",
          .samples = 0,
          .usual_samples = "50000",
          .usual_steps = "10",
          .paper_seconds = 1300,
          .quick_seconds = 70,
          .own_options = {"--models", "--epochs"},
          .example = "--scale quick",
          .run = run_sparse_coding};
}

}  // namespace surefoot::experiments
