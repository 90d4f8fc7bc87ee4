#include "surefoot/algorithms/osqp.hpp"
#include "surefoot/algorithms/scs.hpp"
#include "surefoot/certify/certify_run.hpp"
#include "surefoot/certify/count_table.hpp"
#include "surefoot/certify/run_record.hpp"
#include "surefoot/certify/table_view.hpp"
#include "surefoot/certify/worst_case_part.hpp"
#include "surefoot/core/bytes.hpp"
#include "surefoot/core/error.hpp"
#include "surefoot/core/family_key.hpp"
#include "surefoot/core/parallel.hpp"
#include "surefoot/experiments/host.hpp"
#include "surefoot/experiments/memory_needs.hpp"
#include "surefoot/io/json_dump.hpp"
#include "surefoot/io/npy.hpp"
#include "surefoot/io/sha256.hpp"
#include "surefoot/runs/named_metric.hpp"
#include "surefoot/runs/run.hpp"
#include "surefoot/runs/solve_cone.hpp"
#include "surefoot/runs/solve_qp.hpp"
#include "surefoot/runs/terminations.hpp"

#include "begin_work.hpp"
#include "claims.hpp"
#include "family_files.hpp"
#include "output.hpp"
#include "rerun.hpp"
#include "say.hpp"
#include "stopping.hpp"
#include "verbs.hpp"
#include "whole_number.hpp"
#include "work_options.hpp"

#include <nlohmann/json.hpp>

#include <algorithm>
#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace {

using namespace surefoot;
using namespace surefoot::experiments;
using Json = nlohmann::ordered_json;

struct RunArguments {
  std::string folder;
  std::map<std::string, std::string> files;
  std::string settings;  // told apart before parsing, see main
  std::string preset = "fixed";
  std::string start;
  std::string metric = "residual";
  std::string worst_case;
  std::optional<double> dist0;
  std::optional<double> estimated_dist0;
  Index iterations = 500;
  int threads = 0;
  bool save_traces = false;
  bool allow_dependence = false;
  std::string adaptive_rho = "iterations";
  algorithms::OsqpOptions osqp = algorithms::OsqpOptions::defaults();
  algorithms::ScsOptions scs;
  problems::Cones cones;
  ClaimArguments claims;
  OutputOptions output;
  CheckpointOptions checkpoint;
  LookOptions looks;
  std::uint64_t memory_limit = 0;
};

/// Accurate solutions of all instances, unless the work is stopped.
using Solve = std::function<problems::Table(const Interrupt&)>;

Json described(const RunArguments& arguments, const FamilyFiles& files) {
  Json run;
  for (const FamilyFiles::Read& read : files.files()) {
    run["files"][read.name] = {{"file", std::filesystem::path(read.file).filename().string()},
                               {"sha256", read.sha256}};
  }
  run["iterations"] = arguments.iterations;
  return run;
}

/// The problems by the digests of their files: all but where the solver starts.
certify::SampleRange problems_of(const FamilyFiles& files, Index count) {
  FamilyKey key{"files", {}};
  for (const FamilyFiles::Read& read : files.files()) {
    if (read.name != "start") key.constants[read.name] = read.sha256;
  }
  return {key.text(), 0, certify::data_set, 0, count};
}

