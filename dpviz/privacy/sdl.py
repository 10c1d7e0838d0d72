"""The view of statistical disclosure limitation: how surely the released table differs from the confidential one."""

from __future__ import annotations

import numpy as np

from dpviz.checked import checked
from dpviz.synthesizers import Synthesizer
from dpviz.types import FloatArray


@checked()
def change_by_row(synthesizer: Synthesizer) -> FloatArray:
    """Pr(m ≠ n | n) for each confidential table; 1 where the table cannot be released at all.

    Where m differs from n no table comes out unchanged, and the measure says nothing.

    Returns
    -------
    ndarray, shape (rows,)
        Its minimum is the uncertainty that the release infuses into every tabulation.

    Source: Abowd & Vilhuber (2008), §3: Pr[m_i ≠ n_i | n] > δ for all i.

    Examples
    --------
    >>> from dpviz.synthesizers import BetaBinomial
    >>> change_by_row(BetaBinomial(n=1, m=1, alpha=1, beta=1)).round(6).tolist()
    [0.333333, 0.333333]
    """
    rows, columns = synthesizer.row_counts, synthesizer.column_counts
    changed = np.ones(len(rows))
    if rows.shape[1] != columns.shape[1]:
        return changed
    place = {tuple(table): column for column, table in enumerate(columns.tolist())}
    found = [(row, place[tuple(table)]) for row, table in enumerate(rows.tolist()) if tuple(table) in place]
    for start in range(0, len(found), 64):
        part = np.array(found[start : start + 64])
        kept = np.diagonal(synthesizer.log_transition(part[:, 0], part[:, 1]))
        changed[part[:, 0]] = -np.expm1(np.minimum(kept, 0.0))
    return changed
