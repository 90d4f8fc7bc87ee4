"""One number per problem, and tables with a result per line: equal to the program's."""

import json

import numpy as np
import pytest
import surefoot


def times(count=600, seed=1):
    return np.random.default_rng(seed).lognormal(0, 0.3, count)


def test_an_array_of_one_dimension_is_one_number_per_problem(surefoot_program, tmp_path):
    values = times()
    values[::97] = np.inf
    np.save(tmp_path / "times.npy", values)
    surefoot_program("certify", "times.npy", "--scalar", "--metric", "runtime", "--unit", "ms", "--out", "report")
    written = (tmp_path / "report/certificate.json").read_text()
    certificate = surefoot.certify(values, metric="runtime", unit="ms", names=["times"], sources=["times.npy"])
    assert certificate.to_json() == written
    assert certificate.scalar
    assert certificate.verify(values) and certificate.verify(tmp_path / "times.npy")
    assert not certificate.verify(2 * values)
    assert "VERIFIED" in surefoot_program("verify", "report/certificate.json", "--data", "times.npy")
    claim = certificate.quantile(quantile=0.9)
    assert claim.upper_bound == np.sort(values)[claim.rank - 1]
    assert certificate.statements[0].endswith("ms.") and "iteration" not in " ".join(certificate.statements)


def test_a_value_at_the_tolerance_is_a_success():
    counts = np.tile([10, 20, 30], 100)
    certificate = surefoot.certify(counts, tolerances=[20], allow_dependence=True)
    assert certificate.success(tolerance=20).failures == 100
    assert certificate.ask("at most 20").holds and not certificate.ask("60% below 20").holds
    with pytest.raises(ValueError, match="has no iterations"):
        certificate.ask("at most 20 after 3")
    with pytest.raises(ValueError, match="one number per problem has none"):
        certificate.success(step=1, tolerance=20)


def test_lists_series_and_dicts():
    values = times(300)
    assert surefoot.certify(list(values)).claims == surefoot.certify(values).claims
    both = surefoot.certify({"warm": values, "cold": times(200, seed=2)}, metric="time")
    assert both.variants == ("warm", "cold") and both.scalar
    assert both.verify({"warm": values, "cold": times(200, seed=2)})
    rows = surefoot.certify([np.geomspace(1, x, 5) for x in times(50)])  # rows of a table, as before
    assert not rows.scalar
    pandas = pytest.importorskip("pandas")
    series = surefoot.certify(pandas.Series(values, name="runtime (ms)"))
    assert (series.metric, series.unit) == ("runtime", "ms")


def benchmark(pandas, problems=60):
    random = np.random.default_rng(3)
    rows = [
        (f"P, {i}", solver, settings, random.exponential(), bool(random.random() > 0.05))
        for i in range(problems)
        for solver in ("osqp", "scs")
        for settings in ("default", "high")
    ]
    return pandas.DataFrame(rows, columns=["problem", "solver", "settings", "runtime (s)", "found"])


OF_BENCHMARK = {"value": "runtime", "variants": "solver", "rows": "problem"}


def test_a_frame_is_the_file_it_would_be_written_to(surefoot_program, tmp_path):
    pandas = pytest.importorskip("pandas")
    frame = benchmark(pandas)
    chosen = {**OF_BENCHMARK, "where": {"settings": "default"}, "failed": {"found": False}}
    certificate = surefoot.certify(frame, sources=["results.csv"], **chosen)
    frame.to_csv(tmp_path / "results.csv", index=False)
    surefoot_program("certify", "results.csv", "--value", "runtime", "--variants", "solver", "--rows", "problem",
                     "--where", "settings=default", "--failed", "found=False", "--out", "report")  # fmt: skip
    assert certificate.to_json() == (tmp_path / "report/certificate.json").read_text()
    assert surefoot.certify(tmp_path / "results.csv", **chosen).to_json() == certificate.to_json()
    assert certificate.variants == ("osqp", "scs") and certificate.unit == "s"
    assert all(line.startswith("If these problems were drawn at random") for line in certificate.statements)
    assert certificate.verify(frame) and certificate.verify(tmp_path / "results.csv")
    frame.loc[0, "runtime (s)"] += 1
    assert not certificate.verify(frame)
    content = json.loads(certificate.to_json())["variants"][0]["selection"]
    assert content["where"] == ["settings=default"] and content["failed"] == ["found=False"]


def test_what_is_wrong_with_a_frame_is_said():
    pandas = pytest.importorskip("pandas")
    frame = benchmark(pandas)
    with pytest.raises(ValueError, match="stands in line 2 already"):
        surefoot.certify(frame, **OF_BENCHMARK)
    with pytest.raises(ValueError, match="--value is missing.*'runtime \\(s\\)'"):
        surefoot.certify(frame, rows="problem")
    default = frame[frame.settings == "default"]
    with pytest.raises(ValueError, match="1 of 60 numbers of osqp are missing"):
        surefoot.certify(default.iloc[1:], **OF_BENCHMARK)
    with pytest.warns(UserWarning, match="1 numbers are missing and count as infinite"):
        surefoot.certify(default.iloc[1:], missing="failed", **OF_BENCHMARK)
    with pytest.raises(ValueError, match="missing: 'drop' is not one of"):
        surefoot.certify(default, missing="drop", **OF_BENCHMARK)
    with pytest.raises(TypeError, match="not real numbers"):
        surefoot.certify(np.array(["a", "b"]))
