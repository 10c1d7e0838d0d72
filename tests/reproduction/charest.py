"""Checks of Charest, How can we analyze differentially-private synthetic datasets?, J. Privacy Confidentiality 2(2)."""

import math
from functools import cache
from typing import NamedTuple

import numpy as np

from dpviz.comparisons.proportion import EPSILON_WITHOUT_NOISE
from dpviz.core.numerics.combinatorics import multisets
from dpviz.core.types import FloatArray
from dpviz.coverage.exact import exact_coverage, exact_coverages
from dpviz.coverage.release_distribution import release_distribution
from dpviz.inference.combining_rules import COMBINING_RULES
from dpviz.inference.moments import proportion_moments
from dpviz.inference.posterior_coverage import posterior_summaries, release_probabilities
from dpviz.mechanisms import BetaBinomial, GeometricSanitizer
from dpviz.published.figures import load_figures
from dpviz.published.records import Record, load_papers
from tests.reproduction.evidence import (
    Evidence,
    SimulationBudget,
    between,
    check,
    check_each,
    decreasing,
    increasing,
)

PAPER, N, X = "charest", 100, 30
SETS = (1, 2, 5, 10)
RUNS = {"table_1": 100_000, "table_2": 100_000, "table_3": 1_000, "table_4": 1_000}  # as the captions say
FIGURE_1_RUNS = 1_000  # of the text; the caption has 10,000
MIN_RUNS = 20_000  # of ours, for five and ten sets of Table 3
ENUMERATED_SETS = 2  # More sets are simulated
TRUE_MEAN, TRUE_VARIANCE = 31 / 102, 31 * 71 / (102**2 * 103)  # of the posterior Beta(31, 71)
PRINTED_MEAN = 0.3039
FIGURE_1_RULES = ("reiter_2002_normal", "reiter_2002")  # both readings of T* where T is negative


class Estimate(NamedTuple):
    """What a printed number estimates, the standard error of ours, and the deviation of one run of the paper's."""

    value: float
    error: float
    spread: float

    def scaled(self, factor: float, origin: float = 0.0) -> "Estimate":
        """Return its distance from an origin, in other units."""
        return Estimate(factor * (self.value - origin), factor * self.error, factor * self.spread)

    def evidence(self, record: Record) -> Evidence:
        """Return it beside a printed number, which is rounded and from so many runs."""
        simulation, rounding = self.spread / math.sqrt(RUNS[record.key]), record.unit / math.sqrt(12)
        return Evidence(self.value, standard_error=math.hypot(simulation, rounding, self.error), own_error=self.error)


def weighted_mean(weights: FloatArray, values: FloatArray, runs: float = math.inf) -> Estimate:
    """Return the mean of values with these probabilities, from so many runs of ours."""
    value = float(weights @ values)
    spread = math.sqrt(float(weights @ (values - value) ** 2))
    return Estimate(value, spread / math.sqrt(runs), spread)


def synthesizer(epsilon: float, sets: int) -> BetaBinomial:
    """Return the beta-binomial of one of `sets` sets: 100 rows from 100, the smallest prior that keeps ε/M."""
    alpha = BetaBinomial.smallest_alpha(m=N, epsilon=epsilon / sets)
    return BetaBinomial(n=N, m=N, alpha=alpha, beta=alpha)


def relative_bias(epsilon: float, p: float, sets: int, n: int = N) -> float:
    """Return 100 (E[q̄] − p)/p, in per cent."""
    alpha = BetaBinomial.smallest_alpha(m=n, epsilon=epsilon / sets)
    return 100 * ((n * p + alpha) / (n + 2 * alpha) / p - 1)


