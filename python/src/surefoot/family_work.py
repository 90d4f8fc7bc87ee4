"""What a family can have done to it by the program: better settings, and a learned start."""

from __future__ import annotations

import dataclasses
import json
import os
import pathlib
from collections.abc import Sequence
from typing import Any, Union

from . import _program
from ._arguments import real_number, text, whole_number
from .certificate import Certificate, load

__all__ = ["FamilyTuned", "LearnedStart"]

PathLike = Union[str, "os.PathLike[str]"]


@dataclasses.dataclass(frozen=True)
class FamilyTuned:
    """Settings that :meth:`surefoot.QPFamily.tune` found, certified on problems that nothing was chosen by."""

    settings: dict[str, Any]  #: keyword arguments of the solver's package
    certificate: Certificate  #: variants "default" and "tuned"
    summary: str  #: before and after, in sentences
    folder: pathlib.Path  #: everything that was written


@dataclasses.dataclass(frozen=True)
class LearnedStart:
    """A network that says where the solver begins, of :meth:`surefoot.QPFamily.train`."""

    weights: pathlib.Path  #: safetensors
    learned_from: range  #: problems that it depends on
    problems: int  #: of the family
    folder: pathlib.Path

    def calibrate(
        self,
        hold_out: range | None = None,
        *,
        tolerances: Sequence[float] | None = None,
        confidence: float | None = None,
        out: PathLike | None = None,
    ) -> dict[str, Certificate]:
        """Certificates on problems that training has not seen, which may be used once: ``hold-out-means`` of the network, and
        ``starts``, the same beside the cold start and that of the nearest training problem.

        Parameters
        ----------
        hold_out
            Which problems [all after those that were learned from].
        """
        chosen = hold_out if hold_out is not None else range(self.learned_from.stop, self.problems)
        if chosen.step != 1 or len(chosen) == 0:
            raise ValueError(f"hold_out: {chosen} is no range of problems that follow each other")
        where = pathlib.Path(out) if out is not None else self.folder / "guarantees"
        command = ["calibrate", os.fspath(self.weights), "--hold-out", f"{chosen.start}:{len(chosen)}",
                   "--guarantees", "hold-out-means,starts", "--out", os.fspath(where)]  # fmt: skip
        if tolerances is not None:
            command += ["--tolerances", ",".join(repr(real_number("tolerances", value)) for value in tolerances)]
        if confidence is not None:
            command += ["--confidence", repr(real_number("confidence", confidence))]
        _program.run(command)
        return {kind: load(where / kind / "certificate.json") for kind in ("hold-out-means", "starts")}

    def export_c(self, c_file: PathLike, *, name: str = "surefoot_start", certificate: PathLike | None = None) -> None:
        """One C99 file for a controller; of OSQP, trained with ``scale_each=False``."""
        command = ["export", os.fspath(self.weights), "--c", os.fspath(c_file), "--name", text("name", name)]
        if certificate is not None:
            command += ["--certificate", os.fspath(certificate)]
        _program.run(command)


def tune(kind: str, family: Any, target: str, out: PathLike, over: str | None, runs: int | None, options: dict[str, Any]) -> FamilyTuned:
    """``surefoot tune KIND`` on the family's files."""
    where = pathlib.Path(out)
    problems = where / "family"
    family.save(problems)
    command = ["tune", kind, os.fspath(problems), "--target", text("target", target), "--out", os.fspath(where / "tuned")]
    if over is not None:
        command += ["--over", text("over", over)]
    if runs is not None:
        command += ["--runs", str(whole_number("runs", runs))]
    for name, value in options.items():
        command += [f"--{name.replace('_', '-')}", str(value)]
    summary = _program.run(command)
    settings = json.loads((where / "tuned" / "tuned.json").read_text())
    return FamilyTuned(settings, load(where / "tuned" / "certificate.json"), summary, where / "tuned")


def _toml(value: Any) -> str:
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, (list, tuple)):
        return "[" + ", ".join(_toml(item) for item in value) + "]"
    return json.dumps(value)


def train(kind: str, family: Any, out: PathLike, samples: int | None, first: int, seed: int, network: dict[str, Any]) -> LearnedStart:
    """``surefoot train`` of a learned start on the family's files."""
    where = pathlib.Path(out)
    family.save(where / "family")
    count = whole_number("samples", samples) if samples is not None else (family.instances - first) // 2
    first = whole_number("first", first)
    lines = ['model = "warm-start"', f"seed = {whole_number('seed', seed)}", "[family]", f'kind = "{kind}"', 'folder = "family"',
             f"first = {first}", f"samples = {count}", "[network]"]  # fmt: skip
    lines += [f"{key} = {_toml(value)}" for key, value in network.items()]
    (where / "train.toml").write_text("\n".join(lines) + "\n")
    _program.run(["train", os.fspath(where / "train.toml"), "--quiet", "--out", os.fspath(where / "weights")])
    return LearnedStart(where / "weights" / "weights.safetensors", range(first, first + count), family.instances, where)
