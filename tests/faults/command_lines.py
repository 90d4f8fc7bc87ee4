"""Random command lines: valid ones of every verb with words dropped, doubled, swapped and replaced by hostile ones.

  command_lines.py --program build/surefoot [--count N] [--seed S]

Whatever is asked, the program ends with an exit code of its table other than 5, speaks one line of failure, and crashes never. It is
the whole program that runs: what is accepted is also done, with little memory and time. A run that reaches its time is interrupted: one
that does not end then ignores the signal, and one that was asked for small sizes only, of a verb that is quick by default, does not end
by itself; both are faults.
"""

import argparse
import concurrent.futures
import os
import pathlib
import random
import re
import resource
import shutil
import signal
import subprocess
import sys
import tempfile
import time

from inject import OTHER_TABLE, TABLE, TRAINING, cases

SECONDS = 20
SECONDS_TO_STOP = 5
SMALL = 1000
# By default these work for longer, or wait for what comes.
SLOW = {("reproduce",), ("train",), ("calibrate",), ("worst-case",), ("monitor",), ("run", "family"), ("run", "loop"), ("run", "command")}
ADDRESS_SPACE = 8 << 30
BIG = ["9223372036854775807", "9223372036854775808", "18446744073709551616", "-9223372036854775808", "4611686018427387904", "2147483648"]
NUMBERS = ["0", "1", "-1", "2", "3", "0.5", "-0.0", "nan", "-nan", "inf", "-inf", "1e308", "1e309", "1e-320", "0x10", "1e3", "+1", "007", ".",
           "1.", "1e", *BIG]
LISTS = [",", "1,", ",1", "1,2", "2,1", "1,1", "0.1,0.2", "nan,nan", "1..", "..2", "1..2..3", "2..1", f"1..{BIG[0]}", f"0..{BIG[0]}", "0:1", "1:0",
         f"{BIG[0]}:1", f"0:{BIG[0]}", f"{BIG[0]}:{BIG[0]}", "-1:1", ":", "1:", ":1", ",".join(["0.5"] * 400), "0.1," * 3000]
TEXTS = ["", " ", "-", "--", "---", "-x", "=", "--=", "a", "all", "exact", "kl", "paper", "none", "quick", "\x1b[2J", "\n", "%s%n", "{}", "{0}", "'",
         '"', "\\", "$(id)", "`id`", "ü", b"\xff\xfe", "a" * 5000, "../..", "/", ".", "/dev/null", "/dev/full", "/proc/self/mem", "missing",
         "table.csv", "other.csv", "train.toml", "out", "out/certificate.json", "qp", "empty", "--help", "--version"]
GOOD = (0, 1, 2, 3, 4)


def options_of(program, verb=()):
    """All options of the verb and of those below it."""
    text = subprocess.run([program, *verb, "--help"], capture_output=True, text=True, check=True).stdout
    found = {tuple(verb): sorted(set(re.findall(r"(?<![\w-])--[a-zA-Z][\w-]*", text)))}
    if re.search(r"^Usage: .* SUBCOMMAND", text, re.MULTILINE):  # verbs stand in groups
        names = re.findall(r"^  ([a-z][\w-]*)  ", text, re.MULTILINE)
        assert names, f"no verbs in the help of {verb}"
        for name in names:
            found |= options_of(program, (*verb, name))
    return found


class Draw:
    def __init__(self, seed, options):
        self.random = random.Random(seed)
        self.options = options
        self.verbs = [verb for verb in options if verb]
        self.valid = [case.command for case in cases()] + [[*verb] for verb in self.verbs]

    def hostile(self):
        return self.random.choice(self.random.choice([NUMBERS, LISTS, TEXTS]))

    def option(self, words):
        known = [options for verb, options in self.options.items() if verb and tuple(words[:len(verb)]) == verb]
        name = self.random.choice(max(known, key=len, default=["--out"]))
        value = self.hostile()
        if self.random.random() < 0.3 and isinstance(value, str):
            return [f"{name}={value}"]
        return [name, value]

    def line(self):
        words = list(self.random.choice(self.valid))
        for _ in range(self.random.choice([1, 1, 2, 3, 5])):
            at = self.random.randrange(len(words) + 1)
            kind = self.random.randrange(6)
            if kind <= 2:
                words += self.option(words)
            elif kind == 3 and at < len(words):
                words[at] = self.hostile()
            elif kind == 4 and at < len(words):
                del words[at]
            else:
                words.insert(at, self.hostile())
        return [word.replace("\0", "") if isinstance(word, str) else word for word in words]


