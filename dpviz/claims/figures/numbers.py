"""The figures of normal data: those of the second study of Bowen & Liu, and half of Liu's."""

import math
from collections.abc import Iterator

import numpy as np

from dpviz.claims.bowen_liu import STUDY, STUDY_SETS
from dpviz.claims.drawn_figures import FigurePanel, Known
from dpviz.claims.figures.measured import MeasuredCurve, SimulatedStudy, panels_of
from dpviz.claims.figures.proportions import (
    EPSILONS_OF_FIGURE_7,
    SETS_OF_FIGURE_6,
    SIZES_OF_LIU,
    STUDIED_MEASURES,
    STUDY_SIZES,
    THEOREM_7_KEY,
    TRUE_DEVIATION,
)
from dpviz.claims.liu_text import RULES_OF_FIGURE_7
from dpviz.claims.published import Effort
from dpviz.comparisons import KnownVariance, UnknownVariance
from dpviz.comparisons.analysis import OutcomeMeasures
from dpviz.comparisons.numeric_data import NormalData
from dpviz.comparisons.numeric_releases import (
    MODIPS_COMMUNAL,
    MODIPS_COMMUNAL_TRUNCATED,
    MODIPS_MEAN,
    MODIPS_MEAN_TRUNCATED,
    MODIPS_SPLIT,
    MODIPS_SPLIT_TRUNCATED,
    MULTIPLE_SYNTHESIS,
    ORIGINAL_ROWS,
    PERTURBED_HISTOGRAM,
    SMOOTHED_HISTOGRAM,
    NumericMethod,
)
from dpviz.comparisons.numeric_study import NumericStudy
from dpviz.core.formatting import format_number
from dpviz.core.monte_carlo import Measure
from dpviz.inference.combining_rules import COMBINING_RULES

METHODS_OF_STUDY_2: tuple[NumericMethod, ...] = (
    ORIGINAL_ROWS,
    MULTIPLE_SYNTHESIS,
    MODIPS_SPLIT,
    MODIPS_COMMUNAL,
    PERTURBED_HISTOGRAM,
    SMOOTHED_HISTOGRAM,
)
LOGS_OF_STUDY_2 = range(-2, 9)
ESTIMANDS_OF_STUDY_2 = {"mean": "μ", "variance": "σ²"}
MOST_ROWS, FEWEST_STUDIES = 40_000_000, 100  # Rows that are drawn for a point; its repetitions where that is too few
BOUNDS_OF_LIU = (-4.0, 4.0), (-4.0, 5.0)
SIZES_OF_TABLE_1 = 10, 100
BLOCK_ROWS = 2_000_000  # Rows of a set that are drawn at a time
SHARES_OF_FIGURE_8 = 0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8, 0.9
Lines = dict[tuple[str, str, Known], MeasuredCurve]


def studied(
    data: NormalData, method: NumericMethod, epsilon: float, estimands: tuple[str, ...], effort: Effort
) -> dict[str, OutcomeMeasures]:
    """Return the measures of each estimand, of ten sets where the method releases several, by the rule of the study."""
    sets = method.sets(STUDY_SETS)
    rule = STUDY.rule_for(sets).key
    results = NumericStudy(
        data=data,
        method=method,
        epsilon=epsilon,
        sets=sets,
        repetitions=effort.repetitions,
        seed=effort.seed,
        estimands=estimands,
        rules=(rule,),
    ).run()
    return {one: results.measures(one, rule) for one in estimands}


def known_of(method: NumericMethod) -> Known:
    """Return what the values of a method are."""
    return Known.REFERENCE if method.reference else Known.OURS


def study_2_panels(low: float, effort: Effort) -> Iterator[FigurePanel]:
    """Yield all measures of the mean and the variance in the second study of Bowen & Liu, with this lower bound."""
    estimands = tuple(ESTIMANDS_OF_STUDY_2)
    for n in STUDY_SIZES:
        data = UnknownVariance(n=n, mean=0.0, sigma=1.0, low=low, high=4.0)
        lines: dict[str, Lines] = {one: {} for one in estimands}
        for method in METHODS_OF_STUDY_2:
            for epsilon in map(math.exp, LOGS_OF_STUDY_2):
                for one, found in studied(data, method, epsilon, estimands, effort).items():
                    line = method.key, method.label, known_of(method)
                    lines[one].setdefault(line, {})[epsilon] = found.measures
        for one, symbol in ESTIMANDS_OF_STUDY_2.items():
            yield from panels_of(f"{symbol}, n = {n:,}", STUDIED_MEASURES, lines[one])


