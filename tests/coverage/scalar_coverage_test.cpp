// One number per problem: whole certificates of solve times and iteration counts are false as seldom as they
// say, whatever their user picks of them.

#include "surefoot/bounds/iteration_budget.hpp"
#include "surefoot/certify/ask.hpp"
#include "surefoot/certify/classical.hpp"
#include "surefoot/core/random.hpp"

#include "coverage/simulation.hpp"
#include "support/simulations.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <functional>

namespace surefoot {
namespace {

using test::certificates;
using test::count_false;
using test::expect_at_most;
using test_support::simulations;

/// A number per problem and its distribution: P(X <= value).
struct Law {
  std::function<double(RandomStream&)> draw;
  std::function<double(double)> at_most;
};

/// Iterations to converge, in tens up to 50, with atoms at every one of them; one in 20 never does.
Law iteration_counts() {
  constexpr double failed = 0.05;
  return {[](RandomStream& random) {
            const double u = random.uniform();
            return u < failed ? infinity : 10 * std::ceil(5 * (u - failed) / (1 - failed) + 1e-15);
          },
          [](double value) {
            if (value >= 50) return 1 - failed;
            return std::max(0.0, (1 - failed) * std::floor(value / 10) / 5);
          }};
}

/// Solve times, without ties.
Law solve_times() {
  return {[](RandomStream& random) { return -std::log1p(-random.uniform()); },
          [](double value) { return value <= 0 ? 0.0 : -std::expm1(-value); }};
}

certify::Options declared(std::vector<double> tolerances, double delta, certify::Choice choose) {
  certify::Options options;
  options.scalar = true;
  options.delta = delta;
  options.choose = choose;
  options.tolerances = std::move(tolerances);
  return certify::resolved(options, {{certify::scalar_step}});
}

certify::Certificate certificate_of(const Law& law, RandomStream& random, Index samples, std::size_t variants,
                                    const certify::Options& options) {
  std::vector<certify::Counted> counted;
  for (std::size_t v = 0; v < variants; ++v) {
    runs::Tally tally(certify::tally_spec(options, {certify::scalar_step}));
    for (Index i = 0; i < samples; ++i) {
      const double value = law.draw(random);
      tally.add_run(&value);
    }
    certify::Variant variant;
    variant.name = std::string(1, static_cast<char>('a' + static_cast<int>(v)));
    counted.push_back({variant, tally});
  }
  return certify::certify(options, counted);
}

/// Whether anything that follows from the certificate is false, so whatever a user picks or asks for.
bool something_is_false(const certify::Certificate& certificate, const Law& law) {
  const certify::Facts facts(certificate);
  return std::ranges::any_of(
      facts.all(), [&](const certify::Fact& fact) { return fact.share > law.at_most(fact.value) + 1e-12; });
}

TEST(ScalarCoverage, OfCountsWithTiesAtTheTolerance) {
  const Law law = iteration_counts();
  const double delta = 0.2;
  const certify::Options options = declared({20, 50}, delta, certify::Choice::before);
  for (const Index samples : {12, 45}) {
    const Index total = simulations(certificates);
    const Index found = count_false(
        "scalar ties",
        [&](RandomStream& random) {
          return something_is_false(certificate_of(law, random, samples, 1, options), law);
        },
        total);
    expect_at_most(found, delta, total);
    EXPECT_GT(found, total / 100);  // the claims are not idle
  }
}

TEST(ScalarCoverage, OfEveryAnswer) {
  const double delta = 0.2;
  const Index total = simulations(10'000);
  for (const Law& law : {iteration_counts(), solve_times()}) {
    const certify::Options options = declared({1.0, 30.0}, delta, certify::Choice::both);
    const Index found = count_false(
        "scalar answers",
        [&](RandomStream& random) {
          return something_is_false(certificate_of(law, random, 40, 2, options), law);
        },
        total);
    expect_at_most(found, delta, total);
    EXPECT_GT(found, total / 200);
  }
}

// How many default quantiles there are depends on the number of problems alone, and so does what each pays.
TEST(ScalarCoverage, OfDefaultQuantilesOfAnyNumberOfProblems) {
  const Law law = solve_times();
  const double delta = 0.1;
  const certify::Options options = declared({}, delta, certify::Choice::before);
  for (const Index samples : {5, 15, 30, 60, 90}) {
    const Index total = simulations(certificates / 5);
    const Index found = count_false(
        "default quantiles",
        [&](RandomStream& random) {
          return something_is_false(certificate_of(law, random, samples, 1, options), law);
        },
        total);
    expect_at_most(found, delta, total);
  }
}

// A user who quotes the solver that looks best of eight, all of them equally good.
TEST(ScalarCoverage, OfTheVariantThatLooksBest) {
  const Law law = solve_times();
  const double delta = 0.1;
  const Index total = simulations(certificates / 10);
  certify::Options options;
  options.scalar = true;
  options.delta = delta;
  options.quantiles = {0.8};
  options = certify::resolved(options, {{certify::scalar_step}});
  const auto best_is_false = [&](const certify::Certificate& certificate) {
    double best = infinity;
    for (const certify::QuantileClaim& claim : certificate.quantile) best = std::min(best, claim.upper_bound);
    return best < infinity && law.at_most(best) < 0.8;
  };
  const Index together = count_false(
      "best variant",
      [&](RandomStream& random) { return best_is_false(certificate_of(law, random, 40, 8, options)); },
      total);
  expect_at_most(together, delta, total);
  // The naive way: each by itself, with all of the confidence.
  options.simultaneous = certify::Simultaneity::each;
  const Index naive = count_false(
      "best variant",
      [&](RandomStream& random) { return best_is_false(certificate_of(law, random, 40, 8, options)); },
      total);
  EXPECT_GT(naive, 3 * static_cast<Index>(delta * static_cast<double>(total)));
}

// The naive ways: what 90 % of the measured solves took, and leaving out those that failed.
TEST(ScalarCoverage, OfTheMeasuredQuantileAndOfSurvivorsFailsTheNaiveWay) {
  const Index samples = 60;
  const Law times = solve_times();
  const Index total = simulations(certificates / 5);
  const Index measured = count_false(
      "measured quantile",
      [&](RandomStream& random) {
        std::vector<double> values(static_cast<std::size_t>(samples));
        for (double& value : values) value = times.draw(random);
        std::ranges::sort(values);
        return times.at_most(values[static_cast<std::size_t>(bounds::empirical_rank(samples, 0.9) - 1)]) <
               0.9;
      },
      total);
  EXPECT_GT(measured, total * 4 / 10);  // half of them are false

  const Law law = iteration_counts();  // no more than 95 % ever converge
  const certify::Options options = declared({50}, 0.05, certify::Choice::before);
  const Index survivors = count_false(
      "survivors",
      [&](RandomStream& random) {
        runs::Tally tally(certify::tally_spec(options, {certify::scalar_step}));
        for (Index i = 0; i < 400; ++i)
          if (const double value = law.draw(random); value < infinity) tally.add_run(&value);
        return something_is_false(certify::certify(options, {{certify::Variant{}, tally}}), law);
      },
      total / 20);
  EXPECT_EQ(survivors, total / 20);  // "at least 98 % converge": every time
}

}  // namespace
}  // namespace surefoot
