"""The largest range R/σ of the data with which Gaussian releases of known variance are private, exactly.

Data lie in [−R, R]; their model is N(μ, σ²) with σ known and the prior μ ~ N(0, σ0²). Substituting one of n rows moves
the mean x̄ by up to 2R/n. The posterior is N(s x̄, s σ²/n), s = σ0²/(σ²/n + σ0²). For (ε, δ) nothing is truncated: each
release depends on x̄ through one normal statistic, so it is a Gaussian mechanism. For pure ε each released number is
truncated to [−R, R]. The distribution of the statistic t given x̄ is then an exponential family with natural parameter
s x̄/v, v the variance of t before truncation; let Z(x̄) be the probability of the range.

1. The log-ratio of two such distributions is linear in t, so it is largest where t is −R or R.
2. ln p(R | x̄) has the derivative g(x̄) = (s/v) (R − E[t | x̄]) > 0: of all neighbours of x̄ the furthest is the worst.
3. E[t | x̄] rises in x̄ (a log-partition function is convex), so g falls and a step of 2R/n gains most where it starts
   lowest. With the mirror image for −R, ε = ln p(R | −R + 2R/n) − ln p(R | −R) = ∫ g(x̄) dx̄ from −R to −R + 2R/n.
4. By symmetry E[t | x̄] ≤ 0 for x̄ ≤ 0, and E[t | x̄] > −R. So with B = 2sR²/(nv): ε = B for n = 1, else B ≤ ε < 2B.

A short step is integrated from g; a long one, where ε ≥ n/2, is the difference of log-normalizers: no digits are lost.
"""

import dataclasses
import math
from dataclasses import dataclass

import numpy as np
from scipy.optimize import brentq
from scipy.special import ndtr

from dpviz.calibration.methods import PRIOR_METHODS, PriorMethod
from dpviz.core import limits
from dpviz.core.declarations import ANY_EPSILON, COMPOSED_SETS, DELTA, EPSILON, MANY_ROWS, MANY_SYNTHETIC_ROWS
from dpviz.core.numerics.quadrature import INTEGRAND_DROP, gauss_legendre_panels
from dpviz.core.numerics.special import round_to_private_side
from dpviz.core.parameters import Parameter, parameter, parameter_with_default, validate_choice
from dpviz.core.records import ParameterRecord
from dpviz.core.types import FloatArray
from dpviz.privacy.gaussian import gaussian_delta, gaussian_epsilon, gaussian_ratio, surely_within

PURE_EPSILON_ROUNDING = 1e-13  # more than rounding changes it, so that what is calibrated keeps ε in real numbers
ABSCISSAS, ABSCISSA_WEIGHTS = np.polynomial.legendre.leggauss(12)  # of integrands that a short Taylor series describes
FROM_MODE, MODE_WEIGHTS = gauss_legendre_panels([0.0, *2.0 ** np.arange(-14, 1)], 24)  # ever wider panels
NARROW_TRUNCATION = 0.5  # half-width in deviations below which a truncated normal is integrated, not subtracted

GAUSSIAN_SETS = dataclasses.replace(COMPOSED_SETS, maximum=limits.MAX_SETS, default=1)
SIGMA = Parameter(
    name="sigma", symbol="σ", title="Known standard deviation", minimum=1e-12, maximum=1e12, default=1.0,
    slider_minimum=0.01, slider_maximum=100.0, scale="log",
    help="The standard deviation of one row around the unknown mean. It is public.",
)  # fmt: skip
SIGMA0 = dataclasses.replace(
    SIGMA, name="sigma0", symbol="σ₀", title="Standard deviation of the prior", slider_maximum=1e6,
    private_end="smaller",
    help="How far from 0 the unknown mean is thought to lie before any data. Smaller is more private, and pulls "
    "the released mean towards 0; a very large value leaves it to the data alone.",
)  # fmt: skip
ANY_SIGMA0 = dataclasses.replace(SIGMA0, infinite=True)  # a flat prior too
RANGE_OVER_SIGMA = dataclasses.replace(
    SIGMA, name="range_over_sigma", symbol="R/σ", title="Range of the data", minimum=1e-100, maximum=1e100,
    private_end="smaller",
    help="Every row lies between −R and R; this is R in standard deviations of one row. A narrower range is more "
    "private, and cuts off more of the data.",
)  # fmt: skip


