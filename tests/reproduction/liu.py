"""Table 1, cell by cell, and statements of Liu, Model-based differentially private data synthesis, arXiv:1606.08052."""

import math
from collections.abc import Generator
from dataclasses import replace
from functools import cache, lru_cache
from itertools import product

import numpy as np
import pandas as pd
from scipy.special import ndtr, ndtri

from dpviz.comparisons import KnownVariance, NumericStudy, UnknownVariance
from dpviz.comparisons import numeric_releases as methods
from dpviz.comparisons.analysis import OutcomeMeasures
from dpviz.comparisons.methods import NumericMethod
from dpviz.comparisons.numeric_data import NormalData
from dpviz.comparisons.proportion import EPSILON_WITHOUT_NOISE
from dpviz.comparisons.proportion_measures import share_moments
from dpviz.core.numerics.special import binomial_weights, row_blocks
from dpviz.core.types import FloatArray
from dpviz.coverage import exact_coverage
from dpviz.coverage.release_distribution import exact_work, release_distribution
from dpviz.inference import COMBINING_RULES, contains
from dpviz.inference.combining_rules import Formula
from dpviz.inference.interval_rules import SetStatistics, set_statistics
from dpviz.mechanisms import GeometricSanitizer, Modips, ModipsTruncated, TwoCellSynthesizer
from dpviz.privacy.gaussian import gaussian_delta
from dpviz.published.records import Record, load_records
from tests.reproduction import evidence
from tests.reproduction.bowen_liu import N_SETS, STANDARD, simulate_numeric
from tests.reproduction.evidence import Evidence, Findings, SimulationBudget, between, count, values

BINARY_RUNS = 100_000  # in place of sums of ten sets that are too long
SIZES, SHARES = (100, 1_000), (0.1, 0.5)
SETS_EXAMINED = 2, 3, 4, 5, 6, 8, 10, 15, 20, 30, 40, 50, 100, 150, 200, 300, 500
RULE_ORDER = "rubin_1987", "raghunathan_2003", "reiter_2003", "raab_2017"  # from the largest to the smallest T
RUBIN, RAGHUNATHAN, THEOREM_7, RAAB = RULE_ORDER
BOUNDED = BIT, TRUNCATED = ["modips_communal", "modips_communal_truncated"]  # of Figure 8
READINGS = pd.read_csv(evidence.DATA / "liu_readings.csv", keep_default_na=False, index_col=[0, 1, 2])
"""How columns of Table 1 may have been computed, by half of the table, column and words of the reading."""


# Table 1


def divided_by_m(formula: Formula | None) -> Formula:
    """Return T or ν of Theorem 7 with b as it is printed, its divisor m."""
    assert formula is not None
    return lambda b, v, sets, ratio: formula(b * (sets - 1) / sets, v, sets, ratio)


PROPOSED = COMBINING_RULES[THEOREM_7]
RULES = COMBINING_RULES | {
    "rubin_1987_few": replace(COMBINING_RULES[RUBIN], degrees=lambda b, _, sets, __: np.full(np.shape(b), sets - 1.0)),
    "reiter_2003_m": replace(PROPOSED, total=divided_by_m(PROPOSED.total), degrees=divided_by_m(PROPOSED.degrees)),
}
"""Combining rules, Rubin's with M − 1 degrees of freedom, and Theorem 7 with b divided by m."""


def draw_releases(
    mechanism: TwoCellSynthesizer, p: float, sets: int, runs: int, seed: int
) -> Generator[tuple[FloatArray, SetStatistics]]:
    """Yield the releases of so many studies, grouped by the confidential count; each study has the same probability."""
    rng = np.random.default_rng(seed)
    confidential, counts = np.unique(rng.binomial(mechanism.n, p, runs), return_counts=True)
    for x, size in zip(confidential.tolist(), counts.tolist(), strict=True):
        released = mechanism.draw(rng, x, (size, sets)).astype(np.int64)
        yield np.full(size, 1 / runs), set_statistics(mechanism, sets, released.sum(axis=1), (released**2).sum(axis=1))


