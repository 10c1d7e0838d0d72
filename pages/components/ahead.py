"""What readers are likely to ask for next, computed while nobody is served."""

import threading
import time
from collections.abc import Callable, Hashable, Iterable, Iterator
from contextlib import suppress

from streamlit import runtime

from pages.components.turns import TURNS

LOOK = 0.02  # Seconds until the next look where somebody is served
PATIENCE = 4  # How many times as long as the last step took nobody must have been served before the next
LONGEST = 0.3  # Seconds of work in one step from which on a plan is left
REMEMBERED = 1000  # Plans up to which those that have come to their end are remembered

Step = Callable[[], object]


class Ahead:
    """One thread for the process and one plan, that of whoever was served last; what it computes is kept for all."""

    def __init__(self) -> None:
        self._plan: tuple[Hashable, Iterator[Step]] = None, iter(())
        self._known: set[Hashable] = set()
        self._not_before = 0.0
        self._thread: threading.Thread | None = None

    def follow(self, key: Hashable, steps: Iterable[Step]) -> None:
        """Take up a plan in place of the last one, unless it is known. Nothing without a server."""
        if key in self._known or not runtime.exists():
            return
        if key != self._plan[0]:
            self._plan = key, iter(steps)
        if self._thread is None or not self._thread.is_alive():
            self._thread = threading.Thread(target=self.work, name="ahead", daemon=True)
            self._thread.start()

    def hold(self, seconds: float) -> None:
        """Leave the processor to a reader for whom something else is under way."""
        self._not_before = time.monotonic() + seconds

    def work(self) -> None:
        """Take the steps of the plan, each when nobody has been served for a while, until it has come to its end."""
        took = 0.0
        while (plan := self._plan)[0] not in self._known:
            if TURNS.quiet < max(LOOK, PATIENCE * took) or time.monotonic() < self._not_before:
                time.sleep(LOOK)
                continue
            step, start = next(plan[1], None), time.thread_time()
            if step is not None:
                with suppress(ValueError):  # a stop that is refused: the reader is told when it is reached
                    step()
            took = time.thread_time() - start
            if step is None or took > LONGEST:
                self._known.add(plan[0])
        if len(self._known) > REMEMBERED:
            self._known.clear()


AHEAD = Ahead()
