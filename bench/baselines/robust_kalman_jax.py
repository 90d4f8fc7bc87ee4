#!/usr/bin/env python3
"""Baseline: robust Kalman filtering by SCS in JAX, dense and instance by instance.

    python3 -m venv .venv && .venv/bin/pip install -r requirements.txt
    .venv/bin/python robust_kalman_jax.py --instances 1000 --steps 500

prints times in seconds as JSON. With --golden FOLDER it runs the observations of FOLDER/rkf_observations.csv and
compares residuals and states with the other rkf_*.csv instead.

The problem, T = 50: variables (x: 4T, w: 2T, s: T, v: 2T, u: T, z: T),

    minimise    sum ||w_t||^2 + mu rho z_t^2 + 2 mu u_t
    subject to  x_{t+1} = F x_t + G w_t,  H x_t + v_t = y_t,  u + z = s,  z <= rho,  u >= 0,  ||v_t|| <= s_t

as a cone program 1/2 x'Px + c'x, Ax + s = b, s in K, of which only b (the observations y) differs between instances.
SCS in its homogeneous self-dual embedding with unit weights (O'Donoghue, SIAM J. Optim. 31, 2021); with
M = [P A'; -A 0], one step of (mu, eta) solves a system in I + M, of order 1146, takes the positive root of a quadratic
for tau, and projects on the dual cone. Residual after step k: ||mu+/eta+ - mu/eta||_2 over k - 1 and k, with the last
entry 1 - 1 = 0 left out.
"""

import pathlib
import sys

from baseline import jax, jnp, measure, np, options_parser

HORIZON = 50
DAMPING, SAMPLE_TIME = 0.05, 0.5
HUBER_WEIGHT, HUBER_RADIUS = 2.0, 2.0
NOISE_STD, OUTLIER_STD, OUTLIER_PROBABILITY = 0.1, 0.5, 0.1

STATE_MAP = np.eye(4) + np.diag([(1 - DAMPING / 2 * SAMPLE_TIME) * SAMPLE_TIME] * 2, 2) - np.diag(
    [0, 0, DAMPING * SAMPLE_TIME, DAMPING * SAMPLE_TIME])
INPUT_MAP = np.vstack([SAMPLE_TIME**2 / 2 * np.eye(2), SAMPLE_TIME * np.eye(2)])
OBSERVATION_MAP = np.eye(2, 4)

DYNAMICS_ROWS, OBSERVATION_ROWS = 4 * (HORIZON - 1), 2 * HORIZON
EQUALITY_ROWS = DYNAMICS_ROWS + OBSERVATION_ROWS + HORIZON
NONNEGATIVE_ROWS = 2 * HORIZON


def cone_program():
    """P, c, A and the b of zero observations; rows: equalities, z <= rho, u >= 0, second-order cones (s_t, v_t)."""
    T, n = HORIZON, 11 * HORIZON
    sizes = dict(x=4 * T, w=2 * T, s=T, v=2 * T, u=T, z=T)
    ends = np.cumsum(list(sizes.values()))
    column = {name: slice(end - size, end) for (name, size), end in zip(sizes.items(), ends)}

    P, c = np.zeros((n, n)), np.zeros(n)
    P[column["w"], column["w"]] = 2 * np.eye(2 * T)
    P[column["z"], column["z"]] = 2 * HUBER_WEIGHT * HUBER_RADIUS * np.eye(T)
    c[column["u"]] = 2 * HUBER_WEIGHT

    def rows(count, **blocks):
        matrix = np.zeros((count, n))
        for name, block in blocks.items():
            matrix[:, column[name]] = block
        return matrix

    this_step, next_step = np.eye(T - 1, T), np.eye(T - 1, T, k=1)
    cones = np.zeros((3 * T, n))
    for t in range(T):
        cones[3 * t, column["s"].start + t] = -1
        cones[3 * t + 1, column["v"].start + 2 * t] = cones[3 * t + 2, column["v"].start + 2 * t + 1] = -1
    A = np.vstack([
        rows(DYNAMICS_ROWS, x=np.kron(next_step, np.eye(4)) - np.kron(this_step, STATE_MAP),
             w=-np.kron(this_step, INPUT_MAP)),
        rows(OBSERVATION_ROWS, x=np.kron(np.eye(T), OBSERVATION_MAP), v=np.eye(2 * T)),
        rows(T, u=np.eye(T), z=np.eye(T), s=-np.eye(T)),
        rows(T, z=np.eye(T)),
        rows(T, u=-np.eye(T)),
        cones,
    ])
    b = np.zeros(len(A))
    b[EQUALITY_ROWS:EQUALITY_ROWS + T] = HUBER_RADIUS
    return P, c, A, b


