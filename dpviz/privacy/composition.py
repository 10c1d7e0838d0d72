"""The exact privacy of M independent releases of the same data: the sum of M privacy losses, between two bounds."""

from __future__ import annotations

import itertools
import math
from abc import ABC, abstractmethod
from dataclasses import dataclass, field
from functools import lru_cache
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.fft import irfft, next_fast_len, rfft
from scipy.optimize import brentq

from dpviz.parameters import DELTA, Parameter
from dpviz.privacy.log_odds import check_epsilon
from dpviz.types import FloatArray, IntArray

ComplexArray = NDArray[np.complexfloating[Any]]

SETS = Parameter(
    name="sets",
    symbol="M",
    title="Synthetic sets",
    minimum=1,
    maximum=1000,
    default=5,
    slider_maximum=100,
    integer=True,
    scale="log",
    private_end="smaller",
    help="The number of synthetic sets, drawn independently from the same confidential data. Each costs privacy.",
)

ENUMERATED = 20_000
"""Most multisets of outcomes that are added up one by one; beyond, losses go on a grid."""

ROUNDING = 1e-15
"""Relative error of one loss, and of one mass for each unit of its logarithm: several roundings of 1.1e-16."""

FFT_ROUNDING = 3e-15
"""Error of a transform relative to its Euclidean norm, for each doubling of its length: four times what Higham
(2002), Theorem 24.2, proves for radix 2."""

NEGLIGIBLE = 1e-17
"""Share of the tilted mass that may be cut off an end of a grid, or fall outside the window that holds a sum."""

LARGEST_TILT = 100.0
"""Largest λh, so that a tilted split does not overflow."""

TINY = 1e-60
"""Variance of a loss below which it has a single value."""

LARGEST_GRID = 1 << 20
"""Most grid points of one loss; the spacing is never finer than that."""


@dataclass(frozen=True)
class Bracket:
    """Two numbers that a quantity is known to lie between."""

    lower: float
    upper: float


