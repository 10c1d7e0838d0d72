"""The release of a sample, exact: n of N rows are drawn without replacement, and the release sees only those."""

import math
from dataclasses import dataclass, field
from functools import cached_property

import numpy as np

from dpviz.core import limits
from dpviz.core.checked import checked
from dpviz.core.numerics.blocks import blocks
from dpviz.core.numerics.ends import LARGEST_EXPONENT
from dpviz.core.numerics.sums import log_binomials
from dpviz.core.parameters import Parameter, argument
from dpviz.core.types import FloatArray, IntArray
from dpviz.mechanisms.base import TwoCellSynthesizer, WorstCase
from dpviz.privacy.hockey_stick import epsilon_for_delta

POPULATION = Parameter(
    name="population",
    symbol="N",
    title="Rows to draw from",
    minimum=1,
    maximum=limits.LARGEST_POPULATION,
    default=1000,
    integer=True,
    scale="log",
    private_end="larger",
    help="The number of rows that the sample is drawn from. A smaller share in the sample is more private.",
)

FULL_DIGITS = 1e-280  # Probability from which a sum of products has kept all its terms
EXTREME_PAIR_TOLERANCE = 1e-13  # Relative distance within which a log-odds of an extreme pair counts as the largest


@dataclass(frozen=True, kw_only=True)
class SubsampledRelease(TwoCellSynthesizer):
    """Pr(m1 | K) = Σ_k Hypergeometric(k; N, K, n) T[k, m1]: n of N rows drawn without replacement, then T.

    Its rows are the tables (K, N − K) of the population, so that its `n` is N. With a single one, K is a fair coin:

    >>> from dpviz.mechanisms import BetaBinomial
    >>> release = SubsampledRelease(sample=BetaBinomial(n=1, m=1, alpha=1, beta=1), population=2)
    >>> release.transition_matrix().round(6).tolist()
    [[0.666667, 0.333333], [0.5, 0.5], [0.333333, 0.666667]]
    """

    key = "subsampled"
    label = "After subsampling"
    formula = r"m_1 \sim T(k),\quad k \sim \mathrm{Hypergeometric}(N, K, n)"
    source = "Balle, Barthe & Gaboardi (2018), on n of N rows drawn without replacement"
    color = "other"
    kept_by = ""
    moved_by = "the draw of the sample, and what moves the release that is made of it"
    not_compared = "its ε follows from that of the release that is made of the sample"

    n: int = field(init=False, default=0)
    m: int = field(init=False, default=0)
    sample: TwoCellSynthesizer
    population: int

    def __post_init__(self) -> None:
        population = int(POPULATION.check(self.population))
        if population < self.sample.n:
            raise ValueError(
                f"population (rows to draw from) must be at least the size of the sample, {self.sample.n:,}; "
                f"got {population:,}."
            )
        for name, value in {"population": population, "n": population, "m": self.sample.m}.items():
            object.__setattr__(self, name, value)

    def log_transition(self, rows: IntArray, columns: IntArray) -> FloatArray:
        rows, columns = np.asarray(rows), np.asarray(columns)
        table = self._probabilities[np.ix_(rows, columns)]
        small = table < FULL_DIGITS
        with np.errstate(divide="ignore"):
            logs: FloatArray = np.log(table)
        logs[small] = self._log_cells(rows[np.nonzero(small)[0]], columns[np.nonzero(small)[1]])
        return logs

    def transition_matrix(self) -> FloatArray:
        return self._probabilities.copy()

    def log_odds(self, pairs: IntArray, columns: IntArray) -> FloatArray:
        pairs, columns = np.asarray(pairs), np.asarray(columns)
        logs = self.log_transition(pairs, columns), self.log_transition(pairs + 1, columns)
        below = self._probabilities[np.ix_(pairs, columns)]
        with np.errstate(divide="ignore", over="ignore", invalid="ignore"):
            table = np.where(np.isneginf(logs[0]) & np.isneginf(logs[1]), 0.0, logs[0] - logs[1])
            gain = self._differences[np.ix_(pairs, columns)] / below
        close = (below >= FULL_DIGITS) & (np.abs(gain) < 0.5)
        table[close] = -np.log1p(gain[close])
        return table

    def worst_log_odds(self) -> WorstCase:
        """ln(1 + n/N (e^ε* − 1)) where a sample of all zeros or all ones but one attains ε*; else a search of all."""
        worst, size, columns = self.sample.worst_log_odds(), self.sample.n, np.arange(self.m + 1)
        ends = self.sample.log_odds(np.array([0, size - 1]), columns) * np.array([[-1.0], [1.0]])
        end, column = (int(place) for place in np.unravel_index(int(np.argmax(ends)), ends.shape))
        if ends[end, column] < worst.value * (1 - EXTREME_PAIR_TOLERANCE):
            return super().worst_log_odds()
        value = subsampled_tight(float(ends[end, column]), size / self.population)
        return WorstCase(value, self.n - 1, self.n, column) if end else WorstCase(value, 1, 0, column)

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
        size, columns = self.sample.n, np.arange(self.m + 1)
        matrix = self.sample.transition_matrix()
        log_odds = self.sample.log_odds(np.arange(size), columns)
        near = np.abs(log_odds) < 1
        change = matrix[1:] - matrix[:-1]
        change[near] = matrix[:-1][near] * np.expm1(-log_odds[near])
        return self.sample.n / self.population * (np.exp(_log_hypergeometric(self.population - 1, size - 1)) @ change)

    def _log_cells(self, rows: IntArray, columns: IntArray) -> FloatArray:
        """ln Pr(column | row) of single cells too improbable for a product of matrices."""
        result = np.empty(len(rows))
        for part in blocks(len(rows), self.sample.n + 1, 1_000_000):
            terms = self._log_samples[rows[part]] + self._log_sample_matrix[columns[part]]
            top = np.maximum(terms.max(axis=1), -1e300)
            with np.errstate(divide="ignore"):
                result[part] = top + np.log(np.exp(terms - top[:, None]).sum(axis=1))
        return result

    @cached_property
    def _log_sample_matrix(self) -> FloatArray:
        """ln T transposed, so that a column of T is one stretch of memory."""
        return np.ascontiguousarray(self.sample.log_transition_matrix().T)


