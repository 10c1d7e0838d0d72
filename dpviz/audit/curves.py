"""The needed prior, or the allowed range, along one axis: exact values of every method, and printed bounds."""

import dataclasses
import math
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Literal, NamedTuple

import numpy as np

from dpviz.audit.theorems import THEOREMS
from dpviz.calibration.curves import Needed
from dpviz.calibration.data_kinds import KINDS, Kind, Setting
from dpviz.calibration.methods import PriorMethod
from dpviz.core import limits
from dpviz.core.types import FloatArray
from dpviz.mechanisms.prior_mechanism import PRIOR_ONES

Axis = Literal["epsilon", "delta", "m", "n"]
AXES: tuple[Axis, ...] = ("delta", "epsilon", "m", "n")

MAX_POINTS = 25  # of a curve, beside the chosen one
POINTS_BY_ROWS = (10_000, 13), (50_000, 9)  # fewer points from so many rows on
COARSE_STRIDE = 4  # steps between the points that come first where each takes a search of its own
SEARCHED_THEOREMS = ("6.5",)  # whose formula takes a search
DRAWN_THEOREMS = ("6.10", "6.12", "6.13", "6.5", "6.21", "6.22", "7.7", "7.8", "7.13", "7.15", "7.16")
"""Those with a number at every m; theorems on a single row are left to the table."""


class AxisRange(NamedTuple):
    """Domain of an axis, and how many times below and above the chosen value a curve reaches."""

    low: float
    high: float
    below: float
    above: float


RANGES: dict[Axis, AxisRange] = {
    "epsilon": AxisRange(1e-4, 50.0, 30.0, 15.0),
    "delta": AxisRange(1e-300, 0.5, 1e3, 1.0),
    "m": AxisRange(1, limits.MAX_PRIOR_ROWS, 100.0, 10.0),
    "n": AxisRange(1, limits.MAX_PRIOR_ROWS, 100.0, 10.0),
}
LOW_DELTA, HIGH_DELTA = 1e-12, 0.1  # which a curve along δ always spans

Needs = Callable[[PriorMethod, bool], FloatArray]
"""Values of a method along the axis, with the δ of the settings or without."""


@dataclass(frozen=True, kw_only=True, eq=False)
class Curve:
    """Values of a method along the axis, exact or as a theorem bounds them; NaN, a gap, where there is none."""

    method: str
    values: FloatArray
    pure: bool = False  # without δ
    theorem: str = ""

    @property
    def kind(self) -> str:
        """What the values are: printed, pure or exact."""
        return "printed" if self.theorem else "pure" if self.pure else "exact"


@dataclass(frozen=True, kw_only=True)
class Curves:
    """Curves along one axis, all else as in `setting`, whose own value is among the rising points."""

    kind: Kind
    setting: Setting
    axis: Axis
    points: FloatArray
    lines: tuple[Curve, ...]

    @property
    def chosen(self) -> float:
        """The setting's own value."""
        return float(getattr(self.setting, self.axis))

    @cached_property
    def extent(self) -> tuple[float, float]:
        """Smallest and largest value, as a picture counts them."""
        values = np.concatenate([self.counted(line) for line in self.lines])
        finite = values[np.isfinite(values)]
        return (float(finite.min()), float(finite.max())) if len(finite) else (math.inf, -math.inf)

    def at_chosen(self, line: Curve) -> float:
        """Value of a curve at the setting's own point."""
        return float(line.values[int(np.argmin(np.abs(self.points - self.chosen)))])

    def counted(self, line: Curve) -> FloatArray:
        """Values of a curve as a picture counts them: priors as invented rows per real row."""
        rows = self.points if self.axis == "n" else np.full(len(self.points), self.setting.n)
        cells = self.kind.cells(self.setting)
        return cells * line.values / rows if cells else line.values


def axis_points(axis: Axis, chosen: float, count: int = MAX_POINTS) -> FloatArray:
    """Points of an axis in equal ratios around the chosen one, itself among them; whole for counts."""
    reach = RANGES[axis]
    low, high = max(reach.low, chosen / reach.below), min(reach.high, max(chosen * reach.above, 10 * reach.low))
    if axis == "delta":
        low, high = min(LOW_DELTA, low) if chosen > 0 else LOW_DELTA, max(HIGH_DELTA, chosen)
    points = np.geomspace(low, high, count)
    points = np.rint(points) if axis in ("m", "n") else points
    return np.unique(np.append(points, chosen) if chosen > 0 else points)


