"""Certificates from arrays: equal to the program's, without copies, with errors that say what is wrong."""

import io
import json
import pickle
import signal
import subprocess
import sys
import textwrap
import threading
import time
import tracemalloc

import numpy as np
import pytest
import surefoot


def example(rows=300, columns=40, seed=1):
    random = np.random.default_rng(seed)
    return random.lognormal(0, 1, (rows, 1)) * random.uniform(0.5, 0.9, (rows, 1)) ** np.arange(1, columns + 1)


@pytest.mark.parametrize(
    ("options", "arguments"),
    [
        ({}, []),
        (
            {"metric": "residual", "tolerances": [1e-3, 1e-2], "quantiles": [0.3, 0.95], "confidence": 0.999},
            ["--metric", "residual", "--tolerances", "1e-3,1e-2", "--quantiles", "0.3,0.95", "--confidence", 0.999],
        ),
        (
            {"steps": [1, 5, 40], "claims": ["success", "quantile"], "simultaneous": "each", "title": "A \u00e4 test"},
            ["--steps", "1,5,40", "--claims", "success,quantile", "--simultaneous", "each", "--title", "A \u00e4 test"],
        ),
        (
            {"steps": "all", "risk_method": "kl", "quantile_method": "grid", "budget_method": "first-hit", "unit": "dB"},
            ["--steps", "all", "--risk-method", "kl", "--quantile-method", "grid", "--budget-method", "first-hit",
             "--unit", "dB"],
        ),
        ({"first_step": 0, "budget_delta": 1e-5}, ["--first-step", 0, "--budget-delta", 1e-5]),
    ],
)  # fmt: skip
def test_text_is_the_programs_to_the_last_byte(surefoot_program, tmp_path, options, arguments):
    traces = example()
    np.save(tmp_path / "traces.npy", traces)
    surefoot_program("certify", "traces.npy", "--out", "report", *arguments)
    written = (tmp_path / "report/certificate.json").read_text()
    assert surefoot.certify(traces, sources=["traces.npy"], **options).to_json() == written
    assert surefoot.certify(tmp_path / "traces.npy", **options).to_json() == written


def test_variants_and_reports_are_the_programs(surefoot_program, tmp_path, source):
    files = [source / f"examples/traces/osqp_mpc_{start}.csv.gz" for start in ("cold", "warm")]
    surefoot_program("certify", *files, "--out", "program")
    certificate = surefoot.certify(files)
    assert certificate.variants == ("osqp_mpc_cold", "osqp_mpc_warm")
    certificate.report(tmp_path / "python")
    names = sorted(path.name for path in (tmp_path / "program").iterdir())
    assert names == sorted(path.name for path in (tmp_path / "python").iterdir())
    for name in ("certificate.json", "curves.csv", "report.html"):
        assert (tmp_path / "python" / name).read_bytes() == (tmp_path / "program" / name).read_bytes(), name


def test_program_verifies_what_was_certified_here(surefoot_program, tmp_path):
    traces = example()
    surefoot.certify(traces).save(tmp_path / "certificate.json")
    np.save(tmp_path / "traces.npy", traces)
    assert "VERIFIED" in surefoot_program("verify", "certificate.json", "--data", "traces.npy")
    np.save(tmp_path / "other.npy", traces * 2)
    assert "NOT VERIFIED" in surefoot_program("verify", "certificate.json", "--data", "other.npy", code=1)


LAYOUTS = {
    "C order": lambda a: a,
    "Fortran order": np.asfortranarray,
    "every other row and column": lambda a: np.repeat(np.repeat(a, 2, 0), 2, 1)[::2, ::2],
    "backwards": lambda a: a[::-1, ::-1].copy()[::-1, ::-1],
    "read-only": lambda a: np.frombuffer(a.tobytes()).reshape(a.shape),
    "unaligned": lambda a: np.frombuffer(b"x" + a.tobytes(), np.uint8)[1:].view(np.float64).reshape(a.shape),
    "big-endian": lambda a: a.astype(">f8"),
}


