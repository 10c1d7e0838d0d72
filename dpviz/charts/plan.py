"""A plan as a picture: which part of the promise each statistic takes, and how much of its limit its error uses."""

import dataclasses
import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from dpviz.charts import style
from dpviz.core.types import BoolArray, FloatArray

PLAN_ROW, AROUND_PLAN = 34, 158  # Pixels of a statistic, and of what stands around all of them
PART_ROOM, USED_ROOM = (0.0, 0.46), (0.54, 1.0)  # Shares of the width that both halves have
SHORTEST_AXIS, LONGEST_AXIS = 1.25, 3.0  # Ends of an axis of shares: what is beyond the second stands at the edge
AXIS_TICKS = ((0.0, 0.5, 1.0), (0.0, 1.0, 2.0), (0.0, 1.0, 3.0))  # Of a half, few enough for a phone
RANGE_COLORS, RANGE_SYMBOLS = ("blue", "green", "pink"), ("circle", "square", "diamond")
SMALLEST_DRAWN = 1e-4  # Of a factor, and its inverse the largest: what is beyond is in the table
PLAN_HEADROOM = 1.04  # How much longer the axis is, so that a mark at its end is whole


@dataclass(frozen=True, kw_only=True)
class PlanLine:
    """A line of the picture: a statistic, or all of them together, whose errors are NaN.

    `part` is the share of the promise, `basic_part` that by basic composition, NaN where it is the same thing; `used`
    and `basic_used` are shares of the limit on the error.
    """

    name: str
    part: float
    basic_part: float
    used: float
    basic_used: float


def plan_height(lines: int) -> int:
    """Return the pixels of a picture of so many lines."""
    return AROUND_PLAN + PLAN_ROW * lines


def plan_chart(lines: Sequence[PlanLine], *, promised: str) -> style.Figure:
    """Return bars of the promise beside dots of the errors, a line for each statistic from the top down.

    Thin rules stand at the whole promise, `promised`, and at the limits: right of them it is broken. What basic
    composition says is a hollow mark.
    """
    names = [one.name for one in lines]
    part, basic_part, used, basic_used = np.array([dataclasses.astuple(one)[1:] for one in lines], float).T
    parts_end, used_end = _end(part, basic_part), _end(used, basic_used)
    bars = {
        "type": "bar",
        "orientation": "h",
        "x": np.minimum(part, parts_end),
        "y": np.arange(len(lines)),
        "width": 0.5,
        "marker": {"color": style.EXACT_COLOR, "line": {"color": style.GREY, "width": 1}},
        "customdata": names,
        "text": [_share(one) for one in part],
        "textposition": "none",
        "name": "promise used",
        "hovertemplate": f"<b>%{{customdata}}</b><br>%{{text}} of {promised}<extra></extra>",
    }

    def dots(values: FloatArray, among: BoolArray, end: float, said: str, **look: Any) -> dict[str, Any]:
        rows = np.flatnonzero(among & np.isfinite(values))
        return style.scatter(
            "markers",
            np.minimum(values[rows], end),
            rows,
            f"<b>%{{customdata}}</b><br>{said}<extra></extra>",
            text=[_share(values[row]) for row in rows],
            customdata=[names[row] for row in rows],
            cliponaxis=False,
            showlegend=bool(len(rows)),
            **look,
        )

    every, broken = np.ones(len(lines), bool), used > 1
    kept_dot = style.dot_marker(11, style.EXACT_COLOR)
    broken_dot = style.dot_marker(12, style.FAILED_COLOR, edge=style.TRUTH_COLOR, symbol="diamond")
    ring: dict[str, Any] = {
        "marker": style.dot_marker(13, style.GREY, width=3, edge=style.GREY, symbol="circle-open"),
        "name": "basic composition",
        "legendgroup": "basic",
    }
    exact = "error: %{text} of its limit"
    traces = [
        bars,
        dots(used, ~broken, used_end, exact, marker=kept_dot, name="limit used", xaxis="x2"),
        dots(used, broken, used_end, exact, marker=broken_dot, name="limit broken", xaxis="x2"),
        dots(basic_part, every, parts_end, f"basic composition: %{{text}} of {promised}", **ring),
        dots(basic_used, every, used_end, "error by basic composition: %{text} of its limit", **ring, xaxis="x2"),
    ]
    if traces[-2]["showlegend"]:
        traces[-1]["showlegend"] = False
    shapes = [style.rule(x=1.0), style.rule(x=1.0) | {"xref": "x2"}]
    if math.isnan(used[-1]):
        shapes.append(style.rule(y=len(lines) - 1.5) | {"xref": "paper"})
    words = (("x", f" {promised}", "left"), ("x2", "kept ", "right"), ("x2", " broken", "left"))
    return style.build(
        traces,
        x=_axis("promise used", PART_ROOM, parts_end),
        y=style.axis_of_rows(names, automargin=True),
        uirevision=f"plan {len(lines)}",
        xaxis2=_axis("limit used", USED_ROOM, used_end) | {"anchor": "y"},
        shapes=shapes,
        annotations=[style.label_upright(said, 1.0, side=side) | {"xref": axis} for axis, said, side in words],
        **style.legend_below(0, 16, 16, 48, 104, yref="container", yanchor="bottom"),
    )


