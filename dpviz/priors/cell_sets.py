"""The prior that M independent sets of k > 2 counts need together: the one pair of neighbours that is the worst."""

from __future__ import annotations

import math
from collections.abc import Callable

from scipy.optimize import brentq

from dpviz.limits import ROWS_OF_CELL_SETS
from dpviz.parameters import DELTA, EPSILON, readable
from dpviz.priors._set_search import TOLERANCE
from dpviz.priors.exact import minimum_prior
from dpviz.priors.releases import method_called
from dpviz.priors.sets import ALMOST_NONE, bracket_of, check_all_rows, minimum_prior_for_sets
from dpviz.privacy.composition import SETS, Bracket, composed_delta


def minimum_prior_for_cell_sets(
    method: str, *, n: int, m: int, cells: int, sets: int, epsilon: float, delta: float
) -> Bracket:
    """The least prior α in each of k cells with which M sets together are (ε, δ)-differentially private, exactly.

    The worst neighbours hold their only row of two cells in one or in the other, everything else elsewhere, whatever
    M is: more pseudo-rows are never less private, set by set. So one pair is composed. M sets of a plug-in are one set
    of Mm rows; PARAM_Post tells neither k nor n (its two cells' total has one law under both tables).

    n and m are at most 100,000, for SYNTH_Post(One) with δ > 0 at most 1,000; k is 3 to 1,000, M 1 to 1,000. `upper` is
    private for sure, `lower` is not.

    Source: Zheng (2015), §6.4 and Proposition 2.17, made exact.

    Examples
    --------
    One row and two sets of one draw without δ: each has odds 1 + 1/α at most, together 4 where α = 1.

    >>> asked = dict(n=1, m=1, cells=3, sets=2, epsilon=math.log(4), delta=0.0)
    >>> round(minimum_prior_for_cell_sets("synth_post_one", **asked).upper, 9)
    1.0
    """
    made = method_called(method)
    sets, epsilon, delta = int(SETS.check(sets)), EPSILON.check(epsilon), DELTA.check(delta)
    if not made.knows_cells:
        return minimum_prior_for_sets(method, n=1, m=1, sets=sets, epsilon=epsilon, delta=delta).exact
    if made.independent:
        check_all_rows(sets * m)
        return bracket_of(minimum_prior(method, n=n, m=sets * m, epsilon=epsilon, delta=delta, cells=cells))
    pure = minimum_prior(method, n=n, m=m, epsilon=epsilon / sets, cells=cells)
    if delta == 0:
        return Bracket(pure, pure)
    alone = minimum_prior(method, n=n, m=m, epsilon=epsilon, delta=delta, cells=cells)
    if sets == 1:
        return bracket_of(alone)
    if max(n, m) > ROWS_OF_CELL_SETS:
        raise ValueError(
            f"n and m must be at most {ROWS_OF_CELL_SETS:,} for several sets of {cells} cells; "
            f"got {readable(max(n, m))}."
        )

    def composed(alpha: float) -> Bracket:
        return composed_delta(made.cell_losses(n, m, alpha, cells), sets, epsilon)

    split = minimum_prior(method, n=n, m=m, epsilon=epsilon / sets, delta=delta / sets, cells=cells)
    low, high = max(alone * (1 - TOLERANCE), ALMOST_NONE), min(pure, split)
    upper = _crossing(lambda alpha: composed(alpha).upper, delta, low, high)
    while upper < high and composed(upper).upper > delta:
        upper *= 1 + TOLERANCE / 10
    lower = _crossing(lambda alpha: composed(alpha).lower, delta, low, upper)
    while lower > low and composed(lower).lower <= delta:
        lower *= 1 - TOLERANCE / 10
    return Bracket(max(lower, low), min(upper, high))


def _crossing(delta_of: Callable[[float], float], delta: float, low: float, high: float) -> float:
    """Where a falling δ(α) passes `delta` in [low, high], or the end beyond which it does."""

    def excess(log_alpha: float) -> float:
        return math.log(max(delta_of(math.exp(log_alpha)), 1e-320) / delta)

    ends = math.log(low), math.log(high)
    if excess(ends[1]) > 0:
        return high
    if excess(ends[0]) <= 0:
        return low
    return math.exp(float(brentq(excess, *ends, xtol=TOLERANCE / 20)))
