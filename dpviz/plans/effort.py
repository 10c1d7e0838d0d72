"""How long a plan takes to solve, said before: counted in sums of losses and in looks at a design."""

from __future__ import annotations

import itertools
import math

from dpviz.core.checked import checked
from dpviz.plans.losses import LIST_CELLS
from dpviz.plans.plan import ReleasePlan, Shifts
from dpviz.plans.shares import MOST_MIXTURES, Kinds
from dpviz.plans.summed import MOST_LISTED

# Of one sum of two losses, of one loss of a Beta-binomial draw, and of one rate that a limit asks for
SECONDS_OF_SUM, SECONDS_OF_LISTED, SECONDS_OF_RATE = 1.5e-7, 2e-7, 4e-4
ROUGH_LOOKS, FINE_LOOKS = 7, 25  # Designs looked at for one mixture of mechanisms, and for the best one at the end


@checked()
def expected_sums(plan: ReleasePlan) -> float:
    """Return about how many sums of two losses `solve_plan` forms: none without δ.

    Of a walk through mixtures of mechanisms it counts the first one and those next to it.
    """
    return _expected(plan)[0]


@checked()
def expected_seconds(plan: ReleasePlan) -> float:
    """Return about how many seconds `solve_plan` takes on one core of 2025."""
    looks = ROUGH_LOOKS * len(_mixtures(plan)) + FINE_LOOKS
    sums, listed = _expected(plan)
    return sums * SECONDS_OF_SUM + listed * SECONDS_OF_LISTED + looks * len(plan.statistics) * SECONDS_OF_RATE


def _expected(plan: ReleasePlan) -> tuple[float, float]:
    """Sums of two losses, and losses that are computed one by one, over all looks."""
    if not plan.allows_delta or math.isinf(plan.promise[0]):
        return 0.0, 0.0
    mixtures = _mixtures(plan)
    found = [[_of_look(plan, shifts, kinds) for shifts in plan.changes] for kinds in mixtures]
    each = [tuple(map(sum, zip(*one, strict=True))) for one in found]
    rough = ROUGH_LOOKS if len(mixtures) > 1 else 0
    sums, listed = (rough * sum(one[part] for one in each) + FINE_LOOKS * each[0][part] for part in (0, 1))
    return sums, listed


def _mixtures(plan: ReleasePlan) -> list[Kinds]:
    """The mixtures of mechanisms that are looked at first, the plainest before all others."""
    choices = [plan.candidates(one) for one in plan.statistics]
    if math.prod(map(len, choices)) <= MOST_MIXTURES:
        return list(itertools.product(*choices))
    plain = tuple(one[0] for one in choices)
    changes = [(*plain[:at], kind, *plain[at + 1 :]) for at, these in enumerate(choices) for kind in these[1:]]
    return [plain, tuple(one[-1] for one in choices), *changes]


def _of_look(plan: ReleasePlan, shifts: Shifts, kinds: Kinds) -> tuple[float, float]:
    """Those of one sort of neighbours and one mixture: of short lists first, and none of the last closed form."""
    sizes: list[int] = []
    laplace, sorts, listed = 0, 1, 0.0
    for one, kind, each in zip(plan.statistics, kinds, shifts, strict=True):
        release = kind(1.0, plan.rows_of(one))
        effort = release.effort(each)
        sizes += effort.sizes
        laplace += len(release.laplace_sizes(each))
        sorts, listed = sorts * effort.sorts, listed + effort.listed
    gaussian = any(kind.needs_delta for kind in kinds)
    sizes += [LIST_CELLS + 1] * (laplace if gaussian else max(laplace - 1, 0))
    total, size = 0.0, 1
    for one_size in sorted(sizes):
        total, size = total + size * one_size, min(size * one_size, MOST_LISTED)
    return sorts * total, listed
