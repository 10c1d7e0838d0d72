"""Several curves over one axis: exact as lines, printed dashed, limits and promises as thin rules."""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from dpviz.charts import style
from dpviz.charts.style import EXACT_LINE, Stroke, log_scale
from dpviz.core.formatting import format_number
from dpviz.core.types import FloatArray

RULE_LABEL_SHARE = 0.05  # Share of the picture's height that the words of a rule need

__all__ = ["Dots", "DrawnLine", "DrawnScale", "Mark", "Rule", "lines_chart"]


@dataclass(frozen=True, kw_only=True)
class DrawnLine:
    """One curve, NaN a gap: its entry in the legend, its key for `color_of`, and how it is drawn.

    Below a `floor` there is nothing: it is a thin line above a grey area.
    """

    name: str
    x: FloatArray
    y: FloatArray
    color: str = "original"
    stroke: Stroke = EXACT_LINE
    floor: bool = False


@dataclass(frozen=True, kw_only=True)
class DrawnScale:
    """One axis of a picture: its title, whether it is logarithmic or of shares, where it ends, and what is promised."""

    title: str
    log: bool = False
    low: float | None = None
    high: float | None = None
    percent: bool = False
    nominal: float | None = None


@dataclass(frozen=True, kw_only=True)
class Mark:
    """A point with its number written beside it, at that `place` of it."""

    x: float
    y: float
    color: str
    text: str = ""
    name: str = ""
    place: str = "top right"


@dataclass(frozen=True, kw_only=True)
class Dots:
    """Simulated values with their error bars, `error` to both sides."""

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
    dash: str = "solid"


def lines_chart(
    lines: Sequence[DrawnLine],
    x: DrawnScale,
    y: DrawnScale,
    *,
    key: str,
    marks: Sequence[Mark] = (),
    rules: Sequence[Rule] = (),
    dots: Sequence[Dots] = (),
) -> style.Figure:
    """Return the curves on one picture; `key` names it, so that a zoom survives new numbers but not a new question."""
    if not lines and not dots:
        raise ValueError("lines or dots must hold something to draw; got neither.")
    all_x = np.concatenate([*(line.x for line in lines), *(one.x for one in dots)])
    all_y = np.concatenate([*(line.y for line in lines), *(one.y + one.error for one in dots)])
    x_axis, x_ends = _axis(x, all_x)
    y_axis, y_ends = _axis(y, all_y)
    drawn: list[DrawnLine | Dots] = [*lines, *dots]
    curves = [(_place(one.x, x), _place(one.y, y)) for one in drawn]
    inside = [one for one in rules if _within(one.x, x_ends) or _within(one.y, y_ends)]
    room = RULE_LABEL_SHARE * (y_axis["range"][1] - y_axis["range"][0])

    def words(one: Rule) -> dict[str, Any]:
        if one.x is not None:
            return style.label_upright(one.text, float(_place(np.array(one.x), x)), edge="top")
        return style.label_free(one.text, float(_place(np.array(one.y), y)), curves, x_axis["range"], room)

    marked = [_mark(one) for one in marks if math.isfinite(one.y) and one.y > 0]
    return style.build(
        [*map(_trace, lines), *map(_dots, dots), *marked],
        x=x_axis,
        y=y_axis,
        uirevision=key,
        shapes=[style.rule(x=one.x, y=one.y, dash=one.dash) for one in inside],
        annotations=[words(one) for one in inside],
        # On a telephone each entry of the legend has a row of its own.
        **style.legend_below(-0.24, 74, 18, 26, 112 + 20 * max(0, len(lines) + len(dots) - 4)),
        showlegend=True,
    )


def _trace(line: DrawnLine) -> dict[str, Any]:
    drawn = {"color": style.color_of(line.color), "width": line.stroke.width, "dash": line.stroke.dash}
    hover = f"%{{x:.5g}}: %{{y:.6g}}<extra>{line.name}</extra>"
    if line.floor:
        return style.limit(line.x, line.y, hover, line.name)
    return style.scatter("lines", line.x, np.where(line.y > 0, line.y, np.nan), hover, line=drawn, name=line.name)


def _dots(one: Dots) -> dict[str, Any]:
    bar = style.error_bar(one.error, style.SIMULATED_COLOR)
    hover = f"%{{x:.5g}}: %{{y:.5g}} ± %{{error_y.array:.2g}}<extra>{one.name}</extra>"
    marker = {"size": 6, "color": style.SIMULATED_COLOR}
    return style.scatter("markers", one.x, one.y, hover, marker=marker, error_y=bar, name=one.name)


def _mark(one: Mark) -> dict[str, Any]:
    hover = f"your point: {format_number(one.y)}<extra>{one.name}</extra>"
    text = [f"<b>{one.text}</b>" if one.text else ""]
    return style.mark(
        one.x, one.y, hover, text=text, textposition=one.place, marker=style.dot_marker(10, style.color_of(one.color))
    )


def _place(values: FloatArray, scale: DrawnScale) -> FloatArray:
    """Where values stand on an axis: at their exponents of ten if it is logarithmic."""
    if not scale.log:
        return values
    return np.log10(values, where=values > 0, out=np.full(values.shape, np.nan))


def _within(place: float | None, ends: tuple[float, float]) -> bool:
    return place is not None and ends[0] <= place <= ends[1]


def _axis(scale: DrawnScale, values: FloatArray) -> tuple[dict[str, Any], tuple[float, float]]:
    shown = values[np.isfinite(values) & ((values > 0) | (not scale.log))]
    low = scale.low if scale.low is not None else float(np.min(shown)) if len(shown) else 0.1
    high = scale.high if scale.high is not None else float(np.max(shown)) if len(shown) else 1.0
    if not scale.log:
        pad, look = 0.03 * (high - low) or 1.0, {"tickformat": ".0%"} if scale.percent else {}
        ends = low - pad if scale.low is None else low, high + pad
        return style.axis(scale.title, range=list(ends), **look), (low, high)
    high = max(high, low * 1.5)
    pad = 0.03 * (math.log10(high) - math.log10(low))
    return style.axis(scale.title, **log_scale(math.log10(low) - pad, math.log10(high) + pad)), (low, high)
