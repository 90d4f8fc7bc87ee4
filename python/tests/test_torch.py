"""Bounds in PyTorch: values and derivatives."""

import numpy as np
import pytest
from surefoot import bounds, pac_bayes

torch = pytest.importorskip("torch")

import surefoot.torch as surefoot_torch  # noqa: E402

MEAN, ZETA, PRIOR, NU = np.array([0.1, -0.3, 0.2]), np.full(3, -4.0), np.zeros(3), np.array([-2.0])


def leaf(values):
    return torch.tensor(values, dtype=torch.float64, requires_grad=True)


def test_values_are_the_librarys():
    q = leaf([0.0, 0.1, 0.9])
    assert np.array_equal(surefoot_torch.kl_inverse(q, 0.1).detach().numpy(), bounds.kl_inverse([0.0, 0.1, 0.9], 0.1))
    value = surefoot_torch.regularizer(*map(leaf, (MEAN, ZETA, PRIOR, NU)), samples=100, delta=0.01)
    assert value.item() == pac_bayes.regularizer(MEAN, ZETA, PRIOR, NU, samples=100, delta=0.01)


def test_derivatives_against_differences():
    assert torch.autograd.gradcheck(surefoot_torch.kl_inverse, (leaf([[0.1], [0.4]]), leaf([0.05, 0.2])))
    point = tuple(map(leaf, (MEAN, ZETA, NU)))
    prior = torch.tensor(PRIOR)
    assert torch.autograd.gradcheck(
        lambda w, zeta, nu: surefoot_torch.regularizer(w, zeta, prior, nu, samples=10, delta=0.01), point
    )


def test_derivatives_are_finite_at_the_ends():
    q = leaf([0.0, 1.0])
    surefoot_torch.kl_inverse(q, leaf(0.0)).sum().backward()
    assert torch.isfinite(q.grad).all()


def test_single_precision_stays_single():
    q = torch.tensor([0.1, 0.2], requires_grad=True)
    p = surefoot_torch.kl_inverse(q, 0.1)
    p.sum().backward()
    assert p.dtype == q.grad.dtype == torch.float32


def test_numbers_alone_are_refused():
    with pytest.raises(TypeError, match="neither is a tensor"):
        surefoot_torch.kl_inverse(0.1, 0.1)
