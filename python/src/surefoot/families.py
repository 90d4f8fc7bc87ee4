"""Families of problems on the batch engine: OSQP and SCS on many instances at once."""

from __future__ import annotations

import dataclasses
import hashlib
import json
import os
import pathlib
import warnings
from collections.abc import Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Any, Literal, TypeAlias, Union

import numpy as np
import numpy.typing as npt

from . import _core, family_work
from ._arguments import flag, real_number, text, whole_number
from ._optional import needed
from .certificate import Certificate
from .certification import ClaimOptions, Traces, claim_options, npy_sha256, record_text
from .family_work import FamilyTuned, LearnedStart

if TYPE_CHECKING:
    from typing_extensions import Unpack

__all__ = ["ConeFamily", "QPFamily", "Terminations"]

# A SciPy sparse matrix or array (types would need SciPy), or a dense array.
MatrixLike: TypeAlias = Any
# One for all instances, or one per instance.
Matrices: TypeAlias = Union[MatrixLike, Sequence[MatrixLike]]
Metric: TypeAlias = Literal[
    "residual", "primal", "dual", "optimality", "violation", "gap", "distance", "nmse",
    "prim_res", "dual_res", "duality_gap", "prim_res_rel", "dual_res_rel", "duality_gap_rel", "unsolved",
]  # fmt: skip
Preset: TypeAlias = Literal["default", "fixed", "package", "paper"]


@dataclasses.dataclass(frozen=True)
class Terminations:
    """What the solver's own stopping test says of every instance, a number (or word) each.

    `status` and the numbers are those of the package ``osqp`` or ``scs``: `prim_res` and `dual_res` are largest entries.
    They are of the point where the test ended the run, or of the last iteration. `iterations` is infinity where the test did
    not end it; ``scs`` counts from 0. What ``scs`` adapts is its `scale`, here `rho` too.
    """

    status: list[str]
    iterations: npt.NDArray[np.float64]
    prim_res: npt.NDArray[np.float64]
    dual_res: npt.NDArray[np.float64]
    duality_gap: npt.NDArray[np.float64]
    obj_val: npt.NDArray[np.float64]
    rho: npt.NDArray[np.float64]
    rho_updates: npt.NDArray[np.float64]

    @property
    def scale(self) -> npt.NDArray[np.float64]:
        """Of SCS: `rho`."""
        return self.rho

    @property
    def scale_updates(self) -> npt.NDArray[np.float64]:
        """Of SCS: `rho_updates`."""
        return self.rho_updates


def _check_places(matrix: Any, name: str) -> None:
    """SciPy checks little of this, and reads outside the arrays where it does not hold."""
    kind = getattr(matrix, "format", "")
    if kind not in ("csc", "csr"):
        return
    begins, places = np.asarray(matrix.indptr), np.asarray(matrix.indices)
    across, along = matrix.shape if kind == "csc" else matrix.shape[::-1]
    sound = len(begins) == along + 1 and begins[0] == 0 and (np.diff(begins) >= 0).all()
    sound = sound and begins[-1] <= len(places) == len(matrix.data)
    if sound and begins[-1] > 0:
        used = places[: begins[-1]]
        sound = used.min() >= 0 and used.max() < across
    if not sound:
        raise ValueError(f"{name}: is a damaged sparse matrix: its index arrays point outside of it")


