"""Everything the verdict on a release needs, computed in one call, and the parts of its tables that pictures show."""

import math
from dataclasses import dataclass

import numpy as np

from dpviz.core.formatting import format_large_count
from dpviz.core.types import FloatArray, IntArray
from dpviz.mechanisms import Synthesizer, TwoCellSynthesizer, WorstCase
from dpviz.mechanisms.base import check_index
from dpviz.privacy.divergence import epsilon_for_delta, worst_neighbours
from dpviz.privacy.probabilistic import change_by_row, even_counts, failure_by_row

EQUAL_LOSS = 1e-12
"""Relative difference up to which two ε are one, rounding aside."""

PICTURE_SIDE = 151  # largest number of rows and columns of a picture; larger tables are shown at evenly spaced counts
PROFILE_POINTS = 41  # values of ε at which a privacy profile is computed
SMALLEST_PROFILE_DELTA = 1e-12  # where a privacy profile ends, if it has not reached 0 before
MAX_SHOWN_COLUMNS = 301  # released tables under the worst neighbours, evenly spaced where there are more
MIN_SHOWN_SHARE = 1e-4  # share of the largest probability below which a released table at the rim is left out


@dataclass(frozen=True)
class PrivacySummary:
    """The privacy of a release at a promised ε and an allowed δ; None where a table is too large, or m is not n."""

    synthesizer: Synthesizer
    epsilon: float
    delta: float
    worst: WorstCase
    divergence: WorstCase
    epsilon_at_delta: float
    failure: FloatArray | None
    joint_failure: float | None
    change: FloatArray | None

    @property
    def is_pure(self) -> bool:
        """Whether the release is ε-differentially private, rounding aside."""
        return self.worst.value <= self.epsilon * (1 + EQUAL_LOSS)

    @property
    def is_approximate(self) -> bool:
        """Whether the release is (ε, δ)-differentially private."""
        return self.is_pure or self.divergence.value <= self.delta

    @property
    def worst_pair(self) -> int:
        """Index of the worst neighbours among those of the synthesizer."""
        tables = sorted((self.worst.likelier, self.worst.unlikelier))
        return int(np.flatnonzero((np.sort(self.synthesizer.neighbours, axis=1) == tables).all(axis=1))[0])


def summarize(synthesizer: Synthesizer, epsilon: float, delta: float) -> PrivacySummary:
    """The privacy of a synthesizer at a promised ε and an allowed δ.

    Parameters
    ----------
    synthesizer : Synthesizer
    epsilon, delta : float
        Promised ε and allowed δ.
    """
    is_listed = synthesizer.enumerable
    failure = failure_by_row(synthesizer, epsilon) if is_listed else None
    joint_failure = None if failure is None else float(even_counts(synthesizer) @ failure)
    has_equal_size = is_listed and synthesizer.row_counts[0].sum() == synthesizer.column_counts[-1].max()
    change = change_by_row(synthesizer) if has_equal_size else None
    worst, divergence = synthesizer.worst_log_odds(), worst_neighbours(synthesizer, epsilon)
    at_delta = epsilon_for_delta(synthesizer, delta)
    return PrivacySummary(synthesizer, epsilon, delta, worst, divergence, at_delta, failure, joint_failure, change)


@dataclass(frozen=True)
class TableView:
    """The rows, pairs and columns of a release's tables that a picture shows, and the tables there."""

    synthesizer: Synthesizer
    rows: IntArray
    pairs: IntArray
    columns: IntArray
    log_probabilities: FloatArray
    log_odds: FloatArray

    @property
    def is_complete(self) -> bool:
        """Whether every row and column is shown."""
        return (len(self.rows), len(self.columns)) == self.synthesizer.shape

    @property
    def left_out(self) -> str:
        """How much of the tables is shown, in a sentence; nothing where that is all."""
        if self.is_complete:
            return ""
        rows, columns = map(format_large_count, self.synthesizer.shape)
        return (
            f"Drawn are {len(self.rows)} of {rows} rows and {len(self.columns)} of {columns} columns, evenly spaced. "
            "Each cell shows its own exact number."
        )


