"""CVXPY problems with parameters as families."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any, Literal, TypeAlias, Union

import numpy as np

from ._arguments import brief, whole_number
from ._optional import needed
from .families import ConeFamily, QPFamily

__all__ = ["from_cvxpy"]

# Values by parameter or by its name; a function that returns nothing has set them itself.
Values: TypeAlias = Mapping[Any, Any]
Sample: TypeAlias = Union[Callable[[np.random.Generator], Union[Values, None]], Sequence[Values]]


def from_cvxpy(
    problem: Any,
    sample: Sample,
    instances: int | None = None,
    *,
    form: Literal["qp", "cone"] | None = None,
    seed: int = 0,
) -> QPFamily | ConeFamily:
    """The family that a CVXPY problem with parameters draws, in the standard form that CVXPY hands to solvers.

    Run it by the real solvers (:mod:`surefoot.solvers`) or by the batch engine (its own `certify`). Parameters that varied are
    recorded in certificates.

    Parameters
    ----------
    problem
        A ``cvxpy.Problem`` with ``cvxpy.Parameter`` s; compiled once if it follows CVXPY's rules for parameters (DPP).
    sample
        A function that draws one instance with the given ``numpy.random.Generator`` and returns the parameters' values, by
        parameter or by name; or the list of such values.
    instances
        How many to draw [the length of the list]. Instance i does not depend on their number.
    form
        "qp" (for osqp) or "cone" (for scs and clarabel) [qp if the problem is one].
    seed
        Of the draws.

    Metrics are of the standard form's variables, which are the problem's own and those that CVXPY added.

    >>> import cvxpy, surefoot
    >>> x, b = cvxpy.Variable(2), cvxpy.Parameter(2, name="b")
    >>> problem = cvxpy.Problem(cvxpy.Minimize(cvxpy.sum_squares(x - b)), [x >= 0])
    >>> surefoot.from_cvxpy(problem, lambda random: {"b": random.normal(size=2)}, instances=10).varied
    ('b',)
    """
    cvxpy = needed("cvxpy")
    if not isinstance(problem, cvxpy.Problem):
        raise TypeError(f"problem: is a {type(problem).__name__}, not a cvxpy.Problem")
    if not callable(sample) and not isinstance(sample, (list, tuple)):
        raise TypeError(f"sample: {brief(sample)} is neither a function of a random generator nor a list of values by parameter")
    if instances is None:
        if callable(sample):
            raise ValueError("instances: how many to draw is needed, as sample is a function")
        instances = len(sample)
    instances = whole_number("instances", instances)
    if instances < 1:
        raise ValueError(f"instances: {instances} is not above 0")
    if not callable(sample) and instances > len(sample):
        raise ValueError(f"instances: {instances} is more than the {len(sample)} of sample")
    if form is None:
        form = "qp" if problem.is_qp() else "cone"
    if form not in ("qp", "cone"):
        raise ValueError(f"form: {form!r} is not one of qp, cone")
    parameters = {parameter.name(): parameter for parameter in problem.parameters()}
    if len(parameters) < len(problem.parameters()):
        raise ValueError("problem: two parameters have the same name")
    if not parameters:
        raise ValueError("problem: has no cvxpy.Parameter, so that all instances would be the same")
    varied: dict[str, None] = {}
    drawn = []
    for i in range(instances):
        if callable(sample):
            values = sample(np.random.Generator(np.random.Philox(np.random.SeedSequence([seed, i]))))
        else:
            values = sample[i]
        for name, value in _named(values).items():
            if name not in parameters:
                raise ValueError(f"sample: {name!r} is not a parameter of the problem ({', '.join(parameters)})")
            try:
                parameters[name].value = value
            except (TypeError, ValueError) as error:
                raise ValueError(f"sample: parameter {name!r} of instance {i}: {error}") from error
            varied[name] = None
        for name, parameter in parameters.items():
            if parameter.value is None:
                raise ValueError(f"sample: gives parameter {name!r} no value")
        drawn.append(_standard_form(cvxpy, problem, form))
    names = tuple(varied) or tuple(parameters)
    return (_qp_family if form == "qp" else _cone_family)(drawn, names)


def _named(values: Any) -> dict[str, Any]:
    """Values by the names of parameters."""
    if values is None:
        return {}
    if not isinstance(values, Mapping):
        raise TypeError(f"sample: {brief(values)} is not a dict of values by parameter, such as {{'b': [1.0, 2.0]}}")
    named = {}
    for key, value in values.items():
        if not isinstance(key, str) and not callable(getattr(key, "name", None)):
            raise TypeError(f"sample: {brief(key)} is neither a cvxpy.Parameter nor the name of one")
        named[key if isinstance(key, str) else key.name()] = value
    return named


def _standard_form(cvxpy: Any, problem: Any, form: str) -> dict[str, Any]:
    try:
        data, _, _ = problem.get_problem_data(cvxpy.OSQP if form == "qp" else cvxpy.SCS)
    except (cvxpy.error.DCPError, cvxpy.error.DPPError, cvxpy.error.SolverError) as error:
        kind = "a quadratic program" if form == "qp" else "a convex cone program"
        raise ValueError(f"problem: cannot be written as {kind}: {' '.join(str(error).split())}") from error
    return dict(data)


def _qp_family(drawn: list[dict[str, Any]], varied: tuple[str, ...]) -> QPFamily:
    sparse = needed("scipy.sparse")
    matrices: dict[str, list[Any]] = {"P": [], "A": []}
    rows: dict[str, list[Any]] = {"q": [], "l": [], "u": []}
    for data in drawn:
        matrices["P"].append(_symmetric(sparse, data["P"]))
        matrices["A"].append(sparse.vstack([data["A"], data["F"]], format="csc"))
        rows["q"].append(data["q"])
        rows["l"].append(np.concatenate([data["b"], np.full(len(data["G"]), -np.inf)]))
        rows["u"].append(np.concatenate([data["b"], data["G"]]))
    return QPFamily(
        *(_shared(matrices[name]) for name in ("P", "A")), *(_shared_rows(rows[name]) for name in ("q", "l", "u")),
        varied=varied,
    )  # fmt: skip


def _cone_family(drawn: list[dict[str, Any]], varied: tuple[str, ...]) -> ConeFamily:
    sparse = needed("scipy.sparse")
    dims = drawn[0]["dims"]
    for kind in ("exp", "p3d", "pnd"):
        if getattr(dims, kind, None):
            raise ValueError("problem: has exponential or power cones, which families do not have")
    size = drawn[0]["A"].shape[1]
    return ConeFamily(
        _shared([_symmetric(sparse, data.get("P"), size) for data in drawn]),
        _shared([sparse.csc_matrix(data["A"]) for data in drawn]),
        _shared_rows([data["b"] for data in drawn]),
        _shared_rows([data["c"] for data in drawn]),
        zero=int(dims.zero),
        nonnegative=int(dims.nonneg),
        second_order=[int(dimension) for dimension in dims.soc],
        semidefinite=[int(order) for order in dims.psd],
        varied=varied,
    )


def _symmetric(sparse: Any, matrix: Any, size: int = 0) -> Any:
    """Both triangles, whichever of them CVXPY gives."""
    if matrix is None:
        return sparse.csc_matrix((size, size))
    upper = sparse.triu(matrix, format="csc")
    lower = sparse.tril(matrix, k=-1, format="csc")
    if lower.nnz:
        return sparse.csc_matrix(matrix)
    return (upper + sparse.triu(matrix, k=1).T).tocsc()


def _shared(matrices: list[Any]) -> Any:
    """One matrix if all instances have the same."""
    first = matrices[0]
    if all(m.shape == first.shape and (m != first).nnz == 0 for m in matrices[1:]):
        return first
    return matrices


def _shared_rows(rows: list[Any]) -> Any:
    table = np.stack([np.asarray(row, dtype=np.float64) for row in rows])
    return table[0] if len(table) > 1 and (table == table[0]).all() else table
