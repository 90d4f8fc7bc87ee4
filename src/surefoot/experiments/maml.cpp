#include "surefoot/algorithms/maml.hpp"

#include "surefoot/bounds/iteration_budget.hpp"
#include "surefoot/bounds/quantile.hpp"
#include "surefoot/core/error.hpp"
#include "surefoot/core/number_text.hpp"
#include "surefoot/core/parallel.hpp"
#include "surefoot/core/ranks.hpp"
#include "surefoot/experiments/experiment.hpp"
#include "surefoot/experiments/learned.hpp"
#include "surefoot/experiments/learned_bench.hpp"
#include "surefoot/experiments/learned_weights.hpp"
#include "surefoot/experiments/paper_tables.hpp"
#include "surefoot/experiments/stages.hpp"
#include "surefoot/experiments/step_figures.hpp"
#include "surefoot/families/sinusoids.hpp"
#include "surefoot/learning/posterior_file.hpp"
#include "surefoot/report/series.hpp"

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include <algorithm>
#include <cmath>
#include <future>
#include <memory>

namespace surefoot::experiments {

using algorithms::Precision;
using families::SampleSet;

namespace {

constexpr Index test_tasks = 1000;
constexpr Index picture_rows = 3;
constexpr Index picture_columns = 3;
constexpr double pictured_quantile = 0.9;
const std::vector<double> quantiles{0.1, 0.3, 0.5, 0.6, 0.8, 0.9, 0.95};

/// What quick and paper scale differ in.
struct Scale {
  Index samples = 50000;
  Index steps = 10;
  double epochs = 1;  ///< times the epochs of the recipe
};

Scale scale_of(const Settings& settings) {
  Scale scale;
  if (settings.quick()) scale = {512, 10, 0.3};
  if (settings.samples > 0) scale.samples = settings.samples;
  if (settings.steps > 0) scale.steps = settings.steps;
  return scale;
}

/// A metric of both tables with what is claimed of it.
struct MetaSubject {
  std::string slug;
  std::string title;
  runs::Metric metric;
  std::vector<double> tolerances;
  PaperTable table;
};

std::vector<MetaSubject> subjects() {
  runs::Metric mse = runs::quantity(algorithms::Quantity::objective);
  mse.name = "mean squared error";
  runs::Metric sup = runs::quantity(algorithms::Quantity::largest_error);
  sup.name = "largest error";
  return {{"mse",
           "Quantiles of the mean squared error",
           std::move(mse),
           {0.01, 0.1, 1},
           PaperTable("maml/paper_mse.csv")},
          {"sup",
           "Quantiles of the largest error",
           std::move(sup),
           {0.1, 0.5, 1},
           PaperTable("maml/paper_sup.csv")}};
}

const MetaLearning& model_of(const LearnedSetting& setting) {
  return std::get<MetaLearning>(setting.options);
}

Tasks draw(const LearnedSetting& setting, SampleSet set, Index count, Index first = 0) {
  return draw_tasks(model_of(setting), setting.family_seed, {.set = set, .count = count, .first = first});
}

/// As certificates run it.
std::unique_ptr<algorithms::LearnedOperator> make_op(const LearnedSetting& setting, const Tasks& tasks) {
  return make_meta(model_of(setting), tasks);
}

learning::Stage meta_stage(const char* name, Index epochs, double rate) {
  learning::Stage stage = plain_stage(name, epochs, rate, 0.03);
  stage.batch = 32;
  stage.surrogate = {learning::SurrogateKind::tolerance, stage.surrogate.scale, 0.2, 1.5};
  return stage;
}

/// Trains meta weights on tasks first .. first+count-1 of the training set.
class School {
 public:
  School(const Settings& settings, const Scale& scale, LearnedSetting setting)
      : settings_(settings),
        scale_(scale),
        setting_(std::move(setting)),
        tasks_(draw(setting_, SampleSet::training, setting_.samples, setting_.first)) {
    loss_.kind = learning::LossKind::objective;
    options_.seed = settings.seed;
    options_.slots = 8;
    options_.checkpoint = settings.checkpoints;
    options_.checkpoint_seconds = settings.checkpoint.seconds;
  }

