"""Heatmaps of a transition matrix and of a log-odds table, with the exact numbers in the hover."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import plotly.graph_objects as go

from dpviz.charts.count_table import six_digits
from dpviz.charts.style import MAGNITUDES, SIGNED, axis, build, log_ticks, power_of_ten
from dpviz.checked import checked
from dpviz.parameters import readable
from dpviz.privacy import exceeds
from dpviz.privacy.summary import TableView
from dpviz.types import BoolArray, FloatArray, IntArray

__all__ = ["log_odds_heatmap", "matrix_heatmap"]

DARKEST_EXPONENT = -16
"""Probabilities below 10 to this power share the darkest colour; the hover still tells them apart."""


@checked()
def matrix_heatmap(view: TableView) -> go.Figure:
    """Pr(released | confidential) on a logarithmic colour scale; a probability of 0 stays blank."""
    log10 = view.log_probabilities / math.log(10)
    possible = np.isfinite(log10)
    lowest = int(max(DARKEST_EXPONENT, min(-1, np.floor(log10[possible].min()))))
    exponents, texts = log_ticks(lowest, 0)
    if exponents[0] != lowest:
        exponents[0], texts[0] = lowest, power_of_ten(lowest)
    if lowest == DARKEST_EXPONENT:
        texts[0] = "≤ " + texts[0]
    with np.errstate(under="ignore"):
        probabilities = np.exp(view.log_probabilities)
    trace = {
        "type": "heatmap",
        "z": np.where(possible, np.maximum(log10, lowest), np.nan).astype(np.float32),
        "x": _axis_values(view, view.columns, rows=False),
        "y": _axis_values(view, view.rows, rows=True),
        "customdata": probabilities,
        "meta": "probability of the released table",
        "zmin": lowest,
        "zmax": 0,
        "colorscale": MAGNITUDES,
        "colorbar": _colorbar("Pr", exponents, texts),
        "hovertemplate": f"confidential {_counts(view, rows=True)}<br>released {_counts(view, rows=False)}<br>"
        "<b>Pr = %{customdata:.6g}</b><extra></extra>",
        "hoverongaps": False,
    }
    return _build(view, [trace], "matrix")


@checked()
def log_odds_heatmap(view: TableView, epsilon: float, *, signed: bool) -> go.Figure:
    """Log-odds of neighbours, with an outline around the cells over ε."""
    table = view.log_odds
    finite = np.abs(view.log_odds[np.isfinite(view.log_odds)])
    largest = float(finite.max()) if len(finite) else 1.0
    limit = max(min(largest, 4 * epsilon), 1e-12)
    lowest = -limit if signed else 0.0
    ticks = [tick for tick in (-limit, -epsilon, 0.0, epsilon, limit) if lowest <= tick <= limit]
    ticks = [tick for tick in ticks if abs(abs(tick) - limit) < 1e-12 or abs(abs(tick) - limit) > 0.07 * limit]
    x, y = _axis_values(view, view.columns, rows=False), _axis_values(view, view.pairs, rows=True, pairs=True)
    shown = table if signed else np.abs(table)
    told, digits = (shown, ":.6f") if np.isfinite(shown).all() else (np.vectorize(six_digits)(shown), "")
    beyond = largest if np.isfinite(shown).all() else math.inf
    traces: list[dict[str, Any]] = [
        {
            "type": "heatmap",
            "z": np.clip(shown, lowest, limit).astype(np.float32),
            "x": x,
            "y": y,
            "customdata": told,
            "meta": "log-odds" if signed else "|log-odds|",
            "zmin": lowest,
            "zmax": limit,
            "colorscale": SIGNED if signed else MAGNITUDES,
            "colorbar": _colorbar(
                "log-odds" if signed else "|log-odds|",
                ticks,
                [_tick_text(tick, epsilon, limit, beyond) for tick in ticks],
            ),
            "hovertemplate": f"neighbours {_counts(view, rows=True, pairs=True)}<br>"
            f"released {_counts(view, rows=False)}<br><b>log-odds = %{{customdata{digits}}}</b><extra></extra>",
        }
    ]
    path = _outline(exceeds(table, epsilon), x, y)
    shapes = [
        {
            "type": "path",
            "path": path,
            "line": {"color": "#9B30FF" if signed else "#FF5A36", "width": 2},
            "name": f"outline: over ε = {readable(epsilon)}",
            "showlegend": True,
        }
    ]
    return _build(view, traces, "signed" if signed else "absolute", shapes=shapes if path else [])


def _build(view: TableView, traces: list[dict[str, Any]], kind: str, **layout: Any) -> go.Figure:
    release, odds = view.synthesizer, kind != "matrix"
    bare = {"showgrid": False, "zeroline": False}
    two_cells = release.row_counts.shape[1] == 2
    if two_cells:
        x = axis("released m1", **bare)
        y = axis("n1 of the pair n1, n1 + 1" if odds else "confidential n1", autorange="reversed", **bare)
    else:
        many = {"type": "category", "nticks": 20, "automargin": True, **bare}
        x = axis("released counts", **many)
        y = axis("pair of neighbours" if odds else "confidential counts", autorange="reversed", **many)
    names = {
        "matrix": "Transition matrix Pr(released | confidential)",
        "signed": "Log-odds, signed",
        "absolute": "Log-odds, absolute",
    }
    return build(
        traces,
        x=x,
        y=y,
        uirevision=f"{kind} {release.key} {release.shape}",
        title={"text": f"{names[kind]}<br><sup>{release.label}</sup>"},
        margin={"l": 70 if two_cells else 130, "r": 92, "t": 64, "b": 52},
        legend={"orientation": "h", "yanchor": "bottom", "y": 1.0, "xanchor": "right", "x": 1},
        **layout,
    )


def _colorbar(title: str, ticks: list[int] | list[float], texts: list[str]) -> dict[str, object]:
    return {
        "title": {"text": title, "side": "top"},
        "tickvals": ticks,
        "ticktext": texts,
        "thickness": 12,
        "outlinewidth": 0,
        "x": 1.01,
        "xpad": 4,
    }


def _tick_text(tick: float, epsilon: float, limit: float, largest: float) -> str:
    sign = "−" if tick < 0 else ""
    if tick == 0:
        return "0"
    if abs(abs(tick) - epsilon) < 1e-12:
        return f"{sign}ε"
    more = ("≤ " if tick < 0 else "≥ ") if largest > limit * (1 + 1e-9) else ""
    return f"{more}{sign}{readable(abs(tick), 3)}"


def _axis_values(view: TableView, indices: IntArray, *, rows: bool, pairs: bool = False) -> IntArray | list[str]:
    """Counts on the axis: the first count for two cells, all of them as text for more."""
    synthesizer = view.synthesizer
    if synthesizer.row_counts.shape[1] == 2:
        return indices
    if pairs:
        both = synthesizer.neighbours[indices]
        return [f"{_joined(synthesizer.row_table(a))} | {_joined(synthesizer.row_table(b))}" for a, b in both.tolist()]
    table = synthesizer.row_table if rows else synthesizer.column_table
    return [_joined(table(index)) for index in indices.tolist()]


def _joined(counts: tuple[int, ...]) -> str:
    return ",".join(str(count) for count in counts)


def _counts(view: TableView, *, rows: bool, pairs: bool = False) -> str:
    """The hover's template for the counts on an axis."""
    axis = "y" if rows else "x"
    if view.synthesizer.row_counts.shape[1] == 2:
        if pairs:
            return "n1 = %{y} and one more"
        return f"{'n1' if rows else 'm1'} = %{{{axis}}}"
    return f"(%{{{axis}}})"


