"""All experiments in one command, tiny: interrupted, resumed, on a full disk. Leaves a whole reproduction for the browser.

  reproduce_all.py --program build/surefoot --out FOLDER
"""

import argparse
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

PAPER = ["robust-kalman", "deblurring", "l2ws", "maml", "sparse-coding"]  # at least these
SIZE = ["--scale", "quick", "--samples", "120", "--epochs", "1", "--models", "alista"]
SIDE = 28
failures = []


def expect(holds, what):
    if not holds:
        failures.append(what)
        print(f"FAILED  {what}", flush=True)


def write_letters(folder, count):
    """Crosses of random places and widths, in the format of EMNIST."""
    draw = random.Random(1)
    images = bytearray()
    for _ in range(count):
        row, column, width = draw.randrange(6, 22), draw.randrange(6, 22), draw.randrange(1, 4)
        images += bytes(255 if abs(i - row) < width or abs(j - column) < width else 0 for i in range(SIDE) for j in range(SIDE))
    sizes = b"".join(size.to_bytes(4, "big") for size in (count, SIDE, SIDE))
    folder.mkdir()
    (folder / "emnist-letters-train-images-idx3-ubyte").write_bytes(b"\0\0\x08\x03" + sizes + images)


def contents(folder):
    """Everything that must be the same whatever happened on the way."""
    return {str(path.relative_to(folder)): path.read_bytes() for ending in ("json", "csv", "tex", "safetensors")
            for path in sorted(folder.rglob(f"*.{ending}")) if path.name not in ("finished.json", "manifest.json")}


class Runner:
    def __init__(self, program, scratch):
        self.program = program
        self.scratch = scratch
        # As the help lists them: "experiment TEXT REQUIRED    a, b, c or all".
        listed = re.search(r"experiment TEXT REQUIRED\s+(.*) or all$", self.run("--help").stdout, re.MULTILINE)
        self.experiments = listed.group(1).split(", ") if listed else []
        expect(set(PAPER) <= set(self.experiments), f"the help lists all experiments: {self.experiments}")

    def run(self, *arguments, **options):
        return subprocess.run([self.program, "reproduce", *arguments], cwd=self.scratch, capture_output=True, text=True,
                              timeout=600, **options)

    def refused(self, arguments, *mentioned):
        result = self.run(*arguments)
        expect(result.returncode == 2 and result.stderr.count("\n") == 1, f"{arguments}: {result.returncode} {result.stderr!r}")
        for word in mentioned:
            expect(word in result.stderr, f"{arguments}: '{word}' in {result.stderr!r}")


def check_refusals(runner):
    runner.refused(["al"], "'al'", *runner.experiments, "all")
    runner.refused(["all", "--steps", "5"], "--steps")
    runner.refused(["all", "--scale", "huge"], "--scale", "'huge'", "quick")
    runner.refused(["all", "--letters", "nowhere", "--out", "x"], "--letters", "nowhere")
    (runner.scratch / "file").write_text("")
    runner.refused(["all", "--out", "file/inside", *SIZE], "file/inside")


def check_whole(runner, whole):
    result = runner.run("all", *SIZE, "--letters", "letters", "--out", whole)
    expect(result.returncode == 0, f"whole: {result.stderr}")
    expect(result.stderr == "", f"whole: {result.stderr!r}")
    for number, name in enumerate(runner.experiments, 1):
        expect(f"[{number}/6] {name}: done in" in result.stdout, f"{name} is done")
        expect((whole / name / "finished.json").exists(), f"{name} is marked")
        expect(not (whole / name / "checkpoints").exists(), f"{name} leaves no checkpoints")
    expect("left for the whole run" in result.stdout, "time left is told")
    for path in sorted(whole.rglob("certificate.json")):
        done = subprocess.run([runner.program, "verify", path], capture_output=True, text=True, check=False)
        expect(done.returncode == 0, f"{path}: {done.stdout}")
    page = (whole / "report.html").read_text()
    done = subprocess.run([runner.program, "verify", whole], capture_output=True, text=True, check=False)
    expect(done.returncode == 0, f"the folder of all is verified: {done.stdout[-500:]}{done.stderr}")
    for path in whole.rglob("table_*.csv"):
        expect(path.relative_to(whole).as_posix() in page, f"{path.name} is linked")


