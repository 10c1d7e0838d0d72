"""All guesses that a reader can make."""

from collections.abc import Sequence
from itertools import permutations

from dpviz.teaching.lessons.lesson import Guess, NumberQuestion, Question, RankingQuestion


def guesses(question: Question) -> Sequence[Guess]:
    """Every stop, option or order."""
    if isinstance(question, NumberQuestion):
        return question.slider.stops
    return list(permutations(question.options) if isinstance(question, RankingQuestion) else question.options)
