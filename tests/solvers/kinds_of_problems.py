"""Quadratic programs of the kinds that people give to OSQP, small: solvable, infeasible and unbounded ones."""

import numpy as np
import scipy.sparse as sparse

from random_problems import QuadraticProgram

EVERY = np.inf


def _problem(name, P, q, A, l, u):
    return QuadraticProgram(name, sparse.csc_matrix(P).toarray(), np.asarray(q, float), sparse.csc_matrix(A).toarray(),
                            np.asarray(l, float), np.asarray(u, float))


def random_qp(random, n, m, density=0.15):
    M = sparse.random(n, n, density, random_state=random, data_rvs=random.standard_normal)
    A = sparse.random(m, n, density, random_state=random, data_rvs=random.standard_normal)
    point = A @ random.standard_normal(n)
    return M @ M.T + 1e-2 * sparse.eye(n), random.standard_normal(n), A, point - random.random(m), point + random.random(m)


def equality_qp(random, n, m, density=0.15):
    M = sparse.random(n, n, density, random_state=random, data_rvs=random.standard_normal)
    A = sparse.random(m, n, density, random_state=random, data_rvs=random.standard_normal)
    right = A @ random.standard_normal(n)
    return M @ M.T + 1e-2 * sparse.eye(n), random.standard_normal(n), A, right, right


def mpc(random, states, inputs, horizon):
    """x_{t+1} = F x_t + B u_t with boxes, as examples/mpc, in the variables (x_0 .. x_T, u_0 .. u_{T-1})."""
    F = np.eye(states) + 0.1 * random.standard_normal((states, states))
    F /= max(1.0, np.abs(np.linalg.eigvals(F)).max())
    B = random.standard_normal((states, inputs))
    start = 0.5 * random.uniform(-1, 1, states)
    Q = sparse.diags(random.uniform(0, 10, states) * (random.random(states) < 0.7))
    P = sparse.block_diag([sparse.kron(sparse.eye(horizon + 1), Q), 0.1 * sparse.eye(horizon * inputs)])
    n = P.shape[0]
    dynamics = sparse.hstack([
        sparse.kron(sparse.eye(horizon + 1), -sparse.eye(states)) + sparse.kron(sparse.eye(horizon + 1, k=-1), F),
        sparse.kron(sparse.vstack([sparse.csc_matrix((1, horizon)), sparse.eye(horizon)]), B)])
    right = np.concatenate([-start, np.zeros(horizon * states)])
    bound = np.concatenate([np.full((horizon + 1) * states, 2.0), np.full(horizon * inputs, 0.3)])
    return (P, np.zeros(n), sparse.vstack([dynamics, sparse.eye(n)]),
            np.concatenate([right, -bound]), np.concatenate([right, bound]))


def portfolio(random, assets, factors):
    F = sparse.random(assets, factors, 0.5, random_state=random, data_rvs=random.standard_normal)
    D = sparse.diags(random.random(assets) * np.sqrt(factors))
    P = sparse.block_diag([2 * D, 2 * sparse.eye(factors)])
    q = np.concatenate([-random.standard_normal(assets), np.zeros(factors)])
    A = sparse.vstack([
        sparse.hstack([sparse.csc_matrix(np.ones((1, assets))), sparse.csc_matrix((1, factors))]),
        sparse.hstack([F.T, -sparse.eye(factors)]),
        sparse.hstack([sparse.eye(assets), sparse.csc_matrix((assets, factors))])])
    return (P, q, A, np.concatenate([[1.0], np.zeros(factors), np.zeros(assets)]),
            np.concatenate([[1.0], np.zeros(factors), np.ones(assets)]))


def lasso(random, n, m):
    data = sparse.random(m, n, 0.3, random_state=random, data_rvs=random.standard_normal)
    b = data @ (random.standard_normal(n) * (random.random(n) < 0.5)) + 0.1 * random.standard_normal(m)
    weight = 0.2 * np.abs(data.T @ b).max()
    P = sparse.block_diag([sparse.csc_matrix((n, n)), 2 * sparse.eye(m), sparse.csc_matrix((n, n))])
    q = np.concatenate([np.zeros(n + m), weight * np.ones(n)])
    zero = sparse.csc_matrix((n, m))
    A = sparse.vstack([sparse.hstack([data, -sparse.eye(m), sparse.csc_matrix((m, n))]),
                       sparse.hstack([sparse.eye(n), zero, -sparse.eye(n)]),
                       sparse.hstack([sparse.eye(n), zero, sparse.eye(n)])])
    return (P, q, A, np.concatenate([b, np.full(n, -EVERY), np.zeros(n)]),
            np.concatenate([b, np.zeros(n), np.full(n, EVERY)]))


