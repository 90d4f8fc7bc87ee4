"""Arguments have the library's defaults: none is written a second time here."""

from __future__ import annotations

import inspect
from typing import Any

import pytest
import surefoot
from surefoot import _core, calibration, certification, families, pac_bayes


def given(function: Any) -> dict[str, Any]:
    return {name: parameter.default for name, parameter in inspect.signature(function).parameters.items()}


@pytest.mark.parametrize(
    "function",
    [
        pac_bayes.regularizer,
        pac_bayes.regularizer_with_gradient,
        pac_bayes.Posterior.__init__,
        calibration.calibrate,
        families.QPFamily.certify,
        families.QPFamily.traces,
    ],
)
def test_defaults_of_arguments_are_those_of_the_library(function: Any) -> None:
    defaults = given(function)
    shared = [name for name in _core.defaults if name in defaults and defaults[name] is not inspect.Parameter.empty]
    assert shared or function is pac_bayes.Posterior.__init__
    for name in shared:
        if name == "metric" and function is calibration.calibrate:
            continue  # what the user's own function measures
        assert defaults[name] == _core.defaults[name], name


def test_claims_that_are_not_given_are_the_library_s() -> None:
    plain, options = _core.Options(), certification.claim_options()
    for name in ("delta", "quantiles", "tolerances", "steps", "all_steps", "risk_method", "quantile_method", "budget_method"):
        assert getattr(options, name) == getattr(plain, name), name
    assert certification.claim_options(confidence=0.9).delta == pytest.approx(0.1)


def test_the_documented_defaults_of_claims_are_true() -> None:
    options = _core.Options()
    source = inspect.getsource(certification.ClaimOptions)
    quantiles = _core.resolved(options, [[1, 2]]).quantiles
    assert f"[of {', '.join(str(quantile) for quantile in quantiles)} those" in source
    assert f"[{1 - options.delta}]" in source
    assert surefoot.__version__
