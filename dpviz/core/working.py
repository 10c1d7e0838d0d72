"""A worker process: ``python -m dpviz.core.working``, which `dpviz.core.pool` starts.

It gives its time to the stream that has had the least of it, so that what is quick comes at once whoever else waits.
"""

import contextlib
import ctypes
import gc
import importlib
import os
import pickle
import queue
import sys
import threading
import time
from collections.abc import Callable, Iterator
from enum import IntEnum
from functools import partial
from typing import BinaryIO, NamedTuple

from dpviz.core.types import Result

STOPPED = 0.5  # Seconds of work in one step of what nobody asks for after which the process ends, the first time
LONGER = 4.0  # How many times as long the step of a stream may take after each end of a process by it
QUANTUM = 0.012  # Seconds of steps of one stream before another may go on that was just asked for
AGING = 0.1  # Seconds of work that a second of waiting makes up for
FIRST, GROWS, SILENT = 0.05, 2.0, 0.5
"""Seconds of its work after which more than the first result is told, what they grow by from one to the next, and the
seconds of its work between two at most."""

IDLE = 1.0  # Seconds without work after which a worker gives back what memory it has free


class About(IntEnum):
    """What a message is about: the first four and the one on a move go to a worker, the others come from it."""

    START = 0
    REST = 1
    GO_ON = 2
    LEAVE = 3
    NEWS = 4
    END = 5
    FAILED = 6
    STILL = 7
    MOVED = 8
    STUCK = 9


class Message(NamedTuple):
    """A message about the stream with this number; what it says is pickled by itself: it may name what is not there.

    `steps` are those after which its last result was told, and `ends` how many processes its steps have ended.
    """

    about: About
    number: int
    said: bytes = b""
    steps: int = 0
    ends: int = 0


def write(to: BinaryIO, message: Message) -> None:
    """Send a message."""
    pickle.dump(message, to, pickle.HIGHEST_PROTOCOL)
    to.flush()


def step_of(stream: Iterator[Result]) -> tuple[Result | None, bool]:
    """The next of a stream, and whether that was all: what it returns, if anything, comes last.

    >>> step_of(iter([7])), step_of(iter([]))
    ((7, False), (None, True))
    """
    try:
        return next(stream), False
    except StopIteration as end:
        return end.value, True


class Job:
    """A stream that a worker goes on with; what it had before its first `steps` is known from another worker."""

    def __init__(self, number: int, stream: Iterator[object], steps: int = 0) -> None:
        self.number, self.stream = number, stream
        self.spent, self.due, self.resting = 0.0, FIRST if steps else 0.0, False
        self._known, self._steps = steps, 0
        self._new: object = None
        self._came = time.monotonic()

    @property
    def turn(self) -> tuple[bool, int, float]:
        """What has told nothing yet comes first, the first of those that have had about as little; then the least had.

        To take turns among those would have all of them come late. How long one has been there makes up for what it
        has had: without that, what is always new would starve it.
        """
        told, had = self.due > 0, self.spent - AGING * (time.monotonic() - self._came)
        return told, 0 if told else int(had / FIRST), had if told else self._came

    def advance(self, tell: Callable[[Message], None], asked: Callable[[], bool]) -> bool:
        """Take steps for a while, or until there is more to tell if nothing is asked; returns whether it goes on.

        To turn to another at every moment would have each compute again what the others have driven out of memory.
        """
        start, over = time.thread_time(), False
        while not over and (
            (spent := time.thread_time() - start) < QUANTUM
            or (self.due and self.spent + spent < self.due and not asked())
        ):
            step, over = step_of(self.stream)
            self._steps += 1
            self._new = self._new if step is None else step
            if self._new is not None and not self.due:
                break
        self.spent += time.thread_time() - start
        if over or (self._new is not None and self.spent >= self.due and self._steps > self._known):
            self.due = max(FIRST, min(GROWS * self.spent, self.spent + SILENT))
            kind = About.END if over else About.NEWS
            tell(Message(kind, self.number, pickle.dumps(self._new), self._steps))
            self._new = None
        return not over


