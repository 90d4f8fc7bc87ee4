#include "surefoot/certify/kinds/mean.hpp"

#include "surefoot/certify/kinds/share_histogram.hpp"
#include "surefoot/certify/worst_case_part.hpp"

#include "support/input_error.hpp"
#include "support/kind_check.hpp"

#include <algorithm>
#include <numeric>

namespace surefoot::certify {
namespace {

Options within(double upper) {
  Options options;
  options.range = upper;
  options.metric = "residual";
  return options;
}

/// A certificate of these scalars.
Certificate of_scalars(const std::vector<double>& values, Options options) {
  options.scalar = true;
  options.kinds = {"mean"};
  options = resolved(options, {{scalar_step}});
  runs::Tally tally(tally_spec(options, {scalar_step}));
  for (std::size_t i = 0; i < values.size(); ++i) tally.add_run(&values[i], static_cast<Index>(i));
  Variant variant;
  variant.name = "alone";
  return certify(options, {{variant, tally}});
}

std::vector<double> squares_of_uniforms(std::uint64_t seed, Index count) {
  std::vector<double> values;
  for (Index i = 0; i < count; ++i) {
    RandomStream random(seed, "means", static_cast<std::uint64_t>(i));
    values.push_back(std::pow(random.uniform(), 2));
  }
  return values;
}

TEST(Means, PassTheContractOfKinds) {
  test::expect_kind_contract("mean", within(30));
}

// The root of the betting formula by plain bisection on the exact values, in the test's own words.
double betting_by_hand(const std::vector<double>& shares, double delta, int bets) {
  const auto wealth = [&](double m) {
    const double phi = std::asin(std::sqrt(m));
    double sum = 0;
    for (int j = 0; j < bets; ++j) {
      const double v = (j + 0.5) / bets;
      double product = 0;
      for (const double y : shares)
        product += std::log((1 - y) * std::pow(std::cos(v * phi), 2) / (1 - m) +
                            y * std::pow(std::sin(v * phi), 2) / m);
      sum += std::exp(product) / bets;
    }
    return sum;
  };
  double low = std::accumulate(shares.begin(), shares.end(), 0.0) / static_cast<double>(shares.size());
  double high = 1;
  for (int round = 0; round < 50; ++round) {
    const double middle = (low + high) / 2;
    (wealth(middle) >= 1 / delta ? high : low) = middle;
  }
  return high;
}

TEST(Means, AreBoundedAsTheFormulaSaysUpToTheRoundingOfTheHistogram) {
  const std::vector<double> values = squares_of_uniforms(3, 300);
  Options options = within(2);
  options.thresholds = {0.5};
  const Certificate certificate = of_scalars(values, options);
  ASSERT_EQ(certificate.mean.size(), 2U);
  for (const MeanClaim& claim : certificate.mean) {
    std::vector<double> shares;
    double mean = 0;
    for (const double value : values) {
      shares.push_back(std::max(0.0, value - claim.threshold) / (2 - claim.threshold));
      mean += std::max(0.0, value - claim.threshold) / 300;
    }
    const double bound = (2 - claim.threshold) * betting_by_hand(shares, claim.delta, 70);
    EXPECT_GE(claim.upper_bound, bound * (1 - 1e-9));
    EXPECT_LE(claim.upper_bound, bound * 1.01);
    EXPECT_GE(claim.empirical, mean);
    EXPECT_LE(claim.empirical, mean * 1.01);
    EXPECT_NEAR(claim.delta, 0.005, 1e-12) << "two thresholds share the confidence, levels of CVaR are free";
  }
  // CVaR at any level: the better of the two, and never below what was observed.
  for (const double level : {0.1, 0.5, 0.9, 0.99}) {
    const double bound = *cvar_bound(certificate, 0, scalar_step, level);
    EXPECT_EQ(bound,
              std::min(cvar_bound(certificate.mean[0], level), cvar_bound(certificate.mean[1], level)));
    EXPECT_GE(bound, observed_cvar(certificate.mean[0], level));
    EXPECT_NEAR(cvar_bound(certificate.mean[1], level),
                std::min(2.0, 0.5 + certificate.mean[1].upper_bound / (1 - level)), 1e-12);
  }
  EXPECT_EQ(*cvar_bound(certificate, 0, scalar_step, 0),
            std::min(certificate.mean[0].upper_bound, cvar_bound(certificate.mean[1], 0)));
  EXPECT_FALSE(cvar_bound(certificate, 1, scalar_step, 0).has_value());
}

TEST(Means, ObservedCvarIsTheMeanOfTheWorst) {
  std::vector<double> values;
  for (int i = 1; i <= 100; ++i) values.push_back(i);
  const Certificate certificate = of_scalars(values, within(100));
  EXPECT_NEAR(observed_cvar(certificate.mean.front(), 0), 50.5, 0.01);
  EXPECT_NEAR(observed_cvar(certificate.mean.front(), 0.9), 95.5, 0.01);
  EXPECT_NEAR(observed_cvar(certificate.mean.front(), 0.995), 100, 0.01);
}

TEST(Means, RefuseValuesOutsideTheRangeWithTheirRow) {
  EXPECT_INPUT_ERROR(of_scalars({0.5, 2.5, 3.5}, within(2)),
                     "range: row 2 of alone is 2.5, outside the stated 0 .. 2");
  EXPECT_INPUT_ERROR(of_scalars({0.5, 0.5, -1}, within(2)),
                     "range: row 3 of alone is -1, outside the stated 0 .. 2");
  EXPECT_INPUT_ERROR(of_scalars({0.5, std::nan("")}, within(2)), "row 2 of alone is inf, outside");
  EXPECT_NO_THROW(of_scalars({0, 2}, within(2)));
}

TEST(Means, RefuseDeclarationsThatMakeNoSense) {
  const auto resolve = [](const Options& options) { return resolved(options, {{1, 2}}); };
  EXPECT_INPUT_ERROR(resolve(within(0)), "range: 0 .. 0 is not a range");
  EXPECT_INPUT_ERROR(resolve(within(-1)), "range: 0 .. -1 is not a range");
  EXPECT_INPUT_ERROR(resolve(within(infinity)), "range: 0 .. inf is not a range");
  EXPECT_INPUT_ERROR(resolve(within(std::nan(""))), "is not a range");
  Options options;
  options.kinds = {"mean"};
  EXPECT_INPUT_ERROR(resolve(options), "need the range of the metric: --range 0,R");
  options = {};
  options.cvar = {0.9};
  EXPECT_INPUT_ERROR(resolve(options), "range: thresholds and levels of CVaR need it");
  options = within(1);
  options.thresholds = {0.5, 0.25};
  EXPECT_INPUT_ERROR(resolve(options), "thresholds: they must increase");
  options.thresholds = {1};
  EXPECT_INPUT_ERROR(resolve(options), "thresholds: 1 is outside 0 .. 1");
  options.thresholds = {-0.5};
  EXPECT_INPUT_ERROR(resolve(options), "thresholds: ");
  options = within(1);
  options.cvar = {1};
  EXPECT_INPUT_ERROR(resolve(options), "cvar: level 1 is outside (0, 1)");
  options = within(1);
  options.sampling = Sampling::sequence;
  options.kinds = {"sequence"};
  EXPECT_INPUT_ERROR(resolve(options), "range: means are of new problems");
  options = within(1);
  options.risk_method = bounds::RiskMethod::anytime;
  options.average_method = bounds::MeanMethod::kl;
  EXPECT_INPUT_ERROR(resolve(options), "average method: 'kl'");
}

TEST(Means, AreAddedWhereARangeIsStated) {
  EXPECT_TRUE(resolved(within(1), {{1, 2}}).claims("mean"));
  EXPECT_FALSE(resolved(Options(), {{1, 2}}).claims("mean"));
  const Options restored = options_of(of_scalars({0.5, 0.25}, within(2)));
  EXPECT_EQ(restored.range, 2);
  EXPECT_EQ(restored.thresholds, (std::vector<double>{0, 0.002, 0.02, 0.06, 0.2, 0.6}));
  EXPECT_EQ(restored.cvar, (std::vector<double>{0.9, 0.99}));
}

TEST(Means, ByKlAndAtEveryNumberOfRuns) {
  const std::vector<double> values = squares_of_uniforms(4, 200);
  Options options = within(1);
  options.average_method = bounds::MeanMethod::kl;
  const Certificate by_kl = of_scalars(values, options);
  const MeanClaim& kl = by_kl.mean.front();
  const double by_hand = bounds::group_average_kl(shares_in(kl.shares, 200), kl.delta);
  EXPECT_GE(kl.upper_bound, by_hand);
  EXPECT_NEAR(kl.upper_bound, by_hand, 1e-14);
  EXPECT_TRUE(verify(parse_certificate(to_json(by_kl))).holds());
  options = within(1);
  options.risk_method = bounds::RiskMethod::anytime;
  options.choose = Choice::before;
  const Certificate anytime = of_scalars(values, options);
  const MeanClaim& claim = anytime.mean.front();
  const double with_fixed_bets =
      bounds::group_average_betting(shares_in(claim.shares, 200), claim.delta, 1024);
  EXPECT_GE(claim.upper_bound, with_fixed_bets);
  EXPECT_NEAR(claim.upper_bound, with_fixed_bets, 1e-14);
  EXPECT_TRUE(verify(parse_certificate(to_json(anytime))).holds());
}

TEST(Means, SayWhatTheyRestOn) {
  const Certificate certificate = of_scalars(squares_of_uniforms(5, 500), within(4));
  const std::vector<std::string> statements = statements_of(certificate);
  EXPECT_TRUE(std::ranges::any_of(statements, [](const std::string& text) {
    return text.find(
               "if the residual of every problem lies within 0 .. 4, as the user states, the residual is at most "
               "0.") != std::string::npos &&
           text.find(" on average over new problems, at most ") != std::string::npos &&
           text.find(" over the worst 10 % of them") != std::string::npos;
  })) << (statements.empty() ? "" : statements.front());
  EXPECT_TRUE(std::ranges::any_of(certificate.assumptions, [](const std::string& text) {
    return text.find("lies within 0 .. 4, as stated by the user") != std::string::npos;
  }));
}

TEST(Means, RestOnAWorstCaseWhereItProvesTheRange) {
  Options options = within(1);
  options.kinds = {"mean"};
  options.steps = {2, 4};
  options = resolved(options, {{1, 2, 3, 4}});
  runs::Tally tally(tally_spec(options, {1, 2, 3, 4}));
  for (int i = 0; i < 50; ++i) {
    const double row[] = {0.5, 0.25, 0.1, 0.01 * (i % 7)};
    tally.add_run(row, i);
  }
  const Certificate plain = certify(options, {{Variant{.name = "x", .source = {}, .sha256 = {}}, tally}});
  const auto says = [](const Certificate& certificate, const char* words) {
    return std::ranges::any_of(certificate.assumptions, [&](const std::string& text) {
      return text.find(words) != std::string::npos;
    });
  };
  const char* stated = "lies within 0 .. 1 at the steps that are certified, as stated by the user";
  EXPECT_TRUE(says(plain, stated));
  EXPECT_FALSE(range_is_proven(plain));
  // 0.5-averaged: after two steps at most half of the distance, after one all of it.
  for (const double dist0 : {1.5, 5.0}) {
    Certificate with = plain;
    add_worst_case(with, parse_stated_worst_case("averaged:0.5", dist0));
    EXPECT_EQ(range_is_proven(with), dist0 < 2);
    EXPECT_EQ(says(with, "as the worst case proves: means and CVaR rest on it"), dist0 < 2);
    EXPECT_EQ(says(with, stated), dist0 > 2);
    EXPECT_TRUE(verify(parse_certificate(to_json(with))).holds());
  }
}

TEST(ShareHistograms, RoundUpAndAddLittleToTheMean) {
  std::vector<bounds::GroupShare> exact;
  double sum = 0;
  for (int i = 0; i <= 2000; ++i) {
    exact.push_back({std::pow(i / 2000.0, 6), 1 + i % 3});
    sum += exact.back().share * static_cast<double>(exact.back().groups);
  }
  const std::vector<bounds::GroupShare> few = few_shares_of_mean(exact, 128);
  EXPECT_LE(few.size(), 128U);
  EXPECT_EQ(few.front().share, 0);
  EXPECT_EQ(few.front().groups, 1) << "0 stays 0";
  double sum_of_few = 0;
  std::size_t at = 0;
  Index left = exact.front().groups;
  for (const bounds::GroupShare& each : few) {
    sum_of_few += each.share * static_cast<double>(each.groups);
    for (Index taken = 0; taken < each.groups; ++taken) {
      ASSERT_LT(at, exact.size());
      EXPECT_LE(exact[at].share, each.share);
      if (--left == 0 && ++at < exact.size()) left = exact[at].groups;
    }
  }
  EXPECT_EQ(at, exact.size()) << "every sample is in it";
  // Shares y = u^6 have (integral of the root of their density)^2 / (2 * 128) = 1.34 % of their mean.
  EXPECT_LE(sum_of_few, 1.0135 * sum);
  EXPECT_EQ(shares_in(shares_text(few), 100000).size(), few.size());
  EXPECT_INPUT_ERROR(shares_in("0.5:3", 2), "shares: the number of groups with share 0.5");
}

}  // namespace
}  // namespace surefoot::certify
