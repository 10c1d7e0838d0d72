"""Where the estimate falls, how long intervals are, and how far both are off, in sentences and tables of words."""

import math
from collections.abc import Mapping, Sequence

import numpy as np

from dpviz.core.formatting import TextTable, format_number, format_or_dash, format_percent
from dpviz.core.monte_carlo import Measure, repetitions_needed
from dpviz.coverage.decomposition import CoverageDecomposition
from dpviz.coverage.exact import LengthCurves
from dpviz.coverage.performance import Performance
from dpviz.inference.moments import SetMoments
from dpviz.inference.rules import RULES

KEEPS = 1e-6  # How far below the level an exact coverage may come out that is at least the level
WANTED_ERRORS = (0.01, 0.005, 0.001, 0.0005)  # standard errors of a coverage whose price in repetitions is told
MEASURES = {
    "mean length": "mean_width",
    "inside 0 to 1": "mean_width_inside",
    "relative error of √T in %": "relative_error",
    "share without interval": "negative_variance_share",
}
"""Measures of Morris, White & Crowther that have no sum above them, by the names of their columns."""


def below_the_limit(sets: int) -> str:
    """What a rule does whose line lies below the limit; one set's count is its sum, several counts say more."""
    more = "" if sets == 1 else ", or to one that reads more of the counts than their sum"
    return f"A line below it belongs to a rule that breaks its promise at some p{more}."


def lengths_table(found: LengthCurves, place: int, level: float) -> TextTable:
    """The expected length of each rule's interval at one of the proportions, beside the shortest possible one."""
    limit, rows = float(found.limit[place]), []
    for key, line, coverage in zip(
        found.curves.rules, found.curves.mean_width_inside, found.curves.coverage, strict=True
    ):
        length, smallest = float(line[place]), float(coverage.min())
        times = f"{format_or_dash(length / limit, 3)} times" if np.isfinite(length) and limit > 0 else "–"
        few = "" if smallest >= level - KEEPS else ", too few"
        shares = format_percent(float(coverage[place])), f"{format_percent(smallest)}{few}"
        rows.append([f"<b>{RULES[key].short_label}</b>", format_or_dash(100 * length, 4), times, *shares])
    if np.isfinite(limit):
        rows.append(
            ["<i>shortest possible</i>", format_number(100 * limit, 4), "1", f"≥ {format_percent(level, 8)}", ""]
        )
    at = f"expected length at a share of {format_percent(float(found.proportions[place]), 4)}, in points"
    head = ["rule", at, "the shortest possible", "coverage there", "smallest coverage in the picture"]
    return TextTable(head, rows, "Expected lengths")


def estimate_table(exact: SetMoments, found: Performance | None) -> TextTable:
    """Bias, standard error and mean square error of the estimate in closed form, beside the simulation."""
    square = exact.variance_estimate + exact.bias**2
    rows = [
        ["bias, E[q̄] − p", *_beside(exact.bias, found.bias if found else None)],
        [
            "standard error, √Var(q̄)",
            *_beside(math.sqrt(exact.variance_estimate), found.empirical_error if found else None),
        ],
        ["mean square error", *_beside(square, found.mean_square_error if found else None)],
    ]
    head = ["the estimate q̄", "closed form", "simulated", "apart, in standard errors"]
    return TextTable(head, rows, "Bias and variance of the estimate")


def variances_table(exact: Mapping[str, CoverageDecomposition], found: Performance | None) -> TextTable:
    """How far the variance T of each rule is off on average, exactly and in the simulation."""
    rows = []
    for key, one in exact.items():
        bias = 100 * (one.mean_variance / one.variance - 1) if one.variance > 0 else math.nan
        beside = _beside(bias, found.rules[key].relative_bias if found else None)
        rows.append([f"<b>{RULES[key].short_label}</b>", format_or_dash(one.mean_variance, 5), *beside])
    head = ["the rule's variance T", "E[T], exact", "relative bias in %, exact", "simulated", "apart"]
    return TextTable(head, rows, "How far each rule's variance is off")


def measures_table(rules: Sequence[str], found: Performance) -> TextTable:
    """The `MEASURES` of each rule, simulated."""
    rows = [
        [f"<b>{RULES[key].short_label}</b>", *(_measure(getattr(found.rules[key], one)) for one in MEASURES.values())]
        for key in rules
    ]
    return TextTable(["simulated", *MEASURES], rows, "Simulated measures of each rule")


def moments_table(exact: SetMoments) -> TextTable:
    """Mean and standard deviation of the variances within and between several sets, and of T."""
    moments = {
        "v̄, the variance within": (exact.mean_within, exact.variance_within),
        "b, the variance between": (exact.mean_between, exact.variance_between),
        "T = (1 + 1/M) b − v̄": (exact.mean_total, exact.variance_total),
    }
    rows = [
        [name, format_or_dash(mean, 5), format_or_dash(math.sqrt(spread), 5)]
        for name, (mean, spread) in moments.items()
    ]
    return TextTable(["of the sets", "mean", "standard deviation"], rows, "Moments of the variances, closed form")


def repetitions_table(rule: str, coverage: float) -> TextTable:
    """How many repetitions a standard error of the coverage of a rule takes."""
    rows = [
        [
            f"± {format_number(100 * error, 3)} {'point' if error == 0.01 else 'points'} (one standard error)",
            f"{repetitions_needed(coverage, error):,}",
        ]
        for error in WANTED_ERRORS
    ]
    return TextTable([f"coverage of {RULES[rule].short_label} to within", "repetitions"], rows, "Repetitions needed")


def _measure(one: Measure) -> str:
    if math.isinf(one.error):
        return "–"
    error = f" ± {format_number(one.error, 2)}" if math.isfinite(one.error) and math.isfinite(one.value) else ""
    return f"{format_or_dash(one.value, 5)}{error}"


def _beside(exact: float, one: Measure | None) -> tuple[str, str, str]:
    """The exact number, the simulated one, and how far they are apart in standard errors."""
    if one is None:
        return format_or_dash(exact, 5), "not yet", ""
    known = math.isfinite(one.error) and one.error > 0 and math.isfinite(exact)
    return (
        format_or_dash(exact, 5),
        _measure(one),
        format_number(round((one.value - exact) / one.error, 2), 3) if known else "",
    )
