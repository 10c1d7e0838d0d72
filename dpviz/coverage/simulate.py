"""Coverage by simulation: a plan with its seed, and a stream of tallies that grow block by block."""

from __future__ import annotations

import math
import time
from collections import deque
from collections.abc import Generator
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import closing

import numpy as np

from dpviz.checked import checked
from dpviz.coverage._plan import (
    BATCH,
    CONFIDENTIAL_COUNT,
    REPETITIONS,
    SEED,
    SHOWN,
    CoveragePlan,
)
from dpviz.coverage._sampling import ReleaseSampler, single_law
from dpviz.coverage._tally import WIDEST, RuleTally, ShownRuns, Tally, exact_units
from dpviz.inference.confidential import binomial_law
from dpviz.inference.interval_ends import holds, vacuous
from dpviz.inference.interval_rules import IntervalRule, Releases, releases
from dpviz.inference.rules import RULES
from dpviz.numerics.quantiles import ERROR, quantile, quantile_table
from dpviz.parameters import Parameter
from dpviz.types import BoolArray, FloatArray, IntArray

__all__ = [
    "BATCH",
    "CONFIDENTIAL_COUNT",
    "REPETITIONS",
    "SEED",
    "SHOWN",
    "WORKERS",
    "CoveragePlan",
    "RuleTally",
    "ShownRuns",
    "Tally",
    "run_coverage",
    "stream_coverage",
]

WORKERS = Parameter(
    name="workers",
    symbol="workers",
    title="Threads",
    minimum=1,
    maximum=64,
    default=1,
    integer=True,
    help="Threads that draw at the same time. They do not change a digit.",
)

CHUNK_SECONDS = 0.02
"""Work aimed at between two tallies: under 50 ms even when a chunk takes longer than the one before it."""

MOST_BLOCKS = 64
"""Most blocks in a chunk, so that its arrays stay small."""


