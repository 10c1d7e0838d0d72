"""Coverage and length of intervals by rule, what coverage is lost to, and intervals one below the other."""

import math
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from textwrap import wrap
from typing import Any

import numpy as np

from dpviz.charts import theme
from dpviz.charts.lines import Axis, Line, Mark, ReferenceLine, line_chart
from dpviz.core.formatting import format_number, format_percent, format_points
from dpviz.core.types import BoolArray, FloatArray, IntArray
from dpviz.inference.rules import RULES

MIN_EPSILON, MAX_EPSILON = 0.1, 250.0  # ends of the axis of ε, unless the chosen one is beyond


def coverage_chart(
    points: FloatArray,
    values: Mapping[str, FloatArray],
    *,
    along: str = "p",
    level: float,
    chosen: float,
    marks: Mapping[str, float],
    simulated: Mapping[str, tuple[float, float, float]],
    repetitions: int,
) -> theme.Figure:
    """Coverage of each rule along the true share or the promised ε.

    Parameters
    ----------
    points : ndarray of float
    values : mapping of str to ndarray
        Exact coverage at the points, by key of the rule.
    along : {"p", "epsilon"}
    level : float
        Promised coverage.
    chosen : float
        Place of the reader's own point.
    marks : mapping of str to float
        Exact coverage there.
    simulated : mapping of str to tuple
        Simulated coverage there with the ends of its interval, see `first_shares`.
    repetitions : int
        Of the simulation so far.
    """
    log = along == "epsilon"
    x = Axis(title="true share of yes", percent=True, low=0.0, high=1.0, pad=0)
    if log:
        title, low, high = "promised ε for all tables (left is more private)", MIN_EPSILON, MAX_EPSILON
        x = Axis(title=title, log=True, low=min(low, chosen), high=max(high, chosen), pad=0)
    is_right = x.position(chosen) - x.position(x.low or 0) > 0.85 * (x.position(x.high or 1) - x.position(x.low or 0))
    points_marked = []
    for index, (rule, value) in enumerate(marks.items()):
        # A mark is the larger, the more others are drawn on it; the first one has its number
        covered = sum(abs(later - value) < 0.008 for later in list(marks.values())[index + 1 :])
        place = f"{'bottom' if 0.5 < value < level else 'top'} {'left' if is_right else 'right'}"
        text = f"{format_number(100 * value, 3)} %" if index == 0 else ""
        hover = f"exact, your point: {format_number(100 * value, 7)} %"
        mark = _rule_mark(chosen, value, rule, hover, size=9 + 5 * covered)
        points_marked.append(replace(mark, text=text, place=place))
    for rule, (value, lower, upper) in simulated.items():
        hover = f"simulated: {format_percent(value, 4)} of {repetitions:,} repetitions"
        mark = _rule_mark(chosen, value, rule, hover, size=8)
        points_marked.append(replace(mark, color=theme.SIMULATED_COLOR, ends=(lower, upper)))
    return line_chart(
        _rule_lines(points, values),
        x,
        Axis(title="intervals that hold the truth", percent=True, low=-0.02, high=1.08, pad=0, digits=".5%"),
        key=f"coverage {x.title}",
        marks=points_marked,
        references=[
            ReferenceLine(text=f"promised: {format_number(100 * level, 8)} %", y=level),
            ReferenceLine(x=chosen, is_truth=not log),
        ],
        names="ends",
    )


def _rule_mark(x: float, y: float, rule: str, hover: str, size: float = 9) -> Mark:
    style, name = theme.style_of(rule), RULES[rule].label
    return Mark(x=x, y=y, color=style.color, symbol=style.symbol, size=size, name=name, hover=hover, group=rule)


def _rule_lines(points: FloatArray, values: Mapping[str, FloatArray]) -> list[Line]:
    """The exact line of each rule in its color and dash."""
    styles = {rule: theme.style_of(rule) for rule in values}
    return [
        Line(
            name=RULES[rule].label,
            short=RULES[rule].abbreviation,
            group=rule,
            x=points,
            y=line,
            color=styles[rule].color,
            stroke=theme.Stroke(styles[rule].dash, 2.4),
        )
        for rule, line in values.items()
    ]


def length_chart(
    points: FloatArray, values: Mapping[str, FloatArray], limit: FloatArray, *, chosen: float
) -> theme.Figure:
    """Expected length of each rule's interval inside 0 to 1 along the true share, in points.

    `values` are those of each rule at the points, and `limit` is the shortest possible length there, NaN where it is
    unknown; the others are as in `coverage_chart`.
    """
    lengths = {rule: 100 * line for rule, line in values.items()}
    highest = max((float(np.nanmax(line)) for line in lengths.values() if np.isfinite(line).any()), default=100.0)
    marks = []
    for rule, line in lengths.items():
        for length in line[points == chosen].tolist():
            marks.append(_rule_mark(chosen, length, rule, f"your p: {format_number(length, 5)} points"))
    lines, labels, known = _rule_lines(points, lengths), [], np.isfinite(limit)
    if known.any():
        name = "shortest possible, if the level is to hold at every p"
        lines.insert(0, Line(name=name, x=points[known], y=100 * limit[known], is_limit=True))
        labels.append(theme.label_upright("no rule that holds its level is this short", 0.5, 0.02, side="auto"))
    return line_chart(
        lines,
        Axis(title="true share of yes", percent=True, low=0.0, high=1.0, pad=0),
        Axis(title="expected length inside 0 to 100 %, in points", low=0.0, high=1.08 * highest or 1e-3, pad=0),
        key="length",
        marks=marks,
        references=[ReferenceLine(x=chosen, is_truth=True)],
        names="ends",
        labels=labels,
    )


