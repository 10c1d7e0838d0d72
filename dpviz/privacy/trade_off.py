"""The trade-off curve: the errors that an attacker cannot avoid who tests one data set against its neighbour."""

import dataclasses
import math
from dataclasses import dataclass
from typing import Self

import numpy as np
from scipy.special import ndtr, ndtri, ndtri_exp

from dpviz.core import limits
from dpviz.core.declarations import ANY_EPSILON, DELTA, PROPORTION
from dpviz.core.numerics.special import MAX_EXPONENT, row_blocks
from dpviz.core.types import FloatArray, IntArray
from dpviz.mechanisms import Synthesizer

STEEPEST_POINT, MEETS_AXIS, TOUCHING_POINT, BEST_GUESS, NORMAL_CURVE = "ABCDE"
"""Where pure ε, δ, probabilistic δ, the advantage and μ sit on the curve, in its picture and in a table beside it."""

TOUCHING_TOLERANCE = 1e-12  # how far above a line a knot may stand that it touches
PRIOR_OF_PAIR = dataclasses.replace(
    PROPORTION, name="prior", symbol="π", title="Prior probability", default=0.5,
    help="The probability of the first of two neighbouring data sets before the release. ½: nothing is known.",
)  # fmt: skip


@dataclass(frozen=True, eq=False)
class TradeOffCurve:
    """The smallest type II error at each type I error, for the worst neighbours: convex and piecewise linear.

    Parameters
    ----------
    type_one, type_two : ndarray of shape (knots,)
        Errors at its knots; type I errors rise from 0 to 1.
    mu : float
        The smallest μ for which the release is μ-Gaussian differentially private: the largest Φ⁻¹(1 − a) − Φ⁻¹(b) over
        the knots (a, b); ∞ where some release decides between two neighbours.

    Source: Dong, Roth & Su (2022), definitions 2.1 and 2.6, for the worst pair in either direction.
    """

    type_one: FloatArray
    type_two: FloatArray
    mu: float

    @classmethod
    def promised(cls, epsilon: float, delta: float = 0.0) -> Self:
        """The curve that (ε, δ) alone allows: max(0, 1 − δ − e^ε a, e^−ε (1 − δ − a)).

        Wasserman & Zhou (2010); Kairouz, Oh & Viswanath (2015), theorem 2.1.

        >>> round(TradeOffCurve.promised(math.log(3)).success(0.5), 12)  # 3 / (1 + 3)
        0.75
        """
        epsilon, delta = ANY_EPSILON.validate(epsilon), DELTA.validate(delta)
        log_tie = -epsilon - math.log1p(math.exp(-epsilon))
        tie = (1 - delta) * math.exp(log_tie)
        type_one, type_two = np.array([0.0, tie, 1 - delta]), np.array([1 - delta, tie, 0.0])
        if delta > 0:
            return cls(np.append(type_one, 1.0), np.append(type_two, 0.0), math.inf)
        return cls(type_one, type_two, -2 * float(ndtri_exp(log_tie)))

    @property
    def advantage(self) -> float:
        """The largest 1 − a − b: the total variation distance of the worst neighbours."""
        return float(np.max(1 - self.type_one - self.type_two))

    @property
    def decides(self) -> bool:
        """Whether every release tells the two apart; where both errors are merely below all floats, μ is finite."""
        return math.isinf(self.mu) and not np.min(self.type_one + self.type_two)

    def touching(self, epsilon: float) -> tuple[float, float]:
        """The knot that a line of slope −e^ε touches from below, the first where it lies along a piece."""
        epsilon = ANY_EPSILON.validate(epsilon)
        height = self.type_two + math.exp(min(epsilon, MAX_EXPONENT)) * self.type_one
        knot = int(np.argmax(height <= height.min() + TOUCHING_TOLERANCE))
        return float(self.type_one[knot]), float(self.type_two[knot])

    @property
    def steepest(self) -> tuple[float, float]:
        """The middle of the steepest piece, the first: its slope is −e^ε for the exact ε.

        Pieces shorter than the rounding are left out of the curve; there the slope of the first one left is less steep.
        """
        if self.type_two[0] < 1:
            return 0.0, float(1 + self.type_two[0]) / 2
        return float(self.type_one[:2].mean()), float(self.type_two[:2].mean())

    def normal(self, type_one: FloatArray) -> FloatArray:
        """Type II errors Φ(Φ⁻¹(1 − a) − μ) where normal variables of means 0 and μ are told apart."""
        return np.asarray(ndtr(-ndtri(type_one) - self.mu))

    def success(self, prior: float) -> float:
        """How often the attacker's best guess is right if the first of the two has this probability beforehand."""
        prior = PRIOR_OF_PAIR.validate(prior)
        return 1 - float(np.min((1 - prior) * self.type_one + prior * self.type_two))