def _axis(title: str, room: tuple[float, float], end: float) -> dict[str, Any]:
    ticks = next(one for one in AXIS_TICKS if end <= one[-1] * SHORTEST_AXIS or one is AXIS_TICKS[-1])
    texts = [f"{'≥ ' * (one == end == LONGEST_AXIS)}{one:.0%}" for one in ticks]
    said = {"tickvals": ticks, "ticktext": texts, "tickangle": 0}
    return style.axis(title, domain=room, range=[0, PLAN_HEADROOM * end], zeroline=False, **said)


def _end(*values: FloatArray) -> float:
    """The end of an axis on which these shares stand."""
    every = np.concatenate(values)
    largest = float(np.max(every[np.isfinite(every)], initial=0.0))
    return min(max(SHORTEST_AXIS, 1.1 * largest), LONGEST_AXIS)


def _share(value: float) -> str:
    return f"{100 * value:.3g} %" if value < 10 else f"{value:.3g} times"


def factors_chart(epsilons: Sequence[float], factors: Sequence[float], *, chosen: float) -> style.Figure:
    """Return how large all errors must be, as a factor of their limits, at each ε; `chosen` has a mark."""
    x, y = np.array(epsilons), np.array(factors)
    there = np.isfinite(y)
    x, y = x[there], y[there]
    hover = "ε = %{x:.4g}: %{y:.4g} times the limits<extra></extra>"
    traces = [style.scatter("lines", x, y, hover, line={"color": style.EXACT_COLOR, "width": 2.6}, showlegend=False)]
    at = np.flatnonzero(x == chosen)
    if len(at):
        value = float(y[at[0]])
        ring = style.dot_marker(13, style.EXACT_COLOR, width=3, edge=style.EXACT_COLOR, symbol="circle-open")
        words = [f"<b>{value:.3g}</b>"]
        traces.append(style.mark(chosen, value, hover, text=words, textposition="top right", marker=ring))
    low, high = np.log10([min([*y, 1.0]) / 1.3, max([*y, 1.0]) * 1.3])
    return style.build(
        traces,
        x=style.axis("ε of the promise, left is more private", **style.log_scale(*np.log10([x[0] / 1.1, x[-1] * 1.1]))),
        y=style.axis("errors, times their limits", **style.log_scale(float(low), float(high))),
        uirevision=f"factors {chosen}",
        shapes=[style.rule(y=1.0)],
        annotations=[style.label_across("all limits hold below this line", 0.0, x=0.995, side="right", edge="top")],
        margin={"l": 70, "r": 16, "t": 30, "b": 52},
    )


@dataclass(frozen=True, kw_only=True)
class RangeLine:
    """An assumption that is so many `times` as wide: the errors that the promise allows, and what the limits need."""

    name: str
    times: tuple[float, ...]
    factors: tuple[float, ...]
    needed: tuple[float, ...]


