#include "surefoot/monitoring/constants.hpp"

#include "support/contains.hpp"
#include "support/input_error.hpp"

#include <gtest/gtest.h>

#include <cmath>

namespace surefoot::monitoring {
namespace {

using test::contains;

TEST(MonitorConstants, RatiosAreThoseOfTheTwoRatesRoundedDown) {
  for (const double rate : {1e-12, 1e-4, 0.01, 0.05, 0.3, 0.9, 1 - 1e-9}) {
    for (const double odds : watched_odds) {
      const LikelihoodRatios ratios = likelihood_ratios(rate, odds);
      const long double r = rate;
      const long double theta_odds = odds * r / (1 - r);
      const long double theta = theta_odds / (1 + theta_odds);
      const long double failed = theta / r;
      const long double succeeded = 1 / (1 + (static_cast<long double>(odds) - 1) * r);
      EXPECT_LE(ratios.failed, failed * (1 - 7.9L * 0x1p-53L)) << rate << " " << odds;
      EXPECT_LE(ratios.succeeded, succeeded * (1 - 7.9L * 0x1p-53L)) << rate << " " << odds;
      EXPECT_GE(ratios.failed, failed * (1 - 0x1p-48L)) << rate << " " << odds;
      EXPECT_GE(ratios.succeeded, succeeded * (1 - 0x1p-48L)) << rate << " " << odds;
      // A fair bet at the certified rate, a losing one below it.
      EXPECT_LT(r * ratios.failed + (1 - r) * ratios.succeeded, 1.0L);
      EXPECT_LT(r / 2 * ratios.failed + (1 - r / 2) * ratios.succeeded, 1.0L);
    }
  }
}

TEST(MonitorConstants, RefuseWhatCannotBeWatched) {
  const AlarmRule rule;
  EXPECT_INPUT_ERROR(MonitorConstants({}, rule), "no claim");
  EXPECT_INPUT_ERROR(MonitorConstants({{1, true, 1.0}}, rule), "says nothing");
  EXPECT_INPUT_ERROR(MonitorConstants({{1, true, 1.5}}, rule), "rate: 1.5");
  EXPECT_INPUT_ERROR(MonitorConstants({{1, true, std::nan("")}}, rule), "rate: nan");
  EXPECT_INPUT_ERROR(MonitorConstants({{std::nan(""), true, 0.1}}, rule), "value: NaN");
  EXPECT_INPUT_ERROR(MonitorConstants(std::vector<WatchedRate>(17), rule), "17 claims are too many");
  EXPECT_INPUT_ERROR((MonitorConstants({{1, true, 0.1}}, {0.5, 0})), "arl: 0.5");
  EXPECT_INPUT_ERROR((MonitorConstants({{1, true, 0.1}}, {std::nan(""), 0})), "arl: nan");
  EXPECT_INPUT_ERROR((MonitorConstants({{1, true, 0.1}}, {1e6, 1.0})), "alpha: 1");
  EXPECT_INPUT_ERROR((MonitorConstants({{1, true, 0.1}}, {1e6, -0.1})), "alpha: -0.1");
}

TEST(MonitorConstants, ThresholdAndWeightAreOnTheSafeSide) {
  for (const int others : {0, 1}) {
    const MonitorConstants constants({{1, true, 0.01}, {2, true, 0.02}}, {1e6, 0}, others);
    const double terms = 6 * (2 + others);
    EXPECT_GT(constants.get().threshold, 1e6 * terms);
    EXPECT_LT(constants.get().threshold, 1e6 * terms * (1 + 1e-14));
    EXPECT_LE(constants.get().weight * terms, 1.0);
    EXPECT_GT(constants.get().weight * terms, 1 - 1e-15);
  }
  const MonitorConstants test({{1, true, 0.01}}, {1e6, 0.001});
  EXPECT_EQ(test.get().is_test, 1);
  EXPECT_GE(test.get().threshold, 6000.0);
  surefoot_monitor monitor;
  EXPECT_EQ(surefoot_monitor_init(&monitor, &test.get()), 0);
}

TEST(MonitorConstants, TheHeaderOfCHasEveryBitAndNoWayOutOfItsComment) {
  const MonitorConstants constants({{1e-3, false, 0.013}}, {1e6, 0});
  const std::string text = c_header(constants, "own", {"a */ int x; /* b \\\nc"});
  EXPECT_TRUE(contains(text, "static const surefoot_monitor_constants own = {1, 0, 1, "));
  EXPECT_TRUE(contains(text, fmt::format("{:a}", constants.get().claim[0].failed[5])));
  EXPECT_TRUE(contains(text, " * a *  int x; /* b ??c\n"));
  EXPECT_INPUT_ERROR(c_header(constants, "1x", {}), "name: '1x'");
  EXPECT_INPUT_ERROR(c_header(constants, "", {}), "name: ''");
  EXPECT_INPUT_ERROR(c_header(constants, "a b", {}), "name: 'a b'");
}

TEST(MonitorHeader, RefusesConstantsThatCannotBe) {
  const MonitorConstants good({{1, true, 0.01}}, {1e6, 0});
  surefoot_monitor monitor;
  const auto refused = [&](auto&& change) {
    surefoot_monitor_claim claim = good.get().claim[0];
    surefoot_monitor_constants constants = good.get();
    constants.claim = &claim;
    change(constants, claim);
    return surefoot_monitor_init(&monitor, &constants) == -1;
  };
  using C = surefoot_monitor_constants;
  using Claim = surefoot_monitor_claim;
  EXPECT_FALSE(refused([](C&, Claim&) {}));
  EXPECT_TRUE(refused([](C& c, Claim&) { c.format = 2; }));
  EXPECT_TRUE(refused([](C& c, Claim&) { c.claims = 0; }));
  EXPECT_TRUE(refused([](C& c, Claim&) { c.claims = 17; }));
  EXPECT_TRUE(refused([](C& c, Claim&) { c.threshold = std::nan(""); }));
  EXPECT_TRUE(refused([](C& c, Claim&) { c.weight = 0; }));
  EXPECT_TRUE(refused([](C&, Claim& claim) { claim.failed[3] = infinity; }));
  EXPECT_TRUE(refused([](C&, Claim& claim) { claim.failed[0] = std::nan(""); }));
  EXPECT_TRUE(refused([](C&, Claim& claim) { claim.succeeded[5] = 1.1; }));
  EXPECT_TRUE(refused([](C& c, Claim& claim) {
    c.is_test = 1;
    claim.succeeded[5] = 0;
  }));
}

}  // namespace
}  // namespace surefoot::monitoring