@dataclass(frozen=True)
class LossGrid:
    """A privacy loss on an even grid, each outcome split between the two points beside it, and what its sums tell.

    Write the loss as L = g + s with grid points g and g + h. A split that keeps the mass under P and under Q gives
    g + h the share (1 − e^{−s}) / (1 − e^{−h}). With L̂ the loss after the split, V = e^{L − L̂} then has mean 1 and
    variance (e^s − 1)(1 − e^{s−h}) ≤ sinh²(h/2). For M sets S = ΣL, Ŝ = ΣL̂, and given S the product V of the M
    factors has mean 1 and variance at most v² = cosh(h/2)^{2M} − 1.

    Upper bound. (1 − e^{ε−S} V)_+ is convex in V, so by Jensen's inequality its mean is at least (1 − e^{ε−S})_+:
    δ_M(ε) ≤ E (1 − e^{ε−Ŝ})_+.

    Lower bound. The excess, given S, is 0 if |S − ε| ≥ Mh, since both points of every split are less than h away.
    Otherwise it is E (e^{ε−S} V − 1)_+ if S ≥ ε and E (1 − e^{ε−S} V)_+ if S < ε. As E (X − d)_+ ≤ (√(v² + d²) − d) / 2
    for X of mean 0 and variance v² (Scarf), both are at most e^{Mh} g(|S − ε|) with g(r) = (√(v² + D²) − D) / 2,
    D = 1 − e^{−r}, and g = 0 from Mh on. By Chebyshev |Ŝ − S| = |ln V| ≤ τ = −ln(1 − 2v) with probability at least
    3/4; g never rises, so that E g(|S − ε|) ≤ 4/3 E g((|Ŝ − ε| − τ)_+). The gap is O(h²).

    Parameters
    ----------
    first, spacing
        The lowest grid point, and h.
    tilt
        λ ≥ 0: masses are kept times e^{λ loss}, so that those that decide δ are the large ones, however small δ is.
    log_scale
        ln of the finite mass times e^{λ loss}, summed over the grid.
    masses
        Share of each grid point in that sum.
    infinite
        Mass under P of an infinite loss.
    beyond
        Bound on the mass under P of losses above the grid; the upper bound takes them for infinite, the lower for −∞.
    astray
        Bound on the share of the tilted mass that is not where it should be.
    mass_error, loss_error
        Bounds on the relative rounding error of masses and the absolute one of losses.

    Source: Doroshenko, Ghazi, Kamath, Kumar & Manurangsi (2022), "Connect the dots", for the split and upper bound.
    """

    first: float
    spacing: float
    tilt: float
    log_scale: float
    masses: FloatArray = field(repr=False)
    infinite: float = 0.0
    beyond: float = 0.0
    astray: float = 0.0
    mass_error: float = 0.0
    loss_error: float = 0.0

    @classmethod
    def from_outcomes(
        cls,
        losses: FloatArray,
        log_masses: FloatArray,
        spacing: float,
        tilt: float = 0.0,
        *,
        first: float | None = None,
        infinite: float = 0.0,
    ) -> LossGrid:
        """Finite outcomes split between the grid points beside them.

        Parameters
        ----------
        losses, log_masses
            L of each outcome and ln of its probability under P.
        spacing, tilt
            h and λ.
        first
            A grid point below all losses; where it is left out the largest loss lies on the grid itself.
        infinite
            As in the class.

        Examples
        --------
        Loss 0 between −ln 2 and ln 2 keeps its masses: 1/3 + 2/3 under P, 1/3 · 2 + 2/3 · 1/2 under Q.

        >>> law = LossGrid.from_outcomes(np.zeros(1), np.zeros(1), 2 * math.log(2), first=-math.log(2))
        >>> law.masses.round(9).tolist()
        [0.333333333, 0.666666667]
        """
        if first is None:
            top, bottom = float(losses.max()), float(losses.min())
            spacing = max(spacing, (top - bottom) / LARGEST_GRID)
            first = top - spacing * math.ceil((top - bottom) / spacing)
        tilt = min(tilt, LARGEST_TILT / spacing)
        place = (losses - first) / spacing
        cell = np.maximum(np.floor(place), 0.0)
        rest = np.clip(place - cell, 0.0, 1.0) * spacing
        exponents = log_masses + tilt * losses
        top = float(exponents.max())
        with np.errstate(under="ignore"):
            tilted = np.exp(exponents - top)
            index, size = cell.astype(np.int64), int(cell.max()) + 1
            below, above = split_shares(rest, spacing, tilt)
            to_lower = np.bincount(index, tilted * below, size).astype(float)
            to_upper = np.bincount(index, tilted * above, size).astype(float)
        return cls.from_cells(
            first,
            spacing,
            tilt,
            to_lower,
            to_upper,
            log_unit=top,
            infinite=infinite,
            mass_error=_mass_error(log_masses[tilted > NEGLIGIBLE]),
        )

    @classmethod
    def from_cells(
        cls,
        first: float,
        spacing: float,
        tilt: float,
        to_lower: FloatArray,
        to_upper: FloatArray,
        *,
        log_unit: float,
        infinite: float = 0.0,
        beyond: float = 0.0,
        astray: float = 0.0,
        mass_error: float = 0.0,
    ) -> LossGrid:
        """Cells between grid points whose tilted mass is split already; ends of negligible tilted mass are cut off.

        Parameters
        ----------
        first, spacing, tilt
            The lowest grid point, h and λ.
        to_lower, to_upper
            Tilted mass of each cell for the grid point below it and above it, by `split_shares`.
        log_unit
            ln of the unit in which those are given.
        infinite, beyond, astray, mass_error
            As in the class.
        """
        masses = np.zeros(len(to_lower) + 1)
        masses[:-1] = to_lower
        masses[1:] += to_upper
        sums = np.cumsum(masses)
        total = float(sums[-1])
        low = int(np.searchsorted(sums, NEGLIGIBLE * total))
        high = len(masses) - int(np.searchsorted(np.cumsum(masses[::-1]), NEGLIGIBLE * total))
        farthest = max(abs(first), abs(first + spacing * len(to_lower)))
        return cls(
            first=first + low * spacing,
            spacing=spacing,
            tilt=tilt,
            log_scale=log_unit + math.log(total),
            masses=masses[low:high] / total,
            infinite=infinite,
            beyond=beyond,
            astray=min(astray + 2 * NEGLIGIBLE, 1.0),
            mass_error=mass_error + ROUNDING * (1 + tilt) * farthest,
            loss_error=2 * ROUNDING * farthest,
        )

    def composed_delta(self, sets: int, epsilon: float) -> Bracket:
        """δ of `sets` independent losses at ε: never above `upper`, never below `lower`."""
        h, tilt, reach = self.spacing, self.tilt, sets * self.spacing
        spread = math.sqrt(math.expm1(2 * sets * math.log1p(2 * math.sinh(h / 4) ** 2))) if reach < 300 else math.inf
        slack = -math.log1p(-2 * spread) if spread < 0.5 else math.inf
        bounded = tilt * (reach + slack) < 300
        margin = reach + slack if bounded else h
        origin = sets * self.first - epsilon
        start, shares, error, astray = self._sum(sets, math.floor((-margin - origin) / h) - 1)
        above = origin + h * (start + np.arange(len(shares)))  # Ŝ − ε
        over, rounded = (int(np.searchsorted(above, edge)) for edge in (0.0, -h))
        weights = np.exp(-tilt * above)

        def mean(values: FloatArray, part: slice, largest: float) -> tuple[float, float]:
            values = values * weights[part]
            return _dot(shares[part], values), error * math.sqrt(_dot(values, values)) + astray * largest

        value, uncertain = mean(-np.expm1(-above[over:]), slice(over, None), 1 / (1 + tilt))
        tail = sum(mean(np.ones(len(above) - rounded), slice(rounded, None), math.exp(tilt * h)))
        uncertain += sets * self.loss_error * tail
        gap = math.inf
        if bounded:
            near = slice(*np.searchsorted(above, [-margin, margin]))
            distance = -np.expm1(-np.maximum(np.abs(above[near]) - slack, 0.0))
            excess = (np.sqrt(spread**2 + distance**2) - distance) / 2
            gap = 4 / 3 * math.exp(reach) * sum(mean(excess, near, math.exp(tilt * margin) * spread / 2))
        scale, relative = math.exp(sets * self.log_scale - tilt * epsilon), 1 + sets * self.mass_error
        lower = scale * max(value - uncertain - gap, 0.0) / relative
        upper = scale * (value + uncertain) * relative
        return Bracket(
            min(lower - math.expm1(sets * math.log1p(-self.infinite)), 1.0),
            min(upper - math.expm1(sets * math.log1p(-min(self.infinite + self.beyond, 1.0))), 1.0),
        )

    def _sum(self, sets: int, lowest: int) -> tuple[int, FloatArray, float, float]:
        """Grid index of the first sum kept, shares of the sums from there on, their ℓ₂ error, and the share astray.

        Rounding: with F the transform, ‖F̂p − Fp‖ ≤ η ‖Fp‖ and |Fp| ≤ 1, so the powers are off by at most M η ‖Fp‖,
        and η more going back: (M + 1) η ‖p‖ in all. Sums outside the window wrap around; Chernoff bounds them. Sums
        below the index `lowest` are not asked for.
        """
        p = self.masses
        moved = math.expm1(sets * math.log1p(self.astray))
        if sets == 1:
            start = min(max(lowest, 0), len(p))
            return start, p[start:], 0.0, moved
        first, size, outside = 0, sets * (len(p) - 1) + 1, 0.0
        away = np.arange(float(len(p)))
        away -= _dot(p, away)
        deviation, reach = math.sqrt(sets * _dot(p, away**2)) + 1.0, 9.5
        while 2 * reach * deviation + 2 < size:
            rate = reach / deviation
            if rate * float(np.abs(away).max()) < 700:
                growth = sets * math.log(max(_dot(p, np.exp(sign * rate * away)) for sign in (1, -1)))
                if growth - reach**2 < math.log(NEGLIGIBLE):
                    first = math.floor(sets * (len(p) - 1 - float(away[-1])) - reach * deviation)
                    size, outside = math.ceil(2 * reach * deviation) + 2, 2 * NEGLIGIBLE
            reach *= 1.3
        length = next_fast_len(size, real=True)
        wrapped = p if len(p) <= length else np.bincount(np.arange(len(p)) % length, p, length)
        shares = irfft(_power(rfft(wrapped, length), sets), length)
        start, stop = max(first, lowest), first + size
        kept = np.maximum(shares[np.arange(start, stop) % length], 0.0)
        error = FFT_ROUNDING * math.log2(length) * (sets + 1) * math.sqrt(_dot(p, p))
        return start, kept, error, moved + outside


