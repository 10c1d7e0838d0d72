"""Methods compared: the measures of their outcomes, the limits that designs use, and single releases."""

import math
from collections.abc import Iterable, Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np

from dpviz.charts import theme
from dpviz.charts.lines import Axis, Line, Mark, chosen_mark, comparison_chart, method_stroke
from dpviz.comparisons import Compared, ComparedMethod, Comparison, Outcome
from dpviz.comparisons.analysis import INTERVAL_MEASURES
from dpviz.comparisons.budget import BudgetSplit, SplitResults
from dpviz.comparisons.comparison import Ranking
from dpviz.core.formatting import format_number, format_or_dash
from dpviz.core.types import FloatArray

ERROR = "root_mean_squared_error"
"""The measure that is drawn unless something else is chosen."""

ADDED = "release_error"
WIDTH = "mean_width"
ONE_SET = "best release of one set"

COMPARED_MEASURES = {
    ERROR: ("error", "Root mean squared error of the analyst's estimate"),
    ADDED: ("added error", "Error that each method adds to the confidential data, and the smallest possible,"),
    "bias": ("bias", "Bias of the analyst's estimate"),
    "coverage": ("coverage", "Coverage of the analyst's interval"),
    WIDTH: ("width", "Mean width of the analyst's interval"),
    "usable_share": ("usable", "Share of releases that can be analyzed"),
}
DIVIDED_MEASURES = {
    ERROR: ("error", "Error of the estimate"),
    "coverage": ("coverage", "Coverage"),
    "bias": ("bias", "Bias"),
    "spread": ("spread", "Standard deviation of the estimate"),
}
"""Name and description of the measures of a comparison, and of a division of ε, in their order."""

LIMIT_NAMES = {ADDED: "no mechanism can go below this", WIDTH: "no interval that holds its level is shorter"}
"""What stands in the area beyond the limit of a measure."""


class DrawnMeasure(NamedTuple):
    """One measure: its name in a word or two, its axis, and what a picture of it shows in a sentence."""

    name: str
    axis: Axis
    alt: str


def need_intervals(measures: Iterable[str]) -> bool:
    """Whether any of these measures is one of intervals."""
    return not set(INTERVAL_MEASURES).isdisjoint(measures)


def _axes(symbol: str, level: float) -> dict[str, Axis]:
    return {
        ERROR: Axis(title=f"error of the estimate of {symbol}", log=True),
        ADDED: Axis(title="error that the release adds", log=True),
        "bias": Axis(title=f"bias of the estimate of {symbol}"),
        "coverage": Axis(title="intervals that hold the truth", percent=True, nominal=level),
        WIDTH: Axis(title="mean width of the interval"),
        "usable_share": Axis(title="releases that can be analyzed", percent=True),
        "spread": Axis(title="standard deviation of the estimate", log=True),
    }


def comparison_measures(comparison: Comparison, *, added: bool) -> dict[str, DrawnMeasure]:
    """Measures that can be drawn of a comparison, by key.

    `added` says whether the error that the release adds is known, and with it how short an interval can be.
    """
    axes = _axes(comparison.data.chosen_estimand.symbol, comparison.analysis.level)
    shortest = {WIDTH: ", and the shortest possible," if added else ""}
    return {
        key: DrawnMeasure(name, axes[key], f"{alt}{shortest.get(key, '')} by each method against ε.")
        for key, (name, alt) in COMPARED_MEASURES.items()
        if added or key != ADDED
    }


def division_measures(split: BudgetSplit) -> dict[str, DrawnMeasure]:
    """Measures that can be drawn of a division, after the error those of the other estimands by their keys."""
    axes = _axes(split.data.chosen_estimand.symbol, split.analysis.level)
    measures = {}
    for key, (name, alt) in DIVIDED_MEASURES.items():
        measures[key] = DrawnMeasure(name, axes[key], f"{alt} against {split.axis}.")
        for estimand in split.secondary_estimands if key == ERROR else ():
            axis = _axes(estimand.symbol, split.analysis.level)[ERROR]
            measures[estimand.key] = DrawnMeasure(f"error of {estimand.symbol}", axis, measures[ERROR].alt)
    return measures


def comparison_picture(
    comparison: Comparison, found: Compared, ranking: Ranking, measure: str, *, small: bool = False
) -> theme.Figure:
    """One measure of all methods against ε; the method with the smallest error is marked where it is ranked."""
    names = theme.shorten_labels(method.label for method in comparison.methods)
    lines = [
        _line(
            [(outcome.epsilon, outcome) for outcome in found.of(method)],
            measure,
            name=method.label,
            short=names[method.label],
            color=method.key,
            stroke=method_stroke(place, is_reference=method.reference),
        )
        for place, method in enumerate(comparison.methods)
    ]
    low, high = comparison.span
    return comparison_chart(
        lines,
        Axis(title=comparison.terms.axis, symbol="ε", log=True, low=low, high=high),
        comparison_measures(comparison, added=True)[measure].axis,
        key=measure,
        chosen=comparison.epsilon,
        chosen_text="your ε",
        limit=drawn_limit(found, measure),
        mark=None if small else _best_mark(ranking, measure),
        small=small,
    )


