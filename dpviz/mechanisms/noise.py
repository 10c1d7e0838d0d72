"""The sanitizers that add noise: the confidential count plus symmetric noise on the whole numbers, clamped."""

import dataclasses
import math
from abc import abstractmethod
from dataclasses import dataclass
from typing import ClassVar

import numpy as np
from scipy.special import betainc

from dpviz.core.checked import checked
from dpviz.core.declarations import ROWS
from dpviz.core.parameters import ANY_EPSILON, EPSILON
from dpviz.core.types import FloatArray, IntArray
from dpviz.mechanisms.base import LossLists, TwoCellSynthesizer, WorstCase, parameter

NOISE_EPSILON = dataclasses.replace(
    EPSILON,
    minimum=5e-7,
    title="Privacy loss of the noise",
    help="The privacy loss that the noise is scaled for. Smaller means more noise and is more private.",
)

REACHED = 1e-9  # Part of a step of noise by which rounding may lie


@dataclass(frozen=True, kw_only=True)
class NoiseSanitizer(TwoCellSynthesizer):
    """n1 plus noise on the whole numbers, clamped to 0 … n, so m = n; the number of rows is public."""

    needs_no_matrix = moments_at_once = True
    moved_by: ClassVar[str] = "noise that is cut off at 0 and n"
    several_sets = False
    noisy = True

    m: int = dataclasses.field(init=False, default=0)
    n: int = parameter(ROWS)
    epsilon: float = parameter(NOISE_EPSILON)

    def __post_init__(self) -> None:
        super().__post_init__()
        object.__setattr__(self, "m", self.n)

    @abstractmethod
    def log_mass(self, distance: IntArray) -> FloatArray:
        """ln Pr(noise = d) at each whole number |d|."""

    @abstractmethod
    def log_tail(self, distance: IntArray) -> FloatArray:
        """ln Pr(noise ≥ d) at each whole number d ≥ 0."""

    def reach(self, share: float) -> int:
        """Return the smallest d with Pr(|noise| ≤ d) ≥ `share`, before it is clamped: Pr(noise ≥ d) = t r^{d − 1}.

        >>> [GeometricSanitizer(n=9, epsilon=math.log(3)).reach(share) for share in (0.5, 0.83, 0.84)]
        [0, 1, 2]
        """
        beyond = (float(self.log_tail(np.array([1]))[0]) - math.log((1 - share) / 2)) / self.epsilon
        return max(0, math.ceil(beyond - REACHED))

    def log_transition(self, rows: IntArray, columns: IntArray) -> FloatArray:
        i, j = np.asarray(rows), np.asarray(columns)
        distances = np.arange(self.n + 1)
        table = self.log_mass(distances)[np.abs(j[None, :] - i[:, None])]
        tails = self.log_tail(distances)
        at_zero, at_n = j == 0, j == self.n
        table[:, at_zero] = tails[i][:, None]
        table[:, at_n] = tails[self.n - i][:, None]
        return table

    def proportion_moments(self) -> tuple[FloatArray, FloatArray]:
        """As of every synthesizer, by geometric sums whose digits do not cancel.

        Pr(Z ≥ d) = t r^{d − 1} for d ≥ 1, r = e^{−ε}. With room for h, E min(Z⁺, h) is the sum over d ≤ h of these,
        t (1 − r^h) / (1 − r), and E min(Z⁺, h)², that of (2d − 1) Pr(Z ≥ d), is the same and
        2 t r Pr(Binomial(h, 1 − r) ≥ 2) / (1 − r)².
        """
        epsilon, room = self.epsilon, np.arange(self.n + 1)
        tail, step = math.exp(float(self.log_tail(np.array([1]))[0])), -math.expm1(-epsilon)
        with np.errstate(under="ignore"):
            square = self.clamped_squares(room)
            near, apart = np.minimum(room, room[::-1]), room[::-1] - room
            shift = np.sign(apart) * np.exp(-epsilon * near) * -np.expm1(-epsilon * np.abs(apart)) * (tail / step)
        return (room + shift) / self.n, (tail * (square + square[::-1]) - shift**2) / self.n**2

    def clamped_squares(self, room: IntArray) -> FloatArray:
        """E min(Z⁺, h)² / Pr(Z ≥ 1) of the noise Z for each room h, what noise to one side adds to the error."""
        step, room = -math.expm1(-self.epsilon), np.asarray(room)
        with np.errstate(under="ignore"):
            square: FloatArray = -np.expm1(-self.epsilon * room) / step
            wide = room >= 2
            square[wide] += 2 * math.exp(-self.epsilon) * betainc(2.0, room[wide] - 1.0, step) / step**2
        return square

    def moments_at(self, p: FloatArray, sets: int) -> tuple[FloatArray, FloatArray]:
        """Mean and variance of the mean share of independent sets, n1 ~ Binomial(n, p), in closed form for many rows.

        E[m1 | x] is x + t (r^x − r^{n − x}) / (1 − r) with t and r as above, and E[(m1 − x)² | x] a sum of r^h and
        h r^h, h = x and n − x, of which a binomial x has closed expectations. Digits cancel where nε is next to 0.
        """
        n, step, rest = self.n, -math.expm1(-self.epsilon), 1 - p
        tail, ratio = math.exp(float(self.log_tail(np.array([1]))[0])), math.exp(-self.epsilon)
        with np.errstate(divide="ignore", under="ignore"):
            ends, squares = (
                [np.exp(n * np.log1p(-share * part)) for share in (p, rest)]
                for part in (step, -math.expm1(-2 * self.epsilon))
            )
            one_less = [np.exp((n - 1) * np.log1p(-share * step)) for share in (p, rest)]
        shift = tail / step * (ends[0] - ends[1])
        shift_square = (tail / step) ** 2 * (squares[0] + squares[1] - 2 * math.exp(-self.epsilon * n))
        moved = (2 - ends[0] - ends[1]) * (1 + ratio) / step**2
        moved -= 2 * n * ratio / step * (p * one_less[0] + rest * one_less[1])
        variance = n * p * rest * (1 - 2 * tail * (one_less[0] + one_less[1])) - shift**2
        variance += shift_square * (1 - 1 / sets) + tail * moved / sets
        return p + shift / n, np.maximum(variance, 0.0) / n**2

    @abstractmethod
    def near_log_odds(self) -> tuple[float, float]:
        """Return log-odds of rows i, i + 1 at released count i: where i is inside, and where i is the clamped end 0."""

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

    @checked(epsilon=ANY_EPSILON)
    def hockey_stick(self, epsilon: float) -> WorstCase:
        """Closed form of rows 1 and 0: clamping merges columns, so no pair nearer an end can tell more."""
        losses, masses, *_ = self.loss_lists()
        return WorstCase(float(masses @ -np.expm1(np.minimum(epsilon - losses, 0.0))), 1, 0)

    def loss_lists(self) -> LossLists:
        """Those of rows 1 and 0."""
        inside, end = self.near_log_odds()
        stay, tail = self.log_mass(np.array([0])), self.log_tail(np.array([0, 1]))
        losses, log_masses = ([end], tail[:1]) if self.n == 1 else ([inside, self.epsilon], [stay[0], tail[1]])
        return LossLists(np.array(losses), np.exp(log_masses), np.zeros(len(losses), dtype=np.int64), 1)


