"""Training of PyTorch modules on the bound, what it leaves, and certificates from losses and charge alone."""

import hashlib
import json
import subprocess
import sys

import numpy as np
import pytest
import surefoot
from surefoot import bounds, pac_bayes

torch = pytest.importorskip("torch")

import surefoot.torch as surefoot_torch  # noqa: E402
import surefoot_fit  # noqa: E402


class Descent(torch.nn.Module):
    """Gradient descent on 1/2 z'Hz with learned steps; the metric is the distance from 0."""

    def __init__(self, steps=4):
        super().__init__()
        self.rate = torch.nn.Parameter(torch.full((steps,), 0.3))
        self.scale = torch.nn.Parameter(torch.eye(3))
        self.shift = torch.nn.Parameter(torch.tensor(0.0))

    def forward(self, start, curvature):
        z, rows = start, []
        for rate in self.rate:
            z = z - rate * (curvature * z) @ self.scale - 0.01 * self.shift
            rows.append((z**2).sum(dim=1).sqrt())
        return torch.stack(rows, dim=1)


def problems(count, seed=0):
    random = torch.Generator().manual_seed(seed)
    return torch.randn(count, 3, generator=random), 0.5 + torch.rand(count, 3, generator=random)


def fit(data=None, **options):
    torch.manual_seed(0)
    options = {"tolerance": 0.3, "epochs": 4, "batch": 128, "report": None, **options}
    return surefoot_fit.fit(Descent(), problems(600) if data is None else data, **options)


@pytest.fixture(scope="module", params=["weights", "blocks"])
def trained(request):
    return fit(variances=request.param)


@pytest.mark.parametrize("q", [0.0, 1e-6, 0.03, 0.5, 0.97, 1.0])
@pytest.mark.parametrize("c", [1e-9, 1e-3, 0.2, 3.0])
def test_the_bound_is_the_librarys(q, c):
    assert float(surefoot_fit.kl_inverse(q, c)) == pytest.approx(bounds.kl_inverse(q, c), rel=1e-9, abs=1e-13)
    if not 0 < q < 1:
        return
    point = tuple(torch.tensor(x, dtype=torch.float64, requires_grad=True) for x in (q, c))
    surefoot_fit.kl_inverse(*point).backward()
    _, dq, dc = pac_bayes.training_derivatives(q, c)
    assert [float(x.grad) for x in point] == pytest.approx([float(dq), float(dc)], rel=1e-6)


def test_numbers_digests_and_files_are_the_programs(trained, tmp_path, surefoot_program):
    posterior = trained.posterior()
    assert posterior.on_grid
    trained.save(tmp_path / "w.safetensors")
    written = (tmp_path / "w.safetensors").read_bytes()
    assert written == posterior._core.to_bytes() and trained.sha256() == hashlib.sha256(written).hexdigest()
    read = pac_bayes.Posterior.load(tmp_path / "w.safetensors")
    assert read.kl() <= trained.kl() <= read.kl() * (1 + 1e-8)
    exact = posterior.regularizer(600, 1e-5)
    assert exact <= trained.regularizer(600, 1e-5) * (1 + 1e-12) and trained.regularizer() == pytest.approx(exact, rel=1e-8)
    certificate = surefoot.calibrate(posterior, lambda w, i: [1.0], samples=600, tolerances=[0.5], claims=["success"])
    paid, charge = json.loads(certificate.to_json())["variants"][0]["pac_bayes"], trained.charge()
    assert paid["prior_sha256"] == charge["prior"]["sha256"]
    assert paid["positions"] == [block["position"] for block in charge["prior"]["blocks"]]
    certificate.save(tmp_path / "c.json")
    assert "VERIFIED" in surefoot_program("verify", "c.json", "--weights", "w.safetensors")


def test_kl_is_the_formula_in_exact_arithmetic(trained):
    total = 0.0
    for name, mean in trained.mean.items():
        nu = trained.prior_log_variance[name]
        zeta = np.broadcast_to(np.asarray(trained._full(name), dtype=np.longdouble), mean.shape)
        shift = np.asarray(mean, dtype=np.longdouble) - np.asarray(trained.prior_mean[name], dtype=np.longdouble)
        total += 0.5 * np.sum((np.exp(zeta) + shift**2) / np.exp(np.longdouble(nu)) - 1 + nu - zeta)
    assert total * (1 - 1e-12) <= trained.kl() <= float(total) * (1 + 1e-8)


