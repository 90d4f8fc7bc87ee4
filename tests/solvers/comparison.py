"""The comparison itself; compare_solvers.py starts it where osqp and scs are installed.

Each problem goes to the package once per k with max_iter = k and every stopping test out of reach, and once to us.
Agreement is 1e-6 relative in the infinity norm, per vector. OSQP does not return its z; instead its primal residual
||Ax - z||_inf, relative to the size of Ax and z, is compared.

The program under test is `solver_iterates FOLDER`; the opening comment of iterates.cpp says what the folder holds. It is
run with each of its ways to solve the linear system, which must not matter.
"""

import argparse
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
# A vector this much smaller than the others of its point is rounding noise, and compared on their scale.
NOISE = 1e-6

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
WAYS_TO_SOLVE = {"default": {}, "sparse": dict(system="sparse"), "dense": dict(system="dense"),
                 "own matrices": dict(own=1)}
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


def settings_of_program(solver_name, settings):
    """The package's settings by the names of our options."""
    if solver_name == "scs":
        return dict(settings, zero_factor=reference.SCS_ZERO_CONE_FACTOR, tau_factor=reference.SCS_TAU_WEIGHT)
    ours = {name: settings[name] for name in ("rho", "sigma", "alpha", "scaling")}
    by_row = settings["rho_is_vec"]
    return dict(ours, equality_factor=reference.OSQP_EQUALITY_FACTOR if by_row else 1,
                loose_rho=reference.OSQP_FREE_ROW_RHO if by_row else settings["rho"])


def write_problem(folder, solver_name, problem, settings):
    for matrix, symmetry in (("P", "symmetric"), ("A", "general")):
        scipy.io.mmwrite(folder / f"{matrix}.mtx", sparse.coo_matrix(getattr(problem, matrix)), precision=17,
                         symmetry=symmetry)
    for vector in ("q", "l", "u") if solver_name == "osqp" else ("b", "c"):
        np.savetxt(folder / f"{vector}.txt", getattr(problem, vector), fmt="%.17g")
    if solver_name == "scs":
        names = dict(z="zero", l="nonnegative", q="second_order", s="semidefinite", ep="exponential",
                     ed="dual_exponential", p="power")
        lines = [" ".join(map(str, [names[kind], *np.atleast_1d(sizes)])) for kind, sizes in problem.cones.items()]
        (folder / "cones.txt").write_text("\n".join(lines) + "\n")
    (folder / "ks.txt").write_text("\n".join(map(str, STEPS)) + "\n")
    (folder / "settings.txt").write_text("".join(f"{name} {value}\n" for name, value in settings.items()))


def iterates_of_program(program, way, solver_name, problem, settings):
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        write_problem(folder, solver_name, problem, dict(settings_of_program(solver_name, settings), **way))
        finished = subprocess.run([program, folder], stderr=subprocess.PIPE, text=True)
        if finished.returncode != 0:
            raise RuntimeError(f"{program.name} ended with {finished.returncode}: {finished.stderr.strip()}")
        return {vector: [np.loadtxt(folder / f"{vector}_{k}.txt", ndmin=1) for k in STEPS]
                for vector in ("x", "y", "z" if solver_name == "osqp" else "s")}


def largest(vector):
    return np.abs(vector).max(initial=0.0)


def difference(ours, theirs, floor):
    """Relative to the vector of the package, or to the floor where that one is mere rounding noise."""
    return largest(ours - theirs) / max(largest(theirs), floor)


def results_of_package(solver_name, problem, settings):
    """By k, for those k at which the package returns a point."""
    if solver_name == "osqp":
        return {k: osqp_package(problem, settings, k) for k in STEPS}
    results = {k: scs_package(problem, settings, k) for k in STEPS}
    return {k: result for k, result in results.items() if result["info"]["status_val"] in SCS_WITH_SOLUTION}


def osqp_differences(problem, theirs, x, y, z):
    floor = NOISE * max(largest(theirs.x), largest(theirs.y), NOISE)
    product = problem.A @ x
    gap = abs(largest(product - z) - theirs.info.prim_res) / max(largest(product), largest(z), floor)
    return dict(x=difference(x, theirs.x, floor), y=difference(y, theirs.y, floor), z=gap)


def scs_differences(_, theirs, x, y, s):
    floor = NOISE * max(largest(theirs[vector]) for vector in "xys")
    return {name: difference(ours, theirs[name], floor) for name, ours in (("x", x), ("y", y), ("s", s))}


def describe_differences(solver_name, problem, theirs, ours):
    """The largest difference of all, and the differences for each k where one is too large."""
    compare = osqp_differences if solver_name == "osqp" else scs_differences
    worst, bad = 0.0, []
    for k, result in theirs.items():
        values = compare(problem, result, *(rows[STEPS.index(k)] for rows in ours.values()))
        largest_value = max(value if value == value else np.inf for value in values.values())
        worst = max(worst, largest_value)
        if largest_value > TOLERANCE:
            bad.append(f"k = {k}: " + ", ".join(f"{vector} {value:.0e}" for vector, value in values.items()))
    if 2 * len(theirs) <= len(STEPS):
        bad.append(f"the package gave a solution for k = {list(theirs)} only")
    return worst, bad


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    what = parser.add_mutually_exclusive_group(required=True)
    what.add_argument("--program", type=pathlib.Path)
    what.add_argument("--reference", action="store_true")
    parser.add_argument("--verbose", action="store_true")
    parser.add_argument("--in-turn", action="store_true")
    options = parser.parse_args()

    ways = ["reference"] if options.reference else list(WAYS_TO_SOLVE)
    failures = 0
    for solver_name, version, problems, all_settings in (
            ("osqp", osqp.__version__, quadratic_programs(SEED), OSQP_SETTINGS),
            ("scs", scs.__version__, cone_programs(SEED), SCS_SETTINGS)):
        for settings_name, settings in all_settings.items():
            worst_by_way, points = dict.fromkeys(ways, 0.0), 0
            chosen = [problem for problem in problems
                      if settings.get("scaling") != 0 or not problem.needs_scaling]
            for index, problem in enumerate(chosen):
                theirs = results_of_package(solver_name, problem, settings)
                points += len(theirs)
                for way in [ways[index % len(ways)]] if options.in_turn else ways:
                    try:
                        ours = (iterates_of_reference(solver_name, problem, settings) if options.reference else
                                iterates_of_program(options.program, WAYS_TO_SOLVE[way], solver_name, problem, settings))
                        worst, bad = describe_differences(solver_name, problem, theirs, ours)
                    except RuntimeError as error:
                        worst, bad = np.inf, [str(error)]
                    worst_by_way[way] = max(worst_by_way[way], worst)
                    label = f"{solver_name}, {settings_name}, {way}: {problem.name}, n = {problem.P.shape[0]}, " \
                            f"m = {problem.A.shape[0]}"
                    if bad:
                        failures += 1
                        print(f"DIFFERENT  {label}: " + "; ".join(bad))
                    elif options.verbose:
                        print(f"same       {label}: {worst:.1e}")
            print(f"{solver_name} {version}, {settings_name}: {len(chosen)} problems, {points} points; largest relative "
                  "difference " + ", ".join(f"{way} {worst:.1e}" for way, worst in worst_by_way.items()))
    return 1 if failures else 0


if __name__ == "__main__":
    sys.exit(main())
