"""The trade-off curve: the attacker's misses against the false alarms, beside what the promise allows."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from dpviz.charts.style import RULE, Figure, axis, build, color_of
from dpviz.checked import checked
from dpviz.parameters import readable
from dpviz.privacy.summary import PrivacySummary
from dpviz.privacy.trade_off import TradeOffCurve

__all__ = ["trade_off_chart"]

STEEPEST, AXIS, TOUCH, BEST, NORMAL = "ABCDE"
"""Where pure ε, δ, probabilistic δ, the advantage and μ sit on the curve, in the picture and in the table."""

NORMAL_COLOR = "#8A8F98"
ACROSS = np.linspace(0, 1, 201)
APART = 0.05
"""How far apart, in units of the axes, two letters must be to be read."""


@checked()
def trade_off_chart(curve: TradeOffCurve, promised: TradeOffCurve, summary: PrivacySummary) -> Figure:
    """The curve of the release as a line, the promised one dashed, guessing blindly as a thin rule, the best guess
    as one mark; the line of slope −e^ε that touches the curve, which meets the axis at 1 − δ(ε); and the normal curve
    of the smallest μ. The letters are those of the table of measures.
    """
    color = color_of(summary.synthesizer.key)
    best = int(np.argmin(curve.type_one + curve.type_two))
    delta, slope = summary.divergence.value, float(np.exp(min(summary.epsilon, 700.0)))
    delta_said = f", δ = {readable(summary.delta, 3)}" if summary.delta > 0 else ""
    lines = [
        _line([0.0, 1.0], [1.0, 0.0], "guessing blindly", {**RULE, "dash": "dot"}),
        _line(
            promised.type_one, promised.type_two, f"allowed by ε = {readable(summary.epsilon)}{delta_said}",
            {**RULE, "dash": "dash", "width": 2},
        ),
        _line(
            [0.0, (1 - delta) / slope], [1 - delta, 0.0], "slope −e<sup>ε</sup>: meets the axis at 1 − δ(ε)",
            {"color": color, "width": 1.2, "dash": "dot"},
        ),
    ]  # fmt: skip
    if np.isfinite(curve.mu):
        said = f"{NORMAL}: normal, μ = {readable(curve.mu, 3)}"
        lines.append(_line(ACROSS, curve.normal(ACROSS), said, {"color": NORMAL_COLOR, "width": 1.2}))
    said = f"{BEST} best guess: {readable(100 * curve.success(0.5), 3)} % right"
    return build(
        [
            *lines,
            _line(curve.type_one, curve.type_two, "this release", {"color": color, "width": 2.5}),
            *_letters([(STEEPEST, curve.steepest), (AXIS, (0.0, 1 - delta)), (TOUCH, curve.touching(summary.epsilon))]),
            {
                "type": "scatter",
                "x": [curve.type_one[best]],
                "y": [curve.type_two[best]],
                "mode": "markers+text",
                "text": [said],
                "textposition": "top right",
                "marker": {"size": 11, "color": color, "line": {"width": 2, "color": "#fff"}},
                "hovertemplate": "false alarms %{x:.4f}<br>misses %{y:.4f}<extra>best guess</extra>",
                "showlegend": False,
            },
        ],
        x=axis("false alarms: type I error", range=[0, 1], constrain="domain"),
        y=axis("misses: type II error (lower is less private)", range=[0, 1.02], scaleanchor="x", constrain="domain"),
        legend={"x": 0.98, "y": 0.98, "xanchor": "right", "yanchor": "top", "orientation": "v"},
        uirevision=f"trade-off {summary.synthesizer.key}",
    )


def _letters(places: list[tuple[str, tuple[float, float]]]) -> list[dict[str, Any]]:
    """A letter beside each place; those that would cover one another stand together."""
    said: dict[tuple[float, float], str] = {}
    for letter, place in places:
        near = next((one for one in said if math.dist(one, place) < APART), place)
        said[near] = f"{said[near]}, {letter}" if near in said else letter
    x, y = zip(*said, strict=True)
    texts = [f"<b>{one}</b>" for one in said.values()]
    return [
        {
            "type": "scatter", "x": x, "y": y, "mode": "markers+text", "text": texts, "textposition": "middle right",
            "cliponaxis": False, "showlegend": False, "hoverinfo": "skip",
            "marker": {"size": 8, "symbol": "diamond", "color": NORMAL_COLOR},
        }
    ]  # fmt: skip


def _line(x: Any, y: Any, name: str, line: dict[str, Any]) -> dict[str, Any]:
    return {
        "type": "scatter", "x": np.asarray(x), "y": np.asarray(y), "mode": "lines", "line": line, "name": name,
        "hovertemplate": "false alarms %{x:.4f}<br>misses %{y:.4f}<extra>" + name + "</extra>",
    }  # fmt: skip
