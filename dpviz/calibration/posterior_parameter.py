"""PARAM_Post: one draw of the proportion from its posterior is released, and no rows."""

import math
from dataclasses import dataclass
from functools import partial
from typing import TypeVar

import numpy as np
from scipy.special import betainc, betaincc

from dpviz.core.checked import check_fields, checked
from dpviz.core.declarations import MANY_ROWS
from dpviz.core.numerics.blocks import blocks
from dpviz.core.numerics.ends import LARGEST_EXPONENT
from dpviz.core.numerics.gamma import stirling_remainder
from dpviz.core.numerics.worst_pair import largest_log_convex
from dpviz.core.parameters import ANY_EPSILON
from dpviz.core.types import FloatArray, Numbers
from dpviz.mechanisms.base import WorstCase
from dpviz.mechanisms.prior import PRIOR_ONES, PRIOR_ZEROS, UnderPrior

PAIRS_WITHOUT_SEARCH = 2000  # Pairs up to which one look at all of them is faster than a search
FRACTIONS_AT_ONCE = 2048  # Pairs whose fractions are added together
TERM_ROUNDING, MOST_TERMS = 1e-12, 400  # Change by a term that is rounding if it no longer shrinks; most terms
# Rows of both cells from which the fraction converges too slowly within a standard deviation of the center, where
# incomplete beta functions have all their digits.
ROWS_OF_SLOW_FRACTIONS = 1e5
LARGEST_ODDS = 1e300  # x / y from which θ is 1 to any number of digits

FloatOrArray = TypeVar("FloatOrArray", float, FloatArray)


@dataclass(frozen=True, kw_only=True)
class PosteriorParameter(UnderPrior):
    """θ ~ Beta(α + n1, β + n0), released as it is: Zheng's PARAM_Post.

    The log-odds ln(θ / (1 − θ)) + ln(y / x) of two neighbours that share x rows and invented rows of one cell and y of
    the other have no bound, so no ε alone is ever kept. Source: Zheng (2015), §3.2, PARAM_Post; Theorem 6.3.
    One row and a flat prior: densities 2θ and 2(1 − θ), which at ε = 0 differ by ∫ (4θ − 2) over θ > 1/2, or 1/2.

    >>> round(PosteriorParameter(n=1, alpha=1, beta=1).hockey_stick(0.0).value, 12)
    0.5
    """

    def __post_init__(self) -> None:
        check_fields(self, MANY_ROWS, PRIOR_ONES, PRIOR_ZEROS)

    def worst_log_odds(self) -> WorstCase:
        """Infinite: as θ nears 1, one more confidential one makes it likelier by any factor."""
        return WorstCase(math.inf, 1, 0)

    def worst_upward_pair(self, epsilon: float) -> WorstCase:
        """As of `UnderPrior`, many pairs bounded at once."""
        ones, zeros = self.alpha, self.beta
        log_delta = partial(log_parameter_delta, epsilon=epsilon)
        if self.n <= PAIRS_WITHOUT_SEARCH:
            i = np.arange(self.n)
            best = int(log_delta(ones + i, zeros + (self.n - 1 - i)).argmax())
        else:
            best = largest_log_convex(log_delta, log_loss_density, self.n, ones, zeros)
        shared = np.array([ones + best]), np.array([zeros + (self.n - 1 - best)])
        return WorstCase(math.exp(float(log_delta(*shared)[0])), best + 1, best)


def log_parameter_delta(x: FloatArray, y: FloatArray, epsilon: Numbers) -> FloatArray:
    """ln δ(ε) of Beta(x + 1, y) against Beta(x, y + 1).

    The likelier distribution's density is larger by more than e^ε where θ > t / (1 + t), t = e^ε x / y. There the two
    tails differ by one term, D = θ^x (1 − θ)^y Γ(x + y + 1) / (Γ(x + 1) Γ(y + 1)), so that δ = D − (e^ε − 1)
    Pr(Beta(x, y + 1) > θ). The relative error of δ is about 1e-12 for x, y to 1e6, and 1e-9 at 1e10.
    """
    epsilon = np.broadcast_to(np.asarray(epsilon, dtype=float), x.shape)
    log_term = _log_term(x, y, epsilon)
    if not epsilon.any():
        return log_term
    with np.errstate(over="ignore"):
        odds, shrink = np.minimum(x / y, LARGEST_ODDS), np.exp(-epsilon)
        far = x * np.expm1(epsilon) >= 1
        far &= (epsilon**2 * (x * (y / (x + y))) >= 1) | (np.minimum(x, y) < ROWS_OF_SLOW_FRACTIONS)
        gained = -np.expm1(-epsilon) / (shrink + odds) * x / (y + 1)  # (e^ε − 1)(1 − θ) x / (y + 1)
    share = np.empty_like(log_term)
    if np.any(far):
        share[far] = gained[far] * tail_fraction(x[far], y[far], odds[far], epsilon[far])
    if not np.all(far):
        a, b, near = x[~far], y[~far], shrink[~far]
        left, right = odds[~far] / (near + odds[~far]), near / (near + odds[~far])
        tail = np.where(left < 0.5, betaincc(a, b + 1, left), betainc(b + 1, a, right))
        share[~far] = np.expm1(epsilon[~far]) * tail / np.exp(log_term[~far])
    return log_term + np.log1p(-np.minimum(share, 1 - 1e-15))