@lru_cache(maxsize=512)
def binary_coverage(
    n: int, p: float, epsilon: float, sets: int, rules: tuple[str, ...], budget: SimulationBudget
) -> tuple[dict[str, float], int]:
    """Return coverage by rule and the runs behind it, 0 where it is exact; no sets stand for the confidential data.

    Sums of up to a minute are simulated if the budget has fewer repetitions than the paper.
    """
    n_drawn, is_full = max(sets, 1), budget.repetitions >= evidence.PRINTED_REPETITIONS
    mechanism: TwoCellSynthesizer = GeometricSanitizer(n=n, epsilon=EPSILON_WITHOUT_NOISE)
    if sets:
        mechanism = Modips(n=n, m=n, epsilon=epsilon / sets)
    if (is_full or sets <= 1) and exact_work(mechanism, p=p, sets=n_drawn) < math.inf:
        distribution, runs = release_distribution(mechanism, p=p, sets=n_drawn), 0
        blocks = row_blocks(len(distribution.probability), 1)
        releases = ((distribution.probability[block], distribution.statistics.at(block)) for block in blocks)
    else:
        runs = max(BINARY_RUNS, budget.repetitions) if is_full else budget.repetitions
        releases = draw_releases(mechanism, p, n_drawn, runs, budget.seed)
    shares = np.zeros(len(rules))
    for probability, statistics in releases:
        shares += [probability @ contains(*RULES[rule].ends(statistics, 0.95), p) for rule in rules]
    return dict(zip(rules, shares.tolist(), strict=True)), runs


def normal_data(n: int, high: float = 4.0, kind: type[NormalData] = KnownVariance) -> NormalData:
    """Return N(0, 1) with the lower bound −4."""
    return kind(**STANDARD | {"high": high}, n=n)


@lru_cache(maxsize=512)
def normal_coverage(
    n: int, epsilon: float, sets: int, rules: tuple[str, ...], estimands: tuple[str, ...], budget: SimulationBudget
) -> dict[tuple[str, str], float]:
    """Return simulated coverage by estimand and rule; no sets stand for the confidential data."""
    results = NumericStudy(
        data=normal_data(n), method=methods.MODIPS_MEAN if sets else methods.ORIGINAL_ROWS, epsilon=epsilon,
        sets=max(sets, 1), estimands=estimands, rules=rules, repetitions=budget.repetitions, seed=budget.seed,
    ).run()  # fmt: skip
    return {key: results.measures(*key).coverage.value for key in product(estimands, rules)}


def share_evidence(printed: Record, share: float, runs: int) -> Evidence:
    """Return a share from so many runs, 0 for an exact one, beside one that was printed of 5,000 repetitions.

    Both have the error of the pooled share: at 0 or 1 a share of its own would have none.
    """
    n_printed = evidence.PRINTED_REPETITIONS
    pooled = (float(printed.printed) * n_printed + share * runs) / (n_printed + runs) if runs else share
    spread = math.sqrt(pooled * (1 - pooled))
    own_error = math.hypot(spread / math.sqrt(runs), 1 / runs) if runs else 0.0  # no finer than one repetition
    error = math.hypot(spread / math.sqrt(n_printed), own_error, printed.unit / math.sqrt(12))
    return Evidence(share, standard_error=error, own_error=own_error)


def table_cell(record: Record, budget: SimulationBudget) -> Evidence:
    """Coverage in a cell of Table 1 as its reading has it; all readings of as many sets share the releases."""
    half, design = "binary" if record.key == "table_binary" else "gaussian", record.parameters
    reading = READINGS.loc[half, record.what, record.reading.partition(" n is read")[0]]
    alike = READINGS.loc[half].query("sets == @reading.sets")
    rules, estimands = (tuple(alike[name].unique()) for name in ("rule", "estimand"))
    n, epsilon = int(design["n"]), float(design["epsilon"])
    if half == "binary":
        shares, runs = binary_coverage(n, float(design["p"]), epsilon, reading["sets"], rules, budget)
        return share_evidence(record, shares[reading["rule"]], runs)
    results = normal_coverage(n, epsilon, reading["sets"], rules, estimands, budget)
    return share_evidence(record, results[reading["estimand"], reading["rule"]], budget.repetitions)


