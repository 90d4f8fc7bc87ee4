"""Certificates: what was claimed, the counts it follows from, and its check."""

from __future__ import annotations

import dataclasses
import json
import math
import os
from collections.abc import Mapping, Sequence
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal, TypeAlias, Union

import numpy as np

from . import _core, number_text
from ._arguments import real_number, whole_number
from ._arguments import text as argument_text
from ._optional import needed, present

if TYPE_CHECKING:
    from .certification import Data, Groups

__all__ = [
    "Answer",
    "AverageClaim",
    "BudgetClaim",
    "Certificate",
    "Claim",
    "MeanClaim",
    "OtherClaim",
    "QuantileClaim",
    "SequenceClaim",
    "SuccessClaim",
    "SurvivedShift",
    "Verification",
    "load",
]

#: The name of a kind of claims: "success", "quantile", "budget", and what later versions add.
Kind: TypeAlias = str
_JSON_NAMES: dict[Kind, str] = dict(_core.claim_kinds())


@dataclasses.dataclass(frozen=True)
class SuccessClaim:
    """P(metric after `step` steps < tolerance) >= lower_bound."""

    variant: str
    step: int
    tolerance: float
    method: str
    samples: int
    failures: int
    delta: float
    empirical: float
    lower_bound: float  #: 0: says nothing
    #: 1 where the worst case is below the tolerance, else lower_bound: if what was stated for it holds. None: no worst case.
    with_worst_case: float | None = None
    under_shift: float | None = None  #: the share under any distribution within the certificate's shift. None: it has none.


@dataclasses.dataclass(frozen=True)
class Answer:
    """What a certificate says about a claim that was chosen after looking; true if it is certified."""

    variant: str
    holds: bool
    claim: str  #: with what was left out: the best share, or the fewest steps, that hold
    share: float | None  #: that was asked for, or the largest that is certified
    step: int | None
    sentence: str  #: that may be quoted; empty unless it holds
    proof: str  #: the numbers it follows from
    but: tuple[str, ...]  #: what holds instead

    def __bool__(self) -> bool:
        return self.holds


@dataclasses.dataclass(frozen=True)
class SurvivedShift:
    """How far problems may come from another distribution before a claim promises less than a tolerated share.

    Each is the largest radius, rounded down: any distribution within one of them will do.
    """

    variant: str
    claim: str
    share: float  #: that is promised under the distribution of the samples
    kl: float  #: Kullback-Leibler divergence KL(new || samples), in nats
    total_variation: float  #: half of L1
    chi_squared: float
    density_ratio: float
    gaussian: float  #: standard deviations by which the mean of a Gaussian parameter may move: sqrt(2 kl)


@dataclasses.dataclass(frozen=True)
class QuantileClaim:
    """The quantile of the metric after `step` steps is at most upper_bound."""

    variant: str
    step: int
    quantile: float
    method: str
    samples: int
    rank: int
    below: int
    at_most: int
    delta: float
    empirical: float
    upper_bound: float  #: infinite: says nothing
    #: The smaller of upper_bound and the worst case, if what was stated for it holds. None: no worst case.
    with_worst_case: float | None = None
    under_shift: float | None = None  #: the share, instead of quantile, under the certificate's shift


@dataclasses.dataclass(frozen=True)
class BudgetClaim:
    """A share `quantile` of new problems is below `tolerance` after `steps` steps.

    Method settling: and stays below it at every recorded step, up to the last; nothing is said of later ones.
    """

    variant: str
    tolerance: float
    quantile: float
    method: str
    covered_by_confidence: bool
    samples: int
    rank: int
    reached: int
    reached_before: int
    delta: float
    empirical: int | None
    steps: int | None  #: None: says nothing
    #: The smaller of steps and those of the worst case, if what was stated for it holds. None: neither says anything.
    with_worst_case: int | None = None
    under_shift: float | None = None  #: the share, instead of quantile, under the certificate's shift


