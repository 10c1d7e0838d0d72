"""A transition matrix and its log-odds: as heatmaps, and as tables in the layout of Abowd & Vilhuber."""

import math
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from dpviz.charts import theme
from dpviz.charts.html import fragment
from dpviz.charts.lines import axis, decade_ticks
from dpviz.charts.theme import Look
from dpviz.core.formatting import format_number
from dpviz.core.types import BoolArray, FloatArray, IntArray
from dpviz.mechanisms import Synthesizer
from dpviz.mechanisms.base import check_index
from dpviz.privacy.divergence import exceeds
from dpviz.privacy.summary import TableView

MATRIX_TITLE = "Transition matrix Pr(released | confidential)"
LOG_ODDS_TITLES = {
    True: "Signed log-odds ln Pr(m | first) − ln Pr(m | second) of neighbours, one row substituted",
    False: "Log-odds |ln Pr(m | first) / Pr(m | second)| of neighbours, one row substituted",
}
"""By whether the log-odds have their signs."""

STYLE = Path(__file__).with_suffix(".css").read_text(encoding="utf-8")


class _Side(NamedTuple):
    """An axis of a heatmap: its title, how the hover says its values, which tables or pairs are shown, and as what."""

    title: str
    hover: str
    shown: IntArray
    values: IntArray | list[str]

    @property
    def edges(self) -> FloatArray:
        """Ends of the cells in units of the axis, as plotly.js draws them; an axis of texts counts the cells."""
        values = np.asarray(self.values, float) if isinstance(self.values, np.ndarray) else np.arange(len(self.values))
        steps = np.diff(values) / 2 if len(values) > 1 else np.array([0.5])
        return np.concatenate([values[:1] - steps[:1], values[: len(steps)] + steps, values[len(steps) :] + steps[-1]])

    def ends(self, table: int) -> list[float]:
        """Ends of the cell of a table or pair; one that is not shown lies between those that are."""
        cells = np.arange(len(self.shown) + 1)
        cell = np.interp(table, self.shown, cells[:-1])
        ends: list[float] = np.interp([cell, cell + 1], cells, self.edges).tolist()
        return ends


def _sides(view: TableView) -> tuple[_Side, ...]:
    """Released tables, confidential tables, and pairs of neighbours of a view."""
    release, places = view.synthesizer, (view.columns, view.rows, view.pairs)
    if release.row_counts.shape[1] == 2:
        titles = "released m1", "confidential n1", "n1 of the pair n1, n1 + 1"
        hovers = "m1 = %{x}", "n1 = %{y}", "n1 = %{y} and one more"
        return tuple(map(_Side, titles, hovers, places, places))
    columns = [",".join(map(str, table)) for table in release.column_counts]
    rows = [",".join(map(str, table)) for table in release.row_counts]
    texts = columns, rows, [f"{rows[first]} | {rows[second]}" for first, second in release.neighbours.tolist()]
    shown = ([names[place] for place in part.tolist()] for names, part in zip(texts, places, strict=True))
    titles = "released counts", "confidential counts", "pair of neighbours"
    return tuple(map(_Side, titles, ("(%{x})", "(%{y})", "(%{y})"), places, shown))


def matrix_heatmap(
    view: TableView, *, linear: bool = False, row: int | None = None, column: int | None = None
) -> theme.Figure:
    """Pr(released | confidential); a probability of 0 stays blank.

    Parameters
    ----------
    linear : bool, optional
        Whether the color scale is.
    row, column : int, optional
        Row that is framed, and column whose cell in that row is.
    """
    columns, rows, _ = _sides(view)
    log10 = view.log_probabilities / math.log(10)
    possible = np.isfinite(log10)
    with np.errstate(under="ignore"):
        probabilities = np.exp(view.log_probabilities)

    # The color scale; what is below 10⁻¹⁶ shares the darkest color
    values, low, high = probabilities, 0, float(probabilities.max())
    ticks: dict[int, str] = {}  # plotly's own
    if not linear:
        low, high = max(-16, min(-1, math.floor(log10[possible].min()))), 0.0
        values = np.maximum(log10, low)
        ticks = decade_ticks(low, low) | dict([*decade_ticks(low, 0).items()][1:])
        ticks[low] = "≤ " * (low == -16) + ticks[low]
    trace = {
        "z": np.where(possible, values, np.nan).astype(np.float32), "customdata": probabilities, "hoverongaps": False,
        "hovertemplate": f"confidential {rows.hover}<br>released {columns.hover}<br><b>Pr = %{{customdata:.6g}}</b>",
        "meta": "probability of the released table", "colorscale": theme.MAGNITUDES, "zmin": low, "zmax": high,
    }  # fmt: skip
    shapes = _frames(view.synthesizer, columns, rows, row, column, [row])
    return _heatmap(view, columns, rows, trace, ("Pr", ticks), "matrix", MATRIX_TITLE, shapes)


