"""A bound from below on the error of every (ε, δ)-differentially private release of a count, numbers and all.

Levels λ[x] and prices p[x] bound the mean squared error Σ_x π[x] E[(y − x)² | x] by Σ λ − 2δ Σ p, if all columns
c ≥ 0 of a release and all numbers y have Σ_x λ[x] c[x] − Σ p · excess(c) ≤ Σ_x π[x] c[x] (y − x)². The excess is what
c has beyond e^ε times its neighbour: p[x] is its price from x to x + 1, and from n − x to n − x − 1. Columns of a
release sum to 1 for every x and to δ at most in excess; so the sum over all columns is the bound.

Levels, prices and, for the worst x, the prior π are piecewise linear. A linear programme finds the best ones for some
columns, then the columns that violate them are added, until there are none. What is still missing is taken off the
levels: the bound holds, whatever the solver did.
"""

from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import dataclass

import numpy as np
from scipy.optimize import linprog

from dpviz.core.types import FloatArray, IntArray
from dpviz.privacy.optimum.channels import noise_reach
from dpviz.privacy.optimum.minimax import posterior_means

NUMBER_SPACING = 0.04  # distance of the numbers y that are checked, in standard errors
MAX_LEVEL = 100.0  # in squared errors
SMALLEST_PRIOR = 1e-4  # beside a mean of 1
SMALLEST_PRICED_DELTA = 1e-5  # over n: a smaller δ counts as this one where prices are sought, not in the bound


@dataclass(frozen=True)
class Certificate:
    """Levels (n + 1), prices (n) and a prior (n + 1, with the mean 1), from which a bound follows."""

    levels: FloatArray
    prices: FloatArray
    prior: FloatArray


ColumnsAndNumbers = tuple[FloatArray, FloatArray]
"""Columns of a release, one in a row, and the number that each of them stands for."""


