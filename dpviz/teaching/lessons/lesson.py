"""A lesson: steps with words, a picture and a question, and the page on which a reader goes on."""

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from pathlib import Path
from typing import Any

from dpviz.charts.teaching import Bar
from dpviz.charts.theme import GREY, Figure
from dpviz.core.formatting import format_number
from dpviz.designs import Design
from dpviz.teaching.texts import fill_text, read_texts

Guess = str | float
"""An option by its key, or a number."""

RIGHT = "right"
"""The verdict on a guess that needs no more than to be confirmed."""

EPSILON_LABEL = "Promise ε (left is more private)"


@dataclass(frozen=True)
class LessonState:
    """Where a reader is: in a step, with a seed, and with a guess or a slider that has been moved, if there are any."""

    step: str
    seed: int = 1
    guess: Guess | None = None
    slider_value: float | None = None

    @property
    def number(self) -> float | None:
        """The guessed number, or before the guess where the slider has been moved to."""
        return self.guess if isinstance(self.guess, float | int) else self.slider_value


@dataclass(frozen=True)
class Slider:
    """Numbers among which a reader chooses: `stops` in order, the one at the `start`, and how they are shown."""

    label: str
    stops: Sequence[float]
    start: float
    format: Callable[[float], str] = format_number

    def value(self, state: LessonState, step: str = "") -> Any:
        """Return where it stands; in all but a named step it stands at its start."""
        is_moved = state.slider_value is not None and step in ("", state.step)
        return state.slider_value if is_moved else self.start

    def parse(self, text: str) -> float:
        """Return the number that an address has; a ValueError in a sentence where it is none of the stops."""
        try:
            value = float(text)
        except ValueError:
            value = math.nan
        stop = next((stop for stop in self.stops if math.isclose(stop, value, rel_tol=1e-9)), None)
        if stop is None:
            first, last = format_number(self.stops[0]), format_number(self.stops[-1])
            raise ValueError(f"it must be one of the {len(self.stops)} numbers of the slider, from {first} to {last}.")
        return stop


@dataclass(frozen=True, kw_only=True)
class Question:
    """One of several `options`, by key with its words, is to be chosen; `answer` is what is right in a state."""

    answer: Callable[[LessonState], Any]
    options: Mapping[str, str] = field(default_factory=dict)

    def parse(self, text: str) -> Guess:
        """Return the guess that an address has; a ValueError in a sentence where it cannot be one."""
        if text not in self.options:
            raise ValueError(f"it must be one of {', '.join(self.options)}.")
        return text

    def verdict(self, state: LessonState) -> str:
        """Return which sentence belongs to the guess: `RIGHT`, or the key of a wrong option."""
        return RIGHT if state.guess == self.answer(state) else str(state.guess)


@dataclass(frozen=True, kw_only=True)
class NumberQuestion(Question):
    """A number on a slider is to be guessed; verdicts are `RIGHT`, ``low``, ``high``, and from `far` on ``far``.

    Right is what is `within` a distance of the answer, or if it `is_factor` within a factor.
    """

    within: float
    is_factor: bool = False
    far: float = math.inf

    def verdict(self, state: LessonState) -> str:
        answer, guess = float(self.answer(state)), float(state.number or 0.0)
        distance = abs(math.log(guess / answer)) if self.is_factor else abs(guess - answer)
        if distance <= (math.log(self.within) if self.is_factor else self.within):
            return RIGHT
        if guess < answer:
            return "low"
        return "far" if guess >= self.far else "high"


@dataclass(frozen=True, kw_only=True)
class RankingQuestion(Question):
    """All orders of keys, with dots between them, are options; verdicts are `RIGHT`, a wrong first key, or ``rest``."""

    def verdict(self, state: LessonState) -> str:
        answer, guess = self.answer(state).split("."), str(state.guess).split(".")
        if guess == answer:
            return RIGHT
        return "rest" if guess[0] == answer[0] else guess[0]


def nearest_key(values: Mapping[str, float], value: float) -> str:
    """Key of the value that is nearest to another one.

    Parameters
    ----------
    values : mapping of str to float
        By key.
    value : float
    """
    return min(values, key=lambda key: abs(values[key] - value))


def value_bar(name: str, value: float, color: str = GREY, unit: str = "{}") -> Bar:
    """Bar of a number that stands at its end.

    Parameters
    ----------
    name : str
    value : float
    color : str, optional
    unit : str, optional
        What the number, in braces, stands in.
    """
    return Bar(name=name, text=unit.format(format_number(value, 3)), plain=value, color=color)


@dataclass(frozen=True)
class LessonStep:
    """An idea: a picture of each state, what is asked, and the slider that a reader moves, be it for a guess."""

    name: str  # its heading in the text file
    picture: Callable[[LessonState], Figure]
    question: Question | None = None
    slider: Slider | None = None
    is_random: bool = False  # whether the picture follows the seed

    def is_answered(self, state: LessonState) -> bool:
        """Whether the answer is drawn: where nothing is asked, or there is a guess."""
        return self.question is None or state.guess is not None

    def describe(self, guess: Any) -> str:
        """Return a guess in words."""
        if self.slider is not None:
            return self.slider.format(guess)
        return "" if self.question is None else self.question.options[guess]


@dataclass(frozen=True)
class Lesson:
    """Some steps in their order, and the page on which they end.

    Of the words of a step ``text`` stands above the picture, ``asks`` is the question, ``picture`` and ``answered`` say
    what the picture shows for who does not see it, ``shows`` stands below a picture that answers none, ``formula`` is
    folded, ``teacher`` is for who teaches; each of the rest is the sentence on a guess, by the verdict on it.
    """

    key: str  # name in an address
    file: str  # the module of the lesson, whose words stand beside it
    steps: tuple[LessonStep, ...]
    quantities: Callable[[LessonState], Mapping[str, Any]]  # values in the words of a step in a state, by name
    page: str  # on which the lesson ends
    design: Design  # the release that the page opens with
    page_settings: Mapping[str, str] = field(default_factory=dict)

    @cached_property
    def script(self) -> dict[str, dict[str, str]]:
        """Its words: the head and the steps by name, each with its parts."""
        return read_texts(Path(self.file).with_suffix(".md"))

    @property
    def head(self) -> dict[str, str]:
        """Its title, number, minutes, question, and what stays of it."""
        return self.script["head"]

    def text(self, part: str, state: LessonState) -> str:
        """Return a part of the words of a step with its numbers; nothing where the step has no such part."""
        text = self.script[state.step].get(part, "")
        return fill_text(text, self.quantities(state)) if text else ""

    def answer_text(self, step: LessonStep, state: LessonState) -> str:
        """Return what is said of the guess, or where nothing is asked of the picture; nothing before the guess."""
        if not step.is_answered(state):
            return ""
        return self.text("shows" if step.question is None else step.question.verdict(state), state)

    def picture_text(self, state: LessonState) -> str:
        """Return what the picture of a step shows, for who does not see it."""
        return (self.text("answered", state) if state.guess is not None else "") or self.text("picture", state)

    def link_settings(self, seed: int) -> dict[str, object]:
        """Return all settings of the page on which it ends, by name, with the reader's seed."""
        design = replace(self.design, seed=seed)
        values: dict[str, object] = {name: text for name, text in design.to_address().items() if text}
        if self.design.prior != "own":
            del values["alpha"]
        fixed = {"m_is_n": self.design.m == self.design.n, "beta_is_alpha": True, "noise_is_promise": True}
        return {**values, **fixed, **self.page_settings}
