"""What all levels of the game share: ten rounds, a guess in each, and a score beside that of the best guesser."""

from abc import ABC, abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, ClassVar, NamedTuple

import numpy as np

from dpviz.charts.drawings import people_html, share_html
from dpviz.core.formatting import TextTable
from dpviz.mechanisms import BetaBinomial, GeometricSanitizer, TwoCellSynthesizer
from dpviz.teaching.texts import fill_text, read_texts

GAME_ROUNDS = 10
GAME_EPSILONS = (0.5, 1.0, 2.0, 5.0)
"""Promises that a game can be played with."""

TEXTS = read_texts(Path(__file__).with_name("texts.md"))


def game_text(section: str, part: str, **values: Any) -> str:
    """Return words of a level, or of a release, with their numbers."""
    return fill_text(TEXTS[section][part], values)


class RoundMark(NamedTuple):
    """What the strip of rounds shows of a round: a sign or number, whether it is a good one, and its meaning."""

    text: str
    is_good: bool
    meaning: str


@dataclass(frozen=True)
class FinalScore:
    """What is shown when the last round is locked.

    The `answer` is a word, a sentence as inline HTML, and it in at most 15 plain words; `numbers` are names, values and
    meanings; `lessons` are about guesses against the odds, and about luck.
    """

    answer: tuple[str, str, str]
    numbers: list[tuple[str, str, str]]
    lessons: list[str]
    table: TextTable


class Level(ABC):
    """A level of the game. Its key, the promise and the seed decide the rounds."""

    key: ClassVar[str]
    uses_epsilon: ClassVar[bool] = True

    @property
    def label(self) -> str:
        """Its name."""
        return self.text("label")

    @property
    def question(self) -> str:
        """Asked in each round."""
        return self.text("question")

    def text(self, part: str, **values: Any) -> str:
        """Return words of the level with their numbers."""
        return game_text(self.key, part, **values)

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


def possible_releases(n: int, epsilon: float) -> list[TwoCellSynthesizer]:
    """Return how n people's answers (as many rows) may be released under ε; a round takes each as probably."""
    alpha = BetaBinomial.smallest_alpha(m=n, epsilon=epsilon)
    return [GeometricSanitizer(n=n, epsilon=epsilon), BetaBinomial(n=n, m=n, alpha=alpha, beta=alpha)]


def draw_release(generator: np.random.Generator, n: int, epsilon: float) -> TwoCellSynthesizer:
    """Draw how n people's answers are released under the promise ε."""
    return possible_releases(n, epsilon)[int(generator.integers(2))]


def question_html(
    people: list[bool | None], known: str, release: TwoCellSynthesizer, released: int, ringed: int | None = None
) -> str:
    """Return what is drawn of a round before the guess: people, what is known of them, and the published number."""
    key = "geometric" if isinstance(release, GeometricSanitizer) else "beta_binomial"
    invented = 2.0 * release.settings().get("alpha", 0.0)
    published = game_text("release", key, released=released, invented=invented, n=release.n)
    share = share_html("Published", released, release.n)
    return f"{people_html(people, ringed=ringed)}<p>{known} {published}</p>{share}"