def causes_chart(effects: Mapping[str, Mapping[str, float]]) -> theme.Figure:
    """Change of each rule's coverage by cause, as lines from 0; the first rule's with their numbers.

    `effects` are for each rule the changes by cause, in the order of the rows from the top.
    """
    causes = ["<br>".join(wrap(cause, 15)) for cause in next(iter(effects.values()))]
    step, middle = 0.64 / max(len(effects) - 1, 1), (len(effects) - 1) / 2
    traces = []
    for place, (rule, by_cause) in enumerate(effects.items()):
        style, name = theme.style_of(rule), RULES[rule].label
        changes = [(cause, 100 * change, change) for cause, change in by_cause.items()]
        texts = [f"<b>{format_points(100 * change)}</b>" if place == 0 else "" for change in by_cause.values()]
        sides = [f"middle {'right' if change >= 0 else 'left'}" for change in by_cause.values()]
        # For each cause a line from 0 to its effect, and a gap; marks and numbers at the ends alone
        trace = theme.scatter(
            "lines+markers+text",
            [x for _, points, _ in changes for x in (0.0, points, None)],
            [row + step * (place - middle) for row in range(len(changes)) for _ in range(3)],
            f"<b>{name}</b>, exact<br>%{{customdata}}<extra></extra>",
            line={"color": style.color, "width": 2.2, "dash": style.dash},
            marker=theme.dot_marker([0, 9, 0] * len(changes), style.color, width=1, symbol=style.symbol),
            text=[part for text in texts for part in ("", text, "")],
            textposition=[side for side in sides for _ in range(3)],
            customdata=[f"{cause}: {format_points(points)} points" for cause, points, _ in changes for _ in range(3)],
            cliponaxis=False,
            connectgaps=False,
            name=name,
            meta=f"{name}, exact",
        )
        traces.append(trace)
    reach = max(1.3 * max(100 * abs(change) for changes in effects.values() for change in changes.values()), 0.1)
    faint = {"line": {"color": "rgba(128,128,128,.25)"}}
    return theme.build(
        traces,
        x=theme.axis("points lost (left) or added (right)", range=[-reach, reach], zeroline=False),
        y=theme.axis_of_rows(causes),
        uirevision="causes",
        shapes=[theme.rule(x=0), *(theme.rule(y=row + 0.5) | faint for row in range(len(causes) - 1))],
        **theme.legend_below(-0.2, 120, 16, 16, 112, itemwidth=56),
    )


# Intervals one below the other

MISSED, COVERING = theme.FAILED_COLOR, theme.PALETTE["blue"]
LONGEST_LINE = 48  # characters of a line of words, as many as a phone and a small projector show
WORD_LINES, LINE_PX = 4, 18  # lines of words that there is always room for, so that nothing moves, and their height
NAMED_SEATS = 14  # seats at most that are written beside their intervals


@dataclass(frozen=True)
class IntervalLook:
    """How intervals of one kind are drawn, and what the hover and the saved numbers call one of them."""

    text: str
    color: str
    symbol: str = "circle"
    opacity: float = 1.0  # of its mark
    is_outlined: bool = False


