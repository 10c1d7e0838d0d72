"""The prior that M independent synthetic sets of the same data need for one total promise, each way to compose them."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial

import numpy as np
from scipy.optimize import brentq, minimize_scalar
from scipy.special import digamma, polygamma

from dpviz.parameters import DELTA, EPSILON, readable
from dpviz.priors.exact import minimum_prior
from dpviz.priors.posterior_parameter import MANY_ROWS, _log_peak
from dpviz.priors.releases import MANY_SYNTHETIC_ROWS, ManyBetaBinomial, check_method
from dpviz.privacy.composition import (
    LARGEST_GRID,
    LARGEST_TILT,
    ROUNDING,
    SETS,
    Bracket,
    DiscreteLosses,
    Losses,
    LossGrid,
    advanced_composition,
    composed_delta,
    split_shares,
)
from dpviz.types import FloatArray

COARSE, FIRST, FINEST = 0.03, 0.01, 3e-5
"""Resolutions of a look, of the first solution and, times √M, of the finest."""

TOLERANCE = 1e-6
"""Relative width of a calibrated prior's bracket that is aimed at."""

MOST_FINE = 120
"""Blocks looked at closely before blocks are allowed to be wider."""

GAUSS_NODES, GAUSS_WEIGHTS = (part / 2 for part in np.polynomial.legendre.leggauss(3))


@dataclass(frozen=True)
class SetPriors:
    """The least symmetric prior for M sets under one total promise, by four ways to count what they cost.

    Parameters
    ----------
    pure
        Each set ε/M, without δ: the papers' rule. Infinite for PARAM_Post.
    split
        Each set (ε/M, δ/M), by basic composition.
    advanced, slack
        Each set (ε0, δ0) by advanced composition with the best slack δ'; None where δ = 0, for then it says nothing.
    exact
        The sum of M losses itself: `upper` is private for sure, `lower` is not.
    """

    pure: float
    split: float
    advanced: float | None
    slack: float | None
    exact: Bracket


def minimum_prior_for_sets(method: str, *, n: int, m: int, sets: int, epsilon: float, delta: float) -> SetPriors:
    """The least prior α = β with which M synthetic sets together are (ε, δ)-differentially private.

    Pure: SYNTH_Post(One) m / (e^{ε/M} − 1), SYNTH_Post(Many) 1 / (e^{ε/(Mm)} − 1), SYNTH_MAP 1 more. Exact: the largest
    δ_M(ε; α) over all n pairs of neighbours is δ. M sets of a plug-in are one set of Mm rows, exactly.

    Parameters
    ----------
    method
        ``synth_post_one``, ``synth_post_many``, ``synth_map`` or ``param_post``, which has no use for m.
    n, m
        Confidential rows and rows of a set, 1 to 100,000; for the plug-ins Mm is at most 100,000.
    sets
        M, 1 to 1,000, drawn independently from the same data.
    epsilon
        Total ε, M · 1e-6 to 1000; neighbours are substitution.
    delta
        Total δ, 0 ≤ δ < 1. With δ = 0 all exact answers are the pure one.

    Returns
    -------
    SetPriors
        `exact` is usually 1e-6 wide, relative.

    Source: Zheng (2015), Theorems 2.17 and 2.18; Charest (2011) for ε/M each.

    Examples
    --------
    One row and two sets of one draw: each has odds 1 + 1/α at most, together 4 where α = 1.

    >>> found = minimum_prior_for_sets("synth_post_one", n=1, m=1, sets=2, epsilon=math.log(4), delta=0.0)
    >>> round(found.pure, 9), round(found.exact.upper, 9)
    (1.0, 1.0)
    """
    check_method(method)
    MANY_ROWS.check(n)
    MANY_SYNTHETIC_ROWS.check(m)
    sets, epsilon, delta = int(SETS.check(sets)), EPSILON.check(epsilon), DELTA.check(delta)
    if epsilon / sets < EPSILON.minimum:
        raise ValueError(f"epsilon must be at least {readable(EPSILON.minimum)} for each set; got {readable(epsilon)}.")

    def single(share: float, failure: float, rows: int = m) -> float:
        return minimum_prior(method, n=n, m=rows, epsilon=share, delta=failure)

    pure, alone = single(epsilon / sets, 0.0), single(epsilon, delta)
    if delta == 0:
        return SetPriors(pure, pure, None, None, Bracket(pure, pure))
    split = single(epsilon / sets, delta / sets)
    advanced, slack = _advanced(single, sets, epsilon, delta)
    if method in ("synth_post_many", "synth_map"):
        exact = _single_bracket(single(epsilon, delta, sets * m))
    elif sets == 1:
        exact = _single_bracket(split)
    else:
        pair: Callable[[float, float], Losses] = (
            BetaLosses if method == "param_post" else lambda x, y: beta_binomial_pair(x, y, m)
        )
        search = _Search(pair, n, sets, epsilon, delta, alone, min(pure, split, advanced))
        exact = search.bracket()
    return SetPriors(pure, split, advanced, slack, exact)


