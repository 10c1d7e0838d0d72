"""People as dots, what is published of them as a bar, and what a guess comes to: pictures of a round as HTML."""

import math
from collections.abc import Iterable, Sequence
from html import escape

from dpviz.core.formatting import format_number, format_percent

SIDE = {True: "one", False: "", None: "unknown"}
"""The class of a person's dot: yes, no, or not known."""


def people_html(people: Sequence[bool | None], *, ringed: int | None = None) -> str:
    """A dot for each person, orange for yes and blue for no; who is not known is grey with a question mark.

    >>> people_html([True, None], ringed=1).partition("><")[2]
    'i class="one"></i><i class="unknown person">?</i></div>'
    """
    dots = "".join(
        f'<i class="{SIDE[side]}{" person" if place == ringed else ""}">{"?" if side is None else ""}</i>'
        for place, side in enumerate(people)
    )
    counts = {name: sum(side is one for one in people) for name, side in (("yes", True), ("no", False))}
    unknown = len(people) - sum(counts.values())
    said = f"{counts['yes']} said yes, {counts['no']} said no" + (f", {unknown} not known" if unknown else "")
    ring = "" if ringed is None else "; the ringed person is the last"
    return f'<div class="dpviz-people" role="img" aria-label="{said}{ring}">{dots}</div>'


def share_html(name: str, yes: int, whole: int) -> str:
    """A bar of so many yes of a whole, under its name."""
    said = f"{name}: {yes:,} yes of {whole:,}"
    return (
        f'<div class="dpviz-share"><b>{escape(said)}</b><div role="img" aria-label="{escape(said)}">'
        f'<i style="width: {100 * yes / whole:.4g}%"></i></div></div>'
    )


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

    def bar(span: tuple[float, float] | None) -> str:
        if span is None:
            return ""
        return f'<i style="left: {at(span[0]):.4g}%; width: {at(span[1]) - at(span[0]):.4g}%"></i>'

    chosen = "" if mark is None else f'<u style="left: {at(mark[1]):.4g}%"></u>'
    rows = "".join(
        f"<span>{escape(name)}{'' if span else ': never'}</span><div>{bar(span)}{chosen}</div>" for name, span in ranges
    )
    below = "" if mark is None else f'<b style="left: {at(mark[1]):.4g}%">{escape(mark[0])}</b>'
    axis = f"<span></span><p><span>{format_number(low)}</span>{below}<span>{format_number(high)}</span></p>"
    return f'<div class="dpviz-ranges">{rows}{axis}</div>'


def rounds_html(marks: Sequence[tuple[str, bool, str]], whole: int, standing: str) -> str:
    """A strip of rounds: the text of each that is over, whether it is a good one, and it in words; and the standing."""
    cells = "".join(
        f'<li class="{"good" if good else "bad"}" aria-label="Round {place}: {escape(said)}">{escape(text)}</li>'
        for place, (text, good, said) in enumerate(marks, start=1)
    )
    rest = "".join(
        f'<li aria-label="Round {place}: to come"{" class=now" if place == len(marks) + 1 else ""}>{place}</li>'
        for place in range(len(marks) + 1, whole + 1)
    )
    said = f"<p>{escape(standing)}</p>" if standing else ""
    return f'<div class="dpviz-rounds" data-drawn><ol aria-label="The rounds">{cells}{rest}</ol>{said}</div>'
