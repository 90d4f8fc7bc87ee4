"""Each allocation and each call to the system fails in turn, for a small run of every verb.

  inject.py --program build/surefoot --library build/tests/libsurefoot_faults.so [--sample N] [--only CASE...] [--list]

Two undisturbed runs of a case count its calls and say what its files are. Then, one fault in each run (injection.cpp):
- an allocation fails, alone or with all after it: once for each place in the program that allocates, which is a call stack;
- a call to the system fails with each of several errors, or reads or writes half: every call;
- the process is killed instead of a call to the system: every call.
After each, either the result is complete (exit code, output and files as undisturbed), or the exit code is 2 or 4, with a line that
says why, and every file is what it was before or what it becomes: none is cut, none is left over. After a kill, or a failed
call to the system, the same command is run again and must end as undisturbed.

--sample N takes N of the faults of each kind and case, evenly spaced: the same ones every time. --list says how many faults there are,
and about how long they take, and tries none.
"""

import argparse
import collections
import concurrent.futures
import ctypes
import errno
import os
import pathlib
import re
import shlex
import shutil
import subprocess
import sys
import tempfile
import threading
import time

ROOT = pathlib.Path(__file__).resolve().parents[2]
WORDS = ("internal error", "terminate called", "Segmentation", "assert", "core dumped", "std::")
NO_SUCH_FOLDER = "/nonexistent"
SECONDS = 120

TRAINING = """
model = "glista"
[family]
samples = 64
measurements = 12
variables = 24
[network]
steps = 3
[[stage]]
noise = false
epochs = 1
batch = 32
surrogate = "logarithm"
[[stage]]
epochs = 1
batch = 32
log_variance = -12
prior = "closed-form"
penalty = "none"
surrogate = "tolerance"
tolerance = -10
width = 4
"""
SCHEDULE = """
model = "schedule"
[family]
kind = "qp"
folder = "qp"
samples = 10
[network]
steps = 4
rho = 0.4
[[stage]]
noise = false
epochs = 1
batch = 5
surrogate = "logarithm"
"""
TABLE = "k=1,k=2,k=3\n1,0.5,0.1\n2,0.4,nan\n3,0.3,0.2\n"
OTHER_TABLE = "k=1,k=2,k=3\n1,0.6,0.1\n2,0.5,nan\n3,0.2,0.2\n4,0.2,0.1\n"


def first_lines(path, count):
    with open(path) as file:
        return "".join(line for _, line in zip(range(count), file))


class Case:
    """A command, and the folder it begins in: files, and what commands before it leave. `lines` are its standard input, `kept` files
    that are replaced from time to time while it works, `done` what it may say, with exit code 2, if all was done before it was ended."""

    def __init__(self, name, command, files=None, before=(), lines=None, kept=(), done=None):
        self.name = name
        self.command = shlex.split(command)
        self.lines, self.kept, self.done = lines, kept, done
        self.files = files or {}
        self.before = [shlex.split(line) for line in before]


