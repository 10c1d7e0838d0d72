"""Methods side by side: one measure against ε, a line of each method where it is exact and dots where simulated."""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from textwrap import wrap
from typing import Any

import numpy as np

from dpviz.charts import style
from dpviz.charts.lines import DrawnLine, DrawnScale, Mark
from dpviz.charts.style import log_scale
from dpviz.core.formatting import format_number, format_or_dash
from dpviz.core.types import BoolArray, FloatArray

METHOD_DASHES = ("solid", "9px,3px", "14px,4px,2px,4px", "4px,3px", "22px,4px", "2px,4px")
"""Of the methods in their order, so that color is never alone."""

LISTED_SETS = 10  # Sets whose estimates a table lists
FADED = 0.35  # Opacity of what is there to be seen, but not to be chosen
NOMINAL_LABEL_SHARE = 0.06  # Height of the words of a nominal share
BAR = 1.96  # Standard errors to both sides of a simulated value
SMALLEST_SHOWN_SHARE = 1e-4  # Of the largest value of a logarithmic axis: there it ends, however small the others are
PLOT_HEIGHT, SMALL_HEIGHT = 330, 190  # Pixels of the inside of a picture, and of a small one with what is around it
TRUTH_LINE = {"color": style.TRUTH_COLOR, "width": 2}
TITLE_ROOM, AXIS_ROOM, NAME_ROOM = 44, 58, 136  # Pixels of the measure above it, of the axis below, of names beside it
NAME_SHARE = 0.062  # Share of its height that a name at the end of a line needs
NUMBER_SHARE = 0.1  # Share of the height that the number below a mark needs
LONGEST_NAME = 22  # Letters of a name that has one line
LEGEND_LINE, LEGEND_WIDTH, LETTER_WIDTH, SAMPLE_WIDTH = 20, 560, 6.3, 62  # Pixels of a legend's parts where it is shown


@dataclass(frozen=True, kw_only=True)
class Series:
    """One measure of one method at several ε. Where it is `exact` it is a line; a `reference` is a thin grey one.

    One that is `faded` is there to be seen, but not to be chosen. `short` stands at its end in place of its name. A
    `stroke` of its own says that its values are something else, and `told` what.
    """

    key: str
    name: str
    x: FloatArray
    y: FloatArray
    error: FloatArray
    exact: BoolArray
    reference: bool = False
    faded: bool = False
    short: str = ""
    stroke: style.Stroke | None = None
    told: str = "exact"


def legend_height(names: Sequence[str]) -> int:
    """Return the pixels of the legend below a picture that is wide enough to have one."""
    rows, used = 0, float(LEGEND_WIDTH)
    for name in names:
        width = SAMPLE_WIDTH + LETTER_WIDTH * len(name)
        rows, used = (rows, used + width) if used + width <= LEGEND_WIDTH else (rows + 1, width)
    return LEGEND_LINE * rows


def comparison_height(names: Sequence[str]) -> int:
    """Return the pixels of a picture with all that is around it, the same while its lines grow."""
    return TITLE_ROOM + PLOT_HEIGHT + AXIS_ROOM + legend_height(names)


