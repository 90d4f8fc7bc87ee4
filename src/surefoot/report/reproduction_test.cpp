#include "surefoot/report/reproduction.hpp"

#include "surefoot/certify/sentences.hpp"
#include "surefoot/report/page.hpp"

#include "support/contains.hpp"
#include "support/synthetic_certificate.hpp"

#include <gtest/gtest.h>

#include <string>
#include <utility>

namespace surefoot::report {
namespace {

using test::contains;
using test::synthetic_certificate;

const PlotOptions no_gnuplot{.gnuplot = "/no/such/gnuplot"};

std::size_t times_in(const std::string& text, const std::string& part) {
  std::size_t count = 0;
  for (std::size_t at = text.find(part); at != std::string::npos; at = text.find(part, at + 1)) ++count;
  return count;
}

ExperimentResult done_experiment(const std::string& name) {
  ExperimentResult result;
  result.name = name;
  result.title = "Experiment " + name;
  result.seconds = 61;
  TextTable table;
  table.columns = {{"share"}, {"paper", Align::right, "bound"}, {"ours", Align::right, "bound"}};
  table.add_row({"90 %", "12", "<7>"});
  result.tables = {{"slug", "A <table>", table, {"17 of 18 are better.", "b", "c", "d"}}};
  result.certificates = {{name, true, synthetic_certificate()},
                         {name + "/further", false, synthetic_certificate()}};
  return result;
}

Reproduction two_and_a_missing_one() {
  Reproduction whole;
  whole.title = "Title";
  whole.command = "surefoot reproduce all --out 'a b'";
  ExperimentResult missing;
  missing.name = missing.title = "letters";
  missing.missing = "Left out: there are no letters.";
  whole.experiments = {done_experiment("one"), missing, done_experiment("two")};
  return whole;
}

TEST(ReproductionPage, HasEveryExperimentAndSaysWhatIsMissing) {
  const std::string html = ReproductionPage(no_gnuplot).html(two_and_a_missing_one());
  EXPECT_EQ(times_in(html, "<section id=\"experiment-"), 3U);
  EXPECT_GE(times_in(html, "Left out: there are no letters."), 2U);
  EXPECT_EQ(times_in(html, ">17 of 18<"), 2U);
  EXPECT_TRUE(contains(html, "17 of 18 are better."));
  EXPECT_TRUE(contains(html, "&lt;7&gt;"));
  EXPECT_FALSE(contains(html, "<7>"));
  EXPECT_TRUE(contains(html, "href=\"one/further/report.html\""));
  EXPECT_TRUE(contains(html, "surefoot verify two/certificate.json"));
  EXPECT_TRUE(contains(html, ">1 more remark<"));
  EXPECT_TRUE(contains(html, "surefoot reproduce all --out &#39;a b&#39;") ||
              contains(html, "surefoot reproduce all --out 'a b'"));
}

TEST(ReproductionPage, HoldsTheChartingLibraryOnceAndIdsOfEachCertificate) {
  if (!has_chart_library()) GTEST_SKIP() << "built without the charting library";
  const std::string html = ReproductionPage(no_gnuplot).html(two_and_a_missing_one());
  EXPECT_EQ(times_in(html, "<script>"), 3U);
  for (const char* id : {"one-1-success", "one-1-quantiles", "two-1-success", "two-1-quantiles"})
    EXPECT_EQ(times_in(html, std::string("data-chart=\"") + id + "\""), 1U) << id;
}

TEST(ReproductionPage, GrowsAsExperimentsAreDone) {
  Reproduction whole = two_and_a_missing_one();
  ReproductionPage page(no_gnuplot);
  const ExperimentResult second = std::exchange(whole.experiments[2], whole.experiments[1]);
  whole.experiments[2].name = "two";
  EXPECT_FALSE(contains(page.html(whole), "two-1-success"));
  whole.experiments[2] = second;
  EXPECT_EQ(page.html(whole), ReproductionPage(no_gnuplot).html(two_and_a_missing_one()));
}

TEST(SummarySentence, IsTheLargestShareAtATellingTolerance) {
  certify::Certificate certificate = synthetic_certificate({.variants = 1});
  const std::string text = summary_sentence(certificate);
  EXPECT_TRUE(text.starts_with("With confidence 0.99, the ")) << text;
  EXPECT_TRUE(contains(text, " (up to iteration ")) << text;
  certificate.budget.clear();
  EXPECT_TRUE(contains(summary_sentence(certificate), " is at or below ")) << summary_sentence(certificate);
  certificate.simultaneous = certify::Simultaneity::each;
  EXPECT_TRUE(contains(summary_sentence(certificate), "for this claim alone"));
  certificate.quantile.clear();
  EXPECT_TRUE(contains(summary_sentence(certificate), "iterations, the ")) << summary_sentence(certificate);
  EXPECT_TRUE(contains(summary_sentence(certificate), " is below ")) << summary_sentence(certificate);
  certificate.success.clear();
  EXPECT_EQ(summary_sentence(certificate),
            "At confidence 0.99 these samples give no guarantee on the " + certificate.metric + ".");
}

TEST(SummarySentence, RoundsALongToleranceUp) {
  certify::Certificate certificate = synthetic_certificate({.variants = 1});
  ASSERT_FALSE(certificate.budget.empty());
  certificate.budget.resize(1);
  certificate.tolerances = {-8.685889638065037};
  certificate.budget[0].tolerance = -8.685889638065037;
  certificate.budget[0].steps = 7;
  certificate.budget[0].method = bounds::BudgetMethod::settling;
  EXPECT_TRUE(contains(summary_sentence(certificate), "below -8.68")) << summary_sentence(certificate);
}

}  // namespace
}  // namespace surefoot::report
