"""Controllers in closed loop: OSQP at every tick of many rollouts of a plant, and certificates of whole rollouts."""

from __future__ import annotations

import dataclasses
import json
import warnings
from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Any, Literal, TypeAlias, Union

import numpy as np
import numpy.typing as npt

from . import _core
from ._arguments import flag, real_number, text, whole_number
from ._optional import needed
from ._progress import shown
from .certificate import Certificate
from .certification import ClaimOptions, claim_options, record_text
from .families import Compressed, MatrixLike, QPFamily, table, with_settings

if TYPE_CHECKING:
    from typing_extensions import Unpack

__all__ = ["Rollouts", "closed_loop"]

Array: TypeAlias = npt.NDArray[np.float64]
Plant: TypeAlias = Callable[[Array, Array, int], npt.ArrayLike]
LinearPlant: TypeAlias = Sequence[npt.ArrayLike]
Vectors: TypeAlias = Callable[[Array, int], tuple[npt.ArrayLike, npt.ArrayLike, npt.ArrayLike]]
Pair: TypeAlias = tuple[Union[npt.ArrayLike, None], Union[npt.ArrayLike, None]]
Start: TypeAlias = Literal["cold", "kept", "shifted"]
Value: TypeAlias = Literal["violation", "excess_cost", "failed_share", "longest_series"]

_WORDS = {
    "violation": "violation of the plant's bounds",
    "excess_cost": "excess of the closed-loop cost",
    "failed_share": "share of failed ticks",
    "longest_series": "longest series of failed ticks",
}


@dataclasses.dataclass(frozen=True)
class Rollouts:
    """Numbers of whole rollouts, a row each and a column per iteration limit, and how they went under the last limit.

    Rollouts are independent of each other, their ticks are not: certify these numbers, never ticks one by one.
    """

    limits: tuple[int, ...]  #: iterations of a tick
    violation: Array  #: largest amount by which a state after a tick is outside its bounds; inf if the rollout is lost
    cost: Array  #: closed-loop cost; 0 if none was given
    exact_cost: Array | None  #: the same with exact solves, a number per rollout; inf where a tick was not solved
    failed_share: Array  #: part of the ticks whose problem was not solved within the limit
    longest_series: Array  #: longest series of such ticks
    iterations: tuple[float, ...]  #: of a tick, on average, by limit
    states: Array  #: rollouts x (ticks + 1) x states, under the last limit; NaN after a rollout is lost
    inputs: Array  #: rollouts x ticks x inputs, that were applied, under the last limit; the same
    record: Mapping[str, Any]  #: what a certificate records of the run
    _drawn: tuple[Array, ...] = dataclasses.field(repr=False)  # tables that show whether rollouts are independent, rows for each
    _replay: Callable[[int], Array] = dataclasses.field(repr=False)

    def _require_several(self) -> None:
        """Rollouts that begin alike and that nothing disturbs are one sample, however many copies there are."""
        if len(self.states) < 2 or self.record["loop"]["disturbance"] not in ("none", "rows"):
            return
        if np.array_equal(self.states, np.broadcast_to(self.states[0], self.states.shape), equal_nan=True):
            raise ValueError(f"rollouts: all {len(self.states)} went the same way, to the last digit: they are one sample")

    @property
    def excess_cost(self) -> Array:
        """(cost - exact cost) / exact cost; inf where there is no such number."""
        if self.exact_cost is None:
            raise ValueError("excess_cost: there is no cost; give closed_loop(cost=(Q, R))")
        exact = self.exact_cost[:, None]
        with np.errstate(invalid="ignore", divide="ignore"):
            excess = (self.cost - exact) / exact
        excess = np.where(np.isfinite(excess) & (exact > 0), excess, np.inf)
        return np.where((self.cost == 0) & (exact == 0), 0.0, excess)

    def certify(self, value: Value = "violation", *, allow_dependence: bool = False, **claims: Unpack[ClaimOptions]) -> Certificate:
        """Certifies one of the numbers over new rollouts: success rates under every limit, and the smallest limit.

        The smallest limit with a guarantee is ``budget(tolerance, quantile).steps``: limits are tested from the largest down to
        the first that fails, each at the whole delta, so that the confidence level covers the choice among limits. They must have been chosen
        before the rollouts were seen. Several certificates hold together with the sum of their deltas.
        """
        self._require_several()
        if text("value", value) not in _WORDS:
            raise ValueError(f"value: {value!r} is not one of {', '.join(_WORDS)}")
        for fixed in ("claims", "steps", "choose", "budget_method"):
            if claims.get(fixed) is not None:
                raise ValueError(f"{fixed}: is not chosen of rollouts: success rates and the smallest limit, at all limits")
        options = claim_options(**claims)
        options.metric = _WORDS[value]
        return Certificate._of(
            _core.certify_rollouts(
                getattr(self, value),
                list(self.limits),
                self.inputs.shape[1],
                options,
                self._drawn,
                f"osqp, {self.record['loop']['start']} start",
                record_text("run", self.record),
                flag("allow_dependence", allow_dependence),
            )
        )

    def certify_tube(self, share: float | None = None, *, confidence: float = 0.99, allow_dependence: bool = False) -> Certificate:
        """A tube of the states under the last limit: at every tick, and for each state by itself, an upper and a lower end.

        At least a `share` of new rollouts respects an end [0.99, or what so many rollouts support], and all ends hold together
        with the confidence; it is not the share of rollouts that are within the tube at all ticks. The variants of the certificate are ``state i`` and ``state i times -1``, the steps
        are ticks: the upper end is ``certificate.quantile(tick, share, variant="state 1").upper_bound``, the lower one less that of
        ``"state 1 times -1"``.
        """
        self._require_several()
        rollouts, _, states = self.states.shape
        return Certificate._of(
            _core.certify_tube(
                self.states.reshape(rollouts, -1),
                states,
                self.limits[-1],
                None if share is None else real_number("share", share),
                _core.delta_of_confidence(real_number("confidence", confidence)),
                self._drawn,
                record_text("run", self.record),
                flag("allow_dependence", allow_dependence),
            )
        )

    def check_with_osqp(self, rollouts: int = 10) -> float:
        """The largest difference between inputs of the first rollouts and those of the package ``osqp`` on the same problems.

        The package is set up once, gets the vectors of every tick of the last limit's rollouts, and starts as they did. Needs
        the packages osqp and SciPy. Ticks that the package calls infeasible have no input there and are left out.
        """
        count = min(whole_number("rollouts", rollouts), len(self.states))
        if count < 1:
            raise ValueError(f"rollouts: is {rollouts}, must be >= 1")
        theirs = self._replay(count)
        differences = np.abs(theirs - self.inputs[:count])
        if not np.isfinite(differences).any():
            raise ValueError("check_with_osqp: the package found no input at any tick")
        return float(np.nanmax(differences))


