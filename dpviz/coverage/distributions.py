"""The exact distribution of what every combining rule reads: S = Σ x̃ and Q = Σ x̃² of M sets, mixed over x."""

import math
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from typing import NamedTuple

import numpy as np
from scipy.fft import irfft, next_fast_len, rfft

from dpviz.core.declarations import POSTERIOR_ROWS, POSTERIOR_SYNTHETIC_ROWS, PROPORTION, SETS
from dpviz.core.numerics.special import complex_power, row_blocks
from dpviz.core.types import FloatArray, IntArray
from dpviz.coverage._fourier import (
    SPREAD_TILTS,
    Box,
    Roots,
    boxes,
    mixed_distribution_in_box,
    rounding_error,
    smallest_spread,
)
from dpviz.coverage._quadrature import QUADRATURE_ERROR, at_nodes
from dpviz.inference.confidential import confidential_mixture, likely_range
from dpviz.inference.interval_rules import SetStatistics, set_statistics
from dpviz.inference.sum_distribution import matrix_rows
from dpviz.mechanisms import TwoCellSynthesizer

TAIL, BOX_ERROR, PRUNED, LONE_TAIL, ESTIMATE_TAIL = 4e-10, 2e-9, 4e-10, 1e-12, 1e-14
"""Shares of the error bound: confidential counts left out, boxes, and releases too unlikely to keep; then the counts
left out where a distribution costs little: for one or two sets, and for q̄ alone."""

ROW_ERROR = 1e-12
"""Total variation by which a row of a synthesizer, or the distribution of x, may be off; each draw adds it once."""


class Reach(NamedTuple):
    """Largest numbers of entries in one transform and in all of one distribution, and in all where sums are enough.

    Then how many times as much as usual may be left out of a distribution by transforms.
    """

    box: int
    work: float
    sums: int
    coarser: float = 1.0


IN_SECONDS, IN_A_MINUTE = Reach(8_000_000, 250_000_000, 25_000_000), Reach(16_000_000, 10**9, 10**9)
SIX_DIGITS = Reach(2_000_000, 80_000_000, 25_000_000, coarser=300.0)
"""Work within which sums are known to 10⁻⁶: half of that of ten digits, for a page that thirty readers move at once."""

EXPONENTS_AT_ONCE = 65_536  # Of the bounds of boxes: a few boxes at a time, which stay near the processor

LIKELIEST_COUNTS = 8  # Likeliest confidential counts of which there may be too much work already

LARGEST_PAIRS = 10**11  # Largest number of multiplications for two sets

INVERSE = 2.5  # Time of an inverse transform, in transforms of one distribution

TOO_LONG = "The exact sums would take too long for these sizes. Simulate, or set fewer rows or sets."


@dataclass(frozen=True, kw_only=True)
class _Releases:
    """Probabilities of the releases of M sets of a synthesizer, which sum to 1 less those left out.

    `left_out` is a bound of those and of the error of transforms.
    """

    synthesizer: TwoCellSynthesizer
    sets: int
    probability: FloatArray
    left_out: float

    @property
    def error_bound(self) -> float:
        """Bound of the error of the probability of any set of releases."""
        return self.left_out + (self.sets + 1) * ROW_ERROR


@dataclass(frozen=True, kw_only=True)
class ReleaseDistribution(_Releases):
    """Every (S, Q) that M sets can have, with its probability, none 0."""

    total: IntArray
    squares: IntArray

    @cached_property
    def releases(self) -> SetStatistics:
        """What rules read of every release."""
        return set_statistics(self.synthesizer, self.sets, self.total, self.squares)


def within_reach(n: int, m: int, sets: int) -> bool:
    """Return whether exact coverage for M sets is within reach in some seconds for a synthesizer of usual noise.

    The work is estimated for x near n/2 and sets of variance (m/4)(1 + m/n), those of posterior draws with a small
    prior. A synthesizer with more noise than that may be refused all the same, with a ValueError.

    >>> within_reach(100, 100, 10), within_reach(2000, 2000, 2), within_reach(2000, 2000, 10)
    (True, True, False)
    """
    n = POSTERIOR_ROWS.validate(n)
    m = POSTERIOR_SYNTHETIC_ROWS.validate(m)
    sets = SETS.validate(sets)
    counts = min(n + 1.0, 13 * math.sqrt(n) / 2)
    if sets == 1:
        return True
    variance = m / 4 * (1 + m / n)
    if sets == 2:
        return counts * min(m + 1.0, 13 * math.sqrt(variance)) ** 2 <= LARGEST_PAIRS
    need = -math.log(BOX_ERROR / 4)
    tilts = np.linspace(0.05, 0.95, 19)
    spread = float(((need - sets / 2 * np.log1p(-tilts)) / tilts).min()) * variance
    size = min(2 * math.sqrt(2 * need * sets * variance) + 1, sets * m + 1) * min(spread + 1, sets * m**2 / 8 + 1)
    return size <= IN_SECONDS.box and size * counts / 2 <= IN_SECONDS.work


