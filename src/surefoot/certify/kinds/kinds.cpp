#include "surefoot/certify/classical.hpp"
#include "surefoot/certify/kinds/bands.hpp"
#include "surefoot/certify/kinds/claim_kind.hpp"
#include "surefoot/certify/kinds/group_average.hpp"
#include "surefoot/certify/kinds/iteration_budget.hpp"
#include "surefoot/certify/kinds/mean.hpp"
#include "surefoot/certify/kinds/quantile.hpp"
#include "surefoot/certify/kinds/sequence.hpp"
#include "surefoot/certify/kinds/success_rate.hpp"
#include "surefoot/core/error.hpp"

#include <fmt/ranges.h>

#include <algorithm>

namespace surefoot::certify {

const std::vector<const ClaimKind*>& claim_kinds() {
  static const std::vector<const ClaimKind*> kinds{
      &success_rates(), &quantiles(), &iteration_budgets(), &bands(), &group_averages(),
      &sequences(),     &means(),
  };
  return kinds;
}

const std::vector<const ClaimKind*>& claim_kinds_to_show() {
  static const std::vector<const ClaimKind*> kinds = [] {
    std::vector<const ClaimKind*> sorted = claim_kinds();
    std::ranges::stable_sort(sorted, {}, &ClaimKind::place);
    return sorted;
  }();
  return kinds;
}

const ClaimKind& claim_kind(std::string_view name) {
  std::vector<std::string_view> names;
  for (const ClaimKind* kind : claim_kinds()) {
    if (kind->name() == name) return *kind;
    names.push_back(kind->name());
  }
  throw InputError(fmt::format("claims: '{}' is not one of {}", name, fmt::join(names, ", ")));
}

std::vector<std::string> default_kinds(Sampling sampling, bool anytime) {
  std::vector<std::string> names;
  for (const ClaimKind* kind : claim_kinds())
    if (kind->by_default() && kind->claimed_of(sampling) && (!anytime || kind->can_hold_anytime()))
      names.emplace_back(kind->name());
  return names;
}

void ClaimKind::require_claimed_of(Sampling sampling) const {
  if (claimed_of(sampling)) return;
  require(
      sampling != Sampling::sequence,
      "claims: {} ('{}') need independent samples, and the rows of one log are not: with --sequence (in Python "
      "sequence=True) the only kind is 'sequence'",
      plural(), name());
  require(
      !claimed_of(Sampling::groups),
      "claims: {} ('{}') are of groups: name them by --group (in Python groups=), or give an array with three "
      "axes",
      plural(), name());
  throw InputError(fmt::format("claims: {} ('{}') are of one log: say --sequence (in Python sequence=True)",
                               plural(), name()));
}

void ClaimKind::prepare(const Options&, runs::TallySpec&) const {}

bool ClaimKind::supports(const Options&, double, Index, double) const {
  return false;
}

Index ClaimKind::losses_of_one(const LossShape&) const {
  return 0;
}

Index ClaimKind::losses_of_all(const LossShape&) const {
  return 0;
}

void ClaimKind::make_learned(const Options&, std::size_t, const runs::Tally&, LearnedRisk&, double,
                             Certificate&) const {
  throw InputError(fmt::format("claims: there are no {} by PAC-Bayes", plural()));
}

std::string ClaimKind::purpose(const Certificate&) const {
  return std::string(plural());
}

Index ClaimKind::paid_claims(const Certificate& certificate) const {
  return size(certificate);
}

void ClaimKind::restore(const Certificate&, Options&) const {}

std::vector<CountBelow> ClaimKind::counts_below(const Certificate&) const {
  return {};
}

std::optional<QuotedClause> ClaimKind::best_clause(const Certificate&, const WorstCaseBounds&,
                                                   const Voice&) const {
  return std::nullopt;
}

std::vector<std::string> ClaimKind::meaning(const Certificate&) const {
  return {};
}

std::vector<std::string> ClaimKind::limits(const Certificate&) const {
  return {};
}

std::vector<std::string> ClaimKind::assumptions(const Certificate&, int) const {
  return {};
}

std::vector<CurveRow> ClaimKind::curve(const Certificate&, const WorstCaseBounds&) const {
  return {};
}

}  // namespace surefoot::certify
