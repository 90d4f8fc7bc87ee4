"""From traces of any optimizer to a certificate."""

from __future__ import annotations

import dataclasses
import hashlib
import json
import os
import warnings
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal, TypeAlias, TypedDict, Union

import numpy as np
import numpy.typing as npt

from . import _core
from ._arguments import real_number, text, whole_number
from .certificate import Certificate, Kind

if TYPE_CHECKING:
    from typing_extensions import Unpack

__all__ = ["ClaimOptions", "Traces", "certify"]

Array: TypeAlias = npt.NDArray[Any]


class ClaimOptions(TypedDict, total=False):
    """What is to be claimed. Choose all of it without looking at the results; defaults depend on the shape only."""

    tolerances: Sequence[float] | npt.NDArray[np.floating[Any]] | None  #: increasing; below is success [1e-4 .. 1e-1]
    quantiles: Sequence[float] | npt.NDArray[np.floating[Any]]  #: increasing, in (0, 1) [0.5, 0.9, 0.99]
    steps: Sequence[int] | npt.NDArray[np.integer[Any]] | Literal["all"] | None  #: claims speak of [up to 60, spread out]
    confidence: float  #: of the whole certificate [0.99]
    claims: Sequence[Kind]  #: kinds of claims [all three]
    simultaneous: Literal["all", "each"]  #: all claims hold together with the confidence, or each alone does
    #: before: what is declared here; after: any tolerance and share, of bands; both: both within one confidence [both]
    choose: Literal["both", "before", "after"]
    risk_method: Literal["exact", "kl", "pinsker"]
    quantile_method: Literal["exact", "grid"]
    budget_method: Literal["settling", "every-step", "first-hit", "paper"]
    success_delta: float | None  #: of each claim of the kind [a share of the total]
    quantile_delta: float | None
    budget_delta: float | None
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


def certify(
    traces: Data | Sequence[Data] | Mapping[str, Data],
    *,
    names: Sequence[str] | None = None,
    metric: str | None = None,
    unit: str | None = None,
    first_step: int | None = None,
    recorded_steps: Sequence[int] | None = None,
    sources: Sequence[str] | None = None,
    run: Mapping[str, Any] | None = None,
    allow_dependence: bool = False,
    **claims: Unpack[ClaimOptions],
) -> Certificate:
    """Certifies an optimizer from its results on sample problems that are independent and identically distributed.

    Parameters
    ----------
    traces
        A row per problem, a column per step: an array (float64 and float32 are read where they lie, whatever their
        strides), a file as the program reads it (CSV, gzipped CSV, ``.npy``), a :class:`Traces`; several of them as a list
        or, with names, a dict: then their claims share one confidence. The columns of a DataFrame must say the steps, as
        the header line of a file does, unless `first_step` or `recorded_steps` do.
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
    """
    tables = _tables(traces, names, sources, first_step, recorded_steps)
    claims.setdefault("choose", "both")
    options = claim_options(**claims)
    options.metric = _common([table.metric for table in tables]) or "metric" if metric is None else text("metric", metric)
    options.unit = _common([table.unit for table in tables]) or "" if unit is None else text("unit", unit)
    options = _core.resolved(options, [table.steps for table in tables])
    counted = [(table.name, table.source, table.reading, *table.count(options)) for table in tables]
    record = _common_record(tables) if run is None else run
    return Certificate._of(_core.certify(options, counted, record_text("run", record), bool(allow_dependence)))


def claim_options(
    *,
    tolerances: Iterable[float] | None = None,
    quantiles: Iterable[float] | None = None,
    steps: Iterable[int] | Literal["all"] | None = None,
    confidence: float | None = None,
    claims: Sequence[Kind] | None = None,
    simultaneous: str | None = None,
    choose: str | None = None,
    risk_method: str | None = None,
    quantile_method: str | None = None,
    budget_method: str | None = None,
    success_delta: float | None = None,
    quantile_delta: float | None = None,
    budget_delta: float | None = None,
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
    if quantile_method is not None:
        options.quantile_method = text("quantile_method", quantile_method)
    if budget_method is not None:
        options.budget_method = text("budget_method", budget_method)
    for kind, delta in (("success", success_delta), ("quantile", quantile_delta), ("budget", budget_delta)):
        if delta is not None:
            options.set_delta(kind, real_number(f"{kind}_delta", delta))
    if grid is not None:
        options.grid = _numbers("grid", grid)
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
    ) -> None:
        self.values = values
        self.steps = steps
        self.reading = [_core.unlabelled_columns(steps) if reading is None else reading] if steps else []
        self.name = name
        self.source = source
        self.metric = traces.metric if traces else None
        self.unit = traces.unit if traces else None
        self.record = traces.run if traces else None

    def count(self, options: _core.Options) -> tuple[str, _core.Tally, _core.Independence]:
        return npy_sha256(self.values), *_core.count_table(self.values, options, self.steps)


