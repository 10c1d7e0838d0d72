"""Studies by simulation, whatever they estimate: plans, blocks, tallies that add, measures, and runs kept in files."""

from dpviz.studies.engine import run_study, stream_study
from dpviz.studies.measures import Measure, repetitions_needed, wilson_interval
from dpviz.studies.plan import Blocks, Plan, StudyTally
from dpviz.studies.saving import SavedRun, read_run, save_run

__all__ = [
    "Blocks", "Measure", "Plan", "SavedRun", "StudyTally", "read_run", "repetitions_needed", "run_study", "save_run",
    "stream_study", "wilson_interval",
]  # fmt: skip
