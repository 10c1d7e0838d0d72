"""Two-cell synthesizers that protect by a Beta(α, β) prior: its parameters, and what exchanging the cells does."""

import dataclasses
import math
from abc import ABC, abstractmethod
from dataclasses import dataclass
from typing import ClassVar, Self

import numpy as np

from dpviz.core.checked import checked
from dpviz.core.declarations import ROWS, SYNTHETIC_ROWS
from dpviz.core.numerics.ends import LARGEST_EXPONENT
from dpviz.core.numerics.worst_pair import largest_pairs
from dpviz.core.parameters import ANY_EPSILON, Parameter, argument
from dpviz.core.types import FloatArray, IntArray, Numbers
from dpviz.mechanisms.base import LossLists, TwoCellSynthesizer, WorstCase, parameter

FEW_PAIRS = 200  # Pairs up to which all are summed rather than searched
MOST_LISTED_LOSSES = 40_000  # Losses of all pairs up to which they are listed, for many ε at once
PROMISED_ROWS = argument("m", 1, 10**9, title="synthetic rows", integer=True)
PROMISED_EPSILON = argument("epsilon", 1e-250, 1e308)
PRIOR_ONES = Parameter(
    name="alpha",
    symbol="α",
    title="Invented rows with yes",
    minimum=1e-300,
    maximum=1e12,
    default=0.5,
    slider_minimum=1e-3,
    slider_maximum=1e6,
    scale="log",
    private_end="larger",
    help="Invented rows with a 1 that the prior adds to the data. More of them are more private, and pull the "
    "synthetic data away from the confidential data.",
)
PRIOR_ZEROS = dataclasses.replace(
    PRIOR_ONES,
    name="beta",
    symbol="β",
    title="Invented rows with no",
    help="Invented rows with a 0 that the prior adds to the data. Equal to α unless it is set.",
)


@dataclass(frozen=True, kw_only=True)
class UnderPrior(ABC):
    """A release of two counts, or of what stands behind them, that adds α invented ones and β invented zeros to n rows.

    Its privacy is that of its worst pair: the tables with i and with i + 1 ones, in either direction.
    """

    n: int
    alpha: float
    beta: float

    @property
    def mirrored(self) -> Self:
        """The same release with ones and zeros exchanged."""
        return dataclasses.replace(self, alpha=self.beta, beta=self.alpha)

    def of_pairs(self, first: int, last: int) -> Self:
        """The release of a single row beside what all these pairs of tables share, which tells no less than any."""
        return dataclasses.replace(self, n=1, alpha=self.alpha + first, beta=self.beta + (self.n - 1 - last))

    @abstractmethod
    def worst_upward_pair(self, epsilon: float) -> WorstCase:
        """Return the largest Σ max(0, Pr(·|i+1) − e^ε Pr(·|i)) over the rows i = 0 … n − 1."""

    @checked(epsilon=ANY_EPSILON)
    def hockey_stick(self, epsilon: float) -> WorstCase:
        worst = self.worst_upward_pair(epsilon)
        if self.alpha == self.beta:
            return worst
        other = self.mirrored.worst_upward_pair(epsilon)
        if other.value <= worst.value:
            return worst
        return WorstCase(other.value, self.n - other.likelier, self.n - other.other)


@dataclass(frozen=True, kw_only=True)
class PriorSynthesizer(UnderPrior, TwoCellSynthesizer):
    """A synthesizer of two counts that adds α invented rows with a one and β with a zero to the n confidential rows.

    δ(ε) never rises in α or in β: the release with α + c is post-processing of the one with α. Each row goes to a third
    cell with the probability that c invented rows there would give it (one Beta(A, c) draw for the posterior draw,
    c / (A + c) for the plug-ins, A = n + α + β being public), and that cell is then merged with the first.
    """

    has_prior = True
    protected_by = "alpha", "beta"
    needs_no_matrix = moments_at_once = True
    lost: ClassVar[int] = 0
    """Invented rows of each cell that the synthesizer does not use."""
    rows_drawn: ClassVar[str]

    @classmethod
    def required_facts(cls) -> list[str]:
        return [*super().required_facts(), "rows_drawn"]

    n: int = parameter(ROWS)
    m: int = parameter(SYNTHETIC_ROWS)
    alpha: float = parameter(PRIOR_ONES)
    beta: float = parameter(PRIOR_ZEROS)

    @property
    def effective_prior(self) -> tuple[float, float]:
        """What is added to the counts of ones and of zeros."""
        return self.alpha - self.lost, self.beta - self.lost

    @staticmethod
    def log_pair_deltas(x: FloatArray, y: FloatArray, m: Numbers, epsilon: Numbers) -> FloatArray:
        """ln δ(ε) of neighbours that share x and y (invented) rows, the first with a one more, the second a zero."""
        raise NotImplementedError

    def worst_of(self, pairs: IntArray, epsilon: float) -> WorstCase:
        """The worst of the pairs i, i + 1 with these i, by positive terms alone, however small δ is."""
        ones, zeros = self.effective_prior
        values = self.log_pair_deltas(ones + pairs, zeros + (self.n - 1 - pairs), self.m, epsilon)
        best = int(values.argmax())
        return WorstCase(math.exp(values[best]), int(pairs[best]) + 1, int(pairs[best]))

    def worst_upward_pair(self, epsilon: float) -> WorstCase:
        """As of `UnderPrior`, many pairs by branch and bound."""
        if self.n <= FEW_PAIRS:
            return self.worst_of(np.arange(self.n), epsilon)
        ones, zeros = self.effective_prior
        some = np.array([0.0, (self.n - 1) // 2, self.n - 1])
        scale = self.log_pair_deltas(ones + some, zeros + (self.n - 1 - some), self.m, epsilon).max()
        if scale == -math.inf:  # not even the first pair, whose log-odds are the largest, exceeds ε
            return WorstCase(0.0, 1, 0)

        def delta(x: FloatArray, y: FloatArray) -> FloatArray:
            return np.exp(np.minimum(self.log_pair_deltas(x, y, self.m, epsilon) - scale, LARGEST_EXPONENT))

        return self.worst_of(largest_pairs(delta, self.n, ones, zeros), epsilon)

    def loss_lists(self) -> LossLists | None:
        return super().loss_lists() if self.n * (self.m + 1) <= MOST_LISTED_LOSSES else None

    def line_of_means(self) -> tuple[float, float]:
        """The posterior mean of the proportion."""
        ones, zeros = self.effective_prior
        return ones / (self.n + ones + zeros), self.n / (self.n + ones + zeros)

    def single_row(self, value: float) -> WorstCase:
        """The neighbours with one row or none in the cell with the smaller prior, and every draw in that cell."""
        if self.alpha <= self.beta:
            return WorstCase(value, 1, 0, self.m)
        return WorstCase(value, self.n - 1, self.n, 0)
