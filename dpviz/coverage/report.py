"""What the page Coverage says of its rules: tables, and sentences about the causes and the first repetitions."""

import itertools
import math
from collections.abc import Iterable, Mapping, Sequence

import numpy as np

from dpviz.core.formatting import (
    TextTable,
    format_distinct,
    format_number,
    format_or_dash,
    format_percent,
    format_points,
)
from dpviz.core.monte_carlo import Measure, repetitions_needed
from dpviz.coverage.curves import CoverageCurves
from dpviz.coverage.decomposition import NOT_NORMAL, REPAIRS, CoverageDecomposition
from dpviz.coverage.exact import ExactCoverage
from dpviz.coverage.performance import Performance, RulePerformance
from dpviz.coverage.simulation import CoveragePlan, ShownRuns
from dpviz.coverage.worst_case import Extreme
from dpviz.inference.moments import SetMoments
from dpviz.inference.rules import RULES
from dpviz.mechanisms import Synthesizer

MIN_REPORTED_CHANGE = 5e-4  # of coverage, 0.05 points, of which a sentence speaks
MIN_HITS = 5  # expected hits, and misses, from which on a simulated share is compared in standard errors

SHARES = {"hold all of 0 to 100 %": "vacuous_share", "no interval": "negative_variance_share"}
SHARES_OF_SETS = {
    "releases with T\u00a0<\u00a00": "negative_total_share",
    "coverage where T\u00a0≥\u00a00": "coverage_given_nonnegative_total",
    "where T\u00a0<\u00a00": "coverage_given_negative_total",
}
MEASURES = {
    "mean length": "mean_width",
    "inside 0 to 1": "mean_width_inside",
    "relative error of √T in %": "relative_error",
    "share without interval": "negative_variance_share",
}
"""Columns of tables, with the fields of `ExactCoverage` and `RulePerformance`."""


def _rule_table(caption: str, head: list[str], cells: Iterable[tuple[str, Sequence[str]]]) -> TextTable:
    """Table whose rows begin with the name of a rule."""
    return TextTable(head, [[f"<b>{RULES[key].short_label}</b>", *row] for key, row in cells], caption)


def coverage_table(
    rules: Sequence[str], sets: int, exact: Mapping[str, ExactCoverage] | None, smallest: Mapping[str, Extreme],
    simulated: Performance | None, *, shown: Mapping[str, tuple[float, float, float]], n_shown: int, is_complete: bool,
) -> TextTable:  # fmt: skip
    """Numbers of each rule, exact where they are known and simulated elsewhere.

    Parameters
    ----------
    rules : sequence of str
    sets : int
    exact : dict of str to ExactCoverage, or None
        What is known by rule; None while it is computed.
    smallest : dict of str to Extreme
        Smallest coverages found at any p.
    simulated : Performance or None
    shown, n_shown : dict of str to tuple, and int
        Those of `first_shares`, also while only the first repetitions are shown, and the number of these.
    is_complete : bool
        Whether no more of them are to come.
    """
    shares = SHARES | (SHARES_OF_SETS if sets > 1 else {})
    compared = ["apart, in standard errors"] if exact and simulated else []
    head = ["rule", "coverage, exact", "smallest at any p", "simulated", *compared, "mean length, in points", *shares]
    so_far = "" if simulated else f"<br><small>of {n_shown:,} so far</small>"
    rows = []
    for key in rules:
        coverage = None if exact is None else exact.get(key)
        performance = None if simulated is None else simulated.rules[key]
        # What the exact result says, or the simulated one where there is none
        values = dict.fromkeys(("mean_width_inside", *shares.values()), math.nan)
        if coverage is not None:
            values = {field: float(getattr(coverage, field)) for field in values}
        elif performance is not None:
            values = {field: float(getattr(performance, field).value) for field in values}
        lowest = "–" if is_complete else "…"
        if key in smallest:
            at = format_distinct(smallest[key].at, 1.0, 3)
            lowest = f"{format_percent(smallest[key].value, 4)}<br><small>at p = {at}</small>"
        unknown = "…" if exact is None else "beyond reach"
        distance = _distance(coverage.coverage, shown[key][0], n_shown) if coverage and performance else ""
        rows.append([
            f"<b>{RULES[key].short_label}</b><br><small>{RULES[key].formula}</small>",
            unknown if coverage is None else format_percent(coverage.coverage, 5),
            lowest,
            _simulated_share(*shown[key], n_shown) + so_far if key in shown else "not yet",
            *[distance] * len(compared),
            format_or_dash(100 * values.pop("mean_width_inside"), 4),
            *(format_percent(value, 3) if math.isfinite(value) else "–" for value in values.values()),
        ])  # fmt: skip
    return TextTable(head, rows, "Coverage of each rule")


