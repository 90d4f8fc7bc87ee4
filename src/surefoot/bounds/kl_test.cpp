#include "surefoot/bounds/kl.hpp"

#include "surefoot/core/error.hpp"
#include "surefoot/core/random.hpp"
#include "surefoot/core/types.hpp"

#include "support/golden.hpp"
#include "support/input_error.hpp"

#include <boost/multiprecision/cpp_bin_float.hpp>
#include <gtest/gtest.h>

#include <cmath>
#include <limits>

namespace surefoot::bounds {
namespace {

using Exact = boost::multiprecision::cpp_bin_float_50;

Exact exact_kl(const Exact& q, const Exact& p) {
  const Exact low = q == 0 ? Exact(0) : Exact(q * log(q / p));
  // Beside 1, tiny p and q vanish even in 50 digits: log(1-p) = -p - p^2/2 - ...
  if (p < 1e-30) return low + (1 - q) * ((p - q) + (p * p - q * q) / 2);
  const Exact high = q == 1 ? Exact(0) : Exact((1 - q) * log((1 - q) / (1 - p)));
  return low + high;
}

// The claim "p is at least kl_inv(q, c), and at most 1e-13 relative above" without computing kl_inv.
void expect_tight_outward(double q, double c) {
  const double p = kl_inverse(q, c);
  ASSERT_GE(p, q);
  ASSERT_LE(p, 1.0);
  if (p < 1.0) {
    EXPECT_GE(exact_kl(q, p), Exact(c)) << "below the truth: q=" << q << " c=" << c << " p=" << p;
  }
  const Exact lower = Exact(p) * (1 - Exact("1e-13"));
  if (lower > q) {
    EXPECT_LT(exact_kl(q, lower), Exact(c)) << "loose: q=" << q << " c=" << c << " p=" << p;
  }
}

TEST(KlInverse, MeetsEveryGoldenValueFromAboveWithin1em13) {
  for (const auto& row : surefoot::testing::golden_rows("kl_inverse.csv")) {
    const double q = std::stod(row[0]);
    const double c = std::stod(row[1]);
    const Exact truth(row[2]);
    const Exact p = kl_inverse(q, c);
    EXPECT_GE(p, truth * (1 - Exact("1e-24"))) << row[0] << " " << row[1];
    EXPECT_LE(p, truth * (1 + Exact("1e-13"))) << row[0] << " " << row[1];
  }
}

TEST(KlInverse, RoundsOutwardOverTheWholeRange) {
  RandomStream random(1, "kl inverse", 0);
  for (int i = 0; i < 10000; ++i) {
    const double q_low = std::pow(10.0, random.uniform(-15.0, -0.01));
    const double q = i % 3 == 0 ? 1.0 - q_low : (i % 3 == 1 ? q_low : random.uniform());
    expect_tight_outward(q, std::pow(10.0, random.uniform(-9.0, std::log10(20.0))));
  }
}

TEST(KlInverse, RoundsOutwardAtExtremes) {
  for (const double q : {0.0, 1e-300, 1e-100, 1e-20, 1e-16, 0.5, 1 - 0x1p-53, 1.0}) {
    for (const double c : {1e-18, 1e-12, 1e-9, 1e-3, 1.0, 20.0, 700.0}) expect_tight_outward(q, c);
  }
}

TEST(KlInverse, IsNeverBelowTheTruthForTinyArguments) {
  const auto expect_outward = [](double q, double c) {
    const double p = kl_inverse(q, c);
    EXPECT_GE(exact_kl(q, p), Exact(c)) << "q=" << q << " c=" << c << " p=" << p;
  };
  expect_outward(6.988074584572446e-176, 3.709050478947192e-173);
  expect_outward(7.607880939073406e-253, 9.487331281430475e-259);
  RandomStream random(5, "kl inverse", 0);
  for (int i = 0; i < 3000; ++i) {
    expect_outward(std::pow(10.0, random.uniform(-305, -1)), std::pow(10.0, random.uniform(-305, 1)));
  }
}

TEST(KlInverse, HasItsLimits) {
  EXPECT_EQ(kl_inverse(1.0, 0.3), 1.0);
  EXPECT_EQ(kl_inverse(0.25, 0.0), 0.25);
  EXPECT_EQ(kl_inverse(0.0, 0.0), 0.0);
  EXPECT_EQ(kl_inverse(0.25, infinity), 1.0);
  EXPECT_NEAR(kl_inverse(0.0, 0.5), 1.0 - std::exp(-0.5), 1e-15);
  EXPECT_LE(kl_inverse(std::numeric_limits<double>::denorm_min(), 1e-300), 1e-200);
}

TEST(KlInverse, IncreasesWithBothArguments) {
  RandomStream random(2, "kl inverse", 0);
  for (int i = 0; i < 20000; ++i) {
    const double q = random.uniform();
    const double c = std::pow(10.0, random.uniform(-9.0, 1.3));
    const double p = kl_inverse(q, c);
    EXPECT_LE(p, kl_inverse(q, c * 1.001));
    EXPECT_LE(p, kl_inverse(q + (1 - q) * 1e-3, c));
  }
}

TEST(KlInverse, DerivativesAgreeWithFiniteDifferences) {
  RandomStream random(3, "kl inverse", 0);
  for (int i = 0; i < 2000; ++i) {
    const double q = random.uniform(0.001, 0.98);
    const double c = std::pow(10.0, random.uniform(-4.0, 0.3));
    const KlInverse at = kl_inverse_with_derivatives(q, c);
    EXPECT_EQ(at.p, kl_inverse(q, c));
    if (at.p > 0.999) continue;
    const double dq = 1e-5 * q * (1 - q);
    const double dc = 1e-5 * c;
    const double by_q = (kl_inverse(q + dq, c) - kl_inverse(q - dq, c)) / (2 * dq);
    const double by_c = (kl_inverse(q, c + dc) - kl_inverse(q, c - dc)) / (2 * dc);
    EXPECT_GT(at.dp_dq, 0);
    EXPECT_GT(at.dp_dc, 0);
    EXPECT_NEAR(at.dp_dq, by_q, 1e-6 * at.dp_dq + 1e-7) << q << " " << c;
    EXPECT_NEAR(at.dp_dc, by_c, 1e-6 * at.dp_dc + 1e-7) << q << " " << c;
  }
}

TEST(KlInverse, DerivativesHaveTheirLimits) {
  EXPECT_EQ(kl_inverse_with_derivatives(0.3, 0.0).dp_dc, infinity);
  EXPECT_EQ(kl_inverse_with_derivatives(0.3, 0.0).dp_dq, 1.0);
  EXPECT_NEAR(kl_inverse_with_derivatives(0.0, 0.4).dp_dc, std::exp(-0.4), 1e-15);
  EXPECT_EQ(kl_inverse_with_derivatives(0.0, 0.4).dp_dq, infinity);
  EXPECT_EQ(kl_inverse_with_derivatives(1.0, 0.4).p, 1.0);
}

TEST(KlInverse, NamesTheBadValue) {
  for (const double q : {-0.1, 1.5, std::nan("")}) {
    EXPECT_INPUT_ERROR(kl_inverse(q, 0.1), fmt::format("kl_inverse: q = {} is outside [0, 1]", q));
    EXPECT_INPUT_ERROR(kl_inverse_with_derivatives(q, 0.1),
                       fmt::format("kl_inverse: q = {} is outside [0, 1]", q));
  }
  EXPECT_INPUT_ERROR(kl_inverse(0.1, -1e-9), "kl_inverse: c = -1e-09 is not at least 0");
  EXPECT_INPUT_ERROR(kl_inverse(0.1, std::nan("")), "kl_inverse: c = nan is not at least 0");
  try {
    kl_inverse(1.5, 0.1);
  } catch (const InputError& error) {
    EXPECT_NE(std::string(error.what()).find("1.5"), std::string::npos);
  }
}

TEST(Kl, AgreesWithFiftyDigits) {
  RandomStream random(4, "kl", 0);
  for (int i = 0; i < 2000; ++i) {
    const double q = random.uniform();
    const double p = i % 2 == 0 ? random.uniform() : q * (1 + 1e-7 * random.uniform(-1, 1));
    const auto truth = static_cast<double>(exact_kl(q, p));
    EXPECT_NEAR(kl(q, p), truth, 1e-13 * truth) << q << " " << p;
  }
  for (int i = 0; i < 2000; ++i) {
    const double rare = std::pow(10.0, random.uniform(-25.0, -1.0));
    const double q = random.uniform();
    const auto truth = static_cast<double>(exact_kl(q, rare));
    EXPECT_NEAR(kl(q, rare), truth, 1e-13 * truth) << q << " " << rare;
    const double near_one = 1.0 - std::pow(10.0, random.uniform(-15.0, -1.0));
    const auto other = static_cast<double>(exact_kl(q, near_one));
    EXPECT_NEAR(kl(q, near_one), other, 1e-13 * other) << q << " " << near_one;
  }
  EXPECT_EQ(kl(0.3, 0.3), 0.0);
  EXPECT_EQ(kl(0.3, 0.0), infinity);
  EXPECT_EQ(kl(0.3, 1.0), infinity);
  EXPECT_EQ(kl(0.0, 0.0), 0.0);
  EXPECT_NEAR(kl(1.0, 0.25), std::log(4.0), 1e-15);
  EXPECT_INPUT_ERROR(kl(-1, 0.5), "kl: q = -1 is outside [0, 1]");
  EXPECT_INPUT_ERROR(kl(0.5, 2), "kl: p = 2 is outside [0, 1]");
}

}  // namespace
}  // namespace surefoot::bounds
