"""The families of docs/howto_tune.md as folders of files; nothing but Python is needed.

  python3 docs/tune_families.py families

writes families/kalman (for `tune cone`), families/control, families/lasso and families/svm (for `tune qp`), and
families/control_shifted, the control family with another horizon and wider states; for schedules of step sizes
families/quadratic and families/codes. Only vectors vary in each.
"""

import math
import pathlib
import random
import sys


def product(a, b):
    columns = list(zip(*b))
    return [[sum(x * y for x, y in zip(row, column)) for column in columns] for row in a]


def transposed(a):
    return [list(column) for column in zip(*a)]


def added(a, b, factor=1.0):
    return [[x + factor * y for x, y in zip(p, q)] for p, q in zip(a, b)]


def identity(n, value=1.0):
    return [[value if i == j else 0.0 for j in range(n)] for i in range(n)]


def inverse(a):
    n = len(a)
    rows = [list(row) + unit for row, unit in zip(a, identity(n))]
    for i in range(n):
        pivot = max(range(i, n), key=lambda r: abs(rows[r][i]))
        rows[i], rows[pivot] = rows[pivot], rows[i]
        rows[i] = [x / rows[i][i] for x in rows[i]]
        for r in range(n):
            if r != i:
                rows[r] = [x - rows[r][i] * y for x, y in zip(rows[r], rows[i])]
    return [row[n:] for row in rows]


def write_matrix(path, entries, rows, columns, symmetric=False):
    """Entries by place; of a symmetric matrix the lower triangle."""
    kept = sorted((j, i, v) for (i, j), v in entries.items() if v != 0 and (not symmetric or i >= j))
    kind = "symmetric" if symmetric else "general"
    lines = [f"%%MatrixMarket matrix coordinate real {kind}", f"{rows} {columns} {len(kept)}"]
    path.write_text("\n".join(lines + [f"{i + 1} {j + 1} {v!r}" for j, i, v in kept]) + "\n")


def entries_of(dense):
    return {(i, j): v for i, row in enumerate(dense) for j, v in enumerate(row)}


def write_table(path, rows):
    path.write_text("".join(",".join(f"{v:.9g}" for v in row) + "\n" for row in rows))


def write_qp(folder, p, a, q, l, u):
    folder.mkdir(parents=True, exist_ok=True)
    write_matrix(folder / "P.mtx", entries_of(p), len(p), len(p), symmetric=True)
    write_matrix(folder / "A.mtx", a, max(i for i, _ in a) + 1, len(p))
    for name, rows in (("q", q), ("l", l), ("u", u)):
        write_table(folder / f"{name}.csv", rows)


def control(folder, samples, horizon, reach, seed):
    """Two carts between walls, springs between them, one pushed; variables are changes of its force (rates)."""
    draw = random.Random(seed)
    dt, spring, friction, force_limit, rate_limit = 0.4, 0.5, 0.1, 0.6, 0.4
    motion = [[0, 0, 1, 0], [0, 0, 0, 1], [-2 * spring, spring, -friction, 0], [spring, -2 * spring, 0, -friction]]
    half = [[dt / 2 * x for x in row] for row in motion]
    left = inverse(added(identity(4), half, -1))
    moves = product(left, added(identity(4), half))
    pushes = [row[2] * dt for row in left]
    dynamics = [row + [push] for row, push in zip(moves, pushes)] + [[0, 0, 0, 0, 1]]
    inputs = [[push] for push in pushes] + [[1.0]]
    cost = [[c if i == j else 0.0 for j in range(5)] for i, c in enumerate([1, 1, 0.1, 0.1, 0.02])]
    final = cost
    for _ in range(500):  # Riccati
        sb = product(final, inputs)
        gain = 0.03 + product(transposed(inputs), sb)[0][0]
        sa = product(transposed(dynamics), sb)
        final = added(added(cost, product(transposed(dynamics), product(final, dynamics))),
                      [[x[0] * y[0] / gain for y in sa] for x in sa], -1)
    powers = [identity(5)]
    for _ in range(horizon):
        powers.append(product(dynamics, powers[-1]))
    hessian = identity(horizon, 0.03)
    linear = [[0.0] * 5 for _ in range(horizon)]
    for t in range(1, horizon + 1):
        weight = final if t == horizon else cost
        effect = transposed([transposed(product(powers[t - 1 - j], inputs))[0] if j < t else [0.0] * 5
                             for j in range(horizon)])
        weighed = product(transposed(effect), weight)
        hessian = added(hessian, product(weighed, effect))
        linear = added(linear, product(weighed, powers[t]))
    rows = {(t, t): 1.0 for t in range(horizon)}
    rows |= {(horizon + t, j): 1.0 for t in range(horizon) for j in range(t + 1)}
    states = [[draw.uniform(-1.5, 1.5) * reach, draw.uniform(-1.5, 1.5) * reach, draw.uniform(-0.75, 0.75) * reach,
               draw.uniform(-0.75, 0.75) * reach, draw.uniform(-force_limit, force_limit)] for _ in range(samples)]
    write_qp(folder, hessian, rows, [[sum(x * s for x, s in zip(row, state)) for row in linear] for state in states],
             [[-rate_limit] * horizon + [-force_limit - s[4]] * horizon for s in states],
             [[rate_limit] * horizon + [force_limit - s[4]] * horizon for s in states])


