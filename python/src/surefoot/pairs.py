"""Two optimizers on the same problems."""

from __future__ import annotations

import dataclasses
import json
import os
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

from . import _core
from ._arguments import real_number, text
from .certification import _numbers, whole_numbers

__all__ = ["PairedComparison", "compare_paired"]


@dataclasses.dataclass(frozen=True)
class PairedComparison:
    """What is shown about two optimizers that ran on the same problems; all of it holds together."""

    sentences: tuple[str, ...]  #: that may be quoted
    decision: str | None  #: with `allow`: "not worse", "worse" or "undecided"
    content: Mapping[str, Any] = dataclasses.field(hash=False)  #: all counts and bounds, as ``surefoot compare --paired --json`` prints them
    text: str = dataclasses.field(repr=False)  #: as the program prints it

    def __str__(self) -> str:
        return self.text


def compare_paired(
    a: npt.ArrayLike | str | os.PathLike[str],
    b: npt.ArrayLike | str | os.PathLike[str],
    *,
    names: tuple[str, str] = ("first", "second"),
    claims: Sequence[str] = (),
    tolerances: Sequence[float] | None = None,
    shares: Sequence[float] = (0.5, 0.9),
    confidence: float = 0.99,
    allow: float | None = None,
    steps: Sequence[int] | None = None,
    metric: str = "value",
    anytime: bool = False,
) -> PairedComparison:
    """Which of two optimizers is better, from their results on the same problems: row i of both is problem i.

    Arrays (a row per problem, a column per step; `steps` of the columns [1, 2, ...]) or files as the program reads them. `claims`
    are successes, ``"below 1e-2 after 30"``; at `tolerances` settling times are compared. With `allow`, whether the success rate of
    the second is proven not to be lower by more than that. Arrays of one number per problem (what it is called: `metric`) are compared
    as they are, with claims ``"at most 2"``. `anytime`: all that is said holds at every number of problems.

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
    sides = [_core.RunTable(os.fspath(side), None, "") if isinstance(side, (str, os.PathLike)) else np.asarray(side) for side in (a, b)]
    scalar = any(isinstance(side, np.ndarray) and side.ndim == 1 for side in sides)
    columns = next((side.shape[1] for side in sides if isinstance(side, np.ndarray) and side.ndim == 2), 0)
    said, printed = _core.compare_paired(
        (text("names", names[0]), text("names", names[1])),
        sides[0],
        sides[1],
        [0] if scalar else list(range(1, columns + 1)) if steps is None else whole_numbers("steps", steps),
        [text("claims", claim) for claim in ([claims] if isinstance(claims, str) else claims)],
        None if tolerances is None else _numbers("tolerances", tolerances),
        _numbers("shares", shares),
        _core.delta_of_confidence(real_number("confidence", confidence)),
        None if allow is None else real_number("allow", allow),
        scalar,
        text("metric", metric),
        bool(anytime),
    )
    content = json.loads(said)
    return PairedComparison(tuple(content["sentences"]), content.get("decision"), content, printed)