COVERS = IntervalLook("holds the true share", COVERING)
EMPTY = IntervalLook("holds it, but runs from 0 to 100 %", "rgba(0, 114, 178, .42)", opacity=0.0)
MISS = IntervalLook("misses it", MISSED, "x", is_outlined=True)
NONE = IntervalLook("no interval", theme.GREY, "line-ns-open")
UNKNOWN = IntervalLook("the truth is not known yet", theme.PALETTE["slate"])


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
    p : float
    words : str, optional
        HTML above them.
    shown : int, optional
        Number of intervals that are drawn, in the frame of all.
    of : str, optional
        What the vertical axis counts.
    outlined : bool, optional
        Whether those that miss `p` are outlined.
    ends : tuple of float, optional
        Ends of the axis of shares, which otherwise has round ones around all intervals.
    """
    missing, is_shown = np.isnan(low), np.arange(len(low)) < (len(low) if shown is None else shown)
    left = np.where(missing, estimates, np.maximum(low, -0.5))
    right = np.where(missing, estimates, np.minimum(high, 1.5))
    kinds = ((vacuous, EMPTY), (covered & ~vacuous, COVERS), (~covered & ~missing, MISS), (missing, NONE))
    traces = []
    for kind, look in kinds:
        place = np.flatnonzero(kind & is_shown)
        look = look if outlined else replace(look, is_outlined=False)
        traces += _interval_traces(place, left[place], right[place], look, [f"{of} {1 + row}" for row in place])
    # An axis of round shares around all of them
    low_end, high_end = ends or (float(np.min(left, initial=p)), float(np.max(right, initial=p)))
    step = theme.round_step(max(high_end - low_end, 1e-3) / theme.AXIS_INTERVALS, (1, 2, 5, 10), 0.5)
    first, last = max(step * math.floor(low_end / step), 0.0), min(step * math.ceil(high_end / step), 1.0)
    pad = 0.03 * (last - first) or 0.01
    lines = [line for part in words.split("<br>") for line in _wrapped(part)]
    above = {"x": 0, "xref": "x domain", "xanchor": "left", "xshift": -46, "y": 1, "yref": "y domain", "yshift": 22}
    return theme.build(
        traces,
        x=theme.axis("share of yes", range=[first - pad, last + pad], tickformat="~%", zeroline=False),
        y=theme.axis(of, range=[len(low) + 1, 0], tickvals=[1, len(low)], showgrid=False, zeroline=False),
        uirevision="caterpillar",
        shapes=[theme.truth(p)],
        annotations=[
            theme.label("<br>".join(lines), 13, **above, align="left", yanchor="bottom"),
            theme.label_upright(f"true share {format_number(100 * p, 9)} %", p, side=theme.side_at(p)),
        ],
        **theme.margins(56, 16, 32 + LINE_PX * max(len(lines), WORD_LINES), 52),
    )


def _wrapped(html: str) -> list[str]:
    """Lines of at most `LONGEST_LINE` characters, tags not counted."""
    lines = [""]
    for word in html.split(" "):
        longer = f"{lines[-1]} {word}" if lines[-1] else word
        if len(re.sub(r"<[^>]+>", "", longer)) > LONGEST_LINE:
            lines.append(word)
        else:
            lines[-1] = longer
    return lines


def class_chart(
    low: FloatArray, high: FloatArray, *, seats: Sequence[int], covered: BoolArray, p: float | None, rows: int
) -> theme.Figure:
    """The intervals of a class by seat, from 0 to 100 %.

    Where `p` is None the truth is not shown, nor which intervals hold it. There is room for so many `rows`.
    """
    left, right = np.maximum(low, 0.0), np.minimum(high, 1.0)
    kinds = ((covered, COVERS), (~covered, MISS)) if p is not None else ((np.ones(len(low), bool), UNKNOWN),)
    traces = []
    for kind, look in kinds:
        place = np.flatnonzero(kind)
        names = [f"seat {seats[row]}" for row in place.tolist()]
        traces += _interval_traces(place, left[place], right[place], look, names)
    named = range(0, len(seats), math.ceil(max(rows, 1) / NAMED_SEATS))  # a class that has not come yet has no rows
    ticks = {"tickvals": [1 + row for row in named], "ticktext": [str(seats[row]) for row in named]}
    text = "" if p is None else f"true share {format_number(100 * p, 3)} %"
    return theme.build(
        traces,
        x=theme.axis("share of yes", range=[-0.01, 1.01], tickformat="~%", zeroline=False),
        y=theme.axis("seat", range=[rows + 1, 0], showgrid=False, zeroline=False, **ticks),
        uirevision="class",
        shapes=[] if p is None else [theme.truth(p)],
        annotations=[] if p is None else [theme.label_upright(text, p, side=theme.side_at(p))],
        **theme.margins(50, 16, 34, 52),
    )


def _interval_traces(
    place: IntArray, left: FloatArray, right: FloatArray, look: IntervalLook, names: Sequence[str]
) -> list[dict[str, Any]]:
    """The trace of intervals of one kind, if any, on that of the ink around them where they are outlined."""
    if not len(place):
        return []
    middle = (left + right) / 2

    def bars(color: str, thickness: float, size: float, **rest: Any) -> dict[str, Any]:
        bar = theme.error_bar(right - middle, color, thickness=thickness, width=0)
        marker = {"size": size, "color": color, "symbol": look.symbol, "opacity": look.opacity}
        hover = f"%{{customdata}}<br>{look.text}<extra></extra>"
        return theme.scatter("markers", middle, 1 + place, hover, marker=marker, error_x=bar, **rest)

    texts = []
    for name, start, end in zip(names, 100 * np.maximum(left, 0.0), 100 * np.minimum(right, 1.0), strict=True):
        texts.append(f"{name}: {start:.3g} % to {end:.3g} %" if start < end else f"{name}: {start:.3g} %")
    outline = [bars(theme.TRUTH_COLOR, 3.8, 5.5, hoverinfo="skip", meta="")] if look.is_outlined else []
    return [*outline, bars(look.color, 1.6, 3.2, meta=look.text, customdata=texts)]
