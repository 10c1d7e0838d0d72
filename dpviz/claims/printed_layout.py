"""What a paper prints in its own layout: tables with rows and columns, and what stands in its sentences as lists."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import NamedTuple

from dpviz.claims.bowen_liu import binary_methods
from dpviz.claims.liu import LIU_HALVES, N_AS_PRINTED
from dpviz.claims.published import design_in_words
from dpviz.claims.verdicts import AnyRecord

PRINTED_QUANTITIES = {
    "true_dataset": "confidential data",
    "var_qbar_1e-4": "Var(q̄), 10⁻⁴",
    "rel_bias_TM_pct": "relative bias of T, %",
    "rel_bias_TMstar_pct": "relative bias of T*, %",
    "negative_TM_pct": "negative T, %",
    "posterior_mean": "posterior mean",
    "rel_bias_pct": "relative bias, %",
    "posterior_variance_1e-3": "posterior variance, 10⁻³",
    "ratio_to_true_variance": "ratio to the true variance",
}
"""Names of the columns that Charest (2011) prints; further ones of Table 1 are numbers of sets."""

TITLES = PRINTED_QUANTITIES | {one.column: one.title for half in LIU_HALVES.values() for one in half.fitting}
"""What stands above a printed column, by its name in the files; others name a value, as m1=0 does."""

PRINTED_SYMBOLS = {
    "epsilon": "ε",
    "ln_epsilon": "ln ε",
    "sets": "M",
    "n1": "n₁",
    "n2": "n₂",
    "n1_a": "n₁",
    "n2_a": "n₂",
    "n1_b": "n₁′",
    "n2_b": "n₂′",
    "m1": "m₁",
    N_AS_PRINTED: "n as printed",
}
"""How the design of a table calls something, as a reader does."""

SYMBOLS_AS_READ = {"n": "n as read"}
"""The same where the n that is printed stands beside it."""

METHOD = "method"
METHOD_WITHOUT_NAME = "laplace"


class PrintedCell(NamedTuple):
    """Something printed, as it is best read, and what it is compared with in other readings."""

    record: AnyRecord
    others: tuple[AnyRecord, ...] = ()

    @property
    def notable(self) -> bool:
        """Whether it differs at all, or cannot be computed."""
        return self.record.verdict.wants_reason


class PrintedGrid(NamedTuple):
    """A table: its place, what all of it has in common, the names of its designs and columns, and its rows.

    A row is the values of its design and its cells, None where nothing is printed.
    """

    place: str
    common: str
    designs: tuple[str, ...]
    columns: tuple[str, ...]
    rows: tuple[tuple[tuple[float | str, ...], tuple[PrintedCell | None, ...]], ...]

    @property
    def cells(self) -> list[PrintedCell]:
        """All that is printed in it, row by row."""
        return [one for _, row in self.rows for one in row if one is not None]

    def notable_alone(self) -> "PrintedGrid":
        """Return its rows in which something is notable."""
        kept = (row for row in self.rows if any(one is not None and one.notable for one in row[1]))
        return self._replace(rows=tuple(kept))


class PrintedList(NamedTuple):
    """Numbers and statements at a place that has no columns."""

    place: str
    cells: list[PrintedCell]

    def notable_alone(self) -> "PrintedList":
        """Return those that are notable."""
        return self._replace(cells=[one for one in self.cells if one.notable])


Layout = PrintedGrid | PrintedList


def with_readings(records: Iterable[AnyRecord]) -> list[PrintedCell]:
    """Return everything printed once, with its other readings.

    Those follow in the order of what they are readings of. Where they are about something else, they belong to what
    has the same digits at the same place.
    """
    alone: list[AnyRecord] = []
    read: dict[int, list[AnyRecord]] = {}
    seen: dict[tuple[str, str, str], int] = {}
    for one in records:
        if not one.other:
            alone.append(one)
            continue
        same = [at for at, mine in enumerate(alone) if (mine.place, mine.what) == (one.place, one.what)]
        near = [at for at, mine in enumerate(alone) if (mine.place, mine.text) == (one.place, one.text)]
        key = (one.place, one.what, one.reading)
        place = seen.get(key, 0)
        seen[key] = place + 1
        read.setdefault(same[place] if place < len(same) else near[-1], []).append(one)
    return [PrintedCell(one, tuple(read.get(at, ()))) for at, one in enumerate(alone)]


def layouts_of(records: Iterable[AnyRecord]) -> Iterator[Layout]:
    """Yield what a paper prints, place by place: what has a design as a table, the rest as a list.

    What a sentence says of a figure stands with the figure.
    """
    places: dict[str, list[PrintedCell]] = {}
    for one in with_readings(records):
        places.setdefault(one.record.figure or one.record.place, []).append(one)
    for place, cells in places.items():
        if inside := [one for one in cells if one.record.design]:
            yield _grid(place, inside)
        if beside := [one for one in cells if not one.record.design]:
            yield PrintedList(place, beside)


def _grid(place: str, cells: Sequence[PrintedCell]) -> PrintedGrid:
    parted = [one.record.what.rpartition(", ")[::2] for one in cells]
    designs: list[Mapping[str, float | str]] = [one.record.design for one in cells]
    if any(method for method, _ in parted):
        labels = {key: one.label for key, one in binary_methods().items()}
        named = (labels[method or METHOD_WITHOUT_NAME] for method, _ in parted)
        designs = [{METHOD: label, **design} for label, design in zip(named, designs, strict=True)]
    of_column: dict[str, list[Mapping[str, float | str]]] = {}
    for design, (_, column) in zip(designs, parted, strict=True):
        of_column.setdefault(column, []).append(design)
    symbols = PRINTED_SYMBOLS | (SYMBOLS_AS_READ if N_AS_PRINTED in designs[0] else {})
    common: list[str] = []
    varying: list[str] = []
    for name in designs[0]:
        if len({one[name] for one in designs}) == 1:
            common.append(design_in_words({symbols.get(name, name): designs[0][name]}))
        elif any(len({one[name] for one in mine}) > 1 for mine in of_column.values()):
            varying.append(name)  # what only the columns differ in, these say
    rows: dict[tuple[float | str, ...], dict[str, PrintedCell]] = {}
    for one, design, (_, column) in zip(cells, designs, parted, strict=True):
        rows.setdefault(tuple(design[name] for name in varying), {})[column] = one
    return PrintedGrid(
        place,
        ", ".join(common),
        tuple(symbols.get(name, name) for name in varying),
        tuple(map(title_of, of_column)),
        tuple((key, tuple(row.get(column) for column in of_column)) for key, row in rows.items()),
    )


def title_of(column: str) -> str:
    """Return what stands above a column.

    >>> title_of("raab"), title_of("ln_epsilon=-10")
    ('Raab et al.', 'ln ε = −10')
    """
    name, equals, value = column.partition("=")
    return f"{PRINTED_SYMBOLS.get(name, name)} = {value.replace('-', '−')}" if equals else TITLES.get(column, column)
