#include "surefoot/bounds/worst_case.hpp"

#include "surefoot/bounds/confidence_budget.hpp"
#include "surefoot/bounds/iteration_budget.hpp"
#include "surefoot/bounds/quantile.hpp"
#include "surefoot/core/error.hpp"

#include "support/input_error.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

namespace surefoot::bounds {
namespace {

// Residual after k steps of T = (1-alpha) I + alpha R, R a rotation of the plane by `angle`, from distance 1.
double rotation_residual(double alpha, double angle, Index k) {
  const double shrink = std::hypot(1 - alpha + alpha * std::cos(angle), alpha * std::sin(angle));
  const double move = alpha * std::hypot(1 - std::cos(angle), std::sin(angle));
  return std::pow(shrink, static_cast<double>(k)) * move;
}

// The largest residual over all averaged rotations, by a search that knows no formula: a grid of angles, then
// a golden section around the best of them.
double worst_rotation(double alpha, Index k) {
  constexpr int grid = 4000;
  int best = 0;
  for (int i = 0; i <= grid; ++i) {
    if (rotation_residual(alpha, M_PI * i / grid, k) > rotation_residual(alpha, M_PI * best / grid, k))
      best = i;
  }
  double low = M_PI * std::max(0, best - 1) / grid;
  double high = M_PI * std::min(grid, best + 1) / grid;
  for (int i = 0; i < 100; ++i) {
    const double left = high - 0.618033988749895 * (high - low);
    const double right = low + 0.618033988749895 * (high - low);
    if (rotation_residual(alpha, left, k) > rotation_residual(alpha, right, k)) {
      high = right;
    } else {
      low = left;
    }
  }
  return rotation_residual(alpha, 0.5 * (low + high), k);
}

TEST(WorstCase, AveragedRateIsTheLargestResidualOfAnAveragedRotation) {
  for (const double alpha : {0.5, 0.6, 0.75, 0.85, 0.9, 0.97, 0.999}) {
    for (const Index k : {0, 1, 2, 3, 5, 10, 100, 300, 1000}) {
      const double numerical = worst_rotation(alpha, k);
      const double bound = averaged_rate_residual(alpha, k, 1.0);
      EXPECT_NEAR(bound, numerical, 1e-9 * bound) << alpha << " " << k;
      EXPECT_GE(bound, numerical * (1 - 1e-12)) << alpha << " " << k;
    }
  }
}

TEST(WorstCase, IsExactAtTheStart) {
  // N = -I moves the start by 2 alpha dist0, z -> -beta z by (1 + beta) dist0; nothing moves it further.
  for (const double alpha : {0.5, 0.7, 0.99})
    EXPECT_NEAR(averaged_rate_residual(alpha, 0, 3.0), 6 * alpha, 1e-13);
  for (const double beta : {0.0, 0.3, 0.99})
    EXPECT_NEAR(linear_rate_residual(beta, 0, 3.0), 3 * (1 + beta), 1e-13);
}

TEST(WorstCase, IsContinuousInAlphaAndGrowsWithIt) {
  for (const Index k : {1, 2, 7, 50, 1000}) {
    const double meet = 0.5 * (1 + std::sqrt(static_cast<double>(k) / static_cast<double>(k + 1)));
    const double below = averaged_rate_residual(meet * (1 - 1e-12), k, 1.0);
    const double above = averaged_rate_residual(meet * (1 + 1e-12), k, 1.0);
    EXPECT_NEAR(below, above, 1e-8 * above) << k;
    double last = averaged_rate_residual(0.5, k, 1.0);
    for (double alpha = 0.501; alpha < 1; alpha += 0.001) {
      const double now = averaged_rate_residual(alpha, k, 1.0);
      EXPECT_GE(now, last) << k << " " << alpha;
      // The derivative of its logarithm is below 4 k + 6 everywhere: a jump would be seen.
      EXPECT_LE(now, last * std::exp(0.001 * (4 * static_cast<double>(k) + 6))) << k << " " << alpha;
      last = now;
    }
  }
}

TEST(WorstCase, OfLessThanHalfAveragedIsThatOfHalf) {
  for (const Index k : {0, 1, 20}) {
    EXPECT_EQ(averaged_rate_residual(0.2, k, 2.0), averaged_rate_residual(0.5, k, 2.0));
    EXPECT_GE(averaged_rate_residual(0.2, k, 1.0), worst_rotation(0.2, k));
  }
}

TEST(WorstCase, ReflectionAttainsTheSecondCase) {
  // The paper's (1/2)(2 alpha - 1)^k would be 0.4 here; the reflection moves by 1.44.
  EXPECT_NEAR(averaged_rate_residual(0.9, 1, 1.0), 1.44, 1e-12);
  EXPECT_NEAR(rotation_residual(0.9, M_PI, 1), 1.44, 1e-12);
}

TEST(WorstCase, IsTheFormula) {
  // (1/2) 3 sqrt((10/11)^10 / (11/4)), and one that contracts by 1/2 after three steps from distance 4.
  EXPECT_NEAR(averaged_rate_residual(0.5, 10, 3.0), 0.5616444689777094, 1e-14);
  EXPECT_NEAR(linear_rate_residual(0.5, 3, 4.0), 0.75, 1e-14);
}

TEST(WorstCase, LinearRateIsAttainedByTheFlip) {
  for (const double beta : {0.1, 0.5, 0.99}) {
    double z = 1;
    for (Index k = 0; k < 40; ++k) {
      EXPECT_NEAR(linear_rate_residual(beta, k, 1.0), std::abs(-beta * z - z), 1e-13) << beta << " " << k;
      z *= -beta;
    }
  }
}

TEST(WorstCase, WhatUnderflowsIsRoundedUp) {
  // 0.5^1080 is no double; 1.5 * 0.5^1080 * 1e308 is 1.158e-17.
  EXPECT_GE(linear_rate_residual(0.5, 1080, 1e308), 1.158e-17);
  EXPECT_GE(averaged_rate_residual(0.75, 1080, 1e308), 1.158e-17);
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
  const auto refused = [](auto&& call) { return test_support::input_error(call); };
  EXPECT_EQ(refused([] { averaged_rate_residual(0.0, 1, 1.0); }), "alpha: 0 is outside (0, 1)");
  EXPECT_EQ(refused([] { averaged_rate_residual(1.0, 1, 1.0); }), "alpha: 1 is outside (0, 1)");
  EXPECT_EQ(refused([] { averaged_rate_residual(std::nan(""), 1, 1.0); }), "alpha: nan is outside (0, 1)");
  EXPECT_EQ(refused([] { linear_rate_residual(1.0, 1, 1.0); }), "beta: 1 is outside [0, 1)");
  EXPECT_EQ(refused([] { linear_rate_residual(0.5, -1, 1.0); }), "k: -1 is negative");
  EXPECT_EQ(refused([] { linear_rate_steps(0.5, 1.0, 0.0); }), "tolerance: 0 is not positive");
  EXPECT_EQ(refused([] { linear_rate_residual(0.5, 1, std::nan("")); }),
            "dist0: nan is negative or not a number");
}

TEST(ConfidenceBudget, HandsOutSharesAndRefusesToOverspend) {
  ConfidenceBudget budget(0.01);
  const double each = budget.take_fraction("success", 300, 1.0 / 3);
  EXPECT_NEAR(each, 0.01 / 900, 1e-18);
  budget.take_fraction("quantile", 7, 1.0 / 3);
  budget.take_fraction("budget", 11, 1.0 / 3);
  EXPECT_LE(budget.spent(), 0.01);
  EXPECT_GT(budget.spent(), 0.01 * (1 - 1e-12));
  EXPECT_INPUT_ERROR(budget.take("one more", 1, 1e-6), "1 claims of 1e-06 each for 'one more' overspend it");
  EXPECT_EQ(budget.shares().size(), 3U);
}

TEST(ConfidenceBudget, SpendsAllButNeverMoreForAnyNumberOfClaims) {
  for (Index claims = 1; claims < 5000; claims += 7) {
    ConfidenceBudget budget(0.05);
    EXPECT_NO_THROW(budget.take_fraction("all", claims, 1.0));
    EXPECT_LE(budget.spent(), 0.05);
  }
  EXPECT_INPUT_ERROR(ConfidenceBudget(0.0), "delta: 0 is outside (0, 1)");
  EXPECT_INPUT_ERROR(ConfidenceBudget(1.0), "delta: 1 is outside (0, 1)");
  EXPECT_INPUT_ERROR(ConfidenceBudget(0.1).take("x", 0, 0.1), "confidence budget: 0 claims for 'x'");
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
