"""Which of two or more optimizers is better: on the same problems, and by their certificates."""

from __future__ import annotations

import dataclasses
import json
import os
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, TypeAlias, Union

import numpy as np
import numpy.typing as npt

from . import _core
from ._arguments import flag, real_number, text
from .certificate import Certificate, load
from .certification import _numbers, _table_choice, whole_numbers

__all__ = ["Comparison", "PairedComparison", "Ranking", "compare", "compare_paired", "rank"]

CertificateLike: TypeAlias = Union[Certificate, str, "os.PathLike[str]"]


@dataclasses.dataclass(frozen=True)
class PairedComparison:
    """What is shown about two optimizers that ran on the same problems; all of it holds together."""

    sentences: tuple[str, ...]  #: that may be quoted
    decision: str | None  #: with `allow`: "not worse", "worse" or "undecided"
    content: Mapping[str, Any] = dataclasses.field(hash=False)  #: all counts and bounds, as ``surefoot compare --paired --json`` prints them
    text: str = dataclasses.field(repr=False)  #: as the program prints it
    record: str = dataclasses.field(repr=False)  #: what ``--record`` writes and ``surefoot verify`` computes again
    markdown: str = dataclasses.field(repr=False)  #: summary for the page of a run
    junit: str = dataclasses.field(repr=False)  #: with `allow`, a JUnit file

    def __str__(self) -> str:
        return self.text

    def save(self, path: str | os.PathLike[str]) -> None:
        """Writes the record."""
        _core.write_file(Path(path), self.record.encode())

    def verify(self) -> list[str]:
        """Computes everything from the counts again: what is wrong, a line each; empty if nothing is."""
        return _core.check_paired_record(self.record)


def compare_paired(
    a: npt.ArrayLike | str | os.PathLike[str],
    b: npt.ArrayLike | str | os.PathLike[str] | None = None,
    *,
    names: tuple[str, str] | None = None,
    claims: Sequence[str] = (),
    tolerances: Sequence[float] | None = None,
    shares: Sequence[float] = (0.5, 0.9),
    confidence: float = 0.99,
    allow: float | None = None,
    steps: Sequence[int] | None = None,
    metric: str = "value",
    anytime: bool = False,
    group: str | None = None,
    scalar: bool = False,
    value: str | None = None,
    variants: str | None = None,
    rows: str | None = None,
    where: Mapping[str, Any] | Sequence[str] | None = None,
    failed: Mapping[str, Any] | Sequence[str] | None = None,
    missing: str = "refuse",
) -> PairedComparison:
    """Which of two optimizers is better, from their results on the same problems: row i of both is problem i.

    Arrays (a row per problem, a column per step; `steps` of the columns [1, 2, ...]) or files as the program reads them. `claims`
    are successes, ``"below 1e-2 after 30"``; at `tolerances` settling times are compared. With `allow`, whether the success rate of
    the second is proven not to be lower by more than that. Arrays of one number per problem (what it is called: `metric`) are compared
    as they are, with claims ``"at most 2"``. `anytime`: all that is said holds at every number of problems.

    Arrays with three dimensions are groups x ticks x steps: group i of both is a pair, and a group is its largest tick. In files a
    column `group` names the groups, by which they are paired. Files with a result per line: `scalar` for one number per line, or
    `value`, `variants`, `rows`, `where`, `failed` and `missing` as in :func:`surefoot.certify`; one file may hold both variants, which are
    paired by the names in `rows`.

    >>> import numpy as np, surefoot
    >>> random = np.random.default_rng(1)
    >>> old = random.lognormal(size=(300, 1)) * 0.7 ** np.arange(1, 21)
    >>> found = surefoot.compare_paired(old, 0.5 * old, claims=["below 1e-2 after 12"], names=("old", "new"))
    >>> found.sentences[0].startswith("below 1e-2 after 12: the success rate of new is higher than that of old")
    True
    >>> surefoot.compare_paired(old, 0.5 * old, claims=["below 1e-2 after 12"], allow=0.05).decision
    'not worse'
    >>> times = random.lognormal(size=300)
    >>> print(surefoot.compare_paired(times, 0.5 * times, names=("old", "new"), metric="runtime").sentences[-1])
    on at least 90 % of problems new takes at most 0.501 times the runtime of old
    """
    given = [side for side in (a, b) if side is not None]
    files = [os.fspath(side) for side in given if isinstance(side, (str, os.PathLike))]
    of_text = bool(scalar or value or variants or rows or where or failed)
    if names is not None and (isinstance(names, str) or len(names) != 2):
        raise ValueError("names: must be two")
    if of_text or group is not None:
        if len(files) != len(given):
            raise ValueError(f"{'group' if group is not None else 'value'}: it is for files")
        arrays: list[Any] = []
    else:
        if b is None:
            raise ValueError("b: is missing; one file alone has both where a column names the variants")
        sides = [os.fspath(side) if isinstance(side, (str, os.PathLike)) else np.asarray(side) for side in (a, b)]
        arrays = [_core.RunTable(side, None, "") if isinstance(side, str) else _largest_ticks(side) for side in sides]
    flat = any(isinstance(side, np.ndarray) and side.ndim == 1 for side in arrays)
    options = _core.PairedOptions(
        [text("claims", claim) for claim in ([claims] if isinstance(claims, str) else claims)],
        None if tolerances is None else _numbers("tolerances", tolerances),
        _numbers("shares", shares),
        _core.delta_of_confidence(real_number("confidence", confidence)),
        None if allow is None else real_number("allow", allow),
        flat,
        text("metric", metric),
        flag("anytime", anytime),
    )
    if not arrays:
        choice = _table_choice(scalar, value, variants, rows, None, where, failed, missing)
        chosen = "" if names is None else ",".join(text("names", name) for name in names)
        if steps is not None:
            raise ValueError("steps: columns of files name their steps")
        if of_text and group is not None:
            raise ValueError("group: groups are of tables of iterations")
        if of_text:
            result = _core.compare_texts(files, chosen, choice, options)
        else:
            result = _core.compare_files(files, chosen, text("group", group), options)
    else:
        columns = next((side.shape[1] for side in arrays if isinstance(side, np.ndarray) and side.ndim == 2), 0)
        called = ("first", "second") if names is None else (text("names", names[0]), text("names", names[1]))
        of_columns = [0] if flat else list(range(1, columns + 1)) if steps is None else whole_numbers("steps", steps)
        result = _core.compare_paired(called, arrays[0], arrays[1], of_columns, options)
    record, printed, markdown, junit = result
    content = json.loads(record)
    return PairedComparison(tuple(content["sentences"]), content.get("decision"), content, printed, record, markdown, junit)


