"""What Bowen & Liu (2016) print of their three studies: shares of usable releases, and statements.

Source: C. M. Bowen and F. Liu, Differentially private data synthesis methods, 2016, with its supplement.
"""

import math
from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import partial
from itertools import pairwise, product

import numpy as np
from scipy.stats import chi2

from dpviz.comparisons import Analysis, BinaryData, MixedData, UnknownVariance
from dpviz.comparisons.analysis import OutcomeMeasures
from dpviz.comparisons.mixed import LARGEST_SHARE, SMALLEST_SHARE
from dpviz.comparisons.numeric_releases import MODIPS_COMMUNAL, MODIPS_SPLIT, uniform_share
from dpviz.core.formatting import format_number
from dpviz.core.monte_carlo import Measure
from dpviz.core.types import FloatArray
from dpviz.privacy.histograms import SCOTT_FACTOR
from dpviz.published.records import Record
from tests.reproduction import evidence
from tests.reproduction.evidence import Evidence, Lines, SimulationBudget, between, check, check_each, count_supported
from tests.reproduction.studies import ANALYSIS, BINARY_METHODS, N_SETS, STUDY_3, at_most, simulate_numeric

SIZES, LOGS = (40, 100, 1_000), (-2.0, 0.0, 2.0)
ERROR = "root_mean_squared_error"
BY_BIAS = "laplace", "modips", "modips_truncated", "posterior_mean", "beta_binomial"  # from the best to the worst
PRIVATE = "laplace", "modips", "modips_truncated", "beta_binomial"
MODELS = SPLIT, COMMUNAL = "modips_split", "modips_communal"
HISTOGRAMS = PERTURBED, SMOOTHED = "perturbed_histogram", "smoothed_histogram"
CELLS = CELL_MODIPS, CELL_HISTOGRAM = "modips_printed", "perturbed_cells"
NUMERIC_METHODS = {method.key: method for method in (*UnknownVariance.methods, *MixedData.methods)}
claim = partial(check, "bowen_liu")


# Supplement, Table 1


def usable_before_rounding(n: int, p: float, epsilon: float) -> float:
    """Pr(0 < x + Laplace(1/ε) < n) = 1 − ½E[e^{−εx}] − ½E[e^{−ε(n−x)}], x ~ Binomial(n, p).

    That is how the paper counts the usable releases of its Laplace sanitizer. What it releases is rounded.

    >>> round(usable_before_rounding(100, 0.02, 0.5), 4)
    0.7731
    """
    rest = -math.expm1(-epsilon)
    below, above = (1 - p * rest) ** n, (1 - (1 - p) * rest) ** n
    return max(1 - (below + above) / 2, 0.0)


@check_each("bowen_liu", "usable_shares")
def usable_share(record: Record, _: SimulationBudget) -> Evidence:
    """Exact share of usable releases; the error is the paper's."""
    key, _comma, column = record.what.rpartition(", ")
    data = BinaryData(n=int(record.parameters["n"]), p=float(record.parameters["p"]))
    epsilon, method = math.exp(int(column.removeprefix("ln_epsilon="))), BINARY_METHODS.get(key)
    if method:
        share = method.usable_share(data, epsilon, method.sets(N_SETS))
    else:
        share = usable_before_rounding(data.n, data.p, epsilon)
    return Evidence(share, standard_error=math.sqrt(share * (1 - share) / evidence.PRINTED_REPETITIONS))


# Study 1: one proportion


def accuracy(key: str, n: int, p: float, epsilon: float) -> tuple[float, float]:
    """Exact bias and root mean squared error."""
    return BinaryData(n=n, p=p).accuracy(BINARY_METHODS[key], epsilon, ANALYSIS)


def coverage(key: str, p: float, log: float, budget: SimulationBudget) -> Measure:
    """Coverage for 40 rows at ε = e^log, exact where the sums are short enough."""
    analysis = Analysis(sets=N_SETS, repetitions=min(budget.repetitions, 2_000), seed=budget.seed)
    *_, outcome = BinaryData(n=40, p=p).outcomes(BINARY_METHODS[key], math.exp(log), math.exp(log), analysis)
    return outcome.coverage


