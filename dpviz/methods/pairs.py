"""The privacy losses of two neighbouring Beta posteriors: of m rows from one draw, and of the draw itself."""

import math

import numpy as np
from scipy.optimize import brentq
from scipy.special import digamma, polygamma

from dpviz import limits
from dpviz.methods.posterior_parameter import log_peak
from dpviz.privacy.composition import DiscreteLosses, Losses
from dpviz.privacy.loss_grid import LARGEST_GRID, LARGEST_TILT, ROUNDING, LossGrid, split_shares
from dpviz.synthesizers import BetaBinomial
from dpviz.types import FloatArray

ManyBetaBinomial = BetaBinomial.up_to(limits.PRIOR_ROWS)
GAUSS_NODES, GAUSS_WEIGHTS = (part / 2 for part in np.polynomial.legendre.leggauss(3))


class BetaLosses(Losses):
    """The loss of θ ~ Beta(x + 1, y) against Beta(x, y + 1): L = ln(θ / (1 − θ)) + ln(y / x), not bounded.

    Tilted by λ < y, θ is Beta(A, B) with A = x + 1 + λ, B = y − λ, and L has a log-concave density with the mode
    ln(A / B) + ln(y / x). The mass of a grid cell is integrated by Gauss' rule with three points. Its error follows
    from the density's size on a disc around the cell (Trefethen, 2008, Theorem 4.5) and counts as mass astray.
    """

    largest = math.inf

    def __init__(self, x: float, y: float) -> None:
        self.x, self.y = x, y
        self._shift = math.log(y / x)

    def cumulants(self, tilt: float) -> tuple[float, float, float]:
        ones, a, b = self.x + 1, self.x + 1 + tilt, self.y - tilt
        value = ones * math.log1p(tilt / ones) + self.y * math.log1p(-tilt / self.y) + tilt * math.log(a / b)
        value += tilt * self._shift + _log_peak_density(ones, self.y) - _log_peak_density(a, b)
        return value, float(digamma(a) - digamma(b)) + self._shift, float(polygamma(1, a) + polygamma(1, b))

    def usable_tilt(self, tilt: float) -> float:
        return min(tilt, self.y * (1 - 1e-6))

    def grid(self, spacing: float, tilt: float = 0.0, log_negligible: float = -80.0) -> LossGrid:
        tilt = min(tilt, LARGEST_TILT / spacing)
        ones, a, b = self.x + 1, self.x + 1 + tilt, self.y - tilt
        mode = math.log(a / b) + self._shift
        reach, below = _tail(b, a, -42.0)
        low = mode - reach
        reach, beyond = _tail(ones, self.y, log_negligible)
        high = math.log(ones / self.y) + self._shift + reach
        spacing = max(spacing, (high - low) / LARGEST_GRID)
        cells, top = math.ceil((high - low) / spacing), _log_peak_density(a, b)
        rest = spacing * (0.5 + GAUSS_NODES)
        with np.errstate(under="ignore"):
            density = np.exp(top - _depth(a, b, (low - mode) + spacing * np.arange(cells)[:, None] + rest))
            to_lower, to_upper = (
                np.einsum("ij,j->i", density, spacing * GAUSS_WEIGHTS * share)
                for share in split_shares(rest, spacing, tilt)
            )
        disc = 4 / (spacing * (math.sqrt(a + b) / 2 + tilt + 2))
        quadrature = 20 * (high - low) * math.exp(top) * disc**-5 if disc > 4 else 1.0
        mass_error = ROUNDING * (30 + float(_depth(a, b, np.array(low - mode))) + a * (b / (a + b)) * (high - low))
        unit, astray = self.cumulants(tilt)[0], min(below + quadrature, 1.0)
        return LossGrid.from_cells(
            low, spacing, tilt, to_lower, to_upper, log_unit=unit, beyond=beyond, astray=astray, mass_error=mass_error
        )


def beta_binomial_pair(x: float, y: float, m: int) -> DiscreteLosses:
    """L(j) = ln(1 + j / x) − ln(1 + (m − j) / y) of BetaBinomial(m; x + 1, y) against BetaBinomial(m; x, y + 1).

    >>> pair = beta_binomial_pair(1.0, 1.0, 1)
    >>> np.exp(pair.losses).round(9).tolist(), np.exp(pair.log_masses).round(6).tolist()
    ([0.5, 2.0], [0.333333, 0.666667])
    """
    release = ManyBetaBinomial(n=1, m=m, alpha=x, beta=y)
    j = np.arange(release.m + 1)
    return DiscreteLosses(
        np.log1p(j / release.alpha) - np.log1p((release.m - j) / release.beta),
        release.log_transition(np.array([1]), j)[0],
    )


def _log_peak_density(a: float, b: float) -> float:
    """ln of the largest density of the logit of Beta(a, b), at logit ln(a / b)."""
    return float(log_peak(np.array(a), np.array(b))) + math.log(a * (b / (a + b)))


def _depth(a: float, b: float, away: FloatArray) -> FloatArray:
    """ln of the largest density of the logit of Beta(a, b) over that at `away` from the mode; convex, 0 at 0."""
    with np.errstate(over="ignore"):
        return a * np.log1p(b / (a + b) * np.expm1(-away)) + b * np.log1p(a / (a + b) * np.expm1(away))


def _tail(a: float, b: float, log_mass: float) -> tuple[float, float]:
    """How far above the mode the logit of Beta(a, b) has a tail of at most e^`log_mass`, and a bound on that tail."""
    peak = _log_peak_density(a, b)

    def log_tail(away: float) -> float:  # a log-concave density falling at the relative rate r has 1 / r beyond
        rate = a * (b / (a + b * math.exp(-away))) * -math.expm1(-away)
        return peak - float(_depth(a, b, np.array(away))) - math.log(rate)

    near, far = 0.0, 1 / math.sqrt(a * (b / (a + b)))
    while log_tail(far) > log_mass:
        near, far = far, 2 * far
    if near > 0:
        far = float(brentq(lambda away: log_tail(away) - log_mass, near, far, rtol=1e-3))
    return far, math.exp(log_tail(far))