class Losses(ABC):
    """The privacy loss L = ln(P / Q) of one release under P, ready to be put on a grid."""

    largest: float

    @abstractmethod
    def cumulants(self, tilt: float) -> tuple[float, float, float]:
        """K(λ) = ln E e^{λL} over the finite losses, and its first two derivatives."""

    @abstractmethod
    def grid(self, spacing: float, tilt: float = 0.0, log_negligible: float = -80.0) -> LossGrid:
        """The loss on a grid; what is cut off above has probability at most e^`log_negligible`."""

    def enumerated_delta(self, sets: int, epsilon: float) -> Bracket | None:  # noqa: ARG002
        """δ without a grid, where there are few outcomes."""
        return None

    def saddle_point(self, mean: float) -> float:
        """The tilt λ ≥ 0 at which the tilted mean loss is `mean`, roughly; 0 where it is larger already."""
        if self.cumulants(0.0)[1] >= mean:
            return 0.0
        low, high = 0.0, self._tilt_limit(1.0)
        while self.cumulants(high)[1] < mean and high < min(self._tilt_limit(math.inf), 1e12):
            low, high = high, self._tilt_limit(4 * high)
        if self.cumulants(high)[1] <= mean:
            return high
        return float(brentq(lambda tilt: self.cumulants(tilt)[1] - mean, low, high, rtol=1e-3))

    def _tilt_limit(self, tilt: float) -> float:
        """`tilt`, or the largest usable one."""
        return tilt


