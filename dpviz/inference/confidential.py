"""What every exact law starts from: the law of x, and the rows of the transition matrix that matter under it."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from dpviz.analysis import PROPORTION, SETS
from dpviz.parameters import plain_number, shown
from dpviz.synthesizers import TwoCellSynthesizer
from dpviz.types import FloatArray, IntArray


class Mixture(NamedTuple):
    """The confidential counts that matter, their probabilities, and the probability of all others together."""

    counts: IntArray
    weights: FloatArray
    omitted: float


def binomial_law(n: int, p: float) -> FloatArray:
    """Pr(x = 0 … n) for x ~ Binomial(n, p), built from the mode outward so that no tail loses its digits.

    Examples
    --------
    >>> binomial_law(2, 0.25).tolist()
    [0.5625, 0.375, 0.0625]
    """
    law = np.zeros(n + 1)
    if p in (0.0, 1.0):
        law[n if p else 0] = 1.0
        return law
    x, mode = np.arange(n), min(int((n + 1) * p), n)
    step = (n - x) / (x + 1) * (p / (1 - p))
    law[mode] = 1.0
    with np.errstate(under="ignore"):
        np.multiply.accumulate(step[mode:], out=law[mode + 1 :])
        np.multiply.accumulate(1 / step[:mode][::-1], out=law[:mode][::-1])
        return law / law.sum()


def confidential_mixture(n: int, p: float, tail: float) -> Mixture:
    """x ~ Binomial(n, p) without the counts that together weigh at most `tail`.

    Examples
    --------
    >>> confidential_mixture(2, 0.25, 0.2)
    Mixture(counts=array([0, 1]), weights=array([0.5625, 0.375 ]), omitted=0.0625)
    """
    law = binomial_law(n, p)
    below, above = np.cumsum(law), np.cumsum(law[::-1])
    first = int(np.searchsorted(below, tail / 2, side="right"))
    last = n - int(np.searchsorted(above, tail / 2, side="right"))
    counts = np.arange(first, last + 1)
    omitted = (below[first - 1] if first else 0.0) + (above[n - last - 1] if last < n else 0.0)
    return Mixture(counts, law[first : last + 1], float(omitted))


def released_rows(synthesizer: TwoCellSynthesizer, counts: IntArray) -> FloatArray:
    """Rows `counts` of the transition matrix, each divided by its sum, shape (len(counts), m + 1)."""
    if 2 * len(counts) > synthesizer.n:
        rows = synthesizer.transition_matrix()[counts]
    else:
        with np.errstate(under="ignore"):
            rows = np.exp(synthesizer.log_transition(counts, np.arange(synthesizer.m + 1)))
    return rows / rows.sum(axis=1, keepdims=True)


def checked_counts(counts: object, m: int, *, name: str = "synthetic_counts") -> IntArray:
    """`counts` as integers from 0 to m, of their shape, or a ValueError that names the first that is not one."""
    given = np.asarray(counts)
    if given.size == 0:
        raise ValueError(f"{name} must hold at least one count; got none.")
    if given.dtype.kind not in "iuf":
        raise ValueError(f"{name} must be whole numbers from 0 to m = {m:,}; got {counts!r}.")
    wrong = ~((given >= 0) & (given <= m) & (given == np.floor(given)))
    if wrong.any():
        raise ValueError(f"{name} must be whole numbers from 0 to m = {m:,}; got {given[wrong].flat[0]}.")
    return given.astype(np.int64)


def one_release(counts: object, m: int) -> IntArray:
    """The checked counts of M sets."""
    found = checked_counts(counts, m)
    if found.ndim != 1:
        raise ValueError(f"synthetic_counts must be a list of counts, one for each set; got {counts!r}.")
    return found


def along_axis(proportions: FloatArray | float) -> FloatArray:
    """One true proportion or several, already checked, as an array with one axis."""
    p = np.atleast_1d(np.asarray(proportions, float))
    if p.ndim != 1 or not p.size:
        raise ValueError(f"proportions (true proportion) must be one number or a row of them; got {proportions!r}.")
    return p


def check_design(
    synthesizer: TwoCellSynthesizer, p: float, sets: int, confidential_count: int | None
) -> tuple[float, int, int | None]:
    """The checked p, M and fixed count, or a ValueError that says what is allowed."""
    if not isinstance(synthesizer, TwoCellSynthesizer):
        raise ValueError(f"synthesizer must release two counts; got {type(synthesizer).__name__}.")
    p, sets = float(PROPORTION.check(p)), int(SETS.check(sets))
    if confidential_count is None:
        return p, sets, None
    count = plain_number(confidential_count)
    if count is None or not 0 <= count <= synthesizer.n or count != int(count):
        raise ValueError(
            f"confidential_count must be a whole number from 0 to {synthesizer.n:,}; got {shown(confidential_count)}."
        )
    return p, sets, int(count)
