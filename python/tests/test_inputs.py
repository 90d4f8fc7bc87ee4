"""How tables are read, and rows that are no independent samples."""

import json

import numpy as np
import pytest
import surefoot


def traces_of(rows=200, columns=10, seed=1):
    random = np.random.default_rng(seed)
    return random.lognormal(0, 1, (rows, 1)) * random.uniform(0.5, 0.9, (rows, 1)) ** np.arange(1, columns + 1)


def chain(rows=1000, memory=0.9, seed=1):
    random = np.random.default_rng(seed)
    state = np.zeros(rows)
    for i in range(1, rows):
        state[i] = memory * state[i - 1] + np.sqrt(1 - memory**2) * random.normal()
    return np.exp(state)[:, None] * 0.5 ** np.arange(4)


def only_variant(certificate):
    return json.loads(certificate.to_json())["variants"][0]


def test_columns_of_a_data_frame_are_the_steps(surefoot_program, tmp_path):
    pandas = pytest.importorskip("pandas")
    frame = pandas.DataFrame(traces_of(), columns=range(5, 55, 5))
    certificate = surefoot.certify(frame, tolerances=[1e-2], quantiles=[0.9])
    frame.to_csv(tmp_path / "frame.csv")
    with pytest.warns(UserWarning, match="first column"):
        from_file = surefoot.certify(tmp_path / "frame.csv", tolerances=[1e-2], quantiles=[0.9])
    assert only_variant(certificate)["last_step"] == 50
    assert certificate.budget(1e-2, 0.9).steps == from_file.budget(1e-2, 0.9).steps
    assert "DataFrame say the steps ('5' .. '50')" in only_variant(certificate)["reading"][0]
    assert certificate.verify(frame)
    words = frame.rename(columns=lambda step: f"k={step}")
    assert surefoot.certify(words).claims == surefoot.certify(frame).claims
    indexed = words.reset_index(names="instance")
    assert surefoot.certify(indexed).claims == surefoot.certify(frame).claims
    assert surefoot.certify(frame, recorded_steps=range(5, 55, 5)).claims == surefoot.certify(frame).claims
    assert surefoot.certify(frame, first_step=5).claims == surefoot.certify(frame).claims


def test_columns_of_a_data_frame_that_say_no_steps_are_refused():
    pandas = pytest.importorskip("pandas")
    frame = pandas.DataFrame(traces_of())
    with pytest.raises(ValueError, match="first_step"):
        surefoot.certify(frame)
    assert surefoot.certify(frame, first_step=1).claims == surefoot.certify(traces_of()).claims
    timed = pandas.DataFrame(traces_of(), columns=[f"t={0.1 * k:.1f}" for k in range(10)])
    with pytest.raises(ValueError, match="t=0.0"):
        surefoot.certify(timed)
    fives = pandas.DataFrame(traces_of(), columns=range(5, 55, 5))
    with pytest.raises(ValueError, match="begin at 5"):
        surefoot.certify(fives, first_step=1)
    with pytest.raises(ValueError, match="5 .. 50"):
        surefoot.certify(fives, recorded_steps=range(1, 11))


def test_array_of_one_dimension_in_a_file_is_refused(tmp_path):
    np.save(tmp_path / "trace.npy", np.linspace(1, 0, 500))
    with pytest.raises(ValueError, match="one dimension"):
        surefoot.certify(tmp_path / "trace.npy")


@pytest.mark.parametrize(
    ("traces", "says"),
    [
        (np.tile(traces_of(40), (100, 1)), "3960 of 4000 rows repeat"),
        (chain(), "more alike"),
        (np.sort(traces_of(1000), axis=0), "drift"),
        (traces_of(10, 1000).T.copy(), "drift"),
    ],
)
def test_rows_that_are_no_independent_samples_are_refused(traces, says):
    with pytest.raises(ValueError, match=says):
        surefoot.certify(traces)
    certificate = surefoot.certify(traces, tolerances=[0.1], allow_dependence=True)
    assert only_variant(certificate)["independence"]["allowed"]
    assert "If the rows were independent, with confidence" in str(certificate)
    assert "if the rows were independent" in repr(certificate)
    assert certificate.verify(traces)


def test_files_and_arrays_are_looked_at_alike(tmp_path):
    traces = traces_of(5000)
    np.save(tmp_path / "traces.npy", traces)
    assert surefoot.certify(tmp_path / "traces.npy", sources=["array"]) == surefoot.certify(traces, names=["traces"])


def test_problems_of_a_family_are_looked_at():
    random = np.random.default_rng(0)
    lower = np.cumsum(random.normal(size=(500, 2)), axis=0)
    make = lambda rows: surefoot.QPFamily(np.eye(2), np.eye(2), np.zeros(2), rows, np.full(2, np.inf))  # noqa: E731
    with pytest.raises(ValueError, match="problem data"):
        make(lower).certify(20)
    certificate = make(lower).certify(20, allow_dependence=True)
    assert only_variant(certificate)["independence"]["of"] == "problem data"
    fresh = make(random.normal(size=(500, 2))).certify(20)
    assert not only_variant(fresh)["independence"]["findings"]


def test_solver_kept_from_row_to_row_warns():
    pytest.importorskip("osqp")
    lower = np.random.default_rng(0).uniform(0, 1, (20, 2))
    family = surefoot.QPFamily(np.eye(2), np.eye(2), np.zeros(2), lower, np.full(2, np.inf))
    start = np.zeros((20, 4))
    start[1:, :2] = lower[:-1]  # where the run of the row before ends
    with pytest.warns(UserWarning, match="row 1 begins where the run of row 0 ended"):
        surefoot.solvers.osqp(family, 100, adaptive_rho=False, start=start)
