"""Tables, figure and statements of Charest, How can we analyze differentially-private synthetic datasets? (2011)."""

import math
from functools import cache
from typing import NamedTuple

import numpy as np

from dpviz.comparisons.proportion import EPSILON_WITHOUT_NOISE
from dpviz.core.numerics.combinatorics import multisets
from dpviz.core.types import FloatArray
from dpviz.coverage import exact_coverage, exact_coverages
from dpviz.coverage.release_distribution import release_distribution
from dpviz.inference import COMBINING_RULES, posterior_summaries, proportion_moments
from dpviz.inference.posterior_coverage import release_probabilities
from dpviz.mechanisms import BetaBinomial, GeometricSanitizer
from dpviz.published.figures import load_figures
from dpviz.published.records import Record
from tests.reproduction import evidence
from tests.reproduction.evidence import CELL_CHECKS, SECTIONS, Evidence, Findings, SimulationBudget, between, values

N, X = 100, 30
SETS = (1, 2, 5, 10)
RUNS = {"table_1": 100_000, "table_2": 100_000, "table_3": 1_000, "table_4": 1_000}  # as the captions say
MIN_RUNS = 20_000  # of ours, for five and ten sets of Table 3
TRUE_MEAN, TRUE_VARIANCE = 31 / 102, 31 * 71 / (102**2 * 103)  # of the posterior Beta(31, 71)
PRINTED_MEAN = 0.3039
FIGURE_1_RULES = ("reiter_2002_normal", "reiter_2002")  # both readings of T* where T is negative
FIGURE_1_EPSILONS = (0.1, 0.25, 0.5, 0.75, 1.0, 1.5, 2.0, 2.5, 3.0)  # ours


class Estimate(NamedTuple):
    """What a printed number estimates, the deviation of one run of the paper's, and the standard error of ours."""

    value: float
    spread: float
    error: float = 0.0

    def scaled(self, factor: float, origin: float = 0.0) -> "Estimate":
        """Return its distance from an origin, in other units."""
        return Estimate(factor * (self.value - origin), factor * self.spread, factor * self.error)

    def evidence(self, record: Record) -> Evidence:
        """Return it beside a printed number, which is rounded and from so many runs."""
        simulation, rounding = self.spread / math.sqrt(RUNS[record.key]), record.unit / math.sqrt(12)
        return Evidence(self.value, standard_error=math.hypot(simulation, rounding, self.error), own_error=self.error)


def weighted_mean(weights: FloatArray, numbers: FloatArray, runs: float = math.inf) -> Estimate:
    """Return the mean of numbers with these probabilities, from so many runs of ours."""
    value = float(weights @ numbers)
    spread = math.sqrt(float(weights @ (numbers - value) ** 2))
    return Estimate(value, spread, spread / math.sqrt(runs))


def design(record: Record) -> tuple[float, float, int]:
    """Return ε, p and the number of sets of a cell; 0 sets stand for the confidential data."""
    epsilon, p, sets = (float(record.parameters.get(name, math.nan)) for name in ("epsilon", "p", "sets"))
    return epsilon, p, int(sets)


def synthesizer(epsilon: float, sets: int) -> BetaBinomial:
    """Return the beta-binomial of one of `sets` sets: 100 rows from 100, the smallest prior that keeps ε/M."""
    alpha = BetaBinomial.smallest_alpha(m=N, epsilon=epsilon / sets)
    return BetaBinomial(n=N, m=N, alpha=alpha, beta=alpha)


def relative_bias(epsilon: float, p: float, sets: int, n: int = N) -> float:
    """Return 100 (E[q̄] − p)/p, in per cent."""
    alpha = BetaBinomial.smallest_alpha(m=n, epsilon=epsilon / sets)
    return 100 * ((n * p + alpha) / (n + 2 * alpha) / p - 1)


def table_1_cell(record: Record, _: SimulationBudget) -> Evidence:
    """Relative bias of the estimate, in per cent."""
    epsilon, p, sets = design(record)
    bias, deviation = 0.0, math.sqrt(p * (1 - p) / N)
    if sets:
        alpha = synthesizer(epsilon, sets).alpha
        moments = proportion_moments("synth_post_one", n=N, m=N, alpha=alpha, beta=alpha, proportion=p, sets=sets)
        bias, deviation = moments.bias, moments.standard_error
    return Estimate(bias, deviation).scaled(100 / p).evidence(record)


