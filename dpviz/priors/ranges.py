"""The largest range R/σ of the data with which Gaussian releases of known variance are private, exactly.

Data lie in [−R, R]; their model is N(μ, σ²) with σ known and the prior μ ~ N(0, σ0²). Substituting one of n rows moves
the mean x̄ by up to 2R/n. The posterior is N(s x̄, σ_μ²), s = σ0²/(σ²/n + σ0²), σ_μ² = 1/(n/σ² + 1/σ0²) = s σ²/n.

(ε, δ), nothing truncated: each release depends on x̄ through one normal statistic, so it is a Gaussian mechanism.

Pure ε, each released number conditioned to [−R, R]. The law of the statistic t given x̄ is an exponential family with
natural parameter s x̄/v, v the variance of t before conditioning; let Z(x̄) be the probability of the condition.

1. The log-ratio of two such laws is linear in t, so it is largest where t is −R or R.
2. ln p(R | x̄) = −(R − s x̄)²/(2v) − ln Z(x̄) + constant has the derivative g(x̄) = (s/v) (R − E[t | x̄]) > 0. So of
   all neighbours of x̄ the furthest is the worst.
3. E[t | x̄] rises in x̄ (a log-partition function is convex), so g falls: ln p(R | x̄) is concave, and a step of 2R/n
   gains most where it starts lowest. With the mirror image for the end −R,

       ε = ln p(R | −R + 2R/n) − ln p(R | −R) = ∫ g(x̄) dx̄ from −R to −R + 2R/n.

4. By symmetry E[t | x̄] ≤ 0 for x̄ ≤ 0, and E[t | x̄] > −R. So with B = 2sR²/(nv): ε = B for n = 1, else B ≤ ε < 2B.

So no scan over data is needed. A short step is integrated from the positive g; a long one, where ε ≥ n/2, is the
difference of log-normalisers. Neither loses digits.
"""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from scipy.optimize import brentq
from scipy.special import ndtr

from dpviz.parameters import DELTA, EPSILON, Parameter
from dpviz.privacy.gaussian import gaussian_delta, gaussian_epsilon, gaussian_ratio, private_side
from dpviz.synthesizers.base import ROWS, SYNTHETIC_ROWS
from dpviz.types import FloatArray

RANGE_METHODS = {
    "param_map": "PARAM_MAP",
    "param_post": "PARAM_Post",
    "synth_map": "SYNTH_MAP",
    "synth_post_one": "SYNTH_Post(One)",
    "synth_post_many": "SYNTH_Post(Many)",
}
"""Names of the releases in signatures, each with Zheng's label."""

DATA_ROWS = dataclasses.replace(ROWS, maximum=100_000, default=100)
RELEASED_ROWS = dataclasses.replace(SYNTHETIC_ROWS, maximum=100_000, default=100)
SETS = Parameter(
    name="sets",
    symbol="M",
    title="Synthetic sets",
    minimum=1,
    maximum=100,
    default=1,
    integer=True,
    scale="log",
    private_end="smaller",
    help="Independent releases from the same data. Fewer are more private.",
)
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

ABSCISSAS, SHARES = np.polynomial.legendre.leggauss(12)
"""Gauss-Legendre rule on [−1, 1], for integrands that a few terms of their Taylor series describe."""

NARROW = 0.5
"""Half-width in standard deviations below which a truncated normal law is integrated rather than subtracted."""

POINTS, COARSE, DROP = 200, 33, 45.0
"""Points of the trapezoid rule and of the search for its ends, and nats that the integrand has fallen by there."""

Conditioned = Callable[[FloatArray], tuple[FloatArray, FloatArray]]
"""ln Z(x̄) and R − E[t | x̄] for means x̄, all in units of σ."""


