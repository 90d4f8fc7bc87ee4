#include "surefoot/bounds/band.hpp"

#include "surefoot/bounds/binomial.hpp"
#include "surefoot/bounds/quantile.hpp"
#include "surefoot/core/error.hpp"
#include "surefoot/core/random.hpp"

#include "support/golden.hpp"
#include "support/input_error.hpp"

#include <boost/multiprecision/cpp_bin_float.hpp>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

namespace surefoot::bounds {
namespace {

using Digits100 = boost::multiprecision::cpp_bin_float_100;

// P( exists i: U_(i) < b_i ) by Bolshev's recursion, from the other end and with 100 digits: with a_j = 1 -
// b_(N+1-j), F_k = P( k uniform numbers stay below a_1 .. a_k ) = 1 - sum_{j<k} C(k, j) F_j (1 -
// a_(j+1))^(k-j).
Digits100 slow_crossing(const std::vector<double>& boundaries) {
  const std::size_t n = boundaries.size();
  std::vector<Digits100> stays;
  for (std::size_t k = 0; k <= n; ++k) {
    Digits100 crosses = 0;
    Digits100 choose = 1;  // C(k, j)
    for (std::size_t j = 0; j < k; ++j) {
      const Digits100 above = boundaries[n - 1 - j];
      crosses += choose * stays[j] * pow(above, static_cast<unsigned>(k - j));
      choose = choose * static_cast<unsigned>(k - j) / static_cast<unsigned>(j + 1);
    }
    if (k == n) return crosses;
    stays.push_back(1 - crosses);
  }
  return 0;
}

TEST(BandLevel, MeetsEveryGoldenValueFromBelowWithin1em9) {
  for (const auto& row : surefoot::testing::golden_rows("band_level.csv")) {
    const double level = band_level(std::stoll(row[0]), std::stod(row[1]));
    const Digits100 truth(row[2]);
    // The table has 17 digits.
    EXPECT_LE(Digits100(level), truth * (1 + Digits100("1e-16"))) << row[0] << " " << row[1];
    EXPECT_GE(Digits100(level), truth * (1 - Digits100("1e-9"))) << row[0] << " " << row[1];
  }
}

TEST(BandLevel, CrossingsAreThoseOfASlowRecursionFromTheOtherEnd) {
  for (const Index n : {1, 2, 3, 7, 20, 60, 150}) {
    for (const double level : {0.2, 1e-2, 1e-4, 1e-7, 1e-11}) {
      std::vector<double> boundaries;
      for (Index rank = 1; rank <= n; ++rank) boundaries.push_back(order_statistic_level(rank, n, level));
      const Digits100 slow = slow_crossing(boundaries);
      const Digits100 fast = band_crossing_upper(n, level);
      EXPECT_GE(fast, slow) << n << " " << level;
      EXPECT_LE(fast, slow * (1 + Digits100("1e-10"))) << n << " " << level;
    }
  }
}

TEST(BandLevel, SpendsAllOfDeltaAndNoMore) {
  for (const Index n : {2, 17, 400, 5000}) {
    for (const double delta : {0.3, 0.01, 1e-6}) {
      const double level = band_level(n, delta);
      EXPECT_LE(band_crossing_upper(n, level), delta) << n;
      EXPECT_GT(band_crossing_upper(n, level * (1 + 1e-9)), delta * (1 - 1e-9)) << n;
    }
  }
}

TEST(BandLevel, IsBetweenAUnionOverTheRanksAndDelta) {
  double before = 1;
  for (const Index n : {1, 2, 10, 100, 1000, 20'000, 300'000}) {
    const double level = band_level(n, 0.01);
    EXPECT_GE(level, 0.01 / static_cast<double>(band_ranks(n).size()) * (1 - 1e-9));
    EXPECT_LE(level, before);
    before = level;
  }
  // Beyond a million the union is taken.
  const Index many = 100'000'000;
  EXPECT_NEAR(band_level(many, 0.01) * static_cast<double>(band_ranks(many).size()), 0.01, 1e-12);
}

TEST(BandLevel, RefusesWhatIsNoLevelByItsValue) {
  EXPECT_INPUT_ERROR(band_level(0, 0.1), "samples: 0");
  EXPECT_INPUT_ERROR(band_level(10, 1.0), "delta: 1");
  EXPECT_INPUT_ERROR(band_level(10, std::nan("")), "delta: nan");
  EXPECT_INPUT_ERROR(band_crossing_upper(10, 0.0), "level: 0");
  EXPECT_INPUT_ERROR(band_share(10, 11, 0.1), "count: 11");
}

TEST(BandRanks, AreAllUpToTenThousandThenThinInTheMiddle) {
  EXPECT_EQ(band_ranks(10'000).size(), 10'000U);
  for (const Index n : {Index{10'001}, Index{1'000'000}, max_samples}) {
    const std::vector<Index> ranks = band_ranks(n);
    EXPECT_LT(ranks.size(), 4000U);
    EXPECT_EQ(ranks.front(), 1);
    EXPECT_EQ(ranks.back(), n);
    for (std::size_t i = 1; i < ranks.size(); ++i) {
      const Index gap = ranks[i] - ranks[i - 1];
      const Index to_end = std::min(ranks[i], n + 1 - ranks[i - 1]);
      ASSERT_GE(gap, 1);
      ASSERT_LE(gap, 2 * (to_end / 50 + 1)) << ranks[i];  // twice where the two halves meet
    }
  }
}

// Failure bounds at the subset of ranks are little larger than those of all ranks would be.
TEST(BandRanks, CostLittleOfTheFailureBound) {
  const Index n = 10'001;
  const double thin = band_level(n, 0.01);
  const double all = band_level(10'000, 0.01);  // of all ranks, one sample fewer
  double worst = 0;
  for (const Index failures : {0, 10, 50, 101, 150, 333, 1000, 2500, 4000}) {
    const double with_thin = 1 - band_share(n, n - failures, thin);
    const double with_all = clopper_pearson_upper(failures, n, all);
    worst = std::max(worst, with_thin / with_all);
  }
  EXPECT_LT(worst, 1.016);
}

TEST(BandShare, RoundsCountsDownToTheRanks) {
  const Index n = 50'000;
  const double level = band_level(n, 0.05);
  double before = 0;
  for (Index count = 0; count <= n; count += 7) {
    const Index rank = band_rank_down(n, count);
    EXPECT_LE(rank, count);
    const double share = band_share(n, count, level);
    EXPECT_GE(share, before);
    if (rank > 0) {
      EXPECT_LE(share, order_statistic_level(rank, n, level));
    }
    before = share;
  }
  EXPECT_EQ(band_share(n, 0, level), 0.0);
}

TEST(BandShare, AndTheQuantileRankSayTheSame) {
  for (const Index n : {30, 1000, 30'000}) {
    const double level = band_level(n, 0.01);
    for (const double quantile : {0.1, 0.5, 0.9, 0.99}) {
      const Index rank = band_quantile_rank(n, quantile, level);
      if (rank == 0) {
        EXPECT_LT(band_share(n, n, level), quantile);
        continue;
      }
      EXPECT_EQ(band_rank_down(n, rank), rank);
      EXPECT_GE(band_share(n, rank, level), quantile * (1 - 1e-12));
      EXPECT_LT(band_share(n, rank - 1, level), quantile);
    }
  }
}

TEST(OrderStatisticLevel, SolvesItsEquationFromAbove) {
  RandomStream random(5, "order statistic level", 0);
  for (int i = 0; i < 100; ++i) {
    const auto n = static_cast<Index>(std::pow(10.0, random.uniform(0, 6)));
    const auto rank = 1 + static_cast<Index>(random.below(static_cast<std::uint64_t>(n)));
    const double level = std::pow(10.0, random.uniform(-12, -0.1));
    const double b = order_statistic_level(rank, n, level);
    const double near = order_statistic_level(rank, n, level, b * random.uniform(0.5, 1.0));
    EXPECT_GE(binomial_tail_upper(rank, n, b), level);
    EXPECT_LT(binomial_tail_upper(rank, n, b * (1 - 1e-10)), level) << rank << " of " << n;
    EXPECT_NEAR(near, b, 1e-14 * b);
    const double narrow = narrow::order_statistic_level(rank, n, level);
    EXPECT_GE(narrow, b * (1 - 1e-15));
    EXPECT_LE(narrow, b * (1 + 1e-8));
  }
  // P(Bin(n, b) >= n) = b^n and P(Bin(n, b) >= 1) = 1 - (1-b)^n.
  EXPECT_NEAR(order_statistic_level(1000, 1000, 0.01), std::pow(0.01, 1e-3), 1e-15);
  EXPECT_NEAR(order_statistic_level(1, 1000, 1e-6) / -std::expm1(std::log1p(-1e-6) / 1000), 1.0, 1e-13);
}

}  // namespace
}  // namespace surefoot::bounds
