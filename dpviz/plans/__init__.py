"""Several statistics of the same people under one promise: shares of it, exact composition, and what is said of both.

Records: `ReleasePlan`, its statistics (`PLAN_STATISTICS` by key), their `ERROR_MEASURES`, the relations of `NEIGHBOURS`
and the mechanisms (`PLAN_MECHANISMS`). `solve_plan` gives a `PlanSolution` with its `PlanDesign`s, which know their
exact δ(ε) and ε(δ). `assumption_curves` says what other assumptions about the data would need, `published_errors` what
withholding small counts does, `naive_designs` what else there is; `dpviz.plans.summary` has the sentences, and
`dpviz.plans.files` the files.
"""

from dpviz.plans.composition import PlanDesign
from dpviz.plans.files import (
    plan_differences,
    plan_notebook,
    plan_numbers,
    plan_report,
    plan_toml,
    read_plan,
    solution_json,
)
from dpviz.plans.mechanisms import PLAN_MECHANISMS
from dpviz.plans.plan import NEIGHBOURS, ReleasePlan
from dpviz.plans.sensitivity import assumption_curves, naive_designs
from dpviz.plans.solve import PlanSolution, solve_plan
from dpviz.plans.statistics import ERROR_MEASURES, PLAN_STATISTICS, BoundedMean, CategoryShares, CrossTable, YesNoShare
from dpviz.plans.suppression import published_errors

__all__ = [
    "ERROR_MEASURES",
    "NEIGHBOURS",
    "PLAN_MECHANISMS",
    "PLAN_STATISTICS",
    "BoundedMean",
    "CategoryShares",
    "CrossTable",
    "PlanDesign",
    "PlanSolution",
    "ReleasePlan",
    "YesNoShare",
    "assumption_curves",
    "naive_designs",
    "plan_differences",
    "plan_notebook",
    "plan_numbers",
    "plan_report",
    "plan_toml",
    "published_errors",
    "read_plan",
    "solution_json",
    "solve_plan",
]
