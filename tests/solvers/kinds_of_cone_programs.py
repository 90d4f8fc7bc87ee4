"""Cone programs of the kinds that people solve with SCS, small, drawn from a seed; infeasible and unbounded ones too.

minimise 1/2 x'Px + c'x subject to Ax + s = b, s in K; rows in the order zero, nonnegative, second-order, semidefinite,
exponential, dual exponential, power, as the package has them.
"""

import numpy as np

from random_problems import ConeProgram


def triangle(order):
    """Rows and columns of the entries of a semidefinite cone, lower triangle by columns."""
    columns, rows = np.triu_indices(order)
    return rows, columns


def packed(X):
    rows, columns = triangle(X.shape[0])
    return X[rows, columns] * np.where(rows == columns, 1.0, np.sqrt(2))


def program(name, c, blocks, cones, P=None):
    """blocks: (rows of A, b) in order."""
    A = np.vstack([np.atleast_2d(rows) for rows, _ in blocks])
    b = np.concatenate([np.atleast_1d(values) for _, values in blocks])
    n = c.size
    return ConeProgram(name, np.zeros((n, n)) if P is None else P, c, A, b, cones)


def linear_program(random, n, m):
    A = random.normal(size=(m, n))
    b = A @ random.normal(size=n) + random.uniform(0.1, 1, m)
    c = -A.T @ random.uniform(0, 1, m)
    return program(f"linear program {n} x {m}", c, [(A, b)], dict(l=m))


def transport(random, sources, sinks):
    n = sources * sinks
    supply = np.kron(np.eye(sources), np.ones(sinks))
    demand = np.kron(np.ones(sources), np.eye(sinks))
    amounts = random.uniform(1, 2, sinks)
    return program(f"transport {sources} x {sinks}", random.uniform(1, 3, n),
                   [(demand, amounts), (supply, np.full(sources, 1.3 * amounts.sum() / sources)), (-np.eye(n), np.zeros(n))],
                   dict(z=sinks, l=sources + n))


def portfolio(random, n, factors):
    """(x, t): largest return less risk, with a second-order cone for the risk."""
    F = random.normal(size=(n, factors)) / np.sqrt(factors)
    c = np.append(-random.normal(0.1, 0.1, n), 1.0)
    risk = np.vstack([np.append(np.zeros(n), -1.0), np.hstack([-F.T, np.zeros((factors, 1))]),
                      np.hstack([-0.1 * np.eye(n), np.zeros((n, 1))])])
    return program(f"portfolio of {n}", c, [(np.append(np.ones(n), 0.0), 1.0), (np.hstack([-np.eye(n), np.zeros((n, 1))]),
                   np.zeros(n)), (risk, np.zeros(1 + factors + n))], dict(z=1, l=n, q=[1 + factors + n]))


def lasso(random, n, m):
    """(x, t, u): u + lambda 1't, |x| <= t, |Dx - y| <= u."""
    D = random.normal(size=(m, n))
    y = D @ (random.normal(size=n) * (random.uniform(size=n) < 0.3)) + 0.1 * random.normal(size=m)
    eye, zero = np.eye(n), np.zeros((n, 1))
    c = np.concatenate([np.zeros(n), np.full(n, 0.2), [1.0]])
    cone = np.vstack([np.append(np.zeros(2 * n), -1.0), np.hstack([D, np.zeros((m, n + 1))])])
    return program(f"lasso {n} x {m}", c, [(np.hstack([eye, -eye, zero]), np.zeros(n)), (np.hstack([-eye, -eye, zero]),
                   np.zeros(n)), (cone, np.append(0.0, y))], dict(l=2 * n, q=[m + 1]))


def robust_least_squares(random, n, m):
    A = random.normal(size=(m, n))
    y = random.normal(size=m)
    P = A.T @ A
    return program(f"least squares in a ball {n} x {m}", -A.T @ y,
                   [(np.vstack([np.zeros(n), -np.eye(n)]), np.append(0.5, np.zeros(n)))], dict(q=[n + 1]), P)


def nearest_correlation(random, order):
    """The correlation matrix nearest to a random one."""
    noise = random.uniform(-1, 1, (order, order))
    C = (noise + noise.T) / 2
    rows, columns = triangle(order)
    size = rows.size
    ones = np.eye(size)[rows == columns]
    return program(f"nearest correlation matrix of order {order}", -packed(C), [(ones, np.ones(order)), (-np.eye(size),
                   np.zeros(size))], dict(z=order, s=[order]), np.eye(size))