def covered(column: str, budget: SimulationBudget, max_epsilon: float = math.inf) -> FloatArray:
    """Return coverage in per cent and its error in a column of both halves, shape (2, cells)."""
    cells = [r for r in load_records("Liu (2016)") if r.key.startswith("table") and not r.is_alternative]
    cells = [cell for cell in cells if cell.what == column and float(cell.parameters["epsilon"]) <= max_epsilon]
    results = [table_cell(cell, budget) for cell in cells]
    return 100 * np.array([(result.value, result.own_error) for result in results], float).T


def section_5_2(budget: SimulationBudget) -> Findings:
    """Table 1 as a whole."""
    coverage, errors = covered("liu_thm7", budget)
    yield "nominal", values(coverage, (np.abs(coverage - 95) < 1.5 + 3 * errors).all())
    coverage, errors = covered("rubin", budget)
    yield "conservative", values(coverage, (coverage + 3 * errors > 99).all())
    coverage, _ = covered("raab", budget, max_epsilon=1.0)
    yield "raab_under", values(coverage, coverage.min() < 85)
    is_near = np.abs(covered("raghunathan", budget)[0] - 95) < 1.5
    yield "hardly", values([is_near.sum(), is_near.size], is_near.mean() <= 0.1)
    yield "single_under", between(covered("single", budget)[0], high=85)
    yield "raab_b", evidence.CONTRADICTED


def arithmetic() -> Findings:
    """Numbers in the text, communal sanitization, and Gaussian noise."""
    yield "width", values(6 / 20, math.isclose(6 / 20, 3 / 10))
    yield "draws", 1 / (0.1 * 3 / 10)
    yield "gap", values(1 / 6, 0.1 >= 1 / 6)
    yield "outside", 200 * ndtr(-4.0)
    data = normal_data(100, kind=UnknownVariance)
    mean, variance, *_ = methods.MODIPS_COMMUNAL.noise_scales(data, 1.0).values()
    share = methods.MODIPS_SPLIT.usual_shares(data)["one noise for both, communal"]
    yield "communal", values([share, mean], math.isclose(mean, variance))

    # The mean and s² of five rows, none to all of them at the upper bound and the rest at the lower one
    tables = 8.0 * np.tri(6, 5, -1) - 4.0
    steps = [np.abs(np.diff(moment)).max() for moment in (tables.mean(axis=1), tables.var(axis=1, ddof=1))]
    moved = between(np.divide(steps, (8 / 5, 8**2 / 5)), 1 - 1e-9, 1 + 1e-9)
    yield from dict.fromkeys(("steps_known", "steps_unknown"), moved).items()

    # By Satterthwaite the degrees of freedom are T² over (b/m)²/(m − 1)
    b = np.geomspace(0.01, 100, 5)
    shares = (1 + N_SETS / b) ** 2 / (PROPOSED.total(b, np.ones(5), N_SETS, 1.0) / (b / N_SETS)) ** 2
    yield "degrees", between(shares, 1 - 1e-9, 1 + 1e-9)

    # The sensitivity is 1: a release moves by 1/σ standard deviations
    promises = list(product((0.1, 0.5, 0.99), (1e-3, 1e-6, 1e-9)))
    ratios = [(epsilon / math.sqrt(2 * math.log(1.25 / delta)), epsilon, delta) for epsilon, delta in promises]
    yield "classical", between([gaussian_delta(ratio, epsilon) / delta for ratio, epsilon, delta in ratios], high=1)

    # The log-odds are normal with mean 1/(2σ²) and variance 1/σ²
    epsilon, delta = np.transpose(promises)
    quantile = ndtri(delta / 2)
    sigma = (np.sqrt(quantile**2 + 2 * epsilon) - quantile) / (2 * epsilon)
    exceeds = ndtr(1 / (2 * sigma) - epsilon * sigma) + ndtr(-1 / (2 * sigma) - epsilon * sigma)
    yield "probabilistic", between(exceeds / delta, high=1)


