"""Timing of two calls in turn, and a line of the table."""

import math
import statistics
import time
from collections.abc import Callable
from dataclasses import dataclass

Call = Callable[[], object]
SAMPLE_SECONDS = 2e-3
"""Least duration of one timing: a faster call is repeated inside it."""


@dataclass(frozen=True, kw_only=True)
class Result:
    """One line of the table; the goal is the least ratio reference / ours, or the largest where `at_most`."""

    name: str
    reference: float
    ours: float
    goal: float
    at_most: bool = False

    @property
    def ratio(self) -> float:
        return self.ours / self.reference if self.at_most else self.reference / self.ours

    @property
    def met(self) -> bool:
        return self.ratio <= self.goal if self.at_most else self.ratio >= self.goal

    def line(self) -> str:
        goal = f"{'≤' if self.at_most else '≥'} {self.goal:g}"
        cells = f"{1e3 * self.reference:>12.3f} {1e3 * self.ours:>10.3f} {self.ratio:>8.1f} {goal:>7}"
        return f"{self.name:<50}{cells}  {'yes' if self.met else 'NO'}"


def seconds(call: Call, times: int) -> float:
    """Of a processor, which all computations that are compared use alone: what else runs on the machine counts less."""
    start = time.process_time()
    for _ in range(times):
        call()
    return (time.process_time() - start) / times


def interleaved(reference: Call, ours: Call, budget: float = 2.0) -> tuple[float, float]:
    """Medians of both, one after the other in turn, after a first call that is not counted."""
    calls = reference, ours
    times = [max(1, math.ceil(SAMPLE_SECONDS / seconds(call, 1))) for call in calls]
    samples: tuple[list[float], list[float]] = [], []
    start = time.perf_counter()
    while len(samples[0]) < 3 or (time.perf_counter() - start < budget and len(samples[0]) < 101):
        for call, count, sample in zip(calls, times, samples, strict=True):
            sample.append(seconds(call, count))
    return statistics.median(samples[0]), statistics.median(samples[1])
