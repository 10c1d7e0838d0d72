"""The smallest error that any release of one count with the promise (ε, δ) can have, and a mechanism that has it."""

import math
from dataclasses import dataclass, field
from functools import cached_property
from typing import Literal

import numpy as np

from dpviz.core.checked import checked
from dpviz.core.limits import OPTIMUM_ROWS, TABLE_ENTRIES
from dpviz.core.parameters import ANY_EPSILON, DELTA, argument, readable, readable_apart, rounded_down, rounded_up
from dpviz.core.types import FloatArray
from dpviz.mechanisms.given_matrix import GivenMatrix
from dpviz.privacy.optimum._estimates import Mechanism
from dpviz.privacy.optimum._search import CRITERIA, search

LARGEST_OPTIMUM_EPSILON = 600.0  # With more than that the error is below 10⁻¹³⁰ all the same
SMALLEST_PROBABILITY = 1e-300  # Probability that every column has, so that none is 0 beside a positive one
FIRST_EVEN_SHARE = 1e-16  # First share of even columns that is mixed in against rounding, in units of e^−ε
SLIGHT = 1e-3  # Share below which the lower end of a range is not told
ERROR_TOLERANCE = 1e-9  # Relative distance within which two errors are equal
PROPORTION_ERROR = argument("error", 0.0, 1.0, title="Root mean squared error of a proportion")


@dataclass(frozen=True, kw_only=True)
class LeastError:
    """The answer of `least_error`, with the question.

    `root_mean_squared_error`: Of the number that `release` stands for, about the confidential proportion x/n: no
    mechanism that is known has less.
    `gap`: By how much less any mechanism with this promise could have at most; up to rounding 0 where δ = 0 and the
    criterion is the average. So how many times the smallest error another one is lies between two numbers: `prices`.
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
            matrix = np.maximum((1 - share) * channel + share * even, SMALLEST_PROBABILITY)
            release = GivenMatrix(probabilities=matrix)
            if self.delta == 0 and release.worst_log_odds().value <= self.epsilon:
                return release
            if self.delta > 0 and release.hockey_stick(self.epsilon).value <= self.delta:
                return release
            share = min(max(16 * share, FIRST_EVEN_SHARE * math.exp(-self.epsilon), SMALLEST_PROBABILITY), 1.0)

    @checked(error=PROPORTION_ERROR)
    def prices(self, error: float) -> tuple[float, float]:
        """Return how many times the smallest error another one is: at least, and at most.

        >>> low, high = least_error(n=150, epsilon=0.01, delta=1e-6).prices(0.28)
        >>> round(low, 2), round(high, 2)
        (1.03, 1.03)
        """
        return self.price(error), _times(error, self.lower_bound)

    def times(self, error: float) -> str:
        """Return `prices` to three digits: one number where both ends are alike, else from where to where.

        >>> least_error(n=100, epsilon=1.0).times(0.16723), least_error(n=150, epsilon=0.01, delta=1e-6).times(0.289)
        ('12.5', '1.064 to 1.067')
        """
        low, high = self.prices(error)
        if math.isinf(low):
            return "infinitely many"
        if math.isinf(high):
            return f"at least {readable(rounded_down(low, 3), 3)}"
        if max(abs(low - 1), abs(high - 1)) <= ERROR_TOLERANCE:
            return "1"
        if math.isclose(low, high, rel_tol=ERROR_TOLERANCE):
            return readable_apart(low, 1.0, 3)
        return _range(low, high, 4 if high < 2 else 3)

    def compared(self, error: float) -> str:
        """Return how much larger than the smallest error another one is, to be followed by "that of …".

        >>> least_error(n=100, epsilon=1.0).compared(0.16723), least_error(n=100, epsilon=1.0).compared(0.0142)
        ('12.5 times', '6.2 % larger than')
        """
        low, high = self.prices(error)
        if high >= 2:
            return f"{self.times(error)} times"
        if high <= 1 + ERROR_TOLERANCE:
            return "no larger than"
        if math.isclose(low, high, rel_tol=ERROR_TOLERANCE):
            return f"{readable(100 * (low - 1), 2)} % larger than"
        if low <= 1 + SLIGHT:
            return f"at most {readable(rounded_up(round(100 * (high - 1), 9), 2), 2)} % larger than"
        return f"{_range(round(100 * (low - 1), 9), round(100 * (high - 1), 9), 2)} % larger than"

    @checked(error=PROPORTION_ERROR)
    def price(self, error: float) -> float:
        """Return how many times the error of the best mechanism another one is: infinite if the best one has none.

        >>> least_error(n=1, epsilon=1.0).price(1.0) == 1 / least_error(n=1, epsilon=1.0).root_mean_squared_error
        True
        """
        return _times(error, self.root_mean_squared_error)


def _times(error: float, best: float) -> float:
    return error / best if best > 0 else math.inf if error > 0 else 1.0


def _range(low: float, high: float, digits: int) -> str:
    """Return the two ends, rounded away from each other, or the one number that both are."""
    if readable(low, digits) == readable(high, digits):
        return readable(high, digits)
    return f"{readable(rounded_down(low, digits), digits)} to {readable(rounded_up(high, digits), digits)}"


@checked(
    n=argument("n", 1, OPTIMUM_ROWS, title="People", integer=True),
    epsilon=ANY_EPSILON,
    delta=DELTA,
    criterion=tuple(CRITERIA),
)
def least_error(
    *, n: int, epsilon: float, delta: float = 0.0, criterion: Literal["average", "worst"] = "average"
) -> LeastError:
    """Return the smallest root mean squared error of x/n from any (ε, δ)-differentially private release of x of n.

    Any release counts: of any numbers, from any number of columns, and whatever its user concludes from it. So a method
    that releases counts of 0 … n cannot be below, and neither can a Bayes estimate from one that does. The error is the
    root of the average over x = 0 … n of E[(release − x/n)²], or of its worst x.

    δ = 0: the geometric mechanism of Ghosh, Roughgarden & Sundararajan (2009), and the posterior mean of its user, is
    the best for every prior; that of the least favorable prior for the worst x (Gupte & Sundararajan, 2010). δ > 0:
    geometric noise with bounded range, and the dual of a linear programme, which no mechanism is below; `gap` says what
    is left between them, about 1 % at most up to n = 1,000, ε = 30 and δ = 0.95; with a larger ε or δ it may be more.

    A fair coin with ε = ln 3 on one row: the truth with probability 3/4, so that the estimates are 1/4 and 3/4, and the
    squared error is 3/4 · 1/16 + 1/4 · 9/16 = 3/16.

    >>> best = least_error(n=1, epsilon=math.log(3))
    >>> round(best.root_mean_squared_error**2, 12), best.estimates.round(12).tolist()
    (0.1875, [0.25, 0.75])
    >>> best.release.transition_matrix().round(12).tolist()
    [[0.75, 0.25], [0.25, 0.75]]
    """
    judged = CRITERIA[criterion]
    enough = min(epsilon, LARGEST_OPTIMUM_EPSILON)
    mechanism, bound = judged.pure(n, enough) if delta == 0 else search(n, enough, delta, judged)
    error, bound = judged.of(mechanism.errors), bound if enough == epsilon else 0.0
    root, bound = math.sqrt(max(error, 0.0)) / n, math.sqrt(max(bound, 0.0)) / n
    return LeastError(
        n=n,
        epsilon=epsilon,
        delta=delta,
        criterion=criterion,
        root_mean_squared_error=root,
        gap=max(root - bound, 0.0),
        _mechanism=mechanism,
    )
