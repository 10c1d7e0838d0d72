"""Several statistics of the same people under one promise: shares of it, exact composition, and what is said of both.

Records: `ReleasePlan`, its statistics `YesNoShare`, `CategoryShares`, `CrossTable` and `BoundedMean`
(`PLAN_STATISTICS` by key), their measures (`NEARNESS`), the relations between neighbours (`NEIGHBOURS`), the
mechanisms (`PLAN_RELEASES`).
Answers: `solve_plan` gives a `PlanAnswer` with its `PlanDesign`s, which know their exact δ(ε) and ε(δ).
"""

from dpviz.plans.catalogue import PLAN_RELEASES
from dpviz.plans.composed import PlanDesign
from dpviz.plans.measures import NEARNESS
from dpviz.plans.neighbours import NEIGHBOURS
from dpviz.plans.plan import ReleasePlan
from dpviz.plans.shares import PlanAnswer, solve_plan
from dpviz.plans.statistic import PLAN_STATISTICS, BoundedMean, CategoryShares, CrossTable, YesNoShare

__all__ = [
    "NEARNESS",
    "NEIGHBOURS",
    "PLAN_RELEASES",
    "PLAN_STATISTICS",
    "BoundedMean",
    "CategoryShares",
    "CrossTable",
    "PlanAnswer",
    "PlanDesign",
    "ReleasePlan",
    "YesNoShare",
    "solve_plan",
]
