"""Certificates in service: a stream of solves against what was certified, with the numbers of `surefoot monitor`."""

from __future__ import annotations

import dataclasses
import math
import os
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from . import _core
from .certificate import Certificate, load

__all__ = ["Alarm", "ClaimAlarm", "Monitor"]


@dataclasses.dataclass(frozen=True)
class ClaimAlarm:
    """What an alarm says about one claim."""

    claim: str
    rate: float  #: certified
    evidence: float  #: against this claim alone
    failures: int  #: since its rate seems to have changed
    solves: int  #: the same

    @property
    def present_rate(self) -> float:
        """An estimate; NaN if nothing seems to have changed."""
        return self.failures / self.solves if self.solves else math.nan


@dataclasses.dataclass(frozen=True)
class Alarm:
    """Solves count from 1."""

    solve: int
    evidence: float
    strongest: str  #: the claim with the most evidence
    claims: tuple[ClaimAlarm, ...]
    reference_evidence: float | None  #: that the distribution has changed; None without a reference
    text: str  #: as the program says it

    def __str__(self) -> str:
        return self.text


def _alarm(said: Any) -> Alarm:
    solve, _, evidence, strongest, claims, reference, text = said
    return Alarm(solve, evidence, strongest, tuple(ClaimAlarm(*claim) for claim in claims), reference, text)


class Monitor:
    """Says, inside a loop, when a certified failure rate no longer holds.

    >>> import numpy as np, surefoot
    >>> monitor = surefoot.Monitor(rate=0.01, tolerance=1e-3)
    >>> residuals = np.where(np.random.default_rng(0).uniform(size=2000) < 0.05, 1.0, 1e-6)  # 5 % fail
    >>> next(alarm.solve for alarm in map(monitor.update, residuals) if alarm)
    381

    ``certificate`` is a :class:`Certificate` or the path of one, ``claims`` are written as for ``certificate.ask``; without them the success
    rates at the last step are watched, for every tolerance. Or ``rate`` is a rate from elsewhere: a solve fails unless it is below ``tolerance``.

    While every solve fails each claim with at most the certified probability, whatever happened before it, the mean number of solves to an
    alarm is at least ``arl``; with ``alpha`` instead, an alarm is ever raised with probability at most ``alpha``. A certificate from
    independent samples does not promise this of solves that depend on those before them: ``monitor.promise`` says it in full.

    With ``outcomes`` values are 0, and 1 where the solve failed. ``reference`` are values of the metric while all was well, one per problem:
    then any change of its distribution is watched too; ``seed`` orders equal values.
    """

    def __init__(
        self,
        certificate: Certificate | str | os.PathLike[str] | None = None,
        claims: str | Sequence[str] = (),
        *,
        variant: str = "",
        rate: float | None = None,
        tolerance: float | None = None,
        arl: float = 1e6,
        alpha: float | None = None,
        outcomes: bool = False,
        reference: npt.ArrayLike | None = None,
        seed: int = 0,
    ) -> None:
        if (certificate is None) == (rate is None):
            raise _core.InputError("Monitor: needs a certificate or a rate, and not both")
        if alpha is not None and not 0 < alpha < 1:
            raise _core.InputError(f"alpha: {alpha} is not between 1e-15 and 1")
        values = None if reference is None else np.asarray(reference, dtype=float)
        rest = (float(arl), float(alpha or 0), bool(outcomes), values, int(seed))
        if rate is not None:
            if not outcomes and tolerance is None:
                raise _core.InputError("tolerance: a solve fails unless it is below it; needed with a rate unless outcomes are given")
            self._watch = _core.Watch.of_rate(float(rate), float(tolerance or 0), *rest)
            return
        if not isinstance(certificate, Certificate):
            assert certificate is not None
            certificate = load(certificate)
        words = [claims] if isinstance(claims, str) else list(claims)
        self._watch = _core.Watch(certificate._core, words, variant, *rest)

    def update(self, value: float) -> Alarm | None:
        """The metric of one solve (or its outcome); NaN is a failure. An alarm, or None."""
        said = self._watch.update(value)
        return None if said is None else _alarm(said)

    def update_many(self, values: npt.ArrayLike) -> list[Alarm]:
        """The metrics of many solves, in their order; every alarm."""
        return [_alarm(said) for said in self._watch.update_many(np.asarray(values, dtype=float))]

    @property
    def solves(self) -> int:
        """How many there were."""
        return self._watch.solves

    @property
    def alarms(self) -> int:
        """How many there were; a test (``alpha``) raises one."""
        return self._watch.alarms

    @property
    def evidence(self) -> float:
        """Against all that is watched; an alarm is raised at ``threshold``."""
        return self._watch.evidence

    @property
    def threshold(self) -> float:
        """``arl``, or one over ``alpha``."""
        return self._watch.threshold

    @property
    def claims(self) -> list[tuple[str, float, int]]:
        """Each claim, its certified failure rate, and how many solves have failed it."""
        return self._watch.claims

    @property
    def promise(self) -> list[str]:
        """What an alarm means, and what a certificate does not promise, in sentences."""
        return self._watch.promise()

    def metrics(self) -> str:
        """For Prometheus, in its text format."""
        return self._watch.metrics()

    def state(self) -> bytes:
        """Everything, as ``surefoot monitor --state`` keeps it."""
        return self._watch.state()

    def restore(self, state: bytes, name: str = "state") -> None:
        """Goes on from a state; InputError names what differs if it is of another certificate or claim."""
        self._watch.restore(state, name)

    def save(self, path: str | os.PathLike[str]) -> None:
        """The state in a file, which is replaced at once."""
        target = Path(path)
        temporary = target.with_name(f".{target.name}.{os.getpid()}")
        temporary.write_bytes(self.state())
        os.replace(temporary, target)

    def __repr__(self) -> str:
        return f"<surefoot.Monitor: {self.solves} solves, {self.alarms} alarms, evidence {self.evidence:.3g} of {self.threshold:.3g}>"
