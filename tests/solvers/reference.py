"""The iterations of OSQP 1.1.3 and SCS 3.3.1 (packages from PyPI) in NumPy, as plain as they can be written.

They are here to say exactly which point "after k iterations" is, and to check the two C++ operators and the packages
against a third party. Dense linear algebra, no stopping test, no tricks. Everything below is checked against the packages by
`compare_solvers.py --reference`: 1e-11 relative or better on most problems, 2e-8 on the worst conditioned one.


OSQP   minimise 1/2 x'Px + q'x  subject to  l <= Ax <= u
----------------------------------------------------------------------------------------------------
B. Stellato et al., "OSQP: an operator splitting solver for quadratic programs", Math. Prog. Comp. 12, 2020.

1. Infinite bounds become +-1e30 (before scaling).
2. Ruiz scaling, `scaling` = 10 passes, on Pbar = c D P D, qbar = c D q, Abar = E A D, lbar = E l, ubar = E u, from
   c = 1, D = I, E = I. One pass, in this order:
     p_j = max_{i <= j} |Pbar_ij|       the *upper triangle only*: OSQP 1 stores no more of P, and does not
                                        mirror it here (OSQP 0.6 did). It matters for any P with off-diagonal entries.
     d_j = max(p_j, max_i |Abar_ij|)    column norms
     e_i = max_j |Abar_ij|              row norms
     limit(v) = 1 if v < 1e-4, 1e4 if v > 1e4, else v;    d <- 1/sqrt(limit(d)), e <- 1/sqrt(limit(e))
     Pbar <- diag(d) Pbar diag(d), Abar <- diag(e) Abar diag(d), qbar <- d qbar, D <- D d, E <- E e
     cost: g = 1 / limit(max( mean_j p_j , limit(||qbar||_inf) )), with the new Pbar and qbar, upper triangle again
     Pbar <- g Pbar, qbar <- g qbar, c <- g c
   Note that ||qbar||_inf below 1e-4 (such as q = 0) counts as 1, and that q takes part: instances of a family with
   different q have different c. `scaling` = 0: D, E, c = 1.
3. rho of each row, decided on the *scaled* bounds:
     lbar < -1e26 and ubar > 1e26: 1e-6 (free row);  ubar - lbar < 1e-4: 1e3 rho (equality);  else rho.
   With `rho_is_vec` = 0 there is no such vector: every row has rho, free rows and equalities too. This is the way to
   the paper's "rho = 1 on all rows" in the package.
4. Start x = 0, y = 0, z = 0. (A warm start x, y is scaled, x/D, c y/E, and z = Abar xbar.)
5. One step, scaled quantities, alpha = 1.6, sigma = 1e-6, R = diag(rho):
     x~ = (Pbar + sigma I + Abar' R Abar)^{-1} (sigma x - qbar + Abar'(R z - y)),   z~ = Abar x~
     x+ = alpha x~ + (1 - alpha) x
     zr = alpha z~ + (1 - alpha) z
     z+ = clip(zr + y / rho, lbar, ubar)
     y+ = y + rho (zr - z+)
6. After k steps the package returns x = D x, y = E y / c; the z it keeps is z / E (not returned). It reports
   prim_res = ||A x - z||_inf and dual_res = ||P x + q + A'y||_inf in these units. Polishing off, adaptive_rho = 0.
   The default check_termination = 25 would stop early: 0 and tolerances of 1e-300 keep it going. Infeasibility is not
   looked for then either.


SCS    minimise 1/2 x'Px + c'x  subject to  Ax + s = b, s in K
----------------------------------------------------------------------------------------------------
B. O'Donoghue, "Operator splitting for a homogeneous embedding of the linear complementarity problem", SIAM J. Optim. 31,
2021. Settings here: normalize, adaptive_scale = False, acceleration_lookback = 0, and the defaults scale = 0.1,
rho_x = 1e-6, alpha = 1.5 or others.

1. Rows are ordered by cone: zero (dict key 'z'), nonnegative ('l'), [box], second-order ('q', a list of sizes), positive
   semidefinite ('s', a list of orders). Second-order cone of size d: (t, v), ||v|| <= t. Semidefinite cone of
   order d: d(d+1)/2 rows, the *lower* triangle column by column, off-diagonal entries times sqrt(2):
   (X11, sqrt2 X21, .., sqrt2 Xd1, X22, sqrt2 X32, ..), so that the norm is the Frobenius norm.
2. Weights R, a diagonal of n + m + 1 entries, that never change here:
     x: rho_x;   y: 1/(1000 scale) on rows of the zero cone, 1/scale on all others;   tau: 10.
   The paper of our tables has R = I; the package cannot be set to that because of the zero cone's 1000 and of tau's
   10 (scale = 1, rho_x = 1 gives R = I on x and on all rows of the other cones).
3. State v = (v_x, v_y, v_tau), start (0, 0, 1). With M = [P A'; -A 0], h = (c, b), g = (R + M)^{-1} h (R without its
   last entry), <a, b> = a'R b over the first n + m entries:
     iteration i = 0, 1, ...; from i = 1 on first v <- v sqrt(n+m+1) / ||v||_2   (plain norm, all n+m+1 entries)
     p  = (R + M)^{-1} R (v_x, v_y)
     i = 0: tau~ = 1
     else:  tau~ = larger root of a t^2 + b t + e,
              a = 10 + <g, g>,  b = <v, g> - 2 <p, g> - 10 v_tau,  e = <p, p> - <p, v>   (<v, .> without tau)
     u~ = p - tau~ g
     u_x = 2 u~_x - v_x;   u_y = projection of 2 u~_y - v_y on the dual cone K* (zero cone: unchanged)
     u_tau = 1 at i = 0, then max(0, 2 tau~ - v_tau)
     (r, s, kappa) = R (v + u - 2 (u~, tau~))      slack of the embedding, from v before its update
     v <- v + alpha ((u, u_tau) - (u~, tau~))      tau included
   With R = I, alpha = 1 these are the steps of the paper's experiments. (The residual there is of v / v_tau.)
4. After k iterations (the last one i = k - 1) the package returns x = u_x / u_tau, y = u_y / u_tau, s = s / u_tau of
   that iteration: the point *after the projection*, hence y in K*, s in K and s'y = 0 exactly, and not v. Should
   kappa exceed u_tau with b'y < 0 or c'x < 0, it returns an (inaccurate) certificate of infeasibility or
   unboundedness instead; compare only k where status_val is 1 or 2.
5. `linear_solver` = "qdldl" gives the built-in direct solver; the default takes MKL where it is installed.
"""

