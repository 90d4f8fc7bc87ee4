#include "surefoot/bounds/binomial.hpp"

#include "surefoot/bounds/rounding.hpp"
#include "surefoot/core/error.hpp"

#include <boost/math/special_functions/beta.hpp>

#include <limits>

namespace surefoot::bounds {

namespace {

using Real = long double;
namespace policies = boost::math::policies;
// No exceptions for underflow or slow convergence: the outward check below decides.
using Policy = policies::policy<policies::underflow_error<policies::ignore_error>,
                                policies::overflow_error<policies::ignore_error>,
                                policies::evaluation_error<policies::ignore_error>>;

// Relative error of Boost's incomplete beta function in 64-bit significands: its power prefix loses about n
// ulps of 1e-19 in the worst case, besides a constant. Measured errors are 100 times smaller
// (binomial_test.cpp).
Real tail_error(Index n) {
  return 1e-15L + 1e-18L * static_cast<Real>(n);
}

// P(Bin(n, p) >= k) = I_p(k, n-k+1) for 1 <= k <= n.
Real tail(Index k, Index n, Real p) {
  if (k <= 0) return 1;
  if (k > n || p <= 0) return 0;
  if (p >= 1) return 1;
  return boost::math::ibeta(static_cast<Real>(k), static_cast<Real>(n - k + 1), p, Policy());
}

// P(Bin(n, p) <= k) = 1 - I_p(k+1, n-k).
Real cdf(Index k, Index n, Real p) {
  if (k >= n) return 1;
  if (k < 0 || p >= 1) return 0;
  if (p <= 0) return 1;
  return boost::math::ibetac(static_cast<Real>(k + 1), static_cast<Real>(n - k), p, Policy());
}

void check_counts(const char* what, Index k, Index n) {
  require(n >= 1 && n <= max_samples, "samples: {} is outside 1 .. {}", n, max_samples);
  require(k >= 0 && k <= n, "{}: {} is outside 0 .. {} (the number of samples)", what, k, n);
}

double rounded_up(Real probability) {
  return probability_up(static_cast<double>(probability), 1);
}

}  // namespace

double binomial_cdf_upper(Index k, Index n, double p) {
  check_counts("count", k, n);
  require(p >= 0.0 && p <= 1.0, "probability: {} is outside [0, 1]", p);
  return rounded_up(cdf(k, n, p) * (1 + tail_error(n)));
}

double binomial_tail_upper(Index k, Index n, double p) {
  check_counts("count", k, n);
  require(p >= 0.0 && p <= 1.0, "probability: {} is outside [0, 1]", p);
  return rounded_up(tail(k, n, p) * (1 + tail_error(n)));
}

double clopper_pearson_upper(Index failures, Index n, double delta) {
  check_counts("failures", failures, n);
  require(delta > 0.0 && delta < 1.0, "delta: {} is outside (0, 1)", delta);
  if (failures == n) return 1.0;
  if (failures == 0) {
    return rounded_up(-std::expm1(std::log(static_cast<Real>(delta)) / static_cast<Real>(n)) * (1 + 1e-17L));
  }
  const Real target = static_cast<Real>(delta) * (1 - tail_error(n));
  Real p = boost::math::ibetac_inv(static_cast<Real>(failures + 1), static_cast<Real>(n - failures), target,
                                   Policy());
  // The inverse may have stopped early: Newton's step on log P, whose derivative is -density/P, settles it.
  for (int round = 0; round < 4; ++round) {
    const Real probability = cdf(failures, n, p);
    const Real density = boost::math::ibeta_derivative(static_cast<Real>(failures + 1),
                                                       static_cast<Real>(n - failures), p, Policy());
    if (!(probability > 0) || !(density > 0)) break;
    const Real step = std::log(probability / target) * probability / density;
    const Real next = p + step;
    if (!(next > 0 && next < 1)) break;
    p = next;
    if (std::abs(step) <= 1e-17L * p) break;
  }
  // Any p with P(Bin(n, p) <= failures) <= delta is a valid bound: move out until the check says so.
  double bound = rounded_up(p);
  for (int ulps = 1; bound < 1.0 && cdf(failures, n, bound) > target; ulps *= 2)
    bound = probability_up(bound, ulps);
  return bound;
}

}  // namespace surefoot::bounds
