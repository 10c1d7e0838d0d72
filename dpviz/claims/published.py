"""What papers print beside what is true: one record for a number, a count of cells or a sentence."""

import math
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Generic, TypeVar

from dpviz.claims.printed_tables import printed_rows

__all__ = ["Record"]

PrintedValue = TypeVar("PrintedValue", float, str)


@dataclass(frozen=True, kw_only=True)
class Record(Generic[PrintedValue]):
    """Something printed, and ours.

    `what` is a column, a figure, a way of counting, or what a sentence is about; `printed` and `ours` are two numbers
    or two sentences. `error` is the standard error of their difference, `our_error` the part of it that is ours, and
    `design` the parameters behind a number. The verdict says what the printed is to be taken for.

    >>> Record(source="Table 1", what="bias", printed=0.12, ours=0.0, error=0.04, verdict="as the column says").z
    3.0
    """

    source: str
    what: str
    printed: PrintedValue
    ours: PrintedValue
    error: float = 0.0
    our_error: float = 0.0
    verdict: str
    design: Mapping[str, float] = field(default_factory=dict, hash=False)

    @classmethod
    def of_share(
        cls, *, printed: float, ours: float, of: int, runs: int, places: int = 3, **said: Any
    ) -> "Record[float]":
        """Return a share of `of` repetitions, printed with so many decimals, beside ours, of `runs` or exact for 0."""
        # One share for both, as where they agree: at 0 or 1 a share of its own would have no error.
        both = (printed * of + ours * runs) / (of + runs) if runs else ours
        spread = math.sqrt(both * (1 - both))
        our_error = spread / math.sqrt(runs) if runs else 0.0
        error = math.hypot(spread / math.sqrt(of), our_error, 10.0**-places / math.sqrt(12))
        return Record(printed=printed, ours=ours, error=error, our_error=our_error, **said)

    @property
    def z(self: "Record[float]") -> float:
        """(printed − ours) in standard errors."""
        return (self.printed - self.ours) / self.error


def read_errata(paper: str) -> tuple[Record[str], ...]:
    """Return what a paper prints and its own definitions contradict, in our words."""
    return tuple(Record(**row) for row in printed_rows(f"{paper}_errata"))  # type: ignore[arg-type]
