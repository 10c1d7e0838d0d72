"""Probabilistic differential privacy: how often the log-odds exceed ε."""

from __future__ import annotations

import math
from collections.abc import Callable

import numpy as np

from dpviz.privacy.log_odds import check_epsilon, exceeds
from dpviz.synthesizers import Synthesizer
from dpviz.synthesizers._sums import log_rising
from dpviz.synthesizers.cells import log_multinomials
from dpviz.types import BoolArray, FloatArray

CACHED = 200_000
"""Cells of the log-odds table worked on at once."""


def failure_by_row(synthesizer: Synthesizer, epsilon: float, *, one_sided: bool = False) -> FloatArray:
    """For each confidential table, the probability that the released counts tell it from a neighbour by more than ε.

    Pr over c | row of the event that some neighbour's |log-odds| at c exceed ε.

    Parameters
    ----------
    synthesizer
        The release; with k > 2 cells one whose full matrix is within the limit.
    epsilon
        ε ≥ 0, finite.
    one_sided
        Count only released counts that speak for the true table, ln(Pr(c | row) / Pr(c | neighbour)) > ε, as the
        privacy loss of later writers does. The definition of Machanavajjhala et al. takes the absolute value.

    Returns
    -------
    ndarray, shape (rows,)

    Source: Machanavajjhala et al. (2008), disclosure set.
    """
    check_epsilon(epsilon)
    neighbours = synthesizer.neighbours
    consecutive = len(neighbours) == synthesizer.shape[0] - 1 and bool(np.all(np.diff(neighbours) == 1))
    failure = _consecutive_failure if consecutive else _listed_failure
    return np.minimum(failure(synthesizer, epsilon, one_sided), 1.0)


def probabilistic_delta(synthesizer: Synthesizer, epsilon: float, *, one_sided: bool = False) -> float:
    """The least δ of (ε, δ)-probabilistic differential privacy: the worst row of `failure_by_row`.

    Stronger than (ε, δ)-differential privacy: it is never below `delta_for_epsilon`.

    Source: Machanavajjhala et al. (2008).

    Examples
    --------
    >>> from dpviz.synthesizers import BetaBinomial
    >>> release = BetaBinomial(n=10, m=5, alpha=1, beta=1)
    >>> [round(probabilistic_delta(release, epsilon), 7) for epsilon in (0.5, 1.0, 1.5)]
    [0.2582418, 0.0631868, 0.0128205]
    >>> round(probabilistic_delta(release, 0.5, one_sided=True), 7)  # 3/14
    0.2142857
    """
    return float(failure_by_row(synthesizer, epsilon, one_sided=one_sided).max())


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
    "jeffreys": ("the cell probabilities have a Dirichlet(½, …, ½) prior: Beta-binomial(n, ½, ½) for two cells", _jeffreys),
    "flat": ("every confidential table has the same probability", _flat_prior),
}
"""Laws of the confidential counts, each with its description."""


def _sides(log_odds: FloatArray, epsilon: float, one_sided: bool) -> tuple[BoolArray, BoolArray]:
    """Where the log-odds of pairs exceed ε, as the first row of each pair counts it and as the second does."""
    over = exceeds(log_odds, epsilon)
    return (over & (log_odds > 0), over & (log_odds < 0)) if one_sided else (over, over)


def _consecutive_failure(synthesizer: Synthesizer, epsilon: float, one_sided: bool) -> FloatArray:
    """`failure_by_row` where the neighbours of row i are rows i − 1 and i + 1, in blocks that stay in the cache."""
    matrix = synthesizer.transition_matrix()
    rows, columns = matrix.shape
    block, failure = max(1, CACHED // columns), np.empty(rows)
    for start in range(0, rows, block):
        stop = min(start + block, rows)
        first, last = max(start - 1, 0), min(stop, rows - 1)
        table = synthesizer.log_odds(np.arange(first, last), np.arange(columns))
        as_first, as_second = _sides(table, epsilon, one_sided)
        failing = np.zeros((stop - start, columns), dtype=bool)
        failing[: last - start] = as_first[start - first :]
        failing[first + 1 - start :] |= as_second[: stop - 1 - first]
        failure[start:stop] = np.where(failing, matrix[start:stop], 0.0).sum(axis=1)
    return failure


def _listed_failure(synthesizer: Synthesizer, epsilon: float, one_sided: bool) -> FloatArray:
    """`failure_by_row` where the neighbours are any pairs of rows."""
    matrix, neighbours = synthesizer.transition_matrix(), synthesizer.neighbours
    columns = matrix.shape[1]
    failing = np.zeros(matrix.shape, dtype=bool)
    block = max(1, CACHED // columns)
    for start in range(0, len(neighbours), block):
        pairs = np.arange(start, min(start + block, len(neighbours)))
        as_first, as_second = _sides(synthesizer.log_odds(pairs, np.arange(columns)), epsilon, one_sided)
        for pair, (first, second) in enumerate(neighbours[pairs]):
            failing[first] |= as_first[pair]
            failing[second] |= as_second[pair]
    return np.where(failing, matrix, 0.0).sum(axis=1)
