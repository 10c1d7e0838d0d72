"""Checks of Bowen & Liu, Differentially private data synthesis methods (2016), and of promises there and in Liu's."""

import math
from collections.abc import Sequence
from functools import cache, lru_cache, partial
from itertools import product
from typing import Any, NamedTuple

import numpy as np
import pandas as pd
from scipy.stats import chi2

from dpviz.audit.release_audit import audit_releases
from dpviz.audit.release_losses import ReleaseSetting
from dpviz.comparisons import Analysis, BinaryData, MixedData, UnknownVariance
from dpviz.comparisons.analysis import OutcomeMeasures
from dpviz.comparisons.methods import NumericMethod
from dpviz.comparisons.mixed import LARGEST_SHARE, SMALLEST_SHARE
from dpviz.comparisons.numeric_data import NormalData, NumericStudy
from dpviz.comparisons.numeric_releases import MODIPS_COMMUNAL, MODIPS_SPLIT
from dpviz.comparisons.proportion import BinaryMethod
from dpviz.core.formatting import format_number
from dpviz.core.monte_carlo import Measure
from dpviz.core.types import FloatArray
from dpviz.privacy.histograms import SCOTT_FACTOR, uniform_share
from dpviz.published.records import Record
from tests.reproduction import evidence
from tests.reproduction.evidence import Evidence, Findings, SimulationBudget, between, count, values

N_SETS = 10  # of a method that releases several; they share ε
ANALYSIS = Analysis(sets=N_SETS)
N_CELLS = 24
STANDARD = {"mean": 0.0, "sigma": 1.0, "low": -4.0, "high": 4.0}  # N(0, 1) between its bounds
STUDY_3: dict[str, Any] = {**STANDARD, "n": 1_000, "correlation": 0.5, "cells": N_CELLS}
SIZES = (40, 100, 1_000)
ERROR = "root_mean_squared_error"
BY_BIAS = ["laplace", "modips", "modips_truncated", "posterior_mean", "beta_binomial"]  # from the best to the worst
PRIVATE = ["laplace", "modips", "modips_truncated", "beta_binomial"]
REFERENCES = ["original", "multiple_synthesis"]
MODELS = SPLIT, COMMUNAL = ["modips_split", "modips_communal"]
HISTOGRAMS = PERTURBED, SMOOTHED = ["perturbed_histogram", "smoothed_histogram"]
CELLS = CELL_MODIPS, CELL_HISTOGRAM = ["modips_printed", "perturbed_cells"]
BINARY_METHODS = {method.key: method for method in BinaryData.methods if isinstance(method, BinaryMethod)}
NUMERIC_METHODS = {method.key: method for method in (*UnknownVariance.methods, *MixedData.methods)}
curves = partial(evidence.curves, "bowen_liu")


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


def usable_share(record: Record, _: SimulationBudget) -> Evidence:
    """Exact share of usable releases; the error is the paper's."""
    key, _comma, column = record.what.rpartition(", ")
    data = BinaryData(n=int(record.parameters["n"]), p=float(record.parameters["p"]))
    epsilon, method = math.exp(int(column.removeprefix("ln_epsilon="))), BINARY_METHODS.get(key)
    share = usable_before_rounding(data.n, data.p, epsilon)  # of their Laplace sanitizer
    if method:
        share = method.usable_share(data, epsilon, method.sets(N_SETS))
    return Evidence(share, standard_error=math.sqrt(share * (1 - share) / evidence.PRINTED_REPETITIONS))


@cache
def promises() -> dict[tuple[str, str], Evidence]:
    """Return what the methods of either paper really give 100 rows at ε = 1, by source and printed promise."""
    results = {}
    for audit in audit_releases(ReleaseSetting(n=100, epsilon=1.0)):
        promise = f"{audit.method.name}: ε = {format_number(audit.promised, 3)} for {audit.method.released}"
        results[audit.method.source, promise] = Evidence(audit.sentence, not audit.verdict.bad)
    return results


# Study 1: one proportion


