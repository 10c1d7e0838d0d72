"""The distribution of the sum of M releases for every confidential count, and how short an interval from it can be."""

import math
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from scipy.fft import irfft, next_fast_len, rfft
from scipy.special import gammaln, xlog1py, xlogy

from dpviz.core.declarations import LEVEL, PROPORTION, SETS
from dpviz.core.formatting import format_number
from dpviz.core.numerics.special import binomial_weights, complex_power, row_blocks
from dpviz.core.types import FloatArray, Numbers
from dpviz.inference.confidential import along_axis, released_rows
from dpviz.mechanisms import TwoCellSynthesizer
from dpviz.privacy.optimum.integral_bounds import integral_below, steepest

LARGEST_SUMS = 6_000_000  # Largest number of numbers in the table of sums: (n + 1)(Mm + 1)
MOST_PRODUCTS = 50_000_000  # Multiplications up to which the sums are convolved term by term; beyond, by transforms
TRANSFORM_ERROR = 1e-14
PROBABILITY_FLOOR = 1e-300  # Probability that counts as 0: numbers next to the smallest are slow


def within_sums(n: int, m: int, sets: int) -> bool:
    """Return whether the table of the distribution of S for every x is small enough to be kept."""
    return (n + 1) * (sets * m + 1) <= LARGEST_SUMS


@dataclass(frozen=True, eq=False)
class ReleaseSums:
    """Pr(S = s | x) for x = 0 … n and s = 0 … Mm: each row of the transition matrix, convolved M times with itself."""

    rows: FloatArray
    rounding: float = 0.0  # how far each number may be off, besides its last digits

    @property
    def n(self) -> int:
        """Confidential rows."""
        return len(self.rows) - 1

    @cached_property
    def mirrored(self) -> "ReleaseSums":
        """The same for zeros in place of ones: x, S and p become n − x, Mm − S and 1 − p."""
        return ReleaseSums(np.ascontiguousarray(self.rows[::-1, ::-1]), self.rounding)

    @cached_property
    def at_least(self) -> FloatArray:
        """Pr(S ≥ s | x), shape (Mm + 1, n + 1), made increasing in x, and so in p, by the smallest bound from above."""
        tails = np.cumsum(self.rows[:, ::-1], axis=1)[:, ::-1].T
        return np.minimum(np.maximum.accumulate(tails, axis=1), 1.0)

    @cached_property
    def at_most(self) -> FloatArray:
        """Pr(S ≤ s | x), shape (Mm + 1, n + 1), made decreasing in x by the smallest bound from above."""
        return np.ascontiguousarray(self.mirrored.at_least[::-1, ::-1])

    def distribution(self, p: Numbers) -> FloatArray:
        """Pr(S = s | p), shape (len(p), Mm + 1)."""
        return binomial_weights(np.atleast_1d(np.asarray(p, float)), self.n) @ self.rows


def release_sums(synthesizer: TwoCellSynthesizer, sets: int) -> ReleaseSums:
    """The distribution of the sum of M releases for every confidential count; a ValueError beyond 6 million numbers.

    >>> from dpviz.mechanisms import BetaBinomial
    >>> (9 * release_sums(BetaBinomial(n=1, m=1, alpha=1, beta=1), 2).rows).round(9).tolist()
    [[4.0, 4.0, 1.0], [1.0, 4.0, 4.0]]
    """
    sets = SETS.validate(sets)
    n, m = synthesizer.n, synthesizer.m
    if not within_sums(n, m, sets):
        raise ValueError(
            f"The distribution of the sum for every confidential count may have (n + 1)(Mm + 1) ≤ {LARGEST_SUMS:,} "
            f"numbers; with n = {format_number(n)}, m = {format_number(m)} and M = {sets} it has "
            f"{(n + 1) * (sets * m + 1):,}."
        )
    rows = released_rows(synthesizer, np.arange(n + 1))
    if sets == 1:
        return ReleaseSums(rows)
    size = sets * m + 1
    if (n + 1) * (m + 1) * size * sets <= MOST_PRODUCTS:
        return ReleaseSums(_convolved(rows, sets))
    length = next_fast_len(size, real=True)
    sums = np.empty((n + 1, size))
    with np.errstate(under="ignore"):
        for block in row_blocks(n + 1, length):
            sums[block] = irfft(complex_power(rfft(rows[block], length, axis=1), sets), length, axis=1)[:, :size]
    return ReleaseSums(np.maximum(sums, 0.0, out=sums), TRANSFORM_ERROR)


def _convolved(rows: FloatArray, sets: int) -> FloatArray:
    """Return each row convolved `sets` times with itself, term by term, so that small numbers keep their digits."""
    rows = np.where(rows < PROBABILITY_FLOOR, 0.0, rows)
    found = rows
    with np.errstate(under="ignore"):
        for _ in range(sets - 1):
            longer = np.array([np.convolve(*pair) for pair in zip(found, rows, strict=True)])
            found = np.where(longer < PROBABILITY_FLOOR, 0.0, longer)
    return found


def binomial_weights_of(count: int, n: int, p: FloatArray) -> FloatArray:
    """Pr(x = `count`) for x ~ Binomial(n, p), at each of `p`."""
    ways = gammaln(n + 1) - gammaln(count + 1) - gammaln(n - count + 1)
    with np.errstate(under="ignore"):
        found: FloatArray = np.exp(ways + xlogy(count, p) + xlog1py(n - count, -p))
    return found


