"""What is released under each of the two neighbouring tables that a release tells apart best."""

import math
from dataclasses import dataclass

import numpy as np

from dpviz.core.checked import checked
from dpviz.core.types import FloatArray, IntArray
from dpviz.mechanisms import Synthesizer, TwoCellSynthesizer, WorstCase

__all__ = ["TwoTables", "two_tables"]

SHOWN_COLUMNS = 301  # Released tables up to which all are shown; more are shown at evenly spaced ones
LIKELY = 1e-4  # Share of the largest probability below which a released table at the rim is left out
TRIED_COLUMNS = 20_000  # Released tables among which the first and the last that is likely enough are looked for
WHOLE_COLUMNS = 41  # Released tables up to which none is left out


@dataclass(frozen=True, eq=False)
class TwoTables:
    """Pr(released | table) for the worst neighbours, at the places `columns` of released tables.

    `tables` are their rows in the matrix: of two counts first the one with one yes more, so that the person they differ
    in said yes, else the likelier one at `telling`, the released table that tells most; its log-odds are `gain`, and
    `chance` is its probability under the likelier one. `success` is how often the best guess between the two is right
    that knows nothing else: ½ + Σ |difference| / 4; NaN where there are too many released tables to sum over.
    """

    synthesizer: Synthesizer
    tables: tuple[int, int]
    columns: IntArray
    probabilities: FloatArray
    telling: int
    chance: float
    gain: float
    success: float


@checked()
def two_tables(synthesizer: Synthesizer, worst: WorstCase) -> TwoTables | None:
    """Return them for the largest log-odds of a release; None where no released table can be named.

    >>> from dpviz.mechanisms import BetaBinomial
    >>> release = BetaBinomial(n=1, m=1, alpha=1, beta=1)
    >>> found = two_tables(release, release.worst_log_odds())
    >>> found.tables, found.probabilities.round(3).tolist(), found.telling, round(found.chance, 3)
    ((1, 0), [[0.333, 0.667], [0.667, 0.333]], 1, 0.667)
    """
    two_cells = isinstance(synthesizer, TwoCellSynthesizer)
    if worst.column is None or not (two_cells or synthesizer.enumerable):
        return None
    pair = (worst.likelier, worst.other)
    tables = (max(pair), min(pair)) if two_cells else pair
    rows, size = np.array(tables), synthesizer.shape[1]
    tried = _even(0, size - 1, TRIED_COLUMNS)
    with np.errstate(under="ignore"):
        whole = np.exp(synthesizer.log_transition(rows, tried))
        largest, columns = whole.max(axis=0), tried
        if size > WHOLE_COLUMNS:
            likely = tried[largest >= LIKELY * largest.max()]
            columns = _even(int(likely[0]), int(likely[-1]), SHOWN_COLUMNS)
        probabilities = np.exp(synthesizer.log_transition(rows, columns))
        chance = np.exp(synthesizer.log_transition(np.array(pair), np.array([worst.column])))
    success = 0.5 + float(np.abs(whole[0] - whole[1]).sum()) / 4 if len(tried) == size else math.nan
    return TwoTables(
        synthesizer, tables, columns, probabilities, worst.column, float(chance[0, 0]), worst.value, success
    )


def _even(first: int, last: int, most: int) -> IntArray:
    """Return evenly spaced places between two, ends included."""
    return np.unique(np.rint(np.linspace(first, last, min(last - first + 1, most))).astype(np.int64))
