#include "surefoot/bounds/confidence_budget.hpp"
#include "surefoot/core/error.hpp"
#include "surefoot/core/parallel.hpp"
#include "surefoot/experiments/calibration.hpp"
#include "surefoot/experiments/memory_needs.hpp"
#include "surefoot/io/text.hpp"
#include "surefoot/report/text.hpp"

#include "begin_work.hpp"
#include "claims.hpp"
#include "rerun_options.hpp"
#include "say.hpp"
#include "stopping.hpp"
#include "verbs.hpp"
#include "whole_number.hpp"
#include "work_options.hpp"

#include <fmt/format.h>

#include <filesystem>
#include <memory>
#include <string>
#include <vector>

namespace {

using namespace surefoot;
using namespace surefoot::experiments;

struct CalibrateArguments {
  std::vector<std::string> weights;
  std::string names;
  std::string guarantees;
  std::string hold_out;
  Index validate = 0;
  std::string prior;
  std::string tolerances;
  std::string quantiles = as_list(GuaranteePlan().quantiles);
  double confidence = confidence_of(GuaranteePlan().delta);
  std::filesystem::path out = "surefoot-guarantees";
  int threads = 0;
  GuaranteePlan plan;
  CheckpointOptions checkpoint;
  LookOptions looks;
};

std::vector<std::string> parts(const char* option, const std::string& list) {
  return list.empty() ? std::vector<std::string>() : io::split_list(option, list);
}

void take_lists(CalibrateArguments& arguments) {
  GuaranteePlan& plan = arguments.plan;
  if (!arguments.hold_out.empty()) plan.hold_out = parse_samples("--hold-out", arguments.hold_out);
  plan.kinds = kinds_named(parts("--guarantees", arguments.guarantees));
  plan.delta = bounds::delta_of_confidence(arguments.confidence);
  if (!arguments.tolerances.empty()) plan.tolerances = parse_numbers("--tolerances", arguments.tolerances);
  plan.quantiles = parse_numbers("--quantiles", arguments.quantiles);
}

void run(const CLI::App& verb, CalibrateArguments arguments) {
  set_threads(arguments.threads);
  take_lists(arguments);
  GuaranteePlan& plan = arguments.plan;
  begin_work();
  std::vector<Candidate> candidates;
  for (const std::string& file : arguments.weights) candidates.push_back(load_candidate(file));
  name_candidates(candidates, parts("--names", arguments.names));
  if (verb.count("--validate") > 0) {
    const StopSignals signals(how_to_go_on(arguments.checkpoint));
    fmt::print("{}", observed_in_validation(candidates, plan, arguments.validate));
    return;
  }
  if (!arguments.prior.empty()) plan.prior = load_candidate(arguments.prior);
  if (plan.kinds.empty())
    plan.kinds = possible_kinds(candidates, plan.hold_out.has_value(), plan.prior.has_value());
  plan = resolved(std::move(plan), candidates);
  const io::Configuration weights = weights_read(candidates, plan);
  LookBook looks(arguments.looks, "calibrate", configuration_of(verb, weights), arguments.checkpoint.resume);
  for (const Candidate& candidate : candidates) looks.add_weights(candidate.file, candidate.posterior);
  for (const Candidate& candidate : candidates) looks.check_training(candidate.file, candidate.posterior);
  if (plan.prior) looks.check_training(plan.prior->file, plan.prior->posterior);
  if (const auto rows = bound_rows(candidates, plan)) looks.check_bound(*rows);
  if (plan.hold_out) looks.announce({hold_out_range(candidates, plan)}, "weights " + weights.front().second);
  GuaranteeFolder folder(arguments.out, plan.kinds);
  arguments.checkpoint.prepare();
  const auto journal = open_journal(arguments.checkpoint, verb, weights);
  plan.journal = journal.get();
  std::vector<Guarantee> guarantees = [&] {
    const StopSignals signals(how_to_go_on(arguments.checkpoint));
    return make_guarantees(candidates, plan);
  }();
  if (plan.hold_out) record_looks(looks, guarantees);
  const std::vector<RerunFile> files = rerun_files(candidates, plan);
  for (Guarantee& guarantee : guarantees) {
    const RerunOptions options =
        rerun_options(verb, files, rerun_options_of(guarantee.kind, candidates, plan));
    guarantee.certificate.rerun =
        rerun_record({{"calibrate"}, options, files, std::string(name(guarantee.kind))});
  }
  const GuaranteeSummary summary = summary_of(guarantees);
  folder.write(guarantees, summary);
  for (const std::filesystem::path& other : folder.of_earlier_calls())
    say(fmt::format("{}: is of an earlier call, not of this one", other.string()));
  journal->close();
  fmt::print("{}", summary.text());
  fmt::print("\nWritten to {}: guarantees.md and .tex, and a folder with certificate and report for each\n",
             io::printable(arguments.out.string()));
  fmt::print(
      "Check it:  surefoot verify {}{}\n",
      report::shell_path(folder.certificate_of(guarantees.front().kind).string()),
      arguments.weights.size() == 1 ? " --weights " + report::shell_path(arguments.weights.front()) : "");
}

}  // namespace

