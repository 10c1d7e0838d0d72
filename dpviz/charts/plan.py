"""What is used of limits: by designs, and by a plan, with the part of the promise that each statistic takes."""

import math
from collections.abc import Mapping, Sequence

import numpy as np

from dpviz.charts import theme
from dpviz.charts.lines import RING, Axis, Line, Mark, axis, axis_of_rows, line_chart
from dpviz.charts.theme import EXACT_COLOR, GREY, Look, ReferenceLine
from dpviz.core.formatting import format_number, round_up
from dpviz.core.types import FloatArray

LIMIT_MARKS = ("blue", "circle"), ("violet", "diamond"), ("green", "square"), ("pink", "triangle-up")
ASSUMPTION_MARKS = ("blue", "circle"), ("green", "square"), ("pink", "diamond")
SMALLEST_USED_SHARE, LARGEST_USED_SHARE = 0.01, 100.0  # of a limit; what lies beyond stands at the edge
TICK_SHARES = {SMALLEST_USED_SHARE: "≤ 1 %", 0.03: "3 %", 0.1: "10 %", 0.2: "20 %", 0.5: "50 %", 1.0: "100 %"}
TICK_SHARES |= {share: f"× {share:g}" for share in (2.0, 5.0, 10.0, 30.0)} | {LARGEST_USED_SHARE: "≥ × 100"}
LONGEST_AXIS = 3.0  # end of the longest axis of shares of a plan, at which what is beyond stands
BELOW_LINE = theme.label(
    "all limits hold below this line", x=0.995, xref="x domain", xanchor="right", y=0.0, yanchor="top"
)
"""Words below the line at 1 of a logarithmic axis."""


def _share(value: float, total: str) -> str:
    if math.isnan(value):
        return "not yet known"
    return f"{100 * value:.3g} % of {total}" if value < 10 else f"{value:.3g} times {total}"


def limits_chart(
    names: Sequence[str], used: Mapping[str, Sequence[Sequence[float]]], *, against: str = "", rows: int = 0
) -> theme.Figure:
    """A row for each design and a mark for each limit: left of the thin line it is kept, right of it broken.

    Parameters
    ----------
    used : mapping
        By limit the shares of it that the designs use, and the ends of their 95 % error bars; NaN where unknown.
    against : str, optional
        What the shares are of, where there is no limit.
    rows : int, optional
        Room for more designs than there are.
    """
    traces = []
    step = 0.5 / max(len(used), 2)  # marks of one design stand a little below each other
    for place, ((limit, values), (color, symbol)) in enumerate(zip(used.items(), LIMIT_MARKS, strict=False)):
        shares, low, high = np.clip(np.array(values, float), SMALLEST_USED_SHARE, LARGEST_USED_SHARE)
        texts = [_share(share, against or "the limit") for share in values[0]]
        look = {
            "text": [f"{design}<br>{limit}: {text}" for design, text in zip(names, texts, strict=True)],
            "error_x": theme.error_bar(shares - low, high - shares, theme.PALETTE[color]),
            "marker": theme.dot_marker(10, theme.PALETTE[color], symbol=symbol),
        }
        heights = np.arange(len(names)) + (place - (len(used) - 1) / 2) * step
        traces.append(theme.scatter("markers", shares, heights, "%{text}", name=limit, cliponaxis=False, **look))

    # A logarithmic axis around all error bars
    ends = np.concatenate([[0.5, 2.0], *(np.ravel(bars) for _, *bars in used.values())])
    ends = np.clip([np.nanmin(ends), np.nanmax(ends)], SMALLEST_USED_SHARE, LARGEST_USED_SHARE)
    first, last = np.log10(ends).tolist()
    ticks = [share for share in TICK_SHARES if last - first < 2 or math.log10(share) % 1 == 0]
    scale = {"tickvals": ticks, "ticktext": [TICK_SHARES[share] for share in ticks]}
    x = axis(against or "share of the limit", type="log", range=[first - 0.06, last + 0.06], **scale)
    y = axis_of_rows([*names, *[""] * (rows - len(names))])
    words = {} if against else {"kept ": "right", " broken": "left"}
    labels = [ReferenceLine(x=1.0, side=side, text=text, anchor="bottom").label(0.0) for text, side in words.items()]
    layout: Look = {"labels": labels, "margin": (16, 16, 48), "legend": "below"}
    return theme.figure(traces, x, y, "limits", references=[ReferenceLine(x=1.0)], **layout)