@dataclass(frozen=True, kw_only=True)
class GaussianRelease(ParameterRecord):
    """M releases by a method of `PRIOR_METHODS` from n rows of N(μ, σ²), the prior μ ~ N(0, σ0²), data in [−R, R].

    n and m are 1 to 100,000, σ and σ0, infinite for a flat prior, are in the unit of the data. Source: Zheng (2015),
    chapter 7. A flat prior leaves the mean as it is; the posterior of 100 rows has a tenth of their standard deviation.

    >>> release = GaussianRelease(method="param_post", n=100, m=1, sigma=1.0, sigma0=math.inf)
    >>> release.shrinkage, release.variance, round(release.ratio(1.0), 12)
    (1.0, 0.01, 0.2)
    """

    method: str
    n: int = parameter(MANY_ROWS)
    m: int = parameter(MANY_SYNTHETIC_ROWS)
    sigma: float = parameter(SIGMA)
    sigma0: float = parameter(ANY_SIGMA0)
    sets: int = parameter_with_default(GAUSSIAN_SETS, default=1)

    def __post_init__(self) -> None:
        validate_choice("method", self.method, PRIOR_METHODS)
        super().__post_init__()

    @property
    def prior_method(self) -> PriorMethod:
        return PRIOR_METHODS[self.method]

    @property
    def shrinkage(self) -> float:
        """s = σ0²/(σ²/n + σ0²), the share of x̄ that the posterior mean keeps."""
        return 1 / (1 + (self.sigma / self.sigma0) ** 2 / self.n)

    @property
    def variance(self) -> float:
        """v/σ², v the variance around s x̄ of the sufficient statistic of one set: μ, or the mean of the m rows."""
        return self.prior_method.variance(self.shrinkage / self.n, self.m)

    def ratio(self, range_over_sigma: float) -> float:
        """r = √M · 2Rs/(n √v), sensitivity over noise of the untruncated sets' average; infinite for PARAM_MAP."""
        distance = 2 * RANGE_OVER_SIGMA.validate(range_over_sigma) * self.shrinkage / self.n
        return math.sqrt(self.sets) * distance / math.sqrt(self.variance) if self.variance else math.inf

    def delta(self, range_over_sigma: float, epsilon: float) -> float:
        """The smallest δ for which the untruncated release is (ε, δ)-DP; 1 for PARAM_MAP.

        Zheng's Theorem 7.8 promises δ = 10⁻⁵ for R/σ = 2.084 here.

        >>> release = GaussianRelease(method="param_post", n=100, m=1, sigma=1.0, sigma0=1.0)
        >>> round(release.delta(2.084, 1.0), 5)
        0.00177
        """
        return gaussian_delta(self.ratio(range_over_sigma), ANY_EPSILON.validate(epsilon))

    def epsilon(self, range_over_sigma: float, delta: float) -> float:
        """The smallest ε for which the untruncated release is (ε, δ)-DP; infinite for PARAM_MAP and at δ = 0."""
        return gaussian_epsilon(self.ratio(range_over_sigma), DELTA.validate(delta))

    def pure_epsilon(self, range_over_sigma: float) -> float:
        """The exact pure ε of the release whose every number is truncated to [−R, R].

        μ is truncated, or each row on its own (SYNTH_MAP, Many), or the m rows together (One); independent numbers
        add up. Infinite for PARAM_MAP. It rises in R; its relative error is about 1e-13. Source:
        `dpviz.calibration.gaussian_range`; Zheng (2015), Theorems 7.7 and 7.12, Corollaries 7.13 and 7.14, bound it.
        With a single row the normalizers of x̄ = −R and x̄ = R are equal, so ε = 2sR²/v, with s = v = ½ here.

        >>> release = GaussianRelease(method="param_post", n=1, m=1, sigma=1.0, sigma0=1.0)
        >>> round(release.pure_epsilon(0.5), 12)
        0.5
        """
        reach = RANGE_OVER_SIGMA.validate(range_over_sigma)
        if not self.prior_method.calibrated:
            return math.inf
        variance, copies = self._conditioned
        base = 2 * self.shrinkage * reach / variance * reach / self.n  # B of the module's proof
        if self.n == 1:
            return copies * base

        # A short step is integrated from g, a long one is the difference of log-normalizers
        length = 2 * reach / self.n
        if self.shrinkage * length <= math.sqrt(variance):
            _, gap = self._truncated(-reach + length * (1 + ABSCISSAS) / 2, reach)
            return copies * base * float(gap / reach @ ABSCISSA_WEIGHTS) / 2
        (low, high), _ = self._truncated(np.array([-reach, length - reach]), reach)
        return copies * (base * (1 + self.shrinkage * (1 - 1 / self.n)) - float(high - low))

    def _truncated(self, means: FloatArray, reach: float) -> tuple[FloatArray, FloatArray]:
        """ln Z(x̄) and R − E[t | x̄] for means x̄, all in units of σ."""
        if self.prior_method.rows_together:
            return _truncated_rows(self.shrinkage * means, self.n / self.shrinkage, self.m, reach)
        sd = math.sqrt(self._conditioned[0])
        log_mass, gap = _truncated_normal(self.shrinkage * means / sd, reach / sd)
        return log_mass, sd * gap

    @property
    def _conditioned(self) -> tuple[float, int]:
        """Variance, in units of σ², of what is truncated together, and how many independent ones are released."""
        alone = self.m if self.prior_method.independent else 1
        return self.variance * alone, self.sets * alone

    def largest(self, epsilon: float, delta: float) -> float:
        """Largest R/σ that keeps (ε, δ), δ < 1, as `maximum_range` returns it."""
        epsilon, delta = EPSILON.validate(epsilon), DELTA.validate(delta)
        if delta == 1:
            raise ValueError("delta (allowed failure) must be below 1, since every range has that δ; got 1.")
        if not self.prior_method.calibrated:
            return 0.0
        if delta > 0:
            reach = gaussian_ratio(epsilon, delta) / self.ratio(1.0)
            return round_to_private_side(reach, 0.0, lambda value: surely_within(self.ratio(value), epsilon, delta))
        # ε = B for a single row, and B ≤ ε < 2B for more, where B is the square of R/σ times:
        variance, copies = self._conditioned
        reach = math.sqrt(epsilon / (2 * self.shrinkage * copies / (variance * self.n)))
        if self.n > 1:
            low, high = math.log(reach / math.sqrt(2)) - 1e-9, math.log(reach) + 1e-9
            solution = brentq(lambda log: math.log(self.pure_epsilon(math.exp(log)) / epsilon), low, high, xtol=1e-14)
            reach = math.exp(float(solution))
        allowed = epsilon * (1 - PURE_EPSILON_ROUNDING)
        return round_to_private_side(reach, 0.0, lambda value: self.pure_epsilon(value) <= allowed)


