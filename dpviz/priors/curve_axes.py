"""The axes along which needed priors are drawn: which points, and the setting at each of them."""

from __future__ import annotations

import dataclasses
from typing import Literal

import numpy as np

from dpviz import limits
from dpviz.priors.setting import Setting
from dpviz.types import FloatArray

Axis = Literal["epsilon", "delta", "m", "n"]
AXES: tuple[Axis, ...] = ("delta", "epsilon", "m", "n")
POINTS, SEVERAL, FEW = 25, 13, 9
"""Points of a curve; fewer of them from 10,000 rows on, and from 50,000."""

LIMITS: dict[Axis, tuple[float, float]] = {
    "epsilon": (1e-4, 50.0),
    "delta": (1e-300, 0.5),
    "m": (1, limits.PRIOR_ROWS),
    "n": (1, limits.PRIOR_ROWS),
}
SPAN: dict[Axis, tuple[float, float]] = {"epsilon": (30.0, 15.0), "m": (100.0, 10.0), "n": (100.0, 10.0)}
"""How many times below and above the chosen value a curve reaches."""


def point_count(setting: Setting) -> int:
    """How many points an axis has beside the chosen one: fewer where each of them takes longer."""
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


def moved(setting: Setting, axis: Axis, point: float, m_is_n: bool) -> Setting:
    """The setting at another point of an axis; m moves with n where `m_is_n`."""
    changes: dict[str, float] = {axis: point}
    if axis == "n" and m_is_n:
        changes["m"] = point
    return dataclasses.replace(setting, **changes)  # type: ignore[arg-type]