def accuracy(key: str, n: int, p: float, epsilon: float) -> tuple[float, float]:
    """Exact bias and root mean squared error."""
    return BinaryData(n=n, p=p).accuracy(BINARY_METHODS[key], epsilon, ANALYSIS)


def coverage(key: str, p: float, log: float, budget: SimulationBudget) -> Measure:
    """Coverage for 40 rows at ε = e^log, exact where the sums are short enough."""
    analysis = Analysis(sets=N_SETS, repetitions=min(budget.repetitions, 2_000), seed=budget.seed)
    return BinaryData(n=40, p=p).outcome(BINARY_METHODS[key], math.exp(log), analysis).coverage


def simulated_coverage(budget: SimulationBudget) -> Findings:
    """Coverage for 40 rows."""
    private, original = (accuracy(key, 40, 0.5, 1.0)[1] for key in ("beta_binomial", "original"))
    share = 100 * coverage("beta_binomial", 0.5, 0.0, budget).value
    yield "half_over", values([private, original, share], private < original and share > 95)

    # The nearest to the nominal level, up to two standard errors
    is_nearest = []
    for p, log in product((0.15, 0.25, 0.5), (-4.0, 0.0, 1.0, 3.0)):
        shares = {key: coverage(key, p, log, budget) for key in BY_BIAS}
        distances = {key: abs(measure.value - 0.95) - 2 * measure.error for key, measure in shares.items()}
        is_nearest.append(distances["modips"] <= min(distances.values()))
    yield "proper", count(is_nearest)

    # All are near the nominal level but that of the DP-prior
    shares = {key: coverage(key, 0.25, 5.0, budget) for key in BY_BIAS}
    is_near = {key for key, measure in shares.items() if abs(measure.value - 0.95) < 0.03 + 3 * measure.error}
    percentages = [100 * measure.value for measure in shares.values()]
    yield "dp_prior", values(percentages, is_near == {*BY_BIAS} - {"posterior_mean"})


def median_bins(n: int, span: float, factor: float = SCOTT_FACTOR, power: float = 1 / 3) -> int:
    """Median of K = ⌈span σ/h⌉ with Scott's h = factor s n^−power; s² of n normal rows is χ² with n − 1 degrees.

    K ≤ k where s ≥ span σ/(factor n^−power k).

    >>> [median_bins(n, 7.0) for n in (40, 100, 1000)]
    [7, 10, 21]
    """
    bins = np.arange(1, 200)
    smallest = span / (factor * n**-power * bins)
    return int(bins[np.argmax(chi2.sf((n - 1) * smallest**2, n - 1) >= 0.5)])


def exact_results() -> Findings:
    """Bias and error of one proportion, bins of histograms, and noise."""
    # "the bias remained large regardless of n": above 0.1
    yield "prior_bias", between([accuracy(key, n, 0.25, 1.0)[0] for key in BY_BIAS[3:] for n in SIZES], low=0.1)
    settings = product(SIZES, (0.15, 0.25), (math.exp(-2.0), 1.0, math.e))
    biases = [[accuracy(key, *setting)[0] for key in BY_BIAS] for setting in settings]
    yield "order", count((np.diff(biases) >= 0).all(axis=1))

    # Nearer to multiple synthesis than to the original are Laplace and modips, and not MD
    keys = [*REFERENCES, "laplace", "modips", "beta_binomial"]
    original, synthesis, *private = errors = [accuracy(key, 100, 0.25, math.exp(6.0))[1] for key in keys]
    is_nearer = [abs(error - synthesis) < abs(error - original) for error in private]
    yield "approached", values(errors, is_nearer == [True, True, False])

    # Numbers of bins by Scott's rule for one dimension and for two, and what follows for the smoothed histogram
    medians = {n: median_bins(n, 7.0) for n in SIZES}
    yield from ((f"bins{n}", median) for n, median in medians.items())
    for key, n in (("squares_low", SMALLEST_SHARE), ("squares_high", LARGEST_SHARE)):
        yield key, median_bins(n, 8.0, factor=3.5, power=1 / 4) ** 2
        yield f"{key}_1", median_bins(n, 8.0) ** 2
    yield "smoothed_worse", evidence.increasing([uniform_share(median, n, 1.0) for n, median in medians.items()])

    # Scales of the noise of mean and variance, split and not
    data = UnknownVariance(**STANDARD | {"low": -3.0}, n=100)
    split, communal = (method.noise_scales(data, 1.0) for method in (MODIPS_SPLIT, MODIPS_COMMUNAL))
    scales = np.array([[scale["the mean"], scale["the variance"]] for scale in (split, communal)])
    yield "nonsplit_variance", values(scales, scales[0, 0] < scales[1, 0] and scales[1, 1] < scales[0, 1])


