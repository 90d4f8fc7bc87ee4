"""From traces of any optimizer to a certificate."""

from __future__ import annotations

import dataclasses
import hashlib
import json
import math
import os
import warnings
from collections.abc import Callable, Iterable, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal, TypeAlias, TypedDict, Union

import numpy as np
import numpy.typing as npt

from . import _core
from ._arguments import real_number, text, whole_number
from ._progress import shown
from .certificate import Certificate, Kind
from .tallies import Tally

if TYPE_CHECKING:
    from typing_extensions import Unpack

__all__ = ["ClaimOptions", "RunUntil", "Traces", "certify", "count", "run_until", "sha256_of"]

Array: TypeAlias = npt.NDArray[Any]


class ClaimOptions(TypedDict, total=False):
    """What is to be claimed. Choose all of it without looking at the results; defaults depend on the shape only."""

    tolerances: Sequence[float] | npt.NDArray[np.floating[Any]] | None  #: increasing; below is success [1e-4 .. 1e-1]
    #: increasing, in (0, 1) [of 0.5, 0.9, 0.99 those that the number of problems supports]
    quantiles: Sequence[float] | npt.NDArray[np.floating[Any]]
    steps: Sequence[int] | npt.NDArray[np.integer[Any]] | Literal["all"] | None  #: to certify [up to 60, spread out]
    confidence: float  #: of the whole certificate [0.99]
    claims: Sequence[Kind]  #: kinds of claims [success, quantile and budget; of groups average too; of a log sequence]
    simultaneous: Literal["all", "each"]  #: all claims hold together with the confidence, or each alone does
    #: before: what is declared here; after: any tolerance and share, of bands; both: both within one confidence [both]
    choose: Literal["both", "before", "after"]
    anytime: bool  #: every claim holds at every number of runs: look whenever you like, and add runs [False]
    risk_method: Literal["exact", "kl", "pinsker", "anytime"]
    quantile_method: Literal["exact", "grid"]
    budget_method: Literal["settling", "every-step", "first-hit", "paper"]
    average_method: Literal["betting", "kl"]  #: of averages of groups
    success_delta: float | None  #: of each claim of the kind [a share of the total]
    quantile_delta: float | None
    budget_delta: float | None
    average_delta: float | None
    sequence_delta: float | None
    mean_delta: float | None
    #: (0, R): the metric of every problem lies there, as you state: its mean and CVaR are claimed too
    range: tuple[float, float] | None
    thresholds: Sequence[float] | None  #: with range: CVaR is bounded by the mean excess over them [0.001, 0.01, 0.03, 0.1 and 0.3 of R]
    cvar: Sequence[float] | None  #: with range: levels that are shown [0.9, 0.99]
    grid: Sequence[float] | npt.NDArray[np.floating[Any]] | None  #: of quantile method grid [the paper's 81]
    title: str
    #: claims are stated also under every distribution within this of the one of the samples: "kl:0.02", "tv:0.05", "chi2:0.1", "ratio:2"
    shift: str | None


@dataclasses.dataclass(frozen=True)
class Traces:
    """Runs of one optimizer: a row per problem, a column per recorded step, smaller is better."""

    values: Array
    steps: tuple[int, ...]  #: of the columns
    metric: str = "metric"
    unit: str = ""
    name: str = "traces"
    source: str = "array"  #: what made them
    run: Mapping[str, Any] | None = None  #: solver, settings, what was varied: recorded in certificates

    def __array__(self, dtype: Any = None, copy: bool | None = None) -> Array:
        array = np.asarray(self.values, dtype=dtype)
        return array.copy() if copy and array is self.values else array


Data: TypeAlias = Union[npt.ArrayLike, Traces, str, os.PathLike[str]]
Groups: TypeAlias = Union[npt.ArrayLike, str]


