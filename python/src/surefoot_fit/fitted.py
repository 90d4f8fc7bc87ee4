"""What training leaves: a Gaussian over the weights of a module, its prior, and what a certificate needs of them."""

from __future__ import annotations

import copy
import hashlib
import json
import math
import os
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import Any

import numpy as np
import torch

LAMBDA_MAX, GRID_B = 100.0, 100.0
FORMAT = "surefoot charge 1"
PURPOSE = "calibration weights, drawn by PyTorch"
HOLD_OUT_PURPOSE = "hold-out weights, drawn by PyTorch"
_CHUNK = 1 << 20
_ALIGNMENT = 8


def parts_of(data: Any) -> tuple[Any, ...]:
    parts = tuple(data) if isinstance(data, (tuple, list)) else (data,)
    if not parts or not all(isinstance(part, torch.Tensor) and part.dim() for part in parts):
        raise TypeError("data: must be a tensor or a tuple of tensors with an entry per sample")
    if len({len(part) for part in parts}) != 1:
        raise ValueError(f"data: its tensors have {[len(part) for part in parts]} entries, a sample is one of each")
    return parts


def digest_of(parts: tuple[Any, ...]) -> str:
    """SHA-256 of the samples: types, shapes and numbers."""
    digest = hashlib.sha256()
    for part in parts:
        digest.update(f"{part.dtype} {tuple(part.shape)}\n".encode())
        rows = max(1, _CHUNK * len(part) // max(1, part.numel()))
        for first in range(0, len(part) if part.numel() else 0, rows):
            digest.update(part[first : first + rows].detach().cpu().reshape(-1).contiguous().view(torch.uint8).numpy().tobytes())
    return digest.hexdigest()


def call_with(module: Any, weights: Mapping[str, Any], batch: tuple[Any, ...]) -> Any:
    """module(*batch) with other weights: a row per sample, a column per step."""
    if hasattr(torch, "func"):
        rows = torch.func.functional_call(module, dict(weights), batch)
    else:
        from torch.nn.utils.stateless import functional_call

        rows = functional_call(module, dict(weights), batch)
    if not isinstance(rows, torch.Tensor) or rows.dim() not in (1, 2) or len(rows) != len(batch[0]):
        shape = tuple(rows.shape) if isinstance(rows, torch.Tensor) else type(rows).__name__
        raise ValueError(f"module: returned {shape} for {len(batch[0])} samples; a row for each is needed")
    return rows if rows.dim() == 2 else rows[:, None]


class Fitted:
    """Weights N(mean, diag exp(log_variance)), a block per parameter of the module, and the prior they are charged against.

    `prior_samples` samples, others than the ones a bound is made from, trained the prior mean. `history` has a dict per epoch.
    `samples_sha256` is the digest of the samples that a bound is made from; None: not known, and not compared.
    """

    def __init__(
        self,
        module: Any,
        mean: Mapping[str, Any],
        log_variance: Mapping[str, Any],
        prior_mean: Mapping[str, Any],
        prior_log_variance: Mapping[str, float],
        *,
        samples: int,
        prior_samples: int = 0,
        history: list[dict[str, Any]] | None = None,
        samples_sha256: str | None = None,
    ) -> None:
        self.positions = {name: grid_position(value) for name, value in prior_log_variance.items()}
        self.prior_log_variance = {name: math.log(LAMBDA_MAX) - a / GRID_B for name, a in self.positions.items()}
        self._module = module
        self.mean, self.prior_mean = dict(mean), dict(prior_mean)
        # A number stands for a block whose variances are its prior's.
        self.log_variance = {
            name: self.prior_log_variance[name] if value is None else value for name, value in log_variance.items()
        }
        self.samples, self.prior_samples = samples, prior_samples
        self.history = history or []
        self.samples_sha256 = samples_sha256

    def __len__(self) -> int:
        return sum(block.numel() for block in self.mean.values())

    def module(self) -> Any:
        """A copy of the module with the means."""
        module = copy.deepcopy(self._module)
        with torch.no_grad():
            for name, parameter in module.named_parameters():
                if name in self.mean:
                    parameter.copy_(self.mean[name])
        return module

    def draw(self, generator: Any) -> dict[str, Any]:
        """Weights of one draw."""
        return {name: drawn(mean, self.log_variance[name], generator) for name, mean in self.mean.items()}

    def losses(
        self,
        data: Any,
        *,
        draws: int = 1,
        at_means: bool = False,
        seed: int = 0,
        batch: int = 256,
        purpose: str = PURPOSE,
        told: Callable[[int, int], None] | None = None,
    ) -> np.ndarray:
        """The metric of runs, a row each: run i is of sample i mod N, with weights of its own, as certificates need them.

        The weights of run i depend on (seed, purpose, i), and on the kind of device. `at_means`: nothing is drawn, and samples are run in
        batches. `told` hears the runs that are done, and all, from time to time.

        The usual purpose is the bound: it is made from the samples that :func:`fit` kept for it, all of them in their order, and no
        others are taken. Runs on new samples have another purpose, :data:`HOLD_OUT_PURPOSE`, or are `at_means`.
        """
        parts = parts_of(data)
        if purpose == PURPOSE and not at_means and self.samples_sha256 not in (None, digest_of(parts)):
            raise ValueError(f"data: is not what the bound is of, the {self.samples} samples that fit kept for it, in their order; "
                             "for new samples say purpose=surefoot_fit.HOLD_OUT_PURPOSE")  # fmt: skip
        count, device = len(parts[0]), next(iter(self.mean.values())).device
        rows: np.ndarray | None = None
        at_once = batch if at_means else 1
        generator = torch.Generator(device=device)
        with torch.no_grad():
            for first in range(0, count * (1 if at_means else draws), at_once):
                place = first % count
                samples = tuple(part[place : place + at_once].to(device) for part in parts)
                if not at_means:
                    generator.manual_seed(stream_seed(purpose, seed, first))
                values = call_with(self._module, self.mean if at_means else self.draw(generator), samples)
                if rows is None:
                    rows = np.empty((count * (1 if at_means else draws), values.shape[1]))
                rows[first : first + len(values)] = values.to("cpu", torch.float64).numpy()
                if told is not None and first % 1000 < at_once:
                    told(first, len(rows))
        assert rows is not None
        return rows

    def kl_by_block(self) -> dict[str, float]:
        """KL of each block from its prior, rounded up. Its error is below 1e-9 of it: terms are not negative."""
        result = {}
        for name, mean in self.mean.items():
            nu, total = self.prior_log_variance[name], 0.0
            for w, zeta, w0 in zip(_chunks(mean), _chunks(self._full(name)), _chunks(self.prior_mean[name])):
                total += float((_exp_minus_linear(zeta - nu) + (w - w0) ** 2 * math.exp(-nu)).sum())
            result[name] = np.nextafter(0.5 * total * (1 + 1e-9), math.inf).item() if total else 0.0
        return result

    def kl(self) -> float:
        return math.fsum(self.kl_by_block().values()) * (1 + 1e-15)

    def regularizer(self, samples: int | None = None, delta: float = 1e-5) -> float:
        """B, to nearest."""
        from .bound import regularizer

        return float(regularizer(self.kl(), map(float, self.positions.values()), samples or self.samples, delta))

    def advice(self, delta: float = 1e-5) -> str:
        """A sentence where a hold-out would promise clearly more, "" where not: few samples, or many weights that moved.

        Compares, at the failures of the last epoch, kl_inverse(failures, B) with kl_inverse(failures, log(1/delta) / n) of n = N/5
        samples kept for a hold-out. To nearest, of one loss: certificates pay for each of theirs.
        """
        from .bound import kl_inverse

        fresh = self.samples // 5
        if not self.history or not fresh:
            return ""
        failures = min(1.0, self.history[-1]["failures"])
        paid = float(kl_inverse(failures, self.regularizer(delta=delta)))
        counted = float(kl_inverse(failures, -math.log(delta) / fresh))
        if paid <= 1.2 * counted:
            return ""
        return (f"advice: a hold-out would promise more. Of {self.samples} samples, {fresh} kept for one would bound failures by "
                f"{counted:.3f}, KL {self.kl():.1f} of {len(self)} weights by {paid:.3f}")  # fmt: skip

    def charge(self) -> dict[str, Any]:
        """All that a certificate needs of the weights, which need not be kept: KL, grid, digests of weights and prior."""
        digest = hashlib.sha256()
        sizes = [block.numel() for block in self.mean.values()]
        digest.update(np.array([LAMBDA_MAX, GRID_B], "<f8").tobytes() + np.array(sizes, "<i8").tobytes())
        for block in self.prior_mean.values():
            for chunk in _chunks(block):
                digest.update(chunk.numpy().astype("<f8").tobytes())
        return {
            "format": FORMAT,
            "weights": {"sha256": self.sha256(), "count": len(self), "precision": self._precision()},
            "prior": {
                "sha256": digest.hexdigest(), "lambda_max": LAMBDA_MAX, "b": GRID_B,
                "blocks": [
                    {"name": name, "weights": size, "position": self.positions[name], "kl": kl}
                    for size, (name, kl) in zip(sizes, self.kl_by_block().items())
                ],
            },
            "samples": self.samples,
            "prior_samples": self.prior_samples,
        }  # fmt: skip

    def write_charge(self, path: str | os.PathLike[str], losses: str | os.PathLike[str], *, draws: int = 1, seed: int = 0,
                     **about: Any) -> None:  # fmt: skip
        """`charge` as a file, with the digest of the file of losses that belong to it; `about` is kept as it is."""
        content = self.charge()
        content["losses"] = {
            "sha256": hashlib.sha256(Path(losses).read_bytes()).hexdigest(),
            "draws": draws, "seed": seed, "purpose": PURPOSE,
        }  # fmt: skip
        content["about"] = about
        write_atomically(path, [json.dumps(content, indent=1, allow_nan=False).encode() + b"\n"])

    def save(self, path: str | os.PathLike[str]) -> None:
        """Writes the weights as ``surefoot.pac_bayes.Posterior.save`` does; ``Posterior.load`` reads them."""
        write_atomically(path, self._bytes())

    def sha256(self) -> str:
        """Of the file that `save` writes."""
        digest = hashlib.sha256()
        for part in self._bytes():
            digest.update(part)
        return digest.hexdigest()

    def posterior(self) -> Any:
        """The same as a :class:`surefoot.pac_bayes.Posterior`; needs Surefoot."""
        from surefoot.pac_bayes import Posterior

        def arrays(blocks: Mapping[str, Any]) -> dict[str, Any]:
            return {name: np.asarray(_double(block).numpy()) for name, block in blocks.items()}

        return Posterior(
            arrays(self.mean),
            {name: self._full(name).to("cpu", torch.float64).numpy() for name in self.mean},
            self.prior_log_variance,
            arrays(self.prior_mean),
        )

    def _precision(self) -> str:
        return "double" if all(block.dtype == torch.float64 for block in self.mean.values()) else "single"

    def _full(self, name: str) -> Any:
        value = self.log_variance[name]
        if isinstance(value, torch.Tensor):
            return value
        return torch.tensor(value, dtype=torch.float64).expand(self.mean[name].shape)

    def _bytes(self) -> Iterator[bytes]:
        tensors: list[tuple[str, list[int], Any]] = []
        for name, mean in self.mean.items():
            rows = mean.shape[0] if mean.dim() else 1
            shape = [rows, mean.numel() // rows]
            tensors += [(f"{kind}.{name}", shape, block) for kind, block in
                        (("mean", mean), ("log_variance", self._full(name)), ("prior_mean", self.prior_mean[name]))]  # fmt: skip
        prior = torch.tensor(list(self.prior_log_variance.values()), dtype=torch.float64)
        tensors.append(("prior_log_variance", [len(prior)], prior))
        metadata = {
            "surefoot.b": format(GRID_B, ".17g"),
            "surefoot.blocks": json.dumps(list(self.mean), separators=(",", ":"), ensure_ascii=False),
            "surefoot.format": "surefoot-posterior 2",
            "surefoot.lambda_max": format(LAMBDA_MAX, ".17g"),
        }
        digest = hashlib.sha256()
        for part in _safetensors(metadata, tensors):
            digest.update(part)
        yield from _safetensors({**metadata, "surefoot.sha256": digest.hexdigest()}, tensors)


def grid_position(log_lambda: float) -> int:
    """a >= 1 of the nearest prior variance lambda_max exp(-a/b)."""
    return max(1, math.floor(GRID_B * (math.log(LAMBDA_MAX) - log_lambda) + 0.5))


def drawn(mean: Any, log_variance: Any, generator: Any) -> Any:
    noise = torch.randn(mean.shape, generator=generator, device=mean.device, dtype=mean.dtype)
    scale = (0.5 * log_variance).exp() if isinstance(log_variance, torch.Tensor) else math.exp(0.5 * log_variance)
    return mean + scale * noise


def stream_seed(purpose: str, seed: int, index: int) -> int:
    text = f"{purpose}\0{seed}\0{index}"
    return int.from_bytes(hashlib.sha256(text.encode()).digest()[:8], "little") >> 1


def write_atomically(path: str | os.PathLike[str], parts: Any) -> None:
    """All of it or nothing."""
    target = Path(path)
    beside = target.with_name(f".{target.name}.{os.getpid()}")
    try:
        with open(beside, "wb") as file:
            for part in parts:
                file.write(part)
        os.replace(beside, target)
    finally:
        beside.unlink(missing_ok=True)


def _double(tensor: Any) -> Any:
    return tensor.detach().to("cpu", torch.float64)


def _chunks(block: Any) -> Iterator[Any]:
    block = block.detach()
    # One number for all, and not a row or a column that is repeated.
    if block.numel() > 1 and all(stride == 0 for size, stride in zip(block.shape, block.stride()) if size > 1):
        for first in range(0, block.numel(), _CHUNK):
            yield _double(block[(0,) * block.dim()]).expand(min(_CHUNK, block.numel() - first))
        return
    flat = block.reshape(-1)
    for first in range(0, flat.numel(), _CHUNK):
        yield _double(flat[first : first + _CHUNK])


def _exp_minus_linear(t: Any) -> Any:
    """exp(t) - 1 - t >= 0, without cancellation near 0."""
    series = torch.zeros_like(t)
    for n in range(14, 2, -1):
        series = (series + 1) * t / n
    return torch.where(t.abs() > 0.2, torch.expm1(t) - t, 0.5 * t * t * (1 + series))


def _safetensors(metadata: Mapping[str, str], tensors: list[tuple[str, list[int], Any]]) -> Iterator[bytes]:
    """The bytes of the program's writer: its order of keys, its blanks."""
    header: dict[str, Any] = {"__metadata__": dict(sorted(metadata.items()))}
    offset = 0
    for name, shape, block in tensors:
        end = offset + 8 * block.numel()
        header[name] = {"dtype": "F64", "shape": shape, "data_offsets": [offset, end]}
        offset = end
    text = json.dumps(header, separators=(",", ":"), ensure_ascii=False).encode()
    text += b" " * (-len(text) % _ALIGNMENT)
    yield len(text).to_bytes(8, "little") + text
    for _, _, block in tensors:
        for chunk in _chunks(block):
            yield np.ascontiguousarray(chunk.numpy()).astype("<f8").tobytes()
