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
from concurrent.futures import Future, ProcessPoolExecutor
from concurrent.futures.process import BrokenProcessPool
from contextlib import suppress
from dataclasses import dataclass
from enum import IntEnum
from multiprocessing.connection import Connection
from typing import Any, NamedTuple

KEEP_ALIVE_S = 2.0  # a computation ends at its next step if nobody has needed it for so long
SEND_INTERVAL_S = 0.25  # between two results that are sent: pages are drawn no more than some times a second
CLOSE_TIMEOUT_S = 1.0  # of killed processes, which takes some hundredths
SLOTS = 4096  # of the arrays that workers share; two computations in one slot only live longer


class Event(IntEnum):
    """What is reported of a run; every report but RESULT is the last one."""

    RESULT = 0
    DONE = 1  # with the last result, where it is not known yet
    FAILED = 2  # with the error
    STOPPED = 3  # nobody needed it
    LOST = 4  # a worker died before it began
    DIED = 5  # its worker may have died of it


class SharedArrays(NamedTuple):
    """What server and workers both read, a slot for each run by its number."""

    needed_at: MutableSequence[float]  # in time.monotonic(), which has one zero for all processes of a machine
    begun: MutableSequence[int]  # number of the run that last began in the slot


Receive = Callable[..., None]
"""Takes the number of a run, an event, its result or error, the number of steps so far and the bytes of the result."""


@dataclass(frozen=True)
class _Channel:
    """What a worker needs to report."""

    writer: Connection
    write_lock: Any
    arrays: SharedArrays


_channel: _Channel  # in a worker process alone


class Workers:
    """Processes with a pipe for their results, replaced all together once one of them has died.

    A worker that is killed while it sends keeps the lock and leaves half a message, which makes the pipe useless. Hence
    each executor has a pipe and a lock of its own.
    """

    def __init__(self, count: int, context: Any, arrays: SharedArrays, nice: int, modules: Sequence[str]) -> None:
        self.is_broken = False
        self._arrays = arrays
        self._receivers: dict[int, Receive] = {}  # of the runs that have not ended
        self._close_lock = threading.Lock()
        self._reader, self._writer = context.Pipe(duplex=False)
        channel = _Channel(self._writer, context.Lock(), arrays)
        self._executor = ProcessPoolExecutor(count, context, _initialize, (channel, nice, modules))
        for _ in range(count):
            self._executor.submit(time.sleep, 0.1)  # each starts a process, as long as none is idle
        self._listener = threading.Thread(target=self._listen, name="tasks", daemon=True)
        self._listener.start()

    def submit(self, number: int, function: bytes, known_steps: int, receive: Receive) -> None:
        """Have a process do a run once it is free; BrokenProcessPool is raised if a worker has died, or OSError."""
        self._receivers[number] = receive
        try:
            future = self._executor.submit(_run_pickled, number, function, known_steps)
        except Exception as error:
            self._receivers.pop(number, None)
            if isinstance(error, BrokenProcessPool):
                self._give_up()
            raise
        future.add_done_callback(self._check)

    def close(self) -> None:
        """Wait until all threads and queues of killed processes are gone."""
        self._give_up()
        self._listener.join(CLOSE_TIMEOUT_S)

    def _check(self, future: Future[None]) -> None:
        """Notice that a worker has died.

        Some versions call this with the lock of the executor held, which `submit` takes. So no lock that is held around
        `submit` may be taken here: the listening thread does the rest.
        """
        if not future.cancelled() and isinstance(future.exception(), BrokenProcessPool):
            self._give_up()

    def _give_up(self) -> None:
        self.is_broken = True
        with self._close_lock:
            self._writer.close()  # the executor ends all workers, and the listening thread then reads the end

    def _listen(self) -> None:
        """Hand on what the workers send; once all of them have ended, have the remaining runs started again."""
        with suppress(EOFError, OSError):
            while True:
                self._deliver(*self._reader.recv())
        self._executor.shutdown()  # no further run can be submitted then
        for number, receive in list(self._receivers.items()):
            had_begun = self._arrays.begun[number % SLOTS] == number
            receive(number, Event.DIED if had_begun else Event.LOST, None, 0, 0)
        self._reader.close()

    def _deliver(self, number: int, event: Event, content: bytes, steps: int) -> None:
        try:
            payload = pickle.loads(content)
        except Exception as error:
            event = Event.FAILED
            payload = RuntimeError(f"A result could not be read: {error!r}")
        receive = self._receivers.get(number)
        if event != Event.RESULT:
            self._receivers.pop(number, None)
        if receive is not None:
            receive(number, event, payload, steps, len(content))


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
                pending = result
            if pending is not None and steps > known_steps and time.monotonic() - sent_at > SEND_INTERVAL_S:
                receive(number, Event.RESULT, pending, steps, 0)
                sent_at = time.monotonic()
                pending = None
        receive(number, Event.STOPPED, None, steps, 0)
    except BaseException as error:  # SystemExit too: the worker is needed for others
        receive(number, Event.FAILED, error if isinstance(error, Exception) else RuntimeError(repr(error)), steps, 0)


def _run_pickled(number: int, function: bytes, known_steps: int) -> None:
    _channel.arrays.begun[number % SLOTS] = number
    run(number, lambda: pickle.loads(function)(), known_steps, _channel.arrays.needed_at, _send)


def _send(number: int, event: Event, payload: Any, steps: int, _size: int) -> None:
    if event == Event.FAILED:
        payload = _portable(payload)
    content = pickle.dumps(payload, pickle.HIGHEST_PROTOCOL)
    with _channel.write_lock:
        _channel.writer.send((number, event, content, steps))


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


def _initialize(channel: _Channel, nice: int, modules: Sequence[str]) -> None:
    global _channel
    _channel = channel
    follow_parent()
    if hasattr(os, "nice"):
        os.nice(nice)
    for name in modules:
        importlib.import_module(name)
    gc.freeze()  # a collection would write to the memory that all workers share


def follow_parent() -> None:
    """Leave Ctrl-C to the parent of this process, and end when that is killed: it would wait for work for ever."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    threading.Thread(target=_end_with_parent, daemon=True).start()


def _end_with_parent() -> None:
    parent = multiprocessing.parent_process()
    if parent is not None:
        parent.join()
        os._exit(1)