def _largest_ticks(side: npt.NDArray[Any]) -> npt.NDArray[Any]:
    """Of groups x ticks x steps the largest tick; a tick that is infinite or NaN makes it infinite."""
    if side.ndim != 3:
        return side
    if side.shape[1] == 0:
        raise ValueError("groups: have no ticks")
    return np.where(np.isfinite(side).all(axis=1), side.max(axis=1), np.inf)


@dataclasses.dataclass(frozen=True)
class Comparison:
    """What is provably better of two certificates; all of it holds together."""

    sentences: tuple[str, ...]  #: that may be quoted, with the confidence of `text`
    content: Mapping[str, Any] = dataclasses.field(hash=False)  #: as ``surefoot compare --json`` prints it
    text: str = dataclasses.field(repr=False)  #: as the program prints it

    def __str__(self) -> str:
        return self.text


@dataclasses.dataclass(frozen=True)
class Ranking:
    """All variants of some certificates in order, for one or more claims; all of it holds together."""

    best: tuple[str | None, ...]  #: for each claim the best variant; None: a tie, these samples do not decide
    content: Mapping[str, Any] = dataclasses.field(hash=False)  #: as ``surefoot compare --rank --json`` prints it
    text: str = dataclasses.field(repr=False)  #: as the program prints it

    def __str__(self) -> str:
        return self.text


def _named(name: str, given: CertificateLike, otherwise: str) -> tuple[_core.Certificate, str]:
    if isinstance(given, Certificate):
        return given._core, otherwise
    if not isinstance(given, (str, os.PathLike)):
        raise TypeError(f"{name}: is {type(given).__name__}, must be a Certificate or a file")
    return load(given)._core, os.fspath(given)


def compare(
    a: CertificateLike, b: CertificateLike, *, delta: float = 0.01, variants: Sequence[tuple[str, str]] = ()
) -> Comparison:
    """Two certificates (or their files) side by side: what is provably better, as ``surefoot compare`` says it.

    `delta` is the price of the bounds from the other side; `variants` are pairs of names, one of `a` and one of `b` [those of the
    same name, or the only ones].

    >>> import numpy as np, surefoot
    >>> traces = np.random.default_rng(1).uniform(0.1, 1, (500, 1)) * 0.7 ** np.arange(1, 31)
    >>> fast, slow = (surefoot.certify(c * traces, tolerances=[1e-3], steps=[10, 20, 30]) for c in (1.0, 50.0))
    >>> print(surefoot.compare(fast, slow).sentences[-1])
    traces (first) has more problems below 1e-3 than traces (second) at each compared iteration from 20 to 30: at least 98.6 % against at most 1.3 % after 20
    """
    pairs = [(text("variants", of_a), text("variants", of_b)) for of_a, of_b in variants]
    said, printed, sentences = _core.compare_certificates(
        _named("a", a, "first"), _named("b", b, "second"), real_number("delta", delta), pairs
    )
    return Comparison(tuple(sentences), json.loads(said), printed)


def rank(certificates: CertificateLike | Sequence[CertificateLike], claims: str | Sequence[str], *, delta: float = 0.01) -> Ranking:
    """Ranks all variants of one or more certificates by each claim, with one confidence; ties are said to be ties.

    A claim is ``"below 1e-2 after 30"``, a success rate, or ``"90% below 1e-2"``, the iterations needed.

    >>> import numpy as np, surefoot
    >>> traces = np.random.default_rng(1).uniform(0.1, 1, (500, 1)) * 0.7 ** np.arange(1, 31)
    >>> three = surefoot.certify({"a": 50 * traces, "b": traces, "c": 0.9 * traces}, tolerances=[1e-3], steps=[10, 20, 30])
    >>> surefoot.rank(three, "below 1e-3 after 20").best
    (None,)
    """
    several = [certificates] if isinstance(certificates, (Certificate, str, os.PathLike)) else list(certificates)
    named = [_named("certificates", each, f"certificate {place + 1}") for place, each in enumerate(several)]
    wanted = [claims] if isinstance(claims, str) else [text("claims", claim) for claim in claims]
    said, printed = _core.rank_certificates(named, wanted, real_number("delta", delta))
    content = json.loads(said)
    return Ranking(tuple(each.get("best") for each in content["rankings"]), content, printed)
