"""The shortest regions of a given probability under mixtures of neighbouring beta distributions, many at once."""

import math
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from scipy.optimize import brentq
from scipy.special import betainc, logit

from dpviz.core.numerics.special import log_beta, row_blocks
from dpviz.core.types import BoolArray, FloatArray, IntArray
from dpviz.inference._log_odds import END_LOG_ODDS, SMALLEST_LOG, incomplete_beta, log_parts, outward
from dpviz.inference._roots import falling_roots

# Relative change of a density below which it counts as flat: rounding, not the distribution, would choose the region
FLAT_DENSITY = 1e-7
# Probability, and log-odds of its width, below which the part of a region at an infinite end is left out
NEGLIGIBLE_PART, NARROW_PART = 1e-12, 53 * math.log(2)
MASS_TOLERANCE, HEIGHT_TOLERANCE, MOST_NEWTON_STEPS = 1e-13, 1e-12, 30
DERIVATIVE_NOISE = 1e-12  # Derivative, beside those of all components, that is rounding
# Steps in log-odds beyond the even grid, up to where what lies beyond is narrower than the last digit of 1
TAIL_STEP, END_OF_STEPS = 1.5, 50.0
FARTHEST = np.geomspace(END_OF_STEPS, 700.0, 8)  # Log-odds at the ends, where the outermost components alone matter
FEWEST_GRID_STEPS = 64
Region = list[tuple[float, float]]


def angle_grid(size: float, to_deviation: int = 2) -> FloatArray:
    """Return points from 0 to 1, even in arcsin √p, so many to the standard deviation at a + b = `size`."""
    steps = max(FEWEST_GRID_STEPS, int(np.ceil(np.pi * to_deviation * np.sqrt(size))))
    grid: FloatArray = np.sin(np.linspace(0.0, np.pi / 2, steps + 1)) ** 2
    grid[-1] = 1.0
    return grid


