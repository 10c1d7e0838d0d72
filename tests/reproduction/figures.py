"""Compute what the papers' figures show, as ``dpviz/published/data/figures.csv`` has it; it takes some twenty minutes.

python -m tests.reproduction.figures [PART ...] [--repetitions N] [--seed S] > figures.csv
"""

import argparse
import csv
import math
import sys
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache, partial
from itertools import product
from typing import Any, ClassVar, NamedTuple

import numpy as np
from scipy.stats import beta

from dpviz.audit.curves import prior_curves
from dpviz.calibration.data_kinds import GAUSSIAN, KINDS, Setting
from dpviz.calibration.methods import PRIOR_METHODS
from dpviz.comparisons import Analysis, BinaryData, KnownVariance, MixedData, UnknownVariance
from dpviz.comparisons import numeric_releases as methods
from dpviz.comparisons.methods import ComparedMethod, NumericMethod
from dpviz.comparisons.mixed_releases import cell_statistics
from dpviz.comparisons.numeric_data import NormalData, NumericEstimand
from dpviz.core.monte_carlo import Measure
from dpviz.core.types import FloatArray
from dpviz.inference.combining_rules import COMBINING_RULES
from dpviz.mechanisms import Modips, ModipsTruncated
from dpviz.published.figures import LineKind
from tests.reproduction.charest import FIGURE_1_EPSILONS, SETS, figure_1
from tests.reproduction.evidence import PRINTED_REPETITIONS, SimulationBudget
from tests.reproduction.studies import (
    BINARY_METHODS,
    N_CELLS,
    N_SETS,
    RULE_ORDER,
    STANDARD,
    STUDY_3,
    exact_accuracy,
    simulate_binary,
    simulate_means,
    simulate_numeric,
)

CHAREST, ZHENG, STUDIES, LIU = "Charest (2011)", "Zheng (2015)", "Bowen & Liu (2016)", "Liu (2016)"
MEASURES = "bias", "root_mean_squared_error", "coverage", "mean_width"
COLUMNS = "paper", "place", "setting", "measure", "key", "name", "kind", "x", "y", "error"
Curve = Callable[[float], Mapping[str, Measure]]  # measures by name at a point of the axis


class Label(NamedTuple):
    """The key of a line's colour, its name, and what its values are."""

    key: str
    name: str
    kind: LineKind = LineKind.COMPUTED


@dataclass(frozen=True, eq=False)
class Panels:
    """Lines against one axis at one setting: a panel for each measure, in the figure that `places` says."""

    paper: str
    places: Mapping[str, str]
    setting: str
    axis: Sequence[float]
    lines: Mapping[Label, Curve]


def sweep(panels: Panels) -> Iterator[list[str]]:
    """Yield a row of the file for each measure and line; what has no value is left out."""
    for measure, place in panels.places.items():
        for label, curve in panels.lines.items():
            results = [(x, curve(x)[measure]) for x in panels.axis]
            points = np.array([(x, item.value, item.error) for x, item in results if math.isfinite(item.value)])
            if points.size:
                yield [panels.paper, place, panels.setting, measure, *label, *map(_text, points.T)]


def _text(values: FloatArray) -> str:
    """Six digits, fewer than rounding on another machine can reach; nothing where all are 0."""
    return " ".join(f"{value:.6g}" for value in values.tolist()) if values.any() else ""


def exact(measure: str, value: float) -> dict[str, Measure]:
    """Return a measure without an error."""
    return {measure: Measure(float(value), 0.0)}


def labelled(compared: Iterable[ComparedMethod], curve: Callable[..., Mapping[str, Measure]]) -> dict[Label, Curve]:
    """Return the lines of some methods, from a function of the method and a point."""
    kinds = {True: LineKind.REFERENCE, False: LineKind.COMPUTED}
    return {Label(method.key, method.label, kinds[method.reference]): partial(curve, method) for method in compared}


def powers_of_e(low: int, high: int) -> list[float]:
    """Return e^low to e^(high − 1)."""
    return [math.exp(power) for power in range(low, high)]


