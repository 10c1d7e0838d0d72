"""Tables of the page Minimum priors: what a promise needs, what a prior gives, and other kinds of promises."""

import math
from collections.abc import Callable, Iterable, Mapping

from dpviz.calibration.curves import Needed, Ways
from dpviz.calibration.data_kinds import Given, PromiseQuestion
from dpviz.calibration.methods import CALIBRATED_METHODS, PARAM_MAP, PRIOR_METHODS, PriorMethod, RowMethod
from dpviz.calibration.probabilistic import has_probabilistic_answer, minimum_prior_probabilistic
from dpviz.calibration.quantities import NOT_COMPUTED, PRIOR_QUANTITY, has_number
from dpviz.calibration.smallest_prior import minimum_prior
from dpviz.core import limits
from dpviz.core.formatting import TextTable, format_failure, format_number
from dpviz.inference.moments import cell_moments, normal_tail_share
from dpviz.privacy.divergence import epsilon_for_delta, pure_epsilon
from dpviz.privacy.subsampling import subsampled_epsilon, subsampled_epsilon_printed, subsampled_tight

PENDING = "…"  # text of an answer that is still being computed


def _table(caption: str, head: list[str], rows: Iterable[tuple[PriorMethod, list[str]]]) -> TextTable:
    """Table of methods, as wide as its head."""
    cells = [[f"<b>{method.label}</b>", *values, *[""] * (len(head) - len(values) - 1)] for method, values in rows]
    return TextTable(head, cells, caption)


def needed_table(question: PromiseQuestion, needed: Needed) -> TextTable:
    """What every method needs and what that costs; at the end PARAM_MAP, for which nothing is enough.

    Parameters
    ----------
    question : PromiseQuestion
    needed : Needed
        Answers so far.
    """
    kind, delta = question.kind, question.setting.delta
    caption = "The exact prior of every method, and what it costs"
    truncated = untruncated = ""
    costs = [f"bias at p = {format_number(question.p, 3)}", "standard error"]
    if kind.conditioned:
        caption = "The exact range of every method, and what it cuts off"
        truncated, untruncated = ", truncated", ", not truncated"
        costs = ["share of N(0, σ²) beyond ±R"]
    answers = {f"{kind.axis}, δ = 0{truncated}": needed.pure}
    if delta > 0:
        answers[f"{kind.axis}, δ = {format_number(delta, 3)}{untruncated}"] = needed.exact
    head = ["method", *answers, *costs]
    rows = []
    for key, method in kind.methods.items():
        cells = [PENDING] * (len(head) - 1)
        if key in needed.exact:
            cells = [question.level_cell(answer[key]) for answer in answers.values()]
            cells += _costs(question, method, needed.exact[key])
        rows.append((method, cells))
    rows.append((PARAM_MAP, ["impossible"] * len(answers)))
    table = _table(caption, head, rows)
    for row, (method, _) in zip(table.rows, rows, strict=True):
        release = method.words.replace("proportion", "mean") if kind.conditioned else method.words
        row[0] += f"<br><small>{': '.join(filter(None, [method.plain(question.cells), release]))}</small>"
    return table


def _costs(question: PromiseQuestion, method: PriorMethod, level: float) -> list[str]:
    """Bias and standard error at a prior, or what a range cuts off; nothing where that is not computed."""
    if not math.isfinite(level):
        return []
    if question.kind.conditioned:
        return [format_number(normal_tail_share(level), 3)]
    sizes = {"n": question.setting.n, "m": question.setting.m, "cells": question.cells, "sets": question.sets}
    try:
        moments = cell_moments(method.key, **sizes, alpha=level, proportion=question.p)
    except ValueError:
        return []
    bias = moments.bias if abs(moments.bias) > 1e-15 else 0.0  # else the rounding of a sum
    return [f"{'+' if bias > 0 else ''}{format_number(bias, 3)}", format_number(moments.standard_error, 3)]


def ways_table(question: PromiseQuestion, ways: Ways) -> TextTable:
    """What several sets of every method need, by way of counting: beyond reach, a number, or still to come.

    Parameters
    ----------
    question : PromiseQuestion
    ways : Ways
        Answers so far.
    """
    rows = []
    for key, method in question.kind.methods.items():
        place = key, question.sets
        cells = [NOT_COMPUTED if key in ways.refused else PENDING] * 4
        if place in ways.shares:
            shares = ways.shares[place]
            levels = shares.pure, shares.split, shares.advanced
            cells[:3] = ["–" if math.isnan(level) else question.level_cell(level) for level in levels]
        if place in ways.exact:
            cells[3] = f"<b>{question.level_cell(ways.exact[place])}</b>"
        rows.append((method, cells))
    truncated = ", truncated" if question.kind.conditioned else ""
    head = ["for all sets together", f"ε/M each, δ = 0{truncated}", "(ε/M, δ/M) each", "advanced composition", "exact"]
    needs = "range that the sets allow" if question.kind.conditioned else "prior that the sets need"
    return _table(f"The {needs}, by way of counting", head, rows)


def given_by_method(question: PromiseQuestion, level: float) -> dict[str, Given | None]:
    """What one set of every method gives at a prior or range.

    Parameters
    ----------
    question : PromiseQuestion
    level : float
        Prior or range.
    """
    methods = question.kind.methods.items()
    return {key: question.kind.given(method, question.setting, level) for key, method in methods}


