"""The risk of one person: how far a release may lift the probability of a sensitive value above what it was before."""

from __future__ import annotations

import math

from dpviz.checked import checked
from dpviz.parameters import Parameter, readable, readable_apart

__all__ = ["PRIOR_RISK", "RISK_RATIO", "epsilon_for_risk_ratio", "risk_ratio"]

PRIOR_RISK = Parameter(
    name="prior_risk",
    symbol="p",
    title="Risk before the release",
    minimum=0.0,
    maximum=1.0,
    default=0.1,
    open_minimum=True,
    slider_minimum=0.01,
    slider_maximum=0.99,
    help="The attacker's probability, before the release, that the person has the sensitive value.",
)
RISK_RATIO = Parameter(
    name="ratio",
    symbol="r",
    title="Largest ratio of the risks",
    minimum=1.0,
    maximum=1e6,
    default=2.0,
    slider_maximum=20.0,
    scale="log",
    private_end="smaller",
    help="The largest factor by which a release may raise this risk. Smaller is more private.",
)


@checked(prior_risk=PRIOR_RISK)
def risk_ratio(log_odds: float, *, prior_risk: float) -> float:
    """Risk after ÷ risk before where a release moves the odds by a factor e^`log_odds`: 1 / (p + (1 − p) e^−L).

    Source: Kazan & Reiter (2023), for a person who is known to be in the data (q = 1).

    Examples
    --------
    >>> round(risk_ratio(math.log(9), prior_risk=0.1), 12)  # odds 1 : 9 become 1 : 1, so 0.1 becomes 0.5
    5.0
    """
    if math.isnan(log_odds):
        raise ValueError("log_odds must be a number; got nan.")
    if log_odds > 0:
        return 1 / (prior_risk + (1 - prior_risk) * math.exp(-log_odds))
    scale = math.exp(log_odds)
    return scale / (prior_risk * scale + (1 - prior_risk)) if prior_risk < 1 else 1.0


@checked(ratio=RISK_RATIO, prior_risk=PRIOR_RISK)
def epsilon_for_risk_ratio(ratio: float, *, prior_risk: float) -> float:
    """Return the largest ε whose promise keeps risk after ÷ risk before at most `ratio`: ln[(1 − p) / (1/r − p)].

    Infinite where no release can lift the risk so far, for it cannot exceed 1.

    Source: Kazan & Reiter (2023), with q = 1.

    Examples
    --------
    >>> round(epsilon_for_risk_ratio(5.0, prior_risk=0.1), 12) == round(math.log(9), 12)
    True
    >>> epsilon_for_risk_ratio(2.0, prior_risk=0.5)
    inf
    """
    if ratio * prior_risk >= 1:
        return math.inf
    return math.log1p((ratio - 1) / (1 - ratio * prior_risk))


@checked(prior_risk=PRIOR_RISK)
def risk_in_words(log_odds: float, *, prior_risk: float) -> str:
    """Return what such a factor does to a risk, in a few words: "from 10 % to 50 %, 5 times as likely"."""
    ratio = risk_ratio(log_odds, prior_risk=prior_risk)
    after = 100 * min(ratio * prior_risk, 1.0)
    near = min((100 * prior_risk, 100.0), key=lambda one: abs(one - after))
    return (
        f"from {readable(100 * prior_risk, 3)} % to {readable_apart(after, near, 3)} %, "
        f"{readable_apart(ratio, 1.0, 3)} times as likely"
    )
