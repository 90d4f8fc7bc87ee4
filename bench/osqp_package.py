#!/usr/bin/env python3
"""OSQP on examples/mpc: our batch engine against the C code of the package osqp, one thread each.

    python3 bench/osqp_package.py [--family examples/mpc] [--iterations 200] [--repeats 5]

Needs surefoot, osqp and SciPy in the environment. The package is set up once; then each instance is an update of q, l and
u, the first rho again, a start at zero and a solve, of which only the solve counts, less what a solve of one iteration
costs: no set-up, no update, no Python. Of ours all counts: scaling and factoring every instance, too. Times are of the
processor, repeats alternate, and the smallest of each is reported, in microseconds per instance and iteration, or per
instance where the stopping test is obeyed. The package keeps the scaling of its first instance; ours scales each as if it
were set up.
"""

import argparse
import os
import pathlib
import time

os.environ.setdefault("OMP_NUM_THREADS", "1")

import numpy as np
import osqp
import scipy.io
import scipy.sparse as sparse
import surefoot

from package_times import report

UNREACHABLE = dict.fromkeys(("eps_abs", "eps_rel", "eps_prim_inf", "eps_dual_inf"), 1e-300)
PRESETS = {
    "fixed": (dict(adaptive_rho=False, check_termination=0, **UNREACHABLE), dict(preset="fixed")),
    "default": (dict(UNREACHABLE), dict(preset="default")),
    "default, stopped": ({}, dict(preset="default", settings={"stop": True})),
}


def family_in(folder):
    P, A = (sparse.csc_matrix(scipy.io.mmread(folder / f"{name}.mtx")) for name in "PA")
    return P, A, [np.loadtxt(folder / f"{name}.csv", delimiter=",", ndmin=2) for name in "qlu"]


def package_seconds(P, A, rows, count, iterations, settings):
    q, l, u = (np.broadcast_to(table, (count, table.shape[1])) for table in rows)
    solver = osqp.OSQP()
    solver.setup(P, q[0], A, l[0], u[0], verbose=False, max_iter=iterations, **settings)
    zero_x, zero_y = np.zeros(P.shape[0]), np.zeros(A.shape[0])
    seconds, steps = 0.0, 0
    for i in range(count):
        solver.update(q=q[i], l=l[i], u=u[i])
        if settings.get("adaptive_rho", True):
            solver.update_settings(rho=0.1)
        solver.warm_start(x=zero_x, y=zero_y)
        begin = time.process_time()
        result = solver.solve(raise_error=False)
        seconds += time.process_time() - begin
        steps += result.info.iter
    return seconds, steps


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--family", type=pathlib.Path, default=pathlib.Path(__file__).parents[1] / "examples/mpc")
    parser.add_argument("--iterations", type=int, default=200)
    parser.add_argument("--repeats", type=int, default=5)
    options = parser.parse_args()
    surefoot.set_threads(1)
    P, A, rows = family_in(options.family)
    family = surefoot.QPFamily(P, A, *(row[0] if len(row) == 1 else row for row in rows))
    report(PRESETS, lambda iterations, theirs: package_seconds(P, A, rows, family.instances, iterations, theirs),
           lambda ours: family.iterates(options.iterations, **ours), family.instances, options.iterations, options.repeats)


if __name__ == "__main__":
    main()
