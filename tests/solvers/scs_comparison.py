"""SCS as it is installed against ours: normalisation, acceleration, adaptive scale, the stopping test and its statuses;
compare_solvers.py starts it.

Each problem goes to the package once, which gives the status, the iteration T where it stopped and what it reports of the
point there, and once per k <= T + 1 with tolerances out of reach, which gives the point after k iterations (the package counts
the iteration where it stops from 0). Our program runs once, without stopping. Status, T and the number of changes of the scale
must be equal, points and reported numbers agree to 1e-6 relative.

Where they do not, rounding must be shown to decide; no implementation with another order of sums can then agree. The package
runs again on the same problem, up to TRIES times, with each number of P, A, b and c changed in its last bit: that must move its
own point as much (a tenth of our difference is enough), or change what it reports, too. Where rows' scales follow residuals
that are rounding, this is seen from their first change on, never before. Such problems are counted and shown, and there may be
at most MOST_AMPLIFIED of them.
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
MOST_AMPLIFIED = 0.2  # of the problems
TRIES = 200  # moves by last bits have heavy tails: lasso 15 x 10 without acceleration moves by 7e-6 in 20, by 6e-4 in 100
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


class Nudged:
    """The package on the same problem with other last bits: made when asked for, and kept."""

    def __init__(self, problem, settings):
        self.problem, self.settings = problem, settings
        self.random = np.random.default_rng(SEED)
        self.problems, self.endings, self.points = [], [], {}

    def _each(self, kept, run):
        for i in range(TRIES):
            if i == len(self.problems):
                self.problems.append(with_other_last_bits(self.problem, self.random))
            if i == len(kept):
                kept.append(run(self.problems[i]))
            yield kept[i]

    def each_ending(self):
        return self._each(self.endings, lambda problem: package(problem, self.settings))

    def moves(self, k, point, name, floor, value):
        """How far the package's own x, y or s after k iterations moves: the largest until it is a tenth of `value`."""
        largest_move = 0.0
        for other in self._each(self.points.setdefault(k, []), lambda problem: package_point(problem, self.settings, k)):
            largest_move = max(largest_move, difference(other[name], point[name], floor) if other else np.inf)
            if 10 * largest_move >= value:
                break
        return largest_move

    def reports(self, name, its, value):
        """The same of a number that it reports at the end."""
        largest_move = 0.0
        for other in self.each_ending():
            largest_move = max(largest_move, abs(other["info"][name] - its))
            if 10 * largest_move >= value:
                break
        return largest_move


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
    return {name: (ending[name], theirs_name, theirs["info"][theirs_name],
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
    nudged = Nudged(problem, settings)
    wrong = {name: value for name, value in expected.items() if int(ending[name]) != value}
    for name, value in wrong.items():
        others = any(summary(other)[name] != value for other in nudged.each_ending())
        (amplified if others else bad).append(f"{name} {int(ending[name])}, of the package {value}")
    for k in (k for k in steps if k <= last):
        point = package_point(problem, settings, k)
        if point is None:
            continue
        floor = NOISE * max(largest(point[vector]) for vector in "xys")
        for name in "xys":
            value = difference(points[k][name], point[name], floor)
            if not value <= TOLERANCE:
                moved = nudged.moves(k, point, name, floor, value)
                text = f"k = {k}: {name} {value:.0e}, by last bits {moved:.0e}"
                if value <= 10 * moved:
                    amplified.append(text)
                    continue
                bad.append(text)
            worst = max(worst, value if value == value else np.inf)
    if theirs["info"]["status_val"] in SOLUTION and not wrong and "prim_res" in ending:
        for name, (mine, its_name, its, value) in reported_differences(theirs, ending, problem).items():
            if value <= TOLERANCE:
                worst = max(worst, value)
                continue
            excused = amplified and abs(mine - its) <= 10 * nudged.reports(its_name, its, abs(mine - its))
            (amplified if excused else bad).append(f"{name} {mine}, of the package {its}")
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
