"""The program that is packed with the package, for long work on files: tuning and training of families."""

from __future__ import annotations

import os
import pathlib
import subprocess


def path() -> pathlib.Path:
    """Where the program is; RuntimeError if this installation is the library alone."""
    program = pathlib.Path(__file__).parent / "bin" / "surefoot"
    if not program.exists():
        raise RuntimeError(
            f"this installation has no program, which tunes and trains ({program}); install Surefoot with `pip install .` or from a wheel"
        )
    return program


def run(arguments: list[str]) -> str:
    """Runs the program and returns what it prints; its one line of an error is a ValueError, as in the library."""
    process = subprocess.Popen([os.fspath(path()), *arguments], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    try:
        out, errors = process.communicate()
    except KeyboardInterrupt:
        process.wait()  # it has had the signal too, and keeps what it has
        raise
    if process.returncode != 0:
        message = errors.strip().removeprefix("surefoot: ")
        raise (MemoryError if process.returncode == 4 else ValueError)(message or f"surefoot ended with {process.returncode}")
    return out