def drawn_limit(found: Compared, measure: str) -> Line | None:
    """The smallest that any release with the promise can make a measure, as far as it is known."""
    known = found.limits(measure)
    if not known:
        return None
    return Line(name=LIMIT_NAMES[measure], x=np.array([*known]), y=np.array([*known.values()]), is_limit=True)


def _best_mark(ranking: Ranking, measure: str) -> Mark | None:
    best = next(iter(ranking.contenders), None)
    value = math.nan if best is None else best.measure(measure).value
    if best is None or math.isnan(value) or (value <= 0 and measure != "bias"):
        return None
    is_share = measure in ("coverage", "usable_share")
    text = f"{format_number(100 * value, 3)} %" if is_share else format_number(value, 3)
    return chosen_mark(ranking.comparison.epsilon, value, best.method.key, text, best.method.label)


def division_picture(split: BudgetSplit, found: SplitResults, measure: str, *, small: bool = False) -> theme.Figure:
    """One measure against the divisions of ε; for the main estimand, the best release of one set is a second line."""
    is_other = measure in split.secondary
    method, single = split.method, found.single
    outcomes, stroke = sorted(found.outcomes.items()), method_stroke(0)
    lines = [_line(outcomes, measure, color=method.key, name=method.label, stroke=stroke)]
    if not is_other:  # the best release of one set, once it is known
        label = "" if single is None else single.method.label
        ends = [] if single is None else [(end, single) for end in split.span]
        named = {"name": f"{ONE_SET}: {label}" if label else ONE_SET, "short": f"one set, {label}"}
        color = "original" if single is None else single.method.key
        lines.append(_line(ends, measure, color=color, stroke=method_stroke(1, is_reference=True), **named))
    low, high = split.span
    return comparison_chart(
        lines,
        Axis(title=split.axis, symbol=split.symbol, log=split.log, low=low, high=high),
        division_measures(split)[measure].axis,
        key=measure,
        chosen=found.best_place(measure) if is_other else found.best,
        chosen_text="smallest error",
        small=small,
    )


def _line(outcomes: Iterable[tuple[float, Outcome]], measure: str, **look: Any) -> Line:
    """The line of a method through its outcomes, as far as the measure is known."""
    known = [
        (place, value.value, value.error, outcome.is_exact(measure))
        for place, outcome in outcomes
        if math.isfinite((value := outcome.measure(measure)).value)
    ]
    x, y, error, exact = np.array(known, float).T if known else np.empty((4, 0))
    return Line(x=x, y=y, error=error, exact=exact.astype(bool), group=look["color"], **look)


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
    """A dot for the estimate from each set of a method in its row; rules at the truth, and at `original` unless NaN."""
    traces = []
    for row, (method, estimates) in enumerate(released.items()):
        hover = f"<b>{method.label}</b><br>%{{x:.5g}}<extra></extra>"
        look = {"marker": theme.dot_marker(10, theme.color_of(method.key), width=1, opacity=0.8), "showlegend": False}
        rows = np.full(len(estimates), row)
        traces.append(theme.scatter("markers", estimates, rows, hover, cliponaxis=False, **look))
    sides = ("right", "left") if original < truth else ("left", "right")
    shapes, labels = [theme.truth(truth, "below", 2)], [theme.label_upright("truth", truth, side=sides[1])]
    values = np.concatenate([*released.values(), [truth, original]])
    if not math.isnan(original):
        shapes.insert(0, theme.rule(x=original))
        labels.insert(0, theme.label_upright("confidential data", original, side=sides[0]))
    low, high = float(np.nanmin(values)), float(np.nanmax(values))
    pad = 0.06 * (high - low) or 0.1
    return theme.build(
        traces,
        x=theme.axis(title, range=[low - pad, high + pad]),
        y=theme.axis_of_rows([method.label for method in released], automargin=True),
        uirevision="release",
        shapes=shapes,
        annotations=labels,
        **theme.margins(16, 16, 40, 52),
    )


MAX_DRAWN_ROWS = 2_000


