#include "surefoot/bounds/binomial.hpp"

#include "surefoot/bounds/rounding.hpp"
#include "surefoot/core/error.hpp"

#include <boost/math/special_functions/beta.hpp>

#include <algorithm>
#include <cmath>
#include <limits>
#include <type_traits>

namespace surefoot::bounds {

namespace {

namespace policies = boost::math::policies;
// No exceptions for underflow or slow convergence: the outward check below decides.
using Policy = policies::policy<policies::underflow_error<policies::ignore_error>,
                                policies::overflow_error<policies::ignore_error>,
                                policies::evaluation_error<policies::ignore_error>>;

void check_counts(const char* what, Index k, Index n) {
  require(n >= 1 && n <= max_samples, "samples: {} is outside 1 .. {}", n, max_samples);
  require(k >= 0 && k <= n, "{}: {} is outside 0 .. {} (the number of samples)", what, k, n);
}

void check_probability(double p) {
  require(p >= 0.0 && p <= 1.0, "probability: {} is outside [0, 1]", p);
}

/// Binomial bounds computed in Real and rounded outward by its errors: margins are in units of 64-bit
/// significands, and as much larger as those of Real are shorter.
template <class Real>
class Binomial {
  static_assert(std::numeric_limits<Real>::is_iec559 && std::numeric_limits<Real>::radix == 2 &&
                    std::numeric_limits<Real>::digits >= std::numeric_limits<double>::digits,
                "the error margins are of binary floating point with 53 bits or more");
  static constexpr Real unit = std::max(Real(1), std::numeric_limits<Real>::epsilon() * Real(0x1p63));

 public:
  static double cdf_upper(Index k, Index n, double p) {
    return rounded_up(cdf(k, n, p) * (1 + tail_error(n)));
  }

  static double tail_upper(Index k, Index n, double p) {
    return rounded_up(tail(k, n, p) * (1 + tail_error(n)));
  }

  static double clopper_pearson_upper(Index failures, Index n, double delta) {
    if (failures == n) return 1.0;
    if (failures == 0) {
      return rounded_up(-std::expm1(std::log(static_cast<Real>(delta)) / static_cast<Real>(n)) *
                        (1 + unit * Real(1e-17L)));
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
      const bool inside = next > 0 && 1 - next > 0;  // false for NaN
      if (!inside) break;
      p = next;
      if (std::abs(step) <= unit * Real(1e-17L) * p) break;
    }
    // Any p with P(Bin(n, p) <= failures) <= delta is a valid bound: move out until the check says so. A NaN
    // is no bound.
    double bound = p >= 0 ? rounded_up(p) : 1.0;
    for (int ulps = 1; bound < 1.0 && !(cdf(failures, n, bound) <= target); ulps *= 2)
      bound = probability_up(bound, ulps);
    return bound;
  }

 private:
  // Relative error of Boost's incomplete beta function in 64-bit significands: its power prefix loses about n
  // ulps of 1e-19 in the worst case, besides a constant. Measured errors are 100 times smaller
  // (binomial_test.cpp).
  static Real tail_error(Index n) { return unit * (Real(1e-15L) + Real(1e-18L) * static_cast<Real>(n)); }

  // P(Bin(n, p) >= k) = I_p(k, n-k+1) for 1 <= k <= n.
  static Real tail(Index k, Index n, Real p) {
    if (k <= 0) return 1;
    if (k > n || p <= 0) return 0;
    if (p >= 1) return 1;
    return boost::math::ibeta(static_cast<Real>(k), static_cast<Real>(n - k + 1), p, Policy());
  }

  // P(Bin(n, p) <= k) = 1 - I_p(k+1, n-k).
  static Real cdf(Index k, Index n, Real p) {
    if (k >= n) return 1;
    if (k < 0 || p >= 1) return 0;
    if (p <= 0) return 1;
    return boost::math::ibetac(static_cast<Real>(k + 1), static_cast<Real>(n - k), p, Policy());
  }

  static double rounded_up(Real probability) { return probability_up(static_cast<double>(probability), 1); }
};

// Where long double is no wider than double (some compilers and processors), bounds are a little looser.
constexpr bool has_wide = std::numeric_limits<long double>::digits >= 64;
using Widest = Binomial<std::conditional_t<has_wide, long double, double>>;

template <class Computed>
double checked_cdf(Index k, Index n, double p) {
  check_counts("count", k, n);
  check_probability(p);
  return Computed::cdf_upper(k, n, p);
}

template <class Computed>
double checked_tail(Index k, Index n, double p) {
  check_counts("count", k, n);
  check_probability(p);
  return Computed::tail_upper(k, n, p);
}

template <class Computed>
double checked_clopper_pearson(Index failures, Index n, double delta) {
  check_counts("failures", failures, n);
  require(delta > 0.0 && delta < 1.0, "delta: {} is outside (0, 1)", delta);
  return Computed::clopper_pearson_upper(failures, n, delta);
}

}  // namespace

double binomial_cdf_upper(Index k, Index n, double p) {
  return checked_cdf<Widest>(k, n, p);
}
double binomial_tail_upper(Index k, Index n, double p) {
  return checked_tail<Widest>(k, n, p);
}
double clopper_pearson_upper(Index failures, Index n, double delta) {
  return checked_clopper_pearson<Widest>(failures, n, delta);
}

namespace narrow {

double binomial_cdf_upper(Index k, Index n, double p) {
  return checked_cdf<Binomial<double>>(k, n, p);
}
double binomial_tail_upper(Index k, Index n, double p) {
  return checked_tail<Binomial<double>>(k, n, p);
}
double clopper_pearson_upper(Index failures, Index n, double delta) {
  return checked_clopper_pearson<Binomial<double>>(failures, n, delta);
}

}  // namespace narrow

}  // namespace surefoot::bounds
