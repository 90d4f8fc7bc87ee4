// The robust Kalman filter with other noise: what a certificate promises under it, and what happens.
// docs/howto_other_distribution.md shows what this prints.

#include "surefoot/algorithms/scs.hpp"
#include "surefoot/bounds/binomial.hpp"
#include "surefoot/bounds/shift.hpp"
#include "surefoot/certify/certify_run.hpp"
#include "surefoot/certify/shift_part.hpp"
#include "surefoot/families/robust_kalman.hpp"

#include "support/simulations.hpp"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <cmath>

namespace surefoot {
namespace {

constexpr Index last = 150;
constexpr double tolerance = 1e-2;

certify::Certificate certify_kalman(const families::RobustKalmanOptions& noise, std::uint64_t seed,
                                    Index samples) {
  const families::RobustKalman family(noise);
  const algorithms::Scs scs(family.problem(family.draw(seed, samples).observations),
                            algorithms::ScsOptions::paper());
  certify::Options claims;
  claims.kinds = {"success"};
  claims.tolerances = {tolerance};
  claims.steps = {last};
  return certify::certify_run(scs, runs::fixed_point_residual(), claims, {.steps = last});
}

/// KL between the noise of two such families, of which the observations are a function, so that they are not
/// further apart: T steps of two Gaussian numbers w_t and two of v_t, which is an outlier with probability p.
/// A Gaussian whose standard deviation is s times as large is s^2/2 - 1/2 - log s away, and a mixture at most
/// the Bernoulli divergence of its weights and the average over its parts.
double noise_divergence(const families::RobustKalmanOptions& from, const families::RobustKalmanOptions& to) {
  const double s = to.noise / from.noise;
  const double scale = (s * s - 1) / 2 - std::log(s);
  const double p = from.outlier_probability;
  const double q = to.outlier_probability;
  const double outliers = q == p ? 0 : q * std::log(q / p) + (1 - q) * std::log((1 - q) / (1 - p));
  const auto horizon = static_cast<double>(from.horizon);
  return horizon * (2 * scale + outliers + (1 - q) * 2 * scale);
}

TEST(ShiftExample, WhatIsPromisedOfAKalmanFilterWithOtherNoiseHappens) {
  const Index samples = test_support::simulations(2000);
  const families::RobustKalmanOptions usual;
  std::vector<families::RobustKalmanOptions> others(4, usual);
  others[0].noise = 1.005 * usual.noise;
  others[1].noise = 1.01 * usual.noise;
  others[2].outlier_probability = 0.11;
  others[3].noise = 1.5 * usual.noise;
  const certify::SuccessClaim claim = certify_kalman(usual, 1, samples).success.front();
  for (std::size_t i = 0; i < others.size(); ++i) {
    const bounds::Shift shift{bounds::Divergence::kl, noise_divergence(usual, others[i])};
    const double promised = certify::share_under(shift, claim);
    const certify::SuccessClaim fresh = certify_kalman(others[i], 100 + i, samples).success.front();
    fmt::print(
        "noise {:.4g}, outliers {:.3g}: KL {:.4f}; certified {:.4f}, promised {:.4f}, observed {:.4f}\n",
        others[i].noise, others[i].outlier_probability, shift.radius, claim.lower_bound, promised,
        fresh.empirical);
    EXPECT_LT(promised, claim.lower_bound);
    // The promise is refuted if so many successes are less likely than 1e-6 at the promised share.
    const Index successes = fresh.samples - fresh.failures;
    if (promised > 0) {
      EXPECT_GT(bounds::binomial_cdf_upper(successes, fresh.samples, promised), 1e-6);
    }
  }
}

}  // namespace
}  // namespace surefoot
