"""The best settings of anything that can be called, with a guarantee."""

from __future__ import annotations

import dataclasses
import itertools
import math
import os
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

from . import _core, bounds
from ._arguments import flag, real_number, text, whole_number
from .certificate import Certificate
from .certification import certify, claim_options
from .pairs import PairedComparison, compare_paired

__all__ = ["Tried", "Tuned", "tune"]

Settings = dict[str, Any]
Run = Callable[[Settings, int], npt.ArrayLike]

_COARSE = 7  # values of a range in the first grid
_GROWTH = 3  # of problems from rung to rung; as many times fewer candidates
_FEWEST_RACERS = 4
_FINEST_LEVEL = 5
_NEAR_ENOUGH = 1.02  # a neighbour that is this much worse on few problems runs on more
_FEWEST_SEARCHED = 8
_RUNS_BY_PROBLEM = 40


@dataclasses.dataclass(frozen=True)
class Tried:
    """Settings that the search has run."""

    settings: Mapping[str, Any] = dataclasses.field(hash=False)
    problems: int  #: that they ran on
    score: float  #: a smoothed quantile of the steps until they are solved


@dataclasses.dataclass(frozen=True)
class Tuned:
    """What :func:`tune` has found."""

    settings: Mapping[str, Any] = dataclasses.field(hash=False)
    certificate: Certificate  #: variants "default", if there is one, and "tuned"
    paired: PairedComparison | None  #: default and tuned, problem by problem
    before: int | None  #: certified steps of the default; None: there is none, or its share is not certified
    after: int | None  #: certified steps of the tuned settings; None: the share is not certified
    searched: range  #: problems that settings were chosen by
    certified: range  #: problems that nothing was chosen by
    tried: tuple[Tried, ...] = dataclasses.field(repr=False)
    failures: int  #: runs that raised an exception or gave no row; each counts as unsolved


class _Range:
    """Numbers between two ends, by their place in [0, 1]."""

    def __init__(self, name: str, low: float, high: float, logarithmic: bool) -> None:
        self.low, self.high = real_number(name, low), real_number(name, high)
        self.logarithmic = logarithmic
        if not (math.isfinite(self.low) and math.isfinite(self.high) and self.low < self.high):
            raise ValueError(f"{name}: the range {low} .. {high} is empty")
        if logarithmic and self.low <= 0:
            raise ValueError(f"{name}: a logarithmic range lies above 0, {low} does not")

    def places(self) -> list[float]:
        return [i / (_COARSE - 1) for i in range(_COARSE)]

    def near(self, place: float, level: int) -> list[float]:
        step = 1 / (_COARSE - 1) / 2**level
        return [place + move for move in (-step, step) if -1e-12 <= place + move <= 1 + 1e-12]

    def value(self, place: float) -> float:
        between = (
            self.low * (self.high / self.low) ** place if self.logarithmic else self.low + (self.high - self.low) * place
        )
        return min(max(self._few_digits(between), self.low), self.high)

    def _few_digits(self, value: float) -> float:
        """As few digits as tell about a hundred values of the range apart, some hundred by decade of a wide one."""
        if value == 0:
            return 0.0
        size = math.floor(math.log10(abs(value)))
        if self.logarithmic:
            decades = math.log10(self.high / self.low)
            wanted = size - 2 + (min(0, math.ceil(math.log10(decades))) if decades > 0 else -12)
        else:
            wanted = math.floor(math.log10(self.high - self.low) + 0.5) - 2
        places = max(wanted, size - 14)
        unit = 10.0 ** abs(places)  # a whole number: the quotient is the nearest double
        return math.floor(value * unit + 0.5) / unit if places < 0 else math.floor(value / unit + 0.5) * unit


class _Choices:
    def __init__(self, name: str, values: Sequence[Any]) -> None:
        self.values = list(values)
        if not self.values:
            raise ValueError(f"{name}: there is nothing to choose from")

    def places(self) -> list[float]:
        return [float(i) for i in range(len(self.values))]

    def near(self, place: float, level: int) -> list[float]:
        return [other for other in self.places() if other != place]

    def value(self, place: float) -> Any:
        return self.values[round(place)]


