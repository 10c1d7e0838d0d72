"""Heatmaps of a transition matrix and of a log-odds table, with the exact numbers in the hover."""

import math
from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np

from dpviz.charts.count_table import LOG_ODDS, MATRIX, six_digits
from dpviz.charts.style import MAGNITUDES, SIGNED, Figure, axis, build, decade_ticks, even_ticks, power_of_ten
from dpviz.core.checked import checked
from dpviz.core.parameters import readable
from dpviz.core.types import BoolArray, FloatArray, IntArray
from dpviz.mechanisms.base import check_index
from dpviz.privacy import exceeds
from dpviz.privacy.summary import TableView

__all__ = ["lit_places", "log_odds_heatmap", "matrix_heatmap"]

# Probabilities below 10 to this power share the darkest color; the hover still tells them apart.
DARKEST_EXPONENT = -16


@checked()
def matrix_heatmap(view: TableView, *, linear: bool = False) -> Figure:
    """Pr(released | confidential) on a logarithmic or a linear color scale; a probability of 0 stays blank."""
    log10 = view.log_probabilities / math.log(10)
    possible = np.isfinite(log10)
    lowest = int(max(DARKEST_EXPONENT, min(-1, np.floor(log10[possible].min()))))
    exponents, texts = decade_ticks(lowest, 0)
    if exponents[0] != lowest:
        exponents[0], texts[0] = lowest, power_of_ten(lowest)
    if lowest == DARKEST_EXPONENT:
        texts[0] = "≤ " + texts[0]
    with np.errstate(under="ignore"):
        probabilities = np.exp(view.log_probabilities)
    shown, zmin, zmax, bar = np.maximum(log10, lowest), float(lowest), 0.0, _colorbar("Pr", exponents, texts)
    if linear:
        shown, zmin, zmax = probabilities, 0.0, float(probabilities.max())
        ticks = even_ticks(zmin, zmax)
        bar = _colorbar("Pr", ticks, [readable(tick, 3) for tick in ticks])
    columns, rows = _columns(view), _rows(view)
    trace = {
        "z": np.where(possible, shown, np.nan).astype(np.float32),
        "customdata": probabilities,
        "meta": "probability of the released table",
        "zmin": zmin,
        "zmax": zmax,
        "colorscale": MAGNITUDES,
        "colorbar": bar,
        "hovertemplate": f"confidential {rows.hover}<br>released {columns.hover}<br>"
        "<b>Pr = %{customdata:.6g}</b><extra></extra>",
        "hoverongaps": False,
    }
    return _build(view, columns, rows, trace, MATRIX, "Transition matrix Pr(released | confidential)")


@checked()
def log_odds_heatmap(view: TableView, epsilon: float, *, signed: bool) -> Figure:
    """Return log-odds of neighbours, with an outline around the cells over ε."""
    table = view.log_odds
    largest = float(np.max(np.abs(table[np.isfinite(table)]))) if np.isfinite(table).any() else 1.0
    limit = max(min(largest, 4 * epsilon), 1e-12)
    lowest = -limit if signed else 0.0
    ticks = [tick for tick in (-limit, -epsilon, 0.0, epsilon, limit) if lowest <= tick <= limit]
    ticks = [tick for tick in ticks if abs(abs(tick) - limit) < 1e-12 or abs(abs(tick) - limit) > 0.07 * limit]
    columns, pairs = _columns(view), _pairs(view)
    shown, name = (table, "log-odds") if signed else (np.abs(table), "|log-odds|")
    finite = bool(np.isfinite(shown).all())
    beyond = largest if finite else math.inf
    texts = [_tick_text(tick, epsilon, limit, beyond) for tick in ticks]
    trace = {
        "z": np.clip(shown, lowest, limit).astype(np.float32),
        "customdata": shown if finite else np.vectorize(six_digits)(shown),
        "meta": name,
        "zmin": lowest,
        "zmax": limit,
        "colorscale": SIGNED if signed else MAGNITUDES,
        "colorbar": _colorbar(name, ticks, texts),
        "hovertemplate": f"neighbours {pairs.hover}<br>released {columns.hover}<br>"
        f"<b>log-odds = %{{customdata{':.6f' if finite else ''}}}</b><extra></extra>",
    }
    path = _outline(exceeds(table, epsilon), columns.values, pairs.values)
    line = {"color": "#9B30FF" if signed else "#FF5A36", "width": 2}
    outline = {"type": "path", "path": path, "line": line, "name": f"outline: over ε = {readable(epsilon)}"}
    title, shapes = f"Log-odds, {'signed' if signed else 'absolute'}", [{**outline, "showlegend": True}] if path else []
    return _build(view, columns, pairs, trace, LOG_ODDS, title, shapes=shapes)


class Lit(NamedTuple):
    """Rows of a table and one of its columns, if any, counted from 0; and where both begin and end in its picture."""

    rows: list[int]
    column: int | None
    bands: list[list[float]]
    span: list[float] | None


