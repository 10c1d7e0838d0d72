"""The shortest expected length of an interval for a proportion, from any release with the promise (ε, δ)."""

import math
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from scipy.special import ndtri

from dpviz.core.declarations import ANY_EPSILON, DELTA, LEVEL, PROPORTION
from dpviz.core.numerics.special import binomial_weights
from dpviz.core.types import FloatArray, IntArray
from dpviz.privacy.optimum.channels import PEOPLE, noise_reach

LENGTH_NODES, BLOCK_TESTS = 256, 32  # of the integral on either side of p, and of those that share a window of counts
COUNTS_TAIL = 30.0  # −ln of the probability of the counts that are left out on either side


class ShortestLength(NamedTuple):
    """No interval that holds its level is shorter on average than `lower_bound`, whatever the release.

    The shortest possible expected length may be above it by about `gap`.
    """

    lower_bound: float
    gap: float


def shortest_length(*, n: int, p: float, epsilon: float, delta: float = 0.0, level: float = 0.95) -> ShortestLength:
    """Shortest expected length at p of an interval that holds every p' with probability `level` or more.

    Parameters
    ----------
    n : int
        People, each of whom says yes with probability p.
    p, epsilon, delta, level : float

    Notes
    -----
    The interval may be made from any (ε, δ)-differentially private release, of any number of sets. Its expected length
    inside 0 to 1 is ∫ Pr(p' is in it | p) dp', and that it leaves p' out is a test of p' of size 1 − level, as private
    as the release. So it is at least ∫₀¹ (1 − β(p', p)) dp', with β the largest power at p of a private test of p' of
    that size. The best one against a larger p rejects x ones with probability F(x − c), F the distribution function of
    Tulap noise and c set so that the size is kept [1]_; that against a smaller p is its mirror image.

    A release that tells the rows apart is no better: its average over all orders of the rows is as private. Each p has
    an interval of its own that reaches the bound [2]_. The integral is bounded from below (`integral_below`), with what
    rounding and the counts that are left out may add taken off.

    References
    ----------
    .. [1] Awan & Slavković (2018), "Differentially private uniformly most powerful tests for binomial data".
    .. [2] Pratt (1961), "Length of confidence intervals".

    Examples
    --------
    A promise of ε = 0 without δ leaves an interval that knows nothing: all of 0 to 1, in 95 of 100 cases. One row as it
    is, at p = 0: a test of p' that keeps a size of ½ accepts a zero with probability 1 − ½/(1 − p'), or never.

    >>> shortest_length(n=100, p=0.25, epsilon=0.0).lower_bound
    0.95
    >>> round(shortest_length(n=1, p=0.0, epsilon=50.0, level=0.5).lower_bound, 3), round(0.5 - math.log(2) / 2, 3)
    (0.153, 0.153)
    """
    n, p = int(PEOPLE.validate(n)), PROPORTION.validate(p)
    epsilon, delta, level = ANY_EPSILON.validate(epsilon), DELTA.validate(delta), LEVEL.validate(level)
    noise = TulapNoise(epsilon, delta)
    low = _from_smaller(n, p, noise, level)
    high = low if p == 0.5 else _from_smaller(n, 1 - p, noise, level)
    return ShortestLength(low[0] + high[0], low[1] + high[1])


@dataclass(frozen=True)
class TulapNoise:
    """Truncated uniform-Laplace noise, which all best tests F(x − threshold) are made of.

    With b = e^−ε, r the whole number next to |t| and κ = 1 − b + 2δb, 2F(t) − 1 is 2κ((1 − b^r)/(1 − b) + (|t| − r + ½)
    b^r − ½)/(1 + b) with the sign of t, cut off at ±1. So F(t + 1) = min(e^ε F(t) + δ, 1 − e^−ε (1 − F(t) − δ), 1)
    where F(t) > 0: no (ε, δ)-differentially private test rises faster.
    """

    epsilon: float
    delta: float

    @property
    def rise(self) -> float:
        """Largest rise of F from t to t + 1, and its largest slope: κ/(1 + b)."""
        fall = math.exp(-self.epsilon)
        return (-math.expm1(-self.epsilon) + 2 * self.delta * fall) / (1 + fall)

    @property
    def turn(self) -> float:
        """A bound on how much more F can rise from t + 1 to t + 2 than from t to t + 1.

        Rises that are next to each other are within e^ε, but at the ends of the noise: there they are at most e^ε δ.
        """
        fall = math.exp(-self.epsilon)
        at_end = min(self.delta / fall, self.rise) if fall > 0 else self.rise * (self.delta > 0)
        return max(-math.expm1(-self.epsilon) * self.rise, at_end)

    def reach(self, tail: float) -> float:
        """A t that the noise exceeds with probability `tail` at most."""
        last = noise_reach(self.epsilon, self.delta) + 1
        return min(0.5 - math.log(tail) / self.epsilon, last) if self.epsilon > 0 else last

    def distribution(self, t: FloatArray) -> tuple[FloatArray, FloatArray]:
        """F(t) = Pr(noise ≤ t), and its slope."""
        distance = np.abs(t)
        steps = np.rint(distance)
        loss = -math.expm1(-self.epsilon)
        with np.errstate(under="ignore"):
            falls = np.exp(-self.epsilon * steps)
            sums = -np.expm1(-self.epsilon * steps) / loss if loss > 0 else steps
            values = 0.5 + self.rise * np.copysign(sums + (distance - steps + 0.5) * falls - 0.5, t)
        return np.clip(values, 0.0, 1.0), np.where((values > 0) & (values < 1), self.rise * falls, 0.0)


