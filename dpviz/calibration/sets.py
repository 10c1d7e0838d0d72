"""The prior that M independent synthetic sets of the same data need together for one promise."""

import math
from collections.abc import Callable
from contextlib import suppress
from functools import partial

from scipy.optimize import brentq, minimize_scalar

from dpviz.calibration._set_search import BRACKET_WIDTH, SetSearch
from dpviz.calibration.base import TWO_CELLS_OR_MORE
from dpviz.calibration.exact import LARGEST_SOUGHT, minimum_prior
from dpviz.calibration.methods import CALIBRATED_METHODS, PriorMethod
from dpviz.core.checked import checked
from dpviz.core.declarations import COMPOSED_SETS, MANY_ROWS, MANY_SYNTHETIC_ROWS
from dpviz.core.limits import LARGEST_PRIOR_ROWS, ROWS_OF_CELL_SETS
from dpviz.core.numerics.steps import Steps, finished
from dpviz.core.parameters import DELTA, EPSILON, readable
from dpviz.privacy.composition import DeltaBracket, advanced_composition
from dpviz.privacy.gaussian import gaussian_ratio

ALMOST_NONE = 1e-291  # A prior that counts as none; the search for a larger one starts from it

FAR_BELOW = 100.0  # How much smaller than a guess no prior is sought before a smallest one is known for sure

UNSEEN_SHARE = 1e-10  # Share of δ that may be left out of the losses of M sets; bounds from above count it
# δ of several sets whose losses must be added up: below it the numbers are too small for that
SMALLEST_COMPOSED_DELTA = 1e-150


def minimum_prior_for_sets(
    method: str, *, n: int, m: int, sets: int, epsilon: float, delta: float, cells: int = 2
) -> DeltaBracket:
    """Return the smallest α in every cell with which M sets together are (ε, δ)-DP: `upper` is private, `lower` not.

    Two cells: the largest δ_M(ε; α) over all n pairs of neighbours is δ. More: the worst neighbours hold their only row
    of two cells in one or in the other, everything else elsewhere, whatever M is; PARAM_Post then tells neither k nor
    n. M sets of a plug-in are one set of Mm rows. Without δ each set has ε/M. Usually 1e-6 wide, relative. Source:
    Zheng (2015), Proposition 2.17, Theorem 2.18 and §6.4, made exact; Charest (2011) for ε/M each.

    One row and two sets of one draw: each has odds 1 + 1/α at most, together 4 where α = 1.

    >>> found = minimum_prior_for_sets("synth_post_one", n=1, m=1, sets=2, epsilon=math.log(4), delta=0.0)
    >>> round(found.upper, 9)
    1.0
    """
    return finished(minimum_prior_in_steps(method, n=n, m=m, sets=sets, epsilon=epsilon, delta=delta, cells=cells))


