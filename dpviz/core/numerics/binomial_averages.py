"""Averages over a binomial count, Σ_x Binomial(x; n, p) c_x: their values at many p and their extremes over a range.

On short ranges of p, the cells, a polynomial of low degree replaces the average, whatever n is. Its Bernstein
coefficients enclose it, so that extremes are certified.
"""

import math
from collections.abc import Callable, Iterator
from functools import lru_cache
from typing import NamedTuple

import numpy as np
from scipy.special import comb

from dpviz.core.types import FloatArray, IntArray

NODES = 12  # Chebyshev nodes of a cell
CELL_WIDTH = 0.25  # in standard deviations of x/n, on the scale of 2 arcsin √p
REACH_DEVIATIONS, REACH_COUNTS = 9.0, 40.0  # a count further than both together has less than 1e-17 (Bernstein)
TOLERANCE = 1e-13  # of an extreme, relative to the spread of the coefficients
COEFFICIENT_ROUNDING = 1e-14  # of the largest coefficient: more than a halving loses to rounding, on any processor
MAX_HALVINGS = 60


class Extreme(NamedTuple):
    """Smallest or largest value on a range, attained within rounding at `at`; no other is further than `gap` beyond."""

    value: float
    at: float
    gap: float = 0.0


class Cell(NamedTuple):
    """A range of p, and the weights of shape (K, counts) of the counts from `first` on that matter there.

    The weights times the c_x of those counts are the Bernstein coefficients, of degree K − 1 on the cell, of the
    polynomial that agrees with C(p) = Σ_x Binomial(x; n, p) c_x at K Chebyshev nodes.

    Notes
    -----
    Between the nodes the polynomial is off by |C⁽ᴷ⁾| h^K 2^{1−K} / K!, h half the width of the cell. As the K-th
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
        """Places on the cell, from 0 to 1."""
        return np.clip((places - self.low) / (self.high - self.low), 0.0, 1.0)


def evaluator(table: FloatArray) -> Callable[[FloatArray], FloatArray]:
    """Averages of the columns of a table, as a function of p.

    Parameters
    ----------
    table : ndarray of shape (n + 1, columns)
        Row x holds what is averaged where the count is x.

    Returns
    -------
    callable
        From an array of k values of p to the averages, of shape (k, columns), off by at most 10⁻¹³ of the spread of a
        column.

    Examples
    --------
    >>> evaluator(np.array([[0.0], [1.0], [4.0]]))(np.array([0.5])).round(12).tolist()  # E[x²] = 2p + 2p²
    [[1.5]]
    """
    n = len(table) - 1
    _, _, counts, weights = _pieces(n, 0.0, 1.0)
    coefficients = weights @ table[counts]
    edges = cell_edges(n)
    powers = np.arange(NODES)
    binomials = comb(NODES - 1, powers)

    def averages(p: FloatArray) -> FloatArray:
        cell = np.clip(np.searchsorted(edges, p, side="right") - 1, 0, len(coefficients) - 1)
        inside = ((p - edges[cell]) / (edges[cell + 1] - edges[cell]))[:, None]
        basis = binomials * inside**powers * (1 - inside) ** powers[::-1]
        return np.einsum("pk,pkc->pc", basis, coefficients[cell])

    return averages


def minimum(coefficients: FloatArray, low: float, high: float) -> Extreme:
    """Smallest average of n + 1 coefficients for p from `low` to `high`, certified to 10⁻¹² of their spread.

    >>> round(minimum(np.array([0.0, 1.0, 0.0]), 0.1, 0.9).value, 12)  # 2p(1 − p)
    0.18
    """
    starts, ends, counts, weights = _pieces(len(coefficients) - 1, low, high)
    rows = (weights @ coefficients[counts][:, :, None])[:, :, 0]
    return minimum_of_pieces(rows, starts, ends, TOLERANCE * float(np.ptp(coefficients)))


def maximum(coefficients: FloatArray, low: float, high: float) -> Extreme:
    """Largest average likewise.

    >>> extreme = maximum(np.array([0.0, 1.0, 0.0]), 0.1, 0.9)
    >>> round(extreme.value, 12), round(extreme.at, 6)
    (0.5, 0.5)
    """
    extreme = minimum(-coefficients, low, high)
    return Extreme(-extreme.value, extreme.at)


def minimum_of_pieces(
    coefficients: FloatArray, low: FloatArray, high: FloatArray, tolerance: float = TOLERANCE
) -> Extreme:
    """Smallest value of polynomials, each on its own range.

    Parameters
    ----------
    coefficients : ndarray of shape (pieces, degree + 1)
        Bernstein coefficients.
    low, high : ndarray of shape (pieces,)
    tolerance : float, optional
        What another value may be below the one returned.

    Notes
    -----
    A polynomial is nowhere below the smallest of its coefficients, and the first and the last are its values at the
    ends. Ranges that may hold a smaller value than the best end are halved.

    Examples
    --------
    >>> minimum_of_pieces(np.array([[1.0, -0.5, 1.0]]), np.array([0.0]), np.array([1.0]))  # 1 − 3p + 3p², at 1/2
    Extreme(value=0.25, at=0.5, gap=0.0)
    """
    best = Extreme(math.inf, math.nan)
    half = _first_half(coefficients.shape[1])
    # Nothing can be gained below what a product of matrices loses to rounding: every half would be halved again.
    tolerance = max(tolerance, COEFFICIENT_ROUNDING * float(np.abs(coefficients).max()))
    for _ in range(MAX_HALVINGS):
        for column, places in ((0, low), (-1, high)):
            lowest = int(coefficients[:, column].argmin())
            if coefficients[lowest, column] < best.value:
                best = Extreme(float(coefficients[lowest, column]), float(places[lowest]))
        is_open = coefficients.min(axis=1) < best.value - tolerance
        if not is_open.any():
            break
        coefficients, low, high = coefficients[is_open], low[is_open], high[is_open]
        middle = (low + high) / 2
        coefficients = np.concatenate([coefficients @ half.T, (coefficients[:, ::-1] @ half.T)[:, ::-1]])
        low, high = np.concatenate([low, middle]), np.concatenate([middle, high])
    return best


def restrict(coefficients: FloatArray, low: FloatArray, high: FloatArray) -> FloatArray:
    """Bernstein coefficients of polynomials, one a row, on parts of 0 to 1, by two passes of de Casteljau's algorithm.

    >>> restrict(np.array([[0.0, 0.0, 1.0]]), np.array([0.5]), np.array([1.0])).tolist()  # p² from 1/2 to 1
    [[0.25, 0.5, 1.0]]
    """
    low, high = low[:, None], high[:, None]
    up_to_high = _restrict_end(coefficients, high)
    share = np.divide(low, high, out=np.zeros_like(low), where=high > 0)
    return _restrict_end(up_to_high[:, ::-1], 1 - share)[:, ::-1]


def _restrict_end(coefficients: FloatArray, high: FloatArray) -> FloatArray:
    """Bernstein coefficients from 0 to `high`."""
    rest = coefficients.astype(float)
    restricted = np.empty(coefficients.shape)
    for column in range(coefficients.shape[1]):
        restricted[:, column] = rest[:, 0]
        rest = (1 - high) * rest[:, :-1] + high * rest[:, 1:]
    return restricted


def cells(n: int, low: float, high: float) -> Iterator[Cell]:
    """Cells that meet a range of p, from left to right."""
    count = _cell_count(n)
    first, last = (2 / math.pi * math.asin(math.sqrt(end)) * count for end in (low, high))
    for index in range(min(int(first), count - 1), min(max(math.ceil(last), int(first) + 1), count)):
        yield _cell(n, index)


def cell_edges(n: int) -> FloatArray:
    """Ends of all cells from 0 to 1."""
    edges: FloatArray = np.sin(np.linspace(0.0, math.pi / 2, _cell_count(n) + 1)) ** 2
    edges[-1] = 1.0
    return edges


def _cell_count(n: int) -> int:
    return math.ceil(math.pi / 2 * math.sqrt(n) / CELL_WIDTH)


@lru_cache(maxsize=1024)
def _cell(n: int, index: int) -> Cell:
    low, high = cell_edges(n)[index : index + 2].tolist()
    reach = REACH_DEVIATIONS * math.sqrt(n * max(low * (1 - low), high * (1 - high))) + REACH_COUNTS
    first = max(math.floor(n * low - reach), 0)
    last = min(math.ceil(n * high + reach), n)
    weights: FloatArray = _to_bernstein() @ _weights_by_ratios(low + (high - low) * _chebyshev_nodes(), n, first, last)
    weights.setflags(write=False)
    return Cell(low, high, first, weights)


@lru_cache(maxsize=1)
def _to_bernstein() -> FloatArray:
    """The inverse of the Bernstein basis at the Chebyshev nodes."""
    return np.linalg.inv(_weights_by_ratios(_chebyshev_nodes(), NODES - 1, 0, NODES - 1))


def _chebyshev_nodes() -> FloatArray:
    return np.sin((2 * np.arange(NODES) + 1) * math.pi / (4 * NODES)) ** 2


def _weights_by_ratios(p: FloatArray, n: int, first: int, last: int) -> FloatArray:
    """Binomial probabilities of neighbouring p inside 0 to 1, of which ratios lose fewer digits than logarithms."""
    x = np.arange(first, last)
    ratios = (n - x) / (x + 1)
    odds = (p / (1 - p))[:, None]
    start = min(max(round(n * float(p.mean())), first), last) - first
    with np.errstate(under="ignore"):
        above = np.cumprod(ratios[start:] * odds, axis=1)
        below = np.cumprod(1 / (ratios[:start][::-1] * odds), axis=1)[:, ::-1]
        weights: FloatArray = np.concatenate([below, np.ones((len(p), 1)), above], axis=1)
        return weights / weights.sum(axis=1, keepdims=True)


@lru_cache(maxsize=4)
def _first_half(size: int) -> FloatArray:
    """Matrix that gives the Bernstein coefficients on the first half."""
    from scipy.linalg import pascal  # slow to load, and seldom needed

    half: FloatArray = pascal(size, kind="lower").astype(float) / 2.0 ** np.arange(size)[:, None]
    return half


@lru_cache(maxsize=4)
def _pieces(n: int, low: float, high: float) -> tuple[FloatArray, FloatArray, IntArray, FloatArray]:
    """The cells that meet a range, cut off at its ends: starts, ends, counts and weights, equally many of each."""
    pieces = []
    for cell in cells(n, low, high):
        start, end = max(low, cell.low), min(high, cell.high)
        weights = cell.weights
        if (start, end) != (cell.low, cell.high):
            ends = (np.full(weights.shape[1], place) for place in cell.inside(np.array([start, end])))
            weights = restrict(weights.T, *ends).T
        pieces.append(Cell(start, end, cell.first, weights))
    width = max(piece.weights.shape[1] for piece in pieces)
    first = np.array([min(piece.first, n + 1 - width) for piece in pieces])
    table = np.zeros((len(pieces), NODES, width))
    for index, piece in enumerate(pieces):
        offset = piece.first - first[index]
        table[index, :, offset : offset + piece.weights.shape[1]] = piece.weights
    starts, ends = np.array([[piece.low, piece.high] for piece in pieces]).T
    return starts, ends, first[:, None] + np.arange(width), table
