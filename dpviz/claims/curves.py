"""The needed prior, or the allowed range, along one axis: exact values and printed bounds."""

import dataclasses
import math
from collections.abc import Callable, Iterator
from contextlib import suppress
from dataclasses import dataclass, field
from functools import cached_property
from typing import Literal

import numpy as np

from dpviz.calibration.kinds import KINDS, Kind, Setting
from dpviz.calibration.methods import PriorMethod
from dpviz.calibration.smallest_root import Start
from dpviz.claims.claim import Claim
from dpviz.claims.theorems import CLAIMS
from dpviz.core import limits
from dpviz.core.types import FloatArray

Axis = Literal["epsilon", "delta", "m", "n"]
AXES: tuple[Axis, ...] = ("delta", "epsilon", "m", "n")


@dataclass(frozen=True)
class CurveAxis:
    """An axis: its ends, how many times below and above the chosen value a curve reaches, and what m = n moves.

    `place` takes points to a scale on which ln prior is nearly straight.
    """

    low: float
    high: float
    below: float
    above: float
    usual: tuple[float, float] | None = None
    whole: bool = False
    together: tuple[Axis, ...] = ()
    place: Callable[[FloatArray], FloatArray] = np.log

    def ends(self, chosen: float) -> tuple[float, float]:
        """Return where a curve begins and ends; it spans at least what is `usual`, if anything is."""
        low, high = max(self.low, chosen / self.below), min(self.high, max(chosen * self.above, 10 * self.low))
        if self.usual is None:
            return low, high
        return min(self.usual[0], low) if chosen > 0 else self.usual[0], max(self.usual[1], chosen)


SCALES: dict[Axis, CurveAxis] = {
    "epsilon": CurveAxis(1e-4, 50.0, 30.0, 15.0),
    "delta": CurveAxis(1e-300, 0.5, 1e3, 1.0, usual=(1e-12, 0.1), place=lambda points: np.log(-np.log(points))),
    "m": CurveAxis(1, limits.LARGEST_PRIOR_ROWS, 100.0, 10.0, whole=True),
    "n": CurveAxis(1, limits.LARGEST_PRIOR_ROWS, 100.0, 10.0, whole=True, together=("m",)),
}

CURVE_POINTS = 25  # of a curve beside the chosen one
POINTS_OF_LARGE = (10_000, 13), (50_000, 9)  # Fewer where there are so many rows or more
CURVE_STRIDES = (8, 4, 2, 1)  # Steps between the points of a curve, coarse to fine
GUESSED_THROUGH = 4  # Largest number of values that a guess of the next is drawn through
# Printed bounds that have a number at every m; those on a single row are left to the table.
DRAWN_CLAIMS = ("6.10", "6.12", "6.13", "6.5", "6.21", "6.22", "7.7", "7.8", "7.13", "7.15", "7.16")


@dataclass(frozen=True, kw_only=True, eq=False)
class Curve:
    """One curve, exact or as a theorem bounds it, NaN, a gap, where there is no value; `pure` ones are without δ."""

    method: str
    values: FloatArray
    pure: bool = False
    theorem: str = ""

    @property
    def kind(self) -> str:
        """A word for what its values are, for files."""
        return "printed" if self.theorem else "pure" if self.pure else "exact"


@dataclass(frozen=True, kw_only=True)
class Curves:
    """What is needed along one axis, all else as in `setting`, whose own value is among the rising points."""

    kind: Kind
    setting: Setting
    axis: Axis
    points: FloatArray
    lines: tuple[Curve, ...]

    @property
    def chosen(self) -> float:
        return float(getattr(self.setting, self.axis))

    def at_chosen(self, line: Curve) -> float:
        """Return the value of a curve at the user's own point."""
        return float(line.values[int(np.argmin(np.abs(self.points - self.chosen)))])

    def counted(self, line: Curve) -> FloatArray:
        """Return the values of a curve as a picture counts them: priors as invented rows per real row."""
        places = zip(line.values.tolist(), self.settings, strict=True)
        return np.array([self.kind.counted(value, setting) for value, setting in places])

    @cached_property
    def settings(self) -> tuple[Setting, ...]:
        """The setting at each point; m, where it moves with n, is left as it is."""
        return tuple(dataclasses.replace(self.setting, **{self.axis: point}) for point in self.points.tolist())


