"""Sums of many logarithms without the rounding of one large total.

Each sum is kept as a coarse part, a multiple of 2⁻²⁶ that adds without rounding, and a small remainder: the last digit
of sums near 10⁵, those of 5,000 draws, would be worth 10⁻¹¹.
"""

import math
from dataclasses import dataclass

import numpy as np

from dpviz.core.types import FloatArray, IntArray

COARSE_GRID = 2.0**26


@dataclass(frozen=True)
class SplitSum:
    """Numbers held as ``coarse + fine``; the coarse parts of a few of them add and subtract exactly."""

    coarse: FloatArray
    fine: FloatArray

    def __getitem__(self, index: IntArray | slice) -> "SplitSum":
        return SplitSum(self.coarse[index], self.fine[index])

    def __add__(self, other: "SplitSum") -> "SplitSum":
        return SplitSum(self.coarse + other.coarse, self.fine + other.fine)

    def __sub__(self, other: "SplitSum") -> "SplitSum":
        return SplitSum(self.coarse - other.coarse, self.fine - other.fine)

    def total(self) -> FloatArray:
        """Return the numbers, rounded once."""
        return self.coarse + self.fine


def cumulative_sum(terms: FloatArray) -> SplitSum:
    """Partial sums 0, t₀, t₀ + t₁, … of `terms`, one more than there are terms."""
    coarse, fine = np.zeros(len(terms) + 1), np.zeros(len(terms) + 1)
    rounded = np.rint(terms * COARSE_GRID) / COARSE_GRID
    np.cumsum(rounded, out=coarse[1:])
    np.cumsum(terms - rounded, out=fine[1:])
    return SplitSum(coarse, fine)


def log_rising(base: float, count: int) -> SplitSum:
    """ln of the rising factorials base (base + 1) … (base + k − 1) for k = 0 … `count`."""
    return cumulative_sum(np.log(base + np.arange(count)))


def log_rising_ratio(base: float, count: int) -> SplitSum:
    """ln of the rising factorials divided by base^k: they stay small where `base` is large."""
    return cumulative_sum(np.log1p(np.arange(count) / base))


def log_binomials(total: int) -> SplitSum:
    """ln C(total, j) for j = 0 … `total`."""
    j = np.arange(total + 1)
    return log_multinomials(total, j, total - j)


def log_fair_binomials(total: int) -> FloatArray:
    """ln Pr(j) for j = 0 … `total` fair coins, which absorb the binomial coefficients without large numbers."""
    coefficients = log_binomials(total)
    return (coefficients.coarse - total * math.log(2)) + coefficients.fine


def log_multinomials(total: int, *counts: IntArray) -> SplitSum:
    """ln of total! / Π counts!."""
    factorial = log_rising(1.0, total)
    value = factorial[np.full(counts[0].shape, total)]
    for count in counts:
        value = value - factorial[count]
    return value
