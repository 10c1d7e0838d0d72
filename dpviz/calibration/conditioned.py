"""The pure ε of normal distributions whose numbers are truncated to [−R, R], one at a time or all rows of a draw.

Data lie in [−R, R]; substituting one of n rows moves the mean x̄ by up to 2R/n. The distribution of the statistic t
given x̄ is an exponential family with natural parameter s x̄/v, s the shrinkage and v the variance of t before
truncation; let Z(x̄) be the probability of the range.

1. The log-ratio of two such distributions is linear in t, so it is largest where t is −R or R.
2. ln p(R | x̄) has the derivative g(x̄) = (s/v) (R − E[t | x̄]) > 0: of all neighbours of x̄ the furthest is the worst.
3. E[t | x̄] rises in x̄ (a log-partition function is convex), so g falls and a step of 2R/n gains most where it starts
   lowest. With the mirror image for −R, ε = ln p(R | −R + 2R/n) − ln p(R | −R) = ∫ g(x̄) dx̄ from −R to −R + 2R/n.
4. By symmetry E[t | x̄] ≤ 0 for x̄ ≤ 0, and E[t | x̄] > −R. So with B = 2sR²/(nv): ε = B for n = 1, else B ≤ ε < 2B.

A short step is integrated from g; a long one, where ε ≥ n/2, is the difference of log-normalizers: no digits are lost.
"""

import math
from collections.abc import Callable

import numpy as np
from scipy.special import ndtr

from dpviz.core.numerics.quadrature import INTEGRAND_DROP
from dpviz.core.types import FloatArray

# For integrands that a few terms of a Taylor series describe
ABSCISSAS, ABSCISSA_WEIGHTS = np.polynomial.legendre.leggauss(12)
# Half-width in standard deviations below which a truncated normal is integrated, not subtracted
NARROW_TRUNCATION = 0.5
TRAPEZOID_POINTS, END_SEARCH_POINTS = 200, 33  # Points of the trapezoid rule, and of the search for its ends

# ln Z(x̄) and R − E[t | x̄] for means x̄, all in units of σ.
Conditioned = Callable[[FloatArray], tuple[FloatArray, FloatArray]]


def conditioned_epsilon(
    distribution: Conditioned, shrinkage: float, n: int, variance: float, reach: float, copies: int
) -> float:
    """ε of `copies` independent statistics of one distribution, by the module's proof; s, n, v and R in units of σ."""
    base = 2 * shrinkage * reach / variance * reach / n
    if n == 1:
        return copies * base
    length = 2 * reach / n
    if shrinkage * length <= math.sqrt(variance):
        _, gap = distribution(-reach + length * (1 + ABSCISSAS) / 2)
        return copies * base * float(gap / reach @ ABSCISSA_WEIGHTS) / 2
    (low, high), _ = distribution(np.array([-reach, length - reach]))
    return copies * (base * (1 + shrinkage * (1 - 1 / n)) - float(high - low))


def number_distribution(shrinkage: float, variance: float, reach: float) -> Conditioned:
    """Return one number, N(s x̄, v) truncated to [−R, R]."""
    sd = math.sqrt(variance)

    def distribution(means: FloatArray) -> tuple[FloatArray, FloatArray]:
        log_mass, gap = _truncated_normal(shrinkage * means / sd, reach / sd)
        return log_mass, sd * gap

    return distribution


def joint_distribution(shrinkage: float, n: int, m: int, reach: float) -> Conditioned:
    """The m rows of SYNTH_Post(One) together, independent given μ: Z = ∫ N(μ; s x̄, σ_μ²) Pr(|z| ≤ R | μ)^m dμ."""
    precision = n / shrinkage
    margin = math.sqrt(2 * INTEGRAND_DROP / precision)

    def log_integrand(centres: FloatArray, shifts: FloatArray) -> tuple[FloatArray, FloatArray]:
        log_mass, gap = _truncated_normal(centres + shifts, reach)
        return m * log_mass - precision / 2 * shifts**2, gap

    def distribution(means: FloatArray) -> tuple[FloatArray, FloatArray]:
        centres = shrinkage * means[:, None]  # at most 0, so that the mode is shifted by 0 to −center
        low, high = _zoom(
            lambda shifts: log_integrand(centres, shifts)[0], np.full_like(centres, -margin), margin - centres
        )
        log_values, gap = log_integrand(centres, low + (high - low) * np.linspace(0, 1, TRAPEZOID_POINTS))
        top = log_values.max(axis=1, keepdims=True)
        weights = np.exp(log_values - top)
        total = weights.sum(axis=1)
        spacing = (high - low)[:, 0] / (TRAPEZOID_POINTS - 1)
        log_mass = top[:, 0] + np.log(total * spacing * math.sqrt(precision / (2 * math.pi)))
        return log_mass, (weights * gap).sum(axis=1) / total

    return distribution


def _truncated_normal(centres: FloatArray, half_width: float) -> tuple[FloatArray, FloatArray]:
    """ln Pr(|Y| ≤ h) and h − E[Y | |Y| ≤ h] for Y ~ N(center, 1), each to nearly full relative precision."""
    if half_width < NARROW_TRUNCATION:
        share = (1 + ABSCISSAS) / 2
        values = half_width * ABSCISSAS
        weights = np.exp(centres[..., None] * values - values**2 / 2) * ABSCISSA_WEIGHTS
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
    """Return the ends, one pair for each row, beyond which a log-concave function has fallen by `INTEGRAND_DROP`."""
    rows, shrinking = np.arange(len(low)), True
    while shrinking:
        grid = low + (high - low) * np.linspace(0, 1, END_SEARCH_POINTS)
        values = log_values(grid)
        kept = values > values.max(axis=1, keepdims=True) - INTEGRAND_DROP
        first = np.maximum(kept.argmax(axis=1) - 1, 0)
        last = np.minimum(END_SEARCH_POINTS - kept[:, ::-1].argmax(axis=1), END_SEARCH_POINTS - 1)
        low, high = grid[rows, first][:, None], grid[rows, last][:, None]
        shrinking = bool((last - first < END_SEARCH_POINTS / 2).any())
    return low, high
