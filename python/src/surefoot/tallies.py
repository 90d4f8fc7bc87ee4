"""Counts of a part of the samples, for many processes, jobs or machines."""

from __future__ import annotations

import os
from pathlib import Path

from . import _core

__all__ = ["Tally"]


class Tally:
    """What :func:`surefoot.count` makes: counts of some samples, everything that is claimed of them, and which they are.

    Tallies are pickled, sent and written; they grow with what is claimed and not with the samples beyond a limit. Merged in any
    order they are the tally of all samples, and :func:`surefoot.certify` makes the certificate that one process makes.

    >>> import numpy as np, surefoot
    >>> traces = np.random.default_rng(1).exponential(0.7 ** np.arange(20), (500, 20))
    >>> parts = [surefoot.count(traces[i : i + 100], source="example", first_row=i) for i in range(0, 500, 100)]
    >>> tally = parts[3].merge(*parts[:3], parts[4])
    >>> tally.samples, tally.rows
    (500, ['rows 0 .. 499 of example'])
    >>> tally.merge(parts[0])
    Traceback (most recent call last):
        ...
    surefoot._core.InputError: tally: rows 0 .. 99 of example are counted already
    """

    def __init__(self) -> None:
        raise TypeError("Tally: is made by surefoot.count(), Tally.read() or Tally.of_bytes()")

    _counted: _core.PartTally

    @classmethod
    def _of(cls, counted: _core.PartTally) -> Tally:
        tally = object.__new__(cls)
        tally._counted = counted
        return tally

    @property
    def samples(self) -> int:
        """How many were counted, of each variant."""
        return self._counted.samples

    @property
    def rows(self) -> list[str]:
        """Which they are, in words."""
        return self._counted.rows

    def merge(self, *others: Tally) -> Tally:
        """A tally of these samples and those of the others. Refused, with the reason, if it declares something else, is of
        another version, if samples were counted in both, or if it is not known which were."""
        for other in others:
            if not isinstance(other, Tally):
                raise TypeError(f"tally: {type(other).__name__} is no surefoot.Tally")
        merged = self._counted.copy()
        for other in others:
            merged.merge(other._counted, "tally")
        return Tally._of(merged)

    def to_bytes(self) -> bytes:
        """What is written to a file: equal tallies have equal bytes, however they were merged."""
        return self._counted.bytes()

    @classmethod
    def of_bytes(cls, content: bytes, name: str = "tally") -> Tally:
        """The tally with these bytes; damaged ones are refused."""
        return cls._of(_core.PartTally.from_bytes(bytes(memoryview(content)), name))

    def write(self, path: str | os.PathLike[str]) -> None:
        """Writes a file that ``surefoot certify`` takes. It is there whole or not at all."""
        _core.write_file(Path(path), self.to_bytes())

    @classmethod
    def read(cls, path: str | os.PathLike[str]) -> Tally:
        """A file that :meth:`write` or ``surefoot certify --tally`` wrote."""
        return cls.of_bytes(Path(path).read_bytes(), os.fspath(path))

    def __reduce__(self) -> tuple[object, tuple[bytes]]:
        return _unpickled, (self.to_bytes(),)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Tally) and self.to_bytes() == other.to_bytes()

    def __hash__(self) -> int:
        return hash(self.to_bytes())

    def __repr__(self) -> str:
        return f"<surefoot.Tally of {', '.join(self.rows)}>"


def _unpickled(content: bytes) -> Tally:
    return Tally.of_bytes(content)
