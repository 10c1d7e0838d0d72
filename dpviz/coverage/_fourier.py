"""The distribution of the sum and the spread of M independent counts of one distribution, by Fourier transform.

The M counts enter every combining rule through S = Σ x̃ and Q = Σ x̃² alone. Given S, Q is smallest where the counts are
as equal as whole numbers allow, and Q minus that least value is even: (S, d) with d = (Q − Q_least(S)) / 2 says as
much as (S, Q), and d stays small whatever S is. A transform of length L in (Q − S)/2 therefore loses nothing as long
as d < L: what wraps around is told apart by S.
"""

import math
from typing import NamedTuple

import numpy as np
from scipy.fft import fft, ifft, irfft, next_fast_len

from dpviz.core.numerics.special import complex_power, row_blocks
from dpviz.core.types import FloatArray, IntArray

TOTAL_TILTS = np.geomspace(0.1, 10.0, 15)
SPREAD_TILTS = np.concatenate([np.linspace(0.1, 1.0, 13), np.geomspace(1.3, 100.0, 9)])
"""Exponents of the Chernoff bounds, relative to those of a normal distribution; any exponent gives a bound."""

TRANSFORM_AT_ONCE = 16_384  # Numbers of a transform that are computed at a time, which then stay near the processor

ROUNDING_CONSTANT = 4.0  # Roundings in one stage of a transform: root of unity, product and sum of complex numbers


class Box(NamedTuple):
    """Where M draws from one distribution fall: columns of one draw, lowest and highest S, and d below `spread`."""

    first: int
    last: int
    low: int
    high: int
    spread: int

    @property
    def size(self) -> int:
        """Numbers in the transform."""
        return (self.high - self.low + 1) * self.spread

    def joined(self, other: "Box") -> "Box":
        """Return the smallest box around both."""
        first, last, low, high, spread = zip(self, other, strict=True)
        return Box(min(first), max(last), min(low), max(high), max(spread))


def boxes(distributions: FloatArray, sets: int, errors: FloatArray) -> list[Box]:
    """Return the box outside of which M draws from a distribution fall with probability at most its error, for each.

    A quarter of the error goes to columns whose tails are cut, a quarter to each end of S and a quarter to d. The ends
    are Chernoff's: Pr(S ≥ s) ≤ e^{−λs} E[e^{λx̃}]^M, and 2d ≤ Σ (x̃ − c)² for any c gives Pr(d ≥ L) ≤ e^{−2λL}
    E[e^{λ(x̃ − c)²}]^M. Expectations are taken in logarithms, so that no exponent needs to be clipped.

    >>> boxes(np.array([[0.5, 0.5]]), 2, np.array([1e-9]))  # two coins: S from 0 to 2, and d = 0, as Q follows from S
    [Box(first=0, last=1, low=0, high=2, spread=1)]
    """
    count, tails = distributions.shape[1], errors[:, None] / (8 * sets)
    first = (np.cumsum(distributions, axis=1) <= tails).sum(axis=1)
    last = count - 1 - (np.cumsum(distributions[:, ::-1], axis=1) <= tails).sum(axis=1)
    start, columns = int(first.min()), np.arange(first.min(), last.max() + 1)
    inside = (columns >= first[:, None]) & (columns <= last[:, None])
    kept = np.where(inside, distributions[:, start : start + len(columns)], 0.0)
    mass = kept.sum(axis=1)
    mean = kept @ columns / mass
    distance = columns - mean[:, None]
    variance = (kept * distance**2).sum(axis=1) / mass
    most = sets * (last - first) ** 2 // 8 + 1 if sets > 1 else np.ones_like(first)
    low, high, spread = sets * first, sets * last, most.copy()
    (some,) = np.nonzero((variance > 0) & (most > 1))
    if len(some):
        with np.errstate(divide="ignore"):
            log_distributions = np.log(kept[some])
        need, distance, variance, center = -np.log(errors[some] / 4), distance[some], variance[some], sets * mean[some]

        def smallest_at(values: FloatArray, tilts: FloatArray, scale: float) -> FloatArray:
            bounds = sets * _log_moments(log_distributions, values, tilts) + need[:, None]
            return np.asarray((bounds / (scale * tilts)).min(axis=1))

        tilts = np.multiply.outer(np.sqrt(2 * need / (sets * variance)), TOTAL_TILTS)
        low[some] = np.maximum(low[some], np.floor(center - smallest_at(-distance, tilts, 1)).astype(int))
        high[some] = np.minimum(high[some], np.ceil(center + smallest_at(distance, tilts, 1)).astype(int))
        reach = np.ceil(smallest_at(distance**2, np.multiply.outer(1 / (2 * variance), SPREAD_TILTS), 2)) + 1
        spread[some] = np.minimum(reach.astype(int), most[some])
    return [Box(*one) for one in np.stack([first, last, low, high, spread], axis=1).tolist()]


