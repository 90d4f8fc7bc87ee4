"""Closed loops: against a solution known in closed form, plants of any kind, the package, and what is refused."""

import numpy as np
import pytest
import surefoot


def family():
    """minimise v^2 / 2 + s v subject to |v| <= 1: v = -s, clipped."""
    return surefoot.QPFamily(np.eye(1), np.eye(1), [0.0], [-1.0], [1.0])


def states(rollouts=200, seed=0):
    return np.random.default_rng(seed).uniform(-3, 3, (rollouts, 1))


def loop(plant, **others):
    given = {"initial": states(), "input": np.eye(1), "q_state": np.eye(1), "ticks": 8, "limits": [5, 200],
             "state_bounds": ([-3.0], [3.0])}  # fmt: skip
    return surefoot.closed_loop(family(), plant, **{**given, **others})


def course(plant, initial, ticks):
    """The loop with exact solves, one rollout after the other."""
    whole = []
    for state in initial:
        passed = [state]
        for tick in range(ticks):
            control = np.clip(-passed[-1], -1, 1)
            passed.append(plant(passed[-1], control, tick))
        whole.append(passed)
    return np.array(whole)


PLANTS = {
    "linear": lambda s, v, tick: 0.9 * s + 0.5 * v,
    "nonlinear": lambda s, v, tick: np.sin(s) + 0.3 * v * np.cos(0.1 * tick),
}


@pytest.mark.parametrize("name", PLANTS)
@pytest.mark.parametrize("start", ["cold", "kept"])
def test_many_iterations_are_the_exact_loop(name, start):
    runs = loop(PLANTS[name], start=start)
    assert runs.states.shape == (200, 9, 1) and runs.inputs.shape == (200, 8, 1)
    np.testing.assert_allclose(runs.states, course(PLANTS[name], states(), 8), atol=1e-6)
    assert runs.failed_share.shape == (200, 2)


def test_matrices_are_the_function_that_they_stand_for():
    matrices, function = loop(([[0.9]], [[0.5]])), loop(PLANTS["linear"])
    np.testing.assert_array_equal(matrices.states, function.states)


def test_cost_is_compared_with_exact_solves():
    runs = loop(PLANTS["linear"], cost=([[1.0]], [[0.1]]))
    assert runs.exact_cost.shape == (200,)
    assert np.abs(runs.excess_cost[:, 1]).max() < 1e-3
    with pytest.raises(ValueError, match="excess_cost: there is no cost"):
        loop(PLANTS["linear"]).excess_cost  # noqa: B018


def test_the_smallest_limit_is_certified_and_verified(tmp_path):
    runs = loop(PLANTS["linear"])
    certificate = runs.certify("violation", tolerances=[1e-6], quantiles=[0.9])
    assert certificate.budget(1e-6, 0.9).steps == 5
    assert certificate.verify()
    for wrong in ({"steps": [5]}, {"claims": ["success"]}, {"choose": "after"}):
        with pytest.raises(ValueError, match=next(iter(wrong))):
            runs.certify("violation", **wrong)
    with pytest.raises(ValueError, match="not one of violation"):
        runs.certify("speed")


def test_sentences_speak_of_rollouts():
    for sentence in loop(PLANTS["linear"]).certify("violation", tolerances=[1e-6], quantiles=[0.9]).statements:
        assert "new rollouts of 8 ticks" in sentence and "problem" not in sentence and "after" not in sentence


def test_the_tube_is_that_of_order_statistics():
    runs = loop(PLANTS["nonlinear"], disturbance=("gaussian", [0.1]))
    tube = runs.certify_tube(0.9, confidence=0.95)
    assert tube.verify()
    rank = surefoot.bounds.order_statistic_rank(200, 0.9, 0.05 / 16)
    for tick in (1, 8):
        column = np.sort(runs.states[:, tick, 0])
        assert tube.quantile(tick, 0.9, variant="state 1").upper_bound == column[rank - 1]
        assert -tube.quantile(tick, 0.9, variant="state 1 times -1").upper_bound == column[200 - rank]
    rank = surefoot.bounds.order_statistic_rank(200, 0.95, 0.01 / 16)  # 0.99 needs more rollouts
    assert runs.certify_tube().quantile(8, 0.95, variant="state 1").upper_bound == np.sort(runs.states[:, 8, 0])[rank - 1]
    with pytest.raises(ValueError, match="1.5"):
        runs.certify_tube(1.5)


def test_rollouts_that_repeat_are_refused():
    random = np.random.default_rng(2)
    repeated = np.tile(random.normal(size=(800, 1)), (2, 1))
    runs = loop(PLANTS["linear"], disturbance=("rows", 0.1 * repeated))
    with pytest.raises(surefoot.InputError, match="not independent samples"):
        runs.certify("violation", tolerances=[1.0])
    with pytest.raises(surefoot.InputError, match="not independent samples"):
        runs.certify_tube()
    with pytest.raises(surefoot.InputError, match="not independent samples"):
        loop(PLANTS["linear"], initial=np.tile(states(100), (2, 1))).certify("violation", tolerances=[1.0])
    # Initial states are looked at beside disturbances, too.
    rows = random.normal(scale=0.1, size=(1600, 1))
    with pytest.raises(surefoot.InputError, match="not independent samples"):
        loop(PLANTS["linear"], initial=np.tile(states(100), (2, 1)), disturbance=("rows", rows)).certify("violation", tolerances=[1.0])
    assert loop(PLANTS["linear"], disturbance=("rows", rows)).certify("violation", tolerances=[1.0]).verify()
    one_start = loop(PLANTS["linear"], initial=np.full((200, 1), 0.123456789012345), disturbance=("gaussian", [0.1]))
    assert one_start.certify("violation", tolerances=[1.0]).verify()