@dataclasses.dataclass(frozen=True)
class AverageClaim:
    """Of groups: E[Y] <= upper_bound, Y the share of the ticks of a new group that are not below `tolerance` after `step` steps.

    Groups are weighed equally, not ticks.
    """

    variant: str
    step: int
    tolerance: float
    method: str
    samples: int  #: groups
    shares: str  #: "y:g y:g ...": g groups have a share of at most y
    delta: float
    empirical: float
    upper_bound: float  #: 1: says nothing


@dataclasses.dataclass(frozen=True)
class SequenceClaim:
    """Of one log: the average over its ticks of P(not below `tolerance` after `step` steps | ticks before) is at most upper_bound.

    It is about the past of this log, not about another one.
    """

    variant: str
    step: int
    tolerance: float
    samples: int  #: ticks
    failures: int
    delta: float
    empirical: float
    upper_bound: float  #: 1: says nothing


@dataclasses.dataclass(frozen=True)
class MeanClaim:
    """The mean of max(0, metric after `step` steps - threshold) over new problems is at most upper_bound, if the metric is in [0, range].

    Threshold 0: the mean of the metric.
    """

    variant: str
    step: int
    threshold: float
    range: float
    method: str
    samples: int
    shares: str  #: "y:n y:n ...": of n samples it is at most y (range - threshold)
    delta: float
    empirical: float
    upper_bound: float  #: range - threshold: says nothing
    cvar: Sequence[float]  #: by declared level what this claim gives; Certificate.cvar is the best of all thresholds


@dataclasses.dataclass(frozen=True)
class OtherClaim:
    """A claim of a kind that has no class of its own here: its fields by name, as the certificate has them."""

    kind: str
    variant: str
    fields: Mapping[str, Any] = dataclasses.field(hash=False)


Claim: TypeAlias = Union[SuccessClaim, QuantileClaim, BudgetClaim, AverageClaim, SequenceClaim, MeanClaim, OtherClaim]
_CLASSES: dict[Kind, Any] = {
    "success": SuccessClaim,
    "quantile": QuantileClaim,
    "budget": BudgetClaim,
    "average": AverageClaim,
    "sequence": SequenceClaim,
    "mean": MeanClaim,
}


@dataclasses.dataclass(frozen=True)
class Verification:
    """What a check of a certificate found; true if nothing differs."""

    claims: int  #: looked at
    claims_that_hold: int
    findings: tuple[str, ...]  #: one line for each thing that differs

    def __bool__(self) -> bool:
        return not self.findings


