"""Learned soft-thresholding for a dictionary of your own: sparse codes, nonnegative ones, and the lasso."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import torch

__all__ = ["SoftThresholding", "alista_matrix", "draw_codes"]


def _dictionary(D: Any) -> np.ndarray[Any, np.dtype[np.float64]]:
    array = np.asarray(D.detach().cpu() if isinstance(D, torch.Tensor) else D)
    if array.ndim != 2 or array.dtype.kind not in "iuf" or 0 in array.shape:
        raise ValueError(f"dictionary: is of {array.dtype} with shape {array.shape}; a matrix, measurements x variables, is needed")
    array = array.astype(np.float64)
    if not np.isfinite(array).all():
        raise ValueError("dictionary: an entry is not finite")
    if not np.linalg.norm(array, axis=0).all():
        raise ValueError(f"dictionary: column {int(np.argmin(np.linalg.norm(array, axis=0)))} is 0")
    return array


def alista_matrix(dictionary: Any) -> np.ndarray[Any, np.dtype[np.float64]]:
    """ALISTA's W: the minimizer of ||W' D||_F with w_i' d_i = 1 for every column. J. Liu et al., ICLR 2019.

    (D D')^+ d_i, scaled; a column whose least-squares weight vanishes does not exist for d_i in the range of D.
    """
    D = _dictionary(dictionary)
    W = np.linalg.lstsq(D @ D.T, D, rcond=None)[0]
    result: np.ndarray[Any, np.dtype[np.float64]] = W / np.sum(W * D, axis=0)
    return result


def draw_codes(
    dictionary: Any, count: int, *, density: float = 0.1, noise: float = 0.01, nonnegative: bool = False, seed: int = 0
) -> tuple[Any, Any]:
    """Measurements D z + noise and codes z, a row per sample, in single precision.

    Entries are normal (nonnegative: their absolute values), kept with probability `density`, no code is empty; the noise has `noise`
    times the standard deviation of its code's entries. Others of the same law: another seed.
    """
    D = _dictionary(dictionary)
    if not 0 < density <= 1:
        raise ValueError(f"density: {density!r} is outside (0, 1]")
    if not (math.isfinite(noise) and noise >= 0):
        raise ValueError(f"noise: {noise!r} is negative or not finite")
    random = np.random.default_rng(np.random.SeedSequence([seed, 0x636F6465]))
    shape = (count, D.shape[1])
    z = random.standard_normal(shape)
    z = np.abs(z) if nonnegative else z
    kept = random.random(shape) < density
    kept[np.arange(count), random.integers(D.shape[1], size=count)] |= ~kept.any(axis=1)
    z *= kept
    b = z @ D.T
    b += noise * z.std(axis=1, keepdims=True) * random.standard_normal(b.shape)
    return torch.from_numpy(b.astype(np.float32)), torch.from_numpy(z.astype(np.float32))


class SoftThresholding(torch.nn.Module):
    """z+ = soft(z + exp(g_k) W'(b - D z), exp(t_k)) for a dictionary of your own, measurements x variables.

    ``module(b, code)`` returns the NMSE in dB after each layer, for :func:`surefoot_fit.fit` with ``scale="linear"``. With `penalty`
    mu > 0 it is of the lasso 1/2 ||D z - b||^2 + mu |z|_1 instead: ``module(b)`` returns the duality gap over 1/2 ||b||^2, which
    needs no solution (and a scale of "log"); layers compute in single precision, the gap in double. `nonnegative`: codes are, and
    thresholding keeps what is above.

    Parameters
    ----------
    dictionary
        D, an array or a tensor.
    layers
        How many.
    learn
        ``steps``: step sizes and thresholds, W is :func:`alista_matrix` (of the lasso D / ||D||^2, so that layers begin as ISTA);
        ``matrix``: one W for all layers too.
    penalty, nonnegative
        See above.
    """

    def __init__(
        self, dictionary: Any, layers: int = 10, *, learn: str = "steps", penalty: float = 0.0, nonnegative: bool = False
    ) -> None:
        super().__init__()
        if not isinstance(layers, int) or isinstance(layers, bool) or layers < 1:
            raise ValueError(f"layers: {layers!r} must be a whole number >= 1")
        if learn not in ("steps", "matrix"):
            raise ValueError(f"learn: {learn!r} is not one of steps, matrix")
        if not (math.isfinite(penalty) and penalty >= 0):
            raise ValueError(f"penalty: {penalty!r} must be a number >= 0")
        D = _dictionary(dictionary)
        norm = float(np.linalg.norm(D, 2) ** 2)
        W = D / norm if penalty else alista_matrix(D)
        self.penalty, self.nonnegative = float(penalty), bool(nonnegative)
        self.register_buffer("D", torch.tensor(D, dtype=torch.float32))
        if penalty:  # D as it is given: gaps are of its problem, not of one rounded to single precision
            self.register_buffer("exact_D", torch.tensor(D, dtype=torch.float64), persistent=False)
        self.g = torch.nn.Parameter(torch.zeros(layers))
        first = penalty / norm if penalty else 0.6 * float(np.median(np.linalg.norm(D, axis=0)))
        decay = 1.0 if penalty else 0.7
        self.t = torch.nn.Parameter(torch.log(first * decay ** torch.arange(layers, dtype=torch.float32)))
        matrix = torch.tensor(W, dtype=torch.float32)
        if learn == "matrix":
            self.W = torch.nn.Parameter(matrix)
        else:
            self.register_buffer("W", matrix)

    def iterates(self, b: Any) -> list[Any]:
        """z after each layer."""
        if b.dim() != 2 or b.shape[1] != self.D.shape[0]:
            raise ValueError(f"measurements: have shape {tuple(b.shape)}, the dictionary {tuple(self.D.shape)}")
        z, found = b.new_zeros(len(b), self.D.shape[1]), []
        for g, t in zip(self.g, self.t):
            z = z + g.exp() * ((b - z @ self.D.T) @ self.W)
            z = (z - t.exp()).relu() if self.nonnegative else z.sign() * (z.abs() - t.exp()).relu()
            found.append(z)
        return found

    def forward(self, b: Any, code: Any = None) -> Any:
        if self.penalty:
            return torch.stack([self._gap(b, z) for z in self.iterates(b)], dim=1)
        if code is None or code.shape != (len(b), self.D.shape[1]):
            raise ValueError(f"codes: have shape {None if code is None else tuple(code.shape)}, {(len(b), self.D.shape[1])} is needed")
        rows = [((z - code) ** 2).sum(dim=1) / (code**2).sum(dim=1) for z in self.iterates(b)]
        return 10 * torch.stack(rows, dim=1).clamp_min(1e-30).log10()

    def _gap(self, b: Any, z: Any) -> Any:
        """(primal - dual) / (1/2 ||b||^2) in double precision: the difference of two numbers that nearly agree.

        The floor is far above the error of double precision, which grows with the entries that are added up, and far below any tolerance.
        """
        D, b, z = self.exact_D.double(), b.double(), z.double()
        residual = b - z @ D.T
        primal = 0.5 * (residual**2).sum(dim=1) + self.penalty * z.abs().sum(dim=1)
        correlation = residual @ D
        largest = (correlation if self.nonnegative else correlation.abs()).amax(dim=1)
        theta = residual * (self.penalty / largest.clamp_min(1e-30)).clamp_max(1.0)[:, None]
        squares = 0.5 * (b**2).sum(dim=1)
        dual = squares - 0.5 * ((b - theta) ** 2).sum(dim=1)
        return (primal - dual).clamp_min(1e-12 * squares) / squares
