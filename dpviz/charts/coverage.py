"""Coverage and length of intervals by rule, what coverage is lost to, and intervals one below the other."""

import math
import re
from collections.abc import Mapping, Sequence
from textwrap import wrap
from typing import Any, NamedTuple

import numpy as np

from dpviz.charts import theme
from dpviz.charts.axes import AXIS_INTERVALS, Axis, axis, axis_of_rows, round_step
from dpviz.charts.lines import Line, Mark, line_chart
from dpviz.charts.theme import TRUTH, Look, ReferenceLine
from dpviz.core.formatting import format_number, format_percent, format_points
from dpviz.core.types import BoolArray, FloatArray
from dpviz.inference.rules import RULES

SHARE_AXIS = Axis(title="true share of yes", percent=True, low=0.0, high=1.0, pad=0)
NAMED_ENDS: Look = {"legend": "", "named_ends": True}


def coverage_chart(
    points: FloatArray, values: Mapping[str, FloatArray], *, along: str = "p", level: float, chosen: float,
    marks: Mapping[str, float], simulated: Mapping[str, tuple[float, float, float]], repetitions: int,
) -> theme.Figure:  # fmt: skip
    """Coverage of each rule along the true share or the promised ε.

    Parameters
    ----------
    values : mapping of str to ndarray
        Exact coverage at the points, by key of the rule.
    along : {"p", "epsilon"}
    chosen : float
        Place of the reader's own point.
    marks, simulated : mapping of str to float, and to tuple
        Exact coverage there, and simulated coverage with the ends of its interval, see `first_shares`.
    """
    x, low, high, own_point = SHARE_AXIS, 0.0, 1.0, ReferenceLine(x=chosen, **TRUTH)
    if along == "epsilon":
        low, high = min(0.1, chosen), max(250.0, chosen)  # the chosen ε may be beyond
        x = Axis(title="promised ε for all tables (left is more private)", log=True, low=low, high=high, pad=0)
        own_point = ReferenceLine(x=chosen)
    side = "left" if x.position(chosen) > 0.85 * x.position(high) + 0.15 * x.position(low) else "right"
    points_marked = []
    for index, (rule, value) in enumerate(marks.items()):
        # A mark is the larger, the more others are drawn on it; the first one has its number
        covered = sum(abs(later - value) < 0.008 for later in list(marks.values())[index + 1 :])
        text = f"{format_number(100 * value, 3)} %" if index == 0 else ""
        place = f"{'bottom' if 0.5 < value < level else 'top'} {side}"
        hover, size = f"exact, your point: {format_number(100 * value, 7)} %", 9 + 5 * covered
        points_marked.append(_rule_mark(chosen, value, rule, hover, size=size, text=text, place=place))
    for rule, (value, *ends) in simulated.items():
        hover = f"simulated: {format_percent(value, 4)} of {repetitions:,} repetitions"
        color = theme.SIMULATED_COLOR
        points_marked.append(_rule_mark(chosen, value, rule, hover, size=8, color=color, ends=ends))
    y = Axis(title="intervals that hold the truth", percent=True, low=-0.02, high=1.08, pad=0, digits=".5%")
    promised = ReferenceLine(text=f"promised: {format_number(100 * level, 8)} %", y=level)
    look: Look = {"marks": points_marked, "references": [promised, own_point], **NAMED_ENDS}
    return line_chart(_rule_lines(points, values), x, y, key=f"coverage {x.title}", **look)


def _rule_mark(x: float, y: float, rule: str, hover: str, **look: Any) -> Mark:
    style = theme.style_of(rule)
    named = {"name": RULES[rule].label, "hover": hover, "look": {"legendgroup": rule}}
    return Mark(**{"x": x, "y": y, "color": style.color, "symbol": style.symbol, "size": 9, **named, **look})


def _rule_lines(points: FloatArray, values: Mapping[str, FloatArray]) -> list[Line]:
    """The exact line of each rule in its color and dash."""
    lines = []
    for key, y in values.items():
        style, rule = theme.style_of(key), RULES[key]
        named: Look = {"name": rule.label, "short": rule.abbreviation, "look": {"legendgroup": key}}
        lines.append(Line(x=points, y=y, color=style.color, stroke=theme.Stroke(style.dash, 2.4), **named))
    return lines


