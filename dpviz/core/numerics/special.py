"""Functions that keep their digits for large arguments and at the ends of the domains of ε and δ."""

import math
from collections.abc import Callable

import numpy as np
from scipy.special import gammaln

from dpviz.core.types import ComplexArray, FloatArray

STIRLING = (1 / 156, -691 / 360360, 1 / 1188, -1 / 1680, 1 / 1260, -1 / 360, 1 / 12)  # highest power first
MIN_STIRLING = 10.0  # argument from which on the series is exact
MAX_EXPONENT = 700.0  # its exponential is far from overflow


def stirling_remainder(x: FloatArray) -> FloatArray:
    """ln Γ(x) − (x − ½) ln x + x − ½ ln 2π for x > 0: what ln Γ is without its large terms.

    It keeps the digits that ln Γ itself has lost for large x, and equals ln Γ(x + 1) − (x ln x − x + ½ ln 2πx).

    >>> float(stirling_remainder(np.array([1.0]))[0].round(9))  # 1 − ½ ln 2π
    0.081061467
    """
    x = np.asarray(x, dtype=float)
    large = np.maximum(x, MIN_STIRLING)
    square = 1 / (large * large)
    series: FloatArray = STIRLING[0] * square + STIRLING[1]
    for coefficient in STIRLING[2:]:  # `np.polyval` takes twice as long
        series *= square
        series += coefficient
    series /= large
    # Small arguments have lost no digits
    is_small = x < MIN_STIRLING
    if is_small.any():
        small = x[is_small]
        series[is_small] = gammaln(small) - (small - 0.5) * np.log(small) + small - 0.5 * math.log(2 * math.pi)
    return series


def log_beta(a: FloatArray, b: FloatArray) -> FloatArray:
    """ln B(a, b) to the last digits of its own size, not of the much larger ln Γ(a + b).

    Parameters
    ----------
    a, b : ndarray
        From 10⁻¹⁵⁰ to 10¹⁵⁰, so that no ratio or square of theirs overflows.
    """
    a = np.asarray(a, dtype=float)
    b = np.asarray(b, dtype=float)
    total = a + b
    power = (a - 0.5) * -np.log1p(b / a) + (b - 0.5) * -np.log1p(a / b) - 0.5 * np.log(total / (2 * math.pi))
    return power + stirling_remainder(a) + stirling_remainder(b) - stirling_remainder(total)


def binomial_weights(p: FloatArray, n: int, first: int = 0, last: int | None = None) -> FloatArray:
    """Binomial probabilities of the counts from `first` to `last`, normalized over these.

    Parameters
    ----------
    p : ndarray of shape (k,)
    n, first, last : int

    Examples
    --------
    >>> binomial_weights(np.array([0.5, 1.0]), 2).round(12).tolist()
    [[0.25, 0.5, 0.25], [0.0, 0.0, 1.0]]
    """
    x = np.arange(first, n + 1 if last is None else last + 1)
    inside = np.clip(p, 1e-300, 1 - 1e-16)[:, None]
    log_binomials = gammaln(n + 1) - gammaln(x + 1) - gammaln(n - x + 1)
    with np.errstate(under="ignore"):
        weights = np.exp(log_binomials + x * np.log(inside) + (n - x) * np.log1p(-inside))
        weights /= weights.sum(axis=1, keepdims=True)
    weights[p <= 0] = x == 0
    weights[p >= 1] = x == n
    return weights


def cumulative_sum(terms: FloatArray, origin: int = 0) -> FloatArray:
    """Partial sums 0, t₀, t₀ + t₁, … along the last axis, to the last digit, less the one with index `origin`.

    Parameters
    ----------
    terms : ndarray of shape (…, k)
    origin : int, optional
        Sums near it are small and keep digits that they would lose to the large ones.

    Notes
    -----
    The rounding error of every addition is known exactly (Knuth's two-sum), so that the errors are summed as well.
    """
    sums = np.zeros((*terms.shape[:-1], terms.shape[-1] + 1))
    np.cumsum(terms, axis=-1, out=sums[..., 1:])
    previous = sums[..., :-1]
    added = sums[..., 1:] - previous
    errors = np.zeros_like(sums)
    np.cumsum((previous - (sums[..., 1:] - added)) + (terms - added), axis=-1, out=errors[..., 1:])
    return (sums - sums[..., [origin]]) + (errors - errors[..., [origin]])


