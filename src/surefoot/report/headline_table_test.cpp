#include "surefoot/report/headline_table.hpp"

#include "support/synthetic_certificate.hpp"

#include <gtest/gtest.h>

namespace surefoot::report {
namespace {

using certify::Certificate;

Certificate small() {
  Certificate certificate = test::synthetic_certificate({.variants = 2});
  certificate.steps = {5, 10};
  certificate.tolerances = {1e-3, 1e-2};
  certificate.quantiles = {0.5, 0.9};
  certificate.quantile.clear();
  certificate.bands.clear();
  certificate.success.clear();
  certificate.budget.clear();
  for (std::size_t v = 0; v < 2; ++v) {
    certificate.variants[v].name = v == 0 ? "cold" : "warm";
    for (const double tolerance : certificate.tolerances) {
      const double share = tolerance < 5e-3 ? 0.80 : 0.95;
      certificate.success.push_back({v, 10, tolerance, bounds::RiskMethod::exact, 100, 1, 0.01, 0.99, share});
    }
  }
  certify::BudgetClaim budget;
  budget.tolerance = 1e-2;
  budget.quantile = 0.5;
  budget.steps = 5;
  certificate.budget.push_back(budget);
  budget.quantile = 0.9;
  budget.steps = 10;
  certificate.budget.push_back(budget);
  return certificate;
}

TEST(HeadlineTable, HasTheLargestShareAndTheLastIteration) {
  const auto headline = headline_table(small());
  ASSERT_TRUE(headline);
  const std::vector<std::vector<std::string>> rows{{"1e-3", "-", "80.0 %", "-", "80.0 %"},
                                                   {"1e-2", "10 (90 %)", "95.0 %", "-", "95.0 %"}};
  EXPECT_EQ(headline->table.rows, rows);
  EXPECT_NE(headline->note.find("not certifiable with these samples"), std::string::npos);
  EXPECT_NE(headline->note.find("after 10 iterations"), std::string::npos);
}

TEST(HeadlineTable, LeavesOutWhatTheConfidenceDoesNotCover) {
  Certificate certificate = small();
  for (certify::BudgetClaim& claim : certificate.budget) claim.method = bounds::BudgetMethod::paper;
  const auto headline = headline_table(certificate);
  ASSERT_TRUE(headline);
  EXPECT_EQ(headline->table.rows[1], (std::vector<std::string>{"1e-2", "95.0 %", "95.0 %"}));
}

TEST(HeadlineTable, IsNoneWhereSentencesSayMore) {
  Certificate certificate = small();
  certificate.shift = bounds::Shift{};
  EXPECT_FALSE(headline_table(certificate));
  certificate = small();
  certificate.success.clear();
  certificate.budget.clear();
  EXPECT_FALSE(headline_table(certificate));
  certificate = small();
  for (certify::SuccessClaim& claim : certificate.success) claim.lower_bound = 0;
  certificate.budget.clear();
  EXPECT_FALSE(headline_table(certificate));
  EXPECT_FALSE(headline_table(Certificate{}));
}

TEST(HeadlineTable, OfScalarsHasAValueForEachShare) {
  Certificate certificate = small();
  certificate.scalar = true;
  certificate.unit = "ms";
  for (std::size_t v = 0; v < 2; ++v) {
    certify::QuantileClaim claim;
    claim.variant = v;
    claim.quantile = 0.9;
    claim.upper_bound = v == 0 ? 2.25 : infinity;
    certificate.quantile.push_back(claim);
  }
  const auto headline = headline_table(certificate);
  ASSERT_TRUE(headline);
  EXPECT_EQ(headline->table.rows[1], (std::vector<std::string>{"90 %", "2.25 ms", "-"}));
}

}  // namespace
}  // namespace surefoot::report
