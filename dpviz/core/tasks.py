"""Long computations in worker processes, shared by everybody who needs the same result.

A computation is an iterator of results, coarse to fine. It runs once for each key, and only as long as somebody keeps
it alive: once its readers have moved on it ends at its next step.
"""

from __future__ import annotations

import multiprocessing
import os
import pickle
import threading
import time
from collections.abc import Callable, Hashable, Iterator, MutableSequence, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from typing import Any, Generic

from dpviz.core.types import Result
from dpviz.core.workers import KEEP_ALIVE_S, SLOTS, Event, Workers, run

RELEASE_DELAY_S = 0.3  # in which a computation goes on that a reader has left: others keep it alive more often
POLL_INTERVAL_S = 0.02  # between two looks of a waiting reader at whether to go on waiting
MAX_RESTARTS = 5  # of a computation whose worker has died: others may have killed it, as a machine without memory does
KEPT_TASKS = 256  # thirty readers with eight pictures each
KEPT_BYTES = 64_000_000  # of their pickled results, which may be large arrays
RECENT_S = 10.0  # what was used so recently stays at any size: pages that refine use it again after at most 5 s

Computation = Callable[[], Iterator[Result | None]]


class Task(Generic[Result]):
    """A computation in another process, or in a thread where there is none; `TaskPool.task` makes it.

    Attributes
    ----------
    latest : Result or None
        The last result so far.
    version : int
        Number of results so far.
    done : bool
        Whether nothing follows: `latest` is final, or there is an `error`.
    error : Exception or None
        What the computation raised.
    """

    def __init__(self, pool: TaskPool, function: Computation[Result]) -> None:
        self.latest: Result | None = None
        self.version = 0
        self.done = False
        self.error: Exception | None = None
        self._pool = pool
        self._function = function
        self._number: int | None = None  # of the present run; None while there is none
        self._steps = 0  # of the computation until `latest`
        self._size = 0  # bytes of `latest`
        self._deaths = 0  # of workers that were at it
        self._changed = threading.Condition()
        self._used_at = time.monotonic()

    def keep_alive(self) -> None:
        """Start the computation, or have it go on for the next two seconds.

        If the run ends at the same moment, the next call starts another, which sends only results newer than `latest`;
        so a waiting reader calls this repeatedly.
        """
        self._used_at = time.monotonic()
        with self._changed:
            if self.done:
                return
            if self._number is None:
                self._pool._start(self)
            else:
                self._pool._needed_at[self._number % SLOTS] = self._used_at

    def release(self) -> None:
        """Leave the computation: it ends soon unless another reader keeps it alive.

        Otherwise what moving readers have left would fill the queue for two seconds each.
        """
        with self._changed:
            if self._number is not None:
                end = time.monotonic() + RELEASE_DELAY_S
                self._pool._needed_at[self._number % SLOTS] = end - KEEP_ALIVE_S

    def wait(self, seconds: float, check_interrupt: Callable[[], object], min_version: int | None = None) -> None:
        """Wait until the computation is done, or has at least `min_version` results; an error of it is in `error`.

        Parameters
        ----------
        seconds : float
            Longest wait.
        check_interrupt : callable
            Called every 20 ms or more often; what it raises ends the wait, releases the task, and is raised.
        min_version : int, optional
            Number of results that is enough.
        """

        def is_ready() -> bool:
            return self.done or (min_version is not None and self.version >= min_version)

        end = time.monotonic() + seconds
        while True:
            self.keep_alive()
            remaining = end - time.monotonic()
            if is_ready() or remaining <= 0:
                return
            with self._changed:
                self._changed.wait_for(is_ready, min(remaining, POLL_INTERVAL_S))
            try:
                check_interrupt()
            except BaseException:  # Streamlit ends a script by what is no Exception
                self.release()
                raise

    def _receive(self, number: int, event: Event, payload: Any, steps: int, size: int) -> None:
        with self._changed:
            if number != self._number or self.done:  # a run that was given up
                return
            self._deaths += event == Event.DIED
            if self._deaths > MAX_RESTARTS:
                event = Event.FAILED
                message = "The computation ended without a result, again and again. Another setting may have one."
                payload = ValueError(message)
            if event in (Event.STOPPED, Event.DIED):
                self._number = None
                return
            if event == Event.FAILED:
                self.error = payload
            elif payload is not None:
                self.latest = payload
                self.version += 1
                self._steps = steps
                self._size = size
            self.done = event != Event.RESULT
            self._changed.notify_all()


