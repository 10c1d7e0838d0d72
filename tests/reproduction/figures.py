"""Compute what the papers' figures show, as ``dpviz/published/data/figures.csv`` has it; it takes some twenty minutes.

python -m tests.reproduction.figures [PART ...] > figures.csv
"""

import argparse
import csv
import math
import sys
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from functools import lru_cache, partial
from itertools import product
from typing import Any, ClassVar, NamedTuple

import numpy as np
from numpy.typing import ArrayLike
from scipy.stats import beta

from dpviz.audit.curves import prior_curves
from dpviz.calibration.data_kinds import GAUSSIAN
from dpviz.comparisons import Analysis, BinaryData, KnownVariance, MixedData, UnknownVariance
from dpviz.comparisons import numeric_releases as methods
from dpviz.comparisons.analysis import Estimand
from dpviz.comparisons.methods import ComparedMethod, NumericMethod
from dpviz.comparisons.mixed import cell_statistics
from dpviz.comparisons.numeric_data import NormalData
from dpviz.core.monte_carlo import Measure
from dpviz.core.types import FloatArray
from dpviz.inference.combining_rules import COMBINING_RULES
from dpviz.inference.interval_rules import half_widths
from dpviz.mechanisms import Modips, ModipsTruncated
from dpviz.priors import KINDS, METHODS, Setting
from dpviz.published.figures import LineKind
from tests.reproduction import bowen_liu, liu
from tests.reproduction.bowen_liu import N_CELLS, N_SETS, STANDARD, STUDY_3
from tests.reproduction.charest import FIGURE_1_EPSILONS, SETS, figure_1
from tests.reproduction.evidence import PRINTED_REPETITIONS, SimulationBudget

CHAREST, ZHENG, STUDIES, LIU = "Charest (2011)", "Zheng (2015)", "Bowen & Liu (2016)", "Liu (2016)"
MEASURES = "bias", "root_mean_squared_error", "coverage", "mean_width"
COLUMNS = "paper", "place", "setting", "measure", "key", "name", "kind", "x", "y", "error"
MAX_ROWS, MIN_STUDIES = 40_000_000, 100  # rows drawn for a point, and its repetitions where that is too few
BLOCK_ROWS = 2_000_000  # rows of a set drawn at a time
Rows = Iterator[list[str]]
Measures = Mapping[str, Measure]
Curve = Callable[..., Measures]  # of a point of the axis


class Label(NamedTuple):
    """The key of a line's colour, its name, and what its values are."""

    key: str
    name: str
    kind: LineKind = LineKind.COMPUTED


def line_row(
    paper: str, place: str, setting: str, measure: str, label: Label, x: ArrayLike, y: ArrayLike, error: ArrayLike = 0.0
) -> list[str]:
    """Return a line as a row of the file, in six digits: fewer than rounding on another machine can reach."""
    points = np.array(np.broadcast_arrays(x, y, error))
    points = points[:, np.isfinite(points[1])]
    texts = [" ".join(f"{value:.6g}" for value in values) if values.any() else "" for values in points]
    return [paper, place, setting, measure, *label, *texts]


def sweep(
    paper: str, places: Mapping[str, str], setting: str, axis: Sequence[float], lines: Mapping[Label, Curve]
) -> Rows:
    """Yield the lines of each measure, in the figure that `places` says; each line is a function of the axis."""
    results = {label: [curve(x) for x in axis] for label, curve in lines.items()}
    for (measure, place), (label, points) in product(places.items(), results.items()):
        y, error = zip(*((point[measure].value, point[measure].error) for point in points), strict=True)
        if np.isfinite(y).any():
            yield line_row(paper, place, setting, measure, label, axis, y, error)


def labelled(compared: Iterable[ComparedMethod], curve: Curve) -> dict[Label, Curve]:
    """Return the lines of some methods, from a function of the method and a point."""
    kinds = {True: LineKind.REFERENCE, False: LineKind.COMPUTED}
    return {Label(method.key, method.label, kinds[method.reference]): partial(curve, method) for method in compared}


# Charest and Zheng


def charest_figures(_: SimulationBudget) -> Rows:
    """Figure 1: exact coverage under both readings of T*, at nine ε of ours."""
    colors = "beta_binomial", "posterior_mean", "laplace"
    settings = enumerate(("normal quantile where T is negative", "t quantile throughout"))
    for (reading, setting), p, (place, sets) in product(settings, (0.25, 0.5), enumerate(SETS[1:])):
        label = Label(colors[place], f"p = {p}, M = {sets}")
        y = [figure_1(epsilon, p)[reading, place] for epsilon in FIGURE_1_EPSILONS]
        yield line_row(CHAREST, "Figure 1", setting, "coverage", label, FIGURE_1_EPSILONS, y)