@dataclass(frozen=True, kw_only=True)
class LaplaceSanitizer(NoiseSanitizer):
    """m1 = n1 + Laplace(1/ε), rounded to the nearest whole number and clamped to 0 … n; m2 = n − m1.

    Inside the range Pr(m1 − n1 = d) = e^{−ε|d|} sinh(ε/2) for d ≠ 0 and 1 − e^{−ε/2} for d = 0.
    Source: Abowd & Vilhuber (2008), equation (2) and Fig. 3, after Dwork et al. (2006).

    >>> LaplaceSanitizer(n=5, epsilon=2).transition_matrix()[0].round(6).tolist()
    [0.81606, 0.159046, 0.021525, 0.002913, 0.000394, 6.2e-05]
    """

    key = "laplace"
    label = "Laplace sanitizer"
    formula = r"m_1 = \mathrm{clamp}_{0}^{n}\,\mathrm{round}\!\left(n_1 + \mathrm{Laplace}(1/\varepsilon)\right)"
    source = "Abowd & Vilhuber (2008), equation (2) and Fig. 3"
    compared_source = "Bowen & Liu (2016), Laplace sanitizer; Abowd & Vilhuber (2008)"
    audited = "laplace_count"
    color = "green"
    kept_by = finding = ""
    opendp = "rounded_count"
    releases = (
        "One set: the number of ones plus Laplace noise of scale 1/ε, rounded and moved to the nearest end where it "
        "falls outside 0 to n. It spends all of ε."
    )

    def log_mass(self, distance: IntArray) -> FloatArray:
        half = self.epsilon / 2
        log_sinh = half + math.log(-math.expm1(-self.epsilon)) - math.log(2)
        stay = math.log(-math.expm1(-half))
        return np.where(distance == 0, stay, log_sinh - self.epsilon * np.asarray(distance))

    def log_tail(self, distance: IntArray) -> FloatArray:
        half = self.epsilon / 2
        at_zero = math.log1p(-math.exp(-half) / 2)
        return np.where(distance == 0, at_zero, half - self.epsilon * np.asarray(distance) - math.log(2))

    def near_log_odds(self) -> tuple[float, float]:
        half = self.epsilon / 2
        inside = half - math.log1p(math.expm1(-half) / 2)
        return inside, half + math.log1p(-math.expm1(-half))