def sample_observations(instances, seed):
    """Rows (y_0, y_1, ..) of vehicles that start at rest and are pushed at random; one in ten observations is an outlier."""
    random = np.random.default_rng([seed, 0])
    pushes = NOISE_STD * random.standard_normal((instances, HORIZON, 2))
    outliers = random.random((instances, HORIZON, 1)) < OUTLIER_PROBABILITY
    errors = np.where(outliers, OUTLIER_STD, NOISE_STD) * random.standard_normal((instances, HORIZON, 2))
    state, observations = np.zeros((instances, 4)), np.empty((instances, HORIZON, 2))
    for t in range(HORIZON):
        observations[:, t] = state @ OBSERVATION_MAP.T + errors[:, t]
        state = state @ STATE_MAP.T + pushes[:, t] @ INPUT_MAP.T
    return observations.reshape(instances, -1)


def project_dual_cone(y):
    equalities, nonnegative, cones = jnp.split(y, [EQUALITY_ROWS, EQUALITY_ROWS + NONNEGATIVE_ROWS])
    cones = cones.reshape(HORIZON, 3)
    head, tail = cones[:, :1], cones[:, 1:]
    norm = jnp.linalg.norm(tail, axis=1, keepdims=True)
    scale = (head + norm) / 2
    boundary = jnp.hstack([scale, scale * tail / jnp.where(norm > 0, norm, 1.0)])
    projected = jnp.where(norm <= head, cones, jnp.where(norm <= -head, 0.0, boundary))
    return jnp.concatenate([equalities, jnp.maximum(nonnegative, 0.0), projected.ravel()])


def runner(steps):
    """factorise() and run_block(factor, observations) -> iterates (block, steps + 1, n + m + 1), residuals."""
    P, c, A, b = (jnp.asarray(part) for part in cone_program())
    m, n = A.shape
    order = n + m + 1

    def factorise():
        M = jnp.block([[P, A.T], [-A, jnp.zeros((m, m))]])
        return jax.scipy.linalg.lu_factor(jnp.eye(n + m) + M)

    def step(factor, r, first, z):
        z = jnp.where(first, z, z * jnp.sqrt(order) / jnp.linalg.norm(z))
        mu, eta = z[:-1], z[-1]
        p = jax.scipy.linalg.lu_solve(factor, mu)
        quadratic = 1 + r @ r
        linear = mu @ r - 2 * r @ p - eta
        constant = p @ (p - mu)
        root = (-linear + jnp.sqrt(jnp.maximum(linear**2 - 4 * quadratic * constant, 0.0))) / (2 * quadratic)
        tau_tilde = jnp.where(first, 1.0, root)
        u_tilde = p - r * tau_tilde
        reflected = 2 * u_tilde - mu
        u = jnp.concatenate([reflected[:n], project_dual_cone(reflected[n:])])
        tau = jnp.maximum(0.0, 2 * tau_tilde - eta)
        return jnp.append(mu + u - u_tilde, eta + tau - tau_tilde)

    def run(factor, observations):
        own_b = b.at[DYNAMICS_ROWS:DYNAMICS_ROWS + OBSERVATION_ROWS].set(observations)
        r = jax.scipy.linalg.lu_solve(factor, jnp.concatenate([c, own_b]))

        def body(k, carry):
            z, iterates, residuals = carry
            new = step(factor, r, k == 0, z)
            residual = jnp.linalg.norm(new / new[-1] - z / z[-1])
            return new, iterates.at[k + 1].set(new), residuals.at[k].set(residual)

        start = jnp.zeros(order).at[-1].set(1.0)
        carry = start, jnp.zeros((steps + 1, order)).at[0].set(start), jnp.zeros(steps)
        _, iterates, residuals = jax.lax.fori_loop(0, steps, body, carry)
        return iterates, residuals

    return factorise, jax.vmap(run, in_axes=(None, 0))


def compare_with_golden(folder):
    def table(name):
        return np.loadtxt(folder / name, delimiter=",", ndmin=2)

    expected_residuals, expected_states = table("rkf_residuals.csv"), table("rkf_states_after_200.csv")
    factorise, run_block = runner(expected_residuals.shape[1])
    iterates, residuals = jax.jit(run_block)(factorise(), jnp.asarray(table("rkf_observations.csv")))
    last = np.asarray(iterates[:, -1])
    states = last[:, :4 * HORIZON] / last[:, -1:]
    worst_residual = np.abs(np.asarray(residuals) / expected_residuals - 1).max()
    worst_state = np.abs(states - expected_states).max()
    print(f"largest relative difference of the residuals {worst_residual:.1e}, absolute of the states {worst_state:.1e}")
    return 0 if worst_residual < 1e-6 and worst_state < 1e-9 else 1


def main():
    parser = options_parser(__doc__)
    parser.add_argument("--golden", type=pathlib.Path, metavar="FOLDER", help="compare with reference values and stop")
    options = parser.parse_args()
    if options.golden:
        return compare_with_golden(options.golden)
    factorise, run_block = runner(options.steps)
    observations = jnp.asarray(sample_observations(options.instances, options.seed))
    measure("robust_kalman", options, factorise, run_block, observations)
    return 0


if __name__ == "__main__":
    sys.exit(main())
