"""The figures of one proportion: Charest's, those of the first study of Bowen & Liu, and half of Liu's."""

import math
from collections.abc import Iterator

import numpy as np

from dpviz.claims.bowen_liu import STUDY_SETS, binary_methods
from dpviz.claims.charest import FIGURE_1, FIGURE_1_EPSILONS, figure_1_curves
from dpviz.claims.drawn_figures import FigureLine, FigurePanel, Known
from dpviz.claims.figures.measured import MeasuredCurve, SimulatedStudy, panels_of
from dpviz.claims.liu import simulated_releases
from dpviz.claims.liu_text import RULES_OF_FIGURE_7
from dpviz.claims.published import PRINTED_REPETITIONS, Effort
from dpviz.comparisons import BinaryData
from dpviz.comparisons.analysis import Analysis
from dpviz.comparisons.proportion_measures import share_moments
from dpviz.core.formatting import format_number
from dpviz.core.monte_carlo import Measure
from dpviz.core.numerics.special import binomial_weights
from dpviz.inference.combining_rules import COMBINING_RULES
from dpviz.mechanisms import Modips, ModipsTruncated, TwoCellSynthesizer

READINGS_OF_FIGURE_1 = "normal quantile where T is negative", "t quantile throughout"
SET_COLORS = "beta_binomial", "posterior_mean", "laplace"  # Keys of the colors of M = 2, 5 and 10
METHODS_OF_STUDY_1 = (
    "original",
    "multiple_synthesis",
    "laplace",
    "modips",
    "modips_truncated",
    "beta_binomial",
    "posterior_mean",
)
LOGS_OF_STUDY_1, STUDY_SIZES, SHARES_OF_STUDY_1 = range(-6, 7), (40, 100, 1_000), (0.15, 0.25, 0.5)
SHARES_OF_LIU, SIZES_OF_LIU = (0.1, 0.5), (100, 1_000)
SETS_OF_FIGURE_6 = 2, 3, 4, 5, 6, 8, 10, 15, 20, 30, 40, 50, 70, 100, 150, 200, 300, 500
EPSILONS_OF_FIGURE_7 = 0.5, 0.7, 1.0, 2.0, 5.0, 10.0, 20.0, 50.0, 100.0
TRUE_DEVIATION = "original", "what they estimate", Known.REFERENCE
THEOREM_7_KEY = "reiter_2003"
STUDIED_MEASURES = {one: one for one in ("bias", "root_mean_squared_error", "coverage", "mean_width")}
BOUNDED_BY = {"BIT": Modips, "truncation": ModipsTruncated}


def charest_panels() -> Iterator[FigurePanel]:
    """Yield the exact coverage of Figure 1 of Charest under both readings of T*."""
    curves = figure_1_curves(FIGURE_1_EPSILONS)
    x = np.array(FIGURE_1_EPSILONS)
    for reading, setting in enumerate(READINGS_OF_FIGURE_1):
        lines = [
            FigureLine(color, f"p = {format_number(p)}, M = {sets}", Known.OURS, x, found[reading, place], 0 * x)
            for place, p in enumerate(FIGURE_1.proportions)
            for color, (sets, found) in zip(SET_COLORS, curves.items(), strict=True)
        ]
        yield FigurePanel(setting, "coverage", tuple(lines))


def study_1_panels(effort: Effort) -> Iterator[FigurePanel]:
    """Yield all measures of the first study of Bowen & Liu at each n and p, the methods of the paper against ε."""
    analysis = Analysis(sets=STUDY_SETS, repetitions=PRINTED_REPETITIONS, seed=effort.seed)
    methods = binary_methods()
    for p in SHARES_OF_STUDY_1:
        for n in STUDY_SIZES:
            lines: dict[tuple[str, str, Known], MeasuredCurve] = {}
            for key in METHODS_OF_STUDY_1:
                method = methods[key]
                curve: MeasuredCurve = {}
                for epsilon in map(math.exp, LOGS_OF_STUDY_1):
                    *_, found = BinaryData(n=n, p=p).outcomes(method, epsilon, epsilon, analysis)
                    curve[epsilon] = found.measures
                lines[key, method.label, Known.REFERENCE if method.reference else Known.OURS] = curve
            yield from panels_of(f"p = {format_number(p)}, n = {n:,}", STUDIED_MEASURES, lines)


def _study(made: TwoCellSynthesizer, p: float, sets: int, effort: Effort) -> SimulatedStudy:
    parts = [one for _, one in simulated_releases(made, p, sets, effort.repetitions, effort.generator())]
    return SimulatedStudy(
        np.concatenate([one.estimate for one in parts]),
        np.concatenate([one.between for one in parts]),
        np.concatenate([one.within for one in parts]),
        sets,
    )


def _exact(made: TwoCellSynthesizer, p: float, sets: int) -> tuple[Measure, Measure]:
    """E[p̄*] − p and the standard deviation of p̄*, exactly: given x the sets are independent."""
    weights, moments = binomial_weights(np.array([p]), made.n)[0], share_moments(made)
    mean = float(weights @ moments.mean)
    variance = float(weights @ ((moments.mean - mean) ** 2 + moments.variance / sets))
    return Measure(mean - p, 0.0), Measure(math.sqrt(variance), 0.0)


def sets_panels(effort: Effort) -> Iterator[FigurePanel]:
    """Yield the half of Liu's Figure 6 on binary data: bias, mean standard error and coverage against m, ε = 1."""
    measures = {one: one for one in ("bias", "standard_error", "coverage")}
    for n in SIZES_OF_LIU:
        for p in SHARES_OF_LIU:
            lines: dict[tuple[str, str, Known], MeasuredCurve] = {}
            for name, kind in BOUNDED_BY.items():
                curve: MeasuredCurve = {}
                for sets in SETS_OF_FIGURE_6:
                    made = kind(n=n, m=n, epsilon=1 / sets)
                    found = _study(made, p, sets, effort).measures(COMBINING_RULES[THEOREM_7_KEY], p)
                    curve[sets] = {**found, "bias": _exact(made, p, sets)[0]}
                lines[kind.key, name, Known.OURS] = curve
            yield from panels_of(f"binary data, n = {n:,}, p = {format_number(p)}", measures, lines)


def rules_panels(effort: Effort) -> Iterator[FigurePanel]:
    """Yield the half of Liu's Figure 7 on binary data: the mean standard error by each rule against ε, ten sets."""
    for n in SIZES_OF_LIU:
        for p in reversed(SHARES_OF_LIU):
            lines: dict[tuple[str, str, Known], MeasuredCurve] = {}
            for epsilon in EPSILONS_OF_FIGURE_7:
                made = Modips(n=n, m=n, epsilon=epsilon / STUDY_SETS)
                study = _study(made, p, STUDY_SETS, effort)
                for key in RULES_OF_FIGURE_7:
                    rule = COMBINING_RULES[key]
                    lines.setdefault((key, rule.label, Known.OURS), {})[epsilon] = study.measures(rule, p)
                deviation = {"standard_error": _exact(made, p, STUDY_SETS)[1]}
                lines.setdefault(TRUE_DEVIATION, {})[epsilon] = deviation
            name = f"binary data, n = {n:,}, p = {format_number(p)}"
            yield from panels_of(name, {"standard_error": "standard_error"}, lines)
