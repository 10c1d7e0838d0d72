"""Many readers of all pages behind the proxy of a campus: ``python -m tests.benchmarks.campus [--readers 200]``.

Each reader opens a page, moves its sliders about twice a second and goes on to another page after some ten seconds. All
come within the first seconds, from one address, as a campus does. Printed are the milliseconds to the first answer of a
page and from a move to its answer, all errors, and how much of a processor the app, its workers, the proxy and the
readers used.
"""

import argparse
import asyncio
import os
import random
import time
from collections import Counter
from dataclasses import dataclass, field

from tests.benchmarks.crowd import PAGES as EXPLORED
from tests.benchmarks.crowd import WARM_UP_S, percentile
from tests.benchmarks.processors import processor_time
from tests.benchmarks.reader import Reader, run_in_thread
from tests.campus import PATH, Campus, running_campus

N_READERS = 200
N_PROCESSES = 2
DURATION_S = 60.0
ARRIVAL_S = 5.0  # within which all readers have come
STAY_S = (6.0, 14.0)  # on one page
ERROR_PAUSE_S = 1.0


@dataclass
class Measurement:
    """Seconds to first answers and from moves to answers, errors by their text, and per cent of a processor."""

    openings: list[float] = field(default_factory=list)
    moves: list[float] = field(default_factory=list)
    errors: Counter[str] = field(default_factory=Counter)
    processors: dict[str, float] = field(default_factory=dict)

    def __str__(self) -> str:
        """Line of the output."""
        used = ", ".join(f"{name} {share:.0f} %" for name, share in self.processors.items())
        return (
            f"{len(self.openings):,} pages: {_milliseconds(self.openings)}; {len(self.moves):,} moves: "
            f"{_milliseconds(self.moves)} (p50 / p95 / worst); errors: {self.errors.total()} {dict(self.errors)}; "
            f"processors: {used}"
        )


def _milliseconds(seconds: list[float]) -> str:
    values = sorted(1e3 * value for value in seconds) or [float("nan")]
    return f"{percentile(values, 0.5):.0f} / {percentile(values, 0.95):.0f} / {values[-1]:.0f} ms"


async def wander(host: str, seed: int, until: float, measurement: Measurement) -> None:
    """Let a reader go from page to page, at least to one; an error is counted, and the reader goes on."""
    chance = random.Random(seed)
    n_pages = 0
    await asyncio.sleep(chance.uniform(0.0, ARRIVAL_S))
    while (now := time.perf_counter()) < until or not n_pages:
        reader = Reader(chance.choice([*EXPLORED]), chance.randrange(10**6))
        try:
            await reader.explore(host, min(until, now + chance.uniform(*STAY_S)), timeout=0.0)
        except Exception as error:
            measurement.errors[f"{type(error).__name__}: {str(error)[:60]}"] += 1
            await asyncio.sleep(ERROR_PAUSE_S)
        measurement.openings += reader.openings
        measurement.moves += reader.moves
        n_pages += 1


def measure(campus: Campus, n_readers: int, duration: float, seed: int = 1) -> Measurement:
    """Let readers wander over all pages for some seconds."""
    measurement = Measurement()

    async def wander_together() -> None:
        until = time.perf_counter() + duration
        host = f"{campus.host}/{PATH}"
        seeds = [1000 * seed + number for number in range(n_readers)]
        await asyncio.gather(*(wander(host, each, until, measurement) for each in seeds))

    before = _processor_times(campus)
    start = time.perf_counter()
    run_in_thread(wander_together())
    elapsed = time.perf_counter() - start
    after = _processor_times(campus)
    measurement.processors = {name: 100 * (after[name] - before[name]) / elapsed for name in after}
    return measurement


def _processor_times(campus: Campus) -> dict[str, float]:
    times = [processor_time(process) for process in campus.processes.values()]
    return {
        "app": sum(own for own, _ in times),
        "workers": sum(started for _, started in times),
        "proxy": sum(processor_time(campus.proxy)),
        "readers": sum(os.times()[:2]),
    }


def main() -> None:
    """Print what readers meet."""
    parser = argparse.ArgumentParser()
    parser.add_argument("--readers", type=int, default=N_READERS)
    parser.add_argument("--processes", type=int, default=N_PROCESSES)
    parser.add_argument("--seconds", type=float, default=DURATION_S)
    parser.add_argument("--seed", type=int, default=1)
    arguments = parser.parse_args()
    with running_campus(arguments.processes) as campus:
        time.sleep(WARM_UP_S)
        setting = f"{arguments.readers} readers, {arguments.processes} processes, {os.cpu_count()} processors"
        print(f"{setting}, load {os.getloadavg()[0]:.1f} before")
        print(measure(campus, arguments.readers, arguments.seconds, arguments.seed))


if __name__ == "__main__":
    main()
