"""Level 1: whether the ringed person said yes."""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from scipy.special import expit

from dpviz.charts.drawings import chances_html, people_html
from dpviz.core.formatting import TextTable, format_distinct, format_number, format_percent, join_words, spell_count
from dpviz.core.types import FloatArray
from dpviz.mechanisms import TwoCellSynthesizer
from dpviz.teaching.game.level import GAME_ROUNDS, FinalScore, Level, RoundMark, draw_release, game_text, question_html
from dpviz.teaching.game.luck import coin_chances
from dpviz.teaching.membership import MembershipGame

N_PEOPLE = 3
"""So few that the best guess beats a coin even where the agency invents people: each answer weighs a third."""
MANY_GAMES = 100  # show what luck leaves of skill in the long run
MIN_CHANCE = 1e-4  # below which the size of a chance does not matter
ANSWERS = {True: "yes", False: "no"}


@dataclass(frozen=True)
class AnswerRound:
    """A release of three people, two of whom the player knows; `secret` is the answer of the third, ringed."""

    release: TwoCellSynthesizer
    released: int
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

    @property
    def best_chance(self) -> float:
        """How often the best guess is right after this release."""
        posterior = self.game.posterior(self.released)
        return max(posterior, 1 - posterior)

    def people(self, answer: bool | None = None) -> list[bool | None]:
        """Return all answers, that of the ringed person last."""
        return [*(place < self.known_yes for place in range(N_PEOPLE - 1)), answer]

    @property
    def question_html(self) -> str:
        """What is drawn before the guess."""
        known = game_text("person", "known", known_yes=self.known_yes, known_no=N_PEOPLE - 1 - self.known_yes)
        return question_html(self.people(), known, self.release, self.released, ringed=N_PEOPLE - 1)

    def outcome_html(self, _guess: bool) -> str:
        """Return what is drawn after the guess: all people, and both probabilities of what was published."""
        no, yes = self.game.likelihoods[:, self.released].tolist()
        chances = chances_html([("if the person said yes", yes, True), ("if the person said no", no, False)])
        caption = game_text("person", "published", released=self.released)
        return people_html(self.people(self.secret), ringed=N_PEOPLE - 1) + caption + chances

    def answer(self, guess: bool) -> tuple[str, str, str]:
        """Return a verdict, what is said of the guess as inline HTML, and it in at most 15 plain words."""
        is_right, (no, yes) = guess is self.secret, self.game.likelihoods[:, self.released].tolist()
        values: dict[str, Any] = {"secret": ANSWERS[self.secret], "guess": ANSWERS[guess]}
        part, best = "tie", "no better than a coin"
        if self.best is not None:
            part, best = "answer", ANSWERS[self.best]
            ending = "" if is_right else " Bad luck: this was one of the other times."
            if guess is not self.best:
                ending = " Your guess went against the odds."
            values |= {"right": " You are right." if is_right else "", "ending": ending, "chance": self.best_chance}
            values["times"] = format_distinct(max(yes, no) / min(yes, no), 1.0, 3)
        sentence, short = (game_text("person", name, best=best, **values) for name in (part, "answer_short"))
        return "Right" if is_right else "Wrong", sentence, short


def count_right(rounds: Sequence[AnswerRound], guesses: Sequence[bool | None]) -> float:
    """Return how many guesses are right; None, a tossed coin, is half right."""
    return sum(0.5 if guess is None else guess is case.secret for case, guess in zip(rounds, guesses, strict=True))


