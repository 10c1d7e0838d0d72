"""Files of designs and plans that are opened again: they are read, and their numbers compared with those of today."""

from __future__ import annotations

import json
import math
import tomllib
from html import unescape
from typing import Any

from dpviz.core.formatting import describe_value, format_number

MAX_CHARACTERS = 2_000_000  # of a file; a report has some 200,000
MAX_TOML_CHARACTERS = 200_000  # Python's library is slow,
MAX_TOML_DOTS = 3_000  # and needs much memory for a key of many parts
MISSING = "not there"


def read_stored(text: object) -> dict[str, Any]:
    """Content of a file in JSON or TOML, or of a report or a notebook that holds it; refuses any other in a sentence.

    >>> read_stored('n = 3'), read_stored('<html><pre>{"n": 3}</pre></html>')
    ({'n': 3}, {'n': 3})
    """
    if not isinstance(text, str) or len(text) > MAX_CHARACTERS:
        size = f"{len(text):,} characters" if isinstance(text, str) else describe_value(text)
        raise ValueError(f"The file must be a text of at most {MAX_CHARACTERS:,} characters; got {size}.")
    source = text.lstrip("\ufeff").strip()
    if source.startswith("<"):  # the last preformatted text of a report
        source = unescape(source.rpartition("<pre>")[2].partition("</pre>")[0]).strip()
    try:
        if source.startswith("{"):
            content = json.loads(source)
        elif len(source) > MAX_TOML_CHARACTERS or source.count(".") > MAX_TOML_DOTS:
            raise ValueError("too large for TOML")
        else:
            content = tomllib.loads(source)
        return dict(content["metadata"]["dpviz"] if "cells" in content else content)
    except (KeyError, TypeError, ValueError, RecursionError):
        allowed = "JSON or TOML, or a report or notebook that holds it"
        raise ValueError(f"The file must be {allowed}; got {describe_value(text)}.") from None


def json_number(value: float) -> float | str | None:
    """A number as JSON can hold it: None for NaN, and words for an infinite one.

    >>> json_number(-0.0), json_number(math.inf), json_number(-math.inf)
    (0.0, 'infinite', 'minus infinity')
    """
    if math.isnan(value):
        return None
    if math.isinf(value):
        return "infinite" if value > 0 else "minus infinity"
    return value + 0.0  # a zero has no sign


def compare_numbers(stored: object, current: object) -> list[tuple[str, str, str]]:
    """Name, stored value and today's of the numbers that differ by more than 10⁻⁹ of them, or that one side has not.

    Parameters
    ----------
    stored, current : list of dict
        Each with ``name``, or ``part``, ``label`` and ``symbol``; ``value``; and ``error``, if it is simulated. What
        is stored comes from outside and may be anything.

    Examples
    --------
    >>> compare_numbers([{"name": "ε", "value": 1.0}], [{"name": "ε", "value": 1.5}, {"name": "n", "value": 3}])
    [('ε', '1', '1.5'), ('n', 'not there', '3')]
    """
    before, now = _named_values(stored), _named_values(current)
    pairs = {name: (before.get(name, MISSING), now.get(name, MISSING)) for name in now | before}
    return [(name, _text(pair[0]), _text(pair[1])) for name, pair in pairs.items() if not _agree(*pair)]


def _named_values(entries: object) -> dict[str, object]:
    values: dict[str, object] = {}
    for entry in entries[:300] if isinstance(entries, list) else ():  # a file of ours has fewer
        if isinstance(entry, dict):
            parts = (entry.get(key) for key in ("name", "part", "label", "symbol"))
            name = " ".join(part for part in parts if isinstance(part, str))[:200].strip()
            values[name] = entry.get("value")
            if entry.get("error"):
                values[f"{name}, standard error"] = entry["error"]
    return values


def _agree(left: Any, right: Any) -> bool:
    if isinstance(left, bool) or isinstance(right, bool):
        return left is right
    try:
        return left == right or math.isclose(left, right, rel_tol=1e-9, abs_tol=1e-12)  # processors differ by less
    except (OverflowError, TypeError):  # an int of many digits, or no number
        return False


def _text(value: object) -> str:
    if value is None:
        return "not known"
    if isinstance(value, float) and math.isfinite(value):
        return format_number(value, 12)
    is_word = isinstance(value, str) and value in (MISSING, "infinite", "minus infinity")
    return str(value) if is_word else describe_value(value)
