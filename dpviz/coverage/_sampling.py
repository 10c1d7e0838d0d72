"""Drawing released counts: one alias table for each confidential count that occurs."""

import threading
from typing import NamedTuple
from weakref import WeakValueDictionary

import numpy as np

from dpviz.core.types import FloatArray, IntArray
from dpviz.mechanisms import TwoCellSynthesizer


class AliasTables(NamedTuple):
    """Tables for several distributions on 0 … m, flattened; number i starts at ``slots[i] * width``, −1: none yet."""

    slots: IntArray
    width: int
    keep: FloatArray
    other: IntArray

    def draw(self, distributions: IntArray, uniforms: FloatArray) -> IntArray:
        """Return a column for each of `uniforms` from the distribution with that index; `uniforms` is overwritten.

        One uniform gives both the cell (its whole part, scaled) and the choice in the cell (its fraction). The scaled
        number stays below `width`: u ≤ 1 − 2⁻⁵³, and the product rounds to a number below.
        """
        uniforms *= self.width
        column = uniforms.astype(np.intp)
        uniforms -= column
        cell = column + (self.slots[distributions] * self.width)
        return np.where(uniforms < self.keep.take(cell), column, self.other.take(cell))


def alias_table(distribution: FloatArray) -> tuple[FloatArray, IntArray]:
    """Return Walker's alias table: cell c keeps its column with probability keep[c], and else takes other[c].

    With w = probability × length, the columns with w < 1 lack Σ (1 − w) and the others have as much too much. Light
    columns are served in order from the pooled excess of the heavy ones, in order; a heavy column that has given more
    than its excess keeps the rest and is filled up by the next. Two searches in cumulative sums find all of it. The
    distribution is divided by its sum; a column of probability 0 is never drawn.
    Source: Walker (1977); Vose (1991).
    Probabilities 1/4 and 3/4: cell 0 keeps column 0 half of the time.

    >>> keep, other = alias_table(np.array([0.25, 0.75]))
    >>> keep.tolist(), other.tolist()
    ([0.5, 1.0], [1, 1])
    """
    weights = distribution * (len(distribution) / distribution.sum())
    keep, other = np.ones(len(distribution)), np.arange(len(distribution), dtype=np.int32)
    light = weights < 1.0
    (lights,), (heavies,) = light.nonzero(), (~light).nonzero()
    if len(lights) == 0 or len(heavies) == 0:  # all equal, up to rounding
        return keep, other
    lack, excess = (1.0 - weights[lights]).cumsum(), (weights[heavies] - 1.0).cumsum()
    last = len(heavies) - 1
    keep[lights] = weights[lights]
    before = np.concatenate([[0.0], lack[:-1]])
    other[lights] = heavies[np.minimum(excess.searchsorted(before), last)]
    overdrawn = lack.searchsorted(excess, side="right")
    some = overdrawn < len(lights)
    some[last] = False  # nothing is left to fill it up: what it lacks is rounding
    keep[heavies[some]] = np.maximum(1.0 - (lack[overdrawn[some]] - excess[some]), 0.0)
    other[heavies[some]] = heavies[some.nonzero()[0] + 1]
    return keep, other


_SAMPLERS: "WeakValueDictionary[TwoCellSynthesizer, ReleaseSampler]" = WeakValueDictionary()
_MAKING = threading.Lock()


def sampler_of(synthesizer: TwoCellSynthesizer) -> "ReleaseSampler":
    """Return what draws its releases: the same as long as anybody holds it, as its tables do not depend on p."""
    with _MAKING:
        return _SAMPLERS.setdefault(synthesizer, ReleaseSampler(synthesizer))


class ReleaseSampler:
    """Draws released counts given confidential ones; a row of the transition matrix is tabled when it first occurs.

    A large matrix is so never held: at n = m = 5,000 some 400 of the 5,001 rows occur. A table depends on its row
    alone, hence what is drawn depends on the uniforms alone. Safe to share between threads.
    """

    def __init__(self, synthesizer: TwoCellSynthesizer) -> None:
        self._synthesizer = synthesizer
        rows, width = synthesizer.shape
        empty = np.empty(0, dtype=np.int32)
        self._tables = AliasTables(np.full(rows, -1, dtype=np.intp), width, np.empty(0), empty)
        self._lock = threading.Lock()

    def tables(self, confidential: IntArray) -> AliasTables:
        """Return the tables that hold a distribution for every count in `confidential`."""
        tables = self._tables
        if tables.slots[confidential].min() >= 0:
            return tables
        with self._lock:
            tables = self._tables
            fresh = np.unique(confidential)
            fresh = fresh[tables.slots[fresh] < 0]
            if len(fresh):
                self._tables = tables = self._grown(tables, fresh)
        return tables

    def _grown(self, tables: AliasTables, fresh: IntArray) -> AliasTables:
        """New tables, so that a thread that still draws from the old ones is not disturbed."""
        width, used = tables.width, len(tables.keep) // tables.width
        slots = tables.slots.copy()
        slots[fresh] = used + np.arange(len(fresh))
        # Row by row: rows computed together could round differently in other company.
        each = (self._synthesizer.log_transition(np.array([count]), np.arange(width))[0] for count in fresh)
        keep, other = zip(*map(alias_table, map(np.exp, each)), strict=True)
        return AliasTables(slots, width, np.concatenate([tables.keep, *keep]), np.concatenate([tables.other, *other]))
