"""What every level of the game is: ten rounds, a guess in each, and a score beside that of the best possible."""

from abc import ABC, abstractmethod
from dataclasses import dataclass
from typing import ClassVar, Generic, NamedTuple, TypeVar

import numpy as np

from dpviz.charts.rounds import people_html, share_html
from dpviz.core.formatting import TextTable, format_number
from dpviz.mechanisms import BetaBinomial, GeometricSanitizer, TwoCellSynthesizer

GAME_ROUNDS = 10
GAME_EPSILONS = (0.5, 1.0, 2.0, 5.0)
"""Promises that a game can be played with."""

Round = TypeVar("Round")
Guess = TypeVar("Guess")


class RoundMark(NamedTuple):
    """What the strip of rounds shows of one: a sign or a number, whether it is a good one, and it in words."""

    text: str
    good: bool
    said: str


class FinalWords(NamedTuple):
    """The answer of a game that is over: a word, a sentence with inline HTML, and it in at most 15 plain words."""

    mark: str
    sentence: str
    short: str


@dataclass(frozen=True)
class Score(ABC, Generic[Round, Guess]):
    """The rounds that are locked so far, with the guesses; all numbers of it are about these rounds."""

    rounds: tuple[Round, ...]
    guesses: tuple[Guess, ...]
    epsilon: float

    @property
    @abstractmethod
    def marks(self) -> list[RoundMark]:
        """The mark of each round."""

    @property
    @abstractmethod
    def standing(self) -> str:
        """The score so far beside that of the best possible, in a few words."""

    @property
    @abstractmethod
    def told(self) -> FinalWords:
        """What is said when the last round is locked."""

    @property
    @abstractmethod
    def numbers(self) -> list[tuple[str, str, str]]:
        """Numbers of the score, each with its name before and its meaning behind it."""

    @property
    @abstractmethod
    def lessons(self) -> list[str]:
        """Sentences, with inline HTML, about which guesses went against the odds, and about luck."""

    @property
    @abstractmethod
    def table(self) -> TextTable:
        """All rounds side by side."""


class Level(ABC, Generic[Round, Guess]):
    """A level by its `key`, which the URL has and from which, with seed and ε, the rounds follow."""

    key: ClassVar[str]
    label: ClassVar[str]
    question: ClassVar[str]
    """What is asked in each round."""
    rules: ClassVar[str]
    """What there is to know before the first round, in at most 45 words."""
    uses_epsilon: ClassVar[bool] = True

    @abstractmethod
    def draw(self, generator: np.random.Generator, epsilon: float) -> tuple[Round, ...]:
        """Return the ten rounds that a generator draws."""

    @abstractmethod
    def score(self, rounds: tuple[Round, ...], guesses: tuple[Guess, ...], epsilon: float) -> Score[Round, Guess]:
        """Return the score of the rounds that are locked."""

    def game_text(self, epsilon: float, seed: int) -> str:
        """What a game is drawn from, in words; whoever plays the same meets the same rounds."""
        return f"{self.key}, epsilon {epsilon!r}, seed {seed}" if self.uses_epsilon else f"{self.key}, seed {seed}"


@dataclass(frozen=True)
class Published(ABC):
    """All that is known of a round before its guess is locked: how the number was made, and the number."""

    release: TwoCellSynthesizer
    released: int
    ringed: ClassVar[int | None] = None
    """Index of the person whose answer is guessed."""

    @property
    @abstractmethod
    def known(self) -> str:
        """What is known of the people, in a sentence."""

    @property
    @abstractmethod
    def people(self) -> list[bool | None]:
        """The answers as far as they are known."""

    @property
    def made(self) -> str:
        """How the agency made what it published, with the number, in sentences with inline HTML."""
        return made_in_words(self.release, self.released)

    @property
    def question_html(self) -> str:
        """What is drawn before the guess."""
        share = share_html("Published", self.released, self.release.n)
        return f"{people_html(self.people, ringed=self.ringed)}<p>{self.known} {self.made}</p>{share}"


@dataclass(frozen=True)
class Way:
    """One way in which the agency keeps its promise."""

    mechanism: type[TwoCellSynthesizer]
    words: str

    def release(self, n: int, epsilon: float) -> TwoCellSynthesizer:
        """Return the mechanism that keeps ε for n people, and releases a table of as many."""
        if not self.mechanism.has_prior:
            return self.mechanism(**{"n": n, "epsilon": epsilon})  # type: ignore[arg-type]
        alpha = self.mechanism.smallest_alpha(m=n, epsilon=epsilon)
        return self.mechanism(**{"n": n, "m": n, "alpha": alpha, "beta": alpha})  # type: ignore[arg-type]


WAYS = (
    Way(
        GeometricSanitizer,
        "The agency added a random number to the count of yes, as often upwards as downwards, and published "
        "<b>{released} yes</b>.",
    ),
    Way(
        BetaBinomial,
        "The agency mixed in the weight of {invented} invented people, half yes and half no, drew {n} synthetic people "
        "from that, and published <b>{released} yes</b>.",
    ),
)
"""How the agency may make what it publishes; each round takes one of them, both alike."""


def made_in_words(release: TwoCellSynthesizer, released: int) -> str:
    """Return how a number was made, with the number."""
    (way,) = (one for one in WAYS if isinstance(release, one.mechanism))
    invented = format_number(2 * release.settings().get("alpha", 0.0), 3)
    return way.words.format(released=released, invented=invented, n=release.n)


def any_way(generator: np.random.Generator, n: int, epsilon: float) -> TwoCellSynthesizer:
    """Return a release of n people with the promise ε, made in one of the ways, all alike."""
    return WAYS[int(generator.integers(len(WAYS)))].release(n, epsilon)
