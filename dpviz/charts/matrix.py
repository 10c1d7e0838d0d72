"""A transition matrix and its log-odds: as heatmaps, and as tables in the layout of Abowd & Vilhuber."""

import math
from collections.abc import Sequence
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from dpviz.charts import theme
from dpviz.charts.axes import axis, decade_ticks, power_of_ten
from dpviz.charts.html import fragment
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

FIGURES = {"posterior_mean": (1, 2), "laplace": (3, 4)}
"""Figures of Abowd & Vilhuber (2008) with the matrix and the log-odds, by the key of the synthesizer."""

DARKEST_EXPONENT = -16  # probabilities below this power of ten share the darkest color
MAX_FRAMED_COLUMNS = 40  # cells side by side up to which a frame is as large as a cell; then it has 18 pixels
HINT = "More columns may be at the right: scroll sideways →"
STYLE = Path(__file__).with_suffix(".css").read_text(encoding="utf-8")

# Widths in ems: of a column of labels, and of a number its padding, each character, and what bold type and ▲ add
LABEL_EMS, PADDING_EMS, CHARACTER_EMS, MARK_EMS = 2.9, 0.9, 0.5, 1.1


class _Side(NamedTuple):
    """What stands along an axis of a heatmap: its title, counts as numbers or texts, and how the hover says them."""

    title: str
    values: IntArray | list[str]
    hover: str

    def places(self, cells: FloatArray) -> FloatArray:
        """Axis values at places between the cells, counted from 0; an axis of texts counts the cells."""
        if isinstance(self.values, list):
            return cells
        values = np.asarray(self.values, float)
        if len(values) == 1:
            return cells + values[0]
        # Beyond both ends the steps go on as next to them
        ends = [2 * values[0] - values[1]], [2 * values[-1] - values[-2]]
        return np.interp(cells, np.arange(-1, len(values) + 1), np.concatenate([ends[0], values, ends[1]]))


def _sides(view: TableView) -> tuple[_Side, _Side, _Side]:
    """Released tables, confidential tables, and pairs of neighbours of a view."""
    release = view.synthesizer
    if release.row_counts.shape[1] == 2:
        return (
            _Side("released m1", view.columns, "m1 = %{x}"),
            _Side("confidential n1", view.rows, "n1 = %{y}"),
            _Side("n1 of the pair n1, n1 + 1", view.pairs, "n1 = %{y} and one more"),
        )
    columns = [",".join(map(str, release.column_table(column))) for column in view.columns.tolist()]
    rows = [",".join(map(str, release.row_table(row))) for row in view.rows.tolist()]
    pairs = [
        " | ".join(",".join(map(str, release.row_table(row))) for row in pair)
        for pair in release.neighbours[view.pairs].tolist()
    ]
    return (
        _Side("released counts", columns, "(%{x})"),
        _Side("confidential counts", rows, "(%{y})"),
        _Side("pair of neighbours", pairs, "(%{y})"),
    )


def matrix_heatmap(
    view: TableView, *, linear: bool = False, row: int | None = None, column: int | None = None
) -> theme.Figure:
    """Pr(released | confidential); a probability of 0 stays blank.

    Parameters
    ----------
    view : TableView
    linear : bool, optional
        Whether the color scale is linear and not logarithmic.
    row, column : int, optional
        Row that is framed, and column whose cell in that row is framed.
    """
    columns, rows, _ = _sides(view)
    log10 = view.log_probabilities / math.log(10)
    possible = np.isfinite(log10)
    with np.errstate(under="ignore"):
        probabilities = np.exp(view.log_probabilities)
    # The color scale
    values, low, high = probabilities, 0.0, float(probabilities.max())
    ticks: dict[float, str] = {}  # plotly's own
    if not linear:
        low, high = float(max(DARKEST_EXPONENT, min(-1, math.floor(log10[possible].min())))), 0.0
        values = np.maximum(log10, low)
        exponents, _ = decade_ticks(int(low), 0)
        ticks = {exponent: power_of_ten(exponent) for exponent in (int(low), *exponents[1:])}
        if low == DARKEST_EXPONENT:
            ticks[low] = f"≤ {ticks[low]}"
    hover = f"confidential {rows.hover}<br>released {columns.hover}<br><b>Pr = %{{customdata:.6g}}</b>"
    trace = {
        "z": np.where(possible, values, np.nan).astype(np.float32), "customdata": probabilities, "hoverongaps": False,
        "meta": "probability of the released table", "colorscale": theme.MAGNITUDES,
        **_color_scale("Pr", low, high, ticks),
    }  # fmt: skip
    _check_places(view.synthesizer, row, column)
    frames = [] if row is None else _frames(view, rows, view.rows, [row], column)
    return _heatmap(view, columns, rows, hover, trace, "matrix", MATRIX_TITLE, frames)


