"""What Charest's tables estimate: against closed forms, enumeration, simulation and the printed numbers."""

from __future__ import annotations

import math

import numpy as np
import pytest
from scipy.stats import betabinom, binom

from dpviz.published.records import Record, load_errata, load_records
from tests.helpers import check_close
from tests.reproduction.charest import (
    FIGURE_1_RULES,
    figure_1,
    posterior_runs,
    rule_moments,
    runs_by_epsilon,
    synthesizer,
)
from tests.reproduction.evidence import SimulationBudget, recompute

CHAREST = "Charest (2011)"
CELLS = {1: 15, 2: 36, 3: 12, 4: 24}


@pytest.fixture(scope="module")
def tables() -> dict[int, list[Record]]:
    records = load_records(CHAREST)
    budget = SimulationBudget(seed=2011)
    return {
        number: [recompute(record, budget) for record in records if record.key == f"table_{number}"] for number in CELLS
    }


@pytest.mark.parametrize("number", CELLS)
def test_every_printed_number_is_within_its_simulation_error_of_ours(
    tables: dict[int, list[Record]], number: int
) -> None:
    scores = np.array([record.standard_errors for record in tables[number] if not record.is_alternative])
    assert len(scores) == CELLS[number]
    assert np.abs(scores).max() < 3
    assert (np.abs(scores) > 1e-12).mean() > 0.8
    assert math.sqrt(float(np.mean(scores**2))) < 1.3


def test_the_literal_readings_do_not_fit(tables: dict[int, list[Record]]) -> None:
    def scores(number: int, what: str) -> list[float]:
        return [r.standard_errors for r in tables[number] if r.is_alternative and r.what == what]

    assert max(scores(3, "posterior_variance_1e-3")) < -30
    assert min(scores(4, "posterior_variance_1e-3")) > 6
    assert max(map(abs, scores(4, "rel_bias_pct"))) > 50
    assert max(map(abs, scores(3, "rel_bias_pct"))) > 5


def test_table_1_is_the_closed_form(tables: dict[int, list[Record]]) -> None:
    """100 (E[q̄] − p)/p with E[q̄] = (100 p + α)/(100 + 2α) and α = 100/(e^(ε/M) − 1)."""
    for record in tables[1]:
        epsilon, sets, p = (float(record.parameters[name]) for name in ("epsilon", "sets", "p"))
        expected = 0.0
        if sets:
            alpha = 100 / math.expm1(epsilon / sets)
            expected = 100 * ((100 * p + alpha) / (100 + 2 * alpha) / p - 1)
        assert float(record.ours) == pytest.approx(expected, rel=1e-8, abs=1e-8)


@pytest.mark.parametrize(("epsilon", "p"), [(2.0, 0.25), (250.0, 0.25)])
def test_table_2_for_two_sets_is_the_sum_over_all_pairs(epsilon: float, p: float) -> None:
    """The law of every ordered pair from SciPy, T and T* from their definitions."""
    alpha = 100 / math.expm1(epsilon / 2)
    x, j = np.arange(101)[:, None], np.arange(101)
    matrix = betabinom.pmf(j, 100, alpha + x, alpha + (100 - x))
    pairs = (matrix * binom.pmf(x, 100, p)).T @ matrix
    q1, q2 = j[:, None] / 100, j / 100
    mean, between = (q1 + q2) / 2, (q1 - q2) ** 2 / 2
    within = (q1 * (1 - q1) + q2 * (1 - q2)) / 200
    t = 1.5 * between - within
    t[np.abs(t) < 1e-15] = 0.0
    star = np.where(t < 0, within, t)
    center = (pairs * mean).sum()
    variance = (pairs * (mean - center) ** 2).sum()
    moments = rule_moments(epsilon, p, 2)
    assert moments["var_qbar_1e-4"].value == pytest.approx(1e4 * variance, rel=1e-9)
    assert moments["rel_bias_TM_pct"].value == pytest.approx(100 * ((pairs * t).sum() / variance - 1), abs=1e-5)
    assert moments["rel_bias_TMstar_pct"].value == pytest.approx(100 * ((pairs * star).sum() / variance - 1), abs=1e-5)
    assert moments["negative_TM_pct"].value == pytest.approx(100 * pairs[t < 0].sum(), abs=1e-6)
    spread = (pairs * ((mean - center) ** 2 - variance) ** 2).sum()
    assert moments["var_qbar_1e-4"].spread == pytest.approx(1e4 * math.sqrt(spread), rel=1e-8)


def test_table_2_for_five_sets_is_that_of_simulated_runs() -> None:
    """200,000 runs by the definitions, with the errors that the paper's own 100,000 have, scaled."""
    epsilon, p, sets, runs = 2.0, 0.25, 5, 200_000
    generator = np.random.default_rng(3)
    alpha = 100 / math.expm1(epsilon / sets)
    x = generator.binomial(100, p, size=(runs, 1))
    q = generator.binomial(100, generator.beta(alpha + x, alpha + 100 - x, size=(runs, sets))) / 100
    t = 1.2 * q.var(axis=1, ddof=1) - (q * (1 - q)).mean(axis=1) / 100
    star = np.where(t < 0, (q * (1 - q)).mean(axis=1) / 100, t)
    variance = q.mean(axis=1).var()
    moments = rule_moments(epsilon, p, sets)
    for value, expected in (
        (1e4 * variance, moments["var_qbar_1e-4"]),
        (100 * (t.mean() / variance - 1), moments["rel_bias_TM_pct"]),
        (100 * (star.mean() / variance - 1), moments["rel_bias_TMstar_pct"]),
        (100 * (t < 0).mean(), moments["negative_TM_pct"]),
    ):
        assert abs(value - expected.value) < 4 * expected.spread / math.sqrt(runs)


