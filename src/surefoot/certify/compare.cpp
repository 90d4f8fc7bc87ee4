#include "surefoot/certify/compare.hpp"

#include "surefoot/bounds/binomial.hpp"
#include "surefoot/bounds/confidence_budget.hpp"
#include "surefoot/bounds/quantile.hpp"
#include "surefoot/bounds/rounding.hpp"
#include "surefoot/core/error.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <map>
#include <set>

namespace surefoot::certify {
namespace {

using bounds::BudgetMethod;

std::vector<std::string> variant_names(const Certificate& certificate) {
  std::vector<std::string> names;
  for (const Variant& variant : certificate.variants) names.push_back(variant.name);
  return names;
}

std::size_t place_of_variant(const Certificate& certificate, const std::string& wanted,
                             std::string_view which) {
  const std::vector<std::string> names = variant_names(certificate);
  const auto found = std::ranges::find(names, wanted);
  require(found != names.end(), "the {} certificate has no variant '{}'; it has {}", which, wanted,
          fmt::join(names, ", "));
  return static_cast<std::size_t>(found - names.begin());
}

std::vector<VariantComparison> paired(const Certificate& a, const Certificate& b,
                                      const CompareOptions& options, bool same) {
  std::vector<VariantComparison> pairs;
  for (const auto& [of_a, of_b] : options.variants) {
    VariantComparison pair;
    pair.a = place_of_variant(a, of_a, "first");
    pair.b = place_of_variant(b, of_b, "second");
    require(!same || pair.a != pair.b, "variant '{}' cannot be compared with itself", of_a);
    pairs.push_back(std::move(pair));
  }
  if (!pairs.empty()) return pairs;
  const std::vector<std::string> names_a = variant_names(a);
  const std::vector<std::string> names_b = variant_names(b);
  require(!same, "both are the same certificate: choose two of its variants ({})", fmt::join(names_a, ", "));
  for (std::size_t i = 0; i < names_a.size(); ++i) {
    const auto found = std::ranges::find(names_b, names_a[i]);
    if (found == names_b.end()) continue;
    pairs.emplace_back().a = i;
    pairs.back().b = static_cast<std::size_t>(found - names_b.begin());
  }
  if (pairs.empty() && names_a.size() == 1 && names_b.size() == 1) pairs.emplace_back();
  require(
      !pairs.empty(),
      "no variant of the first certificate ({}) is called as one of the second ({}): say which to compare",
      fmt::join(names_a, ", "), fmt::join(names_b, ", "));
  return pairs;
}

/// What is compared speaks of new problems.
void require_of_problems(const Certificate& certificate, std::string_view which) {
  const Sampling sampling = sampling_of(certificate);
  // Bounds from the other side are of a number of runs that was fixed beforehand.
  require(
      !holds_anytime(certificate),
      "the {} certificate holds at every number of runs (anytime), which was not fixed beforehand: comparisons of such "
      "certificates are not there yet; certify both as variants of one certificate and read their bounds side "
      "by side",
      which);
  require(
      sampling != Sampling::groups,
      "the {} certificate is of groups: comparisons of groups are not there yet; certify both as variants of one "
      "certificate and read their bounds side by side",
      which);
  require(
      sampling != Sampling::sequence,
      "the {} certificate is of the past of one log (sequence), which says nothing of new problems to compare",
      which);
}

void require_comparable(const Certificate& certificate, std::string_view which) {
  require_of_problems(certificate, which);
  require(
      !if_independent(certificate),
      "the {} certificate was made in spite of signs that its rows are not independent: nothing is provably "
      "better or worse than it",
      which);
}

void require_same_metric(const Certificate& a, const Certificate& b) {
  require(a.metric == b.metric && a.unit == b.unit,
          "the certificates are about different metrics, '{}'{} and '{}'{}: they cannot be compared",
          a.metric, a.unit.empty() ? "" : " in " + a.unit, b.metric, b.unit.empty() ? "" : " in " + b.unit);
  const auto words = [](const Certificate& of) {
    if (!of.loop) return std::string("problems");
    return fmt::format("rollouts of {} ticks{}", of.loop->ticks,
                       of.loop->limit == 0 ? "" : fmt::format(" with a limit of {}", of.loop->limit));
  };
  const bool same =
      a.loop.has_value() == b.loop.has_value() &&
      (!a.loop || (a.loop->ticks == b.loop->ticks && (a.loop->limit == 0) == (b.loop->limit == 0)));
  require(same, "the certificates are about different things, {} and {}: they cannot be compared", words(a),
          words(b));
}

/// The success claims of one variant by step and tolerance.
using SuccessClaims = std::map<std::pair<Index, double>, const SuccessClaim*>;

SuccessClaims success_claims(const Certificate& certificate, std::size_t variant) {
  SuccessClaims claims;
  for (const SuccessClaim& claim : certificate.success) {
    if (claim.variant == variant) claims[{claim.step, claim.tolerance}] = &claim;
  }
  return claims;
}

/// Counts of runs on training samples bound a success rate from below (PAC-Bayes) and say nothing from above.
bool has_opposite_bounds(const Variant& variant) {
  return !variant.pac_bayes;
}

/// Budgets of runs whose times are counted: each problem has a number of steps that it needs.
bool counts_times(const BudgetClaim& claim) {
  return claim.method == BudgetMethod::settling || claim.method == BudgetMethod::first_hit;
}

/// The recorded step before this one; none if it is the first.
std::optional<Index> step_before(const Variant& variant, Index step) {
  if (step <= variant.first_step) return std::nullopt;
  if (variant.recorded_steps.empty()) return step - 1;
  const auto at = std::ranges::lower_bound(variant.recorded_steps, step);
  return at == variant.recorded_steps.begin() ? std::nullopt : std::optional(*(at - 1));
}

/// The largest l such that the l-th smallest of `samples` times is at most their quantile, except with
/// probability delta; 0 if there is none. Fewer than l times are at most the quantile only if a binomial
/// variable of probability `quantile` or more is below l.
Index lower_rank(Index samples, double quantile, double delta) {
  const Index from_above = bounds::order_statistic_rank(samples, bounds::up(1 - quantile), delta);
  return from_above == 0 ? 0 : samples + 1 - from_above;
}

/// What a budget's quantile is beyond, except with probability delta. Budgets say how many runs have reached
/// the tolerance by some steps: fewer than the rank of an order statistic that is at most the quantile, and
/// the quantile is beyond them.
std::optional<Index> times_more_than(const Certificate& certificate, const BudgetClaim& claim, double delta) {
  const Variant& variant = certificate.variants[claim.variant];
  if (!has_opposite_bounds(variant) || !(delta > 0) || !counts_times(claim)) return std::nullopt;
  const Index rank = lower_rank(claim.samples, claim.quantile, delta);
  std::optional<Index> bound;
  const auto beyond = [&](std::optional<Index> step, Index reached) {
    if (step && reached < rank) bound = std::max(bound.value_or(*step), *step);
  };
  for (const BudgetClaim& each : certificate.budget) {
    if (each.variant != claim.variant || each.tolerance != claim.tolerance || each.method != claim.method)
      continue;
    beyond(each.steps ? step_before(variant, *each.steps) : variant.last_step, each.reached_before);
    beyond(each.steps ? each.steps : variant.last_step, each.reached);
  }
  return bound;
}

/// One certificate's variant with both ends of everything.
class Side {
 public:
  Side(const Certificate& certificate, std::size_t variant)
      : certificate_(&certificate),
        variant_(variant),
        opposite_(has_opposite_bounds(certificate.variants[variant])) {
    for (const auto& [key, claim] : success_claims(certificate, variant))
      success_[key] = {claim->lower_bound, 1.0};
  }

