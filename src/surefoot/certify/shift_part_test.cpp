#include "surefoot/certify/shift_part.hpp"

#include "surefoot/certify/certificate_json.hpp"
#include "surefoot/certify/rollouts.hpp"
#include "surefoot/certify/sentences.hpp"
#include "surefoot/certify/verify.hpp"
#include "surefoot/problems/matrix.hpp"

#include "support/contains.hpp"
#include "support/input_error.hpp"
#include "support/kind_check.hpp"

#include <algorithm>
#include <cmath>

namespace surefoot::certify {
namespace {

using bounds::Divergence;
using test::contains;

Certificate shifted_certificate(const bounds::Shift& shift = {Divergence::kl, 0.02}) {
  Options options;
  options.choose = Choice::both;
  options.shift = shift;
  return test::kinds_example({"success", "quantile", "budget"}, options).certificate;
}

TEST(ShiftPart, IsAPartThatIsReadAndVerified) {
  const Certificate certificate = shifted_certificate();
  const std::string text = to_json(certificate);
  const ParsedCertificate parsed = parse_certificate(text);
  EXPECT_EQ(parsed.certificate.shift, certificate.shift);
  EXPECT_EQ(to_json(parsed.certificate), text);
  EXPECT_TRUE(verify(parsed).holds()) << verify(parsed).findings.front();
  auto body = nlohmann::ordered_json::parse(text);
  EXPECT_EQ(body["parts"].back(), "shift");
  const auto& claim = body["claims"]["success_rate"][0];
  EXPECT_EQ(claim["under_shift"].get<double>(),
            bounds::share_under_shift(claim["lower_bound"].get<double>(), {Divergence::kl, 0.02}));
  body["shift"]["radius"] = 0.01;
  EXPECT_FALSE(verify(parse_certificate(test::resealed(body))).holds());
  body["shift"]["radius"] = -1;
  EXPECT_INPUT_ERROR(parse_certificate(test::resealed(body)), "shift: kl -1");
}

TEST(ShiftPart, SentencesSayWhatIsLeftAndUnderWhat) {
  const Certificate certificate = shifted_certificate();
  const std::vector<std::string> statements = statements_of(certificate);
  Certificate without = certificate;
  without.shift.reset();
  const std::vector<std::string> plain = statements_of(without);
  for (const std::string& sentence : plain)
    EXPECT_EQ(std::ranges::count(statements, sentence), 1) << "what was said stays: " << sentence;
  const std::string words = "under any distribution within KL 0.02 of the one the problems were drawn from, ";
  EXPECT_EQ(std::ranges::count_if(statements, [&](const auto& each) { return contains(each, words); }),
            static_cast<long>(statements.size() - plain.size()));
  // 90 % of problems: 1 - sup{ q : kl(q || 0.1) <= 0.02 }, rounded down to a tenth.
  const double left = std::floor(1000 * bounds::share_under_shift(0.9, {Divergence::kl, 0.02})) / 10;
  const std::string budget = fmt::format(
      "With confidence 0.99, for a: {}the metric of at least {:g} % of new problems is below 1 after", words,
      left);
  EXPECT_TRUE(std::ranges::any_of(statements, [&](const auto& each) { return contains(each, budget); }))
      << budget;
  EXPECT_TRUE(contains(what_it_does_not_say(certificate).front(), words.substr(0, words.size() - 2)));
  EXPECT_TRUE(contains(certificate.assumptions.back(),
                       "KL(new || samples), in nats, from that of the samples "
                       "is at most 0.02. Whether"))
      << certificate.assumptions.back();
  EXPECT_TRUE(contains(shift_words(shifted_certificate({Divergence::density_ratio, 2})),
                       "whose density is at most 2 times that of the one"));
}

// What is drawn is a whole rollout or group, and the divergence is between laws of these.
TEST(ShiftPart, SpeaksOfWholeRolloutsAndGroups) {
  problems::Table values(400, 2);
  for (Index i = 0; i < values.rows(); ++i) {
    values(i, 0) = 1e-3 * static_cast<double>(i);
    values(i, 1) = 1e-4 * static_cast<double>(i);
  }
  Options options;
  options.tolerances = {0.3};
  options.quantiles = {0.5};
  options.metric = "excess of the closed-loop cost";
  options.shift = {Divergence::kl, 0.02};
  Variant variant;
  variant.name = "osqp";
  const Certificate loop = certify_rollouts(values, {5, 10}, 20, options, variant);
  EXPECT_TRUE(verify(parse_certificate(to_json(loop))).holds());
  const std::string words =
      "under any distribution (of a whole rollout) within KL 0.02 of the one the rollouts were drawn from";
  EXPECT_EQ(shift_words(loop), words);
  int shifted = 0;
  for (const std::string& sentence : statements_of(loop)) {
    EXPECT_FALSE(contains(sentence, "problem")) << sentence;
    if (!contains(sentence, words)) continue;
    ++shifted;
    EXPECT_TRUE(contains(sentence, "of new rollouts of 20 ticks is below 0.3")) << sentence;
  }
  EXPECT_GE(shifted, 1);
  EXPECT_TRUE(contains(loop.assumptions.back(),
                       "about a new rollout drawn from any one distribution (of a whole rollout) whose"))
      << loop.assumptions.back();
  EXPECT_TRUE(contains(loop.assumptions.back(), "the one that rollouts will come from"));
  EXPECT_EQ(
      what_it_does_not_say(loop).front(),
      "Nothing about a plant, disturbances or initial states other than those that were simulated, but " +
          words + ": for others, take new samples.");
  EXPECT_TRUE(contains(to_text(loop, tolerated_shifts(loop, 0.3)),
                       "If 30 % of rollouts is enough, these hold also under any distribution (of a whole "
                       "rollout) that is"));

  Certificate groups;
  groups.shift = {Divergence::density_ratio, 2};
  groups.variants.emplace_back();
  groups.variants.back().groups = Groups{"flight", 10, 1, 4};
  EXPECT_EQ(
      shift_words(groups),
      "under any distribution (of a whole group) whose density is at most 2 times that of the one the groups "
      "were drawn from");
}

TEST(ShiftPart, NoSharePrintedIsMoreThanWhatIsLeft) {
  for (const double radius : {0.0, 1e-9, 0.001, 0.02, 0.5}) {
    const Certificate certificate = shifted_certificate({Divergence::kl, radius});
    const Certificate under = under_shift(certificate);
    for (const QuantileClaim& claim : under.quantile) {
      const auto own = std::ranges::find_if(certificate.quantile, [&](const QuantileClaim& other) {
        return other.variant == claim.variant && other.step == claim.step &&
               other.upper_bound == claim.upper_bound && other.rank == claim.rank;
      });
      ASSERT_NE(own, certificate.quantile.end());
      EXPECT_LE(claim.quantile, share_under(*certificate.shift, *own));
      EXPECT_GE(claim.quantile, share_under(*certificate.shift, *own) - 1e-3);
    }
    EXPECT_TRUE(under.bands.empty());
  }
}

TEST(ShiftPart, NeedsClaimsOfShares) {
  Options options;
  options.choose = Choice::after;
  options.shift = {Divergence::kl, 0.02};
  EXPECT_INPUT_ERROR(test::kinds_example({}, options), "shift: nothing is claimed that could be stated");
}

TEST(ShiftPart, ToleratesWhatTheMarginsSay) {
  Options options;
  options.choose = Choice::both;
  const Certificate certificate = test::kinds_example({"success", "quantile", "budget"}, options).certificate;
  const Tolerated all = tolerated_shifts(certificate, 0.6);
  ASSERT_FALSE(all.survived.empty());
  for (const SurvivedShift& each : all.survived) {
    EXPECT_GE(each.share, 0.6);
    // At the margin the share is still there; a little further it is not.
    EXPECT_GE(bounds::share_under_shift(each.share, {Divergence::kl, each.kl}), 0.6 - 1e-12);
    EXPECT_LT(bounds::share_under_shift(each.share, {Divergence::kl, each.kl * 1.001 + 1e-9}), 0.6);
    EXPECT_NEAR(each.total_variation, each.share - 0.6, 1e-12);
    EXPECT_NEAR(each.density_ratio, 0.4 / (1 - each.share), 1e-9);
    EXPECT_NEAR(each.gaussian, std::sqrt(2 * each.kl), 1e-12);
  }
  const Index declared = static_cast<Index>(certificate.success.size() + certificate.quantile.size() +
                                            certificate.budget.size());
  EXPECT_EQ(static_cast<Index>(all.survived.size()) + all.others, declared);
  EXPECT_EQ(2 * tolerated_shifts(certificate, 0.6, "b").survived.size(), all.survived.size());

  const Tolerated one = tolerated_shifts(certificate, 0.6, "a", "below 1 after 4");
  ASSERT_EQ(one.survived.size(), 1U);
  EXPECT_TRUE(contains(one.survived.front().claim, "% below 1 after 4"));
  EXPECT_TRUE(contains(to_text(certificate, all), "If 60 % of problems is enough, these hold also"));
  EXPECT_EQ(to_text(certificate, tolerated_shifts(certificate, 0.9999, "a", "below 1 after 4")),
            "1 claim promises less than 99.99 %, so that no shift is left for it.\n");
  EXPECT_INPUT_ERROR(tolerated_shifts(certificate, 1.0), "tolerate: a share of 1 is outside (0, 1)");
  EXPECT_INPUT_ERROR(tolerated_shifts(certificate, 0.5, "c"), "there is no variant 'c'");
}

}  // namespace
}  // namespace surefoot::certify
