"""Monitors in Python: the program's alarms, evidence and states."""

import json
import pathlib
import subprocess

import numpy as np
import pytest
import surefoot
from conftest import PROGRAM


@pytest.fixture
def certificate():
    values = np.random.default_rng(0).uniform(size=(1000, 2))
    return surefoot.certify(values, tolerances=[1.0, 2.0], metric="residual")


def stream(solves=3000, change=2000):
    draw = np.random.default_rng(1)
    values = draw.uniform(size=solves)
    values[change:][draw.uniform(size=solves - change) < 0.2] = 1.5
    values[::97] = np.nan
    return values


@pytest.mark.parametrize("options", [{}, {"alpha": 1e-3}, {"arl": 1e4, "reference": True}])
def test_alarms_evidence_and_state_are_the_programs(tmp_path, certificate, options):
    if not PROGRAM.exists():
        pytest.skip(f"there is no program at {PROGRAM}")
    certificate.save(tmp_path / "c.json")
    reference = np.random.default_rng(5).uniform(size=(200, 1))
    arguments = []
    if "reference" in options:
        np.savetxt(tmp_path / "r.csv", reference, fmt="%.17g")
        arguments += ["--reference", "r.csv"]
        options = {**options, "reference": reference[:, 0]}
    arguments += [word for name in ("arl", "alpha") if name in options for word in (f"--{name}", repr(options[name]))]
    values = stream()
    text = "".join(f"{value!r}\n" for value in values.tolist())
    said = subprocess.run([PROGRAM, "monitor", "c.json", "--json", "--keep-going", "--state", "s", *arguments], cwd=tmp_path,
                          input=text, capture_output=True, text=True)
    assert said.returncode == 1, said.stderr
    events = [json.loads(line) for line in said.stdout.splitlines()]
    monitor = surefoot.Monitor(certificate, **options)
    alarms = [alarm for alarm in map(monitor.update, values.tolist()) if alarm]
    assert alarms and [(a.solve, a.evidence) for a in alarms] == [(e["solve"], e["evidence"]) for e in events if e["event"] == "alarm"]
    assert monitor.evidence == events[-1]["evidence"] and monitor.alarms == events[-1]["alarms"]
    assert monitor.promise == events[0]["promise"]
    assert monitor.state() == (tmp_path / "s").read_bytes()
    assert [(claim, rate) for claim, rate, _ in monitor.claims] == [(c["claim"], c["rate"]) for c in events[0]["claims"]]
    many = surefoot.Monitor(certificate, **options)
    assert many.update_many(values) == alarms and many.state() == monitor.state()


def test_a_loop_goes_on_from_its_state(tmp_path, certificate):
    values = stream()
    whole, part = (surefoot.Monitor(certificate, "below 1 after 2") for _ in range(2))
    whole.update_many(values)
    part.update_many(values[:1234])
    part.save(tmp_path / "state")
    again = surefoot.Monitor(certificate, ["below 1 after 2"])
    again.restore((tmp_path / "state").read_bytes())
    again.update_many(values[1234:])
    assert again.state() == whole.state() and again.solves == 3000
    assert [path.name for path in pathlib.Path(tmp_path).iterdir()] == ["state"]
    with pytest.raises(surefoot.InputError, match="the claim is 'below 1 after 2' there and 'below 2 after 2' here"):
        surefoot.Monitor(certificate, "below 2 after 2").restore(whole.state())


def test_an_alarm_says_what_it_is(certificate):
    monitor = surefoot.Monitor(certificate, "99% below 1 after 2")
    monitor.update_many(np.zeros(100))
    alarm = None
    while alarm is None:
        alarm = monitor.update(1.0)
    assert alarm.solve == monitor.solves and alarm.strongest == "99% below 1 after 2"
    assert alarm.claims[0].present_rate == 1.0 and alarm.claims[0].rate == pytest.approx(0.01)
    assert str(alarm).startswith(f"ALARM at solve {alarm.solve}")
    assert "surefoot_monitor_alarms_total 1" in monitor.metrics()
    assert monitor.evidence == 0.0 and monitor.threshold == 1e6
    assert "does not promise" in monitor.promise[1]
    assert "1 alarms" in repr(monitor)


def test_rates_from_elsewhere_and_outcomes():
    monitor = surefoot.Monitor(rate=0.0, outcomes=True)
    assert monitor.update(0) is None and monitor.update(1) is not None
    monitor = surefoot.Monitor(rate=0.5, tolerance=1.0)
    assert monitor.update(float("nan")) is None
    assert monitor.claims[0][2] == 1


def test_what_cannot_be_watched_is_refused(tmp_path, certificate):
    for arguments, options, message in [
        ((), {}, "a certificate or a rate"),
        ((certificate,), {"rate": 0.1}, "a certificate or a rate"),
        ((), {"rate": 1.0, "outcomes": True}, "says nothing"),
        ((), {"rate": 0.1}, "tolerance"),
        ((certificate, "99.9999% below 1 after 2"), {}, "is not certified"),
        ((certificate, "above 1"), {}, "claim 'above 1'"),
        ((certificate,), {"arl": 0}, "arl: 0"),
        ((certificate,), {"alpha": 0.0}, "alpha: 0"),
        ((certificate,), {"variant": "x"}, "there is no variant 'x'"),
        ((certificate,), {"outcomes": True}, "about one claim"),
        ((certificate,), {"reference": np.zeros((3, 3))}, "reference: has shape"),
        ((certificate,), {"reference": np.zeros(3)}, "too few"),
    ]:
        with pytest.raises(surefoot.InputError, match=message):
            surefoot.Monitor(*arguments, **options)
    monitor = surefoot.Monitor(rate=0.1, outcomes=True)
    with pytest.raises(surefoot.InputError, match="outcome: 0.5 is not 0 or 1"):
        monitor.update(0.5)
    with pytest.raises(surefoot.InputError, match="is not a checkpoint"):
        monitor.restore(b"x")
    certificate.save(tmp_path / "c.json")
    forged = (tmp_path / "c.json").read_text().replace('"failures": 0', '"failures": 1', 1)
    (tmp_path / "c.json").write_text(forged)
    with pytest.raises(surefoot.InputError, match="does not hold"):
        surefoot.Monitor(tmp_path / "c.json")
