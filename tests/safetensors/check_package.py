#!/usr/bin/env python3
"""Weights that Surefoot writes are read by the package `safetensors` from PyPI, and the other way round.

    tests/safetensors/check_package.py --program build/tests/posterior_file

The package, pinned in requirements.txt, goes into a virtual environment on the first run. Exit code 0: both ways give
the same numbers; 1: they do not; 77: the package cannot be had, nothing was compared. With --require-packages (or
SUREFOOT_REQUIRE_PACKAGES=1) that is a failure, 1, instead.
"""

import argparse
import os
import pathlib
import subprocess
import sys
import tempfile

HERE = pathlib.Path(__file__).resolve().parent
REQUIREMENTS = HERE / "requirements.txt"
sys.path.insert(0, str(HERE.parent / "support"))
from pypi import SKIPPED, packages_ready  # noqa: E402


def compare(program):
    import numpy
    from safetensors import safe_open
    from safetensors.numpy import load_file, save_file

    with tempfile.TemporaryDirectory() as folder:
        ours, theirs, copy = (os.path.join(folder, name) for name in ("ours", "theirs", "copy"))
        subprocess.run([program, "write", ours], check=True)
        index = numpy.arange(17.0)
        expected = {"mean": index / 7, "log_variance": -index, "prior_mean": index**2}
        tensors = load_file(ours)
        with safe_open(ours, framework="numpy") as opened:
            metadata = opened.metadata()
        assert metadata["model"] == "example", metadata
        assert len(tensors) == 7, sorted(tensors)
        for kind, values in expected.items():
            numpy.testing.assert_array_equal(tensors[kind + ".W"], values[:12].reshape(3, 4))
            numpy.testing.assert_array_equal(tensors[kind + ".step"], values[12:].reshape(5, 1))
        numpy.testing.assert_array_equal(tensors["prior_log_variance"], [-1.5, -2.5])
        save_file(tensors, theirs, metadata=metadata)
        subprocess.run([program, "copy", theirs, copy], check=True)
        tensors["mean.W"][1, 2] = 1 / 3
        save_file(tensors, theirs, metadata=metadata)
        assert subprocess.run([program, "copy", theirs, copy]).returncode != 0, "a changed number was not noticed"
        del metadata["surefoot.sha256"]
        metadata["surefoot.format"] = "surefoot-posterior 1"  # without a digest
        save_file(tensors, theirs, metadata=metadata)
        subprocess.run([program, "copy", theirs, copy], check=True)
        again = load_file(copy)
        assert sorted(again) == sorted(tensors)
        for name, values in tensors.items():
            numpy.testing.assert_array_equal(again[name], values)
    print("the package and Surefoot read each other's weights")


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--program", type=pathlib.Path, default=HERE.parents[1] / "build/tests/posterior_file",
                        help="the program that reads and writes weights (default: %(default)s)")
    parser.add_argument("--venv", type=pathlib.Path, default=HERE.parents[1] / "build/venv-safetensors",
                        help="where the package is installed (default: %(default)s)")
    parser.add_argument("--require-packages", action="store_true",
                        default=os.environ.get("SUREFOOT_REQUIRE_PACKAGES", "0") not in ("", "0"),
                        help="fail, rather than skip, where the package cannot be installed")
    parser.add_argument("--in-environment", action="store_true", help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.in_environment:
        compare(str(options.program.resolve()))
        return 0
    if not packages_ready(options.venv, REQUIREMENTS):
        rule = "*" * 100
        print(f"{rule}\n*** SKIPPED: the package safetensors could not be installed. Our files were NOT read by it. See the "
              f"message of\n*** pip above.\n{rule}", file=sys.stderr)
        return 1 if options.require_packages else SKIPPED
    command = [options.venv / "bin" / "python", __file__, "--in-environment", "--program", options.program]
    return subprocess.run(command).returncode


if __name__ == "__main__":
    sys.exit(main())
