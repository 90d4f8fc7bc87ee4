"""The workflow that users copy into their projects, examples/ci/compare-solver-versions.yml: what it names is there.

Surefoot is the second checkout: every path of it below surefoot/ is a file of this repository, the preset and the target of its
build are those of CMake, and the command has the arguments that the script takes.
"""

import argparse
import json
import pathlib
import re
import shlex
import sys

try:
    import yaml
except ImportError:
    print("check_workflow: PyYAML is not installed (python3-yaml); nothing was checked", file=sys.stderr)
    sys.exit(77)


def arguments_after(words, option):
    return words[words.index(option) + 1]


parser = argparse.ArgumentParser()
parser.add_argument("--source", type=pathlib.Path, required=True)
source = parser.parse_args().source
workflow = yaml.safe_load((source / "examples/ci/compare-solver-versions.yml").read_text())
steps = workflow["jobs"]["compare"]["steps"]
checkouts = [step for step in steps if step.get("uses", "").startswith("actions/checkout")]
assert len(checkouts) == 2, "the project, then Surefoot"
assert "with" not in checkouts[0], "the project is in the working folder"
folder = checkouts[1]["with"]["path"]
assert checkouts[1]["with"]["repository"], "another repository"

build = next(step for step in steps if step.get("working-directory") == folder)
presets = {each["name"] for each in json.loads((source / "CMakePresets.json").read_text())["configurePresets"]}
cmake = "".join(path.read_text() for path in source.glob("**/CMakeLists.txt") if "build" not in path.relative_to(source).parts)
for line in build["run"].splitlines():
    words = shlex.split(line)
    if words[0] != "cmake":
        assert (source / words[0]).is_file(), words[0]
        groups = re.findall(r"\[(\w+)\]=", (source / words[0]).read_text())
        assert set(words[1:]) <= set(groups), line
        continue
    assert arguments_after(words, "--preset") in presets, line
    for definition in (word for word in words if word.startswith("-D")):
        assert re.search(rf"option\({definition[2:].split('=')[0]}\b", cmake), definition
    if "--build" in words:
        assert re.search(rf"add_executable\({arguments_after(words, '--target')}\b", cmake), line

compare = next(step for step in steps if "SUREFOOT" in step.get("env", {}))
release = next(each for each in json.loads((source / "CMakePresets.json").read_text())["configurePresets"] if each["name"] == "release")
program = release["binaryDir"].replace("${sourceDir}", folder) + "/surefoot"
assert compare["env"]["SUREFOOT"] == program, f"the program is {program}"
script, old, new, family, out = shlex.split(compare["run"])
for path in (script, family):
    assert path.startswith(folder + "/") and (source / path.removeprefix(folder + "/")).exists(), path
assert old != new and "==" not in out and not out.startswith("/")
text = (source / script.removeprefix(folder + "/")).read_text()
written = {f"{out}/{name}" for name in re.findall(r'\$folder/([\w.]+)"', text)}
for step in steps:
    if step.get("uses", "").startswith("actions/upload-artifact"):
        for name in step["with"]["path"].split():
            assert name in written or name == f"{out}/*.csv", f"{name} is not written by {script}"
print(f"{len(steps)} steps, {script} on {family}")