class Inbox:
    """Messages that have come, and `at`, the stream whose step goes on, told before the last look for a message."""

    def __init__(self) -> None:
        self._messages: queue.SimpleQueue[Message] = queue.SimpleQueue()
        self._unwanted: dict[int, Message] = {}  # the last word on each stream that is to stand still, not yet taken
        self.at: int | None = None

    def put(self, message: Message) -> bool:
        """Add one; returns whether a stream is to stand still."""
        stops = message.about in (About.REST, About.LEAVE)
        if stops:
            self._unwanted[message.number] = message
        else:
            self._unwanted.pop(message.number, None)
        self._messages.put(message)
        return stops

    @property
    def waits(self) -> bool:
        """Whether a message has come that is not taken yet."""
        return not self._messages.empty()

    def get(self, seconds: float | None) -> Message:
        """The next one, waited for so many seconds, or for ever; `queue.Empty` is raised where none has come."""
        message = self._messages.get(timeout=seconds)
        if self._unwanted.get(message.number) is message:
            self._unwanted.pop(message.number, None)
        return message

    def stand_still(self, message: Message, tell: Callable[[Message], None]) -> None:
        """Tell once a stream stands still; where its step works on for too long, tell that and end the process.

        A step of another stream has all its time, and what is asked for again goes on.
        """
        number, start, most = message.number, time.process_time(), STOPPED * LONGER**message.ends
        while self.at == number and self._unwanted.get(number) is message:
            if time.process_time() - start > most:
                tell(Message(About.STUCK, number))
                os._exit(1)
            time.sleep(STOPPED / 10)
        if self._unwanted.get(number, message) is message:
            tell(Message(About.STILL, number))


def work(asked: Inbox, tell: Callable[[Message], None]) -> None:
    """Go on with the stream that has had the least time, for ever."""
    jobs: dict[int, Job] = {}
    worked = False
    while True:
        job = min((one for one in jobs.values() if not one.resting), key=lambda one: one.turn, default=None)
        asked.at = None if job is None else job.number
        with contextlib.suppress(queue.Empty):
            kind, number, said, steps, _ = asked.get(0.0 if job else IDLE if worked else None)
            asked.at = None
            if kind is About.START:
                _try(tell, number, partial(_begin, jobs, number, said, steps))
            elif kind in (About.LEAVE, About.MOVED):
                jobs.pop(number, None)
            elif number in jobs:
                jobs[number].resting = kind is About.REST
            continue
        worked = job is not None
        if job is None:
            _return_memory()
        elif not _try(tell, job.number, partial(job.advance, tell, lambda: asked.waits)):
            jobs.pop(job.number, None)


def _return_memory() -> None:
    """Give what is free to the machine: in pieces between what is held it would stay with the process."""
    with contextlib.suppress(AttributeError, OSError, TypeError):  # there is the GNU C library alone for that
        ctypes.CDLL(None).malloc_trim(0)


def _begin(jobs: dict[int, Job], number: int, said: bytes, steps: int) -> None:
    jobs[number] = Job(number, pickle.loads(said)(), steps)


def _try(tell: Callable[[Message], None], number: int, act: Callable[[], Result]) -> Result | None:
    """What an act returns; what it raises is told, and None returned."""
    try:
        return act()
    except Exception as broken:
        try:
            said = pickle.dumps(broken)
            pickle.loads(said)
        except Exception:  # an error that does not come back from a pickle
            said = pickle.dumps(RuntimeError(f"{type(broken).__name__}: {broken}"))
        tell(Message(About.FAILED, number, said))
        return None


def serve() -> None:
    """Be a worker: messages come from the input, results go to the output, and what is printed goes to the errors."""
    source, target = os.fdopen(os.dup(0), "rb"), os.fdopen(os.dup(1), "wb")
    os.dup2(2, 1)
    nice, *modules = sys.argv[1:]
    if hasattr(os, "nice"):
        os.nice(int(nice))
    for name in modules:
        importlib.import_module(name)
    gc.collect()
    gc.freeze()
    asked, one_at_a_time = Inbox(), threading.Lock()

    def tell(message: Message) -> None:
        with one_at_a_time:
            write(target, message)

    def listen() -> None:
        with contextlib.suppress(EOFError, OSError):
            while True:
                message = pickle.load(source)
                if asked.put(message):
                    threading.Thread(target=asked.stand_still, args=(message, tell), daemon=True).start()
        os._exit(0)  # whoever asked is gone

    threading.Thread(target=listen, daemon=True).start()
    with contextlib.suppress(BrokenPipeError):
        work(asked, tell)


if __name__ == "__main__":
    from dpviz.core import working  # under its own name, by which pickles know what it holds

    working.serve()
