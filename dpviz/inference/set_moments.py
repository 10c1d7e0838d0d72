"""Means and variances of what M synthetic sets tell: q̄, v̄, b and the unadjusted variance T_M."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from dpviz.analysis import PROPORTION, SETS
from dpviz.checked import checked
from dpviz.inference.confidential import binomial_law, check_design, released_rows
from dpviz.synthesizers import BetaBinomial, TwoCellSynthesizer
from dpviz.synthesizers.plug_ins import PlugIn
from dpviz.types import FloatArray, IntArray


@dataclass(frozen=True, kw_only=True)
class SetMoments:
    """Mean and variance of q̄, v̄, b and T_M = (1 + 1/M) b − v̄, over the confidential rows and M releases.

    Parameters
    ----------
    proportion
        The true p.
    slope
        dE[q̄]/dp, by which an interval for E[q̄] is divided to become one for p: n/(n + α + β) with a prior. NaN where
        x is fixed.
    mean_estimate, variance_estimate
        E[q̄] and Var(q̄).
    mean_within, variance_within
        E[v̄] and Var(v̄).
    mean_between, variance_between
        E[b] and Var(b); NaN for a single set.
    mean_total, variance_total
        E[T_M] and Var(T_M); NaN for a single set.
    """

    proportion: float
    slope: float
    mean_estimate: float
    variance_estimate: float
    mean_within: float
    variance_within: float
    mean_between: float
    variance_between: float
    mean_total: float
    variance_total: float

    @property
    def bias(self) -> float:
        """E[q̄] − p."""
        return self.mean_estimate - self.proportion

    @property
    def relative_bias_of_total(self) -> float:
        """(E[T_M] − Var(q̄)) / Var(q̄); NaN where q̄ does not vary."""
        return self.mean_total / self.variance_estimate - 1 if self.variance_estimate > 0 else math.nan


class CentralMoments(NamedTuple):
    """Mean, E[q(1 − q)] and central moments of order 2, 3, 4 of one set's q given x, one number for each x."""

    mean: FloatArray
    spread: FloatArray
    second: FloatArray
    third: FloatArray
    fourth: FloatArray


@checked(p=PROPORTION, sets=SETS)
def set_moments(
    synthesizer: TwoCellSynthesizer, *, p: float, sets: int, confidential_count: int | None = None
) -> SetMoments:
    """E and Var of q̄, v̄, b and T_M = (1 + 1/M) b − v̄ in closed form given x, then over x ~ Binomial(n, p).

    Given x the M counts are independent. With μ, σ², κ₃, κ₄ the mean and the central moments of q: E[q̄] = μ, Var(q̄) =
    σ²/M; E[b] = σ², Var(b) = (κ₄ − σ⁴ (M − 3)/(M − 1))/M; m E[v̄] = E[q(1 − q)], m² M Var(v̄) = (1 − 2μ)² σ² −
    2(1 − 2μ) κ₃ + κ₄ − σ⁴; m M Cov(b, v̄) = (1 − 2μ) κ₃ − κ₄ + σ⁴. The law of total variance does the rest.

    Parameters
    ----------
    synthesizer
        Synthesizer of one set of two counts.
    p
        True proportion, 0 to 1.
    sets
        M, 1 to 100; b and T_M are NaN for one set.
    confidential_count
        x, where it is to be fixed; x ~ Binomial(n, p) where None.

    Raises
    ------
    ValueError
        Where a number is out of its domain.

    Source: Charest (2011), §3.2 and §3.3, who simulates them; the variance of a sample variance is Cramér's (1946),
    §27.4.

    Examples
    --------
    One row that is 1 with probability 1/2, one draw for each of two sets: q is 2/3 likely to repeat it.

    >>> release = BetaBinomial(n=1, m=1, alpha=1, beta=1)
    >>> found = set_moments(release, p=0.5, sets=2)
    >>> round(found.mean_estimate, 12), round(found.mean_between * 9, 12), round(found.variance_estimate * 36, 12)
    (0.5, 2.0, 5.0)
    """
    p, sets, fixed = check_design(synthesizer, p, sets, confidential_count)
    n, m = synthesizer.n, synthesizer.m
    counts = np.arange(n + 1) if fixed is None else np.array([fixed])
    weights = binomial_law(n, p) if fixed is None else np.ones(1)
    counts, weights = counts[weights > 0], weights[weights > 0]
    q = central_moments(synthesizer, counts)
    skew, excess = (1 - 2 * q.mean) * q.third, q.fourth - q.second**2
    within = q.spread / m
    within_variance = ((1 - 2 * q.mean) ** 2 * q.second - 2 * skew + excess) / (m**2 * sets)
    estimate = _total(weights, q.mean, q.second / sets)
    spread = _total(weights, within, within_variance)
    between = total = (math.nan, math.nan)
    if sets > 1:
        raised = 1 + 1 / sets
        between_variance = (excess + q.second**2 * 2 / (sets - 1)) / sets
        covariance = (skew - excess) / (m * sets)
        between = _total(weights, q.second, between_variance)
        total = _total(
            weights,
            raised * q.second - within,
            raised**2 * between_variance + within_variance - 2 * raised * covariance,
        )
    return SetMoments(
        proportion=p,
        slope=math.nan if fixed is not None else _slope(synthesizer, p, counts, weights, q.mean),
        mean_estimate=estimate[0],
        variance_estimate=estimate[1],
        mean_within=spread[0],
        variance_within=spread[1],
        mean_between=between[0],
        variance_between=between[1],
        mean_total=total[0],
        variance_total=total[1],
    )


