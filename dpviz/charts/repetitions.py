"""Single repetitions of a simulation: the first intervals one by one, and the law of the estimate behind them."""

from __future__ import annotations

from typing import Any

import numpy as np
import plotly.graph_objects as go

from dpviz.charts.style import RULE, SIMULATED, axis, build, color_of, label, rule
from dpviz.parameters import readable
from dpviz.types import FloatArray, IntArray

MISSED, COVERING = "#D55E00", "#0072B2"

ENDLESS = 5.0
"""Half width from which an interval is drawn no longer: it leaves the picture at both ends."""

MOST_BARS = 240
"""Values of the estimate that are drawn one by one; of more, neighbours are put together, in line and bars alike."""

NO_INTERVAL = "line-ns-open"
"""The mark of a repetition without an interval."""


def caterpillar_chart(
    estimates: FloatArray, low: FloatArray, high: FloatArray, covered: np.ndarray, *, p: float
) -> go.Figure:
    """The first intervals of a run, one line each, those that miss the true proportion in another colour and mark.

    Parameters
    ----------
    estimates
        q̄ of each release: where a mark without an interval stands, and what the hover says.
    low, high
        Ends of each interval, infinite where it has none; NaN where there is no interval.
    covered
        Whether each covers `p`.
    p
        The true proportion.
    """
    order, without = np.arange(1, len(estimates) + 1), np.isnan(low)
    left = np.where(without, estimates, np.maximum(low, estimates - ENDLESS))
    right = np.where(without, estimates, np.minimum(high, estimates + ENDLESS))
    kinds = [
        (covered & ~without, COVERING, "circle", "covers the truth"),
        (~covered & ~without, MISSED, "x", "misses it"),
        (without, str(RULE["color"]), NO_INTERVAL, "no interval"),
    ]
    traces = [_intervals(estimates, left, right, order, *kind) for kind in kinds if np.any(kind[0])]
    lowest, highest = float(np.min(left, initial=p)), float(np.max(right, initial=p))
    lowest, highest = max(lowest, -0.25), min(highest, 1.25)
    pad = 0.03 * (highest - lowest) or 0.01
    return build(
        traces,
        x=axis("proportion", range=[lowest - pad, highest + pad]),
        y=axis("repetition", range=[101, 0]),
        uirevision="caterpillar",
        shapes=[{**rule(x=p), "layer": "above"}],
        annotations=[label(f"true p = {readable(p, 4)}", x=p, y=1, yref="y domain", xanchor="left", yanchor="bottom")],
        legend={"orientation": "h", "yanchor": "top", "y": -0.12, "x": 0, "font": {"size": 12}},
        margin={"l": 56, "r": 16, "t": 30, "b": 84},
        hovermode="closest",
    )


def _intervals(
    estimates: FloatArray,
    low: FloatArray,
    high: FloatArray,
    order: IntArray,
    chosen: np.ndarray,
    color: str,
    symbol: str,
    words: str,
) -> dict[str, Any]:
    """A mark in the middle of each interval, and the line from end to end."""
    told = [
        f"q̄ = {estimate:.4f}" + ("" if symbol == NO_INTERVAL else ", " + _told(left, right))
        for estimate, left, right in zip(estimates[chosen], low[chosen], high[chosen], strict=True)
    ]
    middle = (low[chosen] + high[chosen]) / 2
    return {
        "type": "scatter",
        "x": middle,
        "y": order[chosen],
        "mode": "markers",
        "marker": {"size": 4.5, "color": color, "symbol": symbol},
        "error_x": {"type": "data", "array": high[chosen] - middle, "color": color, "thickness": 1.4, "width": 0},
        "name": words,
        "customdata": told,
        "hovertemplate": f"repetition %{{y}}: %{{customdata}}<br>{words}<extra></extra>",
    }


def _told(low: float, high: float) -> str:
    if high - low >= 2 * ENDLESS:
        return "endless"
    return f"{low:.4f} to {high:.4f}"


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