def _study(data: NormalData, method: NumericMethod, epsilon: float, sets: int, effort: Effort) -> SimulatedStudy:
    """The studies of the mean, fewer where many sets are drawn."""
    most = max(MOST_ROWS // (data.n * sets), FEWEST_STUDIES)
    runs, random, parts = min(effort.repetitions, most), effort.generator(), []
    while runs > 0:
        size = min(runs, max(BLOCK_ROWS // data.n, 1))
        released = method.draw(random, data.draw(random, size), epsilon, data, sets)
        mean, variance = np.moveaxis(np.array([data.read(rows) for rows in released]), 1, 0)
        parts.append([mean.mean(axis=0), mean.var(axis=0, ddof=1), variance.mean(axis=0) / data.n])
        runs -= size
    estimate, between, within = np.concatenate(parts, axis=1)
    return SimulatedStudy(estimate, between, within, sets)


def normal_sets_panels(effort: Effort) -> Iterator[FigurePanel]:
    """Yield the half of Liu's Figure 6 on normal data: bias, mean standard error and coverage against m, ε = 1."""
    measures = {one: one for one in ("bias", "standard_error", "coverage")}
    for low, high in BOUNDS_OF_LIU:
        for n in SIZES_OF_LIU:
            data, lines = KnownVariance(n=n, mean=0.0, sigma=1.0, low=low, high=high), Lines()
            for name, method in (("BIT", MODIPS_MEAN), ("truncation", MODIPS_MEAN_TRUNCATED)):
                curve: MeasuredCurve = {}
                for sets in SETS_OF_FIGURE_6:
                    found = _study(data, method, 1.0, sets, effort).measures(COMBINING_RULES[THEOREM_7_KEY], 0.0)
                    exact = method.exact_accuracy(data, 1.0, sets)
                    curve[sets] = {**found, "bias": Measure(exact.bias, 0.0) if exact else found["bias"]}
                lines[method.key, name, Known.OURS] = curve
            name = f"normal data, n = {n:,}, bounds {format_number(low)} and {format_number(high)}"
            yield from panels_of(name, measures, lines)


def normal_rules_panels(effort: Effort) -> Iterator[FigurePanel]:
    """Yield the half of Liu's Figure 7 on normal data: the mean standard error by each rule against ε, ten sets."""
    for n in SIZES_OF_TABLE_1:
        data, lines = KnownVariance(n=n, mean=0.0, sigma=1.0, low=-4.0, high=4.0), Lines()
        for epsilon in EPSILONS_OF_FIGURE_7:
            study = _study(data, MODIPS_MEAN, epsilon, STUDY_SETS, effort)
            for key in RULES_OF_FIGURE_7:
                rule = COMBINING_RULES[key]
                lines.setdefault((key, rule.label, Known.OURS), {})[epsilon] = study.measures(rule, 0.0)
            if exact := MODIPS_MEAN.exact_accuracy(data, epsilon, STUDY_SETS):
                spread = math.sqrt(exact.root_mean_squared_error**2 - exact.bias**2)
                lines.setdefault(TRUE_DEVIATION, {})[epsilon] = {"standard_error": Measure(spread, 0.0)}
        yield from panels_of(f"normal data, n = {n}", {"standard_error": "standard_error"}, lines)


def budget_panels(effort: Effort) -> Iterator[FigurePanel]:
    """Yield Liu's Figure 8: bias, coverage and width against the share w of ε that the mean has; ε = 1, ten sets."""
    measures = {one: one for one in ("bias", "coverage", "mean_width")}
    for low, high in BOUNDS_OF_LIU:
        for n in SIZES_OF_LIU:
            data, lines = UnknownVariance(n=n, mean=0.0, sigma=1.0, low=low, high=high), Lines()
            for name, method, key in (
                ("BIT", MODIPS_SPLIT, MODIPS_COMMUNAL.key),
                ("truncation", MODIPS_SPLIT_TRUNCATED, MODIPS_COMMUNAL_TRUNCATED.key),
            ):
                lines[key, name, Known.OURS] = {
                    share: studied(data, method.with_share(share), 1.0, ("mean",), effort)["mean"].measures
                    for share in SHARES_OF_FIGURE_8
                }
            name = f"n = {n:,}, bounds {format_number(low)} and {format_number(high)}"
            yield from panels_of(name, measures, lines)
