#include "surefoot/bounds/risk.hpp"

#include "surefoot/bounds/anytime.hpp"
#include "surefoot/bounds/binomial.hpp"
#include "surefoot/bounds/kl.hpp"
#include "surefoot/bounds/rounding.hpp"
#include "surefoot/core/error.hpp"

namespace surefoot::bounds {

namespace {

// log(2/delta)/n, rounded up; the logarithms are taken apart so that a tiny delta does not overflow.
double log_term(Index n, double delta) {
  return up((std::log(2.0) - std::log(delta)) / static_cast<double>(n), 4);
}

double rate_up(Index failures, Index n) {
  if (failures == 0) return 0.0;
  return failures == n ? 1.0 : up(static_cast<double>(failures) / static_cast<double>(n));
}

}  // namespace

double risk_upper_bound(Index failures, Index n, double delta, RiskMethod method) {
  if (method == RiskMethod::exact) return clopper_pearson_upper(failures, n, delta);
  require(method != RiskMethod::pac_bayes, "risk method: pac-bayes bounds do not follow from counts alone");
  require(n >= 1 && n <= max_samples, "samples: {} is outside 1 .. {}", n, max_samples);
  require(failures >= 0 && failures <= n, "failures: {} is outside 0 .. {} (the number of samples)", failures,
          n);
  require(delta > 0.0 && delta < 1.0, "delta: {} is outside (0, 1)", delta);
  if (method == RiskMethod::anytime) return anytime_upper(failures, n, delta);
  const double rate = rate_up(failures, n);
  const double c = log_term(n, delta);
  if (method == RiskMethod::kl) return kl_inverse(rate, c);
  return probability_up(rate + up(std::sqrt(0.5 * c)), 1);
}

double success_lower_bound(Index failures, Index n, double delta, RiskMethod method) {
  const double risk = risk_upper_bound(failures, n, delta, method);
  return risk >= 1.0 ? 0.0 : std::max(0.0, down(1.0 - risk));
}

}  // namespace surefoot::bounds
