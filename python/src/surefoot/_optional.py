"""Packages that surefoot works with but does not need."""

from __future__ import annotations

import importlib
import importlib.util
from typing import Any


def present(package: str) -> bool:
    return importlib.util.find_spec(package) is not None


def needed(module: str) -> Any:
    """The module, or an ImportError that says how to get it."""
    try:
        return importlib.import_module(module)
    except ImportError as error:
        package = module.partition(".")[0]
        raise ImportError(f"this needs the package {package}: pip install {package} ({error})") from error
