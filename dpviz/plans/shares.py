"""Shares of one promise for the statistics of a plan, so that all their limits hold; or what must give way."""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable
from dataclasses import dataclass, field

from scipy.optimize import brentq, minimize_scalar

from dpviz.core.numerics.special import round_to_private_side
from dpviz.plans.composed import PlanDesign, error_of
from dpviz.plans.plan import ReleasePlan
from dpviz.plans.release import PlannedRelease
from dpviz.plans.summed import SUM_CELLS, SumTally

Kinds = tuple[type[PlannedRelease], ...]
SLOWEST_RATE, FASTEST_RATE = 1e-6, 1e3  # Ends between which a rate is sought, of sums that a person moves by 1
RATE_NUDGE = 1e-14  # Of the logarithm of a rate that is known in closed form, towards a smaller error
LOG_FACTORS = math.log(1e-6), math.log(1e24)  # Ends between which a common factor of all limits is sought; at the
# upper one the smallest limit that a statistic takes is wider than the range of any sum
FACTOR_NEAR, ROUGHLY_NEAR = 1e-11, 1e-4  # Distance of logarithms of factors at which a search ends
FIRST_STEP = 0.02  # Of the logarithm of a factor, from a guess
ROUGH_CELLS = 2_000  # Cells of a sum where mixtures of mechanisms are compared
STEPS_TOLD = 3  # Next mixtures of a walk whose factors are found
MORE_SPENT = 0.0, -1e-6, -0.03, -math.log(4.0)  # Logarithms of factors of all rates at which there may be a rest
MOST_OVER = 100.0  # Logarithm beyond which it does not matter by how much a promise is broken, or kept
MOST_MIXTURES = 8  # Mixtures of mechanisms that are all tried; of more, one statistic at a time is changed
Over = Callable[[PlanDesign], float]


@dataclass(frozen=True)
class PlanAnswer:
    """What a plan comes to.

    `factor` is the smallest number by which all limits can be multiplied so that the promise is kept: at most 1 where
    all hold. `needed` has what the limits ask for and no more, whether or not it keeps the promise; `design` keeps the
    promise, with all errors in proportion to their limits where `spend_all` is set or not all limits hold. `alone` is,
    for each limit, the value that would do if it alone gave way; infinite where that is not enough. `by_basic` is the
    factor with which basic composition shows the promise. `tried` are the mixtures of mechanisms, each with its factor.
    """

    plan: ReleasePlan
    factor: float
    needed: PlanDesign
    design: PlanDesign
    alone: tuple[float, ...]
    by_basic: float
    tried: tuple[tuple[Kinds, float], ...]
    work: SumTally = field(compare=False)

    @property
    def feasible(self) -> bool:
        """Whether all limits hold under the promise."""
        return self.factor <= 1

    @property
    def saved(self) -> float:
        """By which factor the errors are smaller than with what basic composition allows; 1 where nothing is saved."""
        return self.by_basic / self.factor


def solve_plan(plan: ReleasePlan) -> PlanAnswer:
    """Return the shares that a plan needs, the design that keeps its promise, and what must give way if anything.

    Every rate that is told keeps its limit, and every design its promise, on the private side of what was sought.

    >>> from dpviz.desk.protection import PrivacyLoss
    >>> from dpviz.plans.statistic import YesNoShare
    >>> two = YesNoShare(name="works", limit=0.002), YesNoShare(name="reads", limit=0.002)
    >>> answer = solve_plan(ReleasePlan(n=1000, statistics=two, protection=PrivacyLoss(most_epsilon=1.0)))
    >>> [round(one.rate, 6) for one in answer.design.releases], round(answer.factor, 4), answer.feasible
    ([0.5, 0.5], 1.3996, False)
    """
    search = ShareSearch(plan)
    mixtures = search.mixtures()
    best, rough = min(mixtures.items(), key=lambda one: one[1])
    near = FIRST_STEP if len(mixtures) == 1 else 4 * ROUGHLY_NEAR
    factor = search.smallest_factor(best, over_promise, guess=rough, step=near)
    needed = search.at(best, 1.0)
    design = search.spent(search.at(best, factor)) if factor > 1 or plan.spend_all else needed
    alone = tuple(
        search.limit_alone(best, place) if factor > 1 else one.limit for place, one in enumerate(plan.statistics)
    )
    tried = tuple((kinds, factor if kinds == best else found) for kinds, found in mixtures.items())
    pure = plan.promise[1] == 0 or math.isinf(plan.promise[0])
    by_basic = factor if pure else search.smallest_factor(best, _excess_by_basic, guess=factor)
    return PlanAnswer(plan, factor, needed, design, alone, by_basic, tried, search.tally)