class Certificate:
    """A certificate as :func:`surefoot.certify` and the program write it; made by them or read by :func:`load`.

    The text of the certificate is all it holds, so it can be copied, pickled and compared.

    >>> import numpy as np, surefoot
    >>> certificate = surefoot.certify(np.full((200, 3), 1e-3), tolerances=[1e-2], quantiles=[0.9])
    >>> certificate
    <surefoot.Certificate: 1 variant, 13 claims, confidence 0.99>
    >>> certificate.claims[0]
    SuccessClaim(variant='traces', step=1, tolerance=0.01, method='exact', samples=200, failures=0, delta=...)
    >>> surefoot.Certificate(certificate.to_json()) == certificate
    True
    """

    def __init__(self, text: str) -> None:
        self._core = _core.Certificate(argument_text("text", text))

    @classmethod
    def _of(cls, core: _core.Certificate) -> Certificate:
        certificate = cls.__new__(cls)
        certificate._core = core
        return certificate

    @cached_property
    def _text(self) -> str:
        return self._core.text

    @cached_property
    def _content(self) -> dict[str, Any]:
        content: dict[str, Any] = json.loads(self._text)
        return content

    def to_json(self) -> str:
        """The text that the program writes to certificate.json (schema/certificate.schema.json)."""
        return self._text

    @property
    def metric(self) -> str:
        return str(self._content["metric"]["name"])

    @property
    def unit(self) -> str:
        return str(self._content["metric"]["unit"])

    @property
    def title(self) -> str:
        return str(self._content["title"])

    @property
    def delta(self) -> float:
        """The confidence is 1 - delta."""
        return float(self._content["confidence"]["delta"])

    @property
    def confidence(self) -> float:
        """1 - delta as a number, below 1; `surefoot.number_text.confidence(delta)` is the text to quote."""
        return min(1.0 - self.delta, math.nextafter(1.0, 0.0))

    @property
    def statements(self) -> tuple[str, ...]:
        """The sentences to quote, each complete in itself.

        >>> import numpy as np, surefoot
        >>> certificate = surefoot.certify(np.full((200, 3), 1e-3), metric="residual", tolerances=[1e-2], quantiles=[0.9])
        >>> print(certificate.statements[0])
        With confidence 0.99, the residual of at least 90 % of new problems is below 1e-2 after 1 iteration and stays below it (up to iteration 3).
        """
        return tuple(self._core.statements)

    @property
    def variants(self) -> tuple[str, ...]:
        """Names of the variants."""
        return tuple(variant["name"] for variant in self._content["variants"])

    @property
    def assumptions(self) -> tuple[str, ...]:
        """What the certificate rests on, in words."""
        return tuple(self._content["assumptions"])

    @property
    def if_independent(self) -> bool:
        """Whether claims hold only if the rows were independent: they were certified in spite of signs that they are not."""
        return any(variant.get("independence", {}).get("allowed", False) for variant in self._content["variants"])

    @property
    def run(self) -> Mapping[str, Any] | None:
        """How the runs were made: solver, settings, what was varied; None for tables of others."""
        run: dict[str, Any] | None = self._content["run"]
        return run

    @cached_property
    def claims(self) -> tuple[Claim, ...]:
        """All claims: success rates, then quantiles, then iteration budgets, then those of other kinds."""
        found: list[Claim] = []
        for kind in [*_CLASSES, *(name for name in _JSON_NAMES if name not in _CLASSES)]:
            for row in self._rows(kind):
                found.append(_CLASSES[kind](**row) if kind in _CLASSES else OtherClaim(kind, row["variant"], row))
        return tuple(found)

    def _rows(self, kind: Kind) -> list[dict[str, Any]]:
        rows = []
        for row in self._content["claims"].get(_JSON_NAMES[kind], []):
            row = {**row, "variant": self.variants[row["variant"]]}
            if kind == "quantile":
                row["empirical"] = _or_infinite(row["empirical"])
                row["upper_bound"] = _or_infinite(row["upper_bound"])
                if "with_worst_case" in row:
                    row["with_worst_case"] = _or_infinite(row["with_worst_case"])
            rows.append(row)
        return rows

    def _only(self, variant: str | None, found: Sequence[Claim], what: str) -> Any:
        if variant is None and len(self.variants) > 1:
            raise ValueError(f"variant: say which of {', '.join(self.variants)}")
        matching = [claim for claim in found if variant in (None, claim.variant)]
        if not matching:
            raise KeyError(f"nothing is claimed about {what}")
        return matching[0]

    @property
    def scalar(self) -> bool:
        """One number per problem, no steps: success is at most the tolerance."""
        return bool(self._content.get("scalar", False))

    def _step(self, step: int | None) -> int:
        if self.scalar != (step is None):
            raise ValueError("step: one number per problem has none" if self.scalar else "step: say which")
        return 0 if step is None else step

    def success(self, step: int | None = None, tolerance: float = np.nan, variant: str | None = None) -> SuccessClaim:
        """The success rate claimed at a step and tolerance; of scalars ``success(tolerance=...)``."""
        step = self._step(step)
        found = [c for c in self.claims if isinstance(c, SuccessClaim) and (c.step, c.tolerance) == (step, tolerance)]
        claim: SuccessClaim = self._only(variant, found, f"success at step {step} and tolerance {tolerance}")
        return claim

    def quantile(self, step: int | None = None, quantile: float = np.nan, variant: str | None = None) -> QuantileClaim:
        """The quantile claimed at a step; of scalars ``quantile(quantile=...)``.

        >>> import numpy as np, surefoot
        >>> surefoot.certify(np.random.default_rng(0).integers(0, 10, 500), quantiles=[0.9]).quantile(quantile=0.9).upper_bound
        9.0
        """
        step = self._step(step)
        found = [c for c in self.claims if isinstance(c, QuantileClaim) and (c.step, c.quantile) == (step, quantile)]
        claim: QuantileClaim = self._only(variant, found, f"quantile {quantile} at step {step}")
        return claim

    def budget(self, tolerance: float, quantile: float, variant: str | None = None) -> BudgetClaim:
        """The iteration budget claimed for a tolerance and a share of problems."""
        found = [
            c for c in self.claims if isinstance(c, BudgetClaim) and (c.tolerance, c.quantile) == (tolerance, quantile)
        ]
        claim: BudgetClaim = self._only(variant, found, f"a budget for tolerance {tolerance} and quantile {quantile}")
        return claim

    def average(self, step: int, tolerance: float, variant: str | None = None) -> AverageClaim:
        """The average of groups claimed at a step and tolerance."""
        found = [c for c in self.claims if isinstance(c, AverageClaim) and (c.step, c.tolerance) == (step, tolerance)]
        claim: AverageClaim = self._only(variant, found, f"the average of groups at step {step} and tolerance {tolerance}")
        return claim

    def sequence(self, step: int, tolerance: float, variant: str | None = None) -> SequenceClaim:
        """What is claimed of the log at a step and tolerance."""
        found = [c for c in self.claims if isinstance(c, SequenceClaim) and (c.step, c.tolerance) == (step, tolerance)]
        claim: SequenceClaim = self._only(variant, found, f"the log at step {step} and tolerance {tolerance}")
        return claim

    def ask(self, claim: str, variant: str | None = None) -> Answer:
        """Whether a claim is certified: ``"SHARE% below|at most VALUE [after K|within K]"``, chosen after looking.

        After: at step K. Within: from step K on. Without the step or the share: the best that holds.

        >>> import numpy as np, surefoot
        >>> residuals = 0.8 ** np.arange(1, 61) * np.random.default_rng(0).uniform(0.1, 1, (1000, 1))
        >>> certificate = surefoot.certify(residuals, metric="residual")
        >>> print(certificate.ask("95% below 3e-4 within 40").sentence)
        With confidence 0.99, the residual of at least 95 % of new problems is below 3e-4 after 40 iterations and stays below it (up to iteration 60).
        >>> certificate.ask("99.99% below 3e-4 within 40").holds
        False
        """
        name = variant if variant is not None else (self.variants[0] if len(self.variants) == 1 else None)
        if name is None:
            raise ValueError(f"variant: name one of {', '.join(self.variants)}")
        of, holds, asked, share, step, sentence, proof, but = self._core.ask(
            argument_text("claim", claim), argument_text("variant", name)
        )[0]
        return Answer(of, holds, asked, share, step, sentence, proof, tuple(but))

    def tolerate(self, share: float, *, claim: str | None = None, variant: str | None = None) -> tuple[SurvivedShift, ...]:
        """The shifts that claims survive if a smaller `share` of problems is enough: of `claim`, or of every declared claim that promises it.

        >>> import numpy as np, surefoot
        >>> residuals = 0.8 ** np.arange(1, 61) * np.random.default_rng(0).uniform(0.1, 1, (1000, 1))
        >>> certificate = surefoot.certify(residuals, metric="residual", tolerances=[1e-3], steps=[40], claims=["budget"])
        >>> for each in certificate.tolerate(0.95):
        ...     print(each.claim, round(each.kl, 4), round(each.gaussian, 3))
        99% below 1e-3 within 31 0.0413 0.287
        """
        return tuple(
            SurvivedShift(*each)
            for each in self._core.tolerated(
                real_number("share", share),
                "" if variant is None else argument_text("variant", variant),
                "" if claim is None else argument_text("claim", claim),
            )
        )

    def cvar(self, level: float, step: int | None = None, variant: str | None = None) -> float:
        """The smallest certified bound on the mean over the worst share 1 - level of problems; level 0: on the mean.

        Levels may be chosen after looking. `step`: the last one that is certified, unless said.

        >>> import numpy as np, surefoot
        >>> times = np.random.default_rng(1).beta(0.3, 3, size=1000)
        >>> certificate = surefoot.certify(times, range=(0, 1), thresholds=[0.27], claims=["mean"], choose="before")
        >>> f"{certificate.cvar(0):.3f} {certificate.cvar(0.9):.3f}"
        '0.107 0.485'
        """
        if not self._rows("mean"):
            raise KeyError("nothing is claimed about means: say range=(0, R)")
        if variant is None and len(self.variants) > 1:
            raise ValueError(f"variant: say which of {', '.join(self.variants)}")
        name = self.variants[0] if variant is None else argument_text("variant", variant)
        if name not in self.variants:
            raise KeyError(f"variant: {name!r} is not one of {', '.join(self.variants)}")
        steps = [row["step"] for row in self._rows("mean") if row["variant"] == name]
        return self._core.cvar(self.variants.index(name), max(steps) if step is None else whole_number("step", step), real_number("level", level))

    def table(self, kind: Kind = "budget") -> Any:
        """The claims of one kind, a row each: a pandas.DataFrame, or without pandas a dict of NumPy arrays.

        >>> import numpy as np, surefoot
        >>> certificate = surefoot.certify(np.full((200, 3), 1e-3), tolerances=[1e-2], quantiles=[0.9])
        >>> certificate.table("success")["step"].tolist()
        [1, 2, 3]
        """
        if kind not in _JSON_NAMES:
            raise ValueError(f"kind: {kind!r} is not one of {', '.join(_JSON_NAMES)}")
        rows = self._rows(kind)
        names = list(rows[0]) if rows else []
        if present("pandas"):
            import pandas

            frame = pandas.DataFrame(rows, columns=names)
            for name in ("empirical", "steps") if kind == "budget" and rows else ():
                frame[name] = frame[name].astype("Int64")
            return frame
        return {name: np.array([row[name] for row in rows]) for name in names}

    def plot(self, kind: Literal["success", "quantile"] = "success", axes: Any = None) -> Any:
        """Draws what was observed (dashed) and what is certified (solid) over the steps; needs matplotlib.

        `axes`: one Axes per variant; without them a figure is made. Returns the array of Axes.
        """
        if kind not in ("success", "quantile"):
            raise ValueError(f"kind: {kind!r} is not one of success, quantile")
        if self.scalar:
            raise ValueError("plot: one number per problem has no steps to draw it over; report() draws its distribution")
        if axes is None:
            pyplot = needed("matplotlib.pyplot")
            _, axes = pyplot.subplots(1, len(self.variants), sharey=True, squeeze=False, layout="constrained")
        axes = np.atleast_1d(np.asarray(axes, dtype=object)).ravel()
        if len(axes) != len(self.variants):
            raise ValueError(f"axes: {len(axes)} for {len(self.variants)} variants")
        parameter, bound = ("tolerance", "lower_bound") if kind == "success" else ("quantile", "upper_bound")
        rows = self._rows(kind)
        for ax, variant in zip(axes, self.variants):
            for i, value in enumerate(sorted({row[parameter] for row in rows})):
                points = [row for row in rows if row["variant"] == variant and row[parameter] == value]
                steps = [row["step"] for row in points]
                ax.plot(steps, [row["empirical"] for row in points], "--", color=f"C{i}", linewidth=1)
                ax.plot(steps, [row[bound] for row in points], color=f"C{i}", label=f"{parameter} {number_text.exactly(value)}")
            ax.set_title(variant)
            ax.set_xlabel("steps")
            if kind == "quantile" and self.unit != "dB" and all(row["empirical"] > 0 for row in rows):
                ax.set_yscale("log")
            ax.legend()
        unit = f" ({self.unit})" if self.unit else ""
        axes[0].set_ylabel("share of problems below" if kind == "success" else f"{self.metric}{unit}")
        return axes

    def report(self, folder: str | os.PathLike[str]) -> tuple[str, ...]:
        """Writes report.html, certificate.json, curves.csv and figures, as the program does.

        Returns what is missing and why, such as figures where there is no gnuplot.
        """
        return tuple(self._core.write_report(Path(folder)))

    def save(self, path: str | os.PathLike[str]) -> None:
        """Writes the certificate to a file: the old content or the new one is there, never a part."""
        _core.write_file(Path(path), self._text.encode())

    def verify(
        self,
        data: Data | Sequence[Data] | None = None,
        *,
        weights: str | os.PathLike[str] | Sequence[str | os.PathLike[str]] | None = None,
        recorded_steps: Sequence[int] | None = None,
        groups: Groups | Sequence[Groups] | Mapping[str, Groups] | None = None,
    ) -> Verification:
        """Recomputes every claim from its counts.

        With `data`, the traces it was made from (arrays or files, one per variant, in order), it also counts them again;
        with `weights`, the files of learned optimizers, it computes KL and B again. `groups` are the labels of the rows of
        arrays, where the certificate is of groups, as they were given to :func:`surefoot.certify`.

        >>> import numpy as np, surefoot
        >>> traces = np.full((200, 3), 1e-3)
        >>> certificate = surefoot.certify(traces)
        >>> bool(certificate.verify(traces))
        True
        >>> certificate.verify(2 * traces).findings[0]
        "data of variant 'traces': SHA-256 is ..."
        """
        from .certification import recount

        verifier = _core.Verifier(self._text)
        if data is not None:
            recount(verifier, self._content["variants"], data, recorded_steps, groups)
        if weights is not None:
            files = [weights] if isinstance(weights, (str, os.PathLike)) else list(weights)
            if len(files) != len(self.variants):
                raise ValueError(f"weights: {len(files)} files for {len(self.variants)} variants")
            for i, file in enumerate(files):
                verifier.reweigh(i, os.fspath(file), Path(file).read_bytes())
        return Verification(verifier.claims, verifier.claims_that_hold, tuple(verifier.findings))

    def append(
        self, more: Data | Sequence[Data], *, earlier: Data | Sequence[Data], allow_dependence: bool = False
    ) -> Certificate:
        """The certificate of these runs and `more`, under the same declarations.

        Only of a certificate that was made with ``anytime=True``, whose claims hold at every number of runs. `earlier`
        are all tables that it was made from, in their order, which are counted again; `more` is one table for each
        variant.

        >>> import numpy as np, surefoot
        >>> first, second = np.random.default_rng(1).uniform(0, 1, (2, 300, 3))
        >>> certificate = surefoot.certify(first, anytime=True, tolerances=[0.99], steps=[3])
        >>> grown = certificate.append(second, earlier=first)
        >>> grown.success(step=3, tolerance=0.99).samples, bool(grown.verify([first, second]))
        (600, True)
        """
        from .certification import append_rows

        variants = self._content["variants"]
        return Certificate._of(append_rows(self._core, variants, more, earlier, allow_dependence))

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Certificate) and self._text == other._text

    def __hash__(self) -> int:
        return hash(self._text)

    def __str__(self) -> str:
        return self._core.terminal_text()

    def __repr__(self) -> str:
        variants = f"{len(self.variants)} variant{'s' if len(self.variants) > 1 else ''}"
        confidence = number_text.confidence(self.delta)
        grouped = any("groups" in variant for variant in self._content["variants"])
        condition = f", if the {'groups' if grouped else 'rows'} were independent" if self.if_independent else ""
        return f"<surefoot.Certificate: {variants}, {len(self.claims)} claims, confidence {confidence}{condition}>"

    def _repr_html_(self) -> str:
        return self._core.summary_html()

    def __reduce__(self) -> tuple[type[Certificate], tuple[str]]:
        return Certificate, (self._text,)


def load(path: str | os.PathLike[str]) -> Certificate:
    """Reads a certificate that `save`, `report` or the program wrote; :meth:`Certificate.verify` checks it."""
    return Certificate(Path(path).read_text(encoding="utf-8"))


def _or_infinite(value: float | None) -> float:
    return float("inf") if value is None else value

