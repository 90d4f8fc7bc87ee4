"""Worst cases with proofs: numbers, own methods, files."""

import json
import math
import random

import pytest
import surefoot
from surefoot import worst_case


def test_closed_forms_are_reached_and_never_undercut():
    for k, bound in worst_case.averaged(0.5, [1, 2, 5, 20]).bounds.items():
        exact = math.sqrt(((k - 1) / k) ** (k - 1) / k)
        assert exact * (1 - 1e-14) <= bound <= exact * (1 + 1e-6)
    assert worst_case.gradient(2.0, 7, dist0=3.0).bound == pytest.approx(2.0 * 9.0 / 30, rel=1e-6)
    assert worst_case.named("gradient", 3, metric="gradient", gap0=2.0).bound == pytest.approx(math.sqrt(4 / 7), rel=1e-6)


def test_a_method_of_ones_own_is_the_named_one():
    method = worst_case.Method()
    smooth, convex = method.smooth(L=1.0), method.convex()
    x = y = method.start
    t = 1.0
    for _ in range(4):
        before, x = x, convex.implicit(y - smooth(y), 1.0)
        t, last = (1 + math.sqrt(1 + 4 * t * t)) / 2, t
        y = x + (last - 1) / t * (x - before)
    method.measure_gap(x)
    proof = method.prove(2.0)
    assert proof.verify() == []
    assert proof.bound == pytest.approx(worst_case.named("composite-fista", 4, dist0=2.0).bound, rel=1e-7)
    assert len(proof.multipliers(0)) > 4


def test_a_changed_number_is_found(tmp_path):
    proof = worst_case.fista(1.0, 3)
    proof.save(tmp_path / "proof.json")
    assert worst_case.load(tmp_path / "proof.json").verify() == []
    changed = json.loads(proof.text)
    changed["bounds"][0]["pairs"][0][2] += 1
    findings = worst_case.Proof(json.dumps(changed)).verify()
    assert any("digest" in finding for finding in findings)
    assert any("balance" in finding for finding in findings)


def test_misuse_is_named():
    with pytest.raises(surefoot.InputError, match="alpha: 2"):
        worst_case.averaged(2.0, 3)
    with pytest.raises(surefoot.InputError, match="'newton' is none of"):
        worst_case.named("newton", 3)
    with pytest.raises(surefoot.InputError, match="alpha: gradient has no such parameter"):
        worst_case.named("gradient", 3, alpha=0.5)
    with pytest.raises(surefoot.InputError, match="nothing is measured"):
        method = worst_case.Method()
        method.averaged(0.5)
        method.prove()


def test_the_program_reads_what_python_wrote(surefoot_program, tmp_path):
    worst_case.averaged(0.5, 4).save(tmp_path / "proof.json")
    assert "VERIFIED" in surefoot_program("verify", tmp_path / "proof.json")


def test_certificates_with_a_worst_case_are_read(surefoot_program, tmp_path):
    generator = random.Random(1)
    rows = [[size / k for k in (1, 2, 4)] for size in (generator.uniform(0.5, 1.0) for _ in range(200))]
    lines = ["k=1,k=2,k=4", *(",".join(map(repr, row)) for row in rows)]
    (tmp_path / "table.csv").write_text("\n".join(lines) + "\n")
    options = ["--tolerances", "0.3,3", "--quantiles", "0.5", "--worst-case", "averaged:0.5", "--dist0", "4"]
    surefoot_program("certify", "table.csv", *options, "--out", "c")
    certificate = surefoot.load(tmp_path / "c/certificate.json")
    assert certificate.verify()
    proven = certificate.success(step=4, tolerance=3.0)
    assert proven.lower_bound < 1 == proven.with_worst_case
    assert certificate.success(step=1, tolerance=3.0).with_worst_case < 1
    quantile = certificate.quantile(step=4, quantile=0.5)
    assert quantile.with_worst_case == quantile.upper_bound
    assert certificate.budget(tolerance=3.0, quantile=0.5).with_worst_case == 1
    assert any("as the user states" in sentence for sentence in certificate.statements)
    plain = surefoot.certify([[1.0, 0.5]] * 3, tolerances=[0.7], quantiles=[0.5], choose="before", allow_dependence=True)
    assert all(claim.with_worst_case is None for claim in plain.claims)
