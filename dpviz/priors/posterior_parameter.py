"""PARAM_Post: one draw of the proportion from its posterior is released, and no rows."""

from __future__ import annotations

import dataclasses
import math
from dataclasses import dataclass

import numpy as np
from scipy.special import betainc, betaincc, gammaln

from dpviz.parameters import Parameter
from dpviz.synthesizers._worst_pair import largest_pairs
from dpviz.synthesizers.base import ROWS, WorstCase
from dpviz.synthesizers.prior import PRIOR_ONES, PRIOR_ZEROS
from dpviz.types import FloatArray

LARGEST = 100_000
"""Most confidential and most synthetic rows of a calibration."""

MANY_ROWS: Parameter = dataclasses.replace(ROWS, maximum=LARGEST)

TINY = 1e-290
"""Size of the leading term below which tails are summed relative to it, so that they do not underflow."""

MOST_TERMS = 20_000
"""Terms of the continued fraction; so far in a tail a few dozen are enough."""

FAR = 60.0
"""Nats below the largest leading term from which a pair cannot be the worst, and is not summed."""


@dataclass(frozen=True, kw_only=True)
class PosteriorParameter:
    """θ ~ Beta(α + n1, β + n0), released as it is: Zheng's PARAM_Post.

    The log-odds ln(θ / (1 − θ)) + ln(y / x) of two neighbours that share x rows and pseudo-rows of one cell and y of
    the other have no bound, so no ε alone is ever kept; δ(ε) is positive and falls as the prior grows.

    Parameters
    ----------
    n
        Confidential rows, 1 to 100,000.
    alpha, beta
        Prior pseudo-rows with a one and with a zero, 1e-300 to 1e12.

    Source: Zheng (2015), §3.2, PARAM_Post; Theorem 6.3.

    Examples
    --------
    One row and a flat prior: Beta(2, 1) against Beta(1, 2), that is densities 2θ and 2(1 − θ). At ε = 0 they differ by
    ∫ (4θ − 2) over θ > 1/2, which is 1/2.

    >>> round(PosteriorParameter(n=1, alpha=1, beta=1).hockey_stick(0.0).value, 12)
    0.5
    """

    n: int
    alpha: float
    beta: float

    def __post_init__(self) -> None:
        for declaration in (MANY_ROWS, PRIOR_ONES, PRIOR_ZEROS):
            object.__setattr__(self, declaration.name, declaration.check(getattr(self, declaration.name)))

    def worst_log_odds(self) -> WorstCase:
        """Infinite: as θ nears 1, one more confidential one makes it likelier by any factor."""
        return WorstCase(math.inf, 1, 0)

    def hockey_stick(self, epsilon: float) -> WorstCase:
        """The largest δ over ordered neighbours, by branch and bound over all n pairs in both directions."""
        worst = self._upward(epsilon, self.alpha, self.beta)
        if self.alpha == self.beta:
            return worst
        other = self._upward(epsilon, self.beta, self.alpha)
        if other.value <= worst.value:
            return worst
        return WorstCase(other.value, self.n - other.likelier, self.n - other.other)

    def _upward(self, epsilon: float, ones: float, zeros: float) -> WorstCase:
        def delta(x: FloatArray, y: FloatArray) -> FloatArray:
            with np.errstate(under="ignore"):
                return np.exp(log_parameter_delta(x, y, epsilon))

        pair = int(largest_pairs(delta, self.n, ones, zeros)[-1])
        value = delta(np.array([ones + pair]), np.array([zeros + (self.n - 1 - pair)]))
        return WorstCase(float(value[0]), pair + 1, pair)


