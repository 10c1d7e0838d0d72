"""Numbers and statements in the sentences of a paper, each judged by a computation of its own."""

import re
from collections.abc import Callable, Iterator, Mapping
from typing import Any, NamedTuple

from dpviz.claims.published import PRINTED_REPETITIONS, Effort, PrintedNumber, Record, Shown, printed_rows

_YES = "yes"  # In a column that says whether
_NAMED = re.compile(r"\{(\w+)\[(\w+)\]:?([^{}]*)\}")


class Judged(NamedTuple):
    """What was found of a sentence: a number and the standard error, or what was computed and whether it holds."""

    ours: float | str
    holds: bool = True
    error: float = 0.0


Judge = Callable[[Effort], Judged]


def printed_in(paper: str, key: str) -> PrintedNumber | str:
    """Return what a sentence of a paper prints, by its key in the paper's file: a number with its digits, or words.

    >>> printed_in("bowen_liu", "squares_high").text
    '49'
    """
    row = next(one for one in printed_rows(f"{paper}_sentences") if one["key"] == key)
    return PrintedNumber(row["number"]) if row["number"] else row["printed"]


def with_printed(text: str) -> str:
    """Return a text with what the papers print in the places of their names, {paper[key]}, which may have a format.

    >>> with_printed("{liu[repeats]:,.0f} runs; from {bowen_liu[smallest]}, as {printed}")
    '5,000 runs; from 0.007, as {printed}'
    """
    return _NAMED.sub(lambda named: format(printed_in(named[1], named[2]), named[3]), text)


def read_sentences(paper: str, judges: Mapping[str, Judge], effort: Effort) -> Iterator[Record[Any]]:
    """Yield every sentence in the file of a paper beside what its judge finds.

    One without a judge cannot be computed, and its reason says why. What a simulation does not bear out without a
    reason is judged again, more thoroughly each time, until it is or there are more repetitions than the papers have.
    """
    for row in printed_rows(f"{paper}_sentences"):
        number, judge = row["number"], judges.get(row["key"])
        unknown = Judged(float("nan") if number else "")
        found, asked = judge(effort) if judge else unknown, effort
        while judge and not (found.holds or row["reason"]) and asked.repetitions <= PRINTED_REPETITIONS:
            asked = asked.again
            found = judge(asked)
        yield Record[Any](
            source=row["source"],
            what=row["what"],
            printed=PrintedNumber(number) if number else row["printed"],
            quote=row["printed"] if number else "",
            reading=row["reading"],
            reason=row["reason"],
            figure=row["figure"],
            literal=row["literal"] == _YES,
            other=row["other"] == _YES,
            shown=Shown.read(row["page"], row["settings"]),
            **found._asdict(),
        )
