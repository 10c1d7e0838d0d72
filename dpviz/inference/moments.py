"""Means and variances of a released proportion, and of q̄, v̄, b and T_M of M sets."""

import math
from dataclasses import dataclass

import numpy as np
from scipy.special import ndtr

from dpviz.calibration.methods import CALIBRATED_METHODS
from dpviz.core.declarations import PROPORTION, SETS
from dpviz.core.numerics.special import binomial_weights
from dpviz.core.parameters import argument, validate_choice
from dpviz.core.types import FloatArray, IntArray
from dpviz.inference.sum_distribution import matrix_rows
from dpviz.mechanisms import TwoCellSynthesizer

ANY_ROWS = argument("n", 1, 10**12, title="rows", integer=True)
ANY_PRIOR = argument("alpha", 0, 1e15, title="prior rows", open_minimum=True)


@dataclass(frozen=True, kw_only=True)
class ProportionMoments:
    """Mean and variance of the released proportion q; the variance is that of the sample and that of the release."""

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
    """Mean and variance of q, the mean over the sets of the released share of ones, when n1 ~ Binomial(n, p).

    Parameters
    ----------
    method : str
        Key of `CALIBRATED_METHODS`.
    n, m : int
        Confidential and released rows.
    alpha, beta : float
        Prior of the synthesizer.
    proportion : float
        True p.
    sets : int, default 1
        M.

    Notes
    -----
    With A = n + α + β and θ = (n1 + α) / A: E[q] = (np + α) / A, Var(θ) = np(1 − p) / A², and E[θ(1 − θ)] =
    E[θ](1 − E[θ]) − Var(θ). Given n1 the variance is θ(1 − θ)/M times 1/m for SYNTH_Post(Many), and for SYNTH_MAP with
    α − 1 and β − 1; 1/(A + 1) for PARAM_Post; 1/(A + 1) + A/(A + 1)/m for SYNTH_Post(One), as in Charest (2011), §4.

    Examples
    --------
    >>> moments = proportion_moments("synth_post_one", n=1, m=1, alpha=1, beta=1, proportion=0.5)
    >>> moments.mean, round(moments.standard_error**2, 12)  # 0 or 1 with probability 1/2 each
    (0.5, 0.25)
    """
    return _moments(method, n, m, {"alpha": alpha, "beta": beta}, 1, proportion, sets)


def cell_moments(
    method: str, *, n: int, m: int, alpha: float, cells: int, proportion: float, sets: int = 1
) -> ProportionMoments:
    """`proportion_moments` of one of k cells, which all have the same prior α.

    Parameters
    ----------
    method, n, m, proportion, sets
        As in `proportion_moments`.
    alpha : float
        Prior of every cell.
    cells : int
        k.

    Examples
    --------
    >>> cell_moments("synth_post_one", n=3, m=1, alpha=2.0, cells=3, proportion=1.0).mean  # (3 + 2) / 9
    0.5555555555555556
    """
    cells = argument("cells", 2, 1_000_000, integer=True).validate(cells)
    return _moments(method, n, m, {"alpha": alpha}, cells, proportion, sets)


def _moments(
    method: str, n: int, m: int, priors: dict[str, float], cells: int, proportion: float, sets: int
) -> ProportionMoments:
    """Moments of a cell with the first of the priors, each of which so many cells have."""
    validate_choice("method", method, CALIBRATED_METHODS)
    kind = CALIBRATED_METHODS[method]
    invented = []
    for name, prior in priors.items():
        prior = ANY_PRIOR.validate(prior, name=name)
        if kind.lost:
            argument(name, kind.lost, ANY_PRIOR.maximum, title=ANY_PRIOR.title).validate(prior)
        invented.append(prior - kind.lost)
    n = ANY_ROWS.validate(n)
    m = ANY_ROWS.validate(m, name="m")
    proportion = PROPORTION.validate(proportion, name="proportion")
    sets = argument("sets", 1, 10**12, title="released sets", integer=True).validate(sets)
    total = n + cells * sum(invented)
    mean = (n * proportion + invented[0]) / total
    sampling = n * proportion * (1 - proportion) / total**2
    release = max(mean * (1 - mean) - sampling, 0.0) * kind.spread(total, m) / sets
    return ProportionMoments(proportion=proportion, mean=mean, sampling_variance=sampling, release_variance=release)


def normal_tail_share(range_over_sigma: float) -> float:
    """Share 2 Φ(−R/σ) of N(0, σ²) that a range [−R, R] cuts off, R/σ at least 0.

    >>> normal_tail_share(0.0), round(normal_tail_share(1.959964), 6)
    (1.0, 0.05)
    """
    ratio = argument("range_over_sigma", 0, math.inf, domain_text="a number, 0 or larger")
    range_over_sigma = ratio.validate(range_over_sigma)
    return float(2 * ndtr(-range_over_sigma))


