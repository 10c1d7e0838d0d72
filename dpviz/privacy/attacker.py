"""The attacker who knows every row but one: prior odds, the release, posterior odds."""

import math
from dataclasses import dataclass

import numpy as np

from dpviz.checked import checked
from dpviz.parameters import SUPERSCRIPTS, readable_apart
from dpviz.synthesizers import Synthesizer
from dpviz.synthesizers.base import check_index


@dataclass(frozen=True)
class AttackerView:
    """What one released table does to the odds of table `first` against `second`: they grow by e^`log_gain`."""

    first: tuple[int, ...]
    second: tuple[int, ...]
    released: tuple[int, ...]
    prior_odds: float
    log_gain: float

    @property
    def posterior_odds(self) -> float:
        """Odds of the first table after the release."""
        total = math.log(self.prior_odds) + self.log_gain
        return math.exp(total) if total < 709 else math.inf

    @property
    def probabilities(self) -> tuple[float, float]:
        """Probability of the first table before and after the release."""
        prior = math.log(self.prior_odds)
        return _probability(prior), _probability(prior + self.log_gain)


@checked()
def attacker_view(synthesizer: Synthesizer, pair: int, column: int, prior_odds: float) -> AttackerView:
    """Return the posterior odds of neighbouring tables after a release: prior odds × Pr(c | first) / Pr(c | second).

    `pair` and `column` are places in its neighbours and columns. Source: Abowd & Vilhuber (2008), equation (4).

    >>> from dpviz.synthesizers import BetaBinomial
    >>> view = attacker_view(BetaBinomial(n=1, m=1, alpha=1, beta=1), pair=0, column=1, prior_odds=1.0)
    >>> view.first, view.second, round(view.posterior_odds, 6)
    ((0, 1), (1, 0), 0.5)
    """
    if not (math.isfinite(prior_odds) and prior_odds > 0):
        raise ValueError(f"prior_odds must be a finite number above 0; got {prior_odds!r}.")
    check_index(pair, len(synthesizer.neighbours), "pair")
    check_index(column, synthesizer.shape[1], "column")
    gain = float(synthesizer.log_odds(np.array([pair]), np.array([column]))[0, 0])
    first, second = (synthesizer.row_table(int(index)) for index in synthesizer.neighbours[pair])
    return AttackerView(first, second, synthesizer.column_table(column), prior_odds, gain)


@checked()
def gain_in_words(view: AttackerView) -> str:
    """Return what the release did to the odds, in one sentence."""
    factor, towards = abs(view.log_gain), view.first if view.log_gain > 0 else view.second
    if math.isinf(factor):
        return f"The release decides: only {towards} can lead to {view.released}."
    if factor < 5e-7:
        return "The release does not move the odds."
    return f"The release moves the odds towards {towards}, by a factor of {factor_text(factor)}."


def factor_text(log_factor: float) -> str:
    """e raised to `log_factor`, 0 or above, to three digits, or by its power of ten; 1 only where it is that.

    >>> factor_text(math.log(11)), factor_text(1e-4), factor_text(1000.0)
    ('11', '1.0001', 'about 10⁴³⁴')
    """
    if log_factor < 700:
        return readable_apart(math.exp(log_factor), 1.0, 3)
    return "about 10" + str(round(log_factor / math.log(10))).translate(SUPERSCRIPTS)


def _probability(log_odds: float) -> float:
    """Return the probability with these log-odds, without overflow."""
    if log_odds >= 0:
        return 1 / (1 + math.exp(-log_odds))
    odds = math.exp(log_odds)
    return odds / (1 + odds)
