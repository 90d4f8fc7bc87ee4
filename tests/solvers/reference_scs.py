"""SCS 3.3 as it runs when it is installed, in NumPy, slowly: what the package does, told apart into its rules.

Normalisation of each problem with its b and c, scale adapted as a whole and by rows, Anderson acceleration with its
safeguard, the stopping test. `Scs(problem).run(k)` gives the point after k iterations; docs/solvers.md has the rules in words.
"""

import dataclasses

import numpy as np
import scipy.linalg

TAU_WEIGHT = 10.0
ZERO_CONE_FACTOR = 1000.0
PASSES = 25
SMALLEST_NORM, LARGEST_NORM = 1e-4, 1e4
CHECK_INTERVAL = 25
SCALE_INTERVAL = 100
SMALLEST_SCALE, LARGEST_SCALE = 1e-6, 1e6
SMALLEST_FACTOR, LARGEST_FACTOR = 1e-3, 1e3
TINY = 1e-18


@dataclasses.dataclass
class Settings:
    alpha: float = 1.5
    rho_x: float = 1e-6
    scale: float = 0.1
    normalize: bool = True
    adaptive_scale: bool = True
    adaptive_diag_scale: bool = True
    acceleration_lookback: int = 10
    acceleration_interval: int = 5
    acceleration_type_1: bool = True
    acceleration_regularization: float = 1e-8
    acceleration_relaxation: float = 1.0
    eps_abs: float = 1e-4
    eps_rel: float = 1e-4
    eps_infeas: float = 1e-7
    max_iters: int = 100000


def divided(value, by):
    return value / max(by, TINY)


def largest(vector):
    return np.abs(vector).max(initial=0.0)


