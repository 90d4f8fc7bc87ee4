"""Guarantees for weights that stayed where they were trained: from the losses of their runs and from what they are charged.

``surefoot_fit`` writes both files on any machine with PyTorch: ``losses.npy``, a row per run, and ``charge.json`` (KL divergence by
block, grid, digests of weights, prior and losses).
"""

from __future__ import annotations

import hashlib
import json
import math
import os
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from . import _core
from ._arguments import text
from .calibration import (
    Guarantee,
    _at_least,
    _bayes_options,
    _fresh_samples,
    _require_one_of,
    _require_pac_bayes_only,
    _steps,
)
from .certificate import Certificate
from .certification import ClaimOptions, claim_options, record_text

if TYPE_CHECKING:
    from typing_extensions import Unpack

__all__ = ["Charge", "certify_charged"]

FORMAT = "surefoot charge 1"
HOLD_OUT_PURPOSE = "hold-out weights, drawn by PyTorch"


@dataclass(frozen=True, eq=False)
class Charge:
    """What ``charge.json`` says. `read` checks its form; whether it is true nobody can know without the weights."""

    source: str
    sha256: str  #: of the file itself
    content: Mapping[str, Any]

    @classmethod
    def read(cls, path: str | os.PathLike[str]) -> Charge:
        data = Path(path).read_bytes()
        source = os.fspath(path)
        try:
            content = json.loads(data)
        except ValueError as error:
            raise _core.InputError(f"{source}: is not JSON: {error}") from None
        if not isinstance(content, dict) or content.get("format") != FORMAT:
            raise _core.InputError(f"{source}: is not a '{FORMAT}'")
        charge = cls(source, hashlib.sha256(data).hexdigest(), content)
        charge.stated()
        return charge

    @property
    def about(self) -> dict[str, Any]:
        """What the training machine says besides: whatever was given to ``Fitted.write_charge``."""
        about = self.content.get("about", {})
        return dict(about) if isinstance(about, dict) else {}

    @property
    def samples(self) -> int:
        return self._whole(self.content, "samples")

    @property
    def prior_samples(self) -> int:
        return self._whole(self.content, "prior_samples")

    def kl(self) -> float:
        """Of all blocks, to nearest; certificates round it up."""
        return math.fsum(self.stated().kl)

    def _part(self, parent: Mapping[str, Any], name: str) -> Mapping[str, Any]:
        part = parent.get(name)
        if not isinstance(part, dict):
            raise _core.InputError(f"{self.source}: has no '{name}'")
        return part

    def _whole(self, parent: Mapping[str, Any], name: str) -> int:
        value = parent.get(name)
        if not isinstance(value, int) or isinstance(value, bool) or not 0 <= value < 2**63:
            raise _core.InputError(f"{self.source}: '{name}' is {value!r}, not a whole number")
        return value

    def _number(self, parent: Mapping[str, Any], name: str) -> float:
        value = parent.get(name)
        if not isinstance(value, (int, float)) or isinstance(value, bool) or not math.isfinite(value):
            raise _core.InputError(f"{self.source}: '{name}' is {value!r}, not a number")
        return float(value)

    def _text(self, parent: Mapping[str, Any], name: str) -> str:
        value = parent.get(name)
        if not isinstance(value, str):
            raise _core.InputError(f"{self.source}: '{name}' is {value!r}, not a text")
        return value

    def stated(self) -> _core.StatedCharge:
        """Its numbers, each of the right kind."""
        weights, prior = self._part(self.content, "weights"), self._part(self.content, "prior")
        blocks = prior.get("blocks")
        if not isinstance(blocks, list) or not blocks or not all(isinstance(block, dict) for block in blocks):
            raise _core.InputError(f"{self.source}: 'blocks' is not a list of blocks of weights")
        stated = _core.StatedCharge()
        stated.sha256, stated.prior_sha256 = self._text(weights, "sha256"), self._text(prior, "sha256")
        stated.precision = self._text(weights, "precision")
        stated.lambda_max, stated.b = self._number(prior, "lambda_max"), self._number(prior, "b")
        stated.groups = [self._whole(block, "weights") for block in blocks]
        stated.positions = [self._whole(block, "position") for block in blocks]
        stated.kl = [self._number(block, "kl") for block in blocks]
        if sum(stated.groups) != self._whole(weights, "count"):
            raise _core.InputError(f"{self.source}: its blocks have {sum(stated.groups)} weights, it says {weights['count']}")
        return stated