def check_interrupted(runner, whole, folder):
    """Killed inside a training, then resumed: the same results, and what was finished is not done again."""
    shutil.copytree(whole, folder)
    shutil.rmtree(folder / "l2ws")
    certificate = folder / "robust-kalman" / "certificate.json"
    certificate.write_text(certificate.read_text() + " ")
    command = ["all", *SIZE, "--letters", "letters", "--out", folder]
    process = subprocess.Popen([runner.program, "reproduce", *command], cwd=runner.scratch, stdout=subprocess.DEVNULL)
    end = time.monotonic() + 300
    while process.poll() is None and not list(folder.glob("l2ws/checkpoints/*/*.checkpoint")) and time.monotonic() < end:
        time.sleep(0.005)
    process.send_signal(signal.SIGKILL)
    expect(process.wait() == -signal.SIGKILL, "the run was killed inside a training")
    expect(not (folder / "l2ws" / "finished.json").exists(), "what was interrupted is not finished")
    expect((folder / "robust-kalman" / "finished.json").exists(), "what was finished stays so")
    result = runner.run(*command)
    expect(result.returncode == 0, f"gone on: {result.stderr}")
    for name in runner.experiments:
        again = f"{name}: finished before, not done again" in result.stdout
        expect(again == (name != "l2ws"), f"{name} is done again only if it was interrupted")
    expect(contents(folder) == contents(whole), "resumed, the results are the same")


def check_full_disk(runner, whole, folder):
    """Files cannot grow beyond a size: the run says so in a line with the command to go on, and loses nothing."""
    shutil.rmtree(folder / "deblurring")
    before = {name: content for name, content in contents(folder).items() if not name.startswith("deblurring")}
    command = ["all", *SIZE, "--letters", "letters", "--out", folder]
    limited = runner.run(*command, restore_signals=False,
                         preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_FSIZE, (60000, 60000)))
    expect(limited.returncode == 4 and limited.stderr.count("\n") == 1, f"full: {limited.returncode} {limited.stderr!r}")
    kept = ", ".join(name for name in runner.experiments if name != "deblurring")
    for word in ("File too large", f"finished and kept: {kept}", "resume with: surefoot reproduce all"):
        expect(word in limited.stderr, f"full: '{word}' in {limited.stderr!r}")
    expect({n: c for n, c in contents(folder).items() if not n.startswith("deblurring")} == before, "a full disk leaves finished parts")
    result = runner.run(*command)
    expect(result.returncode == 0 and contents(folder) == contents(whole), "after a full disk the results are the same")


def check_without_letters(runner, whole, folder):
    shutil.copytree(whole, folder)
    shutil.rmtree(folder / "deblurring")
    result = runner.run("all", *SIZE, "--out", folder)
    expect(result.returncode == 0, f"no letters: {result.stderr}")
    expect("deblurring IS LEFT OUT" in result.stderr, "letters that are missing are missed aloud")
    expect("Left out: it needs the EMNIST letters" in (folder / "report.html").read_text(), "and in the report")


def main():
    arguments = argparse.ArgumentParser()
    arguments.add_argument("--program", type=pathlib.Path, required=True)
    arguments.add_argument("--out", type=pathlib.Path, required=True)
    arguments = arguments.parse_args()
    whole = arguments.out.absolute()
    shutil.rmtree(whole, ignore_errors=True)
    with tempfile.TemporaryDirectory() as scratch:
        runner = Runner(arguments.program.absolute(), pathlib.Path(scratch))
        write_letters(runner.scratch / "letters", 140)
        check_refusals(runner)
        check_whole(runner, whole)
        if not failures:
            check_interrupted(runner, whole, runner.scratch / "killed")
            check_full_disk(runner, whole, runner.scratch / "killed")
            check_without_letters(runner, whole, runner.scratch / "bare")
    print(f"{len(failures)} checks failed" if failures else "all checks hold")
    return 1 if failures else 0


if __name__ == "__main__":
    sys.exit(main())
