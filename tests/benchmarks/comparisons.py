"""Row G: a study of normal data against the random numbers that it draws, and against the loop that one would write.

Then the whole of Bowen & Liu's study 1: exact where the sums reach, else simulated.
"""

from __future__ import annotations

import itertools
import math
import time
from collections import deque
from collections.abc import Iterator
from concurrent.futures import ProcessPoolExecutor

import numpy as np
from scipy.stats import t

from dpviz.comparisons import BinaryData, KnownVariance, NumericStudy, UnknownVariance
from dpviz.comparisons.methods import NumericMethod
from dpviz.comparisons.numeric_data import NormalData
from dpviz.comparisons.numeric_releases import MODIPS_MEAN, MODIPS_SPLIT
from dpviz.published.records import load_records
from tests.benchmarks.timing import Result, interleaved, seconds
from tests.reproduction.evidence import SimulationBudget
from tests.reproduction.liu import table_cell

SETS, EPSILON, LEVEL, LOW, HIGH = 10, 1.0, 0.95, -3.0, 4.0
REPETITIONS, FRACTION, AT_ONCE = 5_000, 50, 65_536
MOST, LOOP_GOAL = 2.0, 10

SCENARIOS = tuple(itertools.product((40, 100, 1000), (0.15, 0.25, 0.5)))
PROMISES = np.geomspace(math.exp(-10), math.exp(5), 16).tolist()


def study(data: NormalData, method: NumericMethod, repetitions: int, seed: int = 1) -> float:
    plan = NumericStudy(data=data, method=method, epsilon=EPSILON, sets=SETS, repetitions=repetitions, seed=seed)
    return plan.run().measures("mean", "reiter_2003").coverage.value


def random_numbers(n: int, repetitions: int, variance: bool) -> None:
    """Draw what a study needs, and nothing else: the rows, and the noise and parameters of each set."""
    random, held = np.random.default_rng(1), np.empty(AT_ONCE)
    for _ in range(math.ceil(repetitions * n * (SETS + 1) / AT_ONCE)):
        random.standard_normal(out=held)
    for _ in range(repetitions // 500):
        random.laplace(size=(1 + variance) * 500 * SETS)
        random.standard_normal(500 * SETS)
        if variance:
            random.chisquare(n - 1, 500 * SETS)


def loop_coverage(n: int, repetitions: int, seed: int) -> float:
    """Share of Theorem 7's intervals that hold μ = 0 under modips with σ known, one repetition after the other."""
    random, covered = np.random.default_rng(seed), 0
    scale = (HIGH - LOW) * SETS / (n * EPSILON)
    for _ in range(repetitions):
        mean = np.clip(random.normal(size=n), LOW, HIGH).mean()
        means, variances = np.empty((2, SETS))
        for j in range(SETS):
            centre = random.normal(np.clip(mean + random.laplace(0, scale), LOW, HIGH), 1 / math.sqrt(n))
            rows = np.clip(random.normal(centre, 1, size=n), LOW, HIGH)
            means[j], variances[j] = rows.mean(), rows.var(ddof=1) / n
        between, within = means.var(ddof=1) / SETS, variances.mean()
        degrees = (SETS - 1) * (1 + within / between) ** 2
        covered += abs(means.mean()) <= t.ppf((1 + LEVEL) / 2, degrees) * math.sqrt(within + between)
    return covered / repetitions


def cases() -> Iterator[Result]:
    data = {"mean": 0.0, "sigma": 1.0, "low": LOW, "high": HIGH}
    for n, repetitions in ((10, 20_000), (100, REPETITIONS), (1000, 1_000)):
        known, both = KnownVariance(n=n, **data), UnknownVariance(n=n, **data)
        for name, one, method in (("mean", known, MODIPS_MEAN), ("mean and variance", both, MODIPS_SPLIT)):
            numbers, ours = interleaved(
                lambda n=n, repetitions=repetitions, variance=one is both: random_numbers(n, repetitions, variance),
                lambda one=one, method=method, repetitions=repetitions: study(one, method, repetitions),
            )
            yield Result(
                name=f"G {name}, n = {n}, against its random numbers", reference=numbers, ours=ours, goal=MOST,
                at_most=True,
            )  # fmt: skip
    part, known = REPETITIONS // FRACTION, KnownVariance(n=100, **data)
    theirs, mine = loop_coverage(100, 5 * part, 1), study(known, MODIPS_MEAN, REPETITIONS)
    if abs(theirs - mine) > 5 * math.sqrt(mine * (1 - mine) / (5 * part)):
        raise AssertionError(f"normal data: the loop found {theirs}, ours {mine}")
    loop, ours = interleaved(
        lambda: loop_coverage(100, part, 2), lambda: study(known, MODIPS_MEAN, REPETITIONS, seed=2)
    )
    yield Result(name=f"G {REPETITIONS:,} runs, M = 10, n = 100", reference=FRACTION * loop, ours=ours, goal=LOOP_GOAL)


def table_seconds() -> float:
    """Seconds for Liu's Table 1b, every reading, 5,000 repetitions a cell."""
    cells = [record for record in load_records("Liu (2016)") if record.key == "table_normal"]
    return seconds(lambda: [table_cell(record, SimulationBudget()) for record in cells], 1)


def scenario_seconds(scenario: tuple[int, float]) -> float:
    """Seconds of processor for the methods of study 1 at every ε of one of its scenarios."""
    n, p = scenario
    start, data = time.process_time(), BinaryData(n=n, p=p)
    deque(data.compare([data.method(key) for key in data.usual], PROMISES), maxlen=0)
    return time.process_time() - start


def study_seconds() -> tuple[float, float]:
    """Seconds for all nine scenarios in two processes, and those of processor in both together."""
    start = time.perf_counter()
    with ProcessPoolExecutor(2) as pool:
        used = sum(pool.map(scenario_seconds, SCENARIOS))
    return time.perf_counter() - start, used
