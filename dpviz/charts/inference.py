"""What an analyst makes of a release: posteriors, and coverage and length of intervals by rule; and intervals drawn."""

import math
import re
from collections.abc import Iterable, Mapping, Sequence
from textwrap import wrap
from typing import Any

import numpy as np

from dpviz.charts import theme
from dpviz.charts.lines import AXIS_INTERVALS, Axis, Line, Mark, axis, axis_of_rows, line_chart, round_step, steady_ends
from dpviz.charts.theme import TRUTH, Look, ReferenceLine
from dpviz.core.formatting import format_number, format_percent, format_points
from dpviz.core.types import BoolArray, FloatArray
from dpviz.inference.beta_mixture import BetaMixture
from dpviz.inference.posterior_coverage import PosteriorCoverage
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
    x, own_point = SHARE_AXIS, ReferenceLine(x=chosen, **TRUTH)
    if along == "epsilon":
        low = steady_ends(min(0.1, chosen), 1.0, log=True)[0]  # the chosen ε may be beyond
        ends: Look = {"low": low, "high": max(250.0, chosen)}
        x = Axis(title="promised ε for all tables (left is more private)", log=True, pad=0, **ends)
        own_point = ReferenceLine(x=chosen)
    share = theme.place_on(x.to_plotly([]), chosen)[1]
    shown = []
    for index, (rule, value) in enumerate(marks.items()):
        # A mark is the larger, the more others are drawn on it; the first one has its number
        covered = sum(abs(later - value) < 0.008 for later in list(marks.values())[index + 1 :])
        text = f"{format_number(100 * value, 3)} %" if index == 0 else ""
        is_below = level - 0.1 < value < level  # the curves rise towards the middle
        is_left = share > 0.85 or (share > 0.15 and (share < 0.5) != is_below)
        place = f"{'bottom' if is_below else 'top'} {'left' if is_left else 'right'}"
        hover = f"exact, your point: {format_number(100 * value, 7)} %"
        shown.append(_rule_mark(chosen, value, rule, hover, size=9 + 5 * covered, text=text, place=place))
    for rule, (value, *ends_of_bar) in simulated.items():
        hover = f"simulated: {format_percent(value, 4)} of {repetitions:,} repetitions"
        shown.append(_rule_mark(chosen, value, rule, hover, size=8, color=theme.SIMULATED_COLOR, ends=ends_of_bar))
    y = Axis(title="intervals that hold the truth", percent=True, low=-0.02, high=1.08, pad=0, digits=".5%")
    promised = ReferenceLine(text=f"promised: {format_number(100 * level, 8)} %", y=level)
    look: Look = {"marks": shown, "references": [promised, own_point], **NAMED_ENDS}
    return line_chart(_rule_lines(points, values), x, y, key=f"coverage {x.title}", **look)


def _rule_mark(x: float, y: float, rule: str, hover: str, **look: Any) -> Mark:
    default: Look = {"color": rule, "symbol": theme.style_of(rule).symbol, "size": 9, "look": {"legendgroup": rule}}
    return Mark(x=x, y=y, name=RULES[rule].label, hover=hover, **default | look)


def _rule_lines(points: FloatArray, values: Mapping[str, FloatArray]) -> list[Line]:
    """The exact line of each rule in its color and dash."""
    return [
        Line(
            name=RULES[key].label, short=RULES[key].abbreviation, x=points, y=y, color=key,
            stroke=theme.Stroke(theme.style_of(key).dash, 2.4), look={"legendgroup": key},
        )
        for key, y in values.items()
    ]  # fmt: skip


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
    highest = float(np.nanmax([*lengths.values(), points * math.nan], initial=0.0)) or 100.0
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
        labels.append(ReferenceLine(x=0.5, text=words, at=0.02, side="auto", anchor="bottom").label(0.5))
    y = Axis(title="expected length inside 0 to 100 %, in points", low=0.0, high=steady_ends(0.0, highest)[1], pad=0.02)
    look: Look = {"marks": marks, "references": [ReferenceLine(x=chosen, **TRUTH)], "labels": labels, **NAMED_ENDS}
    return line_chart(lines, SHARE_AXIS, y, key="length", **look)


