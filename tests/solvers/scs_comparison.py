"""SCS as it is installed against ours: normalisation, acceleration, adaptive scale, the stopping test and its statuses;
compare_solvers.py starts it.

Each problem goes to the package once, which gives the status, the iteration T where it stopped and what it reports of the
point there, and once per k <= T + 1 with tolerances out of reach, which gives the point after k iterations (the package counts
the iteration where it stops from 0). Our program runs once, without stopping. Status, T and the number of changes of the scale
must be equal, points and reported numbers agree to 1e-6 relative.

Where they do not, rounding must be shown to decide, in one of two ways; no implementation with another order of sums can then
agree. The package's own point shows that at the first change of rows' scales a row held to rounding: rows have scales that
follow their residuals, which are then rounding too. Or the package runs again on the same problem with each number of P, A, b
and c changed in its last bit, and that moves its own point as much (a tenth of our difference is enough). Points before the
first change, and the status, are never excused by the first. Such problems are counted and shown, and there may be at most
MOST_AMPLIFIED of them.
"""

import argparse
import dataclasses
import pathlib
import subprocess
import sys
import tempfile

from comparison import NOISE, TOLERANCE, UNREACHABLE, difference, largest, write_problem

import numpy as np
import scipy.sparse as sparse
import scs

import kinds_of_cone_programs
import reference_scs
from random_problems import cone_programs

SEED = 20240903
MOST_ITERATIONS = 5000
SETTINGS = {
    "as installed": {},
    "tolerances 1e-7": dict(eps_abs=1e-7, eps_rel=1e-7),
    "no rows' scales": dict(adaptive_diag_scale=0),
    "no acceleration": dict(acceleration_lookback=0),
    "acceleration of type II, every 3, of 5": dict(acceleration_type_1=0, acceleration_interval=3, acceleration_lookback=5),
    "relaxed acceleration": dict(acceleration_relaxation=0.8, acceleration_regularization=-1e-9),
    "not normalised": dict(normalize=0),
    "at most 60 iterations": dict(max_iters=60),
}
STEPS = (1, 2, 6, 11, 25, 26, 50, 51, 52, 56, 75, 76, 100, 101, 102, 106, 125, 126, 150, 200, 201, 226, 300, 500, 1000)
MOST_AMPLIFIED = 0.25  # of the problems
FIRST_CHANGE, INTERVAL = 100, 25  # iterations
ROUNDING = 1e-12
# As SolverStatus has them.
STATUSES = {scs.SOLVED: 1, scs.INFEASIBLE: 11, scs.UNBOUNDED: 12, scs.SOLVED_INACCURATE: 13, scs.INFEASIBLE_INACCURATE: 14,
            scs.UNBOUNDED_INACCURATE: 15}
SOLUTION = (scs.SOLVED, scs.SOLVED_INACCURATE)


def package(problem, settings):
    data = dict(A=sparse.csc_matrix(problem.A), b=problem.b, c=problem.c)
    if np.any(problem.P):
        data["P"] = sparse.csc_matrix(np.triu(problem.P))
    flags = {name: bool(settings[name]) for name in ("normalize", "adaptive_scale") if name in settings}
    given = {**dict(max_iters=MOST_ITERATIONS), **settings, **flags}
    return scs.SCS(data, problem.cones, linear_solver="qdldl", verbose=False, **given).solve()


def package_point(problem, settings, k):
    out_of_reach = dict.fromkeys(("eps_abs", "eps_rel", "eps_infeas"), UNREACHABLE)
    result = package(problem, dict(settings, max_iters=k, **out_of_reach))
    return result if result["info"]["iter"] == k and result["info"]["status_val"] in SOLUTION else None


def with_other_last_bits(problem, random):
    """P stays symmetric."""
    def nudged(array):
        return array * (1 + random.choice([-1.0, 0.0, 1.0], array.shape) * np.finfo(float).eps)

    P = nudged(np.triu(problem.P))
    return dataclasses.replace(problem, P=P + np.triu(P, 1).T, A=nudged(problem.A), b=nudged(problem.b), c=nudged(problem.c))


