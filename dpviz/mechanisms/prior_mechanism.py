"""Releases of two counts that protect by a Beta(α, β) prior: its parameters, and what exchanging the cells does."""

import dataclasses
import math
from collections.abc import Callable
from dataclasses import dataclass
from decimal import Decimal, localcontext
from typing import ClassVar, Self

import numpy as np

from dpviz.core.declarations import ANY_EPSILON, ROWS, SYNTHETIC_ROWS
from dpviz.core.numerics.special import inverse_expm1, round_to_private_side
from dpviz.core.parameters import Parameter, argument
from dpviz.core.types import FloatArray, IntArray, Numbers
from dpviz.mechanisms.base import WorstCase, parameter
from dpviz.mechanisms.pair_divergence import worst_pair

PROMISED_ROWS = argument("m", 1, 10**9, title="synthetic rows", integer=True)
PROMISED_EPSILON = argument("epsilon", 1e-250, 1e308)
PRIOR_ONES = Parameter(
    name="alpha", symbol="α", title="Invented rows with yes", minimum=1e-300, maximum=1e12, default=0.5,
    slider_minimum=1e-3, slider_maximum=1e6, scale="log", private_end="larger",
    help="Invented rows with a 1 that the prior adds to the data. More of them are more private, and pull the "
    "synthetic data away from the confidential data.",
)  # fmt: skip
PRIOR_ZEROS = dataclasses.replace(
    PRIOR_ONES, name="beta", symbol="β", title="Invented rows with no",
    help="Invented rows with a 0 that the prior adds to the data. Equal to α unless it is set.",
)  # fmt: skip


