#include "surefoot/certify/evidence.hpp"

#include "surefoot/certify/certificate_json.hpp"
#include "surefoot/certify/kinds/claim_kind.hpp"
#include "surefoot/certify/worst_case_part.hpp"
#include "surefoot/core/enum_names.hpp"

#include <nlohmann/json.hpp>

#include <algorithm>
#include <utility>

namespace surefoot::certify {

namespace {

using EvidenceJson = nlohmann::ordered_json;

// Whether the field is there, in any of the items of the lists on its way.
bool present(const EvidenceJson& json, std::string_view field) {
  if (json.is_array()) {
    for (const EvidenceJson& item : json)
      if (present(item, field)) return true;
    return false;
  }
  if (field.empty()) return true;
  const std::size_t dot = field.find('.');
  const auto found = json.is_object() ? json.find(std::string(field.substr(0, dot))) : json.end();
  if (found == json.end() || found->is_null()) return false;
  const std::string_view rest = dot == std::string_view::npos ? "" : field.substr(dot + 1);
  return rest.empty() || present(*found, rest);
}

}  // namespace

namespace {

constexpr EnumNames<Evidence, 5> evidence_names{{{Evidence::arithmetic, "arithmetic"},
                                                 {Evidence::data, "data"},
                                                 {Evidence::weights, "weights"},
                                                 {Evidence::rerun, "rerun"},
                                                 {Evidence::nothing, "nothing"}}};

}  // namespace

std::string_view name(Evidence evidence) {
  return name_in(evidence_names, evidence);
}

const std::vector<FieldCheck>& field_checks() {
  using enum Evidence;
  static const std::vector<FieldCheck> all = [] {
    std::vector<FieldCheck> checks{
        {"format", arithmetic, arithmetic},
        {"format_version", arithmetic, arithmetic},
        {"surefoot_version", nothing, nothing},
        {"parts", arithmetic, arithmetic},
        {"title", nothing, rerun},
        {"metric.name", nothing, rerun},
        {"metric.unit", nothing, rerun},
        {"confidence.delta", nothing, rerun},
        {"confidence.simultaneous", nothing, rerun},
        {"confidence.shares.purpose", arithmetic, arithmetic},
        {"confidence.shares.claims", arithmetic, arithmetic},
        {"confidence.shares.delta_each", arithmetic, arithmetic},
        {"declared.steps", arithmetic, rerun},
        {"declared.tolerances", arithmetic, arithmetic},
        {"declared.quantiles", arithmetic, arithmetic},
        {"declared.grid", nothing, rerun},
        {"declared.grid_method", arithmetic, rerun},
        {"declared.value_limit", nothing, rerun},
        {"variants.name", nothing, rerun},
        {"variants.source", nothing, rerun},
        {"variants.sha256", data, arithmetic},
        {"variants.samples", arithmetic, arithmetic},
        {"variants.columns", arithmetic, arithmetic},
        {"variants.first_step", arithmetic, arithmetic},
        {"variants.last_step", arithmetic, arithmetic},
        {"variants.non_finite_runs", data, rerun},
        {"variants.values_rounded_up", arithmetic, arithmetic},
        {"variants.recorded_steps", data, arithmetic},
        {"variants.reading", data, std::nullopt},
        {"variants.independence.of", arithmetic, rerun},
        {"variants.independence.level", arithmetic, arithmetic},
        {"variants.independence.order", arithmetic, arithmetic},
        {"variants.independence.exact_repeats.compared", arithmetic, arithmetic},
        {"variants.independence.exact_repeats.comparable", data, rerun},
        {"variants.independence.exact_repeats.repeated", data, arithmetic},
        {"variants.independence.rounded_repeats.compared", arithmetic, arithmetic},
        {"variants.independence.rounded_repeats.comparable", data, rerun},
        {"variants.independence.rounded_repeats.repeated", data, arithmetic},
        {"variants.independence.recurring.compared", arithmetic, arithmetic},
        {"variants.independence.recurring.different", data, rerun},
        {"variants.independence.recurring.recurring", data, arithmetic},
        {"variants.independence.sampled_repeats.compared", arithmetic, arithmetic},
        {"variants.independence.sampled_repeats.different", arithmetic, arithmetic},
        {"variants.independence.sampled_repeats.repeated", arithmetic, arithmetic},
        {"variants.independence.serial.statistics", data, rerun},
        {"variants.independence.serial.about", data, rerun},
        {"variants.independence.serial.more", data, rerun},
        {"variants.independence.serial.less", data, rerun},
        {"variants.independence.serial.p_value", arithmetic, arithmetic},
        {"variants.independence.drift.statistics", data, rerun},
        {"variants.independence.drift.about", data, rerun},
        {"variants.independence.drift.more", data, rerun},
        {"variants.independence.drift.less", data, rerun},
        {"variants.independence.drift.p_value", arithmetic, arithmetic},
        {"variants.independence.findings", arithmetic, arithmetic},
        {"variants.independence.allowed", arithmetic, arithmetic},
        {"variants.selection.value", arithmetic, std::nullopt},
        {"variants.selection.variants", arithmetic, std::nullopt},
        {"variants.selection.variant", arithmetic, std::nullopt},
        {"variants.selection.rows", arithmetic, std::nullopt},
        {"variants.selection.steps", arithmetic, std::nullopt},
        {"variants.selection.where", arithmetic, std::nullopt},
        {"variants.selection.failed", arithmetic, std::nullopt},
        {"variants.selection.missing", arithmetic, std::nullopt},
        {"variants.selection.failed_lines", arithmetic, std::nullopt},
        {"variants.selection.censored", arithmetic, std::nullopt},
        {"variants.selection.missing_cells", arithmetic, std::nullopt},
        {"scalar", arithmetic, std::nullopt},
        {"variants.appended.source", nothing, std::nullopt},
        {"variants.appended.sha256", data, std::nullopt},
        {"variants.appended.samples", data, std::nullopt},
        {"variants.appended.reading", data, std::nullopt},
        {"variants.groups.name", data, std::nullopt},
        {"variants.groups.ticks", data, std::nullopt},
        {"variants.groups.fewest", data, std::nullopt},
        {"variants.groups.most", data, std::nullopt},
    };
    const std::vector<FieldCheck> after_claims{
        {"wording", arithmetic, arithmetic},
        {"statements", arithmetic, arithmetic},
        {"assumptions", arithmetic, arithmetic},
        {"run", arithmetic, rerun},
        {"worst_case.dist0", arithmetic, arithmetic},
        {"worst_case.variables", arithmetic, rerun},
        {"worst_case.proof.format", arithmetic, arithmetic},
        {"worst_case.proof.format_version", arithmetic, arithmetic},
        {"worst_case.proof.surefoot_version", arithmetic, arithmetic},
        {"worst_case.proof.method.name", arithmetic, arithmetic},
        {"worst_case.proof.method.parameters.alpha", arithmetic, arithmetic},
        {"worst_case.proof.method.metric", arithmetic, arithmetic},
        {"worst_case.proof.method.initial", arithmetic, arithmetic},
        {"worst_case.proof.start", arithmetic, arithmetic},
        {"worst_case.proof.bounds.steps", arithmetic, arithmetic},
        {"worst_case.proof.bounds.bound", arithmetic, arithmetic},
        {"worst_case.proof.bounds.exponent", arithmetic, arithmetic},
        {"worst_case.proof.bounds.initial", arithmetic, arithmetic},
        {"worst_case.proof.bounds.pairs", arithmetic, arithmetic},
        {"worst_case.proof.digest.algorithm", arithmetic, arithmetic},
        {"worst_case.proof.digest.value", arithmetic, arithmetic},
        {"range.upper", arithmetic, arithmetic},
        {"range.thresholds", arithmetic, arithmetic},
        {"range.cvar", arithmetic, arithmetic},
        {"closed_loop.ticks", std::nullopt, arithmetic},
        {"closed_loop.limit", std::nullopt, arithmetic},
        {"shift.divergence", arithmetic, arithmetic},
        {"shift.radius", arithmetic, arithmetic},
        {"variants.provenance.family", std::nullopt, rerun},
        {"variants.provenance.seed", std::nullopt, rerun},
        {"variants.provenance.set", std::nullopt, rerun},
        {"variants.provenance.first", std::nullopt, rerun},
        {"variants.provenance.count", std::nullopt, arithmetic},
        {"variants.provenance.earlier_looks", std::nullopt, nothing},
        {"variants.weights.source", std::nullopt, rerun},
        {"variants.weights.sha256", std::nullopt, weights},
        {"variants.weights.count", std::nullopt, weights},
        {"variants.weights.sampling", std::nullopt, rerun},
        {"variants.weights.precision", std::nullopt, rerun},
        {"variants.weights.seed", std::nullopt, rerun},
        {"variants.weights.purpose", std::nullopt, rerun},
        {"variants.weights.read", std::nullopt, arithmetic},
        {"variants.pac_bayes.samples", std::nullopt, arithmetic},
        {"variants.pac_bayes.prior_samples", std::nullopt, rerun},
        {"variants.pac_bayes.prior_sha256", std::nullopt, weights},
        {"variants.pac_bayes.kl", std::nullopt, arithmetic},
        {"variants.pac_bayes.groups", std::nullopt, arithmetic},
        {"variants.pac_bayes.positions", std::nullopt, arithmetic},
        {"variants.pac_bayes.lambda_max", std::nullopt, arithmetic},
        {"variants.pac_bayes.b", std::nullopt, arithmetic},
        {"variants.pac_bayes.losses", std::nullopt, arithmetic},
        {"variants.pac_bayes.prior_means", std::nullopt, arithmetic},
        {"variants.pac_bayes.candidates", std::nullopt, arithmetic},
        {"variants.pac_bayes.delta_each", std::nullopt, arithmetic},
        {"variants.pac_bayes.omega_each", std::nullopt, arithmetic},
        {"variants.pac_bayes.regularizer", std::nullopt, arithmetic},
        {"variants.pac_bayes.design", std::nullopt, arithmetic},
        {"variants.pac_bayes.draws", std::nullopt, arithmetic},
        {"variants.pac_bayes.runs", std::nullopt, arithmetic},
    };
    for (const ClaimKind* kind : claim_kinds()) {
      for (FieldCheck& check : kind->fields()) checks.push_back(std::move(check));
    }
    checks.insert(checks.end(), after_claims.begin(), after_claims.end());
    return checks;
  }();
  return all;
}

std::vector<std::string> taken_on_trust(const Certificate& certificate, const Checked& checked) {
  const bool repeatable = certificate.rerun != "null";
  std::vector<std::string> items;
  if (!checked.rerun && repeatable) {
    items.emplace_back(checked.data ? "settings and names (check them with --rerun)"
                                    : "counts, settings and names (check them with --rerun)");
  } else if (!checked.rerun && !checked.data) {
    items.emplace_back("the counts (check them with --data)");
  }
  if (!checked.rerun && checked.data && !checked.steps)
    items.emplace_back("which steps the columns are (a table does not say it)");
  if (!repeatable && certificate.run != "null") items.emplace_back("run");
  const bool learned =
      std::ranges::any_of(certificate.variants, [](const Variant& each) { return each.weights.has_value(); });
  if (learned && !checked.weights && !checked.rerun)
    items.emplace_back("the weights (check them with --weights)");
  const bool split = std::ranges::any_of(certificate.variants, [](const Variant& each) {
    return each.pac_bayes && each.pac_bayes->prior_samples > 0;
  });
  if (split) items.emplace_back("that the prior mean never saw the samples counted here");
  if (WorstCaseBounds(certificate).used()) items.emplace_back("what is stated for the worst case");
  const EvidenceJson json = EvidenceJson::parse(to_json(certificate));
  for (const FieldCheck& check : field_checks()) {
    const std::optional<Evidence> own = repeatable ? check.in_runs : check.in_tables;
    const Evidence found_by = own.value_or(check.in_runs.value_or(Evidence::nothing));
    const bool trusted = found_by == Evidence::nothing || (found_by == Evidence::rerun && !repeatable);
    if (trusted && present(json, check.field)) items.emplace_back(check.field);
  }
  return items;
}

std::vector<std::string> missing_in_format(const Certificate& certificate) {
  if (certificate.format > 1) return {};
  return {"how the table was read",
          "whether its rows look independent",
          "which samples were counted, and how often before",
          "every recorded step",
          "the sentences to quote",
          "the command that makes the runs again"};
}

}  // namespace surefoot::certify
