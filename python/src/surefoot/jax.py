"""Bounds for training loops in JAX: `kl_inverse` and `regularizer` with derivatives of their own (custom_vjp).

    loss = lambda w, zeta: surefoot.jax.kl_inverse(risk(w), surefoot.jax.regularizer(w, zeta, ...))
    jax.grad(loss)(w, zeta)

Values and derivatives are computed in double precision by the C++ library, on the host, also under jit and vmap.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from . import _core
from ._optional import needed
from .pac_bayes import regularizer_with_gradient, training_derivatives

jax = needed("jax")
jnp = needed("jax.numpy")

__all__ = ["kl_inverse", "regularizer"]


def _on_host(function: Any, shapes: Any, *arguments: Any) -> Any:
    def call(*arrays: Any) -> Any:
        results = function(*(np.asarray(array, dtype=np.float64) for array in arrays))
        return tuple(np.asarray(result, dtype=shape.dtype) for result, shape in zip(results, shapes))

    return jax.pure_callback(call, shapes, *arguments, vmap_method="sequential")


def _kl_parts(q: Any, c: Any) -> Any:
    shape = jax.ShapeDtypeStruct(jnp.shape(q), jnp.result_type(q))
    return _on_host(training_derivatives, (shape, shape, shape), q, c)


@jax.custom_vjp
def _kl_inverse(q: Any, c: Any) -> Any:
    return _kl_parts(q, c)[0]


def _kl_forward(q: Any, c: Any) -> Any:
    p, dq, dc = _kl_parts(q, c)
    return p, (dq, dc)


def _kl_backward(derivatives: Any, gradient: Any) -> Any:
    dq, dc = derivatives
    return gradient * dq, gradient * dc


_kl_inverse.defvjp(_kl_forward, _kl_backward)


def kl_inverse(q: Any, c: Any) -> Any:
    """The largest p with kl(q||p) <= c; q and c arrays that broadcast, or numbers.

    Its derivatives are those of :func:`surefoot.pac_bayes.training_derivatives`: finite also at the ends.

    >>> import jax, surefoot.jax
    >>> slope = jax.grad(surefoot.jax.kl_inverse)(0.1, 0.01)
    >>> abs(float(slope) - surefoot.bounds.kl_inverse_with_derivatives(0.1, 0.01)[1]) < 1e-5
    True
    """
    dtype = jnp.result_type(float, q, c)
    q, c = jnp.broadcast_arrays(jnp.asarray(q, dtype), jnp.asarray(c, dtype))
    return _kl_inverse(q, c)


def regularizer(
    mean: Any,
    log_variance: Any,
    prior_mean: Any,
    prior_log_variance: Any,
    *,
    samples: int,
    delta: float,
    groups: Sequence[int] | None = None,
    lambda_max: float = _core.defaults["lambda_max"],
    b: float = _core.defaults["b"],
) -> Any:
    """B as :func:`surefoot.pac_bayes.regularizer`, differentiable by mean, log_variance and prior_log_variance."""
    sizes = None if groups is None else tuple(groups)

    def parts(w: Any, zeta: Any, w0: Any, nu: Any) -> Any:
        dtype = jnp.result_type(w)
        shapes = tuple(jax.ShapeDtypeStruct(shape, dtype) for shape in ((), w.shape, zeta.shape, nu.shape))

        def compute(*arrays: Any) -> Any:
            return regularizer_with_gradient(
                *arrays, samples=samples, delta=delta, groups=sizes, lambda_max=lambda_max, b=b
            )

        return _on_host(compute, shapes, w, zeta, w0, nu)

    @jax.custom_vjp
    def value(w: Any, zeta: Any, w0: Any, nu: Any) -> Any:
        return parts(w, zeta, w0, nu)[0]

    def forward(w: Any, zeta: Any, w0: Any, nu: Any) -> Any:
        B, d_mean, d_log_variance, d_prior = parts(w, zeta, w0, nu)
        return B, (d_mean, d_log_variance, jnp.zeros_like(w0), d_prior)

    def backward(derivatives: Any, gradient: Any) -> Any:
        return tuple(gradient * part for part in derivatives)

    value.defvjp(forward, backward)
    arguments = (jnp.asarray(x, float) for x in (mean, log_variance, prior_mean, prior_log_variance))
    return value(*arguments)
