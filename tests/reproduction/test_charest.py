"""What Charest's tables estimate: against closed forms, enumeration and simulation."""

import math

import numpy as np
import pytest
from scipy.stats import betabinom, binom

from dpviz.published.records import load_errata, load_records
from tests.reproduction.charest import figure_1, posterior_runs, rule_moments, runs_by_epsilon, synthesizer

CHAREST = "Charest (2011)"


def columns_of_table_2(estimate: np.ndarray, between: np.ndarray, within: np.ndarray, sets: int) -> np.ndarray:
    """Squared deviation of the estimate, T, T* and whether T is negative."""
    t = (1 + 1 / sets) * between - within
    t[np.abs(t) < 1e-15] = 0.0
    return np.array([(estimate - 0.25) ** 2, t, np.where(t < 0, within, t), t < 0])


def test_table_1_is_the_closed_form() -> None:
    """100 (E[q̄] − p)/p with E[q̄] = (100 p + α)/(100 + 2α) and α = 100/(e^(ε/M) − 1)."""
    for record in (record for record in load_records(CHAREST) if record.key == "table_1"):
        epsilon, sets, p = (float(record.parameters[name]) for name in ("epsilon", "sets", "p"))
        expected = 0.0
        if sets:
            alpha = 100 / math.expm1(epsilon / sets)
            expected = 100 * ((100 * p + alpha) / (100 + 2 * alpha) / p - 1)
        assert float(record.ours) == pytest.approx(expected, rel=1e-8, abs=1e-8)


@pytest.mark.parametrize("epsilon", [2.0, 250.0])
def test_table_2_for_two_sets_is_the_sum_over_all_pairs(epsilon: float) -> None:
    """The law of every ordered pair from SciPy, T and T* from their definitions."""
    alpha = 100 / math.expm1(epsilon / 2)
    x, j = np.arange(101)[:, None], np.arange(101)
    matrix = betabinom.pmf(j, 100, alpha + x, alpha + (100 - x))
    pairs = (matrix * binom.pmf(x, 100, 0.25)).T @ matrix
    q1, q2 = j[:, None] / 100, j / 100
    mean, between, within = (q1 + q2) / 2, (q1 - q2) ** 2 / 2, (q1 * (1 - q1) + q2 * (1 - q2)) / 200
    center = (pairs * mean).sum()
    _, *averages = (columns_of_table_2(mean, between, within, 2) * pairs).sum(axis=(1, 2))
    squares = (mean - center) ** 2
    variance = (pairs * squares).sum()
    moments = rule_moments(epsilon, 0.25, 2)
    assert moments["var_qbar_1e-4"].value == pytest.approx(1e4 * variance, rel=1e-9)
    assert moments["rel_bias_TM_pct"].value == pytest.approx(100 * (averages[0] / variance - 1), abs=1e-5)
    assert moments["rel_bias_TMstar_pct"].value == pytest.approx(100 * (averages[1] / variance - 1), abs=1e-5)
    assert moments["negative_TM_pct"].value == pytest.approx(100 * averages[2], abs=1e-6)
    spread = (pairs * (squares - variance) ** 2).sum()
    assert moments["var_qbar_1e-4"].spread == pytest.approx(1e4 * math.sqrt(spread), rel=1e-8)


@pytest.mark.parametrize("sets", [2, 5])
def test_table_2_and_its_spreads_are_those_of_repeated_simulations(sets: int) -> None:
    """The values of 600,000 runs, and the standard deviation over 300 simulations of 2,000 runs each."""
    shape = repeats, runs = 300, 2_000
    generator, alpha = np.random.default_rng(4), 100 / math.expm1(2.0 / sets)
    x = generator.binomial(100, 0.25, size=(*shape, 1))
    q = generator.binomial(100, generator.beta(alpha + x, alpha + 100 - x, size=(*shape, sets))) / 100
    estimate, between, within = q.mean(axis=2), q.var(axis=2, ddof=1), (q * (1 - q)).mean(axis=2) / 100

    def columns(axis: tuple[int, ...]) -> np.ndarray:
        _, t, star, negative = columns_of_table_2(estimate, between, within, sets).mean(axis=tuple(a + 1 for a in axis))
        variance = estimate.var(axis=axis)
        return np.array([1e4 * variance, 100 * (t / variance - 1), 100 * (star / variance - 1), 100 * negative])

    expected = list(rule_moments(2.0, 0.25, sets).values())
    for value, repeated, moment in zip(columns((0, 1)), columns((1,)), expected, strict=True):
        assert abs(value - moment.value) < 4 * moment.spread / math.sqrt(runs * repeats)
        assert repeated.std(ddof=1) == pytest.approx(moment.spread / math.sqrt(runs), rel=4 / math.sqrt(2 * repeats))


def test_enumerated_posteriors_are_those_of_simulated_releases() -> None:
    runs = 20_000
    exact, release = posterior_runs(2.0, 2, np.random.default_rng(1)), synthesizer(2.0, 2)
    generator = np.random.default_rng(6)
    counts = generator.binomial(100, generator.beta(release.alpha + 30, release.alpha + 70, size=(runs, 2)))
    weights = np.exp(np.log(release.transition_matrix()).T[counts].sum(axis=1))
    weights /= weights.sum(axis=1, keepdims=True)
    means = weights @ ((1 + np.arange(101)) / 102)
    assert exact.mean.error == exact.variance_of_means.error == 0
    assert abs(means.mean() - exact.mean.value) < 4 * exact.mean.spread / math.sqrt(runs)
    assert abs(means.var() - exact.variance_of_means.value) < 4 * exact.variance_of_means.spread / math.sqrt(runs)


@pytest.mark.parametrize("sets", [5, 10])
def test_another_seed_agrees_within_its_error(sets: int) -> None:
    pair = (posterior_runs(2.0, sets, np.random.default_rng(seed)) for seed in (2011, 99))
    for first, second in zip(*pair, strict=True):
        assert 0 < abs(first.value - second.value) < 4 * math.hypot(first.error, second.error)


def test_the_numbers_of_the_errata_are_the_computed_ones() -> None:
    text = " ".join(erratum.truth for erratum in load_errata(CHAREST))
    for coverages in (*figure_1(3.0), figure_1(1.0)[0]):
        assert "{:.3f}, {:.3f} and {:.3f}".format(*coverages) in text
    runs = runs_by_epsilon(2.0)
    posterior, means = 1e3 * runs.mean_of_variances.value, 1e3 * runs.variance_of_means.value
    assert f"{posterior:.2f} against {means:.2f}" in text
    assert f"{100 * (posterior / means - 1):.0f} % larger" in text
    assert f"would read {0.83 / 0.3039:.1f}, not 0.83" in text
