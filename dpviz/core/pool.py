"""Long computations in processes beside the one that serves, each shared by all who ask the same.

A question is a stream of results, coarse to fine. A stream that nobody asks for rests soon, and one whose step does not
end then is ended with its process: asked for again it begins anew, and may take longer for a step. Where there is no
process, or a question cannot be sent to one, who asks takes the steps.
"""

import contextlib
import math
import os
import pickle
import queue
import subprocess
import sys
import threading
import time
import weakref
from collections.abc import Callable, Generator, Hashable, Iterator, Sequence
from functools import partial
from pathlib import Path
from typing import Any, BinaryIO, Generic, Protocol, TypeVar

from dpviz.core.types import Result
from dpviz.core.working import LONGER, About, Message, step_of, write

Result_co = TypeVar("Result_co", covariant=True)
Begin = Callable[[], Iterator[Result | None]]
"""Begins a stream; a step that brings nothing new yields None, and what is returned is the last result."""

WANTED = 1.2  # Seconds after which a stream that nobody has asked for rests
FORGOTTEN = 60.0  # Seconds after which such a stream is left
ENDED = 10.0  # Seconds after which a worker is ended that has not stopped, and has not ended itself either,
WORKED = 2.0  # if it has worked for so long of them: on a machine that has no time for it, it has not heard yet
LOOK = 0.25  # Seconds between two looks at who still asks
BREATH = 0.02  # Seconds between two looks of one who waits at whether it is still worth it
ALONE = 0.3  # Seconds of steps that who asks takes at most at a time, where no process does
NICE = 15  # How willingly a worker gives way whose results nobody has to wait for
TRIES = 4  # Processes that may die of a stream
DIED = "The computation ended without a result, again and again. Another setting may have one."
# Where the C library is glibc, arrays of a few hundred kB are taken from memory that is there already: to be given new
# pages for each took a fifth of the time of a transform. What is beyond 32 MB goes back to the system as before.
MEMORY = {"MALLOC_MMAP_THRESHOLD_": str(2**22), "MALLOC_TRIM_THRESHOLD_": str(2**25)}
ENOUGH_TO_SHARE = 3  # Streams of a worker from which on one is moved to a worker that has none, where it begins anew
BEHIND = 2  # Streams that pages wait for, in one worker: what is short is then computed sooner in place
CROWDED = 4  # Streams of every worker that gives way from which on another one is started


class UnderWay(Protocol[Result_co]):
    """A computation that goes on: the latest result, how many there were, and whether and how it has ended."""

    @property
    def latest(self) -> Result_co | None: ...
    @property
    def count(self) -> int: ...
    @property
    def finished(self) -> bool: ...
    @property
    def problem(self) -> Exception | None: ...
    def wait(self, seconds: float, breathe: Callable[[], object], beyond: int | None = None) -> None:
        """Until it is finished, or has more than `beyond` results, for `seconds` at most."""


class InPlace(Generic[Result]):
    """A computation whose steps are taken by those who wait for it."""

    def __init__(self, begin: Begin[Result]) -> None:
        self._stream, self._lock = begin(), threading.Lock()
        self.latest: Result | None = None
        self.count, self.finished = 0, False
        self.problem: Exception | None = None

    def wait(self, seconds: float, breathe: Callable[[], object], beyond: int | None = None) -> None:
        """Take steps, at least one, and no more than to the first result where that is waited for.

        While another thread is at it, nothing happens but the wait.
        """
        if self.finished or not self._lock.acquire(timeout=min(seconds, ALONE)):
            return
        end = time.perf_counter() + (seconds if beyond is None else min(seconds, ALONE))
        try:
            while not self.finished:
                found, self.finished = step_of(self._stream)
                if found is not None:
                    self.latest, self.count = found, self.count + 1
                breathe()
                if time.perf_counter() > end or (beyond == 0 and self.count):
                    return
        except ValueError as broken:
            self.problem, self.finished = broken, True
        finally:
            self._lock.release()


