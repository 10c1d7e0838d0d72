"""Carry out the plan of a large study, on this machine or on a dask cluster, and go on where an earlier run stopped.

The plan is a grid in TOML; README.md beside this file shows one. Finished cells are kept in a folder, and all of them
stand in its study.csv, which the pages open, and with pyarrow in its study.parquet as well.
"""

import argparse
import os
import sys
import time
from concurrent.futures import BrokenExecutor, CancelledError
from contextlib import closing
from importlib.util import find_spec
from pathlib import Path

os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")  # before NumPy is loaded: the last digit of a sum depends on it

from dpviz.core import limits
from dpviz.simulation import WORKERS
from dpviz.study.plan import StudyPlan, read_study_plan
from dpviz.study.results import results_to_csv, results_to_frame, summarize_cells
from dpviz.study.run import dask_executor, process_executor, run_study, stored_results, write_atomically

REFUSED, FAILED, INTERRUPTED = 2, 1, 130  # exit codes: no plan, a run that ended early, an interrupted one


def _carry_out(plan: StudyPlan, options: argparse.Namespace) -> None:
    """Run the study, write how far it is now and then, and all that is finished into one CSV and one Parquet file."""
    due = 0.0
    place = dask_executor(options.scheduler) if options.scheduler else process_executor(options.workers)
    with place as executor, closing(run_study(plan, options.folder / "cells", executor)) as progress:
        for finished, total in progress:
            if time.monotonic() >= due or finished == total:
                due = time.monotonic() + 1.0
                print(f"{finished:,} of {total:,} cells are finished.", file=sys.stderr, flush=True)

    results = stored_results(plan, options.folder / "cells")
    content = results_to_csv(results)
    write_atomically(options.folder / "study.csv", content)
    if find_spec("pyarrow") is not None:
        write_atomically(options.folder / "study.parquet", results_to_frame(results).to_parquet(index=False))
    print(f"{options.folder / 'study.csv'}: {summarize_cells(results)}")
    if len(content) > limits.MAX_STUDY_BYTES:
        print(f"With {len(content) / 1e6:.0f} MB it is for pandas: pages open {limits.MAX_STUDY_BYTES / 1e6:g} MB.")


def main(arguments: list[str] | None = None) -> int:
    """Carry out the plan that the arguments name; return 0 where all of it is finished."""
    parser = argparse.ArgumentParser(prog="python -m dpviz.study", description=__doc__)
    parser.add_argument("plan", type=Path, help="the plan, a file in TOML")
    parser.add_argument("--folder", type=Path, help="where results are kept (default: the plan's name without .toml)")
    place = parser.add_mutually_exclusive_group()
    place.add_argument("--scheduler", metavar="ADDRESS", help="of a dask cluster whose workers evaluate the cells")
    workers = "processes on this machine (default: one for each processor, %(default)s)"
    place.add_argument("--workers", type=int, default=os.cpu_count() or 1, help=workers)
    options = parser.parse_args(arguments)
    options.folder = options.folder or options.plan.with_suffix("")

    # Check the plan and all its cells before anything starts
    try:
        WORKERS.validate(options.workers)
        with options.plan.open(encoding="utf-8") as file:
            plan = read_study_plan(file.read(limits.MAX_STUDY_PLAN_CHARACTERS + 1))
        print(f"{options.plan}: {len(plan.cells):,} cells.", file=sys.stderr)
    except (OSError, ValueError) as error:
        print(error, file=sys.stderr)
        return REFUSED
    try:
        _carry_out(plan, options)
        return 0
    except KeyboardInterrupt:
        code = INTERRUPTED
    except (BrokenExecutor, CancelledError, OSError, ValueError) as error:
        print(f"The study has stopped: {error or type(error).__name__}.", file=sys.stderr)
        code = FAILED
    print("Finished cells are kept: run the same command again, and it goes on from there.", file=sys.stderr)
    return code


if __name__ == "__main__":
    sys.exit(main())
