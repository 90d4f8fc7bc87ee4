// Values at the ends of what each bound accepts, and just outside.
#include "surefoot/bounds/binomial.hpp"
#include "surefoot/bounds/confidence_budget.hpp"
#include "surefoot/bounds/iteration_budget.hpp"
#include "surefoot/bounds/kl.hpp"
#include "surefoot/bounds/pac_bayes.hpp"
#include "surefoot/bounds/quantile.hpp"
#include "surefoot/bounds/risk.hpp"
#include "surefoot/bounds/worst_case.hpp"

#include "support/input_error.hpp"

#include <gtest/gtest.h>

#include <limits>

namespace surefoot::bounds {
namespace {

constexpr double inf = std::numeric_limits<double>::infinity();
constexpr double tiny = std::numeric_limits<double>::denorm_min();

TEST(Edges, ProbabilitiesOfBinomialsIncludeZeroAndOne) {
  EXPECT_EQ(binomial_cdf_upper(2, 5, 0.0), 1.0);
  EXPECT_EQ(binomial_tail_upper(2, 5, 1.0), 1.0);
  EXPECT_LE(binomial_cdf_upper(2, 5, 1.0), tiny);
  EXPECT_LE(binomial_tail_upper(2, 5, 0.0), tiny);
  EXPECT_INPUT_ERROR((void)binomial_cdf_upper(2, 5, -tiny), "probability");
  EXPECT_INPUT_ERROR((void)binomial_cdf_upper(2, 5, 1.0 + 1e-15), "probability");
  EXPECT_INPUT_ERROR((void)binomial_tail_upper(2, 5, -tiny), "probability");
  EXPECT_INPUT_ERROR((void)binomial_cdf_upper(-1, 5, 0.5), "0 .. 5");
  EXPECT_INPUT_ERROR((void)binomial_cdf_upper(6, 5, 0.5), "0 .. 5");
  EXPECT_INPUT_ERROR((void)binomial_cdf_upper(0, 0, 0.5), "samples: 0");
  EXPECT_GE(binomial_cdf_upper(0, 1, 0.5), 0.5);
}

TEST(Edges, ConfidencesAreDecimalsBetweenZeroAndOne) {
  EXPECT_EQ(delta_of_confidence(0.99), 0.01);
  EXPECT_EQ(delta_of_confidence(0.5), 0.5);
  EXPECT_EQ(delta_of_confidence(0.9), 0.1);
  EXPECT_INPUT_ERROR((void)delta_of_confidence(0.0), "confidence: 0");
  EXPECT_INPUT_ERROR((void)delta_of_confidence(1.0), "confidence: 1");
}

TEST(Edges, BudgetsCanBeSpentToTheEnd) {
  ConfidenceBudget all(0.5);
  all.take("first", 2, 0.125);
  all.take("second", 1, 0.25);
  EXPECT_EQ(all.spent(), 0.5);
  EXPECT_INPUT_ERROR(all.take("third", 1, 1e-18), "overspend");
  EXPECT_EQ(all.shares().size(), 2U);
  EXPECT_INPUT_ERROR(all.take("none", 0, 0.1), "0 claims");
  EXPECT_INPUT_ERROR(all.take("certain", 1, 0.0), "outside (0, 1)");
  EXPECT_INPUT_ERROR(all.take("certain", 1, 1.0), "outside (0, 1)");
  EXPECT_INPUT_ERROR(ConfidenceBudget(0.0), "delta");
  EXPECT_INPUT_ERROR(ConfidenceBudget(1.0), "delta");
  ConfidenceBudget whole(0.5);
  EXPECT_GT(whole.take_fraction("all", 1, 1.0), 0.4999);
  EXPECT_INPUT_ERROR((void)whole.take_fraction("more", 1, 1.01), "fraction");
  EXPECT_INPUT_ERROR((void)whole.take_fraction("nothing", 1, 0.0), "fraction");
}

TEST(Edges, DerivativesOfKlInverseHaveLimits) {
  EXPECT_EQ(kl_inverse_with_derivatives(1.0, 0.5).p, 1.0);
  EXPECT_EQ(kl_inverse_with_derivatives(1.0, 0.5).dp_dq, 1.0);
  EXPECT_EQ(kl_inverse_with_derivatives(0.5, inf).p, 1.0);
  EXPECT_EQ(kl_inverse_with_derivatives(0.5, inf).dp_dq, 0.0);
  EXPECT_EQ(kl_inverse_with_derivatives(0.5, inf).dp_dc, 0.0);
}

TEST(Edges, RegularizersTakeNoDivergenceAndTheFirstPlaceOfTheGrid) {
  EXPECT_GT(regularizer(0.0, {1}, 100, 0.01), 0.0);
  EXPECT_LT(regularizer(0.0, {1}, 100, 0.01), regularizer(0.5, {1}, 100, 0.01));
  EXPECT_INPUT_ERROR((void)regularizer(-tiny, {1}, 100, 0.01), "KL");
  EXPECT_INPUT_ERROR((void)regularizer(0.0, {0}, 100, 0.01), "a = 0");
}

TEST(Edges, CalibrationTakesASingleDraw) {
  EXPECT_GT(calibrated_risk_paper(0.5, 1, 0.1), 0.5);
  EXPECT_INPUT_ERROR((void)calibrated_risk_paper(0.5, 0, 0.1), "weight draws");
  EXPECT_GT(calibrated_risk(0, 1, 0.1), 0.0);
  EXPECT_EQ(calibrated_risk(1, 1, 0.1), 1.0);
  EXPECT_INPUT_ERROR((void)calibrated_risk(0, 0, 0.1), "runs");
  EXPECT_INPUT_ERROR((void)calibrated_risk(2, 1, 0.1), "failures");
}

TEST(Edges, RanksRefuseCertainty) {
  EXPECT_EQ(order_statistic_rank(1, 0.5, 0.5 + 1e-9), 1);
  EXPECT_INPUT_ERROR((void)order_statistic_rank(10, 0.5, 1.0), "delta");
  EXPECT_INPUT_ERROR((void)order_statistic_rank(10, 0.5, 0.0), "delta");
  EXPECT_INPUT_ERROR((void)order_statistic_rank(10, 1.0, 0.1), "quantile");
  EXPECT_INPUT_ERROR((void)order_statistic_rank(10, 0.0, 0.1), "quantile");
  EXPECT_INPUT_ERROR((void)order_statistic_rank(0, 0.5, 0.1), "samples");
}

TEST(Edges, ARiskEqualToWhatAQuantileLeavesCoversIt) {
  EXPECT_TRUE(covers(0.5, 0.5));
  EXPECT_TRUE(covers(0.25, 0.75));
  EXPECT_FALSE(covers(0.25 + 1e-16, 0.75));
  EXPECT_FALSE(covers(0.75, 0.25));  // below a half, rounded down
  EXPECT_TRUE(covers(0.75 - 1e-15, 0.25));
}

TEST(Edges, StepsOfWorstCasesAreStrictlyBelow) {
  // 2^-k after k steps, with the rounding of the residual.
  const double at_two = linear_rate_residual(0.5, 2, 1.0);
  EXPECT_EQ(linear_rate_steps(0.5, 1.0, at_two), 4);
  EXPECT_EQ(linear_rate_steps(0.5, 1.0, at_two * 1.0001), 3);
  EXPECT_EQ(linear_rate_steps(0.5, 0.0, 1.0), 1);
  EXPECT_INPUT_ERROR((void)linear_rate_steps(0.5, 1.0, 0.0), "tolerance");
  EXPECT_INPUT_ERROR((void)linear_rate_residual(1.0, 1, 1.0), "beta");
  EXPECT_INPUT_ERROR((void)averaged_rate_residual(1.0, 1, 1.0), "alpha");
  EXPECT_INPUT_ERROR((void)averaged_rate_residual(0.0, 1, 1.0), "alpha");
  EXPECT_INPUT_ERROR((void)linear_rate_residual(0.5, -1, 1.0), "k: -1");
}

TEST(Edges, TheEstimatedDistanceIsAsDocumented) {
  EXPECT_DOUBLE_EQ(estimated_initial_distance(10.0), 11.0);
}

TEST(Edges, GridsBeginAndEndWhereTheySay) {
  EXPECT_EQ(linearly_spaced(0.0, 1.0, 2), (std::vector<double>{0.0, 1.0}));
  EXPECT_INPUT_ERROR((void)linearly_spaced(0.0, 1.0, 1), "points");
  EXPECT_INPUT_ERROR((void)log_spaced(0.0, 1.0, 3), "positive");
  EXPECT_EQ(residual_grid().size(), 81U);
  EXPECT_EQ(residual_grid().front(), 1e-6);
  EXPECT_EQ(residual_grid().back(), 1e2);
  EXPECT_EQ(decibel_grid().front(), -80.0);
  EXPECT_EQ(regression_grid().front(), 1e-3);
  EXPECT_EQ(regression_grid().back(), 1e1);
}

}  // namespace
}  // namespace surefoot::bounds
