"""The comparison itself; compare_solvers.py starts it where osqp and scs are installed.

Each problem goes to the package once per k with max_iter = k and every stopping test out of reach, and once to us.
Agreement is 1e-6 relative in the infinity norm, per vector. OSQP does not return its z; instead its primal residual
||Ax - z||_inf, relative to the size of Ax and z, is compared.

Format of a problem folder for the program under test, `solver_iterates FOLDER`:
  settings.json   solver ("osqp" or "scs"), steps (list of k), the solver's settings by the names of the package, cones
  P.mtx, A.mtx    Matrix Market, P symmetric (lower triangle)
  q.csv, l.csv, u.csv (osqp) or c.csv, b.csv (scs): one row, no header
It writes x.csv, y.csv and z.csv (osqp) or s.csv (scs): one row per k, in the user's units.
"""

import argparse
import json
import os
import pathlib
import subprocess
import sys
import tempfile

# One thread: the matrices are tiny.
os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")

import numpy as np
import osqp
import scipy.io
import scipy.sparse as sparse
import scs

import reference
from random_problems import cone_programs, quadratic_programs

STEPS = [1, 2, 5, 10, 50, 200]
TOLERANCE = 1e-6
SEED = 20240901
UNREACHABLE = 1e-300

OSQP_SETTINGS = {
    "defaults": dict(scaling=10, rho=0.1, sigma=1e-6, alpha=1.6, rho_is_vec=True),
    # Without rho_is_vec the package uses the same rho on equalities and free rows, as the paper does.
    "paper": dict(scaling=0, rho=1.0, sigma=1.0, alpha=1.0, rho_is_vec=False),
    "unscaled, rho by row": dict(scaling=0, rho=1.0, sigma=1.0, alpha=1.0, rho_is_vec=True),
}
SCS_SETTINGS = {
    "defaults": dict(scale=0.1, rho_x=1e-6, alpha=1.5),
    "unit weights": dict(scale=1.0, rho_x=1.0, alpha=1.0),
}
# Both statuses come with x, y and s; the others with a certificate of infeasibility in their place.
SCS_WITH_SOLUTION = (scs.SOLVED, scs.SOLVED_INACCURATE)


def osqp_package(problem, settings, steps):
    solver = osqp.OSQP()
    solver.setup(sparse.csc_matrix(problem.P), problem.q, sparse.csc_matrix(problem.A), problem.l, problem.u,
                 max_iter=steps, adaptive_rho=False, check_termination=0, polishing=False, verbose=False,
                 eps_abs=UNREACHABLE, eps_rel=UNREACHABLE, eps_prim_inf=UNREACHABLE, eps_dual_inf=UNREACHABLE, **settings)
    result = solver.solve(raise_error=False)
    if result.info.iter != steps:
        raise RuntimeError(f"osqp stopped after {result.info.iter} of {steps} iterations: {result.info.status}")
    return result


def scs_package(problem, settings, steps):
    data = dict(P=sparse.csc_matrix(problem.P), A=sparse.csc_matrix(problem.A), b=problem.b, c=problem.c)
    solver = scs.SCS(data, problem.cones, max_iters=steps, normalize=False, adaptive_scale=False,
                     acceleration_lookback=0, eps_abs=UNREACHABLE, eps_rel=UNREACHABLE, eps_infeas=UNREACHABLE,
                     linear_solver="qdldl", verbose=False, **settings)
    result = solver.solve()
    if result["info"]["iter"] != steps:
        raise RuntimeError(f"scs stopped after {result['info']['iter']} of {steps}: {result['info']['status']}")
    return result


def osqp_vectors(problem):
    return dict(q=problem.q, l=problem.l, u=problem.u)


def scs_vectors(problem):
    return dict(c=problem.c, b=problem.b)


def iterates_of_reference(solver_name, problem, settings):
    if solver_name == "osqp":
        solver = reference.Osqp(problem.P, problem.q, problem.A, problem.l, problem.u, **settings)
        names = ("x", "y", "z")
    else:
        solver = reference.Scs(problem.P, problem.c, problem.A, problem.b, problem.cones, **settings)
        names = ("x", "y", "s")
    rows = {name: [] for name in names}
    for k in range(1, max(STEPS) + 1):
        solver.step()
        if k in STEPS:
            for name in names:
                rows[name].append(getattr(solver, name))
    return rows


