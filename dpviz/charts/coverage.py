"""Coverage of intervals: exact lines, simulated dots with error bars, the first intervals one by one, the law of q̄."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import plotly.graph_objects as go

from dpviz.charts.style import (
    RULE,
    RULE_COLORS,
    RULE_DASHES,
    RULE_SYMBOLS,
    SIMULATED,
    axis,
    build,
    label,
    log_ticks,
    rule,
)
from dpviz.parameters import readable
from dpviz.types import FloatArray

LABEL_GAP = 0.06
"""Share of the picture's height that a name at the end of a line needs."""


def picture_height(lines: int) -> int:
    """Pixels that a picture needs so that its legend, one line below the other on a telephone, leaves it room.

    Examples
    --------
    >>> picture_height(4), picture_height(6)
    (460, 508)
    """
    return 460 + 24 * max(0, lines - 4)


@dataclass(frozen=True, kw_only=True)
class Dot:
    """One simulated value with its error bar.

    Parameters
    ----------
    rule
        Key of the combining rule.
    y, low, high
        The value and the ends of its bar.
    words
        What the hover says of it.
    """

    rule: str
    y: float
    low: float
    high: float
    words: str


@dataclass(frozen=True, kw_only=True)
class Printed:
    """A published value, drawn hollow."""

    x: float
    y: float
    words: str


def coverage_chart(
    points: FloatArray,
    values: Mapping[str, FloatArray],
    *,
    names: Mapping[str, str],
    title: str,
    log: bool,
    level: float,
    chosen: float,
    marks: Mapping[str, float],
    dots: Sequence[Dot] = (),
    printed: Sequence[Printed] = (),
    ends: Mapping[str, str] | None = None,
    span: tuple[float, float] | None = None,
) -> go.Figure:
    """Coverage of each rule along an axis, the promised level as a thin rule, the chosen point with its number.

    Parameters
    ----------
    points, values
        The axis, and for each rule its exact coverage there; NaN leaves a gap.
    names
        The rules' names for readers, by key.
    title, log
        The axis's title, and whether it is logarithmic.
    level
        The nominal level.
    chosen, marks
        The reader's point on the axis, and each rule's exact coverage there.
    dots
        Simulated values at the chosen point.
    printed
        Published values.
    ends
        Short names for the ends of the lines; `names` without what stands in brackets where None.
    span
        Ends of the axis; those of the points where None.
    """
    traces = [exact_line(points, line, names[key], key) for key, line in values.items()]
    first = next(iter(marks), "")
    traces += [_mark(chosen, value, key, names[key], told=key == first, level=level) for key, value in marks.items()]
    traces += [_dot(chosen, dot, names[dot.rule]) for dot in dots]
    traces += [_printed(one) for one in printed]
    low, high = span or (float(points[0]), float(points[-1]))
    if low == high:
        low, high = low / 2, high * 2 or 1.0
    reach = (math.log10(low), math.log10(high)) if log else (low, high)
    more: dict[str, Any] = {"range": list(reach)}
    if log:
        exponents, texts = log_ticks(math.floor(reach[0]), math.ceil(reach[1]))
        more |= {"type": "log", "tickvals": [10.0**one for one in exponents], "ticktext": texts}
    return build(
        traces,
        x=axis(title, **more),
        y=axis("coverage", range=[-0.02, 1.08], tickformat=".0%"),
        uirevision=f"coverage {title}",
        shapes=[rule(y=level), rule(x=chosen)],
        annotations=[
            label(
                f"promised: {readable(100 * level, 8)} %",
                x=0.005,
                xref="x domain",
                y=level,
                yanchor="bottom",
                xanchor="left",
            ),
            *ends_of_lines(values, ends or {key: name.split(" (")[0] for key, name in names.items()}),
        ],
        legend={"orientation": "h", "yanchor": "top", "y": -0.24, "x": 0, "font": {"size": 12}, "itemwidth": 56},
        margin={"l": 62, "r": 98, "t": 26, "b": 112},
        hovermode="closest",
        showlegend=True,
    )


