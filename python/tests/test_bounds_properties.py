"""Bounds against SciPy and mpmath on whatever hypothesis thinks of."""

import math

import pytest

pytest.importorskip("hypothesis")
stats = pytest.importorskip("scipy.stats")
mpmath = pytest.importorskip("mpmath")

from hypothesis import HealthCheck, assume, given, settings, strategies  # noqa: E402
from surefoot import bounds  # noqa: E402

settings.register_profile("surefoot", deadline=None, derandomize=True, suppress_health_check=[HealthCheck.too_slow])
settings.load_profile("surefoot")
mpmath.mp.dps = 50

probabilities = strategies.floats(1e-12, 1 - 1e-12)
divergences = strategies.floats(1e-12, 30)
counts = strategies.integers(1, 5000).flatmap(
    lambda n: strategies.tuples(strategies.integers(0, n), strategies.just(n))
)
deltas = strategies.floats(1e-9, 0.5)


def mp_kl(q, p):
    q, p = mpmath.mpf(q), mpmath.mpf(p)
    return q * mpmath.log(q / p) + (1 - q) * mpmath.log((1 - q) / (1 - p))


def mp_cdf(k, n, p):
    return mpmath.betainc(n - k, k + 1, 0, 1 - mpmath.mpf(p), regularized=True) if k < n else mpmath.mpf(1)


@given(q=probabilities, c=divergences)
def test_kl_inverse_is_never_below_the_true_value_and_close_above(q, c):
    p = bounds.kl_inverse(q, c)
    assert q <= p <= 1
    if p < 1:
        assert mp_kl(q, p) >= c
        gap = mpmath.mpf(p) - mpmath.mpf(q)
        closer = mpmath.mpf(p) - 100 * mpmath.mpf(2) ** -53 * gap - 3 * mpmath.mpf(math.ulp(p))
        assert closer <= q or mp_kl(q, closer) < c


@given(q=strategies.floats(1e-6, 1 - 1e-6), c=strategies.floats(1e-6, 5))
def test_derivatives_of_kl_inverse_are_those_of_its_definition(q, c):
    p, dq, dc = bounds.kl_inverse_with_derivatives(q, c)
    assume(p < 1 - 1e-9)
    # kl(q || p(q, c)) = c: the derivatives of kl by p and by q give those of p.
    P, Q = mpmath.mpf(p), mpmath.mpf(q)
    by_p = (P - Q) / (P * (1 - P))
    by_q = mpmath.log(Q / P) - mpmath.log((1 - Q) / (1 - P))
    assert dc == pytest.approx(float(1 / by_p), rel=1e-6)
    assert dq == pytest.approx(float(-by_q / by_p), rel=1e-6)


@given(count=counts, delta=deltas)
def test_clopper_pearson_against_scipy_and_mpmath(count, delta):
    failures, n = count
    bound = bounds.clopper_pearson_upper(failures, n, delta)
    if failures == n:
        assert bound == 1.0
        return
    assert bound == pytest.approx(stats.beta.ppf(1 - delta, failures + 1, n - failures), rel=1e-6)
    assert mp_cdf(failures, n, bound) <= delta
    assert mp_cdf(failures, n, bound * (1 - 1e-12)) > delta or bound * (1 - 1e-12) <= failures / n


@given(count=counts, delta=deltas)
def test_exact_is_at_most_kl_and_kl_at_most_pinsker(count, delta):
    exact, kl, pinsker = (bounds.risk_upper_bound(*count, delta, method) for method in ("exact", "kl", "pinsker"))
    assert count[0] / count[1] <= exact <= kl <= pinsker <= 1
    assert bounds.success_lower_bound(*count, delta) <= 1 - exact


@given(count=counts, p=strategies.floats(0.001, 0.999))
def test_binomial_tails_against_scipy(count, p):
    k, n = count
    cdf, tail = stats.binom.cdf(k, n, p), stats.binom.sf(k - 1, n, p)
    assert bounds.binomial_cdf_upper(k, n, p) == pytest.approx(cdf, rel=1e-8, abs=1e-290)
    assert bounds.binomial_tail_upper(k, n, p) == pytest.approx(tail, rel=1e-8, abs=1e-290)


@given(n=strategies.integers(1, 3000), quantile=strategies.floats(0.01, 0.999), delta=deltas)
def test_rank_is_the_smallest_that_covers(n, quantile, delta):
    rank = bounds.order_statistic_rank(n, quantile, delta)
    if rank > 0:
        assert mp_cdf(rank - 1, n, quantile) >= 1 - mpmath.mpf(delta)
    # One rank less (none: the largest of all) does not cover, but for ties, which rounding outward refuses.
    less = n if rank == 0 else rank - 1
    if less > 0:
        assert mp_cdf(less - 1, n, quantile) < 1 - mpmath.mpf(delta) * (1 - mpmath.mpf("1e-9"))


@given(risk=strategies.floats(0, 1), c=strategies.floats(0, 5), more=strategies.floats(0, 1))
def test_kl_inverse_rises_with_both_arguments(risk, c, more):
    p = bounds.kl_inverse(risk, c)
    assert bounds.kl_inverse(risk, c + more) >= p * (1 - 1e-15)
    assert bounds.kl_inverse(min(1.0, risk + more), c) >= p * (1 - 1e-15)