def over_promise(design: PlanDesign) -> float:
    """ln of what a design gives away over what is promised, at most 0 where the promise is kept for sure.

    Where δ is allowed it is that of δ, or, where both δ are too near to 0 or 1 to lead anywhere, that of ε.
    """
    epsilon, delta = design.plan.promise
    if math.isinf(epsilon):
        return -MOST_OVER
    pure = _log_ratio(design.pure_epsilon, epsilon)
    if delta == 0 or pure <= 0:
        return min(pure, MOST_OVER)
    return _log_ratio(design.largest_delta(epsilon), delta)


def _excess_by_basic(design: PlanDesign) -> float:
    epsilon, delta = design.plan.promise
    return _log_ratio(design.basic_epsilon(delta), epsilon)


def _log_ratio(value: float, most: float) -> float:
    """ln(value / most) within bounds, of the right sign however near both are."""
    if value <= most:
        return max(math.log(value) - math.log(most), -MOST_OVER) if value > 0 else -MOST_OVER
    return max(min(math.log(value) - math.log(most), MOST_OVER), 1e-16) if most > 0 else MOST_OVER


def rate_within(plan: ReleasePlan, place: int, kind: type[PlannedRelease], limit: float) -> float:
    """Return the smallest rate with which a statistic keeps a limit, rounded to the side that keeps it.

    Infinite where none does. Where noise is moved to an end, or rows are drawn, it is sought below the
    largest one or, of a Beta-binomial draw whose error falls and rises again, from that of the smallest error.
    """
    one, n = plan.statistics[place], plan.rows_of(plan.statistics[place])
    low = math.log(SLOWEST_RATE / max(one.shifts(1, 1)))  # sums of large numbers have small rates

    def error(log_rate: float) -> float:
        return error_of(plan, place, kind(math.exp(log_rate), n))

    def kept(log_rate: float) -> bool:
        return error(log_rate) <= limit

    if math.isinf(limit):  # no factor of all limits is enough for the promise
        return math.exp(low)
    enough = one.asked.rate(kind, limit * n, one.cells)
    high = math.log(FASTEST_RATE)
    if math.isfinite(enough):
        high = math.log(enough) + RATE_NUDGE
        if high <= low:
            return math.exp(low)
        if kept(high) and not kept(high - 1e3 * RATE_NUDGE):
            return math.exp(high)
    if kept(low):
        return math.exp(low)
    if not kept(high):  # the error of a draw is the smallest in between, where what it invents is near the truth
        high = float(minimize_scalar(error, bounds=(low, high), method="bounded").x)
    if not kept(high):
        return math.inf
    found = brentq(lambda log_rate: error(log_rate) / limit - 1, low, high, xtol=RATE_NUDGE, rtol=1e-15)
    return math.exp(round_to_private_side(float(found), high, kept))


