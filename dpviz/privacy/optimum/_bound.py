"""A bound from below on the error of every (ε, δ)-differentially private release of a count, numbers and all.

Levels λ[x] and prices p[x] bound the error Σ_x π[x] E[(y − x)² | x] by Σ λ − 2δ Σ p, if all columns c ≥ 0 of a release
and all numbers y have Σ_x λ[x] c[x] − Σ p · excess(c) ≤ Σ_x π[x] c[x] (y − x)². The excess is what c has beyond e^ε
times its neighbour: p[x] is its price from x to x + 1, and from n − x to n − x − 1. Columns of a release sum to 1 for
every x and to δ at most in excess; so the sum over all columns is the bound.

Levels, prices and, for the worst x, the prior π are piecewise linear. A linear programme finds the best ones for some
columns, then the columns that break them are sought, until none is left. What is still missing is taken off the levels:
the bound holds, whatever the solver did.
"""

import math
from collections.abc import Iterable
from dataclasses import dataclass

import numpy as np
from scipy.optimize import linprog

from dpviz.core.types import BoolArray, FloatArray, IntArray
from dpviz.privacy.optimum._noise import reach

UNIT, UNIT_OF_WORST = 0.12, 0.25  # Distance of the first knots, in standard errors, and 1 at least
EVEN_KNOTS, KNOT_GROWTH = 4, 1.35  # Knots at equal distances from an end, and by how much the distances grow after
SPACING = 0.04  # Distance of the numbers that are looked at, in standard errors
# Up to how many standard errors from a count, and how their distance grows beyond
EVENLY_SPACED, SPACING_GROWTH = 6.0, 1.4
CUT_ROUNDS = 40
LEVEL_ROUNDING = 1e-11  # Of all levels, far more than their sums lose
CUTS = 300  # Columns that one round adds
# Relative distance of the bound from the programme's at which the search ends
BOUND_TOLERANCE, WORST_BOUND_TOLERANCE = 1e-3, 3e-3
FALLING = 1e-6  # Relative fall of the programme's bound from which cuts are dropped
HELD = 20  # Cuts to an unknown that are held from round to round: those that are nearest to binding
# Largest level sought, in squared errors, and price, in what a unit of δ saves on average
LARGEST_LEVEL, LARGEST_PRICE_OF_DELTA = 100.0, 30.0
SMALLEST_PRIOR = 1e-4  # Beside a mean of 1
SOLVER_STEPS = 20_000  # Of the solver: what needs more is given up
# Over n: smaller δ count as this one where prices are sought, and as they are in the bound
SMALLEST_PRICED_DELTA = 1e-5


@dataclass(frozen=True)
class Certificate:
    """Levels, prices and a prior with the mean 1, from which a bound follows."""

    levels: FloatArray
    prices: FloatArray
    prior: FloatArray


@dataclass(frozen=True)
class Columns:
    """Columns of a release, one in a row, and the number that each of them stands for."""

    chances: FloatArray
    numbers: FloatArray


