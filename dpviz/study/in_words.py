"""What is said of the results of a study."""

from collections.abc import Sequence

from dpviz.core.formatting import format_number, join_words
from dpviz.study.results import CellResult

MOST_VALUES = 6  # Values of an axis that a sentence lists


def cell_in_words(cell: CellResult) -> str:
    """Return the settings of a cell, and whether all of it is exact."""
    one = cell.design
    sizes = f"n = {one.n:,}" if one.m == one.n else f"n = {one.n:,}, m = {one.m:,}"
    numbers = f"ε = {format_number(one.epsilon, 4)}, M = {one.sets}, p = {format_number(one.p, 4)}"
    how = f"{one.repetitions:,} repetitions" if cell.run else "exact"
    return f"{one.synthesizer_type.info.label}, {sizes}, {numbers}: {how}"


def study_sentence(cells: Sequence[CellResult]) -> str:
    """Return how many cells a study has, and of how many all numbers are exact."""
    number, exact = len(cells), sum(not one.run for one in cells)
    if number == 1:
        return f"The study has one cell, which is {'exact' if exact else 'simulated'}."
    if exact in (0, number):
        return f"The study has {number:,} cells, all of them {'exact' if exact else 'simulated'}."
    are = "is" if exact == 1 else "are"
    return f"The study has {number:,} cells: {exact:,} {are} exact, in the others rules are simulated."


def compared_sentence(cells: Sequence[CellResult], here: int) -> str:
    """Return how many cells of an open study a comparison shows, and at which n, M and p there are others."""
    said = "The open study has no cell at these settings."
    if here:
        are = "is" if here == 1 else "are"
        said = f"Of the open study's cells {here:,} of {len(cells):,} {are} in this picture, simulated ones as dots."
    return f"{said} It has {_values(cells)}."


def _values(cells: Sequence[CellResult]) -> str:
    """The values of n, M and p that a study has, the first few of many."""
    named = {"n": "n", "M": "sets", "p": "p"}
    return ", ".join(f"{symbol} = {_listed(cells, name)}" for symbol, name in named.items())


def _listed(cells: Sequence[CellResult], name: str) -> str:
    values = sorted({getattr(one.design, name) for one in cells})
    shown = [format_number(value, 4) for value in values[:MOST_VALUES]]
    return join_words(shown) if len(values) <= MOST_VALUES else f"{', '.join(shown)} …"
