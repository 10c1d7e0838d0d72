"""What Liu (2016) prints: both halves of Table 1, cell by cell, and the statements of her examples and figures.

Source: F. Liu, Model-based differentially private data synthesis and statistical inference in multiply synthetic
differentially private data, arXiv:1606.08052.
"""

import csv
import math
from collections.abc import Callable, Iterator, Mapping
from dataclasses import replace
from functools import cache, lru_cache, partial
from itertools import product
from pathlib import Path

import numpy as np
from scipy.special import ndtr, ndtri

from dpviz.comparisons import KnownVariance, UnknownVariance, numeric_releases
from dpviz.comparisons.analysis import OutcomeMeasures
from dpviz.comparisons.methods import NumericMethod
from dpviz.comparisons.numeric_data import NormalData
from dpviz.comparisons.numeric_releases import MODIPS_MEAN, MODIPS_MEAN_TRUNCATED
from dpviz.comparisons.numeric_study import NumericStudy
from dpviz.comparisons.proportion import EPSILON_WITHOUT_NOISE
from dpviz.core.formatting import format_number
from dpviz.core.numerics.special import binomial_weights, row_blocks
from dpviz.core.types import FloatArray
from dpviz.coverage.exact import exact_coverage
from dpviz.coverage.release_distribution import exact_work, release_distribution
from dpviz.inference.combining_rules import COMBINING_RULES
from dpviz.inference.interval_rules import SetStatistics, contains
from dpviz.mechanisms import GeometricSanitizer, Modips, ModipsTruncated, TwoCellSynthesizer
from dpviz.privacy.gaussian import gaussian_delta
from dpviz.published.records import Record, load_records
from tests.reproduction import evidence
from tests.reproduction.evidence import Evidence, SimulationBudget, between, check, check_each, count_supported
from tests.reproduction.studies import N_SETS, RULE_ORDER, at_most, draw_releases, expected_variance, simulate_numeric

BINARY_RUNS = 100_000  # where the sums of ten sets are too long
SIZES, SHARES = (100, 1_000), (0.1, 0.5)
SETS_EXAMINED = 2, 3, 4, 5, 6, 8, 10, 15, 20, 30, 40, 50, 100, 150, 200, 300, 500
RUBIN, RAGHUNATHAN, THEOREM_7, RAAB = RULE_ORDER
BOUNDED = BIT, TRUNCATED = "modips_communal", "modips_communal_truncated"  # of Figure 8
claim = partial(check, "liu")


# Table 1


def divided_by_m(b: FloatArray, v: FloatArray, sets: int, ratio: float) -> tuple[FloatArray, FloatArray]:
    """Return T and ν of Theorem 7 with b as it is printed, its divisor m."""
    rule, b = COMBINING_RULES[THEOREM_7], b * (sets - 1) / sets
    return rule.variance_and_degrees(b, v, sets=sets, synthetic_ratio=ratio)


RULES = COMBINING_RULES | {
    "rubin_1987_few": replace(COMBINING_RULES[RUBIN], degrees=lambda b, _, sets, __: np.full(np.shape(b), sets - 1.0)),
    "reiter_2003_m": replace(
        COMBINING_RULES[THEOREM_7],
        total=lambda *values: divided_by_m(*values)[0],
        degrees=lambda *values: divided_by_m(*values)[1],
    ),
}
"""Combining rules, Rubin's with M − 1 degrees of freedom, and Theorem 7 with b divided by m."""


@cache
def read_readings() -> dict[tuple[str, str, str], dict[str, str]]:
    """Return how columns may have been computed, by half of the table, column and words of the reading."""
    text = (Path(__file__).parent / "data" / "liu_readings.csv").read_text("utf-8")
    return {(row["table"], row["column"], row["reading"]): row for row in csv.DictReader(text.splitlines())}