# Section 5.1: one proportion against the number of sets, at ε = 1


def clipped_bias(n: int, p: float, sets: int) -> float:
    """E[p̄*] − p with BIT, at ε = 1 for all sets: E[x̃/n | p*] = (1 + n p*)/(n + 2), p* = x/n + noise, set to 0 and 1.

    >>> round(clipped_bias(100, 0.1, 201), 3)
    0.316
    """
    scale, share = sets / n, np.arange(n + 1) / n
    clipped = share + scale / 2 * (np.exp(-share / scale) - np.exp(-(1 - share) / scale))
    return float(binomial_weights(np.array([p]), n)[0] @ ((1 + n * clipped) / (n + 2))) - p


@lru_cache(maxsize=1024)
def exact_moments(mechanism: TwoCellSynthesizer, p: float) -> tuple[float, float, float, float]:
    """Return E[q̄], Var(E[q̄ | x]), E[b] and E[v̄], exactly: given x the sets are independent."""
    weights, moments = binomial_weights(np.array([p]), mechanism.n)[0], share_moments(mechanism)
    mean = float(weights @ moments.mean)
    within = (moments.mean * (1 - moments.mean) - moments.variance) / mechanism.m
    squares = (moments.mean - mean) ** 2
    return mean, float(weights @ squares), float(weights @ moments.variance), float(weights @ within)


@cache
def binary_variance(rule: str, n: int, p: float, sets: int, epsilon: float = 1.0) -> float:
    """Return T of a rule at the expected b and ϖ, exactly."""
    *_, mean_between, within = exact_moments(Modips(n=n, m=n, epsilon=epsilon / sets), p)
    return float(COMBINING_RULES[rule].total(np.array(mean_between), np.array(within), sets, 1.0))


def section_5_1() -> Findings:
    """Exact bias, standard error and coverage."""
    yield "sure_bias", clipped_bias(100, 0.1, 201)
    yield "minimal_bias", between([max(clipped_bias(n, 0.1, m) for m in SETS_EXAMINED) for n in SIZES], high=0.01)
    variances = np.array([[binary_variance(THEOREM_7, 100, p, sets) for sets in SETS_EXAMINED] for p in SHARES])
    yield "lowest_sd", between(np.take(SETS_EXAMINED, np.argmax(np.diff(variances) > 0, axis=1)), 30, 40)
    ratios = np.sqrt(variances / [[p * (1 - p) / 100] for p in SHARES])
    row, column = np.unravel_index(ratios.argmin(), ratios.shape)
    yield "sd_larger", values([ratios.min(), SHARES[row], SETS_EXAMINED[column]], ratios.min() >= 1)

    mechanisms = [(kind(n=n, m=n, epsilon=0.5), p) for kind, n, p in product((Modips, ModipsTruncated), SIZES, SHARES)]
    shares = [exact_coverage(synthesizer=law, p=p, sets=2, rule=THEOREM_7).coverage for law, p in mechanisms]
    yield "two_sets", between(100 * np.array(shares), 91, 94)

    settings = product(SIZES, SHARES, (N_SETS,), (0.5, 1.0))
    variances = np.array([[binary_variance(rule, *setting) for rule in RULE_ORDER] for setting in settings])
    yield "fig7_binary", count((np.diff(variances) <= 0).all(axis=1))
    private, exact = (math.sqrt(binary_variance(RAAB, 1_000, 0.5, N_SETS, epsilon)) for epsilon in (0.5, 100.0))
    yield "fig7_constant", values([private, exact], 0.9 <= private / exact <= 1.1)