def test_the_spread_of_a_ratio_is_that_of_repeated_simulations() -> None:
    """300 simulations of 2,000 runs each: their standard deviation is what the standard errors of Table 2 rest on."""
    epsilon, p, runs, repeats = 2.0, 0.25, 2000, 300
    generator = np.random.default_rng(4)
    alpha = 100 / math.expm1(epsilon / 2)
    x = generator.binomial(100, p, size=(repeats, runs, 1))
    q = generator.binomial(100, generator.beta(alpha + x, alpha + 100 - x, size=(repeats, runs, 2))) / 100
    t = 1.5 * q.var(axis=2, ddof=1) - (q * (1 - q)).mean(axis=2) / 100
    ratios = 100 * (t.mean(axis=1) / q.mean(axis=2).var(axis=1) - 1)
    expected = rule_moments(epsilon, p, 2)["rel_bias_TM_pct"].spread / math.sqrt(runs)
    assert ratios.std(ddof=1) == pytest.approx(expected, rel=4 / math.sqrt(2 * repeats))


def test_enumerated_posteriors_are_those_of_simulated_releases() -> None:
    runs = 20_000
    exact = posterior_runs(2.0, 2, np.random.default_rng(1))
    release = synthesizer(2.0, 2)
    generator = np.random.default_rng(6)
    counts = generator.binomial(100, generator.beta(release.alpha + 30, release.alpha + 70, size=(runs, 2)))
    logs = np.log(release.transition_matrix())
    weights = np.exp(logs.T[counts].sum(axis=1))
    weights /= weights.sum(axis=1, keepdims=True)
    means = weights @ ((1 + np.arange(101)) / 102)
    assert exact.mean.error == exact.variance_of_means.error == 0
    assert abs(means.mean() - exact.mean.value) < 4 * exact.mean.spread / math.sqrt(runs)
    assert abs(means.var() - exact.variance_of_means.value) < 4 * exact.variance_of_means.spread / math.sqrt(runs)


@pytest.mark.parametrize(
    ("epsilon", "mean", "variance"),
    [
        (0.1, 0.4853, 77.34),
        (0.5, 0.3638, 33.72),
        (1.0, 0.3175, 15.67),
        (2.0, 0.3108, 8.19),
        (3.0, 0.3112, 6.57),
        (250.0, 0.3116, 5.81),
    ],
)
def test_table_4_is_exact(epsilon: float, mean: float, variance: float) -> None:
    runs = runs_by_epsilon(epsilon)
    assert (runs.mean.value, runs.mean.error) == (pytest.approx(mean, abs=5.1e-5), 0)
    assert 1e3 * runs.mean_of_variances.value == pytest.approx(variance, abs=5.1e-3)


def test_the_variance_of_table_3_is_that_of_the_posterior_means_of_table_4(tables: dict[int, list[Record]]) -> None:
    over_runs = {
        (record.key, record.design): record
        for number in (3, 4)
        for record in tables[number]
        if record.what == "posterior_variance_1e-3" and not record.as_stated
    }
    table_3, table_4 = (over_runs[f"table_{number}", "epsilon = 2; sets = 1"] for number in (3, 4))
    assert float(table_3.ours) == pytest.approx(float(table_4.ours), rel=1e-8)
    assert abs(table_3.standard_errors) < 1 < 6 < abs(table_4.standard_errors)


def test_another_seed_agrees_within_its_error() -> None:
    for sets in (1, 2, 5, 10):
        pair = [posterior_runs(2.0, sets, np.random.default_rng(seed)) for seed in (2011, 99)]
        for first, second in zip(*pair, strict=True):
            if sets <= 2:
                check_close(first, second)
            else:
                assert 0 < abs(first.value - second.value) < 4 * math.hypot(first.error, second.error)


def test_the_numbers_of_the_errata_are_the_computed_ones() -> None:
    text = " ".join(erratum.truth for erratum in load_errata(CHAREST))
    at_1, at_3 = figure_1(1.0), figure_1(3.0)
    for coverages in (at_3[0], at_3[1], at_1[0]):
        assert "{:.3f}, {:.3f} and {:.3f}".format(*coverages) in text
    for two, five, ten in at_1:
        assert ten < five > two
    runs = runs_by_epsilon(2.0)
    posterior, means = 1e3 * runs.mean_of_variances.value, 1e3 * runs.variance_of_means.value
    assert f"{posterior:.2f} against {means:.2f}" in text
    assert f"{100 * (posterior / means - 1):.0f} % larger" in text
    assert f"would read {0.83 / 0.3039:.1f}, not 0.83" in text


def test_one_reading_of_the_quantile_explains_the_text() -> None:
    """Section 3.4: at ε = 3 two sets “barely reach 80 %” and more sets cover less; at p = 1/2 almost 100 %."""
    normal, by_t = figure_1(3.0)
    error = math.sqrt(0.8 * 0.2 / 1_000)
    assert FIGURE_1_RULES[0].endswith("normal")
    assert abs(normal[0] - 0.8) < 2 * error < 5 * error < abs(by_t[0] - 0.8)
    assert (np.diff(normal) < 0).all()
    assert (figure_1(3.0, p=0.5)[0] > 0.96).all()
