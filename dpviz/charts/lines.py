"""Curves over one axis: exact as lines, simulated as dots with error bars, limits and promises as thin rules."""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from textwrap import wrap
from typing import Any, Literal

import numpy as np

from dpviz.charts import theme
from dpviz.core.formatting import format_number
from dpviz.core.types import BoolArray, FloatArray

METHOD_DASHES = ("solid", "9px,3px", "14px,4px,2px,4px", "4px,3px", "22px,4px", "2px,4px")
"""Of the methods in their order, so that color is never alone."""

BAR = 1.96  # standard errors to both sides of a simulated value
FADED_OPACITY = 0.35
SMALLEST_SHOWN_SHARE = 1e-4  # of the largest value of a logarithmic axis, where it ends
NAME_SHARE = 0.0655  # of the picture's height, for a line of a name: all rules have room
NUMBER_SHARE = 0.1  # of the height, for the number below a mark
LONGEST_NAME = 22  # letters of a name that has one line
PLOT_HEIGHT, SMALL_HEIGHT = 330, 190  # pixels of the inside of a picture, and of a small one with what is around it
TITLE_HEIGHT, AXIS_HEIGHT, LEGEND_WIDTH = 44, 58, 560  # pixels

Names = Literal["legend", "ends", "none"]
"""Where the names of lines stand."""


@dataclass(frozen=True, kw_only=True)
class Line:
    """One curve; NaN is a gap."""

    name: str
    x: FloatArray
    y: FloatArray
    color: str = "original"  # a color, or the key of a method or a rule
    stroke: theme.Stroke = theme.EXACT_LINE
    error: FloatArray | None = None  # standard errors of simulated values
    exact: BoolArray | None = None  # values that are not simulated: a line, the others dots; all by default
    short: str = ""  # its name at its end, if that is another
    basis: str = "exact"  # what the hover says of values that are not simulated
    symbol: str = ""  # of a mark at every point
    opacity: float = 1.0
    is_limit: bool = False  # whether nothing is possible below it: a thin line above a grey area
    in_legend: bool = True
    group: str = ""  # lines and marks of a group are switched on and off together in the legend
    is_folded: bool = False  # whether its name alone is drawn, which shows it when it is clicked
    custom: FloatArray | None = None  # further numbers, the ``%{customdata}`` of `custom_hover`
    custom_hover: str = ""  # last line of the hover

    def bar_ends(self) -> tuple[FloatArray, FloatArray]:
        """Lower and upper ends of the error bars; the values themselves where there are none."""
        length = BAR * np.nan_to_num(self.error) if self.error is not None else np.zeros(len(self.y))
        return self.y - length, self.y + length


@dataclass(frozen=True, kw_only=True)
class Mark:
    """A point with a number beside it."""

    x: float
    y: float
    color: str  # a color, or the key of a method or a rule
    text: str = ""  # the number
    place: str = "top right"
    name: str = ""  # first line of the hover
    hover: str = ""  # the second one; by default the value
    symbol: str = "circle"  # one that is hollow has ``-open`` in its name
    size: float = 10
    ends: tuple[float, float] | None = None  # of the error bar of a simulated value
    group: str = ""  # as of a line
    is_folded: bool = False


@dataclass(frozen=True, kw_only=True)
class ReferenceLine:
    """Thin line across the picture at `x` or at `y`, with a few words; the truth is one in ink."""

    text: str = ""
    x: float | None = None
    y: float | None = None
    dash: str = "solid"
    is_truth: bool = False