def normal_mean(method: NumericMethod, data: NormalData, sets: int, budget: SimulationBudget) -> OutcomeMeasures:
    """Return what Theorem 7 makes of the mean at ε = 1; of many sets by fewer repetitions."""
    budget = budget.at_most(max(budget.repetitions // max(sets // 10, 1), 10))
    return simulate_numeric(data, method, 1.0, ("mean",), budget, sets)["mean"]


def simulated_means(budget: SimulationBudget) -> Findings:
    """Coverage of 201 sets of binary data, and normal data of 100 rows."""
    runs = min(budget.repetitions, 1_000)
    releases = draw_releases(Modips(n=100, m=100, epsilon=1 / 201), 0.1, 201, runs, budget.seed)
    share = sum(chance @ contains(*PROPOSED.ends(statistics, 0.95), 0.1) for chance, statistics in releases)
    yield "severe", between(100 * share, high=85)

    compared = methods.MODIPS_MEAN_TRUNCATED, methods.MODIPS_MEAN
    coverages = [normal_mean(method, normal_data(100), 2, budget).coverage for method in compared[::-1]]
    shares = 100 * np.array([(coverage.value, coverage.error) for coverage in coverages])
    yield "normal_two", values(shares, (np.abs(shares[:, 0] - 91) < 2 + 3 * shares[:, 1]).all())

    even, uneven = (normal_mean(methods.MODIPS_MEAN, normal_data(100, high), 40, budget).bias for high in (4.0, 5.0))
    is_so = abs(even.value) < 4 * even.error and uneven.value > 0.05
    yield "normal_bias", values([even.value, even.error, uneven.value, uneven.error], is_so)

    # Widths at the printed peaks, 20 and 40 sets, over the largest
    ratios, is_so = [], True
    for method, peak in zip(compared, (20, 40), strict=True):
        widths = {sets: normal_mean(method, normal_data(100), sets, budget).mean_width for sets in (5, 10, 20, 40, 80)}
        sets, largest = max(widths.items(), key=lambda item: item[1].value)
        ratios += [widths[peak].value / largest.value, sets]
        is_so &= widths[peak].value > 0.9 * largest.value - 3 * largest.error
    yield "peaks", values(ratios, is_so)

    split = [methods.MODIPS_SPLIT.with_share(share) for share in (0.1, 0.5, 0.9)]
    data = normal_data(100, kind=UnknownVariance)
    half_widths = [normal_mean(method, data, N_SETS, budget).mean_width.value / 2 for method in split]
    yield "narrower", evidence.decreasing([*half_widths, 1.96 / math.sqrt(100)])


# Figures 6 to 8


def lines(figure: int, measure: str, setting: str = "", low: float = 0.0, high: float = math.inf) -> pd.DataFrame:
    """Return the lines of a figure between two places of the axis, by setting and x."""
    return evidence.curves("liu", f"Figure {figure}", measure, setting).y.query("@low <= x <= @high")


def figure_6() -> Findings:
    """Standard error and coverage against the number of sets."""
    normal = "normal data, n = 100, bounds −4 and 4"
    for key, setting, points in (("cp_binary", "binary", 2), ("cp_normal", normal, 4)):
        yield key, count(abs(100 * lines(6, "coverage", setting) - 95) < points, share=0.75)
    yield "good_choice", between(100 * lines(6, "coverage", low=3, high=10), low=92)
    shares, errors = (table.query("x > 40") for table in evidence.curves("liu", "Figure 6", "coverage", normal))
    yield "over_covered", values(100 * shares.min(), (shares > 0.95 - 3 * errors).all(axis=None))

    # Beyond 40 sets it is constant within a tenth, and within 15 % of the original
    spreads = lines(6, "standard_error", "binary data, n = 1,000", low=41)["modips"].to_numpy().reshape(2, -1)
    ratios = spreads / np.sqrt([[p * (1 - p) / 1_000] for p in SHARES])
    lowest, highest = ratios.min(axis=1), ratios.max(axis=1)
    is_so = (highest < 1.1 * lowest).all() and (lowest < 1.15).all()
    yield "constant_spread", values(np.transpose([lowest, highest]), is_so)

    peaks = lines(6, "standard_error", "normal data, n = 1,000, bounds −4 and 4").droplevel("setting")
    is_near = peaks > 0.9 * peaks.max()
    is_so = is_near.at[50, "modips_truncated"] and is_near.at[150, "modips"]
    yield "late_peaks", values(peaks.idxmax()[["modips_truncated", "modips"]], is_so)

    # Up to which number of sets the coverage is not below 85 %; 20, 40 and 150 are printed
    last = []
    for n, key in product(("100", "1,000"), ("modips_truncated", "modips")):
        share = lines(6, "coverage", f"normal data, n = {n}, bounds −4 and 5")[key].droplevel("setting")
        last.append(share.index[share >= 0.85].max())
    yield "severe_normal", values(last, (np.array(last) <= (20, 40, 150, 150)).all())


def rule_ratios(data: str, rule: str, reference: str, above: float) -> pd.Series:
    """Return the ratios of two rules at the ε of Table 1 above a number."""
    spreads = lines(7, "standard_error", data).query("x > @above and x in [0.5, 1, 10, 100]")
    return spreads[rule] / spreads[reference]


def figure_7() -> Findings:
    """Standard errors by four rules against ε."""
    yield "similar_1", between(rule_ratios("binary", THEOREM_7, RAAB, 1), 0.85, 1.15)
    yield "similar_2", between(rule_ratios("binary", RAGHUNATHAN, THEOREM_7, 1), 0.85, 1.15)
    yield "similar_3", between(rule_ratios("normal", THEOREM_7, RAAB, 10), 0.85, 1.15)
    largest = [rule_ratios(data, RUBIN, RAGHUNATHAN, 50).max() for data in ("binary", "normal")]
    yield "more_in_binary", evidence.decreasing(largest)

    # Normal data: at ε = 100 for 10 rows, and above 10 for 100
    spreads = lines(7, "standard_error", "normal")[[*RULE_ORDER]]
    ratios = (spreads.max(axis=1) / spreads.min(axis=1)).unstack("setting")
    largest = [ratios["normal data, n = 10"].loc[100:].max(), ratios["normal data, n = 100"].loc[11:].max()]
    yield "all_alike", between(largest, high=1.2)
    by_setting = spreads[RAAB].groupby("setting")
    yield "constant_normal", between(by_setting.max() / by_setting.min(), high=1.2)
    rubin, raghunathan, theorem, raab = spreads.to_numpy().T
    ratio, is_so = (raghunathan / rubin).min(), (raghunathan >= theorem) & (theorem >= raab)
    yield "normal_order", values([ratio, is_so.sum(), is_so.size], ratio > 0.9 and is_so.all())


def relative_widths(n: int, low: float) -> pd.DataFrame:
    """Return mean widths over that of the confidential data, 2 · 1.96/√n, from some share w on."""
    return lines(8, "mean_width", f"n = {n:,},", low)[BOUNDED] * math.sqrt(n) / (2 * 1.96)


def figure_8() -> Findings:
    """Bias, coverage and width against the share w of ε that the mean has."""
    biases, errors = evidence.curves("liu", "Figure 8", "bias")
    yield "barely", between((biases / errors).abs().filter(like="−4 and 4", axis=0).max(axis=None), high=4)
    # Obvious at w = 0.1, less at 0.5, and within a half of each other above
    bias = lines(8, "bias", "n = 100, bounds −4 and 5")[BIT].to_numpy()
    yield "bias_falls", values(bias[::2], bias[0] > max(0.05, bias[4]) and max(bias[5:]) < 1.5 * min(bias[5:]))
    settings = ("n = 100,", 0.1), ("n = 1,000,", 0.6)
    yield "truncation_under", between([100 * lines(8, "coverage", *of)[TRUNCATED].max() for of in settings], high=94)
    yield "budget_covered", between(100 * lines(8, "coverage", low=0.5)[BIT], low=93)
    yield "close_width", between(relative_widths(1_000, 0.6), high=1.5)
    yield "larger_width", between([relative_widths(n, 0.1) for n in SIZES], low=1)
    first, last = evidence.curves("liu", "Figure 8", "mean_width").ends
    yield "larger_w", between(last / first, high=1)


evidence.CELL_CHECKS["liu", "table_binary"] = evidence.CELL_CHECKS["liu", "table_normal"] = table_cell
evidence.SECTIONS["liu"] = [section_5_2, arithmetic, section_5_1, simulated_means, figure_6, figure_7, figure_8]
