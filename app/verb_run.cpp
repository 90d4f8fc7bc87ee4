#include "surefoot/core/error.hpp"
#include "surefoot/core/parallel.hpp"
#include "surefoot/experiments/looks.hpp"
#include "surefoot/experiments/run_family.hpp"
#include "surefoot/experiments/run_streamed.hpp"
#include "surefoot/families/family_stream.hpp"
#include "surefoot/report/file_names.hpp"
#include "surefoot/runs/named_metric.hpp"

#include "begin_work.hpp"
#include "claims.hpp"
#include "exit_codes.hpp"
#include "help_groups.hpp"
#include "output.hpp"
#include "rerun_options.hpp"
#include "say.hpp"
#include "stopping.hpp"
#include "tune_options.hpp"
#include "verbs.hpp"
#include "whole_number.hpp"
#include "work_options.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <functional>
#include <map>
#include <memory>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

namespace {

using namespace surefoot;
using namespace surefoot::experiments;

/// Settings of a solver as options: those that are given replace those of a preset.
template <class Options>
struct Given {
  Options options = Options::defaults();
  std::vector<std::function<void(Options&)>> given;

  template <class T>
  void add(CLI::App& verb, const char* name, T Options::*setting, const char* help) {
    const CLI::Option* option =
        verb.add_option(name, options.*setting, help)->capture_default_str()->group(help_groups::solver);
    if constexpr (std::is_same_v<T, Index>) verb.get_option(name)->check(whole_number);
    given.push_back([this, option, setting](Options& chosen) {
      if (option->count() > 0) chosen.*setting = options.*setting;
    });
  }
  void add_stop(CLI::App& verb) {
    verb.add_flag("--stop", options.stop, "obey the stopping test, then repeat the last point")
        ->group(help_groups::solver);
  }
  [[nodiscard]] Options over(Options chosen) const {
    for (const auto& set : given) set(chosen);
    chosen.stop = options.stop;
    return chosen;
  }
};

struct RunArguments {
  std::string folder;
  std::map<std::string, std::string> files;
  std::string settings;  // told apart before parsing, see main
  std::string schedule;
  std::string preset{to_string(Preset::defaults)};
  FamilyRunOptions run;
  bool stream = false;
  int threads = 0;
  std::string adaptive_rho = "iterations";
  Given<algorithms::OsqpOptions> osqp;
  Given<algorithms::ScsOptions> scs;
  std::string time_limit;
  problems::Cones cones;
  ClaimArguments claims;
  OutputOptions output;
  CheckpointOptions checkpoint;
  LookOptions looks;
};

/// What is the same of problems that are held and of those that are streamed.
template <class Family>
void run_and_write(const CLI::App& verb, RunArguments& arguments, RerunOptions settings, Family& family,
                   io::ResultFolder& folder, int& exit_code) {
  for (auto& effective : arguments.claims.effective()) settings.push_back(std::move(effective));
  const std::string solver = family.solver();
  LookBook looks(arguments.looks, "run", configuration_of(verb, family.data()), arguments.checkpoint.resume);
  looks.announce({family.problems()}, solver);
  const auto journal = open_journal(arguments.checkpoint, verb, family.data());
  FamilyResult result = [&] {
    const StopSignals signals(how_to_go_on(arguments.checkpoint));
    return family.count(*journal);
  }();
  const std::vector<RerunFile> read = family.rerun_files();
  result.certificate.rerun =
      rerun_record({{"run", verb.get_name()}, rerun_options(verb, read, settings), read});
  looks.record_in(result.certificate, {family.problems()}, solver);
  std::vector<io::FileContent> others;
  if (!result.terminations.empty()) others.push_back({report::file_names::terminations, result.terminations});
  if (arguments.run.save_traces) others.push_back({report::file_names::traces, result.traces});
  write_certificate(result.certificate, arguments.output, folder, std::move(others));
  for (const std::string& line : {result.solver_line, result.termination_line, result.until_line}) {
    if (!line.empty() && !arguments.output.json) fmt::print("{}\n", line);
  }
  if (!result.decided) exit_code = undecided;
  if (!result.decided && arguments.output.json) say(result.until_line);
  journal->close();
}

/// Of a form: how its solver is made of files that are held, and of vectors that are streamed.
struct SolverOfForm {
  std::function<SolverRun(families::FamilyFiles&)> held;
  std::function<StreamedRun::SolverOf(families::FamilyFiles&)> streamed;
  std::vector<std::string> tables;
};

void run(const CLI::App& verb, RunArguments& arguments, RerunOptions settings, const SolverOfForm& solver,
         int& exit_code) {
  set_threads(arguments.threads);
  begin_work();
  const auto folder = arguments.output.open();
  arguments.checkpoint.prepare();
  arguments.run.checkpoints = !arguments.checkpoint.folder.empty();
  const bool learned = names_weights(arguments.run.start);
  require(!learned || !arguments.stream, "--stream: with learned starts all problems are held");
  if (!learned) arguments.files["start"] = arguments.run.start;
  families::FamilyFiles files(arguments.folder, arguments.files);
  if (!arguments.stream) {
    FamilyRun family(arguments.folder, files, solver.held(files), arguments.run, arguments.claims.options());
    return run_and_write(verb, arguments, std::move(settings), family, *folder, exit_code);
  }
  const auto streamed = solver.streamed(files);
  families::FamilyStream stream(files, solver.tables, StopSignals::check);
  StreamedRun family(arguments.folder, files, stream, streamed, arguments.run, arguments.claims.options());
  run_and_write(verb, arguments, std::move(settings), family, *folder, exit_code);
}

/// The preset that is named, and all else that can be wrong before a file is read.
Preset checked_preset(RunArguments& arguments) {
  const Preset preset = parse_preset(arguments.preset);
  if (arguments.preset != to_string(preset)) {
    say("--preset package: an older name of fixed, the package without what it adapts");
    arguments.preset = to_string(preset);
  }
  arguments.run.until = arguments.claims.until_claim();
  require(!arguments.run.until || arguments.looks.ledger.empty(),
          "--ledger: with --until nobody knows which problems will be looked at before they are");
  arguments.run.validate();
  (void)arguments.claims.options();
  return preset;
}

/// What a repetition of a run with a schedule says instead of settings: nothing.
RerunOptions no_settings(const CLI::App& verb, const RunArguments& arguments, RerunOptions settings) {
  for (auto& [name, value] : settings) {
    require(verb.count(name) == 0, "{}: with --schedule all settings are those of the weights", name);
    value.clear();
  }
  require(!names_weights(arguments.run.start), "--start: with --schedule a start is a table of iterates");
  require(!arguments.stream, "--stream: with --schedule all problems are held");
  return settings;
}

void run_qp(const CLI::App& verb, RunArguments& arguments, int& exit_code) {
  algorithms::OsqpOptions osqp = arguments.osqp.over(osqp_preset(checked_preset(arguments)));
  if (verb.count("--adaptive-rho") == 0) arguments.adaptive_rho = adaptive_rho_name(osqp.adaptive_rho);
  osqp.adaptive_rho = parse_adaptive_rho(arguments.adaptive_rho);
  if (osqp.stop && verb.count("--check-termination") == 0)
    osqp.check_termination = arguments.osqp.options.check_termination;
  require(!osqp.stop || osqp.check_termination > 0, "--stop: needs --check-termination above 0");
  osqp.max_iter = arguments.run.iterations;
  if (!arguments.schedule.empty()) {
    require(!osqp.stop, "--stop: a schedule has no stopping test");
    return run(
        verb, arguments, no_settings(verb, arguments, rerun_settings(osqp, arguments.preset)),
        {[&](families::FamilyFiles& files) { return scheduled_run(files, arguments.schedule); }, {}, {}},
        exit_code);
  }
  run(verb, arguments, rerun_settings(osqp, arguments.preset),
      {[&](families::FamilyFiles& files) {
         return names_weights(arguments.run.start) ? started_run(files, osqp, arguments.run.start)
                                                   : osqp_run(files, osqp);
       },
       [&](families::FamilyFiles& files) { return streamed_osqp(files, osqp); },
       {"q", "l", "u"}},
      exit_code);
}

void run_cone(const CLI::App& verb, RunArguments& arguments, int& exit_code) {
  algorithms::ScsOptions scs = arguments.scs.over(scs_preset(checked_preset(arguments)));
  require(arguments.time_limit.empty(),
          "--time-limit-secs: it makes results depend on the clock; limit the --iterations");
  scs.check_termination = scs.check_termination || scs.stop;
  scs.returned = scs.returned || scs.watches();
  scs.max_iters = arguments.run.iterations;
  scs.validate();
  arguments.cones.validate();
  if (!arguments.schedule.empty()) {
    require(!scs.stop, "--stop: a schedule has no stopping test");
    return run(verb, arguments, no_settings(verb, arguments, rerun_settings(scs, arguments.preset)),
               {[&](families::FamilyFiles& files) {
                  return scheduled_run(files, arguments.cones, arguments.schedule);
                },
                {},
                {}},
               exit_code);
  }
  run(verb, arguments, rerun_settings(scs, arguments.preset),
      {[&](families::FamilyFiles& files) {
         return names_weights(arguments.run.start)
                    ? started_run(files, scs, arguments.cones, arguments.run.start)
                    : scs_run(files, scs, arguments.cones);
       },
       [&](families::FamilyFiles& files) { return streamed_scs(files, scs, arguments.cones); },
       {"b", "c"}},
      exit_code);
}

void add_common(CLI::App& verb, RunArguments& arguments, const std::vector<std::string>& files,
                const char* presets) {
  verb.add_option("folder", arguments.folder, "folder with the files below, and settings.toml if it has one");
  for (const std::string& name : files) {
    verb.add_option("--" + name, arguments.files[name], "file of " + name + " [" + name + " in the folder]")
        ->group(help_groups::files);
  }
  verb.add_option("--settings", arguments.settings,
                  "TOML file with any of these options [settings.toml in the folder]");
  verb.add_option("--preset", arguments.preset, presets)->capture_default_str();
  verb.add_option("--iterations", arguments.run.iterations, "iterations of each run")
      ->check(whole_number)
      ->capture_default_str();
  verb.add_option(
      "--start", arguments.run.start,
      "table of starting iterates, or weights of a learned start, of surefoot train [cold start]");
  verb.add_option("--parameters", arguments.files["parameters"],
                  "for such weights: file of parameters, a row for each problem, if the network sees these "
                  "[parameters in the folder]");
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
  verb.add_flag(
      "--stream", arguments.stream,
      "read the vectors block by block and hold no others: for problems that do not fit into memory; P and "
      "A are one for all, and what the stopping test said of each problem is not written");
  verb.add_flag("--save-traces", arguments.run.save_traces,
                "write the traces too, so that verify --data can count them again");
  add_claim_options(verb, arguments.claims);
  add_anytime_option(verb, arguments.claims);
  add_until_option(verb, arguments.claims);
  verb.add_option("--max-runs", arguments.run.max_runs, "with --until: at most so many problems [all]")
      ->check(whole_number);
  add_dependence_option(verb, arguments.run.allow_dependence);
  add_output_options(verb, arguments.output);
  add_checkpoint_options(verb, arguments.checkpoint);
  add_look_options(verb, arguments.looks);
  add_memory_option(verb, arguments.run.memory_limit);
}

void add_osqp_options(CLI::App& verb, RunArguments& arguments) {
  using algorithms::OsqpOptions;
  Given<OsqpOptions>& osqp = arguments.osqp;
  osqp.add(verb, "--rho", &OsqpOptions::rho, "step size of the constraints");
  osqp.add(verb, "--sigma", &OsqpOptions::sigma, "step size of the variables");
  osqp.add(verb, "--alpha", &OsqpOptions::alpha, "relaxation, in (0, 2)");
  osqp.add(verb, "--scaling", &OsqpOptions::scaling, "passes of equilibration");
  osqp.add(verb, "--equality-factor", &OsqpOptions::equality_factor, "rho of equalities is rho times this");
  osqp.add_stop(verb);
  verb.add_option("--adaptive-rho", arguments.adaptive_rho, "iterations, or off")
      ->capture_default_str()
      ->group(help_groups::solver);
  osqp.add(verb, "--adaptive-rho-interval", &OsqpOptions::adaptive_rho_interval,
           "iterations between two changes; 0: four times --check-termination");
  osqp.add(verb, "--adaptive-rho-tolerance", &OsqpOptions::adaptive_rho_tolerance, "factor of a change");
  osqp.add(verb, "--check-termination", &OsqpOptions::check_termination,
           "iterations between two tests; 0: none");
  osqp.add(verb, "--eps-abs", &OsqpOptions::eps_abs, "stopping test: absolute tolerance");
  osqp.add(verb, "--eps-rel", &OsqpOptions::eps_rel, "stopping test: relative tolerance");
  osqp.add(verb, "--eps-prim-inf", &OsqpOptions::eps_prim_inf, "stopping test: primal infeasibility");
  osqp.add(verb, "--eps-dual-inf", &OsqpOptions::eps_dual_inf, "stopping test: dual infeasibility");
  osqp.add(verb, "--check-dualgap", &OsqpOptions::check_dualgap, "stopping test: duality gap too");
  osqp.add(verb, "--scaled-termination", &OsqpOptions::scaled_termination,
           "stopping test: equilibrated problem");
}

void add_scs_options(CLI::App& verb, RunArguments& arguments) {
  using algorithms::ScsOptions;
  Given<ScsOptions>& scs = arguments.scs;
  scs.add(verb, "--alpha", &ScsOptions::alpha, "relaxation, in (0, 2)");
  scs.add(verb, "--rho-x", &ScsOptions::rho_x, "scaling of the variables");
  scs.add(verb, "--scale", &ScsOptions::scale, "scaling of the rows");
  scs.add_stop(verb);
  scs.add(verb, "--normalize", &ScsOptions::normalize, "equilibrate each problem");
  scs.add(verb, "--adaptive-scale", &ScsOptions::adaptive_scale, "each problem changes its scale");
  scs.add(verb, "--adaptive-diag-scale", &ScsOptions::adaptive_diag_scale, "and a factor of it for each row");
  scs.add(verb, "--acceleration-lookback", &ScsOptions::acceleration_lookback,
          "Anderson acceleration; 0: none");
  scs.add(verb, "--acceleration-interval", &ScsOptions::acceleration_interval,
          "iterations from one to the next");
  scs.add(verb, "--acceleration-type-1", &ScsOptions::acceleration_type_1, "acceleration of type I, not II");
  scs.add(verb, "--acceleration-regularization", &ScsOptions::acceleration_regularization,
          "relative, or below 0 absolute");
  scs.add(verb, "--acceleration-relaxation", &ScsOptions::acceleration_relaxation, "in [0, 2]");
  scs.add(verb, "--eps-abs", &ScsOptions::eps_abs, "stopping test: absolute tolerance");
  scs.add(verb, "--eps-rel", &ScsOptions::eps_rel, "stopping test: relative tolerance");
  scs.add(verb, "--eps-infeas", &ScsOptions::eps_infeas, "stopping test: infeasibility");
  verb.add_option("--time-limit-secs", arguments.time_limit, "refused: results must not depend on the clock")
      ->group(help_groups::solver);
}

void add_qp(CLI::App& run, int& exit_code) {
  const auto arguments = std::make_shared<RunArguments>();
  CLI::App* verb = run.add_subcommand("qp", "Quadratic programs 1/2 x'Px + q'x, l <= Ax <= u, by OSQP");
  add_common(
      *verb, *arguments, {"P", "A", "q", "l", "u"},
      "solver settings: default (the package as it is installed), fixed (the same without adaptive rho and "
      "stopping test; package is its older name) or paper");
  add_osqp_options(*verb, *arguments);
  verb->add_option(
      "--schedule", arguments->schedule,
      "weights of a learned schedule of rho and alpha, of surefoot train: its settings, run at the means");
  verb->footer("Example: surefoot run qp examples/mpc --iterations 200 --tolerances 1e-3,1e-2");
  verb->callback([arguments, verb, &exit_code] { run_qp(*verb, *arguments, exit_code); });
}

void add_cone(CLI::App& run, int& exit_code) {
  const auto arguments = std::make_shared<RunArguments>();
  CLI::App* verb = run.add_subcommand("cone", "Cone programs 1/2 x'Px + c'x, Ax + s = b, s in K, by SCS");
  add_common(
      *verb, *arguments, {"P", "A", "b", "c"},
      "solver settings: default (the package as it is installed), fixed (the same without normalisation, "
      "acceleration, adaptive scale and stopping test; package is its older name) or paper");
  add_cone_options(*verb, arguments->cones);
  add_scs_options(*verb, *arguments);
  verb->add_option(
      "--schedule", arguments->schedule,
      "weights of a learned schedule of scale and alpha, of surefoot train: its settings, run at the means");
  verb->footer("Example: surefoot run cone examples/portfolio --iterations 200");
  verb->callback([arguments, verb, &exit_code] { run_cone(*verb, *arguments, exit_code); });
}

}  // namespace

void add_run_verb(CLI::App& app, int& exit_code) {
  CLI::App* run = app.add_subcommand(
      "run", "Run a solver on problems and certify it: run qp, run cone, run loop, run family, run command");
  run->require_subcommand(1);
  run->footer("Example: surefoot run qp examples/mpc --iterations 200");
  add_qp(*run, exit_code);
  add_cone(*run, exit_code);
  add_run_loop(*run);
  add_run_drawn(*run);
  add_run_command(*run, exit_code);
}
