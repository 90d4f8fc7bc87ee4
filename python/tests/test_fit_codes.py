"""Learned soft-thresholding for dictionaries of one's own."""

import numpy as np
import pytest
import surefoot

torch = pytest.importorskip("torch")

import surefoot_fit  # noqa: E402
from surefoot_fit import SoftThresholding, alista_matrix, draw_codes  # noqa: E402

RANDOM = np.random.default_rng(5)
D = RANDOM.normal(size=(12, 24)) * RANDOM.uniform(0.5, 2.0, 24)


def test_alistas_matrix_is_the_minimizer():
    W = alista_matrix(D)
    assert np.allclose(np.sum(W * D, axis=0), 1)
    least = np.linalg.norm(W.T @ D)
    for _ in range(50):
        step = RANDOM.normal(size=W.shape)
        step -= D * (np.sum(step * D, axis=0) / np.sum(D * D, axis=0))  # keeps w_i' d_i = 1
        for size in (1e-3, -1e-3, 1.0):
            assert np.linalg.norm((W + size * step).T @ D) >= least - 1e-9


def test_codes_are_of_their_law():
    b, z = draw_codes(D, 4000, density=0.2, noise=0.05, seed=3)
    kept = z.numpy() != 0
    assert kept.any(axis=1).all() and kept.mean() == pytest.approx(0.2, abs=0.01)
    assert z.numpy()[kept].var() == pytest.approx(1, abs=0.05) and z.numpy()[kept].min() < 0
    noise = b.numpy() - z.numpy() @ D.T
    assert np.std(noise / z.numpy().std(axis=1, keepdims=True)) == pytest.approx(0.05, rel=0.05)
    again, other = draw_codes(D, 4000, density=0.2, noise=0.05, seed=3), draw_codes(D, 4000, density=0.2, noise=0.05, seed=4)
    assert torch.equal(again[1], z) and not torch.equal(other[1], z)
    assert draw_codes(D, 100, nonnegative=True)[1].min() == 0


def test_layers_are_their_formula():
    module = SoftThresholding(D, 3)
    b, code = draw_codes(D, 5)
    z, W = np.zeros((5, 24)), alista_matrix(D)
    rows = []
    for g, t in zip(module.g.detach().numpy(), module.t.detach().numpy()):
        v = z + np.exp(g) * (b.numpy() - z @ D.T) @ W
        z = np.sign(v) * np.maximum(np.abs(v) - np.exp(t), 0)
        rows.append(10 * np.log10(np.sum((z - code.numpy()) ** 2, axis=1) / np.sum(code.numpy() ** 2, axis=1)))
    assert np.allclose(module(b, code).detach().numpy(), np.array(rows).T, atol=1e-3)


@pytest.mark.parametrize("nonnegative", [False, True])
def test_the_gap_of_the_lasso_is_one(nonnegative):
    module = SoftThresholding(D, 4000, penalty=0.3, nonnegative=nonnegative).double()
    b, _ = draw_codes(D, 6, nonnegative=nonnegative)
    b = b.double()
    with torch.no_grad():
        iterates, gaps = module.iterates(b), module(b)

    def primal(z):
        return 0.5 * ((z @ module.D.T - b) ** 2).sum(dim=1) + 0.3 * z.abs().sum(dim=1)

    best = primal(iterates[-1])
    assert (gaps[:, -1] < 1e-3).all() and gaps[:, -1].median() < 1e-7
    for k in (0, 3, 30, 300):  # a gap bounds the suboptimality
        subopt = (primal(iterates[k]) - best) / (0.5 * (b**2).sum(dim=1))
        assert (gaps[:, k] >= subopt - 1e-9).all()
    assert not nonnegative or min(float(z.min()) for z in iterates) >= 0


