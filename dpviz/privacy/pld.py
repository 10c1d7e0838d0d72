"""Privacy loss distributions: δ(ε), its inverse, and the composition of independent releases."""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import reduce
from itertools import repeat

import numpy as np
from scipy.fft import irfft, next_fast_len, rfft

from dpviz.core.numerics.special import MAX_EXPONENT, capped_expm1, complex_power, log_reciprocal
from dpviz.core.types import FloatArray

MAX_LISTED = 60_000
"""Losses of a composition that are listed one by one, which up to here takes less time than the transform."""

LOG_LEFT_OUT = math.log(1e-13)  # of the share of a tilted sum outside of the window; it counts as a loss of ∞


@dataclass(frozen=True, eq=False)
class PrivacyLossDistribution:
    """Distribution of the privacy loss L = ln(P(o) / Q(o)) of two neighbouring data sets, with o drawn from P.

    Parameters
    ----------
    losses : ndarray of shape (k,)
        Finite values of L, at least one, in any order.
    log_masses : ndarray of shape (k,)
        ln of their probabilities under P.
    infinity_mass : float
        Probability of outcomes that are impossible under Q, and of all that was left out.

    Notes
    -----
    δ(ε) = E (1 − e^{ε − L})₊ is a sum of positive terms, so that no δ loses its digits, however small it is. For the
    sum of M independent losses the masses are tilted, p ∝ P e^{λL}, with the λ that moves the mean of the sum to ε: the
    transform then adds up what δ depends on, and not what is far more likely (the saddle point) [1]_.

    References
    ----------
    .. [1] Koskela, Jälkö & Honkela (2020), "Computing tight differential privacy guarantees using FFT".
    .. [2] Doroshenko, Ghazi, Kamath, Kumar & Manurangsi (2022), "Connect the dots".

    Examples
    --------
    Randomized response that tells the truth with probability 3/4, twice: at ε = ln 3 it is 9/16 (1 − 3/9).

    >>> answer = PrivacyLossDistribution(np.log([3, 1 / 3]), np.log([0.75, 0.25]))
    >>> round(answer.self_compose(2).delta_for_epsilon(math.log(3)), 12)
    0.375
    """

    losses: FloatArray
    log_masses: FloatArray
    infinity_mass: float = 0.0

    @classmethod
    def from_outcomes(
        cls, losses: FloatArray, log_masses: FloatArray, omitted_mass: float = 0.0
    ) -> PrivacyLossDistribution:
        """Distribution of a list of outcomes, of which a part with this probability under P is left out.

        Losses may be ∞, where Q makes an outcome impossible; outcomes that P makes impossible do not count.

        >>> PrivacyLossDistribution.from_outcomes(np.array([math.inf]), np.zeros(1)).delta_for_epsilon(2.0)
        1.0
        """
        if losses.shape != log_masses.shape or not losses.size:
            raise ValueError("losses and log_masses must be equally long, with a loss at least.")
        is_possible = (log_masses > -math.inf) & (losses > -math.inf)
        is_finite = is_possible & (losses < math.inf)
        infinite = float(np.exp(log_masses[is_possible & ~is_finite]).sum()) + omitted_mass
        if not is_finite.any():  # a loss of 0 without mass
            return cls(np.zeros(1), np.full(1, -math.inf), infinite)
        return cls(losses[is_finite], log_masses[is_finite], infinite)

    @property
    def masses(self) -> FloatArray:
        """Probabilities of the finite losses under P."""
        with np.errstate(under="ignore"):
            return np.exp(self.log_masses)

    def delta_for_epsilon(self, epsilon: float) -> float:
        """Hockey-stick divergence δ(ε) = E (1 − e^{ε − L})₊, for any real ε."""
        excess = -np.expm1(np.minimum(epsilon - self.losses, 0.0))
        return min(float(self.masses @ excess) + self.infinity_mass, 1.0)

    def epsilon_for_delta(self, delta: float) -> float:
        """Smallest ε ≥ 0 with δ(ε) ≤ δ; ∞ if infinite losses alone have more."""
        if self.infinity_mass > delta:
            return math.inf
        is_positive = self.losses > 0
        order = np.argsort(-self.losses[is_positive], kind="stable")
        losses = self.losses[is_positive][order]
        log_masses = self.log_masses[is_positive][order]

        # From one loss down to the next, δ is linear in e^ε, with the slope Σ P e^{−L} of all losses above
        with np.errstate(under="ignore"):
            slopes = np.exp(np.logaddexp.accumulate(log_masses - losses) + losses)
            gaps = np.append(losses[1:], 0.0)[: len(losses)] - losses
            deltas = self.infinity_mass + np.cumsum(slopes * -np.expm1(gaps))
        index = int(np.searchsorted(deltas, delta))
        if index == len(deltas):
            return 0.0
        missing = delta - (float(deltas[index - 1]) if index else self.infinity_mass)
        return max(float(losses[index]) + math.log1p(-missing / float(slopes[index])), 0.0)

    # Sums of independent losses

    def compose(self, second: PrivacyLossDistribution) -> PrivacyLossDistribution:
        """Distribution of the sum of two independent losses, equal sums as one."""
        return self._all_sums(second).merged()

    def _all_sums(self, second: PrivacyLossDistribution) -> PrivacyLossDistribution:
        """The same with a loss for each pair of losses."""
        losses = np.add.outer(self.losses, second.losses).ravel()
        log_masses = np.add.outer(self.log_masses, second.log_masses).ravel()
        infinity_mass = self.infinity_mass + second.infinity_mass * (1 - self.infinity_mass)
        return PrivacyLossDistribution(losses, log_masses, infinity_mass)

    def merged(self) -> PrivacyLossDistribution:
        """The same distribution with rising losses, where those that rounding alone tells apart are one."""
        order = np.argsort(self.losses, kind="stable")
        losses = self.losses[order]
        gap = 1e-12 * max(float(np.abs(losses).max()), 1e-300)
        starts = np.flatnonzero(np.append(True, np.diff(losses) > gap))
        log_masses = np.logaddexp.reduceat(self.log_masses[order], starts)
        return PrivacyLossDistribution(losses[starts], log_masses, self.infinity_mass)

    def self_compose(self, sets: int) -> PrivacyLossDistribution:
        """Distribution of the sum of `sets` independent copies, listed: for few losses."""
        return reduce(PrivacyLossDistribution.compose, repeat(self, sets))

    def on_grid(self, first: float, spacing: float, cells: int, tilt: float = 0.0) -> FloatArray:
        """Masses times e^{λL} at the points first + spacing · (0 … cells), each loss split between two of them.

        A loss g + s between the points g and g + h gives g + h the share (1 − e^{−s}) / (1 − e^{−h}): that keeps its
        mass under P and under Q. By Jensen's inequality no δ of the grid, or of sums of it, is below the exact [2]_.
        """
        position = np.clip((self.losses - first) / spacing, 0, cells)
        lower = position.astype(np.int64)
        rest = (position - lower) * spacing
        upper_share = np.expm1(-rest) / math.expm1(-spacing)
        masses = self.masses
        with np.errstate(under="ignore"):
            to_lower = masses * (1 - upper_share) * np.exp(-tilt * rest)
            to_upper = masses * upper_share * np.exp(tilt * (spacing - rest))
        split: FloatArray = np.zeros(cells + 2)
        split += np.bincount(lower, to_lower, cells + 2)
        split += np.bincount(lower + 1, to_upper, cells + 2)
        return split[: cells + 1]

    def log_moments(self, tilt: float) -> tuple[float, float, float]:
        """K(λ) = ln E e^{λL} over the finite losses at the tilt λ, and its first two derivatives."""
        exponents = self.log_masses + tilt * self.losses
        largest = float(exponents.max())
        with np.errstate(under="ignore"):
            tilted = np.exp(exponents - largest)
        total = float(tilted.sum())
        mean = float(tilted @ self.losses) / total
        variance = float(tilted @ (self.losses - mean) ** 2) / total
        return largest + math.log(total), mean, variance

    def saddle_point(self, mean: float) -> float:
        """Tilt λ ≥ 0 at which the tilted mean loss is `mean`, roughly: δ is bounded from above whatever λ is."""
        tilt = 0.0
        for _ in range(40):
            _, tilted_mean, variance = self.log_moments(tilt)
            newton = tilt + (mean - tilted_mean) / max(variance, 1e-300)
            previous, tilt = tilt, min(max(newton, 0.0), 4 * tilt + 1, 1e12)
            if abs(tilt - previous) <= 1e-3 * tilt:
                break
        return tilt

    def composed_delta(
        self, sets: int, epsilon: float, *, resolution: float = 1e-2, max_size: float = math.inf
    ) -> float:
        """δ(ε) of `sets` independent releases; where not all sums are listed, up by about `resolution`², relative.

        Parameters
        ----------
        sets : int
            Number M of releases, at least 1.
        epsilon : float
            Of all releases together, at least 0.
        resolution : float, optional
            Grid spacing times √M (λ + 1) + 1/σ, with λ the tilt and σ the deviation of a tilted loss.
        max_size : float, optional
            Largest transform that may be computed.
        """
        if self.infinity_mass >= 1:
            return 1.0
        infinite = -math.expm1(sets * math.log1p(-self.infinity_mass))
        if sets * float(self.losses.max()) <= epsilon:
            return infinite
        if math.comb(len(self.losses) + sets - 1, sets) <= MAX_LISTED:
            sums = self.self_compose(sets - 1)._all_sums(self) if sets > 1 else self
            return sums.delta_for_epsilon(epsilon)  # equal sums are not looked for, which would take most of the time
        tilt = self.saddle_point(epsilon / sets)
        variance = max(self.log_moments(tilt)[2], 1e-60)
        spacing = resolution / (math.sqrt(sets) * (tilt + 1) + 1 / math.sqrt(variance))
        return min(self._transformed_delta(sets, epsilon, tilt, spacing, max_size) + infinite, 1.0)

    def _transformed_delta(self, sets: int, epsilon: float, tilt: float, spacing: float, max_size: float) -> float:
        """δ(ε) of the sum of finite losses, tilted and on a grid."""
        # What has weight at this tilt, divided by the largest weight, on an even grid
        exponents = self.log_masses + tilt * self.losses
        top = float(exponents.max())
        has_weight = exponents > top + math.log(1e-17 / len(exponents))  # the rest is less than the rounding of a sum
        losses = self.losses[has_weight]
        width = float(np.ptp(losses))
        spacing = max(spacing, width / (1 << 20))  # points of 8 MB
        cells = math.ceil(width / spacing)
        first = float(losses.max()) - spacing * cells
        masses = PrivacyLossDistribution(losses, exponents[has_weight] - top).on_grid(first, spacing, cells, tilt)
        total = float(masses.sum())
        masses /= total
        log_scale = top + math.log(total)  # K(λ) of the grid

        # A window that holds all sums above ε but for a negligible share
        low, high = _window(masses, sets)
        origin = sets * first - epsilon  # S − ε of the sum with index 0
        start = max(low, math.floor(-origin / spacing) + 1)
        length = next_fast_len(max(high - low, 1), real=True)
        if length > max_size:
            raise ValueError(
                f"sets (released sets) must be fewer with this promise: the sum of their losses would need a grid of "
                f"{length:,} points, at most {max_size:,.0f}; got {sets:,}."
            )

        # The circular convolution; what wraps around is negligible
        wrapped = np.bincount(np.arange(len(masses)) % length, masses, length)
        powers = complex_power(rfft(wrapped, length), sets)
        sums = np.arange(start, max(high, start))
        shares = np.maximum(irfft(powers, length)[sums % length], 0.0)

        # Back from the tilt: Σ shares e^{−λ (S − ε)} (1 − e^{−(S − ε)}) e^{M K − λ ε}
        above = origin + spacing * sums
        with np.errstate(under="ignore"):
            value = float(shares @ (np.exp(-tilt * above) * -np.expm1(-above)))
        left_out = 2 * math.exp(LOG_LEFT_OUT) / (1 + tilt)
        exponent = sets * log_scale - tilt * epsilon
        return 1.0 if exponent > MAX_EXPONENT else min(math.exp(exponent) * (value + left_out), 1.0)


