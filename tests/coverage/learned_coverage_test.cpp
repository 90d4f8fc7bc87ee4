// Certificates of a learned optimizer whose every risk is known are false as often as they say, and not more.
//
// Weights theta ~ N(w, s), problems x ~ N(mu, 1), z^k = k theta, metric |z^k - x|: k theta - x is normal. The
// posterior is chosen after seeing the samples, as training does.

#include "surefoot/bounds/pac_bayes.hpp"
#include "surefoot/certify/learned.hpp"

#include "coverage/simulation.hpp"
#include "support/simulations.hpp"
#include "support/toy_learned.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <numeric>

namespace surefoot {
namespace {

using certify::Calibrated;
using certify::CalibrationOptions;
using certify::Certificate;
using certify::Design;
using certify::LearnedModel;
using certify::PacBayesOptions;
using test::count_false;
using test::expect_at_most;
using test::toy_metric;
using test::toy_posterior;
using test::ToyLearned;

constexpr double mu = 0.6;
constexpr Index steps = 2;

struct Gaussian {
  double mean = 0;
  double variance = 0;
};

double normal_cdf(double t) {
  return 0.5 * std::erfc(-t / std::sqrt(2.0));
}

/// P(|k theta - x| < eps for all k = from .. steps), by Simpson's rule over x.
double settling_probability(const Gaussian& theta, Index from, double eps) {
  constexpr int cells = 400;
  constexpr double reach = 8;
  const double width = 2 * reach / cells;
  double sum = 0;
  for (int i = 0; i <= cells; ++i) {
    const double x = mu - reach + width * i;
    double low = -infinity;
    double high = infinity;
    for (Index k = std::max<Index>(from, 1); k <= steps; ++k) {
      low = std::max(low, (x - eps) / static_cast<double>(k));
      high = std::min(high, (x + eps) / static_cast<double>(k));
    }
    if (high <= low || (from == 0 && std::abs(x) >= eps)) continue;
    const double deviation = std::sqrt(theta.variance);
    const double inside =
        normal_cdf((high - theta.mean) / deviation) - normal_cdf((low - theta.mean) / deviation);
    const double weight = i == 0 || i == cells ? 1 : (i % 2 == 1 ? 4 : 2);
    sum += weight * inside * std::exp(-0.5 * (x - mu) * (x - mu));
  }
  return sum * width / 3 / std::sqrt(2 * std::acos(-1.0));
}

bool any_claim_false(const Certificate& certificate, const std::vector<Gaussian>& posteriors) {
  constexpr double rounding = 1e-9;
  for (const certify::SuccessClaim& claim : certificate.success) {
    const Gaussian& theta = posteriors[claim.variant];
    const double truth = test::toy_success(claim.step, theta.mean, theta.variance, mu, claim.tolerance);
    if (claim.lower_bound > truth + rounding) return true;
  }
  for (const certify::QuantileClaim& claim : certificate.quantile) {
    const Gaussian& theta = posteriors[claim.variant];
    if (claim.upper_bound == infinity) continue;
    const double below = test::toy_success(claim.step, theta.mean, theta.variance, mu, claim.upper_bound);
    if (below < claim.quantile - rounding) return true;
  }
  for (const certify::BudgetClaim& claim : certificate.budget) {
    if (!claim.steps) continue;
    const double truth = settling_probability(posteriors[claim.variant], *claim.steps, claim.tolerance);
    if (truth < claim.quantile - 1e-4) return true;
  }
  return false;
}

std::vector<double> draw_targets(RandomStream& random, Index count) {
  std::vector<double> x(static_cast<std::size_t>(count));
  for (double& value : x) value = mu + random.normal();
  return x;
}

double mean_of(const std::vector<double>& values) {
  return std::accumulate(values.begin(), values.end(), 0.0) / static_cast<double>(values.size());
}

PacBayesOptions simulated_learned_options() {
  PacBayesOptions options;
  options.claims.delta = 0.2;
  options.claims.tolerances = {1.5};
  options.claims.quantiles = {0.4, 0.6};
  options.claims.grid = {0.8, 1.2, 1.6, 2.0, 2.4, 3.0};
  return resolved(options, certify::recorded_steps(toy_metric({}), steps));
}

Index seed_of(RandomStream& random) {
  return static_cast<Index>(random.bits() >> 2U);
}

/// One calibrated posterior per given mean and variance on the samples x.
std::vector<Calibrated> calibrated(const std::vector<double>& x, const std::vector<Gaussian>& posteriors,
                                   double prior_mean, const PacBayesOptions& options,
                                   const CalibrationOptions& calibration) {
  ToyLearned op(std::vector<Index>(x.size(), 0), 1);
  std::vector<Calibrated> result;
  for (const Gaussian& theta : posteriors) {
    learning::Posterior posterior = toy_posterior({theta.mean}, theta.variance, 530);
    posterior.gaussians.prior_mean[0] = prior_mean;
    const LearnedModel model{op, posterior, toy_metric(x), steps};
    result.push_back(certify::calibrate(model, options, calibration));
  }
  return result;
}

TEST(LearnedCoverage, OfPosteriorsChosenFromTheSamples) {
  constexpr Index total = test_support::simulations(30'000);
  const PacBayesOptions options = simulated_learned_options();
  const Index found = count_false(
      "pac-bayes",
      [&](RandomStream& random) {
        const std::vector<double> x = draw_targets(random, 60);
        const double mean = mean_of(x);
        const std::vector<Gaussian> posteriors{{mean, 1e-3}, {0.7 * mean, 0.05}};
        CalibrationOptions calibration;
        calibration.seed = seed_of(random);
        return any_claim_false(
            certify::certify(options, calibrated(x, posteriors, 0.0, options, calibration)), posteriors);
      },
      total);
  expect_at_most(found, options.claims.delta, total);
}

TEST(LearnedCoverage, OfPriorMeansTrainedOnOtherSamples) {
  constexpr Index total = test_support::simulations(30'000);
  const PacBayesOptions options = simulated_learned_options();
  const Index found = count_false(
      "split prior",
      [&](RandomStream& random) {
        const double prior_mean = mean_of(draw_targets(random, 30));
        const std::vector<double> x = draw_targets(random, 60);
        const std::vector<Gaussian> posteriors{{0.5 * (prior_mean + mean_of(x)), 1e-2}};
        CalibrationOptions calibration;
        calibration.seed = seed_of(random);
        calibration.prior_samples = 30;
        return any_claim_false(
            certify::certify(options, calibrated(x, posteriors, prior_mean, options, calibration)),
            posteriors);
      },
      total);
  expect_at_most(found, options.claims.delta, total);
}

// The expected empirical risk of a posterior on fixed samples is a finite sum: the calibration alone is
// tested against it, where its bound is sharp.
TEST(LearnedCoverage, OfBothCalibrationDesigns) {
  constexpr Index total = test_support::simulations(50'000);
  const PacBayesOptions options = simulated_learned_options();
  RandomStream fixed(1, "calibrated samples", 0);
  const std::vector<double> x = draw_targets(fixed, 40);
  const Gaussian theta{0.5, 9.0};  // weights matter more than problems: runs that share them fail together
  double risk = 0;
  for (const double target : x) {
    const double deviation = std::sqrt(theta.variance);
    risk += 1 - (normal_cdf((target + 1.5 - theta.mean) / deviation) -
                 normal_cdf((target - 1.5 - theta.mean) / deviation));
  }
  risk /= static_cast<double>(x.size());
  constexpr double omega = 0.1;
  for (const Design design : {Design::stratified, Design::paper}) {
    const Index found = count_false(
        design == Design::paper ? "shared weights" : "own weights",
        [&](RandomStream& random) {
          CalibrationOptions calibration;
          calibration.design = design;
          calibration.draws = design == Design::paper ? 12 : 2;
          calibration.seed = seed_of(random);
          const Calibrated counted = calibrated(x, {theta}, 0.0, options, calibration).front();
          const Index failures = counted.tally.failures(1, 0);
          const Index runs = counted.tally.samples();
          const double bound = design == Design::paper
                                   ? bounds::calibrated_risk_paper(failures, runs, 12, omega)
                                   : bounds::calibrated_risk(failures, runs, omega);
          return bound < risk;
        },
        total);
    expect_at_most(found, omega, total);
    if (!test_support::sanitized) {
      EXPECT_GT(found, 0);
    }
  }
}

// An optimizer with a weight for each of many cells learns fair coins by heart: its true risk is 1/2 whatever
// the weights. The KL that it is charged keeps its certificates true; without it they would all be false.
TEST(LearnedCoverage, OfAnOptimizerThatLearnsItsSamplesByHeart) {
  constexpr Index total = test_support::simulations(20'000);
  constexpr Index samples = 40;
  constexpr Index cells = 400;
  PacBayesOptions options;
  options.claims.delta = 0.2;
  options.claims.tolerances = {1e-100};  // the metric -theta y is negative where the coin is foretold
  options.claims.kinds = {"success"};
  options = resolved(options, {0, 1});
  std::atomic<Index> false_without_kl{0};
  const Index found = count_false(
      "by heart",
      [&](RandomStream& random) {
        std::vector<Index> cell;
        std::vector<double> coin;
        std::vector<double> mean(cells, 0.0);
        for (Index i = 0; i < samples; ++i) {
          cell.push_back(static_cast<Index>(random.below(cells)));
          coin.push_back(random.uniform() < 0.5 ? -1.0 : 1.0);
          mean[static_cast<std::size_t>(cell.back())] = coin.back();
        }
        ToyLearned op(cell, cells);
        const runs::Metric metric =
            runs::own_metric("foretold", [&](const runs::MetricInput& input, double* value) {
              for (Index j = 0; j < input.iterate.width; ++j) {
                const Index i = input.first + std::min(j, input.count - 1);
                value[j] = -input.iterate.row(0)[j] * coin[static_cast<std::size_t>(i)];
              }
            });
        const learning::Posterior posterior = toy_posterior(mean, 0.1, 600);
        CalibrationOptions calibration;
        calibration.seed = seed_of(random);
        const LearnedModel model{op, posterior, metric, 1};
        const Certificate certificate =
            certify::certify(options, {certify::calibrate(model, options, calibration)});
        certify::PacBayes uncharged = *certificate.variants[0].pac_bayes;
        uncharged.kl = 0;
        uncharged.positions.clear();
        uncharged.regularizer = certify::regularizer_of(uncharged);
        const certify::SuccessClaim& claim = certificate.success.back();
        if (certify::learned_success(certify::learned_risk(uncharged, claim.failures)) > 0.5)
          ++false_without_kl;
        return claim.lower_bound > 0.5;
      },
      total);
  expect_at_most(found, options.claims.delta, total);
  EXPECT_GT(false_without_kl.load(), total * 9 / 10);
}

TEST(LearnedCoverage, OfHoldOutCertificatesWithFreshWeights) {
  constexpr Index total = test_support::simulations(50'000);
  certify::Options options;
  options.delta = 0.2;
  options.tolerances = {1.5};
  options.quantiles = {0.6};
  for (const bool at_means : {false, true}) {
    const Index found = count_false(
        at_means ? "hold-out means" : "hold-out",
        [&](RandomStream& random) {
          const Gaussian theta{mean_of(draw_targets(random, 20)), at_means ? 0.0 : 0.2};
          const std::vector<double> x = draw_targets(random, 60);
          ToyLearned op(std::vector<Index>(x.size(), 0), 1);
          const learning::Posterior posterior = toy_posterior({theta.mean}, 0.2, 530);
          const LearnedModel model{op, posterior, toy_metric(x), steps};
          certify::HoldOutOptions hold_out;
          hold_out.at_means = at_means;
          hold_out.seed = seed_of(random);
          Certificate certificate = certify::certify_hold_out(model, options, hold_out);
          if (at_means) certificate.budget.clear();  // their truth divides by the variance
          return any_claim_false(certificate, {theta});
        },
        total);
    expect_at_most(found, options.delta, total);
    EXPECT_GT(found, total / 1000) << "the union bound is loose, but not that loose";
  }
}

}  // namespace
}  // namespace surefoot
