"""The notebooks of examples/notebooks run, and draw the figures of the gallery."""

import subprocess
import sys

import pytest


@pytest.mark.parametrize(("name", "package", "sentence"), [
    ("mpc_osqp", "osqp", "at least 90 % of new problems is below 0.1 after"),
    ("portfolio_clarabel", "clarabel", "at least 90 % of new problems is below 1e-6 after"),
    ("lasso_path", "numpy", "for warm: the length of a step of at least 90 % of new problems is below 1e-2 after"),
])
def test_notebook(source, tmp_path, name, package, sentence):
    for needed in ("matplotlib", "scipy", package):
        pytest.importorskip(needed)
    if name == "portfolio_clarabel":
        pytest.importorskip("cvxpy")
    command = [sys.executable, source / "docs/gallery_figures.py", "--out", tmp_path, name]
    result = subprocess.run(command, capture_output=True, text=True, cwd=tmp_path)
    assert result.returncode == 0, result.stderr
    assert sentence in result.stdout
    assert (tmp_path / f"{name}.svg").read_text().rstrip().endswith("</svg>")


@pytest.mark.parametrize("name", ["groups", "closed_loop", "monitor"])
def test_other_pictures_of_the_gallery(source, tmp_path, name):
    for needed in ("matplotlib", "scipy", "osqp"):
        pytest.importorskip(needed)
    result = subprocess.run([sys.executable, source / "docs/gallery_figures.py", "--out", tmp_path, name], capture_output=True, text=True, cwd=tmp_path)
    assert result.returncode == 0, result.stderr
    assert (tmp_path / f"{name}.svg").read_text().rstrip().endswith("</svg>")
    assert f"gallery/{name}.svg" in (source / "docs/gallery.md").read_text() and (source / f"docs/gallery/{name}.svg").exists()


def test_notebooks_are_kept_without_output(source):
    notebooks = sorted((source / "examples/notebooks").glob("*.ipynb"))
    assert len(notebooks) == 3
    for path in notebooks:
        assert '"outputs": [' not in path.read_text().replace('"outputs": []', "")
