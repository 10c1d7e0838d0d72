"""Several curves over one axis: exact as lines, printed dashed, limits and promises as thin rules."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any, Literal

import numpy as np
import plotly.graph_objects as go

from dpviz.charts.style import SIMULATED, axis, build, color_of, label, log_ticks, rule
from dpviz.checked import checked
from dpviz.parameters import readable
from dpviz.types import FloatArray

__all__ = ["Dots", "Line", "Mark", "Rule", "Scale", "lines_chart"]

DASHES = {"exact": "solid", "printed": "dash", "bound": "dashdot", "pure": "dot"}


@dataclass(frozen=True, kw_only=True)
class Line:
    """One curve.

    Parameters
    ----------
    name
        Its entry in the legend.
    color
        Key of a law, see `color_of`.
    x, y
        Its points; NaN leaves a gap.
    kind
        ``exact``, ``printed`` by a paper, a general ``bound``, or ``pure`` ε.
    """

    name: str
    color: str
    x: FloatArray
    y: FloatArray
    kind: Literal["exact", "printed", "bound", "pure"] = "exact"


@dataclass(frozen=True, kw_only=True)
class Scale:
    """One axis of `lines_chart`: its title, whether it is logarithmic, and where it ends."""

    title: str
    log: bool = False
    low: float | None = None
    high: float | None = None
    percent: bool = False


@dataclass(frozen=True, kw_only=True)
class Mark:
    """A point with its number written beside it."""

    x: float
    y: float
    color: str
    text: str = ""
    name: str = ""


@dataclass(frozen=True, kw_only=True)
class Dots:
    """Simulated values with their error bars.

    Parameters
    ----------
    name
        Entry in the legend.
    x, y, error
        The points, and half the length of each bar.
    """

    name: str
    x: FloatArray
    y: FloatArray
    error: FloatArray


@dataclass(frozen=True, kw_only=True)
class Rule:
    """A thin line across the picture at `x` or at `y`, with a few words."""

    text: str
    x: float | None = None
    y: float | None = None
    shapes: tuple[str, ...] = field(default=("solid",))


@checked()
def lines_chart(
    lines: Sequence[Line],
    x: Scale,
    y: Scale,
    *,
    key: str,
    marks: Sequence[Mark] = (),
    rules: Sequence[Rule] = (),
    dots: Sequence[Dots] = (),
) -> go.Figure:
    """The curves on one picture; `key` names it, so that a zoom survives new numbers but not a new question."""
    if not lines and not dots:
        raise ValueError("lines or dots must hold something to draw; got neither.")
    all_x = np.concatenate([*(line.x for line in lines), *(one.x for one in dots)])
    all_y = np.concatenate([*(line.y for line in lines), *(one.y + one.error for one in dots)])
    x_axis, x_ends = _axis(x, all_x)
    y_axis, y_ends = _axis(y, all_y)
    inside = [one for one in rules if _inside(one, x_ends, y_ends)]
    return build(
        [_trace(line) for line in lines]
        + [_dots(one) for one in dots]
        + [_mark(mark) for mark in marks if math.isfinite(mark.y) and mark.y > 0],
        x=x_axis,
        y=y_axis,
        uirevision=key,
        shapes=[rule(x=one.x, y=one.y, dash=one.shapes[0]) for one in inside],
        annotations=[_words(one, x.log, y.log) for one in inside],
        legend={"orientation": "h", "yanchor": "top", "y": -0.24, "x": 0, "font": {"size": 12}},
        # On a telephone each entry of the legend has a row of its own.
        margin={"l": 74, "r": 18, "t": 26, "b": 112 + 20 * max(0, len(lines) + len(dots) - 4)},
        hovermode="closest",
        showlegend=True,
    )


def _trace(line: Line) -> dict[str, Any]:
    return {
        "type": "scatter",
        "x": line.x,
        "y": np.where(line.y > 0, line.y, np.nan),
        "mode": "lines",
        "line": {
            "color": color_of(line.color),
            "width": 2.6 if line.kind == "exact" else 1.8,
            "dash": DASHES[line.kind],
        },
        "name": line.name,
        "hovertemplate": "%{x:.5g}: %{y:.6g}<extra>" + line.name + "</extra>",
    }


def _dots(one: Dots) -> dict[str, Any]:
    return {
        "type": "scatter",
        "x": one.x,
        "y": one.y,
        "mode": "markers",
        "marker": {"size": 6, "color": SIMULATED},
        "error_y": {"type": "data", "array": one.error, "color": SIMULATED, "thickness": 1.5, "width": 3},
        "name": one.name,
        "hovertemplate": "%{x:.5g}: %{y:.5g} ± %{error_y.array:.2g}<extra>" + one.name + "</extra>",
    }


def _mark(mark: Mark) -> dict[str, Any]:
    return {
        "type": "scatter",
        "x": [mark.x],
        "y": [mark.y],
        "mode": "markers+text",
        "text": [f"<b>{mark.text}</b>" if mark.text else ""],
        "textposition": "top right",
        "marker": {"size": 10, "color": color_of(mark.color), "line": {"width": 2, "color": "#fff"}},
        "cliponaxis": False,
        "showlegend": False,
        "hovertemplate": f"your point: {readable(mark.y)}<extra>{mark.name}</extra>",
    }


def _words(one: Rule, log_x: bool, log_y: bool) -> dict[str, Any]:
    if one.x is not None:
        place = math.log10(one.x) if log_x else one.x
        return label(one.text, x=place, y=1, yref="y domain", xanchor="left", yanchor="top")
    place = math.log10(one.y or 1.0) if log_y else one.y or 0.0
    return label(one.text, x=0.005, xref="x domain", y=place, xanchor="left", yanchor="bottom")


def _inside(one: Rule, x_ends: tuple[float, float], y_ends: tuple[float, float]) -> bool:
    if one.x is not None:
        return x_ends[0] <= one.x <= x_ends[1]
    return one.y is not None and y_ends[0] <= one.y <= y_ends[1]


def _axis(scale: Scale, values: FloatArray) -> tuple[dict[str, Any], tuple[float, float]]:
    shown = values[np.isfinite(values) & ((values > 0) | (not scale.log))]
    low = scale.low if scale.low is not None else float(shown.min()) if len(shown) else 0.1
    high = scale.high if scale.high is not None else float(shown.max()) if len(shown) else 1.0
    if not scale.log:
        pad = 0.03 * (high - low) or 1.0
        shown_as = {"tickformat": ".0%"} if scale.percent else {}
        return axis(scale.title, range=[low - pad if scale.low is None else low, high + pad], **shown_as), (low, high)
    high = max(high, low * 1.5)
    ends = math.log10(low), math.log10(high)
    exponents, texts = log_ticks(math.floor(ends[0]), math.ceil(ends[1]))
    pad = 0.03 * (ends[1] - ends[0])
    more = {} if ends[1] - ends[0] < 1.2 else {"tickvals": [10.0**one for one in exponents], "ticktext": texts}
    return axis(scale.title, type="log", range=[ends[0] - pad, ends[1] + pad], **more), (low, high)
