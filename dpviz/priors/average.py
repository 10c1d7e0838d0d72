"""Average-case δ of every method that knows it beside its worst case, at one prior."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np

from dpviz.methods import CALIBRATED, PARAM_MAP, Method
from dpviz.privacy.hockey_stick import delta_for_epsilon
from dpviz.types import FloatArray

STRIDES = (12, 6, 3, 1)
"""Steps between the points along θ, coarse to fine."""

FOLDED = 12
"""Decimals to which θ and 1 − θ must agree to be the same point."""


def _averaged() -> list[Method]:
    return [method for method in CALIBRATED.values() if method.knows(Method.average_delta)]


def average_and_worst(
    n: int, m: int, alpha: float, theta_real: float, epsilon: float
) -> dict[str, tuple[float, float | None] | None]:
    """δ of every method with n − 1 random rows, ones with the probability θ, and with the worst fixed ones.

    The latter is None for PARAM_MAP, where it is 1; None instead of both for SYNTH_MAP at a prior of 1 or less.

    Source: Zheng (2015), section 6.3.

    Examples
    --------
    One of two rows is random: the count is 1 or 2 against 0 or 1, half of the time the same.

    >>> average_and_worst(2, 1, 1.0, 0.5, 0.0)["param_map"]
    (0.5, None)
    """
    found: dict[str, tuple[float, float | None] | None] = {
        PARAM_MAP.key: (PARAM_MAP.average_delta(n, m, alpha, theta_real, epsilon), None)
    }
    for method in _averaged():
        found[method.key] = None
        if alpha > method.lost:
            worst = delta_for_epsilon(method.two_cells(n, m, alpha, alpha), epsilon)
            found[method.key] = method.average_delta(n, m, alpha, theta_real, epsilon), worst
    return found


@dataclass(frozen=True, kw_only=True)
class AverageCurves:
    """Average-case δ by method along rising probabilities θ of a one."""

    thetas: FloatArray
    deltas: dict[str, FloatArray]


def stream_average_by_theta(
    n: int, m: int, alpha: float, epsilon: float, thetas: Sequence[float] | FloatArray
) -> Iterator[AverageCurves]:
    """Average-case δ of every method with a prior for each θ, coarse to fine: the points before, and some more.

    With α = β nothing changes when ones and zeros trade places, so δ(θ) = δ(1 − θ) and each pair is computed once.
    SYNTH_MAP is missing at a prior of 1 or less.

    Examples
    --------
    One row has no others to hide behind: Beta-binomial rows (2/3, 1/3) and (1/3, 2/3) differ by 1/3 at every θ.

    >>> *_, last = stream_average_by_theta(1, 1, 1.0, 0.0, [0.2, 0.5])
    >>> [round(delta, 12) for delta in last.deltas["synth_post_one"].tolist()]
    [0.333333333333, 0.333333333333]
    """
    points = np.unique(np.asarray(thetas, dtype=float))
    if not len(points):
        raise ValueError("thetas must hold at least one probability; got none.")
    methods = [one for one in _averaged() if alpha > one.lost]
    smaller = np.minimum(points, 1 - points)
    folded = np.round(smaller, FOLDED).tolist()
    known: dict[float, dict[str, float]] = {}
    shown: set[int] = set()
    for stride in STRIDES:
        level = {0, len(points) - 1, *range(0, len(points), stride)} - shown
        if not level:
            continue
        shown |= level
        places = sorted(shown)
        for place in places:
            if folded[place] not in known:
                theta = float(smaller[place])
                known[folded[place]] = {one.key: one.average_delta(n, m, alpha, theta, epsilon) for one in methods}
        yield AverageCurves(
            thetas=points[places],
            deltas={one.key: np.array([known[folded[place]][one.key] for place in places]) for one in methods},
        )
