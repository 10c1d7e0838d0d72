"""A privacy loss on an even grid, what M independent copies of it add up to, and bounds on every error made."""

import math
from dataclasses import dataclass, field

import numpy as np
from scipy.fft import irfft, next_fast_len, rfft

from dpviz.core.numerics.ends import LARGEST_EXPONENT
from dpviz.core.numerics.sums import complex_power
from dpviz.core.types import FloatArray

# Relative error of one loss, and of one mass for each unit of its logarithm: several roundings of 1.1e-16.
LOSS_ROUNDING = 1e-15
# Error of a transform relative to its Euclidean norm, for each doubling of its length: four times what Higham (2002),
# Theorem 24.2, proves for radix 2.
FFT_ROUNDING = 3e-15
# Share of the tilted mass that may be cut off an end of a grid, or fall outside the window that holds a sum.
NEGLIGIBLE_MASS = 1e-17
# Share of the tilted mass left out of a sum, beside the square of the resolution, about which is the relative width;
# and the largest one.
LEFT_OUT, MOST_LEFT_OUT = 1e-4, 1e-9
SPREAD_IN_BLOCKS = 8  # Deviation of a sum, in blocks that one loss is taken in where only its tails are asked for
LARGEST_TILT = 100.0  # Largest λh, so that a tilted split does not overflow
LARGEST_GRID = 1 << 20  # Largest number of grid points of one loss; the spacing is never finer than that


