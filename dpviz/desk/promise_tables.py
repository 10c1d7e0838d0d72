"""Tables of what a promise needs, of one set and of several, of what a prior gives, and of other kinds of promises."""

import math
from collections.abc import Callable, Mapping

from dpviz.audit.formulas import subsampled_epsilon_printed
from dpviz.audit.text import describe_sampling
from dpviz.calibration.curves import Needed, Ways
from dpviz.calibration.data_kinds import Given, PromiseQuestion
from dpviz.calibration.methods import CALIBRATED_METHODS, PARAM_MAP, PRIOR_METHODS, PriorMethod, RowMethod
from dpviz.calibration.probabilistic import has_probabilistic_answer, minimum_prior_probabilistic
from dpviz.calibration.quantities import NOT_COMPUTED, PRIOR_QUANTITY, has_number
from dpviz.calibration.smallest_prior import minimum_prior
from dpviz.calibration.text import HEADLINE
from dpviz.core import limits
from dpviz.core.formatting import TextTable, format_failure, format_number
from dpviz.inference.moments import cell_moments, share_beyond
from dpviz.privacy.divergence import epsilon_for_delta, pure_epsilon
from dpviz.privacy.subsampling import subsampled_epsilon, subsampled_tight

LATER = "…"  # What stands for an answer that is still being computed
ROUNDED_BIAS = 1e-15  # Bias below which it is nothing but rounding


def needed_table(question: PromiseQuestion, found: Needed) -> TextTable:
    """Return what every method needs and what that costs, at the end PARAM_MAP, for which nothing is enough."""
    kind, delta, p = question.kind, format_number(question.setting.delta, 3), format_number(question.p, 3)
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
        return [format_number(share_beyond(level), 3)]
    sizes = {"n": question.setting.n, "m": question.setting.m, "cells": question.cells, "sets": question.sets}
    try:
        found = cell_moments(method.key, **sizes, alpha=level, proportion=question.p)
    except ValueError:
        return []
    bias = found.bias if abs(found.bias) > ROUNDED_BIAS else 0.0
    return [f"{'+' if bias > 0 else ''}{format_number(bias, 3)}", format_number(found.standard_error, 3)]


def ways_table(question: PromiseQuestion, found: Ways) -> TextTable:
    """Return what several sets of every method need, by way of counting: beyond reach, a number, or still to come."""
    truncated = ", truncated" if question.kind.conditioned else ""
    head = ["for all sets together", f"ε/M each, δ = 0{truncated}", "(ε/M, δ/M) each", "advanced composition", "exact"]
    rows = []
    for key, method in question.kind.methods.items():
        place, cells = (key, question.sets), [NOT_COMPUTED if key in found.refused else LATER] * 4
        if place in found.shares:
            shares = found.shares[place]
            ways = shares.pure, shares.split, shares.advanced
            cells[:3] = ("–" if math.isnan(way) else question.level_cell(way) for way in ways)
        if place in found.exact:
            cells[3] = f"<b>{question.level_cell(found.exact[place])}</b>"
        rows.append([f"<b>{method.label}</b>", *cells])
    needs = "range that the sets allow" if question.kind.conditioned else "prior that the sets need"
    return TextTable(head, rows, f"The {needs}, by way of counting")


def given_by_method(question: PromiseQuestion, level: float) -> dict[str, Given | None]:
    """Return what one set of every method gives at a prior or range."""
    methods = question.kind.methods.items()
    return {key: question.kind.given(method, question.setting, level) for key, method in methods}


def given_table(question: PromiseQuestion, found: Mapping[str, Given | None]) -> TextTable:
    """Return the exact privacy of every method at one prior or range."""
    setting, sets = question.setting, question.sets
    zero = "ε at δ = 0, truncated" if question.kind.conditioned else "ε at δ = 0"
    columns: dict[str, Callable[[Given], str]] = {zero: lambda given: _epsilon(given.pure_epsilon)}
    if setting.delta > 0:
        columns[f"ε at δ = {format_number(setting.delta, 3)}"] = lambda given: _epsilon(given.epsilon_at_delta)
    columns[f"δ at ε = {format_number(setting.epsilon, 4)}"] = lambda given: _delta(question, given)
    if sets > 1:
        columns[f"{sets} sets: {zero}"] = lambda given: _epsilon(sets * given.pure_epsilon)
    rows = []
    for key, given in found.items():
        without = [f"needs α > {format_number(PRIOR_METHODS[key].lost)}", *[""] * (len(columns) - 1)]
        cells = without if given is None else [cell(given) for cell in columns.values()]
        rows.append([f"<b>{PRIOR_METHODS[key].label}</b>", *cells])
    return TextTable(["exact", *columns], rows, "What this prior or range gives")


def _epsilon(value: float) -> str:
    return "unbounded" if math.isinf(value) else format_number(value, 5)