@lru_cache(maxsize=512)
def binary_coverage(
    n: int, p: float, epsilon: float, sets: int, rules: tuple[str, ...], budget: SimulationBudget
) -> tuple[dict[str, float], int]:
    """Return coverage by rule and the runs behind it, 0 where it is exact; no sets stand for the confidential data.

    The sums of ten sets of 1,000 rows are too long: 100,000 repetitions stand for them.
    """
    mechanism: TwoCellSynthesizer = GeometricSanitizer(n=n, epsilon=EPSILON_WITHOUT_NOISE)
    if sets:
        mechanism = Modips(n=n, m=n, epsilon=epsilon / sets)
    n_drawn = max(sets, 1)
    releases: Iterator[tuple[FloatArray, SetStatistics]]
    if (budget.use_exact_sums or sets <= 1) and exact_work(mechanism, p=p, sets=n_drawn) < math.inf:
        distribution, runs = release_distribution(mechanism, p=p, sets=n_drawn), 0
        blocks = row_blocks(len(distribution.probability), 1)
        releases = ((distribution.probability[block], distribution.statistics.at(block)) for block in blocks)
    else:
        runs = max(BINARY_RUNS, budget.repetitions) if budget.use_exact_sums else budget.repetitions
        releases = draw_releases(mechanism, p, n_drawn, runs, budget.generator())
    shares = np.zeros(len(rules))
    for probability, statistics in releases:
        shares += [probability @ contains(*RULES[rule].ends(statistics, 0.95), p) for rule in rules]
    return dict(zip(rules, shares.tolist(), strict=True)), runs


def normal_data(n: int, high: float = 4.0, kind: type[NormalData] = KnownVariance) -> NormalData:
    """Return N(0, 1) with the lower bound −4."""
    return kind(n=n, mean=0.0, sigma=1.0, low=-4.0, high=high)


@lru_cache(maxsize=512)
def normal_coverage(
    n: int, epsilon: float, sets: int, rules: tuple[str, ...], estimands: tuple[str, ...], budget: SimulationBudget
) -> Mapping[tuple[str, str], float]:
    """Return simulated coverage by estimand and rule; no sets stand for the confidential data."""
    results = NumericStudy(
        data=normal_data(n), method=MODIPS_MEAN if sets else numeric_releases.ORIGINAL_ROWS, epsilon=epsilon,
        sets=max(sets, 1), estimands=estimands, rules=rules, repetitions=budget.repetitions, seed=budget.seed,
    ).run()  # fmt: skip
    return {key: results.measures(*key).coverage.value for key in product(estimands, rules)}


@check_each("liu", "table_binary", "table_normal")
def table_cell(record: Record, budget: SimulationBudget) -> Evidence:
    """Coverage in a cell of Table 1 as its reading has it; all readings of as many sets share the releases."""
    half = "binary" if record.key == "table_binary" else "gaussian"
    design, reading = record.parameters, read_readings()[half, record.what, record.reading.partition(" n is read")[0]]
    n, epsilon, sets = int(design["n"]), float(design["epsilon"]), int(design["sets"])
    rows = [row for row in read_readings().values() if (row["table"], int(row["sets"])) == (half, sets)]
    rules, estimands = (tuple(dict.fromkeys(row[name] for row in rows)) for name in ("rule", "estimand"))
    if half == "binary":
        shares, runs = binary_coverage(n, float(design["p"]), epsilon, sets, rules, budget)
        return evidence.share_evidence(record, shares[reading["rule"]], runs)
    results = normal_coverage(n, epsilon, sets, rules, estimands, budget)
    return evidence.share_evidence(record, results[reading["estimand"], reading["rule"]], budget.repetitions)


def misfit(rule: str, budget: SimulationBudget) -> float:
    """Return the sum of squared standard errors of the column of Theorem 7 for binary data, if it were by a rule."""
    total = 0.0
    for record in load_records():
        if record.paper == "Liu (2016)" and (record.place, record.what) == ("Table 1 (a)", "liu_thm7"):
            n, p, epsilon = (float(record.parameters[name]) for name in ("n", "p", "epsilon"))
            if not record.is_alternative:
                shares, runs = binary_coverage(int(n), p, epsilon, N_SETS, (rule,), budget)
                cell = evidence.share_evidence(record, shares[rule], runs)
                total += ((float(record.printed) - float(cell.value)) / cell.standard_error) ** 2
    return total


def column(name: str, budget: SimulationBudget, max_epsilon: float = math.inf) -> tuple[FloatArray, FloatArray]:
    """Return coverage in per cent and its error in a column of both halves, without alternative readings."""
    cells = [
        table_cell(record, budget)
        for record in load_records()
        if record.paper == "Liu (2016)" and record.key.startswith("table_") and record.what == name
        if not record.is_alternative and float(record.parameters["epsilon"]) <= max_epsilon
    ]
    return np.array([100 * float(cell.value) for cell in cells]), np.array([100 * cell.own_error for cell in cells])


