#include "surefoot/bounds/confidence_budget.hpp"
#include "surefoot/certify/assumptions.hpp"
#include "surefoot/core/error.hpp"
#include "surefoot/core/number_text.hpp"
#include "surefoot/core/parallel.hpp"
#include "surefoot/experiments/guarantees.hpp"
#include "surefoot/experiments/memory_needs.hpp"
#include "surefoot/io/result_folder.hpp"
#include "surefoot/io/text.hpp"
#include "surefoot/learning/posterior_file.hpp"
#include "surefoot/report/text.hpp"

#include "claims.hpp"
#include "output.hpp"
#include "rerun.hpp"
#include "say.hpp"
#include "stopping.hpp"
#include "verbs.hpp"
#include "whole_number.hpp"
#include "work_options.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cstdio>
#include <filesystem>
#include <map>
#include <memory>
#include <set>
#include <string>
#include <vector>

namespace {

using namespace surefoot;
using namespace surefoot::experiments;

constexpr const char* guarantees_stem = "guarantees";

struct CalibrateArguments {
  std::vector<std::string> weights;
  std::string names;
  std::string guarantees;
  std::string hold_out;
  Index validate = 0;
  std::string prior;
  std::string tolerances = "-50,-40,-30,-20,-10";
  std::string quantiles = "0.1,0.3,0.5,0.6,0.8,0.9,0.95";
  double confidence = 0.99028;
  std::filesystem::path out = "surefoot-guarantees";
  int threads = 0;
  GuaranteePlan plan;
  CheckpointOptions checkpoint;
  LookOptions looks;
};

// Candidates need names of their own: those given, or the folder or the file tells them apart.
void name_candidates(std::vector<Candidate>& candidates, const CalibrateArguments& arguments) {
  const std::vector<std::string>& files = arguments.weights;
  if (!arguments.names.empty()) {
    const std::vector<std::string> names = io::split_list("--names", arguments.names);
    require(names.size() == candidates.size(), "--names: {} names for {} files of weights", names.size(),
            candidates.size());
    for (std::size_t i = 0; i < names.size(); ++i) {
      certify::require_name("--names", names[i]);
      candidates[i].name = names[i];
    }
    return;
  }
  if (candidates.size() == 1) return;
  std::set<std::string> seen;
  for (std::size_t i = 0; i < candidates.size(); ++i) {
    const std::filesystem::path path(files[i]);
    std::string name = path.has_parent_path() ? path.parent_path().filename().string() : path.stem().string();
    if (!seen.insert(name).second) name = files[i];
    candidates[i].name = name;
  }
}

std::string notes(const std::vector<Guarantee>& guarantees) {
  std::string text =
      "Each column is a certificate of its own and holds with its own confidence; to quote the best of "
      "several columns, add up what their confidences leave.\n";
  for (const Guarantee& guarantee : guarantees) {
    const certify::Certificate& certificate = guarantee.certificate;
    const certify::Variant& variant = certificate.variants.front();
    text += fmt::format("  {}: confidence {}{}", label(guarantee), confidence_label(certificate.delta),
                        certificate.simultaneous == certify::Simultaneity::all ? ", all claims together"
                                                                               : ", each claim alone");
    text += fmt::format(", N = {}", count_label(variant.samples));
    if (variant.pac_bayes)
      text += fmt::format(", KL = {}, B = {}", upper_bound_value(variant.pac_bayes->kl),
                          upper_bound_value(variant.pac_bayes->regularizer));
    text += fmt::format(", {:.1f} s\n", guarantee.seconds);
    if (is_hold_out(guarantee.kind))
      text += fmt::format("    {}. {}\n", to_text(variant.provenance->range),
                          looks_sentence(*variant.provenance));
  }
  return text;
}

io::Configuration weights_read(const std::vector<Candidate>& candidates, const GuaranteePlan& plan) {
  const auto digest = [](const Candidate& candidate) {
    return candidate.name + ' ' + learning::posterior_sha256(candidate.posterior);
  };
  std::vector<std::string> digests;
  for (const Candidate& candidate : candidates) digests.push_back(digest(candidate));
  return {{"weights", fmt::format("{}", fmt::join(digests, ", "))},
          {"--prior", plan.prior ? digest(*plan.prior) : ""}};
}

/// Every kind that the samples allow, unless some are named.
std::vector<GuaranteeKind> kinds_of(const CalibrateArguments& arguments) {
  std::vector<GuaranteeKind> kinds;
  if (!arguments.guarantees.empty()) {
    for (const std::string& kind : io::split_list("--guarantees", arguments.guarantees))
      kinds.push_back(parse_guarantee(kind));
    return kinds;
  }
  for (const GuaranteeKind kind : all_guarantees) {
    if (!is_hold_out(kind) || arguments.plan.hold_out) kinds.push_back(kind);
  }
  return kinds;
}

/// Says in the certificates on fresh samples what is known of earlier looks at these, after writing this one
/// down.
void record_looks(LookBook& looks, std::vector<Guarantee>& guarantees) {
  const certify::SampleProvenance provenance = looks.record().front();
  for (Guarantee& guarantee : guarantees) {
    if (!is_hold_out(guarantee.kind)) continue;
    certify::Certificate& certificate = guarantee.certificate;
    certify::set_provenance(certificate, {certificate.variants.size(), provenance});
  }
}

/// Certificates of other kinds that an earlier call left in the folder stay: they stand on their own, and
/// hold-out samples are good for one look. Said, as nothing of this call speaks of them.
void mention_others(const CalibrateArguments& arguments) {
  for (const GuaranteeKind kind : all_guarantees) {
    const std::filesystem::path folder = arguments.out / std::string(name(kind));
    const bool made = std::ranges::count(arguments.plan.kinds, kind) > 0;
    if (!made && std::filesystem::exists(folder / report::file_names::certificate))
      say(fmt::format("{}: is of an earlier call, not of this one", folder.string()));
  }
}

/// The command that makes the certificate of one kind again.
std::string rerun_of(const CLI::App& verb, const CalibrateArguments& arguments,
                     const std::vector<Candidate>& candidates, GuaranteeKind kind) {
  std::vector<RerunFile> files;
  const auto add = [&](const char* option, const Candidate& candidate) {
    files.push_back({option, candidate.source, learning::posterior_sha256(candidate.posterior)});
  };
  std::vector<std::string> names;
  for (const Candidate& candidate : candidates) {
    add("", candidate);
    names.push_back(candidate.name);
  }
  if (arguments.plan.prior) add("--prior", *arguments.plan.prior);
  RerunOptions effective{{"--guarantees", std::string(name(kind))}};
  if (!is_hold_out(kind)) effective.emplace_back("--hold-out", "");
  if (candidates.size() > 1) effective.emplace_back("--names", fmt::format("{}", fmt::join(names, ",")));
  return rerun_record({"calibrate"}, rerun_options(verb, files, effective), files, std::string(name(kind)));
}

void run(const CLI::App& verb, CalibrateArguments arguments) {
  set_threads(arguments.threads);
  GuaranteePlan& plan = arguments.plan;
  if (!arguments.hold_out.empty()) plan.hold_out = parse_samples("--hold-out", arguments.hold_out);
  plan.kinds = kinds_of(arguments);
  plan.delta = bounds::delta_of_confidence(arguments.confidence);
  plan.tolerances = parse_numbers("--tolerances", arguments.tolerances);
  plan.quantiles = parse_numbers("--quantiles", arguments.quantiles);
  std::vector<Candidate> candidates;
  for (const std::string& file : arguments.weights) candidates.push_back(load_candidate(file));
  name_candidates(candidates, arguments);
  if (verb.count("--validate") > 0) {
    const StopSignals signals(how_to_go_on(arguments.checkpoint));
    fmt::print("{}", observed_in_validation(candidates, plan, arguments.validate));
    return;
  }
  if (!arguments.prior.empty()) plan.prior = load_candidate(arguments.prior);
  plan.validate();
  const io::Configuration weights = weights_read(candidates, plan);
  LookBook looks(arguments.looks, "calibrate", configuration_of(verb, weights), arguments.checkpoint.resume);
  for (const Candidate& candidate : candidates) looks.add_weights(candidate.file, candidate.posterior);
  if (plan.hold_out) looks.announce({hold_out_range(candidates, plan)}, "weights " + weights.front().second);
  io::ResultFolder folder(arguments.out, [](const std::filesystem::path& name) {
    return !name.has_parent_path() && name.stem() == guarantees_stem;
  });
  std::map<std::string, std::unique_ptr<io::ResultFolder>> inner;
  const auto open_inner = [&](GuaranteeKind kind) {
    const std::string inside(name(kind));
    if (!inner.contains(inside)) inner[inside] = OutputOptions{arguments.out / inside}.open();
  };
  for (const GuaranteeKind kind : plan.kinds) {  // those that are there are refused before the work
    if (std::filesystem::exists(arguments.out / std::string(name(kind)))) open_inner(kind);
  }
  arguments.checkpoint.prepare();
  const auto journal = open_journal(arguments.checkpoint, verb, weights);
  plan.journal = journal.get();
  std::vector<Guarantee> guarantees = [&] {
    const StopSignals signals(how_to_go_on(arguments.checkpoint));
    return make_guarantees(candidates, plan);
  }();
  if (plan.hold_out) record_looks(looks, guarantees);
  for (Guarantee& guarantee : guarantees)
    guarantee.certificate.rerun = rerun_of(verb, arguments, candidates, guarantee.kind);
  for (const Guarantee& guarantee : guarantees) {
    const std::string inside(name(guarantee.kind));
    folder.begin();
    open_inner(guarantee.kind);
    write_report(guarantee.certificate, *inner.at(inside));
    folder.add(inside + '/' + io::manifest_name);
  }
  mention_others(arguments);
  const certify::Certificate& first = guarantees.front().certificate;
  const report::TextTable table = guarantee_table(guarantees);
  const std::string title =
      fmt::format("{} in {} after {} steps: quantiles", first.metric, first.unit, first.steps.back());
  const std::string markdown =
      fmt::format("{}\n\n{}\n{}", title, report::to_markdown(table), notes(guarantees));
  const std::string latex = report::to_latex(table);
  folder.finish(
      {{fmt::format("{}.md", guarantees_stem), markdown}, {fmt::format("{}.tex", guarantees_stem), latex}});
  journal->close();
  fmt::print("{}\n\n", title);
  for (const report::TextTable& part : report::split_to_width(table, 100))
    fmt::print("{}\n", report::to_text(part));
  fmt::print("{}", notes(guarantees));
  fmt::print("\nWritten to {}: guarantees.md and .tex, and a folder with certificate and report for each\n",
             io::printable(arguments.out.string()));
  fmt::print(
      "Check it:  surefoot verify {}{}\n",
      report::shell_path(
          (arguments.out / std::string(name(guarantees.front().kind)) / "certificate.json").string()),
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
  CLI::Option* kinds = verb->add_option(
      "--guarantees", arguments->guarantees,
      "of pac-bayes, pac-bayes-paper, hold-out, hold-out-means, separated by commas [the first two; "
      "with --hold-out all]");
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
                       "FIRST:COUNT, hold-out samples that nobody has looked at; they are good for one look");
  verb->add_option("--validate", arguments->validate,
                   "only print what is observed on so many validation samples: as often as you "
                   "like, no certificate")
      ->check(at_least_one)
      ->excludes(hold_out)
      ->excludes(kinds);
  verb->add_option("--tolerances", arguments->tolerances, "increasing list, in dB")->capture_default_str();
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
