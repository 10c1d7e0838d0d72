"""What the sentences of Liu (2016) say of her figures, judged by the lines that we draw."""

import math

import numpy as np

from dpviz.claims.seen_figures import (
    ALIKE,
    CLOSE_TO_LEVEL,
    COVERAGE_MEASURE,
    MODIPS_KEYS,
    NOMINAL,
    NOTICED_BIAS,
    SPREAD_MEASURE,
    SeenPanel,
    figure_judge,
    seen,
)
from dpviz.claims.sentences import Judge, Judged
from dpviz.core.formatting import format_number

BOUNDED = "modips_communal", "modips_communal_truncated"  # BIT and truncation of Figure 8
RULE_ORDER = "rubin_1987", "raghunathan_2003", "reiter_2003", "raab_2017"
SEVERE_FROM, SIMILAR = 0.85, 0.15
EPSILONS_OF_TABLE_1 = 0.5, 1.0, 10.0, 100.0
PEAKS = {"modips_truncated": 50.0, "modips": 150.0}
"""At which m the variance is the largest for 1,000 rows, as printed."""
SEVERE_STARTS = {
    ("100", "modips_truncated"): 20.0,
    ("100", "modips"): 40.0,
    ("1,000", "modips_truncated"): 150.0,
    ("1,000", "modips"): 150.0,
}
"""From which m on coverage is severely low, as printed."""


def _of_liu(place: str, measure: str, where: str = "") -> tuple[SeenPanel, ...]:
    return seen("Liu (2016)", place, measure, where)


def _constant_spread() -> Judged:
    holds, parts = [], []
    for panel in _of_liu("Figure 6", SPREAD_MEASURE, "binary data, n = 1,000"):
        p, line = float(panel.setting.rpartition(" = ")[2]), panel.lines["modips"]
        late = line.y[line.x > 40] / math.sqrt(p * (1 - p) / 1_000)
        holds += [late.max() / late.min() < 1 + ALIKE, late.min() < 1 + 1.5 * ALIKE]
        parts.append(f"from {format_number(late.min(), 3)} to {format_number(late.max(), 3)}")
    told = f"For m above 40 it is {' and '.join(parts)} times the original, for p = 0.1 and 0.5."
    return Judged(told, holds=bool(all(holds)))


def _near_nominal(where: str, most_off: float, but: float) -> Judged:
    """How much of all m is near the level."""
    near = [
        abs(one - NOMINAL) < most_off
        for panel in _of_liu("Figure 6", COVERAGE_MEASURE, where)
        for line in panel.lines.values()
        for one in line.y.tolist()
    ]
    return Judged(
        f"Within {format_number(100 * most_off)} points at {sum(near)} of {len(near)} points.",
        holds=sum(near) >= (1 - but) * len(near),
    )


def _late_peaks() -> Judged:
    (panel,) = _of_liu("Figure 6", SPREAD_MEASURE, "normal data, n = 1,000, bounds −4 and 4")
    lines = {key: panel.lines[key] for key in PEAKS}
    tops = [float(line.x[np.argmax(line.y)]) for line in lines.values()]
    near = [
        lines[key].y[np.argmin(np.abs(lines[key].x - place))] > (1 - ALIKE) * lines[key].y.max()
        for key, place in PEAKS.items()
    ]
    told = f"The largest are at m = {format_number(tops[0])} (truncation) and {format_number(tops[1])} (BIT)."
    return Judged(told, holds=all(near))


def _over_covered() -> Judged:
    (panel,) = _of_liu("Figure 6", COVERAGE_MEASURE, "normal data, n = 100, bounds −4 and 4")
    inflated, truncated = (100 * float(panel.y(key)[panel.lines[key].x > 40].min()) for key in MODIPS_KEYS)
    told = (
        f"For m above 40 at least {format_number(inflated, 3)} % (BIT) and {format_number(truncated, 3)} % "
        "(truncation)."
    )
    return Judged(told, holds=min(inflated, truncated) > 100 * NOMINAL)


