#include "surefoot/monitoring/words.hpp"

#include "support/contains.hpp"

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

namespace surefoot::monitoring {
namespace {

using test::contains;
using Json = nlohmann::json;

WatchOptions watched(AlarmRule rule) {
  WatchOptions options;
  options.claims = {{"below 1e-3 after 20", {1e-3, true, 0.01}}, {"99% below 1 after 20", {1, true, 0.02}}};
  options.rule = rule;
  options.metric = "residual";
  options.variant = "warm";
  options.delta = 0.01;
  return options;
}

TEST(MonitorWords, SayWhatAnAlarmMeansAndWhatACertificateDoesNotPromise) {
  const std::string detector = opening_text(Watch(watched({1e6, 0})));
  EXPECT_TRUE(contains(detector, "Watching the residual of warm:"));
  EXPECT_TRUE(contains(detector, "below 1e-3 after 20 (certified failure rate at most 1 %)"));
  EXPECT_TRUE(contains(detector, "the mean number of solves to an alarm is at least 1e6"));
  EXPECT_TRUE(contains(detector, "whatever happened before it"));
  EXPECT_TRUE(contains(detector, "does not promise this of solves that depend on those before them"));
  EXPECT_TRUE(contains(detector, "monitor one line per group"));
  const std::string test = opening_text(Watch(watched({1e6, 1e-3})));
  EXPECT_TRUE(contains(test,
                       "an alarm is ever raised with probability at most 1e-3: falsely with at most 1e-3 + "
                       "1e-2, for the certificate itself may be false"));
  EXPECT_TRUE(contains(test, "An alarm is raised at evidence 1000.") ||
              contains(test, "An alarm is raised at evidence 1e3."));
}

TEST(MonitorWords, AnAlarmSaysWhenHowMuchAndHowManyFailNow) {
  Watch watch(watched({1e6, 0}));
  for (int i = 0; i < 500; ++i) watch.read_line("1e-4");
  watch.read_line("");
  int solves = 0;
  while (!watch.read_line(solves % 2 == 0 ? "0.5" : "1e-4").alarm) ++solves;
  const std::string text = alarm_text(watch, watch.last_alarm());
  EXPECT_TRUE(
      contains(text, fmt::format("ALARM at solve {} (line {}): evidence ", 501 + solves, 502 + solves)));
  EXPECT_TRUE(contains(text, ", threshold 1e6. 'below 1e-3 after 20': since about solve 501, "));
  EXPECT_TRUE(contains(text, "certified is at most 1 %."));
  const Json alarm = Json::parse(alarm_json(watch, watch.last_alarm()));
  EXPECT_EQ(alarm["event"], "alarm");
  EXPECT_EQ(alarm["solve"], 501 + solves);
  EXPECT_EQ(alarm["line"], 502 + solves);
  EXPECT_EQ(alarm["strongest"], "below 1e-3 after 20");
  EXPECT_EQ(alarm["claims"][0]["since_solve"], 501);
  EXPECT_NEAR(alarm["claims"][0]["present_rate"].get<double>(), 0.5, 0.1);
  EXPECT_TRUE(alarm["claims"][1]["present_rate"].is_null());
  EXPECT_GE(alarm["evidence"].get<double>(), 1e6);
}

TEST(MonitorWords, TheEndCountsEverything) {
  Watch watch(watched({1e6, 0}));
  for (const char* line : {"1e-4", "x", "", "1e-2", "nan"}) watch.read_line(line);
  const std::string text = end_text(watch);
  EXPECT_TRUE(contains(text, "End of the stream: 4 solves, no alarm; evidence "));
  EXPECT_TRUE(contains(text, "3 of 4 failed, 75.0 %"));
  EXPECT_TRUE(contains(text, "1 line was no number: counted as failed."));
  EXPECT_TRUE(contains(text, "1 line was blank: no solve."));
  const Json end = Json::parse(status_json(watch, "end"));
  EXPECT_EQ(end["unreadable"], 1);
  EXPECT_EQ(end["gaps"], 1);
  EXPECT_EQ(end["solves"], 4);
  EXPECT_EQ(end["claims"][1]["failures"], 2);
  const Json start = Json::parse(opening_json(watch));
  EXPECT_EQ(start["arl"], 1e6);
  EXPECT_EQ(start["promise"].size(), 2U);
}

TEST(MonitorWords, MetricsAreThoseOfPrometheus) {
  WatchOptions options = watched({1e6, 0});
  options.claims[0].text = "a \"b\" \\ c";
  Watch watch(options);
  watch.update(0.5);
  const std::string text = prometheus_text(watch);
  EXPECT_TRUE(
      contains(text, "# TYPE surefoot_monitor_solves_total counter\nsurefoot_monitor_solves_total 1\n"));
  EXPECT_TRUE(contains(text, "surefoot_monitor_failures_total{claim=\"a \\\"b\\\" \\\\ c\"} 1\n"));
  EXPECT_TRUE(contains(text, "surefoot_monitor_failures_total{claim=\"99% below 1 after 20\"} 0\n"));
  EXPECT_TRUE(contains(text, "surefoot_monitor_threshold 1000000\n"));
  EXPECT_TRUE(contains(text, "surefoot_monitor_alarms_total 0\n"));
  EXPECT_TRUE(text.ends_with("\n"));
}

}  // namespace
}  // namespace surefoot::monitoring
