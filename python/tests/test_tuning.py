"""surefoot.tune: finds what a fine grid finds, certifies on problems that nothing was chosen by, and says what is wrong."""

import json

import numpy as np
import pytest
import surefoot

PROBLEMS = 400


def curvatures(problem):
    return np.random.default_rng(problem).uniform(1, 10, 5)


def descent(settings, problem):
    """Gradient descent's largest factor, step by step."""
    return np.abs(1 - settings["step"] * curvatures(problem)).max() ** np.arange(1, 101)


def settled(settings, problems, tolerance=1e-3):
    times = []
    for problem in problems:
        unsolved = np.flatnonzero(~(descent(settings, problem) < tolerance))
        times.append(unsolved[-1] + 2 if len(unsolved) else 1)
    return np.array(times)


def tuned(**others):
    given = {"space": {"step": (0.01, 1, "log")}, "target": "90% below 1e-3", "problems": PROBLEMS, **others}
    return surefoot.tune(given.pop("run", descent), given.pop("space"), given.pop("target"), **given)


def test_it_finds_what_a_fine_grid_finds():
    found = tuned(default={"step": 0.1})
    fresh = range(10_000, 10_500)
    best = min(np.quantile(settled({"step": step}, fresh), 0.9) for step in np.geomspace(0.05, 0.4, 60))
    assert np.quantile(settled(found.settings, fresh), 0.9) <= 1.1 * best
    assert found.after < found.before
    assert found.searched == range(200) and found.certified == range(200, 400)
    assert found.failures == 0


def test_what_is_certified_is_what_the_certified_problems_say():
    found = tuned(default={"step": 0.1})
    assert found.certificate.verify()
    for settings, steps in (({"step": 0.1}, found.before), (found.settings, found.after)):
        times = np.sort(settled(settings, found.certified))
        rank = int(surefoot.bounds.order_statistic_rank(200, 0.9, 0.01 / 4))
        assert steps == times[rank - 1]
    alone = tuned()
    rank = int(surefoot.bounds.order_statistic_rank(200, 0.9, 0.01))
    assert alone.after == np.sort(settled(alone.settings, alone.certified))[rank - 1]
    assert alone.before is None and alone.paired is None
    assert any("default" in sentence for sentence in found.paired.sentences)


def test_nothing_is_run_on_the_certified_problems_before_the_end():
    calls = []

    def run(settings, problem):
        calls.append((problem, settings["step"]))
        return descent(settings, problem)

    found = tuned(run=run)
    late = [step for problem, step in calls if problem in found.certified]
    assert late == [found.settings["step"]] * 200
    assert all(problem in found.searched for problem, _ in calls[: len(calls) - 200])
    assert len(calls) - 200 <= 40 * 200
    assert sum(one.problems for one in found.tried) == len(calls) - 200


def test_choices_and_ranges_together():
    def run(settings, problem):
        rows = descent(settings, problem)
        return rows if settings["method"] == "plain" else np.sqrt(rows)

    found = tuned(run=run, space={"step": (0.05, 0.5), "method": ["worse", "plain"]})
    assert found.settings["method"] == "plain" and 0.1 < found.settings["step"] < 0.3


def test_the_same_search_is_the_same_result():
    assert tuned(runs=3000).settings == tuned(runs=3000).settings


def test_a_run_that_fails_is_unsolved():
    def run(settings, problem):
        if settings["step"] > 0.15:
            raise RuntimeError("the step is too long")
        return descent(settings, problem)

    found = tuned(run=run)
    assert found.failures > 0 and found.settings["step"] <= 0.15
    nan = tuned(run=lambda settings, problem: descent(settings, problem) * (np.nan if settings["step"] > 0.15 else 1))
    assert nan.failures == 0 and nan.settings["step"] <= 0.15


