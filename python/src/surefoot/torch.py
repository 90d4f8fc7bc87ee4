"""Bounds for training loops in PyTorch: `kl_inverse` and `regularizer` as differentiable functions.

    loss = surefoot.torch.kl_inverse(surrogate_risk, surefoot.torch.regularizer(mean, log_variance, ...))
    loss.backward()

Values and derivatives are computed in double precision by the C++ library, on the CPU. Differentiable once.

`fit` trains a module on the bound on any device, with PyTorch alone (:mod:`surefoot_fit`); `runs_of` is its runs for
:func:`surefoot.calibrate`.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from . import _core
from ._optional import needed
from .pac_bayes import regularizer_with_gradient, training_derivatives

torch = needed("torch")

from surefoot_fit import Diverged, Fitted, fit, pretrain  # noqa: E402
from surefoot_fit.fitted import call_with, parts_of  # noqa: E402

__all__ = ["Diverged", "Fitted", "fit", "kl_inverse", "pretrain", "regularizer", "runs_of"]


def _numpy(tensor: Any) -> Any:
    return tensor.detach().to("cpu", torch.float64).numpy()


class _KlInverse(torch.autograd.Function):
    @staticmethod
    def forward(context: Any, q: Any, c: Any) -> Any:
        p, dq, dc = (torch.as_tensor(np.asarray(part)).to(q) for part in training_derivatives(_numpy(q), _numpy(c)))
        context.save_for_backward(dq, dc)
        return p

    @staticmethod
    @torch.autograd.function.once_differentiable
    def backward(context: Any, gradient: Any) -> Any:
        dq, dc = context.saved_tensors
        return gradient * dq, gradient * dc


class _Regularizer(torch.autograd.Function):
    @staticmethod
    def forward(context: Any, mean: Any, log_variance: Any, prior_log_variance: Any, prior_mean: Any, rest: Any) -> Any:
        value, *gradient = regularizer_with_gradient(
            _numpy(mean), _numpy(log_variance), _numpy(prior_mean), _numpy(prior_log_variance), **rest
        )
        context.save_for_backward(*(torch.as_tensor(part).to(mean) for part in gradient))
        return mean.new_tensor(value)

    @staticmethod
    @torch.autograd.function.once_differentiable
    def backward(context: Any, gradient: Any) -> Any:
        return (*(gradient * part for part in context.saved_tensors), None, None)


def kl_inverse(q: Any, c: Any) -> Any:
    """The largest p with kl(q||p) <= c; q and c tensors that broadcast, or numbers.

    Its derivatives are those of :func:`surefoot.pac_bayes.training_derivatives`: finite also at the ends.

    >>> import torch, surefoot.torch
    >>> risk = torch.tensor(0.1, dtype=torch.float64, requires_grad=True)
    >>> bound = surefoot.torch.kl_inverse(risk, 0.01)
    >>> bound.backward()
    >>> risk.grad.item() == surefoot.bounds.kl_inverse_with_derivatives(0.1, 0.01)[1]
    True
    """
    like = next((x for x in (q, c) if isinstance(x, torch.Tensor)), None)
    if like is None:
        raise TypeError("q, c: neither is a tensor; surefoot.bounds.kl_inverse takes numbers")
    q, c = (x if isinstance(x, torch.Tensor) else like.new_tensor(x) for x in (q, c))
    return _KlInverse.apply(*torch.broadcast_tensors(q, c))


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
    rest = {"samples": samples, "delta": delta, "groups": groups, "lambda_max": lambda_max, "b": b}
    return _Regularizer.apply(mean, log_variance, prior_log_variance, prior_mean, rest)


def runs_of(module: Any, data: Any) -> Callable[[Any, Any], Any]:
    """``run(weights, i)`` of a module for :func:`surefoot.calibrate`, with and without `batch`.

    `data` is a tensor or a tuple of tensors with an entry per sample; ``module(*batch)`` returns the metric of every sample of a
    batch, a number or one per step. Weights are mappings from names of parameters; runs of a batch that share the very same
    weights (hold-out-means) go through the module together.
    """
    parts = parts_of(data)
    own = {name: parameter for name, parameter in module.named_parameters() if parameter.requires_grad}

    def tensors(weights: Any) -> dict[str, Any]:
        if set(weights) != set(own):
            raise ValueError(f"weights: their blocks are {sorted(weights)}, the module's parameters {sorted(own)}")
        for name, block in weights.items():
            if np.size(block) != own[name].numel():
                raise ValueError(f"weights: block {name!r} has {np.size(block)} numbers, the parameter {own[name].numel()}")
        return {name: own[name].new_tensor(np.asarray(block)).reshape(own[name].shape) for name, block in weights.items()}

    def rows(weights: Any, indices: Any) -> Any:
        device = next(iter(own.values())).device
        chosen = torch.as_tensor(np.asarray(indices))
        if int(chosen.max()) >= len(parts[0]):
            raise ValueError(f"data: has {len(parts[0])} samples, sample {int(chosen.max())} is asked for")
        with torch.no_grad():
            return _numpy(call_with(module, tensors(weights), tuple(part[chosen].to(device) for part in parts)))

    def run(weights: Any, i: Any) -> Any:
        if not isinstance(weights, list):
            return rows(weights, [i])[0]
        if all(each is weights[0] for each in weights):
            return rows(weights[0], i)
        return np.concatenate([rows(each, [index]) for each, index in zip(weights, i)])

    return run