def release_distribution(
    synthesizer: TwoCellSynthesizer, *, p: float, sets: int, reach: Reach = IN_SECONDS
) -> ReleaseDistribution:
    """Return the distribution of (S, Q) for x ~ Binomial(n, p); a ValueError where the sums would take too long.

    One set: the mixed rows of the transition matrix. Two: P' diag(W) P, W the distribution of x. More: `release_box`.
    """
    if sets > 2:
        return release_box(synthesizer, p=p, sets=sets, reach=reach).listed()
    mixture = confidential_mixture(synthesizer.n, p, LONE_TAIL)
    if sets == 2 and len(mixture.counts) * (synthesizer.m + 1) ** 2 > LARGEST_PAIRS:
        raise ValueError(TOO_LONG)
    rows = matrix_rows(synthesizer, mixture.counts)
    error = mixture.omitted
    if sets == 1:
        total: IntArray = np.arange(synthesizer.m + 1)
        probability: FloatArray = mixture.weights @ rows
        squares = total**2
    else:
        first, last, left = likely_range(mixture.weights @ rows, LONE_TAIL)
        kept = rows[:, first : last + 1]
        pairs = (kept * mixture.weights[:, None]).T @ kept
        i, j = np.triu_indices(last - first + 1)
        probability = pairs[i, j]
        probability[i != j] *= 2
        total, squares = i + j + 2 * first, (i + first) ** 2 + (j + first) ** 2
        error += 2 * left
    some = probability > 0
    return ReleaseDistribution(
        synthesizer=synthesizer,
        sets=sets,
        total=total[some],
        squares=squares[some],
        probability=probability[some],
        left_out=error,
    )


def boxes_of(rows: FloatArray, sets: int, errors: FloatArray, reach: Reach = IN_SECONDS) -> list[Box]:
    """Return the boxes of all rows, or a ValueError where their transforms would take too long."""
    found: list[Box] = []
    for part in row_blocks(len(rows), len(SPREAD_TILTS) * rows.shape[1], EXPONENTS_AT_ONCE):
        found += boxes(rows[part], sets, errors[part])
        if max(box.size for box in found) > reach.box or sum(box.size for box in found) > reach.work:
            raise ValueError(TOO_LONG)
    return found


def exact_work(
    synthesizer: TwoCellSynthesizer, *, p: float, sets: int, by_sum: bool = False, most: float = math.inf
) -> float:
    """Return how many entries the transforms of `release_distribution` have at most, infinite where that is too many.

    Who asks for no more than `most` need not wait where it is more: then it is infinite too. It takes fewer where x is
    mixed over nodes. None are needed for up to two sets. Where rules read the sum alone (`by_sum`) they are those of
    `estimate_distribution`, none for a single set.

    >>> from dpviz.mechanisms import BetaBinomial
    >>> exact_work(BetaBinomial(n=2, m=2, alpha=1, beta=1), p=0.5, sets=3)
    42
    """
    if by_sum:
        return (
            len(confidential_mixture(synthesizer.n, p, ESTIMATE_TAIL).counts) * (sets * synthesizer.m + 1) * (sets > 1)
        )
    if sets <= 2 or not within_reach(synthesizer.n, synthesizer.m, sets):
        return 0 if within_reach(synthesizer.n, synthesizer.m, sets) else math.inf
    mixture = confidential_mixture(synthesizer.n, p, TAIL)
    errors, size, reach = _errors(mixture.weights, BOX_ERROR), 0, IN_SECONDS._replace(work=min(IN_SECONDS.work, most))
    try:
        likeliest = np.argsort(-mixture.weights, kind="stable")[:LIKELIEST_COUNTS]
        for some in (likeliest, slice(None)):
            rows = matrix_rows(synthesizer, mixture.counts[some])
            size = sum(box.size for box in boxes_of(rows, sets, errors[some], reach))
        return size
    except ValueError:
        return math.inf


def _errors(weights: FloatArray, error: float) -> FloatArray:
    """The error that the box of each count may have, larger the less likely it is, of the `error` of all boxes."""
    return np.minimum(error / (len(weights) * np.maximum(weights, 1e-300)), 0.5)


@dataclass(frozen=True, kw_only=True)
class ReleaseBox(_Releases):
    """Every (S, d) that three sets or more can have: a row for each S from `low` on; 0 is what is too unlikely."""

    low: int

    @cached_property
    def releases(self) -> SetStatistics:
        """What rules read of every release, in the shape of `probability`."""
        rows, columns = self.probability.shape
        total = self.low + np.arange(rows)[:, None]
        squares = total + 2 * (smallest_spread(total, self.sets) + np.arange(columns))
        return set_statistics(self.synthesizer, self.sets, total, squares)

    def listed(self) -> ReleaseDistribution:
        """Return the releases one by one."""
        place = np.flatnonzero(self.probability)
        total = self.low + place // self.probability.shape[1]
        squares = total + 2 * (smallest_spread(total, self.sets) + place % self.probability.shape[1])
        listed = vars(self) | {"total": total, "squares": squares, "probability": self.probability.ravel()[place]}
        return ReleaseDistribution(**{name: listed[name] for name in ReleaseDistribution.__dataclass_fields__})


