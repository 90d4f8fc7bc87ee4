#!/usr/bin/env python3
"""One and two processes against one and two threads: wall time and processor time of the long verbs.

    python3 bench/processes.py --program build/surefoot [--rows 60000] [--repeats 3]

Configurations take turns, so that whatever else the machine does hits all of them; the least of each is reported, and the load.
"""
import argparse
import os
import random
import resource
import subprocess
import tempfile
import time

TRAINING = """
model = "alista"
seed = 1
[family]
samples = 4000
measurements = 250
variables = 500
[network]
steps = 10
[[stage]]
noise = false
epochs = 6
batch = 100
mean_rate = 1e-2
surrogate = "logarithm"
[[stage]]
epochs = 6
batch = 100
log_variance = -10
prior = "closed-form"
penalty = "none"
surrogate = "tolerance"
tolerance = -20
width = 4
"""

CONFIGURATIONS = {"1 thread": (0, 1), "2 threads": (0, 2), "1 process": (1, 1), "2 processes": (2, 1)}


def measured(command, environment):
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    begin = time.monotonic()
    subprocess.run(command, check=True, stdout=subprocess.DEVNULL, env=environment)
    wall = time.monotonic() - begin
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return wall, after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime


def write_table(path, rows, columns):
    random.seed(1)
    lines = [",".join(f"{random.random() * 0.98 ** k:.17g}" for k in range(columns)) for _ in range(500)]
    with open(path, "w") as file:
        file.write(",".join(f"k={k + 1}" for k in range(columns)) + "\n")
        for row in range(rows):
            file.write(lines[row * 7919 % len(lines)] + "\n")


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--program", default="build/surefoot")
    parser.add_argument("--examples", default="examples")
    parser.add_argument("--rows", type=int, default=60000)
    parser.add_argument("--repeats", type=int, default=3)
    arguments = parser.parse_args()
    program = os.path.abspath(arguments.program)
    examples = os.path.abspath(arguments.examples)
    environment = dict(os.environ, OMPI_MCA_btl="self,vader")
    with tempfile.TemporaryDirectory() as folder:
        os.chdir(folder)
        write_table("table.csv", arguments.rows, 500)
        with open("train.toml", "w") as file:
            file.write(TRAINING)
        subprocess.run([program, "train", "train.toml", "--quiet", "--out", "weights"], check=True, stdout=subprocess.DEVNULL)
        size = os.path.getsize("table.csv") / 1e6
        work = {
            f"certify, {size:.0f} MB CSV": ["certify", "table.csv", "--claims", "success", "--out", "a"],
            "run qp, 500 problems, 20,000 iterations": ["run", "qp", f"{examples}/mpc", "--preset", "fixed", "--iterations", "20000", "--steps", "20000",
                                                      "--claims", "success", "--out", "b"],
            "calibrate, 60,000 samples": ["calibrate", "weights/weights.safetensors", "--guarantees", "hold-out",
                                          "--hold-out", "0:60000", "--look-again", "--out", "c"],
            "train, ALISTA, 480 steps of Adam": ["train", "train.toml", "--quiet", "--out", "d"],
        }
        best = {}
        for _ in range(arguments.repeats):
            for name, verb in work.items():
                for label, (processes, threads) in CONFIGURATIONS.items():
                    launcher = ["mpirun", "--allow-run-as-root", "--oversubscribe", "-n", str(processes)] if processes else []
                    one = measured(launcher + [program] + verb + ["--threads", str(threads)], environment)
                    seen = best.setdefault((name, label), one)
                    best[name, label] = tuple(min(a, b) for a, b in zip(seen, one))
        load = os.getloadavg()[1]
        print(f"{os.cpu_count()} cores, load {load:.1f}; wall seconds (processor seconds)")
        print("| | " + " | ".join(CONFIGURATIONS) + " | processor time, 2 processes to 1 thread |")
        print("|---|" + "---:|" * (len(CONFIGURATIONS) + 1))
        for name in work:
            cells = [f"{best[name, label][0]:.2f} ({best[name, label][1]:.2f})" for label in CONFIGURATIONS]
            ratio = best[name, "2 processes"][1] / best[name, "1 thread"][1]
            print(f"| {name} | " + " | ".join(cells) + f" | {ratio:.2f} |")


if __name__ == "__main__":
    main()
