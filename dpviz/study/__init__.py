"""Large studies: a grid of designs, exact where that is in reach and simulated elsewhere, on any number of workers."""

from dpviz.study.folder import NotKeptError, StudyFolder
from dpviz.study.plan import StudyCell, StudyPlan, read_study_plan
from dpviz.study.results import CellResult, RuleResult, read_study, study_parquet
from dpviz.study.run import StudyProgress, carry_out, results_of

__all__ = [
    "CellResult",
    "NotKeptError",
    "RuleResult",
    "StudyCell",
    "StudyFolder",
    "StudyPlan",
    "StudyProgress",
    "carry_out",
    "read_study",
    "read_study_plan",
    "results_of",
    "study_parquet",
]
