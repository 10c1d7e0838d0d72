"""A lower bound on the privacy loss from draws alone, for releases whose probabilities cannot be summed."""

import itertools
from collections.abc import Callable
from typing import Any

import numpy as np
from scipy.special import betaincinv

from dpviz.core.formatting import describe_value
from dpviz.core.parameters import argument
from dpviz.core.types import FloatArray

DRAWS = argument("draws", 100, 10_000_000, title="draws from each data set", integer=True)
CONFIDENCE = argument("confidence", 0.5, 1 - 1e-9)
Sampler = Callable[[Any, np.random.Generator, int], Any]


def empirical_epsilon(
    release: Sampler, first: object, second: object, generator: np.random.Generator, draws: int,
    confidence: float = 0.999,
) -> float:  # fmt: skip
    """Lower bound on ε from draws under two neighbouring data sets, too high with probability 1 − confidence at most.

    Parameters
    ----------
    release : callable
        ``release(data, generator, size)`` returns `size` released numbers.
    first, second : object
        The data.
    generator : numpy.random.Generator
    draws : int
        From each data set.
    confidence : float, optional

    Notes
    -----
    Half of the draws choose an event, numbers of at least or at most a threshold; the others bound its probability
    under both data sets, each with half of 1 − confidence, by Clopper and Pearson (1934).

    Examples
    --------
    >>> def release(count, generator, size):  # sensitivity 1, so this is private with ε = 1
    ...     return count + generator.laplace(0.0, 1.0, size)
    >>> 0.5 < empirical_epsilon(release, 3, 4, np.random.default_rng(1), 20_000) <= 1.0
    True
    """
    draws, confidence = DRAWS.validate(draws), CONFIDENCE.validate(confidence)
    samples = [_numbers(release(data, generator, draws), draws) for data in (first, second)]
    half = draws // 2

    # The event for which half of the draws show most
    pooled = np.concatenate([sample[:half] for sample in samples])
    thresholds = np.unique(np.quantile(pooled, np.linspace(0, 1, 200), method="nearest"))
    candidates = []
    for is_upper, pair in itertools.product((True, False), (samples, samples[::-1])):
        bounds = _log_ratio_bounds([sample[:half] for sample in pair], thresholds, is_upper, confidence)
        index = int(np.argmax(bounds))
        candidates.append((float(bounds[index]), pair, thresholds[[index]], is_upper))
    _, pair, threshold, is_upper = max(candidates, key=lambda candidate: candidate[0])

    # What the others show for it
    bound = _log_ratio_bounds([sample[half:] for sample in pair], threshold, is_upper, confidence)[0]
    return max(0.0, float(bound))


def _numbers(released: object, draws: int) -> FloatArray:
    try:
        numbers = np.asarray(released, dtype=float)
    except (TypeError, ValueError):
        numbers = np.array(np.nan)
    if numbers.shape != (draws,) or np.isnan(numbers).any():
        raise ValueError(f"release must return {draws:,} numbers, one a draw; got {describe_value(released)}.")
    return numbers


def _log_ratio_bounds(
    samples: list[FloatArray], thresholds: FloatArray, is_upper: bool, confidence: float
) -> FloatArray:
    """ln of the lower limit of a probability under the first data over its upper limit under the second."""
    below = [np.searchsorted(np.sort(sample), thresholds, "left" if is_upper else "right") for sample in samples]
    draws = len(samples[0])
    often, rare = (draws - count if is_upper else count for count in below)
    error = (1 - confidence) / 2
    with np.errstate(divide="ignore"):
        low = np.where(often > 0, betaincinv(np.maximum(often, 1), draws - often + 1, error), 0.0)
        high = np.where(rare < draws, betaincinv(rare + 1, np.maximum(draws - rare, 1), 1 - error), 1.0)
        return np.asarray(np.log(low) - np.log(high))
