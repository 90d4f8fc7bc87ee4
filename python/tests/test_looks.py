"""Samples that are to be looked at once: ranges, ledgers, validation."""

import json
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest

import surefoot

RATES = np.random.default_rng(3).uniform(0.2, 0.8, 5000)


def run(rate, i):
    return np.abs(1 - rate * RATES[i]) ** np.arange(1, 6)


def draw(random):
    return random.uniform(0.9, 1.1)


def look(samples, **options):
    return surefoot.calibrate(
        draw, run, hold_out=samples, guarantee="hold-out", family="rates(low=0.2, high=0.8)", tolerances=[0.1],
        claims=["success"], **options,
    )  # fmt: skip


def provenance(certificate):
    return json.loads(certificate.to_json())["variants"][0]["provenance"]


def test_the_certificate_says_which_samples_it_is_of():
    seen = []
    certificate = surefoot.calibrate(
        draw, lambda rate, i: (seen.append(i), run(rate, i))[1], hold_out=range(100, 150), guarantee="hold-out",
        family="rates", family_seed=7, tolerances=[0.1],
    )  # fmt: skip
    assert seen == list(range(100, 150))
    stated = provenance(certificate)
    assert (stated["family"], stated["seed"], stated["set"]) == ("rates", 7, "hold-out")
    assert (stated["first"], stated["count"], stated["earlier_looks"]) == (100, 50, None)
    assert any("Earlier looks at these samples are unknown" in sentence for sentence in certificate.assumptions)
    assert not any("once" in sentence and "used" in sentence for sentence in certificate.assumptions)
    assert certificate.verify()


def test_pac_bayes_says_so_too():
    posterior = surefoot.pac_bayes.Posterior({"rate": [1.0]}, {"rate": -8.0}, {"rate": -1.0}).rounded()
    certificate = surefoot.calibrate(
        posterior, lambda weights, i: run(weights["rate"][0], i), samples=60, family="rates", tolerances=[0.1]
    )
    stated = provenance(certificate)
    assert (stated["set"], stated["first"], stated["count"], stated["earlier_looks"]) == ("training", 0, 60, None)
    assert certificate.verify()


def test_a_second_look_is_refused_unless_allowed(tmp_path):
    ledger = tmp_path / "ledger.jsonl"
    first = look(range(0, 100), ledger=ledger)
    assert provenance(first)["earlier_looks"] is None  # the ledger began with it
    with pytest.raises(surefoot.InputError, match=r"50 \.\. 99 of them were looked at on .* by surefoot.calibrate"):
        look(range(50, 200), ledger=ledger)
    assert provenance(look(range(100, 200), ledger=ledger))["earlier_looks"] == 0
    again = look(range(50, 200), ledger=ledger, look_again=True)
    assert provenance(again)["earlier_looks"] == 2 and again.verify()
    assert any("looked at 2 times before" in sentence for sentence in again.assumptions)
    assert len(ledger.read_text().splitlines()) == 4


def test_of_two_at_the_same_time_one_looks(tmp_path):
    def attempt(_):
        try:
            look(range(10, 20), ledger=tmp_path / "ledger.jsonl")
        except surefoot.InputError:
            return 0
        return 1

    with ThreadPoolExecutor(4) as pool:
        assert sum(pool.map(attempt, range(4))) == 1


def test_a_damaged_ledger_is_refused_by_line(tmp_path):
    ledger = tmp_path / "ledger.jsonl"
    look(range(0, 10), ledger=ledger)
    ledger.write_text(ledger.read_text() + "what is this\n")
    with pytest.raises(surefoot.InputError, match="line 3: is damaged"):
        look(range(20, 30), ledger=ledger)


def test_weights_carry_the_looks_that_were_known(tmp_path):
    look(range(0, 10), ledger=tmp_path / "ledger.jsonl")
    metadata = {"looks": (tmp_path / "ledger.jsonl").read_text()}
    posterior = surefoot.pac_bayes.Posterior({"rate": [1.0]}, {"rate": -8.0}, {"rate": -1.0}, metadata=metadata)
    posterior.save(tmp_path / "weights.safetensors")
    copied = surefoot.pac_bayes.Posterior.load(tmp_path / "weights.safetensors")
    options = {"guarantee": "hold-out-means", "family": "rates(low=0.2, high=0.8)", "tolerances": [0.1]}
    with pytest.raises(surefoot.InputError, match="looked at"):
        surefoot.calibrate(copied, lambda weights, i: run(weights["rate"][0, 0], i), hold_out=range(5), **options)


def test_validation_shows_numbers_and_certifies_nothing():
    observed = surefoot.validate(draw, run, samples=400)
    assert isinstance(observed, surefoot.Observed) and not hasattr(observed, "to_json")
    assert observed.samples == 400 and observed.steps == [1, 2, 3, 4, 5]
    share = observed.success(step=5, tolerance=0.1)
    assert 0 < share < 1
    assert observed.quantile(5, share) < 0.1 <= observed.quantile(5, share + 1 / 400)
    with pytest.raises(ValueError, match="step: 6 was not recorded"):
        observed.success(6, 0.1)


def test_in_validation_a_run_that_diverged_has_failed_from_there_on():
    def diverging(rate, i):
        return [0.1, np.nan, 0.0] if i % 2 else [0.1, 0.1, 0.1]

    observed = surefoot.validate(draw, diverging, samples=100)
    assert [observed.success(step, 0.5) for step in (1, 2, 3)] == [1.0, 0.5, 0.5]
    assert observed.quantile(3, 0.5) == 0.1 and observed.quantile(3, 0.51) == np.inf


def test_validation_at_the_means():
    posterior = surefoot.pac_bayes.Posterior({"rate": [1.0]}, {"rate": -8.0}, {"rate": -1.0})
    batched = surefoot.validate(
        posterior, lambda weights, indices: [run(w["rate"][0], i) for w, i in zip(weights, indices)], samples=50,
        at_means=True, batch=16,
    )  # fmt: skip
    assert batched.quantile(1, 0.98) == pytest.approx(np.sort(np.abs(1 - RATES[:50]))[48])
