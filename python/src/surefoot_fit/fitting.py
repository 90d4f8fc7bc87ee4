"""Training of a module: plainly (`pretrain`), and of a Gaussian over its weights on the PAC-Bayes bound (`fit`)."""

from __future__ import annotations

import math
import time
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import torch

from .bound import kl_inverse, regularizer
from .fitted import GRID_B, LAMBDA_MAX, Fitted, call_with, digest_of, drawn, parts_of, stream_seed

__all__ = ["Diverged", "fit", "pretrain"]


class Diverged(ArithmeticError):
    """A loss became infinite or NaN while training; checkpoints of finished epochs are kept."""


def _positive(name: str, value: float) -> None:
    if not (isinstance(value, (int, float)) and math.isfinite(value) and value > 0):
        raise ValueError(f"{name}: {value!r} must be a number > 0")


def _whole(name: str, value: int, least: int) -> None:
    if not isinstance(value, int) or isinstance(value, bool) or value < least:
        raise ValueError(f"{name}: {value!r} must be a whole number >= {least}")


def _level(last: Any, scale: str) -> Any:
    """The loss on the scale that training compares on."""
    return last.log() if scale == "log" else last


def _require_scale(scale: str) -> None:
    if scale not in ("log", "linear"):
        raise ValueError(f"scale: {scale!r} is not one of log, linear (for metrics in dB)")


def _weights_of(module: Any) -> dict[str, Any]:
    if not isinstance(module, torch.nn.Module):
        raise TypeError(f"module: {type(module).__name__} is not a torch.nn.Module")
    weights = {name: p for name, p in module.named_parameters() if p.requires_grad}
    if not weights:
        raise ValueError("module: has no parameter to be trained")
    for name, weight in weights.items():
        if not weight.is_floating_point() or weight.numel() == 0:
            raise ValueError(f"module: parameter {name!r} has no real numbers")
        if not bool(torch.isfinite(weight).all()):
            raise ValueError(f"module: parameter {name!r} is not finite before training")
    if not hasattr(torch, "func"):  # older versions replace one name only
        names = sum(len(part._parameters) - list(part._parameters.values()).count(None) for part in module.modules())
        if names != len(list(module.named_parameters())):
            raise ValueError("module: one parameter has two names; this needs PyTorch 2")
    return weights


def _require_finite(who: str, value: Any, epoch: int, step: int, advice: str) -> float:
    number = float(value)
    if not math.isfinite(number):
        raise Diverged(f"{who}: diverged at step {step} of epoch {epoch}: the loss is {number}; try {advice}")
    return number


def _read_checkpoint(path: str | Path, device: Any) -> dict[str, Any]:
    try:
        # Older versions cannot read numbers with weights_only.
        saved = torch.load(path, map_location=device, **({"weights_only": True} if hasattr(torch, "func") else {}))
    except Exception as error:  # whatever a damaged archive makes of its reader
        raise ValueError(f"checkpoint: {path}: is not a checkpoint of fit ({type(error).__name__})") from None
    needed = {"mean", "log_variance", "prior", "adam", "buffers", "shapes", "history", "of"}
    if not isinstance(saved, dict) or not needed <= set(saved):
        raise ValueError(f"checkpoint: {path}: is not a checkpoint of this version of fit")
    return saved


def _require_same(path: str | Path, saved: Mapping[str, Any], wanted: Mapping[str, Any]) -> None:
    for name in sorted(set(saved) | set(wanted)):
        if saved.get(name) != wanted.get(name):
            raise ValueError(
                f"checkpoint: {path} is of another training: {name} was {saved.get(name)!r}, is {wanted.get(name)!r}; "
                "remove it, or name another file"
            )


