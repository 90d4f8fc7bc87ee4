"""Where the tests find the program and the repository, and which packages must be there."""

import importlib
import os
import pathlib
import subprocess

import pytest

SOURCE = pathlib.Path(os.environ.get("SUREFOOT_SOURCE", pathlib.Path(__file__).resolve().parents[2]))
PROGRAM = pathlib.Path(os.environ.get("SUREFOOT_PROGRAM", SOURCE / "build/surefoot"))


def pytest_sessionstart(session):
    """A test that is skipped for a missing package must not be skipped where the package ought to be."""
    for name in os.environ.get("SUREFOOT_EXPECTED_MODULES", "").split():
        importlib.import_module(name)


@pytest.fixture(scope="session")
def source():
    return SOURCE


@pytest.fixture
def surefoot_program(tmp_path):
    """Runs the program in a folder of the test's own and returns its standard output."""
    if not PROGRAM.exists():
        pytest.skip(f"there is no program at {PROGRAM}")

    def run(*arguments, code=0):
        command = [PROGRAM, *map(str, arguments)]
        result = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True)
        assert result.returncode == code, result.stderr
        return result.stdout

    return run
