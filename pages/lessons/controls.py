"""What the page keeps: the lesson, the step, the seed, the guesses of the lesson, and where the slider stands."""

import dataclasses
from collections.abc import Callable
from typing import TypeVar

import streamlit as st

from dpviz.core.declarations import SEED
from dpviz.core.parameters import Parameter
from dpviz.core.settings import ControlSetting
from dpviz.desk.addresses import keep
from dpviz.teaching.lessons import LESSONS
from dpviz.teaching.lessons.lesson import Lesson, LessonStep
from dpviz.teaching.lessons.questions import Guessed, Moment
from pages.components.address import drawn, set_back
from pages.lessons import SPEC

Value = TypeVar("Value")
PREFIX = SPEC.prefix
MOST_STEPS = 9
STEP = Parameter(
    name="step", symbol="", title="Step", integer=True, minimum=1, maximum=MOST_STEPS, default=1,
    help="The step of the lesson.",
)  # fmt: skip
CHOSEN = keep(f"{PREFIX}lesson", ControlSetting.choice(LESSONS, None))
AT = keep(f"{PREFIX}step", ControlSetting.number(STEP))
DRAWN = keep(f"{PREFIX}seed", ControlSetting.number(SEED))
GUESSES = [keep(f"{PREFIX}guess{number}", ControlSetting.text("")) for number in range(1, MOST_STEPS + 1)]
TRIED = keep(f"{PREFIX}try", ControlSetting.text(""))


@dataclasses.dataclass(frozen=True)
class Place:
    """A step of a lesson, by its place from 0 on, and the moment at which a reader is in it."""

    lesson: Lesson
    index: int
    moment: Moment

    @property
    def step(self) -> LessonStep:
        """The step itself."""
        return self.lesson.steps[self.index]


def place_of_reader() -> Place | None:
    """Where the reader is, None where no lesson has been chosen; what cannot be there is set back, with a sentence."""
    state = st.session_state
    lesson = LESSONS.get(drawn(CHOSEN, state[CHOSEN], "Lesson"))
    if lesson is None:
        return None
    if state[AT] > len(lesson.steps):
        set_back(AT, f"this lesson has the steps 1 to {len(lesson.steps)}.")
    index = drawn(AT, state[AT], "Step") - 1
    seed = drawn(DRAWN, state[DRAWN], "Seed")
    guesses = [_guessed(key, step) for key, step in zip(GUESSES, lesson.steps, strict=False)]
    return Place(lesson, index, Moment(seed, guesses[index], _tried(lesson.steps[index])))


def _read(key: str, reads: Callable[[str], Value] | None, missing: str, label: str) -> Value | None:
    """What the address and the session have of a guess, or of a slider; what cannot be read, or is `missing`, goes."""
    text = st.session_state[key]
    if not text:
        return None
    try:
        if reads is None:
            raise ValueError(missing)
        found = reads(text)
    except ValueError as wrong:
        set_back(key, wrong)
        return None
    drawn(key, text, label)
    return found


def _guessed(key: str, step: LessonStep) -> Guessed | None:
    asked = step.question
    return _read(key, None if asked is None else asked.read, "nothing is asked in this step.", "Guess")


def _tried(step: LessonStep) -> float | None:
    """Where the slider of a step has been moved to."""
    moved = step.moved
    return _read(TRIED, None if moved is None else moved.read, "this step has no slider.", "Slider")


def go_to(lesson: str, number: int = 1) -> None:
    """Go to a step of a lesson, or with no name to the list; another lesson is begun without any guess."""
    state = st.session_state
    if state[CHOSEN] != lesson:
        state.update(dict.fromkeys(GUESSES, ""))
    state.update({CHOSEN: lesson or None, AT: number, TRIED: ""})


def take_guess(place: Place, guess: Guessed | None) -> None:
    """Keep a guess, or with None ask again."""
    question = place.step.question
    st.session_state[GUESSES[place.index]] = "" if guess is None or question is None else question.write(guess)


def set_slider(value: float | None) -> None:
    """Move the slider of the step, or with None back to where it began."""
    st.session_state[TRIED] = "" if value is None else f"{value:g}"


def draw_again() -> None:
    """Draw with the next seed."""
    st.session_state[DRAWN] = (st.session_state[DRAWN] + 1) % int(SEED.maximum)
