"""M draws from the row of every count, as sums of those from the rows at a few nodes: Chebyshev's interpolation.

Given x the M sets are independent draws from row x, and row x is nearly a polynomial in x. So are the probabilities of
all releases of M sets, which follow for every x from those at few nodes between the smallest and the largest x.
"""

import math
from typing import NamedTuple

import numpy as np
from numpy.polynomial.chebyshev import chebvander

from dpviz.core.types import FloatArray

INTERPOLATION_ERROR = 2.5e-10  # Half of the total variation by which the distribution given any x may be off
FEWER = 0.8  # Share of the counts up to which nodes take less time
STEEPEST = 3.0  # Degree of the rows, in square roots of the number of counts, beyond which no polynomial is tried
LOG_RADII = np.linspace(0.3, 2.0, 18)  # Sizes of Bernstein's ellipse at which the bound is tried
FIT_MARGIN = 20.0  # How many times as near as `within` the rows are fitted
HALF_ELLIPSE = 4  # Points of half an ellipse, for each degree of the rows, at which they are looked at


class Nodes(NamedTuple):
    """Rows, about distributions of one set each, and for each count the `shares` of theirs that make its distribution.

    What the M draws given a count do is off by `error` at most, in total variation.
    """

    rows: FloatArray
    shares: FloatArray
    error: float

    @property
    def growth(self) -> float:
        """How many times as much as at the nodes may be left out at a count."""
        return float(np.abs(self.shares).sum(axis=1).max())


def at_few_nodes(
    rows: FloatArray, sets: int, within: float = INTERPOLATION_ERROR, *, alike: bool = False
) -> Nodes | None:
    """Return nodes for the rows of counts one after the other, `within` twice this, or None where all are about as few.

    The rows are fitted by a polynomial in t, from −1 at the first count to 1 at the last, in Chebyshev's basis. On the
    ellipse around −1 and 1 with half axes (ρ ± 1/ρ)/2 the sum of the moduli of a row is at most g, and of M draws g^M:
    interpolated at K of Chebyshev's nodes these are off by at most 4 g^M ρ^{1−K} / (ρ − 1) (Trefethen, 2013, theorem
    8.2). On the ellipse the rows are trigonometric polynomials, so g is the largest at points of it / cos(π/8), which
    are 8 times as many as their degree (Ehlich & Zeller, 1964). Where the rows treat ones and zeros `alike`, so do the
    nodes, to the digit.
    Rows that are a line in x: those of any number of draws are polynomials of that degree.

    >>> line = np.linspace(0.3, 0.7, 41)
    >>> found = at_few_nodes(np.column_stack([line, 1 - line]), 2)
    >>> len(found.rows) < 20, bool(np.abs(found.shares @ found.rows[:, 0] ** 2 - line**2).max() < found.error < 1e-9)
    (True, True)
    """
    count = len(rows)
    most = min(int(STEEPEST * math.sqrt(count)), int(FEWER * count) - 1)
    if most < 1:
        return None
    places = np.linspace(-1.0, 1.0, count)
    powers = chebvander(places, most)
    basis, triangle = np.linalg.qr(powers)
    parts, rest = basis.T @ rows, rows.copy()
    for degree in range(most + 1):
        rest -= np.multiply.outer(basis[:, degree], parts[degree])
        if FIT_MARGIN * sets * np.abs(rest).sum(axis=1).max() <= within:
            break
    fitted: FloatArray = np.linalg.solve(triangle[: degree + 1, : degree + 1], parts[: degree + 1])
    if alike:
        fitted = (fitted + (-1.0) ** np.arange(degree + 1)[:, None] * fitted[:, ::-1]) / 2
    off = float(np.abs(rows - powers[:, : degree + 1] @ fitted).sum(axis=1).max())
    number = _nodes_needed(fitted, sets, within)
    if 2 * sets * off > within or number > FEWER * count:
        return None
    nodes = -np.cos((np.arange(number) + 0.5) * math.pi / number)
    weights = 2 / number * chebvander(nodes, number - 1)
    weights[:, 0] /= 2
    return Nodes(chebvander(nodes, degree) @ fitted, chebvander(places, number - 1) @ weights.T, 2 * within)


def _nodes_needed(fitted: FloatArray, sets: int, within: float) -> int:
    """Return the fewest nodes with which the bound is at most `within`, at any size of the ellipse."""
    degrees, half = (
        np.arange(len(fitted)),
        np.linspace(0.0, math.pi, HALF_ELLIPSE * len(fitted) + 1),
    )  # the other is alike
    turns = np.exp(1j * np.multiply.outer(half, degrees))
    found = math.inf
    for size in LOG_RADII.tolist():
        outer = np.exp(size * degrees)
        on_ellipse = (turns * outer + np.conj(turns) / outer) / 2 @ fitted
        largest = float(np.abs(on_ellipse).sum(axis=1).max()) / math.cos(math.pi / 8)
        needed = math.log(4 / math.expm1(size)) + sets * math.log(largest) - math.log(within)
        found = min(found, 1 + math.ceil(needed / size))
    return max(int(found), 2)
