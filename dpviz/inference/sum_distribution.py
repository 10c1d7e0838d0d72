"""Distribution of the sum of M releases, and a lower bound of the expected length of intervals that read it."""

import math
from dataclasses import dataclass
from functools import cached_property, lru_cache
from typing import NamedTuple

import numpy as np
from scipy.fft import irfft, next_fast_len, rfft

from dpviz.core import limits
from dpviz.core.declarations import LEVEL, PROPORTION, SETS
from dpviz.core.formatting import describe_value, format_number
from dpviz.core.numerics.special import binomial_weights, complex_power
from dpviz.core.parameters import argument
from dpviz.core.types import FloatArray, IntArray, Numbers
from dpviz.mechanisms import TwoCellSynthesizer
from dpviz.privacy.optimum.interval_length import integral_below, steepest

MAX_TABLE_NUMBERS = 6_000_000  # (n + 1)(Mm + 1): 48 MB


def checked_counts(counts: object, m: int, *, name: str = "synthetic_counts") -> IntArray:
    """Counts as integers, of their shape; a ValueError if there is none, or one is no whole number from 0 to m.

    Parameters
    ----------
    counts : array_like
    m : int
    name : str
        Of the argument, in messages.
    """
    integers: IntArray = argument(name, 0, m, integer=True).validate_array(counts).astype(np.int64)
    if not integers.size:
        raise ValueError(f"{name} must hold at least one count; got none.")
    return integers


def along_axis(proportions: Numbers) -> FloatArray:
    """One checked proportion or several, as an array with one axis."""
    p = np.atleast_1d(np.asarray(proportions, float))
    if p.ndim != 1 or not p.size:
        raise ValueError(
            f"proportions (true share) must be one number or a row of them; got {describe_value(proportions)}."
        )
    if p.size > limits.MAX_PROPORTIONS:
        raise ValueError(f"proportions must be at most {limits.MAX_PROPORTIONS:,} numbers; got {p.size:,}.")
    return p


def matrix_rows(synthesizer: TwoCellSynthesizer, counts: IntArray) -> FloatArray:
    """Rows of the transition matrix, each divided by its sum.

    Parameters
    ----------
    synthesizer : TwoCellSynthesizer
    counts : ndarray of int
        Confidential counts x.
    """
    if 2 * len(counts) > synthesizer.n:
        is_small = (synthesizer.n + 1) * (synthesizer.m + 1) <= 1_000_000  # 8 MB are kept for the next question
        return (_all_rows if is_small else _all_rows.__wrapped__)(synthesizer)[counts]
    with np.errstate(under="ignore"):
        rows = np.exp(synthesizer.log_transition(counts, np.arange(synthesizer.m + 1)))
    return rows / rows.sum(axis=1, keepdims=True)


@lru_cache(maxsize=1)
def _all_rows(synthesizer: TwoCellSynthesizer) -> FloatArray:
    rows = synthesizer.transition_matrix()
    return rows / rows.sum(axis=1, keepdims=True)


def within_sums(n: int, m: int, sets: int) -> bool:
    """Whether the distribution of S for every x fits into memory."""
    return (n + 1) * (sets * m + 1) <= MAX_TABLE_NUMBERS


@dataclass(frozen=True, eq=False)
class ReleaseSums:
    """Pr(S = s | x) of the sum S of M released counts: the M-fold convolution of each row of the matrix."""

    rows: FloatArray  # shape (n + 1, Mm + 1)
    rounding: float = 0.0  # absolute error of the entries, besides their last digits

    @property
    def n(self) -> int:
        """Number of confidential rows."""
        return len(self.rows) - 1

    @cached_property
    def mirrored(self) -> "ReleaseSums":
        """The same for zeros in place of ones: x, S and p become n − x, Mm − S and 1 − p."""
        return ReleaseSums(np.ascontiguousarray(self.rows[::-1, ::-1]), self.rounding)

    @cached_property
    def at_least(self) -> FloatArray:
        """Smallest bound of Pr(S ≥ s | x) that increases in x, and so in p, shape (Mm + 1, n + 1)."""
        tails = np.cumsum(self.rows[:, ::-1], axis=1)[:, ::-1].T
        return np.minimum(np.maximum.accumulate(tails, axis=1), 1.0)

    @cached_property
    def at_most(self) -> FloatArray:
        """Smallest bound of Pr(S ≤ s | x) that decreases in x, shape (Mm + 1, n + 1)."""
        return np.ascontiguousarray(self.mirrored.at_least[::-1, ::-1])

    def distribution(self, p: Numbers) -> FloatArray:
        """Pr(S = s | p), shape (len(p), Mm + 1)."""
        return binomial_weights(np.atleast_1d(np.asarray(p, float)), self.n) @ self.rows


def release_sums(synthesizer: TwoCellSynthesizer, sets: int) -> ReleaseSums:
    """Distribution of the sum of M releases for every confidential count.

    Parameters
    ----------
    synthesizer : TwoCellSynthesizer
    sets : int
        M; a ValueError where the distribution has more than 6 million numbers.

    Examples
    --------
    >>> from dpviz.mechanisms import BetaBinomial
    >>> (9 * release_sums(BetaBinomial(n=1, m=1, alpha=1, beta=1), 2).rows).round(9).tolist()
    [[4.0, 4.0, 1.0], [1.0, 4.0, 4.0]]
    """
    sets = SETS.validate(sets)
    n, m = synthesizer.n, synthesizer.m
    size = sets * m + 1
    if not within_sums(n, m, sets):
        raise ValueError(
            f"The distribution of the sum for every confidential count may have (n + 1)(Mm + 1) ≤ "
            f"{MAX_TABLE_NUMBERS:,} numbers; with n = {format_number(n)}, m = {format_number(m)} and M = {sets} it has "
            f"{(n + 1) * size:,}."
        )
    rows = matrix_rows(synthesizer, np.arange(n + 1))
    if sets == 1:
        return ReleaseSums(rows)
    if (n + 1) * (m + 1) * size * sets > 50_000_000:
        return ReleaseSums(sum_distribution(rows, sets), rounding=1e-14)
    # Term by term, which keeps the digits of small numbers, but for those next to the smallest float, which are slow
    rows = sums = np.where(rows < 1e-300, 0.0, rows)
    with np.errstate(under="ignore"):
        for _ in range(sets - 1):
            longer = np.array([np.convolve(*pair) for pair in zip(sums, rows, strict=True)])
            sums = np.where(longer < 1e-300, 0.0, longer)
    return ReleaseSums(sums)