def _bounds(pair: Pair | None, name: str) -> Pair:
    if pair is None:
        return None, None
    if not isinstance(pair, (tuple, list)) or len(pair) != 2:
        raise ValueError(f"{name}: must be a pair")
    return pair[0], pair[1]


def _linear(plant: LinearPlant) -> Plant:
    if len(plant) not in (2, 3):
        raise ValueError("plant: must be a function, or (A, B), or (A, B, c)")
    A, B = (np.asarray(part, dtype=np.float64) for part in plant[:2])
    c = np.asarray(plant[2], dtype=np.float64) if len(plant) == 3 else 0.0
    if A.ndim != 2 or B.ndim != 2 or A.shape[0] != A.shape[1] or B.shape[0] != A.shape[0]:
        raise ValueError(f"plant: A has shape {A.shape} and B {B.shape}")
    return lambda states, inputs, tick: states @ A.T + inputs @ B.T + c


def closed_loop(
    family: QPFamily,
    plant: Plant | LinearPlant,
    *,
    initial: npt.ArrayLike,
    input: MatrixLike,
    ticks: int = 100,
    limits: Sequence[int] = (5, 10, 20, 50),
    q_state: MatrixLike | None = None,
    l_state: MatrixLike | None = None,
    u_state: MatrixLike | None = None,
    vectors: Vectors | None = None,
    input_bounds: Pair | None = None,
    state_bounds: Pair | None = None,
    cost: tuple[npt.ArrayLike, npt.ArrayLike] | None = None,
    disturbance: tuple[Literal["gaussian", "bounded", "rows"], npt.ArrayLike] | None = None,
    seed: int = 0,
    start: Start = "kept",
    shift: tuple[Sequence[int], Sequence[int]] | None = None,
    stop: bool = False,
    settings: Mapping[str, float] | None = None,
    exact_eps: float = 1e-6,
    exact_limit: int = 10_000,
    diverging: Literal["fail", "refuse"] = "fail",
) -> Rollouts:
    """Runs OSQP in closed loop with a plant, all rollouts side by side, once for every iteration limit.

    Parameters
    ----------
    family
        One problem: P, A, and q, l, u at state 0.
    plant
        ``plant(states, inputs, tick)`` gives the next states: arrays over rollouts, a row each; any function, nonlinear ones
        too. Or (A, B) or (A, B, c) of a linear plant. Rollouts must not depend on each other. It is called anew for every
        limit: draw random numbers by tick (``np.random.default_rng([seed, tick])``) or use `disturbance`, so that every limit
        and the exact loop meet the same disturbances.
    initial
        States to begin at, a row per rollout: independent samples.
    input
        Matrix, inputs x variables: the input that is applied, of the solution.
    ticks, limits
        Of a rollout; iterations of a tick, increasing.
    q_state, l_state, u_state
        Matrices: what the state adds to q, l and u; None: nothing.
    vectors
        Instead: ``vectors(states, tick)`` gives (q, l, u), a row per rollout or one for all. Equalities stay equalities.
    input_bounds, state_bounds
        Pairs (lower, upper); inputs are clipped to theirs, states outside of theirs are a violation. One of a pair may be None.
    cost
        (Q, R): the cost s'Qs + v'Rv of a tick. Then the loop is also run with exact solves.
    disturbance, seed
        Added to the states after every tick: ("gaussian", deviations), ("bounded", bounds) or ("rows", a row for each tick of
        each rollout).
    start, shift
        Where a tick begins: ``cold``, ``kept`` (where the last one ended), or ``shifted``, with the entries of x and of y that
        entries begin at.
    stop
        A tick ends at OSQP's stopping test, if that is before the limit.
    settings
        Of OSQP by name; adaptive_rho is off.
    exact_eps, exact_limit
        Tolerances and most iterations of exact solves.

    diverging
        What a state of the plant that is infinite or NaN is. ``fail``: it ends its rollout, which has failed under that limit: its
        violation and cost are infinite, and all later ticks have failed; a warning says how many there are. That is the default
        because an unstable loop overflows, and leaving out or refusing what a bad controller does would hide it: NaN is a failure
        everywhere. ``refuse``: ValueError with rollout, tick and value, for plants in which it can only be a mistake.

    Vectors with a NaN, and another shape of anything: ValueError with the tick.

    >>> import numpy as np, surefoot
    >>> family = surefoot.QPFamily(np.eye(1), np.eye(1), [0.0], [-1.0], [1.0])  # minimise v^2 / 2 + s v, |v| <= 1
    >>> states = np.random.default_rng(0).uniform(-3, 3, (500, 1))
    >>> runs = surefoot.closed_loop(
    ...     family, lambda s, v, tick: 0.9 * s + 0.5 * v, initial=states, input=np.eye(1), q_state=np.eye(1),
    ...     ticks=10, limits=[5, 50], state_bounds=([-3.0], [3.0]),
    ... )
    >>> runs.certify("violation", tolerances=[1e-6], quantiles=[0.99]).budget(1e-6, 0.99).steps
    5
    """
    if not isinstance(family, QPFamily):
        raise TypeError(f"family: is {type(family).__name__}, must be a QPFamily")
    if settings is not None and not isinstance(settings, Mapping):
        raise TypeError(f"settings: is {type(settings).__name__}, must be settings by name")
    if not 0 <= whole_number("seed", seed) < 2**64:
        raise ValueError(f"seed: {seed} is outside 0 .. 2^64 - 1")
    ticks = whole_number("ticks", ticks)
    chosen = [whole_number("limits", limit) for limit in limits]
    if not chosen or any(a >= b for a, b in zip(chosen, chosen[1:])):
        raise ValueError(f"limits: {chosen} must increase and not be empty")
    if text("diverging", diverging) not in ("fail", "refuse"):
        raise ValueError(f"diverging: {diverging!r} is not one of fail, refuse")
    if text("start", start) == "shifted" and shift is None:
        raise ValueError("shift: is needed for start='shifted'")
    moves = plant if callable(plant) else _linear(plant)
    states = table(initial, "initial")
    if np.ndim(initial) != 2:
        raise ValueError(f"initial: has shape {np.shape(initial)}, must be a row per rollout")
    maps = {"q": q_state, "l": l_state, "u": u_state}
    parts = {name: None if part is None else Compressed.of(part, f"{name}_state") for name, part in maps.items()}
    applied = Compressed.of(input, "input")
    shift_x, shift_y = ([whole_number("shift", i) for i in places] for places in (shift or ((), ())))
    lower, upper = _bounds(input_bounds, "input_bounds")
    of_state = {name: None if part is None else part.parts for name, part in parts.items()}
    loop = _core.ClosedLoop(
        family._problem,
        of_state["q"],
        of_state["l"],
        of_state["u"],
        applied.parts,
        None if lower is None else table(lower, "input_bounds"),
        None if upper is None else table(upper, "input_bounds"),
        shift_x,
        shift_y,
        states,
        ticks,
    )
    kind, numbers = ("none", None) if disturbance is None else (text("disturbance", disturbance[0]), disturbance[1])
    loop.set_plant(moves, vectors, kind, None if numbers is None else table(numbers, "disturbance"), whole_number("seed", seed), diverging == "fail")
    weights = (None, None) if cost is None else tuple(np.atleast_2d(np.asarray(part, dtype=np.float64)) for part in cost)
    loop.set_task(*_bounds(state_bounds, "state_bounds"), *weights)

    def options_of(**others: Any) -> Any:
        return with_settings(_core.OsqpOptions, "default", {**(settings or {}), "adaptive_rho": False, **others})

    if (settings or {}).get("adaptive_rho"):
        raise ValueError("settings: adaptive_rho: a closed loop keeps one rho")
    exact = None
    if cost is not None:
        tight = options_of(eps_abs=float(exact_eps), eps_rel=float(exact_eps), check_termination=10)
        values = loop.run(tight, whole_number("exact_limit", exact_limit), True, start, False)[0]
        exact = np.where(values[:, 4] == 1, values[:, 1], np.inf)
    options = options_of()
    results = [loop.run(options, limit, flag("stop", stop), start, limit == chosen[-1]) for limit in chosen]
    lost = {limit: int(np.isinf(result[0][:, 0]).sum()) for limit, result in zip(chosen, results)}
    if any(lost.values()):
        told = ", ".join(f"{count} with limit {limit}" for limit, count in lost.items() if count)
        warnings.warn(f"of {len(states)} rollouts were lost, with a number that is infinite or NaN: {told}", RuntimeWarning, stacklevel=2)
    columns = [np.column_stack([result[0][:, i] for result in results]) for i in range(4)]
    courses, forces = np.stack(results[-1][3], axis=1), np.stack(results[-1][4], axis=1)
    record = {
        **json.loads(results[-1][2]),
        **family.data_record(),
        "loop": {
            "rollouts": len(states), "ticks": ticks, "limits": chosen, "own_stopping_test": bool(stop), "start": start,
            "seed": seed, "disturbance": kind, "plant": "function" if callable(plant) else "linear",
            "exact_eps": exact_eps, "exact_limit": exact_limit,
        },
    }  # fmt: skip

    # What the user gave for rollouts to be independent. One initial state for all is no sign of dependence where they are disturbed:
    # by us, or by the user's function, whose rollouts are looked at instead.
    drawn: list[Array] = []
    if kind == "rows" and numbers is not None:
        drawn.append(table(numbers, "disturbance")[: len(states) * ticks])
    if not (states == states[0]).all():
        drawn.append(states)
    elif kind == "none":
        drawn.append(np.ascontiguousarray(courses.reshape(len(states), -1)))

    def vectors_at(seen: Array, tick: int) -> list[Array]:
        if vectors is not None:
            return [np.broadcast_to(table(part, "vectors"), (len(seen), np.shape(part)[-1])) for part in vectors(seen, tick)]
        rows = []
        for name, part in parts.items():
            base = np.repeat(family._tables[name], len(seen), axis=0)
            rows.append(base if part is None else base + seen @ part.scipy().T.toarray())
        return rows

    def replay(count: int) -> Array:
        osqp = needed("osqp")
        P, A = (family.matrix(name, 0).scipy() for name in ("P", "A"))
        base = [family._tables[name][0] for name in ("q", "l", "u")]
        names = ("rho", "sigma", "alpha", "scaling", "eps_abs", "eps_rel", "eps_prim_inf", "eps_dual_inf", "check_dualgap")
        solver = osqp.OSQP()
        solver.setup(
            P, base[0], A, base[1], base[2], verbose=False, max_iter=chosen[-1], adaptive_rho=False, warm_starting=True,
            check_termination=options.check_termination if stop else 0, **{name: getattr(options, name) for name in names},
        )  # fmt: skip
        zero_x, zero_y = np.zeros(family.variables), np.zeros(family.constraints)
        given = [vectors_at(courses[:, tick], tick) for tick in range(ticks)]
        theirs = np.full((count, ticks, applied.shape[0]), np.nan)
        select = applied.scipy()
        for rollout in shown(range(count), "osqp", "rollouts"):
            solver.warm_start(x=zero_x, y=zero_y)
            for tick in range(ticks):
                if not np.isfinite(courses[rollout, tick]).all():
                    break
                q, l, u = (rows[rollout] for rows in given[tick])  # noqa: E741
                solver.update(q=q, l=l, u=u)
                if start == "cold":
                    solver.warm_start(x=zero_x, y=zero_y)
                result = solver.solve(raise_error=False)
                value = select @ result.x
                low = -np.inf if lower is None else np.asarray(lower)
                high = np.inf if upper is None else np.asarray(upper)
                theirs[rollout, tick] = np.clip(value, low, high)
                if start == "shifted":
                    solver.warm_start(x=result.x[shift_x], y=result.y[shift_y])
        return theirs

    return Rollouts(
        tuple(chosen), columns[0], columns[1], exact, columns[2], columns[3],
        tuple(result[1] for result in results), courses, forces, record, tuple(drawn), replay,
    )  # fmt: skip
