"""Studies by simulation, whatever they estimate: plans, blocks, tallies that add, and runs kept in files."""

from dpviz.coverage.studies.engine import run_study, stream_study
from dpviz.coverage.studies.plan import Blocks, Plan, StudyTally
from dpviz.coverage.studies.saving import SavedRun, read_run, save_run

__all__ = ["Blocks", "Plan", "SavedRun", "StudyTally", "read_run", "run_study", "save_run", "stream_study"]
