"""The shortest expected length of an interval for a proportion, from any release with the promise (ε, δ)."""

import math
from dataclasses import dataclass

import numpy as np
from scipy.special import ndtri

from dpviz.core.checked import checked
from dpviz.core.declarations import LEVEL, PROPORTION
from dpviz.core.limits import OPTIMUM_ROWS
from dpviz.core.numerics.binomial import binomial_weights, steepest
from dpviz.core.numerics.quadrature import integral_below
from dpviz.core.parameters import ANY_EPSILON, DELTA, argument
from dpviz.core.types import FloatArray
from dpviz.privacy.optimum._noise import reach

LENGTH_NODES, TESTS_AT_ONCE = 256, 32  # Of the integral on either side of p, and of those that share a window of counts
IGNORED_ACCEPTANCE = 1e-3  # Acceptance, as a share of the level, that is left out of the integral
FIRST_NODE = 1e-9  # Smallest p', as a share of p/n
# Relative distance from its size at which a test will do, as the bound holds at any threshold; looks that it may take
SIZE_TOLERANCE, MOST_LOOKS = 1e-3, 100
FLAT = 1e-9  # Largest change of a test's probability from no ones to n of them at which its power counts as its size
COUNTS_TAIL = 30.0  # − ln of the probability of the counts that are left out on either side
TEST_ROUNDING, TEST_ROUNDING_BY_COUNT = 1e-12, 1e-15  # Of a probability, and of the logarithm of n!, relative to n ln n
LARGE_LOSS = 1e-3  # 1 − e^−ε from which on a sum of its powers loses nothing where it is made of the last


@dataclass(frozen=True, kw_only=True)
class ShortestLength:
    """The answer of `shortest_length`, with the question.

    `lower_bound`: No interval that holds its level is shorter on average, whatever the release: the limit to draw.
    `gap`: About how far the shortest possible expected length may be above it.
    """

    n: int
    p: float
    epsilon: float
    delta: float
    level: float
    lower_bound: float
    gap: float


@dataclass(frozen=True)
class _Tulap:
    """F(t) = Pr(noise ≤ t) of truncated uniform-Laplace noise, which all best tests F(x − threshold) are made of.

    With b = e^−ε, r the whole number next to |t| and κ = 1 − b + 2δb, 2F(t) − 1 is 2κ((1 − b^r)/(1 − b) + (|t| − r + ½)
    b^r − ½)/(1 + b) with the sign of t, cut off at ±1. So F(t + 1) = min(e^ε F(t) + δ, 1 − e^−ε (1 − F(t) − δ), 1)
    where F(t) > 0: no (ε, δ)-differentially private test rises faster.
    """

    epsilon: float
    delta: float

    @property
    def fall(self) -> float:
        """The b = e^−ε."""
        return math.exp(-self.epsilon)

    @property
    def factor(self) -> float:
        """The κ."""
        return -math.expm1(-self.epsilon) + 2 * self.delta * self.fall

    @property
    def rise(self) -> float:
        """How much F rises at most from t to t + 1, and its largest slope."""
        return self.factor / (1 + self.fall)

    @property
    def turn(self) -> float:
        """How much more F can rise at most from t + 1 to t + 2 than from t to t + 1, or less.

        Rises that are next to each other are within e^ε, but at the ends of the noise: there they are at most e^ε δ.
        """
        at_end = min(self.delta / self.fall, self.rise) if self.fall > 0 else self.rise * (self.delta > 0)
        return max(-math.expm1(-self.epsilon) * self.rise, at_end)

    def reach(self, tail: float) -> float:
        """Return a t that the noise exceeds with probability `tail` at most."""
        whole = reach(self.epsilon, self.delta) + 1
        return min(0.5 - math.log(tail) / self.epsilon, whole) if self.epsilon > 0 else whole

    def below(self, t: FloatArray) -> tuple[FloatArray, FloatArray]:
        """Return F and its slope."""
        away = np.abs(t)
        steps, rest = np.rint(away), -math.expm1(-self.epsilon)
        with np.errstate(under="ignore"):
            falls = np.exp(-self.epsilon * steps)
            whole = 1 - falls if rest > LARGE_LOSS else -np.expm1(-self.epsilon * steps)
            sums = whole / rest if rest > 0 else steps
            found = 0.5 + self.factor / (1 + self.fall) * np.copysign(sums + (away - steps + 0.5) * falls - 0.5, t)
        return np.clip(found, 0.0, 1.0), np.where((found > 0) & (found < 1), self.rise * falls, 0.0)