def _distance(exact: float, share: float, repetitions: int) -> str:
    """How far a simulated share is from the exact one, in standard errors of the exact one."""
    if repetitions * min(exact, 1 - exact) < MIN_HITS:
        return "too few hits"
    error = math.sqrt(exact * (1 - exact) / repetitions)
    return format_number(round((share - exact) / error, 2), 3)


def _simulated_share(share: float, low: float, high: float, repetitions: int) -> str:
    """Simulated coverage with its standard error; for none and all with the ends of Wilson's interval."""
    if 0 < share < 1:
        error = math.sqrt(share * (1 - share) / repetitions)
        return f"{format_number(100 * share, 5)} % ± {format_number(100 * error, 2)}"
    return f"{format_number(100 * share)} % ({format_number(100 * low, 4)} to {format_number(100 * high, 4)} %)"


def interval_words(plan: CoveragePlan, runs: ShownRuns, shown: int, simulated: Performance | None) -> list[str]:
    """Lines of HTML above the first intervals: how many are hits, and the last of them or the simulation so far.

    Parameters
    ----------
    plan : CoveragePlan
        The intervals are those of its first rule.
    runs : ShownRuns
    shown : int
        How many of them are shown while they come one by one; 0 for all.
    simulated : Performance or None
    """
    if shown:
        return [*_count_sentences(runs.first(shown)), *_repetition_sentences(plan, runs, shown - 1)]
    lines = list(_count_sentences(runs))
    if simulated is not None:
        rule = simulated.rules[plan.rules[0]]
        state = "" if simulated.repetitions == plan.repetitions else " so far"
        share = _simulated_share(rule.coverage.value, rule.coverage_low, rule.coverage_high, simulated.repetitions)
        lines.insert(0, f"of {simulated.repetitions:,}{state}: <b>{share}</b>")
    return lines


def _count_sentences(runs: ShownRuns) -> tuple[str, ...]:
    """How many intervals hold the truth, miss it, or are none; a second sentence where some say nothing."""
    count = len(runs)
    missing = np.count_nonzero(np.isnan(runs.low))
    hits = np.count_nonzero(runs.covered)
    vacuous = np.count_nonzero(runs.vacuous)
    misses = count - hits - missing
    sentence = f"✓ <b>{hits} of {count}</b> {'holds' if hits == 1 else 'hold'} the truth"
    sentence += f" \u2003 ✕ <b>{misses}</b> {'misses' if misses == 1 else 'miss'} it"
    if missing:
        sentence += f" \u2003 {missing}\u00a0{'has' if missing == 1 else 'have'} no\u00a0interval"
    if not vacuous:
        return (sentence,)
    return sentence, f"{vacuous} of the {hits} (pale) {'says' if vacuous == 1 else 'say'} nothing: 0 to 100 %"


def _repetition_sentences(plan: CoveragePlan, runs: ShownRuns, place: int) -> tuple[str, str]:
    """Secret and released counts of the repetition at a place, and what its interval says."""
    counts = [format_number(int(count)) for count in runs.counts[place]]
    listed = ", ".join(counts[:5]) + (" …" if len(counts) > 5 else "")
    release = f"no. {place + 1}: {format_number(int(runs.confidential[place]))} said yes; released {listed}"
    low, high = float(runs.low[place]), float(runs.high[place])
    name = RULES[plan.rules[0]].short_label
    if math.isnan(low):
        return release, f"{name} gives no interval"
    claim = "nothing, 0 to 100 %"
    if low > 0 or high < 1:
        claim = f"{format_percent(max(low, 0.0), 3)} to {format_percent(min(high, 1.0), 3)}"
    return release, f"{name} says {claim}: {'✓ a hit' if runs.covered[place] else '✕ a miss'}"


def causes_of(synthesizer: Synthesizer) -> dict[str, str]:
    """Name of each cause of `CoverageDecomposition.lost`."""
    return {
        "prior_bias": "pull of the invented rows" if synthesizer.has_prior else "bias of the release",
        "ignored_variance": "variance wrong on average",
        "rule_noise": "noise of the variance",
        NOT_NORMAL: "q̄ is not normal",
    }


def _first_causes(results: Mapping[str, CoverageDecomposition]) -> dict[str, str]:
    """Names of the causes, of which all rules of a page have the same."""
    return causes_of(next(iter(results.values())).synthesizer)


