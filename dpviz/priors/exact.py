"""The least prior that keeps a promise of privacy, exactly: closed forms for ε, calibration on δ(ε; α) for (ε, δ)."""

from __future__ import annotations

import math
from collections.abc import Callable

from scipy.optimize import brentq

from dpviz.parameters import DELTA, EPSILON, readable
from dpviz.priors.posterior_parameter import MANY_ROWS
from dpviz.priors.releases import MANY_SYNTHETIC_ROWS, METHODS, TWO_CELLS_OR_MORE, check_method, release
from dpviz.privacy.hockey_stick import delta_for_epsilon
from dpviz.synthesizers import BetaBinomial, PosteriorMean, PosteriorMode
from dpviz.synthesizers.prior import PRIOR_ONES, PRIOR_ZEROS

RESOLUTION = 1e-13
"""Relative accuracy of a calibrated prior, which then moves to the private side."""

LARGEST_SOUGHT = PRIOR_ONES.maximum / 2
"""The largest prior that is tried where no closed form bounds the answer."""

UNDERFLOW = -740.0
"""ln δ of a divergence that is 0 in floating point."""


def minimum_prior(
    method: str,
    *,
    n: int,
    m: int,
    epsilon: float,
    delta: float = 0.0,
    beta: float | None = None,
    ratio: float = 1.0,
    cells: int = 2,
    near: float | None = None,
) -> float:
    """The least prior α with which a method is (ε, δ)-differentially private.

    δ = 0: the closed form, m / (e^ε − 1) for SYNTH_Post(One), 1 / (e^{ε/m} − 1) for SYNTH_Post(Many), that plus 1 for
    SYNTH_MAP, none for PARAM_Post. δ > 0: the root of δ(ε; α) = δ, every pair of neighbours counted.

    Parameters
    ----------
    method
        ``synth_post_one``, ``synth_post_many``, ``synth_map``, ``param_post``; ``param_map`` is never private.
    n, m
        Confidential and synthetic rows, 1 to 100,000; PARAM_Post has no use for m.
    epsilon
        The promised ε, 1e-6 to 1000, or 0 with a positive δ; neighbours are substitution.
    delta
        The allowed δ, 0 ≤ δ < 1.
    beta
        The prior zeros, where they are fixed; otherwise β = `ratio` α.
    ratio
        β / α, positive.
    cells
        Number of cells k, 2 to 1,000; with more than 2 every cell has the same prior, and m is at most 100,000.
    near
        A guess of the answer, which saves time where it is close.

    Returns
    -------
    float
        α on the private side: δ(ε; α) ≤ `delta`, and α (1 − 1e-6) is not private, unless α is the smallest prior
        accepted (1e-300; just above 1 for SYNTH_MAP), which says that any prior is enough. Infinite where no prior up
        to 5e11 is.

    Source: Zheng (2015), chapter 6, asks for it; Machanavajjhala et al. (2008) for pure SYNTH_Post(One).

    Examples
    --------
    >>> round(minimum_prior("synth_post_one", n=1, m=1, epsilon=math.log(2)), 12)  # 1 / (2 − 1)
    1.0

    One row, one draw: the proportions are (α + 1) / (2α + 1) and α / (2α + 1), so δ = (1 + α − 2α) / (2α + 1) at
    ε = ln 2, which is 1/4 at α = 1/2.

    >>> round(minimum_prior("synth_post_one", n=1, m=1, epsilon=math.log(2), delta=0.25), 12)
    0.5
    """
    if method == "param_map":
        return math.inf
    check_method(method, tuple(METHODS))
    MANY_ROWS.check(n)
    MANY_SYNTHETIC_ROWS.check(m)
    if not (epsilon == 0 and delta > 0):
        EPSILON.check(epsilon)
    TWO_CELLS_OR_MORE.check(cells)
    if DELTA.check(delta) == 1:
        raise ValueError("delta (allowed failure) must be below 1: at 1 nothing is promised; got 1.")
    _check_shape(beta, ratio, cells)
    shift = 1.0 if method == "synth_map" else 0.0
    pure = _least_pure(method, m, epsilon, beta, ratio)
    if delta == 0 or pure <= PRIOR_ONES.minimum:
        return pure

    def delta_of(effective: float) -> float:
        alpha = effective + shift
        zeros = None if cells > 2 else (ratio * alpha if beta is None else beta)
        return delta_for_epsilon(release(method, n=n, m=m, alpha=alpha, beta=zeros, cells=cells), epsilon)

    lowest, highest = _lowest(shift, beta, ratio), LARGEST_SOUGHT / max(1.0, ratio if beta is None else 1.0)
    guess = near - shift if near is not None and lowest < near - shift < pure else _guess(epsilon, delta)
    bounded = pure if pure <= highest else math.inf
    effective = _least_root(delta_of, delta, lowest, bounded - shift, highest, guess, near is not None)
    return effective + shift


