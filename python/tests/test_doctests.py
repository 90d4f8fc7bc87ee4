"""Examples in docstrings give what they say."""

import doctest
import importlib

import pytest

# And the packages that their examples need.
MODULES = {
    "surefoot": (),
    "surefoot.bounds": (),
    "surefoot.certificate": (),
    "surefoot.certification": (),
    "surefoot.pairs": (),
    "surefoot.tuning": (),
    "surefoot.pac_bayes": (),
    "surefoot.calibration": (),
    "surefoot.worst_case": (),
    "surefoot.families": ("scipy",),
    "surefoot.solvers": ("scipy", "osqp", "scs", "clarabel"),
    "surefoot.cvxpy_problems": ("cvxpy",),
    "surefoot.torch": ("torch",),
    "surefoot.jax": ("jax",),
}


@pytest.mark.parametrize("name", MODULES)
def test_examples_in_docstrings(name):
    for package in MODULES[name]:
        pytest.importorskip(package)
    module = importlib.import_module(name)
    result = doctest.testmod(module, optionflags=doctest.ELLIPSIS | doctest.NORMALIZE_WHITESPACE)
    assert result.attempted > 0
    assert result.failed == 0


def test_every_public_name_has_a_docstring():
    import surefoot

    for name in surefoot.__all__:
        if name not in ("__version__", "threads", "set_threads", "InputError", "Claim"):
            assert getattr(surefoot, name).__doc__, name
    for name in surefoot.bounds.__all__:
        assert getattr(surefoot.bounds, name).__doc__, name