def nudged_problems(problem):
    random = np.random.default_rng(SEED)
    return [with_other_last_bits(problem, random) for _ in range(5)]


def change_by_rounding(problem, settings, last):
    """The iteration of the first change of scale if a row of the package's point held to rounding there; else infinity."""
    if not settings.get("adaptive_diag_scale", 1):
        return np.inf
    for k in range(FIRST_CHANGE, last, INTERVAL):
        point = package_point(problem, settings, k + 1)
        if point is None or point["info"]["scale_updates"] == 0:
            continue
        product = problem.A @ point["x"]
        sizes = np.maximum.reduce([np.abs(product), np.abs(point["s"]), np.abs(problem.b)])
        held = np.abs(product + point["s"] - problem.b) <= ROUNDING * sizes
        return k if held.any() else np.inf
    return np.inf


def amplified_rounding(problem, settings, k, point, floor):
    """How far the package's own point moves, largest of a few tries: of x, y and s."""
    moved = [package_point(other, settings, k) for other in nudged_problems(problem)]
    return {name: max((difference(other[name], point[name], floor) if other else np.inf) for other in moved)
            for name in "xys"}


def summary(result):
    return dict(status=STATUSES.get(result["info"]["status_val"], 16), iterations=result["info"]["iter"],
                rho_updates=result["info"]["scale_updates"])


def of_program(program, problem, settings, steps):
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        write_problem(folder, "scs", problem, dict(dict(preset="default", max_iters=MOST_ITERATIONS), **settings))
        (folder / "ks.txt").write_text("\n".join(map(str, steps)) + "\n")
        finished = subprocess.run([program, folder], stderr=subprocess.PIPE, text=True)
        if finished.returncode != 0:
            raise RuntimeError(f"{program.name} ended with {finished.returncode}: {finished.stderr.strip()}")
        ending = dict(line.split() for line in (folder / "ending.txt").read_text().splitlines())
        return ({k: {vector: np.loadtxt(folder / f"{vector}_{k}.txt", ndmin=1) for vector in "xys"} for k in steps},
                {name: float(value) for name, value in ending.items()})


def of_reference(_, problem, settings, steps):
    solver = reference_scs.Scs(problem.P, problem.c, problem.A, problem.b, problem.cones,
                               **dict(dict(max_iters=MOST_ITERATIONS), **settings))
    points = {}
    for k in range(1, max(steps) + 1):
        solver.step()
        if k in steps:
            points[k] = dict(zip("xys", solver.point))
    return points, dict(solver.ending)


def reported_differences(theirs, ending, problem):
    """Residuals, gap and objective, relative to the vectors that they are differences of."""
    x, y, s = (theirs[vector] for vector in "xys")
    quadratic = abs(x @ problem.P @ x) + abs(problem.c @ x) + abs(problem.b @ y)
    sizes = dict(prim_res=("res_pri", max(largest(problem.A @ x), largest(s), largest(problem.b))),
                 dual_res=("res_dual", max(largest(problem.P @ x), largest(problem.A.T @ y), largest(problem.c))),
                 duality_gap=("gap", quadratic), obj_val=("pobj", quadratic))
    return {name: (ending[name], theirs["info"][theirs_name],
                   abs(ending[name] - theirs["info"][theirs_name]) / max(abs(theirs["info"][theirs_name]), size, NOISE))
            for name, (theirs_name, size) in sizes.items()}