@checked()
def lit_places(view: TableView, row: int, column: int | None) -> dict[str, Lit]:
    """Where the matrix and the log-odds table show a confidential table, and a released one if `column` is given."""
    release = view.synthesizer
    check_index(row, release.shape[0])
    pairs = np.flatnonzero((release.neighbours == row).any(axis=1)).tolist()
    span = None if column is None else _ends(_columns(view), view.columns, check_index(column, release.shape[1]))
    return {
        MATRIX: Lit([row], column, [_ends(_rows(view), view.rows, row)], span),
        LOG_ODDS: Lit(pairs, column, [_ends(_pairs(view), view.pairs, pair) for pair in pairs], span),
    }


class _Side(NamedTuple):
    """What stands along an axis: its title, counts as numbers or texts, and how the hover says them."""

    title: str
    values: IntArray | list[str]
    hover: str


def _two_cells(view: TableView) -> bool:
    return view.synthesizer.row_counts.shape[1] == 2


def _columns(view: TableView) -> _Side:
    if _two_cells(view):
        return _Side("released m1", view.columns, "m1 = %{x}")
    return _Side("released counts", _texts(view.synthesizer.column_table, view.columns), "(%{x})")


def _rows(view: TableView) -> _Side:
    if _two_cells(view):
        return _Side("confidential n1", view.rows, "n1 = %{y}")
    return _Side("confidential counts", _texts(view.synthesizer.row_table, view.rows), "(%{y})")


def _pairs(view: TableView) -> _Side:
    if _two_cells(view):
        return _Side("n1 of the pair n1, n1 + 1", view.pairs, "n1 = %{y} and one more")
    both = (_texts(view.synthesizer.row_table, side) for side in view.synthesizer.neighbours[view.pairs].T)
    return _Side("pair of neighbours", [f"{a} | {b}" for a, b in zip(*both, strict=True)], "(%{y})")


def _texts(table: Callable[[int], tuple[int, ...]], indices: IntArray) -> list[str]:
    return [",".join(map(str, table(index))) for index in indices.tolist()]


def _build(view: TableView, x: _Side, y: _Side, trace: dict[str, Any], kind: str, title: str, **layout: Any) -> Figure:
    release, two_cells = view.synthesizer, _two_cells(view)
    bare: dict[str, Any] = {"showgrid": False, "zeroline": False}
    if not two_cells:
        bare |= {"type": "category", "nticks": 20, "automargin": True}
    return build(
        [{"type": "heatmap", "x": x.values, "y": y.values, **trace}],
        x=axis(x.title, **bare),
        y=axis(y.title, autorange="reversed", **bare),
        uirevision=f"{kind} {release.key} {release.shape}",
        meta={"light": kind},
        title={"text": f"{title}<br><sup>{release.label}</sup>"},
        margin={"l": 70 if two_cells else 130, "r": 92, "t": 64, "b": 52},
        legend={"orientation": "h", "yanchor": "bottom", "y": 1.0, "xanchor": "right", "x": 1},
        **layout,
    )


def _colorbar(title: str, ticks: list[int] | list[float], texts: list[str]) -> dict[str, Any]:
    place = {"thickness": 12, "outlinewidth": 0, "x": 1.01, "xpad": 4}
    return {"title": {"text": title, "side": "top"}, "tickvals": ticks, "ticktext": texts, **place}


def _tick_text(tick: float, epsilon: float, limit: float, largest: float) -> str:
    sign = "−" if tick < 0 else ""
    if tick == 0 or abs(abs(tick) - epsilon) < 1e-12:
        return f"{sign}ε" if tick else "0"
    more = ("≤ " if tick < 0 else "≥ ") if largest > limit * (1 + 1e-9) else ""
    return f"{more}{sign}{readable(abs(tick), 3)}"


def _outline(mask: BoolArray, x: IntArray | list[str], y: IntArray | list[str]) -> str:
    """Return the border of the marked cells as a drawing path in axis units; empty where none is marked."""
    framed = np.pad(mask, 1)
    upright = np.argwhere(framed[:, 1:] != framed[:, :-1])
    level = np.argwhere(framed[1:, :] != framed[:-1, :])
    starts = np.concatenate([upright - [1.5, 0.5], level - [0.5, 1.5]])
    ends = np.concatenate([upright, level]) - 0.5
    corners = _between(x, starts[:, 1]), _between(y, starts[:, 0]), _between(x, ends[:, 1]), _between(y, ends[:, 0])
    return "".join(f"M{x0:g},{y0:g}L{x1:g},{y1:g}" for x0, y0, x1, y1 in zip(*corners, strict=True))


def _ends(side: _Side, shown: IntArray, index: int) -> list[float]:
    """Where a row or column begins and ends; one that is left out lies between those that are shown."""
    place = float(np.interp(index, shown, np.arange(len(shown))))
    return _between(side.values, np.array([place - 0.5, place + 0.5])).tolist()


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