// Runs the family, counting as it goes, and certifies.
certify::Certificate count_and_certify(const RunArguments& arguments, const algorithms::Operator& op,
                                       const runs::Start& start, certify::CountJournal& journal,
                                       const Solve& solve, problems::Table& traces,
                                       runs::Terminations& terminations) {
  const StopSignals signals(how_to_go_on(arguments.checkpoint));
  const runs::Metric metric = runs::named_metric(
      arguments.metric, op, [&] { return kept_table(journal, [&] { return solve(StopSignals::check); }); });
  runs::RunOptions options;
  options.steps = arguments.iterations;
  options.shared = true;
  const Part own = runs::own_instances(op, options);
  if (op.has_stopping_test()) {
    terminations = runs::Terminations(op.instances());
    options.ending_sink = terminations.sink();
  }
  if (arguments.save_traces) {
    traces.resize(op.instances(), arguments.iterations - metric.first_step() + 1);
    traces.setZero();
  }
  if (arguments.save_traces || op.has_stopping_test()) {
    journal.companion.save = [&] {
      ByteWriter to;
      if (arguments.save_traces) write_table(traces, to);
      if (op.has_stopping_test()) write_table(terminations.numbers(), to);
      return to.take();
    };
    journal.companion.restore = [&](std::string_view bytes) {
      ByteReader from(bytes, "traces of a checkpoint");
      if (arguments.save_traces) traces = read_table(from);
      if (op.has_stopping_test()) terminations.numbers() = read_table(from);
      from.finish();
    };
  }
  Progress progress("running " + std::string(op.name()));
  Index finished = 0;
  certify::Certificate certificate = certify::certify_run(
      op, metric, arguments.claims.options(), options, start,
      [&](Index instance, const double* trace) {
        if (arguments.save_traces) {
          traces.row(instance) = Eigen::Map<const Eigen::RowVectorXd>(trace, traces.cols());
        }
        progress.update(static_cast<double>(++finished), static_cast<double>(own.count), "problems");
      },
      &journal);
  if (arguments.save_traces) runs::share_rows(traces, own);
  if (op.has_stopping_test()) runs::share_rows(terminations.numbers(), own);
  return certificate;
}

/// What the certificate says of the stopping test: how many problems have which status, and after how many
/// iterations; null: not so many have ended.
Json termination_record(const runs::Terminations& terminations, bool obeyed) {
  Json record = {{"obeyed", obeyed}};
  for (const auto& [status, count] : terminations.counts()) {
    record["statuses"][std::string(algorithms::to_string(status))] = count;
  }
  for (const auto& [name, part] : {std::pair{"median", 0.5}, {"90%", 0.9}, {"largest", 1.0}}) {
    const double iterations = terminations.iterations_of(part);
    record["iterations"][name] = iterations < infinity ? Json(static_cast<Index>(iterations)) : Json(nullptr);
  }
  return record;
}

std::string termination_line(const Json& record) {
  std::vector<std::string> statuses;
  for (const auto& [status, count] : record["statuses"].items()) {
    statuses.push_back(fmt::format("{} {}", count.get<Index>(), status));
  }
  std::vector<std::string> iterations;
  for (const auto& [name, value] : record["iterations"].items()) {
    iterations.push_back(fmt::format("{} {}", name, value.is_null() ? "never" : value.dump()));
  }
  return fmt::format("Stopping test of {} ({}): {}; iterations to termination: {}", algorithms::emulated_osqp,
                     record["obeyed"].get<bool>() ? "obeyed" : "recorded, not obeyed",
                     fmt::join(statuses, ", "), fmt::join(iterations, ", "));
}

void require_run_memory(const RunArguments& arguments, const algorithms::Operator& op) {
  MemoryNeeds needs(arguments.memory_limit);
  needs.add_blocks(op, arguments.iterations, threads());
  needs.add_counts(arguments.iterations,
                   std::max<std::size_t>(1, arguments.claims.options().tolerances.size()), op.instances());
  const double solutions = static_cast<double>(op.instances()) * static_cast<double>(op.iterate_size());
  if (runs::needs_solutions(arguments.metric)) {
    // The solver's problems, iterates and rounds, or later the metric's own; a checkpoint is put together.
    const double copies = arguments.checkpoint.folder.empty() ? 5 : 8;
    needs.add("solutions", copies * solutions);
  }
  if (arguments.save_traces) {
    // Its file, and that as it is written; a checkpoint is put together.
    const double copies = arguments.checkpoint.folder.empty() ? 3 : 5;
    needs.add("traces",
              copies * (static_cast<double>(arguments.iterations) + 1) * static_cast<double>(op.instances()));
  }
  if (op.has_stopping_test()) {
    constexpr double numbers = 40;  // a row, its text and its part of a checkpoint
    needs.add("terminations", numbers * static_cast<double>(op.instances()));
  }
  needs.require_fit();
}