# Charest and Zheng


def charest_figures(_: SimulationBudget) -> Iterator[Panels]:
    """Figure 1: exact coverage under both readings of T*, at nine ε of ours."""

    def curve(reading: int, p: float, place: int, epsilon: float) -> dict[str, Measure]:
        return exact("coverage", figure_1(epsilon, p)[reading, place])

    colors = "beta_binomial", "posterior_mean", "laplace"
    for reading, setting in enumerate(("normal quantile where T is negative", "t quantile throughout")):
        lines = {
            Label(colors[place], f"p = {p}, M = {sets}"): partial(curve, reading, p, place)
            for p, (place, sets) in product((0.25, 0.5), enumerate(SETS[1:]))
        }
        yield Panels(CHAREST, {"coverage": "Figure 1"}, setting, FIGURE_1_EPSILONS, lines)


def zheng_figures(_: SimulationBudget) -> Iterator[Panels]:
    """Figure 3.1, beta densities; Figures 6.1 and 7.1, exact thresholds beside printed bounds, against ε."""

    def density(shape: tuple[int, int], x: float) -> dict[str, Measure]:
        return exact("density", beta.pdf(x, *shape))

    shapes = {"beta_binomial": (2, 5), "posterior_mean": (3, 9), "laplace": (6, 6)}
    lines: dict[Label, Curve] = {
        Label(key, f"α = {a}, β = {b}"): partial(density, (a, b)) for key, (a, b) in shapes.items()
    }
    yield Panels(ZHENG, {"density": "Figure 3.1"}, "", np.linspace(0, 1, 51).tolist(), lines)

    for family, place in (("bernoulli", "Figure 6.1"), ("gaussian", "Figure 7.1")):
        measure = "range" if KINDS[family] is GAUSSIAN else "prior"
        curves = prior_curves(family, Setting(n=100, m=100, epsilon=1.0, delta=1e-5, sigma0=1.0), "epsilon")
        axis, lines = curves.points.tolist(), {}
        for line in curves.lines:
            kind = LineKind.PURE_EPSILON if line.pure else LineKind.COMPUTED
            name, method = line.theorem or ("δ = 0" if line.pure else ""), PRIOR_METHODS[line.method]
            label = ", ".join(filter(None, (name, method.label)))
            values = {x: exact(measure, y) for x, y in zip(axis, line.values.tolist(), strict=True)}
            lines[Label(method.color, label, LineKind.PRINTED if line.theorem else kind)] = values.__getitem__
        yield Panels(ZHENG, {measure: place}, "", axis, lines)


# The three studies of Bowen & Liu


def proportion_figures(budget: SimulationBudget) -> Iterator[Panels]:
    """Study 1: all measures of one proportion by seven methods, against ε."""
    analysis = Analysis(sets=N_SETS, repetitions=PRINTED_REPETITIONS, seed=budget.seed)

    @lru_cache(maxsize=1024)
    def measures(data: BinaryData, method: ComparedMethod, epsilon: float) -> Mapping[str, Measure]:
        *_, outcome = data.outcomes(method, epsilon, epsilon, analysis)
        return outcome.measures

    private = "laplace", "modips", "modips_truncated", "beta_binomial", "posterior_mean"
    compared = [BINARY_METHODS[key] for key in ("original", "multiple_synthesis", *private)]
    for p, n in product((0.15, 0.25, 0.5), (40, 100, 1_000)):
        main = ["supplement, Figure 1"] * 3 if p == 0.5 else ["Figure 2", "Figure 2", "Figure 3"]
        places = dict(zip(MEASURES, (*main, "supplement, Figure 2"), strict=True))
        lines = labelled(compared, partial(measures, BinaryData(n=n, p=p)))
        yield Panels(STUDIES, places, f"p = {p}, n = {n:,}", powers_of_e(-6, 7), lines)


