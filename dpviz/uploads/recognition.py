"""Recognize a printed matrix as a synthesizer with parameters, whose exact values may then be offered."""

import itertools
from collections.abc import Callable, Iterator
from contextlib import suppress

import numpy as np

from dpviz.core.formatting import format_number
from dpviz.core.numerics.special import log_reciprocal
from dpviz.mechanisms import BetaBinomial, GeometricSanitizer, LaplaceSanitizer, PosteriorMean, Synthesizer
from dpviz.mechanisms.matrix_mechanism import GivenMatrix
from dpviz.uploads.matrix import sums_sentence
from dpviz.uploads.tables import sentence


def recognize(given: GivenMatrix) -> Synthesizer | None:
    """Two-cell synthesizer, of the fewest digits, that prints as this matrix, or None.

    Every entry lies within half a unit of its last printed digit, and the matrix has clearly more independent numbers,
    rows · (columns − 1), than the synthesizer has parameters; another one may print as the same.

    >>> thirds = BetaBinomial(n=2, m=2, alpha=1, beta=1).transition_matrix()
    >>> recognize(GivenMatrix(probabilities=thirds.round(4), decimals=4))
    BetaBinomial(n=2, m=2, alpha=1.0, beta=1.0)
    """
    matrix = given.probabilities
    if max(matrix.shape) > 201:  # many mechanisms are computed to compare it with
        return None
    # The last digits of numbers in full precision depend on the program
    is_exact = given.decimals is None
    tolerance = 1e-10 * matrix if is_exact else given.half_units * (1 + 1e-9) + np.spacing(matrix)
    candidates = (law for law in _candidates(given) if np.all(np.abs(law.transition_matrix() - matrix) <= tolerance))
    return next(candidates, None)


def exact_offer(given: GivenMatrix, candidate: Synthesizer) -> tuple[str, str]:
    """Synthesizer in one word, as a URL has it, and the question whether its exact values are to be taken.

    Parameters
    ----------
    given : GivenMatrix
    candidate : Synthesizer
        That prints as the matrix.

    Examples
    --------
    >>> law = BetaBinomial(n=2, m=2, alpha=1, beta=0.5)
    >>> exact_offer(GivenMatrix(probabilities=law.transition_matrix()), law)[0]
    'beta_binomial-2-2-1-0.5'
    """
    key = "-".join([candidate.key, *(f"{value:.12g}" for value in candidate.settings().values())])
    law = f"{candidate.info.label} with {', '.join(candidate.in_symbols())}"
    return key, sentence("offer_exact" if given.decimals is None else "offer_printed", law=law)


def matrix_notes(given: GivenMatrix, candidate: Synthesizer) -> list[str]:
    """What the given digits leave open, and what the exact values change where those of `candidate` are shown.

    Parameters
    ----------
    given : GivenMatrix
    candidate : Synthesizer
    """
    notes = [" ".join(filter(None, (given.rounding, sums_sentence(given))))]
    if candidate != given:
        exact, rounded = (format_number(law.worst_log_odds().value, 7) for law in (candidate, given))
        notes.append(sentence("exact_values", label=candidate.info.label, exact=exact, rounded=rounded))
    return notes


def _candidates(given: GivenMatrix) -> Iterator[Synthesizer]:
    """Synthesizers that the matrix may be evidence for, those with the fewest digits in their parameters first."""
    matrix, (rows, columns) = given.probabilities, given.shape
    n, m = rows - 1, columns - 1
    # Each with its sizes and its other parameters
    laws: list[tuple[Callable[..., Synthesizer], dict[str, int], dict[str, float]]] = []

    # Priors from the means, which lie on a straight line
    means = matrix @ np.arange(columns)
    slope = float(means[-1] - means[0]) / n
    if slope > 0:
        alpha = float(means[0]) / slope
        prior = {"alpha": alpha, "beta": m / slope - n - alpha}
        laws += [(law, {"n": n, "m": m}, prior) for law in (BetaBinomial, PosteriorMean)]

    # The share that noise moves away is e^(-ε/2) of Laplace noise, 2/(e^ε + 1) of geometric; half of it if n = 1
    if n == m:
        moved = 1 - float(matrix[1, 1]) if n > 1 else 2 * (1 - float(matrix[0, 0]))
        odds = moved / max(2 - moved, 1e-300)
        laws.append((LaplaceSanitizer, {"n": n}, {"epsilon": 2 * log_reciprocal(moved)}))
        laws.append((GeometricSanitizer, {"n": n}, {"epsilon": log_reciprocal(odds)}))

    # With as many parameters as independent entries, or as many digits as these print, anything fits any numbers
    entries = rows * m
    printed = entries * (16 if given.decimals is None else float(np.mean(given.decimals)))
    for digits, (law, sizes, values) in itertools.product(range(1, 13), laws):
        if entries >= 3 * len(values) and printed >= 4 * digits * len(values):
            with suppress(ValueError):
                yield law(**sizes, **{name: float(f"{value:.{digits}g}") for name, value in values.items()})
