#!/usr/bin/env python3
"""SCS on examples/portfolio: our batch engine against the C code of the package scs, one thread each.

    python3 bench/scs_package.py [--iterations 400] [--repeats 5]

Needs surefoot, scs and SciPy in the environment. The package is set up once; then each instance is an update of c and a cold
start, of which only the solve counts, less what a solve of one iteration costs: no set-up, no update, no Python. Of ours all
counts: normalising and factoring every instance, too. Times are of the processor, repeats alternate, and the smallest of each
is reported, in microseconds per instance and iteration, or per instance where the stopping test is obeyed. The package keeps
the normalisation of its first instance; ours normalises each as if it were set up.
"""

import argparse
import os
import pathlib
import time

os.environ.setdefault("OMP_NUM_THREADS", "1")
os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")

import numpy as np
import scipy.io
import scipy.sparse as sparse
import scs
import surefoot

from package_times import report

FAMILY = pathlib.Path(__file__).parents[1] / "examples/portfolio"
CONES = dict(z=1, l=20, q=[5])
UNREACHABLE = dict.fromkeys(("eps_abs", "eps_rel", "eps_infeas"), 0.0)
PRESETS = {
    "fixed": (dict(normalize=False, adaptive_scale=False, acceleration_lookback=0, **UNREACHABLE), dict(preset="fixed")),
    "default": (dict(UNREACHABLE), dict(preset="default")),
    "default, stopped": ({}, dict(preset="default", settings={"stop": True})),
}


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--iterations", type=int, default=400)
    parser.add_argument("--repeats", type=int, default=5)
    options = parser.parse_args()
    surefoot.set_threads(1)
    P, A = (sparse.csc_matrix(scipy.io.mmread(FAMILY / f"{name}.mtx")) for name in "PA")
    b, c = (np.loadtxt(FAMILY / f"{name}.csv", delimiter=",", ndmin=2) for name in "bc")

    def package_seconds(iterations, settings):
        solver = scs.SCS(dict(P=P, A=A, b=b[0], c=c[0]), CONES, verbose=False, max_iters=iterations, linear_solver="qdldl",
                         **settings)
        seconds, steps = 0.0, 0
        for cost in c:
            solver.update(c=cost)
            begin = time.process_time()
            result = solver.solve(warm_start=False)
            seconds += time.process_time() - begin
            steps += result["info"]["iter"]
        return seconds, steps

    family = surefoot.ConeFamily(P, A, b[0], c, zero=1, nonnegative=20, second_order=[5])
    report(PRESETS, package_seconds, lambda ours: family.iterates(options.iterations, **ours), len(c), options.iterations,
           options.repeats)


if __name__ == "__main__":
    main()
