#include "surefoot/core/error.hpp"
#include "surefoot/core/parallel.hpp"
#include "surefoot/core/ranks.hpp"
#include "surefoot/experiments/run_command.hpp"
#include "surefoot/report/file_names.hpp"

#include "begin_work.hpp"
#include "claims.hpp"
#include "exit_codes.hpp"
#include "output.hpp"
#include "say.hpp"
#include "stopping.hpp"
#include "verbs.hpp"
#include "whole_number.hpp"
#include "work_options.hpp"

#include <fmt/format.h>

#include <memory>
#include <optional>
#include <string>
#include <utility>

namespace {

using namespace surefoot;
using namespace surefoot::experiments;

struct CommandArguments {
  CommandRunOptions run;
  std::optional<double> time_limit;
  Index jobs = 0;
  ClaimArguments claims;
  OutputOptions output;
  CheckpointOptions checkpoint;
};

void run_command(const CLI::App& verb, CommandArguments& arguments, int& exit_code) {
  CommandRunOptions options = arguments.run;
  options.until = arguments.claims.until_claim();
  require(options.until || verb.count("--max-runs") == 0, "--max-runs: it is for --until");
  if (arguments.time_limit) options.seconds = *arguments.time_limit;
  options.at_once = arguments.jobs > 0 ? arguments.jobs : threads();
  require(ranks().count() == 1, "run command: runs are made in one process; use --jobs");
  CommandRun run(options, arguments.claims.options());
  begin_work();
  const auto folder = arguments.output.open();
  arguments.checkpoint.prepare();
  arguments.run.checkpoints = !arguments.checkpoint.folder.empty();
  const auto journal = open_journal(arguments.checkpoint, verb, {});
  CommandResult result = [&] {
    const StopSignals signals(how_to_go_on(arguments.checkpoint));
    return run.count(*journal);
  }();
  write_certificate(result.certificate, arguments.output, *folder,
                    {{report::file_names::traces, std::move(result.traces)}});
  for (const std::string& line : {result.failures_line, result.until_line}) {
    if (line.empty()) continue;
    if (arguments.output.json) {
      say(line);
    } else {
      fmt::print("{}\n", line);
    }
  }
  if (!result.decided) exit_code = undecided;
  // Where nothing was decided, one may go on with more runs.
  if (result.decided) journal->close();
}

}  // namespace

void add_run_command(CLI::App& run, int& exit_code) {
  const auto arguments = std::make_shared<CommandArguments>();
  CLI::App* verb = run.add_subcommand(
      "command", "Any program that prints a row of numbers for the problem of a seed, run on many of them");
  verb->add_option(
      "command", arguments->run.command,
      "after --: the program and its arguments, with {seed} in one of them; it prints one line, a number "
      "for each step, or one alone; no shell is used");
  verb->add_option("--samples", arguments->run.samples, "runs to make, a number fixed beforehand")
      ->check(whole_number);
  add_until_option(*verb, arguments->claims);
  verb->add_option("--max-runs", arguments->run.max_runs, "with --until: make at most so many")
      ->check(whole_number)
      ->capture_default_str();
  verb->add_option("--first-seed", arguments->run.first_seed,
                   "seed of the first run; the next have the next ones")
      ->check(whole_number)
      ->capture_default_str();
  verb->add_option("--time-limit", arguments->time_limit,
                   "seconds for each run; one that takes longer is ended and has failed [none]");
  verb->add_option("--jobs", arguments->jobs, "programs that run at the same time [as many as cores]")
      ->check(whole_number);
  verb->add_option("--first-step", arguments->run.first_step, "step of the first number of a row")
      ->check(whole_number)
      ->capture_default_str();
  verb->add_option("--metric", arguments->claims.metric, "name of the metric")->capture_default_str();
  verb->add_option("--unit", arguments->claims.unit, "its unit; dB makes decibel defaults");
  add_claim_options(*verb, arguments->claims);
  add_anytime_option(*verb, arguments->claims);
  add_dependence_option(*verb, arguments->run.allow_dependence);
  add_output_options(*verb, arguments->output);
  add_checkpoint_options(*verb, arguments->checkpoint);
  add_memory_option(*verb, arguments->run.memory_limit);
  verb->footer(
      "Example: surefoot run command --until \"99% below 1e-3 after 50\" -- ./my-solver --problem {seed}\n"
      "A run that crashes, ends with another exit code than 0, takes too long or prints anything but one row of as "
      "many numbers as the others has failed at every step. Runs are counted in the order of their seeds. The rows "
      "are kept in traces.npy.");
  verb->callback([arguments, verb, &exit_code] { run_command(*verb, *arguments, exit_code); });
}
