"""What all records say together: how many agree, paper by paper and table by table, in words and as a CSV file."""

import csv
import datetime
import io
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from typing import Any

from scipy.special import ndtr, ndtri

from dpviz.claims.published import FAR, Agreement, Effort, Record, design_in_words
from dpviz.core.formatting import format_number, format_percent

AnyRecord = Record[Any]
FILE_DIGITS = 9  # Significant ones in a file: fewer than rounding on another machine can reach
FAMILY_LEVEL = 1e-3  # Probability with which chance alone may put any of all simulated numbers beyond the limit
PLURAL = {Agreement.AGREES: "agree", Agreement.ROUNDING: "differ within rounding", Agreement.DIFFERS: "differ"}


def printed_alone(records: Iterable[AnyRecord]) -> list[AnyRecord]:
    """Return one record for everything that is printed: that of the reading that fits, without the other readings."""
    return [one for one in records if not one.other]


def counts_in_words(records: Iterable[AnyRecord]) -> str:
    """Return how many there are, and of which verdict.

    >>> one = Record(source="Table 1", what="mean", printed=0.5, ours=0.5, reading="as the column says")
    >>> counts_in_words([one, one])
    '2 in all: 2 agree'
    """
    alone = printed_alone(records)
    found = Counter(one.verdict for one in alone)
    parts = [
        f"{found[one]:,} {PLURAL.get(one, str(one)) if found[one] != 1 else one}" for one in Agreement if found[one]
    ]
    return f"{len(alone):,} in all: {', '.join(parts)}"


def simulated_limit(records: Iterable[AnyRecord]) -> tuple[int, float]:
    """Return how many numbers are simulated, by the paper or by us, and how many standard errors off any may be.

    Chance puts one or more of so many beyond it with a probability of at most 1/1,000 (Bonferroni), whether or not
    they share random numbers. Other readings do not count, as they need not agree.

    >>> one = Record(source="Table 1", what="mean", printed=0.5, ours=0.5, error=0.1, reading="as the column says")
    >>> for count, limit in (simulated_limit([one]), simulated_limit([one] * 300)):
    ...     print(count, round(limit, 4))
    1 3.2905
    300 4.6491
    """
    simulated = sum(one.error > 0 for one in printed_alone(records))
    return simulated, float(-ndtri(FAMILY_LEVEL / 2 / max(simulated, 1)))


def with_chance(records: Sequence[AnyRecord]) -> list[AnyRecord]:
    """Return the records, with chance as the reason of numbers that have no other and that it may put so far off."""
    simulated, limit = simulated_limit(records)

    def explained(one: AnyRecord) -> AnyRecord:
        if not (one.unexplained and one.error and abs(one.z) <= limit):
            return one
        runs = format_percent(min(1.0, 2 * simulated * float(ndtr(-abs(one.z)))), 2)
        said = f"Chance alone puts one of {simulated:,} simulated numbers this far off in up to {runs} of all runs."
        return replace(one, reason=said)

    return [explained(one) for one in records]


def simulated_rule(records: Iterable[AnyRecord]) -> str:
    """Return from where on a simulated number, or a statement, counts as wrong."""
    simulated, limit = simulated_limit(records)
    return (
        f"{simulated:,} of the numbers were simulated, by the paper or here. They agree within {FAR} standard errors. "
        f"One that is further off counts as wrong only beyond {format_number(limit, 3)}: chance alone puts any of them "
        f"there in at most one of {1 / FAMILY_LEVEL:,.0f} runs. A statement that a simulation does not bear out is "
        "judged again with ten times as many repetitions."
    )


def headline_of_records(records: Sequence[AnyRecord]) -> str:
    """Return the verdict on everything printed, in some sentences."""
    alone = printed_alone(records)
    numbers = sum(not isinstance(one.printed, str) for one in alone)
    otherwise = sum(not one.literal for one in alone)
    wrong = sum(one.unexplained for one in records)
    return (
        f"{numbers:,} printed numbers and {len(alone) - numbers:,} printed statements, {counts_in_words(records)}. "
        f"{otherwise:,} of them are taken for something else than the words around them say. "
        + (f"{wrong:,} should agree and do not." if wrong else "Whatever differs or cannot be computed has its reason.")
    )


def _number(value: float) -> str:
    return "" if value != value else f"{value:.{FILE_DIGITS}g}"


def record_cells(one: AnyRecord, effort: Effort, date: str) -> dict[str, str]:
    """Return a record as a row of a file, by the names of its columns."""
    is_number, known = not isinstance(one.printed, str), one.verdict is not Agreement.UNKNOWN
    compared = is_number and known
    return {
        "paper": one.paper,
        "place": one.place,
        "what": one.what,
        "design": design_in_words(one.design),
        "printed": one.text,
        "ours": _number(one.ours) if is_number else one.ours,
        "error": _number(one.error) if compared else "",
        "our_error": _number(one.our_error) if compared else "",
        "units_of_last_digit": _number(one.units) if compared else "",
        "standard_errors": _number(one.z) if compared and one.error else "",
        "verdict": str(one.verdict),
        "as_the_words_say": str(one.literal),
        "another_reading": str(one.other),
        "reading": one.reading,
        "reason": one.reason,
        "quote": one.quote,
        "figure": one.figure,
        "page": one.shown.page,
        "settings": one.shown.text,
        "repetitions": str(effort.repetitions),
        "seed": str(effort.seed),
        "computed": date,
    }


def verdicts_csv(records: Iterable[AnyRecord], effort: Effort, date: datetime.date) -> str:
    """Return all records as CSV, a row for each, other readings after the one that fits."""
    rows = [record_cells(one, effort, date.isoformat()) for one in records]
    text = io.StringIO()
    writer = csv.DictWriter(text, list(rows[0]) if rows else [], lineterminator="\n")
    writer.writeheader()
    writer.writerows(rows)
    return text.getvalue()


def distance_in_words(one: AnyRecord) -> str:
    """Return how far a number is from ours: in standard errors, or where both are exact in units of its last digit.

    >>> distance_in_words(Record(source="Table 1", what="mean", printed=0.5, ours=0.25, error=0.1, reading="as said"))
    '2.5 standard errors'
    """
    return f"{one.z:.1f} standard errors" if one.error else f"{one.units:.1f} units of the last digit"


def told_record(one: AnyRecord) -> str:
    """Return a record in one line: where it stands, both values, and why they differ."""
    design = design_in_words(one.design).replace("; ", ", ")
    where = f"{one.place}, {one.what}" + (f" ({design})" if design else "")
    if isinstance(one.printed, str):
        values = f"“{one.printed}” {one.ours}".strip()
    elif one.verdict is Agreement.UNKNOWN:
        values = f"printed {one.text}"
    else:
        values = f"printed {one.text}, ours {format_number(one.ours, 5)}, {distance_in_words(one)}"
    return f"{where}: {values}. {one.verdict.capitalize()}. {one.reason}".replace(".. ", ". ").strip()


def told_part(name: str, records: Sequence[AnyRecord]) -> Iterator[str]:
    """Yield what is said of a table or a text, line by line: its counts, and what differs or cannot be computed."""
    yield f"{name}. {counts_in_words(records)}."
    for one in printed_alone(records):
        if one.verdict.wants_reason:
            yield f"  {told_record(one)}"
