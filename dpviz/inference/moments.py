"""Closed-form means and variances: of a released proportion, and of q̄, v̄, b and T_M of M sets."""

import math
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from scipy.special import ndtr

from dpviz.calibration.methods import CALIBRATED_METHODS, PriorMethod
from dpviz.core.declarations import PROPORTION, SETS
from dpviz.core.parameters import argument, validate_choice
from dpviz.core.types import FloatArray, IntArray
from dpviz.inference.confidential import binomial_distribution
from dpviz.inference.sum_distribution import matrix_rows
from dpviz.mechanisms import BetaBinomial, TwoCellSynthesizer
from dpviz.mechanisms.plug_ins import PlugIn

ANY_ROWS = argument("n", 1, 10**12, title="rows", integer=True)
MANY_SETS = argument("sets", 1, 10**12, title="released sets", integer=True)
ANY_PRIOR = argument("alpha", 0, 1e15, title="prior rows", open_minimum=True)
RANGE_OVER_SIGMA = argument("range_over_sigma", 0, math.inf, domain_text="a number, 0 or larger")
MANY_CELLS = argument("cells", 2, 1_000_000, integer=True)


@dataclass(frozen=True, kw_only=True)
class ProportionMoments:
    """Mean and variance of the released proportion beside the true p: what the sample varies, and what is added."""

    proportion: float
    mean: float
    sampling_variance: float
    release_variance: float

    @property
    def bias(self) -> float:
        """E[q] − p."""
        return self.mean - self.proportion

    @property
    def standard_error(self) -> float:
        """√Var(q)."""
        return math.sqrt(self.sampling_variance + self.release_variance)


def proportion_moments(
    method: str, *, n: int, m: int, alpha: float, beta: float, proportion: float, sets: int = 1
) -> ProportionMoments:
    """Return the mean and variance of q, the mean over the sets of the share of ones, when n1 ~ Binomial(n, p).

    With A = n + α + β and θ = (n1 + α) / A: E[q] = (np + α) / A, Var(θ) = np(1 − p) / A², and E[θ(1 − θ)] =
    E[θ](1 − E[θ]) − Var(θ). Given n1 the variance is θ(1 − θ)/M times 1/m for SYNTH_Post(Many), and for SYNTH_MAP with
    α − 1 and β − 1; 1/(A + 1) for PARAM_Post; 1/(A + 1) + A/(A + 1)/m for SYNTH_Post(One), as in Charest (2011), §4.

    >>> moments = proportion_moments("synth_post_one", n=1, m=1, alpha=1, beta=1, proportion=0.5)
    >>> moments.mean, round(moments.standard_error**2, 12)  # 0 or 1 with probability 1/2 each
    (0.5, 0.25)
    """
    validate_choice("method", method, CALIBRATED_METHODS)
    n = ANY_ROWS.validate(n)
    m = ANY_ROWS.validate(m, name="m")
    alpha = ANY_PRIOR.validate(alpha)
    beta = ANY_PRIOR.validate(beta, name="beta")
    proportion = PROPORTION.validate(proportion, name="proportion")
    sets = MANY_SETS.validate(sets)
    made = CALIBRATED_METHODS[method]
    return _moments(made, n, m, _effective(made, "alpha", alpha), _effective(made, "beta", beta), proportion, sets)


def _effective(method: PriorMethod, name: str, prior: float) -> float:
    """Return the invented rows that a prior adds to a count; none where it is as small as can be."""
    if method.lost:
        argument(name, method.lost, ANY_PRIOR.maximum, title=ANY_PRIOR.title).validate(prior)
    return prior - method.lost


def _moments(
    method: PriorMethod, n: int, m: int, alpha: float, beta: float, proportion: float, sets: int
) -> ProportionMoments:
    total = n + alpha + beta
    mean = (n * proportion + alpha) / total
    between = n * proportion * (1 - proportion) / total**2
    release = (mean * (1 - mean) - between) * method.spread(total, m) / sets
    return ProportionMoments(proportion=proportion, mean=mean, sampling_variance=between, release_variance=release)


def cell_moments(
    method: str, *, n: int, m: int, alpha: float, cells: int, proportion: float, sets: int = 1
) -> ProportionMoments:
    """`proportion_moments` of one of k cells, all of which have the same prior α.

    The other cells together have k − 1 times as many invented rows: (k − 1) α, or (k − 1)(α − 1) for the mode.

    >>> cell_moments("synth_post_one", n=3, m=1, alpha=2.0, cells=3, proportion=1.0).mean  # (3 + 2) / 9
    0.5555555555555556
    """
    validate_choice("method", method, CALIBRATED_METHODS)
    n = ANY_ROWS.validate(n)
    m = ANY_ROWS.validate(m, name="m")
    alpha = ANY_PRIOR.validate(alpha)
    cells = MANY_CELLS.validate(cells)
    proportion = PROPORTION.validate(proportion, name="proportion")
    sets = MANY_SETS.validate(sets)
    made = CALIBRATED_METHODS[method]
    effective = _effective(made, "alpha", alpha)
    return _moments(made, n, m, effective, (cells - 1) * effective, proportion, sets)


