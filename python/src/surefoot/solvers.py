"""Real solvers, run as they are: the packages osqp, scs and clarabel on every instance of a family, step by step.

Each function returns :class:`surefoot.Traces`: the metric after every recorded iteration of the solver's own binary, for
:func:`surefoot.certify`. How an iteration count is reached is recorded as ``stepping``:

- ``kept state``: one iteration at a time, the solver's state kept between them (osqp without adaptive rho);
- ``reruns``: from the start again with a rising limit, where the solver allows no other way. That costs the sum of the
  recorded iteration counts, so choose ``record``, or a short horizon.

A solver that stops by its own tests has its last point at all later steps.

Metrics, the same for all solvers, computed from the returned point: ``kkt`` (largest of the primal residual, the dual
residual and the duality gap; multipliers are taken as the solver returns them, in the dual cone), ``violation`` (of the constraints by x), ``dual``, ``gap`` (|f(x) - f*|), ``distance``
(||x - x*||), ``nmse`` (the same in dB), or a function of (x, y, instance). Those with a star solve every instance
accurately first.
"""

from __future__ import annotations

import importlib.metadata
import warnings
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import Any, Literal, TypeAlias, Union

import numpy as np
import numpy.typing as npt

from ._optional import needed
from ._progress import shown
from .certification import Traces, whole_numbers
from .families import ConeFamily, QPFamily

__all__ = ["clarabel", "osqp", "scs"]

Vector: TypeAlias = npt.NDArray[np.float64]
OwnMetric: TypeAlias = Callable[[Vector, Vector, int], float]
SolverMetric: TypeAlias = Union[Literal["kkt", "violation", "dual", "gap", "distance", "nmse"], OwnMetric]
# Points (x, y) after each recorded iteration of one instance.
Points: TypeAlias = Iterator[tuple[Vector, Vector]]

_NAMES = ("kkt", "violation", "dual", "gap", "distance", "nmse")


def osqp(
    family: QPFamily,
    iterations: int = 200,
    *,
    metric: SolverMetric = "kkt",
    record: Sequence[int] | None = None,
    start: npt.ArrayLike | None = None,
    name: str = "osqp",
    **settings: Any,
) -> Traces:
    """Runs the package osqp on every instance.

    `settings` are the package's; without any, its defaults but for the stopping test, which is off so that every iteration
    is seen. With ``adaptive_rho`` on (the package's default), iterations are reached by reruns. `start`: (x, y) per
    instance, n + m numbers a row [cold start].

    >>> import numpy as np, surefoot
    >>> lower = np.random.default_rng(0).uniform(0, 1, (20, 2))
    >>> family = surefoot.QPFamily(np.eye(2), np.eye(2), np.zeros(2), lower, np.full(2, np.inf))
    >>> traces = surefoot.solvers.osqp(family, 50, adaptive_rho=False)
    >>> traces.values.shape, traces.run["stepping"], traces.run["varied"]
    ((20, 50), 'kept state', ['l'])
    """
    package = needed("osqp")
    _require_family(family, QPFamily, "osqp")
    steps = _recorded(iterations, record)
    n = family.variables
    given = {"verbose": False, "check_termination": 0, "eps_abs": 1e-300, "eps_rel": 1e-300, **settings}
    kept = not given.get("adaptive_rho", True)
    starts = None if start is None else _starts(start, family, n + family.constraints)

    def solver_of(i: int, limit: int) -> Any:
        solver = package.OSQP()
        solver.setup(
            family.matrix("P", i).scipy(), family.row("q", i), family.matrix("A", i).scipy(), family.row("l", i),
            family.row("u", i), **{**given, "max_iter": limit},
        )  # fmt: skip
        if starts is not None:
            solver.warm_start(x=starts[i, :n], y=starts[i, n:])
        return solver

    def points(i: int) -> Points:
        if not kept:
            for k in steps:
                result = solver_of(i, k).solve(raise_error=False)
                yield _point(result.x), _point(result.y)
            return
        solver = solver_of(i, 1)
        at = 0
        for k in steps:
            while at < k:
                result = solver.solve(raise_error=False)
                at += 1
            yield _point(result.x), _point(result.y)

    record_of = _run_record("osqp", "kept state" if kept else "reruns", settings, family, start is not None)
    return _traces(family, steps, metric, points, name, record_of, starts)


