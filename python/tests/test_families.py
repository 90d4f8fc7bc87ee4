"""Families on the batch engine: equal to the program, interruptible, without the interpreter lock."""

import json
import pathlib
import signal
import subprocess
import sys
import textwrap
import threading

import numpy as np
import pytest
import surefoot

sparse = pytest.importorskip("scipy.sparse")
scipy_io = pytest.importorskip("scipy.io")


def read(folder, names):
    return [np.loadtxt(folder / f"{name}.csv", delimiter=",", ndmin=2) for name in names]


@pytest.fixture(scope="session")
def mpc(source):
    folder = source / "examples/mpc"
    P, A = (scipy_io.mmread(folder / f"{name}.mtx") for name in "PA")
    q, lower, upper = read(folder, "qlu")
    return surefoot.QPFamily(P, A, q[0], lower, upper)


@pytest.fixture(scope="session")
def portfolio(source):
    folder = source / "examples/portfolio"
    P, A = (scipy_io.mmread(folder / f"{name}.mtx") for name in "PA")
    b, c = read(folder, "bc")
    return surefoot.ConeFamily(P, A, b, c, zero=1, nonnegative=20, second_order=[5])


def compare(certificate, written):
    """All but where the data came from."""
    here, there = json.loads(certificate.to_json()), json.loads(written)
    # The program names the files whose problems it counts, and says that earlier looks at them are unknown.
    for variant in there["variants"]:
        del variant["provenance"]
    there["assumptions"].remove("Earlier looks at these samples are unknown.")
    for name in ("claims", "declared", "confidence", "metric", "variants", "assumptions"):
        assert here[name] == there[name], name
    for name in ("solver", "settings", "iterations", "start"):
        assert here["run"][name] == there["run"][name], name


@pytest.mark.parametrize("metric", ["residual", "primal", "dual", "optimality", "violation", "gap", "distance", "nmse",
                                    "prim_res", "duality_gap_rel", "unsolved"])  # fmt: skip
def test_qp_results_are_the_programs(surefoot_program, tmp_path, source, mpc, metric):
    surefoot_program("run", "qp", source / "examples/mpc", "--iterations", 60, "--metric", metric, "--out", "out")
    compare(mpc.certify(60, metric=metric), (tmp_path / "out/certificate.json").read_text())


def test_terminations_are_the_programs(surefoot_program, tmp_path, source, mpc):
    surefoot_program("run", "qp", source / "examples/mpc", "--iterations", 200, "--stop", "--out", "out")
    names, *rows = (line.split(",") for line in (tmp_path / "out/terminations.csv").read_text().splitlines())
    ended = mpc.terminations(200)
    assert names[1] == "status" and [row[1] for row in rows] == ended.status
    for column, name in enumerate(names[2:], start=2):
        assert np.array_equal([float(row[column]) for row in rows], getattr(ended, name)), name
    assert set(ended.status) == {"solved"} and ended.iterations.max() <= 200


def test_a_stopped_run_has_the_point_of_the_stopping_test(mpc):
    ended = mpc.terminations(200)
    stopped = mpc.traces(200, metric="prim_res", settings={"stop": True}).values
    going = mpc.traces(200, metric="prim_res").values
    last = ended.iterations.astype(int)
    here = np.arange(mpc.instances)
    assert np.array_equal(stopped[:, -1], stopped[here, last]) and np.array_equal(stopped[here, last], going[here, last])
    assert np.allclose(stopped[:, -1], ended.prim_res, rtol=1e-12)
    assert (mpc.traces(200, metric="unsolved").values.sum(axis=1) == last).all()


def test_the_older_name_of_a_preset_says_so(mpc):
    with pytest.warns(UserWarning, match="'package' is an older name of 'fixed'"):
        older = mpc.traces(5, preset="package").values
    assert np.array_equal(older, mpc.traces(5, preset="fixed").values)


def test_qp_settings_are_the_programs(surefoot_program, tmp_path, source, mpc):
    surefoot_program("run", "qp", source / "examples/mpc", "--iterations", 50, "--preset", "paper", "--rho", 0.5,
                     "--tolerances", "1e-2", "--out", "out")  # fmt: skip
    certificate = mpc.certify(50, preset="paper", settings={"rho": 0.5}, tolerances=[1e-2])
    compare(certificate, (tmp_path / "out/certificate.json").read_text())