def cases():
    mpc = ROOT / "examples" / "mpc"
    family = {f"qp/{name}": (mpc / name).read_text() for name in ("P.mtx", "A.mtx", "q.csv")}
    family |= {f"qp/{name}": first_lines(mpc / name, 6) for name in ("l.csv", "u.csv")}
    to_tune = family | {f"qp/{name}": first_lines(mpc / name, 24) for name in ("l.csv", "u.csv")}
    cartpole = {f"loop/{path.name}": path.read_text() for path in (ROOT / "examples" / "cartpole").iterdir() if path.suffix in (".csv", ".mtx")}
    certify = "certify table.csv --tolerances 0.3,0.5 --out out"
    kept = "--checkpoint kept --resume --checkpoint-seconds 0"
    watched = {"table.csv": "k=1\n" + "0.2\n" * 300}
    to_watch = ["certify table.csv --tolerances 0.3 --choose before --out certified"]
    pairs = {f"{name}.csv": "k=1,k=2\n" + "".join(f"{1 + i % 3},{value if i % 7 else 2}\n" for i in range(60))
             for name, value in (("old", 0.5), ("new", 0.1))}
    portfolio = {f"cone/{path.name}": (path.read_text() if path.suffix != ".csv" else first_lines(path, 4))
                 for path in (ROOT / "examples" / "portfolio").iterdir() if path.suffix in (".csv", ".mtx", ".toml")}
    tallied = "certify {0}.csv --names solver --tolerances 0.3 --tally {0}.tally"
    paired = 'compare old.csv new.csv --paired --claim "below 0.3 after 2" --record record.json'
    scalars = "seconds\n" + "".join(f"0.{1 + i % 5}\n" for i in range(40))
    return [
        Case("bound", "bound risk --failures 3 --samples 1000 --delta 1e-4 --json"),
        Case("certify", certify + " --checkpoint kept --resume", {"table.csv": TABLE}),
        Case("certify-again", certify, {"table.csv": TABLE, "other.csv": OTHER_TABLE},
             ["certify other.csv --tolerances 0.3 --out out"]),
        Case("run-qp", f"run qp qp --iterations 4 --metric distance --save-traces {kept} --out out", family),
        Case("run-loop", f"run loop loop --rollouts 6 --ticks 3 --limits 2,3 {kept} --out out", cartpole),
        Case("run-family", f"run family unconstrained-qp --samples 3 --iterations 3 --ledger looks.jsonl {kept} --out out"),
        Case("tune", f'tune qp qp --target "50% below 1e-1" --over rho=0.1:1:log --runs 36 --iterations 20 {kept} --out out', to_tune),
        Case("train", "train train.toml --quiet --checkpoint kept --resume --checkpoint-seconds 0 --out out", {"train.toml": TRAINING}),
        Case("calibrate", f"calibrate weights/weights.safetensors --hold-out 0:20 --draws 2 --guarantees pac-bayes,hold-out {kept} --out out",
             {"train.toml": TRAINING}, ["train train.toml --quiet --out weights"]),
        Case("verify", "verify out/certificate.json --data table.csv", {"table.csv": TABLE}, [certify]),
        Case("verify-weights", "verify out/pac-bayes/certificate.json --weights weights/weights.safetensors", {"train.toml": TRAINING},
             ["train train.toml --quiet --out weights",
              "calibrate weights/weights.safetensors --draws 2 --guarantees pac-bayes --out out"]),
        Case("compare", "compare out/certificate.json two/certificate.json --out both", {"table.csv": TABLE, "other.csv": OTHER_TABLE},
             [certify, "certify other.csv --tolerances 0.3,0.5 --out two"]),
        Case("certify-scalar", "certify times.csv --scalar --tolerances 0.4 --out out", {"times.csv": scalars}),
        Case("certify-append", "certify other.csv --append out --out out", {"table.csv": TABLE, "other.csv": OTHER_TABLE},
             [certify + " --anytime"], done="these rows are counted already"),
        Case("compare-paired", 'compare old.csv new.csv --paired --claim "below 0.3 after 2" --allow 0.1 --junit junit.xml --markdown summary.md', pairs),
        Case("monitor", "monitor certified/certificate.json --state kept.state --replay --state-seconds 0 --metrics metrics.prom --out watched",
             watched, to_watch, "0.2\n" * 50 + "nan\nno number\n" + "0.1\n" * 20, ("kept.state", "metrics.prom")),
        Case("export", "export certified/certificate.json --c constants.h", watched, to_watch),
        Case("run-command", f"run command --samples 6 --tolerances 0.5 --jobs 1 {kept} --out out -- /bin/echo 1,0.{{seed}}"),
        Case("run-cone", f"run cone cone --iterations 4 {kept} --out out", portfolio),
        Case("run-stream", f"run qp qp --stream --iterations 4 {kept} --out out", family),
        Case("train-schedule", f"train schedule.toml --quiet {kept} --out out", to_tune | {"schedule.toml": SCHEDULE}),
        Case("run-schedule", "run qp other --schedule weights/weights.safetensors --iterations 4 --out out",
             to_tune | {name.replace("qp/", "other/"): text for name, text in family.items()} | {"schedule.toml": SCHEDULE}, ["train schedule.toml --quiet --out weights"]),
        Case("tune-command", f'tune command --over rho=1:2:linear:2 --target "50% below 2" --confidence 0.5 --samples 20 --jobs 1 {kept} '
             "--out out -- /bin/echo 0.5{seed}7 {rho}"),
        Case("certify-tally", tallied.format("table") + f" {kept}", {"table.csv": TABLE}),
        Case("certify-tallies", "certify table.tally other.tally --out out", {"table.csv": TABLE, "other.csv": OTHER_TABLE},
             [tallied.format("table"), tallied.format("other")]),
        Case("certify-range", "certify table.csv --range 0,4 --thresholds 0,1 --cvar 0.9 --tolerances 0.3 --out out",
             {"table.csv": TABLE.replace("nan", "0.1")}),
        Case("ask", 'ask certified/certificate.json --claim "10% below 0.3 after 1"', watched, to_watch),
        Case("plan", "plan --share 0.9"),
        Case("completion", "completion zsh"),
        Case("manual", "manual --out pages"),
        Case("compare-record", paired, pairs),
        Case("verify-record", "verify record.json --data old.csv new.csv", pairs, [paired]),
        Case("worst-case", "worst-case gradient --L 1 --mu 0.1 --steps 1,2 --metric gap --out out"),
        Case("reproduce", "reproduce robust-kalman --scale quick --samples 3 --steps 2 --out out"),
    ]