class _FileTable:
    """A file whose runs are to be counted, read by the program's readers."""

    def __init__(self, path: str, first_step: int | None, name: str, source: str) -> None:
        self.table = _core.RunTable(path, first_step)
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


def real_table(values: Any, name: str = "traces") -> Array:
    """An array in two dimensions that can be counted in place; other real numbers become float64."""
    if isinstance(values, np.ma.MaskedArray):
        raise TypeError(f"{name}: is masked; fill it: numpy.inf makes failures of what is hidden")
    array = np.asarray(values)
    if array.ndim != 2:
        raise ValueError(f"{name}: has shape {array.shape}, must be problems x steps")
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
    rows = max(1, _NUMBERS_AT_ONCE // max(1, array.shape[1]))
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
    return isinstance(item, (Traces, str, os.PathLike)) or getattr(item, "ndim", None) == 2


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
    tables: list[_ArrayTable | _FileTable] = []
    for i, (item, name) in enumerate(zip(items, chosen)):
        source = sources[i] if sources is not None else None
        tables.append(_table(item, name, source, first_step, recorded_steps))
    return tables


def _table(
    item: Any, name: str, source: str | None, first_step: int | None, recorded_steps: Sequence[int] | None
) -> _ArrayTable | _FileTable:
    if isinstance(item, (str, os.PathLike)):
        if recorded_steps is not None:
            raise ValueError("recorded_steps: a file's header says them, or first_step")
        path = os.fspath(item)
        first_step = None if first_step is None else whole_number("first_step", first_step)
        return _FileTable(path, first_step, name, Path(path).name if source is None else text("sources", source))
    if isinstance(item, Traces):
        if first_step is not None or recorded_steps is not None:
            raise ValueError("recorded_steps: Traces have them already")
        return _ArrayTable(real_table(item.values), list(item.steps), name, item.source if source is None else source, item)
    labelled = _labelled_steps(item, first_step is not None or recorded_steps is not None)
    if labelled is not None and labelled.skipped:
        item = np.asarray(item)[:, labelled.skipped :]
        item = item.astype(np.float64) if item.dtype == object else item
    values = real_table(item)
    if recorded_steps is not None:
        steps = whole_numbers("recorded_steps", recorded_steps)
    elif labelled is not None:
        steps = labelled.steps
        if first_step is not None and whole_number("first_step", first_step) != steps[0]:
            raise ValueError(f"first_step: is {first_step}, and the columns of the DataFrame begin at {steps[0]}")
    else:
        first = 1 if first_step is None else whole_number("first_step", first_step)
        whole_number("first_step + columns", first + values.shape[1])
        steps = list(range(first, first + values.shape[1]))
    if steps and steps[0] < 0:
        raise ValueError(f"{'first_step' if recorded_steps is None else 'recorded_steps'}: {steps[0]} is negative")
    if labelled is not None and steps != labelled.steps:
        ends = f"{labelled.steps[0]} .. {labelled.steps[-1]}"
        raise ValueError(f"recorded_steps: the columns of the DataFrame say other steps, {ends}")
    reading = None if labelled is None else labelled.reading
    return _ArrayTable(values, steps, name, "array" if source is None else text("sources", source), None, reading)


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
        reason = str(error).replace("header", "columns of the DataFrame").replace("--first-step", "first_step")
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
    verifier: _core.Verifier, variants: list[dict[str, Any]], data: Any, recorded_steps: Sequence[int] | None
) -> None:
    """Counts the data of every variant again."""
    items, _ = _listed(data)
    if len(items) != len(variants):
        raise ValueError(f"data: {len(items)} for {len(variants)} variants; give one for each, in their order")
    for i, (item, variant) in enumerate(zip(items, variants)):
        if isinstance(item, (str, os.PathLike)):
            verifier.recount_file(i, os.fspath(item))
            continue
        first = None if isinstance(item, Traces) or recorded_steps is not None else variant["first_step"]
        table = _table(item, "", None, first, recorded_steps if not isinstance(item, Traces) else None)
        assert isinstance(table, _ArrayTable)
        verifier.recount(i, table.values, table.steps, npy_sha256(table.values))