@pytest.mark.parametrize("metric", ["residual", "violation"])
def test_cone_results_are_the_programs(surefoot_program, tmp_path, source, portfolio, metric):
    surefoot_program("run", "cone", source / "examples/portfolio", "--iterations", 80, "--metric", metric, "--out", "out")
    # Tolerances of its settings.toml.
    certificate = portfolio.certify(80, metric=metric, tolerances=[1e-4, 1e-3, 1e-2])
    compare(certificate, (tmp_path / "out/certificate.json").read_text())


def test_terminations_of_cones_are_the_programs(surefoot_program, tmp_path, source, portfolio):
    surefoot_program("run", "cone", source / "examples/portfolio", "--iterations", 200, "--stop", "--out", "out")
    names, *rows = (line.split(",") for line in (tmp_path / "out/terminations.csv").read_text().splitlines())
    ended = portfolio.terminations(200)
    assert names[-2:] == ["scale", "scale_updates"]
    assert [row[1] for row in rows] == ended.status
    assert np.array_equal([float(row[names.index("scale")]) for row in rows], ended.scale)
    assert portfolio.iterates(5).shape == (400, 20 + 2 * 26)
    assert portfolio.iterates(5, preset="paper").shape == (400, 20 + 26)


@pytest.mark.parametrize(
    ("options", "says"),
    [
        ({"preset": "own"}, "default, fixed, paper"),
        ({"settings": {"time_limit_secs": 1.0}}, "clock"),
        ({"settings": {"acceleration_interval": 0}}, "acceleration_interval: is 0"),
        ({"settings": {"eps_infeas": -1.0}}, "eps_infeas"),
        ({"settings": {"stop": True, "check_termination": False}}, "check_termination"),
        ({"settings": {"returned": False}}, "returned"),
        ({"settings": {"max_iters": 7}}, "max_iters"),
    ],
)
def test_wrong_runs_of_cones_are_refused(portfolio, options, says):
    with pytest.raises(ValueError, match=says):
        portfolio.certify(**{"iterations": 5, **options})


def test_traces_are_the_programs_to_the_last_bit(surefoot_program, tmp_path, source, mpc):
    surefoot_program("run", "qp", source / "examples/mpc", "--iterations", 40, "--save-traces", "--out", "out")
    traces = mpc.traces(40)
    assert np.array_equal(traces.values, np.load(tmp_path / "out/traces.npy"))
    assert traces.steps == tuple(range(1, 41)) and traces.metric == "fixed-point residual"
    together = surefoot.certify({"a": traces, "b": mpc.traces(40, preset="paper")})
    assert [run["settings"]["rho"] for run in together.run["variants"]] == [0.1, 1.0]


def test_certificate_from_traces_has_the_same_claims(mpc):
    assert surefoot.certify(mpc.traces(40)).claims == mpc.certify(40).claims


def test_starts_at_solutions_have_nothing_left_to_do(mpc):
    solutions = mpc.solve()
    assert mpc.traces(3, start=solutions).values.max() < 1e-6
    assert np.allclose(mpc.iterates(3, start=solutions), solutions, atol=1e-5)
    with pytest.raises(ValueError, match="start: is 1000 x 5, must be 1000 x"):
        mpc.traces(3, start=solutions[:, :5])
    solutions[1, 2] = np.nan
    with pytest.raises(ValueError, match="start: entry 2 of instance 1 is nan, must be finite"):
        mpc.traces(3, start=solutions)


def test_what_varied_is_recorded(mpc):
    certificate = mpc.certify(20)
    assert certificate.run["varied"] == ["l", "u"]
    assert certificate.run["data"]["l"]["shape"] == [1000, 38]
    assert certificate.variants == ("osqp",) and mpc.certify(20, name="mine").variants == ("mine",)


def test_matrices_in_any_form_give_the_same(mpc):
    P, A = mpc.matrix("P", 0).scipy(), mpc.matrix("A", 0).scipy()
    rows = [mpc._tables[name][:20] for name in ("q", "l", "u")]
    base = surefoot.QPFamily(P, A, *rows).traces(20).values
    forms = {
        "dense": (P.toarray(), A.toarray()),
        "coo": (P.tocoo(), A.tocoo()),
        "csr array": (sparse.csr_array(P), sparse.csr_array(A)),
        "one per instance": ([P] * 20, [A] * 20),
        "three dimensions": (np.stack([P.toarray()] * 20), A),
    }
    for name, (p, a) in forms.items():
        assert np.allclose(surefoot.QPFamily(p, a, *rows).traces(20).values, base, rtol=1e-9), name