# Studies 2 and 3: normal and mixed data


@lru_cache(maxsize=1024)
def simulate_numeric(
    data: NormalData, method: NumericMethod, epsilon: float, estimands: tuple[str, ...], budget: SimulationBudget,
    sets: int = N_SETS,
) -> dict[str, OutcomeMeasures]:  # fmt: skip
    """Return the measures of each estimand: by Reiter's rule of 2003 for several sets, as if real for one."""
    sets = method.sets(sets)
    rule = ANALYSIS.rule_for(sets).key
    results = NumericStudy(
        data=data, method=method, epsilon=epsilon, sets=sets, estimands=estimands, rules=(rule,),
        repetitions=budget.repetitions, seed=budget.seed,
    ).run()  # fmt: skip
    return {estimand: results.measures(estimand, rule) for estimand in estimands}


class Study(NamedTuple):
    """Data that are released and analyzed again and again, at ε = e^log, by at most so many repetitions."""

    data: Sequence[NormalData]
    estimands: tuple[str, str]
    logs: Sequence[float]
    repetitions: int


BOTH = "mean", "variance"
UNEVEN = Study([UnknownVariance(**STANDARD | {"low": -3.0}, n=n) for n in SIZES], BOTH, (-2.0, 0.0, 2.0), 500)
SYMMETRIC = Study([UnknownVariance(**STANDARD, n=n) for n in SIZES], BOTH, (0.0,), 500)
MIXED = Study([MixedData(**STUDY_3)], ("half", "cell_variance"), (0.0, 2.0), 100)


def measured(
    keys: Sequence[str], estimand: str, measure: str, budget: SimulationBudget, study: Study = UNEVEN
) -> FloatArray:
    """Return a measure and its errors, shape (2, methods, settings), for all data of a study at each ε."""
    budget = budget.at_most(study.repetitions)

    def outcome(key: str, data: NormalData, log: float) -> Measure:
        outcomes = simulate_numeric(data, NUMERIC_METHODS[key], math.exp(log), study.estimands, budget)
        return outcomes[estimand].measures[measure]

    measures = [[outcome(key, *setting) for setting in product(study.data, study.logs)] for key in keys]
    return np.array([[[getattr(item, name) for item in row] for row in measures] for name in ("value", "error")])


def smaller_errors(
    budget: SimulationBudget, firsts: list[str], seconds: list[str], estimand: str = "mean", study: Study = UNEVEN,
    chance: float = 0.0, factor: float = 1.0,
) -> Evidence:  # fmt: skip
    """Support a statement that each of some methods has a smaller error than each of others in all settings.

    It may be so by a factor, and up to some standard errors. The values are the number of settings in which it is so,
    that of all settings, and the errors of the methods in the first setting and in the others.
    """
    numbers, errors = measured([*firsts, *seconds], estimand, ERROR, budget, study)
    pairs = product(range(len(firsts)), range(len(firsts), len(numbers)))
    is_smaller = [numbers[i] <= factor * numbers[j] + chance * np.hypot(errors[i], errors[j]) for i, j in pairs]
    is_so = np.all(is_smaller, axis=0)
    return values([is_so.sum(), is_so.size, *numbers.T.ravel()], is_so.all())


