#pragma once

#include "surefoot/core/types.hpp"

namespace surefoot::bounds {

/// Largest number of samples that the binomial bounds take; their rounding is proved and tested up to here.
inline constexpr Index max_samples = 10'000'000'000;

/// P(Bin(n, p) <= k), 0 <= k <= n, p in [0, 1], as an upper bound that is tight to about 1e-12 relative.
double binomial_cdf_upper(Index k, Index n, double p);

/// P(Bin(n, p) >= k), rounded up in the same way.
double binomial_tail_upper(Index k, Index n, double p);

/// Clopper-Pearson: the p with P(Bin(n, p) <= failures) = delta, rounded outward: never below it, above
/// it by at most 1e-13 relative up to 100,000 samples and 2e-9 at max_samples; 1 if failures = n.
/// C. Clopper, E. Pearson, "The use of confidence or fiducial
/// limits", Biometrika 26, 1934.
double clopper_pearson_upper(Index failures, Index n, double delta);

/// The quantile of level `level` of the rank-th smallest of n uniform numbers, which is Beta(rank, n - rank +
/// 1): the b with P(Bin(n, b) >= rank) = level, rounded up by a few ulps. 1 <= rank <= n, 0 < level < 1.
/// `near`, if positive, is where to look first.
double order_statistic_level(Index rank, Index n, double level, double near = 0);

/// The same in doubles alone, with margins for their rounding: what the functions above are where long double
/// has no 64 bits. Never below the truth, above it by at most 1e-10 relative up to 10,000 samples.
namespace narrow {
double binomial_cdf_upper(Index k, Index n, double p);
double binomial_tail_upper(Index k, Index n, double p);
double clopper_pearson_upper(Index failures, Index n, double delta);
double order_statistic_level(Index rank, Index n, double level, double near = 0);
}  // namespace narrow

}  // namespace surefoot::bounds
