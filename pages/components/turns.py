"""One page is drawn at a time: threads that draw side by side take the interpreter from each other at every step."""

import math
import threading
import time
from collections import deque
from collections.abc import Iterator
from contextlib import contextmanager

import streamlit as st

SMOOTHING = 0.1  # What the last one that has waited counts for in how late turns are
FADES = 1.0  # Seconds after which half of that is forgotten, whoever comes: a class has left by then, or looks on
BUSY = 0.02  # Seconds that turns have come late by where a class moves its sliders
LONGEST = 0.1  # Seconds of a turn: a page is drawn in a fifth of it, and whoever computes for longer must keep nobody


def breathe() -> None:
    """Let Streamlit end this run here if a control has been moved: it looks at every access to the session."""
    st.session_state.get("breath")


class Turns:
    """First come, first served, but who comes back to a page that is half drawn goes before those that begin.

    Whoever has had the turn for `longest` seconds goes on beside the next.
    """

    def __init__(self, longest: float) -> None:
        self._longest = longest
        self._line: deque[threading.Event] = deque()  # the first has the turn
        self._back = 0  # how many of those behind it have come back
        self._since = 0.0
        self._late, self._came = 0.0, time.monotonic()
        self._lock = threading.Lock()
        self._held = threading.local()

    @property
    def late(self) -> float:
        """How many seconds those that begin have waited lately."""
        return self._late * math.exp2((self._came - time.monotonic()) / FADES)

    @property
    def crowded(self) -> bool:
        """Whether somebody waits for a turn, or those have waited lately that begin."""
        return len(self._line) > 1 or self.late > BUSY

    @contextmanager
    def turn(self) -> Iterator[None]:
        """Wait for a turn, and pass it on at the end, however that comes; whoever has it goes on."""
        if self._mine() is not None:
            yield
            return
        self._take()
        try:
            yield
        finally:
            self._leave()

    @contextmanager
    def aside(self) -> Iterator[None]:
        """Leave the turn to others while this thread waits for something, and wait for another one."""
        had = self._mine() is not None
        self._leave()
        yield  # where that raises, the run is over and needs no other turn
        if had:
            self._take(back=True)

    def _mine(self) -> threading.Event | None:
        return getattr(self._held, "turn", None)

    def _take(self, *, back: bool = False) -> None:
        mine, came = threading.Event(), time.monotonic()
        self._held.turn = mine
        with self._lock:
            if not self._line:
                self._line.append(mine)
                self._begin()
            elif back:
                self._back += 1
                self._line.insert(self._back, mine)
            else:
                self._line.append(mine)
        while not mine.wait(self._longest):
            with self._lock:
                # A wait may come back late, when the turn is there and has been passed on.
                if not mine.is_set() and time.monotonic() - self._since >= self._longest:
                    self._pass_on()
        if not back:
            late, self._came = self.late, time.monotonic()
            self._late = late + SMOOTHING * (self._came - came - late)

    def _leave(self) -> None:
        mine, self._held.turn = self._mine(), None
        with self._lock:
            if self._line and self._line[0] is mine:
                self._pass_on()

    def _begin(self) -> None:
        self._since = time.monotonic()
        self._line[0].set()

    def _pass_on(self) -> None:
        self._line.popleft()
        self._back = max(self._back - 1, 0)
        if self._line:
            self._begin()


TURNS = Turns(LONGEST)
