"""Draws docs/worst_case.svg: what no smooth convex function exceeds, and what 99 % of a random family stay below.

    python3 docs/worst_case_figure.py --program build/surefoot

The family: f(z) = 1/2 sum_i l_i (z_i - z*_i)^2 in 50 dimensions, l_i uniform in (0, 1), z^0 at distance 1 in a random direction; gradient
descent with step 1. Needs NumPy and gnuplot.
"""

import argparse
import csv
import json
import pathlib
import subprocess
import tempfile

import numpy as np

STEPS = [1, 2, 3, 5, 8, 12, 20, 30, 45, 70, 100]


def main():
    arguments = argparse.ArgumentParser()
    arguments.add_argument("--program", type=pathlib.Path, required=True)
    program = arguments.parse_args().program.absolute()
    random = np.random.default_rng(1)
    eigenvalues = random.uniform(size=(1000, 50))
    start = random.normal(size=(1000, 50))
    start /= np.linalg.norm(start, axis=1, keepdims=True)
    gaps = [0.5 * (eigenvalues * ((1 - eigenvalues) ** k * start) ** 2).sum(axis=1) for k in STEPS]
    with tempfile.TemporaryDirectory() as folder:
        folder = pathlib.Path(folder)
        with open(folder / "gaps.csv", "w", newline="") as file:
            writer = csv.writer(file)
            writer.writerow(STEPS)
            writer.writerows(np.transpose(gaps))
        subprocess.run([program, "certify", "gaps.csv", "--metric", "gap", "--quantiles", "0.99", "--out", "c"],
                       cwd=folder, check=True, capture_output=True)  # fmt: skip
        subprocess.run([program, "worst-case", "gradient", "--steps", ",".join(map(str, STEPS)), "--out", "w", "--quiet"],
                       cwd=folder, check=True, capture_output=True)  # fmt: skip
        claims = json.loads((folder / "c/certificate.json").read_text())["claims"]["quantile"]
        worst = json.loads((folder / "w/proof.json").read_text())["bounds"]
        lines = ["$worst << E", *(f"{row['steps']} {row['bound']}" for row in worst), "E"]
        lines += ["$samples << E", *(f"{row['step']} {row['upper_bound']}" for row in claims), "E"]
        lines += [
            "set terminal svg size 640,400 font 'sans-serif,13'",
            f"set output '{pathlib.Path(__file__).with_name('worst_case.svg')}'",
            "set logscale xy; set format y '10^{%L}'; set xlabel 'iteration'; set ylabel 'f(z^k) - f*, start within 1'",
            "set key outside center top horizontal maxcols 1; set grid",
            "plot $worst with linespoints lw 2 lc '#D55E00' title 'no L-smooth convex function exceeds this (proven)', "
            "$samples with linespoints lw 2 lc '#0072B2' title '99 % of this family stay below (1,000 samples, 0.99)'",
        ]
        (folder / "plot").write_text("\n".join(lines) + "\n")
        subprocess.run(["gnuplot", folder / "plot"], check=True)


if __name__ == "__main__":
    main()
