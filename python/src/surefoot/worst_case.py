"""What no problem of a class can exceed after k steps, with a proof that needs no solver to check.

>>> from surefoot import worst_case
>>> proof = worst_case.averaged(0.5, steps=70)
>>> round(proof.bound, 7)
0.0727549
>>> proof.verify()
[]

A method of your own is how its points follow from what its oracles return:

>>> method = worst_case.Method()
>>> f = method.smooth(L=1.0)
>>> x = method.start
>>> for _ in range(5):
...     x = x - 1.0 * f(x)
>>> method.measure_gap(x)
>>> round(method.prove().bound, 6)  # 1/(4 * 5 + 2)
0.045455

The coefficients of points are doubles, and the proof is of the method with exactly these.
"""

from __future__ import annotations

import json
import os
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any

from . import _core
from ._core import Vector

__all__ = ["Method", "Oracle", "Proof", "Vector", "averaged", "fista", "gradient", "load", "methods", "named"]


class Proof:
    """What was proven: bounds, each with its multipliers, as the text of a proof.json."""

    def __init__(self, text: str) -> None:
        self._text = text
        self._json: dict[str, Any] = json.loads(text)

    @property
    def text(self) -> str:
        """The JSON that `surefoot verify` reads."""
        return self._text

    @property
    def bounds(self) -> dict[int, float]:
        """Bound by number of steps; a number that is missing was not proven. A method of your own: by 0."""
        return {row["steps"]: row["bound"] for row in self._json["bounds"]}

    @property
    def bound(self) -> float:
        """The bound after the largest number of steps; infinity if none was proven."""
        return self.bounds[max(self.bounds)] if self.bounds else float("inf")

    @property
    def digest(self) -> str:
        """SHA-256 of the proof."""
        return str(self._json["digest"]["value"])

    @property
    def sentences(self) -> list[str]:
        """What is proven, in words."""
        return _core.proof_sentences(self._text)

    def multipliers(self, steps: int) -> list[tuple[int, int, float]]:
        """(i, j, multiplier) of the conditions between calls i and j, -1 the solution."""
        for row in self._json["bounds"]:
            if row["steps"] == steps:
                return [(i, j, y * 2.0 ** -row["exponent"]) for i, j, y in row["pairs"]]
        raise KeyError(steps)

    def verify(self) -> list[str]:
        """What is wrong with it, found without a solver; empty if everything is proven."""
        return _core.replay_proof(self._text)

    def save(self, path: str | os.PathLike[str]) -> None:
        """Writes proof.json."""
        Path(path).write_text(self._text, encoding="utf-8")

    def __repr__(self) -> str:
        return f"Proof({self.bounds})"


def load(path: str | os.PathLike[str]) -> Proof:
    """Reads a proof that `save` or the program wrote; :meth:`Proof.verify` checks it."""
    return Proof(Path(path).read_text(encoding="utf-8"))


class Oracle:
    """An operator or a function that a method may call; made by the methods of :class:`Method`."""

    def __init__(self, method: _core.WorstCaseMethod, number: int) -> None:
        self._method = method
        self._number = number

    def __call__(self, point: Vector) -> Vector:
        """What it returns at a point: T z - z of a map (averaged, Lipschitz), else a gradient or an element."""
        return self._method.call(self._number, point)

    def implicit(self, v: Vector, step: float) -> Vector:
        """The point x = v - step * s with s what it returns at x: proximal operator, resolvent."""
        return self._method.implicit(self._number, v, step)