import math

import numpy as np

OSQP_INFINITY = 1e30
OSQP_FREE_ROW_BOUND = 1e26
OSQP_FREE_ROW_RHO = 1e-6
OSQP_EQUALITY_GAP = 1e-4
OSQP_EQUALITY_FACTOR = 1e3
OSQP_SMALLEST_NORM, OSQP_LARGEST_NORM = 1e-4, 1e4

SCS_ZERO_CONE_FACTOR = 1000.0
SCS_TAU_WEIGHT = 10.0


def _limit(norms):
    norms = np.asarray(norms, float)
    return np.minimum(np.where(norms < OSQP_SMALLEST_NORM, 1.0, norms), OSQP_LARGEST_NORM)


def _upper_column_norms(symmetric):
    return _column_norms(np.triu(symmetric))


def _column_norms(matrix):
    return np.abs(matrix).max(axis=0, initial=0.0)


class Osqp:
    """State and step of OSQP on dense P, q, A, l, u; iterates in the user's units by `x`, `y`, `z`."""

    def __init__(self, P, q, A, l, u, rho=0.1, sigma=1e-6, alpha=1.6, scaling=10, rho_is_vec=True):
        self.alpha, self.sigma = alpha, sigma
        n, m = len(q), len(l)
        P, q, A = (np.array(part, float) for part in (P, q, A))
        self.D, self.E, self.c = np.ones(n), np.ones(m), 1.0
        for _ in range(scaling):
            d = 1 / np.sqrt(_limit(np.maximum(_upper_column_norms(P), _column_norms(A))))
            e = 1 / np.sqrt(_limit(_column_norms(A.T)))
            P, A, q = d[:, None] * P * d, e[:, None] * A * d, d * q
            self.D, self.E = self.D * d, self.E * e
            q_norm = _limit(np.abs(q).max(initial=0.0))
            g = float(1 / _limit(np.maximum(_upper_column_norms(P).mean(), q_norm)))
            P, q, self.c = g * P, g * q, g * self.c
        self.q, self.A = q, A
        self.l = self.E * np.maximum(l, -OSQP_INFINITY)
        self.u = self.E * np.minimum(u, OSQP_INFINITY)
        self.rho = np.full(m, float(rho))
        if rho_is_vec:
            self.rho[self.u - self.l < OSQP_EQUALITY_GAP] = OSQP_EQUALITY_FACTOR * rho
            self.rho[(self.l < -OSQP_FREE_ROW_BOUND) & (self.u > OSQP_FREE_ROW_BOUND)] = OSQP_FREE_ROW_RHO
        # The quasi-definite system, as in the package: A'RA squares the condition number where rho reaches 1e3 rho.
        self.kkt = np.block([[P + sigma * np.eye(n), A.T], [A, -np.diag(1 / self.rho)]])
        self.xs, self.ys, self.zs = np.zeros(n), np.zeros(m), np.zeros(m)

    def step(self):
        n = len(self.xs)
        right_side = np.concatenate([self.sigma * self.xs - self.q, self.zs - self.ys / self.rho])
        solution = np.linalg.solve(self.kkt, right_side)
        x_tilde, z_tilde = solution[:n], self.zs + (solution[n:] - self.ys) / self.rho
        relaxed = self.alpha * z_tilde + (1 - self.alpha) * self.zs
        self.xs = self.alpha * x_tilde + (1 - self.alpha) * self.xs
        self.zs = np.clip(relaxed + self.ys / self.rho, self.l, self.u)
        self.ys = self.ys + self.rho * (relaxed - self.zs)

    @property
    def x(self):
        return self.D * self.xs

    @property
    def y(self):
        return self.E * self.ys / self.c

    @property
    def z(self):
        return self.zs / self.E


