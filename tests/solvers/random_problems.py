"""Random quadratic and cone programs of many shapes, each made from a known solution, hence feasible and bounded."""

from dataclasses import dataclass

import numpy as np

from reference import project_dual_cone, semidefinite_rows


@dataclass
class QuadraticProgram:
    """minimise 1/2 x'Px + q'x subject to l <= Ax <= u"""

    name: str
    P: np.ndarray
    q: np.ndarray
    A: np.ndarray
    l: np.ndarray
    u: np.ndarray
    needs_scaling: bool = False  # hopeless for a solver without equilibration


@dataclass
class ConeProgram:
    """minimise 1/2 x'Px + c'x subject to Ax + s = b, s in K; cones as the scs package has them"""

    name: str
    P: np.ndarray
    c: np.ndarray
    A: np.ndarray
    b: np.ndarray
    cones: dict


# Kinds of rows of a quadratic program: the signs of its bounds and of the multiplier at the solution.
EQUALITY, BOX, LOWER, UPPER, FREE = "equality", "box", "lower", "upper", "free"
EVERY_KIND = (EQUALITY, BOX, LOWER, UPPER, FREE)


def _sparse_normal(random, rows, columns, density):
    """Standard normal entries, no empty row."""
    matrix = random.standard_normal((rows, columns)) * (random.random((rows, columns)) < density)
    matrix[np.arange(rows), random.integers(0, columns, rows)] += 1.0
    return matrix


def _quadratic_form(random, n, rank, density):
    factor = _sparse_normal(random, n, rank, density) if rank else np.zeros((n, 0))
    return factor @ factor.T


def quadratic_program(name, seed, n, m, rank=None, density=0.5, kinds=EVERY_KIND, row_scales=0.0, zero_cost=False,
                      needs_scaling=False):
    """rank: of P, full if None; row_scales: rows are multiplied by 10^t, t uniform on [-row_scales, row_scales]."""
    random = np.random.default_rng([seed, 1])
    P = _quadratic_form(random, n, n if rank is None else rank, density)
    A = _sparse_normal(random, m, n, density)
    A *= 10 ** random.uniform(-row_scales, row_scales, (m, 1))
    solution = random.standard_normal(n)
    z, width = A @ solution, random.uniform(0.1, 2.0, m)
    l, u, y = z - width, z + width, np.zeros(m)
    for row in range(m):
        kind, active = kinds[row % len(kinds)], random.random() < 0.5
        multiplier = random.exponential()
        if kind == EQUALITY:
            l[row] = u[row] = z[row]
            y[row] = multiplier * random.choice([-1.0, 1.0])
        elif kind == FREE:
            l[row], u[row] = -np.inf, np.inf
        elif kind == UPPER or (kind == BOX and random.random() < 0.5):
            l[row] = -np.inf if kind == UPPER else l[row]
            if active:
                u[row], y[row] = z[row], multiplier
        else:
            u[row] = np.inf if kind == LOWER else u[row]
            if active:
                l[row], y[row] = z[row], -multiplier
    q = np.zeros(n) if zero_cost else -P @ solution - A.T @ y
    return QuadraticProgram(name, P, q, A, l, u, needs_scaling)


def cone_program(name, seed, n, cones, rank=None, density=0.6):
    random = np.random.default_rng([seed, 2])
    m = cones.get("z", 0) + cones.get("l", 0) + sum(cones.get("q", [])) + sum(map(semidefinite_rows, cones.get("s", [])))
    P = _quadratic_form(random, n, n if rank is None else rank, density)
    A = _sparse_normal(random, m, n, density)
    solution, point = random.standard_normal(n), random.standard_normal(m)
    y = project_dual_cone(point, cones)
    s = y - point  # Moreau: in K and orthogonal to y
    return ConeProgram(name, P, -P @ solution - A.T @ y, A, A @ solution + s, cones)