def scs(
    family: ConeFamily,
    iterations: int = 200,
    *,
    metric: SolverMetric = "kkt",
    record: Sequence[int] | None = None,
    start: npt.ArrayLike | None = None,
    name: str = "scs",
    **settings: Any,
) -> Traces:
    """Runs the package scs on every instance, by reruns: its state cannot be kept.

    `settings` are the package's; its stopping tolerances are 0 unless given. `start`: (x, y, s) per instance.

    >>> import numpy as np, surefoot
    >>> b = -np.random.default_rng(0).uniform(0, 1, (5, 2))
    >>> family = surefoot.ConeFamily(None, -np.eye(2), b, np.ones(2), nonnegative=2)
    >>> traces = surefoot.solvers.scs(family, record=[10, 200])
    >>> traces.steps, bool((traces.values[:, -1] < 1e-4).all()), traces.run["varied"]
    ((10, 200), True, ['b'])
    """
    package = needed("scs")
    _require_family(family, ConeFamily, "scs")
    steps = _recorded(iterations, record)
    given = {"verbose": False, "eps_abs": 0.0, "eps_rel": 0.0, "eps_infeas": 0.0, **settings}
    n, m = family.variables, family.constraints
    starts = None if start is None else _starts(start, family, n + 2 * m)
    cones = {"z": family.zero, "l": family.nonnegative, "q": list(family.second_order), "s": list(family.semidefinite)}
    cones |= {"ep": family.exponential, "ed": family.dual_exponential, "p": list(family.power)}

    def points(i: int) -> Points:
        upper = needed("scipy.sparse").triu(family.matrix("P", i).scipy(), format="csc")
        data = {"P": upper, "A": family.matrix("A", i).scipy(), "b": family.row("b", i), "c": family.row("c", i)}
        for k in steps:
            solver = package.SCS(data, cones, **{**given, "max_iters": k})
            if starts is None:
                result = solver.solve(warm_start=False)
            else:
                result = solver.solve(x=starts[i, :n], y=starts[i, n : n + m], s=starts[i, n + m :])
            yield _point(result["x"]), _point(result["y"])

    record_of = _run_record("scs", "reruns", settings, family, start is not None)
    return _traces(family, steps, metric, points, name, record_of, starts)


def clarabel(
    family: ConeFamily,
    iterations: int = 25,
    *,
    metric: SolverMetric = "kkt",
    record: Sequence[int] | None = None,
    name: str = "clarabel",
    **settings: Any,
) -> Traces:
    """Runs the package clarabel, an interior-point method, on every instance, by reruns.

    `settings` are attributes of ``clarabel.DefaultSettings``; it stops by its own tests.

    >>> import numpy as np, surefoot
    >>> b = -np.random.default_rng(0).uniform(0, 1, (5, 2))
    >>> family = surefoot.ConeFamily(None, -np.eye(2), b, np.ones(2), nonnegative=2)
    >>> bool((surefoot.solvers.clarabel(family, 25).values[:, -1] < 1e-6).all())
    True
    """
    package = needed("clarabel")
    _require_family(family, ConeFamily, "clarabel")
    steps = _recorded(iterations, record)
    order, blocks = _clarabel_cones(package, family)

    def points(i: int) -> Points:
        upper = needed("scipy.sparse").triu(family.matrix("P", i).scipy(), format="csc")
        A, b = family.matrix("A", i).scipy()[order].tocsc(), family.row("b", i)[order]
        for k in steps:
            chosen = package.DefaultSettings()
            chosen.verbose = False
            for key, value in settings.items():
                if not hasattr(chosen, key):
                    raise ValueError(f"settings: clarabel has no {key!r}")
                setattr(chosen, key, value)
            chosen.max_iter = k
            solution = package.DefaultSolver(upper, family.row("c", i), A, b, blocks, chosen).solve()
            y = np.empty(len(b))
            y[order] = _point(solution.z)
            yield _point(solution.x), y

    return _traces(family, steps, metric, points, name, _run_record("clarabel", "reruns", settings, family, False))


def _recorded(iterations: int, record: Sequence[int] | None) -> list[int]:
    if record is None:
        if iterations < 1:
            raise ValueError(f"iterations: {iterations} is below 1")
        return list(range(1, iterations + 1))
    steps = whole_numbers("record", record)
    if not steps or steps[0] < 1 or any(a >= b for a, b in zip(steps, steps[1:])):
        raise ValueError("record: must be increasing iteration counts from 1 on")
    return steps


