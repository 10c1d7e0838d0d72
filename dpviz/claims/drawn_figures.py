"""Our version of the papers' figures, as the file `figures.csv` carries it, so that a page computes nothing.

What a figure shows and what of it the text at hand has lost stands in `figure_captions.csv`.
"""

import csv
import io
import re
from collections.abc import Iterable, Iterator, Mapping
from enum import StrEnum
from functools import cache
from typing import NamedTuple

import numpy as np

from dpviz.claims.published import printed_rows
from dpviz.core.types import FloatArray

FIGURES_FILE, CAPTIONS_FILE = "figures", "figure_captions"
DIGITS_OF_FIGURES = 6  # Significant ones in the file: fewer than rounding on another machine can reach
_YES = "yes"


class Known(StrEnum):
    """What the values of a line are."""

    OURS = "ours"  # exact where they have no error, else simulated
    REFERENCE = "reference"  # of what makes no promise
    PURE = "without δ"
    PRINTED = "printed"


class FigureLine(NamedTuple):
    """One line of a figure: the key of its color, its name, what its values are, and those with their errors."""

    key: str
    name: str
    known: Known
    x: FloatArray
    y: FloatArray
    error: FloatArray


class FigurePanel(NamedTuple):
    """A measure at a setting, and its lines."""

    setting: str
    measure: str
    lines: tuple[FigureLine, ...]


class DrawnFigure(NamedTuple):
    """A figure of a paper: by whom and where it is, what it shows, its axis, what there is to know, and its panels."""

    paper: str
    place: str
    caption: str
    axis: str
    symbol: str
    log: bool
    note: str
    panels: tuple[FigurePanel, ...]

    @property
    def settings(self) -> list[str]:
        """Its settings in their order."""
        return list(dict.fromkeys(one.setting for one in self.panels))

    def at(self, setting: str) -> dict[str, FigurePanel]:
        """Return what it shows at a setting, by measure."""
        return {one.measure: one for one in self.panels if one.setting == setting}


def word_of(said: str) -> str:
    """Return a name as an address has it.

    >>> word_of("supplement, Figures 4 to 7")
    'supplement_figures_4_to_7'
    """
    return re.sub(r"[^0-9a-zA-Zμσπε.]+", "_", said.replace("−", "-")).strip("_").lower()


def written_figures(figures: Iterable[tuple[str, str, FigurePanel]]) -> str:
    """Return panels as CSV, a row for each line; each with the paper and the place of its figure."""
    text = io.StringIO()
    columns = ["paper", "place", "setting", "measure", "key", "name", "known", "x", "y", "error"]
    writer = csv.writer(text, lineterminator="\n")
    writer.writerow(columns)
    for paper, place, panel in figures:
        for line in panel.lines:
            numbers = (_numbers(one) for one in (line.x, line.y, line.error))
            writer.writerow([paper, place, *panel[:2], line.key, line.name, line.known, *numbers])
    return text.getvalue()


def _numbers(values: FloatArray) -> str:
    return " ".join(f"{one:.{DIGITS_OF_FIGURES}g}" for one in values.tolist()) if values.any() else ""


@cache
def read_figures() -> tuple[DrawnFigure, ...]:
    """Every figure that the file has, in the order of the captions; read once in a process."""
    lines: dict[tuple[str, str], dict[tuple[str, str], list[FigureLine]]] = {}
    for row in printed_rows(FIGURES_FILE):
        panels = lines.setdefault((row["paper"], row["place"]), {})
        panels.setdefault((row["setting"], row["measure"]), []).append(_line(row))
    return tuple(
        DrawnFigure(**row, log=log == _YES, panels=tuple(_panels(lines[row["paper"], row["place"]])))
        for row in printed_rows(CAPTIONS_FILE)
        for log in [row.pop("log")]
    )


def _panels(found: Mapping[tuple[str, str], list[FigureLine]]) -> Iterator[FigurePanel]:
    for (setting, measure), lines in found.items():
        yield FigurePanel(setting, measure, tuple(lines))


def _line(row: Mapping[str, str]) -> FigureLine:
    x = np.array(row["x"].split(), float)
    y, error = (np.array(row[name].split() or np.zeros(len(x)), float) for name in ("y", "error"))
    return FigureLine(row["key"], row["name"], Known(row["known"]), x, y, error)
