"""Small pictures of every measure against the division of ε."""

import dataclasses
import math

import numpy as np
import streamlit as st

from dpviz.charts.comparison import Panel, Series, comparison_chart
from dpviz.comparisons import Outcome
from dpviz.comparisons.budget import Spent
from dpviz.parameters import readable
from dpviz.studies import Measure
from pages.budget import SPEC
from pages.budget.controls import PREFIX, Asked
from pages.components.figure import show_figure
from pages.components.words import percent


def spread(one: Outcome) -> Measure:
    """The standard deviation of the estimate, with the error of the root mean squared error."""
    error, bias = one.root_mean_squared_error, one.bias.value
    return Measure(math.sqrt(max(error.value**2 - bias**2, 0.0)), error.error)


def show_pictures(asked: Asked, found: Spent) -> None:
    """Error, bias, standard deviation and coverage, two beside each other."""
    level, spending = asked.spending.analysis.level, asked.spending
    symbol = spending.data.estimands[0].symbol
    promised = Panel(title="coverage", share=True, nominal=level, words=f"promised: {percent(level, 8)}")
    panels = {
        "root_mean_squared_error": Panel(title=f"error of the estimate of {symbol}", log=True),
        "coverage": promised,
        "bias": Panel(title=f"bias of the estimate of {symbol}"),
        "spread": Panel(title="standard deviation of the estimate", log=True),
    }
    for pair in (("root_mean_squared_error", "coverage"), ("bias", "spread")):
        for column, name in zip(st.columns(2, gap="medium"), pair, strict=True):
            series = _series(asked, found, name)
            if not len(series.x):
                continue
            chart = comparison_chart(
                [series], panels[name], axis=spending.axis, symbol=spending.symbol, log=spending.log,
                chosen=found.best, span=spending.span, key=name,
            )  # fmt: skip
            with column:
                alt = f"{panels[name].title[0].upper()}{panels[name].title[1:]} against the {spending.axis}."
                show_figure(chart, key=f"{PREFIX}{name}", alt=alt, height=330)
    done = sum(not math.isnan(one.coverage.value) for one in found.outcomes.values())
    st.caption(SPEC.note("pictures", done=done, all=len({*spending.places, *spending.usual.values()}),
                         repetitions=readable(spending.analysis.repetitions)))  # fmt: skip


def _series(asked: Asked, found: Spent, name: str) -> Series:
    values = {
        place: spread(one) if name == "spread" else getattr(one, name) for place, one in sorted(found.outcomes.items())
    }
    known = [(place, *dataclasses.astuple(one)) for place, one in values.items() if math.isfinite(one.value)]
    x, y, error = np.array(known).T if known else np.empty((3, 0))
    method = asked.spending.method
    return Series(key=method.key, name=method.label, x=x, y=y, error=error, exact=error == 0)
