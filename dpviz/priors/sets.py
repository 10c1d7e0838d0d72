"""The prior that M independent synthetic sets of the same data need for one total promise, each way to compose them."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial

from scipy.optimize import brentq, minimize_scalar

from dpviz.limits import PRIOR_ROWS
from dpviz.methods.base import MANY_ROWS, MANY_SYNTHETIC_ROWS
from dpviz.parameters import DELTA, EPSILON, readable
from dpviz.priors._set_search import TOLERANCE, SetSearch
from dpviz.priors.exact import minimum_prior
from dpviz.priors.releases import method_called
from dpviz.privacy.composition import SETS, Bracket

ALMOST_NONE = 1e-291
"""A prior that counts as none; the search for a larger one starts from it."""


@dataclass(frozen=True)
class SetPriors:
    """The least symmetric prior for M sets under one total promise, by four ways to count what they cost."""

    pure: float
    """Each set ε/M, without δ: the papers' rule. Infinite for PARAM_Post."""

    split: float
    """Each set (ε/M, δ/M), by basic composition."""

    advanced: float | None
    slack: float | None
    """Each set (ε0, δ0) by advanced composition with the best slack δ'; None where δ = 0, for then it says nothing."""

    exact: Bracket
    """The sum of M losses itself: `upper` is private for sure, `lower` is not."""


def minimum_prior_for_sets(method: str, *, n: int, m: int, sets: int, epsilon: float, delta: float) -> SetPriors:
    """The least prior α = β with which M synthetic sets together are (ε, δ)-differentially private.

    Pure: SYNTH_Post(One) m / (e^{ε/M} − 1), SYNTH_Post(Many) 1 / (e^{ε/(Mm)} − 1), SYNTH_MAP 1 more. Exact: the largest
    δ_M(ε; α) over all n pairs of neighbours is δ. M sets of a plug-in are one set of Mm rows, exactly.

    n and m are at most 100,000, for the plug-ins Mm as well; M is 1 to 1,000, ε at least M · 1e-6, δ below 1.
    `exact` is usually 1e-6 wide, relative; with δ = 0 it is the pure answer.

    Source: Zheng (2015), Theorems 2.17 and 2.18; Charest (2011) for ε/M each.

    Examples
    --------
    One row and two sets of one draw: each has odds 1 + 1/α at most, together 4 where α = 1.

    >>> found = minimum_prior_for_sets("synth_post_one", n=1, m=1, sets=2, epsilon=math.log(4), delta=0.0)
    >>> round(found.pure, 9), round(found.exact.upper, 9)
    (1.0, 1.0)
    """
    made = method_called(method)
    MANY_ROWS.check(n)
    MANY_SYNTHETIC_ROWS.check(m)
    sets, epsilon, delta = int(SETS.check(sets)), EPSILON.check(epsilon), DELTA.check(delta)
    if epsilon / sets < EPSILON.minimum:
        raise ValueError(f"epsilon must be at least {readable(EPSILON.minimum)} for each set; got {readable(epsilon)}.")
    if made.independent and delta > 0:
        check_all_rows(sets * m)

    def single(share: float, failure: float, rows: int = m) -> float:
        return minimum_prior(method, n=n, m=rows, epsilon=share, delta=failure)

    pure, alone = single(epsilon / sets, 0.0), single(epsilon, delta)
    if delta == 0:
        return SetPriors(pure, pure, None, None, Bracket(pure, pure))
    split = single(epsilon / sets, delta / sets)
    advanced, slack = least_by_advanced(single, sets, epsilon, delta)
    if made.independent:
        exact = bracket_of(single(epsilon, delta, sets * m))
    elif sets == 1:
        exact = bracket_of(split)
    else:
        low, high = max(alone, ALMOST_NONE), min(pure, split, advanced)
        exact = SetSearch(partial(made.losses, m=m), n, sets, epsilon, delta, low, high, made.log_density).bracket()
    return SetPriors(pure, split, advanced, slack, exact)


def check_all_rows(rows: int) -> None:
    """Raise a ValueError where the sets of a plug-in have more rows together than a calibration reaches."""
    if rows > PRIOR_ROWS:
        raise ValueError(
            f"sets times m (all synthetic rows together) must be at most {PRIOR_ROWS:,} for several sets of a plug-in; "
            f"got {readable(rows)}."
        )


def bracket_of(prior: float) -> Bracket:
    """What `minimum_prior` promises of its answer."""
    return Bracket(prior * (1 - TOLERANCE), prior)


def least_by_advanced(
    single: Callable[[float, float], float], sets: int, epsilon: float, delta: float
) -> tuple[float, float]:
    """What M sets need by advanced composition with the best slack δ' = δ / (1 + e^{−t}), and that slack.

    Each set gets (ε0, δ0): ε0 is the largest that Theorem 2.18 takes to ε with slack δ', and δ0 = (δ − δ') / M.

    `single` is what one set needs for (ε0, δ0), the more the more private: a prior, or one over a range. The answer is
    infinite where every split leaves a set less than the smallest ε.

    Source: Zheng (2015), Theorem 2.18, after Dwork, Rothblum & Vadhan (2010).

    Examples
    --------
    Where a set needs 1/ε0 whatever its δ, all of δ is best spent as slack.

    >>> need, slack = least_by_advanced(lambda epsilon, delta: 1 / epsilon, 4, 1.0, 1e-6)
    >>> slack, round(need, 3)
    (1e-06, 10.897)
    """
    from dpviz.theorems.general import advanced_composition  # the table of theorems is loaded where one is used

    def total(each: float, slack: float) -> float:
        return advanced_composition(each, sets, slack)

    def at(t: float) -> tuple[float, float]:
        slack, share = delta / (1 + math.exp(-t)), delta / (1 + math.exp(t)) / sets if t < math.inf else 0.0
        limit = epsilon / math.sqrt(-2 * sets * math.log(slack))
        each = float(brentq(lambda e: total(e, slack) - epsilon, 0.0, limit, xtol=1e-13 * limit, rtol=1e-13))
        step = 1e-15
        while total(each, slack) > epsilon:
            each, step = each * (1 - step), 2 * step
        return single(each, share) if each >= EPSILON.minimum else math.inf, slack

    best = minimize_scalar(
        lambda t: math.log(min(at(t)[0], 1e300)), bounds=(-8.0, 8.0), method="bounded", options={"xatol": 1e-2}
    )
    return min(at(float(best.x)), at(math.inf))
