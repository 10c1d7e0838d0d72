"""Everything the verdict on a release needs, computed in one call, and the part of its tables that a picture shows."""

import math
from dataclasses import dataclass

import numpy as np

from dpviz.core.types import FloatArray, IntArray
from dpviz.core.wording import large_count
from dpviz.mechanisms import Synthesizer, WorstCase
from dpviz.privacy.attacker import EQUAL_LOSS
from dpviz.privacy.hockey_stick import deltas_for_epsilons, epsilon_for_delta, worst_neighbours
from dpviz.privacy.probabilistic import change_by_row, even_counts, failure_by_row

PICTURE_SIDE = 151  # Largest number of rows and columns of a picture; larger tables are shown at evenly spaced counts
PROFILE_POINTS = 41  # Values of ε at which a privacy profile is computed
END_PARTS = 16  # Equal parts of a profile in which its end is sought at once
SMALLEST_PROFILE_DELTA = 1e-12  # Where a privacy profile ends, if it has not reached 0 before


@dataclass(frozen=True)
class PrivacySummary:
    """The privacy of a release at a promised ε and an allowed δ; None where the full table is too large."""

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


def summarize(synthesizer: Synthesizer, epsilon: float, delta: float) -> PrivacySummary:
    """Return the privacy of `synthesizer` at a promised ε and an allowed δ."""
    listed = synthesizer.enumerable
    failure = failure_by_row(synthesizer, epsilon) if listed else None
    sizes_match = listed and int(synthesizer.row_counts[0].sum()) == int(synthesizer.column_counts[-1].max())
    return PrivacySummary(
        synthesizer,
        epsilon,
        delta,
        synthesizer.worst_log_odds(),
        worst_neighbours(synthesizer, epsilon),
        epsilon_for_delta(synthesizer, delta),
        failure,
        None if failure is None else float(even_counts(synthesizer) @ failure),
        change_by_row(synthesizer) if sizes_match else None,
    )


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
    def whole(self) -> bool:
        """Whether every row and column is shown."""
        return (len(self.rows), len(self.columns)) == self.synthesizer.shape

    @property
    def left_out(self) -> str:
        """How much of the tables is shown, in a sentence; nothing where that is all."""
        if self.whole:
            return ""
        rows, columns = map(large_count, self.synthesizer.shape)
        return (
            f"Drawn are {len(self.rows)} of {rows} rows and {len(self.columns)} of {columns} columns, evenly spaced. "
            "Each cell shows its own exact number."
        )


def view_tables(synthesizer: Synthesizer, side: int = PICTURE_SIDE) -> TableView:
    """Return the tables at no more than `side` evenly spaced rows, pairs and columns, ends included."""
    rows, pairs, columns = (
        np.unique(np.rint(np.linspace(0, size - 1, min(size, side))).astype(np.int64))
        for size in (synthesizer.shape[0], len(synthesizer.neighbours), synthesizer.shape[1])
    )
    tables = synthesizer.log_transition(rows, columns), synthesizer.log_odds(pairs, columns)
    return TableView(synthesizer, rows, pairs, columns, *tables)


@dataclass(frozen=True)
class Profile:
    """The privacy profile δ(ε) from ε = 0 on, and the exact ε where δ reaches 0, infinite where it never does."""

    synthesizer: Synthesizer
    epsilons: FloatArray
    deltas: FloatArray
    pure: float


def profile(synthesizer: Synthesizer, points: int = PROFILE_POINTS) -> Profile:
    """Return the privacy profile from ε = 0 to where δ reaches 0 or falls below 1e-12."""
    pure = synthesizer.worst_log_odds().value
    last = _end(synthesizer, pure)
    epsilons = np.linspace(0, last, points)
    if last == pure:
        epsilons = np.unique(np.append(epsilons, pure * (1 - 10.0 ** -np.arange(2, 12))))
    deltas = deltas_for_epsilons(synthesizer, epsilons)
    return Profile(synthesizer, epsilons, deltas, pure)


def _end(synthesizer: Synthesizer, pure: float) -> float:
    """About where the picture of a profile should end: at δ = 1e-12, or beyond the largest finite log-odds."""
    high = pure
    if math.isinf(pure):
        table = np.abs(synthesizer.log_odds_table())
        high = 2 * float(table.max(where=np.isfinite(table), initial=0.0)) or 2.0
    visible = synthesizer.divergences(np.array([0.0, 0.98 * high])) >= SMALLEST_PROFILE_DELTA
    if visible[1] or not visible[0]:
        return high
    low = 0.0
    while high - low > 0.02 * high:
        halves = np.linspace(low, high, END_PARTS + 1)
        seen = np.append(synthesizer.divergences(halves[:-1]) >= SMALLEST_PROFILE_DELTA, False)
        last, first = 0, END_PARTS
        while first - last > 1 and halves[first] - halves[last] > 0.02 * halves[first]:
            middle = (first + last) // 2
            last, first = (middle, first) if seen[middle] else (last, middle)
        low, high = float(halves[last]), float(halves[first])
    return high