@pytest.mark.parametrize("bad", [np.nan, np.inf, -np.inf])
def test_a_number_that_is_not_finite_is_a_failure_wherever_it_stands(bad):
    def run(settings, problem):
        rows = descent(settings, problem)
        if settings["method"] == "broken":
            rows[:] = 0
            rows[50] = bad
        return rows

    found = tuned(run=run, space={"step": (0.05, 0.5), "method": ["broken", "sound"]})
    assert found.settings["method"] == "sound"


def test_the_usual_runs_are_enough_for_the_first_rung():
    found = tuned(space={"step": (0.05, 0.5), "a": list(range(9)), "b": list(range(8))}, problems=200, target="50% below 1e-3")
    assert sum(one.problems for one in found.tried) >= 7 * 72 * 8 > 40 * 100


@pytest.mark.parametrize(("low", "high"), [(0.99, 0.9999), (1990, 2020), (1e-3, 1e3), (0, 1), (1.0, 1.9)])
@pytest.mark.parametrize("logarithmic", [False, True])
def test_a_range_has_many_values_of_few_digits(low, high, logarithmic):
    if low == 0 and logarithmic:
        return
    axis = surefoot.tuning._Range("x", low, high, logarithmic)
    values = {axis.value(place) for place in np.linspace(0, 1, 20_001)}
    assert min(values) >= low and max(values) <= high
    assert 32 <= len(values) <= 1000 * max(1, np.log10(high / low) if logarithmic else 1)
    assert all(len(repr(value)) <= 9 for value in values)


def test_a_second_look_at_the_same_problems_is_refused(tmp_path):
    ledger = tmp_path / "ledger.jsonl"
    named = {"family": "curvatures(low=1, high=10)", "ledger": ledger}
    first = tuned(**named)
    assert first.certificate.verify()
    provenance = json.loads(first.certificate.to_json())["variants"][0]["provenance"]
    assert (provenance["first"], provenance["count"]) == (200, 200)
    with pytest.raises(surefoot.InputError, match=r"by surefoot\.tune"):
        tuned(**named, seed=1)
    again = tuned(**named, seed=1, look_again=True)
    assert json.loads(again.certificate.to_json())["variants"][0]["provenance"]["earlier_looks"] == 1


def broken(settings, problem):
    raise ZeroDivisionError("no")


@pytest.mark.parametrize(
    ("others", "message"),
    [
        ({"space": {}}, "space: there is nothing to search"),
        ({"space": {"step": (1, 0.1, "log")}}, "step: the range 1 .. 0.1 is empty"),
        ({"space": {"step": (0, 1, "log")}}, "step: a logarithmic range lies above 0"),
        ({"space": {"step": (0, 1, "square")}}, "step: .* is no range"),
        ({"space": {"step": []}}, "step: there is nothing to choose from"),
        ({"problems": 60}, "problems: 60 are too few .* about 88 are needed"),
        ({"target": "90% below 1e-200"}, "target: no settings reach .* the best seen, .* solve 0.0 % of them"),
        ({"target": "90% below 1e-3 after 5"}, "target: '90% below 1e-3 after 5' is not a share below a tolerance"),
        ({"target": "90% at most 1e-3"}, "target: .* is not a share below a tolerance"),
        ({"target": "often"}, "target: 'often' is not a share below a tolerance"),
        ({"search_share": 1.0}, "search_share: 1.0 is outside"),
        ({"runs": 10}, "runs: 10 are too few; the first rung alone needs 56"),
        ({"ledger": "l.jsonl"}, "family: a ledger needs a name"),
        ({"run": broken}, "run: none of .* gave a row of numbers; the first: ZeroDivisionError: no"),
        ({"run": lambda settings, problem: [[1.0]]}, "run: none of .* a result of shape"),
    ],
)
def test_what_is_wrong_is_named(others, message):
    with pytest.raises(ValueError, match=message):
        tuned(**others)


def test_the_wrong_kind_is_a_type_error():
    with pytest.raises(TypeError, match="step: 3 is neither a range"):
        tuned(space={"step": 3})
