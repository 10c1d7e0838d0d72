"""Level 2: how many people said yes."""

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np

from dpviz.charts.drawings import counts_html, people_html
from dpviz.core.formatting import TextTable, format_number, join_words
from dpviz.core.numerics.special import binomial_weights
from dpviz.core.types import FloatArray, IntArray
from dpviz.mechanisms import GeometricSanitizer, TwoCellSynthesizer
from dpviz.teaching.game.level import GAME_ROUNDS, FinalScore, Level, RoundMark, draw_release, game_text, question_html
from dpviz.teaching.game.luck import chance_below_zero

N_PEOPLE = 20
COUNTS = np.arange(N_PEOPLE + 1)
KNOWN_SHARES = (0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8, 0.9)
"""Probabilities of a yes that may be known beforehand."""
MAX_DISTANCE = 1  # of a guess from the best one, in people, that still goes with the odds


@dataclass(frozen=True)
class CountRound:
    """A release of twenty people of whom each said yes with probability `share`; `secret` is their count of yes."""

    release: TwoCellSynthesizer
    released: int
    share: float
    secret: int

    @cached_property
    def _joint(self) -> FloatArray:
        """Pr(count and released), shape (n + 1, m + 1)."""
        return binomial_weights(np.array([self.share]), N_PEOPLE)[0][:, None] * self.release.transition_matrix()

    @property
    def posterior(self) -> FloatArray:
        """Pr(count | released)."""
        column: FloatArray = self._joint[:, self.released]
        return column / column.sum()

    @cached_property
    def posterior_means(self) -> FloatArray:
        """Posterior mean after each release: the number with the smallest expected squared error."""
        return COUNTS @ self._joint / self._joint.sum(axis=0)

    @property
    def best_guesses(self) -> IntArray:
        """Best whole number after each release: the nearest to the posterior mean, the larger in a tie."""
        return np.floor(self.posterior_means + 0.5).astype(int)

    @property
    def mean(self) -> float:
        """Posterior mean."""
        return float(self.posterior_means[self.released])

    @property
    def best(self) -> int:
        """Best whole number."""
        return int(self.best_guesses[self.released])

    def expected_error(self, guesses: FloatArray | IntArray) -> float:
        """Return the squared error of a guess for case release, expected over all counts and releases."""
        return float((self._joint * (guesses - COUNTS[:, None]) ** 2).sum())

    @property
    def smallest_error(self) -> float:
        """Smallest expected squared error of any release with this promise, and of any guess after it.

        It is that of geometric noise and the posterior mean, for every prior (Ghosh, Roughgarden & Sundararajan, 2009).
        """
        best = GeometricSanitizer(n=N_PEOPLE, epsilon=self.release.worst_log_odds().value)
        optimum = replace(self, release=best)
        return optimum.expected_error(optimum.posterior_means)

    def lead(self, guesses: IntArray) -> FloatArray:
        """Return the distribution of the squared error of guesses less that of the best guess, from −n² to n²."""
        ahead = (guesses - COUNTS[:, None]) ** 2 - (self.best_guesses - COUNTS[:, None]) ** 2
        largest = N_PEOPLE**2
        return np.bincount((ahead + largest).ravel(), self._joint.ravel(), minlength=2 * largest + 1).astype(float)

    @property
    def question_html(self) -> str:
        """What is drawn before the guess."""
        known = game_text("count", "known", share=self.share, expected=N_PEOPLE * self.share)
        return question_html([None] * N_PEOPLE, known, self.release, self.released)

    def outcome_html(self, guess: int) -> str:
        """Return what is drawn after the guess: all people, and the posterior with the truth and both guesses."""
        people: list[bool | None] = [place < self.secret for place in range(N_PEOPLE)]
        marks = [("truth", self.secret), ("published", self.released), ("you", guess), ("best", self.best)]
        return people_html(people) + game_text("count", "posterior") + counts_html(self.posterior.tolist(), marks)

    def answer(self, guess: int) -> tuple[str, str, str]:
        """Return a verdict, what is said of the guess as inline HTML, and it in at most 15 plain words."""
        distance, best_distance = abs(guess - self.secret), abs(self.best - self.secret)
        verdict = _distance_text(distance)
        values = {
            "secret": self.secret, "guess": guess, "best": self.best, "mean": self.mean, "distance": verdict,
            "best_distance": _distance_text(best_distance),
            "luckier": " You were luckier." if distance < best_distance else "",
        }  # fmt: skip
        sentence = game_text("count", "answer_best" if guess == self.best else "answer", **values)
        return verdict.capitalize(), sentence, game_text("count", "answer_short", **values)


