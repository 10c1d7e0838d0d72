"""A lower bound on the privacy loss from draws alone, for releases whose probabilities cannot be summed."""

import inspect
import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy.special import betaincinv

from dpviz.core.formatting import describe_value
from dpviz.core.parameters import argument
from dpviz.core.types import FloatArray

N_THRESHOLDS = 200  # among which the event is chosen
DRAWS = argument("draws", 100, 10_000_000, title="draws from each data set", integer=True)
CONFIDENCE = argument("confidence", 0.5, 1 - 1e-9)
Sampler = Callable[[Any, np.random.Generator, int], Any]


@dataclass(frozen=True)
class EmpiricalLoss:
    """A lower bound on ε, too high with probability at most 1 − `confidence`.

    Attributes
    ----------
    at_least, confidence : float
    threshold, is_upper : float, bool
        The event: a released number of at least, or at most, `threshold`.
    first, second, draws : int
        How often it occurred among `draws` from the data that make it likelier, and from the others.
    """

    at_least: float
    confidence: float
    threshold: float
    is_upper: bool
    first: int
    second: int
    draws: int


def empirical_epsilon(
    release: Sampler,
    first: object,
    second: object,
    generator: np.random.Generator,
    draws: int,
    confidence: float = 0.999,
) -> EmpiricalLoss:
    """Lower bound on ε from draws under each of two neighbouring data sets.

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
    Half of the draws choose the event, the others bound its two probabilities, each with half of 1 − confidence, by
    Clopper and Pearson (1934).

    Examples
    --------
    >>> def release(count, generator, size):  # sensitivity 1, so this is private with ε = 1
    ...     return count + generator.laplace(0.0, 1.0, size)
    >>> 0.5 < empirical_epsilon(release, 3, 4, np.random.default_rng(1), 20_000).at_least <= 1.0
    True
    """
    draws, confidence = DRAWS.validate(draws), CONFIDENCE.validate(confidence)
    try:
        inspect.signature(release).bind(first, generator, draws)
    except (TypeError, ValueError):
        raise ValueError("release must take the data, a generator and the number of draws.") from None
    samples = [_numbers(release(data, generator, draws), draws) for data in (first, second)]
    half = draws // 2

    # The event and its direction, by half of the draws
    pooled = np.concatenate([sample[:half] for sample in samples])
    thresholds = np.unique(np.quantile(pooled, np.linspace(0, 1, N_THRESHOLDS), method="nearest"))
    best, threshold, is_upper, is_swapped = -math.inf, float(thresholds[0]), True, False
    for upper in (True, False):
        counts = [_count(sample[:half], thresholds, upper) for sample in samples]
        for swapped in (False, True):
            bounds = _bound(counts[swapped], counts[not swapped], half, confidence)
            place = int(np.argmax(bounds))
            if bounds[place] > best:
                best, threshold, is_upper, is_swapped = bounds[place], float(thresholds[place]), upper, swapped

    # Its probabilities, by the others
    times = [_count(sample[half:], np.array([threshold]), is_upper) for sample in samples]
    likelier, unlikelier = times[is_swapped], times[not is_swapped]
    bound = max(0.0, float(_bound(likelier, unlikelier, draws - half, confidence)[0]))
    return EmpiricalLoss(bound, confidence, threshold, is_upper, int(likelier[0]), int(unlikelier[0]), draws - half)


def _numbers(released: object, draws: int) -> FloatArray:
    try:
        numbers = np.asarray(released, dtype=float)
    except (TypeError, ValueError):
        numbers = np.array(math.nan)
    if numbers.shape != (draws,) or np.isnan(numbers).any():
        raise ValueError(f"release must return {draws:,} numbers, one a draw; got {describe_value(released)}.")
    return numbers


def _count(values: FloatArray, thresholds: FloatArray, is_upper: bool) -> FloatArray:
    below = np.searchsorted(np.sort(values), thresholds, side="left" if is_upper else "right")
    return np.asarray(len(values) - below if is_upper else below, dtype=float)


def _bound(likelier: FloatArray, unlikelier: FloatArray, draws: int, confidence: float) -> FloatArray:
    """ln of the lower limit of one probability over the upper limit of another."""
    fails = (1 - confidence) / 2
    with np.errstate(divide="ignore"):
        low = np.where(likelier > 0, betaincinv(np.maximum(likelier, 1), draws - likelier + 1, fails), 0.0)
        high = betaincinv(unlikelier + 1, np.maximum(draws - unlikelier, 1), 1 - fails)
        return np.log(low) - np.log(np.where(unlikelier < draws, high, 1.0))