  /// Without adaptation: one network for all tasks.
  learning::Posterior pretrained() {
    algorithms::MamlOptions fixed;
    fixed.hidden = model_of(setting_).hidden;
    fixed.step = 0;
    fixed.precision = Precision::single;
    fixed.seed = settings_.seed;
    const auto op = algorithms::make_maml(tasks_, fixed);
    learning::Stage stage = meta_stage("joint", times(scale_.epochs, 2), 1e-3);
    stage.surrogate.kind = learning::SurrogateKind::logistic_mean;
    options_.stages = {stage};
    options_.steps = 1;
    return trained("pretrained", *op, learning::initial_posterior(*op));
  }

  /// Through two steps, then through all of them.
  learning::Posterior deterministic(const std::string& name) {
    return in_two_stages(name, "two_steps", "deterministic");
  }

  /// Half of the tasks, and this is all the training that they get: longer and faster, and for the share of
  /// tasks below a tolerance more than for small errors of most.
  learning::Posterior prior_mean(const std::string& name) {
    return in_two_stages(name, "prior_two_steps", "prior");
  }

  learning::Posterior bounded(const std::string& name, learning::Posterior begin) {
    const auto op = make_op();
    options_.steps = scale_.steps;
    options_.stages = recipe_stages("maml/bounded.toml", scale_.epochs);
    // The recipe is for the paper's number of tasks.
    const auto n = static_cast<double>(tasks_->instances());
    learning::Stage& pushed = options_.stages.back();
    pushed.penalty.target = 1000 / n;
    pushed.penalty.weight = 8e-8 * n * n;
    return trained(name, *op, std::move(begin));
  }

