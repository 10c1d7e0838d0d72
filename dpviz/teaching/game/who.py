"""Level 1: whether the ringed person said yes."""

from dataclasses import dataclass
from functools import cached_property

import numpy as np
from scipy.special import expit

from dpviz.charts.rounds import chances_html, people_html
from dpviz.core.formatting import TextTable, format_distinct, format_number, format_percent, join_words, spell_count
from dpviz.core.types import FloatArray
from dpviz.teaching.game.base import GAME_ROUNDS, FinalWords, Level, Published, RoundMark, Score, any_way
from dpviz.teaching.game.luck import coin_beats

FEW_PEOPLE = 3
"""So few that the best guess beats a coin even where the agency invents people: each answer weighs a third."""
MANY_GAMES = 100
"""How many games show what luck leaves of skill in the long run."""
TOO_RARE = 1e-4  # A chance below which its size does not matter
SIDES = {True: "yes", False: "no"}


@dataclass(frozen=True)
class SeenPerson(Published):
    """What the attacker knows before the guess: how many of all people but the ringed one said yes, and the release.

    Yes and no of the ringed person are equally likely before the release.
    """

    others: int
    ringed = FEW_PEOPLE - 1

    @cached_property
    def _rows(self) -> FloatArray:
        """Pr(released) for every table if the person said no, and if yes."""
        return np.array([self.release.row(self.others), self.release.row(self.others + 1)])

    @property
    def likelihoods(self) -> tuple[float, float]:
        """The probability of what was released if the person said yes, and if no."""
        no, yes = self._rows[:, self.released].tolist()
        return yes, no

    @property
    def belief(self) -> float:
        """What the best possible guesser gives for a yes after the release."""
        yes, no = self.likelihoods
        return yes / (yes + no)

    @property
    def best(self) -> bool | None:
        """The guess that is right more often; None where both are right as often."""
        yes, no = self.likelihoods
        return None if yes == no else yes > no

    @property
    def success(self) -> float:
        """How often the best possible guess is right over all that could have been released: ½ Σ max(yes, no)."""
        return float(self._rows.max(axis=0).sum()) / 2

    @property
    def known(self) -> str:
        return (
            f"You know {FEW_PEOPLE - 1} of the {FEW_PEOPLE} answers: <b>{self.others} yes</b> (orange) and "
            f"<b>{FEW_PEOPLE - 1 - self.others} no</b> (blue). "
            "For the ringed person, yes and no were equally likely."
        )

    @property
    def people(self) -> list[bool | None]:
        return [*(place < self.others for place in range(FEW_PEOPLE - 1)), None]


@dataclass(frozen=True)
class PersonRound:
    """One round: what is seen of it, and the answer of the ringed person, which is secret until the guess is locked."""

    seen: SeenPerson
    secret: bool

    def right_share(self, guess: bool | None) -> float:
        """1 for a right guess, 0 for a wrong one; a coin that is tossed where there is none is right half the time."""
        return 0.5 if guess is None else float(guess is self.secret)

    def against(self, guess: bool) -> bool:
        """Whether a guess goes against the odds."""
        return self.seen.best is not None and guess is not self.seen.best

    @property
    def people(self) -> list[bool | None]:
        """All answers, that of the ringed person last."""
        return [*self.seen.people[:-1], self.secret]

    def outcome_html(self, _guess: bool) -> str:
        """What is drawn after the guess: all people, and both probabilities of what was published."""
        yes, no = self.seen.likelihoods
        rows = [("if the person said yes", yes, True), ("if the person said no", no, False)]
        sentence = f"<p>How probable it was that <b>{self.seen.released} yes</b> would be published:</p>"
        return people_html(self.people, ringed=self.seen.ringed) + sentence + chances_html(rows)

    def verdict(self, guess: bool) -> str:
        """Whether the guess is right, in a word."""
        return "Right" if guess is self.secret else "Wrong"

    def short(self, guess: bool) -> str:
        """The same with the best guess, in a plain sentence of at most 15 words."""
        best = "no better than a coin" if self.seen.best is None else SIDES[self.seen.best]
        return f"You guessed {SIDES[guess]}. The person said {SIDES[self.secret]}; the best guess was {best}."

    def told(self, guess: bool) -> str:
        """What is said of the round once the guess is locked, as inline HTML."""
        yes, no = self.seen.likelihoods
        text = f"The person said <b>{SIDES[self.secret]}</b>. "
        if self.seen.best is None:
            return f"{text}Both answers make this number equally likely: no guess was better than a coin."
        likelier, best = max(yes, no) / min(yes, no), SIDES[self.seen.best]
        sure = format_percent(max(self.seen.belief, 1 - self.seen.belief), 3)
        times = format_distinct(likelier, 1.0, 3)
        odds = f"A {best} makes this number {times} times as likely, so the best guess was {best}"
        match guess is self.secret, self.against(guess):
            case True, False:
                return f"{text}You are right. {odds}; it is right {sure} of the time."
            case False, False:
                return f"{text}Bad luck. {odds}; it is right {sure} of the time, and this was one of the others."
            case True, True:
                return f"{text}You are right, against the odds. {odds}, which is right {sure} of the time."
        return f"{text}{odds}, which is right {sure} of the time. Your guess went against the odds."


