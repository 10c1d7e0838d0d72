"""A comparison of methods as a file and as a script."""

from dpviz.comparisons import Compared, Comparison
from dpviz.comparisons.analysis import OUTCOME_MEASURES
from dpviz.comparisons.budget import BudgetSplit, SplitResults
from dpviz.comparisons.comparison import LIMITED_MEASURES
from dpviz.desk.exports.tables import csv_text, fields_of
from dpviz.desk.texts import filled

MEASURED = {
    "setting": "setting",
    "sets": "sets",
    "real_epsilon": "real_epsilon",
    "real_epsilon_exact": "method.exact_epsilon",
    **{
        f"{measure}{end}": f"{measure}.{part}"
        for measure in (*OUTCOME_MEASURES, "release_error")
        for end, part in (("", "value"), ("_error", "error"))
    },
}
"""The columns of an outcome: each measure with its Monte Carlo error."""


def comparison_csv(compared: Compared) -> str:
    """Return every outcome with all measures and their Monte Carlo errors, every digit; empty where there is none.

    Beside them stands what no mechanism with this ε can make a measure smaller than.
    """
    limits = [compared.limits(measure) for measure in LIMITED_MEASURES]
    rows = [
        [*key, *fields_of(one, MEASURED), *(known.get(key[1]) for known in limits)]
        for key, one in sorted(compared.outcomes.items())
    ]
    return csv_text(["method", "epsilon", *MEASURED, *(f"smallest_{measure}" for measure in LIMITED_MEASURES)], rows)


def budget_csv(spent: SplitResults) -> str:
    """Return the outcome at every division of ε in the same way; `place` is the number of sets, or the share."""
    rows = [[one.method.key, float(place), *fields_of(one, MEASURED)] for place, one in sorted(spent.outcomes.items())]
    return csv_text(["method", "place", *MEASURED], rows)


def comparison_script(asked: Comparison) -> str:
    """Return the table of the page "Compare synthesizers" as a script that prints the same numbers."""
    return filled(
        "exports/comparison_script.txt",
        data=asked.data,
        terms=asked.terms,
        analysis=asked.analysis,
        methods=asked.methods,
        epsilons=[float(asked.epsilon)],
    )


def budget_script(spending: BudgetSplit) -> str:
    """Return the pictures of the page "Budget" as a script that prints the same numbers."""
    return filled("exports/budget_script.txt", spending=spending)
