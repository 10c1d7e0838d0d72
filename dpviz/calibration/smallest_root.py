"""The smallest prior with δ(prior) ≤ δ, where δ never rises in the prior: few looks, each using the last."""

import math
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from dpviz.core.numerics.lockstep import roots
from dpviz.core.types import FloatArray, IntArray

PRIOR_RESOLUTION = 1e-13  # Relative accuracy of a calibrated prior, which then moves to the private side
MOST_PRIOR_LOOKS = 1000  # Bound on the looks at δ; each halves a bracket of ln prior at worst
Pair = tuple[int, bool]  # Neighbours, rows i and i + 1, and whether row i + 1 is the likelier one


@dataclass(frozen=True)
class Start:
    """Where the search for a prior starts, or where it ended: a guess of the prior, or the answer."""

    prior: float
    pair: Pair | None = None  # the worst neighbours there, where they are known


def excess_of(value: float, delta: float) -> float:
    """ln(−ln δ) of a value less that of the allowed δ, nearly linear in ln prior; 0 or more is private."""
    if not 0 < value < 1:
        return math.inf if value <= 0 else -math.inf
    return math.log(math.log(value) / math.log(delta))


def smallest_root(
    delta_of: Callable[[float], float], delta: float, lowest: float, top: float, top_is_private: bool, here: float
) -> float:
    """Return the smallest prior in [lowest, top] with δ(prior) ≤ δ, from `here` on; infinite where `top` is none."""
    first = excess_of(delta_of(here), delta)
    if first >= 0 and delta_of(lowest) <= delta:
        return lowest
    start, ends = np.array([math.log(here)]), (math.log(lowest), np.array([math.log(top)]))

    def excess(log_prior: FloatArray, _: IntArray) -> FloatArray:
        known = log_prior[0] == start[0]
        return np.array([first if known else excess_of(delta_of(min(max(math.exp(log_prior[0]), lowest), top)), delta)])

    (found,), _ = roots(excess, start, *ends, PRIOR_RESOLUTION, MOST_PRIOR_LOOKS)
    if found < ends[1][0]:
        return math.exp(found)
    return top if top_is_private or delta_of(top) <= delta else math.inf
