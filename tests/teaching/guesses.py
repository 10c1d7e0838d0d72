"""All guesses that a reader can make."""

from collections.abc import Sequence

from dpviz.teaching.lessons.lesson import Guess, LessonStep


def write_guess(guess: Guess) -> str:
    """Write a guess as an address has it."""
    return guess if isinstance(guess, str) else f"{guess:g}"


def guesses(step: LessonStep) -> Sequence[Guess]:
    """Every stop or option."""
    assert step.question is not None
    return step.slider.stops if step.slider is not None else list(step.question.options)