@pytest.mark.parametrize("layout", LAYOUTS)
def test_layout_of_the_array_does_not_matter(layout):
    traces = example()
    certificate = surefoot.certify(LAYOUTS[layout](traces))
    assert certificate.claims == surefoot.certify(traces).claims


@pytest.mark.parametrize("layout", ["C order", "Fortran order", "every other row and column"])
def test_digest_is_that_of_the_saved_array(tmp_path, layout):
    traces = LAYOUTS[layout](example())
    np.save(tmp_path / "traces.npy", traces)
    assert surefoot.certify(traces).verify(tmp_path / "traces.npy")


@pytest.mark.parametrize("dtype", ["<f8", ">f8", "<f4"])
@pytest.mark.parametrize("shape", [(1, 1), (20, 5), (3, 123456), (1234567, 2)])
@pytest.mark.parametrize("order", ["C", "F"])
def test_header_of_the_digest_is_numpys(dtype, shape, order):
    array = np.zeros(shape, dtype, order=order)
    header = io.BytesIO()
    np.lib.format.write_array_header_1_0(header, np.lib.format.header_data_from_array_1_0(array))
    assert surefoot.certification._npy_header(array) == header.getvalue()


def test_single_precision_and_whole_numbers():
    single = example().astype(np.float32)
    assert surefoot.certify(single).claims == surefoot.certify(single.astype(np.float64)).claims
    whole = np.random.default_rng(0).integers(0, 5, (200, 4))
    assert surefoot.certify(whole).claims == surefoot.certify(whole.astype(float)).claims


@pytest.mark.parametrize("dtype", [np.float64, np.float32])
def test_arrays_are_not_copied(dtype):
    traces = np.random.default_rng(0).random((200_000, 50), dtype)
    surefoot.certify(traces[:100], claims=["success", "budget"])
    tracemalloc.start()
    surefoot.certify(traces, claims=["success", "budget"])
    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert peak < traces.nbytes / 20


def test_threads_change_nothing():
    traces = example(rows=20_000)
    texts = set()
    for count in (1, 2, 5):
        surefoot.set_threads(count)
        texts.add(surefoot.certify(traces).to_json())
    surefoot.set_threads(0)
    assert len(texts) == 1


def test_divergence_is_failure():
    traces = np.full((100, 3), 1e-9)
    traces[:10, 1] = np.nan
    certificate = surefoot.certify(traces, tolerances=[1e-3])
    assert [certificate.success(step, 1e-3).failures for step in (1, 2, 3)] == [0, 10, 10]


def test_contiguous_rows_of_a_memory_map(tmp_path):
    traces = example()
    np.save(tmp_path / "traces.npy", traces)
    mapped = np.load(tmp_path / "traces.npy", mmap_mode="r")
    assert surefoot.certify(mapped) == surefoot.certify(traces)


@pytest.mark.parametrize(
    ("traces", "error", "says"),
    [
        (np.zeros((2, 3, 4, 5)), ValueError, "problems x steps, or groups x ticks x steps"),
        (np.zeros((3, 2), complex), TypeError, "complex128"),
        (np.zeros((3, 2), np.longdouble), TypeError, "longdouble|float128"),
        (np.array([["a"]]), TypeError, "dtype"),
        (np.zeros((0, 3)), ValueError, "no run"),
        ([], ValueError, "shape"),
        ({}, ValueError, "nothing to certify"),
        (np.ma.masked_greater(np.ones((3, 2)), 0.5), TypeError, "traces: is masked"),
        (None, ValueError, "traces: has shape"),
        (np.zeros((3, 2), bool), TypeError, "dtype bool"),
        ("missing.csv", ValueError, "missing.csv"),
    ],
)
def test_wrong_traces_are_refused(traces, error, says):
    with pytest.raises(error, match=says):
        surefoot.certify(traces)