@dataclass(frozen=True, kw_only=True)
class GeometricSanitizer(NoiseSanitizer):
    """m1 = n1 + Z clamped to 0 … n, Pr(Z = d) = e^{−ε|d|} (1 − e^{−ε}) / (1 + e^{−ε}); m2 = n − m1.

    Every cell of its log-odds table is ε or −ε. Source: Ghosh, Roughgarden & Sundararajan (2009), the discrete optimum.
    With e^ε = 3 the noise is 0 with probability (1 − 1/3) / (1 + 1/3) = 1/2, and a tail from 1 on holds 1/4.

    An analyst who knows ε has the exact posterior of n1 (`dpviz.inference.posterior_given`): where p is uniform before,
    so that n1 is too, it is the noise about the released count, at an end as well as inside, cut off at 0 and n.

    >>> one = GeometricSanitizer(n=2, epsilon=math.log(3))
    >>> one.transition_matrix()[1].round(6).tolist()
    [0.25, 0.5, 0.25]
    >>> likelihood = np.exp(one.log_likelihood(np.array([1])))  # of a released 1, by n1
    >>> (likelihood / likelihood.sum()).round(6).tolist()
    [0.2, 0.6, 0.2]
    """

    key = "geometric"
    label = "Geometric sanitizer"
    formula = r"m_1 = \mathrm{clamp}_{0}^{n}(n_1 + Z),\quad \Pr(Z=d) \propto e^{-\varepsilon|d|}"
    source = "Ghosh, Roughgarden & Sundararajan (2009); of censuses Abowd et al. (2022)"
    color = "sky"
    kept_by = ""
    opendp = "count"
    releases = (
        "One set: the number of ones plus noise on the whole numbers, where each further one is eᵋ times less likely, "
        "moved to the nearest end where it falls outside 0 to n. It spends all of ε."
    )
    finding = "Every released count tells neighbours apart by ε, and by no more."

    def log_mass(self, distance: IntArray) -> FloatArray:
        scale = math.log(-math.expm1(-self.epsilon)) - math.log1p(math.exp(-self.epsilon))
        return scale - self.epsilon * np.asarray(distance)

    def log_tail(self, distance: IntArray) -> FloatArray:
        return -self.epsilon * np.asarray(distance) - math.log1p(math.exp(-self.epsilon))

    def near_log_odds(self) -> tuple[float, float]:
        return self.epsilon, self.epsilon