def ways_by_sets(
    method: str, *, n: int, m: int, epsilon: float, delta: float, counts: Sequence[int]
) -> tuple[FloatArray, FloatArray, FloatArray]:
    """The priors `pure`, `split` and `advanced` of `minimum_prior_for_sets` for several numbers of sets.

    Parameters
    ----------
    method, n, m, epsilon, delta
        As in `minimum_prior_for_sets`; δ above 0.
    counts
        Numbers of sets M.

    Returns
    -------
    tuple of ndarray
        One array for each way, in the order of `counts`.

    Examples
    --------
    >>> pure, _, _ = ways_by_sets("synth_post_one", n=1, m=1, epsilon=math.log(4), delta=0.1, counts=[1, 2])
    >>> pure.round(6).tolist()  # 1 / 3 and 1 / (2 − 1)
    [0.333333, 1.0]
    """

    def single(share: float, failure: float) -> float:
        return minimum_prior(method, n=n, m=m, epsilon=share, delta=failure)

    pure = np.array([single(epsilon / count, 0.0) for count in counts])
    split = np.array([single(epsilon / count, delta / count) for count in counts])
    advanced = np.array([_advanced(single, count, epsilon, delta)[0] for count in counts])
    return pure, split, advanced


def _single_bracket(prior: float) -> Bracket:
    """What `minimum_prior` promises of its answer."""
    return Bracket(prior * (1 - 1e-6), prior)


def _advanced(single: Callable[[float, float], float], sets: int, epsilon: float, delta: float) -> tuple[float, float]:
    """The least prior by advanced composition, and its slack δ' = δ / (1 + e^{−t}) for the best t; δ0 = 0 at ∞."""

    def total(each: float, slack: float) -> float:
        return advanced_composition(each, 0.0, sets, slack)[0]

    def at(t: float) -> tuple[float, float]:
        slack, share = delta / (1 + math.exp(-t)), delta / (1 + math.exp(t)) / sets if t < math.inf else 0.0
        limit = epsilon / math.sqrt(-2 * sets * math.log(slack))
        each = float(brentq(lambda e: total(e, slack) - epsilon, 0.0, limit, xtol=1e-13 * limit, rtol=1e-13))
        step = 1e-15
        while total(each, slack) > epsilon:
            each, step = each * (1 - step), 2 * step
        return single(each, share) if each >= EPSILON.minimum else math.inf, slack

    best = minimize_scalar(
        lambda t: math.log(min(at(t)[0], 1e300)), bounds=(-8.0, 8.0), method="bounded", options={"xatol": 1e-2}
    )
    return min(at(float(best.x)), at(math.inf))


