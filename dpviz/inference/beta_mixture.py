"""Mixtures of beta distributions: density, probability, quantiles, and intervals by tails or by density."""

import math
from dataclasses import dataclass, field
from functools import cached_property

import numpy as np
from scipy.optimize.elementwise import find_root
from scipy.special import betainc, betaincc, expit, logit, ndtri

from dpviz.core.declarations import LEVEL
from dpviz.core.formatting import describe_value
from dpviz.core.numerics.special import log_beta, row_blocks
from dpviz.core.parameters import argument
from dpviz.core.types import BoolArray, FloatArray, IntArray, Numbers
from dpviz.inference._roots import falling_roots

PROBABILITY = argument("q", 0, 1, title="probability")

END = 1e5  # log-odds that stand for 0 and 1
SMALLEST_LOG = -700.0  # what has a smaller ln counts as 0: arithmetic with subnormal numbers is slow


@dataclass(frozen=True, kw_only=True, eq=False)
class BetaMixture:
    """Σ_k w_k Beta(a + k, b − k), k = 0, 1, …

    Parameters
    ----------
    a, b : ndarray, shape (components,)
        Parameters, at least 0.0001; a rises and b falls by 1 from one component to the next.
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
        for name, smallest, largest in (("a", 1e-4, 1e13), ("b", 1e-4, 1e13), ("weights", 0, 1.001)):
            values = argument(name, smallest, largest).validate_array(getattr(self, name))
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
            density = np.exp(self._values(0, points))
        for end, smallest in ((0, self._family.a[0]), (1, self._family.b[-1])):
            if smallest != 1:
                density = np.where(points == end, math.inf if smallest < 1 else 0.0, density)
        return np.where((points < 0) | (points > 1), 0.0, density)

    def cdf(self, p: Numbers) -> FloatArray:
        """Pr(proportion ≤ p), of the shape of p, to 1e-15; above ½ a smaller probability has no digits."""
        points = np.asarray(p, dtype=float)
        return np.where(points <= 0, 0.0, np.where(points >= 1, 1.0, self._values(2, points)))

    def _values(self, kind: int, p: FloatArray) -> FloatArray:
        """One of the values of `MixtureFamily.at` at proportions, some of them at once."""
        u = np.clip(logit(np.clip(p.ravel(), 0.0, 1.0)), -END, END)
        blocks = row_blocks(len(u), len(self._family.a))
        row = np.array([0])
        values = [self._family.at(row, u[block])[kind] for block in blocks]
        return np.concatenate([*values, []]).reshape(p.shape)

    def quantile(self, q: float) -> float:
        """Proportion p with Pr(proportion ≤ p) = q; the next float inside where it would round to 0 or 1."""
        q = PROBABILITY.validate(q)
        if q in (0, 1):
            return float(q)
        # Light components, which the family leaves out, may hold all of a small tail
        is_far = min(q, 1 - q) < 1e-8
        family = MixtureFamily(a=self.a, b=self.b, weights=self.weights[None]) if is_far else self._family
        return float(_proportions(family.quantiles(np.array([q])))[0, 0])

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
    """Mixtures of the same components, as in `BetaMixture`, with weights of shape (mixtures, components).

    Notes
    -----
    With u = ln(p / (1 − p)) places next to 0 and 1 keep their digits. As I_p(a, b) − I_p(a + 1, b − 1) =
    p f(p; a, b) / a, all components share one incomplete beta function.
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

    def _last_tail(self, u: FloatArray, is_low: BoolArray) -> FloatArray:
        """I_p of the last component, the lower tail, where `is_low`; elsewhere 1 − I_p of the first one."""
        own = np.where(is_low, self.a[-1], self.b[0])
        other = np.where(is_low, self.b[-1], self.a[0])
        log_near = -np.logaddexp(0.0, np.abs(u))
        near = np.exp(log_near)
        # The first term of the series, where p, or 1 − p, is no float
        first_term = np.exp(np.minimum(own * log_near - log_beta(own, other), 0.0)) / own
        tail = np.where(log_near < SMALLEST_LOG, first_term, betainc(own, other, near))
        return np.where(is_low == (u < 0), tail, betaincc(other, own, near))

    def at(self, rows: IntArray, u: FloatArray, is_low: BoolArray | None = None) -> FloatArray:
        """ln f, d ln f / du, F and dF / du = f p (1 − p) of the mixtures in `rows`, at log-odds, shape (4, …).

        The shape of `rows` broadcasts to that of u. With `is_low`, of the shape of u, the third value is F where that
        is true and 1 − F elsewhere, and keeps its digits.
        """
        flat_rows = np.broadcast_to(rows, u.shape).ravel()
        v = u.ravel()
        low = v < 0 if is_low is None else is_low.ravel()
        densities, log_scale = self._densities(v)
        terms = densities * self.weights[flat_rows]
        density = np.maximum(terms.sum(axis=1), 1e-300)
        slope = np.einsum("tk,tk->t", terms, self._slopes(v)) / density
        tail = np.einsum("tk,tk->t", densities, self._tail_factors[low.astype(int), flat_rows])
        with np.errstate(divide="ignore"):
            tail = np.exp(np.log(tail) + log_scale - np.logaddexp(0.0, np.where(low, -v, v)))
        tail += self._last_tail(v, low)
        mass = np.where(low, tail, 1 - tail) if is_low is None else tail
        log_density = np.log(density) + log_scale
        rate = np.exp(log_density - np.logaddexp(0.0, np.abs(v))) * expit(np.abs(v))
        values = [log_density, slope, mass, rate]
        return np.array(values).reshape(4, *u.shape)

    def quantiles(self, probabilities: FloatArray) -> FloatArray:
        """Log-odds of the quantiles of every mixture, shape (probabilities, mixtures)."""
        shape = len(probabilities), len(self.weights)
        rows = np.broadcast_to(np.arange(shape[1]), shape).ravel()
        target = np.repeat(probabilities, shape[1])

        def missing(which: IntArray, u: FloatArray) -> tuple[FloatArray, FloatArray]:
            is_low = target[which] < 0.5
            _, _, tail, rate = self.at(rows[which], u, is_low)
            goal = np.where(is_low, target[which], 1 - target[which])
            with np.errstate(all="ignore"):  # logarithms keep the digits of small tails
                return np.where(is_low, 1, -1) * np.log(goal / tail), -rate / tail

        mean, variance = self.moments()
        start = np.clip(mean + np.outer(ndtri(probabilities), np.sqrt(variance)), mean / 10, (9 + mean) / 10)
        ends = np.full(len(rows), END)
        return falling_roots(missing, -ends, ends, logit(start).ravel()).reshape(shape)

    def equal_tails(self, level: float) -> FloatArray:
        """Ends of the equal-tailed interval of every mixture, strictly between 0 and 1, shape (2, mixtures, 1)."""
        return _proportions(self.quantiles(np.array([(1 - level) / 2, (1 + level) / 2])))[:, :, None]

    def highest_density(self, level: float) -> FloatArray:
        """Ends of the intervals that make the region of highest density of every mixture, shape (2, mixtures, parts).

        A region of fewer parts is filled up with NaN.

        Notes
        -----
        The region is {f ≥ c}. Between neighbouring turning points the density is monotone, so that the region is cut
        there at most once: the cuts and ln c are the unknowns.
        """
        tails = self.equal_tails(level)
        low, high = logit(tails)
        rows = np.arange(len(self.weights))
        pieces = self._monotone_pieces()
        top, bottom, highest, lowest, top_mass = pieces
        cuts = np.where(top > bottom, low, high)

        # ln c of every mixture. As it rises, its cuts move by 1 / (ln f)' and the probability falls by Σ f / |(ln f)'|
        def excess(which: IntArray, height: FloatArray) -> tuple[FloatArray, FloatArray]:
            cuts[which] = self._cuts(pieces[:, which], which, height, cuts[which])
            _, slope, mass, rate = self.at(which[:, None], cuts[which])
            is_cut = (cuts[which] != top[which]) & (cuts[which] != bottom[which])
            speed = np.where(is_cut, rate / np.abs(slope), 0.0)
            return np.abs(mass - top_mass[which]).sum(axis=1) - level, -speed.sum(axis=1)

        with np.errstate(all="ignore"):  # far out, where no component has a density
            # {f < c} has probability 1 − level and length 1 at most, so that c ≥ 1 − level
            lower_bound = np.full(len(rows), math.log1p(-level) - 1e-9)
            height = falling_roots(excess, lower_bound, highest.max(axis=1), self.at(rows, low[:, 0])[0])
            off, _ = excess(rows, height)

        # On a plateau no height gives the level: the cuts are between those a little higher and a little lower
        stuck = np.flatnonzero(np.abs(off) > 1e-12)
        step = 1e-10 * (1 + np.abs(height[stuck]))
        bounds = height[stuck] + step, height[stuck] - step
        inner, outer = (self._cuts(pieces[:, stuck], stuck, bound, cuts[stuck]) for bound in bounds)

        def missing(which: IntArray, share: FloatArray) -> tuple[FloatArray, FloatArray]:
            between = inner[which] + share[:, None] * (outer - inner)[which]
            mass = np.abs(self.at(stuck[which, None], between)[2] - top_mass[stuck[which]]).sum(axis=1)
            return level - mass, np.full(len(which), math.nan)

        share = falling_roots(missing, np.zeros(len(stuck)), np.ones(len(stuck)))
        cuts[stuck] = inner + share[:, None] * (outer - inner)

        # Parts at an infinite end that no float lies inside, and that weigh next to nothing
        mass = np.abs(self.at(rows[:, None], cuts)[2] - top_mass)
        at_end = (np.abs(top) == END) & (np.abs(cuts) > 53 * math.log(2)) & (cuts * top > 0)
        cuts = np.where(at_end & (mass < 1e-12), top, cuts)

        regions = _joined(top, cuts)

        # In a flat density rounding would choose the region
        is_flat = highest.max(axis=1) - lowest.min(axis=1) <= 1e-7
        regions[:, is_flat] = math.nan
        regions[:, is_flat, :1] = tails[:, is_flat]
        return regions

    def _monotone_pieces(self) -> FloatArray:
        """Stretches of log-odds on which densities are monotone, shape (5, mixtures, pieces), in order of their places.

        Each has its denser and its other end, ln f at both, and F at the former. Those that fill a row up have no
        length.
        """
        # Log-odds, even in arcsin √p with two points to the standard deviation of a component, and tails
        steps = max(64, math.ceil(2 * math.pi * math.sqrt(self._total)))
        body = logit(np.sin(np.linspace(0.0, np.pi / 2, steps + 1)[1:-1]) ** 2)
        tail = np.append(np.arange(8.0, 50.0, 1.5), np.geomspace(50.0, 700.0, 8))
        tail = tail[tail > body[-1]]
        grid = np.concatenate([-tail[::-1], body, tail])

        # Turning points: changes of the sign of the slope on the grid, where it is more than rounding, refined
        densities, _ = self._densities(grid)
        terms = densities * self._slopes(grid)
        slopes, rounding = self.weights @ terms.T, self.weights @ np.abs(terms).T
        rows, columns = np.nonzero(np.abs(slopes) > 1e-12 * rounding)
        signs = np.sign(slopes[rows, columns])
        turns = np.flatnonzero((rows[1:] == rows[:-1]) & (signs[1:] != signs[:-1]))
        row = rows[turns]
        number = np.arange(len(row)) - np.searchsorted(row, row)  # of each turn in its mixture
        edges = np.full((len(self.weights), number.max(initial=-1) + 3), END)
        edges[:, 0] = -END
        if len(row):
            bracket = grid[columns[turns]], grid[columns[turns + 1]]
            edges[row, number + 1] = find_root(lambda u, row: self.at(row, u)[1], bracket, args=(row,)).x

        # Neighbours among the turning points and both ends
        height, _, mass, _ = self.at(np.arange(len(edges))[:, None], edges)
        values = np.array([edges, height, mass])
        left, right = values[:, :, :-1], values[:, :, 1:]
        is_rising = right[1] > left[1]
        top, bottom = np.where(is_rising, right, left), np.where(is_rising, left, right)
        return np.array([top[0], bottom[0], top[1], bottom[1], top[2]])

    def _cuts(self, pieces: FloatArray, rows: IntArray, height: FloatArray, start: FloatArray) -> FloatArray:
        """Where the ln density of each piece is `height`; its bottom or top where all or none of it is above."""
        height = np.broadcast_to(height[:, None], start.shape)
        top, bottom, highest, lowest, _ = pieces
        cuts = np.where(lowest >= height, bottom, top)
        is_cut = (lowest < height) & (height < highest)
        row = np.broadcast_to(rows[:, None], start.shape)[is_cut]
        low, high = np.sort([top[is_cut], bottom[is_cut]], axis=0)
        sign = np.sign(bottom - top)[is_cut]

        def above(which: IntArray, u: FloatArray) -> tuple[FloatArray, FloatArray]:
            log_density, slope, _, _ = self.at(row[which], u)
            return sign[which] * (log_density - height[is_cut][which]), sign[which] * slope

        cuts[is_cut] = falling_roots(above, low, high, start[is_cut])
        return cuts


def _proportions(u: FloatArray, end: float = math.inf) -> FloatArray:
    """Proportions of log-odds, strictly between 0 and 1 but at ±`end`."""
    inside = np.clip(expit(u), np.nextafter(0.0, 1.0), np.nextafter(1.0, 0.0))
    return np.where(np.abs(u) >= end, u > 0, inside)


def _joined(top: FloatArray, cuts: FloatArray) -> FloatArray:
    """Ends of the intervals that neighbouring parts from a top to a cut make, shape (2, mixtures, intervals)."""
    ends = np.sort([top, cuts], axis=0)
    is_part = top != cuts
    is_joined = is_part[:, :-1] & is_part[:, 1:] & (ends[1, :, :-1] == ends[0, :, 1:])
    none = np.zeros((len(top), 1), dtype=bool)
    is_end = is_part & ~np.stack([np.hstack([none, is_joined]), np.hstack([is_joined, none])])
    side, row, piece = np.nonzero(is_end)
    number = np.cumsum(is_end[0], axis=1)[row, piece] - 1
    intervals = np.full((2, len(top), number.max(initial=0) + 1), math.nan)
    intervals[side, row, number] = _proportions(ends[is_end], END)
    return intervals