  /// Of success rates; where there are none, of the times that budgets are of.
  [[nodiscard]] Index opposite_bounds() const {
    if (!opposite_) return 0;
    if (!success_.empty()) return static_cast<Index>(success_.size());
    return std::ranges::count_if(certificate_->budget, [&](const BudgetClaim& claim) {
      return claim.variant == variant_ && counts_times(claim);
    });
  }

  void bound_from_the_other_side(double delta_each) {
    if (!opposite_) return;
    delta_each_ = delta_each;
    for (const auto& [key, claim] : success_claims(*certificate_, variant_)) {
      const Index successes = claim->samples - claim->failures;
      success_[key].high = bounds::clopper_pearson_upper(successes, claim->samples, delta_each);
    }
  }

  [[nodiscard]] const std::map<std::pair<Index, double>, Range>& success() const { return success_; }

  /// The largest tolerance below which, after `step`, less than the share `quantile` is.
  [[nodiscard]] double quantile_at_least(Index step, double quantile) const {
    double bound = -infinity;
    for (const auto& [key, range] : success_) {
      if (key.first == step && range.high < quantile) bound = std::max(bound, key.second);
    }
    return bound;
  }

  /// The last step after which less than the share `quantile` is below the tolerance.
  [[nodiscard]] std::optional<Index> steps_more_than(double tolerance, double quantile) const {
    std::optional<Index> bound;
    for (const auto& [key, range] : success_) {
      if (key.second == tolerance && range.high < quantile)
        bound = std::max(bound.value_or(key.first), key.first);
    }
    return bound;
  }

