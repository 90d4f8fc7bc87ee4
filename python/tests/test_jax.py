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
