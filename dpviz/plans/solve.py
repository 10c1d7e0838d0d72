"""The mechanisms and rates of a plan with which all its limits hold, or what must give way."""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import lru_cache

from scipy.optimize import toms748

from dpviz.plans.composition import PlanDesign
from dpviz.plans.mechanisms import MIN_RATE, PlanMechanism
from dpviz.plans.plan import ReleasePlan
from dpviz.plans.statistics import Statistic

Kinds = tuple[type[PlanMechanism], ...]
"""A mixture: the kind of mechanism of each statistic."""

LOG_RATE_ROUNDING = 1e-14  # of the logarithm of a rate in closed form
MIN_LOG_FACTOR = math.log(1e-6)  # ends of the common factor of all limits; at the larger one the smallest limit
MAX_LOG_FACTOR = math.log(1e24)  # is wider than the range of any sum
TOLERANCE = 1e-11  # of the logarithm of a rate or a factor that is searched
TIED = 4e-4  # relative distance of factors that are the same to three digits: the mixture tried first is taken
MAX_EXCESS = 100.0  # of a logarithm
MAX_MIXTURES = 8  # that are all tried; of more, one statistic at a time is changed
MAX_STEPS = 3  # best changes of a walk whose factors are found
MIN_SPENT, MAX_SPENT = 1e-6, math.log(4.0)  # of the logarithm of all rates: how much steps of whole numbers leave


@dataclass(frozen=True)
class PlanSolution:
    """Answer of a plan.

    `needed` is what the limits ask for and no more, whether or not it keeps the promise. `design` keeps it, with all
    errors in proportion to their limits where the whole promise is spent, or where not all limits hold.
    """

    plan: ReleasePlan
    factor: float  # smallest one of all limits with which the promise is kept: at most 1 where all hold
    needed: PlanDesign
    design: PlanDesign
    relaxed_alone: tuple[float, ...]  # value of each limit that would do if it alone gave way; infinite if none does
    basic_factor: float  # the factor by basic composition
    tried: tuple[tuple[Kinds, float], ...]  # mixtures of mechanisms, each with its factor

    @property
    def is_feasible(self) -> bool:
        """Whether all limits hold under the promise."""
        return self.factor <= 1

    @property
    def kinds(self) -> Kinds:
        """Kind of mechanism of each statistic in the design."""
        return tuple(type(mechanism) for mechanism in self.design.mechanisms)

    @property
    def basic_ratio(self) -> float:
        """How many times as large the errors of basic composition are; 1 where exact composition saves nothing."""
        return self.basic_factor / self.factor


def solve_plan(plan: ReleasePlan) -> PlanSolution:
    """Divide the promise of a plan among its statistics so that all limits hold, or find what must give way.

    Parameters
    ----------
    plan : ReleasePlan

    Returns
    -------
    PlanSolution
        Every rate keeps its limit and every design its promise, on the private side of the root.

    Examples
    --------
    >>> from dpviz.curator.privacy_limits import EpsilonDeltaLimit
    >>> from dpviz.plans.statistics import YesNoShare
    >>> statistics = YesNoShare(name="works", limit=0.002), YesNoShare(name="reads", limit=0.002)
    >>> limit = EpsilonDeltaLimit(most_epsilon=1.0)
    >>> solution = solve_plan(ReleasePlan(n=1000, statistics=statistics, protection=limit))
    >>> [round(mechanism.rate, 6) for mechanism in solution.design.mechanisms], round(solution.factor, 4)
    ([0.5, 0.5], 1.3996)
    """
    # The mixture of mechanisms with the smallest factor
    mixtures = _mixtures(plan)
    largest_tie = min(mixtures.values()) * (1 + TIED)
    kinds, factor = next(item for item in mixtures.items() if item[1] <= largest_tie)

    # The designs, and what would do if one limit alone gave way
    needed = sufficient_design(plan, kinds)
    design = needed
    if factor > 1 or plan.spend_all:
        design = _spend_rest(sufficient_design(plan, kinds, factor))
    relaxed_alone = tuple(
        statistic.limit * (_smallest_factor(plan, kinds, only=place) if factor > 1 else 1.0)
        for place, statistic in enumerate(plan.statistics)
    )
    basic_factor = factor
    if plan.promise[1] and math.isfinite(plan.promise[0]):
        basic_factor = _smallest_factor(plan, kinds, _basic_excess)
    return PlanSolution(plan, factor, needed, design, relaxed_alone, basic_factor, tuple(mixtures.items()))


def _promise_excess(design: PlanDesign) -> float:
    """ln of what a design gives away over the promise, of δ where it is allowed: at most 0 where it is kept."""
    epsilon, delta = design.plan.promise
    if math.isinf(epsilon):
        return -MAX_EXCESS
    return _log_ratio(design.delta(epsilon), delta) if delta else _log_ratio(design.pure_epsilon, epsilon)


def _basic_excess(design: PlanDesign) -> float:
    epsilon, delta = design.plan.promise
    return _log_ratio(design.basic_epsilon(delta), epsilon)


def _log_ratio(value: float, limit: float) -> float:
    """ln(value / limit) within bounds, of the right sign however near both are."""
    if value <= 0 or limit <= 0:
        return -MAX_EXCESS if value <= limit else MAX_EXCESS
    ratio = math.log(value) - math.log(limit)
    return max(ratio, -MAX_EXCESS) if value <= limit else max(min(ratio, MAX_EXCESS), 1e-16)