/// The worst case that the user asks for, of an operator that declares it; none if no option asks.
std::optional<certify::StatedWorstCase> stated_worst_case(const RunArguments& arguments,
                                                          const algorithms::Operator& op,
                                                          const problems::Table& starts) {
  require(!arguments.dist0 || !arguments.worst_case.empty(), "--dist0: it is for --worst-case");
  require(!arguments.estimated_dist0 || !arguments.worst_case.empty(),
          "--estimated-dist0: it is for --worst-case");
  if (arguments.worst_case.empty()) return std::nullopt;
  require(arguments.metric == "residual", "--worst-case: it is about the metric residual, not {}",
          arguments.metric);
  certify::StatedWorstCase stated =
      certify::parse_stated_worst_case(arguments.worst_case, arguments.dist0, arguments.estimated_dist0);
  certify::require_declared(stated, op, starts);
  return stated;
}

void run_and_certify(const CLI::App& verb, const RunArguments& arguments, const algorithms::Operator& op,
                     FamilyFiles& files, certify::ProblemData problem_data, Json run,
                     const RerunOptions& solver_settings, const Solve& solve, io::ResultFolder& folder) {
  require_run_memory(arguments, op);
  problems::Table starts;
  if (!arguments.start.empty()) {
    starts = files.read_table("start");
    problem_data.tables.push_back(certify::view_of(starts));
  }
  certify::Independence independence = certify::independence_of_problems(problem_data);
  independence.require_none(arguments.folder.empty() ? "problems" : arguments.folder,
                            arguments.allow_dependence);
  const std::optional<certify::StatedWorstCase> stated = stated_worst_case(arguments, op, starts);
  const runs::Start start = arguments.start.empty() ? runs::cold_start() : runs::given_start(starts);
  io::Configuration data;
  for (const FamilyFiles::Read& read : files.files()) data.emplace_back("--" + read.name, read.sha256);
  LookBook looks(arguments.looks, "run", configuration_of(verb, data), arguments.checkpoint.resume);
  const certify::SampleRange problems = problems_of(files, op.instances());
  looks.announce({problems}, std::string(op.name()));
  const auto journal = open_journal(arguments.checkpoint, verb, data);
  problems::Table traces;
  runs::Terminations terminations;
  certify::Certificate certificate =
      count_and_certify(arguments, op, start, *journal, solve, traces, terminations);
  certificate.variants.front().independence = std::move(independence);
  std::string trace_bytes;
  std::string termination_bytes;
  std::vector<io::FileContent> others;
  if (op.has_stopping_test()) {
    run["termination"] = termination_record(terminations, arguments.osqp.stop);
    termination_bytes = terminations.csv();
    others.push_back({report::file_names::terminations, termination_bytes});
  }
  if (arguments.save_traces) {
    trace_bytes = io::npy_bytes(traces);
    others.push_back({report::file_names::traces, trace_bytes});
    certify::Variant& variant = certificate.variants.front();
    variant.source = report::file_names::traces;
    variant.sha256 = io::sha256_hex(trace_bytes);
    variant.reading = {certify::unlabelled_columns({variant.first_step, variant.last_step})};
  }
  run["start"] =
      arguments.start.empty() ? "cold" : std::filesystem::path(arguments.start).filename().string();
  certificate.run = io::json_dump(run);
  std::vector<RerunFile> read;
  for (const FamilyFiles::Read& file : files.files()) {
    const std::string name = std::filesystem::path(file.file).filename().string();
    read.push_back({"--" + file.name, name, file.sha256});
  }
  if (stated) {
    const StopSignals signals(how_to_go_on(arguments.checkpoint));
    certify::add_worst_case(certificate, *stated, StopSignals::check);
  }
  certificate.rerun =
      rerun_record({"run", verb.get_name()}, rerun_options(verb, read, solver_settings), read);
  looks.record_in(certificate, {problems}, std::string(op.name()));
  write_certificate(certificate, arguments.output, folder, std::move(others));
  if (op.has_stopping_test() && !arguments.output.json) {
    fmt::print("{}\n", termination_line(run["termination"]));
  }
  journal->close();
}

void check_preset(RunArguments& arguments, const std::vector<std::string>& presets) {
  require(std::ranges::find(presets, arguments.preset) != presets.end() || arguments.preset == "package",
          "--preset: '{}' is not one of {}", arguments.preset, fmt::join(presets, ", "));
  if (arguments.preset == "package") {
    say("--preset package: an older name of fixed, the package without what it adapts");
    arguments.preset = "fixed";
  }
  require(arguments.iterations >= 1 && arguments.iterations <= 100'000'000,
          "--iterations: {} is outside 1 .. 100000000", arguments.iterations);
}