@pytest.mark.parametrize(
    ("options", "error", "says"),
    [
        ({"tolerances": [1e-2, 1e-3]}, ValueError, "increase"),
        ({"tolerances": ["a"]}, TypeError, "tolerances"),
        ({"quantiles": [1.0]}, ValueError, "quantiles: 1"),
        ({"confidence": 1.5}, ValueError, "confidence: 1.5"),
        ({"steps": [1, 99]}, ValueError, "step 99"),
        ({"steps": [1.5]}, TypeError, "steps: dtype float64"),
        ({"claims": ["sucess"]}, ValueError, "sucess"),
        ({"simultaneous": "some"}, ValueError, "some"),
        ({"budget_method": "guess"}, ValueError, "guess"),
        ({"names": ["a", "b"]}, ValueError, "names: 2 for 1"),
        ({"recorded_steps": [1, 2]}, ValueError, "40 columns for 2"),
        ({"first_step": 1, "recorded_steps": range(40)}, ValueError, "first_step"),
        ({"success_delta": 0.5}, ValueError, "budget"),
        ({"tolerance": [0.1]}, TypeError, "tolerance"),
        ({"tolerances": 0.1}, ValueError, "tolerances: has shape"),
        ({"confidence": "0.9"}, TypeError, "confidence: '0.9' is not a real number"),
        ({"budget_delta": "small"}, TypeError, "budget_delta: 'small' is not a real number"),
        ({"metric": 3}, TypeError, "metric: 3 is not a text"),
        ({"title": None}, TypeError, "title: None is not a text"),
        ({"claims": [1]}, TypeError, "claims: 1 is not a text"),
        ({"first_step": -1}, ValueError, "first_step: -1 is negative"),
        ({"first_step": 1.5}, TypeError, "first_step: 1.5 is not a whole number"),
        ({"recorded_steps": range(-1, 39)}, ValueError, "recorded_steps: -1 is negative"),
    ],
)
def test_wrong_options_are_refused(options, error, says):
    with pytest.raises(error, match=says):
        surefoot.certify(example(), **options)


def test_two_variants_of_one_name_are_refused():
    with pytest.raises(ValueError, match="same name"):
        surefoot.certify([example(), example()], names=["a", "a"])
    assert surefoot.certify([example(), example()]).variants == ("traces", "traces (2)")


def test_claims_are_objects():
    certificate = surefoot.certify({"a": example(), "b": example(seed=2)}, tolerances=[1e-2], quantiles=[0.5, 0.9])
    content = json.loads(certificate.to_json())
    assert len(certificate.claims) == sum(len(claims) for claims in content["claims"].values())
    claim = certificate.success(step=40, tolerance=1e-2, variant="b")
    assert claim.lower_bound == surefoot.bounds.success_lower_bound(claim.failures, claim.samples, claim.delta)
    assert certificate.quantile(40, 0.9, "a").upper_bound > certificate.quantile(40, 0.5, "a").upper_bound
    with pytest.raises(ValueError, match="say which of a, b"):
        certificate.budget(1e-2, 0.9)
    with pytest.raises(KeyError, match="tolerance 0.5"):
        certificate.budget(0.5, 0.9, "a")


def test_bounds_that_say_nothing_are_infinite_or_none():
    certificate = surefoot.certify(np.ones((5, 3)), tolerances=[1e-2], quantiles=[0.99])
    assert certificate.quantile(3, 0.99).upper_bound == np.inf
    assert certificate.budget(1e-2, 0.99).steps is None


def test_certificates_are_values(tmp_path):
    certificate = surefoot.certify(example())
    certificate.save(tmp_path / "certificate.json")
    assert surefoot.load(tmp_path / "certificate.json") == certificate
    assert pickle.loads(pickle.dumps(certificate)) == certificate
    assert len({certificate, surefoot.load(tmp_path / "certificate.json")}) == 1
    with pytest.raises(ValueError, match="JSON|json"):
        surefoot.Certificate("{")


