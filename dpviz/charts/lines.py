"""Curves over one axis: exact as lines, simulated as dots with error bars, limits and promises as thin lines."""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import cycle
from textwrap import wrap
from typing import Any

import numpy as np

from dpviz.charts import theme
from dpviz.charts.axes import Axis
from dpviz.charts.theme import Look, ReferenceLine
from dpviz.core.formatting import format_number
from dpviz.core.types import BoolArray, FloatArray

METHOD_DASHES = ("solid", "9px,3px", "14px,4px,2px,4px", "4px,3px", "22px,4px", "2px,4px")  # color is never alone
RING: Look = {"symbol": "circle-open", "size": 13, "place": "bottom right"}  # look of the mark of a method
BAR = 1.96  # standard errors to both sides of a simulated value
FADED_OPACITY = 0.35
SMALLEST_SHOWN_SHARE = 1e-4  # of the largest value of a logarithmic axis, where it ends
NAME_SHARE = 0.0655  # of the picture's height, for a line of a name: all rules have room
LARGE_HEIGHT, SMALL_HEIGHT = 432, 190  # pixels of a comparison without its legend, and of a small one


@dataclass(frozen=True, kw_only=True)
class Line:
    """One curve; NaN is a gap."""

    name: str
    x: FloatArray
    y: FloatArray
    color: str = "original"  # a color, or the key of a method or a rule
    stroke: theme.Stroke = theme.EXACT_LINE
    error: FloatArray | None = None  # standard errors of simulated values, or lengths of their bars below and above
    exact: BoolArray | None = None  # values that are not simulated: a line, the others dots; all by default
    short: str = ""  # its name at its end, if that is another
    basis: str = "exact"  # what the hover says of values that are not simulated
    hover: str = ""  # what it says of a point, by default both values
    symbol: str = ""  # of a mark at every point
    opacity: float = 1.0
    is_limit: bool = False  # whether nothing is possible below it: a thin line above a grey area
    is_reference: bool = False  # whether the methods of a comparison are compared with it: its line is thin
    look: Mapping[str, Any] = field(default_factory=dict)  # further attributes of plotly's traces

    @property
    def bars(self) -> FloatArray:
        """Lengths of the error bars below and above all values."""
        error = np.zeros(len(self.y)) if self.error is None else np.nan_to_num(self.error)
        return BAR * np.stack([error, error]) if error.ndim == 1 else error

    @property
    def bar_ends(self) -> tuple[FloatArray, FloatArray]:
        """Lower and upper ends of the error bars."""
        return self.y - self.bars[0], self.y + self.bars[1]

    def traces(self, x: Axis, y: Axis) -> list[Look]:
        """The exact part as a line, the simulated one as dots with error bars."""
        exact = np.ones(len(self.x), bool) if self.exact is None else self.exact
        color, stroke, basis = theme.color_of(self.color), self.stroke, f", {self.basis}"
        number = self.hover or f"{f'{x.symbol} = ' if x.symbol else ''}%{{x:.5g}}: %{{y:{y.digits}}}"
        shared = {"name": self.name, "legendgroup": self.name, "opacity": self.opacity, **self.look}
        area: Look = {}
        if self.is_limit:
            color, stroke, basis = theme.GREY, theme.Stroke("solid", 1.6), ""
            area = {"fill": "tozeroy", "fillcolor": "rgba(138, 143, 152, 0.14)"}
        traces = []
        if exact.any() or exact.all():
            basis = "" if self.basis == self.name else basis
            look = {"line": {"color": color, "width": stroke.width, "dash": stroke.dash}, "meta": self.name + basis}
            look |= {"marker": theme.dot_marker(8, color, 2, symbol=self.symbol)} if self.symbol else area
            mode, hover = "lines+markers" if self.symbol else "lines", f"<b>{self.name}</b>{basis}<br>{number}"
            traces.append(theme.scatter(mode, self.x[exact], self.y[exact], hover, **look | shared))
        if not exact.all():
            below, above = self.bars[:, ~exact]
            hover = f"<b>{self.name}</b>, simulated, 95 % error bar<br>{number} ± %{{error_y.array:.2g}}"
            look = {"error_y": theme.error_bar(below, above, color), "marker": theme.dot_marker(7, color)}
            shared = {"showlegend": not exact.any(), **shared}
            traces.append(theme.scatter("markers", self.x[~exact], self.y[~exact], hover, **look | shared))
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
    hover: str = ""  # the second one; by default "your point" and the value
    symbol: str = "circle"  # one that is hollow has ``-open`` in its name
    size: float = 10
    ends: tuple[float, float] | None = None  # of the error bar of a simulated value
    look: Mapping[str, Any] = field(default_factory=dict)  # further attributes of plotly's trace

    def trace(self, y: Axis) -> Look:
        """The point with its number and its error bar, in full on the edge of the picture."""
        number = f"{format_number(100 * self.y, 7)} %" if y.percent else format_number(self.y)
        hover, color = f"<b>{self.name}</b><br>{self.hover or f'your point: {number}'}", theme.color_of(self.color)
        look: Look = {"cliponaxis": False, "showlegend": False, "textposition": self.place}
        look["text"] = [f"<b>{self.text}</b>" if self.text else ""]
        width, edge = (3, color) if self.symbol.endswith("-open") else (1, "#fff")
        if self.ends is not None:
            edge, lengths = "#333", ([self.y - self.ends[0]], [self.ends[1] - self.y])
            look |= {"error_y": theme.error_bar(*lengths, color, thickness=2, width=7)}
            look |= {"meta": f"{self.name}, simulated, 95 % error bar"}
        look["marker"] = theme.dot_marker(self.size, color, width, edge, symbol=self.symbol)
        mode = "markers+text" if self.text else "markers"
        return theme.scatter(mode, [self.x], [self.y], hover, **look | dict(self.look))


