#include "surefoot/bounds/kl.hpp"

#include "surefoot/bounds/rounding.hpp"
#include "surefoot/core/error.hpp"

#include <array>
#include <limits>

namespace surefoot::bounds {

namespace {

// x - log(1+x) >= 0 for x > -1. Near 0 by log(1+x) = 2 artanh(t), t = x/(2+x), and x - 2t = x t, which leaves
// no cancellation; elsewhere the subtraction loses at most a factor 20.
double x_minus_log1p(double x) {
  if (std::abs(x) > 0.1) return x - std::log1p(x);
  const double t = x / (2.0 + x);
  const double s = t * t;
  const double series =
      1.0 / 3 + s * (1.0 / 5 + s * (1.0 / 7 + s * (1.0 / 9 + s * (1.0 / 11 + s * (1.0 / 13 + s / 15)))));
  return t * (x - 2.0 * s * series);
}

// exp(-y) - 1 + y >= 0 for y >= 0, given e = 1 - exp(-y); by its series to y^13 near 0.
double y_minus_one_minus_exp(double y, double e) {
  if (y > 0.2) return y - e;
  constexpr std::array<double, 12> coefficients{
      1.0 / 2,     1.0 / 6,      1.0 / 24,      1.0 / 120,      1.0 / 720,       1.0 / 5040,
      1.0 / 40320, 1.0 / 362880, 1.0 / 3628800, 1.0 / 39916800, 1.0 / 479001600, 1.0 / 6227020800};
  double sum = coefficients.back();
  for (std::size_t i = coefficients.size() - 1; i-- > 0;) sum = coefficients[i] - y * sum;
  return y * y * sum;
}

// a log(a/b) + gap >= 0 with gap = b - a, for a, b > 0. Where b is far below a, gap/a is so near to -1 that
// its logarithm would lose the digits of b.
double entropy_part(double a, double b, double gap) {
  const double x = gap / a;
  if (x > -0.5 && x < 1e290) return a * x_minus_log1p(x);
  const double ratio = a / b;
  return gap + a * (ratio > 1e-290 && ratio < 1e290 ? std::log(ratio) : std::log(a) - std::log(b));
}

struct Root {
  double gap;      // p - q
  double log_gap;  // y = log((1-q)/(1-p))
};

// With 1-p = (1-q) exp(-y) and d = p-q = (1-q)(1-exp(-y)),
//   kl = q (x - log(1+x)) + (1-q)(exp(-y) - 1 + y),  x = d/q:
// both terms are nonnegative, so kl has a small relative error however close p is to q. As a function of y it
// is convex and increasing with slope (p-q)/p and curvature q(1-p)/p^2: Halley's step converges in two or
// three rounds from the start below, which is exact for q = 0 and to second order for small c.
Root solve(double q, double c) {
  const double one_minus_q = 1.0 - q;
  double y = (c * (1.0 - (1.0 + q) * q / (3.0 * (q + c))) + std::sqrt(2.0 * q * one_minus_q) * std::sqrt(c)) /
             one_minus_q;
  for (int round = 0; round < 60; ++round) {
    const double e = -std::expm1(-y);
    const double gap = one_minus_q * e;
    const double p = q + gap;
    const double value = q * x_minus_log1p(gap / q) + one_minus_q * y_minus_one_minus_exp(y, e);
    const double slope = gap / p;
    const double curvature = (q / p) * ((one_minus_q - gap) / p);
    const double newton = (value - c) / slope;
    const double halley = newton / (1.0 - std::clamp(0.5 * newton * curvature / slope, -1.0, 0.5));
    const double next = y - halley;
    if (!(next > 0)) {
      y *= 0.5;
      continue;
    }
    if (std::abs(halley) <= 1e-6 * std::min(1.0, y)) {
      // The cubic error of this step is below 1e-17; 1 - p grows by the factor exp(halley).
      return {gap - (one_minus_q - gap) * halley * (1.0 + 0.5 * halley), next};
    }
    y = next;
  }
  return {-one_minus_q * std::expm1(-y), y};
}

void check_arguments(double q, double c) {
  require(q >= 0.0 && q <= 1.0, "kl_inverse: q = {} is outside [0, 1]", q);
  require(c >= 0.0, "kl_inverse: c = {} is not at least 0", c);
}

// Below these, ratios may overflow and squares underflow. kl_inv increases with q and c: raising them is
// outward.
constexpr double smallest_q = 1e-250;
constexpr double smallest_c = 1e-250;

// 16 ulps of the gap cover the rounding of kl's two terms and of the last step; see the test against 50
// digits.
double rounded_outward(double q, const Root& root) {
  return probability_up(q + root.gap * (1.0 + 16 * std::numeric_limits<double>::epsilon()), 1);
}

}  // namespace

double kl(double q, double p) {
  require(q >= 0.0 && q <= 1.0, "kl: q = {} is outside [0, 1]", q);
  require(p >= 0.0 && p <= 1.0, "kl: p = {} is outside [0, 1]", p);
  if (q == p) return 0.0;
  if (q == 0.0) return -std::log1p(-p);
  if (q == 1.0) return -std::log(p);
  if (p == 0.0 || p == 1.0) return infinity;
  return entropy_part(q, p, p - q) + entropy_part(1.0 - q, 1.0 - p, q - p);
}

double kl_inverse(double q, double c) {
  check_arguments(q, c);
  if (q == 1.0 || c == infinity) return 1.0;
  if (c == 0.0) return q;
  if (q == 0.0) return probability_up(-std::expm1(-c), 2);
  q = std::max(q, smallest_q);
  return rounded_outward(q, solve(q, std::max(c, smallest_c)));
}

KlInverse kl_inverse_with_derivatives(double q, double c) {
  check_arguments(q, c);
  if (q == 1.0 || c == infinity) return {1.0, q == 1.0 ? 1.0 : 0.0, 0.0};
  if (c == 0.0) return {q, 1.0, q == 0.0 ? 1.0 : infinity};
  if (q == 0.0) return {kl_inverse(q, c), infinity, std::exp(-c)};
  q = std::max(q, smallest_q);
  const Root root = solve(q, std::max(c, smallest_c));
  const double p = q + root.gap;
  const double one_minus_p = (1.0 - q) * std::exp(-root.log_gap);
  const double dp_dc = p * one_minus_p / root.gap;
  return {rounded_outward(q, root), dp_dc * (std::log1p(root.gap / q) + root.log_gap), dp_dc};
}

}  // namespace surefoot::bounds
