"""Recognise a printed matrix as a synthesizer with parameters, so that its log-odds need not suffer from rounding."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from dataclasses import dataclass

import numpy as np

from dpviz.synthesizers import BetaBinomial, GeometricSanitizer, LaplaceSanitizer, PosteriorMean, Synthesizer
from dpviz.synthesizers.given_matrix import GivenMatrix
from dpviz.types import FloatArray

EXACT_TOLERANCE = 1e-10
LARGEST_SIDE = 201


@dataclass(frozen=True)
class Recognition:
    """A synthesizer whose matrix agrees with a given one to every digit given.

    Parameters
    ----------
    synthesizer
        The law, with the fewest digits in its parameters that reproduce the matrix.
    largest_difference
        Largest distance of two entries; below half a unit of the last digit given.
    """

    synthesizer: Synthesizer
    largest_difference: float


def recognize(given: GivenMatrix) -> Recognition | None:
    """The two-cell synthesizer that the matrix is, or None.

    Examples
    --------
    >>> release = GivenMatrix(probabilities=np.array([[0.667, 0.333], [0.333, 0.667]]), decimals=3)
    >>> recognize(release).synthesizer
    BetaBinomial(n=1, m=1, alpha=1.0, beta=1.0)
    """
    matrix = given.probabilities
    tolerance = EXACT_TOLERANCE if given.decimals is None else 0.5000001 * 10.0**-given.decimals
    if max(matrix.shape) > LARGEST_SIDE:
        return None
    for candidate in _candidates(matrix):
        difference = float(np.abs(candidate.transition_matrix() - matrix).max())
        if difference <= tolerance:
            return Recognition(candidate, difference)
    return None


def _candidates(matrix: FloatArray) -> Iterator[Synthesizer]:
    """Synthesizers that the matrix may be, those with the fewest digits in their parameters first."""
    laws = _estimates(matrix)
    for digits in range(1, 13):
        for build, estimates in laws:
            try:
                yield build(*(float(f"{estimate:.{digits}g}") for estimate in estimates))
            except ValueError:
                continue


def _estimates(matrix: FloatArray) -> list[tuple[Callable[..., Synthesizer], tuple[float, ...]]]:
    """Laws with the parameters that the matrix would give them: priors from its means, noise from its diagonal."""
    n, m = matrix.shape[0] - 1, matrix.shape[1] - 1
    laws: list[tuple[Callable[..., Synthesizer], tuple[float, ...]]] = []
    means = matrix @ np.arange(m + 1)
    slope = float(means[-1] - means[0]) / n
    if m >= 1 and slope > 0:
        alpha = float(means[0]) / slope
        prior = (alpha, m / slope - n - alpha)
        laws.append((lambda a, b: BetaBinomial(n=n, m=m, alpha=a, beta=b), prior))
        laws.append((lambda a, b: PosteriorMean(n=n, m=m, alpha=a, beta=b), prior))
    if n == m:
        if n > 1:
            stay = float(matrix[1, 1])
            half, ratio = _minus_log(1 - stay), (1 - stay) / (1 + stay)
        else:
            first = float(matrix[0, 0])
            half, ratio = _minus_log(2 * (1 - first)), (1 - first) / max(first, 1e-300)
        laws.append((lambda e: LaplaceSanitizer(n=n, epsilon=e), (2 * half,)))
        laws.append((lambda e: GeometricSanitizer(n=n, epsilon=e), (_minus_log(ratio),)))
    return laws


def _minus_log(value: float) -> float:
    return -math.log(value) if value > 0 else math.inf
