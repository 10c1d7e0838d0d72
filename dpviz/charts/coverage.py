"""Coverage of intervals: exact lines, simulated dots with error bars, and the distribution of q̄."""

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from itertools import product
from textwrap import wrap
from typing import Any

import numpy as np

from dpviz.charts import style
from dpviz.charts.style import log_scale
from dpviz.core.formatting import format_number, format_points
from dpviz.core.types import FloatArray
from dpviz.coverage.exact import CoverageCurves
from dpviz.inference.rules import RULES

SPREAD = 0.64  # Height of a row, of 1, over which the rules' lines are spread
CLEAR_OF_NAMES = 0.85  # Share of the width beyond which a number would meet the names at the right
LABEL_GAP = 0.072  # Share of the picture's height that a name at the end of a line needs, so that all rules fit
COINCIDING_HEIGHT = 0.008  # Share of the picture's height within which two lines are drawn on each other
COINCIDING_POINTS = 0.2  # Share of its points at which a line must lie on another for both to be dashed
EQUAL_HEIGHT = 5e-4  # Share of the picture's height within which two whole lines are called equal
EPSILONS = (0.1, 250.0)  # Between which the axis of ε runs, and as far as the chosen one
SHORTEST = 5.0  # Pixels of the shortest dash
# Lines have their names at their ends, and no second one in a legend.
LAYOUT = {"margin": {"l": 62, "r": 118, "t": 34, "b": 52}, "hovermode": "closest", "showlegend": False}


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
    along: str = "p",
    level: float,
    chosen: float,
    marks: Mapping[str, float],
    dots: Sequence[Dot] = (),
) -> style.Figure:
    """Coverage of each rule along an axis, the promised level as a thin rule, the chosen point with its number.

    The axis is that of the true share, `along` "p", or of "epsilon", in decades.

    `values` are for each rule its exact coverage at the points, NaN a gap; `marks` that at the `chosen` point, and
    `dots` simulated values there. `names` are for readers, `ends` for the ends of lines.
    """
    log = along == "epsilon"
    title = "promised ε for all tables (left is more private)" if log else "true share of yes"
    traces = exact_lines(points, values, names)
    first = next(iter(marks), "")
    reach = [math.log10(min(EPSILONS[0], chosen)), math.log10(max(EPSILONS[1], chosen))] if log else [0.0, 1.0]
    across = ((math.log10(chosen) if log else chosen) - reach[0]) / (reach[1] - reach[0])
    side = "left" if across > CLEAR_OF_NAMES else "right"
    traces += [_mark(chosen, marks, key, names[key], told=key == first, level=level, side=side) for key in marks]
    traces += [_dot(chosen, one, names[one.rule]) for one in dots]
    scale = log_scale(*reach) if log else {"range": reach, "tickformat": ".0%"}
    return style.build(
        traces,
        x=style.axis(title, **scale),
        y=style.axis("intervals that hold the truth", range=[-0.02, 1.08], tickformat=".0%"),
        uirevision=f"coverage {title}",
        shapes=[style.rule(y=level), style.rule(x=chosen) if log else style.truth(chosen, "below")],
        annotations=ends_of_lines(values, ends, {f"promised: {format_number(100 * level, 8)} %": level}),
        **LAYOUT,
    )


def exact_lines(
    points: FloatArray,
    values: Mapping[str, FloatArray],
    names: Mapping[str, str],
    value: str = "%{y:.5%}",
    *,
    height: float = 1.0,
) -> list[dict[str, Any]]:
    """Return the exact line of each rule in its color and dash; of those that coincide each is seen in turn.

    `value` is how the hover writes a number, `height` that of the picture.
    """
    together = _groups(values, lambda apart: np.mean(apart < COINCIDING_HEIGHT * height) > COINCIDING_POINTS)
    dashes = {key: dash for group in together if group[1:] for key, dash in zip(group, turns(len(group)), strict=True)}
    traces = []
    for key, line in values.items():
        look = style.style_of(key)
        hover = f"<b>{names[key]}</b>, exact<br>%{{x:.4g}}: {value}<extra></extra>"
        drawn = {"color": look.color, "width": 2.4, "dash": dashes.get(key, look.dash)}
        named = {"name": names[key], "meta": f"{names[key]}, exact", "legendgroup": key, "connectgaps": False}
        traces.append(style.scatter("lines", points, line, hover, line=drawn, **named))
    return traces