def share_beyond(range_over_sigma: float) -> float:
    """Return the share 2 Φ(−R/σ) of rows of N(0, σ²) that a range [−R, R] cuts off, R/σ at least 0.

    >>> share_beyond(0.0), round(share_beyond(1.959964), 6)
    (1.0, 0.05)
    """
    range_over_sigma = RANGE_OVER_SIGMA.validate(range_over_sigma)
    return float(2 * ndtr(-range_over_sigma))


@dataclass(frozen=True)
class SetMoments:
    """Mean and variance of q̄, v̄, b and T_M; NaN for b and T_M of a single set. `slope` is dE[q̄]/dp."""

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


class CentralMoments(NamedTuple):
    """Mean, E[q(1 − q)] and central moments of order 2, 3, 4 of one set's q given x, one number for each x."""

    mean: FloatArray
    spread: FloatArray
    second: FloatArray
    third: FloatArray
    fourth: FloatArray


def set_moments(synthesizer: TwoCellSynthesizer, *, p: float, sets: int) -> SetMoments:
    """E and Var of q̄, v̄, b and T_M = (1 + 1/M) b − v̄ in closed form given x, then over x ~ Binomial(n, p).

    Given x the M counts are independent. With μ, σ², κ₃, κ₄ the mean and the central moments of q:
    E[q̄] = μ, Var(q̄) = σ²/M; E[b] = σ², Var(b) = (κ₄ − σ⁴ (M − 3)/(M − 1))/M; m E[v̄] = E[q(1 − q)], m² M Var(v̄) =
    (1 − 2μ)² σ² − 2(1 − 2μ) κ₃ + κ₄ − σ⁴; m M Cov(b, v̄) = (1 − 2μ) κ₃ − κ₄ + σ⁴.
    Source: Charest (2011), §3.2 and §3.3, who simulates them; for Var(b) Cramér (1946), §27.4.

    >>> found = set_moments(BetaBinomial(n=1, m=1, alpha=1, beta=1), p=0.5, sets=2)  # q repeats x with probability 2/3
    >>> round(found.mean_estimate, 12), round(found.mean_between * 9, 12), round(found.variance_estimate * 36, 12)
    (0.5, 2.0, 5.0)
    """
    p = PROPORTION.validate(p)
    sets = SETS.validate(sets)
    m, weights = synthesizer.m, binomial_distribution(synthesizer.n, p)
    (counts,) = np.nonzero(weights)
    weights = weights[counts]
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
        total_variance = raised**2 * between_variance + within_variance - 2 * raised * covariance
        total = _total(weights, raised * q.second - within, total_variance)
    return SetMoments(p, _slope(synthesizer, p, counts, weights, q.mean), *estimate, *spread, *between, *total)


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
    """Return the mean, E[q(1 − q)] and central moments of q = x̃/m given each x of `counts`.

    For a binomial whose proportion is Beta(α + x, β + n − x) or fixed, the closed forms of the factorial moments,
    arranged so that no digits cancel; for every other synthesizer sums over the row of the transition matrix.
    """
    m = synthesizer.m
    if isinstance(synthesizer, BetaBinomial):
        a, b = synthesizer.alpha + counts, synthesizer.beta + (synthesizer.n - counts)
        whole = a + b
        theta, rest = a / whole, b / whole
        v2 = theta * rest / (whole + 1)
        v3 = 2 * v2 * (rest - theta) / (whole + 2)
        v4 = 3 * v2 * (2 + theta * rest * (whole - 6)) / ((whole + 2) * (whole + 3))
        w = theta * rest * (whole / (whole + 1))
        return _mixed(theta, rest, w, w * ((a + 1) / (whole + 2)) * ((b + 1) / (whole + 3)), (v2, v3, v4), m)
    if isinstance(synthesizer, PlugIn):
        share, other = synthesizer.proportions(counts)
        zero = np.zeros(len(counts))
        return _mixed(share, other, share * other, (share * other) ** 2, (zero, zero, zero), m)
    rows = matrix_rows(synthesizer, counts)
    q = np.arange(m + 1) / m
    mean = rows @ q
    distance = q - mean[:, None]
    square = distance * distance
    weighted = rows * square
    second, third, fourth = (
        weighted.sum(axis=1),
        *(np.einsum("xj,xj->x", weighted, more) for more in (distance, square)),
    )
    return CentralMoments(mean, rows @ (q * (1 - q)), second, third, fourth)


def _mixed(
    mean: FloatArray, rest: FloatArray, w: FloatArray, w_squared: FloatArray, moments: tuple[FloatArray, ...], m: int
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
    """Return the mean and variance of a mixture."""
    mean = float(weights @ means)
    return mean, max(float(weights @ variances + weights @ (means - mean) ** 2), 0.0)
