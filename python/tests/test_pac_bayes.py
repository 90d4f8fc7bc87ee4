"""PAC-Bayes: the regularizer and its derivatives, posteriors and their files, calibration of any function."""

import json
import math

import numpy as np
import pytest
import surefoot
from surefoot import pac_bayes

RANDOM = np.random.default_rng(0)
MEAN, ZETA, PRIOR = RANDOM.normal(size=7), RANDOM.normal(-3, 1, 7), RANDOM.normal(size=7)
GROUPS, NU = [3, 4], np.array([-1.0, -2.5])


def formula(mean, zeta, nu, samples=500, delta=1e-3):
    """B = (1/N) [ KL + sum_j 2 log a_j + J log(pi^2/6) + log(2 sqrt(N)/delta) ]."""
    spread = np.repeat(np.exp(nu), GROUPS)
    kl = 0.5 * np.sum((np.exp(zeta) + (mean - PRIOR) ** 2) / spread - 1 + np.log(spread) - zeta)
    a = 100 * (math.log(100) - nu)
    rest = np.sum(2 * np.log(a)) + len(nu) * math.log(math.pi**2 / 6) + math.log(2 * math.sqrt(samples) / delta)
    return (kl + rest) / samples


def test_regularizer_is_its_formula():
    value = pac_bayes.regularizer(MEAN, ZETA, PRIOR, NU, groups=GROUPS, samples=500, delta=1e-3)
    wanted = formula(MEAN, ZETA, NU)
    assert wanted <= value * (1 + 1e-12) and value == pytest.approx(wanted, rel=1e-11)


def test_derivatives_of_the_regularizer():
    _, *gradients = pac_bayes.regularizer_with_gradient(MEAN, ZETA, PRIOR, NU, groups=GROUPS, samples=500, delta=1e-3)
    for position, (point, gradient) in enumerate(zip((MEAN, ZETA, NU), gradients)):
        for i in range(len(point)):
            moved = [MEAN.copy(), ZETA.copy(), NU.copy()]
            h = 1e-6
            moved[position][i] += h
            up = formula(*moved)
            moved[position][i] -= 2 * h
            assert gradient[i] == pytest.approx((up - formula(*moved)) / (2 * h), rel=1e-5, abs=1e-9)


@pytest.mark.parametrize(
    ("change", "error", "says"),
    [
        ({"mean": MEAN[:3]}, ValueError, "7"),
        ({"log_variance": ZETA[None]}, ValueError, "one-dimensional"),
        ({"groups": [3, 3]}, ValueError, "groups hold 6 weights of 7"),
        ({"samples": 3}, ValueError, "samples: 3"),
        ({"delta": 0.0}, ValueError, "delta: 0"),
        ({"prior_log_variance": [9.0, 9.0]}, ValueError, "lambda_max"),
        ({"mean": MEAN.astype(complex)}, TypeError, "mean: dtype complex128"),
    ],
)
def test_wrong_arguments_are_named(change, error, says):
    arguments = {"mean": MEAN, "log_variance": ZETA, "prior_mean": PRIOR, "prior_log_variance": NU, "groups": GROUPS,
                 "samples": 500, "delta": 1e-3, **change}  # fmt: skip
    with pytest.raises(error, match=says):
        pac_bayes.regularizer(**arguments)


@pytest.mark.parametrize(
    ("change", "says"),
    [
        ({"mean": [0.5]}, r"mean: \[0.5\] is not a dict by names of blocks, such as {'layer': weights}"),
        ({"prior_log_variance": -2.0}, "prior_log_variance: -2.0 is not a dict by names of blocks, such as {'layer': -2.0}"),
        ({"mean": {"step": ["a"]}}, r"mean: step: \['a'\] is not an array of real numbers"),
        ({"log_variance": {"step": [1j]}}, "log_variance: step: .* is not an array of real numbers"),
        ({"log_variance": {"step": [-6.0, -6.0]}}, r"block 'step' has shape \(2,\), must be \(1,\) or a single number"),
        ({"prior_log_variance": {"other": -2.0}}, r"prior_log_variance: its blocks are \['other'\], those of mean \['step'\]"),
    ],
)
def test_wrong_posteriors_are_named(change, says):
    arguments = {"mean": {"step": [0.5]}, "log_variance": {"step": -6.0}, "prior_log_variance": {"step": -2.0}, **change}
    with pytest.raises((ValueError, TypeError), match=says):
        pac_bayes.Posterior(**arguments)


