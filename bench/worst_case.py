#!/usr/bin/env python3
"""Worst cases: time and memory of `surefoot worst-case` with its proof, of `verify`, and of PEPit if it is installed.

    python3 bench/worst_case.py --program build/surefoot [--pepit 10,20,30]

Processor time (user + system) of the child processes: whatever else the machine does, it counts only ours.
"""
import argparse
import os
import pathlib
import subprocess
import tempfile
import time

CASES = [
    ("averaged, K = 70", ["averaged", "--steps", "70"]),
    ("averaged, K = 150", ["averaged", "--steps", "150"]),
    ("averaged, K = 300", ["averaged", "--steps", "300"]),
    ("FISTA, K = 50", ["fista", "--steps", "50"]),
    ("FISTA, K = 100", ["fista", "--steps", "100"]),
    ("gradient, mu = 0.01, K = 100", ["gradient", "--mu", "0.01", "--steps", "100"]),
    ("composite FISTA, K = 30", ["composite-fista", "--steps", "30"]),
    ("averaged, all of K = 1..70", ["averaged", "--steps", "1..70"]),
]


def processor_time(command):
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


def main():
    arguments = argparse.ArgumentParser()
    arguments.add_argument("--program", type=pathlib.Path, required=True)
    arguments.add_argument("--pepit", default="", help="numbers of steps for PEPit with clarabel")
    arguments = arguments.parse_args()
    print(f"load {os.getloadavg()[0]:.1f}")
    print(f"{'what':32} {'processor':>10} {'clock':>8} {'memory':>9} {'verify':>8}  bound")
    with tempfile.TemporaryDirectory() as folder:
        for name, case in CASES:
            command = [arguments.program.absolute(), "worst-case", *case, "--quiet", "--out", folder]
            seconds, clock, memory, output = processor_time(command)
            check, _, _, _ = processor_time([arguments.program.absolute(), "verify", f"{folder}/proof.json"])
            print(f"{name:32} {seconds:8.2f} s {clock:6.2f} s {memory:6.0f} MB {check:6.2f} s  {output.split()[-1]}")
    for steps in filter(None, arguments.pepit.split(",")):
        seconds, value = pepit(int(steps))
        print(f"{'PEPit, averaged, K = ' + steps:32} {seconds:8.2f} s {'':>8} {'':>9} {'':>8}  {value!r}")


if __name__ == "__main__":
    main()
