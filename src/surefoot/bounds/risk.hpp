#pragma once

#include "surefoot/bounds/methods.hpp"
#include "surefoot/core/types.hpp"

namespace surefoot::bounds {

/// An upper bound r on the failure probability from `failures` among n independent runs, that holds with
/// probability at least 1 - delta over their draw. With r_hat = failures/n,
///   exact    P(Bin(n, r) <= failures) = delta (Clopper-Pearson, one-sided)
///   kl       kl_inv(r_hat, log(2/delta)/n)
///   pinsker  r_hat + sqrt(log(2/delta)/(2n)), clipped to 1
///   anytime  anytime_upper(): at all n at once
/// all rounded outward; exact <= kl <= pinsker, exact <= anytime.
double risk_upper_bound(Index failures, Index n, double delta, RiskMethod method);

/// The certified success rate 1 - r, rounded down.
double success_lower_bound(Index failures, Index n, double delta, RiskMethod method);

}  // namespace surefoot::bounds