def _require_family(family: Any, kind: type, solver: str) -> None:
    if not isinstance(family, kind):
        advice = "; family.as_cones() makes one" if isinstance(family, QPFamily) else ""
        raise TypeError(f"family: {solver} solves a {kind.__name__}, not a {type(family).__name__}{advice}")


def _starts(start: npt.ArrayLike, family: QPFamily | ConeFamily, size: int) -> Vector:
    array = np.asarray(start, dtype=np.float64)
    if array.shape != (family.instances, size):
        raise ValueError(f"start: has shape {array.shape}, must be {(family.instances, size)}")
    if not np.isfinite(array).all():
        row, entry = np.argwhere(~np.isfinite(array))[0]
        raise ValueError(f"start: entry {entry} of instance {row} is {array[row, entry]}, must be finite")
    return array


def _point(values: Any) -> Vector:
    """What the solver returns; nothing (None where it gave up) is not a number."""
    array = np.asarray(values, dtype=np.float64)
    return np.array([np.nan]) if array.ndim == 0 else array


def _run_record(solver: str, stepping: str, settings: Mapping[str, Any], family: Any, started: bool) -> dict[str, Any]:
    return {
        "solver": solver,
        "version": importlib.metadata.version(solver),
        "stepping": stepping,
        "settings": {key: _recordable(value) for key, value in settings.items()},
        **family.data_record(),
        "start": "given" if started else "cold",
    }


def _recordable(value: Any) -> Any:
    plain = isinstance(value, (bool, int, str)) or (isinstance(value, float) and np.isfinite(value))
    return value if plain else str(value)


def _traces(
    family: QPFamily | ConeFamily,
    steps: list[int],
    metric: SolverMetric,
    points: Callable[[int], Points],
    name: str,
    run: dict[str, Any],
    starts: Vector | None = None,
) -> Traces:
    measure = _measure(family, metric)
    values = np.full((family.instances, len(steps)), np.inf)
    end: Vector | None = None
    for i in shown(range(family.instances), run["solver"], "problems"):
        if end is not None and starts is not None and np.allclose(starts[i, : end.size], end, rtol=1e-3, atol=0):
            warnings.warn(
                f"start: row {i} begins where the run of row {i - 1} ended, as a solver does that is kept from problem to "
                "problem. Such rows are a chain and no independent samples: certify one row per chain, or start each "
                "from what is known without the others",
                stacklevel=3,
            )
            starts = None
        for column, (x, y) in enumerate(points(i)):
            end = x
            # A solver that gave up returns no numbers: that is a failure.
            if np.isfinite(x).all() and np.isfinite(y).all():
                values[i, column] = measure(x, y, i)
    label = metric if isinstance(metric, str) else getattr(metric, "__name__", "metric")
    run["iterations"] = steps[-1]
    unit = "dB" if metric == "nmse" else ""
    return Traces(values, tuple(steps), label, unit, name, f"{run['solver']} {run['version']}", run)


def _measure(family: QPFamily | ConeFamily, metric: SolverMetric) -> OwnMetric:
    if callable(metric):
        return lambda x, y, i: float(metric(x, y, i))
    if metric not in _NAMES:
        raise ValueError(f"metric: {metric!r} is not one of {', '.join(_NAMES)}, nor a function")
    parts = _qp_residuals if isinstance(family, QPFamily) else _cone_residuals
    if metric in ("gap", "distance", "nmse"):
        solutions = family.solve()[:, : family.variables]
        return lambda x, y, i: _to_solution(family, metric, x, solutions[i], i)
    positions = {"violation": (0,), "dual": (1,), "kkt": (0, 1, 2)}[metric]
    return lambda x, y, i: _largest(parts(family, x, y, i)[p] for p in positions)


def _largest(values: Iterable[float]) -> float:
    """The largest; NaN if one is: unlike max(), which may pass over it and call a failure a success."""
    return float(np.max(np.fromiter(values, dtype=np.float64)))


def _objective(family: QPFamily | ConeFamily, x: Vector, i: int) -> float:
    linear = family.row("q" if isinstance(family, QPFamily) else "c", i)
    return float(0.5 * x @ (family.matrix("P", i).scipy() @ x) + linear @ x)


