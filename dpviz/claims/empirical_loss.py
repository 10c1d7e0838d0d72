"""What draws alone show of a privacy loss: a lower bound with a confidence, for releases that cannot be summed."""

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

MOST_DRAWS, EVENTS = 10_000_000, 200  # Thresholds among which the event is chosen
DRAWS = argument("draws", 100, MOST_DRAWS, title="draws from each data set", integer=True)
CONFIDENCE = argument("confidence", 0.5, 1 - 1e-9)
Draw = Callable[[Any, np.random.Generator, int], Any]


@dataclass(frozen=True)
class EmpiricalLoss:
    """A lower bound on ε that draws support: it is too high with probability at most 1 − `confidence`.

    The event is a released number of at least (`upper`) or at most `threshold`; it was chosen on other draws than those
    in which it was seen `first` times out of `draws` from the data under which it is likelier, `second` times from the
    others.
    """

    at_least: float
    confidence: float
    threshold: float
    upper: bool
    first: int
    second: int
    draws: int


def empirical_epsilon(
    release: Draw, first: object, second: object, generator: np.random.Generator, draws: int, confidence: float = 0.999
) -> EmpiricalLoss:
    """Return what `draws` releases from each of two neighbouring data sets show of the privacy loss, at most ε.

    ``release(data, generator, size)`` returns `size` released numbers. Half of them choose the event and its direction,
    the other half bound its two probabilities by Clopper and Pearson (1934), each with half of what may fail.

    >>> def noisy(count, generator, size):  # sensitivity 1, so this is private with ε = 1
    ...     return count + generator.laplace(0.0, 1.0, size)
    >>> found = empirical_epsilon(noisy, 3, 4, np.random.default_rng(1), 20_000)
    >>> 0.5 < found.at_least <= 1.0
    True
    """
    draws = DRAWS.validate(draws)
    confidence = CONFIDENCE.validate(confidence)
    try:
        inspect.signature(release).bind(first, generator, draws)
    except (TypeError, ValueError):
        raise ValueError("release must take the data, a generator and the number of draws.") from None
    seen = [_numbers(release(data, generator, draws), draws) for data in (first, second)]
    half = draws // 2
    chosen, kept = [one[:half] for one in seen], [one[half:] for one in seen]
    thresholds = np.unique(np.quantile(np.concatenate(chosen), np.linspace(0, 1, EVENTS), method="nearest"))
    best, event = -math.inf, (float(thresholds[0]), True, False)
    for upper in (True, False):
        counts = [_count(one, thresholds, upper) for one in chosen]
        for swapped in (False, True):
            bounds = _bound(counts[swapped], counts[not swapped], half, confidence)
            place = int(np.argmax(bounds))
            if bounds[place] > best:
                best, event = float(bounds[place]), (float(thresholds[place]), upper, swapped)
    threshold, upper, swapped = event
    times = [_count(one, np.array([threshold]), upper) for one in kept]
    likelier, other = times[swapped], times[not swapped]
    bound = max(0.0, float(_bound(likelier, other, draws - half, confidence)[0]))
    return EmpiricalLoss(bound, confidence, threshold, upper, int(likelier[0]), int(other[0]), draws - half)


def _numbers(released: object, draws: int) -> FloatArray:
    try:
        numbers = np.asarray(released, dtype=float)
    except (TypeError, ValueError):
        numbers = np.array(math.nan)
    if numbers.shape != (draws,) or np.isnan(numbers).any():
        raise ValueError(f"release must return {draws:,} numbers, one a draw; got {describe_value(released)}.")
    return numbers


def _count(values: FloatArray, thresholds: FloatArray, upper: bool) -> FloatArray:
    below = np.searchsorted(np.sort(values), thresholds, side="left" if upper else "right")
    return np.asarray(len(values) - below if upper else below, dtype=float)


def _bound(likelier: FloatArray, other: FloatArray, draws: int, confidence: float) -> FloatArray:
    """ln of the lowest likely probability of one over the highest likely one of the other."""
    fails = (1 - confidence) / 2
    with np.errstate(divide="ignore"):
        low = np.where(likelier > 0, betaincinv(np.maximum(likelier, 1), draws - likelier + 1, fails), 0.0)
        high = np.where(other < draws, betaincinv(other + 1, np.maximum(draws - other, 1), 1 - fails), 1.0)
        return np.log(low) - np.log(high)