def test_saving_where_one_cannot_is_an_error(tmp_path):
    with pytest.raises(ValueError, match="nowhere"):
        surefoot.certify(example()).save(tmp_path / "nowhere/certificate.json")


def test_verification_finds_changes():
    traces = example()
    certificate = surefoot.certify(traces)
    assert certificate.verify() and certificate.verify(traces)
    content = json.loads(certificate.to_json())
    content["claims"]["success_rate"][0]["lower_bound"] = 0.999
    changed = surefoot.Certificate(json.dumps(content)).verify()
    assert not changed and changed.claims_that_hold == changed.claims - 1
    assert any("digest" in finding for finding in changed.findings)
    other = certificate.verify(traces[::-1] * 1.001)
    assert not other and "SHA-256" in other.findings[0]
    with pytest.raises(ValueError, match="2 for 1 variants"):
        certificate.verify([traces, traces])


def test_what_people_see():
    certificate = surefoot.certify({"<b>": example()}, metric="residual")
    assert repr(certificate) == f"<surefoot.Certificate: 1 variant, {len(certificate.claims)} claims, confidence 0.99>"
    assert "all of these hold together for the residual" in str(certificate)
    html = certificate._repr_html_()
    assert "&lt;b&gt;" in html and "<b><b></b>" not in html and "<table" in html


def test_numbers_are_never_shown_on_the_favourable_side():
    certificate = surefoot.certify(example(), confidence=0.9999999, unit="dB", tolerances=[-8.685889638065037])
    assert "confidence 0.9999999>" in repr(certificate)
    assert certificate.confidence < 1
    assert all("With confidence 0.9999999, " in statement for statement in certificate.statements)
    assert surefoot.number_text.exactly(-8.685889638065037) == "-8.685889638065037"
    assert surefoot.number_text.at_most(-8.685889638065037) == "-8.68"
    random = np.random.default_rng(1)
    for bound in np.concatenate([random.normal(size=500), 10.0 ** random.uniform(-300, 300, 500)]):
        assert float(surefoot.number_text.at_least(bound)) <= bound <= float(surefoot.number_text.at_most(bound))
        assert float(surefoot.number_text.exactly(bound)) == bound
    for share in random.uniform(0.001, 1, 500):
        assert float(surefoot.number_text.percent_at_least(share).split()[0]) <= 100 * share + 1e-12


def test_settling_claims_name_their_horizon():
    certificate = surefoot.certify(example(), metric="residual")
    text = " ".join([str(certificate), certificate._repr_html_(), *certificate.statements])
    assert "(up to iteration 40)" in text and "stay there" not in text and "fresh" not in text
    assert "independent and identically distributed" in str(certificate)
    last_column = surefoot.certify(example()[:, -1:], first_step=40)
    shown = " ".join([str(last_column), last_column._repr_html_(), *last_column.statements])
    assert " stay" not in shown


def test_settling_claims_speak_of_recorded_steps_where_there_are_gaps():
    certificate = surefoot.certify(example(), recorded_steps=range(10, 401, 10))
    text = " ".join([*certificate.statements, certificate._repr_html_()])
    assert "stays below it at every recorded iteration (up to iteration 400)" in text
    assert "below it (up to" not in text


def test_tables(source):
    certificate = surefoot.certify(example(), tolerances=[1e-2])
    for kind in ("success", "quantile", "budget"):
        table = certificate.table(kind)
        assert list(table["variant"]) == ["traces"] * len(table["variant"])
    assert list(certificate.table("budget")["quantile"]) == [0.5, 0.9]
    with pytest.raises(ValueError, match="kind"):
        certificate.table("other")