def _groups(values: Mapping[str, FloatArray], alike: Callable[[FloatArray], np.bool_]) -> list[list[str]]:
    """Return the rules in groups: how far each line of a group is apart from that of its first is `alike`."""
    groups: dict[str, list[str]] = {}
    for key, line in values.items():
        first = next((one for one in groups if alike(np.abs(values[one] - line))), key)
        groups.setdefault(first, []).append(key)
    return list(groups.values())


def turns(lines: int) -> list[str]:
    """Return dashes for lines drawn on each other, from the lowest up, of each of which an equal share is seen.

    The lowest is solid, the one with j lines below it covers one part of j + 1. Two turns of each fit into a gap of the
    one above it, so that it does not matter where a dash begins.

    >>> turns(1), turns(3)
    (['solid'], ['solid', '5px,5px', '10px,20px'])
    """
    dashes = [SHORTEST * 2**below for below in range(lines - 1)]
    return ["solid", *(f"{dash:g}px,{below * dash:g}px" for below, dash in enumerate(dashes, start=1))]


def _mark(
    x: float, marks: Mapping[str, float], key: str, name: str, *, told: bool, level: float, side: str
) -> dict[str, Any]:
    """Return the user's own point of one rule, the larger the more are drawn on it later."""
    value, later = marks[key], list(marks)[list(marks).index(key) + 1 :]
    size = 9 + 5 * sum(abs(marks[other] - value) < COINCIDING_HEIGHT for other in later)
    hover = f"<b>{name}</b>, exact, your point<br>{format_number(100 * value, 7)} %<extra></extra>"
    number = [f"<b>{format_number(100 * value, 3)} %</b>"]
    place, mode = f"{'bottom' if 0.5 < value < level else 'top'} {side}", "markers+text" if told else "markers"
    return style.mark(
        x, value, hover, mode, text=number, textposition=place, marker=rule_dot(key, size), legendgroup=key
    )


def rule_dot(key: str, size: float = 9) -> dict[str, Any]:
    """Return the mark of one rule."""
    return style.dot_marker(size, style.style_of(key).color, width=1, symbol=style.style_of(key).symbol)


def _dot(x: float, one: Dot, name: str) -> dict[str, Any]:
    above, below = [one.high - one.y], [one.y - one.low]
    told = {"meta": f"{name}, simulated, 95 % error bar", "legendgroup": one.rule}
    return style.mark(
        x,
        one.y,
        f"<b>{name}</b>, simulated<br>{one.words}<extra></extra>",
        "markers",
        marker=style.dot_marker(8, style.SIMULATED_COLOR, width=1, edge="#333", symbol=style.style_of(one.rule).symbol),
        error_y=style.error_bar(above, style.SIMULATED_COLOR, below, thickness=2, width=7),
        **told,
    )


def ends_of_lines(
    values: Mapping[str, FloatArray],
    names: Mapping[str, str],
    known: Mapping[str, float] | None = None,
    *,
    gap: float = LABEL_GAP,
    ceiling: float = 1.02,
) -> list[dict[str, Any]]:
    """Return each rule's name, behind its color, at the right end of its line if it has one; an equal line says so.

    `known` are what thin rules say, with their heights. `gap` is what a name needs of the axis, and `ceiling` where the
    highest may stand.
    """
    places = {_named(text, style.GREY): height for text, height in (known or {}).items()}
    for first, *others in _groups(values, lambda apart: np.all(apart < EQUAL_HEIGHT * gap / LABEL_GAP)):
        end = values[first][np.isfinite(values[first])][-1:]
        for key in (*reversed(others), first) if len(end) else ():  # from the bottom up
            text = f"{'= ' * (key != first)}{names[key]}"
            places[_named(text, style.style_of(key).color)] = float(end[0])
    return style.labels_apart(places, 1.006, gap, ceiling)


def _named(text: str, color: str) -> str:
    return f'<span style="color: {color}"><b>━</b></span> {text}'