def axis_points(axis: Axis, chosen: float, count: int = CURVE_POINTS) -> FloatArray:
    """Return points of an axis in equal ratios around the chosen one, itself among them; whole for counts."""
    points = np.geomspace(*SCALES[axis].ends(chosen), count)
    points = np.rint(points) if SCALES[axis].whole else points
    return np.unique(np.append(points, chosen) if chosen > 0 else points)


def prior_curves(family: str, setting: Setting, axis: Axis, *, m_is_n: bool = False) -> Curves:
    """Return the smallest prior (or the largest R/σ) of every method against ε, δ, m or n, exact and as printed.

    `family` is a key of `KINDS`; where `m_is_n`, m moves with n on the axis n.

    >>> setting = Setting(n=10, m=10, epsilon=1.0)
    >>> curves = prior_curves("bernoulli", setting, "epsilon")
    >>> one = next(line for line in curves.lines if line.method == "synth_post_one" and line.pure)
    >>> round(curves.at_chosen(one), 6)  # 10 / (e − 1)
    5.819767
    """
    *_, last = stream_prior_curves(family, setting, axis, m_is_n=m_is_n)
    return last


def first_prior_curves(family: str, setting: Setting, axis: Axis, *, m_is_n: bool = False) -> Curves:
    """`prior_curves` as far as they are there in no time: a first picture, on the same axes.

    Smallest priors without δ and printed bounds are closed forms. What must be searched for is there at the chosen
    value and both ends of the axis alone, or, where many rows in k categories make each search long, at the former.
    """
    if KINDS[family].conditioned:
        return next(_stream(family, setting, axis, m_is_n, (CURVE_POINTS,)))
    return next(_stream(family, setting, axis, m_is_n, (1,), closed_forms=True))


def stream_prior_curves(family: str, setting: Setting, axis: Axis, *, m_is_n: bool = False) -> Iterator[Curves]:
    """`prior_curves`, coarse to fine: each time with about twice as many points, of which none is computed again."""
    return _stream(family, setting, axis, m_is_n, CURVE_STRIDES[-1:] if KINDS[family].in_step else CURVE_STRIDES)


def _stream(
    family: str, setting: Setting, axis: Axis, m_is_n: bool, strides: tuple[int, ...], *, closed_forms: bool = False
) -> Iterator[Curves]:
    """Yield curves at the ends, the chosen value and every so many points between, for one stride after the other.

    Where `closed_forms` alone are wanted, what must be searched for is left out but for the chosen value and the ends.
    """
    kind, scale = KINDS[family], SCALES[axis]
    rows, chosen = max(setting.n, setting.m), float(getattr(setting, axis))
    points = axis_points(axis, chosen, min([CURVE_POINTS, *(few for size, few in POINTS_OF_LARGE if rows >= size)]))
    moved = (axis, *scale.together) if m_is_n else (axis,)
    settings = [dataclasses.replace(setting, **dict.fromkeys(moved, point)) for point in points.tolist()]
    places, promises = scale.place(points), [False, True] if settings[0].delta > 0 else [True]
    searched = {key: kind.like(method) for key, method in kind.methods.items()}
    found = dict.fromkeys(one for one, _ in searched.values())
    lines = {(one, pure): _Line(kind, one, pure, settings, places) for pure in promises for one in found}
    claims = [
        claim
        for claim in map(CLAIMS.__getitem__, DRAWN_CLAIMS)
        if claim.family == kind.key and (False in promises or not claim.promise.delta)
    ]
    printed = {claim.key: np.full(len(points), np.nan) for claim in claims}
    shown: list[int] = []
    at_chosen = np.flatnonzero(points == chosen).tolist()
    ends = [0, len(points) - 1] if kind.in_step or rows < POINTS_OF_LARGE[0][0] else []
    for line in lines.values():
        line.find_one_by_one(at_chosen)  # as for the single answer, to its last digit
    for stride in strides:
        level = [*at_chosen, 0, len(points) - 1, *range(0, len(points), stride)]
        fresh = list(dict.fromkeys(one for one in level if one not in shown))
        for line in lines.values():
            line.find_all(fresh if line.pure or not closed_forms else ends)
        values = [settings[place].arguments() for place in fresh]
        for claim in claims:
            printed[claim.key][fresh] = _printed(claim, values)
        shown = sorted(set(level))
        exact = [
            Curve(method=key, pure=pure, values=lines[one, pure].values(shown) + more)
            for pure in promises
            for key, (one, more) in searched.items()
        ]
        bounds = [
            Curve(method=method, values=printed[claim.key][shown], theorem=claim.name)
            for claim in claims
            for method in claim.methods
        ]
        yield Curves(kind=kind, setting=setting, axis=axis, points=points[shown], lines=(*exact, *bounds))


