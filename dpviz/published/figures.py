"""The figures of the papers as they were redrawn, and what each shows."""

import re
from collections import defaultdict
from dataclasses import dataclass
from enum import StrEnum
from functools import cache
from itertools import groupby
from operator import itemgetter
from typing import Any

import numpy as np

from dpviz.core.data_files import read_table
from dpviz.core.types import FloatArray


class LineKind(StrEnum):
    """What the values of a line are."""

    COMPUTED = "computed"  # exact where they have no error, else simulated
    REFERENCE = "reference"  # of a method without a privacy guarantee
    PURE_EPSILON = "pure epsilon"  # with δ = 0
    PRINTED = "printed"


@dataclass(frozen=True)
class FigureLine:
    """One line: the key of its color, its name, and its values with their standard errors."""

    key: str
    name: str
    kind: LineKind
    x: FloatArray
    y: FloatArray
    error: FloatArray


@dataclass(frozen=True)
class FigurePanel:
    """The lines of a measure at a setting."""

    setting: str
    measure: str
    lines: tuple[FigureLine, ...]


@dataclass(frozen=True)
class Figure:
    """A figure: where it stands, what it shows, its axis, a note, and its panels."""

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
        return list(dict.fromkeys(panel.setting for panel in self.panels))

    def at(self, setting: str) -> dict[str, FigurePanel]:
        """The panels of a setting by measure."""
        return {panel.measure: panel for panel in self.panels if panel.setting == setting}


def slugify(name: str) -> str:
    """A name as an address has it.

    >>> slugify("supplement, Figures 4 to 7")
    'supplement_figures_4_to_7'
    """
    return re.sub(r"[^0-9a-zA-Zμσπε.]+", "_", name.replace("−", "-")).strip("_").lower()


@cache
def load_figures() -> tuple[Figure, ...]:
    """Every figure in the order of the captions; read once in a process."""
    panels: dict[tuple[str, str], list[FigurePanel]] = defaultdict(list)
    by_panel = itemgetter("paper", "place", "setting", "measure")
    for (paper, place, setting, measure), rows in groupby(read_table("published/figures"), by_panel):
        panels[paper, place].append(FigurePanel(setting, measure, tuple(map(_read_line, rows))))
    figures = []
    for row in read_table("published/captions"):
        parts: dict[str, Any] = {"log": row["log"] == "yes", "panels": tuple(panels[row["paper"], row["place"]])}
        figures.append(Figure(**row | parts))
    return tuple(figures)


def _read_line(row: dict[str, str]) -> FigureLine:
    """A line, where no values, or no errors, are zeros."""
    x = np.array(row["x"].split(), float)
    y, error = (np.array(row[name].split() or ["0"] * len(x), float) for name in ("y", "error"))
    return FigureLine(row["key"], row["name"], LineKind(row["kind"]), x, y, error)
