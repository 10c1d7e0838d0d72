"""What each cause takes from coverage or adds to it: one row a cause, one mark a rule, exact lines from zero."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import plotly.graph_objects as go

from dpviz.charts.style import RULE_STYLES, axis, build, dot, legend_below, rule, scatter
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
    step, middle = SPREAD / max(len(effects) - 1, 1), (len(effects) - 1) / 2
    traces = [
        _effects(one, step * (place - middle), key, names[key], told=place == 0)
        for place, (key, one) in enumerate(effects.items())
    ]
    reach = max(1.3 * max(100 * abs(value) for one in effects.values() for value in one.values()), 0.1)
    rows = {"tickvals": list(range(len(causes))), "ticktext": causes, "range": [len(causes) - 0.5, -0.5]}
    faint = {"line": {"color": "rgba(128,128,128,.25)"}}
    return build(
        traces,
        x=axis("points lost (left) or added (right)", range=[-reach, reach], zeroline=False),
        y=axis("", **rows, showgrid=False, zeroline=False),
        uirevision="causes",
        shapes=[rule(x=0), *({**rule(y=row + 0.5), **faint} for row in range(len(causes) - 1))],
        **legend_below(-0.2, 120, 16, 16, 112, itemwidth=56),
        showlegend=True,
    )


def _effects(effects: Mapping[str, float], shift: float, key: str, name: str, *, told: bool) -> dict[str, Any]:
    """One trace: for each cause from 0 to its effect and a gap; marks and numbers at the ends alone."""
    style = RULE_STYLES[key]
    points = [(cause, 100 * value, row + shift) for row, (cause, value) in enumerate(effects.items())]
    return scatter(
        "lines+markers+text",
        [x for _, value, _ in points for x in (0.0, value, None)],
        [row for *_, row in points for _ in range(3)],
        f"<b>{name}</b>, exact<br>%{{customdata}}<extra></extra>",
        line={"color": style.color, "width": 2.2, "dash": style.dash},
        marker=dot([0, 9, 0] * len(points), style.color, width=1, symbol=style.symbol),
        text=[text for _, value, _ in points for text in ("", f"<b>{signed(value)}</b>" if told else "", "")],
        textposition=[f"middle {'right' if value >= 0 else 'left'}" for _, value, _ in points for _ in range(3)],
        customdata=[f"{cause}: {signed(value)} points" for cause, value, _ in points for _ in range(3)],
        cliponaxis=False,
        connectgaps=False,
        name=name,
        legendgroup=key,
        meta=f"{name}, exact",
    )


def signed(points: float, digits: int = 3) -> str:
    """Points of coverage with their sign, to no more decimals than a bound of 10⁻⁸ on a coverage leaves.

    Examples
    --------
    >>> signed(-60.299), signed(7.26), signed(2e-7)
    ('−60.3', '+7.26', '0')
    """
    rounded = round(points, 5)
    return ("+" if rounded > 0 else "") + readable(rounded, digits)
