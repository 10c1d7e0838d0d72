"""Intervals of an analyst who knows how the release was made: the score interval and the posterior given the sum."""

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import lru_cache, partial
from typing import ClassVar

import numpy as np
from scipy.special import ndtri

from dpviz.core.declarations import LEVEL, SETS
from dpviz.core.numerics.binomial_averages import evaluator
from dpviz.core.numerics.special import row_blocks
from dpviz.core.types import FloatArray, IntArray
from dpviz.inference.confidential import log_prior_counts, normalized
from dpviz.inference.interval_rules import Ends, IntervalRule, SetStatistics
from dpviz.inference.inverted_tests import blaker_ends, equal_tailed_ends
from dpviz.inference.moments import central_moments
from dpviz.inference.sum_distribution import ReleaseSums, release_sums, within_sums
from dpviz.inference.summaries import Posteriors
from dpviz.mechanisms import BetaBinomial, TwoCellSynthesizer
from dpviz.mechanisms.noise import NoiseSanitizer
from dpviz.mechanisms.plug_ins import PlugIn

EXACT_FIT = 1e-12  # Largest difference from a line, or from a parabola, that is rounding
SCORE_GRID_POINTS = 2001  # Proportions on which an interval without a closed form is bracketed
# Largest number of steps of false position, and how near the two sides of an end come
FALSE_POSITION_STEPS, SIDES_TOLERANCE = 60, 1e-13
MEETING_STEPS = 3  # Of those to where a mean is met: a straight line is near enough after one
NUMBERS_AT_ONCE = 4_000_000  # Numbers of a table that are held at once

# A sum that is less likely under every x than so many rounding errors takes the interval of the nearest one
TOO_ROUGH = 1e4


