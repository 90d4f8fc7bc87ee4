"""The program that is packed with the package, for long work on files: tuning and training of families."""

from __future__ import annotations

import os
import pathlib
import subprocess
import warnings


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
        process.communicate()  # it has had the signal too, and keeps what it has
        raise
    lines = [line.removeprefix("surefoot: ") for line in errors.splitlines() if line]
    if process.returncode == 0:
        for line in lines:
            warnings.warn(line, stacklevel=4)
    else:
        message = lines[-1] if lines else ""
        raise (MemoryError if process.returncode == 4 else ValueError)(message or f"surefoot ended with {process.returncode}")
    return out
