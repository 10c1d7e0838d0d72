"""The methods at the reader's ε: what is known at once of each, and all of them in the order of their errors."""

import math
from collections.abc import Callable
from functools import partial

import streamlit as st

from dpviz.comparisons import Compared, DataKind, Method, Outcome, Terms
from dpviz.comparisons.base import Analysis, stream_comparison
from dpviz.parameters import readable
from dpviz.studies import Measure
from pages.compare_synthesizers import SPEC
from pages.compare_synthesizers.controls import PREFIX, Asked
from pages.components.cached import cached
from pages.components.growing import Growing, growing_of, show_growing
from pages.components.words import heading, listing, measured, number, percent

ROUNDING = 1e-6  # Relative distance within which a real ε is the promised one


def first_outcomes(asked: Asked) -> list[Outcome]:
    """What is known at once of every method at the reader's ε."""
    return cached(_first)(*asked.comparison, asked.design.epsilon)


def _first(
    data: DataKind, methods: tuple[Method, ...], analysis: Analysis, terms: Terms, epsilon: float
) -> list[Outcome]:
    found: dict[str, Outcome] = {}
    for outcome in data.compare(methods, [epsilon], analysis, terms):
        if outcome.method.key in found:
            break
        found[outcome.method.key] = outcome
    return list(found.values())


def ranked(asked: Asked) -> Growing[Compared]:
    """All outcomes at the reader's ε, first what is known at once; with δ the smallest error comes last."""
    data, methods, analysis, terms = asked.comparison
    epsilon = asked.design.epsilon
    begin = partial(stream_comparison, data, methods, [epsilon], analysis, terms)
    growing = growing_of(f"{PREFIX}ranking", ("ranking", *map(repr, asked.comparison), epsilon), Compared, begin)
    if growing.latest is None:
        least = None if terms.delta else cached(data.least_error)(epsilon)
        known = {} if least is None else {epsilon: least}
        growing.latest = Compared({(one.method.key, epsilon): one for one in first_outcomes(asked)}, known)
    return growing


def least_error(asked: Asked) -> float | None:
    """The smallest error that any release can add at the reader's ε and terms, where it is known by now."""
    found = ranked(asked).latest
    return found.least.get(asked.design.epsilon) if found else None


def broken(one: Outcome, terms: Terms) -> bool:
    """Whether a method that promises a pure ε is known to give away more."""
    promises = not one.method.reference and terms.delta == 0
    return promises and one.real_epsilon is not None and one.real_epsilon > one.epsilon * (1 + ROUNDING)


def error_of(outcome: Outcome) -> float:
    """The root mean squared error."""
    return outcome.root_mean_squared_error.value


def in_order(found: list[Outcome]) -> list[Outcome]:
    """Outcomes by their error, the smallest first; those without one last."""
    return sorted(found, key=lambda one: (math.isnan(error_of(one)), error_of(one)))


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
        "coverage": lambda one: written(one.coverage, share=True),
        "mean width": lambda one: written(one.mean_width),
        "usable": lambda one: written(one.usable_share, share=True),
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


def written(measure: Measure, *, share: bool = False) -> str:
    """A measure; below it, so that the columns are narrow, its Monte Carlo error."""
    value, error = measured(measure, share=share)
    return f"{value}<br><small>{error}</small>" if error else value


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
