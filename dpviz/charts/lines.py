"""Axes with round numbers as their ticks, and curves over them: exact as lines, simulated as dots with error bars."""

import math
import tomllib
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import cycle
from pathlib import Path
from textwrap import wrap
from typing import Any

import numpy as np

from dpviz.charts import theme
from dpviz.charts.theme import Look, ReferenceLine
from dpviz.core.formatting import SUPERSCRIPTS, format_number, format_percent
from dpviz.core.types import BoolArray, FloatArray

MEASURES: dict[str, dict[str, Any]] = tomllib.loads(Path(__file__).with_name("measures.toml").read_text("utf-8"))
"""By key what axes and pictures are called: of comparisons, of published figures, and along smallest priors."""

AXIS_INTERVALS = 4  # about how many an axis is cut into
STEADY_DIGITS = (1, 1.5, 2, 3, 4, 5, 7, 10)
DECADE_TICKS = ((1, 1.5, 2, 3, 4, 5, 6, 8), (1, 1.5, 2, 3, 4, 5, 7), (1, 1.5, 2, 3, 5, 7), (1, 2, 3, 5), (1, 2, 5))


def axis(title: str, **rest: Any) -> dict[str, Any]:
    """Axis with a title."""
    return {"title": {"text": title}, "exponentformat": "power", **rest}


def axis_of_rows(names: Sequence[str]) -> dict[str, Any]:
    """Vertical axis with a name for each row, from the top down, and as much room as the names need."""
    ticks = {"tickvals": list(range(len(names))), "ticktext": list(names), "range": [len(names) - 0.5, -0.5]}
    return axis("", **ticks, showgrid=False, zeroline=False, automargin=True)


def rows_height(rows: int) -> int:
    """Pixels of a picture of so many rows."""
    return 150 + 36 * rows


def round_step(rough: float, digits: Sequence[float] = (1, 2, 5, 10), share: float = 1.0) -> float:
    """Smallest digit times a power of ten that is at least `share` times a rough step.

    Parameters
    ----------
    digits : sequence of float, optional
        From the smallest.
    share : float, optional
        Of the rough step that is enough.

    >>> round_step(0.25), round_step(30.0)
    (0.5, 50.0)
    """
    power = 10.0 ** math.floor(math.log10(rough))
    return next(digit * power for digit in digits if digit * power >= rough * share)


def steady_ends(low: float, high: float, *, log: bool = False) -> tuple[float, float]:
    """Round numbers around a range: an axis that ends there keeps its place while a slider is dragged.

    A range from or to 0 ends at one of eight round numbers a decade, one on both sides of 0 at the same distance from
    it, a logarithmic one at powers of ten, and any other at multiples of a round step of about an eighth of it.

    Parameters
    ----------
    low, high : float
        Finite; above 0 where the axis is logarithmic.
    log : bool, optional

    Examples
    --------
    >>> steady_ends(0.0, 0.31), steady_ends(-3.0, 1.0), steady_ends(0.31, 0.42), steady_ends(0.03, 2.0, log=True)
    ((0.0, 0.4), (-3.0, 3.0), (0.3, 0.42), (0.01, 10.0))
    """
    if log:
        return 10.0 ** math.floor(math.log10(low)), 10.0 ** math.ceil(math.log10(high))
    if low <= 0 <= high and low < high:
        reach = round_step(max(-low, high), STEADY_DIGITS)
        return -reach if low < 0 else 0.0, reach if high > 0 else 0.0
    step = round_step(max(high - low, 1e-9) / (2 * AXIS_INTERVALS))
    return round(step * math.floor(low / step), 12), round(step * math.ceil(high / step), 12)


def decade_ticks(lowest: int, highest: int) -> dict[int, str]:
    """Exponents for about seven ticks of a base-10 logarithmic scale, with the powers of ten as texts.

    Parameters
    ----------
    lowest, highest : int
    """
    exponents = range(highest, lowest - 1, -max(1, math.ceil((highest - lowest) / 7)))
    return {exponent: "10" + str(exponent).translate(SUPERSCRIPTS) if exponent else "1" for exponent in exponents[::-1]}


