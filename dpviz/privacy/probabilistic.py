"""How often the log-odds exceed ε, and how surely the released table differs from the confidential one."""

import math

import numpy as np

from dpviz.core.declarations import ANY_EPSILON
from dpviz.core.numerics.special import log_rising_ratio, row_blocks
from dpviz.core.types import FloatArray
from dpviz.mechanisms import Synthesizer
from dpviz.privacy.divergence import exceeds


def failure_by_row(synthesizer: Synthesizer, epsilon: float) -> FloatArray:
    """Probability, under each confidential table, of counts that tell it from a neighbour by log-odds above ε.

    Parameters
    ----------
    synthesizer : Synthesizer
    epsilon : float
    """
    epsilon = ANY_EPSILON.validate(epsilon)
    matrix = synthesizer.transition_matrix()
    neighbours = synthesizer.neighbours
    columns = np.arange(matrix.shape[1])
    is_failing = np.zeros(matrix.shape, dtype=bool)
    for block in row_blocks(len(neighbours), len(columns), 200_000):
        is_larger = exceeds(synthesizer.log_odds(np.arange(len(neighbours))[block], columns), epsilon)
        for ends in neighbours[block].T:
            np.logical_or.at(is_failing, ends, is_larger)
    matrix *= is_failing
    return np.minimum(matrix.sum(axis=1), 1.0)


def probabilistic_delta(synthesizer: Synthesizer, epsilon: float) -> float:
    """Smallest δ of (ε, δ)-probabilistic differential privacy: the largest of `failure_by_row`, at least δ(ε).

    Machanavajjhala et al. (2008), disclosure set.

    Parameters
    ----------
    synthesizer : Synthesizer
    epsilon : float
    """
    return float(failure_by_row(synthesizer, epsilon).max())


def even_counts(synthesizer: Synthesizer) -> FloatArray:
    """Probability of each confidential table if every row of data is equally likely to fall in each cell."""
    counts = synthesizer.row_counts
    n = int(counts[0].sum())
    cells = counts.shape[1]
    factorial = log_rising_ratio(1.0, n)
    return np.exp((factorial[n] - factorial[counts].sum(axis=1)).astype(float) - n * math.log(cells))


def change_by_row(synthesizer: Synthesizer) -> FloatArray:
    """Pr(released ≠ confidential) for each confidential table; 1 if it cannot be released at all, as if m ≠ n.

    Abowd & Vilhuber (2008), section 3: Pr[m_i ≠ n_i | n] > δ, the view of statistical disclosure limitation.
    """
    columns = {tuple(table): column for column, table in enumerate(synthesizer.column_counts.tolist())}
    tables = [tuple(table) for table in synthesizer.row_counts.tolist()]
    cells = [(row, columns[table]) for row, table in enumerate(tables) if table in columns]
    changed = np.ones(len(tables))
    for block in row_blocks(len(cells), 1, 64):
        rows, places = np.array(cells[block]).T
        changed[rows] = -np.expm1(np.minimum(np.diagonal(synthesizer.log_transition(rows, places)), 0.0))
    return changed
