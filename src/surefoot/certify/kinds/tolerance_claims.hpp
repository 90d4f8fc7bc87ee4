#pragma once

#include "surefoot/certify/certificate.hpp"
#include "surefoot/certify/sentences.hpp"
#include "surefoot/certify/series.hpp"
#include "surefoot/certify/words.hpp"
#include "surefoot/core/number_text.hpp"

#include <algorithm>
#include <cmath>
#include <map>
#include <utility>
#include <vector>

namespace surefoot::certify {

/// What kinds share that bound a share of failures from above, by step and tolerance.

/// An upper bound on a share that may be small: in percent, three digits of it below 1 %, rounded up; "-" if
/// it says nothing.
inline std::string rate_text(double share) {
  constexpr double small = 0.01;
  constexpr double percent = 100;
  if (!(share < small)) return upper_bound_percent(share);
  return upper_bound_value(std::nextafter(percent * share, 1.0)) + " %";
}

/// The claims of a variant at the last step, at telling tolerances, that say something; without those that a
/// stricter tolerance with the same printed bound makes idle.
template <class Claim>
std::vector<const Claim*> claims_to_quote(const Certificate& certificate, const std::vector<Claim>& claims,
                                          std::size_t variant) {
  std::vector<const Claim*> quoted;
  if (certificate.steps.empty()) return quoted;
  const Index last = std::ranges::max(certificate.steps);
  const std::vector<double> tolerances = telling_values(certificate.tolerances, quoted_tolerances);
  for (const Claim& claim : claims) {
    if (claim.variant == variant && claim.step == last && claim.upper_bound <= 1 - least_quoted &&
        std::ranges::count(tolerances, claim.tolerance) > 0)
      quoted.push_back(&claim);
  }
  const std::vector<const Claim*> all = quoted;
  std::erase_if(quoted, [&](const Claim* claim) {
    return std::ranges::any_of(all, [&](const Claim* other) {
      return other->tolerance < claim->tolerance &&
             rate_text(other->upper_bound) == rate_text(claim->upper_bound);
    });
  });
  return quoted;
}

/// A row per step, for each tolerance what was observed and what is certified.
template <class Claim>
TextTable tolerance_table(const Certificate& certificate, const std::vector<Claim>& claims,
                          std::size_t variant, const std::vector<Index>& steps) {
  std::map<std::pair<Index, double>, const Claim*> at;
  for (const Claim& claim : claims)
    if (claim.variant == variant) at[{claim.step, claim.tolerance}] = &claim;
  TextTable table;
  table.columns = {{"iteration"}};
  add_note(table, note_on_dependence(certificate));
  std::vector<double> tolerances;
  for (const double tolerance : certificate.tolerances) {
    const bool claimed =
        std::ranges::any_of(at, [&](const auto& entry) { return entry.first.second == tolerance; });
    if (!claimed) continue;  // a terminal shows few of them
    tolerances.push_back(tolerance);
    add_observed_and_certified(table, "not below " + with_unit(certificate, exact_label(tolerance)));
  }
  for (const Index step : steps) {
    std::vector<std::string> cells{count_label(step)};
    for (const double tolerance : tolerances) {
      const auto found = at.find({step, tolerance});
      const bool there = found != at.end();
      cells.push_back(there ? observed_percent(found->second->empirical) : std::string(nothing));
      cells.push_back(there ? rate_text(found->second->upper_bound) : std::string(nothing));
    }
    table.add_row(std::move(cells));
  }
  return table;
}

}  // namespace surefoot::certify
