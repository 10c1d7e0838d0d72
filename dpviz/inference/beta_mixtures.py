"""Mixtures of beta distributions: density, cumulative probability, quantiles, and intervals by tails or by density."""

import math
from collections.abc import Callable
from dataclasses import dataclass, field
from functools import cached_property, lru_cache

import numpy as np
from scipy.optimize import brentq
from scipy.special import betaincinv, logit

from dpviz.core.declarations import LEVEL
from dpviz.core.formatting import describe_value
from dpviz.core.numerics.special import log_beta, row_blocks
from dpviz.core.parameters import argument
from dpviz.core.types import FloatArray, Numbers
from dpviz.inference._highest_density import Ladder, highest_density
from dpviz.inference._log_odds import (
    FIRST_INSIDE,
    HIGHEST_LOG_ODDS,
    LOWEST_LOG_ODDS,
    incomplete_beta,
    log_parts,
    nearest,
)

DROPPED_WEIGHT = 1e-16  # Bound on the total weight of the components that densities and probabilities leave out
# Cells of a grid that brackets a quantile, and how many grids there are, each in a cell of the one before
BRACKET_CELLS, NARROWINGS = 8, 4
# Factors of the odds of a tail: between those quantiles of a beta is that of a mixture of its mean and variance, mostly
NEAR_ODDS = np.exp([-1.6, -0.4, -0.1, -0.02, 0.02, 0.1, 0.4, 1.6])
MOST_STEPS = 100_000_000  # Cells of the table in which components are raised to one a + b: 0.8 GB

COMPONENTS = (
    argument("first", 0, 1e13, open_minimum=True),
    argument("second", 0, 1e13, open_minimum=True),
    argument("weights", 0, 1.001),
)
SUM_ROUNDING = 1e-6  # How far from 1 rounding may leave the sum of the weights
PROBABILITY = argument("q", 0, 1, title="probability")


