#!/usr/bin/env python3
"""Build the wheel, install it into virtual environments and run its tests there.

    tests/python/run_tests.py wheel --build build      # the other three need it
    tests/python/run_tests.py package --build build    # with every package it works with
    tests/python/run_tests.py empty --build build      # with NumPy alone
    tests/python/run_tests.py torch --build build      # with Debian's PyTorch: that of PyPI brings gigabytes for GPUs
    tests/python/run_tests.py sources --build build    # pip install of the unpacked sources alone, the library compiled too

The wheel is built from an unpacked source distribution, so that what is tested is what users get.

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


def unpacked_sources(options):
    """A fresh copy of what the source distribution holds, with all that the library is compiled from."""
    folder = options.build / "python-sources"
    shutil.rmtree(folder, ignore_errors=True)
    build = f"import scikit_build_core.build as backend; backend.build_sdist({str(folder)!r})"
    subprocess.run([options.build / "venv-python/bin/python", "-c", build], check=True, cwd=SOURCE,
                   stdout=subprocess.DEVNULL)
    archive = next(folder.glob("surefoot-*.tar.gz"))
    shutil.unpack_archive(archive, folder)
    sources = folder / archive.name.removesuffix(".tar.gz")
    for part in ("src", "cmake", "python"):
        wanted = {path.relative_to(SOURCE) for path in (SOURCE / part).rglob("*.*") if "__pycache__" not in path.parts}
        missing = {str(path) for path in wanted if not (sources / path).exists()}
        assert wanted and not missing, f"the source distribution lacks {sorted(missing)}"
    return sources


def build_wheel(options):
    venv = options.build / "venv-python"
    wheels = options.build / "wheels"
    shutil.rmtree(wheels, ignore_errors=True)
    if not packages_ready(venv, REQUIREMENTS):
        return skipped("the packages of requirements.txt could not be installed; see the message of pip above.")
    prefix = options.build / "python-prefix"
    subprocess.run(["cmake", "--install", options.build, "--prefix", prefix], check=True, stdout=subprocess.DEVNULL)
    command = [venv / "bin/python", *PIP, "wheel", "--no-deps", "--no-build-isolation", "--wheel-dir", wheels,
               "--config-settings", f"build-dir={options.build / 'python-wheel'}", unpacked_sources(options)]
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
    names = re.findall(r"^([A-Za-z]+)==", REQUIREMENTS.read_text(), re.MULTILINE)
    return run_pytest(options, python, names)


def test_in_empty_environment(options):
    return test_installed(options, "venv-python-empty", wheel_of(options))


def test_from_sources(options):
    """As a user does it: nothing but the sources, and pip, which gets what it builds with."""
    return test_installed(options, "venv-python-sources", unpacked_sources(options))


def test_installed(options, name, package):
    venv = options.build / name
    subprocess.run([sys.executable, "-m", "venv", "--clear", venv], check=True)
    python = venv / "bin/python"
    if subprocess.run([python, *PIP, "install", *pinned("numpy", "pytest")]).returncode != 0:
        return skipped("numpy and pytest could not be installed.")
    environment = {key: value for key, value in os.environ.items() if key != "SUREFOOT_ROOT"}
    subprocess.run([python, *PIP, "install", package], check=True, env=environment)
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
    return run_pytest(options, python, ["numpy", "torch"], tests / "test_torch.py", tests / "test_fit.py",
                      tests / "test_fit_codes.py", tests / "test_bounds.py",
                      tests / "test_examples.py", tests / "test_doctests.py", tests / "test_pages.py")


def main():
    actions = {"wheel": build_wheel, "package": test_package, "empty": test_in_empty_environment,
               "torch": test_with_torch, "sources": test_from_sources}
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