@checked(
    n=argument("n", 1, OPTIMUM_ROWS, title="People", integer=True),
    p=PROPORTION,
    epsilon=ANY_EPSILON,
    delta=DELTA,
    level=LEVEL,
)
def shortest_length(*, n: int, p: float, epsilon: float, delta: float = 0.0, level: float = 0.95) -> ShortestLength:
    """Return the shortest expected length at p of an interval that holds every p' with probability `level` or more.

    It may be made from any (ε, δ)-differentially private release of n rows that are 1 with probability p each: of any
    number of sets, of anything. Its expected length inside 0 to 1 is ∫ Pr(p' is in it | p) dp', and that it leaves p'
    out is a test of p' of size 1 − level, as private as the release. So it is at least ∫₀¹ (1 − β(p', p)) dp', with β
    the largest power at p of a private test of p' of that size. The best one against a larger p rejects x ones with
    probability F(x − c), F the distribution function of Tulap noise and c set so that the size is kept; that against a
    smaller p is its mirror image.

    A release that tells the rows apart is no better: its average over all orders of the rows is as private. Each p has
    an interval of its own that reaches the bound: release x with Tulap noise, put together the two one-sided intervals
    that the best tests make, and stretch it so that it holds that p. The integral is bounded from below
    (`integral_below`), with what rounding and the counts that are left out may add taken off.

    Source: Awan & Slavković (2018), Differentially private uniformly most powerful tests for binomial data, for the
    tests and the noise; Pratt (1961), Length of confidence intervals, for the length.

    A promise of ε = 0 without δ leaves an interval that knows nothing: all of 0 to 1, in 95 of 100 cases. One row as it
    is, at p = 0: a test of p' that keeps a size of ½ accepts a zero with probability 1 − ½/(1 − p'), or never.

    >>> shortest_length(n=100, p=0.25, epsilon=0.0).lower_bound
    0.95
    >>> found = shortest_length(n=1, p=0.0, epsilon=50.0, level=0.5)
    >>> round(found.lower_bound, 3), round(0.5 - math.log(2) / 2, 3)
    (0.153, 0.153)
    """
    noise = _Tulap(epsilon, delta)
    low = _from_smaller(n, p, noise, level)
    high = low if p == 0.5 else _from_smaller(n, 1 - p, noise, level)
    found, gap = low[0] + high[0], low[1] + high[1]
    return ShortestLength(n=n, p=p, epsilon=epsilon, delta=delta, level=level, lower_bound=found, gap=gap)


def _from_smaller(n: int, p: float, noise: _Tulap, level: float) -> tuple[float, float]:
    """Return a lower bound of ∫ (1 − β(p', p)) dp' over the p' below p, and about how far it is below the integral.

    The power at each size is concave, so that a tangent at any threshold c bounds it: with λ the ratio of the slopes of
    power and size there, 1 − β is at least 1 − power − λ (1 − level − size).
    """
    change, size = n * noise.rise, 1 - level
    if change < FLAT:  # no test has more power than its size and this
        return (level - change) * p, change * p
    nodes = _nodes(n, p, noise, level)
    if not nodes[0] > 0:
        return 0.0, p
    smallest, price = np.full(len(nodes), level), np.ones(len(nodes))
    first, last = _window(n, p, p)
    own, ones = binomial_weights(np.array([p]), n, first, last)[0], np.arange(first, last + 1)
    far = noise.reach(min(size, 1 - size)) + 1
    guesses = n * nodes + np.sqrt(n * nodes * (1 - nodes) * ndtri(size) ** 2 + (far if size < 0.5 else 0.0) ** 2)
    for start in range(0, LENGTH_NODES, TESTS_AT_ONCE):
        block = slice(start, min(start + TESTS_AT_ONCE, LENGTH_NODES))
        thresholds, reached, slopes = _thresholds(n, nodes[block], noise, size, guesses[block], far)
        guesses += thresholds[-1] - guesses[block][-1]
        chances, own_slopes = noise.below(ones - thresholds[:, None])
        with np.errstate(divide="ignore", invalid="ignore"):
            ratio = (own_slopes @ own) / slopes
        value = (1 - chances) @ own + ratio * (reached - size)
        known = ratio * size <= 1  # as that of every tangent; else rounding is all that there is
        smallest[block], price[block] = np.where(known, value, 0.0), np.where(known, ratio, 0.0)
    rounding = TEST_ROUNDING + TEST_ROUNDING_BY_COUNT * n * math.log(n)
    smallest = np.maximum(smallest - rounding * (1 + price), 0.0)
    steep, bent = steepest(n, nodes, min(1.0, change))
    steep, bent = np.minimum(steep, change), np.minimum(bent, n * (n - 1) * noise.turn)
    lower, gap = integral_below(nodes, smallest, price, steep, bent, rising=True)
    return lower, max(2 * gap, 0.0) + float(smallest[0] * min(nodes[0], p - nodes[0]))