@dataclass
class ShareSearch:
    """What is known of a plan while its shares are sought: releases by what they were asked for, and work done."""

    plan: ReleasePlan
    tally: SumTally = field(default_factory=SumTally)
    made: dict[tuple[int, type[PlannedRelease], float], PlannedRelease] = field(default_factory=dict)

    def release(self, place: int, kind: type[PlannedRelease], limit: float) -> PlannedRelease:
        """Return the release of a statistic with the smallest rate that keeps a limit."""
        key = place, kind, limit
        if key not in self.made:
            self.tally.rates += 1
            n = self.plan.rows_of(self.plan.statistics[place])
            self.made[key] = kind(rate_within(self.plan, place, kind, limit), n)
        return self.made[key]

    def at(self, kinds: Kinds, factor: float, alone: int | None = None, cells: int = SUM_CELLS) -> PlanDesign:
        """Return the design with what the limits, times a factor, ask for; or only one of them times it."""
        releases = []
        for place, (kind, one) in enumerate(zip(kinds, self.plan.statistics, strict=True)):
            limit = one.limit * (factor if alone in (None, place) else 1.0)
            releases.append(self.release(place, kind, limit))
        return PlanDesign(self.plan, tuple(releases), self.tally, cells)

    def over(self, kinds: Kinds, factor: float, over: Over, cells: int, alone: int | None = None) -> float:
        """Return by how much a design is over what is promised."""
        design = self.at(kinds, factor, alone, cells)
        return over(design) if all(math.isfinite(one.rate) for one in design.releases) else MOST_OVER

    def smallest_factor(
        self,
        kinds: Kinds,
        over: Over,
        *,
        near: float = FACTOR_NEAR,
        guess: float = 1.0,
        step: float = FIRST_STEP,
        alone: int | None = None,
        cells: int = SUM_CELLS,
    ) -> float:
        """Return the smallest factor of all limits, or of one of them, with which a promise is kept, or infinity.

        It is sought from a `guess` on, in steps that grow. A factor of exactly 1 is tried where it is near, so that
        limits that just hold are not said to break.
        """
        tried: dict[float, float] = {}

        def excess(log_factor: float) -> float:
            if log_factor not in tried:
                tried[log_factor] = self.over(kinds, math.exp(log_factor), over, cells, alone)
            return tried[log_factor]

        place = math.log(guess) if 0 < guess < math.inf else 0.0
        if abs(place) < FIRST_STEP:
            excess(0.0)
        up = excess(place) > 0
        while True:
            other = min(max(place + (step if up else -step), LOG_FACTORS[0]), LOG_FACTORS[1])
            if (excess(other) > 0) != up:
                break
            if other in LOG_FACTORS:
                return math.inf if up else math.exp(other)
            place, step = other, 3 * step
        brentq(excess, min(place, other), max(place, other), xtol=near, rtol=1e-15)
        return math.exp(min(place for place, one in tried.items() if one <= 0))

    def roughly(self, kinds: Kinds, guess: float) -> float:
        """Return about the smallest factor of a mixture of mechanisms."""
        return self.smallest_factor(kinds, over_promise, near=ROUGHLY_NEAR, guess=guess, cells=ROUGH_CELLS)

    def limit_alone(self, kinds: Kinds, place: int) -> float:
        """Return what a limit would have to be if the others stay."""
        rough = self.smallest_factor(kinds, over_promise, near=ROUGHLY_NEAR, alone=place, cells=ROUGH_CELLS)
        factor = rough
        if math.isfinite(rough):
            factor = self.smallest_factor(kinds, over_promise, guess=rough, step=4 * ROUGHLY_NEAR, alone=place)
        return factor * self.plan.statistics[place].limit

    def spent(self, design: PlanDesign) -> PlanDesign:
        """Return the design with what steps of whole numbers have left of the promise given to all alike.

        Nothing more is spent where that makes an error larger, as it can that of a Beta-binomial draw.
        """
        used = design.used()

        def larger(log_factor: float) -> PlanDesign:
            rates = (type(one)(one.rate * math.exp(-log_factor), one.n) for one in design.releases)
            return PlanDesign(self.plan, tuple(rates), self.tally)

        if math.isinf(self.plan.promise[0]) or over_promise(design) > 0:
            return design
        tried = {0.0: -1.0}

        def excess(log_factor: float) -> float:
            if log_factor not in tried:
                more = larger(log_factor)
                worse = any(one > before for one, before in zip(more.used(), used, strict=True))
                tried[log_factor] = MOST_OVER if worse else over_promise(more)
            return tried[log_factor]

        for low, high in itertools.pairwise(MORE_SPENT):
            if excess(high) > 0:
                if low:
                    brentq(excess, high, low, xtol=FACTOR_NEAR, rtol=1e-15)
                break
        return larger(min(place for place, one in tried.items() if one <= 0))

    def mixtures(self) -> dict[Kinds, float]:
        """Return mixtures of mechanisms with rough factors: all, or what a walk from the best plain one meets.

        A step changes one mechanism. At the factor of where it stands, what keeps the promise has a smaller one.
        """
        choices = [self.plan.candidates(one) for one in self.plan.statistics]
        many = math.prod(map(len, choices))
        if many == 1:
            return {tuple(one[0] for one in choices): 1.0}
        every = dict.fromkeys(itertools.chain.from_iterable(choices))
        plain = [tuple(one if one in these else these[0] for these in choices) for one in every]
        found: dict[Kinds, float] = {}
        for kinds in itertools.product(*choices) if many <= MOST_MIXTURES else plain:
            found.setdefault(kinds, self.roughly(kinds, min(found.values(), default=1.0)))
        while many > MOST_MIXTURES:
            here = min(found, key=found.__getitem__)
            factor = found[here]
            steps = [(*here[:place], one, *here[place + 1 :]) for place, these in enumerate(choices) for one in these]
            new = [one for one in dict.fromkeys(steps) if one not in found]
            over = (
                {one: self.over(one, factor, over_promise, ROUGH_CELLS) for one in new} if math.isfinite(factor) else {}
            )
            for kinds in sorted(over, key=over.__getitem__)[:STEPS_TOLD]:
                found[kinds] = self.roughly(kinds, factor)
            if min(found.values()) == factor:
                break
        return found