def posterior(log_variance=-9.0, **grid):
    mean = {"rates": np.full((2, 3), 0.5), "shift": np.array(0.1)}
    return pac_bayes.Posterior(
        mean, dict.fromkeys(mean, log_variance), {"rates": -1.0, "shift": -4.0}, {"rates": np.full((2, 3), 0.4), "shift": 0.0},
        metadata={"model": "toy"}, **grid,
    )  # fmt: skip


def test_posteriors_keep_their_blocks(tmp_path):
    weights = posterior().rounded()
    assert not posterior().on_grid and weights.on_grid and len(weights) == 7
    assert weights.mean["rates"].shape == (2, 3) and weights.mean["shift"].shape == ()
    assert weights.sample(5, 3)["rates"].shape == (2, 3)
    weights.save(tmp_path / "weights.safetensors")
    again = pac_bayes.Posterior.load(tmp_path / "weights.safetensors")
    assert again.metadata["model"] == "toy" and again.kl() == weights.kl()
    assert np.array_equal(again.log_variance["rates"], weights.log_variance["rates"])
    assert again.prior_log_variance == weights.prior_log_variance
    assert again.prior_mean["rates"][0, 0] == 0.4


def test_draws_are_named_by_seed_purpose_and_index():
    weights = posterior(-2.0)
    first = weights.sample(1, 0, "a")["rates"]
    assert np.array_equal(first, weights.sample(1, 0, "a")["rates"])
    for other in (weights.sample(2, 0, "a"), weights.sample(1, 1, "a"), weights.sample(1, 0, "b")):
        assert not np.isclose(first, other["rates"]).any()
    many = np.array([weights.sample(7, i)["rates"] for i in range(4000)])
    assert np.allclose(many.mean(axis=0), 0.5, atol=5 * np.exp(-1) / np.sqrt(4000))
    assert np.allclose(many.var(axis=0), np.exp(-2), rtol=0.15)


def gradient_descent(weights, i):
    """Two rates in turn on 1/2 z^2 from a start that depends on the sample."""
    rates = np.tile(weights["rates"].mean(axis=1), 5)
    start = 1 + (i * 0.37) % 3
    return start * np.cumprod(np.abs(1 - rates))


def test_calibration_of_any_function(surefoot_program, tmp_path):
    weights = posterior().rounded()
    certificate = surefoot.calibrate(weights, gradient_descent, samples=3000, metric="distance", tolerances=[1e-2, 0.1],
                                     quantiles=[0.5, 0.9], name="two rates", record={"trained": "by hand"})  # fmt: skip
    content = json.loads(certificate.to_json())
    variant = content["variants"][0]
    assert variant["pac_bayes"]["kl"] == weights.kl()
    assert variant["pac_bayes"]["runs"] == 3000
    assert certificate.run == {"trained": "by hand"}
    claim = certificate.success(10, 1e-2)
    assert 0.9 < claim.lower_bound < claim.empirical
    guarantee = variant["pac_bayes"]
    runs_bound = surefoot.bounds.calibrated_risk(claim.failures, 3000, guarantee["omega_each"])
    assert claim.lower_bound == pytest.approx(1 - surefoot.bounds.pac_bayes_risk(runs_bound, guarantee["regularizer"]))
    weights.save(tmp_path / "weights.safetensors")
    assert certificate.verify(weights=tmp_path / "weights.safetensors")
    certificate.save(tmp_path / "certificate.json")
    assert "VERIFIED" in surefoot_program("verify", "certificate.json", "--weights", "weights.safetensors")


def test_batches_and_functions_that_draw():
    weights = posterior().rounded()
    means, deviations = weights.mean, {name: np.exp(zeta / 2) for name, zeta in weights.log_variance.items()}

    def draw(random):
        return {name: mean + deviations[name] * random.normal(size=mean.shape) for name, mean in means.items()}

    def run_batch(drawn, indices):
        return np.stack([gradient_descent(one, i) for one, i in zip(drawn, indices)])

    options = {"samples": 500, "draws": 3, "tolerances": [0.1], "quantiles": [0.5]}
    single = surefoot.calibrate(draw, gradient_descent, posterior=weights, **options)
    batched = surefoot.calibrate(draw, run_batch, posterior=weights, batch=64, **options)
    assert single == batched
    assert json.loads(single.to_json())["variants"][0]["pac_bayes"]["runs"] == 1500
    other = surefoot.calibrate(draw, gradient_descent, posterior=weights, seed=1, **options)
    assert other != single and other.verify()


