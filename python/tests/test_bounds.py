"""Bounds on arrays: broadcasting, types, errors, and equality with the program."""

import csv

import numpy as np
import pytest
from surefoot import InputError, bounds


def test_plain_numbers_give_plain_numbers():
    assert type(bounds.kl_inverse(0.1, 0.01)) is float
    assert type(bounds.order_statistic_rank(1000, 0.9, 0.01)) is int
    assert type(bounds.risk_upper_bound(np.int64(3), 1000, np.float64(1e-4))) is float
    assert all(type(part) is float for part in bounds.kl_inverse_with_derivatives(0, 1))


def test_arrays_broadcast_as_numpy_does():
    failures = np.arange(12, dtype=np.int32).reshape(3, 1, 4)
    samples = np.array([[100], [1000]])
    delta = [1e-2, 1e-3, 1e-4, 1e-5]
    result = bounds.risk_upper_bound(failures, samples, delta)
    assert result.shape == (3, 2, 4) and result.dtype == np.float64
    for i, j, k in np.ndindex(result.shape):
        assert result[i, j, k] == bounds.risk_upper_bound(int(failures[i, 0, k]), int(samples[j, 0]), delta[k])


def test_many_elements_equal_one_by_one():
    q = np.linspace(0, 1, 1001)[::-2]
    values, dq, dc = bounds.kl_inverse_with_derivatives(q[:, None], [0.01, 0.2])
    assert values.shape == dq.shape == dc.shape == (501, 2)
    for i in range(0, 501, 50):
        assert (values[i, 1], dq[i, 1], dc[i, 1]) == bounds.kl_inverse_with_derivatives(float(q[i]), 0.2)
    assert np.array_equal(values[:, 0], bounds.kl_inverse(q, 0.01))


def test_ranks_are_whole_numbers():
    ranks = bounds.order_statistic_rank([10, 1000], 0.9, 0.01)
    assert ranks.dtype == np.int64
    assert ranks.tolist() == [0, bounds.order_statistic_rank(1000, 0.9, 0.01)]
    assert bounds.empirical_rank(np.array([10, 11]), 0.5).tolist() == [5, 6]


def test_empty_arrays_stay_empty():
    assert bounds.kl_inverse(np.empty((0, 3)), 0.1).shape == (0, 3)
    assert bounds.kl_inverse([], []).shape == (0,)


def test_shapes_that_do_not_fit_are_a_value_error():
    with pytest.raises(ValueError, match=r"could not be broadcast together with shapes \(3,\) \(4,\)"):
        bounds.kl_inverse(np.zeros(3), np.zeros(4))


@pytest.mark.parametrize("failures", [3.0, [3.0, 4.0], "3", None, [True], 1j, [[1], [2, 3]]])
def test_counts_must_be_whole_numbers(failures):
    with pytest.raises((TypeError, ValueError)):
        bounds.risk_upper_bound(failures, 1000, 1e-4)


def test_counts_are_never_truncated():
    with pytest.raises(TypeError, match="failures: dtype float64 is not whole numbers"):
        bounds.risk_upper_bound(np.array([2.9]), 1000, 1e-4)
    with pytest.raises(InputError, match="too large"):
        bounds.risk_upper_bound(np.array([2**63], dtype=np.uint64), 1000, 1e-4)
    with pytest.raises(OverflowError):
        bounds.risk_upper_bound(2**70, 1000, 1e-4)


@pytest.mark.parametrize("q", [1j, "0.1", None, [None], np.array([0.1], dtype=np.longdouble)])
def test_real_numbers_must_be_real_and_fit(q):
    with pytest.raises(TypeError, match="real numbers"):
        bounds.kl_inverse(q, 0.1)


@pytest.mark.parametrize(
    ("call", "named"),
    [
        (lambda: bounds.kl_inverse(1.5, 0.1), "1.5"),
        (lambda: bounds.kl_inverse([0.5, np.nan], 0.1), "nan"),
        (lambda: bounds.kl_inverse(0.5, -1.0), "-1"),
        (lambda: bounds.risk_upper_bound(5, 4, 0.1), "5"),
        (lambda: bounds.risk_upper_bound(1, 4, 0.0), "0"),
        (lambda: bounds.risk_upper_bound(1, 4, 0.1, "exakt"), "exakt"),
        (lambda: bounds.order_statistic_rank(np.full(1000, 100), 1.0, 0.1), "1"),
    ],
)
def test_values_out_of_range_are_named(call, named):
    with pytest.raises(InputError, match=named) as failure:
        call()
    assert isinstance(failure.value, ValueError)


