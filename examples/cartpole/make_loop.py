#!/usr/bin/env python3
"""Write a closed loop as files for `surefoot run loop`: model predictive control of a pole on a cart.

    python3 -m venv .venv && .venv/bin/pip install numpy==2.4.6 scipy==1.17.1
    .venv/bin/python make_loop.py

writes the files beside this one. The state is (position, speed, angle, angular speed) of a cart of 1 kg with a pole of
0.2 kg, 0.5 m from its joint to its centre, linearised where the pole stands upright and sampled every 0.05 s. At every tick the force
v, |v| <= 10 N, is found by

    minimise    1/2 sum_{t<T} (s_t' Q s_t + R v_t^2) + 1/2 s_T' S s_T
    subject to  s_0 = measured state,  s_{t+1} = A s_t + B v_t,  |v_t| <= 10

with S the cost to go of the unlimited problem. Pushes on the cart disturb it at every tick. The plant must keep its position
within 1 m and the pole within 0.25 rad.
"""

import argparse
import pathlib

import numpy as np
import scipy.io
import scipy.linalg
import scipy.sparse as sparse

HORIZON = 15
SAMPLE_TIME = 0.05
FORCE_LIMIT = 10.0
CART, POLE, LENGTH, GRAVITY = 1.0, 0.2, 0.5, 9.81
STATE_COST = np.diag([1.0, 0.1, 10.0, 0.1])
FORCE_COST = np.array([[0.01]])
INITIAL_RANGE = np.array([0.5, 0.3, 0.15, 0.3])
PUSHES = np.array([0.001, 0.02, 0.002, 0.04])
STATE_LIMIT = np.array([1.0, np.inf, 0.25, np.inf])


def plant():
    """A and B of the sampled pole: the force is held for a tick."""
    inertia = LENGTH * (4 / 3 - POLE / (CART + POLE))
    lift = GRAVITY / inertia
    turn = -1 / (CART + POLE) / inertia
    coupling = POLE * LENGTH / (CART + POLE)
    rates = np.zeros((5, 5))
    rates[0, 1] = rates[2, 3] = 1
    rates[3, 2], rates[3, 4] = lift, turn
    rates[1, 2], rates[1, 4] = -coupling * lift, 1 / (CART + POLE) - coupling * turn
    sampled = scipy.linalg.expm(SAMPLE_TIME * rates)
    return sampled[:4, :4], sampled[:4, 4:]


def problem(A, B):
    """P, A, l and u of the tick at state 0, for x = (s_0 .. s_T, v_0 .. v_{T-1})."""
    terminal = scipy.linalg.solve_discrete_are(A, B, STATE_COST, FORCE_COST)
    P = sparse.block_diag([sparse.kron(sparse.eye(HORIZON), STATE_COST), (terminal + terminal.T) / 2,
                           sparse.kron(sparse.eye(HORIZON), FORCE_COST)], format="csc")
    P.eliminate_zeros()
    states = 4 * (HORIZON + 1)
    state_rows = sparse.eye(states) - sparse.kron(sparse.eye(HORIZON + 1, k=-1), A)
    force_in_state_rows = sparse.vstack([sparse.csc_matrix((4, HORIZON)), -sparse.kron(sparse.eye(HORIZON), B)])
    rows = sparse.bmat([[state_rows, force_in_state_rows], [None, sparse.eye(HORIZON)]], format="csc")
    rows.eliminate_zeros()
    limit = np.concatenate([np.zeros(states), np.full(HORIZON, FORCE_LIMIT)])
    return P, rows, -limit, limit


def shifted():
    """Where entries of x begin at the next tick: a stage later, the last stage again. The rows of A have the same order."""
    states, forces = 4 * (HORIZON + 1), HORIZON
    later_states = np.minimum(np.arange(states) + 4, states - 4 + np.arange(states) % 4)
    return np.concatenate([later_states, states + np.minimum(np.arange(forces) + 1, forces - 1)])


def files():
    A, B = plant()
    P, rows, lower, upper = problem(A, B)
    measured = sparse.csc_matrix((np.ones(4), (range(4), range(4))), shape=(len(lower), 4))
    first_force = sparse.csc_matrix(([1.0], ([0], [4 * (HORIZON + 1)])), shape=(1, P.shape[0]))
    matrices = {"P": P, "A": rows, "l-state": measured, "u-state": measured, "input": first_force,
                "plant-A": A, "plant-B": B, "cost-Q": STATE_COST, "cost-R": FORCE_COST}
    tables = {"q": np.zeros(P.shape[0]), "l": lower, "u": upper, "input-lower": [-FORCE_LIMIT], "input-upper": [FORCE_LIMIT],
              "state-lower": -STATE_LIMIT, "state-upper": STATE_LIMIT, "disturbance-std": PUSHES,
              "initial-lower": -INITIAL_RANGE, "initial-upper": INITIAL_RANGE, "shift-x": shifted(), "shift-y": shifted()}
    return matrices, tables


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--folder", type=pathlib.Path, default=pathlib.Path(__file__).parent)
    options = parser.parse_args()
    options.folder.mkdir(exist_ok=True)
    matrices, tables = files()
    for name, matrix in matrices.items():
        scipy.io.mmwrite(options.folder / f"{name}.mtx", sparse.csc_matrix(matrix), symmetry="general", precision=17)
    for name, row in tables.items():
        (options.folder / f"{name}.csv").write_text(",".join(f"{value:.17g}" for value in row) + "\n")


if __name__ == "__main__":
    main()