def numeric_measures(
    data: NormalData, estimands: tuple[str, ...], estimand: str, budget: SimulationBudget, method: NumericMethod,
    epsilon: float,
) -> Mapping[str, Measure]:  # fmt: skip
    """Return the measures of one estimand; all of them share the releases."""
    return simulate_numeric(data, method, epsilon, estimands, budget)[estimand].measures


def normal_figures(budget: SimulationBudget) -> Iterator[Panels]:
    """Study 2: all measures of mean and variance by six methods, against ε."""
    compared = (
        methods.ORIGINAL_ROWS, methods.MULTIPLE_SYNTHESIS, methods.MODIPS_SPLIT, methods.MODIPS_COMMUNAL,
        methods.PERTURBED_HISTOGRAM, methods.SMOOTHED_HISTOGRAM,
    )  # fmt: skip
    of_mean = dict(zip(MEASURES, ("Figure 4", "Figure 4", "Figure 5", "supplement, Figure 3"), strict=True))
    both = {"mean": ("μ", of_mean), "variance": ("σ²", dict.fromkeys(MEASURES, "supplement, Figures 8 and 9"))}
    symmetric = dict.fromkeys(MEASURES, "supplement, Figures 4 to 7")
    for low, n in product((-3.0, -4.0), (40, 100, 1_000)):
        data = UnknownVariance(**STANDARD | {"low": low}, n=n)
        for estimand, (symbol, places) in both.items():
            lines = labelled(compared, partial(numeric_measures, data, (*both,), estimand, budget))
            figures = symmetric if low == -4.0 else places
            yield Panels(STUDIES, figures, f"{symbol}, n = {n:,}", powers_of_e(-2, 9), lines)


LEVELS = 2, 3, 4  # of the categories of study 3, which make the 24 cells
MARGINALS = [
    cells == level
    for cells, n_levels in zip(np.unravel_index(np.arange(N_CELLS), LEVELS), LEVELS, strict=True)
    for level in range(n_levels - 1)
]
"""Which cells each free marginal probability is of: all levels of a category but its last."""


def _marginal(place: int) -> NumericEstimand:
    return NumericEstimand(
        f"marginal_{place + 1}", "a marginal probability", "π",
        truth=lambda data: float(data.shares[MARGINALS[place]].sum()),
        estimate=lambda columns: columns[place],
        within=lambda columns, data: columns[place] * (1 - columns[place]) / data.n,
    )  # fmt: skip


def _cell_mean(cell: int) -> NumericEstimand:
    column = len(MARGINALS) + 2 * cell
    return NumericEstimand(
        f"mean_{cell + 1}", "the mean of a cell", "μ",
        truth=lambda data: float(data.means[0, cell]),
        estimate=lambda columns: columns[column],
        within=lambda columns, _: columns[column + 1],
    )  # fmt: skip


class EveryCell(MixedData):
    """Mixed data of which every cell mean of the first number is estimated, and every free marginal probability."""

    estimands: ClassVar[tuple[NumericEstimand, ...]] = (
        *map(_marginal, range(len(MARGINALS))),
        *map(_cell_mean, range(N_CELLS)),
    )
    studied: ClassVar[Mapping[str, NumericEstimand]] = {estimand.key: estimand for estimand in estimands}

    def read(self, rows: Any) -> Any:
        """Marginals of each set, and of every cell the mean (NaN without rows) and s²/n, s² being that within cells."""
        cells = cell_statistics(rows)
        has_rows = cells.counts > 0
        means = np.where(has_rows, self.middle + cells.sums[0] / cells.sizes, math.nan)
        degrees = np.maximum(self.n - np.count_nonzero(has_rows, axis=1), 1)
        within = (cells.squares[0] / degrees)[:, None] / cells.sizes
        shares = [cells.counts[:, marginal].sum(axis=1) / self.n for marginal in MARGINALS]
        return (*shares, *(part[:, cell] for cell in range(N_CELLS) for part in (means, within)))