@checked(
    method=CALIBRATED_METHODS,
    n=MANY_ROWS,
    m=MANY_SYNTHETIC_ROWS,
    sets=COMPOSED_SETS,
    epsilon=EPSILON,
    delta=DELTA,
    cells=TWO_CELLS_OR_MORE,
)
def minimum_prior_in_steps(
    method: str, *, n: int, m: int, sets: int, epsilon: float, delta: float, cells: int = 2
) -> Steps[DeltaBracket]:
    """`minimum_prior_for_sets` that stops before every composition of the losses of the sets."""
    made = CALIBRATED_METHODS[method]
    if 0 < delta < SMALLEST_COMPOSED_DELTA and sets > 1 and not made.independent:
        smallest = f"0, or at least {readable(SMALLEST_COMPOSED_DELTA)} for several sets of a posterior draw"
        raise ValueError(f"delta (allowed failure) must be {smallest}; got {readable(delta)}.")
    if epsilon / sets < EPSILON.minimum:
        raise ValueError(f"epsilon must be at least {readable(EPSILON.minimum)} for each set; got {readable(epsilon)}.")
    if cells > 2 and not made.knows_cells:
        n, m, cells = 1, 1, 2

    def single(share: float, failure: float, rows: int = m) -> float:
        return minimum_prior(method, n=n, m=rows, epsilon=share, delta=failure, cells=cells)

    if delta == 0:
        pure = single(epsilon / sets, 0.0)
        return DeltaBracket(pure, pure)
    if made.independent and sets * m > LARGEST_PRIOR_ROWS:
        most = f"at most {LARGEST_PRIOR_ROWS:,} for several sets of a plug-in; got {readable(sets * m)}"
        raise ValueError(f"sets times m (all synthetic rows together) must be {most}.")
    if made.independent or sets == 1:
        prior = single(epsilon, delta, sets * m)
        return DeltaBracket(prior * (1 - BRACKET_WIDTH), prior)
    if cells > 2 and max(n, m) > ROWS_OF_CELL_SETS:
        most = f"at most {ROWS_OF_CELL_SETS:,} for several sets of {cells} cells"
        raise ValueError(f"n and m must be {most}; got {readable(max(n, m))}.")
    high = single(epsilon / sets, 0.0)
    high = high if high < math.inf else single(epsilon / sets, delta / sets)
    pairs, losses = n, partial(made.losses, m=m)
    if cells > 2:
        pairs, losses = 1, partial(made.cell_losses, n, m, cells, UNSEEN_SHARE * delta / sets)

    def search(low: float, high: float, start: float) -> Steps[DeltaBracket]:
        return SetSearch(losses, pairs, sets, epsilon, delta, low, high, start, made.log_density).bracket()

    guess = math.nan
    if cells == 2:
        with suppress(ValueError):  # a method that says nothing of its variance has no guess
            guess = _normal_guess(made, n, m, sets, epsilon, delta)
    if ALMOST_NONE < guess / FAR_BELOW < high:
        found = yield from search(guess / FAR_BELOW, high, min(guess, high / 2))
        if found.lower >= guess / FAR_BELOW:  # which has not been shown to be too small itself
            return found
    low = max(single(epsilon, delta), ALMOST_NONE)
    high = min(high, single(epsilon / sets, delta / sets))
    return (yield from search(low, high, math.sqrt(low * high)))


def _normal_guess(made: PriorMethod, n: int, m: int, sets: int, epsilon: float, delta: float) -> float:
    """About the prior that would be the smallest if the losses were normal: the mean of the released proportions is."""
    most = gaussian_ratio(epsilon, delta) / math.sqrt(sets)  # Distance of two neighbours in standard deviations of it

    def excess(log_prior: float) -> float:
        alpha = math.exp(log_prior)
        rows = n + 2 * alpha
        return 1 / math.sqrt(alpha * (rows - alpha) * made.spread(rows, m)) - most

    low, high = math.log(ALMOST_NONE), math.log(LARGEST_SOUGHT)
    if not excess(low) > 0 > excess(high):
        return math.nan
    return math.exp(brentq(excess, low, high, xtol=1e-2))


def smallest_by_advanced(
    single: Callable[[float, float], float], sets: int, epsilon: float, delta: float
) -> tuple[float, float]:
    """Return what M sets need by advanced composition with the best slack δ' = δ / (1 + e^{−t}), and that slack.

    Each set gets (ε0, δ0): ε0 is the largest that Theorem 2.18 takes to ε with slack δ', and δ0 = (δ − δ') / M.
    `single` is what one set needs for (ε0, δ0), the more the more private: a prior, or one over a range. Infinite where
    every split leaves a set less than the smallest ε. Source: Zheng (2015), Theorem 2.18, after Dwork, Rothblum &
    Vadhan (2010). Where a set needs 1/ε0 whatever its δ, all of δ is best spent as slack.

    >>> need, slack = smallest_by_advanced(lambda epsilon, delta: 1 / epsilon, 4, 1.0, 1e-6)
    >>> slack, round(need, 3)
    (1e-06, 10.897)
    """

    def at(t: float) -> tuple[float, float]:
        slack, share = delta / (1 + math.exp(-t)), delta / (1 + math.exp(t)) / sets if t < math.inf else 0.0
        limit = epsilon / math.sqrt(-2 * sets * math.log(slack))
        each = float(
            brentq(lambda e: advanced_composition(e, sets, slack) - epsilon, 0.0, limit, xtol=1e-13 * limit, rtol=1e-13)
        )
        step = 1e-15
        while advanced_composition(each, sets, slack) > epsilon:
            each, step = each * (1 - step), 2 * step
        return single(each, share) if each >= EPSILON.minimum else math.inf, slack

    best = minimize_scalar(
        lambda t: math.log(min(at(t)[0], 1e300)), bounds=(-8.0, 8.0), method="bounded", options={"xatol": 1e-2}
    )
    return min(at(float(best.x)), at(math.inf))
