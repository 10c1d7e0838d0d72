"""The trade-off curve: the errors that an attacker cannot avoid who tests one data set against its neighbour."""

import dataclasses
import math
from dataclasses import dataclass

import numpy as np
from scipy.special import ndtr, ndtri, ndtri_exp

from dpviz.core import limits
from dpviz.core.checked import checked
from dpviz.core.declarations import PROPORTION
from dpviz.core.numerics.blocks import blocks
from dpviz.core.numerics.ends import LARGEST_EXPONENT
from dpviz.core.parameters import ANY_EPSILON, DELTA
from dpviz.core.types import FloatArray, IntArray
from dpviz.mechanisms import Synthesizer

ENTRIES_AT_ONCE = 200_000  # Entries of the matrix that are tested at a time
CHORD_ROUNDING = 1e-15  # How far above a chord rounding alone may lift a point of the curve
TOUCHES = 1e-12  # How far above a line a knot may stand that it touches
# ln of type I error, power and type II error of the test that never rejects
NEVER = np.array([-math.inf, -math.inf, 0.0])[:, None, None]
# Where pure ε, δ, probabilistic δ, the advantage and μ sit on the curve, in its picture and in a table beside it
STEEPEST_POINT, MEETS_AXIS, TOUCHING_POINT, BEST_GUESS, NORMAL_CURVE = "ABCDE"
PRIOR_OF_PAIR = dataclasses.replace(
    PROPORTION,
    name="prior",
    symbol="π",
    title="Prior probability",
    default=0.5,
    help="The probability of the first of two neighbouring data sets before the release. ½: nothing is known.",
)


@dataclass(frozen=True, eq=False)
class TradeOffCurve:
    """The smallest type II error at each type I error, for the worst neighbours: convex and piecewise linear.

    `type_one` and `type_two` are its knots, type I errors from 0 to 1. `mu` is the smallest μ for which the release is
    μ-Gaussian differentially private: the largest Φ⁻¹(1 − a) − Φ⁻¹(b) over the knots (a, b); infinite where some
    release decides between two neighbours.
    Source: Dong, Roth & Su (2022), definitions 2.1 and 2.6, for the worst pair in either direction.
    """

    type_one: FloatArray
    type_two: FloatArray
    mu: float

    @classmethod
    @checked(epsilon=ANY_EPSILON, delta=DELTA)
    def promised(cls, epsilon: float, delta: float = 0.0) -> "TradeOffCurve":
        """Return the curve that (ε, δ) alone allows: max(0, 1 − δ − e^ε a, e^−ε (1 − δ − a)).

        Source: Wasserman & Zhou (2010); Kairouz, Oh & Viswanath (2015), theorem 2.1.

        >>> TradeOffCurve.promised(math.log(3)).type_one.tolist()
        [0.0, 0.25, 1.0]
        >>> round(TradeOffCurve.promised(math.log(3)).success(0.5), 12)  # 3 / (1 + 3)
        0.75
        """
        tie = (1 - delta) * math.exp(-epsilon) / (1 + math.exp(-epsilon))
        log_tie = -epsilon - math.log1p(math.exp(-epsilon))
        return cls(
            np.array([0.0, tie, 1.0 - delta] + [1.0] * (delta > 0)),
            np.array([1.0 - delta, tie, 0.0] + [0.0] * (delta > 0)),
            math.inf if delta > 0 else -2 * float(ndtri_exp(log_tie)),
        )

    @property
    def advantage(self) -> float:
        """The largest 1 − a − b: the total variation distance of the worst neighbours."""
        return float(np.max(1 - self.type_one - self.type_two))

    @property
    def decides(self) -> bool:
        """Whether every release tells the two apart; where errors of both kinds are only below all floats, μ is finite.

        >>> TradeOffCurve.promised(1000.0).decides, TradeOffCurve.promised(0.0, 1.0).decides
        (False, True)
        """
        return math.isinf(self.mu) and not np.min(self.type_one + self.type_two)

    @checked(epsilon=ANY_EPSILON)
    def touching(self, epsilon: float) -> tuple[float, float]:
        """Return the knot that a line of slope −e^ε touches from below, the first where it lies along a piece.

        >>> curve = TradeOffCurve.promised(math.log(3))
        >>> curve.touching(1.0), curve.touching(math.log(3)), curve.touching(2.0)  # its slope is −3, then −1/3
        ((0.25, 0.25), (0.0, 1.0), (0.0, 1.0))
        """
        height = self.type_two + math.exp(min(epsilon, LARGEST_EXPONENT)) * self.type_one
        place = int(np.argmax(height <= height.min() + TOUCHES))
        return float(self.type_one[place]), float(self.type_two[place])

    @property
    def steepest(self) -> tuple[float, float]:
        """The middle of the steepest piece, the first: its slope is −e^ε for the exact ε.

        Pieces shorter than the rounding are left out of the curve; there the slope of the first one left is less steep.
        """
        if self.type_two[0] < 1:
            return 0.0, float(1 + self.type_two[0]) / 2
        return float(self.type_one[:2].mean()), float(self.type_two[:2].mean())

    def normal(self, type_one: FloatArray) -> FloatArray:
        """The smallest type II errors where normal variables of means 0 and μ are told apart: Φ(Φ⁻¹(1 − a) − μ)."""
        found: FloatArray = ndtr(-ndtri(type_one) - self.mu)
        return found

    @checked(prior=PRIOR_OF_PAIR)
    def success(self, prior: float) -> float:
        """Return how often the attacker's best guess is right where one of the two has this probability beforehand.

        >>> from dpviz.mechanisms import BetaBinomial
        >>> round(trade_off_curve(BetaBinomial(n=1, m=1, alpha=1, beta=1)).success(0.5), 6)  # right two times in three
        0.666667
        """
        return 1 - float(np.min((1 - prior) * self.type_one + prior * self.type_two))