@dataclass(frozen=True, kw_only=True, eq=False)
class BetaMixture:
    """Σ_i w_i Beta(a_i, b_i), with a_i (`first`) and b_i (`second`) positive and weights of sum 1.

    The cumulative probability of a run of components, a up and b down by one at each step, needs a single incomplete
    beta function: I_p(a, b) = I_p(a + 1, b − 1) + p^a (1 − p)^(b − 1) / (a B(a, b)). Components are left out only while
    their weights total less than 1e-16.

    >>> even = BetaMixture(first=np.array([1.0, 2.0]), second=np.array([2.0, 1.0]), weights=np.array([0.5, 0.5]))
    >>> round(even.mean, 12), round(even.variance, 12), [round(end, 12) for end in even.interval(0.5)]
    (0.5, 0.083333333333, [0.25, 0.75])
    """

    first: FloatArray = field(repr=False)
    second: FloatArray = field(repr=False)
    weights: FloatArray = field(repr=False)

    def __post_init__(self) -> None:
        for declaration in COMPONENTS:
            values = declaration.validate_array(getattr(self, declaration.name))
            if values.shape != np.shape(self.first) or values.ndim != 1 or not len(values):
                raise ValueError(
                    f"{declaration.name} must have one number for each component; got {describe_value(values)}."
                )
            object.__setattr__(self, declaration.name, values)
        if abs(self.weights.sum() - 1) > SUM_ROUNDING:
            raise ValueError(f"weights must have the sum 1; got {describe_value(float(self.weights.sum()))}.")

    @property
    def mean(self) -> float:
        """Σ w_i a_i / (a_i + b_i)."""
        return float(self.weights @ self._means)

    @property
    def variance(self) -> float:
        """The mean of the variances plus the variance of the means."""
        total = self.first + self.second
        within = self._means * (self.second / total) / (total + 1)
        return float(self.weights @ (within + (self._means - self.mean) ** 2))

    @cached_property
    def _means(self) -> FloatArray:
        return self.first / (self.first + self.second)

    @cached_property
    def _kept(self) -> tuple[FloatArray, FloatArray, FloatArray]:
        """First and second parameters and weights of the components that carry weight, raised to one a + b."""
        first, second, weights = self.first, self.second, self.weights
        heavy = weights > DROPPED_WEIGHT / len(weights)
        first, second, weights = first[heavy], second[heavy], weights[heavy]
        if np.ptp(first + second) > 0.5:  # fewer components where many have the same a in one ladder
            first, second, weights = on_one_ladder(first, second, weights) or (first, second, weights)
            heavy = weights > DROPPED_WEIGHT / len(weights)
            first, second, weights = first[heavy], second[heavy], weights[heavy]
        return first, second, weights

    @cached_property
    def _log_beta(self) -> FloatArray:
        a, b, _ = self._kept
        return log_beta(a, b)

    @cached_property
    def _probability_terms(self) -> tuple[FloatArray, ...]:
        """Exponents and log factors of the terms between neighbours; a, b, ln B and weight of the last of each run."""
        a, b, weights = self._kept
        joined = (np.abs(np.diff(a) - 1) < 1e-9) & (np.abs(np.diff(b) + 1) < 1e-9)
        last = np.append(~joined, True)
        start = np.append(True, ~joined)
        before = np.cumsum(weights) - weights
        cumulative = np.maximum(np.cumsum(weights) - before[start][np.cumsum(start) - 1], weights)
        inner = ~last
        size = self._log_beta
        log_factor = np.log(cumulative[inner]) - np.log(a[inner]) - size[inner]
        return a[inner], b[inner] - 1, log_factor, a[last], b[last], size[last], cumulative[last]

    def pdf(self, p: Numbers) -> FloatArray:
        """The density at `p`, of its shape; 0 outside [0, 1], infinite at an end where some a or b is below 1."""
        return self._by_blocks(self._density, p, 0.0)

    def cdf(self, p: Numbers) -> FloatArray:
        """Pr(proportion ≤ p), of the shape of `p`; absolute error about 1e-12 for parameters to 10,000."""
        return self._by_blocks(lambda part: self._below(logit(np.clip(part, 0.0, 1.0))), p, 1.0)

    def _by_blocks(self, function: Callable[[FloatArray], FloatArray], p: Numbers, above: float) -> FloatArray:
        points = np.asarray(p, dtype=float)
        flat = points.ravel()
        parts = [function(flat[part]) for part in row_blocks(len(flat), len(self._kept[0]))]
        value = np.concatenate([np.zeros(0), *parts])
        return np.where(flat < 0, 0.0, np.where(flat > 1, above, value)).reshape(points.shape)

    def _density(self, p: FloatArray) -> FloatArray:
        a, b, weights = self._kept
        with np.errstate(divide="ignore", invalid="ignore"):
            return _sum_of_powers(np.log(p), np.log1p(-p), a - 1, b - 1, np.log(weights) - self._log_beta)

    def _below(self, log_odds: FloatArray) -> FloatArray:
        """Cumulative probability at each of `log_odds`, a sum of positive terms: small ones keep their digits."""
        power, other, log_factor, *last, weights = self._probability_terms
        value: FloatArray = incomplete_beta(log_odds[:, None], *last) @ weights
        if len(power):
            value = value + _sum_of_powers(*log_parts(log_odds), power, other, log_factor)
        return np.minimum(value, 1.0)

    @cached_property
    def _mirrored(self) -> "BetaMixture":
        """The distribution of 1 − p."""
        a, b, weights = self._kept
        return BetaMixture(first=b[::-1], second=a[::-1], weights=weights[::-1])

    def _guesses(self, tail: float) -> FloatArray:
        """Log-odds that the quantile may be between, rising."""
        odds = tail / (1 - tail) * NEAR_ODDS
        with np.errstate(all="ignore"):
            total = self.mean * (1 - self.mean) / self.variance - 1
            found: FloatArray = logit(betaincinv(self.mean * total, (1 - self.mean) * total, odds / (1 + odds)))
        return found

    def quantile(self, q: float) -> float:
        """Return the floating-point number nearest to the proportion p with Pr(proportion ≤ p) = q.

        It is right to 1e-12 of its distance from the nearer end of [0, 1], or to the last digit. A quantile nearer to 1
        than 2⁻⁵⁴, or to 0 than the smallest number, is therefore 1, or 0, and `cdf` there is not q.

        >>> near_0 = BetaMixture(first=np.array([0.01]), second=np.array([1.0]), weights=np.array([1.0]))
        >>> round(math.log2(near_0.quantile(0.5)), 12)
        -100.0
        """
        q = PROBABILITY.validate(q)
        if q in (0, 1):
            return float(q)
        if q > 0.5:  # the smaller tail, which has the digits
            distribution, tail, sign, low, high = self._mirrored, 1 - q, -1.0, -HIGHEST_LOG_ODDS, -LOWEST_LOG_ODDS
        else:
            distribution, tail, sign, low, high = self, q, 1.0, LOWEST_LOG_ODDS, HIGHEST_LOG_ODDS
        guesses = distribution._guesses(tail)
        guesses = guesses[(low < guesses) & (guesses < high)]
        place = int(np.searchsorted(distribution._below(guesses), tail))
        low, high = [low, *guesses.tolist(), high][place : place + 2]
        if not 0 < place < len(guesses):  # a narrow peak defeats interpolation over the whole range
            for _ in range(NARROWINGS):
                grid = np.linspace(low, high, BRACKET_CELLS + 1)
                place = int(np.searchsorted(distribution._below(grid[1:-1]), tail))
                low, high = float(grid[place]), float(grid[place + 1])
        log_tail = math.log(tail)

        @lru_cache(maxsize=2)  # the ends, which the search asks for once more
        def excess(log_odds: float) -> float:
            return math.log(max(float(distribution._below(np.array([log_odds]))[0]), FIRST_INSIDE)) - log_tail

        if excess(low) >= 0:
            found = low
        elif excess(high) <= 0:
            found = high
        else:
            found = float(brentq(excess, low, high, xtol=1e-300, rtol=1e-15, maxiter=5000))
        return float(nearest(np.array(sign * found)))

    def interval(self, level: float = 0.95) -> tuple[float, float]:
        """Return the equal-tailed interval: its ends are the quantiles (1 − level)/2 and (1 + level)/2.

        Where `quantile` can only say 0 or 1 the interval holds more or less than `level`.
        """
        level = LEVEL.validate(level)
        if level not in self._intervals:
            self._intervals[level] = self.quantile((1 - level) / 2), self.quantile((1 + level) / 2)
        return self._intervals[level]

    def highest_density(self, level: float = 0.95) -> list[tuple[float, float]]:
        """Return the shortest region of probability `level`: the intervals, in order, on which the density is highest.

        It is {p: f(p) ≥ c}, and holds an end where some a or b is below 1, where the density is infinite, unless the
        part there is narrower than 2⁻⁵³ and holds less than 1e-12. Where the density is flat to 1e-7, the one that
        leaves equal tails. The ends are rounded outwards, so that the intervals hold at least `level` (to 1e-12):
        (1 − 2⁻⁵³, 1) stands for any part of it, and the region may hold clearly more for b below 0.1, or a below 0.01.
        A ValueError where a + b, or a, of two components differ by a number that is not whole, or too large.

        >>> arcsine = BetaMixture(first=np.array([0.5]), second=np.array([0.5]), weights=np.array([1.0]))
        >>> [tuple(round(end, 6) for end in part) for part in arcsine.highest_density(0.5)]  # sin²(π/8), cos²(π/8)
        [(0.0, 0.146447), (0.853553, 1.0)]
        """
        level = LEVEL.validate(level)
        if level not in self._regions:
            self._regions[level] = self._densest(level)
        return list(self._regions[level])

    def _densest(self, level: float) -> list[tuple[float, float]]:
        ladder = on_one_ladder(*self._kept)
        if ladder is None:
            raise ValueError(
                "first and second must differ from component to component by whole numbers, and not by too many, for a "
                "region of highest density; got components that do not."
            )
        first, second, weights = ladder
        (region,) = highest_density(Ladder(first=first, second=second, weights=weights[None]), level)
        return region or [self.interval(level)]

    # Several readers, and several parts of a page, ask the same distribution for the same interval.
    @cached_property
    def _intervals(self) -> dict[float, tuple[float, float]]:
        return {}

    @cached_property
    def _regions(self) -> dict[float, list[tuple[float, float]]]:
        return {}

    @cached_property
    def outline(self) -> tuple[FloatArray, FloatArray]:
        """Values of p to draw the density at, evenly over 0 to 1 and closer where it stands, and the density there."""
        near = self.mean + math.sqrt(self.variance) * np.linspace(-6, 6, 161)
        p = np.unique(np.concatenate([np.linspace(0, 1, 241), near[(near > 0) & (near < 1)]]))
        return p, self.pdf(p)