class Method:
    """A method on an unknown problem: declare oracles, make points, say what is measured, `prove`.

    All oracles share the solution, where each returns 0 (docs: worst cases).
    """

    def __init__(self) -> None:
        self._method = _core.WorstCaseMethod()

    @property
    def start(self) -> Vector:
        """The point z^0."""
        return _core.WorstCaseMethod.start()

    def averaged(self, alpha: float) -> Oracle:
        """T = (1 - alpha) I + alpha N with N nonexpansive; 1 is nonexpansive itself."""
        return self._oracle("averaged", alpha)

    def lipschitz(self, factor: float) -> Oracle:
        """A map with |T z - T w| <= factor |z - w|."""
        return self._oracle("lipschitz", factor)

    def monotone(self, mu: float = 0.0) -> Oracle:
        """A monotone operator; mu > 0: strongly."""
        return self._oracle("monotone", mu)

    def cocoercive(self, beta: float) -> Oracle:
        """An operator with <dx, dg> >= beta |dg|^2."""
        return self._oracle("cocoercive", beta)

    def smooth(self, L: float, mu: float = 0.0) -> Oracle:
        """The gradient of an L-smooth convex function; mu > 0: strongly convex."""
        return self._oracle("function", mu, L)

    def convex(self, mu: float = 0.0) -> Oracle:
        """A subgradient of a convex function."""
        return self._oracle("function", mu, float("inf"))

    def measure_norm(self, vector: Vector) -> None:
        """The metric is the norm of this vector."""
        self._method.measure_norm(vector)

    def measure_gap(self, point: Vector) -> None:
        """The metric is the sum of all functions at this point minus its minimum."""
        self._method.measure_gap(point)

    def assume_gap(self) -> None:
        """Assume a bound on the gap at the start instead of on the distance."""
        self._method.assume_gap()

    def prove(self, start: float = 1.0) -> Proof:
        """The proof for a start within this distance of the solution (or with this gap)."""
        return Proof(self._method.prove(start))

    def _oracle(self, kind: str, a: float, b: float = 0.0) -> Oracle:
        return Oracle(self._method, self._method.add(kind, a, b))


def methods() -> list[str]:
    """Names for :func:`named`."""
    return _core.worst_case_methods()


def named(
    method: str,
    steps: int | Iterable[int],
    *,
    metric: str = "",
    dist0: float | None = None,
    gap0: float | None = None,
    step: float | Sequence[float] = (),
    **parameters: float,
) -> Proof:
    """The worst case of a method by name after each of `steps` steps; `surefoot worst-case METHOD --help` lists parameters.

    >>> named("halpern", 4).bounds[4] >= 0.5
    True
    """
    question = _core.WorstCaseQuestion()
    question.method = method
    question.metric = metric
    if dist0 is not None and gap0 is not None:
        raise _core.InputError("gap0: either the distance or the gap at the start is given, not both")
    question.set_initial("distance" if gap0 is None else "gap")
    for name, value in parameters.items():
        question.set_parameter(name, value)
    question.set_step([step] if isinstance(step, (int, float)) else list(step))
    start = gap0 if gap0 is not None else 1.0 if dist0 is None else dist0
    return Proof(question.prove([steps] if isinstance(steps, int) else list(steps), start))


def averaged(alpha: float, steps: int | Iterable[int], *, dist0: float = 1.0, metric: str = "residual") -> Proof:
    """Residual |z^k - z^{k-1}| of the fixed-point iteration of an alpha-averaged operator.

    >>> averaged(0.5, [1, 2]).bounds[1] >= 1.0
    True
    """
    return named("averaged", steps, alpha=alpha, dist0=dist0, metric=metric)


def gradient(L: float, steps: int | Iterable[int], *, mu: float = 0.0, dist0: float = 1.0, metric: str = "gap") -> Proof:
    """Gradient descent with step 1/L on an L-smooth convex function.

    >>> round(gradient(1.0, 10).bound * 42, 6)
    1.0
    """
    return named("gradient", steps, L=L, mu=mu, dist0=dist0, metric=metric)


def fista(L: float, steps: int | Iterable[int], *, dist0: float = 1.0, metric: str = "gap") -> Proof:
    """Nesterov's method with FISTA's momentum on an L-smooth convex function.

    >>> fista(1.0, 10).bound < 2 / 11**2
    True
    """
    return named("fista", steps, L=L, dist0=dist0, metric=metric)