def simulated_errors(budget: SimulationBudget) -> Findings:
    """Errors, biases in standard errors, and coverage."""
    yield "split_better", smaller_errors(budget, [SPLIT], [COMMUNAL], chance=2)
    yield "perturbed_better", smaller_errors(budget, [PERTURBED], [SMOOTHED], "variance", chance=2)
    yield "best", smaller_errors(budget, MODELS, HISTOGRAMS)
    yield "precise", smaller_errors(budget, HISTOGRAMS, MODELS, study=SYMMETRIC, chance=3)
    modips, histogram = [CELL_MODIPS], [CELL_HISTOGRAM]
    yield "mixed_variance", smaller_errors(budget, modips, histogram, "cell_variance", MIXED, factor=0.5)
    yield "mixed_share", smaller_errors(budget, histogram, modips, "half", MIXED, chance=3)
    coverage_of_variance, _ = measured([CELL_HISTOGRAM], "cell_variance", "coverage", budget, MIXED)
    yield "mixed_covered", between(100 * coverage_of_variance, high=50)
    uneven, symmetric = (
        np.divide(*measured([*MODELS, *HISTOGRAMS], "mean", "bias", budget, study)) for study in (UNEVEN, SYMMETRIC)
    )
    yield "positive", between(uneven, low=-4)
    yield "symmetric", between(symmetric, -4, 4)


# Figures


def by_size(table: pd.DataFrame, keys: Sequence[str]) -> FloatArray:
    """Return lines of a figure, shape (shares p, sizes n, ε, methods)."""
    n_epsilons = table.index.get_level_values("x").nunique()
    return table[keys].to_numpy().reshape(-1, len(SIZES), n_epsilons, len(keys))


def nearer(
    place: str, measure: str, keys: Sequence[str], references: Sequence[str], setting: str = "", target: float = 0.0,
    share: float = 1.0,
) -> Evidence:  # fmt: skip
    """Support a statement that some lines are nearer to a target than others at a share of all points, up to chance."""
    y, error = curves(place, measure, setting)
    distance, pairs = (y - target).abs(), product(keys, references)
    return count([distance[key] <= distance[r] + 3 * np.hypot(error[key], error[r]) for key, r in pairs], share)


def approach(place: str, keys: list[str], exceptions: Sequence[str] = ()) -> Evidence:
    """Errors fall with ε and end within a tenth of the original or multiple synthesis; those of exceptions do not."""
    first, last = curves(place, ERROR).ends
    is_near = last.apply(lambda end: (last[REFERENCES].rdiv(end, axis=0) - 1).abs().min(axis=1) < 0.1)
    return count(np.hstack([(last < first)[keys], is_near[keys], ~is_near[[*exceptions]]]))


def lowest(place: str, setting: str, keys: list[str]) -> pd.DataFrame:
    """Return the lowest coverage of each line in per cent, by setting and method."""
    return 100 * curves(place, "coverage", setting).y[keys].groupby("setting").min()


