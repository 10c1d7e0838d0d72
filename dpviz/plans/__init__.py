"""Several statistics of the same people under one promise: shares of it, exact composition, and what is said of both.

Records: `ReleasePlan`, its statistics `YesNoShare`, `CategoryShares`, `CrossTable` and `BoundedMean`
(`PLAN_STATISTICS` by key), their measures (`NEARNESS`), the relations between neighbours (`NEIGHBOURS`), the
mechanisms (`PLAN_RELEASES`).
Answers: `solve_plan` gives a `PlanAnswer` with its `PlanDesign`s, which know their exact δ(ε) and ε(δ);
`expected_seconds` says before how long that takes. `plan_ranges` says what other assumptions about the data would
need, `published_errors` and `suppression_costs` what withholding small counts does, `rejected_designs` what else there
is.
`dpviz.plans.words` has the sentences. Files: `read_plan`, `plan_toml`, `answer_json`, `plan_differences`,
`plan_report`, `plan_notebook`, with `plan_numbers`.
"""

from dpviz.plans.catalogue import PLAN_RELEASES
from dpviz.plans.composed import PlanDesign
from dpviz.plans.effort import expected_seconds, expected_work
from dpviz.plans.files import answer_json, plan_differences, plan_notebook, plan_numbers, plan_toml, read_plan
from dpviz.plans.measures import NEARNESS
from dpviz.plans.neighbours import NEIGHBOURS
from dpviz.plans.plan import ReleasePlan
from dpviz.plans.ranges import plan_ranges
from dpviz.plans.rejected import RejectedDesign, rejected_designs
from dpviz.plans.report import plan_report
from dpviz.plans.shares import PlanAnswer, solve_plan
from dpviz.plans.statistic import PLAN_STATISTICS, BoundedMean, CategoryShares, CrossTable, YesNoShare
from dpviz.plans.suppression import published_errors, suppression_costs

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
    "RejectedDesign",
    "ReleasePlan",
    "YesNoShare",
    "answer_json",
    "expected_seconds",
    "expected_work",
    "plan_differences",
    "plan_notebook",
    "plan_numbers",
    "plan_ranges",
    "plan_report",
    "plan_toml",
    "published_errors",
    "read_plan",
    "rejected_designs",
    "solve_plan",
    "suppression_costs",
]
