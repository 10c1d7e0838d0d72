"""The sanitizers that add noise: the confidential count plus symmetric noise on the whole numbers, clamped."""

import dataclasses
import math
from abc import ABC, abstractmethod
from dataclasses import dataclass
from typing import ClassVar

import numpy as np
from scipy.special import betainc

from dpviz.core import limits
from dpviz.core.declarations import ANY_EPSILON, EPSILON, ROWS, SYNTHETIC_ROWS
from dpviz.core.types import FloatArray, IntArray
from dpviz.mechanisms.base import TwoCellSynthesizer, WorstCase, parameter

NOISE_EPSILON = dataclasses.replace(
    EPSILON,
    minimum=5e-7,
    title="Privacy loss of the noise",
    help="The privacy loss that the noise is scaled for. Smaller means more noise and is more private.",
)
ROUNDING = 1e-9  # part of a step of noise by which rounding may lie


@dataclass(frozen=True, kw_only=True)
class MonotoneMechanism:
    """A mechanism with an ε of its own whose table is computed as a whole, with log-odds monotone in m1."""

    has_monotone_odds: ClassVar[bool] = True

    n: int = parameter(ROWS, maximum=limits.MAX_ROWS_OF_TABLE)
    m: int = parameter(SYNTHETIC_ROWS, maximum=limits.MAX_ROWS_OF_TABLE)
    epsilon: float = parameter(NOISE_EPSILON)


@dataclass(frozen=True, kw_only=True)
class NoiseSanitizer(ABC):
    """n1 + Z, clamped to 0 … n, so that m = n; the number of rows is public.

    The noise Z has Pr(Z ≥ d) = t r^{d − 1} for whole numbers d ≥ 1, with r = e^{−ε} and t = Pr(Z ≥ 1).
    """

    needs_no_matrix: ClassVar[bool] = True
    has_fast_moments: ClassVar[bool] = True
    adds_noise: ClassVar[bool] = True

    n: int = parameter(ROWS)
    m: int = dataclasses.field(init=False, default=0)
    epsilon: float = parameter(NOISE_EPSILON)

    @property
    @abstractmethod
    def log_chances(self) -> tuple[float, float]:
        """ln Pr(Z = 0) and ln t."""

    @abstractmethod
    def near_log_odds(self) -> tuple[float, float]:
        """Log-odds of rows i, i + 1 at released count i: where i is inside, and where i is the clamped end 0."""

    def log_mass(self, distance: IntArray) -> FloatArray:
        """ln Pr(Z = d) at each whole number d ≥ 0."""
        (at_zero, log_t), step = self.log_chances, -math.expm1(-self.epsilon)
        return np.where(distance == 0, at_zero, (log_t + math.log(step)) - self.epsilon * (np.asarray(distance) - 1))

    def log_tail(self, distance: IntArray) -> FloatArray:
        """ln Pr(Z ≥ d) at each whole number d ≥ 0."""
        log_t = self.log_chances[1]
        return np.where(distance == 0, math.log1p(-math.exp(log_t)), log_t - self.epsilon * (np.asarray(distance) - 1))

    def reach(self, share: float) -> int:
        """Smallest d with Pr(|Z| ≤ d) ≥ `share`.

        Examples
        --------
        >>> [GeometricSanitizer(n=9, epsilon=math.log(3)).reach(share) for share in (0.5, 0.83, 0.84)]
        [0, 1, 2]
        """
        distance = (self.log_chances[1] - math.log((1 - share) / 2)) / self.epsilon
        return max(0, math.ceil(distance - ROUNDING))

    def log_transition(self, rows: IntArray, columns: IntArray) -> FloatArray:
        i, j, distances = np.asarray(rows), np.asarray(columns), np.arange(self.n + 1)
        table = self.log_mass(distances)[np.abs(j[None, :] - i[:, None])]
        tails = self.log_tail(distances)
        table[:, j == 0] = tails[i][:, None]
        table[:, j == self.n] = tails[self.n - i][:, None]
        return table

    def log_odds(self, pairs: IntArray, columns: IntArray) -> FloatArray:
        i, j = np.asarray(pairs)[:, None], np.asarray(columns)[None, :]
        inside, end = self.near_log_odds()
        table = np.where(j <= i, self.epsilon, -self.epsilon)
        table = np.where(j == i, np.where(j == 0, end, inside), table)
        return np.where(j == i + 1, -np.where(j == self.n, end, inside), table)

    def worst_log_odds(self) -> WorstCase:
        if self.n == 1:
            return WorstCase(self.near_log_odds()[1], 1, 0, 1)
        return WorstCase(self.epsilon, 1, 0, 2)

    def hockey_stick(self, epsilon: float) -> WorstCase:
        """Of row 1 against row 0: clamping at 0 merges only columns that favour row 0, so that no pair has more."""
        epsilon = ANY_EPSILON.validate(epsilon)
        inside, end = self.near_log_odds()
        stay, tails = self.log_mass(np.array([0])), self.log_tail(np.array([0, 1]))
        losses = np.array([end] if self.n == 1 else [inside, self.epsilon])
        masses = np.exp(tails[:1] if self.n == 1 else [stay[0], tails[1]])
        return WorstCase(float(masses @ -np.expm1(np.minimum(epsilon - losses, 0.0))), 1, 0)

    def proportion_moments(self) -> tuple[FloatArray, FloatArray]:
        """Mean and variance of m1/n given n1 = 0 … n, by geometric sums whose digits do not cancel.

        Notes
        -----
        With room for h, E min(Z⁺, h) is the sum of Pr(Z ≥ d) over d ≤ h, t (1 − r^h) / (1 − r), and E min(Z⁺, h)², that
        of (2d − 1) Pr(Z ≥ d), is the same and 2 t r Pr(Binomial(h, 1 − r) ≥ 2) / (1 − r)².
        """
        tail, step, room = math.exp(self.log_chances[1]), -math.expm1(-self.epsilon), np.arange(self.n + 1)
        with np.errstate(under="ignore"):
            square = self.clamped_squares(room)
            near, difference = np.minimum(room, room[::-1]), room[::-1] - room
            size = np.exp(-self.epsilon * near) * -np.expm1(-self.epsilon * np.abs(difference)) * (tail / step)
            shift = np.sign(difference) * size
        return (room + shift) / self.n, (tail * (square + square[::-1]) - shift**2) / self.n**2

    def clamped_squares(self, room: IntArray) -> FloatArray:
        """E min(Z⁺, h)² / Pr(Z ≥ 1) for each room h: what noise to one side adds to the squared error."""
        ratio, step, room = math.exp(-self.epsilon), -math.expm1(-self.epsilon), np.asarray(room)
        with np.errstate(under="ignore"):
            square: FloatArray = -np.expm1(-self.epsilon * room) / step
            is_wide = room >= 2
            square[is_wide] += 2 * ratio * betainc(2.0, room[is_wide] - 1.0, step) / step**2
        return square