def _slope(
    synthesizer: TwoCellSynthesizer, p: float, counts: IntArray, weights: FloatArray, means: FloatArray
) -> float:
    """dE[q̄]/dp for x ~ Binomial(n, p): Cov(x, E[q | x]) / (p (1 − p)), and n times the last step at p = 0 and 1."""
    if len(counts) == 1:
        ends = np.array([0, 1]) if p < 0.5 else np.array([synthesizer.n - 1, synthesizer.n])
        return synthesizer.n * float(np.diff(central_moments(synthesizer, ends).mean)[0])
    change = means - means[np.argmax(weights)]  # exactly 0 where E[q | x] does not depend on x
    return float(weights @ ((counts - synthesizer.n * p) * change)) / (p * (1 - p))


def central_moments(synthesizer: TwoCellSynthesizer, counts: IntArray) -> CentralMoments:
    """Mean, E[q(1 − q)] and central moments of q = x̃/m given each x of `counts`.

    A binomial with proportion θ, which is Beta(α + x, β + n − x) for the posterior draw and fixed for the plug-ins:
    the closed forms that the factorial moments give, arranged so that no digits cancel. Sums over the row of the
    transition matrix for every other synthesizer.

    Examples
    --------
    A fair draw of one row: q is 0 or 1.

    >>> found = central_moments(BetaBinomial(n=2, m=1, alpha=1, beta=1), np.array([1]))
    >>> [round(float(value[0]), 12) for value in found]
    [0.5, 0.0, 0.25, 0.0, 0.0625]
    """
    if isinstance(synthesizer, BetaBinomial):
        ones, zeros = synthesizer.alpha + counts, synthesizer.beta + (synthesizer.n - counts)
        return _beta_binomial(ones, zeros, synthesizer.m)
    if isinstance(synthesizer, PlugIn):
        theta, rest = synthesizer.proportions(counts)
        zero = np.zeros(len(counts))
        return _mixed(theta, rest, theta * rest, (theta * rest) ** 2, (zero, zero, zero), synthesizer.m)
    rows = released_rows(synthesizer, counts)
    q = np.arange(synthesizer.m + 1) / synthesizer.m
    mean = rows @ q
    distance = q - mean[:, None]
    second, third, fourth = ((rows * distance**power).sum(axis=1) for power in (2, 3, 4))
    return CentralMoments(mean, rows @ (q * (1 - q)), second, third, fourth)


def _beta_binomial(a: FloatArray, b: FloatArray, m: int) -> CentralMoments:
    """q given θ ~ Beta(a, b)."""
    whole = a + b
    theta, rest = a / whole, b / whole
    v2 = theta * rest / (whole + 1)
    v3 = 2 * v2 * (rest - theta) / (whole + 2)
    v4 = 3 * v2 * (2 + theta * rest * (whole - 6)) / ((whole + 2) * (whole + 3))
    w = theta * rest * (whole / (whole + 1))
    w_squared = w * ((a + 1) / (whole + 2)) * ((b + 1) / (whole + 3))
    return _mixed(theta, rest, w, w_squared, (v2, v3, v4), m)


def _mixed(
    mean: FloatArray,
    rest: FloatArray,
    w: FloatArray,
    w_squared: FloatArray,
    moments: tuple[FloatArray, FloatArray, FloatArray],
    m: int,
) -> CentralMoments:
    """Binomial(m, θ)/m mixed over θ, from E[θ], 1 − E[θ], E[θ(1 − θ)], E[(θ(1 − θ))²] and central moments of θ."""
    v2, v3, v4 = moments
    lean = rest - mean
    dw = lean * v2 - v3
    d2w = mean * rest * v2 + lean * v3 - v4
    return CentralMoments(
        mean,
        w * (1 - 1 / m),
        w / m + v2,
        (lean * w - 2 * dw) / m**2 + 3 * dw / m + v3,
        (w + 3 * (m - 2) * w_squared) / m**3 + 4 * (lean * dw - 2 * d2w) / m**2 + 6 * d2w / m + v4,
    )


def _total(weights: FloatArray, means: FloatArray, variances: FloatArray) -> tuple[float, float]:
    """Mean and variance of a mixture."""
    mean = float(weights @ means)
    return mean, max(float(weights @ variances + weights @ (means - mean) ** 2), 0.0)
