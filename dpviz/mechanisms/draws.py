"""Released tables drawn one after another from one confidential table, beside what their probabilities are."""

from dataclasses import dataclass
from functools import cached_property

import numpy as np

from dpviz.core.declarations import SEED
from dpviz.core.monte_carlo import wilson_interval
from dpviz.core.parameters import Parameter
from dpviz.core.types import FloatArray, IntArray
from dpviz.mechanisms import Synthesizer
from dpviz.mechanisms.base import check_index

NUMBER_OF_DRAWS = Parameter(
    name="number", symbol="", title="Releases drawn", minimum=0, maximum=10_000, default=0, integer=True,
    help="How many synthetic tables have been drawn from the same confidential table.",
)  # fmt: skip


@dataclass(frozen=True, eq=False)
class Draws:
    """Releases from the confidential table with index `row`: the indices of the released tables, in order."""

    synthesizer: Synthesizer
    row: int
    columns: IntArray

    @cached_property
    def probabilities(self) -> FloatArray:
        """Pr(released | confidential) of every table: the row of the matrix."""
        row = self.synthesizer.row(self.row)
        return row / row.sum()

    @cached_property
    def tally(self) -> IntArray:
        """How often every table was drawn."""
        return np.bincount(self.columns, minlength=self.synthesizer.shape[1])

    def bars(self, columns: IntArray) -> tuple[FloatArray, FloatArray]:
        """Ends of the 95 % (Wilson) intervals of the shares in which these tables were drawn: 0 and 1 before any is."""
        number = len(self.columns)
        if number == 0:
            return np.zeros(len(columns)), np.ones(len(columns))
        low, high = zip(*(wilson_interval(self.tally[column] / number, number) for column in columns), strict=True)
        return np.array(low), np.array(high)

    @cached_property
    def neighbours(self) -> IntArray:
        """Indices of the tables that differ from the confidential one in one substituted row."""
        pairs = self.synthesizer.neighbours
        return np.concatenate([pairs[pairs[:, 0] == self.row, 1], pairs[pairs[:, 1] == self.row, 0]])

    def log_odds(self, neighbour: int) -> FloatArray:
        """ln Pr(c | confidential) − ln Pr(c | neighbour) of every released table c."""
        pairs = self.synthesizer.neighbours
        pair = np.flatnonzero((np.sort(pairs, axis=1) == sorted((self.row, neighbour))).all(axis=1))
        sign = 1 if pairs[pair[0], 0] == self.row else -1
        return sign * self.synthesizer.log_odds(pair, np.arange(self.synthesizer.shape[1]))[0]


def draw_releases(synthesizer: Synthesizer, row: int, *, number: int, seed: int) -> Draws:
    """Independent releases from the confidential table with index `row`; more of them begin with the same.

    Parameters
    ----------
    synthesizer : Synthesizer
    row : int
        Index of the confidential table.
    number : int
        Releases, at most 10,000.
    seed : int

    Examples
    --------
    >>> from dpviz.mechanisms import BetaBinomial
    >>> few, more = (draw_releases(BetaBinomial(n=5, m=5, alpha=1, beta=1), 2, number=k, seed=1) for k in (3, 9))
    >>> more.columns[:3].tolist() == few.columns.tolist(), int(more.tally.sum())
    (True, 9)
    """
    number, seed = int(NUMBER_OF_DRAWS.validate(number)), int(SEED.validate(seed))
    row = check_index(row, synthesizer.shape[0], "row")
    return Draws(synthesizer, row, synthesizer.draw(np.random.default_rng(seed), row, number))