@dataclasses.dataclass(frozen=True)
class Compressed:
    """A matrix by compressed columns, rows sorted in each."""

    values: npt.NDArray[np.float64]
    rows_of: npt.NDArray[np.int32]
    begins: npt.NDArray[np.int32]
    shape: tuple[int, int]

    @classmethod
    def of(cls, matrix: MatrixLike, name: str) -> Compressed:
        if hasattr(matrix, "tocsc"):
            _check_places(matrix, name)
            csc = matrix.tocsc(copy=True)
            csc.sum_duplicates()
            values, rows, begins, shape = csc.data, csc.indices, csc.indptr, csc.shape
        else:
            dense = np.asarray(matrix)
            if dense.ndim != 2:
                raise ValueError(f"{name}: has shape {dense.shape}, must be a matrix")
            columns, rows = np.nonzero(dense.T)
            values, shape = dense[rows, columns], dense.shape
            begins = np.concatenate([[0], np.cumsum(np.bincount(columns, minlength=dense.shape[1]))])
        if values.dtype.kind not in "iuf" or values.dtype.itemsize > 8:
            raise TypeError(f"{name}: dtype {values.dtype} is not real numbers of at most 64 bits")
        if max(len(values), *shape) > np.iinfo(np.int32).max:
            raise ValueError(f"{name}: has {len(values)} entries, more than 32 bits can count")
        return cls(
            np.ascontiguousarray(values, dtype=np.float64),
            np.ascontiguousarray(rows, dtype=np.int32),
            np.ascontiguousarray(begins, dtype=np.int32),
            (int(shape[0]), int(shape[1])),
        )

    @property
    def parts(self) -> tuple[Any, Any, Any, int, int]:
        return self.values, self.rows_of, self.begins, *self.shape

    def sha256(self) -> str:
        digest = hashlib.sha256(np.array(self.shape, dtype=np.int64).data)
        for part in (self.begins, self.rows_of, self.values):
            digest.update(part.data if part.size else b"")
        return digest.hexdigest()

    def dense(self) -> npt.NDArray[np.float64]:
        full = np.zeros(self.shape)
        full[self.rows_of, np.repeat(np.arange(self.shape[1]), np.diff(self.begins))] = self.values
        return full

    def matrix_market(self) -> str:
        columns = np.repeat(np.arange(self.shape[1]), np.diff(self.begins))
        entries = (f"{row + 1} {column + 1} {value!r}\n" for row, column, value in
                   zip(self.rows_of.tolist(), columns.tolist(), self.values.tolist()))  # fmt: skip
        head = f"%%MatrixMarket matrix coordinate real general\n{self.shape[0]} {self.shape[1]} {len(self.values)}\n"
        return head + "".join(entries)

    def scipy(self) -> Any:
        sparse = needed("scipy.sparse")
        return sparse.csc_matrix((self.values, self.rows_of, self.begins), shape=self.shape)


def matrices(given: Matrices, name: str) -> list[Compressed]:
    """One matrix, or a list (or three-dimensional array) of one per instance."""
    if hasattr(given, "tocsc"):
        return [Compressed.of(given, name)]
    if isinstance(given, (list, tuple)) and given and (hasattr(given[0], "tocsc") or np.ndim(given[0]) == 2):
        return [Compressed.of(matrix, name) for matrix in given]
    array = np.asarray(given)
    return [Compressed.of(matrix, name) for matrix in (array if array.ndim == 3 else [array])]


def table(given: npt.ArrayLike, name: str) -> npt.NDArray[np.float64]:
    """One row for all instances, or one per instance, as rows x entries."""
    array = np.asarray(given)
    if array.dtype.kind not in "iuf" or array.dtype.itemsize > 8:
        raise TypeError(f"{name}: dtype {array.dtype} is not real numbers of at most 64 bits")
    if array.ndim not in (1, 2):
        raise ValueError(f"{name}: has shape {array.shape}, must be a vector or a row per instance")
    return np.ascontiguousarray(np.atleast_2d(array), dtype=np.float64)


def _both(settings: Mapping[str, Any] | None, more: Mapping[str, Any]) -> dict[str, Any]:
    """Settings of a mapping and those given as arguments."""
    twice = sorted(set(settings or {}) & set(more))
    if twice:
        raise ValueError(f"settings: {twice[0]} is given twice")
    return {**(settings or {}), **more}


