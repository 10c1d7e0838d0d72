"""Guessing one person's answer from a release: the best guesser of the lessons, the game and the class experiment."""

from dataclasses import dataclass
from functools import cached_property, lru_cache

import numpy as np

from dpviz.core.types import FloatArray
from dpviz.inference.sum_distribution import matrix_rows
from dpviz.mechanisms import TwoCellSynthesizer


@dataclass(frozen=True)
class MembershipGame:
    """A fair coin decides one person's answer, a table is released, and somebody guesses the answer.

    Parameters
    ----------
    release : TwoCellSynthesizer
        The mechanism, for all n people.
    known_yes : int
        Number of "yes" among the other n − 1 people, all of which the guesser knows.

    >>> from dpviz.mechanisms import GeometricSanitizer
    >>> game = MembershipGame(GeometricSanitizer(n=3, epsilon=1.0), 1)
    >>> round(game.success_rate, 4), game.best_guess(3), round(game.posterior(3), 4)
    (0.7311, True, 0.7311)
    """

    release: TwoCellSynthesizer
    known_yes: int

    @cached_property
    def likelihoods(self) -> FloatArray:
        """Pr(released count | answer), shape (2, m + 1): row 0 is "no", row 1 is "yes"."""
        rows = matrix_rows(self.release, np.array([self.known_yes, self.known_yes + 1]))
        rows.setflags(write=False)
        return rows

    @property
    def success_rate(self) -> float:
        """Success rate of the best guesser: ½ Σₖ max(Pr(k | no), Pr(k | yes))."""
        return float(self.likelihoods.max(axis=0).sum()) / 2

    @property
    def mean_released(self) -> tuple[float, float]:
        """Mean released count if the answer is "no", and if it is "yes"."""
        no, yes = (self.likelihoods @ np.arange(self.release.m + 1)).tolist()
        return no, yes

    def posterior(self, released: int) -> float:
        """Return Pr("yes" | released)."""
        no, yes = self.likelihoods[:, released].tolist()
        return float(yes / (no + yes))

    def best_guess(self, released: int) -> bool | None:
        """Return the likelier answer, None where both are equally likely."""
        no, yes = self.likelihoods[:, released].tolist()
        return None if no == yes else bool(yes > no)

    def best_chance(self, released: int) -> float:
        """Return the probability that the best guess is right."""
        posterior = self.posterior(released)
        return max(posterior, 1 - posterior)


@lru_cache(maxsize=4096)
def largest_success_rate(release: TwoCellSynthesizer) -> float:
    """Success rate of the best guesser about whom a release exposes most, whatever the others said: ½ + δ(0) / 2."""
    return 0.5 + release.hockey_stick(0.0).value / 2