def certify(
    traces: Data | Sequence[Data] | Mapping[str, Data] | Tally,
    *,
    names: Sequence[str] | None = None,
    metric: str | None = None,
    unit: str | None = None,
    first_step: int | None = None,
    recorded_steps: Sequence[int] | None = None,
    sources: Sequence[str] | None = None,
    run: Mapping[str, Any] | None = None,
    allow_dependence: bool = False,
    scalar: bool | None = None,
    value: str | Sequence[str] | None = None,
    variants: str | None = None,
    rows: str | None = None,
    step_column: str | None = None,
    where: Mapping[str, Any] | Sequence[str] | None = None,
    failed: Mapping[str, Any] | Sequence[str] | None = None,
    missing: Literal["refuse", "failed"] = "refuse",
    groups: Groups | Sequence[Groups] | Mapping[str, Groups] | None = None,
    group_name: str = "",
    sequence: bool = False,
    **claims: Unpack[ClaimOptions],
) -> Certificate:
    """Certifies an optimizer from its results on sample problems that are independent and identically distributed.

    Parameters
    ----------
    traces
        A row per problem, a column per step: an array (float64 and float32 are read where they lie, whatever their
        strides), a file as the program reads it (CSV, gzipped CSV, ``.npy``), a :class:`Traces`; several of them as a list
        or, with names, a dict: then their claims share one confidence. The columns of a DataFrame must say the steps, as
        the header line of a file does, unless `first_step` or `recorded_steps` do. An array of one dimension (several: a
        dict) is one number per problem: a time, a cost, iterations with ``inf`` for failures. Or what :func:`count` has
        counted of all samples, with `allow_dependence` alone: all else was declared there.
    names
        Of the variants.
    metric, unit
        What was measured; ``unit="dB"`` makes decibel defaults.
    first_step, recorded_steps
        Step of the first column [1], or the steps of all columns, where a header or the columns of a DataFrame do not
        say them.
    sources
        Recorded as the origin of each variant [the file name, or "array"].
    run
        Recorded in the certificate: how the runs were made.
    allow_dependence
        Rows that repeat, resemble their neighbours or drift are refused: they are no independent samples. True certifies
        them all the same; every sentence then begins with "if the rows were independent".
    scalar
        One number per problem, no steps: success is at most a tolerance, and each column is a variant [of arrays of one
        dimension and where `value` is given without steps].
    value, variants, rows, step_column, where, failed, missing
        Columns of a table of text, a file or a DataFrame with a result per line, as benchmarks write it: of the numbers, of
        the names of variants and problems, of steps; which lines count and which are failures
        (``where={"settings": "default"}``, ``failed={"found": False}``); whether a problem that a variant lacks is refused
        or a failure. The options of ``surefoot certify`` with these names.
    groups
        Rows that belong together (ticks of one flight) are no independent samples; groups are. A label for each row, in an
        array beside the table, or the name of a column of a file or DataFrame; of several variants, one each (a name serves
        all). An array with three dimensions, groups x ticks x steps, has them already. Claims are then of every tick of a
        group and of the average tick, groups weighed equally.
    group_name
        What a group is, for the sentences, where labels have no name of their own.
    sequence
        True: rows are consecutive ticks of one log, which may depend on each other in any way. Claims are then of the past
        of this log.
    **claims
        What is to be claimed, see :class:`ClaimOptions`; the program's options of the same names.

    Returns
    -------
    Certificate
        The same that ``surefoot certify`` writes for a file with the same numbers.

    Examples
    --------
    >>> import numpy as np, surefoot
    >>> random = np.random.default_rng(1)
    >>> cold = random.exponential(0.7 ** np.arange(50), (500, 50))
    >>> certificate = surefoot.certify({"cold": cold, "warm": cold[:, 10:]}, tolerances=[1e-3], quantiles=[0.9])
    >>> [certificate.budget(tolerance=1e-3, quantile=0.9, variant=name).steps for name in ("cold", "warm")]
    [24, 14]
    >>> times = surefoot.certify(random.exponential(2.0, 1000), metric="runtime", unit="ms", quantiles=[0.9])
    >>> print(times.statements[0])
    With confidence 0.99, the runtime of at least 90 % of new problems is at most 5.10 ms.
    """
    choice = _table_choice(scalar, value, variants, rows, step_column, where, failed, missing)
    if isinstance(traces, Tally):
        given: dict[str, Any] = {"names": names, "metric": metric, "unit": unit, "first_step": first_step}
        given |= {"recorded_steps": recorded_steps, "sources": sources, "run": run, "scalar": scalar, "value": value}
        given |= {"groups": groups, "sequence": sequence or None}
        given |= claims
        for name, argument in given.items():
            if argument is not None:
                raise ValueError(f"{name}: a tally has declared all of it; say it to count()")
        return Certificate._of(traces._counted.certificate(bool(allow_dependence)))
    if _is_of_text(traces, choice):
        if first_step is not None or recorded_steps is not None:
            raise ValueError("first_step: is for tables with a column per step")
        if groups is not None or sequence:
            raise ValueError("groups: are for tables with a column per step")
        return _certify_text(traces, choice, names, sources, metric, unit, run, bool(allow_dependence), claims)
    tables = _tables(traces, names, sources, first_step, recorded_steps, groups)
    options = claim_options(**_choosing(claims))
    grouped = [table.grouped for table in tables]
    if any(grouped) and not all(grouped):
        raise ValueError(f"groups: {tables[grouped.index(False)].name!r} does not say which of its rows belong together")
    if sequence and any(grouped):
        raise ValueError("sequence: it is of one log, and groups are of many; certify one of them")
    if sequence and allow_dependence:
        raise ValueError("allow_dependence: it is not needed with sequence, whose rows may depend on each other")
    if any(grouped) or sequence:
        options.set_sampling("sequence" if sequence else "groups", claims.get("claims") is None)
    options.group = _group_name(tables, text("group_name", group_name))
    options.metric = _common([table.metric for table in tables]) or "metric" if metric is None else text("metric", metric)
    options.unit = _common([table.unit for table in tables]) or "" if unit is None else text("unit", unit)
    options = _core.resolved(options, [table.steps for table in tables])
    counted = [(table.name, table.source, table.reading, *table.count(options)) for table in tables]
    record = _common_record(tables) if run is None else run
    return Certificate._of(_core.certify(options, counted, record_text("run", record), bool(allow_dependence)))


