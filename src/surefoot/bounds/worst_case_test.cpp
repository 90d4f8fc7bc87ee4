#include "surefoot/bounds/worst_case.hpp"

#include "surefoot/bounds/confidence_budget.hpp"
#include "surefoot/bounds/iteration_budget.hpp"
#include "surefoot/bounds/quantile.hpp"
#include "surefoot/core/error.hpp"

#include <gtest/gtest.h>

#include <cmath>

namespace surefoot::bounds {
namespace {

// Residual after k steps of T = (1-alpha) I + alpha R, R a rotation of the plane by `angle`, from distance 1.
double rotation_residual(double alpha, double angle, Index k) {
  const double shrink = std::hypot(1 - alpha + alpha * std::cos(angle), alpha * std::sin(angle));
  const double move = alpha * std::hypot(1 - std::cos(angle), std::sin(angle));
  return std::pow(shrink, static_cast<double>(k)) * move;
}

TEST(WorstCase, AveragedRateHoldsForEveryAveragedRotation) {
  for (const double alpha : {0.5, 0.6, 0.75, 0.85, 0.9, 0.97, 0.999}) {
    for (const Index k : {0, 1, 2, 3, 5, 10, 100, 1000}) {
      const double bound = averaged_rate_residual(alpha, k, 1.0);
      for (int i = 0; i <= 2000; ++i) {
        EXPECT_LE(rotation_residual(alpha, M_PI * i / 2000.0, k), bound) << alpha << " " << k << " " << i;
      }
    }
  }
}

TEST(WorstCase, ReflectionAttainsTheSecondCase) {
  // The paper's (1/2)(2 alpha - 1)^k would be 0.4 here; the reflection moves by 1.44.
  EXPECT_NEAR(averaged_rate_residual(0.9, 1, 1.0), 1.44, 1e-12);
  EXPECT_NEAR(rotation_residual(0.9, M_PI, 1), 1.44, 1e-12);
}

TEST(WorstCase, IsTheFormulaForTheFirstCase) {
  const double k = 10;
  const double written = 3.0 * std::sqrt(1 / (k + 1) * std::pow(k / (k + 1), k) / 0.25);
  EXPECT_NEAR(averaged_rate_residual(0.5, 10, 3.0), written, 1e-14);
  EXPECT_NEAR(linear_rate_residual(0.5, 3, 4.0), 1.0, 1e-14);
}

TEST(WorstCase, StepsAreTheFirstBelowTheTolerance) {
  const auto averaged = averaged_rate_steps(0.5, 26.0, 1e-2);
  ASSERT_TRUE(averaged);
  EXPECT_LT(averaged_rate_residual(0.5, *averaged - 1, 26.0), 1e-2);
  EXPECT_GE(averaged_rate_residual(0.5, *averaged - 2, 26.0), 1e-2);
  const auto linear = linear_rate_steps(0.99, 1e3, 1e-3);
  ASSERT_TRUE(linear);
  EXPECT_LT(linear_rate_residual(0.99, *linear - 1, 1e3), 1e-3);
  EXPECT_GE(linear_rate_residual(0.99, *linear - 2, 1e3), 1e-3);
  EXPECT_EQ(linear_rate_steps(0.5, 1e-9, 1.0), 1);
  EXPECT_FALSE(averaged_rate_steps(0.5, 1e9, 1e-9));
}

TEST(WorstCase, NamesTheBadValue) {
  EXPECT_THROW(averaged_rate_residual(0.4, 1, 1.0), InputError);
  EXPECT_THROW(averaged_rate_residual(1.0, 1, 1.0), InputError);
  EXPECT_THROW(linear_rate_residual(1.0, 1, 1.0), InputError);
  EXPECT_THROW(linear_rate_residual(0.5, -1, 1.0), InputError);
  EXPECT_THROW(linear_rate_steps(0.5, 1.0, 0.0), InputError);
  EXPECT_THROW(linear_rate_residual(0.5, 1, std::nan("")), InputError);
}

TEST(ConfidenceBudget, HandsOutSharesAndRefusesToOverspend) {
  ConfidenceBudget budget(0.01);
  const double each = budget.take_fraction("success", 300, 1.0 / 3);
  EXPECT_NEAR(each, 0.01 / 900, 1e-18);
  budget.take_fraction("quantile", 7, 1.0 / 3);
  budget.take_fraction("budget", 11, 1.0 / 3);
  EXPECT_LE(budget.spent(), 0.01);
  EXPECT_GT(budget.spent(), 0.01 * (1 - 1e-12));
  EXPECT_THROW(budget.take("one more", 1, 1e-6), InputError);
  EXPECT_EQ(budget.shares().size(), 3U);
}

TEST(ConfidenceBudget, SpendsAllButNeverMoreForAnyNumberOfClaims) {
  for (Index claims = 1; claims < 5000; claims += 7) {
    ConfidenceBudget budget(0.05);
    EXPECT_NO_THROW(budget.take_fraction("all", claims, 1.0));
    EXPECT_LE(budget.spent(), 0.05);
  }
  EXPECT_THROW(ConfidenceBudget(0.0), InputError);
  EXPECT_THROW(ConfidenceBudget(1.0), InputError);
  EXPECT_THROW(ConfidenceBudget(0.1).take("x", 0, 0.1), InputError);
}

TEST(IterationBudget, TimeQuantileTakesTheFirstColumnThatReachesTheRank) {
  const std::vector<Index> reached{0, 10, 500, 922, 923, 1000};
  const IterationBudget budget = time_quantile_budget(reached, 1000, 0.9, 0.0081);
  EXPECT_EQ(budget.rank, 923);
  EXPECT_EQ(budget.column, 4U);
  EXPECT_FALSE(time_quantile_budget({0, 10, 922}, 1000, 0.9, 0.0081).column);
  EXPECT_EQ(time_quantile_budget({10}, 10, 0.9, 0.0081).rank, 0);
}

TEST(IterationBudget, PaperTakesTheFirstBoundBelow) {
  const std::vector<Index> failures{1000, 300, 70, 60, 0};
  const IterationBudget budget = paper_budget(failures, 1000, 0.9, 1e-4, RiskMethod::kl);
  EXPECT_EQ(budget.column, 3U);
  EXPECT_FALSE(paper_budget({1000, 900}, 1000, 0.9, 1e-4, RiskMethod::kl).column);
}

TEST(IterationBudget, EmpiricalRankIsTheCeiling) {
  EXPECT_EQ(empirical_rank(10, 0.3), 3);
  EXPECT_EQ(empirical_rank(10, 0.31), 4);
  EXPECT_EQ(empirical_rank(1000, 0.99), 990);
  EXPECT_EQ(empirical_rank(1000, 0.7), 700);
  EXPECT_EQ(empirical_rank(1, 0.01), 1);
}

}  // namespace
}  // namespace surefoot::bounds
