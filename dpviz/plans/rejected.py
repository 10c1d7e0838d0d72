"""Designs that look right and are not: what they really give away, or which limits they break."""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass, replace
from functools import cached_property

from dpviz.plans.composed import PlanDesign
from dpviz.plans.plan import ReleasePlan
from dpviz.plans.release import PlannedRelease
from dpviz.plans.shares import PlanAnswer, solve_plan
from dpviz.plans.suppression import delta_without_noise

FURTHER = 1e-6  # Relative distance beyond which a promise or an error is another one


@dataclass(frozen=True)
class RejectedDesign:
    """A way to release the statistics of a plan, and why it is tempting; no `design` where nothing is added to them."""

    name: str
    why: str
    plan: ReleasePlan
    design: PlanDesign | None = None

    @cached_property
    def epsilon(self) -> float:
        """Its ε at the δ that is promised; infinite where none holds."""
        return math.inf if self.design is None else self.design.epsilon(self.plan.promise[1]).upper

    @cached_property
    def used(self) -> float:
        """The largest part of a limit that it uses; none where nothing is added."""
        return 0.0 if self.design is None else max(self.design.used())

    @property
    def breaks_promise(self) -> bool:
        """Whether it gives away more than is promised."""
        return self.epsilon > self.plan.promise[0] * (1 + FURTHER)

    @property
    def breaks_limit(self) -> bool:
        """Whether it is further off than a limit allows."""
        return self.used > 1 + FURTHER


def rejected_designs(answer: PlanAnswer) -> tuple[RejectedDesign, ...]:
    """Return designs that were not taken: with a wrong unit, an even split, or no noise; each is worse in something."""
    reached = max(answer.design.used()) * (1 + FURTHER)
    return tuple(one for one in _rejected(answer) if one.breaks_promise or one.used > reached)


def _rejected(answer: PlanAnswer) -> Iterator[RejectedDesign]:
    plan = answer.plan
    if not math.isinf(plan.promise[0]):
        for name, why, other in _wrong_units(plan):
            releases = solve_plan(other).design.releases
            yield RejectedDesign(name, why, plan, PlanDesign(plan, releases))
        if plan.promise[0] > 0 and len(plan.statistics) > 1:
            yield RejectedDesign(
                "the same ε for each statistic",
                "Each statistic gets the same share of ε, whatever its limit asks for.",
                plan,
                even_split(answer),
            )
    withheld = [one for one in plan.statistics if one.suppress_below]
    if any(delta_without_noise(plan.rows_of(one), one.suppress_below) > plan.promise[1] for one in withheld):
        yield RejectedDesign(
            "small counts withheld, no noise",
            "Published counts are exact, and a count that is missing tells that it is below the threshold.",
            plan,
        )


def _wrong_units(plan: ReleasePlan) -> Iterator[tuple[str, str, ReleasePlan]]:
    """Plans that mistake what one person can change."""
    if plan.person_rows > 1:
        yield (
            "one row for each person",
            f"It counts each row as a person of its own, though a person has up to {plan.person_rows}.",
            replace(plan, person_rows=1),
        )
    if plan.relation.put_in:
        if any(one.group for one in plan.statistics) and len(plan.groups) > 1 and not plan.membership_public:
            yield (
                "groups that share one ε",
                "It gives each group all of ε, as if a row stayed in its group; a substituted row may leave one group "
                "and join another.",
                replace(plan, membership_public=True),
            )
        yield (
            "noise for an added row",
            "Its noise hides that a row is added or removed; a substituted row moves two cells of a table at once, and "
            "a mean by the whole range.",
            replace(plan, neighbours="add_remove"),
        )


def even_split(answer: PlanAnswer) -> PlanDesign:
    """Return the design in which every statistic alone has the same part of the promised ε, without δ."""
    plan, releases = answer.plan, []
    for place, one in enumerate(plan.statistics):
        kinds: list[type[PlannedRelease]] = [*plan.candidates(one), type(answer.design.releases[place])]
        kind = next((kind for kind in kinds if not kind.needs_delta), kinds[0])
        most = max(math.fsum(shifts[place]) for shifts in plan.changes)
        part = plan.promise[0] / len(plan.statistics)
        releases.append(kind(part / most, plan.rows_of(one)))
    return PlanDesign(plan, tuple(releases))
