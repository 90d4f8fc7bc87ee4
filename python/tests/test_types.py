"""The package is typed, and the stub says what the extension module has."""

import ast
import pathlib
import subprocess
import sys

import pytest
import surefoot


def test_the_package_passes_strict_checks(source, tmp_path):
    pytest.importorskip("mypy")
    command = [sys.executable, "-m", "mypy", "--config-file", source / "pyproject.toml", "--cache-dir", tmp_path,
               "-p", "surefoot", "-p", "surefoot_fit"]  # fmt: skip
    result = subprocess.run(command, capture_output=True, text=True, cwd=tmp_path)
    assert result.returncode == 0, result.stdout + result.stderr


def test_types_of_users_are_checked(tmp_path):
    pytest.importorskip("mypy")
    (tmp_path / "user.py").write_text(
        "import numpy as np, surefoot\n"
        "certificate = surefoot.certify(np.zeros((3, 3)), tolerances=[0.1])\n"
        "reveal_type(certificate)\n"
        "surefoot.certify(np.zeros((3, 3)), tolerance=[0.1])\n"
    )
    command = [sys.executable, "-m", "mypy", "--cache-dir", tmp_path / "cache", "user.py"]
    result = subprocess.run(command, capture_output=True, text=True, cwd=tmp_path)
    assert "surefoot.certificate.Certificate" in result.stdout
    assert 'Unexpected keyword argument "tolerance"' in result.stdout


def spelled(node):
    """A type in one spelling: that of the stub, whoever wrote it. Any stands for what the stub leaves open."""
    if isinstance(node, ast.Constant) and node.value is None:
        return "None"
    if isinstance(node, ast.BinOp):
        parts = {*spelled(node.left).split(" | "), *spelled(node.right).split(" | ")}
        for accepted, name in (("int", "SupportsInt"), ("float", "SupportsFloat")):
            parts = parts - {name, "SupportsIndex"} | {accepted} if name in parts else parts
        return "Path" if parts == {"PathLike", "str", "bytes"} else " | ".join(sorted(parts))
    if isinstance(node, ast.Subscript):
        base = spelled(node.value)
        inner = node.slice.elts if isinstance(node.slice, ast.Tuple) else [node.slice]
        return base if base in ("array", "Annotated") else f"{base}[{', '.join(map(spelled, inner))}]"
    if isinstance(node, ast.List):  # the parameters of a callable
        return f"[{', '.join(map(spelled, node.elts))}]"
    name = node.attr if isinstance(node, ast.Attribute) else node.id
    return {"object": "Any", "NDArray": "array", "ndarray": "array"}.get(name, name)


def fits(stub, runtime):
    """Whether the stub says what pybind11 says. Either may leave open what the other knows: by Any, or a tuple's parts."""
    if "Any" in (stub, runtime) or stub == runtime or (runtime == "tuple" and stub.startswith("tuple[")):
        return True
    outer, _, inner = stub.partition("[")
    return inner == "Any]" and runtime.startswith(outer + "[")


def signature_of(function):
    """Parameters (name, type) and result that pybind11 writes as the first line of a docstring."""
    line = function.__doc__.strip().splitlines()[0]
    assert "Overloaded" not in function.__doc__, line
    node = ast.parse(f"def f{line[line.index('('):]}: ...").body[0]
    return [(argument.arg, spelled(argument.annotation)) for argument in node.args.args], spelled(node.returns)


def compare_function(place, stub, function, own_first):
    parameters, result = signature_of(function)
    parameters = parameters[1:] if own_first else parameters
    given = stub.args.posonlyargs + stub.args.args
    given = given[1:] if own_first else given
    named = [name for name, _ in parameters if not name.startswith("arg")]
    positional = [argument.arg for argument in stub.args.posonlyargs if argument.arg != "self"]
    assert len(given) == len(parameters), f"{place}: {len(given)} parameters in the stub, {len(parameters)} in the module"
    assert named == [] or named == [argument.arg for argument in given], f"{place}: other names"
    assert bool(named) or len(positional) == len(given), f"{place}: its parameters have no names, the stub needs /"
    for argument, (_, runtime) in zip(given, parameters):
        assert fits(spelled(argument.annotation), runtime), f"{place}({argument.arg}): {runtime} in the module"
    assert fits(spelled(stub.returns), result), f"{place}: gives {result}"


def compare_class(name, stub, module_class):
    members = {node.target.id if isinstance(node, ast.AnnAssign) else node.name: node
               for node in stub.body if isinstance(node, (ast.FunctionDef, ast.AnnAssign))}  # fmt: skip
    assert public(members) == public(vars(module_class)), name
    for member, node in members.items():
        place, runtime = f"{name}.{member}", vars(module_class)[member]
        decorators = [] if isinstance(node, ast.AnnAssign) else [decorator.id for decorator in node.decorator_list]
        if isinstance(node, ast.AnnAssign) or "property" in decorators:
            assert (runtime.fset is not None) == isinstance(node, ast.AnnAssign), f"{place}: settable or not"
            annotation = node.annotation if isinstance(node, ast.AnnAssign) else node.returns
            _, result = signature_of(runtime.fget)
            assert fits(spelled(annotation), result), f"{place}: is {result}"
        else:
            compare_function(place, node, getattr(module_class, member), own_first="staticmethod" not in decorators)


def public(names):
    return {name for name in names if not name.startswith("_")}


def test_the_stub_says_what_the_extension_module_has_by_signature():
    stub = ast.parse(pathlib.Path(surefoot.__file__).with_name("_core.pyi").read_text()).body
    core = surefoot._core
    known = {}
    for node in stub:
        if isinstance(node, ast.FunctionDef):
            known[node.name] = node
            compare_function(node.name, node, getattr(core, node.name), own_first=False)
        elif isinstance(node, ast.ClassDef):
            known[node.name] = node
            if not issubclass(getattr(core, node.name), Exception):
                compare_class(node.name, node, getattr(core, node.name))
        elif isinstance(node, ast.AnnAssign):
            known[node.target.id] = node
            wanted = spelled(node.annotation).partition("[")[0]
            assert type(getattr(core, node.target.id)).__name__ == wanted, node.target.id
    assert public(known) == public(dir(core))


def test_a_stub_that_differs_is_noticed():
    def compare(text):
        compare_function("kl", ast.parse(text).body[0], surefoot._core.delta_of_confidence, own_first=False)

    compare("def kl(confidence: float, /) -> float: ...")
    for wrong in (
        "def kl(confidence: float) -> float: ...",
        "def kl(confidence: str, /) -> float: ...",
        "def kl(confidence: float, /) -> int: ...",
        "def kl(confidence: float, more: float, /) -> float: ...",
    ):
        with pytest.raises(AssertionError):
            compare(wrong)


def test_the_marker_is_installed():
    assert (pathlib.Path(surefoot.__file__).parent / "py.typed").exists()
