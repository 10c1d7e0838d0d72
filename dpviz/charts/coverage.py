"""Coverage of intervals: exact lines, simulated dots with error bars, the first intervals one by one, the law of q̄."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import plotly.graph_objects as go

from dpviz.charts.style import RULE, RULE_DASHES, RULE_SYMBOLS, SIMULATED, axis, build, color_of, label, log_ticks, rule
from dpviz.parameters import readable
from dpviz.types import FloatArray, IntArray

MISSED, COVERING = "#D55E00", "#0072B2"
MOST_BARS = 240
"""Values of the estimate that are drawn one by one; of more, neighbours are put together, in line and bars alike."""

NO_INTERVAL = "line-ns-open"
"""The mark of a repetition without an interval."""

ENDLESS = 5.0
"""Half width from which an interval is drawn no longer: it leaves the picture at both ends."""

LABEL_GAP = 0.045
"""Share of the picture's height that a name at the end of a line needs."""


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
    color: str,
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
    color
        Key of the synthesizer, see `color_of`.
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
    traces = [_line(points, line, names[key], key, color) for key, line in values.items()]
    first = next(iter(marks), "")
    traces += [_mark(chosen, value, key, names[key], color, told=key == first) for key, value in marks.items()]
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
        y=axis("coverage", range=[-0.02, 1.04], tickformat=".0%"),
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
            *_ends(values, ends or {key: name.split(" (")[0] for key, name in names.items()}),
        ],
        legend={"orientation": "h", "yanchor": "top", "y": -0.24, "x": 0, "font": {"size": 12}, "itemwidth": 56},
        margin={"l": 62, "r": 98, "t": 26, "b": 112},
        hovermode="closest",
        showlegend=True,
    )


def _line(points: FloatArray, line: FloatArray, name: str, key: str, color: str) -> dict[str, Any]:
    return {
        "type": "scatter",
        "x": points,
        "y": line,
        "mode": "lines",
        "line": {"color": color_of(color), "width": 2.4, "dash": RULE_DASHES[key]},
        "name": name,
        "legendgroup": key,
        "connectgaps": False,
        "hovertemplate": f"<b>{name}</b>, exact<br>%{{x:.4g}}: %{{y:.5%}}<extra></extra>",
    }


def _mark(x: float, value: float, key: str, name: str, color: str, *, told: bool) -> dict[str, Any]:
    return {
        "type": "scatter",
        "x": [x],
        "y": [value],
        "mode": "markers+text" if told else "markers",
        "text": [f"<b>{readable(100 * value, 5)} %</b>"],
        "textposition": "bottom right" if value > 0.5 else "top right",
        "marker": {
            "size": 9,
            "color": color_of(color),
            "symbol": RULE_SYMBOLS[key],
            "line": {"width": 1, "color": "#fff"},
        },
        "showlegend": False,
        "cliponaxis": False,
        "legendgroup": key,
        "hovertemplate": f"<b>{name}</b>, exact, your point<br>{readable(100 * value, 7)} %<extra></extra>",
    }


def _marker(size: int, color: str, key: str, edge: str) -> dict[str, Any]:
    return {"size": size, "color": color, "symbol": RULE_SYMBOLS[key], "line": {"width": 1, "color": edge}}


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
        "showlegend": False,
        "hovertemplate": f"{one.words}<extra></extra>",
    }


def _ends(values: Mapping[str, FloatArray], names: Mapping[str, str]) -> list[dict[str, Any]]:
    """Each rule's name at the right end of its line, moved apart where they would overlap, all inside the picture."""
    last = {key: line[np.isfinite(line)] for key, line in values.items()}
    wanted = sorted((float(line[-1]), key) for key, line in last.items() if len(line))
    heights = [height for height, _ in wanted]
    for place in range(1, len(heights)):
        heights[place] = max(heights[place], heights[place - 1] + LABEL_GAP)
    ceiling = 1.02
    for place in range(len(heights) - 1, -1, -1):  # those that were pushed out at the top push the ones below them
        heights[place] = min(heights[place], ceiling)
        ceiling = heights[place] - LABEL_GAP
    return [
        label(names[key], x=1.006, xref="x domain", y=height, xanchor="left", yanchor="middle")
        for height, (_, key) in zip(heights, wanted, strict=True)
    ]