def failure_sentence(result: CoverageDecomposition, p: float) -> str:
    """What the tables average, how far coverage is off the promise, and the largest cause."""
    name, lost = RULES[result.rule].short_label, result.lost[result.main_cause]
    if abs(lost) < MIN_REPORTED_CHANGE:
        return f"{name} covers as promised here; there is nothing to repair."
    shares = p + result.bias, p, result.published, result.level
    average, truth, covered, promised = (format_percent(share, 3) for share in shares)
    return (
        f"The tables average {average}, the truth is {truth}. {name} covers {covered}, promised {promised}. Largest "
        f"cause: <b>{causes_of(result.synthesizer)[result.main_cause]}</b>, which {'costs' if lost > 0 else 'adds'} "
        f"{format_number(100 * abs(lost), 3)} points."
    )


def effects_by_cause(results: Mapping[str, CoverageDecomposition]) -> dict[str, dict[str, float]]:
    """For each rule the change of coverage by its cause, and that of all together."""
    names = _first_causes(results)
    return {
        key: {names[cause]: -value for cause, value in result.lost.items()}
        | {"together": result.published - result.level}
        for key, result in results.items()
    }


def costs_table(results: Mapping[str, CoverageDecomposition]) -> TextTable:
    """What each cause adds to the promise of a rule, in points, up to what is published."""
    cells = {
        key: [format_percent(result.level, 8), *(format_points(-100 * value, 4) for value in result.lost.values()),
              format_percent(result.published)]
        for key, result in results.items()
    }  # fmt: skip
    head = ["rule", "promised", *_first_causes(results).values(), "as published"]
    return _rule_table("Change of coverage by each cause, in points", head, cells.items())


def repairs_table(results: Mapping[str, CoverageDecomposition]) -> TextTable:
    """Coverage with each combination of repairs, the fewer first."""
    names = [_first_causes(results)[key] for key in REPAIRS]
    rows = []
    for repairs in sorted(itertools.product((0, 1), repeat=len(REPAIRS)), key=sum):
        name = " and ".join(itertools.compress(names, repairs)) or "nothing, as published"
        shares = (format_percent(float(result.coverage[repairs])) for result in results.values())
        rows.append([f"<b>{'all three' if all(repairs) else name}</b>", *shares])
    head = ["repaired", *(RULES[key].short_label for key in results)]
    return TextTable(head, rows, "Coverage with each combination of repairs")


def repair_facts(results: Mapping[str, CoverageDecomposition]) -> dict[str, str]:
    """Values by name for the page's text on the repairs of the first rule, and on what the causes follow from."""
    first = next(iter(results.values()))
    has_prior = first.synthesizer.has_prior
    means = {RULES[key].short_label: format_number(result.mean_variance, 3) for key, result in results.items()}
    return {
        "cause": "pull of the invented rows" if has_prior else f"bias of {first.synthesizer.info.moved_by.rstrip(',')}",
        "line": "a straight line with a prior" if has_prior else "close to a straight line away from 0 and 1",
        "longer": f"{format_distinct(1 / abs(first.slope), 1.0, 3)} times as" if first.slope else "infinitely",
        "estimate": "an unbiased estimate" if has_prior else "what the curve gives",
        "order": "" if has_prior else " (to first order)",
        "standard_error": format_number(first.unbiased_standard_error, 3),
        "plain": format_number(math.sqrt(first.variance), 3),
        "error": format_number(first.error_bound, 1),
        "bias": format_number(first.bias, 4),
        "spread": format_number(first.variance, 4),
        "variances": ", ".join(f"{mean} ({rule})" for rule, mean in means.items()),
    }


def lengths_table(curves: CoverageCurves, limit: float, place: int, level: float) -> TextTable:
    """Expected length of each rule's interval at one of the proportions, and the shortest possible one.

    Parameters
    ----------
    curves : CoverageCurves
    limit : float
        Shortest possible expected length; NaN where it is not known.
    place : int
        Index of the proportion.
    level : float
    """
    cells = []
    for key, line, coverage in zip(curves.rules, curves.mean_width_inside, curves.coverage, strict=True):
        length = float(line[place])
        times = f"{format_or_dash(length / limit, 3)} times" if np.isfinite(length) and limit > 0 else "–"
        smallest = format_percent(float(coverage.min())) + ("" if coverage.min() >= level - 1e-6 else ", too few")
        cells.append((key, [format_or_dash(100 * length, 4), times, format_percent(float(coverage[place])), smallest]))
    at = f"expected length at a share of {format_percent(float(curves.points[place]), 4)}, in points"
    head = ["rule", at, "the shortest possible", "coverage there", "smallest coverage in the picture"]
    table = _rule_table("Expected lengths", head, cells)
    if np.isfinite(limit):
        shortest = format_number(100 * limit, 4)
        table.rows.append(["<i>shortest possible</i>", shortest, "1", f"≥ {format_percent(level, 8)}", ""])
    return table


