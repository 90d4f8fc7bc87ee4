"""Runs every command of the documentation and of README.md, page by page, each page in a new folder.

  run_commands.py --program build/surefoot --source . [PAGE...]

A block of commands is fenced with ```sh. Where one is too long for a test, a comment stands before it,
<!-- not run: the reason -->, and the reason is printed. A line that begins with `surefoot` in any other block is an error: documentation
must not show a command that nobody runs. Commands in the rows of a table, `build/surefoot ...`, are run too, but those whose time is minutes.
"""

import argparse
import os
import pathlib
import re
import subprocess
import sys
import tempfile
import time

FENCE = re.compile(r"^```(\w*)\s*$")
NOT_RUN = re.compile(r"^<!-- not run: (.+) -->\s*$")
COMMAND = re.compile(r"^(?:    |\t)?\$?\s*(?:build/)?surefoot [a-z]")
IN_TABLE = re.compile(r"^\|[^|]*\| `(build/surefoot [^`]*)`")


def blocks(page):
    """(first line, text, reason not to run it or None) of each sh block; ValueError for a command elsewhere."""
    found, reason, language, text, first = [], None, None, [], 0
    for number, line in enumerate(page.read_text().splitlines(), 1):
        fence = FENCE.match(line)
        if language is None:
            if fence:
                language, text, first = fence[1], [], number + 1
                continue
            if NOT_RUN.match(line):
                reason = NOT_RUN.match(line)[1]
                continue
            if IN_TABLE.match(line):
                found.append((number, IN_TABLE.match(line)[1], "minutes" if "minute" in line.rpartition("| ")[2] else None))
                continue
            if re.match(r"^(    |\t)", line) and COMMAND.match(line) and reason is None:
                raise ValueError(f"{page}:{number}: a command that no test runs: {line.strip()}")
            if line.strip() and not re.match(r"^(    |\t)", line):
                reason = None
            continue
        if fence:
            if language == "sh":
                found.append((first, "\n".join(text), reason))
            language, reason = None, None
            continue
        if language != "sh" and COMMAND.match(line):
            raise ValueError(f"{page}:{number}: a command that no test runs: {line.strip()}")
        text.append(line)
    if language is not None:
        raise ValueError(f"{page}:{first - 1}: a block that does not end")
    return found


def main():
    arguments = argparse.ArgumentParser()
    arguments.add_argument("--program", type=pathlib.Path, required=True)
    arguments.add_argument("--source", type=pathlib.Path, required=True)
    arguments.add_argument("pages", nargs="*", type=pathlib.Path)
    arguments = arguments.parse_args()
    source = arguments.source.absolute()
    environment = dict(os.environ, PATH=f"{arguments.program.absolute().parent}:{os.environ['PATH']}")
    failed = ran = 0
    for page in arguments.pages or [source / "README.md", *sorted((source / "docs").rglob("*.md"))]:
        try:
            todo = blocks(page)
        except ValueError as error:
            print(f"FAILED   {error}")
            failed += 1
            continue
        with tempfile.TemporaryDirectory() as scratch:
            for shared in ("examples", "experiments"):
                os.symlink(source / shared, pathlib.Path(scratch) / shared)
            os.symlink(arguments.program.absolute().parent, pathlib.Path(scratch) / "build")
            for line, text, reason in todo:
                where = f"{page.relative_to(source) if page.is_relative_to(source) else page}:{line}"
                if reason is not None:
                    print(f"not run  {where}: {reason}")
                    continue
                begin = time.monotonic()
                result = subprocess.run(["bash", "-euo", "pipefail", "-c", text], cwd=scratch, env=environment, stdin=subprocess.DEVNULL,
                                        stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
                ran += 1
                print(f"{'ok' if result.returncode == 0 else 'FAILED':8} {where} ({time.monotonic() - begin:.1f} s)")
                if result.returncode != 0:
                    failed += 1
                    print(text, result.stdout[-2000:], sep="\n")
                    break  # what follows on the page builds on it
    print(f"{ran} blocks of commands run, {failed} failed")
    return 1 if failed or ran == 0 else 0


if __name__ == "__main__":
    sys.exit(main())