def on_one_ladder(
    first: FloatArray, second: FloatArray, weights: FloatArray
) -> tuple[FloatArray, FloatArray, FloatArray] | None:
    """The same mixture of components with one a + b, a one up at each step.

    None where theirs differ by fractions, or by so much that the table of all steps would have over `MOST_STEPS` cells.
    Beta(a, b) is a / (a + b) Beta(a + 1, b) + b / (a + b) Beta(a, b + 1): a smaller a + b rises to the largest.
    """
    total = first + second
    lowest, smallest = first.min(), total.min()
    place, rise = np.rint(first - lowest), np.rint(total - smallest)
    if max(np.abs(first - lowest - place).max(), np.abs(total - smallest - rise).max()) > 1e-9 * max(1.0, total.max()):
        return None
    most, steps = rise.max(), (place + (rise.max() - rise)).max() + 1
    if (most + 1) * steps > MOST_STEPS:
        return None
    place, rise, most = place.astype(int), rise.astype(int), int(most)
    k = np.arange(int(steps))
    a, b = lowest + k, (second[0] + place[0] - rise[0]) - k
    by_total = np.zeros((most + 1, len(k)))
    np.add.at(by_total, (rise, place), weights)
    mixed = by_total[0]
    for step, row in enumerate(by_total[1:]):
        up, stays = mixed * a / (smallest + step), mixed * (b + step) / (smallest + step)
        mixed = row + stays
        mixed[1:] += up[:-1]
    b = b + most
    held = mixed > 0
    start, stop = int(np.argmax(held)), len(held) - int(np.argmax(held[::-1]))
    return a[start:stop], b[start:stop], mixed[start:stop]


def _sum_of_powers(
    log_p: FloatArray, log_q: FloatArray, power: FloatArray, other: FloatArray, log_factor: FloatArray
) -> FloatArray:
    """Σ_i exp(log factor_i) p^power_i (1 − p)^other_i for each ln p and ln (1 − p), with 0⁰ = 1."""
    points, terms = np.stack([log_p, log_q, np.ones(len(log_p))]), np.stack([power, other, log_factor])
    with np.errstate(invalid="ignore", over="ignore", under="ignore"):
        table: FloatArray = np.einsum("ji,jk->ik", points, terms)  # without a second table
        for log, exponent in ((log_p, power), (log_q, other)):
            if (end := np.isneginf(log)).any():
                table[end] = np.where(exponent == 0, 0.0, -math.inf * exponent) + log_factor
        return np.exp(table, out=table).sum(axis=1)