@dataclass(frozen=True, kw_only=True)
class GaussianRelease:
    """A release from n rows of N(μ, σ²) with the prior μ ~ N(0, σ0²), data in [−R, R].

    Parameters
    ----------
    method
        A key of `RANGE_METHODS`: the posterior mode or a posterior draw of μ; m rows around the mode, around a single
        posterior draw, or each around a draw of its own.
    n
        Confidential rows, 1 to 100,000.
    m
        Synthetic rows, 1 to 100,000; the releases of μ do not use it.
    sigma
        σ, 1e-12 to 1e12, in the unit of the data.
    sigma0
        σ0, 1e-12 to 1e12 in the unit of the data, or infinite for a flat prior.
    sets
        Independent releases M, 1 to 100.

    Raises
    ------
    ValueError
        Where a parameter is outside its domain.

    Source: Zheng (2015), chapter 7.

    Examples
    --------
    A flat prior leaves the mean as it is; the posterior of 100 rows has a tenth of their standard deviation.

    >>> release = GaussianRelease(method="param_post", n=100, m=1, sigma=1.0, sigma0=math.inf)
    >>> release.shrinkage, release.posterior_sd, round(release.ratio(1.0), 12)
    (1.0, 0.1, 0.2)
    """

    method: str
    n: int
    m: int
    sigma: float
    sigma0: float
    sets: int = 1

    def __post_init__(self) -> None:
        if self.method not in RANGE_METHODS:
            raise ValueError(f"method must be one of {', '.join(RANGE_METHODS)}; got {self.method!r}.")
        for declaration in (DATA_ROWS, RELEASED_ROWS, SIGMA, SIGMA0, SETS):
            value = getattr(self, declaration.name)
            if declaration is SIGMA0 and isinstance(value, (float, np.floating)) and value == math.inf:
                continue
            object.__setattr__(self, declaration.name, declaration.check(value))

    @property
    def shrinkage(self) -> float:
        """s = σ0²/(σ²/n + σ0²), the share of x̄ that the posterior mean keeps."""
        return 1 / (1 + (self.sigma / self.sigma0) ** 2 / self.n)

    @property
    def posterior_sd(self) -> float:
        """σ_μ = (n/σ² + 1/σ0²)^−½ = σ √(s/n)."""
        return self.sigma * math.sqrt(self.shrinkage / self.n)

    @property
    def noise_sd(self) -> float:
        """Standard deviation, around s x̄, of the sufficient statistic of one set: μ, or the mean of the m rows."""
        return self.sigma * math.sqrt(self._variance)

    @property
    def _variance(self) -> float:
        """`noise_sd` squared, in units of σ²."""
        posterior, rows = self.shrinkage / self.n, 1 / self.m
        return {
            "param_map": 0.0,
            "param_post": posterior,
            "synth_map": rows,
            "synth_post_one": posterior + rows,
            "synth_post_many": (1 + posterior) * rows,
        }[self.method]

    def ratio(self, range_over_sigma: float) -> float:
        """r = √M · 2Rs/(n noise_sd), the ratio of sensitivity to noise of the untruncated release.

        Each set shows x̄ only through a normal statistic with mean s x̄, and M independent sets through their average:
        M sets are one Gaussian mechanism with √M times the ratio. Infinite for PARAM_MAP.
        """
        distance = 2 * RANGE.check(range_over_sigma) * self.shrinkage / self.n
        return math.sqrt(self.sets) * distance / math.sqrt(self._variance) if self._variance else math.inf

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

    def epsilon(self, range_over_sigma: float, delta: float) -> float:
        """The least ε for which the untruncated release is (ε, δ)-differentially private.

        Infinite for PARAM_MAP and for δ = 0: a pure promise needs the conditioning of `pure_epsilon`.
        """
        return gaussian_epsilon(self.ratio(range_over_sigma), delta)

    def pure_epsilon(self, range_over_sigma: float) -> float:
        """The exact pure ε of the release whose every number is conditioned to lie in [−R, R].

        μ is conditioned, or each row on its own (SYNTH_MAP, Many), or the m rows together (One). Independent numbers
        add up: M times the ε of a set, and m times that of a row. Infinite for PARAM_MAP.

        Parameters
        ----------
        range_over_sigma
            R/σ, 1e-100 to 1e100.

        Returns
        -------
        float
            ε > 0, rising in R; relative error about 1e-13.

        Source: the module's proof; Zheng (2015), Theorems 7.7 and 7.12, Corollaries 7.13 and 7.14, bound it.

        Examples
        --------
        With a single row the normalisers of x̄ = −R and x̄ = R are equal, so ε = 2sR²/v, with s = v = ½ here.

        >>> release = GaussianRelease(method="param_post", n=1, m=1, sigma=1.0, sigma0=1.0)
        >>> round(release.pure_epsilon(0.5), 12)
        0.5
        """
        reach = RANGE.check(range_over_sigma)
        if self.method == "param_map":
            return math.inf
        variance, copies = self._conditioned_variance, self._copies
        base = 2 * self.shrinkage * reach / variance * reach / self.n
        if self.n == 1:
            return copies * base
        law = self._joint_law(reach) if self.method == "synth_post_one" else self._single_law(reach, variance)
        length = 2 * reach / self.n
        if self.shrinkage * length <= math.sqrt(variance):
            _, gap = law(-reach + length * (1 + ABSCISSAS) / 2)
            return copies * base * float(gap / reach @ SHARES) / 2
        (low, high), _ = law(np.array([-reach, length - reach]))
        return copies * (base * (1 + self.shrinkage * (1 - 1 / self.n)) - float(high - low))

    @property
    def _conditioned_variance(self) -> float:
        """Variance v, in units of σ², of the statistic of what is conditioned together."""
        return self._variance * (self.m if self.method in ("synth_map", "synth_post_many") else 1)

    @property
    def _copies(self) -> int:
        """How many independent numbers, or sets conditioned together, are released."""
        return self.sets * (self.m if self.method in ("synth_map", "synth_post_many") else 1)

    def _single_law(self, reach: float, variance: float) -> Conditioned:
        """One number, N(s x̄, v) conditioned to [−R, R]."""
        sd = math.sqrt(variance)

        def law(means: FloatArray) -> tuple[FloatArray, FloatArray]:
            log_mass, gap = _truncated_normal(self.shrinkage * means / sd, reach / sd)
            return log_mass, sd * gap

        return law

    def _joint_law(self, reach: float) -> Conditioned:
        """The m rows of SYNTH_Post(One) together: Z = ∫ N(μ; s x̄, σ_μ²) Pr(|z| ≤ R | μ)^m dμ.

        Given μ the conditioned rows are independent, so R − E[z̄ | x̄] is an average of positive R − E[z | μ].
        """
        precision = self.n / self.shrinkage
        margin = math.sqrt(2 * DROP / precision)

        def log_integrand(centres: FloatArray, shifts: FloatArray) -> tuple[FloatArray, FloatArray]:
            log_mass, gap = _truncated_normal(centres + shifts, reach)
            return self.m * log_mass - precision / 2 * shifts**2, gap

        def law(means: FloatArray) -> tuple[FloatArray, FloatArray]:
            centres = self.shrinkage * means[:, None]  # at most 0, so that the mode is shifted by 0 to −centre
            low, high = _zoom(
                lambda shifts: log_integrand(centres, shifts)[0], np.full_like(centres, -margin), margin - centres
            )
            log_values, gap = log_integrand(centres, low + (high - low) * np.linspace(0, 1, POINTS))
            top = log_values.max(axis=1, keepdims=True)
            weights = np.exp(log_values - top)
            total = weights.sum(axis=1)
            spacing = (high - low)[:, 0] / (POINTS - 1)
            log_mass = top[:, 0] + np.log(total * spacing * math.sqrt(precision / (2 * math.pi)))
            return log_mass, (weights * gap).sum(axis=1) / total

        return law


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

    Raises
    ------
    ValueError
        Where a parameter is outside its domain.

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
    if method == "param_map":
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


