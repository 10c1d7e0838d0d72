"""Heatmaps of a transition matrix and of a log-odds table, with the exact numbers in the hover."""

import math
from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np

from dpviz.charts.count_table import six_digits
from dpviz.charts.style import MAGNITUDES, SIGNED, Figure, axis, build, decade_ticks, even_ticks, power_of_ten
from dpviz.core.formatting import format_number
from dpviz.core.types import BoolArray, FloatArray, IntArray
from dpviz.mechanisms.base import check_index
from dpviz.privacy.divergence import exceeds
from dpviz.privacy.summary import TableView

__all__ = ["log_odds_heatmap", "matrix_heatmap"]

MAX_FRAMED_COLUMNS = 40
"""Cells side by side up to which a frame is as large as a cell; of more, a cell is smaller than its frame."""
FRAME_PIXELS_X = {"x0": -9, "x1": 9}
FRAME_PIXELS_Y = {"y0": -9, "y1": 9}

# Probabilities below 10 to this power share the darkest color; the hover still tells them apart.
DARKEST_EXPONENT = -16


def matrix_heatmap(
    view: TableView, *, linear: bool = False, row: int | None = None, column: int | None = None
) -> Figure:
    """Pr(released | confidential) on a logarithmic or a linear color scale; a probability of 0 stays blank.

    Parameters
    ----------
    view : TableView
    linear : bool, optional
        Whether the color scale is linear.
    row : int, optional
        Row that is framed.
    column : int, optional
        Column whose cell in that row is framed.

    Returns
    -------
    Figure
    """
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
        bar = _colorbar("Pr", ticks, [format_number(tick, 3) for tick in ticks])
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
    frames = []
    if row is not None:
        frames = _frames(view, rows, view.rows, [check_index(row, view.synthesizer.shape[0], "row")], column)
    title = "Transition matrix Pr(released | confidential)"
    return _build(view, columns, rows, trace, "matrix", title, shapes=frames)


def log_odds_heatmap(
    view: TableView, epsilon: float, *, signed: bool, row: int | None = None, column: int | None = None
) -> Figure:
    """Log-odds of neighbours, with an outline around the cells over ε.

    Parameters
    ----------
    view : TableView
    epsilon : float
        Promised ε, above 0.
    signed : bool
        Whether values have their signs.
    row, column : int, optional
        As in `matrix_heatmap`; every pair of neighbours with that confidential table is framed.

    Returns
    -------
    Figure
    """
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
    outline = {"type": "path", "path": path, "line": line, "name": f"outline: over ε = {format_number(epsilon)}"}
    shapes = [{**outline, "showlegend": True}] if path else []
    if row is not None:
        check_index(row, view.synthesizer.shape[0], "row")
        framed = np.flatnonzero((view.synthesizer.neighbours == row).any(axis=1)).tolist()
        shapes += _frames(view, pairs, view.pairs, framed, column)
    title = f"Log-odds, {'signed' if signed else 'absolute'}"
    return _build(view, columns, pairs, trace, "log-odds", title, shapes=shapes)


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
        title={"text": f"{title}<br><sup>{release.info.label}</sup>"},
        margin={"l": 70 if two_cells else 130, "r": 92, "t": 64, "b": 52},
        legend={"orientation": "h", "yanchor": "bottom", "y": 1.0, "xanchor": "right", "x": 1},
        **layout,
    )


def _frames(view: TableView, side: _Side, shown: IntArray, rows: list[int], column: int | None) -> list[dict[str, Any]]:
    """Frames around rows, and around their cells in a column if any; of many columns as large as can be seen."""
    shapes = []
    for row in rows:
        y0, y1 = _ends(side, shown, row)
        shapes += _frame({"xref": "x domain", "x0": 0, "x1": 1, "y0": y0, "y1": y1})
        if column is None:
            continue
        x0, x1 = _ends(_columns(view), view.columns, check_index(column, view.synthesizer.shape[1], "column"))
        across: dict[str, Any] = {"x0": x0, "x1": x1}
        if len(view.columns) > MAX_FRAMED_COLUMNS:
            across = {"xsizemode": "pixel", "xanchor": (x0 + x1) / 2, **FRAME_PIXELS_X}
        upright: dict[str, Any] = {"y0": y0, "y1": y1}
        if len(shown) > MAX_FRAMED_COLUMNS:
            upright = {"ysizemode": "pixel", "yanchor": (y0 + y1) / 2, **FRAME_PIXELS_Y}
        shapes += _frame({**across, **upright})
    return shapes


def _frame(place: dict[str, Any]) -> list[dict[str, Any]]:
    """A dark frame with a light line in it, which stands out from every color."""
    lines = {"color": "#111111", "width": 3}, {"color": "#FFFFFF", "width": 1}
    return [{"type": "rect", "line": line, **place} for line in lines]


def _colorbar(title: str, ticks: list[int] | list[float], texts: list[str]) -> dict[str, Any]:
    place = {"thickness": 12, "outlinewidth": 0, "x": 1.01, "xpad": 4}
    return {"title": {"text": title, "side": "top"}, "tickvals": ticks, "ticktext": texts, **place}


def _tick_text(tick: float, epsilon: float, limit: float, largest: float) -> str:
    sign = "−" if tick < 0 else ""
    if tick == 0 or abs(abs(tick) - epsilon) < 1e-12:
        return f"{sign}ε" if tick else "0"
    more = ("≤ " if tick < 0 else "≥ ") if largest > limit * (1 + 1e-9) else ""
    return f"{more}{sign}{format_number(abs(tick), 3)}"


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