def mixed_figures(budget: SimulationBudget) -> Iterator[Panels]:
    """Study 3: each cell mean and marginal at four ε; variance and correlation within cells against ε."""
    budget, places = budget.at_most(500), dict.fromkeys(MEASURES[:3], "Figure 6")
    keys = "original", "multiple_synthesis", "modips_printed", "perturbed_cells"
    compared = [method for method in MixedData.methods if method.key in keys]

    def at_place(epsilon: float, prefix: str, method: NumericMethod, place: float) -> Mapping[str, Measure]:
        estimands = tuple(EveryCell.studied)
        return numeric_measures(EveryCell(**STUDY_3), estimands, f"{prefix}_{place}", budget, method, epsilon)

    parts = ("mean", N_CELLS, "cell means"), ("marginal", len(MARGINALS), "marginal probabilities")
    for log, (prefix, size, name) in product((0, 2, 4, 6), parts):
        lines = labelled(compared, partial(at_place, math.exp(log), prefix))
        yield Panels(STUDIES, places, f"{size} {name}, ln ε = {log}", range(1, size + 1), lines)

    both = {"cell_variance": "variance within cells, σ²", "correlation": "correlation within cells, ρ"}
    places = dict.fromkeys(MEASURES[:3], "supplement, Figures 10 and 11")
    for estimand, name in both.items():
        lines = labelled(compared, partial(numeric_measures, MixedData(**STUDY_3), (*both,), estimand, budget))
        yield Panels(STUDIES, places, name, powers_of_e(0, 8), lines)


# Liu


def liu_normal(kind: type[NormalData]) -> Iterator[tuple[str, NormalData]]:
    """Yield normal data of both sizes between both pairs of bounds, with its setting in words."""
    for high, n in product((4.0, 5.0), (100, 1_000)):
        yield f"n = {n:,}, bounds −4 and {high:g}", kind(**STANDARD | {"high": high}, n=n)


def sets_figures(budget: SimulationBudget) -> Iterator[Panels]:
    """Figure 6: bias (exact), mean standard error and coverage with Theorem 7 against m, at ε = 1."""

    def binary(kind: type[Modips], n: int, p: float, sets: int) -> dict[str, Measure]:
        mechanism = kind(n=n, m=n, epsilon=1 / sets)
        measures = simulate_binary(mechanism, p, sets, budget).measures("reiter_2003", p)
        return measures | exact("bias", exact_accuracy(mechanism, p, sets)[0])

    def normal(method: NumericMethod, data: NormalData, sets: int) -> dict[str, Measure]:
        measures = simulate_means(data, method, 1.0, sets, budget).measures("reiter_2003", 0.0)
        accuracy = method.exact_accuracy(data, 1.0, sets)
        return measures | (exact("bias", accuracy.bias) if accuracy else {})

    axis = 2, 3, 4, 5, 6, 8, 10, 15, 20, 30, 40, 50, 70, 100, 150, 200, 300, 500
    places = dict.fromkeys(("bias", "standard_error", "coverage"), "Figure 6")
    schemes: list[tuple[str, type[Modips | ModipsTruncated], NumericMethod]] = [
        ("BIT", Modips, methods.MODIPS_MEAN),
        ("truncation", ModipsTruncated, methods.MODIPS_MEAN_TRUNCATED),
    ]
    for n, p in product((100, 1_000), (0.1, 0.5)):
        lines: dict[Label, Any] = {Label(kind.key, name): partial(binary, kind, n, p) for name, kind, _ in schemes}
        yield Panels(LIU, places, f"binary data, n = {n:,}, p = {p}", axis, lines)
    for setting, data in liu_normal(KnownVariance):
        lines = {Label(method.key, name): partial(normal, method, data) for name, _, method in schemes}
        yield Panels(LIU, places, f"normal data, {setting}", axis, lines)


