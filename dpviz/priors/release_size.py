"""At a fixed prior, what releasing more rows costs: δ as a function of m, and where it goes (Zheng, chapter 5)."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from dpviz.parameters import DELTA
from dpviz.priors.releases import MANY_SYNTHETIC_ROWS, check_method, release
from dpviz.privacy.hockey_stick import delta_for_epsilon
from dpviz.types import FloatArray, IntArray

BY_SIZE = ("synth_post_one", "synth_post_many", "synth_map")
"""The methods that release rows."""


@dataclass(frozen=True)
class SizeCurves:
    """δ of the three releases of rows against the number of rows m, and what each tends to.

    Parameters
    ----------
    sizes
        m, rising.
    one, many
        δ of SYNTH_Post(One) and SYNTH_Post(Many) at each m.
    mode
        δ of SYNTH_MAP at each m, or None where its proportion does not exist: α or β of 1 or less.
    parameter_draw
        δ of PARAM_Post: the limit of `one`, which never exceeds it.

    The limit of `many` and of `mode` is 1: PARAM_MAP and the posterior mean tell neighbouring tables apart for sure.
    """

    sizes: IntArray
    one: FloatArray
    many: FloatArray
    mode: FloatArray | None
    parameter_draw: float


def delta_by_size(n: int, alpha: float, beta: float, epsilon: float, sizes: Sequence[int] | IntArray) -> SizeCurves:
    """δ(ε) of every release of m rows at one prior, for each m.

    No δ falls as m grows, because leaving out one of the released rows is post-processing.

    Parameters
    ----------
    n
        Confidential rows, 1 to 100,000.
    alpha, beta
        Prior pseudo-rows with a one and with a zero, 1e-300 to 1e12.
    epsilon
        ε ≥ 0, finite.
    sizes
        Numbers of released rows m, each 1 to 100,000, in any order, at least one.

    Raises
    ------
    ValueError
        If a value is outside its domain or `sizes` is empty.

    Source: Zheng (2015), Theorem 5.1 (`one` never exceeds PARAM_Post), Hypothesis 5.5 (that it gets there), Theorem 5.4
    and Corollary 5.6 (`mode` and `many` exceed every δ below 1).

    Examples
    --------
    One confidential row and a flat prior. At ε = 0 one released row differs by 1/3, an even m by m / (2m + 2), a draw
    of θ by 1/2.

    >>> curves = delta_by_size(1, 1.0, 1.0, 0.0, [1, 1000])
    >>> curves.one.round(6).tolist(), curves.parameter_draw.__round__(6), curves.mode
    ([0.333333, 0.4995], 0.5, None)
    """
    if len(sizes) == 0:
        raise ValueError("sizes must hold at least one number of released rows; got none.")
    rows = np.array(sorted({int(MANY_SYNTHETIC_ROWS.check(size)) for size in sizes}))

    def curve(method: str) -> FloatArray:
        return np.array([_delta(method, n, int(m), alpha, beta, epsilon) for m in rows])

    mode = curve("synth_map") if min(alpha, beta) > 1 else None
    limit = _delta("param_post", n, 1, alpha, beta, epsilon)
    return SizeCurves(rows, curve("synth_post_one"), curve("synth_post_many"), mode, limit)


def least_size_exceeding(method: str, n: int, alpha: float, beta: float, epsilon: float, delta: float) -> int | None:
    """The least number of released rows m at which the method is not (ε, δ)-private at this prior.

    Parameters
    ----------
    method
        ``synth_post_one``, ``synth_post_many`` or ``synth_map``.
    n, alpha, beta, epsilon
        As in `delta_by_size`; α and β above 1 for ``synth_map``.
    delta
        δ, 0 to 1.

    Returns
    -------
    int or None
        m, by bisection of a δ that never falls in m; None where it is more than 100,000 or does not exist.

    Source: Zheng (2015), Theorem 5.4 and Corollary 5.6: it exists for ``synth_map`` and ``synth_post_many``, δ < 1.

    Examples
    --------
    With no other row and a prior of 1 and 1, pure privacy at ε = ln 3 allows two rows: ε* = ln(1 + m).

    >>> least_size_exceeding("synth_post_one", 1, 1.0, 1.0, 1.0986122886681098, 0.0)
    3
    """
    check_method(method, BY_SIZE)
    allowed, low, high = DELTA.check(delta), 0, int(MANY_SYNTHETIC_ROWS.maximum)
    if _delta(method, n, high, alpha, beta, epsilon) <= allowed:
        return None
    while high - low > 1:
        middle = (low + high) // 2
        if _delta(method, n, middle, alpha, beta, epsilon) > allowed:
            high = middle
        else:
            low = middle
    return high


def _delta(method: str, n: int, m: int, alpha: float, beta: float, epsilon: float) -> float:
    return delta_for_epsilon(release(method, n=n, m=m, alpha=alpha, beta=beta), epsilon)
