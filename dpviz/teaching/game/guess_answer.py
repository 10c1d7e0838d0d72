"""Level 1: whether the ringed person said yes."""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from scipy.special import expit

from dpviz.charts.drawings import chances_html, people_html
from dpviz.core.formatting import TextTable, format_distinct, format_number, format_percent, join_words, spell_count
from dpviz.mechanisms import TwoCellSynthesizer
from dpviz.teaching.game.level import GAME_ROUNDS, FinalScore, Level, RoundMark, draw_release, question_html
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
    def best_chance(self) -> str:
        """How often the best guess is right after this release."""
        posterior = self.game.posterior(self.released)
        return format_percent(max(posterior, 1 - posterior), 3)

    def goes_against_odds(self, guess: bool) -> bool:
        """Whether the other guess is right more often."""
        return self.best is not None and guess is not self.best

    def people(self, answer: bool | None = None) -> list[bool | None]:
        """Return all answers, that of the ringed person last."""
        return [*(place < self.known_yes for place in range(N_PEOPLE - 1)), answer]

    @property
    def question_html(self) -> str:
        """What is drawn before the guess."""
        known = (
            f"You know {N_PEOPLE - 1} of the {N_PEOPLE} answers: <b>{self.known_yes} yes</b> (orange) and "
            f"<b>{N_PEOPLE - 1 - self.known_yes} no</b> (blue). "
            "For the ringed person, yes and no were equally likely."
        )
        return question_html(self.people(), known, self.release, self.released, ringed=N_PEOPLE - 1)

    def outcome_html(self, _guess: bool) -> str:
        """Return what is drawn after the guess: all people, and both probabilities of what was published."""
        no, yes = self.game.likelihoods[:, self.released].tolist()
        chances = chances_html([("if the person said yes", yes, True), ("if the person said no", no, False)])
        sentence = f"<p>How probable it was that <b>{self.released} yes</b> would be published:</p>"
        return people_html(self.people(self.secret), ringed=N_PEOPLE - 1) + sentence + chances

    def answer(self, guess: bool) -> tuple[str, str, str]:
        """Return a verdict, what is said of the guess as inline HTML, and it in at most 15 plain words."""
        secret, is_right = ANSWERS[self.secret], guess is self.secret
        best = "no better than a coin" if self.best is None else ANSWERS[self.best]
        short = f"You guessed {ANSWERS[guess]}. The person said {secret}; the best guess was {best}."
        sentence = f"The person said <b>{secret}</b>. "
        if self.best is None:
            sentence += "Both answers make this number equally likely: no guess was better than a coin."
        else:
            no, yes = self.game.likelihoods[:, self.released].tolist()
            times = format_distinct(max(yes, no) / min(yes, no), 1.0, 3)
            sentence += "You are right. " if is_right else ""
            sentence += f"A {best} makes this number {times} times as likely, so the best guess was {best}; it is "
            sentence += f"right {self.best_chance} of the time."
            if self.goes_against_odds(guess):
                sentence += " Your guess went against the odds."
            elif not is_right:
                sentence += " Bad luck: this was one of the other times."
        return "Right" if is_right else "Wrong", sentence, short


def count_right(rounds: Sequence[AnswerRound], guesses: Sequence[bool | None]) -> float:
    """Return how many guesses are right; None, a tossed coin, is half right."""
    return sum(0.5 if guess is None else guess is each.secret for each, guess in zip(rounds, guesses, strict=True))


