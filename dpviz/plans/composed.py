"""What all statistics of a plan give away together: their losses added up, exactly or between two bounds."""

from __future__ import annotations

import itertools
import math
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from functools import cached_property

from dpviz.core.declarations import ANY_EPSILON, DELTA
from dpviz.plans.last import GaussianLast, LaplaceLast, MixedLoss, NormalLoss, PlanLoss
from dpviz.plans.losses import DeltaBracket, laplace_losses
from dpviz.plans.plan import ReleasePlan, Shifts
from dpviz.plans.release import PlannedRelease
from dpviz.plans.summed import SUM_CELLS, Alternatives, SumTally, summed_losses

MOST_SORTS = 500  # Sorts of neighbours, of a few rows, that are looked at one by one


@dataclass(frozen=True)
class PlanDesign:
    """A plan with the release of each of its statistics, in their order; what they tell together follows.

    The neighbours are those of the plan, and the worst of all sorts of them counts. A value with two ends is known to
    lie between them, and its upper end is the one to be told; both are the same where all losses are few.

    >>> from dpviz.plans.release import GeometricNoise
    >>> from dpviz.plans.statistic import CategoryShares, YesNoShare
    >>> plan = ReleasePlan(n=100, statistics=(YesNoShare(name="works"), CategoryShares(name="region")))
    >>> design = PlanDesign(plan, (GeometricNoise(0.4, 100), GeometricNoise(0.3, 100)))
    >>> round(design.pure_epsilon, 12), design.exact, round(design.delta(0.7).upper, 6)
    (1.0, True, 0.051203)
    """

    plan: ReleasePlan
    releases: tuple[PlannedRelease, ...]
    tally: SumTally = field(default_factory=SumTally, compare=False, repr=False)
    cells: int = field(default=SUM_CELLS, compare=False, repr=False)
    """Of a sum that is no short list: the more, the nearer are its bounds."""

    def __reduce__(self) -> tuple[type[PlanDesign], tuple[ReleasePlan, tuple[PlannedRelease, ...]]]:
        """Its plan and releases alone are pickled, not what was computed of them."""
        return type(self), (self.plan, self.releases)

    def __post_init__(self) -> None:
        if len(self.releases) != len(self.plan.statistics):
            raise ValueError(
                f"releases must be one for each of {len(self.plan.statistics)} statistics; got {len(self.releases)}."
            )

    @cached_property
    def pure_epsilon(self) -> float:
        """The smallest ε without δ: the largest sum of what the statistics tell at most; infinite with Gaussian noise.

        It is exact where each statistic has noise, whose largest losses meet in one release.
        """
        return max(
            math.fsum(one.largest_loss(each) for one, each in zip(self.releases, shifts, strict=True))
            for shifts in self.plan.changes
        )

    @property
    def exact(self) -> bool:
        """Whether δ and ε(δ) are known but for rounding."""
        return self.enough_rows and all(one.exact for one in self.losses)

    @property
    def enough_rows(self) -> bool:
        """Whether a person can have as many rows of what is published as are counted."""
        return all(self.plan.person_rows <= one.n for one in self.releases)

    @cached_property
    def losses(self) -> tuple[PlanLoss, ...]:
        """The loss of all statistics together, for each sort of neighbours."""
        sorts: dict[tuple[tuple[PlannedRelease, tuple[float, ...]], ...], Shifts] = {}
        for shifts in self.plan.changes:  # statistics that are released alike can change places
            told = sorted(zip(self.releases, shifts, strict=True), key=lambda one: (type(one[0]).__name__, repr(one)))
            sorts.setdefault(tuple(told), shifts)
        return tuple(one for shifts in sorts.values() for one in self._losses_of(shifts))

    def _losses_of(self, shifts: Shifts) -> Iterator[PlanLoss]:
        pairs = list(zip(self.releases, shifts, strict=True))
        ratio = math.sqrt(math.fsum(one.variance_told(each) for one, each in pairs))
        laplace = sorted(size for one, each in pairs for size in one.laplace_sizes(each))
        last = GaussianLast(ratio) if ratio else LaplaceLast(laplace.pop()) if laplace else None
        parts: list[Alternatives] = [part for one, each in pairs for part in one.known_parts(each, self.tally)]
        parts += [(laplace_losses(one),) for one in laplace]
        if not parts and ratio:
            yield NormalLoss(ratio)
            return
        one_by_one = math.prod(map(len, parts)) <= MOST_SORTS and all(one.exact for each in parts for one in each)
        sorts: Iterable[list[Alternatives]] = [parts]
        if one_by_one:
            sorts = ([(one,) for one in chosen] for chosen in itertools.product(*parts))
        for each in sorts:
            few = summed_losses(each, self.tally, self.cells)
            yield few if last is None else MixedLoss(few, last)

    def largest_delta(self, epsilon: float) -> float:
        """Return the upper end of δ(ε), which is found in less time than both."""
        if epsilon >= self.pure_epsilon:
            return 0.0
        return max(one.largest_delta(epsilon) for one in self.losses)

    def delta(self, epsilon: float) -> DeltaBracket:
        """Return bounds of the smallest δ for which the whole plan is (ε, δ)-differentially private."""
        epsilon = ANY_EPSILON.validate(epsilon)
        if epsilon >= self.pure_epsilon:
            return DeltaBracket(0.0, 0.0)
        return self._known(_largest([one.delta(epsilon) for one in self.losses]))

    def epsilon(self, delta: float) -> DeltaBracket:
        """Return bounds of the smallest ε for which it is (ε, δ)-differentially private."""
        delta = DELTA.validate(delta)
        if delta == 0:
            return DeltaBracket(self.pure_epsilon, self.pure_epsilon)
        found = self._known(_largest([one.epsilon(delta) for one in self.losses]))
        kept = delta >= self.plan.promise[1] and self.keeps_promise  # what is sought is found but for rounding
        most = min(self.pure_epsilon, self.plan.promise[0] if kept else math.inf)
        return DeltaBracket(min(found.lower, most), min(found.upper, most))

    def _known(self, found: DeltaBracket) -> DeltaBracket:
        """The same bounds, of which only the upper one holds where no person can have so many rows."""
        return found if self.enough_rows else DeltaBracket(0.0, found.upper)

    @property
    def right_guesses(self) -> float:
        """How often the best guess between two neighbouring data sets is right at most, knowing nothing before."""
        return (1 + self.largest_delta(0.0)) / 2

    def basic_epsilon(self, delta: float) -> float:
        """Return the ε of basic composition: the sum of what each statistic alone asks for with its part of `delta`.

        Each statistic has the same part of δ. Without δ that is the same as the exact ε of noise that is not clamped.
        """
        part = delta / len(self.releases)
        total = 0.0
        for shifts in self.plan.changes:
            alone = [
                self._alone(place, each, part) if part else one.largest_loss(each)
                for place, (one, each) in enumerate(zip(self.releases, shifts, strict=True))
            ]
            total = max(total, math.fsum(alone))
        return total

    def _alone(self, place: int, shifts: tuple[float, ...], delta: float) -> float:
        """The upper end of ε(δ) of one statistic."""
        none: list[tuple[float, ...]] = [()] * len(self.releases)
        none[place] = shifts
        return max(one.largest_epsilon(delta) for one in self._losses_of(tuple(none)))

    @cached_property
    def keeps_promise(self) -> bool:
        """Whether the promise of the plan is kept for sure."""
        epsilon, delta = self.plan.promise
        if math.isinf(epsilon):
            return True
        if self.pure_epsilon <= epsilon:
            return True
        return delta > 0 and self.largest_delta(epsilon) <= delta

    def errors(self) -> tuple[float, ...]:
        """Return the error of each statistic in the measure of its limit, in its own units."""
        return tuple(error_of(self.plan, place, one) for place, one in enumerate(self.releases))

    def used(self) -> tuple[float, ...]:
        """Return the part of each limit that is used: at most 1 where it is kept."""
        return tuple(error / one.limit for error, one in zip(self.errors(), self.plan.statistics, strict=True))


def _largest(found: Sequence[DeltaBracket]) -> DeltaBracket:
    return DeltaBracket(max(one.lower for one in found), max(one.upper for one in found))


def error_of(plan: ReleasePlan, place: int, release: PlannedRelease) -> float:
    """Return the error of one statistic in the measure of its limit, in its own units."""
    one = plan.statistics[place]
    n = plan.rows_of(one)
    return one.asked.of(release, one.rooms(n), one.cells) / n
