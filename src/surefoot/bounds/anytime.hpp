#pragma once

#include "surefoot/core/types.hpp"

namespace surefoot::bounds {

/// An upper bound u_n on the failure probability from `failures` among n independent runs, valid at all n at
/// once: with probability at least 1 - delta it holds after every run, however it was decided when to stop.
/// u_n = sup{ p : M_n(p) < 1/delta }, where, with F failures and q = F + 1/2, s = n - F + 1/2,
///   M_n(p) = [ B_p(q, s) / B_p(1/2, 1/2) ] / ( p^F (1-p)^(n-F) ),   B_p the incomplete beta function,
/// is a supermartingale of mean at most 1 for every failure probability >= p (a mixture of likelihood ratios;
/// J. Ville 1939), and increases with p. Rounded up; 1 if all runs failed. n = 0 is allowed and gives 1.
double anytime_upper(Index failures, Index n, double delta);

/// Whether anytime_upper(failures, n, delta) <= 1 - share, without computing it.
bool anytime_covers(Index failures, Index n, double delta, double share);

/// For one long sequence X_1, X_2, ... of failures (1) and successes (0) with any dependence: an upper bound
/// on the average of P(X_t = 1 | X_1 .. X_{t-1}) over t = 1 .. n, valid at all n at once. It speaks of the
/// past of this sequence, not of a new one. The root in m of
///   (1/4) 1[F = 0] (1-m)^-n + (3/4)/(2F+1) 2F1(n, 1; F + 3/2; m) = 1/delta,
/// a mixture over s of (1-s)^F (1 - s m)^-n. Rounded up; 1 if all failed. n = 0 is allowed and gives 1.
double sequence_upper(Index failures, Index n, double delta);

}  // namespace surefoot::bounds
