#include "surefoot/bounds/anytime.hpp"

#include "surefoot/bounds/binomial.hpp"
#include "surefoot/bounds/root.hpp"
#include "surefoot/bounds/rounding.hpp"
#include "surefoot/core/error.hpp"

#include <boost/math/special_functions/beta.hpp>

#include <limits>

namespace surefoot::bounds {

namespace {

using Wide = long double;
using BetaPolicy = boost::math::policies::policy<
    boost::math::policies::underflow_error<boost::math::policies::ignore_error>,
    boost::math::policies::overflow_error<boost::math::policies::ignore_error>,
    boost::math::policies::evaluation_error<boost::math::policies::ignore_error>>;

void check_sequence(Index failures, Index n, double delta) {
  require(n >= 0 && n <= max_samples, "samples: {} is outside 0 .. {}", n, max_samples);
  require(failures >= 0 && failures <= n, "failures: {} is outside 0 .. {} (the number of samples)", failures,
          n);
  require(delta > 0.0 && delta < 1.0, "delta: {} is outside (0, 1)", delta);
}

/// A sum that knows how large its terms were, and so how wrong it may be.
class LogSum {
 public:
  void add(Wide term) {
    sum_ += term;
    size_ += std::abs(term);
  }
  /// Not above the exact sum.
  [[nodiscard]] Wide lower() const { return sum_ - error(); }

 private:
  // A logarithm or a log gamma is within 4 ulps, the incomplete beta function within what binomial.cpp
  // allows.
  [[nodiscard]] Wide error() const { return Wide(2e-15) + 8 * std::numeric_limits<Wide>::epsilon() * size_; }
  Wide sum_ = 0;
  Wide size_ = 0;
};

// log( B_p(a, b) ) as terms: log B(a, b) + log I_p(a, b).
void add_log_incomplete_beta(LogSum& sum, Wide a, Wide b, Wide p) {
  sum.add(std::lgamma(a));
  sum.add(std::lgamma(b));
  sum.add(-std::lgamma(a + b));
  sum.add(std::log(boost::math::ibeta(a, b, p, BetaPolicy())));
}

// Whether M_n(p) >= 1/delta for sure, of a sequence with a success.
bool is_ruled_out(Index failures, Index n, double delta, double p) {
  const Wide target = -std::log(static_cast<Wide>(delta)) * (1 + 4 * std::numeric_limits<Wide>::epsilon());
  const auto f = static_cast<Wide>(failures);
  const auto s = static_cast<Wide>(n - failures);
  const auto at = static_cast<Wide>(p);
  LogSum log_m;
  add_log_incomplete_beta(log_m, f + Wide(0.5), s + Wide(0.5), at);
  log_m.add(-std::log(2 * std::asin(std::sqrt(at))));
  if (failures > 0) log_m.add(-f * std::log(at));
  log_m.add(-s * std::log1p(-at));
  return log_m.lower() >= target;
}

}  // namespace

double anytime_upper(Index failures, Index n, double delta) {
  check_sequence(failures, n, delta);
  if (failures == n) return 1.0;
  return smallest_that([&](double p) { return is_ruled_out(failures, n, delta, p); });
}

bool anytime_covers(Index failures, Index n, double delta, double share) {
  check_sequence(failures, n, delta);
  require(share > 0.0 && share < 1.0, "share: {} is outside (0, 1)", share);
  // 1 - share is exact from 1/2 on and otherwise off by at most half an ulp.
  const double p = share < 0.5 ? down(1.0 - share) : 1.0 - share;
  return failures < n && is_ruled_out(failures, n, delta, p);
}

double sequence_upper(Index failures, Index n, double delta) {
  check_sequence(failures, n, delta);
  if (failures == n) return 1.0;
  const Wide a = static_cast<Wide>(failures) + Wide(0.5);
  const Wide b = static_cast<Wide>(n - failures) - Wide(0.5);
  const Wide target = -std::log(static_cast<Wide>(delta)) * (1 + 4 * std::numeric_limits<Wide>::epsilon());
  return smallest_that([&](double m) {
    const auto at = static_cast<Wide>(m);
    // 2F1(a + b, 1; a + 1; m) = a B_m(a, b) / (m^a (1-m)^b), and 2F + 1 = 2a.
    LogSum log_mixed;
    log_mixed.add(std::log(Wide(3) / 8));
    add_log_incomplete_beta(log_mixed, a, b, at);
    log_mixed.add(-a * std::log(at));
    log_mixed.add(-b * std::log1p(-at));
    const Wide mixed = log_mixed.lower();
    if (failures > 0) return mixed >= target;
    LogSum log_clean;
    log_clean.add(std::log(Wide(1) / 4));
    log_clean.add(-static_cast<Wide>(n) * std::log1p(-at));
    const Wide clean = log_clean.lower();
    const Wide larger = std::max(mixed, clean);
    return larger + std::log1p(std::exp(std::min(mixed, clean) - larger)) >= target;
  });
}

}  // namespace surefoot::bounds
