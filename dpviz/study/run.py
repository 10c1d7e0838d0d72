"""Carries out a plan, here or wherever an executor takes its tasks, and goes on from what a folder holds."""

from collections import deque
from collections.abc import Callable, Iterator
from concurrent.futures import FIRST_COMPLETED, Executor, Future, wait
from dataclasses import dataclass, replace
from typing import Any

from dpviz.coverage import Tally
from dpviz.coverage.studies import Blocks
from dpviz.coverage.studies.engine import MOST_CHUNK_BLOCKS, WORKERS, Here, drawn_elsewhere
from dpviz.study.folder import StudyFolder
from dpviz.study.plan import StudyCell, StudyPlan
from dpviz.study.results import CellResult, ExactPart, cell_result, exact_part

TASK_SECONDS = 0.5  # Work aimed at in a task, beside which a few milliseconds to hand it over and to keep it are little
MOST_CHUNKS = 64  # Chunks of blocks in a task at most, so that it tells soon even where a block takes no time
AHEAD = 3  # Tasks for each worker that are handed over, so that none waits for the next one


@dataclass(frozen=True)
class StudyProgress:
    """How far a study is: cells finished, of them before this run, and of how many; repetitions drawn in this run."""

    finished: int
    before: int
    cells: int
    repetitions: int


def tally_of_blocks(blocks: Blocks) -> tuple[Tally, float]:
    """Return the tally of many blocks, drawn in chunks whose arrays stay small, and the seconds that a block took."""
    total, seconds = None, 0.0
    for start in range(0, blocks.count, MOST_CHUNK_BLOCKS):
        count = min(MOST_CHUNK_BLOCKS, blocks.count - start)
        part, each = drawn_elsewhere(replace(blocks, start=blocks.start + start, count=count))
        total, seconds = part if total is None else total + part, seconds + count * each
    assert total is not None
    return total, seconds / blocks.count


class _UnderWay:
    """A cell that is not finished: which task is next, and what has come of those before.

    Tallies are added in the order of their blocks, whenever they come.
    """

    def __init__(self, cell: StudyCell, folder: StudyFolder) -> None:
        self._cell, self._folder = cell, folder
        self._exact: ExactPart | None = None
        self._total: Tally | None = None
        self._waiting: dict[int, Tally] = {}
        self._asked = 0
        self._block, self._longest = 0, 1
        self._measured = True  # whether it is known how long a block takes
        self.drawn = 0
        self.finished = False
        self._simulating = not cell.exact
        if self._simulating:
            self._simulate()

    def next(self) -> tuple[Callable[[Any], None], Callable[..., Any], Any] | None:
        """Return what takes the result of the next task, its function and its argument; None where it has to wait."""
        if not self._simulating:
            if self._asked:
                return None
            self._asked += 1
            return self._take_exact, exact_part, self._cell.design
        plan = self._cell.plan
        whole, rest = divmod(plan.repetitions, plan.batch)
        if self.finished or not self._measured or self._block >= whole + (rest > 0):
            return None
        count, size = (min(self._longest, whole - self._block), plan.batch) if self._block < whole else (1, rest)
        blocks, self._measured = Blocks(plan, self._block, count, size), self._longest > 1 or self._block > 0
        self._block += count
        return self._take_tally, tally_of_blocks, blocks

    def _take_exact(self, found: ExactPart) -> None:
        self._exact = found
        if len(found.rules) == len(self._cell.design.rules):
            self._finish()
        else:
            self._simulate()

    def _simulate(self) -> None:
        """Begin to simulate, or go on from whole blocks that were kept."""
        self._simulating, kept, plan = True, self._folder.tally(self._cell), self._cell.plan
        if kept is not None and kept.repetitions in (plan.repetitions, kept.repetitions // plan.batch * plan.batch):
            self._total, self._block = kept, -(-kept.repetitions // plan.batch)
            self._end()

    def _take_tally(self, found: tuple[Tally, float]) -> None:
        tally, seconds = found
        self._measured, self.drawn = True, self.drawn + tally.repetitions
        self._longest = max(1, min(int(TASK_SECONDS / max(seconds, 1e-9)), MOST_CHUNKS * MOST_CHUNK_BLOCKS))
        self._waiting[tally.first] = tally
        before = done = 0 if self._total is None else self._total.repetitions
        while (one := self._waiting.pop(done, None)) is not None:
            self._total = one if self._total is None else self._total + one
            done = self._total.repetitions
        if done > before and not self._end():
            assert self._total is not None
            self._folder.keep_tally(self._cell, self._total)

    def _end(self) -> bool:
        """Return whether all repetitions are there, and then keep what they gave."""
        assert self._total is not None
        if self._total.repetitions < self._cell.plan.repetitions:
            return False
        self._finish()
        return True

    def _finish(self) -> None:
        self._folder.keep_result(self._cell, cell_result(self._cell, self._exact, self._total))
        self.finished = True


def carry_out(
    study: StudyPlan, folder: StudyFolder, *, executor: Executor | None = None, workers: int = 1
) -> Iterator[StudyProgress]:
    """Compute every cell of a plan that is not in `folder` yet, keep it there, and yield how far it is after each task.

    `executor` is any executor of ``concurrent.futures``, such as ``Client.get_executor()`` of dask, which stays open;
    it is handed a few tasks for each of so many `workers`. Without one all is done by who asks. Each cell draws from
    streams of its own, block by block, and all sums are exact, so that the digits are the same whatever the workers,
    their losses, and the stops on the way. What a worker raises is raised here; a task that a lost worker held is taken
    again by executors that can do that, as dask does.
    """
    workers = WORKERS.validate(workers)
    done = [folder.result(cell) is not None for cell in study.cells]
    fresh = iter([cell for cell, known in zip(study.cells, done, strict=True) if not known])
    before, drawn = sum(done), 0
    finished, active = before, deque[_UnderWay]()
    pending: dict[Future[Any], Callable[[Any], None]] = {}
    executor, ahead = (Here(), 1) if executor is None else (executor, AHEAD * workers)

    def following() -> tuple[Callable[[Any], None], Callable[..., Any], Any] | None:
        """The next task, of a cell under way if it has one."""
        for one in active:
            if (task := one.next()) is not None:
                return task
        for cell in fresh:
            active.append(one := _UnderWay(cell, folder))
            if (task := one.next()) is not None:
                return task
        return None

    try:
        while True:
            while len(pending) < ahead and (task := following()) is not None:
                take, function, given = task
                pending[executor.submit(function, given)] = take
            over = [one for one in active if one.finished]
            for one in over:
                active.remove(one)
            finished, drawn = finished + len(over), drawn + sum(one.drawn for one in over)
            yield StudyProgress(finished, before, len(done), drawn + sum(one.drawn for one in active))
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