def causes_chart(effects: Mapping[str, Mapping[str, float]]) -> theme.Figure:
    """Change of each rule's coverage by cause, as lines from 0; the first rule's with their numbers.

    `effects` are for each rule the changes by cause, in the order of the rows from the top.
    """
    causes = ["<br>".join(wrap(cause, 15)) for cause in next(iter(effects.values()))]
    step, middle = 0.64 / max(len(effects) - 1, 1), (len(effects) - 1) / 2
    traces, labels = [], []
    for place, (rule, by_cause) in enumerate(effects.items()):
        style, name = theme.style_of(rule), RULES[rule].label
        points = {cause: 100 * change for cause, change in by_cause.items()}
        ends = points.values()
        for row, end in enumerate(ends if place == 0 else ()):  # as annotations: Plotly drops some texts of a trace
            side: Look = {"xanchor": "left", "xshift": 6} if end >= 0 else {"xanchor": "right", "xshift": -6}
            labels.append(theme.label(f"<b>{format_points(end)}</b>", 13, x=end, y=row - step * middle, **side))
        # For each cause a line from 0 to its effect, and a gap; a mark at the end alone
        look: Look = {
            "line": {"color": style.color, "width": 2.2, "dash": style.dash},
            "marker": theme.dot_marker([0, 9, 0] * len(points), style.color, symbol=style.symbol),
            "customdata": [f"{cause}: {format_points(end)} points" for cause, end in points.items() for _ in range(3)],
            "name": name, "meta": f"{name}, exact",
        }  # fmt: skip
        x = [x for end in ends for x in (0.0, end, None)]
        rows = np.repeat(np.arange(len(points)) + step * (place - middle), 3).tolist()
        hover = f"<b>{name}</b>, exact<br>%{{customdata}}"
        traces.append(theme.scatter("lines+markers", x, rows, hover, cliponaxis=False, **look))
    largest = max(100 * abs(change) for changes in effects.values() for change in changes.values())
    reach = steady_ends(0.0, max(1.3 * largest, 0.1))[1]
    between = [ReferenceLine(y=row + 0.5, color="rgba(128,128,128,.25)", width=2) for row in range(len(causes) - 1)]
    axes = axis("points lost (left) or added (right)", range=[-reach, reach], zeroline=False), axis_of_rows(causes)
    layout: Look = {"references": [ReferenceLine(x=0), *between], "margin": (16, 16, 16), "legend": "below"}
    return theme.figure(traces, *axes, "causes", labels=labels, **layout)


# Intervals one below the other

MISSED, COVERING = theme.FAILED_COLOR, theme.PALETTE["blue"]
SHORT_LINE = r"(?:(?:<[^>]+>)*[^<]){1,48}(?:<[^>]+>)*(?: |$)"
"""Line of HTML of at most 48 characters, as many as a phone and a small projector show; tags take no room."""


MARKERS: dict[str, Look] = {
    "holds the true share": {"color": COVERING},
    "holds it, but runs from 0 to 100 %": {"color": "rgba(0, 114, 178, .42)", "opacity": 0.0},
    "misses it": {"color": MISSED, "symbol": "x"},
    "no interval": {"color": theme.GREY, "symbol": "line-ns-open"},
    "the truth is not known yet": {"color": theme.PALETTE["slate"]},
}
"""Look of the marks of intervals, by what the hover and the saved numbers call one of them."""

COVERS, EMPTY, MISS, NONE, UNKNOWN = MARKERS