def test_tables_are_data_frames_where_pandas_is():
    pandas = pytest.importorskip("pandas")
    frame = surefoot.certify(np.ones((5, 3))).table()
    assert isinstance(frame, pandas.DataFrame)
    assert frame["steps"].dtype == "Int64" and frame["steps"].isna().all()


def test_plots():
    pyplot = pytest.importorskip("matplotlib.pyplot")
    certificate = surefoot.certify({"a": example(), "b": example(seed=2)}, tolerances=[1e-3, 1e-2])
    axes = certificate.plot()
    assert [ax.get_title() for ax in axes] == ["a", "b"]
    certified = axes[1].get_lines()[1]
    table = [claim for claim in certificate.claims if isinstance(claim, surefoot.SuccessClaim)]
    wanted = [claim.lower_bound for claim in table if claim.variant == "b" and claim.tolerance == 1e-3]
    assert list(certified.get_ydata()) == wanted
    assert certificate.plot("quantile")[0].get_yscale() == "log"
    pyplot.close("all")


def test_plotting_without_matplotlib_says_how_to_get_it(monkeypatch):
    monkeypatch.setitem(__import__("sys").modules, "matplotlib.pyplot", None)
    with pytest.raises(ImportError, match="pip install matplotlib "):
        surefoot.certify(example()).plot()


def test_certificates_fit_their_schema(source):
    jsonschema = pytest.importorskip("jsonschema")
    schema = json.loads((source / "schema/certificate.schema.json").read_text())
    traces = surefoot.Traces(example(), tuple(range(1, 41)), run={"solver": "mine", "varied": ["b"]})
    for certificate in (surefoot.certify(example()), surefoot.certify({"a": traces, "b": traces})):
        jsonschema.validate(json.loads(certificate.to_json()), schema)
    assert [run["name"] for run in certificate.run["variants"]] == ["a", "b"]


def test_what_is_recorded_must_be_json():
    traces = example()
    settings = {"rho": np.float32(0.5), "limit": np.int64(3), "diagonal": np.arange(3), "names": ("a", "b")}
    recorded = surefoot.certify(traces, run=settings).run
    assert recorded == {"rho": 0.5, "limit": 3, "diagonal": [0, 1, 2], "names": ["a", "b"]}
    with pytest.raises(ValueError, match="run: cannot be recorded as JSON"):
        surefoot.certify(traces, run={"x": float("inf")})
    with pytest.raises(TypeError, match="run: cannot be recorded as JSON: set is neither"):
        surefoot.certify(traces, run={"x": {1, 2}})


def test_small_certificates_take_few_calls():
    """What a call costs beyond counting and bounding: bench/python_overhead.py times it, here its calls are counted."""
    traces = example(rows=20, columns=5)
    surefoot.certify(traces)
    calls = []
    sys.setprofile(lambda frame, event, argument: calls.append(event) if event in ("call", "c_call") else None)
    try:
        certificate = surefoot.certify(traces)
    finally:
        sys.setprofile(None)
    assert 10 < len(calls) < 120
    assert "_text" not in vars(certificate), "the text is written when it is asked for"
    assert certificate == surefoot.Certificate(certificate.to_json())


LONG_CALLS = """
    import signal, sys, time, numpy as np, surefoot
    signal.signal(signal.SIGINT, signal.default_int_handler)  # tests in the background are begun with it ignored
    folder = sys.argv[1]
    traces = np.random.default_rng(1).lognormal(size=(3_000_000, 12))
    certificate = surefoot.certify(traces[:1000])
    print("begin", flush=True)
    try:
        while True:
            {call}
    except KeyboardInterrupt:
        print(time.monotonic(), flush=True)
"""