void add_calibrate_verb(CLI::App& app) {
  const auto arguments = std::make_shared<CalibrateArguments>();
  CLI::App* verb = app.add_subcommand(
      "calibrate",
      "Guarantees of a trained optimizer, from its weights: PAC-Bayes and hold-out side by side");
  verb->add_option("weights", arguments->weights,
                   "weights.safetensors; several files are candidates that one may choose from")
      ->required();
  verb->add_option("--names", arguments->names,
                   "names of the candidates, separated by commas [their folders, or the model]");
  CLI::Option* kinds =
      verb->add_option("--guarantees", arguments->guarantees,
                       fmt::format("of {}, separated by commas [those that these weights and samples allow]",
                                   guarantee_names()));
  verb->add_option("--prior", arguments->prior,
                   "weights whose means are the prior mean, trained on other samples (split prior)");
  CLI::Option* samples =
      verb->add_option("--samples", arguments->plan.samples, "N, samples of the bound [the training samples]")
          ->check(at_least_one);
  verb->add_option("--first", arguments->plan.first, "first of them, with --samples")
      ->check(whole_number)
      ->needs(samples);
  verb->add_option("--draws", arguments->plan.draws, "weight vectors per sample")
      ->check(whole_number)
      ->capture_default_str();
  verb->add_option("--paper-draws", arguments->plan.paper_draws,
                   "count pac-bayes-paper by the paper's design: so many weight vectors, each on all samples")
      ->check(whole_number);
  CLI::Option* hold_out =
      verb->add_option("--hold-out", arguments->hold_out,
                       "FIRST:COUNT, hold-out samples that were not used before; they may be used once");
  verb->add_option(
          "--validate", arguments->validate,
          "only print what is observed on this many validation samples; makes no certificate, may be repeated")
      ->check(at_least_one)
      ->excludes(hold_out)
      ->excludes(kinds);
  verb->add_option("--problems", arguments->plan.folder,
                   "folder of the problems, for weights that were trained on files [where they were then]");
  verb->add_option("--metric", arguments->plan.metric,
                   "what claims are about, of the model's metrics [its first]");
  verb->add_option("--tolerances", arguments->tolerances,
                   "increasing list, in units of the metric [the model's own]");
  verb->add_option("--quantiles", arguments->quantiles, "increasing list in (0, 1)")->capture_default_str();
  verb->add_option("--confidence", arguments->confidence, "of each certificate")->capture_default_str();
  verb->add_option("--seed", arguments->plan.seed, "of the drawn weights; use one, once")
      ->check(whole_number)
      ->capture_default_str();
  verb->add_option("--threads", arguments->threads, "threads [all cores]")->check(whole_number);
  verb->add_option("--out", arguments->out, "output folder")->capture_default_str();
  verb->footer("Example: surefoot calibrate surefoot-training/weights.safetensors --hold-out 0:10000");
  add_look_options(*verb, arguments->looks);
  add_checkpoint_options(*verb, arguments->checkpoint);
  add_memory_option(*verb, arguments->plan.memory_limit);
  verb->callback([arguments, verb] { run(*verb, *arguments); });
}