def pretrain(
    module: Any,
    data: Any,
    *,
    epochs: int = 20,
    steps: int = 100,
    batch: int = 256,
    rate: float = 1e-3,
    scale: str = "log",
    seconds: float = math.inf,
    seed: int = 0,
    report: Callable[[str], Any] | None = print,
) -> int:
    """Trains the module in place: Adam on the mean logarithm of the last column. Returns how many samples were used.

    `data` as of :func:`fit`, or a function: ``data(step)`` returns a new batch, and an epoch is `steps` of them. The rate falls from
    `rate` to 0 along half a cosine over the epochs, or over `seconds` if these end first.
    """
    _require_scale(scale)
    for name, value in (("epochs", epochs), ("steps", steps), ("batch", batch)):
        _whole(name, value, 1)
    _positive("rate", rate)
    weights = list(_weights_of(module).values())
    parts = None if callable(data) else parts_of(data)
    adam = torch.optim.Adam(weights, lr=rate)
    shuffled = torch.Generator().manual_seed(stream_seed("pretraining order", seed, 0))
    count, used, began = (0 if parts is None else len(parts[0])), 0, time.monotonic()
    per_epoch = steps if parts is None else math.ceil(count / batch)
    for epoch in range(epochs):
        total, share, done = 0.0, 0.0, 0
        order = torch.randperm(count, generator=shuffled)
        for step in range(per_epoch):
            share = max((epoch + step / per_epoch) / epochs, (time.monotonic() - began) / seconds)
            if share >= 1:
                break
            for group in adam.param_groups:
                group["lr"] = rate * 0.5 * (1 + math.cos(math.pi * share))
            chosen = order[step * batch : (step + 1) * batch]
            samples = data(epoch * per_epoch + step) if parts is None else tuple(part[chosen] for part in parts)
            samples = tuple(part.to(weights[0].device) for part in parts_of(samples))
            loss = _level(call_with(module, {}, samples)[:, -1], scale).mean()
            total += _require_finite("pretrain", loss.detach(), epoch, step, f"a rate below {rate:g}, or inputs of a smaller scale")
            adam.zero_grad(set_to_none=True)
            loss.backward()
            adam.step()
            used += len(samples[0])
            done += 1
        if report is not None and done:
            report(f"prior  epoch {epoch + 1:3d}/{epochs}  loss {total / done:.4f}")
        if share >= 1:
            break
    return used if parts is None else count