@dataclass(frozen=True, kw_only=True)
class Axis:
    """An axis, whose ends are those of its values, with some room, unless they are given."""

    title: str
    symbol: str = ""  # what the hover calls its values
    log: bool = False
    percent: bool = False
    low: float | None = None
    high: float | None = None
    pad: float = 0.03  # room beyond the ends as a share of their distance
    digits: str = ".6g"  # format of its values in the hover
    nominal: float | None = None  # a promised value
    ticks: tuple[float, ...] = ()  # in place of those of the scale
    has_plain_ticks: bool = False  # within four decades around 1: plain numbers and no powers of ten

    def position(self, value: float) -> float:
        """Place of a value in units of the axis: its exponent of ten if it is logarithmic."""
        return math.log10(value) if self.log else value

    def to_plotly(self, values: Sequence[FloatArray]) -> dict[str, Any]:
        """The axis on which these values stand."""
        shown = np.concatenate([*values, [math.nan]])
        shown = shown[np.isfinite(shown) & ((shown > 0) | (not self.log))]
        low = self.low if self.low is not None else float(shown.min()) if len(shown) else 0.1
        high = self.high if self.high is not None else float(shown.max()) if len(shown) else 1.0
        if self.log:
            high = max(high, 1.5 * low)
            pad = self.pad * (math.log10(high) - math.log10(low))
            scale = theme.log_scale(math.log10(low) - pad, math.log10(high) + pad)
        else:
            pad = self.pad * (high - low) if high > low else 1.0
            scale = {"range": [low - pad if self.low is None else low, high + pad]}
        scale |= {"tickformat": ".0%"} if self.percent else {}
        if self.has_plain_ticks and max(map(abs, scale["range"])) <= 4:
            scale["ticktext"] = [format_number(tick, 3) for tick in scale["tickvals"]]
        if self.ticks:
            scale |= {"tickvals": [*self.ticks], "ticktext": [f"{tick:.3g}" for tick in self.ticks]}
        return theme.axis(self.title, **scale)


def line_chart(
    lines: Sequence[Line], x: Axis, y: Axis, *, key: str, marks: Sequence[Mark] = (),
    references: Sequence[ReferenceLine] = (), names: Names = "legend", labels: Sequence[dict[str, Any]] = (),
    extra: Sequence[dict[str, Any]] = (), **layout: Any,
) -> theme.Figure:  # fmt: skip
    """Curves with marks and thin rules.

    Parameters
    ----------
    lines : sequence of Line
    x, y : Axis
    key : str
        The reader's zoom survives as long as it is the same.
    marks, references : sequence of Mark and of ReferenceLine, optional
        Those beyond the axes are left out.
    names : {"legend", "ends", "none"}, optional
        Where the names of the lines stand.
    labels, extra : sequence of dict, optional
        Further annotations and traces.
    **layout
        Further attributes of plotly's layout.
    """
    x_axis = x.to_plotly([line.x for line in lines])
    y_axis = y.to_plotly([end for line in lines for end in line.bar_ends()])
    traces = [trace for line in lines for trace in _line_traces(line, x, y)]
    traces += [_mark_trace(mark, y) for mark in marks if math.isfinite(mark.y) and (mark.y > 0 or not y.log)]
    shapes, annotations, heights = _reference_parts(references, x, y, x_axis["range"], y_axis["range"])
    if names == "ends":
        low, high = y_axis["range"]
        heights = {theme.colored_name(text, theme.GREY): place for text, place in heights.items()}
        heights |= _end_heights(lines, y, low, high)
        ends = theme.spread_labels(heights, 1.008, NAME_SHARE * (high - low), low + 0.96 * (high - low))
        annotations += [name | {"align": "left"} for name in ends]
    else:
        annotations += [theme.label_across(text, place, edge="top") for text, place in heights.items()]
    # On a telephone each entry of the legend has a row of its own.
    below = theme.legend_below(-0.24, 74, 18, 26, 112 + 20 * max(0, len(lines) - 4))
    look = {"legend": below, "ends": theme.margins(62, 136, 34, 52)}.get(names, theme.margins(62, 16, 30, 52))
    return theme.build(
        [*traces, *extra],
        x=x_axis,
        y=y_axis,
        uirevision=key,
        shapes=shapes,
        annotations=[*labels, *annotations],
        **look | layout,
    )


def _reference_parts(
    references: Sequence[ReferenceLine], x: Axis, y: Axis, x_range: Sequence[float], y_range: Sequence[float]
) -> tuple[list[dict[str, Any]], list[dict[str, Any]], dict[str, float]]:
    """Thin rules inside the picture, the words of the upright ones, and the heights of the other words."""
    shapes, upright, heights = [], [], {}
    for reference in references:
        is_upright = reference.x is not None
        axis, value, (low, high) = (x, reference.x, x_range) if is_upright else (y, reference.y, y_range)
        if value is None or (axis.log and value <= 0) or not low <= axis.position(value) <= high:
            continue
        shape = theme.truth(value, "below") if reference.is_truth else theme.rule(x=reference.x, y=reference.y)
        shapes.append(shape | {"line": {**shape["line"], "dash": reference.dash}})
        if reference.text and is_upright:
            upright.append(theme.label_upright(reference.text, axis.position(value), edge="top"))
        elif reference.text:
            heights[reference.text] = axis.position(value)
    return shapes, upright, heights


