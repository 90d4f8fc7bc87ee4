#include "surefoot/certify/classical.hpp"
#include "surefoot/certify/kinds/bands.hpp"
#include "surefoot/certify/kinds/claim_kind.hpp"
#include "surefoot/certify/kinds/iteration_budget.hpp"
#include "surefoot/certify/kinds/quantile.hpp"
#include "surefoot/certify/kinds/success_rate.hpp"
#include "surefoot/core/error.hpp"

#include <fmt/ranges.h>

#include <algorithm>

namespace surefoot::certify {

const std::vector<const ClaimKind*>& claim_kinds() {
  static const std::vector<const ClaimKind*> kinds{
      &success_rates(),
      &quantiles(),
      &iteration_budgets(),
      &bands(),
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

std::vector<std::string> default_kinds() {
  std::vector<std::string> names;
  for (const ClaimKind* kind : claim_kinds())
    if (kind->by_default()) names.emplace_back(kind->name());
  return names;
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