def test_training_lowers_the_bound():
    fitted = fit(epochs=12)
    assert fitted.history[-1]["bound"] < fitted.history[0]["bound"]
    assert fitted.history[-1]["kl"] > 0


def test_a_split_prior_keeps_its_samples_out_of_the_bound():
    fitted = fit(prior_share=0.5, prior_epochs=2)
    assert (fitted.samples, fitted.prior_samples) == (300, 300)
    assert not torch.equal(fitted.prior_mean["rate"], Descent().rate.detach())
    assert len(fitted.losses(tuple(part[300:] for part in problems(600)))) == fitted.samples


def test_the_bound_is_made_from_its_own_samples_alone():
    fitted = fit(prior_share=0.5, prior_epochs=1, epochs=1)
    first, second = (tuple(part[place : place + 300] for part in problems(600)) for place in (0, 300))
    assert fitted.losses(second, draws=2).shape == (600, 4)
    shuffled = tuple(part.flip(0) for part in second)
    for other in (first, shuffled, problems(300, seed=1), problems(600)):
        with pytest.raises(ValueError, match="data: is not what the bound is of, the 300 samples that fit kept for it"):
            fitted.losses(other)
        assert len(fitted.losses(other, at_means=True)) == len(other[0])
    assert len(fitted.losses(first, purpose=surefoot_fit.HOLD_OUT_PURPOSE)) == 300


def test_weights_of_runs_are_drawn_anew_and_by_name(trained):
    data = tuple(part[:20] for part in problems(600))
    rows = trained.losses(data, draws=2, purpose="a test")
    assert rows.shape == (40, 4) and np.array_equal(rows, trained.losses(data, draws=2, batch=7, purpose="a test"))
    assert not np.isclose(rows[:20], rows[20:]).all(axis=1).any()
    assert not np.isclose(rows[:20], trained.losses(data, purpose=surefoot_fit.HOLD_OUT_PURPOSE)).all(axis=1).any()
    single = trained.losses(tuple(part[:1] for part in data), draws=4000, purpose="a test")[:, -1]
    many = [trained.draw(torch.Generator().manual_seed(i))["rate"].numpy() for i in range(4000)]
    deviation = np.exp(0.5 * trained._full("rate").numpy())
    assert np.allclose(np.std(many, axis=0), deviation, rtol=0.08) and np.std(single) > 0
    means = trained.losses(data, at_means=True)
    alone = trained.module()(*data).detach().numpy()
    assert np.allclose(means, alone, rtol=1e-6)


def test_a_checkpoint_goes_on_to_the_same_bits(tmp_path):
    file = tmp_path / "training.pt"
    fit(epochs=2, checkpoint=file)
    resumed, through = fit(epochs=4, checkpoint=file), fit(epochs=4)
    assert resumed.sha256() == through.sha256() and len(resumed.history) == 4
    with pytest.raises(ValueError, match="of another module"):
        surefoot_fit.fit(Descent(steps=5), problems(600), tolerance=0.3, batch=128, report=None, checkpoint=file)
    file.write_bytes(b"no checkpoint")
    with pytest.raises(ValueError, match=r"training\.pt: is not a checkpoint"):
        fit(checkpoint=file)


SPLIT = {"epochs": 1, "prior_share": 0.5, "prior_epochs": 2}


