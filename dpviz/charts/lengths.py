"""Expected length of intervals: an exact line for each rule, and below all that hold their level the limit."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np
import plotly.graph_objects as go

from dpviz.charts.coverage import ends_of_lines, exact_line, rule_dot
from dpviz.charts.style import RULE, axis, build, label, legend_below, rule, scatter
from dpviz.parameters import readable
from dpviz.types import FloatArray


def length_chart(
    points: FloatArray,
    values: Mapping[str, FloatArray],
    limit: FloatArray,
    *,
    names: Mapping[str, str],
    ends: Mapping[str, str],
    chosen: float,
) -> go.Figure:
    """Expected length inside 0 to 1 of each rule against p, the shortest possible as a grey line, the chosen p.

    Parameters
    ----------
    points, values
        p, and for each rule its exact expected length there; NaN leaves a gap.
    limit
        The Pratt bound at the points; NaN where it is not known.
    names, ends
        The rules' names for readers, and for the ends of the lines, by key.
    chosen
        The reader's p.
    """
    traces = [exact_line(points, line, names[key], key, "%{y:.5g}") for key, line in values.items()]
    for place in np.flatnonzero(points == chosen):
        for key, line in values.items():
            hover = f"<b>{names[key]}</b>, your p<br>{readable(float(line[place]), 5)}<extra></extra>"
            dots = {"marker": rule_dot(key), "showlegend": False, "legendgroup": key}
            traces.append(scatter("markers", [chosen], [line[place]], hover, **dots))
    known, notes = np.isfinite(limit), []
    if known.any():
        shortest = scatter(
            "lines",
            points[known],
            limit[known],
            "<b>limit</b><br>%{x:.4g}: %{y:.5g}<extra></extra>",
            line={"color": RULE["color"], "width": 1.6},
            fill="tozeroy",
            fillcolor="rgba(138, 143, 152, 0.14)",
            name="shortest possible, if the level is to hold at every p",
        )
        traces.insert(0, shortest)
        notes = [label("no rule that holds its level is down here", x=0.5, y=0.02, yref="y domain", yanchor="bottom")]
    highest = max([float(np.nanmax(line)) for line in values.values() if np.isfinite(line).any()], default=1.0)
    return build(
        traces,
        x=axis("true proportion p", range=[0.0, 1.0]),
        y=axis("expected length inside 0 to 1", range=[0.0, max(1.08 * highest, 1e-3)]),
        uirevision="length",
        shapes=[rule(x=chosen)],
        annotations=[*ends_of_lines(values, ends, gap=0.06 * 1.08 * highest, ceiling=1.05 * highest), *notes],
        **legend_below(-0.24, 62, 98, 26, 112, itemwidth=56),
        showlegend=True,
    )
