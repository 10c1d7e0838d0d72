"""Average-case δ of the five methods beside their worst case, at one prior."""

from __future__ import annotations

from collections.abc import Callable

from dpviz.priors.average_draw import parameter_draw_delta
from dpviz.priors.releases import CALIBRATED, release
from dpviz.privacy.average_case import average_case_delta, count_release_delta
from dpviz.privacy.hockey_stick import delta_for_epsilon
from dpviz.synthesizers import BetaBinomial, PosteriorMean, PosteriorMode, TwoCellSynthesizer

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
        if method == "param_post":
            average = parameter_draw_delta(n, alpha, alpha, theta_real, epsilon)
        else:
            average = average_case_delta(LAWS[method](n=n, m=m, alpha=alpha, beta=alpha), theta_real, epsilon)
        found[method] = average, worst
    return found
