"""Mixtures of beta distributions: density, probability, quantiles, and intervals by tails or by density."""

import math
from collections.abc import Callable
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

import numpy as np
from scipy.optimize import brentq
from scipy.special import betainc, expit, logit

from dpviz.core.declarations import LEVEL
from dpviz.core.formatting import describe_value
from dpviz.core.numerics.special import log_beta, row_blocks
from dpviz.core.parameters import argument
from dpviz.core.types import FloatArray, IntArray, Numbers
from dpviz.inference._roots import falling_roots

PROBABILITY = argument("q", 0, 1, title="probability")

END = 1e5  # log-odds that stand for 0 and 1
SMALLEST_LOG = -700.0  # what has a smaller ln counts as 0: arithmetic with subnormal numbers is slow

Values = Callable[[IntArray, FloatArray], tuple[FloatArray, FloatArray]]  # values and slopes, of mixtures at log-odds
PIECE = [("row", int), *((name, float) for name in ("top", "bottom", "high", "low", "top_mass"))]
Pieces = Any  # record array of them


@dataclass(frozen=True, kw_only=True, eq=False)
class BetaMixture:
    """Σ_k w_k Beta(a + k, b − k), k = 0, 1, …

    Parameters
    ----------
    a, b : ndarray, shape (components,)
        Positive parameters; a rises and b falls by 1 from one component to the next.
    weights : ndarray, shape (components,)
        Nonnegative, with sum 1.

    Examples
    --------
    >>> even = BetaMixture(a=np.array([1.0, 2.0]), b=np.array([2.0, 1.0]), weights=np.array([0.5, 0.5]))
    >>> round(even.mean, 12), round(even.variance, 12), [round(end, 12) for end in even.interval(0.5)]
    (0.5, 0.083333333333, [0.25, 0.75])
    """

    a: FloatArray = field(repr=False)
    b: FloatArray = field(repr=False)
    weights: FloatArray = field(repr=False)
    _intervals: dict[float, tuple[float, float]] = field(default_factory=dict, init=False, repr=False)

    def __post_init__(self) -> None:
        for name, largest in (("a", 1e13), ("b", 1e13), ("weights", 1.001)):
            values = argument(name, 0, largest, open_minimum=name != "weights").validate_array(getattr(self, name))
            if values.shape != np.shape(self.a) or values.ndim != 1 or not len(values):
                raise ValueError(f"{name} must have one number for each component; got {describe_value(values)}.")
            object.__setattr__(self, name, values)
        rounding = 1e-9 * (self.a[0] + self.b[0])
        steps = np.abs([np.diff(self.a) - 1, np.diff(self.b) + 1])
        if steps.max(initial=0) > rounding:
            raise ValueError("a must rise and b fall by 1 from one component to the next; got other steps.")
        if abs(self.weights.sum() - 1) > 1e-6:
            raise ValueError(f"weights must have the sum 1; got {describe_value(float(self.weights.sum()))}.")

    @cached_property
    def _family(self) -> "MixtureFamily":
        """The mixture, as a family of one, without light components at both ends, together less than 1e-16."""
        heavy = np.flatnonzero(self.weights > 1e-16 / len(self.weights))
        some = slice(heavy[0], heavy[-1] + 1)
        return MixtureFamily(a=self.a[some], b=self.b[some], weights=self.weights[None, some])

    @property
    def mean(self) -> float:
        """Σ w_k a_k / (a_k + b_k)."""
        return float(self._family.moments()[0][0])

    @property
    def variance(self) -> float:
        """Mean of the variances plus variance of the means."""
        return float(self._family.moments()[1][0])

    def pdf(self, p: Numbers) -> FloatArray:
        """Density at p, of its shape; 0 outside 0 to 1, infinite at 0 if some a, at 1 if some b is below 1."""
        points = np.asarray(p, dtype=float)
        with np.errstate(over="ignore"):
            density = np.exp(self._at(self._family.log_density, points))
        ends = ((points == 0) & (self._family.a[0] < 1)) | ((points == 1) & (self._family.b[-1] < 1))
        return np.where(ends, math.inf, np.where((points < 0) | (points > 1), 0.0, density))

    def cdf(self, p: Numbers) -> FloatArray:
        """Pr(proportion ≤ p), of the shape of p."""
        return self._at(self._family.mass, np.asarray(p, dtype=float))

    def _at(self, function: Values, p: FloatArray) -> FloatArray:
        """Values of a function of the family at proportions, some of them at once."""
        u = np.clip(logit(np.clip(p.ravel(), 0.0, 1.0)), -END, END)
        values = np.empty(len(u))
        for block in row_blocks(len(u), len(self._family.a)):
            values[block], _ = function(np.zeros(len(u[block]), dtype=int), u[block])
        return values.reshape(p.shape)

    def quantile(self, q: float) -> float:
        """Proportion p with Pr(proportion ≤ p) = q; the next float inside where it would round to 0 or 1."""
        q = PROBABILITY.validate(q)
        return float(q) if q in (0, 1) else float(_inside(self._family.quantiles(np.array([q])))[0, 0])

    def interval(self, level: float = 0.95) -> tuple[float, float]:
        """Equal-tailed interval: the quantiles (1 ± level)/2."""
        level = LEVEL.validate(level)
        if level not in self._intervals:  # a page asks for the same one for its sentence, its table and its picture
            low, high = self._family.equal_tails(level).ravel().tolist()
            self._intervals[level] = low, high
        return self._intervals[level]

    def highest_density(self, level: float = 0.95) -> list[tuple[float, float]]:
        """Shortest region of probability `level`: the intervals, in order, on which the density is highest.

        It holds 0 where some a < 1, and 1 where some b < 1, unless that part is narrower than 2⁻⁵³ and holds less than
        1e-12. Where the density is flat to 1e-7, it is the equal-tailed interval.
        """
        starts, stops = self._family.highest_density(LEVEL.validate(level))[:, 0].tolist()
        return list(zip(starts, stops, strict=True))

    @cached_property
    def outline(self) -> tuple[FloatArray, FloatArray]:
        """Curve of the density to draw: values of p, even over 0 to 1 and closer around the mean, and the density."""
        near = self.mean + math.sqrt(self.variance) * np.linspace(-6, 6, 161)
        p = np.unique(np.concatenate([np.linspace(0, 1, 241), near[(near > 0) & (near < 1)]]))
        return p, self.pdf(p)