def caterpillar_chart(estimates: FloatArray, half_widths: FloatArray, covered: np.ndarray, *, p: float) -> go.Figure:
    """The first intervals of a run, one line each, those that miss the true proportion in another colour and mark.

    Parameters
    ----------
    estimates, half_widths
        q̄ and half the width of each interval; NaN where there is no interval.
    covered
        Whether each covers `p`.
    p
        The true proportion.
    """
    order, without = np.arange(1, len(estimates) + 1), np.isnan(half_widths)
    reach = np.where(without, 0.0, np.clip(half_widths, None, ENDLESS))
    kinds = [
        (covered & ~without, COVERING, "circle", "covers the truth"),
        (~covered & ~without, MISSED, "x", "misses it"),
        (without, str(RULE["color"]), NO_INTERVAL, "no interval"),
    ]
    traces = [_intervals(estimates, reach, order, *kind) for kind in kinds if np.any(kind[0])]
    low = min(float(np.min(estimates - reach, initial=p)), p)
    high = max(float(np.max(estimates + reach, initial=p)), p)
    low, high = max(low, -0.25), min(high, 1.25)
    pad = 0.03 * (high - low) or 0.01
    return build(
        traces,
        x=axis("proportion", range=[low - pad, high + pad]),
        y=axis("repetition", range=[101, 0]),
        uirevision="caterpillar",
        shapes=[rule(x=p)],
        annotations=[label(f"true p = {readable(p, 4)}", x=p, y=1, yref="y domain", xanchor="left", yanchor="bottom")],
        legend={"orientation": "h", "yanchor": "top", "y": -0.12, "x": 0, "font": {"size": 12}},
        margin={"l": 56, "r": 16, "t": 30, "b": 84},
        hovermode="closest",
    )


def _intervals(
    estimates: FloatArray,
    half_widths: FloatArray,
    order: IntArray,
    chosen: np.ndarray,
    color: str,
    symbol: str,
    words: str,
) -> dict[str, Any]:
    told = [
        f"q̄ = {estimate:.4f}" + ("" if symbol == NO_INTERVAL else f" ± {half:.4f}" if half < ENDLESS else ", endless")
        for estimate, half in zip(estimates[chosen], half_widths[chosen], strict=True)
    ]
    return {
        "type": "scatter",
        "x": estimates[chosen],
        "y": order[chosen],
        "mode": "markers",
        "marker": {"size": 4.5, "color": color, "symbol": symbol},
        "error_x": {"type": "data", "array": half_widths[chosen], "color": color, "thickness": 1.4, "width": 0},
        "name": words,
        "customdata": told,
        "hovertemplate": f"repetition %{{y}}: %{{customdata}}<br>{words}<extra></extra>",
    }


def estimates_chart(
    support: FloatArray,
    probabilities: FloatArray,
    *,
    p: float,
    mean: float,
    color: str,
    counted: FloatArray | None = None,
) -> go.Figure:
    """The exact law of q̄ as a line, the simulated shares as dots, and the way from p to E[q̄].

    Parameters
    ----------
    support, probabilities
        Values of q̄ and their exact probabilities.
    p, mean
        The true proportion and the exact E[q̄].
    color
        Key of the synthesizer.
    counted
        Simulated share of each value; None before a run.
    """
    kept = np.flatnonzero(probabilities > 1e-9)
    if len(kept):
        inside = slice(int(kept[0]), int(kept[-1]) + 1)
        support, probabilities = support[inside], probabilities[inside]
        counted = None if counted is None else counted[inside]
    together = -(-len(support) // MOST_BARS)
    if together > 1:
        starts = np.arange(0, len(support), together)
        support = np.array([support[start : start + together].mean() for start in starts])
        probabilities = np.add.reduceat(probabilities, starts)
        counted = None if counted is None else np.add.reduceat(counted, starts)
    low, high = min(float(support[0]), p), max(float(support[-1]), p)
    pad = 0.04 * (high - low) or 0.02
    traces: list[dict[str, Any]] = [
        {
            "type": "scatter",
            "x": support,
            "y": probabilities,
            "mode": "lines",
            "line": {"color": color_of(color), "width": 2.4},
            "name": "exact law of q̄",
            "hovertemplate": "q̄ = %{x:.4f}: %{y:.4g}<extra></extra>",
        }
    ]
    if counted is not None:
        traces.append(
            {
                "type": "bar",
                "x": support,
                "y": counted,
                "marker": {"color": SIMULATED, "opacity": 0.75},
                "name": "simulated",
                "hovertemplate": "q̄ = %{x:.4f}: %{y:.4g} of the repetitions<extra></extra>",
            }
        )
    return build(
        traces[::-1],
        x=axis("q̄, the mean of the sets' proportions", range=[low - pad, high + pad]),
        y=axis("probability" if together == 1 else f"probability of {together} values", rangemode="tozero"),
        uirevision="estimates",
        shapes=[rule(x=p), rule(x=mean, dash="dot")],
        annotations=[
            label(f"p = {readable(p, 4)}", x=p, y=1, yref="y domain", xanchor="left", yanchor="bottom"),
            label(f"E[q̄] = {readable(mean, 4)}", x=mean, y=0.93, yref="y domain", xanchor="left", yanchor="bottom"),
        ],
        bargap=0.1,
        legend={"orientation": "h", "yanchor": "top", "y": -0.24, "x": 0, "font": {"size": 12}},
        margin={"l": 62, "r": 16, "t": 30, "b": 100},
        hovermode="closest",
        showlegend=True,
    )