class GuessAnswer(Level):
    """Guess the answer of the one person whom the attacker does not know."""

    key = "person"
    label = "1 · Yes or no?"
    question = "Did the ringed person say yes?"
    rules = (
        "Three people answered a private question. You know what two of them said. The third, ringed, may have said "
        "yes or no: before you look, both are equally likely. An agency publishes one number about all three."
    )

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
        return [right if each.secret is guess else wrong for each, guess in zip(rounds, guesses, strict=True)]

    def score_line(self, rounds: Sequence[AnswerRound], guesses: Sequence[bool]) -> str:
        best = format_number(count_right(rounds, [each.best for each in rounds]), 3)
        return f"You: {count_right(rounds, guesses):g} right. Best possible guesser: {best}." if rounds else ""

    def final_score(self, rounds: Sequence[AnswerRound], guesses: Sequence[bool], epsilon: float) -> FinalScore:
        # The player, the best guesser on the same rounds and on average, and the limit e^ε / (1 + e^ε) of the promise
        success_rates = np.array([each.game.success_rate for each in rounds])
        right = f"{count_right(rounds, guesses):g}"
        best = format_number(count_right(rounds, [each.best for each in rounds]), 3)
        average = format_number(float(success_rates.sum()), 3)
        limit, promise = format_number(GAME_ROUNDS * float(expit(epsilon)), 3), f"ε = {format_number(epsilon)}"
        sentence = (
            f"You were right in <b>{right}</b> of {GAME_ROUNDS} rounds. The best possible guesser was right in "
            f"<b>{best}</b> of the same rounds; on average it is right in {average}. The promise {promise} would allow "
            f"{limit}."
        )
        mark = f"{right} of {GAME_ROUNDS}"
        numbers = [
            ("You", right, f"right guesses in {GAME_ROUNDS} rounds"),
            ("Best possible guesser", best, "right guesses in the same rounds"),
            ("The same on average", average, "over everything that could have been released"),
            (f"What {promise} allows", limit, "eᵋ / (1 + eᵋ) of the rounds"),
        ]
        return FinalScore(
            (mark, sentence, f"You: {mark}. The best possible guesser: {best}."),
            numbers,
            [_odds_sentence(rounds, guesses), _luck_sentence(success_rates)],
            _table(rounds, guesses),
        )


def _odds_sentence(rounds: Sequence[AnswerRound], guesses: Sequence[bool]) -> str:
    """Say which guesses went against the odds, and what came of it."""
    pairs = enumerate(zip(rounds, guesses, strict=True), 1)
    against = [(place, each.secret is guess) for place, (each, guess) in pairs if each.goes_against_odds(guess)]
    if not against:
        return "No guess of yours went against the odds: nobody could have guessed better, whatever came of it."
    places, n_right = join_words(str(place) for place, _ in against), sum(is_right for _, is_right in against)
    if len(against) == 1:
        outcome = "it was right all the same" if n_right else "it was wrong"
        return f"One of your guesses went against the odds, in round {places}; {outcome}."
    outcome = spell_count(n_right, "of them was", "of them were") if n_right else "none of them was"
    count = spell_count(len(against), "guess", "guesses").capitalize()
    return f"{count} of yours went against the odds, in rounds {places}; {outcome} right."


def _luck_sentence(success_rates: np.ndarray) -> str:
    """Say how often somebody who tosses a coin beats the best guesser, in one game and in many."""
    ahead, equal = (format_percent(chance, 2) for chance in coin_chances(success_rates))
    later, _ = coin_chances(success_rates, MANY_GAMES)
    seldom = f"less than {format_percent(MIN_CHANCE, 2)}" if later < MIN_CHANCE else format_percent(later, 2)
    return (
        "Luck decides a round, and skill the average: somebody who only tosses a coin beats the best possible guesser "
        f"in <b>{ahead}</b> of all games of {GAME_ROUNDS} rounds like these, and equals it in {equal}. "
        f"In {GAME_ROUNDS * MANY_GAMES:,} rounds the coin is ahead in {seldom}."
    )


def _table(rounds: Sequence[AnswerRound], guesses: Sequence[bool]) -> TextTable:
    head = ["Round", "Others", "Released", "Secret", "Your guess", "Best guess", "Right with probability"]
    rows = []
    for place, (each, guess) in enumerate(zip(rounds, guesses, strict=True), 1):
        best = "either" if each.best is None else ANSWERS[each.best]
        given = [f"Round {place}", f"{each.known_yes} yes", f"{each.released} yes"]
        rows.append([*given, ANSWERS[each.secret], ANSWERS[guess], best, each.best_chance])
    return TextTable(head, rows, "All rounds of this game")
