#include "surefoot/core/parallel.hpp"
#include "surefoot/experiments/run_drawn.hpp"
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

#include <memory>
#include <string>

namespace {

using namespace surefoot;
using namespace surefoot::experiments;

struct DrawnArguments {
  std::string family;
  std::string preset{to_string(Preset::paper)};
  DrawnRunOptions run;
  int threads = 0;
  ClaimArguments claims;
  OutputOptions output;
  CheckpointOptions checkpoint;
  LookOptions looks;
};

void run_drawn(const CLI::App& verb, DrawnArguments& arguments) {
  set_threads(arguments.threads);
  arguments.run.preset = parse_preset(arguments.preset);
  arguments.run.checkpoints = !arguments.checkpoint.folder.empty();
  begin_work();
  const DrawnRun run(arguments.family, arguments.run, arguments.claims.options());
  const auto folder = arguments.output.open();
  arguments.checkpoint.prepare();
  LookBook looks(arguments.looks, "run", configuration_of(verb, {}), arguments.checkpoint.resume);
  looks.announce({run.problems()}, run.solver());
  const auto journal = open_journal(arguments.checkpoint, verb, {});
  certify::Certificate certificate = [&] {
    const StopSignals signals(how_to_go_on(arguments.checkpoint));
    return run.count(*journal);
  }();
  certificate.rerun = rerun_record({{"run", verb.get_name(), arguments.family},
                                    rerun_options(verb, {}, arguments.claims.effective()),
                                    {}});
  looks.record_in(certificate, {run.problems()}, run.solver());
  write_certificate(certificate, arguments.output, *folder);
  journal->close();
}

}  // namespace

void add_run_drawn(CLI::App& run) {
  const auto arguments = std::make_shared<DrawnArguments>();
  CLI::App* verb = run.add_subcommand(
      "family", "A family that Surefoot draws itself, any number of problems in bounded memory");
  std::string families;
  for (const DrawnFamily& family : drawn_families())
    families += fmt::format("{}{}: {}", families.empty() ? "" : "; ", family.name, family.summary);
  verb->add_option("family", arguments->family, families)->required();
  verb->add_option("--samples", arguments->run.samples, "problems to run, a number fixed beforehand")
      ->check(whole_number);
  verb->add_option("--seed", arguments->run.seed, "random seed of the problems")
      ->check(whole_number)
      ->capture_default_str();
  verb->add_option("--first", arguments->run.first,
                   "number of the first problem: a later range has problems that were never looked at")
      ->check(whole_number)
      ->capture_default_str();
  verb->add_option("--preset", arguments->preset, "solver settings: default, fixed or paper")
      ->capture_default_str();
  verb->add_option("--iterations", arguments->run.iterations, "iterations of each run")
      ->check(whole_number)
      ->capture_default_str();
  verb->add_option("--metric", arguments->run.metric,
                   fmt::format("{}", fmt::join(runs::metric_names(), ", ")))
      ->capture_default_str();
  verb->add_option("--threads", arguments->threads, "threads [all cores]")->check(whole_number);
  add_claim_options(*verb, arguments->claims);
  add_anytime_option(*verb, arguments->claims);
  add_output_options(*verb, arguments->output);
  add_checkpoint_options(*verb, arguments->checkpoint);
  add_look_options(*verb, arguments->looks);
  add_memory_option(*verb, arguments->run.memory_limit);
  verb->footer("Example: surefoot run family robust-kalman --samples 100000 --iterations 300");
  verb->callback([arguments, verb] { run_drawn(*verb, *arguments); });
}
