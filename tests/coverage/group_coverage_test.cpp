// Certificates of groups and of logs: false as often as they say, where ticks depend on each other; pooling
// the ticks as if they were independent is false far more often.

#include "surefoot/bounds/group_average.hpp"
#include "surefoot/bounds/risk.hpp"
#include "surefoot/certify/classical.hpp"
#include "surefoot/core/random.hpp"
#include "surefoot/runs/tick_group.hpp"

#include "coverage/simulation.hpp"
#include "support/simulations.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <string>
#include <vector>

namespace surefoot {
namespace {

using test::count_false;
using test::expect_at_most;

constexpr double group_delta = 0.1;

/// Flights of 30 ticks. One in ten has bad weather, in which half of the ticks fail at the first step and a
/// fifth at the second; otherwise one in a hundred does. A tick that fails has value 1, others 0.
struct Flights {
  static constexpr int flights = 40;
  static constexpr int ticks = 30;
  static constexpr double bad_weather = 0.1;
  static constexpr double bad[2] = {0.5, 0.2};
  static constexpr double good[2] = {0.01, 0.002};

  /// P(a tick fails), the same for E[Y]: flights have equally many ticks.
  static double average(int step) { return bad_weather * bad[step] + (1 - bad_weather) * good[step]; }
  static double every_tick_below(int step) {
    return bad_weather * std::pow(1 - bad[step], ticks) + (1 - bad_weather) * std::pow(1 - good[step], ticks);
  }

