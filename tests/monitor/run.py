"""surefoot/monitor.h as controllers use it: compiled as C99 by gcc and clang with every warning an error, at several optimisations, and
compared with the program on the same streams; then simulated streams (streams.c) in their quick form.

  run.py --program build/surefoot --source . [--streams 10000 --alarms 1000]     the numbers of docs/howto_monitor.md
"""

import argparse
import json
import pathlib
import random
import shutil
import subprocess
import sys
import tempfile

STRICT = ["-std=c99", "-Wall", "-Wextra", "-Wpedantic", "-Werror", "-Wconversion", "-Wshadow"]
FLAGS = [["-O0"], ["-O2"], ["-O3", "-march=native", "-ffp-contract=fast"]]


def run(command, **options):
    result = subprocess.run([str(word) for word in command], capture_output=True, text=True, **options)
    if result.returncode not in (0, 1):
        sys.exit(f"{' '.join(map(str, command))}\n{result.stdout}{result.stderr}exit code {result.returncode}")
    return result


def compilers():
    found = [name for name in ("gcc", "clang", "clang-14") if shutil.which(name)]
    found = [name for name in found if not (name == "clang-14" and "clang" in found)]
    if not found:
        print("no C compiler: skipped")
        sys.exit(77)
    return found


def table(rows=2000):
    """Values of two steps; 0.6 % of the last are not below 1, 0.3 % not below 2."""
    draw = random.Random(1)
    lines = ["k=1,k=2"]
    for _ in range(rows):
        u = draw.random()
        lines.append(f"3,{2.5 if u < 0.003 else 1.5 if u < 0.006 else draw.random()}")
    return "\n".join(lines) + "\n"


def stream(seed, bad):
    draw = random.Random(seed)
    lines = []
    for t in range(20000):
        u = draw.random()
        rate = bad if t > 5000 else 0.004
        if u < rate / 3:
            lines.append(draw.choice(["2", "1", "inf", "nan", "1e400", "2.5\r", " 3 ", "x", "1 2", "0x"]))
        elif u < rate:
            lines.append("1.25")
        elif draw.random() < 0.001:
            lines.append("")
        else:
            lines.append(repr(draw.random()))
    return "\n".join(lines) + "\n"


def compare(arguments, folder):
    """Decisions of the header against those of the program."""
    (folder / "table.csv").write_text(table())
    run([arguments.program, "certify", "table.csv", "--tolerances", "1,2", "--out", "made"], cwd=folder)
    certificate = folder / "made" / "certificate.json"
    rules = {"arl": ["--arl", "1e4"], "alpha": ["--alpha", "1e-3"]}
    compared = 0
    for claims in ([], ["--claim", "98% below 1 after 2"]):
        for rule, words in rules.items():
            header = folder / f"exported_{rule}_{len(claims)}.h"
            run([arguments.program, "export", certificate, *claims, *words, "--c", header, "--name", "exported"])
            programs = []
            for compiler in compilers():
                for i, flags in enumerate(FLAGS):
                    program = folder / f"replay_{compiler}_{i}"
                    built = run([compiler, *STRICT, *flags, f"-I{arguments.source / 'include'}", f'-DEXPORTED="{header}"',
                                 arguments.source / "tests/monitor/replay.c", "-o", program])
                    if built.returncode:
                        sys.exit(f"{compiler} {flags}: {built.stderr}")
                    programs.append(program)
            for seed, bad in ((1, 0.004), (2, 0.02), (3, 0.1), (4, 0.6)):
                text = stream(seed, bad)
                said = run([arguments.program, "monitor", certificate, *claims, *words, "--json", "--keep-going"], input=text)
                events = [json.loads(line) for line in said.stdout.splitlines()]
                names = [claim["claim"] for claim in events[0]["claims"]]
                expected = []
                for event in events:
                    if event["event"] == "alarm":
                        claim = names.index(event["strongest"])
                        of = event["claims"][claim]
                        recent = event["solve"] - of["since_solve"] + 1
                        expected.append(f"{event['solve']} {event['evidence']!r} {claim} {of['failures_since']} {recent}")
                expected.append(f"end {events[-1]['solves']} {events[-1]['evidence']!r}")
                for program in programs:
                    replayed = []
                    for line in run([program], input=text).stdout.splitlines():
                        words_of_line = line.split()
                        at = 2 if words_of_line[0] == "end" else 1
                        words_of_line[at] = repr(float(words_of_line[at]))
                        replayed.append(" ".join(words_of_line))
                    wanted = [" ".join(repr(float(w)) if i == (2 if e.startswith("end") else 1) else w for i, w in enumerate(e.split()))
                              for e in expected]
                    if replayed != wanted:
                        sys.exit(f"{program.name} {seed}: {replayed[:3]} ... and the program says {wanted[:3]} ...")
                    compared += 1
                assert (said.returncode == 1) == (len(expected) > 1), (seed, said.returncode)
                assert bad < 0.1 or len(expected) > 1, "no alarm where a tenth fails"
    print(f"{compared} streams: the same alarms as the program's")


def simulate(arguments, folder):
    """A certified rate of 1 %: constants as the program would export them, written for that rate by hand."""
    odds = [1.5, 2, 3, 5, 8, 15]
    margin = 1 - 2.0**-50
    succeeded = ", ".join((margin / (1 + (m - 1) * 0.01)).hex() for m in odds)
    failed = ", ".join((margin * m / (1 + (m - 1) * 0.01)).hex() for m in odds)
    for name, is_test, threshold in (("detector", 0, 1e6), ("test", 1, 100.0)):
        (folder / f"{name}.h").write_text(
            "#include <surefoot/monitor.h>\n"
            f"static const surefoot_monitor_claim {name}_claims[1] = {{{{1.0, 0.01, {{{succeeded}}}, {{{failed}}}, 1}}}};\n"
            f"static const surefoot_monitor_constants {name} = {{1, {is_test}, 1, {6 * threshold!r}, 1.0 / 6.0, {name}_claims}};\n")
    program = folder / "streams"
    built = run([compilers()[0], *STRICT, "-O2", f"-I{arguments.source / 'include'}", f'-DEXPORTED_DETECTOR="{folder / "detector.h"}"',
                 f'-DEXPORTED_TEST="{folder / "test.h"}"', arguments.source / "tests/monitor/streams.c", "-o", program, "-lm"])
    if built.returncode:
        sys.exit(built.stderr)
    result = run([program, arguments.streams, arguments.alarms])
    print(result.stdout, end="")
    if result.returncode:
        sys.exit("a promise is broken")


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--program", type=pathlib.Path, required=True)
    parser.add_argument("--source", type=pathlib.Path, required=True)
    parser.add_argument("--streams", type=int, default=400)
    parser.add_argument("--alarms", type=int, default=12)
    arguments = parser.parse_args()
    arguments.program = arguments.program.absolute()
    arguments.source = arguments.source.absolute()
    with tempfile.TemporaryDirectory() as folder:
        compare(arguments, pathlib.Path(folder))
        simulate(arguments, pathlib.Path(folder))


if __name__ == "__main__":
    main()