def quadratic_programs(seed):
    shapes = [
        dict(name="two variables", n=2, m=3),
        dict(name="three variables, one row", n=3, m=1, kinds=(BOX,)),
        dict(name="equalities only", n=12, m=5, kinds=(EQUALITY,)),
        dict(name="boxes only", n=10, m=10, kinds=(BOX,)),
        dict(name="upper bounds only", n=8, m=14, kinds=(UPPER,)),
        dict(name="lower bounds only", n=8, m=14, kinds=(LOWER,)),
        dict(name="free rows and boxes", n=9, m=12, kinds=(FREE, BOX)),
        dict(name="free rows only", n=6, m=4, kinds=(FREE,)),
        dict(name="equalities and boxes", n=20, m=25, kinds=(EQUALITY, BOX, BOX)),
        dict(name="every kind, more rows than columns", n=15, m=40),
        dict(name="every kind, fewer rows than columns", n=40, m=15),
        dict(name="tall", n=5, m=60),
        dict(name="wide", n=60, m=5),
        dict(name="square", n=30, m=30),
        dict(name="largest", n=60, m=80, density=0.2),
        dict(name="sparse", n=50, m=50, density=0.05),
        dict(name="dense", n=25, m=20, density=1.0),
        dict(name="rank 1 of 10", n=10, m=20, rank=1),
        dict(name="half rank", n=24, m=30, rank=12),
        dict(name="linear program", n=10, m=30, rank=0, kinds=(EQUALITY, BOX, BOX, LOWER, UPPER)),
        dict(name="rows over four orders of magnitude", n=16, m=24, row_scales=2.0),
        dict(name="rows over eight orders of magnitude", n=16, m=24, row_scales=4.0, density=1.0,
             needs_scaling=True),
        dict(name="zero cost vector", n=14, m=18, zero_cost=True),
        dict(name="rank-deficient dense", n=18, m=22, rank=9, density=1.0),
    ]
    return [quadratic_program(seed=seed + index, **shape) for index, shape in enumerate(shapes)]


def cone_programs(seed):
    shapes = [
        dict(name="zero cone", n=8, cones=dict(z=4)),
        dict(name="zero cone, larger", n=40, cones=dict(z=25)),
        dict(name="nonnegative", n=6, cones=dict(l=10)),
        dict(name="nonnegative, wide", n=30, cones=dict(l=8)),
        dict(name="linear program", n=10, cones=dict(z=3, l=20), rank=0),
        dict(name="zero and nonnegative", n=15, cones=dict(z=6, l=12)),
        dict(name="zero and nonnegative, half rank", n=20, cones=dict(z=5, l=30), rank=10),
        dict(name="one second-order cone", n=5, cones=dict(q=[4])),
        dict(name="second-order cones of all small sizes", n=12, cones=dict(q=[1, 2, 3, 4, 5, 6])),
        dict(name="many second-order cones", n=25, cones=dict(q=[3] * 15)),
        dict(name="second-order cone program", n=10, cones=dict(z=2, l=4, q=[5, 7, 3]), rank=0),
        dict(name="large second-order cone", n=30, cones=dict(l=5, q=[40])),
        dict(name="one semidefinite cone of order 2", n=3, cones=dict(s=[2])),
        dict(name="one semidefinite cone of order 6", n=10, cones=dict(s=[6])),
        dict(name="semidefinite cones of orders 1 to 4", n=15, cones=dict(s=[1, 2, 3, 4])),
        dict(name="semidefinite program", n=12, cones=dict(z=3, s=[5, 3]), rank=0),
        dict(name="large semidefinite cone", n=20, cones=dict(s=[10])),
        dict(name="second-order and semidefinite", n=14, cones=dict(q=[4, 6], s=[3, 4])),
        dict(name="every cone", n=20, cones=dict(z=4, l=6, q=[3, 5], s=[2, 4])),
        dict(name="every cone, half rank", n=24, cones=dict(z=5, l=5, q=[4, 4], s=[3, 3]), rank=12),
        dict(name="every cone, linear", n=16, cones=dict(z=3, l=8, q=[6, 2], s=[4, 2]), rank=0),
        dict(name="every cone, largest", n=60, cones=dict(z=20, l=20, q=[10, 10], s=[6, 5]), density=0.2),
        dict(name="every cone, tall", n=4, cones=dict(z=2, l=10, q=[5, 5], s=[4, 3])),
    ]
    return [cone_program(seed=seed + index, **shape) for index, shape in enumerate(shapes)]
