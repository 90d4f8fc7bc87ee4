"""How many iterations does OSQP need in this controller? The package itself, certified on 300 measured states.

    pip install '.[osqp]' && python examples/python/certify_osqp_mpc.py

The family is that of examples/mpc: a cart is to be brought to rest, and each problem begins at another measured state.
"""

import argparse
import pathlib

import numpy as np
import scipy.io
import surefoot

FAMILY = pathlib.Path(__file__).resolve().parents[1] / "mpc"


def read_family(instances, first=0):
    P, A = (scipy.io.mmread(FAMILY / f"{name}.mtx") for name in "PA")
    q, lower, upper = (np.loadtxt(FAMILY / f"{name}.csv", delimiter=",", ndmin=2) for name in "qlu")
    chosen = slice(first, first + instances)
    return surefoot.QPFamily(P, A, q[0], lower[chosen], upper[chosen])


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--instances", type=int, default=300)
    parser.add_argument("--iterations", type=int, default=120)
    parser.add_argument("--out", default="surefoot-report")
    options = parser.parse_args()

    family = read_family(options.instances)
    print(family)
    # One iteration at a time by the package's own binary: that is possible as long as rho does not adapt.
    traces = surefoot.solvers.osqp(family, options.iterations, adaptive_rho=False)
    # Tolerances and quantiles are chosen before looking at the results.
    certificate = surefoot.certify(traces, tolerances=[1e-3, 1e-2], quantiles=[0.5, 0.9], title="OSQP in a controller")
    print(*certificate.statements, sep="\n")
    print(f"{certificate.run['solver']} {certificate.run['version']}, varied: {', '.join(certificate.run['varied'])}")
    certificate.report(options.out)
    print(f"see {options.out}/report.html")


if __name__ == "__main__":
    main()
