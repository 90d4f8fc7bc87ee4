#!/usr/bin/env python3
"""Build the wheel, install it into virtual environments and run its tests there.

    tests/python/run_tests.py wheel --build build      # the other three need it
    tests/python/run_tests.py package --build build    # with every package it works with
    tests/python/run_tests.py empty --build build      # with NumPy alone
    tests/python/run_tests.py torch --build build      # with Debian's PyTorch: that of PyPI brings gigabytes for GPUs

Exit code 0: all is well; 77: what is needed cannot be installed, nothing was tested.
"""

import argparse
import os
import pathlib
import re
import shutil
import subprocess
import sys

HERE = pathlib.Path(__file__).resolve().parent
SOURCE = HERE.parents[1]
REQUIREMENTS = HERE / "requirements.txt"
DEBIAN_PYTHON = pathlib.Path("/usr/bin/python3")
sys.path.insert(0, str(HERE.parent / "support"))
from pypi import SKIPPED, packages_ready  # noqa: E402

PIP = ["-m", "pip", "--quiet", "--disable-pip-version-check"]


def skipped(reason):
    rule = "*" * 100
    print(f"{rule}\n*** SKIPPED: {reason}\n*** The Python package was NOT tested there.\n{rule}", file=sys.stderr)
    return SKIPPED


def pinned(*packages):
    lines = REQUIREMENTS.read_text().splitlines()
    return [line for line in lines if line.partition("==")[0] in packages]


def build_wheel(options):
    venv = options.build / "venv-python"
    wheels = options.build / "wheels"
    shutil.rmtree(wheels, ignore_errors=True)
    if not packages_ready(venv, REQUIREMENTS):
        return skipped("the packages of requirements.txt could not be installed; see the message of pip above.")
    prefix = options.build / "python-prefix"
    subprocess.run(["cmake", "--install", options.build, "--prefix", prefix], check=True, stdout=subprocess.DEVNULL)
    command = [venv / "bin/python", *PIP, "wheel", "--no-deps", "--no-build-isolation", "--wheel-dir", wheels,
               "--config-settings", f"build-dir={options.build / 'python-wheel'}", SOURCE]
    return subprocess.run(command, env={**os.environ, "SUREFOOT_ROOT": str(prefix)}).returncode


def wheel_of(options):
    return next((options.build / "wheels").glob("surefoot-*.whl"), None)


def run_pytest(options, python, expected, *paths):
    """Modules in `expected` must be there: tests that need them may not be skipped."""
    environment = {**os.environ, "SUREFOOT_PROGRAM": str(options.program), "SUREFOOT_SOURCE": str(SOURCE),
                   "SUREFOOT_EXPECTED_MODULES": " ".join(expected), "MPLBACKEND": "agg", "JAX_PLATFORMS": "cpu"}
    # From another folder: the package that is tested must be the installed one.
    work = options.build / "python-tests"
    work.mkdir(exist_ok=True)
    command = [python, "-m", "pytest", "-q", "-ra", "-p", "no:cacheprovider", "--rootdir", SOURCE / "python",
               "-c", SOURCE / "python/tests/pytest.ini", *(paths or [SOURCE / "python/tests"])]
    return subprocess.run([str(part) for part in command], env=environment, cwd=work).returncode


def test_package(options):
    python = options.build / "venv-python/bin/python"
    subprocess.run([python, *PIP, "install", "--no-deps", "--force-reinstall", wheel_of(options)], check=True)
    names = re.findall(r"^([a-z]+)==", REQUIREMENTS.read_text(), re.MULTILINE)
    return run_pytest(options, python, names)


def test_in_empty_environment(options):
    venv = options.build / "venv-python-empty"
    subprocess.run([sys.executable, "-m", "venv", "--clear", venv], check=True)
    python = venv / "bin/python"
    if subprocess.run([python, *PIP, "install", wheel_of(options), *pinned("numpy", "pytest")]).returncode != 0:
        return skipped("numpy and pytest could not be installed.")
    return run_pytest(options, python, ["numpy"])


def test_with_torch(options):
    has_torch = subprocess.run([DEBIAN_PYTHON, "-c", "import torch"], stderr=subprocess.DEVNULL).returncode == 0
    if not has_torch:
        return skipped("python3-torch is not installed.")
    venv = options.build / "venv-python-torch"
    subprocess.run([DEBIAN_PYTHON, "-m", "venv", "--clear", "--system-site-packages", venv], check=True)
    python = venv / "bin/python"
    if subprocess.run([python, *PIP, "install", wheel_of(options), *pinned("pytest")]).returncode != 0:
        return skipped("the wheel is for another Python than Debian's, or pytest could not be installed.")
    tests = SOURCE / "python/tests"
    return run_pytest(options, python, ["numpy", "torch"], tests / "test_torch.py", tests / "test_bounds.py",
                      tests / "test_examples.py")


def main():
    actions = {"wheel": build_wheel, "package": test_package, "empty": test_in_empty_environment,
               "torch": test_with_torch}
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("what", choices=actions)
    parser.add_argument("--build", type=pathlib.Path, default=SOURCE / "build")
    parser.add_argument("--program", type=pathlib.Path, default=SOURCE / "build/surefoot")
    options = parser.parse_args()
    options.build, options.program = options.build.resolve(), options.program.resolve()
    if options.what != "wheel" and wheel_of(options) is None:
        return skipped("there is no wheel.")
    return actions[options.what](options)


if __name__ == "__main__":
    sys.exit(main())
