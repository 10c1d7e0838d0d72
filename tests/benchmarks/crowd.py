"""Readers who explore a page together: ``python -m tests.benchmarks.crowd [--seeds 1 2] [--readers 1 30] [PAGE …]``.

The readers of each page, on a server that was just started, move any slider by up to five stops about twice a second,
so that nearly every question is new. A line for each page, seed and number of readers has

- the milliseconds from a move to its answer, the readers' own work on the same processors included,
- the processor milliseconds of a move, of the server and of its workers,
- the seconds from the last move to the end of the last run, which includes everything that refines,
- how often pages were run again to refine an answer, and the seconds to the first page,
- the processor seconds of the server from five to seven seconds after the last reader has left.

Without a PAGE all are measured.
"""

import argparse
import asyncio
import statistics
import sys
import time
from dataclasses import dataclass
from typing import NamedTuple

from tests.benchmarks.processors import Usage, usage_since, usage_so_far
from tests.benchmarks.reader import Reader
from tests.browser import started_app

N_READERS = 30
DURATION_S = 15.0
WARM_UP_S = 3.0  # until all workers have started
REST_S = 5.0  # after the last reader has left, until the server must be at rest
IDLE_S = 2.0  # in which its processor time is measured then

MAX_MOVE_MS = 3000
MAX_COMPLETION_S = 15


class Goals(NamedTuple):
    """The 95th percentile of the milliseconds from a move to its answer, of thirty readers and of one."""

    crowd: int
    alone: int


PAGES = {
    "": Goals(150, 120),
    "transition_matrices": Goals(250, 120),
    "posterior": Goals(350, 120),
    "minimum_priors": Goals(500, 200),
    "coverage": Goals(800, 200),
    "compare_synthesizers": Goals(800, 200),
    "budget": Goals(800, 200),
    "curator": Goals(800, 200),
}
"""Goals by the path of the page."""


@dataclass(frozen=True, kw_only=True)
class Measurement:
    """What readers have met on a page, and what it has cost the server."""

    page: str
    seed: int
    readers: list[Reader]
    usage: Usage  # while they were there
    idle_s: float  # processor seconds at rest

    def __str__(self) -> str:
        """Line of the output."""
        moves = sorted(1e3 * seconds for reader in self.readers for seconds in reader.moves)
        openings = [seconds for reader in self.readers for seconds in reader.openings]
        last_move = max(reader.last_move for reader in self.readers)
        completions = [reader.completed - last_move for reader in self.readers if reader.completed is not None]
        refinements = sum(reader.runs for reader in self.readers) - len(moves) - len(openings)
        goals = PAGES[self.page.partition("?")[0]]
        goal = goals.crowd if len(self.readers) > 1 else goals.alone
        parts = [
            f"{self.page or 'start':20} {len(self.readers):2} readers, seed {self.seed}: {len(moves):4} moves, "
            f"p50 {statistics.median(moves):4.0f}, p95 {percentile(moves, 0.95):4.0f} (goal {goal}), "
            f"worst {moves[-1]:5.0f} ms (goal {MAX_MOVE_MS})",
            f"a move {1e3 * self.usage.server / len(moves):.0f} + {1e3 * self.usage.workers / len(moves):.0f} ms of "
            "processor",
            f"{len(completions)} complete after {max([0.0, *completions]):4.1f} s (goal {MAX_COMPLETION_S})",
            f"{refinements} refinements, first page {max(openings):.2f} s, at rest {self.idle_s:.2f} s, "
            f"others used {self.usage.others:.1f} processors",
        ]
        return "; ".join(parts)


def percentile(values: list[float], share: float) -> float:
    """Value below which a share of sorted values lies."""
    return values[min(int(share * len(values)), len(values) - 1)]


async def explore(host: str, page: str, n_readers: int, duration: float, seed: int) -> list[Reader]:
    """Readers who have explored a page together for some seconds."""
    readers = [Reader(page, 1000 * seed + number) for number in range(n_readers)]
    until = time.perf_counter() + duration
    await asyncio.gather(*(reader.explore(host, until) for reader in readers))
    return readers


def measure(page: str, n_readers: int, duration: float, seed: int) -> Measurement:
    """Start a server, and let readers explore a page, whose path a query may follow, for so many seconds."""
    with started_app() as (url, process):
        time.sleep(WARM_UP_S)
        before = usage_so_far(process)
        readers = asyncio.run(explore(url.removeprefix("http://"), page, n_readers, duration, seed))
        usage = usage_since(before, process)
        time.sleep(REST_S)
        at_rest = usage_so_far(process)
        time.sleep(IDLE_S)
        idle = usage_since(at_rest, process)
    if not any(reader.moves for reader in readers):
        sys.exit("No reader came to a first move in time.")
    return Measurement(page=page, seed=seed, readers=readers, usage=usage, idle_s=idle.server + idle.workers)


def main() -> None:
    """Print a line for each page, seed and number of readers."""
    parser = argparse.ArgumentParser()
    parser.add_argument("pages", nargs="*", help="paths, which a query may follow; 'start' for the first page")
    parser.add_argument("--seeds", nargs="+", type=int, default=[1])
    parser.add_argument("--readers", nargs="+", type=int, default=[1, N_READERS])
    parser.add_argument("--seconds", type=float, default=DURATION_S)
    arguments = parser.parse_args()
    for page in [path.removeprefix("start") for path in arguments.pages] or PAGES:
        for seed in arguments.seeds:
            for n_readers in arguments.readers:
                print(measure(page, n_readers, arguments.seconds, seed), flush=True)


if __name__ == "__main__":
    main()