def _axis(name: str, given: Any) -> _Range | _Choices:
    if isinstance(given, tuple):
        if len(given) == 2 or (len(given) == 3 and given[2] in ("log", "linear")):
            return _Range(name, given[0], given[1], len(given) == 3 and given[2] == "log")
        raise ValueError(f'{name}: {given!r} is no range; write (low, high) or (low, high, "log")')
    if isinstance(given, (list, np.ndarray, range)):
        return _Choices(name, list(given))
    raise TypeError(f"{name}: {given!r} is neither a range (a tuple) nor choices (a list)")


Place = tuple[float, ...]


def _smoothed_quantile(times: npt.NDArray[np.float64], level: float, never: float) -> float:
    """A mean of order statistics with the weights of a normal distribution around the rank."""
    ordered = np.sort(np.minimum(times, never))
    n = len(ordered)
    deviation = max(math.sqrt(n * level * (1 - level)), 0.5)
    edges = [0.5 * math.erf((i - n * level) / (deviation * math.sqrt(2))) for i in range(n + 1)]
    weights = np.diff(edges)
    return float(weights @ ordered / weights.sum())


class _Search:
    """Runs candidates, keeps what they took, and says which is the best."""

    def __init__(
        self,
        subject: _Subject,
        axes: dict[str, _Range | _Choices],
        problems: Sequence[int],
        level: float,
        most_runs: int | None,
    ) -> None:
        self.subject, self.axes, self.level, self.most_runs = subject, axes, level, most_runs
        self.problems = problems
        self.runs = 0
        self.times: dict[Place, list[float]] = {}
        self.stopped = False

    def settings(self, place: Place) -> Settings:
        return {name: axis.value(at) for (name, axis), at in zip(self.axes.items(), place)}

    def score(self, place: Place, problems: int) -> float:
        times = np.array(self.times[place][:problems])
        return _smoothed_quantile(times, self.level, 2.0 * (self.subject.last_step or 1))

    def rung(self, places: Iterable[Place], problems: int) -> list[Place]:
        """Brings the candidates to so many problems; the best first. Empty: there were no runs left for it."""
        ordered = list(dict.fromkeys(places))
        wanted = sum(max(0, problems - len(self.times.get(place, []))) for place in ordered)
        self.stopped = self.stopped or (self.most_runs is not None and self.runs + wanted > self.most_runs)
        if self.stopped:
            return []
        for place in ordered:
            times = self.times.setdefault(place, [])
            settings = self.settings(place)
            for problem in self.problems[len(times) : problems]:
                times.append(self.subject.time(settings, problem))
        self.runs += wanted
        return sorted(ordered, key=lambda place: self.score(place, problems))

    def race(self) -> None:
        count, everything = len(self.problems), [axis.places() for axis in self.axes.values()]
        racers = list(itertools.product(*everything))
        first = problems = min(count, max(8, min(count // 40, 64)))
        fewest = len(racers) * first
        if self.most_runs is None:
            self.most_runs = max(_RUNS_BY_PROBLEM * count, fewest)
        if fewest > self.most_runs:
            raise ValueError(f"runs: {self.most_runs} are too few; the first rung alone needs {fewest}")
        while True:
            racers = self.rung(racers, problems)
            if self.stopped:
                return
            if problems == count:
                break
            racers = racers[: max(-(-len(racers) // _GROWTH), _FEWEST_RACERS)]
            problems = min(_GROWTH * problems, count)
        self.refine(racers[0], first)

    def refine(self, best: Place, first: int) -> None:
        count, level = len(self.problems), 1
        while level <= _FINEST_LEVEL:
            near = [
                best[:i] + (at,) + best[i + 1 :] for i, axis in enumerate(self.axes.values()) for at in axis.near(best[i], level)
            ]
            near = [place for place in near if place not in self.times]
            for problems in (max(count // 8, min(count, _GROWTH * first)), count // 2, count):
                if not near:
                    break
                ordered = self.rung([*near, best], problems)
                if self.stopped:
                    return
                bar = self.score(best, problems) * (1 if problems == count else _NEAR_ENOUGH)
                better = [place for place in ordered if place != best and self.score(place, problems) <= bar]
                if problems == count:
                    better = [place for place in better if self.score(place, problems) < bar]
                near = better[: _FEWEST_RACERS // 2]
            if near:
                best = near[0]
            else:
                level += 1

    def best(self) -> Place:
        return min(self.times, key=lambda place: (-len(self.times[place]), self.score(place, len(self.times[place]))))


class _Subject:
    """The function that is tuned. A run that raises an exception, or gives anything but a row as long as the others, is
    unsolved at every step."""

    def __init__(self, run: Run, tolerance: float, first_step: int) -> None:
        self.run, self.tolerance, self.first_step = run, tolerance, first_step
        self.columns = 0
        self.failures = 0
        self.first_failure = ""

    @property
    def last_step(self) -> int:
        return self.first_step + self.columns - 1 if self.columns else 0

    def row(self, settings: Settings, problem: int) -> npt.NDArray[np.float64] | None:
        try:
            row = np.asarray(self.run(dict(settings), problem), dtype=np.float64)
            if row.ndim != 1 or len(row) == 0 or (self.columns and len(row) != self.columns):
                raise ValueError(f"a result of shape {row.shape}" + (f", not of {self.columns} numbers" if self.columns else ""))
        except Exception as error:
            self.failures += 1
            self.first_failure = self.first_failure or f"{type(error).__name__}: {error} ({settings}, problem {problem})"
            return None
        self.columns = len(row)
        return row

    def time(self, settings: Settings, problem: int) -> float:
        """The first step from which on the row stays below the tolerance; a row with an infinity or NaN has failed."""
        row = self.row(settings, problem)
        if row is None or not np.isfinite(row).all():
            return math.inf
        unsolved = np.flatnonzero(~(row < self.tolerance))
        if len(unsolved) == 0:
            return float(self.first_step)
        return math.inf if unsolved[-1] == len(row) - 1 else float(self.first_step + unsolved[-1] + 1)

    def traces(self, settings: Settings, problems: range) -> npt.NDArray[np.float64]:
        rows = [self.row(settings, problem) for problem in problems]
        missing = np.full(max(self.columns, 1), np.inf)
        return np.array([missing if row is None or len(row) != len(missing) else row for row in rows])


def _target(target: str) -> tuple[float, float]:
    """Share and tolerance."""
    try:
        until = _core.Until(target + " after 1")
        tolerances = until.declare(claim_options(), False, False, False, False).tolerances
    except _core.InputError:
        tolerances = []
    if not tolerances or "below" not in target:
        raise ValueError(f"target: {target!r} is not a share below a tolerance, as in '90% below 1e-4'; the steps are what is sought")
    return until.share, tolerances[0]


def _fewest_certified(share: float, delta: float) -> int:
    low, high = 0, 1
    while int(bounds.order_statistic_rank(high, share, delta)) == 0:
        low, high = high, 2 * high
    while high - low > 1:
        middle = (low + high) // 2
        if int(bounds.order_statistic_rank(middle, share, delta)) > 0:
            high = middle
        else:
            low = middle
    return high


def tune(
    run: Run,
    space: Mapping[str, Any],
    target: str,
    *,
    problems: int,
    default: Mapping[str, Any] | None = None,
    runs: int | None = None,
    search_share: float = 0.5,
    confidence: float = 0.99,
    first_step: int = 1,
    seed: int = 0,
    metric: str = "metric",
    unit: str = "",
    allow_dependence: bool = False,
    family: str = "",
    family_seed: int = 0,
    ledger: str | os.PathLike[str] | None = None,
    look_again: bool = False,
) -> Tuned:
    """Searches the settings that reach the target in the fewest steps, and certifies them on problems that nothing was chosen by.

    Parameters
    ----------
    run
        ``run(settings, problem)`` gives the metric after each step on problem 0, 1, ...: a row of numbers, as many for all. A run
        that raises an exception is counted as unsolved.
    space
        By name: ``(low, high)`` or ``(low, high, "log")`` for a range of numbers, a list for choices.
    target
        A share below a tolerance: ``"90% below 1e-4"``. The steps are what is sought.
    problems
        How many there are. The first part of them (`search_share`) is searched, the others are run once, at the end. Problems
        of both parts must be independent: rows of the certified part are looked at, those of the search are not kept.
    default
        Settings to compare with; they need not lie in the space.
    runs
        Of the search, at most: one is settings on a problem [40 for each problem that is searched, or as many as the first
        rung needs].
    confidence
        Of all that is claimed. As with ``surefoot tune``: a quarter of the rest goes to the steps of the default, a quarter to those
        of the tuned settings, a half to the comparison; without a default all of it to the tuned settings.
    family, family_seed
        A name for the distribution of the problems, with all its constants, and the seed they are drawn with. Kept in the
        certificate.
    ledger, look_again
        File of the looks at problems. A second look at some of them, searched or certified, is an :class:`InputError`
        unless `look_again`; the certificate says how often they were looked at before.

    Examples
    --------
    >>> import numpy as np, surefoot
    >>> def gradient_descent(settings, problem):
    ...     curvature = np.random.default_rng(problem).uniform(1, 10, 5)
    ...     return np.abs(1 - settings["step"] * curvature).max() ** np.arange(1, 101)
    >>> tuned = surefoot.tune(gradient_descent, {"step": (0.01, 1, "log")}, "90% below 1e-3", problems=400, default={"step": 0.1})
    >>> tuned.settings["step"] > 0.13, tuned.after < tuned.before
    (True, True)
    """
    share, tolerance = _target(text("target", target))
    delta = _core.delta_of_confidence(real_number("confidence", confidence))
    part = real_number("search_share", search_share)
    if not 0 < part < 1:
        raise ValueError(f"search_share: {search_share} is outside (0, 1)")
    axes = {text("space", name): _axis(name, given) for name, given in space.items()}
    if not axes:
        raise ValueError("space: there is nothing to search")
    count = whole_number("problems", problems)
    needed = _fewest_certified(share, delta if default is None else delta / 4)
    searched = range(int(part * count))
    certified = range(len(searched), count)
    if len(searched) < _FEWEST_SEARCHED or len(certified) < needed:
        enough = max(math.ceil(needed / (1 - part)), math.ceil(_FEWEST_SEARCHED / part))
        raise ValueError(
            f"problems: {count} are too few to choose settings on some and certify {100 * share:g} % with confidence "
            f"{confidence:g} on the others: about {enough} are needed"
        )
    family = text("family", family)
    if ledger is not None and not family:
        raise ValueError("family: a ledger needs a name for what the problems are drawn from")
    again = flag("look_again", look_again)
    looks = [
        (
            _core.SampleRange(family, whole_number("family_seed", family_seed), _core.hold_out_set, some.start, len(some)),
            getattr(run, "__name__", "run"), None if ledger is None else os.fspath(ledger), again, None, "surefoot.tune",
        )  # fmt: skip
        for some in (searched, certified)
    ]
    for look in looks:
        _core.check_look(*look)
    subject = _Subject(run, tolerance, whole_number("first_step", first_step))
    order = np.random.default_rng(whole_number("seed", seed)).permutation(len(searched)).tolist()
    most = None if runs is None else whole_number("runs", runs)
    search = _Search(subject, axes, order, share, most)
    search.race()
    if subject.columns == 0:
        raise ValueError(f"run: none of {subject.failures} runs gave a row of numbers; the first: {subject.first_failure}")
    best = search.best()
    times = search.times[best]
    solved = sum(time < math.inf for time in times) / len(times)
    if solved < share:
        raise ValueError(
            f"target: no settings reach '{target}' within {subject.last_step} steps on the problems of the search; the best seen, "
            f"{search.settings(best)}, solve {100 * solved:.1f} % of them"
        )
    winner = search.settings(best)
    variants = {"tuned": subject.traces(winner, certified)}
    if default is not None:
        variants = {"default": subject.traces(dict(default), certified), **variants}
    dependent = flag("allow_dependence", allow_dependence)
    certificate = certify(
        variants,
        first_step=subject.first_step,
        metric=metric,
        unit=unit,
        allow_dependence=dependent,
        claims=["budget"],
        choose="before",
        tolerances=[tolerance],
        quantiles=[share],
        confidence=1 - (delta if default is None else delta / 2),
        run={"tuned": {name: str(value) for name, value in winner.items()}, "searched": len(searched), "search_runs": search.runs},
    )
    provenance = [_core.record_look(*look) for look in looks][-1]
    if family:
        certificate = Certificate._of(certificate._core.with_provenance([provenance] * len(variants)))
    paired = None
    if default is not None:
        paired = compare_paired(
            variants["default"],
            variants["tuned"],
            names=("default", "tuned"),
            tolerances=[tolerance],
            shares=[0.5, share] if share > 0.5 else [share],
            confidence=1 - delta / 2,
            steps=list(range(subject.first_step, subject.last_step + 1)),
            metric=metric,
        )

    def steps(variant: str) -> int | None:
        return certificate.budget(tolerance=tolerance, quantile=share, variant=variant).steps

    tried = tuple(Tried(search.settings(place), len(found), search.score(place, len(found))) for place, found in search.times.items())
    return Tuned(
        winner, certificate, paired, None if default is None else steps("default"), steps("tuned"), searched, certified, tried, subject.failures
    )
