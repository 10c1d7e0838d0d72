"""The exact law of q̄, the mean over M synthetic sets of the share of ones."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy.fft import irfft, next_fast_len, rfft

from dpviz.analysis import PROPORTION, SETS
from dpviz.checked import checked
from dpviz.inference.confidential import confidential_mixture, released_rows
from dpviz.synthesizers import TwoCellSynthesizer
from dpviz.types import FloatArray

TAIL = 1e-14
"""Probability of the confidential counts left out."""


@dataclass(frozen=True, kw_only=True)
class EstimateLaw:
    """The law of q̄ over the confidential rows and M releases.

    Parameters
    ----------
    support, probabilities
        The values S/(Mm) for S = 0 … Mm, and their probabilities, each within 1e-12 and none negative.
    proportion
        The true p.
    """

    support: FloatArray
    probabilities: FloatArray
    proportion: float

    @property
    def mean(self) -> float:
        """E[q̄]."""
        return float(self.probabilities @ self.support)

    @property
    def variance(self) -> float:
        """Var(q̄)."""
        return float(self.probabilities @ (self.support - self.mean) ** 2)

    @property
    def bias(self) -> float:
        """E[q̄] − p."""
        return self.mean - self.proportion


@checked(p=PROPORTION, sets=SETS)
def estimate_law(synthesizer: TwoCellSynthesizer, *, p: float, sets: int) -> EstimateLaw:
    """The law of q̄ = (x̃_1 + … + x̃_M) / (Mm): Σ_x Pr(x) (row x of the transition matrix convolved M times).

    The powers are taken of the Fourier transforms, at a length that no sum passes, and mixed before one inverse.

    Examples
    --------
    The one row is 1, and each of two draws is 1 with probability 2/3.

    >>> from dpviz.synthesizers import BetaBinomial
    >>> law = estimate_law(BetaBinomial(n=1, m=1, alpha=1, beta=1), p=1, sets=2)
    >>> law.support.tolist(), (9 * law.probabilities).round(9).tolist()
    ([0.0, 0.5, 1.0], [1.0, 4.0, 4.0])
    """
    mixture = confidential_mixture(synthesizer.n, p, TAIL)
    rows = released_rows(synthesizer, mixture.counts)
    size = sets * synthesizer.m + 1
    if sets == 1:
        law = mixture.weights @ rows
    else:
        length = next_fast_len(size, real=True)
        mixed = np.zeros(length // 2 + 1, dtype=complex)
        with np.errstate(under="ignore"):
            for row, weight in zip(rows, mixture.weights, strict=True):
                mixed += weight * rfft(row, length) ** sets
        law = np.maximum(irfft(mixed, length)[:size], 0.0)
    return EstimateLaw(support=np.arange(size) / (size - 1), probabilities=law, proportion=p)