def _from_smaller(n: int, p: float, noise: TulapNoise, level: float) -> tuple[float, float]:
    """A lower bound of ∫ (1 − β(p', p)) dp' over the p' below p, and about how far it is below the integral.

    The power at each size is concave, so that a tangent at any threshold c bounds it: with λ the ratio of the slopes of
    power and size there, 1 − β is at least 1 − power − λ (1 − level − size).
    """
    change, size = n * noise.rise, 1 - level
    if change < 1e-9:  # no test has more power than its size and this
        return (level - change) * p, change * p
    nodes = _nodes(n, p, noise, level)
    if not nodes[0] > 0:
        return 0.0, p

    # The smallest acceptance at the nodes, and its price λ
    smallest, price = np.full(len(nodes), level), np.ones(len(nodes))
    counts = _window(n, p, p)
    own_weights = binomial_weights(np.array([p]), n, counts[0], counts[-1])[0]
    farthest = noise.reach(min(size, 1 - size)) + 1
    spread = np.sqrt(n * nodes * (1 - nodes) * ndtri(size) ** 2 + (farthest if size < 0.5 else 0.0) ** 2)
    guesses = n * nodes + spread
    for start in range(0, LENGTH_NODES, BLOCK_TESTS):
        block = slice(start, min(start + BLOCK_TESTS, LENGTH_NODES))
        thresholds, sizes, slopes = _thresholds(n, nodes[block], noise, size, guesses[block], farthest)
        guesses += thresholds[-1] - guesses[block][-1]
        chances, own_slopes = noise.distribution(counts - thresholds[:, None])
        with np.errstate(divide="ignore", invalid="ignore"):
            ratio = (own_slopes @ own_weights) / slopes
        value = (1 - chances) @ own_weights + ratio * (sizes - size)
        is_known = ratio * size <= 1  # as that of every tangent; else rounding is all that there is
        smallest[block], price[block] = np.where(is_known, value, 0.0), np.where(is_known, ratio, 0.0)

    # The integral from below
    rounding = 1e-12 + 1e-15 * n * math.log(n)  # of a probability, and of ln n!
    smallest = np.maximum(smallest - rounding * (1 + price), 0.0)
    first, second = steepest(n, nodes, min(1.0, change))
    first, second = np.minimum(first, change), np.minimum(second, n * (n - 1) * noise.turn)
    lower, gap = integral_below(nodes, smallest, price, first, second, rising=True)
    return lower, max(2 * gap, 0.0) + float(smallest[0] * min(nodes[0], p - nodes[0]))


def _nodes(n: int, p: float, noise: TulapNoise, level: float) -> FloatArray:
    """The p' from where next to nothing is accepted to p, at equal steps of arcsin √p'."""
    tails = 1e-3 * level, min(1 - level, 0.5)  # so little acceptance is left out of the integral
    errors, missing = -float(sum(ndtri(tails))) / math.sqrt(n), 1 - p
    # What is `errors` standard errors of p' away from p: from 1/2 on they grow as p' falls, by √(1 − p') at most
    rising = (errors / 2 + math.sqrt(errors**2 / 4 + missing)) ** 2 - missing
    distance = errors * math.sqrt(p * missing) if p < 0.5 else min(rising, errors / 2)
    first = max(p - distance - sum(map(noise.reach, tails)) / n, 1e-9 * p / n)
    angles = np.linspace(math.asin(math.sqrt(first)), math.asin(math.sqrt(p)), LENGTH_NODES + 1)
    return np.append(np.sin(angles[:-1]) ** 2, p)


