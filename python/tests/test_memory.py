"""Ten thousand calls leave nothing behind."""

import ctypes
import gc
import platform

import numpy as np
import pytest
import surefoot

CALLS = 10_000


class MallInfo(ctypes.Structure):
    _fields_ = [
        (name, ctypes.c_size_t)
        for name in "arena ordblks smblks hblks hblkhd usmblks fsmblks uordblks fordblks keepcost".split()
    ]


def bytes_in_use():
    library = ctypes.CDLL(None)
    if platform.libc_ver()[0] != "glibc" or not hasattr(library, "mallinfo2"):
        pytest.skip("the C library does not say how much memory is in use")
    library.mallinfo2.restype = MallInfo
    gc.collect()
    info = library.mallinfo2()
    return info.uordblks + info.hblkhd


SMALL = np.random.default_rng(0).uniform(size=(20, 5))
POSTERIOR = surefoot.pac_bayes.Posterior({"w": np.zeros(10)}, {"w": -1.0}, {"w": -1.0}).rounded()
CERTIFICATE = surefoot.certify(SMALL)


def refused():
    with pytest.raises(ValueError):
        surefoot.bounds.kl_inverse(2.0, 0.1)


@pytest.mark.parametrize(
    "call",
    [
        lambda: surefoot.bounds.kl_inverse(0.1, 0.01),
        lambda: surefoot.bounds.risk_upper_bound([1, 2, 3], 1000, 1e-4),
        refused,
        lambda: POSTERIOR.sample(1),
        lambda: surefoot.pac_bayes.regularizer_with_gradient(
            [0.1], [-1.0], [0.0], [-1.0], samples=100, delta=0.01
        ),
    ],
    ids=["number", "array", "error", "draw", "regularizer"],
)
def test_no_memory_growth(call):
    expect_no_growth(call, CALLS)


def expect_no_growth(call, calls):
    for _ in range(calls // 10):
        call()
    before = bytes_in_use()
    for _ in range(calls):
        call()
    assert bytes_in_use() - before < 8 * calls, "bytes are left behind by every call"


@pytest.mark.parametrize("call", [lambda: surefoot.certify(SMALL, tolerances=[0.5]), lambda: CERTIFICATE.verify(SMALL)])
def test_no_memory_growth_of_whole_certificates(call):
    expect_no_growth(call, 200)  # each takes milliseconds


def test_no_memory_growth_of_runs():
    family = surefoot.QPFamily(np.eye(2), np.eye(2), np.zeros(2), np.zeros((8, 2)), np.ones(2))
    for _ in range(50):
        family.traces(5)
    before = bytes_in_use()
    for _ in range(500):
        family.traces(5)
    assert bytes_in_use() - before < 64 * 500
