"""What the checks of the papers compute, by a second computation."""

import contextlib
import io
import itertools
import math

import mpmath as mp
import numpy as np
import pytest

from dpviz.coverage import exact_coverages
from dpviz.mechanisms import Modips
from dpviz.published.records import Erratum, load_errata, load_papers, load_records
from tests.reproduction.bowen_liu import median_bins
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
