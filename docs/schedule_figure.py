"""Draws docs/schedule.svg from the folders that docs/schedule_table.py has written; needs gnuplot.

  python3 docs/schedule_figure.py out/quadratic/schedule-K/schedule.csv out/control/schedule-K/schedule.csv STEP RHO ALPHA

STEP, RHO and ALPHA are the constants that the schedules began with.
"""

import pathlib
import subprocess
import sys


def rows(path):
    return [line.split(",") for line in pathlib.Path(path).read_text().splitlines()[1:]]


def main():
    steps, osqp = rows(sys.argv[1]), rows(sys.argv[2])
    step, rho, alpha = (float(value) for value in sys.argv[3:6])
    lines = ["$steps << E", *(" ".join(row) for row in steps), "E", "$osqp << E", *(" ".join(row) for row in osqp), "E"]
    lines += [
        "set terminal svg size 960,380 font 'sans-serif,13'",
        f"set output '{pathlib.Path(__file__).with_name('schedule.svg')}'",
        "set multiplot layout 1,2; set grid; set xlabel 'iteration'; set key outside bottom center horizontal",
        f"set title 'gradient descent: quadratic'; set ylabel 'step size'; set xrange [0:{len(steps) + 1}]; set yrange [0:*]",
        f"plot $steps using 1:2 with impulses lw 2 lc '#0072B2' title 'schedule', {step} lw 2 lc '#D55E00' title 'tuned constant'",
        f"set title 'OSQP: control'; set ylabel 'rho'; set y2label 'alpha'; set y2tics; set ytics nomirror; set logscale y; set xrange [0:{len(osqp) + 1}]",
        "set yrange [*:*]; set y2range [0:2.2]; set key outside bottom center horizontal",
        "plot $osqp using 1:2 with linespoints lw 2 lc '#0072B2' title 'rho', "
        f"{rho} lw 1 lc '#0072B2' dt 2 title 'tuned rho', "
        "$osqp using 1:3 axes x1y2 with linespoints lw 2 lc '#009E73' title 'alpha', "
        f"{alpha} axes x1y2 lw 1 lc '#009E73' dt 2 title 'tuned alpha'",
    ]
    subprocess.run(["gnuplot"], input="\n".join(lines) + "\n", text=True, check=True)


if __name__ == "__main__":
    main()
