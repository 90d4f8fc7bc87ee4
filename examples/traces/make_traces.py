#!/usr/bin/env python3
"""Record how OSQP converges on random model predictive control problems, step by step.

    python3 -m venv .venv && .venv/bin/pip install osqp==1.1.3 numpy==2.4.6 scipy==1.17.1
    .venv/bin/python make_traces.py

writes osqp_mpc_cold.csv.gz and osqp_mpc_warm.csv.gz beside this file: one row per problem instance,
one column per OSQP iteration k = 1..K.

The problem. A planar quadrotor linearised at hover, state s = (horizontal and vertical position, pitch,
their rates), input v = (deviation of the two rotor thrusts), sampled every 0.1 s:

    minimise    1/2 sum_{t<T} (s_t' Q s_t + v_t' R v_t) + 1/2 s_T' Q_T s_T
    subject to  s_0 = measured,  s_{t+1} = A s_t + B v_t,  |v_t| <= thrust limit

in OSQP's form: minimise 1/2 x'Px subject to l <= Gx <= u, x = (s_0..s_T, v_0..v_{T-1}); only the rows of
s_0 differ between instances.

The samples are independent. Each instance draws its own previous state, solves the problem there, applies the
first input, and adds a disturbance to the state that follows; that is the instance's measured state. A closed
loop would instead give a chain of dependent states, for which no guarantee from samples would hold. The cold
variant starts OSQP at zero, the warm one, on the same instances, at the previous solution shifted by one stage.

The metric after k iterations is max(||Gx - z||_inf, ||Px + G'y||_inf) with OSQP's iterates x, y, z in the
user's units: y lies in the normal cone of [l, u] at z throughout, so zero means optimal. The dual
residual is computed here from x and y, and compared with OSQP's own. OSQP keeps z to itself, so the primal one is
the number that it reports for this x and z.

The trace comes from one solver stepped by max_iter = 1, which goes on from the state it has; --check compares
this with fresh runs of max_iter = k.
"""

import argparse
import gzip
import pathlib

import numpy as np
import osqp
import scipy.linalg
import scipy.sparse as sparse

STATES, INPUTS = 6, 2
HORIZON = 20
SAMPLE_TIME = 0.1
THRUST_LIMIT = 1.5  # N, about 30 % of what one rotor gives at hover
STATE_COST = np.array([10.0, 10.0, 1.0, 1.0, 1.0, 0.1])
INPUT_COST = np.array([1.0, 1.0])
PREVIOUS_STATE_STD = np.array([0.5, 0.5, 0.06, 0.3, 0.3, 0.12])
DISTURBANCE_STD = np.array([0.01, 0.01, 0.005, 0.02, 0.02, 0.02])

FIXED_RHO = dict(adaptive_rho=False, polishing=False, verbose=False, warm_starting=True)
NEVER_STOP = dict(FIXED_RHO, eps_abs=1e-300, eps_rel=1e-300, eps_prim_inf=1e-300, eps_dual_inf=1e-300,
                  check_termination=0, max_iter=1)
TO_THE_END = dict(polishing=False, verbose=False, eps_abs=1e-9, eps_rel=1e-9, max_iter=200_000)


def planar_quadrotor():
    """Exact zero-order-hold discretisation of the linearised dynamics."""
    gravity, mass, arm, inertia = 9.81, 1.0, 0.2, 0.02
    flow = np.zeros((STATES + INPUTS, STATES + INPUTS))
    flow[0:3, 3:6] = np.eye(3)
    flow[3, 2] = -gravity
    flow[4, 6:8] = 1 / mass
    flow[5, 6:8] = np.array([-arm, arm]) / inertia
    step = scipy.linalg.expm(flow * SAMPLE_TIME)
    return step[:STATES, :STATES], step[:STATES, STATES:]


def stack_problem(dynamics, input_map):
    """P, G, l, u of the instance with measured state zero; the first STATES rows of l and u hold minus that state."""
    terminal = scipy.linalg.solve_discrete_are(dynamics, input_map, np.diag(STATE_COST), np.diag(INPUT_COST))
    P = sparse.block_diag([sparse.kron(sparse.eye(HORIZON), sparse.diags(STATE_COST)), terminal,
                           sparse.kron(sparse.eye(HORIZON), sparse.diags(INPUT_COST))], format="csc")
    next_from_state = sparse.kron(sparse.eye(HORIZON + 1), -sparse.eye(STATES)) + sparse.kron(
        sparse.eye(HORIZON + 1, k=-1), dynamics)
    next_from_input = sparse.kron(sparse.vstack([sparse.csc_matrix((1, HORIZON)), sparse.eye(HORIZON)]), input_map)
    equalities = sparse.hstack([next_from_state, next_from_input])
    inputs = sparse.hstack([sparse.csc_matrix((HORIZON * INPUTS, (HORIZON + 1) * STATES)),
                            sparse.eye(HORIZON * INPUTS)])
    G = sparse.vstack([equalities, inputs], format="csc")
    limit = np.concatenate([np.zeros((HORIZON + 1) * STATES), np.full(HORIZON * INPUTS, THRUST_LIMIT)])
    return P, G, -limit, limit


def with_measured_state(bound, state):
    bound = bound.copy()
    bound[:STATES] = -state
    return bound


