"""A comparison of methods as a file and as a script."""

from collections.abc import Sequence

from dpviz.comparisons import Analysis, Compared, ComparedMethod, ComparisonTerms, DataKind, Outcome
from dpviz.comparisons.base import OUTCOME_MEASURES
from dpviz.comparisons.budget import Spending, Spent
from dpviz.desk.exports.tables import cell, csv_text
from dpviz.desk.texts import filled


def comparison_csv(compared: Compared) -> str:
    """Return every outcome with all measures and their Monte Carlo errors, every digit; empty where there is none."""
    rows = [[key, cell(epsilon), *_cells(one)] for (key, epsilon), one in sorted(compared.outcomes.items())]
    return csv_text(["method", "epsilon", *MEASURED_HEAD], rows)


def budget_csv(spent: Spent) -> str:
    """Return the outcome at every division of ε in the same way; `place` is the number of sets, or the share."""
    rows = [[one.method.key, cell(place), *_cells(one)] for place, one in sorted(spent.outcomes.items())]
    return csv_text(["method", "place", *MEASURED_HEAD], rows)


def _cells(one: Outcome) -> list[object]:
    measures = [getattr(one, name) for name in MEASURE_NAMES]
    numbers = [part for measure in measures for part in (measure.value, measure.error)]
    return [
        cell(one.setting),
        one.sets,
        cell(one.real_epsilon),
        str(one.method.exact_epsilon).lower(),
        *map(cell, numbers),
    ]


MEASURE_NAMES = (*OUTCOME_MEASURES, "release_error")
MEASURE_ENDS = ("", "_error")  # A measure, and its Monte Carlo error
MEASURED_HEAD = [
    "setting",
    "sets",
    "real_epsilon",
    "real_epsilon_exact",
    *(f"{one}{end}" for one in MEASURE_NAMES for end in MEASURE_ENDS),
]


def comparison_script(
    data: DataKind,
    methods: Sequence[ComparedMethod],
    epsilons: Sequence[float],
    analysis: Analysis,
    terms: ComparisonTerms,
) -> str:
    """Return the table of the page "Compare synthesizers" as a script that prints the same numbers."""
    return filled(
        "exports/comparison_script.txt",
        data=data,
        terms=terms,
        analysis=analysis,
        methods=methods,
        epsilons=[float(one) for one in epsilons],
    )


def budget_script(spending: Spending) -> str:
    """Return the pictures of the page "Budget" as a script that prints the same numbers."""
    return filled("exports/budget_script.txt", spending=spending)
