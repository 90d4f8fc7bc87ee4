"""Arguments that are single values: the wrong kind is a TypeError that names the argument."""

from __future__ import annotations

import operator
from typing import Any

import numpy as np


def text(name: str, value: Any) -> str:
    if not isinstance(value, str):
        raise TypeError(f"{name}: {value!r} is not a text")
    return value


def real_number(name: str, value: Any) -> float:
    if not isinstance(value, (int, float, np.integer, np.floating)) or isinstance(value, bool):
        raise TypeError(f"{name}: {value!r} is not a real number")
    return float(value)


def whole_number(name: str, value: Any) -> int:
    try:
        return operator.index(value)
    except TypeError:
        raise TypeError(f"{name}: {value!r} is not a whole number") from None
