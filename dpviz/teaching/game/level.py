"""What all levels of the game share: ten rounds, a guess in each, and a score beside that of the best guesser."""

from abc import ABC, abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, ClassVar, NamedTuple

import numpy as np

from dpviz.charts.drawings import people_html, share_html
from dpviz.core.formatting import TextTable, format_number
from dpviz.mechanisms import BetaBinomial, GeometricSanitizer, TwoCellSynthesizer

GAME_ROUNDS = 10
GAME_EPSILONS = (0.5, 1.0, 2.0, 5.0)
"""Promises that a game can be played with."""

RELEASE_TEXTS: dict[type[TwoCellSynthesizer], str] = {
    GeometricSanitizer: "The agency added a random number to the count of yes, as often upwards as downwards, and "
    "published <b>{released} yes</b>.",
    BetaBinomial: "The agency mixed in the weight of {invented} invented people, half yes and half no, drew {n} "
    "synthetic people from that, and published <b>{released} yes</b>.",
}
"""How the agency may make what it publishes; each round takes one of them, both with the same probability."""


class RoundMark(NamedTuple):
    """What the strip of rounds shows of a round: a sign or number, whether it is a good one, and its meaning."""

    text: str
    is_good: bool
    meaning: str


@dataclass(frozen=True)
class FinalScore:
    """What is shown when the last round is locked.

    Parameters
    ----------
    answer : tuple of str
        A word, a sentence as inline HTML, and it in at most 15 plain words.
    numbers : list of tuple of str
        Name, value and meaning.
    lessons : list of str
        Inline HTML about guesses against the odds, and about luck.
    table : TextTable
        All rounds side by side.
    """

    answer: tuple[str, str, str]
    numbers: list[tuple[str, str, str]]
    lessons: list[str]
    table: TextTable


class Level(ABC):
    """A level of the game. Its key, the promise and the seed decide the rounds.

    Attributes
    ----------
    question : str
        Asked in each round.
    rules : str
        What a player must know before the first round, in at most 45 words.
    """

    key: ClassVar[str]
    label: ClassVar[str]
    question: ClassVar[str]
    rules: ClassVar[str]
    uses_epsilon: ClassVar[bool] = True

    @abstractmethod
    def draw(self, generator: np.random.Generator, epsilon: float) -> tuple[Any, ...]:
        """Draw ten rounds."""

    @abstractmethod
    def marks(self, rounds: Sequence[Any], guesses: Sequence[Any]) -> list[RoundMark]:
        """Return the mark of each locked round."""

    @abstractmethod
    def score_line(self, rounds: Sequence[Any], guesses: Sequence[Any]) -> str:
        """Return the score of the locked rounds in a few words."""

    @abstractmethod
    def final_score(self, rounds: Sequence[Any], guesses: Sequence[Any], epsilon: float) -> FinalScore:
        """Return the score of all ten rounds."""

    def describe(self, epsilon: float, seed: int) -> str:
        """Return what the rounds of a game follow from."""
        return f"{self.key}, epsilon {epsilon!r}, seed {seed}" if self.uses_epsilon else f"{self.key}, seed {seed}"


def make_release(mechanism: type[TwoCellSynthesizer], n: int, epsilon: float) -> TwoCellSynthesizer:
    """Return one of `RELEASE_TEXTS` for n people (and as many released rows) that keeps ε."""
    if mechanism is GeometricSanitizer:
        return GeometricSanitizer(n=n, epsilon=epsilon)
    alpha = BetaBinomial.smallest_alpha(m=n, epsilon=epsilon)
    return BetaBinomial(n=n, m=n, alpha=alpha, beta=alpha)


def draw_release(generator: np.random.Generator, n: int, epsilon: float) -> TwoCellSynthesizer:
    """Draw how n people's answers are released under the promise ε."""
    mechanisms = list(RELEASE_TEXTS)
    return make_release(mechanisms[int(generator.integers(len(mechanisms)))], n, epsilon)


def question_html(
    people: list[bool | None], known: str, release: TwoCellSynthesizer, released: int, ringed: int | None = None
) -> str:
    """Return what is drawn of a round before the guess: people, what is known of them, and the published number."""
    text = next(text for mechanism, text in RELEASE_TEXTS.items() if isinstance(release, mechanism))
    invented = format_number(2 * release.settings().get("alpha", 0.0), 3)
    published = text.format(released=released, invented=invented, n=release.n)
    share = share_html("Published", released, release.n)
    return f"{people_html(people, ringed=ringed)}<p>{known} {published}</p>{share}"