def comparison_chart(
    series: Sequence[Series],
    scale: DrawnScale,
    *,
    axis: str,
    chosen: float,
    span: tuple[float, float],
    key: str,
    symbol: str = "ε",
    told: str = "",
    log: bool = True,
    limit: DrawnLine | None = None,
    mark: Mark | None = None,
    small: bool = False,
) -> style.Figure:
    """Return the picture of one measure over ε, or another `symbol`; `chosen` is a thin rule, as is a promised value.

    A `limit` is the best that is possible, with its name in the area that nothing can reach. A `chosen` of NaN has no
    rule, and `told` says what it is. A `small` picture has neither legend nor names at the ends of its lines.
    """
    above = {"x": 0, "xref": "paper", "xanchor": "left", "y": 1.02, "yref": "y domain", "yanchor": "bottom"}
    traces, words = [], [style.label(scale.title, **above, font={"size": 13})]
    ends = [math.log10(end) if log else end for end in span]
    values = _values(series, scale, limit)
    if limit is not None:
        hover = f"<b>{limit.name}</b><br>{symbol} = %{{x:.4g}}: %{{y:.5g}}<extra></extra>"
        traces.append(style.limit(limit.x, limit.y, hover, limit.name) | {"showlegend": False})
        if not small:
            words.append(style.label_across(limit.name, values["range"][0], edge="bottom"))
    for place, one in enumerate(series):
        traces += _traces(one, METHOD_DASHES[place % len(METHOD_DASHES)], symbol)
    if mark is not None:
        low, high = values["range"]
        values["range"] = [min(low, (math.log10(mark.y) if scale.log else mark.y) - NUMBER_SHARE * (high - low)), high]
        hover = f"<b>{mark.name}</b><br>{mark.text}<extra></extra>"
        ring = {"size": 13, "symbol": "circle-open", "color": style.color_of(mark.color), "line": {"width": 3}}
        words_below = [f"<b>{mark.text}</b>"]
        traces.append(style.mark(mark.x, mark.y, hover, text=words_below, textposition="bottom right", marker=ring))
    shapes = [] if math.isnan(chosen) else [style.rule(x=chosen)]
    if told and shapes and not small:
        words.append(style.label_upright(told, math.log10(chosen) if log else chosen, edge="top"))
    if scale.nominal is not None:
        shapes.append(style.rule(y=scale.nominal))
        curves = [(np.log10(one.x) if log else one.x, one.y) for one in series]
        promised = f"promised: {format_number(100 * scale.nominal, 8)} %"
        words.append(style.label_free(promised, scale.nominal, curves, ends, NOMINAL_LABEL_SHARE))
    named = len(series) > 1 and not small
    below, right = legend_height([one.name for one in series]) if named else 0, NAME_ROOM if named else 16
    layout = style.legend_below(-AXIS_ROOM / PLOT_HEIGHT, 58, right, 30 if small else TITLE_ROOM, AXIS_ROOM + below)
    across = log_scale(*ends) if log else {"range": ends}
    return style.build(
        traces,
        x=style.axis("", **across) | {"title": {"text": "" if small else axis, "standoff": 8}},
        y=values,
        uirevision=f"{key} {span}",
        shapes=shapes,
        annotations=[*words, *(_names(series, scale.log, values["range"]) if named else [])],
        meta={"named": True},  # the ends of lines say what a legend says where it has no room
        showlegend=named,
        **layout | ({"margin": {**layout["margin"], "b": 30}} if small else {}),
    )


def _names(series: Sequence[Series], log: bool, ends: Sequence[float]) -> list[dict[str, Any]]:
    """The names of lines at their ends, each behind its color."""
    heights, (low, high) = {}, ends
    for one in series:
        y = one.y[one.y > 0] if log else one.y
        if len(y):
            short = "<br>\u2003 ".join(wrap(one.short or one.name, LONGEST_NAME, break_on_hyphens=False))
            end = math.log10(y[-1]) if log else float(y[-1])
            color = f"color: {style.color_of(one.key)}; opacity: {FADED if one.faded else 1}"
            heights[f'<span style="{color}"><b>━</b></span> {short}'] = min(max(end, low), high)
    apart = style.labels_apart(heights, 1.01, NAME_SHARE * (high - low), high)
    return [one | {"align": "left"} for one in apart]


def _traces(one: Series, dash: str, symbol: str) -> list[dict[str, Any]]:
    """The exact part as a line, the simulated one as dots with their error bars."""
    color, exact, simulated = style.color_of(one.key), one.exact, ~one.exact

    def hover(how: str, spread: str = "") -> str:
        return f"<b>{one.name}</b>, {how}<br>{symbol} = %{{x:.4g}}: %{{y:.5g}}{spread}<extra></extra>"

    stroke = one.stroke or style.Stroke(dash, 1.6 if one.reference else 2.4)
    line = {"color": color, "width": stroke.width, "dash": stroke.dash}
    told: dict[str, Any] = {"name": one.name, "legendgroup": one.key, **({"opacity": FADED} if one.faded else {})}
    found = []
    if exact.any() or not simulated.any():
        found.append(style.scatter("lines", one.x[exact], one.y[exact], hover(one.told), line=line, **told))
    if simulated.any():
        bar = style.error_bar(BAR * one.error[simulated], color)
        words = hover("simulated, 95 % error bar", " ± %{error_y.array:.2g}")
        dots = {"marker": style.dot_marker(7, color, width=1), "error_y": bar, "showlegend": not exact.any()}
        found.append(style.scatter("markers", one.x[simulated], one.y[simulated], words, **dots, **told))
    return found


def _values(series: Sequence[Series], scale: DrawnScale, limit: DrawnLine | None) -> dict[str, Any]:
    """The axis of the measure, whose title stands above it: beside it, large type would be cut off."""
    if scale.percent:
        return style.axis("", range=[-0.02, 1.04], tickformat=".0%")
    bars = [one.y + side * BAR * np.nan_to_num(one.error) for one in series for side in (-1, 1)]
    every = np.concatenate([*bars, *([] if limit is None else [limit.y]), [math.nan]])
    every = every[np.isfinite(every) & ((every > 0) | (not scale.log))]
    low, high = (float(every.min()), float(every.max())) if len(every) else (0.1, 1.0)
    if scale.log:
        ends = math.log10(max(low, SMALLEST_SHOWN_SHARE * high)), math.log10(max(high, 1.5 * low))
        pad = 0.06 * (ends[1] - ends[0])
        return style.axis("", **log_scale(ends[0] - pad, ends[1] + pad))
    low, high = min(low, 0.0), max(high, 0.0)
    pad = 0.06 * (high - low) or 0.1
    return style.axis("", range=[low - pad * (low < 0), high + pad])


