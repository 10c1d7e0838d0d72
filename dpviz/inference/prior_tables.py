"""Tables of the page Minimum priors: what a promise needs, what a prior gives, and other kinds of promises."""

import math
from collections.abc import Mapping
from itertools import compress

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


def _table(caption: str, head: list[str], cells: Mapping[PriorMethod, list[str]]) -> TextTable:
    """Table of methods, as wide as its head."""
    rows = [[f"<b>{method.label}</b>", *values, *[""] * len(head)][: len(head)] for method, values in cells.items()]
    return TextTable(head, rows, caption)


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
    conditions = "", ""
    costs = [f"bias at p = {format_number(question.p, 3)}", "standard error"]
    if kind.conditioned:
        caption = "The exact range of every method, and what it cuts off"
        conditions = ", truncated", ", not truncated"
        costs = ["share of N(0, σ²) beyond ±R"]
    answers = {f"{kind.axis}, δ = 0{conditions[0]}": needed.pure}
    if delta > 0:
        answers[f"{kind.axis}, δ = {format_number(delta, 3)}{conditions[1]}"] = needed.exact
    cells = {method: [PENDING] * (len(answers) + len(costs)) for method in kind.methods.values()}
    for key in needed.exact:
        levels = [question.level_cell(answer[key]) for answer in answers.values()]
        cells[kind.methods[key]] = levels + _costs(question, kind.methods[key], needed.exact[key])
    cells[PARAM_MAP] = ["impossible"] * len(answers)
    table = _table(caption, ["method", *answers, *costs], cells)
    for row, method in zip(table.rows, cells, strict=True):
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
    cells = {}
    for key, method in question.kind.methods.items():
        values = [NOT_COMPUTED if key in ways.refused else PENDING] * 4
        if shares := ways.shares.get((key, question.sets)):
            levels = shares.pure, shares.split, shares.advanced
            values[:3] = ["–" if math.isnan(level) else question.level_cell(level) for level in levels]
        if (exact := ways.exact.get((key, question.sets))) is not None:
            values[3] = f"<b>{question.level_cell(exact)}</b>"
        cells[method] = values
    truncated = ", truncated" if question.kind.conditioned else ""
    head = ["for all sets together", f"ε/M each, δ = 0{truncated}", "(ε/M, δ/M) each", "advanced composition", "exact"]
    needs = "range that the sets allow" if question.kind.conditioned else "prior that the sets need"
    return _table(f"The {needs}, by way of counting", head, cells)


def given_by_method(question: PromiseQuestion, level: float) -> dict[str, Given | None]:
    """What one set of every method gives at a prior or range.

    Parameters
    ----------
    question : PromiseQuestion
    level : float
        Prior or range.
    """
    kind = question.kind
    return {key: kind.given(method, question.setting, level) for key, method in kind.methods.items()}


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
    titles = [pure, f"ε at δ = {format_number(setting.delta, 3)}", f"δ at ε = {format_number(setting.epsilon, 4)}"]
    titles.append(f"{sets} sets: {pure}")
    is_shown = [True, setting.delta > 0, True, sets > 1]
    cells = {}
    for key, privacy in given.items():
        method = PRIOR_METHODS[key]
        cells[method] = [f"needs α > {format_number(method.lost)}"]
        if privacy is not None:
            losses = privacy.pure_epsilon, privacy.epsilon_at_delta, sets * privacy.pure_epsilon
            texts = ["unbounded" if math.isinf(loss) else format_number(loss, 5) for loss in losses]
            # δ is 0 where ε is kept without any, and else above 0 however small it is
            is_zero = not question.kind.conditioned and privacy.pure_epsilon <= setting.epsilon
            texts.insert(2, (format_number if is_zero else format_failure)(privacy.delta_at_epsilon, 4))
            cells[method] = list(compress(texts, is_shown))
    return _table("What this prior or range gives", ["exact", *compress(titles, is_shown)], cells)


def average_table(deltas: Mapping[str, tuple[float, float | None] | None], theta: float, epsilon: float) -> TextTable:
    """Average-case and worst-case δ of every method.

    Parameters
    ----------
    deltas : dict of str to tuple of float, or None
        Result of `average_and_worst` by method.
    theta, epsilon : float
    """
    cells = {
        PRIOR_METHODS[key]: [format_number(1.0 if delta is None else delta, 4) for delta in pair or ()]
        or ["needs α > 1"]
        for key, pair in deltas.items()
    }
    head = [f"δ at ε = {format_number(epsilon, 4)}", f"average case, θ = {format_number(theta, 4)}", "worst case"]
    return _table("Average-case and worst-case δ", head, cells)


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
    losses = {}
    cells: dict[PriorMethod, list[str]] = {}
    for key, method in CALIBRATED_METHODS.items():
        if not isinstance(method, RowMethod) or method.effective is not method:
            continue
        release = method.two_cells(setting.n, setting.m, alpha, alpha)
        alone = epsilon_for_delta(release, setting.delta) if setting.delta > 0 else pure_epsilon(release)
        losses[key] = [alone, subsampled_epsilon_printed(alone, rate), subsampled_tight(alone, rate)]
        cells[method] = [format_number(value, 5) for value in losses[key]]
        if is_exact:
            losses[key].append(subsampled_epsilon(release, population, rate * setting.delta))
            cells[method].append(f"<b>{format_number(losses[key][-1], 5)}</b>")
    head = ["smallest ε", "of the sample itself", "printed, Theorem 2.22", "best general bound"]
    return _table("What subsampling adds", [*head, *["exact"] * is_exact], cells), losses


def probabilistic_table(question: PromiseQuestion) -> tuple[TextTable, str]:
    """Smallest priors for both kinds of δ, and why a search for one did not end."""
    cells = {}
    refusal = ""
    for method in filter(has_probabilistic_answer, CALIBRATED_METHODS.values()):
        exact = question.kind.need(method, question.setting, question.setting.delta)
        cells[method] = [PRIOR_QUANTITY.text(exact), "not found"]
        try:
            strict = minimum_prior_probabilistic(method.key, **question.of_one_set)
        except ValueError as error:
            refusal = str(error)
            continue
        factor = "" if math.isinf(strict) or not has_number(exact) else f"{format_number(strict / exact, 3)} ×"
        cells[method][1:] = [PRIOR_QUANTITY.text(strict), factor]
    head = ["smallest prior α", "(ε, δ)-DP", "probabilistic (ε, δ)", "more"]
    return _table("Smallest priors for two kinds of δ", head, cells), refusal


def uneven_table(question: PromiseQuestion, ratio: float, beta: float) -> TextTable:
    """Smallest α for β = α, for a fixed ratio β / α, and for a fixed β.

    Parameters
    ----------
    question : PromiseQuestion
    ratio, beta : float
    """
    promise, text = question.of_one_set, PRIOR_QUANTITY.text
    cells = {}
    for method in CALIBRATED_METHODS.values():
        uneven = minimum_prior(method.key, **promise, ratio=ratio)
        beta_text = f", β = {text(ratio * uneven)}" if has_number(uneven) else ""
        is_enough = beta > method.lost
        fixed = text(minimum_prior(method.key, **promise, beta=beta)) if is_enough else "needs β > 1"
        cells[method] = [text(minimum_prior(method.key, **promise)), text(uneven) + beta_text, fixed]
    head = ["smallest α", "β = α", f"β = {format_number(ratio, 4)} α", f"β fixed at {format_number(beta, 4)}"]
    return _table("Smallest priors of uneven shape", head, cells)