@dataclass(frozen=True)
class PersonScore(Score[PersonRound, bool]):
    """Right guesses beside those of the best possible guesser, on the same rounds and on average."""

    @property
    def right(self) -> int:
        """How many guesses are right."""
        return sum(one.secret is guess for one, guess in zip(self.rounds, self.guesses, strict=True))

    @property
    def best(self) -> float:
        """How many of these rounds the best possible guesser has right; half of one where it must toss a coin."""
        return sum(one.right_share(one.seen.best) for one in self.rounds)

    @property
    def successes(self) -> FloatArray:
        """How often the best possible guesser is right in each round, over all that could have been released."""
        return np.array([one.seen.success for one in self.rounds])

    @property
    def average(self) -> float:
        """How many of these rounds the best possible guesser has right on average."""
        return float(self.successes.sum())

    @property
    def limit(self) -> float:
        """How many ε alone would allow on average: e^ε / (1 + e^ε) of them."""
        return len(self.rounds) * float(expit(self.epsilon))

    @property
    def against(self) -> list[int]:
        """The rounds, from 1, in which the guess went against the odds."""
        both = enumerate(zip(self.rounds, self.guesses, strict=True), start=1)
        return [place for place, (one, guess) in both if one.against(guess)]

    @property
    def marks(self) -> list[RoundMark]:
        both = zip(self.rounds, self.guesses, strict=True)
        return [
            RoundMark("✓", True, "right") if one.secret is guess else RoundMark("✗", False, "wrong")
            for one, guess in both
        ]

    @property
    def standing(self) -> str:
        if not self.rounds:
            return ""
        return f"You: {self.right} right. Best possible guesser: {format_number(self.best, 3)}."

    @property
    def told(self) -> FinalWords:
        of_these = f"was right in <b>{format_number(self.best, 3)}</b> of the same rounds"
        sentence = (
            f"You were right in <b>{self.right}</b> of {GAME_ROUNDS} rounds. The best possible guesser {of_these}; on "
            f"average it is right in {format_number(self.average, 3)}. The promise ε = {format_number(self.epsilon)} "
            "would allow "
            f"{format_number(self.limit, 3)}."
        )
        short = f"You: {self.right} of {GAME_ROUNDS}. The best possible guesser: {format_number(self.best, 3)}."
        return FinalWords(f"{self.right} of {GAME_ROUNDS}", sentence, short)

    @property
    def numbers(self) -> list[tuple[str, str, str]]:
        return [
            ("You", f"{self.right}", f"right guesses in {GAME_ROUNDS} rounds"),
            ("Best possible guesser", format_number(self.best, 3), "right guesses in the same rounds"),
            ("The same on average", format_number(self.average, 3), "over everything that could have been released"),
            (
                f"What ε = {format_number(self.epsilon)} allows",
                format_number(self.limit, 3),
                "eᵋ / (1 + eᵋ) of the rounds",
            ),
        ]

    @property
    def lessons(self) -> list[str]:
        beaten, level = coin_beats(self.successes)
        later, _ = coin_beats(self.successes, MANY_GAMES)
        seldom = f"less than {format_percent(TOO_RARE, 2)}" if later < TOO_RARE else format_percent(later, 2)
        return [
            self._odds_sentence(),
            f"Luck decides a round, and skill the average: somebody who only tosses a coin beats the best possible "
            f"guesser in <b>{format_percent(beaten, 2)}</b> of all games of {GAME_ROUNDS} rounds like these, and "
            "equals it in "
            f"{format_percent(level, 2)}. In {GAME_ROUNDS * MANY_GAMES:,} rounds the coin is ahead in {seldom}.",
        ]

    def _odds_sentence(self) -> str:
        if not self.against:
            return "No guess of yours went against the odds: nobody could have guessed better, whatever came of it."
        places = join_words(str(one) for one in self.against)
        lucky = sum(self.rounds[place - 1].secret is self.guesses[place - 1] for place in self.against)
        came = "none of them was right" if not lucky else f"{spell_count(lucky, 'of them was', 'of them were')} right"
        if len(self.against) == 1:
            came = "it was right all the same" if lucky else "it was wrong"
            return f"One of your guesses went against the odds, in round {places}; {came}."
        some = spell_count(len(self.against), "guess", "guesses").capitalize()
        return f"{some} of yours went against the odds, in rounds {places}; {came}."

    @property
    def table(self) -> TextTable:
        head = ["Round", "Others", "Released", "Secret", "Your guess", "Best guess", "Right with probability"]
        rows = [
            [
                f"Round {place}",
                f"{one.seen.others} yes",
                f"{one.seen.released} yes",
                SIDES[one.secret],
                SIDES[guess],
                "either" if one.seen.best is None else SIDES[one.seen.best],
                format_percent(max(one.seen.belief, 1 - one.seen.belief), 3),
            ]
            for place, (one, guess) in enumerate(zip(self.rounds, self.guesses, strict=True), start=1)
        ]
        return TextTable(head, rows, "All rounds of this game")


class WhoSaidYes(Level[PersonRound, bool]):
    """Guess the answer of the one person whom the attacker does not know."""

    key = "person"
    label = "1 · Yes or no?"
    question = "Did the ringed person say yes?"
    rules = (
        "Three people answered a private question. You know what two of them said. The third, ringed, may have said "
        "yes or no: before you look, both are equally likely. An agency publishes one number about all three."
    )

    def draw(self, generator: np.random.Generator, epsilon: float) -> tuple[PersonRound, ...]:
        return tuple(self._draw_one(generator, epsilon) for _ in range(GAME_ROUNDS))

    def _draw_one(self, generator: np.random.Generator, epsilon: float) -> PersonRound:
        release = any_way(generator, FEW_PEOPLE, epsilon)
        others, secret = int(generator.integers(FEW_PEOPLE)), bool(generator.integers(2))
        (released,) = release.draw(generator, others + secret).tolist()
        return PersonRound(SeenPerson(release, released, others), secret)

    def score(self, rounds: tuple[PersonRound, ...], guesses: tuple[bool, ...], epsilon: float) -> PersonScore:
        return PersonScore(rounds, guesses, epsilon)