def fit(
    module: Any,
    data: Any,
    *,
    tolerance: float,
    scale: str = "log",
    width: float = 0.5,
    epochs: int = 20,
    batch: int = 256,
    draws: int = 1,
    rate: float = 0.1,
    variance_rate: float = 0.05,
    log_variance: float = -12.0,
    variances: str = "weights",
    move: Callable[[str], bool] | None = None,
    prior_mean: Mapping[str, Any] | None = None,
    prior_samples: int = 0,
    prior_share: float = 0.0,
    prior_epochs: int = 20,
    prior_rate: float = 1e-3,
    delta: float = 1e-5,
    seed: int = 0,
    checkpoint: str | Path | None = None,
    report: Callable[[str], Any] | None = print,
) -> Fitted:
    """A Gaussian over the weights of the module, trained by Adam on kl_inverse(softened failures at `tolerance`, B).

    Parameters
    ----------
    module
        On any device; it is trained there. It begins as the mean and, unless `prior_mean` says otherwise, as the prior mean.
    data
        A tensor or a tuple of tensors with an entry per sample: ``module(*batch)`` is called with some of them.
    tolerance, scale, width
        Failure is a metric in the last column at or above the tolerance; it is softened over `width`, on a logarithmic scale or (dB) a
        linear one.
    epochs, batch, draws
        Samples of a batch are shared out among `draws` drawn weights.
    rate
        Of the means: a step of Adam that moves all weights of a block moves them by rate * sqrt(lambda / weights of the block), which
        costs rate^2 / 2 of KL at most, whatever the size of the model.
    variance_rate, log_variance, variances
        Rate and start of the variances; ``weights``: one each, ``blocks``: one per block, which is its prior's too, for models of many
        millions of weights.
    move
        ``move(name)``: whether the means of a parameter leave the prior's [all].
    prior_mean, prior_samples
        Prior means, if they are others, and on how many other samples they (or the module as it comes) were trained.
    prior_share, prior_epochs, prior_rate
        Train the prior mean first, on this share of the samples (:func:`pretrain`); the bound is of the other ones, `fitted.samples`.
    delta
        Of the bound that training minimises; a certificate has its own.
    checkpoint
        A file, written after every epoch; if it exists, training resumes from it, and the prior is not trained again. It knows the
        samples by their SHA-256, and all options but `epochs`; one of other samples or options is refused.
    """
    _require_scale(scale)
    for name, value in (("epochs", epochs), ("batch", batch), ("draws", draws), ("prior_epochs", prior_epochs)):
        _whole(name, value, 1)
    _whole("prior_samples", prior_samples, 0)
    for name, number in (("width", width), ("rate", rate), ("variance_rate", variance_rate), ("prior_rate", prior_rate)):
        _positive(name, number)
    if scale == "log":
        _positive("tolerance", tolerance)
    if not 0 <= prior_share < 1:
        raise ValueError(f"prior_share: {prior_share!r} is outside [0, 1)")
    if not 0 < delta < 1:
        raise ValueError(f"delta: {delta!r} is outside (0, 1)")
    if variances not in ("weights", "blocks"):
        raise ValueError(f"variances: {variances!r} is not one of weights, blocks")
    weights = _weights_of(module)
    parts = parts_of(data)
    split = int(prior_share * len(parts[0]))
    saved: dict[str, Any] | None = None
    of: dict[str, Any] = {}
    if checkpoint is not None:
        # What prior, split and order depend on, before anything of it is computed again.
        of = {
            "data": digest_of(parts), "split": split, "tolerance": float(tolerance), "scale": scale, "width": float(width), "batch": batch,
            "draws": draws, "rate": float(rate), "variance_rate": float(variance_rate), "log_variance": float(log_variance),
            "variances": variances, "delta": float(delta), "seed": seed,
            "move": [name for name in weights if move is None or move(name)],
            "prior_mean": None if prior_mean is None else _digest_of_blocks(prior_mean),
            "prior_samples": prior_samples,
            "prior_epochs": prior_epochs if split else None, "prior_rate": float(prior_rate) if split else None,
            "buffers of the module": _digest_of_blocks(dict(module.named_buffers())),
        }  # fmt: skip
        if Path(checkpoint).exists():
            saved = _read_checkpoint(checkpoint, next(iter(weights.values())).device)
            if saved["shapes"] != _shapes(weights, variances == "blocks"):
                raise ValueError(f"checkpoint: {checkpoint} is of another module")
            _require_same(checkpoint, saved["of"], of)
    if split and saved is not None:
        prior_samples += split
        parts = tuple(part[split:] for part in parts)
    elif split:
        prior_samples += pretrain(module, tuple(part[:split] for part in parts), epochs=prior_epochs, batch=batch,
                                  rate=prior_rate, scale=scale, seed=seed, report=report)  # fmt: skip
        parts = tuple(part[split:] for part in parts)
    samples = len(parts[0])
    if samples < 8:
        raise ValueError(f"data: {samples} samples are too few for a bound, which needs 8")
    training = _Training(module, weights, prior_mean, log_variance, variances, move, rate, variance_rate)
    target = math.log(tolerance) if scale == "log" else tolerance
    history: list[dict[str, Any]] = []
    if saved is not None:
        training.restore(saved)
        history = saved["history"]
        if split and prior_mean is None:  # the module is left as pretraining leaves it
            with torch.no_grad():
                for name, weight in weights.items():
                    weight.copy_(saved["prior"][name])
    order, noise = torch.Generator(), torch.Generator(device=training.device)
    for epoch in range(len(history), epochs):
        order.manual_seed(stream_seed("order", seed, epoch))
        noise.manual_seed(stream_seed("training noise", seed, epoch))
        shuffled = torch.randperm(samples, generator=order)
        sums = [0.0, 0.0, 0.0]
        for step, first in enumerate(range(0, samples, batch)):
            chosen = shuffled[first : first + batch]
            last = torch.cat([
                training.run(tuple(part[some].to(training.device) for part in parts), noise)
                for some in chosen.chunk(min(draws, len(chosen)))
            ])  # fmt: skip
            risk = torch.sigmoid((_level(last, scale) - target) / width).to(torch.float64).mean()
            kl, positions = training.kl()
            bound = kl_inverse(risk, regularizer(kl, positions, samples, delta))
            advice = f"a rate below {rate:g}, or a log_variance below {log_variance:g}"
            _require_finite("fit", bound.detach(), epoch, step, advice)
            training.step(bound)
            for i, value in enumerate((bound, (last.detach() >= tolerance).double().mean(), kl)):
                sums[i] += float(value.detach()) * len(chosen) / samples
        history.append({"epoch": epoch, "bound": sums[0], "failures": sums[1], "kl": sums[2]})
        if report is not None:
            report(f"bound  epoch {epoch + 1:3d}/{epochs}  bound {sums[0]:.4f}  failures {sums[1]:.4f}  KL {sums[2]:.1f}")
        if checkpoint is not None:
            beside = Path(f"{checkpoint}.part")
            torch.save({**training.state(), "shapes": _shapes(weights, training.tied), "history": history, "of": of}, beside)
            beside.replace(checkpoint)
    fitted = training.fitted(samples, prior_samples, history, digest_of(parts))
    if report is not None and fitted.advice(delta):
        report(fitted.advice(delta))
    return fitted


def _shapes(weights: Mapping[str, Any], tied: bool) -> list[tuple[str, tuple[int, ...], bool]]:
    return [(name, tuple(block.shape), tied) for name, block in weights.items()]


def _digest_of_blocks(blocks: Mapping[str, Any]) -> str:
    names = ",".join(blocks)
    return digest_of((torch.tensor(list(names.encode()), dtype=torch.uint8), *(block.reshape(-1) for block in blocks.values())))