def spanning(values: FloatArray, supported: object) -> Evidence:
    """Return evidence that tells the ends of some percentages."""
    ends = (format_number(float(end), 3) for end in (values.min(), values.max()))
    return Evidence(f"{' to '.join(ends)} %.", bool(supported))


@claim("nominal")
def _(budget: SimulationBudget) -> Evidence:
    values, errors = column("liu_thm7", budget)
    return spanning(values, (np.abs(values - 95) < 1.5 + 3 * errors).all())


@claim("raab_under")
def _(budget: SimulationBudget) -> Evidence:
    values, _ = column("raab", budget, max_epsilon=1.0)
    return spanning(values, values.min() < 85)


@claim("hardly")
def _(budget: SimulationBudget) -> Evidence:
    is_near = np.abs(column("raghunathan", budget)[0] - 95) < 1.5
    return Evidence(f"{is_near.sum()} of {is_near.size} cells are near.", bool(is_near.mean() <= 0.1))


@claim("conservative")
def _(budget: SimulationBudget) -> Evidence:
    values, errors = column("rubin", budget)
    return spanning(values, (values + 3 * errors > 99).all())


claim("single_under")(lambda budget: between(column("single", budget)[0], 0, 85, " %"))
claim("raab_b")(lambda _: Evidence("The heading of the column has (1+2/m)ϖ.", supported=False))


# Arithmetic in the text

claim("width")(lambda _: Evidence("6/20 is 0.3.", math.isclose(6 / 20, 3 / 10)))
claim("draws")(lambda _: Evidence(1 / (0.1 * 3 / 10)))
claim("gap")(lambda _: Evidence("The smallest G that is possible is 1/6, 0.167.", supported=0.1 >= 1 / 6))
claim("outside")(lambda _: Evidence(200 * float(ndtr(-4.0))))
PROMISES = list(product((0.1, 0.5, 0.99), (1e-3, 1e-6, 1e-9)))  # ε and δ


@claim("communal")
def _(_: SimulationBudget) -> Evidence:
    data = normal_data(100, kind=UnknownVariance)
    scales = numeric_releases.MODIPS_COMMUNAL.noise_scales(data, 1.0)
    share = numeric_releases.mean_share(data, variance_known=False)
    text = f"w is {format_number(share, 4)}, and the scale of both noises is {format_number(scales['the mean'])}."
    return Evidence(text, math.isclose(scales["the mean"], scales["the variance"]))


@claim("classical")
def _(_: SimulationBudget) -> Evidence:
    """The sensitivity is 1: a release moves by 1/σ standard deviations."""
    ratios = [(epsilon / math.sqrt(2 * math.log(1.25 / delta)), epsilon, delta) for epsilon, delta in PROMISES]
    return between([gaussian_delta(ratio, epsilon) / delta for ratio, epsilon, delta in ratios], 0, 1, " times δ")


@claim("probabilistic")
def _(_: SimulationBudget) -> Evidence:
    """The log-odds are normal with mean 1/(2σ²) and variance 1/σ²."""
    shares = []
    for epsilon, delta in PROMISES:
        quantile = float(ndtri(delta / 2))
        sigma = (math.sqrt(quantile**2 + 2 * epsilon) - quantile) / (2 * epsilon)
        exceeds = ndtr(1 / (2 * sigma) - epsilon * sigma) + ndtr(-1 / (2 * sigma) - epsilon * sigma)
        shares.append(float(exceeds) / delta)
    return between(shares, 0, 1, " times δ")


# Section 5.1: one proportion against the number of sets, at ε = 1


def clipped_bias(n: int, p: float, sets: int) -> float:
    """E[p̄*] − p with BIT, at ε = 1 for all sets: E[x̃/n | p*] = (1 + n p*)/(n + 2), p* = x/n + noise, set to 0 and 1.

    >>> round(clipped_bias(100, 0.1, 201), 3)
    0.316
    """
    scale, share = sets / n, np.arange(n + 1) / n
    clipped = share + scale / 2 * (np.exp(-share / scale) - np.exp(-(1 - share) / scale))
    return float(binomial_weights(np.array([p]), n)[0] @ ((1 + n * clipped) / (n + 2))) - p


