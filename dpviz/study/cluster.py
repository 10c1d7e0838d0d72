"""Where a study is carried out: in this process, or by the workers of a dask cluster, which is loaded here alone."""

import logging
from collections.abc import Iterator
from concurrent.futures import Executor
from contextlib import contextmanager
from typing import Any

NO_DASK = (
    'Other processes take part by dask, which is not installed: pip install "dpviz[dask]", or give --here to use this '
    "process alone."
)
RETRIES = 2  # How often a task is tried again that ended with an error, on another worker where there is one
CONNECT_SECONDS = 20


class NoClusterError(Exception):
    """There are no workers, in a sentence that says why."""


@contextmanager
def dask_executor(scheduler: str | None, workers: int) -> Iterator[tuple[Executor, int]]:
    """Give an executor of ``concurrent.futures`` and its number of workers, those of a scheduler or of this machine.

    Without an address `workers` processes are started, and ended afterwards; with one the cluster stays as it was.
    A lost worker's tasks are taken by others: dask sees to that.
    """
    try:
        from distributed import KilledWorker
    except ImportError:
        raise NoClusterError(NO_DASK) from None
    try:
        with _started(workers) if scheduler is None else _reached(scheduler) as client:
            yield client.get_executor(retries=RETRIES, pure=False), sum(client.nthreads().values())
    except KilledWorker as killed:
        raise NoClusterError(f"A task has ended several workers, perhaps for want of memory: {killed}") from killed


@contextmanager
def _started(workers: int) -> Iterator[Any]:
    from distributed import Client, LocalCluster

    local = {"threads_per_worker": 1, "processes": True, "dashboard_address": None, "silence_logs": logging.ERROR}
    with LocalCluster(n_workers=workers, **local) as cluster, Client(cluster) as client:
        yield client


@contextmanager
def _reached(scheduler: str) -> Iterator[Any]:
    from distributed import Client

    try:
        client = Client(scheduler, timeout=CONNECT_SECONDS)
    except (OSError, ValueError) as refused:
        raise NoClusterError(f"No scheduler answers at {scheduler}: {refused}") from refused
    with client:
        if not client.nthreads():
            raise NoClusterError(f"The scheduler at {scheduler} has no workers; dask worker {scheduler} starts one.")
        try:
            client.get_versions(check=True)
        except ValueError as other:
            raise NoClusterError(f"With other versions digits may differ. {other}") from other
        yield client
