"""Worst cases of methods with random coefficients against PEPit with clarabel, described by one function for both.

PEPit's values are what its solver finds, on either side of the truth by 1e-7 here; ours are proven. The committed values of its own worked
examples are in tests/golden/pepit.csv.
"""

import math
import random

import pytest
from surefoot import worst_case

pepit = pytest.importorskip("PEPit")
functions = pytest.importorskip("PEPit.functions")
operators = pytest.importorskip("PEPit.operators")
primitive_steps = pytest.importorskip("PEPit.primitive_steps")
pytest.importorskip("clarabel")

STEPS = 4


class Ours:
    """The words of a method for surefoot.worst_case."""

    def __init__(self):
        self.method = worst_case.Method()
        self.start = self.method.start

    def smooth(self, L, mu):
        return self.method.smooth(L=L, mu=mu)

    def averaged(self, alpha):
        return self.method.averaged(alpha)

    def resolvent(self, step):
        oracle = self.method.monotone()
        return lambda z: oracle.implicit(z, step)

    def bound_of_gap(self, point):
        self.method.measure_gap(point)
        return self.proven()

    def bound_of_norm(self, vector):
        self.method.measure_norm(vector)
        return self.proven()

    def proven(self):
        proof = self.method.prove()
        assert proof.verify() == []
        return proof.bound


class Theirs:
    """The same words for PEPit."""

    def __init__(self):
        self.problem = pepit.PEP()
        self.start = self.problem.set_initial_point()

    def begin_at(self, solution):
        self.problem.set_initial_condition((self.start - solution) ** 2 <= 1)

    def smooth(self, L, mu):
        self.function = self.problem.declare_function(functions.SmoothStronglyConvexFunction, L=L, mu=mu)
        self.solution = self.function.stationary_point()
        self.begin_at(self.solution)
        return self.function.gradient

    def averaged(self, alpha):
        operator = self.problem.declare_function(operators.LipschitzOperator, L=1.0)
        fixed, _, _ = operator.fixed_point()
        self.begin_at(fixed)
        return lambda z: alpha * (operator.gradient(z) - z)

    def resolvent(self, step):
        operator = self.problem.declare_function(operators.MonotoneOperator)
        self.begin_at(operator.stationary_point())
        return lambda z: primitive_steps.proximal_step(z, operator, step)[0]

    def bound_of_gap(self, point):
        return self.solved(self.function(point) - self.function(self.solution))

    def bound_of_norm(self, vector):
        return math.sqrt(self.solved(vector**2))

    def solved(self, metric):
        self.problem.set_performance_metric(metric)
        return self.problem.solve(wrapper="cvxpy", solver="CLARABEL", verbose=0)


def gradient(words, draw):
    f = words.smooth(2.0, 0.1)
    x = words.start
    for _ in range(STEPS):
        x = x - draw.uniform(0.2, 0.7) * f(x)
    return words.bound_of_gap(x)


def gradient_norm(words, draw):
    f = words.smooth(1.0, 0.0)
    x = words.start
    for _ in range(STEPS):
        x = x - draw.uniform(0.5, 1.5) * f(x)
    return words.bound_of_norm(f(x))


def heavy_ball(words, draw):
    f = words.smooth(1.0, 0.2)
    before = x = words.start
    for _ in range(STEPS):
        before, x = x, x - draw.uniform(0.5, 1.2) * f(x) + draw.uniform(0.0, 0.4) * (x - before)
    return words.bound_of_gap(x)


def momentum(words, draw):
    f = words.smooth(1.0, 0.0)
    x = y = words.start
    for _ in range(STEPS):
        before, x = x, y - 1.0 * f(y)
        y = x + draw.uniform(0.1, 0.8) * (x - before)
    return words.bound_of_gap(x)


def fixed_point(words, draw):
    step = words.averaged(draw.uniform(0.4, 0.95))
    z = words.start
    for _ in range(2 * STEPS):
        before, z = z, z + step(z)
    return words.bound_of_norm(z - before)


def anchored(words, draw):
    step = words.averaged(1.0)
    z = words.start
    for _ in range(STEPS):
        weight = draw.uniform(0.1, 0.6)
        z = weight * words.start + (1 - weight) * (z + step(z))
    return words.bound_of_norm(step(z))


def proximal_point(words, draw):
    step = words.resolvent(draw.uniform(0.5, 2.0))
    z = words.start
    for _ in range(2 * STEPS):
        before, z = z, step(z)
    return words.bound_of_norm(z - before)


@pytest.mark.parametrize("method", [gradient, gradient_norm, heavy_ball, momentum, fixed_point, anchored, proximal_point])
@pytest.mark.parametrize("seed", [1, 2])
@pytest.mark.filterwarnings("ignore:Solution may be inaccurate")
def test_random_methods_agree(method, seed):
    proven = method(Ours(), random.Random(seed))
    found = method(Theirs(), random.Random(seed))
    assert proven == pytest.approx(found, rel=1e-5), f"PEPit lies {(found - proven) / proven:.1e} from the proven bound"
