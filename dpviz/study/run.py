"""Evaluate the cells of a study on any executor, and keep a file of each that is finished."""

import logging
import math
import multiprocessing
import os
from collections.abc import Generator, Iterator
from concurrent.futures import BrokenExecutor, Executor, ProcessPoolExecutor, as_completed
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any

from dpviz.core.monte_carlo import Measure
from dpviz.core.workers import follow_parent
from dpviz.coverage import ExactCoverage, exact_coverages, performance_of
from dpviz.coverage.performance import RulePerformance
from dpviz.inference.moments import set_moments
from dpviz.simulation import run_simulation
from dpviz.study.plan import StudyCell, StudyPlan, simulation_of
from dpviz.study.results import RULE_MEASURES, SHARES, CellResult, RuleResult, read_results, results_to_csv


def evaluate_cell(cell: StudyCell) -> CellResult:
    """Evaluate one design: exactly where sums are in reach, by simulation for the remaining rules."""
    design = cell.design
    settings: dict[str, Any] = {"synthesizer": design.release, "p": design.p, "sets": design.sets}
    results: dict[str, ExactCoverage | RulePerformance] = {}
    estimate: dict[str, Measure] = {}
    if cell.exact:
        results |= exact_coverages(rules=design.rules, level=design.level, skip_unreachable=True, **settings)
        moments = set_moments(**settings)
        error = math.sqrt(moments.bias**2 + moments.variance_estimate)
        estimate = {"bias": Measure(moments.bias, 0.0), "root_mean_squared_error": Measure(error, 0.0)}

    # The draws do not depend on which rules read them
    if simulated := tuple(key for key in design.rules if key not in results):
        performance = performance_of(run_simulation(simulation_of(design, simulated)))
        results |= performance.rules
        simulated_error = performance.mean_square_error.root()
        estimate = estimate or {"bias": performance.bias, "root_mean_squared_error": simulated_error}
    rules = {key: _rule_result(results[key]) for key in design.rules}
    return CellResult(design=design, rules=rules, estimate_exact=cell.exact, **estimate)


def _rule_result(result: ExactCoverage | RulePerformance) -> RuleResult:
    measures = {name: getattr(result, name) for name in RULE_MEASURES}
    if not isinstance(result, ExactCoverage):
        return RuleResult(exact=False, error_bound=0.0, **measures)
    measures |= {name: min(max(measures[name], 0.0), 1.0) for name in SHARES}  # which rounding may leave
    exact = {name: Measure(float(value), 0.0) for name, value in measures.items()}
    return RuleResult(exact=True, error_bound=result.error_bound, **exact)


def run_study(plan: StudyPlan, directory: Path, executor: Executor) -> Generator[tuple[int, int], None, None]:
    """Evaluate all cells of a study that are not stored yet.

    Parameters
    ----------
    plan : StudyPlan
    directory : Path
        Holds a CSV file of each finished cell; these are not computed again.
    executor : concurrent.futures.Executor
        Where cells are evaluated, such as `process_executor` or `dask_executor`; it stays open.

    Yields
    ------
    finished, total : int
        Cells, before the first one that is computed and after each of them.

    Notes
    -----
    A cell is one task, with a seed of its own: results depend neither on the executor nor on the rest of the grid.
    """
    directory.mkdir(parents=True, exist_ok=True)
    stored = {result.design for result in stored_results(plan, directory)}
    total = len(plan.cells)
    yield len(stored), total
    pending = [cell for cell in plan.cells if cell.design not in stored]
    futures = {executor.submit(evaluate_cell, cell): cell for cell in pending}
    try:
        for finished, future in enumerate(as_completed(futures), len(stored) + 1):
            write_atomically(directory / f"{futures[future].key}.csv", results_to_csv([future.result()]))
            yield finished, total
    finally:  # after an error or an interrupt nothing else starts
        for future in futures:
            future.cancel()


def stored_results(plan: StudyPlan, directory: Path) -> list[CellResult]:
    """Results of the finished cells in the order of the plan; a file that is torn or of another cell is none.

    Parameters
    ----------
    plan : StudyPlan
    directory : Path
        Of `run_study`.
    """
    results = list[CellResult]()
    for cell in plan.cells:
        with suppress(OSError, ValueError):
            content = (directory / f"{cell.key}.csv").read_bytes()
            results += [result for result in read_results(content) if result.design == cell.design]
    return results


def write_atomically(path: Path, content: bytes) -> None:
    """Write a file under another name and rename it, so that it is complete or absent.

    Parameters
    ----------
    path : Path
    content : bytes
    """
    temporary = path.with_name(f".{path.name}.{os.getpid()}.new")
    try:
        temporary.write_bytes(content)
        temporary.replace(path)
    except OSError as error:
        temporary.unlink(missing_ok=True)
        problem = f"{path} could not be written: {error.strerror}"
        raise OSError(f"{problem}. Make space there, or give another folder") from error


def process_executor(workers: int) -> Executor:
    """Executor on processes of this machine, which end with this one."""
    return ProcessPoolExecutor(workers, multiprocessing.get_context("spawn"), initializer=follow_parent)


@contextmanager
def dask_executor(address: str) -> Iterator[Executor]:
    """Executor on the workers of a dask scheduler, such as "tcp://host:8786"; cells of lost workers are repeated."""
    try:
        from distributed import Client, KilledWorker
    except ImportError:
        raise OSError('a scheduler needs dask, which is not installed: pip install "dpviz[study]"') from None
    logging.getLogger("distributed").setLevel(logging.ERROR)
    with Client(address, timeout=20) as client:
        if not client.nthreads():
            raise OSError(f"the scheduler at {address} has no workers; dask worker {address} starts one")
        client.get_versions(check=True)  # with others digits may differ
        try:
            yield client.get_executor(retries=2, pure=False)  # on another worker where there is one
        except KilledWorker as error:
            raise BrokenExecutor(f"a cell ended several workers, perhaps for want of memory: {error}") from error