@check_each(PAPER, "table_1")
def _(record: Record, _: SimulationBudget) -> Evidence:
    epsilon, p, sets = (float(record.parameters[name]) for name in ("epsilon", "p", "sets"))
    if not sets:  # the confidential data
        return Estimate(0.0, 0.0, 100 * math.sqrt(p * (1 - p) / N) / p).evidence(record)
    alpha = synthesizer(epsilon, int(sets)).alpha
    moments = proportion_moments("synth_post_one", n=N, m=N, alpha=alpha, beta=alpha, proportion=p, sets=int(sets))
    return Estimate(100 * moments.bias / p, 0.0, 100 * moments.standard_error / p).evidence(record)


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
    negative = float(weights[t < 0].sum())

    def bias(estimator: FloatArray) -> Estimate:
        ratio = float(weights @ estimator) / variance.value
        influence = (estimator - ratio * squares) / variance.value  # of one repetition, on the ratio of the two means
        return Estimate(100 * (ratio - 1), 0.0, 100 * math.sqrt(float(weights @ influence**2)))

    return {
        "var_qbar_1e-4": variance.scaled(1e4),
        "rel_bias_TM_pct": bias(t),
        "rel_bias_TMstar_pct": bias(t_star),
        "negative_TM_pct": Estimate(100 * negative, 0.0, 100 * math.sqrt(negative * (1 - negative))),
    }


@check_each(PAPER, "table_2")
def _(record: Record, _: SimulationBudget) -> Evidence:
    epsilon, p, sets = (float(record.parameters[name]) for name in ("epsilon", "p", "sets"))
    return rule_moments(epsilon, p, int(sets))[record.what].evidence(record)


class PosteriorRuns(NamedTuple):
    """The synthetic posteriors of x = 30 over releases: mean and variance of their means, mean of their variances."""

    mean: Estimate
    variance_of_means: Estimate
    mean_of_variances: Estimate


def posterior_runs(epsilon: float, sets: int, generator: np.random.Generator, draws: int = MIN_RUNS) -> PosteriorRuns:
    """Return what Tables 3 and 4 show: one or two sets enumerated, so many releases of more sets drawn."""
    release, runs = synthesizer(epsilon, sets), math.inf
    if sets <= ENUMERATED_SETS:
        counts, log_orders = multisets(N + 1, sets)
        weights = release_probabilities(release, counts, np.exp(log_orders), np.eye(N + 1)[:, [X]])[:, 0]
        counts, weights = counts[weights > 0], weights[weights > 0] / weights.sum()
    else:
        counts, runs = release.draw(generator, X, (draws, sets)), draws
        weights = np.full(draws, 1 / draws)
    posterior = posterior_summaries(counts, synthesizer=release, interval=None)
    mean = weighted_mean(weights, posterior.mean, runs)
    squares = (posterior.mean - mean.value) ** 2
    return PosteriorRuns(mean, weighted_mean(weights, squares, runs), weighted_mean(weights, posterior.variance, runs))


@cache
def runs_by_sets(budget: SimulationBudget) -> dict[int, PosteriorRuns]:
    """Return the rows of Table 3, at ε = 2, from one stream of random numbers."""
    generator, draws = budget.generator(), max(budget.repetitions, MIN_RUNS)
    return {sets: posterior_runs(2.0, sets, generator, draws) for sets in SETS}


@cache
def runs_by_epsilon(epsilon: float) -> PosteriorRuns:
    """Return a row of Table 4, exactly."""
    return posterior_runs(epsilon, 1, np.random.default_rng())


@check_each(PAPER, "table_3", "table_4")
def _(record: Record, budget: SimulationBudget) -> Evidence:
    epsilon, sets = (float(record.parameters[name]) for name in ("epsilon", "sets"))
    runs = runs_by_sets(budget)[int(sets)] if record.key == "table_3" else runs_by_epsilon(epsilon)
    if record.what == "posterior_mean":
        return runs.mean.evidence(record)
    if record.what == "rel_bias_pct":  # in points, or relative to the mean as the column says
        return runs.mean.scaled(100 / PRINTED_MEAN if record.as_stated else 100, PRINTED_MEAN).evidence(record)
    if record.what == "ratio_to_true_variance":
        return runs.mean_of_variances.scaled(1 / TRUE_VARIANCE).evidence(record)
    variance = runs.mean_of_variances if record.as_stated else runs.variance_of_means
    return variance.scaled(1e3).evidence(record)