// A setting of the preset unless the user gave it.
template <class T>
void preset(const CLI::App& verb, const char* option, T& value, T preset_value) {
  if (verb.count(option) == 0) value = preset_value;
}

// The settings of OSQP: those of the preset, and what the user gave.
void choose_osqp(const CLI::App& verb, RunArguments& arguments) {
  using algorithms::OsqpOptions;
  const std::string& name = arguments.preset;
  const OsqpOptions usual = name == "paper"   ? OsqpOptions::paper()
                            : name == "fixed" ? OsqpOptions::fixed()
                                              : OsqpOptions::defaults();
  OsqpOptions& osqp = arguments.osqp;
  preset(verb, "--rho", osqp.rho, usual.rho);
  preset(verb, "--sigma", osqp.sigma, usual.sigma);
  preset(verb, "--alpha", osqp.alpha, usual.alpha);
  preset(verb, "--scaling", osqp.scaling, usual.scaling);
  preset(verb, "--equality-factor", osqp.equality_factor, usual.equality_factor);
  osqp.loose_rho = usual.loose_rho;
  preset<std::string>(verb, "--adaptive-rho", arguments.adaptive_rho,
                      usual.adaptive_rho ? "iterations" : "off");
  require(arguments.adaptive_rho != "time",
          "--adaptive-rho: 'time' makes results depend on the clock; choose iterations or off");
  require(arguments.adaptive_rho == "iterations" || arguments.adaptive_rho == "off",
          "--adaptive-rho: '{}' is not one of iterations, off", arguments.adaptive_rho);
  osqp.adaptive_rho = arguments.adaptive_rho == "iterations";
  const Index interval = OsqpOptions::defaults().check_termination;
  preset(verb, "--check-termination", osqp.check_termination, osqp.stop ? interval : usual.check_termination);
  require(!osqp.stop || osqp.check_termination > 0, "--stop: needs --check-termination above 0");
  osqp.max_iter = arguments.iterations;
}

