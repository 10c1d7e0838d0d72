"""The needed prior, or the allowed range, along one axis: exact values and printed bounds."""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Literal

import numpy as np

from dpviz.methods import Method
from dpviz.priors._least_root import Start, interpolated
from dpviz.priors.curve_axes import Axis, axis_points, moved, point_count
from dpviz.priors.kinds import KINDS, Kind
from dpviz.priors.setting import Setting
from dpviz.theorems import CLAIMS
from dpviz.types import FloatArray

STRIDES, NEAREST = (8, 4, 2, 1), 4
"""Steps between the points of a curve, coarse to fine, and most values that a guess of the next is drawn through."""

DRAWN = ("6.10", "6.12", "6.13", "6.5", "6.21", "6.22", "7.7", "7.8", "7.13", "7.15", "7.16")
"""Printed bounds that have a number at every m; those on a single row are left to the table."""


@dataclass(frozen=True, kw_only=True)
class Curve:
    """One curve: at the promised δ, without δ, or the bound of a theorem; NaN, a gap, where there is no value."""

    method: str
    kind: Literal["exact", "pure", "printed"]
    values: FloatArray
    theorem: str = ""


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
        """The user's own value on the axis."""
        return float(getattr(self.setting, self.axis))

    def at_chosen(self, line: Curve) -> float:
        """The value of a curve at the user's own point."""
        return float(line.values[int(np.argmin(np.abs(self.points - self.chosen)))])


def prior_curves(family: str, setting: Setting, axis: Axis, *, m_is_n: bool = False) -> Curves:
    """The least prior (or the largest R/σ) of every method against ε, δ, m or n, exact and as printed.

    `family` is a key of `KINDS`; where `m_is_n`, m moves with n on the axis n.

    Examples
    --------
    >>> setting = Setting(n=10, m=10, epsilon=1.0)
    >>> curves = prior_curves("bernoulli", setting, "epsilon")
    >>> one = next(line for line in curves.lines if line.method == "synth_post_one" and line.kind == "pure")
    >>> round(curves.at_chosen(one), 6)  # 10 / (e − 1)
    5.819767
    """
    *_, last = stream_prior_curves(family, setting, axis, m_is_n=m_is_n)
    return last


def stream_prior_curves(family: str, setting: Setting, axis: Axis, *, m_is_n: bool = False) -> Iterator[Curves]:
    """`prior_curves`, coarse to fine: each time with about twice as many points, of which none is computed again.

    Examples
    --------
    >>> setting = Setting(n=10, m=10, epsilon=1.0)
    >>> [len(curves.points) for curves in stream_prior_curves("bernoulli", setting, "epsilon")]
    [6, 9, 14, 26]
    """
    kind = KINDS[family]
    points = axis_points(axis, float(getattr(setting, axis)), point_count(setting))
    settings = [moved(setting, axis, float(point), m_is_n) for point in points]
    promises = [pure for pure in (False, True) if pure or axis == "delta" or setting.delta > 0]
    methods = kind.methods
    found = dict.fromkeys(kind.like(method)[0] for method in methods.values())
    places = _scale(axis, points)
    lines = {(one, pure): _Line(kind, one, pure, settings, places) for pure in promises for one in found}
    chosen = np.flatnonzero(points == float(getattr(setting, axis)))
    kept: set[int] = set()
    known: dict[tuple[str, Setting], float] = {}
    for stride in STRIDES:
        level = [*chosen.tolist(), 0, len(points) - 1, *range(0, len(points), stride)]
        for place in dict.fromkeys(level):
            if place not in kept:
                for line in lines.values():
                    line.find(place)
        kept.update(level)
        shown = sorted(kept)
        exact = {key: line.values[shown] for key, line in lines.items()}
        yield Curves(
            kind=kind,
            setting=setting,
            axis=axis,
            points=points[shown],
            lines=(
                *(
                    Curve(method=key, kind="pure" if pure else "exact", values=exact[one, pure] + more)
                    for pure in promises
                    for key, method in methods.items()
                    for one, more in [kind.like(method)]
                ),
                *_printed_curves(kind, setting, axis, [settings[place] for place in shown], known),
            ),
        )


def _printed_curves(
    kind: Kind, setting: Setting, axis: Axis, settings: list[Setting], known: dict[tuple[str, Setting], float]
) -> Iterator[Curve]:
    """The printed bounds at these settings; what is `known` is not computed again, and what is computed joins it."""
    for number in DRAWN:
        bound = CLAIMS[number]
        if bound.family == kind.key and (bound.promise == "pure" or axis == "delta" or setting.delta > 0):
            for one in settings:
                if (number, one) not in known:
                    known[number, one] = _printed(number, one)
            values = np.array([known[number, one] for one in settings])
            for method in bound.methods:
                yield Curve(method=method, kind="printed", values=values, theorem=bound.name)


def _scale(axis: Axis, points: FloatArray) -> FloatArray:
    """Where the points lie on a scale on which ln prior is nearly straight."""
    return np.log(-np.log(points)) if axis == "delta" else np.log(points)


@dataclass
class _Line:
    """The answers of one method along the axis, in any order, each started from those on either side of it."""

    kind: Kind
    method: Method
    pure: bool
    settings: list[Setting]
    places: FloatArray
    values: FloatArray = field(init=False)
    _found: dict[int, Start] = field(init=False, default_factory=dict)

    def __post_init__(self) -> None:
        self.values = np.full(len(self.settings), np.nan)

    def find(self, place: int) -> None:
        """Find one value; what no prior gives, or lies beyond what the exact answer reaches, is a gap."""
        setting = self.settings[place]
        delta = 0.0 if self.pure else setting.delta
        try:
            found = self.kind.search(self.method, setting, delta, self._start(place))
        except ValueError:
            return
        if 0 < found.prior < math.inf:
            self._found[place] = found
        self.values[place] = found.prior if found.prior < math.inf else math.nan

    def _start(self, place: int) -> Start | None:
        if not self._found:
            return None
        here = float(self.places[place])
        near = sorted(self._found, key=lambda other: abs(float(self.places[other]) - here))[:NEAREST]
        closest = self._found[near[0]]
        log_prior = interpolated(
            [float(self.places[one]) for one in near], [math.log(self._found[one].prior) for one in near], here
        )
        pair, n = closest.pair, self.settings[place].n
        if pair is not None:  # the worst pair keeps its distance from the nearer end
            i, rows = pair[0], self.settings[near[0]].n
            pair = min(max(i if 2 * i < rows else i - rows + n, 0), n - 1), pair[1]
        return Start(math.exp(min(log_prior, 700.0)), closest.slope, pair)


def _printed(number: str, setting: Setting) -> float:
    bound = CLAIMS[number]
    values = setting.arguments()
    if bound.promise != "pure" and setting.delta == 0:
        return math.nan
    value = bound.at(**values) if bound.applies(**values) else math.nan
    return value if math.isfinite(value) and value > 0 else math.nan