class _Runner:
    """Draws and evaluates blocks of one plan; what it makes of a block depends on the plan and the block alone."""

    def __init__(self, plan: CoveragePlan) -> None:
        self.plan = plan
        n = plan.synthesizer.n
        fixed = plan.confidential_count
        law = binomial_law(n, plan.p) if fixed is None else (np.arange(n + 1) == fixed).astype(float)
        self._confidential_law = single_law(law)
        self._releases = ReleaseSampler(plan.synthesizer)
        self._table, self._normal = quantile_table(plan.level), quantile(np.array(math.inf), plan.level)
        self._rules: tuple[IntervalRule, ...] = tuple(RULES[key] for key in plan.rules)

    def _draw(self, block: int) -> tuple[IntArray, IntArray]:
        """x, shape (batch,), and the released counts, shape (sets, batch), of one whole block."""
        plan = self.plan
        random = np.random.default_rng(np.random.SeedSequence(plan.seed, spawn_key=(block,)))
        uniforms = random.random((1 + plan.sets, plan.batch))
        confidential = self._confidential_law.draw(np.zeros(plan.batch, dtype=np.intp), uniforms[0])
        return confidential, self._releases.tables(confidential).draw(confidential, uniforms[1:])

    def run(self, first_block: int, blocks: int, size: int) -> Tally:
        """The tally of `blocks` blocks, of each its first `size` repetitions."""
        plan = self.plan
        total, squares = np.empty((2, blocks, size), dtype=np.int64)
        first = first_block * plan.batch
        keep = min(max(plan.shown - first, 0), blocks * size)
        kept_confidential, kept_counts = [], []
        for index in range(blocks):
            confidential, counts = (drawn[..., :size] for drawn in self._draw(first_block + index))
            total[index] = counts.sum(axis=0)
            squares[index] = np.einsum("sr,sr->r", counts, counts)
            if index * size < keep:
                kept_confidential.append(confidential)
                kept_counts.append(counts)
        found = releases(plan.synthesizer, plan.sets, total, squares)
        below = found.negative_total
        results = [self._apply(rule, found, below) for rule in self._rules]
        return Tally(
            plan=plan,
            first=first,
            repetitions=blocks * size,
            totals=np.bincount(total.ravel(), minlength=plan.sets * plan.synthesizer.m + 1),
            negative_total=int(np.count_nonzero(below)),
            rules=tuple(tally for tally, *_ in results),
            shown=ShownRuns(
                confidential=np.concatenate([np.empty(0, dtype=np.intp), *kept_confidential])[:keep],
                counts=np.concatenate([np.empty((plan.sets, 0), dtype=np.intp), *kept_counts], axis=1).T[:keep].copy(),
                estimates=found.estimate.ravel()[:keep].copy(),
                low=np.array([low.ravel()[:keep] for _, low, _ in results]),
                high=np.array([high.ravel()[:keep] for *_, high in results]),
            ),
        )

    def _quantile(self, degrees: FloatArray, _level: FloatArray | float) -> FloatArray:
        """The t quantile from the table, at once where it is the normal one throughout."""
        return np.full(degrees.shape, self._normal) if np.isposinf(degrees).all() else self._table(degrees)

    def _apply(self, rule: IntervalRule, found: Releases, below: BoolArray) -> tuple[RuleTally, FloatArray, FloatArray]:
        """The tally of one rule over blocks, shape (blocks, size), and the ends; `below` where T_M < 0."""
        plan = self.plan
        low, high = rule.ends(found, plan.level, self._quantile)
        # So near to an end of the interval the table of quantiles may not decide.
        reach = 2 * ERROR * (1 + (high - low))
        near = [np.abs(place - end) <= reach for place, end in ((plan.p, low), (plan.p, high), (0, low), (1, high))]
        close = np.nonzero(np.logical_or.reduce(near))
        if len(close[0]) and not rule.knows_noise:  # their ends do not come from that table
            low, high = low.copy(), high.copy()
            low[close], high[close] = rule.ends(found.at(close), plan.level)
        none, deviation = np.isnan(low), found.estimate - plan.p
        covered = holds(low, high, plan.p)
        width = np.where(none, 0.0, high - low)
        unbounded = width > WIDEST
        width[unbounded] = 0.0
        inside = np.where(none, 0.0, np.maximum(np.minimum(high, 1.0) - np.maximum(low, 0.0), 0.0))
        variance = rule.variance(found)
        sums = {"width": width, "width_squared": width * width, "inside": inside, "inside_squared": inside * inside}
        if variance is not None:
            product = variance * deviation
            sums |= {
                "variance": variance,
                "variance_squared": variance * variance,
                "variance_deviation": product,
                "variance_deviation_squared": product * deviation,
            }
        tally = RuleTally(
            covered=int(np.count_nonzero(covered)),
            negative=int(np.count_nonzero(none)),
            vacuous=int(np.count_nonzero(vacuous(low, high))),
            covered_negative=int(np.count_nonzero(covered & below)),
            unbounded=int(np.count_nonzero(unbounded)),
            **{name: exact_units(values.sum(axis=1).tolist()) for name, values in sums.items()},
        )
        return tally, low, high