def _window(masses: FloatArray, sets: int) -> tuple[int, int]:
    """Indices between which the sum of `sets` indices lies but for a share of twice e^`LOG_LEFT_OUT`.

    Chernoff: Pr(S − mean ≥ t) ≤ e^{M K(r) − r t} for every rate r > 0, and likewise below.
    """
    index = np.arange(len(masses), dtype=float)
    mean = float(masses @ index)
    away = index - mean
    deviation = math.sqrt(sets * float(masses @ away**2))
    low, high = 0.0, float(sets * (len(masses) - 1))
    usual = math.sqrt(-2 * LOG_LEFT_OUT) / max(deviation, 1e-300)  # the best rate of a normal sum
    for rate in min(usual, MAX_EXPONENT / len(masses)) * np.array([0.25, 0.5, 1.0, 2.0]):
        if rate * float(np.abs(away[[0, -1]]).max()) > MAX_EXPONENT:
            continue
        grown = np.exp(rate * away)
        up, down = math.log(float(masses @ grown)), math.log(float(masses @ (1 / grown)))
        low = max(low, sets * mean - (sets * down - LOG_LEFT_OUT) / rate)
        high = min(high, sets * mean + (sets * up - LOG_LEFT_OUT) / rate)
    return math.floor(low), math.ceil(high) + 1


def advanced_composition(epsilon: float, k: int, slack: float) -> float:
    """ε √(2k ln(1/δ')) + kε(e^ε − 1), which k ε-private releases keep with δ': Dwork et al. (2010), Theorem III.3.

    Parameters
    ----------
    epsilon : float
    k : int
    slack : float
        δ'.
    """
    if epsilon == 0:
        return 0.0  # also without slack
    return epsilon * math.sqrt(2 * k * log_reciprocal(slack)) + k * epsilon * capped_expm1(epsilon)