class DiscreteLosses(Losses):
    """A loss with finitely many values.

    Parameters
    ----------
    losses
        L of each outcome, at most +∞.
    log_masses
        ln of its probability under P, where that is not 0.

    Examples
    --------
    >>> DiscreteLosses(np.array([0.0, math.inf]), np.log([0.75, 0.25])).infinite
    0.25
    """

    def __init__(self, losses: FloatArray, log_masses: FloatArray) -> None:
        finite = np.isfinite(losses)
        self.losses, self.log_masses = losses[finite], log_masses[finite]
        self.infinite = float(np.exp(log_masses[~finite]).sum())
        self.largest = math.inf if self.infinite > 0 else float(losses.max())
        self._loss_error = ROUNDING * float(np.abs(self.losses).max())

    def cumulants(self, tilt: float) -> tuple[float, float, float]:
        exponents = self.log_masses + tilt * self.losses
        top = float(exponents.max())
        with np.errstate(under="ignore"):
            tilted = np.exp(exponents - top)
        total = float(tilted.sum())
        mean = _dot(tilted, self.losses) / total
        return top + math.log(total), mean, _dot(tilted, (self.losses - mean) ** 2) / total

    def grid(self, spacing: float, tilt: float = 0.0, log_negligible: float = -80.0) -> LossGrid:  # noqa: ARG002
        return LossGrid.from_outcomes(self.losses, self.log_masses, spacing, tilt, infinite=self.infinite)

    def enumerated_delta(self, sets: int, epsilon: float) -> Bracket | None:
        if math.comb(len(self.losses) + sets - 1, sets) > ENUMERATED:
            return None
        members, log_orders = _multisets(len(self.losses), sets)
        above = self.losses[members].sum(axis=1) - epsilon
        with np.errstate(under="ignore"):
            masses = np.exp(self.log_masses[members].sum(axis=1) + log_orders)
        error = sets * self._loss_error + ROUNDING * epsilon
        value = _dot(masses, -np.expm1(-np.maximum(above, 0.0)))
        uncertain = error * float(masses[above > -error].sum())
        relative = 1 + sets * _mass_error(self.log_masses) + ROUNDING * math.lgamma(sets + 2)
        infinite = -math.expm1(sets * math.log1p(-self.infinite))
        return Bracket(
            min(infinite + max(value - uncertain, 0.0) / relative, 1.0),
            min(infinite + (value + uncertain) * relative, 1.0),
        )


def composed_delta(losses: Losses, sets: int, epsilon: float, resolution: float = 1e-3) -> Bracket:
    """δ of M independent releases of the same data at a total ε, for the pair of neighbours with these losses.

    δ_M(ε) = E (1 − e^{ε − S})_+ with S the sum of M independent losses under P.

    Parameters
    ----------
    losses
        The loss of one set, such as `dpviz.priors.sets.beta_binomial_pair` makes.
    sets
        M, 1 to 1,000.
    epsilon
        Total ε ≥ 0.
    resolution
        Grid spacing times √M (λ + 1) + 1/σ, with λ the tilt at the saddle point and σ the tilted deviation of a loss;
        the bracket's relative width is about its square. Where there are at most 20,000 multisets of M outcomes they
        are added up without a grid.

    Returns
    -------
    Bracket
        δ_M(ε) lies between `lower` and `upper`, rounding included.

    Examples
    --------
    Randomised response that tells the truth with probability 3/4, twice: both answers are the likelier ones with
    probability 9/16, and odds of 9. At ε = ln 3 that is 9/16 (1 − 3/9).

    >>> answer = DiscreteLosses(np.log([3, 1 / 3]), np.log([0.75, 0.25]))
    >>> round(composed_delta(answer, 2, math.log(3)).upper, 9)
    0.375
    """
    sets = int(SETS.check(sets))
    epsilon = check_epsilon(epsilon)
    if not 0 < resolution <= 1:
        raise ValueError(f"resolution must be a number above 0, at most 1; got {resolution!r}.")
    if sets * losses.largest <= epsilon:
        return Bracket(0.0, 0.0)
    exact = losses.enumerated_delta(sets, epsilon)
    if exact is not None:
        return exact
    tilt = losses.saddle_point(epsilon / sets)
    log_scale, _, variance = losses.cumulants(tilt)
    spacing = resolution / (math.sqrt(sets) * (tilt + 1) + 1 / math.sqrt(max(variance, TINY)))
    log_negligible = sets * log_scale - tilt * epsilon - 36 - 2 * math.log1p(tilt)
    return losses.grid(spacing, tilt, log_negligible).composed_delta(sets, epsilon)


