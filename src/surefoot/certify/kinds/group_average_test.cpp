#include "surefoot/certify/kinds/group_average.hpp"

#include "surefoot/bounds/group_average.hpp"
#include "surefoot/runs/tick_group.hpp"

#include "support/input_error.hpp"
#include "support/kind_check.hpp"

#include <boost/multiprecision/cpp_bin_float.hpp>

#include <algorithm>

namespace surefoot::certify {
namespace {

using Digits50 = boost::multiprecision::cpp_bin_float_50;

Options of_flights() {
  Options options;
  options.sampling = Sampling::groups;
  options.group = "flight";
  return options;
}

/// Groups of different sizes with shares of many values.
Certificate certificate_of_groups(Options options, int groups,
                                  std::vector<std::vector<int>>* failed = nullptr) {
  options.tolerances = {0.5};
  options.kinds = {"success", "average"};
  options = resolved(options, {{1, 2}});
  runs::Tally tally(tally_spec(options, {1, 2}));
  RandomStream random(5, "average of groups", 0);
  for (int g = 0; g < groups; ++g) {
    runs::TickGroup group(tally.spec());
    const double hard = std::pow(random.uniform(), 3);
    const int ticks = 1 + static_cast<int>(random.below(300));
    int count = 0;
    for (int tick = 0; tick < ticks; ++tick) {
      const bool fails = random.uniform() < hard * 0.2;
      const double values[2] = {fails ? 1.0 : 0.1, 0.1};
      count += fails ? 1 : 0;
      group.add_tick(tally.spec(), values);
    }
    if (failed != nullptr) failed->push_back({count, ticks});
    tally.add_group(group);
  }
  Variant variant;
  variant.name = "a";
  return certify(options, {{variant, tally}});
}

TEST(GroupAverages, PassTheContractOfKinds) {
  test::expect_kind_contract("average", of_flights());
}

// The bound again: every group by itself with 50 digits, exact shares instead of rounded ones.
TEST(GroupAverages, AreBoundedByBetsOnTheGroups) {
  std::vector<std::vector<int>> failed;
  const Certificate certificate = certificate_of_groups(of_flights(), 40, &failed);
  ASSERT_EQ(certificate.average.size(), 2U);
  const AverageClaim& claim = certificate.average.front();
  ASSERT_EQ(claim.step, 1);
  double mean = 0;
  for (const std::vector<int>& group : failed) mean += static_cast<double>(group[0]) / group[1] / 40;
  EXPECT_NEAR(claim.empirical, mean, 1e-12);
  const auto wealth = [&](double m) {
    const Digits50 phi = asin(sqrt(Digits50(m)));
    Digits50 sum = 0;
    for (int j = 1; j <= 64; ++j) {
      const Digits50 v = (Digits50(j) - Digits50("0.5")) / 64;
      const Digits50 c = cos(v * phi) / cos(phi);
      const Digits50 s = sin(v * phi) / sin(phi);
      Digits50 product = 1;
      for (const std::vector<int>& group : failed) {
        const Digits50 y = Digits50(group[0]) / group[1];
        product *= (1 - y) * c * c + y * s * s;
      }
      sum += product;
    }
    return Digits50(sum / 64);
  };
  EXPECT_GE(wealth(claim.upper_bound), 1 / Digits50(claim.delta));
  EXPECT_LT(wealth(claim.upper_bound * (1 - 1e-9)), 1 / Digits50(claim.delta));
}

TEST(GroupAverages, RoundManyDifferentSharesUpAndStayValid) {
  std::vector<std::vector<int>> failed;
  const Certificate certificate = certificate_of_groups(of_flights(), 4000, &failed);
  const AverageClaim& claim = certificate.average.front();
  const std::vector<bounds::GroupShare> shares = shares_of(claim);
  EXPECT_LE(shares.size(), 256U);
  EXPECT_LT(claim.shares.size(), 8000U);
  std::vector<bounds::GroupShare> exact;
  std::vector<double> sorted;
  Index clean = 0;
  for (const std::vector<int>& group : failed) {
    exact.push_back({static_cast<double>(group[0]) / group[1], 1});
    sorted.push_back(exact.back().share);
    clean += group[0] == 0 ? 1 : 0;
  }
  std::ranges::sort(sorted);
  std::size_t at = 0;
  for (const bounds::GroupShare& share : shares)
    for (Index g = 0; g < share.groups; ++g, ++at) {
      EXPECT_GE(share.share, sorted[at]);
      EXPECT_LE(share.share, sorted[at] * 1.07);
    }
  ASSERT_EQ(at, sorted.size());
  EXPECT_EQ(shares.front().groups, clean);
  // Groups with every tick below are those that the success rate counts.
  EXPECT_EQ(certificate.success.front().samples - certificate.success.front().failures, clean);
  const double tight = bounds::group_average_betting(exact, claim.delta);
  EXPECT_GE(claim.upper_bound, tight);
  EXPECT_LE(claim.upper_bound, 1.05 * tight);
}

TEST(GroupAverages, AreByTheMethodThatWasDeclared) {
  Options options = of_flights();
  options.average_method = bounds::MeanMethod::kl;
  const Certificate certificate = certificate_of_groups(options, 60);
  const AverageClaim& claim = certificate.average.front();
  EXPECT_EQ(claim.method, bounds::MeanMethod::kl);
  EXPECT_EQ(claim.upper_bound, bounds::group_average_kl(shares_of(claim), claim.delta));
  EXPECT_EQ(options_of(certificate).average_method, bounds::MeanMethod::kl);
  EXPECT_TRUE(verify(parse_certificate(to_json(certificate))).holds());
}

TEST(GroupAverages, SayWhatTheyAreOf) {
  const Certificate certificate = certificate_of_groups(of_flights(), 400);
  const std::vector<std::string> statements = statements_of(certificate);
  const auto says = [&](const std::string& words) {
    return std::ranges::any_of(
        statements, [&](const std::string& text) { return text.find(words) != std::string::npos; });
  };
  EXPECT_TRUE(says("after 2 iterations, in at least "));
  EXPECT_TRUE(says(" of new groups (one per flight) the metric of every tick is below 0.5"));
  EXPECT_TRUE(
      says("after 2 iterations, on average over new groups (one per flight), the metric of at most "));
  EXPECT_TRUE(says(
      "of the ticks of a group is not below 0.5; every group counts the same, whatever its number of ticks"));
  EXPECT_EQ(
      headline(certificate).opening,
      "With confidence 0.99, all of these hold together for the metric in new groups (one per flight):");
  EXPECT_NE(certificate.assumptions.front().find("The groups are independent and identically distributed"),
            std::string::npos);
}

TEST(GroupAverages, RefuseSharesThatAreNone) {
  AverageClaim claim;
  claim.samples = 10;
  for (const char* text :
       {"0.5", "0.5:0", "0.5:11", "0.5:1 0.5:1", "0.5:1 0.2:1", "1.5:1", "-1:2", "nan:1", "0.5:1 ", "x:1"}) {
    claim.shares = text;
    EXPECT_INPUT_ERROR(shares_of(claim), "shares: ");
  }
}

TEST(GroupAverages, AreNotClaimedWithoutGroups) {
  Options options;
  options.kinds = {"average"};
  EXPECT_INPUT_ERROR(resolved(options, {{1, 2}}), "are of groups: name them by --group");
  options.sampling = Sampling::sequence;
  EXPECT_INPUT_ERROR(resolved(options, {{1, 2}}), "the only kind is 'sequence'");
  EXPECT_EQ(default_kinds(Sampling::groups),
            (std::vector<std::string>{"success", "quantile", "budget", "average"}));
}

}  // namespace
}  // namespace surefoot::certify
