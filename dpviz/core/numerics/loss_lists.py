"""δ(ε) from the list of all privacy losses L = ln(P / Q): at many ε in one pass, and its inverse in closed form."""

import math

import numpy as np

from dpviz.core.types import FloatArray, IntArray


def divergences_at(
    epsilons: FloatArray, losses: FloatArray, masses: FloatArray, group: IntArray, groups: int
) -> FloatArray:
    """Return Σ P (1 − e^{ε − L}) over the outcomes with L > ε, for rising ε ≥ 0 and each group of outcomes.

    From one ε down to the next, δ grows by what lies between them and by (1 − e^{ε − ε'}) Σ P e^{ε' − L} of what lies
    above: positive terms alone. The shape is (epsilons, groups).

    >>> divergences_at(np.log([1, 2]), np.log([2, 4]), np.array([0.25, 0.5]), np.zeros(2, int), 1).round(9).tolist()
    [[0.5], [0.25]]
    """
    last = np.searchsorted(epsilons, losses) - 1
    (told,) = np.nonzero(last >= 0)
    last, masses = last[told], masses[told]
    gap, place = epsilons[last] - losses[told], last * groups + group[told]
    shape = len(epsilons), groups
    with np.errstate(under="ignore"):
        sums = np.array([np.bincount(place, masses * one, math.prod(shape)) for one in (-np.expm1(gap), np.exp(gap))])
        found, shared = sums.astype(float, copy=False).reshape(2, *shape)
        steps = -np.diff(epsilons)
        for j, (kept, gained) in enumerate(zip(np.exp(steps[::-1]), -np.expm1(steps[::-1]), strict=True), 2):
            found[-j] += found[1 - j] + gained * shared[1 - j]
            shared[-j] += kept * shared[1 - j]
    return found


def epsilon_at(losses: FloatArray, log_masses: FloatArray, delta: float) -> float:
    """Return the smallest ε ≥ 0 with Σ P (1 − e^{ε − L})₊ ≤ δ, infinite where losses without bound have more than δ.

    Between two losses δ is linear in e^ε, so that the two beside the answer tell it.

    >>> round(math.exp(epsilon_at(np.log([2, 4]), np.log([0.25, 0.5]), 0.25)), 9)
    2.0
    """
    unbounded = np.isinf(losses)
    below = float(np.exp(log_masses[unbounded]).sum())
    if below > delta:
        return math.inf
    some = (losses > 0) & ~unbounded
    order = np.argsort(-losses[some], kind="stable")
    falling = losses[some][order]
    with np.errstate(under="ignore"):
        # P of the losses so far, each e^{L' − L} times its own with L' the last of them
        reached = np.exp(np.logaddexp.accumulate(log_masses[some][order] - falling) + falling)
        deltas = below + np.cumsum(reached * -np.expm1(np.append(falling[1:], 0.0)[: len(falling)] - falling))
    place = int(np.searchsorted(deltas, delta))
    if place == len(deltas):
        return 0.0
    missing = delta - (float(deltas[place - 1]) if place else below)
    return max(float(falling[place]) + math.log1p(-missing / float(reached[place])), 0.0)
