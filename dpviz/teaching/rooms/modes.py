"""What a class does in a room: it draws intervals, or it guesses."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from dpviz.core.declarations import SEED
from dpviz.teaching.rooms.class_guesses import ClassGuesses, Riddle
from dpviz.teaching.rooms.class_intervals import ClassIntervals
from dpviz.teaching.rooms.settings import RoomSettings, secret_count
from dpviz.teaching.rooms.words import Said, guesses_said, intervals_said


@dataclass(frozen=True, kw_only=True)
class RoomMode:
    """One mode: its `label`, its question, what the class finds and what is `said` of it, and its first mechanism.

    In a mode that `waits` a seat reports when its student has chosen, else by itself. Where a table has been answered,
    another ε draws anew: the answer belongs to what was seen.
    """

    key: str
    label: str
    question: str
    found: type[ClassIntervals] | type[ClassGuesses]
    said: Callable[[Any, int], Said]
    mechanism: str
    waits: bool = False

    def begun(self, settings: RoomSettings) -> RoomSettings:
        """Return the settings of a room in which this mode begins, with other people: of those it may tell how many.

        >>> asked = RoomSettings.fresh(seed=1)
        >>> MODES["guesses"].begun(asked).design.seed, MODES["guesses"].begun(asked).secret == asked.secret
        (2, False)
        """
        seed = int(settings.design.seed % SEED.maximum) + 1
        secret = secret_count(settings.design.n, seed)
        asked = settings.asking(mechanism=self.mechanism, seed=seed, confidential_count=secret)
        return asked.drawn_anew(mode=self.key)

    def changed(self, settings: RoomSettings, **changes: object) -> RoomSettings:
        """Return the settings with other numbers of the design, in the next round where what was seen is no more."""
        asked = settings.asking(**changes)
        return asked.drawn_anew() if self.waits or asked.secret != settings.secret else asked

    def simulated(self, settings: RoomSettings, seat: int) -> int | None:
        """What a seat reports at which nobody sits: the best guess, in a mode in which one guesses."""
        return int(Riddle.of(settings, seat).best) if self.waits else None


_MODES = (
    RoomMode(
        key="intervals",
        label="Intervals",
        question="How many intervals hold the truth?",
        found=ClassIntervals,
        said=intervals_said,
        mechanism="beta_binomial",
    ),
    RoomMode(
        key="guesses",
        label="Who said yes?",
        question="Did the ringed person say yes?",
        found=ClassGuesses,
        said=guesses_said,
        mechanism="geometric",  # of a Beta-binomial with ε = 1 even the best guess is right 51.6 % of the time
        waits=True,
    ),
)
MODES = {mode.key: mode for mode in _MODES}
"""The modes by key, in the order in which a teacher sees them."""
