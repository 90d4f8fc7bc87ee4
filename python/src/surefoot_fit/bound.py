"""The PAC-Bayes bound as PyTorch computes it, for training: to nearest, differentiable, on any device."""

from __future__ import annotations

import math
from collections.abc import Iterable
from typing import Any

import torch

# As training_derivatives of surefoot.pac_bayes.
EDGE, LEAST_C = 1e-6, 1e-12


class _KlInverse(torch.autograd.Function):
    @staticmethod
    def forward(context: Any, q: Any, c: Any) -> Any:
        low, high = q.clone(), torch.ones_like(q)
        for _ in range(60):
            p = 0.5 * (low + high)
            inside = _kl(q, p) <= c
            low, high = torch.where(inside, p, low), torch.where(inside, high, p)
        context.save_for_backward(q, c)
        return high

    @staticmethod
    @torch.autograd.function.once_differentiable
    def backward(context: Any, gradient: Any) -> Any:
        q, c = context.saved_tensors
        q, c = q.clamp(EDGE, 1 - EDGE), c.clamp_min(LEAST_C)
        with torch.no_grad():
            p = _KlInverse.apply(q, c).clamp_max(1 - 2**-53)  # the derivatives of a bound that says nothing are finite too
            by_p = ((p - q) / (p * (1 - p))).clamp_min(1e-12)
            by_q = (q / p).log() - ((1 - q) / (1 - p)).log()
        return -gradient * by_q / by_p, gradient / by_p


def _kl(q: Any, p: Any) -> Any:
    return torch.xlogy(q, q / p) + torch.xlogy(1 - q, (1 - q) / (1 - p))


def kl_inverse(q: Any, c: Any) -> Any:
    """The largest p with kl(q||p) <= c, in double precision; q and c tensors, or numbers."""
    q, c = (torch.as_tensor(x, dtype=torch.float64) for x in (q, c))
    return _KlInverse.apply(*torch.broadcast_tensors(q, c))


def regularizer(kl: Any, positions: Iterable[Any], samples: int, delta: float) -> Any:
    """B = (1/N) [ KL + sum_j 2 log a_j + J log(pi^2/6) + log(2 sqrt(N)/delta) ], with real a_j."""
    total = kl + math.log(2 * math.sqrt(samples) / delta)
    for position in positions:
        total = total + 2 * torch.as_tensor(position, dtype=torch.float64).log() + math.log(math.pi**2 / 6)
    return total / samples