class _Training:
    """Means, variances and prior of the blocks, and Adam on them."""

    def __init__(
        self,
        module: Any,
        weights: Mapping[str, Any],
        prior_mean: Mapping[str, Any] | None,
        log_variance: float,
        variances: str,
        move: Callable[[str], bool] | None,
        rate: float,
        variance_rate: float,
    ) -> None:
        self.module, self.tied = module, variances == "blocks"
        self.device = next(iter(weights.values())).device
        self.prior = {name: weight.detach().clone() for name, weight in weights.items()}
        if prior_mean is not None:
            if set(prior_mean) != set(self.prior):
                raise ValueError(f"prior_mean: its blocks are {sorted(prior_mean)}, the module's {sorted(self.prior)}")
            for name, block in prior_mean.items():
                if block.shape != self.prior[name].shape:
                    raise ValueError(
                        f"prior_mean: {name!r} has shape {tuple(block.shape)}, must be {tuple(self.prior[name].shape)}"
                    )
                self.prior[name] = block.detach().to(self.prior[name])
        self.mean = {name: weight.detach().clone() for name, weight in weights.items()}
        begin = min(float(log_variance), math.log(LAMBDA_MAX) - 2 / GRID_B)
        self.log_variance = {
            name: torch.full((1,) if self.tied else block.shape, begin, dtype=block.dtype, device=self.device)
            for name, block in self.mean.items()
        }
        # `begin` is the prior's variance too, unless the means are elsewhere already.
        groups: list[dict[str, Any]] = [{"params": list(self.log_variance.values()), "lr": variance_rate}]
        for name, block in self.mean.items():
            if move is None or move(name):
                block.requires_grad_()
                groups.append({"params": [block], "lr": rate * math.exp(0.5 * begin) / math.sqrt(block.numel())})
        for zeta in self.log_variance.values():
            zeta.requires_grad_()
        self.adam = torch.optim.Adam(groups, betas=(0.9, 0.99))

    def run(self, batch: tuple[Any, ...], noise: Any) -> Any:
        weights = {name: drawn(mean, self.log_variance[name], noise) for name, mean in self.mean.items()}
        return call_with(self.module, weights, batch)[:, -1]

    def log_lambda(self, name: str) -> Any:
        """Of tied blocks the variance itself; of others lambda = mean(s + (w - w0)^2), the minimizer of the KL."""
        if self.tied:
            return self.log_variance[name].to(torch.float64)
        with torch.no_grad():
            squares = (self.mean[name] - self.prior[name]) ** 2 + self.log_variance[name].exp()
            return squares.mean(dtype=torch.float64).log().reshape(1).clamp_max(math.log(LAMBDA_MAX) - 1 / GRID_B)

    def kl(self) -> tuple[Any, list[Any]]:
        total, positions = torch.zeros((), dtype=torch.float64, device=self.device), []
        for name, mean in self.mean.items():
            nu = self.log_lambda(name)[0]
            shifts = ((mean - self.prior[name]) ** 2).sum(dtype=torch.float64) * (-nu).exp()
            if not self.tied:
                zeta = self.log_variance[name]
                shifts = shifts + (zeta.exp().sum(dtype=torch.float64) * (-nu).exp() - mean.numel()
                                   + mean.numel() * nu - zeta.sum(dtype=torch.float64))  # fmt: skip
            total = total + 0.5 * shifts
            positions.append((GRID_B * (math.log(LAMBDA_MAX) - nu)).clamp_min(1))
        return total, positions

    def step(self, bound: Any) -> None:
        self.adam.zero_grad(set_to_none=True)
        bound.backward()
        self.adam.step()

    def state(self) -> dict[str, Any]:
        buffers = dict(self.module.named_buffers())
        blocks = {"mean": self.mean, "log_variance": self.log_variance, "prior": self.prior, "buffers": buffers}
        return {**blocks, "adam": self.adam.state_dict()}

    def restore(self, saved: Mapping[str, Any]) -> None:
        with torch.no_grad():
            buffers = dict(self.module.named_buffers())
            for mine, theirs in ((self.mean, saved["mean"]), (self.log_variance, saved["log_variance"]), (buffers, saved["buffers"])):
                for name, block in mine.items():
                    block.copy_(theirs[name])
        self.prior = dict(saved["prior"])
        self.adam.load_state_dict(saved["adam"])

    def fitted(self, samples: int, prior_samples: int, history: list[dict[str, Any]], sha256: str) -> Fitted:
        with torch.no_grad():
            nu = {name: float(self.log_lambda(name)[0]) for name in self.mean}
        zeta = {name: None if self.tied else block.detach() for name, block in self.log_variance.items()}
        mean = {name: block.detach() for name, block in self.mean.items()}
        return Fitted(self.module, mean, zeta, self.prior, nu, samples=samples, prior_samples=prior_samples, history=history,
                      samples_sha256=sha256)  # fmt: skip