def limited():
    resource.setrlimit(resource.RLIMIT_AS, (ADDRESS_SPACE, ADDRESS_SPACE))
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    resource.setrlimit(resource.RLIMIT_FSIZE, (1 << 28, 1 << 28))


def is_small(words):
    """Whether no number of the words asks for much, and the verb does not by itself."""
    texts = [word for word in words if isinstance(word, str)]
    if any(tuple(texts[:len(verb)]) == verb for verb in SLOW):
        return False
    numbers = re.findall(r"\d+(?:\.\d*)?(?:e[+-]?\d+)?|inf|nan", " ".join(texts))
    return all(number not in ("inf", "nan") and float(number) <= SMALL for number in numbers)


def fault_in(program, start, words):
    """What is wrong with how the program takes the words, or None; and whether it ended."""
    with tempfile.TemporaryDirectory() as folder:
        shutil.copytree(start, folder, dirs_exist_ok=True)
        with subprocess.Popen([program, *words], cwd=folder, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                              preexec_fn=limited, env={"PATH": "/nonexistent", "OMP_NUM_THREADS": "1"}) as process:
            try:
                err = process.communicate(timeout=SECONDS)[1].decode(errors="replace")
            except subprocess.TimeoutExpired:
                process.send_signal(signal.SIGINT)
                try:
                    process.communicate(timeout=SECONDS_TO_STOP)
                except subprocess.TimeoutExpired:
                    process.kill()
                    process.communicate()
                    return f"SIGINT does not end it within {SECONDS_TO_STOP} s", False
                return ("small sizes, and it does not end" if is_small(words) else None), False
    if process.returncode not in GOOD:
        return f"exit code {process.returncode}: {err[-300:]!r}", True
    if "internal error" in err or "std::" in err:
        return f"it speaks of itself: {err[-300:]!r}", True
    if re.search(r"[\x00-\x09\x0b-\x1f\x7f]", err):
        return f"control characters: {err[-300:]!r}", True
    if process.returncode in (2, 4) and not err.strip().rpartition("\n")[2].startswith(("surefoot: ", "libgomp: ")):
        return f"no line says why: {err[-300:]!r}", True
    return None, True


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--program", required=True, type=pathlib.Path)
    parser.add_argument("--count", type=int, default=400)
    parser.add_argument("--seed", type=int, default=1)
    arguments = parser.parse_args()
    begin = time.monotonic()
    program = arguments.program.resolve()
    draw = Draw(arguments.seed, options_of(program))
    lines = [draw.line() for _ in range(arguments.count)]
    with tempfile.TemporaryDirectory() as start:
        start = pathlib.Path(start)
        (start / "empty").mkdir()
        files = {"table.csv": TABLE, "other.csv": OTHER_TABLE, "train.toml": TRAINING}
        files |= {name: text for case in cases() if case.name == "run-qp" for name, text in case.files.items()}
        for name, text in files.items():
            (start / name).parent.mkdir(exist_ok=True)
            (start / name).write_text(text)
        for words in ("certify table.csv --out out", "certify other.csv --out two", "train train.toml --quiet --out weights"):
            subprocess.run([program, *words.split()], cwd=start, check=True, capture_output=True)
        with concurrent.futures.ThreadPoolExecutor(len(os.sched_getaffinity(0))) as pool:
            results = list(pool.map(lambda words: fault_in(program, start, words), lines))
    faults = 0
    for words, (fault, _) in zip(lines, results):
        if fault:
            faults += 1
            print(f"FAILED  {words!r:.600}\n        {fault}")
    ended = sum(ended for _, ended in results)
    print(f"{len(lines)} command lines of {len(draw.verbs)} verbs, seed {arguments.seed}: {faults} not as they should be, "
          f"{len(lines) - ended} reached {SECONDS} s, {time.monotonic() - begin:.0f} s")
    return 1 if faults else 0


if __name__ == "__main__":
    sys.exit(main())
