#include "surefoot/certify/ask.hpp"

#include "surefoot/bounds/band.hpp"

#include "support/contains.hpp"
#include "support/input_error.hpp"
#include "support/kind_check.hpp"

#include <algorithm>

namespace surefoot::certify {
namespace {

using test::contains;

Certificate asked_certificate(Choice choose = Choice::both) {
  Options options;
  options.choose = choose;
  return test::kinds_example({"success", "quantile", "budget"}, options).certificate;
}

/// The best share for a value at a step or from it on, by trying every claim.
double slow_share(const Certificate& certificate, double value, Index step, bool onward) {
  double best = 0;
  for (const BandClaim& claim : certificate.bands) {
    const bool fits = claim.of == band_onward ? claim.step <= step : !onward && claim.step == step;
    if (claim.variant != 0 || !fits) continue;
    for (const BandPoint& point : points_of(claim))
      if (point.value < value)
        best = std::max(best, bounds::band_share(claim.samples, point.rank, claim.level));
  }
  for (const SuccessClaim& claim : certificate.success)
    if (claim.variant == 0 && !onward && claim.step == step && claim.tolerance <= value)
      best = std::max(best, claim.lower_bound);
  for (const QuantileClaim& claim : certificate.quantile)
    if (claim.variant == 0 && !onward && claim.step == step && claim.upper_bound < value)
      best = std::max(best, claim.quantile);
  for (const BudgetClaim& claim : certificate.budget)
    if (claim.variant == 0 && claim.steps && *claim.steps <= step && claim.tolerance <= value)
      best = std::max(best, claim.quantile);
  return best;
}

TEST(Ask, GivesTheBestShareThatAnyClaimImplies) {
  const Certificate certificate = asked_certificate();
  for (const double value : {0.003, 0.02, 0.1, 0.37, 1.0, 5.0}) {
    for (Index step = 1; step <= 8; ++step) {
      for (const bool onward : {false, true}) {
        const std::string claim = fmt::format("below {} {} {}", value, onward ? "within" : "after", step);
        const Answer answer = ask(certificate, claim, "a").front();
        const double share = slow_share(certificate, value, step, onward);
        EXPECT_EQ(answer.holds, share > 0) << claim;
        if (share > 0) {
          EXPECT_EQ(*answer.claim.share, share) << claim;
        }
      }
    }
  }
}

TEST(Ask, SaysTheSentenceWithItsProofOrWhatHoldsInstead) {
  const Certificate certificate = asked_certificate();
  const std::vector<Answer> answers = ask(certificate, "60% below 0.37 within 4");
  ASSERT_EQ(answers.size(), 2U);
  EXPECT_TRUE(answers.front().holds);
  EXPECT_TRUE(
      contains(answers.front().sentence,
               "With confidence 0.99, for a: the metric of at least 60 % of new problems is below 0.37 "
               "after 4 iterations and stays below it (up to iteration 8)."))
      << answers.front().sentence;
  EXPECT_TRUE(contains(answers.front().proof, "of 200 samples")) << answers.front().proof;
  const Answer no = ask(certificate, "99.9% below 0.01 after 3", "b").front();
  EXPECT_FALSE(no.holds);
  EXPECT_TRUE(no.sentence.empty());
  EXPECT_TRUE(contains(to_text(certificate, no), "not certified for b: 99.9% below 1e-2 after 3"));
  EXPECT_TRUE(contains(to_text(certificate, no), "a share of 99.9 % needs ")) << to_text(certificate, no);
  const Answer late = ask(certificate, "50% below 1 after 9", "a").front();
  EXPECT_TRUE(contains(to_text(certificate, late), "nothing is recorded after iteration 8"));
}

TEST(Ask, WhatHoldsInsteadHolds) {
  const Certificate certificate = asked_certificate();
  const Answer no = ask(certificate, "90% below 0.05 after 3", "a").front();
  ASSERT_FALSE(no.holds);
  ASSERT_FALSE(no.but.empty());
  const Facts facts(certificate);
  ClaimText claim = parse_claim("90% below 0.05 after 3");
  const Fact* value = facts.best_value(0, claim);
  ASSERT_NE(value, nullptr);
  EXPECT_TRUE(ask(certificate, fmt::format("90% at most {} after 3", value->value), "a").front().holds);
  EXPECT_FALSE(
      ask(certificate, fmt::format("90% below {} after 3", value->value * 0.999), "a").front().holds);
}

TEST(Ask, FindsTheFewestStepsWhereNoneAreNamed) {
  const Certificate certificate = asked_certificate();
  const Answer answer = ask(certificate, "80% below 0.37", "a").front();
  ASSERT_TRUE(answer.holds);
  EXPECT_EQ(answer.claim.when, ClaimText::When::within);
  EXPECT_TRUE(
      ask(certificate, fmt::format("80% below 0.37 within {}", answer.claim.step), "a").front().holds);
  EXPECT_FALSE(
      ask(certificate, fmt::format("80% below 0.37 within {}", answer.claim.step - 1), "a").front().holds);
}

TEST(Ask, OfDeclaredClaimsAloneTakesThese) {
  const Certificate certificate = asked_certificate(Choice::before);
  EXPECT_TRUE(ask(certificate, "50% below 1 within 5", "a").front().holds);
  EXPECT_FALSE(ask(certificate, "60% below 0.37 within 4", "a").front().holds);
}

TEST(Ask, RefusesWhereClaimsDoNotHoldTogether) {
  Options options;
  options.simultaneous = Simultaneity::each;
  const Certificate certificate = test::kinds_example({"success"}, options).certificate;
  EXPECT_INPUT_ERROR(ask(certificate, "50% below 1"), "holds alone");
  EXPECT_INPUT_ERROR(ask(asked_certificate(), "50% below 1", "c"), "no variant 'c'");
  EXPECT_INPUT_ERROR(ask(asked_certificate(), "50% above 1"), "'above'");
}

}  // namespace
}  // namespace surefoot::certify
