"""Evidence for or against something printed, and the registry of the checks that compute it.

A check of a statement is one line::

    check("charest", "half")(lambda _: between(table_2("negative_TM_pct", 2), 39, 50, unit=" %"))

and one of all cells of a table is a function of the record::

    @check_each("charest", "table_2")
    def table_2_cell(record: Record, budget: SimulationBudget) -> Evidence: ...

Keys are those of the column ``key`` of ``dpviz/published/data/records.csv``; settings, quotations and what is lost
have no check.
"""

import math
from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import cache

import numpy as np
from numpy.typing import ArrayLike

from dpviz.core.formatting import format_number
from dpviz.core.types import FloatArray
from dpviz.published.figures import FigureLine, load_figures
from dpviz.published.records import Record, load_papers

CHANCE_ERRORS = 3.0  # Standard errors of a difference that chance explains
PRINTED_REPETITIONS = 5_000  # Of Liu, and of Bowen & Liu


@dataclass(frozen=True)
class Evidence:
    """What was computed for something printed.

    Parameters
    ----------
    value : float or str
        The number, or a summary of what was computed for a statement.
    supported : bool
        Whether it supports the statement; unused for numbers.
    standard_error : float
        Standard error of printed − value; 0 where both are exact.
    own_error : float
        The part of it that is ours.
    """

    value: float | str
    supported: bool = True
    standard_error: float = 0.0
    own_error: float = 0.0


@dataclass(frozen=True)
class SimulationBudget:
    """Repetitions and seed of what is simulated."""

    repetitions: int = PRINTED_REPETITIONS
    seed: int = 2016

    @property
    def use_exact_sums(self) -> bool:
        """Whether sums of up to a minute are summed: with fewer repetitions than the papers have they are simulated."""
        return self.repetitions >= PRINTED_REPETITIONS

    def retry(self) -> "SimulationBudget":
        """Return ten times the repetitions on another stream."""
        return replace(self, repetitions=10 * self.repetitions, seed=self.seed + 1)

    def generator(self) -> np.random.Generator:
        """Return new random numbers from the seed."""
        return np.random.default_rng(self.seed)


RecordCheck = Callable[[Record, SimulationBudget], Evidence]
StatementCheck = Callable[[SimulationBudget], Evidence]
CHECKS: dict[tuple[str, str], RecordCheck] = {}


def check_each(paper: str, *keys: str) -> Callable[[RecordCheck], RecordCheck]:
    """Register a function of record and budget as the check of the records with these keys."""

    def register(function: RecordCheck) -> RecordCheck:
        CHECKS.update({(load_papers()[paper], key): function for key in keys})
        return function

    return register


def check(paper: str, *keys: str) -> Callable[[StatementCheck], StatementCheck]:
    """Register a function of the budget as the check of the statements with these keys."""

    def register(function: StatementCheck) -> StatementCheck:
        check_each(paper, *keys)(lambda _, budget: function(budget))
        return function

    return register


def summarize(values: ArrayLike, criterion: str, supported: object, unit: str = "") -> Evidence:
    """Return evidence that lists the values and the criterion they must meet."""
    numbers = ", ".join(format_number(value, 4) for value in np.ravel(values).tolist())
    return Evidence(f"{numbers}{unit} ({criterion}).", bool(supported))


def increasing(values: ArrayLike, unit: str = "", axis: int = -1) -> Evidence:
    """Support a statement that `values` increase along `axis`."""
    return summarize(values, "increasing", np.all(np.diff(values, axis=axis) > 0), unit)


def decreasing(values: ArrayLike, unit: str = "", axis: int = -1) -> Evidence:
    """Support a statement that `values` decrease along `axis`."""
    return summarize(values, "decreasing", np.all(np.diff(values, axis=axis) < 0), unit)


def between(values: ArrayLike, low: float = -np.inf, high: float = np.inf, unit: str = "") -> Evidence:
    """Support a statement that all `values` lie between `low` and `high`."""
    least, most = float(np.min(values)), float(np.max(values))
    ends = " to ".join(dict.fromkeys(format_number(end, 4) for end in (least, most)))
    needed = f"at least {format_number(low)}" if math.isinf(high) else f"{format_number(low)} to {format_number(high)}"
    return Evidence(f"{ends}{unit}; needed: {needed}.", low <= least and most <= high)


def count_supported(cases: ArrayLike, unit: str = "panels", share: float = 1.0) -> Evidence:
    """Support a statement that holds in every case, or in a share of them."""
    is_so = np.ravel(cases)
    return Evidence(f"It is so in {is_so.sum()} of {is_so.size} {unit}.", bool(is_so.mean() >= share))


def share_evidence(printed: Record, share: float, runs: int, n_printed: int = PRINTED_REPETITIONS) -> Evidence:
    """Return a share from so many runs, 0 for an exact one, beside one that was printed of `n_printed` repetitions.

    Both have the error of the pooled share: at 0 or 1 a share of its own would have none.
    """
    pooled = (float(printed.printed) * n_printed + share * runs) / (n_printed + runs) if runs else share
    spread = math.sqrt(pooled * (1 - pooled))
    own_error = math.hypot(spread / math.sqrt(runs), 1 / runs) if runs else 0.0  # no finer than one repetition
    error = math.hypot(spread / math.sqrt(n_printed), own_error, printed.unit / math.sqrt(12))
    return Evidence(share, standard_error=error, own_error=own_error)


@dataclass(frozen=True)
class Lines:
    """The lines of a panel of a redrawn figure, by key."""

    setting: str
    lines: dict[str, FigureLine]

    def y(self, key: str) -> FloatArray:
        """Values of a line."""
        return self.lines[key].y

    def tolerance(self, *keys: str) -> FloatArray:
        """What chance explains of the difference of some lines."""
        return CHANCE_ERRORS * np.sqrt(sum(np.nan_to_num(self.lines[key].error) ** 2 for key in keys))


@cache
def lines(paper: str, place: str, measure: str, setting: str = "") -> tuple[Lines, ...]:
    """Return the lines of a measure in a figure, panel by panel, where the setting begins with some words."""
    figure = next(figure for figure in load_figures() if (figure.paper, figure.place) == (load_papers()[paper], place))
    return tuple(
        Lines(panel.setting, {line.key: line for line in panel.lines})
        for panel in figure.panels
        if panel.measure == measure and panel.setting.startswith(setting)
    )