def basic_composition(epsilon: float, delta: float, sets: int) -> tuple[float, float]:
    """(Mε, Mδ), kept by M releases that are each (ε, δ)-differentially private.

    Source: Zheng (2015), Theorem 2.17.

    Examples
    --------
    >>> basic_composition(0.25, 0.125, 4)
    (1.0, 0.5)
    """
    sets, delta = int(SETS.check(sets)), DELTA.check(delta)
    return sets * check_epsilon(epsilon), min(sets * delta, 1.0)


def advanced_composition(epsilon: float, delta: float, sets: int, slack: float) -> tuple[float, float]:
    """(ε √(2M ln 1/δ') + Mε(e^ε − 1), Mδ + δ'), kept by M releases that are each (ε, δ)-differentially private.

    Parameters
    ----------
    epsilon, delta
        What each set keeps: ε ≥ 0, δ in [0, 1].
    sets
        M, 1 to 1,000.
    slack
        δ' in (0, 1].

    Source: Dwork, Rothblum & Vadhan (2010); Zheng (2015), Theorem 2.18.

    Examples
    --------
    >>> [round(part, 9) for part in advanced_composition(math.log(2), 0.0, 1, math.exp(-2))]
    [2.079441542, 0.135335283]
    """
    sets, delta, epsilon = int(SETS.check(sets)), DELTA.check(delta), check_epsilon(epsilon)
    if not 0 < slack <= 1:
        raise ValueError(f"slack must be a number above 0, at most 1; got {slack!r}.")
    growth = math.expm1(epsilon) if epsilon < 700 else math.inf
    total = epsilon * math.sqrt(-2 * sets * math.log(slack)) + (sets * epsilon * growth if epsilon > 0 else 0.0)
    return total, min(sets * delta + slack, 1.0)


def split_shares(rest: FloatArray, spacing: float, tilt: float) -> tuple[FloatArray, FloatArray]:
    """Shares of an outcome for the grid points `rest` below and h − `rest` above it, with the change of their tilt.

    (e^{−s} − e^{−h}) / (1 − e^{−h}) e^{−λs} and (1 − e^{−s}) / (1 − e^{−h}) e^{λ(h−s)}.

    Examples
    --------
    >>> [float(part) for part in split_shares(np.array(0.0), 1.0, 3.0)]
    [1.0, 0.0]
    """
    upper = np.expm1(-rest) / math.expm1(-spacing)
    return (1 - upper) * np.exp(-tilt * rest), upper * np.exp(tilt * (spacing - rest))


def _dot(first: FloatArray, second: FloatArray) -> float:
    """Σ first · second without BLAS, whose threads take longer to wake than these sums take."""
    return float(np.einsum("i,i->", first, second))


def _power(base: ComplexArray, exponent: int) -> ComplexArray:
    """Powers by repeated squaring, several times faster than NumPy's complex power."""
    if exponent == 1:
        return base
    root = _power(base, exponent // 2)
    return root * root * base if exponent % 2 else root * root


def _mass_error(log_masses: FloatArray) -> float:
    return ROUNDING * (30 + float(np.abs(log_masses).max()))


@lru_cache(maxsize=8)
def _multisets(outcomes: int, sets: int) -> tuple[IntArray, FloatArray]:
    """Every multiset of `sets` of the outcomes 0, 1, …, one a row, and ln of the number of its orders.

    Examples
    --------
    >>> members, log_orders = _multisets(2, 2)
    >>> members.tolist(), np.exp(log_orders).round(9).tolist()
    ([[0, 0], [0, 1], [1, 1]], [1.0, 2.0, 1.0])
    """
    count = math.comb(outcomes + sets - 1, sets)
    flat = itertools.chain.from_iterable(itertools.combinations_with_replacement(range(outcomes), sets))
    members = np.fromiter(flat, np.int64, count * sets).reshape(count, sets)
    log_orders, run = np.full(count, math.lgamma(sets + 1)), np.ones(count)
    for column in range(1, sets):
        run = np.where(members[:, column] == members[:, column - 1], run + 1, 1.0)
        log_orders -= np.log(run)
    return members, log_orders
