"""Exact coverage along an axis: against the proportion, or against ε as a sequence of synthesizers."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np

from dpviz.analysis import LEVEL, PROPORTION, SETS
from dpviz.checked import argument, checked
from dpviz.coverage._intervals import Point
from dpviz.coverage._proportions import ManySets, points, single_point
from dpviz.inference.confidential import check_design
from dpviz.inference.interval_rules import IntervalRule
from dpviz.inference.rules import check_rule
from dpviz.synthesizers import TwoCellSynthesizer
from dpviz.types import FloatArray, IntArray

PLACES = argument("count", 0, 1_000_000, title="points of an axis", integer=True)


@dataclass(frozen=True, kw_only=True)
class CoverageCurves:
    """Coverage of several rules at several points of an axis.

    Parameters
    ----------
    rules
        Keys of the rules, the first axis of the arrays.
    places
        Which points of the axis are done, in increasing order; the second axis of the arrays. All, unless streamed.
    coverage, mean_width, mean_width_error_bound, mean_width_inside, mean_width_inside_error_bound
        As in `ExactCoverage`, shape (rules, places).
    negative_variance_share, vacuous_share, coverage_given_negative_total, coverage_given_nonnegative_total
        The same.
    negative_total_share
        Pr(T_M < 0), shape (places,).
    error_bound
        Bound of the absolute error of the probabilities, shape (places,).
    """

    rules: tuple[str, ...]
    places: IntArray
    coverage: FloatArray
    mean_width: FloatArray
    mean_width_error_bound: FloatArray
    mean_width_inside: FloatArray
    mean_width_inside_error_bound: FloatArray
    negative_variance_share: FloatArray
    vacuous_share: FloatArray
    coverage_given_negative_total: FloatArray
    coverage_given_nonnegative_total: FloatArray
    negative_total_share: FloatArray
    error_bound: FloatArray


@checked(proportions=PROPORTION, sets=SETS, level=LEVEL)
def coverage_by_proportion(
    synthesizer: TwoCellSynthesizer,
    *,
    proportions: Sequence[float] | FloatArray,
    sets: int,
    rules: Sequence[str],
    level: float = 0.95,
    confidential_count: int | None = None,
) -> CoverageCurves:
    """Exact coverage at every p: Σ_x Pr(x | p) F_x(p), with F_x(p) the coverage of p given x.

    Parameters
    ----------
    synthesizer, sets, level, confidential_count
        As for `exact_coverage`.
    proportions
        p, each from 0 to 1, in any order.
    rules
        Keys of `dpviz.inference.RULES`.

    Returns
    -------
    CoverageCurves
        With error bounds of at most 1e-8.

    Raises
    ------
    ValueError
        Where a number is out of its domain, a rule needs more sets, or exact sums would take too long.

    Examples
    --------
    At p = 0 every confidential row is 0; a release of one row then has a zero-width interval at 0 or 1.

    >>> from dpviz.synthesizers import BetaBinomial
    >>> release = BetaBinomial(n=1, m=1, alpha=1, beta=1)
    >>> curves = coverage_by_proportion(release, proportions=[0, 0.5, 1], sets=1, rules=["as_if_real"])
    >>> curves.coverage.round(9).tolist()
    [[0.666666667, 0.0, 0.666666667]]
    """
    *_, last = stream_by_proportion(
        synthesizer,
        proportions=proportions,
        sets=sets,
        rules=rules,
        level=level,
        confidential_count=confidential_count,
        step=len(proportions),
    )
    return last


@checked(proportions=PROPORTION, sets=SETS, level=LEVEL, step=PLACES)
def stream_by_proportion(
    synthesizer: TwoCellSynthesizer,
    *,
    proportions: Sequence[float] | FloatArray,
    sets: int,
    rules: Sequence[str],
    level: float = 0.95,
    confidential_count: int | None = None,
    step: int = 4,
    tables: ManySets | None = None,
) -> Iterator[CoverageCurves]:
    """`coverage_by_proportion` as a growing curve: the points done so far, coarse to fine, `step` more each time.

    Parameters
    ----------
    synthesizer, proportions, sets, rules, level, confidential_count
        As for `coverage_by_proportion`.
    step
        Points added between two results, at least 1.
    tables
        For `stream_lines`, which goes on with them.
    """
    checked, level = check_rules(rules, sets, level)
    if np.ndim(proportions) != 1 or not len(proportions):
        raise ValueError("proportions must be one or more numbers from 0 to 1 in a row.")
    for p in proportions:
        check_design(synthesizer, float(p), sets, confidential_count)
    axis, place = np.unique(np.asarray(proportions, float), return_inverse=True)
    order = coarse_to_fine(len(place))
    computed = points(synthesizer, axis, _unrepeated(place[order]), sets, checked, level, confidential_count, tables)
    known: dict[int, Point] = {}
    done: dict[int, Point] = {}
    for count, index in enumerate(order, 1):
        spot = int(place[index])
        if spot not in known:
            known[spot] = next(computed)
        done[int(index)] = known[spot]
        if count % max(step, 1) == 0 or count == len(order):
            yield _gathered(checked, done)


@checked(p=PROPORTION, sets=SETS, level=LEVEL)
def coverage_by_synthesizer(
    synthesizers: Sequence[TwoCellSynthesizer],
    *,
    p: float,
    sets: int,
    rules: Sequence[str],
    level: float = 0.95,
    confidential_count: int | None = None,
) -> CoverageCurves:
    """Exact coverage at one p for every synthesizer of a list, such as one synthesizer at several ε.

    Parameters
    ----------
    synthesizers
        Synthesizers of one set; their n and m may differ.
    p, sets, rules, level, confidential_count
        As for `exact_coverage` and `coverage_by_proportion`.

    Examples
    --------
    >>> from dpviz.synthesizers import BetaBinomial
    >>> releases = [BetaBinomial(n=1, m=1, alpha=prior, beta=prior) for prior in (1, 1e12)]
    >>> coverage_by_synthesizer(releases, p=0, sets=1, rules=["as_if_real"]).coverage.round(6).tolist()
    [[0.666667, 0.5]]
    """
    *_, last = stream_by_synthesizer(
        synthesizers, p=p, sets=sets, rules=rules, level=level, confidential_count=confidential_count
    )
    return last


@checked(p=PROPORTION, sets=SETS, level=LEVEL)
def stream_by_synthesizer(
    synthesizers: Sequence[TwoCellSynthesizer],
    *,
    p: float,
    sets: int,
    rules: Sequence[str],
    level: float = 0.95,
    confidential_count: int | None = None,
) -> Iterator[CoverageCurves]:
    """`coverage_by_synthesizer` as a growing curve: the points done so far, coarse to fine, one more each time."""
    checked, level = check_rules(rules, sets, level)
    if not len(synthesizers):
        raise ValueError("synthesizers must hold at least one synthesizer; got none.")
    done: dict[int, Point] = {}
    for index in coarse_to_fine(len(synthesizers)):
        synthesizer = synthesizers[index]
        done[int(index)] = single_point(synthesizer, p, sets, checked, level, confidential_count)
        yield _gathered(checked, done)


@checked(count=PLACES)
def coarse_to_fine(count: int) -> IntArray:
    """The indices 0 … count − 1 so that every beginning covers the axis about evenly: ends, middle, quarters, ….

    Examples
    --------
    >>> coarse_to_fine(5).tolist()
    [0, 4, 2, 1, 3]
    """
    order: list[int] = []
    seen: set[int] = set()
    pieces = 1
    while len(order) < count:
        for part in range(pieces + 1):
            index = round(part * (count - 1) / pieces)
            if index not in seen:
                seen.add(index)
                order.append(index)
        pieces *= 2
    return np.array(order, dtype=np.int64)


def _unrepeated(values: IntArray) -> IntArray:
    """`values` without repetitions, in the order in which they first appear."""
    return np.array(list(dict.fromkeys(values.tolist())), dtype=np.int64)


def check_rules(rules: Sequence[str], sets: int, level: float) -> tuple[list[IntervalRule], float]:
    """The rules with these keys and the level, or a ValueError."""
    if not rules:
        raise ValueError("rules must name at least one combining rule; got none.")
    return [check_rule(key, sets) for key in rules], float(LEVEL.check(level))


def _gathered(rules: Sequence[IntervalRule], done: dict[int, Point]) -> CoverageCurves:
    places = sorted(done)
    columns = [done[place] for place in places]
    return CoverageCurves(
        rules=tuple(rule.key for rule in rules),
        places=np.array(places, dtype=np.int64),
        **{name: np.array([getattr(column, name) for column in columns]).T for name in Point._fields},
    )