def test_reference_values(source):
    with open(source / "tests/golden/kl_inverse.csv") as file:
        rows = [row for row in csv.reader(file) if row and not row[0].startswith(("#", "q"))]
    q, c, p = np.array(rows, dtype=float).T
    values = bounds.kl_inverse(q, c)
    assert len(q) > 50
    assert (values >= p * (1 - 1e-16)).all()
    assert np.allclose(values, p, rtol=1e-13, atol=0)


def test_numbers_are_those_of_the_program(surefoot_program):
    assert float(surefoot_program("bound", "kl-inverse", "--q", 0.1, "--c", 0.01)) == bounds.kl_inverse(0.1, 0.01)
    for method in ("exact", "kl", "pinsker"):
        printed = surefoot_program(
            "bound", "risk", "--failures", 3, "--samples", 1000, "--delta", 1e-4, "--method", method
        )
        assert float(printed) == bounds.risk_upper_bound(3, 1000, 1e-4, method)
    printed = surefoot_program("bound", "rank", "--samples", 1000, "--quantile", 0.9, "--delta", 0.0081)
    assert int(printed) == bounds.order_statistic_rank(1000, 0.9, 0.0081)


def test_risks_under_another_distribution(surefoot_program):
    for name, radius in (("kl", 0.02), ("tv", 0.05), ("chi2", 0.3), ("ratio", 2.5)):
        printed = surefoot_program("bound", "shift", "--risk", 0.01, f"--{name}", radius)
        assert float(printed) == bounds.risk_under_shift(0.01, **{name: radius})
        margin = bounds.shift_margin(0.01, 0.05, name)
        assert bounds.risk_under_shift(0.01, **{name: margin}) == pytest.approx(0.05, rel=1e-9)
    assert bounds.risk_under_shift([0.0, 1.0], kl=0.1).tolist() == [0.0, 1.0]
    with pytest.raises(TypeError, match="give one of"):
        bounds.risk_under_shift(0.1)
    with pytest.raises(ValueError, match="-0.1"):
        bounds.risk_under_shift(0.1, kl=-0.1)
    with pytest.raises(ValueError, match="'w'"):
        bounds.shift_margin(0.1, 0.2, "w")


def test_bounds_for_people_who_look_first(surefoot_program, source):
    printed = surefoot_program("bound", "level", "--samples", 1000, "--delta", 0.01)
    assert float(printed) == bounds.band_level(1000, 0.01)
    printed = surefoot_program("bound", "anytime", "--failures", 2, "--samples", 960, "--delta", 0.01)
    assert float(printed) == bounds.anytime_upper(2, 960, 0.01)
    with open(source / "tests/golden/anytime.csv") as file:
        rows = list(csv.reader(file))[1:]
    failures, samples = (np.array([int(row[i]) for row in rows]) for i in (0, 1))
    delta, upper = (np.array([float(row[i]) for row in rows]) for i in (2, 3))
    assert np.allclose(bounds.anytime_upper(failures, samples, delta), upper, rtol=1e-9, atol=0)
    assert (bounds.sequence_upper(failures, samples, delta) >= bounds.anytime_upper(failures, samples, delta) * 0.9).all()
    level = bounds.band_level(200, 0.05)
    shares = bounds.band_share(200, np.arange(201), level)
    assert (np.diff(shares) > 0).all() and shares[0] == 0
    assert bounds.group_average_upper([0.0] * 20, 0.1, "kl") == pytest.approx(1 - 0.1 ** (1 / 20))
    with pytest.raises(InputError, match="1.5"):
        bounds.group_average_upper([1.5], 0.1)
    with pytest.raises(InputError, match="neither betting nor kl"):
        bounds.group_average_upper([0.5], 0.1, "mean")