def listed(values: Mapping[str, float], unit: str = "") -> str:
    """Return values with the labels of their methods."""
    parts = (f"{BINARY_METHODS[key].label} {format_number(value, 4)}{unit}" for key, value in values.items())
    return f"{'; '.join(parts)}."


# "the bias remained large regardless of n": above 0.1
claim("prior_bias")(lambda _: between([accuracy(key, n, 0.25, 1.0)[0] for key in BY_BIAS[3:] for n in SIZES], low=0.1))


@claim("half_over")
def _(budget: SimulationBudget) -> Evidence:
    ratio = accuracy("beta_binomial", 40, 0.5, 1.0)[1] / accuracy("original", 40, 0.5, 1.0)[1]
    covered = 100 * coverage("beta_binomial", 0.5, 0.0, budget).value
    text = f"{format_number(ratio, 3)} times the error of the original; coverage {format_number(covered, 4)} %."
    return Evidence(text, ratio < 1 and covered > 95)


@claim("order")
def _(_: SimulationBudget) -> Evidence:
    settings = product(SIZES, (0.15, 0.25), (math.exp(-2.0), 1.0, math.e))
    biases = [[accuracy(key, *setting)[0] for key in BY_BIAS] for setting in settings]
    return count_supported((np.diff(biases) >= 0).all(axis=1), "settings")


@claim("approached")
def _(_: SimulationBudget) -> Evidence:
    """Multiple synthesis rather than the original by Laplace and modips, and not by MD."""
    keys = "original", "multiple_synthesis", "laplace", "modips", "beta_binomial"
    errors = {key: accuracy(key, 100, 0.25, math.exp(6.0))[1] for key in keys}
    original, synthesis, *references = errors.values()
    is_nearer = [abs(error - synthesis) < abs(error - original) for error in references]
    return Evidence(listed(errors), is_nearer == [True, True, False])


@claim("proper")
def _(budget: SimulationBudget) -> Evidence:
    cases = []
    for p, log in product((0.15, 0.25, 0.5), (-4.0, 0.0, 1.0, 3.0)):
        covered = {key: coverage(key, p, log, budget) for key in BY_BIAS}
        distances = {key: abs(results.value - 0.95) - 2 * results.error for key, results in covered.items()}
        cases.append(distances["modips"] <= min(distances.values()))
    return count_supported(cases, "settings")


@claim("dp_prior")
def _(budget: SimulationBudget) -> Evidence:
    covered = {key: coverage(key, 0.25, 5.0, budget) for key in BY_BIAS}
    near = {key for key, results in covered.items() if abs(results.value - 0.95) < 0.03 + 3 * results.error}
    text = listed({key: 100 * results.value for key, results in covered.items()}, " %")
    return Evidence(text, near == set(BY_BIAS) - {"posterior_mean"})


# Bins of histograms


def median_bins(n: int, span: float, factor: float = SCOTT_FACTOR, power: float = 1 / 3) -> int:
    """Median of K = ⌈span σ/h⌉ with Scott's h = factor s n^−power; s² of n normal rows is χ² with n − 1 degrees.

    K ≤ k where s ≥ span σ/(factor n^−power k).

    >>> [median_bins(n, 7.0) for n in (40, 100, 1000)]
    [7, 10, 21]
    """
    bins = np.arange(1, 200)
    smallest = span / (factor * n**-power * bins)
    return int(bins[np.argmax(chi2.sf((n - 1) * smallest**2, n - 1) >= 0.5)])


SCOTT_IN_TWO_DIMENSIONS = 3.5, 1 / 4
claim("bins40")(lambda _: Evidence(float(median_bins(40, 7.0))))
claim("bins100")(lambda _: Evidence(float(median_bins(100, 7.0))))
claim("bins1000")(lambda _: Evidence(float(median_bins(1_000, 7.0))))
claim("squares_low")(lambda _: Evidence(float(median_bins(SMALLEST_SHARE, 8.0, *SCOTT_IN_TWO_DIMENSIONS) ** 2)))
claim("squares_high")(lambda _: Evidence(float(median_bins(LARGEST_SHARE, 8.0, *SCOTT_IN_TWO_DIMENSIONS) ** 2)))
claim("squares_low_1")(lambda _: Evidence(float(median_bins(SMALLEST_SHARE, 8.0) ** 2)))
claim("squares_high_1")(lambda _: Evidence(float(median_bins(LARGEST_SHARE, 8.0) ** 2)))
# "the smoothed histogram performed worse for larger n": the share of the uniform distribution
claim("smoothed_worse")(lambda _: evidence.increasing([uniform_share(median_bins(n, 7.0), n, 1.0) for n in SIZES]))


