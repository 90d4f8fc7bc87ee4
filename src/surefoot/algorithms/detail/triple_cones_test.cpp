#include "surefoot/algorithms/detail/triple_cones.hpp"

#include "surefoot/core/random.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>

namespace surefoot::algorithms {
namespace {

double dot(const Triple& a, const Triple& b) {
  return a[0] * b[0] + a[1] * b[1] + a[2] * b[2];
}

bool in_exponential(const Triple& v, double slack) {
  if (v[1] > 1e-12) return v[1] * std::exp(v[0] / v[1]) <= v[2] + slack;
  return v[0] <= slack && v[1] >= -slack && v[2] >= -slack;
}

/// -x exp(y/x - 1) <= z with x < 0, or its closure.
bool in_dual_exponential(const Triple& v, double slack) {
  if (v[0] < -1e-12) return -v[0] * std::exp(v[1] / v[0] - 1) <= v[2] + slack;
  return v[0] <= slack && v[1] >= -slack && v[2] >= -slack;
}

bool in_power(const Triple& v, double a, double slack) {
  return v[0] >= -slack && v[1] >= -slack &&
         std::pow(std::max(v[0], 0.0), a) * std::pow(std::max(v[1], 0.0), 1 - a) >= std::abs(v[2]) - slack;
}

bool in_dual_power(const Triple& v, double a, double slack) {
  return in_power({v[0] / a, v[1] / (1 - a), v[2]}, a, slack);
}

Triple random_triple(RandomStream& stream) {
  const double size = std::pow(10.0, stream.uniform(-2, 2));
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
  for (int i = 0; i < 20000; ++i) {
    const Triple v = random_triple(stream);
    const double scale = size_of(v);
    const Triple e = project_exponential(v);
    EXPECT_TRUE(in_exponential(e, 1e-7 * scale)) << v[0] << " " << v[1] << " " << v[2];
    EXPECT_TRUE(in_dual_exponential(difference(e, v), 1e-7 * scale)) << v[0] << " " << v[1] << " " << v[2];
    EXPECT_NEAR(dot(e, difference(e, v)), 0, 1e-7 * scale * scale);
    const Triple d = project_dual_exponential(v);
    EXPECT_TRUE(in_dual_exponential(d, 1e-7 * scale));
    EXPECT_TRUE(in_exponential(difference(d, v), 1e-7 * scale));
    EXPECT_NEAR(dot(d, difference(d, v)), 0, 1e-7 * scale * scale);
    const double a = stream.uniform(0.1, 0.9);
    const Triple p = project_power(v, a);
    EXPECT_TRUE(in_power(p, a, 1e-6 * scale));
    EXPECT_TRUE(in_dual_power(difference(p, v), a, 1e-6 * scale)) << a;
    EXPECT_NEAR(dot(p, difference(p, v)), 0, 1e-6 * scale * scale);
    const Triple q = project_power(v, -a);
    EXPECT_TRUE(in_dual_power(q, a, 1e-6 * scale));
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
