"""The cells of a study as outcomes of a comparison: which of them answer one, and which comparison they are."""

import dataclasses
from collections.abc import Sequence

from dpviz.comparisons import Analysis, BinaryData, Comparison, EqualPromise, Outcome
from dpviz.comparisons.proportion import method_of_release
from dpviz.comparisons.terms import PROMISES
from dpviz.core.formatting import format_number, join_words
from dpviz.inference.combining_rules import COMBINING_RULES
from dpviz.study.results import CellResult

MARGIN = 1.25  # factor by which a picture extends beyond the smallest and the largest ε of a study
MAX_LISTED_VALUES = 6  # of an axis, in a sentence
NO_COMPARISON = (
    f"Cells of a study are compared where as many rows are released as there are, at most "
    f"{BinaryData.numbers()['n'].maximum:,}, by a combining rule, and where methods that release a single set do so; "
    "the study has no such cell."
)


def study_outcomes(cells: Sequence[CellResult], comparison: Comparison) -> tuple[Outcome, ...]:
    """Cells at the data, releases, level and rule of a comparison, each at its own ε.

    Parameters
    ----------
    cells : sequence of CellResult
    comparison : Comparison
        A study promises ε to all methods alike; on other terms it has no answer.
    """
    outcomes = filter(None, (_outcome(cell, comparison) for cell in cells))
    return tuple(outcome for outcome in outcomes if outcome.method in comparison.methods)


def comparison_of(cells: Sequence[CellResult]) -> Comparison:
    """Comparison of the first cell that is an outcome of one, with all methods that the study has there."""
    around = ((cell, _comparison_around(cell)) for cell in cells)
    comparison = next((own for cell, own in around if own and _outcome(cell, own)), None)
    if comparison is None:
        raise ValueError(NO_COMPARISON)
    outcomes = list(filter(None, (_outcome(cell, comparison) for cell in cells)))
    epsilons = sorted({outcome.epsilon for outcome in outcomes})
    span = max(epsilons[0] / MARGIN, PROMISES.minimum), min(epsilons[-1] * MARGIN, PROMISES.maximum)
    methods = tuple(dict.fromkeys(outcome.method for outcome in outcomes))
    return dataclasses.replace(comparison, methods=methods, epsilon=epsilons[len(epsilons) // 2], span=span)


def describe_outcomes(cells: Sequence[CellResult], n_outcomes: int) -> str:
    """Sentence with the number of cells in a picture, and with the n, M and p of all cells.

    Parameters
    ----------
    cells : sequence of CellResult
    n_outcomes : int
    """

    def listed(name: str) -> str:
        numbers = sorted({getattr(cell.design, name) for cell in cells})
        words = [format_number(number, 4) for number in numbers[:MAX_LISTED_VALUES]]
        return join_words(words) if len(numbers) <= MAX_LISTED_VALUES else f"{', '.join(words)} …"

    return (
        f"This picture shows {n_outcomes:,} of the {len(cells):,} cells of the open study, simulated ones as dots. "
        f"It has n = {listed('n')}, M = {listed('sets')}, p = {listed('p')}."
    )


def _outcome(cell: CellResult, comparison: Comparison) -> Outcome | None:
    """A cell as an outcome of a comparison by any method; None where it is not one."""
    data, design = comparison.data, cell.design
    around = _comparison_around(cell)
    if around is None or not isinstance(data, BinaryData) or not isinstance(comparison.terms, EqualPromise):
        return None
    (method,) = around.methods
    sets = method.sets(comparison.analysis.sets)  # a method that adds noise to a count releases one
    rule = comparison.analysis.rule_for(sets).key
    settings = design.n, design.m, design.p, design.level, design.sets
    is_outcome = (
        settings == (data.n, data.m, data.p, comparison.analysis.level, sets)
        and rule in cell.rules
        and comparison.span[0] <= design.epsilon <= comparison.span[1]
        and method_of_release(design).synthesizer(data, design.epsilon / sets) == design.release
    )
    if not is_outcome:
        return None
    return Outcome(
        data=data, method=method, epsilon=design.epsilon, setting=design.epsilon, sets=sets, bias=cell.bias,
        root_mean_squared_error=cell.root_mean_squared_error, coverage=cell.rules[rule].coverage,
        mean_width=cell.rules[rule].mean_width,
    )  # fmt: skip


def _comparison_around(cell: CellResult) -> Comparison | None:
    """Comparison that a cell may be an outcome of: at its n, p, M and level, by its first combining rule."""
    design = cell.design
    rule = next((key for key in cell.rules if key in COMBINING_RULES), None)
    if rule is None:
        return None
    try:
        data = BinaryData(n=design.n, p=design.p)
        analysis = Analysis(sets=design.sets, rule=rule, level=design.level)
        method = method_of_release(design)
    except ValueError:
        return None
    return Comparison(data, (method,), analysis, EqualPromise(), design.epsilon, (PROMISES.minimum, PROMISES.maximum))
