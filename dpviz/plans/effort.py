"""How long a plan takes to solve, said before: what one look at a design computes, times how many looks there are.

What a look computes is counted at a design that is found as `solve_plan` would, but with wide cells and not far. How
many looks a search takes is its average.
"""

from __future__ import annotations

import math
from dataclasses import replace

from dpviz.plans.plan import ReleasePlan
from dpviz.plans.shares import MOST_MIXTURES, ROUGH_CELLS, Kinds, ShareSearch, over_promise
from dpviz.plans.summed import SUM_CELLS, SumTally

LOOK_CELLS, LOOK_NEAR, LOOK_STEP = 200, 0.3, 0.7  # Of the design that is looked at, in logarithms of a factor
MIXTURE_LOOKS, WALK_LOOKS = 10, 27  # Looks at a mixture of mechanisms, and at those that a walk comes to
EVEN_LOOKS, STEP_LOOKS = (16, 7), (45, 25)  # At the best one, and at basic composition; where errors change in steps
PURE_LOOKS = 15  # At a plan without δ
ROUGH_ALONE, FINE_ALONE = 10, 2  # At one limit that gives way alone


def expected_seconds(plan: ReleasePlan) -> float:
    """Return about how many seconds `solve_plan` takes on one core of 2025."""
    return expected_work(plan).seconds


def expected_work(plan: ReleasePlan) -> SumTally:
    """Return about what `solve_plan` computes."""
    choices = [plan.candidates(one) for one in plan.statistics]
    many, neighbours = math.prod(map(len, choices)), sum(len(one) - 1 for one in choices)
    ends = dict.fromkeys(tuple(one[end] for one in choices) for end in (0, -1))
    looked = {kinds: _looked(plan, kinds) for kinds in ends}
    kinds = min(looked, key=lambda one: looked[one][0])
    factor, rough = looked[kinds]
    fine = rough.times(1, SUM_CELLS / ROUGH_CELLS)
    if _without_delta(plan):
        total = rough.times(PURE_LOOKS)
    else:
        steps = any(kind.in_steps(one) for kind, one in zip(kinds, plan.statistics, strict=True))
        closely, basic = STEP_LOOKS if steps else EVEN_LOOKS
        total = fine.times(closely).plus(
            SumTally(rates=rough.rates, drawn=rough.drawn, spread=fine.spread).times(basic)
        )
    walked = many > MOST_MIXTURES
    if many > 1:
        each = MIXTURE_LOOKS * (1 if walked else many / len(looked))
        for _, one in looked.values():
            total = total.plus(one.times(each))
    if walked:
        total = total.plus(rough.times(WALK_LOOKS)).plus(replace(rough, rates=1).times(neighbours))
    if factor > 1:  # others keep their rates where one limit gives way
        alone = rough.times(ROUGH_ALONE).plus(fine.times(FINE_ALONE))
        total = total.plus(replace(alone.times(len(choices)), rates=alone.rates, drawn=alone.drawn))
    return total


def _without_delta(plan: ReleasePlan) -> bool:
    return plan.promise[1] == 0 or math.isinf(plan.promise[0])


def _looked(plan: ReleasePlan, kinds: Kinds) -> tuple[float, SumTally]:
    """About the factor of a mixture of mechanisms, and what a rough look at it computes."""
    search = ShareSearch(plan)
    factor = search.smallest_factor(kinds, over_promise, near=LOOK_NEAR, step=LOOK_STEP, cells=LOOK_CELLS)
    design = ShareSearch(plan).at(kinds, factor if math.isfinite(factor) else 1.0, cells=ROUGH_CELLS)
    if not _without_delta(plan):
        design.largest_delta(0.0)
    return factor, design.tally
