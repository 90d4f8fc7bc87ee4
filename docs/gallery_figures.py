"""Draws the pictures of the gallery: runs the notebooks of examples/notebooks and draws their figures, and those of other examples.

    python docs/gallery_figures.py [--out docs/gallery] [NAME...]

What a notebook calls `figure` becomes NAME.svg. Its code runs as it stands, cell after cell, in its folder; Jupyter is not needed for that. The
package needs its extras: pip install '.[osqp,clarabel,cvxpy,plot,table]'; pytorch also needs '.[torch]', and is drawn only where it is named.
"""

import argparse
import importlib
import json
import os
import pathlib
import sys

import matplotlib

matplotlib.use("Agg")
matplotlib.rcParams["svg.hashsalt"] = "surefoot"  # the same bytes each time
EXAMPLES = pathlib.Path(__file__).resolve().parents[1] / "examples"
NOTEBOOKS = EXAMPLES / "notebooks"


def run(path):
    """The names that the notebook has defined."""
    cells = json.loads(path.read_text())["cells"]
    names = {}
    os.chdir(path.parent)
    for number, cell in enumerate(cells):
        if cell["cell_type"] == "code":
            exec(compile("".join(cell["source"]), f"{path.name}, cell {number}", "exec"), names)
    return names


def example(name):
    sys.path.insert(0, str(EXAMPLES / "python"))
    return importlib.import_module(name)


def axes_of_one():
    import matplotlib.pyplot as pyplot

    figure, axes = pyplot.subplots(figsize=(6.4, 3.6), layout="constrained")
    return figure, axes


def groups():
    """Flights of examples/logs: every tick of a flight, and the observed share of ticks."""
    import surefoot

    certificate = surefoot.certify(EXAMPLES / "logs/flights.csv.gz", groups="flight", metric="residual", tolerances=[1e-4, 1e-3, 1e-2])
    figure, axes = axes_of_one()
    certificate.plot("success", axes)
    axes.set_xlabel("iterations")
    axes.set_ylabel("share of flights, every tick below")
    axes.set_title("")
    return figure


def closed_loop():
    """Rollouts of examples/cartpole, a pole on a cart, under several limits of iterations at every tick."""
    import numpy as np
    import scipy.io
    import surefoot

    folder = EXAMPLES / "cartpole"
    matrix = lambda name: scipy.io.mmread(folder / f"{name}.mtx")  # noqa: E731
    row = lambda name: np.loadtxt(folder / f"{name}.csv", delimiter=",")  # noqa: E731
    family = surefoot.QPFamily(*map(matrix, "PA"), *map(row, "qlu"))
    initial = np.random.default_rng(0).uniform(row("initial-lower"), row("initial-upper"), (300, 4))
    dense = lambda name: np.asarray(matrix(name).todense())  # noqa: E731
    runs = surefoot.closed_loop(family, (dense("plant-A"), dense("plant-B")), initial=initial, input=matrix("input"), l_state=matrix("l-state"),
                                u_state=matrix("u-state"), input_bounds=(np.atleast_1d(row("input-lower")), np.atleast_1d(row("input-upper"))),
                                cost=(dense("cost-Q"), dense("cost-R")), disturbance=("gaussian", row("disturbance-std")), ticks=40,
                                limits=[2, 4, 6, 8, 10, 14, 20])  # fmt: skip
    certificate = runs.certify("excess_cost", tolerances=[1e-3, 1e-2, 1e-1])
    figure, axes = axes_of_one()
    certificate.plot("success", axes)
    axes.set_xlabel("iterations of OSQP at every tick")
    axes.set_ylabel("share of rollouts, excess cost below")
    axes.set_title("")
    return figure


def monitor():
    """The evidence of a monitor beside OSQP; after 200 solves the cart is pushed harder."""
    import numpy as np
    import surefoot

    shown = example("monitor_osqp_mpc")
    controller = shown.Controller()
    samples = np.array([controller.residual(i) for i in range(500)])
    certificate = surefoot.certify(samples[:, None], recorded_steps=[shown.ITERATIONS], metric="residual", tolerances=[shown.TOLERANCE])
    watch = surefoot.Monitor(certificate, f"below {shown.TOLERANCE} after {shown.ITERATIONS}", arl=1e6)
    evidence = []
    for tick in range(300):
        alarm = watch.update(controller.residual(500 + tick, 1.0 if tick < 200 else 2.0))
        evidence.append(alarm.evidence if alarm else watch.evidence)
        if alarm:
            break
    figure, axes = axes_of_one()
    axes.semilogy(range(1, len(evidence) + 1), evidence, label="evidence against the certificate")
    axes.axhline(watch.threshold, color="C3", label="alarm")
    axes.axvline(200, color="0.5", linestyle=":", label="the change")
    axes.set_xlabel("solves")
    axes.legend()
    return figure


def pytorch():
    """Certified shares of problems for step sizes that were learned and for the best constant one."""
    import numpy as np
    import surefoot
    import torch

    shown = example("torch_learned_optimizer")
    curvature, start = shown.draw_problems(5000, seed=1)
    posterior = shown.train(curvature, start, 300)

    def run(weights, indices):
        rates = torch.tensor(np.stack([drawn["rates"] for drawn in weights]))
        return shown.distances(rates, curvature[indices], start[indices]).numpy()

    learned = surefoot.calibrate(posterior, run, samples=5000, batch=1000, metric="distance", name="learned steps", tolerances=[shown.TOLERANCE],
                                 quantiles=[0.5, 0.9], claims=["success"], steps=list(range(1, shown.STEPS + 1)))  # fmt: skip
    constant = shown.distances(torch.full((shown.STEPS,), shown.PRIOR_RATE, dtype=torch.float64), *shown.draw_problems(5000, seed=2)).numpy()
    usual = surefoot.certify({"constant step": constant}, metric="distance", tolerances=[shown.TOLERANCE], claims=["success"])
    figure, axes = axes_of_one()
    for number, (certificate, name) in enumerate(((learned, "learned steps"), (usual, "best constant step"))):
        points = [claim for claim in certificate.claims if isinstance(claim, surefoot.SuccessClaim)]
        steps = [claim.step for claim in points]
        axes.plot(steps, [claim.empirical for claim in points], "--", color=f"C{number}", linewidth=1)
        axes.plot(steps, [claim.lower_bound for claim in points], color=f"C{number}", label=name)
    axes.set_xlabel("steps of gradient descent")
    axes.set_ylabel(f"share of problems below {shown.TOLERANCE}")
    axes.legend()
    return figure


DRAWN = {draw.__name__: draw for draw in (groups, closed_loop, monitor)}


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--out", type=pathlib.Path, default=pathlib.Path(__file__).resolve().parent / "gallery")
    parser.add_argument("names", nargs="*")
    options = parser.parse_args()
    out = options.out.absolute()
    out.mkdir(parents=True, exist_ok=True)
    for name in options.names or [*(path.stem for path in sorted(NOTEBOOKS.glob("*.ipynb"))), *DRAWN]:
        draw = {**DRAWN, "pytorch": pytorch}.get(name)
        figure = draw() if draw else run(NOTEBOOKS / f"{name}.ipynb")["figure"]
        figure.savefig(out / f"{name}.svg", metadata={"Date": None}, bbox_inches="tight")
        print(f"wrote {out / name}.svg")


if __name__ == "__main__":
    main()
