"""The needed prior, or the allowed range, along one axis: exact values and printed bounds."""

from __future__ import annotations

import dataclasses
import math
from dataclasses import dataclass
from typing import Literal

import numpy as np

from dpviz.priors.as_printed import PRINTED
from dpviz.priors.audit import Setting
from dpviz.priors.exact import minimum_prior
from dpviz.priors.posterior_parameter import LARGEST
from dpviz.priors.ranges import maximum_range
from dpviz.priors.releases import CALIBRATED
from dpviz.types import FloatArray

Axis = Literal["epsilon", "delta", "m", "n"]
AXES: tuple[Axis, ...] = ("delta", "epsilon", "m", "n")
POINTS, SEVERAL, FEW = 25, 11, 6
"""Points of a curve; fewer of them from 10,000 rows on, and from 50,000."""

LIMITS: dict[Axis, tuple[float, float]] = {
    "epsilon": (1e-4, 50.0),
    "delta": (1e-300, 0.5),
    "m": (1, LARGEST),
    "n": (1, LARGEST),
}
SPAN: dict[Axis, tuple[float, float]] = {"epsilon": (30.0, 15.0), "m": (100.0, 10.0), "n": (100.0, 10.0)}
"""How many times below and above the chosen value a curve reaches."""

PRINTED_PRIORS: tuple[str, ...] = ("6.10", "6.12", "6.13", "6.5", "6.21", "6.22")
PRINTED_RANGES: tuple[str, ...] = ("7.7", "7.8", "7.13", "7.15", "7.16")
"""Printed bounds that have a number at every m; those on a single row are left to the table."""


@dataclass(frozen=True, kw_only=True)
class Curve:
    """One curve of `prior_curves`.

    Parameters
    ----------
    method
        The method.
    kind
        ``exact``: at the promised δ. ``pure``: δ = 0. ``printed``: a bound of the thesis, whose number is `theorem`.
    values
        The prior or range at each point of the axis; NaN where there is none, which is drawn as a gap.
    theorem
        Name of the printed bound, otherwise empty.
    """

    method: str
    kind: Literal["exact", "pure", "printed"]
    values: FloatArray
    theorem: str = ""


@dataclass(frozen=True, kw_only=True)
class Curves:
    """What is needed along one axis, all else as in `setting`.

    Parameters
    ----------
    family, setting
        What was asked.
    axis
        The quantity that varies.
    points
        Its values, increasing; the chosen one is among them.
    lines
        The curves.
    """

    family: str
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

    Parameters
    ----------
    family
        ``"bernoulli"``, ``"categorical"`` or ``"gaussian"``.
    setting
        The promise and the sizes.
    axis
        What varies: ``"epsilon"``, ``"delta"``, ``"m"`` or ``"n"``.
    m_is_n
        Whether m moves with n on the axis n.

    Returns
    -------
    Curves
        Each exact value is one of `minimum_prior` or `maximum_range`.

    Examples
    --------
    >>> setting = Setting(n=10, m=10, epsilon=1.0)
    >>> curves = prior_curves("bernoulli", setting, "epsilon")
    >>> one = next(line for line in curves.lines if line.method == "synth_post_one" and line.kind == "pure")
    >>> round(curves.at_chosen(one), 6)  # 10 / (e − 1)
    5.819767
    """
    points = axis_points(axis, float(getattr(setting, axis)), _point_count(setting))
    settings = [_moved(setting, axis, float(point), m_is_n) for point in points]
    printed = PRINTED_RANGES if family == "gaussian" else PRINTED_PRIORS
    lines: list[Curve] = []
    for pure in (False, True):
        if pure or axis == "delta" or setting.delta > 0:
            found = {
                method: _along(family, method, settings, pure=pure) for method in CALIBRATED if method != "synth_map"
            }
            # For counts the mode is the mean with one pseudo-row less in each cell.
            many = found["synth_post_many"] + 1
            found["synth_map"] = _along(family, "synth_map", settings, pure=pure) if family == "gaussian" else many
            lines += [Curve(method=one, kind="pure" if pure else "exact", values=found[one]) for one in CALIBRATED]
    for number in printed:
        bound = PRINTED[number]
        if bound.family == family and (bound.promise == "pure" or axis == "delta" or setting.delta > 0):
            values = np.array([_printed(number, one) for one in settings])
            lines += [
                Curve(method=method, kind="printed", values=values, theorem=bound.name) for method in bound.methods
            ]
    return Curves(family=family, setting=setting, axis=axis, points=points, lines=tuple(lines))


def _point_count(setting: Setting) -> int:
    rows = max(setting.n, setting.m)
    return POINTS if rows < 10_000 else SEVERAL if rows < 50_000 else FEW


def axis_points(axis: Axis, chosen: float, count: int = POINTS) -> FloatArray:
    """Points of an axis in equal ratios around the chosen one, which is among them; whole where rows are counted."""
    low, high = LIMITS[axis]
    if axis == "delta":
        start, stop = min(1e-12, max(low, chosen / 1e3)) if chosen > 0 else 1e-12, max(0.1, chosen)
    else:
        below, above = SPAN[axis]
        start, stop = max(low, chosen / below), min(high, max(chosen * above, 10 * low))
    points = np.geomspace(start, stop, count)
    if axis in ("m", "n"):
        points = np.rint(points)
    if chosen > 0:
        points = np.append(points, chosen)
    return np.unique(points)


def _moved(setting: Setting, axis: Axis, point: float, m_is_n: bool) -> Setting:
    changes: dict[str, float] = {axis: point}
    if axis == "n" and m_is_n:
        changes["m"] = point
    return dataclasses.replace(setting, **changes)  # type: ignore[arg-type]


def _along(family: str, method: str, settings: list[Setting], *, pure: bool) -> FloatArray:
    """One method along the axis, each answer the guess for the next; what no prior gives is a gap."""
    values, near = np.full(len(settings), np.nan), None
    for place, setting in enumerate(settings):
        try:
            value = need(family, setting, method, 0.0 if pure else setting.delta, near)
        except ValueError:  # beyond what the exact answer reaches: a gap
            continue
        if math.isfinite(value):
            values[place] = near = value
    return values


def need(family: str, setting: Setting, method: str, delta: float, near: float | None = None) -> float:
    """`minimum_prior`, or `maximum_range` for the Gaussian family, at a setting and its own δ.

    Parameters
    ----------
    family, setting
        As in `prior_curves`.
    method
        The method.
    delta
        The allowed δ, in place of the setting's.
    near
        A guess of the prior.

    Examples
    --------
    >>> round(need("bernoulli", Setting(n=10, m=10, epsilon=1.0), "synth_post_one", 0.0), 6)
    5.819767
    """
    if family == "gaussian":
        return maximum_range(
            method, n=setting.n, m=setting.m, sigma=setting.sigma, sigma0=setting.sigma0, epsilon=setting.epsilon,
            delta=delta,
        )  # fmt: skip
    cells = setting.cells if family == "categorical" else 2
    return minimum_prior(method, n=setting.n, m=setting.m, epsilon=setting.epsilon, delta=delta, cells=cells, near=near)


def _printed(number: str, setting: Setting) -> float:
    bound = PRINTED[number]
    values = setting.arguments()
    if bound.promise != "pure" and setting.delta == 0:
        return math.nan
    value = bound.at(**values) if bound.applies(**values) else math.nan
    return value if math.isfinite(value) and value > 0 else math.nan