def log_rising_ratio(base: float, count: int) -> FloatArray:
    """ln of base (base + 1) … (base + k − 1) / base^k for k = 0 … `count`; those of base 1 are ln k!.

    Parameters
    ----------
    base : float
    count : int

    Examples
    --------
    >>> np.exp(log_rising_ratio(1.0, 4)).round(12).tolist()
    [1.0, 1.0, 2.0, 6.0, 24.0]
    """
    return cumulative_sum(np.log1p(np.arange(count) / base))


def log_fair_binomials(total: int) -> FloatArray:
    """ln Pr(j) for j = 0 … `total` fair coins, which absorb the binomial coefficients without large numbers."""
    j = np.arange(total)
    logarithms = cumulative_sum(np.log((total - j) / (j + 1)), origin=total // 2)
    logarithms = (logarithms + logarithms[::-1]) / 2  # symmetric to the last digit
    return logarithms - log_sum_exp(logarithms, axis=0)


def log_sum_exp(logarithms: FloatArray, axis: int) -> FloatArray:
    """ln Σ e^x of finite x along an axis, four times as fast as `np.logaddexp.reduce`.

    Parameters
    ----------
    logarithms : ndarray
    axis : int

    Examples
    --------
    >>> np.exp(log_sum_exp(np.log([[1.0, 3.0], [2.0, 3.0]]), axis=1)).round(12).tolist()
    [4.0, 5.0]
    """
    largest = logarithms.max(axis=axis, keepdims=True)
    with np.errstate(under="ignore"):
        sums: FloatArray = np.log(np.exp(logarithms - largest).sum(axis=axis))
    return sums + largest.squeeze(axis)


def complex_power(base: ComplexArray, exponent: int) -> ComplexArray:
    """Power by repeated squaring, several times faster than NumPy's.

    Parameters
    ----------
    base : ndarray of complex
    exponent : int
        Positive.
    """
    power: ComplexArray = base.copy()
    for digit in f"{exponent:b}"[1:]:
        np.square(power, out=power)
        if digit == "1":
            np.multiply(power, base, out=power)
    return power


def log_reciprocal(delta: float) -> float:
    """ln(1/δ) for δ in [0, 1]; infinite at 0, and a positive zero at 1."""
    return 0.0 - math.log(delta) if delta > 0 else math.inf


def capped_expm1(epsilon: float) -> float:
    """e^ε − 1, infinite where it overflows."""
    return math.expm1(epsilon) if epsilon < 709.7 else math.inf


def inverse_expm1(epsilon: float) -> float:
    """1 / (e^ε − 1) for ε > 0, however large."""
    return math.exp(-epsilon) / -math.expm1(-epsilon)


def divide_or_inf(numerator: float, denominator: float) -> float:
    """Quotient that is infinite if the denominator is 0.

    Parameters
    ----------
    numerator, denominator : float
        Positive, and nonnegative.
    """
    return numerator / denominator if denominator > 0 else math.inf


def round_to_private_side(value: float, towards: float, is_private: Callable[[float], bool]) -> float:
    """First of doubling floating-point steps from a value at which a condition holds.

    Parameters
    ----------
    value, towards : float
        Where the steps begin and where they lead.
    is_private : callable
        The condition.
    """
    step = math.copysign(math.ulp(value), towards - value)
    while not is_private(value):
        value += step
        step *= 2
    return value


def row_blocks(count: int, width: int, max_numbers: int = 2_000_000) -> list[slice]:
    """Consecutive slices of a table, of at least one row each.

    Parameters
    ----------
    count, width : int
        Rows and columns of the table.
    max_numbers : int, optional
        Numbers of a slice.
    """
    step = max(1, max_numbers // width)
    return [slice(start, start + step) for start in range(0, count, step)]