@cache
def binary_variance(rule: str, n: int, p: float, sets: int, epsilon: float = 1.0) -> float:
    """Return T of a rule at the expected b and ϖ, exactly."""
    return expected_variance(rule, Modips(n=n, m=n, epsilon=epsilon / sets), p, sets)


claim("sure_bias")(lambda _: Evidence(clipped_bias(100, 0.1, 201)))
claim("minimal_bias")(lambda _: between([clipped_bias(n, 0.1, m) for n, m in product(SIZES, SETS_EXAMINED)], 0, 0.01))


@claim("sd_larger")
def _(_: SimulationBudget) -> Evidence:
    settings = product(SHARES, SETS_EXAMINED)
    ratios = [binary_variance(THEOREM_7, 100, p, sets) / (p * (1 - p) / 100) for p, sets in settings]
    return between(np.sqrt(ratios), low=1, unit=" times the original")


@claim("lowest_sd")
def _(_: SimulationBudget) -> Evidence:
    variances = np.array([[binary_variance(THEOREM_7, 100, p, sets) for sets in SETS_EXAMINED] for p in SHARES])
    lowest = np.take(SETS_EXAMINED, np.argmax(np.diff(variances) > 0, axis=1))
    return between(lowest, 30, 40, " sets")


@claim("two_sets")
def _(_: SimulationBudget) -> Evidence:
    settings = product((Modips, ModipsTruncated), SIZES, SHARES)
    mechanisms = [(kind(n=n, m=n, epsilon=0.5), p) for kind, n, p in settings]
    results = [
        exact_coverage(synthesizer=mechanism, p=p, sets=2, rule=THEOREM_7).coverage for mechanism, p in mechanisms
    ]
    return between(100 * np.array(results), 91, 94, " %")


@claim("severe")
def _(budget: SimulationBudget) -> Evidence:
    mechanism, runs = Modips(n=100, m=100, epsilon=1 / 201), min(budget.repetitions, 1_000)
    releases = draw_releases(mechanism, 0.1, 201, runs, budget.generator())
    covered = sum(float(chance @ contains(*RULES[THEOREM_7].ends(part, 0.95), 0.1)) for chance, part in releases)
    return between([100 * covered], 0, 85, " %")


@claim("fig7_binary")
def _(_: SimulationBudget) -> Evidence:
    settings = product(SIZES, SHARES, (N_SETS,), (0.5, 1.0))
    variances = np.array([[binary_variance(rule, *setting) for rule in RULE_ORDER] for setting in settings])
    return count_supported((np.diff(variances) <= 0).all(axis=1), "settings")


@claim("fig7_constant")
def _(_: SimulationBudget) -> Evidence:
    private, exact = (math.sqrt(binary_variance(RAAB, 1_000, 0.5, N_SETS, epsilon)) for epsilon in (0.5, 100.0))
    return between([private / exact], 0.9, 1.1)


# Sections 5.1 and 5.3: normal data of 100 rows, at ε = 1


