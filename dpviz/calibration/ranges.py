"""The largest range R/σ of the data with which Gaussian releases of known variance are private, exactly.

Data lie in [−R, R]; their model is N(μ, σ²) with σ known and the prior μ ~ N(0, σ0²). Substituting one of n rows moves
the mean x̄ by up to 2R/n. The posterior is N(s x̄, s σ²/n), s = σ0²/(σ²/n + σ0²). For (ε, δ) nothing is truncated: each
release depends on x̄ through one normal statistic, so it is a Gaussian mechanism. For pure ε each released number is
truncated to [−R, R], as in `dpviz.calibration.conditioned`.
"""

import dataclasses
import math
from dataclasses import dataclass

from scipy.optimize import brentq

from dpviz.calibration.conditioned import conditioned_epsilon, joint_distribution, number_distribution
from dpviz.calibration.methods import PRIOR_METHODS, PriorMethod
from dpviz.core import limits
from dpviz.core.checked import checked, declared, parameter
from dpviz.core.declarations import COMPOSED_SETS, MANY_ROWS, MANY_SYNTHETIC_ROWS
from dpviz.core.numerics.ends import private_side
from dpviz.core.parameters import ANY_EPSILON, DELTA, EPSILON, Parameter, shown
from dpviz.core.record import DeclaredFields
from dpviz.privacy.gaussian import gaussian_delta, gaussian_epsilon, gaussian_ratio, surely_within

# More than rounding changes a pure ε, so that what is calibrated on it keeps it in real numbers
PURE_EPSILON_ROUNDING = 1e-13
GAUSSIAN_SETS = dataclasses.replace(COMPOSED_SETS, maximum=limits.LARGEST_SETS, default=1)
SIGMA = Parameter(
    name="sigma",
    symbol="σ",
    title="Known standard deviation",
    minimum=1e-12,
    maximum=1e12,
    default=1.0,
    slider_minimum=0.01,
    slider_maximum=100.0,
    scale="log",
    help="The standard deviation of one row around the unknown mean. It is public.",
)
SIGMA0 = dataclasses.replace(
    SIGMA,
    name="sigma0",
    symbol="σ₀",
    title="Standard deviation of the prior",
    slider_maximum=1e6,
    private_end="smaller",
    help="How far from 0 the unknown mean is thought to lie before any data. Smaller is more private, and pulls "
    "the released mean towards 0; a very large value leaves it to the data alone.",
)
ANY_SIGMA0 = dataclasses.replace(SIGMA0, infinite=True)  # a flat prior too
RANGE_OVER_SIGMA = dataclasses.replace(
    SIGMA,
    name="range_over_sigma",
    symbol="R/σ",
    title="Range of the data",
    minimum=1e-100,
    maximum=1e100,
    private_end="smaller",
    help="Every row lies between −R and R; this is R in standard deviations of one row. A narrower range is more "
    "private, and cuts off more of the data.",
)


