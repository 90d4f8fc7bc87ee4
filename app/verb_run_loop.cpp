#include "surefoot/bounds/confidence_budget.hpp"
#include "surefoot/core/checked.hpp"
#include "surefoot/core/parallel.hpp"
#include "surefoot/experiments/run_family.hpp"
#include "surefoot/experiments/run_loop.hpp"
#include "surefoot/report/loop_page.hpp"
#include "surefoot/report/text.hpp"
#include "surefoot/report/text_table.hpp"

#include "begin_work.hpp"
#include "claims.hpp"
#include "help_groups.hpp"
#include "output.hpp"
#include "rerun_options.hpp"
#include "say.hpp"
#include "stopping.hpp"
#include "verbs.hpp"
#include "whole_number.hpp"
#include "work_options.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <filesystem>
#include <map>
#include <memory>
#include <string>
#include <utility>
#include <vector>

namespace {

using namespace surefoot;
using namespace surefoot::experiments;

struct LoopArguments {
  std::string folder;
  std::map<std::string, std::string> files;
  LoopRunOptions run;
  algorithms::OsqpOptions osqp = loop_osqp();
  std::string limits = fmt::format("{}", fmt::join(LoopRunOptions{}.limits, ","));
  std::string shares = as_list(LoopRunOptions{}.shares);
  std::string violation = as_list(LoopRunOptions{}.violation_tolerances);
  std::string cost = as_list(LoopRunOptions{}.cost_tolerances);
  std::string failed = as_list(LoopRunOptions{}.failed_tolerances);
  std::string series = as_list(LoopRunOptions{}.series_tolerances);
  std::string start{runs::name(LoopRunOptions{}.start)};
  double confidence = confidence_of(LoopRunOptions{}.delta);
  int threads = 0;
  std::filesystem::path out = OutputOptions{}.folder;
  CheckpointOptions checkpoint;

  static algorithms::OsqpOptions loop_osqp() {
    algorithms::OsqpOptions options = algorithms::OsqpOptions::defaults();
    options.adaptive_rho = false;
    options.stop = false;
    return options;
  }
};

std::vector<Index> whole_numbers(const char* option, const std::string& text) {
  std::vector<Index> numbers;
  for (const double number : parse_numbers(option, text)) numbers.push_back(whole_number_of(option, number));
  return numbers;
}

LoopRunOptions checked_options(const LoopArguments& arguments) {
  LoopRunOptions options = arguments.run;
  options.limits = whole_numbers("--limits", arguments.limits);
  options.shares = parse_numbers("--shares", arguments.shares);
  options.violation_tolerances = parse_numbers("--violation-tolerances", arguments.violation);
  options.cost_tolerances = parse_numbers("--cost-tolerances", arguments.cost);
  options.failed_tolerances = parse_numbers("--failed-tolerances", arguments.failed);
  options.series_tolerances = parse_numbers("--series-tolerances", arguments.series);
  options.start = runs::parse_loop_start(arguments.start);
  options.checkpoints = !arguments.checkpoint.folder.empty();
  options.delta = bounds::delta_of_confidence(arguments.confidence);
  options.validate();
  runs::ClosedLoopOptions loop;
  loop.osqp = arguments.osqp;
  loop.stop = options.stop;
  loop.validate();
  return options;
}

void run_loop(const CLI::App& verb, LoopArguments& arguments) {
  const LoopRunOptions options = checked_options(arguments);
  set_threads(arguments.threads);
  begin_work();
  io::ResultFolder folder(arguments.out, report::is_file_of_loop);
  arguments.checkpoint.prepare();
  families::FamilyFiles files(arguments.folder, arguments.files);
  LoopRun loop(arguments.folder, files, arguments.osqp, options);
  const auto journal = open_journal(arguments.checkpoint, verb, loop.data());
  LoopResult result = [&] {
    const StopSignals signals(how_to_go_on(arguments.checkpoint));
    return loop.run(*journal);
  }();
  const std::vector<RerunFile> read = loop.rerun_files();
  for (auto& [name, certificate] : result.certificates)
    certificate.rerun = rerun_record({{"run", "loop"}, rerun_options(verb, read, {}), read, name});
  const report::Report report = report::loop_report(result.picture, result.certificates);
  for (const std::string& notice : report::write_files(report, folder, {{"rollouts.csv", result.rollouts}}))
    say(notice);
  for (const std::string& sentence : result.summary)
    fmt::print("{}", report::wrapped(sentence, 100, "", "  "));
  fmt::print("\nThe smallest limit with a guarantee (-: not even the largest)\n{}",
             report::to_text(report::smallest_limits(result.certificates), "  "));
  fmt::print("\nWritten to {}: report.html, tube.csv, rollouts.csv, and a certificate in each of",
             arguments.out.string());
  for (const auto& [name, certificate] : result.certificates) fmt::print(" {}", name);
  fmt::print(
      "\nAll of them hold together with confidence {}. Check one:  surefoot verify {}\n",
      arguments.confidence,
      report::shell_path((arguments.out / result.certificates.front().first / "certificate.json").string()));
  journal->close();
}

}  // namespace

