"""PAC-Bayes bounds for learned optimizers: what training learned from its samples is accounted for.

Weights theta ~ N(w, diag s), blocks of them by name, are charged against a prior N(w0, Lambda), Lambda constant on each
block. Wrapped for automatic differentiation in :mod:`surefoot.torch` and :mod:`surefoot.jax`.
"""

from __future__ import annotations

import copy
import hashlib
import math
import os
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from . import _core
from ._arguments import brief, real_number, text
from .bounds import kl_inverse, kl_inverse_with_derivatives

__all__ = [
    "Posterior",
    "kl_inverse",
    "kl_inverse_with_derivatives",
    "regularizer",
    "regularizer_with_gradient",
    "training_derivatives",
]

Vector = npt.NDArray[np.float64]


def regularizer(
    mean: npt.ArrayLike,
    log_variance: npt.ArrayLike,
    prior_mean: npt.ArrayLike,
    prior_log_variance: npt.ArrayLike,
    *,
    samples: int,
    delta: float,
    groups: Sequence[int] | None = None,
    lambda_max: float = _core.defaults["lambda_max"],
    b: float = _core.defaults["b"],
) -> float:
    """B = (1/N) [ KL + sum_j 2 log a_j + J log(pi^2/6) + log(2 sqrt(N)/delta) ], rounded up.

    `mean`, `log_variance` and `prior_mean` have an entry per weight, `prior_log_variance` one per group; `groups` are the
    sizes of consecutive groups [one group]. a_j = b (log lambda_max - prior_log_variance_j), real during training;
    a certificate needs whole ones (:meth:`Posterior.rounded`). With probability 1 - delta over N samples, for all posteriors at
    once, the risk is at most kl_inverse(expected empirical risk, B).

    >>> round(regularizer([0.1, -0.2], [-4.0, -4.0], [0.0, 0.0], [-3.0], samples=1000, delta=1e-5), 5)
    0.0303
    """
    value, *_ = regularizer_with_gradient(
        mean, log_variance, prior_mean, prior_log_variance,
        samples=samples, delta=delta, groups=groups, lambda_max=lambda_max, b=b,
    )  # fmt: skip
    return value


def regularizer_with_gradient(
    mean: npt.ArrayLike,
    log_variance: npt.ArrayLike,
    prior_mean: npt.ArrayLike,
    prior_log_variance: npt.ArrayLike,
    *,
    samples: int,
    delta: float,
    groups: Sequence[int] | None = None,
    lambda_max: float = _core.defaults["lambda_max"],
    b: float = _core.defaults["b"],
) -> tuple[float, Vector, Vector, Vector]:
    """B and its derivatives by mean, log_variance and prior_log_variance.

    >>> B, d_mean, d_log_variance, d_prior = regularizer_with_gradient(
    ...     [0.1, -0.2], [-4.0, -4.0], [0.0, 0.0], [-3.0], samples=1000, delta=1e-5)
    >>> d_mean.round(6)
    array([ 0.002009, -0.004017])
    """
    sizes = [np.size(mean)] if groups is None else list(groups)
    return _core.regularizer_with_gradient(
        mean, log_variance, prior_mean, sizes, prior_log_variance, samples, delta, lambda_max, b
    )


def training_derivatives(q: npt.ArrayLike, c: npt.ArrayLike) -> tuple[Any, Any, Any]:
    """kl_inverse(q, c), and derivatives that are finite everywhere: taken with q in [1e-6, 1 - 1e-6], c >= 1e-12.

    >>> p, dq, dc = training_derivatives(0.0, 0.1)
    >>> bool(np.isfinite(dq) and np.isfinite(dc))
    True
    """
    edge = 1e-6
    inside = np.clip(np.asarray(q, dtype=np.float64), edge, 1 - edge)
    _, dq, dc = kl_inverse_with_derivatives(inside, np.maximum(np.asarray(c, dtype=np.float64), 1e-12))
    return kl_inverse(q, c), dq, dc


def _single(name: str, value: Any) -> float:
    return real_number(name, value.item() if isinstance(value, np.ndarray) and value.size == 1 else value)


def _numbers(name: str, given: npt.ArrayLike) -> Vector:
    array = np.asarray(given)
    if array.dtype.kind not in "iuf" or array.dtype.itemsize > 8:
        raise TypeError(f"{name}: {brief(given)} is not an array of real numbers")
    return array.astype(np.float64)


_EXAMPLES = {
    "mean": "{'layer': weights}",
    "log_variance": "{'layer': -6.0}",
    "prior_log_variance": "{'layer': -2.0}",
    "prior_mean": "{'layer': weights}",
    "metadata": "{'seen.first': '0'}",
}


def _parameters(what: str, module: Any) -> dict[str, Vector]:
    if not callable(getattr(module, "named_parameters", None)):
        raise TypeError(f"{what}: {type(module).__name__} is not a torch.nn.Module")
    found = {
        name: parameter.detach().cpu().double().numpy().copy()
        for name, parameter in module.named_parameters()
        if parameter.requires_grad
    }
    if not found:
        raise ValueError(f"{what}: has no parameter that requires a gradient")
    return found


