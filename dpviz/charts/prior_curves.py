"""The needed prior, or the allowed range, along one axis: exact as lines, pure ε dotted, printed bounds dashed."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import plotly.graph_objects as go

from dpviz.charts.style import RULE, axis, build, color_of, label, log_ticks, rule
from dpviz.parameters import readable
from dpviz.priors.curves import Curve, Curves
from dpviz.priors.releases import METHODS
from dpviz.types import FloatArray

AXIS_TITLES = {
    "delta": "allowed δ (left is more private)",
    "epsilon": "promised ε (left is more private)",
    "m": "synthetic rows m (left is more private)",
    "n": "confidential rows n",
}
SYMBOLS = {"delta": "δ", "epsilon": "ε", "m": "m", "n": "n"}
DASHES = {"exact": "solid", "pure": "dot", "printed": "dash"}
WIDTHS = {"exact": 2.6, "pure": 1.7, "printed": 1.5}
COINCIDE = 0.03
"""Distance of logarithms below which two lines cannot be told apart in the picture."""

LABEL_SHARE = 0.045
"""Share of the picture's height that a theorem's number needs."""

MARKED = "synth_post_one"
"""The method whose number stands beside its mark; the others tell theirs on hover and in the table."""


def curves_chart(curves: Curves) -> go.Figure:
    """Prior or range against the axis, both logarithmic, with the user's own point marked."""
    gaussian = curves.family == "gaussian"
    solid = any(line.kind == "exact" for line in curves.lines)
    marked = [line for line in curves.lines if line.kind == ("exact" if solid else "pure")]
    traces = [_line(curves, line, solid=solid, under=_covered(line, marked)) for line in curves.lines]
    traces += [_point(curves, line, marked) for line in marked]
    traces += _key(curves, solid=solid)
    low, high = _reach(np.concatenate([line.values for line in curves.lines]))
    left, right = float(curves.points[0]), float(curves.points[-1])
    shapes, notes = [], _ends(curves, low, high)
    if curves.chosen > 0:
        shapes.append(rule(x=curves.chosen))
    if not gaussian and curves.axis != "n" and low < curves.setting.n < high:
        shapes.append(rule(y=curves.setting.n, dash="dot"))
        text = f"α = n = {readable(curves.setting.n)}, one for every real row"
        notes.append(
            label(text, x=0.005, xref="x domain", y=math.log10(curves.setting.n), xanchor="left", yanchor="bottom")
        )
    name = "largest R/σ" if gaussian else "least prior α, pseudo-rows in each cell"
    return build(
        [trace for trace in traces if trace],
        x=_log_axis(AXIS_TITLES[curves.axis], left, right),
        y=_log_axis(name, low, high),
        uirevision=f"{curves.family} {curves.axis}",
        shapes=shapes,
        annotations=notes,
        legend={"orientation": "h", "yanchor": "top", "y": -0.29, "x": 0, "font": {"size": 12}},
        margin={"l": 74, "r": 62 if notes else 18, "t": 14, "b": 116},
        hovermode="closest",
    )


def _covered(line: Curve, drawn: list[Curve]) -> int:
    """How many of the solid lines drawn after this one lie on it: it is drawn that much wider, to be seen beneath."""
    if line not in drawn:
        return 0
    with np.errstate(invalid="ignore", divide="ignore"):
        apart = [np.abs(np.log(other.values / line.values)) for other in drawn[drawn.index(line) + 1 :]]
    return sum(bool(np.mean(one[np.isfinite(one)] < COINCIDE) > 0.5) for one in apart if np.any(np.isfinite(one)))


def _ends(curves: Curves, low: float, high: float) -> list[dict[str, Any]]:
    """The number of each printed theorem at the right end of its line, those of one height together."""
    places: dict[str, float] = {}
    for line in curves.lines:
        finite = line.values[np.isfinite(line.values)]
        if line.kind == "printed" and len(finite) and low <= finite[-1] <= high:
            places[line.theorem.split()[-1]] = math.log10(float(finite[-1]))
    gap = LABEL_SHARE * math.log10(high / low)
    heaps: list[list[tuple[float, str]]] = []
    for number, height in sorted(places.items(), key=lambda item: item[1]):
        if heaps and height - heaps[-1][-1][0] < gap:
            heaps[-1].append((height, number))
        else:
            heaps.append([(height, number)])
    return [
        label(
            ", ".join(number for _, number in heap),
            x=1.005,
            xref="x domain",
            y=sum(height for height, _ in heap) / len(heap),
            xanchor="left",
            yanchor="middle",
        )
        for heap in heaps
    ]


