#include "surefoot/experiments/named_bounds.hpp"

#include "surefoot/bounds/anytime.hpp"
#include "surefoot/bounds/band.hpp"
#include "surefoot/bounds/kl.hpp"
#include "surefoot/bounds/quantile.hpp"
#include "surefoot/bounds/risk.hpp"
#include "surefoot/bounds/shift.hpp"
#include "surefoot/core/error.hpp"

namespace surefoot::experiments {

namespace {

using BoundNumber = std::variant<double, Index>;

BoundNumber kl_inverse_of(const BoundArguments& given) {
  return bounds::kl_inverse(given.q, given.c);
}
BoundNumber risk_of(const BoundArguments& given) {
  return bounds::risk_upper_bound(given.failures, given.samples, given.delta,
                                  bounds::parse_risk_method(given.method));
}
BoundNumber rank_of(const BoundArguments& given) {
  return bounds::order_statistic_rank(given.samples, given.quantile, given.delta);
}
BoundNumber level_of(const BoundArguments& given) {
  return bounds::band_level(given.samples, given.delta);
}
BoundNumber anytime_of(const BoundArguments& given) {
  return bounds::anytime_upper(given.failures, given.samples, given.delta);
}

BoundNumber shifted_risk_of(const BoundArguments& given) {
  require(given.shifts.size() == 1, "shift: give one of --kl, --tv, --chi2 and --ratio, not {}",
          given.shifts.size());
  return bounds::risk_under_shift(given.risk, given.shifts.front());
}

}  // namespace

const std::vector<NamedBound>& named_bounds() {
  static const std::vector<NamedBound> all{
      {"kl-inverse",
       "sup{ p : kl(q||p) <= c }, rounded up",
       {"q", "c"},
       "kl_inverse",
       kl_inverse_of,
       "--q 0.1 --c 0.01"},
      {"risk",
       "upper bound on the failure probability from failures in samples",
       {"failures", "samples", "delta", "method"},
       "risk",
       risk_of,
       "--failures 3 --samples 1000 --delta 1e-4 --method exact"},
      {"rank",
       "the smallest rank r such that the r-th smallest of the samples bounds the quantile; 0: none exists",
       {"samples", "quantile", "delta"},
       "rank",
       rank_of,
       "--samples 1000 --quantile 0.9 --delta 0.0081"},
      {"level",
       "the level at which exact bounds hold for all tolerances and quantiles at once, so that they may be chosen "
       "after looking; rounded down",
       {"samples", "delta"},
       "level",
       level_of,
       "--samples 1000 --delta 0.01"},
      {"anytime",
       "upper bound on the failure probability that stays valid if runs are added and it is looked at again; rounded "
       "up",
       {"failures", "samples", "delta"},
       "risk",
       anytime_of,
       "--failures 0 --samples 556 --delta 0.01"},
      {"shift",
       "the largest failure probability under any distribution that is not further than this from the one "
       "where it is at most a risk; rounded up",
       {"risk", "shift"},
       "risk_under_shift",
       shifted_risk_of,
       "--risk 0.01 --kl 0.02"},
  };
  return all;
}

}  // namespace surefoot::experiments