def log_odds_heatmap(
    view: TableView, epsilon: float, *, signed: bool, row: int | None = None, column: int | None = None
) -> theme.Figure:
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
    """
    columns, _, pairs = _sides(view)
    table, name = view.log_odds, "log-odds" if signed else "|log-odds|"
    shown = table if signed else np.abs(table)
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
    hover = f"neighbours {pairs.hover}<br>released {columns.hover}<br><b>log-odds = %{{customdata{digits}}}</b>"
    trace = {
        "z": np.clip(shown, low, limit).astype(np.float32), "meta": name,
        "customdata": shown if is_finite else np.vectorize(six_decimals)(shown),
        "colorscale": theme.SIGNED if signed else theme.MAGNITUDES,
        **_color_scale(name, low, limit, {tick: text for tick, text in sorted(ticks.items()) if tick >= low}),
    }  # fmt: skip
    # The outline and the frames
    shapes: list[dict[str, Any]] = []
    path = _outline(exceeds(table, epsilon), columns, pairs)
    if path:
        line, outline = {"color": "#9B30FF" if signed else "#FF5A36", "width": 2}, f"over ε = {format_number(epsilon)}"
        shapes.append({"type": "path", "path": path, "line": line, "name": f"outline: {outline}", "showlegend": True})
    _check_places(view.synthesizer, row, column)
    if row is not None:
        framed = np.flatnonzero((view.synthesizer.neighbours == row).any(axis=1)).tolist()
        shapes += _frames(view, pairs, view.pairs, framed, column)
    title = f"Log-odds, {'signed' if signed else 'absolute'}"
    return _heatmap(view, columns, pairs, hover, trace, "log-odds", title, shapes)


def _heatmap(
    view: TableView, x: _Side, y: _Side, hover: str, trace: dict[str, Any], key: str, title: str,
    shapes: list[dict[str, Any]],
) -> theme.Figure:  # fmt: skip
    release, is_text = view.synthesizer, isinstance(x.values, list)
    look: dict[str, Any] = {"showgrid": False, "zeroline": False}
    look |= {"type": "category", "nticks": 20, "automargin": True} if is_text else {}
    trace = {"type": "heatmap", "x": x.values, "y": y.values, "hovertemplate": f"{hover}<extra></extra>", **trace}
    layout: dict[str, Any] = {"title": {"text": f"{title}<br><sup>{release.info.label}</sup>"}, "shapes": shapes}
    layout["margin"] = {"l": 130 if is_text else 70, "r": 92, "t": 64, "b": 52}
    layout["legend"] = {"orientation": "h", "yanchor": "bottom", "y": 1.0, "xanchor": "right", "x": 1}
    x_axis, y_axis = axis(x.title, **look), axis(y.title, autorange="reversed", **look)
    return theme.figure([trace], x_axis, y_axis, f"{key} {release.key} {release.shape}", **layout)


def _color_scale(title: str, low: float, high: float, ticks: dict[float, str]) -> dict[str, Any]:
    look = {"title": {"text": title, "side": "top"}, "thickness": 12, "outlinewidth": 0, "x": 1.01, "xpad": 4}
    named = {"tickvals": [*ticks], "ticktext": [*ticks.values()]} if ticks else {}
    return {"zmin": low, "zmax": high, "colorbar": look | named}


def _frames(view: TableView, side: _Side, shown: IntArray, rows: list[int], column: int | None) -> list[dict[str, Any]]:
    """Frames around rows, and around their cells in a column if any: dark with a light line in it.

    What is left out of the view lies between what is shown.
    """

    def ends(side: _Side, place: int, shown: IntArray) -> list[float]:
        cell = np.interp(place, shown, np.arange(len(shown)))
        ends: list[float] = side.places(cell + np.array([-0.5, 0.5])).tolist()
        return ends

    frames: list[dict[str, Any]] = []
    for row in rows:
        y0, y1 = ends(side, row, shown)
        frames.append({"xref": "x domain", "x0": 0, "x1": 1, "y0": y0, "y1": y1})
        if column is None:
            continue
        x0, x1 = ends(_sides(view)[0], column, view.columns)
        cell: dict[str, Any] = {"x0": x0, "x1": x1, "y0": y0, "y1": y1}
        for name, places in (("x", view.columns), ("y", shown)):
            if len(places) > MAX_FRAMED_COLUMNS:
                middle = (cell[f"{name}0"] + cell[f"{name}1"]) / 2
                cell |= {f"{name}sizemode": "pixel", f"{name}anchor": middle, f"{name}0": -9, f"{name}1": 9}
        frames.append(cell)
    lines = {"color": "#111111", "width": 3}, {"color": "#FFFFFF", "width": 1}
    return [{"type": "rect", "line": line, **frame} for frame in frames for line in lines]


def _outline(mask: BoolArray, x: _Side, y: _Side) -> str:
    """The border of the marked cells as a drawing path in axis units; empty where none is marked."""
    framed = np.pad(mask, 1)
    upright = np.argwhere(framed[:, 1:] != framed[:, :-1])
    level = np.argwhere(framed[1:, :] != framed[:-1, :])
    starts = np.concatenate([upright - [1.5, 0.5], level - [0.5, 1.5]])
    ends = np.concatenate([upright, level]) - 0.5
    corners = x.places(starts[:, 1]), y.places(starts[:, 0]), x.places(ends[:, 1]), y.places(ends[:, 0])
    return "".join(f"M{x0:g},{y0:g}L{x1:g},{y1:g}" for x0, y0, x1, y1 in zip(*corners, strict=True))


def six_decimals(value: float) -> str:
    """A log-odds as printed: six decimals, a true minus sign, ∞ where a zero decides."""
    if math.isinf(value):
        return "∞" if value > 0 else "−∞"
    return f"{value:.6f}".replace("-", "−")


def _check_places(synthesizer: Synthesizer, row: int | None, column: int | None) -> None:
    for name, place, size in zip(("row", "column"), (row, column), synthesizer.shape, strict=True):
        if place is not None:
            check_index(place, size, name)


def layout_source(synthesizer: Synthesizer, place: int) -> str:
    """Whose layout the matrix (0) or the log-odds (1) have, with the figure that shows this synthesizer.

    Parameters
    ----------
    synthesizer : Synthesizer
    place : {0, 1}
    """
    number = f", Fig. {FIGURES[synthesizer.key][place]}" if synthesizer.key in FIGURES else ""
    return f"Exact; laid out as in Abowd & Vilhuber (2008){number}"


def release_html(
    synthesizer: Synthesizer, epsilon: float, *, signed: bool, row: int | None = None, column: int | None = None
) -> str:
    """Both tables of a release as HTML, with the figures of the paper whose layout they have.

    Parameters
    ----------
    synthesizer, epsilon, signed, row, column
        As in `matrix_html` and `log_odds_html`.
    """
    matrix_caption = f"{MATRIX_TITLE}, {synthesizer.info.label}. {layout_source(synthesizer, 0)}"
    log_odds_caption = f"{LOG_ODDS_TITLES[signed]}. {layout_source(synthesizer, 1)}"
    matrix = matrix_html(synthesizer, matrix_caption, row=row, column=column)
    return matrix + log_odds_html(synthesizer, epsilon, log_odds_caption, signed=signed, row=row, column=column)


def matrix_html(synthesizer: Synthesizer, caption: str, *, row: int | None = None, column: int | None = None) -> str:
    """Transition matrix as an HTML table; the deeper the shade, the larger the probability.

    Parameters
    ----------
    synthesizer : Synthesizer
    caption : str
    row, column : int, optional
        Row that is framed, and column whose cell in that row is marked.
    """
    _check_places(synthesizer, row, column)
    probabilities = synthesizer.transition_matrix()
    tables = [synthesizer.row_table(index) for index in range(len(probabilities))]
    kinds = np.full(probabilities.shape, "", object)
    texts = np.char.mod("%.6f", probabilities)
    is_framed = np.arange(len(tables)) == row
    return _table(synthesizer, caption, tables, texts, kinds, is_framed, column, shades=0.42 * probabilities)


def log_odds_html(
    synthesizer: Synthesizer, epsilon: float, caption: str, *, signed: bool, row: int | None = None,
    column: int | None = None,
) -> str:  # fmt: skip
    """Log-odds table as HTML; cells over ε are boxed, bold and marked ▲, the largest is underlined.

    Parameters
    ----------
    synthesizer : Synthesizer
    epsilon : float
        Promised ε, above 0.
    caption : str
    signed : bool
        Whether values have their signs.
    row, column : int, optional
        As in `matrix_html`; every pair of neighbours with that confidential table is framed.
    """
    _check_places(synthesizer, row, column)
    values = synthesizer.log_odds_table()
    tables = [(*synthesizer.row_table(a), *synthesizer.row_table(b)) for a, b in synthesizer.neighbours]
    texts = np.vectorize(six_decimals)(values if signed else np.abs(values))
    kinds = np.where(exceeds(values, epsilon), "dpviz-over", "").astype(object)
    kinds[np.unravel_index(np.argmax(np.abs(values)), values.shape)] += " dpviz-worst"
    is_framed = (synthesizer.neighbours == row).any(axis=1)
    title = f"over ε = {format_number(epsilon)}"
    return _table(synthesizer, caption, tables, texts, kinds, is_framed, column, title=title)


def _table(
    synthesizer: Synthesizer, caption: str, tables: Sequence[Sequence[int]], texts: Any, kinds: Any,
    is_framed: BoolArray, column: int | None, *, title: str = "", shades: FloatArray | None = None,
) -> str:  # fmt: skip
    """Table of cells with texts, CSS classes, and shades; `title` is that of cells over ε.

    Where there is less room than its cells need, its letters become smaller.
    """
    is_over = np.char.startswith(kinds.astype(str), "dpviz-over")
    widths = PADDING_EMS + CHARACTER_EMS * np.strings.str_len(texts) + MARK_EMS * is_over
    if column is not None:
        kinds[is_framed, column] += " dpviz-drawn"
    cells = synthesizer.row_counts.shape[1]
    names = [(place % cells + 1, (place // cells + 1) * (len(tables[0]) > cells)) for place in range(len(tables[0]))]
    ems = f"{LABEL_EMS * len(names) + float(widths.max(axis=0).sum()):.1f}"
    rows = zip(tables, is_framed, texts, kinds, [None] * len(tables) if shades is None else shades, strict=True)
    released = synthesizer.column_counts.T.tolist()
    return fragment("table", caption, HINT, ems, names, released, list(rows), title, template="matrix")