def caterpillar_chart(
    estimates: FloatArray, low: FloatArray, high: FloatArray, *, covered: BoolArray, vacuous: BoolArray, p: float,
    words: str = "", shown: int | None = None, of: str = "repetition", outlined: bool = True,
    ends: tuple[float, float] | None = None, room: float = 0.0,
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
    room : float, optional
        Below the intervals, for words, as a share of their number.
    """
    rows, missing = np.arange(len(low)), np.isnan(low)
    left = np.where(missing, estimates, np.maximum(low, -0.5))
    right = np.where(missing, estimates, np.minimum(high, 1.5))
    kinds = ((vacuous, EMPTY), (covered & ~vacuous, COVERS), (~covered & ~missing, MISS), (missing, NONE))
    is_drawn = rows < (len(low) if shown is None else shown)

    # An axis of round shares around all of them
    first, last = ends or (float(np.min(left, initial=p)), float(np.max(right, initial=p)))
    step = round_step(max(last - first, 1e-3) / AXIS_INTERVALS, share=0.5)
    first, last = max(step * math.floor(first / step), 0.0), min(step * math.ceil(last / step), 1.0)
    pad = 0.03 * (last - first) or 0.01
    lines = [line for part in words.split("<br>") for line in re.findall(SHORT_LINE, part) or [""]]
    above = {"x": 0, "xref": "x domain", "xanchor": "left", "xshift": -46, "y": 1, "yref": "y domain", "yshift": 22}
    layout: Look = {
        "labels": [theme.label("<br>".join(map(str.strip, lines)), 13, **above, align="left", yanchor="bottom")],
        "margin": (56, 16, 32 + 18 * max(len(lines), 4)),  # room for four lines, so that nothing moves
        "references": theme.truth_line(p, f"true share {format_number(100 * p, 9)} %"),
    }
    intervals = _intervals(
        left, right, [(kind & is_drawn, text) for kind, text in kinds], (first - pad, last + pad), of, 1 + rows,
        round((1 + room) * len(low)), outlined, tickvals=[1, len(low)],
    )  # fmt: skip
    return theme.figure(*intervals, "caterpillar", legend="", **layout)


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
    vacuous = (low <= 0) & (high >= 1)
    kinds = [(covered & ~vacuous, COVERS), (vacuous, EMPTY), (~covered, MISS)]
    if p is None:
        kinds = [(np.ones(len(low), bool), UNKNOWN)]
    # At most 14 seats have room beside their intervals; a class that has not come yet has no rows
    named = range(0, len(seats), math.ceil(max(rows, 1) / 14))
    ticks: Look = {"tickvals": [1 + row for row in named], "ticktext": [str(seats[row]) for row in named]}
    ends = np.maximum(low, 0.0), np.minimum(high, 1.0)
    intervals = _intervals(*ends, kinds, (-0.01, 1.01), "seat", seats, rows, **ticks)
    truth = theme.truth_line(p, f"true share {format_number(100 * (p or 0), 3)} %")
    return theme.figure(*intervals, "class", references=truth, margin=(50, 16, 34), legend="")


def _intervals(
    left: FloatArray, right: FloatArray, kinds: Sequence[tuple[BoolArray, str]], ends: tuple[float, float], of: str,
    numbers: Iterable[int], rows_of_all: int, outlined: bool = True, **ticks: Any,
) -> tuple[list[Look], Look, Look]:  # fmt: skip
    """The trace of the intervals of each kind, if any, those that miss the truth on ink around them; and the axes."""
    middle, texts, traces = (left + right) / 2, [], []
    for number, start, end in zip(numbers, 100 * np.maximum(left, 0.0), 100 * np.minimum(right, 1.0), strict=True):
        texts.append(f"{of} {number}: {start:.3g} %" + (f" to {end:.3g} %" if start < end else ""))
    for kind, text in kinds:
        rows = np.flatnonzero(kind)
        words = {"meta": text, "customdata": [texts[row] for row in rows]}
        strokes: list[tuple[str, float, float, Look]] = [(MARKERS[text]["color"], 1.6, 3.2, words)]
        if text == MISS and outlined:
            strokes.insert(0, (theme.TRUTH_COLOR, 3.8, 5.5, {"hoverinfo": "skip", "meta": ""}))
        for color, thickness, size, rest in strokes if len(rows) else ():
            half = (right - middle)[rows]
            bar = theme.error_bar(half, half, color, thickness=thickness, width=0)
            marker = {"symbol": "circle", "opacity": 1.0, **MARKERS[text], "size": size, "color": color}
            hover = f"%{{customdata}}<br>{text}"
            traces.append(theme.scatter("markers", middle[rows], 1 + rows, hover, marker=marker, error_x=bar, **rest))
    shares = axis("share of yes", range=[*ends], tickformat="~%", zeroline=False)
    return traces, shares, axis(of, range=[rows_of_all + 1, 0], zeroline=False, showgrid=False, **ticks)


# Posteriors

BAR_STEP = 0.055  # share of the picture's height between two interval bars


def densities_chart(
    laws: Mapping[str, BetaMixture], names: Mapping[str, str], *, level: float, share: float | None, key: str
) -> theme.Figure:
    """Densities of posteriors over p, and below them their intervals with equal tails.

    Parameters
    ----------
    laws : mapping
        By key of ``densities`` in the theme. A density that is infinite at 0 or 1 is cut at the picture's top.
    share : float, optional
        The secret share x / n.
    """
    outlines = [law.outline for law in laws.values()]
    intervals = [law.interval(level) for law in laws.values()]

    # A round number above the highest peak; where all densities are infinite at an end, above the highest value inside
    peaks = [float(density.max()) for _, density in outlines if np.all(np.isfinite(density))]
    inside = [density[(p >= 0.01) & (p <= 0.99)] for p, density in outlines]
    top = steady_ends(0.0, 1.02 * max(peaks or [float(values.max(initial=0.0)) for values in inside]) or 1.0)[1]
    traces = []
    for place, (kind, (p, density), ends) in enumerate(zip(laws, outlines, intervals, strict=True), 1):
        key_of_color, dash = theme.THEME["densities"][kind]
        name, color, height = names[kind], theme.color_of(key_of_color), -place * BAR_STEP * top
        look: Look = {"line": {"color": color, "width": 2.4, "dash": dash}, "name": name, "legendgroup": kind}
        hover = f"<b>{name}</b><br>%{{x:.2%}}: density %{{y:.4g}}"
        traces.append(theme.scatter("lines", p, np.minimum(density, 1.5 * top), hover, **look))
        first, last = (f"{format_number(100 * end, 3)} %" for end in ends)
        look = {"text": [f"{first}\u00a0", f"\u00a0{last}"], "textposition": ["middle left", "middle right"]}
        look |= {"textfont": {"size": 11}, "cliponaxis": False, "line": {"color": color, "width": 5}}
        hover = f"<b>{name}</b><br>{format_number(100 * level, 8)} % from {first} to {last}"
        look |= {"legendgroup": kind, "showlegend": False}
        traces.append(theme.scatter("lines+text", [*ends], [height, height], hover, **look))

    # Shares from 0 to 1, or a part of it where the intervals take a small part of it
    shown = [*np.ravel(intervals), *([] if share is None else [share])]
    low, high = min(shown), max(shown)
    around = max((high - low) / 2, 0.002)
    is_part = high - low + 2 * around <= 0.5
    low, high = steady_ends(max(low - around, 0.0), min(high + around, 1.0)) if is_part else (0.0, 1.0)
    x = Axis(title="share of yes", pad=0.01, look={"tickformat": "~%"}).to_plotly([np.array([low, high])])

    # The names stand in the upper corner that is farther from the middle of the intervals; no tick below 0 at the bars
    legend = "inside left" if np.mean(intervals) > (low + high) / 2 else "inside right"
    step = round_step(top / AXIS_INTERVALS)
    ticks = [step * index for index in range(int(top / step) + 1)]
    bottom = -(len(laws) + 0.7) * BAR_STEP * top
    y = axis("density", range=[bottom, top], zeroline=True, tickvals=ticks)
    truth = theme.truth_line(share, f"secret share {format_number(100 * (share or 0), 4)} %", low, high)
    return theme.figure(traces, x, y, key, references=truth, margin=(62, 40, 46), legend=legend)


def count_distribution_chart(
    counts: FloatArray, probabilities: FloatArray, *, title: str, symbol: str, mark: float | None = None
) -> theme.Figure:
    """Distribution of a count as bars or, for many counts, a filled line.

    Parameters
    ----------
    mark : float, optional
        The true count.
    """
    visible = np.flatnonzero(probabilities > 1e-6 * probabilities.max())
    counts, probabilities = (values[visible[0] : visible[-1] + 1] for values in (counts, probabilities))
    look: Look = {"type": "bar", "marker": {"color": theme.AWARE_COLOR}, "meta": "probability"}
    if len(counts) > 160:  # more bars than can be told apart
        line = {"color": theme.AWARE_COLOR, "width": 2}
        look |= {"type": "scatter", "mode": "lines", "fill": "tozeroy", "line": line}
    trace = {"x": counts, "y": probabilities, "hovertemplate": "%{x}: %{y:.4g}<extra></extra>"}
    first, last = (float(end) for end in steady_ends(counts[0], counts[-1]))
    ticks = {"dtick": 1} if last - first < 9 else {}  # none at halves
    x = axis(f"{title} {symbol}", range=[first - 0.5, last + 0.5], **ticks)
    y = axis("probability", range=[0.0, 1.03 * steady_ends(0.0, min(float(probabilities.max()), 1.0))[1]])
    truth = theme.truth_line(mark, f"{symbol} = {format_number(mark or 0)}", first, last)
    return theme.figure([trace | look], x, y, f"count {symbol}", references=truth, margin=(62, 16, 46), legend="")


def posterior_coverage_chart(result: PosteriorCoverage, *, place: int, level: float, color: str) -> theme.Figure:
    """Coverage of the posterior's interval along p, a line where it is exact and dots where it is simulated.

    Parameters
    ----------
    place : int
        Index of the p whose coverage has its number.
    color : str
        Key of the synthesizer.
    """
    coverage, error, is_exact = result.coverage, result.coverage_error, np.full(len(result.coverage), result.exact)
    name, line_color = ("exact", color) if result.exact else ("simulated, 95 % error bar", theme.SIMULATED_COLOR)
    line = Line(name=name, color=line_color, x=result.proportions, y=coverage, error=error, exact=is_exact)
    share = float(coverage[place])
    lowest = math.floor(5 * min(0.8, float(coverage.min())) + 1e-9) / 5
    x = Axis(title="true share of yes", percent=True, low=-0.01, high=1.01)
    y = Axis(title="coverage", percent=True, low=lowest - 0.015, high=1.015)
    mark = Mark(x=float(result.proportions[place]), y=share, color=color, text=format_percent(share, 3))
    # The promised level has no words, which the curve would cross
    return line_chart([line], x, y, key="posterior coverage", marks=[mark], references=[ReferenceLine(y=level)])
