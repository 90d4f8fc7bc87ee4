#include "surefoot/certify/kinds/quantile.hpp"

#include "surefoot/bounds/quantile.hpp"
#include "surefoot/certify/classical.hpp"

#include "support/kind_check.hpp"

#include <algorithm>

namespace surefoot::certify {
namespace {

TEST(Quantiles, PassTheContractOfKinds) {
  test::expect_kind_contract("quantile");
}

TEST(Quantiles, OfAGridPassItToo) {
  Options options;
  options.quantile_method = bounds::QuantileMethod::grid;
  test::expect_kind_contract("quantile", options);
}

TEST(Quantiles, AreOrderStatisticsOfSortedValues) {
  Options options;
  options.quantiles = {0.5, 0.9};
  const test::KindExample example = test::kind_example("quantile", options);
  for (const QuantileClaim& claim : example.certificate.quantile) {
    std::vector<double> values;
    for (const std::vector<double>& run : example.runs)
      values.push_back(run[static_cast<std::size_t>(claim.step - 1)]);
    std::ranges::sort(values);
    const Index rank = bounds::order_statistic_rank(200, claim.quantile, example.certificate.delta / 32);
    EXPECT_EQ(claim.rank, rank);
    ASSERT_GT(rank, 0);
    EXPECT_EQ(claim.upper_bound, values[static_cast<std::size_t>(rank - 1)]);
    EXPECT_EQ(claim.below, std::ranges::count_if(values, [&](double v) { return v < claim.upper_bound; }));
  }
}

TEST(Quantiles, OneGridServesAllQuantilesOfAStep) {
  Options options;
  options.quantile_method = bounds::QuantileMethod::grid;
  const Certificate certificate = test::kind_example("quantile", options).certificate;
  ASSERT_EQ(certificate.shares.size(), 1U);
  EXPECT_EQ(certificate.shares.front().purpose, "quantiles (one grid per step)");
  EXPECT_EQ(certificate.shares.front().claims, 2 * 8);
  EXPECT_EQ(certificate.quantile.size(), 2U * 8 * 3);
}

}  // namespace
}  // namespace surefoot::certify