def compare(run, program, problem, settings):
    """The largest difference, and what is different."""
    theirs = package(problem, settings)
    expected = summary(theirs)
    last = expected["iterations"] + (theirs["info"]["status_val"] in (scs.SOLVED, scs.INFEASIBLE, scs.UNBOUNDED))
    steps = sorted({k for k in STEPS if k < last} | {last, min(3 * last + 500, settings.get("max_iters", MOST_ITERATIONS))})
    points, ending = run(program, problem, settings, steps)
    bad, amplified, worst = [], [], 0.0
    wrong = [f"{name} {int(ending[name])}, of the package {value}" for name, value in expected.items()
             if int(ending[name]) != value]
    change = None
    if wrong:
        change = change_by_rounding(problem, settings, last)
        if int(ending["status"]) != expected["status"] or change == np.inf:
            others = [summary(package(other, settings)) for other in nudged_problems(problem)]
            (amplified if any(other != expected for other in others) else bad).extend(wrong)
        else:
            amplified.extend(wrong)
    for k in (k for k in steps if k <= last):
        point = package_point(problem, settings, k)
        if point is None:
            continue
        floor = NOISE * max(largest(point[vector]) for vector in "xys")
        values = {name: difference(points[k][name], point[name], floor) for name in "xys"}
        moved = None
        for name, value in values.items():
            if not value <= TOLERANCE:
                change = change_by_rounding(problem, settings, last) if change is None else change
                if k > change + 1:
                    amplified.append(f"k = {k}: {name} {value:.0e}, rows held to rounding at {change}")
                    continue
                moved = moved or amplified_rounding(problem, settings, k, point, floor)
                text = f"k = {k}: {name} {value:.0e}, by last bits {moved[name]:.0e}"
                if value <= 10 * moved[name]:
                    amplified.append(text)
                    continue
                bad.append(text)
            worst = max(worst, value if value == value else np.inf)
    if theirs["info"]["status_val"] in SOLUTION and not wrong and "prim_res" in ending:
        for name, (mine, its, value) in reported_differences(theirs, ending, problem).items():
            if not value <= TOLERANCE:
                (amplified if amplified else bad).append(f"{name} {mine}, of the package {its}")
            else:
                worst = max(worst, value)
    return worst, bad, amplified, theirs["info"]


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--program", type=pathlib.Path)
    parser.add_argument("--reference", action="store_true")
    parser.add_argument("--verbose", action="store_true")
    parser.add_argument("--in-turn", action="store_true", help="each problem with one of the settings, in turn")
    options = parser.parse_args()
    run = of_reference if options.reference else of_program
    chosen = kinds_of_cone_programs.problems(SEED) + cone_programs(SEED)
    if options.reference:
        chosen = [problem for problem in chosen if not set(problem.cones) & {"ep", "ed", "p"}]
    failures = rounding = compared = 0
    for number, (settings_name, settings) in enumerate(SETTINGS.items()):
        worst, statuses, changes = 0.0, {}, 0
        mine = [problem for index, problem in enumerate(chosen) if not options.in_turn or index % len(SETTINGS) == number]
        for problem in mine:
            label = f"{settings_name}: {problem.name}"
            try:
                value, bad, amplified, info = compare(run, options.program, problem, settings)
            except RuntimeError as error:
                value, bad, amplified, info = np.inf, [str(error)], [], dict(status="?", iter=0, scale_updates=0)
            worst = max(worst, value)
            compared += 1
            if amplified:
                rounding += 1
                print(f"rounding   {label} ({info['status']} after {info['iter']}): " + "; ".join(amplified))
            if bad:
                failures += 1
                print(f"DIFFERENT  {label} ({info['status']} after {info['iter']}): " + "; ".join(bad))
            elif options.verbose:
                print(f"same       {label}: {info['status']} after {info['iter']}, {info['scale_updates']} changes of scale, "
                      f"{value:.1e}")
            statuses[info["status"]] = statuses.get(info["status"], 0) + 1
            changes += info["scale_updates"] > 0
        counts = ", ".join(f"{count} {status}" for status, count in sorted(statuses.items()))
        print(f"scs {scs.__version__}, {settings_name}: {len(mine)} problems ({counts}), scale changed in {changes}; "
              f"largest relative difference {worst:.1e}")
    print(f"{compared} compared, {rounding} amplify rounding")
    if rounding > MOST_AMPLIFIED * compared:
        print(f"DIFFERENT  {rounding} of {compared} problems amplify rounding, more than {MOST_AMPLIFIED:.0%}")
    return 1 if failures or rounding > MOST_AMPLIFIED * compared else 0


if __name__ == "__main__":
    sys.exit(main())