def release_moments(synthesizer: TwoCellSynthesizer, counts: IntArray) -> tuple[FloatArray, FloatArray]:
    """Mean and variance of one set's q = x̃/m given x, in closed form where there is one, else by sums over rows.

    Parameters
    ----------
    synthesizer : TwoCellSynthesizer
    counts : ndarray of int
        Confidential counts x.
    """
    closed = synthesizer.proportion_moments()
    if closed is not None:
        return closed[0][counts], closed[1][counts]
    rows = matrix_rows(synthesizer, counts)
    q = np.arange(synthesizer.m + 1) / synthesizer.m
    mean = rows @ q
    return mean, np.einsum("xj,xj->x", rows, (q - mean[:, None]) ** 2)


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


def set_moments(synthesizer: TwoCellSynthesizer, *, p: float, sets: int) -> SetMoments:
    """Moments of q̄, v̄, b and T_M = (1 + 1/M) b − v̄ over x ~ Binomial(n, p) and M independent sets.

    Parameters
    ----------
    synthesizer : TwoCellSynthesizer
    p : float
        True proportion.
    sets : int
        M.

    Notes
    -----
    Given x, with μ, σ², κ₃, κ₄ the mean and the central moments of q: E[q̄] = μ, Var(q̄) = σ²/M; E[b] = σ², Var(b) =
    (κ₄ − σ⁴ (M − 3)/(M − 1))/M (Cramér 1946, §27.4); m E[v̄] = E[q(1 − q)], m² M Var(v̄) = (1 − 2μ)² σ² −
    2(1 − 2μ) κ₃ + κ₄ − σ⁴; m M Cov(b, v̄) = (1 − 2μ) κ₃ − κ₄ + σ⁴. Charest (2011), §3.2 and §3.3, simulates them.

    Examples
    --------
    >>> from dpviz.mechanisms import BetaBinomial
    >>> moments = set_moments(BetaBinomial(n=1, m=1, alpha=1, beta=1), p=0.5, sets=2)  # q repeats x with Pr 2/3
    >>> round(moments.mean_estimate, 12), round(moments.mean_between * 9, 12), round(moments.variance_estimate * 36, 12)
    (0.5, 2.0, 5.0)
    """
    p = PROPORTION.validate(p)
    sets = SETS.validate(sets)
    n, m = synthesizer.n, synthesizer.m
    weights = binomial_weights(np.array([p]), n)[0]
    counts = np.flatnonzero(weights > 1e-25)  # all others together change no digit
    weights = weights[counts]

    # Moments of one set given x
    rows = matrix_rows(synthesizer, counts)
    q = np.arange(m + 1) / m
    mean = rows @ q
    distance = q - mean[:, None]
    second, third, fourth = (np.einsum("xj,xj->x", rows, distance**power) for power in (2, 3, 4))
    skew = (1 - 2 * mean) * third
    excess = fourth - second**2
    within = rows @ (q * (1 - q)) / m
    within_variance = ((1 - 2 * mean) ** 2 * second - 2 * skew + excess) / (m**2 * sets)

    # Moments of the sets over x
    estimate = _mixed(weights, mean, second / sets)
    between = total = (math.nan, math.nan)
    if sets > 1:
        factor = 1 + 1 / sets
        between_variance = (excess + second**2 * 2 / (sets - 1)) / sets
        covariance = (skew - excess) / (m * sets)
        between = _mixed(weights, second, between_variance)
        total_variance = factor**2 * between_variance + within_variance - 2 * factor * covariance
        total = _mixed(weights, factor * second - within, total_variance)

    # dE[q̄]/dp = Cov(x, E[q | x]) / (p (1 − p)), or n times the last step at p = 0 and 1
    if len(counts) == 1:
        ends = np.array([0, 1] if p < 0.5 else [n - 1, n])
        slope = n * float(np.diff(release_moments(synthesizer, ends)[0])[0])
    else:
        change = mean - mean[np.argmax(weights)]  # exactly 0 where E[q | x] does not depend on x
        slope = float(weights @ ((counts - n * p) * change)) / (p * (1 - p))
    return SetMoments(p, slope, *estimate, *_mixed(weights, within, within_variance), *between, *total)


def _mixed(weights: FloatArray, means: FloatArray, variances: FloatArray) -> tuple[float, float]:
    """Mean and variance of a mixture."""
    mean = float(weights @ means)
    return mean, max(float(weights @ variances + weights @ (means - mean) ** 2), 0.0)
