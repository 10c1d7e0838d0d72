"""The cells of a study as outcomes of a comparison: which of them answer one, and which comparison they are."""

import dataclasses
from collections.abc import Iterable, Sequence
from contextlib import suppress

from dpviz.comparisons import Analysis, BinaryData, Comparison, EqualPromise, Outcome
from dpviz.comparisons.proportion import BinaryMethod, promising_methods
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


def study_outcomes(cells: Iterable[CellResult], comparison: Comparison) -> tuple[Outcome, ...]:
    """Cells at the data, releases, level and rule of a comparison, each at its own ε.

    Parameters
    ----------
    cells : iterable of CellResult
    comparison : Comparison
        A study promises ε to all methods alike; on other terms it has no answer.
    """
    data, analysis, outcomes = comparison.data, comparison.analysis, list[Outcome]()
    if not isinstance(data, BinaryData) or not isinstance(comparison.terms, EqualPromise):
        return ()
    methods: dict[type, BinaryMethod] = {
        method.synthesizer_type: method for method in promising_methods() if method in comparison.methods
    }
    for cell in cells:
        design = cell.design
        method = methods.get(design.synthesizer_type)
        if method is None:
            continue
        sets = method.sets(analysis.sets)  # a method that adds noise to a count releases one
        rule = cell.rules.get(analysis.rule_for(sets).key)
        settings = design.n, design.m, design.p, design.level, design.sets
        if (
            rule is not None
            and settings == (data.n, data.m, data.p, analysis.level, sets)
            and comparison.span[0] <= design.epsilon <= comparison.span[1]
            and method.synthesizer(data, design.epsilon / sets) == design.release
        ):
            outcomes.append(Outcome(
                data=data, method=method, epsilon=design.epsilon, setting=design.epsilon, sets=sets, bias=cell.bias,
                root_mean_squared_error=cell.root_mean_squared_error, coverage=rule.coverage,
                mean_width=rule.mean_width,
            ))  # fmt: skip
    return tuple(outcomes)


def comparison_of(cells: Sequence[CellResult]) -> Comparison:
    """Comparison of the first cell that is an outcome of one, with all methods that the study has there."""
    span = PROMISES.minimum, PROMISES.maximum
    for cell in cells:
        design = cell.design
        rule = next((key for key in cell.rules if key in COMBINING_RULES), "")
        with suppress(ValueError):
            data = BinaryData(n=design.n, p=design.p)
            analysis = Analysis(sets=design.sets, rule=rule, level=design.level)
            comparison = Comparison(data, promising_methods(), analysis, EqualPromise(), design.epsilon, span)
            if study_outcomes([cell], comparison):
                break
    else:
        raise ValueError(NO_COMPARISON)
    outcomes = study_outcomes(cells, comparison)
    epsilons = sorted({outcome.epsilon for outcome in outcomes})
    span = max(epsilons[0] / MARGIN, span[0]), min(epsilons[-1] * MARGIN, span[1])
    methods = tuple(dict.fromkeys(outcome.method for outcome in outcomes))
    return dataclasses.replace(comparison, methods=methods, epsilon=epsilons[len(epsilons) // 2], span=span)


def describe_axes(cells: Sequence[CellResult]) -> str:
    """Values of n, M and p of all cells, such as "n = 40, M = 1 and 3, p = 0.25"."""
    sizes = []
    for symbol, name in (("n", "n"), ("M", "sets"), ("p", "p")):
        values = [format_number(number, 4) for number in sorted({getattr(cell.design, name) for cell in cells})]
        is_long = len(values) > MAX_LISTED_VALUES
        listed = f"{', '.join(values[:MAX_LISTED_VALUES])} …" if is_long else join_words(values)
        sizes.append(f"{symbol} = {listed}")
    return ", ".join(sizes)