def _severe_normal() -> Judged:
    found, parts = [], []
    for (n, key), start in SEVERE_STARTS.items():
        (panel,) = _of_liu("Figure 6", COVERAGE_MEASURE, f"normal data, n = {n}, bounds −4 and 5")
        line = panel.lines[key]
        below = line.x[line.y < SEVERE_FROM].tolist()
        found.append(bool(np.all(line.y[line.x > start] < SEVERE_FROM)))
        parts.append(f"m = {format_number(below[0])}" if below else "no m")
    told = (
        f"It is below 85 % from {parts[0]} (truncation) and {parts[1]} (BIT) on for 100 rows, and from {parts[2]} and "
        f"{parts[3]} on for 1,000."
    )
    return Judged(told, holds=all(found))


def _good_choice() -> Judged:
    low = min(
        float(line.y[(line.x >= 3) & (line.x <= 10)].min())
        for panel in _of_liu("Figure 6", COVERAGE_MEASURE)
        for line in panel.lines.values()
    )
    return Judged(
        f"The lowest coverage for m from 3 to 10 is {format_number(100 * low, 3)} %.",
        holds=low > NOMINAL - 1.5 * CLOSE_TO_LEVEL,
    )


def _ratio(where: str, one: str, two: str, above: float) -> tuple[float, float]:
    """The smallest and largest ratio of two rules at the ε of Table 1 above a number."""
    ratios = []
    for panel in _of_liu("Figure 7", SPREAD_MEASURE, where):
        x = panel.lines[one].x
        ratios += (panel.y(one) / panel.y(two))[np.isin(x, EPSILONS_OF_TABLE_1) & (x > above)].tolist()
    return min(ratios), max(ratios)


def _similar(where: str, one: str, two: str, above: float) -> Judged:
    low, high = _ratio(where, one, two, above)
    return Judged(
        f"The ratio is from {format_number(low, 3)} to {format_number(high, 3)}.",
        holds=1 - SIMILAR < low <= high < 1 + SIMILAR,
    )


def _normal_order() -> Judged:
    alike, ordered = [], []
    for panel in _of_liu("Figure 7", SPREAD_MEASURE, "normal"):
        rubin, other, theorem, raab = (panel.y(key) for key in RULE_ORDER)
        alike.append(float((other / rubin).min()))
        ordered += ((other >= theorem) & (theorem >= raab)).tolist()
    told = (
        f"The second is at least {format_number(min(alike), 3)} times the first; the order is so at {sum(ordered)} of "
        f"{len(ordered)} points."
    )
    return Judged(told, holds=min(alike) > 1 - ALIKE and all(ordered))


def _all_alike() -> Judged:
    few, many = _of_liu("Figure 7", SPREAD_MEASURE, "normal")
    spreads = []
    for panel, above in ((few, 50.0), (many, 10.0)):
        late = np.array([panel.y(key)[panel.lines[key].x > above] for key in RULE_ORDER])
        spreads.append(float((late.max(axis=0) / late.min(axis=0)).max()))
    told = (
        f"The largest is up to {format_number(spreads[0], 3)} times the smallest for 10 rows, and "
        f"{format_number(spreads[1], 3)} "
        "times for 100."
    )
    return Judged(told, holds=max(spreads) < 1 + 2 * ALIKE)


def _more_in_binary() -> Judged:
    binary, normal = (1 / _ratio(where, *RULE_ORDER[1::-1], 50.0)[0] for where in ("binary", "normal"))
    told = (
        f"At ε = 100 Rubin's is up to {format_number(binary, 3)} times that of Raghunathan et al. for binary data, and "
        f"{format_number(normal, 3)} times for normal data."
    )
    return Judged(told, holds=binary > normal)


def _budget(measure: str, where: str = "") -> tuple[SeenPanel, ...]:
    return _of_liu("Figure 8", measure, where)


def _barely() -> Judged:
    most = max(
        float(np.abs(panel.y(key) / panel.lines[key].error).max())
        for panel in _budget("bias")
        if panel.setting.endswith("−4 and 4")
        for key in BOUNDED
    )
    return Judged(f"The largest bias is {format_number(most, 2)} standard errors from 0.", holds=most < 4)


