// Promises of monitors, by simulation. tests/monitor/streams.c has those of A = 1e6, and delays.
#include "surefoot/monitoring/watch.hpp"

#include "simulation.hpp"

#include <cmath>

namespace surefoot {
namespace {

using monitoring::Watch;
using monitoring::WatchOptions;

#ifdef SUREFOOT_SANITIZED
constexpr Index monitored_streams = 400;
#else
constexpr Index monitored_streams = 4000;
#endif

WatchOptions two_rates(monitoring::AlarmRule rule) {
  WatchOptions options;
  options.claims = {{"below 0.9", {0.9, true, 0.1}}, {"below 0.95", {0.95, true, 0.05}}};
  options.rule = rule;
  return options;
}

double mean_solves(const char* purpose, const WatchOptions& options, double (*value)(RandomStream&, double)) {
  double sum = 0;
  for (Index i = 0; i < monitored_streams; ++i) {
    RandomStream random(2025, purpose, static_cast<std::uint64_t>(i));
    Watch watch(options);
    double last = 0;
    do {
      last = value(random, last);
    } while (!watch.update(last) && watch.solves() < 20'000);
    sum += static_cast<double>(watch.solves());
  }
  return sum / static_cast<double>(monitored_streams);
}

double independent(RandomStream& random, double) {
  return random.uniform();
}

/// Given the past, never more probable to fail than certified: after a failure all is well, after success as
/// bad as is allowed.
double recovering(RandomStream& random, double last) {
  return last >= 0.9 ? 0.5 * random.uniform() : random.uniform();
}

TEST(MonitorCoverage, MeanTimeToAFalseAlarmIsWhatIsPromised) {
  const WatchOptions options = two_rates({200, 0});
  // The time has a standard deviation of about its mean.
  const double slack = 1 - 5 / std::sqrt(static_cast<double>(monitored_streams));
  const double always = mean_solves("monitor independent", options, independent);
  EXPECT_GE(always, 200 * slack);
  EXPECT_LE(always, 200 * 4);  // not absurdly above
  EXPECT_GE(mean_solves("monitor recovering", options, recovering), 200 * slack);
}

TEST(MonitorCoverage, MeanTimeToAFalseAlarmWithAReferenceToo) {
  RandomStream random(7, "monitor reference", 0);
  double sum = 0;
  constexpr Index streams = 1000;
  for (Index i = 0; i < streams; ++i) {
    WatchOptions options = two_rates({100, 0});
    for (int k = 0; k < 60; ++k) options.reference.push_back(random.uniform());
    options.seed = static_cast<std::uint64_t>(i);
    Watch watch(options);
    while (!watch.update(random.uniform()) && watch.solves() < 5000) {
    }
    sum += static_cast<double>(watch.solves());
  }
  EXPECT_GE(sum / streams, 100 * (1 - 5 / std::sqrt(static_cast<double>(streams))));
  EXPECT_LE(sum / streams, 100 * 10);
}

TEST(MonitorCoverage, ATestIsEverFalseWithProbabilityAlpha) {
  for (const bool with_reference : {false, true}) {
    Index ever = 0;
    for (Index i = 0; i < monitored_streams; ++i) {
      RandomStream random(2026, "monitor test", static_cast<std::uint64_t>(i));
      WatchOptions options = two_rates({1e6, 0.05});
      for (int k = 0; with_reference && k < 60; ++k) options.reference.push_back(random.uniform());
      options.seed = static_cast<std::uint64_t>(i);
      Watch watch(options);
      bool alarm = false;
      for (int t = 0; t < 400 && !alarm; ++t) alarm = watch.update(random.uniform());
      ever += alarm ? 1 : 0;
    }
    test::expect_at_most(ever, 0.05, monitored_streams);
    EXPECT_GT(ever, 0);
  }
}

TEST(MonitorCoverage, DelaysAreThoseOfTheSpecification) {
  for (const auto& [rate, sketch] : {std::pair{0.02, 2261.0}, {0.05, 274.0}}) {
    double sum = 0;
    const Index streams = monitored_streams / 4;
    for (Index i = 0; i < streams; ++i) {
      RandomStream random(2027, "monitor delay", static_cast<std::uint64_t>(i));
      WatchOptions options;
      options.claims = {{"below 1", {1, true, 0.01}}};
      Watch watch(options);
      while (!watch.update(random.uniform() < rate ? 2 : 0)) {
      }
      sum += static_cast<double>(watch.solves());
    }
    // 5 %, and what is left to chance in so few streams.
    EXPECT_LE(sum / static_cast<double>(streams),
              sketch * (1.05 + 2 / std::sqrt(static_cast<double>(streams))));
  }
}

}  // namespace
}  // namespace surefoot
