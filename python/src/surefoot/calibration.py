"""Guarantees for a learned optimizer of your own, from its training samples or from new ones."""

from __future__ import annotations

import hashlib
import os
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal, TypeAlias, Union

import numpy as np
import numpy.typing as npt

from . import _core
from ._arguments import text, whole_number
from ._progress import shown
from .certificate import Certificate
from .certification import ClaimOptions, claim_options, record_text
from .pac_bayes import Posterior

if TYPE_CHECKING:
    from typing_extensions import Unpack

__all__ = ["Observed", "calibrate", "validate"]

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
    samples: int | None = None,
    hold_out: range | None = None,
    guarantee: Guarantee = "pac-bayes",
    design: Design = "stratified",
    posterior: Posterior | None = None,
    draws: int = _core.defaults["draws"],
    seed: int = _core.defaults["seed"],
    batch: int | None = None,
    first_step: int = 1,
    metric: str = "metric",
    unit: str = "",
    name: str = "learned",
    prior_samples: int = _core.defaults["prior_samples"],
    candidates: int = 1,
    prior_means: int = 1,
    calibration_share: float = _core.defaults["calibration_share"],
    record: Mapping[str, Any] | None = None,
    family: str = "",
    family_seed: int = 0,
    ledger: str | os.PathLike[str] | None = None,
    look_again: bool = False,
    **claims: Unpack[ClaimOptions],
) -> Certificate:
    """A certificate for any optimizer with random weights: from the very samples it was trained on, or from new ones.

    ``pac-bayes``: weights are drawn anew for every sample and run, `draws` times; failures are counted, and
    risk <= kl_inverse(kl_inverse(failures / runs, log(1/omega) / runs), B): B accounts for what training learned.

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
        N, for pac-bayes: all training samples 0 .. N-1, each as drawn.
    hold_out
        For hold-out: ``range(first, end)``, samples that training or any choice has not seen. They are good for one look;
        :func:`validate` looks at others as often as you like.
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
        Posteriors (and prior means) of which this one was chosen: the confidence level covers the choice.
    calibration_share
        Of the total delta, for the drawn weights.
    record
        Kept in the certificate: how the optimizer was trained.
    family, family_seed
        A name for the distribution of the samples, with all its constants, and the seed they are drawn with: whoever uses
        the same name and seed has the same samples. Kept in the certificate.
    ledger
        File of the looks at hold-out samples (``ledger.jsonl`` of ``surefoot train``, or one that many share). A second look
        at the same samples is an :class:`InputError`. Without one the certificate says that earlier looks are unknown.
    look_again
        Allow it; the certificate says how often they were looked at before.
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
    >>> drawn = surefoot.calibrate(
    ...     draw, run, hold_out=range(500), guarantee="hold-out", tolerances=[0.1], quantiles=[0.9])
    >>> drawn.budget(tolerance=0.1, quantile=0.9).steps
    8
    """
    _require_one_of("guarantee", guarantee, ("pac-bayes", "hold-out", "hold-out-means"))
    _require_one_of("design", design, ("stratified", "paper"))
    fresh = None if guarantee == "pac-bayes" else _fresh_samples(samples, hold_out, guarantee)
    if fresh is None and (hold_out is not None or ledger is not None or look_again):
        raise ValueError("hold_out, ledger and look_again: are for hold-out; pac-bayes counts on the training samples")
    if fresh is not None:
        samples = len(fresh)
    elif samples is None:
        raise ValueError("samples: how many training samples there are is needed")
    samples, draws = _at_least("samples", samples, 1), _at_least("draws", draws, 1)
    family, family_seed = text("family", family), _at_least("family_seed", family_seed, 0)
    if ledger is not None and not family:
        raise ValueError("family: a ledger needs a name for what the samples are drawn from")
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
        about.provenance = _core.SampleProvenance(
            _core.SampleRange(family, family_seed, _core.training_set, 0, samples)
        )
        traces = _run_all(run, draw, samples * draws, range(samples), batch)
        steps = _steps(about, first_step, traces)
        bayes = bayes.resolved(steps)
        tally = _core.count(traces, bayes.claims, steps)
        return Certificate._of(_core.certify_calibrated(bayes, known._core, about, tally, record_text("record", record)))

    _require_pac_bayes_only(design=design, draws=draws, prior_samples=prior_samples, candidates=candidates,
                            prior_means=prior_means, calibration_share=calibration_share)  # fmt: skip
    options = claim_options(**claims)
    options.metric, options.unit = metric, unit
    if guarantee == "hold-out":
        draw, about.purpose = _drawing(sample_weights, _PURPOSES[guarantee], seed, 1)
    else:
        draw = _at_means(sample_weights)
        about.sampling, about.purpose, about.seed = "means", "", 0
    assert fresh is not None
    charged = None if known is None else known._core
    subject = name if known is None else f"{name}, weights {known._sha256}"
    look = (
        _core.SampleRange(family, family_seed, _core.hold_out_set, fresh.start, len(fresh)), subject,
        None if ledger is None else os.fspath(ledger), bool(look_again),
        None if known is None else known.metadata.get("looks"),
    )  # fmt: skip
    _core.check_look(*look)
    traces = _run_all(run, draw, samples, fresh, batch)
    steps = _steps(about, first_step, traces)
    options = _core.resolved(options, [steps])
    tally = _core.count(traces, options, steps)
    about.provenance = _core.record_look(*look)
    return Certificate._of(_core.certify_hold_out(options, charged, about, tally, record_text("record", record)))