def prior_curves(family: str, setting: Setting, axis: Axis, *, m_is_n: bool = False, stride: int = 1) -> Curves:
    """Smallest prior (or largest R/σ) of every method against ε, δ, m or n, exact and as printed.

    With `m_is_n`, m moves with n on the axis n. With a `stride`, every so many points are computed alone, beside the
    ends and the chosen one.

    >>> curves = prior_curves("bernoulli", Setting(n=10, m=10, epsilon=1.0), "epsilon")
    >>> line = next(line for line in curves.lines if line.method == "synth_post_one" and line.pure)
    >>> round(curves.at_chosen(line), 6)  # 10 / (e − 1)
    5.819767
    """
    points = _points(setting, axis)
    is_shown = (np.arange(len(points)) % stride == 0) | (points == getattr(setting, axis)) | (points == points[-1])
    settings = _settings(setting, axis, points[is_shown], m_is_n)

    def needs(method: PriorMethod, pure: bool) -> FloatArray:
        return KINDS[family].needs(method, settings, [0.0 if pure else place.delta for place in settings])

    lines = _curves(family, settings, needs, DRAWN_THEOREMS)
    return Curves(kind=KINDS[family], setting=setting, axis=axis, points=points[is_shown], lines=lines)


def stream_prior_curves(family: str, setting: Setting, axis: Axis, *, m_is_n: bool = False) -> Iterator[Curves]:
    """`prior_curves`, coarse to fine where every point takes a search of its own."""
    for stride in (1,) if KINDS[family].binary else (COARSE_STRIDE, 1):
        yield prior_curves(family, setting, axis, m_is_n=m_is_n, stride=stride)


def first_prior_curves(
    family: str, setting: Setting, axis: Axis, needed: Needed | None = None, *, m_is_n: bool = False
) -> Curves:
    """`prior_curves` without any search: closed forms, and of other curves what is `needed` at the chosen point."""
    kind, points = KINDS[family], _points(setting, axis)
    settings = _settings(setting, axis, points, m_is_n)

    def needs(method: PriorMethod, pure: bool) -> FloatArray:
        values = np.full(len(points), math.nan)
        if pure and not kind.conditioned:
            pairs = [(place.m, place.epsilon) for place in settings]  # the same one at every δ
            priors = {pair: method.minimum_pure_prior(*pair) for pair in set(pairs)}
            values = np.array([priors[pair] for pair in pairs])
            values[values > PRIOR_ONES.maximum] = math.nan
        if needed is not None:
            values[points == getattr(setting, axis)] = (needed.pure if pure else needed.exact)[method.key]
        return values

    lines = _curves(family, settings, needs, [key for key in DRAWN_THEOREMS if key not in SEARCHED_THEOREMS])
    return Curves(kind=kind, setting=setting, axis=axis, points=points, lines=lines)


def _points(setting: Setting, axis: Axis) -> FloatArray:
    rows = max(setting.n, setting.m)
    count = min([MAX_POINTS, *(fewer for size, fewer in POINTS_BY_ROWS if rows >= size)])
    return axis_points(axis, float(getattr(setting, axis)), count)


def _settings(setting: Setting, axis: Axis, points: FloatArray, m_is_n: bool) -> list[Setting]:
    moved = ("n", "m") if axis == "n" and m_is_n else (axis,)
    return [dataclasses.replace(setting, **dict.fromkeys(moved, point)) for point in points.tolist()]


def _curves(family: str, settings: Sequence[Setting], needs: Needs, keys: Sequence[str]) -> tuple[Curve, ...]:
    """Curves of all methods and theorems of a family; those with δ only where there is one."""
    has_delta = settings[0].delta > 0
    lines = [
        Curve(method=key, pure=pure, values=_drawable(needs(method, pure)))
        for pure in ([False, True] if has_delta else [True])
        for key, method in KINDS[family].methods.items()
    ]
    arguments = [place.arguments() for place in settings]
    for theorem in (THEOREMS[key] for key in keys):
        if theorem.family == family and (has_delta or not theorem.promise.has_delta):
            bounds = [theorem.value(**at) if theorem.condition_holds(**at) else math.nan for at in arguments]
            values = _drawable(np.array(bounds))
            lines += [Curve(method=method, values=values, theorem=theorem.name) for method in theorem.methods]
    return tuple(lines)


def _drawable(values: FloatArray) -> FloatArray:
    """Values that a logarithmic axis has; NaN for the others."""
    return np.where(np.isfinite(values) & (values > 0), values, math.nan)