def _line(curves: Curves, line: Curve, *, solid: bool, under: int) -> dict[str, Any]:
    if not np.any(np.isfinite(line.values)):
        return {}
    method, symbol = METHODS[line.method].label, SYMBOLS[curves.axis]
    kind = "exact" if line.kind == "pure" and not solid else line.kind
    told = {"exact": "exact", "pure": "exact, δ = 0", "printed": f"printed, {line.theorem}"}[line.kind]
    quantity = "R/σ" if curves.family == "gaussian" else "α"
    return {
        "type": "scatter",
        "x": curves.points,
        "y": line.values,
        "mode": "lines",
        "line": {"color": color_of(line.method), "width": WIDTHS[kind] + 2.2 * under, "dash": DASHES[kind]},
        "opacity": 0.85 if kind == "printed" else 1.0,
        "name": method,
        "meta": f"{method}, {told}",
        "legendgroup": line.method,
        "showlegend": kind == "exact",
        "connectgaps": False,
        "hovertemplate": f"<b>{method}</b>, {told}<br>{symbol} = %{{x:.4g}}<br>{quantity} = %{{y:.6g}}<extra></extra>",
    }


def _point(curves: Curves, line: Curve, marked: list[Curve]) -> dict[str, Any]:
    value = curves.at_chosen(line)
    others = [curves.at_chosen(other) for other in marked if other is not line]
    above = sum(other > value for other in others) < sum(other < value for other in others)
    if curves.chosen <= 0 or not math.isfinite(value):
        return {}
    beside = curves.chosen < math.sqrt(float(curves.points[0]) * float(curves.points[-1]))
    return {
        "type": "scatter",
        "x": [curves.chosen],
        "y": [value],
        "mode": "markers+text" if line.method == MARKED else "markers",
        "text": [f"<b>{readable(value, 4)}</b>"],
        "textposition": f"{'top' if above else 'bottom'} {'right' if beside else 'left'}",
        "marker": {"size": 10, "color": color_of(line.method), "line": {"width": 2, "color": "#fff"}},
        "cliponaxis": False,
        "showlegend": False,
        "legendgroup": line.method,
        "hovertemplate": f"<b>{METHODS[line.method].label}</b>, your point<br>{readable(value)}<extra></extra>",
    }


def _key(curves: Curves, *, solid: bool) -> list[dict[str, Any]]:
    """Grey entries of the legend that say what dots and dashes are."""
    kinds = {line.kind for line in curves.lines if np.any(np.isfinite(line.values))}
    names = {"pure": "pure ε (δ = 0)", "printed": "as printed"}
    return [
        {
            "type": "scatter",
            "x": [None],
            "y": [None],
            "mode": "lines",
            "line": {"color": RULE["color"], "width": 2, "dash": DASHES[kind]},
            "name": name,
            "hoverinfo": "skip",
        }
        for kind, name in names.items()
        if kind in kinds and (solid or kind == "printed")
    ]


def _reach(values: FloatArray) -> tuple[float, float]:
    """Ends of the logarithmic axis; what is smaller than 10⁻⁷ of the largest falls out of the picture."""
    finite = values[np.isfinite(values) & (values > 0)]
    if len(finite) == 0:
        return 0.1, 10.0
    high = float(finite.max()) * 1.6
    return max(float(finite.min()) / 1.8, high * 1e-7, 1e-12), high


def _log_axis(title: str, low: float, high: float) -> dict[str, Any]:
    ends = math.log10(low), math.log10(high)
    exponents, texts = log_ticks(math.floor(ends[0]), math.ceil(ends[1]), most=7)
    more = {} if ends[1] - ends[0] < 1.2 else {"tickvals": [10.0**one for one in exponents], "ticktext": texts}
    return axis(title, type="log", range=list(ends), **more)
