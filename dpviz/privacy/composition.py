"""Advanced composition, as the papers use it; `dpviz.privacy.pld` composes exactly."""

import math

from dpviz.core.numerics.special import capped_expm1, log_reciprocal


def advanced_composition(epsilon: float, k: int, slack: float) -> float:
    """ε √(2k ln(1/δ')) + kε(e^ε − 1), which k releases that are each ε-private keep together with δ'.

    Parameters
    ----------
    epsilon : float
    k : int
    slack : float
        δ'.

    References
    ----------
    .. [1] Dwork, Rothblum & Vadhan (2010), Theorem III.3.

    Examples
    --------
    >>> round(advanced_composition(math.log(2), 2, math.exp(-1)) / math.log(2), 12)  # both terms are 2ε
    4.0
    """
    return epsilon * math.sqrt(2 * k * log_reciprocal(slack)) + k * epsilon * capped_expm1(epsilon)
