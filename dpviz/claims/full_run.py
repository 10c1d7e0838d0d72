"""The full run: everything printed beside ours as the file `full_run.csv` carries it, so that nothing is computed."""

import datetime
import math
from collections import Counter
from collections.abc import Mapping, Sequence
from functools import cache
from typing import Any, NamedTuple

from dpviz.claims.published import Agreement, Effort, PrintedNumber, Record, Shown, printed_rows, printed_text
from dpviz.claims.verdicts import AnyRecord, printed_alone, simulated_rule

FULL_RUN = "full_run"
COME_OUT = (Agreement.AGREES, Agreement.ROUNDING, Agreement.CHANCE)
"""The verdicts on what comes out: by the digit, or as near as rounding and chance allow."""


class FullRun(NamedTuple):
    """All records of the file, in its order, and how and when they were computed."""

    records: tuple[AnyRecord, ...]
    effort: Effort
    date: datetime.date

    def of(self, paper: str) -> list[AnyRecord]:
        """Return the records of a paper, by its authors and year."""
        return [one for one in self.records if one.paper == paper]

    @property
    def papers(self) -> list[str]:
        """The papers by authors and year, in their order."""
        return list(dict.fromkeys(record.paper for record in self.records))

    @property
    def verdicts(self) -> dict[str, Counter[Agreement]]:
        """How many things each paper prints that have each verdict, and all papers together."""
        counts = {paper: verdict_counts(self.of(paper)) for paper in self.papers}
        return counts | {"All papers": verdict_counts(self.records)}

    @property
    def mark(self) -> str:
        """How many of all come out, in some words."""
        found = verdict_counts(self.records)
        return f"{sum(found[one] for one in COME_OUT):,} of {sum(found.values()):,} come out"

    @property
    def told(self) -> str:
        """The verdict on all papers in some sentences."""
        alone, found = printed_alone(self.records), verdict_counts(self.records)
        numbers = sum(not isinstance(one.printed, str) for one in alone)
        otherwise = sum(not one.literal for one in alone)
        return (
            f"The papers print {numbers:,} numbers and {len(alone) - numbers:,} "
            f"statements. {found[Agreement.DIFFERS]:,} differ from ours, and "
            f"{found[Agreement.UNKNOWN]:,} cannot be computed; each of them has its reason. Of those that come out, "
            f"{found[Agreement.CHANCE]:,} are as close as chance allows. {otherwise:,} are right only if they are read "
            "as something else than the words around them say; they are marked *."
        )

    @property
    def short(self) -> str:
        """The same in one short sentence."""
        found = verdict_counts(self.records)
        return f"Yet {found[Agreement.DIFFERS]:,} differ; {found[Agreement.UNKNOWN]:,} cannot be computed."

    @property
    def made(self) -> str:
        """How the numbers were computed, and by which command they are again."""
        effort, day = self.effort, self.date
        return (
            f"Computed on {day.day} {day:%B %Y}: exact wherever a sum is short enough, else simulated with at least "
            f"{effort.repetitions:,} repetitions and the seed {effort.seed}. The same digits come from python -m "
            f"dpviz.claims --repetitions {effort.repetitions} --seed {effort.seed}. {simulated_rule(self.records)}"
        )


def verdict_counts(records: Sequence[AnyRecord]) -> Counter[Agreement]:
    """Return how many things that are printed have each verdict."""
    return Counter(one.verdict for one in printed_alone(records))


def full_run_csv() -> str:
    """Return the file as it is carried."""
    return printed_text(FULL_RUN)


@cache
def read_full_run() -> FullRun:
    """The stored run, read once in a process."""
    rows = printed_rows(FULL_RUN)
    first = rows[0]
    effort = Effort(int(first["repetitions"]), int(first["seed"]))
    return FullRun(tuple(map(_record, rows)), effort, datetime.date.fromisoformat(first["computed"]))


def _record(row: Mapping[str, str]) -> AnyRecord:
    printed: str | PrintedNumber
    try:
        printed, ours = PrintedNumber(row["printed"]), float(row["ours"] or math.nan)
    except ValueError:
        printed, ours = row["printed"], row["ours"]  # type: ignore[assignment]
    return Record[Any](
        source=f"{row['paper']}, {row['place']}",
        what=row["what"],
        printed=printed,
        ours=ours,
        error=float(row["error"] or 0),
        our_error=float(row["our_error"] or 0),
        reading=row["reading"],
        design={name: _number(said) for name, said in map(_parts, filter(None, row["design"].split("; ")))},
        literal=row["as_the_words_say"] == str(True),
        other=row["another_reading"] == str(True),
        holds=row["verdict"] != Agreement.DIFFERS,
        quote=row["quote"],
        figure=row["figure"],
        reason=row["reason"],
        shown=Shown.read(row["page"], row["settings"]),
    )


def _parts(said: str) -> tuple[str, str]:
    name, _, value = said.partition(" = ")
    return name, value


def _number(said: str) -> float | str:
    try:
        return float(said.replace(",", "").replace("−", "-"))
    except ValueError:  # the name of a method
        return said
