"""The Python of the documentation runs, page by page: what a page takes for granted is prepared here, in small.

A block that cannot be run stands behind <!-- fragment: the reason -->; it must still be Python."""

import importlib.util
import pathlib
import re

import numpy as np
import pytest

BLOCK = re.compile(r"(?:<!-- fragment: (?P<reason>[^\n]+) -->\n)?```python\n(?P<code>.*?)^```$", re.DOTALL | re.MULTILINE)
OPTIONAL = ("torch", "jax", "osqp", "scs", "clarabel", "cvxpy", "scipy", "pandas")


def decays(rows=300, columns=150, seed=0):
    """A row per problem, a column per step."""
    random = np.random.default_rng(seed)
    return random.uniform(0.1, 1, (rows, 1)) * random.uniform(0.75, 0.85, (rows, 1)) ** np.arange(1, columns + 1)


def benchmark_table(name):
    import pandas

    random = np.random.default_rng(0)
    rows = [(f"p{i}", solver, "default", random.random() < 0.98, random.lognormal()) for i in range(100) for solver in ("clarabel", "osqp")]
    pandas.DataFrame(rows, columns=["problem", "solver", "settings", "found", "runtime"]).to_csv(name, index=False)


def certificate_of_two():
    import surefoot

    return surefoot.certify({"cold": decays(seed=1), "warm": decays(seed=2)}, metric="residual", tolerances=[1e-3, 1e-2])


def for_benchmark_table():
    benchmark_table("results.csv")
    return {}


def for_choosing():
    certificate_of_two().report("mpc")
    return {}


def for_closed_loop():
    import surefoot

    random = np.random.default_rng(0)
    family = surefoot.QPFamily(np.eye(1), np.eye(1), [0.0], [-1.0], [1.0])
    return {"family": family, "plant": lambda state, control, tick: 0.9 * np.sin(state) + 0.3 * control, "states": random.uniform(-2, 2, (200, 1)),
            "K": np.eye(1), "L": 0.1 * np.eye(1), "lower": [-3.0], "upper": [3.0], "Q": np.eye(1), "R": 0.1 * np.eye(1), "deviations": [0.01]}


def for_comparing():
    import surefoot

    old, new = decays(seed=1), 0.9 * decays(seed=1)
    random, flights = np.random.default_rng(0), [f"f{i // 10}" for i in range(600)]
    for name, rows in (("old.csv", decays(600, 30, seed=3)), ("new.csv", decays(600, 30, seed=3) * 0.9)):
        lines = ["flight," + ",".join(f"k={k}" for k in range(1, 31))] + [f"{flight}," + ",".join(map(repr, map(float, row))) for flight, row in zip(flights, rows)]
        pathlib.Path(name).write_text("\n".join(lines) + "\n")
    benchmark_table("results.csv")
    cubes = random.uniform(0.5, 1, (60, 10, 1)) * 0.8 ** np.arange(1, 31)
    certificate = certificate_of_two()
    return {"old": old, "new": new, "cubes_of_old": cubes, "cubes_of_new": 0.9 * cubes, "certificate": certificate,
            "old_certificate": surefoot.certify(old, metric="residual"), "new_certificate": surefoot.certify(new, metric="residual")}


def for_groups():
    import pandas

    rows = decays(600, 60)
    flights = [f"f{i // 10}" for i in range(600)]
    frame = pandas.DataFrame(rows, columns=[f"k={k}" for k in range(1, 61)])
    frame.insert(0, "flight", flights)
    return {"residuals": rows, "flight_of_row": flights, "frame": frame, "cube": decays(600, 60, seed=5).reshape(60, 10, 60)}


def for_learned():
    import torch

    torch.manual_seed(0)
    np.save("D.npy", np.random.default_rng(0).normal(size=(8, 16)) / np.sqrt(8))
    make = lambda rows: (torch.randn(rows, 4), torch.rand(rows, 4) + 0.5)  # noqa: E731
    start, curvature = make(2000)
    return {"start": start, "curvature": curvature, "new_data": make(300)}


def for_looking_again():
    return {"monday": decays(300, 60, seed=1), "tuesday": decays(300, 60, seed=2), "solve": lambda seed: decays(1, 60, seed=seed + 10)[0]}


def for_monitor():
    certificate_of_two_in_service().report("mpc")
    random = np.random.default_rng(9)
    return {"service": range(50), "solve": lambda problem: 1e-4 * random.uniform()}


def certificate_of_two_in_service():
    import surefoot

    return surefoot.certify(decays(2000), metric="residual", tolerances=[1e-3, 1e-2])


def for_means():
    return {"times": np.random.default_rng(0).uniform(0, 5, 500)}


def for_other_distribution():
    np.savetxt("residuals.csv", decays(500, 60), delimiter=",")
    return {}


def for_solve_times():
    random = np.random.default_rng(0)
    return {"times": random.uniform(1, 3, 500), "warm": random.uniform(1, 2, 500), "cold": random.uniform(1, 3, 500)}


