#include "surefoot/certify/kinds/bands.hpp"

#include "surefoot/bounds/band.hpp"
#include "surefoot/certify/ask.hpp"

#include "support/input_error.hpp"
#include "support/kind_check.hpp"

#include <algorithm>

namespace surefoot::certify {
namespace {

TEST(Bands, PassTheContractOfKinds) {
  test::expect_kind_contract("bands");
}

TEST(Bands, AreOrderStatisticsOfTheMetricAndOfItsMaximumFromThereOn) {
  const test::KindExample example = test::kind_example("bands");
  ASSERT_EQ(example.certificate.bands.size(), 2U * 8 * 2);
  for (const BandClaim& claim : example.certificate.bands) {
    EXPECT_EQ(claim.level, bounds::band_level(200, claim.delta));
    std::vector<double> values;
    for (const std::vector<double>& run : example.runs) {
      const auto at = run.begin() + (claim.step - 1);
      // The metric halves, so that the largest from there on is the first; a run that fails later is
      // infinite.
      values.push_back(claim.of == band_onward ? *std::max_element(at, run.end()) : *at);
    }
    std::ranges::sort(values);
    const std::vector<BandPoint> points = points_of(claim);
    const std::vector<Index> ranks = band_point_ranks(200, claim.level, 16);
    const auto finite = std::ranges::count_if(
        ranks, [&](Index rank) { return values[static_cast<std::size_t>(rank - 1)] < infinity; });
    ASSERT_EQ(static_cast<std::ptrdiff_t>(points.size()), finite);
    for (std::size_t i = 0; i < points.size(); ++i) {
      const double value = values[static_cast<std::size_t>(points[i].rank - 1)];
      EXPECT_EQ(points[i].rank, ranks[i]);
      EXPECT_GE(points[i].value, value);
      EXPECT_LE(points[i].value, value * 1.0001);
    }
  }
}

TEST(Bands, LeaveMostOfTheConfidenceToWhatIsDeclared) {
  Options options;
  options.choose = Choice::both;
  const Certificate both = test::kinds_example({"success", "budget"}, options).certificate;
  ASSERT_EQ(both.shares.size(), 3U);
  for (const Share& share : both.shares) {
    const double part = static_cast<double>(share.claims) * share.delta_each / both.delta;
    EXPECT_NEAR(part, share.purpose == "bands for any tolerance and share" ? 0.2 : 0.4, 1e-9)
        << share.purpose;
  }
  options.choose = Choice::after;
  const Certificate after = test::kinds_example({"success", "budget"}, options).certificate;
  EXPECT_TRUE(after.success.empty() && after.budget.empty());
  EXPECT_FALSE(after.bands.empty());
  options.simultaneous = Simultaneity::each;
  EXPECT_INPUT_ERROR(test::kinds_example({"success"}, options), "simultaneous 'all'");
  options.choose = Choice::both;
  EXPECT_TRUE(test::kinds_example({"success"}, options).certificate.bands.empty());
}

TEST(Bands, PointsHaveRoomForUsualSharesHoweverManyThereAre) {
  const double level = bounds::band_level(1000, 1e-5);
  const std::vector<Index> many = band_point_ranks(1000, level, 120);
  const std::vector<Index> few = band_point_ranks(1000, level, 1800);
  EXPECT_GT(many.size(), 100U);
  EXPECT_LT(few.size(), 30U);
  for (const double share : {0.5, 0.9, 0.95}) {
    const Index rank = bounds::band_quantile_rank(1000, share, level);
    EXPECT_EQ(std::ranges::count(many, rank), 1);
    EXPECT_EQ(std::ranges::count(few, rank), 1);
  }
  EXPECT_EQ(many.back(), 1000);
  EXPECT_TRUE(std::ranges::is_sorted(many));
  std::vector<Index> steps(5000);
  for (std::size_t i = 0; i < steps.size(); ++i) steps[i] = static_cast<Index>(i);
  EXPECT_EQ(band_steps(steps).size(), 900U);
  EXPECT_EQ(band_steps(steps).back(), 4999);
}

TEST(Bands, RefusePointsThatAreNone) {
  BandClaim claim;
  for (const auto& [points, part] :
       std::vector<std::pair<std::string, std::string>>{{"x", "is not a rank and a value"},
                                                        {"3", "is not a rank and a value"},
                                                        {"3:", "the value of rank 3"},
                                                        {"3:inf", "the value of rank 3"},
                                                        {"3:1 3:2", "rank 3 with value 2"},
                                                        {"3:1 4:0.5", "rank 4 with value 0.5"},
                                                        {"0:1", "rank 0"},
                                                        {"3:1 ", "the value of rank 3"},
                                                        {"3:1,4:2", "the value of rank 3"}}) {
    claim.points = points;
    EXPECT_INPUT_ERROR(points_of(claim), part);
  }
  claim.points = "";
  EXPECT_TRUE(points_of(claim).empty());
}

}  // namespace
}  // namespace surefoot::certify