 private:
  learning::Posterior trained(const std::string& name, algorithms::LearnedOperator& op,
                              learning::Posterior begin) {
    learning::Posterior posterior = train_aloud(name, op, std::move(begin), loss_, options_).posterior;
    describe_weights(posterior, setting_);
    return posterior;
  }
  learning::Posterior in_two_stages(const std::string& name, const char* first, const char* then) {
    const auto op = make_op();
    options_.steps = 2;
    options_.stages = recipe_stages(fmt::format("maml/{}.toml", first), scale_.epochs);
    learning::Posterior posterior = trained(name, *op, learning::initial_posterior(*op));
    options_.steps = scale_.steps;
    options_.stages = recipe_stages(fmt::format("maml/{}.toml", then), scale_.epochs);
    return trained(name, *op, std::move(posterior));
  }
  [[nodiscard]] std::unique_ptr<algorithms::LearnedOperator> make_op() const {
    return make_meta(model_of(setting_), tasks_, {.precision = Precision::single, .seed = settings_.seed});
  }
  const Settings& settings_;
  const Scale& scale_;
  LearnedSetting setting_;
  Tasks tasks_;
  learning::Loss loss_;
  learning::TrainOptions options_;
};

certify::Options claims_of(const MetaSubject& subject, const std::string& title) {
  certify::Options claims;
  claims.delta = learned_delta;
  claims.tolerances = subject.tolerances;
  claims.quantiles = quantiles;
  claims.all_steps = true;
  std::erase(claims.kinds, "budget");
  claims.title = title;
  return claims;
}

struct Results {
  certify::Certificate learned;   ///< prior mean zero, on the training tasks
  certify::Certificate split;     ///< prior mean of one half, on the other half
  certify::Certificate hold_out;  ///< deterministic, on fresh tasks
  runs::Tally pretrained;
};

certify::Certificate pac_bayes(const MetaSubject& subject, const LearnedSetting& setting,
                               const Settings& settings, const Tasks& tasks,
                               const std::vector<Candidate>& candidates, Index prior_samples,
                               const certify::SampleRange& samples, const std::string& title) {
  const auto op = make_op(setting, tasks);
  certify::PacBayesOptions options;
  options.claims = claims_of(subject, title);
  options.claims.risk_method = bounds::RiskMethod::pac_bayes;
  options.claims.quantile_method = bounds::QuantileMethod::grid;
  options.claims.grid = bounds::log_spaced(1e-3, 1e1, 801);
  certify::CalibrationOptions calibration;
  calibration.seed = static_cast<Index>(settings.seed);
  calibration.prior_samples = prior_samples;
  calibration.samples = samples;
  return certify_candidates(*op, candidates, options, subject.metric, setting.steps, calibration,
                            *settings.journals);
}

certify::Certificate fresh(const MetaSubject& subject, const LearnedSetting& setting,
                           const Settings& settings, const Tasks& tasks, const certify::SampleRange& samples,
                           const learning::Posterior& posterior) {
  const auto op = make_op(setting, tasks);
  certify::LearnedModel model{*op, posterior, subject.metric, setting.steps};
  model.name = "deterministic";
  model.source = "weights_deterministic.safetensors";
  return certify::certify_hold_out(
      model, claims_of(subject, "Meta-learning of sinusoids: hold-out"),
      {.at_means = true,
       .samples = samples,
       .journal = &settings.journals->next(learning::posterior_sha256(posterior))});
}

runs::Tally count_pretrained(const MetaSubject& subject, const LearnedSetting& setting,
                             const Settings& settings, const Tasks& tasks,
                             const learning::Posterior& posterior) {
  const auto op = make_op(setting, tasks);
  const Eigen::VectorXd& mean = posterior.gaussians.mean;
  const std::vector<double> none(static_cast<std::size_t>(mean.size()), 0.0);
  op->assign({mean.data(), none.size()}, none);
  return count_baseline(certify::SampledOperator(*op), subject.metric, {}, setting.steps, subject.tolerances,
                        settings.journals->next(learning::posterior_sha256(posterior)));
}

double observed_quantile(const runs::Tally& tally, Index step, double quantile) {
  const runs::ValueStore& values = tally.values(static_cast<std::size_t>(step));
  return values.order_statistic(bounds::empirical_rank(values.size(), quantile));
}

void add_quantile_table(Output& output, const MetaSubject& subject, const Results& results, Index step) {
  report::TextTable table;
  table.columns = {{"share"}};
  const auto column = [&](const char* group, const char* header) {
    table.columns.push_back({header, report::Align::right, group});
  };
  column("pretrained, observed", "paper");
  column("pretrained, observed", "ours");
  column("meta-learned, observed", "paper");
  column("meta-learned, observed", "ours");
  for (const char* header : {"paper", "ours", "split prior", "hold-out"})
    column("meta-learned, certified", header);
  Index better = 0;
  for (Index row = 0; row < subject.table.rows(); ++row) {
    const double quantile = subject.table.quantile(row);
    const BestQuantile best = best_quantile(results.learned, quantile, step);
    const auto paper = [&](const char* name) {
      const std::optional<double> value = subject.table.at(row, name);
      return value ? exact_label(*value) : std::string(nothing);
    };
    table.add_row({percent_label(quantile), paper("pretrain"),
                   observed_value(observed_quantile(results.pretrained, step, quantile)), paper("maml_emp"),
                   observed_value(best.observed), paper("maml_bound"), upper_bound_value(best.certified),
                   upper_bound_value(best_quantile(results.split, quantile, step).certified),
                   upper_bound_value(best_quantile(results.hold_out, quantile, step).certified)});
    better += best.certified < subject.table.at(row, "maml_bound").value_or(infinity) ? 1 : 0;
  }
  std::vector<std::string> remarks{
      fmt::format("{} of {} certified quantiles are below the paper's, which has none for 95 %.", better,
                  subject.table.rows()),
      fmt::format("Certified with confidence {} for all shares and steps together; {}; split prior: {}.",
                  confidence_label(learned_delta), regularizers(results.learned),
                  regularizers(results.split))};
  for (const double tolerance : subject.tolerances) {
    const auto at = [&](const certify::Certificate& certificate) {
      return lower_bound_percent(report::best_success(certificate, tolerance).back().certified);
    };
    remarks.push_back(fmt::format("{} below {}: at least {} of tasks, split prior {}, hold-out {}.",
                                  subject.metric.name, exact_label(tolerance), at(results.learned),
                                  at(results.split), at(results.hold_out)));
  }
  add_table(output, subject.slug, fmt::format("{} after {} steps", subject.title, step), table, remarks);
}

void add_figures(Output& output, const MetaSubject& subject, const Results& results, Index steps) {
  StepFigure success{
      .name = "success_" + subject.slug,
      .title = fmt::format("Share of tasks with a {} below a tolerance", subject.metric.name),
      .metric = subject.metric.name,
      .problems = "tasks",
      .step = "step",
      .steps = steps,
      .curves = {{"pretrained", observed_success(results.pretrained, subject.tolerances), 0, 0},
                 {"", observed_success(results.learned), 2, 0},
                 {"meta-learned", certified_success(results.learned), 2, 1},
                 {"split prior", certified_success(results.split), 1, 1},
                 {"hold-out", certified_success(results.hold_out), 3, 1}}};
  StepFigure of_quantiles = success;
  of_quantiles.name = "quantiles_" + subject.slug;
  of_quantiles.title = subject.title;
  of_quantiles.curves = {{"pretrained", observed_quantiles(results.pretrained), 0, 0},
                         {"", observed_quantiles(results.learned), 2, 0},
                         {"meta-learned", certified_quantiles(results.learned), 2, 1},
                         {"split prior", certified_quantiles(results.split), 1, 1}};
  output.add(success_over_steps(success, subject.tolerances));
  output.add(quantiles_over_steps(of_quantiles, {0.5, 0.9, 0.95}, {"", true, false, 1e-3, 1e1}));
}

/// New tasks with what is learned of them, and the band that the certificate promises.
std::vector<report::PlanePicture> pictures(const families::Sinusoids& family, const Settings& settings,
                                           const LearnedSetting& setting, const learning::Posterior& learned,
                                           const learning::Posterior& pretrained, double band) {
  constexpr Index count = picture_rows * picture_columns;
  const auto samples = family.draw(settings.seed, SampleSet::test, count, test_tasks);
  const auto tasks = std::make_shared<const problems::RegressionTasks>(samples.tasks);
  const auto op = make_op(setting, tasks);
  runs::RunOptions options;
  options.steps = setting.steps;
  const auto adapted = [&](const learning::Posterior& posterior, bool draws) {
    const Eigen::VectorXd& mean = posterior.gaussians.mean;
    const Eigen::VectorXd variance = posterior.variance();
    const auto size = static_cast<std::size_t>(mean.size());
    op->assign({mean.data(), size}, {variance.data(), size});
    return draws
               ? runs::run_iterates(certify::SampledOperator(*op, settings.seed, "pictures", 0), {}, options)
               : runs::run_iterates(certify::SampledOperator(*op), {}, options);
  };
  const problems::Table ours = adapted(learned, true);
  const problems::Table theirs = adapted(pretrained, false);
  const problems::Vector inputs = problems::Vector::LinSpaced(201, -5, 5);
  std::vector<report::PlanePicture> all;
  using Kind = report::PlaneLayer::Kind;
  for (Index row = 0; row < picture_rows; ++row) {
    report::PlanePicture picture;
    picture.name = fmt::format("tasks_{}", row + 1);
    picture.caption = fmt::format("New tasks learned from {} points in {} steps.", tasks->train_inputs.cols(),
                                  setting.steps);
    if (std::isfinite(band)) {
      picture.caption += fmt::format(
          " With the certificate's confidence, for at least {} of tasks the learned curve is within {} of "
          "the true one at all test points (band).",
          percent_label(pictured_quantile), upper_bound_value(band));
    }
    for (Index i = row * picture_columns; i < (row + 1) * picture_columns; ++i) {
      report::PlanePanel panel{fmt::format("task {}", i + 1), {}};
      const auto path = [&](const problems::Vector& values) {
        std::vector<report::Curve::Point> points;
        for (Index j = 0; j < inputs.size(); ++j) points.push_back({inputs[j], values[j]});
        return points;
      };
      const problems::Vector truth = samples.amplitude[i] * (inputs.array() - samples.phase[i]).sin();
      if (std::isfinite(band)) {
        panel.layers.push_back({Kind::band, "certified band, 90 % of tasks", "#E69F00", path(truth), band});
      }
      panel.layers.push_back({Kind::line, "true", "#009E73", path(truth)});
      panel.layers.push_back({Kind::line, "pretrained, adapted", "#AA3377",
                              path(algorithms::maml_curve(theirs.row(i).transpose(), inputs))});
      panel.layers.push_back({Kind::line, "meta-learned, adapted", "#000000",
                              path(algorithms::maml_curve(ours.row(i).transpose(), inputs))});
      std::vector<report::Curve::Point> used;
      for (Index j = 0; j < tasks->train_inputs.cols(); ++j)
        used.push_back({tasks->train_inputs(i, j), tasks->train_outputs(i, j)});
      panel.layers.push_back({Kind::crosses, "points used", "#0072B2", used});
      picture.panels.push_back(std::move(panel));
    }
    all.push_back(std::move(picture));
  }
  return all;
}

std::string run_json(const LearnedSetting& setting) {
  return nlohmann::ordered_json{{"experiment", "maml"},
                                {"family", "sinusoids, 10 points to learn from, 100 to be judged by"},
                                {"solver", "gradient descent on the task's loss, step 0.01"},
                                {"start", "meta weights of a network 1-40-40-1"},
                                {"samples", setting.samples},
                                {"steps", setting.steps},
                                {"seed", setting.family_seed}}
      .dump();
}

}  // namespace

static void run_maml(const Settings& settings, Output& output) {
  const Scale scale = scale_of(settings);
  require(scale.samples >= 32, "--samples: {} is below 32", scale.samples);
  const LearnedSetting setting = setting_for("maml", settings, scale.samples, scale.steps);
  const families::Sinusoids family(model_of(setting).family);
  const Index half = scale.samples / 2;
  LearnedSetting of_first_half = setting;
  of_first_half.samples = half;
  const Tasks all = draw(setting, SampleSet::training, scale.samples);
  const Tasks second_half = draw(setting, SampleSet::training, scale.samples - half, half);
  const Tasks hold_out = draw(setting, SampleSet::hold_out, scale.samples);
  const Tasks test = draw(setting, SampleSet::test, test_tasks);
  fmt::print("Meta-learning of sinusoids: N = {}, {} steps, seed {}\n", count_label(scale.samples),
             scale.steps, settings.seed);
  // Batches are too small to be shared out: two trainings run side by side, a thread each. Processes have
  // them in turn, as what they exchange has one order.
  set_threads(1);
  const std::launch when = ranks().several() ? std::launch::deferred : std::launch::async;
  std::future<learning::Posterior> of_half = std::async(when, [&] {
    School school(settings, scale, of_first_half);
    return at_prior(school.prior_mean("split"));
  });
  School school(settings, scale, setting);
  const learning::Posterior pretrained = school.pretrained();
  const learning::Posterior deterministic = school.deterministic("deterministic");
  const std::vector<Candidate> learned{{"meta", school.bounded("meta", deterministic)}};
  const std::vector<Candidate> split{{"split", of_half.get()}};
  set_threads(settings.threads);

  const auto save = [&](const char* name, const learning::Posterior& posterior) {
    output.write(fmt::format("weights_{}.safetensors", name), learning::posterior_bytes(posterior));
  };
  save("pretrained", pretrained);
  save("deterministic", deterministic);
  save("meta", learned.front().posterior);
  save("split", split.front().posterior);

  double band = infinity;
  std::vector<report::PageFigure> shown;
  const FamilyKey key = setting.family();
  for (const MetaSubject& subject : subjects()) {
    Results results{pac_bayes(subject, setting, settings, all, learned, 0,
                              named_samples(key, settings, SampleSet::training, scale.samples),
                              "Meta-learning of sinusoids"),
                    pac_bayes(subject, setting, settings, second_half, split, half,
                              named_samples(key, settings, SampleSet::training, scale.samples - half, half),
                              "Meta-learning of sinusoids: split prior"),
                    fresh(subject, setting, settings, hold_out,
                          named_samples(key, settings, SampleSet::hold_out, scale.samples), deterministic),
                    count_pretrained(subject, setting, settings, test, pretrained)};
    for (certify::Certificate* certificate : {&results.learned, &results.split, &results.hold_out})
      certificate->run = run_json(setting);
    add_quantile_table(output, subject, results, scale.steps);
    add_figures(output, subject, results, scale.steps);
    if (subject.slug == "sup") {
      band = best_quantile(results.learned, pictured_quantile, scale.steps).certified;
      for (const report::PlanePicture& picture :
           pictures(family, settings, setting, learned.front().posterior, pretrained, band))
        shown.push_back(output.add_picture(picture));
    }
    const std::string inside = subject.slug == "sup" ? "" : subject.slug + "/";
    output.add(results.learned, inside + ".", shown, true);
    output.add(results.split, inside + "split", {});
    output.add(results.hold_out, inside + "hold_out", {});
  }
}

Experiment maml() {
  return {.name = "maml",
          .title = "Meta-learning",
          .samples = 0,
          .usual_samples = "50000",
          .usual_steps = "10",
          .paper_seconds = 340,
          .quick_seconds = 6,
          .bytes =
              [](const Settings& settings) {
                const Scale scale = scale_of(settings);
                return bytes_of(20e6, 13e3, scale.samples, 600e3, scale.steps);
              },
          .example = "--scale quick",
          .run = run_maml};
}

}  // namespace surefoot::experiments
