"""The mechanisms and rates of a plan with which all its limits hold, or what must give way."""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable
from dataclasses import dataclass, field, replace

from scipy.optimize import brentq, minimize_scalar, toms748

from dpviz.core.numerics.special import round_to_private_side
from dpviz.plans.composition import SUM_CELLS, PlanDesign
from dpviz.plans.mechanisms import MAX_RATE, MIN_RATE, PlanMechanism
from dpviz.plans.plan import ReleasePlan

Kinds = tuple[type[PlanMechanism], ...]
"""A mixture: the kind of mechanism of each statistic."""
Excess = Callable[[PlanDesign], float]

LOG_RATE_ROUNDING = 1e-14  # of the logarithm of a rate in closed form
MIN_LOG_FACTOR = math.log(1e-6)  # ends of the common factor of all limits; at the larger one the smallest limit
MAX_LOG_FACTOR = math.log(1e24)  # is wider than the range of any sum
FACTOR_TOLERANCE = 1e-11  # of the logarithm of a factor
ROUGH_TOLERANCE = 1e-4  # the same where mixtures are compared
ROUGH_CELLS = 2_000  # of a sum of losses there
TIED = 4 * ROUGH_TOLERANCE  # relative distance of rough factors that are the same: the mixture tried first is taken
FIRST_STEP = 0.02  # of the logarithm of a factor, from a guess
MAX_EXCESS = 100.0  # of a logarithm
MAX_MIXTURES = 8  # that are all tried; of more, one statistic at a time is changed
MAX_STEPS = 3  # best changes of a walk whose factors are found
SPENDING_STEPS = (0.0, -1e-6, -0.03, -math.log(4.0))  # logarithms of factors of all errors


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
    search = _Search(plan)
    mixtures = search.mixtures()
    largest_tie = min(mixtures.values()) * (1 + TIED)
    kinds, guess = next(item for item in mixtures.items() if item[1] <= largest_tie)
    factor = search.smallest_factor(kinds, guess=guess)
    mixtures[kinds] = factor

    # The designs, and what would do if one limit alone gave way
    needed = search.design(kinds, 1.0)
    design = needed
    if factor > 1 or plan.spend_all:
        design = _spend_rest(search.design(kinds, factor))
    relaxed_alone = tuple(
        statistic.limit * (search.smallest_factor(kinds, only=place) if factor > 1 else 1.0)
        for place, statistic in enumerate(plan.statistics)
    )
    basic_factor = factor
    if plan.promise[1] and math.isfinite(plan.promise[0]):
        basic_factor = search.smallest_factor(kinds, _basic_excess, guess=factor)
    return PlanSolution(plan, factor, needed, design, relaxed_alone, basic_factor, tuple(mixtures.items()))


def promise_excess(design: PlanDesign) -> float:
    """ln of what a design gives away over the promise, of δ where it is allowed: at most 0 where it is kept."""
    epsilon, delta = design.plan.promise
    if math.isinf(epsilon):
        return -MAX_EXCESS
    pure = _log_ratio(design.pure_epsilon, epsilon)
    return pure if delta == 0 or pure <= 0 else _log_ratio(design.delta(epsilon), delta)


def _excess(design: PlanDesign, excess: Excess) -> float:
    """By how much a design exceeds the promise; much where a limit cannot be kept."""
    is_possible = all(math.isfinite(mechanism.rate) for mechanism in design.mechanisms)
    return excess(design) if is_possible else MAX_EXCESS


def _basic_excess(design: PlanDesign) -> float:
    epsilon, delta = design.plan.promise
    return _log_ratio(design.basic_epsilon(delta), epsilon)


def _log_ratio(value: float, limit: float) -> float:
    """ln(value / limit) within bounds, of the right sign however near both are."""
    if value <= 0 or limit <= 0:
        return -MAX_EXCESS if value <= limit else MAX_EXCESS
    ratio = math.log(value) - math.log(limit)
    return max(ratio, -MAX_EXCESS) if value <= limit else max(min(ratio, MAX_EXCESS), 1e-16)


def smallest_rate(plan: ReleasePlan, place: int, kind: type[PlanMechanism], limit: float) -> float:
    """Smallest rate with which the statistic at a place keeps a limit on its error; infinite if none does.

    It is rounded to the side that keeps the limit.
    """
    statistic = plan.statistics[place]
    n = plan.rows_of(statistic)
    low = math.log(MIN_RATE / max(statistic.sensitivities(1, 1)))  # sums of large numbers have small rates

    def error(log_rate: float) -> float:
        return kind(math.exp(log_rate), n).error(statistic)

    # In closed form where no bound is near
    if math.isinf(limit):
        return math.exp(low)
    sufficient = kind.sufficient_rate(statistic, n, limit)
    high = math.log(MAX_RATE)
    if math.isfinite(sufficient):
        high = math.log(sufficient) + LOG_RATE_ROUNDING
        if high <= low:
            return math.exp(low)
        if error(high) <= limit < error(high - 1e3 * LOG_RATE_ROUNDING):
            return math.exp(high)

    # The error of a draw is the smallest in between, where what it invents is near the truth
    if error(low) <= limit:
        return math.exp(low)
    if error(high) > limit:
        high = float(minimize_scalar(error, bounds=(low, high), method="bounded").x)
    if error(high) > limit:
        return math.inf
    root = float(brentq(lambda log_rate: error(log_rate) / limit - 1, low, high, xtol=LOG_RATE_ROUNDING, rtol=1e-15))
    return math.exp(round_to_private_side(root, high, lambda log_rate: error(log_rate) <= limit))