  template <class Take>
  static void draw(RandomStream& random, const Take& take) {
    for (int flight = 0; flight < flights; ++flight) {
      const double* fails = random.uniform() < bad_weather ? bad : good;
      for (int tick = 0; tick < ticks; ++tick) {
        const double first = random.uniform() < fails[0] ? 1.0 : 0.0;
        const double second = random.uniform() < fails[1] ? 1.0 : 0.0;
        const double values[2] = {first, second};
        take(flight, values);
      }
    }
  }
};

certify::Options options_of(certify::Sampling sampling, std::vector<std::string> kinds) {
  certify::Options options;
  options.delta = group_delta;
  options.sampling = sampling;
  options.kinds = std::move(kinds);
  options.tolerances = {0.5};
  return certify::resolved(options, {{1, 2}});
}

certify::Certificate certificate_of(const certify::Options& options, const runs::Tally& tally) {
  return certify::certify(options, {{certify::Variant{}, tally}});
}

/// Whether some claim of success or of the average is false: whichever looks best may be quoted.
bool some_claim_is_false(const certify::Certificate& certificate) {
  for (const certify::SuccessClaim& claim : certificate.success)
    if (claim.lower_bound > Flights::every_tick_below(static_cast<int>(claim.step) - 1)) return true;
  for (const certify::AverageClaim& claim : certificate.average)
    if (claim.upper_bound < Flights::average(static_cast<int>(claim.step) - 1)) return true;
  return false;
}

TEST(GroupCoverage, OfWholeCertificatesOfDependentTicks) {
  const Index total = test_support::simulations(5'000);
  for (const bounds::MeanMethod method : {bounds::MeanMethod::betting, bounds::MeanMethod::kl}) {
    certify::Options options = options_of(certify::Sampling::groups, {"success", "average"});
    options.average_method = method;
    const runs::TallySpec spec = certify::tally_spec(options, {1, 2});
    const Index found = count_false(
        "flights",
        [&](RandomStream& random) {
          std::vector<runs::TickGroup> groups(Flights::flights, runs::TickGroup(spec));
          Flights::draw(random, [&](int flight, const double* values) {
            groups[static_cast<std::size_t>(flight)].add_tick(spec, values);
          });
          runs::Tally tally(spec);
          for (const runs::TickGroup& group : groups) tally.add_group(group);
          return some_claim_is_false(certificate_of(options, tally));
        },
        total);
    RecordProperty(std::string(bounds::name(method)), std::to_string(found));
    expect_at_most(found, group_delta, total);
  }
}

TEST(GroupCoverage, OfPooledTicksFailsBadly) {
  const Index total = test_support::simulations(10'000);
  const certify::Options options = options_of(certify::Sampling::problems, {"success"});
  const runs::TallySpec spec = certify::tally_spec(options, {1, 2});
  const Index found = count_false(
      "flights",
      [&](RandomStream& random) {
        runs::Tally tally(spec);
        Flights::draw(random, [&](int, const double* values) { tally.add_run(values); });
        const certify::Certificate certificate = certificate_of(options, tally);
        for (const certify::SuccessClaim& claim : certificate.success)
          if (claim.lower_bound > 1 - Flights::average(static_cast<int>(claim.step) - 1)) return true;
        return false;
      },
      total);
  RecordProperty("false", std::to_string(found));
  EXPECT_GT(found, 3 * static_cast<Index>(group_delta * static_cast<double>(total)))
      << found << " of " << total;
}

/// A log whose ticks fail with a probability that depends on what came before: it rises after each failure,
/// and falls slowly; one log in five is a bad one throughout.
struct Log {
  explicit Log(RandomStream& random) : random_(random), bad_(random.uniform() < 0.2) {}

  bool next() {
    const double probability = bad_ ? 0.3 : 0.002 + heat_;
    conditional_sum += probability;
    ++ticks;
    const bool fails = random_.uniform() < probability;
    failures += fails ? 1 : 0;
    heat_ = fails ? 0.4 : 0.8 * heat_;
    return fails;
  }
  [[nodiscard]] double average() const { return conditional_sum / static_cast<double>(ticks); }

  double conditional_sum = 0;
  Index ticks = 0;
  Index failures = 0;

 private:
  RandomStream& random_;
  bool bad_;
  double heat_ = 0;
};

// Somebody looks again and again while the log grows, and quotes the certificate that looks best.
TEST(GroupCoverage, OfALogThatIsLookedAtAgainAndAgain) {
  const Index total = test_support::simulations(3'000);
  certify::Options options = options_of(certify::Sampling::sequence, {"sequence"});
  options.steps = {1};
  const runs::TallySpec spec = certify::tally_spec(options, {1});
  const Index found = count_false(
      "log",
      [&](RandomStream& random) {
        Log log(random);
        runs::Tally tally(spec);
        for (const Index look : {25, 50, 100, 200, 400}) {
          while (log.ticks < look) {
            const double value = log.next() ? 1.0 : 0.0;
            tally.add_run(&value);
          }
          const certify::Certificate certificate = certificate_of(options, tally);
          if (certificate.sequence.front().upper_bound < log.average()) return true;
        }
        return false;
      },
      total);
  RecordProperty("false", std::to_string(found));
  expect_at_most(found, group_delta, total);
}

TEST(GroupCoverage, OfALogTakenForIndependentProblemsFailsBadly) {
  const Index total = test_support::simulations(10'000);
  // What a tick of a new log fails with, on average over 400 of them.
  double truth = 0;
  constexpr int logs = 4000;
  for (int i = 0; i < logs; ++i) {
    RandomStream random(7, "new logs", static_cast<std::uint64_t>(i));
    Log log(random);
    while (log.ticks < 400) log.next();
    truth += log.average() / logs;
  }
  const Index found = count_false(
      "one log",
      [&](RandomStream& random) {
        Log log(random);
        while (log.ticks < 400) log.next();
        return bounds::risk_upper_bound(log.failures, log.ticks, group_delta, bounds::RiskMethod::exact) <
               truth;
      },
      total);
  RecordProperty("false", std::to_string(found));
  EXPECT_GT(found, 5 * static_cast<Index>(group_delta * static_cast<double>(total)))
      << found << " of " << total;
}

}  // namespace
}  // namespace surefoot
