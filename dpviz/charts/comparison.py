"""Methods compared: the measures of their outcomes, the limits that designs use, and single releases."""

import math
from collections.abc import Iterable, Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np

from dpviz.charts import theme
from dpviz.charts.axes import MEASURES, Axis, axis, axis_of_rows
from dpviz.charts.lines import RING, Line, Mark, comparison_chart
from dpviz.charts.theme import TRUTH, Look, ReferenceLine
from dpviz.comparisons import Compared, ComparedMethod, Comparison, Outcome
from dpviz.comparisons.analysis import INTERVAL_MEASURES, Estimand
from dpviz.comparisons.budget import BudgetSplit, SplitResults
from dpviz.comparisons.comparison import Ranking
from dpviz.core.formatting import format_number, format_or_dash
from dpviz.core.types import FloatArray

ERROR = "root_mean_squared_error"
"""The measure that is drawn unless something else is chosen."""

ONE_SET = "best release of one set"
COMPARED_MEASURES = (ERROR, "release_error", "bias", "coverage", "mean_width", "usable_share")
DIVIDED_MEASURES = (ERROR, "coverage", "bias", "spread")
"""Measures of a comparison, and of a division of ε, in their order."""


class DrawnMeasure(NamedTuple):
    """One measure: its name in a word or two, what a picture of it shows in a sentence, its axis, and its limit."""

    name: str
    alt: str
    axis: Axis
    limit: str  # what stands in the area that no mechanism reaches


def need_intervals(measures: Iterable[str]) -> bool:
    """Whether any of these measures is one of intervals."""
    return not set(INTERVAL_MEASURES).isdisjoint(measures)


def _measure(key: str, estimand: Estimand, level: float, against: str) -> DrawnMeasure:
    look = dict(MEASURES["compared"][key])
    name, alt, limit = look.pop("name"), look.pop("alt"), look.pop("limit", "")
    title = look.pop("title").format(estimand.symbol)
    title = title if "percent" in look else estimand.with_unit(title)
    axis = Axis(title=title, nominal=level if key == "coverage" else None, **look)
    return DrawnMeasure(name, f"{alt} {against}.", axis, limit)


def comparison_measures(comparison: Comparison, *, added: bool = True) -> dict[str, DrawnMeasure]:
    """Measures that can be drawn of a comparison, by key.

    Parameters
    ----------
    added : bool, optional
        Whether the error that the release adds is known.
    """
    shared = comparison.data.chosen_estimand, comparison.analysis.level, "by each method against ε"
    return {key: _measure(key, *shared) for key in COMPARED_MEASURES if added or key != "release_error"}


def division_measures(split: BudgetSplit) -> dict[str, DrawnMeasure]:
    """Measures that can be drawn of a division, after the error those of the other estimands by their keys."""
    shared = split.analysis.level, f"against {split.axis}"
    measures = {ERROR: _measure(ERROR, split.data.chosen_estimand, *shared)}
    for key, estimand in split.secondary.items():
        measures[key] = _measure(ERROR, estimand, *shared)._replace(name=f"error of {estimand.symbol}")
    return measures | {key: _measure(key, split.data.chosen_estimand, *shared) for key in DIVIDED_MEASURES[1:]}


def comparison_picture(
    comparison: Comparison, results: Compared, ranking: Ranking, measure: str, *, small: bool = False
) -> theme.Figure:
    """One measure of all methods against ε; the method with the smallest error is marked where it is ranked.

    Parameters
    ----------
    measure : str
        Key of `comparison_measures`.
    """
    names = theme.shorten_labels(method.label for method in comparison.methods)
    lines = []
    for method in comparison.methods:
        outcomes = [(outcome.epsilon, outcome) for outcome in results.of(method)]
        lines.append(_line(outcomes, measure, method, is_reference=method.reference, short=names[method.label]))

    # The best that is possible, and the best method
    drawn_measure = comparison_measures(comparison)[measure]
    limit = best_mark = None
    if known := results.limits(measure):
        x, y = np.array([*known]), comparison.data.chosen_estimand.unit * np.array([*known.values()])
        limit = Line(name=drawn_measure.limit, x=x, y=y, is_limit=True)
    if ranking.contenders and not small:
        best = ranking.contenders[0]
        value = best.shown(measure).value
        text = f"{format_number(100 * value, 3)} %" if drawn_measure.axis.percent else format_number(value, 3)
        color, name = best.method.key, best.method.label
        best_mark = Mark(x=comparison.epsilon, y=value, color=color, name=name, text=text, hover=text, **RING)
    low, high = comparison.span
    return comparison_chart(
        lines, Axis(title=comparison.terms.axis, symbol="ε", log=True, low=low, high=high, pad=0), drawn_measure.axis,
        key=measure, chosen=comparison.epsilon, chosen_text="your ε", limit=limit, mark=best_mark, small=small,
    )  # fmt: skip