def given_table(question: PromiseQuestion, given: Mapping[str, Given | None]) -> TextTable:
    """Exact privacy of every method at one prior or range.

    Parameters
    ----------
    question : PromiseQuestion
    given : dict of str to Given or None
        Result of `given_by_method`.
    """
    setting, sets = question.setting, question.sets
    pure = "ε at δ = 0, truncated" if question.kind.conditioned else "ε at δ = 0"
    columns: dict[str, Callable[[Given], str]] = {pure: lambda privacy: _epsilon(privacy.pure_epsilon)}
    if setting.delta > 0:
        name = f"ε at δ = {format_number(setting.delta, 3)}"
        columns[name] = lambda privacy: _epsilon(privacy.epsilon_at_delta)
    columns[f"δ at ε = {format_number(setting.epsilon, 4)}"] = lambda privacy: _delta(question, privacy)
    if sets > 1:
        columns[f"{sets} sets: {pure}"] = lambda privacy: _epsilon(sets * privacy.pure_epsilon)
    rows = []
    for key, privacy in given.items():
        method = PRIOR_METHODS[key]
        barred = [f"needs α > {format_number(method.lost)}"]
        rows.append((method, barred if privacy is None else [text(privacy) for text in columns.values()]))
    return _table("What this prior or range gives", ["exact", *columns], rows)


def _epsilon(value: float) -> str:
    return "unbounded" if math.isinf(value) else format_number(value, 5)


def _delta(question: PromiseQuestion, given: Given) -> str:
    """δ at the promised ε: 0 where that is kept without any, and else above 0 however small it is."""
    is_zero = not question.kind.conditioned and given.pure_epsilon <= question.setting.epsilon
    return (format_number if is_zero else format_failure)(given.delta_at_epsilon, 4)


def average_table(deltas: Mapping[str, tuple[float, float | None] | None], theta: float, epsilon: float) -> TextTable:
    """Average-case and worst-case δ of every method.

    Parameters
    ----------
    deltas : dict of str to tuple of float, or None
        Result of `average_and_worst` by method.
    theta, epsilon : float
    """
    rows = []
    for key, pair in deltas.items():
        values = [format_number(1.0 if delta is None else delta, 4) for delta in pair or ()]
        rows.append((PRIOR_METHODS[key], values or ["needs α > 1"]))
    head = [f"δ at ε = {format_number(epsilon, 4)}", f"average case, θ = {format_number(theta, 4)}", "worst case"]
    return _table("Average-case and worst-case δ", head, rows)


def sampling_table(
    question: PromiseQuestion, population: int, alpha: float
) -> tuple[TextTable, dict[str, list[float]]]:
    """What a random sample of n rows from a population adds to every method that releases rows with the prior α.

    Parameters
    ----------
    question : PromiseQuestion
    population : int
    alpha : float

    Returns
    -------
    table : TextTable
    losses : dict of str to list of float
        By method the smallest ε of the sample itself, as printed, by the best general bound, and exactly where that is
        computed.
    """
    setting = question.setting
    rate = setting.n / population
    is_exact = max(setting.n, setting.m) <= limits.MAX_SAMPLED_ROWS_OF_PAGE and population <= limits.MAX_POPULATION
    methods = {key: method for key, method in CALIBRATED_METHODS.items() if isinstance(method, RowMethod)}
    methods = {key: method for key, method in methods.items() if method.effective is method}
    losses = {}
    for key, method in methods.items():
        release = method.two_cells(setting.n, setting.m, alpha, alpha)
        alone = epsilon_for_delta(release, setting.delta) if setting.delta > 0 else pure_epsilon(release)
        losses[key] = [alone, subsampled_epsilon_printed(alone, rate), subsampled_tight(alone, rate)]
        if is_exact:
            losses[key].append(subsampled_epsilon(release, population, rate * setting.delta))
    head = ["smallest ε", "of the sample itself", "printed, Theorem 2.22", "best general bound"]
    rows = [(methods[key], [format_number(value, 5) for value in values]) for key, values in losses.items()]
    table = _table("What subsampling adds", [*head, *["exact"] * is_exact], rows)
    if is_exact:
        for row in table.rows:
            row[-1] = f"<b>{row[-1]}</b>"
    return table, losses


def probabilistic_table(question: PromiseQuestion) -> tuple[TextTable, str]:
    """Smallest priors for both kinds of δ, and why a search for one did not end."""
    rows = []
    refusal = ""
    for method in CALIBRATED_METHODS.values():
        if not has_probabilistic_answer(method):
            continue
        exact = question.kind.need(method, question.setting, question.setting.delta)
        cells = ["not found"]
        try:
            strict = minimum_prior_probabilistic(method.key, **question.of_one_set)
            factor = "" if math.isinf(strict) or not has_number(exact) else f"{format_number(strict / exact, 3)} ×"
            cells = [PRIOR_QUANTITY.text(strict), factor]
        except ValueError as error:
            refusal = str(error)
        rows.append((method, [PRIOR_QUANTITY.text(exact), *cells]))
    head = ["smallest prior α", "(ε, δ)-DP", "probabilistic (ε, δ)", "more"]
    return _table("Smallest priors for two kinds of δ", head, rows), refusal


def uneven_table(question: PromiseQuestion, ratio: float, beta: float) -> TextTable:
    """Smallest α for β = α, for a fixed ratio β / α, and for a fixed β.

    Parameters
    ----------
    question : PromiseQuestion
    ratio, beta : float
    """
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
        rows.append((method, [PRIOR_QUANTITY.text(even), pair, fixed]))
    head = ["smallest α", "β = α", f"β = {format_number(ratio, 4)} α", f"β fixed at {format_number(beta, 4)}"]
    return _table("Smallest priors of uneven shape", head, rows)
