#include "surefoot/experiments/calibration.hpp"

#include "surefoot/certify/assumptions.hpp"
#include "surefoot/core/error.hpp"
#include "surefoot/core/number_text.hpp"
#include "surefoot/experiments/host.hpp"
#include "surefoot/experiments/learned_weights.hpp"
#include "surefoot/learning/posterior_file.hpp"
#include "surefoot/report/report.hpp"
#include "surefoot/report/text.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <set>
#include <utility>
#include <variant>

namespace surefoot::experiments {

namespace {

constexpr const char* guarantees_stem = "guarantees";

std::string notes_of(const std::vector<Guarantee>& guarantees) {
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
      text += fmt::format("    {}. {}\n", certify::to_text(variant.provenance->range),
                          looks_sentence(*variant.provenance));
  }
  return text;
}

}  // namespace

void name_candidates(std::vector<Candidate>& candidates, const std::vector<std::string>& names) {
  if (!names.empty()) {
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
  for (Candidate& candidate : candidates) {
    const std::filesystem::path& path = candidate.file;
    std::string name = path.has_parent_path() ? path.parent_path().filename().string() : path.stem().string();
    if (!seen.insert(name).second) name = path.string();
    candidate.name = name;
  }
}

std::vector<GuaranteeKind> kinds_named(const std::vector<std::string>& names) {
  std::vector<GuaranteeKind> kinds;
  for (const std::string& kind : names) kinds.push_back(parse_guarantee(kind));
  return kinds;
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

std::vector<RerunFile> rerun_files(const std::vector<Candidate>& candidates, const GuaranteePlan& plan) {
  std::vector<RerunFile> files;
  const auto add = [&](const char* option, const Candidate& candidate) {
    files.push_back({option, candidate.source, learning::posterior_sha256(candidate.posterior)});
  };
  for (const Candidate& candidate : candidates) add("", candidate);
  if (plan.prior) add("--prior", *plan.prior);
  LearnedSetting setting = setting_of(candidates.front().posterior, candidates.front().source);
  setting.find_files(plan.folder, candidates.front().file);
  std::vector<families::FamilyFiles::Read> read;
  setting.identify(&read);
  for (const families::FamilyFiles::Read& file : read)
    files.push_back({"--problems", std::filesystem::path(file.file).filename().string(), file.sha256, true});
  return files;
}

RerunOptions rerun_options_of(GuaranteeKind kind, const std::vector<Candidate>& candidates,
                              const GuaranteePlan& plan) {
  RerunOptions options{{"--guarantees", std::string(name(kind))},
                       {"--tolerances", fmt::format("{}", fmt::join(plan.tolerances, ","))}};
  if (!is_hold_out(kind)) options.emplace_back("--hold-out", "");
  if (candidates.size() > 1) {
    std::vector<std::string> names;
    for (const Candidate& candidate : candidates) names.push_back(candidate.name);
    options.emplace_back("--names", fmt::format("{}", fmt::join(names, ",")));
  }
  return options;
}

void record_looks(LookBook& looks, std::vector<Guarantee>& guarantees) {
  const certify::SampleProvenance provenance = looks.record().front();
  for (Guarantee& guarantee : guarantees) {
    if (!is_hold_out(guarantee.kind)) continue;
    certify::Certificate& certificate = guarantee.certificate;
    certify::set_provenance(certificate, {certificate.variants.size(), provenance});
  }
}

GuaranteeSummary summary_of(const std::vector<Guarantee>& guarantees) {
  require(!guarantees.empty(), "guarantees: there are none");
  const certify::Certificate& first = guarantees.front().certificate;
  GuaranteeSummary summary{
      fmt::format("{} after {} steps: quantiles", metric_in_unit(first), first.steps.back()),
      guarantee_table(guarantees), notes_of(guarantees)};
  for (const Guarantee& guarantee : guarantees) {
    if (!guarantee.finding.empty()) summary.notes += '\n' + guarantee.finding;
  }
  return summary;
}

std::string GuaranteeSummary::text() const {
  std::string text = title + "\n\n";
  for (const report::TextTable& part : report::split_to_width(table, 100))
    text += report::to_text(part) + "\n";
  return text + notes;
}

std::string GuaranteeSummary::markdown() const {
  return fmt::format("{}\n\n{}\n{}", title, report::to_markdown(table), notes);
}

GuaranteeFolder::GuaranteeFolder(std::filesystem::path folder, const std::vector<GuaranteeKind>& kinds)
    : path_(std::move(folder)), kinds_(kinds), folder_(path_, [](const std::filesystem::path& file) {
        return !file.has_parent_path() && file.stem() == guarantees_stem;
      }) {
  for (const GuaranteeKind kind : kinds) {
    if (std::filesystem::exists(path_ / std::string(name(kind)))) inner(kind);
  }
}

void GuaranteeFolder::write(const std::vector<Guarantee>& guarantees, const GuaranteeSummary& summary) {
  for (const Guarantee& guarantee : guarantees) {
    folder_.begin();
    for (const std::string& notice : report::write_report(guarantee.certificate, inner(guarantee.kind), {}))
      host().say(notice);
    folder_.add(std::string(name(guarantee.kind)) + '/' + io::manifest_name);
  }
  const std::string markdown = summary.markdown();
  const std::string latex = report::to_latex(summary.table);
  folder_.finish(
      {{fmt::format("{}.md", guarantees_stem), markdown}, {fmt::format("{}.tex", guarantees_stem), latex}});
}

std::vector<std::filesystem::path> GuaranteeFolder::of_earlier_calls() const {
  std::vector<std::filesystem::path> others;
  for (const GuaranteeKind kind : all_guarantees) {
    const bool made = std::find(kinds_.begin(), kinds_.end(), kind) != kinds_.end();
    if (!made && std::filesystem::exists(certificate_of(kind)))
      others.push_back(path_ / std::string(name(kind)));
  }
  return others;
}

std::filesystem::path GuaranteeFolder::certificate_of(GuaranteeKind kind) const {
  return path_ / std::string(name(kind)) / report::file_names::certificate;
}

io::ResultFolder& GuaranteeFolder::inner(GuaranteeKind kind) {
  std::unique_ptr<io::ResultFolder>& open = inner_[kind];
  if (!open)
    open =
        std::make_unique<io::ResultFolder>(path_ / std::string(name(kind)), report::is_file_of_certificate);
  return *open;
}

}  // namespace surefoot::experiments
