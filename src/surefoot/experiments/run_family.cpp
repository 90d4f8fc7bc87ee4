#include "surefoot/experiments/run_family.hpp"

#include "surefoot/certify/certify_run.hpp"
#include "surefoot/certify/count_table.hpp"
#include "surefoot/certify/learned.hpp"
#include "surefoot/certify/run_counter.hpp"
#include "surefoot/certify/settings_json.hpp"
#include "surefoot/core/bytes.hpp"
#include "surefoot/core/checked.hpp"
#include "surefoot/core/enum_names.hpp"
#include "surefoot/core/error.hpp"
#include "surefoot/core/family_key.hpp"
#include "surefoot/core/number_text.hpp"
#include "surefoot/core/parallel.hpp"
#include "surefoot/core/ranks.hpp"
#include "surefoot/experiments/checkpoints.hpp"
#include "surefoot/experiments/host.hpp"
#include "surefoot/experiments/learned_bench.hpp"
#include "surefoot/experiments/learned_weights.hpp"
#include "surefoot/experiments/memory_needs.hpp"
#include "surefoot/families/folder_family.hpp"
#include "surefoot/families/folder_parameters.hpp"
#include "surefoot/io/json_dump.hpp"
#include "surefoot/io/npy.hpp"
#include "surefoot/io/sha256.hpp"
#include "surefoot/learning/posterior_file.hpp"
#include "surefoot/report/file_names.hpp"
#include "surefoot/runs/named_metric.hpp"
#include "surefoot/runs/solve_cone.hpp"
#include "surefoot/runs/solve_qp.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <nlohmann/json.hpp>

#include <algorithm>
#include <filesystem>
#include <functional>
#include <numeric>
#include <utility>
#include <variant>

