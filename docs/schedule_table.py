"""The table of learned schedules in docs/howto_tune.md.

  python3 docs/tune_families.py families && python3 docs/schedule_table.py families out [FAMILY ...]

The first half of the problems of a family is for choosing: the constant settings (of QPs `surefoot tune qp --over rho,alpha`, of step
sizes a grid, of cone programs `surefoot tune cone` of scale and alpha of the plain splitting), the length K of the schedule, and its training from the constant. Default, constant and schedule are then run once on
the other half: certified iterations until 90 % of problems are below 1e-4 and stay so, each with the delta that `tune` has for one
budget, 0.0025 (a third of what `calibrate` is given). Prints a line of the table for each family.
"""

import json
import math
import pathlib
import re
import subprocess
import sys

TOLERANCE, SHARE, CONFIDENCE = 1e-4, 0.9, "0.9925"

# kind, solver, and the schedule's lengths as shares of the constant's iterations
FAMILIES = {
    "quadratic": ("quadratic", "usual", [0.15, 0.2, 0.25, 0.3, 0.5]),
    "codes": ("lasso", "ista", [0.2, 0.3, 0.4, 0.5, 0.6, 0.8]),
    "codes-fista": ("lasso", "fista", [0.4, 0.6, 0.8, 0.9]),
    "mpc": ("qp", "usual", [0.7, 0.8, 0.9, 1]),
    "control": ("qp", "usual", [0.5, 0.6, 0.7, 0.8, 0.9]),
    "lasso": ("qp", "usual", [0.6, 0.7, 0.8, 0.9]),
    "svm": ("qp", "usual", [0.5, 0.6, 0.7, 0.8, 0.9]),
    "portfolio": ("cone", "usual", [0.4, 0.5, 0.6, 0.7, 0.8, 0.9]),
    "kalman": ("cone", "usual", [0.5, 0.6, 0.7, 0.8, 0.9]),
}
PLAIN = "scale,alpha,normalize=false,acceleration_lookback=0"  # what the steps of a schedule of SCS are


def most_failures(fresh):
    """Share of the training problems that may fail: five sixths of what as many fresh ones as these may have for 90 % to be certified."""
    tail, failures = 0.0, -1
    while tail <= 1 / 400:
        failures += 1
        tail += math.comb(fresh, failures) * 0.1**failures * 0.9 ** (fresh - failures)
    return 5 / 6 * (failures - 1) / fresh


def surefoot(*words):
    done = subprocess.run(["surefoot", *map(str, words)], capture_output=True, text=True)
    if done.returncode not in (0, 1):
        sys.exit(f"surefoot {' '.join(map(str, words))}\n{done.stderr}")
    return done.stdout


