"""What each cause takes from coverage or adds to it: one row a cause, one mark a rule, exact lines from zero."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import plotly.graph_objects as go

from dpviz.charts.style import RULE_COLORS, RULE_DASHES, RULE_SYMBOLS, axis, build, rule
from dpviz.parameters import readable

SPREAD = 0.64
"""Height of a row, of 1, over which the rules' lines are spread."""


def causes_chart(effects: Mapping[str, Mapping[str, float]], *, names: Mapping[str, str]) -> go.Figure:
    """Each rule's effects as lines from 0, to the left where coverage is lost; the first rule's with their numbers.

    Parameters
    ----------
    effects
        For each rule, the change of coverage by the name of its cause, causes in the order of the rows from the top.
    names
        The rules' names for readers, by key.
    """
    causes = list(next(iter(effects.values())))
    step = SPREAD / max(len(effects) - 1, 1)
    traces = [
        _effects(
            {cause: 100 * value for cause, value in one.items()},
            [row + step * (place - (len(effects) - 1) / 2) for row in range(len(causes))],
            key,
            names[key],
            told=place == 0,
        )
        for place, (key, one) in enumerate(effects.items())
    ]
    reach = max(100 * abs(value) for one in effects.values() for value in one.values())
    reach = max(1.3 * reach, 0.1)
    return build(
        traces,
        x=axis("points lost (left) or added (right)", range=[-reach, reach], zeroline=False),
        y=axis(
            "",
            tickvals=list(range(len(causes))),
            ticktext=causes,
            range=[len(causes) - 0.5, -0.5],
            showgrid=False,
            zeroline=False,
        ),
        uirevision="causes",
        shapes=[
            rule(x=0),
            *({**rule(y=row + 0.5), "line": {"color": "rgba(128,128,128,.25)"}} for row in range(len(causes) - 1)),
        ],
        legend={"orientation": "h", "yanchor": "top", "y": -0.2, "x": 0, "font": {"size": 12}, "itemwidth": 56},
        margin={"l": 120, "r": 16, "t": 16, "b": 112},
        hovermode="closest",
        showlegend=True,
    )


def _effects(points: Mapping[str, float], rows: list[float], key: str, name: str, *, told: bool) -> dict[str, Any]:
    """One trace: from 0 to each effect and a gap; marks and numbers at the ends alone."""
    x = [place for value in points.values() for place in (0.0, value, None)]
    ends = [is_end for _ in points for is_end in (False, True, False)]
    numbers = [signed(value) for value in points.values() for _ in range(3)]
    return {
        "type": "scatter",
        "x": x,
        "y": [row for row in rows for _ in range(3)],
        "mode": "lines+markers+text",
        "line": {"color": RULE_COLORS[key], "width": 2.2, "dash": RULE_DASHES[key]},
        "marker": {
            "size": [9 if end else 0 for end in ends],
            "color": RULE_COLORS[key],
            "symbol": RULE_SYMBOLS[key],
            "line": {"width": 1, "color": "#fff"},
        },
        "text": [f"<b>{number}</b>" if told and end else "" for number, end in zip(numbers, ends, strict=True)],
        "textposition": [
            "middle right" if value >= 0 else "middle left" for value in points.values() for _ in range(3)
        ],
        "customdata": [f"{cause}: {signed(value)} points" for cause, value in points.items() for _ in range(3)],
        "cliponaxis": False,
        "connectgaps": False,
        "name": name,
        "legendgroup": key,
        "meta": f"{name}, exact",
        "hovertemplate": f"<b>{name}</b>, exact<br>%{{customdata}}<extra></extra>",
    }


def signed(points: float, digits: int = 3) -> str:
    """Points of coverage with their sign, to no more decimals than a bound of 10⁻⁸ on a coverage leaves.

    Examples
    --------
    >>> signed(-60.299), signed(7.26), signed(2e-7)
    ('−60.3', '+7.26', '0')
    """
    rounded = round(points, 5)
    return ("+" if rounded > 0 else "") + readable(rounded, digits)
