"""All guesses that a reader can make."""

from collections.abc import Sequence

from dpviz.teaching.lessons.lesson import Guess, NumberQuestion, Question


def guesses(question: Question) -> Sequence[Guess]:
    """Every stop or option."""
    return question.slider.stops if isinstance(question, NumberQuestion) else list(question.options)
