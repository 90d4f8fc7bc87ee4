#!/usr/bin/env python3
"""Write a benchmark table of three QP solvers on the family of examples/mpc, a result per line.

    python3 -m venv .venv && .venv/bin/pip install numpy==2.4.6 scipy==1.17.1 osqp==1.1.3 scs==3.3.1 clarabel==0.11.1
    .venv/bin/python make_results.py

writes results.csv.gz beside this file. Each problem is solved by each solver with its default settings and with high
accuracy; the time is the processor time of one solve, its setup included, in milliseconds, so it is of the machine that it was
measured on. A solve is found if the solver says so and both residuals are at most 1e-3 (default) or 1e-6 (high accuracy).
"""

import gzip
import pathlib
import time

import clarabel
import numpy as np
import osqp
import scipy.io
import scipy.sparse as sparse
import scs

FOLDER = pathlib.Path(__file__).parent
FAMILY = FOLDER.parent / "mpc"
PROBLEMS = 500
ACCURACY = {"default": 1e-3, "high_accuracy": 1e-6}


def solve_osqp(P, A, q, l, u, accurate):
    solver = osqp.OSQP()
    options = {"eps_abs": 1e-8, "eps_rel": 0, "max_iter": 20000} if accurate else {}
    solver.setup(sparse.triu(P).tocsc(), q, A, l, u, verbose=False, **options)
    result = solver.solve()
    return result.info.status == "solved", result.info.iter, result.x, result.y


def solve_scs(P, A, q, l, u, accurate):
    equal = l == u
    rows = sparse.vstack([A[equal], A[~equal], -A[~equal]]).tocsc()
    data = {"P": sparse.triu(P).tocsc(), "A": rows, "b": np.concatenate([u[equal], u[~equal], -l[~equal]]), "c": q}
    options = {"eps_abs": 1e-8, "eps_rel": 0, "max_iters": 20000} if accurate else {}
    solver = scs.SCS(data, {"z": int(equal.sum()), "l": int(2 * (~equal).sum())}, verbose=False, **options)
    result = solver.solve()
    count = int((~equal).sum())
    y = np.zeros(len(l))
    y[equal] = result["y"][: len(l) - count]
    y[~equal] = result["y"][len(l) - count : len(l)] - result["y"][len(l) :]
    return result["info"]["status"] == "solved", result["info"]["iter"], result["x"], y


def solve_clarabel(P, A, q, l, u, accurate):
    equal = l == u
    rows = sparse.vstack([A[equal], A[~equal], -A[~equal]]).tocsc()
    count = int((~equal).sum())
    settings = clarabel.DefaultSettings()
    settings.verbose = False
    if accurate:
        settings.tol_gap_abs = settings.tol_gap_rel = settings.tol_feas = 1e-10
    cones = [clarabel.ZeroConeT(int(equal.sum())), clarabel.NonnegativeConeT(2 * count)]
    b = np.concatenate([u[equal], u[~equal], -l[~equal]])
    result = clarabel.DefaultSolver(sparse.triu(P).tocsc(), q, rows, b, cones, settings).solve()
    z = np.array(result.z)
    y = np.zeros(len(l))
    y[equal] = z[: len(l) - count]
    y[~equal] = z[len(l) - count : len(l)] - z[len(l) :]
    return str(result.status) == "Solved", result.iterations, np.array(result.x), y


SOLVERS = {"clarabel": solve_clarabel, "osqp": solve_osqp, "scs": solve_scs}


def main():
    P = sparse.csc_matrix(scipy.io.mmread(FAMILY / "P.mtx"))
    A = sparse.csc_matrix(scipy.io.mmread(FAMILY / "A.mtx"))
    tables = [np.atleast_2d(np.loadtxt(FAMILY / f"{name}.csv", delimiter=",")) for name in "qlu"]
    with gzip.GzipFile(FOLDER / "results.csv.gz", "wb", mtime=0) as file:
        lines = ["problem,solver,settings,runtime (ms),found,iterations,primal_residual,dual_residual\n"]
        for i in range(min(PROBLEMS, max(len(table) for table in tables))):
            q, l, u = (table[i if len(table) > 1 else 0] for table in tables)
            for name, solve in SOLVERS.items():
                for settings, accuracy in ACCURACY.items():
                    begin = time.process_time()
                    solved, iterations, x, y = solve(P, A, q, l, u, settings != "default")
                    milliseconds = 1e3 * (time.process_time() - begin)
                    primal = np.abs(A @ x - np.clip(A @ x, l, u)).max()
                    dual = np.abs(P @ x + q + A.T @ y).max()
                    found = bool(solved and max(primal, dual) <= accuracy)
                    lines.append(
                        f"MPC{i},{name},{settings},{milliseconds:.4f},{found},{iterations},{primal:.3g},{dual:.3g}\n"
                    )
        file.write("".join(lines).encode())


if __name__ == "__main__":
    main()
