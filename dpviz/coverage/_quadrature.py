"""M draws from the row of a random count, as those from a few rows: Gauss's quadrature for the distribution of x.

Given x the M sets are independent draws from row x, and row x is nearly a polynomial in x. So a mixture over many x is
one over the few nodes at which polynomials of twice their number have the same mean.
"""

from typing import NamedTuple

import numpy as np

from dpviz.core.types import FloatArray, IntArray

QUADRATURE_ERROR = 1e-10  # Total variation, about, by which the mixture over the nodes may be off
NODES = 4, 6, 8, 10, 12, 15, 18, 22, 26  # How many are tried
WORTHWHILE = 0.7  # Share of the rows up to which nodes take less time
ROUNDED_SIZE = 1e-15  # Of a vector that is nothing but rounding
RADII = np.geomspace(1.02, 60.0, 40)  # Where Cauchy's bound of the coefficients of a power series is tried


class Mixture(NamedTuple):
    """Rows, each a distribution of one set, their weights, and by how much the mixture over them is off."""

    rows: FloatArray
    weights: FloatArray
    error: float


def at_nodes(
    counts: IntArray, rows: FloatArray, weights: FloatArray, sets: int, within: float = QUADRATURE_ERROR
) -> Mixture:
    """Return about the same mixture of M independent draws from one row: over nodes, or itself if that is no shorter.

    It is off by 2 `within` at most, in total variation.

    With a_j the orthonormal polynomials of the distribution of x, row x is Σ_j a_j(x) B_j, cut off where the rest is
    nothing. K nodes have the mean of each product of such polynomials of a degree in all below 2K; those of the others
    have ‖B_j‖ Π |a_j(x)| as a bound, and Cauchy's, g(r)^M / r^{2K} with g(r) = Σ_j |a_j(x)| ‖B_j‖ r^j, of their sum.
    Rows at nodes may have entries below 0. Source: Golub & Welsch (1969) for nodes and weights.
    Draws whose rows are a line in x: two nodes, ±1 standard deviation away, have the right mean of squares.

    >>> line = np.linspace(0.4, 0.6, 41)
    >>> weights = np.full(41, 1 / 41)
    >>> found = at_nodes(np.arange(41), np.column_stack([line, 1 - line]), weights, 2)
    >>> bool(len(found.rows) < 15), bool(abs(found.weights @ found.rows[:, 0] ** 2 - weights @ line**2) < 1e-12)
    (True, True)
    """
    itself, tried = Mixture(rows, weights, 0.0), [one for one in NODES if one <= WORTHWHILE * len(counts)]
    if not tried:
        return itself
    mass = float(weights.sum())
    share = weights / mass
    polynomials, diagonal, beside = _orthonormal(counts, share, 2 * tried[-1])
    parts = (polynomials * share[:, None]).T @ rows
    squares = _squares(parts)
    for number in tried:
        used = 2 * number
        if used > polynomials.shape[1]:
            break
        growth = (squares[:used] * RADII[:, None] ** np.arange(used)).T
        with np.errstate(over="ignore"):
            means = share @ (polynomials[:, :used] ** 2 @ growth) ** (sets / 2)
        if 2 * (means / RADII**number).min() > within:
            continue
        rest = float(share @ np.abs(rows - polynomials[:, :used] @ parts[:used]).sum(axis=1))
        between = np.diag(beside[: number - 1], 1)
        nodes, vectors = np.linalg.eigh(np.diag(diagonal[:number]) + between + between.T)
        shares, at = vectors[0] ** 2, _recurrence(nodes, diagonal, beside, used)
        with np.errstate(over="ignore"):
            means += shares @ (at**2 @ growth) ** (sets / 2)
        error = float((means / RADII**number).min()) + 2 * sets * rest
        if error <= 2 * within:
            return Mixture(at @ parts[:used], mass * shares, error)
    return itself


def _squares(parts: FloatArray) -> FloatArray:
    """Return s with ‖Σ_j c_j B_j‖² ≤ Σ_j c_j² s_j, whatever c is, in the mean of squares under B_0 (Gershgorin)."""
    scaled = np.divide(parts, np.sqrt(parts[0]), out=np.zeros_like(parts), where=parts[0] > 0)
    products = scaled @ scaled.T
    products[0, 1:] = products[1:, 0] = 0.0  # the entries of the others sum to 0
    sizes = np.maximum(np.sqrt(np.diag(products)), ROUNDED_SIZE)
    found: FloatArray = sizes * (np.abs(products) / sizes).sum(axis=1)
    return found


def _orthonormal(counts: IntArray, shares: FloatArray, most: int) -> tuple[FloatArray, FloatArray, FloatArray]:
    """Return the orthonormal polynomials of a distribution at its counts, and their recurrence (Lanczos's rule)."""
    root = np.sqrt(shares)
    found, diagonal, beside = [root], list[float](), list[float]()
    for place in range(most):
        last = found[-1]
        step = counts * last
        diagonal.append(float(last @ step))
        basis = np.array(found)
        for _ in range(2):  # the second time for the digits that the first one lost
            step = step - (basis @ step) @ basis
        size = float(np.sqrt(step @ step))
        beside.append(size)
        if place + 1 == most or size <= 1e-10 * np.ptp(counts):
            break
        found.append(step / size)
    return np.array(found).T / root[:, None], np.array(diagonal), np.array(beside)


def _recurrence(nodes: FloatArray, diagonal: FloatArray, beside: FloatArray, degree: int) -> FloatArray:
    """Return the first of these polynomials at other places."""
    found = np.zeros((degree, len(nodes)))
    found[0] = 1.0
    for place in range(degree - 1):
        before = beside[place - 1] * found[place - 1] if place else 0.0
        found[place + 1] = ((nodes - diagonal[place]) * found[place] - before) / beside[place]
    return found.T
