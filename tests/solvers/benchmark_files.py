#!/usr/bin/env python3
"""OSQP as it is installed against ours on files of public benchmarks, which are not part of this repository.

    build/venv/bin/python tests/solvers/benchmark_files.py --program build/tests/solver_iterates FOLDER...

A folder holds .npz files (P, q, G, h, A, b, lb, ub: Gx <= h, Ax = b, lb <= x <= ub, as in qpsolvers/mpc_qpbenchmark) or .mat
files (P, q, A, l, u, as in qpsolvers/maros_meszaros_qpbenchmark). Each problem with n + m up to --largest is compared as
stopping_comparison.py does it: status, iterations to termination, changes of rho, iterates to 1e-6 relative. A line per
problem that differs, then counts. Exit code 1 if one differs that does not amplify rounding.
"""

import argparse
import pathlib
import sys
import zipfile

import numpy as np
import scipy.io
import scipy.sparse as sparse

import stopping_comparison
from random_problems import QuadraticProgram


def dense(matrix):
    return matrix.toarray() if sparse.issparse(matrix) else np.asarray(matrix, dtype=float)


def from_npz(path):
    with np.load(path, allow_pickle=True) as file:
        given = {name: file[name] if file[name].ndim else file[name].item() for name in file}
    n = given["q"].size
    rows = [(given["G"], -np.inf, given["h"]), (given["A"], given["b"], given["b"])]
    if given["lb"] is not None or given["ub"] is not None:
        lower, upper = (fill if given[name] is None else given[name] for name, fill in (("lb", -np.inf), ("ub", np.inf)))
        rows.append((np.eye(n), lower, upper))
    rows = [(dense(matrix), low, high) for matrix, low, high in rows if matrix is not None]
    sides = [[np.broadcast_to(np.asarray(row[side], dtype=float).ravel(), row[0].shape[0]) for row in rows] for side in (1, 2)]
    return QuadraticProgram(path.stem, dense(given["P"]), np.ravel(given["q"]), np.vstack([row[0] for row in rows]),
                            *(np.concatenate(side) for side in sides))


def from_mat(path):
    given = scipy.io.loadmat(path)
    l, u = (given[name].astype(float).ravel() for name in "lu")
    # Numbers beyond 1e20 are missing bounds there.
    return QuadraticProgram(path.stem, dense(given["P"]), given["q"].astype(float).ravel(), dense(given["A"]),
                            np.where(l < -9e19, -np.inf, l), np.where(u > 9e19, np.inf, u))


def size_of(path):
    """n + m, before anything is made dense."""
    if path.suffix == ".mat":
        return sum(scipy.io.loadmat(path)["A"].shape)
    with np.load(path, allow_pickle=True) as file:
        return file["q"].size


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--program", type=pathlib.Path, required=True)
    parser.add_argument("--largest", type=int, default=2500)
    parser.add_argument("folders", nargs="+", type=pathlib.Path)
    options = parser.parse_args()
    failed = False
    for folder in options.folders:
        counts = dict.fromkeys(("same", "amplify rounding", "DIFFERENT", "too large", "cannot be read"), 0)
        statuses, with_zero_rows, worst = {}, 0, 0.0
        for path in sorted(path for path in folder.iterdir() if path.suffix in (".npz", ".mat")):
            try:
                if size_of(path) > options.largest:
                    counts["too large"] += 1
                    continue
                problem = from_npz(path) if path.suffix == ".npz" else from_mat(path)
            except (OSError, ValueError, KeyError, zipfile.BadZipFile) as error:
                counts["cannot be read"] += 1
                print(f"cannot be read {path.name}: {error}")
                continue
            if sum(problem.A.shape) > options.largest:
                counts["too large"] += 1
                continue
            with_zero_rows += not np.abs(problem.A).max(axis=1).all()
            try:
                value, bad, amplified, status, last, _ = stopping_comparison.compare(options.program, dict(own=1), problem, {})
            except RuntimeError as error:
                value, bad, amplified, status, last = np.inf, [str(error)], [], "?", 0
            kind = "DIFFERENT" if bad else "amplify rounding" if amplified else "same"
            counts[kind] += 1
            worst = max(worst, value if not amplified else 0.0)
            statuses[status] = statuses.get(status, 0) + 1
            if kind != "same":
                print(f"{kind}  {problem.name} ({status} after {last}): " + "; ".join(bad + amplified), flush=True)
        print(f"{folder}: " + ", ".join(f"{count} {kind}" for kind, count in counts.items()) + f"; {with_zero_rows} with zero rows; "
              + ", ".join(f"{count} {status}" for status, count in sorted(statuses.items()))
              + f"; largest relative difference {worst:.1e}", flush=True)
        failed = failed or counts["DIFFERENT"] > 0
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
