"""Priors and ranges as text that still keeps the promise when it is typed back."""

from __future__ import annotations

import math

from dpviz.parameters import readable, rounded_down, rounded_up

NONE_NEEDED = 1e-290
"""A least prior up to which any prior is enough."""

BEYOND = "beyond reach"
"""What stands for a NaN: an answer that is not computed at this size; a sentence says why."""


def known(value: float) -> bool:
    """Whether a least prior is a number to show, rather than "impossible" or "any"."""
    return math.isfinite(value) and value > NONE_NEEDED


def least(value: float, digits: int = 5) -> str:
    """A least prior, or least noise, rounded up; in words where it is no number."""
    if math.isnan(value):
        return BEYOND
    if math.isinf(value):
        return "impossible"
    return readable(rounded_up(value, digits), digits) if known(value) else "any"


def largest(value: float, digits: int = 5) -> str:
    """A largest range, rounded down."""
    return BEYOND if math.isnan(value) else readable(rounded_down(value, digits), digits)


def failure(value: float, digits: int = 4) -> str:
    """A δ that is never 0, in words where it is below the floating-point numbers."""
    return readable(value, digits) if value > 0 else "< 10⁻³⁰⁰"
