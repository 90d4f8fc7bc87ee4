#include "surefoot/algorithms/detail/triple_cones.hpp"

#include "surefoot/core/random.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <string>
#include <vector>

namespace surefoot::algorithms {
namespace {

double dot(const Triple& a, const Triple& b) {
  return a[0] * b[0] + a[1] * b[1] + a[2] * b[2];
}

using Rays = std::vector<Triple>;

/// The smallest product with a ray of a cone, of length one: v is in the dual of the cone if it is not
/// negative.
double least_product(const Triple& v, const Rays& rays) {
  double least = infinity;
  for (const Triple& ray : rays) least = std::min(least, dot(v, ray) / std::sqrt(dot(ray, ray)));
  return least;
}

/// Rays on the boundaries of the exponential cone and of its dual.
Rays exponential_rays(bool dual) {
  Rays rays{{0, 0, 1}, {0, 1, 1}};
  rays[1] = dual ? Triple{0, 1, 0} : Triple{-1, 0, 0};
  for (double rho = -30; rho <= 30; rho += 0.01) {
    rays.push_back(dual ? Triple{-1, rho - 1, std::exp(-rho)} : Triple{rho, 1, std::exp(rho)});
  }
  return rays;
}

/// Of {x^a y^(1-a) >= |z|} and of its dual {(x/a)^a (y/(1-a))^(1-a) >= |z|}.
Rays power_rays(double a, bool dual) {
  Rays rays{{1, 0, 0}, {0, 1, 0}};
  for (double t = -20; t <= 20; t += 0.02) {
    const double x = std::exp(t);
    for (const double sign : {-1.0, 1.0})
      rays.push_back({dual ? a * x : x, dual ? (1 - a) / x : 1 / x, sign * std::pow(x, 2 * a - 1)});
  }
  return rays;
}

Triple random_triple(RandomStream& stream) {
  const double size = std::pow(10.0, stream.uniform(-1, 1));
  return {size * stream.normal(), size * stream.normal(), size * stream.normal()};
}

double size_of(const Triple& v) {
  return 1 + std::sqrt(dot(v, v));
}

// u = Pi_K(v) if and only if u is in K, u - v in its dual, and they are orthogonal.
TEST(TripleCones, ProjectionsFulfilTheConditionsOfOne) {
  RandomStream stream(1, "triple cones test", 0);
  const auto difference = [](const Triple& a, const Triple& b) {
    return Triple{a[0] - b[0], a[1] - b[1], a[2] - b[2]};
  };
  const Rays exponential = exponential_rays(false);
  const Rays dual_exponential = exponential_rays(true);
  constexpr double a = 0.3;
  const Rays power = power_rays(a, false);
  const Rays dual_power = power_rays(a, true);
  for (int i = 0; i < 2000; ++i) {
    const Triple v = random_triple(stream);
    SCOPED_TRACE(std::to_string(v[0]) + " " + std::to_string(v[1]) + " " + std::to_string(v[2]));
    const double slack = 1e-6 * size_of(v);
    const auto expect_projection = [&](const Triple& u, const Rays& cone, const Rays& dual) {
      EXPECT_GE(least_product(u, dual), -slack);
      EXPECT_GE(least_product(difference(u, v), cone), -slack);
      EXPECT_NEAR(dot(u, difference(u, v)), 0, slack * size_of(v));
    };
    expect_projection(project_exponential(v), exponential, dual_exponential);
    expect_projection(project_dual_exponential(v), dual_exponential, exponential);
    expect_projection(project_power(v, a), power, dual_power);
    expect_projection(project_power(v, -a), dual_power, power);
  }
}

TEST(TripleCones, PointsInsideStayAndPolarOnesVanish) {
  const Triple inside{1, 1, 3};
  EXPECT_EQ(project_exponential(inside), inside);
  EXPECT_EQ(project_exponential({0, -1, -1})[1], 0);
  const Triple of_power{2, 3, 1};
  EXPECT_EQ(project_power(of_power, 0.4), of_power);
  EXPECT_EQ(project_power({-1, -1, 0.1}, 0.5), (Triple{0, 0, 0}));
  // The boundary case y = 0 of the exponential cone.
  EXPECT_EQ(project_exponential({-1, 0, 2}), (Triple{-1, 0, 2}));
}

TEST(TripleCones, NaNGivesNaN) {
  const double nan = std::numeric_limits<double>::quiet_NaN();
  for (int i = 0; i < 3; ++i) {
    Triple v{0.1, 0.2, 0.3};
    v[i] = nan;
    EXPECT_TRUE(std::isnan(project_exponential(v)[0]));
    EXPECT_TRUE(std::isnan(project_dual_exponential(v)[1]));
    EXPECT_TRUE(std::isnan(project_power(v, 0.3)[2]));
    EXPECT_TRUE(std::isnan(project_power(v, -0.3)[0]));
  }
}

TEST(TripleCones, AreTakenInTheirOrder) {
  problems::Cones cones;
  cones.exponential = 1;
  cones.dual_exponential = 1;
  cones.power = {0.3, -0.6};
  const Triple v{0.5, -0.2, 0.7};
  EXPECT_EQ(project_triple(cones, 0, v), project_exponential(v));
  EXPECT_EQ(project_triple(cones, 1, v), project_dual_exponential(v));
  EXPECT_EQ(project_triple(cones, 2, v), project_power(v, 0.3));
  EXPECT_EQ(project_triple(cones, 3, v), project_power(v, -0.6));
  for (Index i = 0; i < 4; ++i) {
    const Triple dual = project_dual_triple(cones, i, v);
    const Triple primal = project_triple(cones, i, {-v[0], -v[1], -v[2]});
    EXPECT_NEAR(dot(dual, primal), 0, 1e-8);
  }
}

}  // namespace
}  // namespace surefoot::algorithms