def test_the_papers_design_shares_weights_among_samples(surefoot_program, tmp_path):
    weights = posterior(-3.0).rounded()
    seen = []

    def run(drawn, i):
        seen.append((float(drawn["shift"]), i))
        drawn["shift"][...] = np.nan  # what a run does to its weights is its own affair
        return gradient_descent(drawn, i)

    options = {"samples": 40, "draws": 6, "tolerances": [0.1], "quantiles": [0.5]}
    certificate = surefoot.calibrate(weights, run, design="paper", **options)
    assert [i for _, i in seen] == 6 * list(range(40))
    assert len({shift for shift, _ in seen}) == 6 and len({shift for shift, _ in seen[:40]}) == 1
    purpose = surefoot._core.paper_purpose
    assert [seen[40 * h][0] for h in range(6)] == [float(weights.sample(0, h, purpose)["shift"]) for h in range(6)]
    guarantee = json.loads(certificate.to_json())["variants"][0]["pac_bayes"]
    assert (guarantee["design"], guarantee["draws"], guarantee["runs"]) == ("paper", 6, 240)
    claim = certificate.success(10, 0.1)
    c = math.log(2 / guarantee["omega_each"]) / 6
    empirical = surefoot.bounds.kl_inverse(claim.failures / 240, c)
    assert claim.lower_bound == pytest.approx(1 - surefoot.bounds.kl_inverse(empirical, guarantee["regularizer"]))
    weights.save(tmp_path / "weights.safetensors")
    certificate.save(tmp_path / "certificate.json")
    assert "VERIFIED" in surefoot_program("verify", "certificate.json", "--weights", "weights.safetensors")


def test_hold_out_counts_fresh_samples_exactly(surefoot_program, tmp_path):
    weights = posterior(-3.0)
    options = {"hold_out": range(400), "tolerances": [0.05, 0.5], "quantiles": [0.5]}
    certificate = surefoot.calibrate(weights, gradient_descent, guarantee="hold-out", seed=3, **options)
    purpose = surefoot._core.hold_out_purpose
    traces = [gradient_descent(weights.sample(3, i, purpose), i) for i in range(400)]
    # Starts follow a rule, not a distribution: rows may look dependent.
    counted = surefoot.certify(
        traces, tolerances=[0.05, 0.5], quantiles=[0.5], names=["learned"], choose="before", allow_dependence=True
    )
    assert certificate.claims == counted.claims
    assert any("hold-out" in sentence for sentence in certificate.assumptions)
    assert any("draws its weights anew" in sentence for sentence in certificate.assumptions)
    weights.save(tmp_path / "weights.safetensors")
    certificate.save(tmp_path / "certificate.json")
    assert "VERIFIED" in surefoot_program("verify", "certificate.json", "--weights", "weights.safetensors")


def test_hold_out_at_the_means_draws_nothing():
    weights = posterior(-3.0)
    certificate = surefoot.calibrate(weights, gradient_descent, guarantee="hold-out-means", hold_out=range(50), tolerances=[0.1])
    traces = [gradient_descent(weights.mean, i) for i in range(50)]
    assert certificate.claims == surefoot.certify(traces, tolerances=[0.1], names=["learned"], choose="before").claims
    stated = json.loads(certificate.to_json())["variants"][0]["weights"]
    assert (stated["sampling"], stated["purpose"]) == ("means", "") and certificate.verify()
    assert not any("draws its weights anew" in sentence for sentence in certificate.assumptions)


def test_hold_out_of_any_function_needs_no_posterior():
    drawn = []

    def draw(random):
        drawn.append(random.uniform(0.3, 0.6))
        return {"rates": np.full((2, 3), drawn[-1])}

    certificate = surefoot.calibrate(draw, gradient_descent, guarantee="hold-out", hold_out=range(300), tolerances=[0.1])
    assert len(set(drawn)) == 300 and certificate.verify()
    assert any("hold-out" in sentence for sentence in certificate.assumptions)
    assert "weights" not in json.loads(certificate.to_json())["variants"][0]
    again = surefoot.calibrate(draw, gradient_descent, guarantee="hold-out", hold_out=range(300), tolerances=[0.1])
    assert again == certificate


