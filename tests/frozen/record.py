"""A record of answers: a gzipped text of JSON, the same bytes for the same answers; and how two of them differ."""

from __future__ import annotations

import gzip
import json
import math
import re
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

Difference = tuple[str, Any, Any]

NEAR = 1e-9
"""Relative distance within which two numbers are the same."""

LONG = re.compile(r"-?\d+(?:\.\d+)?(?:e[+-]?\d+)?")
"""A number in a text: one with twelve digits or more is compared as a number."""
MISSING = "(nothing)"


def write(answers: Mapping[str, Any], path: Path) -> None:
    """Write a record; one answer a line, and every line of a text that stands in several of them once."""
    lines: dict[str, int] = {}

    def packed(value: Any) -> Any:
        if isinstance(value, str) and len(value) > 20:
            return {"": [lines.setdefault(line, len(lines)) for line in value.split("\n")]}
        if isinstance(value, dict):
            return {name: packed(one) for name, one in value.items()}
        return [packed(one) for one in value] if isinstance(value, list) else value

    parts = {name: packed(answers[name]) for name in answers}
    rows = [json.dumps(one, ensure_ascii=False, separators=(",", ":")) for one in (list(lines), *parts.items())]
    path.write_bytes(gzip.compress("\n".join(rows).encode(), compresslevel=9, mtime=0))


def read(path: Path) -> dict[str, Any]:
    """Read what `write` wrote."""
    first, *rows = gzip.decompress(path.read_bytes()).decode().split("\n")
    lines = json.loads(first)

    def whole(value: Any) -> Any:
        if isinstance(value, dict):
            return "\n".join(lines[n] for n in value[""]) if "" in value else {k: whole(v) for k, v in value.items()}
        return [whole(one) for one in value] if isinstance(value, list) else value

    return {name: whole(value) for name, value in map(json.loads, rows)}


def renamed(value: Any, names: Mapping[str, str]) -> Any:
    """The same with every old name, in keys and texts, in its new form."""
    if isinstance(value, str):
        for old, new in names.items():
            value = value.replace(old, new)
        return value
    if isinstance(value, dict):
        return {renamed(name, names): renamed(one, names) for name, one in value.items()}
    return [renamed(one, names) for one in value] if isinstance(value, list) else value


def differences(before: Any, after: Any, key: str = "") -> Iterator[Difference]:
    """Yield where two answers differ: the key, and what stands there before and after."""
    if isinstance(before, dict) and isinstance(after, dict):
        for name in dict.fromkeys((*before, *after)):
            yield from differences(before.get(name, MISSING), after.get(name, MISSING), f"{key} › {name}")
    elif isinstance(before, list) and isinstance(after, list) and len(before) == len(after):
        for place, (one, other) in enumerate(zip(before, after, strict=True)):
            yield from differences(one, other, f"{key} [{place}]")
    elif isinstance(before, str) and isinstance(after, str):
        yield from _of_texts(before, after, key)
    elif not _same(before, after):
        yield key, before, after


def _same(one: Any, other: Any) -> bool:
    numbers = all(isinstance(each, int | float) and not isinstance(each, bool) for each in (one, other))
    if not numbers:
        return bool(one == other) and type(one) is type(other)
    both_missing = math.isnan(one) and math.isnan(other)
    return both_missing or one == other or math.isclose(one, other, rel_tol=NEAR)


def _of_texts(before: str, after: str, key: str) -> Iterator[Difference]:
    """Yield the lines that differ: one by one where there are as many of them, or else those that only one has."""
    if before == after:
        return
    old, new = before.split("\n"), after.split("\n")
    if len(old) == len(new):
        for place, (one, other) in enumerate(zip(old, new, strict=True)):
            if not _same_line(one, other):
                yield (key if len(old) == 1 else f"{key} line {place + 1}"), one, other
        return
    gone, come = [one for one in old if one not in new], [one for one in new if one not in old]
    yield f"{key} ({len(old)} → {len(new)} lines)", "\n".join(gone), "\n".join(come)


def _same_line(one: str, other: str) -> bool:
    if one == other:
        return True
    ours, theirs = LONG.findall(one), LONG.findall(other)
    if LONG.split(one) != LONG.split(other):
        return False
    return all(
        mine == his or (_digits(mine) >= 12 and _digits(his) >= 12 and _same(float(mine), float(his)))
        for mine, his in zip(ours, theirs, strict=True)
    )


def _digits(number: str) -> int:
    return len(number.partition("e")[0].lstrip("-0.").replace(".", ""))
