"""Curves over one axis: exact as lines, simulated as dots with error bars, limits and promises as thin lines."""

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from itertools import cycle
from textwrap import wrap
from typing import Any

import numpy as np

from dpviz.charts import theme
from dpviz.charts.axes import Axis
from dpviz.charts.theme import ReferenceLine
from dpviz.core.formatting import format_number
from dpviz.core.types import BoolArray, FloatArray

METHOD_DASHES = ("solid", "9px,3px", "14px,4px,2px,4px", "4px,3px", "22px,4px", "2px,4px")  # color is never alone
RING: dict[str, Any] = {"symbol": "circle-open", "size": 13, "place": "bottom right"}  # look of the mark of a method
BAR = 1.96  # standard errors to both sides of a simulated value
FADED_OPACITY = 0.35
SMALLEST_SHOWN_SHARE = 1e-4  # of the largest value of a logarithmic axis, where it ends
NAME_SHARE = 0.0655  # of the picture's height, for a line of a name: all rules have room
PLOT_HEIGHT, SMALL_HEIGHT = 330, 190  # pixels of the inside of a picture, and of a small one with what is around it
TITLE_HEIGHT, AXIS_HEIGHT = 44, 58  # pixels


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
    basis: str = "exact"  # what the hover says of values that are not simulated; none are saved if it is empty
    symbol: str = ""  # of a mark at every point
    opacity: float = 1.0
    is_limit: bool = False  # whether nothing is possible below it: a thin line above a grey area
    is_reference: bool = False  # whether the methods of a comparison are compared with it: its line is thin
    in_legend: bool = True
    group: str = ""  # lines and marks of a group are switched on and off together in the legend
    is_folded: bool = False  # whether its name alone is drawn, which shows it when it is clicked
    custom: FloatArray | None = None  # further numbers, the ``%{customdata}`` of `custom_hover`
    custom_hover: str = ""  # last line of the hover

    def bar_ends(self) -> tuple[FloatArray, FloatArray]:
        """Lower and upper ends of the error bars; the values themselves where there are none."""
        length = BAR * np.nan_to_num(self.error) if self.error is not None else np.zeros(len(self.y))
        return self.y - length, self.y + length

    def traces(self, x: Axis, y: Axis) -> list[dict[str, Any]]:
        """The exact part as a line, the simulated one as dots with error bars."""
        exact = np.ones(len(self.x), bool) if self.exact is None else self.exact
        color, stroke = theme.color_of(self.color), self.stroke
        place = f"{x.symbol} = %{{x:.5g}}" if x.symbol else "%{x:.5g}"
        number = f"{place}: %{{y:{y.digits}}}{self.custom_hover}"
        named: dict[str, Any] = {"name": self.name, "legendgroup": self.group or self.name, "opacity": self.opacity}
        named |= {"showlegend": self.in_legend, "visible": "legendonly" if self.is_folded else True}
        if self.is_limit:
            hover = f"<b>{self.name}</b><br>{number}<extra></extra>"
            look: dict[str, Any] = {"fill": "tozeroy", "fillcolor": "rgba(138, 143, 152, 0.14)"}
            look["line"] = {"color": theme.GREY, "width": 1.6}
            return [theme.scatter("lines", self.x, self.y, hover, **look, **named)]
        traces = []
        if exact.any() or exact.all():
            basis = f", {self.basis}" if self.basis != self.name else ""
            look = {
                "line": {"color": color, "width": stroke.width, "dash": stroke.dash},
                "meta": self.name + basis if self.basis else "",
            }
            look |= {} if self.custom is None else {"customdata": self.custom[exact]}
            look |= {"marker": theme.dot_marker(8, color, symbol=self.symbol)} if self.symbol else {}
            hover = f"<b>{self.name}</b>{basis}<br>{number}<extra></extra>"
            mode = "lines+markers" if self.symbol else "lines"
            traces.append(theme.scatter(mode, self.x[exact], self.y[exact], hover, **look, **named))
        if self.error is not None and not exact.all():
            hover = f"<b>{self.name}</b>, simulated, 95 % error bar<br>{number} ± %{{error_y.array:.2g}}<extra></extra>"
            look = {"error_y": theme.error_bar(BAR * self.error[~exact], color)}
            look["marker"] = theme.dot_marker(7, color, width=1)
            named["showlegend"] = self.in_legend and not exact.any()
            traces.append(theme.scatter("markers", self.x[~exact], self.y[~exact], hover, **look, **named))
        return traces

    def end_name(self) -> str:
        """Its name behind a dash in its color, in several lines if it is long."""
        name = "<br>\u2003 ".join(wrap(self.short or self.name, 22, break_on_hyphens=False))
        return _colored_name(name, f"{theme.color_of(self.color)}; opacity: {self.opacity}")


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

    def trace(self, y: Axis) -> dict[str, Any]:
        """The point with its number and its error bar."""
        number = f"{format_number(100 * self.y, 7)} %" if y.percent else format_number(self.y)
        hover = f"<b>{self.name}</b><br>{self.hover or f'your point: {number}'}<extra></extra>"
        color = theme.color_of(self.color)
        look: dict[str, Any] = {"legendgroup": self.group, "visible": "legendonly" if self.is_folded else True}
        look |= {"text": [f"<b>{self.text}</b>" if self.text else ""], "textposition": self.place}
        edge, width = "#fff", 1
        if self.symbol.endswith("-open"):
            edge, width = color, 3
        elif self.ends is not None:
            edge = "#333"
        if self.ends is not None:
            above, below = [self.ends[1] - self.y], [self.y - self.ends[0]]
            look["error_y"] = theme.error_bar(above, color, below, thickness=2, width=7)
            look["meta"] = f"{self.name}, simulated, 95 % error bar"
        look["marker"] = theme.dot_marker(self.size, color, width, edge, symbol=self.symbol)
        return theme.mark(self.x, self.y, hover, "markers+text" if self.text else "markers", **look)