@pytest.mark.parametrize(
    ("change", "error", "says"),
    [
        ({"P": np.array([[1.0, 2.0], [0.0, 1.0]])}, ValueError, "symmetric"),
        ({"P": -np.eye(2)}, ValueError, "P"),
        ({"P": np.ones(2)}, ValueError, r"P: has shape \(2,\)"),
        ({"A": np.eye(3)}, ValueError, "A"),
        ({"q": np.zeros((3, 2)), "l": np.zeros((4, 2))}, ValueError, "q|l"),
        ({"q": np.zeros(2) * 1j}, TypeError, "complex128"),
        ({"q": [0.0, np.nan]}, ValueError, "nan"),
        ({"l": [2.0, 2.0]}, ValueError, "l"),
        ({"q": np.zeros((1, 1, 2))}, ValueError, "shape"),
    ],
)
def test_wrong_data_are_refused(change, error, says):
    data = {"P": np.eye(2), "A": np.eye(2), "q": np.zeros(2), "l": np.zeros(2), "u": np.ones(2)}
    with pytest.raises(error, match=says):
        surefoot.QPFamily(**{**data, **change})


def test_damaged_sparse_matrices_are_refused():
    damaged = sparse.csc_matrix(np.eye(2))
    damaged.indices[1] = 7
    family = surefoot.families.Compressed(damaged.data, damaged.indices, damaged.indptr, (2, 2))
    with pytest.raises(ValueError, match="damaged"):
        surefoot._core.Qp([family.parts], [family.parts], np.zeros(2), np.zeros(2), np.ones(2))


def test_sizes_of_cones_that_overflow_are_refused():
    huge = 2**63 - 1
    with pytest.raises(ValueError, match="out of range"):
        surefoot.ConeFamily(None, np.eye(5), np.ones(5), np.ones(5), nonnegative=huge, second_order=[huge, 7])


@pytest.mark.parametrize(
    ("options", "says"),
    [
        ({"metric": "speed"}, "speed"),
        ({"preset": "own"}, "own"),
        ({"settings": {"roh": 1}}, "roh"),
        ({"settings": {"rho": -1.0}}, "rho"),
        ({"iterations": 0}, "iterations: 0"),
        ({"iterations": 1.5}, "iterations: 1.5 is not a whole number"),
        ({"settings": {"rho": "fast"}}, "settings: rho: 'fast' is not a real number"),
        ({"settings": {"scaling": 1.5}}, "settings: scaling: 1.5 is not a whole number"),
        ({"settings": {"adaptive_rho": "time"}}, "clock"),
        ({"settings": {"stop": 2}}, "settings: stop: 2 is neither True nor False"),
        ({"settings": {"stop": True, "check_termination": 0}}, "check_termination"),
        ({"settings": {"max_iter": 7}}, "max_iter"),
        ({"settings": {"eps_abs": -1.0}}, "eps_abs"),
    ],
)
def test_wrong_runs_are_refused(mpc, options, says):
    with pytest.raises((ValueError, TypeError), match=says):
        mpc.certify(**{"iterations": 5, **options})


def test_qp_as_cone_program_has_the_same_solution(mpc):
    rows = [mpc._tables[name][:20] for name in ("q", "l", "u")]
    small = surefoot.QPFamily(mpc.matrix("P", 0).scipy(), mpc.matrix("A", 0).scipy(), *rows)
    cones = small.as_cones()
    assert (cones.zero, cones.nonnegative) == (26, 24)
    assert np.allclose(cones.solve()[:, :38], small.solve()[:, :38], atol=1e-7)
    with pytest.raises(ValueError, match="different rows"):
        surefoot.QPFamily(np.eye(1), np.eye(1), [0.0], [[0.0], [1.0]], [[1.0], [1.0]]).as_cones()


def test_interpreter_lock_is_released(mpc):
    """Another thread goes on while a run is under way: it could not end before the run otherwise."""
    counted = []
    running = threading.Event()

    def count():
        running.wait()
        while running.is_set():
            counted.append(None)

    thread = threading.Thread(target=count)
    thread.start()
    before = len(counted)
    running.set()
    mpc.traces(400)
    during = len(counted) - before
    running.clear()
    thread.join()
    assert during > 1000


INTERRUPTED = """
    import signal, numpy as np, surefoot
    signal.signal(signal.SIGINT, signal.default_int_handler)  # tests in the background are begun with it ignored
    n = 40
    family = surefoot.QPFamily(np.eye(n) + 1, np.eye(n), np.zeros(n), np.zeros((5000, n)), np.ones(n))
    print("begin", flush=True)
    try:
        {call}
    except KeyboardInterrupt:
        print("stopped", family.certify(5).variants, flush=True)
"""


