"""Bounds from counts, rounded outward: never on the wrong side of the true value, and a few ulps from it.

Every function takes numbers or arrays and broadcasts them as NumPy does; plain numbers give a plain number. Counts must
be whole numbers: 3.0 is a TypeError. A value outside its range is an InputError (a ValueError) that names it.
"""

from __future__ import annotations

from typing import Any, Literal, TypeAlias

import numpy as np
import numpy.typing as npt

from . import _core

__all__ = [
    "anytime_upper",
    "averaged_rate_residual",
    "band_level",
    "band_share",
    "binomial_cdf_upper",
    "binomial_tail_upper",
    "calibrated_risk",
    "clopper_pearson_upper",
    "decibel_grid",
    "empirical_rank",
    "group_average_upper",
    "kl",
    "kl_inverse",
    "kl_inverse_with_derivatives",
    "linear_rate_residual",
    "order_statistic_rank",
    "pac_bayes_risk",
    "regression_grid",
    "residual_grid",
    "risk_under_shift",
    "risk_upper_bound",
    "samples_needed",
    "sequence_upper",
    "shift_margin",
    "success_lower_bound",
]

RiskMethod: TypeAlias = Literal["exact", "kl", "pinsker"]
# What comes out has the shape of what goes in, which types cannot say: a float, or an array of float64.
Numbers: TypeAlias = Any


def kl(q: npt.ArrayLike, p: npt.ArrayLike) -> Numbers:
    """Bernoulli relative entropy q log(q/p) + (1-q) log((1-q)/(1-p)), with 0 log 0 = 0.

    >>> kl(0.5, 0.5)
    0.0
    >>> kl(0.1, [0.1, 0.2]).round(4)
    array([0.    , 0.0367])
    """
    return _core.kl(q, p)


def kl_inverse(q: npt.ArrayLike, c: npt.ArrayLike) -> Numbers:
    """The largest p in [q, 1] with kl(q||p) <= c, rounded up.

    >>> round(kl_inverse(0.1, 0.01), 6)
    0.147676
    >>> kl_inverse([0.0, 1.0], 0.5).round(4)
    array([0.3935, 1.    ])
    """
    return _core.kl_inverse(q, c)


def kl_inverse_with_derivatives(q: npt.ArrayLike, c: npt.ArrayLike) -> tuple[Numbers, Numbers, Numbers]:
    """p = kl_inverse(q, c), dp/dq and dp/dc; both derivatives are positive, infinite where the limit is.

    >>> p, dq, dc = kl_inverse_with_derivatives(0.1, 0.01)
    >>> round(dq, 3), round(dc, 3)
    (1.173, 2.64)
    """
    return _core.kl_inverse_with_derivatives(q, c)


def risk_upper_bound(
    failures: npt.ArrayLike, samples: npt.ArrayLike, delta: npt.ArrayLike, method: RiskMethod = "exact"
) -> Numbers:
    """Upper bound on the probability of failure from `failures` among `samples` runs that are independent and identically distributed.

    It holds with probability at least 1 - delta. Methods: ``exact`` (Clopper-Pearson), ``kl`` (the paper's), ``pinsker``.

    >>> round(risk_upper_bound(3, 1000, 1e-4), 5)
    0.01581
    >>> risk_upper_bound([0, 1, 2], 100, 0.01).round(4)
    array([0.045 , 0.0645, 0.0814])
    """
    return _core.risk_upper_bound(failures, samples, delta, method)


def success_lower_bound(
    failures: npt.ArrayLike, samples: npt.ArrayLike, delta: npt.ArrayLike, method: RiskMethod = "exact"
) -> Numbers:
    """The certified success rate: 1 - risk_upper_bound(...), rounded down.

    >>> round(success_lower_bound(3, 1000, 1e-4), 5)
    0.98419
    """
    return _core.success_lower_bound(failures, samples, delta, method)


def clopper_pearson_upper(failures: npt.ArrayLike, samples: npt.ArrayLike, delta: npt.ArrayLike) -> Numbers:
    """The p with P(Bin(samples, p) <= failures) = delta, rounded up; 1 if all runs failed.

    >>> clopper_pearson_upper(5, 5, 0.1)
    1.0
    """
    return _core.clopper_pearson_upper(failures, samples, delta)