class GuessAnswer(Level):
    """Guess the answer of the one person whom the attacker does not know."""

    key = "person"

    def draw(self, generator: np.random.Generator, epsilon: float) -> tuple[AnswerRound, ...]:
        rounds = []
        for _ in range(GAME_ROUNDS):
            release = draw_release(generator, N_PEOPLE, epsilon)
            known_yes, secret = int(generator.integers(N_PEOPLE)), bool(generator.integers(2))
            (released,) = release.draw(generator, known_yes + secret).tolist()
            rounds.append(AnswerRound(release, released, known_yes, secret))
        return tuple(rounds)

    def marks(self, rounds: Sequence[AnswerRound], guesses: Sequence[bool]) -> list[RoundMark]:
        right, wrong = RoundMark("✓", True, "right"), RoundMark("✗", False, "wrong")
        return [right if case.secret is guess else wrong for case, guess in zip(rounds, guesses, strict=True)]

    def score_line(self, rounds: Sequence[AnswerRound], guesses: Sequence[bool]) -> str:
        best = count_right(rounds, [case.best for case in rounds])
        return self.text("score_line", right=int(count_right(rounds, guesses)), best=best) if rounds else ""

    def final_score(self, rounds: Sequence[AnswerRound], guesses: Sequence[bool], epsilon: float) -> FinalScore:
        # The player, the best guesser on the same rounds and on average, and the limit e^ε / (1 + e^ε) of the promise
        success_rates = np.array([case.game.success_rate for case in rounds])
        values = {
            "right": f"{count_right(rounds, guesses):g}",
            "epsilon": format_number(epsilon),
            "best": format_number(count_right(rounds, [case.best for case in rounds]), 3),
            "average": format_number(float(success_rates.sum()), 3),
            "limit": format_number(GAME_ROUNDS * float(expit(epsilon)), 3),
        }
        numbers = [
            ("You", values["right"], f"right guesses in {GAME_ROUNDS} rounds"),
            ("Best possible guesser", values["best"], "right guesses in the same rounds"),
            ("The same on average", values["average"], "over everything that could have been released"),
            (f"What ε = {values['epsilon']} allows", values["limit"], "eᵋ / (1 + eᵋ) of the rounds"),
        ]
        answer = f"{values['right']} of {GAME_ROUNDS}", self.text("final", **values), self.text("final_short", **values)
        lessons = [_odds_text(rounds, guesses), _luck_text(success_rates)]
        return FinalScore(answer, numbers, lessons, _table(rounds, guesses))


def _odds_text(rounds: Sequence[AnswerRound], guesses: Sequence[bool]) -> str:
    """Say which guesses went against the odds, and what came of it."""
    pairs = enumerate(zip(rounds, guesses, strict=True), 1)
    against = [(place, case.secret is guess) for place, (case, guess) in pairs if case.best is (not guess)]
    places, n_right = join_words(str(place) for place, _ in against), sum(is_right for _, is_right in against)
    if not against:
        return game_text("person", "odds_none")
    if len(against) == 1:
        outcome = "it was right all the same" if n_right else "it was wrong"
        return game_text("person", "odds_one", rounds=places, outcome=outcome)
    outcome = spell_count(n_right, "of them was", "of them were") if n_right else "none of them was"
    number = spell_count(len(against), "guess", "guesses").capitalize()
    return game_text("person", "odds_many", number=number, rounds=places, outcome=outcome)


def _luck_text(success_rates: FloatArray) -> str:
    """Say how often somebody who tosses a coin beats the best guesser, in one game and in many."""
    (ahead, equal), (later, _) = coin_chances(success_rates), coin_chances(success_rates, MANY_GAMES)
    seldom = f"less than {format_percent(MIN_CHANCE, 2)}" if later < MIN_CHANCE else format_percent(later, 2)
    many = GAME_ROUNDS * MANY_GAMES
    return game_text("person", "luck", ahead=ahead, equal=equal, many_rounds=many, later=seldom)


def _table(rounds: Sequence[AnswerRound], guesses: Sequence[bool]) -> TextTable:
    head = ["Round", "Others", "Released", "Secret", "Your guess", "Best guess", "Right with probability"]
    rows = []
    for place, (case, guess) in enumerate(zip(rounds, guesses, strict=True), 1):
        best = "either" if case.best is None else ANSWERS[case.best]
        given = [f"Round {place}", f"{case.known_yes} yes", f"{case.released} yes"]
        rows.append([*given, ANSWERS[case.secret], ANSWERS[guess], best, format_percent(case.best_chance, 3)])
    return TextTable(head, rows, "All rounds of this game")