class Bound:
    """The bound for one promise: `value` after `search`, with the `prior` that gives it; `scale` is about the error."""

    def __init__(self, n: int, epsilon: float, delta: float, *, worst: bool, scale: float, slope: float) -> None:
        self.n, self.epsilon, self.delta, self.worst, self.scale = n, epsilon, delta, worst, scale
        self.dearest = LARGEST_PRICE_OF_DELTA * max(slope / scale**2, 1.0)
        self.counts = np.arange(n + 1.0)
        unit = max(1.0, scale * (UNIT_OF_WORST if worst else UNIT))
        points = _knots(n, unit)
        if worst and n > 3:
            points = np.union1d(points, [1.0])  # The least favorable prior may have much of its mass at the ends
        self._levels = _hats(np.append(points, n / 2), np.minimum(self.counts, n - self.counts))
        ends = np.unique(np.clip(np.concatenate([points, n - 1 - points]), 0, n - 1))
        self._prices = _hats(ends, np.arange(float(n)))
        self.spots, self.widths = _spots(n, scale)
        self._cuts: list[FloatArray] = []
        self._limits: list[FloatArray] = []
        self._hoped = -math.inf
        self.value, self.prior = 0.0, np.full(n + 1, 1 / (n + 1))

    def search(self, reaches: Iterable[tuple[int, int]], releases: FloatArray, estimates: FloatArray) -> "Bound":
        """Improve the bound until no column breaks the certificate.

        `reaches` are those of noises worth a try, and `estimates` what is made of `releases` by a good mechanism.
        """
        for left, right in sorted(set(reaches)):
            for ends in {(left, right), (right, left)}:
                chances, centers = self._noise_columns(*ends)
                self._add(Columns(chances, _means(chances, np.ones(self.n + 1))))
                if self.worst:
                    read = centers + np.interp(centers, releases, estimates - releases)
                    self._add(Columns(chances, np.clip(read, 0, self.n)))
        for _ in range(CUT_ROUNDS):
            found = self._programme()
            if found is None:
                break
            certificate, hoped = found
            value, broken = certified(certificate, self.epsilon, self.delta, self.spots, self.widths)
            if value > self.value:
                self.value, self.prior = value, certificate.prior / certificate.prior.sum()
            if self.value >= (1 - (WORST_BOUND_TOLERANCE if self.worst else BOUND_TOLERANCE)) * hoped or not len(
                broken.numbers
            ):
                break
            self._add(Columns(broken.chances, _means(broken.chances, certificate.prior)))
            if self.worst:
                self._add(broken)
        return self

    def _noise_columns(self, left: int, right: int) -> tuple[FloatArray, FloatArray]:
        """Return columns of cut-off noise, denser near the end, and their centers."""
        inside = _knots(self.n, max(1.0, UNIT_OF_WORST * self.scale) / 2, 1.1)
        outside = -np.arange(0, min(right, self.n), max(1.0, UNIT_OF_WORST * self.scale))
        centers = np.unique(np.rint(np.concatenate([outside, inside, [self.n // 2]])))[:, None]
        distances = self.counts - centers
        with np.errstate(under="ignore"):
            chances = np.exp(-self.epsilon * (np.abs(distances) - np.maximum(-centers, 0)))
        chances[(distances < -left) | (distances > right)] = 0.0
        there = chances.any(axis=1)
        return chances[there], centers[there, 0]

    def _add(self, columns: Columns) -> None:
        """Add the inequality of every column: its value less its price is not more than what it costs."""
        chances, place = columns.chances, np.arange(len(columns.numbers))
        there: BoolArray = chances > 0
        first, last = there.argmax(axis=1), chances.shape[1] - 1 - there[:, ::-1].argmax(axis=1)
        value = chances @ self._levels
        up = np.where(last < self.n, chances[place, last], 0.0)[:, None] * self._prices[np.minimum(last, self.n - 1)]
        down = (
            np.where(first > 0, chances[place, first], 0.0)[:, None]
            * self._prices[np.minimum(self.n - first, self.n - 1)]
        )
        cost = chances * (columns.numbers[:, None] - self.counts) ** 2 / self.scale**2
        parts = [value, -up - down, *([-cost @ self._levels] if self.worst else [])]
        cut, limit = np.hstack(parts), np.zeros(len(place)) if self.worst else cost.sum(axis=1)
        within = (LARGEST_LEVEL * value.sum(axis=1) > limit) & (
            LARGEST_LEVEL * value.sum(axis=1) > SMALLEST_PRIOR * cost.sum(axis=1)
        )
        size = np.abs(cut[within]).max(axis=1)  # All others hold whatever the levels are
        self._cuts.append(cut[within] / size[:, None])
        self._limits.append(limit[within] / size)

    def _programme(self) -> tuple[Certificate, float] | None:
        """Return the best certificate for the columns so far and its bound, or None where the solver gives up."""
        rows, levels, prices = self.n + 1, self._levels, self._prices
        some = np.zeros(levels.shape[1] if self.worst else 0)
        delta = max(self.delta, SMALLEST_PRICED_DELTA / self.n)
        objective = np.concatenate([-levels.sum(axis=0), 2 * delta * prices.sum(axis=0), some]) / rows
        whole = (
            np.concatenate([np.zeros(len(objective) - len(some)), levels.sum(axis=0) / rows]) if self.worst else None
        )
        sides = [(-LARGEST_LEVEL, LARGEST_LEVEL)] * levels.shape[1] + [(0.0, self.dearest)] * prices.shape[1]
        sides += [(SMALLEST_PRIOR, float(rows))] * len(some)
        cuts, limits = np.concatenate(self._cuts), np.concatenate(self._limits)
        equal = {} if whole is None else {"A_eq": whole[None], "b_eq": [1.0]}
        options = {"maxiter": SOLVER_STEPS}
        found = linprog(objective, A_ub=cuts, b_ub=limits, bounds=sides, method="highs", options=options, **equal)
        if found.status != 0:
            return None
        if found.fun > self._hoped + FALLING * abs(found.fun):  # Else what is dropped could come back for ever
            held = np.argsort(limits - cuts @ found.x, kind="stable")[: HELD * len(objective)]
            self._cuts, self._limits = [cuts[held]], [limits[held]]
        self._hoped = found.fun
        own, paid, weights = np.split(found.x, np.cumsum([levels.shape[1], prices.shape[1]]))
        prior = levels @ np.maximum(weights, 0.0) if self.worst else np.ones(rows)
        prior *= rows / prior.sum()
        lowered = self.scale**2 * (levels @ own - prior * SPACING**2 / 4)
        return Certificate(lowered, self.scale**2 * (prices @ np.maximum(paid, 0.0)), prior), -found.fun * self.scale**2


def certified(
    certificate: Certificate, epsilon: float, delta: float, spots: FloatArray, widths: FloatArray
) -> tuple[float, Columns]:
    """Return the bound that a certificate proves, and columns that break it; all of it is symmetric about n/2.

    For every number y in `spots`, from 0 to n/2, what is missing at an x is shifted to its neighbour next to y, e^ε
    times as much, up to the price; what is left over helps the neighbour. By what is missing in the end the level is
    lowered.
    Between two y at distance h the same shifts in proportion are short of π[x] h²/4 at most: `widths` are those h. From
    farther away than `far` nothing is missing, and no help is counted.
    """
    levels, prices, prior = certificate.levels, certificate.prices, certificate.prior
    n, factor = len(levels) - 1, math.exp(epsilon)
    near = np.rint(spots).astype(int)
    far = _far(certificate, epsilon, delta)
    missing = np.zeros(n + 1)
    worst, start = np.zeros(len(spots)), near.copy()
    meeting = levels[near] - prior[near] * ((spots - near) ** 2 - widths**2 / 4)
    moves = []
    for side in (-1, 1):
        carried, ratios = np.zeros(len(spots)), np.zeros((far + 1, len(spots)))
        leaving, coming = (prices, prices[::-1]) if side < 0 else (prices[::-1], prices)
        for away in range(min(far, int(near.max() if side < 0 else n)), 0, -1):
            x = near + side * away
            inside = (x >= 0) & (x <= n)
            x = np.where(inside, x, near)
            need = np.where(inside, levels[x] - prior[x] * ((spots - x) ** 2 - widths**2 / 4) + carried, 0.0)
            # From x to the x next to y there is pair x where that is larger, pair x − 1 where it is smaller
            pair = np.clip(x if side < 0 else x - 1, 0, n - 1)
            price, other = leaving[pair], coming[pair]
            short = np.where(inside, need - price, 0.0)
            more = short > worst
            worst, start = np.where(more, short, worst), np.where(more, x, start)
            np.maximum.at(missing, x, short)
            spared = np.maximum(-need, 0.0) / factor
            carried = np.where(inside, factor * np.clip(need, 0.0, price) - np.minimum(spared, other), 0.0)
            ratios[away] = np.where(~inside, 0.0, np.where(need > 0, factor, np.where(spared > other, 0.0, 1 / factor)))
        meeting += carried
        moves.append(ratios)
    np.maximum.at(missing, near, meeting)
    worst, start = np.maximum(worst, meeting), np.where(meeting >= worst, near, start)
    missing = np.maximum(missing, missing[::-1])
    rounding = LEVEL_ROUNDING * (np.abs(levels).sum() + missing.sum())
    bound = float(levels.sum() - missing.sum() - rounding - 2 * delta * prices.sum()) / float(prior.sum())
    chosen = _worst_places(worst, spots, near=1e-9 * float(np.abs(levels).max()))
    shifted = [one[:, chosen] for one in moves]
    return bound, Columns(_columns(n, near[chosen], start[chosen], shifted), spots[chosen])


def _far(certificate: Certificate, epsilon: float, delta: float) -> int:
    """Return a distance beyond which nothing is missing for any number, and noise hardly reaches."""
    levels, prior = certificate.levels, certificate.prior
    n = len(levels) - 1
    with np.errstate(divide="ignore", invalid="ignore"):
        needed = np.max(np.where(levels > 0, levels / prior, 0.0))
    margin = min(reach(epsilon, max(delta, SMALLEST_PRICED_DELTA / n)), 40 / epsilon if epsilon > 0 else math.inf)
    return min(n, math.ceil(math.sqrt(needed) + margin) + 3) if math.isfinite(needed + margin) else n


def _worst_places(short: FloatArray, spots: FloatArray, near: float) -> IntArray:
    """Return where most is missing, in every part of the range."""
    found = np.flatnonzero(short > near)
    if len(found) <= CUTS:
        return found
    found = found[np.argsort(-short[found], kind="stable")]
    parts = (spots[found] / (spots[-1] or 1.0) * CUTS / 2).astype(int)
    return np.union1d(found[np.unique(parts, return_index=True)[1]], found[: CUTS // 2])


def _columns(n: int, near: IntArray, start: IntArray, ratios: Iterable[FloatArray]) -> FloatArray:
    """Return the columns that break the certificate: from where it is missing, by the shifts that led there."""
    columns, row = np.zeros((len(near), n + 1)), np.arange(len(near))
    columns[row, start] = 1.0
    for side, ratio in zip((-1, 1), ratios, strict=True):
        current, begin = np.ones(len(near)), np.maximum(side * (start - near), 0)
        of_this_side = side * (start - near) >= 0
        for away in range(1, len(ratio)):
            x = near + side * away
            goes = of_this_side & (away > begin) & (x >= 0) & (x <= n)
            current = np.where(away > begin, current * ratio[away], current)
            columns[row[goes], x[goes]] = current[goes]
    return np.asarray(columns / np.maximum(columns.max(axis=1, keepdims=True), 1e-300))


def _means(chances: FloatArray, prior: FloatArray) -> FloatArray:
    """Return the posterior mean of x in every column."""
    mass = chances @ prior
    counts = np.arange(chances.shape[1])
    return np.divide((chances * prior) @ counts, mass, out=np.full(len(mass), counts[-1] / 2), where=mass > 0)


def _knots(n: int, unit: float, growth: float = KNOT_GROWTH) -> FloatArray:
    """Return whole numbers from 0 to below n/2, at first at a distance of `unit`."""
    found, step = [0.0], unit
    while found[-1] + step < n / 2:
        found.append(found[-1] + step)
        if len(found) > EVEN_KNOTS:
            step *= growth
    rounded = np.unique(np.rint(found))
    return np.asarray(rounded[rounded < n / 2])


def _hats(points: FloatArray, at: FloatArray) -> FloatArray:
    """Return the values `at` of the functions that are 1 at one of the points, 0 at the others and linear between."""
    return np.stack([np.interp(at, points, one) for one in np.eye(len(points))], axis=1)


def _spots(n: int, scale: float) -> tuple[FloatArray, FloatArray]:
    """Return numbers from 0 to n/2, and for each the larger of the distances to the next ones.

    Where errors are small beside 1 they lie dense near every count, and ever less dense away from it.
    """
    step = SPACING * scale
    if step > 1 / 4:
        spots = np.linspace(0, n / 2, math.ceil(n / 2 / step) + 1)
    else:
        part = [0.0]
        while part[-1] < 1 / 2:
            part.append(
                part[-1] + (step if part[-1] < EVENLY_SPACED * scale else max(step, (SPACING_GROWTH - 1) * part[-1]))
            )
        inside = np.array(part[1:-1])
        period = np.unique(np.concatenate([[0.0, 1 / 2], inside, 1 - inside]))
        spots = (np.arange(n // 2 + 1)[:, None] + period).ravel()
        spots = np.unique(np.append(spots[spots <= n / 2], n / 2))
    widths = np.diff(spots)
    return spots, np.maximum(np.append(widths[:1], widths), np.append(widths, widths[-1:]))
