"""At a fixed prior, what releasing more rows costs: δ as a function of m, and where it goes (Zheng, chapter 5)."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from dpviz.methods import CALIBRATED, Method
from dpviz.methods.base import MANY_SYNTHETIC_ROWS
from dpviz.privacy.hockey_stick import delta_for_epsilon
from dpviz.synthesizers.prior import PRIOR_ONES, PRIOR_ZEROS
from dpviz.types import FloatArray, IntArray

BY_SIZE = {key: method for key, method in CALIBRATED.items() if method.limit}
"""The methods that release rows."""


@dataclass(frozen=True)
class SizeCurves:
    """δ of the releases of rows at rising numbers of rows m, and what each tends to and never exceeds.

    SYNTH_MAP is missing where its proportion does not exist: α or β of 1 or less. The limits are δ of PARAM_Post, and
    1 of PARAM_MAP and the posterior mean, which tell neighbouring tables apart for sure.
    """

    sizes: IntArray
    deltas: dict[str, FloatArray]
    limits: dict[str, float]


def delta_by_size(n: int, alpha: float, beta: float, epsilon: float, sizes: Sequence[int] | IntArray) -> SizeCurves:
    """δ(ε) of every release of m rows at one prior, for each m.

    No δ falls as m grows, because leaving out one of the released rows is post-processing.

    Source: Zheng (2015), Theorem 5.1 (SYNTH_Post(One) never exceeds PARAM_Post), Hypothesis 5.5 (that it gets there),
    Theorem 5.4 and Corollary 5.6 (the other two exceed every δ below 1).

    Examples
    --------
    One confidential row and a flat prior. At ε = 0 one released row differs by 1/3, an even m by m / (2m + 2), a draw
    of θ by 1/2.

    >>> curves = delta_by_size(1, 1.0, 1.0, 0.0, [1, 1000])
    >>> curves.deltas["synth_post_one"].round(6).tolist(), round(curves.limits["synth_post_one"], 6)
    ([0.333333, 0.4995], 0.5)
    """
    if len(sizes) == 0:
        raise ValueError("sizes must hold at least one number of released rows; got none.")
    rows = np.array(sorted({int(MANY_SYNTHETIC_ROWS.check(size)) for size in sizes}))

    smaller = min(PRIOR_ONES.check(alpha), PRIOR_ZEROS.check(beta))
    known = [method for method in BY_SIZE.values() if smaller > method.lost]
    return SizeCurves(
        rows,
        {one.key: np.array([_delta(one, n, int(m), alpha, beta, epsilon) for m in rows]) for one in known},
        {
            one.key: _delta(one.limit, n, 1, alpha, beta, epsilon) if one.limit and one.limit.calibrated else 1.0
            for one in known
        },
    )


def _delta(method: Method, n: int, m: int, alpha: float, beta: float, epsilon: float) -> float:
    return delta_for_epsilon(method.two_cells(n, m, alpha, beta), epsilon)