def for_python():
    import surefoot

    random = np.random.default_rng(0)
    np.save("residuals.npy", decays(500, 60))
    rates = random.uniform(0.2, 0.8, 5000)
    names = {
        "run": lambda weights, i: np.abs(1 - weights["rate"][0] * rates[i]) ** np.arange(1, 6),
        "mean": {"rate": [1.0]}, "log_variance": {"rate": -8.0}, "prior_log_variance": {"rate": -1.0}, "prior_mean": {"rate": [1.0]},
        "draw_weights": lambda random: {"rate": [random.uniform(0.9, 1.1)]},
        "run_validation": lambda weights, i: np.abs(1 - weights["rate"][0] * rates[i]) ** np.arange(1, 6),
    }  # fmt: skip
    if importlib.util.find_spec("scipy"):
        A = random.normal(size=(12, 8))
        names |= {"P": np.eye(8), "A": A, "q": random.normal(size=(40, 8)), "l": -np.ones(12), "u": np.ones(12), "starts": np.zeros((40, 32))}
        b = np.abs(random.normal(size=(40, 12))) + 1
        names["cone_family"] = surefoot.ConeFamily(np.eye(8), A, b, random.normal(size=8), nonnegative=12)
    if importlib.util.find_spec("cvxpy"):
        import cvxpy

        x, parameter = cvxpy.Variable(5), cvxpy.Parameter(8, name="b")
        D = np.random.default_rng(0).normal(size=(8, 5))
        names["problem"] = cvxpy.Problem(cvxpy.Minimize(0.5 * cvxpy.sum_squares(D @ x - parameter) + 0.1 * cvxpy.norm1(x)))
    if importlib.util.find_spec("jax"):
        names["params"] = names["params_before"] = {"rate": np.ones(3, np.float32)}
    if importlib.util.find_spec("torch"):
        import torch

        names["module"], names["module_before_training"] = Descent(torch), Descent(torch)
        names |= {"start": torch.randn(20, 4), "curvature": torch.rand(20, 4)}
    return names


def Descent(torch):
    class Layers(torch.nn.Module):
        def __init__(self):
            super().__init__()
            self.rate = torch.nn.Parameter(torch.full((3,), 0.3))

        def forward(self, start, curvature):
            rows = []
            for rate in self.rate:
                start = start - rate * curvature * start
                rows.append(start.norm(dim=1))
            return torch.stack(rows, dim=1)

    return Layers()


# What a page needs, and numbers of it that are made smaller: minutes of training are tested elsewhere.
PAGES = {
    "howto_benchmark_table": (for_benchmark_table, "import pandas, surefoot", []),
    "howto_choose_after_looking": (for_choosing, "import surefoot", []),
    "howto_closed_loop": (for_closed_loop, "import surefoot, scipy, osqp", [("ticks=100", "ticks=8")]),
    "howto_compare": (for_comparing, "import pandas, surefoot", []),
    "howto_groups_and_logs": (for_groups, "import pandas, surefoot", []),
    "howto_learned_optimizer": (for_learned, "import torch", [("20000", "400"), ("layers=10)", "layers=2)"), ("layers=20", "layers=2"), ("prior_share=0.5,", "prior_share=0.5, epochs=2,"),
                                                              ("rate=5e-3)", "rate=5e-3, epochs=1)"), ("prior_samples=400)", "prior_samples=200, epochs=1)")]),
    "howto_look_again": (for_looking_again, "import surefoot", []),
    "howto_many_processes": (dict, "import surefoot", []),
    "howto_mean_and_tail": (for_means, "import surefoot", []),
    "howto_monitor": (for_monitor, "import surefoot", []),
    "howto_other_distribution": (for_other_distribution, "import surefoot", []),
    "howto_solve_times": (for_solve_times, "import surefoot", []),
    "howto_tune": (dict, "import numpy as np, surefoot", []),
    "python": (for_python, "import surefoot", [("500, metric", "50, metric"), ("200", "20"), ("5000", "500"), ("4000", "400"), ("instances=500", "instances=5")]),
    "worst_case": (dict, "import surefoot", []),
}
# Packages that a block needs and does not name: by page and number of the block.
NEEDS = {("python", 2): "scipy", ("python", 4): "scipy", ("python", 5): "cvxpy scipy"}


def blocks(source, page):
    """(line, code, reason why it is a fragment or None) of each block."""
    text = (source / "docs" / f"{page}.md").read_text()
    return [(text[: found.start("code")].count("\n") + 1, found["code"], found["reason"]) for found in BLOCK.finditer(text)]


def test_every_page_with_python_is_here(source):
    with_python = {page.relative_to(source / "docs").with_suffix("").as_posix() for page in (source / "docs").rglob("*.md") if "```python" in page.read_text()}
    assert with_python == set(PAGES)
    assert all(text.count("```python") == len(blocks(source, page)) for page in PAGES for text in [(source / "docs" / f"{page}.md").read_text()])


@pytest.mark.parametrize("page", PAGES)
def test_python_of_the_page_runs(source, tmp_path, monkeypatch, page):
    prepare, imports, smaller = PAGES[page]
    for name in OPTIONAL:
        if re.search(rf"\b{name}\b", imports):
            pytest.importorskip(name)
    monkeypatch.chdir(tmp_path)
    names = {}
    exec(imports, names)
    names |= prepare()
    ran = 0
    for number, (line, code, reason) in enumerate(blocks(source, page)):
        where = f"docs/{page}.md:{line}"
        if reason is not None:
            compile(code, where, "exec")
            continue
        needed = code + NEEDS.get((page, number), "")
        if any(re.search(rf"\b{name}\b", needed) and importlib.util.find_spec(name) is None for name in OPTIONAL):
            continue
        for old, new in smaller:
            code = code.replace(old, new)
        exec(compile("\n" * (line - 1) + code, where, "exec"), names)
        ran += 1
    assert ran > 0 or page == "python"
