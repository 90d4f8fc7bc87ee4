"""Bounds for training loops in JAX: `kl_inverse` and `regularizer` with derivatives of their own (custom_vjp).

    loss = lambda w, zeta: surefoot.jax.kl_inverse(risk(w), surefoot.jax.regularizer(w, zeta, ...))
    jax.grad(loss)(w, zeta)

Values and derivatives are computed in double precision by the C++ library, on the host, also under jit and vmap.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from . import _core
from ._optional import needed
from .pac_bayes import Posterior, regularizer_with_gradient, training_derivatives

jax = needed("jax")
jnp = needed("jax.numpy")

__all__ = ["from_tree", "kl_inverse", "regularizer", "to_tree"]


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


def _blocks(what: str, tree: Any) -> dict[str, Any]:
    """The arrays of real numbers of a tree by the names of their places; other leaves belong to the model."""
    blocks = {}
    for path, leaf in jax.tree_util.tree_flatten_with_path(tree)[0]:
        if isinstance(leaf, (jax.Array, np.ndarray)) and jnp.issubdtype(leaf.dtype, jnp.floating):
            blocks[jax.tree_util.keystr(path) or "weights"] = np.asarray(leaf, dtype=np.float64)
    if not blocks:
        raise ValueError(f"{what}: has no array of real numbers")
    return blocks


def from_tree(
    tree: Any,
    *,
    log_variance: float = -12.0,
    prior: Any = None,
    prior_log_variance: float | None = None,
    metadata: Mapping[str, str] | None = None,
) -> Posterior:
    """A :class:`surefoot.pac_bayes.Posterior` with the arrays of a tree as means: parameters of flax, a module of equinox.

    A block is an array, named by its place in the tree (``['dense']['kernel']``, ``.layers[0].weight``). `prior` is a tree of the
    same arrays [zero]. Prior variances are moved to the grid; without `prior_log_variance` they are the mean of s + (w - w0)^2.

    >>> import jax.numpy as jnp, surefoot.jax
    >>> tree = {"dense": {"kernel": jnp.ones((2, 3)), "bias": jnp.zeros(3)}}
    >>> posterior = surefoot.jax.from_tree(tree)
    >>> len(posterior), surefoot.jax.to_tree(posterior.mean, tree)["dense"]["kernel"].shape
    (9, (2, 3))
    """
    blocks = _blocks("tree", tree)
    before = {name: np.zeros_like(block) for name, block in blocks.items()} if prior is None else _blocks("prior", prior)
    return Posterior.from_blocks(
        blocks, log_variance=log_variance, prior_mean=before, prior_log_variance=prior_log_variance, metadata=metadata
    )


def to_tree(weights: Mapping[str, Any], like: Any) -> Any:
    """A tree as `like` with these weights in the place of its arrays: the means, or a draw, of a Posterior of `from_tree`."""
    wanted = _blocks("like", like)
    if set(weights) != set(wanted):
        raise ValueError(f"weights: their blocks are {sorted(weights)}, those of the tree {sorted(wanted)}")

    def replaced(path: Any, leaf: Any) -> Any:
        name = jax.tree_util.keystr(path) or "weights"
        if name not in wanted or not isinstance(leaf, (jax.Array, np.ndarray)):
            return leaf
        if np.size(weights[name]) != leaf.size:
            raise ValueError(f"weights: block {name!r} has {np.size(weights[name])} numbers, the array {leaf.size}")
        return jnp.asarray(np.reshape(weights[name], leaf.shape), leaf.dtype)

    return jax.tree_util.tree_map_with_path(replaced, like)