@dataclass(frozen=True, kw_only=True)
class UnderPrior:
    """A release that adds α invented ones and β invented zeros to n rows, as private as its worst pair of neighbours.

    Pair i joins the tables with i and with i + 1 ones; either may be the likelier one. A synthesizer with such a prior
    has it as a first base, before `TwoCellSynthesizer`.

    Notes
    -----
    δ(ε) never rises in α or in β: the release with α + c is post-processing of the one with α. Each row goes to a third
    cell with the probability that c invented rows there would give it (one Beta(A, c) draw for the posterior draw,
    c / (A + c) for the plug-ins, A = n + α + β being public), and that cell is then merged with the first.
    """

    has_prior: ClassVar[bool] = True
    protected_by: ClassVar[tuple[str, ...]] = ("alpha", "beta")
    needs_no_matrix: ClassVar[bool] = True
    has_fast_moments: ClassVar[bool] = True
    prior_offset: ClassVar[int] = 0  # invented rows of each cell that the release does not use

    n: int = parameter(ROWS)
    m: int = parameter(SYNTHETIC_ROWS)
    alpha: float = parameter(PRIOR_ONES)
    beta: float = parameter(PRIOR_ZEROS)

    @property
    def effective_prior(self) -> tuple[float, float]:
        """What is added to the counts of ones and of zeros."""
        return self.alpha - self.prior_offset, self.beta - self.prior_offset

    @staticmethod
    def draws_and_rows(m: int) -> tuple[int, int]:
        """Independent draws of the proportion, and rows of each, whose loss in a cell of prior a is ln(1 + rows/a)."""
        raise NotImplementedError

    @property
    def mirrored(self) -> Self:
        """Same release with ones and zeros exchanged."""
        return dataclasses.replace(self, alpha=self.beta, beta=self.alpha)

    def of_pairs(self, first: int, last: int) -> Self:
        """Release of a single row beside what the pairs `first` to `last` share: no less revealing than any."""
        return dataclasses.replace(self, n=1, alpha=self.alpha + first, beta=self.beta + (self.n - 1 - last))

    @staticmethod
    def log_pair_deltas(x: FloatArray, y: FloatArray, m: Numbers, epsilon: Numbers) -> FloatArray:
        """ln δ(ε) of neighbours that share x and y (invented) rows, the first with a one more, the second a zero."""
        raise NotImplementedError

    def worse_direction(self, worst_upward: Callable[[Self], WorstCase]) -> WorstCase:
        """Worst case in both directions, from that of pairs whose row with more ones is the likelier one."""
        worst = worst_upward(self)
        if self.alpha != self.beta:
            downward = worst_upward(self.mirrored)
            if downward.value > worst.value * (1 + 1e-12):  # at ε = 0 both are equal but for rounding
                return WorstCase(downward.value, self.n - downward.likelier, self.n - downward.unlikelier)
        return worst

    def worst_upward_pair(self, epsilon: float) -> WorstCase:
        """Largest Σ max(0, Pr(· | i + 1) − e^ε Pr(· | i)) over the rows i = 0 … n − 1."""
        x, y = self.effective_prior
        log_delta, pair = worst_pair(lambda a, b: self.log_pair_deltas(a, b, self.m, epsilon), self.n, x, y)
        return WorstCase(math.exp(log_delta), pair + 1, pair)

    def hockey_stick(self, epsilon: float) -> WorstCase:
        """δ(ε) of the worst pair in the worse direction."""
        epsilon = ANY_EPSILON.validate(epsilon)
        return self.worse_direction(lambda release: release.worst_upward_pair(epsilon))

    def worst_log_odds(self) -> WorstCase:
        """Neighbours with one row or none in the cell with the smaller prior, and every released row in that cell."""
        draws, rows = self.draws_and_rows(self.m)
        log_odds = draws * math.log1p(rows / min(self.effective_prior))
        if self.alpha <= self.beta:
            return WorstCase(log_odds, 1, 0, self.m)
        return WorstCase(log_odds, self.n - 1, self.n, 0)

    @classmethod
    def smallest_alpha(cls, *, m: int, epsilon: float) -> float:
        """Smallest α = β with pure ε-differential privacy whatever n is, rounded to the private side.

        It is m / (e^ε − 1) where the rows follow one draw, 1 / (e^{ε/m} − 1) where each has its own, and 1 more for the
        mode.
        """
        m, epsilon = int(PROMISED_ROWS.validate(m)), PROMISED_EPSILON.validate(epsilon)
        (draws, rows), offset = cls.draws_and_rows(m), cls.prior_offset

        def is_private(alpha: float) -> bool:
            """Whether draws · ln(1 + rows/prior) ≤ ε in real numbers; in floats, it is equal for many priors."""
            prior = alpha - offset
            if draws * math.log1p(rows / prior) > epsilon:
                return False
            with localcontext() as context:  # 50 digits of the logarithm
                context.prec = 50 + max(0, math.ceil(math.log10(prior)))
                return draws * (1 + Decimal(rows) / Decimal(prior)).ln() <= Decimal(epsilon)

        alpha = offset + rows * inverse_expm1(epsilon / draws)
        alpha = max(alpha, math.nextafter(offset, math.inf), PRIOR_ONES.minimum)
        return round_to_private_side(alpha, math.inf, is_private)

    def mean_proportions(self, rows: IntArray) -> tuple[FloatArray, FloatArray]:
        """Posterior mean θ of the proportion for each confidential count, and 1 − θ, to full relative precision."""
        a, b = self.effective_prior
        rows, total = np.asarray(rows), a + b + self.n
        return (rows + a) / total, (b + (self.n - rows)) / total

    def proportion_moments(self) -> tuple[FloatArray, FloatArray]:
        """Mean θ, and variance θ (1 − θ)/d · (T/r + 1)/(T + 1) of d draws of r rows, with T = n + α + β."""
        mean, rest = self.mean_proportions(np.arange(self.n + 1))
        draws, rows = self.draws_and_rows(self.m)
        total = self.n + sum(self.effective_prior)
        return mean, mean * rest / draws * (total / rows + 1) / (total + 1)

    def line_of_means(self) -> tuple[float, float]:
        """Posterior mean of the proportion."""
        x, y = self.effective_prior
        return x / (self.n + x + y), self.n / (self.n + x + y)
