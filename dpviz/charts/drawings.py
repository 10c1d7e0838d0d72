"""Small drawings as HTML and paths, without a script: people as dots, bars, ranges, rounds of a game, odds."""

import math
from collections.abc import Iterable, Sequence

import numpy as np

from dpviz.charts.html import macros
from dpviz.core.formatting import format_number, format_percent
from dpviz.core.parameters import argument
from dpviz.core.types import FloatArray

DOT_CLASSES = {True: "one", False: "", None: "unknown"}
"""CSS class of a person's dot: yes, no, or not known."""

ROWS_HIGH = 12
"""Height of a strip in dots that stand upon one another; its width is 100. Where more do, they stand closer."""

MAX_DOTS = 400  # that a reader can still take in; larger odds are told in words alone
SHARES = argument("shares", 0, 1)


def _percent(share: float) -> str:
    """A share as a length in CSS."""
    return f"{100 * share:.4g}"


def people_html(people: Sequence[bool | None], *, ringed: int | None = None) -> str:
    """A dot for each person, orange for yes and blue for no; who is not known is grey with a question mark.

    >>> people_html([True, None], ringed=1).partition("><")[2]
    'i class="one"></i><i class="unknown person">?</i></div>'
    """
    yes, no, unknown = (sum(side is value for side in people) for value in (True, False, None))
    name = f"{yes} said yes, {no} said no" + (f", {unknown} not known" if unknown else "")
    name += "" if ringed is None else "; the ringed person is the last"
    dots = [
        (DOT_CLASSES[side] + " person" * (place == ringed), "?" if side is None else "")
        for place, side in enumerate(people)
    ]
    return str(macros("drawings").people(name, dots))


def share_html(name: str, yes: int, whole: int) -> str:
    """A bar of so many yes of a whole, under its name."""
    return str(macros("drawings").share(f"{name}: {yes:,} yes of {whole:,}", _percent(yes / whole)))


def chances_html(entries: Iterable[tuple[str, float, bool]]) -> str:
    """How probable something is in each of several cases: a name, a probability and the case's side; bars from 0."""
    entries = list(entries)
    largest = max(chance for _, chance, _ in entries)
    rows = [
        (name, DOT_CLASSES[side], _percent(chance / largest), format_percent(chance, 3))
        for name, chance, side in entries
    ]
    return str(macros("drawings").chances(rows))


def counts_html(chances: Sequence[float], marks: Iterable[tuple[str, int]]) -> str:
    """The probability of each count from 0 on as columns, and below them `marks`: a word and the count it stands at."""
    largest, last = max(chances), len(chances) - 1
    words = [(f"{count / last:.4g}", f"{word}: {count}") for word, count in marks]
    name = f"The probability of each number of yes from 0 to {last}, the largest {format_percent(largest, 3)}"
    return str(macros("drawings").counts(name, [_percent(chance / largest) for chance in chances], words))


def ranges_html(
    ends: tuple[float, float], ranges: Iterable[tuple[str, tuple[float, float] | None]], mark: tuple[str, float] | None
) -> str:
    """Ranges on one logarithmic axis, each under its name, None where there is none, and the mark of a choice."""
    low, high = ends

    def place(value: float) -> float:
        return math.log(value / low) / math.log(high / low)

    rows = []
    for name, span in ranges:
        if span is None:
            rows.append((f"{name}: never", "", ""))
        else:
            rows.append((name, _percent(place(span[0])), _percent(place(span[1]) - place(span[0]))))
    text, chosen = ("", "") if mark is None else (mark[0], _percent(place(mark[1])))
    return str(macros("drawings").ranges(format_number(low), format_number(high), rows, chosen, text))


def rounds_html(marks: Sequence[tuple[str, bool, str]], whole: int, standing: str) -> str:
    """A strip of rounds: the text of each that is over, whether it is a good one, and it in words; and the standing."""
    return str(macros("drawings").rounds(marks, whole, standing))


def released_bar_html(yes: int, rows: int) -> str:
    """A released table as a bar: its invented yes and no.

    >>> released_bar_html(30, 100).count("30 yes")
    2
    """
    return str(macros("drawings").released(f"{yes:,}", f"{rows - yes:,}", _percent(yes / rows)))


def own_interval_html(low: float, high: float, truth: float | None) -> str:
    """An interval on a line from 0 to 100 %, and the truth where it is told.

    >>> "left: 30%" in own_interval_html(0.2, 0.4, 0.3), "truth" in own_interval_html(0.2, 0.4, None)
    (True, False)
    """
    left, right = max(low, 0.0), min(high, 1.0)
    name = f"Your interval, from {format_number(100 * left, 3)} % to {format_number(100 * right, 3)} %"
    kind = "range" if truth is None or low <= truth <= high else "range missed"
    mark = "" if truth is None else _percent(truth)
    return str(macros("drawings").interval(name, kind, _percent(left), _percent(right - left), mark))


def strip_path(shares: FloatArray) -> str:
    """Path of dots, strokes without length, on an axis of 100 per cent: each at its share, upon those it would cover.

    The path is one of a view of 100 by `ROWS_HIGH`, whose y axis points down.

    >>> strip_path(np.array([0.5, 0.5, 0.25]))
    'M25 11.5h0M50 11.5h0M50 10.5h0'
    """
    shares = SHARES.validate_array(shares)
    if not (shares.ndim == 1 and len(shares) > 0):
        raise ValueError(f"shares must be a list of numbers; got one of shape {shares.shape}.")

    # The lowest level on which a dot has room, from left to right; nearer than 1 % two would lie on each other
    places = np.sort(100 * shares)
    last_places: list[float] = []  # of the dots on each level
    levels = []
    for place in places:
        level = next((k for k, last in enumerate(last_places) if place - last >= 1.0), len(last_places))
        last_places[level : level + 1] = [place]
        levels.append(level)
    step = min(1.0, (ROWS_HIGH - 1) / max(*levels, 1))
    return "".join(
        f"M{place:.6g} {ROWS_HIGH - 0.5 - level * step:.4g}h0" for place, level in zip(places, levels, strict=True)
    )


def odds_dots(log_odds: float) -> str:
    """Odds as HTML dots: one for the less likely table, and so many for the other; none where they are too many.

    >>> odds_dots(math.log(3)).count("<i"), odds_dots(math.inf)
    (4, '')
    """
    likelier = round(math.exp(min(log_odds, 100.0)))
    return "" if likelier > MAX_DOTS else str(macros("drawings").odds(likelier, f"{likelier:,}"))