def contents(folder):
    return {str(path.relative_to(folder)): path.read_bytes() for path in folder.rglob("*") if path.is_file()}


def is_temporary(name):
    return re.fullmatch(r"\.surefoot-.*", name.rpartition("/")[2]) is not None


VOLATILE = ("guarantees.md", "finished.json")  # how long it took
TIME = rb"20[0-9]{2}-[0-9]{2}-[0-9]{2}T"


def without_times(content):
    """Times, and the digests of what holds times."""
    return re.sub(rb"[0-9]+", b"0", re.sub(rb"[0-9a-f]{64}", b"", content))


def without_durations(text):
    """Nor what a monitor says of where it resumes."""
    return re.sub(r"[0-9.]+ (ms|s|min)\b|^Goes on after .*\n", "", text, flags=re.MULTILINE)


class Result:
    def __init__(self, process, out, err, folder):
        self.code = process
        self.out = out
        self.err = err
        self.files = contents(folder)

    def without_temporary_files(self):
        """Those of a process that was killed, or could not remove them."""
        self.files = {name: content for name, content in self.files.items() if not is_temporary(name)}


class Runner:
    def __init__(self, program, library, scratch):
        self.program = program
        self.library = library
        self.scratch = scratch

    def run(self, command, folder, fault=None, log=None, same_addresses=False, lines=None):
        environment = {"PATH": NO_SUCH_FOLDER, "OMP_NUM_THREADS": "2", "OMP_WAIT_POLICY": "passive", "HOME": NO_SUCH_FOLDER}
        if fault:
            environment |= {"LD_PRELOAD": str(self.library), "SUREFOOT_FAULT": fault, "SUREFOOT_FAULT_LOG": str(log)}
        still = (lambda: ctypes.CDLL(None).personality(0x0040000)) if same_addresses else None
        process = subprocess.run([self.program, *command], cwd=folder, env=environment, capture_output=True, timeout=SECONDS,
                                 preexec_fn=still, **({"input": lines.encode()} if lines else {"stdin": subprocess.DEVNULL}))
        return Result(process.returncode, process.stdout.decode(errors="replace"), process.stderr.decode(errors="replace"), folder)

    def folder(self):
        return pathlib.Path(tempfile.mkdtemp(dir=self.scratch))