def vectorise_symmetric(matrix):
    """Lower triangle by columns, off-diagonal entries times sqrt(2)."""
    order = len(matrix)
    return np.concatenate([matrix[j:, j] * np.where(np.arange(j, order) == j, 1.0, math.sqrt(2)) for j in range(order)])


def matrix_of_vector(vector):
    order = (math.isqrt(8 * len(vector) + 1) - 1) // 2
    matrix = np.zeros((order, order))
    start = 0
    for j in range(order):
        column = vector[start:start + order - j] / math.sqrt(2)
        matrix[j:, j] = matrix[j, j:] = column
        matrix[j, j] = vector[start]
        start += order - j
    return matrix


def project_second_order(point):
    head, tail = point[0], point[1:]
    norm = np.linalg.norm(tail)
    if norm <= head:
        return point
    if norm <= -head:
        return np.zeros_like(point)
    scale = (head + norm) / 2
    return np.concatenate([[scale], tail * (scale / norm)])


def project_semidefinite(vector):
    values, vectors = np.linalg.eigh(matrix_of_vector(vector))
    return vectorise_symmetric((vectors * np.maximum(values, 0)) @ vectors.T)


def semidefinite_rows(order):
    return order * (order + 1) // 2


def project_dual_cone(y, cones):
    """cones: dict with 'z', 'l' (numbers of rows), 'q' (sizes), 's' (orders), in this order of rows."""
    y = y.copy()
    start = cones.get("z", 0)
    end = start + cones.get("l", 0)
    y[start:end] = np.maximum(y[start:end], 0)
    for size in cones.get("q", []):
        start, end = end, end + size
        y[start:end] = project_second_order(y[start:end])
    for order in cones.get("s", []):
        start, end = end, end + semidefinite_rows(order)
        y[start:end] = project_semidefinite(y[start:end])
    return y


class Scs:
    """State and iteration of SCS on dense P, c, A, b; the returned point by `x`, `y`, `s`."""

    def __init__(self, P, c, A, b, cones, scale=0.1, rho_x=1e-6, alpha=1.5,
                 zero_cone_factor=SCS_ZERO_CONE_FACTOR, tau_weight=SCS_TAU_WEIGHT):
        self.cones, self.alpha, self.tau_weight = cones, alpha, tau_weight
        n, m = len(c), len(b)
        self.n, self.iteration = n, 0
        rows = np.full(m, 1 / scale)
        rows[:cones.get("z", 0)] = 1 / (zero_cone_factor * scale)
        self.R = np.concatenate([np.full(n, rho_x), rows])
        self.matrix = np.diag(self.R) + np.block([[np.asarray(P, float), A.T], [-np.asarray(A, float), np.zeros((m, m))]])
        self.g = np.linalg.solve(self.matrix, np.concatenate([c, b]))
        self.v, self.v_tau = np.zeros(n + m), 1.0

    def step(self):
        R, g, weight = self.R, self.g, self.tau_weight
        if self.iteration > 0:
            scale = math.sqrt((len(self.v) + 1) / (self.v @ self.v + self.v_tau**2))
            self.v, self.v_tau = self.v * scale, self.v_tau * scale
        v, v_tau = self.v, self.v_tau
        p = np.linalg.solve(self.matrix, R * v)
        if self.iteration == 0:
            tau_tilde = 1.0
        else:
            quadratic = weight + (R * g) @ g
            linear = (R * v) @ g - 2 * (R * p) @ g - weight * v_tau
            constant = (R * p) @ (p - v)
            tau_tilde = (-linear + math.sqrt(max(0.0, linear**2 - 4 * quadratic * constant))) / (2 * quadratic)
        u_tilde = p - tau_tilde * g
        u = 2 * u_tilde - v
        u[self.n:] = project_dual_cone(u[self.n:], self.cones)
        self.u = u
        self.tau = 1.0 if self.iteration == 0 else max(0.0, 2 * tau_tilde - v_tau)
        self.slack = (R * (v + u - 2 * u_tilde))[self.n:]
        self.kappa = weight * (v_tau + self.tau - 2 * tau_tilde)
        self.v = v + self.alpha * (u - u_tilde)
        self.v_tau = v_tau + self.alpha * (self.tau - tau_tilde)
        self.iteration += 1

    @property
    def x(self):
        return self.u[:self.n] / self.tau

    @property
    def y(self):
        return self.u[self.n:] / self.tau

    @property
    def s(self):
        return self.slack / self.tau