@dataclass(frozen=True, kw_only=True)
class GaussianRelease(DeclaredFields):
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
    sets: int = declared(GAUSSIAN_SETS, default=1)

    def __post_init__(self) -> None:
        if not isinstance(self.method, str) or self.method not in PRIOR_METHODS:
            raise ValueError(f"method must be one of {', '.join(PRIOR_METHODS)}; got {shown(self.method)}.")
        super().__post_init__()

    @property
    def made(self) -> PriorMethod:
        return PRIOR_METHODS[self.method]

    @property
    def shrinkage(self) -> float:
        """s = σ0²/(σ²/n + σ0²), the share of x̄ that the posterior mean keeps."""
        return 1 / (1 + (self.sigma / self.sigma0) ** 2 / self.n)

    @property
    def variance(self) -> float:
        """v/σ², v the variance around s x̄ of the sufficient statistic of one set: μ, or the mean of the m rows."""
        return self.made.variance(self.shrinkage / self.n, self.m)

    @checked(range_over_sigma=RANGE_OVER_SIGMA)
    def ratio(self, range_over_sigma: float) -> float:
        """r = √M · 2Rs/(n √v), sensitivity over noise of the untruncated sets' average; infinite for PARAM_MAP."""
        distance = 2 * range_over_sigma * self.shrinkage / self.n
        return math.sqrt(self.sets) * distance / math.sqrt(self.variance) if self.variance else math.inf

    @checked(range_over_sigma=RANGE_OVER_SIGMA, epsilon=ANY_EPSILON)
    def delta(self, range_over_sigma: float, epsilon: float) -> float:
        """Return the smallest δ for which the untruncated release is (ε, δ)-DP; 1 for PARAM_MAP.

        Zheng's Theorem 7.8 promises δ = 10⁻⁵ for R/σ = 2.084 here.

        >>> release = GaussianRelease(method="param_post", n=100, m=1, sigma=1.0, sigma0=1.0)
        >>> round(release.delta(2.084, 1.0), 5)
        0.00177
        """
        return gaussian_delta(self.ratio(range_over_sigma), epsilon)

    @checked(range_over_sigma=RANGE_OVER_SIGMA, delta=DELTA)
    def epsilon(self, range_over_sigma: float, delta: float) -> float:
        """Return the smallest ε for which the untruncated release is (ε, δ)-DP; infinite for PARAM_MAP and at δ = 0."""
        return gaussian_epsilon(self.ratio(range_over_sigma), delta)

    @checked(range_over_sigma=RANGE_OVER_SIGMA)
    def pure_epsilon(self, range_over_sigma: float) -> float:
        """Return the exact pure ε of the release whose every number is truncated to [−R, R].

        μ is truncated, or each row on its own (SYNTH_MAP, Many), or the m rows together (One); independent numbers
        add up. Infinite for PARAM_MAP. It rises in R; its relative error is about 1e-13. Source:
        `dpviz.calibration.conditioned`; Zheng (2015), Theorems 7.7 and 7.12, Corollaries 7.13 and 7.14, bound it.
        With a single row the normalizers of x̄ = −R and x̄ = R are equal, so ε = 2sR²/v, with s = v = ½ here.

        >>> release = GaussianRelease(method="param_post", n=1, m=1, sigma=1.0, sigma0=1.0)
        >>> round(release.pure_epsilon(0.5), 12)
        0.5
        """
        if not self.made.calibrated:
            return math.inf
        s, reach, (variance, copies) = self.shrinkage, range_over_sigma, self._conditioned
        together = self.made.rows_together
        distribution = (
            joint_distribution(s, self.n, self.m, reach) if together else number_distribution(s, variance, reach)
        )
        return conditioned_epsilon(distribution, s, self.n, variance, reach, copies)

    @property
    def _conditioned(self) -> tuple[float, int]:
        """Variance, in units of σ², of what is truncated together, and how many independent ones are released."""
        alone = self.m if self.made.independent else 1
        return self.variance * alone, self.sets * alone

    def largest(self, epsilon: float, delta: float) -> float:
        epsilon, delta = EPSILON.check(epsilon), DELTA.check(delta)
        if delta == 1:
            raise ValueError("delta (allowed failure) must be below 1, since every range has that δ; got 1.")
        if not self.made.calibrated:
            return 0.0
        if delta > 0:
            reach = gaussian_ratio(epsilon, delta) / self.ratio(1.0)
            return private_side(reach, 0.0, lambda value: surely_within(self.ratio(value), epsilon, delta))
        # ε = B for a single row, and B ≤ ε < 2B for more, where B is the square of R/σ times:
        variance, copies = self._conditioned
        reach = math.sqrt(epsilon / (2 * self.shrinkage * copies / (variance * self.n)))
        if self.n > 1:
            low, high = math.log(reach / math.sqrt(2)) - 1e-9, math.log(reach) + 1e-9
            solution = brentq(lambda log: math.log(self.pure_epsilon(math.exp(log)) / epsilon), low, high, xtol=1e-14)
            reach = math.exp(float(solution))
        return private_side(reach, 0.0, lambda value: self.pure_epsilon(value) <= epsilon * (1 - PURE_EPSILON_ROUNDING))


def maximum_range(
    method: str,
    *,
    n: int,
    m: int = 1,
    sigma: float = 1.0,
    sigma0: float = math.inf,
    epsilon: float,
    delta: float = 0.0,
    sets: int = 1,
) -> float:
    """Return the largest R/σ with which a Gaussian release is private, rounded to the private side; 0 for PARAM_MAP.

    For 0 < δ < 1 the release is not truncated: R/σ = r n √v/(2 s σ √M), r from `gaussian_ratio`. For δ = 0 it is
    that of `GaussianRelease.pure_epsilon`. ε, 1e-6 to 1,000, and δ are those of all sets together. Source: Zheng
    (2015), chapter 7, which bounds it; Balle & Wang (2018), Theorem 8, for δ > 0.

    >>> round(maximum_range("param_post", n=100, sigma0=1.0, epsilon=1.0, delta=1e-5), 3)
    1.347
    >>> round(maximum_range("param_post", n=100, epsilon=1.0), 5)
    0.52085
    """
    release = GaussianRelease(method=method, n=n, m=m, sigma=sigma, sigma0=sigma0, sets=sets)
    return release.largest(epsilon, delta)
