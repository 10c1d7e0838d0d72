"""Polynomials Σ_x Binomial(x; n, p) c_x in p, whose extremes on a range are found and certified."""

import math
from collections.abc import Callable, Iterator
from functools import lru_cache
from typing import NamedTuple

import numpy as np
from scipy.special import comb

from dpviz.core.types import BoolArray, FloatArray, IntArray

CHEBYSHEV_NODES = 12  # Chebyshev nodes of a cell, by which a polynomial of any degree is replaced there
CELL = 0.25  # Width of a cell in units of the standard deviation of x/n, on the scale of 2 arcsin √p
BINOMIAL_REACH = 9.0, 40.0  # Standard deviations, and counts beside them, past which a count is below 1e-17 (Bernstein)
EXTREME_TOLERANCE = 1e-13  # Distance to which an extreme is closed in, relative to the spread of the coefficients
COEFFICIENT_ROUNDING = 1e-14  # Of the largest coefficient: more than a halving loses to rounding, on any processor
RANGE_HALVINGS = 60


class Extreme(NamedTuple):
    """The smallest or the largest value on a range: attained within rounding at, or next to, the place `at`.

    No other value on the range is further than `gap` beyond it.
    """

    value: float
    at: float
    gap: float = 0.0


class Cell(NamedTuple):
    """A range of p and, for the counts from `first` on that matter there, the `weights` of shape (K, counts).

    K is `CHEBYSHEV_NODES`. `weights` times the coefficients of those counts are the Bernstein coefficients, of degree
    K − 1 on the cell, of the polynomial that agrees with Σ_x Binomial(x; n, p) c_x at the Chebyshev nodes of the cell.

    Between them it is off by |C⁽ᴷ⁾| h^K 2^{1−K} / K!, h half the width of the cell. As the K-th
    derivative of Binomial(x; n, p) is Binomial(x; n, p) times a polynomial with the second moment n⁽ᴷ⁾ K! / (pq)^K
    (Krawtchouk's), the inequality of Cauchy and Schwarz gives |C⁽ᴷ⁾| ≤ ½ r √K! (n / pq)^{K/2}, r the spread of the
    coefficients; in the first and last cell, where pq goes to 0, n^K differences give |C⁽ᴷ⁾| ≤ ½ r (2n)^K. In units of
    r the error is at most 10⁻¹³.
    """

    low: float
    high: float
    first: int
    weights: FloatArray

    def inside(self, places: FloatArray) -> FloatArray:
        """Return where places lie in it, from 0 to 1."""
        return np.clip((places - self.low) / (self.high - self.low), 0.0, 1.0)


def cells(n: int, low: float, high: float) -> Iterator[Cell]:
    """Yield the cells that meet a range of p, from left to right."""
    count = _count(n)
    first, last = (2 / math.pi * math.asin(math.sqrt(end)) * count for end in (low, high))
    for place in range(min(int(first), count - 1), min(max(math.ceil(last), int(first) + 1), count)):
        yield _cell(n, place)


def edges(n: int) -> FloatArray:
    """Return the ends of all cells from 0 to 1."""
    found: FloatArray = np.sin(np.linspace(0.0, math.pi / 2, _count(n) + 1)) ** 2
    found[-1] = 1.0
    return found


def evaluated(table: FloatArray) -> Callable[[FloatArray], FloatArray]:
    """Return what gives Σ_x Binomial(x; n, p) of the n + 1 rows of a table at many p, one row for each.

    As the cells replace it: off by at most 10⁻¹³ of the spread of a column.

    >>> evaluated(np.array([[0.0], [1.0], [4.0]]))(np.array([0.5])).round(12).tolist()  # E[x²] = 2p + 2p²
    [[1.5]]
    """
    n, degree = len(table) - 1, CHEBYSHEV_NODES - 1
    _, _, counts, weights = _parts(n, 0.0, 1.0)
    found = weights @ table[counts]
    places, binomials = edges(n), comb(degree, np.arange(degree + 1))

    def at(p: FloatArray) -> FloatArray:
        cell = np.clip(np.searchsorted(places, p, side="right") - 1, 0, len(found) - 1)
        inside = ((p - places[cell]) / (places[cell + 1] - places[cell]))[:, None]
        basis = binomials * inside ** np.arange(degree + 1) * (1 - inside) ** np.arange(degree, -1, -1)
        values: FloatArray = np.einsum("pk,pkc->pc", basis, found[cell])
        return values

    return at


def _count(n: int) -> int:
    return math.ceil(math.pi / 2 * math.sqrt(n) / CELL)


