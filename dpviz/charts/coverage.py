"""Coverage of intervals: exact lines, simulated dots with error bars, the first intervals one by one, the law of q̄."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import plotly.graph_objects as go

from dpviz.charts.style import (
    RULE_STYLES,
    SIMULATED,
    axis,
    build,
    decades,
    dot,
    label_across,
    labels_apart,
    legend_below,
    mark,
    rule,
    scatter,
)
from dpviz.parameters import readable
from dpviz.types import FloatArray

LABEL_GAP = 0.06
"""Share of the picture's height that a name at the end of a line needs."""


def picture_height(lines: int) -> int:
    """Pixels that a picture needs so that its legend, one line below the other on a telephone, leaves it room.

    Examples
    --------
    >>> picture_height(4), picture_height(6)
    (460, 508)
    """
    return 460 + 24 * max(0, lines - 4)


@dataclass(frozen=True, kw_only=True)
class Dot:
    """One simulated value of a rule with the ends of its error bar, and what the hover says of it."""

    rule: str
    y: float
    low: float
    high: float
    words: str


def coverage_chart(
    points: FloatArray,
    values: Mapping[str, FloatArray],
    *,
    names: Mapping[str, str],
    ends: Mapping[str, str],
    title: str,
    log: bool,
    level: float,
    chosen: float,
    marks: Mapping[str, float],
    span: tuple[float, float],
    dots: Sequence[Dot] = (),
) -> go.Figure:
    """Coverage of each rule along an axis, the promised level as a thin rule, the chosen point with its number.

    Parameters
    ----------
    points, values
        The axis, and for each rule its exact coverage there; NaN leaves a gap.
    names, ends
        The rules' names for readers, and for the ends of their lines, by key.
    title, log, span
        The axis's title, whether it is logarithmic, and its ends.
    level
        The nominal level.
    chosen, marks, dots
        The reader's point on the axis, each rule's exact coverage there, and simulated values.
    """
    traces = [exact_line(points, line, names[key], key) for key, line in values.items()]
    first = next(iter(marks), "")
    traces += [_mark(chosen, value, key, names[key], told=key == first, level=level) for key, value in marks.items()]
    traces += [_dot(chosen, one, names[one.rule]) for one in dots]
    reach = [math.log10(end) for end in span] if log else list(span)
    more = {"type": "log", **decades(reach[0], reach[1])} if log else {}
    return build(
        traces,
        x=axis(title, range=reach, **more),
        y=axis("coverage", range=[-0.02, 1.08], tickformat=".0%"),
        uirevision=f"coverage {title}",
        shapes=[rule(y=level), rule(x=chosen)],
        annotations=[label_across(f"promised: {readable(100 * level, 8)} %", level), *ends_of_lines(values, ends)],
        **legend_below(-0.24, 62, 98, 26, 112, itemwidth=56),
        showlegend=True,
    )


def exact_line(points: FloatArray, line: FloatArray, name: str, key: str, value: str = "%{y:.5%}") -> dict[str, Any]:
    """The exact line of one rule, in the color and the dash of the rule."""
    style = RULE_STYLES[key]
    return scatter(
        "lines",
        points,
        line,
        f"<b>{name}</b>, exact<br>%{{x:.4g}}: {value}<extra></extra>",
        line={"color": style.color, "width": 2.4, "dash": style.dash},
        name=name,
        meta=f"{name}, exact",
        legendgroup=key,
        connectgaps=False,
    )


def _mark(x: float, value: float, key: str, name: str, *, told: bool, level: float) -> dict[str, Any]:
    return mark(
        x,
        value,
        f"<b>{name}</b>, exact, your point<br>{readable(100 * value, 7)} %<extra></extra>",
        "markers+text" if told else "markers",
        text=[f"<b>{readable(100 * value, 5)} %</b>"],
        textposition="bottom right" if 0.5 < value < level else "top right",
        marker=rule_dot(key),
        legendgroup=key,
    )


def rule_dot(key: str) -> dict[str, Any]:
    """The mark of one rule."""
    return dot(9, RULE_STYLES[key].color, width=1, symbol=RULE_STYLES[key].symbol)


def _dot(x: float, one: Dot, name: str) -> dict[str, Any]:
    bar = {"array": [one.high - one.y], "arrayminus": [one.y - one.low]}
    return mark(
        x,
        one.y,
        f"<b>{name}</b>, simulated<br>{one.words}<extra></extra>",
        "markers",
        marker=dot(8, SIMULATED, width=1, edge="#333", symbol=RULE_STYLES[one.rule].symbol),
        error_y={"type": "data", "symmetric": False, **bar, "color": SIMULATED, "thickness": 2, "width": 7},
        meta=f"{name}, simulated, 95 % error bar",
        legendgroup=one.rule,
    )


def ends_of_lines(
    values: Mapping[str, FloatArray], names: Mapping[str, str], *, gap: float = LABEL_GAP, ceiling: float = 1.02
) -> list[dict[str, Any]]:
    """Each rule's name at the right end of its line, where it has one."""
    known = {key: values[key][np.isfinite(values[key])] for key in sorted(values)}
    return labels_apart({names[key]: float(line[-1]) for key, line in known.items() if len(line)}, 1.006, gap, ceiling)
