"""Numbers and statements in the sentences of a paper, each judged by a computation of its own."""

from collections.abc import Callable, Iterator, Mapping
from typing import Any, NamedTuple

from dpviz.claims.published import Effort, PrintedNumber, Record, Shown, printed_rows

_YES = "yes"  # In a column that says whether


class Judged(NamedTuple):
    """What was found of a sentence: a number and the standard error, or what was computed and whether it holds."""

    ours: float | str
    holds: bool = True
    error: float = 0.0


Judge = Callable[[Effort], Judged]


def read_sentences(paper: str, judges: Mapping[str, Judge], effort: Effort) -> Iterator[Record[Any]]:
    """Yield every sentence in the file of a paper beside what its judge finds.

    One without a judge cannot be computed, and its reason says why.
    """
    for row in printed_rows(f"{paper}_sentences"):
        number, judge = row["number"], judges.get(row["key"])
        unknown = Judged(float("nan") if number else "")
        found = judge(effort) if judge else unknown
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
