"""Evidence for or against something printed: the registry of what computes it, its sentence, and the verdict.

A section of a paper is a function that yields the evidence for its statements and numbers, one a line, by the keys of
``dpviz/published/data/records.csv``. If it simulates, it takes a budget. All cells of a table are a function of the
record and the budget. Each module lists its own at its end::

    def section_3_3() -> Findings:
        yield "half", between(table_2("negative_TM_pct", 2, 0.25, 0.5), 39, 50)
        yield "ninety", relative_bias(2, 0.25, 10)

    SECTIONS["charest"] = [section_3_3]

Settings, quotations and what is lost need no evidence.

``data/sentences.csv`` has the sentence that a reader sees of the values of a statement: ``{0}`` is the first of them,
``{all}`` lists all, ``{least}`` and ``{most}`` are the ends. Three digits are significant, or four in ``{0:4}``.
"""

import math
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cache, partial
from inspect import signature
from pathlib import Path
from typing import NamedTuple

import numpy as np
import pandas as pd
from numpy.typing import ArrayLike

from dpviz.core.formatting import format_number, join_words
from dpviz.published.figures import load_figures
from dpviz.published.records import FAR, Agreement, Record, load_papers, simulation_limit, summarize

PRINTED_REPETITIONS = 5_000  # of Liu, and of Bowen & Liu
FILE_DIGITS = 9  # significant ones of a computed number: fewer than rounding on another machine can reach
HALFWAY = 1e-6  # units of the last digit: a number halfway between two roundings agrees with both


@dataclass(frozen=True)
class Evidence:
    """What was computed for something printed."""

    value: float | str | tuple[float, ...]  # of a statement the values in its sentence, or the sentence
    supported: bool = True  # whether it supports the statement; unused for numbers
    standard_error: float = 0.0  # of printed − value; 0 where both are exact
    own_error: float = 0.0  # the part of it that is ours


CONTRADICTED = Evidence((), supported=False)  # the paper says it in two ways


@dataclass(frozen=True)
class SimulationBudget:
    """Repetitions and seed of what is simulated."""

    repetitions: int = PRINTED_REPETITIONS
    seed: int = 2016

    def at_most(self, repetitions: int) -> "SimulationBudget":
        """Return no more than so many repetitions."""
        return replace(self, repetitions=min(self.repetitions, repetitions))


# The registry

Findings = Iterator[tuple[str, Evidence | float]]
SectionFunction = Callable[..., Findings]
CellCheck = Callable[[Record, SimulationBudget], Evidence]

PAPER_KEYS = {paper: key for key, paper in load_papers().items()}
CELL_CHECKS: dict[tuple[str, str], CellCheck] = {}
"""What computes all cells of a table, by the keys of paper and records."""
SECTIONS: dict[str, list[SectionFunction]] = {}
"""The sections of each paper."""


@cache
def findings(function: SectionFunction, budget: SimulationBudget) -> dict[str, Evidence]:
    """Return the evidence of a section by key."""
    results = function(budget) if signature(function).parameters else function()
    return {key: item if isinstance(item, Evidence) else Evidence(float(item)) for key, item in results}


def find_check(record: Record, budget: SimulationBudget) -> Callable[[SimulationBudget], Evidence]:
    """Return the evidence for something printed as a function of the budget; sections are searched with this one."""
    paper = PAPER_KEYS[record.paper]
    if (paper, record.key) in CELL_CHECKS:
        return partial(CELL_CHECKS[paper, record.key], record)
    function = next(function for function in SECTIONS[paper] if record.key in findings(function, budget))
    return lambda budget: findings(function, budget)[record.key]


# Sentences

DATA = Path(__file__).parent / "data"
SENTENCES = pd.read_csv(DATA / "sentences.csv", index_col=["paper", "key"])["sentence"].to_dict()
"""Sentences of the statements, by the keys of paper and statement."""


class _Numbers(tuple[float, ...]):
    """Numbers that a format lists with as many significant digits as it says, by default three."""

    def __format__(self, digits: str) -> str:
        return join_words(format_number(float(number), int(digits or 3)) for number in self)


def sentence(record: Record, evidence: Evidence) -> str:
    """Return what a reader sees of the evidence for a statement."""
    if not isinstance(evidence.value, tuple):
        return str(evidence.value)
    numbers = _Numbers(evidence.value)
    ends = {name: _Numbers([end(numbers, default=0.0)]) for name, end in (("least", min), ("most", max))}
    template = SENTENCES[PAPER_KEYS[record.paper], record.key]
    return template.format(*(_Numbers([number]) for number in numbers), all=numbers, **ends)


# Criteria


def values(numbers: ArrayLike, supported: object) -> Evidence:
    """Return numbers for a sentence, and whether they support the statement."""
    return Evidence(tuple(np.ravel(numbers).tolist()), bool(supported))


