"""Level 2: how many people said yes."""

import math
from dataclasses import dataclass

import numpy as np

from dpviz.charts.rounds import counts_html, people_html
from dpviz.core.formatting import TextTable, format_number, format_percent, join_words
from dpviz.teaching.game.base import GAME_ROUNDS, FinalWords, Level, RoundMark, Score, any_way
from dpviz.teaching.game.luck import sum_below_zero
from dpviz.teaching.game.seen_count import PEOPLE_COUNTED, SHARES_KNOWN, SeenCount

NEARLY_BEST = 1
"""How many people a guess may be from the best one and still goes with the odds."""


@dataclass(frozen=True)
class CountRound:
    """One round: what is seen of it, and the count of yes, which is secret until the guess is locked."""

    seen: SeenCount
    secret: int

    @property
    def people(self) -> list[bool | None]:
        """All answers."""
        return [place < self.secret for place in range(PEOPLE_COUNTED)]

    def outcome_html(self, guess: int) -> str:
        """What is drawn after the guess: all people, and the posterior with the truth and both guesses."""
        marks = [("truth", self.secret), ("you", guess), ("best", self.seen.best)]
        return people_html(self.people) + counts_html(self.seen.posterior.tolist(), marks)

    def verdict(self, guess: int) -> str:
        """How far off the guess is, in a few words."""
        return _off(abs(guess - self.secret)).capitalize()

    def short(self, guess: int) -> str:
        """The same with the best guess, in a plain sentence of at most 15 words."""
        return f"You guessed {guess}. It was {self.secret}; the best guess was {self.seen.best}."

    def told(self, guess: int) -> str:
        """What is said of the round once the guess is locked, as inline HTML."""
        best, mine, other = self.seen.best, abs(guess - self.secret), abs(self.seen.best - self.secret)
        text = f"<b>{self.secret}</b> said yes. You guessed {guess}, which is {_off(mine)}. "
        if guess == best:
            return f"{text}That was the best possible guess: the posterior mean is {format_number(self.seen.mean, 3)}."
        text += (
            f"The best guess was {best}, as the posterior mean is {format_number(self.seen.mean, 3)}: {_off(other)}."
        )
        return f"{text} You were luckier." if mine < other else text


def _off(people: int) -> str:
    return "exactly right" if not people else f"off by {people}"


def _root(squares: list[float]) -> float:
    return math.sqrt(sum(squares) / len(squares)) if squares else 0.0


