"""Methods compared: the measures of their outcomes, ours of the papers' figures, and single releases."""

import math
from collections.abc import Iterable, Mapping
from typing import Any, NamedTuple

import numpy as np

from dpviz.charts import theme
from dpviz.charts.lines import MEASURES, RING, Axis, Line, Mark, axis, axis_of_rows, comparison_chart
from dpviz.charts.theme import TRUTH, Look, ReferenceLine
from dpviz.comparisons import Compared, ComparedMethod, Comparison, Outcome
from dpviz.comparisons.budget import BudgetSplit, SplitResults
from dpviz.comparisons.comparison import Ranking
from dpviz.core.formatting import format_number
from dpviz.core.types import FloatArray
from dpviz.published.figures import Figure, FigurePanel, LineKind

ERROR = "root_mean_squared_error"
"""The measure that is drawn unless something else is chosen."""

ONE_SET = "best release of one set"
COMPARED_MEASURES = (ERROR, "release_error", "bias", "coverage", "mean_width", "usable_share")
DIVIDED_MEASURES = (ERROR, "coverage", "bias", "spread")
"""Measures of a comparison, and of a division of ε, in their order."""

SPECIAL_LINES: dict[LineKind, Look] = {
    LineKind.PURE_EPSILON: {"basis": "exact, δ = 0", "stroke": theme.PURE_LINE},
    LineKind.PRINTED: {"basis": "printed", "stroke": theme.PRINTED_LINE},
    LineKind.REFERENCE: {"stroke": theme.THIN_LINE},
}
"""Look of lines of the papers' figures by their kind."""


class DrawnMeasure(NamedTuple):
    """One measure: its name in a word or two, what a picture of it shows in a sentence, its axis, and its limit."""

    name: str
    alt: str
    axis: Axis
    limit: str  # what stands in the area that no mechanism reaches


def drawn_measures(question: Comparison | BudgetSplit) -> dict[str, DrawnMeasure]:
    """Measures that can be drawn, by key; after the error in a division those of other estimands by their keys."""
    estimands: Mapping[str, Any] = {}
    keys, against = list(COMPARED_MEASURES), "by each method against ε"
    if isinstance(question, BudgetSplit):
        estimands, keys, against = question.secondary, list(DIVIDED_MEASURES), f"against {question.axis}"
    measures = {}
    for key in (ERROR, *estimands, *keys[1:]):
        estimand = estimands.get(key, question.data.chosen_estimand)
        look = dict(MEASURES["compared"][ERROR if key in estimands else key])
        name, alt, limit = look.pop("name"), look.pop("alt"), look.pop("limit", "")
        title = look.pop("title").format(estimand.symbol)
        title = title if "percent" in look else estimand.with_unit(title)
        y = Axis(title=title, nominal=question.analysis.level if key == "coverage" else None, **look)
        name = f"error of {estimand.symbol}" if key in estimands else name
        measures[key] = DrawnMeasure(name, f"{alt} {against}.", y, limit)
    return measures


def comparison_picture(
    comparison: Comparison, results: Compared, ranking: Ranking, measure: str, *, small: bool = False
) -> theme.Figure:
    """One measure of all methods against ε; the method with the smallest error is marked where it is ranked.

    Parameters
    ----------
    measure : str
        Key of `drawn_measures`.
    """
    names = theme.shorten_labels(method.label for method in comparison.methods)
    lines = []
    for method in comparison.methods:
        outcomes = [(outcome.epsilon, outcome) for outcome in results.of(method)]
        stroke = theme.THIN_LINE if method.reference else theme.EXACT_LINE
        lines.append(_line(outcomes, measure, method, short=names[method.label], stroke=stroke))

    # The best that is possible, and the best method
    picture = drawn_measures(comparison)[measure]
    limit = best_mark = None
    if known := results.limits(measure):
        x, y = np.array([*known]), comparison.data.chosen_estimand.unit * np.array([*known.values()])
        limit = Line(name=picture.limit, x=x, y=y, is_limit=True)
    if ranking.contenders and not small:
        best = ranking.contenders[0]
        value = best.shown(measure).value
        text = f"{format_number(100 * value, 3)} %" if picture.axis.percent else format_number(value, 3)
        look: Look = {"color": best.method.key, "name": best.method.label, "text": text, "hover": text}
        best_mark = Mark(x=comparison.epsilon, y=value, **look, **RING)
    low, high = comparison.span
    x_axis = Axis(title=comparison.terms.axis, symbol="ε", log=True, low=low, high=high, pad=0)
    chosen: Look = {"chosen": comparison.epsilon, "chosen_text": "your ε", "mark": best_mark}
    return comparison_chart(lines, x_axis, picture.axis, key=measure, limit=limit, small=small, **chosen)


def division_picture(split: BudgetSplit, results: SplitResults, measure: str, *, small: bool = False) -> theme.Figure:
    """One measure against the divisions of ε; for the main estimand, the best release of one set is a second line.

    Parameters
    ----------
    measure : str
        Key of `drawn_measures`.
    """
    is_main, single, (low, high) = measure not in split.secondary, results.single, split.span
    lines = [_line(sorted(results.outcomes.items()), measure, split.method)]
    if is_main and single is None:  # it is not known yet
        lines.append(Line(name=ONE_SET, short="one set, ", x=np.empty(0), y=np.empty(0), stroke=theme.THIN_LINE))
    elif is_main and single is not None:
        names = {"name": f"{ONE_SET}: {single.method.label}", "short": f"one set, {single.method.label}"}
        lines.append(_line([(low, single), (high, single)], measure, single.method, stroke=theme.THIN_LINE, **names))
    x = Axis(title=split.axis, symbol=split.symbol, log=split.log, low=low, high=high, pad=0)
    chosen: Look = {"chosen": results.best_place("" if is_main else measure), "chosen_text": "smallest error"}
    return comparison_chart(lines, x, drawn_measures(split)[measure].axis, key=measure, small=small, **chosen)


