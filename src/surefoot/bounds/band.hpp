#pragma once

#include "surefoot/core/types.hpp"

#include <vector>

namespace surefoot::bounds {

/// Simultaneous lower bounds on a distribution function (one-sided Berk-Jones, equal local levels). Of N
/// independent numbers from any distribution let s(eps) be below eps, and let L_s(eta) be the eta-quantile of
/// Beta(s, N - s + 1), L_0 = 0: the exact (Clopper-Pearson) lower bound at level eta. With
///   eta = band_level(N, delta),   P( exists r in S: U_(r) < L_r(eta) ) <= delta
/// for the order statistics U of N uniform numbers, it holds with probability at least 1 - delta that
///   P(X < eps) >= L_r(eta),  r = band_rank_down(N, s(eps)),       for all eps at once, and
///   P(X <= X_(r)) >= Q,      r = band_quantile_rank(N, Q, eta),   for all Q at once,
/// so eps and Q may be chosen after the numbers are seen. N must not be. S are the ranks of band_ranks(N).
/// (R. Berk, D. Jones, "Goodness-of-fit test statistics that dominate the Kolmogorov statistics", 1979;
/// A. Moscovich, B. Nadler, C. Spiegelman, "On the exact Berk-Jones statistics and their p-value
/// calculation", 2016.)

/// All ranks 1 .. N up to 10,000 samples. Beyond, those within 100 of an end, and then ranks whose distance
/// to the end grows by 2 %: they depend on N alone.
std::vector<Index> band_ranks(Index samples);

/// The largest rank of the band that is at most `count`; 0 if there is none.
Index band_rank_down(Index samples, Index count);

/// P( exists r in S: U_(r) < L_r(level) ), rounded up; tight to 1e-10 relative up to 10,000 samples and to a
/// thousandth up to 2^20. Beyond, the union bound |S| level.
double band_crossing_upper(Index samples, double level);

/// The largest level with band_crossing_upper(samples, level) <= delta, rounded down: by at most 1e-10
/// relative up to 10,000 samples, by a thousandth up to 2^20; beyond, delta / |S|.
double band_level(Index samples, double delta);

/// L_r(level) with r = band_rank_down(samples, count), rounded down: with it at least this share is below
/// what `count` of the samples are below.
double band_share(Index samples, Index count, double level);

/// The smallest rank r of the band with L_r(level) >= quantile, 0 if there is none: with it the quantile is
/// at most the r-th smallest of the samples.
Index band_quantile_rank(Index samples, double quantile, double level);

}  // namespace surefoot::bounds
