#include "surefoot/bounds/shift.hpp"

#include "surefoot/core/error.hpp"
#include "surefoot/core/random.hpp"
#include "surefoot/core/types.hpp"

#include "support/input_error.hpp"

#include <boost/multiprecision/cpp_bin_float.hpp>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <vector>

namespace surefoot::bounds {
namespace {

using Exact = boost::multiprecision::cpp_bin_float_50;
using enum Divergence;

Exact exact_kl_term(const Exact& q, const Exact& p) {
  return q == 0 ? Exact(0) : Exact(q * log(q / p));
}

Exact exact_binary_kl(double q, double p) {
  return exact_kl_term(q, p) + exact_kl_term(1 - Exact(q), 1 - Exact(p));
}

/// A distribution on a few atoms whose probabilities are whole multiples of 2^-20, so that they are doubles,
/// and sums of them too.
constexpr int units = 1 << 20;
std::vector<int> random_weights(RandomStream& random, std::size_t atoms, double spread) {
  std::vector<double> raw(atoms);
  double sum = 0;
  for (double& each : raw) sum += each = std::exp(spread * random.normal());
  std::vector<int> weights(atoms);
  int left = units - static_cast<int>(atoms);
  for (std::size_t i = 0; i < atoms; ++i) {
    const int share = i + 1 == atoms ? left : std::min(left, static_cast<int>(raw[i] / sum * (units - 64)));
    weights[i] = 1 + share;
    left -= share;
  }
  return weights;
}

struct Distances {
  Exact kl = 0;
  Exact total_variation = 0;
  Exact chi_squared = 0;
  Exact density_ratio = 0;
};

Distances distances(const std::vector<Exact>& q, const std::vector<int>& p) {
  Distances all;
  for (std::size_t i = 0; i < q.size(); ++i) {
    const Exact base = Exact(p[i]) / units;
    const Exact gap = q[i] - base;
    all.kl += exact_kl_term(q[i], base);
    all.total_variation += abs(gap) / 2;
    all.chi_squared += gap * gap / base;
    all.density_ratio = std::max(all.density_ratio, Exact(q[i] / base));
  }
  return all;
}

/// The smallest double that is not below it, up to one.
double rounded_up(const Exact& value) {
  return std::nextafter(static_cast<double>(value), infinity);
}

TEST(Shift, RisksUnderKlAreNotBelowTheTruthAndAtMost1em11Above) {
  RandomStream random(1, "shift", 0);
  for (int i = 0; i < 3000; ++i) {
    const double risk = i % 2 == 0 ? std::pow(10.0, random.uniform(-18.0, -0.01)) : random.uniform();
    const double rho = std::pow(10.0, random.uniform(-9.0, 1.5));
    const double q = risk_under_shift(risk, {kl, rho});
    ASSERT_GE(q, risk);
    ASSERT_LE(q, 1.0);
    if (q < 1.0) {
      EXPECT_GE(exact_binary_kl(q, risk), Exact(rho)) << risk << " " << rho;
    }
    // The answer is a double: where the gap is small, the next doubles below are as near as it can be.
    const double inside = risk + (q - risk) * (1 - 1e-11) - 4 * std::numeric_limits<double>::epsilon() * q;
    if (inside > risk) {
      EXPECT_LT(exact_binary_kl(inside, risk), Exact(rho)) << risk << " " << rho;
    }
  }
}

TEST(Shift, TiltedDistributionsAttainTheBound) {
  RandomStream random(2, "shift", 0);
  for (int trial = 0; trial < 300; ++trial) {
    const std::vector<int> p = random_weights(random, 6, 1.0);
    const double risk = (p[0] + p[1] + p[2]) / static_cast<double>(units);
    const double rho = random.uniform(0.001, 0.2);
    const double bound = risk_under_shift(risk, {kl, rho});
    if (bound == 1.0) continue;
    // More mass on the first three atoms, less on the others, in proportion.
    std::vector<Exact> tilted;
    for (std::size_t i = 0; i < p.size(); ++i)
      tilted.push_back(Exact(p[i]) / units *
                       (i < 3 ? Exact(bound) / risk : (1 - Exact(bound)) / (1 - Exact(risk))));
    const Exact spent = distances(tilted, p).kl;
    EXPECT_GE(spent, Exact(rho));
    EXPECT_LE(spent, Exact(rho) * (1 + Exact("1e-11")));
  }
}

TEST(Shift, NoDistributionExceedsTheBound) {
  RandomStream random(3, "shift", 0);
  for (int trial = 0; trial < 1000; ++trial) {
    const std::size_t atoms = 2 + random.below(6);
    const std::vector<int> p = random_weights(random, atoms, 1.0);
    const std::vector<int> other = random_weights(random, atoms, trial % 2 == 0 ? 0.2 : 2.0);
    std::vector<Exact> q;
    for (const int weight : other) q.push_back(Exact(weight) / units);
    const Distances far = distances(q, p);
    for (std::size_t events = 1; events < atoms; ++events) {
      int risk = 0;
      Exact failed = 0;
      for (std::size_t i = 0; i < events; ++i) {
        risk += p[i];
        failed += q[i];
      }
      const double r = risk / static_cast<double>(units);
      EXPECT_GE(risk_under_shift(r, {kl, rounded_up(far.kl)}), failed);
      EXPECT_GE(risk_under_shift(r, {total_variation, std::min(1.0, rounded_up(far.total_variation))}),
                failed);
      EXPECT_GE(risk_under_shift(r, {chi_squared, rounded_up(far.chi_squared)}), failed);
      EXPECT_GE(risk_under_shift(r, {density_ratio, rounded_up(far.density_ratio)}), failed);
    }
  }
}

/// The largest Q(A) of all Q on a grid of distributions over three atoms, A the first two.
double slow_search(const std::vector<double>& p, const Shift& shift, int steps) {
  double best = 0;
  for (int i = 0; i <= steps; ++i) {
    for (int j = 0; i + j <= steps; ++j) {
      const std::vector<double> q{i / static_cast<double>(steps), j / static_cast<double>(steps),
                                  (steps - i - j) / static_cast<double>(steps)};
      double distance = 0;
      for (std::size_t a = 0; a < 3; ++a) {
        const double gap = q[a] - p[a];
        if (shift.divergence == kl) distance += q[a] > 0 ? q[a] * std::log(q[a] / p[a]) : 0;
        if (shift.divergence == total_variation) distance += std::abs(gap) / 2;
        if (shift.divergence == chi_squared) distance += gap * gap / p[a];
        if (shift.divergence == density_ratio) distance = std::max(distance, q[a] / p[a]);
      }
      // Sums of three numbers of size 1 are right to 1e-14: what is clearly inside counts.
      if (distance <= shift.radius - 1e-12) best = std::max(best, q[0] + q[1]);
    }
  }
  return best;
}

TEST(Shift, ASlowSearchFindsNothingAboveAndComesNear) {
  const std::vector<double> p{0.05, 0.15, 0.8};
  constexpr int steps = 200;
  for (const Shift& shift : {Shift{kl, 0.02}, Shift{kl, 0.2}, Shift{total_variation, 0.1},
                             Shift{chi_squared, 0.3}, Shift{density_ratio, 1.6}}) {
    const double bound = risk_under_shift(0.2, shift);
    const double found = slow_search(p, shift, steps);
    EXPECT_LE(found, bound + 1e-12) << to_text(shift);  // the grid's own sums
    EXPECT_GE(found, bound - 3.0 / steps) << to_text(shift);
  }
}

TEST(Shift, HasItsLimits) {
  EXPECT_EQ(risk_under_shift(0.0, {kl, 3.0}), 0.0);
  EXPECT_EQ(risk_under_shift(0.25, {kl, 0.0}), 0.25);
  EXPECT_EQ(risk_under_shift(0.25, {kl, std::log(4.0) + 1e-9}), 1.0);
  EXPECT_LT(risk_under_shift(0.25, {kl, std::log(4.0) - 1e-9}), 1.0);
  EXPECT_EQ(risk_under_shift(1.0, {kl, 0.1}), 1.0);
  EXPECT_EQ(risk_under_shift(0.9, {total_variation, 0.2}), 1.0);
  EXPECT_EQ(risk_under_shift(0.25, {chi_squared, 3.1}), 1.0);  // 0.25 > 1/(1 + 3.1)
  EXPECT_NEAR(risk_under_shift(0.25, {chi_squared, 2.9}), 0.25 + std::sqrt(2.9 * 0.25 * 0.75), 1e-15);
  EXPECT_LT(risk_under_shift(0.25, {chi_squared, 2.9}), 1.0);
  EXPECT_NEAR(risk_under_shift(0.01, {density_ratio, 3.0}), 0.03, 1e-16);
  EXPECT_EQ(risk_under_shift(0.5, {density_ratio, 3.0}), 1.0);
  EXPECT_EQ(share_under_shift(1.0, {kl, 0.1}), 1.0);
  EXPECT_EQ(share_under_shift(0.0, {kl, 0.1}), 0.0);
  EXPECT_LE(share_under_shift(0.95, {total_variation, 0.05}), 0.9);
  EXPECT_NEAR(share_under_shift(0.95, {total_variation, 0.05}), 0.9, 1e-15);
}

TEST(Shift, MarginsAreWhatAClaimSurvives) {
  EXPECT_NEAR(shift_margin(0.01, 0.05, kl), 0.0413, 5e-5);
  EXPECT_NEAR(gaussian_mean_shift(shift_margin(0.01, 0.05, kl)), 0.287, 5e-4);
  EXPECT_NEAR(shift_margin(0.01, 0.05, total_variation), 0.04, 1e-15);
  EXPECT_NEAR(shift_margin(0.01, 0.05, chi_squared), 0.0016 / 0.0099, 1e-14);
  EXPECT_NEAR(shift_margin(0.01, 0.05, density_ratio), 5, 1e-14);
  EXPECT_EQ(shift_margin(0.0, 0.05, kl), infinity);
  EXPECT_EQ(shift_margin(0.0, 0.05, density_ratio), infinity);
  EXPECT_EQ(shift_margin(0.05, 0.05, kl), 0.0);
  EXPECT_EQ(shift_margin(0.06, 0.05, density_ratio), 1.0);
  RandomStream random(4, "shift", 0);
  for (int i = 0; i < 2000; ++i) {
    const double risk = std::pow(10.0, random.uniform(-12.0, -0.1));
    const double tolerated = risk + (1 - risk) * random.uniform() * 0.99;
    EXPECT_LE(Exact(shift_margin(risk, tolerated, kl)), exact_binary_kl(tolerated, risk));
    EXPECT_LE(Exact(shift_margin(risk, tolerated, total_variation)), Exact(tolerated) - risk);
    EXPECT_LE(Exact(shift_margin(risk, tolerated, density_ratio)), Exact(tolerated) / risk);
    const Exact gap = Exact(tolerated) - risk;
    EXPECT_LE(Exact(shift_margin(risk, tolerated, chi_squared)),
              gap * gap / (Exact(risk) * (1 - Exact(risk))));
    for (const Divergence divergence : {kl, total_variation, chi_squared, density_ratio}) {
      const double back = risk_under_shift(risk, {divergence, shift_margin(risk, tolerated, divergence)});
      EXPECT_NEAR(back, tolerated, 1e-10) << name(divergence) << " " << risk;
    }
  }
}

TEST(Shift, GrowsWithRiskAndRadius) {
  RandomStream random(5, "shift", 0);
  for (int i = 0; i < 2000; ++i) {
    const double risk = random.uniform();
    for (const Divergence divergence : {kl, total_variation, chi_squared, density_ratio}) {
      const double radius = divergence == density_ratio ? random.uniform(1.0, 4.0) : random.uniform(0.0, 0.9);
      const double bound = risk_under_shift(risk, {divergence, radius});
      EXPECT_LE(bound, risk_under_shift(risk, {divergence, radius * 1.01}));
      // Under chi^2, sqrt(c r (1-r)) alone falls beyond 1/2; with r it grows up to 1.
      EXPECT_LE(bound, risk_under_shift(risk + (1 - risk) * 0.01, {divergence, radius}) + 1e-15);
      EXPECT_GE(bound, risk);
    }
  }
}

TEST(Shift, IsReadAndWritten) {
  EXPECT_EQ(parse_shift("kl:0.02"), (Shift{kl, 0.02}));
  EXPECT_EQ(parse_shift("ratio:2"), (Shift{density_ratio, 2}));
  EXPECT_EQ(to_text(parse_shift("chi2:0.5")), "chi2:0.5");
  EXPECT_EQ(to_text(parse_shift("tv:0.05")), "tv:0.05");
  EXPECT_INPUT_ERROR(parse_shift("kl"), "shift: 'kl' is not a divergence and a radius");
  EXPECT_INPUT_ERROR(parse_shift("kl:-0.1"), "shift: kl -0.1 is not a finite number of at least 0");
  EXPECT_INPUT_ERROR(parse_shift("kl:nan"), "shift: kl nan");
  EXPECT_INPUT_ERROR(parse_shift("kl:inf"), "shift: kl inf");
  EXPECT_INPUT_ERROR(parse_shift("kl:0.1x"), "shift: '0.1x' is not a number");
  EXPECT_INPUT_ERROR(parse_shift("w2:0.1"), "shift: 'w2' is not one of kl, tv, chi2, ratio");
  EXPECT_INPUT_ERROR(parse_shift("tv:1.5"), "a total variation of 1.5 is more than 1");
  EXPECT_INPUT_ERROR(parse_shift("ratio:0.5"), "a density ratio of 0.5 is less than 1");
  EXPECT_INPUT_ERROR(risk_under_shift(1.5, {}), "risk: 1.5 is outside [0, 1]");
  EXPECT_INPUT_ERROR(share_under_shift(-1, {}), "share: -1 is outside [0, 1]");
  EXPECT_INPUT_ERROR(shift_margin(0.1, 1.0, kl), "tolerated: 1 is outside [0, 1)");
  EXPECT_INPUT_ERROR(gaussian_mean_shift(-1), "kl: -1 is not at least 0");
}

}  // namespace
}  // namespace surefoot::bounds
