"""OSQP as it is installed against our OSQP: adaptive rho, the stopping test and its statuses; compare_solvers.py starts it.

Each problem goes to the package once, which gives the status, the iteration T where it stopped and what it reports of the
point there, and once per k <= T with tolerances out of reach, which gives the iterate of iteration k. Our program runs
once, without stopping. Status, T and the number of changes of rho must be equal, iterates and reported numbers agree to
1e-6 relative.

Where an iterate differs by more, the package runs again on the same problem with each number of P, q and A changed in its
last bit. If that moves its own iterate as much (a tenth of our difference is enough), the difference is rounding that the
problem amplifies: no implementation with another order of sums can agree. Numbers reported at the end of such a run are held
against the same changes. Such problems are counted and shown, and there
may be at most MOST_AMPLIFIED of them in all.
"""

import argparse
import dataclasses
import pathlib
import subprocess
import sys
import tempfile

from comparison import (NOISE, TOLERANCE, UNREACHABLE, difference, largest, write_problem)

import numpy as np
import osqp
import scipy.sparse as sparse

import kinds_of_problems
from random_problems import quadratic_programs

SEED = 20240902
SETTINGS = {
    "as installed": {},
    "tolerances 1e-6": dict(eps_abs=1e-6, eps_rel=1e-6),
    "other intervals, scaled test": dict(scaled_termination=1, adaptive_rho_interval=10, check_termination=7,
                                         adaptive_rho_tolerance=2.0),
    "interval of rho told by that of the test": dict(adaptive_rho_interval=0, check_termination=5, check_dualgap=0),
    "at most 60 iterations": dict(max_iter=60, eps_abs=1e-4, eps_rel=1e-4),
    "no scaling": dict(scaling=0),
}
STEPS = (1, 2, 10, 25, 26, 49, 50, 51, 75, 100, 101, 150, 151, 200, 201, 400, 1000)
WAYS = {"own matrices": dict(own=1), "shared matrices": {}}
MOST_AMPLIFIED = 3
SOLUTION = (1, 2, 7)  # solved, solved inaccurate, maximum iterations reached: the package returns a point


def package(problem, settings):
    solver = osqp.OSQP()
    solver.setup(sparse.csc_matrix(problem.P), problem.q, sparse.csc_matrix(problem.A), problem.l, problem.u,
                 verbose=False, **settings)
    return solver.solve(raise_error=False)


def package_iterate(problem, settings, k):
    out_of_reach = dict.fromkeys(("eps_abs", "eps_rel", "eps_prim_inf", "eps_dual_inf"), UNREACHABLE)
    result = package(problem, dict(settings, max_iter=k, **out_of_reach))
    if result.info.iter != k:
        raise RuntimeError(f"osqp stopped after {result.info.iter} of {k} iterations: {result.info.status}")
    # A last change of y of exactly zero is within any tolerance: the package then returns no point.
    return result if result.info.status_val in SOLUTION else None


def with_other_last_bits(problem, random):
    """P stays symmetric."""
    def nudged(array):
        return array * (1 + random.choice([-1.0, 0.0, 1.0], array.shape) * np.finfo(float).eps)

    P = nudged(np.triu(problem.P))
    return dataclasses.replace(problem, P=P + np.triu(P, 1).T, q=nudged(problem.q), A=nudged(problem.A))


def amplified_rounding(problem, settings, k, point, floor):
    """How far the package's own iterate moves, largest of a few tries: of x and of y."""
    random = np.random.default_rng(SEED)
    moved = [package_iterate(with_other_last_bits(problem, random), settings, k) for _ in range(5)]
    return {name: max((difference(getattr(other, name), getattr(point, name), floor) for other in moved if other), default=0.0)
            for name in "xy"}


def amplified_report(problem, settings, theirs, name):
    """How far a number that the package reports at the end moves in the same way; it must end as before."""
    random = np.random.default_rng(SEED)
    moved = [package(with_other_last_bits(problem, random), settings).info for _ in range(5)]
    if any((info.status_val, info.iter) != (theirs.info.status_val, theirs.info.iter) for info in moved):
        return 0.0
    return max(abs(getattr(info, name) - getattr(theirs.info, name)) for info in moved)


def ours(program, way, problem, settings, steps):
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        write_problem(folder, "osqp", problem, dict(preset="default", **settings, **way))
        (folder / "ks.txt").write_text("\n".join(map(str, steps)) + "\n")
        finished = subprocess.run([program, folder], stderr=subprocess.PIPE, text=True)
        if finished.returncode != 0:
            raise RuntimeError(f"{program.name} ended with {finished.returncode}: {finished.stderr.strip()}")
        ending = dict(line.split() for line in (folder / "ending.txt").read_text().splitlines())
        return ({k: [np.loadtxt(folder / f"{vector}_{k}.txt", ndmin=1) for vector in "xyz"] for k in steps},
                {name: float(value) for name, value in ending.items()})