class _Family:
    """What QPFamily and ConeFamily share: matrices and tables by name, and runs of an engine on them."""

    _problem: Any
    _preset: Preset = "default"
    _kind = "qp"  # as the program calls it

    def __init__(
        self,
        parts: Mapping[str, list[Compressed]],
        tables: Mapping[str, npt.NDArray[np.float64]],
        varied: Iterable[str] | None,
    ) -> None:
        self._matrices = dict(parts)
        self._tables = dict(tables)
        counts = {name: len(part) for name, part in parts.items()}
        counts.update((name, len(rows)) for name, rows in tables.items())
        self.varied: tuple[str, ...] = tuple(
            (name for name, count in counts.items() if count > 1) if varied is None else varied
        )

    @property
    def instances(self) -> int:
        return int(self._problem.instances)

    @property
    def variables(self) -> int:
        return int(self._problem.variables)

    @property
    def constraints(self) -> int:
        return int(self._problem.constraints)

    def __len__(self) -> int:
        return self.instances

    def __repr__(self) -> str:
        return (
            f"<surefoot.{type(self).__name__}: {self.instances} instances, {self.variables} variables, "
            f"{self.constraints} constraints, varied: {', '.join(self.varied) or 'nothing'}>"
        )

    def row(self, name: str, instance: int) -> npt.NDArray[np.float64]:
        """The vector of that name of one instance."""
        rows = self._tables[name]
        row: npt.NDArray[np.float64] = rows[instance if len(rows) > 1 else 0]
        return row

    def matrix(self, name: str, instance: int) -> Compressed:
        """The matrix of that name of one instance; `.scipy()` makes a SciPy one."""
        parts = self._matrices[name]
        return parts[instance if len(parts) > 1 else 0]

    def data_record(self) -> dict[str, Any]:
        """What a certificate records of the data: shapes, digests, and what varied."""
        record: dict[str, Any] = {}
        for name, parts in self._matrices.items():
            digest = parts[0].sha256()
            if len(parts) > 1:
                digest = hashlib.sha256("".join(part.sha256() for part in parts).encode()).hexdigest()
            record[name] = {"shape": [len(parts), *parts[0].shape], "sha256": digest}
        for name, rows in self._tables.items():
            record[name] = {"shape": list(rows.shape), "sha256": npy_sha256(rows)}
        return {"data": record, "varied": list(self.varied)}

    def _engine(self, preset: str | None, settings: Mapping[str, Any] | None, iterations: int = 1) -> _core.Engine:
        raise NotImplementedError

    def _record(self, engine: _core.Engine, iterations: int, start: Any) -> dict[str, Any]:
        return {
            **json.loads(engine.record),
            **self.data_record(),
            "iterations": iterations,
            "start": "cold" if start is None else "given",
        }

    def certify(
        self,
        iterations: int = _core.defaults["iterations"],
        *,
        metric: Metric = _core.defaults["metric"],
        start: npt.ArrayLike | None = None,
        preset: Preset | None = None,
        settings: Mapping[str, float] | None = None,
        name: str = "",
        allow_dependence: bool = False,
        **claims: Unpack[ClaimOptions],
    ) -> Certificate:
        """Runs the solver on all instances, counting as it goes, and certifies the metric.

        Parameters
        ----------
        iterations
            Of each run.
        metric
            ``residual`` (of the fixed point), ``primal``, ``dual``, ``violation``, ``gap``, ``distance``, ``nmse``; also what
            the solver's package reports, largest entries: ``prim_res``, ``dual_res``, ``duality_gap`` (SCS calls it gap),
            these over their tolerances (``prim_res_rel``, ...), and ``unsolved`` (1 until the stopping test says solved,
            then 0).
        start
            Iterates to begin at, a row per instance, as `iterates` gives them [cold start].
        preset, settings
            ``default``: the solver as its package is installed, with what it adapts, its stopping test recorded but not
            obeyed; ``fixed``: the package without what it adapts (``package`` is its older name); ``paper``: the paper's.
            Then single settings by name. [``default``]
        name
            Of the variant [the solver's].
        allow_dependence
            Certify though the problems (and starts) are no independent samples; see :func:`surefoot.certify`.
        **claims
            See :class:`surefoot.certification.ClaimOptions`.

        Memory is that of the counts, not of the traces; Ctrl-C stops the run.
        """
        iterations = _iterations(iterations)
        engine = self._engine(preset, settings, iterations)
        claims.setdefault("choose", "both")
        options = claim_options(**claims)
        record = record_text("run", self._record(engine, iterations, start))
        chosen = text("name", name)
        return Certificate._of(
            engine.certify(text("metric", metric), options, iterations, start, chosen, record, bool(allow_dependence))
        )

    def traces(
        self,
        iterations: int = _core.defaults["iterations"],
        *,
        metric: Metric = _core.defaults["metric"],
        start: npt.ArrayLike | None = None,
        preset: Preset | None = None,
        settings: Mapping[str, float] | None = None,
        name: str = "",
        **more: float,
    ) -> Traces:
        """As `certify`, but keeps the metric at every iteration; several of them go into one certificate together.

        Single settings stand in `settings` or as arguments of their own, as for :mod:`surefoot.solvers`.

        >>> import numpy as np, surefoot
        >>> lower = np.random.default_rng(0).uniform(0, 1, (20, 2))
        >>> family = surefoot.QPFamily(np.eye(2), np.eye(2), np.zeros(2), lower, np.full(2, np.inf))
        >>> family.traces(50, rho=0.5, adaptive_rho=False).run["settings"]["rho"]
        0.5
        """
        iterations = _iterations(iterations)
        engine = self._engine(preset, _both(settings, more), iterations)
        values, first, metric_name, unit = engine.traces(metric, iterations, start)
        steps = tuple(range(first, first + values.shape[1]))
        record = self._record(engine, iterations, start)
        chosen = name or str(record["solver"]).lower()
        return Traces(values, steps, metric_name, unit, chosen, "surefoot run", record)

    def iterates(
        self,
        iterations: int,
        *,
        start: npt.ArrayLike | None = None,
        preset: Preset | None = None,
        settings: Mapping[str, float] | None = None,
        **more: float,
    ) -> npt.NDArray[np.float64]:
        """Iterates after that many iterations, a row per instance; the primal variables come first."""
        iterations = _iterations(iterations)
        return self._engine(preset, _both(settings, more), iterations).iterates(iterations, start)

    def save(self, folder: str | os.PathLike[str]) -> None:
        """Writes the family as a folder of files for the program: ``surefoot run``, ``tune``, ``train``.

        Matrices that each problem has its own of are written densely.
        """
        where = pathlib.Path(folder)
        where.mkdir(parents=True, exist_ok=True)
        for name, parts in self._matrices.items():
            if len(parts) > 1:
                np.save(where / f"{name}.npy", np.stack([part.dense() for part in parts]))
            else:
                (where / f"{name}.mtx").write_text(parts[0].matrix_market())
        for name, rows in self._tables.items():
            np.save(where / f"{name}.npy", rows)
        settings = self._cone_settings()
        if settings:
            (where / "settings.toml").write_text(settings)

    def _cone_settings(self) -> str:
        return ""

    def tune(
        self, target: str, *, out: str | os.PathLike[str], over: str | None = None, runs: int | None = None, **options: Any
    ) -> FamilyTuned:
        """Searches better settings of the solver and certifies them on problems that nothing was chosen by: ``surefoot tune``.

        Parameters
        ----------
        target
            ``"90% below 1e-4"``: the iterations that this takes are what is sought.
        out
            Folder for the family's files and all results.
        over, runs, options
            As the options of ``surefoot tune qp|cone``, which documents them: ``over="rho,alpha"``, ``iterations=400``, ``seed=1``.
        """
        return family_work.tune(self._kind, self, target, out, over, runs, options)

    def train(
        self, out: str | os.PathLike[str], *, samples: int | None = None, first: int = 0, seed: int = 0, **network: Any
    ) -> LearnedStart:
        """Trains a network that says where the solver begins, from what tells one problem from another: ``surefoot train``.

        Parameters
        ----------
        out
            Folder for the family's files and all results.
        samples, first
            Problems first .. first + samples - 1 are learned from [half of them]; the others are there to certify on.
        network
            Keys of ``[network]`` of a training file: ``hidden=[64, 64]``, ``unroll=10``, ``steps=200``, ``scale_each=False``.

        >>> import numpy as np, surefoot, tempfile
        >>> lower = np.random.default_rng(0).uniform(0, 1, (60, 2))
        >>> family = surefoot.QPFamily(np.eye(2), np.eye(2), np.zeros(2), lower, np.full(2, np.inf))
        >>> family.train(tempfile.mkdtemp(), hidden=[4], steps=20).learned_from  # doctest: +SKIP
        range(0, 30)
        """
        return family_work.train(self._kind, self, out, samples, first, seed, network)

    def terminations(
        self,
        iterations: int = 4000,
        *,
        start: npt.ArrayLike | None = None,
        preset: Preset | None = None,
        settings: Mapping[str, float] | None = None,
        **more: float,
    ) -> Terminations:
        """What the stopping test of the package says of every instance, within so many iterations.

        >>> import numpy as np, surefoot
        >>> lower = np.random.default_rng(0).uniform(0, 1, (3, 2))
        >>> upper = np.array([[2.0, 2.0], [2.0, 2.0], [0.5, 2.0]])
        >>> A = np.array([[1.0, 0.0], [0.0, 1.0]])
        >>> family = surefoot.QPFamily(np.eye(2), A, np.ones(2), np.minimum(lower, upper), upper)
        >>> family.terminations().status
        ['solved', 'solved', 'solved']
        """
        iterations = _iterations(iterations)
        engine = self._engine(preset, {"stop": True, **_both(settings, more)}, iterations)
        status, numbers = engine.terminations(iterations, start)
        return Terminations(status, *(np.ascontiguousarray(column) for column in numbers.T))

    def solve(self) -> npt.NDArray[np.float64]:
        """Accurate solutions, a row per instance, as iterates of the solver."""
        return self._engine("fixed", None).solutions()


