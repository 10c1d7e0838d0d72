"""δ of M independent releases of the same confidential table: the largest over all neighbours."""

import heapq
import math
from collections.abc import Callable, Collection
from itertools import starmap
from typing import Any

import numpy as np

from dpviz.mechanisms import Synthesizer, WorstCase
from dpviz.mechanisms.pair_divergence import blocks_of_pairs
from dpviz.mechanisms.prior_mechanism import UnderPrior
from dpviz.privacy.pld import PrivacyLossDistribution

MAX_SPLITS = 500  # blocks of pairs that are cut in two: as many pairs may tie, then the largest bound stands for δ


def delta_of_sets(release: Synthesizer, sets: int, epsilon: float, pairs: Collection[int] | None = None) -> WorstCase:
    """Smallest δ for which M sets together are (ε, δ)-differentially private, rounded up, and the pair that has it.

    Parameters
    ----------
    release : Synthesizer
        Of one set. All sets are drawn from the same table, so that the losses of a pair of neighbours add.
    sets : int
        Number M of sets, at least 1.
    epsilon : float
        Of all sets together, at least 0.
    pairs : collection of int, optional
        Places in the neighbours of the release that are looked at; all if left out.

    Examples
    --------
    Two sets with the rows (2/3, 1/3) and (1/3, 2/3), at ε = ln 2: both say the same with 4/9, of which half is excused.

    >>> from dpviz.mechanisms import BetaBinomial
    >>> round(delta_of_sets(BetaBinomial(n=1, m=1, alpha=1, beta=1), 2, np.log(2)).value, 12)
    0.222222222222
    """
    if pairs is None and isinstance(release, UnderPrior):
        return _worst_under_prior(release, sets, epsilon)
    places = np.arange(len(release.neighbours)) if pairs is None else np.array(sorted(pairs))
    columns = np.arange(release.shape[1])
    first, second = release.neighbours[places].T
    log_odds = release.log_odds(places, columns)

    # All pairs in one direction, then in the other
    losses = np.concatenate([log_odds, -log_odds])
    likelier, unlikelier = np.concatenate([first, second]), np.concatenate([second, first])
    outcomes = zip(losses, release.log_transition(likelier, columns), strict=True)
    value, row = _largest_composed_delta(list(starmap(PrivacyLossDistribution.from_outcomes, outcomes)), sets, epsilon)
    return WorstCase(value, int(likelier[row]), int(unlikelier[row]))


def _largest_composed_delta(losses: list[PrivacyLossDistribution], sets: int, epsilon: float) -> tuple[float, int]:
    """Largest composed δ of many losses, and which has it.

    Chernoff: the sum S of M losses has E (1 − e^{ε − S})₊ ≤ e^{M K(λ) − λε} λ^λ / (1 + λ)^{1 + λ} for every λ ≥ 0. The
    tilt of a loss that was composed bounds all others; the one with the largest bound comes next.
    """
    infinite = np.array([loss.infinity_mass for loss in losses])
    if infinite.max() >= 1:  # every release tells the two tables apart
        return 1.0, int(infinite.argmax())
    infinite = -np.expm1(sets * np.log1p(-infinite))
    bounds = np.ones(len(losses))
    value, best = -1.0, 0
    while bounds.max() > value:
        index = int(bounds.argmax())
        delta = losses[index].composed_delta(sets, epsilon)
        bounds[index] = -1.0
        if delta > value:
            value, best = delta, index
        tilt = losses[index].saddle_point(epsilon / sets)
        log_factor = -tilt * epsilon - math.log1p(tilt) - (tilt * math.log1p(1 / tilt) if tilt > 0 else 0.0)
        for other in np.flatnonzero(bounds > value):
            chernoff = math.exp(min(sets * losses[other].log_moments(tilt)[0] + log_factor, 0.0))
            bounds[other] = min(bounds[other], chernoff * (1 + 1e-12) + infinite[other])
    return value, best


def _worst_under_prior(release: UnderPrior, sets: int, epsilon: float) -> WorstCase:
    """Worst neighbours where invented rows protect: more of them are never less private."""
    columns = np.arange(release.m + 1)

    def worst_upward(direction: Any) -> WorstCase:
        def bound(first: int, last: int) -> float:
            shared = direction.of_pairs(first, last)
            log_odds = shared.log_odds(np.array([0]), columns)[0]
            log_masses = shared.log_transition(np.array([1]), columns)[0]
            return PrivacyLossDistribution.from_outcomes(-log_odds, log_masses).composed_delta(sets, epsilon)

        value, pair = largest_over_pairs(bound, release.n)
        return WorstCase(value, pair + 1, pair)

    return release.worse_direction(worst_upward)


def largest_over_pairs(bound: Callable[[int, int], float], n: int, *, enough: float = -1.0) -> tuple[float, int]:
    """Largest value over the pairs 0 … n − 1, and a pair that has it, by branch and bound, the best block first.

    Parameters
    ----------
    bound : callable
        Bound on the values of all pairs from `first` to `last`, exact where both are the same.
    n : int
    enough : float, optional
        A limit that all pairs may keep: the search ends with the first that does not, or where none is left.

    Returns
    -------
    value : float
        If `MAX_SPLITS` blocks did not decide, the largest bound that is left: never below the largest value.
    pair : int
    """
    first, last = blocks_of_pairs(n)
    candidates = sorted(zip(first.tolist(), last.tolist(), strict=True), key=lambda block: block[1] - block[0])
    value = -math.inf
    pair = 0
    blocks: list[tuple[float, int, int]] = []
    for _ in range(MAX_SPLITS):
        for low, high in candidates:
            limit = bound(low, high)
            if low == high and limit > value:
                value, pair = limit, low
            elif low < high and limit > max(value, enough):
                heapq.heappush(blocks, (-limit, low, high))
        if not blocks or -blocks[0][0] <= max(value, enough) or value > enough >= 0:
            return value, pair
        _, low, high = heapq.heappop(blocks)
        middle = (low + high) // 2
        candidates = [(low, middle), (middle + 1, high)]
    return max([value, *(-limit for limit, _, _ in blocks)]), pair
