"""Guarantees for a learned optimizer of your own, from its training samples or from new ones."""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any, Literal, TypeAlias, Union

import numpy as np
import numpy.typing as npt

from . import _core
from ._arguments import text, whole_number
from .certificate import Certificate
from .certification import ClaimOptions, claim_options, record_text
from .pac_bayes import Posterior

if TYPE_CHECKING:
    from typing_extensions import Unpack

__all__ = ["calibrate"]

SampleWeights: TypeAlias = Union[Posterior, Callable[[np.random.Generator], Any]]
Guarantee: TypeAlias = Literal["pac-bayes", "hold-out", "hold-out-means"]
Design: TypeAlias = Literal["stratified", "paper"]

# Streams of these purposes belong to the drawn weights of calibrations and to nothing else.
_PURPOSES: dict[str, str] = {
    "stratified": _core.stratified_purpose,
    "paper": _core.paper_purpose,
    "hold-out": _core.hold_out_purpose,
}


def calibrate(
    sample_weights: SampleWeights,
    run: Callable[[Any, Any], npt.ArrayLike],
    *,
    samples: int,
    guarantee: Guarantee = "pac-bayes",
    design: Design = "stratified",
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
    """A certificate for any optimizer with random weights: from the very samples it was trained on, or from new ones.

    ``pac-bayes``: weights are drawn anew for every sample and run, `draws` times; failures are counted, and
    risk <= kl_inverse(kl_inverse(failures / runs, log(1/omega) / runs), B): what training learned is paid for by B.

    ``hold-out``: samples that training has not seen, weights drawn once for each; counting is exact, nothing is paid.
    ``hold-out-means``: the same with the means of a Posterior, nothing drawn.

    Parameters
    ----------
    sample_weights
        A :class:`surefoot.pac_bayes.Posterior`, or a function that draws weights from `posterior` with the given
        ``numpy.random.Generator`` and nothing else that is random; that it draws from that distribution cannot be checked
        here.
    run
        ``run(weights, i)``: runs sample i with the weights and returns the metric after each step, smaller is
        better. With `batch`, ``run(list of weights, indices)`` gives a row for each.
    samples
        N, the samples 0 .. N-1. For pac-bayes all training samples, each as drawn; for hold-out as many new ones, none of
        which training or any choice has seen.
    guarantee
        See above.
    design
        Of pac-bayes: ``stratified``, weights of its own for every run; or ``paper``: `draws` weight vectors, each run on all
        samples, and log(2/omega) / draws in place of log(1/omega) / runs.
    posterior
        What is charged for, if `sample_weights` is a function. Its prior must be on the grid (``posterior.rounded()``). Not
        needed for hold-out.
    draws, seed
        Independent weight vectors per sample (design paper: for all samples), and the seed of their streams.
    batch
        Runs at a time.
    first_step
        Step of the first number that `run` returns.
    metric, unit, name
        What is measured, and the name of the variant.
    prior_samples
        Other samples that the prior mean was trained on; none of them is among the N.
    candidates, prior_means
        Posteriors (and prior means) of which this one was chosen: they are paid for.
    calibration_share
        Of the total delta, for the drawn weights.
    record
        Kept in the certificate: how the optimizer was trained.
    **claims
        See :class:`surefoot.certification.ClaimOptions`; for pac-bayes methods are fixed (pac-bayes, grid, settling).

    >>> import numpy as np, surefoot
    >>> posterior = surefoot.pac_bayes.Posterior({"rate": [0.5]}, {"rate": -8.0}, {"rate": -1.0}).rounded()
    >>> def run(weights, i):
    ...     return (1 + i % 7) * (1 - weights["rate"][0]) ** np.arange(1, 11)
    >>> certificate = surefoot.calibrate(posterior, run, samples=2000, tolerances=[0.1], quantiles=[0.9])
    >>> certificate.success(step=10, tolerance=0.1).lower_bound > 0.9
    True

    Any function may draw the weights; on new samples that is all there is to say of them:

    >>> draw = lambda random: random.uniform(0.4, 0.6)
    >>> run = lambda rate, i: (1 + i % 7) * (1 - rate) ** np.arange(1, 11)
    >>> drawn = surefoot.calibrate(draw, run, samples=500, guarantee="hold-out", tolerances=[0.1], quantiles=[0.9])
    >>> drawn.budget(tolerance=0.1, quantile=0.9).steps
    8
    """
    _require_one_of("guarantee", guarantee, ("pac-bayes", "hold-out", "hold-out-means"))
    _require_one_of("design", design, ("stratified", "paper"))
    samples, draws = _at_least("samples", samples, 1), _at_least("draws", draws, 1)
    batch = None if batch is None else _at_least("batch", batch, 1)
    seed, prior_samples = _at_least("seed", seed, 0), _at_least("prior_samples", prior_samples, 0)
    first_step = _at_least("first_step", first_step, 0)
    candidates, prior_means = _at_least("candidates", candidates, 1), _at_least("prior_means", prior_means, 1)
    metric, unit, name = text("metric", metric), text("unit", unit), text("name", name)
    if not callable(run):
        raise TypeError(f"run: {run!r} is not a function")
    if not isinstance(sample_weights, Posterior) and not callable(sample_weights):
        raise TypeError(f"sample_weights: {sample_weights!r} is neither a Posterior nor a function")
    if isinstance(sample_weights, Posterior) and posterior is not None:
        raise ValueError("posterior: sample_weights is one already")
    known = sample_weights if isinstance(sample_weights, Posterior) else posterior

    about = _core.CalibrationRecord()
    about.name = name
    about.weights_source = "weights"
    about.sampling = "weights"
    about.design = design
    about.samples, about.draws, about.seed, about.prior_samples = samples, draws, seed, prior_samples
    if guarantee == "pac-bayes":
        bayes = _bayes_options(claims, metric, unit, calibration_share, candidates, prior_means)
        if known is None:
            raise ValueError("posterior: what the weights are drawn from is needed, to charge for it")
        if not known.on_grid:
            raise ValueError("posterior: a prior variance is not on the grid; posterior.rounded() moves it there")
        draw, about.purpose = _drawing(sample_weights, _PURPOSES[design], seed, samples if design == "paper" else 1)
        traces = _run_all(run, draw, samples * draws, samples, batch)
        steps = _steps(about, first_step, traces)
        bayes = bayes.resolved(steps)
        tally = _core.count(traces, bayes.claims, steps)
        return Certificate._of(_core.certify_calibrated(bayes, known._core, about, tally, record_text("record", record)))

    of_pac_bayes = {"design": (design, "stratified"), "draws": (draws, 1), "prior_samples": (prior_samples, 0),
                    "candidates": (candidates, 1), "prior_means": (prior_means, 1),
                    "calibration_share": (calibration_share, 0.5)}  # fmt: skip
    for what, (given, usual) in of_pac_bayes.items():
        if given != usual:
            raise ValueError(f"{what}: {given} is for pac-bayes; a hold-out runs every sample once and pays for nothing")
    options = claim_options(**claims)
    options.metric, options.unit = metric, unit
    if guarantee == "hold-out":
        draw, about.purpose = _drawing(sample_weights, _PURPOSES[guarantee], seed, 1)
    else:
        draw = _at_means(sample_weights)
        about.sampling, about.purpose, about.seed = "means", "", 0
    traces = _run_all(run, draw, samples, samples, batch)
    steps = _steps(about, first_step, traces)
    options = _core.resolved(options, [steps])
    tally = _core.count(traces, options, steps)
    charged = None if known is None else known._core
    return Certificate._of(_core.certify_hold_out(options, charged, about, tally, record_text("record", record)))


def _at_least(name: str, value: int, least: int) -> int:
    number = whole_number(name, value)
    if number < least:
        raise ValueError(f"{name}: {number} is below {least}")
    return number


def _require_one_of(name: str, value: str, known: tuple[str, ...]) -> None:
    if value not in known:
        raise ValueError(f"{name}: {value!r} is not one of {', '.join(known)}")


def _bayes_options(
    claims: ClaimOptions, metric: str, unit: str, calibration_share: float, candidates: int, prior_means: int
) -> _core.PacBayesOptions:
    fixed = {"risk_method", "quantile_method", "budget_method"} & set(claims)
    if fixed:
        raise ValueError(f"{fixed.pop()}: methods of PAC-Bayes are fixed")
    options = _core.PacBayesOptions()
    chosen = claim_options(**claims)
    chosen.risk_method, chosen.quantile_method = options.claims.risk_method, options.claims.quantile_method
    chosen.metric, chosen.unit = metric, unit
    options.claims = chosen
    options.calibration_share = calibration_share
    options.candidates = candidates
    options.prior_means = prior_means
    return options


def _steps(about: _core.CalibrationRecord, first_step: int, traces: npt.NDArray[np.float64]) -> list[int]:
    steps = list(range(first_step, first_step + traces.shape[1]))
    about.source = f"{about.name}, {len(steps)} steps"
    return steps


def _drawing(
    sample_weights: SampleWeights, purpose: str, seed: int, runs_per_draw: int
) -> tuple[Callable[[int], Any], str]:
    """The weights of run i, and the purpose of their streams; no two draws share a stream."""
    if isinstance(sample_weights, Posterior):
        weights = sample_weights

        def draw(i: int) -> Any:
            return weights.sample(seed, i, purpose)

    else:
        purpose += ", drawn by a function"
        function = sample_weights
        key = int.from_bytes(hashlib.sha256(purpose.encode()).digest()[:8], "little")

        def draw(i: int) -> Any:
            return function(np.random.Generator(np.random.Philox(np.random.SeedSequence([key, seed, i]))))

    # Drawn again for every run, so that one that changes its weights changes those of no other.
    return lambda i: draw(i // runs_per_draw), purpose


def _at_means(sample_weights: SampleWeights) -> Callable[[int], Any]:
    if not isinstance(sample_weights, Posterior):
        raise ValueError("sample_weights: hold-out-means needs a Posterior, whose means they are")
    posterior = sample_weights
    return lambda i: posterior.mean


def _run_all(
    run: Callable[[Any, Any], npt.ArrayLike], draw: Callable[[int], Any], runs: int, samples: int, batch: int | None
) -> npt.NDArray[np.float64]:
    """One row per run; run i is of sample i mod N."""
    traces: npt.NDArray[np.float64] | None = None
    for first in range(0, runs, batch or 1):
        places = range(first, min(runs, first + (batch or 1)))
        weights = [draw(i) for i in places]
        indices = np.array(places) % samples
        rows = np.asarray(run(weights, indices) if batch else run(weights[0], int(indices[0])))
        if rows.dtype.kind not in "iuf":
            raise TypeError(f"run: returned dtype {rows.dtype} for samples {indices.tolist()[:3]}, not real numbers")
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
