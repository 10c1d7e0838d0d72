"""Exact coverage along an axis: against the proportion, or against ε as a sequence of synthesizers."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, fields
from typing import TypeVar

import numpy as np

from dpviz.analysis import LEVEL, PROPORTION, SETS
from dpviz.checked import argument, checked
from dpviz.coverage._intervals import Asked, Measures, Point
from dpviz.coverage._points import point_maker, single_point
from dpviz.synthesizers import TwoCellSynthesizer
from dpviz.types import FloatArray, IntArray

STEP = argument("step", 1, 1_000_000, title="points added between two results", integer=True)
Item = TypeVar("Item")


@dataclass(frozen=True, kw_only=True)
class CoverageCurves(Measures[FloatArray]):
    """Coverage at several points of an axis.

    Parameters
    ----------
    rules
        Keys of the rules, the first axis of the arrays.
    places
        Which points of the axis are done, in increasing order; the last axis of the arrays. All, unless streamed.
    """

    rules: tuple[str, ...]
    places: IntArray


@checked(proportions=PROPORTION, sets=SETS, level=LEVEL)
def coverage_by_proportion(
    synthesizer: TwoCellSynthesizer,
    *,
    proportions: Sequence[float] | FloatArray,
    sets: int,
    rules: Sequence[str],
    level: float = 0.95,
) -> CoverageCurves:
    """Exact coverage at every p, each from 0 to 1, to within 1e-8: Σ_x Pr(x | p) F_x(p), F_x(p) the coverage given x.

    Parameters are those of `exact_coverages`.

    Examples
    --------
    At p = 0 every confidential row is 0; a release of one row then has a zero-width interval at 0 or 1.

    >>> from dpviz.synthesizers import BetaBinomial
    >>> release = BetaBinomial(n=1, m=1, alpha=1, beta=1)
    >>> curves = coverage_by_proportion(release, proportions=[0, 0.5, 1], sets=1, rules=["as_if_real"])
    >>> curves.coverage.round(9).tolist()
    [[0.666666667, 0.0, 0.666666667]]
    """
    step = max(np.size(proportions), 1)
    *_, last = stream_by_proportion(
        synthesizer, proportions=proportions, sets=sets, rules=rules, level=level, step=step
    )
    return last


@checked(proportions=PROPORTION, sets=SETS, level=LEVEL, step=STEP)
def stream_by_proportion(
    synthesizer: TwoCellSynthesizer,
    *,
    proportions: Sequence[float] | FloatArray,
    sets: int,
    rules: Sequence[str],
    level: float = 0.95,
    step: int = 4,
) -> Iterator[CoverageCurves]:
    """`coverage_by_proportion` as a growing curve: the points done so far, coarse to fine, `step` more each time."""
    asked = Asked.of(synthesizer, sets, rules, level)
    points = point_axis(proportions)
    yield from growing(asked, points.tolist(), point_maker(asked, np.unique(points)), step)


@checked(p=PROPORTION, sets=SETS, level=LEVEL)
def stream_by_synthesizer(
    synthesizers: Sequence[TwoCellSynthesizer], *, p: float, sets: int, rules: Sequence[str], level: float = 0.95
) -> Iterator[CoverageCurves]:
    """Exact coverage at one p for each synthesizer, such as one at several ε, as a growing curve: one more each time.

    Parameters
    ----------
    synthesizers
        Synthesizers of one set; their n and m may differ.
    p, sets, rules, level
        As for `exact_coverages`.

    Examples
    --------
    >>> from dpviz.synthesizers import BetaBinomial
    >>> releases = [BetaBinomial(n=1, m=1, alpha=prior, beta=prior) for prior in (1, 1e12)]
    >>> *_, last = stream_by_synthesizer(releases, p=0, sets=1, rules=["as_if_real"])
    >>> last.coverage.round(6).tolist()
    [[0.666667, 0.5]]
    """
    if not len(synthesizers):
        raise ValueError("synthesizers must hold at least one synthesizer; got none.")
    asked = Asked.of(synthesizers[0], sets, rules, level)
    yield from growing(asked, synthesizers, lambda one: single_point(asked._replace(synthesizer=one), p), 1)


def point_axis(proportions: Sequence[float] | FloatArray) -> FloatArray:
    """Checked proportions as an array with one axis, or a ValueError."""
    if np.ndim(proportions) != 1 or not len(proportions):
        raise ValueError("proportions must be one or more numbers from 0 to 1 in a row.")
    return np.asarray(proportions, float)


def growing(asked: Asked, items: Sequence[Item], point: Callable[[Item], Point], step: int) -> Iterator[CoverageCurves]:
    """The points of the items done so far, coarse to fine, `step` more each time."""
    rules, done = tuple(rule.key for rule in asked.rules), dict[int, Point]()
    for index in coarse_to_fine(len(items)):
        done[index] = point(items[index])
        if len(done) % step == 0 or len(done) == len(items):
            places = sorted(done)
            columns = {
                one.name: np.array([getattr(done[place], one.name) for place in places]).T for one in fields(Measures)
            }
            yield CoverageCurves(rules=rules, places=np.array(places), **columns)


def coarse_to_fine(count: int) -> list[int]:
    """The indices 0 … count − 1 so that every beginning covers the axis about evenly: ends, middle, quarters, ….

    Examples
    --------
    >>> coarse_to_fine(5)
    [0, 4, 2, 1, 3]
    """
    order: dict[int, None] = {}
    pieces = 1
    while len(order) < count:
        order |= dict.fromkeys(round(part * (count - 1) / pieces) for part in range(pieces + 1))
        pieces *= 2
    return list(order)