def rows_chart(rows: FloatArray, *, cells: int, bounds: tuple[float, float], name: str) -> theme.Figure:
    """Numbers of rows of mixed data, colored by their cell; the first cell has a mark of its own.

    Parameters
    ----------
    rows : ndarray of float, shape (3, n_rows)
        Cell from 0 on and two numbers of each row, in the order of cells: of very many, each second or third is drawn.
    cells : int
    bounds : tuple of float
        Thin rules.
    name : str
        Of the release.
    """
    rows = rows[:, :: max(math.ceil(rows.shape[1] / MAX_DRAWN_ROWS), 1)]
    first, (low, high) = rows[0] == 0, bounds
    colorbar = {"title": {"text": "cell"}, "thickness": 12, "tickformat": "d"}
    scale: dict[str, Any] = {"colorscale": theme.MAGNITUDES, "cmin": 1, "cmax": cells}
    traces = []
    for is_shown, cell_name, look in (
        (~first, "other cells", {"symbol": "circle", "size": 6, "colorbar": colorbar}),
        (first, "smallest cell", {"symbol": "diamond", "size": 10}),
    ):
        cell, x, y = rows[:, is_shown]
        marker = {"line": {"width": 1, "color": theme.GREY}, "color": cell + 1, **scale, **look}
        hover = f"<b>{name}</b><br>cell %{{customdata}}: (%{{x:.4g}}, %{{y:.4g}})<extra></extra>"
        named = {"customdata": (cell + 1).astype(int), "name": cell_name, "meta": f"{name}, {cell_name}"}
        traces.append(theme.scatter("markers", x, y, hover, marker=marker, cliponaxis=False, **named))
    pad = 0.04 * (high - low)
    ends = {"range": [low - pad, high + pad], "zeroline": False}
    return theme.build(
        traces,
        x=theme.axis("first number", **ends),
        y=theme.axis("second number", **ends),
        uirevision=f"rows {bounds}",
        shapes=[theme.rule(x=low), theme.rule(x=high), theme.rule(y=low), theme.rule(y=high)],
        **theme.margins(62, 12, 30, 52),
    )


# Limits

LIMIT_MARKS = ("blue", "circle"), ("violet", "diamond"), ("green", "square"), ("pink", "triangle-up")
SMALLEST_USED_SHARE, LARGEST_USED_SHARE = 0.01, 100.0  # of a limit; what lies beyond stands at the edge
TICKED_SHARES = 0.01, 0.03, 0.1, 0.2, 0.5, 1.0, 2.0, 5.0, 10.0, 30.0, 100.0


def limits_height(designs: int) -> int:
    """Pixels of a `limits_chart` of so many designs."""
    return 140 + 36 * designs


def limits_chart(
    names: Sequence[str], used: Mapping[str, Sequence[Sequence[float]]], *, against: str = "", rows: int = 0
) -> theme.Figure:
    """A row for each design and a mark for each limit: left of the thin rule it is kept, right of it broken.

    Parameters
    ----------
    names : sequence of str
    used : mapping
        By limit the shares of it that the designs use, and the ends of their 95 % error bars; NaN where unknown.
    against : str, optional
        What the shares are of, where there is no limit.
    rows : int, optional
        Room for more designs than there are.
    """
    traces = []
    step = 0.5 / max(len(used), 2)  # marks of one design stand a little below each other
    for place, ((limit, values), (name, symbol)) in enumerate(zip(used.items(), LIMIT_MARKS, strict=False)):
        shares, low, high = np.clip(np.array(values, float), SMALLEST_USED_SHARE, LARGEST_USED_SHARE)
        texts = [_share_text(share, against or "the limit") for share in values[0]]
        color = theme.PALETTE[name]
        look = {
            "text": [f"{design}<br>{limit}: {text}" for design, text in zip(names, texts, strict=True)],
            "error_x": theme.error_bar(high - shares, color, shares - low),
            "marker": theme.dot_marker(10, color, width=1, symbol=symbol),
        }
        heights = np.arange(len(names)) + (place - (len(used) - 1) / 2) * step
        traces.append(theme.scatter("markers", shares, heights, "%{text}<extra></extra>", name=limit, **look))
        traces[-1]["cliponaxis"] = False
    known = [end for _, low, high in used.values() for end in (*low, *high) if not math.isnan(end)]
    ends = np.clip([min([0.5, *known]), max([2.0, *known])], SMALLEST_USED_SHARE, LARGEST_USED_SHARE)
    first, last = np.log10(ends).tolist()
    ticks = [share for share in TICKED_SHARES if last - first < 2 or math.log10(share) % 1 == 0]
    scale = {"type": "log", "range": [first - 0.06, last + 0.06]}
    scale |= {"tickvals": ticks, "ticktext": [_tick_text(share) for share in ticks]}
    verdicts = [theme.label_upright(text, 0.0, side=side) for text, side in (("kept ", "right"), (" broken", "left"))]
    return theme.build(
        traces,
        x=theme.axis(against or "share of the limit", **scale),
        y=theme.axis_of_rows([*names, *[""] * (rows - len(names))], automargin=True),
        uirevision="limits",
        shapes=[theme.rule(x=1.0)],
        annotations=[] if against else verdicts,
        meta={"row": 30},  # pixels of a design: where there is little room, so many designs are shown as have it
        **theme.legend_below(0, 16, 16, 48, 84, yref="container", yanchor="bottom"),
    )


def _tick_text(share: float) -> str:
    prefix = {SMALLEST_USED_SHARE: "≤ ", LARGEST_USED_SHARE: "≥ "}.get(share, "")
    return prefix + (f"× {share:g}" if share > 1 else f"{100 * share:g} %")


def _share_text(share: float, limit: str) -> str:
    if math.isnan(share):
        return "not yet known"
    return f"{100 * share:.3g} % of {limit}" if share < 10 else f"{share:.3g} times {limit}"