def log_scale(low: float, high: float) -> dict[str, Any]:
    """Logarithmic axis with as many ticks as stand well apart: plain numbers within four decades around 1.

    Parameters
    ----------
    low, high : float
        Exponents of ten at its ends.
    """
    span, texts = high - low, list[str]()
    if span > 2.2:
        decades = decade_ticks(math.floor(low), math.ceil(high))
        ticks = [10.0**exponent for exponent in decades]
        texts = [] if max(-low, high) <= 4 else [*decades.values()]
    elif span < 0.3:  # a factor of two: equal steps
        step = round_step((10.0**high - 10.0**low) / AXIS_INTERVALS)
        ticks = [place * step for place in range(math.ceil(10.0**low / step), math.floor(10.0**high / step) + 1)]
    else:  # the most ticks per decade that have an eighth of the axis each
        roomy = (digits for digits in DECADE_TICKS if np.diff(np.log10([*digits, 10])).min() >= span / 8)
        digits, powers = next(roomy, DECADE_TICKS[-1]), range(math.floor(low), math.ceil(high) + 1)
        ticks = [digit * 10.0**power for power in powers for digit in digits]
    ticktext = texts or [format_number(tick, 3) for tick in ticks]
    return {"type": "log", "range": [low, high], "tickvals": ticks, "ticktext": ticktext}


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
    look: Mapping[str, Any] = field(default_factory=dict)  # further attributes of plotly's axis

    def shown(self, values: Iterable[FloatArray]) -> FloatArray:
        """Those of the values, in any number of arrays, that the axis can show."""
        joined = np.concatenate([*values, []])
        return joined[np.isfinite(joined) & ((joined > 0) | (not self.log))]

    def to_plotly(self, values: Iterable[FloatArray]) -> Look:
        """The axis on which these values stand."""
        shown = self.shown(values)
        low, high = (float(shown.min()), float(shown.max())) if len(shown) else (0.1, 1.0)
        low, high = low if self.low is None else self.low, high if self.high is None else self.high
        if self.log:
            low, high = math.log10(low), math.log10(max(high, 1.5 * low))
        pad = self.pad * (high - low) if high > low else 1.0
        first, last = low - pad if self.log or self.low is None else low, high + pad
        scale = log_scale(first, last) if self.log else {"range": [first, last]}
        scale |= {"tickformat": ".0%"} if self.percent else {}
        return axis(self.title, **scale | dict(self.look))


