"""Certificates of groups and of logs: those of the program, from labels, names of columns and a third dimension."""

import numpy as np
import pytest
import surefoot

OPTIONS = {"tolerances": [0.03, 0.3], "quantiles": [0.5, 0.9]}
ARGUMENTS = ["--tolerances", "0.03,0.3", "--quantiles", "0.5,0.9"]


def cube(groups=120, ticks=10, steps=6, seed=3):
    random = np.random.default_rng(seed)
    level = random.lognormal(0, 0.7, (groups, 1, 1))
    return level * random.lognormal(0, 0.2, (groups, ticks, steps)) * np.exp(-np.arange(1, steps + 1.0))


@pytest.mark.parametrize("order", ["C", "F"])
def test_a_third_dimension_is_the_programs_to_the_last_byte(surefoot_program, tmp_path, order):
    traces = np.asarray(cube(), order=order)
    np.save(tmp_path / "traces.npy", traces)
    surefoot_program("certify", "traces.npy", "--out", "report", *ARGUMENTS)
    written = (tmp_path / "report/certificate.json").read_text()
    certificate = surefoot.certify(traces, sources=["traces.npy"], **OPTIONS)
    assert certificate.to_json() == written
    with pytest.warns(UserWarning, match="120 groups of 10 ticks"):
        assert surefoot.certify(tmp_path / "traces.npy", **OPTIONS).to_json() == written
    assert certificate.verify(traces) and certificate.verify(tmp_path / "traces.npy")
    assert not certificate.verify(2 * traces)
    assert not np.asarray(cube()).flags.f_contiguous


@pytest.mark.parametrize("kind", [str, int, float, object, "datetime64[D]"])
def test_labels_beside_the_table(kind):
    traces = cube()
    rows = traces.reshape(-1, 6)
    labels = np.repeat(np.arange(120), 10).astype(kind)
    shuffled = np.random.default_rng(0).permutation(len(rows))
    order = np.argsort(shuffled % 10, kind="stable")  # groups in pieces, first rows in another order
    certificate = surefoot.certify(rows, groups=labels, group_name="flight", **OPTIONS)
    whole = surefoot.certify(traces, **OPTIONS)
    assert [c.upper_bound for c in certificate.claims if isinstance(c, surefoot.AverageClaim)] == [
        c.upper_bound for c in whole.claims if isinstance(c, surefoot.AverageClaim)
    ]
    assert certificate.success(6, 0.03).failures == int((traces[:, :, 5].max(axis=1) >= 0.03).sum())
    assert certificate.average(6, 0.03).empirical == pytest.approx((traces[:, :, 5] >= 0.03).mean(axis=1).mean())
    assert "in at least" in certificate.statements[0] and "(one per flight)" in certificate.statements[0]
    assert certificate.verify(rows, groups=labels)
    assert not certificate.verify(rows, groups=np.roll(labels, 5))
    mixed = surefoot.certify(rows[order], groups=list(labels[order]), **OPTIONS)
    assert mixed.success(6, 0.03).failures == certificate.success(6, 0.03).failures


def test_columns_of_files_and_frames(surefoot_program, tmp_path):
    pandas = pytest.importorskip("pandas")
    rows = cube().reshape(-1, 6)
    frame = pandas.DataFrame(rows, columns=[f"k={k}" for k in range(1, 7)])
    frame.insert(2, "flight", [f'F "{i // 10}", é' for i in range(len(rows))])
    frame.to_csv(tmp_path / "t.csv", index=False)
    surefoot_program("certify", "t.csv", "--group", "flight", "--out", "report", *ARGUMENTS)
    written = (tmp_path / "report/certificate.json").read_text()
    certificate = surefoot.certify(tmp_path / "t.csv", groups="flight", **OPTIONS)
    assert certificate.to_json() == written
    from_frame = surefoot.certify(frame, groups="flight", **OPTIONS)
    assert from_frame.success(3, 0.3) == dataclass_of(certificate.success(3, 0.3), variant="traces")
    assert from_frame.verify(frame)
    assert certificate.verify(tmp_path / "t.csv")
    with pytest.raises(ValueError, match="there is no column 'fligth'; the columns are 'k=1'"):
        surefoot.certify(frame, groups="fligth")
    with pytest.raises(ValueError, match="there is no column 'fligth'"):
        surefoot.certify(tmp_path / "t.csv", groups="fligth")


