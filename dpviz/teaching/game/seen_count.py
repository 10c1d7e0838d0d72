"""What is known in a round of level 2, the best possible guess, and how good it and others are on average."""

from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np

from dpviz.core.formatting import format_number
from dpviz.core.types import FloatArray, IntArray
from dpviz.inference.confidential import binomial_distribution
from dpviz.mechanisms import GeometricSanitizer
from dpviz.teaching.game.base import Published

PEOPLE_COUNTED = 20
SHARES_KNOWN = (0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8, 0.9)
"""What is known of a yes beforehand: how probable it is for each of the people."""


@dataclass(frozen=True)
class SeenCount(Published):
    """What an analyst knows before the guess: how probable a yes was for each of the people, and the release."""

    share: float

    @cached_property
    def _joint(self) -> FloatArray:
        """Pr(count of yes and released): the count is binomial with the share that is known."""
        return binomial_distribution(PEOPLE_COUNTED, self.share)[:, None] * self.release.transition_matrix()

    @property
    def expected(self) -> float:
        """How many yes are expected before the release."""
        return PEOPLE_COUNTED * self.share

    @property
    def known(self) -> str:
        return (
            f"From earlier years: each of the {PEOPLE_COUNTED} people says yes with probability "
            f"<b>{format_number(100 * self.share, 3)} %</b>, so <b>{format_number(self.expected, 3)} yes</b> are "
            "expected."
        )

    @property
    def people(self) -> list[bool | None]:
        return [None] * PEOPLE_COUNTED

    @property
    def posterior(self) -> FloatArray:
        """The probability of each count of yes after the release."""
        column: FloatArray = self._joint[:, self.released]
        return column / column.sum()

    @cached_property
    def _means(self) -> FloatArray:
        """The posterior mean after each release."""
        counts = np.arange(PEOPLE_COUNTED + 1)
        return counts @ self._joint / self._joint.sum(axis=0)

    @property
    def mean(self) -> float:
        """The mean of the posterior: the number with the smallest expected squared error."""
        return float(self._means[self.released])

    @cached_property
    def _guesses(self) -> FloatArray:
        """The best whole number after each release, the nearest to the posterior mean."""
        return np.floor(self._means + 0.5)

    @property
    def best(self) -> int:
        """The whole number with the smallest expected squared error: the nearest to the posterior mean."""
        return int(self._guesses[self.released])

    def _expected(self, guesses: FloatArray) -> float:
        """The squared error of guesses for each release, expected over all counts and releases."""
        away = guesses - np.arange(PEOPLE_COUNTED + 1)[:, None]
        return float((self._joint * away**2).sum())

    @property
    def best_error(self) -> float:
        """The expected squared error of the best whole number."""
        return self._expected(self._guesses)

    @property
    def mean_error(self) -> float:
        """The expected squared error of the posterior mean, which no guess is below."""
        return self._expected(self._means)

    @property
    def released_error(self) -> float:
        """The expected squared error of who repeats what was released."""
        return self._expected(np.arange(self.release.m + 1.0))

    @property
    def unread_error(self) -> float:
        """The expected squared error of who guesses what is expected before the release: n p (1 − p)."""
        return self.expected * (1 - self.share)

    @property
    def smallest_error(self) -> float:
        """The smallest expected squared error of any release with this promise, and of any guess after it.

        It is that of geometric noise and the posterior mean, for every prior: Ghosh, Roughgarden & Sundararajan (2009).
        """
        best = GeometricSanitizer(n=PEOPLE_COUNTED, epsilon=self.release.worst_log_odds().value)
        return replace(self, release=best).mean_error

    def lead(self, guesses: IntArray) -> FloatArray:
        """Distribution of the squared error of guesses less that of the best guess, from −n² to n²."""
        counts, most = np.arange(PEOPLE_COUNTED + 1)[:, None], PEOPLE_COUNTED**2
        ahead = (guesses - counts) ** 2 - (self._guesses.astype(int) - counts) ** 2
        weights = self._joint
        found: FloatArray = np.bincount((ahead + most).ravel(), weights.ravel(), minlength=2 * most + 1).astype(float)
        return found

    @property
    def lead_on_repeated(self) -> FloatArray:
        """The same for who repeats what was released."""
        return self.lead(np.arange(self.release.m + 1))

    @property
    def lead_on_expected(self) -> FloatArray:
        """The same for who guesses what was expected, whatever is released."""
        return self.lead(np.full(self.release.m + 1, round(self.expected)))
