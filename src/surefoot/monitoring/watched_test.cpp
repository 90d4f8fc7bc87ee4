#include "surefoot/monitoring/watched.hpp"

#include "surefoot/certify/ask.hpp"

#include "support/input_error.hpp"
#include "support/kind_check.hpp"

namespace surefoot::monitoring {
namespace {

certify::ParsedCertificate held(certify::Options options = {}) {
  return certify::parse_certificate(certify::to_json(
      test::kinds_example({"success", "quantile", "budget"}, std::move(options)).certificate));
}

TEST(WatchedClaims, AreTheSuccessRatesOfTheLastStepUnlessSaidOtherwise) {
  const certify::ParsedCertificate parsed = held();
  const WatchOptions options = watch_of(parsed, {}, "a");
  ASSERT_EQ(options.claims.size(), 3U);
  for (std::size_t c = 0; c < 3; ++c) {
    const double tolerance = parsed.certificate.tolerances[c];
    double best = 0;  // of the success claims themselves: another claim may imply more, never less
    for (const certify::SuccessClaim& claim : parsed.certificate.success)
      if (claim.variant == 0 && claim.step == 8 && claim.tolerance == tolerance) best = claim.lower_bound;
    EXPECT_EQ(options.claims[c].rate.value, tolerance);
    EXPECT_TRUE(options.claims[c].rate.strict);
    EXPECT_LE(options.claims[c].rate.rate, 1 - best + 1e-15);
    EXPECT_GT(options.claims[c].rate.rate, 0);
    const certify::Answer answer = certify::ask(parsed.certificate, options.claims[c].text, "a").front();
    EXPECT_GE(options.claims[c].rate.rate, 1 - *answer.claim.share);
    EXPECT_LE(options.claims[c].rate.rate, 1 - *answer.claim.share + 1e-15);
  }
  EXPECT_EQ(options.claims[0].text, "below 1e-2 after 8");
  EXPECT_EQ(options.certificate, parsed.computed_digest);
  EXPECT_EQ(options.delta, parsed.certificate.delta);
  EXPECT_EQ(options.variant, "a");
}

TEST(WatchedClaims, TheRateIsWhatTheShareLeaves) {
  const WatchOptions options = watch_of(held(), {"50% below 1 within 8", "at most 1 after 8"}, "b");
  ASSERT_EQ(options.claims.size(), 2U);
  EXPECT_EQ(options.claims[0].rate.rate, 0.5);
  EXPECT_EQ(options.claims[0].text, "50% below 1 within 8");
  EXPECT_FALSE(options.claims[1].rate.strict);
  EXPECT_LT(options.claims[1].rate.rate, 0.5);
}

TEST(WatchedClaims, RefuseWhatIsNotCertified) {
  const certify::ParsedCertificate parsed = held();
  EXPECT_INPUT_ERROR(watch_of(parsed, {"99.99% below 1e-9 after 8"}, "a"),
                     "the claim '99.99% below 1e-9 after 8' is not certified");
  EXPECT_INPUT_ERROR(watch_of(parsed, {}, ""), "say which one is in service: a, b");
  EXPECT_INPUT_ERROR(watch_of(parsed, {}, "c"), "there is no variant 'c'; the certificate has a, b");
  EXPECT_INPUT_ERROR(watch_of(parsed, {"below"}, "a"), "claim 'below'");
  certify::Options each;
  each.simultaneous = certify::Simultaneity::each;
  EXPECT_INPUT_ERROR(watch_of(held(each), {}, "a"), "holds alone");
}

}  // namespace
}  // namespace surefoot::monitoring
