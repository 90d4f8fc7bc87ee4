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

#include "begin_work.hpp"
#include "claims.hpp"
#include "family_files.hpp"
#include "output.hpp"
#include "rerun.hpp"
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
  std::string preset = "package";
  std::string start;
  std::string metric = "residual";
  std::string worst_case;
  std::optional<double> dist0;
  std::optional<double> estimated_dist0;
  Index iterations = 500;
  int threads = 0;
  bool save_traces = false;
  bool allow_dependence = false;
  algorithms::OsqpOptions osqp;
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
                                       const Solve& solve, problems::Table& traces) {
  const StopSignals signals(how_to_go_on(arguments.checkpoint));
  const runs::Metric metric = runs::named_metric(
      arguments.metric, op, [&] { return kept_table(journal, [&] { return solve(StopSignals::check); }); });
  runs::RunOptions options;
  options.steps = arguments.iterations;
  options.shared = true;
  const Part own = runs::own_instances(op, options);
  if (arguments.save_traces) {
    traces.resize(op.instances(), arguments.iterations - metric.first_step() + 1);
    traces.setZero();
    journal.companion.save = [&] {
      ByteWriter to;
      write_table(traces, to);
      return to.take();
    };
    journal.companion.restore = [&](std::string_view bytes) {
      ByteReader from(bytes, "traces of a checkpoint");
      traces = read_table(from);
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
  return certificate;
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
  certify::Certificate certificate = count_and_certify(arguments, op, start, *journal, solve, traces);
  certificate.variants.front().independence = std::move(independence);
  std::string trace_bytes;
  std::vector<io::FileContent> others;
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
  journal->close();
}

void check_preset(const RunArguments& arguments) {
  require(arguments.preset == "package" || arguments.preset == "paper",
          "--preset: '{}' is not one of package, paper", arguments.preset);
  require(arguments.iterations >= 1 && arguments.iterations <= 100'000'000,
          "--iterations: {} is outside 1 .. 100000000", arguments.iterations);
}

// A setting of the preset unless the user gave it.
template <class T>
void preset(const CLI::App& verb, const char* option, T& value, T preset_value) {
  if (verb.count(option) == 0) value = preset_value;
}

void run_qp(const CLI::App& verb, RunArguments& arguments) {
  check_preset(arguments);
  set_threads(arguments.threads);
  if (arguments.preset == "paper") {
    const algorithms::OsqpOptions paper = algorithms::OsqpOptions::paper();
    preset(verb, "--rho", arguments.osqp.rho, paper.rho);
    preset(verb, "--sigma", arguments.osqp.sigma, paper.sigma);
    preset(verb, "--alpha", arguments.osqp.alpha, paper.alpha);
    preset(verb, "--scaling", arguments.osqp.scaling, paper.scaling);
    preset(verb, "--equality-factor", arguments.osqp.equality_factor, paper.equality_factor);
    arguments.osqp.loose_rho = paper.loose_rho;
  }
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
  const RerunOptions settings{{"--rho", fmt::to_string(arguments.osqp.rho)},
                              {"--sigma", fmt::to_string(arguments.osqp.sigma)},
                              {"--alpha", fmt::to_string(arguments.osqp.alpha)},
                              {"--scaling", fmt::to_string(arguments.osqp.scaling)},
                              {"--equality-factor", fmt::to_string(arguments.osqp.equality_factor)}};
  const Solve solve = [&](const Interrupt& interrupt) {
    runs::QpSolveOptions how;
    how.interrupt = interrupt;
    return runs::solve_qp(problem, how);
  };
  run_and_certify(verb, arguments, *op, files, certify::data_of(problem), run, settings, solve, *folder);
}

void run_cone(const CLI::App& verb, RunArguments& arguments) {
  check_preset(arguments);
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
                              {"--scale", fmt::to_string(arguments.scs.scale)}};
  const Solve solve = [&](const Interrupt& interrupt) {
    runs::SolveOptions how;
    how.interrupt = interrupt;
    return runs::solve_cone(op, problem, how);
  };
  run_and_certify(verb, arguments, op, files, certify::data_of(problem), run, settings, solve, *folder);
}

void add_common(CLI::App& verb, RunArguments& arguments, const std::vector<std::string>& files) {
  verb.add_option("folder", arguments.folder, "folder with the files below, and settings.toml if it has one");
  for (const std::string& name : files) {
    verb.add_option("--" + name, arguments.files[name], "file of " + name + " [" + name + " in the folder]");
  }
  verb.add_option("--settings", arguments.settings,
                  "TOML file with any of these options [settings.toml in the folder]");
  verb.add_option("--preset", arguments.preset, "solver settings: package (its defaults) or paper")
      ->capture_default_str();
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

void add_qp(CLI::App& run) {
  const auto arguments = std::make_shared<RunArguments>();
  CLI::App* verb = run.add_subcommand("qp", "Quadratic programs 1/2 x'Px + q'x, l <= Ax <= u, by OSQP");
  add_common(*verb, *arguments, {"P", "A", "q", "l", "u"});
  verb->add_option("--rho", arguments->osqp.rho, "step size of the constraints")->capture_default_str();
  verb->add_option("--sigma", arguments->osqp.sigma, "step size of the variables")->capture_default_str();
  verb->add_option("--alpha", arguments->osqp.alpha, "relaxation, in (0, 2)")->capture_default_str();
  verb->add_option("--scaling", arguments->osqp.scaling, "passes of equilibration")
      ->check(whole_number)
      ->capture_default_str();
  verb->add_option("--equality-factor", arguments->osqp.equality_factor,
                   "rho of equalities is rho times this")
      ->capture_default_str();
  verb->footer("Example: surefoot run qp examples/mpc --iterations 200 --tolerances 1e-3,1e-2");
  verb->callback([arguments, verb] {
    arguments->files["start"] = arguments->start;
    run_qp(*verb, *arguments);
  });
}

void add_cone(CLI::App& run) {
  const auto arguments = std::make_shared<RunArguments>();
  CLI::App* verb = run.add_subcommand("cone", "Cone programs 1/2 x'Px + c'x, Ax + s = b, s in K, by SCS");
  add_common(*verb, *arguments, {"P", "A", "b", "c"});
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