def binomial_cdf_upper(k: npt.ArrayLike, n: npt.ArrayLike, p: npt.ArrayLike) -> Numbers:
    """P(Bin(n, p) <= k), rounded up.

    >>> round(binomial_cdf_upper(0, 10, 0.5), 6)
    0.000977
    """
    return _core.binomial_cdf_upper(k, n, p)


def binomial_tail_upper(k: npt.ArrayLike, n: npt.ArrayLike, p: npt.ArrayLike) -> Numbers:
    """P(Bin(n, p) >= k), rounded up.

    >>> round(binomial_tail_upper(10, 10, 0.5), 6)
    0.000977
    """
    return _core.binomial_tail_upper(k, n, p)


def risk_under_shift(
    risk: npt.ArrayLike,
    *,
    kl: npt.ArrayLike | None = None,
    tv: npt.ArrayLike | None = None,
    chi2: npt.ArrayLike | None = None,
    ratio: npt.ArrayLike | None = None,
) -> Numbers:
    """The largest failure probability under any distribution that is not further than this from the one where it is at most `risk`, rounded up.

    One of `kl` (Kullback-Leibler divergence of the new distribution from the old one, in nats), `tv` (total variation, half of L1),
    `chi2` and `ratio` (of densities, at least 1).

    >>> round(risk_under_shift(0.01, kl=0.0413), 4)
    0.05
    >>> round(risk_under_shift(0.01, ratio=3), 4)
    0.03
    """
    given = [(name, radius) for name, radius in (("kl", kl), ("tv", tv), ("chi2", chi2), ("ratio", ratio)) if radius is not None]
    if len(given) != 1:
        raise TypeError(f"risk_under_shift: give one of kl, tv, chi2 and ratio, not {len(given)}")
    return _core.risk_under_shift(risk, *given[0])


def shift_margin(
    risk: npt.ArrayLike, tolerated: npt.ArrayLike, divergence: Literal["kl", "tv", "chi2", "ratio"] = "kl"
) -> Numbers:
    """How far the distribution may change before a failure probability of at most `risk` exceeds `tolerated`, rounded down.

    >>> rho = shift_margin(0.01, 0.05)
    >>> round(rho, 4), round((2 * rho) ** 0.5, 3)  # for a Gaussian parameter, so many standard deviations of its mean
    (0.0413, 0.287)
    """
    return _core.shift_margin(risk, tolerated, divergence)


def band_level(samples: npt.ArrayLike, delta: npt.ArrayLike) -> Numbers:
    """The level at which exact bounds hold for all tolerances and quantiles at once, rounded down.

    With probability at least 1 - delta it holds for every tolerance that at least ``band_share(samples, count, level)`` of the problems are
    below it, if ``count`` of the samples are: tolerances and quantiles may be chosen after looking. The number of samples may not.

    >>> f"{band_level(1000, 0.01):.6g}"
    '0.000185169'
    """
    return _core.band_level(samples, delta)


def band_share(samples: npt.ArrayLike, count: npt.ArrayLike, level: npt.ArrayLike) -> Numbers:
    """The share that is below what `count` of the samples are below, at a level of ``band_level``, rounded down.

    >>> round(band_share(1000, 990, band_level(1000, 0.01)), 4)
    0.9734
    """
    return _core.band_share(samples, count, level)


def anytime_upper(failures: npt.ArrayLike, samples: npt.ArrayLike, delta: npt.ArrayLike) -> Numbers:
    """Upper bound on the probability of failure that holds after every run at once, rounded up.

    Runs may be added and the bound looked at again, until it is good enough. Runs are independent and identically distributed.

    >>> anytime_upper(0, 556, 0.01) <= 0.01, anytime_upper(0, 555, 0.01) <= 0.01
    (True, False)
    """
    return _core.anytime_upper(failures, samples, delta)


def sequence_upper(failures: npt.ArrayLike, samples: npt.ArrayLike, delta: npt.ArrayLike) -> Numbers:
    """Upper bound on the average probability of failure, given its past, along one long log of any dependence, rounded up.

    It holds at every length at once, and is about the past of this log, not about a new one.

    >>> round(1000 * sequence_upper(0, 1000, 0.01), 2)
    5.21
    """
    return _core.sequence_upper(failures, samples, delta)