def increasing(numbers: ArrayLike, axis: int = -1) -> Evidence:
    """Support a statement that `numbers` increase along `axis`."""
    return values(numbers, np.all(np.diff(numbers, axis=axis) > 0))


def decreasing(numbers: ArrayLike, axis: int = -1) -> Evidence:
    """Support a statement that `numbers` decrease along `axis`."""
    return values(numbers, np.all(np.diff(numbers, axis=axis) < 0))


def between(numbers: ArrayLike, low: float = -np.inf, high: float = np.inf) -> Evidence:
    """Support a statement that all `numbers` lie between `low` and `high`."""
    return values(numbers, low <= np.min(numbers) and np.max(numbers) <= high)


def count(cases: ArrayLike, share: float = 1.0) -> Evidence:
    """Support a statement that holds in a share of all cases; the values are in how many it does, and of how many."""
    is_so = np.ravel(cases)
    return values([is_so.sum(), is_so.size], is_so.mean() >= share)


# Redrawn figures


class Curves(NamedTuple):
    """Values and standard errors of lines, by setting and x, with a column for each."""

    y: pd.DataFrame
    error: pd.DataFrame

    @property
    def ends(self) -> tuple[pd.DataFrame, pd.DataFrame]:
        """The first and the last value of each line, by setting."""
        by_setting = self.y.groupby("setting", sort=False)
        return by_setting.first(), by_setting.last()


@cache
def curves(paper: str, place: str, measure: str, setting: str = "") -> Curves:
    """Return the lines of a measure in a figure, in all panels whose setting begins with some words."""
    figure = next(figure for figure in load_figures() if (figure.paper, figure.place) == (load_papers()[paper], place))
    lines = [
        pd.DataFrame({"setting": panel.setting, "key": line.key, "x": line.x, "y": line.y, "error": line.error})
        for panel in figure.panels
        if panel.measure == measure and panel.setting.startswith(setting)
        for line in panel.lines
    ]
    table = pd.concat(lines).pivot_table(["y", "error"], ["setting", "x"], "key", sort=False)
    return Curves(table["y"], table["error"].fillna(0.0))


# Whether what was computed agrees with what is printed: rounding, simulation error, and many numbers at once


def judge(record: Record, evidence: Evidence) -> Agreement:
    """Return the verdict: ours rounds to every printed digit, or is as close as rounding and chance allow.

    >>> from dpviz.published.records import load_records
    >>> record = replace(load_records()[0], printed="0.12")
    >>> [str(judge(record, Evidence(value))) for value in (0.1249, 0.1251, 0.1301)]
    ['agrees', 'differs within rounding', 'differs']
    """
    if not isinstance(evidence.value, float):
        return Agreement.AGREES if evidence.supported else Agreement.DIFFERS
    difference = abs(float(record.printed) - evidence.value)
    units = difference / record.unit
    if math.isnan(units):
        return Agreement.UNKNOWN
    if units <= 0.5 + HALFWAY:
        return Agreement.AGREES
    if evidence.standard_error:
        return Agreement.DIFFERS if difference > FAR * evidence.standard_error else Agreement.CHANCE
    return Agreement.ROUNDING if units < 1 else Agreement.DIFFERS


def recompute(record: Record, budget: SimulationBudget) -> Record:
    """Return a record as its check finds it now.

    A statement whose verdict is not the frozen one is tried again with ten times the repetitions on another stream,
    until there are more of them than the papers have: chance may have misled it.
    """
    check = find_check(record, budget)
    evidence = check(budget)
    if isinstance(evidence.value, float):
        difference, error = float(record.printed) - evidence.value, evidence.standard_error
        return replace(
            record,
            ours=f"{evidence.value:.{FILE_DIGITS}g}",
            error=error,
            our_error=evidence.own_error,
            units_of_last_digit=round(difference / record.unit, 6),  # beyond that rounding shows
            standard_errors=difference / error if error else 0.0,
            verdict=judge(record, evidence),
        )
    while evidence.supported != record.verdict.comes_out and budget.repetitions <= PRINTED_REPETITIONS:
        budget = SimulationBudget(10 * budget.repetitions, budget.seed + 1)
        evidence = check(budget)
    return replace(record, ours=sentence(record, evidence), verdict=judge(record, evidence))


def changed_records(frozen: Sequence[Record], recomputed: Sequence[Record]) -> list[Record]:
    """Return the recomputed records whose verdict is no longer the frozen one, by more than chance explains."""
    limit = simulation_limit(summarize(frozen).n_simulated)

    def is_changed(before: Record, after: Record) -> bool:
        if not after.error:
            return before.verdict is not after.verdict
        return before.verdict.comes_out and abs(after.standard_errors) > limit and not before.is_alternative

    return [after for before, after in zip(frozen, recomputed, strict=True) if is_changed(before, after)]
