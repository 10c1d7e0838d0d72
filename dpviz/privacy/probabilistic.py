"""How often the log-odds exceed ε, and how surely the released table differs from the confidential one."""

import math

import numpy as np

from dpviz.core.checked import checked
from dpviz.core.numerics.blocks import blocks
from dpviz.core.numerics.sums import log_multinomials
from dpviz.core.parameters import ANY_EPSILON
from dpviz.core.types import FloatArray
from dpviz.mechanisms import Synthesizer
from dpviz.privacy.hockey_stick import exceeds

CACHED = 200_000  # Cells of the log-odds table worked on at once


@checked(epsilon=ANY_EPSILON)
def failure_by_row(synthesizer: Synthesizer, epsilon: float) -> FloatArray:
    """For each table, the probability of counts that tell it from a neighbour by log-odds above ε.

    Source: Machanavajjhala et al. (2008), disclosure set.
    """
    matrix, neighbours = synthesizer.transition_matrix(), synthesizer.neighbours
    columns, failing = np.arange(matrix.shape[1]), np.zeros(matrix.shape, dtype=bool)
    for block in blocks(len(neighbours), len(columns), CACHED):
        over = exceeds(synthesizer.log_odds(np.arange(len(neighbours))[block], columns), epsilon)
        for (first, second), cells in zip(neighbours[block].tolist(), over, strict=True):
            failing[first] |= cells
            failing[second] |= cells
    matrix *= failing
    return np.minimum(matrix.sum(axis=1), 1.0)


@checked(epsilon=ANY_EPSILON)
def probabilistic_delta(synthesizer: Synthesizer, epsilon: float) -> float:
    """Return the smallest δ of (ε, δ)-probabilistic differential privacy, the worst of `failure_by_row`; at least δ(ε).

    Source: Machanavajjhala et al. (2008).

    >>> from dpviz.mechanisms import BetaBinomial
    >>> round(probabilistic_delta(BetaBinomial(n=10, m=5, alpha=1, beta=1), 1.0), 7)  # 23/364
    0.0631868
    """
    return float(failure_by_row(synthesizer, epsilon).max())


@checked()
def even_counts(synthesizer: Synthesizer) -> FloatArray:
    """Return the probability of each confidential table where every row falls in each cell alike, shape (rows,)."""
    counts = synthesizer.row_counts
    n, cells = int(counts[0].sum()), counts.shape[1]
    return np.exp(log_multinomials(n, *counts.T).total() - n * math.log(cells))


@checked()
def change_by_row(synthesizer: Synthesizer) -> FloatArray:
    """Pr(m ≠ n | n) for each confidential table; 1 where it cannot be released at all, as where m differs from n.

    Source: Abowd & Vilhuber (2008), §3: Pr[m_i ≠ n_i | n] > δ for all i, the view of statistical disclosure limitation.

    >>> from dpviz.mechanisms import BetaBinomial
    >>> change_by_row(BetaBinomial(n=1, m=1, alpha=1, beta=1)).round(6).tolist()
    [0.333333, 0.333333]
    """
    place = {tuple(table): column for column, table in enumerate(synthesizer.column_counts.tolist())}
    tables = [tuple(table) for table in synthesizer.row_counts.tolist()]
    found = np.array([(row, place[table]) for row, table in enumerate(tables) if table in place], int).reshape(-1, 2)
    changed = np.ones(len(tables))
    for block in blocks(len(found), 1, 64):
        rows, columns = found[block].T
        changed[rows] = -np.expm1(np.minimum(np.diagonal(synthesizer.log_transition(rows, columns)), 0.0))
    return changed