class QPFamily(_Family):
    """Quadratic programs: minimise 1/2 x'Px + q'x subject to l <= Ax <= u, by OSQP.

    P (symmetric, both triangles) and A are SciPy sparse matrices or arrays, one for all instances or a list of one per
    instance; q, l, u have a row per instance, or are one vector for all. Infinite bounds are missing ones.

    Settings: rho, sigma, alpha, equality_factor, scaling; of the package's adaptive rho and stopping test, by its names,
    adaptive_rho, adaptive_rho_interval, adaptive_rho_tolerance, check_termination, eps_abs, eps_rel, eps_prim_inf,
    eps_dual_inf, check_dualgap, scaled_termination; and stop: obey the stopping test, a problem that has ended repeats its
    last point. The package's max_iter is the number of iterations.

    >>> import numpy as np, surefoot
    >>> lower = np.random.default_rng(0).uniform(0, 1, (300, 2))
    >>> family = surefoot.QPFamily(np.eye(2), np.eye(2), np.zeros(2), lower, np.inf * np.ones(2))
    >>> family
    <surefoot.QPFamily: 300 instances, 2 variables, 2 constraints, varied: l>
    >>> np.allclose(family.solve()[:, :2], lower)
    True
    >>> family.certify(100, tolerances=[1e-3], quantiles=[0.9]).budget(1e-3, 0.9).steps is not None
    True
    """

    def __init__(
        self,
        P: Matrices,
        A: Matrices,
        q: npt.ArrayLike,
        l: npt.ArrayLike,  # noqa: E741
        u: npt.ArrayLike,
        *,
        varied: Iterable[str] | None = None,
    ) -> None:
        super().__init__(
            {"P": matrices(P, "P"), "A": matrices(A, "A")},
            {"q": table(q, "q"), "l": table(l, "l"), "u": table(u, "u")},
            varied,
        )
        parts = {name: [part.parts for part in given] for name, given in self._matrices.items()}
        self._problem = _core.Qp(parts["P"], parts["A"], self._tables["q"], self._tables["l"], self._tables["u"])

    def _engine(self, preset: str | None, settings: Mapping[str, Any] | None, iterations: int = 1) -> _core.Engine:
        given = dict(settings or {})
        if given.get("adaptive_rho") == "time":
            raise ValueError("settings: adaptive_rho 'time' makes results depend on the clock; True or False")
        options = with_settings(_core.OsqpOptions, self._preset if preset is None else preset, given)
        if options.stop and options.check_termination == 0:
            if "check_termination" in given:
                raise ValueError("settings: stop needs check_termination above 0")
            options.check_termination = _core.OsqpOptions.defaults().check_termination
        options.max_iter = iterations
        return _core.osqp_engine(self._problem, options)

    def as_cones(self) -> ConeFamily:
        """The same problems as cone programs: equalities, then upper bounds, then lower bounds as rows of their own.

        Which rows have which bounds must be the same for all instances. Needs SciPy.

        >>> import numpy as np, surefoot
        >>> family = surefoot.QPFamily(np.eye(2), np.eye(2), np.zeros(2), [0.0, 1.0], [np.inf, 1.0])
        >>> family.as_cones()
        <surefoot.ConeFamily: 1 instances, 2 variables, 2 constraints, varied: nothing>
        """
        sparse = needed("scipy.sparse")
        lower, upper = np.broadcast_arrays(self._tables["l"], self._tables["u"])
        kinds = []
        for where in (lower == upper, np.isfinite(upper) & (lower != upper), np.isfinite(lower) & (lower != upper)):
            if (where != where[0]).any():
                raise ValueError("l, u: instances have equalities or bounds in different rows")
            kinds.append(where[0])
        equal, above, below = kinds
        parts = [matrix.scipy().tocsr() for matrix in self._matrices["A"]]
        return ConeFamily(
            [matrix.scipy() for matrix in self._matrices["P"]],
            [sparse.vstack([part[equal], part[above], -part[below]], format="csc") for part in parts],
            np.hstack([upper[:, equal], upper[:, above], -lower[:, below]]),
            self._tables["q"],
            zero=int(equal.sum()),
            nonnegative=int(above.sum() + below.sum()),
            varied=self.varied,
        )