def log_odds_heatmap(
    view: TableView, epsilon: float, *, signed: bool, row: int | None = None, column: int | None = None
) -> theme.Figure:
    """Log-odds of neighbours, with an outline around the cells over ε.

    Parameters
    ----------
    epsilon : float
        Promised ε, above 0.
    signed : bool
        Whether values have their signs.
    row, column : int, optional
        As in `matrix_heatmap`; every pair of neighbours with that confidential table is framed.
    """
    columns, _, pairs = _sides(view)
    table, name = view.log_odds, "log-odds" if signed else "|log-odds|"
    values = table if signed else np.abs(table)
    finite = np.abs(table[np.isfinite(table)])
    largest, is_finite = float(finite.max()) if len(finite) else 1.0, len(finite) == table.size

    # The color scale, up to four times the promise
    limit = max(min(largest, 4 * epsilon), 1e-12)
    low = -limit if signed else 0.0
    is_cut = not is_finite or largest > limit * (1 + 1e-9)
    ticks = {0.0: "0"}
    for size in [limit] + [epsilon] * (limit - epsilon > 0.07 * limit):
        text = "ε" if abs(size - epsilon) < 1e-12 else format_number(size, 3)
        signs = ("≤ ", "≥ ") if is_cut and text != "ε" else ("", "")
        ticks |= {-size: f"{signs[0]}−{text}", size: f"{signs[1]}{text}"}
    digits = ":.6f" if is_finite else ""
    trace = {
        "z": np.clip(values, low, limit).astype(np.float32), "meta": name,
        "customdata": values if is_finite else _six_decimals(values),
        "hovertemplate": f"neighbours {pairs.hover}<br>released {columns.hover}"
        f"<br><b>log-odds = %{{customdata{digits}}}</b>",
        "colorscale": theme.SIGNED if signed else theme.MAGNITUDES, "zmin": low, "zmax": limit,
    }  # fmt: skip
    scale = name, {tick: text for tick, text in sorted(ticks.items()) if tick >= low}

    # The outline and the frames
    shapes: list[Look] = []
    if path := _outline(exceeds(table, epsilon), columns.edges, pairs.edges):
        line, outline = {"color": "#9B30FF" if signed else "#FF5A36", "width": 2}, f"over ε = {format_number(epsilon)}"
        shapes.append({"type": "path", "path": path, "line": line, "name": f"outline: {outline}", "showlegend": True})
    framed = np.flatnonzero((view.synthesizer.neighbours == row).any(axis=1)).tolist()
    shapes += _frames(view.synthesizer, columns, pairs, row, column, framed)
    title = f"Log-odds, {'signed' if signed else 'absolute'}"
    return _heatmap(view, columns, pairs, trace, scale, "log-odds", title, shapes)


def _heatmap(
    view: TableView, x: _Side, y: _Side, trace: Look, scale: tuple[str, Mapping[Any, str]], key: str, title: str,
    shapes: list[Look],
) -> theme.Figure:  # fmt: skip
    release, is_text = view.synthesizer, isinstance(x.values, list)
    look: Look = {"showgrid": False, "zeroline": False}
    look |= {"type": "category", "nticks": 20, "automargin": True} if is_text else {}
    bar = {"title": {"text": scale[0], "side": "top"}, "thickness": 12, "outlinewidth": 0, "x": 1.01, "xpad": 4}
    bar |= {"tickvals": [*scale[1]], "ticktext": [*scale[1].values()]} if scale[1] else {}
    trace |= {"type": "heatmap", "x": x.values, "y": y.values, "colorbar": bar}
    trace["hovertemplate"] += "<extra></extra>"
    layout: Look = {"title": {"text": f"{title}<br><sup>{release.info.label}</sup>"}, "shapes": shapes}
    layout |= {"legend": "right", "margin": (130 if is_text else 70, 92, 64)}
    axes = axis(x.title, **look), axis(y.title, autorange="reversed", **look)
    return theme.figure([trace], *axes, f"{key} {release.key} {release.shape}", **layout)


