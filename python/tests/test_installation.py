"""What an installation says of itself: the command, its kernels, and what it never advises."""

import importlib.metadata
import json
import pathlib
import subprocess
import sys

import numpy as np
import pytest
import surefoot
from surefoot import _kernels, _progress

PACKAGE = pathlib.Path(surefoot.__file__).parent


def test_the_command_is_the_program():
    for start in (["-m", "surefoot"], ["-c", "from surefoot.__main__ import main; main()"]):
        result = subprocess.run([sys.executable, *start, "--version"], capture_output=True, text=True, check=True)
        assert result.stdout.strip() == surefoot.__version__
    wrong = subprocess.run([sys.executable, "-m", "surefoot", "certfy"], capture_output=True, text=True)
    assert wrong.returncode == 2 and "did you mean certify?" in wrong.stderr


def test_the_command_and_the_schema_are_inside():
    entry = [point for point in importlib.metadata.entry_points(group="console_scripts") if point.name == "surefoot"]
    assert [point.value for point in entry] == ["surefoot.__main__:main"]
    schema = json.loads((PACKAGE / "schema/certificate.schema.json").read_text())
    assert "success_rate" in str(schema)
    assert (PACKAGE / "py.typed").exists() and (PACKAGE / "_core.pyi").exists()


def test_metadata_is_short():
    metadata = importlib.metadata.metadata("surefoot")
    assert metadata["License-Expression"] == "Apache-2.0" and "License" not in metadata
    assert len(metadata["Summary"]) < 100
    assert all("arxiv.org" in url for url in metadata.get_all("Project-URL"))


def test_nothing_advises_a_name_of_pypi_that_is_not_promised():
    advice = ("install surefoot", "install 'surefoot", 'install "surefoot', "surefoot[")
    for file in PACKAGE.rglob("*.py*"):
        if file.suffix in (".py", ".pyi"):
            assert not any(words in file.read_text() for words in advice), file
    extension = next(PACKAGE.glob("_core.*.so")).read_bytes()
    assert not any(words.encode() in extension for words in advice)


def test_kernels_are_named_and_others_are_refused(monkeypatch):
    assert surefoot.kernels.removeprefix("native-") in (*_kernels.LEVELS, "x86-64", "other")
    _kernels.check_asked("x86-64-v3", "x86-64-v3")  # nothing is asked for
    monkeypatch.setenv(_kernels.VARIABLE, "v3")
    _kernels.check_asked("x86-64-v3", "x86-64-v3")
    with pytest.raises(ImportError, match="SUREFOOT_KERNELS=x86-64-v3: this installation has the kernels x86-64-v2"):
        _kernels.check_asked("x86-64-v2", "x86-64-v2")


def test_settings_are_arguments_or_a_dict():
    lower = np.random.default_rng(0).uniform(0, 1, (20, 2))
    family = surefoot.QPFamily(np.eye(2), np.eye(2), np.zeros(2), lower, np.full(2, np.inf))
    as_dict = family.traces(30, settings={"rho": 0.7, "alpha": 1.2})
    as_arguments = family.traces(30, rho=0.7, alpha=1.2)
    assert np.array_equal(as_dict.values, as_arguments.values) and as_dict.run == as_arguments.run
    assert not np.array_equal(as_dict.values, family.traces(30).values)
    assert np.array_equal(family.iterates(5, rho=0.7), family.iterates(5, settings={"rho": 0.7}))
    assert family.terminations(rho=0.7).status == ["solved"] * 20
    with pytest.raises(ValueError, match="settings: rho is given twice"):
        family.traces(30, rho=0.7, settings={"rho": 0.7})
    with pytest.raises((TypeError, ValueError), match="roh"):
        family.traces(30, roh=0.7)


def test_long_loops_show_a_bar_where_somebody_looks(monkeypatch):
    made = []

    class Bars:
        @staticmethod
        def tqdm(items, **options):
            made.append(options)
            yield from items

    monkeypatch.setitem(sys.modules, "tqdm", Bars)
    monkeypatch.setitem(sys.modules, "tqdm.auto", Bars)
    monkeypatch.setattr(_progress, "present", lambda package: package == "tqdm")
    monkeypatch.setattr(_progress, "_watched", lambda: False)
    assert list(_progress.shown(range(3), "osqp", "problems")) == [0, 1, 2] and not made
    monkeypatch.setattr(_progress, "_watched", lambda: True)
    assert list(_progress.shown(range(3), "osqp", "problems")) == [0, 1, 2] and made[0]["desc"] == "osqp"
    monkeypatch.setattr(_progress, "present", lambda package: False)
    assert list(_progress.shown(range(2), "osqp", "problems")) == [0, 1] and len(made) == 1