def reported_differences(theirs, ending, problem):
    """prim_res, dual_res, duality_gap and obj_val, relative to the vectors that they are differences of."""
    x, y = theirs.x, theirs.y
    sizes = dict(prim_res=largest(problem.A @ x), dual_res=max(largest(problem.P @ x), largest(problem.A.T @ y),
                                                                largest(problem.q)))
    quadratic, linear = x @ problem.P @ x, problem.q @ x
    sizes["obj_val"] = sizes["duality_gap"] = abs(quadratic) + abs(linear)
    return {name: abs(ending[name] - getattr(theirs.info, name)) / max(abs(getattr(theirs.info, name)), size, NOISE)
            for name, size in sizes.items()}


def compare(program, way, problem, settings):
    """The largest difference, and what is different."""
    theirs = package(problem, settings)
    last = theirs.info.iter
    steps = sorted({k for k in STEPS if k < last} | {last})
    points, ending = ours(program, way, problem, settings, steps)
    bad, amplified, worst = [], [], 0.0
    for name, value in (("status", theirs.info.status_val), ("iterations", last)):
        if int(ending[name]) != value:
            bad.append(f"{name} {int(ending[name])}, of the package {value}")
    for k in steps:
        ended = k == last and theirs.info.status_val in SOLUTION
        point = theirs if ended else package_iterate(problem, settings, k)
        if point is None:
            continue
        floor = NOISE * max(largest(point.x), largest(point.y), NOISE)
        for name, mine, its in (("x", points[k][0], point.x), ("y", points[k][1], point.y)):
            value = difference(mine, its, floor)
            if not value <= TOLERANCE:
                moved = amplified_rounding(problem, settings, k, point, floor)[name]
                if value <= 10 * moved:
                    amplified.append(f"k = {k}: {name} {value:.0e}, by last bits {moved:.0e}")
                    continue
                bad.append(f"k = {k}: {name} {value:.0e}, by last bits {moved:.0e}")
            worst = max(worst, value if value == value else np.inf)
    differences = {"rho_updates": abs(int(ending["rho_updates"]) - theirs.info.rho_updates)}
    if theirs.info.status_val in SOLUTION:
        differences |= reported_differences(theirs, ending, problem)
    for name, value in differences.items():
        if value <= TOLERANCE:
            worst = max(worst, value)
            continue
        text = f"{name} {ending[name]}, of the package {getattr(theirs.info, name)}"
        gap = abs(ending[name] - getattr(theirs.info, name))
        rounding = amplified and gap <= 10 * amplified_report(problem, settings, theirs, name)
        (amplified if rounding else bad).append(text)
    return worst, bad, amplified, theirs.info.status, last, theirs.info.rho_updates


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--program", type=pathlib.Path, required=True)
    parser.add_argument("--verbose", action="store_true")
    parser.add_argument("--in-turn", action="store_true")
    options = parser.parse_args()
    all_problems = kinds_of_problems.problems(SEED) + quadratic_programs(SEED)
    failures = rounding = 0
    for settings_name, settings in SETTINGS.items():
        worst, statuses, changes = 0.0, {}, 0
        chosen = [problem for problem in all_problems if settings.get("scaling") != 0 or not problem.needs_scaling]
        for index, problem in enumerate(chosen):
            ways = [list(WAYS)[index % len(WAYS)]] if options.in_turn or settings else list(WAYS)
            for way in ways:
                label = f"{settings_name}, {way}: {problem.name}"
                try:
                    value, bad, amplified, status, last, updates = compare(options.program, WAYS[way], problem, settings)
                except RuntimeError as error:
                    value, bad, amplified, status, last, updates = np.inf, [str(error)], [], "?", 0, 0
                worst = max(worst, value)
                if amplified:
                    rounding += 1
                    print(f"rounding   {label} ({status} after {last}): " + "; ".join(amplified))
                if bad:
                    failures += 1
                    print(f"DIFFERENT  {label} ({status} after {last}): " + "; ".join(bad))
                elif options.verbose:
                    print(f"same       {label}: {status} after {last}, {updates} changes of rho, {value:.1e}")
            statuses[status] = statuses.get(status, 0) + 1
            changes += updates > 0
        counts = ", ".join(f"{count} {status}" for status, count in sorted(statuses.items()))
        print(f"osqp {osqp.__version__}, {settings_name}: {len(chosen)} problems ({counts}), rho changed in {changes}; "
              f"largest relative difference {worst:.1e}")
    if rounding > MOST_AMPLIFIED:
        print(f"DIFFERENT  {rounding} problems amplify rounding, more than {MOST_AMPLIFIED}")
    return 1 if failures or rounding > MOST_AMPLIFIED else 0


if __name__ == "__main__":
    sys.exit(main())
