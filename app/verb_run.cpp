#include "surefoot/core/error.hpp"
#include "surefoot/core/parallel.hpp"
#include "surefoot/experiments/looks.hpp"
#include "surefoot/experiments/run_family.hpp"
#include "surefoot/report/file_names.hpp"
#include "surefoot/runs/named_metric.hpp"

#include "claims.hpp"
#include "output.hpp"
#include "rerun_options.hpp"
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
  std::string preset = std::string(to_string(Preset::package));
  FamilyRunOptions run;
  int threads = 0;
  algorithms::OsqpOptions osqp;
  algorithms::ScsOptions scs;
  problems::Cones cones;
  ClaimArguments claims;
  OutputOptions output;
  CheckpointOptions checkpoint;
  LookOptions looks;
};

/// A setting of the solver that is an option: the preset's unless the user gave it.
struct SolverSetting {
  const char* option;
  double* value;
  double preset;
};

/// Sets what the user has not, and returns all of them as a repetition needs them.
RerunOptions take_settings(const CLI::App& verb, const std::vector<SolverSetting>& settings) {
  RerunOptions effective;
  for (const SolverSetting& setting : settings) {
    if (verb.count(setting.option) == 0) *setting.value = setting.preset;
    effective.emplace_back(setting.option, fmt::to_string(*setting.value));
  }
  return effective;
}

void run(const CLI::App& verb, RunArguments& arguments, const RerunOptions& solver_settings,
         const std::function<SolverRun(families::FamilyFiles&)>& solver_of) {
  arguments.run.validate();
  set_threads(arguments.threads);
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
  if (arguments.run.save_traces) others.push_back({report::file_names::traces, result.traces});
  write_certificate(result.certificate, arguments.output, *folder, std::move(others));
  journal->close();
}

void run_qp(const CLI::App& verb, RunArguments& arguments) {
  using algorithms::OsqpOptions;
  const OsqpOptions preset =
      parse_preset(arguments.preset) == Preset::paper ? OsqpOptions::paper() : OsqpOptions::package();
  OsqpOptions& osqp = arguments.osqp;
  osqp.loose_rho = preset.loose_rho;
  RerunOptions settings =
      take_settings(verb, {{"--rho", &osqp.rho, preset.rho},
                           {"--sigma", &osqp.sigma, preset.sigma},
                           {"--alpha", &osqp.alpha, preset.alpha},
                           {"--equality-factor", &osqp.equality_factor, preset.equality_factor}});
  if (verb.count("--scaling") == 0) osqp.scaling = preset.scaling;
  settings.emplace_back("--scaling", fmt::to_string(osqp.scaling));
  run(verb, arguments, settings, [&](families::FamilyFiles& files) { return osqp_run(files, osqp); });
}

void run_cone(const CLI::App& verb, RunArguments& arguments) {
  using algorithms::ScsOptions;
  const ScsOptions preset =
      parse_preset(arguments.preset) == Preset::paper ? ScsOptions::paper() : ScsOptions::package();
  ScsOptions& scs = arguments.scs;
  scs.zero_factor = preset.zero_factor;
  scs.tau_factor = preset.tau_factor;
  const RerunOptions settings = take_settings(verb, {{"--alpha", &scs.alpha, preset.alpha},
                                                     {"--rho-x", &scs.rho_x, preset.rho_x},
                                                     {"--scale", &scs.scale, preset.scale}});
  run(verb, arguments, settings,
      [&](families::FamilyFiles& files) { return scs_run(files, scs, arguments.cones); });
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
  verb->callback([arguments, verb] { run_qp(*verb, *arguments); });
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
