#!/usr/bin/env python3
"""Solve every problem of a family with the installed version of osqp; write the iterations that each one took.

    python solve_family.py FAMILY TABLE.csv

FAMILY is a folder as `surefoot run qp` reads it (P.mtx, A.mtx, q.csv, l.csv, u.csv). A line per problem, in the order of
the family, "inf" where it was not solved: two such tables, by two versions, are pairs.
"""

import pathlib
import sys

import numpy as np
import osqp
import scipy.io
import scipy.sparse


def main():
    family, table = pathlib.Path(sys.argv[1]), pathlib.Path(sys.argv[2])
    P, A = (scipy.sparse.csc_matrix(scipy.io.mmread(family / name)) for name in ("P.mtx", "A.mtx"))
    q, lower, upper = (np.loadtxt(family / name, delimiter=",", ndmin=2) for name in ("q.csv", "l.csv", "u.csv"))
    settings = {"eps_abs": 1e-4, "eps_rel": 1e-4, "verbose": False}
    # Each one is set up anew: a rho that was adapted to a problem is not carried on to the next, which would make them
    # depend on each other.
    iterations = []
    for i in range(len(lower)):
        solver = osqp.OSQP()
        solver.setup(scipy.sparse.triu(P, format="csc"), q[i % len(q)], A, lower[i], upper[i % len(upper)], **settings)
        info = solver.solve().info
        iterations.append(str(info.iter) if info.status == "solved" else "inf")
    table.write_text("iterations\n" + "\n".join(iterations) + "\n")
    print(f"{len(lower)} problems, osqp {osqp.__version__}, iterations {', '.join(sorted(set(iterations))[:6])}, ...")


if __name__ == "__main__":
    main()
