#include "surefoot/experiments/tune_family.hpp"

#include "surefoot/certify/settings_json.hpp"
#include "surefoot/certify/table_view.hpp"
#include "surefoot/core/checked.hpp"
#include "surefoot/core/error.hpp"
#include "surefoot/core/parallel.hpp"
#include "surefoot/experiments/host.hpp"
#include "surefoot/experiments/memory_needs.hpp"
#include "surefoot/io/json_dump.hpp"
#include "surefoot/io/text.hpp"
#include "surefoot/problems/rows_of.hpp"
#include "surefoot/runs/solve_cone.hpp"
#include "surefoot/runs/solve_qp.hpp"

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include <algorithm>
#include <filesystem>
#include <numeric>
#include <utility>

namespace surefoot::experiments {
namespace {

using FamilyJson = nlohmann::ordered_json;
using Kind = SettingAxis::Kind;

double number_in(const SettingTexts& settings, std::string_view name, double otherwise) {
  const auto found = std::ranges::find(settings, name, &SettingTexts::value_type::first);
  double value = otherwise;
  if (found != settings.end())
    require(io::parse_number(found->second, value), "{}: '{}' is not a number", name,
            io::excerpt(found->second));
  return value;
}

Index whole_in(const SettingTexts& settings, std::string_view name, Index otherwise) {
  return whole_number_of(name, number_in(settings, name, static_cast<double>(otherwise)));
}

std::string text_in(const SettingTexts& settings, std::string_view name, const std::string& otherwise) {
  const auto found = std::ranges::find(settings, name, &SettingTexts::value_type::first);
  return found == settings.end() ? otherwise : found->second;
}

bool has(const SettingTexts& settings, std::string_view name) {
  return std::ranges::find(settings, name, &SettingTexts::value_type::first) != settings.end();
}

bool truth_in(const SettingTexts& settings, std::string_view name, bool otherwise) {
  const std::string text = text_in(settings, name, otherwise ? "true" : "false");
  require(text == "true" || text == "false", "{}: '{}' is not true or false", name, io::excerpt(text));
  return text == "true";
}

std::vector<Index> numbers_of(Part part) {
  std::vector<Index> numbers(static_cast<std::size_t>(part.count));
  std::iota(numbers.begin(), numbers.end(), part.first);
  return numbers;
}

SettingAxis choice(std::string name, std::vector<std::string> choices, Index coarse,
                   std::pair<std::string, std::string> only_with = {}) {
  return {std::move(name), Kind::choices, 0, 0, std::move(choices), coarse, std::move(only_with)};
}

/// What the package has, of the settings that are searched; none where that is outside their ranges, or where
/// the package with these settings is another solver: a rho that is searched alone is not adapted.
std::optional<SettingValues> candidate_of_defaults(
    const SettingSpace& space, const SettingTexts& defaults,
    const std::function<bool(const SettingTexts&)>& is_default) {
  SettingTexts searched;
  for (const auto& [name, value] : defaults) {
    if (std::ranges::count(space.axes(), name, &SettingAxis::name) > 0) searched.emplace_back(name, value);
  }
  try {
    SettingValues candidate = space.candidate_of("default", searched);
    if (is_default(space.texts(candidate))) return candidate;
  } catch (const InputError&) {
    return std::nullopt;
  }
  return std::nullopt;
}

bool is_default_osqp(const SettingTexts& settings) {
  algorithms::OsqpOptions usual = osqp_preset(Preset::defaults);
  const algorithms::OsqpOptions own = osqp_with(settings, usual.max_iter);
  usual.check_termination = own.check_termination;  // nobody obeys it
  return certify::settings_json(settings_of(own)) == certify::settings_json(settings_of(usual));
}

bool is_default_scs(const SettingTexts& settings) {
  algorithms::ScsOptions usual = scs_preset(Preset::defaults);
  const algorithms::ScsOptions own = scs_with(settings, usual.max_iters);
  usual.check_termination = own.check_termination;
  usual.returned = own.returned;
  return certify::settings_json(settings_of(own, {})) == certify::settings_json(settings_of(usual, {}));
}

/// Axes as they are asked for, or the usual ones; each value of the first grid alone must be one that the
/// solver takes, so that it is refused before anything is run.
std::vector<SettingAxis> axes_for(const std::string& over, const std::string& usual,
                                  const std::vector<SettingAxis>& known,
                                  const std::function<void(const SettingTexts&)>& take) {
  std::vector<SettingAxis> axes = parse_axes("--over", over.empty() ? usual : over, known);
  (void)SettingSpace(axes);
  for (SettingAxis axis : axes) {
    axis.only_with = {};
    axis.coarse = std::max(axis.coarse, static_cast<Index>(axis.choices.size()));
    const SettingSpace alone({axis});
    try {
      for (const SettingValues& each : alone.coarse_grid()) take(alone.texts(each));
      constexpr double anywhere = 0.382;  // what is near the best is searched, too: a range is of any numbers
      if (axis.is_range()) take(alone.texts(alone.canonical({axis.low + anywhere * (axis.high - axis.low)})));
    } catch (const InputError& error) {
      throw InputError(fmt::format("--over: {}", error.what()));
    }
  }
  return axes;
}

}  // namespace

// The first of the choices is the package's own.
std::vector<SettingAxis> osqp_axes() {
  return {{"rho", Kind::logarithmic, 1e-3, 1e3, {}, 13, {}},
          {"alpha", Kind::linear, 1.0, 1.9, {}, 4, {}},
          choice("scaling", {"10", "0"}, 2),
          choice("adaptive_rho", {"iterations", "off"}, 2),
          choice("adaptive_rho_interval", {"50", "10", "25", "100"}, 1, {"adaptive_rho", "iterations"}),
          choice("adaptive_rho_tolerance", {"5", "1.5", "2", "10"}, 1, {"adaptive_rho", "iterations"}),
          {"sigma", Kind::logarithmic, 1e-8, 1e-2, {}, 4, {}}};
}

std::string usual_osqp_axes() {
  return "rho,alpha,scaling,adaptive_rho,adaptive_rho_interval,adaptive_rho_tolerance";
}

std::vector<SettingAxis> scs_axes() {
  return {{"scale", Kind::logarithmic, 1e-3, 1e3, {}, 13, {}},
          {"alpha", Kind::linear, 1.0, 1.9, {}, 3, {}},
          choice("normalize", {"true", "false"}, 1),
          choice("adaptive_scale", {"true", "false"}, 2),
          choice("acceleration_lookback", {"10", "0", "5", "20"}, 2),
          choice("acceleration_interval", {"5", "1", "10", "20"}, 1),
          {"rho_x", Kind::logarithmic, 1e-8, 1e-2, {}, 4, {}}};
}

std::string usual_scs_axes() {
  return "scale,alpha,normalize,adaptive_scale,acceleration_lookback,acceleration_interval";
}

algorithms::OsqpOptions osqp_with(const SettingTexts& settings, Index iterations) {
  algorithms::OsqpOptions options = osqp_preset(Preset::defaults);
  options.rho = number_in(settings, "rho", options.rho);
  options.sigma = number_in(settings, "sigma", options.sigma);
  options.alpha = number_in(settings, "alpha", options.alpha);
  options.scaling = whole_in(settings, "scaling", options.scaling);
  const bool usually_adapts = !has(settings, "rho");
  options.adaptive_rho =
      parse_adaptive_rho(text_in(settings, "adaptive_rho", std::string(adaptive_rho_name(usually_adapts))));
  options.adaptive_rho_interval = whole_in(settings, "adaptive_rho_interval", options.adaptive_rho_interval);
  options.adaptive_rho_tolerance =
      number_in(settings, "adaptive_rho_tolerance", options.adaptive_rho_tolerance);
  options.max_iter = iterations;
  options.check_termination = 0;  // not obeyed, and nobody reads what it would say
  options.validate();
  return options;
}

algorithms::ScsOptions scs_with(const SettingTexts& settings, Index iterations) {
  algorithms::ScsOptions options = scs_preset(Preset::defaults);
  options.scale = number_in(settings, "scale", options.scale);
  options.rho_x = number_in(settings, "rho_x", options.rho_x);
  options.alpha = number_in(settings, "alpha", options.alpha);
  options.normalize = truth_in(settings, "normalize", options.normalize);
  options.adaptive_scale = truth_in(settings, "adaptive_scale", !has(settings, "scale"));
  options.adaptive_diag_scale = options.adaptive_diag_scale && options.adaptive_scale;
  options.acceleration_lookback = whole_in(settings, "acceleration_lookback", options.acceleration_lookback);
  options.acceleration_interval = whole_in(settings, "acceleration_interval", options.acceleration_interval);
  options.max_iters = iterations;
  options.check_termination = false;
  options.returned = true;
  options.validate();
  return options;
}

std::vector<SettingAxis> osqp_axes_of(const FamilyTuneOptions& options) {
  return axes_for(options.over, usual_osqp_axes(), osqp_axes(),
                  [&](const SettingTexts& settings) { (void)osqp_with(settings, options.iterations); });
}

std::vector<SettingAxis> scs_axes_of(const FamilyTuneOptions& options) {
  return axes_for(options.over, usual_scs_axes(), scs_axes(),
                  [&](const SettingTexts& settings) { (void)scs_with(settings, options.iterations); });
}

void FamilyTuneOptions::validate() const {
  tune.validate();
  require(iterations >= 1 && iterations <= most_steps, "--iterations: {} is outside 1 .. {}", iterations,
          most_steps);
}

FamilyTunable::FamilyTunable(std::vector<SettingAxis> axes, const SettingTexts& defaults,
                             FamilyTuneOptions options, Index problems, Make make,
                             const std::function<problems::Table(const Interrupt&)>& solve,
                             const std::function<bool(const SettingTexts&)>& is_default,
                             OfProblems independence)
    : space_(std::move(axes)),
      options_(std::move(options)),
      problems_(problems),
      make_(std::move(make)),
      independence_(std::move(independence)),
      default_candidate_(candidate_of_defaults(space_, defaults, is_default)) {
  options_.validate();
  (void)split_problems(problems_, options_.tune, has_default());
  require_memory();
  if (runs::needs_solutions(options_.metric)) solutions_ = solve(host().check);
  const std::vector<Index> one{0};
  metric_ = metric_on(*solver(std::nullopt, one).op, one);
}

void FamilyTunable::require_memory() const {
  MemoryNeeds needs(options_.memory_limit);
  const SubsetSolver one = solver(std::nullopt, {0});
  needs.add_blocks(*one.op, options_.iterations, threads());
  add_tuning(needs, space_, problems_, options_.iterations + 1, options_.tune, has_default());
  // Problems of every candidate that runs, as they are chosen and as its solver has them.
  const TuneSplit split = split_problems(problems_, options_.tune, has_default());
  const double at_once = std::max(static_cast<double>(threads()) * static_cast<double>(split.search.count),
                                  static_cast<double>(split.certified.count));
  constexpr double copies = 5;
  needs.add("problems",
            copies * at_once * static_cast<double>(one.op->iterate_size() + one.op->state_size()));
  if (runs::needs_solutions(options_.metric))
    needs.add("solutions", 5 * static_cast<double>(problems_) * static_cast<double>(one.op->iterate_size()));
  needs.require_fit();
}

SubsetSolver FamilyTunable::solver(const std::optional<SettingValues>& candidate,
                                   const std::vector<Index>& problems) const {
  const bool is_own = !candidate || candidate->empty();
  return make_(is_own ? std::nullopt : std::optional(space_.texts(*candidate)), problems);
}

runs::Metric FamilyTunable::metric_on(const algorithms::Operator& op,
                                      const std::vector<Index>& problems) const {
  return runs::named_metric(options_.metric, op, [&] {
    return solutions_.rows() == 0 ? problems::Table(0, 0) : problems::Table(solutions_(problems, Eigen::all));
  });
}

std::vector<std::vector<double>> FamilyTunable::times(const std::vector<TuneWork>& works, double tolerance) {
  std::vector<std::vector<double>> all(works.size());
  const auto run_one = [&](Index number) {
    const TuneWork& work = works[static_cast<std::size_t>(number)];
    const SubsetSolver subset = solver(work.candidate, work.problems);
    const runs::Metric metric = metric_on(*subset.op, work.problems);
    std::vector<Index> steps(static_cast<std::size_t>(options_.iterations - metric.first_step() + 1));
    std::iota(steps.begin(), steps.end(), metric.first_step());
    std::vector<double>& times = all[static_cast<std::size_t>(number)];
    times.resize(work.problems.size());
    runs::RunOptions run_options;
    run_options.steps = options_.iterations;
    run_options.interrupt = host().check;
    runs::run(*subset.op, {metric}, runs::cold_start(), run_options,
              [&](std::size_t, Index instance, const double* trace) {
                times[static_cast<std::size_t>(instance)] = settling_step(trace, steps, tolerance);
              });
  };
  // Whole candidates side by side, or the problems of each: whichever keeps all threads busy.
  if (static_cast<int>(works.size()) >= threads()) {
    parallel_blocks(static_cast<Index>(works.size()), run_one);
  } else {
    for (Index i = 0; i < static_cast<Index>(works.size()); ++i) run_one(i);
  }
  return all;
}

TuneTraces FamilyTunable::traces(const std::optional<SettingValues>& candidate, Part problems) {
  const std::vector<Index> numbers = numbers_of(problems);
  const SubsetSolver subset = solver(candidate, numbers);
  const runs::Metric metric = metric_on(*subset.op, numbers);
  runs::RunOptions run_options;
  run_options.steps = options_.iterations;
  run_options.interrupt = host().check;
  std::vector<runs::Trace> all = runs::run_traces(*subset.op, {metric}, runs::cold_start(), run_options);
  TuneTraces traces;
  traces.values = std::move(all.front().values);
  traces.steps.resize(static_cast<std::size_t>(traces.values.cols()));
  std::iota(traces.steps.begin(), traces.steps.end(), all.front().first_step);
  return traces;
}

certify::Independence FamilyTunable::independence(const TuneSplit& split, const std::string& name) const {
  certify::Independence of_certified = independence_(numbers_of(split.certified));
  of_certified.require_none(name, options_.allow_dependence);
  require_apart(independence_(in_turn(split)), of_certified, name);
  return of_certified;
}

std::string FamilyTunable::settings(const std::optional<SettingValues>& candidate) const {
  return certify::settings_json(solver(candidate, {0}).op->settings());
}

std::unique_ptr<FamilyTunable> tunable_qp(families::FamilyFiles& files, const FamilyTuneOptions& options) {
  options.validate();
  const auto problem = std::make_shared<const problems::Qp>(files.read_qp());
  const Index iterations = options.iterations;
  // Errors of the problems name their files once, here.
  files.with_file_names([&] { algorithms::Osqp(*problem, osqp_with({}, iterations)); });
  const FamilyTunable::Make make = [problem, iterations](const std::optional<SettingTexts>& settings,
                                                         const std::vector<Index>& problems) {
    algorithms::OsqpOptions osqp = osqp_preset(Preset::defaults);
    osqp.max_iter = iterations;
    if (settings) osqp = osqp_with(*settings, iterations);
    return SubsetSolver{nullptr,
                        std::make_unique<algorithms::Osqp>(problems::rows_of(*problem, problems), osqp)};
  };
  const algorithms::OsqpOptions usual = osqp_preset(Preset::defaults);
  const SettingTexts defaults{{"rho", fmt::to_string(usual.rho)},
                              {"sigma", fmt::to_string(usual.sigma)},
                              {"alpha", fmt::to_string(usual.alpha)},
                              {"scaling", fmt::to_string(usual.scaling)},
                              {"adaptive_rho", std::string(adaptive_rho_name(usual.adaptive_rho))}};
  return std::make_unique<FamilyTunable>(
      osqp_axes_of(options), defaults, options, problem->instances(), make,
      [problem](const Interrupt& interrupt) {
        runs::QpSolveOptions how;
        how.interrupt = interrupt;
        return runs::solve_qp(*problem, how);
      },
      is_default_osqp,
      [problem](const std::vector<Index>& numbers) {
        const problems::Qp some = problems::rows_of(*problem, numbers);
        return certify::independence_of_problems(certify::data_of(some));
      });
}

std::unique_ptr<FamilyTunable> tunable_cone(families::FamilyFiles& files, const problems::Cones& cones,
                                            const FamilyTuneOptions& options) {
  options.validate();
  const auto problem = std::make_shared<const problems::ConeProgram>(files.read_cone_program(cones));
  const Index iterations = options.iterations;
  files.with_file_names([&] { algorithms::make_scs(*problem, scs_with({}, iterations)); });
  algorithms::ScsOptions usual = scs_preset(Preset::defaults);
  usual.max_iters = iterations;
  usual.returned = true;
  const FamilyTunable::Make make = [problem, usual](const std::optional<SettingTexts>& settings,
                                                    const std::vector<Index>& problems) {
    return SubsetSolver{nullptr,
                        algorithms::make_scs(problems::rows_of(*problem, problems),
                                             settings ? scs_with(*settings, usual.max_iters) : usual)};
  };
  const SettingTexts defaults{{"scale", fmt::to_string(usual.scale)},
                              {"rho_x", fmt::to_string(usual.rho_x)},
                              {"alpha", fmt::to_string(usual.alpha)},
                              {"normalize", usual.normalize ? "true" : "false"},
                              {"adaptive_scale", usual.adaptive_scale ? "true" : "false"},
                              {"acceleration_lookback", fmt::to_string(usual.acceleration_lookback)},
                              {"acceleration_interval", fmt::to_string(usual.acceleration_interval)}};
  return std::make_unique<FamilyTunable>(
      scs_axes_of(options), defaults, options, problem->instances(), make,
      [problem, usual](const Interrupt& interrupt) {
        runs::SolveOptions how;
        how.interrupt = interrupt;
        return runs::solve_cone(*problem, usual, how);
      },
      is_default_scs,
      [problem](const std::vector<Index>& numbers) {
        const problems::ConeProgram some = problems::rows_of(*problem, numbers);
        return certify::independence_of_problems(certify::data_of(some));
      });
}

std::string tune_record(const FamilyTunable& subject, const families::FamilyFiles& files,
                        const FamilyTuneOptions& options, const TuneResult& result) {
  FamilyJson run = FamilyJson::object();
  run["search"] = FamilyJson::parse(search_record(subject, options.tune, result, false));
  run["default"] = FamilyJson::parse(subject.settings(std::nullopt));
  run["tuned"] = FamilyJson::parse(subject.settings(result.race.winner));
  run["files"] = FamilyJson::object();
  for (const families::FamilyFiles::Read& read : files.files())
    run["files"][read.name] = {{"file", std::filesystem::path(read.file).filename().string()},
                               {"sha256", read.sha256}};
  run["iterations"] = options.iterations;
  run["start"] = "cold";
  return io::json_dump(run);
}

}  // namespace surefoot::experiments
