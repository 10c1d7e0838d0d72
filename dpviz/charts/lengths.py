"""Expected length of intervals: an exact line for each rule, and below all that hold their level the limit."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np
import plotly.graph_objects as go

from dpviz.charts.coverage import ends_of_lines, exact_line
from dpviz.charts.style import RULE, RULE_COLORS, RULE_SYMBOLS, axis, build, label, rule
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
    traces = [exact_line(points, line, names[key], key, percent=False) for key, line in values.items()]
    place = int(np.argmin(np.abs(points - chosen))) if len(points) else 0
    if len(points) and points[place] == chosen:
        traces += [
            {
                "type": "scatter",
                "x": [chosen],
                "y": [line[place]],
                "mode": "markers",
                "marker": {
                    "size": 9, "color": RULE_COLORS[key], "symbol": RULE_SYMBOLS[key],
                    "line": {"width": 1, "color": "#fff"},
                },
                "showlegend": False,
                "legendgroup": key,
                "hovertemplate": f"<b>{names[key]}</b>, your p<br>{readable(float(line[place]), 5)}<extra></extra>",
            }
            for key, line in values.items()
        ]  # fmt: skip
    known = np.isfinite(limit)
    if known.any():
        traces.insert(
            0,
            {
                "type": "scatter",
                "x": points[known],
                "y": limit[known],
                "mode": "lines",
                "line": {"color": RULE["color"], "width": 1.6},
                "fill": "tozeroy",
                "fillcolor": "rgba(138, 143, 152, 0.14)",
                "name": "shortest possible, if the level is to hold at every p",
                "hovertemplate": "<b>limit</b><br>%{x:.4g}: %{y:.5g}<extra></extra>",
            },
        )
    highest = max([float(np.nanmax(line)) for line in values.values() if np.isfinite(line).any()], default=1.0)
    return build(
        traces,
        x=axis("true proportion p", range=[0.0, 1.0]),
        y=axis("expected length inside 0 to 1", range=[0.0, max(1.08 * highest, 1e-3)]),
        uirevision="length",
        shapes=[rule(x=chosen)],
        annotations=[
            *ends_of_lines(values, ends, gap=0.06 * 1.08 * highest, ceiling=1.05 * highest),
            *(
                [label("no rule that holds its level is down here", x=0.5, y=0.02, yref="y domain", yanchor="bottom")]
                if known.any()
                else []
            ),
        ],
        legend={"orientation": "h", "yanchor": "top", "y": -0.24, "x": 0, "font": {"size": 12}, "itemwidth": 56},
        margin={"l": 62, "r": 98, "t": 26, "b": 112},
        hovermode="closest",
        showlegend=True,
    )
