"""The needed prior, or the allowed range, along one axis: exact values and printed bounds."""

import dataclasses
import math
from collections.abc import Iterator
from dataclasses import dataclass, field
from functools import cached_property
from typing import Literal

import numpy as np

from dpviz.audit.theorems import THEOREMS, Theorem
from dpviz.calibration.curves import Needed
from dpviz.calibration.data_kinds import KINDS, Kind, Setting
from dpviz.calibration.methods import PriorMethod
from dpviz.core import limits
from dpviz.core.types import FloatArray

Axis = Literal["epsilon", "delta", "m", "n"]
AXES: tuple[Axis, ...] = ("delta", "epsilon", "m", "n")


@dataclass(frozen=True)
class CurveAxis:
    """An axis: its ends, how many times below and above the chosen value a curve reaches, and what m = n moves."""

    low: float
    high: float
    below: float
    above: float
    usual: tuple[float, float] | None = None
    whole: bool = False
    together: tuple[Axis, ...] = ()

    def ends(self, chosen: float) -> tuple[float, float]:
        """Return where a curve begins and ends; it spans at least what is `usual`, if anything is."""
        low, high = max(self.low, chosen / self.below), min(self.high, max(chosen * self.above, 10 * self.low))
        if self.usual is None:
            return low, high
        return min(self.usual[0], low) if chosen > 0 else self.usual[0], max(self.usual[1], chosen)


SCALES: dict[Axis, CurveAxis] = {
    "epsilon": CurveAxis(1e-4, 50.0, 30.0, 15.0),
    "delta": CurveAxis(1e-300, 0.5, 1e3, 1.0, usual=(1e-12, 0.1)),
    "m": CurveAxis(1, limits.MAX_PRIOR_ROWS, 100.0, 10.0, whole=True),
    "n": CurveAxis(1, limits.MAX_PRIOR_ROWS, 100.0, 10.0, whole=True, together=("m",)),
}

CURVE_POINTS = 25  # of a curve beside the chosen one
POINTS_OF_LARGE = (10_000, 13), (50_000, 9)  # Fewer where there are so many rows or more
CURVE_STRIDES = (4, 1)  # Steps between the points of a curve, coarse to fine; all at once where they are found together
SEARCHED_CLAIMS = ("6.5",)  # whose formula takes a search
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

    @cached_property
    def extent(self) -> tuple[float, float]:
        """The smallest and the largest value, as a picture counts them."""
        values = np.concatenate([self.counted(line) for line in self.lines])
        finite = values[np.isfinite(values)]
        return (float(finite.min()), float(finite.max())) if len(finite) else (math.inf, -math.inf)

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


def first_prior_curves(
    family: str, setting: Setting, axis: Axis, needed: Needed | None = None, *, m_is_n: bool = False
) -> Curves:
    """`prior_curves` without any search: smallest priors without δ and printed bounds, which are closed forms.

    Of all other curves only the point at the chosen value is there, where `needed` by one set is known.
    """
    grid = _Grid(KINDS[family], setting, axis, m_is_n)
    exact = []
    for pure in grid.promises:
        for key, method in grid.kind.methods.items():
            values = np.full(len(grid.points), np.nan)
            if pure and not grid.kind.conditioned:
                values = np.array([grid.kind.need(method, place, 0.0) for place in grid.settings])
            if needed is not None:
                values[grid.chosen] = (needed.pure if pure else needed.exact)[key]
            exact.append(Curve(method=key, pure=pure, values=_drawable(values)))
    return grid.curves(list(range(len(grid.points))), exact, closed_forms=True)


def stream_prior_curves(family: str, setting: Setting, axis: Axis, *, m_is_n: bool = False) -> Iterator[Curves]:
    """`prior_curves`, coarse to fine: at the ends, the chosen value and every so many points between.

    Each time there are about twice as many points, none of which is sought again.
    """
    grid = _Grid(KINDS[family], setting, axis, m_is_n)
    lines = [
        (key, pure, _Line(grid.kind, method, pure, grid.settings))
        for pure in grid.promises
        for key, method in grid.kind.methods.items()
    ]
    for stride in CURVE_STRIDES[-1:] if grid.kind.binary else CURVE_STRIDES:
        shown = sorted({*grid.chosen, len(grid.points) - 1, *range(0, len(grid.points), stride)})
        yield grid.curves(shown, [Curve(method=key, pure=pure, values=line.values(shown)) for key, pure, line in lines])


class _Grid:
    """Points along an axis, what is asked at each, and the printed bounds there."""

    def __init__(self, kind: Kind, setting: Setting, axis: Axis, m_is_n: bool) -> None:
        rows, chosen = max(setting.n, setting.m), float(getattr(setting, axis))
        moved = (axis, *SCALES[axis].together) if m_is_n else (axis,)
        count = min([CURVE_POINTS, *(few for size, few in POINTS_OF_LARGE if rows >= size)])
        self.kind, self.setting, self.axis = kind, setting, axis
        self.points = axis_points(axis, chosen, count)
        self.settings = [dataclasses.replace(setting, **dict.fromkeys(moved, point)) for point in self.points.tolist()]
        self.chosen: list[int] = np.flatnonzero(self.points == chosen).tolist()
        self.promises = [False, True] if self.settings[0].delta > 0 else [True]  # whether without δ

    def curves(self, shown: list[int], exact: list[Curve], *, closed_forms: bool = False) -> Curves:
        """Return exact curves at some of the points with the printed bounds there, or those that are closed forms."""
        values = [self.settings[place].arguments() for place in shown]
        bounds = [
            Curve(method=method, values=printed, theorem=claim.name)
            for claim in map(THEOREMS.__getitem__, DRAWN_CLAIMS)
            if claim.family == self.kind.key and (False in self.promises or not claim.promise.has_delta)
            if not (closed_forms and claim.key in SEARCHED_CLAIMS)
            for printed in [_printed(claim, values)]
            for method in claim.methods
        ]
        lines = (*exact, *bounds)
        return Curves(kind=self.kind, setting=self.setting, axis=self.axis, points=self.points[shown], lines=lines)


@dataclass
class _Line:
    """The answers of one method along the axis; NaN, a gap, where no prior is enough or no answer is to be had."""

    kind: Kind
    method: PriorMethod
    pure: bool
    settings: list[Setting]
    answers: dict[int, float] = field(init=False, default_factory=dict)

    def values(self, places: list[int]) -> FloatArray:
        """Compute the answers at these points that are not there yet, and return them all."""
        new = [place for place in places if place not in self.answers]
        settings = [self.settings[place] for place in new]
        deltas = [0.0 if self.pure else setting.delta for setting in settings]
        self.answers |= zip(new, self.kind.needs(self.method, settings, deltas).tolist(), strict=True)
        return _drawable(np.array([self.answers[place] for place in places]))


def _printed(claim: Theorem, settings: list[dict[str, object]]) -> FloatArray:
    asked = [one["delta"] != 0 or not claim.promise.has_delta for one in settings]
    asked = [yes and claim.condition_holds(**one) for yes, one in zip(asked, settings, strict=True)]
    values = np.full(len(settings), math.nan)
    values[asked] = [claim.value(**one) for yes, one in zip(asked, settings, strict=True) if yes]
    return _drawable(values)


def _drawable(values: FloatArray) -> FloatArray:
    """Values that a logarithmic scale has; NaN for the others."""
    return np.where(np.isfinite(values) & (values > 0), values, math.nan)