@lru_cache(maxsize=1)
def _to_bernstein() -> FloatArray:
    """The inverse of the Bernstein basis at the Chebyshev nodes."""
    found: FloatArray = np.linalg.inv(binomial_weights_at(_nodes(), CHEBYSHEV_NODES - 1, 0, CHEBYSHEV_NODES - 1))
    return found


def _nodes() -> FloatArray:
    found: FloatArray = np.sin((2 * np.arange(CHEBYSHEV_NODES) + 1) * math.pi / (4 * CHEBYSHEV_NODES)) ** 2
    return found


@lru_cache(maxsize=1024)
def _cell(n: int, place: int) -> Cell:
    low, high = edges(n)[place : place + 2].tolist()
    away = BINOMIAL_REACH[0] * math.sqrt(n * max(low * (1 - low), high * (1 - high))) + BINOMIAL_REACH[1]
    first, last = max(math.floor(n * low - away), 0), min(math.ceil(n * high + away), n)
    weights: FloatArray = _to_bernstein() @ binomial_weights_at(low + (high - low) * _nodes(), n, first, last)
    weights.setflags(write=False)
    return Cell(low, high, first, weights)


def binomial_weights_at(p: FloatArray, n: int, first: int, last: int) -> FloatArray:
    """Pr(x = `first` … `last`) for x ~ Binomial(n, p), one row for each p inside 0 to 1, if no other counts matter.

    They are made by ratios from the middle of the p on, and lose no more than a few of their last digits.

    >>> binomial_weights_at(np.array([0.5]), 2, 0, 2).tolist()
    [[0.25, 0.5, 0.25]]
    """
    x = np.arange(first, last)
    ratios, odds = (n - x) / (x + 1), (p / (1 - p))[:, None]
    start = min(max(round(n * float(p.mean())), first), last) - first
    with np.errstate(under="ignore"):
        above = np.cumprod(ratios[start:] * odds, axis=1)
        below = np.cumprod(1 / (ratios[:start][::-1] * odds), axis=1)[:, ::-1]
        found: FloatArray = np.concatenate([below, np.ones((len(p), 1)), above], axis=1)
        return found / found.sum(axis=1, keepdims=True)


def restricted(coefficients: FloatArray, low: FloatArray, high: FloatArray) -> FloatArray:
    """Return the Bernstein coefficients of polynomials, one a row, on parts of 0 to 1, by two passes of de Casteljau.

    >>> restricted(np.array([[0.0, 0.0, 1.0]]), np.array([0.5]), np.array([1.0])).tolist()  # p² from 1/2 to 1
    [[0.25, 0.5, 1.0]]
    """
    low, high = low[:, None], high[:, None]
    found = _ended(coefficients, high)
    share = np.divide(low, high, out=np.zeros_like(low), where=high > 0)
    return _ended(found[:, ::-1], 1 - share)[:, ::-1]


def _ended(coefficients: FloatArray, high: FloatArray) -> FloatArray:
    """The same from 0 to `high`."""
    rest, found = coefficients.astype(float), np.empty(coefficients.shape)
    for place in range(coefficients.shape[1]):
        found[:, place] = rest[:, 0]
        rest = (1 - high) * rest[:, :-1] + high * rest[:, 1:]
    return found


def at_places(coefficients: FloatArray, places: FloatArray) -> FloatArray:
    """Return the values of polynomials, one a column of Bernstein coefficients, each at its own place from 0 to 1.

    >>> at_places(np.array([[0.0, 0.0], [0.0, 1.0], [1.0, 0.0]]), np.array([0.5, 0.5])).tolist()  # p² and 2p(1 − p)
    [0.25, 0.5]
    """
    degree = len(coefficients) - 1
    ways, powers = comb(degree, np.arange(degree + 1)), np.arange(degree + 1)[:, None]
    found: FloatArray = ((ways[:, None] * places**powers * (1 - places) ** powers[::-1]) * coefficients).sum(axis=0)
    return found


@lru_cache(maxsize=4)
def _half(size: int) -> FloatArray:
    """The matrix that gives the coefficients on the first half."""
    from scipy.linalg import pascal  # it takes long to load, and few ask for it

    found: FloatArray = pascal(size, kind="lower").astype(float) / 2.0 ** np.arange(size)[:, None]
    return found


