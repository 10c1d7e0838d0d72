"""Return the distribution of the sum of M releases given each x; a ValueError beyond 6 million numbers."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np
from scipy.fft import irfft, next_fast_len, rfft
from scipy.special import gammaln

from dpviz.analysis import SETS
from dpviz.checked import checked
from dpviz.inference.confidential import released_rows
from dpviz.numerics.blocks import blocks
from dpviz.parameters import readable
from dpviz.synthesizers import TwoCellSynthesizer
from dpviz.types import FloatArray

LARGEST_ROWS = 6_000_000  # Largest number of numbers in the table of sums: (n + 1)(Mm + 1)
MOST_PRODUCTS = 50_000_000  # Multiplications up to which the sums are convolved term by term; beyond, by transforms
TRANSFORM_ERROR = 1e-14
SMALLEST = 1e-300  # Probability that counts as 0: numbers next to the smallest are slow


def within_sums(n: int, m: int, sets: int) -> bool:
    """Return whether the table of the distribution of S for every x is small enough to be kept.

    >>> within_sums(100, 100, 100), within_sums(1000, 1000, 5), within_sums(5000, 5000, 1)
    (True, True, False)
    """
    return (n + 1) * (sets * m + 1) <= LARGEST_ROWS


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
    def mirrored(self) -> ReleaseSums:
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

    def law(self, p: FloatArray | float) -> FloatArray:
        """Pr(S = s | p), shape (len(p), Mm + 1)."""
        return binomial_weights(np.atleast_1d(np.asarray(p, float)), self.n) @ self.rows


@checked(sets=SETS)
def release_sums(synthesizer: TwoCellSynthesizer, sets: int) -> ReleaseSums:
    """The distribution of the sum of M releases for every confidential count; a ValueError beyond 6 million numbers.

    >>> from dpviz.synthesizers import BetaBinomial
    >>> (9 * release_sums(BetaBinomial(n=1, m=1, alpha=1, beta=1), 2).rows).round(9).tolist()
    [[4.0, 4.0, 1.0], [1.0, 4.0, 4.0]]
    """
    n, m = synthesizer.n, synthesizer.m
    if not within_sums(n, m, sets):
        raise ValueError(
            f"The distribution of the sum for every confidential count may have (n + 1)(Mm + 1) ≤ {LARGEST_ROWS:,} "
            f"numbers; with n = {readable(n)}, m = {readable(m)} and M = {sets} it has {(n + 1) * (sets * m + 1):,}."
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
        for block in blocks(n + 1, length):
            sums[block] = irfft(rfft(rows[block], length, axis=1) ** sets, length, axis=1)[:, :size]
    return ReleaseSums(np.maximum(sums, 0.0, out=sums), TRANSFORM_ERROR)


def _convolved(rows: FloatArray, sets: int) -> FloatArray:
    """Return each row convolved `sets` times with itself, term by term, so that small numbers keep their digits."""
    rows = np.where(rows < SMALLEST, 0.0, rows)
    found = rows
    with np.errstate(under="ignore"):
        for _ in range(sets - 1):
            longer = np.array([np.convolve(*pair) for pair in zip(found, rows, strict=True)])
            found = np.where(longer < SMALLEST, 0.0, longer)
    return found


def binomial_weights(p: FloatArray, n: int) -> FloatArray:
    """Pr(x = 0 … n) for x ~ Binomial(n, p), one row for each of `p`.

    >>> binomial_weights(np.array([0.0, 0.25]), 2).round(12).tolist()
    [[1.0, 0.0, 0.0], [0.5625, 0.375, 0.0625]]
    """
    x = np.arange(n + 1)
    inside = np.clip(p, 1e-300, 1 - 1e-16)[:, None]
    with np.errstate(under="ignore"):
        weights = np.exp(
            gammaln(n + 1) - gammaln(x + 1) - gammaln(n - x + 1) + x * np.log(inside) + (n - x) * np.log1p(-inside)
        )
        weights /= weights.sum(axis=1, keepdims=True)
    weights[p <= 0] = x == 0
    weights[p >= 1] = x == n
    return weights
