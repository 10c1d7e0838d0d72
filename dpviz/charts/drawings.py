"""Small drawings as HTML and paths, without a script: people as dots, bars, ranges, rounds of a game, odds."""

import math
from collections.abc import Iterable, Sequence
from html import escape

import numpy as np

from dpviz.core.formatting import format_number, format_percent
from dpviz.core.parameters import argument
from dpviz.core.types import FloatArray

SIDE = {True: "one", False: "", None: "unknown"}
"""CSS class of a person's dot: yes, no, or not known."""

ROWS_HIGH = 12
"""Height of a strip in dots that stand upon one another; its width is 100. Where more do, they stand closer."""

MAX_DOTS = 400  # that a reader can still take in; larger odds are told in words alone
SHARES = argument("shares", 0, 1)


def people_html(people: Sequence[bool | None], *, ringed: int | None = None) -> str:
    """A dot for each person, orange for yes and blue for no; who is not known is grey with a question mark.

    >>> people_html([True, None], ringed=1).partition("><")[2]
    'i class="one"></i><i class="unknown person">?</i></div>'
    """
    dots = "".join(
        f'<i class="{SIDE[side]}{" person" if place == ringed else ""}">{"?" if side is None else ""}</i>'
        for place, side in enumerate(people)
    )
    yes, no, unknown = (sum(side is value for side in people) for value in (True, False, None))
    name = f"{yes} said yes, {no} said no" + (f", {unknown} not known" if unknown else "")
    name += "" if ringed is None else "; the ringed person is the last"
    return f'<div class="dpviz-people" role="img" aria-label="{name}">{dots}</div>'


def share_html(name: str, yes: int, whole: int) -> str:
    """A bar of so many yes of a whole, under its name."""
    text = escape(f"{name}: {yes:,} yes of {whole:,}")
    bar = f'<div role="img" aria-label="{text}"><i style="width: {100 * yes / whole:.4g}%"></i></div>'
    return f'<div class="dpviz-share"><b>{text}</b>{bar}</div>'


def chances_html(entries: Iterable[tuple[str, float, bool]]) -> str:
    """How probable something is in each of several cases: a name, a probability and the case's side; bars from 0."""
    entries = list(entries)
    largest = max(chance for _, chance, _ in entries)
    rows = "".join(
        f'<span>{escape(name)}</span><div><i class="{SIDE[side]}" style="width: {100 * chance / largest:.4g}%"></i>'
        f"</div><b>{format_percent(chance, 3)}</b>"
        for name, chance, side in entries
    )
    return f'<div class="dpviz-chances">{rows}</div>'


def counts_html(chances: Sequence[float], marks: Iterable[tuple[str, int]]) -> str:
    """The probability of each count from 0 on as columns, and below them `marks`: a word and the count it stands at."""
    largest, last = max(chances), len(chances) - 1
    columns = "".join(f'<i style="height: {100 * chance / largest:.4g}%"></i>' for chance in chances)
    words = "".join(
        f'<p style="--at: {count / last:.4g}"><span>{escape(word)}: {count}</span></p>' for word, count in marks
    )
    name = f"The probability of each number of yes from 0 to {last}, the largest {format_percent(largest, 3)}"
    return f'<div class="dpviz-counts"><div role="img" aria-label="{name}">{columns}</div>{words}</div>'


def ranges_html(
    ends: tuple[float, float], ranges: Iterable[tuple[str, tuple[float, float] | None]], mark: tuple[str, float] | None
) -> str:
    """Ranges on one logarithmic axis, each under its name, None where there is none, and the mark of a choice."""
    low, high = ends

    def at(value: float) -> float:
        return 100 * math.log(value / low) / math.log(high / low)

    chosen = "" if mark is None else f'<u style="left: {at(mark[1]):.4g}%"></u>'
    rows = ""
    for name, span in ranges:
        bar = (
            "" if span is None else f'<i style="left: {at(span[0]):.4g}%; width: {at(span[1]) - at(span[0]):.4g}%"></i>'
        )
        rows += f"<span>{escape(name)}{'' if span else ': never'}</span><div>{bar}{chosen}</div>"
    below = "" if mark is None else f'<b style="left: {at(mark[1]):.4g}%">{escape(mark[0])}</b>'
    axis = f"<span></span><p><span>{format_number(low)}</span>{below}<span>{format_number(high)}</span></p>"
    return f'<div class="dpviz-ranges">{rows}{axis}</div>'


def rounds_html(marks: Sequence[tuple[str, bool, str]], whole: int, standing: str) -> str:
    """A strip of rounds: the text of each that is over, whether it is a good one, and it in words; and the standing."""
    cells = "".join(
        f'<li class="{"good" if good else "bad"}" aria-label="Round {place}: {escape(words)}">{escape(text)}</li>'
        for place, (text, good, words) in enumerate(marks, start=1)
    )
    rest = "".join(
        f'<li aria-label="Round {place}: to come"{" class=now" if place == len(marks) + 1 else ""}>{place}</li>'
        for place in range(len(marks) + 1, whole + 1)
    )
    words = f"<p>{escape(standing)}</p>" if standing else ""
    return f'<div class="dpviz-rounds" data-drawn><ol aria-label="The rounds">{cells}{rest}</ol>{words}</div>'


def released_bar_html(yes: int, rows: int) -> str:
    """A released table as a bar: its invented yes and no.

    >>> released_bar_html(30, 100).count("30 yes")
    2
    """
    return (
        f'<div class="dpviz-seat-bar" role="img" aria-label="{yes:,} yes, {rows - yes:,} no">'
        f'<span style="width: {100 * yes / rows:.4g}%"></span></div>'
        f'<div class="dpviz-seat-ends"><b>{yes:,} yes</b><span>{rows - yes:,} no</span></div>'
    )


def own_interval_html(low: float, high: float, truth: float | None) -> str:
    """An interval on a line from 0 to 100 %, and the truth where it is told.

    >>> "left: 30%" in own_interval_html(0.2, 0.4, 0.3), "truth" in own_interval_html(0.2, 0.4, None)
    (True, False)
    """
    left, right = 100 * max(low, 0.0), 100 * min(high, 1.0)
    name = f"Your interval, from {format_number(left, 3)} % to {format_number(right, 3)} %"
    rule = "" if truth is None else f'<span class="truth" style="left: {100 * truth:.4g}%"></span>'
    missed = "" if truth is None or low <= truth <= high else " missed"
    return (
        f'<div class="dpviz-seat-line" role="img" aria-label="{name}">'
        f'<span class="range{missed}" style="left: {left:.4g}%; width: {right - left:.4g}%"></span>{rule}</div>'
        '<div class="dpviz-seat-ends"><span>0 %</span><span>100 %</span></div>'
    )


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
    if likelier > MAX_DOTS:
        return ""
    row = '<i class="one"></i>' + "<i></i>" * likelier
    return (
        f'<div class="dpviz-odds" role="img" aria-label="One dot against {likelier:,}">{row}</div>'
        f"<p>Odds of 1 to {likelier:,}, rounded.</p>"
    )
