"""Carries out a plan, here or wherever an executor takes its tasks, and goes on from what a folder holds."""

import math
import time
from collections import deque
from collections.abc import Callable, Iterator
from concurrent.futures import FIRST_COMPLETED, Executor, Future, wait
from dataclasses import dataclass
from typing import Any, NamedTuple

from dpviz.coverage import CoveragePlan, CoverageTally
from dpviz.simulation import WORKERS, Block, add_blocks, simulate_blocks
from dpviz.study.folder import StudyFolder
from dpviz.study.plan import StudyCell, StudyPlan
from dpviz.study.results import CellResult, ExactPart, cell_result, exact_part

TASK_SECONDS = 0.5  # work aimed at in a task, for which the few milliseconds to hand it over are little
MAX_TASK_BLOCKS = 1000
TASKS_PER_WORKER = 3  # that are handed over, so that no worker waits for the next one


@dataclass(frozen=True)
class StudyProgress:
    """How far a study is: cells finished, of them before this run, and of how many; repetitions drawn in this run."""

    finished: int
    before: int
    cells: int
    repetitions: int


class Task(NamedTuple):
    """A function and its arguments, and what receives the result."""

    receive: Callable[[Any], None]
    function: Callable[..., Any]
    arguments: tuple[Any, ...]


def timed_blocks(plan: CoveragePlan, first: int, stop: int) -> tuple[int, list[tuple[Block, int]], float]:
    """Index of the first block, the blocks, and the seconds that one took."""
    begin = time.perf_counter()
    blocks = simulate_blocks(plan, first, stop)
    return first, blocks, (time.perf_counter() - begin) / len(blocks)


class _CellRun:
    """A cell that is not finished: its next task, and what the tasks before it gave.

    Blocks are added in their order, whenever they come.
    """

    def __init__(self, cell: StudyCell, folder: StudyFolder) -> None:
        self._cell = cell
        self._folder = folder
        self._exact: ExactPart | None = None
        self._total: CoverageTally | None = None
        self._waiting: dict[int, list[tuple[Block, int]]] = {}
        self._next_block = 0
        self._task_blocks = 1
        self._is_exact_due = cell.exact
        self._is_measured = True  # whether it is known how long a block takes
        self._is_simulating = False
        self.drawn = 0
        self.is_finished = False
        if not cell.exact:
            self._start_simulation()

    def next_task(self) -> Task | None:
        """The next task; None where it has to wait for others."""
        if self._is_exact_due:
            self._is_exact_due = False
            return Task(self._receive_exact, exact_part, (self._cell.design,))
        plan = self._cell.plan
        end = math.ceil(plan.repetitions / plan.batch)
        if not self._is_simulating or self.is_finished or not self._is_measured or self._next_block >= end:
            return None
        first = self._next_block
        self._next_block = min(first + self._task_blocks, end)
        self._is_measured = self._task_blocks > 1 or first > 0
        return Task(self._receive_blocks, timed_blocks, (plan, first, self._next_block))

    def _receive_exact(self, part: ExactPart) -> None:
        self._exact = part
        if len(part.rules) == len(self._cell.design.rules):
            self._finish()
        else:
            self._start_simulation()

    def _start_simulation(self) -> None:
        """Begin to simulate, or go on from what was kept."""
        self._is_simulating = True
        plan = self._cell.plan
        self._total = self._folder.tally(self._cell)
        if self._total is not None:
            self._next_block = math.ceil(self._total.repetitions / plan.batch)
            self._finish_if_complete()

    def _receive_blocks(self, result: tuple[int, list[tuple[Block, int]], float]) -> None:
        first, blocks, seconds = result
        self._is_measured = True
        self._task_blocks = max(1, min(int(TASK_SECONDS / max(seconds, 1e-9)), MAX_TASK_BLOCKS))
        self.drawn += sum(size for _, size in blocks)
        self._waiting[first] = blocks
        before = self._total
        while blocks := self._waiting.pop(self._blocks_added(), []):
            self._total = add_blocks(self._cell.plan, self._total, blocks)
        if self._total is not before and not self._finish_if_complete():
            assert self._total is not None
            self._folder.keep_tally(self._cell, self._total)

    def _blocks_added(self) -> int:
        return 0 if self._total is None else math.ceil(self._total.repetitions / self._cell.plan.batch)

    def _finish_if_complete(self) -> bool:
        assert self._total is not None
        if self._total.repetitions < self._cell.plan.repetitions:
            return False
        self._finish()
        return True

    def _finish(self) -> None:
        self._folder.keep_result(self._cell, cell_result(self._cell, self._exact, self._total))
        self.is_finished = True


def carry_out(
    study: StudyPlan, folder: StudyFolder, *, executor: Executor | None = None, workers: int = 1
) -> Iterator[StudyProgress]:
    """Compute every cell of a plan that is not in `folder` yet, keep it there, and yield how far it is after each task.

    Parameters
    ----------
    study : StudyPlan
    folder : StudyFolder
    executor : concurrent.futures.Executor, optional
        Such as ``Client.get_executor()`` of dask; it stays open. Without one all is done by who iterates.
    workers : int, default 1
        Of the executor, each of which is handed a few tasks.

    Notes
    -----
    Each cell draws from streams of its own, block by block, and blocks are added in order, so that the digits are the
    same whatever the workers, their losses, and the stops on the way. What a worker raises is raised here; a task that
    a lost worker held is taken again by executors that can do that, as dask does.
    """
    workers = WORKERS.validate(workers)
    is_known = [folder.result(cell) is not None for cell in study.cells]
    fresh = iter([cell for cell, known in zip(study.cells, is_known, strict=True) if not known])
    before = sum(is_known)
    finished = before
    drawn = 0
    active = deque[_CellRun]()
    pending: dict[Future[Any], Callable[[Any], None]] = {}
    max_pending = 1 if executor is None else TASKS_PER_WORKER * workers

    def next_task() -> Task | None:
        """The next task of a cell under way, or else of another one."""
        for run in active:
            if (task := run.next_task()) is not None:
                return task
        for cell in fresh:
            active.append(run := _CellRun(cell, folder))
            if (task := run.next_task()) is not None:
                return task
        return None

    try:
        while True:
            while len(pending) < max_pending and (task := next_task()) is not None:
                if executor is None:
                    future: Future[Any] = Future()
                    future.set_result(task.function(*task.arguments))
                else:
                    future = executor.submit(task.function, *task.arguments)
                pending[future] = task.receive
            for run in [run for run in active if run.is_finished]:
                active.remove(run)
                finished += 1
                drawn += run.drawn
            yield StudyProgress(finished, before, len(is_known), drawn + sum(run.drawn for run in active))
            if not pending:
                return
            for future in wait(pending, return_when=FIRST_COMPLETED).done:
                pending.pop(future)(future.result())
    finally:
        for future in pending:
            future.cancel()


def results_of(study: StudyPlan, folder: StudyFolder) -> list[CellResult]:
    """Return the results of the cells of a plan that are finished, in its order."""
    return [found for found in map(folder.result, study.cells) if found is not None]