def smallest_of(
    coefficients: FloatArray, low: FloatArray, high: FloatArray, closed: float = EXTREME_TOLERANCE
) -> Extreme:
    """Return the smallest value of polynomials, each given by a row of Bernstein coefficients on its own range.

    No coefficient on a range is above its polynomial everywhere there, and the two at the ends are values; where the
    smallest is not one of them, the range is halved until what is left to gain is below `closed`.

    >>> smallest_of(np.array([[1.0, -0.5, 1.0]]), np.array([0.0]), np.array([1.0]))  # 1 − 3p + 3p², at 1/2
    Extreme(value=0.25, at=0.5, gap=0.0)
    """
    best = Extreme(math.inf, math.nan)
    half = _half(coefficients.shape[1])
    # Below what a product of matrices loses nothing can be gained: there every half would be halved again.
    closed = max(closed, COEFFICIENT_ROUNDING * float(np.abs(coefficients).max()))
    for _ in range(RANGE_HALVINGS):
        for column, places in ((0, low), (-1, high)):
            lowest = int(coefficients[:, column].argmin())
            if coefficients[lowest, column] < best.value:
                best = Extreme(float(coefficients[lowest, column]), float(places[lowest]))
        live: BoolArray = coefficients.min(axis=1) < best.value - closed
        if not live.any():
            break
        coefficients, low, high = coefficients[live], low[live], high[live]
        first, second = coefficients @ half.T, (coefficients[:, ::-1] @ half.T)[:, ::-1]
        middle = (low + high) / 2
        coefficients = np.concatenate([first, second])
        low, high = np.concatenate([low, middle]), np.concatenate([middle, high])
    return best


def smallest(coefficients: FloatArray, low: float, high: float) -> Extreme:
    """Return the smallest value of Σ_x Binomial(x; n, p) c_x for p from `low` to `high`.

    n + 1 coefficients; it is certified to within 10⁻¹² of their spread.

    >>> round(smallest(np.array([0.0, 1.0, 0.0]), 0.1, 0.9).value, 12)  # 2p(1 − p)
    0.18
    """
    starts, ends, counts, weights = _parts(len(coefficients) - 1, low, high)
    rows = (weights @ coefficients[counts][:, :, None])[:, :, 0]
    return smallest_of(rows, starts, ends, EXTREME_TOLERANCE * float(np.ptp(coefficients)))


def largest(coefficients: FloatArray, low: float, high: float) -> Extreme:
    """Return the largest value likewise.

    >>> found = largest(np.array([0.0, 1.0, 0.0]), 0.1, 0.9)
    >>> round(found.value, 12), round(found.at, 6)
    (0.5, 0.5)
    """
    found = smallest(-coefficients, low, high)
    return Extreme(-found.value, found.at)


@lru_cache(maxsize=4)
def _parts(n: int, low: float, high: float) -> tuple[FloatArray, FloatArray, IntArray, FloatArray]:
    """The cells that meet a range, the first and the last of them cut off at its ends, in tables of as many counts.

    Where they begin and end, the counts that matter in each, and their weights.
    """
    found = []
    for cell in cells(n, low, high):
        start, end = max(low, cell.low), min(high, cell.high)
        weights = cell.weights
        if (start, end) != (cell.low, cell.high):
            places = (np.full(weights.shape[1], place) for place in cell.inside(np.array([start, end])))
            weights = restricted(weights.T, *places).T
        found.append(Cell(start, end, cell.first, weights))
    most = max(one.weights.shape[1] for one in found)
    first = np.array([min(one.first, n + 1 - most) for one in found])
    table = np.zeros((len(found), CHEBYSHEV_NODES, most))
    for place, one in enumerate(found):
        before = one.first - first[place]
        table[place, :, before : before + one.weights.shape[1]] = one.weights
    starts, ends = np.array([[one.low, one.high] for one in found]).T
    return starts, ends, first[:, None] + np.arange(most), table


def of_higher_degree(coefficients: FloatArray, times: int = 1) -> FloatArray:
    """Return the coefficients of the same polynomial as one of a higher degree.

    >>> of_higher_degree(np.array([0.0, 1.0])).tolist()
    [0.0, 0.5, 1.0]
    """
    for _ in range(times):
        size = len(coefficients)
        share = np.arange(size + 1) / size
        before, after = np.append(0.0, coefficients), np.append(coefficients, 0.0)
        coefficients = share * before + (1 - share) * after
    return coefficients


def times_p(coefficients: FloatArray) -> FloatArray:
    """Return the coefficients, one more, of p times the polynomial.

    p Binomial(x; n, p) = (x + 1)/(n + 1) Binomial(x + 1; n + 1, p).

    >>> times_p(np.array([1.0])).tolist(), times_p(np.array([0.0, 1.0])).tolist()
    ([0.0, 1.0], [0.0, 0.0, 1.0])
    """
    size = len(coefficients)
    found: FloatArray = np.append(0.0, np.arange(1, size + 1) / size * coefficients)
    return found