@dataclass(frozen=True)
class _Search:
    """The least α in [`low`, `high`] at which no pair of neighbours exceeds δ; `high` is private, less than `low` not.

    A block (a, b) of pairs stands for shared rows α + a and α + n − 1 − b, whose δ_M no pair a ≤ i ≤ b exceeds: more
    prior is never less private (`dpviz.synthesizers.prior`), and post-processing each of M sets post-processes all.
    The two directions of a pair are the pairs i and n − 1 − i, as the prior is symmetric.
    """

    pair: Callable[[float, float], Losses]
    n: int
    sets: int
    epsilon: float
    delta: float
    low: float
    high: float

    def at(self, alpha: float, block: tuple[int, int], resolution: float) -> Bracket:
        """Bounds on δ_M of the block's pair."""
        losses = self.pair(alpha + block[0], alpha + (self.n - 1 - block[1]))
        return composed_delta(losses, self.sets, self.epsilon, resolution)

    def bracket(self) -> Bracket:
        """Calibrate on the worst block known, then look for worse ones."""
        if not self.low < self.high < math.inf:
            return Bracket(self.low, self.high)
        guesses = sorted({0, (self.n - 1) // 2, self.n - 1})
        middle = math.sqrt(self.low * self.high)
        worst = max(guesses, key=lambda i: self.at(middle, (i, i), COARSE).upper)
        block: tuple[int, int] | None = (worst, worst)
        known: list[tuple[int, int]] = []
        lower, upper, width = self.low, self.low, 0
        while block is not None and upper < self.high:
            known.append(block)
            no, yes, resolution = self._calibrated(block, upper)
            lower, upper = max(lower, no), min(max(upper, yes * (1 + TOLERANCE / 4)), self.high)
            block, width = self._exceeding(upper, known, resolution, width)
        return Bracket(lower if lower > self.low else lower * (1 - 1e-6), upper)

    def _calibrated(self, block: tuple[int, int], low: float) -> tuple[float, float, float]:
        """A prior where the block's first pair is not private, one where the block is private, and the resolution."""
        target, floor, finest = math.log(self.delta), math.log(self.low), FINEST * math.sqrt(self.sets)
        bottom, top = math.log(low), math.log(self.high)

        def excess(t: float, resolution: float) -> float:
            return _log(self.at(math.exp(t), block, resolution).upper) - target

        def shortfall(t: float, resolution: float) -> float:
            return _log(self.at(math.exp(t), (block[0], block[0]), resolution).lower) - target

        t = _root(partial(excess, resolution=COARSE), bottom, top, top, 0.5, 1e-4)
        slope = max((excess(t - 0.01, COARSE) - excess(t + 0.01, COARSE)) / 0.02, 0.01)
        look = self.at(math.exp(t), block, FIRST)
        width = max(1 - look.lower / look.upper, 1e-12) if look.upper > 0 else 1.0
        resolution = min(max(FIRST * math.sqrt(TOLERANCE / 2 * slope / width), finest), FIRST)
        while True:
            for _ in range(4):
                move = excess(t, resolution) / slope
                t = min(max(t + move, bottom), top)
                if abs(move) < TOLERANCE / 2:
                    break
            else:
                t = _root(partial(excess, resolution=resolution), bottom, top, t, 1e-4, TOLERANCE / 10)
            yes, step = min(t + TOLERANCE / 10, top), TOLERANCE / 4
            while yes < top and excess(yes, resolution) > 0:
                yes, step = min(yes + step, top), 2 * step
            no = min(yes + shortfall(yes, resolution) / slope - TOLERANCE / 10, yes)
            step = TOLERANCE / 4
            while no > floor and shortfall(no, resolution) <= 0:
                no, step = no - step, 2 * step
            for _ in range(8):
                middle = (yes + no) / 2
                if yes - no < 2 * TOLERANCE:
                    break
                if shortfall(middle, resolution) > 0:
                    no = middle
                elif excess(middle, resolution) <= 0:
                    yes = middle
                else:
                    break
            if yes - no < 10 * TOLERANCE or resolution == finest:
                return math.exp(max(no, floor)), min(math.exp(yes), self.high), resolution
            resolution = max(resolution / 4, finest)

    def _exceeding(
        self, alpha: float, known: list[tuple[int, int]], resolution: float, width: int
    ) -> tuple[tuple[int, int] | None, int]:
        """The worst block of pairs, outside the known ones, that is not shown to be private with the prior α.

        Blocks are split until i differs by at most `width` in them, which is returned too, raised where too many tie.
        """
        width = max(width, math.floor(2 * TOLERANCE * alpha))
        while True:
            looks, worst, value = 0, None, self.delta
            blocks = [(0, self.n - 1)]
            while blocks and looks <= MOST_FINE:
                first, last = blocks.pop()
                if any(a <= first and last <= b for a, b in known):
                    continue
                if self.at(alpha, (first, last), COARSE).upper <= self.delta:
                    continue
                if last - first > width:
                    middle = (first + last) // 2
                    blocks += [(first, middle), (middle + 1, last)]
                    continue
                looks += 1
                found = self.at(alpha, (first, last), resolution).upper
                if found > value:
                    worst, value = (first, last), found
            if not blocks:
                return worst, width
            width = 2 * width + 1


def _log(value: float) -> float:
    return math.log(value) if value > 0 else -1e3


def _root(
    excess: Callable[[float], float], low: float, high: float, start: float, step: float, tolerance: float
) -> float:
    """A root of a falling function in [low, high], or the end beyond which it lies, looked for from `start` on."""
    left = right = start
    if excess(start) > 0:
        while right < high and excess(right) > 0:
            left, right, step = right, min(right + step, high), 2 * step
    else:
        while left > low and excess(left) <= 0:
            left, right, step = max(left - step, low), left, 2 * step
    if (excess(left) > 0) == (excess(right) > 0):
        return left if left == low else right
    return float(brentq(excess, left, right, xtol=tolerance))


class BetaLosses(Losses):
    """The loss of θ ~ Beta(x + 1, y) against Beta(x, y + 1): L = ln(θ / (1 − θ)) + ln(y / x), not bounded.

    Tilted by λ < y, θ is Beta(A, B) with A = x + 1 + λ, B = y − λ, and L has a log-concave density with the mode
    ln(A / B) + ln(y / x). The mass of a grid cell is integrated by Gauss' rule with three points. Its error follows
    from the density's size on a disc around the cell (Trefethen, 2008, Theorem 4.5) and counts as mass astray.

    Parameters
    ----------
    x, y
        Rows and pseudo-rows that both tables share, positive.
    """

    largest = math.inf

    def __init__(self, x: float, y: float) -> None:
        self.x, self.y = x, y
        self._shift = math.log(y / x)

    def cumulants(self, tilt: float) -> tuple[float, float, float]:
        ones, a, b = self.x + 1, self.x + 1 + tilt, self.y - tilt
        value = ones * math.log1p(tilt / ones) + self.y * math.log1p(-tilt / self.y) + tilt * math.log(a / b)
        value += tilt * self._shift + _log_peak_density(ones, self.y) - _log_peak_density(a, b)
        return value, float(digamma(a) - digamma(b)) + self._shift, float(polygamma(1, a) + polygamma(1, b))

    def _tilt_limit(self, tilt: float) -> float:
        return min(tilt, self.y * (1 - 1e-6))

    def grid(self, spacing: float, tilt: float = 0.0, log_negligible: float = -80.0) -> LossGrid:
        tilt = min(tilt, LARGEST_TILT / spacing)
        ones, a, b = self.x + 1, self.x + 1 + tilt, self.y - tilt
        mode = math.log(a / b) + self._shift
        reach, below = _tail(b, a, -42.0)
        low = mode - reach
        reach, beyond = _tail(ones, self.y, log_negligible)
        high = math.log(ones / self.y) + self._shift + reach
        spacing = max(spacing, (high - low) / LARGEST_GRID)
        cells, log_peak = math.ceil((high - low) / spacing), _log_peak_density(a, b)
        rest = spacing * (0.5 + GAUSS_NODES)
        with np.errstate(under="ignore"):
            density = np.exp(log_peak - _depth(a, b, (low - mode) + spacing * np.arange(cells)[:, None] + rest))
            to_lower, to_upper = (
                np.einsum("ij,j->i", density, spacing * GAUSS_WEIGHTS * share)
                for share in split_shares(rest, spacing, tilt)
            )
        disc = 4 / (spacing * (math.sqrt(a + b) / 2 + tilt + 2))
        quadrature = 20 * (high - low) * math.exp(log_peak) * disc**-5 if disc > 4 else 1.0
        return LossGrid.from_cells(
            low,
            spacing,
            tilt,
            to_lower,
            to_upper,
            log_unit=self.cumulants(tilt)[0],
            beyond=beyond,
            astray=min(below + quadrature, 1.0),
            mass_error=ROUNDING * (30 + float(_depth(a, b, np.array(low - mode))) + a * (b / (a + b)) * (high - low)),
        )


def beta_binomial_pair(x: float, y: float, m: int) -> DiscreteLosses:
    """The losses of BetaBinomial(m; x + 1, y) against BetaBinomial(m; x, y + 1).

    L(j) = ln(1 + j / x) − ln(1 + (m − j) / y). Every pair of neighbours of a Beta-binomial release is one of these.

    Parameters
    ----------
    x, y
        Rows and pseudo-rows that both tables share, 1e-300 to 1e12.
    m
        Synthetic rows of a set, 1 to 100,000.

    Examples
    --------
    >>> pair = beta_binomial_pair(1.0, 1.0, 1)
    >>> np.exp(pair.losses).round(9).tolist(), np.exp(pair.log_masses).round(6).tolist()
    ([0.5, 2.0], [0.333333, 0.666667])
    """
    release = ManyBetaBinomial(n=1, m=m, alpha=x, beta=y)
    j = np.arange(release.m + 1)
    return DiscreteLosses(
        np.log1p(j / release.alpha) - np.log1p((release.m - j) / release.beta),
        release.log_transition(np.array([1]), j)[0],
    )


def beta_pair(x: float, y: float) -> BetaLosses:
    """The losses of Beta(x + 1, y) against Beta(x, y + 1): a pair of neighbours of PARAM_Post.

    Parameters
    ----------
    x, y
        Rows and pseudo-rows that both tables share, positive.

    Examples
    --------
    Densities 2θ and 2(1 − θ) are ∫ (4θ − 2) over θ > 1/2 apart, which is 1/2.

    >>> found = composed_delta(beta_pair(1.0, 1.0), 1, 0.0)
    >>> found.lower <= 0.5 <= found.upper, round(found.upper, 5)
    (True, 0.5)
    """
    if not (0 < x < math.inf and 0 < y < math.inf):
        raise ValueError(f"x and y must be positive numbers; got {x!r} and {y!r}.")
    return BetaLosses(x, y)


def _log_peak_density(a: float, b: float) -> float:
    """ln of the largest density of the logit of Beta(a, b), at logit ln(a / b)."""
    return float(_log_peak(np.array(a), np.array(b))) + math.log(a * (b / (a + b)))


def _depth(a: float, b: float, away: FloatArray) -> FloatArray:
    """ln of the largest density of the logit of Beta(a, b) over that at `away` from the mode; convex, 0 at 0."""
    with np.errstate(over="ignore"):
        return a * np.log1p(b / (a + b) * np.expm1(-away)) + b * np.log1p(a / (a + b) * np.expm1(away))


def _tail(a: float, b: float, log_mass: float) -> tuple[float, float]:
    """How far above the mode the logit of Beta(a, b) has a tail of at most e^`log_mass`, and a bound on that tail.

    Beyond the point where a log-concave density falls at the relative rate r there is at most 1 / r times its value.
    """
    peak = _log_peak_density(a, b)

    def log_tail(away: float) -> float:
        rate = a * (b / (a + b * math.exp(-away))) * -math.expm1(-away)
        return peak - float(_depth(a, b, np.array(away))) - math.log(rate)

    near, far = 0.0, 1 / math.sqrt(a * (b / (a + b)))
    while log_tail(far) > log_mass:
        near, far = far, 2 * far
    if near > 0:
        far = float(brentq(lambda away: log_tail(away) - log_mass, near, far, rtol=1e-3))
    return far, math.exp(log_tail(far))