@dataclass(frozen=True, kw_only=True)
class LaplaceSanitizer(NoiseSanitizer, TwoCellSynthesizer):
    """m1 = n1 + Laplace(1/ε), rounded to the nearest whole number and clamped to 0 … n; m2 = n − m1.

    Inside the range Pr(m1 − n1 = d) = e^{−ε|d|} sinh(ε/2) for d ≠ 0 and 1 − e^{−ε/2} for d = 0.

    Source: Abowd & Vilhuber (2008), equation (2) and Fig. 3, after Dwork et al. (2006).

    Examples
    --------
    >>> LaplaceSanitizer(n=5, epsilon=2).transition_matrix()[0].round(6).tolist()
    [0.81606, 0.159046, 0.021525, 0.002913, 0.000394, 6.2e-05]
    """

    key = "laplace"

    @property
    def log_chances(self) -> tuple[float, float]:
        half = self.epsilon / 2
        return math.log(-math.expm1(-half)), -half - math.log(2)

    def near_log_odds(self) -> tuple[float, float]:
        half = self.epsilon / 2
        return half - math.log1p(math.expm1(-half) / 2), half + math.log1p(-math.expm1(-half))


@dataclass(frozen=True, kw_only=True)
class GeometricSanitizer(NoiseSanitizer, TwoCellSynthesizer):
    """m1 = n1 + Z clamped to 0 … n, Pr(Z = d) = e^{−ε|d|} (1 − e^{−ε}) / (1 + e^{−ε}); m2 = n − m1.

    Every cell of its log-odds table is ε or −ε. Where n1 is uniform before, its posterior given m1 is the noise about
    m1, at an end as well as inside, cut off at 0 and n.

    Source: Ghosh, Roughgarden & Sundararajan (2009), the discrete optimum.

    Examples
    --------
    With e^ε = 3 the noise is 0 with probability (1 − 1/3) / (1 + 1/3) = 1/2, and a tail from 1 on holds 1/4.

    >>> sanitizer = GeometricSanitizer(n=2, epsilon=math.log(3))
    >>> sanitizer.transition_matrix()[1].round(6).tolist()
    [0.25, 0.5, 0.25]
    >>> likelihood = np.exp(sanitizer.log_likelihood(np.array([1])))  # of a released 1, by n1
    >>> (likelihood / likelihood.sum()).round(6).tolist()
    [0.2, 0.6, 0.2]
    """

    key = "geometric"

    @property
    def log_chances(self) -> tuple[float, float]:
        log_both = math.log1p(math.exp(-self.epsilon))
        return math.log(-math.expm1(-self.epsilon)) - log_both, -self.epsilon - log_both

    def near_log_odds(self) -> tuple[float, float]:
        return self.epsilon, self.epsilon