@checked()
def trade_off_curve(synthesizer: Synthesizer) -> TradeOffCurve:
    """Return the largest convex curve below the Neyman–Pearson curves of all neighbours, in both directions.

    A test takes the released tables in the order of their likelihood ratio; its knots are cumulative sums of the two
    rows. The curve is the convex dual of δ(ε). A ValueError beyond `dpviz.core.limits.TABLE_ENTRIES` entries.
    Source: Dong, Roth & Su (2022), proposition 2.12.

    >>> from dpviz.mechanisms import BetaBinomial
    >>> curve = trade_off_curve(BetaBinomial(n=1, m=1, alpha=1, beta=1))  # rows (2/3, 1/3) and (1/3, 2/3)
    >>> curve.type_one.round(6).tolist(), curve.type_two.round(6).tolist(), round(curve.advantage, 6)
    ([0.0, 0.333333, 1.0], [1.0, 0.333333, 0.0], 0.333333)
    """
    pairs, columns = len(synthesizer.neighbours), synthesizer.shape[1]
    if pairs * columns > limits.TABLE_ENTRIES:
        raise ValueError(
            f"The trade-off curve compares every released table under every pair of neighbours, at most "
            f"{limits.TABLE_ENTRIES:,} of them; here there are {pairs * columns:,}. Set fewer rows."
        )
    mu, found = 0.0, [np.exp(NEVER[:, :, 0])]
    for block in blocks(pairs, columns, ENTRIES_AT_ONCE):
        log_errors = _errors(synthesizer, np.arange(pairs)[block]).reshape(3, -1)
        mu = max(mu, _gaussian(log_errors))
        with np.errstate(under="ignore"):
            found.append(_hull(np.exp(log_errors)))
    one, _, two = _hull(np.concatenate(found, axis=1))
    if one[-1] < two[-1]:
        one, two = np.append(one, two[::-1]), np.append(two, one[::-1])
    else:
        one, two = np.append(one, two[-2::-1]), np.append(two, one[-2::-1])
    if two[0] < 1:
        one, two = np.append(one, 1.0), np.append(two, 0.0)
    return TradeOffCurve(one, two, mu)


def _errors(synthesizer: Synthesizer, pairs: IntArray) -> FloatArray:
    """ln of type I error, power and type II error at the knots of both directions, shape (3, …).

    The second direction mirrors the curve of the first, so that of each the half with the smaller type I error is
    enough; elsewhere stands the test that never rejects.
    """
    columns = np.arange(synthesizer.shape[1])
    first, second = (synthesizer.log_transition(rows, columns) for rows in synthesizer.neighbours[pairs].T)
    order = np.argsort(-synthesizer.log_odds(pairs, columns), axis=1, kind="stable")
    likelier, other = (np.take_along_axis(part, order, axis=1) for part in (first, second))
    found = []
    for null, alternative in ((other, likelier), (likelier[:, ::-1], other[:, ::-1])):
        one, power = (np.logaddexp.accumulate(part, axis=1)[:, :-1] for part in (null, alternative))
        two = np.logaddexp.accumulate(alternative[:, ::-1], axis=1)[:, -2::-1]
        found.append(np.where((one <= two) & (power > -math.inf), (one, power, two), NEVER))
    return np.concatenate(found, axis=2)


def _gaussian(log_errors: FloatArray) -> float:
    """Return the largest Φ⁻¹(1 − a) − Φ⁻¹(b) of the tests, each from the tail in which it is exact."""
    one, power, two = log_errors[:, log_errors[1] > -math.inf]
    if not len(one):
        return 0.0
    return max(float(np.max(np.where(power < two, ndtri_exp(power), -ndtri_exp(two)) - ndtri_exp(one))), 0.0)


def _hull(points: FloatArray) -> FloatArray:
    """Return the points (a, power, b) on the upper hull, from the smallest a to the largest power − a.

    Quickhull: the point farthest above a chord is a corner, and splits it into two.
    """
    points = points[:, (points[1] > 0) | (np.arange(points.shape[1]) == 0)]
    one, power = points[:2]
    order = np.lexsort((-power, one))
    last = int(np.argmax(power - one))
    corners, stack = [], [(int(order[0]), last, np.arange(points.shape[1]))]
    while stack:
        left, right, among = stack.pop()
        corners.append(left)
        run, rise = one[right] - one[left], power[right] - power[left]
        above = (power[among] - power[left]) * run - (one[among] - one[left]) * rise
        high = above > CHORD_ROUNDING * run
        if high.any():
            corners.pop()
            farthest, among = int(among[np.argmax(above)]), among[high]
            stack += [(farthest, right, among[one[among] > one[farthest]])]
            stack += [(left, farthest, among[one[among] < one[farthest]])]
    return points[:, [*corners, last] if corners[-1] != last else corners]