class Undisturbed:
    """What a case is without faults."""

    def __init__(self, case, runner):
        self.case = case
        self.start = runner.folder()
        for name, text in case.files.items():
            (self.start / name).parent.mkdir(exist_ok=True)
            (self.start / name).write_text(text)
        for command in case.before:
            result = runner.run(command, self.start)
            if result.code != 0:
                raise SystemExit(f"{case.name}: {' '.join(command)}: {result.code} {result.err}")
        self.before = contents(self.start)
        first, second = self.undisturbed(runner), self.undisturbed(runner)
        if first.code not in (0, 3) or first.code != second.code or set(first.files) != set(second.files):
            raise SystemExit(f"{case.name}: two undisturbed runs differ, or fail: {first.code} {first.err}")
        self.result = first
        self.volatile = {name for name in first.files if first.files[name] != second.files[name]}

    def undisturbed(self, runner):
        folder = self.copy(runner)
        result = runner.run(self.case.command, folder, lines=self.case.lines)
        shutil.rmtree(folder)
        return result

    def copy(self, runner):
        folder = runner.folder()
        shutil.copytree(self.start, folder, dirs_exist_ok=True)
        return folder

    def calls(self, runner, group):
        folder, log = self.copy(runner), runner.folder() / "log"
        result = runner.run(self.case.command, folder, f"{group}:count:0", log, same_addresses=True, lines=self.case.lines)
        lines = log.read_text().splitlines()
        shutil.rmtree(folder)
        if result.code != self.result.code or not lines[0].startswith("calls "):
            raise SystemExit(f"{self.case.name}: counting its calls changes it: {result.code} {result.err}")
        return lines[1:]

    def same(self, name, content, other):
        lists_volatile = name.endswith("manifest.json") and any(other.encode() in content for other in VOLATILE)
        volatile = name in self.volatile or name.endswith(VOLATILE) or lists_volatile or re.search(TIME, content)
        return content == other or (volatile and without_times(content) == without_times(other))

    def incomplete(self, result):
        """What is missing to the undisturbed result, or None. Figures may be, if a line says so."""
        if result.code != self.result.code:
            return f"exit code {result.code}"
        if without_durations(result.out) != without_durations(self.result.out):
            return "other output"
        if set(result.files) != set(self.result.files):
            return f"other files: {sorted(set(result.files) ^ set(self.result.files))}"
        different = [name for name in result.files if not self.same(name, result.files[name], self.result.files[name])]
        if result.err != self.result.err and "surefoot: No figures: " in result.err:
            different = [name for name in different if not name.endswith((".html", "finished.json", "manifest.json"))]  # they say it too
        return f"other content: {different}" if different else None

    def wrong_failure(self, result, all_fail):
        """What is wrong with a failure, or None."""
        lines = result.err.splitlines()
        if result.code not in (2, 4):
            return f"exit code {result.code}"
        if any(word in result.err for word in WORDS):
            return "it speaks of itself"
        if not all_fail and (not lines or not lines[-1].startswith(("surefoot: ", "libgomp: "))):
            return "no line says why"
        for name, content in result.files.items():
            if name.endswith((".checkpoint", "manifest.json", ".surefoot-lock", *self.case.kept)):
                # Has a digest, or says that the folder is not complete, and the command is run again; a lock ends with its process,
                # and its file stays where the JSON library ends the process because destructors of its own allocate.
                continue
            if name.endswith(".jsonl") and self.result.files.get(name) and \
                    without_times(self.result.files[name]).startswith(without_times(content)):
                continue  # lines are added to it one by one, and readers leave out one that is cut
            allowed = [files[name] for files in (self.before, self.result.files) if name in files]
            if not any(self.same(name, content, other) for other in allowed):
                return f"{name} is neither what it was nor what it becomes" if allowed else f"{name} is left over"
        lost = [name for name in self.before if name not in result.files and name in self.result.files]
        return f"{lost} are gone" if lost else None


class Fault:
    def __init__(self, group, how, number, place):
        self.group, self.how, self.number, self.place = group, how, number, place

    def __str__(self):
        how = errno.errorcode.get(int(self.how), self.how) if self.how.isdigit() else self.how
        return f"{self.group}:{how}:{self.number} ({self.place})"

    @property
    def text(self):
        return f"{self.group}:{self.how}:{self.number}"