# Study 2: normal data


def normal_study(key: str, n: int, log: float, budget: SimulationBudget, low: float) -> dict[str, OutcomeMeasures]:
    """Measures of mean and variance at ε = e^log, by at most 500 repetitions."""
    data = UnknownVariance(n=n, mean=0.0, sigma=1.0, low=low, high=4.0)
    return simulate_numeric(data, NUMERIC_METHODS[key], math.exp(log), ("mean", "variance"), at_most(budget, 500))


def measured(
    keys: Iterable[str], estimand: str, measure: str, budget: SimulationBudget, *, low: float = -3.0,
    logs: Sequence[float] = LOGS,
) -> tuple[FloatArray, FloatArray]:  # fmt: skip
    """Return a measure and its errors, shape (methods, settings), for every size at each ε."""
    results = [
        [getattr(normal_study(key, n, log, budget, low)[estimand], measure) for n, log in product(SIZES, logs)]
        for key in keys
    ]
    values, errors = np.moveaxis(np.array([[(item.value, item.error) for item in row] for row in results]), -1, 0)
    return values, errors


def smaller_error(pair: tuple[str, str], estimand: str, budget: SimulationBudget) -> Evidence:
    """Support a statement that the first method has the smaller error everywhere, or is undecided by 2 errors."""
    (first, second), errors = measured(pair, estimand, ERROR, budget)
    return count_supported(first < second + 2 * np.hypot(*errors), "settings")


claim("split_better")(lambda budget: smaller_error(MODELS, "mean", budget))
claim("perturbed_better")(lambda budget: smaller_error(HISTOGRAMS, "variance", budget))


@claim("positive")
def _(budget: SimulationBudget) -> Evidence:
    biases, errors = measured((*MODELS, *HISTOGRAMS), "mean", "bias", budget)
    return between(biases / errors, low=-4, unit=" standard errors")


@claim("symmetric")
def _(budget: SimulationBudget) -> Evidence:
    biases, errors = measured((*MODELS, *HISTOGRAMS), "mean", "bias", budget, low=-4.0, logs=[0.0])
    return between(biases / errors, -4, 4, " standard errors")


@claim("best")
def _(budget: SimulationBudget) -> Evidence:
    values, _ = measured((*MODELS, *HISTOGRAMS), "mean", ERROR, budget)
    return count_supported(values[:2].max(axis=0) < values[2:].min(axis=0), "settings")


@claim("precise")
def _(budget: SimulationBudget) -> Evidence:
    """No histogram has a larger error than a model, beyond three standard errors."""
    values, errors = measured((*MODELS, *HISTOGRAMS), "mean", ERROR, budget, low=-4.0, logs=[0.0])
    tolerance = 3 * np.hypot(errors[:2, None], errors[None, 2:])
    return count_supported((values[:2, None] + tolerance >= values[None, 2:]).all(axis=(0, 1)), "sizes")


@claim("nonsplit_variance")
def _(_: SimulationBudget) -> Evidence:
    data = UnknownVariance(n=100, mean=0.0, sigma=1.0, low=-3.0, high=4.0)
    split, communal = (method.noise_scales(data, 1.0) for method in (MODIPS_SPLIT, MODIPS_COMMUNAL))
    parts = (f"{name}: {format_number(split[name])} and {format_number(communal[name])}" for name in split)
    supported = split["the mean"] < communal["the mean"] and communal["the variance"] < split["the variance"]
    return Evidence(f"Split and not split, {'; '.join(parts)}.", supported)


# Study 3: mixed data


def mixed_study(estimand: str, measure: str, budget: SimulationBudget) -> tuple[FloatArray, FloatArray]:
    """Return a measure and its errors, shape (methods, 2), of modips and the histogram at ε = 1 and e²."""
    data, both, budget = MixedData(**STUDY_3), ("half", "cell_variance"), at_most(budget, 100)
    results = [
        [simulate_numeric(data, NUMERIC_METHODS[key], math.exp(log), both, budget)[estimand] for log in (0.0, 2.0)]
        for key in CELLS
    ]
    items = [[getattr(item, measure) for item in row] for row in results]
    values, errors = np.moveaxis(np.array([[(item.value, item.error) for item in row] for row in items]), -1, 0)
    return values, errors


