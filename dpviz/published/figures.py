"""The figures of the papers as they were redrawn, and what each shows."""

import re
from dataclasses import dataclass
from enum import StrEnum
from functools import cache

import numpy as np

from dpviz.core.types import FloatArray
from dpviz.published.records import read_data


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
        """Return the panels of a setting by measure."""
        return {panel.measure: panel for panel in self.panels if panel.setting == setting}


def slugify(name: str) -> str:
    """Return a name as an address has it.

    >>> slugify("supplement, Figures 4 to 7")
    'supplement_figures_4_to_7'
    """
    return re.sub(r"[^0-9a-zA-Zμσπε.]+", "_", name.replace("−", "-")).strip("_").lower()


@cache
def load_figures() -> tuple[Figure, ...]:
    """Return every figure in the order of the captions; read once in a process."""
    figures: dict[tuple[str, str], dict[tuple[str, str], list[FigureLine]]] = {}
    for row in read_data("figures"):
        panels = figures.setdefault((row["paper"], row["place"]), {})
        panels.setdefault((row["setting"], row["measure"]), []).append(_line(row))
    return tuple(
        Figure(
            **{name: text for name, text in row.items() if name != "log"},
            log=row["log"] == "yes",
            panels=tuple(
                FigurePanel(setting, measure, tuple(lines))
                for (setting, measure), lines in figures[row["paper"], row["place"]].items()
            ),
        )
        for row in read_data("captions")
    )


def _line(row: dict[str, str]) -> FigureLine:
    x, y, error = (np.array(row[name].split(), float) for name in ("x", "y", "error"))
    zeros = np.zeros(len(x))  # empty cells
    return FigureLine(
        row["key"], row["name"], LineKind(row["kind"]), x, y if y.size else zeros, error if error.size else zeros
    )
