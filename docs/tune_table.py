"""The table of tuned settings in docs/howto_tune.md.

  python3 docs/tune_families.py families && python3 docs/tune_table.py families out [FAMILY ...]

Each family is tuned three times: as it is, by a grid of at most 400 settings, and by Learn-then-Test on all problems; certified
iterations until 90 % of problems are below 1e-4 and stay so. Prints a line of the table for each family.
"""

import json
import pathlib
import subprocess
import sys

FAMILIES = {"mpc": "qp", "portfolio": "cone", "kalman": "cone", "control": "qp", "lasso": "qp", "svm": "qp"}


def tuned(kind, folder, out, *options):
    """Certified iterations of default and tuned settings, and the search."""
    words = ["surefoot", "tune", kind, folder, "--target", "90% below 1e-4", "--iterations", "500", *options, "--out", out]
    done = subprocess.run(list(map(str, words)), capture_output=True, text=True)
    if done.returncode not in (0, 1):
        sys.exit(done.stderr)
    budgets = json.loads((out / "certificate.json").read_text())["claims"]["iteration_budget"]
    return [budget["steps"] for budget in budgets], json.loads((out / "search.json").read_text())


def line(name, families, out):
    folder = pathlib.Path("examples") / name if name in ("mpc", "portfolio") else families / name
    (default, after), search = tuned(FAMILIES[name], folder, out / name, "--learn-then-test")
    (_, best), grid = tuned(FAMILIES[name], folder, out / f"{name}-grid", "--grid", 400)
    tested = search["learn_then_test"]["steps"]
    return f"| {name} | {default} | {after} | {search['runs']:,} | {best} | {grid['runs']:,} | {tested} |"


if __name__ == "__main__":
    for name in sys.argv[3:] or FAMILIES:
        print(line(name, pathlib.Path(sys.argv[1]), pathlib.Path(sys.argv[2])), flush=True)
