#include "surefoot/report/watch_page.hpp"

#include "support/contains.hpp"

#include <gtest/gtest.h>

#include <algorithm>

namespace surefoot::report {
namespace {

using test::contains;

TEST(WatchPage, ShowsAlarmsEvidenceClaimsAndMeaning) {
  monitoring::WatchOptions options;
  options.claims = {{"below 1 <b>", {1, true, 0.01}}};
  options.metric = "residual";
  options.certificate = "0123456789abcdef";
  monitoring::Watch watch(options);
  for (int i = 0; i < 3000; ++i) watch.read_line("0.5");
  while (!watch.read_line("2").alarm) {
  }
  const Report report = watch_report(watch);
  ASSERT_EQ(report.files.size(), 2U);
  EXPECT_EQ(report.files[0].name, "report.html");
  const std::string& page = report.files[0].content;
  EXPECT_TRUE(contains(page, "ALARM at solve 3,0"));
  EXPECT_TRUE(contains(page, "against the certificate 0123456789ab: 1 alarm"));
  EXPECT_TRUE(contains(page, "below 1 &lt;b&gt;"));
  EXPECT_FALSE(contains(page, "<b>"));
  EXPECT_TRUE(contains(page, "does not promise"));
  EXPECT_TRUE(contains(page, "<svg") || !report.notices.empty());
  EXPECT_EQ(report.files[1].name, "evidence.csv");
  const std::string& csv = report.files[1].content;
  EXPECT_TRUE(csv.starts_with("solve,evidence\n4,"));
  EXPECT_EQ(std::count(csv.begin(), csv.end(), '\n'), 1 + (watch.solves() + 3) / 4);
  EXPECT_TRUE(is_file_of_watch("evidence.csv"));
  EXPECT_FALSE(is_file_of_watch("certificate.json"));
}

TEST(WatchPage, OfAStreamWithoutLinesIsWholeToo) {
  monitoring::WatchOptions options;
  options.claims = {{"below 1", {1, true, 0.0}}};
  const Report report = watch_report(monitoring::Watch(options));
  EXPECT_TRUE(contains(report.files[0].content, "No alarm."));
  EXPECT_EQ(report.files[1].content, "solve,evidence\n");
}

}  // namespace
}  // namespace surefoot::report
