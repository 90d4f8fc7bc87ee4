"""The scripts of examples/python run and say what they should."""

import re
import subprocess
import sys

import pytest


def run(source, tmp_path, script, *arguments):
    command = [sys.executable, source / "examples/python" / script, *map(str, arguments)]
    result = subprocess.run(command, capture_output=True, text=True, cwd=tmp_path)
    assert result.returncode == 0, result.stderr
    return result.stdout


def test_osqp_in_a_loop_is_the_one_of_the_readme(source, tmp_path):
    script = (source / "examples/python/osqp_in_a_loop.py").read_text()
    assert f"```python\n{script}```" in (source / "README.md").read_text()
    pytest.importorskip("osqp")
    pytest.importorskip("scipy")
    output = run(source, tmp_path, "osqp_in_a_loop.py")
    assert "With confidence 0.99, all of these hold together for the residual of new problems:" in output
    assert "at least 99 % of problems are below 1e-2 after" in output
    assert (tmp_path / "osqp-report/report.html").exists()


def test_certify_osqp_on_an_mpc_family(source, tmp_path):
    pytest.importorskip("osqp")
    pytest.importorskip("scipy")
    output = run(source, tmp_path, "certify_osqp_mpc.py", "--instances", 100)
    assert "at least 90 % of new problems is below 1e-2 after" in output and "varied: l, u" in output
    assert (tmp_path / "surefoot-report/report.html").exists()


def test_warm_against_cold(source, tmp_path):
    pytest.importorskip("scipy")
    output = run(source, tmp_path, "warm_against_cold.py", "--instances", 300)
    assert output.splitlines()[-1] == "verified"
    budgets = [line.split() for line in output.splitlines()[1:5]]
    assert all(int(cold) > 0 and int(warm) > 0 for _, _, cold, warm in budgets)


def test_torch_learned_optimizer(source, tmp_path):
    pytest.importorskip("torch")
    output = run(source, tmp_path, "torch_learned_optimizer.py", "--samples", 2000, "--rounds", 150)
    assert output.splitlines()[-1] == "verified"
    learned, constant = (float(line.split("at least ")[1].split(" %")[0]) for line in output.splitlines()[-3:-1])
    assert learned > constant


def test_the_large_learned_optimizer_in_small(source, tmp_path):
    pytest.importorskip("torch")
    sizes = ("--samples", 600, "--hold-out", 400, "--minutes", 0.05)
    output = run(source, tmp_path, "large_learned.py", "--small", "--out", "small", *sizes)
    assert "23,050 weights" in output
    certified = run(source, tmp_path, "large_learned.py", "--certify", "small").splitlines()
    assert certified.count("verified") == 3 and "weights were not read" in certified[-1]
    shares = {line[:16].strip(): [float(share) for share in re.findall(r"([\d.]+) %", line)] for line in certified if line.count(" %") == 2}
    assert set(shares) == {"split prior", "hold-out, drawn", "hold-out, means"}
    assert all(promised < observed for observed, promised in shares.values()) and shares["hold-out, drawn"][1] > 50


def test_reading_a_certificate(source, tmp_path):
    output = run(source, tmp_path, "read_certificate.py")
    assert output.startswith("verified") and "cold, warm" in output


def test_monitoring_osqp_in_a_loop(source, tmp_path):
    pytest.importorskip("osqp")
    pytest.importorskip("scipy")
    output = run(source, tmp_path, "monitor_osqp_mpc.py")
    assert "ALARM at solve 2" in output.splitlines()[-1] and "does not promise" in output
    assert run(source, tmp_path, "monitor_osqp_mpc.py", "--push", 1).splitlines()[-1] == "no alarm in 500 solves"
