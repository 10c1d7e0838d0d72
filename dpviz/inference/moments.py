"""Closed-form mean and variance of the proportion that an analyst reads off a release."""

from __future__ import annotations

import math
import sys
from dataclasses import dataclass

from scipy.special import ndtr

from dpviz.analysis import PROPORTION
from dpviz.checked import argument, checked
from dpviz.methods import CALIBRATED, Method
from dpviz.parameters import plain_number, shown

ANY_ROWS = argument("n", 1, 10**12, title="rows", integer=True)
MANY_SETS = argument("sets", 1, 10**12, title="synthetic sets", integer=True)
PRIOR = argument("alpha", 0, 1e15, title="prior rows", open_minimum=True)
CELLS = argument("cells", 2, 1_000_000, integer=True)


@dataclass(frozen=True, kw_only=True)
class ProportionMoments:
    """Mean and variance of the released proportion, over the confidential sample and the release, beside the true p.

    The variance is what the sample of n rows alone gives, and what the release adds.
    """

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

    @property
    def root_mean_square(self) -> float:
        """√(bias² + Var(q))."""
        return math.hypot(self.bias, self.standard_error)


@checked(method=CALIBRATED, n=ANY_ROWS, m=ANY_ROWS, alpha=PRIOR, beta=PRIOR, proportion=PROPORTION, sets=MANY_SETS)
def proportion_moments(
    method: str, *, n: int, m: int, alpha: float, beta: float, proportion: float, sets: int = 1
) -> ProportionMoments:
    """Mean and variance of q, the mean over the sets of the share of ones, when n1 ~ Binomial(n, p).

    With A = n + α + β and θ = (n1 + α) / A: E[q] = (np + α) / A, Var(θ) = np(1 − p) / A², and E[θ(1 − θ)] =
    E[θ](1 − E[θ]) − Var(θ). Given n1, one set of SYNTH_Post(Many) has variance θ(1 − θ) / m, PARAM_Post
    θ(1 − θ) / (A + 1), SYNTH_Post(One) θ(1 − θ) (1 / (A + 1) + (A / (A + 1)) / m); M independent sets divide it by M.
    SYNTH_MAP is SYNTH_Post(Many) with α − 1 and β − 1.

    Source: the law of total variance; Charest (2011), §4, for the Beta-binomial.

    Examples
    --------
    One row, flat prior, p = 1/2, one draw: q is 0 or 1 with probability 1/2 each.

    >>> moments = proportion_moments("synth_post_one", n=1, m=1, alpha=1, beta=1, proportion=0.5)
    >>> moments.mean, round(moments.standard_error**2, 12)
    (0.5, 0.25)
    """
    made = CALIBRATED[method]
    return _moments(made, n, m, _effective(made, "alpha", alpha), _effective(made, "beta", beta), proportion, sets)


def _effective(method: Method, name: str, prior: float) -> float:
    """The pseudo-rows that a prior adds to a count; none where it is as small as can be."""
    if method.lost:
        argument(name, method.lost, PRIOR.maximum, title=PRIOR.title).check(prior)
    return prior - method.lost


def _moments(
    method: Method, n: int, m: int, alpha: float, beta: float, proportion: float, sets: int
) -> ProportionMoments:
    total = n + alpha + beta
    mean = (n * proportion + alpha) / total
    between = n * proportion * (1 - proportion) / total**2
    spread = mean * (1 - mean) - between
    release = spread * method.spread(total, m) / sets
    return ProportionMoments(proportion=proportion, mean=mean, sampling_variance=between, release_variance=release)


@checked(method=CALIBRATED, n=ANY_ROWS, m=ANY_ROWS, alpha=PRIOR, cells=CELLS, proportion=PROPORTION, sets=MANY_SETS)
def cell_moments(
    method: str, *, n: int, m: int, alpha: float, cells: int, proportion: float, sets: int = 1
) -> ProportionMoments:
    """`proportion_moments` of one of k cells, all of which have the same prior α.

    The other cells together have k − 1 times as many pseudo-rows: (k − 1) α, or (k − 1)(α − 1) for the mode.

    Examples
    --------
    Without rows to outweigh it a prior pulls every cell to 1/k; here 3 rows stand against 3 · 2 pseudo-rows.

    >>> cell_moments("synth_post_one", n=3, m=1, alpha=2.0, cells=3, proportion=1.0).mean  # (3 + 2) / 9
    0.5555555555555556
    """
    made = CALIBRATED[method]
    effective = _effective(made, "alpha", alpha)
    return _moments(made, n, m, effective, (cells - 1) * effective, proportion, sets)


def share_beyond(range_over_sigma: float) -> float:
    """The share 2 Φ(−R/σ) of rows of N(0, σ²) that a range [−R, R] cuts off.

    Parameters
    ----------
    range_over_sigma
        R/σ, at least 0.

    Examples
    --------
    >>> share_beyond(0.0), round(share_beyond(1.959964), 6)
    (1.0, 0.05)
    """
    number = plain_number(range_over_sigma)
    if number is None or number < 0:
        raise ValueError(f"range_over_sigma must be a number, 0 or larger; got {shown(range_over_sigma)}.")
    return float(2 * ndtr(-float(min(number, sys.float_info.max))))
