"""A progress bar for loops that take long: by tqdm, where that is installed and somebody looks."""

from __future__ import annotations

import sys
from collections.abc import Iterable, Iterator
from typing import Any

from ._optional import present

SECONDS_BEFORE = 1.0  # shorter loops show nothing


def _watched() -> bool:
    """Whether messages go to a terminal or a notebook."""
    return "ipykernel" in sys.modules or (sys.stderr is not None and sys.stderr.isatty())


def shown(items: Iterable[Any], what: str, unit: str, total: int | None = None) -> Iterator[Any]:
    """The items, with a bar that says how many are done and how long the rest takes."""
    if not (present("tqdm") and _watched()):
        yield from items
        return
    from tqdm.auto import tqdm

    yield from tqdm(items, desc=what, unit=f" {unit}", total=total, delay=SECONDS_BEFORE, leave=False, disable=False)
