#!/usr/bin/env python3
"""Write a model predictive control family as files for `surefoot run qp`.

    python3 -m venv .venv && .venv/bin/pip install numpy==2.4.6 scipy==1.17.1
    .venv/bin/python make_family.py

writes P.mtx, A.mtx, q.csv, l.csv and u.csv beside this file. A cart on a line (position p, speed w) is pushed by a
limited force v that is held for 0.2 s at a time:

    minimise    1/2 sum_{t<T} (p_t^2 + 0.1 w_t^2 + 0.1 v_t^2) + 1/2 (p_T, w_T)' S (p_T, w_T)
    subject to  (p_0, w_0) = measured state
                p_{t+1} = p_t + 0.2 w_t + 0.02 v_t,  w_{t+1} = w_t + 0.2 v_t,  |v_t| <= 1

with S the cost to go of the unlimited problem (discrete Riccati equation). Each instance draws its measured state,
independently and uniformly on |p_0| <= 1.5, |w_0| <= 0.75.

As a quadratic program: minimise 1/2 x'Px + q'x subject to l <= Ax <= u, with x = (p_0, w_0, .., p_T, w_T, v_0, ..,
v_{T-1}). Rows of A: the measured state (2), the dynamics (2T), the force limits (T). The state is written with six
decimals, so the text files hold exactly the numbers of the family.
"""

import argparse
import pathlib

import numpy as np
import scipy.io
import scipy.linalg
import scipy.sparse as sparse

HORIZON = 12
SAMPLE_TIME = 0.2
FORCE_LIMIT = 1.0
STATE_RANGE = np.array([1.5, 0.75])
STATE_COST = np.diag([1.0, 0.1])
FORCE_COST = np.array([[0.1]])

DYNAMICS = np.array([[1.0, SAMPLE_TIME], [0.0, 1.0]])
FORCE_MAP = np.array([[SAMPLE_TIME**2 / 2], [SAMPLE_TIME]])


def cost_matrix():
    terminal = scipy.linalg.solve_discrete_are(DYNAMICS, FORCE_MAP, STATE_COST, FORCE_COST)
    terminal = (terminal + terminal.T) / 2
    matrix = sparse.block_diag([sparse.kron(sparse.eye(HORIZON), STATE_COST), terminal,
                                sparse.kron(sparse.eye(HORIZON), FORCE_COST)], format="csc")
    matrix.eliminate_zeros()
    return matrix


def constraint_matrix():
    states, forces = 2 * (HORIZON + 1), HORIZON
    state_rows = sparse.eye(states) - sparse.kron(sparse.eye(HORIZON + 1, k=-1), DYNAMICS)
    force_in_state_rows = sparse.vstack([sparse.csc_matrix((2, forces)), -sparse.kron(sparse.eye(forces), FORCE_MAP)])
    return sparse.bmat([[state_rows, force_in_state_rows], [None, sparse.eye(forces)]])


def bounds(measured_states):
    """One row of l and one of u per measured state."""
    states = 2 * (HORIZON + 1)
    lower = np.zeros((len(measured_states), states + HORIZON))
    lower[:, :2] = measured_states
    upper = lower.copy()
    lower[:, states:], upper[:, states:] = -FORCE_LIMIT, FORCE_LIMIT
    return lower, upper


def write_table(path, rows):
    path.write_text("".join(",".join(f"{value:.7g}" for value in row) + "\n" for row in rows))


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--instances", type=int, default=1000)
    parser.add_argument("--seed", type=int, default=7)
    parser.add_argument("--folder", type=pathlib.Path, default=pathlib.Path(__file__).parent)
    options = parser.parse_args()

    random = np.random.default_rng(options.seed)
    measured_states = (STATE_RANGE * random.uniform(-1, 1, (options.instances, 2))).round(6)
    P, A = cost_matrix(), constraint_matrix()
    lower, upper = bounds(measured_states)
    scipy.io.mmwrite(options.folder / "P.mtx", P, symmetry="symmetric", precision=17)
    scipy.io.mmwrite(options.folder / "A.mtx", A, symmetry="general", precision=17)
    write_table(options.folder / "q.csv", np.zeros((1, P.shape[0])))
    write_table(options.folder / "l.csv", lower)
    write_table(options.folder / "u.csv", upper)


if __name__ == "__main__":
    main()