def _log_moments(log_distributions: FloatArray, values: FloatArray, tilts: FloatArray) -> FloatArray:
    """ln E[e^{λ value}] of each distribution for each λ of its `tilts`."""
    exponents = tilts[:, :, None] * values[:, None, :]
    exponents += log_distributions[:, None, :]
    largest = exponents.max(axis=2)
    exponents -= largest[:, :, None]
    with np.errstate(under="ignore"):
        return np.asarray(largest + np.log(np.exp(exponents, out=exponents).sum(axis=2)))


class Roots:
    """Roots of unity e^{−2πi t y(y−1)/(2L)} of one length L, a row for each t, kept for all that share it."""

    def __init__(self, spread: int, columns: int) -> None:
        self.length = next_fast_len(spread, real=True)
        self.columns = columns
        y = np.arange(columns)
        places = np.multiply.outer(np.arange(self.length // 2 + 1), y * (y - 1) // 2 % self.length) % self.length
        self.table = np.exp(-2j * math.pi / self.length * np.arange(self.length))[places]


def mixed_distribution_in_box(
    distributions: FloatArray, weights: FloatArray, sets: int, box: Box, roots: Roots
) -> FloatArray:
    """Σ weight × Pr(S, d) in one box: S from ``box.low`` to ``box.high``, d from 0 to ``roots.length`` − 1.

    Pr = F⁻¹[φ^M], φ the transform of one draw at (y, y(y−1)/2) with y = x̃ − ``box.first``, the powers mixed before the
    inverse; then every row S is turned so that it starts at its smallest spread.
    Two draws from 0, 1, 2, equally likely: S = 2 with d = 0 once (1, 1) and with d = 1 twice (0, 2), (2, 0).

    >>> third = np.full(3, 1 / 3)
    >>> box = boxes(third[None], 2, np.array([1e-9]))[0]
    >>> (9 * mixed_distribution_in_box(third[None], np.ones(1), 2, box, Roots(box.spread, 3))[2, :2]).round(9).tolist()
    [1.0, 2.0]
    """
    width, count = box.last - box.first + 1, box.high - box.low + 1
    period = next_fast_len(max(count, width), real=True)  # factors of 7 and 11 take longer than some columns more
    mixed = np.zeros((roots.length // 2 + 1, period), dtype=complex)
    shares = weights ** (1 / sets)  # the power makes the weights of them
    # Real and imaginary parts are multiplied as what they are: as complex numbers they would take three times as long.
    scaled = np.repeat(distributions[:, box.first : box.last + 1] * shares[:, None], 2, axis=1)
    parts = roots.table.view(float)[:, : 2 * width]
    for block in row_blocks(len(mixed), period, TRANSFORM_AT_ONCE):
        table, total = parts[block], mixed[block]
        draw = np.zeros(total.shape, dtype=complex)
        drawn = draw.view(float)[:, : 2 * width]
        for distribution in scaled:
            np.multiply(table, distribution, out=drawn)
            total += complex_power(fft(draw), sets)
    by_total = np.ascontiguousarray(ifft(mixed, overwrite_x=True).T)
    totals = np.arange(box.low, box.high + 1) - sets * box.first
    by_spread = irfft(by_total, n=roots.length, axis=1, overwrite_x=True)
    turned: FloatArray = np.empty((count, roots.length))
    places, starts = totals % period, smallest_spread(totals, sets) % roots.length
    for row, place, start in zip(turned, places.tolist(), starts.tolist(), strict=True):
        row[: roots.length - start] = by_spread[place, start:]
        row[roots.length - start :] = by_spread[place, :start]
    return turned


def smallest_spread(totals: IntArray, sets: int) -> IntArray:
    """Return the smallest Σ y(y − 1)/2 of M whole numbers with sum S: a(S + r − M)/2 with S = aM + r.

    >>> smallest_spread(np.array([5]), 3).tolist()  # 1, 2, 2 give 0 + 1 + 1
    [2]
    """
    quotient, remainder = np.divmod(totals, sets)
    return quotient * (totals + remainder - sets) // 2


def rounding_error(size: int, sets: int) -> float:
    """Return a bound of Σ |rounding| over the box of `size` numbers.

    A transform of N numbers is off by at most c u log₂ N in root mean square, relative to its own. Since |φ| ≤ 1, φ^M
    is off by at most M times that. The inverse keeps root mean squares up to the factor 1/√N (Parseval) and adds as
    much of its own, and the sum of N moduli is at most √N times the root of their summed squares.
    """
    unit = float(np.finfo(float).eps) / 2
    return 2 * ROUNDING_CONSTANT * sets * math.log2(max(size, 2)) * unit * math.sqrt(size)