def line_chart(
    lines: Sequence[Line], x: Axis, y: Axis, *, key: str, marks: Sequence[Mark] = (),
    references: Sequence[ReferenceLine] = (), labels: Sequence[Look] = (), legend: str = "below",
    named_ends: bool = False, **layout: Any,
) -> theme.Figure:  # fmt: skip
    """Curves with marks and thin lines.

    Parameters
    ----------
    marks, references : sequence of Mark and of ReferenceLine, optional
        References beyond the axes are left out, and marks that an axis cannot show.
    labels : sequence of dict, optional
        Further annotations.
    legend : {"below", "above", ""}, optional
        Where the legend stands, if at all.
    named_ends : bool, optional
        Whether the names of the lines stand at their ends.
    **layout
        Further attributes of `theme.figure`.
    """
    axes = x.to_plotly([line.x for line in lines]), y.to_plotly([end for line in lines for end in line.bar_ends])
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
        if reference.text and named_ends and axis is y:
            heights[_colored_name(reference.text, theme.GREY)] = axis.position(value)
        elif reference.text:
            annotations.append(reference.label(axis.position(value)) | {"yanchor": "top"})

    # The names of lines at the heights of their last points
    if named_ends:
        low, high = axes[1]["range"]
        for line in lines:
            values = line.y[np.isfinite(line.y) & ((line.y > 0) | (not y.log))]
            if len(values) and not line.is_limit:
                heights[line.end_name()] = min(max(y.position(float(values[-1])), low), high)
        ends = theme.spread_labels(heights, 1.008, NAME_SHARE * (high - low), low + 0.96 * (high - low))
        annotations += [name | {"align": "left"} for name in ends]
    margin = (62, 136, 34) if named_ends else (70, 16, 30)
    look = {"margin": margin, "legend": legend, "shapes": shapes, "annotations": annotations, **layout}
    return theme.figure(traces, *axes, key, **look)


def _colored_name(name: str, color: str) -> str:
    return f'<span style="color: {color}"><b>━</b></span> {name}'


def comparison_height(names: Sequence[str]) -> int:
    """Pixels of a `comparison_chart` of lines with these names, the same while they grow."""
    rows, used, room = 0, math.inf, 560.0  # rows of the legend of a picture that is wide enough to have one
    for name in names:
        width = 62 + 6.3 * len(name)  # the sample of the line, and the letters
        rows, used = (rows, used + width) if used + width <= room else (rows + 1, width)
    return LARGE_HEIGHT + 20 * rows


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
    if mark is not None and math.isfinite(mark.y) and (mark.y > 0 or not y.log):  # its number stands below it
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
    return line_chart(
        curves,
        replace(x, title="" if small else x.title),
        replace(y, title="", low=ends[0], high=ends[1], pad=0, digits=".5g"),
        key=f"{key} {(x.low, x.high)}",
        marks=[mark] if mark else [],
        references=references,
        labels=labels,
        legend="below" if is_named else "",
        named_ends=is_named,
        margin=(58, 136 if is_named else 16, 30 if small else 44),
        meta={"named": True},  # the ends of lines say what a legend says where it has no room
    )


def _measure_ends(lines: Sequence[Line], log: bool) -> tuple[float, float]:
    """Ends of the axis of a measure; exponents of ten if it is logarithmic, else 0 is in it."""
    values = np.concatenate([*(end for line in lines for end in line.bar_ends), [math.nan]])
    values = values[np.isfinite(values) & ((values > 0) | (not log))]
    low, high = (float(values.min()), float(values.max())) if len(values) else (0.1, 1.0)
    if log:
        low, high = math.log10(max(low, SMALLEST_SHOWN_SHARE * high)), math.log10(max(high, 1.5 * low))
        return low - 0.06 * (high - low), high + 0.06 * (high - low)
    low, high = min(low, 0.0), max(high, 0.0)
    pad = 0.06 * (high - low) or 0.1
    return low - pad * (low < 0), high + pad
