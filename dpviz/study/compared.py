"""The cells of a study as outcomes of a comparison: which of them answer one, and which comparison they are."""

import dataclasses
from collections.abc import Sequence

from dpviz.comparisons import Analysis, BinaryData, Comparison, EqualPromise, Outcome
from dpviz.comparisons.proportion import BinaryMethod, method_of_release
from dpviz.comparisons.terms import PROMISES
from dpviz.core.monte_carlo import Measure
from dpviz.inference.combining_rules import COMBINING_RULES
from dpviz.study.results import CellResult

AROUND = 1.25  # How far a picture goes beyond the smallest and the largest ε of a study, as a factor
MOST_COMPARED_ROWS = next(one.maximum for one in BinaryData.parameters() if one.name == "n")
NO_COMPARISON = (
    f"Cells of a study are compared where as many rows are released as there are, at most {MOST_COMPARED_ROWS:,}, by a "
    "combining rule, and where methods that release a single set do so; the study has no such cell."
)


def study_outcomes(cells: Sequence[CellResult], asked: Comparison) -> tuple[Outcome, ...]:
    """Return what a study found that a comparison asks about: the same data, releases, level and rule, at its own ε.

    A study promises ε to all methods alike; on other terms it has no answer.
    """
    found = (_outcome(one, asked) for one in cells)
    return tuple(one for one in found if one is not None and one.method in asked.methods)


def _outcome(cell: CellResult, asked: Comparison) -> Outcome | None:
    """Return the outcome that a cell is in a comparison, whatever its methods are; None where it is not one."""
    data, analysis, design, (low, high) = asked.data, asked.analysis, cell.design, asked.span
    if not isinstance(data, BinaryData) or not isinstance(asked.terms, EqualPromise):
        return None
    method = _method(cell)
    if method is None or (design.n, design.m, design.p, design.level) != (data.n, data.m, data.p, analysis.level):
        return None
    sets = method.sets(analysis.sets)  # one, of a method that adds noise to a count
    rule = analysis.rule_for(sets).key
    if design.sets != sets or rule not in cell.rules or not low <= design.epsilon <= high:
        return None
    if method.synthesizer(data, design.epsilon / sets) != design.release:
        return None
    return Outcome(
        data=data,
        method=method,
        epsilon=design.epsilon,
        setting=design.epsilon,
        sets=sets,
        bias=cell.bias,
        root_mean_squared_error=cell.root_mean_squared_error,
        coverage=cell.rules[rule].coverage,
        mean_width=cell.rules[rule].mean_width,
        usable_share=Measure.unknown(),
    )


def _method(cell: CellResult) -> BinaryMethod | None:
    try:
        return method_of_release(cell.design)
    except ValueError:
        return None


def comparison_of(cells: Sequence[CellResult]) -> Comparison:
    """Return the comparison of the first cell that is an outcome of one, of all methods that the study has there.

    A ValueError says why where there is none.
    """
    for one in cells:
        asked = _around(one)
        if asked is not None and _outcome(one, asked) is not None:
            break
    else:
        raise ValueError(NO_COMPARISON)
    found = [other for cell in cells if (other := _outcome(cell, asked)) is not None]
    epsilons = sorted({other.epsilon for other in found})
    low, high = max(epsilons[0] / AROUND, PROMISES.minimum), min(epsilons[-1] * AROUND, PROMISES.maximum)
    return dataclasses.replace(
        asked,
        methods=tuple(dict.fromkeys(other.method for other in found)),
        epsilon=epsilons[len(epsilons) // 2],
        span=(low, high),
    )


def _around(cell: CellResult) -> Comparison | None:
    """Return a comparison that a cell may be an outcome of: at its n, p, M and level, by its first combining rule."""
    design, method = cell.design, _method(cell)
    rule = next((key for key in cell.rules if key in COMBINING_RULES), None)
    if rule is None or method is None:
        return None
    try:
        data = BinaryData(n=design.n, p=design.p)
        analysis = Analysis(sets=design.sets, rule=rule, level=design.level)
    except ValueError:
        return None
    span = PROMISES.minimum, PROMISES.maximum
    return Comparison(data, (method,), analysis, EqualPromise(), design.epsilon, span)