def spaced(faults, sample):
    if sample is None or len(faults) <= sample:
        return faults
    return [faults[(2 * i + 1) * len(faults) // (2 * sample)] for i in range(sample)]


REMOVALS = {"unlink", "unlinkat", "remove"}
READS_AND_WRITES = {"read", "pread", "write", "pwrite", "writev", "fwrite"}


def memory_faults(calls, seen):
    """For each place not yet seen, its first and its last call."""
    places = collections.defaultdict(list)
    for number, call in enumerate(calls, 1):
        places[call].append(number)
    chosen = sorted({number for call, numbers in places.items() if call not in seen for number in (numbers[0], numbers[-1])})
    seen.update(places)
    return {how: [Fault("memory", how, number, calls[number - 1].split()[0]) for number in chosen] for how in ("once", "always")}


def system_faults(calls):
    kinds = {str(error): list(enumerate(calls, 1)) for error in (errno.EIO, errno.ENOSPC, errno.EINTR)}
    kinds["always"] = kinds["kill"] = list(enumerate(calls, 1))
    kinds["short"] = [(number, call) for number, call in enumerate(calls, 1) if call in READS_AND_WRITES]
    return {how: [Fault("system", how, number, call) for number, call in list_] for how, list_ in kinds.items()}


class Session:
    def __init__(self, runner, keep):
        self.runner = runner
        self.keep = keep
        self.failures = []
        self.kinds = collections.Counter()
        self.lock = threading.Lock()

    def failed(self, case, fault, what, result):
        with self.lock:
            self.failures.append(f"{case.case.name} {fault}: {what}")
            kind = (case.case.name, fault.group, fault.how, fault.place, re.sub("[0-9]+", "0", what))
            self.kinds[kind] += 1
            if self.kinds[kind] <= self.keep:
                print(f"FAILED  {self.failures[-1]}\n        {result.err.strip().rpartition(chr(10))[2]}", flush=True)

    def check(self, undisturbed, fault):
        folder = undisturbed.copy(self.runner)
        log = folder.with_suffix(".log")
        try:
            command = undisturbed.case.command
            result = self.runner.run(command, folder, fault.text, log, lines=undisturbed.case.lines)
            if log.exists():  # with threads, call N is not always the same one
                fault.place = next((line[6:] for line in log.read_text().splitlines() if line.startswith("fault ")), fault.place)
            killed = fault.how == "kill" and result.code == -9
            if killed or fault.how == "always" or fault.place in REMOVALS:
                result.without_temporary_files()
            missing = undisturbed.incomplete(result)
            if not killed and missing:
                wrong = undisturbed.wrong_failure(result, fault.how == "always")
                if wrong:
                    return self.failed(undisturbed, fault, f"{missing}; {wrong}", result)
            if fault.group == "system" and missing:
                again = self.runner.run(command, folder, lines=undisturbed.case.lines)
                again.without_temporary_files()
                if again.code == 2 and undisturbed.case.done and undisturbed.case.done in again.err:
                    again.code, again.out = undisturbed.result.code, undisturbed.result.out
                wrong = undisturbed.incomplete(again)
                if wrong:
                    return self.failed(undisturbed, fault, f"run again: {wrong}", again)
        except subprocess.TimeoutExpired:
            self.failed(undisturbed, fault, "does not end", Result(0, "", "", folder))
        finally:
            shutil.rmtree(folder, ignore_errors=True)
            log.unlink(missing_ok=True)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--program", required=True, type=pathlib.Path)
    parser.add_argument("--library", required=True, type=pathlib.Path)
    parser.add_argument("--sample", type=int, help="faults of each kind and case [all]")
    parser.add_argument("--only", nargs="+", help="names of cases [all]")
    parser.add_argument("--list", action="store_true", help="how many faults there are, and how long they take")
    parser.add_argument("--fault", help="one fault, as GROUP:HOW:N, of --only CASE")
    parser.add_argument("--keep", type=int, default=1, help="failures of a kind to print")
    arguments = parser.parse_args()
    begin = time.monotonic()
    shared_memory = "/dev/shm" if os.access("/dev/shm", os.W_OK) else None  # syncing takes no time there
    with tempfile.TemporaryDirectory(prefix="surefoot-faults-", dir=shared_memory) as scratch:
        runner = Runner(arguments.program.resolve(), arguments.library.resolve(), scratch)
        session = Session(runner, arguments.keep)
        seen, total, expected = set(), 0, 0
        for case in cases():
            if arguments.only and case.name not in arguments.only:
                continue
            undisturbed = Undisturbed(case, runner)
            memory, system = undisturbed.calls(runner, "memory"), undisturbed.calls(runner, "system")
            kinds = {("memory", how): list_ for how, list_ in memory_faults(memory, seen).items()}
            kinds |= {("system", how): list_ for how, list_ in system_faults(system).items()}
            faults = [fault for list_ in kinds.values() for fault in spaced(list_, arguments.sample)]
            if arguments.fault:
                group, how, number = arguments.fault.split(":")
                faults = [Fault(group, str(getattr(errno, how, how)), int(number), "given")]
            case_begin = time.monotonic()
            if arguments.list:
                undisturbed.undisturbed(runner)
                seconds = (time.monotonic() - case_begin) * len(faults) / len(os.sched_getaffinity(0))
                total, expected = total + len(faults), expected + seconds
                print(f"{case.name}: {len(memory)} allocations, {len(system)} system calls; {len(faults)} faults, about "
                      f"{seconds / 60:.0f} min: " + ", ".join(f"{group} {how} {len(list_)}" for (group, how), list_ in kinds.items()),
                      flush=True)
                continue
            with concurrent.futures.ThreadPoolExecutor(len(os.sched_getaffinity(0))) as pool:
                list(pool.map(lambda fault: session.check(undisturbed, fault), faults))
            total += len(faults)
            print(f"{case.name}: {len(memory)} allocations, {len(system)} system calls; {len(faults)} faults in "
                  f"{time.monotonic() - case_begin:.0f} s", flush=True)
    if arguments.list:
        print(f"{total} faults, about {expected / 60:.0f} min; more where the command is run again")
        return 0
    print(f"{total} faults, {len(session.failures)} not as they should be, {time.monotonic() - begin:.0f} s")
    return 1 if session.failures else 0


if __name__ == "__main__":
    sys.exit(main())