@dataclass(frozen=True)
class CountScore(Score[CountRound, int]):
    """How far off the guesses are, as the root of the mean squared error in people, beside the best possible."""

    @property
    def error(self) -> float:
        """That of the player."""
        return _root([(guess - one.secret) ** 2 for one, guess in zip(self.rounds, self.guesses, strict=True)])

    @property
    def best(self) -> float:
        """That of the best whole numbers in these rounds."""
        return _root([(one.seen.best - one.secret) ** 2 for one in self.rounds])

    @property
    def of_means(self) -> float:
        """That of the posterior means in these rounds."""
        return _root([(one.seen.mean - one.secret) ** 2 for one in self.rounds])

    @property
    def average(self) -> float:
        """That of the best whole numbers over all counts and releases."""
        return _root([one.seen.best_error for one in self.rounds])

    @property
    def average_of_means(self) -> float:
        """That of the posterior means over all counts and releases."""
        return _root([one.seen.mean_error for one in self.rounds])

    @property
    def repeated(self) -> float:
        """That of who repeats what was released, over all counts and releases."""
        return _root([one.seen.released_error for one in self.rounds])

    @property
    def unread(self) -> float:
        """That of who guesses what was expected before the release, over all counts."""
        return _root([one.seen.unread_error for one in self.rounds])

    @property
    def limit(self) -> float:
        """The smallest that any release with this ε has on average."""
        return _root([one.seen.smallest_error for one in self.rounds])

    @property
    def beaten(self) -> tuple[float, float]:
        """How often the best whole numbers are further off than who repeats the release, and than who ignores it."""
        repeated = sum_below_zero([one.seen.lead_on_repeated for one in self.rounds])
        return repeated, sum_below_zero([one.seen.lead_on_expected for one in self.rounds])

    @property
    def against(self) -> list[int]:
        """The rounds, from 1, in which the guess was more than one person from the best one."""
        both = enumerate(zip(self.rounds, self.guesses, strict=True), start=1)
        return [place for place, (one, guess) in both if abs(guess - one.seen.best) > NEARLY_BEST]

    @property
    def marks(self) -> list[RoundMark]:
        both = zip(self.rounds, self.guesses, strict=True)
        found = [(abs(guess - one.secret), abs(one.seen.best - one.secret)) for one, guess in both]
        return [
            RoundMark(f"{mine}", mine <= best, f"{_off(mine)}, the best possible guess {_off(best)}")
            for mine, best in found
        ]

    @property
    def standing(self) -> str:
        if not self.rounds:
            return ""
        return (
            f"Typical error so far: you {format_number(self.error, 3)}, best possible guess "
            f"{format_number(self.best, 3)}."
        )

    @property
    def told(self) -> FinalWords:
        sentence = (
            f"You were typically off by <b>{format_number(self.error, 3)} people</b>, the best possible guesser by "
            f"<b>{format_number(self.best, 3)}</b> in the same rounds. On average it is off by "
            f"{format_number(self.average, 3)}; who repeats the published number is off by "
            f"{format_number(self.repeated, 3)}, "
            f"and who ignores it by {format_number(self.unread, 3)}."
        )
        short = (
            f"Off by {format_number(self.error, 3)} people; the best possible guesser by {format_number(self.best, 3)}."
        )
        return FinalWords(f"off by {format_number(self.error, 3)}", sentence, short)

    @property
    def numbers(self) -> list[tuple[str, str, str]]:
        mean = (
            f"{format_number(self.of_means, 3)} here, {format_number(self.average_of_means, 3)} on average where "
            "not rounded"
        )
        return [
            ("You", format_number(self.error, 3), "people: the root of your mean squared error"),
            ("Best possible guess", format_number(self.best, 3), f"the posterior mean, to whole people; {mean}"),
            (
                "The same on average",
                format_number(self.average, 3),
                "over all counts and all that could have been released",
            ),
            (
                f"What ε = {format_number(self.epsilon)} allows",
                format_number(self.limit, 3),
                "the smallest average error of any release that keeps this promise",
            ),
        ]

    @property
    def lessons(self) -> list[str]:
        places, (repeated, ignored) = join_words(str(one) for one in self.against), self.beaten
        close = "Each of your guesses was within one person of the best possible one."
        one_round = "" if len(self.against) == 1 else "s"
        far = f"In round{one_round} {places} you were more than one person away from the best possible guess."
        return [
            far if self.against else close,
            f"Luck decides a round, and skill the average: in games of {GAME_ROUNDS} rounds like these, somebody who "
            f"only repeats the published number is nearer than the best possible guesser in "
            f"<b>{format_percent(repeated, 2)}</b> of all games, and somebody who ignores it in "
            f"<b>{format_percent(ignored, 2)}</b>.",
        ]

    @property
    def table(self) -> TextTable:
        head = ["Round", "Expected", "Released", "Secret", "Your guess", "Best guess", "Posterior mean"]
        rows = [
            [
                f"Round {place}",
                f"{format_number(one.seen.expected, 3)} yes",
                f"{one.seen.released} yes",
                str(one.secret),
                str(guess),
                str(one.seen.best),
                format_number(one.seen.mean, 3),
            ]
            for place, (one, guess) in enumerate(zip(self.rounds, self.guesses, strict=True), start=1)
        ]
        return TextTable(head, rows, "All rounds of this game")


class SecretCount(Level[CountRound, int]):
    """Guess how many people said yes."""

    key = "count"
    label = "2 · How many?"
    question = "How many of them said yes?"
    rules = (
        "Twenty people answered a private question. From earlier years you know how likely a yes is. An agency "
        "publishes one number about all twenty, and keeps its promise ε. Weigh both: the nearer your guess, the better."
    )

    def draw(self, generator: np.random.Generator, epsilon: float) -> tuple[CountRound, ...]:
        return tuple(self._draw_one(generator, epsilon) for _ in range(GAME_ROUNDS))

    def _draw_one(self, generator: np.random.Generator, epsilon: float) -> CountRound:
        release = any_way(generator, PEOPLE_COUNTED, epsilon)
        share = SHARES_KNOWN[int(generator.integers(len(SHARES_KNOWN)))]
        secret = int(generator.binomial(PEOPLE_COUNTED, share))
        (released,) = release.draw(generator, secret).tolist()
        return CountRound(SeenCount(release, released, share), secret)

    def score(self, rounds: tuple[CountRound, ...], guesses: tuple[int, ...], epsilon: float) -> CountScore:
        return CountScore(rounds, guesses, epsilon)