@dataclass(frozen=True, kw_only=True)
class ReleasedEstimates:
    """The estimates from each set that one method released."""

    key: str
    name: str
    estimates: FloatArray


def release_table(released: Sequence[ReleasedEstimates]) -> tuple[list[str], list[list[str]]]:
    """Return the names of the columns, and a row for each method: the mean of its sets, and the first sets."""
    rows = []
    for one in released:
        mean = float(np.mean(one.estimates)) if len(one.estimates) else math.nan
        first_sets = ", ".join(format_number(value, 3) for value in one.estimates[:LISTED_SETS].tolist())
        rows.append([f"<b>{one.name}</b>", format_or_dash(mean, 4), first_sets or "–"])
    return ["method", "mean of the sets", "the first sets"], rows


def release_chart(released: Sequence[ReleasedEstimates], *, original: float, truth: float, title: str) -> style.Figure:
    """One dot for each released set, a row for each method; the confidential data and the truth are thin rules.

    There is no rule of confidential data that give no estimate, where `original` is NaN.
    """
    traces = [
        style.scatter(
            "markers",
            one.estimates,
            np.full(len(one.estimates), row),
            f"<b>{one.name}</b><br>%{{x:.5g}}<extra></extra>",
            marker=style.dot_marker(10, style.color_of(one.key), width=1, opacity=0.8),
            showlegend=False,
            cliponaxis=False,
        )
        for row, one in enumerate(released)
    ]
    known = [] if math.isnan(original) else [original]
    every = np.concatenate([*(one.estimates for one in released), known, [truth]])
    pad = 0.06 * float(np.ptp(every)) or 0.1
    return style.build(
        traces,
        x=style.axis(title, range=[float(every.min()) - pad, float(every.max()) + pad]),
        y=style.axis_of_rows([one.name for one in released], automargin=True),
        uirevision="release",
        shapes=[*(style.rule(x=one) for one in known), style.rule(x=truth) | {"line": TRUTH_LINE}],
        annotations=[
            *(style.label_upright("confidential data", one, side="right" if one < truth else "left") for one in known),
            style.label_upright("truth", truth, side="left" if original < truth else "right"),
        ],
        margin={"l": 16, "r": 16, "t": 40, "b": 52},
        hovermode="closest",
    )


BEYOND_BOUNDS = 0.04  # Share of the distance of the bounds that the axes go on beyond them
MOST_DRAWN_ROWS = 2_000  # Rows that are drawn, so that a picture stays quick