def division_picture(split: BudgetSplit, results: SplitResults, measure: str, *, small: bool = False) -> theme.Figure:
    """One measure against the divisions of ε; for the main estimand, the best release of one set is a second line.

    Parameters
    ----------
    measure : str
        Key of `division_measures`.
    """
    lines = [_line(sorted(results.outcomes.items()), measure, split.method)]
    chosen, single = results.best_place(measure if measure in split.secondary else ""), results.single
    if measure not in split.secondary:
        look: Look = {"name": ONE_SET, "short": "one set, ", "is_reference": True}
        if single is None:  # it is not known yet
            lines.append(Line(x=np.empty(0), y=np.empty(0), **look))
        else:
            look |= {"name": f"{ONE_SET}: {single.method.label}", "short": f"one set, {single.method.label}"}
            lines.append(_line([(end, single) for end in split.span], measure, single.method, **look))
    low, high = split.span
    return comparison_chart(
        lines, Axis(title=split.axis, symbol=split.symbol, log=split.log, low=low, high=high, pad=0),
        division_measures(split)[measure].axis, key=measure, chosen=chosen, chosen_text="smallest error", small=small,
    )  # fmt: skip


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


# Single releases


def release_table(released: Mapping[ComparedMethod, FloatArray]) -> tuple[list[str], list[list[str]]]:
    """Names of columns, and a row for each method: the mean of its sets and the first ten sets."""
    rows = []
    for method, estimates in released.items():
        mean = float(np.mean(estimates)) if len(estimates) else math.nan
        first_sets = ", ".join(format_number(value, 3) for value in estimates[:10].tolist())
        rows.append([f"<b>{method.label}</b>", format_or_dash(mean, 4), first_sets or "–"])
    return ["method", "mean of the sets", "the first sets"], rows


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
    references = [ReferenceLine(x=truth, text="truth", side=sides[1], **TRUTH)]
    if not math.isnan(original):
        references.insert(0, ReferenceLine(x=original, text="confidential data", side=sides[0]))
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


# Limits

LIMIT_MARKS = ("blue", "circle"), ("violet", "diamond"), ("green", "square"), ("pink", "triangle-up")
SMALLEST_USED_SHARE, LARGEST_USED_SHARE = 0.01, 100.0  # of a limit; what lies beyond stands at the edge
TICK_SHARES = SMALLEST_USED_SHARE, 0.03, 0.1, 0.2, 0.5, 1.0, 2.0, 5.0, 10.0, 30.0, LARGEST_USED_SHARE


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
        texts = [_share_text(share, against or "the limit") for share in values[0]]
        look = {
            "text": [f"{design}<br>{limit}: {text}" for design, text in zip(names, texts, strict=True)],
            "error_x": theme.error_bar(shares - low, high - shares, theme.PALETTE[color]),
            "marker": theme.dot_marker(10, theme.PALETTE[color], symbol=symbol),
        }
        heights = np.arange(len(names)) + (place - (len(used) - 1) / 2) * step
        traces.append(theme.scatter("markers", shares, heights, "%{text}", name=limit, cliponaxis=False, **look))

    # A logarithmic axis around all error bars
    known = [end for _, low, high in used.values() for end in (*low, *high) if not math.isnan(end)]
    ends = np.clip([min([0.5, *known]), max([2.0, *known])], SMALLEST_USED_SHARE, LARGEST_USED_SHARE)
    first, last = np.log10(ends).tolist()
    ticks = [share for share in TICK_SHARES if last - first < 2 or math.log10(share) % 1 == 0]
    scale = {"tickvals": ticks, "ticktext": [_tick_text(share) for share in ticks]}
    x = axis(against or "share of the limit", type="log", range=[first - 0.06, last + 0.06], **scale)
    y = axis_of_rows([*names, *[""] * (rows - len(names))])
    above: Look = {"x": 0.0, "y": 1, "yref": "y domain", "yanchor": "bottom"}
    verdicts = theme.label("kept ", xanchor="right", **above), theme.label(" broken", xanchor="left", **above)
    labels, limit_line = () if against else verdicts, [ReferenceLine(x=1.0)]
    layout: Look = {"labels": labels, "margin": (16, 16, 48), "legend": "below"}
    return theme.figure(traces, x, y, "limits", references=limit_line, **layout)


def _tick_text(share: float) -> str:
    prefix = {SMALLEST_USED_SHARE: "≤ ", LARGEST_USED_SHARE: "≥ "}.get(share, "")
    return prefix + (f"× {share:g}" if share > 1 else f"{100 * share:g} %")


def _share_text(share: float, limit: str) -> str:
    if math.isnan(share):
        return "not yet known"
    return f"{100 * share:.3g} % of {limit}" if share < 10 else f"{share:.3g} times {limit}"