def count(
    traces: Data | Sequence[Data] | Mapping[str, Data],
    *,
    source: str | None = None,
    sha256: str | None = None,
    first_row: int = 0,
    names: Sequence[str] | None = None,
    metric: str | None = None,
    unit: str | None = None,
    first_step: int | None = None,
    recorded_steps: Sequence[int] | None = None,
    run: Mapping[str, Any] | None = None,
    **claims: Unpack[ClaimOptions],
) -> Tally:
    """Counts a part of the samples, for whoever makes or reads them in many processes and certifies once.

    ``certify(count(part).merge(count(other), ...))`` is the certificate of ``certify(whole)``, byte for byte. Every part is
    counted under the same declarations; defaults that depend on the number of samples are resolved by :func:`certify`.

    Parameters
    ----------
    traces, names, metric, unit, first_step, recorded_steps, run, **claims
        As of :func:`certify`: one table with a column per step, or several of the same problems. Rows are problems. A file is
        called as its source is, or "traces": parts must agree.
    source
        What these rows are a part of, in words: ``"seeds of my generator, version 2"``. Samples are known by their source
        and their row in it, so that none is counted twice; give each sample the row of its seed or its place in the table. A
        file that is not said to be a part is its own source, known by its digest. An array without a source is counted too;
        it cannot be merged.
    sha256
        Digest of the whole file or array, if `source` is one (:func:`surefoot.sha256_of`). It stands in the certificate, and
        ``verify(data)`` compares it.
    first_row
        The number of the first row in the source.

    >>> import numpy as np, surefoot
    >>> traces = np.random.default_rng(1).exponential(0.7 ** np.arange(20), (500, 20))
    >>> whole = dict(source="array", sha256=surefoot.sha256_of(traces))
    >>> parts = [surefoot.count(traces[i : i + 125], first_row=i, **whole) for i in range(0, 500, 125)]
    >>> surefoot.certify(parts[0].merge(*parts[1:])).to_json() == surefoot.certify(traces).to_json()
    True
    """
    if isinstance(traces, Tally) or _is_of_text(traces, _core.TableChoice()):
        raise TypeError("traces: a tally is of tables with a column per step")
    first = whole_number("first_row", first_row)
    if source is None and (sha256 is not None or first != 0):
        raise ValueError(f"{'sha256' if sha256 is not None else 'first_row'}: is of a source, and none is given")
    if names is None and isinstance(traces, (str, os.PathLike)):
        names = ["traces" if source is None else _core.table_name(text("source", source))]
    tables = _tables(traces, names, None, first_step, recorded_steps)
    if any(table.grouped for table in tables):
        raise ValueError("groups: a group could be in two parts; certify them in one process")
    options = claim_options(**_choosing(claims))
    options.metric = _common([table.metric for table in tables]) or "metric" if metric is None else text("metric", metric)
    options.unit = _common([table.unit for table in tables]) or "" if unit is None else text("unit", unit)
    options = _core.resolved(options, [table.steps for table in tables])
    tally = _core.PartTally(options, record_text("run", _common_record(tables) if run is None else run))
    for table in tables:
        of_part = None
        if source is not None:
            of_part = _core.RowSource(text("source", source), "" if sha256 is None else text("sha256", sha256), table.reading, True)
        if isinstance(table, _FileTable):
            tally.add_file(table.name, table.table, first, of_part, table.source)
            continue
        alone = of_part or _core.RowSource(table.source, npy_sha256(table.values), table.reading, False)
        tally.add_array(table.name, table.values, table.steps, first, alone)
    return Tally._of(tally)


def sha256_of(data: npt.ArrayLike | str | os.PathLike[str]) -> str:
    """The SHA-256 by which a certificate knows a table: of a file, or of the file that ``numpy.save`` makes of an array."""
    if isinstance(data, (str, os.PathLike)):
        digest = hashlib.sha256()
        with open(data, "rb") as file:
            while block := file.read(_NUMBERS_AT_ONCE):
                digest.update(block)
        return digest.hexdigest()
    return npy_sha256(real_table(data, "data", 3))


def _table_choice(
    scalar: bool | None,
    value: str | Sequence[str] | None,
    variants: str | None,
    rows: str | None,
    step_column: str | None,
    where: Mapping[str, Any] | Sequence[str] | None,
    failed: Mapping[str, Any] | Sequence[str] | None,
    missing: str,
) -> _core.TableChoice:
    choice = _core.TableChoice()
    choice.scalar = bool(scalar)
    if value is not None:
        choice.values = [value] if isinstance(value, str) else [text("value", name) for name in value]
    for name, column in (("variants", variants), ("rows", rows), ("steps", step_column)):
        if column is not None:
            setattr(choice, name, text("step_column" if name == "steps" else name, column))
    choice.where = _conditions("where", where)
    choice.failed = _conditions("failed", failed)
    choice.set_missing(text("missing", missing))
    return choice


def _conditions(name: str, given: Mapping[str, Any] | Sequence[str] | None) -> list[str]:
    if given is None:
        return []
    if isinstance(given, Mapping):
        return [f"{text(name, column)}={wanted}" for column, wanted in given.items()]
    return [given] if isinstance(given, str) else [text(name, condition) for condition in given]


def _is_one_dimensional(item: Any) -> bool:
    if isinstance(item, (str, bytes, os.PathLike, Traces, Mapping)):
        return False
    if hasattr(item, "ndim"):
        return bool(item.ndim == 1)
    return isinstance(item, (list, tuple)) and bool(item) and all(isinstance(entry, (int, float, np.number)) for entry in item)


def _is_of_text(traces: Any, choice: _core.TableChoice) -> bool:
    if choice.scalar or choice.values or choice.variants or choice.rows or choice.steps or choice.where or choice.failed:
        return True
    if isinstance(traces, Mapping):
        return bool(traces) and all(_is_one_dimensional(item) for item in traces.values())
    return _is_one_dimensional(traces)


def _certify_text(
    traces: Any,
    choice: _core.TableChoice,
    names: Sequence[str] | None,
    sources: Sequence[str] | None,
    metric: str | None,
    unit: str | None,
    run: Mapping[str, Any] | None,
    allow_dependence: bool,
    claims: ClaimOptions,
) -> Certificate:
    items, keys = _listed_text(traces)
    if keys is not None and names is not None:
        raise ValueError("names: the keys of traces are the names already")
    given = [text("names", name) for name in names] if names is not None else keys
    for what, values in (("names", given), ("sources", sources)):
        if values is not None and len(values) != len(items):
            raise ValueError(f"{what}: {len(values)} for {len(items)} variants")
    chosen = given or _distinct([_default_name(item) if isinstance(item, (str, os.PathLike)) else "values" for item in items])
    options = claim_options(**_choosing(claims))
    options.metric = "" if metric is None else text("metric", metric)
    options.unit = "" if unit is None else text("unit", unit)
    tables = []
    for i, (item, name) in enumerate(zip(items, chosen)):
        if isinstance(item, (str, os.PathLike)):
            path = os.fspath(item)
            table, source = _core.LongTable(path, choice), Path(path).name
        else:
            label, content = _text_of(item)
            _scalar_choice(item, choice)
            table, source = _core.LongTable.of_bytes("traces", content, choice), "array" if label is None else "DataFrame"
            if label is None and isinstance(getattr(item, "name", None), str):
                named, of_unit = _core.metric_of_label(item.name)
                options.metric = options.metric or named
                options.unit = options.unit or of_unit
        if any(table.names) and names is not None:
            raise ValueError("names: the table names its variants")
        for notice in table.notices:
            warnings.warn(f"{source}: {notice}", stacklevel=3)
        tables.append((table, name, source if sources is None else text("sources", sources[i])))
    return Certificate._of(_core.certify_tables(options, tables, record_text("run", run), allow_dependence))