def rows_chart(rows: FloatArray, *, cells: int, bounds: tuple[float, float], name: str) -> style.Figure:
    """Return the numbers of rows, shape (3, rows): the cell of each from 0 on, and its two numbers.

    They are in the order of their cells, so that of very many rows every second or third stands for all cells alike.
    The color counts the cells; the first one, the smallest, is drawn last with a mark of its own. `bounds` are thin
    rules, and a row on one of them stands on it.
    """
    rows = rows[:, :: -(-rows.shape[1] // MOST_DRAWN_ROWS)] if rows.shape[1] else rows
    first, (low, high) = rows[0] == 0, bounds
    pad = BEYOND_BOUNDS * (high - low)
    scale = {"colorscale": style.MAGNITUDES, "cmin": 1, "cmax": cells}
    traces = []
    for some, symbol, size, words in ((~first, "circle", 6, "other cells"), (first, "diamond", 10, "smallest cell")):
        cell, across, up = rows[:, some]
        marker = style.dot_marker(size, "", width=1, edge=style.GREY, symbol=symbol) | {"color": cell + 1, **scale}
        if symbol == "circle":
            marker |= {"colorbar": {"title": {"text": "cell"}, "thickness": 12, "tickformat": "d"}}
        hover = f"<b>{name}</b><br>cell %{{customdata}}: (%{{x:.4g}}, %{{y:.4g}})<extra></extra>"
        told = {"customdata": (cell + 1).astype(int), "name": words, "meta": f"{name}, {words}"}
        traces.append(style.scatter("markers", across, up, hover, marker=marker, cliponaxis=False, **told))
    ends = {"range": [low - pad, high + pad], "zeroline": False}
    return style.build(
        traces,
        x=style.axis("first number", **ends),
        y=style.axis("second number", **ends),
        uirevision=f"rows {bounds}",
        shapes=[style.rule(x=low), style.rule(x=high), style.rule(y=low), style.rule(y=high)],
        showlegend=False,
        margin={"l": 62, "r": 12, "t": 30, "b": 52},
        hovermode="closest",
    )


LIMIT_MARKS = ("blue", "circle"), ("violet", "diamond"), ("green", "square"), ("pink", "triangle-up")
"""Color and shape of the limits, in their order."""

# Shares of a limit beyond which a mark stands at the edge of the picture.
SMALLEST_USED_SHARE, LARGEST_USED_SHARE = 0.01, 100.0
TICKED_SHARES = 0.01, 0.03, 0.1, 0.2, 0.5, 1.0, 2.0, 5.0, 10.0, 30.0, 100.0
DENSE_DECADES = 2.0  # Powers of ten up to which the ticks between powers have room
DESIGN_ROW, AROUND_DESIGNS = 36, 140  # Pixels of a design, and of what stands around all of them
TWO_LINES = 30  # Pixels that the two lines of a design need


@dataclass(frozen=True, kw_only=True)
class Used:
    """How much of one limit each design uses, from `low` to `high` where it was simulated; NaN where it is unknown."""

    name: str
    shares: Sequence[float]
    low: Sequence[float]
    high: Sequence[float]


def height_of(designs: int) -> int:
    """Return the pixels of a picture of so many designs."""
    return AROUND_DESIGNS + DESIGN_ROW * designs


def limits_chart(names: Sequence[str], used: Sequence[Used], *, against: str = "", rows: int = 0) -> style.Figure:
    """A row for each design and a mark for each limit: left of the thin rule the limit is kept, right of it broken.

    Where there is no limit, `against` says what the shares are of. Marks of one design stand a little below each other.
    What was simulated has its 95 % error bar. There is room for so many `rows` where more designs are to come.
    """
    slots = [*names, *[""] * (rows - len(names))]
    traces = []
    apart = 0.5 / max(len(used), 2)
    for place, (one, (name, symbol)) in enumerate(zip(used, LIMIT_MARKS, strict=False)):
        every = np.array([one.shares, one.low, one.high], float)
        color, (shares, low, high) = style.PALETTE[name], np.clip(every, SMALLEST_USED_SHARE, LARGEST_USED_SHARE)
        heights = np.arange(len(names)) + (place - (len(used) - 1) / 2) * apart
        said = [_share(share, against or "the limit") for share in one.shares]
        look = {
            "text": [f"{design}<br>{one.name}: {words}" for design, words in zip(names, said, strict=True)],
            "error_x": style.error_bar(high - shares, color, shares - low),
            "marker": style.dot_marker(10, color, width=1, symbol=symbol),
        }
        hover = "%{text}<extra></extra>"
        traces.append(style.scatter("markers", shares, heights, hover, name=one.name, cliponaxis=False, **look))
    known = [share for one in used for share in (*one.low, *one.high) if not math.isnan(share)]
    ends = np.clip([min([0.5, *known]), max([2.0, *known])], SMALLEST_USED_SHARE, LARGEST_USED_SHARE)
    first, last = np.log10(ends).tolist()
    ticks = [one for one in TICKED_SHARES if last - first < DENSE_DECADES or math.log10(one) % 1 == 0]
    return style.build(
        traces,
        x=style.axis(
            against or "share of the limit",
            type="log",
            range=[first - 0.06, last + 0.06],
            tickvals=ticks,
            ticktext=[_tick(share) for share in ticks],
        ),
        y=style.axis_of_rows(slots, automargin=True),
        uirevision="limits",
        shapes=[style.rule(x=1.0)],
        annotations=[
            style.label_upright(word, 0.0, side=side)
            for word, side in (("kept ", "right"), (" broken", "left"))
            if not against
        ],
        meta={"row": TWO_LINES},  # where there is little room, so many designs are shown as have it
        **style.legend_below(0, 16, 16, 48, 84, yref="container", yanchor="bottom"),
    )


def _tick(share: float) -> str:
    """How a share is written at the axis, at whose ends stands what lies beyond them."""
    beyond = {SMALLEST_USED_SHARE: "≤ ", LARGEST_USED_SHARE: "≥ "}.get(share, "")
    return beyond + (f"× {share:g}" if share > 1 else f"{100 * share:g} %")


def _share(share: float, limit: str) -> str:
    if math.isnan(share):
        return "not yet known"
    return f"{100 * share:.3g} % of {limit}" if share < 10 else f"{share:.3g} times {limit}"