def subsampled_epsilon(synthesizer: TwoCellSynthesizer, population: int, delta: float) -> float:
    """Return the smallest ε at an allowed δ of the release of a sample, exact over all neighbouring populations."""
    return epsilon_for_delta(SubsampledRelease(sample=synthesizer, population=population), delta)


def _log_hypergeometric(total: int, drawn: int) -> FloatArray:
    """ln Pr(k ones among `drawn` of `total` rows, K of them ones), shape (K, k); −∞ where impossible."""
    ones, sampled = np.arange(total + 1)[:, None], np.arange(drawn + 1)[None, :]
    possible = (sampled <= ones) & (drawn - sampled <= total - ones)
    rest = np.clip(ones - sampled, 0, total - drawn)
    logs = log_binomials(drawn)[sampled] + log_binomials(total - drawn)[rest] - log_binomials(total)[ones]
    return np.where(possible, logs.total(), -np.inf)


@checked(epsilon=argument("epsilon", 0, math.inf), rate=argument("rate", 0, 1))
def subsampled_tight(epsilon: float, rate: float) -> float:
    """ε' = ln(1 + r (e^ε − 1)), r = n/N: with δ' = r δ the best for every release that is (ε, δ)-private.

    Source: Balle, Barthe & Gaboardi (2018), for substitution and sampling without replacement.

    >>> round(subsampled_tight(1.0, 0.5), 6)  # ln((1 + e) / 2)
    0.620115
    """
    if epsilon < LARGEST_EXPONENT:
        return math.log1p(rate * math.expm1(epsilon))
    return epsilon + math.log(rate + (1 - rate) * math.exp(-epsilon)) if rate > 0 else 0.0
