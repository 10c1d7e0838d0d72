"""Level 2: how many people said yes."""

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import numpy as np

from dpviz.charts.html import fragment
from dpviz.core.formatting import format_number, join_words
from dpviz.core.numerics.special import binomial_weights
from dpviz.core.types import FloatArray, IntArray
from dpviz.mechanisms import GeometricSanitizer
from dpviz.teaching.game.level import GAME_ROUNDS, Level, ReleaseRound, RoundMark, game_text, possible_releases
from dpviz.teaching.game.luck import chance_below_zero

N_PEOPLE = 20
COUNTS = np.arange(N_PEOPLE + 1)
KNOWN_SHARES = (0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8, 0.9)
"""Probabilities of a yes that may be known beforehand."""
MAX_DISTANCE = 1  # of a guess from the best one, in people, that still goes with the odds


@dataclass(frozen=True)
class CountRound(ReleaseRound):
    """A release of twenty people of whom each said yes with probability `share`; `secret` is their count of yes."""

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
        """Return the squared error of a guess for each release, expected over all counts and releases."""
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
        known = game_text("count", "known", share=self.share, expected=N_PEOPLE * self.share)
        return self.draw_question([None] * N_PEOPLE, known) + fragment("share", "Published", self.released, N_PEOPLE)

    def outcome_html(self, guess: int) -> str:
        people: list[bool | None] = [place < self.secret for place in range(N_PEOPLE)]
        marks = [("truth", self.secret), ("published", self.released), ("you", guess), ("best", self.best)]
        counts = fragment("counts", self.posterior.tolist(), marks)
        return fragment("people", people) + game_text("count", "posterior") + counts

    def _distances(self, guess: int) -> tuple[int, int]:
        """How far the guess and the best one are off, in people."""
        return abs(guess - self.secret), abs(self.best - self.secret)

    def answer(self, guess: int) -> tuple[str, str, str]:
        distance, best_distance = self._distances(guess)
        verdict = _distance_text(distance)
        values = {
            "secret": self.secret, "guess": guess, "best": self.best, "mean": self.mean, "distance": verdict,
            "best_distance": _distance_text(best_distance),
            "luckier": " You were luckier." if distance < best_distance else "",
        }  # fmt: skip
        sentence = game_text("count", "answer_best" if guess == self.best else "answer", **values)
        return verdict.capitalize(), sentence, game_text("count", "answer_short", **values)

    def mark(self, guess: int) -> RoundMark:
        distance, best_distance = self._distances(guess)
        meaning = f"{_distance_text(distance)}, the best possible guess {_distance_text(best_distance)}"
        return RoundMark(f"±{distance}", distance <= best_distance, meaning)

    def cells(self, guess: int) -> list[str]:
        given = [f"{format_number(N_PEOPLE * self.share, 3)} yes", f"{self.released} yes"]
        return [*given, f"{self.secret}", f"{guess}", f"{self.best}", format_number(self.mean, 3)]


def _distance_text(n_people: int) -> str:
    return f"off by {n_people}" if n_people else "exactly right"


def _draw(generator: np.random.Generator, epsilon: float) -> tuple[CountRound, ...]:
    rounds = []
    for _ in range(GAME_ROUNDS):
        release = possible_releases(N_PEOPLE, epsilon)[int(generator.integers(2))]
        share = KNOWN_SHARES[int(generator.integers(len(KNOWN_SHARES)))]
        secret = int(generator.binomial(N_PEOPLE, share))
        (released,) = release.draw(generator, secret).tolist()
        rounds.append(CountRound(release, released, share, secret))
    return tuple(rounds)


def _score(rounds: Sequence[CountRound], guesses: Sequence[int]) -> dict[str, float]:
    secrets = np.array([case.secret for case in rounds])
    named = {"error": guesses, "best": [case.best for case in rounds], "means": [case.mean for case in rounds]}
    return {name: math.sqrt(np.mean((np.array(numbers) - secrets) ** 2)) for name, numbers in named.items()}


def _summarize(
    rounds: Sequence[CountRound], guesses: Sequence[int], _epsilon: float
) -> tuple[dict[str, Any], list[str]]:
    # Mean squared errors that are expected over all counts and releases
    squares = {
        "average": [case.expected_error(case.best_guesses) for case in rounds],
        "average_of_means": [case.expected_error(case.posterior_means) for case in rounds],
        "repeated": [case.expected_error(COUNTS) for case in rounds],
        "ignored": [N_PEOPLE * case.share * (1 - case.share) for case in rounds],
        "limit": [case.smallest_error for case in rounds],
    }
    values = {name: math.sqrt(np.mean(errors)) for name, errors in squares.items()}
    # Rounds in which the guess was far from the best one; how often those who do not weigh both are nearer
    pairs = enumerate(zip(rounds, guesses, strict=True), 1)
    far = [str(place) for place, (case, guess) in pairs if abs(guess - case.best) > MAX_DISTANCE]
    places = f"round{'s' * (len(far) > 1)} {join_words(far)}"
    repeated = chance_below_zero([case.lead(COUNTS) for case in rounds])
    ignored = chance_below_zero([case.lead(np.full_like(COUNTS, round(N_PEOPLE * case.share))) for case in rounds])
    odds = game_text("count", "odds" if far else "odds_none", rounds=places)
    return values, [odds, game_text("count", "luck", repeated=repeated, ignored=ignored)]


GUESS_COUNT = Level("count", _draw, _score, _summarize)
"""Guess how many people said yes."""
