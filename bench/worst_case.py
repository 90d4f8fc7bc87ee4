#!/usr/bin/env python3
"""Worst cases: time and memory of `surefoot worst-case` with its proof, of `verify`, and of PEPit with clarabel if asked for.

    python3 bench/worst_case.py --program build/surefoot [--pepit 10,20,30]

Prints the tables of docs/performance.md. Processor time (user + system) of the child processes: whatever else the machine does, it counts
only ours. One thread. Exit code 1 if a target is missed. PEPit is for few steps: 70 take it minutes. `pip install pepit clarabel` provides it.
"""

import argparse
import os
import pathlib
import platform
import subprocess
import sys
import tempfile
import time

# What is asked, and the seconds and MB that it may take.
CASES = [
    ("1/2-averaged, K = 10", ["averaged", "--steps", "10"], None),
    ("1/2-averaged, K = 20", ["averaged", "--steps", "20"], None),
    ("1/2-averaged, K = 30", ["averaged", "--steps", "30"], None),
    ("1/2-averaged, K = 70", ["averaged", "--steps", "70"], 1),
    ("1/2-averaged, K = 150", ["averaged", "--steps", "150"], None),
    ("1/2-averaged, K = 300", ["averaged", "--steps", "300"], 30),
    ("1/2-averaged, all of K = 1..70", ["averaged", "--steps", "1..70"], None),
    ("FISTA, K = 50", ["fista", "--steps", "50"], 5),
    ("FISTA, K = 100", ["fista", "--steps", "100"], None),
    ("gradient descent, mu = 0.01, K = 100", ["gradient", "--mu", "0.01", "--steps", "100"], None),
    ("composite FISTA, K = 30", ["composite-fista", "--steps", "30"], None),
    ("gradient descent, K = 5, steps searched", ["gradient", "--steps", "5", "--optimize", "steps"], None),
]
MEMORY_MB = 1000
VERIFY_SECONDS = 1


def measured(command):
    """Seconds of processor time and of the clock, peak memory in MB, standard output."""
    begin = time.monotonic()
    process = subprocess.Popen(command, stdout=subprocess.PIPE, text=True)
    output = process.stdout.read()
    _, status, usage = os.wait4(process.pid, 0)
    assert os.waitstatus_to_exitcode(status) == 0, command
    return usage.ru_utime + usage.ru_stime, time.monotonic() - begin, usage.ru_maxrss / 1024, output


def pepit(steps):
    from PEPit import PEP
    from PEPit.operators import LipschitzOperator

    begin = time.process_time()
    problem = PEP()
    operator = problem.declare_function(LipschitzOperator, L=1.0)
    fixed, _, _ = operator.fixed_point()
    z = problem.set_initial_point()
    problem.set_initial_condition((z - fixed) ** 2 <= 1)
    for _ in range(steps):
        before, z = z, 0.5 * (z + operator.gradient(z))
    problem.set_performance_metric((z - before) ** 2)
    value = problem.solve(wrapper="cvxpy", solver="CLARABEL", verbose=0)
    return time.process_time() - begin, value**0.5


def processor():
    for line in pathlib.Path("/proc/cpuinfo").read_text().splitlines():
        if line.startswith("model name"):
            return line.partition(":")[2].strip()
    return platform.processor()


def main():
    arguments = argparse.ArgumentParser()
    arguments.add_argument("--program", type=pathlib.Path, required=True)
    arguments.add_argument("--pepit", default="", help="numbers of steps for PEPit with clarabel")
    arguments = arguments.parse_args()
    program = arguments.program.absolute()
    print(f"{processor()}, {os.cpu_count()} cores, load {os.getloadavg()[0]:.1f}\n")
    print("| what | processor time | clock | memory | verify | bound |\n|---|---:|---:|---:|---:|---|")
    missed = []
    with tempfile.TemporaryDirectory() as folder:
        for name, case, allowed in CASES:
            seconds, clock, memory, output = measured([program, "worst-case", *case, "--threads", "1", "--quiet", "--out", folder])
            check, _, _, _ = measured([program, "verify", f"{folder}/proof.json"])
            print(f"| {name} | {seconds:.2f} s | {clock:.2f} s | {memory:.0f} MB | {check:.2f} s | {output.split()[-1]} |", flush=True)
            if allowed and seconds > allowed:
                missed.append(f"{name}: {seconds:.1f} s, {allowed} allowed")
            if memory > MEMORY_MB or check > VERIFY_SECONDS:
                missed.append(f"{name}: {memory:.0f} MB, verify {check:.2f} s")
    if arguments.pepit:
        print("\n| PEPit with clarabel | processor time | value | relative to the formula |\n|---|---:|---|---:|")
    for steps in filter(None, arguments.pepit.split(",")):
        k = int(steps)
        seconds, value = pepit(k)
        exact = ((k - 1) / k) ** ((k - 1) / 2) / k**0.5
        print(f"| 1/2-averaged, K = {k} | {seconds:.2f} s | {value:.12g} | {value / exact - 1:+.1e} |", flush=True)
    for line in missed:
        print("MISSED: " + line)
    return 1 if missed else 0


if __name__ == "__main__":
    sys.exit(main())
