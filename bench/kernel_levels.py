#!/usr/bin/env python3
"""Processor time of solvers with the kernels of each level, and of a build for this machine alone: are packages as fast as what one compiles?

    bench/kernel_levels.py --package build/package/surefoot --native build/surefoot [--repeats 7]

Runs alternate, so that what else the machine does slows all of them alike; shown is the smallest time of each and its ratio to the native one.
"""

import argparse
import pathlib
import resource
import subprocess
import tempfile

SOURCE = pathlib.Path(__file__).resolve().parents[1]
LEVELS = ("v2", "v3", "v4")
WORK = {
    "OSQP, model predictive control": ["run", "family", "model-predictive-control", "--samples", "10000", "--iterations", "300"],
    "SCS, robust Kalman filter": ["run", "family", "robust-kalman", "--samples", "3000", "--iterations", "400"],
    "gradient descent, quadratics": ["run", "family", "unconstrained-qp", "--samples", "100000", "--iterations", "300"],
}


def seconds(command, out):
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    subprocess.run([*map(str, command), "--threads", "1", "--out", out], check=True, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return after.ru_utime - before.ru_utime


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--package", type=pathlib.Path, required=True)
    parser.add_argument("--native", type=pathlib.Path, required=True)
    parser.add_argument("--repeats", type=int, default=7)
    options = parser.parse_args()
    package, native = options.package.resolve(), options.native.resolve()
    with tempfile.TemporaryDirectory() as folder:
        for what, arguments in WORK.items():
            programs = {"native": [native, *arguments]}
            programs.update((level, [package, *arguments, "--kernels", level]) for level in LEVELS)
            best = {}
            for repeat in range(options.repeats):
                for name, command in list(programs.items()):
                    try:
                        time = seconds(command, f"{folder}/{name}-{repeat}-{len(what)}")
                    except subprocess.CalledProcessError as error:
                        if repeat > 0 or error.returncode != 2 or name == "native":
                            raise
                        del programs[name]  # the machine lacks the instructions
                        continue
                    best[name] = min(time, best.get(name, time))
            ratios = ", ".join(f"{name} {time / best['native']:.2f}" for name, time in best.items() if name != "native")
            print(f"{what}: native {best['native']:.2f} s; of that {ratios}", flush=True)


if __name__ == "__main__":
    main()