namespace surefoot::experiments {

namespace {

constexpr EnumNames<Preset, 3> preset_names{
    {{Preset::defaults, "default"}, {Preset::fixed, "fixed"}, {Preset::paper, "paper"}}};

std::string file_name(const std::string& path) {
  return std::filesystem::path(path).filename().string();
}

using Json = nlohmann::ordered_json;

/// What the certificate says of the stopping test: how many problems have which status, and after how many
/// iterations; null: not so many have ended.
Json termination_record(const runs::Terminations& terminations, bool obeyed) {
  Json record = {{"obeyed", obeyed}, {"statuses", Json::object()}, {"iterations", Json::object()}};
  for (const auto& [status, count] : terminations.counts()) {
    record["statuses"][std::string(algorithms::to_string(status))] = count;
  }
  for (const auto& [name, part] : {std::pair{"median", 0.5}, {"90%", 0.9}, {"largest", 1.0}}) {
    const double iterations = terminations.iterations_of(part);
    record["iterations"][name] = iterations < infinity ? Json(static_cast<Index>(iterations)) : Json(nullptr);
  }
  return record;
}

std::string termination_text(const Json& record, const std::string& package) {
  std::vector<std::string> statuses;
  for (const auto& [status, count] : record["statuses"].items()) {
    statuses.push_back(fmt::format("{} {}", count.get<Index>(), status));
  }
  std::vector<std::string> iterations;
  for (const auto& [name, value] : record["iterations"].items()) {
    iterations.push_back(fmt::format("{} {}", name, value.is_null() ? "never" : value.dump()));
  }
  return fmt::format("Stopping test of {} ({}): {}; iterations to termination: {}", package,
                     record["obeyed"].get<bool>() ? "obeyed" : "recorded, not obeyed",
                     fmt::join(statuses, ", "), fmt::join(iterations, ", "));
}

}  // namespace

std::string_view to_string(Preset preset) {
  return name_in(preset_names, preset);
}

Preset parse_preset(std::string_view name) {
  return value_in(preset_names, "--preset", name == "package" ? to_string(Preset::fixed) : name);
}

algorithms::ScsOptions scs_preset(Preset preset) {
  using algorithms::ScsOptions;
  if (preset == Preset::paper) return ScsOptions::paper();
  return preset == Preset::fixed ? ScsOptions::fixed() : ScsOptions::defaults();
}

algorithms::OsqpOptions osqp_preset(Preset preset) {
  using algorithms::OsqpOptions;
  if (preset == Preset::paper) return OsqpOptions::paper();
  return preset == Preset::fixed ? OsqpOptions::fixed() : OsqpOptions::defaults();
}

bool parse_adaptive_rho(std::string_view text) {
  require(text != "time",
          "--adaptive-rho: 'time' makes results depend on the clock; choose iterations or off");
  require(text == adaptive_rho_name(true) || text == adaptive_rho_name(false),
          "--adaptive-rho: '{}' is not one of iterations, off", text);
  return text == adaptive_rho_name(true);
}

std::string_view adaptive_rho_name(bool adapts) {
  return adapts ? "iterations" : "off";
}

RerunOptions rerun_settings(const algorithms::OsqpOptions& osqp, const std::string& preset) {
  return {{"--rho", fmt::to_string(osqp.rho)},
          {"--sigma", fmt::to_string(osqp.sigma)},
          {"--alpha", fmt::to_string(osqp.alpha)},
          {"--scaling", fmt::to_string(osqp.scaling)},
          {"--equality-factor", fmt::to_string(osqp.equality_factor)},
          {"--preset", preset},
          {"--adaptive-rho", std::string(adaptive_rho_name(osqp.adaptive_rho))},
          {"--adaptive-rho-interval", fmt::to_string(osqp.adaptive_rho_interval)},
          {"--adaptive-rho-tolerance", fmt::to_string(osqp.adaptive_rho_tolerance)},
          {"--check-termination", fmt::to_string(osqp.check_termination)},
          {"--eps-abs", fmt::to_string(osqp.eps_abs)},
          {"--eps-rel", fmt::to_string(osqp.eps_rel)},
          {"--eps-prim-inf", fmt::to_string(osqp.eps_prim_inf)},
          {"--eps-dual-inf", fmt::to_string(osqp.eps_dual_inf)},
          {"--check-dualgap", osqp.check_dualgap ? "true" : "false"},
          {"--scaled-termination", osqp.scaled_termination ? "true" : "false"}};
}

RerunOptions rerun_settings(const algorithms::ScsOptions& scs, const std::string& preset) {
  return {{"--alpha", fmt::to_string(scs.alpha)},
          {"--rho-x", fmt::to_string(scs.rho_x)},
          {"--preset", preset},
          {"--scale", fmt::to_string(scs.scale)},
          {"--normalize", scs.normalize ? "true" : "false"},
          {"--adaptive-scale", scs.adaptive_scale ? "true" : "false"},
          {"--adaptive-diag-scale", scs.adaptive_diag_scale ? "true" : "false"},
          {"--acceleration-lookback", fmt::to_string(scs.acceleration_lookback)},
          {"--acceleration-interval", fmt::to_string(scs.acceleration_interval)},
          {"--acceleration-type-1", scs.acceleration_type_1 ? "true" : "false"},
          {"--acceleration-regularization", fmt::to_string(scs.acceleration_regularization)},
          {"--acceleration-relaxation", fmt::to_string(scs.acceleration_relaxation)},
          {"--eps-abs", fmt::to_string(scs.eps_abs)},
          {"--eps-rel", fmt::to_string(scs.eps_rel)},
          {"--eps-infeas", fmt::to_string(scs.eps_infeas)}};
}

void FamilyRunOptions::validate() const {
  require(iterations >= 1 && iterations <= most_steps, "--iterations: {} is outside 1 .. {}", iterations,
          most_steps);
  require(!dist0 || !worst_case.empty(), "--dist0: it is for --worst-case");
  require(!estimated_dist0 || !worst_case.empty(), "--estimated-dist0: it is for --worst-case");
  require(!until || ranks().count() == 1, "--until: runs are made in one process; use threads");
  require(max_runs >= 0 && (max_runs == 0 || until), "--max-runs: it is for --until");
  require(worst_case.empty() || metric == "residual", "--worst-case: it is about the metric residual, not {}",
          metric);
}

SolverRun osqp_run(problems::Qp problem, const algorithms::OsqpOptions& options) {
  const auto held = std::make_shared<const problems::Qp>(std::move(problem));
  SolverRun run;
  run.op = std::make_unique<algorithms::Osqp>(*held, options);
  run.data = certify::data_of(*held);
  run.solve = [held](const Interrupt& interrupt) {
    runs::QpSolveOptions how;
    how.interrupt = interrupt;
    return runs::solve_qp(*held, how);
  };
  run.problems = held;
  run.stops = options.stop;
  return run;
}

namespace {

void require_other_problems(const char* option, const families::FamilyFiles& files,
                            const LearnedSetting& setting, const std::string& name) {
  require(problems_by_digest(files, 0).family != setting.family().text(),
          "{}: {} depends on problems {} .. {} of these files; certify it on others of them with "
          "surefoot calibrate {} --hold-out FIRST:COUNT",
          option, name, setting.seen_first, setting.seen_last, name);
}

problems::Table learned_starts(families::FamilyFiles& files, const families::FolderProblems& problems,
                               families::FolderKind kind, Index iterate_size,
                               const std::filesystem::path& weights) {
  const std::string name = weights.string();
  const learning::Posterior posterior = learning::load_posterior(weights);
  note_missing_digest(posterior, name);
  const LearnedSetting setting = setting_of(posterior, name);
  const auto* model = std::get_if<FolderStart>(&setting.options);
  require(model != nullptr && model->family.kind == to_string(kind),
          "--start: {} holds weights of {}{}, no learned start of problems of the kind {}", name,
          setting.model, model == nullptr ? "" : " for the kind " + model->family.kind, to_string(kind));
  require_other_problems("--start", files, setting, name);
  std::optional<problems::Table> given;
  if (families::is_of_given(families::ParameterMap::parse(model->inputs))) {
    given = files.read_table(families::parameters_table);
    files.with_file_names([&] { problems::require_finite(*given, families::parameters_table); });
  }
  problems::Table starts;
  files.with_file_names([&] {
    const FolderStartBench bench = make_start(*model, problems, given ? &*given : nullptr, {});
    learning::require_layout(posterior, bench.warm->weights());
    starts = start_iterates(bench, posterior, iterate_size);
  });
  if (ranks().first())
    host().say(fmt::format(
        "--start: what is certified holds if none of these problems was learned from; {} is of other "
        "files, and their rows are not compared",
        name));
  return starts;
}

RerunFile start_file(const std::filesystem::path& weights) {
  return {"--start", file_name(weights.string()), io::sha256_of_file(weights.string())};
}

}  // namespace

bool names_weights(const std::string& start) {
  return start.ends_with(".safetensors");
}

SolverRun started_run(families::FamilyFiles& files, const algorithms::OsqpOptions& options,
                      const std::filesystem::path& weights) {
  SolverRun run = osqp_run(files, options);
  run.starts = learned_starts(files, *std::static_pointer_cast<const problems::Qp>(run.problems),
                              families::FolderKind::qp, run.op->iterate_size(), weights);
  run.weights = start_file(weights);
  return run;
}

SolverRun started_run(families::FamilyFiles& files, const algorithms::ScsOptions& options,
                      const problems::Cones& cones, const std::filesystem::path& weights) {
  SolverRun run = scs_run(files, options, cones);
  run.starts = learned_starts(files, *std::static_pointer_cast<const problems::ConeProgram>(run.problems),
                              families::FolderKind::cone, run.op->iterate_size(), weights);
  run.weights = start_file(weights);
  return run;
}

namespace {

/// `read` gives the problems, `solve` accurate solutions of them; `method` is the solver that the schedule is
/// to be of.
SolverRun scheduled_run_of(
    families::FamilyFiles& files, const std::filesystem::path& weights, const std::string& method,
    const std::function<families::FolderProblems()>& read,
    const std::function<problems::Table(const families::FolderProblems&, const Interrupt&)>& solve) {
  const std::string name = weights.string();
  const learning::Posterior posterior = learning::load_posterior(weights);
  note_missing_digest(posterior, name);
  const LearnedSetting setting = setting_of(posterior, name);
  const auto* model = std::get_if<ScheduledSolver>(&setting.options);
  require(model != nullptr && model->method() == method,
          "--schedule: {} holds weights of {}, no schedule of {}", name, setting.model,
          method == "osqp" ? "OSQP" : "SCS");
  struct Held {
    families::FolderProblems problems;
    std::unique_ptr<algorithms::StepSchedule> schedule;
  };
  const auto held = std::make_shared<Held>(Held{read(), nullptr});
  require_other_problems("--schedule", files, setting, name);
  files.with_file_names([&] {
    held->schedule =
        std::make_unique<algorithms::StepSchedule>(make_solver(*model, held->problems), setting.steps);
  });
  learning::require_layout(posterior, held->schedule->weights());
  const Eigen::VectorXd& mean = posterior.gaussians.mean;
  const auto size = static_cast<std::size_t>(mean.size());
  held->schedule->assign({mean.data(), size}, std::vector<double>(size, 0.0));
  SolverRun run;
  run.op = std::make_unique<certify::SampledOperator>(*held->schedule);
  if (const auto* cone = std::get_if<problems::ConeProgram>(&held->problems))
    run.data = certify::data_of(*cone);
  else
    run.data = certify::data_of(std::get<problems::Qp>(held->problems));
  run.solve = [held, solve](const Interrupt& interrupt) { return solve(held->problems, interrupt); };
  run.problems = held;
  run.weights = RerunFile{"--schedule", file_name(name), io::sha256_of_file(name)};
  return run;
}

}  // namespace

SolverRun scheduled_run(families::FamilyFiles& files, const std::filesystem::path& weights) {
  return scheduled_run_of(
      files, weights, "osqp", [&] { return families::FolderProblems(files.read_qp()); },
      [](const families::FolderProblems& problems, const Interrupt& interrupt) {
        runs::QpSolveOptions how;
        how.interrupt = interrupt;
        return runs::solve_qp(std::get<problems::Qp>(problems), how);
      });
}

SolverRun scheduled_run(families::FamilyFiles& files, const problems::Cones& cones,
                        const std::filesystem::path& weights) {
  return scheduled_run_of(
      files, weights, "scs", [&] { return families::FolderProblems(files.read_cone_program(cones)); },
      [](const families::FolderProblems& problems, const Interrupt& interrupt) {
        algorithms::ScsOptions options = algorithms::ScsOptions::defaults();
        options.returned = true;
        runs::SolveOptions how;
        how.interrupt = interrupt;
        return runs::solve_cone(std::get<problems::ConeProgram>(problems), options, how);
      });
}

SolverRun scs_run(problems::ConeProgram problem, const algorithms::ScsOptions& options) {
  const auto held = std::make_shared<const problems::ConeProgram>(std::move(problem));
  SolverRun run;
  run.op = algorithms::make_scs(*held, options);
  run.data = certify::data_of(*held);
  run.solve = [held, options](const Interrupt& interrupt) {
    runs::SolveOptions how;
    how.interrupt = interrupt;
    return runs::solve_cone(*held, options, how);
  };
  run.problems = held;
  run.stops = options.stop;
  return run;
}

SolverRun osqp_run(families::FamilyFiles& files, const algorithms::OsqpOptions& options) {
  problems::Qp problem = files.read_qp();
  SolverRun run;
  files.with_file_names([&] { run = osqp_run(std::move(problem), options); });
  return run;
}

SolverRun scs_run(families::FamilyFiles& files, const algorithms::ScsOptions& options,
                  const problems::Cones& cones) {
  problems::ConeProgram problem = files.read_cone_program(cones);
  SolverRun run;
  files.with_file_names([&] { run = scs_run(std::move(problem), options); });
  return run;
}

FamilyRun::FamilyRun(const std::string& family, families::FamilyFiles& files, SolverRun solver,
                     FamilyRunOptions options, certify::Options claims)
    : files_(files), solver_(std::move(solver)), options_(std::move(options)), claims_(std::move(claims)) {
  options_.validate();
  require_memory();
  if (solver_.starts) {
    starts_ = std::move(*solver_.starts);
  } else if (!options_.start.empty()) {
    starts_ = files.read_table("start");
    solver_.data.tables.push_back(certify::view_of(starts_));
  }
  independence_ = certify::independence_of_problems(solver_.data);
  independence_.require_none(family.empty() ? "problems" : family, options_.allow_dependence);
  stated_ = stated_worst_case();
}

io::Configuration data_of(const families::FamilyFiles& files, const std::optional<RerunFile>& weights) {
  io::Configuration data;
  for (const families::FamilyFiles::Read& read : files.files())
    data.emplace_back("--" + read.name, read.sha256);
  if (weights) data.emplace_back(weights->option, weights->sha256);
  return data;
}

std::vector<RerunFile> rerun_files_of(const families::FamilyFiles& files,
                                      const std::optional<RerunFile>& weights) {
  std::vector<RerunFile> read;
  for (const families::FamilyFiles::Read& file : files.files())
    read.push_back({"--" + file.name, file_name(file.file), file.sha256});
  if (weights) read.push_back(*weights);
  return read;
}

certify::SampleRange problems_by_digest(const families::FamilyFiles& files, Index count) {
  FamilyKey key{"files", {}};
  for (const families::FamilyFiles::Read& read : files.files()) {
    if (!families::is_beside_problems(read.name)) key.constants[read.name] = read.sha256;
  }
  return {key.text(), 0, certify::data_set, 0, count};
}

certify::SampleRange FamilyRun::problems() const {
  return problems_by_digest(files_, counted_ > 0 ? counted_ : op().instances());
}

FamilyResult FamilyRun::count(certify::CountJournal& journal) {
  const runs::Metric metric = runs::named_metric(options_.metric, op(), [&] {
    return kept_table(journal, [&] { return solver_.solve(host().check); }, {op().instances(), 0});
  });
  runs::RunOptions run_options;
  run_options.steps = options_.iterations;
  run_options.shared = true;
  const Part own = runs::own_instances(op(), run_options);
  if (op().has_stopping_test()) {
    terminations_ = runs::Terminations(op().instances());
    run_options.ending_sink = terminations_.sink();
  }
  if (options_.save_traces) traces_.setZero(op().instances(), options_.iterations - metric.first_step() + 1);
  keep_in_checkpoints(journal);
  Progress progress("running " + std::string(op().name()));
  Index finished = 0;
  FamilyResult result;
  certify::Certificate& certificate = result.certificate;
  const certify::TraceListener listener = [&](Index instance, const double* trace) {
    if (options_.save_traces)
      traces_.row(instance) = Eigen::Map<const Eigen::RowVectorXd>(trace, traces_.cols());
    if (!options_.until)
      progress.update(static_cast<double>(++finished), static_cast<double>(own.count), "problems");
  };
  const runs::Start start = starts_.size() == 0 ? runs::cold_start() : runs::given_start(starts_);
  certificate = options_.until
                    ? run_until(metric, run_options, start, listener, journal, result)
                    : certify::certify_run(op(), metric, claims_, run_options, start, listener, &journal);
  certify::Variant& variant = certificate.variants.front();
  variant.independence = independence_;
  if (options_.save_traces) {
    if (!options_.until) runs::share_rows(traces_, own);
    result.traces = io::npy_bytes(traces_);
    variant.source = report::file_names::traces;
    variant.sha256 = io::sha256_hex(result.traces);
    variant.reading = {certify::unlabelled_columns({variant.first_step, variant.last_step})};
  }
  if (op().has_stopping_test()) {
    if (!options_.until) runs::share_rows(terminations_.numbers(), own);
    result.terminations = terminations_.csv(op().name());
  }
  certificate.run = record(result);
  if (stated_) certify::add_worst_case(certificate, *stated_, host().check);
  return result;
}

// Problems are run in parts, each up to where the claim can hold if none of it fails: the number at which it
// first holds is found whatever the number of threads, and no run is made in vain. What failed is kept by
// problem, since a checkpoint may hold runs of the part that was being made.
certify::Certificate FamilyRun::run_until(const runs::Metric& metric, runs::RunOptions run_options,
                                          const runs::Start& start, const certify::TraceListener& listener,
                                          certify::CountJournal& journal, FamilyResult& result) {
  constexpr char failed = 'f';
  constexpr char passed = 'p';
  const certify::Until& until = *options_.until;
  certify::Options claims = claims_;
  claims.metric = metric.name;
  claims.unit = metric.unit;
  std::vector<Index> steps(static_cast<std::size_t>(options_.iterations - metric.first_step() + 1));
  std::iota(steps.begin(), steps.end(), metric.first_step());
  until.require_recorded(steps);
  claims = certify::resolved(std::move(claims), {steps});
  const runs::TallySpec spec = certify::tally_spec(claims, steps);
  certify::UntilLooks looks(until.share(), certify::delta_of_claims(claims, spec, until.kind()));
  const Index most = options_.max_runs > 0 ? std::min(options_.max_runs, op().instances()) : op().instances();
  run_or_failed_.assign(static_cast<std::size_t>(op().instances()), ' ');
  const WholeProgress standing([&] {
    return fmt::format("{} failed; {} is certified, {} wanted", count_label(looks.failures()),
                       lower_bound_percent(looks.certified()), percent_label(until.share()));
  });
  Progress progress("running " + std::string(op().name()));
  Index finished = 0;
  Index target = 0;
  const auto listen = [&](Index instance, const double* trace) {
    listener(instance, trace);
    run_or_failed_[static_cast<std::size_t>(instance)] = until.fails(steps, trace) ? failed : passed;
    progress.update(static_cast<double>(++finished), static_cast<double>(target), "problems");
  };
  certify::RunCounter counter(spec, &journal);
  certify::Variant variant;
  variant.name = op().name();
  variant.source = "surefoot run";
  certify::Certificate certificate;
  result.decided = false;
  while (!result.decided && looks.runs() < most) {
    target = std::min(looks.next_look(), most);
    run_options.first = looks.runs();
    run_options.count = target - looks.runs();
    counter.run(op(), metric, start, run_options, 0, listen);
    while (looks.runs() < target) looks.add(run_or_failed_[static_cast<std::size_t>(looks.runs())] == failed);
    certificate = certify::certify(claims, {{variant, counter.finish()}});
    require(certificate.variants.front().samples == target, "--until: {} runs were counted, not {}",
            certificate.variants.front().samples, target);
    result.decided = until.holds(certificate);
  }
  counted_ = looks.runs();
  if (options_.save_traces) traces_.conservativeResize(counted_, Eigen::NoChange);
  if (op().has_stopping_test()) terminations_.numbers().conservativeResize(counted_, Eigen::NoChange);
  independence_ = certify::independence_of_problems(solver_.data, counted_);
  independence_.require_none("problems", options_.allow_dependence);
  result.until_line = certify::standing_of(until, looks, result.decided);
  return certificate;
}

// Traces that are being saved, and what the stopping test said, go into checkpoints too.
void FamilyRun::keep_in_checkpoints(certify::CountJournal& journal) {
  if (!options_.save_traces && !op().has_stopping_test() && !options_.until) return;
  journal.companion.save = [this](ByteWriter& to) {
    if (options_.until) to.text(run_or_failed_);
    if (options_.save_traces) write_table(traces_, to);
    if (op().has_stopping_test()) write_table(terminations_.numbers(), to);
  };
  journal.companion.restore = [this](std::string_view bytes) {
    ByteReader from(bytes, "traces of a checkpoint");
    if (options_.until) run_or_failed_ = from.text();
    if (options_.save_traces) traces_ = read_table(from);
    if (op().has_stopping_test()) terminations_.numbers() = read_table(from);
    from.finish();
  };
}

void FamilyRun::require_memory() const {
  MemoryNeeds needs(options_.memory_limit);
  needs.add_blocks(op(), options_.iterations, threads());
  needs.add_counts(CountedSizes::of(claims_, options_.iterations + 1), op().instances(),
                   certify::RunCounter::tallies, options_.checkpoints);
  const auto instances = static_cast<double>(op().instances());
  if (runs::needs_solutions(options_.metric)) {
    // The solver's problems, iterates and rounds, or later the metric's own; a checkpoint is put together.
    const double copies = options_.checkpoints ? 8 : 5;
    needs.add("solutions", copies * instances * static_cast<double>(op().iterate_size()));
  }
  if (options_.save_traces) {
    // Its file, and that as it is written; or a checkpoint as it is kept, put together and written, and the
    // next one of a thread that waits.
    const double copies = options_.checkpoints ? 7 : 3;
    needs.add("traces", copies * (static_cast<double>(options_.iterations) + 1) * instances);
  }
  if (op().has_stopping_test()) {
    constexpr double numbers = 40;  // a row, its text and its part of a checkpoint
    needs.add("terminations", numbers * instances);
  }
  needs.require_fit();
}

std::optional<certify::StatedWorstCase> FamilyRun::stated_worst_case() const {
  if (options_.worst_case.empty()) return std::nullopt;
  certify::StatedWorstCase stated =
      certify::parse_stated_worst_case(options_.worst_case, options_.dist0, options_.estimated_dist0);
  certify::require_declared(stated, op(), starts_);
  return stated;
}

std::string record_of_files(const std::string& settings, const families::FamilyFiles& files,
                            const FamilyRunOptions& options, FamilyResult& result,
                            const std::optional<RerunFile>& weights) {
  Json run = Json::parse(settings);
  run["files"] = Json::object();
  for (const families::FamilyFiles::Read& read : files.files())
    run["files"][read.name] = {{"file", file_name(read.file)}, {"sha256", read.sha256}};
  if (weights)
    run["files"][weights->option.substr(2)] = {{"file", weights->file}, {"sha256", weights->sha256}};
  run["iterations"] = options.iterations;
  if (const std::string description = run.value("description", ""); !description.empty())
    result.solver_line = "Solver: " + description;
  run["start"] = options.start.empty() ? "cold" : file_name(options.start);
  return io::json_dump(run);
}

std::string FamilyRun::record(FamilyResult& result) const {
  Json run = Json::parse(
      record_of_files(certify::settings_json(op().settings()), files_, options_, result, solver_.weights));
  const Json start = run["start"];
  run.erase("start");  // it stands last
  if (op().has_stopping_test()) {
    run["termination"] = termination_record(terminations_, solver_.stops);
    result.termination_line = termination_text(run["termination"], run["package"].get<std::string>());
  }
  if (options_.until) {
    run["until"] = options_.until->text();
    run["holds"] = result.decided;
  }
  run["start"] = start;
  return io::json_dump(run);
}

}  // namespace surefoot::experiments
