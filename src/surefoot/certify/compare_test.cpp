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

TEST(Compare, SaysWhatOnlyOneOfThemHas) {
  Options other;
  other.tolerances = {1e-5, 1e-2};
  const Comparison comparison = compare(decaying({{"x", 0.6}}), decaying({{"x", 0.4}}, other));
  EXPECT_EQ(comparison.pairs[0].success.size(), 12U);
  EXPECT_TRUE(contains(comparison.remarks.at(0),
                       "Tolerances of one certificate alone are not compared (A: 0.001, 0.1; B: 1e-05)"))
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
  EXPECT_TRUE(contains(input_error([&] { return compare(fixed, looked); }), "certificate B holds at every"));
  EXPECT_TRUE(contains(input_error([&] { return compare(looked, fixed); }), "certificate A holds at every"));
}

}  // namespace
}  // namespace surefoot::certify