def sum_distribution(rows: FloatArray, sets: int) -> FloatArray:
    """Distribution of the sum of M draws from each row, by a Fourier transform, to 1e-14.

    Parameters
    ----------
    rows : ndarray, shape (..., k)
        Distributions of one draw.
    sets : int
        M.

    Returns
    -------
    ndarray, shape (..., M(k − 1) + 1)
    """
    if sets == 1:
        return rows
    size = sets * (rows.shape[-1] - 1) + 1
    length = next_fast_len(size, real=True)
    with np.errstate(under="ignore"):
        sums = irfft(complex_power(rfft(rows, length), sets), length)[..., :size]
    return np.maximum(sums, 0.0)


class LengthLimit(NamedTuple):
    """Lower bounds of the expected length at true proportions, and about how far below the best bound they are."""

    length: FloatArray
    error: FloatArray


def length_limit(sums: ReleaseSums, *, proportions: Numbers, level: float = 0.95) -> LengthLimit:
    """Pratt's lower bound of the expected length, inside 0 to 1, of intervals that hold their level at every p.

    Parameters
    ----------
    sums : ReleaseSums
    proportions : float or ndarray
        True p.
    level : float, default 0.95

    Notes
    -----
    An interval that holds every p' with probability `level` tests every p' at that level, and its expected length is
    ∫ Pr(p' in the interval | p) dp' (Pratt 1961). So the bound is ∫ β(p', p) dp', where β is the smallest probability
    under p with which a test of p' accepts: that of Neyman and Pearson's test, which accepts the sums of smallest
    Pr(S | p) / Pr(S | p') first, with a coin toss at the last. It holds for every procedure that reads the sum,
    randomized ones too; one that reads all counts may be shorter.

    Examples
    --------
    >>> length_limit(ReleaseSums(np.full((3, 2), 0.5)), proportions=0.3, level=0.9).length.round(9).tolist()
    [0.9]
    """
    proportions = PROPORTION.validate_array(proportions, name="proportions")
    level = LEVEL.validate(level)
    p = along_axis(proportions)
    # Nodes at equal steps of arcsin √p': their number grows as √n, whose inverse is the width of the integrand, as far
    # as the table of the sums at every node allows
    count = max(math.ceil(100 * math.sqrt(sums.n)), 2_000)
    count = max(min(count, 2_000_000 // sums.rows.shape[1]), 400)
    grid = np.sin(np.linspace(0, np.pi / 2, count + 1)) ** 2
    distributions = sums.distribution(grid)
    spread = min(float(np.ptp(sums.rows, axis=0).sum()), 1.0)  # as large as Pr(A | x) can change with x
    bounds = []
    for place, value, own in zip(np.searchsorted(grid, p), p, sums.distribution(p), strict=True):
        # p is one more node
        nodes = np.insert(grid, place, value)
        smallest, price = _smallest_acceptance(own, np.insert(distributions, place, own, axis=0), level)
        smallest, price = np.where(price < 1e6, (smallest, price), 0.0)  # a lower bound where the price is huge
        smallest[place] = level
        price[place] = 1.0
        bounds.append(integral_below(nodes, smallest, price, *steepest(sums.n, nodes, spread)))
    length, error = np.array(bounds).T
    return LengthLimit(length=length, error=error)


def _smallest_acceptance(own: FloatArray, alternatives: FloatArray, level: float) -> tuple[FloatArray, FloatArray]:
    """Smallest probability β under `own` of a test that accepts each of `alternatives` at the level, and its price λ.

    λ is Pr(s | p) / Pr(s | p') at the last sum that is accepted: what a little more of the level costs.
    """
    # Sums that are next to impossible under p cost nothing
    costly = own > 1e-14
    missing = level - alternatives[:, ~costly].sum(axis=1)
    own = own[costly]
    alternatives = alternatives[:, costly]

    # The other sums in the order of their likelihood ratio
    with np.errstate(divide="ignore", invalid="ignore", over="ignore"):
        order = np.argsort(np.where(alternatives > 0, own / alternatives, np.inf), axis=1, kind="stable")
    own = own[order]
    alternatives = np.take_along_axis(alternatives, order, axis=1)

    # As many as the level needs, with a coin toss at the last
    through = np.cumsum(alternatives, axis=1)
    share = np.clip((missing[:, None] - (through - alternatives)) / np.maximum(alternatives, 1e-300), 0.0, 1.0)
    last = np.minimum((through < missing[:, None]).sum(axis=1), alternatives.shape[1] - 1)[:, None]
    with np.errstate(divide="ignore", invalid="ignore", over="ignore"):
        price = (np.take_along_axis(own, last, axis=1) / np.take_along_axis(alternatives, last, axis=1))[:, 0]
    return np.einsum("ps,ps->p", share, own), np.where(missing > 0, price, 0.0)
