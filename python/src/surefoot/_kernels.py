"""Which kernels the library runs solvers with: the best ones that the machine has, or those of SUREFOOT_KERNELS."""

import ctypes
import os
import pathlib

LEVELS = ("x86-64-v2", "x86-64-v3", "x86-64-v4")
VARIABLE = "SUREFOOT_KERNELS"


def load_asked() -> None:
    """Load the library with the kernels that the environment asks for; the extension module then uses it.

    Without a wish the loader has chosen: it takes the library of the highest level that the machine has.
    """
    level = os.environ.get(VARIABLE, "")
    level = f"x86-64-{level}" if len(level) == 2 else level
    folder = pathlib.Path(__file__).parent / "lib"
    if not level or not folder.exists():
        return
    if level in LEVELS:
        place = folder if level == LEVELS[0] else folder / "glibc-hwcaps" / level
        for library in place.glob("libsurefoot.so.*"):
            try:
                ctypes.CDLL(str(library))  # libraries say which instructions they need, and the loader refuses them elsewhere
            except OSError as error:
                raise ImportError(f"{VARIABLE}={level}: {error}") from error


def check_asked(loaded: str, startable: str) -> None:
    """Raise ImportError if the library that was loaded has other kernels than the environment asks for."""
    level = os.environ.get(VARIABLE, "")
    level = f"x86-64-{level}" if len(level) == 2 else level
    if level and level != loaded:
        raise ImportError(f"{VARIABLE}={level}: this installation has the kernels {startable}")
