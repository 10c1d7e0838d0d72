"""The smallest error with (ε, δ): a linear programme over numbers on a grid, and a bound that no number undercuts."""

import math
from dataclasses import dataclass

import numpy as np
from scipy import sparse
from scipy.optimize import linprog

from dpviz.types import BoolArray, FloatArray, IntArray

OPTIONS = {"primal_feasibility_tolerance": 1e-10, "dual_feasibility_tolerance": 1e-10}
AMPLE = 1.5  # Times the reach of noise on whole numbers that the channel has, for those in between and near the ends
BETWEEN = np.geomspace(1e-6, 0.5, 40)  # Where between two numbers the bound looks, in parts of their distance


@dataclass(frozen=True)
class Solution:
    """The channel with the smallest error under a prior, and the bound on the error of every other."""

    channel: FloatArray
    bound: float
    missed: FloatArray  # Numbers that keep the bound low: the programme should have had them


def solve(numbers: FloatArray, prior: FloatArray, epsilon: float, delta: float) -> Solution | None:
    """Minimize Σ_x prior[x] Σ_j T[x, j] (numbers[j] − x)² over all (ε, δ)-differentially private channels T.

    Numbers and prior are symmetric about n/2, and the mean of a channel and its mirror image is as private and as good:
    the columns of the left half stand for all. For neighbours (x, x') variables E[x, x', j] ≥ T[x, j] − e^ε T[x', j]
    sum to δ at most. T is 0 farther from x than noise on whole numbers reaches, as far as that allows a solution; the
    bound holds whatever T is. None where the solver gives up, as it may where e^ε is huge. Source: Ghosh, Roughgarden &
    Sundararajan (2009), §2.4, with δ as in Dwork et al. (2006).
    """
    away = np.abs(numbers[: (len(numbers) + 1) // 2] - np.arange(len(prior))[:, None])
    reach = AMPLE * _reach(epsilon, delta) + 2 * float(np.diff(numbers).max())
    for near, method in ((away <= reach, "highs-ipm"), (away < math.inf, "highs-ds")):
        if found := _solve(numbers, prior, epsilon, delta, near, method):
            return found
    return None


def _reach(epsilon: float, delta: float) -> float:
    """How far noise on whole numbers reaches whose probabilities fall by e^ε a step, to δ at its ends."""
    if delta == 0:
        return math.inf
    return math.log1p(math.expm1(epsilon) / (2 * delta)) / epsilon if epsilon > 0 else 1 / (2 * delta)


def _solve(
    numbers: FloatArray, prior: FloatArray, epsilon: float, delta: float, near: BoolArray, method: str
) -> Solution | None:
    """`solve` with a T that is 0 elsewhere than `near`, by one method."""
    n, half = len(prior) - 1, near.shape[1]
    share = np.ones(half)
    if len(numbers) % 2:
        share[-1] = 0.5  # The middle column is its own mirror image
    loss = prior[:, None] * (numbers[:half] - np.arange(n + 1)[:, None]) ** 2
    x, column = np.nonzero(near)
    cells = len(x)
    place = np.full(near.shape, -1)
    place[x, column] = np.arange(cells)
    # E of the cell of x against its upper neighbour, then against its lower one
    own = np.concatenate([np.flatnonzero(x < n), np.flatnonzero(x > 0)])
    step = np.where(np.arange(len(own)) < np.count_nonzero(x < n), 1, -1)
    other, excess = place[x[own] + step, column[own]], np.arange(len(own))
    both = other >= 0
    pair = np.where(step > 0, x[own], n - x[own])  # The mirror of a pair has as much δ
    limits = _matrix(
        (excess, own, np.ones(len(own))),
        (excess[both], other[both], np.full(np.count_nonzero(both), -math.exp(epsilon))),
        (excess, cells + excess, -np.ones(len(own))),
        (len(own) + pair, cells + excess, share[column[own]]),
        shape=(len(own) + n, cells + len(own)),
    )
    rows = n // 2 + 1
    middle = np.flatnonzero(2 * x == n)  # The mirror image of this row is itself
    whole = _matrix(
        (np.minimum(x, n - x), np.arange(cells), share[column]), (x[middle], middle, share[column[middle]]),
        shape=(rows, cells + len(own)),
    )  # fmt: skip
    found = linprog(
        np.concatenate([2 * (share * loss)[near], np.zeros(len(own))]),
        A_ub=limits,
        b_ub=np.concatenate([np.zeros(len(own)), np.full(n, delta)]),
        A_eq=whole,
        b_eq=np.ones(rows),
        method=method,
        options=OPTIONS,
    )
    if found.status != 0:
        return None
    left = np.zeros(near.shape)
    left[near] = np.maximum(found.x[:cells], 0.0)
    left *= share
    channel = np.zeros((n + 1, len(numbers)))
    channel[:, :half] += left
    channel[:, len(numbers) - half :] += left[::-1, ::-1]
    each = np.where(2 * np.arange(rows) == n, 1.0, 0.5) * found.eqlin.marginals
    levels = np.concatenate([each, each[: n + 1 - rows][::-1]])
    prices = np.maximum(-found.ineqlin.marginals[len(own) :], 0.0) / 2
    channel /= channel.sum(axis=1, keepdims=True)
    return Solution(channel, *_bound(numbers, prior, epsilon, delta, levels, prices))


def _matrix(*entries: tuple[IntArray, IntArray, FloatArray], shape: tuple[int, int]) -> sparse.csr_array:
    """A sparse matrix out of rows, columns and values."""
    rows, columns, values = (np.concatenate(parts) for parts in zip(*entries, strict=True))
    return sparse.csr_array((values, (rows, columns)), shape=shape)


def _bound(
    numbers: FloatArray, prior: FloatArray, epsilon: float, delta: float, levels: FloatArray, prices: FloatArray
) -> tuple[float, FloatArray]:
    """Return a bound from below on the error of every (ε, δ)-differentially private release, and what keeps it low.

    `prices[x]` is what a unit of δ costs the pair (x, x + 1) and (n − x, n − x − 1). The bound is Σ levels − δ Σ prices
    if for every number y there are 0 ≤ u[x, x'] ≤ price with, for all x,
        levels[x] ≤ prior[x] (y − x)² + Σ_{x'} (u[x, x'] − e^ε u[x', x]), the sum over the neighbours x' of x.
    (Multiply by Pr(y | x) and sum.) The u follow one after the other, the smallest first, from both ends to the x next
    to y; by what is missing at an x its level is lowered. Between two y at distance h, u in proportion is short of
    prior[x] h²/4 at most. So the bound holds for any levels and prices, and is as good as they are.
    """
    n = len(prior) - 1
    gaps = np.diff(numbers)[:, None]
    spots = np.unique(
        np.concatenate(
            [numbers, (numbers[:-1, None] + gaps * BETWEEN).ravel(), (numbers[1:, None] - gaps * BETWEEN).ravel()]
        )
    )
    widths = np.diff(spots, prepend=spots[0], append=spots[-1])
    widths = np.maximum(widths[:-1], widths[1:])
    counts = np.arange(n + 1)[:, None]
    needs = levels[:, None] + prior[:, None] * (widths**2 / 4 - (spots - counts) ** 2)
    nearest = np.clip(np.rint(spots).astype(int), 0, n)
    missing, missed = np.zeros(n + 1), np.zeros(n + 1, dtype=int)
    meeting = needs[nearest, np.arange(len(spots))]

    def lower(x: int, by: FloatArray) -> None:
        spot = int(np.argmax(by))
        if by[spot] > missing[x]:
            missing[x], missed[x] = by[spot], spot

    # From the right it is the same as from the left, in the mirror: levels, prior and prices are symmetric
    for order, turn, rows in ((needs, nearest, range(n)), (needs[::-1], n - nearest, range(n, 0, -1))):
        carried = np.zeros(len(spots))
        for x, row in enumerate(rows):
            active = x < turn
            need = order[x] + carried
            lower(row, np.where(active, need - prices[x], 0.0))
            paid = np.minimum(np.maximum(need, 0.0), prices[x])
            spared = np.minimum(np.maximum(-need, 0.0) * math.exp(-epsilon), prices[n - 1 - x])
            carried = np.where(active, math.exp(epsilon) * paid - spared, carried)
        meeting = meeting + carried
    for row in range(n + 1):
        lower(row, np.where(nearest == row, meeting, 0.0))
    bound = float(levels.sum() - missing.sum() - 2 * delta * prices.sum())
    return bound, spots[missed[missing > 0]]
