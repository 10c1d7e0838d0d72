"""How long intervals are on average along the axis of p, beside the shortest that any rule can be."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np

from dpviz.analysis import LEVEL, PROPORTION, SETS
from dpviz.checked import checked
from dpviz.coverage.curves import STEP, CoverageCurves, stream_by_proportion
from dpviz.inference.pratt import length_limit
from dpviz.inference.sum_law import release_sums, within_sums
from dpviz.synthesizers import TwoCellSynthesizer
from dpviz.types import FloatArray


@dataclass(frozen=True, kw_only=True)
class LengthCurves:
    """Expected lengths at the points of an axis that are done.

    Parameters
    ----------
    proportions
        p, in increasing order.
    curves
        `mean_width_inside` and the rest of each rule there.
    limit, limit_error
        The Pratt bound and how far it may be off (see `length_limit`); NaN where the law of the sum is too large.
    """

    proportions: FloatArray
    curves: CoverageCurves
    limit: FloatArray
    limit_error: FloatArray


@checked(proportions=PROPORTION, sets=SETS, level=LEVEL, step=STEP)
def stream_lengths(
    synthesizer: TwoCellSynthesizer,
    *,
    proportions: Sequence[float] | FloatArray,
    sets: int,
    rules: Sequence[str],
    level: float = 0.95,
    step: int = 4,
) -> Iterator[LengthCurves]:
    """Expected lengths inside 0 to 1 of several rules and their limit, as growing curves, coarse to fine.

    Examples
    --------
    A fair coin in place of one row: the interval that must hold its level at every p is [0, 1], or nothing.

    >>> from dpviz.synthesizers import BetaBinomial
    >>> release = BetaBinomial(n=1, m=1, alpha=1e12, beta=1e12)
    >>> *_, last = stream_lengths(release, proportions=[0.5], sets=1, rules=["clopper_pearson"])
    >>> float(last.curves.mean_width_inside[0, 0].round(6)), float(last.limit[0].round(6))
    (1.0, 0.95)
    """
    axis = np.asarray(proportions, float)
    sums = release_sums(synthesizer, sets) if within_sums(synthesizer.n, synthesizer.m, sets) else None
    limit, error = np.full((2, len(axis)), np.nan)
    done = np.zeros(len(axis), dtype=bool)
    for curves in stream_by_proportion(
        synthesizer, proportions=axis, sets=sets, rules=rules, level=level, step=step
    ):  # fmt: skip
        places = curves.places
        new = places[~done[places]]
        if sums is not None:
            found = length_limit(sums, proportions=axis[new], level=level)
            limit[new], error[new] = found.length, found.error
        done[new] = True
        yield LengthCurves(proportions=axis[places], curves=curves, limit=limit[places], limit_error=error[places])
