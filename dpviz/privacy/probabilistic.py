"""Probabilistic differential privacy: how often the log-odds exceed ε."""

from __future__ import annotations

import math
from collections.abc import Callable

import numpy as np

from dpviz.checked import check_epsilon, checked
from dpviz.numerics.sums import log_rising
from dpviz.privacy.log_odds import exceeds
from dpviz.synthesizers import Synthesizer
from dpviz.synthesizers.cells import log_multinomials
from dpviz.types import FloatArray

CACHED = 200_000
"""Cells of the log-odds table worked on at once."""


@checked(epsilon=check_epsilon)
def failure_by_row(synthesizer: Synthesizer, epsilon: float) -> FloatArray:
    """For each confidential table, the probability that the released counts tell it from a neighbour by more than ε.

    Pr over c | row of the event that some neighbour's |log-odds| at c exceed ε.

    Parameters
    ----------
    synthesizer
        The release; with k > 2 cells one whose full matrix is within the limit.
    epsilon
        ε ≥ 0, finite.

    Returns
    -------
    ndarray, shape (rows,)

    Source: Machanavajjhala et al. (2008), disclosure set.
    """
    check_epsilon(epsilon)
    neighbours = synthesizer.neighbours
    consecutive = len(neighbours) == synthesizer.shape[0] - 1 and bool(np.all(np.diff(neighbours) == 1))
    failure = _consecutive_failure if consecutive else _listed_failure
    return np.minimum(failure(synthesizer, epsilon), 1.0)


@checked(epsilon=check_epsilon)
def probabilistic_delta(synthesizer: Synthesizer, epsilon: float) -> float:
    """The least δ of (ε, δ)-probabilistic differential privacy: the worst row of `failure_by_row`.

    Stronger than (ε, δ)-differential privacy: it is never below `delta_for_epsilon`.

    Source: Machanavajjhala et al. (2008).

    Examples
    --------
    >>> from dpviz.synthesizers import BetaBinomial
    >>> release = BetaBinomial(n=10, m=5, alpha=1, beta=1)
    >>> [round(probabilistic_delta(release, epsilon), 7) for epsilon in (0.5, 1.0, 1.5)]
    [0.2582418, 0.0631868, 0.0128205]
    """
    return float(failure_by_row(synthesizer, epsilon).max())


@checked(epsilon=check_epsilon)
def loss_tail(synthesizer: Synthesizer, epsilon: float) -> float:
    """The probability that the privacy loss of one fixed pair of neighbours exceeds ε, for the worst ordered pair.

    max over ordered neighbours of Pr over c | first of ln(Pr(c | first) / Pr(c | second)) > ε. One pair and one sign
    at a time, as later writers define probabilistic privacy: between `delta_for_epsilon` and `probabilistic_delta`.

    Examples
    --------
    >>> from dpviz.synthesizers import BetaBinomial
    >>> round(loss_tail(BetaBinomial(n=10, m=5, alpha=1, beta=1), 0.5), 7)  # 3/14
    0.2142857
    """
    matrix, columns, worst = synthesizer.transition_matrix(), np.arange(synthesizer.shape[1]), 0.0
    block = max(1, CACHED // len(columns))
    for start in range(0, len(synthesizer.neighbours), block):
        pairs = np.arange(start, min(start + block, len(synthesizer.neighbours)))
        table = synthesizer.log_odds(pairs, columns)
        over = exceeds(table, check_epsilon(epsilon))
        for row, side in zip(synthesizer.neighbours[pairs].T, (table > 0, table < 0), strict=True):
            worst = max(worst, float(np.where(over & side, matrix[row], 0.0).sum(axis=1).max()))
    return min(worst, 1.0)


@checked(epsilon=check_epsilon)
def joint_probabilistic_delta(synthesizer: Synthesizer, epsilon: float, law: str = "even") -> float:
    """The probability of failure when the confidential counts too are random: Σ over rows of Pr(row) `failure_by_row`.

    Parameters
    ----------
    synthesizer, epsilon
        As in `failure_by_row`.
    law
        A key of `LAWS`: the law of the confidential counts.

    Source: Abowd & Vilhuber (2008), §3, who take the probability over the joint distribution of (m, n).
    """
    return float(law_of_counts(synthesizer, law) @ failure_by_row(synthesizer, epsilon))


@checked()
def law_of_counts(synthesizer: Synthesizer, law: str) -> FloatArray:
    """The probability of each confidential table under the named law, shape (rows,)."""
    if law not in LAWS:
        raise ValueError(f"law must be one of {', '.join(LAWS)}; got {law!r}.")
    return LAWS[law][1](synthesizer)


def _even(synthesizer: Synthesizer) -> FloatArray:
    counts = synthesizer.row_counts
    n, cells = int(counts[0].sum()), counts.shape[1]
    return np.exp(log_multinomials(n, *counts.T).total() - n * math.log(cells))


def _flat_prior(synthesizer: Synthesizer) -> FloatArray:
    counts = synthesizer.row_counts
    return np.full(len(counts), 1 / len(counts))


def _jeffreys(synthesizer: Synthesizer) -> FloatArray:
    counts = synthesizer.row_counts
    n, cells = int(counts[0].sum()), counts.shape[1]
    value, rising = log_multinomials(n, *counts.T), log_rising(0.5, n)
    for column in counts.T:
        value = value + rising[column]
    return np.exp((value - log_rising(cells / 2, n)[np.full(len(counts), n)]).total())


LAWS: dict[str, tuple[str, Callable[[Synthesizer], FloatArray]]] = {
    "even": ("every row falls in each cell with the same probability: Binomial(n, ½) for two cells", _even),
    "jeffreys": (
        "the cell probabilities have a Dirichlet(½, …, ½) prior: Beta-binomial(n, ½, ½) for two cells",
        _jeffreys,
    ),
    "flat": ("every confidential table has the same probability", _flat_prior),
}
"""Laws of the confidential counts, each with its description."""


def _consecutive_failure(synthesizer: Synthesizer, epsilon: float) -> FloatArray:
    """`failure_by_row` where the neighbours of row i are rows i − 1 and i + 1, in blocks that stay in the cache."""
    matrix = synthesizer.transition_matrix()
    rows, columns = matrix.shape
    block, failure = max(1, CACHED // columns), np.empty(rows)
    for start in range(0, rows, block):
        stop = min(start + block, rows)
        first, last = max(start - 1, 0), min(stop, rows - 1)
        over = exceeds(synthesizer.log_odds(np.arange(first, last), np.arange(columns)), epsilon)
        failing = np.zeros((stop - start, columns), dtype=bool)
        failing[: last - start] = over[start - first :]
        failing[first + 1 - start :] |= over[: stop - 1 - first]
        failure[start:stop] = np.where(failing, matrix[start:stop], 0.0).sum(axis=1)
    return failure


def _listed_failure(synthesizer: Synthesizer, epsilon: float) -> FloatArray:
    """`failure_by_row` where the neighbours are any pairs of rows."""
    matrix, neighbours = synthesizer.transition_matrix(), synthesizer.neighbours
    columns = matrix.shape[1]
    failing = np.zeros(matrix.shape, dtype=bool)
    block = max(1, CACHED // columns)
    for start in range(0, len(neighbours), block):
        pairs = np.arange(start, min(start + block, len(neighbours)))
        over = exceeds(synthesizer.log_odds(pairs, np.arange(columns)), epsilon)
        for (first, second), cells in zip(neighbours[pairs], over, strict=True):
            failing[first] |= cells
            failing[second] |= cells
    return np.where(failing, matrix, 0.0).sum(axis=1)