def trade_off_curve(synthesizer: Synthesizer) -> TradeOffCurve:
    """Largest convex curve below the Neyman–Pearson curves of all neighbours, in both directions.

    A test takes the released tables in the order of their likelihood ratio; its knots are cumulative sums of the two
    rows. The curve is the convex dual of δ(ε): Dong, Roth & Su (2022), proposition 2.12. A ValueError refuses more than
    `limits.MAX_TABLE_ENTRIES` entries.

    >>> from dpviz.mechanisms import BetaBinomial
    >>> curve = trade_off_curve(BetaBinomial(n=1, m=1, alpha=1, beta=1))  # its rows are (2/3, 1/3) and (1/3, 2/3)
    >>> curve.type_one.round(6).tolist(), curve.type_two.round(6).tolist()
    ([0.0, 0.333333, 1.0], [1.0, 0.333333, 0.0])
    """
    pairs = len(synthesizer.neighbours)
    columns = synthesizer.shape[1]
    if pairs * columns > limits.MAX_TABLE_ENTRIES:
        raise ValueError(
            f"The trade-off curve compares every released table under every pair of neighbours, at most "
            f"{limits.MAX_TABLE_ENTRIES:,} of them; here there are {pairs * columns:,}. Set fewer rows."
        )

    # The half with the smaller type I error, from the test that never rejects
    mu = 0.0
    tests = np.array([[0.0], [0.0], [1.0]])
    for block in row_blocks(pairs, columns, 200_000):
        log_errors = _log_errors(synthesizer, np.arange(pairs)[block])
        type_one, power, type_two = log_errors
        quantiles = np.where(power < type_two, ndtri_exp(power), -ndtri_exp(type_two))  # from the tail that is exact
        mu = max(mu, float((quantiles - ndtri_exp(type_one)).max(initial=0.0)))
        with np.errstate(under="ignore"):
            tests = _upper_hull(np.concatenate([tests, np.exp(log_errors)], axis=1))

    # The other half is its mirror image
    type_one, _, type_two = tests
    is_own_mirror = type_one[-1] >= type_two[-1] * (1 - TOUCHING_TOLERANCE)  # the last knot
    mirrored = slice(-2 if is_own_mirror else None, None, -1)
    type_one, type_two = np.append(type_one, type_two[mirrored]), np.append(type_two, type_one[mirrored])
    if type_two[0] < 1:
        type_one, type_two = np.append(type_one, 1.0), np.append(type_two, 0.0)
    return TradeOffCurve(type_one, type_two, mu)


def _log_errors(synthesizer: Synthesizer, pairs: IntArray) -> FloatArray:
    """ln of type I error, power and type II error of the tests of both directions, shape (3, tests).

    The second direction mirrors the curve of the first, so that of each the half with the smaller type I error is
    enough.
    """
    columns = np.arange(synthesizer.shape[1])
    first, second = (synthesizer.log_transition(rows, columns) for rows in synthesizer.neighbours[pairs].T)
    order = np.argsort(-synthesizer.log_odds(pairs, columns), axis=1, kind="stable")
    first, second = (np.take_along_axis(table, order, axis=1) for table in (first, second))
    halves = []
    for null, alternative in ((second, first), (first[:, ::-1], second[:, ::-1])):
        type_one, power = (np.logaddexp.accumulate(table, axis=1)[:, :-1] for table in (null, alternative))
        type_two = np.logaddexp.accumulate(alternative[:, ::-1], axis=1)[:, -2::-1]
        halves.append(np.stack([type_one, power, type_two])[:, (type_one <= type_two) & (power > -math.inf)])
    return np.concatenate(halves, axis=1)


def _upper_hull(tests: FloatArray) -> FloatArray:
    """The tests (a, power, b) on the upper hull, from the smallest a to the largest power − a."""
    tests = tests[:, np.lexsort((-tests[1], tests[0]))]
    tests = tests[:, : int(np.argmax(tests[1] - tests[0])) + 1]
    is_better = np.append(True, tests[1, 1:] > np.maximum.accumulate(tests[1])[:-1])
    tests = tests[:, is_better]
    return tests[:, hull_corners(tests[0], tests[1], rounding=1e-15)]


def hull_corners(x: FloatArray, y: FloatArray, rounding: float = 0.0) -> list[int]:
    """Indices of the points on the upper hull, by the monotone chain: a corner below the chord beside it goes.

    Parameters
    ----------
    x, y : ndarray of shape (points,)
        Coordinates, with x increasing.
    rounding : float, optional
        How far above the chord a corner still counts as below it.

    Examples
    --------
    >>> hull_corners(np.array([0.0, 1.0, 2.0]), np.array([0.0, 0.4, 1.0]))
    [0, 2]
    """
    hull: list[tuple[int, float, float]] = []
    for index, (right, end) in enumerate(zip(x.tolist(), y.tolist(), strict=True)):
        while len(hull) > 1:
            (_, left, start), (_, middle, height) = hull[-2:]
            if (height - start) * (right - left) - (middle - left) * (end - start) > rounding * (right - left):
                break
            hull.pop()
        hull.append((index, right, end))
    return [index for index, _, _ in hull]
