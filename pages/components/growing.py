"""Results that grow before the reader's eyes, and are there at once where somebody has seen them before."""

import itertools
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any, Generic, TypeVar

import streamlit as st

from dpviz.core.keeping import KEPT
from dpviz.core.plain import plain
from dpviz.core.pool import POOL, UnderWay
from pages.components import component
from pages.components.turns import TURNS, breathe

Result = TypeVar("Result")
AT_ONCE = 0.02  # Seconds that a run waits for what may be complete so soon; what takes longer comes when it comes
NEWS = 8.0  # Seconds that a step waits for something new: to draw the same again takes time from what grows
PATIENCE = 8.0  # How many times as long as others have waited for their turn lately a step stays away
REST = 0.05  # Seconds between a picture and the next step

_component = component("next_step")


@dataclass(kw_only=True)
class Growing(Generic[Result]):
    """A result under way: what it belongs to, where it goes on (None when complete), what there is, why it ended early.

    All who ask for the same share what is under way.
    """

    key: object
    stream: UnderWay[Result] | None
    latest: Result | None = None
    problem: str = ""

    def begin(self) -> None:
        """Have it begin, if it has not, and wait for nothing: what is drawn meanwhile takes none of its time."""
        if self.stream is not None:
            self.stream.wait(0.0, breathe)

    def advance(self, seconds: float, beyond: int | None = None) -> None:
        """Take what is there after `seconds`, at the end, or as soon as there are more than `beyond` results."""
        if self.stream is not None:
            with TURNS.aside():
                self.stream.wait(seconds, breathe, beyond)
            self._take()

    def _take(self) -> None:
        """Take what is there."""
        going = self.stream
        if going is None:
            return
        over = going.finished  # looked at before what there is: the last result may come in between
        self.latest = self.latest if going.latest is None else going.latest
        if not over:
            return
        self.stream = None
        if going.problem is None:
            keep_finished(self.key, self.latest)
        elif isinstance(going.problem, ValueError):  # a point of the axis that the synthesizer does not allow
            self.problem = str(going.problem)
        else:
            raise going.problem

    def now(self) -> None:
        """Take what is there, and have it go on."""
        self.advance(0.0)

    def soon(self, enough: Callable[[Result], bool] = lambda _: False, seconds: float | None = None) -> None:
        """Take what is there in a moment, or once it is enough; where others wait for their turn, what is there now.

        A step begins the rest then: of thirty readers who move most have moved again by then, and what nobody sees
        would take the processor from them.
        """
        self._take()
        if TURNS.crowded:
            return
        end = time.monotonic() + (AT_ONCE if seconds is None else seconds)
        with TURNS.aside():
            while self.stream is not None and not (self.latest is not None and enough(self.latest)):
                self.advance(max(end - time.monotonic(), 0.0), self.stream.count)
                if time.monotonic() >= end:
                    break

    def further(self) -> None:
        """Wait for the next result for a while."""
        if self.stream is not None:
            self.advance(NEWS, self.stream.count)

    def first(self) -> Result:
        """The first result, waited for; a ValueError where there is none."""
        while self.latest is None and self.stream is not None:
            self.advance(NEWS, 0)
        if self.latest is None:
            raise ValueError(self.problem)
        return self.latest

    def last(self) -> Result:
        """The complete result, waited for; a ValueError where there is none."""
        while self.stream is not None:
            self.further()
        return self.first()


def show_growing(
    growing: Growing[Result],
    words: str | Callable[[str], object],
    draw: Callable[[Result], None],
    *,
    key: str,
    beside: Growing[Any] | None = None,
) -> None:
    """Draw a result at once where it is there soon, and again and again, finer, as it comes; until then say `words`.

    Where these are a function, it is called as long as there is nothing, with why it ended so, if it has. What is drawn
    has another result in it as well, where there is one `beside`.
    """
    growing.soon()
    runs = itertools.count()

    def under_way() -> list[Growing[Any]]:
        return [one for one in (growing, beside) if one is not None and one.stream is not None]

    def again() -> None:
        if next(runs):
            for place, one in enumerate(under_way()):
                one.now() if place else one.further()
        with TURNS.turn():
            if growing.latest is not None:
                draw(growing.latest)
            elif callable(words):
                words(growing.problem)
            elif not growing.problem:
                st.caption(words)
            if growing.problem and not (callable(words) and growing.latest is None):
                st.caption(f"The line ends early: {plain(growing.problem)}")
        if under_way():
            ask_for_next_step(key, REST)

    st.fragment(again)()


def ask_for_next_step(key: str, after: float, watch: str = "", seen: str = "") -> None:
    """Have the fragment that calls this as its last act run again, `after` seconds from when the browser has it all.

    Where there is something to `watch`, an address relative to the page, it runs again once that tells something else
    than what was `seen`, which the browser looks at every `after` seconds.

    Streamlit's own `run_every` asks at fixed times. A request in the moment in which another run ends makes Streamlit
    throw away the last messages of that run: parts of the page were missing then, or the browser gave up. Here none is
    made while a run is under way or may be on its way, and a slow browser is not sent more than it can draw. Where
    many wait for their turn, steps come later.
    """
    late = 0.0 if watch else PATIENCE * TURNS.late  # to look for news takes nobody's turn
    data = {"step": str(time.monotonic_ns()), "after": round(1000 * (after + late))}
    if watch:
        data |= {"watch": watch, "seen": seen}
    _component(key=key, data=data, on_step_change=lambda: None, height=1)


def growing_of(
    place: str, key: object, kind: type[Result], begin: Callable[[], Iterator[Result | None]], *, answer: bool = False
) -> Growing[Result]:
    """The reader's result that belongs to `key`, all that it follows from: at its `place`, finished, or new.

    A page waits for an `answer`, of which the whole is there soon.
    """
    held: Growing[Result] | None = st.session_state.get(place)
    if held is not None and held.key == key:
        return held
    known = finished_before(key, kind)
    stream = POOL.ask(("grown", key), begin, waited_for=answer) if known is None else None
    found = st.session_state[place] = Growing(key=key, stream=stream, latest=known)
    return found


def keep_finished(key: object, value: object) -> None:
    """Keep a finished result for all readers."""
    KEPT.keep(("grown", key), value)


def finished_before(key: object, kind: type[Result]) -> Result | None:
    """The complete result that belongs to `key`, where some reader has seen it grow."""
    known = KEPT.find(("grown", key))
    return known[0] if known and isinstance(known[0], kind) else None
