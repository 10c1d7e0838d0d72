"""The file of a record, whose bytes depend on the answers alone, and the differences between two answers."""

import gzip
import json
import math
import re
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any, NamedTuple

RELATIVE_TOLERANCE = 1e-9
ZERO_TOLERANCE = 1e-14
"""Distance from 0 of what is equal to it: sums that cancel on one processor leave a rounding error on another."""

MIN_LONG_DIGITS = 12
"""A number in a text with so many digits is compared as a number, a shorter one letter by letter."""

MIN_SHARED_LENGTH = 20
"""Texts that are longer are stored as numbers of lines: many pages share their lines."""

NUMBER = re.compile(r"-?\d+(?:\.\d+)?(?:e[+-]?\d+)?")
MISSING = "(nothing)"


class Difference(NamedTuple):
    """Place of a difference, with what stands there in either answer."""

    key: str
    before: Any
    after: Any


def write_record(answers: Mapping[str, Any], path: Path) -> None:
    """Write answers to a file: a first row with all lines of long texts, then one row for each answer."""
    line_numbers: dict[str, int] = {}

    def packed(value: Any) -> Any:
        if isinstance(value, str) and len(value) > MIN_SHARED_LENGTH:
            return {"": [line_numbers.setdefault(line, len(line_numbers)) for line in value.split("\n")]}
        if isinstance(value, dict):
            return {name: packed(item) for name, item in value.items()}
        return [packed(item) for item in value] if isinstance(value, list) else value

    packed_answers = [(key, packed(value)) for key, value in answers.items()]
    rows = [list(line_numbers), *packed_answers]
    text = "\n".join(json.dumps(row, ensure_ascii=False, separators=(",", ":")) for row in rows)
    path.write_bytes(gzip.compress(text.encode(), compresslevel=9, mtime=0))


def read_record(path: Path) -> dict[str, Any]:
    """Answers of a file that `write_record` wrote."""
    first, *rows = gzip.decompress(path.read_bytes()).decode().split("\n")
    lines = json.loads(first)

    def unpacked(value: Any) -> Any:
        if isinstance(value, dict) and "" in value:
            return "\n".join(lines[number] for number in value[""])
        if isinstance(value, dict):
            return {name: unpacked(item) for name, item in value.items()}
        return [unpacked(item) for item in value] if isinstance(value, list) else value

    return {key: unpacked(value) for key, value in map(json.loads, rows)}


def differences(before: Any, after: Any, key: str = "") -> Iterator[Difference]:
    """Yield the places at which two answers differ.

    Parameters
    ----------
    before, after : Any
        Numbers, texts, None, and lists and dictionaries of them.
    key : str, optional
        Of the answers; places are written behind it.

    Yields
    ------
    Difference
    """
    if isinstance(before, dict) and isinstance(after, dict):
        for name in dict.fromkeys((*before, *after)):
            yield from differences(before.get(name, MISSING), after.get(name, MISSING), f"{key} › {name}")
    elif isinstance(before, list) and isinstance(after, list) and len(before) == len(after):
        for place, (old, new) in enumerate(zip(before, after, strict=True)):
            yield from differences(old, new, f"{key} [{place}]")
    elif isinstance(before, str) and isinstance(after, str):
        yield from _text_differences(before, after, key)
    elif not _is_equal(before, after):
        yield Difference(key, before, after)


def _is_equal(before: Any, after: Any) -> bool:
    if not (_is_number(before) and _is_number(after)):
        return type(before) is type(after) and bool(before == after)
    if math.isnan(before) and math.isnan(after):
        return True
    absolute_tolerance = ZERO_TOLERANCE if 0 in (before, after) else 0.0
    return math.isclose(before, after, rel_tol=RELATIVE_TOLERANCE, abs_tol=absolute_tolerance)


def _is_number(value: Any) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool)


def _text_differences(before: str, after: str, key: str) -> Iterator[Difference]:
    """Yield lines that differ: one by one in texts of equal length, else those that only one of them has."""
    if before == after:
        return
    old_lines = before.split("\n")
    new_lines = after.split("\n")
    if len(old_lines) == len(new_lines):
        for number, (old, new) in enumerate(zip(old_lines, new_lines, strict=True), 1):
            if not _is_equal_line(old, new):
                yield Difference(key if len(old_lines) == 1 else f"{key} line {number}", old, new)
        return
    removed = [line for line in old_lines if line not in new_lines]
    added = [line for line in new_lines if line not in old_lines]
    yield Difference(f"{key} ({len(old_lines)} → {len(new_lines)} lines)", "\n".join(removed), "\n".join(added))


def _is_equal_line(before: str, after: str) -> bool:
    if before == after:
        return True
    if NUMBER.split(before) != NUMBER.split(after):
        return False
    pairs = zip(NUMBER.findall(before), NUMBER.findall(after), strict=True)
    return all(
        old == new or (_is_long(old) and _is_long(new) and _is_equal(float(old), float(new))) for old, new in pairs
    )


def _is_long(number: str) -> bool:
    digits = number.partition("e")[0].lstrip("-0.").replace(".", "")
    return len(digits) >= MIN_LONG_DIGITS
