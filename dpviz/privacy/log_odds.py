"""Log-odds of neighbouring tables, and pure ε-differential privacy."""

from __future__ import annotations

import numpy as np

from dpviz.checked import checked
from dpviz.synthesizers import Release, Synthesizer
from dpviz.types import BoolArray, FloatArray

# Relative distance within which a log-odds counts as equal to ε, so that a prior made for ε does not break it.
TIE = 1e-12
NONE = 1e-14  # Log-odds that rounding leaves where there are none


@checked()
def log_odds_table(synthesizer: Synthesizer) -> FloatArray:
    """Signed log-odds ln T[i, c] − ln T[i', c] of every neighbouring pair (i, i') at every released count c.

    For two cells row i is the pair i, i + 1: shape (n, m + 1). They are infinite where a single row can release c, and
    0 where neither can. Source: Abowd & Vilhuber (2008), equation (3), Fig. 2 and Fig. 4, which print the absolute
    value.

    >>> from dpviz.synthesizers import BetaBinomial
    >>> log_odds_table(BetaBinomial(n=1, m=1, alpha=1, beta=1)).round(6).tolist()
    [[0.693147, -0.693147]]
    """
    return synthesizer.log_odds_table()


@checked()
def pure_epsilon(release: Release) -> float:
    """The least ε for which the release is ε-differentially private: max |log-odds|, infinite where a zero decides.

    >>> from dpviz.synthesizers import BetaBinomial
    >>> round(pure_epsilon(BetaBinomial(n=5, m=5, alpha=0.5, beta=0.5)), 6)  # ln 11
    2.397895
    """
    return release.worst_log_odds().value


@checked()
def exceeds(log_odds: FloatArray, epsilon: float) -> BoolArray:
    """Where |log-odds| > ε; a value that equals ε up to rounding (relative 1e-12) does not exceed it."""
    result: BoolArray = np.abs(log_odds) > max(epsilon * (1 + TIE), NONE)
    return result
