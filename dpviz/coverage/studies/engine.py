"""Runs a plan block by block: here, in threads, or wherever an executor takes the blocks; the digits are the same."""

import time
from collections import deque
from collections.abc import Callable, Generator
from concurrent.futures import Executor, Future, ThreadPoolExecutor
from contextlib import closing
from functools import lru_cache, partial
from typing import Any

from dpviz.core.parameters import argument
from dpviz.coverage.studies.plan import Blocks, Found, Plan, StudyTally

WORKERS = argument("workers", 1, 64, title="threads", integer=True)

# Work aimed at between two tallies: under 50 ms even when a chunk takes longer than the one before it
CHUNK_SECONDS = 0.02
MOST_CHUNK_BLOCKS = 64  # Largest number of blocks in a chunk, so that its arrays stay small


def stream_study(
    plan: Plan[Found], *, start: Found | None = None, workers: int = 1, executor: Executor | None = None
) -> Generator[Found, None, None]:
    """Run `plan`, and yield a cumulative tally after every small chunk of work.

    Block i draws from ``default_rng(SeedSequence(seed, spawn_key=(i,)))`` and all sums are exact, so the tally after
    R repetitions is the same to the last digit whatever the chunks, the workers, and the stops on the way. The first
    tally is that of the first block; later chunks take 20 ms or so. The last one is `start` where nothing is left to
    do. After ``close()`` no thread is left.
    `start` is an earlier tally of the same plan, which may have had fewer repetitions, to go on from. `workers` chunks
    are drawn at the same time, by threads unless there is an `executor` with the interface of ``concurrent.futures``,
    which stays open; with 1 and no executor nothing but the caller's own thread runs.

    >>> from dpviz.coverage import CoveragePlan
    >>> from dpviz.mechanisms import GeometricSanitizer
    >>> plan = CoveragePlan(synthesizer=GeometricSanitizer(n=5, epsilon=1000), p=0, sets=2, rules=("reiter_2003",),
    ...                     repetitions=1200, seed=1)
    >>> tallies = list(stream_study(plan))
    >>> tallies[0].repetitions, tallies[-1].repetitions, tallies[-1].rule("reiter_2003").covered
    (500, 1200, 1200)
    """
    workers = WORKERS.validate(workers)
    if start is not None:
        if not (isinstance(start, StudyTally) and start.first == 0 and start.plan.fingerprint == plan.fingerprint):
            raise ValueError("start must be a tally of the same plan; only its number of repetitions may differ.")
        if start.repetitions > plan.repetitions:
            raise ValueError(
                f"start must have at most the {plan.repetitions:,} repetitions of the plan; got {start.repetitions:,}."
            )
    return _stream(plan, start, workers, executor)


def run_study(plan: Plan[Found], *, workers: int = 1, executor: Executor | None = None) -> Found:
    """Return the tally of all repetitions of `plan`: the last one that `stream_study` yields."""
    workers = WORKERS.validate(workers)
    return deque(stream_study(plan, workers=workers, executor=executor), maxlen=1)[0]


def _stream(
    plan: Plan[Found], start: Found | None, workers: int, executor: Executor | None
) -> Generator[Found, None, None]:
    if start is not None and start.repetitions == plan.repetitions:
        yield start
        return
    work, total = plan.work(), start
    if total is not None and total.repetitions % plan.batch:
        # The block that was left unfinished is drawn again and taken whole.
        block, size = divmod(total.repetitions, plan.batch)
        total = total - work(Blocks(plan, block, 1, size)) if block else None
    done = 0 if total is None else total.repetitions // plan.batch
    with closing(_in_order(plan, work, done, workers, executor)) as chunks:  # closing this generator closes that one
        for chunk in chunks:
            total = chunk if total is None else total + chunk
            yield total


def _in_order(
    plan: Plan[Found], work: Callable[[Blocks], Found], block: int, workers: int, executor: Executor | None
) -> Generator[Found, None, None]:
    """Tallies of consecutive chunks from `block` on; their sizes follow the time that the last ones took."""
    whole, rest = divmod(plan.repetitions, plan.batch)
    longest, waiting = 1, deque[Future[tuple[Found, float]]]()
    own = ThreadPoolExecutor(workers, thread_name_prefix="dpviz-study") if workers > 1 else Here()
    draw: Callable[[Blocks], tuple[Found, float]] = partial(_timed, work) if executor is None else drawn_elsewhere
    try:
        while block < whole + (rest > 0) or waiting:
            while block < whole + (rest > 0) and len(waiting) < workers:
                count, size = (min(longest, whole - block), plan.batch) if block < whole else (1, rest)
                waiting.append((executor or own).submit(draw, Blocks(plan, block, count, size)))
                block += count
            tally, seconds = waiting.popleft().result()
            longest = max(1, min(int(CHUNK_SECONDS / max(seconds, 1e-9)), 2 * longest, MOST_CHUNK_BLOCKS))
            yield tally
    finally:
        for future in waiting:
            future.cancel()
        own.shutdown(wait=True)


class Here(Executor):
    """Draws when it is asked, in the caller's own thread."""

    def submit(self, function: Callable[..., Any], /, *args: Any, **kwargs: Any) -> Future[Any]:
        done: Future[Any] = Future()
        done.set_result(function(*args, **kwargs))
        return done


def _timed(work: Callable[[Blocks], Found], blocks: Blocks) -> tuple[Found, float]:
    begin = time.perf_counter()
    tally = work(blocks)
    return tally, (time.perf_counter() - begin) / blocks.count


@lru_cache(maxsize=1)
def _work_of(plan: Plan[Found]) -> Callable[[Blocks], Found]:
    """Return what all blocks need, prepared once in each process: only the plan travels."""
    return plan.work()


def drawn_elsewhere(blocks: Blocks) -> tuple[Any, float]:
    """Return the tally of some blocks, and the seconds that one took; their plan is all that a process is handed."""
    return _timed(_work_of(blocks.plan), blocks)