class TaskPool:
    """Computations in worker processes, or in threads until `start` is called and where no process can be started.

    Parameters
    ----------
    nice : int, optional
        How far the workers give way to other processes, from 0 to 19.

    Examples
    --------
    >>> pool = TaskPool()
    >>> task = pool.task("digits of pi", lambda: iter([3.1, 3.14, 3.142]))
    >>> task.wait(10.0, lambda: None)
    >>> task.latest, task.done
    (3.142, True)
    """

    def __init__(self, nice: int = 0) -> None:
        self._nice = nice
        self._context: Any = multiprocessing.get_context("forkserver" if os.name == "posix" else "spawn")
        self._threads = ThreadPoolExecutor(2, thread_name_prefix="tasks")
        self._needed_at: MutableSequence[float] = [0.0] * SLOTS
        self._workers: Workers | None = None
        # In the order of their last use. An OrderedDict computes the hash of a key, a nested dataclass, at every look
        self._tasks: dict[Hashable, Task[Any]] = {}
        self._run_count = 0
        self._lock = threading.Lock()  # taken while the lock of a task is held, never the other way round

    def start(self, workers: int, modules: Sequence[str] = ()) -> None:
        """Start the processes before anybody waits for them; a second call changes nothing.

        Call it while the server is imported, not in a page: there Streamlit has replaced ``sys.modules["__main__"]``
        by the page's script, which a new process would run. As dead workers are replaced at any time, guard that script
        by ``if __name__ == "__main__"``.

        Parameters
        ----------
        workers : int
            At most the number of processors: more, however nice, slow the process that serves.
        modules : sequence of str, optional
            What the computations need, imported once.
        """
        with self._lock:
            if self._workers is not None:
                return
            os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")  # of the workers: this process has read it already
            if self._context.get_start_method() == "forkserver":
                multiprocessing.set_forkserver_preload([Workers.__module__, *modules])  # workers share this memory
            with suppress(OSError, EOFError, NotImplementedError):  # threads compute then
                needed_at = self._context.RawArray("d", SLOTS)
                self._workers = Workers(workers, self._context, needed_at, self._nice, modules)
                self._needed_at = needed_at

    def task(self, key: Hashable, function: Computation[Result]) -> Task[Result]:
        """Task of a key, the same for everybody; it begins once somebody waits for it or keeps it alive.

        Parameters
        ----------
        key : hashable
            Everything that the results depend on.
        function : callable
            Returns an iterator of results, coarse to fine, which do not change later; None is a step without a result.
            What a generator returns, where it is not None, is its last result. What cannot be pickled is computed in a
            thread.
        """
        with self._lock:
            task = self._tasks.pop(key, None)
            if task is None:
                self._drop_oldest()
                task = Task(self, function)
            self._tasks[key] = task
            task._used_at = time.monotonic()
            return task

    def forget(self, key: Hashable) -> None:
        """Have a key computed anew when it is needed again; who waits for its former task still gets the results."""
        with self._lock:
            self._tasks.pop(key, None)

    def _drop_oldest(self) -> None:
        """Make room for a task: of those not in use the oldest go, with their results."""
        size = sum(task._size for task in self._tasks.values())
        unused_since = time.monotonic() - RECENT_S
        for key, task in list(self._tasks.items()):
            if len(self._tasks) < KEPT_TASKS and size <= KEPT_BYTES:
                return
            if task._used_at < unused_since:
                del self._tasks[key]
                size -= task._size

    def _start(self, task: Task[Any]) -> None:
        """Begin a run of a task, whose lock is held."""
        with self._lock:
            self._run_count += 1
            task._number = self._run_count  # before anything can be reported of it
            self._needed_at[task._number % SLOTS] = time.monotonic()
            if self._workers is not None:
                try:
                    function = pickle.dumps(task._function, pickle.HIGHEST_PROTOCOL)
                except Exception:  # whatever an object that cannot be sent raises
                    pass
                else:
                    self._workers.submit(task._number, function, task._steps, task._receive)
                    return
            self._threads.submit(run, task._number, task._function, task._steps, self._needed_at, task._receive)


def stop(*pools: TaskPool) -> None:
    """End all child processes of this one at once, whatever they do; threads compute from then on.

    Call it when the server ends; where that is killed they end by themselves.
    """
    for pool in pools:
        with pool._lock:
            if pool._workers is not None:
                pool._workers.is_closed = True
                pool._workers = None
    for process in multiprocessing.active_children():
        process.kill()
        process.join()
