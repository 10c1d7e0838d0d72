"""Results that grow before the reader's eyes, and are there at once where somebody has seen them before."""

import threading
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from typing import Generic, TypeVar

import streamlit as st

from dpviz.core.keeping import KEPT
from dpviz.core.plain import plain
from pages.components import component
from pages.components.ahead import AHEAD

Result = TypeVar("Result")
AT_ONCE, WORK, REST = 0.9, 0.4, 0.05
"""Seconds of work before the first picture, and before each finer one, and between a picture and the next work."""

BREATH = 0.02  # Seconds after which a pause looks whether a control has been moved

NEXT = 0.4  # Seconds within which a browser has asked for its next step, unless its reader has gone

_component = component("next_step")


@dataclass(kw_only=True)
class Growing(Generic[Result]):
    """A result under way: what it belongs to, where it goes on (None when complete), what there is, why it ended early.

    A step of the stream that brings nothing new yields None.

    The thread that advances it holds the lock: a moved control starts another while the last one is still at work.
    """

    key: object
    stream: Iterator[Result | None] | None
    latest: Result | None = None
    problem: str = ""
    lock: threading.Lock = field(default_factory=threading.Lock)

    def advance(self, seconds: float) -> None:
        """Steps for `seconds`, one at least, or to the end, kept for all; nothing where another thread is at it."""
        if not self.lock.acquire(blocking=False):
            return
        end = time.perf_counter() + seconds
        try:
            for found in self.stream or ():
                self.latest = self.latest if found is None else found
                breathe()
                if time.perf_counter() > end:
                    return
            if self.stream is not None:
                self.stream = None
                keep_finished(self.key, self.latest)
        except ValueError as broken:  # a point of the axis that the synthesizer does not allow
            self.stream, self.problem = None, str(broken)
        finally:
            self.lock.release()


def show_growing(
    growing: Growing[Result],
    words: str,
    draw: Callable[[Result], None],
    *,
    key: str,
    after: float = 0.0,
    slow: bool = False,
) -> None:
    """Draw a result at once where it is there soon, and again and again, finer, where it takes longer.

    A spinner says `words` before the first picture; what stands above has `after` seconds to reach the browser first.
    Where a single step is `slow`, the next one waits until what there is has been drawn: it would fade meanwhile.
    """
    if growing.latest is None:
        pause(after)
        with st.spinner(words):
            growing.advance(AT_ONCE)
    moving = growing.stream is not None

    def again() -> None:
        if moving and not slow:
            growing.advance(WORK)
        if growing.latest is not None:  # otherwise another thread of this reader is still at the first points
            draw(growing.latest)
        if moving and slow:
            pause(REST)
            growing.advance(WORK)
        if growing.problem:
            st.caption(f"The line ends early: {plain(growing.problem)}")
        if moving:
            if growing.stream is None:
                st.rerun()
            ask_for_next_step(key, REST)

    st.fragment(again)()


def ask_for_next_step(key: str, after: float) -> None:
    """Have the fragment that calls this as its last act run again, `after` seconds from when the browser has it all.

    Streamlit's own `run_every` asks at fixed times. A request in the moment in which another run ends makes Streamlit
    throw away the last messages of that run: parts of the page were missing then, or the browser gave up. Here none is
    made while a run is under way or may be on its way, and a slow browser is not sent more than it can draw.
    """
    AHEAD.hold(NEXT)
    data = {"step": str(time.monotonic_ns()), "after": round(1000 * after)}
    _component(key=key, data=data, on_step_change=lambda: None, height=1)


def breathe() -> None:
    """Let Streamlit end this run here if a control has been moved: it looks at every access to the session."""
    st.session_state.get("breath")


def pause(seconds: float) -> None:
    """Let what was sent reach the browser, unless a control is moved meanwhile."""
    end = time.perf_counter() + seconds
    while (left := end - time.perf_counter()) > 0:
        time.sleep(min(left, BREATH))
        breathe()


def growing_of(
    place: str, key: object, kind: type[Result], begin: Callable[[], Iterator[Result | None]]
) -> Growing[Result]:
    """The reader's result that belongs to `key`, all that it follows from: at its `place`, finished, or new."""
    held: Growing[Result] | None = st.session_state.get(place)
    if held is not None and held.key == key:
        return held
    known = finished_before(key, kind)
    found = Growing(key=key, stream=begin() if known is None else None, latest=known)
    st.session_state[place] = found
    return found


def keep_finished(key: object, value: object) -> None:
    """Keep a finished result for all readers."""
    KEPT.keep(("grown", key), value)


def finished_before(key: object, kind: type[Result]) -> Result | None:
    """The complete result that belongs to `key`, where some reader has seen it grow."""
    known = KEPT.find(("grown", key))
    return known[0] if known and isinstance(known[0], kind) else None
