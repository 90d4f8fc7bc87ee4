"""Claims that hold at every number of runs: looking again, appending, running until a claim holds."""

import numpy as np
import pytest

import surefoot

DECLARED = {"tolerances": [0.05, 0.5], "quantiles": [0.5, 0.9], "steps": [1, 3]}


def rows(first, count):
    return np.array([np.random.default_rng(first + i).uniform(0.1, 1, 3) * [1, 0.1, 0.01] for i in range(count)])


def test_anytime_claims_are_weaker_than_those_of_a_fixed_number():
    traces = rows(0, 300)
    fixed = surefoot.certify(traces, choose="before", **DECLARED)
    anytime = surefoot.certify(traces, anytime=True, **DECLARED)
    assert bool(anytime.verify(traces))
    assert anytime.statements[0].startswith("With confidence 0.99 at every number of runs, ")
    for claim in anytime.claims:
        if isinstance(claim, surefoot.SuccessClaim):
            same = fixed.success(claim.step, claim.tolerance)
            assert claim.lower_bound <= same.lower_bound
            bound = surefoot.bounds.anytime_upper(claim.failures, claim.samples, claim.delta)
            assert claim.lower_bound == pytest.approx(1 - bound, abs=1e-15)
    assert anytime == surefoot.certify(traces, risk_method="anytime", **DECLARED)


def test_bands_are_for_a_fixed_number():
    with pytest.raises(surefoot.InputError, match="choose: 'both' makes bands"):
        surefoot.certify(rows(0, 50), anytime=True, choose="both", **DECLARED)
    with pytest.raises(ValueError, match="'kl' is for a number of runs"):
        surefoot.certify(rows(0, 50), anytime=True, risk_method="kl", **DECLARED)


def test_rows_are_appended_as_if_they_had_been_there():
    first, second, third = rows(0, 100), rows(100, 60), rows(160, 40)
    grown = surefoot.certify(first, anytime=True, **DECLARED)
    grown = grown.append(second, earlier=first)
    grown = grown.append(third, earlier=[first, second])
    whole = surefoot.certify(np.concatenate([first, second, third]), anytime=True, **DECLARED)
    assert grown.claims == whole.claims
    assert grown.statements == whole.statements
    assert bool(grown.verify()) and bool(grown.verify([first, second, third]))
    assert not grown.verify([first, third, second])
    with pytest.raises(ValueError, match="2 for 3 tables"):
        grown.verify([first, second])


def test_files_are_appended_as_the_program_does(tmp_path):
    for name, table in (("a", rows(0, 80)), ("b", rows(80, 50))):
        np.save(tmp_path / f"{name}.npy", table)
    certificate = surefoot.certify(tmp_path / "a.npy", anytime=True, first_step=1, **DECLARED)
    grown = certificate.append(tmp_path / "b.npy", earlier=tmp_path / "a.npy")
    assert bool(grown.verify([tmp_path / "a.npy", tmp_path / "b.npy"]))
    assert bool(grown.verify([rows(0, 80), rows(80, 50)]))


def test_only_such_rows_are_appended():
    first = rows(0, 100)
    fixed = surefoot.certify(first, **DECLARED)
    with pytest.raises(surefoot.InputError, match="declared to hold at every number of runs"):
        fixed.append(rows(100, 10), earlier=first)
    anytime = surefoot.certify(first, anytime=True, **DECLARED)
    with pytest.raises(surefoot.InputError, match="counted already"):
        anytime.append(first, earlier=first)
    with pytest.raises(surefoot.InputError, match="its columns are"):
        anytime.append(rows(100, 10)[:, :2], earlier=first)
    with pytest.raises(surefoot.InputError, match="not read as they were"):
        anytime.append(rows(900, 10), earlier=rows(50, 100))
    with pytest.raises(ValueError, match="earlier: 2 for the 1 tables"):
        anytime.append(rows(100, 10), earlier=[first, first])


def test_runs_are_made_until_the_claim_holds():
    seeds = []

    def solve(seed):
        seeds.append(seed)
        return [np.inf, np.inf] if seed == 3 else np.random.default_rng(seed).uniform(0, 1, 2)

    result = surefoot.run_until(solve, "90% below 1 after 2", metric="gap")
    assert result and result.holds
    assert seeds == list(range(len(result.traces)))
    n = len(seeds)
    claim = result.certificate.success(2, 1.0)
    assert (claim.samples, claim.failures) == (n, 1)
    assert surefoot.bounds.anytime_upper(1, n, claim.delta) <= 0.1 < surefoot.bounds.anytime_upper(1, n - 1, claim.delta)
    assert result.certificate.ask("90% below 1 after 2")
    assert bool(result.certificate.verify(result.traces))

    never = surefoot.run_until(lambda seed: np.random.default_rng(seed).uniform(0, 1, 2), "99% below 0.5", max_runs=40)
    assert not never and len(never.traces) == 40
    with pytest.raises(surefoot.InputError, match="at word 3, 'under'"):
        surefoot.run_until(solve, "90% under 1")
    with pytest.raises(surefoot.InputError, match="step 7 was not recorded"):
        surefoot.run_until(solve, "90% below 1 after 7")
