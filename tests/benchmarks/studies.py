"""What a large study costs: ``python -m tests.benchmarks.studies [--repetitions 4000000]``.

A cell of Charest's design (n = 100, ε = 2, M = 5, p = 1/4) is simulated for two combining rules, and for all rules that
there are: by one process without dask, and by local clusters of one and two workers. Then the same in tasks of one
block each, which shows what a task costs beside its work: to hand it over, to bring the tally back, to add and to keep
it. Printed are repetitions a second and a processor second, and 10⁹ repetitions in core hours at that rate.
"""

from __future__ import annotations

import argparse
import contextlib
import tempfile
import time
from collections.abc import Iterator
from concurrent.futures import Executor
from pathlib import Path
from typing import NamedTuple

import psutil

from dpviz.inference.rules import RULES
from dpviz.study import run
from dpviz.study.cluster import dask_executor
from dpviz.study.folder import StudyFolder
from dpviz.study.plan import StudyPlan

BILLION, HOUR = 1e9, 3600.0
TWO_RULES = "reiter_2003", "as_if_real"
BLOCK = 500  # Repetitions of a block
SMALL_SHARE = 40  # One of so many repetitions is drawn in tasks of one block each


def plan_of(repetitions: int, rules: tuple[str, ...]) -> StudyPlan:
    """Return the cell, of which everything is simulated."""
    numbers = {"n": 100, "epsilon": 2, "sets": 5, "p": 0.25, "repetitions": repetitions, "seed": 1}
    return StudyPlan.of({"mechanisms": "beta_binomial", "rules": rules, "exact": False, **numbers})


@contextlib.contextmanager
def workers_of(number: int) -> Iterator[tuple[Executor | None, int]]:
    """This process alone for 0, else a local cluster."""
    if number == 0:
        yield None, 1
        return
    with dask_executor(None, number) as found:
        yield found


class Cost(NamedTuple):
    """What a run took, by the clock and of all processors."""

    seconds: float
    processor: float


def cost(plan: StudyPlan, executor: Executor | None, workers: int) -> Cost:
    """Return what a plan takes in an empty folder, of this process and of those that it has started."""
    with tempfile.TemporaryDirectory() as folder:
        used, begin = processor(), time.perf_counter()
        for _ in run.carry_out(plan, StudyFolder(Path(folder)), executor=executor, workers=workers):
            pass
        return Cost(time.perf_counter() - begin, processor() - used)


def processor() -> float:
    """Return the processor seconds of this process and of those below it that run."""
    own = psutil.Process()
    return sum(one.cpu_times().user + one.cpu_times().system for one in (own, *own.children(recursive=True)))


def measure(repetitions: int, rules: tuple[str, ...], name: str) -> None:
    """Print a line for each number of workers."""
    whole, small = plan_of(repetitions, rules), plan_of(repetitions // SMALL_SHARE, rules)
    tasks = small.repetitions / BLOCK
    for number in (0, 1, 2):
        with workers_of(number) as (executor, workers):
            cost(small, executor, workers)  # what is prepared once in each process
            all_of_it = cost(whole, executor, workers)
            aimed, run.TASK_SECONDS = run.TASK_SECONDS, 0.0
            try:
                blocks = cost(small, executor, workers)
            finally:
                run.TASK_SECONDS = aimed
        told = "one process" if number == 0 else f"{number} worker{'s' * (number > 1)}"
        share = tasks * BLOCK / repetitions
        beside = [1000 * (one - share * work) / tasks for one, work in zip(blocks, all_of_it, strict=True)]
        print(
            f"{name:12} {told:12} {repetitions / all_of_it.seconds:10,.0f} a second "
            f"{repetitions / all_of_it.processor:10,.0f} a processor second; a task {beside[0]:5.1f} ms, "
            f"{beside[1]:5.1f} of a processor; 10⁹: {BILLION / repetitions * all_of_it.processor / HOUR:.2f} core hours"
        )


def main() -> None:
    """Measure both."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--repetitions", type=int, default=4_000_000)
    asked = parser.parse_args()
    every = tuple(
        key for key, rule in RULES.items() if rule.is_feasible(plan_of(1, TWO_RULES).cells[0].design.release, 5)
    )
    measure(asked.repetitions, TWO_RULES, "two rules")
    measure(asked.repetitions, every, f"all {len(every)} rules")


if __name__ == "__main__":
    main()
