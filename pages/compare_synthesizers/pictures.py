"""Small pictures of every measure against ε, which grow as their numbers come."""

import math
from functools import partial
from typing import NamedTuple

import numpy as np
import streamlit as st

from dpviz.charts.comparison import PLOT_HEIGHT, Series, comparison_chart, legend_height
from dpviz.charts.lines import DrawnLine, DrawnScale
from dpviz.comparisons import Compared
from dpviz.comparisons.base import stream_comparison
from dpviz.core.parameters import readable
from pages.compare_synthesizers import SPEC
from pages.compare_synthesizers.controls import PREFIX, Asked
from pages.components.figure import show_figure
from pages.components.growing import Growing, growing_of, show_growing

LIMIT = "no mechanism can go below this"


class Shown(NamedTuple):
    """One picture: the measure, what its axis is called, and what its alternative text says."""

    measure: str
    scale: DrawnScale
    alt: str


def shown(asked: Asked) -> list[Shown]:
    """The pictures in their order."""
    level = asked.analysis.level
    symbol = next(one.symbol for one in asked.data.estimands if one.key == asked.data.estimand)
    promised = DrawnScale(title="coverage", percent=True, nominal=level)
    return [
        Shown("root_mean_squared_error", DrawnScale(title=f"error of the estimate of {symbol}", log=True),
              "Root mean squared error of the analyst's estimate by each method against epsilon."),
        Shown("release_error", DrawnScale(title="added error", log=True),
              "Error that each method adds to the confidential data against epsilon, and the smallest possible."),
        Shown("bias", DrawnScale(title=f"bias of the estimate of {symbol}"),
              "Bias of the analyst's estimate by each method against epsilon."),
        Shown("coverage", promised, "Coverage of the analyst's interval by each method against epsilon."),
        Shown("mean_width", DrawnScale(title="mean width of the interval"),
              "Mean width of the analyst's interval by each method against epsilon."),
        Shown("usable_share", DrawnScale(title="usable releases", percent=True),
              "Share of releases that can be analyzed by each method against epsilon."),
    ]  # fmt: skip


def curves_of(asked: Asked) -> Growing[Compared]:
    """The reader's curves, the same at whatever ε the methods are ranked."""
    data, methods, analysis, terms = asked.comparison
    begin = partial(stream_comparison, data, methods, asked.epsilons, analysis, terms)
    key = ("comparison", *map(repr, asked.comparison), asked.span)
    return growing_of(f"{PREFIX}curves", key, Compared, begin)


def show_pictures(asked: Asked) -> None:
    """Every picture that has numbers, two beside each other."""
    growing = curves_of(asked)
    draw, step = partial(_draw, asked), f"{PREFIX}curves_step"
    show_growing(growing, "Comparing …", draw, key=step)


def _draw(asked: Asked, found: Compared) -> None:
    pictures = [one for one in shown(asked) if any(_known(found, one.measure))]
    room = legend_height([LIMIT, *(one.label for one in asked.methods)])
    for start in range(0, len(pictures), 2):
        for column, one in zip(st.columns(2, gap="medium"), pictures[start : start + 2], strict=False):
            with column:
                chart = comparison_chart(
                    series_of(asked, found, one.measure), one.scale, axis=asked.terms.axis,
                    chosen=asked.design.epsilon, span=asked.span, key=one.measure, limit=limit_of(found, one.measure),
                    room=room,
                )  # fmt: skip
                show_figure(chart, key=f"{PREFIX}{one.measure}", alt=one.alt, height=PLOT_HEIGHT + room)
    done = sum(_known(found, "coverage"))
    low, high = (readable(end, 3) for end in asked.span)
    points, every = len(asked.epsilons), len(asked.epsilons) * len(asked.methods)
    st.caption(SPEC.note("pictures", points=points, low=low, high=high, done=done, all=every))


def _known(found: Compared, measure: str) -> list[bool]:
    return [not math.isnan(getattr(one, measure).value) for one in found.outcomes.values()]


def series_of(asked: Asked, found: Compared, measure: str) -> list[Series]:
    """The lines of one picture, one for each method that has numbers."""
    lines = []
    for method in asked.methods:
        points = [(one.epsilon, getattr(one, measure)) for one in found.of(method)]
        known = [(epsilon, value.value, value.error) for epsilon, value in points if math.isfinite(value.value)]
        x, y, error = np.array(known).T if known else np.empty((3, 0))
        exact = (error == 0) & (not asked.data.simulated)
        lines.append(
            Series(key=method.key, name=method.label, x=x, y=y, error=error, exact=exact, reference=method.reference)
        )
    return lines


def limit_of(found: Compared, measure: str) -> DrawnLine | None:
    """The smallest error that any release with this promise can add, as far as it is known."""
    if measure != "release_error" or not found.smallest_errors:
        return None
    x, y = np.array([(epsilon, least.lower_bound) for epsilon, least in sorted(found.smallest_errors.items())]).T
    return DrawnLine(name=LIMIT, x=x, y=y)
