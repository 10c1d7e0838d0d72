"""Level 1: whether the ringed person said yes."""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from scipy.special import expit

from dpviz.charts.html import fragment
from dpviz.core.formatting import format_distinct, format_percent, join_words, spell_count
from dpviz.core.types import FloatArray
from dpviz.teaching.game.level import GAME_ROUNDS, Level, ReleaseRound, RoundMark, game_text, possible_releases
from dpviz.teaching.game.luck import coin_chances
from dpviz.teaching.membership import MembershipGame

N_PEOPLE = 3
"""So few that the best guess beats a coin even where the agency invents people: each answer weighs a third."""
MANY_GAMES = 100  # show what luck leaves of skill in the long run
MIN_CHANCE = 1e-4  # below which the size of a chance does not matter
ANSWERS = {True: "yes", False: "no", None: "either"}


@dataclass(frozen=True)
class AnswerRound(ReleaseRound):
    """A release of three people, two of whom the player knows; `secret` is the answer of the third, ringed."""

    known_yes: int
    secret: bool

    @cached_property
    def game(self) -> MembershipGame:
        """What the player is up against."""
        return MembershipGame(self.release, self.known_yes)

    @property
    def best(self) -> bool | None:
        """The best guess; None where both are equally good."""
        return self.game.best_guess(self.released)

    def is_right(self, guess: bool | None) -> float:
        """Return 1 if a guess is right, else 0; None, a tossed coin, is half right."""
        return 0.5 if guess is None else float(guess is self.secret)

    def _people(self, answer: bool | None = None) -> list[bool | None]:
        """All answers, that of the ringed person last."""
        return [*(place < self.known_yes for place in range(N_PEOPLE - 1)), answer]

    @property
    def question_html(self) -> str:
        known = game_text("person", "known", known_yes=self.known_yes, known_no=N_PEOPLE - 1 - self.known_yes)
        columns = ["Probability, if the ringed person said", *(f"{count} yes" for count in range(N_PEOPLE + 1))]
        no, yes = ([format_percent(chance, 3) for chance in row] for row in self.game.likelihoods.tolist())
        for row in (no, yes):
            row[self.released] = f"<b>{row[self.released]}</b>"
        chances = fragment("listing", columns, [["yes", *yes], ["no", *no]], range(1, len(columns)))
        return self.draw_question(self._people(), known, ringed=N_PEOPLE - 1) + chances

    def outcome_html(self, _guess: bool) -> str:
        no, yes = self.game.likelihoods[:, self.released].tolist()
        chances = fragment("chances", [("if the person said yes", yes, True), ("if the person said no", no, False)])
        caption = game_text("person", "published", released=self.released)
        return fragment("people", self._people(self.secret), N_PEOPLE - 1) + caption + chances

    def answer(self, guess: bool) -> tuple[str, str, str]:
        is_right, likelihoods = guess is self.secret, self.game.likelihoods[:, self.released].tolist()
        values: dict[str, Any] = {"secret": ANSWERS[self.secret], "guess": ANSWERS[guess]}
        part, best = "tie", "no better than a coin"
        if self.best is not None:
            part, best = "answer", ANSWERS[self.best]
            ending = "" if is_right else " Bad luck: this was one of the other times."
            if guess is not self.best:
                ending = " Your guess went against the odds."
            times = format_distinct(max(likelihoods) / min(likelihoods), 1.0, 3)
            values |= {"right": " You are right." if is_right else "", "ending": ending, "times": times}
            values["chance"] = self.game.best_chance(self.released)
        sentence, short = (game_text("person", name, best=best, **values) for name in (part, "answer_short"))
        return "Right" if is_right else "Wrong", sentence, short

    def mark(self, guess: bool) -> RoundMark:
        return RoundMark("✓", True, "right") if guess is self.secret else RoundMark("✗", False, "wrong")

    def cells(self, guess: bool) -> list[str]:
        answers = [ANSWERS[item] for item in (self.secret, guess, self.best)]
        chance = format_percent(self.game.best_chance(self.released), 3)
        return [f"{self.known_yes} yes", f"{self.released} yes", *answers, chance]


def _draw(generator: np.random.Generator, epsilon: float) -> tuple[AnswerRound, ...]:
    rounds = []
    for _ in range(GAME_ROUNDS):
        release = possible_releases(N_PEOPLE, epsilon)[int(generator.integers(2))]
        known_yes, secret = int(generator.integers(N_PEOPLE)), bool(generator.integers(2))
        (released,) = release.draw(generator, known_yes + secret).tolist()
        rounds.append(AnswerRound(release, released, known_yes, secret))
    return tuple(rounds)


def _score(rounds: Sequence[AnswerRound], guesses: Sequence[bool]) -> dict[str, float]:
    right = sum(case.is_right(guess) for case, guess in zip(rounds, guesses, strict=True))
    return {"right": right, "best": sum(case.is_right(case.best) for case in rounds)}


def _summarize(
    rounds: Sequence[AnswerRound], guesses: Sequence[bool], epsilon: float
) -> tuple[dict[str, Any], list[str]]:
    # The best guesser on average, and the limit e^ε / (1 + e^ε) of the promise
    success_rates = np.array([case.game.success_rate for case in rounds])
    values = {"average": success_rates.sum(), "limit": GAME_ROUNDS * float(expit(epsilon))}
    return values, [_odds_text(rounds, guesses), _luck_text(success_rates)]


def _odds_text(rounds: Sequence[AnswerRound], guesses: Sequence[bool]) -> str:
    """Say which guesses went against the odds, and what came of it."""
    pairs = enumerate(zip(rounds, guesses, strict=True), 1)
    against = [(place, case.secret is guess) for place, (case, guess) in pairs if case.best is (not guess)]
    places, n_right = join_words(str(place) for place, _ in against), sum(is_right for _, is_right in against)
    if len(against) < 2:
        outcome = "it was right all the same" if n_right else "it was wrong"
        return game_text("person", "odds_one" if against else "odds_none", rounds=places, outcome=outcome)
    outcome = spell_count(n_right, "of them was", "of them were") if n_right else "none of them was"
    number = spell_count(len(against), "guess", "guesses").capitalize()
    return game_text("person", "odds_many", number=number, rounds=places, outcome=outcome)


def _luck_text(success_rates: FloatArray) -> str:
    """Say how often somebody who tosses a coin beats the best guesser, in one game and in many."""
    (ahead, equal), (later, _) = coin_chances(success_rates), coin_chances(np.tile(success_rates, MANY_GAMES))
    seldom = f"less than {format_percent(MIN_CHANCE, 2)}" if later < MIN_CHANCE else format_percent(later, 2)
    many = GAME_ROUNDS * MANY_GAMES
    return game_text("person", "luck", ahead=ahead, equal=equal, many_rounds=many, later=seldom)


GUESS_ANSWER = Level("person", _draw, _score, _summarize)
"""Guess the answer of the one person whom the attacker does not know."""