  [[nodiscard]] std::map<std::pair<Index, double>, Range> quantiles() const {
    std::map<std::pair<Index, double>, Range> result;
    for (const QuantileClaim& claim : certificate_->quantile) {
      if (claim.variant != variant_) continue;
      result[{claim.step, claim.quantile}] = {quantile_at_least(claim.step, claim.quantile),
                                              claim.upper_bound};
    }
    return result;
  }

  using BudgetKey = std::pair<double, double>;
  [[nodiscard]] std::map<BudgetKey, const BudgetClaim*> budgets() const {
    std::map<BudgetKey, const BudgetClaim*> result;
    for (const BudgetClaim& claim : certificate_->budget) {
      if (claim.variant == variant_) result[{claim.tolerance, claim.quantile}] = &claim;
    }
    return result;
  }

  /// A run that has settled by k is below the tolerance at k; one that has hit it by k need not be.
  [[nodiscard]] StepRange steps_needed(const BudgetClaim& claim) const {
    StepRange range;
    range.at_most = claim.steps;
    if (success_.empty())
      range.more_than = times_more_than(*certificate_, claim, delta_each_);
    else if (claim.method != BudgetMethod::first_hit)
      range.more_than = steps_more_than(claim.tolerance, claim.quantile);
    return range;
  }