# Section 3.2


@check(PAPER, "fixed")
def _(_: SimulationBudget) -> Evidence:
    x, alpha = np.arange(N + 1), synthesizer(2, 1).alpha
    unbiased = x[np.isclose((x + alpha) / (N + 2 * alpha), x / N, rtol=0, atol=1e-12)]
    return Evidence(f"The mean of q is x/n where x is {', '.join(map(str, unbiased))}.", not unbiased.size)


@check(PAPER, "asymptotic")
def _(_: SimulationBudget) -> Evidence:
    smallest = min(relative_bias(2, 0.25, 5, n) for n in (100, 10_000, 1_000_000))
    by_sets = increasing([relative_bias(2, 0.25, sets) for sets in (10, 100, 1_000)], " %")
    return Evidence(by_sets.value, by_sets.supported and smallest > 1)


check(PAPER, "unbiased")(lambda _: between([relative_bias(2, 0.5, sets) for sets in SETS], -1e-9, 1e-9, " %"))
check(PAPER, "ninety")(lambda _: Evidence(relative_bias(2, 0.25, 10)))
check(PAPER, "more_sets")(lambda _: increasing([relative_bias(2, 0.25, sets) for sets in SETS], " %"))
check(PAPER, "large")(lambda _: between([relative_bias(250, 0.25, sets) for sets in SETS], -0.005, 0.005, " %"))
check(PAPER, "extreme")(
    lambda _: increasing([[relative_bias(2, p, sets) for p in (0.4, 0.25, 0.1)] for sets in SETS], " %")
)


# Section 3.3


def table_2(column: str, epsilon: float, *proportions: float) -> FloatArray:
    """Return a column of Table 2 for 2, 5 and 10 sets, shape (proportions, sets)."""
    return np.array([[rule_moments(epsilon, p, sets)[column].value for sets in SETS[1:]] for p in proportions])


T, T_STAR = "rel_bias_TM_pct", "rel_bias_TMstar_pct"
check(PAPER, "both_over")(lambda _: between([table_2(column, 2, 0.25, 0.5) for column in (T, T_STAR)], 0, unit=" %"))
check(PAPER, "t_smaller")(lambda _: between(table_2(T, 2, 0.25, 0.5) / table_2(T_STAR, 2, 0.25, 0.5), 0, 1))
check(PAPER, "half")(lambda _: between(table_2("negative_TM_pct", 2, 0.25, 0.5), 39, 50, unit=" %"))
check(PAPER, "star_grows")(lambda _: increasing([table_2(T_STAR, epsilon, 0.25) for epsilon in (2, 250)], " %"))
check(PAPER, "variance_falls")(
    lambda _: decreasing([table_2("var_qbar_1e-4", *row) for row in ((2, 0.25), (2, 0.5), (250, 0.25))])
)
# E[q(1 − q)/n] = p(1 − p)/n (1 − 1/n)
check(PAPER, "real_unbiased")(lambda _: between([-100 / N], -0.05, 0.05, " %"))


# Section 3.4 and Figure 1


def figure_1(epsilon: float, p: float = 0.25) -> FloatArray:
    """Return the exact coverage of Figure 1 for 2, 5 and 10 sets, shape (readings, sets)."""
    coverages = [
        exact_coverages(synthesizer=synthesizer(epsilon, sets), p=p, sets=sets, rules=FIGURE_1_RULES)
        for sets in SETS[1:]
    ]
    return np.array([[coverage[rule].coverage for coverage in coverages] for rule in FIGURE_1_RULES])