def _scalar_choice(item: Any, choice: _core.TableChoice) -> None:
    """An array has no labels that could say steps."""
    if not hasattr(item, "to_csv") or getattr(item, "ndim", 2) == 1:
        choice.scalar = True


def _listed_text(traces: Any) -> tuple[list[Any], list[str] | None]:
    if isinstance(traces, Mapping):
        return list(traces.values()), [str(name) for name in traces]
    several = isinstance(traces, (list, tuple)) and bool(traces) and not _is_one_dimensional(traces)
    return (list(traces), None) if several else ([traces], None)


def _text_of(item: Any) -> tuple[str | None, bytes]:
    """The file that stands for an array (numpy.save) or a DataFrame (to_csv without its index), and None or "csv"."""
    if hasattr(item, "to_csv") and getattr(item, "ndim", 2) == 2:
        index = [name for name in item.index.names if name is not None]
        if index:
            item = item.reset_index()
        return "csv", item.to_csv(index=False, na_rep="nan").encode()
    if isinstance(item, np.ma.MaskedArray):
        raise TypeError("traces: is masked; fill it: numpy.inf makes failures of what is hidden")
    array = np.asarray(item)
    if array.dtype.kind not in "iuf" or array.dtype.itemsize > 8:
        raise TypeError(f"traces: dtype {array.dtype} is not real numbers of at most 64 bits")
    if array.ndim not in (1, 2):
        raise ValueError(f"traces: has shape {array.shape}, must be a number per problem")
    array = np.ascontiguousarray(array)
    return None, _npy_header(array) + array.tobytes()


def _choosing(claims: ClaimOptions) -> ClaimOptions:
    """Bands beside what is declared, unless they are for a fixed number of runs and nobody asked for them."""
    anytime = claims.get("anytime") or claims.get("risk_method") == "anytime"
    claims.setdefault("choose", "before" if anytime else "both")
    return claims


def claim_options(
    *,
    tolerances: Iterable[float] | None = None,
    quantiles: Iterable[float] | None = None,
    steps: Iterable[int] | Literal["all"] | None = None,
    confidence: float | None = None,
    claims: Sequence[Kind] | None = None,
    simultaneous: str | None = None,
    choose: str | None = None,
    anytime: bool = False,
    risk_method: str | None = None,
    quantile_method: str | None = None,
    budget_method: str | None = None,
    average_method: str | None = None,
    success_delta: float | None = None,
    quantile_delta: float | None = None,
    budget_delta: float | None = None,
    average_delta: float | None = None,
    sequence_delta: float | None = None,
    mean_delta: float | None = None,
    range: tuple[float, float] | None = None,
    thresholds: Iterable[float] | None = None,
    cvar: Iterable[float] | None = None,
    grid: Iterable[float] | None = None,
    title: str = "",
    shift: str | None = None,
) -> _core.Options:
    """ClaimOptions, checked. What is not given keeps the library's default."""
    options = _core.Options()
    if tolerances is not None:
        options.tolerances = _numbers("tolerances", tolerances)
    if quantiles is not None:
        options.quantiles = _numbers("quantiles", quantiles)
    options.all_steps = isinstance(steps, str) and steps == "all"
    if steps is not None and not options.all_steps:
        options.steps = whole_numbers("steps", steps)
    if confidence is not None:
        options.delta = _core.delta_of_confidence(real_number("confidence", confidence))
    if claims is not None:
        options.set_claims([claims] if isinstance(claims, str) else [text("claims", kind) for kind in claims])
    if simultaneous is not None:
        options.set_simultaneous(text("simultaneous", simultaneous))
    if choose is not None:
        options.set_choose(text("choose", choose))
    if risk_method is not None:
        options.risk_method = text("risk_method", risk_method)
    if anytime:
        if options.risk_method not in ("exact", "anytime"):
            raise ValueError(f"risk_method: {options.risk_method!r} is for a number of runs that was fixed beforehand")
        options.risk_method = "anytime"
    if quantile_method is not None:
        options.quantile_method = text("quantile_method", quantile_method)
    if budget_method is not None:
        options.budget_method = text("budget_method", budget_method)
    if average_method is not None:
        options.average_method = text("average_method", average_method)
    for kind, delta in (
        ("success", success_delta),
        ("quantile", quantile_delta),
        ("budget", budget_delta),
        ("average", average_delta),
        ("sequence", sequence_delta),
        ("mean", mean_delta),
    ):
        if delta is not None:
            options.set_delta(kind, real_number(f"{kind}_delta", delta))
    if grid is not None:
        options.grid = _numbers("grid", grid)
    if range is not None:
        ends = _numbers("range", range)
        if len(ends) != 2 or ends[0] != 0:
            raise ValueError(f"range: {range!r} is not (0, R)")
        options.range = ends[1]
    if thresholds is not None:
        options.thresholds = _numbers("thresholds", thresholds)
    if cvar is not None:
        options.cvar = _numbers("cvar", cvar)
    options.title = text("title", title)
    if shift is not None:
        options.set_shift(text("shift", shift))
    return options