def line_chart(
    lines: Sequence[Line], x: Axis, y: Axis, *, key: str, marks: Sequence[Mark] = (),
    references: Sequence[ReferenceLine] = (), names: str = "legend", labels: Sequence[dict[str, Any]] = (),
    **layout: Any,
) -> theme.Figure:  # fmt: skip
    """Curves with marks and thin lines.

    Parameters
    ----------
    marks, references : sequence of Mark and of ReferenceLine, optional
        Those beyond the axes are left out.
    names : {"legend", "ends", "none"}, optional
        Where the names of the lines stand.
    labels, **layout
        Further annotations, and further attributes of plotly's layout.
    """
    axes = x.to_plotly([line.x for line in lines]), y.to_plotly([end for line in lines for end in line.bar_ends()])
    traces = [trace for line in lines for trace in line.traces(x, y)]
    traces += [mark.trace(y) for mark in marks if math.isfinite(mark.y) and (mark.y > 0 or not y.log)]

    # Thin lines inside the picture; words of the level ones stand at its edge where names do
    shapes, annotations, heights = [], [*labels], {}
    for reference in references:
        axis, plotly_axis, value = (x, axes[0], reference.x) if reference.y is None else (y, axes[1], reference.y)
        low, high = plotly_axis["range"]
        if value is None or (axis.log and value <= 0) or not low <= axis.position(value) <= high:
            continue
        shapes.append(reference.shape)
        if reference.text and names == "ends" and axis is y:
            heights[_colored_name(reference.text, theme.GREY)] = axis.position(value)
        elif reference.text:
            annotations.append(reference.label(axis.position(value)) | {"yanchor": "top"})
    if names == "ends":
        low, high = axes[1]["range"]
        heights |= _end_heights(lines, y, low, high)
        ends = theme.spread_labels(heights, 1.008, NAME_SHARE * (high - low), low + 0.96 * (high - low))
        annotations += [name | {"align": "left"} for name in ends]

    # On a telephone each entry of the legend has a row of its own
    look = {
        "legend": theme.frame(74, 18, 26, 112 + 20 * max(0, len(lines) - 4), legend_y=-0.24),
        "ends": theme.frame(62, 136, 34, 52),
        "none": theme.frame(62, 16, 30, 52),
    }[names]
    return theme.figure(traces, *axes, key, **{**look, "shapes": shapes, "annotations": annotations, **layout})