def _line_traces(line: Line, x: Axis, y: Axis) -> list[dict[str, Any]]:
    """The exact part as a line, the simulated one as dots with error bars."""
    exact = np.ones(len(line.x), bool) if line.exact is None else line.exact
    color = theme.color_of(line.color)
    place = f"{x.symbol} = %{{x:.5g}}" if x.symbol else "%{x:.5g}"
    number = f"{place}: %{{y:{y.digits}}}{line.custom_hover}"
    named: dict[str, Any] = {"name": line.name, "legendgroup": line.group or line.name, "showlegend": line.in_legend}
    named |= {"opacity": line.opacity} if line.opacity < 1 else {}
    named |= {"visible": "legendonly"} if line.is_folded else {}
    basis = f", {line.basis}" if line.basis != line.name else ""
    hover = f"<b>{line.name}</b>{basis}<br>{number}<extra></extra>"
    traces = []
    if line.is_limit:
        look: dict[str, Any] = {"line": {"color": theme.GREY, "width": 1.6}, "fillcolor": "rgba(138, 143, 152, 0.14)"}
        hover = f"<b>{line.name}</b><br>{number}<extra></extra>"
        traces.append(theme.scatter("lines", line.x, line.y, hover, fill="tozeroy", **look, **named))
    elif exact.any() or exact.all():
        look = {"line": {"color": color, "width": line.stroke.width, "dash": line.stroke.dash}}
        if line.custom is not None:
            look["customdata"] = line.custom[exact]
        if line.symbol:
            look["marker"] = theme.dot_marker(8, color, symbol=line.symbol)
        mode, meta = "lines+markers" if line.symbol else "lines", f"{line.name}{basis}"
        traces.append(theme.scatter(mode, line.x[exact], line.y[exact], hover, meta=meta, **look, **named))
    if line.error is not None and not exact.all():
        text = f"<b>{line.name}</b>, simulated, 95 % error bar<br>{number} ± %{{error_y.array:.2g}}<extra></extra>"
        bar, marker = theme.error_bar(BAR * line.error[~exact], color), theme.dot_marker(7, color, width=1)
        dots = theme.scatter("markers", line.x[~exact], line.y[~exact], text, marker=marker, error_y=bar, **named)
        traces.append(dots | {"showlegend": line.in_legend and not exact.any()})
    return traces


def _mark_trace(mark: Mark, y: Axis) -> dict[str, Any]:
    number = f"{format_number(100 * mark.y, 7)} %" if y.percent else format_number(mark.y)
    hover = f"<b>{mark.name}</b><br>{mark.hover or f'your point: {number}'}<extra></extra>"
    color = theme.color_of(mark.color)
    look: dict[str, Any] = {"legendgroup": mark.group, "textposition": mark.place}
    look |= {"visible": "legendonly"} if mark.is_folded else {}
    look["text"] = [f"<b>{mark.text}</b>" if mark.text else ""]
    if mark.ends is not None:
        above, below = [mark.ends[1] - mark.y], [mark.y - mark.ends[0]]
        look["error_y"] = theme.error_bar(above, color, below, thickness=2, width=7)
        look["meta"] = f"{mark.name}, simulated, 95 % error bar"
    edge, width = (color, 3) if mark.symbol.endswith("-open") else ("#333" if mark.ends else "#fff", 1)
    marker = theme.dot_marker(mark.size, color, width, edge, symbol=mark.symbol)
    return theme.mark(mark.x, mark.y, hover, "markers+text" if mark.text else "markers", marker=marker, **look)


def _end_heights(lines: Sequence[Line], y: Axis, low: float, high: float) -> dict[str, float]:
    """Heights of the ends of lines by their names, each behind its color."""
    heights = {}
    for line in lines:
        values = line.y[np.isfinite(line.y) & ((line.y > 0) | (not y.log))]
        if len(values) and not line.is_limit:
            name = "<br>\u2003 ".join(wrap(line.short or line.name, LONGEST_NAME, break_on_hyphens=False))
            color = f"{theme.color_of(line.color)}; opacity: {line.opacity}"
            heights[theme.colored_name(name, color)] = min(max(y.position(float(values[-1])), low), high)
    return heights


def method_stroke(place: int, *, is_reference: bool = False) -> theme.Stroke:
    """Stroke of the method at a place of a comparison; those that others are compared with are thin."""
    return theme.Stroke(METHOD_DASHES[place % len(METHOD_DASHES)], 1.6 if is_reference else 2.4)