METHOD_DASHES = ("solid", "9px,3px", "14px,4px,2px,4px", "4px,3px", "22px,4px", "2px,4px")  # color is never alone
RING: Look = {"symbol": "circle-open", "size": 13, "place": "bottom right"}  # look of the mark of a method
BAR = 1.96  # standard errors to both sides of a simulated value
FADED_OPACITY = 0.55
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
    look: Mapping[str, Any] = field(default_factory=dict)  # further attributes of plotly's traces

    @property
    def bars(self) -> FloatArray:
        """Lengths of the error bars below and above all values."""
        if self.error is None:
            return np.zeros((2, len(self.y)))
        error = np.nan_to_num(self.error)
        return error if error.ndim == 2 else BAR * np.stack([error, error])

    def traces(self, x: Axis, y: Axis) -> list[Look]:
        """The exact part as a line, the simulated one as dots with error bars."""
        exact = np.ones(len(self.x), bool) if self.exact is None else self.exact
        color, stroke = theme.color_of(self.color), self.stroke
        number = self.hover or f"{f'{x.symbol} = ' if x.symbol else ''}%{{x:.5g}}: %{{y:{y.digits}}}"
        shared = {"name": self.name, "legendgroup": self.name, "opacity": self.opacity, **self.look}
        basis = "" if self.is_limit or self.basis == self.name else f", {self.basis}"
        kind: Look = {"mode": "lines"}
        if self.is_limit:
            color, stroke = theme.GREY, theme.THIN_LINE
            kind |= {"fill": "tozeroy", "fillcolor": "rgba(138, 143, 152, 0.14)"}
        if self.symbol:
            kind = {"mode": "lines+markers", "marker": theme.dot_marker(8, color, 2, symbol=self.symbol)}
        traces = []
        if exact.any() or exact.all():
            line = {"color": color, "width": stroke.width, "dash": stroke.dash}
            look = {"line": line, "meta": self.name + basis, **kind, **shared}
            hover = f"<b>{self.name}</b>{basis}<br>{number}"
            traces.append(theme.scatter("lines", self.x[exact], self.y[exact], hover, **look))
        if not exact.all():
            below, above = self.bars[:, ~exact]
            bar = theme.error_bar(below, above, color)
            look = {"error_y": bar, "marker": theme.dot_marker(7, color), "showlegend": not exact.any(), **shared}
            hover = f"<b>{self.name}</b>, simulated, 95 % error bar<br>{number} ± %{{error_y.array:.2g}}"
            traces.append(theme.scatter("markers", self.x[~exact], self.y[~exact], hover, **look))
        return traces


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
    marks, references, labels : sequence of Mark, of ReferenceLine, and of dict, optional
        References beyond the axes are left out, and marks that an axis cannot show.
    legend : {"below", "above", ""}, optional
        Where the legend stands, if at all.
    named_ends : bool, optional
        Whether the names of the lines stand at their ends.
    **layout
        Further attributes of `theme.figure`.
    """
    across = x.to_plotly(line.x for line in lines)
    up = y.to_plotly(end for line in lines for bars in [line.bars] for end in (line.y - bars[0], line.y + bars[1]))
    traces = [trace for line in lines for trace in line.traces(x, y)]
    traces += [mark.trace(y) for mark in marks if math.isfinite(mark.y) and (mark.y > 0 or not y.log)]
    heights: dict[str, float] = {}
    low, high = up["range"]
    if named_ends:  # of level thin lines as well, which then have no words in the picture
        for reference in references:
            place, share = theme.place_on(up, reference.y)
            heights |= {_end_name(reference.text, theme.GREY): place} if reference.text and 0 <= share <= 1 else {}
        for line in [line for line in lines if not line.is_limit]:
            name = _end_name(line.short or line.name, f"{theme.color_of(line.color)}; opacity: {line.opacity}")
            for value in y.shown([line.y])[-1:]:
                heights[name] = min(max(theme.place_on(up, value)[0], low), high)
        references = [line if line.y is None else replace(line, text="") for line in references]
    ends = theme.spread_labels(heights, 1.008, NAME_SHARE * (high - low), low + 0.96 * (high - low))
    look: Look = {"references": references, "labels": labels, "names": [name | {"align": "left"} for name in ends]}
    look |= {"margin": (62, 136, 34)} if named_ends else {}
    return theme.figure(traces, across, up, key, legend=legend, **look | layout)


def _end_name(name: str, color: str) -> str:
    """A name behind a dash in its color, in several lines if it is long."""
    lines = "<br>\u2003 ".join(wrap(name, 22, break_on_hyphens=False))
    return f'<span style="color: {color}"><b>━</b></span> {lines}'


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
        stroke = theme.Stroke(dash, min(line.stroke.width, 2.4))
        curves.append(replace(line, stroke=stroke) if line.stroke.dash == "solid" else line)
    low, high = _measure_ends(curves, y, [] if mark is None else [mark.y])

    # Words: the measure, what is beyond the limit, the place that was chosen, and what is promised
    above = {"x": 0, "xref": "paper", "xanchor": "left", "y": 1.02, "yref": "y domain", "yanchor": "bottom"}
    labels = [theme.label(y.title, 13, **above)]
    if limit is not None and not small:
        labels.append(ReferenceLine(y=low, text=limit.name, anchor="bottom").label(low))
    references = [ReferenceLine(text="" if small else chosen_text, x=chosen)]
    if y.nominal is not None:
        references.append(ReferenceLine(text=f"promised: {format_percent(y.nominal, 8)}", y=y.nominal))

    is_named = len(lines) > 1 and not small
    ends: Look = {"low": 10**low, "high": 10**high} if y.log else {"low": low, "high": high}
    return line_chart(
        curves, replace(x, title="" if small else x.title), replace(y, title="", pad=0, digits=".5g", **ends),
        key=f"{key} {(x.low, x.high)}", marks=[mark] if mark else [], references=references, labels=labels,
        legend="below" if is_named else "", named_ends=is_named,
        margin=(58, 16, 48, 30) if small else (58, 136 if is_named else 16, 44),  # a small title is below the toolbar
        meta={"named": True},  # the ends of lines say what a legend says where it has no room
    )  # fmt: skip


def _measure_ends(lines: Sequence[Line], y: Axis, marked: Sequence[float]) -> tuple[float, float]:
    """Ends of the axis of a measure in its units; 0 is in it unless it is logarithmic."""
    values = y.shown(end for line in lines for bars in [line.bars] for end in (line.y - bars[0], line.y + bars[1]))
    low, high = (float(values.min()), float(values.max())) if len(values) else (0.1, 1.0)
    if y.log:
        low, high = math.log10(max(low, SMALLEST_SHOWN_SHARE * high)), math.log10(max(high, 1.5 * low))
    else:
        low, high = min(low, 0.0), max(high, 0.0)
    pad = 0.06 * (high - low) or 0.1
    low, high = (-0.02, 1.04) if y.percent else (low - pad * (y.log or low < 0), high + pad)
    # The number of a mark stands below it
    places = [math.log10(value) if y.log else value for value in y.shown([np.array(marked)]).tolist()]
    return min([low, *(place - 0.1 * (high - low) for place in places)]), high
