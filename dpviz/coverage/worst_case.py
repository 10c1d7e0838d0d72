"""Smallest coverage and largest mean length over a range of true proportions.

Between neighbouring ends of intervals the coverage is a polynomial in p, and where intervals end it jumps. For one or
two sets, and for rules that read the sum alone, both sides of every jump are compared; elsewhere 1,001 shares are, and
1,001 more around the smallest. Nothing is proved: it is the smallest found.
"""

from collections.abc import Callable, Iterator, Sequence
from functools import partial
from typing import NamedTuple

import numpy as np
from scipy.optimize import minimize_scalar

from dpviz.core import limits
from dpviz.core.declarations import PROPORTION
from dpviz.core.numerics.special import binomial_weights, row_blocks
from dpviz.core.types import FloatArray
from dpviz.coverage.curves import CoverageCurves, coverage_by_proportion, sums_given_counts
from dpviz.coverage.exact import checked_rule, checked_rules
from dpviz.coverage.release_distribution import ReleaseOutcomes
from dpviz.inference.interval_rules import IntervalRule
from dpviz.mechanisms import TwoCellSynthesizer

GRID = np.sin(np.linspace(0.0, np.pi / 2, 1001)) ** 2
TIE = 1e-12  # difference of coverages that is rounding


class Extreme(NamedTuple):
    """Smallest or largest value found on a range, at or beside `at`."""

    value: float
    at: float


def minimize_over_p(function: Callable[[FloatArray], FloatArray], low: float = 0.0, high: float = 1.0) -> Extreme:
    """Smallest value of a function of the true proportion, on 1,001 shares and on 1,001 around the smallest of these.

    Parameters
    ----------
    function : callable
        From an array of proportions to their values.
    low, high : float

    Notes
    -----
    Of values within 1e-12 of the smallest the first place is told.

    Examples
    --------
    >>> minimize_over_p(lambda p: (p - 0.3) ** 2, low=0.5)
    Extreme(value=0.04000000000000001, at=0.5)
    """
    shares = low + (high - low) * GRID
    shares[-1] = high
    return _refined(function, shares, function(shares))


def _refined(function: Callable[[FloatArray], FloatArray], shares: FloatArray, values: FloatArray) -> Extreme:
    """Smallest value, and the first place of it, on known shares and on as many around the smallest of these."""
    place = int(np.flatnonzero(values <= np.nanmin(values) + TIE)[0])
    around = np.linspace(shares[max(place - 1, 0)], shares[min(place + 1, len(shares) - 1)], len(GRID))
    return _first_smallest(np.append(shares, around), np.append(values, function(around)))


def _first_smallest(shares: FloatArray, values: FloatArray) -> Extreme:
    smallest = float(np.nanmin(values))
    return Extreme(smallest, float(shares[values <= smallest + TIE].min()))


def coverage_curves(
    synthesizer: TwoCellSynthesizer, *, sets: int, rules: Sequence[str], level: float = 0.95
) -> Iterator[tuple[CoverageCurves, dict[str, Extreme]]]:
    """Yield the coverage of several rules at 1,001 proportions, and then, with it, the smallest found for each.

    Parameters
    ----------
    synthesizer, sets, rules, level
        As in `exact_coverages`.
    """
    chosen, sets, level = checked_rules(rules, sets, level)
    curves = coverage_by_proportion(synthesizer, sets=sets, rules=rules, level=level)
    yield curves, {}
    smallest = {}
    for rule, values in zip(chosen, curves.coverage, strict=True):
        if knows_jumps(synthesizer, sets, rule):
            smallest[rule.key] = _smallest_of_pieces(synthesizer, sets, rule, level, 0.0, 1.0)
        else:
            coverage = partial(_coverage, synthesizer, sets, rule.key, level)
            smallest[rule.key] = _refined(coverage, curves.points, values)
    yield curves, smallest


def _coverage(synthesizer: TwoCellSynthesizer, sets: int, rule: str, level: float, p: FloatArray) -> FloatArray:
    """Coverage of one rule at several proportions."""
    curves = coverage_by_proportion(synthesizer, sets=sets, rules=[rule], level=level, proportions=p)
    return np.maximum(curves.coverage[0], 0.0)


def smallest_coverage(
    synthesizer: TwoCellSynthesizer, *, sets: int, rule: str, level: float = 0.95, low: float = 0.0, high: float = 1.0
) -> Extreme:
    """Smallest coverage found for p from `low` to `high`, and the first p at or beside which it lies.

    Parameters
    ----------
    synthesizer, sets, rule, level
        As in `exact_coverage`.
    low, high : float

    Raises
    ------
    ValueError
        If the sums would take too long.

    Notes
    -----
    C(p) = Σ_x Binomial(x; n, p) f_x with f_x = Pr(the interval holds p | x). Where an interval ends, the closed
    interval holds its end, and the smaller side of the jump counts (Brown, Cai & DasGupta 2001).

    Examples
    --------
    One row that is told with probability 2/3, as if real: an interval of width 0 at 0 or at 1.

    >>> from dpviz.mechanisms import BetaBinomial
    >>> release = BetaBinomial(n=1, m=1, alpha=1, beta=1)
    >>> smallest_coverage(release, sets=1, rule="as_if_real")
    Extreme(value=0.0, at=0.0)
    >>> round(smallest_coverage(release, sets=1, rule="as_if_real", low=1).value, 12)
    0.666666666667
    """
    chosen, sets, level = checked_rule(rule, sets, level)
    low, high = _checked_range(low, high)
    if knows_jumps(synthesizer, sets, chosen) and low < high:
        return _smallest_of_pieces(synthesizer, sets, chosen, level, low, high)
    return minimize_over_p(partial(_coverage, synthesizer, sets, rule, level), low, high)