def plan_chart(
    names: list[str], *, part: FloatArray, basic_part: FloatArray, used: FloatArray, basic_used: FloatArray,
    promised: str,
) -> theme.Figure:  # fmt: skip
    """Bars of the promise beside dots of the errors, a row for each statistic, the last for all of them together.

    Thin lines stand at the whole promise and at the limits: right of them it is broken.

    Parameters
    ----------
    part, used : ndarray
        Shares of the promise, and of the limit on the error; NaN where a row has none.
    basic_part, basic_used : ndarray
        By basic composition, as hollow marks; NaN where it is the same.
    promised : str
        The whole promise in words.
    """
    ends = {"x": _end(part, basic_part), "x2": _end(used, basic_used)}
    bar, dot = theme.dot_marker(11, EXACT_COLOR, edge=GREY), theme.dot_marker(11, EXACT_COLOR, 2)
    broken = theme.dot_marker(12, theme.FAILED_COLOR, 2, theme.TRUTH_COLOR, symbol="diamond")
    ring = theme.dot_marker(13, GREY, 3, GREY, symbol="circle-open")
    basic, traces = "basic composition", list[Look]()
    for name, values, half, marker, prefix in (
        ("promise used", part, "x", bar, ""),
        ("limit used", np.where(used > 1, np.nan, used), "x2", dot, "error: "),
        ("limit broken", np.where(used > 1, used, np.nan), "x2", broken, "error: "),
        (basic, basic_part, "x", ring, f"{basic}: "),
        (basic, basic_used, "x2", ring, f"error by {basic}: "),
    ):
        rows = np.flatnonzero(np.isfinite(values))
        total = promised if half == "x" else "its limit"
        texts = [_share(round_up(value, 3) if half == "x" else value, total) for value in values[rows].tolist()]
        look: Look = {"text": texts, "xaxis": half, "marker": marker, "name": name, "legendgroup": name}
        look["customdata"] = [names[row] for row in rows]
        look["showlegend"] = len(rows) > 0 and not any(item["name"] == name and item["showlegend"] for item in traces)
        hover, shares = f"<b>%{{customdata}}</b><br>{prefix}%{{text}}", np.minimum(values[rows], ends[half])
        traces.append(theme.scatter("markers", shares, rows, hover, cliponaxis=False, **look))
    del traces[0]["mode"]
    traces[0] |= {"type": "bar", "orientation": "h", "width": 0.5, "textposition": "none"}

    # A thin line in each half with its words, and one above the last row where that has no limit
    shapes = [ReferenceLine(x=1.0).shape | {"xref": half} for half in ends]
    if math.isnan(used[-1]):
        shapes.append(ReferenceLine(y=len(names) - 1.5).shape | {"xref": "paper"})
    labels = []
    for half, text, side in (("x", f" {promised}", "left"), ("x2", "kept ", "right"), ("x2", " broken", "left")):
        words = ReferenceLine(x=1.0, text=text, side=side, anchor="bottom")
        labels.append(words.label(1.0) | {"xref": half})
    x, right = _share_axis("promise used", [0.0, 0.46], ends["x"]), _share_axis("limit used", [0.54, 1.0], ends["x2"])
    look = {"labels": labels, "shapes": shapes, "margin": (16, 16, 48), "legend": "below"}
    return theme.figure(traces, x, axis_of_rows(names), f"plan {len(names)}", xaxis2=right | {"anchor": "y"}, **look)


def _share_axis(title: str, domain: list[float], end: float) -> Look:
    largest = next(tick for tick in (1.0, 2.0, LONGEST_AXIS) if end <= 1.25 * tick)
    ticks = [0.0, 0.5 if largest == 1 else 1.0, largest]  # few enough for a half of a phone
    texts = [f"{'≥ ' * (tick == end == LONGEST_AXIS)}{tick:.0%}" for tick in ticks]
    look = {"tickvals": ticks, "ticktext": texts, "tickangle": 0, "zeroline": False}
    return axis(title, domain=domain, range=[0, 1.04 * end], **look)  # a mark at the end is whole


def _end(*values: FloatArray) -> float:
    """End of an axis on which these shares stand."""
    shares = np.concatenate(values)
    return float(np.clip(1.1 * np.max(shares[np.isfinite(shares)], initial=0.0), 1.25, LONGEST_AXIS))


