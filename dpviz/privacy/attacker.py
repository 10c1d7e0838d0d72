"""The attacker who knows every row but one, before and after the release: odds, and the risk of one person."""

import dataclasses
import math
from dataclasses import dataclass

import numpy as np
from scipy.special import expit

from dpviz.core.declarations import PROPORTION
from dpviz.core.parameters import Parameter
from dpviz.mechanisms import Synthesizer
from dpviz.mechanisms.base import check_index

PRIOR_RISK = dataclasses.replace(
    PROPORTION, name="prior_risk", symbol="p", title="Risk before the release", default=0.1, open_minimum=True,
    slider_minimum=0.01, slider_maximum=0.99,
    help="The attacker's probability, before the release, that the person has the sensitive value.",
)  # fmt: skip
PRIOR_ODDS = Parameter(
    name="prior_odds", symbol="a : 1", title="Prior odds", minimum=1e-9, maximum=1e9, default=1.0, slider_minimum=1e-3,
    slider_maximum=1e3, scale="log",
    help="What the attacker believes before the release: how much likelier the first table is than the second.",
)  # fmt: skip
RISK_RATIO = Parameter(
    name="ratio", symbol="r", title="Largest ratio of the risks", minimum=1.0, maximum=1e6, default=2.0,
    slider_maximum=20.0, scale="log", private_end="smaller",
    help="The largest factor by which a release may raise this risk. Smaller is more private.",
)  # fmt: skip


@dataclass(frozen=True)
class AttackerView:
    """What one released table does to the odds of table `first` against `second`: they grow by e^`log_gain`."""

    first: tuple[int, ...]
    second: tuple[int, ...]
    released: tuple[int, ...]
    prior_odds: float
    log_gain: float

    @property
    def log_posterior_odds(self) -> float:
        """ln of the odds of the first table after the release."""
        return math.log(self.prior_odds) + self.log_gain

    @property
    def probabilities(self) -> tuple[float, float]:
        """Probability of the first table before and after the release."""
        return float(expit(math.log(self.prior_odds))), float(expit(self.log_posterior_odds))


def attacker_view(synthesizer: Synthesizer, pair: int, column: int, prior_odds: float) -> AttackerView:
    """Posterior odds of neighbouring tables after a release: prior odds × Pr(c | first) / Pr(c | second).

    Parameters
    ----------
    synthesizer : Synthesizer
    pair, column : int
        Indices in its neighbours and columns.
    prior_odds : float
        Finite and above 0.

    Source: Abowd & Vilhuber (2008), equation (4).
    """
    if not (math.isfinite(prior_odds) and prior_odds > 0):
        raise ValueError(f"prior_odds must be a finite number above 0; got {prior_odds!r}.")
    pair = check_index(pair, len(synthesizer.neighbours), "pair")
    column = check_index(column, synthesizer.shape[1], "column")
    gain = float(synthesizer.log_odds(np.array([pair]), np.array([column]))[0, 0])
    first, second = (synthesizer.row_table(int(index)) for index in synthesizer.neighbours[pair])
    return AttackerView(first, second, synthesizer.column_table(column), prior_odds, gain)


def risk_ratio(log_odds: float, *, prior_risk: float) -> float:
    """Risk after ÷ risk before if a release moves the odds by a factor e^L: 1 / (p + (1 − p) e^−L).

    Kazan & Reiter (2023), for a person who is known to be in the data (q = 1).

    Parameters
    ----------
    log_odds, prior_risk : float
        L, and the risk p before.

    Examples
    --------
    >>> round(risk_ratio(math.log(9), prior_risk=0.1), 12)  # odds 1 : 9 become 1 : 1, so 0.1 becomes 0.5
    5.0
    """
    prior_risk = PRIOR_RISK.validate(prior_risk)
    if prior_risk == 1:
        return 1.0
    likelier, unlikelier = math.exp(min(log_odds, 0.0)), math.exp(-max(log_odds, 0.0))
    return likelier / (prior_risk * likelier + (1 - prior_risk) * unlikelier)


def epsilon_for_risk_ratio(ratio: float, *, prior_risk: float) -> float:
    """Largest ε whose promise keeps risk after ÷ risk before at most r: ln[(1 − p) / (1/r − p)]; ∞ from rp = 1 on.

    Parameters
    ----------
    ratio, prior_risk : float
        r, and the risk p before.
    """
    ratio = RISK_RATIO.validate(ratio)
    prior_risk = PRIOR_RISK.validate(prior_risk)
    if ratio * prior_risk >= 1:
        return math.inf
    return math.log1p((ratio - 1) / (1 - ratio * prior_risk))
