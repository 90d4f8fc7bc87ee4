#include "surefoot/report/table.hpp"

#include "surefoot/certify/kinds/claim_kind.hpp"
#include "surefoot/certify/sentences.hpp"
#include "surefoot/report/curves.hpp"
#include "surefoot/report/series.hpp"
#include "surefoot/report/text.hpp"

#include "support/contains.hpp"
#include "support/synthetic_certificate.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <limits>
#include <sstream>

namespace surefoot::report {
namespace {

using certify::Certificate;
using certify::Headline;
using certify::Simultaneity;
using test::contains;
using test::synthetic_certificate;

std::size_t widest_line(const std::string& text) {
  std::size_t widest = 0;
  std::istringstream lines(text);
  for (std::string line; std::getline(lines, line);) widest = std::max(widest, display_width(line));
  return widest;
}

/// One variant, step and tolerance, with bounds as given.
Certificate tiny(double lower_bound, double upper_bound, std::optional<Index> steps) {
  Certificate certificate;
  certificate.steps = {231};
  certificate.tolerances = {1e-3};
  certificate.quantiles = {0.9};
  certificate.variants = {{"solver", "results.csv", "ab", 100, 500, 1, 500}};
  certificate.success = {{0, 231, 1e-3, bounds::RiskMethod::exact, 100, 1, 0.003, 0.99, lower_bound}};
  certificate.quantile = {
      {0, 231, 0.9, bounds::QuantileMethod::exact, 100, 95, 94, 95, 0.003, 5e-4, upper_bound}};
  certificate.budget = {
      {0, 1e-3, 0.9, bounds::BudgetMethod::settling, 100, 95, 95, 94, 0.003, Index{200}, steps}};
  return certificate;
}

TEST(Headline, IsASentenceToQuote) {
  const Headline lines = headline(tiny(0.98199, 5.001e-4, 231));
  EXPECT_EQ(lines.opening,
            "With confidence 0.99, all of these hold together for the metric of new problems:");
  ASSERT_EQ(lines.groups.size(), 1U);
  EXPECT_EQ(lines.groups[0].claims,
            (std::vector<std::string>{
                "at least 90 % of problems are below 1e-3 after 231 iterations and stay below it (up "
                "to iteration 500)",
                "after 231 iterations, at least 98.1 % of problems are below 1e-3",
                "after 231 iterations, at least 90 % of problems are at or below 5.01e-4"}));
}

TEST(Headline, SaysSoIfThereIsNoGuarantee) {
  const Headline lines = headline(tiny(0, infinity, std::nullopt));
  EXPECT_EQ(lines.groups[0].claims, std::vector<std::string>{"no guarantee from these samples"});
}

TEST(Headline, NeverQuotesABudgetThatTheConfidenceDoesNotCover) {
  Certificate certificate = tiny(0, infinity, 231);
  certificate.budget[0].method = bounds::BudgetMethod::paper;
  EXPECT_EQ(headline(certificate).groups[0].claims[0], "no guarantee from these samples");
  EXPECT_TRUE(contains(terminal_text(certificate), "paper*"));
  EXPECT_TRUE(contains(terminal_text(certificate), "231*"));
  EXPECT_TRUE(contains(terminal_text(certificate), "not covered by the confidence"));
}

TEST(Headline, KeepsClaimsApartIfTheyHoldOneByOne) {
  const auto certificate = synthetic_certificate({.simultaneous = Simultaneity::each});
  const Headline lines = headline(certificate);
  EXPECT_TRUE(lines.opening.starts_with(
      "Each of these, taken alone and had it been chosen in advance, holds with confidence 0.99"));
  for (const std::string& claim : lines.groups[0].claims) EXPECT_EQ(claim.find(" and 4"), std::string::npos);
  const auto says = what_it_says(certificate);
  EXPECT_TRUE(
      std::ranges::any_of(says, [](const auto& line) { return contains(line, "Each claim taken alone"); }));
}

TEST(Headline, WordsFirstHitsAndTheStart) {
  Certificate certificate = tiny(0.5, infinity, 1);
  certificate.budget[0].method = bounds::BudgetMethod::first_hit;
  certificate.steps = {0};
  certificate.success[0].step = 0;
  const auto claims = headline(certificate).groups[0].claims;
  EXPECT_EQ(claims[0], "at least 90 % of problems have been below 1e-3 at least once after 1 iteration");
  EXPECT_EQ(claims[1], "at the start, at least 50.0 % of problems are below 1e-3");
}

TEST(Headline, SaysUpToWhichIterationAClaimLasts) {
  using bounds::BudgetMethod;
  const auto claim = [](BudgetMethod method, Index columns, Index last) {
    Certificate certificate = tiny(0.5, infinity, 231);
    certificate.variants[0].columns = columns;
    certificate.variants[0].last_step = last;
    certificate.budget[0].method = method;
    return headline(certificate).groups[0].claims[0];
  };
  EXPECT_TRUE(claim(BudgetMethod::settling, 1500, 1500).ends_with("stay below it (up to iteration 1,500)"));
  EXPECT_TRUE(claim(BudgetMethod::settling, 500, 1500)
                  .ends_with("stay below it at every recorded iteration (up to iteration 1,500)"));
  EXPECT_TRUE(
      claim(BudgetMethod::every_step, 500, 500).ends_with("recorded iteration (up to iteration 500)"));
  // Nothing was recorded after it: nothing stays.
  for (const Index columns : {1, 231}) {
    EXPECT_TRUE(claim(BudgetMethod::settling, columns, 231).ends_with("below 1e-3 after 231 iterations"));
    EXPECT_TRUE(claim(BudgetMethod::every_step, columns, 231).ends_with("below 1e-3 after 231 iterations"));
  }
}

TEST(TerminalText, NeverSaysStayOfASingleColumn) {
  Certificate certificate = tiny(0.9, 1, 231);
  EXPECT_TRUE(
      contains(test::unwrapped(terminal_text(certificate)), "and stays below it (up to iteration 500)"));
  certificate.variants[0].columns = 1;
  certificate.variants[0].first_step = certificate.variants[0].last_step = 231;
  EXPECT_FALSE(contains(terminal_text(certificate), " stay")) << terminal_text(certificate);
  EXPECT_TRUE(contains(terminal_text(certificate), "Only one iteration was recorded"));
}

TEST(TerminalText, FitsOneHundredColumnsWithoutControlCodes) {
  for (const int variants : {1, 2, 4, 7}) {
    for (const bool decibel : {false, true}) {
      auto certificate =
          synthetic_certificate({.variants = variants, .decibel = decibel, .paper_budgets = true});
      certificate.variants[0].name = std::string(300, 'x') + "\x1b[2J";
      const std::string text = terminal_text(certificate);
      EXPECT_LE(widest_line(text), 100U) << variants;
      EXPECT_TRUE(
          std::ranges::all_of(text, [](char c) { return c == '\n' || static_cast<unsigned char>(c) >= 32; }));
    }
  }
}

TEST(TerminalText, PrintsADashForNoGuaranteeAndExplainsIt) {
  const std::string text = terminal_text(tiny(0, infinity, std::nullopt));
  EXPECT_TRUE(contains(text, "\"-\": not certifiable with this sample size"));
  EXPECT_TRUE(contains(text, "90 %        200          -"));
  EXPECT_FALSE(contains(terminal_text(tiny(0.9, 1, 231)), "not certifiable"));
}

TEST(TerminalText, AbridgesManyTolerances) {
  auto certificate = synthetic_certificate({.variants = 1, .steps = 3});
  certificate.tolerances.clear();
  certificate.success.clear();
  for (int i = 0; i < 81; ++i) {
    certificate.tolerances.push_back(1e-6 * (i + 1));
    certificate.success.push_back({0, 3, 1e-6 * (i + 1), bounds::RiskMethod::exact, 10, 1, 0.01, 0.9, 0.5});
  }
  EXPECT_TRUE(contains(terminal_text(certificate), "8 of 81 tolerances"));
}

TEST(Tables, ArePossibleWithoutAnything) {
  const Certificate nothing_at_all;
  EXPECT_FALSE(terminal_text(nothing_at_all).empty());
  EXPECT_EQ(certify::iteration_budgets().table(nothing_at_all, 0, {}).rows.size(), 0U);
}

TEST(Tables, SurviveNaN) {
  const double nan = std::numeric_limits<double>::quiet_NaN();
  Certificate certificate = tiny(nan, nan, std::nullopt);
  certificate.success[0].empirical = nan;
  certificate.quantile[0].empirical = infinity;
  certificate.success.push_back(certificate.success[0]);
  certificate.success.back().tolerance = nan;
  certificate.budget.push_back(certificate.budget[0]);
  certificate.budget.back().quantile = nan;
  const TextTable table = certify::quantiles().table(certificate, 0, certificate.steps);
  EXPECT_EQ(table.rows[0], (std::vector<std::string>{"231", "inf", "-"}));
  EXPECT_EQ(headline(certificate).groups[0].claims[0], "no guarantee from these samples");
  EXPECT_FALSE(contains(terminal_text(certificate), "nan"));
}

TEST(Tables, TellMethodsApartIfThereAreSeveral) {
  Certificate certificate = tiny(0.9, 1, 231);
  certificate.success.push_back(certificate.success[0]);
  certificate.success[1].method = bounds::RiskMethod::kl;
  certificate.success[1].lower_bound = 0.92;
  const TextTable table = certify::success_rates().table(certificate, 0, certificate.steps);
  ASSERT_EQ(table.columns.size(), 5U);
  EXPECT_EQ(table.columns[1].group, "below 1e-3, exact");
  EXPECT_EQ(table.columns[3].group, "below 1e-3, kl");
  EXPECT_EQ(table.rows[0][4], "92.0 %");
}

TEST(Tables, CarryTheUnit) {
  const auto certificate = synthetic_certificate({.variants = 1, .steps = 5, .decibel = true});
  EXPECT_EQ(certify::iteration_budgets().table(certificate, 0, {}).rows[0][0], "-10 dB");
  EXPECT_TRUE(contains(terminal_text(certificate), "NMSE (dB)"));
}

TEST(ShareTable, EndsWithTheTotal) {
  const TextTable table = share_table(synthetic_certificate());
  EXPECT_EQ(table.rows.back().front(), "total");
  EXPECT_EQ(table.rows.back().back(), "0.0100");
  EXPECT_EQ(share_table(synthetic_certificate({.simultaneous = Simultaneity::each})).columns.size(), 3U);
}

TEST(TellingSteps, KeepTheFirstAndTheLast) {
  Certificate certificate;
  for (Index k = 0; k <= 1000; ++k) certificate.steps.push_back(k);
  EXPECT_TRUE(acts_early(certificate));
  EXPECT_EQ(telling_steps(certificate, 4), (std::vector<Index>{0, 1, 10, 100, 1000}));
  certificate.success = {{0, 900, 1e-3, bounds::RiskMethod::exact, 100, 1, 0.003, 0.99, 0.9}};
  EXPECT_FALSE(acts_early(certificate));
  EXPECT_EQ(telling_steps(certificate, 3), (std::vector<Index>{0, 500, 1000}));
  certificate.steps = {7};
  EXPECT_EQ(telling_steps(certificate, 3), (std::vector<Index>{7}));
  certificate.steps.clear();
  EXPECT_TRUE(telling_steps(certificate, 3).empty());
}

TEST(CurvesCsv, HasALinePerClaimInFullPrecision) {
  Certificate certificate = tiny(0.1, infinity, 231);
  certificate.variants[0].name = "a,\"b\"";
  EXPECT_EQ(
      curves_csv(certificate),
      "kind,variant,step,tolerance_or_quantile,empirical,bound,method,samples,failures_or_rank,delta,condition\n"
      "success,\"a,\"\"b\"\"\",231,0.001,0.98999999999999999,0.10000000000000001,exact,100,1,0.0030000000000000001,\n"
      "quantile,\"a,\"\"b\"\"\",231,0.90000000000000002,0.00050000000000000001,inf,exact,100,95,0.0030000000000000001,\n");
}

}  // namespace
}  // namespace surefoot::report
