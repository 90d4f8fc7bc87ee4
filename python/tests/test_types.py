"""The package is typed, and the stub says what the extension module has."""

import ast
import pathlib
import subprocess
import sys

import pytest
import surefoot


def test_the_package_passes_strict_checks(source, tmp_path):
    pytest.importorskip("mypy")
    command = [sys.executable, "-m", "mypy", "--config-file", source / "pyproject.toml", "--cache-dir", tmp_path,
               "-p", "surefoot"]  # fmt: skip
    result = subprocess.run(command, capture_output=True, text=True, cwd=tmp_path)
    assert result.returncode == 0, result.stdout + result.stderr


def test_types_of_users_are_checked(tmp_path):
    pytest.importorskip("mypy")
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


def names_in(body):
    """Names that a stub's module or class has, with the names inside of classes."""
    names = {}
    for node in body:
        if isinstance(node, (ast.FunctionDef, ast.ClassDef)):
            names[node.name] = names_in(node.body) if isinstance(node, ast.ClassDef) else None
        elif isinstance(node, ast.AnnAssign):
            names[node.target.id] = None
    return names


def public(names):
    return {name for name in names if not name.startswith("_")}


def test_the_stub_names_what_the_extension_module_has():
    stub = names_in(ast.parse(pathlib.Path(surefoot.__file__).with_name("_core.pyi").read_text()).body)
    assert public(stub) == public(dir(surefoot._core))
    for name, members in stub.items():
        if members is not None:
            assert public(members) == public(vars(getattr(surefoot._core, name))), name


def test_the_marker_is_installed():
    assert (pathlib.Path(surefoot.__file__).parent / "py.typed").exists()
