#!/usr/bin/env python3
"""The example for continuous integration: two versions of osqp from PyPI on the problems of examples/mpc.

    tests/solvers/compare_versions.py --program build/surefoot

Exit code 0: it says what it should; 1: it does not; 77: the packages cannot be had, nothing was compared. With
SUREFOOT_REQUIRE_PACKAGES=1 that is a failure, 1, instead.
"""

import argparse
import os
import pathlib
import subprocess
import sys
import xml.etree.ElementTree

ROOT = pathlib.Path(__file__).resolve().parents[2]
OLD, NEW = "osqp==0.6.7.post3", "osqp==1.1.3"
sys.path.insert(0, str(ROOT / "tests/support"))
from pypi import SKIPPED  # noqa: E402


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--program", type=pathlib.Path, default=ROOT / "build/surefoot")
    parser.add_argument("--folder", type=pathlib.Path, default=ROOT / "build/versions",
                        help="where the environments and the results go (default: %(default)s)")
    options = parser.parse_args()
    program = str(options.program.resolve())
    folder = options.folder
    for name in ("junit.xml", "summary.md", "record.json"):
        (folder / name).unlink(missing_ok=True)

    script = ROOT / "examples/ci/compare_versions.sh"
    found = subprocess.run([script, OLD, NEW, ROOT / "examples/mpc", folder], env={**os.environ, "SUREFOOT": program},
                           stdout=subprocess.PIPE, text=True)
    print(found.stdout)
    if found.returncode == SKIPPED:
        rule = "*" * 100
        print(f"{rule}\n*** SKIPPED: {OLD} and {NEW} could not be installed. The example for continuous integration was "
              f"NOT run.\n{rule}", file=sys.stderr)
        return 1 if os.environ.get("SUREFOOT_REQUIRE_PACKAGES", "0") not in ("", "0") else SKIPPED

    wrong = []

    def expect(holds, text):
        if not holds:
            wrong.append(text)

    def run(*arguments):
        return subprocess.run([program, *map(str, arguments)], stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)

    # With 1.1.3, about 16 of 100 of these problems take 75 iterations instead of 50.
    expect(found.returncode == 1, f"exit code {found.returncode}, not 1: at most 50 iterations is proven to be rarer")
    suite = xml.etree.ElementTree.parse(folder / "junit.xml").getroot()
    expect((suite.get("tests"), suite.get("failures"), suite.get("skipped")) == ("2", "1", "0"),
           f"the JUnit file has {suite.attrib}")
    failed = [case.get("name") for case in suite.iter("testcase") if case.find("failure") is not None]
    expect(failed == ["at most 50"], f"what failed is {failed}")
    summary = (folder / "summary.md").read_text()
    expect("old alone" in summary and "at most 100" in summary, summary)
    verified = run("verify", folder / "record.json")
    expect(verified.returncode == 0, verified.stdout)
    turned = run("compare", folder / "new.csv", folder / "old.csv", "--paired", "--scalar", "--names", "new,old", "--claim",
                 "at most 50", "--allow", "0.02")
    expect(turned.returncode == 0, f"the other way round the exit code is {turned.returncode}, not 0: {turned.stdout}")
    workflow = (ROOT / "examples/ci/compare-solver-versions.yml").read_text()
    expect("examples/ci/compare_versions.sh" in workflow, "the workflow does not run the script")
    for text in wrong:
        print(f"wrong: {text}", file=sys.stderr)
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
