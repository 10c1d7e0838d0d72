"""What is drawn of a comparison and of a division of ε: one measure of all outcomes, with what is best."""

import math
from collections.abc import Iterable
from typing import Any, NamedTuple

import numpy as np

from dpviz.charts.comparison import Series, comparison_chart
from dpviz.charts.lines import DrawnLine, DrawnScale, Mark
from dpviz.charts.style import Figure, shorten_labels
from dpviz.comparisons import Compared, Comparison, Outcome
from dpviz.comparisons.analysis import INTERVAL_MEASURES
from dpviz.comparisons.budget import BudgetSplit, SplitResults
from dpviz.comparisons.comparison import Ranking
from dpviz.core.formatting import format_number

ERROR = "root_mean_squared_error"
"""What is drawn unless something else is chosen."""

ADDED = "release_error"
"""What is known of some kinds of data alone."""

WIDTH = "mean_width"
"""What is limited where that is known."""

ONE_SET = "best release of one set"
"""What is drawn beside all divisions."""


class DrawnMeasure(NamedTuple):
    """One measure: its name in a word or two, its axis, and what a picture of it shows in a sentence."""

    name: str
    scale: DrawnScale
    alt: str


def need_intervals(measures: Iterable[str]) -> bool:
    """Return whether a picture of one of these measures shows what intervals do."""
    return not set(INTERVAL_MEASURES).isdisjoint(measures)


def _scales(symbol: str, level: float) -> dict[str, DrawnScale]:
    """The axes of all measures of an estimate, by the name of the measure."""
    return {
        ERROR: DrawnScale(title=f"error of the estimate of {symbol}", log=True),
        ADDED: DrawnScale(title="error that the release adds", log=True),
        "bias": DrawnScale(title=f"bias of the estimate of {symbol}"),
        "coverage": DrawnScale(title="intervals that hold the truth", percent=True, nominal=level),
        WIDTH: DrawnScale(title="mean width of the interval"),
        "usable_share": DrawnScale(title="releases that can be analyzed", percent=True),
        "spread": DrawnScale(title="standard deviation of the estimate", log=True),
    }


COMPARED_MEASURES = {
    ERROR: ("error", "Root mean squared error of the analyst's estimate"),
    ADDED: ("added error", "Error that each method adds to the confidential data, and the smallest possible,"),
    "bias": ("bias", "Bias of the analyst's estimate"),
    "coverage": ("coverage", "Coverage of the analyst's interval"),
    WIDTH: ("width", "Mean width of the analyst's interval"),
    "usable_share": ("usable", "Share of releases that can be analyzed"),
}
"""What can be drawn of a comparison, in its order."""

BESIDE_SHORTEST = ", and the shortest possible,"
LIMIT_NAMES = {
    ADDED: "no mechanism can go below this",
    WIDTH: "no interval that holds its level is shorter",  # others are
}
"""What is written into the area beyond the limit of a measure."""


def comparison_measures(asked: Comparison, *, added: bool) -> dict[str, DrawnMeasure]:
    """Return what can be drawn of a comparison; `added` says whether the error that the release adds is known.

    Then it is also known how short an interval can be.
    """
    scales, limited = _scales(asked.data.chosen_estimand.symbol, asked.analysis.level), {WIDTH} if added else set()
    return {
        key: DrawnMeasure(
            name, scales[key], f"{alt}{BESIDE_SHORTEST if key in limited else ''} by each method against ε."
        )
        for key, (name, alt) in COMPARED_MEASURES.items()
        if added or key != ADDED
    }


DIVIDED_MEASURES = {
    ERROR: ("error", "Error of the estimate"),
    "coverage": ("coverage", "Coverage"),
    "bias": ("bias", "Bias"),
    "spread": ("spread", "Standard deviation of the estimate"),
}
"""What can be drawn of a division, in its order; after the error come those of what is beside."""


