"""The roots of many rising functions at once, in step: most of the time of a single look is spent on calls."""

from collections.abc import Callable

import numpy as np

from dpviz.core.types import BoolArray, FloatArray, IntArray

PLACE_ROUNDING = 4e-16  # Relative rounding of a place
PLACES_APART = 1e-8  # Distance of two places from which the difference of their values is more than rounding
MOST_ROOT_LOOKS = 24  # Looks, unless told otherwise, after which a root counts as not found; seven are usual


def roots(
    excess: Callable[[FloatArray, IntArray], FloatArray],
    start: FloatArray,
    low: float,
    top: FloatArray,
    resolution: float,
    most: int = MOST_ROOT_LOOKS,
) -> tuple[FloatArray, BoolArray]:
    """Where each of many rising functions passes 0, a few `resolution` to the right of it, and whether it was found.

    `excess` gives the values at some places, of the functions with these numbers; −∞ is far left of the root, ∞ far
    right. Left of `low` no root is sought; where a function stays below 0 up to `top`, that is the answer. Inverse
    quadratic interpolation between brackets, all at once.

    >>> found, _ = roots(lambda x, which: x**3 - which, np.ones(2), -9.0, np.full(2, 9.0), 1e-13)
    >>> float(found[1].round(9))
    1.0
    """
    count = len(start)
    places, values = np.full((3, count), np.nan), np.full((3, count), np.nan)
    left, right, here = np.full(count, low), top.copy(), start.copy()
    answer, done = np.full(count, np.nan), np.zeros(count, dtype=bool)
    last = np.full(count, np.inf)
    slope, reach, which = np.ones(count), np.full(count, 2.0), np.arange(count)
    for _ in range(most):
        place = here[which]
        value = excess(place, which)
        enough, shift = value >= 0, 2 * resolution + PLACE_ROUNDING * np.abs(place)
        left[which], right[which] = np.where(enough, left[which], place), np.where(enough, place, right[which])
        _remember(places, values, slope, which, place, value)
        settled = enough & (value <= 5 * shift * slope[which])
        narrow = right[which] - left[which] <= 2 * shift
        answer[which[settled]], answer[which[narrow]] = place[settled], right[which[narrow]]
        going = ~(settled | narrow)
        done[which[~going]] = True
        which, place, value, shift = which[going], place[going], value[going], shift[going]
        if len(which) == 0:
            break
        goal = _interpolated(places[:, which], values[:, which], slope[which]) + shift
        goal = np.where((goal >= right[which]) & (right[which] >= top[which]), right[which] - shift, goal)
        between = (left[which] > low) & (right[which] < top[which])
        stalled = between & ~(np.abs(value) < last[which] / 2)  # at a kink lines from both sides miss on and on
        stalled |= np.abs(value) == last[which]  # where the function is flat
        last[which] = np.abs(value)
        outside = stalled | ~((left[which] < goal) & (goal < right[which])) | ~np.isfinite(value)
        goal = np.where(outside, (left[which] + right[which]) / 2, goal)
        here[which] = np.clip(goal, place - reach[which], place + reach[which])
        reach[which] *= np.where(here[which] == goal, 1, 2)
    return answer, done


def _remember(
    places: FloatArray, values: FloatArray, slope: FloatArray, which: IntArray, place: FloatArray, value: FloatArray
) -> None:
    """Put finite values before the two newest; one so near to the newest that rounding tells them apart replaces it."""
    finite = np.isfinite(value)
    which, place, value = which[finite], place[finite], value[finite]
    first = np.isnan(values[0, which])
    apart = first | (np.abs(places[0, which] - place) > PLACES_APART)
    with np.errstate(invalid="ignore", divide="ignore"):
        chord = (value - values[0, which]) / (place - places[0, which])
    slope[which] = np.where(apart & (chord > 0), chord, slope[which])
    older = which[apart & ~first]
    places[1:, older], values[1:, older] = places[:-1, older], values[:-1, older]
    places[0, which], values[0, which] = place, value


def _interpolated(places: FloatArray, values: FloatArray, slope: FloatArray) -> FloatArray:
    """Where the inverse quadratic through three nodes, or else a line through the newest, is 0."""
    (a, b, c), (u, v, w) = places, values
    with np.errstate(invalid="ignore", divide="ignore", over="ignore"):
        line = a - u / slope
        curve = a * v * w / ((u - v) * (u - w)) + b * u * w / ((v - u) * (v - w)) + c * u * v / ((w - u) * (w - v))
        near = np.isfinite(curve) & (np.abs(curve - line) <= 0.5 * np.abs(u / slope))
    return np.where(near, curve, line)