@pytest.mark.parametrize("nonnegative", [False, True])
def test_the_gap_is_that_of_double_precision(nonnegative):
    """Single precision says 0 long before the gap is small, which would count as a success."""
    module = SoftThresholding(D, 3000, penalty=0.3, nonnegative=nonnegative)
    b, _ = draw_codes(D, 200, nonnegative=nonnegative, seed=8)
    with torch.no_grad():
        iterates, gaps = module.iterates(b), module(b).numpy()

    def gap(z, number):
        z, observed, A = (np.asarray(x, dtype=number) for x in (z, b, D))
        residual = observed - z @ A.T
        primal = number(0.5) * np.sum(residual**2, axis=1) + number(0.3) * np.abs(z).sum(axis=1)
        correlation = residual @ A if nonnegative else np.abs(residual @ A)
        theta = residual * np.minimum(1, number(0.3) / np.maximum(correlation.max(axis=1), number(1e-30)))[:, None]
        dual = number(0.5) * (np.sum(observed**2, axis=1) - np.sum((observed - theta) ** 2, axis=1))
        return np.maximum((primal - dual) / (number(0.5) * np.sum(observed**2, axis=1)), number(1e-12))

    for k in (0, 10, 300, 2999):
        assert gaps.dtype == np.float64 and np.allclose(gaps[:, k], gap(iterates[k], np.float64), rtol=1e-4, atol=1e-13)
    single = gap(iterates[-1], np.float32)
    assert ((single < 1e-9) & (gaps[:, -1] >= 1e-9)).any()


@pytest.mark.parametrize("kind", ["codes", "nonnegative", "lasso", "matrix"])
def test_training_and_a_certificate(kind, tmp_path):
    torch.manual_seed(0)
    nonnegative = kind == "nonnegative"
    penalty = 0.3 if kind == "lasso" else 0.0
    module = SoftThresholding(D, 6, penalty=penalty, nonnegative=nonnegative, learn="matrix" if kind == "matrix" else "steps")
    data, fresh, new = (draw_codes(D, 1500, density=0.08, nonnegative=nonnegative, seed=seed) for seed in (1, 2, 3))
    if penalty:
        data, fresh, new = data[0], fresh[0], new[0]
    how = {"scale": "log" if penalty else "linear", "report": None}

    def median(module):
        with torch.no_grad():
            return float(module(*(new if isinstance(new, tuple) else (new,)))[:, -1].median())

    before = median(module)
    surefoot_fit.pretrain(module, fresh, epochs=15, batch=100, rate=0.02 if kind != "matrix" else 0.005, **how)
    after = median(module)
    assert after < before * (0.9 if penalty else 1) - (0 if penalty else 1.0), (before, after)
    fitted = surefoot_fit.fit(module, data, tolerance=after + (2.0 if not penalty else after), epochs=2, prior_samples=1500,
                              width=1.0, rate=0.02, **how)  # fmt: skip
    np.save(tmp_path / "losses.npy", fitted.losses(data))
    fitted.write_charge(tmp_path / "charge.json", tmp_path / "losses.npy")
    tolerance = 2 * after if penalty else after + 2.0
    certificate = surefoot.certify_charged(tmp_path / "losses.npy", tmp_path / "charge.json", claims=["success"], steps=[6],
                                           tolerances=[tolerance], unit="" if penalty else "dB")  # fmt: skip
    claim = certificate.success(6, tolerance)
    share = float(np.mean(fitted.losses(new, purpose=surefoot_fit.HOLD_OUT_PURPOSE)[:, -1] < tolerance))
    assert certificate.verify() and 0.2 < claim.lower_bound < share + 0.03


@pytest.mark.parametrize(
    ("make", "says"),
    [
        (lambda: SoftThresholding(np.zeros(3)), r"dictionary: is of float64 with shape \(3,\)"),
        (lambda: SoftThresholding(np.array([[1.0, 0.0], [1.0, 0.0]])), "dictionary: column 1 is 0"),
        (lambda: SoftThresholding(np.full((2, 3), np.nan)), "dictionary: an entry is not finite"),
        (lambda: SoftThresholding(D, 0), "layers: 0 must be"),
        (lambda: SoftThresholding(D, learn="all"), "learn: 'all' is not one of"),
        (lambda: SoftThresholding(D, penalty=-1.0), "penalty: -1.0"),
        (lambda: SoftThresholding(D)(torch.zeros(4, 11), torch.zeros(4, 24)), r"measurements: have shape \(4, 11\)"),
        (lambda: SoftThresholding(D)(torch.zeros(4, 12), torch.zeros(4, 23)), r"codes: have shape \(4, 23\)"),
        (lambda: SoftThresholding(D)(torch.zeros(4, 12)), "codes: have shape None"),
        (lambda: draw_codes(D, 3, density=0.0), "density: 0.0"),
        (lambda: draw_codes(D, 3, noise=float("nan")), "noise: nan"),
    ],
)
def test_bad_input_is_named(make, says):
    with pytest.raises(ValueError, match=says):
        make()
