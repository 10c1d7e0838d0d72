"""The privacy loss distribution of one ordered pair of neighbours, sorted once and then asked at any ε."""

from __future__ import annotations

import math
from functools import cached_property

import numpy as np

from dpviz.types import FloatArray

CANCELLATION, SMALLEST = 1e-4, 1e-290
"""Share of its tail, and tail of the other law, below which δ is summed again from positive terms."""


class LossDistribution:
    """Released outcomes by their privacy loss L = ln(P / Q), with their probability under P.

    δ(ε) = Σ_{L > ε} P (1 − e^{ε − L}).

    Parameters
    ----------
    losses
        L of each outcome; +∞ where Q gives it probability 0. Outcomes with L ≤ 0 never count and may be left out.
    masses
        Probability of each outcome under P, the law that the loss speaks for.

    Examples
    --------
    Randomised response that tells the truth with probability 3/4 has losses ± ln 3.

    >>> LossDistribution(np.log([3, 1 / 3]), np.array([0.75, 0.25])).delta(0.0)
    0.5
    """

    def __init__(self, losses: FloatArray, masses: FloatArray) -> None:
        counted = (losses > 0) & (masses > 0)
        order = np.argsort(-losses[counted], kind="stable")
        self.losses = losses[counted][order]
        self.masses = masses[counted][order]

    @cached_property
    def _tails(self) -> tuple[FloatArray, FloatArray]:
        """Probability under P and under Q of the k largest losses, k = 0, 1, …"""
        with np.errstate(under="ignore"):
            other = self.masses * np.exp(-self.losses)
        return tuple(np.concatenate([[0.0], np.cumsum(part)]) for part in (self.masses, other))  # type: ignore[return-value]

    def delta(self, epsilon: float) -> float:
        """δ(ε), with about twelve digits however small it is."""
        count = int(np.searchsorted(-self.losses, -epsilon, side="left"))
        if count == 0:
            return 0.0
        likelier, other = (float(tail[count]) for tail in self._tails)
        if other > SMALLEST:
            value = likelier - math.exp(epsilon + math.log(other))
            if value > CANCELLATION * likelier:
                return value
        return float(self.masses[:count] @ -np.expm1(epsilon - self.losses[:count]))