def _bias_falls() -> Judged:
    (panel,) = _budget("bias", "n = 100, bounds −4 and 5")
    line = panel.y(BOUNDED[0])
    told = (
        f"With BIT it is {', '.join(format_number(float(one), 2) for one in line[::2])} for w = 0.1, 0.3, 0.5, "
        "0.7 and 0.9."
    )
    late = line[5:]
    falls = line[0] > 5 * NOTICED_BIAS and line[0] > line[4] and late.max() / late.min() < 1.5
    return Judged(told, holds=bool(falls))


def _budget_covered() -> Judged:
    found = [float(one) for panel in _budget(COVERAGE_MEASURE) for one in panel.y(BOUNDED[0])[4:]]
    told = (
        f"For w from 0.5 on, with BIT, from {format_number(100 * min(found), 3)} to "
        f"{format_number(100 * max(found), 3)} %."
    )
    return Judged(told, holds=min(found) > NOMINAL - CLOSE_TO_LEVEL)


def _truncation_under() -> Judged:
    parts, holds = [], []
    for n, first in (("100", 0), ("1,000", 5)):
        most = max(float(panel.y(BOUNDED[1])[first:].max()) for panel in _budget(COVERAGE_MEASURE, f"n = {n},"))
        holds.append(most < NOMINAL - CLOSE_TO_LEVEL / 2)
        parts.append(format_number(100 * most, 3))
    return Judged(f"At most {parts[0]} % for 100 rows, and {parts[1]} % for 1,000 with w above 0.5.", holds=all(holds))


def _close_width() -> Judged:
    original = 2 * 1.96 / math.sqrt(1_000)
    most = max(float(panel.y(key)[5:].max()) for panel in _budget("mean_width", "n = 1,000") for key in BOUNDED)
    return Judged(
        f"For w above 0.5 it is up to {format_number(most / original, 3)} times the original.",
        holds=most < 1.5 * original,
    )


def _larger_width() -> Judged:
    ratios = [
        float(panel.y(key).min()) * math.sqrt(100 if panel.setting.startswith("n = 100,") else 1_000) / (2 * 1.96)
        for panel in _budget("mean_width")
        for key in BOUNDED
    ]
    return Judged(f"The smallest is {format_number(min(ratios), 3)} times that of the original.", holds=min(ratios) > 1)


def _larger_w() -> Judged:
    ratios = [float(panel.y(key)[-1] / panel.y(key)[0]) for panel in _budget("mean_width") for key in BOUNDED]
    told = (
        f"The width at w = 0.9 is from {format_number(min(ratios), 3)} to {format_number(max(ratios), 3)} times "
        "that at 0.1."
    )
    return Judged(told, holds=max(ratios) < 1)


def _constant(where: str) -> Judged:
    most = max(
        float(panel.y("raab_2017").max() / panel.y("raab_2017").min())
        for panel in _of_liu("Figure 7", SPREAD_MEASURE, where)
    )
    return Judged(f"The largest is up to {format_number(most, 3)} times the smallest.", holds=most < 1 + 2 * ALIKE)


LIU_FIGURE_JUDGES: dict[str, Judge] = {
    key: figure_judge(found)
    for key, found in {
        "constant_spread": _constant_spread,
        "cp_binary": lambda: _near_nominal("binary", CLOSE_TO_LEVEL, 0.25),
        "cp_normal": lambda: _near_nominal("normal data, n = 100, bounds −4 and 4", 2 * CLOSE_TO_LEVEL, 0.25),
        "late_peaks": _late_peaks,
        "over_covered": _over_covered,
        "severe_normal": _severe_normal,
        "good_choice": _good_choice,
        "similar_1": lambda: _similar("binary", "reiter_2003", "raab_2017", 1.0),
        "similar_2": lambda: _similar("binary", "raghunathan_2003", "reiter_2003", 1.0),
        "normal_order": _normal_order,
        "similar_3": lambda: _similar("normal", "reiter_2003", "raab_2017", 10.0),
        "all_alike": _all_alike,
        "more_in_binary": _more_in_binary,
        "constant_normal": lambda: _constant("normal"),
        "barely": _barely,
        "bias_falls": _bias_falls,
        "budget_covered": _budget_covered,
        "truncation_under": _truncation_under,
        "close_width": _close_width,
        "larger_width": _larger_width,
        "larger_w": _larger_w,
    }.items()
}
"""By the key of the sentence, of Liu."""
