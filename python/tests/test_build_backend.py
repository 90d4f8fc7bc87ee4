"""What `pip install .` shows while it compiles (python/build_backend)."""

import importlib.util
import os
import pathlib
import shutil
import subprocess
import time

import pytest


@pytest.fixture(scope="module")
def backend(source):
    pytest.importorskip("scikit_build_core")
    place = source / "python/build_backend/surefoot_build.py"
    if not place.exists():
        pytest.skip("there are no sources")
    spec = importlib.util.spec_from_file_location("surefoot_build", place)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


LOG = """# ninja log v5
0\t900\t1\tsrc/a.cxx.o\tf00
10\t800\t1\tsrc/b.cxx.o\tf01
900\t950\t1\tlibsurefoot.a\tf02
0\t700\t2\tsrc/a.cxx.o\tf03
950\t990\t2\tsrc/c.cx"""


def test_a_file_that_was_compiled_twice_counts_once(backend, tmp_path):
    (tmp_path / ".ninja_log").write_text(LOG)
    assert backend.finished(tmp_path) == 2


@pytest.mark.parametrize(("done", "total", "seconds", "line"), [
    (3, 36, 9.9, "surefoot: compiled 3 of 36 files, 0:09"),
    (36, 36, 125, "surefoot: compiled 36 of 36 files, 2:05"),
    (5, 0, 3600, "surefoot: compiled 5 files, 60:00"),  # without ninja on the path nobody knows how many there are
])
def test_lines_say_how_far_it_is(backend, done, total, seconds, line):
    assert backend.line_of(done, total, seconds) == line


def test_the_newest_build_is_watched(backend, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    assert backend.newest_build(time.time()) is None
    for name, age in (("build/python/old", 100), ("build/python/new", 1), ("build/python/newest", 0)):
        pathlib.Path(name).mkdir(parents=True)
        log = pathlib.Path(name, ".ninja_log")
        log.write_text(LOG)
        os.utime(log, (time.time() - age,) * 2)
    assert backend.newest_build(time.time() - 50) == pathlib.Path("build/python/newest")


def test_commands_that_compile_are_counted(backend, tmp_path):
    if shutil.which("ninja") is None:
        pytest.skip("there is no ninja")
    (tmp_path / "build.ninja").write_text("rule compile\n  command = true -c $in -o $out && touch $out\nrule link\n  command = touch $out\n"
                                          "build a.cxx.o: compile\nbuild b.cxx.o: compile\nbuild lib.a: link a.cxx.o b.cxx.o\n")
    assert backend.number_of_commands(tmp_path) == 2
    subprocess.run(["ninja", "-C", tmp_path], check=True, stdout=subprocess.DEVNULL)
    assert backend.finished(tmp_path) == 2
