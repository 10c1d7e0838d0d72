"""Tables of what a promise needs, of one set and of several, and of what a prior or range gives."""

import math
from collections.abc import Callable, Mapping

from dpviz.calibration.kinds import Given
from dpviz.calibration.methods import PARAM_MAP, PRIOR_METHODS, PriorMethod
from dpviz.calibration.needed import Needed
from dpviz.calibration.promise_in_words import sure_digits
from dpviz.calibration.promise_question import PromiseQuestion
from dpviz.calibration.ways import Ways
from dpviz.core.parameters import BEYOND_REACH, readable
from dpviz.core.wording import TextTable, failure_text
from dpviz.inference.moments import cell_moments, share_beyond

LATER = "…"  # What stands for an answer that is still being computed
ROUNDED_BIAS = 1e-15  # Bias below which it is nothing but rounding


def needed_table(question: PromiseQuestion, found: Needed) -> TextTable:
    """Return what every method needs and what that costs, at the end PARAM_MAP, for which nothing is enough."""
    kind, delta, p = question.kind, readable(question.setting.delta, 3), readable(question.p, 3)
    needs, costs = [f"{kind.axis}, δ = 0", f"{kind.axis}, δ = {delta}"], [f"bias at p = {p}", "standard error"]
    name, answers = "The exact prior of every method, and what it costs", [found.pure, found.exact]
    if kind.conditioned:
        needs, costs = [f"{needs[0]}, truncated", f"{needs[1]}, not truncated"], ["share of N(0, σ²) beyond ±R"]
        name = "The exact range of every method, and what it cuts off"
    if question.setting.delta == 0:
        del needs[1], answers[1]
    rows = []
    for key, method in kind.methods.items():
        cells = [LATER] * (len(needs) + len(costs))
        if key in found.exact:
            paid = _costs(question, method, found.exact[key]) or [""] * len(costs)
            cells = [*(question.level_cell(one[key]) for one in answers), *paid]
        rows.append([_named(question, method), *cells])
    rows.append([_named(question, PARAM_MAP), *["impossible"] * len(needs), *[""] * len(costs)])
    return TextTable(["method", *needs, *costs], rows, name)


def _named(question: PromiseQuestion, method: PriorMethod) -> str:
    """A method by its name in the paper; below it that of the synthesizer of counts, and what is released."""
    said = method.words.replace("proportion", "mean") if question.kind.conditioned else method.words
    plain = method.plain(question.cells)
    return f"<b>{method.label}</b><br><small>{plain}{': ' if plain else ''}{said}</small>"


def _costs(question: PromiseQuestion, method: PriorMethod, level: float) -> list[str]:
    """Bias and standard error at a prior, or what a range cuts off; nothing where that is not computed."""
    if not math.isfinite(level):
        return []
    if question.kind.conditioned:
        return [readable(share_beyond(level), 3)]
    sizes = {"n": question.setting.n, "m": question.setting.m, "cells": question.cells, "sets": question.sets}
    try:
        found = cell_moments(method.key, **sizes, alpha=level, proportion=question.p)
    except ValueError:
        return []
    bias = found.bias if abs(found.bias) > ROUNDED_BIAS else 0.0
    return [f"{'+' if bias > 0 else ''}{readable(bias, 3)}", readable(found.standard_error, 3)]


def ways_table(question: PromiseQuestion, found: Ways) -> TextTable:
    """Return what several sets of every method need, by way of counting: beyond reach, a number, or still to come."""
    truncated = ", truncated" if question.kind.conditioned else ""
    head = ["for all sets together", f"ε/M each, δ = 0{truncated}", "(ε/M, δ/M) each", "advanced composition", "exact"]
    rows = []
    for key, method in question.kind.methods.items():
        place, cells = (key, question.sets), [BEYOND_REACH if key in found.refused else LATER] * 4
        if place in found.shares:
            shares = found.shares[place]
            ways = shares.pure, shares.split, shares.advanced
            cells[:3] = ("–" if math.isnan(way) else question.level_cell(way) for way in ways)
        if place in found.exact:
            exact = found.exact[place]
            cells[3] = f"<b>{question.level_cell(exact.upper, sure_digits(exact))}</b>"
        rows.append([f"<b>{method.label}</b>", *cells])
    needs = "range that the sets allow" if question.kind.conditioned else "prior that the sets need"
    return TextTable(head, rows, f"The {needs}, by way of counting")


def given_table(question: PromiseQuestion, found: Mapping[str, Given | None]) -> TextTable:
    """Return the exact privacy of every method at one prior or range."""
    setting, sets = question.setting, question.sets
    zero = "ε at δ = 0, truncated" if question.kind.conditioned else "ε at δ = 0"
    columns: dict[str, Callable[[Given], str]] = {zero: lambda given: _epsilon(given.pure_epsilon)}
    if setting.delta > 0:
        columns[f"ε at δ = {readable(setting.delta, 3)}"] = lambda given: _epsilon(given.epsilon_at_delta)
    columns[f"δ at ε = {readable(setting.epsilon, 4)}"] = lambda given: _delta(question, given)
    if sets > 1:
        columns[f"{sets} sets: {zero}"] = lambda given: _epsilon(sets * given.pure_epsilon)
    rows = []
    for key, given in found.items():
        without = [f"needs α > {readable(PRIOR_METHODS[key].lost)}", *[""] * (len(columns) - 1)]
        cells = without if given is None else [cell(given) for cell in columns.values()]
        rows.append([f"<b>{PRIOR_METHODS[key].label}</b>", *cells])
    return TextTable(["exact", *columns], rows, "What this prior or range gives")


def _epsilon(value: float) -> str:
    return "unbounded" if math.isinf(value) else readable(value, 5)


def _delta(question: PromiseQuestion, given: Given) -> str:
    """δ at the promised ε: 0 where that is kept without any, and else above 0 however small it is."""
    bounded = not question.kind.conditioned and given.pure_epsilon <= question.setting.epsilon
    return (readable if bounded else failure_text)(given.delta_at_epsilon, 4)
