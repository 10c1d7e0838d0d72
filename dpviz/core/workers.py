"""Worker processes for `dpviz.core.tasks`: they take the steps of computations and send back the results."""

from __future__ import annotations

import gc
import importlib
import math
import multiprocessing
import os
import pickle
import signal
import threading
import time
import traceback
from collections.abc import Callable, Iterator, MutableSequence, Sequence
from contextlib import suppress
from enum import IntEnum
from functools import partial
from multiprocessing.connection import Connection
from queue import SimpleQueue
from typing import Any

KEEP_ALIVE_S = 2.0  # a computation ends at its next step if nobody has needed it for so long
SEND_INTERVAL_S = 0.25  # between two results that are sent: pages are drawn no more than some times a second
SLOTS = 4096  # of the times when runs were needed; two runs in one slot share theirs, and one that ends early restarts


class Event(IntEnum):
    """What is reported of a run; every report but RESULT is the last one."""

    RESULT = 0
    DONE = 1  # with the last result, where it is not known yet
    FAILED = 2  # with the error
    STOPPED = 3  # nobody needed it
    DIED = 4  # its process has ended


Receive = Callable[..., None]
"""Takes the number of a run, an event, its result or error, the number of steps so far and the bytes of the result."""


class Workers:
    """Processes that take runs from one queue, each by a thread of this process and a pipe of its own.

    So it is known of which run a process has died, and no other run notices: another process takes its place.

    Parameters
    ----------
    count : int
    context : multiprocessing context
    needed_at : sequence of float
        When each run was needed last, by its number: shared memory, in time.monotonic(), which has one zero for all
        processes of a machine.
    nice : int
    modules : sequence of str
        What a process imports first.

    Raises
    ------
    OSError, EOFError, NotImplementedError
        If no process can be started.
    """

    def __init__(
        self, count: int, context: Any, needed_at: MutableSequence[float], nice: int, modules: Sequence[str]
    ) -> None:
        self.is_closed = False  # its processes are about to be killed, and nothing more is computed
        self._context = context
        self._arguments = needed_at, nice, modules
        self._start_lock = threading.Lock()
        self._runs = SimpleQueue[tuple[int, bytes, int, Receive]]()
        for worker in [self._start_process() for _ in range(count)]:
            threading.Thread(target=self._serve, args=worker, name="tasks", daemon=True).start()

    def submit(self, number: int, function: bytes, known_steps: int, receive: Receive) -> None:
        """Have a process do a run once one is free; arguments as of `run`, the function pickled."""
        self._runs.put((number, function, known_steps, receive))

    def _start_process(self) -> tuple[Any, Connection]:
        connection, own = self._context.Pipe()
        with self._start_lock, own:  # closed here, so that the process alone has it and its death ends the pipe
            process = self._context.Process(target=_work, args=(own, *self._arguments), daemon=True)
            process.start()
        return process, connection

    def _serve(self, process: Any, connection: Connection) -> None:
        """Hand runs to a process one after the other, and hand on what it sends."""
        while True:
            number, function, known_steps, receive = self._runs.get()
            if self.is_closed:
                receive(number, Event.STOPPED, None, 0, 0)
                continue
            if not process.is_alive():
                try:
                    process, connection = self._start_process()
                except (OSError, EOFError):  # no process can be started now, or forked: this thread computes
                    run(number, partial(_begin, function), known_steps, self._arguments[0], receive)
                    continue
            try:
                connection.send((number, function, known_steps))
                is_last = False
                while not is_last:
                    event, content, steps = connection.recv()
                    is_last = event != Event.RESULT
                    try:
                        payload = pickle.loads(content)
                    except Exception as error:
                        event, payload = Event.FAILED, RuntimeError(f"A result could not be read: {error!r}")
                    receive(number, event, payload, steps, len(content))
            except (EOFError, OSError):
                process.join()
                receive(number, Event.DIED, None, 0, 0)


def run(
    number: int,
    function: Callable[[], Iterator[Any]],
    known_steps: int,
    needed_at: MutableSequence[float],
    receive: Receive,
) -> None:
    """Take the steps of a computation as long as it is needed.

    Parameters
    ----------
    number : int
        Of the run.
    function : callable
        Begins the computation.
    known_steps : int
        Steps at first that bring nothing new.
    needed_at : sequence of float
        When each run was needed last.
    receive : callable
        Takes what is reported.
    """
    steps = 0
    sent_at = -math.inf
    latest = None
    pending = None  # the last result that is not sent yet
    try:
        stream = None
        while time.monotonic() - needed_at[number % SLOTS] < KEEP_ALIVE_S:
            if stream is None:
                stream = function()
            try:
                result = next(stream)
            except StopIteration as end:
                receive(number, Event.DONE, pending if end.value is None else end.value, steps + 1, 0)
                return
            steps += 1
            if result is not None and result is not latest:  # the same object again is no news
                latest = result
                pending = result if steps > known_steps else None
            if pending is not None and time.monotonic() - sent_at > SEND_INTERVAL_S:
                receive(number, Event.RESULT, pending, steps, 0)
                sent_at = time.monotonic()
                pending = None
        receive(number, Event.STOPPED, None, steps, 0)
    except BaseException as error:  # SystemExit too: the worker is needed for others
        receive(number, Event.FAILED, error if isinstance(error, Exception) else RuntimeError(repr(error)), steps, 0)


def _work(own: Connection, needed_at: MutableSequence[float], nice: int, modules: Sequence[str]) -> None:
    """Do the runs that come through a pipe, in a process of its own."""
    follow_parent()
    if hasattr(os, "nice"):
        os.nice(nice)
    for name in modules:
        importlib.import_module(name)
    gc.freeze()  # a collection would write to the memory that all workers share
    with suppress(EOFError):
        while True:
            number, function, known_steps = own.recv()
            run(number, partial(_begin, function), known_steps, needed_at, partial(_send, own))


def _begin(function: bytes) -> Iterator[Any]:
    stream: Iterator[Any] = pickle.loads(function)()
    return stream


def _send(own: Connection, _number: int, event: Event, payload: Any, steps: int, _size: int) -> None:
    if event == Event.FAILED:
        payload = _portable(payload)
    own.send((event, pickle.dumps(payload, pickle.HIGHEST_PROTOCOL), steps))


def _portable(error: Exception) -> Exception:
    """The error with its traceback as a note, or another one with its words where no pickle brings it back."""
    error.add_note("".join(traceback.format_exception(error)))
    try:
        pickle.loads(pickle.dumps(error))
    except Exception:
        if isinstance(error, ValueError):  # a sentence for the reader
            return ValueError(str(error))
        return RuntimeError(f"{type(error).__name__}: {error}")
    return error


def follow_parent() -> None:
    """Leave Ctrl-C to the parent of this process, and end when that is killed: it would wait for work for ever."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    threading.Thread(target=_end_with_parent, daemon=True).start()


def _end_with_parent() -> None:
    parent = multiprocessing.parent_process()
    if parent is not None:
        parent.join()
        os._exit(1)