def length_chart(
    points: FloatArray, values: Mapping[str, FloatArray], limit: FloatArray, *, chosen: float
) -> theme.Figure:
    """Expected length of each rule's interval inside 0 to 1 along the true share, in points.

    Parameters
    ----------
    values, limit : mapping of str to ndarray, and ndarray
        Lengths at the points, by key of the rule, and the shortest possible ones, NaN where they are unknown.
    """
    lengths = {rule: 100 * line for rule, line in values.items()}
    highest = max((float(np.nanmax(line)) for line in lengths.values() if np.isfinite(line).any()), default=100.0)
    marks = [
        _rule_mark(chosen, length, rule, f"your p: {format_number(length, 5)} points")
        for rule, line in lengths.items()
        for length in line[points == chosen].tolist()
    ]
    lines, labels, known = _rule_lines(points, lengths), [], np.isfinite(limit)
    if known.any():
        name = "shortest possible, if the level is to hold at every p"
        lines.insert(0, Line(name=name, x=points[known], y=100 * limit[known], is_limit=True))
        words = "no rule that holds its level is this short"
        labels.append(ReferenceLine(x=0.5, text=words, at=0.02, side="auto").label())
    y = Axis(title="expected length inside 0 to 100 %, in points", low=0.0, high=1.08 * highest or 1e-3, pad=0)
    look: Look = {"marks": marks, "references": [ReferenceLine(x=chosen, **TRUTH)], "labels": labels, **NAMED_ENDS}
    return line_chart(lines, SHARE_AXIS, y, key="length", **look)


def causes_chart(effects: Mapping[str, Mapping[str, float]]) -> theme.Figure:
    """Change of each rule's coverage by cause, as lines from 0; the first rule's with their numbers.

    `effects` are for each rule the changes by cause, in the order of the rows from the top.
    """
    causes = ["<br>".join(wrap(cause, 15)) for cause in next(iter(effects.values()))]
    step, middle = 0.64 / max(len(effects) - 1, 1), (len(effects) - 1) / 2
    traces = []
    for place, (rule, by_cause) in enumerate(effects.items()):
        style, name = theme.style_of(rule), RULES[rule].label
        points = [100 * change for change in by_cause.values()]
        hovers = [f"{cause}: {format_points(end)} points" for cause, end in zip(by_cause, points, strict=True)]
        # For each cause a line from 0 to its effect, and a gap; marks and numbers at the ends alone
        x = [x for end in points for x in (0.0, end, None)]
        rows = np.repeat(np.arange(len(points)) + step * (place - middle), 3).tolist()
        look: Look = {
            "line": {"color": style.color, "width": 2.2, "dash": style.dash},
            "marker": theme.dot_marker([0, 9, 0] * len(points), style.color, symbol=style.symbol),
            "text": [part for end in points for part in ("", "" if place else f"<b>{format_points(end)}</b>", "")],
            "textposition": [f"middle {'right' if end >= 0 else 'left'}" for end in points for _ in range(3)],
            "customdata": np.repeat(hovers, 3).tolist(), "name": name, "meta": f"{name}, exact",
        }  # fmt: skip
        hover = f"<b>{name}</b>, exact<br>%{{customdata}}"
        traces.append(theme.scatter("lines+markers+text", x, rows, hover, cliponaxis=False, **look))
    reach = max(1.3 * max(100 * abs(change) for changes in effects.values() for change in changes.values()), 0.1)
    between = [ReferenceLine(y=row + 0.5, color="rgba(128,128,128,.25)", width=2) for row in range(len(causes) - 1)]
    axes = axis("points lost (left) or added (right)", range=[-reach, reach], zeroline=False), axis_of_rows(causes)
    layout: Look = {"references": [ReferenceLine(x=0), *between], "margin": (16, 16, 16), "legend": "below"}
    return theme.figure(traces, *axes, "causes", **layout)


# Intervals one below the other

MISSED, COVERING = theme.FAILED_COLOR, theme.PALETTE["blue"]
SHORT_LINE = r"(?:(?:<[^>]+>)*[^<]){1,48}(?:<[^>]+>)*(?: |$)"
"""Line of HTML of at most 48 characters, as many as a phone and a small projector show; tags take no room."""


class _Look(NamedTuple):
    """How intervals of one kind are drawn, and what the hover and the saved numbers call one of them."""

    text: str
    color: str
    symbol: str = "circle"
    opacity: float = 1.0  # of its mark


COVERS = _Look("holds the true share", COVERING)
EMPTY = _Look("holds it, but runs from 0 to 100 %", "rgba(0, 114, 178, .42)", opacity=0.0)
MISS = _Look("misses it", MISSED, "x")
NONE = _Look("no interval", theme.GREY, "line-ns-open")
UNKNOWN = _Look("the truth is not known yet", theme.PALETTE["slate"])