@dataclass(frozen=True, kw_only=True, eq=False)
class Ladder:
    """Mixtures, one in each row of `weights`, of components Beta(a_k, b_k), a one up and b one down at each step.

    Densities and probabilities are taken at log-odds, which keep their digits at both ends of [0, 1].

    At log-odds u the density f_k of Beta(a, b) has the slope f_k s_k, s_k = (a − 1)(1 − p) − (b − 1) p. The signs of
    their sum on a grid of two points to the standard deviation of a component show where the mixture turns: of a ripple
    so short that it turns twice between neighbouring points, a component leaves e^{−2π²}, a share of 3·10⁻⁹.
    """

    first: FloatArray
    second: FloatArray
    weights: FloatArray

    @cached_property
    def log_beta(self) -> FloatArray:
        """ln B(a_k, b_k)."""
        return log_beta(self.first, self.second)

    def _terms(self, log_odds: FloatArray, log_weights: FloatArray | float = 0.0) -> tuple[FloatArray, FloatArray]:
        """Densities of the components at each of `log_odds`, times weights, over their largest, and ln of that."""
        log_p, log_q = log_parts(log_odds)
        terms = np.outer(log_p, self.first - 1)
        terms += np.outer(log_q, self.second - 1)
        terms += log_weights - self.log_beta
        top = terms.max(axis=1)
        terms -= top[:, None]
        terms[terms < SMALLEST_LOG] = -np.inf
        return np.exp(terms, out=terms), top

    def _steep(self, log_odds: FloatArray) -> FloatArray:
        """d ln f / du of each component at each of `log_odds`."""
        near, size = np.exp(log_parts(-np.abs(log_odds))[0])[:, None], self.first[0] + self.second[0] - 2
        return np.where(log_odds[:, None] < 0, self.first - 1 - size * near, size * near - (self.second - 1))

    def turning_points(self) -> tuple[IntArray, FloatArray]:
        """Return the mixture and the log-odds of every turning point, in order of both."""
        size = float(self.first[0] + self.second[0])
        body = logit(angle_grid(size)[1:-1])
        tail = np.append(np.arange(body[-1], END_OF_STEPS, TAIL_STEP)[1:], FARTHEST)
        grid = np.concatenate([-tail[::-1], body, tail])
        steep = self._steep(grid) * self._terms(grid)[0]
        found, noise = self.weights @ steep.T, self.weights @ np.abs(steep).T
        rows, columns = np.nonzero(np.abs(found) > DERIVATIVE_NOISE * noise)
        signs = np.sign(found[rows, columns])
        (turns,) = np.nonzero((rows[1:] == rows[:-1]) & (signs[1:] != signs[:-1]))

        def value(which: IntArray, log_odds: FloatArray) -> tuple[FloatArray, FloatArray]:
            """The derivative beside those of all components, and its own."""
            with np.errstate(divide="ignore"):
                terms, _ = self._terms(log_odds, np.log(self.weights[rows[turns[which]]]))
            steep, spread = self._steep(log_odds), (size - 2) * np.exp(sum(log_parts(log_odds)))[:, None]
            scale = signs[turns[which]] / np.maximum((terms * np.abs(steep)).sum(axis=1), 1e-300)
            return scale * (terms * steep).sum(axis=1), scale * (terms * (steep**2 - spread)).sum(axis=1)

        return rows[turns], falling_roots(value, grid[columns[turns]], grid[columns[turns + 1]])

    @cached_property
    def _cumulative(self) -> FloatArray:
        return np.cumsum(self.weights, axis=1)

    @cached_property
    def _tails(self) -> FloatArray:
        """What 1 − p times each component's density adds to the upper tail, then what p times it adds below."""
        # I_p(a, b) − I_p(a + 1, b − 1) is p / a times the density of the first, (1 − p) / (b − 1) times the second's.
        above, below = np.cumsum(self.weights[:, ::-1], axis=1)[:, ::-1] / self.second, self._cumulative / self.first
        above[:, 0], below[:, -1] = 0.0, 0.0
        return np.stack([above, below])

    def at(
        self, rows: IntArray, log_odds: FloatArray, lower: bool | None = None
    ) -> tuple[FloatArray, FloatArray, FloatArray]:
        """ln f, d ln f / du and the cumulative probability of the mixtures in `rows`, each at its log-odds.

        With `lower` the last is the lower tail, or the upper one, with all its digits.
        """
        left = log_odds < 0 if lower is None else np.full(len(rows), lower)
        parts = [
            self._at(rows[block], log_odds[block], left[block]) for block in row_blocks(len(rows), len(self.first))
        ]
        log_density, slope, tail = (np.concatenate(part) for part in zip(*parts, strict=True))
        if lower is None:
            tail = np.where(left, tail, self._cumulative[rows, -1] - tail)
        return log_density, slope, tail

    def _at(self, rows: IntArray, u: FloatArray, left: BoolArray) -> tuple[FloatArray, FloatArray, FloatArray]:
        a, b, weights = self.first, self.second, self.weights[rows]
        (log_p, log_q), (terms, top) = log_parts(u), self._terms(u)
        with np.errstate(divide="ignore", invalid="ignore"):
            parts = terms * weights
            density = parts.sum(axis=1)
            slope = parts @ (a - 1) / density - (a[0] + b[0] - 2) * np.exp(log_p)
            inner = np.einsum("tk,tk->t", terms, self._tails[left.astype(int), rows])
            end = (np.where(left, one[-1], other[0]) for one, other in ((a, b), (b, a), (self.log_beta, self.log_beta)))
            last = self._cumulative[rows, -1] * incomplete_beta(np.where(left, u, -u), *end)
            return np.log(density) + top, slope, np.exp(np.log(inner) + top + np.where(left, log_p, log_q)) + last

    def probabilities(self, p: FloatArray) -> FloatArray:
        """Cumulative probability of every mixture at each of `p`, from 0 to 1 inclusive, shape (mixtures, len(p))."""
        inner = p[1:-1]
        terms = np.outer(np.log(inner), self.first)
        terms += np.outer(np.log1p(-inner), self.second - 1)
        terms -= self.log_beta
        terms[terms < SMALLEST_LOG] = -np.inf
        np.exp(terms, out=terms)
        values = np.ones((len(self.weights), len(p)))
        values[:, 0] = 0.0
        values[:, 1:-1] = self._cumulative[:, :-1] @ (terms[:, :-1] / self.first[:-1]).T
        values[:, 1:-1] += betainc(self.first[-1], self.second[-1], inner) * self._cumulative[:, -1:]
        return values


@dataclass(frozen=True, kw_only=True, eq=False)
class _Pieces:
    """The stretches of log-odds on which a density is monotone, from their higher to their lower end."""

    row: IntArray
    top: FloatArray
    bottom: FloatArray
    high: FloatArray
    low: FloatArray
    top_mass: FloatArray

    def __getitem__(self, which: object) -> "_Pieces":
        return _Pieces(**{name: value[which] for name, value in vars(self).items()})

    def crossed(self, height: FloatArray) -> BoolArray:
        """Which pieces pass ln density `height` on their way."""
        return (self.low < height) & (height < self.high)

    def uncrossed_cuts(self, height: FloatArray) -> FloatArray:
        """Return the cuts of the others: all of a piece, or nothing."""
        return np.where(self.low >= height, self.bottom, self.top)


