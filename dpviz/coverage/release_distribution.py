"""Distribution of what interval rules read of M released sets: S = Σ x̃ and Q = Σ x̃², given x or for x ~ Binomial(n, p).

One set is a row of the transition matrix, two sets are pairs of counts. For three and more, given S, Q is smallest
where the counts are as equal as whole numbers allow, and Q minus that is even: d = (Q − Q_min(S)) / 2 says as much as
Q and stays small whatever S is. A Fourier transform of a length above every likely d loses nothing, for what wraps
around is told apart by S.
"""

import math
from dataclasses import dataclass
from functools import cached_property
from typing import NamedTuple

import numpy as np
from scipy.fft import fft, ifft, irfft, next_fast_len

from dpviz.core.declarations import PROPORTION, SETS
from dpviz.core.numerics.special import binomial_weights, complex_power, row_blocks
from dpviz.core.types import FloatArray, IntArray
from dpviz.inference.interval_rules import SetStatistics, set_statistics
from dpviz.inference.sum_distribution import matrix_rows, sum_distribution
from dpviz.mechanisms import TwoCellSynthesizer

# Parts of the stated error
SMALL_TAIL = 1e-12  # of a row of a matrix, and of what sums of one or two sets leave out
TAIL = 4e-10  # for more sets, of counts that are left out, and once more of outcomes too unlikely to keep
BOX_TAIL = 2e-9  # for more sets, of outcomes outside the transform

MAX_TRANSFORM_ENTRIES = 1_000_000_000  # of all transforms of an answer, about ten seconds

TOO_LONG = "The exact sums would take too long for these sizes. Simulate, or set fewer rows or sets."


def likely_counts(n: int, p: float, tail: float) -> tuple[IntArray, FloatArray, float]:
    """Confidential counts x ~ Binomial(n, p), their probabilities, and the probability of the outermost, left out.

    Parameters
    ----------
    n : int
    p : float
    tail : float
        Largest probability of those that are left out.
    """
    distribution = binomial_weights(np.array([p]), n)[0]
    first, last, omitted = _likely_range(distribution, tail / 2)
    return np.arange(first, last + 1), distribution[first : last + 1], omitted


def _likely_range(distribution: FloatArray, tail: float) -> tuple[int, int, float]:
    """First and last place that matter, each tail beyond weighing at most `tail`, and the probability beyond them."""
    below = np.cumsum(distribution)
    above = np.cumsum(distribution[::-1])
    first = int(np.searchsorted(below, tail, side="right"))
    cut = int(np.searchsorted(above, tail, side="right"))
    omitted = (below[first - 1] if first else 0.0) + (above[cut - 1] if cut else 0.0)
    return first, len(distribution) - 1 - cut, float(omitted)


class Box(NamedTuple):
    """Likely outcomes of M draws: counts of one draw from `first` to `last`, S from `low` to `high`, d < `spread`."""

    first: int
    last: int
    low: int
    high: int
    spread: int

    @property
    def entries(self) -> int:
        """Number of pairs (S, d)."""
        return (self.high - self.low + 1) * self.spread