def _line(outcomes: Iterable[tuple[float, Outcome]], measure: str, method: ComparedMethod, **look: Any) -> Line:
    """The line of a method through its outcomes, as far as the measure is known."""
    known = [
        (place, value.value, value.error, outcome.is_exact(measure))
        for place, outcome in outcomes
        if math.isfinite((value := outcome.shown(measure)).value)
    ]
    x, y, error, exact = np.array(known, float).T if known else np.empty((4, 0))
    named = {"name": method.label, "color": method.key, "look": {"legendgroup": method.key}} | look
    return Line(x=x, y=y, error=error, exact=exact.astype(bool), **named)


def panel_chart(figure: Figure, panel: FigurePanel, *, small: bool = False) -> tuple[theme.Figure, str]:
    """One measure of a paper's figure as we have it, what papers print dashed; and what the picture shows.

    Parameters
    ----------
    small : bool, optional
        Without names and legend.
    """
    short = theme.shorten_labels(line.name for line in panel.lines)
    lines = [
        Line(
            name=line.name, short=short[line.name], x=line.x, y=line.y, error=line.error, exact=line.error == 0,
            color=line.key, **SPECIAL_LINES.get(line.kind, {}),
        )
        for line in panel.lines
    ]  # fmt: skip
    x = Axis(title=figure.axis, symbol=figure.symbol, log=figure.log, pad=0.015)
    y = MEASURES["published"][panel.measure]
    key, names = f"{figure.place} {panel.setting} {panel.measure}", ", ".join(line.name for line in panel.lines)
    alt = f"Ours of {figure.place}: {y['title']}, {figure.axis}; {names}."
    return comparison_chart(lines, x, Axis(**y), key=key, small=small), alt


# Single releases


def release_chart(
    released: Mapping[ComparedMethod, FloatArray], *, original: float, truth: float, title: str
) -> theme.Figure:
    """A dot for the estimate from each set of a method in its row.

    Parameters
    ----------
    released : mapping
        Estimates by method.
    original, truth : float
        Estimate from the confidential data, NaN where there is none, and the true value: thin lines.
    """
    traces = []
    for row, (method, estimates) in enumerate(released.items()):
        marker = theme.dot_marker(10, theme.color_of(method.key), opacity=0.8)
        hover, rows = f"<b>{method.label}</b><br>%{{x:.5g}}", np.full(len(estimates), row)
        traces.append(theme.scatter("markers", estimates, rows, hover, marker=marker, cliponaxis=False))
    sides = ("right", "left") if original < truth else ("left", "right")
    references = [
        ReferenceLine(x=original, text="confidential data", side=sides[0], anchor="bottom"),
        ReferenceLine(x=truth, text="truth", side=sides[1], anchor="bottom", **TRUTH),
    ]
    x = Axis(title=title, pad=0.06).to_plotly([*released.values(), np.array([truth, original])])
    y = axis_of_rows([method.label for method in released])
    return theme.figure(traces, x, y, "release", references=references, margin=(16, 16, 40), legend="")


def rows_chart(rows: FloatArray, *, cells: int, bounds: tuple[float, float], name: str) -> theme.Figure:
    """Numbers of rows of mixed data, colored by their cell; the first cell has a mark of its own.

    Parameters
    ----------
    rows : ndarray of float, shape (3, n_rows)
        Cell from 0 on and two numbers of each row, in the order of cells; not each of very many is drawn.
    bounds : tuple of float
        Ends of the numbers, as thin lines.
    """
    rows = rows[:, :: max(math.ceil(rows.shape[1] / 2_000), 1)]  # as many as a picture can have
    colorbar = {"title": {"text": "cell"}, "thickness": 12, "tickformat": "d"}
    scale: Look = {"colorscale": theme.MAGNITUDES, "cmin": 1, "cmax": cells}
    traces = []
    for is_first, cell_name, size, look in (
        (False, "other cells", 6, {"symbol": "circle", "colorbar": colorbar}),
        (True, "smallest cell", 10, {"symbol": "diamond"}),
    ):
        cell, x, y = rows[:, (rows[0] == 0) == is_first]
        marker = theme.dot_marker(size, "", edge=theme.GREY) | {"color": cell + 1, **scale, **look}
        named = {"customdata": (cell + 1).astype(int), "name": cell_name, "meta": f"{name}, {cell_name}"}
        hover = f"<b>{name}</b><br>cell %{{customdata}}: (%{{x:.4g}}, %{{y:.4g}})"
        traces.append(theme.scatter("markers", x, y, hover, marker=marker, cliponaxis=False, **named))
    pad = 0.04 * (bounds[1] - bounds[0])
    ends = {"range": [bounds[0] - pad, bounds[1] + pad], "zeroline": False}
    references = [line for end in bounds for line in (ReferenceLine(x=end), ReferenceLine(y=end))]
    axes = axis("first number", **ends), axis("second number", **ends)
    return theme.figure(traces, *axes, f"rows {bounds}", references=references, margin=(62, 12, 30), legend="")