def zheng_figures(_: SimulationBudget) -> Rows:
    """Figure 3.1, beta densities; Figures 6.1 and 7.1, exact thresholds beside printed bounds, against ε."""
    x = np.linspace(0, 1, 51)
    for key, a, b in (("beta_binomial", 2, 5), ("posterior_mean", 3, 9), ("laplace", 6, 6)):
        yield line_row(ZHENG, "Figure 3.1", "", "density", Label(key, f"α = {a}, β = {b}"), x, beta.pdf(x, a, b))

    for family, place in (("bernoulli", "Figure 6.1"), ("gaussian", "Figure 7.1")):
        measure = "range" if KINDS[family] is GAUSSIAN else "prior"
        curves = prior_curves(family, Setting(n=100, m=100, epsilon=1.0, delta=1e-5, sigma0=1.0), "epsilon")
        for line in (line for line in curves.lines if np.isfinite(line.values).any()):
            kind = LineKind.PURE_EPSILON if line.kind == "pure" else LineKind.COMPUTED
            name, method = line.theorem or ("δ = 0" if line.kind == "pure" else ""), METHODS[line.method]
            words = ", ".join(filter(None, (name, method.label)))
            label = Label(method.color, words, LineKind.PRINTED if line.theorem else kind)
            yield line_row(ZHENG, place, "", measure, label, curves.points, line.values)


# The three studies of Bowen & Liu


def proportion_figures(budget: SimulationBudget) -> Rows:
    """Study 1: all measures of one proportion by seven methods, against ε."""
    analysis = Analysis(sets=N_SETS, repetitions=PRINTED_REPETITIONS, seed=budget.seed)
    keys = "original", "multiple_synthesis", "laplace", "modips", "modips_truncated", "beta_binomial", "posterior_mean"
    compared = [bowen_liu.BINARY_METHODS[key] for key in keys]

    def measures(data: BinaryData, method: ComparedMethod, epsilon: float) -> Measures:
        return data.outcome(method, epsilon, analysis).measures

    for p, n in product((0.15, 0.25, 0.5), (40, 100, 1_000)):
        main = ["supplement, Figure 1"] * 3 if p == 0.5 else ["Figure 2", "Figure 2", "Figure 3"]
        places = dict(zip(MEASURES, (*main, "supplement, Figure 2"), strict=True))
        lines = labelled(compared, partial(measures, BinaryData(n=n, p=p)))
        yield from sweep(STUDIES, places, f"p = {p}, n = {n:,}", np.exp(range(-6, 7)).tolist(), lines)


def numeric_measures(
    data: NormalData, estimands: tuple[str, ...], estimand: str, budget: SimulationBudget, method: NumericMethod,
    epsilon: float,
) -> Measures:  # fmt: skip
    """Return the measures of one estimand; all of them share the releases."""
    return bowen_liu.simulate_numeric(data, method, epsilon, estimands, budget)[estimand].measures


def normal_figures(budget: SimulationBudget) -> Rows:
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
            yield from sweep(STUDIES, figures, f"{symbol}, n = {n:,}", np.exp(range(-2, 9)).tolist(), lines)


LEVELS = 2, 3, 4  # of the categories of study 3, which make the 24 cells
MARGINALS = [
    levels.ravel() == level for levels, n in zip(np.indices(LEVELS), LEVELS, strict=True) for level in range(n - 1)
]
"""Which cells each free marginal probability is of: all levels of a category but its last."""
ESTIMANDS = [f"marginal_{place}" for place in range(len(MARGINALS))] + [f"mean_{place}" for place in range(N_CELLS)]


class EveryCell(MixedData):
    """Mixed data of which every free marginal probability is estimated, and every cell mean of the first number."""

    estimands: ClassVar[tuple[Estimand, ...]] = tuple(Estimand(key, key, key) for key in ESTIMANDS)

    @property
    def true_values(self) -> dict[str, float]:
        values = np.array([*(self.shares[marginal].sum() for marginal in MARGINALS), *self.means[0]])
        return dict(zip(ESTIMANDS, values.tolist(), strict=True))

    def read(self, rows: Any) -> dict[str, tuple[FloatArray, FloatArray]]:
        """Estimates, NaN of a cell without rows, and their variances: of means s²/n, s² being that within cells."""
        cells = cell_statistics(rows)
        has_rows, sizes = cells.counts > 0, np.maximum(cells.counts, 1.0)
        means = np.where(has_rows, self.middle + cells.sums[0] / sizes, math.nan)
        degrees = np.maximum(self.n - np.count_nonzero(has_rows, axis=1), 1)
        within = (cells.squares[0] / degrees)[:, None] / sizes
        shares = np.array([cells.counts[:, marginal].sum(axis=1) / self.n for marginal in MARGINALS])
        estimates, variances = [*shares, *means.T], [*(shares * (1 - shares) / self.n), *within.T]
        return dict(zip(ESTIMANDS, zip(estimates, variances, strict=True), strict=True))