def _end_heights(lines: Sequence[Line], y: Axis, low: float, high: float) -> dict[str, float]:
    """Heights of the ends of lines by their names."""
    heights = {}
    for line in lines:
        values = line.y[np.isfinite(line.y) & ((line.y > 0) | (not y.log))]
        if len(values) and not line.is_limit:
            heights[line.end_name()] = min(max(y.position(float(values[-1])), low), high)
    return heights


def _colored_name(name: str, color: str) -> str:
    return f'<span style="color: {color}"><b>━</b></span> {name}'


def comparison_height(names: Sequence[str]) -> int:
    """Pixels of a `comparison_chart` of lines with these names, the same while they grow."""
    return TITLE_HEIGHT + PLOT_HEIGHT + AXIS_HEIGHT + _legend_height(names)


def _legend_height(names: Sequence[str]) -> int:
    """Pixels of the legend of a picture that is wide enough to have one."""
    rows, used = 0, 560.0  # the width of a row
    for name in names:
        width = 62 + 6.3 * len(name)  # the sample of the line, and the letters
        rows, used = (rows, used + width) if used + width <= 560 else (rows + 1, width)
    return 20 * rows


def comparison_chart(
    lines: Sequence[Line], x: Axis, y: Axis, *, key: str, chosen: float = math.nan, chosen_text: str = "",
    limit: Line | None = None, mark: Mark | None = None, small: bool = False,
) -> theme.Figure:  # fmt: skip
    """One measure of several methods, whose names stand at the ends of their lines.

    Parameters
    ----------
    y : Axis
        The title of `y`, the measure, stands above the picture: beside it, large type would be cut off.
    chosen, chosen_text : float and str, optional
        Place of a thin line, and its words.
    limit : Line, optional
        The best that is possible, with its name in the area that nothing can reach.
    small : bool
        Without names and legend.
    """
    # Each method has a dash of its own
    curves = [] if limit is None else [limit]
    for line, dash in zip(lines, cycle(METHOD_DASHES), strict=False):
        stroke = theme.Stroke(dash, 1.6 if line.is_reference else 2.4)
        curves.append(replace(line, stroke=stroke) if line.stroke is theme.EXACT_LINE else line)
    low, high = (-0.02, 1.04) if y.percent else _measure_ends(curves, y.log)
    if mark is not None:  # its number stands below it
        low = min(low, y.position(mark.y) - 0.1 * (high - low))
    ends = (10**low, 10**high) if y.log else (low, high)

    # Words: the measure, what is beyond the limit, the place that was chosen, and what is promised
    above = {"x": 0, "xref": "paper", "xanchor": "left", "y": 1.02, "yref": "y domain", "yanchor": "bottom"}
    labels = [theme.label(y.title, 13, **above)]
    if limit is not None and not small:
        labels.append(ReferenceLine(y=low, text=limit.name).label())
    references = [] if math.isnan(chosen) else [ReferenceLine(text="" if small else chosen_text, x=chosen)]
    if y.nominal is not None:
        references.append(ReferenceLine(text=f"promised: {format_number(100 * y.nominal, 8)} %", y=y.nominal))

    is_named = len(lines) > 1 and not small
    legend = _legend_height([line.name for line in lines]) if is_named else 0
    top, bottom = (30, 30) if small else (TITLE_HEIGHT, AXIS_HEIGHT + legend)
    layout = theme.frame(58, 136 if is_named else 16, top, bottom, legend_y=-AXIS_HEIGHT / PLOT_HEIGHT)
    return line_chart(
        curves,
        replace(x, title="" if small else x.title, pad=0),
        replace(y, title="", low=ends[0], high=ends[1], pad=0, digits=".5g"),
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