def _truncated_normal(centres: FloatArray, half_width: float) -> tuple[FloatArray, FloatArray]:
    """ln Pr(|Y| ≤ h) and h − E[Y | |Y| ≤ h] for Y ~ N(centre, 1), each to nearly full relative precision."""
    if half_width < NARROW:
        share = (1 + ABSCISSAS) / 2
        values = half_width * ABSCISSAS
        weights = np.exp(centres[..., None] * values - values**2 / 2) * SHARES
        total = weights.sum(axis=-1)
        log_mass = np.log(total * (half_width / math.sqrt(2 * math.pi))) - centres**2 / 2
        return log_mass, 2 * half_width * (weights @ share[::-1]) / total
    distance = np.abs(centres)
    near, far = half_width - distance, half_width + distance
    outside = ndtr(-near) + ndtr(-far)
    mass = ndtr(near) - ndtr(-far)
    log_mass = np.where(outside < 0.5, np.log1p(-np.minimum(outside, 0.5)), np.log(mass))
    pull = np.sign(centres) * (np.exp(-(far**2) / 2) - np.exp(-(near**2) / 2)) / math.sqrt(2 * math.pi)
    return log_mass, half_width - centres - pull / mass


def _zoom(log_values: Callable[[FloatArray], FloatArray], low: FloatArray, high: FloatArray) -> tuple[FloatArray, ...]:
    """Ends, one pair for each row, beyond which a log-concave function is `DROP` below its largest value.

    What it leaves out is certain, since the function falls on either side; what it keeps is at most some grid cells
    too much.
    """
    shrinking = True
    while shrinking:
        grid = low + (high - low) * np.linspace(0, 1, COARSE)
        values = log_values(grid)
        kept = values > values.max(axis=1, keepdims=True) - DROP
        first = np.maximum(kept.argmax(axis=1) - 1, 0)
        last = np.minimum(COARSE - kept[:, ::-1].argmax(axis=1), COARSE - 1)
        rows = np.arange(len(grid))
        low, high = grid[rows, first][:, None], grid[rows, last][:, None]
        shrinking = bool((last - first < COARSE / 2).any())
    return low, high