def mixed_figures(budget: SimulationBudget) -> Rows:
    """Study 3: each cell mean and marginal at four ε; variance and correlation within cells against ε."""
    budget, places = budget.at_most(500), dict.fromkeys(MEASURES[:3], "Figure 6")
    keys = "original", "multiple_synthesis", "modips_printed", "perturbed_cells"
    compared = [method for method in MixedData.methods if method.key in keys]

    def at_place(epsilon: float, prefix: str, method: NumericMethod, place: float) -> Measures:
        key = f"{prefix}_{place - 1}"
        return numeric_measures(EveryCell(**STUDY_3), tuple(ESTIMANDS), key, budget, method, epsilon)

    parts = ("mean", N_CELLS, "cell means"), ("marginal", len(MARGINALS), "marginal probabilities")
    for log, (prefix, size, name) in product((0, 2, 4, 6), parts):
        lines = labelled(compared, partial(at_place, math.exp(log), prefix))
        yield from sweep(STUDIES, places, f"{size} {name}, ln ε = {log}", range(1, size + 1), lines)

    both = {"cell_variance": "variance within cells, σ²", "correlation": "correlation within cells, ρ"}
    places = dict.fromkeys(MEASURES[:3], "supplement, Figures 10 and 11")
    for estimand, name in both.items():
        lines = labelled(compared, partial(numeric_measures, MixedData(**STUDY_3), (*both,), estimand, budget))
        yield from sweep(STUDIES, places, name, np.exp(range(8)).tolist(), lines)


# Liu