def whole_numbers(name: str, values: Any) -> list[int]:
    array = np.asarray(values)
    if array.ndim != 1:
        raise ValueError(f"{name}: has shape {array.shape}, must be a list")
    if array.size and array.dtype.kind not in "iu":
        raise TypeError(f"{name}: dtype {array.dtype} is not whole numbers")
    return [whole_number(name, value) for value in array]


def _numbers(name: str, values: Any) -> list[float]:
    if isinstance(values, (list, tuple)) and values and all(type(value) is float for value in values):
        return list(values)
    array = np.asarray(list(values) if isinstance(values, Iterable) else values)
    if array.ndim != 1:
        raise ValueError(f"{name}: has shape {array.shape}, must be a list")
    if array.size and array.dtype.kind not in "iuf":
        raise TypeError(f"{name}: dtype {array.dtype} is not real numbers")
    return [float(value) for value in array]


class _ArrayTable:
    """An array whose runs are to be counted."""

    def __init__(
        self,
        values: Array,
        steps: list[int],
        name: str,
        source: str,
        traces: Traces | None = None,
        reading: str | None = None,
        grouping: _Grouping | None = None,
    ) -> None:
        self.values = values
        self.steps = steps
        self.reading = [_core.unlabelled_columns(steps) if reading is None else reading] if steps else []
        self.grouped = grouping is not None
        self.group_name = grouping.name if grouping is not None else ""
        self.group_numbers = grouping.numbers if grouping is not None else None
        if grouping is not None:
            self.reading.append(grouping.reading)
        self.name = name
        self.source = source
        self.metric = traces.metric if traces else None
        self.unit = traces.unit if traces else None
        self.record = traces.run if traces else None

    def count(self, options: _core.Options) -> tuple[str, _core.Tally, _core.Independence]:
        return npy_sha256(self.values), *_core.count_table(self.rows, options, self.steps, self.group_numbers)

    @property
    def rows(self) -> Array:
        """A row per tick, where there are groups of them."""
        return self.values if self.values.ndim == 2 else self.values.reshape(-1, self.values.shape[2])


class _FileTable:
    """A file whose runs are to be counted, read by the program's readers."""

    def __init__(self, path: str, first_step: int | None, name: str, source: str, group: str) -> None:
        self.table = _core.RunTable(path, first_step, group)
        self.grouped = self.table.grouped
        self.group_name = group
        if self.table.notice:
            warnings.warn(f"{path}: {self.table.notice}", stacklevel=4)
        self.steps = self.table.steps
        self.reading = self.table.reading
        self.name = name
        self.source = source
        self.metric: str | None = None
        self.unit: str | None = None
        self.record: Mapping[str, Any] | None = None

    def count(self, options: _core.Options) -> tuple[str, _core.Tally, _core.Independence]:
        tally = self.table.count(options)
        return self.table.sha256, tally, self.table.independence


def real_table(values: Any, name: str = "traces", most_dimensions: int = 2) -> Array:
    """An array in two dimensions that can be counted in place; other real numbers become float64."""
    if isinstance(values, np.ma.MaskedArray):
        raise TypeError(f"{name}: is masked; fill it: numpy.inf makes failures of what is hidden")
    array = np.asarray(values)
    if not 2 <= array.ndim <= most_dimensions:
        or_groups = ", or groups x ticks x steps" if most_dimensions > 2 else ""
        raise ValueError(f"{name}: has shape {array.shape}, must be problems x steps{or_groups}")
    if array.dtype == np.float64 or array.dtype == np.float32:
        return array
    if array.dtype.kind not in "iuf" or array.dtype.itemsize > 8:
        raise TypeError(f"{name}: dtype {array.dtype} is not real numbers of at most 64 bits")
    return array.astype(np.float64)


