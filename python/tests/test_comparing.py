"""Comparisons of tables, of certificates and of many variants: the program's numbers, and what is refused."""

import importlib.util
import json
import math
import subprocess
import sys
from fractions import Fraction

import numpy as np
import pytest
import surefoot


def traces(seed, factor=1.0, problems=400):
    return factor * np.random.default_rng(seed).uniform(0.1, 1, (problems, 1)) * 0.7 ** np.arange(1, 31)


@pytest.fixture
def three(tmp_path):
    """A certificate of three variants, of which two are alike, and its file."""
    certificate = surefoot.certify(
        {"slow": traces(1, 50), "one": traces(2), "other": traces(3)}, tolerances=[1e-3], steps=[10, 20, 30], quantiles=[0.5]
    )
    certificate.save(tmp_path / "three.json")
    return certificate


def test_three_variants_are_ranked_as_the_program_does(surefoot_program, three):
    claims = ["below 1e-3 after 20", "50% below 1e-3"]
    ranking = surefoot.rank(three, claims)
    printed = surefoot_program("compare", "three.json", "--rank", claims[0], "--rank", claims[1], "--json", code=3)
    assert json.loads(printed) == ranking.content
    assert ranking.best == (None, None)
    places = {each["name"]: (each["first_place"], each["last_place"]) for each in ranking.content["rankings"][0]["variants"]}
    assert places == {"one": (1, 2), "other": (1, 2), "slow": (3, 3)}
    assert "tied for the first place" in str(ranking)
    two = surefoot.certify({"slow": traces(1, 50), "one": traces(2)}, tolerances=[1e-3], steps=[20], quantiles=[0.5])
    assert surefoot.rank([two], "below 1e-3 after 20").best == ("one",)


def test_two_certificates_are_compared_as_the_program_does(surefoot_program, three, tmp_path):
    other = surefoot.certify({"one": traces(4, 50)}, tolerances=[1e-3], steps=[10, 20, 30], quantiles=[0.5])
    other.save(tmp_path / "other.json")
    printed = json.loads(surefoot_program("compare", "three.json", "other.json", "--json"))
    for found in (surefoot.compare(three, other), surefoot.compare(tmp_path / "three.json", tmp_path / "other.json")):
        assert found.content["pairs"] == printed["pairs"]
        assert {key: value for key, value in found.content.items() if key not in ("a", "b")} == {
            key: value for key, value in printed.items() if key not in ("a", "b")
        }
    assert any(sentence.startswith("one (first) has more problems below 1e-3") for sentence in surefoot.compare(three, other).sentences)
    within = surefoot.compare(three, three, variants=[("slow", "one")], delta=0.02)
    assert within.content["pairs"][0]["b"] == "one" and "one has more problems" in str(within)


def test_what_does_not_hold_is_not_compared(three):
    forged = json.loads(three.to_json())
    forged["claims"]["success_rate"][0]["failures"] += 1
    with pytest.raises(surefoot.InputError, match="second: this certificate does not hold"):
        surefoot.compare(three, surefoot.certificate.Certificate(json.dumps(forged)))


@pytest.mark.parametrize(
    ("call", "words"),
    [
        (lambda c: surefoot.compare(c, c), "choose two of its variants"),
        (lambda c: surefoot.compare(c, 3), "b: is int"),
        (lambda c: surefoot.compare(c, c, variants=[("slow", "fast")]), "no variant 'fast'"),
        (lambda c: surefoot.compare(c, c, variants=[("slow", "one")], delta=0), "delta"),
        (lambda c: surefoot.rank(c, "below 1e-3 after 21"), "has no success rate of"),
        (lambda c: surefoot.rank([c, c], "below 1e-3 after 20"), "one and the same certificate"),
        (lambda c: surefoot.rank([], "below 1e-3 after 20"), "nothing to rank"),
        (lambda c: surefoot.rank(c, []), "nothing to rank"),
    ],
)
def test_bad_arguments_are_named(three, call, words):
    with pytest.raises((ValueError, TypeError), match=words):
        call(three)


