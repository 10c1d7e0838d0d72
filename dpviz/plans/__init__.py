"""Several statistics of the same people under one promise: shares of it, exact composition, and what is said of both.

`solve_plan` takes a `ReleasePlan` and gives a `PlanSolution` with its `PlanDesign`s, which know their exact δ(ε) and
ε(δ). `assumption_curves` says what other assumptions about the data would need; `dpviz.plans.summary` has the
sentences, and `dpviz.plans.files` the files.
"""

from dpviz.plans.composition import PlanDesign
from dpviz.plans.files import plan_differences, plan_numbers, plan_report, read_plan, solution_json
from dpviz.plans.plan import ReleasePlan
from dpviz.plans.sensitivity import assumption_curves
from dpviz.plans.solve import solve_plan
from dpviz.plans.statistics import BoundedMean, CategoryShares, CrossTable, YesNoShare

__all__ = [
    "BoundedMean",
    "CategoryShares",
    "CrossTable",
    "PlanDesign",
    "ReleasePlan",
    "YesNoShare",
    "assumption_curves",
    "plan_differences",
    "plan_numbers",
    "plan_report",
    "read_plan",
    "solution_json",
    "solve_plan",
]
