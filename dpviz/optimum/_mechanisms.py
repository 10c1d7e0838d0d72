"""Mechanisms that keep (ε, δ) by construction: columns with probabilities for each count, and what they stand for."""

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from dpviz.types import FloatArray


@dataclass(frozen=True)
class Mechanism:
    """Pr(column | x), made when asked for, the estimate of x in every column, and its squared error at every x."""

    channel: Callable[[], FloatArray]
    estimates: FloatArray
    errors: FloatArray


def sometimes_exact(pure: Mechanism, delta: float) -> Mechanism:
    """Return the mechanism that releases x itself with probability δ, and what an ε-private one says otherwise."""
    rows = len(pure.errors)
    return Mechanism(
        lambda: np.hstack([(1 - delta) * pure.channel(), delta * np.eye(rows)]),
        np.concatenate([pure.estimates, np.arange(rows)]),
        (1 - delta) * pure.errors,
    )


def truncated_noise(n: int, epsilon: float, delta: float) -> Mechanism | None:
    """Return x plus noise ∝ e^{−ε|d|} on |d| ≤ K, clamped to 0 … n: δ is the probability of the outermost value.

    K is the first at which that is δ or less, mixed with K − 1 so that it is δ; None where K would exceed n. Source:
    Geng, Ding, Guo & Kumar (2020), "Tight analysis of privacy and utility tradeoff in approximate DP".

    With ε = 0 and δ = 0.4 the noise is even on −1, 0, 1 in nine of ten cases, and 0 in the others.

    >>> truncated_noise(4, 0.0, 0.4).channel().round(12).tolist()[1]
    [0.3, 0.4, 0.3, 0.0, 0.0]
    """
    distances = np.arange(n + 1)
    with np.errstate(under="ignore", over="ignore"):
        mass = np.exp(-epsilon * distances)
        outermost = mass / (2 * np.cumsum(mass) - 1)
    if outermost[-1] > delta:
        return None
    reach = int(np.argmax(outermost <= delta))
    part = 0.0 if reach == 0 else (delta - outermost[reach]) / (outermost[reach - 1] - outermost[reach])
    noise = (1 - part) * _up_to(reach, mass) + part * _up_to(max(reach - 1, 0), mass)
    tails = np.cumsum(noise[::-1])[::-1]
    clamped = np.concatenate([[0.0], np.cumsum(noise * distances**2)[:-1]]) + distances**2 * tails

    def channel() -> FloatArray:
        matrix = noise[np.abs(distances[:, None] - distances[None, :])]
        matrix[:, 0], matrix[:, n] = tails, tails[::-1]
        return matrix

    return Mechanism(channel, distances.astype(float), clamped + clamped[::-1])


def _up_to(reach: int, mass: FloatArray) -> FloatArray:
    noise = np.where(np.arange(len(mass)) <= reach, mass, 0.0)
    scaled: FloatArray = noise / (2 * noise.sum() - 1)
    return scaled