def huber(random, n, m):
    data = sparse.random(m, n, 0.4, random_state=random, data_rvs=random.standard_normal)
    noise = np.where(random.random(m) < 0.9, 0.1 * random.standard_normal(m), random.uniform(0, 10, m))
    b = data @ random.standard_normal(n) + noise
    P = sparse.block_diag([sparse.csc_matrix((n, n)), 2 * sparse.eye(m), sparse.csc_matrix((2 * m, 2 * m))])
    q = np.concatenate([np.zeros(n + m), 2 * np.ones(2 * m)])
    one, none = sparse.eye(m), sparse.csc_matrix((m, m))
    A = sparse.vstack([sparse.hstack([data, -one, -one, one]),
                       sparse.hstack([sparse.csc_matrix((m, n)), none, one, none]),
                       sparse.hstack([sparse.csc_matrix((m, n)), none, none, one])])
    return (P, q, A, np.concatenate([b, np.zeros(2 * m)]), np.concatenate([b, np.full(2 * m, EVERY)]))


def svm(random, n, m):
    labels = np.where(np.arange(m) < m // 2, 1.0, -1.0)
    data = labels[:, None] / np.sqrt(n) + random.standard_normal((m, n)) / np.sqrt(n)
    P = sparse.block_diag([sparse.eye(n), sparse.csc_matrix((m, m))])
    q = np.concatenate([np.zeros(n), np.ones(m)])
    A = sparse.vstack([sparse.hstack([labels[:, None] * data, -sparse.eye(m)]),
                       sparse.hstack([sparse.csc_matrix((m, n)), sparse.eye(m)])])
    return (P, q, A, np.concatenate([np.full(m, -EVERY), np.zeros(m)]),
            np.concatenate([-np.ones(m), np.full(m, EVERY)]))


def infeasible(random, n, m):
    """Two rows contradict each other."""
    P, q, A, l, u = random_qp(random, n, m)
    row = sparse.csc_matrix(random.standard_normal((1, n)))
    return (P, q, sparse.vstack([A, row, row]), np.concatenate([l, [1.0, -EVERY]]),
            np.concatenate([u, [EVERY, -random.uniform(0.5, 3)]]))


def unbounded(random, n, m):
    """A direction that costs ever less and that no row sees."""
    P, q, A, l, u = random_qp(random, n, m)
    P, A = P.toarray(), A.toarray()
    P[-1, :] = P[:, -1] = A[:, -1] = 0
    q[-1] = -random.uniform(0.5, 3)
    return P, q, A, l, u


def zero_rows(random, n, m, inside):
    """Rows of A without entries: 0 lies between their bounds, or the problem is infeasible."""
    P, q, A, l, u = random_qp(random, n, m)
    A = A.toarray()
    A[::4] = 0
    l[::4], u[::4] = (-1.0, 1.0) if inside else (0.5, 1.0)
    if inside:
        l[0] = u[0] = 0
    return P, q, A, l, u


def linear_program(random, n, m):
    """No curvature; every other row has an upper bound alone, and boxes keep it bounded."""
    _, q, A, l, u = random_qp(random, n, m)
    l[::2] = -EVERY
    return (sparse.csc_matrix((n, n)), q, sparse.vstack([A, sparse.eye(n)]), np.concatenate([l, np.full(n, -20.0)]),
            np.concatenate([u, np.full(n, 20.0)]))


def large_bounds(random, n, m):
    """Bounds that stand for none: 1e30, which the package takes so, and 1e20, which it does not."""
    P, q, A, l, u = random_qp(random, n, m)
    l[::3], u[1::3] = -1e30, 1e20
    l[2::3], u[2::3] = -1e30, 1e30
    return P, q, A, l, u


def problems(seed):
    kinds = [
        ("random QP", random_qp, [(10, 20), (20, 10), (40, 60), (60, 30), (30, 90), (80, 80)]),
        ("equality QP", equality_qp, [(10, 4), (30, 12), (60, 25), (40, 39), (50, 10)]),
        ("MPC", mpc, [(2, 1, 5), (4, 2, 8), (6, 2, 10), (6, 3, 6), (3, 1, 20), (8, 4, 5)]),
        ("portfolio", portfolio, [(20, 3), (40, 5), (60, 6), (80, 4), (30, 10)]),
        ("lasso", lasso, [(5, 20), (10, 30), (15, 15), (20, 40), (8, 60)]),
        ("Huber", huber, [(5, 20), (10, 30), (3, 40), (15, 25), (8, 50)]),
        ("SVM", svm, [(5, 20), (10, 40), (3, 30), (20, 20), (8, 60)]),
        ("infeasible", infeasible, [(10, 5), (20, 30), (40, 20), (60, 60), (15, 45)]),
        ("unbounded", unbounded, [(10, 5), (20, 30), (40, 20), (60, 60), (15, 45)]),
        ("zero rows", lambda *given: zero_rows(*given, inside=True), [(10, 20), (20, 12), (40, 60)]),
        ("zero rows that contradict", lambda *given: zero_rows(*given, inside=False), [(10, 20), (20, 12), (40, 60)]),
        ("linear program", linear_program, [(10, 20), (20, 12), (40, 60)]),
        ("large bounds", large_bounds, [(10, 20), (20, 12), (40, 60)]),
    ]
    found = []
    for place, (name, make, shapes) in enumerate(kinds):
        for number, shape in enumerate(shapes):
            random = np.random.default_rng([seed, place, number])
            found.append(_problem(f"{name} {' x '.join(map(str, shape))}", *make(random, *shape)))
    return found