class BoundSearch:
    """The bound for one promise: `value`, in squared counts, after `run`, and the `prior`, of sum 1, that gives it.

    It `is_worst` if it is for the worst x, with a prior of its own, and not for the average. `scale` is about the root
    mean squared error of a good mechanism, in counts, and `slope` by how much its square falls for a unit of δ.
    """

    def __init__(self, n: int, epsilon: float, delta: float, *, is_worst: bool, scale: float, slope: float) -> None:
        self.n, self.epsilon, self.delta, self.is_worst, self.scale = n, epsilon, delta, is_worst, scale
        self.counts = np.arange(n + 1.0)
        self.value, self.prior = 0.0, np.full(n + 1, 1 / (n + 1))
        self._max_price = 30 * max(slope / scale**2, 1.0)

        # Piecewise linear functions: levels and prior symmetric about n/2, prices with knots at both ends
        knots = _knots(n, max(1.0, scale * (0.25 if is_worst else 0.12)))
        if is_worst and n > 3:
            knots = np.union1d(knots, [1.0])  # the least favorable prior may have much of its mass at the ends
        self._levels = _hat_functions(np.append(knots, n / 2), np.minimum(self.counts, n - self.counts))
        ends = np.unique(np.clip(np.concatenate([knots, n - 1 - knots]), 0, n - 1))
        self._prices = _hat_functions(ends, np.arange(float(n)))
        self._numbers, self._widths = _checked_numbers(n, scale)
        self._cuts = np.empty((0, self._levels.shape[1] * (2 if is_worst else 1) + self._prices.shape[1]))
        self._limits = np.empty(0)
        self._programme_bound = -math.inf

    def run(self, reaches: Iterable[tuple[int, int]], releases: FloatArray, estimates: FloatArray) -> BoundSearch:
        """Improve the bound until it is near that of the programme or no column violates it, in 40 rounds at most.

        `reaches` are those of noises worth a try, and `estimates` what a good mechanism makes of `releases`.
        """
        # Start from the columns of noises
        even = np.ones(self.n + 1)
        for left, right in sorted(set(reaches)):
            for ends in {(left, right), (right, left)}:
                chances, centers = self._noise_columns(*ends)
                self._add_cuts(chances, posterior_means(chances.T, even))
                if self.is_worst:
                    readings = centers + np.interp(centers, releases, estimates - releases)
                    self._add_cuts(chances, np.clip(readings, 0, self.n))

        # Add the columns that violate the best certificate, until there are none
        tolerance = 3e-3 if self.is_worst else 1e-3  # relative distance from the programme's bound that is enough
        for _ in range(40):
            certificate = self._solve()
            if certificate is None:
                break
            value, (chances, numbers) = _certified(certificate, self.epsilon, self.delta, self._numbers, self._widths)
            if value > self.value:
                self.value, self.prior = value, certificate.prior / certificate.prior.sum()
            if self.value >= -(1 - tolerance) * self._programme_bound * self.scale**2 or not len(numbers):
                break
            self._add_cuts(chances, posterior_means(chances.T, certificate.prior))
            if self.is_worst:
                self._add_cuts(chances, numbers)
        return self

    def _noise_columns(self, left: int, right: int) -> tuple[FloatArray, FloatArray]:
        """Columns of cut-off noise, denser near the end, and their centers."""
        distance = max(1.0, 0.25 * self.scale)
        outside = -np.arange(0, min(right, self.n), distance)
        centers = np.unique(np.rint(np.concatenate([outside, _knots(self.n, distance / 2, 1.1), [self.n // 2]])))
        distances = self.counts - centers[:, None]
        with np.errstate(under="ignore"):
            chances = np.exp(-self.epsilon * (np.abs(distances) - np.maximum(-centers[:, None], 0)))
        chances[(distances < -left) | (distances > right)] = 0.0
        is_possible = chances.any(axis=1)
        return chances[is_possible], centers[is_possible]

    def _add_cuts(self, chances: FloatArray, numbers: FloatArray) -> None:
        """Add the inequality of every column: its value less its price is not more than what it costs."""
        n = self.n
        rows = np.arange(len(chances))
        first = (chances > 0).argmax(axis=1)
        last = n - (chances > 0)[:, ::-1].argmax(axis=1)

        # Only at its two ends a column may have an excess
        value = chances @ self._levels
        up = np.where(last < n, chances[rows, last], 0.0)[:, None] * self._prices[np.minimum(last, n - 1)]
        down = np.where(first > 0, chances[rows, first], 0.0)[:, None] * self._prices[np.minimum(n - first, n - 1)]
        cost = chances * (numbers[:, None] - self.counts) ** 2 / self.scale**2
        total = cost.sum(axis=1)
        limit = np.zeros(len(rows)) if self.is_worst else total
        cuts = np.hstack([value, -up - down, *([-cost @ self._levels] if self.is_worst else [])])

        # Others hold whatever the levels are
        largest = MAX_LEVEL * value.sum(axis=1)
        is_needed = (largest > limit) & (largest > SMALLEST_PRIOR * total)
        size = np.abs(cuts[is_needed]).max(axis=1)
        self._cuts = np.concatenate([self._cuts, cuts[is_needed] / size[:, None]])
        self._limits = np.concatenate([self._limits, limit[is_needed] / size])

    def _solve(self) -> Certificate | None:
        """The best certificate for the columns so far; None where the solver gives up."""
        # The linear programme: −(bound) to be made small, under a mean prior of 1
        rows, levels, prices = self.n + 1, self._levels, self._prices
        n_weights = levels.shape[1] if self.is_worst else 0
        delta = max(self.delta, SMALLEST_PRICED_DELTA / self.n)
        parts = [-levels.sum(axis=0), 2 * delta * prices.sum(axis=0), np.zeros(n_weights)]
        objective = np.concatenate(parts) / rows
        bounds = [(-MAX_LEVEL, MAX_LEVEL)] * levels.shape[1] + [(0.0, self._max_price)] * prices.shape[1]
        bounds += [(SMALLEST_PRIOR, float(rows))] * n_weights
        equal = {}
        if self.is_worst:
            mean = np.append(np.zeros(len(objective) - n_weights), levels.sum(axis=0) / rows)
            equal = {"A_eq": mean[None], "b_eq": [1.0]}
        solution = linprog(objective, self._cuts, self._limits, bounds=bounds, options={"maxiter": 20_000}, **equal)
        if solution.status != 0:
            return None

        # Its certificate, with the levels lowered by what numbers between the checked ones may be short of
        self._programme_bound = solution.fun
        at_levels, at_prices, weights = np.split(solution.x, np.cumsum([levels.shape[1], prices.shape[1]]))
        prior = levels @ np.maximum(weights, 0.0) if self.is_worst else np.ones(rows)
        prior *= rows / prior.sum()
        lowered = levels @ at_levels - prior * NUMBER_SPACING**2 / 4
        return Certificate(self.scale**2 * lowered, self.scale**2 * (prices @ np.maximum(at_prices, 0.0)), prior)


def _certified(
    certificate: Certificate, epsilon: float, delta: float, numbers: FloatArray, widths: FloatArray
) -> tuple[float, ColumnsAndNumbers]:
    """The bound that a certificate proves, and columns that violate it; all of it is symmetric about n/2.

    For every number y, from 0 to n/2, what is missing at an x is shifted to its neighbour towards y, e^ε times as much,
    up to the price; what is left over helps the neighbour. By what is missing in the end the level is lowered. Between
    two y at distance h the same shifts in proportion are short of π[x] h²/4 at most: `widths` are those h, for each of
    the `numbers` y that are checked. From farther away than `_farthest` nothing is missing, and no help is counted.
    """
    levels, prices, prior = certificate.levels, certificate.prices, certificate.prior
    n = len(levels) - 1
    factor = math.exp(epsilon)
    near = np.rint(numbers).astype(int)
    farthest = _farthest(certificate, epsilon, delta)

    def excess_value(x: IntArray) -> FloatArray:
        return levels[x] - prior[x] * ((numbers - x) ** 2 - widths**2 / 4)

    # From both sides towards y
    missing, largest, start = np.zeros(n + 1), np.zeros(len(numbers)), near
    meeting, moves = excess_value(near), []
    for side in (-1, 1):
        carried, ratios = np.zeros(len(numbers)), np.zeros((farthest + 1, len(numbers)))
        leaving, coming = (prices, prices[::-1]) if side < 0 else (prices[::-1], prices)
        for distance in range(min(farthest, int(near.max() if side < 0 else n)), 0, -1):
            x = near + side * distance
            is_inside = (x >= 0) & (x <= n)
            x = np.where(is_inside, x, near)
            need = np.where(is_inside, excess_value(x) + carried, 0.0)

            # From x to its neighbour towards y there is pair x where that is larger, pair x − 1 where it is smaller
            pair = np.clip(x if side < 0 else x - 1, 0, n - 1)
            price, other_price = leaving[pair], coming[pair]
            short = need - price
            start = np.where(short > largest, x, start)
            largest = np.maximum(largest, short)
            np.maximum.at(missing, x, short)
            spared = np.maximum(-need, 0.0) / factor
            carried = factor * np.clip(need, 0.0, price) - np.minimum(spared, other_price)
            ratios[distance] = np.where(need > 0, factor, np.where(spared > other_price, 0.0, 1 / factor))
        meeting += carried
        moves.append(ratios)
    np.maximum.at(missing, near, meeting)
    start = np.where(meeting >= largest, near, start)
    largest = np.maximum(largest, meeting)

    # The bound with lowered levels
    missing = np.maximum(missing, missing[::-1])
    rounding = 1e-11 * (np.abs(levels).sum() + missing.sum())  # far more than the sums lose
    total = float(levels.sum() - missing.sum() - rounding - 2 * delta * prices.sum())
    (chosen,) = np.nonzero(largest > 1e-9 * float(np.abs(levels).max()))
    chosen = chosen[np.argsort(-largest[chosen], kind="stable")[:300]]
    columns = _columns(n, near[chosen], start[chosen], [ratios[:, chosen] for ratios in moves])
    return total / float(prior.sum()), (columns, numbers[chosen])


def _farthest(certificate: Certificate, epsilon: float, delta: float) -> int:
    """A distance beyond which nothing is missing for any number, and noise hardly reaches."""
    levels, prior = certificate.levels, certificate.prior
    n = len(levels) - 1
    with np.errstate(divide="ignore", invalid="ignore"):
        needed = math.sqrt(np.max(np.where(levels > 0, levels / prior, 0.0)))
    reach = noise_reach(epsilon, max(delta, SMALLEST_PRICED_DELTA / n))
    farthest = needed + min(reach, 40 / epsilon if epsilon > 0 else math.inf)
    return min(n, math.ceil(farthest) + 3) if math.isfinite(farthest) else n


def _columns(n: int, near: IntArray, start: IntArray, ratios: Iterable[FloatArray]) -> FloatArray:
    """The columns that violate the certificate: from where it is missing, by the shifts that led there."""
    rows = np.arange(len(near))
    columns = np.zeros((len(near), n + 1))
    columns[rows, start] = 1.0
    for side, ratio in zip((-1, 1), ratios, strict=True):
        begin, distance = side * (start - near), np.arange(1, len(ratio))[:, None]
        x = near + side * distance
        is_later = distance > np.maximum(begin, 0)
        chances = np.cumprod(np.where(is_later, ratio[1:], 1.0), axis=0)
        distances, places = np.nonzero(is_later & (begin >= 0) & (x >= 0) & (x <= n))
        columns[rows[places], x[distances, places]] = chances[distances, places]
    return np.asarray(columns / np.maximum(columns.max(axis=1, keepdims=True), 1e-300))


def _knots(n: int, distance: float, growth: float = 1.35) -> FloatArray:
    """Whole numbers from 0 to below n/2: the first ones at this distance, which then grows by a factor."""
    distances = distance * growth ** np.maximum(np.arange(n + 1) - 3, 0)  # the first four are even
    knots = np.unique(np.rint(np.append(0.0, np.cumsum(distances))))
    return knots[knots < n / 2]


def _hat_functions(knots: FloatArray, x: FloatArray) -> FloatArray:
    """Values at x of the functions that are 1 at one of the knots, 0 at the others and linear between."""
    return np.stack([np.interp(x, knots, unit) for unit in np.eye(len(knots))], axis=1)


def _checked_numbers(n: int, scale: float) -> tuple[FloatArray, FloatArray]:
    """Numbers from 0 to n/2, and for each the larger of the distances to the next ones.

    Where errors are small beside 1 they lie dense near every count, and ever less dense away from it.
    """
    step = NUMBER_SPACING * scale
    if step > 1 / 4:
        numbers = np.linspace(0, n / 2, math.ceil(n / 2 / step) + 1)
    else:
        part = [0.0]
        while part[-1] < 1 / 2:
            is_even = part[-1] < 6 * scale
            part.append(part[-1] + (step if is_even else max(step, 0.4 * part[-1])))
        inside = np.array(part[1:-1])
        period = np.unique(np.concatenate([[0.0, 1 / 2], inside, 1 - inside]))
        numbers = (np.arange(n // 2 + 1)[:, None] + period).ravel()
        numbers = np.unique(np.append(numbers[numbers <= n / 2], n / 2))
    widths = np.diff(numbers)
    return numbers, np.maximum(np.append(widths[:1], widths), np.append(widths, widths[-1:]))