def drawn_coverage(p: float) -> FloatArray:
    """Return the coverage of Figure 1 as drawn, shape (readings, sets, ε from 0.1 to 3)."""
    figure = next(figure for figure in load_figures() if figure.paper == load_papers()[PAPER])
    return np.array([[line.y for line in panel.lines if line.name.startswith(f"p = {p},")] for panel in figure.panels])


def share_near_80(rule: str) -> Evidence:
    """Return the coverage of two sets at ε = 3 in per cent, which the text rounds to tens."""
    share = exact_coverage(synthesizer=synthesizer(3.0, 2), p=0.25, sets=2, rule=rule).coverage
    error = math.hypot(100 * math.sqrt(share * (1 - share) / FIGURE_1_RUNS), 1 / math.sqrt(12))
    return Evidence(100 * share, standard_error=error)


check(PAPER, "eighty")(lambda _: share_near_80(FIGURE_1_RULES[0]))
check(PAPER, "eighty_t")(lambda _: share_near_80(FIGURE_1_RULES[1]))
check(PAPER, "fewer_cover")(lambda _: decreasing(drawn_coverage(0.25)[:, :, -1]))
check(PAPER, "almost_100")(lambda _: between(drawn_coverage(0.5), 0.96))
check(PAPER, "high")(lambda _: between(drawn_coverage(0.5)[:, 2], 0.96))
check(PAPER, "below_nominal")(lambda _: between(drawn_coverage(0.25), 0, 0.95 - 1e-12))
check(PAPER, "worse")(lambda _: decreasing(drawn_coverage(0.25)[0], axis=0))
check(PAPER, "repetitions")(lambda _: Evidence("Text: 1,000; caption: 10,000.", False))


@check(PAPER, "true_95")
def _(_: SimulationBudget) -> Evidence:
    data = GeometricSanitizer(n=N, epsilon=EPSILON_WITHOUT_NOISE)
    coverages = [exact_coverage(synthesizer=data, p=p, sets=1, rule="as_if_real").coverage for p in (0.25, 0.5)]
    return between(coverages, 0.94, 0.96)


# Section 4


def table_4_rows() -> list[PosteriorRuns]:
    """Return Table 4 from ε = 0.1 to 250."""
    return [runs_by_epsilon(epsilon) for epsilon in (0.1, 0.5, 1.0, 2.0, 3.0, 250.0)]


def biases(rows: list[PosteriorRuns]) -> FloatArray:
    """Return how far the posterior means are from 0.3039."""
    return np.array([row.mean.value for row in rows]) - PRINTED_MEAN


def variances(rows: list[PosteriorRuns]) -> FloatArray:
    """Return the mean posterior variances."""
    return np.array([row.mean_of_variances.value for row in rows])


check(PAPER, "true_alpha")(lambda _: Evidence(1.0 + X))
check(PAPER, "true_beta")(lambda _: Evidence(1.0 + N - X))
check(PAPER, "true_mean")(lambda _: Evidence(TRUE_MEAN))
check(PAPER, "true_variance")(lambda _: Evidence(TRUE_VARIANCE))
check(PAPER, "centered")(lambda budget: between(biases([*runs_by_sets(budget).values()]), -0.03, 0.03))
check(PAPER, "wider", "optimal")(lambda budget: increasing(variances([*runs_by_sets(budget).values()])))
check(PAPER, "mean_grows")(lambda _: decreasing(100 * biases(table_4_rows()), " points"))
check(PAPER, "variance_shrinks")(lambda _: decreasing(variances(table_4_rows())))
check(PAPER, "three_times")(lambda _: between(variances(table_4_rows())[-1:] / TRUE_VARIANCE, 2.5, 3))


@check(PAPER, "offset")
def _(_: SimulationBudget) -> Evidence:
    points = 100 * biases(table_4_rows())
    at_tenth, at_1 = points[0], points[2]
    return Evidence(f"{at_tenth:.3g} points at ε = 0.1 and {at_1:.3g} at 1.", at_tenth > 10 > at_1)
