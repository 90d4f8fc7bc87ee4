"""Ten thousand calls leave nothing behind."""

import ctypes
import gc
import platform
from xml.etree import ElementTree

import numpy as np
import pytest
import surefoot

CALLS = 10_000


def bytes_in_use():
    """Of all arenas of the C library, those of threads too: what it took from the system less what it has free."""
    library = ctypes.CDLL(None)
    if platform.libc_ver()[0] != "glibc":
        pytest.skip("the C library does not say how much memory is in use")
    gc.collect()
    text, size = ctypes.c_char_p(), ctypes.c_size_t()
    library.open_memstream.restype = ctypes.c_void_p
    stream = ctypes.c_void_p(library.open_memstream(ctypes.byref(text), ctypes.byref(size)))
    assert library.malloc_info(0, stream) == 0
    library.fclose(stream)
    totals = {(part.tag, part.get("type")): int(part.get("size")) for part in ElementTree.fromstring(text.value)
              if part.tag != "heap"}  # fmt: skip
    library.free(text)
    free = totals["total", "fast"] + totals["total", "rest"]
    return totals["system", "current"] - free + totals["total", "mmap"]


SMALL = np.random.default_rng(0).uniform(size=(20, 5))
FEW = {"tolerances": [0.5], "quantiles": [0.5], "steps": [1, 5]}
POSTERIOR = surefoot.pac_bayes.Posterior({"w": np.zeros(10)}, {"w": -1.0}, {"w": -1.0}).rounded()
CERTIFICATE = surefoot.certify(SMALL, **FEW)
FAMILY = surefoot.QPFamily(np.eye(2), np.eye(2), np.zeros(2), np.zeros((8, 2)), np.ones(2))
CONES = surefoot.ConeFamily(None, -np.eye(2), np.zeros((8, 2)), np.ones(2), nonnegative=2)


def calibrated(**options):
    return surefoot.calibrate(POSTERIOR, lambda weights, indices: SMALL[indices, :2], batch=20,
                              claims=["success"], tolerances=[0.5], **options)  # fmt: skip


def refused(call, *arguments):
    with pytest.raises(ValueError):
        call(*arguments)


CALLS_OF_EVERY_KIND = {
    "number": lambda: surefoot.bounds.kl_inverse(0.1, 0.01),
    "array": lambda: surefoot.bounds.risk_upper_bound([1, 2, 3], 1000, 1e-4),
    "wrong number": lambda: refused(surefoot.bounds.kl_inverse, 2.0, 0.1),
    "draw": lambda: POSTERIOR.sample(1),
    "regularizer": lambda: surefoot.pac_bayes.regularizer_with_gradient(
        [0.1], [-1.0], [0.0], [-1.0], samples=100, delta=0.01
    ),
    "certify": lambda: surefoot.certify(SMALL, **FEW).to_json(),
    "wrong traces": lambda: refused(surefoot.certify, SMALL[None, None]),
    "claims": lambda: surefoot.Certificate(CERTIFICATE.to_json()).claims,
    "text": lambda: str(CERTIFICATE),
    "verify": lambda: CERTIFICATE.verify(SMALL),
    "calibrate": lambda: calibrated(samples=20),
    "hold-out": lambda: calibrated(guarantee="hold-out", hold_out=range(20)),
    "family": lambda: surefoot.QPFamily(np.eye(2), np.eye(2), np.zeros(2), np.zeros(2), np.ones(2)),
    "wrong family": lambda: refused(surefoot.QPFamily, -np.eye(2), np.eye(2), np.zeros(2), np.zeros(2), np.ones(2)),
    "traces": lambda: FAMILY.traces(2),
    "iterates": lambda: CONES.iterates(2),
    "certify family": lambda: FAMILY.certify(2, claims=["success"], tolerances=[0.5]),
}


@pytest.mark.parametrize("kind", CALLS_OF_EVERY_KIND)
def test_no_memory_growth(kind):
    call = CALLS_OF_EVERY_KIND[kind]
    for _ in range(CALLS // 10):
        call()
    growth = []
    for _ in range(2):  # what every call leaves behind is left in both halves; room that is taken once, in one
        before = bytes_in_use()
        for _ in range(CALLS // 2):
            call()
        growth.append(bytes_in_use() - before)
    assert min(growth) < 8 * (CALLS // 2), f"bytes are left behind by every call: {growth}"


def test_growth_is_noticed():
    before = bytes_in_use()
    kept = ctypes.CDLL(None).malloc
    kept.restype = ctypes.c_void_p
    blocks = [kept(100) for _ in range(CALLS)]
    assert bytes_in_use() - before > 100 * CALLS
    for block in blocks:
        ctypes.CDLL(None).free(ctypes.c_void_p(block))