@claim("mixed_variance")
def _(budget: SimulationBudget) -> Evidence:
    (modips, histogram), _ = mixed_study("cell_variance", ERROR, budget)
    return between(modips / histogram, 0, 0.5, " times the error")


@claim("mixed_share")
def _(budget: SimulationBudget) -> Evidence:
    (modips, histogram), errors = mixed_study("half", ERROR, budget)
    return count_supported(histogram <= modips + 3 * np.hypot(*errors), "ε")


claim("mixed_covered")(
    lambda budget: between(100 * mixed_study("cell_variance", "coverage", budget)[0][1], 0, 50, " %")
)


# Figures

panels = partial(evidence.lines, "bowen_liu")


def by_size(place: str, measure: str) -> Iterator[tuple[Lines, Lines]]:
    """Yield the panels of each p with fewer and with more rows."""
    figure = panels(place, measure)
    for start in range(0, len(figure), len(SIZES)):
        yield from pairwise(figure[start : start + len(SIZES)])


def nearer(
    place: str, measure: str, keys: Iterable[str], references: Sequence[str], setting: str = "", target: float = 0.0,
    share: float = 1.0,
) -> Evidence:  # fmt: skip
    """Support a statement that some lines are nearer to a target than others at a share of all points, up to chance."""
    cases = [
        np.abs(panel.y(key) - target) <= np.abs(panel.y(reference) - target) + panel.tolerance(key, reference)
        for panel, key, reference in product(panels(place, measure, setting), keys, references)
    ]
    return count_supported(np.concatenate(cases), "points", share)


def approach(place: str, keys: Sequence[str], exceptions: Sequence[str] = ()) -> Evidence:
    """Errors fall with ε and end within a tenth of the original or multiple synthesis; those of exceptions do not."""

    def ends_near(panel: Lines, key: str) -> bool:
        references = [panel.y(reference)[-1] for reference in ("original", "multiple_synthesis")]
        return any(abs(panel.y(key)[-1] / reference - 1) < 0.1 for reference in references)

    cases: list[bool] = []
    for panel in panels(place, ERROR):
        cases += [panel.y(key)[-1] < panel.y(key)[0] for key in keys]
        cases += [ends_near(panel, key) for key in keys]
        cases += [not ends_near(panel, key) for key in exceptions]
    return count_supported(cases, "cases")


def lowest(place: str, setting: str, keys: Iterable[str]) -> FloatArray:
    """Return the lowest coverage of each line in per cent."""
    return 100 * np.array([panel.y(key).min() for panel in panels(place, "coverage", setting) for key in keys])


VARIANCE = "supplement, Figures 8 and 9"
claim("approach")(lambda _: approach("Figure 2", PRIVATE, ["posterior_mean"]))
claim("approach_2")(lambda _: approach("Figure 4", (*MODELS, PERTURBED)))
claim("histograms_precise")(lambda _: nearer("Figure 4", ERROR, HISTOGRAMS, MODELS))
claim("quicker")(lambda _: nearer("Figure 4", "bias", [PERTURBED], [SMOOTHED], share=0.5))
claim("variance_precise")(lambda _: nearer(VARIANCE, ERROR, MODELS, HISTOGRAMS))
claim("variance_covered")(lambda _: nearer(VARIANCE, "coverage", MODELS, HISTOGRAMS, target=0.95, share=0.95))
claim("marginals_precise")(lambda _: nearer("Figure 6", ERROR, [CELL_HISTOGRAM], [CELL_MODIPS], "6"))
claim("symmetric_covered")(
    lambda _: between(lowest("supplement, Figures 4 to 7", "μ", HISTOGRAMS), 93, 100, " % at the lowest")
)
claim("marginals_covered")(lambda _: between(lowest("Figure 6", "6", CELLS), 91, 100, " % at the lowest"))


@claim("small_epsilon")
def _(_: SimulationBudget) -> Evidence:
    """A bias above 0.01, and an error more than twice that of the original."""
    biased = [abs(panel.y(key)[0]) > 0.01 for panel in panels("Figure 2", "bias") for key in PRIVATE]
    errs = [panel.y(key)[0] > 2 * panel.y("original")[0] for panel in panels("Figure 2", ERROR) for key in PRIVATE]
    return count_supported([*biased, *errs], "lines")


