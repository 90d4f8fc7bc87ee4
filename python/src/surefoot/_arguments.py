"""Arguments that are single values: the wrong kind is a TypeError that names the argument."""

from __future__ import annotations

import operator
from typing import Any

import numpy as np


def brief(value: Any) -> str:
    """A value in a message: one line, not a long one."""
    words = " ".join(repr(value).split())
    return words if len(words) <= 80 else words[:77] + "..."


def text(name: str, value: Any) -> str:
    if not isinstance(value, str):
        raise TypeError(f"{name}: {brief(value)} is not a text")
    try:
        value.encode()
    except UnicodeEncodeError:
        raise ValueError(f"{name}: {brief(value)} cannot be written as UTF-8") from None
    return value


def real_number(name: str, value: Any) -> float:
    if not isinstance(value, (int, float, np.integer, np.floating)) or isinstance(value, bool):
        raise TypeError(f"{name}: {brief(value)} is not a real number")
    return float(value)


def whole_number(name: str, value: Any) -> int:
    try:
        number = operator.index(value)
    except TypeError:
        raise TypeError(f"{name}: {brief(value)} is not a whole number") from None
    if not -(2**63) <= number < 2**63:
        raise ValueError(f"{name}: {number} does not fit into 64 bits")
    return number


def flag(name: str, value: Any) -> bool:
    """True or False; 0 and 1 too, as solvers take them."""
    if isinstance(value, (bool, np.bool_)) or (isinstance(value, (int, np.integer)) and value in (0, 1)):
        return bool(value)
    raise TypeError(f"{name}: {brief(value)} is neither True nor False")
