"""The largest range R/σ of the data with which Gaussian releases of known variance are private, exactly.

Data lie in [−R, R]; their model is N(μ, σ²) with σ known and the prior μ ~ N(0, σ0²). Substituting one of n rows moves
the mean x̄ by up to 2R/n. The posterior is N(s x̄, σ_μ²), s = σ0²/(σ²/n + σ0²), σ_μ² = 1/(n/σ² + 1/σ0²) = s σ²/n.

(ε, δ), nothing truncated: each release depends on x̄ through one normal statistic, so it is a Gaussian mechanism.

Pure ε, each released number conditioned to [−R, R]: the worst pair is the most extreme data and the furthest of its
neighbours, by the proof in `dpviz.priors.conditioned`.
"""

from __future__ import annotations

import dataclasses
import math
from dataclasses import dataclass

import numpy as np
from scipy.optimize import brentq

from dpviz import limits
from dpviz.checked import check_epsilon, checked
from dpviz.methods import METHODS, Method
from dpviz.numerics.private_side import private_side
from dpviz.parameters import DELTA, EPSILON, Parameter, shown
from dpviz.priors.conditioned import conditioned_epsilon, joint_law, single_law
from dpviz.privacy.composition import SETS as COMPOSED_SETS
from dpviz.privacy.gaussian import gaussian_delta, gaussian_epsilon, gaussian_ratio
from dpviz.synthesizers.base import ROWS, SYNTHETIC_ROWS

DATA_ROWS = dataclasses.replace(ROWS, maximum=limits.PRIOR_ROWS, default=100)
RELEASED_ROWS = dataclasses.replace(SYNTHETIC_ROWS, maximum=limits.PRIOR_ROWS, default=100)
SETS = dataclasses.replace(COMPOSED_SETS, maximum=limits.SETS, default=1)
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
SIGMA0 = Parameter(
    name="sigma0",
    symbol="σ₀",
    title="Standard deviation of the prior",
    minimum=1e-12,
    maximum=1e12,
    default=1.0,
    slider_minimum=0.01,
    slider_maximum=1e6,
    scale="log",
    private_end="smaller",
    help="How far from 0 the unknown mean is thought to lie before any data. Less is more private, and pulls the "
    "released mean towards 0; very much leaves it to the data alone.",
)
RANGE = Parameter(
    name="range_over_sigma",
    symbol="R/σ",
    title="Range of the data",
    minimum=1e-100,
    maximum=1e100,
    default=1.0,
    slider_minimum=0.01,
    slider_maximum=100.0,
    scale="log",
    private_end="smaller",
    help="Every row lies between −R and R; this is R in standard deviations of one row. A narrower range is more "
    "private, and cuts off more of the data.",
)