# Nodes of the integral over p', at equal steps of arcsin √p': their number grows as √n, whose inverse is the width of
# what is integrated, within what a table with a row for each of them may hold
FEWEST_NODES, USUAL_NODES, NODES_BY_ROOT, MOST_LIMIT_ENTRIES = 400, 2_000, 100, 2_000_000
UNLIKELY = 1e-14  # Probability under p below which a sum costs nothing
LARGEST_PRICE = 1e6  # λ from which on a node counts as nothing


@dataclass(frozen=True, kw_only=True, eq=False)
class LengthLimit:
    """A lower bound of the expected length at each true proportion, and about how far it is below the best one."""

    length: FloatArray
    error: FloatArray


def length_limit(sums: ReleaseSums, *, proportions: Numbers, level: float = 0.95) -> LengthLimit:
    """Return the shortest expected length, at each true proportion, of an interval that holds its level at every one.

    It is ∫₀¹ β(p', p) dp', β the smallest probability under p with which a test of p' at the level accepts. An interval
    that holds every p' with probability `level` or more tests every p' at that level, and its expected length inside 0
    to 1 is ∫ Pr(p' in the interval | p) dp'. Neyman and Pearson's test of p' against p accepts the sums with the
    smallest Pr(S | p) / Pr(S | p') first, with a coin toss at the last. The bound holds for every procedure that reads
    the sum of the counts, randomized ones too; one that reads all counts may be shorter.
    The integral is bounded from below (`integral_below`), over all sets A of sums.
    Source: Pratt (1961), Length of confidence intervals, for the identity and the bound.

    >>> found = length_limit(ReleaseSums(np.full((3, 2), 0.5)), proportions=0.3, level=0.9)
    >>> [round(float(value), 9) for value in (found.length[0], found.error[0])]
    [0.9, 0.0]
    """
    proportions = PROPORTION.validate_array(proportions, name="proportions")
    level = LEVEL.validate(level)
    p, n, size = along_axis(proportions), sums.n, sums.rows.shape[1]
    count = min(max(math.ceil(NODES_BY_ROOT * math.sqrt(n)), USUAL_NODES), MOST_LIMIT_ENTRIES // size)
    nodes = np.sin(np.linspace(0, np.pi / 2, max(count, FEWEST_NODES) + 1)) ** 2
    distributions = sums.distribution(nodes)
    found = np.array([_integral(sums, float(value), level, nodes, distributions) for value in p])
    return LengthLimit(length=found[:, 0], error=found[:, 1])


def _integral(
    sums: ReleaseSums, p: float, level: float, nodes: FloatArray, distributions: FloatArray
) -> tuple[float, float]:
    """A lower bound of ∫ β dp', p being one more node, and how far it is below the trapezoids."""
    own, place = sums.distribution(p)[0], int(np.searchsorted(nodes, p))
    nodes, distributions = np.insert(nodes, place, p), np.insert(distributions, place, own, axis=0)
    smallest, price = _smallest_acceptance(own, distributions, level)
    smallest, price = np.where(price < LARGEST_PRICE, (smallest, price), 0.0)
    smallest[place], price[place] = level, 1.0
    spread = min(float(np.ptp(sums.rows, axis=0).sum()), 1.0)  # As large as Pr(A | x) can change with x
    return integral_below(nodes, smallest, price, *steepest(sums.n, nodes, spread))


def _smallest_acceptance(own: FloatArray, others: FloatArray, level: float) -> tuple[FloatArray, FloatArray]:
    """β of each row p' of `others` against p, the mass under p of the sums that the most powerful test accepts, and λ.

    λ is Pr(s | p) / Pr(s | p') at the last of these sums: what a little more of the level costs.
    Sums that are next to impossible under p are accepted at once. For most synthesizers the ratio rises or falls with
    the sum, so that there is nothing to sort.
    """
    costly = own > UNLIKELY
    missing = level - others[:, ~costly].sum(axis=1)
    own, others = own[costly], others[:, costly]
    with np.errstate(divide="ignore", invalid="ignore", over="ignore"):
        ratio = np.where(others > 0, own / others, np.inf)
    change = ratio[:, 1:] >= ratio[:, :-1]
    rising, falling = change.all(axis=1), ~change.any(axis=1)
    mixed = ~rising & ~falling
    own = np.broadcast_to(own, others.shape).copy()
    own[falling], others[falling] = own[falling, ::-1], others[falling, ::-1]
    if mixed.any():
        order = np.argsort(ratio[mixed], axis=1, kind="stable")
        own[mixed], others[mixed] = (np.take_along_axis(table[mixed], order, axis=1) for table in (own, others))
    through = np.cumsum(others, axis=1)
    share = np.clip((missing[:, None] - (through - others)) / np.maximum(others, 1e-300), 0.0, 1.0)
    last = np.minimum((through < missing[:, None]).sum(axis=1), others.shape[1] - 1)[:, None]
    weight = np.take_along_axis(others, last, axis=1)
    with np.errstate(divide="ignore", invalid="ignore", over="ignore"):
        price = (np.take_along_axis(own, last, axis=1) / weight)[:, 0]
    return np.einsum("ps,ps->p", share, own), np.where(missing > 0, price, 0.0)
