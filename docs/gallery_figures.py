"""Runs the notebooks of examples/notebooks and draws their figures for the gallery.

    python docs/gallery_figures.py [--out docs/gallery] [NAME...]

What a notebook calls `figure` becomes NAME.svg. Its code runs as it stands, cell after cell, in its folder; Jupyter is not needed for that. The
package needs its extras: pip install '.[osqp,clarabel,cvxpy,plot,table]'.
"""

import argparse
import json
import os
import pathlib

import matplotlib

matplotlib.use("Agg")
matplotlib.rcParams["svg.hashsalt"] = "surefoot"  # the same bytes each time
NOTEBOOKS = pathlib.Path(__file__).resolve().parents[1] / "examples/notebooks"


def run(path):
    """The names that the notebook has defined."""
    cells = json.loads(path.read_text())["cells"]
    names = {}
    os.chdir(path.parent)
    for number, cell in enumerate(cells):
        if cell["cell_type"] == "code":
            exec(compile("".join(cell["source"]), f"{path.name}, cell {number}", "exec"), names)
    return names


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--out", type=pathlib.Path, default=pathlib.Path(__file__).resolve().parent / "gallery")
    parser.add_argument("names", nargs="*")
    options = parser.parse_args()
    out = options.out.absolute()
    out.mkdir(parents=True, exist_ok=True)
    for path in [NOTEBOOKS / f"{name}.ipynb" for name in options.names] or sorted(NOTEBOOKS.glob("*.ipynb")):
        figure = run(path)["figure"]
        figure.savefig(out / f"{path.stem}.svg", metadata={"Date": None}, bbox_inches="tight")
        print(f"wrote {out / path.stem}.svg")


if __name__ == "__main__":
    main()