@pytest.mark.parametrize(
    "call",
    [
        "family.certify(1_000_000, steps=[1], tolerances=[1e-3])",
        "surefoot.bounds.clopper_pearson_upper(np.arange(10_000_000), 10_000_000_000, 1e-9)",
        "surefoot._core.count(np.broadcast_to(np.zeros(9), (10**12, 9)), surefoot._core.resolved("
        "surefoot.certification.claim_options(claims=['success']), [list(range(9))]), list(range(9)))",
        "surefoot.closed_loop(surefoot.QPFamily(np.eye(1), np.eye(1), [0.0], [-1.0], [1.0]), ([[0.9]], [[0.5]]), "
        "initial=np.ones((200, 1)), input=np.eye(1), q_state=np.eye(1), ticks=100_000, limits=[5000])",
        "surefoot.tune(lambda settings, problem: 0.5 ** np.arange(10_000), {'a': (1, 2)}, '90% below 1e-3', problems=200_000)",
        "any(parts[0].merge(*parts[1:]) is None for parts in [[surefoot.count(np.random.default_rng(i).random((50_000, 9)), "
        "source='s', first_row=50_000 * i, tolerances=[0.5]) for i in range(3)]] for _ in iter(int, 1))",
    ],
    ids=["run", "bounds", "count", "closed_loop", "tune", "merge"],
)
def test_ctrl_c_stops_long_work_cleanly(call):
    script = textwrap.dedent(INTERRUPTED.format(call=call))
    pipes = {"stdout": subprocess.PIPE, "stderr": subprocess.PIPE, "text": True}
    with subprocess.Popen([sys.executable, "-c", script], **pipes) as child:
        try:
            assert child.stdout.readline() == "begin\n"
            threading.Event().wait(1.0)
            child.send_signal(signal.SIGINT)
            out, err = child.communicate(timeout=600)
        finally:
            child.kill()
    assert child.returncode == 0, err
    assert out == "stopped ('osqp',)\n"


def program_is_packed():
    return (pathlib.Path(surefoot.__file__).parent / "bin/surefoot").exists()


def test_saved_families_are_the_program_s(mpc, portfolio, surefoot_program, tmp_path):
    mpc.save(tmp_path / "mpc")
    portfolio.save(tmp_path / "portfolio")
    for kind, family, folder in (("qp", mpc, "mpc"), ("cone", portfolio, "portfolio")):
        surefoot_program("run", kind, folder, "--iterations", "20", "--tolerances", "1e-2", "--out", f"r-{kind}")
        compare(family.certify(20, tolerances=[1e-2]), (tmp_path / f"r-{kind}/certificate.json").read_text())
    own = surefoot.QPFamily([np.eye(2), 2 * np.eye(2)], np.eye(2), np.zeros(2), np.zeros((2, 2)), np.ones(2))
    own.save(tmp_path / "own")
    assert np.load(tmp_path / "own/P.npy").tolist() == [[[1, 0], [0, 1]], [[2, 0], [0, 2]]]


@pytest.mark.skipif(not program_is_packed(), reason="the program is not packed with this installation")
def test_families_are_tuned_and_learned_from(mpc, tmp_path):
    tuned = mpc.tune("90% below 1e-2", out=tmp_path / "t", over="rho=0.1:1:log", runs=6000, iterations=80)
    assert set(tuned.certificate.variants) == {"default", "tuned"} and tuned.settings["rho"] > 0.1
    assert "90 %" in tuned.summary or "90%" in tuned.summary
    start = mpc.train(tmp_path / "l", samples=60, hidden=[8], steps=20, scale_each=False)
    assert start.learned_from == range(60) and start.weights.exists()
    with pytest.raises(ValueError, match="depends on problems 0 .. 59"):
        start.calibrate(range(50, 100))
    made = start.calibrate(range(60, 260), tolerances=[1e-2])
    assert set(made) == {"hold-out-means", "starts"} and made["starts"].verify()
    start.export_c(tmp_path / "start.c", certificate=tmp_path / "l/guarantees/hold-out-means/certificate.json")
    assert "void surefoot_start(" in (tmp_path / "start.c").read_text()
    with pytest.raises(ValueError, match="unrolll"):
        mpc.train(tmp_path / "bad", unrolll=3)


def test_without_the_program_tuning_says_so(mpc, tmp_path, monkeypatch):
    monkeypatch.setattr(surefoot._program, "__file__", str(tmp_path / "surefoot/_program.py"))
    with pytest.raises(RuntimeError, match="this installation has no program"):
        mpc.tune("90% below 1e-2", out=tmp_path / "t")