def score_ends(synthesizer: TwoCellSynthesizer, sets: int, level: float) -> Ends:
    """For every S the p in [0, 1] with (q̄ − E[q̄ | p])² ≤ z² Var(q̄ | p), q̄ = S/(Mm) and z the normal quantile.

    With μ_x and σ_x² the mean and variance of q in row x of the transition matrix, E[q̄ | p] = E[μ_x] and Var(q̄ | p) =
    E[σ_x²]/M + Var(μ_x) over x ~ Binomial(n, p). For the Beta-binomial and the plug-ins μ_x is a line in x, and σ_x² a
    parabola: then the ends solve a quadratic equation. In general the interval is the hull of those p and of
    the one whose mean comes nearest, which is left alone where q̄ is too extreme for every p.
    Source: Wilson (1927), for the binomial distribution without privacy.

    >>> from dpviz.mechanisms.matrix_mechanism import GivenMatrix
    >>> low, high = score_ends(GivenMatrix(probabilities=np.eye(11)), 1, 0.95)
    >>> round(float(low[10]), 6), float(high[10])  # Wilson's lower end is 10/(10 + z²)
    (0.722467, 1.0)
    """
    n, size = synthesizer.n, sets * synthesizer.m
    observed, z = np.arange(size + 1) / size, float(ndtri((1 + level) / 2))
    if isinstance(synthesizer, NoiseSanitizer) and not within_sums(n, synthesizer.m, sets):
        return _hull(partial(synthesizer.moments_at, sets=sets), observed, z)
    x = np.arange(n + 1)
    moments = central_moments(synthesizer, x)
    mean, noise = moments.mean, moments.second / sets
    intercept, slope = mean[0], (mean[-1] - mean[0]) / n
    bend = (noise[0] - 2 * noise[n // 2] + noise[2 * (n // 2)]) / (2 * (n // 2) ** 2) if n > 1 else 0.0
    tilt = (noise[-1] - noise[0]) / n - bend * n
    straight = np.abs(mean - intercept - slope * x).max() <= EXACT_FIT
    parabola = np.abs(noise - noise[0] - tilt * x - bend * x**2).max() <= EXACT_FIT * noise.max(initial=0.0)
    # Var(q̄ | p) = c + b p + a p²
    a = bend * n * (n - 1) - slope**2 * n
    b, c = tilt * n + bend * n + slope**2 * n, noise[0]
    leading = (slope * n) ** 2 - z**2 * a
    if not (straight and parabola and slope and a <= 0):
        return _hull_of_score(mean, noise, observed, z)
    away = observed - intercept
    half = away * slope * n + z**2 * b / 2
    inside = half**2 - leading * (away**2 - z**2 * c)
    root = np.sqrt(np.maximum(inside, 0.0))
    larger = half + np.where(half >= 0, root, -root)  # the sum that loses no digits; the product gives the other end
    first = np.where(inside < 0, away / (slope * n), larger / leading)
    with np.errstate(divide="ignore", invalid="ignore"):
        second = np.where(inside <= 0, first, np.where(larger == 0, 0.0, (away**2 - z**2 * c) / larger))
    return np.clip(np.minimum(first, second), 0.0, 1.0), np.clip(np.maximum(first, second), 0.0, 1.0)


def _hull_of_score(mean: FloatArray, noise: FloatArray, observed: FloatArray, z: float) -> Ends:
    """`_hull` with the mean and variance of q̄ given each x."""
    middle_mean = mean.mean()
    moments = evaluator(np.column_stack([mean, noise + (mean - middle_mean) ** 2]))

    def at(p: FloatArray) -> tuple[FloatArray, FloatArray]:
        centre, square = moments(p).T
        return centre, np.maximum(square - (centre - middle_mean) ** 2, 0.0)

    return _hull(at, observed, z)


def _hull(at: Callable[[FloatArray], tuple[FloatArray, FloatArray]], observed: FloatArray, z: float) -> Ends:
    """The outermost p on a grid that are accepted, then the ends between them and their neighbours by false position.

    `at` gives E[q̄ | p] and Var(q̄ | p). Where no point of the grid is accepted, the p whose E[q̄ | p] is q̄ is inside, or
    the one of the grid whose mean comes nearest stands in; all of them where several do.
    """

    def excess(q: FloatArray, centre: FloatArray, variance: FloatArray) -> FloatArray:
        """(q̄ − E)² − z² Var, not positive where p is accepted."""
        found: FloatArray = (q - centre) ** 2 - z**2 * variance
        return np.where(np.abs(q - centre) <= EXACT_FIT, np.minimum(found, -0.0), found)

    grid = np.sin(np.linspace(0, np.pi / 2, SCORE_GRID_POINTS)) ** 2
    centres, variances = at(grid)
    far = np.sqrt(np.maximum(z**2 * variances, EXACT_FIT**2))  # |q̄ − E| up to which p is accepted
    begun, beyond = np.searchsorted(observed, centres - far), np.searchsorted(observed, centres + far, side="right")
    nearest, accepted = _nearest(centres, observed), np.flatnonzero(begun < beyond)
    first, last = _outermost(begun[accepted], beyond[accepted], len(observed))
    alone = np.flatnonzero(first < 0)
    first, last = (
        np.where(one < 0, near, accepted[one]) if len(accepted) else near
        for one, near in zip((first, last), nearest, strict=True)
    )
    first, last = np.minimum(first, nearest[0]), np.maximum(last, nearest[1])
    # Both ends at once: a call of numpy costs about as much for one number as for a hundred.
    inner = np.concatenate([first, last])
    outer = np.concatenate([np.maximum(first - 1, 0), np.minimum(last + 1, SCORE_GRID_POINTS - 1)])
    p, q, out = grid[inner], np.tile(observed, 2), grid[outer]
    at_held, at_out = (excess(q, centres[side], variances[side]) for side in (inner, outer))
    for place, middle, end in _met_between(at, grid, centres, observed, alone):
        p[place], out[place] = middle, grid[end]
        at_held[place], at_out[place] = excess(q[place], *at(middle)), excess(q[place], centres[end], variances[end])
    rows = np.flatnonzero((p != out) & (at_held <= 0))  # what only comes nearest has no end to be sought
    q, held, out, at_held, at_out = (one[rows] for one in (q, p, out, at_held, at_out))
    before = np.zeros(len(rows), dtype=np.int8)  # 1 where the last step was accepted, −1 where it was not
    for _ in range(FALSE_POSITION_STEPS):
        with np.errstate(divide="ignore", invalid="ignore"):
            middle = held + (out - held) * (at_held / (at_held - at_out))
        between = (middle - held) * (middle - out) <= 0
        middle = np.where(between, middle, (held + out) / 2)
        # Where one side is there already, a step of half the tolerance brings the other.
        step = np.copysign(SIDES_TOLERANCE / 2, out - held)
        middle = np.where(
            (middle - held - step) * (middle - out + step) < 0,
            middle,
            np.where(np.abs(middle - held) < np.abs(middle - out), held + step, out - step),
        )
        value = excess(q, *at(middle))
        holds = value <= 0
        side = np.where(holds, 1, -1)
        # An end that stays again has its value halved, so that both ends come nearer (the Illinois rule).
        halved = np.where(side == before, 0.5, 1.0)
        at_held, at_out = np.where(holds, value, at_held * halved), np.where(holds, at_out * halved, value)
        held, out = np.where(holds, middle, held), np.where(holds, out, middle)
        p[rows] = held
        still = (np.abs(out - held) > SIDES_TOLERANCE) & (np.abs(value) > EXACT_FIT**2)
        if not still.any():
            break
        rows, q, held, out, before = rows[still], q[still], held[still], out[still], side[still]
        at_held, at_out = at_held[still], at_out[still]
    return p[: len(first)], p[len(first) :]


def _met_between(
    at: Callable[[FloatArray], tuple[FloatArray, FloatArray]],
    grid: FloatArray,
    centres: FloatArray,
    observed: FloatArray,
    alone: IntArray,
) -> Iterator[tuple[IntArray, FloatArray, IntArray]]:
    """Yield where E[q̄ | p] meets those q̄ that no point of the grid accepts, by three steps of false position.

    For the lower and then the upper ends: their places among all ends, p, and the point of the grid beyond. Nothing
    where the means do not rise.
    """
    segment = np.searchsorted(centres, observed[alone]) - 1
    between = (segment >= 0) & (segment < len(grid) - 1)
    if not between.any() or (np.diff(centres) < 0).any():
        return
    alone, segment = alone[between], segment[between]
    q, (low, high), (left, right) = observed[alone], grid[[segment, segment + 1]], centres[[segment, segment + 1]]
    for _ in range(MEETING_STEPS):
        middle = low + (high - low) * ((q - left) / (right - left))
        centre, _ = at(middle)
        below = centre <= q
        low, left = np.where(below, middle, low), np.where(below, centre, left)
        high, right = np.where(below, high, middle), np.where(below, right, centre)
        right = np.where(right > left, right, np.nextafter(left, 2.0))
    yield alone, middle, segment
    yield alone + len(observed), middle, segment + 1


def _outermost(begun: IntArray, beyond: IntArray, count: int) -> tuple[IntArray, IntArray]:
    """Return for each of 0 … `count` − 1 the first and last range from `begun` to `beyond` that has it, −1 for none.

    Where neither end ever falls, as almost always, they are looked up.
    """
    if (np.diff(begun) >= 0).all() and (np.diff(beyond) >= 0).all():
        each = np.arange(count)
        first, last = np.searchsorted(beyond, each, side="right"), np.searchsorted(begun, each, side="right") - 1
        within = first <= last  # else the next begins beyond it, or the last ends before
        return np.where(within, first, -1), np.where(within, last, -1)
    found = np.full((2, count), -1)
    ranges = list(enumerate(map(slice, begun.tolist(), beyond.tolist())))
    for place, some in reversed(ranges):
        found[0, some] = place
    for place, some in ranges:
        found[1, some] = place
    return found[0], found[1]


def _nearest(centres: FloatArray, observed: FloatArray) -> tuple[IntArray, IntArray]:
    """Return the first and the last place of the centre that is nearest to each number, of those that are alike."""
    order = np.argsort(centres, kind="stable")
    ordered = centres[order]
    above = np.minimum(np.searchsorted(ordered, observed), len(ordered) - 1)
    below = np.searchsorted(ordered, ordered[np.maximum(above - 1, 0)])
    nearer = observed - ordered[below] <= np.abs(ordered[above] - observed)
    found = ordered[np.where(nearer, below, above)]
    begun, beyond = np.searchsorted(ordered, found - EXACT_FIT), np.searchsorted(ordered, found + EXACT_FIT, "right")
    parts = np.column_stack([begun, beyond]).ravel()
    first, last = (ends.reduceat(np.append(order, order[-1]), parts)[::2] for ends in (np.minimum, np.maximum))
    return first, last


def posterior_ends(sums: ReleaseSums, level: float) -> Ends:
    """For every S the equal-tailed interval of the posterior of p given S, uniform before.

    p | S is Σ_x w_x Beta(1 + x, 1 + n − x), w_x ∝ Pr(S | x). For one set, and for the plug-ins, whose counts say no
    more than their sum, it is that of `posterior_given`; for several sets of another synthesizer it leaves a little
    out. Sums too unlikely for the digits of a large table take the interval of the nearest other.
    Source: Charest (2011), §4, gives the model.

    >>> low, high = posterior_ends(ReleaseSums(np.eye(2)), 0.5)  # p | 1 is Beta(2, 1), whose quantiles are √q
    >>> [round(float(end), 6) for end in (low[1] ** 2, high[1] ** 2)]
    [0.25, 0.75]
    """
    log_prior, (likely, nearest) = log_prior_counts(np.arange(sums.n + 1), sums.n, 1.0, 1.0), _likely(sums)
    low, high = np.empty((2, len(likely)))
    for block in row_blocks(len(likely), sums.n + 1, NUMBERS_AT_ONCE):
        with np.errstate(divide="ignore"):
            weights = normalized(np.log(sums.rows.T[likely[block]]) + log_prior)
        low[block], high[block], _ = Posteriors.of(1.0, 1.0, weights).equal_tails(level)
    return low[nearest], high[nearest]


def posterior_means(sums: ReleaseSums) -> FloatArray:
    """For every S the mean of the posterior of p given S, (1 + E[x | S]) / (n + 2), as in `posterior_ends`.

    >>> posterior_means(ReleaseSums(np.eye(2))).round(9).tolist()  # Beta(1, 2) and Beta(2, 1)
    [0.333333333, 0.666666667]
    """
    likely, nearest = _likely(sums)
    columns = sums.rows[:, likely]
    counts = np.arange(sums.n + 1) @ columns / columns.sum(axis=0)
    found: FloatArray = ((1 + counts) / (sums.n + 2))[nearest]
    return found


def _likely(sums: ReleaseSums) -> tuple[IntArray, IntArray]:
    """Return the sums that are likely enough for their digits, and for every sum the place of the nearest of them."""
    likely = np.flatnonzero(sums.rows.max(axis=0) > TOO_ROUGH * sums.rounding)
    columns = np.arange(sums.rows.shape[1])
    after = np.clip(np.searchsorted(likely, columns), 0, len(likely) - 1)
    before = np.maximum(after - 1, 0)
    return likely, np.where(columns - likely[before] < likely[after] - columns, before, after)


MOST_SUMS = 20_000  # Sums whose ends are searched for in a second

EndsBySum = Callable[[TwoCellSynthesizer, int, float], Ends]
_sums = lru_cache(maxsize=2)(release_sums)  # tables of up to 48 MB each


@lru_cache(maxsize=64)
def _ends(table: EndsBySum, synthesizer: TwoCellSynthesizer, sets: int, level: float) -> Ends:
    found = table(synthesizer, sets, level)
    for ends in found:
        ends.setflags(write=False)
    return found


def _from_sums(ends: Callable[[ReleaseSums, float], Ends]) -> EndsBySum:
    return lambda synthesizer, sets, level: ends(_sums(synthesizer, sets), level)


@dataclass(frozen=True, kw_only=True)
class NoiseAwareRule(IntervalRule):
    """A rule whose interval is looked up by the sum S in a `table` that the design makes: ends for S = 0 … Mm."""

    table: EndsBySum
    closed_form_for: tuple[type[TwoCellSynthesizer], ...] = ()  # synthesizers for which no size is too large
    short_form_for: tuple[type[TwoCellSynthesizer], ...] = ()  # those that need no table for up to `MOST_SUMS` sums
    is_noise_aware: ClassVar[bool] = True

    def ends(self, statistics: SetStatistics, level: float) -> Ends:
        low, high = (end[statistics.total] for end in self.by_sum(statistics.synthesizer, statistics.sets, level))
        impossible = statistics.within < 0
        if impossible.any():
            return np.where(impossible, np.nan, low), np.where(impossible, np.nan, high)
        return low, high

    def is_feasible(self, synthesizer: TwoCellSynthesizer, sets: int) -> bool:
        """As for `IntervalRule`; without a closed form neither the sums nor the table of them may be too many."""
        if isinstance(synthesizer, self.closed_form_for):
            return True
        few = sets * synthesizer.m <= MOST_SUMS
        return few and (isinstance(synthesizer, self.short_form_for) or within_sums(synthesizer.n, synthesizer.m, sets))

    def by_sum(self, synthesizer: TwoCellSynthesizer, sets: int, level: float = 0.95) -> Ends:
        """Return the lower and upper ends for S = 0 … Mm; a ValueError where the table of sums would be too large."""
        sets = SETS.validate(sets)
        level = LEVEL.validate(level)
        return _ends(self.table, synthesizer, sets, level)

    def largest_width(self, **_: float) -> float:
        return 1.0


# fmt: off
_RULES = (
    NoiseAwareRule(
        key="score", label="Noise-aware score (Wilson's)", abbreviation="noise-aware score",
        method_phrase="by the noise-aware score",
        formula="all p with (q̄ − E[q̄ | p])² ≤ z² Var(q̄ | p), from mean and variance of the synthesizer's rows; for "
        "the Beta-binomial and the mean plug-in E[q̄ | p] = (np + α)/(n + α + β)",
        source="Wilson (1927), with the release's own mean and variance; Kao & Reiter (2025) on noise-aware rules",
        table=score_ends, closed_form_for=(BetaBinomial, PlugIn), short_form_for=(NoiseSanitizer,),
    ),
    NoiseAwareRule(
        key="posterior", label="Posterior given the sum", abbreviation="posterior",
        method_phrase="from the posterior given the sum",
        formula="quantiles (1 ± level)/2 of p given S = Σ x̃, uniform prior; for one set, and for plug-ins, those "
        "given all counts",
        source="Charest (2011), §4, for the model",
        table=_from_sums(posterior_ends), estimates=posterior_means,
    ),
    NoiseAwareRule(
        key="clopper_pearson", label="Equal tails, exact (Clopper & Pearson's)", abbreviation="equal tails",
        method_phrase="by exact equal tails",
        formula="all p with Pr(S' ≥ S | p) and Pr(S' ≤ S | p) above (1 − level)/2; holds its level at every p",
        source="Clopper & Pearson (1934), for the distribution of S; Awan & Slavković (2020) for optimal tests",
        table=_from_sums(equal_tailed_ends),
    ),
    NoiseAwareRule(
        key="blaker_2000", label="Ordered tails, exact (Blaker's)", abbreviation="Blaker",
        method_phrase="by exact ordered tails",
        formula="hull of all p with Pr(t(S') ≤ t(S) | p) > 1 − level, t(S) the smaller tail of S under p, or "
        "more where that is no interval; holds its level at every p, inside the equal tails",
        source="Blaker (2000), for the distribution of S; Sterne (1954) orders by the probability of S",
        table=_from_sums(blaker_ends),
    ),
)
# fmt: on
NOISE_AWARE_RULES = {rule.key: rule for rule in _RULES}
"""Every rule that knows how the sets were made, by its key, in the order in which readers see them."""