def lasso(folder, samples, seed):
    """minimise 1/2 |Dx - b|^2 + 0.1 |x|_1 with b = D x* + noise, x* sparse; variables (x, t), -t <= x <= t."""
    draw = random.Random(seed)
    m, n, weight = 30, 20, 0.1
    d = [[draw.gauss(0, 1) / math.sqrt(m) for _ in range(n)] for _ in range(m)]
    gram = product(transposed(d), d)
    p = [row + [0.0] * n for row in gram] + [[0.0] * (2 * n) for _ in range(n)]
    rows = {}
    for i in range(n):
        rows |= {(i, i): 1.0, (i, n + i): -1.0, (n + i, i): 1.0, (n + i, n + i): 1.0}
    q = []
    for _ in range(samples):
        true = [draw.gauss(0, 1) if draw.random() < 0.3 else 0.0 for _ in range(n)]
        b = [sum(x * y for x, y in zip(row, true)) + draw.gauss(0, 0.05) for row in d]
        q.append([-sum(d[i][j] * b[i] for i in range(m)) for j in range(n)] + [weight] * n)
    infinite = float("inf")
    write_qp(folder, p, rows, q, [[-infinite] * n + [0.0] * n], [[0.0] * n + [infinite] * n])


def svm(folder, samples, seed):
    """The dual of a support vector machine on fixed points with labels y of a random direction and noise:
    minimise 1/2 |X'b|^2 - y'b, sum b = 0, 0 <= y_i b_i <= 1."""
    draw = random.Random(seed)
    points, features = 30, 5
    x = [[draw.gauss(0, 1) for _ in range(features)] for _ in range(points)]
    kernel = added(product(x, transposed(x)), identity(points, 1e-3))
    rows = {(0, j): 1.0 for j in range(points)} | {(1 + j, j): 1.0 for j in range(points)}
    q, l, u = [], [], []
    for _ in range(samples):
        direction = [draw.gauss(0, 1) for _ in range(features)]
        y = [1.0 if sum(a * b for a, b in zip(row, direction)) + draw.gauss(0, 0.7) > 0 else -1.0 for row in x]
        q.append([-v for v in y])
        l.append([0.0] + [min(0.0, v) for v in y])
        u.append([0.0] + [max(0.0, v) for v in y])
    write_qp(folder, kernel, rows, q, l, u)