def figures_of_study_1() -> Findings:
    """One proportion against ε."""
    figure, bias = curves("Figure 2", ERROR), curves("Figure 2", "bias")
    yield "approach", approach("Figure 2", PRIVATE, ["posterior_mean"])
    first, first_bias = figure.ends[0], bias.ends[0]
    is_large = first[PRIVATE].gt(2 * first["original"], axis=0)
    yield "small_epsilon", count([first_bias[PRIVATE].abs() > 0.01, is_large])
    errors = by_size(figure.y, PRIVATE[:2])
    yield "more_rows", count((errors[:, 1:] <= errors[:, :-1] * (1 + 1e-6)).all(axis=2))
    half, below = (np.abs(by_size(y, PRIVATE)) for y in (curves("supplement, Figure 1", "bias").y, bias.y))
    yield "best_at_half", count((half <= below + 1e-9).all(axis=2))

    # Truncation has the larger error, and DP-prior a larger one than both
    is_larger = figure.y["modips"] <= figure.y["modips_truncated"]
    is_better = figure.y[["modips", "modips_truncated"]].le(figure.y["posterior_mean"], axis=0).to_numpy()
    cases = [is_larger.sum(), is_larger.size, is_better.sum(), is_better.size]
    yield "truncation_larger", values(cases, is_larger.all() and is_better.all())
    crosses = (figure.y["laplace"] > figure.y["beta_binomial"]).groupby("setting").nunique() == 2
    is_worst = first[BY_BIAS].idxmax(axis=1) == "laplace"
    yield "switched", values([crosses.sum(), crosses.size, is_worst.sum()], crosses.any())

    # Coverage; that at ε = e⁻², the fifth, up to three standard errors
    coverages = curves("Figure 3", "coverage")
    yield "modips_under", between(100 * coverages.ends[0][["modips", "modips_truncated"]], high=95)
    keys = ["laplace", "modips_truncated", "beta_binomial", "posterior_mean"]
    shares, errors = (by_size(table, keys)[:, :, 4] for table in coverages)
    yield "fewer_rows_cover", count(shares[:, :-1] >= shares[:, 1:] - 3 * errors[:, :-1])


def figures_of_studies_2_and_3() -> Findings:
    """Mean and variance against ε; cells of mixed data."""
    variance = "supplement, Figures 8 and 9"
    yield "approach_2", approach("Figure 4", [*MODELS, PERTURBED])
    yield "histograms_precise", nearer("Figure 4", ERROR, HISTOGRAMS, MODELS)
    yield "quicker", nearer("Figure 4", "bias", [PERTURBED], [SMOOTHED], share=0.5)
    yield "variance_precise", nearer(variance, ERROR, MODELS, HISTOGRAMS)
    yield "variance_covered", nearer(variance, "coverage", MODELS, HISTOGRAMS, target=0.95, share=0.95)
    yield "symmetric_covered", between(lowest("supplement, Figures 4 to 7", "μ", HISTOGRAMS), low=93)
    shares = lowest("Figure 5", "μ, n = 1,000", [*MODELS, *HISTOGRAMS]).to_numpy()[0]
    yield "histograms_under", values(shares, min(shares[:2]) > 91 > max(shares[2:]))

    # Study 3: marginal probabilities, and cell means, of which a box plot shows the median and the lower quartile
    yield "marginals_precise", nearer("Figure 6", ERROR, [CELL_HISTOGRAM], [CELL_MODIPS], "6")
    yield "marginals_covered", between(lowest("Figure 6", "6", CELLS).min(), low=91)
    bias, error, shares = (curves("Figure 6", measure, "24").y for measure in ("bias", ERROR, "coverage"))
    medians = pd.concat([figure[CELLS].abs().groupby("setting").median() for figure in (bias, error)])
    yield "cell_means", values(medians, (medians[CELL_MODIPS] < medians[CELL_HISTOGRAM] / 2).all())

    modips = 100 * shares[CELL_MODIPS].groupby("setting").median()
    histogram = 100 * shares[CELL_HISTOGRAM].iloc[:N_CELLS]  # at the smallest ε
    quartile = histogram.quantile(0.25)
    yield "cells_covered", values([*modips, quartile, histogram.min()], modips.min() > 93 > quartile)

    last = error[[*CELLS, "multiple_synthesis", "original"]].iloc[-N_CELLS:].median()
    ratios = last[CELLS].to_numpy() / last[["multiple_synthesis", "original"]].to_numpy()
    yield "cells_converge", values(last, (abs(ratios - 1) < 0.1).all())


evidence.CELL_CHECKS["bowen_liu", "usable_shares"] = usable_share
for paper in ("bowen_liu", "liu"):
    evidence.CELL_CHECKS[paper, "promises"] = lambda record, _: promises()[
        f"{record.paper}, {record.place}", record.printed
    ]
evidence.SECTIONS["bowen_liu"] = [
    exact_results, simulated_coverage, simulated_errors, figures_of_study_1, figures_of_studies_2_and_3,
]  # fmt: skip