@dataclass(frozen=True, kw_only=True, eq=False)
class MixtureFamily:
    """Many mixtures of the same components Beta(a + k, b − k), k = 0, 1, …; `weights` has one row for each mixture.

    Notes
    -----
    With I_p(a, b) = I_p(a + 1, b − 1) + p f(p; a, b) / a, the regularized incomplete beta function, the probabilities
    of all components follow from their densities f and one value of it. Places are log-odds u = ln p/(1 − p), on which
    a density that is infinite at 0 or 1 is smooth.
    """

    a: FloatArray
    b: FloatArray
    weights: FloatArray

    @property
    def _total(self) -> float:
        return float(self.a[0] + self.b[0])

    @cached_property
    def _log_beta(self) -> FloatArray:
        return log_beta(self.a, self.b)

    @cached_property
    def _tail_factors(self) -> FloatArray:
        """Factors of (1 − p) f in the upper tail and of p f in the lower one, shape (2, mixtures, components)."""
        above = np.cumsum(self.weights[:, ::-1], axis=1)[:, ::-1] / self.b
        below = np.cumsum(self.weights, axis=1) / self.a
        above[:, 0] = 0.0
        below[:, -1] = 0.0
        return np.stack([above, below])

    @cached_property
    def _grid(self) -> FloatArray:
        """Log-odds, even in arcsin √p with two points to the standard deviation of a component, and tails."""
        steps = max(64, math.ceil(2 * math.pi * math.sqrt(self._total)))
        body = logit(np.sin(np.linspace(0.0, np.pi / 2, steps + 1)[1:-1]) ** 2)
        tail = np.append(np.arange(8.0, 50.0, 1.5), np.geomspace(50.0, 700.0, 8))
        tail = tail[tail > body[-1]]
        return np.concatenate([-tail[::-1], body, tail])

    def moments(self) -> tuple[FloatArray, FloatArray]:
        """Mean and variance of every mixture."""
        means = self.a / self._total
        mean = self.weights @ means
        within = self.weights @ (means * (self.b / self._total) / (self._total + 1))
        return mean, within + (self.weights * (means - mean[:, None]) ** 2).sum(axis=1)

    def _densities(self, u: FloatArray) -> tuple[FloatArray, FloatArray]:
        """Densities of the components at log-odds, divided by the largest, and its logarithm."""
        terms = np.outer(-np.logaddexp(0.0, -u), self.a - 1)
        terms += np.outer(-np.logaddexp(0.0, u), self.b - 1)
        terms -= self._log_beta
        largest = terms.max(axis=1)
        terms -= largest[:, None]
        terms[terms < SMALLEST_LOG] = -np.inf
        return np.exp(terms, out=terms), largest

    def _slopes(self, u: FloatArray) -> FloatArray:
        """d ln f / du of the components, (a − 1)(1 − p) − (b − 1) p, from the nearer end."""
        near = (self._total - 2) * expit(-np.abs(u))[:, None]
        return np.where(u[:, None] < 0, self.a - 1 - near, near - (self.b - 1))

    def log_density(self, rows: IntArray, u: FloatArray) -> tuple[FloatArray, FloatArray]:
        """ln f and d ln f / du of the mixtures in `rows`, each at its log-odds."""
        densities, log_scale = self._densities(u)
        terms = densities * self.weights[rows]
        density = terms.sum(axis=1)
        with np.errstate(divide="ignore", invalid="ignore"):
            return np.log(density) + log_scale, np.einsum("tk,tk->t", terms, self._slopes(u)) / density

    def mass(self, rows: IntArray, u: FloatArray) -> tuple[FloatArray, FloatArray]:
        """Cumulative probability and its slope f p (1 − p) of the mixtures in `rows`, each at its log-odds."""
        densities, log_scale = self._densities(u)
        density = np.einsum("tk,tk->t", densities, self.weights[rows])
        tail = np.einsum("tk,tk->t", densities, self._tail_factors[(u < 0).astype(int), rows])
        log_near = -np.logaddexp(0.0, np.abs(u))
        with np.errstate(divide="ignore"):
            density, tail = np.exp(np.log([density, tail]) + log_scale + log_near)
        tail += self._last_tail(u)
        return np.where(u < 0, tail, 1 - tail), density * expit(np.abs(u))

    def _last_tail(self, u: FloatArray) -> FloatArray:
        """I_p of the last component where u < 0; elsewhere 1 − I_p of the first one."""
        near = np.where(u < 0, self.a[-1], self.b[0])
        far = np.where(u < 0, self.b[-1], self.a[0])
        log_near = -np.logaddexp(0.0, np.abs(u))
        # The first term of the series, where p, or 1 − p, is no float
        first_term = np.exp(np.minimum(near * log_near - log_beta(near, far), 0.0)) / near
        return np.where(log_near < SMALLEST_LOG, first_term, betainc(near, far, np.exp(log_near)))

    def quantiles(self, probabilities: FloatArray) -> FloatArray:
        """Log-odds of the quantiles of every mixture, shape (probabilities, mixtures)."""
        # Cumulative probabilities of every mixture at about 100 places
        u = self._grid[:: math.ceil(len(self._grid) / 100)]
        densities, log_scale = self._densities(u)
        densities *= np.exp(log_scale - np.logaddexp(0.0, np.abs(u)))[:, None]
        above, below = self._tail_factors @ densities.T + self._last_tail(u)
        masses = np.where(u < 0, below, 1 - above)
        places = np.concatenate([[-END], u, [END]])

        # Roots between neighbours of the grid
        bracket = np.stack([(masses < q).sum(axis=1) for q in probabilities])
        rows = np.broadcast_to(np.arange(len(masses)), bracket.shape).ravel()
        target = np.repeat(probabilities, len(masses))

        def missing(which: IntArray, u: FloatArray) -> tuple[FloatArray, FloatArray]:
            mass, density = self.mass(rows[which], u)
            return target[which] - mass, -density

        roots = falling_roots(missing, places[bracket].ravel(), places[bracket + 1].ravel())
        return roots.reshape(bracket.shape)

    def equal_tails(self, level: float) -> FloatArray:
        """Ends of the equal-tailed interval of every mixture, strictly between 0 and 1, shape (2, mixtures, 1)."""
        return _inside(self.quantiles(np.array([(1 - level) / 2, (1 + level) / 2])))[:, :, None]

    def highest_density(self, level: float) -> FloatArray:
        """Ends of the intervals that make the region of highest density of every mixture, shape (2, mixtures, parts).

        A region of fewer parts is filled up with NaN.

        Notes
        -----
        The region is {f ≥ c}. Between neighbouring turning points the density is monotone, so that the region is cut
        there at most once: the cuts and ln c are the unknowns.
        """
        tails = self.equal_tails(level)
        pieces = self._monotone_pieces()
        if not len(pieces.row):
            return tails
        low, high = tails[:, :, 0]
        rows, place = np.unique(pieces.row, return_inverse=True)
        cuts = logit(np.where(pieces.top < pieces.bottom, high[pieces.row], low[pieces.row]))

        # ln c of every mixture. As it rises, its cuts move by 1 / (ln f)' and the probability falls by Σ f / |(ln f)'|
        def excess(which: IntArray, height: FloatArray) -> tuple[FloatArray, FloatArray]:
            some = np.flatnonzero(np.isin(place, which))
            position = np.searchsorted(which, place[some])
            part = pieces[some]
            cuts[some] = self._cuts(part, height[position], cuts[some])
            _, slope = self.log_density(part.row, cuts[some])
            mass, density = self.mass(part.row, cuts[some])
            is_cut = (part.low < height[position]) & (height[position] < part.high)
            speed = np.where(is_cut, density / np.abs(slope), 0.0)
            probability = np.bincount(position, np.abs(mass - part.top_mass))
            return probability - level, -np.bincount(position, speed).astype(float)

        with np.errstate(all="ignore"):  # far out, where no component has a density
            # {f < c} has probability 1 − level and length 1 at most, so that c ≥ 1 − level
            lowest = np.full(len(rows), math.log1p(-level) - 1e-9)
            highest = np.maximum.reduceat(pieces.high, np.searchsorted(pieces.row, rows))
            start = self.log_density(rows, logit(low[rows]))[0]
            height = falling_roots(excess, lowest, highest, start)
            off, _ = excess(np.arange(len(rows)), height)

        # On a plateau no height gives the level: the cuts are between those a little lower and a little higher
        for index in np.flatnonzero(np.abs(off) > 1e-12):
            own = np.flatnonzero(place == index)
            cuts[own] = self._plateau_cuts(pieces[own], float(height[index]), level, cuts[own])

        # Parts at an infinite end that no float lies inside, and that weigh next to nothing
        mass = np.abs(self.mass(pieces.row, cuts)[0] - pieces.top_mass)
        at_end = (np.abs(pieces.top) == END) & (np.abs(cuts) > 53 * math.log(2)) & (cuts * pieces.top > 0)
        cuts = np.where(at_end & (mass < 1e-12), pieces.top, cuts)

        # Neighbouring parts make one interval
        some = np.flatnonzero(cuts != pieces.top)
        row = pieces.row[some]
        begin, end = (_end(side(pieces.top, cuts)[some]) for side in (np.minimum, np.maximum))
        is_first = np.append(True, (row[1:] != row[:-1]) | (begin[1:] > end[:-1]))
        row = row[is_first]
        part = np.arange(len(row)) - np.searchsorted(row, row)
        regions = np.full((2, len(self.weights), part.max() + 1), math.nan)
        regions[:, :, :1] = tails
        regions[:, row, part] = begin[is_first], end[np.append(is_first[1:], True)]
        return regions

    def _monotone_pieces(self) -> Pieces:
        """Stretches of log-odds on which a density is monotone, unless it is flat, in order of mixture and place.

        Each has its mixture (`row`), its denser end `top` with the cumulative probability there, `top_mass`, its other
        end `bottom`, and the ln density at both, `high` and `low`.
        """
        # Turning points: changes of the sign of the slope on the grid, where it is more than rounding, refined
        densities, _ = self._densities(self._grid)
        terms = densities * self._slopes(self._grid)
        slopes, rounding = self.weights @ terms.T, self.weights @ np.abs(terms).T
        rows, columns = np.nonzero(np.abs(slopes) > 1e-12 * rounding)
        signs = np.sign(slopes[rows, columns])
        turns = np.flatnonzero((rows[1:] == rows[:-1]) & (signs[1:] != signs[:-1]))

        def slope(which: IntArray, u: FloatArray) -> tuple[FloatArray, FloatArray]:
            densities, _ = self._densities(u)
            terms = densities * self.weights[rows[turns[which]]]
            slopes, bend = self._slopes(u), (self._total - 2) * (expit(u) * expit(-u))[:, None]
            scale = signs[turns[which]] / np.maximum((terms * np.abs(slopes)).sum(axis=1), 1e-300)
            return scale * (terms * slopes).sum(axis=1), scale * (terms * (slopes**2 - bend)).sum(axis=1)

        places = falling_roots(slope, self._grid[columns[turns]], self._grid[columns[turns + 1]])

        # Neighbours among the turning points and both ends
        all_rows = np.arange(len(self.weights))
        row = np.concatenate([all_rows, rows[turns], all_rows])
        edge = np.concatenate([np.full(len(all_rows), -END), places, np.full(len(all_rows), END)])
        order = np.lexsort((edge, row))
        row, edge = row[order], edge[order]
        height, _ = self.log_density(row, edge)
        mass, _ = self.mass(row, edge)
        first = np.flatnonzero(row[1:] == row[:-1])
        is_rising = height[first + 1] > height[first]
        top, bottom = np.where(is_rising, first + 1, first), np.where(is_rising, first, first + 1)
        fields = [row[first], edge[top], edge[bottom], height[top], height[bottom], mass[top]]
        pieces: Pieces = np.rec.fromarrays(fields, dtype=PIECE)
        starts = np.searchsorted(pieces.row, all_rows)
        drop = np.maximum.reduceat(pieces.high, starts) - np.minimum.reduceat(pieces.low, starts)
        return pieces[(drop > 1e-7)[pieces.row]]  # in a flatter one rounding would choose the region

    def _cuts(self, pieces: Pieces, height: FloatArray, start: FloatArray) -> FloatArray:
        """Where the ln density of each piece is `height`; its bottom or top where all or none of it is above."""
        cuts = np.where(pieces.low >= height, pieces.bottom, pieces.top)
        crossed = np.flatnonzero((pieces.low < height) & (height < pieces.high))
        part = pieces[crossed]
        sign = np.where(part.top < part.bottom, 1.0, -1.0)

        def above(which: IntArray, u: FloatArray) -> tuple[FloatArray, FloatArray]:
            log_density, slope = self.log_density(part.row[which], u)
            return sign[which] * (log_density - height[crossed[which]]), sign[which] * slope

        ends = np.minimum(part.top, part.bottom), np.maximum(part.top, part.bottom)
        cuts[crossed] = falling_roots(above, *ends, start[crossed])
        return cuts

    def _plateau_cuts(self, pieces: Pieces, height: float, level: float, start: FloatArray) -> FloatArray:
        """Cuts of one mixture between those at heights on both sides of a plateau."""
        step = 1e-10 * (1 + abs(height)) * np.ones(len(pieces.row))
        outer, inner = (self._cuts(pieces, height + shift, start) for shift in (-step, step))

        def excess(share: float) -> float:
            mass, _ = self.mass(pieces.row, inner + share * (outer - inner))
            return float(np.abs(mass - pieces.top_mass).sum()) - level

        if excess(0.0) >= 0 or excess(1.0) <= 0:  # no plateau, but rounding
            return start
        return inner + brentq(excess, 0.0, 1.0, xtol=1e-16, rtol=1e-15) * (outer - inner)


def _inside(u: FloatArray) -> FloatArray:
    """Proportions of log-odds, strictly between 0 and 1."""
    return np.clip(expit(u), np.nextafter(0.0, 1.0), np.nextafter(1.0, 0.0))


def _end(u: FloatArray) -> FloatArray:
    """Proportions of the ends of a region, which are 0 and 1 at ±`END` alone."""
    return np.where(np.abs(u) == END, u > 0, _inside(u))
