#include "surefoot/certify/compare.hpp"

#include "surefoot/bounds/binomial.hpp"
#include "surefoot/certify/classical.hpp"
#include "surefoot/core/error.hpp"
#include "surefoot/core/random.hpp"

#include "support/contains.hpp"
#include "support/input_error.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

namespace surefoot::certify {
namespace {

using test::contains;
using test_support::input_error;

/// Residuals scale * rate^k with a random scale: a smaller rate is better.
Certificate decaying(const std::vector<std::pair<std::string, double>>& variants, Options options = {},
                     Index samples = 500) {
  if (options.tolerances.empty()) options.tolerances = {1e-3, 1e-2, 1e-1};
  if (options.quantiles.empty()) options.quantiles = {0.5, 0.9, 0.99};
  std::vector<Index> steps;
  for (Index k = 1; k <= 12; ++k) steps.push_back(k);
  options = resolved(options, {steps});
  std::vector<Counted> counted;
  for (const auto& [name, rate] : variants) {
    runs::Tally tally(tally_spec(options, steps));
    for (Index i = 0; i < samples; ++i) {
      RandomStream random(7, "compare test", static_cast<std::uint64_t>(i));
      const double scale = std::exp(random.normal());
      std::vector<double> run;
      for (Index k = 1; k <= 12; ++k) run.push_back(scale * std::pow(rate, static_cast<double>(k)));
      tally.add_run(run.data());
    }
    Variant variant;
    variant.name = name;
    counted.push_back({variant, tally});
  }
  return certify(options, counted);
}

Options with_delta(double delta) {
  Options options;
  options.delta = delta;
  return options;
}

Options one_by_one() {
  Options options;
  options.simultaneous = Simultaneity::each;
  return options;
}

Options with_budgets(bounds::BudgetMethod method) {
  Options options;
  options.budget_method = method;
  return options;
}

Index count(const auto& cells, Verdict verdict) {
  return std::ranges::count_if(cells, [&](const auto& cell) { return cell.verdict == verdict; });
}

TEST(Compare, ShowsWhichIsBetterAndInWhat) {
  const Comparison comparison = compare(decaying({{"slow", 0.6}}), decaying({{"fast", 0.4}}));
  ASSERT_EQ(comparison.pairs.size(), 1U);
  const VariantComparison& pair = comparison.pairs.front();
  EXPECT_EQ(pair.success.size(), 36U);
  EXPECT_EQ(pair.quantile.size(), 36U);
  EXPECT_EQ(pair.budget.size(), 9U);
  for (const auto count_of :
       {count(pair.success, Verdict::b_is_better), count(pair.quantile, Verdict::b_is_better),
        count(pair.budget, Verdict::b_is_better)}) {
    EXPECT_GT(count_of, 0);
  }
  EXPECT_EQ(count(pair.success, Verdict::a_is_better), 0);
  EXPECT_EQ(count(pair.quantile, Verdict::a_is_better), 0);
  EXPECT_EQ(count(pair.budget, Verdict::a_is_better), 0);
  const Comparison turned = compare(decaying({{"fast", 0.4}}), decaying({{"slow", 0.6}}));
  EXPECT_EQ(count(turned.pairs[0].success, Verdict::a_is_better), count(pair.success, Verdict::b_is_better));
  EXPECT_EQ(count(turned.pairs[0].budget, Verdict::a_is_better), count(pair.budget, Verdict::b_is_better));
}

TEST(Compare, ShowsNothingBetweenEqualOnes) {
  const Comparison comparison = compare(decaying({{"x", 0.5}}), decaying({{"x", 0.5}}));
  for (const auto& pair : comparison.pairs) {
    EXPECT_EQ(count(pair.success, Verdict::not_shown), static_cast<Index>(pair.success.size()));
    EXPECT_EQ(count(pair.quantile, Verdict::not_shown), static_cast<Index>(pair.quantile.size()));
    EXPECT_EQ(count(pair.budget, Verdict::not_shown), static_cast<Index>(pair.budget.size()));
  }
}

TEST(Compare, PaysForTheBoundsFromTheOtherSide) {
  const Certificate a = decaying({{"x", 0.6}});
  const Certificate b = decaying({{"x", 0.4}}, with_delta(0.02));
  const Comparison comparison = compare(a, b, {.delta = 0.03, .variants = {}});
  EXPECT_NEAR(comparison.delta, 0.06, 1e-12);
  EXPECT_GE(comparison.delta, 0.01 + 0.02 + 0.03);
  EXPECT_EQ(comparison.opposite_bounds, 72);  // 36 success rates each
  EXPECT_LE(72 * comparison.delta_each, 0.03);
  EXPECT_GT(72 * comparison.delta_each, 0.0299);
  EXPECT_TRUE(comparison.together);
  const SuccessComparison& cell = comparison.pairs[0].success.front();
  const auto claim = std::ranges::find_if(
      a.success, [&](const SuccessClaim& c) { return c.step == cell.step && c.tolerance == cell.tolerance; });
  EXPECT_EQ(cell.a.low, claim->lower_bound);
  EXPECT_EQ(cell.a.high, bounds::clopper_pearson_upper(500 - claim->failures, 500, comparison.delta_each));
}

TEST(Compare, BoundsQuantilesAndIterationsFromSuccessRates) {
  const Comparison comparison = compare(decaying({{"x", 0.6}}), decaying({{"x", 0.4}}));
  const VariantComparison& pair = comparison.pairs[0];
  for (const QuantileComparison& cell : pair.quantile) {
    if (cell.a.low == -infinity) continue;
    const auto found = std::ranges::find_if(pair.success, [&](const SuccessComparison& s) {
      return s.step == cell.step && s.tolerance == cell.a.low;
    });
    EXPECT_LT(found->a.high, cell.quantile);
    EXPECT_LE(cell.a.low, cell.a.high);
  }
  for (const BudgetComparison& cell : pair.budget) {
    if (!cell.a.more_than) continue;
    const auto found = std::ranges::find_if(pair.success, [&](const SuccessComparison& s) {
      return s.step == *cell.a.more_than && s.tolerance == cell.tolerance;
    });
    EXPECT_LT(found->a.high, cell.quantile);
    if (cell.a.at_most) {
      EXPECT_LT(*cell.a.more_than, *cell.a.at_most);
    }
  }
}

TEST(Compare, DoesNotClaimTogetherWhatACertificateClaimsOneByOne) {
  EXPECT_FALSE(compare(decaying({{"x", 0.6}}, one_by_one()), decaying({{"x", 0.4}})).together);
}

TEST(Compare, HasNoBoundFromTheOtherSideOfPacBayes) {
  Certificate learned = decaying({{"x", 0.6}});
  learned.variants[0].pac_bayes = PacBayes{};
  const Comparison comparison = compare(learned, decaying({{"x", 0.4}}));
  EXPECT_EQ(comparison.opposite_bounds, 36);
  const VariantComparison& pair = comparison.pairs[0];
  for (const auto& cell : pair.success) EXPECT_EQ(cell.a.high, 1);
  EXPECT_EQ(count(pair.success, Verdict::b_is_better) + count(pair.budget, Verdict::b_is_better), 0);
  EXPECT_TRUE(contains(comparison.remarks.back(), "PAC-Bayes")) << comparison.remarks.back();
}

TEST(Compare, LeavesOutBudgetsThatSayDifferentThings) {
  const Options every = with_budgets(bounds::BudgetMethod::every_step);
  const Options paper = with_budgets(bounds::BudgetMethod::paper);
  const Options hit = with_budgets(bounds::BudgetMethod::first_hit);
  const Comparison mixed = compare(decaying({{"x", 0.6}}, every), decaying({{"x", 0.4}}));
  EXPECT_TRUE(mixed.pairs[0].budget.empty());
  EXPECT_TRUE(contains(mixed.remarks.at(0), "every-step"));
  const Comparison papers = compare(decaying({{"x", 0.6}}, paper), decaying({{"x", 0.4}}, paper));
  EXPECT_TRUE(papers.pairs[0].budget.empty());
  const Comparison hits = compare(decaying({{"x", 0.6}}, hit), decaying({{"x", 0.4}}, hit));
  EXPECT_EQ(count(hits.pairs[0].budget, Verdict::not_shown), 9);
  EXPECT_TRUE(contains(hits.remarks.at(0), "first hit"));
}

// The lower rank against binomial probabilities added up in the test.
TEST(Compare, BoundsBudgetsFromBothSidesWhereThereAreNoSuccessRates) {
  Options options;
  options.kinds = {"budget"};
  const Comparison comparison = compare(decaying({{"x", 0.6}}, options), decaying({{"x", 0.4}}, options));
  EXPECT_EQ(comparison.opposite_bounds, 18);
  const VariantComparison& pair = comparison.pairs[0];
  ASSERT_EQ(pair.budget.size(), 9U);
  EXPECT_GE(count(pair.budget, Verdict::b_is_better), 4);
  EXPECT_EQ(count(pair.budget, Verdict::a_is_better), 0);
  const Index samples = 500;
  for (const BudgetComparison& cell : pair.budget) {
    // Settling times of the true distribution: scale rate^k < tolerance, scale = exp(normal).
    const double z = cell.quantile == 0.5   ? 0
                     : cell.quantile == 0.9 ? 1.2815515655446004
                                            : 2.3263478740408408;
    const double true_steps = std::max(1.0, std::floor((z - std::log(cell.tolerance)) / -std::log(0.6)) + 1);
    if (cell.a.more_than) {
      EXPECT_LT(static_cast<double>(*cell.a.more_than), true_steps);
    }
    // Not more than the order statistic itself allows.
    double below = 0;
    Index rank = 0;
    for (; rank < samples; ++rank) {
      const auto k = static_cast<double>(rank);
      below += std::exp(std::lgamma(samples + 1.0) - std::lgamma(k + 1) - std::lgamma(samples - k + 1) +
                        k * std::log(cell.quantile) + (samples - k) * std::log1p(-cell.quantile));
      if (below > comparison.delta_each) break;
    }
    std::vector<double> times;
    for (Index i = 0; i < samples; ++i) {
      RandomStream random(7, "compare test", static_cast<std::uint64_t>(i));
      const double scale = std::exp(random.normal());
      Index time = 1;
      while (time <= 12 && !(scale * std::pow(0.6, static_cast<double>(time)) < cell.tolerance)) ++time;
      times.push_back(static_cast<double>(time));
    }
    std::ranges::sort(times);
    if (cell.a.more_than) {
      ASSERT_GT(rank, 0);
      EXPECT_LT(static_cast<double>(*cell.a.more_than), times[static_cast<std::size_t>(rank - 1)]);
    }
  }
  // The same of first hits, of which counts of success rates say nothing.
  options.budget_method = bounds::BudgetMethod::first_hit;
  const Comparison hits = compare(decaying({{"x", 0.6}}, options), decaying({{"x", 0.4}}, options));
  EXPECT_GE(count(hits.pairs[0].budget, Verdict::b_is_better), 4);
}

ClaimText claimed(const char* text) {
  return parse_claim(text, ShareIs::optional);
}

TEST(Ranking, NamesTheBestAndSaysWhatIsTied) {
  const Certificate three = decaying({{"slow", 0.6}, {"quick", 0.4}, {"quick too", 0.4}, {"quickest", 0.25}});
  const std::vector<Ranking> rankings =
      rank_variants({{"c.json", &three}}, {claimed("below 1e-2 after 6"), claimed("90% below 1e-2")}, 0.01);
  ASSERT_EQ(rankings.size(), 2U);
  for (const Ranking& ranking : rankings) {
    EXPECT_NEAR(ranking.delta, 0.02, 1e-12);
    EXPECT_NEAR(ranking.delta_each, 0.01 / 8, 1e-12);
    ASSERT_EQ(ranking.variants.size(), 4U);
    EXPECT_EQ(ranking.variants[3].name, "slow");
    EXPECT_EQ(ranking.variants[3].first, 4);
    EXPECT_EQ(ranking.variants[3].last, 4);
    const auto quick = std::ranges::find(ranking.variants, "quick", &RankedVariant::name);
    const auto too = std::ranges::find(ranking.variants, "quick too", &RankedVariant::name);
    EXPECT_EQ(quick->first, too->first) << "the same runs are tied";
    EXPECT_EQ(quick->last, too->last);
    EXPECT_LT(quick->first, quick->last);
  }
  EXPECT_TRUE(rankings[1].has_best());
  EXPECT_EQ(rankings[1].variants[0].name, "quickest");
  const RankedVariant& slow = rankings[0].variants[3];
  const SuccessClaim& claim = *std::ranges::find_if(three.success, [](const SuccessClaim& each) {
    return each.variant == 0 && each.step == 6 && each.tolerance == 1e-2;
  });
  EXPECT_EQ(slow.rate.low, claim.lower_bound);
  EXPECT_EQ(slow.rate.high, bounds::clopper_pearson_upper(claim.samples - claim.failures, claim.samples,
                                                          rankings[0].delta_each));
}

TEST(Ranking, AddsUpTheConfidenceOfAllCertificatesAndTellsNamesApart) {
  const Certificate a = decaying({{"x", 0.6}});
  const Certificate b = decaying({{"x", 0.4}});
  const Ranking ranking =
      rank_variants({{"a.json", &a}, {"b.json", &b}}, {claimed("below 1e-2 after 6")}, 0.02).front();
  EXPECT_NEAR(ranking.delta, 0.04, 1e-12);
  EXPECT_EQ(ranking.variants[0].name, "x (b.json)");
  EXPECT_EQ(ranking.variants[1].name, "x (a.json)");
  EXPECT_TRUE(ranking.has_best());
}

TEST(Ranking, RefusesWhatCannotBeRanked) {
  const Certificate two = decaying({{"cold", 0.6}, {"warm", 0.4}});
  const auto refusal = [&](const Certificate& certificate, const char* claim, double delta = 0.01) {
    return input_error([&] { return rank_variants({{"c.json", &certificate}}, {claimed(claim)}, delta); });
  };
  EXPECT_TRUE(
      contains(refusal(two, "below 1e-2 after 99"), "cold has no success rate of 'below 1e-2 after 99'"));
  EXPECT_TRUE(contains(refusal(two, "77% below 1e-2"), "has no iteration budget"));
  EXPECT_TRUE(contains(refusal(two, "below 1e-2 within 5"), "neither"));
  EXPECT_TRUE(contains(refusal(two, "at most 1e-2 after 5"), "strictly below"));
  EXPECT_TRUE(contains(refusal(two, "below 1e-2 after 6", 0), "outside (0, 1)"));
  EXPECT_TRUE(contains(refusal(decaying({{"x", 0.6}}), "below 1e-2 after 6"), "one variant alone"));
  EXPECT_TRUE(contains(refusal(decaying({{"cold", 0.6}, {"warm", 0.4}}, one_by_one()), "below 1e-2 after 6"),
                       "hold each alone"));
}

TEST(Compare, SaysWhatOnlyOneOfThemHas) {
  Options other;
  other.tolerances = {1e-5, 1e-2};
  const Comparison comparison = compare(decaying({{"x", 0.6}}), decaying({{"x", 0.4}}, other));
  EXPECT_EQ(comparison.pairs[0].success.size(), 12U);
  EXPECT_TRUE(
      contains(comparison.remarks.at(0),
               "Tolerances of one certificate alone are not compared (first: 0.001, 0.1; second: 1e-05)"))
      << comparison.remarks.at(0);
}

TEST(Compare, PairsVariantsByNameOrAsTold) {
  const Certificate two = decaying({{"cold", 0.6}, {"warm", 0.4}});
  EXPECT_EQ(compare(two, two, {.delta = 0.01, .variants = {{"cold", "warm"}}}, true).delta_b, 0);
  EXPECT_EQ(compare(two, decaying({{"warm", 0.5}, {"cold", 0.6}})).pairs.size(), 2U);
  EXPECT_EQ(compare(two, decaying({{"warm", 0.5}, {"cold", 0.6}})).pairs[0].b, 1U);
  EXPECT_TRUE(contains(input_error([&] { return compare(two, decaying({{"hot", 0.5}})); }), "cold, warm"));
  EXPECT_TRUE(
      contains(input_error([&] { return compare(two, two, {}, true); }), "choose two of its variants"));
  EXPECT_TRUE(contains(input_error([&] {
                         return compare(two, two, {0.01, {{"cold", "cold"}}}, true);
                       }),
                       "with itself"));
  EXPECT_TRUE(contains(input_error([&] {
                         return compare(two, two, {0.01, {{"cold", "hot"}}});
                       }),
                       "no variant 'hot'"));
}

TEST(Compare, RefusesWhatCannotBeCompared) {
  Options decibel;
  decibel.unit = "dB";
  Options far;
  far.tolerances = {5};
  far.quantiles = {0.123};
  const Certificate a = decaying({{"x", 0.6}});
  EXPECT_TRUE(contains(input_error([&] {
                         return compare(a, decaying({{"x", 0.6}}, decibel));
                       }),
                       "different metrics"));
  EXPECT_TRUE(contains(input_error([&] { return compare(a, decaying({{"x", 0.6}}, far)); }), "in common"));
  EXPECT_TRUE(contains(input_error([&] { return compare(a, a, {0.0, {}}); }), "outside (0, 1)"));
  EXPECT_TRUE(contains(input_error([&] { return compare(a, a, {0.985, {}}); }), "no confidence is left"));
}

// Bounds from the other side are of a fixed number of runs: somebody who stopped when it pleased has none.
TEST(Compare, RefusesClaimsThatHoldAtEveryNumberOfRuns) {
  Options options;
  options.risk_method = bounds::RiskMethod::anytime;
  const Certificate looked = decaying({{"x", 0.5}}, options);
  const Certificate fixed = decaying({{"x", 0.6}});
  EXPECT_TRUE(
      contains(input_error([&] { return compare(fixed, looked); }), "the second certificate holds at every"));
  EXPECT_TRUE(
      contains(input_error([&] { return compare(looked, fixed); }), "the first certificate holds at every"));
}

}  // namespace
}  // namespace surefoot::certify