def section_3_2() -> Findings:
    """Bias of the mean of q."""
    x, alpha = np.arange(N + 1), synthesizer(2, 1).alpha
    unbiased = x[np.isclose((x + alpha) / (N + 2 * alpha), x / N, rtol=0, atol=1e-12)]
    yield "fixed", values(unbiased, not unbiased.size)
    by_rows = [relative_bias(2, 0.25, 5, n) for n in (100, 10_000, 1_000_000)]
    by_sets = [relative_bias(2, 0.25, sets) for sets in (10, 100, 1_000)]
    yield "asymptotic", values([by_rows, by_sets], min(by_rows) > 1 and evidence.increasing(by_sets).supported)
    yield "unbiased", between([relative_bias(2, 0.5, sets) for sets in SETS], -1e-9, 1e-9)
    yield "ninety", relative_bias(2, 0.25, 10)
    yield "more_sets", evidence.increasing([relative_bias(2, 0.25, sets) for sets in SETS])
    yield "large", between([relative_bias(250, 0.25, sets) for sets in SETS], -0.005, 0.005)
    yield "extreme", evidence.increasing([[relative_bias(2, p, sets) for p in (0.4, 0.25, 0.1)] for sets in SETS])


@cache
def rule_moments(epsilon: float, p: float, sets: int) -> dict[str, Estimate]:
    """Return the columns of Table 2: Var(q̄), 100 (E[T]/Var(q̄) − 1) for T and T*, and 100 Pr(T < 0).

    The paper divides by a variance estimated from the same runs; the spread of the ratio takes that into account to
    first order.
    """
    distribution = release_distribution(synthesizer(epsilon, sets), p=p, sets=sets)
    statistics = distribution.statistics
    weights = distribution.probability / distribution.probability.sum()
    squares = (statistics.estimate - weights @ statistics.estimate) ** 2
    variance = weighted_mean(weights, squares)
    t, t_star = (
        COMBINING_RULES[rule].variance_and_degrees(statistics.between, statistics.within, sets=sets)[0]
        for rule in ("raghunathan_2003", "reiter_2002")
    )

    def bias(estimator: FloatArray) -> Estimate:
        ratio = float(weights @ estimator) / variance.value
        influence = (estimator - ratio * squares) / variance.value  # of one repetition, on the ratio of the two means
        return Estimate(100 * (ratio - 1), 100 * math.sqrt(float(weights @ influence**2)))

    return {
        "var_qbar_1e-4": variance.scaled(1e4),
        "rel_bias_TM_pct": bias(t),
        "rel_bias_TMstar_pct": bias(t_star),
        "negative_TM_pct": weighted_mean(weights, t < 0).scaled(100),
    }


def table_2(column: str, epsilon: float, *proportions: float) -> FloatArray:
    """Return a column of Table 2 for 2, 5 and 10 sets, shape (proportions, sets)."""
    return np.array([[rule_moments(epsilon, p, sets)[column].value for sets in SETS[1:]] for p in proportions])


def section_3_3() -> Findings:
    """Variance estimators T and T*."""
    t, t_star = (table_2(column, 2, 0.25, 0.5) for column in ("rel_bias_TM_pct", "rel_bias_TMstar_pct"))
    yield "both_over", between([t.min(), t_star.min()], low=0)
    yield "t_smaller", between(t_star / t, low=1)
    yield "half", between(table_2("negative_TM_pct", 2, 0.25, 0.5), 39, 50)
    yield "star_grows", evidence.increasing([t_star[:1], table_2("rel_bias_TMstar_pct", 250, 0.25)])
    variances = [table_2("var_qbar_1e-4", *row) for row in ((2, 0.25), (2, 0.5), (250, 0.25))]
    yield "variance_falls", evidence.decreasing(variances)
    yield "real_unbiased", between(-100 / N, -0.05, 0.05)  # E[q(1 − q)/n] = p(1 − p)/n (1 − 1/n)


@cache
def figure_1(epsilon: float, p: float = 0.25) -> FloatArray:
    """Return the exact coverage of Figure 1 for 2, 5 and 10 sets, shape (readings, sets)."""
    coverages = [
        exact_coverages(synthesizer=synthesizer(epsilon, sets), p=p, sets=sets, rules=FIGURE_1_RULES)
        for sets in SETS[1:]
    ]
    return np.array([[coverage[rule].coverage for coverage in coverages] for rule in FIGURE_1_RULES])


def section_3_4() -> Findings:
    """Coverage, in per cent, and Figure 1, judged by the 1,000 runs of the text; the caption has 10,000."""
    for key, share in zip(("eighty", "eighty_t"), figure_1(3.0)[:, 0].tolist(), strict=True):
        error = math.hypot(100 * math.sqrt(share * (1 - share) / 1_000), 1 / math.sqrt(12))
        yield key, Evidence(100 * share, standard_error=error)  # with the rounding to whole per cent

    # Shape (readings, sets, ε)
    panels = next(figure.panels for figure in load_figures() if figure.paper == "Charest (2011)")
    quarter, half = (
        100 * np.array([[line.y for line in panel.lines if f"p = {p}," in line.name] for panel in panels])
        for p in (0.25, 0.5)
    )
    rises = (np.diff(quarter[0], axis=0) >= 0).any(axis=0)
    yield "fewer_cover", evidence.decreasing(quarter[:, :, -1])
    yield "almost_100", between(half.min(axis=(0, 2)), low=96)
    yield "high", between(half[:, 2], low=96)
    yield "below_nominal", between(quarter, high=95 - 1e-10)
    yield "worse", values(np.array(FIGURE_1_EPSILONS)[rises], not rises.any())
    data = GeometricSanitizer(n=N, epsilon=EPSILON_WITHOUT_NOISE)
    shares = [exact_coverage(synthesizer=data, p=p, sets=1, rule="as_if_real").coverage for p in (0.25, 0.5)]
    yield "true_95", between(100 * np.array(shares), 94, 96)