def estimate_table(exact: SetMoments, simulated: Performance | None) -> TextTable:
    """Bias, standard error and mean square error of the estimate in closed form, and simulated.

    Parameters
    ----------
    exact : SetMoments
    simulated : Performance or None
    """
    values = {
        "bias, E[q̄] − p": (exact.bias, "bias"),
        "standard error, √Var(q̄)": (math.sqrt(exact.variance_estimate), "empirical_error"),
        "mean square error": (exact.variance_estimate + exact.bias**2, "mean_square_error"),
    }
    rows = [[name, *_compared(value, simulated, field)] for name, (value, field) in values.items()]
    head = ["the estimate q̄", "closed form", "simulated", "apart, in standard errors"]
    return TextTable(head, rows, "Bias and variance of the estimate")


def variances_table(exact: Mapping[str, CoverageDecomposition], simulated: Performance | None) -> TextTable:
    """How far the variance T of each rule is off on average, exactly and in the simulation.

    Parameters
    ----------
    exact : dict of str to CoverageDecomposition
    simulated : Performance or None
    """
    cells = []
    for key, result in exact.items():
        bias = 100 * (result.mean_variance / result.variance - 1) if result.variance > 0 else math.nan
        compared = _compared(bias, simulated.rules[key] if simulated else None, "relative_bias")
        cells.append((key, [format_or_dash(result.mean_variance, 5), *compared]))
    head = ["the rule's variance T", "E[T], exact", "relative bias in %, exact", "simulated", "apart"]
    return _rule_table("How far each rule's variance is off", head, cells)


def measures_table(rules: Sequence[str], simulated: Performance) -> TextTable:
    """The `MEASURES` of each rule, simulated.

    Parameters
    ----------
    rules : sequence of str
    simulated : Performance
    """
    cells = [(key, [_measure(getattr(simulated.rules[key], name)) for name in MEASURES.values()]) for key in rules]
    return _rule_table("Simulated measures of each rule", ["simulated", *MEASURES], cells)


def moments_table(exact: SetMoments) -> TextTable:
    """Mean and standard deviation of the variances within and between several sets, and of T."""
    names = {"within": "v̄, the variance within", "between": "b, the variance between", "total": "T = (1 + 1/M) b − v̄"}
    numbers = {key: (getattr(exact, f"mean_{key}"), math.sqrt(getattr(exact, f"variance_{key}"))) for key in names}
    rows = [[name, *(format_or_dash(number, 5) for number in numbers[key])] for key, name in names.items()]
    return TextTable(["of the sets", "mean", "standard deviation"], rows, "Moments of the variances, closed form")


def repetitions_table(rule: str, coverage: float) -> TextTable:
    """How many repetitions a standard error of the coverage of a rule takes.

    Parameters
    ----------
    rule : str
    coverage : float
    """
    rows = [
        [f"± {points} (one standard error)", f"{repetitions_needed(coverage, float(points.split()[0]) / 100):,}"]
        for points in ("1 point", "0.5 points", "0.1 points", "0.05 points")
    ]
    return TextTable([f"coverage of {RULES[rule].short_label} to within", "repetitions"], rows, "Repetitions needed")


def _measure(measure: Measure) -> str:
    if math.isinf(measure.error):
        return "–"
    is_known = math.isfinite(measure.error) and math.isfinite(measure.value)
    error = f" ± {format_number(measure.error, 2)}" if is_known else ""
    return f"{format_or_dash(measure.value, 5)}{error}"


def _compared(exact: float, simulated: Performance | RulePerformance | None, field: str) -> tuple[str, str, str]:
    """The exact number, the simulated one, and how far they are apart in standard errors."""
    if simulated is None:
        return format_or_dash(exact, 5), "not yet", ""
    measure: Measure = getattr(simulated, field)
    is_known = math.isfinite(measure.error) and measure.error > 0 and math.isfinite(exact)
    distance = format_number(round((measure.value - exact) / measure.error, 2), 3) if is_known else ""
    return format_or_dash(exact, 5), _measure(measure), distance
