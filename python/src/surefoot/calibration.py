"""Guarantees for a learned optimizer of your own, from its training samples."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any, TypeAlias, Union

import numpy as np
import numpy.typing as npt

from . import _core
from .certificate import Certificate
from .certification import ClaimOptions, claim_options
from .pac_bayes import Posterior

if TYPE_CHECKING:
    from typing_extensions import Unpack

__all__ = ["calibrate"]

SampleWeights: TypeAlias = Union[Posterior, Callable[[np.random.Generator], Any]]

_OWN_PURPOSE = 0x5F0071B8  # sets the streams of calibration apart from others of the same seed


def calibrate(
    sample_weights: SampleWeights,
    run: Callable[[Any, Any], npt.ArrayLike],
    *,
    samples: int,
    posterior: Posterior | None = None,
    draws: int = 1,
    seed: int = 0,
    batch: int | None = None,
    first_step: int = 1,
    metric: str = "metric",
    unit: str = "",
    name: str = "learned",
    prior_samples: int = 0,
    candidates: int = 1,
    prior_means: int = 1,
    calibration_share: float = 0.5,
    record: Mapping[str, Any] | None = None,
    **claims: Unpack[ClaimOptions],
) -> Certificate:
    """A PAC-Bayes certificate for any optimizer with random weights, from the very samples it was trained on.

    Weights are drawn anew for every sample and run, `draws` times; failures are counted, and
    risk <= kl_inverse(kl_inverse(failures / runs, log(1/omega) / runs), B).

    Parameters
    ----------
    sample_weights
        A :class:`surefoot.pac_bayes.Posterior`, or a function that draws weights from `posterior` with the given
        ``numpy.random.Generator``; that it draws from that distribution cannot be checked here.
    run
        ``run(weights, i)``: runs training sample i with the weights and returns the metric after each step, smaller is
        better. With `batch`, ``run(list of weights, indices)`` gives a row for each.
    samples
        N, the training samples 0 .. N-1; all of them, each as drawn.
    posterior
        What is charged for, if `sample_weights` is a function. Its prior must be on the grid (``posterior.rounded()``).
    draws, seed
        Independent weight vectors per sample, and the seed of their streams.
    batch
        Runs at a time.
    first_step
        Step of the first number that `run` returns.
    prior_samples
        Other samples that the prior mean was trained on; none of them is among the N.
    candidates, prior_means
        Posteriors (and prior means) of which this one was chosen: they are paid for.
    calibration_share
        Of the total delta, for the drawn weights.
    record
        Kept in the certificate: how the optimizer was trained.
    **claims
        See :class:`surefoot.certification.ClaimOptions`; methods are fixed (pac-bayes, grid, settling).

    >>> import numpy as np, surefoot
    >>> posterior = surefoot.pac_bayes.Posterior({"rate": [0.5]}, {"rate": -8.0}, {"rate": -1.0}).rounded()
    >>> def run(weights, i):
    ...     return (1 + i % 7) * (1 - weights["rate"][0]) ** np.arange(1, 11)
    >>> certificate = surefoot.calibrate(posterior, run, samples=2000, tolerances=[0.1], quantiles=[0.9])
    >>> certificate.success(step=10, tolerance=0.1).lower_bound > 0.9
    True
    """
    options = _core.PacBayesOptions()
    fixed = {"risk_method", "quantile_method", "budget_method"} & set(claims)
    if fixed:
        raise ValueError(f"{fixed.pop()}: methods of PAC-Bayes are fixed")
    chosen = claim_options(**claims)
    chosen.risk_method, chosen.quantile_method = options.claims.risk_method, options.claims.quantile_method
    chosen.metric, chosen.unit = metric, unit
    options.claims = chosen
    options.calibration_share = calibration_share
    options.candidates = candidates
    options.prior_means = prior_means
    charged, draw, purpose = _drawing(sample_weights, posterior, samples, seed)
    for what, value in (("samples", samples), ("draws", draws)):
        if value < 1:
            raise ValueError(f"{what}: {value} is below 1")
    if seed < 0:
        raise ValueError(f"seed: {seed} is negative")
    if not charged.on_grid:
        raise ValueError("posterior: a prior variance is not on the grid; posterior.rounded() moves it there")
    traces = _run_all(run, draw, samples * draws, samples, batch)
    steps = list(range(first_step, first_step + traces.shape[1]))
    options = options.resolved(steps)

    about = _core.CalibrationRecord()
    about.name = name
    about.source = f"{name}, {len(steps)} steps"
    about.weights_source = "weights"
    about.design = "stratified"
    about.sampling = "weights"
    about.purpose = purpose
    about.samples, about.draws, about.seed, about.prior_samples = samples, draws, seed, prior_samples
    tally = _core.count(traces, options.claims, steps)
    return Certificate(_core.certify_calibrated(options, charged._core, about, tally, json.dumps(record)))


def _drawing(
    sample_weights: SampleWeights, posterior: Posterior | None, samples: int, seed: int
) -> tuple[Posterior, Callable[[int], Any], str]:
    """What is charged for, and the weights of run i; no two runs share a stream."""
    if isinstance(sample_weights, Posterior):
        if posterior is not None:
            raise ValueError("posterior: sample_weights is one already")
        weights, purpose = sample_weights, _core.stratified_purpose
        return weights, lambda i: weights.sample(seed, i, purpose), purpose
    if posterior is None:
        raise ValueError("posterior: what the weights are drawn from is needed, to charge for it")

    def draw(i: int) -> Any:
        sequence = np.random.SeedSequence([_OWN_PURPOSE, seed, i])
        return sample_weights(np.random.Generator(np.random.Philox(sequence)))

    return posterior, draw, "calibration weights, drawn by a function"


def _run_all(
    run: Callable[[Any, Any], npt.ArrayLike], draw: Callable[[int], Any], runs: int, samples: int, batch: int | None
) -> npt.NDArray[np.float64]:
    """One row per run; run i is of sample i mod N."""
    traces: npt.NDArray[np.float64] | None = None
    for first in range(0, runs, batch or 1):
        places = range(first, min(runs, first + (batch or 1)))
        weights = [draw(i) for i in places]
        indices = np.array(places) % samples
        rows = np.asarray(run(weights, indices) if batch else run(weights[0], int(indices[0])), dtype=np.float64)
        rows = rows if batch else rows[np.newaxis]
        wanted = (len(places), traces.shape[1] if traces is not None else rows.shape[-1] if rows.ndim == 2 else 0)
        if rows.shape != wanted or wanted[1] == 0:
            shape = rows.shape if batch else rows.shape[1:]
            raise ValueError(f"run: returned shape {shape} for samples {indices.tolist()[:3]}; a number per step is needed")
        if traces is None:
            traces = np.empty((runs, rows.shape[1]))
        traces[first : first + len(rows)] = rows
    assert traces is not None
    return traces