class Elsewhere(Generic[Result]):
    """A computation that a worker begins once somebody waits, and goes on with as long as somebody does."""

    def __init__(self, number: int, begin: bytes, place: "Callable[[Elsewhere[Any]], None]") -> None:
        self.number, self.begin, self._place = number, begin, place
        self.latest: Result | None = None
        self.count, self.finished = 0, False
        self.problem: Exception | None = None
        self.wanted, self.resting, self.tries = time.monotonic(), False, 0
        self.steps, self.moved, self.ends = 0, False, 0
        self.worker: _Worker | None = None
        self.changing = threading.Lock()
        """Held while it is told whether it rests: what is noted here and what a worker heard last would differ else."""
        self._news = threading.Condition()

    def _go_on(self) -> None:
        with self.changing:
            self.resting = False
            if self.worker is not None:
                self.worker.go_on(self.number)

    def wait(self, seconds: float, breathe: Callable[[], object], beyond: int | None = None) -> None:
        """Wait; `breathe` is called meanwhile, and may raise where it is not worth it any more."""
        end = time.monotonic() + seconds
        while not self.finished and (beyond is None or self.count <= beyond):
            self.wanted = now = time.monotonic()
            if self.worker is None:
                self._place(self)
            elif self.resting:
                self._go_on()
            if now >= end:
                return
            with self._news:
                self._news.wait(min(end - now, BREATH))
            breathe()

    def take(self, kind: About, said: bytes, steps: int = 0) -> None:
        """Take what has come from a worker."""
        value = pickle.loads(said)
        with self._news:
            self.steps = steps
            if kind is About.FAILED:
                self.problem = value
            elif value is not None:
                self.latest, self.count = value, self.count + 1
            self.finished = kind in (About.END, About.FAILED)
            self._news.notify_all()


