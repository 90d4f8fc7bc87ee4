// Means and CVaR: false as often as they say, at levels that are chosen after looking, and tighter than the
// bounds that are in use.

#include "surefoot/bounds/group_average.hpp"
#include "surefoot/certify/classical.hpp"
#include "surefoot/core/random.hpp"

#include "coverage/simulation.hpp"
#include "support/simulations.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <cmath>
#include <functional>
#include <string>
#include <vector>

namespace surefoot {
namespace {

using test::count_false;
using test::expect_at_most;

constexpr double mean_delta = 0.1;

/// A metric in [0, 1]: how it is drawn, and CVaR at every level, of which level 0 is the mean.
struct Metric {
  const char* name;
  std::function<double(RandomStream&)> draw;
  std::function<double(double)> cvar;
};

std::vector<Metric> metrics_in_range() {
  const auto rare = [](double level) { return std::min(1.0, 0.02 / (1 - level)); };
  return {
      {"u^4", [](RandomStream& random) { return std::pow(random.uniform(), 4); },
       [](double level) { return (1 - std::pow(level, 5)) / (5 * (1 - level)); }},
      {"rarely all of it", [](RandomStream& random) { return random.uniform() < 0.02 ? 1.0 : 0.0; }, rare}};
}

TEST(MeanCoverage, OfEveryLevelOfCvarAtOnce) {
  const Index total = test_support::simulations(2'000);
  constexpr int samples = 80;
  certify::Options options;
  options.delta = mean_delta;
  options.scalar = true;
  options.range = 1;
  options.thresholds = {0.3};
  options.kinds = {"mean"};
  options = certify::resolved(options, {{certify::scalar_step}});
  const runs::TallySpec spec = certify::tally_spec(options, {certify::scalar_step});
  for (const Metric& metric : metrics_in_range()) {
    const Index found = count_false(
        metric.name,
        [&](RandomStream& random) {
          runs::Tally tally(spec);
          for (int i = 0; i < samples; ++i) {
            const double value = metric.draw(random);
            tally.add_run(&value, i);
          }
          const certify::Certificate certificate = certify::certify(options, {{certify::Variant{}, tally}});
          for (const double level : {0.0, 0.3, 0.5, 0.7, 0.8, 0.9, 0.95, 0.99, 0.999})
            if (*cvar_bound(certificate, 0, certify::scalar_step, level) < metric.cvar(level)) return true;
          return false;
        },
        total);
    RecordProperty(metric.name, std::to_string(found));
    expect_at_most(found, mean_delta, total);
  }
}

/// Beta(0.3, 3): x = u^(1/0.3) has density 0.3 x^-0.7, of which (1-x)^2 is kept. Its mean is 1/11.
double beta_value(RandomStream& random) {
  while (true) {
    const double x = std::pow(random.uniform(), 1 / 0.3);
    if (random.uniform() < (1 - x) * (1 - x)) return x;
  }
}

// Hoeffding (1963), and Maurer and Pontil (2009): mean + sqrt(2 V log(2/delta)/N) + 7 log(2/delta)/(3 (N-1)).
TEST(MeanCoverage, BesideHoeffdingAndEmpiricalBernstein) {
  const Index total = test_support::simulations(300);
  constexpr double delta = 0.01;
  for (const int samples : {100, 1000}) {
    double sums[4] = {};
    Index misses[4] = {};
    for (Index run = 0; run < total; ++run) {
      RandomStream random(2026, "means beside others", static_cast<std::uint64_t>(run * 10'000 + samples));
      std::vector<bounds::GroupShare> shares;
      double mean = 0;
      double squares = 0;
      for (int i = 0; i < samples; ++i) {
        shares.push_back({beta_value(random), 1});
        mean += shares.back().share / samples;
        squares += shares.back().share * shares.back().share;
      }
      const double variance = (squares - samples * mean * mean) / (samples - 1);
      const double log2 = std::log(2 / delta);
      const double found[4] = {
          bounds::group_average_betting(shares, delta), bounds::group_average_kl(shares, delta),
          std::min(1.0, mean + std::sqrt(2 * variance * log2 / samples) + 7 * log2 / (3 * (samples - 1.0))),
          std::min(1.0, mean + std::sqrt(std::log(1 / delta) / (2 * samples)))};
      for (int i = 0; i < 4; ++i) {
        sums[i] += found[i] / static_cast<double>(total);
        misses[i] += found[i] < 1.0 / 11 ? 1 : 0;
      }
    }
    const char* names[4] = {"betting", "kl", "empirical_bernstein", "hoeffding"};
    for (int i = 0; i < 4; ++i) {
      RecordProperty(std::string(names[i]) + "_" + std::to_string(samples), std::to_string(sums[i]));
      RecordProperty(std::string(names[i]) + "_false_" + std::to_string(samples), std::to_string(misses[i]));
      expect_at_most(misses[i], delta, total);
    }
    EXPECT_LT(sums[0], sums[1]);
    EXPECT_LT(sums[1], sums[3]);
    EXPECT_LT(sums[0], sums[2]);
  }
}

}  // namespace
}  // namespace surefoot