def view_tables(synthesizer: Synthesizer) -> TableView:
    """The tables at no more than `PICTURE_SIDE` evenly spaced rows, pairs and columns, ends included."""
    sizes = synthesizer.shape[0], len(synthesizer.neighbours), synthesizer.shape[1]
    rows, pairs, columns = (evenly_spaced(0, size - 1, PICTURE_SIDE) for size in sizes)
    log_probabilities = synthesizer.log_transition(rows, columns)
    return TableView(synthesizer, rows, pairs, columns, log_probabilities, synthesizer.log_odds(pairs, columns))


@dataclass(frozen=True)
class Profile:
    """The privacy profile δ(ε) from ε = 0 on, and the exact ε where δ reaches 0, infinite where it never does."""

    synthesizer: Synthesizer
    epsilons: FloatArray
    deltas: FloatArray
    pure: float


def profile(synthesizer: Synthesizer) -> Profile:
    """The privacy profile from ε = 0 to where δ reaches 0 or falls below 1e-12, or beyond all finite log-odds."""
    pure = synthesizer.worst_log_odds().value
    last = epsilon_for_delta(synthesizer, SMALLEST_PROFILE_DELTA)
    if math.isinf(last):
        table = np.abs(synthesizer.log_odds_table())
        last = 2 * float(table.max(where=np.isfinite(table), initial=0.0)) or 2.0
    elif last == 0 or last > 0.98 * pure:
        last = pure
    epsilons = np.linspace(0, last, PROFILE_POINTS)
    if last == pure:
        epsilons = np.unique(np.append(epsilons, pure * (1 - 10.0 ** -np.arange(2, 12))))
    deltas = np.where(epsilons < pure, np.minimum(synthesizer.divergences(epsilons), 1.0), 0.0)
    return Profile(synthesizer, epsilons, deltas, pure)


@dataclass(frozen=True, eq=False)
class TwoTables:
    """What is released under each of the two neighbouring tables that a release tells apart best."""

    synthesizer: Synthesizer
    tables: tuple[int, int]  # their rows: of two counts first the one with one yes more, else the likelier one
    columns: IntArray  # released tables that are shown
    probabilities: FloatArray  # Pr(released | table) of both there
    best_column: int  # the released table that tells most
    chance: float  # its probability under the likelier table
    gain: float  # its log-odds
    success: float  # share of right guesses, ½ + Σ |difference| / 4; NaN where there are too many released tables


def two_tables(synthesizer: Synthesizer, worst: WorstCase) -> TwoTables | None:
    """Both tables of the largest log-odds of a release; None where no released table can be named.

    Parameters
    ----------
    synthesizer : Synthesizer
    worst : WorstCase
        Its largest log-odds.
    """
    has_two_cells = isinstance(synthesizer, TwoCellSynthesizer)
    if worst.column is None or not (has_two_cells or synthesizer.enumerable):
        return None
    size = synthesizer.shape[1]
    check_index(worst.column, size, "column of worst")
    tables = (worst.likelier, worst.unlikelier)
    if has_two_cells:
        tables = (max(tables), min(tables))

    # Probabilities under both tables; of many columns only the likely ones are shown
    rows = np.array([check_index(table, synthesizer.shape[0], "row of worst") for table in tables])
    columns = summed = evenly_spaced(0, size - 1, 20_000)
    success = math.nan
    with np.errstate(under="ignore"):
        probabilities = np.exp(synthesizer.log_transition(rows, summed))
        if len(summed) == size:
            success = 0.5 + float(np.abs(probabilities[0] - probabilities[1]).sum()) / 4
        if size > 41:
            likely = summed[probabilities.max(axis=0) >= MIN_SHOWN_SHARE * probabilities.max()]
            columns = evenly_spaced(int(likely[0]), int(likely[-1]), MAX_SHOWN_COLUMNS)
            probabilities = np.exp(synthesizer.log_transition(rows, columns))
        chance = float(np.exp(log_chance(synthesizer, worst)))
    return TwoTables(synthesizer, tables, columns, probabilities, worst.column, chance, worst.value, success)


def log_chance(synthesizer: Synthesizer, worst: WorstCase) -> float:
    """ln Pr(most telling release | likelier table)."""
    return float(synthesizer.log_transition(np.array([worst.likelier]), np.array([worst.column]))[0, 0])


def evenly_spaced(first: int, last: int, count: int) -> IntArray:
    """At most `count` evenly spaced indices from `first` to `last`, ends included."""
    return np.unique(np.rint(np.linspace(first, last, min(last - first + 1, count))).astype(np.int64))
