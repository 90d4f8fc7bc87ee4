#include "surefoot/monitoring/watch.hpp"

#include "surefoot/core/random.hpp"

#include "support/contains.hpp"
#include "support/input_error.hpp"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <memory>

namespace surefoot::monitoring {
namespace {

using test::contains;

WatchOptions one_rate(double rate, AlarmRule rule = {}) {
  WatchOptions options;
  options.claims = {{"below 1 after 20", {1, true, rate}}};
  options.rule = rule;
  return options;
}

std::vector<bool> outcomes(std::uint64_t stream, std::size_t count, double rate) {
  RandomStream random(21, "watch test", stream);
  std::vector<bool> failed(count);
  for (std::size_t i = 0; i < count; ++i) failed[i] = random.uniform() < rate;
  return failed;
}

/// Sum over beginnings of products of likelihood ratios, each from its definition, in long double.
long double slow_detector(const std::vector<bool>& failed, double rate) {
  long double mean = 0;
  for (const double m : watched_odds) {
    const long double theta_odds = m * static_cast<long double>(rate) / (1 - static_cast<long double>(rate));
    const long double theta = theta_odds / (1 + theta_odds);
    const long double r = rate;
    long double sum = 0;
    for (std::size_t begin = 0; begin < failed.size(); ++begin) {
      long double product = 1;
      for (std::size_t t = begin; t < failed.size(); ++t)
        product *= failed[t] ? theta / r : (1 - theta) / (1 - r);
      sum += product;
    }
    mean += sum / watched_odds.size();
  }
  return mean;
}

long double slow_test(const std::vector<bool>& failed, double rate) {
  long double mean = 0;
  for (const double m : watched_odds) {
    const long double denominator = 1 + (static_cast<long double>(m) - 1) * static_cast<long double>(rate);
    long double log = 0;
    for (const bool fails : failed) log += std::log((fails ? m : 1) / denominator);
    mean += std::exp(log) / watched_odds.size();
  }
  return mean;
}

TEST(Watch, EvidenceIsThatOfTheDefinitionRoundedDown) {
  for (const double rate : {0.01, 0.2, 0.7}) {
    const std::vector<bool> failed = outcomes(0, 400, rate);
    Watch detector(one_rate(rate, {1e12, 0}));
    Watch test(one_rate(rate, {1e6, 1e-12}));
    std::vector<bool> seen;
    for (const bool fails : failed) {
      seen.push_back(fails);
      EXPECT_FALSE(detector.update(fails ? 2 : 0.5));
      EXPECT_FALSE(test.update(fails ? 2 : 0.5));
      if (seen.size() % 50 != 0) continue;
      const long double of_detector = slow_detector(seen, rate);
      const long double of_test = slow_test(seen, rate);
      EXPECT_LE(detector.evidence(), of_detector * (1 + 1e-17L));
      EXPECT_GT(detector.evidence(), of_detector * (1 - 1e-11L));
      EXPECT_LE(test.evidence(), of_test);
      EXPECT_GT(test.evidence(), of_test * (1 - 1e-11L));
    }
  }
}

TEST(Watch, RaisesAnAlarmWhereTheEvidenceOfTheDefinitionPassesTheThreshold) {
  const double rate = 0.05;
  const std::vector<bool> failed = outcomes(1, 400, 0.25);
  std::size_t expected = 0;
  std::vector<bool> seen;
  for (const bool fails : failed) {
    seen.push_back(fails);
    if (slow_detector(seen, rate) >= 1000) break;
  }
  expected = seen.size();
  Watch watch(one_rate(rate, {1000, 0}));
  std::size_t solves = 0;
  for (const bool fails : failed) {
    ++solves;
    if (watch.update(fails ? 2 : 0.5)) break;
  }
  EXPECT_EQ(solves, expected);
  EXPECT_EQ(watch.alarms(), 1);
  EXPECT_EQ(watch.last_alarm().solve, static_cast<Index>(expected));
  EXPECT_GE(watch.last_alarm().evidence, 1000);
  EXPECT_EQ(watch.evidence(), 0);  // begins again
  const ClaimAlarm& claim = watch.last_alarm().claims.front();
  EXPECT_GT(claim.failures, 3);
  EXPECT_LE(claim.solves, static_cast<Index>(expected));
  const auto window = seen.end() - claim.solves;  // begins with a failure, has those that are counted
  EXPECT_TRUE(*window);
  EXPECT_EQ(std::count(window, seen.end(), true), claim.failures);
}

TEST(Watch, OneFailureContradictsARateOfZero) {
  for (const double alpha : {0.0, 0.001}) {
    Watch watch(one_rate(0, {1e6, alpha}));
    for (int i = 0; i < 2'000'000; ++i) ASSERT_FALSE(watch.update(0.5));
    EXPECT_TRUE(watch.update(1));
    EXPECT_EQ(watch.update(1), alpha == 0);  // a test raises one alarm, the detector again
    EXPECT_TRUE(std::isfinite(watch.evidence()));
  }
}

TEST(Watch, SuccessIsNoReasonForAnAlarm) {
  // The detector's evidence tends to 0.66 / r without a failure, here beyond the threshold.
  Watch watch(one_rate(1e-6, {1000, 0}));
  for (int i = 0; i < 10'000; ++i) ASSERT_FALSE(watch.update(0.5));
  EXPECT_GT(watch.evidence(), 1000);
  EXPECT_TRUE(watch.update(2));
}

TEST(Watch, ATestThatHasSunkFarRisesAgainAndSaturates) {
  Watch watch(one_rate(0.5, {1e6, 1e-15}));
  for (int i = 0; i < 3000; ++i) watch.update(0.5);
  EXPECT_EQ(watch.evidence(), 0);
  // 2 / 1.5 for odds 2: as many failures as make good for 3,000 successes at 1 / 1.5, and not fewer.
  int failures = 0;
  while (watch.evidence() < 1e3 && failures < 10'000) {
    watch.update(2);
    ++failures;
  }
  std::vector<bool> all(3000, false);
  all.insert(all.end(), static_cast<std::size_t>(failures), true);
  EXPECT_GE(slow_test(all, 0.5), 1e3L);
  all.pop_back();
  EXPECT_LT(slow_test(all, 0.5), 1e3L);
  for (int i = 0; i < 50'000; ++i) watch.update(2);
  EXPECT_EQ(watch.alarms(), 1);
  EXPECT_TRUE(std::isfinite(watch.evidence()));
}

TEST(Watch, NanAndLinesThatAreNoNumbersFail) {
  Watch watch(one_rate(0.01, {1e15, 0}));
  EXPECT_FALSE(watch.update(std::nan("")));
  EXPECT_EQ(watch.failures(0), 1);
  const auto kind = [&](std::string_view line) { return watch.read_line(line).kind; };
  EXPECT_EQ(kind("nan"), LineKind::solve);
  EXPECT_EQ(watch.failures(0), 2);
  EXPECT_EQ(kind("1e-3\r"), LineKind::solve);
  EXPECT_EQ(kind(" -inf "), LineKind::solve);
  EXPECT_EQ(watch.failures(0), 2);
  EXPECT_EQ(kind("1"), LineKind::solve);  // not below 1
  EXPECT_EQ(watch.failures(0), 3);
  EXPECT_EQ(kind("residual"), LineKind::unreadable);
  EXPECT_EQ(kind("1,2"), LineKind::unreadable);
  EXPECT_EQ(kind("0.5 s"), LineKind::unreadable);
  EXPECT_EQ(watch.failures(0), 6);
  EXPECT_EQ(kind(""), LineKind::gap);
  EXPECT_EQ(kind(" \t\r"), LineKind::gap);
  EXPECT_EQ(watch.lines(), 10);
  EXPECT_EQ(watch.solves(), 8);
  EXPECT_EQ(watch.gaps(), 2);
  EXPECT_EQ(watch.unreadable(), 3);
}

TEST(Watch, OutcomesAreZeroAndOne) {
  WatchOptions options = one_rate(0.01, {1e15, 0});
  options.outcomes = true;
  Watch watch(options);
  watch.update(0);
  watch.update(1);
  EXPECT_EQ(watch.failures(0), 1);
  EXPECT_INPUT_ERROR(watch.update(0.5), "outcome: 0.5 is not 0 or 1");
  EXPECT_EQ(watch.read_line("2").kind, LineKind::unreadable);
  EXPECT_EQ(watch.failures(0), 2);
  options.claims.push_back(options.claims.front());
  EXPECT_INPUT_ERROR(Watch(options), "about one claim, these are 2");
}

WatchOptions three_claims() {
  WatchOptions options;
  options.claims = {{"below 1 after 20", {1, true, 0.02}},
                    {"at most 2 after 20", {2, false, 0.01}},
                    {"below 3 after 20", {3, true, 0.0}}};
  options.rule = {500, 0};
  return options;
}

TEST(Watch, SeveralClaimsAreAveraged) {
  WatchOptions options = three_claims();
  options.rule.arl = 1e15;
  Watch all(options);
  std::vector<std::unique_ptr<Watch>> single;
  for (const WatchedClaim& claim : options.claims) {
    WatchOptions own = options;
    own.claims = {claim};
    single.push_back(std::make_unique<Watch>(own));
  }
  RandomStream random(4, "averaged", 0);
  for (int i = 0; i < 500; ++i) {
    const double value = random.uniform() < 0.03 ? 1.5 + random.uniform() : 0.5;
    all.update(value);
    double sum = 0;
    for (const auto& each : single) {
      each->update(value);
      sum += each->evidence();
    }
    ASSERT_NEAR(all.evidence(), sum / 3, 1e-12 * sum);
  }
  EXPECT_EQ(all.failures(1), single[1]->failures(0));
}

TEST(Watch, DecidesAsTheHeaderOfC) {
  for (const double alpha : {0.0, 0.01}) {
    WatchOptions options = three_claims();
    options.rule.alpha = alpha;
    Watch watch(options);
    const MonitorConstants constants({options.claims[0].rate, options.claims[1].rate, options.claims[2].rate},
                                     options.rule);
    surefoot_monitor monitor;
    ASSERT_EQ(surefoot_monitor_init(&monitor, &constants.get()), 0);
    RandomStream random(4, "header", 0);
    int alarms = 0;
    for (int i = 0; i < 20'000; ++i) {
      const double value = i % 97 == 0 ? std::nan("") : 1.05 * random.uniform();
      const bool alarm = watch.update(value);
      ASSERT_EQ(surefoot_monitor_update(&monitor, value), alarm ? 1 : 0) << i;
      ASSERT_EQ(surefoot_monitor_evidence(&monitor), watch.evidence()) << i;
      if (!alarm) continue;
      ++alarms;
      EXPECT_EQ(monitor.alarm.evidence, watch.last_alarm().evidence);
      EXPECT_EQ(static_cast<std::size_t>(monitor.alarm.claim), watch.last_alarm().strongest);
    }
    EXPECT_EQ(alarms, alpha > 0 ? 1 : watch.alarms());
    EXPECT_GT(alarms, 0);
  }
}

TEST(Watch, GoesOnFromItsStateByteForByte) {
  for (const bool with_reference : {false, true}) {
    WatchOptions options = three_claims();
    if (with_reference) {
      RandomStream random(4, "reference", 0);
      for (int i = 0; i < 100; ++i) options.reference.push_back(random.uniform());
    }
    Watch whole(options);
    std::string state;
    RandomStream random(4, "state", 0);
    for (int i = 0; i < 1200; ++i) {
      const std::string line =
          i % 50 == 0 ? "x" : (i % 31 == 0 ? "" : fmt::format("{}", 1.02 * random.uniform()));
      Watch part(options);  // a process that reads one line
      if (!state.empty()) part.restore(state, "state");
      const Watch::Read one = whole.read_line(line);
      const Watch::Read other = part.read_line(line);
      ASSERT_EQ(one.alarm, other.alarm) << i;
      state = part.saved();
      ASSERT_EQ(state, whole.saved()) << i;
    }
    EXPECT_GT(whole.alarms(), 0);
    EXPECT_GT(whole.unreadable(), 0);
  }
}

TEST(Watch, RefusesTheStateOfAnotherCertificateOrClaimByName) {
  WatchOptions options = one_rate(0.01);
  options.certificate = "aa";
  const std::string state = Watch(options).saved();
  const auto refused = [&](auto&& change, std::string_view part) {
    WatchOptions other = options;
    change(other);
    Watch watch(other);
    EXPECT_INPUT_ERROR(watch.restore(state, "m.state"), part);
  };
  refused([](WatchOptions& o) { o.certificate = "bb"; },
          "m.state: belongs to another configuration: the certificate is 'aa' there and 'bb' here");
  refused([](WatchOptions& o) { o.claims[0].text = "below 2 after 20"; }, "the claim is 'below 1 after 20'");
  refused([](WatchOptions& o) { o.claims[0].rate.rate = 0.02; }, "the rate is ");
  refused([](WatchOptions& o) { o.rule.arl = 10; }, "the alarm is ");
  refused([](WatchOptions& o) { o.rule.alpha = 0.1; }, "the alarm is ");
  refused([](WatchOptions& o) { o.outcomes = true; }, "the stream is 'values' there and 'outcomes' here");
  refused([](WatchOptions& o) { o.reference.assign(30, 1.0); }, "the reference is 'none' there");
  refused([](WatchOptions& o) { o.seed = 1; }, "the seed is '0' there and '1' here");
  Watch watch(options);
  EXPECT_INPUT_ERROR(watch.restore("x", "m.state"), "m.state: is not a checkpoint");
  EXPECT_INPUT_ERROR(watch.restore(state.substr(0, state.size() - 3), "m.state"), "is damaged");
}

TEST(Watch, KeepsTheLatestAlarms) {
  Watch watch(one_rate(0, {1, 0}));
  for (int i = 0; i < 150; ++i) watch.update(2);
  EXPECT_EQ(watch.alarms(), 150);
  EXPECT_EQ(watch.latest_alarms().size(), 100U);
  EXPECT_EQ(watch.last_alarm().solve, 150);
}

TEST(Watch, SeesAChangeThatNoRateShows) {
  WatchOptions options = one_rate(0.01);
  RandomStream random(4, "change", 0);
  for (int i = 0; i < 1000; ++i) options.reference.push_back(0.1 * random.uniform());
  Watch watch(options);
  for (int i = 0; i < 2000; ++i) ASSERT_FALSE(watch.update(0.1 * random.uniform()));
  int solves = 0;
  while (!watch.update(0.05 + 0.1 * random.uniform()) && solves < 1000) ++solves;
  EXPECT_LT(solves, 150);
  EXPECT_EQ(watch.failures(0), 0);
  EXPECT_GT(*watch.last_alarm().reference_evidence, watch.last_alarm().claims[0].evidence);
}

}  // namespace
}  // namespace surefoot::monitoring
