#include "surefoot/bounds/group_average.hpp"

#include "surefoot/bounds/binomial.hpp"
#include "surefoot/bounds/kl.hpp"
#include "surefoot/core/error.hpp"
#include "surefoot/core/random.hpp"

#include "support/input_error.hpp"

#include <boost/multiprecision/cpp_bin_float.hpp>
#include <gtest/gtest.h>

#include <cmath>

namespace surefoot::bounds {
namespace {

using Digits50 = boost::multiprecision::cpp_bin_float_50;

// E(m) factor by factor, with 50 digits.
Digits50 slow_wealth(const std::vector<GroupShare>& shares, double mean, int bets) {
  const Digits50 m = mean;
  const Digits50 phi = asin(sqrt(m));
  Digits50 sum = 0;
  for (int j = 1; j <= bets; ++j) {
    const Digits50 v = (Digits50(j) - Digits50("0.5")) / bets;
    const Digits50 c = cos(v * phi) / cos(phi);
    const Digits50 s = sin(v * phi) / sin(phi);
    Digits50 product = 1;
    for (const GroupShare& share : shares)
      for (Index g = 0; g < share.groups; ++g)
        product *= (1 - Digits50(share.share)) * c * c + Digits50(share.share) * s * s;
    sum += product;
  }
  return sum / bets;
}

TEST(GroupAverage, BettingSolvesItsEquationFromAbove) {
  RandomStream random(3, "groups", 0);
  for (int trial = 0; trial < 6; ++trial) {
    std::vector<GroupShare> shares;
    for (int g = 0; g < 10; ++g)
      shares.push_back({0.3 * random.uniform(), 1 + static_cast<Index>(random.below(3))});
    const double bound = group_average_betting(shares, 0.01);
    EXPECT_GE(slow_wealth(shares, bound, 64), Digits50(100));
    EXPECT_LT(slow_wealth(shares, bound * (1 - 1e-9), 64), Digits50(100));
  }
}

TEST(GroupAverage, OfSharesThatAreZeroOrOneIsNearTheBoundsOfCounts) {
  const std::vector<GroupShare> shares{{0.0, 990}, {1.0, 10}};
  EXPECT_GT(group_average_betting(shares, 0.01), clopper_pearson_upper(10, 1000, 0.01));
  EXPECT_LT(group_average_betting(shares, 0.01), 0.0255);
  EXPECT_NEAR(group_average_kl(shares, 0.01), kl_inverse(0.01, std::log(100.0) / 1000), 1e-12);
}

TEST(GroupAverage, BettingIsTighterWhereSharesVaryLittle) {
  const std::vector<GroupShare> shares{{0.0, 50}, {0.1, 30}, {0.2, 20}};
  const double betting = group_average_betting(shares, 0.05);
  EXPECT_LT(betting, group_average_kl(shares, 0.05));
  EXPECT_GT(betting, 0.07);  // the mean
  EXPECT_GE(group_average_betting(shares, 0.01), betting);
}

TEST(GroupAverage, DoesNotDependOnTheOrderAndSaysNothingWhereNothingCanBeSaid) {
  const double one = group_average_betting({{0.1, 5}, {0.4, 7}}, 0.1);
  EXPECT_NEAR(group_average_betting({{0.4, 7}, {0.1, 5}}, 0.1), one, 1e-13);
  EXPECT_NEAR(group_average_betting({{0.4, 3}, {0.1, 5}, {0.4, 4}}, 0.1), one, 1e-13);
  EXPECT_EQ(group_average_betting({{1.0, 20}}, 0.1), 1.0);
  EXPECT_EQ(group_average_kl({{1.0, 20}}, 0.1), 1.0);
}

TEST(GroupAverage, RefusesSharesOutsideTheUnitInterval) {
  EXPECT_INPUT_ERROR(group_average_betting({{1.5, 1}}, 0.1), "share: 1.5");
  EXPECT_INPUT_ERROR(group_average_kl({{std::nan(""), 1}}, 0.1), "share: nan");
  EXPECT_INPUT_ERROR(group_average_kl({}, 0.1), "groups: there is none");
  EXPECT_INPUT_ERROR(group_average_kl({{0.5, 0}}, 0.1), "groups: 0");
}

}  // namespace
}  // namespace surefoot::bounds