def shifted(x, y):
    """The previous solution one stage later: the last state, input and multiplier of each kind are kept twice."""
    def next_stage(values, width):
        return np.concatenate([values[width:], values[-width:]])
    split = (HORIZON + 1) * STATES
    return tuple(np.concatenate([next_stage(values[:split], STATES), next_stage(values[split:], INPUTS)])
                 for values in (x, y))


def new_solver(problem, **settings):
    solver = osqp.OSQP()
    P, G, lower, upper = problem
    solver.setup(P, np.zeros(P.shape[0]), G, lower, upper, **settings)
    return solver


def solve_precisely(solver, problem, state):
    """Solution from zero, whatever was solved before, so that every instance stands alone."""
    _, G, lower, upper = problem
    solver.update(l=with_measured_state(lower, state), u=with_measured_state(upper, state))
    solver.update_settings(rho=0.1)
    solver.warm_start(x=np.zeros(G.shape[1]), y=np.zeros(G.shape[0]))
    result = solver.solve(raise_error=False)
    if result.info.status != "solved":
        raise RuntimeError(f"state {state}: {result.info.status}")
    return result.x, result.y


def draw_instance(seed, index, solver, problem, dynamics, input_map):
    """Measured state of instance `index` and the warm start for it, from a random stream of its own."""
    random = np.random.default_rng([seed, index])
    previous_state = PREVIOUS_STATE_STD * random.standard_normal(STATES)
    solution = solve_precisely(solver, problem, previous_state)
    first_input = solution[0][(HORIZON + 1) * STATES:][:INPUTS]
    disturbance = DISTURBANCE_STD * random.standard_normal(STATES)
    return dynamics @ previous_state + input_map @ first_input + disturbance, shifted(*solution)


def record(solver, problem, state, start, steps):
    """The metric after 1, 2, ..., steps iterations from the given start."""
    P, G, lower, upper = problem
    solver.update(l=with_measured_state(lower, state), u=with_measured_state(upper, state))
    solver.warm_start(x=start[0], y=start[1])
    trace = np.empty(steps)
    for k in range(steps):
        result = solver.solve(raise_error=False)
        dual = np.abs(P @ result.x + G.T @ result.y).max()
        if abs(dual - result.info.dual_res) > 1e-9 * (1 + dual):
            raise RuntimeError(f"dual residual {dual} of iterate {k + 1}, OSQP says {result.info.dual_res}")
        trace[k] = max(result.info.prim_res, dual)
    return trace


def check_stepping(problem, state, start, steps):
    """Largest relative difference between stepping by one and fresh runs of k iterations."""
    stepped = record(new_solver(problem, **NEVER_STOP), problem, state, start, steps)
    worst = 0.0
    for k in (1, 2, 3, 5, 10, 50, 100, steps):
        at_once = record(new_solver(problem, **dict(NEVER_STOP, max_iter=k)), problem, state, start, 1)[0]
        worst = max(worst, abs(at_once - stepped[k - 1]) / at_once)
    return worst


def write_table(path, traces):
    header = ",".join(f"k={k + 1}" for k in range(traces.shape[1]))
    rows = [",".join(f"{value:.5e}" for value in row) for row in traces]
    text = "\n".join([header, *rows]) + "\n"
    # No file name and no time in the gzip header: the same traces give the same bytes.
    with open(path, "wb") as file, gzip.GzipFile("", "wb", 9, file, mtime=0) as packed:
        packed.write(text.encode())


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--instances", type=int, default=1000)
    parser.add_argument("--steps", type=int, default=150)
    parser.add_argument("--seed", type=int, default=2024)
    parser.add_argument("--folder", type=pathlib.Path, default=pathlib.Path(__file__).parent)
    parser.add_argument("--check", type=int, default=5, metavar="COUNT",
                        help="instances on which stepping is compared with fresh runs of k iterations")
    options = parser.parse_args()

    dynamics, input_map = planar_quadrotor()
    problem = stack_problem(dynamics, input_map)
    zero_start = np.zeros(problem[1].shape[1]), np.zeros(problem[1].shape[0])
    precise, stepper = new_solver(problem, **TO_THE_END), new_solver(problem, **NEVER_STOP)
    cold, warm = (np.empty((options.instances, options.steps)) for _ in range(2))
    for index in range(options.instances):
        state, warm_start = draw_instance(options.seed, index, precise, problem, dynamics, input_map)
        cold[index] = record(stepper, problem, state, zero_start, options.steps)
        warm[index] = record(stepper, problem, state, warm_start, options.steps)
        if index < options.check:
            worst = max(check_stepping(problem, state, start, options.steps) for start in (zero_start, warm_start))
            if worst > 1e-8:
                raise RuntimeError(f"instance {index}: stepping differs from fresh runs by {worst:.1e} relative")

    for name, traces in (("cold", cold), ("warm", warm)):
        write_table(options.folder / f"osqp_mpc_{name}.csv.gz", traces)
        for tolerance in (1e-2, 1e-3, 1e-4):
            reached = (traces < tolerance).any(axis=1)
            print(f"{name}: {reached.mean():.3f} of the instances get below {tolerance:g} within {options.steps} steps")


if __name__ == "__main__":
    main()