def npy_sha256(array: Array) -> str:
    """SHA-256 of the file that numpy.save would write, so that it can stand for the array when data are recounted.

    >>> import io, hashlib, numpy as np
    >>> file = io.BytesIO(); array = np.eye(3); np.save(file, array)
    >>> npy_sha256(array) == hashlib.sha256(file.getvalue()).hexdigest()
    True
    """
    digest = hashlib.sha256(_npy_header(array))
    in_order = array if array.flags.c_contiguous else array.T if array.flags.f_contiguous else None
    # In parts, so that Ctrl-C is seen between them.
    if in_order is not None:
        numbers = in_order.reshape(-1)
        for first in range(0, numbers.size, _NUMBERS_AT_ONCE):
            digest.update(numbers[first : first + _NUMBERS_AT_ONCE].data)
        return digest.hexdigest()
    rows = max(1, _NUMBERS_AT_ONCE // max(1, math.prod(array.shape[1:])))
    for first in range(0, len(array), rows):
        digest.update(np.ascontiguousarray(array[first : first + rows]).data)
    return digest.hexdigest()


_NUMBERS_AT_ONCE = 1 << 20


def _npy_header(array: Array) -> bytes:
    """Version 1.0 of the format, as NumPy writes it from 1.24 on: with room for the first axis to grow, 64 bytes aligned."""
    fortran = array.flags.f_contiguous and not array.flags.c_contiguous
    text = f"{{'descr': {array.dtype.str!r}, 'fortran_order': {fortran}, 'shape': {array.shape!r}, }}"
    text += " " * (21 - len(str(array.shape[-1 if fortran else 0])))
    text += " " * (63 - (10 + len(text)) % 64) + "\n"
    return b"\x93NUMPY\x01\x00" + len(text).to_bytes(2, "little") + text.encode()


def record_text(name: str, record: Any) -> str:
    """JSON of what a certificate is to record; numbers and arrays of NumPy become Python's."""
    if record is None:
        return "null"
    try:
        return json.dumps(record, default=_plain, allow_nan=False)
    except (TypeError, ValueError) as error:
        raise type(error)(f"{name}: cannot be recorded as JSON: {error}") from None


def _plain(value: Any) -> Any:
    if isinstance(value, (np.generic, np.ndarray)):
        return value.tolist()
    raise TypeError(f"{type(value).__name__} is neither a number, a text, a list nor a dict")


def _is_data(item: Any) -> bool:
    return isinstance(item, (Traces, str, os.PathLike)) or getattr(item, "ndim", None) in (2, 3)


def _listed(traces: Any) -> tuple[list[Any], list[str] | None]:
    if isinstance(traces, Mapping):
        return list(traces.values()), [str(name) for name in traces]
    if isinstance(traces, (list, tuple)) and traces and all(_is_data(item) for item in traces):
        return list(traces), None
    return [traces], None


def _tables(
    traces: Any,
    names: Sequence[str] | None,
    sources: Sequence[str] | None,
    first_step: int | None,
    recorded_steps: Sequence[int] | None,
    groups: Any = None,
) -> list[_ArrayTable | _FileTable]:
    items, keys = _listed(traces)
    if not items:
        raise ValueError("traces: there is nothing to certify")
    if keys is not None and names is not None:
        raise ValueError("names: the keys of traces are the names already")
    given = [text("names", name) for name in names] if names is not None else keys
    for what, values in (("names", given), ("sources", sources)):
        if values is not None and len(values) != len(items):
            raise ValueError(f"{what}: {len(values)} for {len(items)} variants")
    if first_step is not None and recorded_steps is not None:
        raise ValueError("first_step: recorded_steps say it already")
    chosen = given or _distinct([_default_name(item) for item in items])
    if len(set(chosen)) < len(chosen):
        raise ValueError("names: two variants have the same name")
    labels = _labels_of_each(groups, len(items), keys)
    tables: list[_ArrayTable | _FileTable] = []
    for i, (item, name) in enumerate(zip(items, chosen)):
        source = sources[i] if sources is not None else None
        tables.append(_table(item, name, source, first_step, recorded_steps, labels[i]))
    return tables


def _table(
    item: Any,
    name: str,
    source: str | None,
    first_step: int | None,
    recorded_steps: Sequence[int] | None,
    groups: Any = None,
) -> _ArrayTable | _FileTable:
    if isinstance(item, (str, os.PathLike)):
        if groups is not None and not isinstance(groups, str):
            raise TypeError("groups: of a file it is the name of a column, or there is a third dimension")
        if recorded_steps is not None:
            raise ValueError("recorded_steps: a file's header says them, or first_step")
        path = os.fspath(item)
        first_step = None if first_step is None else whole_number("first_step", first_step)
        source = Path(path).name if source is None else text("sources", source)
        return _FileTable(path, first_step, name, source, "" if groups is None else groups)
    if isinstance(item, Traces):
        if first_step is not None or recorded_steps is not None:
            raise ValueError("recorded_steps: Traces have them already")
        values = real_table(item.values, most_dimensions=3)
        source = item.source if source is None else source
        return _ArrayTable(values, list(item.steps), name, source, item, grouping=_grouping(values, groups, ""))
    named = ""
    if isinstance(groups, str):
        item, groups, named = _without_column(item, groups)
    labelled = _labelled_steps(item, first_step is not None or recorded_steps is not None)
    if labelled is not None and labelled.skipped:
        item = np.asarray(item)[:, labelled.skipped :]
        item = item.astype(np.float64) if item.dtype == object else item
    values = real_table(item, most_dimensions=3)
    if recorded_steps is not None:
        steps = whole_numbers("recorded_steps", recorded_steps)
    elif labelled is not None:
        steps = labelled.steps
        if first_step is not None and whole_number("first_step", first_step) != steps[0]:
            raise ValueError(f"first_step: is {first_step}, and the columns of the DataFrame begin at {steps[0]}")
    else:
        first = 1 if first_step is None else whole_number("first_step", first_step)
        whole_number("first_step + columns", first + values.shape[-1])
        steps = list(range(first, first + values.shape[-1]))
    if steps and steps[0] < 0:
        raise ValueError(f"{'first_step' if recorded_steps is None else 'recorded_steps'}: {steps[0]} is negative")
    if labelled is not None and steps != labelled.steps:
        ends = f"{labelled.steps[0]} .. {labelled.steps[-1]}"
        raise ValueError(f"recorded_steps: the columns of the DataFrame say other steps, {ends}")
    reading = None if labelled is None else labelled.reading
    source = "array" if source is None else text("sources", source)
    return _ArrayTable(values, steps, name, source, None, reading, _grouping(values, groups, named))


@dataclasses.dataclass(frozen=True)
class _Grouping:
    """Which rows of an array belong together."""

    numbers: list[int]  #: of each row's group, from 0 in the order of their first rows
    name: str
    reading: str


def _grouping(values: Array, groups: Any, name: str) -> _Grouping | None:
    if values.ndim == 3:
        if groups is not None:
            raise ValueError("groups: an array with three dimensions has them already")
        count, ticks, steps = values.shape
        reading = f"three dimensions: {count} groups of {ticks} ticks, {steps} steps"
        return _Grouping(np.repeat(np.arange(count), ticks).tolist(), "", reading)
    if groups is None:
        return None
    reading = f"the column '{name}' names the group of each row" if name else "labels beside the array name the group of each row"
    return _Grouping(_group_numbers(groups, values.shape[0]), name, reading)


def _group_numbers(labels: Any, rows: int) -> list[int]:
    if isinstance(labels, np.ma.MaskedArray):
        raise TypeError("groups: is masked; every row needs a label")
    array = np.asarray(labels)
    if array.ndim != 1:
        raise ValueError(f"groups: has shape {array.shape}, must be a label for each of {rows} rows")
    if array.size != rows:
        raise ValueError(f"groups: {array.size} labels for {rows} rows")
    if array.dtype.kind not in "biufUSOmM":
        raise TypeError(f"groups: dtype {array.dtype} is no label")
    numbers: dict[Any, int] = {}
    found = []
    for row, label in enumerate(array.tolist()):
        if label is None or label != label or label in ("", b"") or type(label).__name__ in ("NAType", "NaTType"):
            raise ValueError(f"groups: the label of row {row} is missing ({label!r})")
        found.append(numbers.setdefault(label, len(numbers)))
    return found


def _without_column(frame: Any, column: str) -> tuple[Any, Any, str]:
    """A DataFrame without the column of its groups, and that column."""
    if not hasattr(frame, "columns") or isinstance(frame, np.ndarray):
        raise TypeError(f"groups: {column!r} is the name of a column, and an array has none; give a label for each row")
    columns = [str(name) for name in frame.columns]
    if column not in columns:
        raise ValueError(f"groups: there is no column {column!r}; the columns are {', '.join(map(repr, columns[:12]))}")
    return frame.drop(columns=frame.columns[columns.index(column)]), frame[frame.columns[columns.index(column)]], column


def _labels_of_each(groups: Any, variants: int, keys: list[str] | None) -> list[Any]:
    if groups is None or isinstance(groups, str):
        return [groups] * variants
    if isinstance(groups, Mapping):
        if keys is None or set(groups) != set(keys):
            raise ValueError("groups: has other keys than traces")
        return [groups[key] for key in keys]
    if variants == 1 and keys is None:
        return [groups]
    if len(groups) != variants:
        raise ValueError(f"groups: {len(groups)} for {variants} variants")
    return list(groups)


def _group_name(tables: Sequence[_ArrayTable | _FileTable], given: str) -> str:
    names = {table.group_name for table in tables}
    if len(names) > 1:
        raise ValueError(f"groups: are called differently: {', '.join(sorted(map(repr, names)))}")
    name = names.pop()
    if given and not any(table.grouped for table in tables):
        raise ValueError("group_name: there are no groups")
    if given and name and given != name:
        raise ValueError(f"group_name: is {given!r}, and the column of the groups {name!r}")
    return name or given


@dataclasses.dataclass(frozen=True)
class _LabelledSteps:
    """What the columns of a DataFrame say: their steps, after columns that only number the rows."""

    steps: list[int]
    skipped: int
    reading: str


def _labelled_steps(item: Any, told: bool) -> _LabelledSteps | None:
    """None where columns have no labels, or labels that say nothing while the steps are `told`."""
    if not hasattr(item, "columns") or getattr(item, "ndim", 2) != 2 or isinstance(item, np.ndarray):
        return None
    labels = list(item.columns)
    if labels == list(range(len(labels))):
        if told:
            return None
        raise ValueError(
            "traces: the columns of the DataFrame are 0, 1, 2, ..., as pandas counts them; say first_step or recorded_steps"
        )
    try:
        steps, skipped = _core.steps_of_labels([str(label) for label in labels])
    except ValueError as error:
        if told:
            return None
        reason = str(error).replace("header", "columns of the DataFrame")
        reason = reason.replace("--first-step", "first_step").replace("--value", "value")
        raise ValueError(f"traces: {reason}") from None
    first, last = labels[skipped], labels[-1]
    reading = f"the columns of the DataFrame say the steps ({str(first)!r} .. {str(last)!r})"
    if skipped:
        reading += f"; the first ({str(labels[0])!r}) numbers the instances and is not a step"
    return _LabelledSteps(steps, skipped, reading)


def _default_name(item: Any) -> str:
    if isinstance(item, (str, os.PathLike)):
        return _core.table_name(os.fspath(item))
    return item.name if isinstance(item, Traces) else "traces"


def _distinct(names: list[str]) -> list[str]:
    seen: dict[str, int] = {}
    distinct = []
    for name in names:
        seen[name] = seen.get(name, 0) + 1
        distinct.append(name if seen[name] == 1 else f"{name} ({seen[name]})")
    return distinct


def _common(values: list[str | None]) -> str | None:
    return values[0] if len(set(values)) == 1 else None


def _common_record(tables: Sequence[_ArrayTable | _FileTable]) -> Mapping[str, Any] | None:
    """How the runs were made: of the only variant, or of each by name."""
    if all(table.record is None for table in tables):
        return None
    if len(tables) == 1:
        return tables[0].record
    return {"variants": [{"name": table.name, **(table.record or {})} for table in tables]}


def recount(
    verifier: _core.Verifier,
    variants: list[dict[str, Any]],
    data: Any,
    recorded_steps: Sequence[int] | None,
    groups: Any = None,
) -> None:
    """Counts the data of every variant again."""
    if of_text := verifier.variants_by_table():
        several = isinstance(data, Mapping) or (isinstance(data, (list, tuple)) and not _is_one_dimensional(data))
        tables = (list(data.values()) if isinstance(data, Mapping) else list(data)) if several else [data]
        if len(tables) != len(of_text):
            raise ValueError(f"data: {len(tables)} for {len(of_text)} tables; give one for each, in their order")
        for of_table, item in zip(of_text, tables):
            if isinstance(item, (str, os.PathLike)):
                verifier.recount_table(of_table, os.fspath(item))
            else:
                verifier.recount_bytes(of_table, "data", _text_of(item)[1])
        return
    items, keys = _listed(data)
    wanted = sum(_table_count(variant) for variant in variants)
    if len(items) != wanted:
        of = f"{len(variants)} variants" if wanted == len(variants) else f"{wanted} tables"
        raise ValueError(f"data: {len(items)} for {of}; give one for each, in their order")
    labels = _labels_of_each(groups, len(items), keys)
    for i, (rows, _) in enumerate(_rows_of(verifier.options, variants, items, recorded_steps, labels, reads=False)):
        verifier.recount(i, rows)


def _table_count(variant: Mapping[str, Any]) -> int:
    return 1 + len(variant.get("appended", []))


def _add_table(
    rows: _core.CountedRows,
    options: _core.Options,
    item: Any,
    variant: Mapping[str, Any],
    recorded_steps: Any,
    labels: Any,
    reads: bool,
) -> None:
    first_step, group = variant["first_step"], variant.get("groups", {}).get("name", "")
    if isinstance(item, (str, os.PathLike)):
        if labels is not None:
            raise ValueError("groups: the certificate says which column of a file they are")
        path = os.fspath(item)
        rows.add_file(_core.RunTable(path, first_step, group), options, Path(path).name)
        return
    own = isinstance(item, Traces)
    first = None if own or recorded_steps is not None else first_step
    if labels is None and hasattr(item, "columns"):
        labels = group or None
    table = _table(item, "", None, first, None if own else recorded_steps, labels)
    assert isinstance(table, _ArrayTable)
    reading = table.reading if reads else []
    digest = npy_sha256(table.values)
    rows.add_array(table.rows, options, table.steps, table.source, digest, reading, table.group_numbers)


def _rows_of(
    options: _core.Options,
    variants: Sequence[Mapping[str, Any]],
    items: Sequence[Any],
    recorded_steps: Any,
    labels: Sequence[Any],
    reads: bool,
) -> Iterable[tuple[_core.CountedRows, Mapping[str, Any]]]:
    """The rows of each variant, counted from its tables."""
    at = 0
    for variant in variants:
        rows = _core.CountedRows(bool(variant.get("appended")) and variant["independence"]["of"] == "tables")
        for i in range(at, at + _table_count(variant)):
            _add_table(rows, options, items[i], variant, recorded_steps, labels[i], reads)
        at += _table_count(variant)
        yield rows, variant


def append_rows(
    held: _core.Certificate, variants: Sequence[Mapping[str, Any]], more: Any, earlier: Any, allow_dependence: bool
) -> _core.Certificate:
    """Certificate.append()."""
    options = _core.options_to_append(held)
    added, _ = _listed(more)
    before, _ = _listed(earlier)
    tables = sum(_table_count(variant) for variant in variants)
    if len(before) != tables:
        raise ValueError(f"earlier: {len(before)} for the {tables} tables that the certificate was counted from")
    if len(added) != len(variants) and len(variants) > 1:
        raise ValueError(f"more: {len(added)} for {len(variants)} variants; give one for each, in their order")
    counted = []
    for i, (rows, variant) in enumerate(_rows_of(options, variants, before, None, [None] * tables, reads=True)):
        for item in added if len(variants) == 1 else [added[i]]:
            _add_table(rows, options, item, variant, None, None, reads=True)
        counted.append(rows)
    return _core.append(held, options, counted, bool(allow_dependence))


@dataclasses.dataclass(frozen=True)
class RunUntil:
    """What run_until() has come to; true if the claim holds."""

    certificate: Certificate
    traces: Array  #: the rows of all runs, in the order of their seeds
    holds: bool

    def __bool__(self) -> bool:
        return self.holds


def run_until(
    solve: Callable[[int], npt.ArrayLike],
    claim: str,
    *,
    max_runs: int = 100_000,
    first_seed: int = 0,
    first_step: int = 1,
    metric: str = "metric",
    unit: str = "",
    name: str = "traces",
    allow_dependence: bool = False,
    **claims: Unpack[ClaimOptions],
) -> RunUntil:
    """Calls ``solve(seed)`` for one seed after the other until the claim holds, or `max_runs` are made.

    ``solve`` returns the numbers of a run, one for each step; one that fails returns infinities. Bounds hold at every
    number of runs, so stopping when the claim holds is covered by the confidence. The claim is all that is declared,
    unless `claims` say more; it ends where ``surefoot run command --until`` does.

    >>> import numpy as np, surefoot
    >>> result = surefoot.run_until(lambda seed: np.random.default_rng(seed).uniform(0, 1, 2), "95% below 1 after 2")
    >>> result.holds, len(result.traces)
    (True, 109)
    """
    until = _core.Until(text("claim", claim))
    most = whole_number("max_runs", max_runs)
    seed = whole_number("first_seed", first_seed)
    declared = ("claims" in claims, "tolerances" in claims, "quantiles" in claims, "steps" in claims)
    claims["anytime"] = True
    given = until.declare(claim_options(**_choosing(claims)), *declared)
    given.metric, given.unit = text("metric", metric), text("unit", unit)
    rows: list[list[float]] = []
    looks: _core.UntilLooks | None = None
    options = given
    steps: list[int] = []
    certificate, holds, next_look = None, False, 0
    for _ in shown(range(most), "runs", "runs"):
        row = [float(value) for value in np.atleast_1d(np.asarray(solve(seed + len(rows)), dtype=np.float64))]
        if looks is None:
            steps = list(range(first_step, first_step + len(row)))
            until.require_recorded(steps)
            options = _core.resolved(given, [steps])
            looks = _core.UntilLooks(until.share, until.delta(options, steps))
            next_look = looks.next_look()
        rows.append(row)
        looks.add(until.fails(steps, row))
        if len(rows) >= next_look or len(rows) == most:
            traces = np.array(rows)
            table = _ArrayTable(traces, steps, text("name", name), "array")
            counted = [(table.name, table.source, table.reading, *table.count(options))]
            certificate = _core.certify(options, counted, "null", bool(allow_dependence))
            holds = until.holds(certificate)
        if holds:
            break
        next_look = looks.next_look()
    if certificate is None:
        raise ValueError(f"max_runs: {most} is not above 0")
    return RunUntil(Certificate._of(certificate), np.array(rows), holds)
