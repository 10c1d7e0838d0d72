"""Average-case δ of the five methods beside their worst case, at one prior."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass

import numpy as np

from dpviz.priors.average_draw import parameter_draw_delta
from dpviz.priors.releases import CALIBRATED, release
from dpviz.privacy.average_case import average_case_delta, count_release_delta
from dpviz.privacy.hockey_stick import delta_for_epsilon
from dpviz.synthesizers import BetaBinomial, PosteriorMean, PosteriorMode, TwoCellSynthesizer
from dpviz.types import FloatArray

STRIDES = (12, 6, 3, 1)
"""Steps between the points along θ, coarse to fine."""

FOLDED = 12
"""Decimals to which θ and 1 − θ must agree to be the same point."""

LAWS: dict[str, Callable[..., TwoCellSynthesizer]] = {
    "synth_post_one": BetaBinomial,
    "synth_post_many": PosteriorMean,
    "synth_map": PosteriorMode,
}


def average_and_worst(
    n: int, m: int, alpha: float, theta_real: float, epsilon: float
) -> dict[str, tuple[float, float | None] | None]:
    """δ of every method with n − 1 random rows, and with the worst fixed ones.

    Parameters
    ----------
    n, m
        Confidential and synthetic rows, 1 to 5,000.
    alpha
        Symmetric prior; PARAM_MAP has none.
    theta_real
        Probability of a one in the other rows, 0 to 1.
    epsilon
        ε ≥ 0.

    Returns
    -------
    dict
        By method: average-case and worst-case δ, the latter None for PARAM_MAP, where it is 1; None instead of both for
        SYNTH_MAP at a prior of 1 or less.

    Source: Zheng (2015), section 6.3.

    Examples
    --------
    One of two rows is random: the count is 1 or 2 against 0 or 1, half of the time the same.

    >>> average_and_worst(2, 1, 1.0, 0.5, 0.0)["param_map"]
    (0.5, None)
    """
    found: dict[str, tuple[float, float | None] | None] = {
        "param_map": (count_release_delta(n, theta_real, epsilon), None)
    }
    for method in CALIBRATED:
        if method == "synth_map" and alpha <= 1:
            found[method] = None
            continue
        worst = delta_for_epsilon(release(method, n=n, m=m, alpha=alpha), epsilon)
        found[method] = _average(method, n, m, alpha, theta_real, epsilon), worst
    return found


@dataclass(frozen=True, kw_only=True)
class AverageCurves:
    """Average-case δ along θ.

    Parameters
    ----------
    thetas
        Probabilities of a one, rising.
    deltas
        δ of every method at each of them.
    """

    thetas: FloatArray
    deltas: dict[str, FloatArray]


def stream_average_by_theta(
    n: int, m: int, alpha: float, epsilon: float, thetas: Sequence[float] | FloatArray
) -> Iterator[AverageCurves]:
    """Average-case δ of every method that has a prior, for each θ, coarse to fine.

    With α = β nothing changes when ones and zeros trade places, so δ(θ) = δ(1 − θ) and each pair is computed once.

    Parameters
    ----------
    n, m, alpha, epsilon
        As in `average_and_worst`.
    thetas
        Probabilities of a one, 0 to 1, at least one of them.

    Yields
    ------
    AverageCurves
        Each has the points of the one before it and some more; the last has all. SYNTH_MAP is missing at a prior of 1
        or less.

    Source: Zheng (2015), section 6.3.

    Examples
    --------
    One row has no others to hide behind: Beta-binomial rows (2/3, 1/3) and (1/3, 2/3) differ by 1/3 at every θ.

    >>> *_, last = stream_average_by_theta(1, 1, 1.0, 0.0, [0.2, 0.5])
    >>> [round(delta, 12) for delta in last.deltas["synth_post_one"].tolist()]
    [0.333333333333, 0.333333333333]
    """
    points = np.unique(np.asarray(thetas, dtype=float))
    if not len(points):
        raise ValueError("thetas must hold at least one probability; got none.")
    methods = [one for one in CALIBRATED if one != "synth_map" or alpha > 1]
    known: dict[float, dict[str, float]] = {}
    shown: set[int] = set()
    for stride in STRIDES:
        level = {0, len(points) - 1, *range(0, len(points), stride)} - shown
        for place in sorted(level):
            theta = float(points[place])
            folded = round(min(theta, 1 - theta), FOLDED)
            if folded not in known:
                known[folded] = {one: _average(one, n, m, alpha, min(theta, 1 - theta), epsilon) for one in methods}
        if not level:
            continue
        shown |= level
        places = sorted(shown)
        at = [known[round(min(theta, 1 - theta), FOLDED)] for theta in points[places].tolist()]
        yield AverageCurves(
            thetas=points[places], deltas={one: np.array([deltas[one] for deltas in at]) for one in methods}
        )


def _average(method: str, n: int, m: int, alpha: float, theta_real: float, epsilon: float) -> float:
    if method == "param_post":
        return parameter_draw_delta(n, alpha, alpha, theta_real, epsilon)
    return average_case_delta(LAWS[method](n=n, m=m, alpha=alpha, beta=alpha), theta_real, epsilon)
