#include "surefoot/bounds/anytime.hpp"

#include "surefoot/bounds/binomial.hpp"
#include "surefoot/bounds/iteration_budget.hpp"
#include "surefoot/bounds/quantile.hpp"
#include "surefoot/bounds/risk.hpp"
#include "surefoot/core/error.hpp"
#include "surefoot/core/random.hpp"

#include "support/golden.hpp"
#include "support/input_error.hpp"

#include <gtest/gtest.h>

#include <cmath>

namespace surefoot::bounds {
namespace {

// Midpoint sums of the integrals that define the mixtures, in steps small enough for 1e-7.
double slow_anytime_mixture(Index failures, Index n, double p) {
  const double phi = std::asin(std::sqrt(p));
  constexpr int points = 200'000;
  double sum = 0;
  for (int i = 0; i < points; ++i) {
    const double v = (i + 0.5) / points;
    sum += std::exp(2.0 * static_cast<double>(failures) * std::log(std::sin(v * phi) / std::sin(phi)) +
                    2.0 * static_cast<double>(n - failures) * std::log(std::cos(v * phi) / std::cos(phi)));
  }
  return sum / points;
}

// With 1 - s = t^2 the density (1/2)(1-s)^(-1/2) ds of Beta(1, 1/2) becomes dt.
double slow_sequence_mixture(Index failures, Index n, double m) {
  constexpr int points = 200'000;
  double sum = 0;
  for (int i = 0; i < points; ++i) {
    const double t = (i + 0.5) / points;
    sum += std::exp(2.0 * static_cast<double>(failures) * std::log(t) -
                    static_cast<double>(n) * std::log1p(-(1 - t * t) * m));
  }
  const double clean = failures == 0 ? 0.25 * std::exp(-static_cast<double>(n) * std::log1p(-m)) : 0.0;
  return clean + 0.75 * sum / points;
}

TEST(AnytimeUpper, MeetsEveryGoldenValueFromAboveWithin1em9) {
  for (const auto& row : surefoot::testing::golden_rows("anytime.csv")) {
    const double bound = anytime_upper(std::stoll(row[0]), std::stoll(row[1]), std::stod(row[2]));
    const long double truth = std::stold(row[3]);  // 16 digits
    EXPECT_GE(bound, truth * (1 - 1e-15L)) << row[0] << " " << row[1];
    EXPECT_LE(bound, truth * (1 + 1e-9L)) << row[0] << " " << row[1];
  }
}

TEST(AnytimeUpper, IsTheRootOfTheIntegral) {
  for (const auto& [failures, n] : {std::pair<Index, Index>{0, 3}, {1, 5}, {4, 40}, {0, 300}, {30, 300}}) {
    for (const double delta : {0.2, 0.01, 1e-5}) {
      const double bound = anytime_upper(failures, n, delta);
      EXPECT_NEAR(slow_anytime_mixture(failures, n, bound) * delta, 1.0, 1e-6) << failures << "/" << n;
    }
  }
}

TEST(AnytimeUpper, IsWiderThanAFixedNumberOfSamplesAndMonotone) {
  for (const Index n : {10, 200, 5000}) {
    double before = 0;
    for (Index failures = 0; failures <= n; failures += std::max<Index>(1, n / 20)) {
      const double bound = anytime_upper(failures, n, 0.01);
      EXPECT_GE(bound, clopper_pearson_upper(failures, n, 0.01));
      EXPECT_GE(bound, before);
      before = bound;
    }
    EXPECT_EQ(anytime_upper(n, n, 0.01), 1.0);
  }
  EXPECT_EQ(anytime_upper(0, 0, 0.01), 1.0);
  EXPECT_LE(anytime_upper(0, 556, 0.01), 0.01);
  EXPECT_GT(anytime_upper(0, 555, 0.01), 0.01);
  EXPECT_LT(anytime_upper(1, max_samples, 1e-9), 1e-8);
}

// The definition, rank by rank.
TEST(AnytimeRank, IsTheSmallestThatTheBoundAllows) {
  for (const Index n : {1, 40, 299, 300, 556, 1000}) {
    for (const double quantile : {0.3, 0.9, 0.99}) {
      for (const double delta : {0.2, 0.01}) {
        Index slow = 0;
        for (Index rank = n; rank >= 1 && anytime_upper(n - rank, n, delta) <= 1 - quantile; --rank)
          slow = rank;
        EXPECT_EQ(rank_of_method(n, quantile, delta, RiskMethod::anytime), slow) << n << " " << quantile;
        const Index fixed = order_statistic_rank(n, quantile, delta);
        EXPECT_EQ(rank_of_method(n, quantile, delta, RiskMethod::kl), fixed);
        EXPECT_TRUE(slow == 0 || (fixed > 0 && slow >= fixed)) << "never better than a fixed number of runs";
      }
    }
  }
  for (const double share : {0.2, 0.7, 0.95, 0.99}) {
    for (const Index failures : {0, 1, 5, 40})
      for (const Index n : {40, 41, 100, 600, 5000})
        EXPECT_EQ(anytime_covers(failures, n, 0.01, share), anytime_upper(failures, n, 0.01) <= 1 - share);
  }
  EXPECT_EQ(rank_of_method(555, 0.99, 0.01, RiskMethod::anytime), 0);
  EXPECT_EQ(rank_of_method(556, 0.99, 0.01, RiskMethod::anytime), 556);
  EXPECT_INPUT_ERROR(rank_of_method(0, 0.9, 0.01, RiskMethod::anytime), "samples: 0");
  EXPECT_INPUT_ERROR(rank_of_method(9, 1.0, 0.01, RiskMethod::anytime), "quantile: 1");
}

TEST(AnytimeRank, IsWhatBudgetsAndRisksUse) {
  const std::vector<Index> reached{300, 580, 590, 600};
  const Index rank = rank_of_method(600, 0.95, 0.01, RiskMethod::anytime);
  const IterationBudget budget = time_quantile_budget(reached, 600, 0.95, 0.01, RiskMethod::anytime);
  EXPECT_EQ(budget.rank, rank);
  ASSERT_TRUE(budget.column);
  EXPECT_GE(reached[*budget.column], rank);
  EXPECT_TRUE(*budget.column == 0 || reached[*budget.column - 1] < rank);
  EXPECT_EQ(risk_upper_bound(3, 600, 0.01, RiskMethod::anytime), anytime_upper(3, 600, 0.01));
  EXPECT_EQ(parse_risk_method("anytime"), RiskMethod::anytime);
  EXPECT_EQ(name(QuantileMethod::anytime), "anytime");
}

TEST(SequenceUpper, GivesTheNumbersOfACleanLog) {
  const Index n = 10'000'000;
  EXPECT_NEAR(1e7 * sequence_upper(0, n, 0.05), 3.503, 5e-4);
  EXPECT_NEAR(1e7 * sequence_upper(0, n, 0.01), 5.220, 5e-4);
  EXPECT_NEAR(1e7 * sequence_upper(0, n, 0.001), 7.620, 5e-4);
  EXPECT_EQ(sequence_upper(7, 7, 0.05), 1.0);
  EXPECT_EQ(sequence_upper(0, 0, 0.05), 1.0);
}

TEST(SequenceUpper, IsTheRootOfTheMixture) {
  for (const auto& [failures, n] : {std::pair<Index, Index>{0, 3}, {3, 12}, {4, 40}, {0, 300}, {30, 300}}) {
    for (const double delta : {0.2, 0.01, 1e-5}) {
      const double bound = sequence_upper(failures, n, delta);
      EXPECT_NEAR(slow_sequence_mixture(failures, n, bound) * delta, 1.0, 1e-6) << failures << "/" << n;
    }
  }
}

TEST(AnytimeUpper, RefusesCountsThatCannotBe) {
  EXPECT_INPUT_ERROR(anytime_upper(3, 2, 0.1), "failures: 3");
  EXPECT_INPUT_ERROR(anytime_upper(-1, 2, 0.1), "failures: -1");
  EXPECT_INPUT_ERROR(sequence_upper(0, -1, 0.1), "samples: -1");
  EXPECT_INPUT_ERROR(sequence_upper(0, 1, 0), "delta: 0");
}

}  // namespace
}  // namespace surefoot::bounds