class PosteriorRuns(NamedTuple):
    """The synthetic posteriors of x = 30 over releases: mean and variance of their means, mean of their variances."""

    mean: Estimate
    variance_of_means: Estimate
    mean_of_variances: Estimate


def posterior_runs(epsilon: float, sets: int, generator: np.random.Generator, draws: int = MIN_RUNS) -> PosteriorRuns:
    """Return what Tables 3 and 4 show: one or two sets enumerated, so many releases of more sets drawn."""
    release, runs = synthesizer(epsilon, sets), math.inf
    if sets <= 2:  # more are too many to enumerate
        counts, log_orders = multisets(N + 1, sets)
        weights = release_probabilities(release, counts, np.exp(log_orders), np.eye(N + 1)[:, [X]])[:, 0]
        counts, weights = counts[weights > 0], weights[weights > 0] / weights.sum()
    else:
        counts, runs = release.draw(generator, X, (draws, sets)), draws
        weights = np.full(draws, 1 / draws)
    posterior = posterior_summaries(counts, synthesizer=release)
    mean = weighted_mean(weights, posterior.mean, runs)
    squares = (posterior.mean - mean.value) ** 2
    return PosteriorRuns(mean, weighted_mean(weights, squares, runs), weighted_mean(weights, posterior.variance, runs))


@cache
def runs_by_sets(budget: SimulationBudget) -> dict[int, PosteriorRuns]:
    """Return the rows of Table 3, at ε = 2, from one stream of random numbers."""
    generator, draws = np.random.default_rng(budget.seed), max(budget.repetitions, MIN_RUNS)
    return {sets: posterior_runs(2.0, sets, generator, draws) for sets in SETS}


@cache
def runs_by_epsilon(epsilon: float) -> PosteriorRuns:
    """Return a row of Table 4, exactly."""
    return posterior_runs(epsilon, 1, np.random.default_rng())


def posterior_cell(record: Record, budget: SimulationBudget) -> Evidence:
    """Return a cell as its record reads it: a bias in points or relative to the mean, one variance or the other."""
    epsilon, _, sets = design(record)
    runs = runs_by_sets(budget)[sets] if record.key == "table_3" else runs_by_epsilon(epsilon)
    variance = runs.mean_of_variances if record.as_stated else runs.variance_of_means
    columns = {
        "posterior_mean": runs.mean,
        "rel_bias_pct": runs.mean.scaled(100 / PRINTED_MEAN if record.as_stated else 100, PRINTED_MEAN),
        "ratio_to_true_variance": runs.mean_of_variances.scaled(1 / TRUE_VARIANCE),
        "posterior_variance_1e-3": variance.scaled(1e3),
    }
    return columns[record.what].evidence(record)


def biases_and_variances(runs: list[PosteriorRuns]) -> tuple[FloatArray, FloatArray]:
    """Return how far the posterior means are from 0.3039, in points, and the mean posterior variances × 1000."""
    means, variances = np.transpose([(row.mean.value, row.mean_of_variances.value) for row in runs])
    return 100 * (means - PRINTED_MEAN), 1e3 * variances


def section_4() -> Findings:
    """The posterior, by ε."""
    truths = {"true_alpha": 1 + X, "true_beta": 1 + N - X, "true_mean": TRUE_MEAN, "true_variance": TRUE_VARIANCE}
    yield from truths.items()
    biases, variances = biases_and_variances([runs_by_epsilon(epsilon) for epsilon in (0.1, 0.5, 1.0, 2.0, 3.0, 250.0)])
    yield "mean_grows", evidence.decreasing(biases)
    yield "variance_shrinks", evidence.decreasing(variances)
    yield "three_times", between(variances[-1] / (1e3 * TRUE_VARIANCE), 2.5, 3)
    yield "offset", values(biases[[0, 2]], biases[0] > 10 > biases[2])


def table_3(budget: SimulationBudget) -> Findings:
    """The posterior, by the number of sets."""
    biases, variances = biases_and_variances([*runs_by_sets(budget).values()])
    yield "centered", between(abs(biases), high=3)
    yield from dict.fromkeys(("wider", "optimal"), evidence.increasing(variances)).items()


CELL_CHECKS["charest", "table_1"] = table_1_cell
CELL_CHECKS["charest", "table_2"] = lambda record, _: rule_moments(*design(record))[record.what].evidence(record)
CELL_CHECKS["charest", "table_3"] = CELL_CHECKS["charest", "table_4"] = posterior_cell
SECTIONS["charest"] = [section_3_2, section_3_3, section_3_4, section_4, table_3]
