"""The drawing that moves: people, secret table, released table, attacker and analyst."""

import json
from pathlib import Path

from dpviz.charts.strip import ROWS_HIGH, strip_path
from dpviz.comparisons.overview import Overview
from dpviz.core.parameters import readable
from dpviz.core.wording import percent, rows_text
from dpviz.mechanisms.noise import NoiseSanitizer
from dpviz.privacy.attacker import belief_text
from pages.components import component
from pages.home.questions import NOISE_WITHIN, noise_text

_living = component("living")
"""HTML that stays in the page: texts are those of the elements with that ``data-text``, numbers are style variables,
dots say how many children of the elements with that ``data-dots`` are marked, paths are the shapes of ``data-path``.
"""

ACROSS = {20: 10, 100: 25, 1000: 64}
"""Dots side by side."""

TEMPLATE = Path(__file__).with_name("drawing.html").read_text(encoding="utf-8").replace("{rows_high}", str(ROWS_HIGH))


def show_drawing(found: Overview) -> None:
    """The drawing at the present ε."""
    n, m = found.design.n, found.design.m
    person = "".join('<i class="person"></i>' if place == found.secret - 1 else "<i></i>" for place in range(n))
    html = TEMPLATE.replace("{across}", str(ACROSS[n])).replace("{people}", person)
    message = {
        "html": html.replace("{rows}", "<i></i>" * m),
        "texts": texts(found),
        "numbers": places(found),
        "dots": {"secret": found.secret, "released": round(found.released)},
        "paths": {"possible": strip_path(found.possible_beliefs)},
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
        **_made(found),
        "drawn_yes": readable(found.released, 4),
        "drawn_no": readable(m - found.released, 4),
        "belief": belief_text(found.belief),
        "average": belief_text(found.average_guess),
        "worst": belief_text(found.largest_belief),
        "allowed": belief_text(found.promised_success),
        "low": percent(low, 3),
        "high": percent(high, 3),
        "hit": f"The truth is {percent(found.secret / n, 3)}: the analyst is {'right' if found.hit else 'wrong'}.",
    }


def _made(found: Overview) -> dict[str, str]:
    """How the table comes about."""
    n, made = found.design.n, found.design.synthesizer
    if not isinstance(made, NoiseSanitizer):
        share = percent(found.invented / (n + found.invented), 3)
        return {
            "adds": f"mixes in at least {rows_text(found.invented)}, half of them yes, half of them no.",
            "striped": f"Striped: invented, {share} of all.",
            "title": "A synthetic table is drawn",
            "published": "Only this table is published.",
        }
    corrected = (
        f"The noisy number is {readable(found.drawn)}. Published is the mean of all numbers that it may have come from."
    )
    return {
        "adds": f"adds noise to the number of yes: {noise_text(made)}.",
        "striped": "Striped: where the noisy number falls in those tables.",
        "title": "A noisy number is drawn and corrected" if found.best else "A noisy table is drawn",
        "published": corrected if found.best else "Only this table is published.",
    }


def places(found: Overview) -> dict[str, float]:
    """Where things stand in the drawing, in per cent."""
    low, high = found.interval
    shares = {
        "secret": found.secret / found.design.n,
        **_stripes(found),
        "belief": found.belief,
        "average": found.average_guess,
        "worst": found.largest_belief,
        "allowed": found.promised_success,
        "low": low,
        "high": high,
    }
    return {name: 100 * share for name, share in shares.items()}


def _stripes(found: Overview) -> dict[str, float]:
    """Where the yes end among what is drawn from, and where the stripes stand that the agency has added."""
    n, made = found.design.n, found.design.synthesizer
    if isinstance(made, NoiseSanitizer):
        reach = made.reach(NOISE_WITHIN)
        first, last = max(found.secret - reach, 0) / n, min(found.secret + reach, n) / n
        return {"mixed": found.secret / n, "from": first, "made": last - first, "rest": 0.0}
    total = n + found.invented
    half = found.invented / 2 / total
    return {"mixed": found.secret / total + half, "from": 0.0, "made": half, "rest": half}
