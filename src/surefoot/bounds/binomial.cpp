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

  static double order_statistic_level(Index rank, Index n, double level, double near) {
    const Real target = static_cast<Real>(level) * (1 + 2 * tail_error(n));
    const auto inverse = [&] {
      return static_cast<Real>(boost::math::ibeta_inv(static_cast<double>(rank),
                                                      static_cast<double>(n - rank + 1), level, Policy()));
    };
    bool guessed = near > 0 && near < 1;
    Real b = guessed ? static_cast<Real>(near) : inverse();
    // log P is concave in b, so that Newton's steps come from the left after the first one.
    for (int round = 0; round < 60; ++round) {
      const Real probability = tail(rank, n, b);
      const Real density = boost::math::ibeta_derivative(static_cast<Real>(rank),
                                                         static_cast<Real>(n - rank + 1), b, Policy());
      const Real step = std::log(target / probability) * probability / density;
      const Real next = b + step;
      const bool inside = probability > 0 && density > 0 && next > 0 && 1 - next > 0;  // false for NaN
      if (!inside && !guessed) break;
      b = inside ? next : inverse();  // where P vanishes, there is no step
      guessed = guessed && inside;
      if (inside && std::abs(step) <= Real(1e-9L) * std::min(b, 1 - b))
        break;  // the next error is its square
    }
    double bound = b > 0 ? rounded_up(b) : 1.0;
    for (double ulps = 1; bound < 1.0 && !(tail(rank, n, bound) >= target); ulps *= 2)
      bound = probability_up(bound * (1 + ulps * std::numeric_limits<double>::epsilon()), 1);
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

template <class Computed>
double checked_order_statistic_level(Index rank, Index n, double level, double near) {
  check_counts("rank", rank, n);
  require(rank >= 1, "rank: {} is below 1", rank);
  require(level > 0.0 && level < 1.0, "level: {} is outside (0, 1)", level);
  return Computed::order_statistic_level(rank, n, level, near);
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

double order_statistic_level(Index rank, Index n, double level, double near) {
  return checked_order_statistic_level<Widest>(rank, n, level, near);
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
double order_statistic_level(Index rank, Index n, double level, double near) {
  return checked_order_statistic_level<Binomial<double>>(rank, n, level, near);
}

}  // namespace narrow

}  // namespace surefoot::bounds
