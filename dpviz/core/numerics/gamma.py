"""ln Γ and ln B without the digits that large arguments take away."""

import math

import numpy as np
from scipy.special import gammaln

from dpviz.core.types import FloatArray

STIRLING = (1 / 12, -1 / 360, 1 / 1260, -1 / 1680, 1 / 1188, -691 / 360360, 1 / 156)
STIRLING_FROM = 10.0


def stirling_remainder(x: FloatArray) -> FloatArray:
    """ln Γ(x) − (x − ½) ln x + x − ½ ln 2π for x > 0, small for large x where ln Γ itself has lost its digits.

    It is ln Γ(x + 1) − (x ln x − x + ½ ln 2πx) as well.

    >>> float(stirling_remainder(np.array([1.0]))[0].round(9))  # 1 − ½ ln 2π
    0.081061467
    """
    x = np.asarray(x, dtype=float)
    large = np.maximum(x, STIRLING_FROM)
    inverse_square = 1 / large**2
    series = np.full_like(large, STIRLING[-1])
    for coefficient in STIRLING[-2::-1]:
        series *= inverse_square
        series += coefficient
    series /= large
    if (small := x < STIRLING_FROM).any():
        few = x[small]
        series[small] = gammaln(few) - (few - 0.5) * np.log(few) + few - 0.5 * math.log(2 * math.pi)
    return series


def log_beta(a: FloatArray, b: FloatArray) -> FloatArray:
    """ln B(a, b) to the last digits of its own size, not of the much larger ln Γ(a + b)."""
    a, b = np.asarray(a, dtype=float), np.asarray(b, dtype=float)
    total = a + b
    power = (a - 0.5) * -np.log1p(b / a) + (b - 0.5) * -np.log1p(a / b) - 0.5 * np.log(total / (2 * math.pi))
    return power + stirling_remainder(a) + stirling_remainder(b) - stirling_remainder(total)