def dataclass_of(claim, **changes):
    import dataclasses

    return dataclasses.replace(claim, **changes)


def test_variants_have_labels_each():
    rows = cube().reshape(-1, 6)
    labels = np.repeat(np.arange(120), 10)
    certificate = surefoot.certify({"a": rows, "b": rows / 2}, groups={"a": labels, "b": labels}, **OPTIONS)
    assert certificate.variants == ("a", "b")
    assert certificate.verify([rows, rows / 2], groups=[labels, labels])
    assert surefoot.certify([rows, rows / 2], groups=[labels, labels], **OPTIONS).claims


@pytest.mark.parametrize(
    ("groups", "complaint"),
    [
        (np.zeros((1200, 2)), r"groups: has shape \(1200, 2\)"),
        (np.zeros(7), "groups: 7 labels for 1200 rows"),
        ([None] + [1] * 1199, r"groups: the label of row 0 is missing \(None\)"),
        (np.append(np.zeros(1199), np.nan), "groups: the label of row 1199 is missing"),
        (["a"] * 5 + [""] + ["b"] * 1194, "groups: the label of row 5 is missing"),
        ("flight", "groups: 'flight' is the name of a column, and an array has none"),
    ],
)
def test_wrong_labels_are_refused(groups, complaint):
    with pytest.raises((ValueError, TypeError), match=complaint):
        surefoot.certify(cube().reshape(-1, 6), groups=groups)


def test_wrong_shapes_are_refused():
    traces = cube()
    with pytest.raises(ValueError, match="an array with three dimensions has them already"):
        surefoot.certify(traces, groups=np.arange(120))
    with pytest.raises(ValueError, match="must be problems x steps, or groups x ticks x steps"):
        surefoot.certify(traces[None])
    with pytest.raises(ValueError, match="'b' does not say which of its rows belong together"):
        surefoot.certify({"a": traces, "b": traces[:, 0]})
    with pytest.raises(ValueError, match="group_name: there are no groups"):
        surefoot.certify(traces[:, 0], group_name="flight")
    certificate = surefoot.certify(traces, **OPTIONS)
    with pytest.raises(ValueError, match="nobody says which rows belong together"):
        certificate.verify(traces.reshape(-1, 6))


def test_a_log_is_the_programs(surefoot_program, tmp_path):
    random = np.random.default_rng(4)
    level = np.zeros(1500)
    for i in range(1, 1500):
        level[i] = 0.97 * level[i - 1] + 0.2 * random.normal()
    log = np.exp(level[:, None] - np.arange(1, 4))
    with pytest.raises(ValueError, match="not independent samples"):
        surefoot.certify(log)
    np.save(tmp_path / "log.npy", log)
    surefoot_program("certify", "log.npy", "--sequence", "--out", "report", "--tolerances", "0.1,1")
    certificate = surefoot.certify(log, sequence=True, sources=["log.npy"], names=["log"], tolerances=[0.1, 1.0])
    assert certificate.to_json() == (tmp_path / "report/certificate.json").read_text()
    claim = certificate.sequence(3, 1.0)
    assert claim.failures == int((log[:, 2] >= 1).sum())
    assert claim.upper_bound == surefoot.bounds.sequence_upper(claim.failures, 1500, claim.delta)
    assert certificate.verify(log)
    with pytest.raises(ValueError, match="the past of one log"):
        certificate.ask("90% below 1")
    with pytest.raises(ValueError, match="'quantile'"):
        surefoot.certify(log, sequence=True, claims=["quantile"])
    with pytest.raises(ValueError, match="sequence: it is of one log"):
        surefoot.certify(log, sequence=True, groups=np.arange(1500) // 10)
    with pytest.raises(ValueError, match="allow_dependence"):
        surefoot.certify(log, sequence=True, allow_dependence=True)
