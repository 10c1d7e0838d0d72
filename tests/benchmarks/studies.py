"""What a large study costs: ``python -m tests.benchmarks.studies [--repetitions 4000000]``.

Eight cells of Charest's design (n = 100, ε = 2, M = 5) at several p are simulated for two combining rules, and for all
rules that there are, by local processes: one and two. Printed are repetitions a second and a processor second, and 10⁹
repetitions in core hours at that rate.
"""

from __future__ import annotations

import argparse
import tempfile
import time
from concurrent.futures import Executor
from pathlib import Path

import psutil

from dpviz.inference.rules import RULES
from dpviz.study.plan import StudyPlan
from dpviz.study.run import process_executor, run_study

PROPORTIONS = [0.05, 0.1, 0.15, 0.2, 0.25, 0.3, 0.4, 0.5]
TWO_RULES = ("reiter_2003", "as_if_real")


def plan_of(repetitions: int, rules: tuple[str, ...]) -> StudyPlan:
    """Plan with so many repetitions in all of its cells together."""
    return StudyPlan.of({
        "mechanisms": "beta_binomial", "rules": rules, "exact": False, "n": 100, "epsilon": 2, "sets": 5,
        "p": PROPORTIONS, "repetitions": repetitions // len(PROPORTIONS), "seed": 1,
    })  # fmt: skip


def processor_seconds() -> float:
    """Processor seconds of this process and of those below it that run."""
    process = psutil.Process()
    times = [item.cpu_times() for item in (process, *process.children(recursive=True))]
    return sum(item.user + item.system for item in times)


def measure(plan: StudyPlan, executor: Executor) -> tuple[float, float]:
    """Seconds by the clock, and of all processors, that a plan takes in an empty folder."""
    with tempfile.TemporaryDirectory() as folder:
        used = processor_seconds()
        start = time.perf_counter()
        for _ in run_study(plan, Path(folder), executor):
            pass
        return time.perf_counter() - start, processor_seconds() - used


def main() -> None:
    """Print a line for each number of rules and of workers."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--repetitions", type=int, default=4_000_000)
    repetitions = parser.parse_args().repetitions
    release = plan_of(8, TWO_RULES).cells[0].design.release
    for rules in (TWO_RULES, tuple(key for key, rule in RULES.items() if rule.is_feasible(release, 5))):
        for workers in (1, 2):
            with process_executor(workers) as executor:
                measure(plan_of(8000, rules), executor)  # what is prepared once in each process
                seconds, used = measure(plan_of(repetitions, rules), executor)
            print(
                f"{len(rules):2} rules, {workers} workers: {repetitions / seconds:10,.0f} a second, "
                f"{repetitions / used:10,.0f} a processor second; 10⁹: {1e9 / repetitions * used / 3600:.2f} core hours"
            )


if __name__ == "__main__":
    main()