def group_average_upper(
    shares: npt.ArrayLike, delta: float, method: Literal["betting", "kl"] = "betting"
) -> float:
    """Upper bound on the expected share of failures of a group, from the shares of independent groups, rounded up.

    Rows that belong together (the ticks of a flight) are one group. Groups count equally, whatever their size.

    >>> round(group_average_upper([0.0] * 50 + [0.1] * 30 + [0.2] * 20, 0.05), 4)
    0.1076
    """
    return _core.group_average_upper(np.asarray(shares, dtype=np.float64).ravel(), float(delta), method)


def samples_needed(failures: npt.ArrayLike, share: npt.ArrayLike, delta: npt.ArrayLike) -> Numbers:
    """How many runs, of which at most `failures` fail, show that at least `share` succeed; 0 if 10^10 are not enough.

    >>> samples_needed([0, 1, 2], 0.99, 0.01)
    array([459, 662, 838])
    """
    return _core.samples_needed(failures, share, delta)


def order_statistic_rank(samples: npt.ArrayLike, quantile: npt.ArrayLike, delta: npt.ArrayLike) -> Numbers:
    """The smallest rank r such that the r-th smallest of the samples bounds the quantile with probability 1 - delta.

    0 where there is none: too few samples.

    >>> order_statistic_rank(1000, 0.9, 0.0081)
    923
    >>> order_statistic_rank([10, 1000], 0.99, 0.01)
    array([  0, 998])
    """
    return _core.order_statistic_rank(samples, quantile, delta)


def empirical_rank(samples: npt.ArrayLike, quantile: npt.ArrayLike) -> Numbers:
    """The smallest rank r >= quantile * samples: the r-th smallest value is the observed quantile.

    >>> empirical_rank(1000, 0.9)
    900
    """
    return _core.empirical_rank(samples, quantile)


def linear_rate_residual(beta: npt.ArrayLike, k: npt.ArrayLike, dist0: npt.ArrayLike) -> Numbers:
    """Worst case of ||z^{k+1} - z^k|| of a beta-linearly convergent operator: (1 + beta) beta^k dist0.

    A fact only if beta and dist0 >= ||z^0 - z*|| are. Row k of a trace is ||z^k - z^{k-1}||: ask for k - 1.

    >>> round(linear_rate_residual(0.5, 3, 1.0), 6)
    0.1875
    """
    return _core.linear_rate_residual(beta, k, dist0)


def averaged_rate_residual(alpha: npt.ArrayLike, k: npt.ArrayLike, dist0: npt.ArrayLike) -> Numbers:
    """Worst case of ||z^{k+1} - z^k|| of an alpha-averaged operator (F. Lieder 2018), attained by rotations.

    In the norm and variables in which the operator is averaged: for OSQP (x, w + y/rho) with alpha = relaxation/2.
    SCS, normalised and divided by eta, is not averaged: of it this is an estimate.

    >>> round(averaged_rate_residual(0.5, 100, 1.0), 4)
    0.0605
    """
    return _core.averaged_rate_residual(alpha, k, dist0)


def pac_bayes_risk(expected_empirical_risk: npt.ArrayLike, regularizer: npt.ArrayLike) -> Numbers:
    """Risk of a stochastic optimizer from its expected empirical risk R_S and B: kl_inverse(R_S, B).

    >>> round(pac_bayes_risk(0.05, 0.02), 4)
    0.1057
    """
    return _core.pac_bayes_risk(expected_empirical_risk, regularizer)


def calibrated_risk(failures: npt.ArrayLike, runs: npt.ArrayLike, omega: npt.ArrayLike) -> Numbers:
    """Upper bound on the expected empirical risk R_S from failures among independent runs with new weights each.

    >>> round(calibrated_risk(500, 50_000, 1e-5), 5)
    0.01229
    """
    return _core.calibrated_risk(failures, runs, omega)


def residual_grid() -> npt.NDArray[np.float64]:
    """The paper's 81 tolerances for residuals and distances, 1e-6 to 1e2.

    >>> residual_grid()[[0, -1]]
    array([1.e-06, 1.e+02])
    """
    return _core.residual_grid()


def decibel_grid() -> npt.NDArray[np.float64]:
    """The paper's 81 tolerances for the NMSE, -80 to 0 dB.

    >>> decibel_grid()[:2]
    array([-80., -79.])
    """
    return _core.decibel_grid()


def regression_grid() -> npt.NDArray[np.float64]:
    """The paper's 81 tolerances for its meta-learning metrics, 1e-3 to 1e1.

    >>> len(regression_grid())
    81
    """
    return _core.regression_grid()
