"""Needed invented rows, or the allowed range, along one axis: exact lines, pure ε dotted, printed bounds dashed."""

import math
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from dpviz.calibration.methods import PRIOR_METHODS
from dpviz.calibration.text import HEADLINE
from dpviz.charts import style
from dpviz.charts.style import EXACT_LINE, PRINTED_LINE, PURE_LINE, Stroke, log_scale
from dpviz.claims.curves import Curve, Curves
from dpviz.core.formatting import format_number
from dpviz.core.types import FloatArray

__all__ = ["curves_chart"]

CURVE_AXES = {
    "delta": ("δ", "allowed δ (left is more private)"),
    "epsilon": ("ε", "promised ε (left is more private)"),
    "m": ("m", "synthetic rows m (left is more private)"),
    "n": ("n", "people n"),
}
"""What can stand along the picture: its symbol and the title of the axis."""
COINCIDING_LOGARITHMS = 0.03  # Distance of logarithms below which two lines cannot be told apart in the picture
THEOREM_LABEL_SHARE = 0.06  # Share of the height that a theorem's number needs, on a telephone too
EDGE = 0.004  # Decades by which an axis goes on beyond its ends
PLAIN_DECADES = 4  # Decades around 1 within which ticks are written without powers of ten
MARK_DIGITS = 3  # Digits of a number beside its mark, as in the answer
SMALLEST_MARK = 1e-40  # A prior below which the reader's own point does not stretch the picture: any prior is enough


def curves_chart(
    curves: Curves,
    *,
    sets: int = 1,
    together: Mapping[str, float] | None = None,
    reach: Sequence[float] = (),
) -> style.Figure:
    """Invented rows per real row, or range, for one set against the axis, both logarithmic, the user's point marked.

    The prior or range that every method needs for M `sets` `together` is a diamond beside it. The vertical axis also
    has what is to be within its `reach`: while curves are not complete, the extent of those before.
    """
    looks = _looks(curves)
    marked = [line for line, look in zip(curves.lines, looks, strict=True) if look is EXACT_LINE]
    traces = [_line(curves, *line, _covered(line[0], marked)) for line in zip(curves.lines, looks, strict=True)]
    traces += [_point(curves, line, marked, sets) for line in marked]
    more = dict(together or {}) if sets > 1 else {}
    traces += [_together(curves, method, level, sets) for method, level in more.items()]
    traces += _key(curves, looks)
    levels = (*map(curves.at_chosen, marked), *more.values())
    here = [curves.kind.counted(level, curves.setting) for level in levels]
    low, high = _reach(np.concatenate([*(curves.counted(line) for line in curves.lines), np.array(reach)]), here)
    left, right = float(curves.points[0]), float(curves.points[-1])
    shapes, notes = [], _ends(curves, low, high)
    if curves.chosen > 0:
        shapes.append(style.rule(x=curves.chosen))
    if curves.kind.cells(curves.setting) and low < 1 < high:
        shapes.append(style.rule(y=1.0, dash="dot"))
        text = "as many invented rows as real ones"
        with np.errstate(invalid="ignore", divide="ignore"):
            drawn = [(np.log10(curves.points), np.log10(curves.counted(line))) for line in curves.lines]
        ends, room = (math.log10(left), math.log10(right)), THEOREM_LABEL_SHARE * math.log10(high / low)
        notes.append(style.label_free(text, 0.0, drawn, ends, room))
    return style.build(
        [trace for trace in traces if trace],
        x=_log_axis(CURVE_AXES[curves.axis][1], left, right),
        y=_log_axis(curves.kind.axis, low, high),
        uirevision=f"{curves.kind.key} {curves.axis}",
        shapes=shapes,
        annotations=notes,
        **style.legend_below(-0.29, 74, 62 if notes else 18, 34, 116),
    )


def _covered(line: Curve, drawn: list[Curve]) -> int:
    """How many of the solid lines drawn after this one lie on it: it is drawn that much wider, to be seen beneath."""
    if line not in drawn:
        return 0
    with np.errstate(invalid="ignore", divide="ignore"):
        apart = [np.abs(np.log(other.values / line.values)) for other in drawn[drawn.index(line) + 1 :]]
    known = [one[np.isfinite(one)] for one in apart]
    return sum(int(np.count_nonzero(one < COINCIDING_LOGARITHMS)) > len(one) / 2 for one in known)


def _ends(curves: Curves, low: float, high: float) -> list[dict[str, Any]]:
    """Return the number of each printed theorem at the right end of its line; those too close are moved apart."""
    places: dict[str, float] = {}
    for line in curves.lines:
        values = curves.counted(line)
        finite = values[np.isfinite(values)]
        if line.theorem and len(finite) and low <= finite[-1] <= high:
            places[line.theorem.split()[-1]] = math.log10(float(finite[-1]))
    top = math.log10(high)
    return style.labels_apart(places, 1.005, THEOREM_LABEL_SHARE * (top - math.log10(low)), top)


def _looks(curves: Curves) -> list[Stroke]:
    """How each line is drawn: those without δ are dotted where there are others with it."""
    pure = PURE_LINE if any(not (line.pure or line.theorem) for line in curves.lines) else EXACT_LINE
    return [PRINTED_LINE if line.theorem else pure if line.pure else EXACT_LINE for line in curves.lines]


