#!/usr/bin/env python3
"""docs/reference_training.md against the program: every key of every table, and every default.

Keys: an unknown one is refused with the list of those there are. Defaults of models: what the metadata of weights say that were trained
without them. Defaults of stages and posteriors: weights are the same bits with and without them, in three trainings that use them all.

    tests/docs/training_reference.py --program build/surefoot --source .
"""

import argparse
import json
import pathlib
import re
import subprocess
import sys
import tempfile

STAGES = {
    # What of a stage's keys an effect is seen of; the first goes through every key's own default.
    "the paper's": {},
    "cosine": {"schedule": '"cosine"', "prior": '"closed-form"'},
    "tolerance": {"surrogate": '"tolerance"', "penalty": '"one-sided"'},
}
# Read from metadata under these names.
METADATA = {("family", "samples"): "samples", ("family", "first"): "samples.first", ("network", "steps"): "steps",
            ("network", "precision"): "training.precision", ("", "seed"): "training.seed",
            ("family", "kind"): "problems.kind"}  # fmt: skip


def tables_of(page):
    """(table, models or None) -> {key: default}."""
    tables, where = {}, None
    for line in page.read_text().splitlines():
        heading = re.match(r"#+ (The file|\[+(\w+)\]+)( of (.*))?$", line)
        if line.startswith("#"):
            where = None
        if heading:
            models = tuple(heading[4].split(", ")) if heading[4] else None
            where = (heading[2] or "", models)
            tables[where] = {}
        row = re.match(r"\| `(\w+)` \| (.*?) ?\|", line)
        if row and where is not None:
            assert row[1] not in tables[where], f"{where}: {row[1]} twice"
            tables[where][row[1]] = row[2].strip("`")
    return tables


def keys_for(tables, table, model):
    found = {}
    for (name, models), keys in tables.items():
        if name == table and (models is None or model in models):
            found |= keys
    return found


class Program:
    def __init__(self, path, folder):
        self.path, self.folder = path, folder

    def train(self, text, name="w"):
        (self.folder / "t.toml").write_text(text)
        return subprocess.run([self.path, "train", "t.toml", "--out", name, "--quiet"], cwd=self.folder, capture_output=True, text=True)

    def weights(self, text):
        result = self.train(text)
        assert result.returncode == 0, f"{text}\n{result.stderr}"
        data = (self.folder / "w/weights.safetensors").read_bytes()
        length = int.from_bytes(data[:8], "little")
        return json.loads(data[8 : 8 + length])["__metadata__"], data[8 + length :]


def write_folder(folder):
    """Eight quadratic programs of one variable, for models of a user's folder."""
    folder.mkdir()
    for name in ("P", "A"):
        (folder / f"{name}.mtx").write_text("%%MatrixMarket matrix coordinate real general\n1 1 1\n1 1 1\n")
    for name, values in (("q", "0"), ("l", "-1"), ("u", "1")):
        (folder / f"{name}.csv").write_text("".join(f"{values if name != 'q' else (i * i - 20) / 10}\n" for i in range(8)))


def check_keys(program, tables, models):
    for model in models:
        for table in ("", "family", "network", "loss", "posterior", "stage"):
            heading = {"": "", "stage": "[[stage]]\n"}.get(table, f"[{table}]\n")
            result = program.train(f'model = "{model}"\n{heading}zzzz = 1\n' + ("" if table == "stage" else "[[stage]]\n"))
            found = re.search(r"'zzzz' is not a key of .*?; its keys are (.*)", result.stderr)
            assert result.returncode == 2 and found, f"{model} {table}: {result.stderr}"
            known, documented = set(found[1].split(", ")), set(keys_for(tables, table, model))
            assert known == documented, f"{model} [{table}]: only in the program {known - documented}, only documented {documented - known}"


def same(documented, recorded):
    if documented.startswith("["):
        recorded = "[" + recorded.replace(";", ",") + "]"
    try:
        return json.loads(documented) == json.loads(recorded)
    except ValueError:
        return documented.strip('"') == recorded