def same_start(value=0.123456789012345):
    return np.full((200, 1), value)


def test_copies_of_one_rollout_are_one_sample():
    for start in (same_start(), same_start(0.5)):
        for plant in (PLANTS["nonlinear"], ([[0.5]], [[0.25]])):
            runs = loop(plant, initial=start)
            with pytest.raises(ValueError, match="all 200 went the same way, to the last digit: they are one sample"):
                runs.certify("violation", tolerances=[1.0], allow_dependence=True)
            with pytest.raises(ValueError, match="one sample"):
                runs.certify_tube()
    # One start, and a plant that draws numbers: a hundred of them twice, or one for each.
    noise = np.random.default_rng(5).normal(scale=0.1, size=(8, 200, 1))

    def copied(s, v, tick):
        return 0.9 * s + 0.5 * v + np.tile(noise[tick, :100], (2, 1))

    with pytest.raises(surefoot.InputError, match="not independent samples"):
        loop(copied, initial=same_start()).certify("violation", tolerances=[1.0])
    honest = loop(lambda s, v, tick: 0.9 * s + 0.5 * v + noise[tick], initial=same_start())
    assert honest.certify("violation", tolerances=[1.0]).verify()
    assert honest.certify_tube().verify()


def test_rollouts_are_not_certified_anytime_nor_their_mean():
    runs = loop(PLANTS["linear"])
    for wrong in ({"anytime": True}, {"range": (0, 10)}):
        with pytest.raises(ValueError, match=next(iter(wrong))):
            runs.certify("violation", tolerances=[1.0], **wrong)


def test_no_violation_is_said_in_words():
    certificate = loop(PLANTS["linear"]).certify("violation", tolerances=[1e-300], quantiles=[0.9])
    assert any("is below 1e-300 (violates no bound)" in sentence for sentence in certificate.statements)


def test_disturbances_are_those_of_the_seed():
    first, again, other = (loop(PLANTS["linear"], disturbance=("gaussian", [0.1]), seed=seed) for seed in (1, 1, 2))
    np.testing.assert_array_equal(first.states, again.states)
    assert not np.array_equal(first.states, other.states)


def test_rollouts_do_not_depend_on_their_number():
    few = loop(PLANTS["nonlinear"], initial=states()[:37], disturbance=("bounded", [0.2]))
    many = loop(PLANTS["nonlinear"], disturbance=("bounded", [0.2]))
    np.testing.assert_array_equal(few.states, many.states[:37])


@pytest.mark.parametrize("start", ["cold", "kept", "shifted"])
def test_the_package_does_the_same(start):
    pytest.importorskip("osqp")
    shift = ([0], [0]) if start == "shifted" else None
    assert loop(PLANTS["nonlinear"], start=start, shift=shift, limits=[7]).check_with_osqp(5) < 1e-9


def test_what_a_plant_may_not_give():
    def broken(s, v, tick):
        following = np.array(s)
        if tick == 3:
            following[11] = np.nan
        return following

    with pytest.warns(RuntimeWarning, match="of 200 rollouts were lost, .*: 1 with limit 5, 1 with limit 200"):
        runs = loop(broken)
    assert np.isinf(runs.violation[11]).all() and np.isfinite(np.delete(runs.violation, 11, axis=0)).all()
    assert (runs.failed_share[11] >= 5 / 8).all() and (runs.longest_series[11] >= 5).all()
    assert np.isnan(runs.states[11, 4:]).all() and np.isfinite(runs.states[11, :4]).all()
    claim = runs.certify("violation", tolerances=[1e9], quantiles=[0.5]).success(200, 1e9)
    assert claim.failures == 1
    with pytest.raises(ValueError, match="plant: state 0 of rollout 11 is nan after tick 3, must be finite"):
        loop(broken, diverging="refuse")
    with pytest.raises(ValueError, match="gave 3 x 1 at tick 0, must be 200 x 1"):
        loop(lambda s, v, tick: np.zeros((3, 1)))
    with pytest.raises(ZeroDivisionError):
        loop(lambda s, v, tick: 1 / 0)


@pytest.mark.parametrize(
    ("wrong", "words"),
    [
        ({"limits": [5, 5]}, "limits"),
        ({"limits": []}, "limits"),
        ({"initial": [1.0, 2.0]}, "initial"),
        ({"start": "shifted"}, "shift: is needed"),
        ({"start": "warm"}, "start"),
        ({"settings": {"adaptive_rho": True}}, "adaptive_rho"),
        ({"state_bounds": [1.0]}, "state_bounds: must be a pair"),
        ({"disturbance": ("uniform", [1.0])}, "disturbance"),
        ({"diverging": "ignore"}, "diverging"),
        ({"ticks": 0}, "ticks"),
    ],
)
def test_bad_arguments_are_named(wrong, words):
    with pytest.raises(ValueError, match=words):
        loop(PLANTS["linear"], **wrong)