def maximum_range(
    method: str, *, n: int, m: int = 1, sigma: float = 1.0, sigma0: float = math.inf, epsilon: float,
    delta: float = 0.0, sets: int = 1,
) -> float:  # fmt: skip
    """Largest R/σ with which a Gaussian release is private, rounded to the private side; 0 for PARAM_MAP.

    Parameters
    ----------
    method : str
        Key of `PRIOR_METHODS`.
    n, m : int
        Confidential rows, and numbers of one set.
    sigma, sigma0 : float
        Standard deviations of a row, and of the prior mean; ∞ for a flat prior.
    epsilon, delta : float
        Of all sets together, ε from 1e-6 to 1,000.
    sets : int

    Notes
    -----
    0 < δ < 1: nothing is truncated, and R/σ = r n √v / (2 s σ √M) with r from `gaussian_ratio`. δ = 0: the inverse of
    `GaussianRelease.pure_epsilon`. Zheng (2015), chapter 7, bounds it; Balle & Wang (2018), Theorem 8, for δ > 0.

    Examples
    --------
    >>> round(maximum_range("param_post", n=100, sigma0=1.0, epsilon=1.0, delta=1e-5), 3)
    1.347
    >>> round(maximum_range("param_post", n=100, epsilon=1.0), 5)
    0.52085
    """
    release = GaussianRelease(method=method, n=n, m=m, sigma=sigma, sigma0=sigma0, sets=sets)
    return release.largest(epsilon, delta)


def _truncated_rows(centers: FloatArray, precision: float, m: int, reach: float) -> tuple[FloatArray, FloatArray]:
    """ln Z and R − E[t] of the m rows of SYNTH_Post(One): Z = ∫ N(μ; center, 1/precision) Pr(|z| ≤ R | μ)^m dμ."""
    # The mode of the integrand, which is log-concave, roughly: it lies between the center, which is at most 0, and 0
    low, high = centers, np.zeros_like(centers)
    for _ in range(20):
        mode = (low + high) / 2
        is_rising = m * (reach - _truncated_normal(mode, reach)[1] - mode) > precision * (mode - centers)
        low, high = np.where(is_rising, mode, low), np.where(is_rising, high, mode)

    # On both sides of it the integrand falls as fast as N(0, 1/precision) at least
    margin = math.sqrt(2 * INTEGRAND_DROP / precision)
    points = mode[:, None] + margin * np.append(-FROM_MODE, FROM_MODE)
    log_mass, gap = _truncated_normal(points, reach)
    log_values = m * log_mass - precision / 2 * (points - centers[:, None]) ** 2
    top = log_values.max(axis=1)
    weights = np.exp(log_values - top[:, None]) * np.tile(MODE_WEIGHTS, 2)
    total = weights.sum(axis=1)
    return top + np.log(total * margin * math.sqrt(precision / (2 * math.pi))), (weights * gap).sum(axis=1) / total


def _truncated_normal(centers: FloatArray, half_width: float) -> tuple[FloatArray, FloatArray]:
    """ln Pr(|Y| ≤ h) and h − E[Y | |Y| ≤ h] for Y ~ N(center, 1), each to nearly full relative precision."""
    if half_width < NARROW_TRUNCATION:
        share = (1 + ABSCISSAS) / 2
        values = half_width * ABSCISSAS
        weights = np.exp(centers[..., None] * values - values**2 / 2) * ABSCISSA_WEIGHTS
        total = weights.sum(axis=-1)
        log_mass = np.log(total * (half_width / math.sqrt(2 * math.pi))) - centers**2 / 2
        return log_mass, 2 * half_width * (weights @ share[::-1]) / total
    distance = np.abs(centers)
    near, far = half_width - distance, half_width + distance
    outside = ndtr(-near) + ndtr(-far)
    mass = ndtr(near) - ndtr(-far)
    log_mass = np.where(outside < 0.5, np.log1p(-np.minimum(outside, 0.5)), np.log(mass))
    pull = np.sign(centers) * (np.exp(-(far**2) / 2) - np.exp(-(near**2) / 2)) / math.sqrt(2 * math.pi)
    return log_mass, half_width - centers - pull / mass
