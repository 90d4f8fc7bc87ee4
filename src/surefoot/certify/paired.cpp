#include "surefoot/certify/paired.hpp"

#include "surefoot/bounds/binomial.hpp"
#include "surefoot/bounds/confidence_budget.hpp"
#include "surefoot/bounds/quantile.hpp"
#include "surefoot/bounds/risk.hpp"
#include "surefoot/bounds/rounding.hpp"
#include "surefoot/core/error.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <utility>

namespace surefoot::certify {
namespace {

constexpr std::size_t paired_steps = 4;
constexpr Index bounds_of_claim = 4;  // two sign tests and two of the difference

/// What B takes over what A takes, rounded up. Neither settles: nothing good is said of such a problem.
double ratio_of(double b, double a) {
  if (b == infinity) return infinity;
  if (a == infinity) return 0;
  if (a == 0) return b == 0 ? 1.0 : infinity;
  return a == b ? 1.0 : (b == 0 ? 0.0 : bounds::up(b / a));
}

/// The order statistic, and how many are below it and at most it.
PairedQuantile ranked(std::vector<double> values, Index rank) {
  PairedQuantile found;
  if (rank == 0) return found;
  const auto at = values.begin() + static_cast<std::ptrdiff_t>(rank - 1);
  std::nth_element(values.begin(), at, values.end());
  found.value = *at;
  found.below = std::ranges::count_if(values, [&](double value) { return value < found.value; });
  found.at_most = std::ranges::count_if(values, [&](double value) { return value <= found.value; });
  return found;
}

/// Counts of a quantity; what follows from them is concluded later.
PairedTimes counted_times(const PairedRuns& a, const PairedRuns& b, const PairedOptions& options,
                          std::size_t quantity) {
  PairedTimes times;
  if (!options.scalar) times.tolerance = options.tolerances[quantity];
  for (Index run = 0; run < a.runs(); ++run) {
    const double of_a = a.amount(quantity, run);
    const double of_b = b.amount(quantity, run);
    ++(of_b < of_a ? times.b_earlier : (of_a < of_b ? times.a_earlier : times.ties));
  }
  for (const double share : options.shares) times.ratios.push_back({share, 0, {}, {}});
  return times;
}

/// Once ranks are known.
void add_ratios(const PairedRuns& a, const PairedRuns& b, std::size_t quantity, PairedTimes& times) {
  std::vector<double> b_over_a;
  std::vector<double> a_over_b;
  for (Index run = 0; run < a.runs(); ++run) {
    b_over_a.push_back(ratio_of(b.amount(quantity, run), a.amount(quantity, run)));
    a_over_b.push_back(ratio_of(a.amount(quantity, run), b.amount(quantity, run)));
  }
  for (PairedRatio& ratio : times.ratios) {
    ratio.b_over_a = ranked(b_over_a, ratio.rank);
    ratio.a_over_b = ranked(a_over_b, ratio.rank);
  }
}

Decision decided(double lower, double upper, double allow) {
  if (lower >= -allow) return Decision::not_worse;
  return upper < -allow ? Decision::worse : Decision::undecided;
}

/// Pairs in all at which counts in the same proportion would decide.
std::optional<Index> pairs_needed(const bounds::PairedCounts& counts, double allow, double delta) {
  const auto decides = [&](Index pairs) {
    const double times = static_cast<double>(pairs) / static_cast<double>(counts.pairs());
    bounds::PairedCounts grown;
    grown.more = static_cast<Index>(std::llround(static_cast<double>(counts.more) * times));
    grown.less = static_cast<Index>(std::llround(static_cast<double>(counts.less) * times));
    grown.ties = std::max<Index>(0, pairs - grown.more - grown.less);
    return decided(bounds::difference_lower(grown, delta), bounds::difference_upper(grown, delta), allow) !=
           Decision::undecided;
  };
  Index low = counts.pairs();
  Index high = low;
  do {
    if (high >= most_pairs_needed) return std::nullopt;
    low = high;
    high = std::min(2 * high, most_pairs_needed);
  } while (!decides(high));
  // To one part in a hundred: it is an estimate.
  while (high - low > std::max<Index>(1, high / 100)) {
    const Index middle = low + (high - low) / 2;
    (decides(middle) ? high : low) = middle;
  }
  return high;
}

PairedSuccess counted_success(const PairedRuns& a, const PairedRuns& b, const PairedOptions& options,
                              std::size_t claim) {
  PairedSuccess cell;
  cell.claim = options.claims[claim];
  for (Index run = 0; run < a.runs(); ++run) {
    const bool by_a = a.succeeds(claim, run);
    const bool by_b = b.succeeds(claim, run);
    ++(by_a ? (by_b ? cell.both : cell.only_a) : (by_b ? cell.only_b : cell.neither));
  }
  return cell;
}

void conclude(const PairedComparison& comparison, PairedSuccess& cell) {
  const double delta = comparison.delta_each;
  cell.lower = bounds::difference_lower(cell.counts(), delta);
  cell.upper = bounds::difference_upper(cell.counts(), delta);
  cell.verdict = PairedVerdict::not_shown;
  cell.decision.reset();
  cell.needed.reset();
  if (comparison.allow) {
    cell.decision = decided(cell.lower, cell.upper, *comparison.allow);
    if (*cell.decision == Decision::undecided)
      cell.needed = pairs_needed(cell.counts(), *comparison.allow, delta);
    return;
  }
  // The sign test is for a number of problems that was fixed beforehand, the bounds are for every number.
  const bool b_is_better =
      comparison.anytime ? cell.lower > 0 : bounds::sign_test(cell.only_b, cell.only_a) <= delta;
  const bool a_is_better =
      comparison.anytime ? cell.upper < 0 : bounds::sign_test(cell.only_a, cell.only_b) <= delta;
  if (b_is_better) cell.verdict = PairedVerdict::b_is_better;
  if (a_is_better) cell.verdict = PairedVerdict::a_is_better;
}

void conclude(const PairedComparison& comparison, PairedTimes& times) {
  const bounds::RiskMethod method =
      comparison.anytime ? bounds::RiskMethod::anytime : bounds::RiskMethod::exact;
  const auto at_least = [&](Index count) {
    return bounds::success_lower_bound(comparison.pairs - count, comparison.pairs, comparison.delta_each,
                                       method);
  };
  times.share_b_earlier = at_least(times.b_earlier);
  times.share_a_earlier = at_least(times.a_earlier);
  for (PairedRatio& ratio : times.ratios)
    ratio.rank = bounds::rank_of_method(comparison.pairs, ratio.share, comparison.delta_each, method);
}

}  // namespace

void PairedOptions::validate() const {
  require(delta > 0 && delta < 1, "delta of the comparison: {} is outside (0, 1)", delta);
  require(!allow || (*allow >= 0 && *allow < 1), "allow: {} is outside [0, 1)", allow.value_or(0));
  require(scalar || !claims.empty() || !tolerances.empty(),
          "compare: there is no claim and no tolerance to compare");
  require(!allow || (!claims.empty() && tolerances.empty()), "allow: it is for claims alone");
  require(!scalar || tolerances.empty(),
          "tolerances: one number per problem has no iterations until it is below them");
  for (const ClaimText& claim : claims) {
    require(!claim.share, "claim: '{}' has a share; what is compared are the shares of both", to_text(claim));
    require(scalar || claim.when != ClaimText::When::unsaid,
            "claim: '{}' does not say 'after K' or 'within K'", to_text(claim));
    require(!scalar || claim.when == ClaimText::When::unsaid,
            "claim: '{}' is about iterations, and one number per problem has none", to_text(claim));
  }
  for (std::size_t i = 0; i < tolerances.size(); ++i)
    require(std::isfinite(tolerances[i]) && (i == 0 || tolerances[i - 1] < tolerances[i]),
            "tolerances: {} does not follow {}; the list must increase", tolerances[i],
            i == 0 ? tolerances[i] : tolerances[i - 1]);
  for (const double share : shares) require(share > 0 && share < 1, "shares: {} is outside (0, 1)", share);
}

PairedRuns::PairedRuns(std::string name, std::vector<Index> steps, const PairedOptions& options)
    : name_(std::move(name)),
      steps_(std::move(steps)),
      scalar_(options.scalar),
      counts_amounts_(!options.allow),
      tolerances_(options.tolerances) {
  options.validate();
  require(!steps_.empty(), "compare: no step of {} is recorded", name_);
  require(!scalar_ || steps_.size() == 1, "{}: has {} columns, and one number per problem is compared", name_,
          steps_.size());
  for (const ClaimText& claim : options.claims) {
    if (scalar_) {
      claims_.push_back({0, 1, claim.value, claim.strict});
      continue;
    }
    const auto at = std::ranges::lower_bound(steps_, claim.step);
    const bool after = claim.when == ClaimText::When::after;
    require(at != steps_.end() && (!after || *at == claim.step), "claim: iteration {} of {} was not recorded",
            claim.step, name_);
    const auto first = static_cast<std::size_t>(at - steps_.begin());
    claims_.push_back({first, after ? first + 1 : steps_.size(), claim.value, claim.strict});
  }
}

void PairedRuns::add_run(const double* values) {
  std::size_t finite = 0;
  while (finite < steps_.size() && std::isfinite(values[finite])) ++finite;
  ++runs_;
  for (const Columns& claim : claims_) {
    bool success = claim.last <= finite;
    for (std::size_t column = claim.first; success && column < claim.last; ++column)
      success = claim.strict ? values[column] < claim.value : values[column] <= claim.value;
    succeeds_.push_back(success);
  }
  if (scalar_ && counts_amounts_) {
    require(finite == 0 || values[0] >= 0,
            "{}: problem {} has {}; ratios are of numbers that are not negative", name_, runs_, values[0]);
    amounts_.push_back(finite == 0 ? infinity : values[0]);
  }
  for (const double tolerance : tolerances_) {
    std::size_t first = steps_.size();
    if (finite == steps_.size())
      while (first > 0 && values[first - 1] < tolerance) --first;
    amounts_.push_back(first == steps_.size() ? infinity : static_cast<double>(steps_[first]));
  }
}

bool PairedRuns::succeeds(std::size_t claim, Index run) const {
  return succeeds_.at(static_cast<std::size_t>(run) * claims_.size() + claim);
}

double PairedRuns::amount(std::size_t quantity, Index run) const {
  return amounts_.at(static_cast<std::size_t>(run) * quantities() + quantity);
}

std::vector<ClaimText> default_paired_claims(const std::vector<double>& tolerances,
                                             const std::vector<Index>& recorded) {
  std::vector<ClaimText> claims;
  for (const double tolerance : tolerances) {
    Index before = -1;
    for (std::size_t i = 1; i <= paired_steps; ++i) {
      const Index step = recorded[(recorded.size() * i + paired_steps - 1) / paired_steps - 1];
      if (step == before) continue;
      before = step;
      ClaimText claim;
      claim.value = tolerance;
      claim.when = ClaimText::When::after;
      claim.step = step;
      claims.push_back(claim);
    }
  }
  return claims;
}

PairedComparison compare_paired(const PairedRuns& a, const PairedRuns& b, const PairedOptions& options) {
  options.validate();
  require(a.runs() == b.runs(),
          "{} has {} problems and {} has {}: pairs are runs of the same problems, in the same order",
          a.name(), a.runs(), b.name(), b.runs());
  require(a.runs() > 0, "compare: there is no problem");
  require(a.steps() == b.steps(),
          "{} records steps {} .. {} and {} {} .. {}: pairs are compared at the same steps", a.name(),
          a.steps().front(), a.steps().back(), b.name(), b.steps().front(), b.steps().back());
  PairedComparison comparison;
  comparison.a = a.name();
  comparison.b = b.name();
  comparison.pairs = a.runs();
  comparison.delta = options.delta;
  comparison.allow = options.allow;
  comparison.scalar = options.scalar;
  comparison.anytime = options.anytime;
  comparison.metric = options.metric;
  comparison.shares = options.shares;
  for (std::size_t i = 0; i < options.claims.size(); ++i)
    comparison.success.push_back(counted_success(a, b, options, i));
  for (std::size_t i = 0; i < a.quantities(); ++i)
    comparison.times.push_back(counted_times(a, b, options, i));
  conclude(comparison);
  for (std::size_t i = 0; i < comparison.times.size(); ++i) add_ratios(a, b, i, comparison.times[i]);
  return comparison;
}

void conclude(PairedComparison& comparison) {
  const bool two_bounds = comparison.allow || comparison.anytime;
  const Index of_claim = two_bounds ? 2 : bounds_of_claim;
  const auto of_times = static_cast<Index>(2 + 2 * comparison.shares.size());
  bounds::ConfidenceBudget budget(comparison.delta);
  comparison.delta_each = budget.take_fraction("paired comparison",
                                               static_cast<Index>(comparison.success.size()) * of_claim +
                                                   static_cast<Index>(comparison.times.size()) * of_times,
                                               1.0);
  for (PairedSuccess& cell : comparison.success) conclude(comparison, cell);
  for (PairedTimes& times : comparison.times) conclude(comparison, times);
}

Decision decision_of_all(const PairedComparison& comparison) {
  Decision all = Decision::not_worse;
  for (const PairedSuccess& cell : comparison.success) {
    if (cell.decision == Decision::worse) return Decision::worse;
    if (cell.decision != Decision::not_worse) all = Decision::undecided;
  }
  return all;
}

}  // namespace surefoot::certify