def log_parameter_delta(x: FloatArray, y: FloatArray, epsilon: float) -> FloatArray:
    """ln δ(ε) of Beta(x + 1, y) against Beta(x, y + 1).

    The likelier law's density is larger by more than e^ε where θ > t / (1 + t), t = e^ε x / y. There the two tails
    differ by one term, D = θ^x (1 − θ)^y Γ(x + y + 1) / (Γ(x + 1) Γ(y + 1)), so that
    δ = D − (e^ε − 1) Pr(Beta(x, y + 1) > θ).

    Parameters
    ----------
    x, y
        Rows and pseudo-rows that both tables share, positive, one shape.
    epsilon
        ε ≥ 0.

    Returns
    -------
    ndarray
        ln δ, relative error of δ about 1e-11; never −∞. Where D underflows and is less than e^−60 of the largest, ln D,
        an upper bound.

    Examples
    --------
    >>> round(float(np.exp(log_parameter_delta(np.array([1.0]), np.array([1.0]), 0.0))[0]), 12)
    0.5
    """
    grow = math.exp(epsilon) if epsilon < 700 else math.inf
    log_spread = np.log1p(math.expm1(epsilon) * (x / (x + y))) if epsilon < 700 else epsilon + np.log(x / (x + y))
    log_term = x * epsilon - (x + y) * log_spread + log_peak(x, y)
    with np.errstate(over="ignore"):
        left, right = 1 / (1 + y / x / grow), 1 / (1 + x / y * grow)  # θ and 1 − θ
    if epsilon == 0:
        return log_term
    small = log_term < math.log(TINY)
    reached = small & (log_term > log_term.max() - FAR)
    tail = np.where(left < 0.5, betaincc(x, y + 1, left), betainc(y + 1, x, right))
    tail /= np.exp(np.where(small, 0.0, log_term))
    tail[small] = 0.0
    if np.any(reached):
        tail[reached] = _tail_fraction(x[reached], y[reached], right[reached])
    with np.errstate(over="ignore"):
        share = tail * math.expm1(epsilon) if epsilon < 700 else tail * np.inf
    return log_term + np.log1p(-np.minimum(share, 1 - 1e-15))


def log_peak(x: FloatArray, y: FloatArray) -> FloatArray:
    """ln of Γ(x + y + 1) / (Γ(x + 1) Γ(y + 1)) (x / (x + y))^x (y / (x + y))^y, without large numbers."""
    return (
        _stirling_rest(x + y)
        - _stirling_rest(x)
        - _stirling_rest(y)
        - 0.5 * (math.log(2 * math.pi) + np.log(x) + np.log(y / (x + y)))
    )


def _stirling_rest(z: FloatArray) -> FloatArray:
    """ln Γ(z + 1) − (z ln z − z + ½ ln 2πz)."""
    large = np.maximum(z, 15.0)
    square = 1 / (large * large)
    series = (1 / 12 - square * (1 / 360 - square * (1 / 1260 - square * (1 / 1680 - square / 1188)))) / large
    small = np.minimum(z, 15.0)
    direct = gammaln(small + 1) - (small * np.log(small) - small + 0.5 * np.log(2 * math.pi * small))
    return np.where(z >= 15, series, direct)


def _tail_fraction(x: FloatArray, y: FloatArray, right: FloatArray) -> FloatArray:
    """Pr(Beta(x, y + 1) > θ) / D by the continued fraction of the incomplete beta function (Lentz's evaluation)."""
    a, b = y + 1, x
    upper = np.ones_like(x)
    lower = 1 / (1 - (a + b) / (a + 1) * right)
    fraction, change = lower.copy(), np.full_like(x, 2.0)
    for step in range(1, MOST_TERMS):
        if np.all(np.abs(change - 1) < 1e-14):
            break
        even = step * (b - step) * right / ((a + 2 * step - 1) * (a + 2 * step))
        odd = -(a + step) * (a + b + step) * right / ((a + 2 * step) * (a + 2 * step + 1))
        for term in (even, odd):
            lower = 1 / (1 + term * lower)
            upper = 1 + term / upper
            change = lower * upper
            fraction = fraction * change
    return right * x / a * fraction