@dataclass(frozen=True, eq=False)
class Observed:
    """What was observed on validation samples: numbers to choose by, without any guarantee."""

    samples: int
    steps: list[int]
    _values: npt.NDArray[np.float64]

    def _at(self, step: int) -> npt.NDArray[np.float64]:
        if step not in self.steps:
            raise ValueError(f"step: {step} was not recorded, {self.steps[0]} .. {self.steps[-1]} were")
        return self._values[:, self.steps.index(step)]

    def success(self, step: int, tolerance: float) -> float:
        """The share of samples below the tolerance after `step` steps; a run that has diverged is not."""
        return float(np.mean(self._at(step) < tolerance))

    def quantile(self, step: int, quantile: float) -> float:
        """The least value that a share `quantile` of the samples does not exceed after `step` steps."""
        if not 0 < quantile < 1:
            raise ValueError(f"quantile: {quantile} is outside (0, 1)")
        rank = int(np.ceil(quantile * self.samples))
        return float(np.partition(self._at(step), rank - 1)[rank - 1])


def validate(
    sample_weights: SampleWeights,
    run: Callable[[Any, Any], npt.ArrayLike],
    *,
    samples: int,
    at_means: bool = False,
    seed: int = _core.defaults["seed"],
    batch: int | None = None,
    first_step: int = 1,
) -> Observed:
    """What is observed on validation samples: for looking as often as one likes. Nothing is certified.

    ``run(weights, i)`` runs *validation* sample i, 0 <= i < samples: neither one that training has seen, or observed numbers
    flatter, nor one that :func:`calibrate` will certify on. Weights are drawn for each sample, or the means of a Posterior are
    run (`at_means`).

    >>> draw = lambda random: random.uniform(0.4, 0.6)
    >>> run = lambda rate, i: (1 + i % 7) * (1 - rate) ** np.arange(1, 11)
    >>> validate(draw, run, samples=200).success(step=10, tolerance=0.1)
    1.0
    """
    samples, first_step = _at_least("samples", samples, 1), _at_least("first_step", first_step, 0)
    batch = None if batch is None else _at_least("batch", batch, 1)
    purpose = "validation weights"
    draw = _at_means(sample_weights) if at_means else _drawing(sample_weights, purpose, _at_least("seed", seed, 0), 1)[0]
    traces = _run_all(run, draw, samples, range(samples), batch)
    # A run with an infinity or NaN has failed from there on.
    traces[np.logical_or.accumulate(~np.isfinite(traces), axis=1)] = np.inf
    return Observed(samples, list(range(first_step, first_step + traces.shape[1])), traces)


def _fresh_samples(samples: int | None, hold_out: range | None, guarantee: str) -> range:
    if samples is not None or hold_out is None:
        raise ValueError(f"hold_out: {guarantee} needs the range of the new samples, hold_out=range(first, end)")
    if not isinstance(hold_out, range):
        raise TypeError(f"hold_out: {hold_out!r} is not a range")
    if hold_out.step != 1 or hold_out.start < 0 or not hold_out:
        raise ValueError(f"hold_out: {hold_out!r} does not hold consecutive samples from 0 on")
    return hold_out


def _require_pac_bayes_only(**given: Any) -> None:
    usual = {"design": "stratified", "draws": 1, "prior_samples": 0, "candidates": 1, "prior_means": 1,
             "calibration_share": _core.defaults["calibration_share"]}  # fmt: skip
    for what, value in given.items():
        if value != usual[what]:
            raise ValueError(f"{what}: {value} is for pac-bayes; a hold-out runs every sample once and pays for nothing")


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
    mean = sample_weights.mean
    return lambda i: mean


def _run_all(
    run: Callable[[Any, Any], npt.ArrayLike], draw: Callable[[int], Any], runs: int, samples: range, batch: int | None
) -> npt.NDArray[np.float64]:
    """One row per run; run i is of sample i mod N of those named."""
    traces: npt.NDArray[np.float64] | None = None
    for first in shown(range(0, runs, batch or 1), "runs", "runs" if not batch else f"batches of {batch}"):
        places = range(first, min(runs, first + (batch or 1)))
        weights = [draw(i) for i in places]
        indices = samples.start + np.array(places) % len(samples)
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