def _first_feasible(excess: Callable[[float], float], low: float, high: float, tolerance: float) -> float:
    """Smallest point tried by a root search, between `low` and a feasible `high`, where the excess is at most 0."""
    feasible = [high]

    def recorded(point: float) -> float:
        value = excess(point)
        if value <= 0:
            feasible.append(point)
        return value

    toms748(recorded, low, high, xtol=tolerance, rtol=1e-15)
    return min(feasible)


def _spend_rest(design: PlanDesign) -> PlanDesign:
    """Design with what steps of whole numbers leave of the promise given to all alike, while no error gets larger."""
    used = design.used_limits()

    def spent(log_factor: float) -> PlanDesign:
        factor = math.exp(-log_factor)
        return PlanDesign(design.plan, tuple(replace(kind, rate=factor * kind.rate) for kind in design.mechanisms))

    def excess(log_factor: float) -> float:
        candidate = spent(log_factor)
        is_worse = any(after > before for after, before in zip(candidate.used_limits(), used, strict=True))
        return MAX_EXCESS if is_worse else promise_excess(candidate)

    if math.isinf(design.plan.promise[0]) or promise_excess(design) > 0:
        return design
    best = 0.0
    for high, low in itertools.pairwise(SPENDING_STEPS):
        if excess(low) > 0:
            best = _first_feasible(excess, low, high, FACTOR_TOLERANCE) if high else 0.0
            break
        best = low
    return spent(best)


@dataclass
class _Search:
    """Designs of a plan by the factor of its limits; mechanisms are kept by the limit that they were asked for."""

    plan: ReleasePlan
    mechanisms: dict[tuple[int, type[PlanMechanism], float], PlanMechanism] = field(default_factory=dict)

    def design(self, kinds: Kinds, factor: float, only: int | None = None, *, is_rough: bool = False) -> PlanDesign:
        """Design whose rates keep all limits times a factor, or with one of them times it."""
        chosen = []
        for place, (kind, statistic) in enumerate(zip(kinds, self.plan.statistics, strict=True)):
            limit = statistic.limit * (factor if only in (None, place) else 1.0)
            key = place, kind, limit
            if key not in self.mechanisms:
                rate = smallest_rate(self.plan, place, kind, limit)
                self.mechanisms[key] = kind(rate, self.plan.rows_of(statistic))
            chosen.append(self.mechanisms[key])
        return PlanDesign(self.plan, tuple(chosen), ROUGH_CELLS if is_rough else SUM_CELLS)

    def smallest_factor(
        self, kinds: Kinds, excess: Excess = promise_excess, *, guess: float = 1.0, only: int | None = None,
        is_rough: bool = False,
    ) -> float:  # fmt: skip
        """Smallest factor of all limits, or of one of them, with which the promise is kept; or infinity."""

        def log_excess(log_factor: float) -> float:
            design = self.design(kinds, math.exp(log_factor), only, is_rough=is_rough)
            return _excess(design, excess)

        # Both ends of an interval around the root, in growing steps from the guess
        start = math.log(guess) if 0 < guess < math.inf else 0.0
        is_kept = log_excess(start) <= 0
        step = FIRST_STEP
        while True:
            end = min(max(start + (-step if is_kept else step), MIN_LOG_FACTOR), MAX_LOG_FACTOR)
            if (log_excess(end) <= 0) != is_kept:
                break
            if end in (MIN_LOG_FACTOR, MAX_LOG_FACTOR):
                return math.exp(end) if is_kept else math.inf
            start = end
            step *= 3
        tolerance = ROUGH_TOLERANCE if is_rough else FACTOR_TOLERANCE
        factor = math.exp(_first_feasible(log_excess, min(start, end), max(start, end), tolerance))

        # Limits that just hold are not said to break
        is_near_one = 1 < factor <= 1 + FIRST_STEP
        return 1.0 if is_near_one and log_excess(0.0) <= 0 else factor

    def mixtures(self) -> dict[Kinds, float]:
        """Mixtures of mechanisms with rough factors: all, or those that a walk from the best plain one meets.

        A step changes one mechanism, among those that keep the promise best at the factor of where the walk stands.
        """
        choices = [self.plan.candidates(statistic) for statistic in self.plan.statistics]
        number = math.prod(map(len, choices))
        if number == 1:
            return {tuple(kinds[0] for kinds in choices): 1.0}
        every = dict.fromkeys(itertools.chain.from_iterable(choices))
        plain = [tuple(kind if kind in kinds else kinds[0] for kinds in choices) for kind in every]
        factors: dict[Kinds, float] = {}

        def add(mixtures: list[Kinds]) -> None:
            for kinds in mixtures:
                guess = min(factors.values(), default=1.0)
                factors[kinds] = self.smallest_factor(kinds, guess=guess, is_rough=True)

        add(list(dict.fromkeys(itertools.product(*choices) if number <= MAX_MIXTURES else plain)))
        while number > MAX_MIXTURES:
            best = min(factors, key=factors.__getitem__)
            factor = factors[best]
            if math.isinf(factor):
                break
            changes = [
                (*best[:place], kind, *best[place + 1 :]) for place, kinds in enumerate(choices) for kind in kinds
            ]
            excesses = {
                kinds: _excess(self.design(kinds, factor, is_rough=True), promise_excess)
                for kinds in dict.fromkeys(changes)
                if kinds not in factors
            }
            add(sorted(excesses, key=excesses.__getitem__)[:MAX_STEPS])
            if min(factors.values()) == factor:
                break
        return factors
