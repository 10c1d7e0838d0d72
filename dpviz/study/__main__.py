"""Carry out a plan of a large study, on this machine or on a cluster, and go on where an earlier run has stopped.

The plan is a grid in TOML; README.md beside this file shows one. What is finished is kept in a folder. At the end, or
when it is stopped, all finished cells stand in its file study.parquet, which the pages open and pandas reads.
"""

import argparse
import os
import sys
import time
from collections.abc import Callable, Iterator
from concurrent.futures import BrokenExecutor, CancelledError, Executor
from contextlib import contextmanager
from pathlib import Path

os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")  # before numpy is loaded: the last digit of a sum depends on it

from dpviz.core import limits
from dpviz.core.formatting import format_number
from dpviz.simulation import WORKERS
from dpviz.study.cluster import NoClusterError, dask_executor
from dpviz.study.folder import NotKeptError, StudyFolder
from dpviz.study.plan import StudyPlan, read_study_plan
from dpviz.study.results import study_parquet
from dpviz.study.run import StudyProgress, carry_out, results_of

RESULTS = "study.parquet"
REFUSED, FAILED, INTERRUPTED = 2, 1, 130
"""What the command returns for a plan that cannot be, for a run that ended early, and when it is interrupted."""

TERMINAL_SECONDS, LINE_SECONDS = 0.2, 10.0  # Between two looks at how far it is: on a terminal, and anywhere else


def _asked(arguments: list[str] | None) -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="python -m dpviz.study", description=__doc__)
    parser.add_argument("plan", type=Path, help="the plan, a file in TOML")
    parser.add_argument("--folder", type=Path, help="where results are kept (default: the plan's name without .toml)")
    where = parser.add_mutually_exclusive_group()
    where.add_argument("--scheduler", metavar="ADDRESS", help="of a dask cluster (default: one is started here)")
    own = "processes of the cluster that is started here (default: one for each processor, %(default)s)"
    where.add_argument("--workers", type=int, default=os.cpu_count() or 1, help=own)
    where.add_argument("--here", action="store_true", help="use this process alone; needs no dask")
    return parser.parse_args(arguments)


@contextmanager
def _executor(asked: argparse.Namespace) -> Iterator[tuple[Executor | None, int]]:
    if asked.here:
        yield None, 1
        return
    with dask_executor(asked.scheduler, asked.workers) as found:
        yield found


def _teller() -> Callable[[StudyProgress, bool], None]:
    """Return what says how far it is: one line that changes on a terminal, a line now and then anywhere else."""
    begin, told, terminal = time.perf_counter(), -LINE_SECONDS, sys.stderr.isatty()

    def tell(progress: StudyProgress, over: bool = False) -> None:
        nonlocal told
        now = time.perf_counter()
        if not over and now - told < (TERMINAL_SECONDS if terminal else LINE_SECONDS):
            return
        told = now
        line = progress_sentence(progress, now - begin)
        sys.stderr.write(f"\r\x1b[K{line}{os.linesep if over else ''}" if terminal else f"{line}\n")
        sys.stderr.flush()

    return tell


def progress_sentence(progress: StudyProgress, seconds: float) -> str:
    """Return how far a study is after so many seconds.

    >>> progress_sentence(StudyProgress(finished=3, before=1, cells=8, repetitions=500_000), 4.0)
    '3 of 8 cells are finished, 1 of them before; 500,000 repetitions drawn, 125,000 a second.'
    """
    before = f", {progress.before:,} of them before" if progress.before else ""
    said = f"{progress.finished:,} of {progress.cells:,} cells are finished{before}"
    if progress.repetitions:
        rate = format_number(progress.repetitions / max(seconds, 1e-9), 3)
        return f"{said}; {format_number(progress.repetitions)} repetitions drawn, {rate} a second."
    return f"{said}."


def _carried_out(study: StudyPlan, folder: StudyFolder, asked: argparse.Namespace) -> None:
    with _executor(asked) as (executor, workers):
        tell, progress = _teller(), StudyProgress(0, 0, study.size, 0)
        try:
            for progress in carry_out(study, folder, executor=executor, workers=workers):
                tell(progress, False)
        finally:
            tell(progress, True)


def study_command(arguments: list[str] | None = None) -> int:
    """Carry out the plan that the arguments name; return 0 where all of it is finished."""
    asked = _asked(arguments)
    try:
        WORKERS.validate(asked.workers)
        with asked.plan.open(encoding="utf-8") as file:
            study = read_study_plan(file.read(limits.MAX_STUDY_PLAN_CHARACTERS + 1))
        print(f"{asked.plan}: {len(study.cells):,} cells.", file=sys.stderr)
    except (OSError, ValueError) as refused:
        print(refused, file=sys.stderr)
        return REFUSED
    code = 0
    try:
        folder = StudyFolder(asked.folder or asked.plan.with_suffix(""))
        try:
            _carried_out(study, folder, asked)
        except KeyboardInterrupt:
            code = INTERRUPTED
        except (BrokenExecutor, CancelledError, OSError) as lost:
            print(f"The workers were lost: {lost or type(lost).__name__}.", file=sys.stderr)
            code = FAILED
        _write(study, folder)
    except (NotKeptError, NoClusterError, ValueError) as broken:
        print(broken, file=sys.stderr)
        code = FAILED
    if code:
        print("What is finished is kept: run the same command again, and it goes on from there.", file=sys.stderr)
    return code


def _write(study: StudyPlan, folder: StudyFolder) -> None:
    """Write all that is finished into one file, and say where it is and what it has."""
    found = results_of(study, folder)
    if not found:
        return
    content = study_parquet(found)
    place = folder.write(RESULTS, content)
    exact = sum(not one.run for one in found)
    said = f"{place} has {len(found):,} of {len(study.cells):,} cells, {exact:,} of them exact"
    if len(content) > limits.MAX_STUDY_BYTES:
        said += (
            f"; with {len(content) / 1e6:.0f} MB it is for pandas: the pages open {limits.MAX_STUDY_BYTES / 1e6:g} MB"
        )
    print(f"{said}.")


if __name__ == "__main__":
    sys.exit(study_command())