def _log_term(x: FloatArray, y: FloatArray, epsilon: FloatArray) -> FloatArray:
    """ln D, from the smaller of x and y, so that large parts do not cancel."""
    total = x + y
    from_ones = x * epsilon - total * np.log1p(np.expm1(np.minimum(epsilon, LARGEST_EXPONENT)) * (x / total))
    if epsilon.max() > LARGEST_EXPONENT:
        beyond = -y * epsilon - total * np.log((x + y * np.exp(-epsilon)) / total)
        from_ones = np.where(epsilon > LARGEST_EXPONENT, beyond, from_ones)
    from_zeros = -y * epsilon - total * np.log1p(np.expm1(-epsilon) * (np.minimum(x, y) / total))
    return np.where(x <= y, from_ones, from_zeros) + log_peak(x, y)


def log_loss_density(x: FloatArray, y: FloatArray) -> FloatArray:
    """ln of the density w of the loss L = ln(θ / (1 − θ)) + ln(y / x) at 0, for θ ~ Beta(x + 1, y).

    With z = e^L − 1 and p = x / (x + y) the density at L is e^{w + (x + 1) L} (1 + p z)^{−(x + y + 1)}. Along the pairs
    of one table x and p grow and x + y is fixed, so that all but e^w is log-convex at every L, and a mixture of
    log-convex functions is log-convex. Hence e^{−w}, the integral of that part, is, and so is e^{−Mw} δ_M(ε), where
    δ_M(ε) = E (1 − e^{ε − S})_+ for a sum S of M such losses: w is concave, and ln δ_M − M w is convex.
    """
    return log_peak(x, y) + np.log(x) + np.log(y / (x + y))


def log_peak(x: FloatArray, y: FloatArray) -> FloatArray:
    """ln of Γ(x + y + 1) / (Γ(x + 1) Γ(y + 1)) (x / (x + y))^x (y / (x + y))^y, without large numbers."""
    whole, ones, zeros = stirling_remainder(np.stack([x + y, x, y]))
    return whole - ones - zeros - 0.5 * (math.log(2 * math.pi) + np.log(x) + np.log(y / (x + y)))


@checked(n=MANY_ROWS, alpha=PRIOR_ONES, beta=PRIOR_ZEROS, epsilon=ANY_EPSILON)
def parameter_failure(*, n: int, alpha: float, beta: float, epsilon: float) -> float:
    """Return the probability, at the worst table, that the θ of PARAM_Post tells it from a neighbour by more than e^ε.

    For n1 ones the neighbours with fewer ones speak where θ / (1 − θ) > e^ε (n1 + α − 1) / (n0 + β), those with more
    where it is below e^{−ε} (n1 + α) / (n0 + β − 1). Source: Machanavajjhala et al. (2008), disclosure set; Zheng
    (2015), Lemma 6.5, whose interval this is.
    """
    ones = np.arange((n // 2 if alpha == beta else n) + 1)  # equal priors: row n − i is the mirror image of row i
    a, b = alpha + ones, beta + (n - ones)
    grow = math.exp(min(epsilon, 700.0))
    fewer, more = np.maximum(ones - 1, 0), np.minimum(ones, n - 1)
    up = grow * (alpha + fewer) / (beta + (n - 1 - fewer))
    down = (alpha + more) / (beta + (n - 1 - more)) / grow
    failure = betainc(b, a, 1 / (1 + up)) + betainc(a, b, down / (1 + down))
    return min(float(failure.max()), 1.0)


def tail_fraction(x: FloatArray, y: FloatArray, odds: FloatArray, epsilon: Numbers) -> FloatArray:
    """Pr(Beta(x, y + 1) > θ) over D (1 − θ) x / (y + 1), where θ / (1 − θ) is e^ε times `odds` = x / y.

    The continued fraction of Didonato and Morris (1992), by Lentz's rule; nothing in it cancels as x and y grow.
    """
    shrink = np.exp(-epsilon)
    right = shrink / (shrink + odds)
    surplus = odds / (shrink + odds) * (1 - y * np.expm1(-epsilon))
    if len(x) == 1:
        return np.array([_continued_fraction(float(x[0]), float(y[0]), float(right[0]), float(surplus[0]))])
    fraction = np.empty_like(x)
    for part in blocks(len(x), 1, FRACTIONS_AT_ONCE):
        fraction[part] = _continued_fraction(x[part], y[part], right[part], surplus[part])
    return fraction


def _continued_fraction(x: FloatOrArray, y: FloatOrArray, right: FloatOrArray, surplus: FloatOrArray) -> FloatOrArray:
    """`tail_fraction` of one number, or of as many as the fast memory holds; `surplus` is (y + 1) θ − x (1 − θ)."""
    a = y + 1
    fraction = numerator = a * (surplus + 1) / (a + 1)
    inverse, moved = 0 * a, math.inf
    for step in range(1, MOST_TERMS):
        place, rest = a + 2 * step, step * (x - step) * right
        part = rest / (place - 1)
        term = (a + (step - 1)) * (a + x + (step - 1)) * right / (place - 1) * part
        plus = step + part + (a + step) * (surplus + 1 + step * (2 - right)) / (place + 1)
        inverse = 1 / (plus + term * inverse)
        numerator = plus + term / numerator
        change = numerator * inverse
        fraction = fraction * change
        moved, before = _largest(change - 1), moved
        if moved < 1e-14 or before / 2 < moved < TERM_ROUNDING:
            break
    return a / fraction


def _largest(change: float | FloatArray) -> float:
    return abs(change) if isinstance(change, float) else max(float(change.max()), -float(change.min()))