def largest_cut(random, order):
    W = np.triu(random.uniform(size=(order, order)) < 0.5, 1) * random.uniform(0.5, 1.5, (order, order))
    W = W + W.T
    rows, columns = triangle(order)
    size = rows.size
    return program(f"largest cut of {order}", packed(W - np.diag(W.sum(axis=0))) / 4,
                   [(np.eye(size)[rows == columns], np.ones(order)), (-np.eye(size), np.zeros(size))], dict(z=order, s=[order]))


def smallest_largest_eigenvalue(random, order, n):
    """(x, t): t I - B_0 - sum x_i B_i semidefinite."""
    matrices = [(M + M.T) / 2 for M in random.normal(size=(n + 1, order, order))]
    A = np.column_stack([packed(B) for B in matrices[1:]] + [-packed(np.eye(order))])
    return program(f"smallest largest eigenvalue of order {order}", np.append(np.zeros(n), 1.0), [(A, -packed(matrices[0]))],
                   dict(s=[order]))


def largest_entropy(random, n, m):
    """(x, t): sum of t_i >= x_i log x_i subject to Ax = b, 1'x = 1: (-t_i, x_i, 1) in the exponential cone."""
    A = random.uniform(size=(m, n))
    x = random.uniform(0.5, 1.5, n)
    x /= x.sum()
    rows = np.zeros((3 * n, 2 * n))
    b = np.zeros(3 * n)
    for i in range(n):
        rows[3 * i, n + i] = 1
        rows[3 * i + 1, i] = -1
        b[3 * i + 2] = 1
    return program(f"largest entropy of {n}", np.append(np.zeros(n), np.ones(n)), [(np.hstack([np.vstack([A, np.ones(n)]),
                   np.zeros((m + 1, n))]), np.append(A @ x, 1.0)), (rows, b)], dict(z=m + 1, ep=n))


def logistic_regression(random, n, m):
    """(w, t): sum of t_i >= log(1 + exp(-y_i a_i'w)), by two exponential cones each, and |w|^2."""
    D = random.normal(size=(m, n)) * np.sign(random.normal(size=(m, 1)))
    total = n + 3 * m  # w, t, u, v: u_i + v_i <= 1, exp(-t) <= u, exp(-y a'w - t) <= v
    c = np.concatenate([np.zeros(n), np.ones(m), np.zeros(2 * m)])
    P = np.zeros((total, total))
    P[:n, :n] = 0.1 * np.eye(n)
    at = lambda block, i: n + block * m + i  # noqa: E731
    sums = np.zeros((m, total))
    rows, b = np.zeros((6 * m, total)), np.zeros(6 * m)
    for i in range(m):
        sums[i, at(1, i)] = sums[i, at(2, i)] = 1
        first, second = 6 * i, 6 * i + 3
        rows[first, at(0, i)] = 1
        b[first + 1] = 1
        rows[first + 2, at(1, i)] = -1
        rows[second, at(0, i)] = 1
        rows[second, :n] = D[i]
        b[second + 1] = 1
        rows[second + 2, at(2, i)] = -1
    return program(f"logistic regression {n} x {m}", c, [(sums, np.ones(m)), (rows, b)], dict(l=m, ep=2 * m), P)


def dual_exponential(random, n):
    """The nearest point of dual exponential cones, cut by a plane."""
    size = 3 * n
    plane = random.normal(size=size)
    return program(f"nearest in {n} dual exponential cones", random.normal(size=size), [(plane, 0.3), (-np.eye(size),
                   np.zeros(size))], dict(z=1, ed=n), np.eye(size))


def power_program(random, exponents):
    """Largest sum of x^a y^(1-a) subject to a budget."""
    n = len(exponents)
    rows = -np.eye(3 * n)
    c = np.tile([0.0, 0.0, -1.0], n) * np.repeat(random.uniform(0.5, 1.5, n), 3)
    prices = np.where(np.arange(3 * n) % 3 == 2, 0.0, random.uniform(0.5, 2, 3 * n))
    return program(f"powers {list(exponents)}", c, [(prices, 3.0), (rows, np.zeros(3 * n))], dict(l=1, p=list(exponents)))


