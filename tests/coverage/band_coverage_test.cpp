// Bounds for people who look first: false as often as they say, whatever is chosen after looking.

#include "surefoot/bounds/anytime.hpp"
#include "surefoot/bounds/band.hpp"
#include "surefoot/bounds/binomial.hpp"
#include "surefoot/bounds/group_average.hpp"
#include "surefoot/bounds/risk.hpp"
#include "surefoot/certify/ask.hpp"
#include "surefoot/certify/classical.hpp"
#include "surefoot/core/random.hpp"

#include "coverage/simulation.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <functional>

namespace surefoot {
namespace {

using test::certificates;
using test::count_false;
using test::expect_at_most;
using test::expect_not_absurdly_below;

/// Lower bounds by count of samples below, at one level.
std::vector<double> shares_at(Index samples, double level) {
  std::vector<double> shares;
  for (Index count = 0; count <= samples; ++count)
    shares.push_back(bounds::band_share(samples, count, level));
  return shares;
}

/// Whether a user who may pick any tolerance finds one whose claimed share is too large: just above an order
/// statistic, where the count has risen and the truth has not.
bool some_tolerance_is_false(RandomStream& random, const std::vector<double>& shares) {
  std::vector<double> values(shares.size() - 1);
  for (double& value : values) value = random.uniform();
  std::sort(values.begin(), values.end());
  for (std::size_t i = 0; i < values.size(); ++i) {
    if (values[i] < shares[i + 1]) return true;
  }
  return false;
}

TEST(BandCoverage, OfEveryToleranceAtOnceIsWhatItSays) {
  for (const Index samples : {8, 60, 200}) {
    for (const double delta : {0.2, 0.03}) {
      const std::vector<double> shares = shares_at(samples, bounds::band_level(samples, delta));
      const Index found =
          count_false("band", [&](RandomStream& random) { return some_tolerance_is_false(random, shares); });
      expect_at_most(found, delta);
      EXPECT_GT(static_cast<double>(found), 0.9 * delta * static_cast<double>(certificates));  // it is exact
    }
  }
}

TEST(BandCoverage, OfTheToleranceThatLooksBestFailsTheNaiveWay) {
  const Index samples = 200;
  const double delta = 0.05;
  const std::vector<double> naive =
      shares_at(samples, delta);  // the bound for one tolerance fixed beforehand
  const Index found = count_false(
      "naive tolerance", [&](RandomStream& random) { return some_tolerance_is_false(random, naive); });
  EXPECT_GT(found, 4 * static_cast<Index>(delta * static_cast<double>(certificates)));
}

TEST(BandCoverage, OfThinnedRanks) {
  const Index samples = 10'500;
  const double delta = 0.2;
  const double level = bounds::band_level(samples, delta);
  const std::vector<Index> ranks = bounds::band_ranks(samples);
  std::vector<double> boundaries;
  for (const Index rank : ranks) boundaries.push_back(bounds::order_statistic_level(rank, samples, level));
  constexpr Index total = 4000;
  const Index found = count_false(
      "thin band",
      [&](RandomStream& random) {
        // Sorted uniform numbers as sums of exponential ones over their total.
        std::vector<double> sums(static_cast<std::size_t>(samples) + 1);
        double sum = 0;
        for (double& value : sums) value = sum -= std::log1p(-random.uniform());
        for (std::size_t j = 0; j < ranks.size(); ++j) {
          if (sums[static_cast<std::size_t>(ranks[j] - 1)] / sum < boundaries[j]) return true;
        }
        return false;
      },
      total);
  expect_at_most(found, delta, total);
  EXPECT_GT(static_cast<double>(found), 0.85 * delta * static_cast<double>(total));
}

TEST(BandCoverage, OfValuesThatComeInAtoms) {
  const std::vector<double> probability{0.3, 0.25, 0.05, 0.2, 0.15, 0.05};
  const Index samples = 50;
  const std::vector<double> shares = shares_at(samples, bounds::band_level(samples, 0.1));
  const Index found = count_false("band of atoms", [&](RandomStream& random) {
    std::vector<Index> counts(probability.size());
    for (Index i = 0; i < samples; ++i) {
      double u = random.uniform();
      std::size_t atom = 0;
      while (atom + 1 < probability.size() && u >= probability[atom]) u -= probability[atom++];
      ++counts[atom];
    }
    Index below = 0;
    double truth = 0;
    for (std::size_t atom = 0; atom < counts.size(); ++atom) {
      below += counts[atom];
      truth += probability[atom];
      if (shares[static_cast<std::size_t>(below)] > truth + 1e-12) return true;
    }
    return false;
  });
  expect_at_most(found, 0.1);
}

/// By n, the fewest failures whose bound is at least p; fewer make a false claim.
std::vector<Index> fewest_true(Index most, double p, const std::function<double(Index, Index)>& bound) {
  std::vector<Index> fewest{0};
  for (Index n = 1; n <= most; ++n) {
    Index failures = fewest.back();
    while (bound(failures, n) < p) ++failures;
    fewest.push_back(failures);
  }
  return fewest;
}

Index false_at_some_look(const char* purpose, const std::vector<Index>& fewest, double p, Index every) {
  return count_false(purpose, [&](RandomStream& random) {
    Index failures = 0;
    for (Index n = 1; n < static_cast<Index>(fewest.size()); ++n) {
      failures += random.uniform() < p ? 1 : 0;
      if (n % every == 0 && failures < fewest[static_cast<std::size_t>(n)]) return true;
    }
    return false;
  });
}

TEST(AnytimeCoverage, OfWhoeverStopsAtTheBestMoment) {
  constexpr Index most = 600;
  const double p = 0.1;
  const auto fewest =
      fewest_true(most, p, [](Index f, Index n) { return bounds::anytime_upper(f, n, 0.05); });
  expect_at_most(false_at_some_look("anytime", fewest, p, 1), 0.05);
}

TEST(AnytimeCoverage, OfWhoeverStopsAtTheBestMomentFailsTheNaiveWay) {
  constexpr Index most = 2000;
  const double p = 0.1;
  const auto fewest =
      fewest_true(most, p, [](Index f, Index n) { return bounds::clopper_pearson_upper(f, n, 0.05); });
  const Index found = false_at_some_look("naive looks", fewest, p, 50);
  EXPECT_GT(found, 3 * certificates / 20);  // about 20 % instead of 5 %
}

// Failures come in runs: the next one is likely after one. The average of their conditional probabilities is
// known, and bounded at every moment.
TEST(SequenceCoverage, OfADependentLog) {
  constexpr Index most = 300;
  std::vector<std::vector<double>> bound(most + 1);
  for (Index n = 1; n <= most; ++n) {
    for (Index f = 0; f <= std::min<Index>(n, 150); ++f)
      bound[static_cast<std::size_t>(n)].push_back(bounds::sequence_upper(f, n, 0.05));
  }
  const Index found = count_false("log", [&](RandomStream& random) {
    Index failures = 0;
    double expected = 0;
    bool failed = false;
    for (Index n = 1; n <= most; ++n) {
      const double probability = failed ? 0.6 : 0.01;
      expected += probability;
      failed = random.uniform() < probability;
      failures += failed ? 1 : 0;
      const auto& bounds_at = bound[static_cast<std::size_t>(n)];
      if (failures < static_cast<Index>(bounds_at.size()) &&
          expected / static_cast<double>(n) > bounds_at[static_cast<std::size_t>(failures)])
        return true;
    }
    return false;
  });
  expect_at_most(found, 0.05);
}

// Ticks of a group fail together. Y = share of failed ticks; pooling the ticks as if they were independent is
// the naive way.
TEST(GroupCoverage, OfTheAverageTick) {
  constexpr Index groups = 20;
  constexpr Index ticks = 50;
  constexpr double delta = 0.1;
  const auto draw = [](RandomStream& random) { return random.uniform() < 0.1 ? 0.8 : 0.02; };  // E[Y] = 0.098
  const double truth = 0.1 * 0.8 + 0.9 * 0.02;
  const auto histogram = [](Index bad) {
    std::vector<bounds::GroupShare> shares;
    if (bad < groups) shares.push_back({0.02, groups - bad});
    if (bad > 0) shares.push_back({0.8, bad});
    return shares;
  };
  std::vector<double> betting;
  std::vector<double> by_kl;
  std::vector<double> pooled;
  for (Index bad = 0; bad <= groups; ++bad) {
    betting.push_back(bounds::group_average_betting(histogram(bad), delta));
    by_kl.push_back(bounds::group_average_kl(histogram(bad), delta));
    const Index failures = bad * (ticks * 4 / 5) + (groups - bad) * (ticks / 50);
    pooled.push_back(bounds::clopper_pearson_upper(failures, groups * ticks, delta));
  }
  const auto share_false = [&](const std::vector<double>& bound) {
    return count_false("groups", [&](RandomStream& random) {
      std::size_t bad = 0;
      for (Index g = 0; g < groups; ++g) bad += draw(random) > 0.5 ? 1 : 0;
      return bound[bad] < truth;
    });
  };
  expect_at_most(share_false(betting), delta);
  expect_at_most(share_false(by_kl), delta);
  EXPECT_GT(share_false(pooled), 3 * certificates / 10);
}

/// Runs whose metric at step k is U^k for a uniform U of their own, but that rise again at the last step with
/// probability 0.1: P(phi_k < eps) and P(V_k < eps) are known for every eps.
constexpr Index power_steps = 3;
constexpr double rises = 0.1;

double true_share(Index step, bool onward, double eps) {
  const auto below = [&](double power) { return eps <= 0 ? 0.0 : std::min(1.0, std::pow(eps, 1 / power)); };
  const double calm = below(static_cast<double>(step));  // phi falls: the largest from there on is the first
  if (step < power_steps && !onward) return calm;
  return (1 - rises) * calm + rises * std::min(calm, below(0.5));  // U^(1/2) at the last step
}

certify::Certificate power_certificate(RandomStream& random, Index samples, certify::Choice choose,
                                       double delta) {
  certify::Options options;
  options.delta = delta;
  options.choose = choose;
  options.tolerances = {0.5};
  options.quantiles = {0.5};
  options = certify::resolved(options, {{1, 2, 3}});
  runs::Tally tally(certify::tally_spec(options, {1, 2, 3}));
  for (Index i = 0; i < samples; ++i) {
    const double u = random.uniform();
    const bool up = random.uniform() < rises;
    const std::array run{u, u * u, up ? std::sqrt(u) : u * u * u};
    tally.add_run(run.data());
  }
  certify::Variant variant;
  variant.name = "a";
  return certify::certify(options, {{variant, tally}});
}

/// Whether anybody who may ask for any tolerance, step and share gets an answer that is false: the worst
/// question is just above a value of a band.
bool some_answer_is_false(const certify::Certificate& certificate) {
  const certify::Facts facts(certificate);
  for (const certify::Fact& fact : facts.all()) {
    const bool onward = fact.of == certify::Fact::Of::onward;
    if (fact.share > true_share(fact.step, onward, fact.value) + 1e-12) return true;
  }
  return false;
}

TEST(BandCoverage, OfEveryAnswerOfACertificate) {
  const double delta = 0.2;
  constexpr Index total = 10'000;
  for (const certify::Choice choose : {certify::Choice::both, certify::Choice::after}) {
    const Index found = count_false(
        "answers",
        [&](RandomStream& random) {
          return some_answer_is_false(power_certificate(random, 40, choose, delta));
        },
        total);
    expect_at_most(found, delta, total);
    EXPECT_GT(found, choose == certify::Choice::after ? total / 100 : 0);
  }
}

// The naive way: certify at the tolerance and step that look best, as if they had been declared.
TEST(BandCoverage, OfACertificateForTheBestLookingToleranceFailsTheNaiveWay) {
  const Index samples = 40;
  const double delta = 0.2;
  std::vector<double> naive;
  for (Index count = 0; count <= samples; ++count)
    naive.push_back(bounds::success_lower_bound(samples - count, samples, delta, bounds::RiskMethod::exact));
  const Index found = count_false(
      "naive certificates", [&](RandomStream& random) { return some_tolerance_is_false(random, naive); });
  EXPECT_GT(found, certificates * 6 / 10);
}

}  // namespace
}  // namespace surefoot