def _to_solution(family: QPFamily | ConeFamily, metric: str, x: Vector, solution: Vector, i: int) -> float:
    if metric == "gap":
        return abs(_objective(family, x, i) - _objective(family, solution, i))
    distance = _norm(x - solution)
    if metric == "distance":
        return distance
    scale = _norm(solution)
    if not (np.isfinite(distance) and 0 < scale < np.inf):
        return np.nan
    return -3000.0 if distance == 0.0 else _largest((-3000.0, 20 * float(np.log10(distance) - np.log10(scale))))


def _norm(vector: Vector) -> float:
    """The Euclidean norm of numbers of any size: squares neither overflow nor vanish."""
    largest = float(np.abs(vector).max(initial=0.0))
    return largest * float(np.linalg.norm(vector / largest)) if 0 < largest < np.inf else largest


def _qp_residuals(family: Any, x: Vector, y: Vector, i: int) -> tuple[float, float, float]:
    """Violation, dual residual (with multipliers that push against missing bounds), and the gap of the objectives."""
    P, A = family.matrix("P", i).scipy(), family.matrix("A", i).scipy()
    q, lower, upper = (family.row(name, i) for name in "qlu")
    Ax, Px = A @ x, P @ x
    violation = _largest(((Ax - upper).max(initial=0.0), (lower - Ax).max(initial=0.0)))
    bound = np.where(y > 0, upper, lower)
    missing = ~np.isfinite(bound)
    dual = _largest((np.abs(Px + q + A.T @ y).max(initial=0.0), np.abs(y[missing]).max(initial=0.0)))
    gap = x @ Px + q @ x + bound[~missing] @ y[~missing]
    return violation, dual, abs(float(gap))


def _cone_residuals(family: Any, x: Vector, y: Vector, i: int) -> tuple[float, float, float]:
    """Distance of b - Ax from the cone, dual residual, and the gap between primal and dual objective."""
    P, A = family.matrix("P", i).scipy(), family.matrix("A", i).scipy()
    b, c = family.row("b", i), family.row("c", i)
    Px = P @ x
    dual = float(np.abs(Px + c + A.T @ y).max(initial=0.0))
    return _cone_violation(family, b - A @ x), dual, abs(float(x @ Px + c @ x + b @ y))


def _cone_violation(family: Any, s: Vector) -> float:
    """The largest violation of a row, of ||v|| <= t, or of a smallest eigenvalue."""
    _require_no_triples(family, "metric: the violation")
    at = family.zero
    parts = [np.abs(s[:at]).max(initial=0.0), (-s[at : at + family.nonnegative]).max(initial=0.0)]
    at += family.nonnegative
    for size in family.second_order:
        parts.append(_norm(s[at + 1 : at + size]) - s[at])
        at += size
    for order in family.semidefinite:
        size = order * (order + 1) // 2
        matrix = np.zeros((order, order))
        columns, rows = np.triu_indices(order)  # of the lower triangle, column by column
        matrix[rows, columns] = s[at : at + size] / np.where(rows == columns, 1.0, np.sqrt(2.0))
        finite = np.isfinite(matrix).all()
        parts.append(-np.linalg.eigvalsh(matrix, UPLO="L")[0] if finite else np.nan)
        at += size
    return _largest(parts)


def _require_no_triples(family: ConeFamily, what: str) -> None:
    if family.exponential or family.dual_exponential or family.power:
        raise ValueError(f"{what}: is not there for exponential and power cones")


def _clarabel_cones(package: Any, family: ConeFamily) -> tuple[npt.NDArray[np.intp], list[Any]]:
    """Clarabel's cones, and where its rows stand in ours: it stores upper triangles, column by column."""
    _require_no_triples(family, "clarabel")
    blocks: list[Any] = []
    order = list(range(family.zero + family.nonnegative + sum(family.second_order)))
    if family.zero:
        blocks.append(package.ZeroConeT(family.zero))
    if family.nonnegative:
        blocks.append(package.NonnegativeConeT(family.nonnegative))
    blocks += [package.SecondOrderConeT(size) for size in family.second_order]
    for size in family.semidefinite:
        first = len(order)
        place: dict[tuple[int, int], int] = {}
        for column in range(size):
            for row in range(column, size):
                place[row, column] = first + len(place)
        order += [place[column, row] for column in range(size) for row in range(column + 1)]
        blocks.append(package.PSDTriangleConeT(size))
    return np.array(order, dtype=np.intp), blocks