def _line(curves: Curves, line: Curve, look: Stroke, under: int) -> dict[str, Any]:
    if not np.any(np.isfinite(line.values)):
        return {}
    method, symbol = PRIOR_METHODS[line.method].named(curves.kind.cells(curves.setting)), CURVE_AXES[curves.axis][0]
    told = f"printed, {line.theorem}" if line.theorem else "exact, δ = 0" if line.pure else "exact"
    color = style.color_of(PRIOR_METHODS[line.method].color)
    named = {"name": method, "meta": f"{method}, {told}", "legendgroup": line.method, "showlegend": look is EXACT_LINE}
    level = f"<br>{curves.kind.symbol} = %{{customdata:.6g}} in each cell" if curves.kind.cells(curves.setting) else ""
    return style.scatter(
        "lines",
        curves.points,
        curves.counted(line),
        f"<b>{method}</b>, {told}<br>{symbol} = %{{x:.4g}}<br>{curves.kind.axis}: %{{y:.4g}}{level}<extra></extra>",
        customdata=line.values,
        line={"color": color, "width": look.width + 2.2 * under, "dash": look.dash},
        opacity=0.85 if line.theorem else 1.0,
        connectgaps=False,
        **named,
    )


def _point(curves: Curves, line: Curve, marked: list[Curve], sets: int) -> dict[str, Any]:
    level = curves.at_chosen(line)
    others = [curves.at_chosen(other) for other in marked if other is not line]
    above = sum(other > level for other in others) < sum(other < level for other in others)
    words = f"one set: {_shown(curves, level)}" if sets > 1 else _shown(curves, level)
    return _marked(curves, line.method, level, words, above=above, told="your point" if sets == 1 else "one set")


def _together(curves: Curves, method: str, level: float, sets: int) -> dict[str, Any]:
    """Return what several sets need together, as a diamond at the reader's own point."""
    words, above = f"{sets} sets: {_shown(curves, level)}", curves.kind.quantity.larger_is_safer
    found = _marked(curves, method, level, words, above=above, told=f"{sets} sets together")
    return found and found | {"marker": found["marker"] | {"symbol": "diamond"}}


def _marked(curves: Curves, method: str, level: float, words: str, *, above: bool, told: str) -> dict[str, Any]:
    if curves.chosen <= 0 or not (math.isfinite(level) and level > 0):
        return {}
    kind, name = curves.kind, PRIOR_METHODS[method].named(curves.kind.cells(curves.setting))
    level_words = f"<br>{kind.symbol} = {format_number(kind.quantity.round(level, 5), 5)} in each cell"
    also = level_words if kind.cells(curves.setting) else ""
    beside = curves.chosen < math.sqrt(float(curves.points[0]) * float(curves.points[-1]))
    return style.mark(
        curves.chosen,
        curves.kind.counted(level, curves.setting),
        f"<b>{name}</b>, {told}<br>{kind.axis}: {_shown(curves, level)}{also}<extra></extra>",
        "markers+text" if method == HEADLINE.key else "markers",  # the others tell their number on hover
        text=[f"<b>{words}</b>"],
        textposition=f"{'top' if above else 'bottom'} {'right' if beside else 'left'}",
        marker=style.dot_marker(10, style.color_of(PRIOR_METHODS[method].color)),
        legendgroup=method,
    )


def _shown(curves: Curves, level: float) -> str:
    """Return what the picture counts, invented rows rounded up, a range down: the number shown keeps the promise."""
    found = curves.kind.quantity.round(curves.kind.counted(level, curves.setting), MARK_DIGITS)
    return format_number(found, MARK_DIGITS) if math.isfinite(level) else ""


def _key(curves: Curves, looks: list[Stroke]) -> list[dict[str, Any]]:
    """Grey entries of the legend that say what dots and dashes are."""
    seen = {look for line, look in zip(curves.lines, looks, strict=True) if np.any(np.isfinite(line.values))}
    names = {PURE_LINE: "pure ε (δ = 0)", PRINTED_LINE: "as printed"}
    empty = {"type": "scatter", "x": [None], "y": [None], "mode": "lines", "hoverinfo": "skip"}
    grey = {"color": style.GREY, "width": 2}
    return [
        {**empty, "line": {**grey, "dash": look.dash}, "name": name} for look, name in names.items() if look in seen
    ]


def _reach(values: FloatArray, marked: list[float]) -> tuple[float, float]:
    """Ends of the logarithmic axis; what is smaller than 10⁻⁷ of the largest, and not marked, falls out of it."""
    points = np.array([one for one in marked if math.isfinite(one) and one > SMALLEST_MARK])
    finite = np.concatenate([values[np.isfinite(values) & (values > 0)], points])
    if len(finite) == 0:
        return 0.1, 10.0
    high = float(finite.max()) * 1.6
    low = max(float(finite.min()) / 1.8, high * 1e-7, 1e-12)
    return min([low, *(points / 1.8).tolist()]), high


def _log_axis(title: str, low: float, high: float) -> dict[str, Any]:
    axis = log_scale(math.log10(low) - EDGE, math.log10(high) + EDGE)  # no mark is drawn on the very edge
    if max(map(abs, axis["range"])) <= PLAIN_DECADES:
        axis["ticktext"] = [format_number(value, 3) for value in axis["tickvals"]]
    return style.axis(title, **axis)