class _Worker:
    """A worker process as it is seen from where it is asked."""

    def __init__(self, modules: Sequence[str], nice: int) -> None:
        root = Path(__file__).parents[2]
        path = os.pathsep.join([str(root), *filter(None, [os.environ.get("PYTHONPATH")])])
        self.nice = nice
        self._process = subprocess.Popen(
            [sys.executable, "-m", "dpviz.core.working", str(nice), *modules],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            env={**os.environ, **MEMORY, "OPENBLAS_NUM_THREADS": "1", "PYTHONPATH": path},
        )
        self.streams: dict[int, weakref.ref[Elsewhere[Any]]] = {}
        self._stopping: dict[int, tuple[float, float]] = {}  # Until when, and what work, a stream is to stand still
        self.ended = False  # for a step that nobody asked for, not by what it was at
        self._lock = threading.Lock()

    def start(self, one: Elsewhere[Any]) -> None:
        """Begin with a stream; one that rests goes on when it is asked for."""
        with one.changing:
            one.worker = self
            self.streams[one.number] = weakref.ref(one)
            self.tell(Message(About.START, one.number, one.begin, one.steps))
            if one.resting:
                self.tell(Message(About.REST, one.number, ends=one.ends))

    def go_on(self, number: int) -> None:
        """Go on with a stream that rests."""
        self._stopping.pop(number, None)
        self.tell(Message(About.GO_ON, number))

    def leave(self, number: int) -> None:
        """Leave a stream, unless it has ended; it begins anew where it is asked for again."""
        held = self.streams.pop(number, None)
        if held is not None:
            self._stop(About.LEAVE, number)
            if (one := held()) is not None:
                one.worker = None

    def look(self) -> bool:
        """Have rest what nobody asks for, and end a process that has not stopped; returns whether it has anything."""
        now = time.monotonic()
        for one in self._held():
            if not one.resting and now - one.wanted > WANTED:
                with one.changing:
                    one.resting = True
                    self._stop(About.REST, one.number, one.ends)
            elif one.resting and now - one.wanted > FORGOTTEN:
                self.leave(one.number)
        for number, (until, work) in [*self._stopping.items()]:
            if until < now and _worked(self._process.pid) >= work:
                self._blame(number)
                self.end()  # whoever listens has another one take its place
        return bool(self.streams or self._stopping)

    def take(self, message: Message) -> None:
        """Take what the process says."""
        kind, number, said, steps, _ = message
        if kind is About.STILL:
            self._stopping.pop(number, None)
        elif kind is About.STUCK:
            self._blame(number)
        elif (one := self.streams.get(number, lambda: None)()) is not None:
            one.take(kind, said, steps)
        if kind in (About.END, About.FAILED):
            self.streams.pop(number, None)

    def take_over(self, gone: "_Worker") -> None:
        """Begin anew with what a process had that is gone, unless it died of that again and again."""
        for one in gone._held():
            one.tries += not (one.resting or gone.ended)
            if one.tries < TRIES:
                self.start(one)
            else:
                one.take(About.FAILED, pickle.dumps(ValueError(DIED)))

    def running(self) -> list[Elsewhere[Any]]:
        """The streams that somebody asks for, in the order in which they began."""
        return [one for one in self._held() if not (one.resting or one.finished)]

    def move(self, one: Elsewhere[Any], to: "_Worker") -> None:
        """Leave a stream to another worker."""
        self.streams.pop(one.number, None)
        self.tell(Message(About.MOVED, one.number))
        one.moved = True
        to.start(one)

    def _held(self) -> list[Elsewhere[Any]]:
        return [one for held in [*self.streams.values()] if (one := held()) is not None]

    def _stop(self, kind: About, number: int, ends: int = 0) -> None:
        self._stopping[number] = time.monotonic() + ENDED, _worked(self._process.pid) + WORKED * LONGER**ends
        self.tell(Message(kind, number, ends=ends))

    def _blame(self, number: int) -> None:
        """The process ends by a step of this stream, and of no other."""
        if not self.ended and (one := self.streams.get(number, lambda: None)()) is not None:
            one.ends += 1
        self.ended = True

    def tell(self, message: Message) -> None:
        """Send a message; nothing where the process is gone, which is noticed elsewhere."""
        with self._lock, contextlib.suppress(OSError, ValueError):
            write(self._in, message)

    @property
    def _in(self) -> BinaryIO:
        assert self._process.stdin is not None
        return self._process.stdin  # type: ignore[return-value]

    def listen(self) -> Iterator[Message]:
        """What it says, until it is gone."""
        assert self._process.stdout is not None
        with contextlib.suppress(EOFError, OSError, ValueError, pickle.UnpicklingError):
            while True:
                yield pickle.load(self._process.stdout)

    def end(self) -> None:
        """End the process, whatever it is at: whoever listens hears of it."""
        self.ended = True
        self._process.kill()

    def close(self) -> None:
        """Leave nothing behind of a process that is gone."""
        with self._lock:
            self._process.kill()
            self._process.wait()
            for pipe in filter(None, (self._process.stdin, self._process.stdout)):
                with contextlib.suppress(OSError):
                    pipe.close()


def _worked(process: int) -> float:
    """The seconds of a processor that a process has used; endless where the system does not say so."""
    try:
        parts = Path(f"/proc/{process}/stat").read_text("utf-8").rpartition(")")[2].split()
    except OSError:
        return math.inf
    return (int(parts[11]) + int(parts[12])) / os.sysconf("SC_CLK_TCK")


