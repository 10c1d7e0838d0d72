"""The picture of one measure against ε, and small ones of the others, which grow as their numbers come."""

import math
from functools import partial

import numpy as np
import streamlit as st

from dpviz.charts.comparison import Series, comparison_chart, comparison_height
from dpviz.charts.lines import DrawnLine, DrawnScale, Mark
from dpviz.charts.style import Figure
from dpviz.comparisons import Compared
from dpviz.comparisons.base import stream_comparison
from dpviz.core.parameters import readable
from dpviz.core.plain import short_names
from pages.compare_synthesizers import SPEC
from pages.compare_synthesizers.controls import PREFIX, Asked
from pages.compare_synthesizers.ranking import contenders, found_so_far
from pages.components.compared import ERROR, Drawn, chosen_measure, show_measures
from pages.components.growing import Growing, growing_of, show_growing

LIMIT = "no mechanism can go below this"


def drawn(asked: Asked) -> dict[str, Drawn]:
    """What can be drawn, in its order; the error that is added only where it is known of such data."""
    symbol = next(one.symbol for one in asked.data.estimands if one.key == asked.data.estimand)
    off, level = f"error of the estimate of {symbol}", asked.analysis.level
    found = {
        ERROR: Drawn("error", DrawnScale(title=off, log=True), "Root mean squared error of the analyst's estimate"),
        "release_error": Drawn("added error", DrawnScale(title="error that the release adds", log=True),
                               "Error that each method adds to the confidential data, and the smallest possible,"),
        "bias": Drawn("bias", DrawnScale(title=f"bias of the estimate of {symbol}"), "Bias of the analyst's estimate"),
        "coverage": Drawn("coverage", DrawnScale(title="intervals that hold the truth", percent=True, nominal=level),
                          "Coverage of the analyst's interval"),
        "mean_width": Drawn("width", DrawnScale(title="mean width of the interval"),
                            "Mean width of the analyst's interval"),
        "usable_share": Drawn("usable", DrawnScale(title="releases that can be analyzed", percent=True),
                              "Share of releases that can be analyzed"),
    }  # fmt: skip
    if not any(one.release_error.value >= 0 for one in found_so_far(asked).outcomes.values()):
        del found["release_error"]
    return {key: one._replace(alt=f"{one.alt} by each method against ε.") for key, one in found.items()}


def curves_of(asked: Asked) -> Growing[Compared]:
    """The reader's curves, the same at whatever ε the methods are ranked."""
    data, methods, analysis, terms = asked.comparison
    begin = partial(stream_comparison, data, methods, asked.epsilons, analysis, terms)
    key = ("comparison", *map(repr, asked.comparison), asked.span)
    return growing_of(f"{PREFIX}curves", key, Compared, begin)


def show_pictures(asked: Asked) -> None:
    """The picture of the measure that is chosen, and those of the others where they are asked for."""
    known = drawn(asked)
    key, others = chosen_measure(PREFIX, known)
    draw, step = partial(_draw, asked, known, key, others), f"{PREFIX}curves_step"
    show_growing(curves_of(asked), "Comparing …", draw, key=step)


def _draw(asked: Asked, known: dict[str, Drawn], key: str, others: list[str], found: Compared) -> None:
    names = short_names(one.label for one in asked.methods)

    def chart(measure: str, *, small: bool = False) -> Figure:
        return comparison_chart(
            series_of(asked, found, measure, names), known[measure].scale, axis=asked.terms.axis, small=small,
            chosen=asked.design.epsilon, told="your ε", span=asked.span, key=measure, limit=limit_of(found, measure),
            mark=None if small else _mark(asked, measure),
        )  # fmt: skip

    show_measures(PREFIX, known, key, others, chart, comparison_height(list(names)))
    done = sum(not math.isnan(one.coverage.value) for one in found.outcomes.values())
    low, high = (readable(end, 3) for end in asked.span)
    points, every = len(asked.epsilons), len(asked.epsilons) * len(asked.methods)
    words = SPEC.note("pictures", points=points, low=low, high=high, done=done, all=every)
    st.caption(f"{words} {SPEC.note('area')}" if limit_of(found, key) else words)


def _mark(asked: Asked, measure: str) -> Mark | None:
    """The method with the smallest error at the reader's ε, as far as its number is known."""
    best = next(iter(contenders([*found_so_far(asked).outcomes.values()], asked.terms)), None)
    value = math.nan if best is None else getattr(best, measure).value
    if best is None or math.isnan(value) or (value <= 0 and measure != "bias"):
        return None
    share = measure in ("coverage", "usable_share")
    text = f"{readable(100 * value, 3)} %" if share else readable(value, 3)
    return Mark(x=asked.design.epsilon, y=value, color=best.method.key, text=text, name=best.method.label)


def series_of(asked: Asked, found: Compared, measure: str, names: dict[str, str]) -> list[Series]:
    """The lines of one picture, one for each method; one whose numbers are still to come is empty."""
    lines = []
    for method in asked.methods:
        points = [(one.epsilon, getattr(one, measure)) for one in found.of(method)]
        known = [(epsilon, value.value, value.error) for epsilon, value in points if math.isfinite(value.value)]
        x, y, error = np.array(known).T if known else np.empty((3, 0))
        exact = (error == 0) & (not asked.data.simulated)
        lines.append(
            Series(
                key=method.key, name=method.label, short=names[method.label], x=x, y=y, error=error, exact=exact,
                reference=method.reference,
            )
        )  # fmt: skip
    return lines


def limit_of(found: Compared, measure: str) -> DrawnLine | None:
    """The smallest error that any release with this promise can add, as far as it is known."""
    if measure != "release_error" or not found.smallest_errors:
        return None
    x, y = np.array([(epsilon, least.lower_bound) for epsilon, least in sorted(found.smallest_errors.items())]).T
    return DrawnLine(name=LIMIT, x=x, y=y)