RerunOptions rerun_settings(const RunArguments& arguments) {
  const algorithms::OsqpOptions& osqp = arguments.osqp;
  return {{"--rho", fmt::to_string(osqp.rho)},
          {"--sigma", fmt::to_string(osqp.sigma)},
          {"--alpha", fmt::to_string(osqp.alpha)},
          {"--scaling", fmt::to_string(osqp.scaling)},
          {"--equality-factor", fmt::to_string(osqp.equality_factor)},
          {"--preset", arguments.preset},
          {"--adaptive-rho", arguments.adaptive_rho},
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

void run_qp(const CLI::App& verb, RunArguments& arguments) {
  check_preset(arguments, {"default", "fixed", "paper"});
  set_threads(arguments.threads);
  choose_osqp(verb, arguments);
  (void)arguments.claims.options();
  begin_work();
  const auto folder = arguments.output.open();
  arguments.checkpoint.prepare();
  FamilyFiles files(arguments.folder, arguments.files);
  const problems::Qp problem = files.read_qp();
  std::unique_ptr<algorithms::Osqp> op;
  files.with_file_names([&] { op = std::make_unique<algorithms::Osqp>(problem, arguments.osqp); });
  Json run = Json::parse(certify::run_record(arguments.osqp));
  run.update(described(arguments, files));
  const Solve solve = [&](const Interrupt& interrupt) {
    runs::QpSolveOptions how;
    how.interrupt = interrupt;
    return runs::solve_qp(problem, how);
  };
  run_and_certify(verb, arguments, *op, files, certify::data_of(problem), run, rerun_settings(arguments),
                  solve, *folder);
}

void run_cone(const CLI::App& verb, RunArguments& arguments) {
  require(
      arguments.preset != "default",
      "--preset: default is of run qp alone; SCS is run without acceleration and adaptive scale: fixed, paper");
  check_preset(arguments, {"fixed", "paper"});
  set_threads(arguments.threads);
  if (arguments.preset == "paper") {
    const algorithms::ScsOptions paper = algorithms::ScsOptions::paper();
    preset(verb, "--alpha", arguments.scs.alpha, paper.alpha);
    preset(verb, "--rho-x", arguments.scs.rho_x, paper.rho_x);
    preset(verb, "--scale", arguments.scs.scale, paper.scale);
    arguments.scs.zero_factor = paper.zero_factor;
    arguments.scs.tau_factor = paper.tau_factor;
  }
  arguments.cones.validate();
  (void)arguments.claims.options();
  begin_work();
  const auto folder = arguments.output.open();
  arguments.checkpoint.prepare();
  FamilyFiles files(arguments.folder, arguments.files);
  const problems::ConeProgram problem = files.read_cone_program(arguments.cones);
  const algorithms::Scs op(problem, arguments.scs);
  Json run = Json::parse(certify::run_record(arguments.scs, arguments.cones));
  run.update(described(arguments, files));
  const RerunOptions settings{{"--alpha", fmt::to_string(arguments.scs.alpha)},
                              {"--rho-x", fmt::to_string(arguments.scs.rho_x)},
                              {"--preset", arguments.preset},
                              {"--scale", fmt::to_string(arguments.scs.scale)}};
  const Solve solve = [&](const Interrupt& interrupt) {
    runs::SolveOptions how;
    how.interrupt = interrupt;
    return runs::solve_cone(op, problem, how);
  };
  run_and_certify(verb, arguments, op, files, certify::data_of(problem), run, settings, solve, *folder);
}

void add_common(CLI::App& verb, RunArguments& arguments, const std::vector<std::string>& files,
                const char* presets) {
  verb.add_option("folder", arguments.folder, "folder with the files below, and settings.toml if it has one");
  for (const std::string& name : files) {
    verb.add_option("--" + name, arguments.files[name], "file of " + name + " [" + name + " in the folder]");
  }
  verb.add_option("--settings", arguments.settings,
                  "TOML file with any of these options [settings.toml in the folder]");
  verb.add_option("--preset", arguments.preset, presets)->capture_default_str();
  verb.add_option("--iterations", arguments.iterations, "iterations of each run")
      ->check(whole_number)
      ->capture_default_str();
  verb.add_option("--start", arguments.start, "table of starting iterates [cold start]");
  verb.add_option("--metric", arguments.metric, fmt::format("{}", fmt::join(runs::metric_names(), ", ")))
      ->capture_default_str();
  verb.add_option(
      "--worst-case", arguments.worst_case,
      "averaged:ALPHA: the proven worst case beside the claims; for qp with --preset paper, where a "
      "step is 1/2-averaged");
  verb.add_option("--dist0", arguments.dist0,
                  "for --worst-case: |z^0 - z*| in (x, w + y) is at most this for every problem and its "
                  "start, as a fact");
  verb.add_option("--estimated-dist0", arguments.estimated_dist0,
                  "instead of --dist0, if it is not a fact: the worst case is drawn, and no claim uses it");
  verb.add_option("--threads", arguments.threads, "threads [all cores]")->check(whole_number);
  verb.add_flag("--save-traces", arguments.save_traces,
                "write the traces too, so that verify --data can count them again");
  add_claim_options(verb, arguments.claims);
  add_dependence_option(verb, arguments.allow_dependence);
  add_output_options(verb, arguments.output);
  add_checkpoint_options(verb, arguments.checkpoint);
  add_look_options(verb, arguments.looks);
  add_memory_option(verb, arguments.memory_limit);
}

void add_stopping_options(CLI::App& verb, RunArguments& arguments) {
  algorithms::OsqpOptions& osqp = arguments.osqp;
  verb.add_flag("--stop", osqp.stop,
                "obey the stopping test: a problem that has ended repeats its last point");
  verb.add_option("--adaptive-rho", arguments.adaptive_rho,
                  "iterations: each problem changes its rho every so many iterations; or off")
      ->capture_default_str();
  verb.add_option("--adaptive-rho-interval", osqp.adaptive_rho_interval,
                  "iterations between two changes; 0: four times --check-termination")
      ->check(whole_number)
      ->capture_default_str();
  verb.add_option("--adaptive-rho-tolerance", osqp.adaptive_rho_tolerance,
                  "rho changes where the estimate is so many times larger or smaller")
      ->capture_default_str();
  verb.add_option("--check-termination", osqp.check_termination,
                  "iterations between two stopping tests; 0: none")
      ->check(whole_number)
      ->capture_default_str();
  verb.add_option("--eps-abs", osqp.eps_abs, "stopping test: absolute tolerance")->capture_default_str();
  verb.add_option("--eps-rel", osqp.eps_rel, "stopping test: relative tolerance")->capture_default_str();
  verb.add_option("--eps-prim-inf", osqp.eps_prim_inf, "stopping test: tolerance of primal infeasibility")
      ->capture_default_str();
  verb.add_option("--eps-dual-inf", osqp.eps_dual_inf, "stopping test: tolerance of dual infeasibility")
      ->capture_default_str();
  verb.add_option("--check-dualgap", osqp.check_dualgap, "stopping test: the duality gap must be small too")
      ->capture_default_str();
  verb.add_option("--scaled-termination", osqp.scaled_termination,
                  "stopping test: on the equilibrated problem")
      ->capture_default_str();
}

void add_qp(CLI::App& run) {
  const auto arguments = std::make_shared<RunArguments>();
  CLI::App* verb = run.add_subcommand("qp", "Quadratic programs 1/2 x'Px + q'x, l <= Ax <= u, by OSQP");
  arguments->preset = "default";
  add_common(
      *verb, *arguments, {"P", "A", "q", "l", "u"},
      "solver settings: default (the package as it is installed), fixed (the same without adaptive rho and "
      "stopping test; package is its older name) or paper");
  verb->add_option("--rho", arguments->osqp.rho, "step size of the constraints")->capture_default_str();
  verb->add_option("--sigma", arguments->osqp.sigma, "step size of the variables")->capture_default_str();
  verb->add_option("--alpha", arguments->osqp.alpha, "relaxation, in (0, 2)")->capture_default_str();
  verb->add_option("--scaling", arguments->osqp.scaling, "passes of equilibration")
      ->check(whole_number)
      ->capture_default_str();
  verb->add_option("--equality-factor", arguments->osqp.equality_factor,
                   "rho of equalities is rho times this")
      ->capture_default_str();
  add_stopping_options(*verb, *arguments);
  verb->footer("Example: surefoot run qp examples/mpc --iterations 200 --tolerances 1e-3,1e-2");
  verb->callback([arguments, verb] {
    arguments->files["start"] = arguments->start;
    run_qp(*verb, *arguments);
  });
}

void add_cone(CLI::App& run) {
  const auto arguments = std::make_shared<RunArguments>();
  CLI::App* verb = run.add_subcommand("cone", "Cone programs 1/2 x'Px + c'x, Ax + s = b, s in K, by SCS");
  arguments->preset = "fixed";
  add_common(
      *verb, *arguments, {"P", "A", "b", "c"},
      "solver settings: fixed (the package without acceleration, adaptive scale and normalization; package "
      "is its older name) or paper");
  verb->add_option("--zero", arguments->cones.zero, "rows of the zero cone, first")->check(whole_number);
  verb->add_option("--nonnegative", arguments->cones.nonnegative, "rows of the nonnegative cone, next")
      ->check(whole_number);
  verb->add_option("--second-order", arguments->cones.second_order, "dimensions of second-order cones")
      ->delimiter(',');
  verb->add_option("--semidefinite", arguments->cones.semidefinite, "orders of positive semidefinite cones")
      ->delimiter(',');
  verb->add_option("--alpha", arguments->scs.alpha, "relaxation, in (0, 2)")->capture_default_str();
  verb->add_option("--rho-x", arguments->scs.rho_x, "scaling of the variables")->capture_default_str();
  verb->add_option("--scale", arguments->scs.scale, "scaling of the rows")->capture_default_str();
  verb->footer("Example: surefoot run cone examples/portfolio --iterations 200");
  verb->callback([arguments, verb] {
    arguments->files["start"] = arguments->start;
    run_cone(*verb, *arguments);
  });
}

}  // namespace

void add_run_verb(CLI::App& app) {
  CLI::App* run =
      app.add_subcommand("run", "Run a solver on a family of your own and certify it: run qp, run cone");
  run->require_subcommand(1);
  run->footer("Example: surefoot run qp examples/mpc --iterations 200");
  add_qp(*run);
  add_cone(*run);
}