def _outline(mask: BoolArray, x: IntArray | list[str], y: IntArray | list[str]) -> str:
    """The border of the marked cells as a drawing path in axis units; empty where none is marked."""
    framed = np.pad(mask, 1)
    upright = np.argwhere(framed[:, 1:] != framed[:, :-1])
    level = np.argwhere(framed[1:, :] != framed[:-1, :])
    left = np.concatenate([upright[:, 1] - 0.5, level[:, 1] - 1.5])
    right = np.concatenate([upright[:, 1] - 0.5, level[:, 1] - 0.5])
    top = np.concatenate([upright[:, 0] - 1.5, level[:, 0] - 0.5])
    bottom = np.concatenate([upright[:, 0] - 0.5, level[:, 0] - 0.5])
    places = zip(_between(x, left), _between(y, top), _between(x, right), _between(y, bottom), strict=True)
    return "".join(f"M{x0:g},{y0:g}L{x1:g},{y1:g}" for x0, y0, x1, y1 in places)


def _between(values: IntArray | list[str], places: FloatArray) -> FloatArray:
    """Axis values at places between the cells; an axis of names counts the cells."""
    if isinstance(values, list):
        return places
    if len(values) == 1:
        return places + float(values[0])
    last = len(values) - 1
    inner = np.interp(places, np.arange(len(values)), values)
    before = values[0] + places * float(values[1] - values[0])
    after = values[-1] + (places - last) * float(values[-1] - values[-2])
    return np.where(places < 0, before, np.where(places > last, after, inner))