def highest_density(ladder: Ladder, level: float) -> list[Region]:
    """For each mixture the intervals, in order, where the density is at least c, with c such that they hold `level`.

    Their ends are rounded outwards. c is at least 1 − level, since what is left out has density below c and length
    below 1. A density that is flat to rounding has an empty list.
    """
    count = len(ladder.weights)
    pieces = _monotone_pieces(ladder)
    top, bottom = np.full(count, -np.inf), np.full(count, np.inf)
    np.maximum.at(top, pieces.row, pieces.high)
    np.minimum.at(bottom, pieces.row, pieces.low)
    pieces = pieces[(top - bottom > FLAT_DENSITY)[pieces.row]]
    if not len(pieces.row):
        return [[] for _ in range(count)]
    cuts, settled = _by_newton(ladder, pieces, level)
    for row in np.unique(pieces.row[~settled[pieces.row]]):
        own = pieces.row == row
        cuts[own] = _by_brackets(ladder, pieces[own], level, cuts[own])
    held = np.abs(ladder.at(pieces.row, cuts)[2] - pieces.top_mass)
    narrow = (np.abs(pieces.top) == END_LOG_ODDS) & (cuts * np.sign(pieces.top) > NARROW_PART) & (cuts != pieces.bottom)
    cuts = np.where(narrow & (held < NEGLIGIBLE_PART), pieces.top, cuts)
    return _joined(pieces, cuts, count)


def _monotone_pieces(ladder: Ladder) -> _Pieces:
    count = len(ladder.weights)
    rows, turns = ladder.turning_points()
    every = np.arange(count)
    row = np.concatenate([every, rows, every])
    edge = np.concatenate([np.full(count, -END_LOG_ODDS), turns, np.full(count, END_LOG_ODDS)])
    order = np.lexsort((edge, row))
    row, edge = row[order], edge[order]
    height, _, mass = ladder.at(row, edge)
    first = np.flatnonzero(row[1:] == row[:-1])
    rising = height[first + 1] > height[first]
    top, bottom = np.where(rising, first + 1, first), np.where(rising, first, first + 1)
    return _Pieces(
        row=row[first], top=edge[top], bottom=edge[bottom], high=height[top], low=height[bottom], top_mass=mass[top]
    )


def _by_newton(ladder: Ladder, pieces: _Pieces, level: float) -> tuple[FloatArray, BoolArray]:
    """Return how far from its top each piece belongs to the region, and the mixtures for which that is settled."""
    # All cuts x_j and the height are sought at once: the probability falls by Σ f / |(ln f)'| over the cuts as ln c
    # rises by 1, and each cut moves by (ln c − ln f(x_j)) / (ln f)'.
    count = len(ladder.weights)
    height, cuts = _guess(ladder, pieces, level)
    smallest, top = math.log1p(-level), np.full(count, -np.inf)
    np.maximum.at(top, pieces.row, pieces.high)
    settled = np.zeros(count, dtype=bool)
    still = np.isin(np.arange(count), pieces.row)
    left, right = np.minimum(pieces.top, pieces.bottom), np.maximum(pieces.top, pieces.bottom)
    for _ in range(MOST_NEWTON_STEPS):
        (here,) = np.nonzero(still[pieces.row])
        if not len(here):
            break
        part, row = pieces[here], pieces.row[here]
        crossed = part.crossed(height[row])
        cut = np.where(crossed, cuts[here], part.uncrossed_cuts(height[row]))
        log_density, slope, cumulative = ladder.at(row, cut)
        with np.errstate(all="ignore"):
            speed = np.exp(log_density - np.logaddexp(0.0, cut) - np.logaddexp(0.0, -cut)) / np.abs(slope)
            speed, log_density = np.where(crossed, speed, 0.0), np.where(crossed, log_density, height[row])
            excess = np.bincount(row, np.abs(cumulative - part.top_mass), count) - level
            goal = (excess + np.bincount(row, speed * log_density, count)) / np.bincount(row, speed, count)
            moved = cut + np.where(crossed, (goal[row] - log_density) / slope, 0.0)
        moved = np.where(moved <= left[here], (cut + left[here]) / 2, moved)
        moved = np.where(moved >= right[here], (cut + right[here]) / 2, moved)
        apart = np.zeros(count)
        np.maximum.at(apart, row, np.abs(log_density - height[row]))
        good = still & (np.abs(excess) <= MASS_TOLERANCE) & (apart <= HEIGHT_TOLERANCE * (1 + np.abs(height)))
        settled |= good
        cuts[here] = np.where(good[row], cut, np.where(crossed, moved, cuts[here]))
        still &= ~good & ~np.isnan(goal)
        goal = np.where(goal >= top, (height + top) / 2, np.where(goal <= smallest, (height + smallest) / 2, goal))
        height = np.where(still, goal, height)
    return cuts, settled