def rules_figures(budget: SimulationBudget) -> Iterator[Panels]:
    """Figure 7: the mean standard error by four rules, and what they estimate, against ε; ten sets."""

    def binary(n: int, p: float, rule: str, epsilon: float) -> dict[str, Measure]:
        mechanism = Modips(n=n, m=n, epsilon=epsilon / N_SETS)
        if rule not in COMBINING_RULES:
            return exact("standard_error", exact_accuracy(mechanism, p, N_SETS)[1])
        return simulate_binary(mechanism, p, N_SETS, budget).measures(rule, p)

    def normal(data: NormalData, rule: str, epsilon: float) -> dict[str, Measure]:
        if rule not in COMBINING_RULES:
            accuracy = methods.MODIPS_MEAN.exact_accuracy(data, epsilon, N_SETS)
            assert accuracy is not None
            return exact("standard_error", math.sqrt(accuracy.root_mean_squared_error**2 - accuracy.bias**2))
        return simulate_means(data, methods.MODIPS_MEAN, epsilon, N_SETS, budget).measures(rule, 0.0)

    axis = 0.5, 0.7, 1.0, 2.0, 5.0, 10.0, 20.0, 50.0, 100.0
    labels = [Label(rule, COMBINING_RULES[rule].label) for rule in RULE_ORDER]
    labels.append(Label("original", "what they estimate", LineKind.REFERENCE))
    curves: dict[str, Callable[..., dict[str, Measure]]] = {
        f"binary data, n = {n:,}, p = {p}": partial(binary, n, p) for n, p in product((100, 1_000), (0.5, 0.1))
    }
    curves |= {f"normal data, n = {n}": partial(normal, KnownVariance(**STANDARD, n=n)) for n in (10, 100)}
    for setting, curve in curves.items():
        lines = {label: partial(curve, label.key) for label in labels}
        yield Panels(LIU, {"standard_error": "Figure 7"}, setting, axis, lines)


def budget_figures(budget: SimulationBudget) -> Iterator[Panels]:
    """Figure 8: bias, coverage and width against the share w of ε that the mean has; ε = 1, ten sets."""

    def at_share(data: NormalData, method: NumericMethod, share: float) -> Mapping[str, Measure]:
        return numeric_measures(data, ("mean",), "mean", budget, method.with_share(share), 1.0)

    labels = {
        Label(methods.MODIPS_COMMUNAL.key, "BIT"): methods.MODIPS_SPLIT,
        Label(methods.MODIPS_COMMUNAL_TRUNCATED.key, "truncation"): methods.MODIPS_SPLIT_TRUNCATED,
    }
    places, shares = dict.fromkeys(("bias", "coverage", "mean_width"), "Figure 8"), [w / 10 for w in range(1, 10)]
    for setting, data in liu_normal(UnknownVariance):
        lines = {label: partial(at_share, data, method) for label, method in labels.items()}
        yield Panels(LIU, places, setting, shares, lines)


FIGURES: dict[str, Callable[[SimulationBudget], Iterator[Panels]]] = {
    "charest": charest_figures,
    "zheng": zheng_figures,
    "bowen_liu_1": proportion_figures,
    "bowen_liu_2": normal_figures,
    "bowen_liu_3": mixed_figures,
    "liu_6": sets_figures,
    "liu_7": rules_figures,
    "liu_8": budget_figures,
}
"""In the order of the file."""


def main(arguments: list[str] | None = None) -> None:
    """Print the file, or some of its parts."""
    parser = argparse.ArgumentParser(prog="python -m tests.reproduction.figures", description=__doc__)
    parser.add_argument("parts", nargs="*", choices=[[], *FIGURES], help="some of them (default: all)")
    parser.add_argument("--repetitions", type=int, default=SimulationBudget.repetitions, help="default: %(default)s")
    parser.add_argument("--seed", type=int, default=SimulationBudget.seed, help="default: %(default)s")
    options = parser.parse_args(arguments)
    writer = csv.writer(sys.stdout, lineterminator="\n")
    writer.writerow(COLUMNS)
    for part in options.parts or FIGURES:
        for panels in FIGURES[part](SimulationBudget(options.repetitions, options.seed)):
            writer.writerows(sweep(panels))


if __name__ == "__main__":
    main()