@checked(workers=WORKERS)
def stream_coverage(
    plan: CoveragePlan, *, start: Tally | None = None, workers: int = 1
) -> Generator[Tally, None, None]:
    """Run `plan`, and yield a cumulative tally after every small chunk of work.

    Block i draws from ``default_rng(SeedSequence(seed, spawn_key=(i,)))`` and all sums are exact, so the tally after
    R repetitions is the same to the last digit whatever the chunks, the threads, and the stops on the way.

    Parameters
    ----------
    plan
        The plan.
    start
        An earlier tally of the same plan, to go on from it; its plan may have had fewer repetitions.
    workers
        Threads, 1 to 64.

    Returns
    -------
    Generator
        The first tally is that of the first block; later chunks take 20 ms or so. The last one holds all
        `plan.repetitions`, and is `start` where nothing is left to do. After ``close()`` no thread is left.

    Raises
    ------
    ValueError
        Where `start` is of another plan, or has more repetitions than the plan asks for.

    Source: Charest (2011), §3, for the design.

    Examples
    --------
    With p = 0 and x = 0 a deterministic release of 0 is covered by its interval of width 0.

    >>> from dpviz.synthesizers import GeometricSanitizer
    >>> plan = CoveragePlan(synthesizer=GeometricSanitizer(n=5, epsilon=1000), p=0, sets=2, rules=("reiter_2003",),
    ...                     repetitions=1200, seed=1)
    >>> tallies = list(stream_coverage(plan))
    >>> tallies[0].repetitions, tallies[-1].repetitions, tallies[-1].rule("reiter_2003").covered
    (500, 1200, 1200)
    """
    workers = int(WORKERS.check(workers))
    if start is not None:
        if start.first != 0 or start.plan.fingerprint != plan.fingerprint:
            raise ValueError("start must be a tally of the same plan; only its number of repetitions may differ.")
        if start.repetitions > plan.repetitions:
            raise ValueError(
                f"start must have at most the {plan.repetitions:,} repetitions of the plan; got {start.repetitions:,}."
            )
    return _stream(plan, start, workers)


@checked(workers=WORKERS)
def run_coverage(plan: CoveragePlan, *, workers: int = 1) -> Tally:
    """The tally of all repetitions of `plan`: the last one that `stream_coverage` yields.

    Parameters
    ----------
    plan, workers
        As for `stream_coverage`.
    """
    return deque(stream_coverage(plan, workers=workers), maxlen=1)[0]


def _stream(plan: CoveragePlan, start: Tally | None, workers: int) -> Generator[Tally, None, None]:
    if start is not None and start.repetitions == plan.repetitions:
        yield start
        return
    runner, total = _Runner(plan), start
    if total is not None and total.repetitions % plan.batch:
        # The block that was left unfinished is drawn again and taken whole.
        block, size = divmod(total.repetitions, plan.batch)
        total = total.without_end(runner.run(block, 1, size)) if block else None
    done = 0 if total is None else total.repetitions // plan.batch
    with closing(_in_order(runner, done, workers)) as chunks:  # closing this generator closes that one at once
        for chunk in chunks:
            total = chunk if total is None else total + chunk
            yield total


def _timed(runner: _Runner, first_block: int, blocks: int, size: int) -> tuple[Tally, float]:
    begin = time.perf_counter()
    tally = runner.run(first_block, blocks, size)
    return tally, (time.perf_counter() - begin) / blocks


def _in_order(runner: _Runner, block: int, workers: int) -> Generator[Tally, None, None]:
    """Tallies of consecutive chunks from `block` on; their sizes follow the time that the last ones took."""
    plan, blocks = runner.plan, 1
    whole, rest = divmod(plan.repetitions, plan.batch)
    waiting: deque[Future[tuple[Tally, float]]] = deque()
    threads = ThreadPoolExecutor(workers, thread_name_prefix="dpviz-coverage") if workers > 1 else None
    try:
        while block < whole + (rest > 0) or waiting:
            while block < whole + (rest > 0) and len(waiting) < workers:
                count, size = (min(blocks, whole - block), plan.batch) if block < whole else (1, rest)
                if threads is None:
                    future: Future[tuple[Tally, float]] = Future()
                    future.set_result(_timed(runner, block, count, size))
                else:
                    future = threads.submit(_timed, runner, block, count, size)
                waiting.append(future)
                block += count
            tally, seconds = waiting.popleft().result()
            blocks = int(np.clip(CHUNK_SECONDS / seconds, 1, min(2 * blocks, MOST_BLOCKS)))
            yield tally
    finally:
        if threads is not None:
            threads.shutdown(wait=True, cancel_futures=True)