@dataclass(frozen=True, kw_only=True)
class GaussianRelease:
    """A release from n rows of N(μ, σ²) with the prior μ ~ N(0, σ0²), data in [−R, R].

    Parameters
    ----------
    method
        A key of `METHODS`: the posterior mode or a posterior draw of μ; m rows around the mode, around a single
        posterior draw, or each around a draw of its own.
    n, m
        Confidential and synthetic rows, 1 to 100,000; the releases of μ do not use m.
    sigma, sigma0
        σ and σ0, 1e-12 to 1e12, in the unit of the data; σ0 may be infinite, for a flat prior.
    sets
        Independent releases M, 1 to 100.

    Source: Zheng (2015), chapter 7.

    Examples
    --------
    A flat prior leaves the mean as it is; the posterior of 100 rows has a tenth of their standard deviation.

    >>> release = GaussianRelease(method="param_post", n=100, m=1, sigma=1.0, sigma0=math.inf)
    >>> release.shrinkage, release.noise_sd, round(release.ratio(1.0), 12)
    (1.0, 0.1, 0.2)
    """

    method: str
    n: int
    m: int
    sigma: float
    sigma0: float
    sets: int = 1

    def __post_init__(self) -> None:
        if not isinstance(self.method, str) or self.method not in METHODS:
            raise ValueError(f"method must be one of {', '.join(METHODS)}; got {shown(self.method)}.")
        for declaration in (DATA_ROWS, RELEASED_ROWS, SIGMA, SIGMA0, SETS):
            value = getattr(self, declaration.name)
            if declaration is SIGMA0 and isinstance(value, (float, np.floating)) and value == math.inf:
                continue
            object.__setattr__(self, declaration.name, declaration.check(value))

    @property
    def made(self) -> Method:
        """The method itself."""
        return METHODS[self.method]

    @property
    def shrinkage(self) -> float:
        """s = σ0²/(σ²/n + σ0²), the share of x̄ that the posterior mean keeps."""
        return 1 / (1 + (self.sigma / self.sigma0) ** 2 / self.n)

    @property
    def noise_sd(self) -> float:
        """Standard deviation, around s x̄, of the sufficient statistic of one set: μ, or the mean of the m rows."""
        return self.sigma * math.sqrt(self._variance)

    @property
    def _variance(self) -> float:
        """`noise_sd` squared, in units of σ²."""
        return self.made.variance(self.shrinkage / self.n, self.m)

    @checked(range_over_sigma=RANGE)
    def ratio(self, range_over_sigma: float) -> float:
        """r = √M · 2Rs/(n noise_sd), the ratio of sensitivity to noise of the untruncated release.

        Each set shows x̄ only through a normal statistic with mean s x̄, and M independent sets through their average:
        M sets are one Gaussian mechanism with √M times the ratio. Infinite for PARAM_MAP.
        """
        distance = 2 * RANGE.check(range_over_sigma) * self.shrinkage / self.n
        return math.sqrt(self.sets) * distance / math.sqrt(self._variance) if self._variance else math.inf

    @checked(range_over_sigma=RANGE, epsilon=check_epsilon)
    def delta(self, range_over_sigma: float, epsilon: float) -> float:
        """The least δ for which the untruncated release is (ε, δ)-differentially private; 1 for PARAM_MAP.

        Examples
        --------
        Zheng's Theorem 7.8 promises δ = 10⁻⁵ for R/σ = 2.084 here.

        >>> release = GaussianRelease(method="param_post", n=100, m=1, sigma=1.0, sigma0=1.0)
        >>> round(release.delta(2.084, 1.0), 5)
        0.00177
        """
        return gaussian_delta(self.ratio(range_over_sigma), epsilon)

    @checked(range_over_sigma=RANGE, delta=DELTA)
    def epsilon(self, range_over_sigma: float, delta: float) -> float:
        """The least ε for which the untruncated release is (ε, δ)-differentially private.

        Infinite for PARAM_MAP and for δ = 0: a pure promise needs the conditioning of `pure_epsilon`.
        """
        return gaussian_epsilon(self.ratio(range_over_sigma), delta)

    @checked(range_over_sigma=RANGE)
    def pure_epsilon(self, range_over_sigma: float) -> float:
        """The exact pure ε of the release whose every number is conditioned to lie in [−R, R].

        μ is conditioned, or each row on its own (SYNTH_MAP, Many), or the m rows together (One). Independent numbers
        add up: M times the ε of a set, and m times that of a row. Infinite for PARAM_MAP.
        ε > 0 rises in R; its relative error is about 1e-13.

        Source: proof in `dpviz.priors.conditioned`; Zheng (2015), Theorems 7.7 and 7.12, Corollaries 7.13 and 7.14,
        bound it.

        Examples
        --------
        With a single row the normalisers of x̄ = −R and x̄ = R are equal, so ε = 2sR²/v, with s = v = ½ here.

        >>> release = GaussianRelease(method="param_post", n=1, m=1, sigma=1.0, sigma0=1.0)
        >>> round(release.pure_epsilon(0.5), 12)
        0.5
        """
        reach = RANGE.check(range_over_sigma)
        if not self.made.calibrated:
            return math.inf
        variance, copies = self._conditioned_variance, self._copies
        law = (
            joint_law(self.shrinkage, self.n, self.m, reach)
            if self.made.rows_together
            else single_law(self.shrinkage, variance, reach)
        )
        return conditioned_epsilon(law, self.shrinkage, self.n, variance, reach, copies)

    @property
    def _conditioned_variance(self) -> float:
        """Variance v, in units of σ², of the statistic of what is conditioned together."""
        return self._variance * (self.m if self.made.independent else 1)

    @property
    def _copies(self) -> int:
        """How many independent numbers, or sets conditioned together, are released."""
        return self.sets * (self.m if self.made.independent else 1)


@checked(method=METHODS, n=DATA_ROWS, m=RELEASED_ROWS, epsilon=EPSILON, delta=DELTA, sets=SETS)
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
    """The largest R/σ with which a Gaussian release is private.

    For δ > 0 the release is not truncated: R/σ = r n noise_sd/(2 s σ √M), r from `gaussian_ratio`. For δ = 0 every
    released number is conditioned to [−R, R], and `GaussianRelease.pure_epsilon` is solved for R/σ.

    Parameters
    ----------
    method, n, m, sigma, sigma0, sets
        As in `GaussianRelease`.
    epsilon
        ε, 1e-6 to 1,000, of all sets together.
    delta
        δ, 0 ≤ δ < 1, of all sets together.

    Returns
    -------
    float
        R/σ, whose exact δ (or pure ε) is no larger than promised; 0 for PARAM_MAP, which no range makes private.

    Source: Zheng (2015), chapter 7, which bounds it; Balle & Wang (2018), Theorem 8, for δ > 0.

    Examples
    --------
    >>> round(maximum_range("param_post", n=100, sigma0=1.0, epsilon=1.0, delta=1e-5), 3)
    1.347
    >>> round(maximum_range("param_post", n=100, epsilon=1.0), 5)
    0.52085
    """
    release = GaussianRelease(method=method, n=n, m=m, sigma=sigma, sigma0=sigma0, sets=sets)
    epsilon, delta = EPSILON.check(epsilon), DELTA.check(delta)
    if delta == 1:
        raise ValueError("delta (allowed failure) must be below 1, since every range has that δ; got 1.")
    if not release.made.calibrated:
        return 0.0
    if delta > 0:
        reach = gaussian_ratio(epsilon, delta) / release.ratio(1.0)
        return private_side(reach, 0.0, lambda value: release.delta(value, epsilon) <= delta)
    # ε = B for a single row, and B ≤ ε < 2B for more, where B is the square of R/σ times:
    base = 2 * release.shrinkage * release._copies / (release._conditioned_variance * release.n)
    reach = math.sqrt(epsilon / base)
    if release.n > 1:
        low, high = math.log(reach / math.sqrt(2)) - 1e-9, math.log(reach) + 1e-9
        solution = brentq(lambda log: math.log(release.pure_epsilon(math.exp(log)) / epsilon), low, high, xtol=1e-14)
        reach = math.exp(float(solution))
    return private_side(reach, 0.0, lambda value: release.pure_epsilon(value) <= epsilon)