def kalman(folder, samples, horizon, seed):
    """The robust Kalman filter of the experiments, T = horizon."""
    draw = random.Random(seed)
    damping, dt, mu, rho = 0.05, 0.5, 2.0, 2.0
    step, fade = (1 - damping * dt / 2) * dt, 1 - damping * dt
    x, w, s, v, u, z = (k * horizon for k in (0, 4, 6, 7, 9, 10))
    a, row = {}, 0
    for t in range(horizon - 1):  # x+ - A x - B w = 0
        for i in range(2):
            now, then = x + 4 * t, x + 4 * (t + 1)
            a |= {(row, then + i): 1.0, (row, now + i): -1.0, (row, now + 2 + i): -step, (row, w + 2 * t + i): -dt * dt / 2}
            a |= {(row + 2, then + 2 + i): 1.0, (row + 2, now + 2 + i): -fade, (row + 2, w + 2 * t + i): -dt}
            row += 1
        row += 2
    seen = row
    for t in range(horizon):
        for i in range(2):
            a |= {(row, x + 4 * t + i): 1.0, (row, v + 2 * t + i): 1.0}
            row += 1
    for t in range(horizon):
        a |= {(row, u + t): 1.0, (row, z + t): 1.0, (row, s + t): -1.0}
        row += 1
    zero = row
    for t in range(horizon):
        a[row, z + t] = 1.0
        row += 1
    for t in range(horizon):
        a[row, u + t] = -1.0
        row += 1
    for t in range(horizon):
        a |= {(row, s + t): -1.0, (row + 1, v + 2 * t): -1.0, (row + 2, v + 2 * t + 1): -1.0}
        row += 3
    p = {(w + j, w + j): 2.0 for j in range(2 * horizon)} | {(z + j, z + j): 2 * mu * rho for j in range(horizon)}
    b = []
    for _ in range(samples):
        state, right = [0.0] * 4, [0.0] * row
        for t in range(horizon):
            noise = 0.5 if draw.random() < 0.1 else 0.1
            for i in range(2):
                right[seen + 2 * t + i] = state[i] + draw.gauss(0, noise)
            force = [draw.gauss(0, 0.1), draw.gauss(0, 0.1)]
            state = [state[i] + step * state[2 + i] + dt * dt / 2 * force[i] for i in range(2)] + [
                fade * state[2 + i] + dt * force[i] for i in range(2)]
        right[zero:zero + horizon] = [rho] * horizon
        b.append(right)
    folder.mkdir(parents=True, exist_ok=True)
    write_matrix(folder / "P.mtx", p, 11 * horizon, 11 * horizon, symmetric=True)
    write_matrix(folder / "A.mtx", a, row, 11 * horizon)
    write_table(folder / "b.csv", b)
    write_table(folder / "c.csv", [[0.0] * u + [2 * mu] * horizon + [0.0] * horizon])
    (folder / "settings.toml").write_text(
        f"[cones]\nzero = {zero}\nnonnegative = {2 * horizon}\nsecond_order = [{', '.join(['3'] * horizon)}]\n")


def quadratic(folder, samples, seed):
    """minimise 1/2 z'Pz + c'z, eigenvalues of P from 1 to 50 at equal distances of their logarithms."""
    draw = random.Random(seed)
    n = 20
    basis = []
    for _ in range(n):  # Gram and Schmidt
        row = [draw.gauss(0, 1) for _ in range(n)]
        for known in basis:
            along = sum(x * y for x, y in zip(row, known))
            row = [x - along * y for x, y in zip(row, known)]
        length = math.sqrt(sum(x * x for x in row))
        basis.append([x / length for x in row])
    curvature = [50 ** (i / (n - 1)) for i in range(n)]
    p = [[sum(curvature[k] * basis[k][i] * basis[k][j] for k in range(n)) for j in range(n)] for i in range(n)]
    folder.mkdir(parents=True, exist_ok=True)
    write_matrix(folder / "P.mtx", entries_of(p), n, n, symmetric=True)
    write_table(folder / "c.csv", [[draw.gauss(0, 1) for _ in range(n)] for _ in range(samples)])


def codes(folder, samples, seed):
    """minimise 1/2 |Dz - b|^2 + 0.1 |z|_1 with b = D z* + noise, z* sparse: sparse coding."""
    draw = random.Random(seed)
    m, n = 20, 40
    columns = []
    for _ in range(n):
        column = [draw.gauss(0, 1) for _ in range(m)]
        length = math.sqrt(sum(x * x for x in column))
        columns.append([x / length for x in column])
    d = transposed(columns)
    b = []
    for _ in range(samples):
        true = [draw.gauss(0, 1) if draw.random() < 0.1 else 0.0 for _ in range(n)]
        b.append([sum(x * y for x, y in zip(row, true)) + draw.gauss(0, 0.02) for row in d])
    folder.mkdir(parents=True, exist_ok=True)
    write_matrix(folder / "D.mtx", entries_of(d), m, n)
    write_table(folder / "b.csv", b)
    (folder / "weight.csv").write_text("0.1\n")


if __name__ == "__main__":
    out = pathlib.Path(sys.argv[1])
    kalman(out / "kalman", 240, 50, 1)
    control(out / "control", 1000, 15, 1.0, 2)
    control(out / "control_shifted", 1000, 20, 1.3, 3)
    lasso(out / "lasso", 1000, 4)
    svm(out / "svm", 600, 5)
    quadratic(out / "quadratic", 1000, 6)
    codes(out / "codes", 1000, 7)