@lru_cache(maxsize=4096)
def _smallest_rate(statistic: Statistic, n: int, kind: type[PlanMechanism], limit: float) -> float:
    """Smallest rate with which a statistic of n rows keeps a limit on its error; infinite if none does."""
    low = math.log(MIN_RATE / max(statistic.sensitivities(1, 1)))  # sums of large numbers have small rates
    if math.isinf(limit):
        return math.exp(low)
    closed = math.log(kind.sufficient_rate(limit * n, statistic.level)) + LOG_RATE_ROUNDING

    def excess(log_rate: float) -> float:
        return kind(math.exp(log_rate), n).error(statistic) / limit - 1

    if closed > low and excess(closed) <= 0 < excess(closed - 1e3 * LOG_RATE_ROUNDING):  # no bound is near
        return math.exp(closed)
    return math.exp(_first_feasible(excess, low, max(low, closed)))


def sufficient_design(plan: ReleasePlan, kinds: Kinds, factor: float = 1.0, only: int | None = None) -> PlanDesign:
    """Design whose rates are the smallest that keep all limits.

    Parameters
    ----------
    plan : ReleasePlan
    kinds : tuple of type of PlanMechanism
        Of each statistic.
    factor : float, optional
        By which all limits are multiplied first.
    only : int, optional
        Place of the one statistic whose limit is multiplied instead of all.
    """
    mechanisms = []
    for place, (kind, statistic) in enumerate(zip(kinds, plan.statistics, strict=True)):
        limit = statistic.limit * (factor if only in (None, place) else 1.0)
        n = plan.rows_of(statistic)
        mechanisms.append(kind(_smallest_rate(statistic, n, kind, limit), n))
    return PlanDesign(plan, tuple(mechanisms))


def _first_feasible(excess: Callable[[float], float], low: float, high: float) -> float:
    """Smallest point, of those that a root search between the ends meets, where the excess is at most 0.

    `low` where it is feasible, and infinity where `high` is not.
    """
    if excess(low) <= 0:
        return low
    if excess(high) > 0:
        return math.inf
    feasible = [high]

    def recorded(point: float) -> float:
        value = excess(point)
        if value <= 0:
            feasible.append(point)
        return value

    toms748(recorded, low, high, xtol=TOLERANCE, rtol=1e-15)
    return min(feasible)


def _smallest_factor(
    plan: ReleasePlan, kinds: Kinds, excess: Callable[[PlanDesign], float] = _promise_excess, only: int | None = None
) -> float:
    """Smallest factor of all limits, or of one of them, with which the promise is kept; or infinity."""

    def log_excess(log_factor: float) -> float:
        design = sufficient_design(plan, kinds, math.exp(log_factor), only)
        return excess(design) if design.is_possible else MAX_EXCESS

    factor = math.exp(_first_feasible(log_excess, MIN_LOG_FACTOR, MAX_LOG_FACTOR))
    return 1.0 if factor > 1 and log_excess(0.0) <= 0 else factor  # limits that just hold are not said to break


def _spend_rest(design: PlanDesign) -> PlanDesign:
    """Design with what steps of whole numbers leave of the promise given to all alike."""

    def spent(log_factor: float) -> PlanDesign:
        factor = math.exp(-log_factor)
        return replace(design, mechanisms=tuple(replace(kind, rate=factor * kind.rate) for kind in design.mechanisms))

    def excess(log_factor: float) -> float:
        return _promise_excess(spent(log_factor))

    has_rest = math.isfinite(design.plan.promise[0]) and excess(-MIN_SPENT) <= 0
    return spent(_first_feasible(excess, -MAX_SPENT, -MIN_SPENT)) if has_rest else design


def _mixtures(plan: ReleasePlan) -> dict[Kinds, float]:
    """Mixtures of mechanisms with their factors: all, or those that a walk from the best plain one meets.

    A step changes one mechanism, among those that keep the promise best at the factor of where the walk stands.
    """
    choices = [plan.candidates(statistic) for statistic in plan.statistics]
    if math.prod(map(len, choices)) <= MAX_MIXTURES:
        return {kinds: _smallest_factor(plan, kinds) for kinds in itertools.product(*choices)}
    every = dict.fromkeys(itertools.chain.from_iterable(choices))
    plain = [tuple(kind if kind in kinds else kinds[0] for kinds in choices) for kind in every]
    factors = {kinds: _smallest_factor(plan, kinds) for kinds in plain}
    factor = math.inf
    while min(factors.values()) < factor:
        best = min(factors, key=factors.__getitem__)
        factor = factors[best]
        changes = [(*best[:place], kind, *best[place + 1 :]) for place, kinds in enumerate(choices) for kind in kinds]
        designs = {kinds: sufficient_design(plan, kinds, factor) for kinds in changes if kinds not in factors}
        excesses = {kinds: _promise_excess(design) for kinds, design in designs.items() if design.is_possible}
        nearest = sorted(excesses, key=excesses.__getitem__)[:MAX_STEPS]
        factors |= {kinds: _smallest_factor(plan, kinds) for kinds in nearest}
    return factors