@pytest.mark.parametrize(
    ("change", "name"),
    [
        ({"data": tuple(part.flip(0) for part in problems(600))}, "data"),
        ({"data": problems(500)}, "data"),
        ({"data": problems(600, seed=1)}, "data"),
        ({"prior_share": 0.25}, "split"),
        ({"prior_share": 0.0}, "prior_epochs"),
        ({"prior_samples": 10}, "prior_samples"),
        ({"prior_rate": 0.1}, "prior_rate"),
        ({"tolerance": 0.1}, "tolerance"),
        ({"scale": "linear"}, "scale"),
        ({"width": 1.0}, "width"),
        ({"batch": 100}, "batch"),
        ({"draws": 2}, "draws"),
        ({"rate": 0.2}, "rate"),
        ({"variance_rate": 0.1}, "variance_rate"),
        ({"log_variance": -10.0}, "log_variance"),
        ({"move": lambda name: name != "shift"}, "move"),
        ({"prior_mean": {name: weight.detach() for name, weight in Descent().named_parameters()}}, "prior_mean"),
        ({"delta": 1e-3}, "delta"),
        ({"seed": 1}, "seed"),
    ],
)
def test_a_checkpoint_of_other_samples_or_options_is_refused_by_name(change, name, tmp_path):
    file = tmp_path / "training.pt"
    fit(**SPLIT, checkpoint=file)
    before = file.read_bytes()
    with pytest.raises(ValueError, match=rf"training\.pt is of another training: {name} was .*, is .*; remove it"):
        fit(**{**SPLIT, "epochs": 2, **change}, checkpoint=file)
    assert file.read_bytes() == before


def test_the_prior_is_not_trained_again(tmp_path):
    file, said = tmp_path / "training.pt", []
    fit(**SPLIT, checkpoint=file)
    module = Descent()
    options = {"tolerance": 0.3, "batch": 128, "report": said.append, "checkpoint": file}
    resumed = surefoot_fit.fit(module, problems(600), **options, **{**SPLIT, "epochs": 3})
    through = fit(**{**SPLIT, "epochs": 3})
    assert resumed.sha256() == through.sha256() and resumed.prior_samples == through.prior_samples == 300
    assert said and not any(line.startswith("prior ") for line in said)
    assert all(torch.equal(weight, resumed.prior_mean[name]) for name, weight in module.named_parameters())
    with pytest.raises(ValueError, match="is not what the bound is of"):
        resumed.losses(tuple(part[:300] for part in problems(600)))
    assert len(resumed.losses(tuple(part[300:] for part in problems(600)))) == 300


class Normed(Descent):
    """With buffers that training changes."""

    def __init__(self):
        super().__init__()
        self.norm = torch.nn.BatchNorm1d(3)

    def forward(self, start, curvature):
        return super().forward(self.norm(start), curvature)


def test_buffers_go_on_from_a_checkpoint(tmp_path):
    def trained(epochs, **more):
        torch.manual_seed(0)
        module = Normed()
        surefoot_fit.fit(module, problems(600), tolerance=0.3, batch=128, report=None, **{**SPLIT, "epochs": epochs}, **more)
        return {name: buffer.clone() for name, buffer in module.named_buffers()}

    trained(1, checkpoint=tmp_path / "training.pt")
    resumed, through = trained(3, checkpoint=tmp_path / "training.pt"), trained(3)
    assert all(torch.equal(resumed[name], through[name]) for name in through)


def test_divergence_is_named_and_keeps_the_checkpoint(tmp_path):
    class Failing(Descent):
        broken = False

        def forward(self, start, curvature):
            return super().forward(start, curvature) * (float("nan") if self.broken else 1.0)

    file, module = tmp_path / "training.pt", Failing()
    options = {"tolerance": 0.3, "batch": 128, "report": None, "checkpoint": file}
    surefoot_fit.fit(module, problems(600), epochs=1, **options)
    before = file.read_bytes()
    Failing.broken = True
    with pytest.raises(surefoot_fit.Diverged, match=r"fit: diverged at step \d of epoch 1: the loss is nan; try a rate below 0\.1, or"):
        surefoot_fit.fit(Failing(), problems(600), epochs=2, **options)
    assert file.read_bytes() == before and [path.name for path in tmp_path.iterdir()] == ["training.pt"]
    data = problems(600)
    data[0][5] = float("nan")
    with pytest.raises(surefoot_fit.Diverged, match=r"pretrain: diverged at step \d of epoch 0: the loss is nan; try a rate below"):
        surefoot_fit.pretrain(Descent(), data, epochs=1, report=None)


