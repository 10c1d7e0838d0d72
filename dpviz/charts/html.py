"""Answers, tables and small drawings as HTML, in the classes of the style sheet of the pages."""

import math
from collections.abc import Iterable
from functools import cache
from html import escape
from typing import Any

import numpy as np

from dpviz.core.formatting import format_number, format_percent
from dpviz.core.types import FloatArray
from dpviz.published import records

ROWS_HIGH = 12
"""Height of a strip in dots that stand upon one another; its width is 100. Where more do, they stand closer."""


@cache
def _template(name: str) -> Any:
    from jinja2 import Environment, PackageLoader, StrictUndefined  # loaded with the first text

    loader = PackageLoader("dpviz.charts", "")
    environment = Environment(loader=loader, autoescape=True, undefined=StrictUndefined, trim_blocks=True)
    environment.filters |= {"exp": math.exp, "log": math.log, "percent": format_percent, "readable": format_number}
    environment.globals |= {"published": records, "zip": zip}
    return environment.get_template(f"{name}.html").module


def fragment(name: str, /, *values: object, template: str = "fragments", **options: object) -> str:
    """HTML of a macro in a template of this folder; its values are plain text unless the template says otherwise.

    Parameters
    ----------
    name, *values, **options
        The macro, such as ``people``, and its arguments; what it draws stands above it in the template.

    >>> fragment("people", [True, None], ringed=1).partition("><")[2]
    'i class="one"></i><i class="unknown person">?</i></div>'
    >>> fragment("released_bar", 30, 100).count("30 yes")
    2
    """
    return str(getattr(_template(template), name)(*values, **options))


def by_reason(pairs: Iterable[tuple[str, str]]) -> str:
    """Names with their reasons, those of the same reason together, as inline HTML; nothing where there are none."""
    reasons: dict[str, list[str]] = {}
    for name, reason in pairs:
        reasons.setdefault(reason, []).append(f"<b>{escape(name)}</b>")
    return "; ".join(f"{', '.join(names)} ({reason})" for reason, names in reasons.items())


def strip_path(shares: FloatArray) -> str:
    """Path of dots, strokes without length, on an axis of 100 per cent: each at its share, upon those it would cover.

    The path is one of a view of 100 by `ROWS_HIGH`, whose y axis points down.

    >>> strip_path(np.array([0.5, 0.5, 0.25]))
    'M25 11.5h0M50 11.5h0M50 10.5h0'
    """
    # The lowest level on which a dot has room, from left to right; nearer than 1 % two would lie on each other
    places = np.sort(100 * shares)
    last_places: list[float] = []  # of the dots on each level
    levels = []
    for place in places:
        level = next((k for k, last in enumerate(last_places) if place - last >= 1.0), len(last_places))
        last_places[level : level + 1] = [place]
        levels.append(level)
    step = min(1.0, (ROWS_HIGH - 1) / max(*levels, 1))
    heights = [ROWS_HIGH - 0.5 - level * step for level in levels]
    return "".join(f"M{place:.6g} {height:.4g}h0" for place, height in zip(places, heights, strict=True))