@dataclass(frozen=True)
class DeltaBracket:
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
    Upper bound. (1 − e^{ε−S} V)_+ is convex in V, so by Jensen's inequality δ_M(ε) ≤ E (1 − e^{ε−Ŝ})_+.
    Lower bound. The excess, given S, is 0 if |S − ε| ≥ Mh. Otherwise it is E (e^{ε−S} V − 1)_+ if S ≥ ε and
    E (1 − e^{ε−S} V)_+ if S < ε, by Scarf's E (X − d)_+ ≤ (√(v² + d²) − d) / 2 at most e^{Mh} g(|S − ε|) with
    g(r) = (√(v² + D²) − D) / 2, D = 1 − e^{−r}. By Chebyshev |Ŝ − S| = |ln V| ≤ τ = −ln(1 − 2v) with probability at
    least 3/4; g never rises, so that E g(|S − ε|) ≤ 4/3 E g((|Ŝ − ε| − τ)_+). The gap is O(h²).
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
        cls, losses: FloatArray, log_masses: FloatArray, spacing: float, tilt: float, anchor: float | None = None
    ) -> "LossGrid":
        """Finite outcomes on a grid through `anchor`, or else the largest; those of negligible tilted mass are cut."""
        tilt, astray = min(tilt, LARGEST_TILT / spacing), 0.0
        exponents = log_masses + tilt * losses
        kept = exponents > float(exponents.max()) + math.log(NEGLIGIBLE_MASS / len(exponents))
        reach = float(losses[kept].max() - losses[kept].min()) / LARGEST_GRID
        if tilt * reach <= LARGEST_TILT:  # the share left out was found with the tilt that is used
            losses, log_masses, astray = losses[kept], log_masses[kept], NEGLIGIBLE_MASS
        top, bottom = float(losses.max()), float(losses.min())
        spacing = max(spacing, (top - bottom) / LARGEST_GRID)
        top = top if anchor is None else anchor
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
        error = mass_rounding(log_masses[tilted > NEGLIGIBLE_MASS])
        return cls.from_cells(first, spacing, tilt, to_lower, to_upper, log_unit=top, astray=astray, mass_error=error)

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
        astray: float = 0.0,
        mass_error: float = 0.0,
        **escaped: float,
    ) -> "LossGrid":
        """Cells between grid points with tilted masses already split (`split_shares`, in units of e^`log_unit`)."""
        masses = np.zeros(len(to_lower) + 1)
        masses[:-1] = to_lower
        masses[1:] += to_upper
        sums = np.cumsum(masses)
        total = float(sums[-1])
        low = int(np.searchsorted(sums, NEGLIGIBLE_MASS * total))
        high = len(masses) - int(np.searchsorted(np.cumsum(masses[::-1]), NEGLIGIBLE_MASS * total))
        farthest = max(abs(first), abs(first + spacing * len(to_lower)))
        return cls(
            first=first + low * spacing,
            spacing=spacing,
            tilt=tilt,
            log_scale=log_unit + math.log(total),
            masses=masses[low:high] / total,
            **escaped,
            astray=min(astray + 2 * NEGLIGIBLE_MASS, 1.0),
            mass_error=mass_error + LOSS_ROUNDING * (1 + tilt) * farthest,
            loss_error=2 * LOSS_ROUNDING * farthest,
        )

    def composed_delta(self, sets: int, epsilon: float, largest: float = math.inf) -> DeltaBracket:
        """δ of `sets` independent losses at ε: never above `upper`, never below `lower`.

        A ValueError says so where their sum would need a grid of more than `largest` points.
        """
        h, tilt, reach = self.spacing, self.tilt, sets * self.spacing
        spread = math.sqrt(math.expm1(2 * sets * math.log1p(2 * math.sinh(h / 4) ** 2))) if reach < 300 else math.inf
        slack = -math.log1p(-2 * spread) if spread < 0.5 else math.inf
        bounded = tilt * (reach + slack) < 300
        margin = reach + slack if bounded else h
        origin = sets * self.first - epsilon
        left_out = min(max(LEFT_OUT * sets * (h * (tilt + 1)) ** 2, NEGLIGIBLE_MASS), MOST_LEFT_OUT)
        cut = max(math.log((1 + tilt) / left_out) / tilt if tilt > 0 else math.inf, margin)
        highest = math.floor((cut - origin) / h) + 2 if cut < LARGEST_GRID * sets * h else None
        lowest = math.floor((-margin - origin) / h) - 1
        start, shares, error, astray = self._sum(sets, lowest, largest, highest=highest, negligible=left_out)
        beyond = math.exp(-tilt * cut) if highest is not None else 0.0  # what sums from there on count for, at most
        above = origin + h * (start + np.arange(len(shares)))  # Ŝ − ε
        over, rounded = (int(np.searchsorted(above, edge)) for edge in (0.0, -h))
        weights = np.exp(-tilt * above)

        def mean(values: FloatArray, part: slice, largest: float) -> tuple[float, float]:
            values = values * weights[part]
            return inner_product(shares[part], values), error * math.sqrt(
                inner_product(values, values)
            ) + astray * largest

        value, uncertain = mean(-np.expm1(-above[over:]), slice(over, None), 1 / (1 + tilt))
        tail = sum(mean(np.ones(len(above) - rounded), slice(rounded, None), math.exp(tilt * h))) + beyond
        uncertain += sets * self.loss_error * tail + beyond
        gap = math.inf
        if bounded:
            near = slice(*np.searchsorted(above, [-margin, margin]))
            distance = -np.expm1(-np.maximum(np.abs(above[near]) - slack, 0.0))
            excess = (np.sqrt(spread**2 + distance**2) - distance) / 2
            gap = 4 / 3 * math.exp(reach) * sum(mean(excess, near, math.exp(tilt * margin) * spread / 2))
        exponent, relative = sets * self.log_scale - tilt * epsilon, 1 + sets * self.mass_error
        if exponent > LARGEST_EXPONENT:  # the tilt is of no use here, and nothing below 1 is known
            return DeltaBracket(0.0, 1.0)
        scale = math.exp(exponent)
        lower = scale * max(value - uncertain - gap, 0.0) / relative
        upper = scale * (value + uncertain) * relative
        return DeltaBracket(
            min(lower - math.expm1(sets * math.log1p(-self.infinite)), 1.0),
            min(upper - math.expm1(sets * math.log1p(-min(self.infinite + self.beyond, 1.0))), 1.0),
        )

    def _sum(
        self,
        sets: int,
        lowest: int,
        largest: float = math.inf,
        *,
        highest: int | None = None,
        negligible: float = NEGLIGIBLE_MASS,
    ) -> tuple[int, FloatArray, float, float]:
        """Grid index of the first sum kept, shares of the sums, their ℓ₂ error, and the share astray.

        Kept are the sums from `lowest` to before `highest`; of the others about the share `negligible` may be astray.
        Rounding: with F the transform, ‖F̂p − Fp‖ ≤ η ‖Fp‖ and |Fp| ≤ 1, so the powers are off by at most M η ‖Fp‖,
        and η more going back: (M + 1) η ‖p‖ in all. Sums wrap around, but for those that Chernoff bounds only onto
        sums that are not kept.
        """
        p = self.masses
        moved = math.expm1(sets * math.log1p(self.astray))
        if sets == 1:
            start = min(max(lowest, 0), len(p))
            return start, p[start : highest if highest is None else max(highest, start)], 0.0, moved
        first, last, outside = self._nearly_all(sets, negligible)
        start, stop = max(first, lowest), last if highest is None else min(last, highest)
        size = max(last - start, stop - first, 1)
        if size > largest:
            raise ValueError(
                f"sets (released sets) must be fewer with this promise: the sum of their losses would need a grid of "
                f"{size:,} points, at most {largest:,.0f}; got {sets:,}."
            )
        length = next_fast_len(size, real=True)
        wrapped = p if len(p) <= length else np.bincount(np.arange(len(p)) % length, p, length).astype(float)
        shares = irfft(complex_power(rfft(wrapped, length), sets), length)
        begin, count = start % length, max(stop - start, 0)
        kept = shares[begin : begin + count]
        if begin + count > length:
            kept = np.append(kept, shares[: begin + count - length])
        error = FFT_ROUNDING * math.log2(length + 1) * (sets + 1) * math.sqrt(inner_product(wrapped, wrapped))
        return start, np.maximum(kept, 0.0), error, moved + outside

    def _nearly_all(self, sets: int, negligible: float) -> tuple[int, int, float]:
        """Grid indices between which (first, before last) all sums lie but for a share, and a bound on that share.

        A block of grid points counts as one of them in the bounds on the tails, the farthest.
        """
        p = self.masses
        first, last, outside = 0, sets * (len(p) - 1) + 1, 0.0
        away = np.arange(float(len(p)))
        away -= inner_product(p, away)
        deviation = math.sqrt(sets * inner_product(p, away**2)) + 1.0
        reach = 1.07 * math.sqrt(-2 * math.log(negligible))  # of a normal sum a little less is enough
        block = max(1, math.floor(deviation / (SPREAD_IN_BLOCKS * sets)))
        starts = np.arange(0, len(p), block)
        masses, places = np.add.reduceat(p, starts), away[starts]
        while 2 * reach * deviation + 2 < last - first:
            rate = reach / deviation
            if rate * float(np.abs(away[[0, -1]]).max()) < LARGEST_EXPONENT:
                up, down = (math.log(inner_product(masses, np.exp(sign * rate * places))) for sign in (1, -1))
                if sets * max(up + rate * (block - 1), down) - reach**2 < math.log(negligible):
                    first = math.floor(sets * (len(p) - 1 - float(away[-1])) - reach * deviation)
                    last, outside = first + math.ceil(2 * reach * deviation) + 2, 2 * negligible
                    break
            reach *= 1.2
        return first, last, outside


def split_shares(rest: FloatArray, spacing: float, tilt: float) -> tuple[FloatArray, FloatArray]:
    """Tilted shares (e^{−s} − e^{−h}) / (1 − e^{−h}) e^{−λs} and (1 − e^{−s}) / (1 − e^{−h}) e^{λ(h−s)}, s = `rest`."""
    upper = np.expm1(-rest) / math.expm1(-spacing)
    return (1 - upper) * np.exp(-tilt * rest), upper * np.exp(tilt * (spacing - rest))


def inner_product(first: FloatArray, second: FloatArray) -> float:
    """Σ first · second without BLAS, whose threads take longer to wake than these sums take."""
    return float(np.einsum("i,i->", first, second))


def mass_rounding(log_masses: FloatArray) -> float:
    """Return relative rounding error of masses that are known by their logarithms."""
    return LOSS_ROUNDING * (30 + float(np.abs(log_masses).max()))