def release_box(synthesizer: TwoCellSynthesizer, *, p: float, sets: int, reach: Reach = IN_SECONDS) -> ReleaseBox:
    """Return the distribution of (S, d) for x ~ Binomial(n, p); a ValueError where the sums would take too long.

    It is mixed over nodes instead of all x where these are fewer (`at_nodes`), each by a transform in a box; the
    likelier a node is, the smaller the share of the error that its box leaves out.
    """
    mixture = confidential_mixture(synthesizer.n, p, TAIL * reach.coarser)
    error = QUADRATURE_ERROR * reach.coarser
    mixed = at_nodes(mixture.counts, matrix_rows(synthesizer, mixture.counts), mixture.weights, sets, error)
    rows, weights, pruned = mixed.rows, mixed.weights, PRUNED * reach.coarser
    errors = _errors(weights, BOX_ERROR * reach.coarser)
    found = boxes_of(np.abs(rows), sets, errors, reach)
    low, high = min(box.low for box in found), max(box.high for box in found)
    total = np.zeros((high - low + 1, next_fast_len(int(1.1 * max(box.spread for box in found)) + 16, real=True)))
    used = 0
    roots: Roots | None = None
    for part, box in _neighbours_together(found):
        columns = box.last - box.first + 1
        if roots is None or not (box.spread <= roots.length <= 1.1 * box.spread + 16 and columns <= roots.columns):
            roots = Roots(box.spread, min(columns + 8, rows.shape[1]))
        distribution = mixed_distribution_in_box(rows[part], weights[part], sets, box, roots)
        total[box.low - low : box.high - low + 1, : roots.length] += distribution
        used = max(used, roots.length)
    total = total[:, :used]
    error = mixture.omitted + mixed.error + float(weights @ errors) + rounding_error(total.size, sets) + pruned
    total[total <= pruned / total.size] = 0.0
    return ReleaseBox(synthesizer=synthesizer, sets=sets, low=low, probability=total, left_out=error)


def _neighbours_together(boxes: list[Box]) -> Iterator[tuple[slice, Box]]:
    """Runs of neighbouring boxes that take less time in one box around them, which shares an inverse."""
    start, shared = 0, boxes[0]
    for index, box in enumerate(boxes[1:], 1):
        wider = shared.joined(box)
        if (index - start) * (wider.size - shared.size) + wider.size - box.size > INVERSE * box.size:
            yield slice(start, index), shared
            start, wider = index, box
        shared = wider
    yield slice(start, len(boxes)), shared


@dataclass(frozen=True, kw_only=True)
class EstimateDistribution:
    """The distribution of q̄ at the true `proportion`: S/(Mm) for S = 0 … Mm, each probability within 1e-12."""

    support: FloatArray
    probabilities: FloatArray
    proportion: float

    @property
    def mean(self) -> float:
        """E[q̄]."""
        return float(self.probabilities @ self.support)

    @property
    def variance(self) -> float:
        """Var(q̄)."""
        return float(self.probabilities @ (self.support - self.mean) ** 2)

    @property
    def bias(self) -> float:
        """E[q̄] − p."""
        return self.mean - self.proportion


def estimate_distribution(synthesizer: TwoCellSynthesizer, *, p: float, sets: int) -> EstimateDistribution:
    """Return the distribution of q̄ = Σ_j x̃_j / (Mm): Σ_x Pr(x) (row x of the matrix convolved M times).

    The powers are taken of the Fourier transforms, at a length that no sum passes, and mixed before one inverse.
    The one row is 1, and each of two draws is 1 with probability 2/3.

    >>> from dpviz.mechanisms import BetaBinomial
    >>> found = estimate_distribution(BetaBinomial(n=1, m=1, alpha=1, beta=1), p=1, sets=2)
    >>> found.support.tolist(), (9 * found.probabilities).round(9).tolist()
    ([0.0, 0.5, 1.0], [1.0, 4.0, 4.0])
    """
    p = PROPORTION.validate(p)
    sets = SETS.validate(sets)
    mixture = confidential_mixture(synthesizer.n, p, ESTIMATE_TAIL)
    rows = matrix_rows(synthesizer, mixture.counts)
    size = sets * synthesizer.m + 1
    if sets == 1:
        distribution = mixture.weights @ rows
    else:
        length = next_fast_len(size, real=True)
        mixed = np.zeros(length // 2 + 1, dtype=complex)
        with np.errstate(under="ignore"):
            for part in row_blocks(len(rows), length):
                mixed += mixture.weights[part] @ complex_power(rfft(rows[part], length, axis=1), sets)
        distribution = np.maximum(irfft(mixed, length)[:size], 0.0)
    return EstimateDistribution(support=np.arange(size) / (size - 1), probabilities=distribution, proportion=p)
