"""The smallest error that any release of one count with the promise (ε, δ) can have, and a mechanism that has it."""

import math
from dataclasses import dataclass, field
from functools import cached_property
from typing import Literal

import numpy as np

from dpviz.checked import argument, check_epsilon, checked
from dpviz.limits import OPTIMUM_ROWS, TABLE_ENTRIES
from dpviz.optimum._criteria import CRITERIA
from dpviz.optimum._mechanisms import Mechanism
from dpviz.optimum._search import search
from dpviz.parameters import DELTA, readable
from dpviz.synthesizers.given_matrix import GivenMatrix
from dpviz.types import FloatArray

LARGEST_EPSILON = 600.0  # With more than that the error is below 10⁻¹³⁰ all the same
SMALLEST = 1e-300  # Probability that every column has, so that none is 0 beside a positive one
ROUNDED = 1e-16  # First share of even columns that is mixed in against rounding, in units of e^−ε
ERROR = argument("error", 0.0, 1.0, title="Root mean squared error of a proportion")


@dataclass(frozen=True, kw_only=True)
class LeastError:
    """The answer of `least_error`, with the question.

    `root_mean_squared_error`: Of the number that `release` stands for, about the confidential proportion x/n: no
    mechanism that is known has less.
    `gap`: By how much less any mechanism with this promise could have at most; up to rounding 0 where δ = 0 and the
    criterion is the average.
    """

    n: int
    epsilon: float
    delta: float
    criterion: str
    root_mean_squared_error: float
    gap: float
    _mechanism: Mechanism = field(repr=False, compare=False)

    @property
    def lower_bound(self) -> float:
        """The root mean squared error that no mechanism with this promise is below: the limit to draw."""
        return self.root_mean_squared_error - self.gap

    @property
    def estimates(self) -> FloatArray:
        """The proportion that every column of `release` stands for: released, or concluded by who sees the column."""
        return self._mechanism.estimates / self.n

    @cached_property
    def release(self) -> GivenMatrix:
        """Pr(column | x): a mechanism that has this error if column j stands for the number ``estimates[j]``.

        The columns are no released counts: with δ = 0 there are n + 1 of them, noisy counts, each of which says the
        posterior mean; with δ as many as the search found useful. It keeps (ε, δ) to the last digit.
        """
        if (self.n + 1) * len(self._mechanism.estimates) > TABLE_ENTRIES:
            raise ValueError(
                f"The matrix of n = {readable(self.n)} is too large: release needs at most {readable(TABLE_ENTRIES)} "
                "entries. The error itself is known."
            )
        channel = self._mechanism.channel()
        even, share = 1 / channel.shape[1], 0.0
        while True:
            matrix = np.maximum((1 - share) * channel + share * even, SMALLEST)
            release = GivenMatrix(probabilities=matrix)
            if self.delta == 0 and release.worst_log_odds().value <= self.epsilon:
                return release
            if self.delta > 0 and release.hockey_stick(self.epsilon).value <= self.delta:
                return release
            share = min(max(16 * share, ROUNDED * math.exp(-self.epsilon), SMALLEST), 1.0)

    @checked(error=ERROR)
    def price(self, error: float) -> float:
        """Return how many times the error of the best mechanism another one is: infinite if the best one has none.

        >>> least_error(n=1, epsilon=1.0).price(1.0) == 1 / least_error(n=1, epsilon=1.0).root_mean_squared_error
        True
        """
        best = self.root_mean_squared_error
        return error / best if best > 0 else math.inf if error > 0 else 1.0


@checked(n=argument("n", 1, OPTIMUM_ROWS, title="Confidential rows", integer=True), epsilon=check_epsilon, delta=DELTA,
         criterion=tuple(CRITERIA))  # fmt: skip
def least_error(
    *, n: int, epsilon: float, delta: float = 0.0, criterion: Literal["average", "worst"] = "average"
) -> LeastError:
    """Return the smallest root mean squared error of x/n from any (ε, δ)-differentially private release of x of n.

    Any release counts: of any numbers, from any number of columns, and whatever its user concludes from it. So a method
    that releases counts of 0 … n cannot be below, and neither can a Bayes estimate from one that does. The error is the
    root of the average over x = 0 … n of E[(release − x/n)²], or of its worst x.

    δ = 0: the geometric mechanism of Ghosh, Roughgarden & Sundararajan (2009), and the posterior mean of its user, is
    the best for every prior; that of the least favorable prior for the worst x (Gupte & Sundararajan, 2010). δ > 0: a
    linear programme up to n = 100, noise with bounded range beyond; `gap` says what is left.

    A fair coin with ε = ln 3 on one row: the truth with probability 3/4, so that the estimates are 1/4 and 3/4, and the
    squared error is 3/4 · 1/16 + 1/4 · 9/16 = 3/16.

    >>> best = least_error(n=1, epsilon=math.log(3))
    >>> round(best.root_mean_squared_error**2, 12), best.estimates.round(12).tolist()
    (0.1875, [0.25, 0.75])
    >>> best.release.transition_matrix().round(12).tolist()
    [[0.75, 0.25], [0.25, 0.75]]
    """
    judged = CRITERIA[criterion]
    enough = min(epsilon, LARGEST_EPSILON)
    mechanism, bound = judged.pure(n, enough)[::2] if delta == 0 else search(n, enough, delta, judged)
    error, bound = judged.of(mechanism.errors), bound if enough == epsilon else 0.0
    root, least = math.sqrt(max(error, 0.0)) / n, math.sqrt(max(bound, 0.0)) / n
    return LeastError(
        n=n, epsilon=epsilon, delta=delta, criterion=criterion, root_mean_squared_error=root,
        gap=max(root - least, 0.0), _mechanism=mechanism,
    )  # fmt: skip
