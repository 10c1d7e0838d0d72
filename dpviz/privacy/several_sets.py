"""δ of M independent releases of the same confidential table: the largest over all neighbours."""

from collections.abc import Collection

import numpy as np

from dpviz.privacy.composition import DiscreteLosses, composed_delta
from dpviz.synthesizers import Synthesizer, WorstCase

RESOLUTION = 1e-2  # Of the grid of losses: δ is rounded up by about this, squared, relative to itself


def delta_of_sets(release: Synthesizer, sets: int, epsilon: float, pairs: Collection[int] | None = None) -> WorstCase:
    """Return the smallest δ for which M sets together are (ε, δ)-differentially private, rounded up, and where.

    All sets are drawn from the same table, so that all have the same neighbours, and the losses of a pair add. The
    value is the upper end of `composed_delta`, never below the exact one. It is the largest over both directions of all
    neighbours, or of those in `pairs`.

    Two sets with the rows (2/3, 1/3) and (1/3, 2/3), at ε = ln 2: both say the same with 4/9, of which half is excused.

    >>> from dpviz.synthesizers import BetaBinomial
    >>> round(delta_of_sets(BetaBinomial(n=1, m=1, alpha=1, beta=1), 2, np.log(2)).value, 12)
    0.222222222222
    """
    chosen = np.arange(len(release.neighbours)) if pairs is None else np.array(sorted(pairs))
    columns = np.arange(release.shape[1])
    log_odds = release.log_odds(chosen, columns)
    found = []
    for sign, (likelier, other) in ((1, release.neighbours[chosen].T), (-1, release.neighbours[chosen].T[::-1])):
        log_masses = release.log_transition(likelier, columns)
        for row, first, second in zip(range(len(chosen)), likelier.tolist(), other.tolist(), strict=True):
            some = log_masses[row] > -np.inf
            losses = DiscreteLosses(sign * log_odds[row, some], log_masses[row, some])
            upper = composed_delta(losses, sets, epsilon, RESOLUTION, only_upper=True).upper
            found.append(WorstCase(upper, first, second))
    return max(found, key=lambda one: one.value)