def test_groups_are_pairs(surefoot_program, tmp_path):
    random = np.random.default_rng(5)
    old = random.lognormal(size=(150, 3, 1)) * 0.5 ** np.arange(1, 11)
    new = 0.5 * old
    new[4, 1, 6] = np.nan
    for name, cube in (("old", old), ("new", new)):
        lines = [f"{g},{','.join(map(repr, tick.tolist()))}" for g, ticks in enumerate(cube) for tick in ticks]
        (tmp_path / f"{name}.csv").write_text("\n".join([f"flight,{','.join(f'k={k}' for k in range(1, 11))}", *lines]) + "\n")
    options = {"claims": ["below 1e-1 after 7"], "names": ("old", "new"), "tolerances": [0.1]}
    of_files = surefoot.compare_paired(tmp_path / "old.csv", tmp_path / "new.csv", group="flight", **options)
    printed = surefoot_program(
        "compare", "old.csv", "new.csv", "--paired", "--group", "flight", "--claim", "below 1e-1 after 7", "--tolerances", 0.1, "--names", "old,new", "--json"
    )
    assert json.loads(printed) == of_files.content
    of_arrays = surefoot.compare_paired(old, new, **options)
    assert of_arrays.content["success"] == of_files.content["success"]
    assert of_arrays.content["settling"] == of_files.content["settling"]
    with pytest.raises(ValueError, match="group: it is for files"):
        surefoot.compare_paired(old, new, group="flight", **options)
    with pytest.raises(surefoot.InputError, match="150 problems and .* 149"):
        surefoot.compare_paired(old, new[1:], **options)


def test_problems_of_one_table_are_paired_by_name(surefoot_program, source):
    table = source / "examples/benchmark/results.csv.gz"
    found = surefoot.compare_paired(
        table, value="runtime", variants="solver", rows="problem", where={"settings": "default"}, failed={"found": False}, names=("clarabel", "osqp")
    )
    printed = surefoot_program(
        "compare", table, "--paired", "--value", "runtime", "--variants", "solver", "--rows", "problem", "--where", "settings=default",
        "--failed", "found=False", "--names", "clarabel,osqp", "--json",
    )  # fmt: skip
    assert json.loads(printed) == found.content
    with pytest.raises(ValueError, match="b: is missing"):
        surefoot.compare_paired(table)
    with pytest.raises(surefoot.InputError, match="'nobody' is not one of"):
        surefoot.compare_paired(table, value="runtime", variants="solver", rows="problem", where={"settings": "default"}, names=("clarabel", "nobody"))


def test_a_record_is_computed_again(surefoot_program, tmp_path):
    found = surefoot.compare_paired(traces(6, 2), traces(6), claims=["below 1e-3 after 20"], allow=0.02)
    found.save(tmp_path / "record.json")
    surefoot_program("verify", "record.json")
    assert found.verify() == []
    assert found.junit.startswith("<?xml") and "not worse" in found.markdown
    import dataclasses

    forged = dataclasses.replace(found, record=found.record.replace('"both": ', '"both": 1'))
    assert forged.verify()
    assert surefoot.compare_paired(traces(6), traces(6), claims=["below 1e-3 after 20"]).junit == ""


def measuring(source):
    spec = importlib.util.spec_from_file_location("paired_measured", source / "docs/paired_measured.py")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def test_the_table_of_the_documentation_can_be_made_again(source, tmp_path):
    script = measuring(source)
    for n, a, b in [(10, 2, 8), (50, 40, 49), (300, 250, 280), (1000, 948, 1000)]:
        tail = sum(Fraction(math.comb(n, k) * math.comb(n, a + b - k), math.comb(2 * n, a + b)) for k in range(b, min(n, a + b) + 1))
        assert script.fisher_tail([n], [a], [b])[0] == pytest.approx(float(tail), rel=1e-9)
    tables = [source / f"examples/traces/osqp_mpc_{name}.csv.gz" for name in ("cold", "warm")]
    command = [sys.executable, source / "docs/paired_measured.py", *tables, "--shuffles", "4", "--claims", "2"]
    result = subprocess.run(command, capture_output=True, text=True, cwd=tmp_path)
    assert result.returncode == 0, result.stderr
    rows = [[cell.strip() for cell in line.strip("|").split("|")] for line in result.stdout.splitlines()]
    assert rows[0][4:] == ["paired", "program", "Fisher", "intervals"]
    assert [row[:4] for row in rows[2:]] == [["0.1", "15", "0", "955"], ["0.01", "30", "0", "52"]]
    paired, program, fisher, intervals = (float(cell.strip("*").replace(",", "")) for cell in rows[3][4:])
    assert paired <= program and paired < fisher < intervals