@pytest.mark.parametrize(
    "call",
    ["surefoot.certify(traces)", "certificate.verify(data=traces)", "certificate.report(folder)"],
    ids=["certify", "verify", "report"],
)
def test_ctrl_c_acts_within_a_second_in_calls_of_seconds(call, tmp_path):
    slowest = 0.0
    for delay in (0.3, 1.2, 2.5, 4.5):
        script = textwrap.dedent(LONG_CALLS.format(call=call))
        pipes = {"stdout": subprocess.PIPE, "stderr": subprocess.PIPE, "text": True}
        with subprocess.Popen([sys.executable, "-c", script, tmp_path / "report"], **pipes) as child:
            try:
                assert child.stdout.readline() == "begin\n", child.stderr.read()
                threading.Event().wait(delay)
                sent = time.monotonic()
                child.send_signal(signal.SIGINT)
                out, err = child.communicate(timeout=600)
            finally:
                child.kill()
        assert child.returncode == 0, err
        slowest = max(slowest, float(out) - sent)
    assert slowest < 1.0


def test_pairs_are_compared_as_the_program_does(surefoot_program, source):
    files = [source / f"examples/traces/osqp_mpc_{name}.csv.gz" for name in ("cold", "warm")]
    found = surefoot.compare_paired(*files, names=("cold", "warm"), claims=["below 1e-2 after 30"], tolerances=[1e-2])
    printed = surefoot_program(
        "compare", *files, "--paired", "--names", "cold,warm", "--claim", "below 1e-2 after 30", "--tolerances", 1e-2, "--json"
    )
    assert json.loads(printed) == found.content
    cell = found.content["success"][0]
    assert (cell["first_only"], cell["second_only"]) == (0, 52) and cell["verdict"] == "second is better"
    cold, warm = (np.loadtxt(file, delimiter=",", skiprows=1) for file in files)
    again = surefoot.compare_paired(cold, warm, names=("cold", "warm"), claims=["below 1e-2 after 30"], tolerances=[1e-2])
    assert again.sentences == found.sentences
    of_files = ("tables", "digest")
    assert {**again.content, **{key: found.content[key] for key in of_files}} == found.content
    assert surefoot.compare_paired(cold, warm, claims=["below 1e-2 after 30"], allow=0.01).decision == "not worse"
    assert surefoot.compare_paired(warm, cold, claims=["below 1e-2 after 30"], allow=0.01).decision == "worse"
    with pytest.raises(surefoot.InputError, match="pairs are runs of the same problems"):
        surefoot.compare_paired(cold, warm[:-1], claims=["below 1e-2 after 30"])
    with pytest.raises(surefoot.InputError, match="allow: -1"):
        surefoot.compare_paired(cold, warm, claims=["below 1e-2 after 30"], allow=-1)


def test_pairs_of_one_number_per_problem(surefoot_program, tmp_path):
    old = np.random.default_rng(3).lognormal(size=300)
    for name, values in (("old", old), ("new", 0.5 * old)):
        (tmp_path / f"{name}.csv").write_text("\n".join(["runtime", *map(repr, values.tolist())]) + "\n")
    found = surefoot.compare_paired(old, 0.5 * old, names=("old", "new"), claims=["at most 1"], metric="runtime", anytime=True)
    printed = surefoot_program(
        "compare", tmp_path / "old.csv", tmp_path / "new.csv", "--paired", "--scalar", "--claim", "at most 1", "--anytime", "--json"
    )
    content = json.loads(printed)
    assert {**found.content, **{key: content[key] for key in ("tables", "digest")}} == content
    with pytest.raises(surefoot.InputError, match="is about iterations"):
        surefoot.compare_paired(old, old, claims=["below 1 after 3"])