@pytest.mark.parametrize("shape", [(3, 1), (1, 4), (1, 1)])
def test_weights_that_are_repeated_in_memory_are_counted_one_by_one(shape):
    few = torch.arange(1.0, 1 + shape[0] * shape[1]).reshape(shape)

    def fitted(block):
        zero = torch.zeros(3, 4)
        return surefoot_fit.Fitted(None, {"w": block}, {"w": block - 9}, {"w": zero}, {"w": -2.0}, samples=100)

    repeated, plain = fitted(few.expand(3, 4)), fitted(few.expand(3, 4).clone())
    assert 0 in few.expand(3, 4).stride()
    assert repeated.kl() == plain.kl() and repeated.sha256() == plain.sha256()
    assert repeated.charge() == plain.charge()


def test_advice_where_hold_out_promises_more():
    said = []
    far = {name: weight.detach() + 0.5 for name, weight in Descent().named_parameters()}
    fit(problems(2000), epochs=1, tolerance=3.0, prior_mean=far, report=said.append)
    advice = said[-1]
    assert advice.startswith("advice: a hold-out would promise more. Of 2000 samples, 400 kept for one")
    counted, paid = (float(text.rstrip(",").split(",")[0]) for text in (advice.split("by ")[1], advice.split("by ")[2]))
    assert paid > 1.2 * counted
    said.clear()
    fit(problems(20000), epochs=1, batch=5000, log_variance=-14.0, report=said.append)
    assert not any("hold-out" in line for line in said)


@pytest.mark.parametrize(
    ("change", "says"),
    [
        ({"data": torch.zeros(10)[0]}, "data: must be a tensor or a tuple of tensors"),
        ({"data": (torch.zeros(10, 3), torch.zeros(9, 3))}, r"data: its tensors have \[10, 9\] entries"),
        ({"data": problems(7)}, "data: 7 samples are too few"),
        ({"tolerance": 0.0}, "tolerance: 0.0 must be a number > 0"),
        ({"epochs": 0}, "epochs: 0 must be a whole number >= 1"),
        ({"scale": "dB"}, "scale: 'dB' is not one of log, linear"),
        ({"variances": "one"}, "variances: 'one' is not one of weights, blocks"),
        ({"prior_share": 1.0}, r"prior_share: 1.0 is outside \[0, 1\)"),
        ({"prior_mean": {"rate": torch.zeros(4)}}, "prior_mean: its blocks are"),
        ({"rate": float("nan")}, "rate: nan must be a number > 0"),
    ],
)
def test_bad_input_is_named(change, says):
    with pytest.raises((ValueError, TypeError), match=says):
        fit(**change)


def test_modules_of_the_wrong_shape_are_named():
    class Whole(torch.nn.Module):
        def __init__(self):
            super().__init__()
            self.w = torch.nn.Parameter(torch.ones(2))

        def forward(self, x):
            return x.sum()

    with pytest.raises(ValueError, match=r"module: returned \(\) for 8 samples; a row for each is needed"):
        surefoot_fit.fit(Whole(), torch.ones(8, 2), tolerance=0.1, report=None)
    with pytest.raises(TypeError, match="module: int is not a torch.nn.Module"):
        surefoot_fit.fit(3, torch.ones(8, 2), tolerance=0.1)


# Certificates from the two files.


@pytest.fixture
def files(trained, tmp_path):
    np.save(tmp_path / "losses.npy", trained.losses(problems(600), draws=2))
    np.save(tmp_path / "hold_out.npy", trained.losses(problems(400, seed=1), purpose=surefoot_fit.HOLD_OUT_PURPOSE))
    np.save(tmp_path / "means.npy", trained.losses(problems(400, seed=1), at_means=True))
    trained.write_charge(tmp_path / "charge.json", tmp_path / "losses.npy", draws=2, about_it="a test")
    trained.save(tmp_path / "weights.safetensors")
    return tmp_path


DECLARED = {"tolerances": [0.1, 0.3, 1.0], "quantiles": [0.5, 0.9], "metric": "distance"}