def factors_chart(epsilons: Sequence[float], factors: Sequence[float], *, chosen: float) -> theme.Figure:
    """How large all errors must be, as a factor of their limits, at each ε.

    Parameters
    ----------
    chosen : float
        The ε that has a mark.
    """
    x, y = _drawable(epsilons, factors)
    name, look = "errors, times their limits", RING | {"place": "top right", "color": EXACT_COLOR}
    marks = [Mark(x=chosen, y=mark, text=format_number(round_up(mark, 3)), **look) for mark in y[x == chosen].tolist()]
    title, ends = "ε of the promise, left is more private", {"low": x[0] / 1.1, "high": x[-1] * 1.1}
    axes = Axis(title=title, symbol="ε", log=True, **ends), _factor_axis(name, y)
    shared: Look = {"references": [ReferenceLine(y=1.0)], "labels": [BELOW_LINE], "legend": ""}
    line = Line(name=name, x=x, y=y, color=EXACT_COLOR)
    return line_chart([line], *axes, key=f"factors {chosen}", marks=marks, **shared)


def _factor_axis(title: str, factors: FloatArray) -> Axis:
    low, high = float(factors.min(initial=1.0)), float(factors.max(initial=1.0))
    # What is beyond these factors is in the table
    return Axis(title=title, log=True, low=max(low, 1e-4) / 1.3, high=min(high, 1e4) * 1.3, pad=0, digits=".4g")


def ranges_chart(assumptions: Mapping[str, Sequence[tuple[float, float, float]]], *, promised: str) -> theme.Figure:
    """Errors as a factor of their limits, solid, and the needed share of the promise, dashed, for each assumption.

    Both pass the thin line at 1 at the same place, right of which not all limits hold.

    Parameters
    ----------
    assumptions : mapping
        By name, at each place: how many times as wide, the factor of the errors, and the needed share.
    promised : str
        The whole promise in words.
    """
    curves = []
    errors: Look = {"basis": "errors, times their limits"}
    needs = {"stroke": theme.PRINTED_LINE, "look": {"showlegend": False}, "basis": f"needed, times {promised}"}
    ticks = sorted({point[0] for points in assumptions.values() for point in points})
    for (name, points), (color, symbol) in zip(assumptions.items(), ASSUMPTION_MARKS, strict=False):
        scales, factors, needed = zip(*points, strict=True)
        for values, look in ((factors, errors), (needed, needs)):
            x, y = _drawable(scales, values)
            curves.append(Line(name=name, x=x, y=y, color=theme.PALETTE[color], symbol=symbol, **look))
    tick_look = {"tickvals": ticks, "ticktext": [f"{tick:.3g}" for tick in ticks]}
    width: Look = {"low": 10**-0.68, "high": 10**0.68, "pad": 0, "look": tick_look}
    x_axis = Axis(title="times as wide as assumed", symbol="times as wide", log=True, **width)
    y_axis = _factor_axis("errors, times their limits", np.concatenate([line.y for line in curves]))
    references = [ReferenceLine(y=1.0), ReferenceLine(x=1.0)]
    return line_chart(curves, x_axis, y_axis, key="ranges", labels=[BELOW_LINE], references=references)


def composition_chart(
    exact: tuple[Sequence[float], Sequence[float]], basic: tuple[Sequence[float], Sequence[float]],
    promise: tuple[float, float],
) -> theme.Figure:  # fmt: skip
    """δ against ε of all statistics together: composed exactly as a line, by adding up as hollow marks.

    Parameters
    ----------
    exact, basic : tuple of sequence
        ε and δ.
    promise : tuple of float
        ε and δ, with thin lines.
    """
    (x, y), (basic_x, basic_y) = _drawable(*exact), _drawable(*basic)
    look: Look = {"color": GREY, "stroke": theme.PRINTED_LINE, "symbol": "circle-open"}
    lines = [
        Line(name="exact composition", x=x, y=y, color=EXACT_COLOR),
        Line(name="basic composition", x=basic_x, y=basic_y, basis="added up", **look),
    ]
    x_axis = Axis(title="ε of all statistics together", symbol="ε", low=0.0, pad=0.05)
    y_axis = Axis(title="δ", log=True, low=10**-9.3, high=10**0.1, pad=0, digits=".3g")
    references = [ReferenceLine(text="promised", x=promise[0]), ReferenceLine(y=promise[1])]
    return line_chart(lines, x_axis, y_axis, key="composed", references=references)


def _drawable(x: Sequence[float], y: Sequence[float]) -> FloatArray:
    """Places of a curve that a logarithmic axis has."""
    values = np.array([x, y], float)
    return values[:, np.isfinite(values).all(axis=0) & (values[1] > 0)]
