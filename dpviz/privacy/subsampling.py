"""The release of a sample, exact: n of N rows are drawn without replacement, and the release sees only those."""

import math
from dataclasses import dataclass, field
from functools import cached_property

import numpy as np
from scipy.special import logsumexp

from dpviz.core import limits
from dpviz.core.numerics.special import MAX_EXPONENT, capped_expm1, log_rising_ratio, row_blocks
from dpviz.core.parameters import Parameter, argument
from dpviz.core.types import FloatArray, IntArray
from dpviz.mechanisms.base import TwoCellSynthesizer
from dpviz.privacy.divergence import epsilon_for_delta

POPULATION = Parameter(
    name="population", symbol="N", title="Rows to draw from", minimum=1, maximum=limits.MAX_POPULATION, default=1000,
    integer=True, scale="log", private_end="larger",
    help="The number of rows that the sample is drawn from. A smaller share in the sample is more private.",
)  # fmt: skip
LOSS = argument("epsilon", 0, math.inf)
RATE = argument("rate", 0, 1)  # r = n/N
FULL_DIGITS = 1e-280  # probability from which a sum of products has kept all its terms


@dataclass(frozen=True, kw_only=True)
class SubsampledRelease(TwoCellSynthesizer):
    """Pr(m1 | K) = Σ_k Hypergeometric(k; N, K, n) T[k, m1]: n of N rows drawn without replacement, then T.

    T is the release `sample`. The rows are the tables (K, N − K) of the population, so that its `n` is N. With a sample
    of one row, K is a fair coin:

    >>> from dpviz.mechanisms import BetaBinomial
    >>> release = SubsampledRelease(sample=BetaBinomial(n=1, m=1, alpha=1, beta=1), population=2)
    >>> release.transition_matrix().round(6).tolist()
    [[0.666667, 0.333333], [0.5, 0.5], [0.333333, 0.666667]]
    """

    key = "subsampled"

    n: int = field(init=False, default=0)
    m: int = field(init=False, default=0)
    sample: TwoCellSynthesizer
    population: int

    def __post_init__(self) -> None:
        population = int(POPULATION.validate(self.population))
        if population < self.sample.n:
            raise ValueError(
                f"population (rows to draw from) must be at least the size of the sample, {self.sample.n:,}; "
                f"got {population:,}."
            )
        for name, value in {"population": population, "n": population, "m": self.sample.m}.items():
            object.__setattr__(self, name, value)

    def log_transition(self, rows: IntArray, columns: IntArray) -> FloatArray:
        table = self._probabilities[np.ix_(rows, columns)]
        with np.errstate(divide="ignore"):
            logs: FloatArray = np.log(table)

        # Cells too improbable for a product of matrices
        small = np.argwhere(table < FULL_DIGITS)
        for block in row_blocks(len(small), self.sample.n + 1, 1_000_000):
            row, column = small[block].T
            log_columns = self.sample.log_transition(np.arange(self.sample.n + 1), np.asarray(columns)[column]).T
            logs[row, column] = logsumexp(self._log_samples[np.asarray(rows)[row]] + log_columns, axis=1)
        return logs

    def transition_matrix(self) -> FloatArray:
        return self._probabilities.copy()

    def log_odds(self, pairs: IntArray, columns: IntArray) -> FloatArray:
        table = super().log_odds(pairs, columns)
        probabilities = self._probabilities[np.ix_(pairs, columns)]
        with np.errstate(divide="ignore", over="ignore", invalid="ignore"):
            gain = self._differences[np.ix_(pairs, columns)] / probabilities
        is_close = (probabilities >= FULL_DIGITS) & (np.abs(gain) < 0.5)
        table[is_close] = -np.log1p(gain[is_close])
        return table

    @cached_property
    def _log_samples(self) -> FloatArray:
        """ln Pr(k ones in the sample | K ones in the population), shape (N + 1, n + 1)."""
        return _log_hypergeometric(self.population, self.sample.n)

    @cached_property
    def _probabilities(self) -> FloatArray:
        return np.exp(self._log_samples) @ self.sample.transition_matrix()

    @cached_property
    def _differences(self) -> FloatArray:
        """Pr(· | K + 1) − Pr(· | K): n/N times the mean change when a zero of the sample becomes a one."""
        size = self.sample.n
        matrix = self.sample.transition_matrix()
        log_odds = self.sample.log_odds(np.arange(size), np.arange(self.m + 1))
        with np.errstate(over="ignore", invalid="ignore"):
            near = matrix[:-1] * np.expm1(-log_odds)
        change = np.where(np.abs(log_odds) < 1, near, matrix[1:] - matrix[:-1])
        return size / self.population * (np.exp(_log_hypergeometric(self.population - 1, size - 1)) @ change)


def subsampled_epsilon(synthesizer: TwoCellSynthesizer, population: int, delta: float) -> float:
    """Smallest ε at an allowed δ of the release of a sample, exact over all neighbouring populations.

    Parameters
    ----------
    synthesizer : TwoCellSynthesizer
        Of the sample.
    population : int
    delta : float
    """
    return epsilon_for_delta(SubsampledRelease(sample=synthesizer, population=population), delta)


def subsampled_tight(epsilon: float, rate: float) -> float:
    """ε' = ln(1 + r (e^ε − 1)): with δ' = r δ the best for every release that is (ε, δ)-private.

    Balle, Barthe & Gaboardi (2018), for substitution and sampling without replacement.

    Parameters
    ----------
    epsilon, rate : float
    """
    epsilon, rate = LOSS.validate(epsilon), RATE.validate(rate)
    if epsilon < MAX_EXPONENT:
        return math.log1p(rate * math.expm1(epsilon))
    return epsilon + math.log(rate + (1 - rate) * math.exp(-epsilon)) if rate > 0 else 0.0


def subsampled_epsilon_printed(epsilon: float, rate: float) -> float:
    """r (e^ε − 1), which is e^ε' − 1 of `subsampled_tight`: the bound of Zheng (2015), Theorem 2.22; ∞ if it overflows.

    Parameters
    ----------
    epsilon, rate : float
    """
    return capped_expm1(subsampled_tight(epsilon, rate))


def _log_hypergeometric(total: int, sample: int) -> FloatArray:
    """ln Pr(k ones among `sample` of `total` rows, K of them ones), shape (K, k); −∞ where impossible."""
    population_ones, sample_ones = np.arange(total + 1)[:, None], np.arange(sample + 1)[None, :]
    is_possible = (sample_ones <= population_ones) & (sample - sample_ones <= total - population_ones)
    rest = np.clip(population_ones - sample_ones, 0, total - sample)
    factorial = log_rising_ratio(1.0, total)
    logs = factorial[population_ones] + factorial[total - population_ones] - factorial[total]
    for count, ones in ((sample, sample_ones), (total - sample, rest)):
        logs = logs + (factorial[count] - factorial[ones] - factorial[count - ones])
    return np.where(is_possible, logs, -np.inf)