def test_losses_and_charge_are_enough(files, trained, surefoot_program):
    certificate = surefoot.certify_charged(files / "losses.npy", files / "charge.json", **DECLARED)
    assert certificate.verify()
    weights = json.loads(certificate.to_json())["variants"][0]["weights"]
    assert weights["read"] is False and weights["sha256"] == trained.sha256() and weights["precision"] == "single"
    assert any("The weights themselves were not read" in sentence for sentence in certificate.assumptions)
    # The same numbers as with the weights at hand.
    losses = np.load(files / "losses.npy")
    rows = iter(losses)
    known = surefoot.calibrate(trained.posterior(), lambda w, i: next(rows), samples=600, draws=2, **DECLARED)
    assert not any("not read" in sentence for sentence in known.assumptions)
    for one, other in zip(certificate.claims, known.claims):
        assert type(one) is type(other) and one.delta == other.delta
        if hasattr(one, "failures"):
            assert one.failures == other.failures and other.lower_bound - 1e-8 <= one.lower_bound <= other.lower_bound
    certificate.save(files / "certificate.json")
    said = surefoot_program("verify", "certificate.json")
    assert "VERIFIED" in said and "the weights (check them with --weights)" in said
    assert "VERIFIED" in surefoot_program("verify", "certificate.json", "--weights", "weights.safetensors")
    fit(seed=1).save(files / "other.safetensors")
    surefoot_program("verify", "certificate.json", "--weights", "other.safetensors", code=1)


def test_hold_out_from_files(files):
    counted = surefoot.certify(np.load(files / "hold_out.npy"), names=["learned"], choose="before", **DECLARED)
    for guarantee, file in (("hold-out", "hold_out.npy"), ("hold-out-means", "means.npy")):
        certificate = surefoot.certify_charged(files / file, files / "charge.json", guarantee=guarantee, hold_out=range(400), **DECLARED)
        assert certificate.verify() and any("not read" in sentence for sentence in certificate.assumptions)
        if guarantee == "hold-out":
            assert [claim for claim in certificate.claims if claim in counted.claims] != []
            assert json.loads(certificate.to_json())["variants"][0]["weights"]["purpose"] == surefoot_fit.HOLD_OUT_PURPOSE
    ledger = {"ledger": files / "looks.jsonl", "family": "toy", "guarantee": "hold-out", "hold_out": range(400)}
    surefoot.certify_charged(files / "hold_out.npy", files / "charge.json", **ledger, **DECLARED)
    with pytest.raises(surefoot.InputError, match="looked at"):
        surefoot.certify_charged(files / "hold_out.npy", files / "charge.json", **ledger, **DECLARED)


def altered(files, change):
    content = json.loads((files / "charge.json").read_text())
    change(content)
    (files / "charge.json").write_text(json.dumps(content))


@pytest.mark.parametrize(
    ("change", "says"),
    [
        (lambda c: c.update(format="another"), "is not a 'surefoot charge 1'"),
        (lambda c: c.pop("prior"), "has no 'prior'"),
        (lambda c: c["prior"]["blocks"].clear(), "'blocks' is not a list of blocks"),
        (lambda c: c["prior"]["blocks"][0].update(kl=-1.0), "block 0: a KL divergence of -1"),
        (lambda c: c["prior"]["blocks"][0].update(position=0), "block 0: position 0 is below 1"),
        (lambda c: c["prior"]["blocks"][0].update(weights=10**9), "its blocks have"),
        (lambda c: c["weights"].update(sha256="abc"), "'abc' is not a SHA-256"),
        (lambda c: c["losses"].update(sha256="0" * 64), "losses.npy: has SHA-256"),
        (lambda c: c["losses"].update(draws=3), "has 1200 runs, .* says 600 x 3"),
        (lambda c: c.update(samples="many"), "'samples' is 'many', not a whole number"),
        (lambda c: c["prior"].update(b=50.0), "lambda_max = 100 and b = 50"),
    ],
)
def test_a_charge_that_cannot_be_is_refused(files, change, says):
    altered(files, change)
    with pytest.raises((surefoot.InputError, ValueError), match=says):
        surefoot.certify_charged(files / "losses.npy", files / "charge.json", **DECLARED)