def chosen_mark(x: float, y: float, color: str, text: str, name: str) -> Mark:
    """Ring around the method that a comparison is about, its number below it."""
    ring: dict[str, Any] = {"symbol": "circle-open", "size": 13, "place": "bottom right"}
    return Mark(x=x, y=y, color=color, text=text, name=name, hover=text, **ring)


def comparison_height(names: Sequence[str]) -> int:
    """Pixels of a `comparison_chart` of lines with these names, the same while they grow."""
    return TITLE_HEIGHT + PLOT_HEIGHT + AXIS_HEIGHT + _legend_height(names)


def _legend_height(names: Sequence[str]) -> int:
    """Pixels of the legend of a picture that is wide enough to have one."""
    rows, used = 0, float(LEGEND_WIDTH)
    for name in names:
        width = 62 + 6.3 * len(name)  # the sample of the line, and the letters
        rows, used = (rows, used + width) if used + width <= LEGEND_WIDTH else (rows + 1, width)
    return 20 * rows


def comparison_chart(
    lines: Sequence[Line], x: Axis, y: Axis, *, key: str, chosen: float = math.nan, chosen_text: str = "",
    limit: Line | None = None, mark: Mark | None = None, small: bool = False,
) -> theme.Figure:  # fmt: skip
    """One measure of several methods, whose names stand at the ends of their lines.

    Parameters
    ----------
    lines : sequence of Line
    x, y : Axis
        The title of `y`, the measure, stands above the picture: beside it, large type would be cut off.
    key : str
    chosen, chosen_text : float and str, optional
        Place of a thin rule, and its words.
    limit : Line, optional
        The best that is possible, with its name in the area that nothing can reach.
    mark : Mark, optional
    small : bool
        Without names and legend.
    """
    curves = [limit, *lines] if limit else [*lines]
    low, high = (-0.02, 1.04) if y.percent else _measure_ends(curves, y.log)
    if mark is not None:  # its number stands below it
        low = min(low, y.position(mark.y) - NUMBER_SHARE * (high - low))
    ends = (10**low, 10**high) if y.log else (low, high)
    above = {"x": 0, "xref": "paper", "xanchor": "left", "y": 1.02, "yref": "y domain", "yanchor": "bottom"}
    labels = [theme.label(y.title, 13, **above)]
    if limit is not None and not small:
        labels.append(theme.label_across(limit.name, low))
    references = [] if math.isnan(chosen) else [ReferenceLine(text="" if small else chosen_text, x=chosen)]
    if y.nominal is not None:
        references.append(ReferenceLine(text=f"promised: {format_number(100 * y.nominal, 8)} %", y=y.nominal))
    is_named = len(lines) > 1 and not small
    legend = _legend_height([line.name for line in lines]) if is_named else 0
    top, bottom = (30, 30) if small else (TITLE_HEIGHT, AXIS_HEIGHT + legend)
    layout = theme.legend_below(-AXIS_HEIGHT / PLOT_HEIGHT, 58, 136 if is_named else 16, top, bottom)
    return line_chart(
        curves,
        Axis(title="" if small else x.title, symbol=x.symbol, log=x.log, low=x.low, high=x.high, pad=0),
        Axis(title="", log=y.log, percent=y.percent, low=ends[0], high=ends[1], pad=0, digits=".5g"),
        key=f"{key} {(x.low, x.high)}",
        marks=[mark] if mark else [],
        references=references,
        names="ends" if is_named else "none",
        labels=labels,
        meta={"named": True},  # the ends of lines say what a legend says where it has no room
        **layout | {"showlegend": is_named},
    )


def _measure_ends(lines: Sequence[Line], log: bool) -> tuple[float, float]:
    """Ends of the axis of a measure; exponents of ten if it is logarithmic, else 0 is in it."""
    values = np.concatenate([*(end for line in lines for end in line.bar_ends()), [math.nan]])
    values = values[np.isfinite(values) & ((values > 0) | (not log))]
    low, high = (float(values.min()), float(values.max())) if len(values) else (0.1, 1.0)
    if log:
        low, high = math.log10(max(low, SMALLEST_SHOWN_SHARE * high)), math.log10(max(high, 1.5 * low))
        return low - 0.06 * (high - low), high + 0.06 * (high - low)
    low, high = min(low, 0.0), max(high, 0.0)
    pad = 0.06 * (high - low) or 0.1
    return low - pad * (low < 0), high + pad
