"""Processor time of a server, of the processes that it has started, and of the whole machine."""

import os
import time
from contextlib import suppress
from pathlib import Path
from typing import NamedTuple

TICKS_PER_S = os.sysconf("SC_CLK_TCK")
N_BUSY_FIELDS = 8  # of the first line of /proc/stat; the guests that follow are counted among them
IDLE_FIELDS = (3, 4)


class Usage(NamedTuple):
    """Processor seconds, and the time in which they were used."""

    server: float
    workers: float  # all processes that the server has started
    readers: float  # this process, in which the readers are
    machine: float  # everything on the machine
    elapsed: float

    @property
    def others(self) -> float:
        """Processors that other programs used, on average."""
        return (self.machine - self.server - self.workers - self.readers) / self.elapsed


def usage_so_far(process: int) -> Usage:
    """Usage of a server since it was started."""
    server, workers = processor_time(process)
    readers = sum(os.times()[:2])
    fields = [int(field) for field in Path("/proc/stat").read_text().splitlines()[0].split()[1 : N_BUSY_FIELDS + 1]]
    machine = (sum(fields) - sum(fields[place] for place in IDLE_FIELDS)) / TICKS_PER_S
    return Usage(server, workers, readers, machine, time.perf_counter())


def usage_since(before: Usage, process: int) -> Usage:
    """Usage of a server since another measurement."""
    now = usage_so_far(process)
    return Usage(*(after - earlier for earlier, after in zip(before, now, strict=True)))


def processor_time(process: int) -> tuple[float, float]:
    """Processor seconds of a process, and of all that it has started."""
    fields = Path(f"/proc/{process}/stat").read_text().rpartition(")")[2].split()
    own = (int(fields[11]) + int(fields[12])) / TICKS_PER_S
    return own, sum(sum(processor_time(child)) for child in child_processes(process))


def child_processes(process: int) -> list[int]:
    """Numbers of the processes that a process has started; one of its threads may end meanwhile."""
    children: list[int] = []
    for thread in Path(f"/proc/{process}/task").iterdir():
        with suppress(FileNotFoundError, ProcessLookupError):
            children += map(int, (thread / "children").read_text().split())
    return children