void add_run_loop(CLI::App& run) {
  const auto arguments = std::make_shared<LoopArguments>();
  CLI::App* verb = run.add_subcommand(
      "loop", "A controller in closed loop: OSQP at every tick of many rollouts of a plant");
  verb->add_option("folder", arguments->folder, "folder with the files below");
  for (const std::string& name : loop_file_names())
    verb->add_option("--" + name, arguments->files[name], loop_file_help(name))->group(help_groups::files);
  verb->add_option("--rollouts", arguments->run.rollouts, "independent rollouts")
      ->check(whole_number)
      ->capture_default_str();
  verb->add_option("--ticks", arguments->run.ticks, "ticks of a rollout")
      ->check(whole_number)
      ->capture_default_str();
  verb->add_option(
          "--limits", arguments->limits,
          "iterations of a tick, an increasing list; all are run, and the smallest with a guarantee is told")
      ->capture_default_str();
  verb->add_option("--loop-start", arguments->start, "where a tick begins: cold, kept or shifted")
      ->capture_default_str();
  verb->add_flag("--stop", arguments->run.stop,
                 "a tick ends at OSQP's stopping test, if that is before the limit");
  verb->add_option("--seed", arguments->run.seed, "of initial states and disturbances that are drawn")
      ->capture_default_str();
  verb->add_option("--confidence", arguments->confidence, "of all certificates together, in (0, 1)")
      ->capture_default_str();
  verb->add_option("--shares", arguments->shares, "shares of rollouts that the smallest limit is asked for")
      ->capture_default_str();
  verb->add_option("--violation-tolerances", arguments->violation, "largest violation of the plant's bounds")
      ->capture_default_str();
  verb->add_option("--cost-tolerances", arguments->cost,
                   "excess over the cost with exact solves, 0.01 is 1 %")
      ->capture_default_str();
  verb->add_option("--failed-tolerances", arguments->failed, "share of failed ticks")->capture_default_str();
  verb->add_option("--series-tolerances", arguments->series, "longest series of failed ticks")
      ->capture_default_str();
  verb->add_option("--tube-limit", arguments->run.tube_limit,
                   "the limit whose states the tube is of; 0: the largest")
      ->check(whole_number)
      ->capture_default_str();
  verb->add_option("--tube-share", arguments->run.tube_share,
                   "share of rollouts in the tube at each tick; 0: 0.99, or what so many rollouts support")
      ->capture_default_str();
  verb->add_option("--exact-eps", arguments->run.exact_eps, "tolerances of the exact loop")
      ->capture_default_str();
  verb->add_option("--exact-limit", arguments->run.exact_limit, "its iterations at most")
      ->check(whole_number)
      ->capture_default_str();
  const auto number = [&](const char* name, double algorithms::OsqpOptions::*field, const char* help) {
    verb->add_option(name, arguments->osqp.*field, help)->capture_default_str()->group(help_groups::solver);
  };
  const auto count = [&](const char* name, Index algorithms::OsqpOptions::*field, const char* help) {
    verb->add_option(name, arguments->osqp.*field, help)
        ->check(whole_number)
        ->capture_default_str()
        ->group(help_groups::solver);
  };
  using algorithms::OsqpOptions;
  number("--rho", &OsqpOptions::rho, "step size of the constraints; it stays as it is");
  number("--sigma", &OsqpOptions::sigma, "step size of the variables");
  number("--alpha", &OsqpOptions::alpha, "relaxation, in (0, 2)");
  count("--scaling", &OsqpOptions::scaling, "passes of equilibration");
  number("--equality-factor", &OsqpOptions::equality_factor, "rho of equalities is rho times this");
  count("--check-termination", &OsqpOptions::check_termination, "with --stop: iterations between two tests");
  number("--eps-abs", &OsqpOptions::eps_abs, "stopping test: absolute tolerance");
  number("--eps-rel", &OsqpOptions::eps_rel, "stopping test: relative tolerance");
  number("--eps-prim-inf", &OsqpOptions::eps_prim_inf, "stopping test: primal infeasibility");
  number("--eps-dual-inf", &OsqpOptions::eps_dual_inf, "stopping test: dual infeasibility");
  add_dependence_option(*verb, arguments->run.allow_dependence);
  verb->add_option("--threads", arguments->threads, "threads [all cores]")->check(whole_number);
  verb->add_option("--out", arguments->out, "output folder")->capture_default_str();
  add_checkpoint_options(*verb, arguments->checkpoint);
  add_memory_option(*verb, arguments->run.memory_limit);
  verb->footer(
      "Example: surefoot run loop examples/cartpole --rollouts 2000 --limits 5,10,20\n"
      "A rollout is one independent sample; its ticks are not. A tick has failed where OSQP's stopping test is not "
      "passed within the limit; the input of its last iterate is applied all the same.");
  verb->callback([arguments, verb] { run_loop(*verb, *arguments); });
}
