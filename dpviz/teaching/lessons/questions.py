"""What a step asks: one of several, a number on a slider, or an order; the right answer is always computed."""

import math
from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from itertools import permutations
from typing import Any

from dpviz.core.escape import single_line
from dpviz.core.formatting import format_number

Guessed = str | float | tuple[str, ...]
"""One of several by its key, a number, or keys in an order."""

RIGHT = "right"
"""The verdict on a guess that needs no more than to be confirmed."""


@dataclass(frozen=True)
class Moment:
    """Where a reader is in a step: the seed of what is drawn, the guess, if there is one, and where the slider stands.

    `tried` is None where the slider has not been touched, or there is none.
    """

    seed: int = 1
    guess: Guessed | None = None
    tried: float | None = None


@dataclass(frozen=True, kw_only=True)
class Slider:
    """Numbers among which a reader chooses one: `stops` in order, the `start`, and how each is `told`."""

    label: str
    stops: Sequence[float]
    start: float
    told: Callable[[float], str] = format_number

    def __post_init__(self) -> None:
        if self.start not in self.stops or list(self.stops) != sorted({*self.stops}):
            raise ValueError(f"stops must be in order, and {self.start} one of them; got {self.stops}.")

    def at(self, moment: Moment) -> float:
        """Return where it stands."""
        return self.start if moment.tried is None else moment.tried

    def read(self, text: str) -> float:
        """Return the number that an address says; a ValueError in a sentence where it is none of the stops."""
        try:
            value = float(text)
        except ValueError:
            value = math.nan
        found = next((one for one in self.stops if math.isclose(one, value, rel_tol=1e-9)), None)
        if found is None:
            first, last = format_number(self.stops[0]), format_number(self.stops[-1])
            raise ValueError(f"it must be one of the {len(self.stops)} numbers of the slider, from {first} to {last}.")
        return found


@dataclass(frozen=True, kw_only=True)
class QuestionAsked(ABC):
    """What is asked in a step; `answer` computes what is right at a moment, whatever is guessed."""

    answer: Callable[[Moment], Any]

    @abstractmethod
    def read(self, text: str) -> Guessed:
        """Return the guess that an address says; a ValueError in a sentence where it cannot be one."""

    @abstractmethod
    def write(self, guess: Any) -> str:
        """Return a guess as an address says it."""

    @abstractmethod
    def told(self, guess: Any) -> str:
        """Return a guess in words."""

    @abstractmethod
    def verdict(self, moment: Moment) -> str:
        """Return which sentence belongs to the guess of a moment, `RIGHT` or what it has overlooked."""

    @abstractmethod
    def guesses(self) -> Sequence[Guessed]:
        """Return guesses that stand for all: each that has a verdict of its own, and those at the ends."""


@dataclass(frozen=True, kw_only=True)
class OneAsked(QuestionAsked):
    """One of several `options`, by key with its words; each wrong one has a sentence of its own, by its key."""

    options: Mapping[str, str]

    def read(self, text: str) -> str:
        if text not in self.options:
            raise ValueError(f"it must be one of {', '.join(self.options)}.")
        return text

    def write(self, guess: str) -> str:
        return guess

    def told(self, guess: str) -> str:
        return self.options[guess]

    def verdict(self, moment: Moment) -> str:
        return RIGHT if moment.guess == self.answer(moment) else str(moment.guess)

    def guesses(self) -> Sequence[Guessed]:
        return list(self.options)


@dataclass(frozen=True, kw_only=True)
class NumberAsked(QuestionAsked):
    """A number on a `slider`: right within `within` of the answer, as a distance or, if `factor`, as a factor.

    Verdicts are `RIGHT`, ``low`` and ``high``, and beyond `far`, if that is given, ``far``.
    """

    slider: Slider
    within: float
    factor: bool = False
    far: Callable[[float, Moment], bool] = lambda _guess, _moment: False

    def read(self, text: str) -> float:
        return self.slider.read(text)

    def write(self, guess: float) -> str:
        return f"{guess:g}"

    def told(self, guess: float) -> str:
        return self.slider.told(guess)

    def verdict(self, moment: Moment) -> str:
        answer = float(self.answer(moment))
        guess = float(moment.guess)  # type: ignore[arg-type]
        off = abs(math.log(guess / answer)) if self.factor else abs(guess - answer)
        if off <= (math.log(self.within) if self.factor else self.within):
            return RIGHT
        if self.far(guess, moment):
            return "far"
        return "low" if guess < answer else "high"

    def guesses(self) -> Sequence[Guessed]:
        return self.slider.stops


@dataclass(frozen=True, kw_only=True)
class OrderAsked(QuestionAsked):
    """All `items`, by key with their words, in an order; the verdict on a wrong one is the key that stands first.

    Where only the first is right, the verdict is ``rest``.
    """

    items: Mapping[str, str]

    def read(self, text: str) -> tuple[str, ...]:
        found = tuple(text.split("."))
        if sorted(found) != sorted(self.items):
            wrong = [one for one in found if one not in self.items]
            known = f"{single_line(wrong[0])} is none of them" if wrong else "each must be there once"
            raise ValueError(f"it must have {', '.join(self.items)} in an order, with dots between them; {known}.")
        return found

    def write(self, guess: tuple[str, ...]) -> str:
        return ".".join(guess)

    def told(self, guess: tuple[str, ...]) -> str:
        return ", ".join(self.items[one] for one in guess)

    def verdict(self, moment: Moment) -> str:
        answer, guess = tuple(self.answer(moment)), moment.guess
        if guess == answer:
            return RIGHT
        first = guess[0] if isinstance(guess, tuple) else ""
        return "rest" if first == answer[0] else first

    def guesses(self) -> Sequence[Guessed]:
        return list(permutations(self.items))


def nearest_option(options: Mapping[str, float], value: float) -> str:
    """Return the key of the option that is nearest to a value as a factor.

    >>> nearest_option({"few": 0.01, "many": 0.5}, 0.04)
    'few'
    """
    return min(options, key=lambda one: abs(math.log(options[one] / value)))