def length_chart(curves: CoverageCurves, shortest: FloatArray, rules: Sequence[str], *, chosen: float) -> style.Figure:
    """Expected length of each rule in points of 0 to 100 %, against p, and the shortest possible in grey."""
    points = curves.points
    limit = 100 * shortest
    values = dict(zip(curves.rules, 100 * curves.mean_width_inside, strict=True))
    names = {key: RULES[key].label for key in rules}
    ends = {key: RULES[key].abbreviation for key in rules}
    highest = max([float(np.nanmax(line)) for line in values.values() if np.isfinite(line).any()], default=100.0)
    traces = exact_lines(points, values, names, "%{y:.5g} points", height=1.08 * highest)
    for place, (key, line) in product(np.flatnonzero(points == chosen), values.items()):
        hover = f"<b>{names[key]}</b>, your p<br>{format_number(float(line[place]), 5)} points<extra></extra>"
        dots = {"marker": rule_dot(key), "showlegend": False, "legendgroup": key}
        traces.append(style.scatter("markers", [chosen], [line[place]], hover, **dots))
    known, notes = np.isfinite(limit), []
    if known.any():
        hover = "<b>limit</b><br>%{x:.4g}: %{y:.5g} points<extra></extra>"
        name = "shortest possible, if the level is to hold at every p"
        traces.insert(0, style.limit(points[known], limit[known], hover, name))
        notes = [style.label_upright("no rule that holds its level is this short", 0.5, 0.02, side="auto")]
    return style.build(
        traces,
        x=style.axis("true share of yes", range=[0.0, 1.0], tickformat=".0%"),
        y=style.axis("expected length inside 0 to 100 %, in points", range=[0.0, max(1.08 * highest, 1e-3)]),
        uirevision="length",
        shapes=[style.truth(chosen, "below")],
        annotations=[*ends_of_lines(values, ends, gap=LABEL_GAP * 1.08 * highest, ceiling=1.05 * highest), *notes],
        **LAYOUT,
    )


def causes_chart(effects: Mapping[str, Mapping[str, float]], *, names: Mapping[str, str]) -> style.Figure:
    """Each rule's effects as lines from 0, to the left where coverage is lost; the first rule's with their numbers.

    `effects` are for each rule the change of coverage by its cause, in the order of the rows from the top.
    """
    wrapped = {
        key: {"<br>".join(wrap(cause, 15)): value for cause, value in one.items()} for key, one in effects.items()
    }
    causes = list(next(iter(wrapped.values())))
    step, middle = SPREAD / max(len(effects) - 1, 1), (len(effects) - 1) / 2
    traces = [
        _effects(one, step * (place - middle), key, names[key], told=place == 0)
        for place, (key, one) in enumerate(wrapped.items())
    ]
    reach = max(1.3 * max(100 * abs(value) for one in effects.values() for value in one.values()), 0.1)
    faint = {"line": {"color": "rgba(128,128,128,.25)"}}
    return style.build(
        traces,
        x=style.axis("points lost (left) or added (right)", range=[-reach, reach], zeroline=False),
        y=style.axis_of_rows(causes),
        uirevision="causes",
        shapes=[style.rule(x=0), *({**style.rule(y=row + 0.5), **faint} for row in range(len(causes) - 1))],
        **style.legend_below(-0.2, 120, 16, 16, 112, itemwidth=56),
        showlegend=True,
    )


def _effects(effects: Mapping[str, float], shift: float, key: str, name: str, *, told: bool) -> dict[str, Any]:
    """Return one trace: for each cause from 0 to its effect and a gap; marks and numbers at the ends alone."""
    look = style.style_of(key)
    points = [(cause, 100 * value, row + shift) for row, (cause, value) in enumerate(effects.items())]
    return style.scatter(
        "lines+markers+text",
        [x for _, value, _ in points for x in (0.0, value, None)],
        [row for *_, row in points for _ in range(3)],
        f"<b>{name}</b>, exact<br>%{{customdata}}<extra></extra>",
        line={"color": look.color, "width": 2.2, "dash": look.dash},
        marker=style.dot_marker([0, 9, 0] * len(points), look.color, width=1, symbol=look.symbol),
        text=[text for _, value, _ in points for text in ("", f"<b>{format_points(value)}</b>" if told else "", "")],
        textposition=[f"middle {'right' if value >= 0 else 'left'}" for _, value, _ in points for _ in range(3)],
        customdata=[f"{cause}: {format_points(value)} points" for cause, value, _ in points for _ in range(3)],
        cliponaxis=False,
        connectgaps=False,
        name=name,
        legendgroup=key,
        meta=f"{name}, exact",
    )