class ConeFamily(_Family):
    """Cone programs: minimise 1/2 x'Px + c'x subject to Ax + s = b, s in K, by SCS.

    Rows of A come in this order: `zero` rows of the zero cone, `nonnegative` rows, second-order cones of the given
    dimensions (first entry at least the norm of the others), semidefinite cones of the given orders (lower triangle column
    by column, entries off the diagonal times sqrt(2)), then cones of three rows: `exponential` ones, `dual_exponential` ones
    and power cones by their exponents (below 0: dual ones). P may be None.

    Settings: alpha, rho_x, scale; of what the package adapts and of its stopping test, by its names, normalize,
    adaptive_scale, adaptive_diag_scale, acceleration_lookback, acceleration_interval, acceleration_type_1,
    acceleration_regularization, acceleration_relaxation, eps_abs, eps_rel, eps_infeas; and stop: obey the stopping test, a
    problem that has ended repeats its last point. The package's max_iters is the number of iterations. An iterate is what the
    package returns, (x, y, s); with returned=False, or preset ``paper``, it is mu / eta of the splitting, as the paper has it.

    >>> import numpy as np, surefoot
    >>> b = -np.random.default_rng(0).uniform(0, 1, (300, 2))  # minimise x1 + x2, x >= -b
    >>> family = surefoot.ConeFamily(None, -np.eye(2), b, np.ones(2), nonnegative=2)
    >>> np.allclose(family.solve()[:, :2], -b, atol=1e-9)
    True
    """

    _kind = "cone"

    def _cone_settings(self) -> str:
        lists = {name: list(getattr(self, name)) for name in ("second_order", "semidefinite", "power")}
        counts = {name: getattr(self, name) for name in ("zero", "nonnegative", "exponential", "dual_exponential")}
        lines = [f"{name} = {value}" for name, value in {**counts, **lists}.items() if value]
        return "[cones]\n" + "\n".join(lines) + "\n"

    def __init__(
        self,
        P: Matrices | None,
        A: Matrices,
        b: npt.ArrayLike,
        c: npt.ArrayLike,
        *,
        zero: int = 0,
        nonnegative: int = 0,
        second_order: Sequence[int] = (),
        semidefinite: Sequence[int] = (),
        exponential: int = 0,
        dual_exponential: int = 0,
        power: Sequence[float] = (),
        varied: Iterable[str] | None = None,
    ) -> None:
        parts = {"A": matrices(A, "A")}
        if not parts["A"]:
            raise ValueError("A: there is no matrix")
        variables = parts["A"][0].shape[1]
        quadratic = matrices(np.zeros((variables, variables)) if P is None else P, "P")
        super().__init__({"P": quadratic, **parts}, {"b": table(b, "b"), "c": table(c, "c")}, varied)
        self.zero = whole_number("zero", zero)
        self.nonnegative = whole_number("nonnegative", nonnegative)
        self.second_order = tuple(whole_number("second_order", size) for size in second_order)
        self.semidefinite = tuple(whole_number("semidefinite", order) for order in semidefinite)
        self.exponential = whole_number("exponential", exponential)
        self.dual_exponential = whole_number("dual_exponential", dual_exponential)
        self.power = tuple(real_number("power", exponent) for exponent in power)
        self._problem = _core.ConeProgram(
            [part.parts for part in self._matrices["P"]],
            [part.parts for part in self._matrices["A"]],
            self._tables["b"],
            self._tables["c"],
            self.zero,
            self.nonnegative,
            list(self.second_order),
            list(self.semidefinite),
            self.exponential,
            self.dual_exponential,
            list(self.power),
        )

    def _engine(self, preset: str | None, settings: Mapping[str, Any] | None, iterations: int = 1) -> _core.Engine:
        given = dict(settings or {})
        if "time_limit_secs" in given:
            raise ValueError("settings: time_limit_secs makes results depend on the clock; limit the iterations")
        options = with_settings(_core.ScsOptions, self._preset if preset is None else preset, given)
        if options.stop:
            if not given.get("check_termination", True):
                raise ValueError("settings: stop needs check_termination")
            options.check_termination = True
        if options.watches():
            if not given.get("returned", True):
                raise ValueError("settings: returned=False is for preset fixed and paper, without what the package adapts")
            options.returned = True
        options.max_iters = iterations
        return _core.scs_engine(self._problem, options)


def with_settings(options: Any, preset: str, settings: Mapping[str, Any]) -> Any:
    """The preset's settings with some of them changed."""
    if preset == "package":
        warnings.warn("preset: 'package' is an older name of 'fixed', the package without what it adapts", stacklevel=4)
        preset = "fixed"
    makers = {"default": "defaults", "fixed": "fixed", "paper": "paper"}
    presets = [name for name, maker in makers.items() if hasattr(options, maker)]
    if preset not in presets:
        raise ValueError(f"preset: {preset!r} is not one of {', '.join(presets)}")
    result = getattr(options, makers[preset])()
    known = [
        name
        for name in vars(options)
        if not name.startswith("_") and name not in (*makers.values(), "max_iter", "max_iters", "watches")
    ]
    for name, value in settings.items():
        if name not in known:
            raise ValueError(f"settings: {name!r} is not one of {', '.join(known)}")
        kind = type(getattr(result, name))
        check = flag if kind is bool else whole_number if kind is int else real_number
        setattr(result, name, check(f"settings: {name}", value))
    return result


def _iterations(count: int) -> int:
    count = whole_number("iterations", count)
    if not 1 <= count <= 100_000_000:
        raise ValueError(f"iterations: {count} is outside 1 .. 100000000")
    return count