@claim("more_rows")
def _(_: SimulationBudget) -> Evidence:
    pairs = product(by_size("Figure 2", ERROR), PRIVATE[:2])
    return count_supported(
        [np.all(larger.y(key) <= smaller.y(key) * (1 + 1e-6)) for (smaller, larger), key in pairs], "comparisons"
    )


@claim("best_at_half")
def _(_: SimulationBudget) -> Evidence:
    half = panels("supplement, Figure 1", "bias")
    cases = [
        np.all(np.abs(half[i % len(half)].y(key)) <= np.abs(panel.y(key)) + 1e-9)
        for i, panel in enumerate(panels("Figure 2", "bias"))
        for key in PRIVATE
    ]
    return count_supported(cases, "lines")


@claim("truncation_larger")
def _(_: SimulationBudget) -> Evidence:
    cases = []
    for panel in panels("Figure 2", ERROR):
        modips, truncated, plug_in = (panel.y(key) for key in ("modips", "modips_truncated", "posterior_mean"))
        cases.append((modips <= truncated) & (truncated <= plug_in))
    return count_supported(cases, "points")


@claim("switched")
def _(_: SimulationBudget) -> Evidence:
    larger = [panel.y("laplace") > panel.y("beta_binomial") for panel in panels("Figure 2", ERROR)]
    return count_supported([case.any() and not case.all() for case in larger], share=0.01)


@claim("modips_under")
def _(_: SimulationBudget) -> Evidence:
    keys = "modips", "modips_truncated"
    covered = [100 * panel.y(key)[0] for panel in panels("Figure 3", "coverage") for key in keys]
    return between(covered, 0, 95, " %")


@claim("fewer_rows_cover")
def _(_: SimulationBudget) -> Evidence:
    pairs = product(by_size("Figure 3", "coverage"), ("laplace", "modips_truncated", "beta_binomial", "posterior_mean"))
    at = 4  # ε = e⁻²
    cases = [smaller.y(key)[at] >= larger.y(key)[at] - smaller.tolerance(key)[at] for (smaller, larger), key in pairs]
    return count_supported(cases, "comparisons")


@claim("histograms_under")
def _(_: SimulationBudget) -> Evidence:
    covered = lowest("Figure 5", "μ, n = 1,000", (*MODELS, *HISTOGRAMS))
    text = ", ".join(format_number(low, 3) for low in covered.tolist())
    supported = min(covered[:2]) > 91 > max(covered[2:])
    return Evidence(
        f"At the lowest {text} %: modips split and not, the perturbed and the smoothed histogram.", supported
    )


@claim("cell_means")
def _(_: SimulationBudget) -> Evidence:
    figure = (*panels("Figure 6", "bias", "24"), *panels("Figure 6", ERROR, "24"))
    medians = np.array([[np.nanmedian(np.abs(panel.y(key))) for key in CELLS] for panel in figure])
    return between(medians[:, 0] / medians[:, 1], 0, 0.5, " times the median")


@claim("cells_covered")
def _(_: SimulationBudget) -> Evidence:
    """A box plot shows a median and, at the end of its box, the lower quartile."""
    figure = panels("Figure 6", "coverage", "24")
    median = 100 * float(np.min([np.nanmedian(panel.y(CELL_MODIPS)) for panel in figure]))
    quartile = 100 * float(np.nanquantile(figure[0].y(CELL_HISTOGRAM), 0.25))
    text = f"The lowest median of modips is {format_number(median, 3)} %; the lower quartile of the histogram at the "
    return Evidence(f"{text}smallest ε is {format_number(quartile, 3)} %.", median > 93 > quartile)


@claim("cells_converge")
def _(_: SimulationBudget) -> Evidence:
    last = panels("Figure 6", ERROR, "24")[-1]
    pairs = (CELL_MODIPS, "multiple_synthesis"), (CELL_HISTOGRAM, "original")
    ratios = [np.nanmedian(last.y(key)) / np.nanmedian(last.y(reference)) for key, reference in pairs]
    return between(ratios, 0.9, 1.1, " times the median error")
