#!/usr/bin/env python3
"""A closed loop on examples/cartpole: our batch engine against the C code of the package osqp with warm starts, one thread each.

    python3 bench/closed_loop.py [--rollouts 10000] [--package-rollouts 100] [--ticks 100] [--limit 20] [--osqp PREFIX]

Needs surefoot, osqp and SciPy in the environment. The package is set up once; every tick is an update of its vectors and a
solve from where the last one ended. Of it only the solve counts: no set-up, no update, no plant. Of ours all counts: vectors,
solves, the plant, values of rollouts. With --osqp, where the C library OSQP was installed (cmake --install), also a loop in C over
it (osqp_closed_loop.c), compiled for this machine, of which the whole loop counts without its set-up; that one and ours take turns, and the
fastest of three counts. Times are of the processor. All make the same number of
iterations on the same problems; the largest difference of their inputs is printed.
"""

import argparse
import json
import os
import pathlib
import subprocess
import sys
import tempfile
import time

os.environ.setdefault("OMP_NUM_THREADS", "1")

import numpy as np
import osqp
import scipy.sparse
import surefoot

sys.path.insert(0, str(pathlib.Path(__file__).parents[1] / "examples/cartpole"))
import make_loop


def package_loop(matrices, tables, plant, initial, pushes, limit):
    """Seconds of the package's solves, and the inputs."""
    solver = osqp.OSQP()
    solver.setup(matrices["P"], tables["q"], matrices["A"], tables["l"], tables["u"], verbose=False, max_iter=limit,
                 adaptive_rho=False, check_termination=0)
    A, B = plant
    first = 4 * (make_loop.HORIZON + 1)
    ticks = pushes.shape[1]
    inputs = np.zeros((len(initial), ticks))
    seconds, lower, upper = 0.0, tables["l"].copy(), tables["u"].copy()
    zeros = np.zeros(len(tables["q"])), np.zeros(len(lower))
    for rollout, state in enumerate(initial):
        solver.warm_start(x=zeros[0], y=zeros[1])
        for tick in range(ticks):
            lower[:4] = upper[:4] = state
            solver.update(l=lower, u=upper)
            begin = time.process_time()
            result = solver.solve(raise_error=False)
            seconds += time.process_time() - begin
            force = np.clip(result.x[first], -make_loop.FORCE_LIMIT, make_loop.FORCE_LIMIT)
            inputs[rollout, tick] = force
            state = A @ state + B[:, 0] * force + pushes[rollout, tick]
    return seconds, inputs


def c_program(prefix, folder):
    """A loop in C over the library that was installed there."""
    program = folder / "osqp_closed_loop"
    library = next(path for name in ("lib", "lib64") for path in (prefix / name).rglob("libosqpstatic.a"))
    source = pathlib.Path(__file__).with_name("osqp_closed_loop.c")
    subprocess.run(["cc", "-O3", "-march=native", f"-I{prefix / 'include/osqp'}", source, library, "-lm", "-ldl", "-o", program], check=True)
    return program


def write_loop(path, matrices, tables, plant, initial, pushes, limit):
    """What osqp_closed_loop.c reads."""
    rollouts, ticks, states = pushes.shape
    with path.open("w") as out:
        def put(*values):
            out.write(" ".join(f"{value:.17g}" for value in values) + "\n")

        put(rollouts, ticks, limit, states, 4 * (make_loop.HORIZON + 1), make_loop.FORCE_LIMIT)
        for matrix in (scipy.sparse.triu(matrices["P"]), matrices["A"]):
            columns = scipy.sparse.csc_matrix(matrix)
            columns.sort_indices()
            put(*columns.shape, columns.nnz)
            for part in (columns.indptr, columns.indices, columns.data):
                put(*part)
        for part in (tables["q"], tables["l"], tables["u"], *plant, initial, pushes):
            put(*np.ravel(part))


def c_loop(program, path, shape):
    """Seconds of the loop, and the inputs."""
    said = np.fromstring(subprocess.run([program, path], check=True, capture_output=True, text=True).stdout, sep="\n")
    return said[0], said[1:].reshape(shape)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--rollouts", type=int, default=10000)
    parser.add_argument("--package-rollouts", type=int, default=100)
    parser.add_argument("--ticks", type=int, default=100)
    parser.add_argument("--limit", type=int, default=20)
    parser.add_argument("--osqp", type=pathlib.Path, help="where the C library OSQP is installed")
    options = parser.parse_args()
    surefoot.set_threads(1)
    matrices, tables = make_loop.files()
    plant = matrices["plant-A"], matrices["plant-B"]
    random = np.random.default_rng(3)
    initial = make_loop.INITIAL_RANGE * random.uniform(-1, 1, (options.rollouts, 4))
    pushes = make_loop.PUSHES * random.standard_normal((options.rollouts, options.ticks, 4))
    family = surefoot.QPFamily(matrices["P"], matrices["A"], tables["q"], tables["l"], tables["u"])

    def own_loop():
        begin = time.process_time()
        runs = surefoot.closed_loop(
            family, plant, initial=initial, input=matrices["input"], l_state=matrices["l-state"], u_state=matrices["u-state"],
            input_bounds=(tables["input-lower"], tables["input-upper"]), ticks=options.ticks, limits=[options.limit],
            disturbance=("rows", pushes.reshape(-1, 4)),
        )
        return (time.process_time() - begin) / options.rollouts / options.ticks, runs

    count = min(options.package_rollouts, options.rollouts)
    own, ours = own_loop()
    told = {}
    if options.osqp:
        with tempfile.TemporaryDirectory() as folder:
            program = c_program(options.osqp, pathlib.Path(folder))
            path = pathlib.Path(folder) / "loop.txt"
            write_loop(path, matrices, tables, plant, initial[:count], pushes[:count], options.limit)
            of_c = []
            for _ in range(3):
                seconds, inputs = c_loop(program, path, (count, options.ticks))
                of_c.append(seconds / count / options.ticks)
                own = min(own, own_loop()[0])
        told = {"loop in C": round(1e6 * min(of_c), 2), "times the loop in C": round(min(of_c) / own, 2),
                "difference to the loop in C": float(np.abs(inputs - ours.inputs[:count, :, 0]).max())}
    seconds, inputs = package_loop(matrices, tables, plant, initial[:count], pushes[:count], options.limit)
    theirs = seconds / count / options.ticks
    print(json.dumps({
        "rollouts": options.rollouts, "ticks": options.ticks, "iterations": options.limit, "unit": "us per tick",
        "package": round(1e6 * theirs, 2), "engine": round(1e6 * own, 2), "times": round(theirs / own, 2),
        "largest difference of inputs": float(np.abs(inputs - ours.inputs[:count, :, 0]).max()), **told,
    }))


if __name__ == "__main__":
    main()