def _distance_text(n_people: int) -> str:
    return f"off by {n_people}" if n_people else "exactly right"


def root_mean(squares: list[float]) -> str:
    """Return the root of a mean squared error, in people."""
    return format_number(math.sqrt(sum(squares) / len(squares)), 3)


def observed_error(rounds: Sequence[CountRound], guesses: Sequence[float]) -> str:
    """Return the typical error of guesses in some rounds, in people."""
    return root_mean([(guess - case.secret) ** 2 for case, guess in zip(rounds, guesses, strict=True)])


class GuessCount(Level):
    """Guess how many people said yes."""

    key = "count"

    def draw(self, generator: np.random.Generator, epsilon: float) -> tuple[CountRound, ...]:
        rounds = []
        for _ in range(GAME_ROUNDS):
            release = draw_release(generator, N_PEOPLE, epsilon)
            share = KNOWN_SHARES[int(generator.integers(len(KNOWN_SHARES)))]
            secret = int(generator.binomial(N_PEOPLE, share))
            (released,) = release.draw(generator, secret).tolist()
            rounds.append(CountRound(release, released, share, secret))
        return tuple(rounds)

    def marks(self, rounds: Sequence[CountRound], guesses: Sequence[int]) -> list[RoundMark]:
        marks = []
        for case, guess in zip(rounds, guesses, strict=True):
            distance, best_distance = abs(guess - case.secret), abs(case.best - case.secret)
            meaning = f"{_distance_text(distance)}, the best possible guess {_distance_text(best_distance)}"
            marks.append(RoundMark(f"±{distance}", distance <= best_distance, meaning))
        return marks

    def score_line(self, rounds: Sequence[CountRound], guesses: Sequence[int]) -> str:
        if not rounds:
            return ""
        best = observed_error(rounds, [case.best for case in rounds])
        return self.text("score_line", error=observed_error(rounds, guesses), best=best)

    def final_score(self, rounds: Sequence[CountRound], guesses: Sequence[int], epsilon: float) -> FinalScore:
        # Errors in these rounds, and expected over all counts and releases
        values = {
            "error": observed_error(rounds, guesses),
            "best": observed_error(rounds, [case.best for case in rounds]),
            "means": observed_error(rounds, [case.mean for case in rounds]),
            "average": root_mean([case.expected_error(case.best_guesses) for case in rounds]),
            "average_of_means": root_mean([case.expected_error(case.posterior_means) for case in rounds]),
            "repeated": root_mean([case.expected_error(COUNTS) for case in rounds]),
            "ignored": root_mean([N_PEOPLE * case.share * (1 - case.share) for case in rounds]),
        }
        limit, promise = root_mean([case.smallest_error for case in rounds]), f"ε = {format_number(epsilon)}"
        numbers = [
            ("You", values["error"], "people: the root of your mean squared error"),
            ("Best possible guess", values["best"], self.text("rounding", **values)),
            ("The same on average", values["average"], "over all counts and all that could have been released"),
            (f"What {promise} allows", limit, "the smallest average error of any release that keeps this promise"),
        ]
        # Rounds in which the guess was far from the best one; how often those who do not weigh both are nearer
        pairs = enumerate(zip(rounds, guesses, strict=True), 1)
        far = [str(place) for place, (case, guess) in pairs if abs(guess - case.best) > MAX_DISTANCE]
        odds = self.text("odds" if far else "odds_none", rounds=f"round{'s' * (len(far) > 1)} {join_words(far)}")
        repeated = chance_below_zero([case.lead(COUNTS) for case in rounds])
        ignored = chance_below_zero([case.lead(np.full_like(COUNTS, round(N_PEOPLE * case.share))) for case in rounds])
        lessons = [odds, self.text("luck", repeated=repeated, ignored=ignored)]
        answer = f"off by {values['error']}", self.text("final", **values), self.text("final_short", **values)
        return FinalScore(answer, numbers, lessons, _table(rounds, guesses))


def _table(rounds: Sequence[CountRound], guesses: Sequence[int]) -> TextTable:
    head = ["Round", "Expected", "Released", "Secret", "Your guess", "Best guess", "Posterior mean"]
    rows = []
    for place, (case, guess) in enumerate(zip(rounds, guesses, strict=True), 1):
        expected = f"{format_number(N_PEOPLE * case.share, 3)} yes"
        numbers = [str(case.secret), str(guess), str(case.best), format_number(case.mean, 3)]
        rows.append([f"Round {place}", expected, f"{case.released} yes", *numbers])
    return TextTable(head, rows, "All rounds of this game")
