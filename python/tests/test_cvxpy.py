"""CVXPY problems with parameters as families."""

import sys

import numpy as np
import pytest
import surefoot
from surefoot import solvers

cvxpy = pytest.importorskip("cvxpy")


def lasso_problem():
    x, b = cvxpy.Variable(5), cvxpy.Parameter(8, name="b")
    D = np.random.default_rng(0).normal(size=(8, 5))
    return cvxpy.Problem(cvxpy.Minimize(0.5 * cvxpy.sum_squares(D @ x - b) + 0.1 * cvxpy.norm1(x))), b


def robust_problem():
    x, a = cvxpy.Variable(3), cvxpy.Parameter(3, name="a")
    return cvxpy.Problem(cvxpy.Minimize(cvxpy.norm(x - a) + cvxpy.sum(x)), [x >= 0, cvxpy.sum(x) <= 2])


def test_a_qp_becomes_a_qp_family_with_the_right_optimum():
    problem, b = lasso_problem()
    family = surefoot.from_cvxpy(problem, lambda random: {b: random.normal(size=8)}, 6)
    assert isinstance(family, surefoot.QPFamily) and family.instances == 6 and family.varied == ("b",)
    solutions = family.solve()
    # Instance 5 is the last that was set: the parameter still has its value.
    optimum = problem.solve(solver=cvxpy.CLARABEL)
    x, q = solutions[5, : family.variables], family.row("q", 5)
    assert 0.5 * x @ (family.matrix("P", 5).scipy() @ x) + q @ x == pytest.approx(optimum, abs=1e-6)


def test_instances_do_not_depend_on_their_number():
    problem, b = lasso_problem()
    many, few = (surefoot.from_cvxpy(problem, lambda random: {b: random.normal(size=8)}, n) for n in (6, 3))
    for name in "qlu":
        assert np.array_equal(many.row(name, 2), few.row(name, 2))
    assert not np.array_equal(many.row("l", 2), many.row("l", 3))


def test_a_cone_problem_becomes_a_cone_family_with_the_right_optimum():
    problem = robust_problem()
    family = surefoot.from_cvxpy(problem, lambda random: {"a": random.uniform(0, 1, 3)}, 4)
    assert isinstance(family, surefoot.ConeFamily) and family.varied == ("a",)
    optimum = problem.solve(solver=cvxpy.CLARABEL)
    pytest.importorskip("clarabel")
    traces = solvers.clarabel(family, record=[40], metric=lambda x, y, i: family.row("c", i) @ x)
    assert traces.values[3, 0] == pytest.approx(optimum, abs=1e-6)


def test_real_solvers_run_it_and_the_certificate_says_what_varied():
    problem, b = lasso_problem()
    family = surefoot.from_cvxpy(problem, lambda random: {b: random.normal(size=8)}, 30)
    certificate = surefoot.certify(
        {"osqp": solvers.osqp(family, record=[50, 500]), "clarabel": solvers.clarabel(family.as_cones(), record=[5, 20])},
        tolerances=[1e-4],
        quantiles=[0.5],
    )
    assert all(run["varied"] == ["b"] for run in certificate.run["variants"])
    assert certificate.success(500, 1e-4, "osqp").failures == 0
    assert certificate.success(20, 1e-4, "clarabel").failures == 0


def test_form_can_be_chosen():
    problem, b = lasso_problem()
    family = surefoot.from_cvxpy(problem, [{b: np.ones(8)}, {b: np.zeros(8)}], form="cone")
    assert isinstance(family, surefoot.ConeFamily)


def test_wrong_uses_are_refused(monkeypatch):
    problem, b = lasso_problem()
    draw = lambda random: {"c": 1.0}  # noqa: E731
    with pytest.raises(ValueError, match="'c' is not a parameter of the problem"):
        surefoot.from_cvxpy(problem, draw, 3)
    with pytest.raises(ValueError, match="instances"):
        surefoot.from_cvxpy(problem, draw)
    with pytest.raises(TypeError, match="not a cvxpy.Problem"):
        surefoot.from_cvxpy(3, draw, 3)
    for sample, error, says in [
        (3, TypeError, "sample: 3 is neither a function of a random generator nor a list"),
        (lambda random: random.normal(size=8), TypeError, "is not a dict of values by parameter"),
        (lambda random: {1: random.normal(size=8)}, TypeError, "1 is neither a cvxpy.Parameter nor the name of one"),
        (lambda random: {"b": random.normal(size=7)}, ValueError, "sample: parameter 'b' of instance 0: "),
        (lambda random: {"b": "many"}, ValueError, "sample: parameter 'b' of instance 0: "),
        (lambda random: None, ValueError, "gives parameter 'b' no value"),
    ]:
        with pytest.raises(error, match=says):
            surefoot.from_cvxpy(lasso_problem()[0], sample, 3)
    with pytest.raises(ValueError, match="instances: 3 is more than the 2 of sample"):
        surefoot.from_cvxpy(problem, [{b: np.ones(8)}, {b: np.zeros(8)}], 3)
    with pytest.raises(TypeError, match="instances: 2.5 is not a whole number"):
        surefoot.from_cvxpy(problem, draw, 2.5)
    y = cvxpy.Variable()
    with pytest.raises(ValueError, match="problem: has no cvxpy.Parameter"):
        surefoot.from_cvxpy(cvxpy.Problem(cvxpy.Minimize(y**2)), [{}])
    with pytest.raises(ValueError, match="problem: cannot be written as a convex cone program"):
        surefoot.from_cvxpy(cvxpy.Problem(cvxpy.Maximize(y**2 + cvxpy.Parameter(name="p"))), [{"p": 1.0}])
    x = cvxpy.Variable()
    exponential = cvxpy.Problem(cvxpy.Minimize(cvxpy.exp(x) - cvxpy.Parameter(name="p") * x))
    with pytest.raises(ValueError, match="exponential"):
        surefoot.from_cvxpy(exponential, [{"p": 1.0}])
    monkeypatch.setitem(sys.modules, "cvxpy", None)
    with pytest.raises(ImportError, match="pip install cvxpy "):
        surefoot.from_cvxpy(problem, draw, 3)