def test_losses_that_are_no_table_are_refused(files):
    (files / "losses.npy").write_bytes(b"1,2,3\n")
    with pytest.raises(surefoot.InputError, match="losses.npy: is not a .npy table"):
        surefoot.certify_charged(files / "losses.npy", files / "charge.json", **DECLARED)
    np.save(files / "losses.npy", np.zeros(5))
    with pytest.raises(surefoot.InputError, match=r"shape \(5,\); a row per run"):
        surefoot.certify_charged(files / "losses.npy", files / "charge.json", **DECLARED)


def test_losses_that_are_nan_are_failures(files, trained):
    losses = np.load(files / "losses.npy")
    losses[:50, -1] = np.nan
    np.save(files / "losses.npy", losses)
    trained.write_charge(files / "charge.json", files / "losses.npy", draws=2)
    certificate = surefoot.certify_charged(files / "losses.npy", files / "charge.json", **DECLARED)
    assert certificate.success(4, 1.0).failures >= 50


# Modules and posteriors.


def test_posteriors_come_from_modules_and_go_back(tmp_path):
    module = Descent()
    posterior = pac_bayes.Posterior.from_module(module, log_variance=-8.0, prior=Descent())
    assert posterior.on_grid and posterior.mean["scale"].shape == (3, 3) and posterior.prior_mean["rate"][0] == np.float32(0.3)
    assert posterior.kl() < 1  # variances are the prior's up to the grid, means are its means
    posterior.save(tmp_path / "w.safetensors")
    back = pac_bayes.Posterior.load(tmp_path / "w.safetensors").to_module(Descent(steps=4))
    assert all(torch.equal(a, b) for a, b in zip(module.parameters(), back.parameters()))
    drawn = posterior.to_module(module, posterior.sample(1))
    assert not torch.equal(drawn.rate, module.rate) and torch.equal(module.rate, Descent().rate)
    with pytest.raises(ValueError, match=r"parameter 'rate' has shape \(5,\)"):
        posterior.to_module(Descent(steps=5))
    with pytest.raises(TypeError, match="module: int is not a torch.nn.Module"):
        pac_bayes.Posterior.from_module(3)
    with pytest.raises(ValueError, match="prior: its blocks have other names or shapes"):
        pac_bayes.Posterior.from_module(module, prior=torch.nn.Linear(2, 2))
    with pytest.raises(ValueError, match="log_variance: its blocks are"):
        pac_bayes.Posterior.from_module(module, log_variance={"rate": -8.0})


def test_calibration_of_a_module_one_by_one_and_in_batches(trained):
    posterior, data = trained.posterior(), problems(120)
    run = surefoot_torch.runs_of(trained.module(), data)
    options = {"samples": 120, "tolerances": [0.3], "quantiles": [0.5]}
    assert surefoot.calibrate(posterior, run, **options) == surefoot.calibrate(posterior, run, batch=50, **options)
    means = surefoot.calibrate(posterior, run, guarantee="hold-out-means", hold_out=range(120), batch=64, tolerances=[0.3])
    rows = trained.losses(data, at_means=True)
    assert means.success(4, 0.3).failures == int(np.sum(rows[:, -1] >= 0.3))
    with pytest.raises(ValueError, match="data: has 120 samples, sample 120 is asked for"):
        surefoot.calibrate(posterior, run, **{**options, "samples": 121})
    with pytest.raises(ValueError, match="weights: their blocks are"):
        run({"rate": np.ones(4)}, 0)


def test_surefoot_fit_needs_neither_the_extension_nor_surefoot():
    code = ("import sys, importlib.abc\n"
            "class Refuse(importlib.abc.MetaPathFinder):\n"
            "    def find_spec(self, name, path=None, target=None):\n"
            "        if name.split('.')[0] == 'surefoot': raise ImportError(name)\n"
            "sys.meta_path.insert(0, Refuse())\n"
            "import surefoot_fit; print(surefoot_fit.kl_inverse(0.1, 0.1).item())\n")  # fmt: skip
    result = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True)
    assert result.returncode == 0, result.stderr
    assert float(result.stdout) == pytest.approx(bounds.kl_inverse(0.1, 0.1))
