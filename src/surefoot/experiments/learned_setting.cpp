#include "surefoot/experiments/learned_setting.hpp"

#include "surefoot/core/checked.hpp"
#include "surefoot/core/error.hpp"
#include "surefoot/experiments/folder_cones.hpp"
#include "surefoot/experiments/stages.hpp"
#include "surefoot/families/folder_parameters.hpp"
#include "surefoot/io/text.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <optional>
#include <system_error>
#include <type_traits>
#include <utility>

namespace surefoot::experiments {

namespace {

constexpr Index fewest_samples = 8;

// The settings of a network by their keys, each set taken apart by all of its fields.

template <class Visit>
void visit_network(CodeNetworks& options, const Visit& /*visit*/) {
  [[maybe_unused]] auto& [family, files] = options;
}

template <class Visit>
void visit_network(GradientStart& options, const Visit& visit) {
  [[maybe_unused]] auto& [family, hidden, output_scale, unroll] = options;
  visit("hidden", hidden);
  visit("output_scale", output_scale);
  visit("unroll", unroll);
}

template <class Visit>
void visit_network(MetaLearning& options, const Visit& visit) {
  [[maybe_unused]] auto& [family, hidden, step] = options;
  visit("hidden", hidden);
  visit("step", step);
}

template <class Visit>
void visit_network(ControlStart& options, const Visit& visit) {
  [[maybe_unused]] auto& [family, hidden, rho] = options;
  visit("hidden", hidden);
  visit("rho", rho);
}

template <class Visit>
void visit_network(ScheduledSolver& options, const Visit& visit) {
  [[maybe_unused]] auto& [family, solver, rho, scale, alpha, scaling, scale_each, step] = options;
  visit("solver", solver);
  visit("rho", rho);
  visit("scale", scale);
  visit("alpha", alpha);
  visit("scaling", scaling);
  visit("scale_each", scale_each);
  visit("step", step);
}

template <class Visit>
void visit_network(FolderStart& options, const Visit& visit) {
  [[maybe_unused]] auto& [family, hidden, unroll, output_scale, rho, scale, alpha, scaling, scale_each,
                          inputs, scaled_first, scaled_count] = options;
  visit("hidden", hidden);
  visit("unroll", unroll);
  visit("output_scale", output_scale);
  visit("rho", rho);
  visit("scale", scale);
  visit("alpha", alpha);
  visit("scaling", scaling);
  visit("scale_each", scale_each);
}

/// What training finds: metadata have it, training files do not.
template <class Options>
void add_found(Options& /*options*/, std::vector<Field>& /*all*/) {}

void add_found(FolderStart& options, std::vector<Field>& all) {
  all.push_back({"", "", "network.inputs", &options.inputs, true});
  all.push_back({"", "", "network.scaled_first", &options.scaled_first, true});
  all.push_back({"", "", "network.scaled_count", &options.scaled_count, true});
}

template <class Family>
void add_family(Family& family, std::vector<Field>& all) {
  families::visit_constants(family, [&](const char* key, auto& value) {
    all.push_back({"family", key, std::string("family.") + key, &value, true});
  });
}

// Where the files lie is no part of the family; their digests are all of its constants.
void add_family(families::FolderOptions& family, std::vector<Field>& all) {
  all.push_back({"family", "kind", "problems.kind", &family.kind, true});
  all.push_back({"family", "folder", "problems.folder", &family.folder, false, true, true});
  all.push_back({"", "", "problems.cones", &family.cones, true, false});
  for (auto& [name, sha256] : family.digests) all.push_back({"", "", "family." + name, &sha256, true, false});
}

void add_files(families::SparseCodingFiles& files, std::vector<Field>& all) {
  for (families::OwnFile* file : files.all()) {
    const std::string name = file->name;
    all.push_back({"family", name, "problems." + name, &file->path, false, false, true});
    all.push_back({"", "", "family." + name, &file->sha256, true, false});
  }
}

namespace fs = std::filesystem;

// The first place where it is.
std::string found_at(const std::string& name, const fs::path& weights) {
  std::error_code error;
  const fs::path folder =
      weights.empty() ? fs::path() : fs::absolute(weights, error).lexically_normal().parent_path();
  for (const fs::path& place : {fs::path(name), folder / name, folder.parent_path() / name})
    if (fs::exists(place, error)) return place.string();
  throw InputError(fmt::format("{}: is not here and not beside {}; say where the problems lie (--problems)",
                               io::printable(name), io::printable(weights.string())));
}

// Of networks: their own operators check more, once there are samples.
void check_network(const CodeNetworks& /*options*/) {}

void check_layer(Index units) {
  constexpr Index most_units = 100000;
  require(units >= 1 && units <= most_units, "hidden: {} is outside 1 .. {}", units, most_units);
}

void check_network(const GradientStart& options) {
  check_layer(options.hidden);
  require(options.output_scale > 0, "output_scale: {} must be > 0", options.output_scale);
  require(options.unroll >= 1 && options.unroll <= most_steps, "unroll: {} is outside 1 .. {}",
          options.unroll, most_steps);
}

void check_network(const MetaLearning& options) {
  check_layer(options.hidden);
  require(options.step > 0, "step: {} must be > 0", options.step);
}

void check_layers(const std::vector<Index>& hidden) {
  constexpr std::size_t most_layers = 100;
  require(!hidden.empty() && hidden.size() <= most_layers, "hidden: {} layers, there are 1 .. {}",
          hidden.size(), most_layers);
  for (const Index units : hidden) check_layer(units);
}

void check_network(const ControlStart& options) {
  check_layers(options.hidden);
  require(options.rho > 0, "rho: {} must be > 0", options.rho);
}

void check_network(const ScheduledSolver& options) {
  using families::FolderKind;
  const FolderKind kind = families::parse_folder_kind(options.family.kind);
  const std::string method = options.method();
  const bool fits = kind == FolderKind::qp          ? method == "osqp"
                    : kind == FolderKind::cone      ? method == "scs"
                    : kind == FolderKind::quadratic ? method == "gradient-descent"
                                                    : method == "ista" || method == "fista";
  require(
      fits,
      "solver: '{}' is not osqp (of the kind qp), scs (cone), gradient-descent (quadratic), ista or fista "
      "(lasso)",
      io::excerpt(options.solver));
  require(options.rho > 0, "rho: {} must be > 0", options.rho);
  require(options.scale > 0, "scale: {} must be > 0", options.scale);
  require(options.alpha >= 0 && options.alpha < 2, "alpha: {} is outside [0, 2)", options.alpha);
  require(options.step >= 0, "step: {} must be >= 0", options.step);
}

void check_network(const FolderStart& options) {
  using families::FolderKind;
  const FolderKind kind = families::parse_folder_kind(options.family.kind);
  require(kind == FolderKind::qp || kind == FolderKind::cone, "kind: '{}' is not one of qp, cone",
          options.family.kind);
  check_layers(options.hidden);
  require(options.unroll >= 0 && options.unroll <= most_steps, "unroll: {} is outside 0 .. {}",
          options.unroll, most_steps);
  require(options.output_scale >= 0, "output_scale: {} must be >= 0", options.output_scale);
  require(options.rho > 0, "rho: {} must be > 0", options.rho);
  require(options.scale > 0, "scale: {} must be > 0", options.scale);
  require(options.alpha >= 0 && options.alpha < 2, "alpha: {} is outside [0, 2)", options.alpha);
  (void)families::ParameterMap::parse(options.inputs);
  (void)checked_sum("scaled_count", options.scaled_first, options.scaled_count);
}

/// Regression, which needs no bound: as much work whatever the number of problems.
std::vector<learning::Stage> usual_start_stages() {
  learning::Stage stage = plain_stage("regression", 300, 2e-3, 1e-3);
  stage.surrogate.kind = learning::SurrogateKind::identity;
  return {stage};
}

LearnedOptimizer code_network(const char* model) {
  LearnedOptimizer optimizer;
  optimizer.defaults.model = model;
  optimizer.loss = learning::LossKind::nmse;
  optimizer.metrics = {{"NMSE", {-50, -40, -30, -20, -10}}};
  return optimizer;
}

LearnedOptimizer optimizer_of(const char* model, Index steps, LearnedOptions options, learning::LossKind loss,
                              std::vector<ClaimedMetric> metrics, std::vector<learning::Stage> stages = {}) {
  LearnedOptimizer optimizer;
  optimizer.defaults.model = model;
  optimizer.defaults.steps = steps;
  optimizer.defaults.options = std::move(options);
  optimizer.loss = loss;
  optimizer.metrics = std::move(metrics);
  optimizer.stages = std::move(stages);
  if (optimizer.defaults.folder() != nullptr) optimizer.defaults.samples = 0;
  return optimizer;
}

}  // namespace

const std::vector<LearnedOptimizer>& learned_optimizers() {
  using learning::LossKind;
  static const std::vector<LearnedOptimizer> all{
      code_network("alista"),
      code_network("glista"),
      code_network("tilista"),
      code_network("lista"),
      optimizer_of("l2ws", 800, GradientStart(), LossKind::residual,
                   {{"fixed-point residual", {1e-4, 1e-3, 1e-2}}}),
      optimizer_of("maml", 10, MetaLearning(), LossKind::objective,
                   {{"mean squared error", {0.01, 0.1, 1}}, {"largest error", {0.1, 0.5, 1}}}),
      optimizer_of("mpc-warm-start", 120, ControlStart(), LossKind::regression,
                   {{"optimality residual", {1e-4, 1e-3, 1e-2}}}),
      optimizer_of("schedule", 20, ScheduledSolver(), LossKind::optimality,
                   {{"optimality residual", {1e-4, 1e-3, 1e-2}}}),
      optimizer_of("warm-start", 200, FolderStart(), LossKind::regression,
                   {{"optimality residual", {1e-4, 1e-3, 1e-2}}}, usual_start_stages())};
  return all;
}

std::string learned_optimizer_names() {
  std::vector<std::string> names;
  for (const LearnedOptimizer& optimizer : learned_optimizers()) names.push_back(optimizer.defaults.model);
  return fmt::format("{}", fmt::join(names, ", "));
}

const LearnedOptimizer& learned_optimizer(const std::string& model) {
  for (const LearnedOptimizer& optimizer : learned_optimizers()) {
    if (optimizer.defaults.model == model) return optimizer;
  }
  throw InputError(
      fmt::format("model: '{}' is not one of {}", io::excerpt(model), learned_optimizer_names()));
}

const ClaimedMetric& LearnedOptimizer::metric(const std::string& name) const {
  if (name.empty()) return metrics.front();
  std::vector<std::string> names;
  for (const ClaimedMetric& metric : metrics) {
    if (metric.name == name) return metric;
    names.push_back(metric.name);
  }
  throw InputError(fmt::format("metric: '{}' is not one of {}, which {} has", io::excerpt(name),
                               fmt::join(names, ", "), defaults.model));
}

std::vector<Field> LearnedSetting::fields() {
  std::vector<Field> all{
      {"", "model", "model", &model, true},           {"family", "seed", "family.seed", &family_seed, true},
      {"family", "samples", "samples", &samples},     {"family", "first", "samples.first", &first},
      {"network", "steps", "steps", &steps, true},    {"", "", "seen.first", &seen_first, false, false},
      {"", "", "seen.last", &seen_last, false, false}};
  std::visit(
      [&](auto& own) {
        add_family(own.family, all);
        if constexpr (requires { own.files; }) add_files(own.files, all);
        visit_network(own, [&](const char* key, auto& value) {
          all.push_back({"network", key, std::string("network.") + key, &value, true});
        });
        add_found(own, all);
      },
      options);
  return all;
}

FamilyKey LearnedSetting::family() const {
  return std::visit(
      [](const auto& own) {
        if constexpr (requires { own.files; }) {
          return families::key_of(own.family, own.files);
        } else {
          return families::key_of(own.family);
        }
      },
      options);
}

families::FolderOptions* LearnedSetting::folder() {
  return std::visit(
      [](auto& own) -> families::FolderOptions* {
        if constexpr (std::is_same_v<decltype(own.family), families::FolderOptions>) {
          return &own.family;
        } else {
          return nullptr;
        }
      },
      options);
}

const families::FolderOptions* LearnedSetting::folder() const {
  return const_cast<LearnedSetting*>(this)->folder();  // NOLINT(cppcoreguidelines-pro-type-const-cast)
}

bool LearnedSetting::has_rows() const {
  const auto* networks = std::get_if<CodeNetworks>(&options);
  return folder() != nullptr || (networks != nullptr && networks->files.has_rows());
}

void LearnedSetting::identify(std::vector<families::FamilyFiles::Read>* read) {
  auto* networks = std::get_if<CodeNetworks>(&options);
  if (networks != nullptr && networks->files.any())
    (void)families::OwnSparseCoding(family_seed, networks->family, networks->files, read);
  families::FolderOptions* files = folder();
  if (files == nullptr) return;
  if (families::parse_folder_kind(files->kind) == families::FolderKind::cone && files->cones.empty())
    files->cones = families::cones_text(cones_in(files->folder));
  const families::FolderProblems all = families::read_folder(*files, read);
  const Index there = std::visit([](const auto& family) { return family.instances(); }, all);
  if (samples == 0) {
    samples = (there - std::min(first, there)) / 2;
    require(samples >= fewest_samples,
            "{}: has {} problems from {} on; to learn from half of them, {} are needed", files->folder,
            there - std::min(first, there), first, 2 * fewest_samples);
  }
  auto* start = std::get_if<FolderStart>(&options);
  if (start == nullptr) return;
  if (read != nullptr) {
    // Other starts are compared with; weights do not depend on them.
    families::FolderOptions compared = *files;
    (void)families::read_beside(families::start_table, compared, there, read);
  }
  if (start->scaled_count > 0) {
    if (families::is_of_given(families::ParameterMap::parse(start->inputs)))
      (void)families::read_beside(families::parameters_table, *files, there, read);
    return;
  }
  const families::FolderProblems learned = families::rows_of_folder(*files, all, first, samples);
  std::optional<problems::Table> rows;
  if (const auto given = families::read_beside(families::parameters_table, *files, there, read))
    rows = given->middleRows(first, samples);
  start->inputs = families::find_parameters(learned, rows ? &*rows : nullptr).text();
  start->scaled_first = first;
  start->scaled_count = samples;
}

void LearnedSetting::find_files(const fs::path& problems, const fs::path& weights) {
  bool any = false;
  if (families::FolderOptions* files = folder()) {
    any = true;
    if (!problems.empty()) {
      files->folder = problems.string();
    } else if (!files->folder.empty()) {
      files->folder = found_at(files->folder, weights);
    }
  }
  if (auto* networks = std::get_if<CodeNetworks>(&options)) {
    for (families::OwnFile* file : networks->files.all()) {
      if (!file->given()) continue;
      any = true;
      file->path = problems.empty() ? found_at(file->path, weights)
                                    : (problems / fs::path(file->path).filename()).string();
    }
  }
  require(any || problems.empty(), "--problems: those of {} are drawn", model);
}

Index LearnedSetting::unrolled() const {
  return std::visit([&](const auto& own) { return own.unrolled(steps); }, options);
}

bool LearnedSetting::same_model(const LearnedSetting& other) const {
  LearnedSetting a = *this;
  LearnedSetting b = other;
  const std::vector<Field> ours = a.fields();
  const std::vector<Field> theirs = b.fields();
  return std::equal(ours.begin(), ours.end(), theirs.begin(), theirs.end(),
                    [](const Field& one, const Field& two) {
                      return one.name() == two.name() && (!one.of_model || one.text() == two.text());
                    });
}

void LearnedSetting::validate() const {
  std::visit(
      [](const auto& own) {
        own.family.validate();
        check_network(own);
      },
      options);
  require(folder() == nullptr || family_seed == 0, "seed: the problems of a folder are not drawn");
  if (const auto* networks = std::get_if<CodeNetworks>(&options))
    networks->files.validate(networks->family, family_seed);
  require(samples >= fewest_samples || (samples == 0 && folder() != nullptr), "samples: {} is below {}",
          samples, fewest_samples);
  (void)checked_sum("samples", first, samples);
  require(steps >= 1 && steps <= most_steps, "steps: {} is outside 1 .. {}", steps, most_steps);
}

}  // namespace surefoot::experiments