def certify_charged(
    losses: str | os.PathLike[str],
    charge: str | os.PathLike[str] | Charge,
    *,
    guarantee: Guarantee = "pac-bayes",
    hold_out: range | None = None,
    first_step: int = 1,
    metric: str = "metric",
    unit: str = "",
    name: str = "learned",
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
    """A certificate from losses and charge alone: the weights are not read, and the certificate says so.

    Parameters
    ----------
    losses
        ``.npy``, a row per run, a column per step: what ``Fitted.losses`` returned. For pac-bayes run i is of sample i mod N with
        weights of its own, and the file is the one whose digest the charge has. For hold-out a row is of a new sample, with
        weights drawn for it (hold-out) or the means (hold-out-means).
    charge
        ``charge.json`` as ``Fitted.write_charge`` wrote it, or :class:`Charge`.
    guarantee, hold_out, first_step, metric, unit, name, candidates, prior_means, calibration_share, record, family, family_seed, ledger, look_again
        As of :func:`surefoot.calibrate`.
    **claims
        See :class:`surefoot.certification.ClaimOptions`.
    """
    _require_one_of("guarantee", guarantee, ("pac-bayes", "hold-out", "hold-out-means"))
    given = charge if isinstance(charge, Charge) else Charge.read(charge)
    source = os.fspath(losses)
    table, digest = _read_losses(source)
    first_step = _at_least("first_step", first_step, 0)
    candidates, prior_means = _at_least("candidates", candidates, 1), _at_least("prior_means", prior_means, 1)
    family, family_seed = text("family", family), _at_least("family_seed", family_seed, 0)
    metric, unit, name = text("metric", metric), text("unit", unit), text("name", name)
    stated = given.stated()
    kept = {"charge": {"file": given.source, "sha256": given.sha256}, "losses": {"file": source, "sha256": digest},
            "trained": given.about, **(record or {})}  # fmt: skip
    about = _core.CalibrationRecord()
    about.name, about.weights_source, about.sampling, about.design = name, given.source, "weights", "stratified"
    if guarantee == "pac-bayes":
        if hold_out is not None or ledger is not None or look_again:
            raise ValueError("hold_out, ledger and look_again: are for hold-out; pac-bayes counts on the training samples")
        counted = given._part(given.content, "losses")
        if given._text(counted, "sha256") != digest:
            raise _core.InputError(f"{source}: has SHA-256 {digest}, the losses of {given.source} have {counted['sha256']}")
        about.samples, about.draws = given.samples, given._whole(counted, "draws")
        about.seed, about.purpose = given._whole(counted, "seed"), given._text(counted, "purpose")
        about.prior_samples = given.prior_samples
        if len(table) != about.samples * about.draws:
            raise _core.InputError(f"{source}: has {len(table)} runs, {given.source} says {about.samples} x {about.draws}")
        bayes = _bayes_options(claims, metric, unit, calibration_share, candidates, prior_means)
        about.provenance = _core.SampleProvenance(
            _core.SampleRange(family, family_seed, _core.training_set, 0, about.samples)
        )
        steps = _steps(about, first_step, table)
        bayes = bayes.resolved(steps)
        tally = _core.count(table, bayes.claims, steps)
        return Certificate._of(_core.certify_charged(bayes, stated, about, tally, record_text("record", kept)))

    fresh = _fresh_samples(None, hold_out, guarantee)
    if len(fresh) != len(table):
        raise ValueError(f"hold_out: {hold_out} are {len(fresh)} samples, {source} has {len(table)} runs")
    if ledger is not None and not family:
        raise ValueError("family: a ledger needs a name for what the samples are drawn from")
    _require_pac_bayes_only(candidates=candidates, prior_means=prior_means, calibration_share=calibration_share)
    options = claim_options(**claims)
    options.metric, options.unit = metric, unit
    about.samples = len(table)
    if guarantee == "hold-out":
        about.seed, about.purpose = given._whole(given._part(given.content, "losses"), "seed"), HOLD_OUT_PURPOSE
    else:
        about.sampling = "means"
    look = (
        _core.SampleRange(family, family_seed, _core.hold_out_set, fresh.start, len(fresh)), f"{name}, weights {stated.sha256}",
        None if ledger is None else os.fspath(ledger), bool(look_again), None,
    )  # fmt: skip
    _core.check_look(*look)
    steps = _steps(about, first_step, table)
    options = _core.resolved(options, [steps])
    tally = _core.count(table, options, steps)
    about.provenance = _core.record_look(*look)
    return Certificate._of(_core.certify_charged_hold_out(options, stated, about, tally, record_text("record", kept)))


def _read_losses(source: str) -> tuple[np.ndarray[Any, np.dtype[np.float64]], str]:
    digest = hashlib.sha256(Path(source).read_bytes()).hexdigest()
    try:
        table = np.load(source, allow_pickle=False)
    except ValueError as error:
        raise _core.InputError(f"{source}: is not a .npy table of numbers: {error}") from None
    if table.ndim != 2 or table.dtype.kind not in "iuf" or 0 in table.shape:
        raise _core.InputError(f"{source}: is of {table.dtype} with shape {table.shape}; a row per run, a column per step is needed")
    return np.ascontiguousarray(table, dtype=np.float64), digest
