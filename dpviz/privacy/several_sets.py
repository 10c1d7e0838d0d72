"""δ of M independent releases of the same confidential table: the largest over all neighbours."""

import dataclasses
import heapq
from collections.abc import Collection

import numpy as np

from dpviz.core.types import FloatArray
from dpviz.mechanisms import Synthesizer, WorstCase
from dpviz.mechanisms.prior import PriorSynthesizer
from dpviz.privacy.composition import DiscreteLosses, composed_delta, tail_exponent
from dpviz.privacy.loss_grid import LOSS_ROUNDING, mass_rounding

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
    columns, ends = np.arange(release.shape[1]), release.neighbours[chosen].T
    log_odds = release.log_odds(chosen, columns)
    log_masses = [release.log_transition(likelier, columns) for likelier in ends]
    turned, pair, value = _largest(log_odds, log_masses, sets, epsilon)
    likelier, other = ends[:, pair][:: -1 if turned else 1].tolist()
    return WorstCase(value, likelier, other)


@np.errstate(under="ignore", invalid="ignore", divide="ignore")
def _largest(log_odds: FloatArray, log_masses: list[FloatArray], sets: int, epsilon: float) -> tuple[int, int, float]:
    """Return which of two directions and which pair has the largest δ, and that.

    The tilt of one gives Chernoff's bounds of all: that with the largest bound comes next, first with its own tilt and
    then with its δ, until no bound is above the largest δ.
    """
    signs, finite = (1, -1), np.isfinite(log_odds)
    error = sets * mass_rounding(np.concatenate([one[one > -np.inf] for one in log_masses]))
    by_tilt = LOSS_ROUNDING * (sets * float(np.abs(log_odds[finite]).max(initial=0.0)) + epsilon)
    bounds, endless = np.ones((2, *log_masses[0].shape[:1])), []
    for turned, (sign, masses, first) in enumerate(zip(signs, log_masses, bounds, strict=True)):
        losses = sign * log_odds
        apart = np.flatnonzero(~((masses > -np.inf) & (losses < np.inf)).any(axis=1))
        if len(apart):  # every release tells the two tables apart
            return turned, int(apart[0]), 1.0
        first[sets * np.where(masses > -np.inf, losses, -np.inf).max(axis=1) <= epsilon] = 0.0
        infinite = (np.exp(masses) * (losses == np.inf)).sum(axis=1)
        endless.append(-np.expm1(sets * np.log1p(-np.minimum(infinite, 1.0))))
    found, tilts = dict[int, float](), dict[int, float]()
    while not found or bounds.max() > max(found.values()):
        place = int(bounds.argmax())
        turned, pair = divmod(place, len(log_odds))
        row = _losses(signs[turned] * log_odds[pair], log_masses[turned][pair])
        if place in tilts or not bounds[turned, pair]:
            found[place] = _upper(row, sets, epsilon, tilts.get(place, 0.0))
            bounds[turned, pair] = -np.inf
            continue
        tilt = tilts[place] = row.saddle_point(epsilon / sets)
        for way, (sign, masses) in enumerate(zip(signs, log_masses, strict=True)) if tilt else ():
            rest = np.flatnonzero(bounds[way] > max(found.values(), default=0.0))
            exponents = masses[rest] + tilt * sign * log_odds[rest]
            exponents[~np.isfinite(exponents)] = -np.inf
            top = exponents.max(axis=1, initial=-np.finfo(float).max)
            cumulants = top + np.log(np.exp(exponents - top[:, None]).sum(axis=1))
            at_most = tail_exponent(cumulants, sets, epsilon, tilt) + error + by_tilt * tilt
            bounds[way, rest] = np.minimum(bounds[way, rest], np.exp(np.minimum(at_most, 0.0)) + endless[way][rest])
    value, place = max((value, -place) for place, value in found.items())
    turned, pair = divmod(-place, len(log_odds))
    return turned, pair, value


def _losses(log_odds: FloatArray, log_masses: FloatArray) -> DiscreteLosses:
    some = log_masses > -np.inf
    return DiscreteLosses(log_odds[some], log_masses[some])


def _upper(losses: DiscreteLosses, sets: int, epsilon: float, tilt: float | None = None) -> float:
    return composed_delta(losses, sets, epsilon, LOSS_GRID_RESOLUTION, tilt=tilt, only_upper=True).upper


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
        return _upper(_losses(-log_odds, log_masses), sets, epsilon)

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
