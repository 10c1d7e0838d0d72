"""The numbers of the page "Coverage" as CSV files."""

from collections.abc import Mapping, Sequence

import numpy as np

from dpviz.coverage import CoverageTally, ExactCoverage, Performance
from dpviz.desk.exports.tables import csv_text, fields_of

__all__ = ["coverage_csv", "intervals_csv"]

EXACT_COLUMNS = {
    "exact_coverage": "coverage",
    "error_bound": "error_bound",
    "exact_mean_width": "mean_width",
    "exact_mean_width_inside": "mean_width_inside",
    "exact_no_interval": "negative_variance_share",
    "exact_vacuous": "vacuous_share",
    "exact_negative_total": "negative_total_share",
    "exact_coverage_given_negative_total": "coverage_given_negative_total",
    "exact_coverage_given_nonnegative_total": "coverage_given_nonnegative_total",
}
"""Columns of the exact coverage, and what `ExactCoverage` calls them."""

SIMULATED_COLUMNS = {
    "simulated_coverage": "coverage.value",
    "simulated_error": "coverage.error",
    "simulated_low": "coverage_low",
    "simulated_high": "coverage_high",
    "simulated_vacuous": "vacuous_share.value",
}
"""The same of the simulation, and what a rule of `Performance` calls them."""


def coverage_csv(rules: Sequence[str], exact: Mapping[str, ExactCoverage], found: Performance | None) -> str:
    """Return a line for each of the rules, exact and simulated, every digit; empty where there is no number.

    A mean width is left out where unlikely releases decide it, as for rules with almost no degrees of freedom.

    >>> coverage_csv([], {}, None).startswith("rule,exact_coverage")
    True
    """
    missing = [key for key in rules if found is not None and key not in found.rules]
    if missing:
        raise ValueError(f"rules must be rules of the simulation; it has none for {', '.join(missing)}.")
    rows = []
    for key in rules:
        by_sum = fields_of(exact.get(key), EXACT_COLUMNS)
        by_run = [None] * len(SIMULATED_COLUMNS) if found is None else fields_of(found.rules[key], SIMULATED_COLUMNS)
        rows.append([key, *by_sum, *by_run, found and found.repetitions])
    return csv_text(("rule", *EXACT_COLUMNS, *SIMULATED_COLUMNS, "repetitions"), rows)


def intervals_csv(tally: CoverageTally) -> str:
    """Return the first repetitions of a run: confidential count, released counts, estimate, both ends by rule."""
    shown, plan = tally.shown, tally.plan
    counts = [f"count_{one + 1}" for one in range(plan.sets)]
    ends = [f"{end}_{key}" for key in plan.rules for end in ("low", "high")]
    rows = [
        [
            place + 1,
            shown.confidential[place],
            *shown.counts[place],
            shown.estimates[place],
            *np.column_stack([shown.low[:, place], shown.high[:, place]]).ravel(),
        ]
        for place in range(len(shown))
    ]
    return csv_text(["repetition", "x", *counts, "estimate", *ends], rows)