def _likely_box(rows: FloatArray, weights: FloatArray, sets: int, tail: float) -> Box:
    """Box outside of which M draws, all from row i with probability `weights[i]`, fall with probability at most `tail`.

    Notes
    -----
    A quarter of the tail goes to the counts of one draw, a quarter to each end of S and a quarter to d. The ends are
    Chernoff's: Pr(S ≥ s) ≤ e^{−λs} E[e^{λS}], and 2d ≤ Σ (x̃ − c)² for any c, here the mean of a row.
    """
    first, last, _ = _likely_range(weights @ rows, tail / (8 * sets))
    likely_rows = rows[:, first : last + 1]
    x = np.arange(float(first), last + 1)
    means = likely_rows @ x / np.maximum(likely_rows.sum(axis=1), 1e-300)
    squares = (x - means[:, None]) ** 2
    variance = float(weights @ (likely_rows * squares).sum(axis=1))
    max_spread = sets * (last - first) ** 2 // 8 + 1
    if variance == 0:
        return Box(first, last, sets * first, sets * last, max_spread)
    need = math.log(4 / tail)

    def bound(values: FloatArray, tilts: FloatArray) -> float:
        """Smallest of (ln E[e^{λ Σ value}] + need) / λ."""
        tilts = np.minimum(tilts, 600 / max(float(np.ptp(values)), 1e-300))  # so that no term underflows
        top = float(values.max())
        with np.errstate(under="ignore", divide="ignore"):
            moments = (likely_rows * np.exp(tilts[:, None, None] * (values - top))).sum(axis=2)
            log_moments = np.logaddexp.reduce(np.log(weights) + sets * np.log(moments), axis=1)
        return sets * top + float(((log_moments + need) / tilts).min())

    variance_of_sum = sets * variance + sets**2 * float(weights @ (means - weights @ means) ** 2)
    tilts = math.sqrt(2 * need / variance_of_sum) * np.geomspace(0.1, 10.0, 15)
    high = min(math.ceil(bound(x, tilts)), sets * last)
    low = max(math.floor(-bound(-x, tilts)), sets * first)
    tilts = np.concatenate([np.linspace(0.1, 1.0, 13), np.geomspace(1.3, 100.0, 9)]) / (2 * variance)
    spread = math.ceil(bound(squares, tilts) / 2) + 1
    return Box(first, last, low, high, min(spread, max_spread))