def division_measures(asked: BudgetSplit) -> dict[str, DrawnMeasure]:
    """Return what can be drawn of a division, the errors of what is beside by the keys of their estimands."""
    level = asked.analysis.level
    scales = _scales(asked.data.chosen_estimand.symbol, level)
    drawn = {
        key: DrawnMeasure(name, scales[key], f"{alt} against {asked.axis}.")
        for key, (name, alt) in DIVIDED_MEASURES.items()
    }
    error = drawn.pop(ERROR)
    beside = {
        one.key: error._replace(name=f"error of {one.symbol}", scale=_scales(one.symbol, level)[ERROR])
        for one in asked.secondary_estimands
    }
    return {ERROR: error, **beside, **drawn}


def comparison_picture(
    asked: Comparison, found: Compared, ranking: Ranking, measure: str, *, small: bool = False
) -> Figure:
    """Return the picture of one measure against ε, with the method that has the smallest error where it is ranked."""
    names = shorten_labels(one.label for one in asked.methods)
    lines = [
        _series(
            [(one.epsilon, one) for one in found.of(method)],
            measure,
            key=method.key,
            name=method.label,
            short=names[method.label],
            reference=method.reference,
        )
        for method in asked.methods
    ]
    return comparison_chart(
        lines,
        comparison_measures(asked, added=True)[measure].scale,
        axis=asked.terms.axis,
        chosen=asked.epsilon,
        told="your ε",
        span=asked.span,
        key=measure,
        limit=drawn_limit(found, measure),
        mark=None if small else _best(ranking, measure),
        small=small,
    )


def drawn_limit(found: Compared, measure: str) -> DrawnLine | None:
    """Return the smallest that any release with this promise can make a measure, as far as it is known."""
    if not (known := found.limits(measure)):
        return None
    x, y = np.array([*known.items()]).T
    return DrawnLine(name=LIMIT_NAMES[measure], x=x, y=y)


def _best(ranking: Ranking, measure: str) -> Mark | None:
    """The method with the smallest error where the methods are ranked, as far as its number is known."""
    best = next(iter(ranking.contenders), None)
    value = math.nan if best is None else best.measure(measure).value
    if best is None or math.isnan(value) or (value <= 0 and measure != "bias"):
        return None
    share = measure in ("coverage", "usable_share")
    text = f"{format_number(100 * value, 3)} %" if share else format_number(value, 3)
    return Mark(x=ranking.comparison.epsilon, y=value, color=best.method.key, text=text, name=best.method.label)


def division_picture(asked: BudgetSplit, found: SplitResults, measure: str, *, small: bool = False) -> Figure:
    """Return the picture of one measure against the divisions; beside what is judged there is no release of one set."""
    aside, points = measure in asked.secondary, sorted(found.outcomes.items())
    lines = [_series(points, measure, key=asked.method.key, name=asked.method.label)]
    lines += [] if aside else [_of_one_set(asked, found.single, measure)]
    return comparison_chart(
        lines,
        division_measures(asked)[measure].scale,
        axis=asked.axis,
        symbol=asked.symbol,
        log=asked.log,
        chosen=found.best_place(measure) if aside else found.best,
        told="smallest error",
        span=asked.span,
        key=measure,
        small=small,
    )


def _of_one_set(asked: BudgetSplit, one: Outcome | None, measure: str) -> Series:
    """The best release of one set, the same wherever the picture's axis stands; nothing where none is known yet."""
    if one is None:
        return _series([], measure, key="original", name=ONE_SET, reference=True)
    ends, label = [(end, one) for end in asked.span], one.method.label
    named = {"name": f"{ONE_SET}: {label}", "short": f"one set, {label}"}
    return _series(ends, measure, key=one.method.key, reference=True, **named)


def _series(outcomes: Iterable[tuple[float, Outcome]], measure: str, **named: Any) -> Series:
    """The line of a method through its outcomes, each at its place, as far as the measure is known."""
    known = [
        (place, value.value, value.error, one.is_exact(measure))
        for place, one in outcomes
        if math.isfinite((value := one.measure(measure)).value)
    ]
    x, y, error, exact = np.array(known, float).T if known else np.empty((4, 0))
    return Series(x=x, y=y, error=error, exact=exact.astype(bool), **named)
