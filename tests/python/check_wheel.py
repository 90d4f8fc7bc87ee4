#!/usr/bin/env python3
"""Installs a wheel of scripts/wheel into an empty environment, tries it there and runs the package's tests.

    tests/python/check_wheel.py WHEEL [--python PYTHON] [--quick]

--quick: without the package's tests. Exit code 77: NumPy (or pytest) cannot be installed, nothing was tested.
"""

import argparse
import csv
import json
import os
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile
import time

import run_tests

SOURCE = run_tests.SOURCE
LEVELS = ("x86-64-v2", "x86-64-v3", "x86-64-v4")


def output_of(*command, code=0, **options):
    result = subprocess.run([str(part) for part in command], capture_output=True, text=True, **options)
    assert result.returncode == code, f"{command}: exit code {result.returncode}\n{result.stdout}{result.stderr}"
    return result.stdout + result.stderr


def check_content(package):
    for file in ("py.typed", "_core.pyi", "bin/surefoot", "schema/certificate.schema.json", "certify.html"):
        assert (package / file).stat().st_size >= 0, file
    schema = json.loads((package / "schema/certificate.schema.json").read_text())
    assert schema == json.loads((SOURCE / "schema/certificate.schema.json").read_text())
    libraries = {str(path.relative_to(package / "lib")) for path in (package / "lib").rglob("libsurefoot.so.*")}
    assert len(libraries) == len(LEVELS), libraries


def check_licences(package):
    """A text for everything that is inside, also for each library that was packed beside it."""
    folder = package / "licences"
    listed = (folder / "THIRD_PARTY.txt").read_text()
    with open(SOURCE / "cmake/third_party.csv", newline="") as table:
        rows = list(csv.DictReader(table))
    for row in rows:
        text = (folder / (row["name"].replace(" ", "_") + ".txt")).read_text()
        assert row["name"] in listed and row["licence"] in listed, row
        assert "copyright" in text.lower() and len(text) > 500, row
        for common in row["texts"].split():
            assert pathlib.Path("/usr/share/common-licenses", common).read_text() in text, row
    known = {library for row in rows for library in row["libraries"].split()}
    for library in package.parent.glob("surefoot.libs/*"):
        assert re.match(r"lib[a-z+_]*", library.name)[0] in known, f"{library.name} has no row in cmake/third_party.csv"


def check_program(environment, work):
    """The command of both names, without gnuplot, and with each level of kernels that this machine has."""
    command = environment / "bin/surefoot"
    for start in ([command], [environment / "bin/python", "-m", "surefoot"]):
        assert re.fullmatch(r"\d+\.\d+\.\d+\n", output_of(*start, "--version"))
        assert "certfy" in output_of(*start, "certfy", code=2)
    bare = work / "bin"  # a PATH without gnuplot
    bare.mkdir()
    (bare / "env").symlink_to("/usr/bin/env")
    table = SOURCE / "examples/traces/osqp_mpc_cold.csv.gz"
    said = output_of(command, "certify", table, cwd=work, env={"PATH": str(bare)})
    assert "No figures: cannot run gnuplot" in said, said
    report = work / "surefoot-report"
    assert (report / "report.html").stat().st_size > 100_000 and not list(report.glob("*.pdf"))
    output_of(command, "verify", report, cwd=work, env={"PATH": str(bare)})
    usable = output_of(command, "--kernels=none", "verify", code=2)
    recorded = {}
    for level in (level for level in LEVELS if level in usable):
        out = work / level
        output_of(command, "run", "qp", SOURCE / "examples/mpc", "--kernels", level, "--out", out)
        recorded[level] = json.loads((out / "certificate.json").read_text())["rerun"]["kernels"]
        assert "VERIFIED" in output_of(command, "verify", out / "certificate.json", "--rerun", SOURCE / "examples/mpc")
    assert recorded and all(level == name for level, name in recorded.items()), recorded
    return list(recorded)


def check_extension(environment, levels, work):
    python = environment / "bin/python"
    certified = "import numpy as np, surefoot; print(bool(surefoot.certify(np.random.default_rng(0).random((500, 5)) * 0.8 ** np.arange(5), tolerances=[0.5]).verify()))"
    assert output_of(python, "-c", certified, cwd=work).strip() == "True"
    code = "import surefoot, sys; print(surefoot.kernels)"
    assert output_of(python, "-c", code, cwd=work).strip() == levels[-1]  # the best one that the machine has
    for level in levels:
        assert output_of(python, "-c", code, cwd=work, env={**os.environ, "SUREFOOT_KERNELS": level}).strip() == level
    wrong = output_of(python, "-c", code, cwd=work, env={**os.environ, "SUREFOOT_KERNELS": "v9"}, code=1)
    assert "SUREFOOT_KERNELS=x86-64-v9: this installation has the kernels" in wrong


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("wheel", type=pathlib.Path)
    parser.add_argument("--python", default=sys.executable)
    parser.add_argument("--quick", action="store_true")
    options = parser.parse_args()
    work = pathlib.Path(tempfile.mkdtemp(prefix="surefoot-wheel-"))
    try:
        environment = work / "environment"
        subprocess.run([options.python, "-m", "venv", environment], check=True)
        python = environment / "bin/python"
        needed = ("numpy",) if options.quick else ("numpy", "pytest")
        if subprocess.run([python, *run_tests.PIP, "install", *run_tests.pinned(*needed)]).returncode != 0:
            return run_tests.skipped(f"{' and '.join(needed)} could not be installed.")
        begin = time.monotonic()
        subprocess.run([python, *run_tests.PIP, "install", "--no-index", options.wheel.resolve()], check=True)
        seconds = time.monotonic() - begin
        package = next((environment / "lib").glob("python*/site-packages/surefoot"))
        check_content(package)
        check_licences(package)
        levels = check_program(environment, work)
        check_extension(environment, levels, work)
        print(f"{options.wheel.name}: installed in {seconds:.1f} s, kernels {', '.join(levels)}", flush=True)
        if options.quick:
            return 0
        run_options = argparse.Namespace(build=work, program=environment / "bin/surefoot")
        return run_tests.run_pytest(run_options, python, ["numpy"])
    finally:
        shutil.rmtree(work)


if __name__ == "__main__":
    sys.exit(main())
