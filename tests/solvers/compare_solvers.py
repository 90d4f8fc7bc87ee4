#!/usr/bin/env python3
"""Compare our OSQP and SCS iterates with those of the packages `osqp` and `scs` from PyPI, and where they stop.

    tests/solvers/compare_solvers.py --program build/tests/solver_iterates

Needs nothing but Python 3 with venv: the packages, pinned in requirements.txt, go into build/venv on the first run.
Exit code 0: all agree; 1: some do not; 77: the packages cannot be had, nothing was compared. With --require-packages
(or SUREFOOT_REQUIRE_PACKAGES=1) that is a failure, 1, instead.
"""

import argparse
import os
import pathlib
import subprocess
import sys

HERE = pathlib.Path(__file__).resolve().parent
REQUIREMENTS = HERE / "requirements.txt"
sys.path.insert(0, str(HERE.parent / "support"))
from pypi import SKIPPED, packages_ready  # noqa: E402


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--program", type=pathlib.Path, default=HERE.parents[1] / "build/tests/solver_iterates",
                        help="the program that writes our iterates (default: %(default)s)")
    parser.add_argument("--reference", action="store_true",
                        help="compare reference.py with the packages, instead of a program")
    parser.add_argument("--venv", type=pathlib.Path, default=HERE.parents[1] / "build/venv",
                        help="where the packages are installed (default: %(default)s)")
    parser.add_argument("--require-packages", action="store_true",
                        default=os.environ.get("SUREFOOT_REQUIRE_PACKAGES", "0") not in ("", "0"),
                        help="fail, rather than skip, where the packages cannot be installed")
    parser.add_argument("--in-turn", action="store_true",
                        help="each problem by one of the ways to solve its linear system, in turn, not by all")
    parser.add_argument("--verbose", action="store_true", help="one line per problem also where all is well")
    options = parser.parse_args()

    if not packages_ready(options.venv, REQUIREMENTS):
        rule = "*" * 100
        print(f"{rule}\n*** SKIPPED: the packages osqp and scs could not be installed. Our iterates were NOT compared "
              f"with the real\n*** solvers. See the message of pip above.\n{rule}", file=sys.stderr)
        return 1 if options.require_packages else SKIPPED

    what = ["--reference"] if options.reference else ["--program", str(options.program.resolve())]
    flags = [flag for flag, given in (("--verbose", options.verbose), ("--in-turn", options.in_turn)) if given]
    python = str(options.venv / "bin" / "python")
    scripts = ["comparison.py", *([] if options.reference else ["stopping_comparison.py"]), "scs_comparison.py"]
    return max(subprocess.run([python, str(HERE / script), *what, *flags]).returncode for script in scripts)


if __name__ == "__main__":
    sys.exit(main())
