"""The drawing that moves: people, secret table, synthetic table, attacker and analyst."""

import json
import math
from pathlib import Path

from dpviz.comparisons.overview import Overview
from dpviz.core.parameters import readable
from dpviz.privacy.attacker import belief_text
from pages.components import component
from pages.components.words import percent, rows_text

_living = component("living")
"""HTML that stays in the page: texts are those of the elements with that ``data-text``, numbers are style variables,
dots say how many children of the elements with that ``data-dots`` are marked.
"""

ACROSS = {20: 10, 1000: 40}
"""Dots side by side, where that is not the square root of their number."""

TEMPLATE = Path(__file__).with_name("drawing.html").read_text(encoding="utf-8")


def show_drawing(found: Overview) -> None:
    """The drawing at the present ε."""
    n, m = found.design.n, found.design.m
    person = "".join('<i class="person"></i>' if place == found.secret - 1 else "<i></i>" for place in range(n))
    html = TEMPLATE.replace("{across}", str(ACROSS.get(n, round(math.sqrt(n))))).replace("{people}", person)
    message = {
        "html": html.replace("{rows}", "<i></i>" * m),
        "texts": texts(found),
        "numbers": places(found),
        "dots": {"secret": found.secret, "released": found.released},
    }
    _living(key="home_drawing", data=json.dumps(message, ensure_ascii=False).encode(), height="content")


def texts(found: Overview) -> dict[str, str]:
    """What the drawing says, by name."""
    n, m = found.design.n, found.design.m
    low, high = found.interval
    return {
        "people": readable(n),
        "yes": readable(found.secret),
        "no": readable(n - found.secret),
        "invented": rows_text(found.invented),
        "share": percent(found.invented / (n + found.invented), 3),
        "drawn_yes": readable(found.released),
        "drawn_no": readable(m - found.released),
        "belief": belief_text(found.belief),
        "worst": belief_text(found.largest_belief),
        "low": percent(low, 3),
        "high": percent(high, 3),
        "hit": f"The truth is {percent(found.secret / n, 3)}: the analyst is {'right' if found.hit else 'wrong'}.",
    }


def places(found: Overview) -> dict[str, float]:
    """Where things stand in the drawing, in per cent."""
    n, low, high = found.design.n, *found.interval
    total = n + found.invented
    return {
        "secret": 100 * found.secret / n,
        "mixed": 100 * (found.secret + found.invented / 2) / total,
        "made": 50 * found.invented / total,
        "belief": 100 * found.belief,
        "low": 100 * low,
        "high": 100 * high,
    }
