"""What the page Coverage says of its rules in one table, and of the first repetitions in words."""

import math
from collections.abc import Mapping, Sequence

import numpy as np

from dpviz.core.formatting import (
    TextTable,
    format_distinct,
    format_number,
    format_or_dash,
    format_percent,
    format_percent_between,
)
from dpviz.core.monte_carlo import Measure
from dpviz.core.numerics.binomial_averages import Extreme
from dpviz.coverage.exact import ExactCoverage
from dpviz.coverage.performance import FirstIntervals, Performance, RulePerformance
from dpviz.coverage.simulate import CoveragePlan
from dpviz.inference.rules import RULES

MAX_LENGTH_ERROR = 1e-4  # error of a mean length up to which it is written
MIN_HITS = 5  # expected hits, and misses, from which on a simulated share is compared in standard errors
MAX_COUNTS = 5  # released counts of a repetition that are written

SHARES = {"hold all of 0 to 100 %": "vacuous_share", "no interval": "negative_variance_share"}
SHARES_OF_SETS = {
    "coverage where T\u00a0≥\u00a00": "coverage_given_nonnegative_total",
    "where T\u00a0<\u00a00": "coverage_given_negative_total",
}
"""Columns of the table, with the field that the exact and the simulated result have for them."""


def coverage_table(
    rules: Sequence[str], sets: int, exact: Mapping[str, ExactCoverage] | None, smallest: Mapping[str, Extreme],
    simulated: Performance | None, *, is_complete: bool,
) -> TextTable:  # fmt: skip
    """Numbers of each rule, exact where they are known and simulated elsewhere.

    Parameters
    ----------
    rules : sequence of str
        Keys of `dpviz.inference.RULES`, a row each.
    sets : int
        M; for a single set there is no T that could be negative.
    exact : mapping of str to ExactCoverage, or None
        By rule, without those beyond reach; None while it is computed.
    smallest : mapping of str to Extreme
        Smallest coverage at any p, by rule.
    simulated : Performance or None
    is_complete : bool
        Whether nothing more comes of `smallest`.

    Returns
    -------
    TextTable
    """
    shares = SHARES | (SHARES_OF_SETS if sets > 1 else {})
    compared = ["apart, in standard errors"] if exact and simulated else []
    head = ["rule", "coverage, exact", "smallest at any p", "simulated", *compared, "mean length, in points", *shares]
    rows = []
    for key in rules:
        coverage = None if exact is None else exact.get(key)
        performance = None if simulated is None else simulated.rules[key]
        cells = [f"<b>{RULES[key].short_label}</b><br><small>{RULES[key].formula}</small>"]
        if coverage is None:
            cells.append("…" if exact is None else "beyond reach")
        else:
            cells.append(format_percent(coverage.coverage, 5))
        cells.append(_smallest(smallest.get(key), is_complete=is_complete))
        cells.append("not yet" if performance is None else simulated_share(performance))
        if compared:
            cells.append("" if coverage is None else _distance(coverage.coverage, performance, simulated))
        cells.append(_mean_length(coverage, performance))
        cells += [_share(_value(field, coverage, performance)) for field in shares.values()]
        rows.append(cells)
    return TextTable(head, rows, "Coverage of each rule")


def negative_sentence(exact: Mapping[str, ExactCoverage], simulated: Performance | None) -> str:
    """How often T_M is negative, which the last two columns of the table tell apart; empty where nobody knows."""
    shares = [coverage.negative_total_share for coverage in exact.values()]
    if not exact and simulated is not None:
        shares = [simulated.negative_total_share.value]
    known = [share for share in shares if math.isfinite(share)]
    if not known:
        return ""
    return f"T is here (1 + 1/M) b − v̄ for every rule; it is negative in {format_percent(known[0], 3)} of the releases."


def simulated_share(performance: RulePerformance) -> str:
    """Simulated coverage with its standard error; for none and all with the ends of Wilson's interval."""
    share = 100 * performance.coverage.value
    if 0 < share < 100:
        return f"{format_number(share, 5)} % ± {format_number(100 * performance.coverage.error, 2)}"
    low = format_number(100 * performance.coverage_low, 4)
    high = format_number(100 * performance.coverage_high, 4)
    return f"{format_number(share)} % ({low} to {high} %)"