def exact_line(points: FloatArray, line: FloatArray, name: str, key: str, *, percent: bool = True) -> dict[str, Any]:
    """The exact line of one rule, in the colour and the dash of the rule."""
    value = "%{y:.5%}" if percent else "%{y:.5g}"
    return {
        "type": "scatter",
        "x": points,
        "y": line,
        "mode": "lines",
        "line": {"color": RULE_COLORS[key], "width": 2.4, "dash": RULE_DASHES[key]},
        "name": name,
        "meta": f"{name}, exact",
        "legendgroup": key,
        "connectgaps": False,
        "hovertemplate": f"<b>{name}</b>, exact<br>%{{x:.4g}}: {value}<extra></extra>",
    }


def _mark(x: float, value: float, key: str, name: str, *, told: bool, level: float) -> dict[str, Any]:
    return {
        "type": "scatter",
        "x": [x],
        "y": [value],
        "mode": "markers+text" if told else "markers",
        "text": [f"<b>{readable(100 * value, 5)} %</b>"],
        "textposition": "bottom right" if 0.5 < value < level else "top right",
        "marker": {
            "size": 9,
            "color": RULE_COLORS[key],
            "symbol": RULE_SYMBOLS[key],
            "line": {"width": 1, "color": "#fff"},
        },
        "showlegend": False,
        "cliponaxis": False,
        "legendgroup": key,
        "hovertemplate": f"<b>{name}</b>, exact, your point<br>{readable(100 * value, 7)} %<extra></extra>",
    }


def _dot(x: float, dot: Dot, name: str) -> dict[str, Any]:
    return {
        "type": "scatter",
        "x": [x],
        "y": [dot.y],
        "mode": "markers",
        "marker": {
            "size": 8,
            "color": SIMULATED,
            "symbol": RULE_SYMBOLS[dot.rule],
            "line": {"width": 1, "color": "#333"},
        },
        "error_y": {
            "type": "data",
            "symmetric": False,
            "array": [dot.high - dot.y],
            "arrayminus": [dot.y - dot.low],
            "color": SIMULATED,
            "thickness": 2,
            "width": 7,
        },
        "meta": f"{name}, simulated, 95 % error bar",
        "showlegend": False,
        "cliponaxis": False,
        "legendgroup": dot.rule,
        "hovertemplate": f"<b>{name}</b>, simulated<br>{dot.words}<extra></extra>",
    }


def _printed(one: Printed) -> dict[str, Any]:
    return {
        "type": "scatter",
        "x": [one.x],
        "y": [one.y],
        "mode": "markers",
        "marker": {"size": 11, "symbol": "circle-open", "color": RULE["color"], "line": {"width": 2}},
        "meta": one.words,
        "showlegend": False,
        "hovertemplate": f"{one.words}<extra></extra>",
    }


def ends_of_lines(
    values: Mapping[str, FloatArray], names: Mapping[str, str], *, gap: float = LABEL_GAP, ceiling: float = 1.02
) -> list[dict[str, Any]]:
    """Each rule's name at the right end of its line, moved apart where they would overlap, all inside the picture."""
    last = {key: line[np.isfinite(line)] for key, line in values.items()}
    wanted = sorted((float(line[-1]), key) for key, line in last.items() if len(line))
    heights = [height for height, _ in wanted]
    for place in range(1, len(heights)):
        heights[place] = max(heights[place], heights[place - 1] + gap)
    for place in range(len(heights) - 1, -1, -1):  # those that were pushed out at the top push the ones below them
        heights[place] = min(heights[place], ceiling)
        ceiling = heights[place] - gap
    return [
        label(names[key], x=1.006, xref="x domain", y=height, xanchor="left", yanchor="middle")
        for height, (_, key) in zip(heights, wanted, strict=True)
    ]