class Pool:
    """Workers, and what they are asked; whether they may be `busy`."""

    def __init__(self) -> None:
        self._workers: list[_Worker] = []
        self._modules: Sequence[str] = ()
        self._most = 0
        self._asked: weakref.WeakValueDictionary[Hashable, UnderWay[Any]] = weakref.WeakValueDictionary()
        self._lock, self._count = threading.Lock(), 0
        self._left: queue.SimpleQueue[int] = queue.SimpleQueue()
        self.busy = False

    def start(self, processes: int, modules: Sequence[str] = (), most: int = 0) -> None:
        """Start so many workers, as far as processes are to be had, which load the modules before they are asked.

        Where they have much to do, others are started, up to `most`.
        """
        self._modules, self._most = modules, most
        threading.Thread(target=self._look, name="pool", daemon=True).start()
        with self._lock, contextlib.suppress(OSError):
            for place in range(processes):
                self._add(NICE if place else 0)

    def stop(self) -> None:
        """End the workers."""
        with self._lock:
            gone, self._workers = self._workers, []
        for worker in gone:
            worker.end()

    @property
    def behind(self) -> bool:
        """Whether what a page waits for would have to wait for others."""
        return any(not one.nice and len(one.streams) >= BEHIND for one in [*self._workers])

    def ask(self, key: Hashable, begin: Begin[Result], *, waited_for: bool = False) -> UnderWay[Result]:
        """A computation, the same one for all that ask with the same key as long as one of them holds it.

        What a reader has `waited_for` before a page is answered has a worker of its own, which does not give way.
        """
        with self._lock:
            held = self._asked.get(key)
            if held is not None:
                return held
            made = self._begin(begin, waited_for)
            self._asked[key] = made
        return made

    def _begin(self, begin: Begin[Result], waited_for: bool) -> UnderWay[Result]:
        if not self._workers:
            return InPlace(begin)
        try:
            said = pickle.dumps(begin, pickle.HIGHEST_PROTOCOL)
        except (pickle.PicklingError, AttributeError, TypeError):  # what a reader's own or a registered class holds
            return InPlace(begin)
        self._count += 1
        made = Elsewhere[Result](self._count, said, partial(self._place, waited_for))
        weakref.finalize(made, self._left.put, made.number).atexit = False
        return made

    def _place(self, waited_for: bool, one: Elsewhere[Any]) -> None:
        """Begin with a stream, or anew with one that was left."""
        with self._lock:
            if one.worker is None and self._workers:
                one.resting = False
                self._start(one, waited_for)

    def _start(self, one: Elsewhere[Any], waited_for: bool) -> None:
        worker = min(self._workers, key=lambda one: ((one.nice == 0) != waited_for, len(one.streams)))
        if worker.nice and len(worker.streams) >= CROWDED and len(self._workers) < self._most:
            with contextlib.suppress(OSError):
                worker = self._add(NICE)
        worker.start(one)
        self.busy = True
        self._left.put(0)  # so that it is looked after

    def _add(self, nice: int) -> _Worker:
        made = _Worker(self._modules, nice)
        self._workers.append(made)
        threading.Thread(target=self._listen, args=(made,), name="worker", daemon=True).start()
        return made

    def _listen(self, worker: _Worker) -> None:
        for message in worker.listen():
            worker.take(message)
        worker.close()
        with self._lock, contextlib.suppress(OSError):
            if worker in self._workers:
                self._workers.remove(worker)
                self._add(worker.nice).take_over(worker)

    def _look(self) -> None:
        """Leave at once what nobody holds, have rest what nobody asks for, and end a worker that does not stop."""
        looked = 0.0
        while True:
            with contextlib.suppress(queue.Empty):
                number = self._left.get(timeout=LOOK if self.busy else None)
                self.busy = True  # what has begun during the look before this one was not seen by it
                for worker in [*self._workers]:
                    worker.leave(number)
            if (now := time.monotonic()) - looked >= LOOK / 2:
                self.busy, looked = sum(worker.look() for worker in [*self._workers]) > 0, now
                self._share()

    def _share(self) -> None:
        """Have a worker with nothing to do take a stream of one that has several: the last, which has had the least.

        It begins anew there, and tells nothing that is known. So it is moved once.
        """
        with self._lock:
            running = {worker: worker.running() for worker in self._workers if worker.nice}
            idle = next((worker for worker, streams in running.items() if not streams), None)
            full = max(running, key=lambda one: len(running[one]), default=None)
            if idle is None or full is None or len(running[full]) < ENOUGH_TO_SHARE:
                return
            if movable := [one for one in running[full] if not one.moved]:
                full.move(movable[-1], idle)


POOL = Pool()
"""All that is computed beside the process that serves."""


def single(function: Callable[..., Result], *args: Any, **rest: Any) -> Generator[Result | None, None, Result]:
    """A single result as a stream, over as soon as it is there; a computation in steps stops between them."""
    found: Any = function(*args, **rest)
    return (yield from found) if isinstance(found, Generator) else found
