"""The figures without printed numbers: the frozen lines come out again, and are what a second computation finds."""

import itertools
import math

import numpy as np
import pytest
from scipy.stats import binom

from dpviz.comparisons import UnknownVariance
from dpviz.comparisons.mixed import MixedRows
from dpviz.comparisons.numeric_releases import SMOOTHED_HISTOGRAM
from dpviz.core.data_files import read_table
from dpviz.mechanisms import BetaBinomial
from tests.reproduction import figures
from tests.reproduction.bowen_liu import N_CELLS, STUDY_3, accuracy, simulate_numeric
from tests.reproduction.evidence import SimulationBudget, curves
from tests.reproduction.figures import COLUMNS, LEVELS, MARGINALS, EveryCell, interval_measures

BUDGET = SimulationBudget()
FROZEN = [[row[column] for column in COLUMNS] for row in read_table("published/figures")]


@pytest.mark.parametrize("part", ["charest", "zheng"])
def test_what_is_exact_is_computed_again_to_the_digit(part: str) -> None:
    rows = list(figures.FIGURES[part](BUDGET))
    assert rows == [row for row in FROZEN if row[0] == rows[0][0]]


def test_a_bias_that_is_exact_is_computed_again_beside_what_is_simulated() -> None:
    rows = list(itertools.islice(figures.sets_figures(SimulationBudget(repetitions=10)), 2))
    assert rows == [row for row in FROZEN if row[1:4] == ["Figure 6", rows[0][2], "bias"]]


@pytest.mark.parametrize("key", ["laplace", "modips", "beta_binomial", "posterior_mean"])
@pytest.mark.parametrize(("n", "p"), [(40, 0.15), (1000, 0.25)])
def test_bias_and_error_of_study_1_are_exact(key: str, n: int, p: float) -> None:
    for measure, ours in zip(("bias", "root_mean_squared_error"), accuracy(key, n, p, 1.0), strict=True):
        setting = f"p = {p}, n = {n:,}"
        y, error = curves("bowen_liu", "Figure 2", measure, setting)
        assert error.at[(setting, 1.0), key] == 0
        assert y.at[(setting, 1.0), key] == pytest.approx(ours, rel=1e-5, abs=1e-9)


def test_the_bias_of_the_beta_binomial_is_that_of_its_prior() -> None:
    """(α + x)/(2α + n) is linear in x: E[q̄] = (α + np)/(2α + n)."""
    biases = curves("bowen_liu", "Figure 2", "bias").y["beta_binomial"].loc["p = 0.25, n = 100"]
    for epsilon, bias in biases.items():
        alpha = BetaBinomial.smallest_alpha(m=100, epsilon=epsilon / 10)
        assert bias == pytest.approx((alpha + 25) / (2 * alpha + 100) - 0.25, rel=1e-4, abs=1e-6)


def test_a_simulated_point_is_computed_again_to_the_digit() -> None:
    data = UnknownVariance(n=40, mean=0.0, sigma=1.0, low=-3.0, high=4.0)
    outcome = simulate_numeric(data, SMOOTHED_HISTOGRAM, 1.0, ("mean", "variance"), BUDGET)["mean"]
    for measure in ("bias", "root_mean_squared_error"):
        tables = curves("bowen_liu", "Figure 4", measure)
        frozen = [table.at[("μ, n = 40", 1.0), "smoothed_histogram"] for table in tables]
        measured = outcome.measures[measure]
        assert frozen == pytest.approx([measured.value, measured.error], rel=1e-5)


def test_what_is_read_of_cells_is_what_a_loop_over_the_rows_finds() -> None:
    assert math.prod(LEVELS) == N_CELLS
    data = EveryCell(**STUDY_3)
    rows = data.draw(np.random.default_rng(3), 2)
    assert isinstance(rows, MixedRows)
    estimates, variances = zip(*data.read(rows).values(), strict=True)
    for place in range(2):
        cells, values = np.repeat(np.arange(N_CELLS), rows.counts[place]), rows.values[0, place]
        for marginal, estimate, variance in zip(MARGINALS, estimates, variances, strict=False):
            share = np.mean([marginal[cell] for cell in cells])
            assert (estimate[place], variance[place]) == pytest.approx((share, share * (1 - share) / data.n))
        by_cell = {cell: values[cells == cell] for cell in set(cells.tolist())}
        square = sum(float(((own - own.mean()) ** 2).sum()) for own in by_cell.values())
        for cell, own in by_cell.items():
            mean, within = estimates[len(MARGINALS) + cell], variances[len(MARGINALS) + cell]
            assert mean[place] == pytest.approx(own.mean())
            assert within[place] == pytest.approx(square / (data.n - len(by_cell)) / len(own))
    assert data.true_values[data.estimands[0].key] == pytest.approx(data.shares[:12].sum())
    assert sum(map(np.count_nonzero, MARGINALS)) == 12 + 8 * 2 + 6 * 3


def test_the_measures_of_a_study_are_those_of_its_repetitions() -> None:
    rng = np.random.default_rng(4)
    estimate, between, within = study = np.array([rng.normal(0.3, 0.1, 500), rng.gamma(3, 0.01, 500), [0.01] * 500])
    measures = interval_measures(study, "reiter_2003", 5, 0.25)
    roots = np.sqrt(within + between / 5)
    assert measures["bias"].value == pytest.approx(estimate.mean() - 0.25)
    assert measures["standard_error"].value == pytest.approx(roots.mean())
    assert measures["standard_error"].error == pytest.approx(roots.std(ddof=1) / math.sqrt(500))


def test_the_grey_line_of_figure_7_is_the_deviation_of_its_estimate() -> None:
    """At ε = 100 hardly any noise is left: the variance of a binomial share, of a posterior draw, and of ten sets."""
    n, p, x = 1_000, 0.5, np.arange(1_001)
    deviations = curves("liu", "Figure 7", "standard_error").y["original"].loc[f"binary data, n = {n:,}, p = {p}"]
    spread = math.sqrt(float(binom.pmf(x, n, p) @ (x / n - p) ** 2) * (1 + 2 / 10))
    assert deviations[100.0] == pytest.approx(spread, rel=0.01)