def test_means_and_cvar_are_those_of_the_program(surefoot_program, tmp_path):
    times = np.random.default_rng(4).beta(0.5, 3, size=(200, 1)) * np.array([[1.0, 0.5]])
    certificate = surefoot.certify(times, range=(0, 1), thresholds=[0.1], cvar=[0.8], metric="cost")
    np.save(tmp_path / "times.npy", times)
    surefoot_program(
        "certify", tmp_path / "times.npy", "--range", "0,1", "--thresholds", 0.1, "--cvar", 0.8, "--metric", "cost", "--out", tmp_path / "out"
    )
    written = json.loads((tmp_path / "out/certificate.json").read_text())
    claims = [claim for claim in certificate.claims if isinstance(claim, surefoot.MeanClaim)]
    assert [claim.upper_bound for claim in claims] == [row["upper_bound"] for row in written["claims"]["mean_excess"]]
    assert certificate.cvar(0.8, step=2) == min(claim.cvar[0] for claim in claims if claim.step == 2)
    assert certificate.cvar(0.8) == certificate.cvar(0.8, step=2) < certificate.cvar(0.8, step=1)
    assert certificate.cvar(0) >= times[:, 1].mean()
    assert certificate.verify(times).claims_that_hold == len(certificate.claims)
    with pytest.raises(surefoot.InputError, match="row 1 of .* outside the stated 0 .. 0.001|range: row"):
        surefoot.certify(times, range=(0, 1e-3))
    for wrong in ((1, 2), (0,), (0, -1)):
        with pytest.raises(ValueError, match="range"):
            surefoot.certify(times, range=wrong)
    with pytest.raises(KeyError, match="range"):
        surefoot.certify(times).cvar(0.9)


def test_claims_under_another_distribution(surefoot_program, tmp_path):
    traces = example()
    certificate = surefoot.certify(traces, shift="kl:0.02")
    certificate.save(tmp_path / "certificate.json")
    assert certificate.verify()
    assert any("under any distribution within KL 0.02 of the one the problems were drawn from" in s for s in certificate.statements)
    claim = next(c for c in certificate.claims if isinstance(c, surefoot.SuccessClaim) and c.lower_bound > 0.5)
    assert claim.under_shift == pytest.approx(1 - surefoot.bounds.risk_under_shift(1 - claim.lower_bound, kl=0.02), abs=1e-15)
    assert surefoot.certify(traces).claims[0].under_shift is None
    survived = certificate.tolerate(0.4)
    assert survived and all(each.share >= 0.4 for each in survived)
    first = survived[0]
    assert first.kl == pytest.approx(surefoot.bounds.shift_margin(1 - first.share, 0.6, "kl"), rel=1e-6)
    assert first.gaussian == pytest.approx((2 * first.kl) ** 0.5)
    printed = surefoot_program("ask", "certificate.json", "--tolerate", 0.4)
    assert all(each.claim in printed for each in survived)
    with pytest.raises(surefoot.InputError, match="tolerate"):
        certificate.tolerate(1.5)
    with pytest.raises(surefoot.InputError, match="shift"):
        surefoot.certify(traces, shift="kl:-1")


def test_claims_are_chosen_after_looking(surefoot_program, tmp_path):
    traces = example()
    certificate = surefoot.certify(traces)
    certificate.save(tmp_path / "certificate.json")
    level = float(np.quantile(traces[:, -1], 0.5))
    answer = certificate.ask(f"below {level} after {traces.shape[1]}")
    assert answer and 0 < answer.share < 0.5
    printed = surefoot_program("ask", "certificate.json", "--claim", f"below {level} after {traces.shape[1]}")
    assert answer.sentence in printed and answer.proof in printed
    refused = certificate.ask(f"99.99% below {level} after {traces.shape[1]}")
    assert not refused and refused.sentence == "" and refused.but
    with pytest.raises(surefoot.InputError, match="'belwo'"):
        certificate.ask("50% belwo 1")
    assert not [c for c in surefoot.certify(traces, choose="before").claims if isinstance(c, surefoot.OtherClaim)]
    assert {type(c) for c in surefoot.certify(traces, choose="after").claims} == {surefoot.OtherClaim}
    with pytest.raises(surefoot.InputError, match="choose"):
        surefoot.certify(traces, choose="never")