def dual_power_program(random, exponents):
    size = 3 * len(exponents)
    return program(f"nearest in dual power cones {list(exponents)}", random.normal(size=size),
                   [(random.normal(size=size), 0.5), (-np.eye(size), np.zeros(size))],
                   dict(z=1, p=[-a for a in exponents]), np.eye(size))


def infeasible_linear(random, n, m):
    A = random.normal(size=(m, n))
    y = random.uniform(0.1, 1, m)
    A -= np.outer(y, y @ A) / (y @ y)  # A'y = 0
    b = random.normal(size=m)
    b -= (y @ b + 1) * y / (y @ y)  # b'y = -1
    return program(f"infeasible linear program {n} x {m}", random.normal(size=n), [(A, b)], dict(l=m))


def unbounded_linear(random, n, m):
    A = random.normal(size=(m, n))
    direction = random.normal(size=n)
    A -= np.outer(A @ direction + random.uniform(0.1, 1, m), direction) / (direction @ direction)  # A d < 0
    return program(f"unbounded linear program {n} x {m}", -direction + 0.1 * random.normal(size=n),
                   [(A, random.uniform(0.1, 1, m))], dict(l=m))


def infeasible_second_order(random, n):
    """|x - a| <= 1 and |x - b| <= 1 with a and b far apart."""
    ball = np.vstack([np.zeros(n), -np.eye(n)])
    a = random.normal(size=n)
    return program(f"infeasible second-order program of {n}", random.normal(size=n),
                   [(ball, np.append(1.0, -a)), (ball, np.append(1.0, -a - 3))], dict(q=[n + 1, n + 1]))


def infeasible_semidefinite(random, order):
    """X semidefinite with a negative diagonal entry."""
    rows, columns = triangle(order)
    size = rows.size
    first = np.eye(size)[0]
    return program(f"infeasible semidefinite program of order {order}", random.normal(size=size),
                   [(first, -1.0), (-np.eye(size), np.zeros(size))], dict(z=1, s=[order]))


def unbounded_semidefinite(random, order):
    rows, columns = triangle(order)
    size = rows.size
    return program(f"unbounded semidefinite program of order {order}", -packed(np.eye(order) + 0.1 * np.ones((order, order))),
                   [(np.eye(size)[1], 0.2), (-np.eye(size), np.zeros(size))], dict(z=1, s=[order]))


def zero_rows(random, n, m, contradicts):
    """A linear program with a zero row in the zero cone and one in the nonnegative cone: 0 + s = b."""
    plain = linear_program(random, n, m)
    zero = np.zeros((1, n))
    name = f"zero rows {n} x {m}" + (" that contradict" if contradicts else "")
    return program(name, plain.c, [(zero, 0.0), (plain.A, plain.b), (zero, -0.5 if contradicts else 0.5)], dict(z=1, l=m + 1))


def problems(seed):
    random = np.random.default_rng(seed)
    return [linear_program(random, 8, 20), linear_program(random, 20, 35), transport(random, 3, 4), transport(random, 5, 5),
            portfolio(random, 10, 3), portfolio(random, 25, 5), lasso(random, 8, 12), lasso(random, 15, 10),
            robust_least_squares(random, 10, 15), robust_least_squares(random, 25, 20),
            nearest_correlation(random, 4), nearest_correlation(random, 8), largest_cut(random, 5), largest_cut(random, 8),
            smallest_largest_eigenvalue(random, 4, 5), smallest_largest_eigenvalue(random, 6, 8),
            largest_entropy(random, 6, 2), largest_entropy(random, 15, 4), logistic_regression(random, 3, 8),
            logistic_regression(random, 5, 20), dual_exponential(random, 3), dual_exponential(random, 8),
            power_program(random, [0.5, 0.3]), power_program(random, [0.2, 0.7, 0.5, 0.9]),
            dual_power_program(random, [0.4, 0.6]), dual_power_program(random, [0.25, 0.5, 0.8]),
            infeasible_linear(random, 6, 12), infeasible_second_order(random, 4), infeasible_semidefinite(random, 3),
            unbounded_linear(random, 6, 10), unbounded_linear(random, 12, 8), unbounded_semidefinite(random, 3),
            zero_rows(random, 6, 12, False), zero_rows(random, 6, 12, True)]
