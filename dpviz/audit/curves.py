"""The needed prior, or the allowed range, along one axis: exact values of every method, and printed bounds."""

import dataclasses
import math
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from typing import Literal

import numpy as np

from dpviz.audit.theorems import THEOREMS, Promise
from dpviz.calibration.curves import Needed
from dpviz.calibration.data_kinds import KINDS, Kind, Setting
from dpviz.core import limits
from dpviz.core.types import FloatArray

Axis = Literal["epsilon", "delta", "m", "n"]
AXES: tuple[Axis, ...] = ("delta", "epsilon", "m", "n")

MAX_POINTS = 25  # of a curve, beside the chosen one
POINTS_BY_ROWS = (10_000, 13), (50_000, 9)  # fewer points from so many rows on
SEARCHED_THEOREM = "6.5"  # whose formula takes a search
DRAWN_THEOREMS = ("6.10", "6.12", "6.13", SEARCHED_THEOREM, "6.21", "6.22", "7.7", "7.8", "7.13", "7.15", "7.16")
"""Those with a number at every m; theorems on a single row are left to the table."""

# Lowest and highest point of an axis, and how many times below and above the chosen value a curve reaches
REACHES: dict[Axis, tuple[float, float, float, float]] = {
    "epsilon": (1e-4, 50.0, 30.0, 15.0),
    "delta": (1e-300, 0.5, 1e3, 1.0),
    "m": (1.0, limits.MAX_PRIOR_ROWS, 100.0, 10.0),
    "n": (1.0, limits.MAX_PRIOR_ROWS, 100.0, 10.0),
}
LOW_DELTA, HIGH_DELTA = 1e-12, 0.1  # which a curve along δ always spans


@dataclass(frozen=True, kw_only=True, eq=False)
class Curve:
    """Values of a method along the axis, exact or as a theorem bounds them; NaN, a gap, where there is none."""

    method: str
    values: FloatArray
    kind: Literal["exact", "pure", "printed"]  # pure: exact without δ
    theorem: str = ""


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
        cells = self.kind.cells(self.setting)
        rows = self.points if self.axis == "n" else self.setting.n
        return cells * line.values / rows if cells else line.values


def prior_curves(
    family: str, setting: Setting, axis: Axis, *, m_is_n: bool = False, stride: int = 1,
    is_searched: bool = True, needed: Needed | None = None,
) -> Curves:  # fmt: skip
    """Smallest prior (or largest R/σ) of every method against ε, δ, m or n, exact and as printed.

    Parameters
    ----------
    family : str
        A key of `dpviz.priors.KINDS`.
    setting : Setting
        All that does not move, and the chosen point.
    axis : {"epsilon", "delta", "m", "n"}
    m_is_n : bool, optional
        Whether m moves with n on the axis n.
    stride : int, optional
        Every so many points are computed alone, beside the ends and the chosen one.
    is_searched : bool, optional
        Without, closed forms alone are computed, and `needed` has the answers at the chosen point, if they are known.
    needed : Needed, optional

    Returns
    -------
    Curves

    Examples
    --------
    >>> curves = prior_curves("bernoulli", Setting(n=10, m=10, epsilon=1.0), "epsilon")
    >>> line = next(line for line in curves.lines if (line.method, line.kind) == ("synth_post_one", "pure"))
    >>> round(curves.at_chosen(line), 6)  # 10 / (e − 1)
    5.819767
    """
    kind, points, has_delta = KINDS[family], _axis_points(setting, axis), setting.delta > 0 or axis == "delta"
    is_chosen = points == getattr(setting, axis)
    is_kept = (np.arange(len(points)) % stride == 0) | is_chosen | (points == points[-1])
    points, is_chosen = points[is_kept], is_chosen[is_kept]
    moved = ("n", "m") if axis == "n" and m_is_n else (axis,)
    settings = [dataclasses.replace(setting, **dict.fromkeys(moved, point)) for point in points.tolist()]

    # Methods, with δ where there is one and without, where counts have closed forms
    lines = []
    deltas = {"exact": [place.delta for place in settings], "pure": [0.0] * len(settings)}
    for name in ("exact", "pure") if has_delta else ("pure",):
        for method in kind.methods.values():
            values = np.full(len(points), math.nan)
            if is_searched or (name == "pure" and not kind.conditioned):
                values = kind.needs(method, settings, deltas[name])
            if needed is not None:
                values[is_chosen] = getattr(needed, name)[method.key]
            lines.append(Curve(method=method.key, kind=name, values=_drawable(values)))

    # Theorems
    arguments = [place.arguments() for place in settings]
    for theorem in (THEOREMS[key] for key in DRAWN_THEOREMS if is_searched or key != SEARCHED_THEOREM):
        if theorem.family == family and (has_delta or theorem.promise is Promise.PURE):
            bounds = [theorem.value(**at) if theorem.condition_holds(**at) else math.nan for at in arguments]
            values = _drawable(np.array(bounds))
            lines += [Curve(method=key, kind="printed", values=values, theorem=theorem.name) for key in theorem.methods]
    return Curves(kind=kind, setting=setting, axis=axis, points=points, lines=tuple(lines))


def stream_prior_curves(family: str, setting: Setting, axis: Axis, *, m_is_n: bool = False) -> Iterator[Curves]:
    """`prior_curves`, coarse to fine where every point takes a search of its own.

    Parameters
    ----------
    family, setting, axis, m_is_n
        As of `prior_curves`.

    Yields
    ------
    Curves
    """
    for stride in (1,) if KINDS[family].binary else (4, 1):
        yield prior_curves(family, setting, axis, m_is_n=m_is_n, stride=stride)


def _axis_points(setting: Setting, axis: Axis) -> FloatArray:
    """Points of an axis in equal ratios around the chosen one, itself among them; whole for counts."""
    chosen, rows = float(getattr(setting, axis)), max(setting.n, setting.m)
    lowest, highest, below, above = REACHES[axis]
    low, high = max(lowest, chosen / below), min(highest, max(chosen * above, 10 * lowest))
    if axis == "delta":
        low, high = min(LOW_DELTA, low) if chosen > 0 else LOW_DELTA, max(HIGH_DELTA, chosen)
    points = np.geomspace(low, high, min([MAX_POINTS, *(count for size, count in POINTS_BY_ROWS if rows >= size)]))
    points = np.rint(points) if axis in ("m", "n") else points
    return np.unique(np.append(points, chosen) if chosen > 0 else points)


def _drawable(values: FloatArray) -> FloatArray:
    """Values that a logarithmic axis has; NaN for the others."""
    return np.where(np.isfinite(values) & (values > 0), values, math.nan)