def _nodes(n: int, p: float, noise: _Tulap, level: float) -> FloatArray:
    """Return p' from where next to nothing is accepted to p, at equal steps of arcsin √p'."""
    tails = IGNORED_ACCEPTANCE * level, min(1 - level, 0.5)
    errors, missing = -float(sum(ndtri(tails))) / math.sqrt(n), 1 - p
    # What is `errors` standard errors of p' away from p: from 1/2 on they grow as p' falls, by √(1 − p') at most
    rising = (errors / 2 + math.sqrt(errors**2 / 4 + missing)) ** 2 - missing
    away = errors * math.sqrt(p * missing) if p < 0.5 else min(rising, errors / 2)
    first = max(p - away - sum(map(noise.reach, tails)) / n, FIRST_NODE * p / n)
    angles = np.linspace(math.asin(math.sqrt(first)), math.asin(math.sqrt(p)), LENGTH_NODES + 1)
    nodes: FloatArray = np.sin(angles) ** 2
    nodes[-1] = p
    return nodes


def _window(n: int, low: float, high: float) -> tuple[int, int]:
    """Return the first and the last count that matters for p from `low` to `high`."""
    variance = n * max(low * (1 - low), high * (1 - high), 0.25 * (low < 0.5 < high))
    away = COUNTS_TAIL / 3 + math.sqrt(
        COUNTS_TAIL**2 / 9 + 2 * COUNTS_TAIL * variance
    )  # beyond it are e^−COUNTS_TAIL on either side (Bernstein)
    return max(math.floor(n * low - away), 0), min(math.ceil(n * high + away), n)


def _thresholds(
    n: int, nodes: FloatArray, noise: _Tulap, size: float, start: FloatArray, far: float
) -> tuple[FloatArray, FloatArray, FloatArray]:
    """Return thresholds at which the tests of some p' have about this size, with their sizes and minus their slopes.

    They are looked for from `start` on, and are no more than `far` outside 0 to n.
    """
    first, last = _window(n, float(nodes[0]), float(nodes[-1]))
    weights, ones = binomial_weights(nodes, n, first, last), np.arange(first, last + 1)
    low, high = np.full(len(nodes), -far), np.full(len(nodes), n + far)
    found, missed = np.clip(start, low, high), np.full(len(nodes), math.inf)
    for _ in range(MOST_LOOKS):
        chances, slopes = noise.below(ones - found[:, None])
        excess, slope = (np.einsum("px,px->p", weights, one) for one in (chances - size, slopes))
        away = np.abs(excess)
        unsettled = away > SIZE_TOLERANCE * min(size, 1 - size)
        if not unsettled.any():
            break
        low, high = np.where(excess >= 0, found, low), np.where(excess <= 0, found, high)
        with np.errstate(divide="ignore", invalid="ignore", over="ignore"):
            goal = found + excess / slope
        good = (low < goal) & (goal < high) & (away <= missed / 2)  # at kinks lines can lead to and fro
        found, missed = np.where(unsettled, np.where(good, goal, (low + high) / 2), found), away
    return found, excess + size, slope