def _frames(
    synthesizer: Synthesizer, x: _Side, y: _Side, row: int | None, column: int | None, framed: Iterable[Any]
) -> list[Look]:
    """Frames around rows or pairs of a chosen `row`, and around their cells in a column: dark with a light line."""
    _check_places(synthesizer, row, column)
    frames: list[Look] = []
    for y0, y1 in [] if row is None else map(y.ends, framed):
        frames.append({"xref": "x domain", "x0": 0, "x1": 1, "y0": y0, "y1": y1})
        if column is not None:
            x0, x1 = x.ends(column)
            cell: Look = {"x0": x0, "x1": x1, "y0": y0, "y1": y1}
            for name in [name for name, side in (("x", x), ("y", y)) if len(side.shown) > 40]:
                # The frame of a cell would be too small to be seen: it has 18 pixels
                middle = (cell[f"{name}0"] + cell[f"{name}1"]) / 2
                cell |= {f"{name}sizemode": "pixel", f"{name}anchor": middle, f"{name}0": -9, f"{name}1": 9}
            frames.append(cell)
    lines = {"color": "#111111", "width": 3}, {"color": "#FFFFFF", "width": 1}
    return [{"type": "rect", "line": line, **frame} for frame in frames for line in lines]


def _check_places(synthesizer: Synthesizer, row: int | None, column: int | None) -> None:
    for name, place, size in zip(("row", "column"), (row, column), synthesizer.shape, strict=True):
        if place is not None:
            check_index(place, size, name)


def _outline(mask: BoolArray, x: FloatArray, y: FloatArray) -> str:
    """The border of the marked cells as a drawing path; empty where none is marked."""
    framed = np.pad(mask, 1)
    upright = np.argwhere(framed[1:-1, 1:] != framed[1:-1, :-1]).tolist()
    level = np.argwhere(framed[1:, 1:-1] != framed[:-1, 1:-1]).tolist()
    sides = [(x[column], y[row], x[column], y[row + 1]) for row, column in upright]
    sides += [(x[column], y[row], x[column + 1], y[row]) for row, column in level]
    return "".join(f"M{x0:g},{y0:g}L{x1:g},{y1:g}" for x0, y0, x1, y1 in sides)


# Tables


def _six_decimals(values: FloatArray) -> Any:
    """Log-odds as printed: six decimals, a true minus sign, ∞ where a zero decides."""
    return np.strings.replace(np.strings.replace(np.char.mod("%.6f", values), "-", "−"), "inf", "∞")


def release_html(
    synthesizer: Synthesizer, epsilon: float, *, signed: bool, row: int | None = None, column: int | None = None
) -> str:
    """Transition matrix and log-odds of a release as two HTML tables.

    The deeper the shade, the larger the probability. Log-odds over ε are boxed, bold and marked ▲, the largest is
    underlined.

    Parameters
    ----------
    synthesizer, epsilon, signed, row, column
        As in `log_odds_heatmap`.
    """
    _check_places(synthesizer, row, column)
    probabilities, log_odds = synthesizer.transition_matrix(), synthesizer.log_odds_table()
    pairs, counts = synthesizer.neighbours, synthesizer.row_counts
    # Classes of cells: over ε, the largest, and what was drawn; ▲ needs as much room as two letters
    kinds = np.where(exceeds(log_odds, epsilon), "dpviz-over", "").astype(object)
    kinds[np.unravel_index(np.argmax(np.abs(log_odds)), log_odds.shape)] += " dpviz-worst"
    plain = np.full(probabilities.shape, "", object)
    framed = np.arange(len(probabilities)) == row, (pairs == row).any(axis=1)
    if column is not None:
        plain[framed[0], column] = "dpviz-drawn"
        kinds[framed[1], column] += " dpviz-drawn"
    matrix = np.char.mod("%.6f", probabilities), plain, 0.42 * probabilities
    odds = _six_decimals(log_odds if signed else np.abs(log_odds)), kinds, [None] * len(pairs)
    tables: list[tuple[str, Any, Any, Any]] = [
        (f"{MATRIX_TITLE}, {synthesizer.info.label}", counts, framed[0], matrix),
        (LOG_ODDS_TITLES[signed], counts[pairs].reshape(len(pairs), -1), framed[1], odds),
    ]
    over, released = f"over ε = {format_number(epsilon)}", synthesizer.column_counts.T.tolist()
    html = ""
    for place, (title, labels, is_framed, (texts, classes, shades)) in enumerate(tables):
        # Ems: of a number its padding, each character, and what bold type and ▲ add; of a column of labels
        is_over = np.char.startswith(classes.astype(str), "dpviz-over")
        widths = 0.9 + 0.5 * np.strings.str_len(texts) + 1.1 * is_over
        ems = f"{2.9 * labels.shape[1] + float(widths.max(axis=0).sum()):.1f}"
        rows = list(zip(labels.tolist(), is_framed, texts, classes, shades, strict=True))
        html += fragment("table", title, synthesizer.key, place, ems, released, rows, over, template="matrix")
    return html