def _by_brackets(ladder: Ladder, pieces: _Pieces, level: float, start: FloatArray) -> FloatArray:
    """Return the cuts of one mixture, surely: the height between two heights, and each cut inside its piece."""
    # On a plateau the height does not decide; the cuts lie between those of a region too small and one too large.
    rows = pieces.row
    sign = np.where(pieces.top < pieces.bottom, 1.0, -1.0)

    def cuts_at(height: float) -> FloatArray:
        cuts = pieces.uncrossed_cuts(np.full(len(rows), height))
        (crossed,) = np.nonzero(pieces.crossed(np.full(len(rows), height)))

        def value(which: IntArray, log_odds: FloatArray) -> tuple[FloatArray, FloatArray]:
            log_density, slope, _ = ladder.at(rows[crossed[which]], log_odds)
            return sign[crossed[which]] * (log_density - height), sign[crossed[which]] * slope

        ends = pieces.top[crossed], pieces.bottom[crossed]
        cuts[crossed] = falling_roots(value, np.minimum(*ends), np.maximum(*ends), start[crossed])
        return cuts

    def excess(cuts: FloatArray) -> float:
        return float(np.abs(ladder.at(rows, cuts)[2] - pieces.top_mass).sum()) - level

    low, high = math.log1p(-level) - 1e-9, float(pieces.high.max())
    height = float(brentq(lambda one: excess(cuts_at(one)), low, high, xtol=1e-13, rtol=1e-14))
    apart = 1e-15 * (1 + abs(height))
    while True:
        outer, inner = cuts_at(max(height - apart, low)), cuts_at(min(height + apart, high))
        if excess(outer) >= 0 >= excess(inner):
            break
        apart *= 4
    share = brentq(lambda one: excess(inner + one * (outer - inner)), 0.0, 1.0, xtol=1e-16, rtol=1e-15)
    return inner + float(share) * (outer - inner)


def _guess(ladder: Ladder, pieces: _Pieces, level: float) -> tuple[FloatArray, FloatArray]:
    """About ln c of each mixture, and where about each piece is cut: the densest cells of a grid that hold `level`."""
    grid = angle_grid(float(ladder.first[0] + ladder.second[0]))
    masses = np.maximum(np.diff(ladder.probabilities(grid), axis=1), 0.0)
    densities = masses / np.diff(grid)
    falling = np.argsort(-densities, axis=1)
    held = np.cumsum(np.take_along_axis(masses, falling, axis=1), axis=1)
    last = np.take_along_axis(falling, np.minimum((held < level).sum(axis=1), len(grid) - 2)[:, None], axis=1)
    smallest = np.take_along_axis(densities, last, axis=1)
    left, right = np.minimum(pieces.top, pieces.bottom), np.maximum(pieces.top, pieces.bottom)
    middles = logit((grid[1:] + grid[:-1]) / 2)
    inside = (left[:, None] < middles) & (middles < right[:, None])
    above = inside & (densities >= smallest)[pieces.row]
    counts = np.where(pieces.top < pieces.bottom, above.sum(axis=1), (inside & ~above).sum(axis=1))
    cuts = logit(grid[np.clip((middles <= left[:, None]).sum(axis=1) + counts, 1, len(grid) - 2)])
    within = np.where(left == -END_LOG_ODDS, right - 1, np.where(right == END_LOG_ODDS, left + 1, (left + right) / 2))
    with np.errstate(divide="ignore"):
        return np.log(smallest[:, 0]), np.where((left < cuts) & (cuts < right), cuts, within)


def _joined(pieces: _Pieces, cuts: FloatArray, count: int) -> list[Region]:
    """Return the parts of the pieces, as proportions, those that touch as floating-point numbers made one."""
    regions: list[Region] = [[] for _ in range(count)]
    (some,) = np.nonzero(cuts != pieces.top)
    starts, stops = outward(np.minimum(pieces.top, cuts)[some], np.maximum(pieces.top, cuts)[some])
    for row, low, high in zip(pieces.row[some].tolist(), starts.tolist(), stops.tolist(), strict=True):
        region = regions[row]
        if region and low <= region[-1][1]:
            low = region.pop()[0]
        region.append((low, high))
    return regions