def interval_words(
    plan: CoveragePlan, intervals: FirstIntervals, shown: int, simulated: Performance | None
) -> list[str]:
    """Lines of HTML above the first intervals: how many are hits, and the last of them or the simulation so far.

    Parameters
    ----------
    plan : CoveragePlan
    intervals : FirstIntervals
        Of one of its rules.
    shown : int
        How many of them are shown while they come one by one; 0 for all.
    simulated : Performance or None
        The simulation so far, where all are shown.

    Returns
    -------
    list of str
    """
    if shown:
        return [count_sentences(intervals.first(shown))[0], *repetition_sentences(plan, intervals, shown - 1)]
    lines = list(count_sentences(intervals))
    if simulated is not None:
        state = "" if simulated.repetitions == plan.repetitions else " so far"
        share = simulated_share(simulated.rules[intervals.rule])
        lines.insert(0, f"of {simulated.repetitions:,}{state}: <b>{share}</b>")
    return lines


def count_sentences(intervals: FirstIntervals) -> tuple[str, ...]:
    """How many intervals hold the truth, miss it, or are none; a second sentence where some say nothing."""
    count = len(intervals.runs)
    missing = np.count_nonzero(np.isnan(intervals.low))
    hits = np.count_nonzero(intervals.covered)
    vacuous = np.count_nonzero(intervals.vacuous)
    misses = count - hits - missing
    sentence = f"✓ <b>{hits} of {count}</b> {'holds' if hits == 1 else 'hold'} the truth"
    sentence += f" \u2003 ✕ <b>{misses}</b> {'misses' if misses == 1 else 'miss'} it"
    if missing:
        sentence += f" \u2003 {missing}\u00a0{'has' if missing == 1 else 'have'} no\u00a0interval"
    if not vacuous:
        return (sentence,)
    verbs = ("runs", "says") if vacuous == 1 else ("run", "say")
    return sentence, f"{vacuous} of the {hits} {verbs[0]} from 0 to 100 % and {verbs[1]} nothing"


def repetition_sentences(plan: CoveragePlan, intervals: FirstIntervals, place: int) -> tuple[str, str]:
    """Secret and released counts of a repetition, and what its interval says.

    Parameters
    ----------
    plan : CoveragePlan
    intervals : FirstIntervals
        Of one of its rules.
    place : int
        Of the repetition, from 0.

    Returns
    -------
    tuple of str
    """
    counts = [format_number(int(count)) for count in intervals.runs.counts[place]]
    listed = ", ".join(counts[:MAX_COUNTS]) + (" …" if len(counts) > MAX_COUNTS else "")
    x = format_number(int(intervals.runs.confidential[place]))
    release = f"no. {place + 1}: {x} of {format_number(plan.synthesizer.n)} say yes; released {listed}"
    low = float(intervals.low[place])
    high = float(intervals.high[place])
    name = RULES[intervals.rule].short_label
    if math.isnan(low):
        return release, f"{name} gives no interval"
    claim = "nothing, 0 to 100 %"
    if low > 0 or high < 1:
        claim = f"{format_percent(max(low, 0.0), 3)} to {format_percent(min(high, 1.0), 3)}"
    return release, f"{name} says {claim}: {'✓ a hit' if intervals.covered[place] else '✕ a miss'}"


def _smallest(extreme: Extreme | None, *, is_complete: bool) -> str:
    if extreme is None:
        return "–" if is_complete else "…"
    share = format_percent_between(extreme.value - extreme.gap, extreme.value, 4)
    return f"{share}<br><small>at p = {format_distinct(extreme.at, 1.0, 3)}</small>"


def _value(field: str, coverage: ExactCoverage | None, performance: RulePerformance | None) -> float:
    """What the exact result says, or the simulated one where there is none."""
    if coverage is not None:
        return float(getattr(coverage, field))
    return math.nan if performance is None else float(getattr(performance, field).value)


def _share(value: float) -> str:
    return format_percent(value, 3) if math.isfinite(value) else "–"


def _mean_length(coverage: ExactCoverage | None, performance: RulePerformance | None) -> str:
    """Mean length inside 0 to 100 %, in points, to the decimals that are known."""
    error = 0.0 if coverage is None else coverage.mean_width_inside_error_bound
    if error > MAX_LENGTH_ERROR:
        return "–"
    length = _value("mean_width_inside", coverage, performance)
    return format_or_dash(Measure(100 * length, 0.0, within=100 * error).shown, 4)


def _distance(exact: float, performance: RulePerformance | None, simulated: Performance | None) -> str:
    """How far a simulated share is from the exact one, in standard errors of the exact one."""
    if performance is None or simulated is None:
        return ""
    if simulated.repetitions * min(exact, 1 - exact) < MIN_HITS:
        return "too few hits"
    error = math.sqrt(exact * (1 - exact) / simulated.repetitions)
    return format_number(round((performance.coverage.value - exact) / error, 2), 3)
