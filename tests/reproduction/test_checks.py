"""What the checks of the papers compute, by a second computation."""

import contextlib
import io
import itertools
import math

import mpmath as mp
import numpy as np
import pytest
from scipy.stats import betabinom, binom

from dpviz.coverage import exact_coverages
from dpviz.mechanisms import Modips
from dpviz.published.records import Erratum, load_errata, load_papers, load_records
from tests.reproduction.bowen_liu import median_bins
from tests.reproduction.charest import figure_1, posterior_runs, rule_moments, runs_by_epsilon, synthesizer
from tests.reproduction.evidence import SimulationBudget
from tests.reproduction.liu import clipped_bias, table_cell
from tests.reproduction.zheng import DELTA, EPSILON, N, constant_here, leaves_factor, printed, strays_from_mean

ERRATA = [erratum for paper in load_papers().values() for erratum in load_errata(paper) if erratum.command]


@pytest.mark.parametrize("erratum", ERRATA, ids=[f"{erratum.paper} {erratum.place}" for erratum in ERRATA])
def test_an_erratum_is_established_by_its_command(erratum: Erratum) -> None:
    out = io.StringIO()
    with contextlib.redirect_stdout(out):
        exec(erratum.command.removeprefix('python -c "').removesuffix('"'), {})
    assert out.getvalue().strip() == erratum.output


# Tables


def test_a_cell_of_a_hundred_rows_is_exact_coverage() -> None:
    design = "epsilon = 10; n_as_printed = 10; n = 100; p = 0.1; sets = 10"
    records = [r for r in load_records("Liu (2016)") if (r.what, r.design) == ("liu_thm7", design)]
    (theorem,) = (record for record in records if not record.is_alternative)
    exact = exact_coverages(synthesizer=Modips(n=100, m=100, epsilon=1), p=0.1, sets=10, rules=["reiter_2003"])
    result = table_cell(theorem, SimulationBudget())
    assert result.value == pytest.approx(exact["reiter_2003"].coverage, abs=1e-8)
    assert result.own_error == 0


@pytest.mark.parametrize(
    ("paper", "key", "size"),
    [("Liu (2016)", "table_binary", 96), ("Liu (2016)", "table_normal", 48)]
    + [("Charest (2011)", f"table_{number}", size) for number, size in ((1, 15), (2, 36), (3, 12), (4, 24))],
)
def test_all_cells_together_are_as_far_off_as_chance_is(paper: str, key: str, size: int) -> None:
    """Under one reading of each column."""
    scores = [r.standard_errors for r in load_records(paper) if r.key == key and not r.is_alternative]
    assert len(scores) == size
    assert max(map(abs, scores)) < 3
    assert (np.abs(scores) > 1e-12).mean() > 0.8
    assert np.mean(np.square(scores)) < 1.5


@pytest.mark.parametrize(("key", "what", "distance"), [
    ("table_normal", "raab", 10), ("table_normal", "single", 3), ("table_3", "posterior_variance_1e-3", 30),
    ("table_3", "rel_bias_pct", 5), ("table_4", "posterior_variance_1e-3", 6), ("table_4", "rel_bias_pct", 50),
])  # fmt: skip
def test_other_readings_do_not_fit(key: str, what: str, distance: float) -> None:
    records = [record for record in load_records() if (record.key, record.what) == (key, what)]
    assert max(abs(record.standard_errors) for record in records if record.is_alternative) > distance


@pytest.mark.parametrize(("n", "sets"), [(100, 201), (2_700, 201), (40, 3)])
def test_the_bias_of_clipped_proportions_is_that_of_a_simulation(n: int, sets: int) -> None:
    rng, runs = np.random.default_rng(27), 200_000
    share = rng.binomial(n, 0.1, runs) / n
    noisy = np.clip(share + rng.laplace(0.0, sets / n, runs), 0.0, 1.0)
    estimate = rng.binomial(n, rng.beta(1 + n * noisy, 1 + n * (1 - noisy))) / n
    assert abs(estimate.mean() - 0.1 - clipped_bias(n, 0.1, sets)) < 4 * estimate.std() / math.sqrt(runs)


def test_the_median_number_of_bins_is_that_of_simulated_samples() -> None:
    """Normal rows cut to −3 … 4, and Scott's rule on each sample."""
    rng = np.random.default_rng(26)
    for n, runs in ((40, 20_000), (100, 10_000), (1000, 2_000)):
        rows = np.clip(rng.standard_normal((runs, n)), -3.0, 4.0)
        bins = np.ceil(7.0 / (3.49 * rows.std(axis=1, ddof=1) * n ** (-1 / 3)))
        assert np.median(bins) == median_bins(n, 7.0)
    assert [median_bins(n, 8.0, 3.5, 1 / 4) for n in (7, 76)] == [4, 7]
    assert [median_bins(n, 8.0) for n in (7, 76)] == [5, 10]


# Zheng, general theorems


def hockey_stick(p: np.ndarray, q: np.ndarray, epsilon: float) -> float:
    """The largest Pr(P in S) − e^ε Pr(Q in S), over all sets S one by one."""
    sets = np.array(list(itertools.product([False, True], repeat=len(p))))
    return float((sets @ p - math.exp(epsilon) * (sets @ q)).max())


def test_a_random_row_has_a_delta_of_1_over_n_at_every_epsilon() -> None:
    for n, epsilon in itertools.product([1, 2, 7], [0.01, 1.0, 9.0]):
        rows = [np.array([(n - k) / n, k / n]) for k in range(n + 1)]
        pairs = [(a, b) for pair in itertools.pairwise(rows) for a, b in (pair, pair[::-1])]
        assert max(hockey_stick(a, b, epsilon) for a, b in pairs) == pytest.approx(1 / n, rel=1e-12)
        assert printed("2.12", n=n) == pytest.approx(1 / n)


def test_the_constants_of_lemmas_6_6_and_6_8_are_those_of_beta_integrals() -> None:
    """The probability of straying, integrated with thirty digits at the prior that was found, is δ."""
    with mp.workdps(30):
        alpha = mp.mpf(constant_here("6.6", lambda log: strays_from_mean(log, np.arange(N + 1.0)))) * printed("6.6")
        outside = []
        for ones in (0, 1, 2, 10, 50):
            x, y = alpha + ones, alpha + N - ones
            mean = x / (x + y)
            width = EPSILON * min(mean, 1 - mean)
            outside.append(1 - mp.betainc(x, y, mean - width, min(mean + width, 1), regularized=True))
        assert float(max(outside)) == pytest.approx(DELTA, rel=1e-6)
        alpha = mp.mpf(constant_here("6.8", leaves_factor)) * printed("6.8")
        mean = alpha / (2 * alpha + N)
        inside = mp.betainc(alpha, alpha + N, mp.exp(-EPSILON) * mean, mp.exp(EPSILON) * mean, regularized=True)
        assert float(1 - inside) == pytest.approx(DELTA, rel=1e-6)


# Charest: what the tables estimate, against closed forms, enumeration and simulation

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