def iterates_of_program(program, solver_name, problem, settings):
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        described = dict(solver=solver_name, steps=STEPS, **settings)
        if solver_name == "scs":
            described["cones"] = dict(dict(z=0, l=0, q=[], s=[]), **problem.cones)
        (folder / "settings.json").write_text(json.dumps(described))
        for matrix, symmetry in (("P", "symmetric"), ("A", "general")):
            scipy.io.mmwrite(folder / f"{matrix}.mtx", sparse.coo_matrix(getattr(problem, matrix)), precision=17,
                             symmetry=symmetry)
        vectors = osqp_vectors(problem) if solver_name == "osqp" else scs_vectors(problem)
        for vector, values in vectors.items():
            np.savetxt(folder / f"{vector}.csv", values[None, :], fmt="%.17g", delimiter=",")
        subprocess.run([program, folder], check=True)
        return {vector: np.loadtxt(folder / f"{vector}.csv", delimiter=",", ndmin=2)
                for vector in ("x", "y", "z" if solver_name == "osqp" else "s")}


def largest(vector):
    return np.abs(vector).max(initial=0.0)


def difference(ours, theirs, floor):
    """Relative to the vector of the package, or to the floor where that one is mere rounding noise."""
    return largest(ours - theirs) / max(largest(theirs), floor)


def osqp_differences(problem, settings, ours):
    """Per k the differences of x, y and z."""
    for row, k in enumerate(STEPS):
        result = osqp_package(problem, settings, k)
        floor = 1e-6 * max(largest(result.x), largest(result.y), 1e-6)
        x, z, product = ours["x"][row], ours["z"][row], problem.A @ ours["x"][row]
        gap = abs(largest(product - z) - result.info.prim_res) / max(largest(product), largest(z), floor)
        yield k, dict(x=difference(x, result.x, floor), y=difference(ours["y"][row], result.y, floor), z=gap)


def scs_differences(problem, settings, ours):
    for row, k in enumerate(STEPS):
        result = scs_package(problem, settings, k)
        if result["info"]["status_val"] not in SCS_WITH_SOLUTION:
            continue
        floor = 1e-6 * max(largest(result[vector]) for vector in "xys")
        yield k, {vector: difference(ours[vector][row], result[vector], floor) for vector in "xys"}


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    what = parser.add_mutually_exclusive_group(required=True)
    what.add_argument("--program", type=pathlib.Path)
    what.add_argument("--reference", action="store_true")
    parser.add_argument("--verbose", action="store_true")
    options = parser.parse_args()

    failures = 0
    for solver_name, version, problems, all_settings, differences in (
            ("osqp", osqp.__version__, quadratic_programs(SEED), OSQP_SETTINGS, osqp_differences),
            ("scs", scs.__version__, cone_programs(SEED), SCS_SETTINGS, scs_differences)):
        for settings_name, settings in all_settings.items():
            worst_of_all, compared = 0.0, 0
            for problem in problems:
                if options.reference:
                    ours = iterates_of_reference(solver_name, problem, settings)
                else:
                    ours = iterates_of_program(options.program, solver_name, problem, settings)
                found = dict(differences(problem, settings, ours))
                # NaN must fail: it compares false with everything.
                bad = [f"k = {k}: {vector} differs by {value:.1e}" for k, values in found.items()
                       for vector, value in values.items() if not value <= TOLERANCE]
                if 2 * len(found) <= len(STEPS):
                    bad.append(f"the package gave a solution for k = {list(found)} only")
                worst = max((value for values in found.values() for value in values.values()), default=np.inf)
                worst_of_all, compared = max(worst_of_all, worst), compared + len(found)
                label = f"{solver_name} ({settings_name}), {problem.name}, n = {problem.P.shape[0]}, " \
                        f"m = {problem.A.shape[0]}"
                if bad:
                    failures += 1
                    print(f"DIFFERENT  {label}: " + "; ".join(bad))
                elif options.verbose:
                    print(f"same       {label}: {worst:.1e}")
            print(f"{solver_name} {version} ({settings_name}): {len(problems)} problems, {compared} points, "
                  f"largest relative difference {worst_of_all:.1e}")
    return 1 if failures else 0


if __name__ == "__main__":
    sys.exit(main())
