#include "surefoot/certify/kinds/claim_kind.hpp"
#include "surefoot/certify/worst_case_part.hpp"
#include "surefoot/report/certificate_figures.hpp"
#include "surefoot/report/chart_data.hpp"
#include "surefoot/report/curves.hpp"
#include "surefoot/report/figure.hpp"
#include "surefoot/report/table.hpp"

#include "support/synthetic_certificate.hpp"

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include <algorithm>

namespace surefoot::report {
namespace {

using ReportJson = nlohmann::json;

/// Two variants; tolerance 1 stands for 0.1 with nothing failed, and the worst case reaches 60, which stands
/// for 1e-2.
certify::Certificate with_worst_case(bool estimated) {
  certify::Certificate certificate = test::SyntheticCertificate({.variants = 2, .steps = 20}).get();
  for (certify::Variant& variant : certificate.variants) variant.non_finite_runs = 0;
  const auto renamed = [](double tolerance) {
    return tolerance == 0.1 ? 1.0 : tolerance == 1e-2 ? 60.0 : tolerance;
  };
  for (certify::SuccessClaim& claim : certificate.success) {
    if (renamed(claim.tolerance) == 60.0) claim.failures = 0;
    claim.tolerance = renamed(claim.tolerance);
  }
  for (certify::BudgetClaim& claim : certificate.budget) claim.tolerance = renamed(claim.tolerance);
  certificate.tolerances = {1e-4, 1e-3, 1, 60};
  const auto dist0 = [&](bool wanted) { return wanted ? std::optional<double>(200.0) : std::nullopt; };
  certify::add_worst_case(
      certificate, certify::parse_stated_worst_case("averaged:0.5", dist0(!estimated), dist0(estimated)));
  return certificate;
}

ReportJson chart_of(const certify::Certificate& certificate, std::size_t chart) {
  return ReportJson::parse(chart_data({chart_set(certificate)}))["sets"][0]["charts"][chart];
}

TEST(WorstCaseReport, IsACurveAndAColumnBesideTheQuantiles) {
  const certify::Certificate certificate = with_worst_case(false);
  const Figure figure = quantile_figure(certificate);
  for (const Panel& panel : figure.panels) {
    const Curve& curve = panel.curves.back();
    EXPECT_EQ(curve.name, "every problem (w), if as stated");
    ASSERT_EQ(curve.points.size(), 20U);
    EXPECT_NEAR(curve.points[0].y, 200, 1e-3);
    EXPECT_NEAR(curve.points[4].y, 57.243, 1e-3);
  }
  EXPECT_NE(figure.remark.find("as the user states"), std::string::npos);
  EXPECT_EQ(figure.styles.at(1), "certified, (w) included");
  const TextTable table = certify::quantiles().table(certificate, 0, {1, 5});
  EXPECT_EQ(table.columns.back().group, "every problem (w), if as stated");
  EXPECT_EQ(table.columns.back().header, "certified");
  EXPECT_EQ(table.rows[1].back(), "57.3");
  EXPECT_NE(to_latex(table).find("as the user states"), std::string::npos);
  const ReportJson chart = chart_of(certificate, 1);
  EXPECT_EQ(chart["parameters"].back(), "every problem (w), if as stated");
  const ReportJson& series = chart["series"].back();
  EXPECT_EQ(series["certifiedText"][4], "57.3 (w)");
  EXPECT_EQ(series["observedText"][4], "-");
}

TEST(WorstCaseReport, BetterNumbersAreMarkedAndOthersAreNot) {
  const certify::Certificate certificate = with_worst_case(false);
  const TextTable success = certify::success_rates().table(certificate, 0, {4, 5, 20});
  ASSERT_EQ(success.columns.size(), 9U);
  EXPECT_EQ(success.columns[2].group, "below 1");
  EXPECT_EQ(success.columns[4].group, "below 60");
  EXPECT_EQ(success.rows[0][4].find("(w)"), std::string::npos) << "64.95 at iteration 4";
  EXPECT_EQ(success.rows[1][4], "100 % (w)");
  EXPECT_EQ(success.rows[2][2].find("(w)"), std::string::npos) << "tolerance 1 is not reached";
  std::size_t marked = 0;
  const TextTable budgets = certify::iteration_budgets().table(certificate, 0, {});
  for (const std::vector<std::string>& row : budgets.rows)
    marked += static_cast<std::size_t>(std::count(row.begin(), row.end(), "5 (w)"));
  EXPECT_GE(marked, 4U) << "below 60";
  // What is observed at a tolerance of 1 is a share of problems, not a worst case.
  const ReportJson chart = chart_of(certificate, 0);
  for (const ReportJson& series : chart["series"])
    EXPECT_NE(series["observedText"][0].get<std::string>().find('%'), std::string::npos);
  const std::string csv = curves_csv(certificate);
  EXPECT_NE(csv.find("condition,worst_case,with_worst_case\n"), std::string::npos);
}

TEST(WorstCaseReport, AnEstimateIsNeverUnderCertified) {
  const certify::Certificate certificate = with_worst_case(true);
  EXPECT_NE(quantile_figure(certificate).panels[0].curves.back().name.find("ESTIMATED"), std::string::npos);
  EXPECT_EQ(quantile_figure(certificate).styles.at(1), "certified");
  const TextTable table = certify::quantiles().table(certificate, 0, {1, 5});
  EXPECT_EQ(table.columns.back().header, "not certified");
  EXPECT_EQ(table.rows[1].back(), "57.3");
  const ReportJson chart = chart_of(certificate, 1);
  const ReportJson& series = chart["series"].back();
  EXPECT_TRUE(series["certified"][4].is_null());
  EXPECT_EQ(series["certifiedText"][4], "-");
  EXPECT_EQ(series["observedText"][4], "57.3 (estimate)");
  EXPECT_EQ(terminal_text(certificate).find("(w)"), std::string::npos);
  EXPECT_NE(terminal_text(certificate).find("The worst case rests on an estimate"), std::string::npos);
}

}  // namespace
}  // namespace surefoot::report