def knows_jumps(synthesizer: TwoCellSynthesizer, sets: int, rule: IntervalRule) -> bool:
    """Whether the outcomes that a rule distinguishes are so few that both sides of every jump are compared.

    Parameters
    ----------
    synthesizer, sets, rule
        As in `exact_coverage`, the rule itself.
    """
    n, m = synthesizer.n, synthesizer.m
    if not rule.is_feasible(synthesizer, sets) or (sets > 2 and not rule.is_noise_aware):
        return False
    outcomes = sets * m + 1 if rule.is_noise_aware or sets == 1 else (m + 1) * (m + 2) // 2
    return (n + 1) * outcomes <= limits.MAX_TABLE_ENTRIES


def _checked_range(low: float, high: float) -> tuple[float, float]:
    low = PROPORTION.validate(low, name="low")
    high = PROPORTION.validate(high, name="high")
    if low > high:
        raise ValueError(f"low must not be above high; got {low} and {high}.")
    return low, high


def _smallest_of_pieces(
    synthesizer: TwoCellSynthesizer, sets: int, rule: IntervalRule, level: float, low: float, high: float
) -> Extreme:
    """Smallest coverage from both ends of every piece between neighbouring ends of intervals, refined inside."""
    # Pieces, and Pr(the interval covers all of the piece | x), that of its middle
    n = synthesizer.n
    outcomes = ReleaseOutcomes(synthesizer, sets, np.arange(n + 1), sums_only=rule.is_noise_aware)
    every = outcomes.statistics(np.arange(outcomes.shape[0] * outcomes.shape[1]))
    cuts = np.unique(np.concatenate([*rule.ends(every, level).widened, GRID]))
    cuts = np.concatenate([[low], cuts[(cuts > low) & (cuts < high)], [high]])
    pieces = len(cuts) - 1
    counts, (covered,), *_ = sums_given_counts(synthesizer, sets, [rule], level, (cuts[:-1] + cuts[1:]) / 2)
    first, last = int(counts[0]), int(counts[-1])

    # Coverage and its slope at both ends of every piece
    values, slopes = np.empty((2, 2, pieces))
    for block in row_blocks(pieces, n + 1):
        edges = cuts[block.start : block.stop + 1]
        weights = binomial_weights(edges, n, first, last)
        slope_weights = n * binomial_weights(edges, n - 1, first, last - 1)
        given = covered[:, block].T
        steps = np.diff(given, axis=1)
        for side, own in enumerate((slice(None, -1), slice(1, None))):
            values[side, block] = np.einsum("px,px->p", weights[own], given)
            slopes[side, block] = np.einsum("px,px->p", slope_weights[own], steps)

    # Pieces inside of which the coverage turns, where its tangents meet below the smallest value at an end
    with np.errstate(divide="ignore", invalid="ignore"):
        meet = (values[1] - values[0] - slopes[1] * np.diff(cuts)) / (slopes[0] - slopes[1])
        depth = values[0] + slopes[0] * meet
    turns = np.flatnonzero((slopes[0] < 0) & (slopes[1] > 0) & (depth < values.min()))
    places = np.append(cuts[:-1], cuts[1:])
    for piece in turns:
        inside = minimize_scalar(
            lambda p, given=covered[:, piece]: float((binomial_weights(np.array([p]), n, first, last) @ given)[0]),
            bounds=cuts[piece : piece + 2], method="bounded", options={"xatol": 1e-10},
        )  # fmt: skip
        places = np.append(places, inside.x)
        values = np.append(values, inside.fun)
    smallest = _first_smallest(places, values.ravel())
    return smallest._replace(value=max(smallest.value, 0.0))


def largest_mean_width(
    synthesizer: TwoCellSynthesizer, *, sets: int, rule: str, level: float = 0.95, low: float = 0.0, high: float = 1.0
) -> Extreme:
    """Largest expected length of the interval inside 0 to 1 found for p from `low` to `high`.

    Parameters
    ----------
    synthesizer, sets, rule, level, low, high
        As in `smallest_coverage`.

    Raises
    ------
    ValueError
        If the sums would take too long, or somewhere almost no release has an interval.
    """
    chosen, sets, level = checked_rule(rule, sets, level)
    low, high = _checked_range(low, high)
    given = sums_given_counts(synthesizer, sets, [chosen], level, np.array([low, high]))

    def shortness(p: FloatArray) -> FloatArray:
        weights = binomial_weights(p, synthesizer.n, int(given.counts[0]), int(given.counts[-1]))
        shares = weights @ given.exists[0]
        if shares.min() <= 1e-6:
            raise ValueError("Almost no release has an interval.")
        return -(weights @ given.length[0]) / shares

    extreme = minimize_over_p(shortness, low, high)
    return Extreme(0.0 - extreme.value, extreme.at)