class Blocks:
    """Rows of the cones that hold together: (first, size, order of a semidefinite cone or 0)."""

    def __init__(self, cones, rows):
        self.zero = cones.get("z", 0)
        self.nonnegative = cones.get("l", 0)
        row = self.zero + self.nonnegative
        self.all = []
        for kind, sizes in (("q", cones.get("q", [])), ("s", cones.get("s", [])), ("ep", [3] * cones.get("ep", 0)),
                            ("ed", [3] * cones.get("ed", 0)), ("p", cones.get("p", []))):
            for size in np.atleast_1d(sizes) if kind in ("q", "s") else sizes:
                length = int(size * (size + 1) // 2) if kind == "s" else int(size) if kind == "q" else 3
                self.all.append((kind, row, length, size))
                row += length
        if row != rows:
            raise ValueError(f"cones have {row} rows, A has {rows}")

    def aggregate(self, vector, how):
        for _, first, size, _ in self.all:
            vector[first:first + size] = how(vector[first:first + size])


def limited(norms):
    return np.minimum(np.where(norms < SMALLEST_NORM, 1.0, norms), LARGEST_NORM)


def normalised(P, A, b, c, blocks):
    """P, A, b, c, and D (rows), E (columns), sigma."""
    m, n = A.shape
    D, E, sigma = np.ones(m), np.ones(n), 1.0
    b, c = b.copy(), c.copy()
    in_A, in_P = A != 0, P != 0
    for done in range(PASSES + 1):
        if done < PASSES:
            rows = np.maximum(np.abs(A).max(axis=1, initial=0.0), np.abs(b))
            blocks.aggregate(rows, np.max)
            columns = np.maximum.reduce([np.abs(A).max(axis=0, initial=0.0), np.abs(P).max(axis=0, initial=0.0), np.abs(c)])
            both = max(largest(b), largest(c))
        else:
            rows = np.sqrt(((A**2).sum(axis=1) + b**2) / (in_A.sum(axis=1) + 1))
            blocks.aggregate(rows, np.mean)
            columns = np.sqrt(((A**2).sum(axis=0) + (P**2).sum(axis=0) + c**2)
                              / (in_A.sum(axis=0) + in_P.sum(axis=0) + 1))
            both = max(np.linalg.norm(b) / np.sqrt(m), np.linalg.norm(c) / np.sqrt(n))
        by_row, by_column = 1 / np.sqrt(limited(rows)), 1 / np.sqrt(limited(columns))
        by_both = 1 / np.sqrt(limited(both))
        A = A * by_row[:, None] * by_column
        P = P * by_column[:, None] * by_column
        b, c = b * by_row * by_both, c * by_column * by_both
        D, E, sigma = D * by_row, E * by_column, sigma * by_both
    return P, A, b, c, D, E, sigma


def second_order(v):
    t, norm = v[0], np.linalg.norm(v[1:])
    if norm <= t:
        return v
    if norm <= -t:
        return np.zeros_like(v)
    mean = (t + norm) / 2
    return np.concatenate([[mean], v[1:] * (mean / norm)])


def triangle(order):
    columns, rows = np.triu_indices(order)
    return rows, columns


def semidefinite(v, order):
    rows, columns = triangle(order)
    X = np.zeros((order, order))
    X[rows, columns] = X[columns, rows] = v / np.where(rows == columns, 1.0, np.sqrt(2))
    values, vectors = np.linalg.eigh(X)
    X = (vectors * np.maximum(values, 0.0)) @ vectors.T
    return X[rows, columns] * np.where(rows == columns, 1.0, np.sqrt(2))


class Acceleration:
    def __init__(self, settings, dimension):
        self.memory = min(settings.acceleration_lookback, dimension)
        self.settings = settings
        self.S = np.zeros((dimension, self.memory))
        self.Y = np.zeros((dimension, self.memory))
        self.reset()

    def reset(self):
        self.count, self.success, self.norm = 0, False, 0.0

    def apply(self, f, x):
        """f(x) accelerated, and whether that is to be safeguarded."""
        self.success = False
        if self.count == 0:
            self.x, self.f = x.copy(), f.copy()
            self.count = 1
            return f, False
        column = (self.count - 1) % self.memory
        g = x - f
        self.S[:, column] = x - self.x
        self.Y[:, column] = g - (self.x - self.f)
        self.x, self.f, self.norm = x.copy(), f.copy(), np.linalg.norm(g)
        accelerated = False
        if self.count >= self.memory:
            S, Y = self.S, self.Y
            left = S if self.settings.acceleration_type_1 else Y
            r = self.settings.acceleration_regularization
            r = r * np.linalg.norm(left) * np.linalg.norm(Y) if r > 0 else -r
            top = np.vstack([left, np.sqrt(r) * np.eye(self.memory)])
            bottom = np.vstack([Y, np.sqrt(r) * np.eye(self.memory)])
            Q, _ = scipy.linalg.qr(top, mode="economic")
            with np.errstate(all="ignore"):
                try:
                    gamma = np.linalg.solve(Q.T @ bottom, Q.T @ np.concatenate([g, np.zeros(self.memory)]))
                except np.linalg.LinAlgError:
                    gamma = np.full(self.memory, np.nan)
            size = np.linalg.norm(gamma)
            if np.isfinite(size) and size < 1e10:
                f = f - (S - Y) @ gamma
                beta = self.settings.acceleration_relaxation
                if beta != 1:
                    f = beta * f + (1 - beta) * (x - S @ gamma)
                self.success, accelerated = True, size > 0
            else:
                self.reset()
        self.count += 1
        return f, accelerated

    def safeguarded(self, f, x):
        if not self.success:
            return f
        self.success = False
        if np.linalg.norm(x - f) > self.norm:
            f = self.f.copy()
            self.reset()
        return f


class Scs:
    def __init__(self, P, c, A, b, cones, **settings):
        self.settings = Settings(**settings)
        m, n = A.shape
        self.n, self.m = n, m
        self.original = (P, A, b, c)
        self.blocks = Blocks(cones, m)
        if self.settings.normalize:
            self.P, self.A, self.b, self.c, self.D, self.E, self.sigma = normalised(P, A, b, c, self.blocks)
        else:
            self.P, self.A, self.b, self.c, self.D, self.E, self.sigma = P, A, b, c, np.ones(m), np.ones(n), 1.0
        self.scale = self.settings.scale
        self.factors = np.ones(m)
        self.v = np.zeros(n + m + 1)
        self.v[-1] = 1
        self.acceleration = Acceleration(self.settings, n + m + 1) if self.settings.acceleration_lookback else None
        self.accelerated = False
        self.done = self.scale_updates = 0
        self.last_update = 0
        self.log_sum, self.log_count = 0.0, 0
        self.unbounded_streak = self.infeasible_streak = 0
        self.status, self.updates_at_end = "", None
        self.factor()

    def factor(self):
        n, m = self.n, self.m
        weights = np.full(m, 1 / self.scale)
        weights[:self.blocks.zero] = 1 / (ZERO_CONE_FACTOR * self.scale)
        self.R = np.concatenate([np.full(n, self.settings.rho_x), weights / self.factors, [TAU_WEIGHT]])
        self.K = scipy.linalg.lu_factor(np.block([[self.P + np.diag(self.R[:n]), self.A.T],
                                                  [self.A, -np.diag(self.R[n:-1])]]))
        self.g = self.solve(np.concatenate([self.c, self.b]))

    def solve(self, h):
        """(R + M)^{-1} h."""
        return scipy.linalg.lu_solve(self.K, np.concatenate([h[:self.n], -h[self.n:]]))

    def project(self, y):
        """On the dual cone in the norm of R: y + R^{-1} Pi_K(-R y)."""
        R = self.R[self.n:-1]
        blocks, x = self.blocks, -R * y
        x[:blocks.zero] = 0
        plain = slice(blocks.zero, blocks.zero + blocks.nonnegative)
        x[plain] = np.maximum(x[plain], 0)
        for kind, first, size, about in blocks.all:
            rows = slice(first, first + size)
            if kind == "q":
                x[rows] = second_order(x[rows])
            elif kind == "s":
                i, j = triangle(about)
                gamma = R[rows][i == j] ** -0.25
                weights = gamma[i] * gamma[j]
                x[rows] = semidefinite(x[rows] * weights, about) / weights
            else:
                raise NotImplementedError(kind)
        return y + x / R

    def step(self):
        n, i, alpha = self.n, self.done, self.settings.alpha
        interval = self.settings.acceleration_interval
        if self.acceleration and i > 0 and i % interval == 0:
            self.v, self.accelerated = self.acceleration.apply(self.v, self.before)
        if i > 0:
            self.v = self.v * (np.sqrt(self.v.size) / np.linalg.norm(self.v))
        v = self.before = self.v.copy()
        R, g = self.R[:-1], self.g
        p = self.solve(R * v[:-1])
        if i == 0:
            tau = 1.0
        else:
            a = TAU_WEIGHT + g @ (R * g)
            half = (R * g) @ (v[:-1] - 2 * p) - TAU_WEIGHT * v[-1]
            energy = p[:n] @ self.P @ p[:n]
            root = np.sqrt(half**2 + 4 * a * energy)
            tau = 2 * energy / (half + root) if half > 0 else (root - half) / (2 * a)
        u_tilde = np.append(p - g * tau, tau)
        u = 2 * u_tilde - v
        u[n:-1] = self.project(u[n:-1])
        u[-1] = 1.0 if i == 0 else max(u[-1], 0.0)
        self.rsk = (v + u - 2 * u_tilde) * self.R
        self.u, self.u_tilde = u, u_tilde
        if i % CHECK_INTERVAL == 0:
            self.survey()
            if not self.status:
                self.test(i)
                self.updates_at_end = self.scale_updates if self.status else None
            if self.settings.adaptive_scale:
                self.update_scale(i)
        self.v = self.v + alpha * (u - u_tilde)
        if self.acceleration and i % interval == 0 and self.accelerated:
            self.v = self.acceleration.safeguarded(self.v, self.before)
        self.done += 1
        if self.done == self.settings.max_iters and not self.status:
            self.survey()
            self.end_at_last()
            self.updates_at_end = self.scale_updates

    def survey(self):
        """Of the homogeneous point: residuals and sizes, here and in the units of the problem."""
        n, D, E, sigma = self.n, self.D, self.E, self.sigma
        x, y, s, tau = self.u[:n], self.u[n:-1], self.rsk[n:-1], abs(self.u[-1])
        Ax, Px, Aty = self.A @ x, self.P @ x, self.A.T @ y
        self.here = dict(Ax=Ax, s=s, primal=Ax + s - self.b * tau)
        by_row, by_column, both = 1 / (D * sigma), 1 / (E * sigma), sigma**2
        cx, by, xPx = self.c @ x / both, self.b @ y / both, x @ Px / both
        self.r = dict(tau=tau, kappa=abs(self.rsk[-1]) / both, Ax=largest(Ax * by_row), s=largest(s * by_row),
                      Px=largest(Px * by_column), Aty=largest(Aty * by_column), Ax_s=largest((Ax + s) * by_row),
                      primal=largest(self.here["primal"] * by_row),
                      dual=largest((Px + Aty + self.c * tau) * by_column), cx=cx, by=by, xPx=xPx)

    def test(self, i):
        r, tau, t = self.r, self.r["tau"], self.settings
        P, A, b, c = self.original
        if tau > 0:
            cx, by, xPx = divided(r["cx"], tau), divided(r["by"], tau), divided(r["xPx"], tau * tau)
            if (divided(r["primal"], tau) < t.eps_abs + t.eps_rel * max(largest(b) * tau, r["s"], r["Ax"]) / tau
                    and divided(r["dual"], tau) < t.eps_abs + t.eps_rel * max(largest(c) * tau, r["Px"], r["Aty"]) / tau
                    and abs(xPx + cx + by) < t.eps_abs + t.eps_rel * max(abs(xPx), abs(cx), abs(by))):
                self.status, self.iterations = "solved", i
                return
        negative = -1e-9 / self.sigma**2
        unbounded = (r["cx"] < negative and divided(r["Ax_s"], -r["cx"]) * max(1.0, divided(largest(c), largest(A)))
                     < t.eps_infeas and divided(r["Px"], -r["cx"]) < t.eps_infeas)
        self.unbounded_streak = self.unbounded_streak + 1 if unbounded else 0
        if self.unbounded_streak >= 2:
            self.status, self.iterations = "unbounded", i
            return
        infeasible = (r["by"] < negative and divided(r["Aty"], -r["by"]) * max(1.0, divided(largest(b), largest(A)))
                      < t.eps_infeas)
        self.infeasible_streak = self.infeasible_streak + 1 if infeasible else 0
        if self.infeasible_streak >= 2:
            self.status, self.iterations = "infeasible", i

    def end_at_last(self):
        r = self.r
        self.iterations = self.done
        if r["kappa"] > r["tau"] and (r["by"] < 0 or r["cx"] < 0):
            self.status = "infeasible_inaccurate" if r["by"] < 0 and r["by"] < r["cx"] else "unbounded_inaccurate"
        else:
            self.status = "solved_inaccurate" if r["tau"] > 0 else "failed"

    def update_scale(self, i):
        r, tau = self.r, self.r["tau"]
        P, A, b, c = self.original
        primal = divided(r["primal"], max(r["Ax"], r["s"], largest(b) * tau))
        dual = divided(r["dual"], max(r["Px"], r["Aty"], largest(c) * tau))
        self.log_sum += np.log(max(primal, TINY)) - np.log(max(dual, TINY))
        self.log_count += 1
        factor = np.sqrt(np.exp(self.log_sum / self.log_count))
        if i - self.last_update < SCALE_INTERVAL:
            return
        scale = min(max(self.scale * factor, SMALLEST_SCALE), LARGEST_SCALE)
        threshold = np.sqrt(10.0)
        changes = scale != self.scale and (factor > threshold or factor < 1 / threshold)
        by_rows = False
        if self.settings.adaptive_diag_scale:
            sizes = np.maximum.reduce([np.abs(self.here["Ax"]), np.abs(self.here["s"]), np.abs(self.b) * tau])
            sizes_floor = 1e-3 * np.sqrt(np.mean(sizes**2))
            relative = np.maximum(np.abs(self.here["primal"]), TINY) / np.maximum(np.maximum(sizes, sizes_floor), TINY)
            step = (relative / np.exp(np.mean(np.log(relative)))) ** 0.25
            factors = np.clip(self.factors * step, SMALLEST_FACTOR, LARGEST_FACTOR)
            change = factors / self.factors
            drift = max(1.0, change.max(), (1 / change).max())
            by_rows = changes or drift > threshold
        if not changes and not by_rows:
            return
        self.scale_updates += 1
        self.log_sum, self.log_count, self.last_update = 0.0, 0, i
        if changes:
            self.scale = scale
        if by_rows:
            for kind, first, size, about in self.blocks.all:
                rows = slice(first, first + size)
                factors[rows] = self.rank_one(factors[rows], about) if kind == "s" and about > 1 else factors[rows].mean()
            self.factors = factors
        self.factor()
        if self.acceleration:
            self.acceleration.reset()
        self.v = self.rsk / self.R + 2 * self.u_tilde - self.u

    @staticmethod
    def rank_one(weights, order):
        """The nearest d_i d_j in logarithms."""
        weights = np.maximum(weights, max(1e-3 * weights.max(), 1e-12))
        rows, columns = triangle(order)
        logs = np.log(weights)
        sums = np.zeros(order)
        np.add.at(sums, rows, logs)
        np.add.at(sums, columns, logs)
        d = np.exp(sums / (order + 2) - sums.sum() / ((order + 2) * (2 * order + 2)))
        d = np.clip(d, np.sqrt(SMALLEST_FACTOR), np.sqrt(LARGEST_FACTOR))
        return d[rows] * d[columns]

    @property
    def updates_then(self):
        return self.scale_updates if self.updates_at_end is None else self.updates_at_end

    @property
    def ending(self):
        """As solver_iterates writes it."""
        names = ["", "solved", "infeasible", "unbounded", "solved_inaccurate", "infeasible_inaccurate", "unbounded_inaccurate",
                 "failed"]
        return dict(status=[0, 1, 11, 12, 13, 14, 15, 16][names.index(self.status)],
                    iterations=self.iterations if self.status else 0, rho_updates=self.updates_then)

    @property
    def point(self):
        tau = max(abs(self.u[-1]), TINY)
        n, sigma = self.n, self.sigma
        return (self.u[:n] * self.E / (sigma * tau), self.u[n:-1] * self.D / (sigma * tau),
                self.rsk[n:-1] / (self.D * sigma * tau))