def _by_name(what: str, given: Any, names: Mapping[str, Any]) -> dict[str, Any]:
    if not isinstance(given, Mapping):
        return dict.fromkeys(names, real_number(what, given))
    if set(given) != set(names):
        raise ValueError(f"{what}: its blocks are {sorted(given)}, the parameters {sorted(names)}")
    return dict(given)


class Posterior:
    """The weights of a learned optimizer, N(w, diag s), with the prior they are charged against.

    Parameters
    ----------
    mean
        Blocks of weights by name. All weights of a block share a prior variance.
    log_variance
        log s: the same names, arrays of the same shapes or single numbers.
    prior_log_variance
        One number per block.
    prior_mean
        As `mean`; it must not depend on the samples that the bound is made from [zero].
    lambda_max, b
        The grid of prior variances, lambda_max exp(-a/b), a = 1, 2, 3, ... A certificate needs the declared one, (100, 100),
        unless the prior mean was trained on other samples.
    metadata
        Texts to be kept with the weights.

    >>> posterior = Posterior({"step": [0.5]}, {"step": -6.0}, {"step": -2.0}).rounded()
    >>> posterior.sample(seed=1)["step"].shape
    (1,)
    >>> round(posterior.kl(), 4)
    2.4349
    """

    def __init__(
        self,
        mean: Mapping[str, npt.ArrayLike],
        log_variance: Mapping[str, npt.ArrayLike],
        prior_log_variance: Mapping[str, float],
        prior_mean: Mapping[str, npt.ArrayLike] | None = None,
        *,
        lambda_max: float = _core.defaults["lambda_max"],
        b: float = _core.defaults["b"],
        metadata: Mapping[str, str] | None = None,
    ) -> None:
        for what, given in (
            ("mean", mean), ("log_variance", log_variance), ("prior_log_variance", prior_log_variance),
            ("prior_mean", {} if prior_mean is None else prior_mean), ("metadata", {} if metadata is None else metadata)
        ):  # fmt: skip
            if not isinstance(given, Mapping) or not all(isinstance(name, str) for name in given):
                raise TypeError(f"{what}: {brief(given)} is not a dict by names of blocks, such as {_EXAMPLES[what]}")
            for name in given:
                text(f"{what}: a name", name)
        for name, value in (metadata or {}).items():
            text(f"metadata: {name}", value)
        if not mean:
            raise ValueError("mean: there is no block of weights")
        for what, named in (
            ("log_variance", log_variance), ("prior_log_variance", prior_log_variance), ("prior_mean", prior_mean)
        ):  # fmt: skip
            if named is not None and set(named) != set(mean):
                raise ValueError(f"{what}: its blocks are {sorted(named)}, those of mean {sorted(mean)}")
        arrays = {name: _numbers(f"mean: {name}", block) for name, block in mean.items()}
        self._shapes = {name: block.shape for name, block in arrays.items()}

        def flat(what: str, given: Mapping[str, npt.ArrayLike]) -> Vector:
            parts = []
            for name, shape in self._shapes.items():
                block = _numbers(f"{what}: {name}", given[name])
                if block.shape not in (shape, ()):
                    raise ValueError(f"{what}: block {name!r} has shape {block.shape}, must be {shape} or a single number")
                parts.append(np.broadcast_to(block, shape).ravel())
            return np.concatenate(parts)

        blocks = [(name, shape[0] if shape else 1, int(np.prod(shape[1:]))) for name, shape in self._shapes.items()]
        self._core = _core.Posterior(
            blocks,
            flat("mean", arrays),
            flat("log_variance", log_variance),
            flat("prior_mean", {name: 0.0 for name in mean} if prior_mean is None else prior_mean),
            np.array([_single(f"prior_log_variance: {name}", prior_log_variance[name]) for name in mean]),
            real_number("lambda_max", lambda_max),
            real_number("b", b),
            dict(metadata or {}),
        )

    @classmethod
    def from_module(
        cls,
        module: Any,
        *,
        log_variance: float | Mapping[str, npt.ArrayLike] = -12.0,
        prior_log_variance: float | Mapping[str, float] | None = None,
        prior: Any = None,
        metadata: Mapping[str, str] | None = None,
    ) -> Posterior:
        """The parameters of a ``torch.nn.Module`` as means, a block each: those that require a gradient.

        `log_variance` is one number, or one or an array by name. `prior`: a module of the same parameters, the prior means
        [zero]; `prior_log_variance` [of each block the mean of s + (w - w0)^2, the KL's minimizer] is moved to the grid.
        """
        return cls.from_blocks(
            _parameters("module", module), log_variance=log_variance, prior_log_variance=prior_log_variance,
            prior_mean=None if prior is None else _parameters("prior", prior), metadata=metadata,
        )  # fmt: skip

    @classmethod
    def from_blocks(
        cls,
        mean: Mapping[str, npt.ArrayLike],
        *,
        log_variance: float | Mapping[str, npt.ArrayLike] = -12.0,
        prior_mean: Mapping[str, npt.ArrayLike] | None = None,
        prior_log_variance: float | Mapping[str, float] | None = None,
        metadata: Mapping[str, str] | None = None,
    ) -> Posterior:
        """Blocks of weights with usual variances: see :meth:`from_module`, which has them from a module.

        >>> posterior = Posterior.from_blocks({"step": [0.5]}, prior_mean={"step": [0.4]})
        >>> posterior.on_grid, round(posterior.prior_log_variance["step"], 2)
        (True, -4.6)
        """
        weights = {name: np.asarray(block, dtype=np.float64) for name, block in mean.items()}
        before = {
            name: np.asarray(block, dtype=np.float64)
            for name, block in ({name: np.zeros(block.shape) for name, block in weights.items()} if prior_mean is None else prior_mean).items()
        }
        if {name: block.shape for name, block in before.items()} != {name: block.shape for name, block in weights.items()}:
            raise ValueError("prior: its blocks have other names or shapes than the weights")
        zeta = _by_name("log_variance", log_variance, weights)
        if prior_log_variance is None:
            nu = {
                name: math.log(np.mean(np.exp(np.asarray(zeta[name], dtype=np.float64)) + (block - before[name]) ** 2).item())
                for name, block in weights.items()
            }
        else:
            nu = _by_name("prior_log_variance", prior_log_variance, weights)
        return cls(weights, zeta, nu, before, metadata=metadata).rounded()

    def to_module(self, module: Any, weights: Mapping[str, npt.ArrayLike] | None = None) -> Any:
        """A copy of the ``torch.nn.Module`` with the means as its parameters, or with other `weights`: those of a draw.

        Also of weights that were read from a file, whose blocks have two dimensions.
        """
        own = _parameters("module", module)
        given = self.mean if weights is None else weights
        if set(own) != set(given):
            raise ValueError(f"module: its parameters are {sorted(own)}, the blocks are {sorted(given)}")
        copied = copy.deepcopy(module)
        parameters = dict(copied.named_parameters())
        for name, block in given.items():
            array = np.asarray(block, dtype=np.float64)
            if array.size != own[name].size:
                raise ValueError(f"module: parameter {name!r} has shape {own[name].shape}, the block {array.shape}")
            parameter = parameters[name]
            parameter.data = parameter.data.new_tensor(array.reshape(own[name].shape))
        return copied

    @classmethod
    def _of(cls, core: _core.Posterior, shapes: Mapping[str, tuple[int, ...]]) -> Posterior:
        posterior = cls.__new__(cls)
        posterior._core = core
        posterior._shapes = dict(shapes)
        return posterior

    def _blocks(self, flat: Vector) -> dict[str, Vector]:
        blocks = {}
        first = 0
        for name, shape in self._shapes.items():
            size = int(np.prod(shape))
            blocks[name] = flat[first : first + size].reshape(shape)
            first += size
        return blocks

    @property
    def mean(self) -> dict[str, Vector]:
        return self._blocks(self._core.mean)

    @property
    def log_variance(self) -> dict[str, Vector]:
        return self._blocks(self._core.log_variance)

    @property
    def prior_mean(self) -> dict[str, Vector]:
        return self._blocks(self._core.prior_mean)

    @property
    def prior_log_variance(self) -> dict[str, float]:
        return dict(zip(self._shapes, map(float, self._core.prior_log_variance)))

    @property
    def metadata(self) -> dict[str, str]:
        return self._core.metadata

    @property
    def _sha256(self) -> str:
        """Of the file that `save` writes."""
        return hashlib.sha256(self._core.to_bytes()).hexdigest()

    @property
    def on_grid(self) -> bool:
        """Whether every prior variance is a point of the grid, as certificates need it."""
        return self._core.on_grid()

    def __len__(self) -> int:
        return sum(rows * cols for _, rows, cols in self._core.blocks)

    def rounded(self) -> Posterior:
        """The same with every prior variance moved to the nearest point of the grid."""
        return Posterior._of(self._core.rounded(), self._shapes)

    def kl(self) -> float:
        """KL(posterior || prior), rounded up."""
        return self._core.kl()

    def regularizer(self, samples: int, delta: float) -> float:
        """B, see :func:`regularizer`."""
        return self._core.regularizer(samples, delta)

    def sample(self, seed: int, index: int = 0, purpose: str = "weights") -> dict[str, Vector]:
        """One draw of the weights: a function of (seed, purpose, index); streams of other names never overlap."""
        return self._blocks(self._core.draw(seed, purpose, index))

    def save(self, path: str | os.PathLike[str]) -> None:
        """Writes them in the safetensors format, as ``surefoot train`` does and ``surefoot verify --weights`` reads."""
        _core.write_file(Path(path), self._core.to_bytes())

    @classmethod
    def load(cls, path: str | os.PathLike[str]) -> Posterior:
        """Reads what `save` or ``surefoot train`` wrote; blocks have two dimensions then."""
        core = _core.Posterior.from_bytes(os.fspath(path), Path(path).read_bytes())
        return cls._of(core, {name: (rows, cols) for name, rows, cols in core.blocks})