def check_model_defaults(program, tables, models):
    for model in models:
        folder = 'folder = "problems"\n' if "folder" in keys_for(tables, "family", model) else ""
        metadata, _ = program.weights(f'model = "{model}"\n[family]\nsamples = 8\n{folder}[[stage]]\nbatch = 8\n')
        for table in ("", "family", "network"):
            for key, default in keys_for(tables, table, model).items():
                name = METADATA.get((table, key), f"{table}.{key}")
                if key in ("samples", "folder", "dictionary", "codes", "measurement_file", "flip_signs", "name", "family", "network", "loss", "posterior", "stage", "model"):
                    continue
                if key == "steps":
                    name = "steps"
                assert name in metadata, f"{model}: {name} is not in {sorted(metadata)}"
                if default == "by the solutions":
                    assert float(metadata[name]) > 0, f"{model} {key}: {metadata[name]}"
                    continue
                assert same(default, metadata[name]), f"{model} {table} {key}: {default} is documented, {metadata[name]} it is"


def check_training_defaults(program, tables):
    stage, posterior = keys_for(tables, "stage", "alista"), keys_for(tables, "posterior", "alista")
    for name, base in STAGES.items():
        def text(extra_stage, extra_posterior, base=base):
            lines = ['model = "alista"', "[family]", "samples = 40", "measurements = 8", "variables = 16", "[network]", "steps = 3",
                     "[posterior]", *extra_posterior, "[[stage]]", "batch = 10"]  # fmt: skip
            return "\n".join(lines + [f"{key} = {value}" for key, value in base.items()] + extra_stage) + "\n"

        _, plain = program.weights(text([], []))
        stated = []
        for key, default in stage.items():
            if key in base or key in ("batch", "log_variance"):
                continue
            value = default.split(" ")[0] if "(nmse)" in default else default
            stated.append(f"{key} = {value}")
        of_posterior = [f"{key} = {default}" for key, default in posterior.items() if default != "none"]
        _, explicit = program.weights(text(stated, of_posterior))
        assert plain == explicit, f"stage {name}: the documented defaults give other weights"
        # And the comparison sees a change: each of these keys, one at a time.
        changes = {"mean_rate": 0.002, "variance_rate": 0.002, "scale": 0.2, "penalty_weight": 500, "target": 0.2, "prior_rate": 0.002,
                   "final_rate": 0.5, "tolerance": -20, "width": 2.0, "epochs": 2, "samples": 20, "noise": "false"}  # fmt: skip
        seen = {key for key, value in changes.items() if program.weights(text([f"{key} = {value}"], []))[1] != plain}
        wanted = {"the paper's": {"mean_rate", "variance_rate", "scale", "penalty_weight", "target", "prior_rate", "epochs", "samples"},
                  "cosine": {"final_rate", "mean_rate"}, "tolerance": {"tolerance", "width", "penalty_weight", "target"}}[name]  # fmt: skip
        assert wanted <= seen, f"stage {name}: {wanted - seen} change nothing"
        for key, value in {"log_variance": -9, "prior_variance": 0.02, "delta": 0.001}.items():
            assert base or program.weights(text([], [f"{key} = {value}"]))[1] != plain, f"posterior: {key} changes nothing"


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--program", type=pathlib.Path, required=True)
    parser.add_argument("--source", type=pathlib.Path, required=True)
    options = parser.parse_args()
    tables = tables_of(options.source / "docs/reference_training.md")
    known = subprocess.run([options.program.resolve(), "train", "/dev/stdin"], input='model = "?"\n', capture_output=True, text=True).stderr
    models = re.search(r"is not one of (.*)", known)[1].split(", ")
    with tempfile.TemporaryDirectory() as folder:
        program = Program(options.program.resolve(), pathlib.Path(folder))
        write_folder(program.folder / "problems")
        check_keys(program, tables, models)
        check_model_defaults(program, tables, models)
        check_training_defaults(program, tables)
    documented = re.findall(r"`([\w-]+)`", re.search(r"\| `model` .*", (options.source / "docs/reference_training.md").read_text())[0].split("trained:")[1])
    assert documented == models, f"models: {models} are known, {documented} are documented"
    print(f"{sum(map(len, tables.values()))} keys of {len(models)} models are as documented")


if __name__ == "__main__":
    sys.exit(main())