@dataclass
class _Line:
    """The answers of one method along the axis, in any order, each started from those on either side of it."""

    kind: Kind
    method: PriorMethod
    pure: bool
    settings: list[Setting]
    places: FloatArray
    found: dict[int, Start] = field(init=False, default_factory=dict)

    def find_all(self, places: list[int]) -> None:
        """Find the answers in step where that can be done, and the others one after the other."""
        asked = [] if self.pure else [place for place in places if place not in self.found]
        in_step = self.kind.search_in_step(self.method, [self.settings[place] for place in asked])
        self.found |= {place: found for place, found in zip(asked, in_step, strict=True) if found is not None}
        self.find_one_by_one(places)

    def find_one_by_one(self, places: list[int]) -> None:  # what no prior gives, or no answer reaches, is a gap
        for place in places:
            setting = self.settings[place]
            with suppress(ValueError):
                if place not in self.found:
                    delta, start = 0.0 if self.pure else setting.delta, self._start(place)
                    found = self.kind.search(self.method, setting, delta, start)
                    if 0 < found.prior < math.inf:
                        self.found[place] = found

    def values(self, places: list[int]) -> FloatArray:
        return np.array([self.found[one].prior if one in self.found else math.nan for one in places])

    def _start(self, place: int) -> Start | None:
        from scipy.interpolate import krogh_interpolate  # it takes long to load, and few ask for it

        if not self.found:
            return None
        here = float(self.places[place])
        near = sorted(self.found, key=lambda other: abs(float(self.places[other]) - here))[:GUESSED_THROUGH]
        closest = self.found[near[0]]
        priors = [math.log(self.found[one].prior) for one in near]
        log_prior = float(krogh_interpolate([float(self.places[one]) for one in near], priors, here))
        pair, n = closest.pair, self.settings[place].n
        if pair is not None:  # the worst pair keeps its distance from the nearer end
            i, rows = pair[0], self.settings[near[0]].n
            pair = min(max(i if 2 * i < rows else i - rows + n, 0), n - 1), pair[1]
        return Start(math.exp(min(log_prior, 700.0)), pair)


def _printed(claim: Claim, settings: list[dict[str, object]]) -> FloatArray:
    asked = [one["delta"] != 0 or not claim.promise.delta for one in settings]
    asked = [yes and claim.applies(**one) for yes, one in zip(asked, settings, strict=True)]
    values = np.full(len(settings), math.nan)
    values[asked] = claim.at_each([one for yes, one in zip(asked, settings, strict=True) if yes])
    return np.where(np.isfinite(values) & (values > 0), values, math.nan)
