"""δ of M independent releases of the same confidential table: the largest over all neighbours."""

import dataclasses
import heapq
from collections.abc import Collection

import numpy as np

from dpviz.core.types import FloatArray
from dpviz.mechanisms import Synthesizer, WorstCase
from dpviz.mechanisms.prior import PriorSynthesizer
from dpviz.privacy.composition import DiscreteLosses, composed_delta

MOST_SPLITS = 500  # Blocks of pairs that are cut in two
LOSS_GRID_RESOLUTION = 1e-2  # Of the grid of losses: δ is rounded up by about this, squared, relative to itself


def delta_of_sets(release: Synthesizer, sets: int, epsilon: float, pairs: Collection[int] | None = None) -> WorstCase:
    """Return the smallest δ for which M sets together are (ε, δ)-differentially private, rounded up, and where.

    All sets are drawn from the same table, so that all have the same neighbours, and the losses of a pair add. The
    value is the upper end of `composed_delta`, never below the exact one. It is the largest over both directions of all
    neighbours, or of those in `pairs`. Where invented rows protect, neighbours that cannot be the worst are left out.

    Two sets with the rows (2/3, 1/3) and (1/3, 2/3), at ε = ln 2: both say the same with 4/9, of which half is excused.

    >>> from dpviz.mechanisms import BetaBinomial
    >>> round(delta_of_sets(BetaBinomial(n=1, m=1, alpha=1, beta=1), 2, np.log(2)).value, 12)
    0.222222222222
    """
    if pairs is None and isinstance(release, PriorSynthesizer):
        return _worst_of_blocks(release, sets, epsilon)
    chosen = np.arange(len(release.neighbours)) if pairs is None else np.array(sorted(pairs))
    columns = np.arange(release.shape[1])
    log_odds = release.log_odds(chosen, columns)
    found = []
    for sign, (likelier, other) in ((1, release.neighbours[chosen].T), (-1, release.neighbours[chosen].T[::-1])):
        log_masses = release.log_transition(likelier, columns)
        for row, first, second in zip(range(len(chosen)), likelier.tolist(), other.tolist(), strict=True):
            upper = _composed(sign * log_odds[row], log_masses[row], sets, epsilon)
            found.append(WorstCase(upper, first, second))
    return max(found, key=lambda one: one.value)


def _composed(log_odds: FloatArray, log_masses: FloatArray, sets: int, epsilon: float) -> float:
    some = log_masses > -np.inf
    losses = DiscreteLosses(log_odds[some], log_masses[some])
    return composed_delta(losses, sets, epsilon, LOSS_GRID_RESOLUTION, only_upper=True).upper


def _worst_of_blocks(release: PriorSynthesizer, sets: int, epsilon: float) -> WorstCase:
    """Return the worst neighbours by branch and bound: a block of pairs is at most what all of them share tells.

    As many looks as `MOST_SPLITS` leave blocks that may still be worse; then the largest of their bounds is the value.
    """
    directions = [release] if release.alpha == release.beta else [release, release.mirrored]
    columns = np.arange(release.m + 1)

    def upper(turned: int, first: int, last: int) -> float:
        """Of the table with a one more."""
        shared = directions[turned].of_pairs(first, last)
        (log_odds,) = shared.log_odds(np.array([0]), columns)
        (log_masses,) = shared.log_transition(np.array([1]), columns)
        return _composed(-log_odds, log_masses, sets, epsilon)

    ends = {(turned, end): upper(turned, end, end) for turned in range(len(directions)) for end in (0, release.n - 1)}
    best, value = max(ends.items(), key=lambda one: one[1])
    waiting = [(-1.0, turned, 0, release.n - 1) for turned in range(len(directions))]
    for _ in range(MOST_SPLITS):
        if not waiting or -waiting[0][0] <= value:
            break
        _, turned, first, last = heapq.heappop(waiting)
        middle = (first + last) // 2
        for a, b in ((first, middle), (middle + 1, last)) if first < last else ():
            bound = ends[turned, a] if a == b and (turned, a) in ends else upper(turned, a, b)
            if a == b and bound > value:
                best, value = (turned, a), bound
            elif bound > value:
                heapq.heappush(waiting, (-bound, turned, a, b))
    turned, pair = best
    found = delta_of_sets(release, sets, epsilon, [release.n - 1 - pair if turned else pair])
    return dataclasses.replace(found, value=-waiting[0][0]) if waiting and -waiting[0][0] > value else found
