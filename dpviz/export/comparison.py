"""Numbers of a stored file against those of today, for designs of the desk and for plans."""

from __future__ import annotations

import math
import sys
from collections.abc import Mapping
from typing import NamedTuple

from dpviz.core.formatting import describe_value, format_number

AGREEMENT = 1e-9  # relative distance within which processors find the same number
MAX_NUMBERS = 300  # of a file that are compared
MAX_NAME_CHARACTERS = 200
MISSING = "not there"
PLAIN_WORDS = (MISSING, "infinite", "not known")


class Difference(NamedTuple):
    """A number of a file that differs from today's: its name, the file's value and ours."""

    name: str
    stored: str
    current: str


def json_number(value: float) -> float | str:
    """A number as JSON can hold it."""
    return value + 0.0 if math.isfinite(value) else "infinite"  # a zero has no sign


def compare_numbers(stored: Mapping[str, object], current: Mapping[str, object]) -> list[Difference]:
    """Numbers by name that a file has otherwise than we find them, or that one of both has not.

    >>> compare_numbers({"ε": 1.0, "δ": "infinite"}, {"ε": 1.5, "δ": "infinite", "n": 3})
    [Difference(name='ε', stored='1', current='1.5'), Difference(name='n', stored='not there', current='3')]
    """
    names = dict.fromkeys([*current, *stored])
    pairs = {name: (stored.get(name, MISSING), current.get(name, MISSING)) for name in names}
    return [Difference(name, *map(_shown, pair)) for name, pair in pairs.items() if not _agree(*pair)]


def _agree(left: object, right: object) -> bool:
    numbers = [value for value in (left, right) if isinstance(value, int | float) and not isinstance(value, bool)]
    if len(numbers) < 2:
        return type(left) is type(right) and left == right
    if any(abs(value) > sys.float_info.max for value in numbers):  # an int may be any
        return False
    return math.isclose(*numbers, rel_tol=AGREEMENT, abs_tol=1e-12)


def _shown(value: object) -> str:
    if isinstance(value, float) and math.isfinite(value):
        return format_number(value, 12)
    return value if isinstance(value, str) and value in PLAIN_WORDS else describe_value(value)
