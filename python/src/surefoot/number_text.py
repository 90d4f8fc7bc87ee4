"""Numbers as text to quote: rounded to the side that claims less, by the formatter of the program.

``f"{x:.3g}"`` rounds to nearest, which may state more than was shown.
"""

from __future__ import annotations

from . import _core

__all__ = ["at_least", "at_most", "confidence", "exactly", "percent_at_least"]


def exactly(value: float) -> str:
    """The shortest text that reads back as the same number, for what was chosen: tolerances, quantiles.

    >>> exactly(0.001), exactly(-8.685889638065037)
    ('1e-3', '-8.685889638065037')
    """
    return _core.exact_label(value)


def at_most(bound: float) -> str:
    """An upper bound, three digits, rounded up; "-" if it says nothing.

    >>> at_most(1.2301e-5), at_most(float("inf"))
    ('1.24e-5', '-')
    """
    return _core.upper_bound_value(bound)


def at_least(bound: float) -> str:
    """A lower bound, three digits, rounded down; "-" if it says nothing.

    >>> at_least(1.2399e-5)
    '1.23e-5'
    """
    return _core.lower_bound_value(bound)


def percent_at_least(share: float) -> str:
    """A lower bound on a share as a percentage, rounded down; "-" if it says nothing.

    >>> percent_at_least(0.98199), percent_at_least(0.99996)
    ('98.1 %', '99.996 %')
    """
    return _core.lower_bound_percent(share)


def confidence(delta: float) -> str:
    """The confidence 1 - delta, rounded down.

    >>> confidence(0.01), confidence(1e-7), confidence(1e-12)
    ('0.99', '0.9999999', '1 - 1e-12')
    """
    return _core.confidence_label(delta)