@lru_cache(maxsize=16)
def simulate_means(
    data: NormalData, method: NumericMethod, epsilon: float, sets: int, budget: SimulationBudget
) -> FloatArray:
    """Return q̄, b and v̄ of a normal mean, shape (3, repetitions); there are fewer where many sets are drawn."""
    runs = min(budget.repetitions, max(MAX_ROWS // (data.n * sets), MIN_STUDIES))
    rng, parts = np.random.default_rng(budget.seed), []
    while runs > 0:
        size = min(runs, max(BLOCK_ROWS // data.n, 1))
        released = method.draw(rng, data.draw(rng, size), epsilon, data, sets)
        mean, variance = np.moveaxis(np.array([data.read(rows)["mean"] for rows in released]), 1, 0)
        parts.append([mean.mean(axis=0), mean.var(axis=0, ddof=1), variance.mean(axis=0)])
        runs -= size
    return np.concatenate(parts, axis=1)


def interval_measures(study: FloatArray, rule: str, sets: int, truth: float) -> dict[str, Measure]:
    """Return the measures of 95 % intervals; a negative variance estimate counts as 0 and leaves no interval."""
    estimate, between, within = study  # q̄, b and v̄, shape (3, repetitions)
    total, degrees = COMBINING_RULES[rule].variance_and_degrees(between, within, sets=sets)
    half, deviation = half_widths(total, degrees, 0.95), estimate - truth
    n_covering = np.count_nonzero((half > 0) & (np.abs(deviation) <= half))
    means = {"bias": deviation, "standard_error": np.sqrt(np.maximum(total, 0.0))}
    size = len(estimate)
    measures = {name: Measure.mean(values.sum(), (values**2).sum(), size) for name, values in means.items()}
    return measures | {"coverage": Measure.share(n_covering, size)}


def proportion_measures(
    kind: type[Modips | ModipsTruncated], n: int, p: float, budget: SimulationBudget, rule: str, sets: int,
    epsilon: float,
) -> Measures:  # fmt: skip
    """Return the measures of a rule for a proportion; by none, the standard deviation that all of them estimate."""
    mechanism = kind(n=n, m=n, epsilon=epsilon / sets)
    mean, of_means, between, _ = liu.exact_moments(mechanism, p)
    if rule not in COMBINING_RULES:
        return {"standard_error": Measure(math.sqrt(of_means + between / sets), 0.0)}
    releases = liu.draw_releases(mechanism, p, sets, budget.repetitions, budget.seed)
    study = np.concatenate([(part.estimate, part.between, part.within) for _, part in releases], axis=1)
    return interval_measures(study, rule, sets, p) | {"bias": Measure(mean - p, 0.0)}


def mean_measures(
    method: NumericMethod, data: NormalData, budget: SimulationBudget, rule: str, sets: int, epsilon: float
) -> Measures:
    """Return those for the mean of normal data."""
    accuracy = method.exact_accuracy(data, epsilon, sets)
    if accuracy and rule not in COMBINING_RULES:
        variance = accuracy.root_mean_squared_error**2 - accuracy.bias**2
        return {"standard_error": Measure(math.sqrt(variance), 0.0)}
    measures = interval_measures(simulate_means(data, method, epsilon, sets, budget), rule, sets, 0.0)
    return measures | ({"bias": Measure(accuracy.bias, 0.0)} if accuracy else {})


def liu_normal(kind: type[NormalData]) -> Iterator[tuple[str, NormalData]]:
    """Yield normal data of both sizes between both pairs of bounds, with its setting in words."""
    for high, n in product((4.0, 5.0), (100, 1_000)):
        yield f"n = {n:,}, bounds −4 and {high:g}", kind(**STANDARD | {"high": high}, n=n)


def sets_figures(budget: SimulationBudget) -> Rows:
    """Figure 6: bias (exact), mean standard error and coverage with Theorem 7 against m, at ε = 1."""
    axis = 2, 3, 4, 5, 6, 8, 10, 15, 20, 30, 40, 50, 70, 100, 150, 200, 300, 500
    places = dict.fromkeys(("bias", "standard_error", "coverage"), "Figure 6")
    schemes = ("BIT", Modips, methods.MODIPS_MEAN), ("truncation", ModipsTruncated, methods.MODIPS_MEAN_TRUNCATED)
    for n, p in product((100, 1_000), (0.1, 0.5)):
        lines = {
            Label(kind.key, name): partial(proportion_measures, kind, n, p, budget, "reiter_2003", epsilon=1.0)
            for name, kind, _ in schemes
        }
        yield from sweep(LIU, places, f"binary data, n = {n:,}, p = {p}", axis, lines)
    for setting, data in liu_normal(KnownVariance):
        lines = {
            Label(method.key, name): partial(mean_measures, method, data, budget, "reiter_2003", epsilon=1.0)
            for name, _, method in schemes
        }
        yield from sweep(LIU, places, f"normal data, {setting}", axis, lines)


def rules_figures(budget: SimulationBudget) -> Rows:
    """Figure 7: the mean standard error by four rules, and what they estimate, against ε; ten sets."""
    axis = 0.5, 0.7, 1.0, 2.0, 5.0, 10.0, 20.0, 50.0, 100.0
    labels = [Label(rule, COMBINING_RULES[rule].label) for rule in liu.RULE_ORDER]
    labels.append(Label("original", "what they estimate", LineKind.REFERENCE))
    curves: dict[str, Curve] = {
        f"binary data, n = {n:,}, p = {p}": partial(proportion_measures, Modips, n, p, budget)
        for n, p in product((100, 1_000), (0.5, 0.1))
    }
    for n in (10, 100):
        data = KnownVariance(**STANDARD, n=n)
        curves[f"normal data, n = {n}"] = partial(mean_measures, methods.MODIPS_MEAN, data, budget)
    for setting, curve in curves.items():
        lines = {label: partial(curve, label.key, N_SETS) for label in labels}
        yield from sweep(LIU, {"standard_error": "Figure 7"}, setting, axis, lines)


def budget_figures(budget: SimulationBudget) -> Rows:
    """Figure 8: bias, coverage and width against the share w of ε that the mean has; ε = 1, ten sets."""

    def at_share(data: NormalData, method: NumericMethod, share: float) -> Measures:
        return numeric_measures(data, ("mean",), "mean", budget, method.with_share(share), 1.0)

    labels = {
        Label(methods.MODIPS_COMMUNAL.key, "BIT"): methods.MODIPS_SPLIT,
        Label(methods.MODIPS_COMMUNAL_TRUNCATED.key, "truncation"): methods.MODIPS_SPLIT_TRUNCATED,
    }
    places, shares = dict.fromkeys(("bias", "coverage", "mean_width"), "Figure 8"), [w / 10 for w in range(1, 10)]
    for setting, data in liu_normal(UnknownVariance):
        lines = {label: partial(at_share, data, method) for label, method in labels.items()}
        yield from sweep(LIU, places, setting, shares, lines)


FIGURES = {
    function.__name__.removesuffix("_figures"): function
    for function in (
        charest_figures, zheng_figures, proportion_figures, normal_figures, mixed_figures, sets_figures, rules_figures,
        budget_figures,
    )
}  # fmt: skip
"""In the order of the file."""


def main() -> None:
    """Print the file, or some of its parts."""
    parser = argparse.ArgumentParser(prog="python -m tests.reproduction.figures", description=__doc__)
    parser.add_argument("parts", nargs="*", choices=[[], *FIGURES], help="some of them (default: all)")
    writer = csv.writer(sys.stdout, lineterminator="\n")
    writer.writerow(COLUMNS)
    for part in parser.parse_args().parts or FIGURES:
        writer.writerows(FIGURES[part](SimulationBudget()))


if __name__ == "__main__":
    main()
