"""The methods at one ε in the order of their errors."""

import math
from collections.abc import Callable
from functools import partial

import streamlit as st

from dpviz.comparisons import Compared, Outcome, Terms
from dpviz.parameters import readable
from dpviz.studies import Measure
from pages.compare_synthesizers import SPEC
from pages.compare_synthesizers.controls import PREFIX, Asked
from pages.compare_synthesizers.quick import broken, in_order, ranked
from pages.components.growing import show_growing
from pages.components.words import heading, listing, number, percent


def show_ranking(asked: Asked) -> None:
    """A table that fills as what takes longer is computed."""
    heading(f"The methods at ε = {readable(asked.design.epsilon, 4)}, the smallest error first")
    draw, step = partial(_table, asked), f"{PREFIX}ranking_step"
    show_growing(ranked(asked), "Ranking …", draw, key=step, slow=asked.terms.delta > 0)


def _table(asked: Asked, found: Compared) -> None:
    """One row for each method."""
    outcomes = in_order(list(found.outcomes.values()))
    least = found.least.get(asked.design.epsilon)
    columns: dict[str, Callable[[Outcome], str]] = {"method": _named}
    if asked.terms.asks:
        columns["given ε"] = lambda one: "–" if one.method.reference else readable(one.setting, 4)
    columns |= {
        "error": lambda one: written(one.root_mean_squared_error),
        "bias": lambda one: written(one.bias),
        "coverage": lambda one: shared(one.coverage),
        "mean width": lambda one: written(one.mean_width),
        "usable": lambda one: shared(one.usable_share),
        "real ε": lambda one: real(one, asked.terms),
    }
    if any(one.release_error.value >= 0 for one in outcomes):
        columns["added error"] = lambda one: written(one.release_error)
    if least is not None:
        columns["times the best"] = lambda one: number(one.release_error.value / least if least else math.nan, 3)
    listing(list(columns), [[cell(one) for cell in columns.values()] for one in outcomes], "The methods in order")
    rule, level = asked.analysis.rule_for(asked.analysis.sets), percent(asked.analysis.level, 8)
    st.caption(SPEC.note("table", rule=rule.label, level=level))


def _named(one: Outcome) -> str:
    each = one.method.sets_of_each
    sets = "one set" if one.sets * each == 1 else f"{one.sets} × {each} sets" if each > 1 else f"{one.sets} sets"
    return f"<b>{one.method.label}</b> <small>{sets.replace(' ', '&nbsp;')}</small>"


def written(measure: Measure) -> str:
    """A measure with its Monte Carlo error where it has one; a dash where it is not known."""
    if math.isnan(measure.value):
        return "–"
    value = 0.0 if abs(measure.value) < 1e-12 else measure.value
    return readable(value, 4) + spread(readable(measure.error, 1), measure)


def shared(measure: Measure) -> str:
    """A share in per cent."""
    if math.isnan(measure.value):
        return "–"
    return percent(measure.value, 4) + spread(readable(100 * measure.error, 1), measure)


def spread(error: str, measure: Measure) -> str:
    """A Monte Carlo error in a line of its own, so that the columns are narrow; nothing where there is none."""
    return f"<br><small>± {error}</small>" if measure.error > 0 else ""


def real(one: Outcome, terms: Terms) -> str:
    """The exact pure ε of all sets, marked where it is more than was promised."""
    if one.real_epsilon is None:
        return "–"
    if one.method.reference:
        return (
            "none"
            if math.isinf(one.real_epsilon)
            else f"{readable(one.real_epsilon, 4)}<br><small>not promised</small>"
        )
    return f"{readable(one.real_epsilon, 4)}{'<br><b>broken</b>' if broken(one, terms) else ''}"