def caterpillar_chart(
    estimates: FloatArray, low: FloatArray, high: FloatArray, *, covered: BoolArray, vacuous: BoolArray, p: float,
    words: str = "", shown: int | None = None, of: str = "repetition", outlined: bool = True,
    ends: tuple[float, float] | None = None,
) -> theme.Figure:  # fmt: skip
    """The first intervals of a study, one line each.

    Parameters
    ----------
    estimates, low, high : ndarray of float
        Ends are infinite where an interval has none, NaN where there is no interval.
    covered, vacuous : ndarray of bool
        Which hold the true share `p`, and which do because they hold all of 0 to 1.
    words, of : str, optional
        HTML above them, and what the vertical axis counts.
    shown : int, optional
        Number of intervals that are drawn, in the frame of all.
    ends : tuple of float, optional
        Ends of the axis of shares, which otherwise has round ones around all intervals.
    """
    missing, is_shown = np.isnan(low), np.arange(len(low)) < (len(low) if shown is None else shown)
    left = np.where(missing, estimates, np.maximum(low, -0.5))
    right = np.where(missing, estimates, np.minimum(high, 1.5))
    kinds = ((vacuous, EMPTY), (covered & ~vacuous, COVERS), (~covered & ~missing, MISS), (missing, NONE))
    names = [f"{of} {1 + row}" for row in range(len(low))]
    traces = _interval_traces(left, right, [(kind & is_shown, look) for kind, look in kinds], names, outlined)

    # An axis of round shares around all of them
    first, last = ends or (float(np.min(left, initial=p)), float(np.max(right, initial=p)))
    step = round_step(max(last - first, 1e-3) / AXIS_INTERVALS, share=0.5)
    first, last = max(step * math.floor(first / step), 0.0), min(step * math.ceil(last / step), 1.0)
    pad = 0.03 * (last - first) or 0.01
    lines = [line for part in words.split("<br>") for line in re.findall(SHORT_LINE, part) or [""]]
    above = {"x": 0, "xref": "x domain", "xanchor": "left", "xshift": -46, "y": 1, "yref": "y domain", "yshift": 22}
    x = axis("share of yes", range=[first - pad, last + pad], tickformat="~%", zeroline=False)
    y = axis(of, range=[len(low) + 1, 0], tickvals=[1, len(low)], showgrid=False, zeroline=False)
    labels = [theme.label("<br>".join(map(str.strip, lines)), 13, **above, align="left", yanchor="bottom")]
    margin = 56, 16, 32 + 18 * max(len(lines), 4)  # room for four lines, so that nothing moves
    references = theme.truth_line(p, f"true share {format_number(100 * p, 9)} %")
    return theme.figure(traces, x, y, "caterpillar", references=references, labels=labels, margin=margin, legend="")


def class_chart(
    low: FloatArray, high: FloatArray, *, seats: Sequence[int], covered: BoolArray, p: float | None, rows: int
) -> theme.Figure:
    """The intervals of a class by seat, from 0 to 100 %.

    Parameters
    ----------
    covered : ndarray of bool
        Which intervals hold the truth.
    p : float, optional
        The true share; where it is None nothing of the truth is shown.
    rows : int
        Room for intervals.
    """
    kinds = [(np.ones(len(low), bool), UNKNOWN)] if p is None else [(covered, COVERS), (~covered, MISS)]
    names = [f"seat {seat}" for seat in seats]
    traces = _interval_traces(np.maximum(low, 0.0), np.minimum(high, 1.0), kinds, names)
    # At most 14 seats have room beside their intervals; a class that has not come yet has no rows
    named = range(0, len(seats), math.ceil(max(rows, 1) / 14))
    ticks = {"tickvals": [1 + row for row in named], "ticktext": [str(seats[row]) for row in named]}
    x = axis("share of yes", range=[-0.01, 1.01], tickformat="~%", zeroline=False)
    y = axis("seat", range=[rows + 1, 0], showgrid=False, zeroline=False, **ticks)
    truth = theme.truth_line(p, f"true share {format_number(100 * (p or 0), 3)} %")
    return theme.figure(traces, x, y, "class", references=truth, margin=(50, 16, 34), legend="")


def _interval_traces(
    left: FloatArray, right: FloatArray, kinds: Sequence[tuple[BoolArray, _Look]], names: Sequence[str],
    outlined: bool = True,
) -> list[Look]:  # fmt: skip
    """The trace of the intervals of each kind, if any; those that miss the truth on that of the ink around them."""
    middle, texts, traces = (left + right) / 2, [], []
    for name, start, end in zip(names, 100 * np.maximum(left, 0.0), 100 * np.minimum(right, 1.0), strict=True):
        texts.append(f"{name}: {start:.3g} %" + (f" to {end:.3g} %" if start < end else ""))
    for kind, look in kinds:
        rows = np.flatnonzero(kind).tolist()
        if not rows:
            continue
        strokes = [(look.color, 1.6, 3.2)]
        if look is MISS and outlined:
            strokes.insert(0, (theme.TRUTH_COLOR, 3.8, 5.5))
        for color, thickness, size in strokes:
            half = (right - middle)[rows]
            bar = theme.error_bar(half, half, color, thickness=thickness, width=0)
            marker = {"size": size, "color": color, "symbol": look.symbol, "opacity": look.opacity}
            shown: Look = {"hoverinfo": "skip", "meta": ""}
            if color == look.color:
                shown = {"meta": look.text, "customdata": [texts[row] for row in rows]}
            hover, y = f"%{{customdata}}<br>{look.text}", 1 + np.array(rows)
            traces.append(theme.scatter("markers", middle[rows], y, hover, marker=marker, error_x=bar, **shown))
    return traces