 private:
  const Certificate* certificate_;
  std::size_t variant_;
  bool opposite_;
  double delta_each_ = 0;
  std::map<std::pair<Index, double>, Range> success_;
};

Verdict verdict_of(bool a_is_better, bool b_is_better) {
  if (a_is_better) return Verdict::a_is_better;
  return b_is_better ? Verdict::b_is_better : Verdict::not_shown;
}

/// Fewer steps at most than the other more than.
bool needs_fewer(const StepRange& left, const StepRange& right) {
  return left.at_most && right.more_than && *left.at_most <= *right.more_than;
}

void add_success_cells(VariantComparison& pair, const Side& a, const Side& b) {
  for (const auto& [key, of_a] : a.success()) {
    const auto found = b.success().find(key);
    if (found == b.success().end()) continue;
    const Range& of_b = found->second;
    pair.success.push_back(
        {key.first, key.second, of_a, of_b, verdict_of(of_a.low > of_b.high, of_b.low > of_a.high)});
  }
}

void add_quantile_cells(VariantComparison& pair, const Side& a, const Side& b) {
  const auto all_of_b = b.quantiles();
  for (const auto& [key, of_a] : a.quantiles()) {
    const auto found = all_of_b.find(key);
    if (found == all_of_b.end()) continue;
    const Range& of_b = found->second;
    pair.quantile.push_back(
        {key.first, key.second, of_a, of_b, verdict_of(of_a.high < of_b.low, of_b.high < of_a.low)});
  }
}

void add_budget_cells(VariantComparison& pair, const Side& a, const Side& b, std::set<std::string>& remarks) {
  const auto all_of_b = b.budgets();
  for (const auto& [key, of_a] : a.budgets()) {
    const auto found = all_of_b.find(key);
    if (found == all_of_b.end()) continue;
    if (of_a->method != found->second->method) {
      remarks.insert(fmt::format(
          "Iterations needed are not compared: the first certificate counts by method {}, the second by {}.",
          bounds::name(of_a->method), bounds::name(found->second->method)));
      continue;
    }
    if (of_a->method == BudgetMethod::paper) {
      remarks.insert("Iterations needed are not compared: method paper is not covered by its confidence.");
      continue;
    }
    if (of_a->method == BudgetMethod::first_hit && !(a.success().empty() && b.success().empty()))
      remarks.insert(
          "Iterations until the first hit cannot be shown to be fewer: the counts bound them "
          "from above only.");
    const StepRange steps_a = a.steps_needed(*of_a);
    const StepRange steps_b = b.steps_needed(*found->second);
    pair.budget.push_back({key.first, key.second, of_a->method, steps_a, steps_b,
                           verdict_of(needs_fewer(steps_a, steps_b), needs_fewer(steps_b, steps_a))});
  }
}

/// Values of one certificate that the other has not, as a remark; empty if there are none.
template <class Value>
std::string left_out(std::string_view what, const std::vector<Value>& of_a, const std::vector<Value>& of_b) {
  std::vector<Value> only_a;
  std::vector<Value> only_b;
  for (const Value& value : of_a)
    if (std::ranges::count(of_b, value) == 0) only_a.push_back(value);
  for (const Value& value : of_b)
    if (std::ranges::count(of_a, value) == 0) only_b.push_back(value);
  if (only_a.empty() && only_b.empty()) return "";
  const auto listed = [](const std::vector<Value>& values) {
    return values.empty() ? std::string("none")
                          : (values.size() > 8 ? fmt::format("{} of them", values.size())
                                               : fmt::format("{}", fmt::join(values, ", ")));
  };
  return fmt::format("{} of one certificate alone are not compared (first: {}; second: {}).", what,
                     listed(only_a), listed(only_b));
}

void add_remarks(Comparison& comparison, const Certificate& a, const Certificate& b) {
  for (const std::string& remark :
       {left_out("Tolerances", a.tolerances, b.tolerances), left_out("Quantiles", a.quantiles, b.quantiles),
        left_out("Iterations", a.steps, b.steps)}) {
    if (!remark.empty()) comparison.remarks.push_back(remark);
  }
  std::set<std::string> once;
  for (const VariantComparison& pair : comparison.pairs) {
    const Variant& of_a = a.variants[pair.a];
    const Variant& of_b = b.variants[pair.b];
    for (const Variant* variant : {&of_a, &of_b}) {
      if (!has_opposite_bounds(*variant))
        once.insert(fmt::format(
            "Nothing can be shown to be better than '{}': its PAC-Bayes counts bound from one side only.",
            variant->name));
    }
    if (of_a.last_step != of_b.last_step && !pair.budget.empty())
      once.insert(
          fmt::format("Iterations needed refer to the recorded iterations: of {} up to {}, of {} up to {}.",
                      of_a.name, of_a.last_step, of_b.name, of_b.last_step));
  }
  comparison.remarks.insert(comparison.remarks.end(), once.begin(), once.end());
}

}  // namespace

void CompareOptions::validate() const {
  require(delta > 0 && delta < 1, "delta of the comparison: {} is outside (0, 1)", delta);
}

Comparison compare(const Certificate& a, const Certificate& b, const CompareOptions& options, bool same) {
  options.validate();
  require_same_metric(a, b);
  require(
      !a.scalar && !b.scalar,
      "certificates of one number per problem cannot be compared cell by cell: rank their variants (--rank), or "
      "compare their tables (--paired)");
  for (const Certificate* each : {&a, &b}) require_comparable(*each, each == &a ? "first" : "second");
  Comparison comparison;
  comparison.pairs = paired(a, b, options, same);
  comparison.delta_a = a.delta;
  comparison.delta_b = same ? 0 : b.delta;
  comparison.delta_opposite = options.delta;
  comparison.delta = bounds::spent_confidence(
      {{"A", 1, comparison.delta_a}, {"B", same ? 0 : 1, b.delta}, {"opposite", 1, options.delta}});
  require(comparison.delta < 1,
          "the deltas of both certificates and of the comparison add up to {}: no confidence is left",
          comparison.delta);
  comparison.together = a.simultaneous == Simultaneity::all && b.simultaneous == Simultaneity::all;

  std::map<std::size_t, Side> sides_a;
  std::map<std::size_t, Side> sides_b;
  for (const VariantComparison& pair : comparison.pairs) {
    if (sides_a.try_emplace(pair.a, a, pair.a).second)
      comparison.opposite_bounds += sides_a.at(pair.a).opposite_bounds();
    if (sides_b.try_emplace(pair.b, b, pair.b).second)
      comparison.opposite_bounds += sides_b.at(pair.b).opposite_bounds();
  }
  if (comparison.opposite_bounds > 0) {
    bounds::ConfidenceBudget budget(options.delta);
    comparison.delta_each = budget.take_fraction("opposite bounds", comparison.opposite_bounds, 1.0);
    for (auto* sides : {&sides_a, &sides_b})
      for (auto& [place, side] : *sides) side.bound_from_the_other_side(comparison.delta_each);
  }
  std::set<std::string> remarks;
  std::size_t cells = 0;
  for (VariantComparison& pair : comparison.pairs) {
    const Side& side_a = sides_a.at(pair.a);
    const Side& side_b = sides_b.at(pair.b);
    add_success_cells(pair, side_a, side_b);
    add_quantile_cells(pair, side_a, side_b);
    add_budget_cells(pair, side_a, side_b, remarks);
    cells += pair.success.size() + pair.quantile.size() + pair.budget.size();
  }
  comparison.remarks.assign(remarks.begin(), remarks.end());
  add_remarks(comparison, a, b);
  require(
      cells > 0,
      "nothing of the two certificates can be compared: they have no success rate, quantile or iteration budget in common");
  return comparison;
}

namespace {

/// What a claim of a ranking is called, and the ends of a variant's number.
RankedVariant ranked_variant(const ToRank& certificate, std::size_t variant, const ClaimText& claim,
                             double delta) {
  const Certificate& of = *certificate.certificate;
  RankedVariant ranked;
  ranked.name = of.variants[variant].name;
  ranked.source = certificate.source;
  if (claim.share) {
    const auto found = std::ranges::find_if(of.budget, [&](const BudgetClaim& each) {
      return each.variant == variant && each.tolerance == claim.value && each.quantile == *claim.share;
    });
    require(found != of.budget.end(), "rank: {} has no iteration budget of '{}'", ranked.name,
            to_text(claim));
    require(counts_times(*found), "rank: budgets of method {} are not bounded from the other side",
            bounds::name(found->method));
    ranked.method = found->method;
    ranked.steps = {times_more_than(of, *found, delta), found->steps};
    return ranked;
  }
  const Index step = of.scalar ? scalar_step : claim.step;
  const SuccessClaims claims = success_claims(of, variant);
  const auto found = claims.find({step, claim.value});
  require(found != claims.end(), "rank: {} has no success rate of '{}'", ranked.name, to_text(claim));
  ranked.rate.low = found->second->lower_bound;
  if (has_opposite_bounds(of.variants[variant]))
    ranked.rate.high = bounds::clopper_pearson_upper(found->second->samples - found->second->failures,
                                                     found->second->samples, delta);
  return ranked;
}

void require_rankable(const ClaimText& claim, const Certificate& certificate) {
  const std::string text = to_text(claim);
  if (certificate.scalar) {
    require(!claim.share && !claim.strict && claim.when == ClaimText::When::unsaid,
            "rank: '{}' is not of one number per problem: say \"at most VALUE\"", text);
    return;
  }
  require(claim.strict, "rank: '{}': success is strictly below a tolerance; say \"below\"", text);
  require(claim.share ? claim.when == ClaimText::When::unsaid : claim.when == ClaimText::When::after,
          "rank: '{}' is neither \"below VALUE after K\", for success rates, nor \"SHARE% below VALUE\", for "
          "iterations needed",
          text);
}

bool is_better(const RankedVariant& left, const RankedVariant& right, bool of_steps) {
  return of_steps ? needs_fewer(left.steps, right.steps) : left.rate.low > right.rate.high;
}

}  // namespace

std::vector<Ranking> rank_variants(const std::vector<ToRank>& certificates,
                                   const std::vector<ClaimText>& claims, double delta) {
  require(delta > 0 && delta < 1, "delta of the comparison: {} is outside (0, 1)", delta);
  require(!certificates.empty() && !claims.empty(), "rank: there is nothing to rank");
  const Certificate& first = *certificates.front().certificate;
  std::vector<bounds::ConfidenceShare> spent{{"opposite", 1, delta}};
  std::vector<std::string> names;
  for (const ToRank& each : certificates) {
    const Certificate& certificate = *each.certificate;
    require_same_metric(first, certificate);
    require(certificate.scalar == first.scalar,
            "rank: some certificates are of one number per problem and some of iterations");
    require_comparable(certificate, each.source);
    require(certificate.simultaneous == Simultaneity::all,
            "rank: the claims of {} hold each alone; a ranking needs them together (--simultaneous all)",
            each.source);
    for (const ClaimText& claim : claims) require_rankable(claim, certificate);
    spent.push_back({each.source, 1, certificate.delta});
    for (const Variant& variant : certificate.variants) names.push_back(variant.name);
  }
  require(names.size() > 1, "rank: there is one variant alone, {}", names.front());
  const double all = bounds::spent_confidence(spent);
  require(all < 1, "the deltas of the certificates and of the comparison add up to {}: no confidence is left",
          all);
  bounds::ConfidenceBudget budget(delta);
  const double delta_each =
      budget.take_fraction("opposite bounds", static_cast<Index>(names.size() * claims.size()), 1.0);
  std::vector<Ranking> rankings;
  for (const ClaimText& claim : claims) {
    Ranking& ranking = rankings.emplace_back();
    ranking.claim = claim;
    ranking.delta = all;
    ranking.delta_each = delta_each;
    for (const ToRank& each : certificates)
      for (std::size_t i = 0; i < each.certificate->variants.size(); ++i)
        ranking.variants.push_back(ranked_variant(each, i, claim, delta_each));
    for (RankedVariant& own : ranking.variants) {
      if (std::ranges::count(names, own.name) > 1) own.name += fmt::format(" ({})", own.source);
      require(own.method == ranking.variants.front().method,
              "rank: budgets of {} are counted otherwise than those of {}", own.name,
              ranking.variants.front().name);
    }
    for (RankedVariant& own : ranking.variants) {
      own.last = static_cast<Index>(ranking.variants.size());
      for (const RankedVariant& other : ranking.variants) {
        if (is_better(other, own, claim.share.has_value())) ++own.first;
        if (is_better(own, other, claim.share.has_value())) --own.last;
      }
    }
    std::ranges::stable_sort(ranking.variants, {},
                             [](const RankedVariant& each) { return std::pair(each.first, each.last); });
  }
  return rankings;
}

}  // namespace surefoot::certify