def test_no_two_kinds_of_calibration_share_their_streams():
    def first_draw(weights, **options):
        seen = []
        surefoot.calibrate(
            weights, lambda drawn, i: (seen.append(drawn), [1.0])[1], claims=["success"], tolerances=[0.1], **options,
        )  # fmt: skip
        return seen[0]

    kinds = [{"samples": 20}, {"samples": 20, "design": "paper"}, {"guarantee": "hold-out", "hold_out": range(20)}]
    weights = posterior().rounded()
    of_posterior = [first_draw(weights, **kind)["rates"][0, 0] for kind in kinds]
    of_function = [first_draw(lambda random: random.normal(), posterior=weights, **kind) for kind in kinds]
    assert len({*of_posterior, *of_function}) == 6


def test_more_to_choose_from_costs_more():
    weights = posterior().rounded()
    options = {"samples": 500, "tolerances": [0.1], "quantiles": [0.5]}
    one = surefoot.calibrate(weights, gradient_descent, **options)
    six = surefoot.calibrate(weights, gradient_descent, candidates=6, prior_means=6, **options)
    assert six.success(10, 0.1).lower_bound < one.success(10, 0.1).lower_bound


FRESH = {"samples": None, "hold_out": range(20), "guarantee": "hold-out"}


@pytest.mark.parametrize(
    ("change", "says"),
    [
        ({"sample_weights": posterior()}, "rounded"),
        ({"sample_weights": lambda random: 0}, "posterior"),
        ({"posterior": posterior().rounded()}, "one already"),
        ({"run": lambda weights, i: 1.0}, "a number per step"),
        ({"run": lambda weights, i: np.ones(2 + i % 2)}, "a number per step"),
        ({"samples": 0}, "samples: 0"),
        ({"risk_method": "exact"}, "fixed"),
        ({"samples": 5}, "5 is below 8"),
        ({"guarantee": "certain"}, "guarantee: 'certain' is not one of pac-bayes, hold-out, hold-out-means"),
        ({"design": "random"}, "design: 'random'"),
        ({"draws": 0}, "draws: 0"),
        ({"batch": 0}, "batch: 0"),
        ({"samples": 2.5}, "samples: 2.5 is not a whole number"),
        ({"run": 3}, "run: 3 is not a function"),
        ({"sample_weights": 3}, "sample_weights: 3 is neither a Posterior nor a function"),
        ({"candidates": 0}, "candidates: 0"),
        ({**FRESH, "draws": 2}, "draws: 2 is for pac-bayes"),
        ({**FRESH, "design": "paper"}, "design: paper is for pac-bayes"),
        ({**FRESH, "guarantee": "hold-out-means", "sample_weights": lambda random: 0}, "needs a Posterior"),
        ({"guarantee": "hold-out"}, "hold_out: hold-out needs the range of the new samples"),
        ({"samples": None, "guarantee": "hold-out"}, "hold_out: hold-out needs the range"),
        ({**FRESH, "hold_out": 20}, "hold_out: 20 is not a range"),
        ({**FRESH, "hold_out": range(0, 20, 2)}, "consecutive"),
        ({**FRESH, "hold_out": range(-1, 20)}, "consecutive"),
        ({**FRESH, "ledger": "ledger.jsonl"}, "family: a ledger needs a name"),
        ({"hold_out": range(20)}, "are for hold-out"),
        ({"look_again": True}, "are for hold-out"),
        ({"samples": None}, "samples: how many"),
        ({"sample_weights": posterior(lambda_max=50.0).rounded()}, "lambda_max = 50 and b = 100, the declared one has 100"),
        ({"record": {"rate": float("nan")}}, "record: cannot be recorded as JSON"),
    ],
)
def test_wrong_calibrations_are_refused(change, says):
    arguments = {"sample_weights": posterior().rounded(), "run": gradient_descent, "samples": 20, **change}
    with pytest.raises((ValueError, TypeError), match=says):
        surefoot.calibrate(**arguments)


def test_a_run_that_returns_no_real_numbers_is_refused():
    with pytest.raises(TypeError, match="run: returned dtype complex128 for samples"):
        surefoot.calibrate(posterior().rounded(), lambda weights, i: np.ones(3) * 1j, samples=20)
