#include "surefoot/core/error.hpp"
#include "surefoot/core/parallel.hpp"
#include "surefoot/experiments/looks.hpp"
#include "surefoot/experiments/run_family.hpp"
#include "surefoot/report/file_names.hpp"
#include "surefoot/runs/named_metric.hpp"

#include "begin_work.hpp"
#include "claims.hpp"
#include "output.hpp"
#include "rerun_options.hpp"
#include "say.hpp"
#include "stopping.hpp"
#include "verbs.hpp"
#include "whole_number.hpp"
#include "work_options.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <functional>
#include <map>
#include <memory>
#include <string>
#include <utility>
#include <vector>

namespace {

using namespace surefoot;
using namespace surefoot::experiments;

struct RunArguments {
  std::string folder;
  std::map<std::string, std::string> files;
  std::string settings;  // told apart before parsing, see main
  std::string preset{to_string(Preset::fixed)};
  FamilyRunOptions run;
  int threads = 0;
  std::string adaptive_rho = "iterations";
  algorithms::OsqpOptions osqp = algorithms::OsqpOptions::defaults();
  algorithms::ScsOptions scs;
  problems::Cones cones;
  ClaimArguments claims;
  OutputOptions output;
  CheckpointOptions checkpoint;
  LookOptions looks;
};

void run(const CLI::App& verb, RunArguments& arguments, const RerunOptions& solver_settings,
         const std::function<SolverRun(families::FamilyFiles&)>& solver_of) {
  set_threads(arguments.threads);
  begin_work();
  const auto folder = arguments.output.open();
  arguments.checkpoint.prepare();
  arguments.run.checkpoints = !arguments.checkpoint.folder.empty();
  arguments.files["start"] = arguments.run.start;
  families::FamilyFiles files(arguments.folder, arguments.files);
  FamilyRun family(arguments.folder, files, solver_of(files), arguments.run, arguments.claims.options());
  const std::string solver(family.op().name());
  LookBook looks(arguments.looks, "run", configuration_of(verb, family.data()), arguments.checkpoint.resume);
  looks.announce({family.problems()}, solver);
  const auto journal = open_journal(arguments.checkpoint, verb, family.data());
  FamilyResult result = [&] {
    const StopSignals signals(how_to_go_on(arguments.checkpoint));
    return family.count(*journal);
  }();
  const std::vector<RerunFile> read = family.rerun_files();
  result.certificate.rerun =
      rerun_record({{"run", verb.get_name()}, rerun_options(verb, read, solver_settings), read});
  looks.record_in(result.certificate, {family.problems()}, solver);
  std::vector<io::FileContent> others;
  if (!result.terminations.empty()) others.push_back({report::file_names::terminations, result.terminations});
  if (arguments.run.save_traces) others.push_back({report::file_names::traces, result.traces});
  write_certificate(result.certificate, arguments.output, *folder, std::move(others));
  for (const std::string& line : {result.solver_line, result.termination_line}) {
    if (!line.empty() && !arguments.output.json) fmt::print("{}\n", line);
  }
  journal->close();
}

/// The preset that is named, and all else that can be wrong before a file is read.
Preset checked_preset(RunArguments& arguments, bool has_defaults) {
  require(has_defaults || arguments.preset != to_string(Preset::defaults),
          "--preset: default is of run qp alone; SCS is run without acceleration and adaptive "
          "scale: fixed, paper");
  const Preset preset = parse_preset(arguments.preset);
  if (arguments.preset != to_string(preset)) {
    say("--preset package: an older name of fixed, the package without what it adapts");
    arguments.preset = to_string(preset);
  }
  arguments.run.validate();
  (void)arguments.claims.options();
  return preset;
}

// A setting of the preset unless the user gave it.
template <class T>
void preset(const CLI::App& verb, const char* option, T& value, T preset_value) {
  if (verb.count(option) == 0) value = preset_value;
}

// The settings of OSQP: those of the preset, and what the user gave.
void choose_osqp(const CLI::App& verb, RunArguments& arguments) {
  using algorithms::OsqpOptions;
  const Preset chosen = checked_preset(arguments, true);
  const OsqpOptions usual = osqp_preset(chosen);
  OsqpOptions& osqp = arguments.osqp;
  preset(verb, "--rho", osqp.rho, usual.rho);
  preset(verb, "--sigma", osqp.sigma, usual.sigma);
  preset(verb, "--alpha", osqp.alpha, usual.alpha);
  preset(verb, "--scaling", osqp.scaling, usual.scaling);
  preset(verb, "--equality-factor", osqp.equality_factor, usual.equality_factor);
  osqp.loose_rho = usual.loose_rho;
  preset<std::string>(verb, "--adaptive-rho", arguments.adaptive_rho,
                      std::string(adaptive_rho_name(usual.adaptive_rho)));
  osqp.adaptive_rho = parse_adaptive_rho(arguments.adaptive_rho);
  const Index interval = OsqpOptions::defaults().check_termination;
  preset(verb, "--check-termination", osqp.check_termination, osqp.stop ? interval : usual.check_termination);
  require(!osqp.stop || osqp.check_termination > 0, "--stop: needs --check-termination above 0");
  osqp.max_iter = arguments.run.iterations;
}

void run_qp(const CLI::App& verb, RunArguments& arguments) {
  choose_osqp(verb, arguments);
  run(verb, arguments, rerun_settings(arguments.osqp, arguments.preset),
      [&](families::FamilyFiles& files) { return osqp_run(files, arguments.osqp); });
}

void run_cone(const CLI::App& verb, RunArguments& arguments) {
  using algorithms::ScsOptions;
  const ScsOptions usual =
      checked_preset(arguments, false) == Preset::paper ? ScsOptions::paper() : ScsOptions::package();
  ScsOptions& scs = arguments.scs;
  preset(verb, "--alpha", scs.alpha, usual.alpha);
  preset(verb, "--rho-x", scs.rho_x, usual.rho_x);
  preset(verb, "--scale", scs.scale, usual.scale);
  scs.zero_factor = usual.zero_factor;
  scs.tau_factor = usual.tau_factor;
  arguments.cones.validate();
  run(verb, arguments, rerun_settings(scs, arguments.preset),
      [&](families::FamilyFiles& files) { return scs_run(files, scs, arguments.cones); });
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
  verb.add_option("--iterations", arguments.run.iterations, "iterations of each run")
      ->check(whole_number)
      ->capture_default_str();
  verb.add_option("--start", arguments.run.start, "table of starting iterates [cold start]");
  verb.add_option("--metric", arguments.run.metric, fmt::format("{}", fmt::join(runs::metric_names(), ", ")))
      ->capture_default_str();
  verb.add_option(
      "--worst-case", arguments.run.worst_case,
      "averaged:ALPHA: the proven worst case beside the claims; for qp with --preset paper, where a "
      "step is 1/2-averaged");
  verb.add_option("--dist0", arguments.run.dist0,
                  "for --worst-case: |z^0 - z*| in (x, w + y) is at most this for every problem and its "
                  "start, as a fact");
  verb.add_option("--estimated-dist0", arguments.run.estimated_dist0,
                  "instead of --dist0, if it is not a fact: the worst case is drawn, and no claim uses it");
  verb.add_option("--threads", arguments.threads, "threads [all cores]")->check(whole_number);
  verb.add_flag("--save-traces", arguments.run.save_traces,
                "write the traces too, so that verify --data can count them again");
  add_claim_options(verb, arguments.claims);
  add_dependence_option(verb, arguments.run.allow_dependence);
  add_output_options(verb, arguments.output);
  add_checkpoint_options(verb, arguments.checkpoint);
  add_look_options(verb, arguments.looks);
  add_memory_option(verb, arguments.run.memory_limit);
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
  arguments->preset = to_string(Preset::defaults);
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
  verb->callback([arguments, verb] { run_qp(*verb, *arguments); });
}

void add_cone(CLI::App& run) {
  const auto arguments = std::make_shared<RunArguments>();
  CLI::App* verb = run.add_subcommand("cone", "Cone programs 1/2 x'Px + c'x, Ax + s = b, s in K, by SCS");
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
  verb->callback([arguments, verb] { run_cone(*verb, *arguments); });
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