def _delta(question: PromiseQuestion, given: Given) -> str:
    """δ at the promised ε: 0 where that is kept without any, and else above 0 however small it is."""
    bounded = not question.kind.conditioned and given.pure_epsilon <= question.setting.epsilon
    return (format_number if bounded else format_failure)(given.delta_at_epsilon, 4)


def average_table(deltas: Mapping[str, tuple[float, float | None] | None], theta: float, epsilon: float) -> TextTable:
    """Return the average-case and the worst-case δ of every method, as `average_and_worst` has them."""
    rows = []
    for key, pair in deltas.items():
        cells = ["needs α > 1", ""]
        if pair is not None:
            average, worst = pair
            cells = [format_number(average, 4), "1" if worst is None else format_number(worst, 4)]
        rows.append([f"<b>{PRIOR_METHODS[key].label}</b>", *cells])
    head = [f"δ at ε = {format_number(epsilon, 4)}", f"average case, θ = {format_number(theta, 4)}", "worst case"]
    return TextTable(head, rows, "Average-case and worst-case δ")


def is_sampled_exactly(question: PromiseQuestion, population: int) -> bool:
    """Whether `sampling` looks at all pairs of neighbouring populations."""
    rows = max(question.setting.n, question.setting.m)
    return rows <= limits.MAX_SAMPLED_ROWS_OF_PAGE and population <= limits.MAX_POPULATION


def sampling(question: PromiseQuestion, population: int, alpha: float) -> tuple[str, str, TextTable]:
    """Return what a random sample adds, for `HEADLINE` as a mark and a sentence, and for all methods that release rows.

    As printed, by the best general bound, and exactly where that is computed.
    """
    setting = question.setting
    is_exact = is_sampled_exactly(question, population)
    rate = setting.n / population
    mark = sentence = ""
    rows = []
    for method in CALIBRATED_METHODS.values():
        if not isinstance(method, RowMethod) or method.effective is not method:
            continue
        release = method.two_cells(setting.n, setting.m, alpha, alpha)
        alone = epsilon_for_delta(release, setting.delta) if setting.delta > 0 else pure_epsilon(release)
        printed = subsampled_epsilon_printed(alone, rate)
        after = subsampled_tight(alone, rate)
        cells = [format_number(value, 5) for value in (alone, printed, after)]
        if is_exact:
            after = subsampled_epsilon(release, population, rate * setting.delta)
            cells.append(f"<b>{format_number(after, 5)}</b>")
        rows.append([f"<b>{method.label}</b>", *cells])
        if method is HEADLINE:
            mark, change = describe_sampling(alone, after, printed, "" if is_exact else " at most")
            drawn = f"{format_number(setting.n)} of {format_number(population)} rows are drawn at random"
            sentence = f"If {drawn} before {method.label} with α = {format_number(alpha)} sees them, {change}"
    head = ["smallest ε", "of the sample itself", "printed, Theorem 2.22", "best general bound", "exact"]
    return mark, sentence, TextTable(head if is_exact else head[:-1], rows, "What subsampling adds")


def probabilistic_table(question: PromiseQuestion) -> tuple[TextTable, str]:
    """Return the smallest priors for both kinds of δ, and why a search for one did not end."""
    rows = []
    refusal = ""
    for method in CALIBRATED_METHODS.values():
        if not has_probabilistic_answer(method):
            continue
        exact = question.kind.need(method, question.setting, question.setting.delta)
        cells = ["not found", ""]
        try:
            strict = minimum_prior_probabilistic(method.key, **question.of_one_set)
            factor = "" if math.isinf(strict) or not has_number(exact) else f"{format_number(strict / exact, 3)} ×"
            cells = [PRIOR_QUANTITY.text(strict), factor]
        except ValueError as error:
            refusal = str(error)
        rows.append([f"<b>{method.label}</b>", PRIOR_QUANTITY.text(exact), *cells])
    head = ["smallest prior α", "(ε, δ)-DP", "probabilistic (ε, δ)", "more"]
    return TextTable(head, rows, "Smallest priors for two kinds of δ"), refusal


def uneven_table(question: PromiseQuestion, ratio: float, beta: float) -> TextTable:
    """Return the smallest α for β = α, for a fixed ratio β / α, and for a fixed β."""
    promise = question.of_one_set
    rows = []
    for method in CALIBRATED_METHODS.values():
        even = minimum_prior(method.key, **promise)
        uneven = minimum_prior(method.key, **promise, ratio=ratio)
        pair = PRIOR_QUANTITY.text(uneven)
        if has_number(uneven):
            pair += f", β = {PRIOR_QUANTITY.text(ratio * uneven)}"
        fixed = "needs β > 1"
        if beta > method.lost:
            fixed = PRIOR_QUANTITY.text(minimum_prior(method.key, **promise, beta=beta))
        rows.append([f"<b>{method.label}</b>", PRIOR_QUANTITY.text(even), pair, fixed])
    head = ["smallest α", "β = α", f"β = {format_number(ratio, 4)} α", f"β fixed at {format_number(beta, 4)}"]
    return TextTable(head, rows, "Smallest priors of uneven shape")
