"""The command ``surefoot``, also as ``python -m surefoot``: the program that is packed with the library."""

import os
import pathlib
import sys


def main() -> None:
    """Become the program, with the arguments of this process."""
    program = pathlib.Path(__file__).parent / "bin" / "surefoot"
    if not program.exists():
        sys.exit(f"surefoot: this installation is the library alone, there is no {program}")
    sys.stdout.flush()
    os.execv(program, ["surefoot", *sys.argv[1:]])


if __name__ == "__main__":
    main()
