#include "surefoot/bounds/binomial.hpp"

#include "surefoot/bounds/kl.hpp"
#include "surefoot/bounds/quantile.hpp"
#include "surefoot/bounds/risk.hpp"
#include "surefoot/core/error.hpp"
#include "surefoot/core/random.hpp"

#include "support/golden.hpp"
#include "support/input_error.hpp"

#include <boost/multiprecision/cpp_bin_float.hpp>
#include <gtest/gtest.h>

#include <cmath>

namespace surefoot::bounds {
namespace {

using Exact = boost::multiprecision::cpp_bin_float_50;

// P(Bin(n, p) <= k), term by term from the largest term: slow, independent of any special function.
Exact exact_cdf(Index k, Index n, const Exact& p) {
  const Exact odds = p / (1 - p);
  Exact term = pow(1 - p, static_cast<int>(n));
  Exact sum = term;
  for (Index i = 0; i < k; ++i) {
    term *= odds * static_cast<long>(n - i) / static_cast<long>(i + 1);
    sum += term;
  }
  return sum;
}

TEST(ClopperPearson, MeetsEveryGoldenValueFromAboveWithin1em13) {
  for (const auto& row : surefoot::testing::golden_rows("clopper_pearson.csv")) {
    const Exact truth(row[3]);
    const Exact bound = clopper_pearson_upper(std::stoll(row[0]), std::stoll(row[1]), std::stod(row[2]));
    EXPECT_GE(bound, truth * (1 - Exact("1e-24"))) << row[0] << " " << row[1] << " " << row[2];
    EXPECT_LE(bound, truth * (1 + Exact("1e-13"))) << row[0] << " " << row[1] << " " << row[2];
  }
}

TEST(ClopperPearson, SolvesItsEquationFromAbove) {
  RandomStream random(1, "clopper pearson", 0);
  for (int i = 0; i < 300; ++i) {
    const auto n = static_cast<Index>(std::pow(10.0, random.uniform(0, 3.5)));
    const auto failures = static_cast<Index>(random.below(static_cast<std::uint64_t>(n) + 1));
    const double delta = std::pow(10.0, random.uniform(-12, -0.05));
    const double bound = clopper_pearson_upper(failures, n, delta);
    if (failures == n) {
      EXPECT_EQ(bound, 1.0);
      continue;
    }
    if (bound < 1.0) {
      EXPECT_LE(exact_cdf(failures, n, bound), Exact(delta)) << failures << "/" << n;
    }
    EXPECT_GT(exact_cdf(failures, n, bound * (1 - Exact("1e-13"))), Exact(delta)) << failures << "/" << n;
  }
}

TEST(ClopperPearson, StaysOutwardForManySamples) {
  // P(Bin(n, p) <= 1) = (1-p)^n + n p (1-p)^(n-1) is simple enough to check at any n.
  for (const Index n : {Index{1'000'000}, Index{1'000'000'000}, max_samples}) {
    for (const double delta : {1e-2, 1e-6, 1e-12}) {
      const double bound = clopper_pearson_upper(1, n, delta);
      const auto probability = [&](const Exact& p) {
        const Exact power = exp(static_cast<long>(n - 1) * log(1 - p));
        return Exact(power * (1 - p) + static_cast<long>(n) * p * power);
      };
      EXPECT_LE(probability(bound), Exact(delta)) << n;
      EXPECT_GT(probability(bound * (1 - Exact("1e-8"))), Exact(delta)) << n;
    }
  }
  const double half = clopper_pearson_upper(max_samples / 2, max_samples, 1e-4);
  EXPECT_GT(half, 0.5);
  EXPECT_LT(half, 0.50002);
}

TEST(BinomialTails, BoundTheTermByTermSumFromAbove) {
  RandomStream random(2, "binomial", 0);
  for (int i = 0; i < 300; ++i) {
    const auto n = static_cast<Index>(std::pow(10.0, random.uniform(0, 3.3)));
    const auto k = static_cast<Index>(random.below(static_cast<std::uint64_t>(n) + 1));
    const double p = random.uniform();
    const Exact cdf = exact_cdf(k, n, p);
    EXPECT_GE(Exact(binomial_cdf_upper(k, n, p)), cdf < 1 ? cdf : Exact(1));
    EXPECT_LE(Exact(binomial_cdf_upper(k, n, p)), cdf * (1 + Exact("1e-12")) + Exact("1e-300"));
    if (k == 0) continue;
    const Exact tail = 1 - exact_cdf(k - 1, n, p);
    EXPECT_GE(Exact(binomial_tail_upper(k, n, p)) * (1 + Exact("1e-40")) + Exact("1e-44"), tail);
    EXPECT_LE(Exact(binomial_tail_upper(k, n, p)), tail * (1 + Exact("1e-12")) + Exact("1e-40"));
  }
}

// Where long double has no 64 bits: the same from above, with more room.
TEST(NarrowBinomial, IsAboveTheTruthAndNear) {
  for (const auto& row : surefoot::testing::golden_rows("clopper_pearson.csv")) {
    const Exact truth(row[3]);
    const Index n = std::stoll(row[1]);
    const Exact bound = narrow::clopper_pearson_upper(std::stoll(row[0]), n, std::stod(row[2]));
    EXPECT_GE(bound, truth * (1 - Exact("1e-24"))) << row[0] << " " << row[1] << " " << row[2];
    EXPECT_LE(bound, truth * (1 + Exact(n <= 10'000 ? "1e-10" : "1e-6"))) << row[0] << " " << row[1];
  }
  RandomStream random(6, "narrow", 0);
  for (int i = 0; i < 300; ++i) {
    const auto n = static_cast<Index>(std::pow(10.0, random.uniform(0, 3.5)));
    const auto k = static_cast<Index>(random.below(static_cast<std::uint64_t>(n) + 1));
    const double delta = std::pow(10.0, random.uniform(-12, -0.05));
    const double bound = narrow::clopper_pearson_upper(k, n, delta);
    EXPECT_GE(bound, clopper_pearson_upper(k, n, delta) * (1 - 1e-13)) << k << "/" << n;
    if (bound < 1) {
      EXPECT_LE(exact_cdf(k, n, bound), Exact(delta)) << k << "/" << n;
    }
    const double p = random.uniform();
    const Exact cdf = exact_cdf(k, n, p);
    EXPECT_GE(Exact(narrow::binomial_cdf_upper(k, n, p)), cdf < 1 ? cdf : Exact(1));
    EXPECT_LE(Exact(narrow::binomial_cdf_upper(k, n, p)), cdf * (1 + Exact("1e-10")) + Exact("1e-300"));
    if (k == 0) continue;
    const Exact tail = 1 - exact_cdf(k - 1, n, p);
    EXPECT_GE(Exact(narrow::binomial_tail_upper(k, n, p)) * (1 + Exact("1e-40")) + Exact("1e-44"), tail);
    EXPECT_LE(Exact(narrow::binomial_tail_upper(k, n, p)), tail * (1 + Exact("1e-10")) + Exact("1e-40"));
  }
}

TEST(NarrowBinomial, StaysOutwardForManySamples) {
  for (const Index n : {Index{1'000'000}, max_samples}) {
    for (const double delta : {1e-2, 1e-12}) {
      const Exact p = narrow::clopper_pearson_upper(1, n, delta);
      const Exact power = exp(static_cast<long>(n - 1) * log(1 - p));
      EXPECT_LE(Exact(power * (1 - p) + static_cast<long>(n) * p * power), Exact(delta)) << n;
    }
  }
}

TEST(RiskBounds, AreOrderedExactKlPinsker) {
  RandomStream random(3, "risk", 0);
  for (int i = 0; i < 20000; ++i) {
    const auto n = static_cast<Index>(std::pow(10.0, random.uniform(0, 5)));
    const auto failures = static_cast<Index>(random.below(static_cast<std::uint64_t>(n) + 1));
    const double delta = std::pow(10.0, random.uniform(-9, -0.05));
    const double exact = risk_upper_bound(failures, n, delta, RiskMethod::exact);
    const double by_kl = risk_upper_bound(failures, n, delta, RiskMethod::kl);
    const double by_pinsker = risk_upper_bound(failures, n, delta, RiskMethod::pinsker);
    EXPECT_LE(exact, by_kl) << failures << "/" << n << " " << delta;
    EXPECT_LE(by_kl, by_pinsker * (1 + 1e-14)) << failures << "/" << n << " " << delta;
    EXPECT_GE(exact, static_cast<double>(failures) / static_cast<double>(n) * (delta < 0.4 ? 1 : 0));
  }
}

TEST(RiskBounds, GrowWithFailuresAndConfidenceAndFallWithSamples) {
  for (const RiskMethod method : {RiskMethod::exact, RiskMethod::kl, RiskMethod::pinsker}) {
    for (Index failures = 0; failures < 100; ++failures) {
      const double bound = risk_upper_bound(failures, 100, 1e-3, method);
      EXPECT_LE(bound, risk_upper_bound(failures + 1, 100, 1e-3, method));
      EXPECT_LE(bound, risk_upper_bound(failures, 100, 1e-4, method));
      EXPECT_GE(bound, risk_upper_bound(failures, 101, 1e-3, method));
      EXPECT_LE(success_lower_bound(failures, 100, 1e-3, method) + bound, 1.0);
    }
    EXPECT_EQ(success_lower_bound(100, 100, 1e-3, method), 0.0);
  }
}

TEST(RiskBounds, NameTheBadValue) {
  for (const RiskMethod method : {RiskMethod::exact, RiskMethod::kl, RiskMethod::pinsker}) {
    const auto refused = [&](Index failures, Index samples, double delta) {
      return test_support::input_error([&] { risk_upper_bound(failures, samples, delta, method); });
    };
    EXPECT_EQ(refused(11, 10, 0.1), "failures: 11 is outside 0 .. 10 (the number of samples)");
    EXPECT_EQ(refused(-1, 10, 0.1), "failures: -1 is outside 0 .. 10 (the number of samples)");
    EXPECT_EQ(refused(0, 0, 0.1), "samples: 0 is outside 1 .. 10000000000");
    EXPECT_EQ(refused(0, max_samples + 1, 0.1), "samples: 10000000001 is outside 1 .. 10000000000");
    for (const double delta : {0.0, 1.0, -0.1, 2.0, std::nan("")}) {
      EXPECT_EQ(refused(1, 10, delta), fmt::format("delta: {} is outside (0, 1)", delta));
    }
  }
}

TEST(OrderStatisticRank, MeetsEveryGoldenValue) {
  for (const auto& row : surefoot::testing::golden_rows("order_statistic.csv")) {
    EXPECT_EQ(order_statistic_rank(std::stoll(row[0]), std::stod(row[1]), std::stod(row[2])),
              std::stoll(row[3]))
        << row[0] << " " << row[1] << " " << row[2];
  }
}

TEST(OrderStatisticRank, IsTheSmallestThatHolds) {
  RandomStream random(5, "rank", 0);
  for (int i = 0; i < 200; ++i) {
    const auto n = static_cast<Index>(std::pow(10.0, random.uniform(0, 3)));
    const double quantile = random.uniform(0.01, 0.99);
    const double delta = std::pow(10.0, random.uniform(-8, -0.1));
    const Index rank = order_statistic_rank(n, quantile, delta);
    const Exact target = 1 - Exact(delta);
    if (rank == 0) {
      EXPECT_LT(exact_cdf(n - 1, n, quantile), target);
      continue;
    }
    EXPECT_GE(exact_cdf(rank - 1, n, quantile), target);
    if (rank > 1) {
      EXPECT_LT(exact_cdf(rank - 2, n, quantile), target);
    }
  }
}

TEST(OrderStatisticRank, IsDualToTheExactRiskBound) {
  // The r-th smallest bounds the quantile exactly if n - r failures show a risk of at most 1 - quantile.
  for (const Index n : {10, 60, 333}) {
    for (const double quantile : {0.3, 0.5, 0.9}) {
      const Index rank = order_statistic_rank(n, quantile, 0.01);
      for (Index r = 1; r <= n; ++r) {
        const bool covered = covers(risk_upper_bound(n - r, n, 0.01, RiskMethod::exact), quantile);
        EXPECT_EQ(covered, rank != 0 && r >= rank) << n << " " << quantile << " " << r;
      }
    }
  }
}

TEST(GridQuantile, TakesTheSmallestToleranceThatHolds) {
  const std::vector<double> grid = residual_grid();
  ASSERT_EQ(grid.size(), 81U);
  EXPECT_EQ(grid.front(), 1e-6);
  EXPECT_EQ(grid.back(), 1e2);
  EXPECT_NEAR(grid[40], 1e-2, 1e-16);
  EXPECT_NEAR(decibel_grid()[1], -79.0, 1e-13);
  EXPECT_NEAR(regression_grid()[20], 1e-2, 1e-16);
  std::vector<Index> failures(81);
  for (std::size_t i = 0; i < 81; ++i) failures[i] = std::max<Index>(0, 1000 - 20 * static_cast<Index>(i));
  const auto found = grid_quantile(failures, 1000, 0.9, 81e-4, RiskMethod::kl);
  ASSERT_TRUE(found);
  EXPECT_LE(kl_inverse(static_cast<double>(failures[*found]) / 1000, std::log(2e4) / 1000), 0.1);
  EXPECT_GT(kl_inverse(static_cast<double>(failures[*found - 1]) / 1000, std::log(2e4) / 1000), 0.1);
  EXPECT_FALSE(grid_quantile(std::vector<Index>(81, 1000), 1000, 0.9, 81e-4, RiskMethod::kl));
  EXPECT_FALSE(grid_quantile(std::vector<Index>(81, 0), 10, 0.9, 81e-4, RiskMethod::exact));
}

}  // namespace
}  // namespace surefoot::bounds
