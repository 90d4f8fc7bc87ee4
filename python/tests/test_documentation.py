"""The documentation names every public name, and says the same of versions everywhere; its Python runs."""

import importlib
import pathlib
import re

import pytest

DOCUMENTED = re.compile(r"^::: ([\w.]+)$", re.MULTILINE)


def documented_names(source):
    """Names of `surefoot` and `surefoot_fit` that docs/reference_python.md shows, whatever module they are taken from."""
    page = (source / "docs/reference_python.md").read_text()
    names = {place.rpartition(".")[2] for place in DOCUMENTED.findall(page)}
    return names | set(re.findall(r"`surefoot\.(\w+)", page))


def test_every_public_name_is_in_the_reference(source):
    import surefoot

    missing = set(surefoot.__all__) - documented_names(source)
    assert not missing, f"docs/reference_python.md lacks {sorted(missing)}"


def test_what_the_reference_shows_is_there(source):
    for place in DOCUMENTED.findall((source / "docs/reference_python.md").read_text()):
        if place.split(".")[-1] in ("torch", "jax", "surefoot_fit"):
            continue  # imported below where their packages are
        module, _, name = place.rpartition(".")
        if (source / "python/src" / place.replace(".", "/")).with_suffix(".py").exists():
            importlib.import_module(place)
        else:
            assert hasattr(importlib.import_module(module), name), place


@pytest.mark.parametrize("name", ["surefoot.torch", "surefoot.jax", "surefoot_fit"])
def test_modules_of_other_packages_list_what_they_have(name):
    pytest.importorskip("jax" if name == "surefoot.jax" else "torch")
    module = importlib.import_module(name)
    assert module.__doc__ and all(getattr(module, each, None) is not None for each in module.__all__)


def test_the_oldest_python_is_the_same_everywhere(source):
    wanted = re.search(r'requires-python = ">=([\d.]+)"', (source / "pyproject.toml").read_text())[1]
    said = {
        "README.md": re.search(r"Python ([\d.]+)\+\]", (source / "README.md").read_text())[1],
        "docs/install.md": re.search(r"Python ([\d.]+) or later", (source / "docs/install.md").read_text())[1],
        "python/CMakeLists.txt": re.search(r"find_package\(Python ([\d.]+) ", (source / "python/CMakeLists.txt").read_text())[1],
    }
    assert set(said.values()) == {wanted}, said