def normal_mean(method: NumericMethod, data: NormalData, sets: int, budget: SimulationBudget) -> OutcomeMeasures:
    """Return what Theorem 7 makes of the mean; of many sets by fewer repetitions."""
    budget = at_most(budget, max(budget.repetitions // max(sets // 10, 1), 10))
    return simulate_numeric(data, method, 1.0, ("mean",), budget, sets)["mean"]


@claim("normal_two")
def _(budget: SimulationBudget) -> Evidence:
    methods = MODIPS_MEAN, MODIPS_MEAN_TRUNCATED
    results = [normal_mean(method, normal_data(100), 2, budget).coverage for method in methods]
    is_near = [abs(coverage.value - 0.91) < 0.02 + 3 * coverage.error for coverage in results]
    return spanning(100 * np.array([coverage.value for coverage in results]), all(is_near))


@claim("normal_bias")
def _(budget: SimulationBudget) -> Evidence:
    even, uneven = (normal_mean(MODIPS_MEAN, normal_data(100, high), 40, budget).bias for high in (4.0, 5.0))
    text = " and ".join(f"{format_number(bias.value, 3)} ± {format_number(bias.error, 2)}" for bias in (even, uneven))
    return Evidence(f"{text}.", abs(even.value) < 4 * even.error and uneven.value > 0.05)


@claim("peaks")
def _(budget: SimulationBudget) -> Evidence:
    ratios, supported = [], True
    for method, peak in ((MODIPS_MEAN_TRUNCATED, 20), (MODIPS_MEAN, 40)):
        widths = {sets: normal_mean(method, normal_data(100), sets, budget).mean_width for sets in (5, 10, 20, 40, 80)}
        largest = max(widths.values(), key=lambda width: width.value)
        ratios.append(format_number(widths[peak].value / largest.value, 2))
        supported &= widths[peak].value > 0.9 * largest.value - 3 * largest.error
    return Evidence(f"Truncation: {ratios[0]} of the largest at m = 20. BIT: {ratios[1]} at m = 40.", supported)


@claim("narrower")
def _(budget: SimulationBudget) -> Evidence:
    methods = [numeric_releases.MODIPS_SPLIT.with_share(share) for share in (0.1, 0.5, 0.9)]
    data = normal_data(100, kind=UnknownVariance)
    widths = [normal_mean(method, data, N_SETS, budget).mean_width.value for method in methods]
    return evidence.decreasing([*widths, 2 * 1.96 / math.sqrt(100)])


# Figures 6 to 8

panels = partial(evidence.lines, "liu")


def from_x(
    figure: int, measure: str, setting: str = "", keys: tuple[str, ...] = (), low: float = 0.0, high: float = math.inf,
    reduce: Callable[[FloatArray], float] = np.min,
) -> FloatArray:  # fmt: skip
    """Return a number of each line of a figure between two places of the axis, by default the smallest."""
    lines = [panel.lines[key] for panel in panels(f"Figure {figure}", measure, setting) for key in keys or panel.lines]
    return np.array([reduce(line.y[(line.x >= low) & (line.x <= high)]) for line in lines])


def largest_ratio(values: FloatArray) -> float:
    """Return the largest of some numbers over the smallest."""
    return float(values.max() / values.min())


def near_nominal(setting: str, points: float) -> Evidence:
    """Support a statement that three quarters of all coverages are within some percentage points of 95."""
    values = np.concatenate(
        [line.y for panel in panels("Figure 6", "coverage", setting) for line in panel.lines.values()]
    )
    return count_supported(np.abs(100 * values - 95) < points, "points", share=0.75)


SYMMETRIC = "normal data, n = 100, bounds −4 and 4"
claim("cp_binary")(lambda _: near_nominal("binary", 2))
claim("cp_normal")(lambda _: near_nominal(SYMMETRIC, 4))
claim("over_covered")(lambda _: between(100 * from_x(6, "coverage", SYMMETRIC, low=41), 95, 100, " %"))
claim("good_choice")(lambda _: between(100 * from_x(6, "coverage", low=3, high=10), 92, 100, " %"))


@claim("constant_spread")
def _(_: SimulationBudget) -> Evidence:
    """Beyond m = 40 it is constant within a tenth, and within 15 % of the original."""
    setting = "standard_error", "binary data, n = 1,000", ("modips",), 41
    spreads, lowest = from_x(6, *setting, reduce=largest_ratio), from_x(6, *setting)
    original = np.sqrt([p * (1 - p) / 1_000 for p in SHARES])
    text = ", ".join(format_number(ratio, 3) for ratio in spreads.tolist())
    supported = (spreads < 1.1).all() and (lowest < 1.15 * original).all()
    return Evidence(f"The largest is {text} times the smallest, for p = 0.1 and 0.5.", bool(supported))


@claim("late_peaks")
def _(_: SimulationBudget) -> Evidence:
    setting = "standard_error", "normal data, n = 1,000, bounds −4 and 4"
    ratios = [
        from_x(6, *setting, (key,), sets, sets)[0] / from_x(6, *setting, (key,), reduce=np.max)[0]
        for key, sets in (("modips_truncated", 50), ("modips", 150))
    ]
    return between(ratios, 0.9, 1, " of the largest")


@claim("severe_normal")
def _(_: SimulationBudget) -> Evidence:
    """From the next number of sets on, with truncation and with BIT."""
    starts = (
        ("100", "modips_truncated", 21),
        ("100", "modips", 41),
        ("1,000", "modips_truncated", 151),
        ("1,000", "modips", 151),
    )
    values = [
        from_x(6, "coverage", f"normal data, n = {n}, bounds −4 and 5", (key,), start, reduce=np.max)[0]
        for n, key, start in starts
    ]
    return between(100 * np.array(values), 0, 85, " %")


def rule_ratios(data: str, rule: str, reference: str, above: float) -> FloatArray:
    """Return the ratios of two rules at the ε of Table 1 above a number."""
    ratios = []
    for panel in panels("Figure 7", "standard_error", data):
        x = panel.lines[rule].x
        ratios.append((panel.y(rule) / panel.y(reference))[np.isin(x, (0.5, 1, 10, 100)) & (x > above)])
    return np.concatenate(ratios)


claim("similar_1")(lambda _: between(rule_ratios("binary", THEOREM_7, RAAB, 1), 0.85, 1.15))
claim("similar_2")(lambda _: between(rule_ratios("binary", RAGHUNATHAN, THEOREM_7, 1), 0.85, 1.15))
claim("similar_3")(lambda _: between(rule_ratios("normal", THEOREM_7, RAAB, 10), 0.85, 1.15))
claim("constant_normal")(
    lambda _: between(from_x(7, "standard_error", "normal", (RAAB,), reduce=largest_ratio), 1, 1.2)
)
claim("more_in_binary")(
    lambda _: evidence.decreasing([rule_ratios(data, RUBIN, RAGHUNATHAN, 50).max() for data in ("binary", "normal")])
)


@claim("all_alike")
def _(_: SimulationBudget) -> Evidence:
    """At ε = 100 for 10 rows, and above 10 for 100."""
    spreads = []
    for panel, first in zip(panels("Figure 7", "standard_error", "normal"), (-1, -3), strict=True):
        values = np.array([panel.y(rule)[first:] for rule in RULE_ORDER])
        spreads += (values.max(axis=0) / values.min(axis=0)).tolist()
    return between(spreads, 1, 1.2)


@claim("normal_order")
def _(_: SimulationBudget) -> Evidence:
    lines = [[panel.y(rule) for rule in RULE_ORDER] for panel in panels("Figure 7", "standard_error", "normal")]
    rubin, raghunathan, theorem, raab = np.concatenate(lines, axis=1)
    return count_supported((raghunathan / rubin > 0.9) & (raghunathan >= theorem) & (theorem >= raab), "points")


@claim("barely")
def _(_: SimulationBudget) -> Evidence:
    symmetric = [panel for panel in panels("Figure 8", "bias") if panel.setting.endswith("−4 and 4")]
    errors = [panel.y(key) / panel.lines[key].error for panel in symmetric for key in BOUNDED]
    return between(errors, -4, 4, " standard errors")


@claim("bias_falls")
def _(_: SimulationBudget) -> Evidence:
    """Obvious at w = 0.1, less at 0.5, and within a half of each other above."""
    (panel,) = panels("Figure 8", "bias", "n = 100, bounds −4 and 5")
    bias = panel.y(BIT)
    values = ", ".join(format_number(value, 2) for value in bias[::2].tolist())
    supported = bias[0] > max(0.05, bias[4]) and largest_ratio(bias[5:]) < 1.5
    return Evidence(f"With BIT it is {values} for w = 0.1, 0.3, 0.5, 0.7 and 0.9.", bool(supported))


claim("budget_covered")(lambda _: between(100 * from_x(8, "coverage", "", (BIT,), low=0.5), 93, 100, " %"))


@claim("truncation_under")
def _(_: SimulationBudget) -> Evidence:
    settings = ("n = 100,", (TRUNCATED,), 0.1), ("n = 1,000,", (TRUNCATED,), 0.6)
    values = [from_x(8, "coverage", *setting, reduce=np.max) for setting in settings]
    return between(100 * np.concatenate(values), 0, 94, " %")


def relative_widths(n: int, low: float, reduce: Callable[[FloatArray], float]) -> FloatArray:
    """Return mean widths over that of the confidential data, 2 · 1.96/√n, from some share w on."""
    return from_x(8, "mean_width", f"n = {n:,},", BOUNDED, low, reduce=reduce) * math.sqrt(n) / (2 * 1.96)


claim("close_width")(lambda _: between(relative_widths(1_000, 0.6, np.max), 0, 1.5, " times the original"))
claim("larger_width")(
    lambda _: between([relative_widths(n, 0.1, np.min) for n in SIZES], low=1, unit=" times the original")
)
claim("larger_w")(
    lambda _: between(from_x(8, "mean_width", "", BOUNDED, reduce=lambda y: y[-1] / y[0]), 0, 1, " times that at 0.1")
)
