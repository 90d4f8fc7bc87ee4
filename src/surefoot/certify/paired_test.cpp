#include "surefoot/certify/paired.hpp"

#include "surefoot/bounds/binomial.hpp"
#include "surefoot/bounds/quantile.hpp"
#include "surefoot/bounds/rounding.hpp"
#include "surefoot/core/error.hpp"
#include "surefoot/core/random.hpp"

#include "support/contains.hpp"
#include "support/input_error.hpp"

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include <algorithm>
#include <cmath>

namespace surefoot::certify {
namespace {

using test::contains;

PairedOptions declared(const std::vector<std::string>& claims, std::vector<double> tolerances = {}) {
  PairedOptions options;
  for (const std::string& claim : claims) options.claims.push_back(parse_claim(claim, ShareIs::optional));
  options.tolerances = std::move(tolerances);
  return options;
}

using Rows = std::vector<std::vector<double>>;

PairedRuns runs_of(const std::string& name, const PairedOptions& options, const Rows& rows) {
  std::vector<Index> recorded;
  for (std::size_t k = 1; k <= rows.front().size(); ++k) recorded.push_back(static_cast<Index>(k));
  PairedRuns runs(name, recorded, options);
  for (const std::vector<double>& row : rows) runs.add_run(row.data());
  return runs;
}

/// Residuals scale * rate^k on the same problems.
Rows decaying_rows(double rate, Index problems) {
  Rows rows;
  for (Index i = 0; i < problems; ++i) {
    RandomStream random(3, "paired problems", static_cast<std::uint64_t>(i));
    const double scale = std::exp(random.normal());
    std::vector<double>& row = rows.emplace_back();
    for (int k = 1; k <= 12; ++k) row.push_back(scale * std::pow(rate, k));
  }
  return rows;
}

TEST(PairedComparison, CountsOnWhichProblemsEachSucceeds) {
  const PairedOptions options = declared({"below 0.5 after 2", "at most 0.5 within 2"}, {0.5});
  const Rows first{{1, 0.4, 0.3}, {1, 0.5, 0.4}, {1, 1, 1}, {0.1, 0.1, NAN}, {0.4, 0.6, 0.1}};
  const Rows second{{1, 1, 0.3}, {0.4, 0.4, 0.4}, {1, INFINITY, 0.1}, {0.1, 0.1, 0.1}, {0.1, 0.1, 0.1}};
  const PairedComparison found =
      compare_paired(runs_of("x", options, first), runs_of("y", options, second), options);
  EXPECT_EQ(found.pairs, 5);
  const PairedSuccess& after = found.success[0];
  EXPECT_EQ((std::vector<Index>{after.both, after.only_a, after.only_b, after.neither}),
            (std::vector<Index>{1, 1, 2, 1}));
  const PairedSuccess& within = found.success[1];
  EXPECT_EQ((std::vector<Index>{within.both, within.only_a, within.only_b, within.neither}),
            (std::vector<Index>{1, 1, 2, 1}));
  // Settling times 2, 3, never, never, 3 and 3, 1, never, 1, 1.
  EXPECT_EQ(found.times[0].b_earlier, 3);
  EXPECT_EQ(found.times[0].a_earlier, 1);
  EXPECT_EQ(found.times[0].ties, 1);
}

TEST(PairedComparison, RatiosAreOrderStatisticsOfOneNumberPerProblem) {
  const PairedOptions options = declared({}, {1e-2});
  const Rows slow = decaying_rows(0.45, 400);
  const Rows fast = decaying_rows(0.2, 400);
  const PairedRuns a = runs_of("slow", options, slow);
  const PairedRuns b = runs_of("fast", options, fast);
  const PairedComparison found = compare_paired(a, b, options);
  EXPECT_NEAR(found.delta_each, 0.01 / 6, 1e-12);
  std::vector<double> ratios;
  for (Index i = 0; i < 400; ++i) {
    const auto settle = [](const std::vector<double>& row) {
      Index step = static_cast<Index>(row.size()) + 1;
      while (step > 1 && row[static_cast<std::size_t>(step) - 2] < 1e-2) --step;
      return step > static_cast<Index>(row.size()) ? INFINITY : static_cast<double>(step);
    };
    const double of_a = settle(slow[static_cast<std::size_t>(i)]);
    const double of_b = settle(fast[static_cast<std::size_t>(i)]);
    ratios.push_back(of_b == INFINITY ? INFINITY : of_b / of_a);
  }
  std::ranges::sort(ratios);
  const PairedRatio& most = found.times[0].ratios[1];
  EXPECT_EQ(most.rank, bounds::order_statistic_rank(400, 0.9, found.delta_each));
  EXPECT_NEAR(most.b_over_a.value, ratios[static_cast<std::size_t>(most.rank - 1)], 1e-15);
  EXPECT_LT(most.b_over_a.value, 1);
  EXPECT_GT(most.a_over_b.value, 1);
  EXPECT_NEAR(found.times[0].share_b_earlier,
              1 - bounds::clopper_pearson_upper(400 - found.times[0].b_earlier, 400, found.delta_each),
              1e-12);
  EXPECT_TRUE(std::ranges::any_of(paired_sentences(found), [](const std::string& sentence) {
    return contains(sentence, "on at least 90 % of problems fast needs at most ") &&
           contains(sentence, " times the iterations of slow until it stays below 1e-2");
  }));
}

TEST(PairedComparison, ShowsWhoIsBetterByTheSignTest) {
  const PairedOptions options = declared({"below 0.5 after 1"});
  const auto of = [&](Index only_a, Index only_b, Index both) {
    Rows first;
    Rows second;
    for (Index i = 0; i < only_a + only_b + both; ++i) {
      first.push_back({i < only_a || i >= only_a + only_b ? 0.1 : 1});
      second.push_back({i >= only_a ? 0.1 : 1});
    }
    return compare_paired(runs_of("old", options, first), runs_of("new", options, second), options);
  };
  // Four bounds share delta = 0.01: 2^-9 <= 0.0025 < 2^-8.
  EXPECT_EQ(of(0, 8, 100).success[0].verdict, PairedVerdict::not_shown);
  EXPECT_EQ(of(0, 9, 100).success[0].verdict, PairedVerdict::b_is_better);
  EXPECT_EQ(of(9, 0, 1000).success[0].verdict, PairedVerdict::a_is_better);
  EXPECT_TRUE(contains(to_text(of(0, 9, 100)), "the success rate of new is higher than that of old"));
  EXPECT_TRUE(contains(to_text(of(1, 1, 100)), "Nothing is shown either way."));
}

TEST(PairedComparison, DecidesWhetherTheSecondIsWorseThanAllowed) {
  PairedOptions options = declared({"below 0.5 after 1"});
  options.allow = 0.02;
  const auto of = [&](Index only_a, Index only_b, Index both) {
    Rows first;
    Rows second;
    for (Index i = 0; i < only_a + only_b + both; ++i) {
      first.push_back({i < only_a || i >= only_a + only_b ? 0.1 : 1});
      second.push_back({i >= only_a ? 0.1 : 1});
    }
    return compare_paired(runs_of("old", options, first), runs_of("new & <fast>", options, second), options);
  };
  const PairedComparison good = of(0, 0, 600);
  EXPECT_EQ(decision_of_all(good), Decision::not_worse);
  EXPECT_TRUE(
      contains(to_text(good), "new & <fast> is not worse than old by more than the allowed 2 points"));
  EXPECT_TRUE(contains(junit_text(good), "tests=\"1\" failures=\"0\" errors=\"0\" skipped=\"0\""));
  EXPECT_TRUE(contains(junit_text(good), "new &amp; &lt;fast&gt;"));
  const PairedComparison bad = of(60, 2, 300);
  EXPECT_EQ(decision_of_all(bad), Decision::worse);
  EXPECT_TRUE(
      contains(junit_text(bad), "<failure message=\"new &amp; &lt;fast&gt; is worse than old by more"));
  EXPECT_TRUE(contains(markdown_text(bad), "| below 0.5 after 1 | 60 | 2 |"));
  const PairedComparison open = of(1, 1, 100);
  EXPECT_EQ(decision_of_all(open), Decision::undecided);
  ASSERT_TRUE(open.success[0].needed.has_value());
  const Index needed = *open.success[0].needed;
  EXPECT_GT(needed, 102);
  // Twice what is said is enough if the counts grow in proportion.
  EXPECT_EQ(decision_of_all(of(2 * needed / 102, 2 * needed / 102, 2 * needed - 4 * needed / 102)),
            Decision::not_worse);
  EXPECT_TRUE(contains(junit_text(open), "<skipped message=\"undecided whether"));
  const auto json = nlohmann::ordered_json::parse(to_json(open));
  EXPECT_EQ(json["decision"], "undecided");
  EXPECT_EQ(json["success"][0]["pairs_needed"], needed);
}

// Up to ten million problems are asked, also where the next doubling would be more.
TEST(PairedComparison, SaysHowManyProblemsWouldDecideUpToTenMillion) {
  const auto of = [](Index pairs, Index less) {
    PairedComparison comparison;
    comparison.a = "old";
    comparison.b = "new";
    comparison.pairs = pairs;
    comparison.delta = 0.01;
    comparison.allow = 0.01;
    comparison.success.emplace_back();
    comparison.success.front().claim = parse_claim("below 0.5 after 1", ShareIs::optional);
    comparison.success.front().only_a = less;
    comparison.success.front().both = pairs - less;
    conclude(comparison);
    return comparison;
  };
  constexpr Index pairs = 6'000'000;
  Index less = 60000;  // exactly what is allowed is never decided
  while (!of(pairs, less).success.front().needed) less -= 50;
  const PairedComparison near = of(pairs, less);
  EXPECT_EQ(near.success.front().decision, Decision::undecided);
  EXPECT_GT(*near.success.front().needed, pairs);
  EXPECT_LE(*near.success.front().needed, most_pairs_needed);
  EXPECT_TRUE(contains(to_text(near), "problems in all would decide"));
  EXPECT_TRUE(contains(to_text(of(pairs, 60000)), "no number of problems up to ten million would decide"));
  const PairedComparison many = of(20'000'000, 200000);
  EXPECT_FALSE(many.success.front().needed.has_value());
  EXPECT_TRUE(contains(to_text(many),
                       "it is not said how many problems would decide, where there are ten million already"));
}

TEST(PairedComparison, EscapesNamesInMarkdown) {
  const PairedOptions options = declared({"below 0.5 after 1"});
  const Rows rows(200, std::vector<double>{0.1});
  const Rows worse(200, std::vector<double>{1});
  const std::string text =
      markdown_text(compare_paired(runs_of("a|b", options, worse), runs_of("c", options, rows), options));
  EXPECT_TRUE(contains(text, "| success | a\\|b alone | c alone |")) << text;
}

PairedComparison paired_scalars(const std::vector<double>& first, const std::vector<double>& second,
                                PairedOptions options = {}) {
  options.scalar = true;
  options.metric = "runtime";
  PairedRuns a("old", {0}, options);
  PairedRuns b("new", {0}, options);
  for (const double value : first) a.add_run(&value);
  for (const double value : second) b.add_run(&value);
  return compare_paired(a, b, options);
}

TEST(PairedComparison, ComparesOneNumberPerProblem) {
  std::vector<double> first;
  std::vector<double> second;
  for (int i = 1; i <= 200; ++i) {
    first.push_back(i);
    second.push_back(i <= 195 ? 0.5 * i : 3.0 * i);
  }
  first[0] = NAN;
  const PairedComparison found = paired_scalars(first, second, declared({"at most 50"}));
  EXPECT_EQ(found.success[0].only_b, 51) << "51 .. 100, and the one that fails";
  ASSERT_EQ(found.times.size(), 1U);
  EXPECT_EQ(found.times[0].b_earlier, 195);
  EXPECT_EQ(found.times[0].a_earlier, 5);
  EXPECT_EQ(found.times[0].ratios[1].b_over_a.value, bounds::up(0.5));
  const std::string text = to_text(found);
  EXPECT_TRUE(contains(text, "on at least 90 % of problems new takes at most 0.501 times the runtime of old"))
      << text;
  EXPECT_TRUE(contains(text, "new takes strictly less runtime than old")) << text;
  EXPECT_INPUT_ERROR(paired_scalars({1, -1}, {1, 1}), "old: problem 2 has -1; ratios are of numbers");
  EXPECT_INPUT_ERROR(paired_scalars({1}, {1}, declared({"below 1 after 3"})), "is about iterations");
}

TEST(PairedComparison, AtEveryNumberOfProblemsItTakesMoreToShow) {
  PairedOptions options = declared({"below 1e-2 after 6"}, {1e-2});
  const Rows slow = decaying_rows(0.45, 400);
  const Rows fast = decaying_rows(0.3, 400);
  const PairedComparison fixed =
      compare_paired(runs_of("slow", options, slow), runs_of("fast", options, fast), options);
  options.anytime = true;
  const PairedComparison anytime =
      compare_paired(runs_of("slow", options, slow), runs_of("fast", options, fast), options);
  EXPECT_NEAR(anytime.delta_each, 0.01 / 8, 1e-12) << "no sign test is paid for";
  EXPECT_EQ(anytime.times[0].ratios[1].rank,
            bounds::rank_of_method(400, 0.9, anytime.delta_each, bounds::RiskMethod::anytime));
  EXPECT_GT(anytime.times[0].ratios[1].rank, fixed.times[0].ratios[1].rank - 1);
  EXPECT_EQ(anytime.success[0].verdict == PairedVerdict::b_is_better, anytime.success[0].lower > 0);
  EXPECT_TRUE(contains(to_text(anytime), "Problems may be added and looked at again."));
  EXPECT_FALSE(contains(to_text(fixed), "Problems may be added"));
}

TEST(PairedComparison, RefusesWhatIsNotPaired) {
  const PairedOptions options = declared({"below 0.5 after 1"});
  const PairedRuns two = runs_of("two", options, {{1, 1}, {2, 2}});
  EXPECT_INPUT_ERROR(compare_paired(two, runs_of("one", options, {{1, 1}}), options),
                     "two has 2 problems and one has 1: pairs are runs of the same problems");
  EXPECT_INPUT_ERROR(compare_paired(two, runs_of("long", options, {{1, 1, 1}, {1, 1, 1}}), options),
                     "two records steps 1 .. 2 and long 1 .. 3");
  EXPECT_INPUT_ERROR(runs_of("x", declared({"below 1 after 7"}), {{1, 1}}),
                     "iteration 7 of x was not recorded");
  EXPECT_INPUT_ERROR(declared({"below 1"}).validate(), "does not say 'after K' or 'within K'");
  EXPECT_INPUT_ERROR(declared({"90% below 1 after 1"}).validate(), "has a share");
  EXPECT_INPUT_ERROR(declared({}).validate(), "there is no claim and no tolerance");
  PairedOptions wrong = options;
  wrong.allow = 1.5;
  EXPECT_INPUT_ERROR(wrong.validate(), "allow: 1.5 is outside [0, 1)");
  wrong = options;
  wrong.delta = 0;
  EXPECT_INPUT_ERROR(wrong.validate(), "delta of the comparison: 0 is outside (0, 1)");
  wrong = declared({}, {1, 0.5});
  EXPECT_INPUT_ERROR(wrong.validate(), "tolerances: 0.5 does not follow 1");
  wrong = declared({}, {1});
  wrong.shares = {1.0};
  EXPECT_INPUT_ERROR(wrong.validate(), "shares: 1 is outside (0, 1)");
}

TEST(PairedComparison, DefaultClaimsDependOnTheShapeAlone) {
  std::vector<Index> recorded;
  for (Index k = 1; k <= 150; ++k) recorded.push_back(k);
  std::vector<std::string> claims;
  for (const ClaimText& claim : default_paired_claims({1e-2}, recorded)) claims.push_back(to_text(claim));
  EXPECT_EQ(claims, (std::vector<std::string>{"below 1e-2 after 38", "below 1e-2 after 75",
                                              "below 1e-2 after 113", "below 1e-2 after 150"}));
  EXPECT_EQ(default_paired_claims({1e-2}, {5}).size(), 1U);
}

}  // namespace
}  // namespace surefoot::certify