class Family:
    def __init__(self, name, families, out):
        self.name, self.out = name, out / name
        self.kind, self.solver, self.shares = FAMILIES[name]
        self.folder = pathlib.Path("examples") / name if name in ("mpc", "portfolio") else families / name.removesuffix("-fista")
        tables = {"qp": ("l.csv", "q.csv"), "cone": ("b.csv", "c.csv"), "lasso": ("b.csv",), "quadratic": ("c.csv",)}[self.kind]
        rows = max(len((self.folder / file).read_text().splitlines()) for file in tables if (self.folder / file).exists())
        self.search, self.fresh = rows // 2, f"{rows // 2}:{rows - rows // 2}"
        self.out.mkdir(parents=True, exist_ok=True)

    def train(self, name, steps, settings, stages, silver=False, first=0, samples=None):
        """Weights, and the share of failures in the last line of the training."""
        settings = {"steps": steps, "solver": self.solver, **settings}
        lines = ['model = "schedule"', "seed = 1", "[family]", f'kind = "{self.kind}"', f'folder = "{self.folder.resolve()}"']
        lines += [f"first = {first}", f"samples = {samples or self.search}"]
        lines += ["[network]"] + [f"{key} = {json.dumps(value)}" for key, value in settings.items()]
        lines += ["[posterior]", f"analytic_start = {json.dumps(silver)}"]
        for stage in stages:
            lines += ["[[stage]]", "noise = false"] + [f"{key} = {json.dumps(value)}" for key, value in stage.items()]
        recipe = self.out / f"{name}.toml"
        recipe.write_text("\n".join(lines) + "\n")
        said = surefoot("train", recipe, "--out", self.out / name)
        failures = re.findall(r"failures +([0-9.e+-]+)", said)
        return self.out / name / "weights.safetensors", float(failures[-1]) if failures else None

    def budget(self, weights, rows, confidence=CONFIDENCE):
        """Certified iterations on these rows; None: the share is not certified."""
        out = weights.parent / "guarantees"
        surefoot("calibrate", weights, "--guarantees", "hold-out-means", "--hold-out", rows, "--look-again", "--tolerances", TOLERANCE,
                 "--quantiles", SHARE, "--confidence", confidence, "--out", out)  # fmt: skip
        certificate = json.loads((out / "hold-out-means" / "certificate.json").read_text())
        return certificate["claims"]["iteration_budget"][0]["steps"]

    def constant(self):
        """Default and tuned constant: settings, and certified iterations of both."""
        if self.kind in ("qp", "cone"):
            tuned = self.out / "tuned"
            over = "rho,alpha" if self.kind == "qp" else PLAIN
            surefoot("tune", self.kind, self.folder, "--target", "90% below 1e-4", "--over", over, "--iterations", 500, "--out", tuned)
            budgets = json.loads((tuned / "certificate.json").read_text())["claims"]["iteration_budget"]
            # The default races too: the best of the constants is what a schedule begins with.
            racers = [racer for racer in json.loads((tuned / "search.json").read_text())["racers"] if racer["settings"]]
            found = max(racers, key=lambda racer: (racer["problems"], -racer["score"]))["settings"]
            settings = {key: float(found[key]) for key in over.split(",")[:2]}
            constant = self.train("constant", 500, settings, [{"name": "none", "epochs": 0}])[0]
            return settings, budgets[0]["steps"], self.budget(constant, self.fresh)
        plain = [{"name": "none", "epochs": 0}]
        steps = 500
        unit = self.budget(self.train("unit", steps, {}, plain)[0], self.fresh)

        # Chosen on the search rows: weights that depend on 8 of the others let them be counted.
        def on_search(step):
            weights, _ = self.train("grid", steps, {"step": step}, plain, first=self.search, samples=8)
            return self.budget(weights, f"0:{self.search}") or steps + 1

        lipschitz = self.largest_curvature()
        grid = [factor / lipschitz for factor in (1, 1.2, 1.4, 1.5, 1.6, 1.7, 1.8, 1.85, 1.9, 1.92, 1.94, 1.95, 1.96, 1.97, 1.98)]
        step = min(grid, key=on_search)
        return {"step": step}, unit, self.budget(self.train("constant", steps, {"step": step}, plain)[0], self.fresh)

    def largest_curvature(self):
        entries = (self.folder / ("P.mtx" if self.kind == "quadratic" else "D.mtx")).read_text().splitlines()
        symmetric, entries = "symmetric" in entries[0], [line.split() for line in entries[1:]]
        rows, columns = int(entries[0][0]), int(entries[0][1])
        matrix = [[0.0] * columns for _ in range(rows)]
        for i, j, value in entries[1:]:
            matrix[int(i) - 1][int(j) - 1] = float(value)
            if symmetric:
                matrix[int(j) - 1][int(i) - 1] = float(value)
        vector, norm = [1.0] * columns, 1.0
        for _ in range(2000):  # power method
            image = [sum(x * y for x, y in zip(row, vector)) for row in matrix]
            if self.kind == "lasso":
                image = [sum(matrix[i][j] * image[i] for i in range(rows)) for j in range(columns)]
            norm = sum(x * x for x in image) ** 0.5
            vector = [x / norm for x in image]
        return norm

    def schedule(self, settings, iterations):
        silver, rate = self.kind in ("quadratic", "lasso") and self.solver != "fista", 0.03
        epochs = 100
        for share in self.shares:
            steps = max(2, round(share * iterations))
            stages = [{"name": "mean", "epochs": epochs // 5, "batch": 50, "mean_rate": rate, "surrogate": "logarithm"}] + [
                {"name": f"share {width}", "epochs": epochs, "batch": 50, "mean_rate": rate * width / 3, "surrogate": "tolerance",
                 "tolerance": TOLERANCE, "width": width, "schedule": "cosine"}
                for width in (3, 1, 0.5)
            ]  # fmt: skip
            weights, failures = self.train(f"schedule-{steps}", steps, settings, stages, silver)
            print(f"  {self.name}: {steps} steps, {100 * failures:.1f} % of the training problems fail", file=sys.stderr, flush=True)
            if failures <= most_failures(int(self.fresh.split(":")[1])):
                return steps, self.budget(weights, self.fresh)
        return None, None

    def line(self):
        settings, default, constant = self.constant()
        print(f"  {self.name}: {default} {constant} {settings}", file=sys.stderr, flush=True)
        steps, schedule = self.schedule(settings, constant)
        less = "" if schedule is None else f"{100 * (1 - schedule / constant):.0f} %"
        named = " ".join(f"{key}={value:.3g}" for key, value in settings.items())
        return f"| {self.name} | {default} | {constant} ({named}) | {schedule} | {less} |"


if __name__ == "__main__":
    for name in sys.argv[3:] or FAMILIES:
        print(Family(name, pathlib.Path(sys.argv[1]), pathlib.Path(sys.argv[2])).line(), flush=True)
