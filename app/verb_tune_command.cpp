#include "surefoot/certify/assumptions.hpp"
#include "surefoot/certify/count_table.hpp"
#include "surefoot/core/error.hpp"
#include "surefoot/core/parallel.hpp"
#include "surefoot/experiments/host.hpp"
#include "surefoot/experiments/looks.hpp"
#include "surefoot/experiments/tune_command.hpp"
#include "surefoot/experiments/tune_files.hpp"
#include "surefoot/io/npy.hpp"
#include "surefoot/io/sha256.hpp"
#include "surefoot/report/text.hpp"

#include "begin_work.hpp"
#include "claims.hpp"
#include "exit_codes.hpp"
#include "say.hpp"
#include "stopping.hpp"
#include "tune_options.hpp"
#include "verbs.hpp"
#include "whole_number.hpp"
#include "work_options.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <memory>
#include <string>
#include <utility>
#include <vector>

namespace {

using namespace surefoot;
using namespace surefoot::experiments;

struct TuneCommandArguments {
  CommandTuneOptions options;
  TuneSearchArguments search;
  Index jobs = 0;
  OutputOptions output{"surefoot-tune", false};
  CheckpointOptions checkpoint;
  LookOptions looks;
};

void tune_command(const CLI::App& verb, TuneCommandArguments& arguments, int& exit_code) {
  CommandTuneOptions& options = arguments.options;
  arguments.search.check(options.tune);
  options.at_once = arguments.jobs > 0 ? arguments.jobs : threads();
  options.validate();
  begin_work();
  const auto folder = std::make_unique<io::ResultFolder>(arguments.output.folder, is_file_of_tuning);
  arguments.checkpoint.prepare();
  const TuneSplit split = split_problems(options.samples, options.tune, !options.defaults.empty());
  const certify::SampleRange certified = seeds_of_command(options, split.certified);
  LookBook looks(arguments.looks, "tune command", configuration_of(verb, {}), arguments.checkpoint.resume);
  looks.announce({seeds_of_command(options, split.search), certified}, program_name(options.command));
  options.tune.checkpoints = !arguments.checkpoint.folder.empty();
  const auto journal = open_journal(arguments.checkpoint, verb, {});
  const StopSignals signals(how_to_go_on(arguments.checkpoint));
  CommandTunable subject(options, StopSignals::check);
  TuneResult result = tune(subject, options.samples, options.tune, *journal);
  const std::string name = program_name(options.command);
  certify::Certificate& certificate = result.certificate;
  certificate.title = fmt::format("{} tuned for {}", name, options.tune.target);
  certificate.run = tune_command_record(subject, options, result);
  std::vector<report::ReportFile> others;
  for (certify::Variant& variant : certificate.variants) {
    const bool tuned = &variant == &certificate.variants.back();
    const TuneTraces& traces = tuned ? result.tuned_traces : *result.default_traces;
    variant.independence = independence_of_rows(traces, name, options.allow_dependence);
    others.push_back(
        {tuned ? tune_names::tuned_traces : tune_names::default_traces, io::npy_bytes(traces.values)});
    variant.source = others.back().name;
    variant.sha256 = io::sha256_hex(others.back().content);
    variant.reading = {certify::unlabelled_columns({variant.first_step, variant.last_step})};
  }
  std::vector<certify::SampleProvenance> provenance;
  for (const certify::SampleProvenance& look : looks.record()) {
    if (look.range == certified) provenance.assign(certificate.variants.size(), look);
  }
  certify::set_provenance(certificate, provenance);
  others.push_back({tune_names::keywords, settings_keywords(result.winner, "")});
  write_tuning(subject, options.tune, result, arguments.output, *folder, std::move(others));
  std::vector<std::string> words;
  for (const std::string& word : subject.command_with(result.winner))
    words.push_back(report::shell_quoted(word));
  const std::string failures = subject.failures_text();
  if (arguments.output.json) {
    if (!failures.empty()) say("Counted as failed: " + failures);
  } else {
    fmt::print("Tuned command:  {}\n", fmt::join(words, " "));
    if (!failures.empty()) fmt::print("Counted as failed: {}\n", failures);
  }
  if (!result.after) exit_code = refuted;
  journal->close();
}

}  // namespace

void add_tune_command(CLI::App& tune, int& exit_code) {
  const auto arguments = std::make_shared<TuneCommandArguments>();
  CommandTuneOptions& options = arguments->options;
  CLI::App* verb = tune.add_subcommand(
      "command", "Settings of any program that prints a row of numbers for the problem of a seed");
  verb->add_option(
      "command", options.command,
      "after --: the program and its arguments, with {seed} and a {NAME} for each setting; it prints one "
      "line, a number for each step; no shell is used");
  add_tune_options(*verb, options.tune, arguments->search);
  verb->add_option("--over", options.over,
                   "settings to search, between commas: rho=1e-3:1e3:log, alpha=1:1.9, method=a|b");
  verb->add_option("--default", options.defaults, "settings to compare with, as rho=0.1,alpha=1.6 [none]");
  verb->add_option("--samples", options.samples, "problems: seeds from the first on")->check(whole_number);
  verb->add_option("--first-seed", options.first_seed,
                   "seed of the first problem; the next have the next ones")
      ->check(whole_number)
      ->capture_default_str();
  verb->add_option("--time-limit", options.seconds,
                   "seconds for each run; one that takes longer is ended and has failed")
      ->capture_default_str();
  verb->add_option("--jobs", arguments->jobs, "programs that run at the same time [as many as cores]")
      ->check(whole_number);
  verb->add_option("--first-step", options.first_step, "step of the first number of a row")
      ->check(whole_number)
      ->capture_default_str();
  verb->add_option("--metric", options.metric, "name of the metric")->capture_default_str();
  verb->add_option("--unit", options.unit, "its unit");
  add_dependence_option(*verb, options.allow_dependence);
  add_output_options(*verb, arguments->output);
  add_checkpoint_options(*verb, arguments->checkpoint);
  add_look_options(*verb, arguments->looks);
  add_memory_option(*verb, options.memory_limit);
  verb->footer(
      "Example: surefoot tune command --over rho=1e-3:1e3:log --target \"90% below 1e-4\" --samples 400 -- ./solver "
      "--rho {rho} {seed}\n"
      "A run that crashes, takes too long or prints anything but one row of as many numbers as the others has failed "
      "at every step.");
  verb->callback([arguments, verb, &exit_code] { tune_command(*verb, *arguments, exit_code); });
}
