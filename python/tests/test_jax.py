"""Bounds in JAX: values and derivatives, under jit, vmap and grad."""

import numpy as np
import pytest
from surefoot import bounds, pac_bayes

jax = pytest.importorskip("jax")
jax.config.update("jax_enable_x64", True)

import surefoot.jax as surefoot_jax  # noqa: E402

MEAN, ZETA, PRIOR, NU = np.array([0.1, -0.3, 0.2]), np.full(3, -4.0), np.zeros(3), np.array([-2.0])


def test_values_are_the_librarys():
    q = np.array([0.0, 0.1, 0.9])
    assert np.array_equal(jax.jit(surefoot_jax.kl_inverse)(q, 0.1), bounds.kl_inverse(q, 0.1))
    value = surefoot_jax.regularizer(MEAN, ZETA, PRIOR, NU, samples=100, delta=0.01)
    assert float(value) == pac_bayes.regularizer(MEAN, ZETA, PRIOR, NU, samples=100, delta=0.01)


def test_derivatives_are_the_librarys():
    _, dq, dc = bounds.kl_inverse_with_derivatives(0.1, 0.05)
    assert tuple(map(float, jax.grad(surefoot_jax.kl_inverse, (0, 1))(0.1, 0.05))) == pytest.approx((dq, dc))
    rows = jax.vmap(jax.grad(surefoot_jax.kl_inverse), (0, None))(np.array([0.1, 0.2]), 0.05)
    assert np.allclose(rows, bounds.kl_inverse_with_derivatives(np.array([0.1, 0.2]), 0.05)[1])


def test_a_training_loop_can_minimise_the_bound():
    def bound(w, zeta, nu):
        risk = jax.nn.sigmoid(4 * (w**2).sum() - 2)
        return surefoot_jax.kl_inverse(risk, surefoot_jax.regularizer(w, zeta, PRIOR, nu, samples=1000, delta=0.01))

    step = jax.jit(jax.value_and_grad(bound, (0, 1, 2)))
    point = [MEAN + 0.5, ZETA, NU]
    first, gradient = step(*point)
    for i in range(3):
        h = 1e-5
        moved = [x.copy() for x in point]
        moved[i][0] += h
        up = bound(*moved)
        moved[i][0] -= 2 * h
        assert float(gradient[i][0]) == pytest.approx(float((up - bound(*moved)) / (2 * h)), rel=1e-4, abs=1e-8)
    for _ in range(60):
        value, gradient = step(*point)
        point = [x - 0.2 * g for x, g in zip(point, gradient)]
    assert value < first - 0.1


@jax.tree_util.register_pytree_with_keys_class
class Layer:
    """As modules of equinox are: arrays, and leaves that are none."""

    def __init__(self, weight, activation):
        self.weight, self.activation = weight, activation

    def tree_flatten_with_keys(self):
        return [(jax.tree_util.GetAttrKey("weight"), self.weight), (jax.tree_util.GetAttrKey("activation"), self.activation)], None

    @classmethod
    def tree_unflatten(cls, _, children):
        return cls(*children)


def trees():
    random = np.random.default_rng(2)
    flax = {"dense": {"kernel": jax.numpy.asarray(random.normal(size=(2, 3))), "bias": jax.numpy.zeros(3)}}
    equinox = [Layer(jax.numpy.asarray(random.normal(size=(3, 2)), "float32"), np.tanh), Layer(jax.numpy.asarray(0.5), 7)]
    return {"flax": flax, "equinox": equinox}


@pytest.mark.parametrize("kind", ["flax", "equinox"])
def test_posteriors_come_from_trees_and_go_back(kind, tmp_path):
    tree = trees()[kind]
    posterior = surefoot_jax.from_tree(tree, log_variance=-8.0, prior=tree)
    assert set(posterior.mean) == {"flax": {"['dense']['kernel']", "['dense']['bias']"}, "equinox": {"[0].weight", "[1].weight"}}[kind]
    assert posterior.on_grid and posterior.kl() < 1
    posterior.save(tmp_path / "w.safetensors")
    back = surefoot_jax.to_tree(pac_bayes.Posterior.load(tmp_path / "w.safetensors").mean, tree)
    one, other = jax.tree_util.tree_leaves(tree), jax.tree_util.tree_leaves(back)
    assert len(one) == len(other)
    for a, b in zip(one, other):
        assert (np.array_equal(a, b) and a.dtype == b.dtype and a.shape == b.shape) if hasattr(a, "dtype") else a is b
    drawn = surefoot_jax.to_tree(posterior.sample(1), tree)
    assert not np.allclose(jax.tree_util.tree_leaves(drawn)[0], one[0])


def test_a_tree_is_calibrated_like_any_function():
    import surefoot

    tree = {"rate": jax.numpy.asarray([0.4, 0.5])}
    posterior = surefoot_jax.from_tree(tree, prior=tree)

    def run(weights, i):
        rate = surefoot_jax.to_tree(weights, tree)["rate"]
        return (1 + i % 3) * np.cumprod(np.abs(1 - np.tile(np.asarray(rate), 3)))

    certificate = surefoot.calibrate(posterior, run, samples=300, tolerances=[0.2], claims=["success"])
    assert certificate.verify() and certificate.success(6, 0.2).lower_bound > 0.5


def test_trees_that_do_not_fit_are_named():
    tree = trees()["flax"]
    weights = surefoot_jax.from_tree(tree).mean
    with pytest.raises(ValueError, match="weights: their blocks are"):
        surefoot_jax.to_tree({"other": np.ones(3)}, tree)
    with pytest.raises(ValueError, match="has 3 numbers, the array 4"):
        surefoot_jax.to_tree(weights, {"dense": {"kernel": tree["dense"]["kernel"], "bias": jax.numpy.zeros(4)}})
    with pytest.raises(ValueError, match="tree: has no array of real numbers"):
        surefoot_jax.from_tree({"steps": 3, "name": "x"})
    with pytest.raises(ValueError, match="prior: its blocks have other names or shapes"):
        surefoot_jax.from_tree(tree, prior={"dense": {"kernel": jax.numpy.ones((2, 3))}})