def _window(n: int, low: float, high: float) -> IntArray:
    """The counts that matter for p from `low` to `high`: beyond them are e^−COUNTS_TAIL on either side (Bernstein)."""
    variance = n * max(low * (1 - low), high * (1 - high), 0.25 * (low < 0.5 < high))
    distance = COUNTS_TAIL / 3 + math.sqrt(COUNTS_TAIL**2 / 9 + 2 * COUNTS_TAIL * variance)
    return np.arange(max(math.floor(n * low - distance), 0), min(math.ceil(n * high + distance), n) + 1)


def _thresholds(
    n: int, nodes: FloatArray, noise: TulapNoise, size: float, guesses: FloatArray, farthest: float
) -> tuple[FloatArray, FloatArray, FloatArray]:
    """Thresholds at which the tests of some p' have about this size, with their sizes and minus their slopes.

    Newton's method from the guesses, kept between the ends of a bisection, at most `farthest` outside 0 to n: 20 times
    as fast as a root finder that uses no slopes.
    """
    counts = _window(n, float(nodes[0]), float(nodes[-1]))
    weights = binomial_weights(nodes, n, counts[0], counts[-1])
    low, high = np.full(len(nodes), -farthest), np.full(len(nodes), n + farthest)
    thresholds, last_distance = np.clip(guesses, low, high), np.full(len(nodes), math.inf)
    for _ in range(100):
        # Size of each test at its threshold
        chances, slopes = noise.distribution(counts - thresholds[:, None])
        excess, slope = (np.einsum("px,px->p", weights, values) for values in (chances - size, slopes))
        distance = np.abs(excess)
        is_open = distance > 1e-3 * min(size, 1 - size)  # the bound holds at any threshold
        if not is_open.any():
            break

        # A Newton step where it stays inside, else a bisection
        low, high = np.where(excess >= 0, thresholds, low), np.where(excess <= 0, thresholds, high)
        with np.errstate(divide="ignore", invalid="ignore", over="ignore"):
            newton = thresholds + excess / slope
        is_good = (low < newton) & (newton < high) & (distance <= last_distance / 2)  # at kinks lines lead to and fro
        thresholds = np.where(is_open, np.where(is_good, newton, (low + high) / 2), thresholds)
        last_distance = distance
    return thresholds, excess + size, slope


def steepest(n: int, nodes: FloatArray, spread: float) -> tuple[FloatArray, FloatArray]:
    """Bounds of the first two derivatives of Σ_x Binomial(x; n, p) c_x between every two nodes p, which rise.

    The coefficients c may be any that differ by no more than `spread`. The derivatives are sums of c_x with the weights
    (x − np)/pq and ((x − np)² − (1 − 2p)(x − np) − npq)/(pq)², whose variances are n/pq and 2n(n − 1)/(pq)²; and they
    are n, and n(n − 1), times means of differences.
    """
    inside = np.maximum(np.minimum(*(nodes[part] * (1 - nodes[part]) for part in (slice(1, None), slice(-1)))), 1e-300)
    first = np.minimum(np.sqrt(n / inside) / 2, n)
    second = np.minimum(math.sqrt(2 * n * (n - 1)) / 2 / inside, 2 * n * (n - 1))
    return spread * first, spread * second


def integral_below(
    nodes: FloatArray, smallest: FloatArray, price: FloatArray, first: FloatArray, second: FloatArray, *,
    rising: bool = False,
) -> tuple[float, float]:  # fmt: skip
    """Lower bound of ∫ β, β(p) a smallest probability of acceptance, and how far it is below the trapezoids.

    Parameters
    ----------
    nodes, smallest, price : ndarray of shape (nodes,)
        At these p, β is at least `smallest`, by a λ that is the `price` of a little more of the level.
    first, second : ndarray of shape (nodes - 1,)
        Bounds of the derivatives of Pr(A | p) between the nodes, whatever A is.
    rising : bool, optional
        Whether β rises: then it is nowhere below its value at the node to the left.

    Notes
    -----
    By duality β(p) = max_λ λ level − max_A (λ Pr(A | p) − Pr(A)), A any set, or test, that accepts. Between two nodes h
    apart λ may be taken to be a line, and λ Pr(A | p) exceeds its chord by no more than (h²/12) max |(λ Pr(A | p))″| on
    average.
    """
    width, trapezoids = np.diff(nodes), (smallest[1:] + smallest[:-1]) / 2
    bend = np.maximum(price[1:], price[:-1]) * second * width + 2 * np.abs(np.diff(price)) * first
    lower = np.maximum(trapezoids - width / 12 * bend, smallest[:-1] if rising else 0.0)
    return float(lower @ width), float((trapezoids - lower) @ width)
