// The words of a certificate: what they say, and that a wording stays as it is.
#include "surefoot/certify/sentences.hpp"

#include "surefoot/certify/assumptions.hpp"
#include "surefoot/certify/certificate_json.hpp"
#include "surefoot/core/number_text.hpp"
#include "surefoot/io/atomic_file.hpp"

#include "support/contains.hpp"
#include "support/input_error.hpp"
#include "support/synthetic_certificate.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <string>
#include <vector>

namespace surefoot::certify {
namespace {

using bounds::BudgetMethod;
using test::contains;
using test::synthetic_certificate;

std::string all_of(const std::vector<std::string>& lines) {
  std::string text;
  for (const std::string& line : lines) text += line + '\n';
  return text;
}

TEST(Statements, AreCompleteInThemselves) {
  for (const int variants : {1, 2}) {
    const Certificate certificate = synthetic_certificate({.variants = variants});
    const std::vector<std::string> statements = statements_of(certificate);
    ASSERT_GE(statements.size(), 3U * static_cast<std::size_t>(variants));
    for (const std::string& statement : statements) {
      EXPECT_TRUE(statement.starts_with("With confidence 0.99, ")) << statement;
      EXPECT_TRUE(contains(statement, "the fixed-point residual of at least ")) << statement;
      EXPECT_TRUE(contains(statement, " % of new problems is ")) << statement;
      EXPECT_TRUE(statement.ends_with(".")) << statement;
      EXPECT_EQ(contains(statement, "for cold start: ") || contains(statement, "for warm start: "),
                variants > 1)
          << statement;
    }
    EXPECT_TRUE(contains(all_of(statements), " and stays below it (up to iteration 100)."))
        << all_of(statements);
  }
}

TEST(Statements, NeverSayStayWithoutAHorizon) {
  for (const BudgetMethod method :
       {BudgetMethod::settling, BudgetMethod::every_step, BudgetMethod::first_hit}) {
    Certificate certificate = synthetic_certificate({.variants = 2});
    for (BudgetClaim& claim : certificate.budget) claim.method = method;
    std::vector<std::string> lines = statements_of(certificate);
    for (const Headline::Group& group : headline(certificate).groups)
      lines.insert(lines.end(), group.claims.begin(), group.claims.end());
    for (const BudgetClaim& claim : certificate.budget) lines.push_back(quotable(certificate, claim));
    lines.push_back(summary_sentence(certificate));
    for (const std::string& line : lines) {
      const bool lasts = contains(line, " stay") || contains(line, "each later");
      EXPECT_EQ(lasts, contains(line, "(up to iteration 100)")) << line;
      EXPECT_FALSE(contains(line, "stay there") || contains(line, "stays there")) << line;
    }
  }
}

/// Every line that says how long a claim lasts.
std::vector<std::string> lines_on_staying(const Certificate& certificate) {
  std::vector<std::string> lines = statements_of(certificate);
  for (const Headline::Group& group : headline(certificate).groups)
    lines.insert(lines.end(), group.claims.begin(), group.claims.end());
  for (const BudgetClaim& claim : certificate.budget) lines.push_back(quotable(certificate, claim));
  lines.push_back(summary_sentence(certificate));
  lines.push_back(budget_meaning(certificate));
  std::erase_if(lines, [](const std::string& line) { return !contains(line, " stay"); });
  return lines;
}

TEST(Statements, SayAtRecordedIterationsWhereStepsHaveGaps) {
  Certificate certificate = synthetic_certificate({.variants = 1});
  for (const std::string& line : lines_on_staying(certificate))
    EXPECT_FALSE(contains(line, "every recorded")) << line;
  set_recorded_steps(certificate.variants[0], {10, 20, 50, 100});
  ASSERT_FALSE(certificate.variants[0].recorded_steps.empty());
  EXPECT_GE(lines_on_staying(certificate).size(), 8U);
  for (const std::string& line : lines_on_staying(certificate))
    EXPECT_TRUE(contains(line, " below it at every recorded iteration (up to iteration 100)")) << line;
  certificate.variants[0].recorded_steps.clear();  // format 1 says only how many they are
  EXPECT_TRUE(contains(budget_meaning(certificate), "at every recorded iteration"));
}

TEST(Statements, SayNothingOfStayingWhereOneStepWasRecorded) {
  Certificate certificate = synthetic_certificate({.variants = 1, .steps = 1});
  certificate.budget.resize(1);
  certificate.budget[0].steps = 1;
  certificate.budget[0].method = BudgetMethod::settling;
  std::vector<std::string> lines = statements_of(certificate);
  lines.push_back(quotable(certificate, certificate.budget[0]));
  lines.push_back(budget_meaning(certificate));
  const std::vector<std::string> says = what_it_says(certificate);
  lines.insert(lines.end(), says.begin(), says.end());
  EXPECT_FALSE(contains(all_of(lines), " stay")) << all_of(lines);
}

TEST(Statements, NeverQuoteANumberOnTheFavourableSide) {
  Certificate certificate = synthetic_certificate({.variants = 1, .decibel = true});
  certificate.delta = 1e-7;
  certificate.tolerances = {-8.685889638065037};
  certificate.budget.resize(1);
  certificate.budget[0].tolerance = -8.685889638065037;
  certificate.budget[0].steps = 7;
  certificate.budget[0].method = BudgetMethod::settling;
  const std::string text = all_of(statements_of(certificate));
  EXPECT_TRUE(contains(text, "With confidence 0.9999999, ")) << text;
  EXPECT_TRUE(contains(text, "below -8.68 dB")) << text;
}

TEST(Statements, SayThatThereIsNoGuarantee) {
  Certificate certificate = synthetic_certificate({.variants = 2});
  certificate.success.clear();
  certificate.quantile.clear();
  certificate.budget.clear();
  EXPECT_EQ(
      statements_of(certificate),
      (std::vector<std::string>{
          "At confidence 0.99 these samples give no guarantee on the fixed-point residual for cold start.",
          "At confidence 0.99 these samples give no guarantee on the fixed-point residual for warm start."}));
}

TEST(Statements, OfClaimsThatHoldOneByOneDoNotCoverPicking) {
  const Certificate certificate = synthetic_certificate({.variants = 1, .simultaneous = Simultaneity::each});
  for (const std::string& statement : statements_of(certificate))
    EXPECT_TRUE(contains(statement, "for this claim alone, had it been chosen in advance, ")) << statement;
}

TEST(Summary, NamesTheVariantItIsAbout) {
  const std::string text = summary_sentence(synthetic_certificate({.variants = 2}));
  EXPECT_TRUE(contains(text, "for cold start: ") || contains(text, "for warm start: ")) << text;
}

TEST(Notes, GiveNoAdviceThatBreaksTheGuarantee) {
  Certificate certificate = synthetic_certificate({.variants = 1});
  certificate.budget[0].steps.reset();
  const std::string note = note_on_no_guarantee(certificate);
  EXPECT_TRUE(contains(note, "take a new set of samples")) << note;
  EXPECT_FALSE(contains(note, "More samples") || contains(note, "looser")) << note;
}

TEST(Wording, OfTheFirstIsKeptToTheLetter) {
  std::size_t seen = 0;
  for (const auto& entry :
       std::filesystem::directory_iterator(SUREFOOT_SOURCE_DIR "/tests/certificates/v1")) {
    if (entry.path().extension() != ".json") continue;
    const Certificate certificate =
        parse_certificate(io::read_file(entry.path(), std::size_t{1} << 24)).certificate;
    EXPECT_EQ(assumptions_of(certificate, 1), certificate.assumptions) << entry.path();
    EXPECT_TRUE(statements_of(certificate, 1).empty());
    ++seen;
  }
  EXPECT_GE(seen, 14U);
}

TEST(Wording, OfTheSecondSaysIndependentAndIdenticallyDistributed) {
  Certificate with_budget;
  with_budget.budget.emplace_back();
  const std::string words = all_of(assumptions_of(with_budget, 2));
  EXPECT_TRUE(contains(words, "independent and identically distributed")) << words;
  EXPECT_TRUE(contains(words, "The number of samples")) << words;
  EXPECT_TRUE(contains(words, "up to the last recorded one; it says nothing about later steps")) << words;
  EXPECT_FALSE(contains(words, "fresh")) << words;
  const Certificate certificate = synthetic_certificate({.variants = 1});
  EXPECT_TRUE(contains(all_of(what_it_says(certificate)), "independent and identically distributed"));
  EXPECT_TRUE(contains(all_of(what_it_does_not_say(certificate)), "independent and identically distributed"));
}

TEST(Wording, ThatIsNotKnownIsRefusedByItsNumber) {
  for (const int wording : {0, current_wording + 1}) {
    const std::string named = "wording: " + std::to_string(wording);
    EXPECT_TRUE(contains(test_support::input_error([&] { (void)statements_of({}, wording); }), named));
    EXPECT_TRUE(
        contains(test_support::input_error([&] { (void)assumptions_of(Certificate{}, wording); }), named));
    EXPECT_TRUE(contains(test_support::input_error([&] { (void)learned_assumptions({}, wording); }), named));
  }
}

TEST(LackOfSamples, SaysHowManyRunsTheLargestShareNeeds) {
  Certificate certificate;
  EXPECT_EQ(lack_of_samples(certificate), "");
  QuantileClaim claim;
  claim.quantile = 0.99;
  claim.samples = 300;
  claim.delta = 0.01;
  certificate.quantile.push_back(claim);
  EXPECT_EQ(lack_of_samples(certificate), "A share of 99 % needs 459 runs without failure, you have 300.");
  EXPECT_TRUE(
      contains(note_on_no_guarantee(certificate), "needs 459 runs without failure, you have 300. \"-\""));
  certificate.quantile.front().rank = 299;
  EXPECT_EQ(lack_of_samples(certificate), "");
}

}  // namespace
}  // namespace surefoot::certify
