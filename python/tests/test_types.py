"""The package is typed, and the stub says what the extension module has."""

import pathlib
import subprocess
import sys

import pytest
import surefoot

pytest.importorskip("mypy")


def test_the_package_passes_strict_checks(source, tmp_path):
    command = [sys.executable, "-m", "mypy", "--config-file", source / "pyproject.toml", "--cache-dir", tmp_path,
               "-p", "surefoot"]  # fmt: skip
    result = subprocess.run(command, capture_output=True, text=True, cwd=tmp_path)
    assert result.returncode == 0, result.stdout + result.stderr


def test_types_of_users_are_checked(tmp_path):
    (tmp_path / "user.py").write_text(
        "import numpy as np, surefoot\n"
        "certificate = surefoot.certify(np.zeros((3, 3)), tolerances=[0.1])\n"
        "reveal_type(certificate)\n"
        "surefoot.certify(np.zeros((3, 3)), tolerance=[0.1])\n"
    )
    command = [sys.executable, "-m", "mypy", "--cache-dir", tmp_path / "cache", "user.py"]
    result = subprocess.run(command, capture_output=True, text=True, cwd=tmp_path)
    assert "surefoot.certificate.Certificate" in result.stdout
    assert 'Unexpected keyword argument "tolerance"' in result.stdout


def test_the_stub_fits_the_extension_module(tmp_path):
    command = [sys.executable, "-m", "mypy.stubtest", "surefoot._core", "--ignore-missing-stub",
               "--ignore-positional-only"]  # fmt: skip
    result = subprocess.run(command, capture_output=True, text=True, cwd=tmp_path)
    assert result.returncode == 0, result.stdout + result.stderr


def test_the_marker_is_installed():
    assert (pathlib.Path(surefoot.__file__).parent / "py.typed").exists()