def _check_shape(beta: float | None, ratio: float, cells: int) -> None:
    if beta is not None:
        PRIOR_ZEROS.check(beta)
    if not (isinstance(ratio, (int, float)) and 1e-9 <= ratio <= 1e9):
        raise ValueError(f"ratio (β / α) must be a number from 10⁻⁹ to 10⁹; got {ratio!r}.")
    if cells > 2 and (beta is not None or ratio != 1):
        raise ValueError(
            f"beta and ratio must be left out where there are {cells} cells: every cell has the same prior."
        )


def _least_pure(method: str, m: int, epsilon: float, beta: float | None, ratio: float) -> float:
    """The least α with pure ε-differential privacy: the smaller of α and β must reach the symmetric answer."""
    if method == "param_post" or epsilon == 0:
        return math.inf
    law = {"synth_post_one": BetaBinomial, "synth_post_many": PosteriorMean, "synth_map": PosteriorMode}[method]
    symmetric = law.least_alpha(m=m, epsilon=epsilon)
    if beta is not None:
        return symmetric if beta >= symmetric else math.inf
    alpha = symmetric / min(1.0, ratio)
    while min(alpha, ratio * alpha) < symmetric:
        alpha = math.nextafter(alpha, math.inf)
    return alpha if max(alpha, ratio * alpha) <= PRIOR_ONES.maximum else math.inf


def _lowest(shift: float, beta: float | None, ratio: float) -> float:
    """The smallest accepted α, less `shift`; both priors of the posterior mode must be above 1."""
    if shift == 0:
        least = PRIOR_ONES.minimum if beta is not None else max(1.0, 1 / ratio) * PRIOR_ONES.minimum
        while beta is None and ratio * least < PRIOR_ZEROS.minimum:
            least = math.nextafter(least, math.inf)
        return least
    if beta is not None and beta <= 1:
        raise ValueError(f"beta (prior zeros) must be above 1 for the posterior mode; got {readable(beta)}.")
    least = math.nextafter(1.0 if beta is not None else max(1.0, 1.0 / ratio), math.inf)
    while beta is None and ratio * ((least - 1) + 1) <= 1:
        least = math.nextafter(least, math.inf)
    return least - 1


def _guess(epsilon: float, delta: float) -> float:
    """Where the tail of a gamma law, to which all the laws tend, would put the answer."""
    if epsilon == 0:
        return 1 / (math.pi * max(delta, 1e-7) ** 2)
    rate = math.expm1(epsilon) - epsilon if epsilon < 700 else math.inf
    return max(-math.log(delta) / max(rate, 1e-300), 1e-9)


def _least_root(
    delta_of: Callable[[float], float],
    delta: float,
    lowest: float,
    bound: float,
    highest: float,
    guess: float,
    close: bool,
) -> float:
    """The least prior from `lowest` on with δ(prior) ≤ δ, for a δ that never rises; infinite where there is none.

    `bound` is private without being asked where it is finite; otherwise priors up to `highest` are tried.
    """
    if delta_of(lowest) <= delta:
        return lowest
    top = min(bound, highest)
    step = 1.02 if close else 1.5
    low, high = lowest, top
    here = min(max(guess, lowest), top)
    private = delta_of(here) <= delta
    while here not in (lowest, top):
        if private:
            high, here = here, max(here / step, lowest)
        else:
            low, here = here, min(here * step, top)
        if here not in (lowest, top) and (delta_of(here) <= delta) != private:
            low, high = (here, high) if private else (low, here)
            break
        step = step * step if step < 1e6 else step
    if high == top and math.isinf(bound) and delta_of(top) > delta:
        return math.inf
    ends = math.log(low), math.log(high)
    if delta_of(math.exp(ends[1])) > delta:  # it rounds to a prior just below `high`
        return high

    def excess(log_prior: float) -> float:
        value = delta_of(max(math.exp(log_prior), lowest))
        return (math.log(value) if value > 0 else UNDERFLOW) - math.log(delta)

    prior, step = max(math.exp(brentq(excess, *ends, xtol=1e-15, rtol=RESOLUTION)), lowest), RESOLUTION
    while prior < high and delta_of(prior) > delta:
        prior, step = prior * (1 + step), 2 * step
    return min(prior, high)
