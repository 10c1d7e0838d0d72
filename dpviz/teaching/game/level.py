"""What all levels of the game share: ten rounds, a guess in each, and a score beside that of the best guesser."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from dpviz.charts.html import fragment
from dpviz.core.formatting import TextTable
from dpviz.mechanisms import BetaBinomial, GeometricSanitizer, TwoCellSynthesizer
from dpviz.teaching.texts import fill_text, read_texts

GAME_ROUNDS = 10
GAME_EPSILONS = (0.5, 1.0, 2.0, 5.0)
"""Promises that a game can be played with."""

TEXTS = read_texts(Path(__file__).with_name("texts.md"))


def game_text(section: str, part: str, **values: Any) -> str:
    """Words of the game with their numbers.

    Parameters
    ----------
    section, part : str
        Headings in ``texts.md``: the key of a level or ``release``, and what is said of it.
    **values
        Numbers and words in place of the names in braces.
    """
    return fill_text(TEXTS[section][part], values)


class RoundMark(NamedTuple):
    """What the strip of rounds shows of a round: a sign or number, whether it is a good one, and its meaning."""

    text: str
    is_good: bool
    meaning: str


class FinalScore(NamedTuple):
    """What is shown when the last round is locked.

    The `answer` is a word, a sentence as inline HTML, and it in at most 15 plain words; `numbers` are names, values and
    meanings; `lessons` are about guesses against the odds, and about luck.
    """

    answer: tuple[str, str, str]
    numbers: list[tuple[str, str, str]]
    lessons: list[str]
    table: TextTable


@dataclass(frozen=True)
class ReleaseRound:
    """A round in which `released` yes were published by a mechanism."""

    release: TwoCellSynthesizer
    released: int

    def draw_question(self, people: list[bool | None], known: str, ringed: int | None = None) -> str:
        """Return the drawing before the guess: people, what is known of them, and what was published."""
        invented, n = 2.0 * self.release.settings().get("alpha", 0.0), self.release.n
        published = game_text("release", self.release.key, released=self.released, invented=invented, n=n)
        return f"{fragment('people', people, ringed)}<p>{known} {published}</p>"


@dataclass(frozen=True)
class Level:
    """A level of the game. Its key, the promise and the seed decide the rounds.

    A round is drawn as `question_html`, which does not depend on its secret, and after a guess as `outcome_html`. Then
    `answer` returns a verdict, a sentence as inline HTML, and it in at most 15 plain words, `mark` what the strip of
    rounds shows, and `cells` its row in the table of all rounds.

    Ten rounds are drawn by a generator under a promise. Rounds and guesses are scored by the values in the line below
    them; all ten are summarized, with the promise, by further values in the words, and by sentences to learn from.
    """

    key: str
    draw: Callable[[np.random.Generator, float], tuple[Any, ...]]
    score: Callable[[Sequence[Any], Sequence[Any]], dict[str, float]]
    summarize: Callable[[Sequence[Any], Sequence[Any], float], tuple[dict[str, Any], list[str]]]
    uses_epsilon: bool = True

    @property
    def label(self) -> str:
        """Its name."""
        return self.text("label")

    def text(self, part: str, **values: Any) -> str:
        """Return words of the level with their numbers."""
        return game_text(self.key, part, **values)

    def marks(self, rounds: Sequence[Any], guesses: Sequence[Any]) -> list[RoundMark]:
        """Return the mark of each locked round."""
        return [game_round.mark(guess) for game_round, guess in zip(rounds, guesses, strict=True)]

    def score_line(self, rounds: Sequence[Any], guesses: Sequence[Any]) -> str:
        """Return the score of the locked rounds in a few words."""
        return self.text("score_line", **self.score(rounds, guesses)) if rounds else ""

    def final_score(self, rounds: Sequence[Any], guesses: Sequence[Any], epsilon: float) -> FinalScore:
        """Return the score of all ten rounds."""
        values, lessons = self.summarize(rounds, guesses, epsilon)
        values |= self.score(rounds, guesses) | {"epsilon": epsilon}
        answer = self.text("verdict", **values), self.text("final", **values), self.text("final_short", **values)
        cells = (row.split(" | ") for row in self.text("numbers", **values).splitlines())
        numbers = [(name, value, meaning) for name, value, meaning in cells]
        pairs = enumerate(zip(rounds, guesses, strict=True), 1)
        rows = [[f"Round {place}", *game_round.cells(guess)] for place, (game_round, guess) in pairs]
        table = TextTable(["Round", *self.text("columns").split(" | ")], rows, "All rounds of this game")
        return FinalScore(answer, numbers, lessons, table)

    def describe(self, epsilon: float, seed: int) -> str:
        """Return what the rounds of a game follow from."""
        return f"{self.key}, epsilon {epsilon!r}, seed {seed}" if self.uses_epsilon else f"{self.key}, seed {seed}"

    def script(self, epsilon: float, seed: int) -> str:
        """Return a line of Python that prints the rounds of a game."""
        arguments = f'{seed}, level="{self.key}", epsilon={epsilon!r}'
        return f'from dpviz.teaching.game import draw_rounds; print(*draw_rounds({arguments}), sep="\\n")'


def possible_releases(n: int, epsilon: float) -> list[TwoCellSynthesizer]:
    """Mechanisms by which the answers of some people may be released; a round takes each as probably.

    Parameters
    ----------
    n : int
        People, and released rows.
    epsilon : float
        Promise that every mechanism keeps, above 0.
    """
    alpha = BetaBinomial.smallest_alpha(m=n, epsilon=epsilon)
    return [GeometricSanitizer(n=n, epsilon=epsilon), BetaBinomial(n=n, m=n, alpha=alpha, beta=alpha)]