def ranges_chart(lines: Sequence[RangeLine], *, promised: str) -> style.Figure:
    """Return errors as a factor of their limits, solid, and the needed share of the promise, dashed, for each line.

    Both pass the rule at 1 at the same place, right of which not all limits hold.
    """
    traces: list[dict[str, Any]] = []
    for one, color, symbol in zip(lines, RANGE_COLORS, RANGE_SYMBOLS, strict=False):
        for values, dash, said, shown in (
            (one.factors, "solid", "errors %{y:.4g} times their limits", True),
            (one.needed, "dash", f"the limits need %{{y:.4g}} times {promised}", False),
        ):
            x, y = _drawable(one.times, values)
            traces.append(
                style.scatter(
                    "lines+markers",
                    x,
                    y,
                    f"<b>{one.name}, %{{x:.3g}} times</b><br>{said}<extra></extra>",
                    name=one.name,
                    legendgroup=one.name,
                    showlegend=shown,
                    line={"color": style.PALETTE[color], "width": 2.6 if shown else 1.7, "dash": dash},
                    marker=style.dot_marker(8, style.PALETTE[color], symbol=symbol),
                )
            )
    ends = [1.0, *(float(one) for trace in traces for one in trace["y"])]
    low, high = math.log10(max(min(ends), SMALLEST_DRAWN) / 1.3), math.log10(min(max(ends), 1 / SMALLEST_DRAWN) * 1.3)
    ticks = sorted({one for line in lines for one in line.times})
    return style.build(
        traces,
        x=style.axis("times as wide as assumed", **style.log_scale(-0.68, 0.68))
        | {"tickvals": ticks, "ticktext": [f"{one:.3g}" for one in ticks]},
        y=style.axis("errors (need: dashed)", **style.log_scale(low, high)),
        uirevision="ranges",
        shapes=[style.rule(y=1.0), style.rule(x=1.0)],
        annotations=[style.label_across("all limits hold below this line", 0.0, x=0.005, side="left", edge="top")],
        **style.legend_below(0, 70, 16, 30, 104, yref="container", yanchor="bottom"),
    )


def composition_chart(
    exact: tuple[Sequence[float], Sequence[float]],
    basic: tuple[Sequence[float], Sequence[float]],
    promise: tuple[float, float],
) -> style.Figure:
    """Return δ against ε of all statistics together: composed exactly as a line, by adding up as hollow marks.

    Thin rules stand at the `promise`, where it has an ε and a δ.
    """
    hover = "ε = %{x:.4g}: δ = %{y:.3g}<extra></extra>"
    (x, y), (basic_x, basic_y) = _drawable(*exact), _drawable(*basic)
    line = {"color": style.EXACT_COLOR, "width": 2.6}
    dashed = {"color": style.GREY, "width": 1.5, "dash": "dash"}
    ring = style.dot_marker(10, style.GREY, width=2, edge=style.GREY, symbol="circle-open")
    traces = [
        style.scatter("lines", x, y, hover, name="exact composition", line=line),
        style.scatter("lines+markers", basic_x, basic_y, hover, name="basic composition", line=dashed, marker=ring),
    ]
    epsilon, delta = promise
    ends = [float(one) for trace in traces for one in trace["x"]]
    shapes = [style.rule(x=epsilon)] if 0 < epsilon < math.inf else []
    shapes += [style.rule(y=delta)] if delta else []
    return style.build(
        traces,
        x=style.axis("ε of all statistics together", range=[0, 1.05 * max([*ends, 1e-9])]),
        y=style.axis("δ", **style.log_scale(-9.3, 0.1)),
        uirevision="composed",
        shapes=shapes,
        annotations=[style.label_upright(" promised", epsilon)] if 0 < epsilon < math.inf else [],
    )


def _drawable(x: Sequence[float], y: Sequence[float]) -> FloatArray:
    """Places of a curve that a logarithmic axis has."""
    values = np.array([x, y], float)
    return values[:, np.isfinite(values).all(axis=0) & (values[1] > 0)]
