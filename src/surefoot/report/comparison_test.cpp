#include "surefoot/report/comparison.hpp"

#include "support/contains.hpp"
#include "support/synthetic_certificate.hpp"
#include "support/temporary_folder.hpp"

#include <gtest/gtest.h>

#include <filesystem>
#include <string>

namespace surefoot::report {
namespace {

using test::contains;
using test::synthetic_certificate;

/// A budget that A is shown to reach earlier, by method and with horizons of the variants.
struct BudgetCase {
  BudgetCase(bounds::BudgetMethod method, Index horizon_a, Index horizon_b) {
    const auto record = [](Compared& side, Index horizon) {
      side.certificate.variants[0].last_step = side.certificate.variants[0].columns = horizon;
    };
    record(a, horizon_a);
    record(b, horizon_b);
    pair.budget = {{1e-3, 0.9, method, {std::nullopt, 20}, {50, 60}, certify::Verdict::a_is_better}};
  }
  [[nodiscard]] std::string sentence() const { return verdict_sentences(a, b, pair, true).at(0); }

  Compared a{"a.json", "", synthetic_certificate({.variants = 1})};
  Compared b{"b.json", "", synthetic_certificate({.variants = 1})};
  certify::VariantComparison pair;
};

TEST(ComparisonWords, SayUpToWhichIterationBudgetsLast) {
  using bounds::BudgetMethod;
  EXPECT_EQ(
      BudgetCase(BudgetMethod::settling, 100, 100).sentence(),
      "cold start (a.json) needs fewer iterations than cold start (b.json) until 90 % of problems are below 1e-3 and stay below it (up to "
      "iteration 100): at most 20 against more than 50");
  EXPECT_TRUE(contains(BudgetCase(BudgetMethod::settling, 100, 300).sentence(),
                       "(cold start (a.json): up to iteration 100, cold start (b.json): up to 300)"));
  EXPECT_TRUE(contains(BudgetCase(BudgetMethod::every_step, 100, 100).sentence(),
                       "at each later recorded iteration (up to iteration 100)"));
  EXPECT_FALSE(contains(BudgetCase(BudgetMethod::first_hit, 100, 100).sentence(), "stay"));
  const BudgetCase settled(BudgetMethod::settling, 100, 100);
  EXPECT_TRUE(contains(to_latex(compared_budget_table(settled.a, settled.b, settled.pair)),
                       "stays below it (up to iteration 100)"));
}

TEST(ComparisonWords, SayAtRecordedIterationsWhereStepsHaveGaps) {
  for (const bool of_a : {true, false}) {
    BudgetCase compared(bounds::BudgetMethod::settling, 100, 100);
    (of_a ? compared.a : compared.b).certificate.variants[0].columns = 10;
    EXPECT_TRUE(
        contains(compared.sentence(), " stay below it at every recorded iteration (up to iteration 100)"))
        << compared.sentence();
    EXPECT_TRUE(contains(to_markdown(compared_budget_table(compared.a, compared.b, compared.pair)),
                         "stays below it at every recorded iteration (up to iteration 100)"));
  }
}

/// A is better at steps 3 .. 50 of 60, with its widest margin at step 40.
certify::Comparison better_at_many_steps(bool together) {
  certify::Comparison comparison;
  comparison.together = together;
  comparison.delta = 0.03;
  certify::VariantComparison& pair = comparison.pairs.emplace_back();
  for (Index step = 1; step <= 60; ++step) {
    const bool shown = step >= 3 && step <= 50;
    const double low = !shown ? 0.1 : step == 40 ? 0.9 : 0.8;
    pair.success.push_back(
        {step, 0.1, {low, 1}, {0, 0.5}, shown ? certify::Verdict::a_is_better : certify::Verdict::not_shown});
  }
  return comparison;
}

TEST(ComparisonWords, QuoteARangeOfIterationsWhereAllHoldTogetherOnly) {
  const Compared a{"a.json", "", synthetic_certificate({.variants = 1})};
  const Compared b{"b.json", "", synthetic_certificate({.variants = 1})};
  const certify::Comparison all = better_at_many_steps(true);
  EXPECT_EQ(
      verdict_sentences(a, b, all.pairs[0], true),
      std::vector<std::string>{
          "cold start (a.json) has more problems below 0.1 than cold start (b.json) at each compared iteration from 3 to "
          "50: at least 90.0 % against at most 50.0 % after 40"});
  const certify::Comparison each = better_at_many_steps(false);
  const std::vector<std::string> alone = verdict_sentences(a, b, each.pairs[0], false);
  EXPECT_EQ(alone.size(), 6U);  // of the nine iterations that tables show
  for (const std::string& sentence : alone) EXPECT_FALSE(contains(sentence, " each compared ")) << sentence;
  EXPECT_EQ(
      alone.front(),
      "cold start (a.json) has more problems below 0.1 than cold start (b.json) at iteration 8: at least 80.0 % against at most 50.0 % after 8");
  EXPECT_FALSE(contains(terminal_text(a, b, each), "each compared"));
  EXPECT_TRUE(contains(terminal_text(a, b, all), "each compared"));
  // A verdict at an iteration that tables do not show is not lost.
  certify::VariantComparison one = each.pairs[0];
  for (certify::SuccessComparison& cell : one.success)
    if (cell.step != 5) cell.verdict = certify::Verdict::not_shown;
  EXPECT_EQ(verdict_sentences(a, b, one, false).size(), 1U);
  EXPECT_TRUE(contains(verdict_sentences(a, b, one, false)[0], "at iteration 5:"));
}

TEST(ComparisonWords, AreConditionalWhereEitherCertificateIs) {
  for (const bool of_a : {true, false}) {
    BudgetCase compared(bounds::BudgetMethod::settling, 100, 100);
    EXPECT_TRUE(compared.sentence().starts_with("cold start (a.json) needs"));
    certify::Independence& checks =
        (of_a ? compared.a : compared.b).certificate.variants[0].independence.emplace();
    checks.allowed = true;
    EXPECT_TRUE(compared.sentence().starts_with("if the rows were independent, ") ||
                compared.sentence().starts_with("If the rows were independent, "))
        << compared.sentence();
    certify::Comparison comparison;
    comparison.delta = 0.03;
    comparison.pairs = {compared.pair};
    EXPECT_TRUE(contains(terminal_text(compared.a, compared.b, comparison),
                         "If the rows were independent, with confidence 0.97, all of these hold together"));
  }
}

TEST(ComparisonWords, NameTheVariantsAndNeverCallThemAOrB) {
  Compared old{"old.json", "", synthetic_certificate({.variants = 1})};
  Compared newer{"new.json", "", synthetic_certificate({.variants = 1})};
  newer.certificate.variants[0].name = "warm start";
  certify::Comparison comparison = better_at_many_steps(true);
  const std::string text = terminal_text(old, newer, comparison);
  EXPECT_TRUE(contains(text, "cold start has more problems below 0.1 than warm start at each compared"))
      << text;
  EXPECT_TRUE(
      contains(text, "Success rates: cold start is provably better in 48 of 60 cells, warm start in 0"));
  const Report report = comparison_report(old, newer, comparison);
  std::string page;
  for (const auto& file : report.files)
    if (file.name == "report.html") page = file.content;
  ASSERT_FALSE(page.empty());
  for (const std::string& said : {text, page.substr(0, page.find("<script"))})
    for (const char* letter : {" A ", " B ", ">A<", ">B<", "A: ", "B: ", "(A)", "(B)"})
      EXPECT_FALSE(contains(said, letter)) << letter;
}

TEST(RankingWords, NameTheBestOrSayThatItIsATie) {
  const certify::Certificate certificate = synthetic_certificate({.variants = 1});
  certify::Ranking ranking;
  ranking.claim = certify::parse_claim("below 0.01 after 30", certify::ShareIs::optional);
  ranking.delta = 0.02;
  ranking.variants = {{"warm", "c.json", {0.95, 0.99}, {}, bounds::BudgetMethod::settling, 1, 1},
                      {"cold", "c.json", {0.5, 0.6}, {}, bounds::BudgetMethod::settling, 2, 3},
                      {"lukewarm", "c.json", {0.55, 0.65}, {}, bounds::BudgetMethod::settling, 2, 3}};
  const std::string text = ranking_text(certificate, {ranking});
  EXPECT_TRUE(contains(text, "With confidence 0.98, all of this holds together.")) << text;
  EXPECT_TRUE(contains(text, "warm is the best.")) << text;
  EXPECT_TRUE(contains(text, "2 .. 3")) << text;
  EXPECT_TRUE(contains(ranking_json({ranking}), "\"best\": \"warm\""));
  ranking.variants[0].last = 2;
  ranking.variants[1].first = 1;
  EXPECT_TRUE(
      contains(ranking_text(certificate, {ranking}),
               "warm and cold are tied for the first place: these samples do not decide between them."));
  EXPECT_FALSE(contains(ranking_json({ranking}), "best"));
}

TEST(ComparisonReport, SaysWhichFiguresThePageLacks) {
  const test_support::TemporaryFolder folder;
  const std::string gnuplot = folder.write(
      "gnuplot",
      "#!/bin/sh\nscript=$(cat)\ncase $script in\n  *pdfcairo*) printf '%s\\n' \"$script\" | gnuplot \"$@\" "
      ";;\n  *) exit 1 ;;\nesac\n");
  std::filesystem::permissions(gnuplot, std::filesystem::perms::owner_all);
  const BudgetCase compared(bounds::BudgetMethod::settling, 100, 100);
  certify::Comparison comparison;
  comparison.delta = 0.03;
  comparison.pairs = {compared.pair};
  EXPECT_TRUE(comparison_report(compared.a, compared.b, comparison).notices.empty());
  EXPECT_FALSE(comparison_report(compared.a, compared.b, comparison, {.gnuplot = gnuplot}).notices.empty());
}

}  // namespace
}  // namespace surefoot::report