def _joint_distribution(rows: FloatArray, weights: FloatArray, sets: int, box: Box) -> FloatArray:
    """Σ weight × Pr(S, d) for M draws from each row, S from `box.low` to `box.high`.

    Notes
    -----
    The M-th power of the transform of one draw at (y, y(y − 1)/2), y = x̃ − `box.first`; the powers are mixed before
    the inverse, and every row S is rotated so that it starts at its smallest d. Two draws from 0, 1, 2 give S = 2 with
    d = 0 once, (1, 1), and with d = 1 twice, (0, 2) and (2, 0).
    """
    length = next_fast_len(box.spread, real=True)
    y = np.arange(box.last - box.first + 1)
    count = box.high - box.low + 1
    period = next_fast_len(max(count, len(y)), real=True)
    roots = np.exp(-2j * math.pi / length * np.arange(length))
    places = np.multiply.outer(np.arange(length // 2 + 1), y * (y - 1) // 2 % length) % length
    scaled = rows[:, box.first : box.last + 1] * weights[:, None] ** (1 / sets)  # the power makes the weights of it
    mixed = np.zeros((length // 2 + 1, period), dtype=complex)
    for block in row_blocks(len(mixed), period, 16_384):  # which stay in the processor's cache
        phases = roots[places[block]]
        for row in scaled:
            mixed[block] += complex_power(fft(phases * row, period), sets)
    joint = irfft(np.ascontiguousarray(ifft(mixed, overwrite_x=True).T), length, axis=1)
    totals = np.arange(box.low, box.high + 1) - sets * box.first
    shifts = _smallest_spread(totals, sets)
    return np.asarray(joint[totals[:, None] % period, (shifts[:, None] + np.arange(length)) % length])


def _smallest_spread(totals: IntArray, sets: int) -> IntArray:
    """Smallest Σ y(y − 1)/2 of M whole numbers with sum S: a(S + r − M)/2 with S = aM + r.

    >>> _smallest_spread(np.array([5]), 3).tolist()  # 1, 2, 2 give 0 + 1 + 1
    [2]
    """
    quotient, remainder = np.divmod(totals, sets)
    return quotient * (totals + remainder - sets) // 2


class ReleaseOutcomes:
    """Outcomes of M sets that rules distinguish, in a table, and their probabilities.

    The columns of the table are one for a single set and where S is all, else the second count of a pair, or d.

    Parameters
    ----------
    synthesizer, sets
    counts : ndarray of int
        Consecutive confidential counts x that matter.
    weights : ndarray, optional
        Their probabilities, if they are mixed; else each count is one of the `groups` by itself.
    sums_only : bool, default False
        Whether S is all that the rules read.

    Raises
    ------
    ValueError
        If the sums would take too long.
    """

    def __init__(
        self, synthesizer: TwoCellSynthesizer, sets: int, counts: IntArray, weights: FloatArray | None = None,
        *, sums_only: bool = False,
    ) -> None:  # fmt: skip
        self._synthesizer = synthesizer
        self._sets = sets
        self._counts = counts
        self._weights = np.ones(len(counts)) if weights is None else weights
        self._is_sum = sums_only or sets == 1
        self._has_boxes = not self._is_sum and sets > 2
        m = synthesizer.m
        self.shape = (sets * m + 1, 1) if self._is_sum else (m + 1, m + 1)
        self.work = 0
        self.error_bound = (sets + 3) * SMALL_TAIL
        self._check_reach()
        self._rows = matrix_rows(synthesizer, counts)
        per_group = len(counts)
        if weights is None:
            per_group = 1
        elif self._has_boxes:
            per_group = 16  # consecutive counts share an inverse transform
        self.groups = np.array_split(np.arange(len(counts)), math.ceil(len(counts) / per_group))
        if self._has_boxes:
            self._find_boxes(is_mixed=weights is not None)
        if weights is None and self.shape[0] * self.shape[1] > 12_000_000:  # of a table that is held
            raise ValueError(TOO_LONG)

    def _check_reach(self) -> None:
        """Raise a ValueError where it is clear from the sizes that the sums would take too long."""
        entries = len(self._counts) * self.shape[0] * self.shape[1]
        max_entries = 40_000_000 if self._is_sum else 10**11  # some seconds, about ten
        if self._has_boxes:  # half of the work if every count had the box of the middle one
            middle = matrix_rows(self._synthesizer, self._counts[len(self._counts) // 2 :][:1])
            entries = _likely_box(middle, np.ones(1), self._sets, BOX_TAIL).entries * len(self._counts) // 2
            max_entries = MAX_TRANSFORM_ENTRIES
        if self._sets > 1 and entries > max_entries:
            raise ValueError(TOO_LONG)

    def _find_boxes(self, *, is_mixed: bool) -> None:
        """Boxes of the groups, and the table that holds them all."""
        self._boxes = []
        for group in self.groups:
            mass = float(self._weights[group].sum())
            # What is unlikely as a whole may be cut at a larger tail: together they leave out BOX_TAIL
            tail = min(BOX_TAIL / (len(self.groups) * mass), 0.1) if is_mixed else BOX_TAIL
            box = _likely_box(self._rows[group], self._weights[group] / mass, self._sets, tail)
            self._boxes.append(box)
            self.work += box.entries * len(group)
        if self.work > MAX_TRANSFORM_ENTRIES:
            raise ValueError(TOO_LONG)
        self._low = min(box.low for box in self._boxes)
        width = next_fast_len(max(box.spread for box in self._boxes), real=True)
        self.shape = (max(box.high for box in self._boxes) - self._low + 1, width)
        self.error_bound += BOX_TAIL + TAIL

    @cached_property
    def is_mirrored(self) -> bool:
        """Whether row n − x of the matrix is row x reversed, for all counts, within rounding."""
        has_both_ends = np.array_equal(self._counts, self._synthesizer.n - self._counts[::-1])
        return has_both_ends and bool(np.abs(self._rows - self._rows[::-1, ::-1]).max() <= SMALL_TAIL)

    def statistics(self, places: IntArray) -> SetStatistics:
        """What rules read of some places of the table, read row by row."""
        row, column = np.divmod(places, self.shape[1])
        if self._sets == 1:
            return set_statistics(self._synthesizer, 1, row, row**2)
        if self._is_sum:
            unknown = np.full(row.shape, math.nan)
            return SetStatistics(self._synthesizer, self._sets, row, row / (self.shape[0] - 1), unknown, unknown)
        if self._sets == 2:
            return set_statistics(self._synthesizer, 2, row + column, row**2 + column**2)
        total = row + self._low
        squares = total + 2 * (_smallest_spread(total, self._sets) + column)
        return set_statistics(self._synthesizer, self._sets, total, squares)

    def given(self, index: int) -> tuple[IntArray, FloatArray]:
        """Places in the table and their probabilities, times the weights, for a group of counts."""
        rows = self._rows[self.groups[index]]
        weights = self._weights[self.groups[index]]
        if self._has_boxes:
            box = self._boxes[index]
            joint = _joint_distribution(rows, weights, self._sets, box)
            flat = joint.ravel()
            likely = np.flatnonzero(flat > TAIL / (flat.size * len(self.groups)))
            row, column = np.divmod(likely, joint.shape[1])
            return (row + box.low - self._low) * self.shape[1] + column, flat[likely]
        if self._is_sum:
            distribution = np.zeros(self.shape[0])
            for part in row_blocks(len(rows), len(distribution)):
                distribution += weights[part] @ sum_distribution(rows[part], self._sets)
            first, last, _ = _likely_range(distribution, SMALL_TAIL * 0.1)
            return np.arange(first, last + 1), distribution[first : last + 1]
        first, last, _ = _likely_range(weights @ rows, SMALL_TAIL * 0.1)
        likely_rows = rows[:, first : last + 1]
        place = np.arange(first, last + 1)
        probability = (likely_rows * weights[:, None]).T @ likely_rows
        return np.add.outer(place * self.shape[1], place).ravel(), probability.ravel()


@dataclass(frozen=True, kw_only=True)
class ReleaseDistribution:
    """Outcomes of M sets with their probabilities, none 0, which sum to 1 less what is left out."""

    statistics: SetStatistics
    probability: FloatArray
    error_bound: float  # of the probability of any set of outcomes


def release_distribution(
    synthesizer: TwoCellSynthesizer, *, p: float, sets: int, sums_only: bool = False
) -> ReleaseDistribution:
    """Distribution of (S, Q), or of S alone, for x ~ Binomial(n, p); a ValueError if the sums would take too long.

    Parameters
    ----------
    synthesizer, p, sets
        As in `exact_coverage`.
    sums_only : bool, default False
        Whether S is all that is read.

    Examples
    --------
    The one row is 1, and each of two draws is 1 with probability 2/3.

    >>> from dpviz.mechanisms import BetaBinomial
    >>> distribution = release_distribution(BetaBinomial(n=1, m=1, alpha=1, beta=1), p=1, sets=2, sums_only=True)
    >>> distribution.statistics.total.tolist(), (9 * distribution.probability).round(9).tolist()
    ([0, 1, 2], [1.0, 4.0, 4.0])
    """
    p = PROPORTION.validate(p)
    sets = SETS.validate(sets)
    counts, weights, omitted = likely_counts(synthesizer.n, p, TAIL if sets > 2 and not sums_only else SMALL_TAIL)
    outcomes = ReleaseOutcomes(synthesizer, sets, counts, weights, sums_only=sums_only)
    probability = np.zeros(outcomes.shape[0] * outcomes.shape[1])
    for index in range(len(outcomes.groups)):
        places, chances = outcomes.given(index)
        probability[places] += chances
    places = np.flatnonzero(probability)
    return ReleaseDistribution(
        statistics=outcomes.statistics(places),
        probability=probability[places],
        error_bound=outcomes.error_bound + omitted,
    )


def exact_work(synthesizer: TwoCellSynthesizer, *, p: float, sets: int, sums_only: bool = False) -> float:
    """Entries of the transforms, or of the sums; 0 of one set, and of (S, Q) of two; ∞ where transforms are too many.

    Parameters
    ----------
    synthesizer, p, sets, sums_only
        As in `release_distribution`.
    """
    counts, weights, _ = likely_counts(synthesizer.n, p, SMALL_TAIL if sums_only else TAIL)
    if sums_only:
        return len(counts) * (sets * synthesizer.m + 1) * (sets > 1)
    try:
        return ReleaseOutcomes(synthesizer, sets, counts, weights).work
    except ValueError:
        return math.inf
